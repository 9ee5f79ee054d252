// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// command_buffer.c: the life of a command buffer up to its commit, and waiting
// for what follows; completion.c has what follows.
#include <inttypes.h>
#include <stdlib.h>

#include "base/futex.h"
#include "check/check.h"
#include "runtime/log.h"
#include "runtime/record/counters.h"
#include "runtime/record/recording.h"
#include "runtime/record/trace_work.h"

static void callbacks_free(mtli_callback *callback) {
  while (callback) {
    mtli_callback *next = callback->next;
    free(callback);
    callback = next;
  }
}

static void command_buffer_destroy(mtli_object *object) {
  mtl_command_buffer *command_buffer = (mtl_command_buffer *)object;
  mtli_recording *recording = mtli_recording_of(command_buffer);
  mtl_queue *queue = command_buffer->queue;
  // Completed ones have left and cleared already; these were never committed.
  if (!recording->is_committed && !mtli_device_is_inherited(queue->device)) {
    if (recording->is_enqueued) {
      mtli_queue_forget(queue, command_buffer);
    }
    mtli_queue_leave(queue);
  }
  mtli_recording_clear(recording);
  callbacks_free(recording->scheduled_callbacks);
  callbacks_free(recording->completed_callbacks);
  callbacks_free(recording->direct_callbacks);
  mtli_work_times_free(recording->work_times);
  mtli_check_forget(command_buffer->check_committed);
  mtli_check_forget(command_buffer->check_completed);
  free(command_buffer->log);
  mtl_log_state_release(recording->log_state);  // -1
  free(recording->error_text);
  free(recording->label);
  free(recording);
  mtl_queue_release(queue);  // -1
}

// Room for messages, if the command buffer or its queue has a log state.
static mtl_status prepare_log(mtli_recording *recording,
                              mtl_log_state *log_state) {
  if (!log_state) {
    return MTL_OK;
  }
  recording->command_buffer.log = mtli_log_memory_create(log_state);
  if (!recording->command_buffer.log) {
    return mtli_fail(MTL_OUT_OF_MEMORY,
                     "no memory for a command buffer's %zu bytes of messages",
                     log_state->buffer_bytes);
  }
  recording->log_state = mtl_log_state_retain(log_state);  // +1
  return MTL_OK;
}

mtl_status mtl_command_buffer_create(mtl_queue *queue,
                                     const mtl_command_buffer_desc *desc,
                                     mtl_command_buffer **out_command_buffer) {
  if (!queue || !out_command_buffer) {
    return mtli_fail(MTL_INVALID_ARGUMENT,
                     "mtl_command_buffer_create: %s is NULL",
                     queue ? "out_command_buffer" : "queue");
  }
  *out_command_buffer = NULL;
  MTL_TRY(mtli_device_check(queue->device));
  mtl_log_state *log_state =
      desc && desc->log_state ? desc->log_state : queue->log_state;
  MTL_TRY(mtli_log_state_check(log_state, queue->device,
                               "mtl_command_buffer_create"));
  const mtli_driver *driver = queue->device->driver;
  mtli_recording *recording =
      calloc(1, sizeof *recording + driver->command_buffer_bytes);
  if (!recording) {
    return mtli_fail(MTL_OUT_OF_MEMORY, "no memory for a command buffer");
  }
  mtl_status status = prepare_log(recording, log_state);
  if (status == MTL_OK &&
      (queue->times_work || (desc && desc->times_work) || mtli_trace_is_on())) {
    recording->work_times = mtli_work_times_create(&queue->device->arenas);
    status = recording->work_times
                 ? MTL_OK
                 : mtli_fail(MTL_OUT_OF_MEMORY, "no memory for times of work");
  }
  if (status == MTL_OK) {
    status = mtli_queue_enter(queue);
  }
  if (status != MTL_OK) {
    mtli_work_times_free(recording->work_times);
    free(recording->command_buffer.log);
    mtl_log_state_release(recording->log_state);  // -1
    free(recording);
    return status;
  }
  mtl_command_buffer *command_buffer = &recording->command_buffer;
  mtli_object_init(&command_buffer->object, command_buffer_destroy);
  command_buffer->queue = mtl_queue_retain(queue);  // +1
  command_buffer->driver_data = recording + 1;
  recording->driver = driver;
  recording->arena.pool = &queue->device->arenas;
  const uint64_t wanted_ns = desc ? desc->time_limit_ns : 0;
  command_buffer->time_limit_ns = wanted_ns == MTL_NO_TIME_LIMIT ? 0
                                  : wanted_ns                    ? wanted_ns
                                              : queue->time_limit_ns;
  if (desc) {
    recording->unretained_references = desc->unretained_references;
    recording->label = mtli_label_copy(desc->label);
    recording->is_labelled = recording->label != NULL;
  }
  *out_command_buffer = command_buffer;
  return MTL_OK;
}

