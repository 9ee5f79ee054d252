// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// heap.c: MTLHeap, over mtl_heap. texture.c makes textures in heaps.
#include "objc/metal/metal.h"
#include "objc/metal/property.h"

typedef struct heap_descriptor {
  struct objc_object object;
  NSUInteger size;
  NSUInteger resourceOptions;
  NSInteger type;  // MTLHeapType: automatic, placement
} heap_descriptor;

VALUES_ALONE(heap_descriptor)
VALUE_PROPERTY(heap_descriptor, NSUInteger, size)
VALUE_PROPERTY(heap_descriptor, NSUInteger, resourceOptions)
VALUE_PROPERTY(heap_descriptor, NSInteger, type)

static id descriptor_init(id self, SEL _cmd) {
  (void)_cmd;
  // Private and untracked by default, by Apple's documentation.
  ((heap_descriptor *)self)->resourceOptions =
      STORAGE_PRIVATE << 4 | HAZARD_UNTRACKED << 8;
  return self;
}

static void set_option(id self, int shift, NSUInteger mask, NSUInteger value) {
  NSUInteger *options = &((heap_descriptor *)self)->resourceOptions;
  *options = (*options & ~(mask << shift)) | (value & mask) << shift;
}

static NSUInteger get_storage(id self, SEL _cmd) {
  (void)_cmd;
  return ((heap_descriptor *)self)->resourceOptions >> 4 & 15;
}

static void set_storage(id self, SEL _cmd, NSUInteger value) {
  (void)_cmd;
  set_option(self, 4, 15, value);
}

static NSUInteger get_cache(id self, SEL _cmd) {
  (void)_cmd;
  return ((heap_descriptor *)self)->resourceOptions & 15;
}

static void set_cache(id self, SEL _cmd, NSUInteger value) {
  (void)_cmd;
  set_option(self, 0, 15, value);
}

static NSUInteger get_hazards(id self, SEL _cmd) {
  (void)_cmd;
  return ((heap_descriptor *)self)->resourceOptions >> 8 & 3;
}

static void set_hazards(id self, SEL _cmd, NSUInteger value) {
  (void)_cmd;
  set_option(self, 8, 3, value);
}

METHODS(descriptor_methods, METHOD("init", "@16@0:8", descriptor_init),
        VALUES_ALONE_METHODS(heap_descriptor),
        VALUE_METHODS(heap_descriptor, size, "setSize:", "Q"),
        VALUE_METHODS(heap_descriptor, resourceOptions,
                      "setResourceOptions:", "Q"),
        VALUE_METHODS(heap_descriptor, type, "setType:", "q"),
        METHOD("storageMode", "Q16@0:8", get_storage),
        METHOD("setStorageMode:", "v24@0:8Q16", set_storage),
        METHOD("cpuCacheMode", "Q16@0:8", get_cache),
        METHOD("setCpuCacheMode:", "v24@0:8Q16", set_cache),
        METHOD("hazardTrackingMode", "Q16@0:8", get_hazards),
        METHOD("setHazardTrackingMode:", "v24@0:8Q16", set_hazards));
DEFINE_CLASS(MTLHeapDescriptor, NSObject, sizeof(heap_descriptor),
             descriptor_methods, NO_METHODS);

// --- The heap ----------------------------------------------------------------

typedef struct heap {
  struct objc_object object;
  id device;  // +1
  mtl_heap *heap;
  NSUInteger options;
} heap;

extern struct objc_class OBJC_CLASS_$_MettleHeap;

mtl_heap *heap_of(id object) {
  return object ? ((heap *)object)->heap : NULL;
}

bool is_heap(id object) {
  return object && object->isa == &OBJC_CLASS_$_MettleHeap;
}

NSUInteger heap_options(id object) {
  return ((heap *)object)->options;
}

id heap_device(id object) {
  return ((heap *)object)->device;
}

static id new_heap(id self, SEL _cmd, id descriptor) {
  (void)_cmd;
  const heap_descriptor *from = (heap_descriptor *)descriptor;
  const mtl_heap_desc desc = {
      .length_bytes = from->size,
      .type = (mtl_heap_type)from->type,  // sparse ones are refused
      .storage_mode = storage_mode_of(from->resourceOptions),
      .tracks_hazards = (from->resourceOptions >> 8 & 3) == HAZARD_TRACKED};
  mtl_heap *made;
  if (mtl_heap_create(device_of(self), &desc, &made) != MTL_OK) {
    return NULL;
  }
  heap *object = (heap *)CREATE(MettleHeap);
  object->device = objc_retain(self);
  object->heap = made;
  object->options = from->resourceOptions;
  return &object->object;
}

static MTLSizeAndAlign size_and_align(id self, SEL _cmd, NSUInteger length,
                                      NSUInteger options) {
  (void)_cmd;
  (void)options;
  mtl_size_and_align size;
  if (mtl_device_heap_buffer_size_and_align(device_of(self), length, &size) !=
      MTL_OK) {
    return (MTLSizeAndAlign){0, 0};
  }
  return (MTLSizeAndAlign){size.size_bytes, size.align_bytes};
}

