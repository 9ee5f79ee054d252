// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// jobs.c: the jobs that several threads share, each in a slot that threads join
// and leave without a lock.
//
// A slot's state is one word: how many threads are inside, whether more may
// join (OPEN), and whether there is a job that has not ended (BUSY). Whoever
// joins adds itself first and looks then; if the slot was closed meanwhile it
// leaves again. Whoever leaves a closed slot as the last ends its job. So the
// job's memory, which may go when the job has ended, is touched by none but
// those who have seen OPEN.
#include <stdalign.h>
#include <stdlib.h>

#include "drivers/cpu/cpu.h"

enum { LINE_BYTES = 64 };

#define USER UINT64_C(1)
#define USERS UINT64_C(0xffff)
#define OPEN (UINT64_C(1) << 16)
#define BUSY (UINT64_C(1) << 17)

struct cpu_slot {
  alignas(LINE_BYTES) _Atomic uint64_t state;
  _Atomic uintptr_t queue;  // the job's queue; a hint unless the slot is open
  uint32_t opened_count;    // how often the slot was opened; its owner's
  cpu_job *job;
  cpu_run *runs;  // [CPU_RUNS]
};

struct cpu_jobs {
  alignas(LINE_BYTES) _Atomic uint64_t open;  // a bit for each open slot
  alignas(LINE_BYTES) _Atomic uint64_t free;
  uint32_t thread_limit;  // that may be in one job
  cpu_run *runs;          // [CPU_SLOTS * CPU_RUNS]
  cpu_slot slots[CPU_SLOTS];
};

cpu_jobs *cpu_jobs_create(uint32_t thread_limit) {
  cpu_jobs *jobs = aligned_alloc(LINE_BYTES, sizeof *jobs);
  // Not cleared: most of it is never touched.
  cpu_run *runs =
      aligned_alloc(LINE_BYTES, sizeof *runs * CPU_SLOTS * CPU_RUNS);
  if (!jobs || !runs) {
    free(jobs);
    free(runs);
    return NULL;
  }
  *jobs = (cpu_jobs){.thread_limit = thread_limit, .runs = runs};
  atomic_init(&jobs->free, UINT64_MAX);
  for (uint32_t i = 0; i < CPU_SLOTS; i++) {
    jobs->slots[i].runs = runs + (size_t)i * CPU_RUNS;
  }
  return jobs;
}

void cpu_jobs_free(cpu_jobs *jobs) {
  if (jobs) {
    free(jobs->runs);
    free(jobs);
  }
}

static uint64_t bit_of(const cpu_jobs *jobs, const cpu_slot *slot) {
  return UINT64_C(1) << (slot - jobs->slots);
}

bool cpu_jobs_take_slot(cpu_jobs *jobs, cpu_job *job) {
  uint64_t left = atomic_load_explicit(&jobs->free, memory_order_relaxed);
  // Takes the first free slot, whose memory is likely to be in caches.
  do {
    if (!left) {
      return false;
    }
    // Acquire: pairs with the release of the slot's last owner.
  } while (!atomic_compare_exchange_weak_explicit(
      &jobs->free, &left, left & (left - 1), memory_order_acquire,
      memory_order_relaxed));
  job->slot = &jobs->slots[__builtin_ctzll(left)];
  job->runs = job->slot->runs;
  return true;
}

uint64_t cpu_jobs_open(cpu_jobs *jobs, cpu_job *job, uint32_t users) {
  cpu_slot *slot = job->slot;
  const uint64_t news =
      (uint64_t)(slot - jobs->slots) << 32 | ++slot->opened_count;
  slot->job = job;
  atomic_store_explicit(&slot->queue, (uintptr_t)job->queue,
                        memory_order_relaxed);
  // Added, not stored: a thread may be inside that has just found it closed.
  // Release: pairs with the acquire in cpu_jobs_join.
  atomic_fetch_add_explicit(&slot->state, OPEN + BUSY + users * USER,
                            memory_order_release);
  // Sequentially consistent: either a thread that looks sees the bit, or the
  // announcement after it sees the thread (pool.c).
  atomic_fetch_or(&jobs->open, bit_of(jobs, slot));
  return news;
}

static bool is_queue(const cpu_slot *slot, uintptr_t queue_address) {
  return !queue_address || atomic_load_explicit(&slot->queue,
                                                memory_order_relaxed) ==
                               queue_address;
}

// Returns a hint whether a thread may join.
static bool is_open(const cpu_jobs *jobs, const cpu_slot *slot,
                    uintptr_t queue_address) {
  const uint64_t state =
      atomic_load_explicit(&slot->state, memory_order_relaxed);
  return (state & OPEN) && (state & USERS) < jobs->thread_limit &&
         is_queue(slot, queue_address);
}

bool cpu_jobs_are_open(const cpu_jobs *jobs, uintptr_t queue_address) {
  uint64_t open = atomic_load(&jobs->open);
  for (; open; open &= open - 1) {
    if (is_open(jobs, &jobs->slots[__builtin_ctzll(open)], queue_address)) {
      return true;
    }
  }
  return false;
}

// Takes a thread out. Returns the job if this has ended it.
static cpu_job *leave(cpu_jobs *jobs, cpu_slot *slot) {
  // Acquire and release: the last thread sees all that the others did.
  uint64_t state = atomic_fetch_sub_explicit(&slot->state, USER,
                                             memory_order_acq_rel) -
                   USER;
  // If the state has changed, another thread has joined. It finds the job
  // closed and ends it here as well, or has already done so.
  if ((state & (USERS | OPEN | BUSY)) != BUSY ||
      !atomic_compare_exchange_strong_explicit(
          &slot->state, &state, state & ~BUSY, memory_order_acq_rel,
          memory_order_relaxed)) {
    return NULL;
  }
  cpu_job *job = slot->job;
  // Release: pairs with the acquire in cpu_jobs_take_slot.
  atomic_fetch_or_explicit(&jobs->free, bit_of(jobs, slot),
                           memory_order_release);
  return job;
}

cpu_job *cpu_jobs_join(cpu_jobs *jobs, uintptr_t queue_address,
                       cpu_job **out_ended) {
  *out_ended = NULL;
  uint64_t open = atomic_load(&jobs->open);
  for (; open && !*out_ended; open &= open - 1) {
    cpu_slot *slot = &jobs->slots[__builtin_ctzll(open)];
    if (!is_open(jobs, slot, queue_address)) {
      continue;
    }
    // Acquire: pairs with the release in cpu_jobs_open.
    const uint64_t before =
        atomic_fetch_add_explicit(&slot->state, USER, memory_order_acquire);
    // The slot may have another job by now.
    if ((before & OPEN) && is_queue(slot, queue_address)) {
      return slot->job;
    }
    *out_ended = leave(jobs, slot);
  }
  return NULL;
}

bool cpu_jobs_leave(cpu_jobs *jobs, cpu_job *job) {
  cpu_slot *slot = job->slot;
  const uint64_t bit = bit_of(jobs, slot);
  // Read from `open` and not from the slots' states, which change often at this
  // moment.
  if (atomic_load_explicit(&jobs->open, memory_order_relaxed) & bit &&
      atomic_fetch_and_explicit(&slot->state, ~OPEN, memory_order_relaxed) &
          OPEN) {
    atomic_fetch_and_explicit(&jobs->open, ~bit, memory_order_relaxed);
  }
  return leave(jobs, slot) != NULL;
}
