// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// time_limit.c: how long work may run, as a queue's desc or the environment
// says.
#include "base/settings.h"
#include "runtime/objects.h"

mtl_status mtli_time_limit(uint64_t wanted_ns, uint64_t *out_ns) {
  *out_ns = wanted_ns == MTL_NO_TIME_LIMIT ? 0 : wanted_ns;
  return wanted_ns ? MTL_OK
                   : mtli_setting_number("METTLE_KERNEL_SECONDS", 0, out_ns);
}
