// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// fast_paths.c: functions that test an access without a call of the run-time
// part: it is in bounds, aligned, of set bytes and free of races. An access
// that fails one of these tests goes to the run-time part
// (src/check/accesses.c), which decides by the same cells and reports.
#include <stdio.h>

#include "compiler/check/fast_path.h"

_Static_assert(sizeof(mtli_check_view) == 80, "check_abi.h");
_Static_assert(offsetof(mtli_check_view, set) == 32, "check_abi.h");
_Static_assert(offsetof(mtli_check, device) == 8, "check_abi.h");
_Static_assert(offsetof(mtli_check, threadgroup) == 16, "check_abi.h");
_Static_assert(offsetof(mtli_check, variable) == 24, "check_abi.h");
_Static_assert(offsetof(mtli_check, settle) == 88, "check_abi.h");
_Static_assert(offsetof(mtli_check, views) == 120, "check_abi.h");
_Static_assert(offsetof(mtli_check, threadgroup_memory) == 128, "check_abi.h");
_Static_assert(offsetof(mtli_check, threadgroup_set) == 152, "check_abi.h");

enum { MOST_BYTES = 16 };  // that one fast path accesses

// --- bounds -----------------------------------------------------------------

static LLVMValueRef view_of(const mtlc_fast_path_code *e) {
  LLVMValueRef views = mtlc_fast_load_fixed(
      e, e->types.pointer, mtlc_fast_parameter(e, MTLC_FAST_CHECK),
      offsetof(mtli_check, views));
  LLVMValueRef offset =
      LLVMBuildMul(e->builder, mtlc_fast_parameter(e, MTLC_FAST_SLOT),
                   mtlc_fast_i64(e, sizeof(mtli_check_view)), "");
  return mtlc_fast_at_number(e, views, offset);
}

// Returns the size of the memory that the access may touch.
static LLVMValueRef limit_of(const mtlc_fast_path_code *e, LLVMValueRef view) {
  const uint64_t object = e->access->object_bytes;
  if (!e->access->has_slot) {
    return mtlc_fast_i64(e, object);
  }
  LLVMValueRef bytes = mtlc_fast_load_fixed(e, e->types.i64, view,
                                            offsetof(mtli_check_view, bytes));
  if (!object) {
    return bytes;
  }
  LLVMTypeRef i64 = e->types.i64;
  LLVMValueRef arguments[] = {bytes, mtlc_fast_i64(e, object)};
  return mtlc_call_intrinsic(e->builder, "llvm.umin", &i64, 1, arguments, 2);
}

// Returns an i1: the access is in bounds. An offset that is a multiple of the
// size needs no saturating subtraction: its last byte cannot wrap around.
static LLVMValueRef is_inside(const mtlc_fast_path_code *e, LLVMValueRef view) {
  const uint64_t size = e->access->size_bytes;
  LLVMTypeRef i64 = e->types.i64;
  LLVMValueRef bytes = limit_of(e, view);
  if (mtlc_fast_wants(e, MTLI_CHECK_ALIGN) &&
      e->access->align_bytes % size == 0 &&
      e->access->space == MTLI_CHECK_DEVICE) {
    LLVMValueRef last =
        LLVMBuildAdd(e->builder, e->offset, mtlc_fast_i64(e, size - 1), "");
    return mtlc_fast_compare(e, LLVMIntULT, last, bytes);
  }
  LLVMValueRef arguments[] = {bytes, mtlc_fast_i64(e, size - 1)};
  LLVMValueRef limit =
      mtlc_call_intrinsic(e->builder, "llvm.usub.sat", &i64, 1, arguments, 2);
  return mtlc_fast_compare(e, LLVMIntULT, e->offset, limit);
}

