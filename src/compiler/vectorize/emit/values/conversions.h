// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// conversions.h: converts vectors of floats to integers.
#ifndef MTLC_CONVERSIONS_H
#define MTLC_CONVERSIONS_H

#include <llvm-c/Core.h>
#include <stdbool.h>

#include "compiler/vectorize/emit/values/emitter.h"

// Converts a vector of floats to integers, as llvm.fptosi.sat and
// llvm.fptoui.sat do. NULL for other types.
LLVMValueRef lanes_to_integer(lanes_emitter *e, LLVMValueRef value,
                              LLVMTypeRef type, bool is_signed);
// Converts a vector of half to float in a form that LLVM does not undo; returns
// any other vector unchanged.
LLVMValueRef lanes_as_float(lanes_emitter *e, LLVMValueRef value);

#endif