mtl_command_buffer *mtl_command_buffer_retain(
    mtl_command_buffer *command_buffer) {
  if (command_buffer) {
    mtli_object_retain(&command_buffer->object);
  }
  return command_buffer;
}

void mtl_command_buffer_release(mtl_command_buffer *command_buffer) {
  if (command_buffer) {
    mtli_object_release(&command_buffer->object);
  }
}

static mtl_status check_alive(const mtl_command_buffer *command_buffer,
                              const char *call) {
  if (!command_buffer) {
    return mtli_fail(MTL_INVALID_ARGUMENT, "%s: command_buffer is NULL", call);
  }
  return mtli_device_check(command_buffer->queue->device);
}

mtl_status mtl_command_buffer_enqueue(mtl_command_buffer *command_buffer) {
  MTL_TRY(check_alive(command_buffer, "mtl_command_buffer_enqueue"));
  mtli_recording *recording = mtli_recording_of(command_buffer);
  if (recording->is_enqueued) {
    return mtli_fail(MTL_INVALID_STATE,
                     "mtl_command_buffer_enqueue: command buffer '%s' is %s "
                     "already",
                     mtl_command_buffer_label(command_buffer),
                     recording->is_committed ? "committed" : "enqueued");
  }
  recording->is_enqueued = true;
  atomic_store_explicit(&recording->status, MTL_COMMAND_BUFFER_ENQUEUED,
                        memory_order_relaxed);
  mtli_queue_enqueue(command_buffer->queue, command_buffer);
  return MTL_OK;
}

// Ends recording: from here on the list that drivers see is complete.
static void seal(mtli_recording *recording) {
  mtl_command_buffer *command_buffer = &recording->command_buffer;
  mtli_recording_take_residents(recording);
  command_buffer->buffers = recording->buffers;
  command_buffer->buffer_count = recording->buffer_count;
  if (recording->work_times) {
    mtli_work_times_seal(recording);
  }
  if (recording->error == MTL_OK) {
    const mtl_status status =
        recording->driver->commands_prepare(command_buffer);
    if (status != MTL_OK) {
      mtli_recording_fail(recording, status, "%s", mtl_last_error());
    }
  }
  command_buffer->is_failed = recording->error != MTL_OK;
}

mtl_status mtl_command_buffer_commit(mtl_command_buffer *command_buffer) {
  MTL_TRY(check_alive(command_buffer, "mtl_command_buffer_commit"));
  mtli_recording *recording = mtli_recording_of(command_buffer);
  if (recording->is_committed) {
    return mtli_fail(MTL_INVALID_STATE,
                     "mtl_command_buffer_commit: command buffer '%s' was "
                     "committed before",
                     mtl_command_buffer_label(command_buffer));
  }
  if (recording->is_encoding) {
    return mtli_fail(MTL_INVALID_STATE,
                     "mtl_command_buffer_commit: an encoder of command buffer "
                     "'%s' is open; end it before",
                     mtl_command_buffer_label(command_buffer));
  }
  const uint64_t start_ns = mtli_trace_is_on() ? mtli_now_ns() : 0;
  seal(recording);
  if (start_ns) {
    mtli_trace_commit(recording, start_ns);
  }
  const mtl_status status = recording->error;
  // Made now: once submitted, the recording belongs to the driver.
  if (status != MTL_OK) {
    (void)mtli_recording_close(recording);
  }
  atomic_store_explicit(&recording->status,
                        status == MTL_OK ? MTL_COMMAND_BUFFER_COMMITTED
                                         : MTL_COMMAND_BUFFER_ERROR,
                        memory_order_release);
  mtl_command_buffer_retain(command_buffer);  // +1 until completed
  mtli_queue_commit(command_buffer->queue, command_buffer);
  return status;
}

