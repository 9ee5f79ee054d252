// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// compute_encoder.c: an encoder's state: pipeline, bindings, barriers, fences
// and debug groups. dispatch.c makes commands from it.
#include "runtime/record/compute_encoder.h"

#include <stdio.h>
#include <string.h>

enum { SET_BYTES_LIMIT = 4096 };  // Metal: setBytes:length:atIndex:

static mtl_status create(mtl_command_buffer *command_buffer,
                         const mtl_encoder_desc *desc, const char *call,
                         mtl_compute_encoder **out_encoder) {
  if (!command_buffer || !out_encoder) {
    return mtli_fail(MTL_INVALID_ARGUMENT, "%s: %s is NULL", call,
                     command_buffer ? "out_encoder" : "command_buffer");
  }
  *out_encoder = NULL;
  const mtl_dispatch_type dispatch_type =
      desc ? desc->dispatch_type : MTL_DISPATCH_SERIAL;
  if ((unsigned)dispatch_type > MTL_DISPATCH_CONCURRENT) {
    return mtli_fail(MTL_INVALID_ARGUMENT,
                     "%s: dispatch type %d does not exist", call,
                     (int)dispatch_type);
  }
  mtli_encoder *base = NULL;
  MTL_TRY(mtli_encoder_create(command_buffer, sizeof(mtl_compute_encoder),
                              MTL_WORK_COMPUTE_ENCODER, call, &base));
  MTL_TRY(mtli_encoder_set_desc(base, desc, call));
  mtl_compute_encoder *encoder = (mtl_compute_encoder *)base;
  const mtl_queue *queue = command_buffer->queue;
  encoder->dispatch_type =
      queue->is_ordered_by_barriers ? MTL_DISPATCH_CONCURRENT : dispatch_type;
  encoder->has_hazards = !queue->is_ordered_by_barriers;
  mtli_order_next(encoder, encoder->has_hazards ? MTLI_ORDERS_ALL : 0);
  *out_encoder = encoder;
  return MTL_OK;
}

mtl_status mtl_compute_encoder_create(mtl_command_buffer *command_buffer,
                                      mtl_dispatch_type dispatch_type,
                                      mtl_compute_encoder **out_encoder) {
  return create(command_buffer,
                &(mtl_encoder_desc){.dispatch_type = dispatch_type},
                "mtl_compute_encoder_create", out_encoder);
}

mtl_status mtl_compute_encoder_create_with(mtl_command_buffer *command_buffer,
                                           const mtl_encoder_desc *desc,
                                           mtl_compute_encoder **out_encoder) {
  return create(command_buffer, desc, "mtl_compute_encoder_create_with",
                out_encoder);
}

mtl_compute_encoder *mtl_compute_encoder_retain(mtl_compute_encoder *encoder) {
  if (encoder) {
    mtli_object_retain(&encoder->base.object);
  }
  return encoder;
}

void mtl_compute_encoder_release(mtl_compute_encoder *encoder) {
  if (encoder) {
    mtli_object_release(&encoder->base.object);
  }
}

mtl_status mtl_compute_encoder_end(mtl_compute_encoder *encoder) {
  return mtli_encoder_end((mtli_encoder *)encoder, "mtl_compute_encoder_end");
}

void mtl_compute_encoder_set_pipeline(mtl_compute_encoder *encoder,
                                      mtl_pipeline *pipeline) {
  static const char call[] = "mtl_compute_encoder_set_pipeline";
  if (!mtli_compute_encoder_check(encoder, call)) {
    return;
  }
  if (!pipeline) {
    mtli_recording_fail(encoder->base.recording, MTL_INVALID_ARGUMENT,
                        "%s: pipeline is NULL", call);
    return;
  }
  if (pipeline->is_foreign) {
    mtli_recording_fail(encoder->base.recording, MTL_UNSUPPORTED,
                        "%s: '%s' was compiled for another machine than this "
                        "one (METTLE_CPU_TARGET) and cannot run",
                        call, pipeline->kernel->name);
    return;
  }
  if (mtli_recording_check_device(encoder->base.recording, pipeline->device,
                                  "a pipeline")) {
    mtli_recording_use_pipeline(encoder->base.recording, pipeline);
    encoder->pipeline = pipeline;
  }
}