static void check_bounds(mtlc_fast_path_code *e, LLVMValueRef first,
                         LLVMValueRef view) {
  e->offset = LLVMBuildSub(e->builder, e->address, first, "");
  LLVMValueRef is_clean = is_inside(e, view);
  // Words lie as their cells do, and no part of one reaches into the next.
  uint64_t mask =
      mtlc_fast_wants(e, MTLI_CHECK_ALIGN) ? e->access->align_bytes - 1 : 0;
  if (mtlc_fast_wants(e, MTLI_CHECK_RACES) &&
      e->access->space != MTLI_CHECK_PRIVATE &&
      e->access->space != MTLI_CHECK_CONSTANT) {
    mask |= e->access->size_bytes % MTLC_WORD_BYTES ? e->access->size_bytes - 1
                                                    : MTLC_WORD_BYTES - 1;
  }
  if (mask) {
    LLVMValueRef low =
        LLVMBuildAnd(e->builder, e->address, mtlc_fast_i64(e, mask), "");
    mtlc_fast_must(e,
                   mtlc_fast_compare(e, LLVMIntEQ, low, mtlc_fast_i64(e, 0)));
  }
  mtlc_fast_must(e, is_clean);
}

// --- set bytes --------------------------------------------------------------

static LLVMTypeRef bytes_type(const mtlc_fast_path_code *e) {
  return LLVMIntTypeInContext(e->kernel->context, 8 * e->access->size_bytes);
}

// Continues if all bytes of a value that is read are set. A set byte is 0xff if
// all_set, else 0.
static void check_set(const mtlc_fast_path_code *e, LLVMValueRef bytes,
                      bool all_set) {
  LLVMTypeRef type = bytes_type(e);
  LLVMValueRef found = LLVMBuildLoad2(e->builder, type, bytes, "");
  LLVMSetAlignment(found, 1);
  mtlc_fast_must(e, mtlc_fast_compare(e, LLVMIntEQ, found,
                                      all_set ? LLVMConstAllOnes(type)
                                              : LLVMConstNull(type)));
}

static void write_set(const mtlc_fast_path_code *e, LLVMValueRef bytes,
                      bool all_set) {
  LLVMTypeRef type = bytes_type(e);
  LLVMValueRef store = LLVMBuildStore(
      e->builder, all_set ? LLVMConstAllOnes(type) : LLVMConstNull(type),
      bytes);
  LLVMSetAlignment(store, 1);
}

static void check_unset_is_zero(const mtlc_fast_path_code *e) {
  mtlc_fast_must(e, mtlc_fast_compare(e, LLVMIntEQ,
                                      mtlc_fast_parameter(e, MTLC_FAST_UNSET),
                                      mtlc_fast_i64(e, 0)));
}

// Emits `what`, run only where the memory has set bytes.
static void if_any(const mtlc_fast_path_code *e, LLVMValueRef set,
                   void what(const mtlc_fast_path_code *, LLVMValueRef, bool)) {
  LLVMBasicBlockRef some = mtlc_fast_add_block(e),
                    next = mtlc_fast_add_block(e);
  LLVMBuildCondBr(
      e->builder,
      mtlc_fast_compare(e, LLVMIntEQ, set, LLVMConstNull(e->types.pointer)),
      next, some);
  LLVMPositionBuilderAtEnd(e->builder, some);
  what(e, mtlc_fast_at_number(e, set, e->offset), true);
  LLVMBuildBr(e->builder, next);
  LLVMPositionBuilderAtEnd(e->builder, next);
}

// --- the kinds of memory ----------------------------------------------------

static void check_device(mtlc_fast_path_code *e) {
  LLVMValueRef view = view_of(e);
  check_bounds(e, mtlc_fast_load_fixed(e, e->types.i64, view, 0), view);
  LLVMValueRef set = NULL;
  if (mtlc_fast_wants(e, MTLI_CHECK_INIT)) {
    set = mtlc_fast_load_fixed(e, e->types.pointer, view,
                               offsetof(mtli_check_view, set));
    if (e->access->is_write) {
      check_unset_is_zero(e);
    } else {
      if_any(e, set, check_set);
    }
  }
  if (mtlc_fast_wants(e, MTLI_CHECK_RACES)) {
    mtlc_fast_device_races(e, view);
  }
  if (set && e->access->is_write) {
    if_any(e, set, write_set);
  }
}

static LLVMValueRef base_number(const mtlc_fast_path_code *e) {
  return LLVMBuildPtrToInt(e->builder, mtlc_fast_parameter(e, MTLC_FAST_BASE),
                           e->types.i64, "");
}