METHODS(device_methods,
        METHOD("newHeapWithDescriptor:", "@24@0:8@16", new_heap),
        METHOD("heapBufferSizeAndAlignWithLength:options:",
               "{?=QQ}32@0:8Q16Q24", size_and_align));
DEFINE_CATEGORY(MettleDevice, heaps, device_methods);

static void heap_dealloc(id self, SEL _cmd) {
  (void)_cmd;
  mtl_heap_release(heap_of(self));
  objc_release(((heap *)self)->device);
  instance_dispose(self);
}

// nil if there is no room, or the options are not the heap's.
static id heap_buffer_at(id self, SEL _cmd, NSUInteger length,
                         NSUInteger options, NSUInteger offset) {
  (void)_cmd;
  const mtl_buffer_desc desc = {.length_bytes = length,
                                .storage_mode = storage_mode_of(options)};
  mtl_buffer *buffer;
  if (mtl_heap_create_buffer(heap_of(self), &desc, offset, &buffer) !=
      MTL_OK) {
    return NULL;
  }
  return buffer_make_in_heap(self, buffer);
}

static id heap_buffer(id self, SEL _cmd, NSUInteger length,
                      NSUInteger options) {
  return heap_buffer_at(self, _cmd, length, options, 0);
}

READ_PROPERTY(heap, NSUInteger, options)
READ_PROPERTY(heap, id, device)

static NSUInteger heap_size(id self, SEL _cmd) {
  (void)_cmd;
  return mtl_heap_length(heap_of(self));
}

static NSUInteger heap_allocated(id self, SEL _cmd) {
  (void)_cmd;
  return mtl_heap_current_allocated_bytes(heap_of(self));
}

static NSUInteger heap_used(id self, SEL _cmd) {
  (void)_cmd;
  return mtl_heap_used_bytes(heap_of(self));
}

static NSUInteger heap_available(id self, SEL _cmd, NSUInteger alignment) {
  (void)_cmd;
  return mtl_heap_max_available_bytes(heap_of(self), alignment);
}

static NSUInteger heap_storage(id self, SEL _cmd) {
  (void)_cmd;
  return ((heap *)self)->options >> 4 & 15;
}

static NSUInteger heap_cache(id self, SEL _cmd) {
  (void)_cmd;
  return ((heap *)self)->options & 15;
}

static NSUInteger heap_hazards(id self, SEL _cmd) {
  (void)_cmd;
  return mtl_heap_tracks_hazards(heap_of(self)) ? HAZARD_TRACKED
                                                : HAZARD_UNTRACKED;
}

static NSInteger heap_type(id self, SEL _cmd) {
  (void)_cmd;
  return mtl_heap_get_type(heap_of(self));
}

static NSUInteger heap_purgeable(id self, SEL _cmd, NSUInteger state) {
  (void)_cmd;
  mtl_purgeable_state before;
  if (mtl_heap_set_purgeable_state(heap_of(self), (mtl_purgeable_state)state,
                                   &before) != MTL_OK) {
    metal_assert("setPurgeableState: %s", mtl_last_error());
  }
  return before;
}

static id heap_label(id self, SEL _cmd) {
  (void)_cmd;
  return label_make(mtl_heap_label(heap_of(self)));
}

static void heap_set_label(id self, SEL _cmd, id label) {
  (void)_cmd;
  mtl_heap_set_label(heap_of(self), string_utf8(label));
}

METHODS(heap_methods, METHOD("dealloc", "v16@0:8", heap_dealloc),
        METHOD("newBufferWithLength:options:", "@32@0:8Q16Q24", heap_buffer),
        METHOD("newBufferWithLength:options:offset:", "@40@0:8Q16Q24Q32",
               heap_buffer_at),
        METHOD("size", "Q16@0:8", heap_size),
        METHOD("allocatedSize", "Q16@0:8", heap_allocated),
        METHOD("currentAllocatedSize", "Q16@0:8", heap_allocated),
        METHOD("usedSize", "Q16@0:8", heap_used),
        METHOD("maxAvailableSizeWithAlignment:", "Q24@0:8Q16",
               heap_available),
        METHOD("resourceOptions", "Q16@0:8", heap_get_options),
        METHOD("storageMode", "Q16@0:8", heap_storage),
        METHOD("cpuCacheMode", "Q16@0:8", heap_cache),
        METHOD("hazardTrackingMode", "Q16@0:8", heap_hazards),
        METHOD("type", "q16@0:8", heap_type),
        METHOD("setPurgeableState:", "Q24@0:8Q16", heap_purgeable),
        METHOD("device", "@16@0:8", heap_get_device),
        METHOD("label", "@16@0:8", heap_label),
        METHOD("setLabel:", "v24@0:8@16", heap_set_label));
DEFINE_CLASS(MettleHeap, NSObject, sizeof(heap), heap_methods, NO_METHODS);
