// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// op.c: runs an operation, from its submission to the signals of its
// semaphores.
#include <string.h>

#include "iree/hal/local/transient_buffer.h"
#include "mettle_hal.h"

static iree_host_size_t aligned(iree_host_size_t bytes) {
  return iree_host_align(bytes, iree_max_align_t);
}

static void op_issue(mettle_op *op);
static void op_finish(mettle_op *op);
static void op_abandon(mettle_op *op);

static void take_waits(mettle_op *op, iree_hal_semaphore_list_t waits) {
  op->wait_count = (uint32_t)waits.count;
  for (iree_host_size_t i = 0; i < waits.count; i++) {
    iree_hal_semaphore_t *semaphore = waits.semaphores[i];
    iree_hal_semaphore_retain(semaphore);  // +1 until finished
    op->waits[i] = (mettle_wait){
        .op = op, .semaphore = semaphore, .value = waits.payload_values[i]};
    if (mettle_semaphore_isa(semaphore) &&
        ((mettle_semaphore *)semaphore)->device == op->device) {
      op->waits[i].ours = (mettle_semaphore *)semaphore;
    }
  }
}

iree_status_t mettle_op_create(
    mettle_device *device, iree_hal_queue_affinity_t affinity,
    iree_hal_semaphore_list_t waits, iree_hal_semaphore_list_t signals,
    mettle_op_kind kind, iree_host_size_t resource_capacity,
    iree_host_size_t payload_bytes, mettle_op **out_op, void **out_payload) {
  const iree_host_size_t waits_at = aligned(sizeof(mettle_op));
  const iree_host_size_t semaphores_at =
      waits_at + aligned(waits.count * sizeof(mettle_wait));
  const iree_host_size_t values_at =
      semaphores_at + aligned(signals.count * sizeof(void *));
  const iree_host_size_t resources_at =
      values_at + aligned(signals.count * sizeof(uint64_t));
  const iree_host_size_t payload_at =
      resources_at + aligned(resource_capacity * sizeof(void *));
  char *memory = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc_uninitialized(
      device->host_allocator, payload_at + payload_bytes, (void **)&memory));
  mettle_op *op = (mettle_op *)memory;
  memset(op, 0, sizeof *op);
  op->device = device;
  mettle_device_retain(device);  // +1 until finished
  op->queue = mettle_device_queue(device, affinity);
  op->kind = kind;
  op->waits = (mettle_wait *)(memory + waits_at);
  take_waits(op, waits);
  op->signals = (iree_hal_semaphore_list_t){
      .count = signals.count,
      .semaphores = (iree_hal_semaphore_t **)(memory + semaphores_at),
      .payload_values = (uint64_t *)(memory + values_at)};
  for (iree_host_size_t i = 0; i < signals.count; i++) {
    op->signals.semaphores[i] = signals.semaphores[i];
    op->signals.payload_values[i] = signals.payload_values[i];
    iree_hal_semaphore_retain(signals.semaphores[i]);  // +1 until finished
  }
  op->resources = (iree_hal_resource_t **)(memory + resources_at);
  op->uncovered = 1;
  iree_atomic_store(&op->pending, 2, iree_memory_order_relaxed);
  op->issue = (mettle_step){.op = op, .run = op_issue};
  op->finish = (mettle_step){.op = op, .run = op_finish};
  op->abandon = (mettle_step){.op = op, .run = op_abandon};
  *out_op = op;
  if (out_payload) {
    *out_payload = memory + payload_at;
  }
  return iree_ok_status();
}

void mettle_op_keep(mettle_op *op, void *resource) {
  if (resource) {
    iree_hal_resource_retain(resource);  // +1 until finished
    op->resources[op->resource_count++] = resource;
  }
}

// Gives back all that the operation kept, and its memory.
void mettle_op_discard(mettle_op *op) {
  mettle_device *device = op->device;
  mtl_command_buffer_release((mtl_command_buffer *)iree_atomic_load(
      &op->commands, iree_memory_order_acquire));  // -1
  for (iree_host_size_t i = 0; i < op->resource_count; i++) {
    iree_hal_resource_release(op->resources[i]);  // -1
  }
  for (uint32_t i = 0; i < op->wait_count; i++) {
    iree_hal_semaphore_release(op->waits[i].semaphore);  // -1
  }
  iree_hal_semaphore_list_release(op->signals);  // -1
  iree_status_free(
      (iree_status_t)iree_atomic_load(&op->failure, iree_memory_order_acquire));
  iree_allocator_free(device->host_allocator, op->profile);
  iree_allocator_free(device->host_allocator, op);
  mettle_device_release(device);  // -1
}

