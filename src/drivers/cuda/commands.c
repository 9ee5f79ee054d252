// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// commands.c: submits a command buffer's commands to the stream, which keeps
// their order. What only the host can do waits for the stream first: reading
// the counts of an indirect dispatch, host work, waits for events.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/futex.h"
#include "code/log_abi.h"
#include "drivers/cuda/cuda.h"
#include "drivers/cuda/parts.h"

mtl_status cuda_commands_prepare(mtl_command_buffer *command_buffer) {
  // Makes the dispatch's code here, before its turn comes.
  for (mtli_command *command = command_buffer->commands;
       command && !command_buffer->is_failed; command = command->next) {
    const mtli_dispatch *dispatch = &command->dispatch;
    if (command->kind == MTLI_COMMAND_DISPATCH && !dispatch->indirect) {
      const cuda_code *code;
      MTL_TRY(cuda_code_find((cuda_pipeline *)dispatch->pipeline,
                             dispatch->grid_threads, dispatch->group_threads,
                             &code));
    }
  }
  return MTL_OK;
}

void cuda_commands_clear(mtl_command_buffer *command_buffer) {
  cuda_list *list = command_buffer->driver_data;
  if (!mtli_device_is_inherited(command_buffer->queue->device)) {
    cuda_enter(cuda_device_of(command_buffer->queue->device));
    cuda_list_settle(list);
    cuda_leave();
  }
  cuda_log_forget(list);
  free(list->text);
  list->text = NULL;
}

void cuda_list_fail(cuda_list *list, mtl_status status, const char *text) {
  if (list->status == MTL_OK) {
    list->status = status;
    list->text = strdup(text);
  }
}

void cuda_list_settle(cuda_list *list) {
  while (list->loans) {
    cuda_loan *loan = list->loans;
    list->loans = loan->next;
    cuda_piece_give(loan->slabs, loan->bytes, loan->address);
    free(loan);
  }
}

mtl_status cuda_borrow(cuda_list *list, cuda_slabs *slabs, size_t bytes,
                       uint64_t *out_address) {
  cuda_loan *loan = calloc(1, sizeof *loan);
  if (!loan) {
    return mtli_fail(MTL_OUT_OF_MEMORY, "no memory for commands");
  }
  const mtl_status status = cuda_piece_take(slabs, bytes, &loan->address);
  if (status != MTL_OK) {
    free(loan);
    return status;
  }
  loan->slabs = slabs;
  loan->bytes = bytes;
  loan->next = list->loans;
  list->loans = loan;
  *out_address = loan->address;
  return MTL_OK;
}

mtl_status cuda_stream_finish(const cuda_worker *worker) {
  return cuda_done(cuda.cuStreamSynchronize(worker->stream),
                   "waiting for the stream");
}

// --- blits -------------------------------------------------------------------

// Copies between two places of the host's may not keep the stream's order
// unless both are pinned.
static bool may_overtake(const mtl_buffer *source, const mtl_buffer *target) {
  return !cuda_buffer_is_hidden(source) && !cuda_buffer_is_hidden(target) &&
         (cuda_client_memory_is_pageable(source) ||
          cuda_client_memory_is_pageable(target));
}

static mtl_status run_copy(const cuda_worker *worker,
                           const mtli_command *command) {
  if (may_overtake(command->copy.source, command->copy.target)) {
    MTL_TRY(cuda_stream_finish(worker));
  }
  return cuda_done(
      cuda.cuMemcpyAsync(
          command->copy.target->gpu_address +
              command->copy.target_offset_bytes,
          command->copy.source->gpu_address + command->copy.source_offset_bytes,
          command->copy.length_bytes, worker->stream),
      "a copy");
}

// Rows of one image.
static CUresult copy_rows(const cuda_worker *worker, const mtli_command *command,
                          uint32_t image) {
  const mtli_box_side *source = &command->copy_box.source;
  const mtli_box_side *target = &command->copy_box.target;
  const size_t row_bytes = command->copy_box.row_bytes;
  const bool is_one = command->copy_box.rows == 1;
  const CUDA_MEMCPY3D copy = {
      .srcMemoryType = CU_MEMORYTYPE_UNIFIED,
      .srcDevice = source->buffer->gpu_address + source->offset_bytes +
                   image * source->image_pitch,
      .srcPitch = is_one ? row_bytes : source->row_pitch,
      .srcHeight = command->copy_box.rows,
      .dstMemoryType = CU_MEMORYTYPE_UNIFIED,
      .dstDevice = target->buffer->gpu_address + target->offset_bytes +
                   image * target->image_pitch,
      .dstPitch = is_one ? row_bytes : target->row_pitch,
      .dstHeight = command->copy_box.rows,
      .WidthInBytes = row_bytes,
      .Height = command->copy_box.rows,
      .Depth = 1,
  };
  return cuda.cuMemcpy3DAsync(&copy, worker->stream);
}

