// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// dispatch.c: checks one dispatch in full against its pipeline and records it.
#include <inttypes.h>
#include <string.h>

#include "runtime/record/compute_encoder.h"

#define FAIL(encoder, ...)                                             \
  mtli_recording_fail((encoder)->base.recording, MTL_INVALID_ARGUMENT, \
                      __VA_ARGS__)

bool mtli_check_group(mtl_compute_encoder *encoder, mtl_size group) {
  const mtl_device_info *info = &encoder->pipeline->device->info;
  const uint32_t limit = encoder->pipeline->max_threads;
  const uint64_t threads = (uint64_t)group.x * group.y;  // z follows the check
  if (group.x == 0 || group.y == 0 || group.z == 0) {
    FAIL(encoder, "kernel '%s': a threadgroup of %ux%ux%u threads is empty",
         mtli_kernel_name(encoder), group.x, group.y, group.z);
    return false;
  }
  if (group.x > info->max_threadgroup_threads[0] ||
      group.y > info->max_threadgroup_threads[1] ||
      group.z > info->max_threadgroup_threads[2]) {
    FAIL(encoder,
         "kernel '%s': a threadgroup of %ux%ux%u threads is over the device's "
         "limit of %ux%ux%u",
         mtli_kernel_name(encoder), group.x, group.y, group.z,
         info->max_threadgroup_threads[0], info->max_threadgroup_threads[1],
         info->max_threadgroup_threads[2]);
    return false;
  }
  if (threads * group.z > limit) {
    FAIL(encoder,
         "kernel '%s': a threadgroup of %ux%ux%u = %" PRIu64
         " threads is over the pipeline's limit of %u",
         mtli_kernel_name(encoder), group.x, group.y, group.z,
         threads * group.z, limit);
    return false;
  }
  return true;
}

// Checks the binding of [[buffer(n)]], and returns its address and the number
// of bytes from there on.
static bool resolve_buffer(mtl_compute_encoder *encoder,
                           const mtl_argument *argument, void **out_address,
                           uint64_t *out_bytes) {
  const mtli_binding *binding = &encoder->bindings[argument->index];
  if (!binding->buffer && !binding->bytes) {
    FAIL(encoder, "kernel '%s': argument '%s' [[buffer(%u)]] is not bound",
         mtli_kernel_name(encoder), argument->name, argument->index);
    return false;
  }
  if ((argument->tensor_rank || binding->tensor) &&
      !mtli_check_tensor(encoder, argument, binding)) {
    return false;
  }
  const size_t available_bytes =
      binding->buffer ? binding->buffer->length_bytes - binding->offset_bytes
                      : binding->length_bytes;
  if (argument->is_reference && available_bytes < argument->size_bytes) {
    FAIL(encoder,
         "kernel '%s': argument '%s' [[buffer(%u)]] needs %u bytes; %zu are "
         "bound, from offset %zu",
         mtli_kernel_name(encoder), argument->name, argument->index,
         argument->size_bytes, available_bytes, binding->offset_bytes);
    return false;
  }
  if (argument->alignment_bytes &&
      binding->offset_bytes % argument->alignment_bytes) {
    FAIL(encoder,
         "kernel '%s': argument '%s' [[buffer(%u)]] is bound at offset %zu, "
         "not a multiple of its alignment of %u bytes",
         mtli_kernel_name(encoder), argument->name, argument->index,
         binding->offset_bytes, argument->alignment_bytes);
    return false;
  }
  if (argument->alignment_bytes && binding->buffer &&
      binding->buffer->gpu_address % argument->alignment_bytes) {
    FAIL(encoder,
         "kernel '%s': argument '%s' [[buffer(%u)]] is bound to buffer '%s', "
         "whose memory at %#" PRIx64
         " is not aligned to the %u bytes that the "
         "argument needs",
         mtli_kernel_name(encoder), argument->name, argument->index,
         mtl_buffer_label(binding->buffer), binding->buffer->gpu_address,
         argument->alignment_bytes);
    return false;
  }
  *out_address = binding->buffer
                     ? (void *)(uintptr_t)(binding->buffer->gpu_address +
                                           binding->offset_bytes)
                     : binding->bytes;
  *out_bytes = available_bytes;
  return true;
}

