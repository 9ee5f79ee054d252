// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// encode_dispatch.c: encodes one dispatch: binds its arguments, copies buffers
// to its shadow textures before it and back after it.
#include <inttypes.h>
#include <string.h>

#include "drivers/metal/metal.h"

// --- arguments ---------------------------------------------------------------

static uint32_t inline_bytes(const mtli_dispatch *dispatch, uint32_t slot) {
  for (uint32_t i = 0; i < dispatch->inline_count; i++) {
    if (dispatch->inline_arguments[i].slot == slot) {
      return dispatch->inline_arguments[i].length_bytes;
    }
  }
  return 0;
}

static id extents_of(uint32_t rank, const int64_t *values) {
  long numbers[MTL_MAX_TENSOR_RANK];
  for (uint32_t i = 0; i < rank; i++) {
    numbers[i] = values[i];
  }
  return SEND(id(*)(id, SEL, unsigned long, const long *),
              GET_OBJECT(metal.get_class("MTLTensorExtents"), alloc),
              initWithRank, (unsigned long)rank, numbers);
}

// Makes an MTLTensor from its recorded address, extents and strides.
static id new_tensor(const metal_encoding *encoding,
                     const mtl_argument *argument, const int64_t *words,
                     id *out_error) {
  const uint64_t address = (uint64_t)words[0];
  const mtl_buffer *buffer = metal_encoding_find(encoding, address);
  if (!buffer) {
    return NULL;
  }
  const uint32_t rank = argument->tensor_rank;
  const id descriptor = metal_new("MTLTensorDescriptor");
  const id dimensions = extents_of(rank, words + 1);
  const id strides = extents_of(rank, words + 1 + rank);
  SET_OBJECT(descriptor, setDimensions, dimensions);
  SET_OBJECT(descriptor, setStrides, strides);
  SET_NUMBER(descriptor, setDataType, metal_data_type(argument->type, 1));
  const id tensor = SEND(
      id(*)(id, SEL, id, unsigned long, id *), metal_object_of(buffer),
      newTensorInBuffer, descriptor,
      (unsigned long)(metal_offset_of(buffer) + address - buffer->gpu_address),
      out_error);
  metal_release(strides);
  metal_release(dimensions);
  metal_release(descriptor);
  return tensor;
}

// Binds a tensor by a method of Mettle's: Apple binds tensors by argument
// tables of Metal 4.
static mtl_status bind_tensor(metal_encoding *encoding,
                              const mtl_argument *argument,
                              const int64_t *words) {
  if (!RESPONDS(encoding->compute, setTensor)) {
    return mtli_fail(MTL_UNSUPPORTED,
                     "argument '%s' [[buffer(%u)]] is a tensor, which this "
                     "Metal binds by MTL4ArgumentTable alone",
                     argument->name, argument->index);
  }
  id error = NULL;
  const id tensor = new_tensor(encoding, argument, words, &error);
  if (!tensor) {
    return metal_fail(error, "newTensorWithDescriptor");
  }
  SEND(void (*)(id, SEL, id, unsigned long), encoding->compute, setTensor,
       tensor, (unsigned long)argument->index);
  return metal_encoding_keep(encoding, tensor)
             ? MTL_OK
             : mtli_fail(MTL_OUT_OF_MEMORY, "no memory for a tensor");
}

static mtl_status bind_buffer(metal_encoding *encoding,
                              const mtli_dispatch *dispatch, uint32_t slot,
                              const mtl_argument *argument) {
  const uint64_t address = (uintptr_t)dispatch->arguments[slot];
  const uint32_t length = inline_bytes(dispatch, slot);
  const mtl_buffer *buffer =
      length ? NULL : metal_encoding_find(encoding, address);
  if (length && argument->tensor_rank) {
    return bind_tensor(encoding, argument, dispatch->arguments[slot]);
  }
  if (length) {
    SEND(void (*)(id, SEL, const void *, unsigned long, unsigned long),
         encoding->compute, setBytes, dispatch->arguments[slot],
         (unsigned long)length, (unsigned long)argument->index);
  } else if (buffer) {
    SEND(void (*)(id, SEL, id, unsigned long, unsigned long), encoding->compute,
         setBuffer, metal_object_of(buffer),
         (unsigned long)(metal_offset_of(buffer) + address -
                         buffer->gpu_address),
         (unsigned long)argument->index);
  } else if (address) {
    return mtli_fail(MTL_INVALID_STATE,
                     "kernel '%s': argument '%s' [[buffer(%u)]] is in no "
                     "buffer of the command buffer",
                     dispatch->pipeline->kernel->name, argument->name,
                     argument->index);
  }
  return MTL_OK;
}

