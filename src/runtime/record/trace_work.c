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
  mtli_trace_add_alone(&(mtli_trace_slice){.track = MTLI_TRACE_THREAD,
                                           .category = "commit",
                                           .name = "commit",
                                           .start_ns = start_ns,
                                           .end_ns = mtli_now_ns(),
                                           .arguments = &arguments,
                                           .departure = &departure});
}

void mtli_trace_wait(mtli_recording *recording, uint64_t start_ns) {
  mtli_trace_arguments arguments;
  mtli_trace_clear(&arguments);
  add_label_of(&arguments, recording);
  const uint64_t end_ns = mtli_now_ns();
  const mtli_trace_arrow arrival = {
      .name = "wait", .flow = recording->wait_flow, .at_ns = end_ns};
  mtli_trace_add_alone(&(mtli_trace_slice){.track = MTLI_TRACE_THREAD,
                                           .category = "wait",
                                           .name = "wait for a command buffer",
                                           .start_ns = start_ns,
                                           .end_ns = end_ns,
                                           .arguments = &arguments,
                                           .arrival = &arrival});
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

static uint64_t bytes_bound(const mtli_dispatch *dispatch) {
  const size_t *bytes = dispatch->argument_bytes;
  uint64_t sum = 0;
  for (uint32_t i = 0; bytes && i < dispatch->pipeline->kernel->parameter_count;
       ++i) {
    sum += bytes[i];
  }
  return sum;
}

static void describe_dispatch(mtli_trace_arguments *arguments,
                              const mtli_dispatch *dispatch) {
  const mtli_kernel *kernel = dispatch->pipeline->kernel;
  if (dispatch->indirect) {
    mtli_trace_text(arguments, "grid", "indirect");
  } else {
    mtli_trace_sizes(arguments, "grid", dispatch->grid_threads);
  }
  mtli_trace_sizes(arguments, "group", dispatch->group_threads);
  mtli_trace_number(arguments, "bytes bound", bytes_bound(dispatch));
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
      describe_dispatch(arguments, &command->dispatch);
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
    case MTLI_COMMAND_ORDER: return "order";
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

static void add_encoder(mtli_trace_log *log, mtli_trace_track track,
                        const mtl_work_time *shown) {
  mtli_trace_add(
      log, &(mtli_trace_slice){.track = track,
                               .category = "encoder",
                               .name = shown->kind == MTL_WORK_BLIT_ENCODER
                                           ? "blit encoder"
                                           : "compute encoder",
                               .start_ns = shown->start_ns,
                               .end_ns = shown->end_ns});
}

// True if a dispatch has all of its description in mtli_trace_dispatch.
static bool is_plain(const mtli_work_entry *entry) {
  return entry->command->kind == MTLI_COMMAND_DISPATCH &&
         !entry->command->dispatch.indirect && !*entry->shown.debug_group;
}

static void add_dispatch(mtli_trace_log *log, mtli_trace_track track,
                         const mtli_work_entry *entry) {
  const mtl_work_time *shown = &entry->shown;
  const mtli_dispatch *dispatch = &entry->command->dispatch;
  const uint32_t *grid = dispatch->grid_threads;
  const uint32_t *group = dispatch->group_threads;
  mtli_trace_add_dispatch(
      log,
      &(mtli_trace_dispatch){
          .group = {(uint16_t)group[0], (uint16_t)group[1], (uint16_t)group[2]},
          .name = shown->name,
          .start_ns = shown->start_ns,
          .end_ns = shown->end_ns,
          .bytes = bytes_bound(dispatch),
          .track = (uint32_t)track,
          .thread =
              atomic_load_explicit(&entry->times.thread, memory_order_relaxed),
          .line = dispatch->pipeline->kernel->line,
          .grid = {grid[0], grid[1], grid[2]}});
}

static void add_command(mtli_trace_log *log, mtli_trace_track track,
                        const mtli_work_entry *entry) {
  const mtl_work_time *shown = &entry->shown;
  mtli_trace_arguments arguments;
  mtli_trace_clear(&arguments);
  const char *name = describe(entry->command, shown, &arguments);
  const bool is_wait = entry->command->kind == MTLI_COMMAND_WAIT;
  const bool is_signal = entry->command->kind == MTLI_COMMAND_SIGNAL;
  const mtli_trace_arrow arrow = {
      .name = "event",
      .flow = is_wait || is_signal ? flow_of(entry->command) : 0,
      .at_ns = is_wait ? shown->end_ns : shown->start_ns};
  mtli_trace_add(log, &(mtli_trace_slice){
                          .track = track,
                          .category = entry->is_hidden ? "event" : "command",
                          .name = name,
                          .start_ns = shown->start_ns,
                          .end_ns = shown->end_ns,
                          .arguments = &arguments,
                          .arrival = is_wait ? &arrow : NULL,
                          .departure = is_signal ? &arrow : NULL});
}

static void add_command_buffer(mtli_trace_log *log, mtli_trace_track track,
                               const mtli_recording *recording,
                               const mtli_trace_arguments *arguments) {
  const mtl_command_buffer_times *times = &recording->times;
  const uint64_t start_ns =
      times->device_start_ns ? times->device_start_ns : times->kernel_start_ns;
  const uint64_t end_ns =
      times->device_end_ns ? times->device_end_ns : times->kernel_end_ns;
  const mtli_trace_arrow arrival = {
      .name = "commit", .flow = recording->commit_flow, .at_ns = start_ns};
  const mtli_trace_arrow departure = {
      .name = "wait", .flow = recording->wait_flow, .at_ns = end_ns};
  mtli_trace_add(log, &(mtli_trace_slice){.track = track,
                                          .category = "command buffer",
                                          .name = "command buffer",
                                          .start_ns = start_ns,
                                          .end_ns = end_ns,
                                          .arguments = arguments,
                                          .arrival = &arrival,
                                          .departure = &departure});
}

static const char *name_of_work(const mtli_command *command) {
  switch (command->kind) {
    case MTLI_COMMAND_DISPATCH: return command->dispatch.pipeline->name;
    case MTLI_COMMAND_HOST_WORK: return command->host_work.name;
    case MTLI_COMMAND_FILL: return "fill";
    default: return "copy";
  }
}

// What a thread did for a command, if it did all of it.
static void add_work(mtli_trace_log *log, const mtli_work_entry *entry) {
  const uint32_t thread =
      atomic_load_explicit(&entry->times.thread, memory_order_relaxed);
  if (thread) {
    mtli_trace_add(log,
                   &(mtli_trace_slice){.track = thread,
                                       .category = "work",
                                       .name = name_of_work(entry->command),
                                       .start_ns = entry->shown.start_ns,
                                       .end_ns = entry->shown.end_ns});
  }
}

static void add_entries(mtli_trace_log *log, mtli_trace_track first,
                        const mtli_work_times *times) {
  queue_rows rows = {.first = first};
  for (const mtli_work_entry *entry = times->first; entry;
       entry = entry->next) {
    if (!entry->shown.end_ns) {
      continue;  // it did not run
    }
    if (!entry->command) {
      add_encoder(log, first, &entry->shown);
    } else if (is_plain(entry)) {
      add_dispatch(log, row_for(&rows, &entry->shown), entry);
    } else {
      add_command(log, row_for(&rows, &entry->shown), entry);
      add_work(log, entry);
    }
  }
}

void mtli_trace_command_buffer(mtli_recording *recording) {
  if (!mtli_trace_is_on()) {
    return;
  }
  // What takes locks comes before the log is open.
  const mtli_trace_track track = track_of(recording->command_buffer.queue);
  mtli_trace_arguments arguments;
  mtli_trace_clear(&arguments);
  add_label_of(&arguments, recording);
  if (recording->error != MTL_OK) {
    mtli_trace_text(&arguments, "error",
                    recording->error_text ? recording->error_text : "");
  }
  mtli_trace_log *log = mtli_trace_open();
  if (log) {
    add_command_buffer(log, track, recording, &arguments);
    add_entries(log, track, recording->work_times);
    mtli_trace_close(log);
  }
}

// --- On the threads that run commands ----------------------------------------

void mtli_trace_command(const mtli_command *command, uint64_t start_ns,
                        uint64_t end_ns) {
  if (!mtli_trace_is_on()) {
    return;
  }
  mtli_trace_add_alone(&(mtli_trace_slice){.track = MTLI_TRACE_THREAD,
                                           .category = "work",
                                           .name = name_of_work(command),
                                           .start_ns = start_ns,
                                           .end_ns = end_ns});
}

void mtli_trace_whole_command(const mtli_command *command, uint64_t start_ns,
                              uint64_t end_ns) {
  mtli_command_times *times = command->times;
  if (times->is_of_many) {
    mtli_trace_command(command, start_ns, end_ns);
  } else {
    // Relaxed: completion orders it.
    atomic_store_explicit(&times->thread, mtli_trace_thread(),
                          memory_order_relaxed);
  }
}
