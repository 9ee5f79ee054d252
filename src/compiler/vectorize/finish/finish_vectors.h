// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// finish_vectors.h: LLVM's passes over what the vectoriser has made, with the
// loop over threadgroups around it.
#ifndef MTLC_FINISH_VECTORS_H
#define MTLC_FINISH_VECTORS_H

#include "compiler/ir/kernel/kernel.h"

// Optimises the module of a kernel that was vectorised.
mtl_status mtlc_finish_vectors(mtlc_kernel *kernel);

#endif
