// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// trace_work.c: a timeline's events of commits and waits on the threads that
// do them; of command buffers, encoders and commands on a track
// for each queue; and of what each thread does for a command. Arrows lead from
// a commit to its command buffer, from a command buffer to who waits for it,
// and from an event's signal to its wait.
#include "runtime/record/trace_work.h"

#include <stdio.h>

#include "mettle/trace.h"
#include "runtime/record/counters.h"

// --- On the client's threads -------------------------------------------------

static void add_label(mtli_trace_arguments *arguments, const char *name,
                      const char *label) {
  if (label && *label) {
    mtli_trace_text(arguments, name, label);
  }
}

// Labels change under the device's lock. Most have none.
static void add_label_of(mtli_trace_arguments *arguments,
                         mtli_recording *recording) {
  if (!atomic_load_explicit(&recording->is_labelled, memory_order_relaxed)) {
    return;
  }
  mtl_device *device = recording->command_buffer.queue->device;
  pthread_mutex_lock(&device->lock);
  add_label(arguments, "label", recording->label);
  pthread_mutex_unlock(&device->lock);
}

void mtli_trace_commit(mtli_recording *recording, uint64_t start_ns) {
  mtli_trace_arguments arguments;
  mtli_trace_clear(&arguments);
  add_label_of(&arguments, recording);
  recording->commit_flow = mtli_trace_new_flow();
  recording->wait_flow = mtli_trace_new_flow();
  const mtli_trace_arrow departure = {
      .name = "commit", .flow = recording->commit_flow, .at_ns = start_ns};
  mtli_trace_slice_joined(MTLI_TRACE_THREAD, "commit", "commit", start_ns,
                          mtli_now_ns(), &arguments, NULL, &departure);
}

void mtli_trace_wait(mtli_recording *recording, uint64_t start_ns) {
  mtli_trace_arguments arguments;
  mtli_trace_clear(&arguments);
  add_label_of(&arguments, recording);
  const uint64_t end_ns = mtli_now_ns();
  const mtli_trace_arrow arrival = {
      .name = "wait", .flow = recording->wait_flow, .at_ns = end_ns};
  mtli_trace_slice_joined(MTLI_TRACE_THREAD, "wait",
                          "wait for a command buffer", start_ns, end_ns,
                          &arguments, &arrival, NULL);
}

mtl_status mtl_trace_start(const char *path) {
  return path
             ? mtli_trace_start(path)
             : mtli_fail(MTL_INVALID_ARGUMENT, "mtl_trace_start: path is NULL");
}

mtl_status mtl_trace_stop(void) {
  return mtli_trace_stop();
}

// --- On a queue's track ------------------------------------------------------

static void name_queue(mtl_queue *queue, char *name, size_t room) {
  pthread_mutex_lock(&queue->device->lock);
  snprintf(name, room, "queue '%s' of %s", queue->label ? queue->label : "",
           queue->device->info.name);
  pthread_mutex_unlock(&queue->device->lock);
}

// Returns the queue's rows in the timeline that is being written.
static mtli_trace_track track_of(mtl_queue *queue) {
  const uint32_t timeline = mtli_trace_timeline();
  // Acquire: pairs with the release below, so that the rows are that one's.
  if (atomic_load_explicit(&queue->track_timeline, memory_order_acquire) !=
      timeline) {
    char name[128];
    name_queue(queue, name, sizeof name);
    pthread_mutex_lock(&queue->lock);
    if (queue->track_timeline != timeline) {
      atomic_store_explicit(&queue->track, mtli_trace_add_track(name),
                            memory_order_relaxed);
      atomic_store_explicit(&queue->track_timeline, timeline,
                            memory_order_release);
    }
    pthread_mutex_unlock(&queue->lock);
  }
  return atomic_load_explicit(&queue->track, memory_order_relaxed);
}

static void add_dispatch(mtli_trace_arguments *arguments,
                         const mtli_dispatch *dispatch) {
  const mtli_kernel *kernel = dispatch->pipeline->kernel;
  uint64_t bytes = 0;
  for (uint32_t i = 0; dispatch->argument_bytes && i < kernel->parameter_count;
       ++i) {
    bytes += dispatch->argument_bytes[i];
  }
  if (dispatch->indirect) {
    mtli_trace_text(arguments, "grid", "indirect");
  } else {
    mtli_trace_sizes(arguments, "grid", dispatch->grid_threads);
  }
  mtli_trace_sizes(arguments, "group", dispatch->group_threads);
  mtli_trace_number(arguments, "bytes bound", bytes);
  if (kernel->line) {
    mtli_trace_number(arguments, "line", kernel->line);
  }
}

