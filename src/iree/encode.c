// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// encode.c: encodes recorded commands into Mettle's encoders. Dispatches go
// into concurrent compute encoders, where the HAL's barriers are memory
// barriers; copies go into blit encoders. Encoders of a command buffer run one
// after the other: a change of encoder is a barrier too.
#include <string.h>

#include "mettle_hal.h"

typedef struct encoder {
  mettle_device *device;
  mtl_command_buffer *command_buffer;
  iree_hal_buffer_binding_table_t table;
  mtl_compute_encoder *compute;
  mtl_blit_encoder *blit;
  const mtl_pipeline *pipeline;  // of compute
} encoder;

static iree_status_t close_encoders(encoder *e) {
  mtl_status status = MTL_OK;
  if (e->compute) {
    status = mtl_compute_encoder_end(e->compute);
    mtl_compute_encoder_release(e->compute);
    e->compute = NULL;
    e->pipeline = NULL;
  }
  if (e->blit) {
    status = mtl_blit_encoder_end(e->blit);
    mtl_blit_encoder_release(e->blit);
    e->blit = NULL;
  }
  return mettle_status(status, "recording");
}

static iree_status_t open_compute(encoder *e) {
  if (e->compute) {
    return iree_ok_status();
  }
  IREE_RETURN_IF_ERROR(close_encoders(e));
  return mettle_status(
      mtl_compute_encoder_create(e->command_buffer, MTL_DISPATCH_CONCURRENT,
                                 &e->compute),
      "mtl_compute_encoder_create");
}

static iree_status_t open_blit(encoder *e) {
  if (e->blit) {
    return iree_ok_status();
  }
  IREE_RETURN_IF_ERROR(close_encoders(e));
  return mettle_status(mtl_blit_encoder_create(e->command_buffer, &e->blit),
                       "mtl_blit_encoder_create");
}

static iree_status_t resolve(const encoder *e, iree_hal_buffer_ref_t ref,
                             mettle_range *out_range) {
  iree_hal_buffer_ref_t resolved;
  IREE_RETURN_IF_ERROR(
      iree_hal_buffer_binding_table_resolve_ref(e->table, ref, &resolved));
  if (!resolved.buffer) {
    memset(out_range, 0, sizeof *out_range);  // a null binding
    return iree_ok_status();
  }
  return mettle_range_resolve(resolved.buffer, resolved.offset, resolved.length,
                              out_range);
}

static iree_status_t resolve_needed(const encoder *e, iree_hal_buffer_ref_t ref,
                                    mettle_range *out_range) {
  IREE_RETURN_IF_ERROR(resolve(e, ref, out_range));
  if (!out_range->buffer) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "a transfer of no buffer: slot %u of %" PRIhsz,
                            (unsigned)ref.buffer_slot, e->table.count);
  }
  return iree_ok_status();
}

static iree_status_t encode_fill(encoder *e, const mettle_command *command) {
  mettle_range target;
  IREE_RETURN_IF_ERROR(resolve_needed(e, command->target, &target));
  if (target.length == 0) {
    return iree_ok_status();
  }
  IREE_RETURN_IF_ERROR(open_blit(e));
  mtl_blit_encoder_fill_pattern(e->blit, target.buffer->buffer, target.offset,
                                target.length, &command->pattern,
                                command->pattern_bytes);
  return iree_ok_status();
}

static iree_status_t encode_update(encoder *e, const mettle_command *command) {
  mettle_range target;
  IREE_RETURN_IF_ERROR(resolve_needed(e, command->target, &target));
  if (target.length == 0) {
    return iree_ok_status();
  }
  IREE_RETURN_IF_ERROR(open_blit(e));
  for (size_t done = 0; done < target.length; done += MTL_MAX_UPDATE_BYTES) {
    const size_t rest = target.length - done;
    mtl_blit_encoder_update(
        e->blit, target.buffer->buffer, target.offset + done,
        (const char *)command->bytes + done,
        rest < MTL_MAX_UPDATE_BYTES ? rest : MTL_MAX_UPDATE_BYTES);
  }
  return iree_ok_status();
}

