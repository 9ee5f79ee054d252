// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// indirect.c: MTLIndirectCommandBuffers: encodes their execution, copies and
// edits. The host edits them at once, kernels while they run.
#include <string.h>

#include "drivers/metal/metal.h"

// --- life --------------------------------------------------------------------

static id descriptor_of(const mtl_indirect_command_buffer_desc *desc) {
  const id descriptor = metal_new("MTLIndirectCommandBufferDescriptor");
  // mtl_indirect_command_type has the values of MTLIndirectCommandType.
  SET_NUMBER(descriptor, setCommandTypes, desc->command_types);
  SET_NUMBER(descriptor, setInheritBuffers, desc->inherit_buffers);
  SET_NUMBER(descriptor, setInheritPipelineState, desc->inherit_pipeline);
  SET_NUMBER(descriptor, setMaxKernelBuffers, desc->max_buffers);
  if (RESPONDS(descriptor, setMaxKernelThreadgroupMemory)) {  // macOS 14
    SET_NUMBER(descriptor, setMaxKernelThreadgroupMemory,
               desc->max_threadgroup_memory);
  }
  return descriptor;
}

static mtl_status indirect_create(mtl_device *device,
                                  const mtl_indirect_command_buffer_desc *desc,
                                  void **out_native) {
  void *pool = metal.pool_push();
  const id descriptor = descriptor_of(desc);
  const id commands = SEND(id(*)(id, SEL, id, unsigned long, unsigned long),
                           metal_device_of(device)->object, newIndirectCommands,
                           descriptor, (unsigned long)desc->max_commands, 0ul);
  metal_release(descriptor);
  if (commands) {
    metal_label(commands, desc->label);
  }
  metal.pool_pop(pool);
  *out_native = commands;
  return commands ? MTL_OK
                  : mtli_fail(MTL_OUT_OF_MEMORY,
                              "Metal has no buffer of %u indirect commands",
                              desc->max_commands);
}

static void indirect_destroy(mtl_device *device, void *native) {
  metal_give_back(device, native);
}

static uint64_t indirect_resource_id(void *native) {
  return SEND(uint64_t (*)(id, SEL), (id)native, gpuResourceID);
}

static uint64_t indirect_pipeline_id(mtl_pipeline *pipeline) {
  return SEND(uint64_t (*)(id, SEL),
              ((metal_pipeline *)pipeline)->reflected.state, gpuResourceID);
}

// --- edits -------------------------------------------------------------------

// Returns the command itself, autoreleased.
static id command_at(void *native, uint32_t index) {
  return SEND(id(*)(id, SEL, unsigned long), (id)native, computeCommandAtIndex,
              (unsigned long)index);
}

static void indirect_set_pipeline(void *native, uint32_t index,
                                  mtl_pipeline *pipeline) {
  void *pool = metal.pool_push();
  SET_OBJECT(command_at(native, index), setComputePipelineState,
             pipeline ? ((metal_pipeline *)pipeline)->reflected.state : NULL);
  metal.pool_pop(pool);
}

static void indirect_set_buffer(void *native, uint32_t index,
                                mtl_buffer *buffer, size_t offset_bytes,
                                uint32_t buffer_index) {
  void *pool = metal.pool_push();
  SEND(void (*)(id, SEL, id, unsigned long, unsigned long),
       command_at(native, index), setKernelBuffer,
       buffer ? metal_object_of(buffer) : NULL,
       buffer ? metal_offset_of(buffer) + offset_bytes : 0ul,
       (unsigned long)buffer_index);
  metal.pool_pop(pool);
}

static void indirect_set_threadgroup_memory(void *native, uint32_t index,
                                            size_t length_bytes,
                                            uint32_t memory_index) {
  void *pool = metal.pool_push();
  SEND(void (*)(id, SEL, unsigned long, unsigned long),
       command_at(native, index), setThreadgroupMemory, length_bytes,
       (unsigned long)memory_index);
  metal.pool_pop(pool);
}

static metal_size metal_size_of(mtl_size size) {
  return (metal_size){size.x, size.y, size.z};
}

static void indirect_dispatch(void *native, uint32_t index, uint32_t type,
                              mtl_size grid, mtl_size group) {
  typedef void dispatch_fn(id, SEL, metal_size, metal_size);
  void *pool = metal.pool_push();
  const id command = command_at(native, index);
  if (type == MTL_INDIRECT_DISPATCH_THREADS) {
    SEND(dispatch_fn *, command, concurrentThreads, metal_size_of(grid),
         metal_size_of(group));
  } else {
    SEND(dispatch_fn *, command, concurrentThreadgroups, metal_size_of(grid),
         metal_size_of(group));
  }
  metal.pool_pop(pool);
}

