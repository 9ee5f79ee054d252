// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// enter_block.c: makes the kernel of code/ptx_abi.h from @mettle.thread: its
// parameters in the place of mettle.argument, special registers in that of
// mettle.position, shared memory in that of mettle.threadgroup_memory.
//
// Threads of a threadgroup that is cut off take their places by its own sides,
// so that simdgroups hold the same threads as on the cpu device; those of the
// block that are too many end at once.
//
// Requires  lower_threadgroup_memory, lower_simdgroups
// Leaves    mettle_kernel, which calls no function of docs/ir.md
#include <llvm-c/DebugInfo.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "code/ptx_abi.h"
#include "compiler/ir/kernel/kernel.h"
#include "compiler/ir/llvm/attributes.h"
#include "compiler/ir/llvm/calls.h"
#include "compiler/ir/llvm/instructions.h"
#include "compiler/ir/llvm/module.h"
#include "compiler/ir/llvm/types.h"
#include "compiler/ir/llvm/value_list.h"
#include "compiler/ptx/ptx.h"

enum {
  GLOBAL_SPACE = 1,
  SHARED_SPACE = 3,
  // Parameters before the arguments.
  GRID = 0,
  COUNT = 3,
  FIRST = 6,
  LOG = 8,
  FAULT = 9,
  RANGES = 10,
  FIXED = 11,
  QUAD_WIDTH = 4,
};
_Static_assert(offsetof(mtli_ptx_launch, group_count) == 4 * COUNT, "ABI");
_Static_assert(offsetof(mtli_ptx_launch, first_group) == 4 * FIRST, "ABI");
_Static_assert(offsetof(mtli_ptx_launch, log) == 4 * LOG, "ABI");
_Static_assert(sizeof(mtli_ptx_launch) == 4 * LOG + 24, "ABI");

// Values at the kernel's entry; a dimension each.
typedef struct places {
  LLVMValueRef group[3];   // the threadgroup's position
  LLVMValueRef full[3];    // threads of a full one along each side
  LLVMValueRef sides[3];   // of this one
  LLVMValueRef thread[3];  // position in it
  LLVMValueRef index;
} places;

typedef struct entry {
  mtlc_kernel *kernel;
  mtlc_types types;
  LLVMBuilderRef builder;
  LLVMValueRef function;
  LLVMValueRef shared;  // the memory's first byte
  places at;
  LLVMBasicBlockRef home;  // where they are; what is made at its end is known
                           // everywhere behind it
} entry;

static LLVMValueRef number(const entry *e, uint32_t value) {
  return mtlc_i32(e->kernel->context, value);
}

static LLVMValueRef special(const entry *e, const char *name,
                            uint32_t dimension) {
  char full[64];
  snprintf(full, sizeof full, "llvm.nvvm.read.ptx.sreg.%s.%c", name,
           "xyz"[dimension]);
  return mtlc_call_intrinsic(e->builder, full, NULL, 0, NULL, 0);
}

static bool is_turned(const entry *e) {
  return LLVMGetNamedMetadata(e->kernel->module, MTLC_PTX_TURNED,
                              sizeof MTLC_PTX_TURNED - 1) != NULL;
}

static LLVMValueRef lane(const entry *e) {
  if (is_turned(e)) {
    return LLVMBuildAnd(e->builder, e->at.index, number(e, MTL_SIMD_WIDTH - 1),
                        "");
  }
  return mtlc_call_intrinsic(e->builder, "llvm.nvvm.read.ptx.sreg.laneid", NULL,
                             0, NULL, 0);
}

static LLVMValueRef times(const entry *e, LLVMValueRef a, LLVMValueRef b) {
  return LLVMBuildMul(e->builder, a, b, "");
}

static LLVMValueRef plus(const entry *e, LLVMValueRef a, LLVMValueRef b) {
  return LLVMBuildAdd(e->builder, a, b, "");
}

static LLVMValueRef product(const entry *e, const LLVMValueRef sides[3]) {
  return times(e, times(e, sides[0], sides[1]), sides[2]);
}

