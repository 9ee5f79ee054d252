// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// variable_use.h: how a function uses the variables whose addresses it gets,
// and whether it has other effects.
#ifndef MTLC_VARIABLE_USE_H
#define MTLC_VARIABLE_USE_H

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct mtlc_variable_use {
  bool is_read;
  bool is_written;
  bool escapes;   // does more than load and store
  bool is_open;   // its size is known to callers only
  uint64_t end;   // bytes that it touches
  uint64_t bits;  // all offsets and sizes or-ed
} mtlc_variable_use;

// Adds how a function, and those that it calls, use the variable behind a
// parameter.
void mtlc_survey_parameter(LLVMValueRef function, unsigned parameter,
                           mtlc_variable_use *use);

// Returns a parameter's attribute of that name, or NULL.
LLVMAttributeRef mtlc_parameter_attribute(LLVMValueRef function,
                                          unsigned parameter, const char *name);

// True if a type is a number or a structure of numbers.
bool mtlc_is_value(LLVMTypeRef type);

// True if a function only computes: on values, its own variables, variables
// whose addresses it gets, and constant data. Analyse the functions that it
// calls first.
bool mtlc_only_computes(LLVMValueRef function);

#endif
