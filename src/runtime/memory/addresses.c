// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// addresses.c: finds the memory of an address, for errors. It names an argument
// of the dispatch if the kernel may access it that way, then a released buffer;
// another buffer only if the address is inside.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "runtime/objects.h"
#include "runtime/weak.h"

enum {
  // An address this far from an argument is told as "behind" or "before" it:
  // what a guarded buffer has around it (base/memory/pages.h).
  NEAR_BYTES = 16 * 1024 * 1024,
  // For an address in released memory, unless an argument is nearer than this.
  BESIDE_BYTES = 4096,
};

// A piece of memory that has a name.
typedef struct place {
  uint64_t first;
  uint64_t length_bytes;
  const char *kind;
  const char *name;  // NULL if it has none
} place;

// Bytes from a place to address: 0 inside, otherwise how far off.
static uint64_t distance_bytes(const place *it, uint64_t address) {
  const uint64_t end = it->first + it->length_bytes;
  return address < it->first ? it->first - address
         : address < end     ? 0
                             : address - end + 1;
}

static bool has_label(const char *label) {
  return label && *label;
}

static place labelled(uint64_t first, uint64_t length_bytes,
                      const char *label) {
  const bool is_named = has_label(label);
  return (place){.first = first,
                 .length_bytes = length_bytes,
                 .kind = is_named ? "buffer" : "a buffer without label",
                 .name = is_named ? label : NULL};
}

static place place_of(const mtl_buffer *buffer) {
  return labelled(buffer->gpu_address, buffer->length_bytes, buffer->label);
}

// Finds the buffer that address is in. The lock is held.
static const mtl_buffer *find_buffer(const mtl_device *device,
                                     uint64_t address) {
  const mtl_buffer *buffer = device->buffers;
  while (buffer && address - buffer->gpu_address >= buffer->length_bytes) {
    buffer = buffer->next;
  }
  return buffer;
}

size_t mtli_bytes_behind(mtl_device *device, uint64_t address) {
  pthread_mutex_lock(&device->lock);
  const mtl_buffer *buffer = find_buffer(device, address);
  const size_t behind_bytes =
      buffer ? (size_t)(buffer->gpu_address + buffer->length_bytes - address)
             : 0;
  pthread_mutex_unlock(&device->lock);
  return behind_bytes;
}

mtl_buffer *mtli_buffer_at(mtl_device *device, uint64_t address) {
  mtl_buffer *found = NULL;
  pthread_mutex_lock(&device->lock);
  for (mtl_buffer *it = device->buffers; it; it = it->next) {
    // Of a heap's memory and the buffers in it, the buffer. Relaxed: one that
    // is about to end waits for the lock.
    if (address - it->gpu_address < it->length_bytes &&
        (!found || it->length_bytes < found->length_bytes) &&
        atomic_load_explicit(&it->object.references, memory_order_relaxed)) {
      found = it;
    }
  }
  if (found && !mtli_object_try_retain(&found->object)) {  // +1
    found = NULL;
  }
  pthread_mutex_unlock(&device->lock);
  return found;
}

static bool is_inline(const mtli_dispatch *dispatch, uint32_t slot) {
  for (uint32_t i = 0; i < dispatch->inline_count; i++) {
    if (dispatch->inline_arguments[i].slot == slot) {
      return true;
    }
  }
  return false;
}

// Returns the memory of a buffer argument, by the argument's name if the buffer
// has none. The lock is held.
static place place_of_argument(const mtl_device *device,
                               const mtli_dispatch *dispatch, uint32_t slot) {
  const uint64_t first = (uintptr_t)dispatch->arguments[slot];
  place value = {
      .first = first,
      .length_bytes = dispatch->argument_bytes[slot],
      .kind = "the bytes of argument",
      .name = dispatch->pipeline->kernel->parameters[slot].argument.name};
  const mtl_buffer *buffer =
      is_inline(dispatch, slot) ? NULL : find_buffer(device, first);
  if (!buffer) {
    return value;
  }
  if (has_label(buffer->label) || !has_label(value.name)) {
    return place_of(buffer);
  }
  value.first = buffer->gpu_address;
  value.length_bytes = buffer->length_bytes;
  value.kind = "the buffer of argument";
  return value;
}

