// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// stop.c: ends a command buffer that was cancelled or has exceeded its time
// limit. A flag keeps further commands and pieces from starting; the overseer
// interrupts the threads that run one, repeatedly until they have left.
#include <stdio.h>

#include "base/futex.h"
#include "drivers/cpu/cpu.h"

void cpu_queue_stop(cpu_queue *queue, mtl_status status) {
  if (atomic_load_explicit(&queue->stop, memory_order_relaxed) != MTL_OK) {
    return;  // the first reason is told
  }
  queue->deadline_ns = queue->time_left_ns = 0;
  // Relaxed, both: hints to stop early; the end is reported under the lock.
  atomic_store_explicit(&queue->stop, status, memory_order_relaxed);
  atomic_store_explicit(&queue->has_failed, true, memory_order_relaxed);
  cpu_overseer_add(cpu_pool_overseer(queue->pool), queue);
}

void cpu_queue_describe_stop(const cpu_queue *queue, char *text,
                             size_t capacity) {
  if (atomic_load_explicit(&queue->stop, memory_order_relaxed) ==
      MTL_CANCELLED) {
    const char *reason = mtli_stop_reason(queue->current);
    snprintf(text, capacity, "%s", reason ? reason : "it was cancelled");
  } else {
    snprintf(text, capacity, "it ran for longer than its limit of %g s",
             (double)queue->current->time_limit_ns / 1e9);
  }
}

// The thread that runs the queue says what it waits for without a lock: events
// are passed to and fro in a third of a microsecond. So the event may be gone as
// soon as awaited is reset. Either that thread sees is_being_stopped and comes
// for the lock, or it is seen here that nothing is awaited; and a queue that is
// woken by the event comes for the lock before the raiser lets go of it.
void cpu_queue_stop_waiting(cpu_queue *queue) {
  // Sequentially consistent, with cpu_queue_unpause.
  atomic_store(&queue->is_being_stopped, true);
  mtli_host_event *event = atomic_load(&queue->awaited);
  // A limit does not count the time that a queue waits.
  if (event && atomic_load_explicit(&queue->stop, memory_order_relaxed) ==
                   MTL_CANCELLED &&
      mtli_timeline_unwatch(&event->timeline, &queue->watcher)) {
    cpu_queue_resume(queue);
    cpu_pool_add_ready(queue->pool, queue);
  }
  atomic_store(&queue->is_being_stopped, false);
}

void cpu_queue_pause(cpu_queue *queue, mtli_host_event *event) {
  if (queue->current->time_limit_ns) {
    cpu_pool_lock(queue->pool);
    const uint64_t now_ns = mtli_now_ns();
    if (queue->deadline_ns) {
      queue->time_left_ns =
          queue->deadline_ns > now_ns ? queue->deadline_ns - now_ns : 1;
      queue->deadline_ns = 0;
    }
    cpu_pool_unlock(queue->pool);
  }
  // Relaxed: a reader that does not see it yet looks again.
  atomic_store_explicit(&queue->awaited, event, memory_order_relaxed);
}

void cpu_queue_unpause(cpu_queue *queue) {
  // Sequentially consistent, with cpu_queue_stop_waiting.
  atomic_store(&queue->awaited, NULL);
  if (queue->current->time_limit_ns || atomic_load(&queue->is_being_stopped)) {
    cpu_pool_lock(queue->pool);
    cpu_queue_resume(queue);
    cpu_pool_unlock(queue->pool);
  }
}

void cpu_queue_resume(cpu_queue *queue) {
  // Relaxed: the lock orders it.
  atomic_store_explicit(&queue->awaited, NULL, memory_order_relaxed);
  if (queue->is_overseen && queue->time_left_ns) {
    queue->deadline_ns = mtli_deadline_ns(queue->time_left_ns);
    queue->time_left_ns = 0;
    cpu_overseer_add(cpu_pool_overseer(queue->pool), queue);
  }
}

mtl_status cpu_queue_cancel(mtl_queue *base,
                            mtl_command_buffer *command_buffer) {
  cpu_queue *queue = (cpu_queue *)base;
  cpu_pool *pool = queue->pool;
  const mtl_status status = cpu_overseer_start(cpu_pool_overseer(pool));
  cpu_pool_lock(pool);
  if (queue->taken_up == command_buffer) {
    cpu_queue_stop(queue, MTL_CANCELLED);
    cpu_pool_interrupt(pool, queue);
    cpu_queue_stop_waiting(queue);
  }
  cpu_pool_unlock(pool);
  return status;
}