// The kernel's function with its parameters, around the thread's body.
static void make_function(entry *e) {
  const size_t count = e->kernel->kernel->parameter_count;
  LLVMTypeRef *types = calloc(FIXED + count, sizeof *types);
  LLVMTypeRef global = LLVMPointerTypeInContext(e->kernel->context,
                                                GLOBAL_SPACE);
  for (size_t i = 0; i < FIXED + count; i++) {
    const bool is_offset =
        i >= FIXED && e->kernel->kernel->parameters[i - FIXED].argument.kind ==
                          MTL_ARGUMENT_THREADGROUP_MEMORY &&
        e->kernel->kernel->parameters[i - FIXED].builtin == MTLI_BUILTIN_NONE;
    types[i] = i < LOG ? e->types.i32 : is_offset ? e->types.i64 : global;
  }
  e->function = LLVMAddFunction(
      e->kernel->module, MTLI_PTX_ENTRY,
      LLVMFunctionType(e->types.nothing, types, (unsigned)(FIXED + count), 0));
  free(types);
  mtlc_set_attribute(e->function, "nounwind", 0);
  LLVMSetFunctionCallConv(e->function, 71 /* ptx_kernel */);
  mtlc_move_body(e->kernel->thread, e->function);
  LLVMDeleteFunction(e->kernel->thread);
  e->kernel->thread = e->function;
}

static void declare_shared(entry *e) {
  LLVMValueRef shared = LLVMAddGlobalInAddressSpace(
      e->kernel->module, LLVMArrayType2(e->types.i8, 0), "mettle_shared",
      SHARED_SPACE);
  LLVMSetAlignment(shared, 64);
  e->shared = LLVMConstAddrSpaceCast(shared, e->types.pointer);
}

// Ends the threads of the block that the threadgroup does not have; gives the
// others their places by its sides. The builder stands at the end of a block.
static void place_by_sides(entry *e, LLVMBasicBlockRef body) {
  places *at = &e->at;
  LLVMContextRef context = e->kernel->context;
  LLVMBasicBlockRef first = LLVMGetInsertBlock(e->builder);
  LLVMBasicBlockRef cut =
      LLVMInsertBasicBlockInContext(context, body, "cut.off");
  LLVMBasicBlockRef inside =
      LLVMInsertBasicBlockInContext(context, body, "inside");
  LLVMBasicBlockRef outside =
      LLVMInsertBasicBlockInContext(context, body, "outside");
  LLVMBasicBlockRef placed =
      LLVMInsertBasicBlockInContext(context, body, "placed");
  LLVMValueRef own[3], is_full = NULL;
  for (unsigned i = 0; i < 3; i++) {
    LLVMValueRef rest = LLVMBuildSub(e->builder,
                                     LLVMGetParam(e->function, GRID + i),
                                     times(e, at->group[i], at->full[i]), "");
    LLVMTypeRef type = e->types.i32;
    LLVMValueRef both[] = {rest, at->full[i]};
    at->sides[i] =
        mtlc_call_intrinsic(e->builder, "llvm.umin", &type, 1, both, 2);
    LLVMValueRef same = LLVMBuildICmp(e->builder, LLVMIntEQ, at->sides[i],
                                      at->full[i], "");
    is_full = i ? LLVMBuildAnd(e->builder, is_full, same, "") : same;
  }
  LLVMBuildCondBr(e->builder, is_full, placed, cut);
  LLVMPositionBuilderAtEnd(e->builder, cut);
  LLVMValueRef exists = LLVMBuildICmp(e->builder, LLVMIntULT, at->index,
                                      product(e, at->sides), "");
  LLVMBuildCondBr(e->builder, exists, inside, outside);
  LLVMPositionBuilderAtEnd(e->builder, outside);
  LLVMBuildRetVoid(e->builder);
  LLVMPositionBuilderAtEnd(e->builder, inside);
  LLVMValueRef above = LLVMBuildUDiv(e->builder, at->index, at->sides[0], "");
  own[0] = LLVMBuildURem(e->builder, at->index, at->sides[0], "");
  own[1] = LLVMBuildURem(e->builder, above, at->sides[1], "");
  own[2] = LLVMBuildUDiv(e->builder, above, at->sides[1], "");
  LLVMBuildBr(e->builder, placed);
  LLVMPositionBuilderAtEnd(e->builder, placed);
  for (unsigned i = 0; i < 3; i++) {
    LLVMValueRef phi = LLVMBuildPhi(e->builder, e->types.i32, "");
    LLVMValueRef values[] = {at->thread[i], own[i]};
    LLVMBasicBlockRef blocks[] = {first, inside};
    LLVMAddIncoming(phi, values, blocks, 2);
    at->thread[i] = phi;
  }
}

