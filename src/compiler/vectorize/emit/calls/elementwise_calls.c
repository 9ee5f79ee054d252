// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// elementwise_calls.c: intrinsics that have a vector form.
#include "compiler/vectorize/emit/calls/elementwise_calls.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "code/cpu_abi.h"
#include "compiler/ir/llvm/calls.h"
#include "compiler/vectorize/analysis/callees.h"
#include "compiler/vectorize/analysis/components.h"
#include "compiler/vectorize/emit/values/builder.h"
#include "compiler/vectorize/emit/values/conversions.h"
#include "compiler/vectorize/emit/values/emitter.h"
#include "compiler/vectorize/emit/values/values.h"

// --- Intrinsics --------------------------------------------------------------

// Which types an intrinsic's name contains: the result's, an argument's.
static uint32_t overloads_of(const char *name, LLVMTypeRef result,
                             LLVMTypeRef argument_type, LLVMTypeRef second,
                             LLVMTypeRef *out_types) {
  if (strncmp(name, "llvm.fpto", 9) == 0) {
    out_types[0] = result;
    out_types[1] = argument_type;
    return 2;
  }
  if (strncmp(name, "llvm.ldexp.", 11) == 0) {
    out_types[0] = result;
    out_types[1] = second;
    return 2;
  }
  out_types[0] = argument_type;
  return 1;
}

// Emits a conversion that LLVM has no vector form of; NULL for others.
static LLVMValueRef as_integer(lanes_emitter *e, const char *name,
                               LLVMValueRef value, LLVMTypeRef type) {
  const bool is_signed = strcmp(name, "llvm.fptosi.sat") == 0;
  return is_signed || strcmp(name, "llvm.fptoui.sat") == 0
             ? lanes_to_integer(e, value, type, is_signed)
             : NULL;
}

static bool rounds(const char *name) {
  static const char *const names[] = {
      "llvm.floor", "llvm.ceil",      "llvm.trunc",    "llvm.rint",
      "llvm.round", "llvm.nearbyint", "llvm.roundeven"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    if (strcmp(name, names[i]) == 0) {
      return true;
    }
  }
  return false;
}

// Rounds to a whole number. LLVM 19 rounds vectors of half lane by lane; they
// are rounded as floats, with the same result.
static LLVMValueRef rounded(lanes_emitter *e, const char *name,
                            LLVMValueRef value) {
  LLVMValueRef as_float = lanes_as_float(e, value);
  LLVMTypeRef type = LLVMTypeOf(as_float);
  LLVMValueRef result = lanes_intrinsic(e, name, &type, 1, &as_float, 1);
  return as_float == value
             ? result
             : LLVMBuildFPTrunc(e->builder, result, LLVMTypeOf(value), "");
}

void lanes_emit_elementwise(lanes_emitter *e, LLVMValueRef call) {
  const uint32_t width = lanes_width(e, call);
  const uint32_t argument_count = LLVMGetNumArgOperands(call);
  LLVMValueRef first = LLVMGetOperand(call, 0);
  const uint32_t count = lanes_component_count(LLVMTypeOf(first));
  const char *full = mtlc_callee_name(call);
  // the name without its types, which LLVM appends
  char name[64];
  const unsigned id = LLVMGetIntrinsicID(LLVMGetCalledValue(call));
  size_t length = 0;
  const char *base = LLVMIntrinsicGetName(id, &length);
  if (length >= sizeof name || argument_count > 4) {
    lanes_refuse(e, "the intrinsic %s", full);
    return;
  }
  memcpy(name, base, length);
  name[length] = 0;
  LLVMTypeRef result_type = LLVMTypeOf(call);
  const bool is_pair = LLVMGetTypeKind(result_type) == LLVMStructTypeKind;
  for (uint32_t c = 0; c < count; c++) {
    LLVMValueRef arguments[4];
    for (uint32_t i = 0; i < argument_count; i++) {
      LLVMValueRef operand = LLVMGetOperand(call, i);
      arguments[i] = lanes_operand_is_flag(call, i)
                         ? operand
                         : lanes_at_width(e, operand, c, width);
    }
    LLVMTypeRef part = lanes_component_type(result_type, c);
    LLVMTypeRef types[2];
    const uint32_t type_count = overloads_of(
        full, lanes_wide(part, width), LLVMTypeOf(arguments[0]),
        argument_count > 1 ? LLVMTypeOf(arguments[1]) : NULL, types);
    LLVMValueRef value = as_integer(e, name, arguments[0], types[0]);
    if (!value && rounds(name)) {
      value = rounded(e, name, arguments[0]);
    } else if (!value) {
      value = lanes_intrinsic(e, name, types, type_count, arguments,
                              argument_count);
    }
    if (!is_pair) {
      lanes_set_result(e, call, c, value);
      continue;
    }
    for (uint32_t k = 0; k < 2; k++) {
      lanes_set_result(e, call, c + k * count,
                       LLVMBuildExtractValue(e->builder, value, k, ""));
    }
  }
}
