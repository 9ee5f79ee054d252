// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// launch.c: one dispatch in one call. From Python each call of a C function
// costs more than most calls of the API take.
#include "launch.h"

mtl_status mettle_wrap_memory(mtl_device *device, uint64_t address,
                              uint64_t length_bytes, mtl_buffer **out_buffer,
                              uint64_t *out_offset_bytes) {
  const uint64_t step = mtl_device_get_info(device)->no_copy_alignment_bytes;
  const uint64_t first = address & ~(step - 1);
  const uint64_t end = (address + length_bytes + step - 1) & ~(step - 1);
  *out_offset_bytes = address - first;
  return mtl_buffer_create(
      device,
      &(mtl_buffer_desc){.length_bytes = end - first,
                         .no_copy_bytes = (void *)(uintptr_t)first},
      out_buffer);
}

#define ANY_USE (MTL_USAGE_READ | MTL_USAGE_WRITE)

static mtl_status set_memory(mtl_compute_encoder *encoder, mtl_queue *queue,
                             const mettle_argument *argument) {
  mtl_buffer *buffer;
  uint64_t offset_bytes;
  const mtl_status status =
      mettle_wrap_memory(mtl_queue_device(queue), argument->object,
                         argument->length_bytes, &buffer, &offset_bytes);
  if (status != MTL_OK) {
    return status;
  }
  mtl_compute_encoder_set_buffer(
      encoder, buffer, offset_bytes + argument->offset_bytes, argument->index);
  mtl_buffer_release(buffer);  // the command buffer has it
  return MTL_OK;
}

static mtl_status set_argument(mtl_compute_encoder *encoder, mtl_queue *queue,
                               const mettle_argument *argument) {
  void *const object = (void *)(uintptr_t)argument->object;
  switch ((mettle_argument_kind)argument->kind) {
    case METTLE_ARGUMENT_BUFFER:
      mtl_compute_encoder_set_buffer(encoder, object, argument->offset_bytes,
                                     argument->index);
      return MTL_OK;
    case METTLE_ARGUMENT_MEMORY: return set_memory(encoder, queue, argument);
    case METTLE_ARGUMENT_VALUE:
      mtl_compute_encoder_set_bytes(encoder, &argument->object,
                                    argument->length_bytes, argument->index);
      return MTL_OK;
    case METTLE_ARGUMENT_BYTES:
      mtl_compute_encoder_set_bytes(encoder, object, argument->length_bytes,
                                    argument->index);
      return MTL_OK;
    case METTLE_ARGUMENT_TEXTURE:
      mtl_compute_encoder_set_texture(encoder, object, argument->index);
      return MTL_OK;
    case METTLE_ARGUMENT_SAMPLER:
      mtl_compute_encoder_set_sampler(encoder, object, argument->index);
      return MTL_OK;
    case METTLE_ARGUMENT_TABLE:
      mtl_compute_encoder_set_function_table(encoder, object, argument->index);
      return MTL_OK;
    case METTLE_ARGUMENT_THREADGROUP:
      mtl_compute_encoder_set_threadgroup_memory(
          encoder, argument->length_bytes, argument->index);
      return MTL_OK;
    case METTLE_ARGUMENT_TENSOR:
      mtl_compute_encoder_set_tensor(encoder, object, argument->index);
      return MTL_OK;
    case METTLE_ARGUMENT_USED_BUFFER:
      mtl_compute_encoder_use_buffer(encoder, object, ANY_USE);
      return MTL_OK;
    case METTLE_ARGUMENT_USED_TEXTURE:
      mtl_compute_encoder_use_texture(encoder, object, ANY_USE);
      return MTL_OK;
    case METTLE_ARGUMENT_USED_TABLE:
      mtl_compute_encoder_use_function_table(encoder, object);
      return MTL_OK;
  }
  return mtl_fail(MTL_INVALID_ARGUMENT, "an argument of kind %u",
                  argument->kind);
}

static mtl_status record(mtl_command_buffer *commands, mtl_queue *queue,
                         mtl_pipeline *pipeline,
                         const mettle_argument *arguments, uint32_t count,
                         const uint32_t *sizes, uint32_t flags) {
  mtl_compute_encoder *encoder;
  mtl_status status =
      mtl_compute_encoder_create(commands, MTL_DISPATCH_SERIAL, &encoder);
  if (status != MTL_OK) {
    return status;
  }
  mtl_compute_encoder_set_pipeline(encoder, pipeline);
  for (uint32_t i = 0; i < count && status == MTL_OK; i++) {
    status = set_argument(encoder, queue, &arguments[i]);
  }
  const mtl_size grid = {sizes[0], sizes[1], sizes[2]};
  const mtl_size group = {sizes[3], sizes[4], sizes[5]};
  if (status == MTL_OK && flags & METTLE_LAUNCH_THREADGROUPS) {
    mtl_compute_encoder_dispatch_threadgroups(encoder, grid, group);
  } else if (status == MTL_OK) {
    mtl_compute_encoder_dispatch_threads(encoder, grid, group);
  }
  if (status == MTL_OK) {
    status = mtl_compute_encoder_end(encoder);
  }
  mtl_compute_encoder_release(encoder);
  return status;
}

mtl_status mettle_launch(mtl_queue *queue, mtl_pipeline *pipeline,
                         const mettle_argument *arguments, uint32_t count,
                         const uint32_t *sizes, uint32_t flags,
                         mtl_event *event, uint64_t value, int interrupt_fd,
                         mtl_command_buffer **out_command_buffer) {
  mtl_command_buffer *commands;
  *out_command_buffer = NULL;
  if (interrupt_fd >= 0) {
    mettle_watch_interrupts(interrupt_fd);
  }
  mtl_status status = mtl_command_buffer_create(queue, NULL, &commands);
  if (status != MTL_OK) {
    return status;
  }
  status = record(commands, queue, pipeline, arguments, count, sizes, flags);
  if (event) {
    mtl_command_buffer_signal_event(commands, event, value);
  }
  if (status == MTL_OK) {
    status = mtl_command_buffer_commit(commands);
  }
  if (status != MTL_OK) {
    mtl_command_buffer_release(commands);
    return status;
  }
  *out_command_buffer = commands;
  return flags & METTLE_LAUNCH_WAIT ? mtl_command_buffer_wait(commands)
                                    : MTL_OK;
}