// Describes a command, and returns its name.
static const char *describe(const mtli_command *command,
                            const mtl_work_time *shown,
                            mtli_trace_arguments *arguments) {
  add_label(arguments, "debug group", shown->debug_group);
  switch (command->kind) {
    case MTLI_COMMAND_DISPATCH:
      add_dispatch(arguments, &command->dispatch);
      return shown->name;
    case MTLI_COMMAND_COPY:
      mtli_trace_number(arguments, "bytes", command->copy.length_bytes);
      return "copy";
    case MTLI_COMMAND_COPY_BOX:
      mtli_trace_number(arguments, "bytes",
                        (uint64_t)command->copy_box.row_bytes *
                            command->copy_box.rows * command->copy_box.images);
      return "copy of texels";
    case MTLI_COMMAND_FILL:
      mtli_trace_number(arguments, "bytes", command->fill.length_bytes);
      return "fill";
    case MTLI_COMMAND_UPDATE: return "update";
    case MTLI_COMMAND_SYNCHRONIZE: return "synchronize";
    case MTLI_COMMAND_HOST_WORK: return shown->name;
    case MTLI_COMMAND_EXECUTE: return "indirect commands";
    case MTLI_COMMAND_EDIT_INDIRECT: return "edit of indirect commands";
    case MTLI_COMMAND_SAMPLE: return "sample";
    case MTLI_COMMAND_WAIT:
      add_label(arguments, "event", command->event.event->label);
      mtli_trace_number(arguments, "value", command->event.value);
      return "wait for an event";
    case MTLI_COMMAND_SIGNAL:
      add_label(arguments, "event", command->event.event->label);
      mtli_trace_number(arguments, "value", command->event.value);
      return "signal an event";
    case MTLI_COMMAND_FENCE: return "fence";
  }
  return "";
}

// One value of an event is one arrow, wherever it is waited for. Numbers of
// other arrows are small.
static uint64_t flow_of(const mtli_command *command) {
  const uint64_t event = (uintptr_t)command->event.event;
  return (event * 0x9e3779b97f4a7c15u + command->event.value) | (uint64_t)1
                                                                    << 63;
}

// Commands that overlap stand in rows below each other.
typedef struct queue_rows {
  mtli_trace_track first;
  uint64_t end_ns[MTLI_TRACE_ROWS];
} queue_rows;

static mtli_trace_track row_for(queue_rows *rows, const mtl_work_time *shown) {
  int row = 0;
  while (row < MTLI_TRACE_ROWS - 1 && rows->end_ns[row] > shown->start_ns) {
    ++row;
  }
  rows->end_ns[row] = shown->end_ns;
  return rows->first + (mtli_trace_track)row;
}

static void trace_entry(queue_rows *rows, const mtli_work_entry *entry) {
  const mtl_work_time *shown = &entry->shown;
  if (!shown->end_ns) {
    return;  // it did not run
  }
  if (!entry->command) {
    mtli_trace_slice(rows->first, "encoder",
                     shown->kind == MTL_WORK_BLIT_ENCODER ? "blit encoder"
                                                          : "compute encoder",
                     shown->start_ns, shown->end_ns, NULL);
    return;
  }
  mtli_trace_arguments arguments;
  mtli_trace_clear(&arguments);
  const mtli_trace_track row = row_for(rows, shown);
  const char *name = describe(entry->command, shown, &arguments);
  const bool is_wait = entry->command->kind == MTLI_COMMAND_WAIT;
  const bool is_signal = entry->command->kind == MTLI_COMMAND_SIGNAL;
  const mtli_trace_arrow arrow = {
      .name = "event",
      .flow = is_wait || is_signal ? flow_of(entry->command) : 0,
      .at_ns = is_wait ? shown->end_ns : shown->start_ns};
  mtli_trace_slice_joined(row, entry->is_hidden ? "event" : "command", name,
                          shown->start_ns, shown->end_ns, &arguments,
                          is_wait ? &arrow : NULL, is_signal ? &arrow : NULL);
}

void mtli_trace_command_buffer(mtli_recording *recording) {
  if (!mtli_trace_is_on()) {
    return;
  }
  const mtl_command_buffer_times *times = &recording->times;
  const uint64_t start_ns =
      times->device_start_ns ? times->device_start_ns : times->kernel_start_ns;
  const uint64_t end_ns =
      times->device_end_ns ? times->device_end_ns : times->kernel_end_ns;
  queue_rows rows = {.first = track_of(recording->command_buffer.queue)};
  mtli_trace_arguments arguments;
  mtli_trace_clear(&arguments);
  add_label_of(&arguments, recording);
  if (recording->error != MTL_OK) {
    mtli_trace_text(&arguments, "error",
                    recording->error_text ? recording->error_text : "");
  }
  const mtli_trace_arrow arrival = {
      .name = "commit", .flow = recording->commit_flow, .at_ns = start_ns};
  const mtli_trace_arrow departure = {
      .name = "wait", .flow = recording->wait_flow, .at_ns = end_ns};
  mtli_trace_slice_joined(rows.first, "command buffer", "command buffer",
                          start_ns, end_ns, &arguments, &arrival, &departure);
  for (const mtli_work_entry *entry = recording->work_times->first; entry;
       entry = entry->next) {
    trace_entry(&rows, entry);
  }
}

// --- On the threads that run commands ----------------------------------------

void mtli_trace_command(const mtli_command *command, uint64_t start_ns,
                        uint64_t end_ns) {
  if (!mtli_trace_is_on()) {
    return;
  }
  const char *name = command->kind == MTLI_COMMAND_DISPATCH
                         ? command->dispatch.pipeline->kernel->name
                     : command->kind == MTLI_COMMAND_HOST_WORK
                         ? command->host_work.name
                     : command->kind == MTLI_COMMAND_FILL ? "fill"
                                                          : "copy";
  mtli_trace_slice(MTLI_TRACE_THREAD, "work", name, start_ns, end_ns, NULL);
}
