// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// dispatch.c: prepares and launches dispatches.
#include <stdlib.h>
#include <string.h>

#include "code/log_abi.h"
#include "drivers/cuda/parts.h"

enum {
  INLINE_ALIGNMENT = 16,
  FEW_BYTES = 16,
  MOST_GROUPS = 65535,  // along y and z in one launch
  MOST_PARAMETERS = 256,
  MOST_PARAMETER_BYTES = 4096,
  MOST_LAUNCHES = 1024,  // handed over together
};

static size_t round_up(size_t bytes) {
  return (bytes + INLINE_ALIGNMENT - 1) / INLINE_ALIGNMENT * INLINE_ALIGNMENT;
}

// --- inline bytes ------------------------------------------------------------

static size_t inline_bytes(const mtli_dispatch *dispatch) {
  size_t bytes = 0;
  for (uint32_t i = 0; i < dispatch->inline_count; i++) {
    bytes += round_up(dispatch->inline_arguments[i].length_bytes);
  }
  return bytes;
}

// Returns where a command keeps the GPU address of its inline bytes: in the
// driver's part.
static uint64_t *inline_address(const mtli_command *command) {
  return mtli_command_data((mtli_command *)command);
}

static void gather_inline(const mtli_command *command, char *target,
                          uint64_t address) {
  const mtli_dispatch *dispatch = &command->dispatch;
  *inline_address(command) = address;
  for (uint32_t i = 0; i < dispatch->inline_count; i++) {
    const mtli_inline_argument *argument = &dispatch->inline_arguments[i];
    memcpy(target, dispatch->arguments[argument->slot], argument->length_bytes);
    target += round_up(argument->length_bytes);
  }
}

// Returns the size of those dispatches' last inline argument, which is their
// only one if they are few.
static size_t last_bytes(const mtli_command *first, const mtli_command *end) {
  size_t bytes = 0;
  for (const mtli_command *c = first; c != end; c = c->next) {
    if (c->kind == MTLI_COMMAND_DISPATCH && c->dispatch.inline_count) {
      bytes = c->dispatch.inline_arguments[c->dispatch.inline_count - 1]
                  .length_bytes;
    }
  }
  return bytes;
}

// Writes a few words by stream commands, which start faster than a copy.
static mtl_status write_few(cuda_worker *worker, const mtli_command *first,
                            const mtli_command *end, size_t bytes,
                            uint64_t address) {
  uint32_t words[FEW_BYTES / sizeof(uint32_t)] = {0};
  size_t at = 0;
  for (const mtli_command *c = first; c != end; c = c->next) {
    if (c->kind == MTLI_COMMAND_DISPATCH) {
      gather_inline(c, (char *)words + at, address + at);
      at += inline_bytes(&c->dispatch);
    }
  }
  CUresult result = CUDA_SUCCESS;
  // Bytes behind the last argument are unused.
  const size_t used = bytes - INLINE_ALIGNMENT + last_bytes(first, end);
  for (size_t i = 0; 4 * i < used && !result; i++) {
    result = cuda.cuStreamWriteValue32(worker->stream, address + 4 * i,
                                       words[i], 0);
  }
  return cuda_done(result, "writing arguments");
}

// Copies the inline bytes of the dispatches from first to end to the GPU, all
// at once.
static mtl_status send_inline(cuda_worker *worker, cuda_list *list,
                              const mtli_command *first,
                              const mtli_command *end) {
  size_t bytes = 0;
  for (const mtli_command *c = first; c != end; c = c->next) {
    bytes += c->kind == MTLI_COMMAND_DISPATCH ? inline_bytes(&c->dispatch) : 0;
  }
  if (!bytes) {
    return MTL_OK;
  }
  uint64_t host, address;
  MTL_TRY(cuda_borrow(list, &worker->device->memory, bytes, &address));
  if (bytes <= FEW_BYTES) {
    return write_few(worker, first, end, bytes, address);
  }
  MTL_TRY(cuda_borrow(list, &worker->device->pinned, bytes, &host));
  size_t at = 0;
  for (const mtli_command *c = first; c != end; c = c->next) {
    if (c->kind == MTLI_COMMAND_DISPATCH) {
      gather_inline(c, (char *)(uintptr_t)host + at, address + at);
      at += inline_bytes(&c->dispatch);
    }
  }
  return cuda_done(cuda.cuMemcpyHtoDAsync(address, (void *)(uintptr_t)host,
                                          bytes, worker->stream),
                   "a copy of arguments");
}

