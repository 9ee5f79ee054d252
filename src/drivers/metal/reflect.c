// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// reflect.c: converts MTLComputePipelineReflection's arguments to the runtime's
// parameters. struct_types.c converts members of structs.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/metal/struct_types.h"

// MTLBindingType.
enum { BUFFER = 0, THREADGROUP = 1, TEXTURE = 2, SAMPLER = 3, TABLE = 24,
       TENSOR = 37 };

static bool kind_of(unsigned long type, mtl_argument_kind *out_kind) {
  switch (type) {
    case TENSOR:
    case BUFFER: *out_kind = MTL_ARGUMENT_BUFFER; return true;
    case THREADGROUP: *out_kind = MTL_ARGUMENT_THREADGROUP_MEMORY; return true;
    case TEXTURE: *out_kind = MTL_ARGUMENT_TEXTURE; return true;
    case SAMPLER: *out_kind = MTL_ARGUMENT_SAMPLER; return true;
    case TABLE: *out_kind = MTL_ARGUMENT_FUNCTION_TABLE; return true;
    default: return false;  // of rendering, ray tracing
  }
}

// MTLBindingAccess.
static mtl_access access_of(unsigned long access) {
  return access == 2   ? MTL_ACCESS_WRITE_ONLY
         : access == 1 ? MTL_ACCESS_READ_WRITE
                       : MTL_ACCESS_READ_ONLY;
}

static void read_buffer(id binding, mtli_arena *arena,
                        mtli_parameter *parameter) {
  mtl_argument *argument = &parameter->argument;
  uint32_t columns = 1;
  argument->size_bytes = (uint32_t)GET_NUMBER(binding, bufferDataSize);
  argument->alignment_bytes = (uint32_t)GET_NUMBER(binding, bufferAlignment);
  metal_data_type_read(GET_NUMBER(binding, bufferDataType), &argument->type,
                       &argument->components, &columns);
  const id type = RESPONDS(binding, bufferStructType)
                      ? GET_OBJECT(binding, bufferStructType)
                      : NULL;
  if (type) {
    metal_struct_read(type, arena, argument);
    parameter->layout = metal_struct_layout(type, argument, arena);
  }
}

static void read_tensor(id binding, mtli_arena *arena, mtl_argument *argument) {
  const id dimensions = GET_OBJECT(binding, dimensions);
  const unsigned long rank = dimensions ? GET_NUMBER(dimensions, rank) : 0;
  int64_t *extents = mtli_arena_allocate(arena, (rank + 1) * sizeof *extents);
  uint32_t columns = 1;
  metal_data_type_read(GET_NUMBER(binding, tensorDataType), &argument->type,
                       &argument->components, &columns);
  // What mtl_compute_encoder_set_tensor records: address, extents, strides.
  argument->size_bytes = (uint32_t)((1 + 2 * rank) * sizeof(int64_t));
  argument->alignment_bytes = sizeof(int64_t);
  for (unsigned long i = 0; extents && i < rank; i++) {
    extents[i] = SEND(long (*)(id, SEL, unsigned long), dimensions,
                      extentAtDimensionIndex, i);
  }
  argument->tensor_extents = extents;
  argument->tensor_rank = extents ? (uint32_t)rank : 0;
}

static void read_threadgroup(id binding, mtl_argument *argument) {
  argument->size_bytes =
      (uint32_t)GET_NUMBER(binding, threadgroupMemoryDataSize);
  argument->alignment_bytes =
      (uint32_t)GET_NUMBER(binding, threadgroupMemoryAlignment);
  argument->access = MTL_ACCESS_READ_WRITE;
}

static void read_texture(id binding, mtl_argument *argument) {
  uint32_t columns = 1;
  argument->texture_type =
      metal_texture_type_read(GET_NUMBER(binding, textureType));
  argument->is_depth_texture = GET_BOOL(binding, isDepthTexture);
  argument->array_length = (uint32_t)GET_NUMBER(binding, arrayLength);
  metal_data_type_read(GET_NUMBER(binding, textureDataType), &argument->type,
                       &argument->components, &columns);
}

// Writes "float4", "texture" and so on: Metal does not keep the words of the
// source.
static char *type_name(const mtl_argument *argument, mtli_arena *arena) {
  char text[32];
  const char *scalar = metal_data_type_name(argument->type);
  const char *name = argument->kind == MTL_ARGUMENT_TEXTURE   ? "texture"
                     : argument->kind == MTL_ARGUMENT_SAMPLER ? "sampler"
                     : argument->kind == MTL_ARGUMENT_FUNCTION_TABLE
                         ? "visible_function_table"
                         : scalar;
  snprintf(text, sizeof text,
           name == scalar && argument->components > 1 ? "%s%u" : "%s", name,
           argument->components);
  return mtli_arena_copy_text(arena, text, strlen(text));
}

