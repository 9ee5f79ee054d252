// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// encode.c: encodes commands into one MTLCommandBuffer. A run of dispatches is
// one concurrent compute encoder, with a barrier before each ordered dispatch;
// copies are blit encoders. The queue's fence orders the encoders.
#include <stdlib.h>
#include <string.h>

#include "drivers/metal/metal.h"

void metal_encoding_end(metal_encoding *encoding) {
  const id open = encoding->compute ? encoding->compute : encoding->blit;
  if (open) {
    SET_OBJECT(open, updateFence, encoding->fence);
    CALL(open, endEncoding);
  }
  encoding->compute = encoding->blit = NULL;
}

id metal_encoding_blit(metal_encoding *encoding) {
  if (!encoding->blit) {
    const bool is_timed = encoding->timed.buffer && encoding->timed.is_blit;
    metal_encoding_end(encoding);
    encoding->blit = is_timed
                         ? metal_timed_blit(encoding)
                         : GET_OBJECT(encoding->commands, blitCommandEncoder);
    SET_OBJECT(encoding->blit, waitForFence, encoding->fence);
  }
  return encoding->blit;
}

// Declares buffers that kernels may reach by address. Declaring more than they
// reach is harmless.
static void use_buffers(const metal_encoding *encoding) {
  enum { READ = 1, WRITE = 2, PORTION = 64 };
  id objects[PORTION];
  for (size_t i = 0; i < encoding->buffer_count;) {
    unsigned long count = 0;
    while (count < PORTION && i < encoding->buffer_count) {
      objects[count++] = metal_object_of(encoding->buffers[i++]);
    }
    SEND(void (*)(id, SEL, const id *, unsigned long, unsigned long),
         encoding->compute, useResources, objects, count,
         (unsigned long)(READ | WRITE));
  }
}

// MTLDispatchType.
enum { SERIAL = 0, CONCURRENT = 1 };

static id open_compute(metal_encoding *encoding, unsigned long type) {
  const bool is_timed = encoding->timed.buffer && !encoding->timed.is_blit;
  metal_encoding_end(encoding);
  encoding->compute =
      is_timed ? metal_timed_compute(encoding, type)
               : SEND(id(*)(id, SEL, unsigned long), encoding->commands,
                      computeEncoder, type);
  SET_OBJECT(encoding->compute, waitForFence, encoding->fence);
  use_buffers(encoding);
  metal_use_commands(encoding);
  encoding->has_dispatched = false;
  return encoding->compute;
}

id metal_encoding_compute(metal_encoding *encoding) {
  return encoding->compute ? encoding->compute
                           : open_compute(encoding, CONCURRENT);
}

id metal_encoding_serial(metal_encoding *encoding) {
  return open_compute(encoding, SERIAL);
}

void metal_encoding_order(metal_encoding *encoding,
                          const mtli_command *command) {
  enum { BUFFERS = 1, TEXTURES = 2 };  // MTLBarrierScope
  if (command->is_ordered && encoding->has_dispatched) {
    SET_NUMBER(encoding->compute, memoryBarrier, BUFFERS | TEXTURES);
  }
  encoding->has_dispatched = true;
}

void metal_encoding_push_group(id encoder, const char *path) {
  const id name = path ? metal_string(path, strlen(path)) : NULL;
  if (name) {
    SET_OBJECT(encoder, pushDebugGroup, name);
    metal_release(name);
  }
}

void metal_encoding_pop_group(id encoder, const char *path) {
  if (path) {
    CALL(encoder, popDebugGroup);
  }
}

bool metal_encoding_keep(metal_encoding *encoding, id object) {
  id *kept = realloc(encoding->kept, (encoding->kept_count + 1) * sizeof *kept);
  if (!kept) {
    metal_release(object);
    return false;
  }
  encoding->kept = kept;
  kept[encoding->kept_count++] = object;
  return true;
}

bool metal_timed_add(metal_encoding *encoding) {
  metal_timed *all = &encoding->all_timed;
  metal_samples *grown =
      realloc(all->samples, (all->count + 1) * sizeof *grown);
  if (!grown) {
    return false;
  }
  if (!all->count) {
    (void)metal_device_timestamps(encoding->command_buffer->queue->device,
                                  &all->host_ns, &all->ticks);
  }
  all->samples = grown;
  grown[all->count++] = encoding->timed;
  return true;
}

id metal_encoding_stage(metal_encoding *encoding, const void *bytes,
                        size_t length_bytes) {
  const mtl_device *device = encoding->command_buffer->queue->device;
  const id owner = metal_device_of(device)->object;
  const id object =
      bytes ? SEND(id(*)(id, SEL, const void *, unsigned long, unsigned long),
                   owner, newBufferWithBytes, bytes, length_bytes, 0ul)
            : SEND(id(*)(id, SEL, unsigned long, unsigned long), owner,
                   newBuffer, length_bytes, 0ul);
  return object && metal_encoding_keep(encoding, object) ? object : NULL;
}

mtl_buffer *metal_encoding_find(const metal_encoding *encoding,
                                uint64_t address) {
  size_t first = 0, end = encoding->buffer_count;
  while (first < end) {  // the last one that begins at or before address
    const size_t middle = first + (end - first) / 2;
    if (encoding->buffers[middle]->gpu_address <= address) {
      first = middle + 1;
    } else {
      end = middle;
    }
  }
  // Parts of a heap may overlap.
  while (first > 0) {
    mtl_buffer *found = encoding->buffers[--first];
    if (address - found->gpu_address < found->length_bytes) {
      return found;
    }
  }
  return NULL;
}
