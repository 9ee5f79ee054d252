// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// semaphore.c: IREE's timeline semaphores. IREE keeps the timeline; a Mettle
// event, made on request, follows it so that queues can wait on the device.
// After a failure the event rises only when all waiters have been told: their
// committed work is cancelled by then.
#include <string.h>

#include "mettle_hal.h"

static const iree_hal_semaphore_vtable_t semaphore_vtable;

bool mettle_semaphore_isa(iree_hal_semaphore_t *semaphore) {
  return iree_hal_resource_is((const iree_hal_resource_t *)semaphore,
                              &semaphore_vtable);
}

iree_status_t mettle_semaphore_create(mettle_device *device, uint64_t value,
                                      iree_hal_semaphore_t **out_semaphore) {
  iree_host_size_t frontier_at = 0;
  iree_host_size_t bytes = 0;
  IREE_RETURN_IF_ERROR(iree_async_semaphore_layout(sizeof(mettle_semaphore), 0,
                                                   &frontier_at, &bytes));
  mettle_semaphore *semaphore = NULL;
  IREE_RETURN_IF_ERROR(iree_allocator_malloc(device->host_allocator, bytes,
                                             (void **)&semaphore));
  memset(semaphore, 0, bytes);
  iree_async_semaphore_initialize(
      (const iree_async_semaphore_vtable_t *)&semaphore_vtable,
      device->proactor, value, frontier_at, 0, &semaphore->async);
  semaphore->host_allocator = device->host_allocator;
  semaphore->device = device;
  mettle_device_retain(device);  // +1
  *out_semaphore = iree_hal_semaphore_cast(&semaphore->async);
  return iree_ok_status();
}

static mtl_event *event_of(mettle_semaphore *semaphore) {
  return (mtl_event *)iree_atomic_load(&semaphore->event,
                                       iree_memory_order_seq_cst);
}

static void semaphore_destroy(iree_async_semaphore_t *base) {
  mettle_semaphore *semaphore = (mettle_semaphore *)base;
  mettle_device *device = semaphore->device;
  iree_allocator_t host_allocator = semaphore->host_allocator;
  iree_async_semaphore_deinitialize(base);
  mtl_command_buffer_release(semaphore->promise_commands);  // -1
  mtl_event_release(event_of(semaphore));
  iree_allocator_free(host_allocator, semaphore);
  mettle_device_release(device);  // -1
}

// The semaphore of the thread's last submission. It is compared and never
// dereferenced: the semaphore may be gone.
static _Thread_local const iree_hal_semaphore_t *submitted;

void mettle_semaphore_submitted(iree_hal_semaphore_list_t signals) {
  if (signals.count > 0) {
    submitted = signals.semaphores[signals.count - 1];
  }
}

// Runs the work that will signal the semaphore, if this thread has just
// submitted it and it is likely to be short. A caller that queries at that
// moment is about to wait, and waking another thread costs more than the work.
static void help_if_short(mettle_semaphore *semaphore);

static uint64_t semaphore_query(iree_async_semaphore_t *base) {
  if ((const iree_hal_semaphore_t *)base == submitted) {
    submitted = NULL;
    help_if_short((mettle_semaphore *)base);
  }
  iree_status_t failure = (iree_status_t)iree_atomic_load(
      &base->failure_status, iree_memory_order_acquire);
  if (!iree_status_is_ok(failure)) {
    return iree_hal_status_as_semaphore_failure(failure);
  }
  return (uint64_t)iree_atomic_load(&base->timeline_value,
                                    iree_memory_order_acquire);
}

uint64_t mettle_semaphore_value(mettle_semaphore *semaphore) {
  if (iree_async_semaphore_query_status(&semaphore->async) != IREE_STATUS_OK) {
    return UINT64_MAX;
  }
  return (uint64_t)iree_atomic_load(&semaphore->async.timeline_value,
                                    iree_memory_order_seq_cst);
}

// Inserts from the end: most waits are for more than those before.
void mettle_semaphore_add_wait(mettle_semaphore *semaphore, mettle_wait *wait) {
  mettle_wait *before = semaphore->last_wait;
  while (before && before->value > wait->value) {
    before = before->previous;
  }
  wait->previous = before;
  wait->next = before ? before->next : semaphore->waits;
  *(before ? &before->next : &semaphore->waits) = wait;
  *(wait->next ? &wait->next->previous : &semaphore->last_wait) = wait;
  wait->is_listed = true;
}