// Gives the binding of index, or fails the recording.
static mtli_binding *binding_at(mtl_compute_encoder *encoder, uint32_t index,
                                const char *call) {
  if (index < MTL_MAX_BUFFER_ARGUMENTS) {
    return &encoder->bindings[index];
  }
  mtli_recording_fail(encoder->base.recording, MTL_INVALID_ARGUMENT,
                      "%s: buffer index %u; the last one is %d", call, index,
                      MTL_MAX_BUFFER_ARGUMENTS - 1);
  return NULL;
}

void mtl_compute_encoder_set_buffer(mtl_compute_encoder *encoder,
                                    mtl_buffer *buffer, size_t offset_bytes,
                                    uint32_t index) {
  static const char call[] = "mtl_compute_encoder_set_buffer";
  if (!mtli_compute_encoder_check(encoder, call)) {
    return;
  }
  mtli_recording *recording = encoder->base.recording;
  mtli_binding *binding = binding_at(encoder, index, call);
  if (!binding) {
    return;
  }
  *binding = (mtli_binding){0};
  if (!buffer) {
    return;
  }
  const uint64_t alignment = buffer->device->info.buffer_offset_alignment_bytes;
  if (offset_bytes >= buffer->length_bytes) {
    mtli_recording_fail(recording, MTL_INVALID_ARGUMENT,
                        "%s: offset %zu is past the end of buffer '%s' of %zu "
                        "bytes at index %u",
                        call, offset_bytes, mtl_buffer_label(buffer),
                        buffer->length_bytes, index);
  } else if (offset_bytes % alignment) {
    mtli_recording_fail(recording, MTL_INVALID_ARGUMENT,
                        "%s: offset %zu of buffer '%s' at index %u is not a "
                        "multiple of %u",
                        call, offset_bytes, mtl_buffer_label(buffer), index,
                        (unsigned)alignment);
  } else if (mtli_recording_check_device(recording, buffer->device,
                                         "a buffer")) {
    mtli_recording_use_buffer(recording, buffer);
    binding->buffer = buffer;
    binding->offset_bytes = offset_bytes;
  }
}

void mtl_compute_encoder_set_buffer_offset(mtl_compute_encoder *encoder,
                                           size_t offset_bytes,
                                           uint32_t index) {
  static const char call[] = "mtl_compute_encoder_set_buffer_offset";
  if (!mtli_compute_encoder_check(encoder, call)) {
    return;
  }
  const mtli_binding *binding = binding_at(encoder, index, call);
  if (!binding) {
    return;
  }
  if (!binding->buffer) {
    mtli_recording_fail(encoder->base.recording, MTL_INVALID_ARGUMENT,
                        "%s: no buffer is bound at index %u", call, index);
    return;
  }
  mtl_compute_encoder_set_buffer(encoder, binding->buffer, offset_bytes, index);
}

void mtl_compute_encoder_set_bytes(mtl_compute_encoder *encoder,
                                   const void *bytes, size_t length_bytes,
                                   uint32_t index) {
  static const char call[] = "mtl_compute_encoder_set_bytes";
  if (!mtli_compute_encoder_check(encoder, call)) {
    return;
  }
  mtli_binding *binding = binding_at(encoder, index, call);
  if (!binding) {
    return;
  }
  *binding = (mtli_binding){0};
  if (!bytes || length_bytes == 0 || length_bytes > SET_BYTES_LIMIT) {
    mtli_recording_fail(encoder->base.recording, MTL_INVALID_ARGUMENT,
                        "%s: %s%zu bytes at index %u; 1 to %d are allowed",
                        call, bytes ? "" : "NULL and ", length_bytes, index,
                        SET_BYTES_LIMIT);
    return;
  }
  void *copy = mtli_inline_bytes_place(encoder->base.recording, length_bytes);
  if (copy) {
    binding->bytes = memcpy(copy, bytes, length_bytes);
    binding->length_bytes = (uint32_t)length_bytes;
  }
}

