// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// heap.c: MTLHeap. A heap here is a budget: each resource has memory of its
// own, and the heap counts it.
#include <pthread.h>
#include <stdlib.h>

#include "objc/metal/metal.h"
#include "objc/metal/property.h"

enum { ALIGNMENT = 256 };  // bytes, of a buffer in a heap

typedef struct heap_descriptor {
  struct objc_object object;
  NSUInteger size;
  NSUInteger resourceOptions;
  NSInteger type;  // MTLHeapType: automatic, placement
} heap_descriptor;

VALUE_PROPERTY(heap_descriptor, NSUInteger, size)
VALUE_PROPERTY(heap_descriptor, NSUInteger, resourceOptions)
VALUE_PROPERTY(heap_descriptor, NSInteger, type)

static id descriptor_init(id self, SEL _cmd) {
  (void)_cmd;
  // Private and untracked, by Apple's documentation.
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
  id label;
  NSUInteger size;
  NSUInteger options;
  pthread_mutex_t lock;
  NSUInteger used;
  id *live;  // [live_count] not retained: each keeps the heap
  size_t live_count;
  size_t live_capacity;
} heap;

extern struct objc_class OBJC_CLASS_$_MettleHeap;
extern struct objc_class OBJC_CLASS_$_MettleHeapBuffer;

static id new_heap(id self, SEL _cmd, id descriptor) {
  (void)_cmd;
  const heap_descriptor *from = (heap_descriptor *)descriptor;
  if (from->type != 0) {
    return NULL;  // placement: resources cannot share memory here
  }
  heap *made = (heap *)CREATE(MettleHeap);
  made->device = objc_retain(self);
  made->size = from->size;
  made->options = from->resourceOptions;
  pthread_mutex_init(&made->lock, NULL);
  return &made->object;
}

