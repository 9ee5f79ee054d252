// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// stream.c: creates, synchronises and destroys streams, and keeps their errors.
#include <stdlib.h>
#include <string.h>

#include "stream/stream_parts.h"

// Metal allows 64 command buffers in flight and then makes the client wait;
// commit-and-continue may not stall, and a batch is small.
#define MAX_COMMAND_BUFFERS 4096
// Batches of this size cost the commit next to nothing, and the device starts
// early enough; docs/choices.md, "Streams".
#define DEFAULT_FLUSH_DISPATCHES 64
#define DEFAULT_FLUSH_BYTES (256ull << 20)

// An idle device gets a batch once it is this part of a full one; measured by
// bench/streams.c, "decoding step".
#define IDLE_PART 4

static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static mtl_stream *list;

// --- Life --------------------------------------------------------------------

static void lock_create(pthread_mutex_t *lock) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_init(lock, &attributes);
  pthread_mutexattr_destroy(&attributes);
}

static void stream_delete(mtl_stream *stream) {
  mtl_event_release(stream->event);    // -1
  mtl_queue_release(stream->queue);    // -1
  mtl_device_release(stream->device);  // -1
  pthread_mutex_destroy(&stream->lock);
  free(stream->in_flight);
  free(stream->error_text);
  free(stream);
}

static mtl_status create_parts(mtl_stream *stream, mtl_device *device) {
  stream->device = mtl_device_retain(device);  // +1
  if (!device) {
    STREAM_TRY(mtl_device_default(&stream->device));
  }
  const mtl_queue_desc queue_desc = {.max_command_buffers = MAX_COMMAND_BUFFERS,
                                     .label = stream->desc.label};
  STREAM_TRY(mtl_queue_create(stream->device, &queue_desc, &stream->queue));
  return mtl_event_create(stream->device, &(mtl_event_desc){.shared = true},
                          &stream->event);
}

mtl_status mtl_stream_create(mtl_device *device, const mtl_stream_desc *desc,
                             mtl_stream **out_stream) {
  if (!out_stream) {
    return mtl_fail(MTL_INVALID_ARGUMENT,
                    "mtl_stream_create: out_stream is NULL");
  }
  *out_stream = NULL;
  mtl_stream *stream = calloc(1, sizeof *stream);
  if (!stream) {
    return mtl_fail(MTL_OUT_OF_MEMORY, "mtl_stream_create: no memory");
  }
  stream->desc = desc ? *desc : (mtl_stream_desc){0};
  if (stream->desc.flush_dispatches == 0) {
    stream->desc.flush_dispatches = DEFAULT_FLUSH_DISPATCHES;
  }
  if (stream->desc.flush_bytes == 0) {
    stream->desc.flush_bytes = DEFAULT_FLUSH_BYTES;
  }
  stream->batch = 1;
  atomic_init(&stream->reference_count, 1);
  lock_create(&stream->lock);
  const mtl_status status = create_parts(stream, device);
  stream->desc.label = NULL;  // the queue has it
  if (status != MTL_OK) {
    stream_delete(stream);
    return status;
  }
  pthread_mutex_lock(&list_lock);
  stream->next = list;
  list = stream;
  pthread_mutex_unlock(&list_lock);
  *out_stream = stream;
  return MTL_OK;
}

mtl_stream *mtl_stream_retain(mtl_stream *stream) {
  if (stream) {
    // Relaxed: who retains has a reference already.
    atomic_fetch_add_explicit(&stream->reference_count, 1,
                              memory_order_relaxed);
  }
  return stream;
}

mtl_device *mtl_stream_device(const mtl_stream *stream) {
  return stream->device;
}

mtl_queue *mtl_stream_queue(const mtl_stream *stream) {
  return stream->queue;
}

void mtl_stream_lock(mtl_stream *stream) {
  pthread_mutex_lock(&stream->lock);
}

void mtl_stream_unlock(mtl_stream *stream) {
  pthread_mutex_unlock(&stream->lock);
}

// --- The current stream ------------------------------------------------------

static pthread_key_t current_key;
static pthread_once_t current_once = PTHREAD_ONCE_INIT;
static pthread_mutex_t default_lock = PTHREAD_MUTEX_INITIALIZER;
static mtl_stream *default_stream;