static LLVMValueRef bits(const entry *e, LLVMValueRef value, uint32_t mask) {
  return LLVMBuildAnd(e->builder, value, number(e, mask), "");
}

// The thread of lane (h4 h3 h2 h1 h0) is (h4 h1 h3 h2 h0) of its simdgroup.
static void turn(entry *e) {
  LLVMBuilderRef b = e->builder;
  places *at = &e->at;
  LLVMValueRef kept = bits(e, at->index, ~UINT32_C(14));
  LLVMValueRef up =
      LLVMBuildShl(b, bits(e, at->index, 2), number(e, 2), "");
  LLVMValueRef down =
      LLVMBuildLShr(b, bits(e, at->index, 12), number(e, 1), "");
  at->index = LLVMBuildOr(b, kept, LLVMBuildOr(b, up, down, ""), "");
  LLVMValueRef above = LLVMBuildUDiv(b, at->index, at->full[0], "");
  at->thread[0] = LLVMBuildURem(b, at->index, at->full[0], "");
  at->thread[1] = LLVMBuildURem(b, above, at->full[1], "");
  at->thread[2] = LLVMBuildUDiv(b, above, at->full[1], "");
}

static void go_home(const entry *e) {
  LLVMPositionBuilderBefore(e->builder, LLVMGetBasicBlockTerminator(e->home));
}

static void find_places(entry *e) {
  places *at = &e->at;
  LLVMBasicBlockRef body = LLVMGetEntryBasicBlock(e->function);
  LLVMBasicBlockRef start =
      LLVMInsertBasicBlockInContext(e->kernel->context, body, "enter");
  LLVMPositionBuilderAtEnd(e->builder, start);
  for (unsigned i = 0; i < 3; i++) {
    at->full[i] = at->sides[i] = special(e, "ntid", i);
    at->thread[i] = special(e, "tid", i);
    at->group[i] = special(e, "ctaid", i);
    if (i > 0) {
      at->group[i] =
          plus(e, at->group[i], LLVMGetParam(e->function, FIRST + i - 1));
    }
  }
  LLVMValueRef row =
      plus(e, at->thread[1], times(e, at->full[1], at->thread[2]));
  at->index = plus(e, at->thread[0], times(e, at->full[0], row));
  if (is_turned(e)) {
    turn(e);
  }
  if (e->kernel->group_class.is_uneven) {
    place_by_sides(e, body);
  }
  LLVMBuildBr(e->builder, body);
  e->home = LLVMGetInsertBlock(e->builder);
  go_home(e);
}

static LLVMValueRef units(const entry *e, const LLVMValueRef sides[3],
                          uint32_t width) {
  return LLVMBuildUDiv(e->builder,
                       plus(e, product(e, sides), number(e, width - 1)),
                       number(e, width), "");
}