void mtl_compute_encoder_set_threadgroup_memory(mtl_compute_encoder *encoder,
                                                size_t length_bytes,
                                                uint32_t index) {
  static const char call[] = "mtl_compute_encoder_set_threadgroup_memory";
  if (!mtli_compute_encoder_check(encoder, call)) {
    return;
  }
  if (index >= MTL_MAX_THREADGROUP_ARGUMENTS) {
    mtli_recording_fail(encoder->base.recording, MTL_INVALID_ARGUMENT,
                        "%s: index %u; the last one is %d", call, index,
                        MTL_MAX_THREADGROUP_ARGUMENTS - 1);
  } else if (length_bytes % 16) {  // Metal: setThreadgroupMemoryLength
    mtli_recording_fail(encoder->base.recording, MTL_INVALID_ARGUMENT,
                        "%s: %zu bytes at index %u are not a multiple of 16",
                        call, length_bytes, index);
  } else {
    encoder->threadgroup_bytes[index] = length_bytes;
  }
}

void mtl_compute_encoder_memory_barrier(mtl_compute_encoder *encoder,
                                        mtl_barrier_scope scope) {
  static const char call[] = "mtl_compute_encoder_memory_barrier";
  if (!mtli_compute_encoder_check(encoder, call)) {
    return;
  }
  const int known = MTL_BARRIER_BUFFERS | MTL_BARRIER_TEXTURES;
  if (!((int)scope & known) || (int)scope & ~known) {
    mtli_recording_fail(encoder->base.recording, MTL_INVALID_ARGUMENT,
                        "%s: scope %d does not exist", call, (int)scope);
    return;
  }
  mtli_order_next(encoder, scope);
}

static void add_ordered(mtl_compute_encoder *encoder,
                        const mtl_buffer *buffer) {
  mtli_ordered_piece *piece =
      mtli_recording_allocate(encoder->base.recording, sizeof *piece);
  if (piece) {
    *piece = (mtli_ordered_piece){encoder->ordered, buffer->gpu_address};
    encoder->ordered = piece;
  }
}

void mtl_compute_encoder_memory_barrier_buffers(mtl_compute_encoder *encoder,
                                                mtl_buffer *const *buffers,
                                                size_t count) {
  static const char call[] = "mtl_compute_encoder_memory_barrier_buffers";
  if (!mtli_compute_encoder_check(encoder, call)) {
    return;
  }
  for (size_t i = 0; i < count; i++) {
    if (!buffers || !buffers[i]) {
      mtli_recording_fail(encoder->base.recording, MTL_INVALID_ARGUMENT,
                          "%s: buffer %zu of %zu is NULL", call, i, count);
      return;
    }
  }
  // Orders more than asked: kernels may reach the buffers through addresses,
  // so which later dispatch touches them is not known.
  for (size_t i = 0; i < count; i++) {
    add_ordered(encoder, buffers[i]);
    mtli_order_next(encoder, 0);
  }
}

// Checks the use of a resource, which may be NULL; what is its name in errors.
static bool check_use(mtl_compute_encoder *encoder, bool is_there,
                      mtl_resource_usage usage, const char *what,
                      const char *call) {
  if (!mtli_compute_encoder_check(encoder, call)) {
    return false;
  }
  mtli_recording *recording = encoder->base.recording;
  if (!is_there) {
    mtli_recording_fail(recording, MTL_INVALID_ARGUMENT, "%s: %s is NULL", call,
                        what);
  } else if (!(usage & (MTL_USAGE_READ | MTL_USAGE_WRITE))) {
    mtli_recording_fail(recording, MTL_INVALID_ARGUMENT,
                        "%s: usage is neither read nor write", call);
    return false;
  }
  return is_there;
}