static MTLSizeAndAlign size_and_align(id self, SEL _cmd, NSUInteger length,
                                      NSUInteger options) {
  (void)self;
  (void)_cmd;
  (void)options;
  return (MTLSizeAndAlign){(length + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT,
                           ALIGNMENT};
}

METHODS(device_methods,
        METHOD("newHeapWithDescriptor:", "@24@0:8@16", new_heap),
        METHOD("heapBufferSizeAndAlignWithLength:options:",
               "{?=QQ}32@0:8Q16Q24", size_and_align));
DEFINE_CATEGORY(MettleDevice, heaps, device_methods);

static void heap_dealloc(id self, SEL _cmd) {
  (void)_cmd;
  heap *of = (heap *)self;
  pthread_mutex_destroy(&of->lock);
  free(of->live);
  objc_release(of->label);
  objc_release(of->device);
  instance_dispose(self);
}

// Counts a buffer; false if the budget does not allow it.
static bool admit(heap *of, NSUInteger bytes) {
  pthread_mutex_lock(&of->lock);
  bool fits = bytes <= of->size - of->used;
  if (fits && of->live_count == of->live_capacity) {
    const size_t wanted = of->live_capacity ? 2 * of->live_capacity : 16;
    id *grown = realloc(of->live, wanted * sizeof *grown);
    fits = grown != NULL;
    if (fits) {
      of->live = grown;
      of->live_capacity = wanted;
    }
  }
  if (fits) {
    of->used += bytes;
    of->live[of->live_count++] = NULL;
  }
  pthread_mutex_unlock(&of->lock);
  return fits;
}

// Puts made in place of the NULL that admit left, or takes one away.
static void settle(heap *of, id from, id to, NSUInteger freed) {
  pthread_mutex_lock(&of->lock);
  for (size_t i = 0; i < of->live_count; ++i) {
    if (of->live[i] == from) {
      of->live[i] = to;
      if (!to) {
        of->live[i] = of->live[--of->live_count];
      }
      break;
    }
  }
  of->used -= freed;
  pthread_mutex_unlock(&of->lock);
}

static id heap_buffer(id self, SEL _cmd, NSUInteger length,
                      NSUInteger options) {
  heap *of = (heap *)self;
  const NSUInteger bytes =
      size_and_align(self, _cmd, length, options).size;
  if (!length || !admit(of, bytes)) {
    return NULL;
  }
  const id made = SEND(id(*)(id, SEL, NSUInteger, NSUInteger), of->device,
                       "newBufferWithLength:options:", length, of->options);
  if (!made) {
    settle(of, NULL, NULL, bytes);
    return NULL;
  }
  ((metal_buffer *)made)->heap = objc_retain(self);
  made->isa = &OBJC_CLASS_$_MettleHeapBuffer;
  settle(of, NULL, made, 0);
  return made;
}

// A buffer of a heap gives its bytes back.
static void heap_buffer_dealloc(id self, SEL _cmd) {
  const metal_buffer *buffer = (metal_buffer *)self;
  settle((heap *)buffer->heap, self, NULL,
         size_and_align(self, _cmd, buffer->length, 0).size);
  const struct objc_super super = {self, &OBJC_CLASS_$_MettleHeapBuffer};
  extern const char objc_msgSendSuper2[];
  ((void (*)(const struct objc_super *, SEL))objc_msgSendSuper2)(
      &super, SELECTOR("dealloc"));
}

METHODS(heap_buffer_methods,
        METHOD("dealloc", "v16@0:8", heap_buffer_dealloc));
DEFINE_CLASS(MettleHeapBuffer, MettleBuffer, sizeof(metal_buffer),
             heap_buffer_methods, NO_METHODS);

// The heap's live resources, for useHeap:.
static id heap_resources(id self, SEL _cmd) {
  (void)_cmd;
  heap *of = (heap *)self;
  const id list = objc_autorelease(mutable_array_create());
  pthread_mutex_lock(&of->lock);
  for (size_t i = 0; i < of->live_count; ++i) {
    if (of->live[i] && instance_try_retain(of->live[i])) {
      SEND(void (*)(id, SEL, id), list, "addObject:", of->live[i]);
      objc_autorelease(of->live[i]);
    }
  }
  pthread_mutex_unlock(&of->lock);
  return list;
}

READ_PROPERTY(heap, NSUInteger, size)
READ_PROPERTY(heap, NSUInteger, options)
READ_PROPERTY(heap, id, device)
COPY_PROPERTY(heap, label)

static NSUInteger heap_used(id self, SEL _cmd) {
  (void)_cmd;
  heap *of = (heap *)self;
  pthread_mutex_lock(&of->lock);
  const NSUInteger used = of->used;
  pthread_mutex_unlock(&of->lock);
  return used;
}

static NSUInteger heap_available(id self, SEL _cmd, NSUInteger alignment) {
  (void)alignment;
  return ((heap *)self)->size - heap_used(self, _cmd);
}

static NSUInteger heap_storage(id self, SEL _cmd) {
  (void)_cmd;
  return ((heap *)self)->options >> 4 & 15;
}

static NSInteger heap_type(id self, SEL _cmd) {
  (void)self;
  (void)_cmd;
  return 0;  // MTLHeapTypeAutomatic
}

static NSUInteger heap_purgeable(id self, SEL _cmd, NSUInteger state) {
  (void)self;
  (void)_cmd;
  (void)state;
  return 2;  // MTLPurgeableStateNonVolatile
}

METHODS(heap_methods, METHOD("dealloc", "v16@0:8", heap_dealloc),
        METHOD("newBufferWithLength:options:", "@32@0:8Q16Q24", heap_buffer),
        METHOD("mettleResources", "@16@0:8", heap_resources),
        METHOD("size", "Q16@0:8", heap_get_size),
        METHOD("allocatedSize", "Q16@0:8", heap_get_size),
        METHOD("currentAllocatedSize", "Q16@0:8", heap_get_size),
        METHOD("usedSize", "Q16@0:8", heap_used),
        METHOD("maxAvailableSizeWithAlignment:", "Q24@0:8Q16",
               heap_available),
        METHOD("resourceOptions", "Q16@0:8", heap_get_options),
        METHOD("storageMode", "Q16@0:8", heap_storage),
        METHOD("type", "q16@0:8", heap_type),
        METHOD("setPurgeableState:", "Q24@0:8Q16", heap_purgeable),
        METHOD("device", "@16@0:8", heap_get_device),
        OBJECT_METHODS(heap, label, "setLabel:"));
DEFINE_CLASS(MettleHeap, NSObject, sizeof(heap), heap_methods, NO_METHODS);
