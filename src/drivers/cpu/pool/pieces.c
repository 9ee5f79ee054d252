// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// pieces.c: assigns the pieces of a shared job to threads. Pieces form as many
// contiguous runs as threads are expected; each thread takes one run from front
// to back, then helps with others. Neighbouring pieces often write the same
// cache lines, and the next job reads what this one wrote: runs keep such lines
// in one core's cache. For the same reason a thread prefers the run that it had
// last time.
#include "drivers/cpu/cpu.h"

void cpu_pieces_cut(cpu_job *job, uint64_t first, uint64_t run_count) {
  const uint64_t count = job->piece_count - first;
  job->run_count = (uint32_t)(run_count < CPU_RUNS ? run_count : CPU_RUNS);
  for (uint32_t i = 0; i < job->run_count; i++) {
    cpu_run *run = &job->runs[i];
    // Relaxed, all: opening the job's slot publishes them.
    atomic_store_explicit(&run->next, first, memory_order_relaxed);
    first += count / job->run_count + (i < count % job->run_count);
    atomic_store_explicit(&run->is_taken, false, memory_order_relaxed);
    run->end = first;
  }
}

uint32_t cpu_pieces_choose_run(const cpu_job *job, uint32_t number) {
  for (uint32_t i = 0; i < job->run_count; i++) {
    const uint32_t seat = (number + i) % job->run_count;
    cpu_run *run = &job->runs[seat];
    // Relaxed: a run may well have two threads.
    if (!atomic_load_explicit(&run->is_taken, memory_order_relaxed) &&
        !atomic_exchange_explicit(&run->is_taken, true,
                                  memory_order_relaxed)) {
      return seat;
    }
  }
  return number % job->run_count;
}

bool cpu_pieces_take(cpu_job *job, uint32_t seat, uint64_t *out_first,
                     uint64_t *out_end) {
  for (uint32_t i = 0; i < job->run_count; i++) {
    const uint32_t at = seat + i;
    cpu_run *run = &job->runs[at < job->run_count ? at : at - job->run_count];
    // Relaxed: pieces are independent; joining and leaving order the job's ends.
    if (atomic_load_explicit(&run->next, memory_order_relaxed) >= run->end) {
      continue;
    }
    const uint64_t first =
        atomic_fetch_add_explicit(&run->next, job->chunk, memory_order_relaxed);
    if (first < run->end) {
      const uint64_t rest = run->end - first;
      *out_first = first;
      *out_end = first + (rest < job->chunk ? rest : job->chunk);
      return true;
    }
  }
  return false;
}