// --- faults and logs ---------------------------------------------------------

static bool has_dispatches(const mtl_command_buffer *command_buffer) {
  for (const mtli_command *c = command_buffer->commands; c; c = c->next) {
    if (c->kind == MTLI_COMMAND_DISPATCH || c->kind == MTLI_COMMAND_EXECUTE) {
      return true;
    }
  }
  return false;
}

mtl_status cuda_dispatches_begin(cuda_worker *worker,
                                 mtl_command_buffer *command_buffer) {
  cuda_list *list = command_buffer->driver_data;
  if (!has_dispatches(command_buffer)) {
    return MTL_OK;
  }
  uint64_t address;
  MTL_TRY(cuda_borrow(list, &worker->device->pinned, sizeof *list->fault,
                      &address));
  list->fault = (mtli_ptx_fault *)(uintptr_t)address;
  memset(list->fault, 0, sizeof *list->fault);
  const mtli_log_header *log = command_buffer->log;
  if (log) {
    list->log_bytes = sizeof *log + log->capacity_bytes;
    MTL_TRY(cuda_borrow(list, &worker->device->pinned, list->log_bytes,
                        &address));
    list->log = (struct mtli_log_header *)(uintptr_t)address;
    memcpy(list->log, log, list->log_bytes);
  }
  return send_inline(worker, list, command_buffer->commands, NULL);
}

// --- launches ----------------------------------------------------------------

typedef struct launch {
  mtli_ptx_launch fixed;
  uint64_t arguments[MOST_PARAMETERS];
} launch;

static mtl_status fill_arguments(const mtli_command *command,
                                 launch *out_launch) {
  const mtli_dispatch *dispatch = &command->dispatch;
  const size_t count = dispatch->pipeline->kernel->parameter_count;
  if (count > MOST_PARAMETERS) {
    return mtli_fail(MTL_UNSUPPORTED, "kernel '%s' has %zu parameters; %d are "
                     "possible", dispatch->pipeline->kernel->name, count,
                     MOST_PARAMETERS);
  }
  for (size_t i = 0; i < count; i++) {
    out_launch->arguments[i] = (uintptr_t)dispatch->arguments[i];
  }
  uint64_t address = *inline_address(command);
  for (uint32_t i = 0; i < dispatch->inline_count; i++) {
    const mtli_inline_argument *argument = &dispatch->inline_arguments[i];
    out_launch->arguments[argument->slot] = address;
    address += round_up(argument->length_bytes);
  }
  return MTL_OK;
}

static uint32_t least(uint32_t a, uint32_t b) {
  return a < b ? a : b;
}

static cuda_node node_of(const mtli_dispatch *dispatch, const cuda_code *code,
                         const launch *l) {
  const uint32_t *group = dispatch->group_threads;
  const uint32_t *count = l->fixed.group_count;
  return (cuda_node){
      .function = code->function,
      .grid = {count[0], least(count[1], MOST_GROUPS),
               least(count[2], MOST_GROUPS)},
      .block = {group[0], group[1], group[2]},
      .shared_bytes = dispatch->threadgroup_bytes,
      .parameter_bytes =
          (uint32_t)(sizeof l->fixed +
                     dispatch->pipeline->kernel->parameter_count *
                         sizeof(uint64_t)),
  };
}

static mtl_status launched(CUresult result, const mtli_dispatch *dispatch) {
  if (result == CUDA_SUCCESS) {
    return MTL_OK;
  }
  const mtl_status status = cuda_done(result, "a launch");
  char text[512];
  strncpy(text, mtl_last_error(), sizeof text - 1);
  text[sizeof text - 1] = '\0';
  return mtli_fail(status, "kernel '%s': %s", dispatch->pipeline->kernel->name,
                   text);
}

