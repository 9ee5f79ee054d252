// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// residency.c: MTLResidencySet, over mtl_residency_set. It also keeps its own
// list of allocations, so that a client gets its objects back.
#include <pthread.h>

#include "objc/metal/metal.h"
#include "objc/metal/property.h"

typedef struct residency_descriptor {
  struct objc_object object;
  id label;
  NSUInteger initialCapacity;
} residency_descriptor;

REFERENCES(residency_descriptor, label, label)
COPY_PROPERTY(residency_descriptor, label)
VALUE_PROPERTY(residency_descriptor, NSUInteger, initialCapacity)

METHODS(descriptor_methods, REFERENCES_METHODS(residency_descriptor),
        OBJECT_METHODS(residency_descriptor, label, "setLabel:"),
        VALUE_METHODS(residency_descriptor, initialCapacity,
                      "setInitialCapacity:", "Q"));
DEFINE_CLASS(MTLResidencySetDescriptor, NSObject, sizeof(residency_descriptor),
             descriptor_methods, NO_METHODS);

typedef struct residency_set {
  struct objc_object object;
  id device;  // +1
  mtl_residency_set *set;
  id allocations;  // NSMutableArray
  pthread_mutex_t lock;
} residency_set;

extern struct objc_class OBJC_CLASS_$_MettleResidencySet;

static id new_set(id self, SEL _cmd, id descriptor, id *out_error) {
  (void)_cmd;
  const residency_descriptor *from = (residency_descriptor *)descriptor;
  const mtl_residency_set_desc desc = {
      .initial_capacity = from->initialCapacity,
      .label = from->label ? string_utf8(from->label) : NULL};
  mtl_residency_set *set;
  const mtl_status status =
      mtl_residency_set_create(device_of(self), &desc, &set);
  if (status != MTL_OK) {
    error_from_mettle(out_error, MTLDeviceError, status);
    return NULL;
  }
  residency_set *made = (residency_set *)CREATE(MettleResidencySet);
  made->device = objc_retain(self);
  made->set = set;
  made->allocations = mutable_array_create();
  pthread_mutex_init(&made->lock, NULL);
  return &made->object;
}

METHODS(device_methods, METHOD("newResidencySetWithDescriptor:error:",
                               "@32@0:8@16^@24", new_set));
DEFINE_CATEGORY(MettleDevice, residency, device_methods);

static void set_dealloc(id self, SEL _cmd) {
  (void)_cmd;
  residency_set *set = (residency_set *)self;
  objc_release(set->allocations);
  mtl_residency_set_release(set->set);
  objc_release(set->device);
  pthread_mutex_destroy(&set->lock);
  instance_dispose(self);
}

// Sends a message about object to the list, under its lock.
#define ON_LIST(type, self, ...)                     \
  __extension__({                                    \
    residency_set *locked = (residency_set *)(self); \
    pthread_mutex_lock(&locked->lock);               \
    const type answer = (__VA_ARGS__);               \
    pthread_mutex_unlock(&locked->lock);             \
    answer;                                          \
  })

static NSUInteger index_of(id self, id allocation) {
  return SEND(NSUInteger(*)(id, SEL, id), ((residency_set *)self)->allocations,
              "indexOfObjectIdenticalTo:", allocation);
}

mtl_residency_set *residency_set_of(id set) {
  return set ? ((residency_set *)set)->set : NULL;
}

extern struct objc_class OBJC_CLASS_$_MettleTexture;

// Converts an MTLAllocation to the C API's. Function tables and indirect
// commands have none: they are in the host's memory.
static mtl_allocation allocation_of(id object) {
  mtl_allocation allocation = {.buffer = tensor_buffer(object)};
  if (is_buffer(object)) {
    allocation.buffer = buffer_of(object);
  } else if (is_heap(object)) {
    allocation.heap = heap_of(object);
  } else if (object && object->isa == &OBJC_CLASS_$_MettleTexture) {
    allocation.texture = texture_of(object);
  }
  return allocation;
}

static bool is_same(mtl_allocation one, mtl_allocation other) {
  return one.buffer == other.buffer && one.heap == other.heap &&
         one.texture == other.texture;
}

// True if the list has an allocation of the same memory: tensors share buffers.
static bool has_same(id list, mtl_allocation wanted) {
  for (size_t i = 0; i < array_count(list); ++i) {
    if (is_same(allocation_of(array_at(list, i)), wanted)) {
      return true;
    }
  }
  return false;
}

