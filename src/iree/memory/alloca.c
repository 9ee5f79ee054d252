// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// alloca.c: queue-ordered allocation. queue_alloca returns a buffer at once and
// reserves its memory later. It reserves when the operation is issued, if a
// pool has memory without waiting: later work can then be committed. Otherwise
// it reserves when the operation's waits are satisfied, and waits for memory
// too.
#include "iree/hal/local/transient_buffer.h"
#include "mettle_hal.h"

static bool is_ok(iree_hal_pool_acquire_result_t result) {
  return result == IREE_HAL_POOL_ACQUIRE_OK ||
         result == IREE_HAL_POOL_ACQUIRE_OK_FRESH;
}

static iree_status_t acquire(mettle_alloca *alloca,
                             iree_hal_pool_reserve_flags_t flags,
                             iree_hal_pool_acquire_info_t *out_info,
                             iree_hal_pool_acquire_result_t *out_result) {
  const iree_device_size_t alignment =
      alloca->params.min_alignment ? alloca->params.min_alignment : 1;
  return iree_hal_pool_acquire_reservation(
      alloca->pool, alloca->length, alignment, /*requester_frontier=*/NULL,
      flags, &alloca->reservation, out_info, out_result);
}

// Puts memory behind the buffer, where commands find it; the host may not yet.
static iree_status_t stage(mettle_op *op,
                           const iree_async_frontier_t *frontier) {
  mettle_alloca *alloca = op->alloca;
  iree_hal_local_transient_buffer_attach_reservation(
      op->transient, alloca->pool, &alloca->reservation);
  iree_hal_buffer_t *backing = NULL;
  iree_status_t status = iree_hal_pool_materialize_reservation(
      alloca->pool, alloca->params, &alloca->reservation,
      IREE_HAL_POOL_MATERIALIZE_FLAG_NONE, &backing);
  if (!iree_status_is_ok(status)) {
    iree_hal_local_transient_buffer_release_reservation(op->transient,
                                                        frontier);
    return status;
  }
  iree_hal_local_transient_buffer_stage_backing(op->transient, backing);
  iree_hal_buffer_release(backing);
  alloca->is_staged = true;
  return iree_ok_status();
}

static iree_status_t may_not_wait(void) {
  return iree_make_status(
      IREE_STATUS_RESOURCE_EXHAUSTED,
      "the pool's memory is still in use, and the allocation may not wait for "
      "it: IREE_HAL_ALLOCA_FLAG_ALLOW_POOL_WAIT_FRONTIER is not given");
}

iree_status_t mettle_alloca_try(mettle_op *op) {
  mettle_alloca *alloca = op->alloca;
  if (alloca->flags & IREE_HAL_ALLOCA_FLAG_ALLOW_POOL_WAIT_FRONTIER) {
    return iree_ok_status();
  }
  iree_hal_pool_acquire_info_t info;
  iree_hal_pool_acquire_result_t result = IREE_HAL_POOL_ACQUIRE_EXHAUSTED;
  IREE_RETURN_IF_ERROR(acquire(
      alloca, IREE_HAL_POOL_RESERVE_FLAG_ALLOW_WAIT_FRONTIER, &info, &result));
  if (is_ok(result)) {
    return stage(op, NULL);
  }
  if (result == IREE_HAL_POOL_ACQUIRE_OK_NEEDS_WAIT) {
    iree_hal_pool_release_reservation(alloca->pool, &alloca->reservation,
                                      info.wait_frontier);
    return may_not_wait();
  }
  return iree_ok_status();
}

void mettle_alloca_prepare(mettle_op *op) {
  if (op->alloca->is_staged) {
    return;  // nothing to wait for: the operation ends at once
  }
  iree_hal_pool_acquire_info_t info;
  iree_hal_pool_acquire_result_t result = IREE_HAL_POOL_ACQUIRE_EXHAUSTED;
  // Memory that an earlier operation is about to give back may be enough later:
  // do not grow now.
  iree_status_t status = acquire(
      op->alloca, IREE_HAL_POOL_RESERVE_FLAG_DISALLOW_GROWTH, &info, &result);
  if (iree_status_is_ok(status) && is_ok(result)) {
    status = stage(op, NULL);
  }
  if (!iree_status_is_ok(status)) {
    mettle_op_fail(op, status);
  } else if (op->alloca->is_staged) {
    mettle_op_promise(op);
  }
}

static void publish_or_fail(mettle_op *op, iree_status_t status) {
  if (iree_status_is_ok(status)) {
    iree_hal_local_transient_buffer_commit(op->transient);
  } else {
    mettle_op_fail(op, status);
  }
  mettle_op_end(op);
}

static void frontier_reached(void *user_data, iree_status_t status) {
  mettle_op *op = user_data;
  mettle_alloca *alloca = op->alloca;
  if (iree_status_is_ok(status)) {
    status = stage(op, alloca->frontier);
  } else {
    iree_hal_pool_release_reservation(alloca->pool, &alloca->reservation,
                                      alloca->frontier);
  }
  publish_or_fail(op, status);
  mettle_steps_run();
}

