// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// mtl4_command_buffer.c: MTL4CommandBuffer, a list of commands that the queue
// encodes at its commit, and MTL4CommandAllocator.
#include "objc/metal/metal4/mtl4.h"
#include "objc/metal/property.h"

extern struct objc_class OBJC_CLASS_$_MettleAllocator4;
extern struct objc_class OBJC_CLASS_$_MettleCommands4;

// --- MTL4CommandAllocator ----------------------------------------------------

// Commands lie in the C library's memory: the allocator has nothing to free.
typedef struct allocator {
  struct objc_object object;
  id device;  // +1
  id label;
} allocator;

REFERENCES(allocator, device, label)
READ_PROPERTY(allocator, id, device)
READ_PROPERTY(allocator, id, label)

static id new_allocator_by(id self, SEL _cmd, id descriptor, id *out_error) {
  (void)_cmd;
  (void)out_error;
  allocator *made = (allocator *)CREATE(MettleAllocator4);
  made->device = objc_retain(self);
  made->label = objc_retain(
      descriptor ? ((mtl4_allocator_descriptor *)descriptor)->label : NULL);
  return &made->object;
}

static id new_allocator(id self, SEL _cmd) {
  return new_allocator_by(self, _cmd, NULL, NULL);
}

static void allocator_reset(id self, SEL _cmd) {
  (void)self;
  (void)_cmd;
}

static uint64_t allocator_size(id self, SEL _cmd) {
  (void)self;
  (void)_cmd;
  return 0;
}

METHODS(allocator_methods, REFERENCES_METHODS(allocator),
        METHOD("device", "@16@0:8", allocator_get_device),
        METHOD("label", "@16@0:8", allocator_get_label),
        METHOD("allocatedSize", "Q16@0:8", allocator_size),
        METHOD("reset", "v16@0:8", allocator_reset));
DEFINE_CLASS(MettleAllocator4, NSObject, sizeof(allocator), allocator_methods,
             NO_METHODS);

// --- MTL4CommandBuffer -------------------------------------------------------

static id new_commands(id self, SEL _cmd) {
  (void)_cmd;
  mtl4_commands *made = (mtl4_commands *)CREATE(MettleCommands4);
  made->device = objc_retain(self);
  made->last = &made->first;
  made->sets = mutable_array_create();
  return &made->object;
}

static void commands_dealloc(id self, SEL _cmd) {
  (void)_cmd;
  mtl4_commands *of = (mtl4_commands *)self;
  mtl4_commands_clear(of);
  objc_release(of->device);
  objc_release(of->label);
  objc_release(of->sets);
  instance_dispose(self);
}

static void commands_begin(id self, SEL _cmd, id from) {
  (void)_cmd;
  mtl4_commands *of = (mtl4_commands *)self;
  if (!from) {
    metal_assert("beginCommandBufferWithAllocator: there is no allocator");
  }
  if (of->is_open) {
    metal_assert("beginCommandBufferWithAllocator: it was begun before");
  }
  mtl4_commands_clear(of);
  SEND(void (*)(id, SEL), of->sets, "removeAllObjects");
  of->is_open = true;
}

static void commands_begin_with(id self, SEL _cmd, id from, id options) {
  (void)options;
  commands_begin(self, _cmd, from);
}

static void commands_end(id self, SEL _cmd) {
  (void)_cmd;
  if (!((mtl4_commands *)self)->is_open) {
    metal_assert("endCommandBuffer: it was not begun");
  }
  ((mtl4_commands *)self)->is_open = false;
}

static id commands_encoder(id self, SEL _cmd) {
  (void)_cmd;
  return mtl4_encoder_make(self);
}

static void commands_use_set(id self, SEL _cmd, id set) {
  (void)_cmd;
  array_add(((mtl4_commands *)self)->sets, set);
}

static void commands_use_sets(id self, SEL _cmd, const id *sets,
                              NSUInteger count) {
  for (NSUInteger i = 0; i < count; ++i) {
    commands_use_set(self, _cmd, sets[i]);
  }
}

static void commands_timestamp(id self, SEL _cmd, id heap, NSUInteger index) {
  (void)_cmd;
  mtl4_commands_add_timestamp((mtl4_commands *)self, heap, index);
}

static void nothing(id self, SEL _cmd) {
  (void)self;
  (void)_cmd;
}

static void nothing_with(id self, SEL _cmd, id object) {
  (void)self;
  (void)_cmd;
  (void)object;
}

READ_PROPERTY(mtl4_commands, id, device)
COPY_PROPERTY(mtl4_commands, label)

METHODS(commands_methods, METHOD("dealloc", "v16@0:8", commands_dealloc),
        METHOD("device", "@16@0:8", mtl4_commands_get_device),
        OBJECT_METHODS(mtl4_commands, label, "setLabel:"),
        METHOD("beginCommandBufferWithAllocator:", "v24@0:8@16",
               commands_begin),
        METHOD("beginCommandBufferWithAllocator:options:", "v32@0:8@16@24",
               commands_begin_with),
        METHOD("endCommandBuffer", "v16@0:8", commands_end),
        METHOD("computeCommandEncoder", "@16@0:8", commands_encoder),
        METHOD("useResidencySet:", "v24@0:8@16", commands_use_set),
        METHOD("useResidencySets:count:", "v32@0:8^@16Q24", commands_use_sets),
        METHOD("writeTimestampIntoHeap:atIndex:", "v32@0:8@16Q24",
               commands_timestamp),
        METHOD("pushDebugGroup:", "v24@0:8@16", nothing_with),
        METHOD("popDebugGroup", "v16@0:8", nothing));
DEFINE_CLASS(MettleCommands4, NSObject, sizeof(mtl4_commands), commands_methods,
             NO_METHODS);

METHODS(device_methods, METHOD("newCommandAllocator", "@16@0:8", new_allocator),
        METHOD("newCommandAllocatorWithDescriptor:error:", "@32@0:8@16^@24",
               new_allocator_by),
        METHOD("newCommandBuffer", "@16@0:8", new_commands));
DEFINE_CATEGORY(MettleDevice, commands4, device_methods);