static int change(id self, id allocation, bool adds) {
  const mtl_allocation one = allocation_of(allocation);
  mtl_residency_set *set = residency_set_of(self);
  const id list = ((residency_set *)self)->allocations;
  const NSUInteger index = index_of(self, allocation);
  if (adds && index == NSNotFound) {
    SEND(void (*)(id, SEL, id), list, "addObject:", allocation);
  } else if (!adds && index != NSNotFound) {
    SEND(void (*)(id, SEL, NSUInteger), list, "removeObjectAtIndex:", index);
  }
  const bool is_kept =
      is_same(one, (mtl_allocation){0}) || (!adds && has_same(list, one));
  if (!is_kept && (adds ? mtl_residency_set_add(set, &one, 1)
                        : mtl_residency_set_remove(set, &one, 1)) != MTL_OK) {
    metal_assert("residency set: %s", mtl_last_error());
  }
  return 0;
}

static void set_add(id self, SEL _cmd, id allocation) {
  (void)_cmd;
  ON_LIST(int, self, change(self, allocation, true));
}

static void set_remove(id self, SEL _cmd, id allocation) {
  (void)_cmd;
  ON_LIST(int, self, change(self, allocation, false));
}

static void set_add_all(id self, SEL _cmd, const id *allocations,
                        NSUInteger count) {
  for (NSUInteger i = 0; i < count; ++i) {
    set_add(self, _cmd, allocations[i]);
  }
}

static void set_remove_all(id self, SEL _cmd, const id *allocations,
                           NSUInteger count) {
  for (NSUInteger i = 0; i < count; ++i) {
    set_remove(self, _cmd, allocations[i]);
  }
}

static int clear(id self) {
  mtl_residency_set_remove_all(residency_set_of(self));
  SEND(void (*)(id, SEL), ((residency_set *)self)->allocations,
       "removeAllObjects");
  return 0;
}

static void set_clear(id self, SEL _cmd) {
  (void)_cmd;
  ON_LIST(int, self, clear(self));
}

static int set_contains(id self, SEL _cmd, id allocation) {
  (void)_cmd;
  return ON_LIST(int, self, index_of(self, allocation) != NSNotFound);
}

static NSUInteger set_count(id self, SEL _cmd) {
  (void)_cmd;
  return ON_LIST(NSUInteger, self,
                 array_count(((residency_set *)self)->allocations));
}

static id set_list(id self, SEL _cmd) {
  (void)_cmd;
  return objc_autorelease(ON_LIST(
      id, self,
      SEND(id(*)(id, SEL), ((residency_set *)self)->allocations, "copy")));
}

static uint64_t set_size(id self, SEL _cmd) {
  (void)_cmd;
  return mtl_residency_set_allocated_bytes(residency_set_of(self));
}

static id set_device(id self, SEL _cmd) {
  (void)_cmd;
  return ((residency_set *)self)->device;
}

static id set_label(id self, SEL _cmd) {
  (void)_cmd;
  return label_make(mtl_residency_set_label(residency_set_of(self)));
}

static void set_commit(id self, SEL _cmd) {
  (void)_cmd;
  if (mtl_residency_set_commit(residency_set_of(self)) != MTL_OK) {
    metal_assert("commit: %s", mtl_last_error());
  }
}

static void set_request(id self, SEL _cmd) {
  (void)_cmd;
  mtl_residency_set_request(residency_set_of(self));
}

static void set_end(id self, SEL _cmd) {
  (void)_cmd;
  mtl_residency_set_end(residency_set_of(self));
}

METHODS(set_methods, METHOD("dealloc", "v16@0:8", set_dealloc),
        METHOD("addAllocation:", "v24@0:8@16", set_add),
        METHOD("removeAllocation:", "v24@0:8@16", set_remove),
        METHOD("addAllocations:count:", "v32@0:8^@16Q24", set_add_all),
        METHOD("removeAllocations:count:", "v32@0:8^@16Q24", set_remove_all),
        METHOD("removeAllAllocations", "v16@0:8", set_clear),
        METHOD("containsAllocation:", "B24@0:8@16", set_contains),
        METHOD("allocationCount", "Q16@0:8", set_count),
        METHOD("allAllocations", "@16@0:8", set_list),
        METHOD("allocatedSize", "Q16@0:8", set_size),
        METHOD("device", "@16@0:8", set_device),
        METHOD("label", "@16@0:8", set_label),
        METHOD("commit", "v16@0:8", set_commit),
        METHOD("requestResidency", "v16@0:8", set_request),
        METHOD("endResidency", "v16@0:8", set_end));
DEFINE_CLASS(MettleResidencySet, NSObject, sizeof(residency_set), set_methods,
             NO_METHODS);