static mtl_status read_binding(id binding, mtl_argument_kind kind,
                               mtli_arena *arena, mtli_parameter *parameter) {
  mtl_argument *argument = &parameter->argument;
  const char *name = metal_text(GET_OBJECT(binding, name));
  *parameter = (mtli_parameter){.enabling_constant = -1, .layout = ""};
  argument->name = mtli_arena_copy_text(arena, name, strlen(name));
  argument->kind = kind;
  argument->index = (uint32_t)GET_NUMBER(binding, index);
  argument->access = access_of(GET_NUMBER(binding, access));
  argument->is_active = GET_BOOL(binding, isUsed);
  argument->array_length = 1;
  if (GET_NUMBER(binding, type) == TENSOR) {
    read_tensor(binding, arena, argument);
  } else if (kind == MTL_ARGUMENT_BUFFER) {
    read_buffer(binding, arena, parameter);
  } else if (kind == MTL_ARGUMENT_THREADGROUP_MEMORY) {
    read_threadgroup(binding, argument);
  } else if (kind == MTL_ARGUMENT_TEXTURE) {
    read_texture(binding, argument);
  } else if (RESPONDS(binding, arrayLength)) {
    argument->array_length = (uint32_t)GET_NUMBER(binding, arrayLength);
  }
  argument->array_length =
      argument->array_length ? argument->array_length : 1;
  argument->type_name = type_name(argument, arena);
  return argument->name && argument->type_name && parameter->layout
             ? MTL_OK
             : mtli_fail(MTL_OUT_OF_MEMORY, "no memory for arguments");
}

static mtl_status read_bindings(id reflection, metal_reflected *reflected) {
  mtli_kernel *kernel = &reflected->kernel;
  const id bindings = GET_OBJECT(reflection, bindings);
  const unsigned long count = bindings ? GET_NUMBER(bindings, count) : 0;
  kernel->parameters = mtli_arena_allocate(
      &reflected->arena, (count + 1) * sizeof *kernel->parameters);
  if (!kernel->parameters) {
    return mtli_fail(MTL_OUT_OF_MEMORY, "no memory for arguments");
  }
  for (unsigned long i = 0; i < count; i++) {
    const id binding =
        SEND(id(*)(id, SEL, unsigned long), bindings, objectAtIndex, i);
    mtl_argument_kind kind;
    if (kind_of(GET_NUMBER(binding, type), &kind)) {
      MTL_TRY(read_binding(binding, kind, &reflected->arena,
                           &kernel->parameters[kernel->parameter_count++]));
    }
  }
  return MTL_OK;
}

static id make_state(const metal_device *device, id descriptor,
                     bool is_indirect, id *out_reflection, id *out_error) {
  // MTLPipelineOptionBindingInfo and MTLPipelineOptionBufferTypeInfo.
  enum { OPTIONS = 1 | 2 };
  *out_reflection = *out_error = NULL;
  SET_NUMBER(descriptor, setSupportIndirect, is_indirect);
  return SEND(id(*)(id, SEL, id, unsigned long, id *, id *), device->object,
              newPipeline, descriptor, (unsigned long)OPTIONS, out_reflection,
              out_error);
}

mtl_status metal_reflect(metal_device *device, id descriptor,
                         metal_reflected *out_reflected) {
  id reflection = NULL, error = NULL;
  // Makes a state whose pipeline indirect commands may name, or, if Metal
  // refuses that for the function, one that they may not.
  id state = make_state(device, descriptor, true, &reflection, &error);
  if (!state) {
    state = make_state(device, descriptor, false, &reflection, &error);
  }
  if (!state) {
    return metal_fail(error, "newComputePipelineStateWithDescriptor");
  }
  out_reflected->state = state;
  out_reflected->kernel.static_threadgroup_bytes =
      (uint32_t)GET_NUMBER(state, staticThreadgroupMemoryLength);
  const mtl_status status = read_bindings(reflection, out_reflected);
  if (status != MTL_OK) {
    metal_reflected_clear(&device->device, out_reflected);
  }
  return status;
}

void metal_reflected_clear(const mtl_device *device,
                           metal_reflected *reflected) {
  metal_give_back(device, reflected->state);
  mtli_arena_clear(&reflected->arena);
  *reflected = (metal_reflected){0};
}