static LLVMValueRef position(const entry *e, mtli_builtin builtin,
                             uint32_t d) {
  const places *at = &e->at;
  LLVMBuilderRef b = e->builder;
  switch (builtin) {
    case MTLI_THREAD_POSITION_IN_GRID:
      return plus(e, times(e, at->group[d], at->full[d]), at->thread[d]);
    case MTLI_THREAD_POSITION_IN_THREADGROUP: return at->thread[d];
    case MTLI_THREADGROUP_POSITION_IN_GRID: return at->group[d];
    case MTLI_THREADS_PER_THREADGROUP: return at->sides[d];
    case MTLI_DISPATCH_THREADS_PER_THREADGROUP: return at->full[d];
    case MTLI_THREADS_PER_GRID:
    case MTLI_GRID_SIZE: return LLVMGetParam(e->function, GRID + d);
    case MTLI_THREADGROUPS_PER_GRID:
      return LLVMGetParam(e->function, COUNT + d);
    case MTLI_GRID_ORIGIN: return number(e, 0);
    case MTLI_THREAD_INDEX_IN_THREADGROUP: return at->index;
    case MTLI_THREAD_INDEX_IN_SIMDGROUP: return lane(e);
    case MTLI_THREAD_INDEX_IN_QUADGROUP:
      return LLVMBuildAnd(b, lane(e), number(e, QUAD_WIDTH - 1), "");
    case MTLI_SIMDGROUP_INDEX_IN_THREADGROUP:
      return LLVMBuildUDiv(b, at->index, number(e, MTL_SIMD_WIDTH), "");
    case MTLI_QUADGROUP_INDEX_IN_THREADGROUP:
      return LLVMBuildUDiv(b, at->index, number(e, QUAD_WIDTH), "");
    case MTLI_SIMDGROUPS_PER_THREADGROUP:
      return units(e, at->sides, MTL_SIMD_WIDTH);
    case MTLI_QUADGROUPS_PER_THREADGROUP:
      return units(e, at->sides, QUAD_WIDTH);
    case MTLI_DISPATCH_SIMDGROUPS_PER_THREADGROUP:
      return units(e, at->full, MTL_SIMD_WIDTH);
    case MTLI_DISPATCH_QUADGROUPS_PER_THREADGROUP:
      return units(e, at->full, QUAD_WIDTH);
    case MTLI_THREADS_PER_SIMDGROUP: return number(e, MTL_SIMD_WIDTH);
    case MTLI_THREADGROUPS_AT_ONCE: return number(e, 1);
    case MTLI_BUILTIN_NONE:
    case MTLI_BUILTIN_COUNT: break;
  }
  return NULL;
}

// One value for each place of each built-in, at the entry.
static mtl_status replace_positions(entry *e) {
  LLVMValueRef made[MTLI_BUILTIN_COUNT][3] = {0};
  mtlc_values calls = {0};
  mtlc_collect_calls(e->kernel->module, "mettle.position", &calls);
  mtl_status status = MTL_OK;
  for (size_t i = 0; i < calls.count && status == MTL_OK; i++) {
    LLVMValueRef builtin = LLVMGetOperand(calls.items[i], 0);
    LLVMValueRef dimension = LLVMGetOperand(calls.items[i], 1);
    const uint64_t b = LLVMIsAConstantInt(builtin)
                           ? LLVMConstIntGetZExtValue(builtin)
                           : MTLI_BUILTIN_COUNT;
    const uint64_t d = LLVMIsAConstantInt(dimension)
                           ? LLVMConstIntGetZExtValue(dimension)
                           : 3;
    if (b == MTLI_BUILTIN_NONE || b >= MTLI_BUILTIN_COUNT || d >= 3) {
      status = mtli_fail(MTL_BAD_DATA,
                         "mettle.position without a built-in input and a "
                         "dimension that are constants");
      break;
    }
    if (!made[b][d]) {
      made[b][d] = position(e, (mtli_builtin)b, (uint32_t)d);
    }
    mtlc_replace(calls.items[i], made[b][d]);
  }
  free(calls.items);
  return status;
}

static LLVMValueRef generic(const entry *e, unsigned parameter) {
  return LLVMBuildAddrSpaceCast(e->builder,
                                LLVMGetParam(e->function, parameter),
                                e->types.pointer, "");
}

static mtl_status replace_arguments(entry *e) {
  mtlc_values calls = {0};
  mtlc_collect_calls(e->kernel->module, "mettle.argument", &calls);
  const mtli_kernel *kernel = e->kernel->kernel;
  mtl_status status = MTL_OK;
  for (size_t i = 0; i < calls.count && status == MTL_OK; i++) {
    LLVMValueRef slot = LLVMGetOperand(calls.items[i], 0);
    const uint64_t n = LLVMIsAConstantInt(slot)
                           ? LLVMConstIntGetZExtValue(slot)
                           : UINT64_MAX;
    if (n >= kernel->parameter_count) {
      status = mtli_fail(MTL_BAD_DATA, "mettle.argument of no parameter");
      break;
    }
    const unsigned parameter = (unsigned)(FIXED + n);
    LLVMValueRef value;
    if (kernel->parameters[n].argument.kind ==
        MTL_ARGUMENT_THREADGROUP_MEMORY) {
      LLVMValueRef offset = LLVMGetParam(e->function, parameter);
      value = LLVMBuildGEP2(e->builder, e->types.i8, e->shared, &offset, 1, "");
    } else {
      value = generic(e, parameter);
    }
    mtlc_replace(calls.items[i], value);
  }
  free(calls.items);
  return status;
}