void mettle_semaphore_remove_wait(mettle_wait *wait) {
  mettle_semaphore *semaphore = wait->ours;
  *(wait->previous ? &wait->previous->next : &semaphore->waits) = wait->next;
  *(wait->next ? &wait->next->previous : &semaphore->last_wait) =
      wait->previous;
  wait->is_listed = false;
}

void mettle_semaphore_add_uncovered(mettle_semaphore *semaphore,
                                    mettle_wait *wait) {
  mettle_wait *before = semaphore->last_uncovered;
  while (before && before->value > wait->value) {
    before = before->previous_uncovered;
  }
  wait->previous_uncovered = before;
  wait->next_uncovered = before ? before->next_uncovered : semaphore->uncovered;
  *(before ? &before->next_uncovered : &semaphore->uncovered) = wait;
  *(wait->next_uncovered ? &wait->next_uncovered->previous_uncovered
                         : &semaphore->last_uncovered) = wait;
}

void mettle_semaphore_remove_uncovered(mettle_wait *wait) {
  mettle_semaphore *semaphore = wait->ours;
  *(wait->previous_uncovered ? &wait->previous_uncovered->next_uncovered
                             : &semaphore->uncovered) = wait->next_uncovered;
  *(wait->next_uncovered ? &wait->next_uncovered->previous_uncovered
                         : &semaphore->last_uncovered) =
      wait->previous_uncovered;
}

// Ends the waits for value and less, with a copy of status each.
static void end_waits(mettle_semaphore *semaphore, uint64_t value,
                      iree_status_t status) {
  mettle_wait *ended = NULL;
  mettle_wait **end = &ended;
  iree_slim_mutex_lock(&semaphore->device->mutex);
  while (semaphore->waits && semaphore->waits->value <= value) {
    mettle_wait *wait = semaphore->waits;
    mettle_semaphore_remove_wait(wait);
    *end = wait;
    end = &wait->next;
  }
  *end = NULL;
  iree_slim_mutex_unlock(&semaphore->device->mutex);
  while (ended) {
    mettle_wait *next = ended->next;
    mettle_wait_resolve(ended, iree_status_clone(status));
    ended = next;
  }
  mettle_steps_run();
}

// Drops a promise that has been kept: nobody needs to wait for its command
// buffer.
static void forget_promise(mettle_semaphore *semaphore, uint64_t value) {
  mtl_command_buffer *commands = NULL;
  iree_slim_mutex_lock(&semaphore->device->mutex);
  if (semaphore->promised <= value) {
    commands = semaphore->promise_commands;
    semaphore->promise_commands = NULL;
  }
  iree_slim_mutex_unlock(&semaphore->device->mutex);
  mtl_command_buffer_release(commands);  // -1
}

static iree_status_t semaphore_signal(iree_async_semaphore_t *base,
                                      uint64_t value,
                                      const iree_async_frontier_t *frontier) {
  mettle_semaphore *semaphore = (mettle_semaphore *)base;
  IREE_RETURN_IF_ERROR(
      iree_async_semaphore_advance_timeline(base, value, frontier));
  forget_promise(semaphore, value);
  mtl_event *event = event_of(semaphore);
  if (event) {
    (void)!mtl_event_signal(event, value);
  }
  iree_async_semaphore_dispatch_timepoints(base, value);
  end_waits(semaphore, value, iree_ok_status());
  return iree_ok_status();
}

static void semaphore_on_fail(iree_async_semaphore_t *base,
                              iree_status_code_t code) {
  (void)code;
  mettle_semaphore *semaphore = (mettle_semaphore *)base;
  iree_status_t failure = (iree_status_t)iree_atomic_load(
      &base->failure_status, iree_memory_order_acquire);
  end_waits(semaphore, UINT64_MAX, failure);
  forget_promise(semaphore, UINT64_MAX);
  mtl_event *event = event_of(semaphore);
  if (event) {
    (void)!mtl_event_signal(event, UINT64_MAX);
  }
}

