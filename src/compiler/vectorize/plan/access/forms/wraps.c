// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// wraps.c: addresses whose stride holds unless an index wraps around in its
// narrow type: the index, and how the address follows it.
#include "compiler/vectorize/plan/access/forms/wraps.h"

#include <stddef.h>

#include "compiler/vectorize/analysis/callees.h"
#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/analysis/uniformity.h"

static bool is_extension(LLVMValueRef value) {
  const LLVMOpcode opcode = LLVMGetInstructionOpcode(value);
  return opcode == LLVMZExt || opcode == LLVMSExt;
}

bool lanes_is_wrap_root(const lanes_values *values, LLVMValueRef value) {
  return is_extension(value) &&
         !lanes_shape_of(values, LLVMGetOperand(value, 0)).conditional;
}

// Follows a conditional value to its only root. Returns how much the value
// changes when the root changes by one; 0 if there are several paths.
static int64_t follow(const lanes_values *values, LLVMValueRef value,
                      LLVMValueRef *out_root) {
  if (lanes_is_wrap_root(values, value)) {
    *out_root = value;
    return 1;
  }
  lanes_limit limit;
  int found = -1;
  if (lanes_limit_find(value, &limit)) {
    return 0;
  }
  for (int i = 0; i < LLVMGetNumOperands(value); i++) {
    if (lanes_shape_of(values, LLVMGetOperand(value, (unsigned)i))
            .conditional) {
      if (found >= 0) {
        return 0;
      }
      found = i;
    }
  }
  if (found < 0) {
    return 0;
  }
  LLVMValueRef operand = LLVMGetOperand(value, (unsigned)found);
  const int64_t inner = lanes_shape_of(values, operand).stride;
  const int64_t others =
      LLVMGetInstructionOpcode(value) == LLVMGetElementPtr && found > 0
          ? lanes_shape_of(values, LLVMGetOperand(value, 0)).stride
          : 0;
  // Strides add up unless all other operands are uniform.
  for (int i = 0; i < LLVMGetNumOperands(value); i++) {
    if (i != found && !lanes_is_uniform(lanes_shape_of(
                          values, LLVMGetOperand(value, (unsigned)i)))) {
      return 0;
    }
  }
  const int64_t outer = lanes_shape_of(values, value).stride - others;
  if (!inner || outer % inner) {
    return 0;
  }
  return outer / inner * follow(values, operand, out_root);
}

bool lanes_find_wrap(const lanes_values *values, LLVMValueRef address,
                     lanes_wrap *out_wrap) {
  LLVMValueRef root = NULL;
  const int64_t factor = follow(values, address, &root);
  *out_wrap = (lanes_wrap){.root = root, .factor = factor};
  return factor && lanes_is_scalar(lanes_shape_of(values, address)) &&
         LLVMGetIntTypeWidth(LLVMTypeOf(LLVMGetOperand(root, 0))) == 32;
}