static void replace_threadgroup_memory(entry *e) {
  mtlc_values calls = {0};
  mtlc_collect_calls(e->kernel->module, MTLC_THREADGROUP_MEMORY_FUNCTION,
                     &calls);
  for (size_t i = 0; i < calls.count; i++) {
    LLVMValueRef offset = LLVMGetOperand(calls.items[i], 0);
    LLVMPositionBuilderBefore(e->builder, calls.items[i]);
    mtlc_replace(calls.items[i], LLVMBuildGEP2(e->builder, e->types.i8,
                                               e->shared, &offset, 1, ""));
  }
  free(calls.items);
}

static void replace_log_memory(entry *e) {
  mtlc_values calls = {0};
  mtlc_collect_calls(e->kernel->module, "mettle.log_memory", &calls);
  LLVMValueRef log = calls.count ? generic(e, LOG) : NULL;
  for (size_t i = 0; i < calls.count; i++) {
    mtlc_replace(calls.items[i], log);
  }
  free(calls.items);
}

// --- traps -------------------------------------------------------------------

static void end_thread(const entry *e) {
  static const char text[] = "exit;";
  LLVMTypeRef type = LLVMFunctionType(e->types.nothing, NULL, 0, false);
  LLVMValueRef code = LLVMGetInlineAsm(type, text, sizeof text - 1, "", 0, true,
                                       false, LLVMInlineAsmDialectATT, false);
  LLVMBuildCall2(e->builder, type, code, NULL, 0, "");
}

// Where the parts of a record are, but for its reason, and is_whole behind all.
static const size_t record_parts[] = {
    offsetof(mtli_ptx_fault, text),       offsetof(mtli_ptx_fault, place),
    offsetof(mtli_ptx_fault, group),      offsetof(mtli_ptx_fault, group) + 4,
    offsetof(mtli_ptx_fault, group) + 8,  offsetof(mtli_ptx_fault, thread),
    offsetof(mtli_ptx_fault, thread) + 4, offsetof(mtli_ptx_fault, thread) + 8,
    offsetof(mtli_ptx_fault, address),    offsetof(mtli_ptx_fault, access)};
enum { RECORD_PARTS = sizeof record_parts / sizeof *record_parts };
enum { ADDRESS_PART = RECORD_PARTS - 2 };

static void store_at(const entry *e, LLVMValueRef record, size_t offset,
                     LLVMValueRef value) {
  LLVMSetVolatile(
      LLVMBuildStore(e->builder, value,
                     mtlc_offset(e->builder, record, offset)),
      true);
}

// Makes the function that ends a thread: the first one that does so writes the
// record of ptx_abi.h. Parameters: the record, the reason, the record's parts.
static LLVMValueRef make_trap(entry *e) {
  LLVMTypeRef types[2 + RECORD_PARTS] = {e->types.pointer, e->types.i32,
                                         e->types.i64, e->types.i64};
  for (unsigned i = 2; i < RECORD_PARTS; i++) {
    types[2 + i] = i == ADDRESS_PART ? e->types.i64 : e->types.i32;
  }
  LLVMContextRef context = e->kernel->context;
  LLVMValueRef trap = mtlc_declare(
      e->kernel->module, "mettle_stop",
      LLVMFunctionType(e->types.nothing, types, 2 + RECORD_PARTS, false));
  LLVMSetLinkage(trap, LLVMInternalLinkage);
  mtlc_set_attribute(trap, "noinline", 0);
  mtlc_set_attribute(trap, "nounwind", 0);
  LLVMBasicBlockRef start = LLVMAppendBasicBlockInContext(context, trap, "");
  LLVMBasicBlockRef write = LLVMAppendBasicBlockInContext(context, trap, "");
  LLVMBasicBlockRef end = LLVMAppendBasicBlockInContext(context, trap, "");
  LLVMValueRef record = LLVMGetParam(trap, 0);
  LLVMPositionBuilderAtEnd(e->builder, start);
  LLVMValueRef old = LLVMBuildAtomicCmpXchg(
      e->builder, record, number(e, 0), LLVMGetParam(trap, 1),
      LLVMAtomicOrderingMonotonic, LLVMAtomicOrderingMonotonic, false);
  LLVMBuildCondBr(e->builder, LLVMBuildExtractValue(e->builder, old, 1, ""),
                  write, end);
  LLVMPositionBuilderAtEnd(e->builder, write);
  for (unsigned i = 0; i < RECORD_PARTS; i++) {
    store_at(e, record, record_parts[i], LLVMGetParam(trap, 2 + i));
  }
  store_at(e, record, offsetof(mtli_ptx_fault, is_whole), number(e, 1));
  LLVMBuildBr(e->builder, end);
  LLVMPositionBuilderAtEnd(e->builder, end);
  end_thread(e);
  LLVMBuildRetVoid(e->builder);
  return trap;
}