static void check_threadgroup(mtlc_fast_path_code *e) {
  LLVMValueRef view = e->access->has_slot ? view_of(e) : NULL;
  check_bounds(e, base_number(e), view);
  LLVMValueRef check = mtlc_fast_parameter(e, MTLC_FAST_CHECK);
  LLVMValueRef memory = mtlc_fast_load(
      e, e->types.i64, check, offsetof(mtli_check, threadgroup_memory));
  e->offset = LLVMBuildSub(e->builder, e->address, memory, "");
  LLVMValueRef set = NULL;
  if (mtlc_fast_wants(e, MTLI_CHECK_INIT)) {
    set = mtlc_fast_at_number(
        e,
        mtlc_fast_load(e, e->types.pointer, check,
                       offsetof(mtli_check, threadgroup_set)),
        e->offset);
    if (e->access->is_write) {
      check_unset_is_zero(e);
    } else {
      check_set(e, set, true);
    }
  }
  if (mtlc_fast_wants(e, MTLI_CHECK_RACES)) {
    mtlc_fast_threadgroup_races(e);
  }
  if (set && e->access->is_write) {
    write_set(e, set, true);
  }
}

static void check_variable(mtlc_fast_path_code *e) {
  check_bounds(e, base_number(e), NULL);
  if (!e->access->has_shadow) {
    return;
  }
  LLVMValueRef bytes = mtlc_fast_at_number(
      e, mtlc_fast_parameter(e, MTLC_FAST_SHADOW), e->offset);
  if (e->access->is_write) {
    check_unset_is_zero(e);
    write_set(e, bytes, false);
  } else {
    check_set(e, bytes, false);
  }
}

// --- the function -----------------------------------------------------------

static LLVMValueRef ask(const mtlc_fast_path_code *e) {
  const mtli_check_space space = e->access->space;
  const bool is_device = space == MTLI_CHECK_DEVICE;
  const size_t slot = is_device ? offsetof(mtli_check, device)
                      : space == MTLI_CHECK_THREADGROUP
                          ? offsetof(mtli_check, threadgroup)
                          : offsetof(mtli_check, variable);
  LLVMValueRef arguments[] = {mtlc_fast_parameter(e, MTLC_FAST_CHECK),
                              mtlc_fast_parameter(e, MTLC_FAST_ADDRESS),
                              mtlc_fast_parameter(e, MTLC_FAST_SITE),
                              mtlc_fast_parameter(e, MTLC_FAST_UNSET),
                              mtlc_fast_parameter(e, MTLC_FAST_BASE),
                              mtlc_fast_parameter(e, MTLC_FAST_SHADOW)};
  LLVMTypeRef parameters[6];
  for (int i = 0; i < 6; ++i) {
    parameters[i] = LLVMTypeOf(arguments[i]);
  }
  const unsigned count = is_device ? 4 : 6;
  LLVMValueRef function = mtlc_fast_load_fixed(
      e, e->types.pointer, mtlc_fast_parameter(e, MTLC_FAST_CHECK), slot);
  LLVMValueRef result = LLVMBuildCall2(
      e->builder, LLVMFunctionType(e->types.pointer, parameters, count, false),
      function, arguments, count, "");
  LLVMAddCallSiteAttribute(
      result, LLVMAttributeFunctionIndex,
      LLVMCreateEnumAttribute(e->kernel->context,
                              LLVMGetEnumAttributeKindForName("cold", 4), 0));
  return result;
}

static void add_result(const mtlc_fast_path_code *e) {
  LLVMBasicBlockRef done = mtlc_fast_add_block(e);
  LLVMBuildBr(e->builder, done);
  LLVMBasicBlockRef from_clean = LLVMGetInsertBlock(e->builder);
  LLVMPositionBuilderAtEnd(e->builder, e->slow);
  LLVMValueRef asked = ask(e);
  LLVMValueRef unset = mtlc_fast_load(
      e, e->types.i64, mtlc_fast_parameter(e, MTLC_FAST_CHECK), 0);
  LLVMBuildBr(e->builder, done);
  LLVMPositionBuilderAtEnd(e->builder, done);
  LLVMBasicBlockRef blocks[] = {from_clean, e->slow};
  LLVMValueRef addresses[] = {mtlc_fast_parameter(e, MTLC_FAST_ADDRESS), asked};
  LLVMValueRef unsets[] = {mtlc_fast_i64(e, 0), unset};
  LLVMValueRef address = LLVMBuildPhi(e->builder, e->types.pointer, "");
  LLVMValueRef bits = LLVMBuildPhi(e->builder, e->types.i64, "");
  LLVMAddIncoming(address, addresses, blocks, 2);
  LLVMAddIncoming(bits, unsets, blocks, 2);
  LLVMValueRef both_values[] = {address, bits};
  LLVMBuildAggregateRet(e->builder, both_values, 2);
}

