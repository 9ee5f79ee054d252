// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ranges.c: builds a table on the GPU of the memory that a kernel compiled for
// debugging may access.
#include <stdlib.h>
#include <string.h>

#include "drivers/cuda/parts.h"

typedef struct ranges {
  mtli_ptx_range *items;  // [count]
  size_t count, capacity;
  bool is_lacking;  // out of memory
} ranges;

static void add(void *context, uint64_t address, uint64_t bytes) {
  ranges *all = context;
  if (all->count == all->capacity) {
    const size_t more = all->capacity ? 2 * all->capacity : 64;
    mtli_ptx_range *grown = realloc(all->items, more * sizeof *grown);
    if (!grown) {
      all->is_lacking = true;
      return;
    }
    all->items = grown;
    all->capacity = more;
  }
  all->items[all->count++] =
      (mtli_ptx_range){.begin = address, .end = address + bytes};
}

static int compare(const void *a, const void *b) {
  const uint64_t x = ((const mtli_ptx_range *)a)->begin;
  const uint64_t y = ((const mtli_ptx_range *)b)->begin;
  return (x > y) - (x < y);
}

// Sorts ranges by address and merges those that touch.
static void sort(ranges *all) {
  size_t count = 0;
  if (all->count) {
    qsort(all->items, all->count, sizeof *all->items, compare);
  }
  for (size_t i = 0; i < all->count; i++) {
    mtli_ptx_range *last = count ? &all->items[count - 1] : NULL;
    if (last && all->items[i].begin <= last->end) {
      last->end = all->items[i].end > last->end ? all->items[i].end : last->end;
    } else {
      all->items[count++] = all->items[i];
    }
  }
  all->count = count;
}

static void add_all(ranges *all, cuda_device *device, const cuda_list *list) {
  mtl_device *base = &device->device;
  pthread_mutex_lock(&base->lock);
  for (const mtl_buffer *b = base->buffers; b; b = b->next) {
    add(all, b->gpu_address, b->length_bytes);
  }
  pthread_mutex_unlock(&base->lock);
  for (const cuda_loan *loan = list->loans; loan; loan = loan->next) {
    add(all, loan->address, loan->bytes);
  }
  pthread_mutex_lock(&device->srgb_lock);
  if (device->srgb) {
    add(all, device->srgb, sizeof(mtli_srgb_tables));
  }
  pthread_mutex_unlock(&device->srgb_lock);
  cuda_slabs_add_ranges(&device->descriptors, add, all);
}

// Returns the start of the buffer that contains an address, in a heap the
// innermost; the address itself if there is none.
static uint64_t begin_around(mtl_device *device, uint64_t address) {
  uint64_t begin = address;
  size_t least_bytes = SIZE_MAX;
  pthread_mutex_lock(&device->lock);
  for (const mtl_buffer *b = device->buffers; b; b = b->next) {
    if (address - b->gpu_address < b->length_bytes &&
        b->length_bytes < least_bytes) {
      begin = b->gpu_address;
      least_bytes = b->length_bytes;
    }
  }
  pthread_mutex_unlock(&device->lock);
  return begin;
}

// Returns the range bound to a parameter: the buffer around the address, which
// the offset is into, or the bytes that were set.
static mtli_ptx_range range_of(mtl_device *device,
                               const mtli_dispatch *dispatch,
                               const uint64_t *arguments, size_t slot) {
  const mtli_ptx_range unknown = {.begin = 1, .end = 0};
  const mtli_parameter *parameter =
      &dispatch->pipeline->kernel->parameters[slot];
  if (!dispatch->argument_bytes || !arguments[slot] ||
      parameter->builtin != MTLI_BUILTIN_NONE ||
      parameter->argument.kind != MTL_ARGUMENT_BUFFER) {
    return unknown;
  }
  mtli_ptx_range range = {
      .begin = arguments[slot],
      .end = arguments[slot] + dispatch->argument_bytes[slot]};
  range.begin = begin_around(device, arguments[slot]);
  return range;
}

static void write_table(const ranges *all, cuda_worker *worker,
                        const mtli_dispatch *dispatch,
                        const uint64_t *arguments, void *table) {
  const size_t slots = dispatch->pipeline->kernel->parameter_count;
  mtli_ptx_ranges *head = table;
  mtli_ptx_range *range = (mtli_ptx_range *)(head + 1);
  head->count = all->count;
  head->slot_count = slots;
  for (size_t i = 0; i < slots; i++) {
    range[i] = range_of(&worker->device->device, dispatch, arguments, i);
  }
  memcpy(range + slots, all->items, all->count * sizeof *range);
}

mtl_status cuda_ranges_send(cuda_worker *worker, cuda_list *list,
                            const mtli_dispatch *dispatch,
                            const uint64_t *arguments, uint64_t *out_address) {
  ranges all = {0};
  add_all(&all, worker->device, list);
  sort(&all);
  const size_t bytes =
      sizeof(mtli_ptx_ranges) +
      (all.count + dispatch->pipeline->kernel->parameter_count) *
          sizeof(mtli_ptx_range);
  uint64_t host = 0;
  mtl_status status =
      all.is_lacking
          ? mtli_fail(MTL_OUT_OF_MEMORY, "no memory for a table of buffers")
          : cuda_borrow(list, &worker->device->pinned, bytes, &host);
  if (status == MTL_OK) {
    status = cuda_borrow(list, &worker->device->memory, bytes, out_address);
  }
  if (status == MTL_OK) {
    write_table(&all, worker, dispatch, arguments, (void *)(uintptr_t)host);
    status =
        cuda_done(cuda.cuMemcpyHtoDAsync(*out_address, (void *)(uintptr_t)host,
                                         bytes, worker->stream),
                  "a copy of a table of buffers");
  }
  free(all.items);
  return status;
}