static void indirect_set_barrier(void *native, uint32_t index,
                                 bool has_barrier) {
  void *pool = metal.pool_push();
  const id command = command_at(native, index);
  if (has_barrier) {
    CALL(command, setBarrier);
  } else {
    CALL(command, clearBarrier);
  }
  metal.pool_pop(pool);
}

static void indirect_reset(void *native, uint32_t first, uint32_t count) {
  SEND(void (*)(id, SEL, metal_range), (id)native, resetWithRange,
       ((metal_range){first, count}));
}

const mtli_indirect_slots metal_indirect_slots = {
    .create = indirect_create,
    .destroy = indirect_destroy,
    .resource_id = indirect_resource_id,
    .pipeline_id = indirect_pipeline_id,
    .set_pipeline = indirect_set_pipeline,
    .set_buffer = indirect_set_buffer,
    .set_threadgroup_memory = indirect_set_threadgroup_memory,
    .dispatch = indirect_dispatch,
    .set_barrier = indirect_set_barrier,
    .reset = indirect_reset,
};

// --- encoding ----------------------------------------------------------------

void metal_use_commands(const metal_encoding *encoding) {
  const mtli_used_commands *use = encoding->command_buffer->used_commands;
  for (; use; use = use->next) {
    // mtl_resource_usage has the values of MTLResourceUsage.
    SEND(void (*)(id, SEL, id, unsigned long), encoding->compute, useResource,
         (id)mtli_indirect_native(use->commands), (unsigned long)use->usage);
  }
}

// Sets the bindings that commands inherit from the encoder.
static void bind_inherited(const metal_encoding *encoding,
                           const mtli_inherited *from) {
  const id encoder = encoding->compute;
  if (from->pipeline) {
    SET_OBJECT(encoder, setComputePipelineState,
               ((const metal_pipeline *)from->pipeline)->reflected.state);
  }
  for (unsigned long i = 0; i < MTL_MAX_BUFFER_ARGUMENTS; i++) {
    const mtli_binding *binding = &from->bindings[i];
    if (binding->bytes) {
      SEND(void (*)(id, SEL, const void *, unsigned long, unsigned long),
           encoder, setBytes, binding->bytes,
           (unsigned long)binding->length_bytes, i);
    } else if (binding->buffer) {
      SEND(void (*)(id, SEL, id, unsigned long, unsigned long), encoder,
           setBuffer, metal_object_of(binding->buffer),
           metal_offset_of(binding->buffer) + binding->offset_bytes, i);
    } else if (binding->table) {
      SEND(void (*)(id, SEL, id, unsigned long), encoder,
           setVisibleFunctionTable,
           ((metal_function_table *)binding->table)->object, i);
    }
  }
  for (unsigned long i = 0; i < MTL_MAX_THREADGROUP_ARGUMENTS; i++) {
    if (from->threadgroup_bytes[i]) {
      SEND(void (*)(id, SEL, unsigned long, unsigned long), encoder,
           setThreadgroupMemory, from->threadgroup_bytes[i], i);
    }
  }
}

static void send_execute(id encoder, const mtli_execute *execute) {
  const id commands = mtli_indirect_native(execute->commands);
  if (execute->range) {
    SEND(void (*)(id, SEL, id, id, unsigned long), encoder,
         executeCommandsIndirect, commands, metal_object_of(execute->range),
         metal_offset_of(execute->range) + execute->range_offset_bytes);
  } else {
    SEND(void (*)(id, SEL, id, metal_range), encoder, executeCommands, commands,
         ((metal_range){execute->first, execute->count}));
  }
}

void metal_encode_execute(metal_encoding *encoding,
                          const mtli_command *command) {
  const mtli_execute *execute = &command->execute;
  metal_shadows_fill(encoding);
  const id encoder = execute->is_serial ? metal_encoding_serial(encoding)
                                        : metal_encoding_compute(encoding);
  metal_encoding_order(encoding, command);
  if (execute->inherited) {
    bind_inherited(encoding, execute->inherited);
  }
  metal_encoding_push_group(encoder, execute->debug_group);
  send_execute(encoder, execute);
  metal_encoding_pop_group(encoder, execute->debug_group);
  if (execute->is_serial) {
    metal_encoding_end(encoding);  // the next ones may overlap
  }
  metal_shadows_drain(encoding);
}

void metal_encode_edit(metal_encoding *encoding, const mtli_command *command) {
  const mtli_indirect_edit *edit = &command->edit;
  const id encoder = metal_encoding_blit(encoding);
  const id target = mtli_indirect_native(edit->target);
  if (edit->source) {
    SEND(void (*)(id, SEL, id, metal_range, id, unsigned long), encoder,
         copyCommands, (id)mtli_indirect_native(edit->source),
         ((metal_range){edit->source_first, edit->count}), target,
         (unsigned long)edit->target_first);
  } else {
    SEND(void (*)(id, SEL, id, metal_range), encoder, resetCommands, target,
         ((metal_range){edit->target_first, edit->count}));
  }
}
