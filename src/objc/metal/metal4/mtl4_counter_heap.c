// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// mtl4_counter_heap.c: MTL4CounterHeap, samples of the device's time that Metal
// 4's commands take.
#include <stdlib.h>

#include "objc/metal/metal4/mtl4.h"
#include "objc/metal/property.h"

extern struct objc_class OBJC_CLASS_$_MettleCounterHeap4;
extern id const MTLCounterErrorDomain;

enum { HEAP_TIMESTAMP = 1 };  // MTL4CounterHeapTypeTimestamp

typedef struct heap_descriptor {
  struct objc_object object;
  NSInteger type;
  NSUInteger count;
} heap_descriptor;

VALUES_ALONE(heap_descriptor)
VALUE_PROPERTY(heap_descriptor, NSInteger, type)
VALUE_PROPERTY(heap_descriptor, NSUInteger, count)
METHODS(heap_descriptor_methods, VALUES_ALONE_METHODS(heap_descriptor),
        VALUE_METHODS(heap_descriptor, type, "setType:", "q"),
        VALUE_METHODS(heap_descriptor, count, "setCount:", "Q"));
DEFINE_CLASS(MTL4CounterHeapDescriptor, NSObject, sizeof(heap_descriptor),
             heap_descriptor_methods, NO_METHODS);

typedef struct heap {
  struct objc_object object;
  id label;
  NSInteger type;
  NSUInteger count;
  mtl_counter_sample_buffer *samples;
} heap;

mtl_counter_sample_buffer *mtl4_heap_samples(id self) {
  return self ? ((heap *)self)->samples : NULL;
}

static void heap_dealloc(id self, SEL _cmd) {
  (void)_cmd;
  mtl_counter_sample_buffer_release(((heap *)self)->samples);
  objc_release(((heap *)self)->label);
  instance_dispose(self);
}

// Returns an NSData of times, a uint64_t each, 0 for one that was not taken;
// nil if the heap has no such range.
static id heap_resolve(id self, SEL _cmd, NSRange range) {
  (void)_cmd;
  const heap *of = (heap *)self;
  if (range.location > of->count || range.length > of->count - range.location) {
    return NULL;
  }
  uint64_t *ticks = malloc(range.length * sizeof *ticks + 1);
  id data = NULL;
  if (ticks && mtl_counter_sample_buffer_resolve(
                   of->samples, (uint32_t)range.location,
                   (uint32_t)range.length, ticks) == MTL_OK) {
    for (NSUInteger i = 0; i < range.length; ++i) {
      ticks[i] = ticks[i] == MTL_COUNTER_ERROR ? 0 : ticks[i];
    }
    data = data_make(ticks, range.length * sizeof *ticks);
  }
  free(ticks);
  return data;
}

READ_PROPERTY(heap, NSInteger, type)
READ_PROPERTY(heap, NSUInteger, count)
COPY_PROPERTY(heap, label)

METHODS(heap_methods, METHOD("dealloc", "v16@0:8", heap_dealloc),
        OBJECT_METHODS(heap, label, "setLabel:"),
        METHOD("type", "q16@0:8", heap_get_type),
        METHOD("count", "Q16@0:8", heap_get_count),
        METHOD("resolveCounterRange:", "@32@0:8{_NSRange=QQ}16", heap_resolve));
DEFINE_CLASS(MettleCounterHeap4, NSObject, sizeof(heap), heap_methods,
             NO_METHODS);

static id new_heap(id self, SEL _cmd, id descriptor, id *out_error) {
  (void)_cmd;
  const heap_descriptor *wanted = (heap_descriptor *)descriptor;
  const mtl_counter_sample_buffer_desc desc = {
      .sample_count = wanted->type != HEAP_TIMESTAMP ? 0
                      : wanted->count > UINT32_MAX   ? UINT32_MAX
                                                     : (uint32_t)wanted->count};
  mtl_counter_sample_buffer *samples;
  const mtl_status status =
      mtl_counter_sample_buffer_create(device_of(self), &desc, &samples);
  if (status != MTL_OK) {
    error_from_mettle(out_error, MTLCounterErrorDomain, status);
    return NULL;
  }
  heap *made = (heap *)CREATE(MettleCounterHeap4);
  made->type = wanted->type;
  made->count = wanted->count;
  made->samples = samples;
  return &made->object;
}

static NSUInteger entry_size(id self, SEL _cmd, NSInteger type) {
  (void)self;
  (void)_cmd;
  return type == HEAP_TIMESTAMP ? sizeof(uint64_t) : 0;
}

METHODS(device_methods,
        METHOD("newCounterHeapWithDescriptor:error:", "@32@0:8@16^@24",
               new_heap),
        METHOD("sizeOfCounterHeapEntry:", "Q24@0:8q16", entry_size));
DEFINE_CATEGORY(MettleDevice, heaps4, device_methods);
