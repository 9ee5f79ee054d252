// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// attributes.h: attributes of functions and parameters.
#ifndef MTLC_ATTRIBUTES_H
#define MTLC_ATTRIBUTES_H

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stdint.h>

void mtlc_set_attribute(LLVMValueRef function, const char *name,
                        uint64_t value);
// Sets an attribute of a parameter, counted from 0.
void mtlc_set_parameter_attribute(LLVMValueRef function, unsigned parameter,
                                  const char *name, uint64_t value);
void mtlc_set_text_attribute(LLVMValueRef function, const char *name,
                             const char *value);
void mtlc_remove_attribute(LLVMValueRef function, const char *name);
bool mtlc_has_attribute(LLVMValueRef function, const char *name);

#endif
