// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// pieces.c: who takes which pieces of a shared job. They are cut into as many
// runs as threads are expected; each thread takes its own from front to back,
// then helps with the others'. Neighbouring pieces often write to the same
// lines of memory, and the next job reads what this one wrote: two threads that
// took turns would pass every such line to and fro.
#include "drivers/cpu/cpu.h"

void cpu_pieces_cut(cpu_job *job, uint64_t first, uint64_t run_count) {
  const uint64_t count = job->piece_count - first;
  job->run_count = (uint32_t)(run_count < CPU_RUNS ? run_count : CPU_RUNS);
  for (uint32_t i = 0; i < job->run_count; i++) {
    cpu_run *run = &job->runs[i];
    // Relaxed: the pool's lock publishes the job.
    atomic_store_explicit(&run->next, first, memory_order_relaxed);
    first += count / job->run_count + (i < count % job->run_count);
    run->end = first;
  }
}

bool cpu_pieces_are_left(const cpu_job *job) {
  for (uint32_t i = 0; i < job->run_count; i++) {
    // Relaxed: a hint; taking a piece decides.
    if (atomic_load_explicit(&job->runs[i].next, memory_order_relaxed) <
        job->runs[i].end) {
      return true;
    }
  }
  return false;
}

bool cpu_pieces_take(cpu_job *job, uint32_t seat, uint64_t *out_first,
                     uint64_t *out_end) {
  for (uint32_t i = 0; i < job->run_count; i++) {
    cpu_run *run = &job->runs[(seat + i) % job->run_count];
    // Relaxed: pieces are independent; the pool's lock orders the job's ends.
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

void cpu_pieces_drop(cpu_job *job) {
  for (uint32_t i = 0; i < job->run_count; i++) {
    // Relaxed: a hint, as above.
    atomic_store_explicit(&job->runs[i].next, job->runs[i].end,
                          memory_order_relaxed);
  }
}
