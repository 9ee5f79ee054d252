// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// pipeline.c: MTLComputePipelineState and its properties.
#include "objc/metal/library/pipeline.h"
#include "objc/metal/library/reflection.h"
#include "objc/metal/metal.h"

extern struct objc_class OBJC_CLASS_$_MettlePipeline;

mtl_pipeline *pipeline_of(id pipeline) {
  return pipeline ? ((metal_pipeline *)pipeline)->pipeline : NULL;
}

static void pipeline_dealloc(id self, SEL _cmd) {
  (void)_cmd;
  mtl_pipeline_release(pipeline_of(self));
  objc_release(((metal_pipeline *)self)->device);
  instance_dispose(self);
}

static id pipeline_device(id self, SEL _cmd) {
  (void)_cmd;
  return ((metal_pipeline *)self)->device;
}

static id pipeline_label(id self, SEL _cmd) {
  (void)_cmd;
  return label_make(mtl_pipeline_label(pipeline_of(self)));
}

static NSUInteger pipeline_max_threads(id self, SEL _cmd) {
  (void)_cmd;
  return mtl_pipeline_max_total_threads_per_threadgroup(pipeline_of(self));
}

static NSUInteger pipeline_width(id self, SEL _cmd) {
  (void)_cmd;
  return mtl_pipeline_thread_execution_width(pipeline_of(self));
}

static NSUInteger pipeline_memory(id self, SEL _cmd) {
  (void)_cmd;
  return mtl_pipeline_static_threadgroup_memory_bytes(pipeline_of(self));
}

static int pipeline_indirect(id self, SEL _cmd) {
  (void)_cmd;
  return ((metal_pipeline *)self)->in_indirect_commands;
}

static uint64_t pipeline_resource(id self, SEL _cmd) {
  (void)_cmd;
  uint64_t resource;
  if (mtl_pipeline_resource_id(pipeline_of(self), &resource) != MTL_OK) {
    metal_assert("gpuResourceID: %s", mtl_last_error());
  }
  return resource;
}

static NSUInteger pipeline_imageblock(id self, SEL _cmd, MTLSize size) {
  (void)self;
  (void)_cmd;
  (void)size;
  return 0;
}

static NSInteger pipeline_validation(id self, SEL _cmd) {
  (void)self;
  (void)_cmd;
  return 0;
}

static id pipeline_reflection(id self, SEL _cmd) {
  (void)_cmd;
  return reflection_make(pipeline_of(self), NULL);
}

METHODS(
    pipeline_methods, METHOD("dealloc", "v16@0:8", pipeline_dealloc),
    METHOD("device", "@16@0:8", pipeline_device),
    METHOD("label", "@16@0:8", pipeline_label),
    METHOD("maxTotalThreadsPerThreadgroup", "Q16@0:8", pipeline_max_threads),
    METHOD("threadExecutionWidth", "Q16@0:8", pipeline_width),
    METHOD("staticThreadgroupMemoryLength", "Q16@0:8", pipeline_memory),
    METHOD("supportIndirectCommandBuffers", "B16@0:8", pipeline_indirect),
    METHOD("gpuResourceID", "{MTLResourceID=Q}16@0:8", pipeline_resource),
    METHOD("imageblockMemoryLengthForDimensions:", "Q40@0:8{?=QQQ}16",
           pipeline_imageblock),
    METHOD("shaderValidation", "q16@0:8", pipeline_validation),
    METHOD("reflection", "@16@0:8", pipeline_reflection),
    METHOD("functionHandleWithFunction:", "@24@0:8@16", pipeline_handle),
    METHOD("newVisibleFunctionTableWithDescriptor:", "@24@0:8@16",
           pipeline_new_table));
DEFINE_CLASS(MettlePipeline, NSObject, sizeof(metal_pipeline),
             pipeline_methods, NO_METHODS);
