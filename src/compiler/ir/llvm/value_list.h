// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// value_list.h: a growing list of values.
#ifndef MTLC_VALUE_LIST_H
#define MTLC_VALUE_LIST_H

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stddef.h>

// A growing list of values. Zero is empty; free(items) ends it.
typedef struct mtlc_values {
  LLVMValueRef *items;  // [count]
  size_t count;
  size_t capacity;
} mtlc_values;
void mtlc_values_add(mtlc_values *values, LLVMValueRef value);
bool mtlc_values_has(const mtlc_values *values, LLVMValueRef value);

#endif