void mettle_op_hold(mettle_op *op) {
  iree_atomic_fetch_add(&op->pending, 1, iree_memory_order_relaxed);
}

void mettle_op_settle(mettle_op *op) {
  // The last operation to arrive sees the others' writes.
  if (iree_atomic_fetch_sub(&op->pending, 1, iree_memory_order_acq_rel) == 1) {
    mettle_steps_add(&op->finish);
  }
}

bool mettle_op_has_failed(mettle_op *op) {
  return iree_atomic_load(&op->failure, iree_memory_order_seq_cst) != 0;
}

// Abandons the operation's waits, once, when all are registered.
static void abandon_once(mettle_op *op) {
  if (!iree_atomic_exchange(&op->abandoned, 1, iree_memory_order_acq_rel)) {
    mettle_op_hold(op);
    mettle_steps_add(&op->abandon);
  }
}

void mettle_op_fail(mettle_op *op, iree_status_t status) {
  intptr_t expected = 0;
  if (!iree_atomic_compare_exchange_strong(
          &op->failure, &expected, (intptr_t)status, iree_memory_order_seq_cst,
          iree_memory_order_acquire)) {
    iree_status_free(status);
    return;
  }
  // Either this sees the command buffer, or its committer sees the failure.
  mtl_command_buffer *commands = (mtl_command_buffer *)iree_atomic_load(
      &op->commands, iree_memory_order_seq_cst);
  if (commands) {
    (void)!mtl_command_buffer_cancel(commands);
  }
  if (iree_atomic_load(&op->is_registered, iree_memory_order_seq_cst)) {
    abandon_once(op);
  }
}

// Takes a wait from those that nothing will satisfy yet. The mutex is held.
static void cover(mettle_wait *wait, mettle_queue *queue) {
  mettle_op *op = wait->op;
  if (!wait->is_uncovered) {
    return;
  }
  wait->is_uncovered = false;
  wait->cover_queue = queue;
  if (wait->ours) {
    mettle_semaphore_remove_uncovered(wait);
  }
  if (--op->uncovered == 0) {
    mettle_steps_add(&op->issue);
  }
}

void mettle_wait_resolve(mettle_wait *wait, iree_status_t status) {
  mettle_op *op = wait->op;
  if (!iree_status_is_ok(status)) {
    mettle_op_fail(op, status);
  }
  iree_slim_mutex_lock(&op->device->mutex);
  cover(wait, NULL);
  iree_slim_mutex_unlock(&op->device->mutex);
  mettle_op_settle(op);
}

static void timepoint_reached(void *user_data,
                              iree_async_semaphore_timepoint_t *timepoint,
                              iree_status_t status) {
  (void)timepoint;
  mettle_wait_resolve(user_data, status);
  mettle_steps_run();
}

// Takes a wait back; false if it has ended or is about to.
static bool withdraw(mettle_wait *wait) {
  if (!wait->ours) {
    return iree_async_semaphore_cancel_timepoint(
        (iree_async_semaphore_t *)wait->semaphore, &wait->timepoint);
  }
  iree_slim_mutex_lock(&wait->op->device->mutex);
  const bool was_listed = wait->is_listed;
  if (was_listed) {
    mettle_semaphore_remove_wait(wait);
  }
  iree_slim_mutex_unlock(&wait->op->device->mutex);
  return was_listed;
}

static void op_abandon(mettle_op *op) {
  for (uint32_t i = 0; i < op->wait_count; i++) {
    mettle_wait *wait = &op->waits[i];
    if (wait->is_awaited && withdraw(wait)) {
      mettle_wait_resolve(wait, iree_ok_status());
    }
  }
  mettle_op_settle(op);
}

static bool wait_is_satisfied(const mettle_wait *wait) {
  iree_async_semaphore_t *semaphore = (iree_async_semaphore_t *)wait->semaphore;
  if (wait->ours) {
    const uint64_t value = mettle_semaphore_value(wait->ours);
    return value >= wait->value && value != UINT64_MAX;
  }
  return iree_async_semaphore_query_status(semaphore) == IREE_STATUS_OK &&
         iree_async_semaphore_query(semaphore) >= wait->value;
}

bool mettle_op_is_ready(const mettle_op *op) {
  for (uint32_t i = 0; i < op->wait_count; i++) {
    if (!wait_is_satisfied(&op->waits[i])) {
      return false;
    }
  }
  return true;
}