static void current_forget(void *stream) {
  mtl_stream_release(stream);  // -1
}

static void current_key_create(void) {
  pthread_key_create(&current_key, current_forget);
}

mtl_status mtl_stream_default(mtl_stream **out_stream) {
  pthread_mutex_lock(&default_lock);
  mtl_status status = MTL_OK;
  if (!default_stream) {
    const mtl_stream_desc desc = {.label = "default stream"};
    status = mtl_stream_create(NULL, &desc, &default_stream);
  }
  *out_stream = default_stream;
  pthread_mutex_unlock(&default_lock);
  return status;
}

mtl_status mtl_stream_current(mtl_stream **out_stream) {
  pthread_once(&current_once, current_key_create);
  *out_stream = pthread_getspecific(current_key);
  return *out_stream ? MTL_OK : mtl_stream_default(out_stream);
}

void mtl_stream_set_current(mtl_stream *stream) {
  pthread_once(&current_once, current_key_create);
  mtl_stream *before = pthread_getspecific(current_key);
  if (pthread_setspecific(current_key, stream) == 0) {
    mtl_stream_retain(stream);   // +1
    mtl_stream_release(before);  // -1
  }
}

// --- Errors ------------------------------------------------------------------

void mtl_stream_fail(mtl_stream *stream, mtl_status status, const char *text) {
  mtl_stream_lock(stream);
  if (stream->error == MTL_OK && status != MTL_OK) {
    stream->error = status;
    stream->error_text = strdup(text ? text : mtl_last_error());
  }
  mtl_stream_unlock(stream);
}

mtl_status stream_keep(mtl_stream *stream, mtl_status status) {
  mtl_stream_fail(stream, status, NULL);
  return status;
}

static mtl_status tell_error(const mtl_stream *stream) {
  if (stream->error == MTL_OK) {
    return MTL_OK;
  }
  return mtl_fail(stream->error, "%s",
                  stream->error_text ? stream->error_text : "");
}

mtl_status mtl_stream_error(mtl_stream *stream) {
  mtl_stream_lock(stream);
  const mtl_status status = tell_error(stream);
  mtl_stream_unlock(stream);
  return status;
}

static mtl_status take_error(mtl_stream *stream) {
  const mtl_status status = tell_error(stream);
  free(stream->error_text);
  stream->error_text = NULL;
  stream->error = MTL_OK;
  return status;
}

// --- Batches -----------------------------------------------------------------

mtl_status stream_open(mtl_stream *stream) {
  if (stream->commands) {
    return MTL_OK;
  }
  STREAM_TRY(mtl_command_buffer_create(stream->queue, NULL, &stream->commands));
  // Release: pairs with the acquire in stream_marks_take.
  atomic_store_explicit(&stream->newest_batch, stream->batch,
                        memory_order_release);
  return MTL_OK;
}

mtl_status stream_open_encoder(mtl_stream *stream) {
  if (stream->encoder) {
    return MTL_OK;
  }
  STREAM_TRY(stream_open(stream));
  stream->bound_mask = 0;
  return mtl_compute_encoder_create(stream->commands, MTL_DISPATCH_SERIAL,
                                    &stream->encoder);
}

static void close_encoder(mtl_stream *stream) {
  stream->kernel = NULL;
  if (!stream->encoder) {
    return;
  }
  stream_keep(stream, mtl_compute_encoder_end(stream->encoder));
  mtl_compute_encoder_release(stream->encoder);  // -1
  stream->encoder = NULL;
}

// Removes the finished batches, and keeps their errors.
static void reap(mtl_stream *stream) {
  size_t done = 0;
  for (; done < stream->in_flight_count; ++done) {
    mtl_command_buffer *commands = stream->in_flight[done].commands;
    if (mtl_command_buffer_get_status(commands) <
        MTL_COMMAND_BUFFER_COMPLETED) {
      break;
    }
    const char *text = "";
    const mtl_status status = mtl_command_buffer_error(commands, &text);
    mtl_stream_fail(stream, status, text);
    mtl_command_buffer_release(commands);  // -1
  }
  if (done == 0) {
    return;
  }
  stream->in_flight_count -= done;
  memmove(stream->in_flight, stream->in_flight + done,
          stream->in_flight_count * sizeof *stream->in_flight);
}

