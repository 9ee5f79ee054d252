// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// names.c: the names of values and functions.
#include "compiler/ir/llvm/names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *mtlc_name(LLVMValueRef value) {
  size_t length;
  return LLVMGetValueName2(value, &length);
}

bool mtlc_starts_with(const char *text, const char *prefix) {
  return strncmp(text, prefix, strlen(prefix)) == 0;
}

void mtlc_name_in_source(const char *name, char *out, size_t capacity) {
  snprintf(out, capacity, "%s", name);
  if (!mtlc_starts_with(name, "_Z")) {
    return;
  }
  const char *at = name + 2 + strcspn(name + 2, "0123456789");
  size_t length = 0;
  while (*at >= '0' && *at <= '9') {
    char *part = NULL;
    const unsigned long bytes = strtoul(at, &part, 10);
    if (bytes > strlen(part) || length + bytes + 3 > capacity) {
      break;
    }
    length += (size_t)snprintf(out + length, capacity - length, "%s%.*s",
                               length ? "::" : "", (int)bytes, part);
    at = part + bytes;
    if (name[2] != 'N') {
      break;  // the rest are types of parameters
    }
  }
}
