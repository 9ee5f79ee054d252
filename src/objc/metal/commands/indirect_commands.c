// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// indirect_commands.c: MTLIndirectCommandBuffer for compute, over
// mtl_indirect_command_buffer: dispatches that are recorded once and executed
// many times.
#include "objc/metal/commands/indirect_commands.h"

#include "objc/metal/property.h"

extern struct objc_class OBJC_CLASS_$_MettleIndirectCommands;
extern struct objc_class OBJC_CLASS_$_MettleIndirectCommand;

// --- The descriptor ----------------------------------------------------------

typedef struct indirect_descriptor {
  struct objc_object object;
  NSUInteger commandTypes;
  NSUInteger maxKernelBufferBindCount;
  NSUInteger maxKernelThreadgroupMemoryBindCount;
  NSUInteger maxVertexBufferBindCount;
  NSUInteger maxFragmentBufferBindCount;
  bool inheritBuffers;
  bool inheritPipelineState;
} indirect_descriptor;

VALUES_ALONE(indirect_descriptor)
VALUE_PROPERTY(indirect_descriptor, NSUInteger, commandTypes)
VALUE_PROPERTY(indirect_descriptor, NSUInteger, maxKernelBufferBindCount)
VALUE_PROPERTY(indirect_descriptor, NSUInteger,
               maxKernelThreadgroupMemoryBindCount)
VALUE_PROPERTY(indirect_descriptor, NSUInteger, maxVertexBufferBindCount)
VALUE_PROPERTY(indirect_descriptor, NSUInteger, maxFragmentBufferBindCount)
FLAG_PROPERTY(indirect_descriptor, inheritBuffers)
FLAG_PROPERTY(indirect_descriptor, inheritPipelineState)

static id descriptor_init(id self, SEL _cmd) {
  (void)_cmd;
  ((indirect_descriptor *)self)->inheritBuffers = true;
  ((indirect_descriptor *)self)->maxKernelBufferBindCount =
      MTL_MAX_BUFFER_ARGUMENTS;
  return self;
}

METHODS(descriptor_methods, METHOD("init", "@16@0:8", descriptor_init),
        VALUES_ALONE_METHODS(indirect_descriptor),
        VALUE_METHODS(indirect_descriptor, commandTypes, "setCommandTypes:",
                      "Q"),
        VALUE_METHODS(indirect_descriptor, maxKernelBufferBindCount,
                      "setMaxKernelBufferBindCount:", "Q"),
        VALUE_METHODS(indirect_descriptor,
                      maxKernelThreadgroupMemoryBindCount,
                      "setMaxKernelThreadgroupMemoryBindCount:", "Q"),
        VALUE_METHODS(indirect_descriptor, maxVertexBufferBindCount,
                      "setMaxVertexBufferBindCount:", "Q"),
        VALUE_METHODS(indirect_descriptor, maxFragmentBufferBindCount,
                      "setMaxFragmentBufferBindCount:", "Q"),
        FLAG_METHODS(indirect_descriptor, inheritBuffers,
                     "setInheritBuffers:"),
        FLAG_METHODS(indirect_descriptor, inheritPipelineState,
                     "setInheritPipelineState:"));
DEFINE_CLASS(MTLIndirectCommandBufferDescriptor, NSObject,
             sizeof(indirect_descriptor), descriptor_methods, NO_METHODS);

// --- Commands ----------------------------------------------------------------

typedef struct indirect_commands {
  struct objc_object object;
  id device;  // +1
  mtl_indirect_command_buffer *commands;
  NSUInteger options;  // MTLResourceOptions
} indirect_commands;

// The result of indirectComputeCommandAtIndex: the place of a command.
typedef struct command_handle {
  struct objc_object object;
  id owner;  // +1
  uint32_t index;
} command_handle;

mtl_indirect_command_buffer *indirect_commands_of(id commands) {
  return commands ? ((indirect_commands *)commands)->commands : NULL;
}

static mtl_indirect_command_buffer *owner_of(id self) {
  return indirect_commands_of(((command_handle *)self)->owner);
}

static uint32_t index_of(id self) {
  return ((command_handle *)self)->index;
}

// Metal's validation aborts on errors that the C API returns.
static void expect(mtl_status status) {
  if (status != MTL_OK) {
    metal_assert("indirect command: %s", mtl_last_error());
  }
}

static uint32_t number_of(NSUInteger number) {
  return number > UINT32_MAX ? UINT32_MAX : (uint32_t)number;
}

static void set_pipeline(id self, SEL _cmd, id pipeline) {
  (void)_cmd;
  expect(mtl_indirect_command_buffer_set_pipeline(
      owner_of(self), index_of(self), pipeline_of(pipeline)));
}