// Launches the whole grid, in parts where one launch takes fewer threadgroups.
static mtl_status launch_grid(cuda_worker *worker,
                              const mtli_dispatch *dispatch,
                              const cuda_code *code, launch *l) {
  const uint32_t *count = l->fixed.group_count;
  cuda_node node = node_of(dispatch, code, l);
  CUresult result = CUDA_SUCCESS;
  for (uint32_t z = 0; z < count[2] && !result; z += MOST_GROUPS) {
    for (uint32_t y = 0; y < count[1] && !result; y += MOST_GROUPS) {
      l->fixed.first_group[0] = y;
      l->fixed.first_group[1] = z;
      node.grid[1] = least(count[1] - y, MOST_GROUPS);
      node.grid[2] = least(count[2] - z, MOST_GROUPS);
      result = cuda_launch(worker, &node, l);
    }
  }
  return launched(result, dispatch);
}

// Reads how many threadgroups an indirect dispatch is of. False if none.
static mtl_status read_counts(const cuda_worker *worker,
                              const mtli_dispatch *dispatch,
                              uint32_t out_count[3]) {
  MTL_TRY(cuda_done(
      cuda.cuMemcpyDtoHAsync(
          out_count,
          dispatch->indirect->gpu_address + dispatch->indirect_offset_bytes,
          3 * sizeof *out_count, worker->stream),
      "reading the size of an indirect dispatch"));
  return cuda_stream_finish(worker);
}

// Sets the sizes of the grid. False if it is empty.
static mtl_status find_grid(const cuda_worker *worker,
                            const mtli_dispatch *dispatch, launch *l,
                            bool *out_is_empty) {
  uint32_t *count = l->fixed.group_count;
  const uint32_t *group = dispatch->group_threads;
  *out_is_empty = false;
  if (!dispatch->indirect) {
    for (int i = 0; i < 3; i++) {
      l->fixed.grid_threads[i] = dispatch->grid_threads[i];
      count[i] = (uint32_t)(((uint64_t)dispatch->grid_threads[i] + group[i] -
                             1) / group[i]);
    }
    return MTL_OK;
  }
  MTL_TRY(read_counts(worker, dispatch, count));
  uint64_t groups = 1;
  bool is_too_large = false;
  for (int i = 0; i < 3; i++) {
    const uint64_t threads = (uint64_t)count[i] * group[i];
    *out_is_empty |= count[i] == 0;
    groups = groups > UINT32_MAX ? groups : groups * count[i];
    is_too_large |= threads > UINT32_MAX || groups > UINT32_MAX;
    l->fixed.grid_threads[i] = (uint32_t)threads;
  }
  return is_too_large && !*out_is_empty
             ? mtli_fail(MTL_INVALID_ARGUMENT,
                         "kernel '%s': an indirect dispatch of %u x %u x %u "
                         "threadgroups is too large: 2^32 - 1 of them, and "
                         "threads along each side, are possible",
                         dispatch->pipeline->kernel->name, count[0], count[1],
                         count[2])
             : MTL_OK;
}

// Checks whether a kernel with assertions has stopped itself: later work does
// not run then.
static mtl_status check_stop(cuda_worker *worker, cuda_list *list,
                             const mtli_dispatch *dispatch) {
  MTL_TRY(cuda_stream_finish(worker));
  list->stopped = dispatch->pipeline;
  list->dispatch = dispatch;
  cuda_fault_note(worker, list);
  list->dispatch = NULL;
  return MTL_OK;
}

// Finds the code for a launch whose grid is known. Code that does not stop is
// told of no record, so that its parameters stay the same.
static mtl_status find_code(const cuda_list *list,
                            const mtli_dispatch *dispatch, launch *l,
                            const cuda_code **out_code) {
  MTL_TRY(cuda_code_find((cuda_pipeline *)dispatch->pipeline,
                         l->fixed.grid_threads, dispatch->group_threads,
                         out_code));
  l->fixed.fault = (*out_code)->may_stop ? (uintptr_t)list->fault : 0;
  return MTL_OK;
}