// Records whether committed work will satisfy the wait. The mutex is held.
static void note_cover(mettle_wait *wait) {
  mettle_semaphore *ours = wait->ours;
  if (ours && ours->promised >= wait->value) {
    wait->cover_queue = ours->promise_queue;
    return;
  }
  wait->is_uncovered = true;
  wait->op->uncovered++;
  if (ours) {
    mettle_semaphore_add_uncovered(ours, wait);
  }
}

// Waits for a semaphore of this device. What it tells its waits it tells under
// the mutex, after its value or failure has changed: either is seen here.
static void register_ours(mettle_wait *wait) {
  mettle_op *op = wait->op;
  iree_async_semaphore_t *semaphore = &wait->ours->async;
  iree_slim_mutex_lock(&op->device->mutex);
  iree_status_t failure = (iree_status_t)iree_atomic_load(
      &semaphore->failure_status, iree_memory_order_seq_cst);
  const bool is_over =
      !iree_status_is_ok(failure) ||
      (uint64_t)iree_atomic_load(&semaphore->timeline_value,
                                 iree_memory_order_seq_cst) >= wait->value;
  if (!is_over) {
    mettle_op_hold(op);
    wait->is_awaited = true;
    note_cover(wait);
    mettle_semaphore_add_wait(wait->ours, wait);
  }
  iree_slim_mutex_unlock(&op->device->mutex);
  if (is_over && !iree_status_is_ok(failure)) {
    mettle_op_fail(op, iree_status_clone(failure));
  }
}

static void register_foreign(mettle_wait *wait) {
  mettle_op *op = wait->op;
  iree_slim_mutex_lock(&op->device->mutex);
  note_cover(wait);
  iree_slim_mutex_unlock(&op->device->mutex);
  mettle_op_hold(op);
  wait->is_awaited = true;
  wait->timepoint.callback = timepoint_reached;
  wait->timepoint.user_data = wait;
  // It fails only for reasons that it passes to the callback.
  iree_status_ignore(iree_async_semaphore_acquire_timepoint(
      (iree_async_semaphore_t *)wait->semaphore, wait->value,
      &wait->timepoint));
}

static void wait_register(mettle_wait *wait) {
  if (wait_is_satisfied(wait)) {
    return;
  }
  if (wait->ours) {
    register_ours(wait);
  } else {
    register_foreign(wait);
  }
}

static bool op_enter(mettle_op *op) {
  mettle_device *device = op->device;
  iree_slim_mutex_lock(&device->mutex);
  const bool may_enter = !device->is_closing;
  if (may_enter) {
    op->next = device->ops;
    if (op->next) {
      op->next->previous = op;
    }
    device->ops = op;
    device->op_count++;
  }
  iree_slim_mutex_unlock(&device->mutex);
  return may_enter;
}

iree_status_t mettle_op_submit(mettle_op *op) {
  if (!op_enter(op)) {
    mettle_op_discard(op);
    return iree_make_status(IREE_STATUS_ABORTED,
                            "the device is being destroyed");
  }
  mettle_profile_op_begin(op);
  for (uint32_t i = 0; i < op->wait_count; i++) {
    wait_register(&op->waits[i]);
  }
  iree_atomic_store(&op->is_registered, 1, iree_memory_order_seq_cst);
  if (mettle_op_has_failed(op)) {
    abandon_once(op);
  }
  iree_slim_mutex_lock(&op->device->mutex);
  if (--op->uncovered == 0) {
    mettle_steps_add(&op->issue);
  }
  iree_slim_mutex_unlock(&op->device->mutex);
  mettle_semaphore_submitted(op->signals);
  mettle_op_settle(op);  // the work itself holds one count
  mettle_steps_run();
  return iree_ok_status();
}

// Finds the queue in whose order all waits end that have not ended yet; NULL
// if there is none. *out_all tells whether none is left.
static mettle_queue *common_queue(const mettle_op *op, bool *out_all) {
  mettle_queue *queue = NULL;
  *out_all = true;
  for (uint32_t i = 0; i < op->wait_count; i++) {
    const mettle_wait *wait = &op->waits[i];
    if (!wait->is_awaited || wait_is_satisfied(wait)) {
      continue;
    }
    if (!wait->cover_queue || (!*out_all && wait->cover_queue != queue)) {
      *out_all = false;
      return NULL;
    }
    queue = wait->cover_queue;
    *out_all = false;
  }
  return queue;
}

// What an operation's end waits for.
typedef struct covering {
  mtl_command_buffer *commands;  // borrowed; NULL if not known
  bool is_short;                 // their last run was short
  bool is_whole;                 // nothing else is waited for
} covering;

