// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// pipeline_descriptor.c: MTLComputePipelineDescriptor and the objects in it,
// and the C API's request made from one.
#include <stdlib.h>

#include "objc/metal/library/pipeline.h"
#include "objc/metal/metal.h"
#include "objc/metal/property.h"

// --- MTLLinkedFunctions ------------------------------------------------------

typedef struct linked_functions {
  struct objc_object object;
  id functions;
  id binaryFunctions;
  id groups;
  id privateFunctions;
} linked_functions;

COPY_PROPERTY(linked_functions, functions)
COPY_PROPERTY(linked_functions, binaryFunctions)
COPY_PROPERTY(linked_functions, groups)
COPY_PROPERTY(linked_functions, privateFunctions)

REFERENCES(linked_functions, functions, privateFunctions)

static id linked_make(Class self, SEL _cmd) {
  (void)_cmd;
  return objc_autorelease(instance_create(self, 0));
}

METHODS(linked_methods, REFERENCES_METHODS(linked_functions),
        OBJECT_METHODS(linked_functions, functions, "setFunctions:"),
        OBJECT_METHODS(linked_functions, binaryFunctions,
                       "setBinaryFunctions:"),
        OBJECT_METHODS(linked_functions, groups, "setGroups:"),
        OBJECT_METHODS(linked_functions, privateFunctions,
                       "setPrivateFunctions:"));
METHODS(linked_class_methods,
        METHOD("linkedFunctions", "@16@0:8", linked_make));
DEFINE_CLASS(MTLLinkedFunctions, NSObject, sizeof(linked_functions),
             linked_methods, &linked_class_methods);

// --- MTLPipelineBufferDescriptorArray ----------------------------------------

// Mutability is a hint that is not used here.
typedef struct buffer_descriptor {
  struct objc_object object;
  NSUInteger mutability;
} buffer_descriptor;

VALUE_PROPERTY(buffer_descriptor, NSUInteger, mutability)
METHODS(buffer_descriptor_methods,
        VALUE_METHODS(buffer_descriptor, mutability, "setMutability:", "Q"));
DEFINE_CLASS(MTLPipelineBufferDescriptor, NSObject, sizeof(buffer_descriptor),
             buffer_descriptor_methods, NO_METHODS);

typedef struct buffer_descriptors {
  struct objc_object object;
  id descriptors[MTL_MAX_BUFFER_ARGUMENTS];
} buffer_descriptors;

static id *buffer_descriptor_at(id self, NSUInteger index) {
  if (index >= MTL_MAX_BUFFER_ARGUMENTS) {
    metal_assert("buffer index %lu is not below %d", index,
                 MTL_MAX_BUFFER_ARGUMENTS);
  }
  return &((buffer_descriptors *)self)->descriptors[index];
}

static id buffers_get(id self, SEL _cmd, NSUInteger index) {
  (void)_cmd;
  id *place = buffer_descriptor_at(self, index);
  if (!*place) {
    *place = CREATE(MTLPipelineBufferDescriptor);
  }
  return *place;
}

static void buffers_set(id self, SEL _cmd, id descriptor, NSUInteger index) {
  (void)_cmd;
  objc_storeStrong(buffer_descriptor_at(self, index), descriptor);
}

static void buffers_dealloc(id self, SEL _cmd) {
  (void)_cmd;
  for (size_t i = 0; i < MTL_MAX_BUFFER_ARGUMENTS; ++i) {
    objc_release(((buffer_descriptors *)self)->descriptors[i]);
  }
  instance_dispose(self);
}

METHODS(buffers_methods, METHOD("dealloc", "v16@0:8", buffers_dealloc),
        METHOD("objectAtIndexedSubscript:", "@24@0:8Q16", buffers_get),
        METHOD("setObject:atIndexedSubscript:", "v32@0:8@16Q24", buffers_set));
DEFINE_CLASS(MTLPipelineBufferDescriptorArray, NSObject,
             sizeof(buffer_descriptors), buffers_methods, NO_METHODS);

// --- MTLComputePipelineDescriptor --------------------------------------------

typedef struct pipeline_descriptor {
  struct objc_object object;
  id label;
  id computeFunction;
  id buffers;
  id linkedFunctions;
  id stageInputDescriptor;
  id insertLibraries;
  id preloadedLibraries;
  id binaryArchives;
  NSUInteger maxTotalThreadsPerThreadgroup;
  NSUInteger maxCallStackDepth;
  NSInteger shaderValidation;
  bool threadGroupSizeIsMultipleOfThreadExecutionWidth;
  bool supportIndirectCommandBuffers;
  bool supportAddingBinaryFunctions;
} pipeline_descriptor;

COPY_PROPERTY(pipeline_descriptor, label)
OBJECT_PROPERTY(pipeline_descriptor, computeFunction)
COPY_PROPERTY(pipeline_descriptor, linkedFunctions)
COPY_PROPERTY(pipeline_descriptor, stageInputDescriptor)
COPY_PROPERTY(pipeline_descriptor, insertLibraries)
COPY_PROPERTY(pipeline_descriptor, preloadedLibraries)
COPY_PROPERTY(pipeline_descriptor, binaryArchives)
VALUE_PROPERTY(pipeline_descriptor, NSUInteger, maxTotalThreadsPerThreadgroup)
VALUE_PROPERTY(pipeline_descriptor, NSUInteger, maxCallStackDepth)
VALUE_PROPERTY(pipeline_descriptor, NSInteger, shaderValidation)
FLAG_PROPERTY(pipeline_descriptor,
              threadGroupSizeIsMultipleOfThreadExecutionWidth)
