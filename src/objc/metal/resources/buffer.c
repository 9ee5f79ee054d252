// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// buffer.c: MTLBuffer, and how a device makes one.
#include <stdlib.h>

#include "objc/metal/metal.h"
#include "objc/runtime/memory/block.h"

mtl_buffer *buffer_of(id buffer) {
  return buffer ? ((metal_buffer *)buffer)->buffer : NULL;
}

size_t buffer_offset_of(id buffer) {
  return buffer ? ((metal_buffer *)buffer)->offset : 0;
}

// --- Making ------------------------------------------------------------------

static id create(id device, NSUInteger options, mtl_buffer_desc desc,
                 size_t offset, size_t length) {
  mtl_buffer *buffer;
  desc.storage_mode = storage_mode_of(options);
  desc.hazard_tracking = hazard_tracking_of(options);
  if (mtl_buffer_create(device_of(device), &desc, &buffer) != MTL_OK) {
    return NULL;
  }
  metal_buffer *made = (metal_buffer *)CREATE(MettleBuffer);
  made->device = objc_retain(device);
  made->buffer = buffer;
  made->offset = offset;
  made->length = length;
  made->options = options;
  return &made->object;
}

id buffer_make_in_heap(id heap, mtl_buffer *buffer) {
  metal_buffer *made = (metal_buffer *)CREATE(MettleBuffer);
  made->device = objc_retain(heap_device(heap));
  made->buffer = buffer;
  made->length = mtl_buffer_length(buffer);
  made->options = heap_options(heap);
  made->heap = objc_retain(heap);
  return &made->object;
}

static id new_length(id self, SEL _cmd, NSUInteger length,
                     NSUInteger options) {
  (void)_cmd;
  return create(self, options, (mtl_buffer_desc){.length_bytes = length}, 0,
                length);
}

static id new_bytes(id self, SEL _cmd, const void *bytes, NSUInteger length,
                    NSUInteger options) {
  (void)_cmd;
  return create(self, options,
                (mtl_buffer_desc){.length_bytes = length, .bytes = bytes}, 0,
                length);
}

typedef struct lent_memory {
  void *bytes;
  NSUInteger length;
  id deallocator;  // a block
} lent_memory;

static void give_back(void *context, void *bytes, size_t length) {
  lent_memory *lent = context;
  (void)bytes;
  (void)length;
  BLOCK_CALL(void (*)(id, void *, NSUInteger), lent->deallocator, lent->bytes,
             lent->length);
  _Block_release(lent->deallocator);
  free(lent);
}

// Metal asks for whole pages; ggml lends any memory that the host has.
static id new_no_copy(id self, SEL _cmd, void *bytes, NSUInteger length,
                      NSUInteger options, id deallocator) {
  (void)_cmd;
  if (!bytes || !length) {
    return NULL;
  }
  mtl_buffer_desc desc = {.length_bytes = length, .no_copy_bytes = bytes};
  lent_memory *lent = deallocator ? malloc(sizeof *lent) : NULL;
  if (lent) {
    *lent = (lent_memory){bytes, length, _Block_copy(deallocator)};
    desc.deallocator = give_back;
    desc.deallocator_context = lent;
  }
  const id made = create(self, options, desc, 0, length);
  if (!made && lent) {  // the memory stays the caller's
    _Block_release(lent->deallocator);
    free(lent);
  }
  return made;
}

METHODS(device_methods,
        METHOD("newBufferWithLength:options:", "@32@0:8Q16Q24", new_length),
        METHOD("newBufferWithBytes:length:options:", "@40@0:8^v16Q24Q32",
               new_bytes),
        METHOD("newBufferWithBytesNoCopy:length:options:deallocator:",
               "@48@0:8^v16Q24Q32@?40", new_no_copy));
DEFINE_CATEGORY(MettleDevice, buffers, device_methods);

// --- The buffer --------------------------------------------------------------

static void buffer_dealloc(id self, SEL _cmd) {
  (void)_cmd;
  metal_buffer *buffer = (metal_buffer *)self;
  mtl_buffer_release(buffer->buffer);
  objc_release(buffer->heap);
  objc_release(buffer->device);
  instance_dispose(self);
}

static void *buffer_contents(id self, SEL _cmd) {
  (void)_cmd;
  char *contents = mtl_buffer_contents(buffer_of(self));
  return contents ? contents + buffer_offset_of(self) : NULL;
}

static NSUInteger buffer_length(id self, SEL _cmd) {
  (void)_cmd;
  return ((metal_buffer *)self)->length;
}

