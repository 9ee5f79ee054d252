// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// scalarise_short.h: what a simdgroup of two or four rows computes once for
// each row, for an address most of all, is a short vector, of which each
// element is then taken to a register of its own.
#ifndef MTLC_SCALARISE_SHORT_H
#define MTLC_SCALARISE_SHORT_H

#include <llvm-c/Core.h>
#include <stdbool.h>

// Computes what is taken out of short vectors without them.
// Returns whether there was any.
bool lanes_scalarise_short(LLVMValueRef function);

#endif
