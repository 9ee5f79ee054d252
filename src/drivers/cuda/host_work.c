// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// host_work.c: runs host work in queue order. It accesses pinned and managed
// memory in place, and copies of buffers that only the GPU can access.
#include <stdlib.h>

#include "base/futex.h"
#include "drivers/cuda/parts.h"

// One buffer's copy, from the address on that the host work was given.
typedef struct copy {
  void **place;  // in the addresses
  void *device;
  void *host;
  size_t bytes;
} copy;

typedef struct copies {
  cuda_worker *worker;
  copy *items;  // [count]
  size_t count;
} copies;

// Returns the buffer, of a command buffer's, at an address that the host cannot
// read.
static const mtl_buffer *find_hidden(const mtl_command_buffer *command_buffer,
                                     uint64_t address) {
  for (size_t i = 0; i < command_buffer->buffer_count; i++) {
    const mtl_buffer *buffer = command_buffer->buffers[i];
    if (cuda_buffer_is_hidden(buffer) && address >= buffer->gpu_address &&
        address - buffer->gpu_address < buffer->length_bytes) {
      return buffer;
    }
  }
  return NULL;
}

static mtl_status copy_in(copies *all, const mtl_buffer *buffer, void **place) {
  copy *grown = realloc(all->items, (all->count + 1) * sizeof *grown);
  if (!grown) {
    return mtli_fail(MTL_OUT_OF_MEMORY, "no memory for host work");
  }
  all->items = grown;
  copy *made = &all->items[all->count];
  *made = (copy){
      .place = place,
      .device = *place,
      .bytes = buffer->length_bytes -
               ((uintptr_t)*place - (size_t)buffer->gpu_address)};
  made->host = malloc(made->bytes);
  if (!made->host) {
    return mtli_fail(MTL_OUT_OF_MEMORY, "host work needs %zu bytes for a copy "
                     "of a buffer of the device's", made->bytes);
  }
  all->count++;
  MTL_TRY(cuda_done(cuda.cuMemcpyDtoHAsync(made->host, (uintptr_t)made->device,
                                           made->bytes, all->worker->stream),
                    "a copy to the host"));
  *place = made->host;
  return MTL_OK;
}

// Copies back to the GPU, and restores the addresses.
static mtl_status copy_out(copies *all, bool is_done) {
  mtl_status status = MTL_OK;
  for (size_t i = 0; i < all->count; i++) {
    const copy *c = &all->items[i];
    if (is_done && status == MTL_OK) {
      status = cuda_done(
          cuda.cuMemcpyHtoDAsync((uintptr_t)c->device, c->host, c->bytes,
                                 all->worker->stream),
          "a copy to the device");
    }
    *c->place = c->device;
  }
  const mtl_status finished = cuda_stream_finish(all->worker);
  for (size_t i = 0; i < all->count; i++) {
    free(all->items[i].host);
  }
  free(all->items);
  return status == MTL_OK ? finished : status;
}

static mtl_status run(const mtli_host_work *work) {
  void *scratch = aligned_alloc(64, (work->scratch_bytes + 64) / 64 * 64);
  if (!scratch) {
    return mtli_fail(MTL_OUT_OF_MEMORY, "host work '%s' needs %zu bytes",
                     work->name, work->scratch_bytes);
  }
  work->function(work->arguments, work->addresses, scratch, 0,
                 work->piece_count);
  free(scratch);
  return MTL_OK;
}

// The function puts its work on the stream itself. The last call's failure is
// reported if the function has none of its own.
static mtl_status run_native(cuda_worker *worker, const mtli_host_work *work) {
  uint64_t few[8] = {0};
  uint64_t *addresses =
      work->buffer_count <= sizeof few / sizeof *few
          ? few
          : malloc(work->buffer_count * sizeof *addresses);
  if (!addresses) {
    return mtli_fail(MTL_OUT_OF_MEMORY, "no memory for '%s'", work->name);
  }
  for (uint32_t i = 0; i < work->buffer_count; i++) {
    addresses[i] = (uintptr_t)work->addresses[i];
  }
  const mtl_status status =
      work->native(work->arguments, addresses, worker->stream);
  if (addresses != few) {
    free(addresses);
  }
  return status;
}

mtl_status cuda_host_work_run(cuda_worker *worker,
                              mtl_command_buffer *command_buffer,
                              const mtli_command *command) {
  const mtli_host_work *work = &command->host_work;
  if (work->native) {
    return run_native(worker, work);
  }
  copies all = {.worker = worker};
  mtl_status status = MTL_OK;
  for (void **place = work->addresses;
       status == MTL_OK && place < work->addresses + work->buffer_count;
       place++) {
    const mtl_buffer *hidden =
        find_hidden(command_buffer, (uintptr_t)*place);
    status = hidden ? copy_in(&all, hidden, place) : MTL_OK;
  }
  if (status == MTL_OK) {
    status = cuda_stream_finish(worker);
  }
  if (status == MTL_OK) {
    status = run(work);
  }
  const mtl_status copied = copy_out(&all, status == MTL_OK);
  return status == MTL_OK ? copied : status;
}