static uint64_t buffer_address(id self, SEL _cmd) {
  (void)_cmd;
  return mtl_buffer_gpu_address(buffer_of(self)) + buffer_offset_of(self);
}

static void buffer_modified(id self, SEL _cmd, NSRange range) {
  (void)_cmd;
  if (mtl_buffer_did_modify_range(buffer_of(self),
                                  buffer_offset_of(self) + range.location,
                                  range.length) != MTL_OK) {
    metal_assert("didModifyRange: %s", mtl_last_error());
  }
}

static id buffer_label(id self, SEL _cmd) {
  (void)_cmd;
  return label_make(mtl_buffer_label(buffer_of(self)));
}

static void buffer_set_label(id self, SEL _cmd, id label) {
  (void)_cmd;
  mtl_buffer_set_label(buffer_of(self), string_utf8(label));
}

static id buffer_device(id self, SEL _cmd) {
  (void)_cmd;
  return ((metal_buffer *)self)->device;
}

static id buffer_heap(id self, SEL _cmd) {
  (void)_cmd;
  return ((metal_buffer *)self)->heap;
}

static NSUInteger buffer_heap_offset(id self, SEL _cmd) {
  (void)_cmd;
  return mtl_buffer_heap_offset(buffer_of(self));
}

static NSUInteger buffer_options(id self, SEL _cmd) {
  (void)_cmd;
  return ((metal_buffer *)self)->options;
}

static NSUInteger buffer_storage(id self, SEL _cmd) {
  return buffer_options(self, _cmd) >> 4 & 15;
}

static NSUInteger buffer_cache_mode(id self, SEL _cmd) {
  return buffer_options(self, _cmd) & 15;
}

static NSUInteger buffer_hazards(id self, SEL _cmd) {
  return buffer_options(self, _cmd) >> 8 & 3;
}

static NSUInteger buffer_set_purgeable(id self, SEL _cmd, NSUInteger state) {
  (void)_cmd;
  mtl_purgeable_state before;
  if (mtl_buffer_set_purgeable_state(buffer_of(self),
                                     (mtl_purgeable_state)state,
                                     &before) != MTL_OK) {
    metal_assert("setPurgeableState: %s", mtl_last_error());
  }
  return before;
}

static int buffer_is_aliasable(id self, SEL _cmd) {
  (void)_cmd;
  return mtl_buffer_is_aliasable(buffer_of(self));
}

static void buffer_make_aliasable(id self, SEL _cmd) {
  (void)_cmd;
  if (mtl_buffer_make_aliasable(buffer_of(self)) != MTL_OK) {
    metal_assert("makeAliasable: %s", mtl_last_error());
  }
}

static void buffer_nothing(id self, SEL _cmd) {
  (void)self;
  (void)_cmd;
}

static void buffer_add_marker(id self, SEL _cmd, id marker, NSRange range) {
  (void)self;
  (void)_cmd;
  (void)marker;
  (void)range;
}

METHODS(buffer_methods, METHOD("dealloc", "v16@0:8", buffer_dealloc),
        METHOD("contents", "^v16@0:8", buffer_contents),
        METHOD("length", "Q16@0:8", buffer_length),
        METHOD("allocatedSize", "Q16@0:8", buffer_length),
        METHOD("gpuAddress", "Q16@0:8", buffer_address),
        METHOD("didModifyRange:", "v32@0:8{_NSRange=QQ}16", buffer_modified),
        METHOD("label", "@16@0:8", buffer_label),
        METHOD("setLabel:", "v24@0:8@16", buffer_set_label),
        METHOD("device", "@16@0:8", buffer_device),
        METHOD("heap", "@16@0:8", buffer_heap),
        METHOD("heapOffset", "Q16@0:8", buffer_heap_offset),
        METHOD("resourceOptions", "Q16@0:8", buffer_options),
        METHOD("storageMode", "Q16@0:8", buffer_storage),
        METHOD("cpuCacheMode", "Q16@0:8", buffer_cache_mode),
        METHOD("hazardTrackingMode", "Q16@0:8", buffer_hazards),
        METHOD("setPurgeableState:", "Q24@0:8Q16", buffer_set_purgeable),
        METHOD("isAliasable", "B16@0:8", buffer_is_aliasable),
        METHOD("makeAliasable", "v16@0:8", buffer_make_aliasable),
        METHOD("addDebugMarker:range:", "v40@0:8@16{_NSRange=QQ}24",
               buffer_add_marker),
        METHOD("removeAllDebugMarkers", "v16@0:8", buffer_nothing));
DEFINE_CLASS(MettleBuffer, NSObject, sizeof(metal_buffer), buffer_methods,
             NO_METHODS);