mtl_status mtl_command_buffer_cancel(mtl_command_buffer *command_buffer) {
  MTL_TRY(check_alive(command_buffer, "mtl_command_buffer_cancel"));
  // Set before the driver looks for it in the command buffer that its queue
  // runs.
  atomic_store(&command_buffer->is_cancelled, true);
  mtl_queue *queue = command_buffer->queue;
  return queue->device->driver->queue_cancel(queue, command_buffer);
}

mtl_status mtl_command_buffer_depend_on(mtl_command_buffer *command_buffer,
                                        mtl_command_buffer *earlier) {
  MTL_TRY(check_alive(command_buffer, "mtl_command_buffer_depend_on"));
  mtli_recording *recording = mtli_recording_of(command_buffer);
  const char *label = mtl_command_buffer_label(command_buffer);
  if (!earlier || earlier->queue != command_buffer->queue ||
      !mtli_recording_of(earlier)->is_committed) {
    return mtli_fail(MTL_INVALID_ARGUMENT,
                     "mtl_command_buffer_depend_on: command buffer '%s' can "
                     "depend on one that is committed to its own queue; %s",
                     label,
                     !earlier ? "earlier is NULL"
                     : earlier->queue != command_buffer->queue
                         ? "earlier is of another queue"
                         : "earlier is not committed");
  }
  if (recording->is_enqueued) {
    return mtli_fail(MTL_INVALID_STATE,
                     "mtl_command_buffer_depend_on: command buffer '%s' is %s "
                     "already",
                     label, recording->is_committed ? "committed" : "enqueued");
  }
  if (!recording->driver->knows_failures) {
    return mtli_fail(MTL_UNSUPPORTED,
                     "mtl_command_buffer_depend_on: device '%s' starts work "
                     "before it knows whether that before it has failed",
                     command_buffer->queue->device->info.name);
  }
  mtli_dependency *made = mtli_recording_allocate(recording, sizeof *made);
  if (!made) {
    return recording->error;
  }
  made->earlier = earlier;
  made->next = command_buffer->dependencies;
  command_buffer->dependencies = made;
  mtli_recording_keep(recording, &earlier->object);
  return MTL_OK;
}

const char *mtli_stop_reason(const mtl_command_buffer *command_buffer) {
  if (atomic_load(&command_buffer->is_cancelled)) {
    return "it was cancelled";
  }
  for (const mtli_dependency *at = command_buffer->dependencies; at;
       at = at->next) {
    if (at->earlier->is_failed || atomic_load(&at->earlier->has_failed)) {
      return "a command buffer that it depends on has failed";
    }
  }
  return NULL;
}

static bool has_reached(mtli_recording *recording, mtli_progress wanted) {
  // pairs with the release in completion.c
  return atomic_load_explicit(&recording->progress, memory_order_acquire) >=
         (uint32_t)wanted;
}

