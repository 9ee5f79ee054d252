// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// conversions.h: floating point to integers in whole vectors.
#ifndef MTLC_CONVERSIONS_H
#define MTLC_CONVERSIONS_H

#include <llvm-c/Core.h>
#include <stdbool.h>

#include "compiler/vectorize/emit/values/emitter.h"

// Returns a vector of floating point as one of integers, as
// llvm.fptosi.sat and llvm.fptoui.sat do; NULL for types that it does not know.
LLVMValueRef lanes_to_integer(lanes_emitter *e, LLVMValueRef value,
                              LLVMTypeRef type, bool is_signed);
// Returns a vector of half as one of float that LLVM does not take for one of
// half again; anything else as it is.
LLVMValueRef lanes_as_float(lanes_emitter *e, LLVMValueRef value);

#endif
