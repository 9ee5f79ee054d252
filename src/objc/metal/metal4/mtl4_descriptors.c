// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// mtl4_descriptors.c: Metal 4's descriptors.
#include "objc/metal/metal4/mtl4.h"

#include "objc/metal/property.h"

#define DESCRIPTOR(class_, owner, ...)                           \
  METHODS(owner##_methods, __VA_ARGS__);                         \
  DEFINE_CLASS(class_, NSObject, sizeof(owner), owner##_methods, NO_METHODS)

// --- Of the compiler -----------------------------------------------------------

typedef struct compiler_descriptor {
  struct objc_object object;
  id label;
} compiler_descriptor;
REFERENCES(compiler_descriptor, label, label)
COPY_PROPERTY(compiler_descriptor, label)
DESCRIPTOR(MTL4CompilerDescriptor, compiler_descriptor,
           REFERENCES_METHODS(compiler_descriptor),
           OBJECT_METHODS(compiler_descriptor, label, "setLabel:"));

REFERENCES(mtl4_library_descriptor, source, options)
COPY_PROPERTY(mtl4_library_descriptor, source)
COPY_PROPERTY(mtl4_library_descriptor, name)
COPY_PROPERTY(mtl4_library_descriptor, options)
DESCRIPTOR(MTL4LibraryDescriptor, mtl4_library_descriptor,
           REFERENCES_METHODS(mtl4_library_descriptor),
           OBJECT_METHODS(mtl4_library_descriptor, source, "setSource:"),
           OBJECT_METHODS(mtl4_library_descriptor, name, "setName:"),
           OBJECT_METHODS(mtl4_library_descriptor, options, "setOptions:"));

typedef struct function_base {
  struct objc_object object;
} function_base;
VALUES_ALONE(function_base)
DESCRIPTOR(MTL4FunctionDescriptor, function_base,
           VALUES_ALONE_METHODS(function_base));

REFERENCES(mtl4_function_descriptor, library, constantValues)
OBJECT_PROPERTY(mtl4_function_descriptor, library)
COPY_PROPERTY(mtl4_function_descriptor, name)
COPY_PROPERTY(mtl4_function_descriptor, functionDescriptor)
COPY_PROPERTY(mtl4_function_descriptor, specializedName)
OBJECT_PROPERTY(mtl4_function_descriptor, constantValues)

METHODS(library_function_methods,
        REFERENCES_METHODS(mtl4_function_descriptor),
        OBJECT_METHODS(mtl4_function_descriptor, library, "setLibrary:"),
        OBJECT_METHODS(mtl4_function_descriptor, name, "setName:"));
DEFINE_CLASS(MTL4LibraryFunctionDescriptor, MTL4FunctionDescriptor,
             sizeof(mtl4_function_descriptor), library_function_methods,
             NO_METHODS);
METHODS(specialized_methods, REFERENCES_METHODS(mtl4_function_descriptor),
        OBJECT_METHODS(mtl4_function_descriptor, functionDescriptor,
                       "setFunctionDescriptor:"),
        OBJECT_METHODS(mtl4_function_descriptor, specializedName,
                       "setSpecializedName:"),
        OBJECT_METHODS(mtl4_function_descriptor, constantValues,
                       "setConstantValues:"));
DEFINE_CLASS(MTL4SpecializedFunctionDescriptor, MTL4FunctionDescriptor,
             sizeof(mtl4_function_descriptor), specialized_methods,
             NO_METHODS);

REFERENCES(mtl4_pipeline_descriptor, label, computeFunctionDescriptor)
COPY_PROPERTY(mtl4_pipeline_descriptor, label)
COPY_PROPERTY(mtl4_pipeline_descriptor, computeFunctionDescriptor)
VALUE_PROPERTY(mtl4_pipeline_descriptor, NSUInteger,
               maxTotalThreadsPerThreadgroup)
VALUE_PROPERTY(mtl4_pipeline_descriptor, NSInteger,
               supportIndirectCommandBuffers)
FLAG_PROPERTY(mtl4_pipeline_descriptor,
              threadGroupSizeIsMultipleOfThreadExecutionWidth)

static void pipeline_reset(id self, SEL _cmd) {
  (void)_cmd;
  mtl4_pipeline_descriptor *of = (mtl4_pipeline_descriptor *)self;
  mtl4_pipeline_descriptor_release(self);
  *of = (mtl4_pipeline_descriptor){.object = of->object};
}

DESCRIPTOR(
    MTL4ComputePipelineDescriptor, mtl4_pipeline_descriptor,
    REFERENCES_METHODS(mtl4_pipeline_descriptor),
    METHOD("reset", "v16@0:8", pipeline_reset),
    OBJECT_METHODS(mtl4_pipeline_descriptor, label, "setLabel:"),
    OBJECT_METHODS(mtl4_pipeline_descriptor, computeFunctionDescriptor,
                   "setComputeFunctionDescriptor:"),
    VALUE_METHODS(mtl4_pipeline_descriptor, maxTotalThreadsPerThreadgroup,
                  "setMaxTotalThreadsPerThreadgroup:", "Q"),
    VALUE_METHODS(mtl4_pipeline_descriptor, supportIndirectCommandBuffers,
                  "setSupportIndirectCommandBuffers:", "q"),
    FLAG_METHODS(mtl4_pipeline_descriptor,
                 threadGroupSizeIsMultipleOfThreadExecutionWidth,
                 "setThreadGroupSizeIsMultipleOfThreadExecutionWidth:"));

// --- Of what is bound and committed ----------------------------------------------

static id table_descriptor_init(id self, SEL _cmd) {
  (void)_cmd;
  return self;
}

REFERENCES(mtl4_table_descriptor, label, label)
COPY_PROPERTY(mtl4_table_descriptor, label)
VALUE_PROPERTY(mtl4_table_descriptor, NSUInteger, maxBufferBindCount)
VALUE_PROPERTY(mtl4_table_descriptor, NSUInteger, maxTextureBindCount)
VALUE_PROPERTY(mtl4_table_descriptor, NSUInteger, maxSamplerStateBindCount)
FLAG_PROPERTY(mtl4_table_descriptor, initializeBindings)
DESCRIPTOR(MTL4ArgumentTableDescriptor, mtl4_table_descriptor,
           METHOD("init", "@16@0:8", table_descriptor_init),
           REFERENCES_METHODS(mtl4_table_descriptor),
           OBJECT_METHODS(mtl4_table_descriptor, label, "setLabel:"),
           VALUE_METHODS(mtl4_table_descriptor, maxBufferBindCount,
                         "setMaxBufferBindCount:", "Q"),
           VALUE_METHODS(mtl4_table_descriptor, maxTextureBindCount,
                         "setMaxTextureBindCount:", "Q"),
           VALUE_METHODS(mtl4_table_descriptor, maxSamplerStateBindCount,
                         "setMaxSamplerStateBindCount:", "Q"),
           FLAG_METHODS(mtl4_table_descriptor, initializeBindings,
                        "setInitializeBindings:"));

REFERENCES(mtl4_queue_descriptor, label, feedbackQueue)
COPY_PROPERTY(mtl4_queue_descriptor, label)
OBJECT_PROPERTY(mtl4_queue_descriptor, feedbackQueue)
DESCRIPTOR(MTL4CommandQueueDescriptor, mtl4_queue_descriptor,
           REFERENCES_METHODS(mtl4_queue_descriptor),
           OBJECT_METHODS(mtl4_queue_descriptor, label, "setLabel:"),
           OBJECT_METHODS(mtl4_queue_descriptor, feedbackQueue,
                          "setFeedbackQueue:"));

REFERENCES(mtl4_allocator_descriptor, label, label)
COPY_PROPERTY(mtl4_allocator_descriptor, label)
DESCRIPTOR(MTL4CommandAllocatorDescriptor, mtl4_allocator_descriptor,
           REFERENCES_METHODS(mtl4_allocator_descriptor),
           OBJECT_METHODS(mtl4_allocator_descriptor, label, "setLabel:"));
