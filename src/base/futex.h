// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// futex.h: sleeping on a word, and the clock that goes with it.
#ifndef MTLI_FUTEX_H
#define MTLI_FUTEX_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define MTLI_FOREVER UINT64_MAX

// How long a thread looks before it sleeps. About what a futex wake and the
// switch behind it cost (4 to 8 us measured on a 2-core virtual Xeon), so that
// spinning never costs more than twice of what sleeping at once would have.
#define MTLI_SPIN_NS 8000

// CLOCK_MONOTONIC in nanoseconds.
uint64_t mtli_now_ns(void);

// Returns now + timeout_ns, MTLI_FOREVER if that is past the end of time.
uint64_t mtli_deadline_ns(uint64_t timeout_ns);

// Sleeps while *word is expected, until woken or deadline_ns (MTLI_FOREVER for
// none). Returns false if the deadline has passed. May wake for no reason.
bool mtli_futex_wait(_Atomic uint32_t *word, uint32_t expected,
                     uint64_t deadline_ns);

// Wakes count threads at the most.
void mtli_futex_wake(_Atomic uint32_t *word, uint32_t count);

// Hints to the core that this is a spin loop.
static inline void mtli_pause(void) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

#endif
