// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// indirect_commands.c: MTLIndirectCommandBuffer for compute: dispatches that
// are recorded once and executed again and again. Commands are read when an
// encoder executes them.
#include "objc/metal/indirect_commands.h"

#include <stdlib.h>

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

typedef struct bound_buffer {
  mtl_buffer *buffer;  // +1: a command outlives no buffer unnoticed
  size_t offset;
} bound_buffer;

typedef struct indirect_command {
  mtl_pipeline *pipeline;  // +1
  bound_buffer buffers[MTL_MAX_BUFFER_ARGUMENTS];
  uint32_t bound;  // a bit for each buffer that is set
  size_t threadgroup_bytes[MTL_MAX_THREADGROUP_ARGUMENTS];
  mtl_size grid;
  mtl_size group;
  bool counts_threads;
  bool has_barrier;
} indirect_command;

typedef struct indirect_commands {
  struct objc_object object;
  id device;  // +1
  id label;
  bool inherits_buffers;
  bool inherits_pipeline;
  size_t count;
  indirect_command *commands;  // [count]
} indirect_commands;

// What indirectComputeCommandAtIndex: gives: the place of a command.
typedef struct command_handle {
  struct objc_object object;
  id owner;  // +1
  size_t index;
} command_handle;

static indirect_command *command_of(id self) {
  const command_handle *handle = (command_handle *)self;
  return &((indirect_commands *)handle->owner)->commands[handle->index];
}

static void clear(indirect_command *command) {
  mtl_pipeline_release(command->pipeline);
  for (size_t i = 0; i < MTL_MAX_BUFFER_ARGUMENTS; ++i) {
    mtl_buffer_release(command->buffers[i].buffer);
  }
  *command = (indirect_command){0};
}

static void set_pipeline(id self, SEL _cmd, id pipeline) {
  (void)_cmd;
  indirect_command *command = command_of(self);
  mtl_pipeline *kept = mtl_pipeline_retain(pipeline_of(pipeline));
  mtl_pipeline_release(command->pipeline);
  command->pipeline = kept;
}

static void set_buffer(id self, SEL _cmd, id buffer, NSUInteger offset,
                       NSUInteger index) {
  (void)_cmd;
  if (index >= MTL_MAX_BUFFER_ARGUMENTS) {
    metal_assert("setKernelBuffer: index %lu is not below %d", index,
                 MTL_MAX_BUFFER_ARGUMENTS);
  }
  indirect_command *command = command_of(self);
  bound_buffer *place = &command->buffers[index];
  mtl_buffer *kept = mtl_buffer_retain(buffer_of(buffer));
  mtl_buffer_release(place->buffer);
  *place = (bound_buffer){kept, buffer_offset_of(buffer) + offset};
  command->bound |= 1u << index;
}

static void set_threadgroup_memory(id self, SEL _cmd, NSUInteger length,
                                   NSUInteger index) {
  (void)_cmd;
  if (index >= MTL_MAX_THREADGROUP_ARGUMENTS) {
    metal_assert("setThreadgroupMemoryLength: index %lu is not below %d",
                 index, MTL_MAX_THREADGROUP_ARGUMENTS);
  }
  command_of(self)->threadgroup_bytes[index] = length;
}

static void dispatch(id self, MTLSize grid, MTLSize group,
                     bool counts_threads) {
  indirect_command *command = command_of(self);
  command->grid = size_of(grid);
  command->group = size_of(group);
  command->counts_threads = counts_threads;
}

static void dispatch_groups(id self, SEL _cmd, MTLSize grid, MTLSize group) {
  (void)_cmd;
  dispatch(self, grid, group, false);
}

static void dispatch_threads(id self, SEL _cmd, MTLSize grid, MTLSize group) {
  (void)_cmd;
  dispatch(self, grid, group, true);
}

static void set_barrier(id self, SEL _cmd) {
  (void)_cmd;
  command_of(self)->has_barrier = true;
}

static void clear_barrier(id self, SEL _cmd) {
  (void)_cmd;
  command_of(self)->has_barrier = false;
}

