// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// completion.c: completes command buffers as the driver reports: sets status,
// runs callbacks, releases what was retained, wakes waiters.
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/futex.h"
#include "check/check.h"
#include "runtime/log.h"
#include "runtime/record/counters.h"
#include "runtime/record/recording.h"
#include "runtime/record/trace_work.h"

// The command buffer whose callback runs on this thread, if one does.
static _Thread_local const mtli_recording *calling_back
    __attribute__((tls_model("initial-exec")));

// The queue whose command buffer this thread is releasing, NULL for none. The
// queue stands still until that is done, so a client's deallocator called here
// must not wait for it.
static _Thread_local const mtl_queue *held_queue
    __attribute__((tls_model("initial-exec")));

mtli_progress mtli_recording_wanted(void) {
  // Callbacks of a queue come one after the other, so one that waited for
  // others would wait for itself, or for one that waits for it.
  return calling_back ? MTLI_PROGRESS_EXECUTED : MTLI_PROGRESS_DONE;
}

mtl_status mtli_queue_check_wait(const mtl_queue *queue, const char *call) {
  if (held_queue != queue) {
    return MTL_OK;
  }
  return mtli_fail(MTL_INVALID_STATE,
                   "%s: queue '%s' goes on only when this callback or "
                   "deallocator has returned, so it cannot wait for the queue",
                   call, queue->label ? queue->label : "");
}

static void progress_raise(mtli_recording *recording, mtli_progress progress) {
  // Sequentially consistent, with mtli_recording_wait; the acquire there gets
  // everything written before.
  atomic_store(&recording->progress, (uint32_t)progress);
  if (atomic_load(&recording->sleepers)) {
    mtli_futex_wake(&recording->progress, UINT32_MAX);
  }
}

void mtli_recording_seen(const mtl_command_buffer *command_buffer) {
  // Set before progress is raised, which the caller waits for.
  if (command_buffer->check_completed) {
    mtli_check_seen(command_buffer->check_completed);
  }
}

static void callbacks_run(mtli_recording *recording,
                          const mtli_callback *callback) {
  const mtli_recording *outer = calling_back;
  calling_back = recording;
  for (; callback; callback = callback->next) {
    callback->function(callback->context, &recording->command_buffer);
  }
  calling_back = outer;
}

static void scheduled_run(mtli_task *task) {
  mtli_recording *recording =
      (mtli_recording *)((char *)task -
                         offsetof(mtli_recording, scheduled_task));
  callbacks_run(recording, recording->scheduled_callbacks);
}

void mtli_command_buffer_scheduled(mtl_command_buffer *command_buffer) {
  mtli_recording *recording = mtli_recording_of(command_buffer);
  const mtl_queue *outer = held_queue;
  held_queue = command_buffer->queue;
  recording->times.kernel_start_ns = mtli_now_ns();
  if (!command_buffer->is_failed) {
    // Release: pairs with the acquire in mtl_command_buffer_get_status.
    atomic_store_explicit(&recording->status, MTL_COMMAND_BUFFER_SCHEDULED,
                          memory_order_release);
  }
  if (recording->scheduled_callbacks) {
    // The completed task follows in the same lane, so recording outlives this.
    recording->scheduled_task.run = scheduled_run;
    mtli_lane_post(command_buffer->queue->lane, &recording->scheduled_task);
  }
  progress_raise(recording, MTLI_PROGRESS_SCHEDULED);
  held_queue = outer;
}

void mtli_command_buffer_ran(mtl_command_buffer *command_buffer,
                             uint64_t start_ns, uint64_t end_ns) {
  mtli_recording *recording = mtli_recording_of(command_buffer);
  recording->times.device_start_ns = start_ns;
  recording->times.device_end_ns = end_ns;
  // A device may be late to report that it has started the work.
  if (recording->times.kernel_start_ns > start_ns) {
    recording->times.kernel_start_ns = start_ns;
  }
}

void mtli_command_buffer_logged(mtl_command_buffer *command_buffer,
                                const mtl_log_message *message) {
  const mtli_recording *recording = mtli_recording_of(command_buffer);
  const mtli_recording *outer = calling_back;
  calling_back = recording;
  mtli_log_tell(recording->log_state, message);
  calling_back = outer;
}

// The end: releases the retained objects, then lets waiters go.
static void finish(mtli_recording *recording) {
  mtl_command_buffer *command_buffer = &recording->command_buffer;
  recording->driver->commands_clear(command_buffer);
  mtli_recording_clear(recording);
  progress_raise(recording, MTLI_PROGRESS_DONE);
  mtl_command_buffer_release(command_buffer);  // -1, of commit
}

static void completed_run(mtli_task *task) {
  mtli_recording *recording =
      (mtli_recording *)((char *)task -
                         offsetof(mtli_recording, completed_task));
  if (recording->log_state) {
    const mtli_recording *outer = calling_back;
    calling_back = recording;
    mtli_log_deliver(recording->log_state, recording->command_buffer.log);
    calling_back = outer;
  }
  mtli_recording_seen(&recording->command_buffer);
  callbacks_run(recording, recording->completed_callbacks);
  finish(recording);
}

void mtli_command_buffer_completed(mtl_command_buffer *command_buffer,
                                   mtl_status status, const char *text) {
  mtli_recording *recording = mtli_recording_of(command_buffer);
  if (recording->error == MTL_OK && status != MTL_OK) {
    recording->error = status;
    recording->error_text = strdup(text);
  }
  recording->times.kernel_end_ns = mtli_now_ns();
  if (recording->work_times) {
    mtli_work_times_finish(recording->work_times);
    mtli_trace_command_buffer(recording);
  }
  const mtl_queue *outer = held_queue;
  held_queue = command_buffer->queue;
  // pairs with the acquire in mtl_command_buffer_get_status
  atomic_store_explicit(&recording->status,
                        recording->error == MTL_OK
                            ? MTL_COMMAND_BUFFER_COMPLETED
                            : MTL_COMMAND_BUFFER_ERROR,
                        memory_order_release);
  // Frees the queue's slot before callbacks run: they may need one.
  mtli_queue_leave(command_buffer->queue);
  if (recording->direct_callbacks) {
    progress_raise(recording, MTLI_PROGRESS_EXECUTED);
    mtli_recording_seen(command_buffer);
    callbacks_run(recording, recording->direct_callbacks);
  }
  if (recording->scheduled_callbacks || recording->completed_callbacks ||
      (recording->log_state && command_buffer->log->used_bytes)) {
    progress_raise(recording, MTLI_PROGRESS_EXECUTED);
    recording->completed_task.run = completed_run;
    mtli_lane_post(command_buffer->queue->lane, &recording->completed_task);
  } else {
    finish(recording);
  }
  held_queue = outer;
}

mtl_command_buffer_times mtl_command_buffer_get_times(
    const mtl_command_buffer *command_buffer) {
  const mtli_recording *recording = mtli_recording_of(command_buffer);
  // pairs with the release of the final status; before it, times are unknown
  const uint32_t status =
      atomic_load_explicit(&recording->status, memory_order_acquire);
  const uint32_t progress =
      atomic_load_explicit(&recording->progress, memory_order_acquire);
  mtl_command_buffer_times times = {0};
  if (progress >= MTLI_PROGRESS_EXECUTED ||
      status == MTL_COMMAND_BUFFER_COMPLETED) {
    times = recording->times;
  } else if (progress >= MTLI_PROGRESS_SCHEDULED) {
    times.kernel_start_ns = recording->times.kernel_start_ns;
  }
  return times;
}
