// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// pipeline.c: compute pipelines: their descriptors, what they tell of
// themselves, and the functions that they call through tables.
#include <stdlib.h>

#include "objc/dispatch/dispatch.h"
#include "objc/metal/metal.h"
#include "objc/metal/property.h"
#include "objc/metal/reflection.h"
#include "objc/runtime/block.h"

extern struct objc_class OBJC_CLASS_$_MettlePipeline;
extern struct objc_class OBJC_CLASS_$_MettleFunctionHandle;
extern struct objc_class OBJC_CLASS_$_MettleFunctionTable;

mtl_pipeline *pipeline_of(id pipeline) {
  return pipeline ? ((metal_pipeline *)pipeline)->pipeline : NULL;
}

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

static void linked_dealloc(id self, SEL _cmd) {
  (void)_cmd;
  const linked_functions *linked = (linked_functions *)self;
  objc_release(linked->functions);
  objc_release(linked->binaryFunctions);
  objc_release(linked->groups);
  objc_release(linked->privateFunctions);
  instance_dispose(self);
}

static id linked_make(Class self, SEL _cmd) {
  (void)_cmd;
  return objc_autorelease(instance_create(self, 0));
}

static id linked_copy(id self, SEL _cmd, void *zone) {
  (void)zone;
  const linked_functions *from = (linked_functions *)self;
  const id made = instance_create(self->isa, 0);
  linked_functions_set_functions(made, _cmd, from->functions);
  linked_functions_set_binaryFunctions(made, _cmd, from->binaryFunctions);
  linked_functions_set_groups(made, _cmd, from->groups);
  linked_functions_set_privateFunctions(made, _cmd, from->privateFunctions);
  return made;
}

METHODS(linked_methods, METHOD("dealloc", "v16@0:8", linked_dealloc),
        METHOD("copyWithZone:", "@24@0:8^v16", linked_copy),
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

// Whether a buffer changes is a hint that we have no use for.
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
        METHOD("setObject:atIndexedSubscript:", "v32@0:8@16Q24",
               buffers_set));
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

static void descriptor_clear(pipeline_descriptor *descriptor) {
  objc_release(descriptor->label);
  objc_release(descriptor->computeFunction);
  objc_release(descriptor->buffers);
  objc_release(descriptor->linkedFunctions);
  objc_release(descriptor->stageInputDescriptor);
  objc_release(descriptor->insertLibraries);
  objc_release(descriptor->preloadedLibraries);
  objc_release(descriptor->binaryArchives);
  *descriptor = (pipeline_descriptor){.object = descriptor->object,
                                      .maxCallStackDepth = 1};
}

static id descriptor_init(id self, SEL _cmd) {
  (void)_cmd;
  ((pipeline_descriptor *)self)->maxCallStackDepth = 1;
  return self;
}

static void descriptor_reset(id self, SEL _cmd) {
  (void)_cmd;
  descriptor_clear((pipeline_descriptor *)self);
}

static void descriptor_dealloc(id self, SEL _cmd) {
  (void)_cmd;
  descriptor_clear((pipeline_descriptor *)self);
  instance_dispose(self);
}

static id descriptor_buffers(id self, SEL _cmd) {
  (void)_cmd;
  pipeline_descriptor *descriptor = (pipeline_descriptor *)self;
  if (!descriptor->buffers) {
    descriptor->buffers = CREATE(MTLPipelineBufferDescriptorArray);
  }
  return descriptor->buffers;
}

static id descriptor_copy(id self, SEL _cmd, void *zone) {
  (void)_cmd;
  (void)zone;
  const pipeline_descriptor *from = (pipeline_descriptor *)self;
  pipeline_descriptor *made =
      (pipeline_descriptor *)instance_create(self->isa, 0);
  *made = *from;
  objc_retain(made->label);
  objc_retain(made->computeFunction);
  objc_retain(made->buffers);
  objc_retain(made->linkedFunctions);
  objc_retain(made->stageInputDescriptor);
  objc_retain(made->insertLibraries);
  objc_retain(made->preloadedLibraries);
  objc_retain(made->binaryArchives);
  return &made->object;
}

