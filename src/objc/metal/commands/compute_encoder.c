// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// compute_encoder.c: MTLComputeCommandEncoder.
#include <stdlib.h>

#include "objc/metal/commands/encoder_info.h"
#include "objc/metal/commands/indirect_commands.h"
#include "objc/metal/commands/passes.h"
#include "objc/metal/metal.h"

extern struct objc_class OBJC_CLASS_$_MettleComputeEncoder;
extern struct objc_class OBJC_CLASS_$_MettleTexture;
extern struct objc_class OBJC_CLASS_$_MettleIndirectCommands;
extern mtl_function_table *function_table_of(id table);

static mtl_compute_encoder *encoder_of(id self) {
  return ((metal_encoder *)self)->compute;
}

// --- Opening and closing -----------------------------------------------------

id compute_encoder_open(id commands, const mtl_encoder_desc *desc) {
  mtl_compute_encoder *encoder;
  if (mtl_compute_encoder_create_with(
          ((metal_command_buffer *)commands)->commands, desc, &encoder) !=
      MTL_OK) {
    metal_assert("computeCommandEncoder: %s", mtl_last_error());
  }
  metal_encoder *made = (metal_encoder *)CREATE(MettleComputeEncoder);
  made->commands = objc_retain(commands);
  made->compute = encoder;
  made->is_concurrent = desc && desc->dispatch_type == MTL_DISPATCH_CONCURRENT;
  return objc_autorelease(&made->object);
}

static id commands_encoder(id self, SEL _cmd) {
  (void)_cmd;
  return compute_encoder_open(self, NULL);
}

static id commands_encoder_of_type(id self, SEL _cmd, NSUInteger type) {
  (void)_cmd;
  const mtl_encoder_desc desc = {.dispatch_type = type ? MTL_DISPATCH_CONCURRENT
                                                       : MTL_DISPATCH_SERIAL};
  return compute_encoder_open(self, &desc);
}

static id commands_encoder_by(id self, SEL _cmd, id descriptor) {
  (void)_cmd;
  const mtl_encoder_desc desc = encoder_desc_of(descriptor);
  return compute_encoder_open(self, &desc);
}

METHODS(commands_methods,
        METHOD("computeCommandEncoder", "@16@0:8", commands_encoder),
        METHOD("computeCommandEncoderWithDispatchType:", "@24@0:8Q16",
               commands_encoder_of_type),
        METHOD("computeCommandEncoderWithDescriptor:", "@24@0:8@16",
               commands_encoder_by));
extern struct objc_class OBJC_CLASS_$_MettleCommandBuffer;
DEFINE_CATEGORY(MettleCommandBuffer, compute, commands_methods);

// The command buffer keeps the first error of recording for its own status.
static void encoder_end(id self, SEL _cmd) {
  (void)_cmd;
  if (mtl_compute_encoder_end(encoder_of(self)) == MTL_INVALID_STATE) {
    metal_assert("endEncoding: %s", mtl_last_error());
  }
  encoder_infos_note(((metal_encoder *)self)->commands, self);
}

// --- Binding -----------------------------------------------------------------

static void set_pipeline(id self, SEL _cmd, id pipeline) {
  (void)_cmd;
  mtl_compute_encoder_set_pipeline(encoder_of(self), pipeline_of(pipeline));
}

static void set_buffer(id self, SEL _cmd, id buffer, NSUInteger offset,
                       NSUInteger index) {
  (void)_cmd;
  mtl_compute_encoder_set_buffer(encoder_of(self), buffer_of(buffer),
                                 buffer_offset_of(buffer) + offset,
                                 (uint32_t)index);
}

static void set_buffers(id self, SEL _cmd, const id *buffers,
                        const NSUInteger *offsets, NSRange range) {
  for (NSUInteger i = 0; i < range.length; ++i) {
    set_buffer(self, _cmd, buffers[i], offsets[i], range.location + i);
  }
}

static void set_offset(id self, SEL _cmd, NSUInteger offset, NSUInteger index) {
  (void)_cmd;
  mtl_compute_encoder_set_buffer_offset(encoder_of(self), offset,
                                        (uint32_t)index);
}

