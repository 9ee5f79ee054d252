// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// indirect_encoding.c: records executions, copies and resets of indirect
// commands. Their effect is decided when they run (indirect_execution.c).
#include <string.h>

#include "runtime/record/indirect_commands.h"

#define FAIL(encoder, ...) \
  mtli_recording_fail((encoder)->recording, MTL_INVALID_ARGUMENT, __VA_ARGS__)

// Checks an indirect command buffer that is handed to an encoder.
static bool check(mtli_encoder *encoder,
                  const mtl_indirect_command_buffer *commands, const char *what,
                  const char *call) {
  if (!mtli_encoder_check(encoder, call)) {
    return false;
  }
  if (!commands) {
    FAIL(encoder, "%s: %s is NULL", call, what);
    return false;
  }
  return mtli_recording_check_device(encoder->recording, commands->device,
                                     "an indirect command buffer");
}

bool mtli_indirect_check_use(mtli_encoder *encoder,
                             const mtl_indirect_command_buffer *commands,
                             const char *call) {
  return check(encoder, commands, "commands", call);
}

static bool check_range(mtli_encoder *encoder,
                        const mtl_indirect_command_buffer *commands,
                        uint32_t first, uint32_t count, const char *what,
                        const char *call) {
  if (!check(encoder, commands, what, call)) {
    return false;
  }
  if (!mtli_indirect_has_range(commands, first, count)) {
    FAIL(encoder, "%s: %u commands from %u on of %s '%s', which has %u", call,
         count, first, what, mtl_indirect_command_buffer_label(commands),
         commands->desc.max_commands);
    return false;
  }
  return true;
}

// Keeps the state that commands inherit; false if the recording failed.
static bool inherit(mtl_compute_encoder *encoder, mtli_execute *execute) {
  const mtl_indirect_command_buffer_desc *desc = &execute->commands->desc;
  if (!desc->inherit_buffers && !desc->inherit_pipeline) {
    return true;
  }
  mtli_inherited *inherited =
      mtli_recording_allocate(encoder->base.recording, sizeof *inherited);
  if (!inherited) {
    return false;
  }
  inherited->pipeline = encoder->pipeline;
  memcpy(inherited->bindings, encoder->bindings, sizeof encoder->bindings);
  memcpy(inherited->threadgroup_bytes, encoder->threadgroup_bytes,
         sizeof encoder->threadgroup_bytes);
  execute->inherited = inherited;
  return true;
}

static void record(mtl_compute_encoder *encoder, mtli_execute execute) {
  mtli_recording *recording = encoder->base.recording;
  if (execute.commands->desc.inherit_pipeline && !encoder->pipeline) {
    FAIL(&encoder->base,
         "commands of '%s' inherit the pipeline, and none is set",
         mtl_indirect_command_buffer_label(execute.commands));
    return;
  }
  execute.is_serial = encoder->dispatch_type == MTL_DISPATCH_SERIAL;
  execute.debug_group = encoder->group ? encoder->group->path : NULL;
  execute.used = encoder->used;
  if (recording->error != MTL_OK || !inherit(encoder, &execute)) {
    return;
  }
  const mtli_touches touches = execute.commands->desc.inherit_buffers
                                   ? MTLI_TOUCHES_BINDINGS
                                   : MTLI_TOUCHES_NOTHING;
  // Kernels that encode commands end before these are read.
  const bool is_ordered = mtli_take_order(encoder, touches, execute.range) ||
                          execute.commands->native ||
                          mtli_indirect_memory(execute.commands);
  mtli_command *command =
      mtli_recording_add(recording, MTLI_COMMAND_EXECUTE, is_ordered);
  if (!command) {
    return;
  }
  // Always: the execution owns its prepared memory.
  mtli_recording_keep(recording, &execute.commands->object);
  if (execute.range) {
    mtli_recording_use_buffer(recording, execute.range);
  }
  command->execute = execute;
  command->execute.next = recording->executes;
  recording->executes = &command->execute;
}

void mtl_compute_encoder_execute_commands(mtl_compute_encoder *encoder,
                                          mtl_indirect_command_buffer *commands,
                                          uint32_t first, uint32_t count) {
  if (check_range((mtli_encoder *)encoder, commands, first, count, "commands",
                  "mtl_compute_encoder_execute_commands") &&
      count) {
    record(encoder, (mtli_execute){
                        .commands = commands, .first = first, .count = count});
  }
}

