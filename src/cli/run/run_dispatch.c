// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// run_dispatch.c: one dispatch of `mettle run`, and how long it took.
#include "cli/run/run_buffers.h"

static void bind_one(mtl_compute_encoder *encoder, const run_state *state,
                     const run_attempt *attempt, const kernel_binding *binding,
                     size_t number) {
  switch (binding->kind) {
    case BINDING_THREADGROUP:  // Metal takes multiples of 16
      mtl_compute_encoder_set_threadgroup_memory(
          encoder, (binding->threadgroup_bytes + 15) / 16 * 16, binding->index);
      return;
    case BINDING_TEXTURE:
      mtl_compute_encoder_set_texture(encoder, state->textures[number],
                                      binding->index);
      return;
    case BINDING_SAMPLER:
      mtl_compute_encoder_set_sampler(encoder, state->samplers[number],
                                      binding->index);
      return;
    case BINDING_TABLE:
      mtl_compute_encoder_set_function_table(encoder, state->tables[number],
                                             binding->index);
      return;
    default: break;
  }
  mtl_compute_encoder_set_buffer(encoder, attempt->buffers[number], 0,
                                 binding->index);
}

static mtl_size to_size(const uint32_t size[3]) {
  return (mtl_size){size[0], size[1], size[2]};
}

static mtl_status record(const run_options *options, const run_state *state,
                         const run_attempt *attempt,
                         mtl_command_buffer *commands) {
  mtl_compute_encoder *encoder;
  mtl_status status =
      mtl_compute_encoder_create(commands, MTL_DISPATCH_SERIAL, &encoder);
  if (status != MTL_OK) {
    return status;
  }
  mtl_compute_encoder_set_pipeline(encoder, state->pipeline);
  for (size_t i = 0; i < options->binding_count; ++i) {
    bind_one(encoder, state, attempt, &options->bindings[i], i);
  }
  mtl_compute_encoder_dispatch_threads(encoder, to_size(options->grid),
                                       to_size(state->result.group));
  status = mtl_compute_encoder_end(encoder);
  mtl_compute_encoder_release(encoder);
  return status;
}

mtl_status run_dispatch(const run_options *options, const run_state *state,
                        const run_attempt *attempt, uint64_t *out_time_ns) {
  mtl_command_buffer *commands;
  const mtl_command_buffer_desc desc = {.log_state = attempt->log_state};
  mtl_status status =
      mtl_command_buffer_create(attempt->queue, &desc, &commands);
  if (status != MTL_OK) {
    return status;
  }
  status = record(options, state, attempt, commands);
  if (status == MTL_OK) {
    status = mtl_command_buffer_commit(commands);
  }
  if (status == MTL_OK) {
    status = mtl_command_buffer_wait(commands);
  }
  const mtl_command_buffer_times times = mtl_command_buffer_get_times(commands);
  *out_time_ns = times.device_end_ns - times.device_start_ns;
  mtl_command_buffer_release(commands);
  return status;
}