// Textures, samplers and function tables come as resource ids.
static void bind_handles(const metal_encoding *encoding,
                         const mtli_dispatch *dispatch, uint32_t slot,
                         const mtl_argument *argument) {
  const uint64_t *ids = dispatch->arguments[slot];
  metal_device *device = metal_device_of(dispatch->pipeline->device);
  const SEL selector =
      metal.selectors[argument->kind == MTL_ARGUMENT_TEXTURE ? METAL_setTexture
                      : argument->kind == MTL_ARGUMENT_SAMPLER
                          ? METAL_setSamplerState
                          : METAL_setVisibleFunctionTable];
  for (uint32_t i = 0; i < argument->array_length; i++) {
    ((void (*)(id, SEL, id, unsigned long))metal.send)(
        encoding->compute, selector,
        ids[i] ? metal_handle_find(device, ids[i], NULL) : NULL,
        (unsigned long)argument->index + i);
  }
}

// True for the offset of an argument without memory (driver.h).
static bool is_missing(const void *offset) {
  return (uintptr_t)offset >= MTLI_NO_THREADGROUP_MEMORY;
}

// The memory of a threadgroup argument ends where the next one begins.
static void bind_threadgroup(const metal_encoding *encoding,
                             const mtli_dispatch *dispatch, uint32_t slot,
                             const mtl_argument *argument) {
  const mtli_kernel *kernel = dispatch->pipeline->kernel;
  const uintptr_t first = (uintptr_t)dispatch->arguments[slot];
  uintptr_t end = dispatch->threadgroup_end;
  for (uint32_t next = slot + 1; next < kernel->parameter_count; next++) {
    const mtl_argument *other = &kernel->parameters[next].argument;
    if (other->kind == MTL_ARGUMENT_THREADGROUP_MEMORY && other->is_active &&
        !is_missing(dispatch->arguments[next])) {
      end = (uintptr_t)dispatch->arguments[next];
      break;
    }
  }
  SEND(void (*)(id, SEL, unsigned long, unsigned long), encoding->compute,
       setThreadgroupMemory,
       is_missing((void *)first) ? 0ul : (unsigned long)(end - first),
       (unsigned long)argument->index);
}

static mtl_status bind_all(metal_encoding *encoding,
                           const mtli_dispatch *dispatch) {
  const mtli_kernel *kernel = dispatch->pipeline->kernel;
  for (uint32_t slot = 0; slot < kernel->parameter_count; slot++) {
    const mtl_argument *argument = &kernel->parameters[slot].argument;
    if (!argument->is_active) {
      continue;
    }
    if (argument->kind == MTL_ARGUMENT_BUFFER) {
      MTL_TRY(bind_buffer(encoding, dispatch, slot, argument));
    } else if (argument->kind == MTL_ARGUMENT_THREADGROUP_MEMORY) {
      bind_threadgroup(encoding, dispatch, slot, argument);
    } else {
      bind_handles(encoding, dispatch, slot, argument);
    }
  }
  return MTL_OK;
}

// --- shadows -----------------------------------------------------------------

typedef void shadow_fn(metal_encoding *encoding, metal_texture *texture);

static bool may_reach_more(const mtli_kernel *kernel) {
  for (size_t i = 0; i < kernel->parameter_count; i++) {
    const char *layout = kernel->parameters[i].layout;
    if (layout && *layout) {
      return true;
    }
  }
  return false;
}

// Visits all shadows of all buffers of the list: an argument buffer may name
// any.
static void visit_listed(metal_encoding *encoding, shadow_fn *visit,
                         bool is_drain) {
  metal_device *device =
      metal_device_of(encoding->command_buffer->queue->device);
  pthread_mutex_lock(&device->lock);
  for (size_t i = 0; i < encoding->buffer_count; i++) {
    metal_texture *each = ((metal_buffer *)encoding->buffers[i])->shadows;
    for (; each; each = each->next_shadow) {
      if (!is_drain ||
          each->texture.desc.usage & MTL_TEXTURE_USAGE_SHADER_WRITE) {
        visit(encoding, each);
      }
    }
  }
  pthread_mutex_unlock(&device->lock);
}

