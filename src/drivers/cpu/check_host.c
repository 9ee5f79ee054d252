// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// check_host.c: tells the checker which buffers a command buffer reads and
// writes, so that it finds hosts that access them meanwhile. A buffer that
// kernels reach by address counts if an encoder declared its use.
#include <string.h>

#include "check/check.h"
#include "drivers/cpu/cpu.h"

static const char synchronize[] = "synchronize";

static void hold(mtl_command_buffer *command_buffer, const mtl_buffer *buffer,
                 bool is_written, const char *user) {
  const cpu_buffer *cpu = (const cpu_buffer *)buffer;
  if (buffer->contents && buffer->length_bytes) {
    mtli_check_host_hold(
        command_buffer->check_committed,
        &(mtli_check_held){
            .contents = (uintptr_t)buffer->contents,
            .bytes = buffer->length_bytes,
            .has_pages = !buffer->parent && cpu->host.first,
            .is_written = is_written,
            .is_managed = buffer->storage_mode == MTL_STORAGE_MANAGED &&
                          strcmp(user, synchronize) != 0,
            .label = buffer->label ? buffer->label : "",
            .user = user});
  }
}

static const mtl_buffer *buffer_at(const mtl_command_buffer *command_buffer,
                                   uint64_t address) {
  for (size_t i = 0; i < command_buffer->buffer_count; ++i) {
    const mtl_buffer *it = command_buffer->buffers[i];
    if (address - it->gpu_address < it->length_bytes) {
      return it;
    }
  }
  return NULL;
}

static void hold_arguments(mtl_command_buffer *command_buffer,
                           const mtli_dispatch *dispatch) {
  const mtli_kernel *kernel = dispatch->pipeline->kernel;
  for (uint32_t i = 0; i < kernel->parameter_count; ++i) {
    const mtl_argument *argument = &kernel->parameters[i].argument;
    if (kernel->parameters[i].builtin != MTLI_BUILTIN_NONE ||
        argument->kind != MTL_ARGUMENT_BUFFER) {
      continue;
    }
    const mtl_buffer *buffer =
        buffer_at(command_buffer, (uintptr_t)dispatch->arguments[i]);
    if (buffer) {
      hold(command_buffer, buffer, argument->access != MTL_ACCESS_READ_ONLY,
           kernel->name);
    }
  }
  for (const mtli_used_buffer *it = dispatch->used; it; it = it->next) {
    hold(command_buffer, it->buffer, it->is_written, kernel->name);
  }
}

static void hold_command(mtl_command_buffer *command_buffer,
                         const mtli_command *it) {
  switch (it->kind) {
    case MTLI_COMMAND_DISPATCH:
      hold_arguments(command_buffer, &it->dispatch);
      break;
    case MTLI_COMMAND_COPY:
      hold(command_buffer, it->copy.source, false, "copy");
      hold(command_buffer, it->copy.target, true, "copy");
      break;
    case MTLI_COMMAND_COPY_BOX:
      hold(command_buffer, it->copy_box.source.buffer, false, "copy of texels");
      hold(command_buffer, it->copy_box.target.buffer, true, "copy of texels");
      break;
    case MTLI_COMMAND_FILL:
      hold(command_buffer, it->fill.buffer, true, "fill");
      break;
    case MTLI_COMMAND_UPDATE:
      hold(command_buffer, it->update.buffer, true, "update");
      break;
    case MTLI_COMMAND_SYNCHRONIZE:
      hold(command_buffer, it->synchronize.buffer, true, synchronize);
      break;
    default: break;
  }
}

void cpu_check_host_hold(mtl_command_buffer *command_buffer) {
  for (const mtli_command *it = command_buffer->commands;
       it && command_buffer->check_committed && !command_buffer->is_failed;
       it = it->next) {
    hold_command(command_buffer, it);
  }
}