static mtl_status run_copy_box(const cuda_worker *worker,
                               const mtli_command *command) {
  CUresult result = CUDA_SUCCESS;
  for (uint32_t i = 0; i < command->copy_box.images && !result; i++) {
    result = copy_rows(worker, command, i);
  }
  return cuda_done(result, "a copy of rows");
}

// Fills the middle by words, whose addresses are multiples of 4, the ends by
// bytes.
static mtl_status run_fill(const cuda_worker *worker,
                           const mtli_command *command) {
  const uint8_t *pattern = command->fill.pattern;
  uint64_t at = command->fill.buffer->gpu_address + command->fill.offset_bytes;
  size_t rest = command->fill.length_bytes;
  CUresult result = CUDA_SUCCESS;
  if (pattern[0] == pattern[1] && pattern[0] == pattern[2] &&
      pattern[0] == pattern[3]) {
    return cuda_done(
        cuda.cuMemsetD8Async(at, pattern[0], rest, worker->stream), "a fill");
  }
  unsigned place = 0;  // in the pattern
  for (; rest > 0 && at % 4 && !result; at++, rest--, place++) {
    result = cuda.cuMemsetD8Async(at, pattern[place % 4], 1, worker->stream);
  }
  if (rest >= 4 && !result) {
    uint32_t word = 0;
    for (unsigned i = 0; i < 4; i++) {
      word |= (uint32_t)pattern[(place + i) % 4] << (8 * i);
    }
    result = cuda.cuMemsetD32Async(at, word, rest / 4, worker->stream);
    at += rest / 4 * 4;
    rest %= 4;
  }
  for (; rest > 0 && !result; at++, rest--, place++) {
    result = cuda.cuMemsetD8Async(at, pattern[place % 4], 1, worker->stream);
  }
  return cuda_done(result, "a fill");
}

// Copies bytes of the list, which lives until the stream has read them.
static mtl_status run_update(const cuda_worker *worker,
                             const mtli_command *command) {
  return cuda_done(
      cuda.cuMemcpyHtoDAsync(
          command->update.buffer->gpu_address + command->update.offset_bytes,
          command->update.bytes, command->update.length_bytes, worker->stream),
      "an update");
}

static mtl_status run_synchronize(const cuda_worker *worker,
                                  const mtli_command *command) {
  mtl_buffer *buffer = command->synchronize.buffer;
  if (buffer->storage_mode != MTL_STORAGE_MANAGED) {
    return MTL_OK;
  }
  return cuda_done(
      cuda.cuMemcpyDtoHAsync(buffer->contents, buffer->gpu_address,
                             buffer->length_bytes, worker->stream),
      "a copy to the host");
}

static mtl_status run_sample(const cuda_worker *worker,
                             const mtli_command *command) {
  uint64_t address =
      command->sample.buffer->gpu_address + command->sample.offset_bytes;
  size_t bytes = sizeof address;
  void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &address,
                   CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END};
  return cuda_done(cuda.cuLaunchKernel(worker->device->clock, 1, 1, 1, 1, 1, 1,
                                       0, worker->stream, NULL, extra),
                   "a sample of the clock");
}

// --- the list ----------------------------------------------------------------

// Prefetches large shared buffers to the GPU: kernels that fault page by page
// take many times as long.
static void prefetch(const cuda_worker *worker, mtl_buffer *const *buffers,
                     size_t count) {
  for (size_t i = 0; i < count; i++) {
    cuda_buffer *buffer = (cuda_buffer *)buffers[i];
    // Relaxed: doing it twice is harmless.
    if (buffer->home == CUDA_MANAGED &&
        !atomic_load_explicit(&buffer->was_prefetched, memory_order_relaxed)) {
      atomic_store_explicit(&buffer->was_prefetched, true,
                            memory_order_relaxed);
      cuda.cuMemPrefetchAsync(buffer->buffer.gpu_address,
                              buffer->buffer.length_bytes, worker->device->gpu,
                              worker->stream);
    }
  }
}

// True if the stream does nothing with buffers but copy them.
static bool only_copies(const mtl_command_buffer *command_buffer) {
  for (const mtli_command *c = command_buffer->commands; c; c = c->next) {
    switch (c->kind) {
      case MTLI_COMMAND_COPY:
      case MTLI_COMMAND_WAIT:
      case MTLI_COMMAND_SIGNAL:
      case MTLI_COMMAND_ORDER: break;
      default: return false;
    }
  }
  return true;
}