// True if a dispatch can be one of several that are handed over together.
static bool is_plain(const mtli_command *command) {
  return command->kind == MTLI_COMMAND_DISPATCH && !command->times &&
         !command->dispatch.indirect &&
         !(command->dispatch.inline_count && !*inline_address(command));
}

// Adds a dispatch's launch to those that are handed over together. *out_is_alone
// if it cannot be one of them.
static mtl_status gather(cuda_worker *worker, const cuda_list *list,
                         const mtli_command *command, bool *out_is_alone) {
  const mtli_dispatch *dispatch = &command->dispatch;
  launch l;
  l.fixed = (mtli_ptx_launch){.log = (uintptr_t)list->log};
  bool is_empty;
  const cuda_code *code;
  MTL_TRY(find_grid(worker, dispatch, &l, &is_empty));
  MTL_TRY(find_code(list, dispatch, &l, &code));
  *out_is_alone = code->may_stop || l.fixed.group_count[1] > MOST_GROUPS ||
                  l.fixed.group_count[2] > MOST_GROUPS;
  if (*out_is_alone) {
    return MTL_OK;
  }
  MTL_TRY(fill_arguments(command, &l));
  const cuda_node node = node_of(dispatch, code, &l);
  void *parameters;
  cuda_node *made = cuda_launches_add(&worker->launches, node.parameter_bytes,
                                      &parameters);
  if (!made) {
    return mtli_fail(MTL_OUT_OF_MEMORY, "no memory for launches");
  }
  *made = node;
  memcpy(parameters, &l, node.parameter_bytes);
  return MTL_OK;
}

mtl_status cuda_dispatches_run(cuda_worker *worker,
                               mtl_command_buffer *command_buffer,
                               mtli_command *command,
                               mtli_command **out_next) {
  cuda_list *list = command_buffer->driver_data;
  worker->launches.count = worker->launches.parameter_bytes = 0;
  bool is_alone = false;
  mtl_status status = MTL_OK;
  mtli_command *at = command;
  while (status == MTL_OK && at && is_plain(at) &&
         !atomic_load_explicit(&command_buffer->is_cancelled,
                               memory_order_relaxed) &&
         worker->launches.count < MOST_LAUNCHES) {
    status = gather(worker, list, at, &is_alone);
    if (is_alone || status != MTL_OK) {
      break;
    }
    at = at->next;
  }
  *out_next = at;
  if (at != command) {
    cuda_work_starts(worker, list);
    MTL_TRY(launched(cuda_launches_run(worker), &command->dispatch));
  }
  return status;
}

mtl_status cuda_dispatch_run(cuda_worker *worker,
                             mtl_command_buffer *command_buffer,
                             const mtli_command *command) {
  const mtli_dispatch *dispatch = &command->dispatch;
  cuda_list *list = command_buffer->driver_data;
  launch l;  // every argument that the kernel has is set
  l.fixed = (mtli_ptx_launch){.log = (uintptr_t)list->log};
  bool is_empty;
  MTL_TRY(find_grid(worker, dispatch, &l, &is_empty));
  if (is_empty) {
    return MTL_OK;
  }
  if (dispatch->inline_count && !*inline_address(command)) {
    // An indirect command buffer's inline bytes are known only now.
    MTL_TRY(send_inline(worker, list, command, command->next));
  }
  MTL_TRY(fill_arguments(command, &l));
  const cuda_code *code;
  MTL_TRY(find_code(list, dispatch, &l, &code));
  if (code->asks) {
    MTL_TRY(cuda_ranges_send(worker, list, dispatch, l.arguments,
                             &l.fixed.ranges));
  }
  cuda_work_starts(worker, list);
  MTL_TRY(launch_grid(worker, dispatch, code, &l));
  return code->may_stop ? check_stop(worker, list, dispatch) : MTL_OK;
}