static void set_bytes(id self, SEL _cmd, const void *bytes, NSUInteger length,
                      NSUInteger index) {
  (void)_cmd;
  mtl_compute_encoder_set_bytes(encoder_of(self), bytes, length,
                                (uint32_t)index);
}

static void set_threadgroup_memory(id self, SEL _cmd, NSUInteger length,
                                   NSUInteger index) {
  (void)_cmd;
  mtl_compute_encoder_set_threadgroup_memory(encoder_of(self), length,
                                             (uint32_t)index);
}

static void set_texture(id self, SEL _cmd, id texture, NSUInteger index) {
  (void)_cmd;
  mtl_compute_encoder_set_texture(encoder_of(self), texture_of(texture),
                                  (uint32_t)index);
}

static void set_textures(id self, SEL _cmd, const id *textures, NSRange range) {
  for (NSUInteger i = 0; i < range.length; ++i) {
    set_texture(self, _cmd, textures[i], range.location + i);
  }
}

static void set_sampler(id self, SEL _cmd, id sampler, NSUInteger index) {
  (void)_cmd;
  mtl_compute_encoder_set_sampler(encoder_of(self), sampler_of(sampler),
                                  (uint32_t)index);
}

static void set_samplers(id self, SEL _cmd, const id *samplers, NSRange range) {
  for (NSUInteger i = 0; i < range.length; ++i) {
    set_sampler(self, _cmd, samplers[i], range.location + i);
  }
}

static void set_sampler_lods(id self, SEL _cmd, id sampler, float min,
                             float max, NSUInteger index) {
  set_sampler(self, _cmd, sampler_with_lods(sampler, min, max), index);
}

static void set_samplers_lods(id self, SEL _cmd, const id *samplers,
                              const float *mins, const float *maxs,
                              NSRange range) {
  for (NSUInteger i = 0; i < range.length; ++i) {
    set_sampler_lods(self, _cmd, samplers[i], mins[i], maxs[i],
                     range.location + i);
  }
}

// Methods for stage-in arguments of compute kernels, which are not supported.
static void set_stage_in(id self, SEL _cmd, MTLRegion region) {
  (void)self;
  (void)_cmd;
  (void)region;
}

static void set_table(id self, SEL _cmd, id table, NSUInteger index) {
  (void)_cmd;
  mtl_compute_encoder_set_function_table(
      encoder_of(self), function_table_of(table), (uint32_t)index);
}

static void set_tables(id self, SEL _cmd, const id *tables, NSRange range) {
  for (NSUInteger i = 0; i < range.length; ++i) {
    set_table(self, _cmd, tables[i], range.location + i);
  }
}

// --- Dispatching -------------------------------------------------------------

static void dispatch_threads(id self, SEL _cmd, MTLSize grid, MTLSize group) {
  (void)_cmd;
  mtl_compute_encoder_dispatch_threads(encoder_of(self), size_of(grid),
                                       size_of(group));
}

static void dispatch_groups(id self, SEL _cmd, MTLSize grid, MTLSize group) {
  (void)_cmd;
  mtl_compute_encoder_dispatch_threadgroups(encoder_of(self), size_of(grid),
                                            size_of(group));
}

static void dispatch_indirect(id self, SEL _cmd, id buffer, NSUInteger offset,
                              MTLSize group) {
  (void)_cmd;
  mtl_compute_encoder_dispatch_threadgroups_indirect(
      encoder_of(self), buffer_of(buffer), buffer_offset_of(buffer) + offset,
      size_of(group));
}

static void execute_commands(id self, SEL _cmd, id commands, NSRange range) {
  (void)_cmd;
  indirect_commands_check(commands, range);
  mtl_compute_encoder_execute_commands(
      encoder_of(self), indirect_commands_of(commands),
      (uint32_t)range.location, (uint32_t)range.length);
}

static void execute_commands_indirect(id self, SEL _cmd, id commands, id buffer,
                                      NSUInteger offset) {
  (void)_cmd;
  mtl_compute_encoder_execute_commands_indirect(
      encoder_of(self), indirect_commands_of(commands), buffer_of(buffer),
      buffer_offset_of(buffer) + offset);
}