FLAG_PROPERTY(pipeline_descriptor, supportIndirectCommandBuffers)
FLAG_PROPERTY(pipeline_descriptor, supportAddingBinaryFunctions)

REFERENCES(pipeline_descriptor, label, binaryArchives)

static id descriptor_init(id self, SEL _cmd) {
  (void)_cmd;
  ((pipeline_descriptor *)self)->maxCallStackDepth = 1;
  return self;
}

static void descriptor_reset(id self, SEL _cmd) {
  (void)_cmd;
  pipeline_descriptor_release(self);
  *(pipeline_descriptor *)self =
      (pipeline_descriptor){.object = *self, .maxCallStackDepth = 1};
}

static id descriptor_buffers(id self, SEL _cmd) {
  (void)_cmd;
  pipeline_descriptor *descriptor = (pipeline_descriptor *)self;
  if (!descriptor->buffers) {
    descriptor->buffers = CREATE(MTLPipelineBufferDescriptorArray);
  }
  return descriptor->buffers;
}

METHODS(
    descriptor_methods, METHOD("init", "@16@0:8", descriptor_init),
    REFERENCES_METHODS(pipeline_descriptor),
    METHOD("reset", "v16@0:8", descriptor_reset),
    METHOD("buffers", "@16@0:8", descriptor_buffers),
    OBJECT_METHODS(pipeline_descriptor, label, "setLabel:"),
    OBJECT_METHODS(pipeline_descriptor, computeFunction, "setComputeFunction:"),
    OBJECT_METHODS(pipeline_descriptor, linkedFunctions, "setLinkedFunctions:"),
    OBJECT_METHODS(pipeline_descriptor, stageInputDescriptor,
                   "setStageInputDescriptor:"),
    OBJECT_METHODS(pipeline_descriptor, insertLibraries, "setInsertLibraries:"),
    OBJECT_METHODS(pipeline_descriptor, preloadedLibraries,
                   "setPreloadedLibraries:"),
    OBJECT_METHODS(pipeline_descriptor, binaryArchives, "setBinaryArchives:"),
    VALUE_METHODS(pipeline_descriptor, maxTotalThreadsPerThreadgroup,
                  "setMaxTotalThreadsPerThreadgroup:", "Q"),
    VALUE_METHODS(pipeline_descriptor, maxCallStackDepth,
                  "setMaxCallStackDepth:", "Q"),
    VALUE_METHODS(pipeline_descriptor, shaderValidation,
                  "setShaderValidation:", "q"),
    FLAG_METHODS(pipeline_descriptor,
                 threadGroupSizeIsMultipleOfThreadExecutionWidth,
                 "setThreadGroupSizeIsMultipleOfThreadExecutionWidth:"),
    FLAG_METHODS(pipeline_descriptor, supportIndirectCommandBuffers,
                 "setSupportIndirectCommandBuffers:"),
    FLAG_METHODS(pipeline_descriptor, supportAddingBinaryFunctions,
                 "setSupportAddingBinaryFunctions:"));
DEFINE_CLASS(MTLComputePipelineDescriptor, NSObject,
             sizeof(pipeline_descriptor), descriptor_methods, NO_METHODS);

// --- What the C API is asked for ---------------------------------------------

// Writes the C API's functions of an NSArray; NULL for an empty one.
static mtl_function **functions_of(id array, size_t *out_count) {
  *out_count = array_count(array);
  mtl_function **list = *out_count ? calloc(*out_count, sizeof *list) : NULL;
  for (size_t i = 0; list && i < *out_count; ++i) {
    list[i] = function_of(array_at(array, i));
  }
  return list;
}

static mtl_binary_archive **archives_of(id array, size_t *out_count) {
  *out_count = array_count(array);
  mtl_binary_archive **list =
      *out_count ? calloc(*out_count, sizeof *list) : NULL;
  for (size_t i = 0; list && i < *out_count; ++i) {
    list[i] = archive_of(array_at(array, i));
  }
  return list;
}

void pipeline_request_open(pipeline_request *request, id descriptor,
                           id function, NSUInteger options) {
  const pipeline_descriptor *from = (pipeline_descriptor *)descriptor;
  const id chosen = from ? from->computeFunction : function;
  *request = (pipeline_request){
      .function = function_of(chosen),
      .missing = chosen ? "the function was made without values for its "
                          "function constants"
                        : "a compute pipeline needs a function"};
  mtl_pipeline_desc *desc = &request->desc;
  desc->fail_on_archive_miss = (options & FAIL_ON_ARCHIVE_MISS) != 0;
  if (!from) {
    return;
  }
  request->in_indirect_commands = from->supportIndirectCommandBuffers;
  desc->max_total_threads_per_threadgroup =
      (uint32_t)from->maxTotalThreadsPerThreadgroup;
  desc->max_call_stack_depth = (uint32_t)from->maxCallStackDepth;
  desc->label = from->label ? string_utf8(from->label) : NULL;
  const linked_functions *functions = (linked_functions *)from->linkedFunctions;
  if (functions) {
    request->linked = functions_of(functions->functions,
                                   &desc->linked_functions.function_count);
    request->private_ones =
        functions_of(functions->privateFunctions,
                     &desc->linked_functions.private_function_count);
  }
  desc->linked_functions.functions = request->linked;
  desc->linked_functions.private_functions = request->private_ones;
  request->archives = archives_of(from->binaryArchives, &desc->archive_count);
  desc->archives = request->archives;
}

void pipeline_request_close(pipeline_request *request) {
  free(request->linked);
  free(request->private_ones);
  free(request->archives);
}