static mtl_status pin(mtl_buffer *const *buffers, size_t count) {
  for (size_t i = 0; i < count; i++) {
    MTL_TRY(cuda_client_memory_pin(buffers[i]));
  }
  return MTL_OK;
}

// Pins the clients' memory that kernels may use.
static mtl_status pin_all(const mtl_command_buffer *command_buffer) {
  if (only_copies(command_buffer)) {
    return MTL_OK;
  }
  MTL_TRY(pin(command_buffer->buffers, command_buffer->buffer_count));
  for (size_t i = 0; i < command_buffer->resident_count; i++) {
    MTL_TRY(pin(command_buffer->residents[i]->buffers,
                command_buffer->residents[i]->count));
  }
  return MTL_OK;
}

static bool is_over(const mtl_command_buffer *command_buffer) {
  const cuda_list *list = command_buffer->driver_data;
  return command_buffer->is_failed || list->status != MTL_OK ||
         mtli_stop_reason(command_buffer);
}

// True if parts of the command buffer are timed by marks: its own times are
// then, too, since two clocks differ by some microseconds.
static bool has_times(const mtl_command_buffer *command_buffer) {
  for (const mtli_command *c = command_buffer->commands; c; c = c->next) {
    if (c->times || c->kind == MTLI_COMMAND_SAMPLE) {
      return true;
    }
  }
  return false;
}

// Prepares the command buffer's memory and code.
static mtl_status begin_work(cuda_worker *worker,
                             mtl_command_buffer *command_buffer) {
  cuda_list *list = command_buffer->driver_data;
  if (list->begun_ns) {
    return MTL_OK;
  }
  list->begun_ns = mtli_now_ns();
  list->is_marked = has_times(command_buffer);
  prefetch(worker, command_buffer->buffers, command_buffer->buffer_count);
  for (size_t i = 0; i < command_buffer->resident_count; i++) {
    prefetch(worker, command_buffer->residents[i]->buffers,
             command_buffer->residents[i]->count);
  }
  MTL_TRY(pin_all(command_buffer));
  return cuda_dispatches_begin(worker, command_buffer);
}

// An idle stream begins at once: then the host's time is as good as a mark's,
// which costs the stream 1.6 us and the host 1.2.
void cuda_work_starts(cuda_worker *worker, cuda_list *list) {
  if (!list->is_started && !list->is_marked && cuda_stream_is_idle(worker)) {
    list->start_ns = mtli_now_ns();
  } else if (!list->is_started) {
    list->start = cuda_mark_place(worker, CUDA_MARK_TIME);
  }
  list->is_started = true;
  if (list->is_command_timed && !list->command_start) {
    list->command_start = cuda_mark_place(worker, CUDA_MARK_TIME);
  }
}

// Waits until the event has come or the command buffer is cancelled.
static void run_wait(const mtl_command_buffer *command_buffer,
                     const mtli_command *command) {
  enum { LOOK_NS = 1000 * 1000, SPIN_NS = 50 * 1000 };
  if (command->times) {
    mtli_command_starts(command->times, mtli_now_ns());
  }
  // Another queue's signal is probably near.
  const uint64_t end_ns = mtli_now_ns() + SPIN_NS;
  while (mtli_host_event_value(command->event.event) < command->event.value &&
         mtli_now_ns() < end_ns) {
    mtli_pause();
  }
  while (!is_over(command_buffer) &&
         mtli_host_event_wait(command->event.event, command->event.value, LOOK_NS) !=
             MTL_OK) {
  }
  if (command->times) {
    mtli_command_ends(command->times, mtli_now_ns());
  }
}

// Replaces an execution by its dispatches.
static mtl_status run_execute(const cuda_worker *worker,
                              mtl_command_buffer *command_buffer,
                              mtli_command *command, mtli_command **out_next) {
  const mtli_execute *execute = &command->execute;
  uint32_t range[2] = {execute->first, execute->count};
  if (execute->range) {
    MTL_TRY(cuda_done(
        cuda.cuMemcpyDtoHAsync(
            range, execute->range->gpu_address + execute->range_offset_bytes,
            sizeof range, worker->stream),
        "reading a range of commands"));
    MTL_TRY(cuda_stream_finish(worker));
  }
  mtli_command *first = NULL;
  const mtl_status status = mtli_execution_begin(command_buffer, command,
                                                 range[0], range[1], &first);
  *out_next = first;
  for (mtli_command *made = first; made && made != command->next;
       made = made->next) {
    made->times = command->times;
  }
  return status;
}