// Returns the address that an argument points to, its number of bytes, and how
// many of them are in the recording's own memory.
static bool resolve_memory(mtl_compute_encoder *encoder,
                           const mtl_argument *argument, void **out_address,
                           uint64_t *out_bytes, uint32_t *out_inline_bytes) {
  if (argument->kind != MTL_ARGUMENT_BUFFER) {
    *out_address = argument->kind == MTL_ARGUMENT_TEXTURE
                       ? mtli_resolve_textures(encoder, argument)
                   : argument->kind == MTL_ARGUMENT_SAMPLER
                       ? mtli_resolve_samplers(encoder, argument)
                       : mtli_resolve_function_tables(encoder, argument);
    *out_inline_bytes = argument->array_length * (uint32_t)sizeof(uint64_t);
    *out_bytes = *out_inline_bytes;
    return *out_address;
  }
  if (!resolve_buffer(encoder, argument, out_address, out_bytes)) {
    return false;
  }
  const mtli_binding *binding = &encoder->bindings[argument->index];
  *out_inline_bytes = binding->bytes ? binding->length_bytes : 0;
  return true;
}

// Places the memory of [[threadgroup(n)]] at *used_bytes.
static bool resolve_threadgroup(mtl_compute_encoder *encoder,
                                const mtl_argument *argument,
                                size_t *used_bytes, uint32_t *missing,
                                void **out_offset) {
  enum { MOST_TOLD_APART = 13 };  // within a worker's guard (cpu_abi.h)
  const size_t length_bytes = encoder->threadgroup_bytes[argument->index];
  const size_t limit_bytes =
      encoder->pipeline->device->info.max_threadgroup_memory_bytes;
  if (length_bytes == 0) {
    // No error: kernels declare memory that they do not always use.
    *missing += *missing < MOST_TOLD_APART;
    *out_offset =
        (void *)(uintptr_t)(*missing * (size_t)MTLI_NO_THREADGROUP_MEMORY);
    return true;
  }
  if (argument->is_reference && length_bytes < argument->size_bytes) {
    FAIL(encoder,
         "kernel '%s': argument '%s' [[threadgroup(%u)]] needs %u bytes; its "
         "length is %zu",
         mtli_kernel_name(encoder), argument->name, argument->index,
         argument->size_bytes, length_bytes);
    return false;
  }
  if (*used_bytes > limit_bytes || length_bytes > limit_bytes - *used_bytes) {
    FAIL(encoder,
         "kernel '%s': argument '%s' [[threadgroup(%u)]] of %zu bytes, with "
         "%zu before it, is over the %zu bytes of threadgroup memory",
         mtli_kernel_name(encoder), argument->name, argument->index,
         length_bytes, *used_bytes, limit_bytes);
    return false;
  }
  *out_offset = (void *)(uintptr_t)*used_bytes;
  *used_bytes += length_bytes;
  return true;
}

// Tells whether a kernel does without an argument: the constants leave it out,
// or its code does, and it is not bound either.
static bool is_left_out(const mtl_compute_encoder *encoder,
                        const mtli_parameter *parameter) {
  const mtl_argument *argument = &parameter->argument;
  if (!argument->is_active || !parameter->is_unused) {
    return !argument->is_active;
  }
  bool is_bound = false;
  for (uint32_t i = 0; i < argument->array_length || i == 0; i++) {
    const uint32_t index = argument->index + i;
    is_bound |= argument->kind == MTL_ARGUMENT_TEXTURE
                    ? encoder->textures[index].is_set
                : argument->kind == MTL_ARGUMENT_SAMPLER
                    ? encoder->samplers[index] != 0
                : argument->kind == MTL_ARGUMENT_THREADGROUP_MEMORY
                    ? true
                    : encoder->bindings[index].buffer ||
                          encoder->bindings[index].bytes ||
                          encoder->bindings[index].table;
  }
  return !is_bound;
}

// The value of an argument that is left out: unoptimised code copies handles
// before it tests whether they exist.
static void *left_out(const mtl_argument *argument) {
  static const uint64_t no_handles[MTL_MAX_TEXTURE_ARGUMENTS];
  const bool is_memory = argument->kind == MTL_ARGUMENT_BUFFER ||
                         argument->kind == MTL_ARGUMENT_THREADGROUP_MEMORY;
  return is_memory ? NULL : (void *)(uintptr_t)no_handles;
}

