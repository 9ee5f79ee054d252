// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// scalarise_short.h: replaces vectors of two or four elements whose elements
// are extracted by scalars.
#ifndef MTLC_SCALARISE_SHORT_H
#define MTLC_SCALARISE_SHORT_H

#include <llvm-c/Core.h>
#include <stdbool.h>

// Replaces such vectors. True if there were any.
bool lanes_scalarise_short(LLVMValueRef function);

#endif
