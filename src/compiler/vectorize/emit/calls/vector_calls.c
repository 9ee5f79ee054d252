// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// vector_calls.c: functions that a long kernel calls for all its threads at once.
// Their vector form takes the threads that call, a bit each, and a vector for
// each component of each parameter; it returns a structure of vectors. LLVM
// passes what registers do not hold on the stack.
#include "compiler/vectorize/emit/calls/vector_calls.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/ir/kernel/kernel.h"
#include "compiler/ir/llvm/attributes.h"
#include "compiler/ir/llvm/calls.h"
#include "compiler/ir/llvm/instructions.h"
#include "compiler/ir/llvm/names.h"
#include "compiler/ir/llvm/types.h"
#include "compiler/ir/transform/keep_calls.h"
#include "compiler/vectorize/analysis/components.h"
#include "compiler/vectorize/base/tables.h"
#include "compiler/vectorize/emit/values/builder.h"
#include "compiler/vectorize/emit/values/emitter.h"
#include "compiler/vectorize/emit/values/values.h"

static const char wide_prefix[] = "mettle.wide.";
static const char parameter_name[] = "mettle.parameter";

// --- The vector form ---------------------------------------------------------

// Bits and halves are passed as integers: LLVM's way of passing vectors of them
// depends on the machine.
static LLVMTypeRef passed_type(LLVMTypeRef type) {
  LLVMContextRef context = LLVMGetTypeContext(type);
  switch (LLVMGetTypeKind(type)) {
    case LLVMHalfTypeKind:
    case LLVMBFloatTypeKind: return LLVMInt16TypeInContext(context);
    case LLVMIntegerTypeKind:
      return LLVMGetIntTypeWidth(type) == 1 ? LLVMInt8TypeInContext(context)
                                            : type;
    default: return type;
  }
}

static LLVMValueRef to_passed(lanes_emitter *e, LLVMValueRef vector) {
  LLVMTypeRef element = LLVMGetElementType(LLVMTypeOf(vector));
  LLVMTypeRef passed = lanes_vector_of(e->lanes, passed_type(element));
  return LLVMGetTypeKind(element) == LLVMIntegerTypeKind
             ? LLVMBuildZExt(e->builder, vector, passed, "")
             : LLVMBuildBitCast(e->builder, vector, passed, "");
}

static LLVMValueRef from_passed(lanes_emitter *e, LLVMValueRef vector,
                                LLVMTypeRef type) {
  return LLVMGetTypeKind(type) == LLVMIntegerTypeKind
             ? LLVMBuildTrunc(e->builder, vector, lanes_vector_of(e->lanes, type), "")
             : LLVMBuildBitCast(e->builder, vector, lanes_vector_of(e->lanes, type), "");
}

static LLVMTypeRef passed_component(uint32_t lanes, LLVMTypeRef type,
                                    uint32_t component) {
  return lanes_vector_of(lanes, passed_type(lanes_component_type(type, component)));
}

static LLVMTypeRef returned_type(uint32_t lanes, LLVMTypeRef type) {
  LLVMContextRef context = LLVMGetTypeContext(type);
  const uint32_t count = lanes_component_count(type);
  LLVMTypeRef *parts = calloc(count + 1, sizeof *parts);
  for (uint32_t c = 0; c < count; c++) {
    parts[c] = passed_component(lanes, type, c);
  }
  LLVMTypeRef all = LLVMStructTypeInContext(context, parts, count, false);
  free(parts);
  return all;
}

static LLVMTypeRef wide_type(uint32_t lanes, LLVMValueRef function) {
  LLVMTypeRef type = LLVMGlobalGetValueType(function);
  uint32_t count = 1;
  for (unsigned i = 0; i < LLVMCountParams(function); i++) {
    count += lanes_component_count(LLVMTypeOf(LLVMGetParam(function, i)));
  }
  LLVMTypeRef *parameters = calloc(count, sizeof *parameters);
  uint32_t at = 0;
  parameters[at++] = LLVMInt32TypeInContext(LLVMGetTypeContext(type));
  for (unsigned i = 0; i < LLVMCountParams(function); i++) {
    LLVMTypeRef own = LLVMTypeOf(LLVMGetParam(function, i));
    for (uint32_t c = 0; c < lanes_component_count(own); c++) {
      parameters[at++] = passed_component(lanes, own, c);
    }
  }
  LLVMTypeRef wide = LLVMFunctionType(returned_type(lanes, LLVMGetReturnType(type)),
                                      parameters, count, false);
  free(parameters);
  return wide;
}

enum { NAME_BYTES = 512 };

static void name_wide(LLVMValueRef function, char out[NAME_BYTES]) {
  snprintf(out, NAME_BYTES, "%s%s", wide_prefix,
           mtlc_name(function) + strlen(MTLC_CALLED_PREFIX));
}

LLVMValueRef lanes_vector_function_of(mtlc_kernel *kernel, LLVMValueRef function) {
  char name[NAME_BYTES];
  name_wide(function, name);
  return LLVMGetNamedFunction(kernel->module, name);
}

void lanes_vector_function_declare(mtlc_kernel *kernel, uint32_t lanes) {
  for (LLVMValueRef f = LLVMGetFirstFunction(kernel->module); f;
       f = LLVMGetNextFunction(f)) {
    if (mtlc_is_called(f)) {
      char name[NAME_BYTES];
      name_wide(f, name);
      LLVMValueRef wide = LLVMAddFunction(kernel->module, name, wide_type(lanes, f));
      mtlc_set_attribute(wide, "nounwind", 0);
      mtlc_set_attribute(wide, "noinline", 0);
    }
  }
}