bool mtli_resolve_arguments(mtl_compute_encoder *encoder,
                            mtli_dispatch *dispatch) {
  const mtli_kernel *kernel = encoder->pipeline->kernel;
  size_t used_bytes = ((size_t)kernel->static_threadgroup_bytes + 15) / 16 * 16;
  uint32_t missing = 0;  // threadgroup arguments without memory
  mtli_inline_argument *inline_arguments = NULL;
  for (uint32_t slot = 0; slot < kernel->parameter_count; slot++) {
    const mtli_parameter *parameter = &kernel->parameters[slot];
    const mtl_argument *argument = &parameter->argument;
    void **value = &dispatch->arguments[slot];
    if (parameter->builtin != MTLI_BUILTIN_NONE) {
      continue;
    }
    if (is_left_out(encoder, parameter)) {
      *value = left_out(argument);
      continue;
    }
    if (argument->kind == MTL_ARGUMENT_THREADGROUP_MEMORY) {
      if (!resolve_threadgroup(encoder, argument, &used_bytes, &missing,
                               value)) {
        return false;
      }
      continue;
    }
    uint32_t inline_bytes = 0;
    if (!resolve_memory(encoder, argument, value,
                        &dispatch->argument_bytes[slot], &inline_bytes)) {
      return false;
    }
    if (inline_bytes) {
      if (!inline_arguments) {
        inline_arguments = mtli_recording_allocate(
            encoder->base.recording,
            (kernel->parameter_count - slot) * sizeof *inline_arguments);
        if (!inline_arguments) {
          return false;
        }
      }
      inline_arguments[dispatch->inline_count++] =
          (mtli_inline_argument){slot, inline_bytes};
    }
  }
  dispatch->inline_arguments = inline_arguments;
  dispatch->threadgroup_end = (uint32_t)used_bytes;
  dispatch->threadgroup_bytes = (uint32_t)((used_bytes + 63) / 64 * 64);
  return true;
}

// Calls visit for every buffer that the next dispatch may touch, until one
// returns false.
typedef bool touch_fn(mtl_compute_encoder *encoder, const mtl_buffer *buffer,
                      bool is_written);

static const mtl_buffer *touched(const mtli_binding *binding) {
  return binding->tensor ? mtl_buffer_tensor_buffer(binding->tensor)
                         : binding->buffer;
}

static bool visit_argument(mtl_compute_encoder *encoder,
                           const mtl_argument *argument, touch_fn *visit) {
  const bool is_written = argument->access != MTL_ACCESS_READ_ONLY;
  if (argument->kind == MTL_ARGUMENT_BUFFER) {
    const mtl_buffer *buffer = touched(&encoder->bindings[argument->index]);
    return !buffer || visit(encoder, buffer, is_written);
  }
  const uint32_t count =
      argument->kind == MTL_ARGUMENT_TEXTURE ? argument->array_length : 0;
  for (uint32_t i = 0; i < count; i++) {
    const mtl_texture *texture = encoder->textures[argument->index + i].texture;
    if (texture && !visit(encoder, texture->buffer, is_written)) {
      return false;
    }
  }
  return true;
}

// Visits the bindings of the kernel's arguments.
static bool visit_arguments(mtl_compute_encoder *encoder, touch_fn *visit) {
  const mtli_kernel *kernel = encoder->pipeline->kernel;
  for (size_t i = 0; i < kernel->parameter_count; i++) {
    const mtli_parameter *parameter = &kernel->parameters[i];
    const mtl_argument *argument = &parameter->argument;
    if (parameter->builtin == MTLI_BUILTIN_NONE && argument->is_active &&
        !visit_argument(encoder, argument, visit)) {
      return false;
    }
  }
  return true;
}

// Visits all bindings: indirect commands may use any of them.
static bool visit_bindings(mtl_compute_encoder *encoder, touch_fn *visit) {
  for (uint32_t i = 0; i < MTL_MAX_BUFFER_ARGUMENTS; i++) {
    const mtl_buffer *buffer = touched(&encoder->bindings[i]);
    if (buffer && !visit(encoder, buffer, true)) {
      return false;
    }
  }
  return true;
}