// Finds the command buffer of an operation, or of the first of its waits that
// has one. The mutex is held.
static covering covering_of(const mettle_op *op) {
  covering it = {.commands = (mtl_command_buffer *)iree_atomic_load(
                     &op->commands, iree_memory_order_acquire)};
  if (it.commands) {
    it.is_short = op->kind == OP_EXECUTE &&
                  mettle_command_buffer_is_short(op->command_buffer);
    it.is_whole = true;
    return it;
  }
  uint32_t count = 0;
  for (uint32_t i = 0; i < op->wait_count; i++) {
    const mettle_wait *wait = &op->waits[i];
    if (!wait->is_awaited ||
        (wait->ours && mettle_semaphore_value(wait->ours) >= wait->value)) {
      continue;
    }
    count++;
    if (wait->ours && !it.commands) {
      it.commands = wait->ours->promise_commands;
      it.is_short = wait->ours->promise_is_short;
      it.is_whole = wait->ours->promise_is_whole;
    }
  }
  it.is_whole = it.is_whole && count == 1;
  return it;
}

static void promise_one(mettle_op *op, mettle_semaphore *semaphore,
                        uint64_t value, mettle_queue *queue,
                        mtl_command_buffer **out_old) {
  *out_old = NULL;
  if (semaphore->promised >= value ||
      mettle_semaphore_value(semaphore) >= value) {
    return;
  }
  const covering it = covering_of(op);
  semaphore->promised = value;
  semaphore->promise_queue = queue;
  *out_old = semaphore->promise_commands;
  semaphore->promise_commands = mtl_command_buffer_retain(it.commands);  // +1
  semaphore->promise_is_short = it.is_short;
  semaphore->promise_is_whole = it.is_whole;
  while (semaphore->uncovered && semaphore->uncovered->value <= value) {
    cover(semaphore->uncovered, queue);
  }
}

void mettle_op_promise(mettle_op *op) {
  bool all_ended = false;
  mettle_queue *queue = op->kind == OP_EXECUTE || op->kind == OP_COMMANDS
                            ? op->queue
                            : common_queue(op, &all_ended);
  if (all_ended) {
    return;  // the signals come at once
  }
  for (iree_host_size_t i = 0; i < op->signals.count; i++) {
    mettle_semaphore *semaphore = (mettle_semaphore *)op->signals.semaphores[i];
    if (!mettle_semaphore_isa(op->signals.semaphores[i]) ||
        semaphore->device != op->device) {
      continue;
    }
    mtl_command_buffer *old = NULL;
    iree_slim_mutex_lock(&op->device->mutex);
    promise_one(op, semaphore, op->signals.payload_values[i], queue, &old);
    iree_slim_mutex_unlock(&op->device->mutex);
    mtl_command_buffer_release(old);  // -1
  }
}

// Issues the work of an operation, whose waits are satisfied or will be.
static void op_issue(mettle_op *op) {
  mettle_op_hold(op);
  if (!mettle_op_has_failed(op)) {
    switch (op->kind) {
      case OP_COMMANDS:
      case OP_EXECUTE: {
        iree_status_t status = iree_ok_status();
        if (mettle_op_transfer(op, &status)) {
          if (!iree_status_is_ok(status)) {
            mettle_op_fail(op, status);
          }
          break;
        }
        status = mettle_op_commit(op);
        if (!iree_status_is_ok(status)) {
          mettle_op_fail(op, status);
          break;
        }
        mettle_op_promise(op);
        mettle_op_settle(op);  // releases the hold; the work settles its own
                               // count
        return;
      }
      case OP_ALLOCA: mettle_alloca_prepare(op); break;
      case OP_BARRIER:
      case OP_DEALLOCA: mettle_op_promise(op); break;
      case OP_JOB: break;  // nothing reports in advance when it will signal
    }
  }
  mettle_op_settle(op);  // the work
  mettle_op_settle(op);  // the hold
}

static void op_leave(mettle_op *op) {
  mettle_device *device = op->device;
  iree_slim_mutex_lock(&device->mutex);
  if (op->previous) {
    op->previous->next = op->next;
  } else {
    device->ops = op->next;
  }
  if (op->next) {
    op->next->previous = op->previous;
  }
  iree_slim_mutex_unlock(&device->mutex);
  mettle_device_retain(device);  // +1: discard may release the last reference
  mettle_op_discard(op);
  iree_slim_mutex_lock(&device->mutex);
  const bool is_last = --device->op_count == 0;
  iree_slim_mutex_unlock(&device->mutex);
  if (is_last) {
    iree_notification_post(&device->idle, IREE_ALL_WAITERS);
  }
  mettle_device_release(device);  // -1
}