static void use_buffer(mtl_compute_encoder *encoder, mtl_buffer *buffer,
                       mtl_resource_usage usage) {
  mtli_recording *recording = encoder->base.recording;
  if (!mtli_recording_check_device(recording, buffer->device, "a buffer")) {
    return;
  }
  mtli_recording_use_buffer(recording, buffer);
  mtli_used_buffer *used = mtli_recording_allocate(recording, sizeof *used);
  if (used) {
    *used = (mtli_used_buffer){.next = encoder->used,
                               .buffer = buffer,
                               .is_written = (usage & MTL_USAGE_WRITE) != 0};
    encoder->used = used;
  }
}

void mtl_compute_encoder_use_buffer(mtl_compute_encoder *encoder,
                                    mtl_buffer *buffer,
                                    mtl_resource_usage usage) {
  if (check_use(encoder, buffer, usage, "buffer",
                "mtl_compute_encoder_use_buffer")) {
    use_buffer(encoder, buffer, usage);
  }
}

void mtl_compute_encoder_use_texture(mtl_compute_encoder *encoder,
                                     mtl_texture *texture,
                                     mtl_resource_usage usage) {
  if (check_use(encoder, texture, usage, "texture",
                "mtl_compute_encoder_use_texture")) {
    use_buffer(encoder, texture->buffer, usage);
    mtli_recording_use_texture(encoder->base.recording, texture);
  }
}

// Checks an array of resources to use.
static bool check_array(mtl_compute_encoder *encoder, const void *array,
                        size_t count, const char *call) {
  if (mtli_compute_encoder_check(encoder, call) && !array && count) {
    mtli_recording_fail(encoder->base.recording, MTL_INVALID_ARGUMENT,
                        "%s: the array of %zu is NULL", call, count);
  }
  return array;
}

void mtl_compute_encoder_use_buffers(mtl_compute_encoder *encoder,
                                     mtl_buffer *const *buffers, size_t count,
                                     mtl_resource_usage usage) {
  static const char call[] = "mtl_compute_encoder_use_buffers";
  for (size_t i = 0; check_array(encoder, buffers, count, call) && i < count &&
                     check_use(encoder, buffers[i], usage, "a buffer", call);
       i++) {
    use_buffer(encoder, buffers[i], usage);
  }
}

void mtl_compute_encoder_use_textures(mtl_compute_encoder *encoder,
                                      mtl_texture *const *textures,
                                      size_t count, mtl_resource_usage usage) {
  static const char call[] = "mtl_compute_encoder_use_textures";
  for (size_t i = 0; check_array(encoder, textures, count, call) && i < count &&
                     check_use(encoder, textures[i], usage, "a texture", call);
       i++) {
    use_buffer(encoder, textures[i]->buffer, usage);
    mtli_recording_use_texture(encoder->base.recording, textures[i]);
  }
}

void mtl_compute_encoder_use_heap(mtl_compute_encoder *encoder,
                                  mtl_heap *heap) {
  if (check_use(encoder, heap, MTL_USAGE_READ, "heap",
                "mtl_compute_encoder_use_heap")) {
    // In an untracked heap the usage does not matter.
    use_buffer(encoder, mtli_heap_memory(heap),
               MTL_USAGE_READ | MTL_USAGE_WRITE);
  }
}

void mtl_compute_encoder_use_heaps(mtl_compute_encoder *encoder,
                                   mtl_heap *const *heaps, size_t count) {
  static const char call[] = "mtl_compute_encoder_use_heaps";
  for (size_t i = 0;
       check_array(encoder, heaps, count, call) && i < count &&
       check_use(encoder, heaps[i], MTL_USAGE_READ, "a heap", call);
       i++) {
    use_buffer(encoder, mtli_heap_memory(heaps[i]),
               MTL_USAGE_READ | MTL_USAGE_WRITE);
  }
}