static bool reserve_place(mtl_stream *stream) {
  if (stream->in_flight_count < stream->in_flight_capacity) {
    return true;
  }
  const size_t capacity =
      stream->in_flight_capacity ? 2 * stream->in_flight_capacity : 16;
  stream_batch *grown =
      realloc(stream->in_flight, capacity * sizeof *stream->in_flight);
  if (grown) {
    stream->in_flight = grown;
    stream->in_flight_capacity = capacity;
  }
  return grown != NULL;
}

// Commits the recorded work, if there is any.
static void commit(mtl_stream *stream) {
  if (!stream->commands) {
    return;
  }
  reap(stream);
  mtl_command_buffer *commands = stream->commands;
  stream->commands = NULL;
  mtl_command_buffer_signal_event(commands, stream->event, stream->batch);
  stream_keep(stream, mtl_command_buffer_commit(commands));
  if (reserve_place(stream)) {
    stream->in_flight[stream->in_flight_count++] =
        (stream_batch){.commands = commands, .number = stream->batch};
  } else {
    // If it cannot be stored, the stream waits for it at once.
    stream_keep(stream, mtl_command_buffer_wait(commands));
    mtl_command_buffer_release(commands);  // -1
  }
  stream->batch += 1;
  stream->pending_bytes = 0;
  stream->statistics.pending_dispatches = 0;
  stream->statistics.commits += 1;
}

// Waits for the newest batch in flight, without the lock where that can be, so
// that other threads can record meanwhile.
static void wait_for_all(mtl_stream *stream) {
  stream->statistics.waits += 1;
  if (stream->in_flight_count > 0) {
    mtl_command_buffer *newest = mtl_command_buffer_retain(
        stream->in_flight[stream->in_flight_count - 1].commands);  // +1
    mtl_stream_unlock(stream);
    const mtl_status ignored = mtl_command_buffer_wait(newest);
    (void)ignored;  // its error is reaped
    mtl_stream_lock(stream);
    mtl_command_buffer_release(newest);  // -1
  }
  reap(stream);
}

static bool is_device_idle(mtl_stream *stream) {
  reap(stream);
  return stream->in_flight_count == 0;
}

static bool is_much_pending(const mtl_stream *stream) {
  return stream->statistics.pending_dispatches >=
             stream->desc.flush_dispatches ||
         stream->pending_bytes >= stream->desc.flush_bytes;
}

// True if the pending work is worth waking an idle device: that takes some
// microseconds, as long as a dozen small dispatches.
static bool is_enough_for_idle(const mtl_stream *stream) {
  const mtl_stream_statistics *now = &stream->statistics;
  return now->pending_dispatches >= stream->desc.flush_dispatches / IDLE_PART ||
         stream->pending_bytes >= stream->desc.flush_bytes / IDLE_PART;
}

static bool is_worth_a_commit(mtl_stream *stream) {
  return is_much_pending(stream) ||
         (is_enough_for_idle(stream) && is_device_idle(stream));
}

void stream_flush(mtl_stream *stream) {
  if (stream->desc.manual || !is_much_pending(stream)) {
    return;
  }
  close_encoder(stream);
  commit(stream);
}

mtl_status mtl_stream_synchronize(mtl_stream *stream, mtl_sync_mode mode) {
  if (!stream || mode < MTL_SYNC_NONE || mode > MTL_SYNC_COMMIT_ADAPTIVE) {
    return mtl_fail(MTL_INVALID_ARGUMENT, "mtl_stream_synchronize: %s",
                    stream ? "no such mode" : "stream is NULL");
  }
  mtl_stream_lock(stream);
  mtl_status status = MTL_OK;
  if (mode == MTL_SYNC_COMMIT_ADAPTIVE && !is_worth_a_commit(stream)) {
    stream->kernel = NULL;  // the encoder stays open for further dispatches
    status = tell_error(stream);
    mtl_stream_unlock(stream);
    return status;
  }
  close_encoder(stream);
  switch (mode) {
    case MTL_SYNC_NONE: break;
    case MTL_SYNC_COMMIT_ADAPTIVE:
      commit(stream);
      status = tell_error(stream);
      break;
    case MTL_SYNC_COMMIT:
      commit(stream);
      stream_keep(stream, stream_open(stream));
      status = tell_error(stream);
      break;
    case MTL_SYNC_COMMIT_AND_CONTINUE:
      commit(stream);
      status = tell_error(stream);
      break;
    case MTL_SYNC_COMMIT_AND_WAIT:
      commit(stream);
      wait_for_all(stream);
      status = take_error(stream);
      break;
  }
  mtl_stream_unlock(stream);
  return status;
}

