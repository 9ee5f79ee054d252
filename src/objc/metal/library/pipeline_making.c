// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// pipeline_making.c: creates compute pipelines, synchronously or in the
// background.
#include <stdlib.h>

#include "objc/dispatch/dispatch.h"
#include "objc/metal/library/pipeline.h"
#include "objc/metal/library/reflection.h"
#include "objc/metal/metal.h"
#include "objc/runtime/memory/block.h"

extern struct objc_class OBJC_CLASS_$_MettlePipeline;

// --- At once -----------------------------------------------------------------

static id create(id device, id descriptor, id function, NSUInteger options,
                 id *out_reflection, id *out_error) {
  pipeline_request request;
  pipeline_request_open(&request, descriptor, function, options);
  if (!request.function) {
    pipeline_request_close(&request);
    if (out_error) {
      *out_error = error_make(MTLLibraryErrorDomain, 3, request.missing);
    }
    return NULL;
  }
  mtl_function *made_of = request.function;
  mtl_pipeline *pipeline;
  const mtl_status status =
      mtl_pipeline_create(request.function, &request.desc, &pipeline);
  pipeline_request_close(&request);
  if (status != MTL_OK) {
    error_from_mettle(out_error, MTLLibraryErrorDomain, status);
    return NULL;
  }
  error_clear(out_error);
  metal_pipeline *made = (metal_pipeline *)CREATE(MettlePipeline);
  made->device = objc_retain(device);
  made->pipeline = pipeline;
  made->in_indirect_commands = request.in_indirect_commands;
  if (out_reflection) {
    *out_reflection = reflection_make(pipeline, made_of);
  }
  return &made->object;
}

static id new_by_function(id self, SEL _cmd, id function, id *out_error) {
  (void)_cmd;
  return create(self, NULL, function, 0, NULL, out_error);
}

static id new_by_function_reflected(id self, SEL _cmd, id function,
                                    NSUInteger options, id *out_reflection,
                                    id *out_error) {
  (void)_cmd;
  return create(self, NULL, function, options, out_reflection, out_error);
}

static id new_by_descriptor(id self, SEL _cmd, id descriptor,
                            NSUInteger options, id *out_reflection,
                            id *out_error) {
  (void)_cmd;
  return create(self, descriptor, NULL, options, out_reflection, out_error);
}

// --- In the background -------------------------------------------------------

typedef struct order {
  id device;
  id descriptor;  // or nil
  id function;    // or nil
  id literal;
  NSUInteger options;
  bool with_reflection;
} order;

static void create_then_call(void *context) {
  order *of = context;
  id error = NULL, reflection = NULL;
  const id made = create(of->device, of->descriptor, of->function, of->options,
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

static void create_later(id device, id descriptor, id function,
                         NSUInteger options, id literal, bool with_reflection) {
  order *made = malloc(sizeof *made);
  if (made) {
    *made = (order){objc_retain(device),
                    SEND(id(*)(id, SEL), descriptor, "copy"),
                    objc_retain(function),
                    _Block_copy(literal),
                    options,
                    with_reflection};
    dispatch_queue_add(dispatch_get_global_queue(0, 0), create_then_call, made);
  }
}

static void new_by_function_then(id self, SEL _cmd, id function, id literal) {
  (void)_cmd;
  create_later(self, NULL, function, 0, literal, false);
}

static void new_by_function_reflected_then(id self, SEL _cmd, id function,
                                           NSUInteger options, id literal) {
  (void)_cmd;
  create_later(self, NULL, function, options, literal, true);
}

static void new_by_descriptor_then(id self, SEL _cmd, id descriptor,
                                   NSUInteger options, id literal) {
  (void)_cmd;
  create_later(self, descriptor, NULL, options, literal, true);
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
