// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// work.c: runs shared jobs: the queue's thread opens one, others join, and the
// last to leave ends it.
#include "base/futex.h"
#include "drivers/cpu/pool/pool.h"

bool cpu_pool_take_slot(cpu_pool *pool, cpu_job *job) {
  return cpu_jobs_take_slot(pool->jobs, job);
}

// Opens a job with users inside, and announces it to helpers threads.
static void open_job(cpu_pool *pool, cpu_job *job, uint32_t users,
                     uint32_t helpers) {
  // The queue is there: this thread runs it. Relaxed: only this thread, which
  // holds one, can make it 0 before the job is open.
  const cpu_queue *queue = job->queue;
  atomic_fetch_add_explicit(&job->queue->outstanding, 1, memory_order_relaxed);
  const uint64_t news = cpu_jobs_open(pool->jobs, job, users);
  cpu_pool_announce_job(pool, queue, news, helpers);
}

void cpu_pool_offer(cpu_pool *pool, cpu_job *job, uint32_t helpers) {
  open_job(pool, job, 0, helpers);
}

// Ends a job, on the last thread that leaves it. True if its queue waited for
// nothing else.
static bool end_job(cpu_job *job) {
  cpu_queue *queue = job->queue;
  if (job->command->times) {
    mtli_command_ends(job->command->times, mtli_now_ns());
  }
  // Acquire and release: the thread that goes on sees all that users did.
  if (atomic_fetch_sub_explicit(&queue->outstanding, 1, memory_order_acq_rel) !=
      1) {
    return false;
  }
  atomic_store_explicit(&queue->outstanding, 1, memory_order_relaxed);
  return true;
}

cpu_job *cpu_pool_join(cpu_pool *pool, uintptr_t queue_address) {
  cpu_job *ended = NULL;
  cpu_job *job = cpu_jobs_join(pool->jobs, queue_address, &ended);
  if (ended) {
    cpu_queue *queue = ended->queue;
    if (end_job(ended)) {
      cpu_queue_hand_over(queue);
    }
  }
  return job;
}

bool cpu_pool_work(cpu_pool *pool, cpu_job *job, cpu_context *context) {
  cpu_queue *queue = job->queue;
  const uint64_t start_ns = job->command->times ? mtli_now_ns() : 0;
  const uint32_t seat = cpu_pieces_choose_run(job, context->number);
  uint64_t first = 0;
  uint64_t end = 0;
  while (!atomic_load_explicit(&queue->has_failed, memory_order_relaxed) &&
         cpu_pieces_take(job, seat, &first, &end)) {
    cpu_fault_run_guarded(job, first, end, context);
  }
  cpu_context_finish(job, context);
  if (job->command->times) {
    mtli_trace_command(job->command, start_ns, mtli_now_ns());
  }
  // The leaving thread has found nothing more to take, or nothing worth taking.
  return cpu_jobs_leave(pool->jobs, job) && end_job(job);
}

void cpu_pool_share(cpu_pool *pool, cpu_job *job, uint32_t helpers,
                    cpu_context *context) {
  open_job(pool, job, 1, helpers);
  // The calling thread holds its own count in outstanding: never the last.
  (void)cpu_pool_work(pool, job, context);
}