iree_status_t mettle_semaphore_event(mettle_semaphore *semaphore,
                                     mtl_event **out_event) {
  *out_event = event_of(semaphore);
  if (*out_event) {
    return iree_ok_status();
  }
  mtl_event *event = NULL;
  IREE_RETURN_IF_ERROR(mettle_status(
      mtl_event_create(
          semaphore->device->device,
          &(mtl_event_desc){.shared = true,
                            .initial_value = mettle_semaphore_value(semaphore)},
          &event),
      "mtl_event_create"));
  intptr_t expected = 0;
  if (!iree_atomic_compare_exchange_strong(
          &semaphore->event, &expected, (intptr_t)event,
          iree_memory_order_seq_cst, iree_memory_order_seq_cst)) {
    mtl_event_release(event);
    *out_event = (mtl_event *)expected;
    return iree_ok_status();
  }
  // A signal between the two may have seen no event.
  (void)!mtl_event_signal(event, mettle_semaphore_value(semaphore));
  *out_event = event;
  return iree_ok_status();
}

iree_status_t mettle_hal_semaphore_export_event(iree_hal_semaphore_t *semaphore,
                                                mtl_event **out_event) {
  *out_event = NULL;
  if (!mettle_semaphore_isa(semaphore)) {
    return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                            "the semaphore is another driver's");
  }
  return mettle_semaphore_event((mettle_semaphore *)semaphore, out_event);
}

static void help_if_short(mettle_semaphore *semaphore) {
  mtl_command_buffer *commands = NULL;
  if (mettle_is_calling_back()) {
    return;
  }
  iree_slim_mutex_lock(&semaphore->device->mutex);
  if (semaphore->promise_is_short && semaphore->promise_queue &&
      mettle_queue_is_light(semaphore->promise_queue) &&
      semaphore->promised > mettle_semaphore_value(semaphore)) {
    commands = mtl_command_buffer_retain(semaphore->promise_commands);  // +1
  }
  iree_slim_mutex_unlock(&semaphore->device->mutex);
  if (commands) {
    (void)!mtl_command_buffer_wait(commands);
    mtl_command_buffer_release(commands);  // -1
  }
}

// Makes a thread that waits without a timeout run the queue that it waits for.
static void help(mettle_semaphore *semaphore, uint64_t value) {
  mtl_command_buffer *commands = NULL;
  iree_slim_mutex_lock(&semaphore->device->mutex);
  if (semaphore->promised >= value) {
    commands = mtl_command_buffer_retain(semaphore->promise_commands);  // +1
  }
  iree_slim_mutex_unlock(&semaphore->device->mutex);
  if (commands) {
    (void)!mtl_command_buffer_wait(commands);
    mtl_command_buffer_release(commands);  // -1
  }
}

static iree_status_t semaphore_wait(iree_hal_semaphore_t *base, uint64_t value,
                                    iree_timeout_t timeout,
                                    iree_async_wait_flags_t flags) {
  mettle_semaphore *semaphore = (mettle_semaphore *)base;
  if (iree_timeout_is_infinite(timeout) &&
      mettle_semaphore_value(semaphore) < value && !mettle_is_calling_back()) {
    help(semaphore, value);
  }
  iree_async_semaphore_t *async = &semaphore->async;
  return iree_async_semaphore_multi_wait(IREE_ASYNC_WAIT_MODE_ALL, &async,
                                         &value, 1, timeout, flags,
                                         semaphore->host_allocator);
}

// IREE itself handles what every driver supports, a file descriptor.
static iree_status_t import_timepoint(iree_hal_semaphore_t *base,
                                      uint64_t value,
                                      iree_hal_queue_affinity_t affinity,
                                      iree_hal_external_timepoint_t external) {
  (void)base;
  (void)value;
  (void)affinity;
  return iree_make_status(IREE_STATUS_UNIMPLEMENTED,
                          "timepoints of type %d are another driver's",
                          (int)external.type);
}

static iree_status_t export_timepoint(
    iree_hal_semaphore_t *base, uint64_t value,
    iree_hal_queue_affinity_t affinity, iree_hal_external_timepoint_type_t type,
    iree_hal_external_timepoint_flags_t flags,
    iree_hal_external_timepoint_t *IREE_RESTRICT out_external) {
  (void)base;
  (void)value;
  (void)affinity;
  (void)flags;
  (void)out_external;
  return iree_make_status(
      IREE_STATUS_UNIMPLEMENTED,
      "timepoints of type %d are another driver's; an event of Mettle's is "
      "mettle_hal_semaphore_export_event's",
      (int)type);
}

static const iree_hal_semaphore_vtable_t semaphore_vtable = {
    .async =
        {
            .destroy = semaphore_destroy,
            .query = semaphore_query,
            .signal = semaphore_signal,
            .on_fail = semaphore_on_fail,
        },
    .wait = semaphore_wait,
    .import_timepoint = import_timepoint,
    .export_timepoint = export_timepoint,
};
