// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// status.h: makes errors where they happen and passes them up.
#ifndef MTLI_STATUS_H
#define MTLI_STATUS_H

#include "mettle/status.h"

// Records the calling thread's error text (printf form, cut at 64 KiB) and
// returns status, so that a failure reads `return mtli_fail(...)`.
mtl_status mtli_fail(mtl_status status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

// Records a ready text of any length as the calling thread's error.
mtl_status mtli_fail_text(mtl_status status, const char *text);

// Returns early with the status of a failed call; the only macro that hides a
// return.
#define MTL_TRY(call)                       \
  do {                                      \
    const mtl_status mtli_status_ = (call); \
    if (mtli_status_ != MTL_OK) {           \
      return mtli_status_;                  \
    }                                       \
  } while (0)

#endif