bool mtli_recording_wait(mtli_recording *recording, mtli_progress wanted,
                         uint64_t deadline_ns) {
  const uint64_t spin_end_ns = mtli_now_ns() + MTLI_SPIN_NS;
  do {
    for (int i = 0; i < 16; i++) {
      if (has_reached(recording, wanted)) {
        return true;
      }
      mtli_pause();
    }
  } while (mtli_now_ns() < spin_end_ns);
  // Sequentially consistent, with completion.c: either it sees the sleeper or
  // the sleeper sees its progress.
  atomic_fetch_add(&recording->sleepers, 1);
  bool in_time = true;
  bool has_arrived = false;
  for (;;) {
    const uint32_t progress = atomic_load(&recording->progress);
    has_arrived = progress >= (uint32_t)wanted;
    if (has_arrived || !in_time) {
      break;
    }
    in_time = mtli_futex_wait(&recording->progress, progress, deadline_ns);
  }
  atomic_fetch_sub(&recording->sleepers, 1);
  return has_arrived;
}

// Returns the final error as this thread's.
static mtl_status final_status(const mtl_command_buffer *command_buffer) {
  mtli_recording_seen(command_buffer);
  const char *text;
  const mtl_status status = mtl_command_buffer_error(command_buffer, &text);
  return status == MTL_OK ? MTL_OK : mtli_fail_text(status, text);
}

static mtl_status check_wait(const mtl_command_buffer *command_buffer,
                             const char *call) {
  MTL_TRY(check_alive(command_buffer, call));
  if (!mtli_recording_of(command_buffer)->is_committed) {
    return mtli_fail(MTL_INVALID_STATE,
                     "%s: command buffer '%s' is not committed", call,
                     mtl_command_buffer_label(command_buffer));
  }
  return MTL_OK;
}

mtl_status mtl_command_buffer_wait(mtl_command_buffer *command_buffer) {
  MTL_TRY(check_wait(command_buffer, "mtl_command_buffer_wait"));
  mtli_recording *recording = mtli_recording_of(command_buffer);
  const mtli_progress wanted = mtli_recording_wanted();
  if (!has_reached(recording, wanted)) {
    MTL_TRY(mtli_queue_check_wait(command_buffer->queue,
                                  "mtl_command_buffer_wait"));
    const uint64_t start_ns = mtli_trace_is_on() ? mtli_now_ns() : 0;
    (void)recording->driver->queue_help(command_buffer->queue, command_buffer);
    mtli_recording_wait(recording, wanted, MTLI_FOREVER);
    if (start_ns) {
      mtli_trace_wait(recording, start_ns);
    }
  }
  return final_status(command_buffer);
}

mtl_status mtl_command_buffer_wait_timeout(mtl_command_buffer *command_buffer,
                                           uint64_t timeout_ns) {
  if (timeout_ns == MTL_WAIT_FOREVER) {
    return mtl_command_buffer_wait(command_buffer);
  }
  MTL_TRY(check_wait(command_buffer, "mtl_command_buffer_wait_timeout"));
  mtli_recording *recording = mtli_recording_of(command_buffer);
  const mtli_progress wanted = mtli_recording_wanted();
  if (!has_reached(recording, wanted) && timeout_ns) {
    MTL_TRY(mtli_queue_check_wait(command_buffer->queue,
                                  "mtl_command_buffer_wait_timeout"));
  }
  // Does not help: a kernel that it began could not be left at the deadline.
  if (!has_reached(recording, wanted) &&
      (timeout_ns == 0 ||
       !mtli_recording_wait(recording, wanted, mtli_deadline_ns(timeout_ns)))) {
    return mtli_fail(MTL_TIMED_OUT,
                     "command buffer '%s' has not completed after %" PRIu64
                     " ns",
                     mtl_command_buffer_label(command_buffer), timeout_ns);
  }
  return final_status(command_buffer);
}

mtl_status mtl_command_buffer_wait_scheduled(
    mtl_command_buffer *command_buffer) {
  MTL_TRY(check_wait(command_buffer, "mtl_command_buffer_wait_scheduled"));
  mtli_recording *recording = mtli_recording_of(command_buffer);
  if (!has_reached(recording, MTLI_PROGRESS_SCHEDULED)) {
    MTL_TRY(mtli_queue_check_wait(command_buffer->queue,
                                  "mtl_command_buffer_wait_scheduled"));
    mtli_recording_wait(recording, MTLI_PROGRESS_SCHEDULED, MTLI_FOREVER);
  }
  return MTL_OK;
}