static iree_status_t wait_for_frontier(mettle_op *op,
                                       const iree_async_frontier_t *frontier) {
  mettle_alloca *alloca = op->alloca;
  iree_status_t status;
  if (!iree_all_bits_set(alloca->flags,
                         IREE_HAL_ALLOCA_FLAG_ALLOW_POOL_WAIT_FRONTIER)) {
    status = may_not_wait();
  } else if (!op->device->tracker || !frontier) {
    status = iree_make_status(IREE_STATUS_FAILED_PRECONDITION,
                              "the device has no frontier to wait for");
  } else {
    alloca->frontier = frontier;
    status = iree_async_frontier_tracker_wait(
        op->device->tracker, frontier, frontier_reached, op, &alloca->waiter);
    if (iree_status_is_ok(status)) {
      return status;
    }
  }
  iree_hal_pool_release_reservation(alloca->pool, &alloca->reservation,
                                    frontier);
  return status;
}

static void pool_notified(void *user_data, iree_async_operation_t *operation,
                          iree_status_t status,
                          iree_async_completion_flags_t flags) {
  (void)operation;
  (void)flags;
  mettle_op *op = user_data;
  if (iree_status_is_ok(status)) {
    mettle_alloca_publish(op);
  } else {
    publish_or_fail(op, status);
  }
  mettle_steps_run();
}

static iree_status_t wait_for_pool(mettle_op *op,
                                   iree_async_notification_t *notification,
                                   uint32_t token) {
  mettle_alloca *alloca = op->alloca;
  // The earlier notification may still be in its callback.
  alloca->notified_slot ^= 1;
  iree_async_notification_wait_operation_t *wait =
      &alloca->notified[alloca->notified_slot];
  iree_async_operation_zero(&wait->base, sizeof *wait);
  iree_async_operation_initialize(
      &wait->base, IREE_ASYNC_OPERATION_TYPE_NOTIFICATION_WAIT,
      IREE_ASYNC_OPERATION_FLAG_NONE, pool_notified, op);
  wait->notification = notification;
  wait->wait_flags = IREE_ASYNC_NOTIFICATION_WAIT_FLAG_USE_WAIT_TOKEN;
  wait->wait_token = token;
  return iree_async_proactor_submit_one(op->device->proactor, &wait->base);
}

static bool is_closing(mettle_device *device) {
  iree_slim_mutex_lock(&device->mutex);
  const bool result = device->is_closing;
  iree_slim_mutex_unlock(&device->mutex);
  return result;
}

// Tries once more while watching the pool's releases. *out_waits: the operation
// waits, and no longer belongs to this thread.
static iree_status_t acquire_watched(mettle_op *op,
                                     iree_async_notification_t *notification,
                                     uint32_t token, bool *out_waits) {
  iree_hal_pool_acquire_info_t info;
  iree_hal_pool_acquire_result_t result = IREE_HAL_POOL_ACQUIRE_EXHAUSTED;
  IREE_RETURN_IF_ERROR(acquire(op->alloca,
                               IREE_HAL_POOL_RESERVE_FLAG_ALLOW_WAIT_FRONTIER,
                               &info, &result));
  if (is_ok(result)) {
    return stage(op, NULL);
  }
  *out_waits = true;
  iree_status_t status = iree_ok_status();
  if (result == IREE_HAL_POOL_ACQUIRE_OK_NEEDS_WAIT) {
    status = wait_for_frontier(op, info.wait_frontier);
  } else if (is_closing(op->device)) {
    status = iree_make_status(IREE_STATUS_ABORTED,
                              "the device was destroyed while the allocation "
                              "waited for memory of its pool");
  } else {
    status = wait_for_pool(op, notification, token);
  }
  *out_waits = iree_status_is_ok(status);
  return status;
}

void mettle_alloca_publish(mettle_op *op) {
  bool is_waiting = false;
  iree_status_t status = iree_ok_status();
  if (!op->alloca->is_staged) {
    iree_async_notification_t *notification =
        iree_hal_pool_notification(op->alloca->pool);
    iree_async_notification_retain(notification);  // +1: op may go first
    const uint32_t token = iree_async_notification_begin_observe(notification);
    status = acquire_watched(op, notification, token, &is_waiting);
    iree_async_notification_end_observe(notification);
    iree_async_notification_release(notification);  // -1
  }
  if (!is_waiting) {
    publish_or_fail(op, status);
  }
}

void mettle_alloca_wake(mettle_device *device) {
  for (;;) {
    iree_async_notification_t *notification = NULL;
    iree_slim_mutex_lock(&device->mutex);
    for (mettle_op *op = device->ops; op && !notification; op = op->next) {
      if (op->kind == OP_ALLOCA && !op->is_woken) {
        op->is_woken = true;
        notification = iree_hal_pool_notification(op->alloca->pool);
        iree_async_notification_retain(notification);  // +1
      }
    }
    iree_slim_mutex_unlock(&device->mutex);
    if (!notification) {
      return;
    }
    iree_async_notification_signal(notification, INT32_MAX);
    iree_async_notification_release(notification);  // -1
  }
}

void mettle_dealloca_release(mettle_op *op) {
  iree_hal_local_transient_buffer_decommit(op->transient);
  if (!op->device->tracker) {
    iree_hal_local_transient_buffer_release_reservation(op->transient, NULL);
    return;
  }
  // The time when this queue was done with the memory, for its next owner: now.
  mettle_queue *queue = op->queue;
  const uint64_t epoch = (uint64_t)iree_atomic_fetch_add(
                             &queue->epoch, 1, iree_memory_order_acq_rel) +
                         1;
  iree_async_single_frontier_t frontier;
  iree_async_single_frontier_initialize(&frontier, queue->axis, epoch);
  iree_hal_local_transient_buffer_release_reservation(
      op->transient, iree_async_single_frontier_as_const_frontier(&frontier));
  iree_async_frontier_tracker_advance(op->device->tracker, queue->axis, epoch);
}
