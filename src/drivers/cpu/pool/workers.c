// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// workers.c: the pool's threads: each runs queues and jobs, one by one, until
// the pool ends.
#include <fenv.h>

#include "base/futex.h"
#include "base/thread.h"
#include "drivers/cpu/pool/pool.h"

enum { SQUAD_THREADS = 4 };

// Returns the first ready queue, taken off its list; NULL if there is none.
static cpu_queue *take_first_ready(cpu_pool *pool) {
  if (!atomic_load_explicit(&pool->ready_count, memory_order_relaxed)) {
    return NULL;
  }
  cpu_pool_lock(pool);
  cpu_queue *queue = pool->first_ready;
  if (queue) {
    cpu_pool_take_ready(pool, queue);
    queue->was_helped = false;
  }
  cpu_pool_unlock(pool);
  return queue;
}

// Performs one piece of available work. The thread is light on entry and
// return.
static bool work_once(cpu_pool *pool, cpu_context *context) {
  // Extra threads were added for waiting queues.
  const bool is_for_queues =
      context->is_extra &&
      atomic_load_explicit(&pool->ready_count, memory_order_relaxed);
  cpu_job *job = is_for_queues ? NULL : cpu_pool_join(pool, 0);
  cpu_queue *queue = job ? job->queue : take_first_ready(pool);
  if (!queue) {
    return false;
  }
  if (job) {
    cpu_pool_weigh(pool, context);
  } else {
    cpu_pool_look(context, false);
  }
  if (!job || cpu_pool_work(pool, job, context)) {
    cpu_queue_run(queue, context, &(cpu_goal){0});
  }
  context->look_until_ns = job ? mtli_now_ns() + CPU_LOOKOUT_NS : 0;
  if (!context->is_light) {
    // The thread will look for work: one addition counts both.
    context->is_looking = job && pool->may_look_out;
    context->is_light = true;
    atomic_fetch_add(&context->squad->awake,
                     LIGHT + (context->is_looking ? LOOKING : 0));
  }
  return true;
}

// Ends an extra thread that has no work left, unless the pool is ending and
// joins it. The lock is held.
static void leave(cpu_pool *pool, cpu_context *context) {
  if (!context->is_extra || pool->is_ending) {
    return;
  }
  uint32_t i = 0;
  while (!pthread_equal(pool->threads[i], pthread_self())) {
    i++;
  }
  pool->threads[i] = pool->threads[--pool->thread_count];
  pthread_detach(pthread_self());
}

// Works until the thread has nothing left to do.
static void serve(cpu_pool *pool, cpu_context *context) {
  bool is_to_stay = true;
  while (is_to_stay && !atomic_load(&pool->is_ending)) {
    const cpu_pool_seen before = cpu_pool_see(pool, context->squad);
    is_to_stay =
        work_once(pool, context) || cpu_pool_idle(pool, context, before);
  }
}

static void *pool_main(void *argument) {
  cpu_context *context = argument;
  cpu_pool *pool = context->pool;
  cpu_fault_prepare_thread();
  sigset_t before;
  (void)cpu_interrupt_open_mask(&before);  // all others stay blocked
  fesetenv(FE_DFL_ENV);  // a new thread inherits its creator's
  cpu_pool_lock(pool);
  cpu_pool_take_context(context);
  cpu_pool_unlock(pool);
  cpu_pool_lighten(pool, context);
  serve(pool, context);
  cpu_pool_lock(pool);
  cpu_pool_darken(context);
  leave(pool, context);
  cpu_pool_remove_context(pool, context);
  cpu_pool_unlock(pool);
  mtli_object_release(&pool->object);  // -1
  return NULL;
}

// Starts one more thread, which has all that it needs. The lock is held.
static bool start_thread(cpu_pool *pool, bool is_extra) {
  cpu_context *context = cpu_context_create(pool);
  if (!context) {
    return false;
  }
  const uint32_t squad = pool->thread_count / SQUAD_THREADS % SQUADS;
  context->is_extra = is_extra;
  context->number = pool->thread_count;
  context->squad = &pool->squads[squad];
  if (squad >= atomic_load_explicit(&pool->squad_count, memory_order_relaxed)) {
    atomic_store_explicit(&pool->squad_count, squad + 1, memory_order_relaxed);
  }
  mtli_object_retain(&pool->object);  // +1, the thread's
  if (!mtli_thread_start(&pool->threads[pool->thread_count], "mettle-cpu",
                         pool_main, context)) {
    mtli_object_release(&pool->object);  // -1
    cpu_context_destroy(context);
    return false;
  }
  context->next_of_all = pool->contexts;
  pool->contexts = context;
  pool->thread_count++;
  return true;
}

mtl_status cpu_pool_start(cpu_pool *pool) {
  cpu_pool_lock(pool);
  while (pool->worker_count < pool->thread_limit &&
         pool->thread_count < THREAD_LIMIT && start_thread(pool, false)) {
    pool->worker_count++;
  }
  // Fewer threads than wished do the same work.
  const uint32_t worker_count = pool->worker_count;
  cpu_pool_unlock(pool);
  return worker_count ? MTL_OK
                      : mtli_fail(MTL_OUT_OF_MEMORY,
                                  "no thread for the cpu device's pool");
}

bool cpu_pool_is_waiting(const cpu_pool *pool, uint64_t *out_taken) {
  *out_taken = pool->taken_count;
  return pool->first_ready != NULL;
}

void cpu_pool_grow(cpu_pool *pool) {
  if (pool->thread_count < THREAD_LIMIT && !pool->is_ending) {
    (void)start_thread(pool, true);
  }
}
