// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// host_calls.c: calls the client's functions in queue order, on a thread of
// their own.
#include <string.h>

#include "memory/slots.h"
#include "mettle_hal.h"

typedef struct host_call {
  iree_hal_host_call_t call;
  uint64_t args[4];
  iree_hal_host_call_flags_t flags;
} host_call;

static void signal_early(mettle_op *op) {
  for (iree_host_size_t i = 0; i < op->signals.count; i++) {
    iree_status_ignore(iree_hal_semaphore_signal(
        op->signals.semaphores[i], op->signals.payload_values[i], NULL));
  }
  op->is_signalled_early = true;
}

static iree_status_t run(mettle_op *op, bool *out_deferred) {
  const host_call *call = op->work_context;
  const bool goes_on = call->flags & IREE_HAL_HOST_CALL_FLAG_NON_BLOCKING;
  if (goes_on) {
    signal_early(op);
  }
  iree_hal_host_call_context_t context = {
      .device = (iree_hal_device_t *)op->device,
      .queue_affinity = mettle_queue_affinity(op->queue),
      .signal_semaphore_list =
          goes_on ? iree_hal_semaphore_list_empty() : op->signals};
  iree_status_t status =
      call->call.fn(call->call.user_data, call->args, &context);
  if (goes_on) {
    iree_status_ignore(status);  // there is nobody to tell
    return iree_ok_status();
  }
  *out_deferred = iree_status_is_deferred(status);
  return *out_deferred ? iree_ok_status() : status;
}

iree_status_t mettle_queue_host_call(iree_hal_device_t *base,
                                     iree_hal_queue_affinity_t affinity,
                                     const iree_hal_semaphore_list_t waits,
                                     const iree_hal_semaphore_list_t signals,
                                     iree_hal_host_call_t call,
                                     const uint64_t args[4],
                                     iree_hal_host_call_flags_t flags) {
  mettle_op *op = NULL;
  host_call *context = NULL;
  IREE_RETURN_IF_ERROR(
      mettle_op_create(mettle_device_cast(base), affinity, waits, signals,
                       OP_JOB, 0, sizeof *context, &op, (void **)&context));
  context->call = call;
  context->flags = flags;
  memcpy(context->args, args, sizeof context->args);
  op->job_type = IREE_HAL_PROFILE_QUEUE_EVENT_TYPE_HOST_CALL;
  op->work = run;
  op->work_context = context;
  return mettle_op_submit(op);
}