METHODS(
    descriptor_methods, METHOD("init", "@16@0:8", descriptor_init),
    METHOD("dealloc", "v16@0:8", descriptor_dealloc),
    METHOD("reset", "v16@0:8", descriptor_reset),
    METHOD("copyWithZone:", "@24@0:8^v16", descriptor_copy),
    METHOD("buffers", "@16@0:8", descriptor_buffers),
    OBJECT_METHODS(pipeline_descriptor, label, "setLabel:"),
    OBJECT_METHODS(pipeline_descriptor, computeFunction,
                   "setComputeFunction:"),
    OBJECT_METHODS(pipeline_descriptor, linkedFunctions,
                   "setLinkedFunctions:"),
    OBJECT_METHODS(pipeline_descriptor, stageInputDescriptor,
                   "setStageInputDescriptor:"),
    OBJECT_METHODS(pipeline_descriptor, insertLibraries,
                   "setInsertLibraries:"),
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

// --- Making ------------------------------------------------------------------

// Writes the C API's functions of an NSArray; NULL for an empty one.
static mtl_function **functions_of(id array, size_t *out_count) {
  *out_count = array_count(array);
  mtl_function **list =
      *out_count ? calloc(*out_count, sizeof *list) : NULL;
  for (size_t i = 0; list && i < *out_count; ++i) {
    list[i] = function_of(array_at(array, i));
  }
  return list;
}

static id create(id device, const pipeline_descriptor *from, id function,
                 id *out_reflection, id *out_error) {
  if (!function) {
    if (out_error) {
      *out_error = error_make(MTLLibraryErrorDomain, 3,
                              "a compute pipeline needs a function");
    }
    return NULL;
  }
  if (!function_of(function)) {
    if (out_error) {
      *out_error = error_make(
          MTLLibraryErrorDomain, 3,
          "the function was made without values for its function constants");
    }
    return NULL;
  }
  mtl_pipeline_desc desc = {0};
  mtl_function **linked = NULL, **private = NULL;
  if (from) {
    const linked_functions *functions =
        (linked_functions *)from->linkedFunctions;
    desc.max_total_threads_per_threadgroup =
        (uint32_t)from->maxTotalThreadsPerThreadgroup;
    desc.max_call_stack_depth = (uint32_t)from->maxCallStackDepth;
    desc.label = from->label ? string_utf8(from->label) : NULL;
    if (functions) {
      linked = functions_of(functions->functions,
                            &desc.linked_functions.function_count);
      private = functions_of(functions->privateFunctions,
                             &desc.linked_functions.private_function_count);
    }
    desc.linked_functions.functions = linked;
    desc.linked_functions.private_functions = private;
  }
  mtl_pipeline *pipeline;
  const mtl_status status =
      mtl_pipeline_create(function_of(function), &desc, &pipeline);
  free(linked);
  free(private);
  if (status != MTL_OK) {
    error_from_mettle(out_error, MTLLibraryErrorDomain, status);
    return NULL;
  }
  metal_pipeline *made = (metal_pipeline *)CREATE(MettlePipeline);
  made->device = objc_retain(device);
  made->pipeline = pipeline;
  made->in_indirect_commands = from && from->supportIndirectCommandBuffers;
  if (out_reflection) {
    *out_reflection = reflection_make(pipeline, function_of(function));
  }
  return &made->object;
}

static id new_by_function(id self, SEL _cmd, id function, id *out_error) {
  (void)_cmd;
  return create(self, NULL, function, NULL, out_error);
}

static id new_by_function_reflected(id self, SEL _cmd, id function,
                                    NSUInteger options, id *out_reflection,
                                    id *out_error) {
  (void)_cmd;
  (void)options;
  return create(self, NULL, function, out_reflection, out_error);
}

static id new_by_descriptor(id self, SEL _cmd, id descriptor,
                            NSUInteger options, id *out_reflection,
                            id *out_error) {
  (void)_cmd;
  (void)options;
  const pipeline_descriptor *from = (pipeline_descriptor *)descriptor;
  return create(self, from, from->computeFunction, out_reflection, out_error);
}

typedef struct request {
  id device;
  id descriptor;  // or nil
  id function;
  id literal;
  bool with_reflection;
} request;

static void create_then_call(void *context) {
  request *of = context;
  id error = NULL, reflection = NULL;
  const id made =
      create(of->device, (pipeline_descriptor *)of->descriptor, of->function,
             of->with_reflection ? &reflection : NULL, &error);
  if (of->with_reflection) {
    BLOCK_CALL(void (*)(id, id, id, id), of->literal, made, reflection, error);
  } else {
    BLOCK_CALL(void (*)(id, id, id), of->literal, made, error);
  }
  objc_release(made);
  objc_release(of->device);
  objc_release(of->descriptor);
  objc_release(of->function);
  _Block_release(of->literal);
  free(of);
}

static void create_later(id device, id descriptor, id function, id literal,
                         bool with_reflection) {
  extern id dispatch_get_global_queue(long, unsigned long);
  request *made = malloc(sizeof *made);
  if (made) {
    *made = (request){objc_retain(device),
                      SEND(id(*)(id, SEL), descriptor, "copy"),
                      objc_retain(function), _Block_copy(literal),
                      with_reflection};
    dispatch_queue_add(dispatch_get_global_queue(0, 0), create_then_call,
                       made);
  }
}

static void new_by_function_then(id self, SEL _cmd, id function, id literal) {
  (void)_cmd;
  create_later(self, NULL, function, literal, false);
}

static void new_by_function_reflected_then(id self, SEL _cmd, id function,
                                           NSUInteger options, id literal) {
  (void)_cmd;
  (void)options;
  create_later(self, NULL, function, literal, true);
}

static void new_by_descriptor_then(id self, SEL _cmd, id descriptor,
                                   NSUInteger options, id literal) {
  (void)_cmd;
  (void)options;
  create_later(self, descriptor,
               ((pipeline_descriptor *)descriptor)->computeFunction, literal,
               true);
}

METHODS(
    device_methods,
    METHOD("newComputePipelineStateWithFunction:error:", "@32@0:8@16^@24",
           new_by_function),
    METHOD("newComputePipelineStateWithFunction:options:reflection:error:",
           "@48@0:8@16Q24^@32^@40", new_by_function_reflected),
    METHOD("newComputePipelineStateWithFunction:completionHandler:",
           "v32@0:8@16@?24", new_by_function_then),
    METHOD("newComputePipelineStateWithFunction:options:completionHandler:",
           "v40@0:8@16Q24@?32", new_by_function_reflected_then),
    METHOD("newComputePipelineStateWithDescriptor:options:reflection:error:",
           "@48@0:8@16Q24^@32^@40", new_by_descriptor),
    METHOD("newComputePipelineStateWithDescriptor:options:completionHandler:",
           "v40@0:8@16Q24@?32", new_by_descriptor_then));
DEFINE_CATEGORY(MettleDevice, pipelines, device_methods);

// --- MTLComputePipelineState -------------------------------------------------

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

// --- Function handles and tables ---------------------------------------------

typedef struct function_handle {
  struct objc_object object;
  id device;  // +1
  mtl_function_handle *handle;
} function_handle;

typedef struct function_table {
  struct objc_object object;
  id device;  // +1
  mtl_function_table *table;
  id label;
} function_table;

mtl_function_table *function_table_of(id table) {
  return table ? ((function_table *)table)->table : NULL;
}

static id pipeline_handle(id self, SEL _cmd, id function) {
  (void)_cmd;
  mtl_function_handle *handle;
  if (mtl_pipeline_function_handle(pipeline_of(self), function_of(function),
                                   &handle) != MTL_OK) {
    return NULL;
  }
  function_handle *made = (function_handle *)CREATE(MettleFunctionHandle);
  made->device = objc_retain(((metal_pipeline *)self)->device);
  made->handle = handle;
  return objc_autorelease(&made->object);
}

static void handle_dealloc(id self, SEL _cmd) {
  (void)_cmd;
  mtl_function_handle_release(((function_handle *)self)->handle);
  objc_release(((function_handle *)self)->device);
  instance_dispose(self);
}

static id handle_name(id self, SEL _cmd) {
  (void)_cmd;
  return string_make(
      mtl_function_handle_name(((function_handle *)self)->handle));
}

static NSUInteger handle_type(id self, SEL _cmd) {
  (void)self;
  (void)_cmd;
  return 5;  // MTLFunctionTypeVisible
}

static id handle_device(id self, SEL _cmd) {
  (void)_cmd;
  return ((function_handle *)self)->device;
}

METHODS(handle_methods, METHOD("dealloc", "v16@0:8", handle_dealloc),
        METHOD("name", "@16@0:8", handle_name),
        METHOD("functionType", "Q16@0:8", handle_type),
        METHOD("device", "@16@0:8", handle_device));
DEFINE_CLASS(MettleFunctionHandle, NSObject, sizeof(function_handle),
             handle_methods, NO_METHODS);

typedef struct table_descriptor {
  struct objc_object object;
  NSUInteger functionCount;
} table_descriptor;

VALUE_PROPERTY(table_descriptor, NSUInteger, functionCount)

static id table_descriptor_make(Class self, SEL _cmd) {
  (void)_cmd;
  return objc_autorelease(instance_create(self, 0));
}

METHODS(table_descriptor_methods,
        VALUE_METHODS(table_descriptor, functionCount, "setFunctionCount:",
                      "Q"));
METHODS(table_descriptor_class_methods,
        METHOD("visibleFunctionTableDescriptor", "@16@0:8",
               table_descriptor_make));
DEFINE_CLASS(MTLVisibleFunctionTableDescriptor, NSObject,
             sizeof(table_descriptor), table_descriptor_methods,
             &table_descriptor_class_methods);

static id pipeline_new_table(id self, SEL _cmd, id descriptor) {
  (void)_cmd;
  mtl_function_table *table;
  const mtl_function_table_desc desc = {
      .function_count =
          (uint32_t)((table_descriptor *)descriptor)->functionCount};
  if (mtl_function_table_create(pipeline_of(self), &desc, &table) != MTL_OK) {
    return NULL;
  }
  function_table *made = (function_table *)CREATE(MettleFunctionTable);
  made->device = objc_retain(((metal_pipeline *)self)->device);
  made->table = table;
  return &made->object;
}

static void table_dealloc(id self, SEL _cmd) {
  (void)_cmd;
  mtl_function_table_release(function_table_of(self));
  objc_release(((function_table *)self)->label);
  objc_release(((function_table *)self)->device);
  instance_dispose(self);
}

static void table_set(id self, SEL _cmd, id handle, NSUInteger index) {
  (void)_cmd;
  if (mtl_function_table_set(
          function_table_of(self),
          handle ? ((function_handle *)handle)->handle : NULL,
          (uint32_t)index) != MTL_OK) {
    metal_assert("setFunction:atIndex: %s", mtl_last_error());
  }
}

static void table_set_range(id self, SEL _cmd, const id *handles,
                            NSRange range) {
  for (NSUInteger i = 0; i < range.length; ++i) {
    table_set(self, _cmd, handles[i], range.location + i);
  }
}

static uint64_t table_resource(id self, SEL _cmd) {
  (void)_cmd;
  return mtl_function_table_resource_id(function_table_of(self));
}

static id table_device(id self, SEL _cmd) {
  (void)_cmd;
  return ((function_table *)self)->device;
}

COPY_PROPERTY(function_table, label)

METHODS(table_methods, METHOD("dealloc", "v16@0:8", table_dealloc),
        METHOD("setFunction:atIndex:", "v32@0:8@16Q24", table_set),
        METHOD("setFunctions:withRange:", "v40@0:8^@16{_NSRange=QQ}24",
               table_set_range),
        METHOD("gpuResourceID", "{MTLResourceID=Q}16@0:8", table_resource),
        METHOD("device", "@16@0:8", table_device),
        OBJECT_METHODS(function_table, label, "setLabel:"));
DEFINE_CLASS(MettleFunctionTable, NSObject, sizeof(function_table),
             table_methods, NO_METHODS);

METHODS(
    pipeline_methods, METHOD("dealloc", "v16@0:8", pipeline_dealloc),
    METHOD("device", "@16@0:8", pipeline_device),
    METHOD("label", "@16@0:8", pipeline_label),
    METHOD("maxTotalThreadsPerThreadgroup", "Q16@0:8", pipeline_max_threads),
    METHOD("threadExecutionWidth", "Q16@0:8", pipeline_width),
    METHOD("staticThreadgroupMemoryLength", "Q16@0:8", pipeline_memory),
    METHOD("supportIndirectCommandBuffers", "B16@0:8", pipeline_indirect),
    METHOD("imageblockMemoryLengthForDimensions:", "Q40@0:8{?=QQQ}16",
           pipeline_imageblock),
    METHOD("shaderValidation", "q16@0:8", pipeline_validation),
    METHOD("reflection", "@16@0:8", pipeline_reflection),
    METHOD("functionHandleWithFunction:", "@24@0:8@16", pipeline_handle),
    METHOD("newVisibleFunctionTableWithDescriptor:", "@24@0:8@16",
           pipeline_new_table));
DEFINE_CLASS(MettlePipeline, NSObject, sizeof(metal_pipeline),
             pipeline_methods, NO_METHODS);