void mtl_compute_encoder_execute_commands_indirect(
    mtl_compute_encoder *encoder, mtl_indirect_command_buffer *commands,
    mtl_buffer *buffer, size_t offset_bytes) {
  static const char call[] = "mtl_compute_encoder_execute_commands_indirect";
  mtli_encoder *base = (mtli_encoder *)encoder;
  if (!check(base, commands, "commands", call)) {
    return;
  }
  if (mtli_encoder_check_counts(base, buffer, offset_bytes, 2, call)) {
    record(encoder, (mtli_execute){.commands = commands,
                                   .range = buffer,
                                   .range_offset_bytes = offset_bytes});
  }
}

// --- blits ------------------------------------------------------------------

static void record_edit(mtli_encoder *encoder, mtli_indirect_edit edit) {
  mtli_recording *recording = encoder->recording;
  mtli_command *command =
      edit.count
          ? mtli_recording_add(recording, MTLI_COMMAND_EDIT_INDIRECT, true)
          : NULL;
  if (!command) {
    return;
  }
  mtli_recording_keep(recording, &edit.target->object);
  if (edit.source) {
    mtli_recording_keep(recording, &edit.source->object);
  }
  command->edit = edit;
}

// Checks that commands of source are commands of target, too.
static bool check_alike(mtli_encoder *encoder,
                        const mtl_indirect_command_buffer_desc *source,
                        const mtl_indirect_command_buffer_desc *target,
                        const char *call) {
  if (source->inherit_buffers != target->inherit_buffers ||
      source->inherit_pipeline != target->inherit_pipeline) {
    FAIL(encoder, "%s: source and target do not inherit the same", call);
    return false;
  }
  if (source->max_buffers > target->max_buffers ||
      source->max_threadgroup_memory > target->max_threadgroup_memory ||
      source->command_types & ~target->command_types) {
    FAIL(encoder,
         "%s: source has %u buffers, %u lengths and command types %#x, target "
         "%u, %u and %#x",
         call, source->max_buffers, source->max_threadgroup_memory,
         source->command_types, target->max_buffers,
         target->max_threadgroup_memory, target->command_types);
    return false;
  }
  return true;
}

void mtl_blit_encoder_copy_commands(mtl_blit_encoder *encoder,
                                    mtl_indirect_command_buffer *source,
                                    uint32_t source_first,
                                    mtl_indirect_command_buffer *target,
                                    uint32_t target_first, uint32_t count) {
  static const char call[] = "mtl_blit_encoder_copy_commands";
  mtli_encoder *base = (mtli_encoder *)encoder;
  if (!check_range(base, source, source_first, count, "source", call) ||
      !check_range(base, target, target_first, count, "target", call) ||
      !check_alike(base, &source->desc, &target->desc, call)) {
    return;
  }
  const uint32_t apart = source_first < target_first
                             ? target_first - source_first
                             : source_first - target_first;
  if (source == target && apart < count) {
    FAIL(base, "%s: %u commands from %u and %u on overlap", call, count,
         source_first, target_first);
    return;
  }
  record_edit(base, (mtli_indirect_edit){.source = source,
                                         .source_first = source_first,
                                         .target = target,
                                         .target_first = target_first,
                                         .count = count});
}

void mtl_blit_encoder_reset_commands(mtl_blit_encoder *encoder,
                                     mtl_indirect_command_buffer *commands,
                                     uint32_t first, uint32_t count) {
  mtli_encoder *base = (mtli_encoder *)encoder;
  if (check_range(base, commands, first, count, "commands",
                  "mtl_blit_encoder_reset_commands")) {
    record_edit(base,
                (mtli_indirect_edit){
                    .target = commands, .target_first = first, .count = count});
  }
}

void mtl_blit_encoder_optimize_commands(mtl_blit_encoder *encoder,
                                        mtl_indirect_command_buffer *commands,
                                        uint32_t first, uint32_t count) {
  (void)check_range((mtli_encoder *)encoder, commands, first, count, "commands",
                    "mtl_blit_encoder_optimize_commands");
}
