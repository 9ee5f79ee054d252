// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// work_times.c: collects when each encoder and command of a command buffer ran,
// on request. Commands are numbered as they are recorded, the driver writes the
// times of each, and completion combines them.
#include <stdlib.h>
#include <string.h>

#include "runtime/record/counters.h"

mtli_work_times *mtli_work_times_create(mtli_arena_pool *pool) {
  // malloc takes memory that this thread freed from the thread's own cache;
  // glibc's calloc does not look there.
  mtli_work_times *times = malloc(sizeof *times);
  if (times) {
    *times = (mtli_work_times){.arena.pool = pool};
  }
  return times;
}

void mtli_work_times_free(mtli_work_times *times) {
  if (times) {
    mtli_arena_clear(&times->arena);
    free(times);
  }
}

static mtli_work_entry *append(mtli_recording *recording) {
  mtli_work_times *times = recording->work_times;
  mtli_work_entry *entry = mtli_arena_allocate(&times->arena, sizeof *entry);
  if (!entry) {
    mtli_recording_fail(recording, MTL_OUT_OF_MEMORY,
                        "no memory to keep the times of work");
    return NULL;
  }
  if (times->last) {
    times->last->next = entry;
  } else {
    times->first = entry;
  }
  times->last = entry;
  entry->shown.name = entry->shown.debug_group = "";
  return entry;
}

void mtli_work_times_open(mtli_recording *recording, mtl_work_kind kind) {
  mtli_work_times *times = recording->work_times;
  mtli_work_entry *entry = append(recording);
  if (entry) {
    entry->shown.kind = kind;
    entry->shown.encoder = times->encoder_count;
    times->count++;
  }
  times->encoder_count++;
  times->is_encoding = true;
}

void mtli_work_times_close(mtli_recording *recording) {
  recording->work_times->is_encoding = false;
}

// Finds the kind that a command counts as; false if times of such commands are
// not reported.
static bool find_kind(mtli_command_kind kind, mtl_work_kind *out_kind) {
  switch (kind) {
    case MTLI_COMMAND_DISPATCH: *out_kind = MTL_WORK_DISPATCH; return true;
    case MTLI_COMMAND_EXECUTE: *out_kind = MTL_WORK_EXECUTE; return true;
    case MTLI_COMMAND_EDIT_INDIRECT:
    case MTLI_COMMAND_COPY:
    case MTLI_COMMAND_COPY_BOX: *out_kind = MTL_WORK_COPY; return true;
    case MTLI_COMMAND_FILL:
    case MTLI_COMMAND_UPDATE: *out_kind = MTL_WORK_FILL; return true;
    case MTLI_COMMAND_SYNCHRONIZE:
      *out_kind = MTL_WORK_SYNCHRONIZE;
      return true;
    case MTLI_COMMAND_HOST_WORK: *out_kind = MTL_WORK_HOST_WORK; return true;
    default: return false;
  }
}

void mtli_work_times_add(mtli_recording *recording, mtli_command *command) {
  mtli_work_times *times = recording->work_times;
  mtl_work_kind kind = MTL_WORK_HOST_WORK;
  const bool is_event = command->kind == MTLI_COMMAND_WAIT ||
                        command->kind == MTLI_COMMAND_SIGNAL;
  mtli_work_entry *entry =
      find_kind(command->kind, &kind) || (is_event && mtli_trace_is_on())
          ? append(recording)
          : NULL;
  if (entry) {
    entry->command = command;
    entry->is_hidden = is_event;
    entry->times.is_of_many = command->kind == MTLI_COMMAND_EXECUTE;
    times->count += !is_event;
    entry->shown.kind = kind;
    entry->shown.encoder =
        times->is_encoding ? times->encoder_count - 1 : MTL_NO_ENCODER;
    command->times = &entry->times;
  }
}

static const char *copy(mtli_work_times *times, const char *text) {
  const char *kept =
      text ? mtli_arena_copy_text(&times->arena, text, strlen(text)) : NULL;
  return kept ? kept : "";
}

void mtli_work_times_seal(mtli_recording *recording) {
  mtli_work_times *times = recording->work_times;
  for (mtli_work_entry *entry = times->first; entry; entry = entry->next) {
    const mtli_command *command = entry->command;
    if (command && command->kind == MTLI_COMMAND_DISPATCH) {
      const mtli_dispatch *dispatch = &command->dispatch;
      entry->shown.name = dispatch->pipeline->name;
      entry->shown.debug_group = copy(times, dispatch->debug_group);
    } else if (command && command->kind == MTLI_COMMAND_EXECUTE) {
      entry->shown.debug_group = copy(times, command->execute.debug_group);
    } else if (command && command->kind == MTLI_COMMAND_HOST_WORK) {
      entry->shown.name = copy(times, command->host_work.name);
    }
  }
  times->shown =
      mtli_arena_allocate(&times->arena, times->count * sizeof *times->shown);
  if (!times->shown) {
    mtli_recording_fail(recording, MTL_OUT_OF_MEMORY,
                        "no memory to keep the times of work");
  }
}

void mtli_work_times_finish(mtli_work_times *times) {
  mtl_work_time *encoder = NULL;
  for (mtli_work_entry *entry = times->first; entry; entry = entry->next) {
    mtl_work_time *shown = &entry->shown;
    if (!entry->command) {
      encoder = shown;
      continue;
    }
    shown->start_ns =
        atomic_load_explicit(&entry->times.start_ns, memory_order_relaxed);
    shown->end_ns =
        atomic_load_explicit(&entry->times.end_ns, memory_order_relaxed);
    if (shown->encoder == MTL_NO_ENCODER || !shown->end_ns) {
      continue;
    }
    if (!encoder->start_ns || shown->start_ns < encoder->start_ns) {
      encoder->start_ns = shown->start_ns;
    }
    if (shown->end_ns > encoder->end_ns) {
      encoder->end_ns = shown->end_ns;
    }
  }
  mtl_work_time *next = times->shown;
  for (const mtli_work_entry *entry = times->first; next && entry;
       entry = entry->next) {
    if (!entry->is_hidden) {
      *next++ = entry->shown;
    }
  }
}

const mtl_work_time *mtl_command_buffer_work_times(
    const mtl_command_buffer *command_buffer, size_t *out_count) {
  const mtli_recording *recording = mtli_recording_of(command_buffer);
  const mtli_work_times *times = recording->work_times;
  const mtl_command_buffer_status status =
      mtl_command_buffer_get_status(command_buffer);
  // A failed commit has its status at once, and its list later.
  const bool is_there =
      times && times->shown &&
      (status == MTL_COMMAND_BUFFER_COMPLETED ||
       (status == MTL_COMMAND_BUFFER_ERROR &&
        // pairs with the release in completion.c
        atomic_load_explicit(&recording->progress, memory_order_acquire) >=
            MTLI_PROGRESS_EXECUTED));
  if (out_count) {
    *out_count = is_there ? times->count : 0;
  }
  return is_there ? times->shown : NULL;
}