static void reset(id self, SEL _cmd) {
  (void)_cmd;
  clear(command_of(self));
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

static id new_indirect(id self, SEL _cmd, id descriptor, NSUInteger count,
                       NSUInteger options) {
  (void)_cmd;
  (void)options;
  const indirect_descriptor *from = (indirect_descriptor *)descriptor;
  indirect_commands *made =
      (indirect_commands *)CREATE(MettleIndirectCommands);
  made->device = objc_retain(self);
  made->inherits_buffers = from->inheritBuffers;
  made->inherits_pipeline = from->inheritPipelineState;
  made->count = count;
  made->commands = calloc(count + 1, sizeof *made->commands);
  if (!made->commands) {
    objc_release(&made->object);
    return NULL;
  }
  return &made->object;
}

METHODS(device_methods,
        METHOD("newIndirectCommandBufferWithDescriptor:maxCommandCount:"
               "options:",
               "@40@0:8@16Q24Q32", new_indirect));
DEFINE_CATEGORY(MettleDevice, indirect_commands, device_methods);

static void buffer_dealloc(id self, SEL _cmd) {
  (void)_cmd;
  indirect_commands *buffer = (indirect_commands *)self;
  for (size_t i = 0; buffer->commands && i < buffer->count; ++i) {
    clear(&buffer->commands[i]);
  }
  free(buffer->commands);
  objc_release(buffer->label);
  objc_release(buffer->device);
  instance_dispose(self);
}

static void check_range(const indirect_commands *buffer, NSRange range) {
  if (range.location > buffer->count ||
      range.length > buffer->count - range.location) {
    metal_assert("commands %lu to %lu are not all among %zu", range.location,
                 range.location + range.length, buffer->count);
  }
}

static id buffer_command(id self, SEL _cmd, NSUInteger index) {
  (void)_cmd;
  check_range((indirect_commands *)self, (NSRange){index, 1});
  command_handle *made = (command_handle *)CREATE(MettleIndirectCommand);
  made->owner = objc_retain(self);
  made->index = index;
  return objc_autorelease(&made->object);
}

static NSUInteger buffer_count(id self, SEL _cmd) {
  (void)_cmd;
  return ((indirect_commands *)self)->count;
}

static void buffer_reset(id self, SEL _cmd, NSRange range) {
  (void)_cmd;
  indirect_commands *buffer = (indirect_commands *)self;
  check_range(buffer, range);
  for (size_t i = 0; i < range.length; ++i) {
    clear(&buffer->commands[range.location + i]);
  }
}

static id buffer_device(id self, SEL _cmd) {
  (void)_cmd;
  return ((indirect_commands *)self)->device;
}

COPY_PROPERTY(indirect_commands, label)

METHODS(buffer_methods, METHOD("dealloc", "v16@0:8", buffer_dealloc),
        METHOD("indirectComputeCommandAtIndex:", "@24@0:8Q16",
               buffer_command),
        METHOD("size", "Q16@0:8", buffer_count),
        METHOD("resetWithRange:", "v32@0:8{_NSRange=QQ}16", buffer_reset),
        METHOD("device", "@16@0:8", buffer_device),
        OBJECT_METHODS(indirect_commands, label, "setLabel:"));
DEFINE_CLASS(MettleIndirectCommands, NSObject, sizeof(indirect_commands),
             buffer_methods, NO_METHODS);

static void replay(const indirect_commands *buffer,
                   const indirect_command *command,
                   mtl_compute_encoder *encoder) {
  if (!command->grid.x || !command->grid.y || !command->grid.z) {
    return;  // never recorded, or reset
  }
  if (!buffer->inherits_pipeline) {
    mtl_compute_encoder_set_pipeline(encoder, command->pipeline);
  }
  for (uint32_t i = 0; !buffer->inherits_buffers &&
                       i < MTL_MAX_BUFFER_ARGUMENTS;
       ++i) {
    if (command->bound >> i & 1) {
      mtl_compute_encoder_set_buffer(encoder, command->buffers[i].buffer,
                                     command->buffers[i].offset, i);
    }
  }
  for (uint32_t i = 0; i < MTL_MAX_THREADGROUP_ARGUMENTS; ++i) {
    if (command->threadgroup_bytes[i]) {
      mtl_compute_encoder_set_threadgroup_memory(
          encoder, command->threadgroup_bytes[i], i);
    }
  }
  if (command->has_barrier) {
    mtl_compute_encoder_memory_barrier(encoder, MTL_BARRIER_BUFFERS);
  }
  if (command->counts_threads) {
    mtl_compute_encoder_dispatch_threads(encoder, command->grid,
                                         command->group);
  } else {
    mtl_compute_encoder_dispatch_threadgroups(encoder, command->grid,
                                              command->group);
  }
}

void indirect_commands_replay(id commands, NSRange range,
                              mtl_compute_encoder *encoder) {
  const indirect_commands *buffer = (indirect_commands *)commands;
  check_range(buffer, range);
  for (size_t i = 0; i < range.length; ++i) {
    replay(buffer, &buffer->commands[range.location + i], encoder);
  }
}
