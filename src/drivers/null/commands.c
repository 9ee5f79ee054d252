// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// commands.c: goes through a list for its events; dispatches and copies do
// nothing.
#include "base/futex.h"
#include "drivers/null/null.h"

mtl_status null_commands_prepare(mtl_command_buffer *command_buffer) {
  (void)command_buffer;
  return MTL_OK;
}

void null_commands_clear(mtl_command_buffer *command_buffer) {
  (void)command_buffer;
}

void null_commands_run(mtl_command_buffer *command_buffer) {
  mtli_command_buffer_scheduled(command_buffer);
  const uint64_t start_ns = mtli_now_ns();
  for (mtli_command *command = command_buffer->commands; command;
       command = command->next) {
    mtl_event *event = command->event.event;
    if (command->kind == MTLI_COMMAND_SIGNAL) {
      (void)null_event_signal(event, command->event.value);
    } else if (command->kind == MTLI_COMMAND_WAIT &&
               !command_buffer->is_failed) {
      (void)null_event_wait(event, command->event.value, MTL_WAIT_FOREVER);
    }
  }
  if (!command_buffer->is_failed) {
    mtli_command_buffer_ran(command_buffer, start_ns, mtli_now_ns());
  }
  mtli_command_buffer_completed(command_buffer, MTL_OK, "");
}
