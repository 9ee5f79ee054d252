// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// memory.c: allocates, wraps and releases MTLBuffers.
#include <string.h>

#include "base/machine.h"
#include "drivers/metal/metal.h"

unsigned long metal_resource_options(mtl_storage_mode storage_mode,
                                     mtl_hazard_tracking hazard_tracking) {
  enum { MANAGED = 1 << 4, PRIVATE = 2 << 4, UNTRACKED = 1 << 8 };
  const unsigned long storage = storage_mode == MTL_STORAGE_MANAGED   ? MANAGED
                                : storage_mode == MTL_STORAGE_PRIVATE ? PRIVATE
                                                                      : 0;
  return storage | (hazard_tracking == MTL_HAZARD_UNTRACKED ? UNTRACKED : 0);
}

mtl_status metal_blit_now(metal_device *device, metal_blit_fn *encode,
                          void *context) {
  pthread_mutex_lock(&device->lock);
  if (!device->staging) {
    device->staging =
        SEND(id(*)(id, SEL, unsigned long), device->object, newQueue, 16ul);
  }
  const id queue = device->staging;
  pthread_mutex_unlock(&device->lock);
  const id commands = queue ? GET_OBJECT(queue, commandBuffer) : NULL;
  const id encoder = commands ? GET_OBJECT(commands, blitCommandEncoder) : NULL;
  if (!encoder) {
    return mtli_fail(MTL_OUT_OF_MEMORY, "no command buffer for a copy");
  }
  encode(encoder, context);
  CALL(encoder, endEncoding);
  CALL(commands, commit);
  CALL(commands, waitUntilCompleted);
  const id error = GET_OBJECT(commands, error);
  return error ? metal_fail(error, "a copy") : MTL_OK;
}

typedef struct filling {
  id source;  // nil for zeros
  id target;
  unsigned long offset_bytes;
  unsigned long length_bytes;
} filling;

static void encode_filling(id encoder, void *context) {
  const filling *it = context;
  if (it->source) {
    SEND(void (*)(id, SEL, id, unsigned long, id, unsigned long, unsigned long),
         encoder, copyBuffer, it->source, 0ul, it->target, it->offset_bytes,
         it->length_bytes);
  } else {
    SEND(void (*)(id, SEL, id, metal_range, unsigned char), encoder, fillBuffer,
         it->target, ((metal_range){it->offset_bytes, it->length_bytes}), 0);
  }
}

// Memory that the host cannot reach is initialised by a copy.
static mtl_status fill_private(metal_device *device, const metal_buffer *target,
                               const mtl_buffer_desc *desc) {
  filling it = {.target = target->object,
                .offset_bytes = target->offset_bytes,
                .length_bytes = desc->length_bytes};
  if (desc->bytes) {
    it.source = SEND(id(*)(id, SEL, const void *, unsigned long, unsigned long),
                     device->object, newBufferWithBytes, desc->bytes,
                     desc->length_bytes, 0ul);
    if (!it.source) {
      return mtli_fail(MTL_OUT_OF_MEMORY, "no memory to copy %zu bytes from",
                       desc->length_bytes);
    }
  }
  const mtl_status status = metal_blit_now(device, encode_filling, &it);
  metal_release(it.source);
  return status;
}

// Creates a buffer whose end lies in its pages as desc says, followed by an
// inaccessible page if it is guarded. Metal takes whole pages.
static id create_in_pages(const metal_device *device, metal_buffer *buffer,
                          const mtl_buffer_desc *desc) {
  const uintptr_t page = (uintptr_t)mtli_machine_page_bytes();
  if (mtli_buffer_create_pages(desc, &buffer->pages) != MTL_OK) {
    return NULL;
  }
  char *bytes = buffer->pages.bytes;
  const uintptr_t first = (uintptr_t)bytes / page * page;
  const uintptr_t end =
      ((uintptr_t)bytes + desc->length_bytes + page - 1) / page * page;
  buffer->offset_bytes = (uintptr_t)bytes - first;
  if (desc->bytes) {
    memcpy(bytes, desc->bytes, desc->length_bytes);
  }
  return SEND(id(*)(id, SEL, void *, unsigned long, unsigned long, id),
              device->object, newBufferNoCopy, (void *)first, end - first,
              metal_resource_options(MTL_STORAGE_SHARED, desc->hazard_tracking),
              NULL);
}