void mettle_op_end(mettle_op *op) {
  iree_status_t failure =
      (iree_status_t)iree_atomic_load(&op->failure, iree_memory_order_acquire);
  mettle_profile_op_end(op);
  if (op->kind == OP_DEALLOCA && !iree_status_is_ok(failure)) {
    iree_hal_local_transient_buffer_abort_dealloca(op->transient);
  }
  for (iree_host_size_t i = 0; i < op->signals.count; i++) {
    iree_hal_semaphore_t *semaphore = op->signals.semaphores[i];
    if (!iree_status_is_ok(failure)) {
      iree_hal_semaphore_fail(semaphore, iree_status_clone(failure));
    } else if (!op->is_signalled_early) {
      // If it exists already, the client made a mistake, which is harmless.
      iree_status_ignore(iree_hal_semaphore_signal(
          semaphore, op->signals.payload_values[i], /*frontier=*/NULL));
    }
  }
  mettle_queue *queue = op->queue;
  if (op->device->tracker && op->kind != OP_DEALLOCA) {
    const int64_t epoch =
        iree_atomic_fetch_add(&queue->epoch, 1, iree_memory_order_acq_rel) + 1;
    iree_async_frontier_tracker_advance(op->device->tracker, queue->axis,
                                        (uint64_t)epoch);
  }
  op_leave(op);
}

static void job_run(mettle_job *job) {
  mettle_op *op = (mettle_op *)((char *)job - offsetof(mettle_op, job));
  bool is_deferred = false;
  mettle_callback_enter();
  iree_status_t status = op->work(op, &is_deferred);
  if (!iree_status_is_ok(status)) {
    mettle_op_fail(op, status);
  }
  op->is_signalled_early |= is_deferred;
  mettle_op_end(op);
  mettle_steps_run();
  mettle_callback_leave();
}

static void op_finish(mettle_op *op) {
  // No wait is left to abandon.
  iree_atomic_store(&op->abandoned, 1, iree_memory_order_relaxed);
  if (!mettle_op_has_failed(op)) {
    switch (op->kind) {
      case OP_ALLOCA:
        mettle_alloca_publish(op);
        return;  // the loop ends once there is memory
      case OP_DEALLOCA: mettle_dealloca_release(op); break;
      case OP_JOB: {
        op->job.run = job_run;
        iree_status_t status =
            mettle_workers_post(op->device->workers, &op->job);
        if (iree_status_is_ok(status)) {
          return;
        }
        mettle_op_fail(op, status);
        break;
      }
      case OP_BARRIER:
      case OP_COMMANDS:
      case OP_EXECUTE: break;
    }
  }
  mettle_op_end(op);
}

// Finds an operation whose wait no committed work will satisfy, and retains it.
static mettle_op *next_to_close(mettle_device *device) {
  mettle_op *found = NULL;
  iree_slim_mutex_lock(&device->mutex);
  for (mettle_op *op = device->ops; op && !found; op = op->next) {
    int32_t pending = iree_atomic_load(&op->pending, iree_memory_order_relaxed);
    if (op->uncovered == 0 || mettle_op_has_failed(op)) {
      continue;
    }
    while (pending > 0 &&
           !iree_atomic_compare_exchange_weak(
               &op->pending, &pending, pending + 1, iree_memory_order_acq_rel,
               iree_memory_order_relaxed)) {
    }
    found = pending > 0 ? op : NULL;
  }
  iree_slim_mutex_unlock(&device->mutex);
  return found;
}

static bool is_idle(void *arg) {
  mettle_device *device = arg;
  iree_slim_mutex_lock(&device->mutex);
  const bool idle = device->op_count == 0;
  iree_slim_mutex_unlock(&device->mutex);
  return idle;
}

void mettle_ops_close(mettle_device *device) {
  iree_slim_mutex_lock(&device->mutex);
  device->is_closing = true;
  iree_slim_mutex_unlock(&device->mutex);
  for (mettle_op *op = NULL; (op = next_to_close(device));) {
    mettle_op_fail(op, iree_make_status(IREE_STATUS_ABORTED,
                                        "the device was destroyed before the "
                                        "operation's waits were satisfied"));
    mettle_op_settle(op);
    mettle_steps_run();
  }
  mettle_alloca_wake(device);
  if (!mettle_is_calling_back()) {
    iree_notification_await(&device->idle, is_idle, device,
                            iree_infinite_timeout());
  }
}