static LLVMTypeRef function_type(const mtlc_types *types,
                                 LLVMContextRef context) {
  LLVMTypeRef fields[] = {types->pointer, types->i64};
  LLVMTypeRef parameters[MTLC_FAST_PARAMETER_COUNT] = {
      [MTLC_FAST_CHECK] = types->pointer, [MTLC_FAST_ADDRESS] = types->pointer,
      [MTLC_FAST_SITE] = types->i32,      [MTLC_FAST_UNSET] = types->i64,
      [MTLC_FAST_BASE] = types->pointer,  [MTLC_FAST_SHADOW] = types->pointer,
      [MTLC_FAST_SLOT] = types->i64};
  return LLVMFunctionType(LLVMStructTypeInContext(context, fields, 2, false),
                          parameters, MTLC_FAST_PARAMETER_COUNT, false);
}

static LLVMValueRef make_function(mtlc_kernel *kernel, const char *name,
                                  const mtlc_fast_access *access,
                                  bool is_inline) {
  mtlc_fast_path_code e = {
      .kernel = kernel,
      .access = access,
      .types = mtlc_types_of(kernel->context),
      .builder = LLVMCreateBuilderInContext(kernel->context)};
  e.function = LLVMAddFunction(kernel->module, name,
                               function_type(&e.types, kernel->context));
  LLVMSetLinkage(e.function, LLVMInternalLinkage);
  mtlc_set_attribute(e.function, "nounwind", 0);
  mtlc_set_attribute(e.function, is_inline ? "alwaysinline" : "noinline", 0);
  LLVMBasicBlockRef enter = mtlc_fast_add_block(&e);
  e.slow = mtlc_fast_add_block(&e);
  LLVMPositionBuilderAtEnd(e.builder, enter);
  e.address = LLVMBuildPtrToInt(
      e.builder, mtlc_fast_parameter(&e, MTLC_FAST_ADDRESS), e.types.i64, "");
  switch (access->space) {
    case MTLI_CHECK_DEVICE: check_device(&e); break;
    case MTLI_CHECK_THREADGROUP: check_threadgroup(&e); break;
    default: check_variable(&e); break;
  }
  add_result(&e);
  LLVMDisposeBuilder(e.builder);
  return e.function;
}

// True if such accesses have a fast path: whole words, and parts within one.
static bool is_plain(const mtlc_kernel *kernel, const mtlc_fast_access *a) {
  const uint32_t size = a->size_bytes;
  const bool is_size =
      size == 1 || size == 2 ||
      (size % MTLC_WORD_BYTES == 0 && size <= MOST_BYTES && size);
  switch (a->space) {
    case MTLI_CHECK_DEVICE: return a->has_slot && is_size;
    case MTLI_CHECK_THREADGROUP:
      return (a->has_slot || a->object_bytes) && is_size;
    case MTLI_CHECK_PRIVATE:
      return a->object_bytes > 0 && (!(kernel->checks & MTLI_CHECK_INIT) ||
                                     (size > 0 && size <= 4 * MOST_BYTES));
    case MTLI_CHECK_CONSTANT: return a->object_bytes > 0;
    default: return false;
  }
}

LLVMValueRef mtlc_fast_path(mtlc_kernel *kernel, const mtlc_fast_access *access,
                            bool is_inline) {
  if (!is_plain(kernel, access)) {
    return NULL;
  }
  char name[128];
  snprintf(name, sizeof name, MTLC_FAST_PATH_PREFIX "%u.%u.%u.%u.%u.%u.%llu",
           (unsigned)access->space, access->is_write, access->size_bytes,
           access->align_bytes, access->has_slot, access->has_shadow,
           (unsigned long long)access->object_bytes);
  LLVMValueRef function = LLVMGetNamedFunction(kernel->module, name);
  return function ? function : make_function(kernel, name, access, is_inline);
}