static bool visit_touched(mtl_compute_encoder *encoder, mtli_touches touches,
                          const mtl_buffer *indirect, touch_fn *visit) {
  if (touches == MTLI_TOUCHES_ARGUMENTS ? !visit_arguments(encoder, visit)
                                        : touches == MTLI_TOUCHES_BINDINGS &&
                                              !visit_bindings(encoder, visit)) {
    return false;
  }
  for (const mtli_used_buffer *used = encoder->used; used; used = used->next) {
    if (!visit(encoder, used->buffer, used->is_written)) {
      return false;
    }
  }
  return !indirect || visit(encoder, indirect, false);
}

static bool has_no_conflict(mtl_compute_encoder *encoder,
                            const mtl_buffer *buffer, bool is_written) {
  return !mtli_hazards_conflict(&encoder->hazards, buffer, is_written);
}

static bool add_touch(mtl_compute_encoder *encoder, const mtl_buffer *buffer,
                      bool is_written) {
  return mtli_hazards_add(&encoder->hazards, buffer, is_written);
}

bool mtli_take_order(mtl_compute_encoder *encoder, mtli_touches touches,
                     const mtl_buffer *indirect) {
  if (encoder->dispatch_type == MTL_DISPATCH_SERIAL) {
    encoder->next_orders = MTLI_ORDERS_ALL;
    return true;
  }
  bool is_ordered = encoder->is_next_ordered;
  if (!encoder->has_hazards) {
    encoder->is_next_ordered = false;
    return is_ordered;
  }
  if (!visit_touched(encoder, touches, indirect, has_no_conflict)) {
    mtli_order_next(encoder, MTLI_ORDERS_ALL);
    is_ordered = true;
  }
  encoder->is_next_ordered = false;
  if (is_ordered) {
    mtli_hazards_clear(&encoder->hazards);
  }
  if (!visit_touched(encoder, touches, indirect, add_touch)) {
    // Too many buffers to remember: this one and the next are ordered.
    mtli_hazards_clear(&encoder->hazards);
    is_ordered = true;
    mtli_order_next(encoder, MTLI_ORDERS_ALL);
  }
  return is_ordered;
}

// Moves the encoder's pending barriers to a command; the next command begins
// without any.
static void take_barriers(mtl_compute_encoder *encoder, mtli_command *command) {
  command->orders = encoder->next_orders;
  command->ordered = encoder->ordered;
  encoder->next_orders = encoder->is_next_ordered ? MTLI_ORDERS_ALL : 0;
  encoder->ordered = NULL;
}

// Records the common part of all three kinds of dispatch. groups counts
// threadgroups along each side, for the check of their number.
static mtli_dispatch *record(mtl_compute_encoder *encoder, mtl_size group,
                             mtl_buffer *indirect) {
  mtli_dispatch dispatch = {
      .pipeline = encoder->pipeline,
      .group_threads = {group.x, group.y, group.z},
      .debug_group = encoder->group ? encoder->group->path : NULL,
      .used = encoder->used,
  };
  const size_t slots = encoder->pipeline->kernel->parameter_count;
  dispatch.arguments = mtli_recording_allocate(
      encoder->base.recording, slots * sizeof *dispatch.arguments);
  dispatch.argument_bytes = mtli_recording_allocate(
      encoder->base.recording, slots * sizeof *dispatch.argument_bytes);
  if (!dispatch.arguments || !dispatch.argument_bytes ||
      !mtli_resolve_arguments(encoder, &dispatch)) {
    return NULL;
  }
  mtli_command *command = mtli_recording_add(
      encoder->base.recording, MTLI_COMMAND_DISPATCH,
      mtli_take_order(encoder, MTLI_TOUCHES_ARGUMENTS, indirect));
  if (!command) {
    return NULL;
  }
  take_barriers(encoder, command);
  command->dispatch = dispatch;
  return &command->dispatch;
}

// Checks that can be made before the grid is known, if that may be empty.
static bool check_state(mtl_compute_encoder *encoder, const char *call) {
  if (!mtli_compute_encoder_check(encoder, call)) {
    return false;
  }
  if (encoder->base.recording->error != MTL_OK) {
    return false;  // nothing of this list will run
  }
  if (!encoder->pipeline) {
    FAIL(encoder, "%s: no pipeline is set", call);
    return false;
  }
  return true;
}