// --- Order and residency -----------------------------------------------------

static void barrier_scope(id self, SEL _cmd, NSUInteger scope) {
  (void)_cmd;
  mtl_compute_encoder_memory_barrier(encoder_of(self),
                                     (mtl_barrier_scope)(scope & 3));
}

static void barrier_resources(id self, SEL _cmd, const id *resources,
                              NSUInteger count) {
  (void)_cmd;
  mtl_buffer **buffers = calloc(count + 1, sizeof *buffers);
  const size_t found =
      buffers ? array_of_buffers(resources, count, buffers) : 0;
  if (found) {
    mtl_compute_encoder_memory_barrier_buffers(encoder_of(self), buffers,
                                               found);
  }
  if (found < count) {  // textures
    mtl_compute_encoder_memory_barrier(encoder_of(self), MTL_BARRIER_TEXTURES);
  }
  free(buffers);
}

// MTLResourceUsage has the values of mtl_resource_usage; sampling reads.
static mtl_resource_usage usage_of(NSUInteger usage) {
  const NSUInteger known =
      (usage & 3) | ((usage & 4) ? (NSUInteger)MTL_USAGE_READ : 0);
  return (mtl_resource_usage)(known ? known : (NSUInteger)MTL_USAGE_READ);
}

static void use_resource(id self, SEL _cmd, id resource, NSUInteger usage) {
  (void)_cmd;
  if (!resource) {
    return;
  }
  mtl_buffer *buffer =
      is_buffer(resource) ? buffer_of(resource) : tensor_buffer(resource);
  if (buffer) {
    mtl_compute_encoder_use_buffer(encoder_of(self), buffer, usage_of(usage));
  } else if (resource->isa == &OBJC_CLASS_$_MettleTexture) {
    mtl_compute_encoder_use_texture(encoder_of(self), texture_of(resource),
                                    usage_of(usage));
  } else if (resource->isa == &OBJC_CLASS_$_MettleIndirectCommands) {
    mtl_compute_encoder_use_commands(
        encoder_of(self), indirect_commands_of(resource), usage_of(usage));
  } else if (SEND(int (*)(id, SEL, SEL), resource,
                  "respondsToSelector:", SELECTOR("setFunction:atIndex:"))) {
    mtl_compute_encoder_use_function_table(encoder_of(self),
                                           function_table_of(resource));
  }
}

static void use_resources(id self, SEL _cmd, const id *resources,
                          NSUInteger count, NSUInteger usage) {
  for (NSUInteger i = 0; i < count; ++i) {
    use_resource(self, _cmd, resources[i], usage);
  }
}

static void use_heap(id self, SEL _cmd, id heap) {
  (void)_cmd;
  mtl_compute_encoder_use_heap(encoder_of(self), heap_of(heap));
}

static void use_heaps(id self, SEL _cmd, const id *heaps, NSUInteger count) {
  for (NSUInteger i = 0; i < count; ++i) {
    use_heap(self, _cmd, heaps[i]);
  }
}

static void update_fence(id self, SEL _cmd, id fence) {
  (void)_cmd;
  mtl_compute_encoder_update_fence(encoder_of(self), fence_of(fence));
}

static void wait_fence(id self, SEL _cmd, id fence) {
  (void)_cmd;
  mtl_compute_encoder_wait_fence(encoder_of(self), fence_of(fence));
}

static void push_group(id self, SEL _cmd, id name) {
  (void)_cmd;
  mtl_compute_encoder_push_debug_group(encoder_of(self), string_utf8(name));
}

static void pop_group(id self, SEL _cmd) {
  (void)_cmd;
  mtl_compute_encoder_pop_debug_group(encoder_of(self));
}

static NSUInteger encoder_dispatch_type(id self, SEL _cmd) {
  (void)_cmd;
  return ((metal_encoder *)self)->is_concurrent;
}

static void sample(id self, SEL _cmd, id samples, NSUInteger index,
                   int with_barrier) {
  (void)_cmd;
  mtl_compute_encoder_sample_counters(encoder_of(self), samples_of(samples),
                                      (uint32_t)index, with_barrier & 0xff);
}