// Encoders of one queue run in order, each after all before it (is_ordered of
// the first command), so a fence adds nothing but what the checker asks.
static void use_fence(mtl_compute_encoder *encoder, mtl_fence *fence,
                      bool is_update, const char *call) {
  if (!mtli_compute_encoder_check(encoder, call)) {
    return;
  }
  if (!fence) {
    mtli_recording_fail(encoder->base.recording, MTL_INVALID_ARGUMENT,
                        "%s: fence is NULL", call);
    return;
  }
  if (mtli_recording_check_device(encoder->base.recording, fence->device,
                                  "a fence")) {
    mtli_recording_fence(encoder->base.recording, fence, is_update);
  }
}

void mtl_compute_encoder_update_fence(mtl_compute_encoder *encoder,
                                      mtl_fence *fence) {
  use_fence(encoder, fence, true, "mtl_compute_encoder_update_fence");
}

void mtl_compute_encoder_wait_fence(mtl_compute_encoder *encoder,
                                    mtl_fence *fence) {
  use_fence(encoder, fence, false, "mtl_compute_encoder_wait_fence");
}

void mtl_compute_encoder_order(mtl_compute_encoder *encoder,
                               const mtl_order *order) {
  static const char call[] = "mtl_compute_encoder_order";
  if (!mtli_compute_encoder_check(encoder, call)) {
    return;
  }
  mtli_recording *recording = encoder->base.recording;
  if (!order || (unsigned)order->kind > MTL_ORDER_WAIT_FENCE ||
      (order->after | order->before) & ~MTL_STAGES_ALL) {
    mtli_recording_fail(recording, MTL_INVALID_ARGUMENT,
                        "%s: no order, or of a kind or stages that do not "
                        "exist",
                        call);
    return;
  }
  if (order->kind >= MTL_ORDER_UPDATE_FENCE) {
    if (!order->fence) {
      mtli_recording_fail(recording, MTL_INVALID_ARGUMENT, "%s: fence is NULL",
                          call);
      return;
    }
    if (!mtli_recording_check_device(recording, order->fence->device,
                                     "a fence")) {
      return;
    }
  }
  mtli_recording_order(recording, order);
  if (order->kind == MTL_ORDER_WITHIN_ENCODER) {
    mtli_order_next(encoder, encoder->has_hazards ? MTLI_ORDERS_ALL : 0);
  }
}

void mtl_compute_encoder_push_debug_group(mtl_compute_encoder *encoder,
                                          const char *name) {
  if (!mtli_compute_encoder_check(encoder,
                                  "mtl_compute_encoder_push_debug_group")) {
    return;
  }
  mtli_debug_group *group =
      mtli_recording_allocate(encoder->base.recording, sizeof *group);
  const char *outer = encoder->group ? encoder->group->path : "";
  name = name ? name : "";
  const size_t size_bytes = strlen(outer) + strlen(name) + 2;
  char *path = mtli_recording_allocate(encoder->base.recording, size_bytes);
  if (group && path) {
    snprintf(path, size_bytes, "%s%s%s", outer, *outer ? "/" : "", name);
    *group = (mtli_debug_group){.outer = encoder->group, .path = path};
    encoder->group = group;
  }
}

void mtl_compute_encoder_pop_debug_group(mtl_compute_encoder *encoder) {
  static const char call[] = "mtl_compute_encoder_pop_debug_group";
  if (!mtli_compute_encoder_check(encoder, call)) {
    return;
  }
  if (!encoder->group) {
    mtli_recording_fail(encoder->base.recording, MTL_INVALID_STATE,
                        "%s: no debug group is open", call);
    return;
  }
  encoder->group = encoder->group->outer;
}