mtl_command_buffer_status mtl_command_buffer_get_status(
    const mtl_command_buffer *command_buffer) {
  // pairs with the releases in commit and completion.c
  const mtl_command_buffer_status status =
      (mtl_command_buffer_status)atomic_load_explicit(
          &mtli_recording_of(command_buffer)->status, memory_order_acquire);
  if (status >= MTL_COMMAND_BUFFER_COMPLETED) {
    mtli_recording_seen(command_buffer);
  }
  return status;
}

mtl_status mtl_command_buffer_error(const mtl_command_buffer *command_buffer,
                                    const char **out_text) {
  const mtli_recording *recording = mtli_recording_of(command_buffer);
  const bool has_failed =
      mtl_command_buffer_get_status(command_buffer) == MTL_COMMAND_BUFFER_ERROR;
  if (out_text) {
    *out_text =
        has_failed && recording->error_text ? recording->error_text : "";
  }
  return has_failed ? recording->error : MTL_OK;
}

static mtl_status callback_add(mtl_command_buffer *command_buffer,
                               mtl_command_buffer_callback *function,
                               void *context, mtli_callback **link,
                               const char *call) {
  MTL_TRY(check_alive(command_buffer, call));
  mtli_recording *recording = mtli_recording_of(command_buffer);
  if (!function) {
    return mtli_fail(MTL_INVALID_ARGUMENT, "%s: callback is NULL", call);
  }
  if (recording->is_committed) {
    return mtli_fail(MTL_INVALID_STATE,
                     "%s: command buffer '%s' is committed already", call,
                     mtl_command_buffer_label(command_buffer));
  }
  mtli_callback *callback = malloc(sizeof *callback);
  if (!callback) {
    return mtli_fail(MTL_OUT_OF_MEMORY, "no memory for a callback");
  }
  *callback = (mtli_callback){.function = function, .context = context};
  while (*link) {
    link = &(*link)->next;
  }
  *link = callback;
  return MTL_OK;
}

// The callbacks of one kind; NULL without a command buffer.
#define CALLBACKS(command_buffer, which) \
  ((command_buffer) ? &mtli_recording_of(command_buffer)->which : NULL)

mtl_status mtl_command_buffer_on_scheduled(
    mtl_command_buffer *command_buffer, mtl_command_buffer_callback *callback,
    void *context) {
  return callback_add(command_buffer, callback, context,
                      CALLBACKS(command_buffer, scheduled_callbacks),
                      "mtl_command_buffer_on_scheduled");
}

mtl_status mtl_command_buffer_on_completed(
    mtl_command_buffer *command_buffer, mtl_command_buffer_callback *callback,
    void *context) {
  return callback_add(command_buffer, callback, context,
                      CALLBACKS(command_buffer, completed_callbacks),
                      "mtl_command_buffer_on_completed");
}

mtl_status mtl_command_buffer_on_completed_directly(
    mtl_command_buffer *command_buffer, mtl_command_buffer_callback *callback,
    void *context) {
  return callback_add(command_buffer, callback, context,
                      CALLBACKS(command_buffer, direct_callbacks),
                      "mtl_command_buffer_on_completed_directly");
}

void mtl_command_buffer_set_label(mtl_command_buffer *command_buffer,
                                  const char *label) {
  mtli_recording *recording = mtli_recording_of(command_buffer);
  mtli_label_set(command_buffer->queue->device, &recording->label, label);
  if (label) {
    // Relaxed: a timeline that does not see it yet shows the label before.
    atomic_store_explicit(&recording->is_labelled, true, memory_order_relaxed);
  }
}

const char *mtl_command_buffer_label(const mtl_command_buffer *command_buffer) {
  const char *label = mtli_recording_of(command_buffer)->label;
  return label ? label : "";
}

mtl_queue *mtl_command_buffer_queue(const mtl_command_buffer *command_buffer) {
  return command_buffer->queue;
}
