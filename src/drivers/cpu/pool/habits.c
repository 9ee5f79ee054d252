// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// habits.c: learns whether to share short dispatches. Sharing moves cache lines
// between cores: each line that one thread has just written or is about to
// write costs the other as much as dozens of instructions, and no rule predicts
// how many. So both ways are measured, the faster one is used, and the other is
// tried again now and then.
#include "drivers/cpu/cpu.h"

enum {
  // The slower way is tried again after so many jobs, since another program may
  // have disturbed its measurement. If it was far slower, and trying it is
  // costly, it is tried after as many more as the square of the factor.
  RETRY_PERIOD = 32,
  MOST_TIMES_SLOWER = 16,
  // A measurement counts for a quarter, and at most as so many times the known
  // value.
  WEIGHT = 4,
  OUTLIER = 4,
  // Times are kept as picoseconds for each piece.
  SCALE = 1000,
};

cpu_habit *cpu_habit_of(cpu_habit habits[CPU_HABITS], uint64_t piece_count) {
  uint32_t size = 0;
  for (; piece_count > 1 && size < CPU_HABITS - 1; piece_count >>= 2) {
    size++;
  }
  return &habits[size];
}

bool cpu_habit_is_to_share(cpu_habit *habit) {
  // Relaxed, here and below: estimates, last written by any thread.
  const uint64_t alone =
      atomic_load_explicit(&habit->piece_ps[0], memory_order_relaxed);
  const uint64_t shared =
      atomic_load_explicit(&habit->piece_ps[1], memory_order_relaxed);
  if (!shared || !alone) {
    return !shared;
  }
  const uint32_t count =
      atomic_fetch_add_explicit(&habit->count, 1, memory_order_relaxed);
  const uint64_t times =
      at_most(shared < alone ? alone / shared : shared / alone,
              MOST_TIMES_SLOWER);
  const uint64_t period = RETRY_PERIOD * times * times;
  return (shared < alone) != (count % period == period - 1);
}

void cpu_habit_note(cpu_habit *habit, bool was_shared, uint64_t spent_ns,
                    uint64_t piece_count) {
  _Atomic uint64_t *kept = &habit->piece_ps[was_shared];
  const uint64_t before = atomic_load_explicit(kept, memory_order_relaxed);
  uint64_t now = spent_ns * SCALE / piece_count + 1;
  if (before) {
    now = now < OUTLIER * before ? now : OUTLIER * before;
    now = before - before / WEIGHT + now / WEIGHT + 1;
  }
  atomic_store_explicit(kept, now, memory_order_relaxed);
}
