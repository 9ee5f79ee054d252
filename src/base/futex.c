// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// futex.c: the Linux futex calls and CLOCK_MONOTONIC.
#include "base/futex.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

uint64_t mtli_now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t mtli_deadline_ns(uint64_t timeout_ns) {
  const uint64_t now_ns = mtli_now_ns();
  return timeout_ns > MTLI_FOREVER - now_ns ? MTLI_FOREVER
                                            : now_ns + timeout_ns;
}

bool mtli_futex_wait(_Atomic uint32_t *word, uint32_t expected,
                     uint64_t deadline_ns) {
  const struct timespec until = {.tv_sec = (time_t)(deadline_ns / 1000000000u),
                                 .tv_nsec = (long)(deadline_ns % 1000000000u)};
  // The bitset form takes an absolute time of CLOCK_MONOTONIC.
  const long result =
      syscall(SYS_futex, word, FUTEX_WAIT_BITSET_PRIVATE, expected,
              deadline_ns == MTLI_FOREVER ? NULL : &until, NULL,
              FUTEX_BITSET_MATCH_ANY);
  return result == 0 || errno != ETIMEDOUT;
}

void mtli_futex_wake(_Atomic uint32_t *word, uint32_t count) {
  const int limit = count > INT_MAX ? INT_MAX : (int)count;
  syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, limit, NULL, NULL, 0);
}