// The text "FILE:LINE" of an instruction; null if that is not known.
static LLVMValueRef place_of(const entry *e, LLVMValueRef instruction) {
  unsigned length = 0;
  const char *file = LLVMGetDebugLocFilename(instruction, &length);
  const unsigned line = LLVMGetDebugLocLine(instruction);
  char text[512];
  if (!file || !length || !line) {
    return LLVMConstNull(e->types.pointer);
  }
  snprintf(text, sizeof text, "%.*s:%u", (int)length, file, line);
  return mtlc_ptx_add_text(e->kernel, text, strlen(text) + 1, 1);
}

static void replace_trap(entry *e, LLVMValueRef call, LLVMValueRef trap,
                         LLVMValueRef record) {
  LLVMPositionBuilderBefore(e->builder, call);
  LLVMValueRef arguments[2 + RECORD_PARTS] = {
      record, plus(e, LLVMGetOperand(call, 0), number(e, 1)),
      LLVMBuildPtrToInt(e->builder, LLVMGetOperand(call, 1), e->types.i64, ""),
      LLVMBuildPtrToInt(e->builder, place_of(e, call), e->types.i64, "")};
  for (unsigned i = 0; i < 3; i++) {
    arguments[4 + i] = e->at.group[i];
    arguments[7 + i] = e->at.thread[i];
  }
  arguments[10] = LLVMConstNull(e->types.i64);
  arguments[11] = number(e, 0);
  mtlc_call(e->builder, trap, arguments, 2 + RECORD_PARTS);
  LLVMInstructionEraseFromParent(call);
}

// --- accesses that ask -------------------------------------------------------

// Gives mettle_is_constant its body: the bytes are inside of one of the
// module's constants.
static void make_is_constant(const entry *e) {
  LLVMModuleRef module = e->kernel->module;
  LLVMValueRef function = LLVMGetNamedFunction(module, "mettle_is_constant");
  LLVMTargetDataRef layout = LLVMGetModuleDataLayout(module);
  LLVMBuilderRef b = LLVMCreateBuilderInContext(e->kernel->context);
  LLVMPositionBuilderAtEnd(
      b, LLVMAppendBasicBlockInContext(e->kernel->context, function, ""));
  LLVMValueRef first = LLVMGetParam(function, 0);
  LLVMValueRef end = LLVMGetParam(function, 1);
  LLVMValueRef is_any = LLVMConstNull(LLVMInt1TypeInContext(e->kernel->context));
  for (LLVMValueRef global = LLVMGetFirstGlobal(module); global;
       global = LLVMGetNextGlobal(global)) {
    if (!LLVMGetInitializer(global)) {
      continue;
    }
    LLVMValueRef address =
        LLVMGetPointerAddressSpace(LLVMTypeOf(global))
            ? LLVMConstAddrSpaceCast(global, e->types.pointer)
            : global;
    LLVMValueRef begin = LLVMBuildPtrToInt(b, address, e->types.i64, "");
    LLVMValueRef behind = LLVMBuildAdd(
        b, begin,
        mtlc_i64(e->kernel->context,
                 LLVMABISizeOfType(layout, LLVMGlobalGetValueType(global))),
        "");
    LLVMValueRef is_inside =
        LLVMBuildAnd(b, LLVMBuildICmp(b, LLVMIntUGE, first, begin, ""),
                     LLVMBuildICmp(b, LLVMIntULE, end, behind, ""), "");
    is_any = LLVMBuildOr(b, is_any, is_inside, "");
  }
  LLVMBuildRet(b, is_any);
  LLVMDisposeBuilder(b);
  LLVMSetLinkage(function, LLVMInternalLinkage);
}

