// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// names.h: the names of values and functions.
#ifndef MTLC_NAMES_H
#define MTLC_NAMES_H

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stddef.h>

// Returns the name of a value; never NULL.
const char *mtlc_name(LLVMValueRef value);
bool mtlc_starts_with(const char *text, const char *prefix);
// Writes the names in a mangled name, "ns::f" of "_ZN2ns1fEj"; other names as
// they are.
void mtlc_name_in_source(const char *name, char *out, size_t capacity);

#endif