static id create(const metal_device *device, metal_buffer *buffer,
                 const mtl_buffer_desc *desc) {
  const unsigned long options =
      metal_resource_options(desc->storage_mode, desc->hazard_tracking);
  const mtl_buffer *parent = buffer->buffer.parent;
  if (parent) {
    buffer->offset_bytes =
        metal_offset_of(parent) + buffer->buffer.parent_offset_bytes;
    return metal_retain(metal_object_of(parent));
  }
  if (desc->guarded) {
    return create_in_pages(device, buffer, desc);
  }
  if (desc->no_copy_bytes) {
    return SEND(id(*)(id, SEL, void *, unsigned long, unsigned long, id),
                device->object, newBufferNoCopy, desc->no_copy_bytes,
                desc->length_bytes, options, NULL);
  }
  if (desc->guard_alignment_bytes &&
      desc->storage_mode != MTL_STORAGE_PRIVATE) {
    return create_in_pages(device, buffer, desc);
  }
  if (desc->bytes && desc->storage_mode != MTL_STORAGE_PRIVATE) {
    return SEND(id(*)(id, SEL, const void *, unsigned long, unsigned long),
                device->object, newBufferWithBytes, desc->bytes,
                desc->length_bytes, options);
  }
  return SEND(id(*)(id, SEL, unsigned long, unsigned long), device->object,
              newBuffer, desc->length_bytes, options);
}

static mtl_status fill_in(metal_buffer *made, const mtl_buffer_desc *desc) {
  mtl_buffer *buffer = &made->buffer;
  const bool is_private = desc->storage_mode == MTL_STORAGE_PRIVATE;
  const bool is_part = buffer->parent != NULL;
  if (is_private && !desc->guarded && (desc->bytes || !is_part)) {
    MTL_TRY(fill_private(metal_device_of(buffer->device), made, desc));
  }
  if (!is_part) {
    metal_label(made->object, desc->label);
  }
  buffer->gpu_address = SEND(uint64_t (*)(id, SEL), made->object, gpuAddress) +
                        made->offset_bytes;
  buffer->contents = is_private
                         ? NULL
                         : SEND(char *(*)(id, SEL), made->object, contents) +
                               made->offset_bytes;
  if (is_part && desc->bytes && buffer->contents) {
    memcpy(buffer->contents, desc->bytes, desc->length_bytes);
  }
  return MTL_OK;
}

mtl_status metal_buffer_create(mtl_buffer *buffer,
                               const mtl_buffer_desc *desc) {
  metal_buffer *made = (metal_buffer *)buffer;
  void *pool = metal.pool_push();
  made->object = create(metal_device_of(buffer->device), made, desc);
  const mtl_status status =
      made->object
          ? fill_in(made, desc)
          : mtli_fail(MTL_OUT_OF_MEMORY, "Metal has no buffer of %zu bytes",
                      desc->length_bytes);
  if (status != MTL_OK) {
    metal_buffer_destroy(buffer);
  }
  metal.pool_pop(pool);
  return status;
}

void metal_buffer_destroy(mtl_buffer *buffer) {
  metal_give_back(buffer->device, metal_object_of(buffer));
  mtli_pages_destroy(&((metal_buffer *)buffer)->pages);
}

mtl_status metal_buffer_modified(mtl_buffer *buffer, size_t offset_bytes,
                                 size_t length_bytes) {
  SEND(void (*)(id, SEL, metal_range), metal_object_of(buffer), didModifyRange,
       ((metal_range){metal_offset_of(buffer) + offset_bytes, length_bytes}));
  return MTL_OK;
}

// Requests residency through a set of one; the memory may leave again with the
// set.
static void request_residency(const metal_device *device, id object) {
  if (!RESPONDS(device->object, newResidencySet)) {
    return;  // before macOS 15
  }
  void *pool = metal.pool_push();
  const id descriptor = metal_new("MTLResidencySetDescriptor");
  id error = NULL;
  const id set = SEND(id(*)(id, SEL, id, id *), device->object, newResidencySet,
                      descriptor, &error);
  if (set) {
    SET_OBJECT(set, addAllocation, object);
    CALL(set, commit);
    CALL(set, requestResidency);
  }
  metal_release(set);
  metal_release(descriptor);
  metal.pool_pop(pool);
}

// Discards contents through the purgeable state. The buffer becomes
// non-volatile again at once, since it stays in use.
mtl_status metal_buffer_advise(mtl_buffer *buffer, mtli_advice advice) {
  enum { NON_VOLATILE = 2, EMPTY = 4 };  // MTLPurgeableState
  if (advice == MTLI_ADVICE_DISCARD) {
    const id object = metal_object_of(buffer);
    SET_NUMBER(object, setPurgeableState, EMPTY);
    SET_NUMBER(object, setPurgeableState, NON_VOLATILE);
  } else {
    request_residency(metal_device_of(buffer->device), metal_object_of(buffer));
  }
  return MTL_OK;
}
