// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// metadata.c: reads LLVM's metadata: nodes, texts, numbers.
#include <string.h>

#include "compiler/air/air.h"

static bool is_node(LLVMValueRef value) {
  return value && LLVMIsAMDNode(value);
}

LLVMValueRef *air_node(air_translation *t, LLVMValueRef node,
                       unsigned *out_count) {
  *out_count = is_node(node) ? LLVMGetMDNodeNumOperands(node) : 0;
  LLVMValueRef *operands = air_allocate(t, (*out_count + 1) * sizeof *operands);
  if (*out_count > 0) {
    LLVMGetMDNodeOperands(node, operands);
  }
  return operands;
}

LLVMValueRef *air_named_nodes(air_translation *t, const char *name,
                              unsigned *out_count) {
  *out_count = LLVMGetNamedMetadataNumOperands(t->source, name);
  LLVMValueRef *operands = air_allocate(t, (*out_count + 1) * sizeof *operands);
  LLVMGetNamedMetadataOperands(t->source, name, operands);
  return operands;
}

const char *air_text(air_translation *t, LLVMValueRef value) {
  unsigned length = 0;
  const char *text =
      value && LLVMIsAMDString(value) ? LLVMGetMDString(value, &length) : NULL;
  return text ? air_copy_text(t, text, length) : NULL;
}

int64_t air_integer(LLVMValueRef value, int64_t otherwise) {
  return value && LLVMIsAConstantInt(value) &&
                 LLVMGetIntTypeWidth(LLVMTypeOf(value)) <= 64
             ? LLVMConstIntGetSExtValue(value)
             : otherwise;
}
