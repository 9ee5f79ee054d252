// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// commands.c: executes the events and samples of a list; dispatches and copies
// do nothing.
#include <string.h>

#include "base/futex.h"
#include "drivers/null/null.h"

mtl_status null_commands_prepare(mtl_command_buffer *command_buffer) {
  (void)command_buffer;
  return MTL_OK;
}

void null_commands_clear(mtl_command_buffer *command_buffer) {
  (void)command_buffer;
}

mtl_status null_queue_cancel(mtl_queue *queue,
                             mtl_command_buffer *command_buffer) {
  (void)queue;
  (void)command_buffer;  // the callee looks at is_cancelled
  return MTL_OK;
}

static void run_sample(const mtli_command *command) {
  const uint64_t ticks = mtli_now_ns();
  memcpy((char *)(uintptr_t)command->sample.buffer->gpu_address +
             command->sample.offset_bytes,
         &ticks, sizeof ticks);
}

// Waits until the event has come or the command buffer is cancelled.
static void run_wait(const mtl_command_buffer *command_buffer,
                     const mtli_command *command) {
  enum { LOOK_NS = 1000 * 1000 };
  while (!mtli_stop_reason(command_buffer) &&
         mtli_host_event_wait(command->event.event, command->event.value,
                              LOOK_NS) != MTL_OK) {
  }
}

void null_commands_run(mtl_command_buffer *command_buffer) {
  mtli_command_buffer_scheduled(command_buffer);
  const uint64_t start_ns = mtli_now_ns();
  for (mtli_command *command = command_buffer->commands; command;
       command = command->next) {
    mtl_event *event = command->event.event;
    const bool is_to_run =
        !command_buffer->is_failed && !mtli_stop_reason(command_buffer);
    if (command->times && is_to_run) {
      const uint64_t now_ns = mtli_now_ns();
      mtli_command_starts(command->times, now_ns);
      mtli_command_ends(command->times, now_ns);
    }
    if (command->kind == MTLI_COMMAND_SIGNAL) {
      (void)mtli_host_event_signal(event, command->event.value);
    } else if (command->kind == MTLI_COMMAND_WAIT &&
               !command_buffer->is_failed) {
      run_wait(command_buffer, command);
    } else if (command->kind == MTLI_COMMAND_EDIT_INDIRECT &&
               !command_buffer->is_failed) {
      mtli_edit_indirect_commands(&command->edit);
    } else if (command->kind == MTLI_COMMAND_SAMPLE && is_to_run) {
      run_sample(command);
    }
  }
  if (!command_buffer->is_failed) {
    mtli_command_buffer_ran(command_buffer, start_ns, mtli_now_ns());
  }
  const char *reason = mtli_stop_reason(command_buffer);
  atomic_store(&command_buffer->has_failed, reason != NULL);
  mtli_command_buffer_completed(command_buffer, reason ? MTL_CANCELLED : MTL_OK,
                                reason ? reason : "");
}