// Finds the argument nearest to an access that the kernel may make to it. The
// lock is held. False if there is none near.
static bool find_argument(const mtl_device *device, const mtli_access *access,
                          place *out_place) {
  const mtli_dispatch *dispatch = access->dispatch;
  uint64_t nearest_bytes = NEAR_BYTES;
  bool found = false;
  if (!dispatch || !dispatch->argument_bytes) {
    return false;
  }
  const mtli_kernel *kernel = dispatch->pipeline->kernel;
  for (uint32_t slot = 0; slot < kernel->parameter_count; slot++) {
    const mtli_parameter *parameter = &kernel->parameters[slot];
    const mtl_argument *argument = &parameter->argument;
    if (parameter->builtin != MTLI_BUILTIN_NONE ||
        argument->kind != MTL_ARGUMENT_BUFFER || !dispatch->arguments[slot] ||
        (access->is_write && argument->access == MTL_ACCESS_READ_ONLY)) {
      continue;
    }
    const place near = place_of_argument(device, dispatch, slot);
    const uint64_t away_bytes = distance_bytes(&near, access->address);
    if (away_bytes < nearest_bytes) {
      *out_place = near;
      nearest_bytes = away_bytes;
      found = true;
    }
  }
  return found;
}

static const mtli_released *find_released(const mtl_device *device,
                                          uint64_t address) {
  for (uint32_t i = 1; i <= MTLI_RELEASED_COUNT; i++) {  // the last one first
    const mtli_released *released =
        &device->released[(device->released_count - i) % MTLI_RELEASED_COUNT];
    if (address - released->first < released->length_bytes) {
      return released;
    }
  }
  return NULL;
}

static void write_place(const place *it, uint64_t address, char *text,
                        size_t capacity) {
  const uint64_t away_bytes = distance_bytes(it, address);
  char where[64];
  if (address < it->first) {
    snprintf(where, sizeof where, "%" PRIu64 " byte%s before", away_bytes,
             away_bytes == 1 ? "" : "s");
  } else if (away_bytes == 0) {
    snprintf(where, sizeof where, "offset %" PRIu64 " in", address - it->first);
  } else if (away_bytes == 1) {
    snprintf(where, sizeof where, "right behind the end of");
  } else {
    snprintf(where, sizeof where, "%" PRIu64 " byte%s past the end of",
             away_bytes - 1, away_bytes == 2 ? "" : "s");
  }
  if (it->name) {
    snprintf(text, capacity, "%s %s '%s' of %" PRIu64 " bytes", where, it->kind,
             it->name, it->length_bytes);
  } else {
    snprintf(text, capacity, "%s %s of %" PRIu64 " bytes", where, it->kind,
             it->length_bytes);
  }
}

void mtli_describe_access(mtl_device *device, const mtli_access *access,
                          char *text, size_t capacity) {
  const uint64_t address = access->address;
  text[0] = '\0';
  pthread_mutex_lock(&device->lock);
  place near;
  const mtl_buffer *around = find_buffer(device, address);
  const mtli_released *released = find_released(device, address);
  const bool is_near = find_argument(device, access, &near);
  if (access->has_slot && access->dispatch->argument_bytes) {
    near = place_of_argument(device, access->dispatch, access->slot);
    write_place(&near, address, text, capacity);
  } else if (around && !(is_near && distance_bytes(&near, address) == 0)) {
    near = place_of(around);
    write_place(&near, address, text, capacity);
  } else if (is_near &&
             (!released || distance_bytes(&near, address) <= BESIDE_BYTES)) {
    write_place(&near, address, text, capacity);
  } else if (released) {
    near = labelled(released->first, released->length_bytes, released->label);
    write_place(&near, address, text, capacity);
    const size_t length = strlen(text);
    snprintf(text + length, capacity - length, ", which was released");
  }
  pthread_mutex_unlock(&device->lock);
}