void lanes_vector_function_forget(mtlc_kernel *kernel) {
  LLVMValueRef next = NULL;
  for (LLVMValueRef f = LLVMGetFirstFunction(kernel->module); f; f = next) {
    next = LLVMGetNextFunction(f);
    if (mtlc_starts_with(mtlc_name(f), wide_prefix)) {
      LLVMReplaceAllUsesWith(f, LLVMGetPoison(LLVMTypeOf(f)));
      LLVMDeleteFunction(f);
    }
  }
}

// --- Parameters as instructions ----------------------------------------------

void lanes_vector_function_open(mtlc_kernel *kernel, LLVMValueRef function) {
  LLVMBuilderRef builder = LLVMCreateBuilderInContext(kernel->context);
  mtlc_types types = mtlc_types_of(kernel->context);
  mtlc_position_at_entry(builder, function);
  for (unsigned i = 0; i < LLVMCountParams(function); i++) {
    LLVMValueRef parameter = LLVMGetParam(function, i);
    if (LLVMGetFirstUse(parameter)) {
      LLVMValueRef source = LLVMAddFunction(
          kernel->module, parameter_name,
          LLVMFunctionType(LLVMTypeOf(parameter), &types.i32, 1, false));
      LLVMValueRef number = mtlc_i32(kernel->context, i);
      LLVMReplaceAllUsesWith(parameter, mtlc_call(builder, source, &number, 1));
    }
  }
  LLVMDisposeBuilder(builder);
}

static void close_parameter(LLVMValueRef call, void *function) {
  if (mtlc_is_call_of(call, parameter_name)) {
    LLVMValueRef callee = mtlc_callee(call);
    const uint64_t i = LLVMConstIntGetZExtValue(LLVMGetOperand(call, 0));
    mtlc_replace(call, LLVMGetParam(function, (unsigned)i));
    LLVMDeleteFunction(callee);
  }
}

void lanes_vector_function_close(LLVMValueRef function) {
  mtlc_for_each_instruction(function, close_parameter, function);
}

// --- The body ----------------------------------------------------------------

void lanes_emit_vector_parameter(lanes_emitter *e, LLVMValueRef call) {
  const uint64_t number = LLVMConstIntGetZExtValue(LLVMGetOperand(call, 0));
  uint32_t at = 1;
  for (unsigned i = 0; i < number; i++) {
    at += lanes_component_count(LLVMTypeOf(LLVMGetParam(e->called, i)));
  }
  LLVMTypeRef type = LLVMTypeOf(call);
  for (uint32_t c = 0; c < lanes_component_count(type); c++) {
    lanes_set_result(e, call, c,
                     from_passed(e, LLVMGetParam(e->function, at + c),
                                 lanes_component_type(type, c)));
  }
}

void lanes_leave_result(lanes_emitter *e, LLVMValueRef result) {
  const uint32_t count = lanes_component_count(LLVMTypeOf(result));
  if (!e->results) {
    e->results = lanes_allocate(e->arena, count, sizeof *e->results);
    for (uint32_t c = 0; c < count; c++) {
      e->results[c] = lanes_promotable_alloca(
          e, lanes_vector_of(e->lanes, lanes_component_type(LLVMTypeOf(result), c)));
    }
  }
  const bool all = e->plan->steps[e->node].mask == LANES_NONE;
  for (uint32_t c = 0; c < count; c++) {
    LLVMValueRef value = lanes_vector(e, result, c);
    if (!all) {
      LLVMValueRef old =
          LLVMBuildLoad2(e->builder, LLVMTypeOf(value), e->results[c], "");
      value = LLVMBuildSelect(e->builder, e->mask, value, old, "");
    }
    LLVMBuildStore(e->builder, value, e->results[c]);
  }
}

void lanes_emit_return(lanes_emitter *e) {
  LLVMTypeRef type = LLVMGetReturnType(LLVMGlobalGetValueType(e->function));
  LLVMValueRef all = LLVMGetPoison(type);
  for (uint32_t c = 0; e->results && c < LLVMCountStructElementTypes(type);
       c++) {
    LLVMValueRef value = LLVMBuildLoad2(
        e->builder, LLVMGetAllocatedType(e->results[c]), e->results[c], "");
    all = LLVMBuildInsertValue(e->builder, all, to_passed(e, value), c, "");
  }
  LLVMBuildRet(e->builder, all);
}

// --- Calls -------------------------------------------------------------------

void lanes_emit_wide_call(lanes_emitter *e, LLVMValueRef call) {
  LLVMValueRef wide = lanes_vector_function_of(e->kernel, mtlc_callee(call));
  LLVMValueRef *arguments =
      lanes_allocate(e->arena, LLVMCountParams(wide), sizeof *arguments);
  uint32_t count = 0;
  arguments[count++] = lanes_mask_bits(e, e->mask);
  for (uint32_t i = 0; i < LLVMGetNumArgOperands(call); i++) {
    LLVMValueRef operand = LLVMGetOperand(call, i);
    for (uint32_t c = 0; c < lanes_component_count(LLVMTypeOf(operand)); c++) {
      arguments[count++] = to_passed(e, lanes_vector(e, operand, c));
    }
  }
  LLVMValueRef results = mtlc_call(e->builder, wide, arguments, count);
  for (uint32_t c = 0; c < lanes_component_count(LLVMTypeOf(call)); c++) {
    lanes_set_result(
        e, call, c,
        from_passed(e, LLVMBuildExtractValue(e->builder, results, c, ""),
                    lanes_component_type(LLVMTypeOf(call), c)));
  }
}
