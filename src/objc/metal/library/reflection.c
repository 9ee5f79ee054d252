// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// reflection.c: MTLComputePipelineReflection and MTLBinding.
#include "objc/metal/library/reflection.h"

#include "objc/metal/metal.h"
#include "objc/metal/property.h"

typedef struct binding {
  struct objc_object object;
  id name;
  NSInteger type;  // MTLBindingType
  NSUInteger access;
  NSUInteger index;
  NSUInteger bufferAlignment;
  NSUInteger bufferDataSize;
  NSUInteger bufferDataType;
  NSUInteger arrayLength;
  NSUInteger textureType;
  id bufferStructType;
  id dimensions;  // MTLTensorExtents of a tensor, -1 for any; otherwise nil
  bool used;
  bool depthTexture;
} binding;

extern struct objc_class OBJC_CLASS_$_MettleBinding;
extern struct objc_class OBJC_CLASS_$_MTLComputePipelineReflection;

static void binding_dealloc(id self, SEL _cmd) {
  (void)_cmd;
  objc_release(((binding *)self)->name);
  objc_release(((binding *)self)->bufferStructType);
  objc_release(((binding *)self)->dimensions);
  instance_dispose(self);
}

READ_PROPERTY(binding, id, name)
READ_PROPERTY(binding, NSInteger, type)
READ_PROPERTY(binding, NSUInteger, access)
READ_PROPERTY(binding, NSUInteger, index)
READ_PROPERTY(binding, NSUInteger, bufferAlignment)
READ_PROPERTY(binding, NSUInteger, bufferDataSize)
READ_PROPERTY(binding, NSUInteger, bufferDataType)
READ_PROPERTY(binding, NSUInteger, arrayLength)
READ_PROPERTY(binding, NSUInteger, textureType)
READ_PROPERTY(binding, id, bufferStructType)
READ_PROPERTY(binding, id, dimensions)
READ_PROPERTY(binding, int, used)
READ_PROPERTY(binding, int, depthTexture)

static int binding_is_argument(id self, SEL _cmd) {
  (void)self;
  (void)_cmd;
  return 1;
}

// Of the extents and indices of a tensor: their type in MSL is int.
static NSUInteger binding_index_type(id self, SEL _cmd) {
  (void)self;
  (void)_cmd;
  return data_type_of(MTL_TYPE_INT, 1, 1);
}

#define READ_ONLY(name, selector, type) \
  METHOD(selector, type "16@0:8", binding_get_##name)

METHODS(binding_methods, METHOD("dealloc", "v16@0:8", binding_dealloc),
        READ_ONLY(name, "name", "@"), READ_ONLY(type, "type", "q"),
        READ_ONLY(access, "access", "Q"), READ_ONLY(index, "index", "Q"),
        READ_ONLY(used, "isUsed", "B"), READ_ONLY(used, "isActive", "B"),
        METHOD("isArgument", "B16@0:8", binding_is_argument),
        READ_ONLY(bufferAlignment, "bufferAlignment", "Q"),
        READ_ONLY(bufferDataSize, "bufferDataSize", "Q"),
        READ_ONLY(bufferDataType, "bufferDataType", "Q"),
        READ_ONLY(bufferAlignment, "threadgroupMemoryAlignment", "Q"),
        READ_ONLY(bufferDataSize, "threadgroupMemoryDataSize", "Q"),
        READ_ONLY(bufferStructType, "bufferStructType", "@"),
        READ_ONLY(bufferDataType, "tensorDataType", "q"),
        READ_ONLY(dimensions, "dimensions", "@"),
        METHOD("indexType", "Q16@0:8", binding_index_type),
        READ_ONLY(arrayLength, "arrayLength", "Q"),
        READ_ONLY(textureType, "textureType", "Q"),
        READ_ONLY(bufferDataType, "textureDataType", "Q"),
        READ_ONLY(depthTexture, "isDepthTexture", "B"));
DEFINE_CLASS(MettleBinding, NSObject, sizeof(binding), binding_methods,
             NO_METHODS);

static id binding_create(mtl_function *function,
                         const mtl_argument *argument) {
  enum { TENSOR = 37 };
  // MTLBindingType, MTLBindingAccess, MTLTextureType
  static const NSInteger types[] = {[MTL_ARGUMENT_BUFFER] = 0,
                                    [MTL_ARGUMENT_THREADGROUP_MEMORY] = 1,
                                    [MTL_ARGUMENT_TEXTURE] = 2,
                                    [MTL_ARGUMENT_SAMPLER] = 3,
                                    [MTL_ARGUMENT_FUNCTION_TABLE] = 24};
  static const NSUInteger accesses[] = {[MTL_ACCESS_READ_ONLY] = 0,
                                        [MTL_ACCESS_READ_WRITE] = 1,
                                        [MTL_ACCESS_WRITE_ONLY] = 2};
  binding *made = (binding *)CREATE(MettleBinding);
  made->name = string_create(argument->name);
  made->type = types[argument->kind];
  made->access = accesses[argument->access];
  made->index = argument->index;
  made->bufferAlignment = argument->alignment_bytes;
  made->bufferDataSize = argument->size_bytes;
  made->bufferDataType = data_type_of(argument->type, argument->components, 1);
  if (argument->tensor_rank) {
    made->type = TENSOR;
    made->dimensions = objc_retain(
        tensor_extents_make(argument->tensor_rank, argument->tensor_extents));
  } else if (argument->kind == MTL_ARGUMENT_BUFFER) {
    made->bufferStructType = struct_type_create(function, argument);
    if (made->bufferStructType) {
      made->bufferDataType = 1;  // MTLDataTypeStruct
    }
  }
  made->arrayLength = argument->array_length;
  made->textureType =
      argument->texture_type ? texture_type_number(argument->texture_type) : 2;
  made->used = argument->is_active;
  made->depthTexture = argument->is_depth_texture;
  return &made->object;
}

typedef struct reflection {
  struct objc_object object;
  id bindings;
} reflection;

static void reflection_dealloc(id self, SEL _cmd) {
  (void)_cmd;
  objc_release(((reflection *)self)->bindings);
  instance_dispose(self);
}

static id reflection_bindings(id self, SEL _cmd) {
  (void)_cmd;
  return ((reflection *)self)->bindings;
}

METHODS(reflection_methods, METHOD("dealloc", "v16@0:8", reflection_dealloc),
        METHOD("bindings", "@16@0:8", reflection_bindings),
        METHOD("arguments", "@16@0:8", reflection_bindings));
DEFINE_CLASS(MTLComputePipelineReflection, NSObject, sizeof(reflection),
             reflection_methods, NO_METHODS);

id reflection_make(mtl_pipeline *pipeline, mtl_function *function) {
  size_t count;
  const mtl_argument *arguments = mtl_pipeline_arguments(pipeline, &count);
  reflection *made = (reflection *)CREATE(MTLComputePipelineReflection);
  made->bindings = mutable_array_create();
  for (size_t i = 0; i < count; ++i) {
    const id each = binding_create(function, &arguments[i]);
    SEND(void (*)(id, SEL, id), made->bindings, "addObject:", each);
    objc_release(each);
  }
  return objc_autorelease(&made->object);
}
