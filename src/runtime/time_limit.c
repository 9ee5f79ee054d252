// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// time_limit.c: how long work may run, as a queue's desc or the environment
// says.
#include <math.h>
#include <stdlib.h>

#include "runtime/objects.h"

mtl_status mtli_time_limit(uint64_t wanted_ns, uint64_t *out_ns) {
  static const char name[] = "METTLE_KERNEL_SECONDS";
  *out_ns = wanted_ns == MTL_NO_TIME_LIMIT ? 0 : wanted_ns;
  const char *text = getenv(name);
  if (!text || *text == '\0') {
    return MTL_OK;
  }
  char *end = NULL;
  const double seconds = strtod(text, &end);
  if (*end != '\0' || !(seconds > 0) || !isfinite(seconds)) {
    return mtli_fail(MTL_INVALID_ARGUMENT,
                     "%s is '%s', and should be a number of seconds above 0",
                     name, text);
  }
  if (wanted_ns == 0) {
    // The least is 1 ns; what is above 584 years is no limit.
    *out_ns = seconds * 1e9 >= (double)UINT64_MAX ? 0
              : seconds * 1e9 < 1                 ? 1
                                  : (uint64_t)(seconds * 1e9);
  }
  return MTL_OK;
}