static void set_buffer(id self, SEL _cmd, id buffer, NSUInteger offset,
                       NSUInteger index) {
  (void)_cmd;
  expect(mtl_indirect_command_buffer_set_buffer(
      owner_of(self), index_of(self), buffer_of(buffer),
      buffer_offset_of(buffer) + offset, number_of(index)));
}

static void set_threadgroup_memory(id self, SEL _cmd, NSUInteger length,
                                   NSUInteger index) {
  (void)_cmd;
  expect(mtl_indirect_command_buffer_set_threadgroup_memory(
      owner_of(self), index_of(self), length, number_of(index)));
}

static void dispatch_groups(id self, SEL _cmd, MTLSize grid, MTLSize group) {
  (void)_cmd;
  expect(mtl_indirect_command_buffer_dispatch_threadgroups(
      owner_of(self), index_of(self), size_of(grid), size_of(group)));
}

static void dispatch_threads(id self, SEL _cmd, MTLSize grid, MTLSize group) {
  (void)_cmd;
  expect(mtl_indirect_command_buffer_dispatch_threads(
      owner_of(self), index_of(self), size_of(grid), size_of(group)));
}

static void set_barrier(id self, SEL _cmd) {
  (void)_cmd;
  expect(mtl_indirect_command_buffer_set_barrier(owner_of(self),
                                                 index_of(self), true));
}

static void clear_barrier(id self, SEL _cmd) {
  (void)_cmd;
  expect(mtl_indirect_command_buffer_set_barrier(owner_of(self),
                                                 index_of(self), false));
}

static void reset(id self, SEL _cmd) {
  (void)_cmd;
  expect(
      mtl_indirect_command_buffer_reset(owner_of(self), index_of(self), 1));
}

static void handle_dealloc(id self, SEL _cmd) {
  (void)_cmd;
  objc_release(((command_handle *)self)->owner);
  instance_dispose(self);
}

METHODS(handle_methods, METHOD("dealloc", "v16@0:8", handle_dealloc),
        METHOD("setComputePipelineState:", "v24@0:8@16", set_pipeline),
        METHOD("setKernelBuffer:offset:atIndex:", "v40@0:8@16Q24Q32",
               set_buffer),
        METHOD("setThreadgroupMemoryLength:atIndex:", "v32@0:8Q16Q24",
               set_threadgroup_memory),
        METHOD("concurrentDispatchThreadgroups:threadsPerThreadgroup:",
               "v64@0:8{?=QQQ}16{?=QQQ}40", dispatch_groups),
        METHOD("concurrentDispatchThreads:threadsPerThreadgroup:",
               "v64@0:8{?=QQQ}16{?=QQQ}40", dispatch_threads),
        METHOD("setBarrier", "v16@0:8", set_barrier),
        METHOD("clearBarrier", "v16@0:8", clear_barrier),
        METHOD("reset", "v16@0:8", reset));
DEFINE_CLASS(MettleIndirectCommand, NSObject, sizeof(command_handle),
             handle_methods, NO_METHODS);

// --- The buffer --------------------------------------------------------------

enum {
  // MTLIndirectCommandType: the others draw.
  DISPATCHES =
      MTL_INDIRECT_DISPATCH_THREADGROUPS | MTL_INDIRECT_DISPATCH_THREADS,
};

static id new_indirect(id self, SEL _cmd, id descriptor, NSUInteger count,
                       NSUInteger options) {
  (void)_cmd;
  const indirect_descriptor *from = (indirect_descriptor *)descriptor;
  const mtl_indirect_command_buffer_desc desc = {
      .max_commands = number_of(count),
      .command_types = (uint32_t)from->commandTypes & DISPATCHES,
      .max_buffers = number_of(from->maxKernelBufferBindCount),
      .max_threadgroup_memory =
          number_of(from->maxKernelThreadgroupMemoryBindCount),
      .inherit_buffers = from->inheritBuffers,
      .inherit_pipeline = from->inheritPipelineState};
  mtl_indirect_command_buffer *commands;
  if ((from->commandTypes && !desc.command_types) ||
      mtl_indirect_command_buffer_create(device_of(self), &desc, &commands) !=
          MTL_OK) {
    return NULL;
  }
  indirect_commands *made =
      (indirect_commands *)CREATE(MettleIndirectCommands);
  made->options = options;
  made->device = objc_retain(self);
  made->commands = commands;
  return &made->object;
}

METHODS(device_methods,
        METHOD("newIndirectCommandBufferWithDescriptor:maxCommandCount:"
               "options:",
               "@40@0:8@16Q24Q32", new_indirect));
DEFINE_CATEGORY(MettleDevice, indirect_commands, device_methods);

static void buffer_dealloc(id self, SEL _cmd) {
  (void)_cmd;
  mtl_indirect_command_buffer_release(indirect_commands_of(self));
  objc_release(((indirect_commands *)self)->device);
  instance_dispose(self);
}

