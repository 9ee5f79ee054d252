// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// no_wrap.h: finds narrow indices that do not wrap between two threads, because
// no buffer is large enough for that.
#ifndef MTLC_NO_WRAP_H
#define MTLC_NO_WRAP_H

#include <llvm-c/Core.h>
#include <stdbool.h>

#include "code/code.h"
#include "compiler/vectorize/analysis/uniformity.h"

// Marks the extensions of indices that are only used in addresses of buffers
// (MTLC_UNWRAPPED_MARK), and makes them sign extensions. True if there are any:
// the caller then finds values again. Only for code that never sees a buffer of
// MTLI_FAR_BYTES.
bool lanes_mark_no_wrap(const mtli_kernel *kernel,
                          const lanes_values *values);

#endif