void metal_shadows_fill(metal_encoding *encoding) {
  visit_listed(encoding, metal_shadow_fill, false);
}

void metal_shadows_drain(metal_encoding *encoding) {
  visit_listed(encoding, metal_shadow_drain, true);
}

static void visit_bound(metal_encoding *encoding, const mtli_dispatch *dispatch,
                        shadow_fn *visit, bool is_drain) {
  const mtli_kernel *kernel = dispatch->pipeline->kernel;
  metal_device *device = metal_device_of(dispatch->pipeline->device);
  for (uint32_t slot = 0; slot < kernel->parameter_count; slot++) {
    const mtl_argument *argument = &kernel->parameters[slot].argument;
    if (argument->kind != MTL_ARGUMENT_TEXTURE || !argument->is_active ||
        (is_drain && argument->access == MTL_ACCESS_READ_ONLY)) {
      continue;
    }
    const uint64_t *ids = dispatch->arguments[slot];
    for (uint32_t i = 0; i < argument->array_length; i++) {
      metal_texture *texture = NULL;
      if (ids[i] && metal_handle_find(device, ids[i], &texture) && texture &&
          texture->is_shadow) {
        visit(encoding, texture);
      }
    }
  }
}

static void visit_shadows(metal_encoding *encoding,
                          const mtli_dispatch *dispatch, shadow_fn *visit,
                          bool is_drain) {
  if (may_reach_more(dispatch->pipeline->kernel)) {
    visit_listed(encoding, visit, is_drain);
  } else {
    visit_bound(encoding, dispatch, visit, is_drain);
  }
}

// --- the dispatch ------------------------------------------------------------

static bool is_even(const mtli_dispatch *dispatch) {
  return dispatch->grid_threads[0] % dispatch->group_threads[0] == 0 &&
         dispatch->grid_threads[1] % dispatch->group_threads[1] == 0 &&
         dispatch->grid_threads[2] % dispatch->group_threads[2] == 0;
}

static void send(id encoder, const mtli_dispatch *dispatch) {
  const uint32_t *grid = dispatch->grid_threads;
  const uint32_t *group = dispatch->group_threads;
  const metal_size threads = {group[0], group[1], group[2]};
  if (dispatch->indirect) {
    SEND(void (*)(id, SEL, id, unsigned long, metal_size), encoder,
         dispatchIndirect, metal_object_of(dispatch->indirect),
         (unsigned long)(metal_offset_of(dispatch->indirect) +
                         dispatch->indirect_offset_bytes),
         threads);
  } else if (is_even(dispatch)) {
    SEND(void (*)(id, SEL, metal_size, metal_size), encoder,
         dispatchThreadgroups,
         ((metal_size){grid[0] / group[0], grid[1] / group[1],
                       grid[2] / group[2]}),
         threads);
  } else {  // not available on GPUs before Apple4 and Mac2
    SEND(void (*)(id, SEL, metal_size, metal_size), encoder, dispatchThreads,
         ((metal_size){grid[0], grid[1], grid[2]}), threads);
  }
}

mtl_status metal_encode_dispatch(metal_encoding *encoding,
                                 const mtli_command *command) {
  const mtli_dispatch *dispatch = &command->dispatch;
  const metal_pipeline *pipeline = (metal_pipeline *)dispatch->pipeline;
  visit_shadows(encoding, dispatch, metal_shadow_fill, false);
  const id encoder = metal_encoding_compute(encoding);
  metal_encoding_order(encoding, command);
  SET_OBJECT(encoder, setComputePipelineState, pipeline->reflected.state);
  MTL_TRY(bind_all(encoding, dispatch));
  metal_encoding_push_group(encoder, dispatch->debug_group);
  send(encoder, dispatch);
  metal_encoding_pop_group(encoder, dispatch->debug_group);
  visit_shadows(encoding, dispatch, metal_shadow_drain, true);
  return MTL_OK;
}