// The same for a dispatch with a threadgroup size. An empty threadgroup is
// allowed with an empty grid, where nobody uses it.
static bool check_dispatch(mtl_compute_encoder *encoder, mtl_size grid,
                           mtl_size group, const char *call) {
  return check_state(encoder, call) && grid.x && grid.y && grid.z &&
         mtli_check_group(encoder, group);
}

bool mtli_check_grid(mtl_compute_encoder *encoder, mtl_size grid,
                     mtl_size group) {
  const uint64_t threads_xy = (uint64_t)grid.x * grid.y;
  if (threads_xy <= UINT32_MAX && threads_xy * grid.z <= UINT32_MAX) {
    return true;  // and no more threadgroups than threads
  }
  const uint64_t groups_xy = (((uint64_t)grid.x + group.x - 1) / group.x) *
                             (((uint64_t)grid.y + group.y - 1) / group.y);
  const uint64_t groups_z = ((uint64_t)grid.z + group.z - 1) / group.z;
  if (groups_xy > UINT32_MAX / groups_z) {
    FAIL(encoder,
         "kernel '%s': a grid of %ux%ux%u threads in threadgroups of %ux%ux%u "
         "has more than %u threadgroups",
         mtli_kernel_name(encoder), grid.x, grid.y, grid.z, group.x, group.y,
         group.z, UINT32_MAX);
    return false;
  }
  return true;
}

static void dispatch_grid(mtl_compute_encoder *encoder, mtl_size grid,
                          mtl_size group) {
  if (!mtli_check_grid(encoder, grid, group)) {
    return;
  }
  mtli_dispatch *dispatch = record(encoder, group, NULL);
  if (dispatch) {
    dispatch->grid_threads[0] = grid.x;
    dispatch->grid_threads[1] = grid.y;
    dispatch->grid_threads[2] = grid.z;
  }
}

bool mtli_threads_of(mtl_compute_encoder *encoder, mtl_size groups,
                     mtl_size group, mtl_size *out_grid) {
  const uint64_t threads[3] = {(uint64_t)groups.x * group.x,
                               (uint64_t)groups.y * group.y,
                               (uint64_t)groups.z * group.z};
  if (threads[0] > UINT32_MAX || threads[1] > UINT32_MAX ||
      threads[2] > UINT32_MAX) {
    FAIL(encoder,
         "kernel '%s': %ux%ux%u threadgroups of %ux%ux%u threads are more than "
         "%u threads along a side",
         mtli_kernel_name(encoder), groups.x, groups.y, groups.z, group.x,
         group.y, group.z, UINT32_MAX);
    return false;
  }
  *out_grid = (mtl_size){(uint32_t)threads[0], (uint32_t)threads[1],
                         (uint32_t)threads[2]};
  return true;
}

void mtl_compute_encoder_dispatch_threads(mtl_compute_encoder *encoder,
                                          mtl_size grid, mtl_size group) {
  if (check_dispatch(encoder, grid, group,
                     "mtl_compute_encoder_dispatch_threads")) {
    dispatch_grid(encoder, grid, group);
  }
}

void mtl_compute_encoder_dispatch_threadgroups(mtl_compute_encoder *encoder,
                                               mtl_size groups,
                                               mtl_size group) {
  if (!check_dispatch(encoder, groups, group,
                      "mtl_compute_encoder_dispatch_threadgroups")) {
    return;
  }
  mtl_size grid;
  if (mtli_threads_of(encoder, groups, group, &grid)) {
    dispatch_grid(encoder, grid, group);
  }
}
void mtl_compute_encoder_dispatch_threadgroups_indirect(
    mtl_compute_encoder *encoder, mtl_buffer *buffer, size_t offset_bytes,
    mtl_size group) {
  static const char call[] =
      "mtl_compute_encoder_dispatch_threadgroups_indirect";
  if (!check_state(encoder, call) || !mtli_check_group(encoder, group)) {
    return;
  }
  if (!mtli_encoder_check_counts(&encoder->base, buffer, offset_bytes, 3,
                                 call)) {
    return;
  }
  mtli_recording_use_buffer(encoder->base.recording, buffer);
  mtli_dispatch *dispatch = record(encoder, group, buffer);
  if (dispatch) {
    dispatch->indirect = buffer;
    dispatch->indirect_offset_bytes = offset_bytes;
  }
}
