// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// commit.c: commits an operation's commands as a Mettle command buffer, ordered
// in its queue after what it waits for.
#include <string.h>

#include "mettle_hal.h"

// Transfers up to this size are quicker on the host: a copy in one memory.
#define INLINE_BYTES 16384

static bool is_small_transfer(const mettle_op *op) {
  if (op->kind != OP_COMMANDS || !op->device->is_unified || op->profile) {
    return false;
  }
  const mettle_command *command = op->own_commands;
  return (command->kind == COMMAND_FILL || command->kind == COMMAND_UPDATE ||
          command->kind == COMMAND_COPY) &&
         command->target.length <= INLINE_BYTES;
}

static char *host_bytes(const mettle_range *range) {
  return (char *)mtl_buffer_contents(range->buffer->buffer) + range->offset;
}

static iree_status_t resolve(iree_hal_buffer_ref_t ref,
                             mettle_range *out_range) {
  return mettle_range_resolve(ref.buffer, ref.offset, ref.length, out_range);
}

static iree_status_t transfer(const mettle_command *command) {
  mettle_range target;
  IREE_RETURN_IF_ERROR(resolve(command->target, &target));
  if (target.length == 0) {
    return iree_ok_status();
  }
  char *bytes = host_bytes(&target);
  if (command->kind == COMMAND_UPDATE) {
    memcpy(bytes, command->bytes, target.length);
    return iree_ok_status();
  }
  if (command->kind == COMMAND_COPY) {
    mettle_range source;
    IREE_RETURN_IF_ERROR(resolve(command->source, &source));
    memmove(bytes, host_bytes(&source), target.length);
    return iree_ok_status();
  }
  if (target.length % command->pattern_bytes) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "a fill of %zu bytes with a pattern of %u",
                            target.length, command->pattern_bytes);
  }
  for (size_t i = 0; i < target.length; i += command->pattern_bytes) {
    memcpy(bytes + i, &command->pattern, command->pattern_bytes);
  }
  return iree_ok_status();
}

bool mettle_op_transfer(mettle_op *op, iree_status_t *out_status) {
  if (!is_small_transfer(op) || !mettle_op_is_ready(op)) {
    return false;
  }
  *out_status = transfer(op->own_commands);
  return true;
}

// Counts an operation: before its command buffer is committed, and when it has
// completed. Relaxed: a thread that reads the count has submitted its own work
// itself.
static void count(mettle_op *op, int32_t change) {
  mettle_queue *queue = op->queue;
  iree_atomic_fetch_add(&queue->in_flight, change, iree_memory_order_relaxed);
  if (op->is_long) {
    iree_atomic_fetch_add(&queue->in_flight_long, change,
                          iree_memory_order_relaxed);
  }
}

bool mettle_queue_is_light(mettle_queue *queue) {
  enum { FEW = 8 };
  return iree_atomic_load(&queue->in_flight, iree_memory_order_relaxed) <=
             FEW &&
         iree_atomic_load(&queue->in_flight_long, iree_memory_order_relaxed) ==
             0;
}

static void commands_completed(void *context,
                               mtl_command_buffer *command_buffer) {
  mettle_op *op = context;
  const char *text = "";
  const mtl_status error = mtl_command_buffer_error(command_buffer, &text);
  mettle_callback_enter();
  count(op, -1);
  if (error != MTL_OK) {
    mettle_op_fail(op, mettle_status_text(error, text));
  } else if (op->kind == OP_EXECUTE) {
    const mtl_command_buffer_times times =
        mtl_command_buffer_get_times(command_buffer);
    mettle_command_buffer_ran(op->command_buffer,
                              times.device_end_ns - times.device_start_ns);
  }
  mettle_op_settle(op);
  mettle_steps_run();
  mettle_callback_leave();
}

// True if the order of the queue satisfies a wait, and nothing runs behind a
// failure. On a device with unified memory a completed callback, which cancels
// what waits, comes before the queue's next work; on others the command buffer
// depends on the one that is waited for.
static bool is_ordered(const mettle_op *op, const mettle_wait *wait,
                       mtl_command_buffer *command_buffer) {
  if (wait->cover_queue != op->queue || op->device->is_unified) {
    return wait->cover_queue == op->queue;
  }
  iree_slim_mutex_lock(&op->device->mutex);
  mtl_command_buffer *earlier =
      wait->ours->promise_is_whole
          ? mtl_command_buffer_retain(wait->ours->promise_commands)  // +1
          : NULL;
  iree_slim_mutex_unlock(&op->device->mutex);
  const bool depends = earlier && mtl_command_buffer_depend_on(
                                      command_buffer, earlier) == MTL_OK;
  mtl_command_buffer_release(earlier);  // -1
  return depends;
}

// Records the waits that the queue's own order does not satisfy.
static iree_status_t encode_waits(mettle_op *op,
                                  mtl_command_buffer *command_buffer) {
  for (uint32_t i = 0; i < op->wait_count; i++) {
    mettle_wait *wait = &op->waits[i];
    if (!wait->is_awaited || !wait->ours ||
        is_ordered(op, wait, command_buffer) ||
        mettle_semaphore_value(wait->ours) >= wait->value) {
      continue;
    }
    mtl_event *event = NULL;
    IREE_RETURN_IF_ERROR(mettle_semaphore_event(wait->ours, &event));
    mtl_command_buffer_wait_event(command_buffer, event, wait->value);
    op->is_long = true;
  }
  return iree_ok_status();
}

static iree_status_t encode_work(mettle_op *op,
                                 mtl_command_buffer *command_buffer) {
  const mettle_command *commands = op->own_commands;
  if (op->kind == OP_EXECUTE) {
    uint32_t count = 0;
    commands = mettle_command_buffer_commands(op->command_buffer, &count);
  }
  return mettle_encode(op->device, command_buffer, commands, op->table);
}

static iree_status_t fill(mettle_op *op, mtl_command_buffer *command_buffer) {
  op->is_long = op->kind != OP_EXECUTE ||
                !mettle_command_buffer_is_short(op->command_buffer);
  IREE_RETURN_IF_ERROR(encode_waits(op, command_buffer));
  IREE_RETURN_IF_ERROR(encode_work(op, command_buffer));
  return mettle_status(mtl_command_buffer_on_completed_directly(
                           command_buffer, commands_completed, op),
                       "mtl_command_buffer_on_completed_directly");
}

iree_status_t mettle_op_commit(mettle_op *op) {
  mtl_command_buffer *command_buffer = NULL;
  // The operation retains the resources that its commands use.
  const mtl_command_buffer_desc desc = {
      .unretained_references = true,
      .times_work = mettle_profile_times_dispatches(op),
  };
  IREE_RETURN_IF_ERROR(mettle_status(
      mtl_command_buffer_create(op->queue->queue, &desc, &command_buffer),
      "mtl_command_buffer_create"));
  iree_status_t status = fill(op, command_buffer);
  if (!iree_status_is_ok(status)) {
    mtl_command_buffer_release(command_buffer);
    return status;
  }
  // Either a failed wait sees the command buffer, or this sees the failure.
  iree_atomic_store(&op->commands, (intptr_t)command_buffer,
                    iree_memory_order_seq_cst);
  if (mettle_op_has_failed(op)) {
    (void)!mtl_command_buffer_cancel(command_buffer);
  }
  count(op, 1);
  // An error of the recording is passed to the callback too.
  (void)!mtl_command_buffer_commit(command_buffer);
  return iree_ok_status();
}