static void replace_ask(const entry *e, LLVMValueRef call, LLVMValueRef ask,
                        LLVMValueRef ranges, LLVMValueRef record) {
  LLVMPositionBuilderBefore(e->builder, call);
  LLVMValueRef arguments[13] = {LLVMGetOperand(call, 0),
                                LLVMGetOperand(call, 1),
                                LLVMGetOperand(call, 2),
                                LLVMGetOperand(call, 3),
                                ranges,
                                record,
                                LLVMBuildPtrToInt(e->builder, place_of(e, call),
                                                  e->types.i64, "")};
  for (unsigned i = 0; i < 3; i++) {
    arguments[7 + i] = e->at.group[i];
    arguments[10 + i] = e->at.thread[i];
  }
  mtlc_call(e->builder, ask, arguments, 13);
  LLVMInstructionEraseFromParent(call);
}

static mtl_status replace_asks(entry *e, const mtlc_values *calls,
                               LLVMValueRef record) {
  LLVMValueRef ranges = generic(e, RANGES);
  MTL_TRY(mtlc_link_text(e->kernel, "ptx_check.ll", mtlc_text_ptx_check));
  make_is_constant(e);
  LLVMValueRef ask = LLVMGetNamedFunction(e->kernel->module, "mettle_ask");
  LLVMSetLinkage(ask, LLVMInternalLinkage);
  for (size_t i = 0; i < calls->count; i++) {
    replace_ask(e, calls->items[i], ask, ranges, record);
  }
  return MTL_OK;
}

static mtl_status replace_traps(entry *e) {
  mtlc_values traps = {0}, asks = {0};
  mtlc_collect_calls(e->kernel->module, "mettle.trap", &traps);
  mtlc_collect_calls(e->kernel->module, MTLC_PTX_ASK, &asks);
  mtl_status status = MTL_OK;
  go_home(e);
  LLVMValueRef record =
      traps.count || asks.count ? generic(e, FAULT) : NULL;
  if (asks.count) {
    status = replace_asks(e, &asks, record);
  }
  if (record && status == MTL_OK) {
    LLVMValueRef trap = make_trap(e);
    for (size_t i = 0; i < traps.count; i++) {
      replace_trap(e, traps.items[i], trap, record);
    }
  }
  free(traps.items);
  free(asks.items);
  return status;
}

// So many threads the code must leave registers for.
static void limit_threads(const entry *e) {
  const uint32_t threads = e->kernel->kernel->max_total_threads_per_threadgroup;
  if (threads) {
    char text[16];
    snprintf(text, sizeof text, "%u", threads);
    LLVMContextRef context = e->kernel->context;
    LLVMMetadataRef parts[] = {
        LLVMValueAsMetadata(e->function),
        LLVMMDStringInContext2(context, "maxntidx", 8),
        LLVMValueAsMetadata(number(e, threads))};
    LLVMAddNamedMetadataOperand(
        e->kernel->module, "nvvm.annotations",
        LLVMMetadataAsValue(context, LLVMMDNodeInContext2(context, parts, 3)));
  }
}

mtl_status mtlc_ptx_enter_block(mtlc_kernel *kernel) {
  entry e = {.kernel = kernel,
             .types = mtlc_types_of(kernel->context),
             .builder = LLVMCreateBuilderInContext(kernel->context)};
  make_function(&e);
  declare_shared(&e);
  find_places(&e);
  mtl_status status = replace_positions(&e);
  if (status == MTL_OK) {
    status = replace_arguments(&e);
  }
  if (status == MTL_OK) {
    replace_log_memory(&e);
    replace_threadgroup_memory(&e);
    // Positions that traps tell are at the entry, and so before the traps.
    status = replace_traps(&e);
    limit_threads(&e);
  }
  // The places of traps are taken from it; PTX has none.
  LLVMStripModuleDebugInfo(kernel->module);
  kernel->facts.depends_on_uneven = true;
  LLVMDisposeBuilder(e.builder);
  return status;
}
