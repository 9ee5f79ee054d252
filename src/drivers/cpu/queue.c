// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// queue.c: a queue's states, from submission to completion.
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/futex.h"
#include "check/check.h"
#include "drivers/cpu/cpu.h"

// Resumes a queue whose awaited event has reached its value.
static void queue_wake(mtli_watcher *watcher, uint64_t value) {
  (void)value;
  cpu_queue *queue =
      (cpu_queue *)((char *)watcher - offsetof(cpu_queue, watcher));
  cpu_pool *pool = queue->pool;
  cpu_pool_lock(pool);
  cpu_queue_resume(queue);
  cpu_pool_add_ready(pool, queue);
  cpu_pool_unlock(pool);
}

mtl_status cpu_queue_create(mtl_queue *base) {
  cpu_queue *queue = (cpu_queue *)base;
  cpu_device *device = (cpu_device *)base->device;
  MTL_TRY(cpu_pool_start(device->pool));
  if (device->late) {
    MTL_TRY(cpu_late_start(device->late));
  }
  queue->pool = device->pool;
  queue->watcher.reached = queue_wake;
  atomic_init(&queue->outstanding, 1);
  mtli_check_queue_begins();
  return MTL_OK;
}

void cpu_queue_destroy(mtl_queue *base) {
  (void)base;  // an idle queue owns nothing of the driver's
  mtli_check_queue_ends();
}

void cpu_queue_submit(mtl_queue *base, mtl_command_buffer *command_buffer) {
  cpu_queue *queue = (cpu_queue *)base;
  cpu_pool *pool = queue->pool;
  command_buffer->next = NULL;
  cpu_check_committed(command_buffer);
  cpu_pool_lock(pool);
  if (queue->last) {
    queue->last->next = command_buffer;
  } else {
    queue->first = command_buffer;
  }
  queue->last = command_buffer;
  if (queue->state == CPU_QUEUE_IDLE) {
    mtl_queue_retain(base);  // +1 until idle again
    cpu_pool_add_ready(pool, queue);
  }
  cpu_pool_unlock(pool);
}

void cpu_queue_fail(cpu_queue *queue, mtl_status status, const char *format,
                    ...) {
  char *text = NULL;
  va_list arguments;
  va_start(arguments, format);
  if (vasprintf(&text, format, arguments) < 0) {
    text = NULL;
  }
  va_end(arguments);
  cpu_list *list = cpu_list_of(queue->current);
  cpu_pool_lock(queue->pool);
  if (list->status == MTL_OK) {
    list->status = status;
    list->text = text;
    text = NULL;
  }
  cpu_pool_unlock(queue->pool);
  atomic_store(&queue->current->has_failed, true);
  // Relaxed: a hint to stop early; the lock orders status and text.
  atomic_store_explicit(&queue->has_failed, true, memory_order_relaxed);
  free(text);
}

// Sets the command buffer that the queue runs, or NULL, and clears the state of
// the one before. The pool's lock is held.
static void begin(cpu_queue *queue, const mtl_command_buffer *command_buffer) {
  cpu_overseer *overseer = cpu_pool_overseer(queue->pool);
  if (queue->is_overseen) {
    cpu_overseer_remove(overseer, queue);
    queue->interrupt_ns = queue->time_left_ns = queue->deadline_ns = 0;
  }
  queue->taken_up = command_buffer;
  if (!command_buffer) {
    return;
  }
  // Relaxed, both: the lock orders them.
  atomic_store_explicit(&queue->has_failed, false, memory_order_relaxed);
  atomic_store_explicit(&queue->stop, MTL_OK, memory_order_relaxed);
  if (command_buffer->time_limit_ns) {
    queue->deadline_ns = mtli_deadline_ns(command_buffer->time_limit_ns);
    cpu_overseer_add(overseer, queue);
  }
  // Whoever cancels sets it before taking the lock: either it is seen here, or
  // what was taken up is seen there.
  if (mtli_stop_reason(command_buffer)) {
    cpu_queue_stop(queue, MTL_CANCELLED);
  }
}

// Takes up the next command buffer. False if there is none: the queue is idle.
static bool take_next(cpu_queue *queue) {
  cpu_pool_lock(queue->pool);
  mtl_command_buffer *command_buffer = queue->first;
  begin(queue, command_buffer);
  if (!command_buffer) {
    queue->state = CPU_QUEUE_IDLE;
    cpu_pool_unlock(queue->pool);
    mtl_queue_release(&queue->queue);  // -1, of submit
    return false;
  }
  queue->first = command_buffer->next;
  queue->last = queue->first ? queue->last : NULL;
  cpu_pool_unlock(queue->pool);
  queue->current = command_buffer;
  queue->next_command = command_buffer->commands;
  mtli_command_buffer_scheduled(command_buffer);
  cpu_list *list = cpu_list_of(command_buffer);
  list->command_buffer = command_buffer;
  list->start_ns = mtli_now_ns();
  queue->is_stale = cpu_is_discrete(queue->queue.device);
  cpu_check_started(queue);
  return true;
}

// Fails a command buffer that was stopped, unless one of its kernels has
// already reported where.
static void note_stop(cpu_queue *queue) {
  const mtl_status stop =
      atomic_load_explicit(&queue->stop, memory_order_relaxed);
  if (stop != MTL_OK) {
    char why[96];
    cpu_queue_describe_stop(queue, why, sizeof why);
    cpu_queue_fail(queue, stop, "command buffer '%s' ended early: %s",
                   mtl_command_buffer_label(queue->current), why);
  }
}

static void report_completion(mtl_command_buffer *command_buffer) {
  cpu_list *list = cpu_list_of(command_buffer);
  if (!command_buffer->is_failed) {
    mtli_command_buffer_ran(command_buffer, list->start_ns, list->end_ns);
  }
  const mtl_status status = list->status;
  char *text = list->text;
  mtli_command_buffer_completed(command_buffer, status, text ? text : "");
  free(text);
}

static void late_completion(cpu_late_item *item) {
  report_completion(((cpu_list *)item)->command_buffer);
}

static void complete_current(cpu_queue *queue) {
  mtl_command_buffer *command_buffer = queue->current;
  cpu_list *list = cpu_list_of(command_buffer);
  note_stop(queue);
  cpu_check_completed(queue);
  queue->current = NULL;
  list->end_ns = mtli_now_ns();
  cpu_late *late = ((cpu_device *)queue->queue.device)->late;
  if (late) {
    cpu_coherence_download(command_buffer);
    list->late.arrive = late_completion;
    cpu_late_post(late, &list->late);
  } else {
    report_completion(command_buffer);
  }
}

void cpu_queue_hand_over(cpu_queue *queue) {
  cpu_pool *pool = queue->pool;
  cpu_pool_lock(pool);
  const bool is_idle = !queue->current && !queue->first;
  if (is_idle) {
    begin(queue, NULL);
    queue->state = CPU_QUEUE_IDLE;
  } else {
    queue->was_helped = false;  // the client has left: other threads must be
                                // told of the queue
    cpu_pool_add_ready(pool, queue);
  }
  cpu_pool_unlock(pool);
  if (is_idle) {
    mtl_queue_release(&queue->queue);  // -1, of submit
  }
}

void cpu_queue_run(cpu_queue *queue, cpu_context *context,
                   const cpu_goal *goal) {
  while (queue->current || take_next(queue)) {
    if (!cpu_commands_run(queue, context)) {
      return;
    }
    complete_current(queue);
    if (cpu_goal_is_reached(goal)) {
      cpu_queue_hand_over(queue);
      return;
    }
  }
}