static mtl_status run_work(cuda_worker *worker,
                           mtl_command_buffer *command_buffer,
                           mtli_command *command, mtli_command **out_next) {
  if (command->kind != MTLI_COMMAND_DISPATCH) {
    cuda_work_starts(worker, command_buffer->driver_data);
  }
  switch (command->kind) {
    case MTLI_COMMAND_DISPATCH:
      MTL_TRY(cuda_dispatches_run(worker, command_buffer, command, out_next));
      if (*out_next != command) {
        return MTL_OK;
      }
      *out_next = command->next;
      return cuda_dispatch_run(worker, command_buffer, command);
    case MTLI_COMMAND_COPY: return run_copy(worker, command);
    case MTLI_COMMAND_COPY_BOX: return run_copy_box(worker, command);
    case MTLI_COMMAND_FILL: return run_fill(worker, command);
    case MTLI_COMMAND_UPDATE: return run_update(worker, command);
    case MTLI_COMMAND_SYNCHRONIZE: return run_synchronize(worker, command);
    case MTLI_COMMAND_HOST_WORK:
      return cuda_host_work_run(worker, command_buffer, command);
    case MTLI_COMMAND_EXECUTE:
      return run_execute(worker, command_buffer, command, out_next);
    case MTLI_COMMAND_EDIT_INDIRECT:
      mtli_edit_indirect_commands(&command->edit);
      return MTL_OK;
    case MTLI_COMMAND_SAMPLE: return run_sample(worker, command);
    case MTLI_COMMAND_WAIT:
    case MTLI_COMMAND_SIGNAL:
    case MTLI_COMMAND_ORDER: break;
  }
  return MTL_OK;
}

// An execution's times are those of its dispatches.
static bool is_timed(const mtli_command *command, const mtli_command *next) {
  return command->times &&
         (command->kind != MTLI_COMMAND_EXECUTE || next == command->next);
}

static void run_command(cuda_worker *worker, mtl_command_buffer *command_buffer,
                        mtli_command *command, mtli_command **out_next) {
  cuda_list *list = command_buffer->driver_data;
  mtl_status status = cuda_lost_text()
                          ? mtli_fail(MTL_KERNEL_FAULT, "%s", cuda_lost_text())
                          : begin_work(worker, command_buffer);
  list->is_command_timed = command->times != NULL;
  if (status == MTL_OK) {
    status = run_work(worker, command_buffer, command, out_next);
  }
  if (status != MTL_OK) {
    cuda_list_fail(list, status, mtl_last_error());
  }
  if (status == MTL_OK && is_timed(command, *out_next)) {
    cuda_work_starts(worker, list);
    cuda_mark *start = list->command_start;
    list->command_start = NULL;
    cuda_step_add(worker, &(cuda_step){.kind = CUDA_STEP_TIMES,
                                       .start = start,
                                       .mark = cuda_mark_place(worker,
                                                               CUDA_MARK_TIME),
                                       .times = command->times});
  } else if (list->command_start) {
    cuda_mark_free(worker, list->command_start);
    list->command_start = NULL;
  }
}

void cuda_commands_run(cuda_worker *worker,
                       mtl_command_buffer *command_buffer) {
  cuda_list *list = command_buffer->driver_data;
  mtli_command_buffer_scheduled(command_buffer);
  mtli_command *next;
  for (mtli_command *command = command_buffer->commands; command;
       command = next) {
    next = command->next;
    if (command->kind == MTLI_COMMAND_SIGNAL) {
      if (command->times && !is_over(command_buffer)) {
        const uint64_t now_ns = mtli_now_ns();
        mtli_command_starts(command->times, now_ns);
        mtli_command_ends(command->times, now_ns);
      }
      mtl_event *event = command->event.event;
      cuda_step_add(worker,
                    &(cuda_step){.kind = CUDA_STEP_SIGNAL,
                                 .mark = list->begun_ns
                                             ? cuda_mark_place(
                                                   worker, CUDA_MARK_PLACE)
                                             : NULL,
                                 .event = event,
                                 .value = command->event.value});
    } else if (command->kind == MTLI_COMMAND_WAIT) {
      run_wait(command_buffer, command);
    } else if (!is_over(command_buffer)) {
      run_command(worker, command_buffer, command, &next);
    }
  }
  if (list->begun_ns) {
    cuda_work_starts(worker, list);
  }
  // What stops itself is known by now (check_stop); a fault that is not ends
  // all work of the device.
  if (is_over(command_buffer)) {
    atomic_store(&command_buffer->has_failed, true);
  }
  cuda_step_add(
      worker,
      &(cuda_step){.kind = CUDA_STEP_END,
                   .start = list->start,
                   .start_ns = list->start_ns,
                   .mark = list->begun_ns
                               ? cuda_mark_place(worker, CUDA_MARK_END)
                               : NULL,
                   .command_buffer = command_buffer});
}
