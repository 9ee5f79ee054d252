// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// functions.c: the table of AIR functions and LLVM intrinsics that have an
// equivalent in portable IR. All others are the support library's.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/air/air.h"
#include "compiler/air/families.h"

static const struct {
  const char *prefix;  // follows "air."; a type may follow it
  air_family *call;
} families[] = {
    {"atomic.", air_call_atomic},
    {"convert.", air_call_convert},
    {"get_null_", air_call_null},
    {"get_read_sampler", air_call_null},
    {"get_simdgroup_size.", air_call_simdgroup_size},
    {"get_thread_index_in_simdgroup.", air_call_lane},
    {"is_null_", air_call_is_null},
    {"is_uniform.", air_call_is_uniform},
    {"load.", air_call_load},
    {"normalize_function_constant_predicate.", air_call_normalize},
    {"simdgroup.barrier", air_call_simdgroup_barrier},
    {"simdgroup_matrix_8x8_", air_call_matrix},
    {"store.", air_call_store},
    {"wg.barrier", air_call_threadgroup_barrier},
};

LLVMValueRef air_call(air_translation *t, LLVMValueRef call, const char *name) {
  name += strlen("air.");
  for (size_t i = 0; i < sizeof families / sizeof *families; ++i) {
    const char *prefix = families[i].prefix;
    if (strncmp(name, prefix, strlen(prefix)) == 0) {
      return families[i].call(t, call, name + strlen(prefix));
    }
  }
  char library_name[64];
  return air_texture_library_name(name, library_name)
             ? air_call_texture(t, call, name)
             : air_call_library(t, call, name);
}

// Null tests: a texture, a table or another argument is null if it is absent.
LLVMValueRef air_call_null(air_translation *t, LLVMValueRef call,
                           const char *rest) {
  (void)rest;
  return LLVMConstNull(air_type(t, LLVMTypeOf(call)));
}

LLVMValueRef air_call_is_null(air_translation *t, LLVMValueRef call,
                              const char *rest) {
  (void)rest;
  LLVMValueRef is_null =
      LLVMBuildIsNull(t->builder, air_operand(t, call, 0), "");
  return LLVMBuildZExtOrBitCast(t->builder, is_null,
                                air_type(t, LLVMTypeOf(call)), "");
}

// --- intrinsics --------------------------------------------------------------

static bool starts(const char *name, const char *prefix) {
  return strncmp(name, prefix, strlen(prefix)) == 0;
}

// True for calls that only advise an optimiser.
static bool is_advice(const char *name) {
  static const char *const names[] = {"llvm.lifetime.", "llvm.assume",
                                      "llvm.dbg.", "llvm.experimental.noalias.",
                                      "llvm.invariant.", "llvm.donothing"};
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
    if (starts(name, names[i])) {
      return true;
    }
  }
  return false;
}

static unsigned alignment_of(LLVMValueRef call, unsigned argument) {
  const unsigned kind = LLVMGetEnumAttributeKindForName("align", 5);
  LLVMAttributeRef attribute =
      LLVMGetCallSiteEnumAttribute(call, argument + 1, kind);
  return attribute ? (unsigned)LLVMGetEnumAttributeValue(attribute) : 1;
}

static LLVMValueRef copy_memory(air_translation *t, LLVMValueRef call,
                                bool may_overlap) {
  LLVMValueRef to = air_operand(t, call, 0), from = air_operand(t, call, 1);
  LLVMValueRef size = air_operand(t, call, 2);
  const unsigned to_alignment = alignment_of(call, 0);
  const unsigned from_alignment = alignment_of(call, 1);
  return may_overlap ? LLVMBuildMemMove(t->builder, to, to_alignment, from,
                                        from_alignment, size)
                     : LLVMBuildMemCpy(t->builder, to, to_alignment, from,
                                       from_alignment, size);
}

static LLVMValueRef call_same(air_translation *t, LLVMValueRef call,
                              const char *name) {
  LLVMTypeRef type = air_type(t, LLVMGetCalledFunctionType(call));
  const char *matrix = strstr(name, ".v64");
  char own[256];
  if (matrix) {
    snprintf(own, sizeof own, "%.*s.v2%s", (int)(matrix - name), name,
             matrix + 4);
    name = own;
  }
  LLVMValueRef function = LLVMGetNamedFunction(t->target, name);
  function = function ? function : LLVMAddFunction(t->target, name, type);
  const unsigned count = LLVMGetNumArgOperands(call);
  LLVMValueRef *arguments = air_allocate(t, (count + 1) * sizeof *arguments);
  for (unsigned i = 0; i < count; ++i) {
    arguments[i] = air_operand(t, call, i);
  }
  return LLVMBuildCall2(t->builder, type, function, arguments, count, "");
}

LLVMValueRef air_call_intrinsic(air_translation *t, LLVMValueRef call,
                                const char *name) {
  // Functions whose results depend on their operands alone.
  static const char *const plain[] = {
      "llvm.abs.", "llvm.bitreverse.", "llvm.bswap.", "llvm.ceil.",
      "llvm.copysign.", "llvm.ctlz.", "llvm.ctpop.", "llvm.cttz.",
      "llvm.fabs.", "llvm.floor.", "llvm.fma.", "llvm.fmuladd.", "llvm.fshl.",
      "llvm.fshr.", "llvm.maxnum.", "llvm.minnum.", "llvm.rint.",
      "llvm.sadd.sat.", "llvm.smax.", "llvm.smin.", "llvm.sqrt.",
      "llvm.ssub.sat.", "llvm.trap", "llvm.trunc.", "llvm.uadd.sat.",
      "llvm.umax.", "llvm.umin.", "llvm.usub.sat.", "llvm.vector.reduce.",
      "llvm.umul.with.overflow.", "llvm.uadd.with.overflow.",
      "llvm.usub.with.overflow.", "llvm.smul.with.overflow.",
      "llvm.sadd.with.overflow.", "llvm.ssub.with.overflow."};
  if (is_advice(name) || air_call_va(t, call, name)) {
    return NULL;
  }
  if (starts(name, "llvm.expect.")) {
    return air_operand(t, call, 0);
  }
  if (starts(name, "llvm.memcpy.") || starts(name, "llvm.memmove.")) {
    return copy_memory(t, call, starts(name, "llvm.memmove."));
  }
  if (starts(name, "llvm.memset.")) {
    return LLVMBuildMemSet(t->builder, air_operand(t, call, 0),
                           air_operand(t, call, 1), air_operand(t, call, 2),
                           alignment_of(call, 0));
  }
  for (size_t i = 0; i < sizeof plain / sizeof *plain; ++i) {
    if (starts(name, plain[i])) {
      return call_same(t, call, name);
    }
  }
  air_miss(t, name);
  return NULL;
}