static iree_status_t encode_copy(encoder *e, const mettle_command *command) {
  mettle_range target;
  mettle_range source;
  IREE_RETURN_IF_ERROR(resolve_needed(e, command->target, &target));
  IREE_RETURN_IF_ERROR(resolve_needed(e, command->source, &source));
  if (target.length == 0) {
    return iree_ok_status();
  }
  IREE_RETURN_IF_ERROR(open_blit(e));
  mtl_blit_encoder_copy(e->blit, source.buffer->buffer, source.offset,
                        target.buffer->buffer, target.offset, target.length);
  return iree_ok_status();
}

// Writes the struct of addresses that the kernel takes, and says to Mettle
// what lies behind them where host and device do not share their memory.
static iree_status_t encode_bindings(encoder *e,
                                     const mettle_dispatch *dispatch) {
  const mettle_pipeline *pipeline = dispatch->pipeline;
  const mettle_layout *layout = &pipeline->layout;
  if (layout->struct_bytes == 0) {
    return iree_ok_status();
  }
  uint64_t arguments[MAX_BINDINGS] = {0};
  for (uint32_t i = 0; i < pipeline->binding_count; i++) {
    if (layout->offsets[i] == NOT_THERE) {
      continue;
    }
    mettle_range range;
    IREE_RETURN_IF_ERROR(resolve(e, dispatch->bindings[i], &range));
    memcpy((char *)arguments + layout->offsets[i], &range.address,
           sizeof range.address);
    if (!e->device->is_unified && range.buffer) {
      const bool is_read_only = (pipeline->read_only >> i) & 1;
      mtl_compute_encoder_use_buffer(
          e->compute, range.buffer->buffer,
          is_read_only ? MTL_USAGE_READ : MTL_USAGE_READ | MTL_USAGE_WRITE);
    }
  }
  mtl_compute_encoder_set_bytes(e->compute, arguments, layout->struct_bytes, 0);
  return iree_ok_status();
}

static iree_status_t encode_dispatch(encoder *e,
                                     const mettle_dispatch *dispatch) {
  mettle_pipeline *pipeline = dispatch->pipeline;
  IREE_RETURN_IF_ERROR(open_compute(e));
  if (e->pipeline != pipeline->pipeline) {
    mtl_compute_encoder_set_pipeline(e->compute, pipeline->pipeline);
    e->pipeline = pipeline->pipeline;
  }
  IREE_RETURN_IF_ERROR(encode_bindings(e, dispatch));
  if (pipeline->takes_constants && dispatch->constants_bytes) {
    mtl_compute_encoder_set_bytes(e->compute, dispatch->constants,
                                  dispatch->constants_bytes, CONSTANTS_INDEX);
  }
  const mtl_size group = {pipeline->group_threads[0],
                          pipeline->group_threads[1],
                          pipeline->group_threads[2]};
  if (dispatch->is_indirect) {
    mettle_range groups;
    IREE_RETURN_IF_ERROR(resolve_needed(e, dispatch->group_count_ref, &groups));
    mtl_compute_encoder_dispatch_threadgroups_indirect(
        e->compute, groups.buffer->buffer, groups.offset, group);
  } else {
    const mtl_size groups = {dispatch->group_count[0], dispatch->group_count[1],
                             dispatch->group_count[2]};
    mtl_compute_encoder_dispatch_threadgroups(e->compute, groups, group);
  }
  return iree_ok_status();
}

static iree_status_t encode_one(encoder *e, const mettle_command *command) {
  switch (command->kind) {
    case COMMAND_BARRIER:
      if (e->compute) {
        mtl_compute_encoder_memory_barrier(e->compute, MTL_BARRIER_BUFFERS);
      }
      return iree_ok_status();
    case COMMAND_FILL: return encode_fill(e, command);
    case COMMAND_UPDATE: return encode_update(e, command);
    case COMMAND_COPY: return encode_copy(e, command);
    case COMMAND_DISPATCH: return encode_dispatch(e, &command->dispatch);
  }
  return iree_ok_status();
}

iree_status_t mettle_encode(mettle_device *device,
                            mtl_command_buffer *command_buffer,
                            const mettle_command *commands,
                            iree_hal_buffer_binding_table_t table) {
  encoder e = {
      .device = device, .command_buffer = command_buffer, .table = table};
  iree_status_t status = iree_ok_status();
  for (const mettle_command *command = commands;
       command && iree_status_is_ok(status); command = command->next) {
    status = encode_one(&e, command);
  }
  return iree_status_join(status, close_encoders(&e));
}
