// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// no_wrap.h: narrow indices that do not wrap around between two threads,
// because no buffer is as large as that would need.
#ifndef MTLC_NO_WRAP_H
#define MTLC_NO_WRAP_H

#include <llvm-c/Core.h>
#include <stdbool.h>

#include "code/code.h"
#include "compiler/vectorize/analysis/uniformity.h"

// Marks the extensions of indices that are nothing but parts of addresses in
// buffers (MTLC_UNWRAPPED_MARK), and makes them signed. Returns whether there are any; values are to
// be found again. Only for code that never sees a buffer of MTLI_FAR_BYTES.
bool lanes_mark_no_wrap(const mtli_kernel *kernel,
                          const lanes_values *values);

#endif