METHODS(
    encoder_methods, METHOD("endEncoding", "v16@0:8", encoder_end),
    METHOD("sampleCountersInBuffer:atSampleIndex:withBarrier:",
           "v36@0:8@16Q24B32", sample),
    METHOD("dispatchType", "Q16@0:8", encoder_dispatch_type),
    METHOD("setComputePipelineState:", "v24@0:8@16", set_pipeline),
    METHOD("setBuffer:offset:atIndex:", "v40@0:8@16Q24Q32", set_buffer),
    METHOD("setBuffers:offsets:withRange:", "v48@0:8^@16^Q24{_NSRange=QQ}32",
           set_buffers),
    METHOD("setBufferOffset:atIndex:", "v32@0:8Q16Q24", set_offset),
    METHOD("setBytes:length:atIndex:", "v40@0:8^v16Q24Q32", set_bytes),
    METHOD("setThreadgroupMemoryLength:atIndex:", "v32@0:8Q16Q24",
           set_threadgroup_memory),
    METHOD("setTexture:atIndex:", "v32@0:8@16Q24", set_texture),
    METHOD("setTextures:withRange:", "v40@0:8^@16{_NSRange=QQ}24",
           set_textures),
    METHOD("setSamplerState:atIndex:", "v32@0:8@16Q24", set_sampler),
    METHOD("setSamplerStates:withRange:", "v40@0:8^@16{_NSRange=QQ}24",
           set_samplers),
    METHOD("setSamplerState:lodMinClamp:lodMaxClamp:atIndex:",
           "v40@0:8@16f24f28Q32", set_sampler_lods),
    METHOD("setSamplerStates:lodMinClamps:lodMaxClamps:withRange:",
           "v56@0:8^@16^f24^f32{_NSRange=QQ}40", set_samplers_lods),
    METHOD("setStageInRegion:", "v64@0:8{?={?=QQQ}{?=QQQ}}16", set_stage_in),
    METHOD("setVisibleFunctionTable:atBufferIndex:", "v32@0:8@16Q24",
           set_table),
    METHOD("setVisibleFunctionTables:withBufferRange:",
           "v40@0:8^@16{_NSRange=QQ}24", set_tables),
    METHOD("dispatchThreads:threadsPerThreadgroup:",
           "v64@0:8{?=QQQ}16{?=QQQ}40", dispatch_threads),
    METHOD("dispatchThreadgroups:threadsPerThreadgroup:",
           "v64@0:8{?=QQQ}16{?=QQQ}40", dispatch_groups),
    METHOD("dispatchThreadgroupsWithIndirectBuffer:indirectBufferOffset:"
           "threadsPerThreadgroup:",
           "v56@0:8@16Q24{?=QQQ}32", dispatch_indirect),
    METHOD("executeCommandsInBuffer:withRange:", "v40@0:8@16{_NSRange=QQ}24",
           execute_commands),
    METHOD("executeCommandsInBuffer:indirectBuffer:indirectBufferOffset:",
           "v40@0:8@16@24Q32", execute_commands_indirect),
    METHOD("memoryBarrierWithScope:", "v24@0:8Q16", barrier_scope),
    METHOD("memoryBarrierWithResources:count:", "v32@0:8^@16Q24",
           barrier_resources),
    METHOD("useResource:usage:", "v32@0:8@16Q24", use_resource),
    METHOD("useResources:count:usage:", "v40@0:8^@16Q24Q32", use_resources),
    METHOD("useHeap:", "v24@0:8@16", use_heap),
    METHOD("useHeaps:count:", "v32@0:8^@16Q24", use_heaps),
    METHOD("updateFence:", "v24@0:8@16", update_fence),
    METHOD("waitForFence:", "v24@0:8@16", wait_fence),
    METHOD("pushDebugGroup:", "v24@0:8@16", push_group),
    METHOD("popDebugGroup", "v16@0:8", pop_group));
DEFINE_CLASS(MettleComputeEncoder, MettleEncoder, sizeof(metal_encoder),
             encoder_methods, NO_METHODS);