void indirect_commands_check(id commands, NSRange range) {
  const NSUInteger count =
      mtl_indirect_command_buffer_size(indirect_commands_of(commands));
  if (range.location > count || range.length > count - range.location) {
    metal_assert("commands %lu to %lu are not all among %lu", range.location,
                 range.location + range.length, count);
  }
}

static id buffer_command(id self, SEL _cmd, NSUInteger index) {
  (void)_cmd;
  indirect_commands_check(self, (NSRange){index, 1});
  command_handle *made = (command_handle *)CREATE(MettleIndirectCommand);
  made->owner = objc_retain(self);
  made->index = (uint32_t)index;
  return objc_autorelease(&made->object);
}

static NSUInteger buffer_count(id self, SEL _cmd) {
  (void)_cmd;
  return mtl_indirect_command_buffer_size(indirect_commands_of(self));
}

static void buffer_reset(id self, SEL _cmd, NSRange range) {
  (void)_cmd;
  indirect_commands_check(self, range);
  expect(mtl_indirect_command_buffer_reset(indirect_commands_of(self),
                                           (uint32_t)range.location,
                                           (uint32_t)range.length));
}

static id buffer_device(id self, SEL _cmd) {
  (void)_cmd;
  return ((indirect_commands *)self)->device;
}

static id buffer_label(id self, SEL _cmd) {
  (void)_cmd;
  return label_make(
      mtl_indirect_command_buffer_label(indirect_commands_of(self)));
}

static void buffer_set_label(id self, SEL _cmd, id label) {
  (void)_cmd;
  mtl_indirect_command_buffer_set_label(indirect_commands_of(self),
                                        string_utf8(label));
}

static uint64_t buffer_resource(id self, SEL _cmd) {
  (void)_cmd;
  uint64_t resource = 0;
  expect(mtl_indirect_command_buffer_resource_id(indirect_commands_of(self),
                                                 &resource));
  return resource;
}

// --- As an MTLResource -------------------------------------------------------

static NSUInteger options_of(id self) {
  return ((indirect_commands *)self)->options;
}

static NSUInteger resource_options(id self, SEL _cmd) {
  (void)_cmd;
  return options_of(self);
}

static NSUInteger resource_cache(id self, SEL _cmd) {
  (void)_cmd;
  return options_of(self) & 15;
}

static NSUInteger resource_storage(id self, SEL _cmd) {
  (void)_cmd;
  return options_of(self) >> 4 & 15;
}

static NSUInteger resource_hazards(id self, SEL _cmd) {
  enum { TRACKED = 2 };
  (void)_cmd;
  const NSUInteger wish = options_of(self) >> 8 & 3;
  return wish ? wish : TRACKED;
}

// An indirect command buffer is in no heap, cannot be purged, and has no size
// in residency sets.
static NSUInteger resource_zero(id self, SEL _cmd) {
  (void)self;
  (void)_cmd;
  return 0;
}

static void resource_alias(id self, SEL _cmd) {
  (void)self;
  (void)_cmd;
}

static NSUInteger resource_purge(id self, SEL _cmd, NSUInteger state) {
  enum { NON_VOLATILE = 2 };
  (void)self;
  (void)_cmd;
  (void)state;
  return NON_VOLATILE;
}

METHODS(buffer_methods, METHOD("dealloc", "v16@0:8", buffer_dealloc),
        METHOD("gpuResourceID", "{MTLResourceID=Q}16@0:8", buffer_resource),
        METHOD("resourceOptions", "Q16@0:8", resource_options),
        METHOD("cpuCacheMode", "Q16@0:8", resource_cache),
        METHOD("storageMode", "Q16@0:8", resource_storage),
        METHOD("hazardTrackingMode", "Q16@0:8", resource_hazards),
        METHOD("heap", "@16@0:8", resource_zero),
        METHOD("heapOffset", "Q16@0:8", resource_zero),
        METHOD("allocatedSize", "Q16@0:8", resource_zero),
        METHOD("isAliasable", "B16@0:8", resource_zero),
        METHOD("makeAliasable", "v16@0:8", resource_alias),
        METHOD("setPurgeableState:", "Q24@0:8Q16", resource_purge),
        METHOD("indirectComputeCommandAtIndex:", "@24@0:8Q16",
               buffer_command),
        METHOD("size", "Q16@0:8", buffer_count),
        METHOD("resetWithRange:", "v32@0:8{_NSRange=QQ}16", buffer_reset),
        METHOD("device", "@16@0:8", buffer_device),
        METHOD("label", "@16@0:8", buffer_label),
        METHOD("setLabel:", "v24@0:8@16", buffer_set_label));
DEFINE_CLASS(MettleIndirectCommands, NSObject, sizeof(indirect_commands),
             buffer_methods, NO_METHODS);
