// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// help.c: runs queues on a client's thread while it waits. It runs the queue
// that it waits for, up to the goal. If that queue itself waits for others, it
// visits them for short work only: signalling events, completing command
// buffers. Long work of other queues is left to the workers.

#include "base/float_environment.h"
#include "base/futex.h"
#include "drivers/cpu/cpu.h"

bool cpu_goal_is_reached(const cpu_goal *goal) {
  return (goal->queue && mtli_queue_has_room(goal->queue)) ||
         (goal->command_buffer &&
          mtl_command_buffer_get_status(goal->command_buffer) >=
              MTL_COMMAND_BUFFER_COMPLETED) ||
         (goal->event &&
          mtli_timeline_value(&goal->event->timeline) >= goal->value);
}

// Takes the client's own queue if it is ready; otherwise any, to visit it.
static cpu_queue *take_queue(cpu_pool *pool, uintptr_t own, bool may_visit,
                             cpu_context *context) {
  cpu_pool_lock(pool);
  cpu_queue *queue = cpu_pool_find_ready(pool, own);
  context->is_visiting = !queue;
  if (!queue && may_visit) {
    queue = cpu_pool_find_ready(pool, 0);
  }
  if (queue) {
    cpu_pool_take_ready(pool, queue);
    queue->was_helped = true;
  }
  cpu_pool_unlock(pool);
  return queue;
}

// Performs one action towards the goal; false if there is none.
static bool help_once(cpu_pool *pool, uintptr_t own, const cpu_goal *goal,
                      cpu_context *context) {
  cpu_job *job = cpu_pool_join(pool, own);
  if (job) {
    cpu_queue *queue = job->queue;
    context->is_visiting = false;
    cpu_pool_weigh(pool, context);
    if (cpu_pool_work(pool, job, context)) {
      cpu_queue_run(queue, context, goal);
    }
    return true;
  }
  cpu_queue *queue = take_queue(pool, own, !context->has_left, context);
  if (queue) {
    cpu_queue_run(queue, context, goal);
  }
  return queue != NULL;
}

// Waits, with nothing to do: a worker runs the queue, and may share a job soon.
static bool wait_idle(cpu_pool *pool, uintptr_t own, const cpu_goal *goal,
                      cpu_context *context) {
  cpu_pool_weigh(pool, context);
  return !context->has_left &&
         cpu_pool_stay(pool, own, goal, mtli_now_ns() + CPU_LOOKOUT_NS,
                       context);
}

void cpu_queue_help_towards(cpu_pool *pool, uintptr_t queue_address,
                            const cpu_goal *goal) {
  if (!cpu_pool_has_work(pool) || !cpu_fault_prepare_thread()) {
    return;
  }
  cpu_context *context = cpu_pool_borrow_context(pool);
  if (!context) {
    return;
  }
  // Kernels run with the default rounding and exceptions, whatever the client
  // has set for itself.
  mtli_float_environment environment;
  sigset_t mask;
  const bool was_blocked = cpu_interrupt_open_mask(&mask);
  mtli_float_environment_begin(&environment);
  cpu_pool_lighten(pool, context);
  while (!cpu_goal_is_reached(goal) &&
         (help_once(pool, queue_address, goal, context) ||
          wait_idle(pool, queue_address, goal, context))) {
  }
  cpu_pool_weigh(pool, context);
  mtli_float_environment_end(&environment);
  if (was_blocked) {
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
  }
  cpu_pool_return_context(pool, context);
}

mtl_status cpu_queue_help(mtl_queue *base, mtl_command_buffer *command_buffer) {
  cpu_queue *queue = (cpu_queue *)base;
  const cpu_goal goal = {.queue = command_buffer ? NULL : base,
                         .command_buffer = command_buffer};
  cpu_queue_help_towards(queue->pool, (uintptr_t)queue, &goal);
  return MTL_OK;
}
