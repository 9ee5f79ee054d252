// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// value_list.c: a growing list of values.
#include "compiler/ir/llvm/value_list.h"

#include <stdlib.h>

void mtlc_values_add(mtlc_values *values, LLVMValueRef value) {
  if (values->count == values->capacity) {
    values->capacity = values->capacity ? 2 * values->capacity : 16;
    // The compiler is a process of its own with a memory limit: running out
    // ends it, and the runtime reports that.
    values->items =
        realloc(values->items, values->capacity * sizeof values->items[0]);
    if (!values->items) {
      abort();
    }
  }
  values->items[values->count++] = value;
}

bool mtlc_values_has(const mtlc_values *values, LLVMValueRef value) {
  for (size_t i = 0; i < values->count; ++i) {
    if (values->items[i] == value) {
      return true;
    }
  }
  return false;
}