static void unlist(const mtl_stream *stream) {
  pthread_mutex_lock(&list_lock);
  mtl_stream **place = &list;
  while (*place != stream) {
    place = &(*place)->next;
  }
  *place = stream->next;
  pthread_mutex_unlock(&list_lock);
}

void mtl_stream_release(mtl_stream *stream) {
  // Acquire and release: the last owner sees what the others did.
  if (!stream || atomic_fetch_sub_explicit(&stream->reference_count, 1,
                                           memory_order_acq_rel) != 1) {
    return;
  }
  close_encoder(stream);
  commit(stream);
  unlist(stream);
  for (size_t i = 0; i < stream->in_flight_count; ++i) {
    mtl_command_buffer_release(stream->in_flight[i].commands);  // -1
  }
  stream_delete(stream);
}

// --- State -------------------------------------------------------------------

bool mtl_stream_is_empty(mtl_stream *stream) {
  mtl_stream_lock(stream);
  const bool is_empty = stream->commands == NULL;
  mtl_stream_unlock(stream);
  return is_empty;
}

bool mtl_stream_is_idle(mtl_stream *stream) {
  mtl_stream_lock(stream);
  const bool is_idle = is_device_idle(stream) && !stream->commands;
  mtl_stream_unlock(stream);
  return is_idle;
}

mtl_stream_statistics mtl_stream_get_statistics(mtl_stream *stream) {
  mtl_stream_lock(stream);
  reap(stream);
  mtl_stream_statistics statistics = stream->statistics;
  statistics.in_flight = (uint32_t)stream->in_flight_count;
  mtl_stream_unlock(stream);
  return statistics;
}

void mtl_stream_count_host_operation(mtl_stream *stream, uint64_t bytes) {
  mtl_stream_lock(stream);
  stream->statistics.host_operations += 1;
  stream->statistics.bytes += bytes;
  mtl_stream_unlock(stream);
}

// --- Marks -------------------------------------------------------------------

static bool has_reached(mtl_event *event, uint64_t value) {
  uint64_t now = 0;
  return mtl_event_value(event, &now) == MTL_OK && now >= value;
}

bool stream_marks_take(const mtl_device *device,
                       stream_mark marks[STREAM_MARKS_MAX], size_t *out_count) {
  size_t count = 0;
  bool fits = true;
  pthread_mutex_lock(&list_lock);
  for (mtl_stream *stream = list; stream && fits; stream = stream->next) {
    // Acquire: pairs with the release in stream_open.
    const uint64_t newest =
        atomic_load_explicit(&stream->newest_batch, memory_order_acquire);
    if (stream->device != device || has_reached(stream->event, newest)) {
      continue;
    }
    fits = count < STREAM_MARKS_MAX;
    if (fits) {
      marks[count++] = (stream_mark){
          .stream = stream,
          .event = mtl_event_retain(stream->event),  // +1
          .value = newest,
      };
    }
  }
  pthread_mutex_unlock(&list_lock);
  *out_count = count;
  return fits;
}

void stream_marks_release(stream_mark *marks, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    mtl_event_release(marks[i].event);  // -1
  }
}

bool stream_marks_passed(const stream_mark *marks, size_t count,
                         const mtl_stream *stream) {
  for (size_t i = 0; i < count; ++i) {
    const bool is_ordered =
        marks[i].stream == stream && marks[i].event == stream->event;
    if (!is_ordered && !has_reached(marks[i].event, marks[i].value)) {
      return false;
    }
  }
  return true;
}
