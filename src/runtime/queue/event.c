// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// event.c: checks for events and fences, and the listeners of events.
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>

#include "check/check.h"
#include "runtime/objects.h"

// One mtl_event_notify: a watcher in the driver until the value is reached,
// then a task in the event's lane.
typedef struct listener {
  mtli_watcher watcher;  // first: the driver hands it back
  mtli_task task;
  mtl_event *event;  // +1 once reached
  uint64_t value;
  mtl_event_callback *callback;
  void *context;
} listener;

static void event_destroy(mtli_object *object) {
  mtl_event *event = (mtl_event *)object;
  mtl_device *device = event->device;
  mtli_watcher *rest = device->driver->event_destroy(event);
  while (rest) {
    mtli_watcher *next = rest->next;
    free(rest);
    rest = next;
  }
  mtli_lane_end(event->lane);
  free(event->label);
  free(event);
  mtl_device_release(device);  // -1
}

mtl_status mtl_event_create(mtl_device *device, const mtl_event_desc *desc,
                            mtl_event **out_event) {
  if (!device || !out_event) {
    return mtli_fail(MTL_INVALID_ARGUMENT, "mtl_event_create: %s is NULL",
                     device ? "out_event" : "device");
  }
  *out_event = NULL;
  MTL_TRY(mtli_device_check(device));
  static const mtl_event_desc defaults;
  desc = desc ? desc : &defaults;
  if (desc->initial_value && !desc->shared) {
    return mtli_fail(MTL_INVALID_ARGUMENT,
                     "mtl_event_create: initial value %" PRIu64
                     " needs a shared event",
                     desc->initial_value);
  }
  mtl_event *event = calloc(1, device->driver->event_bytes);
  if (!event) {
    return mtli_fail(MTL_OUT_OF_MEMORY, "no memory for an event");
  }
  mtli_object_init(&event->object, event_destroy);
  event->device = device;
  event->is_shared = desc->shared;
  event->initial_value = desc->initial_value;
  event->label = mtli_label_copy(desc->label);
  event->lane = mtli_lane_create();
  const mtl_status status =
      event->lane ? device->driver->event_create(event)
                  : mtli_fail(MTL_OUT_OF_MEMORY, "no memory for an event");
  if (status != MTL_OK) {
    mtli_lane_end(event->lane);
    free(event->label);
    free(event);
    return status;
  }
  mtl_device_retain(device);  // +1
  *out_event = event;
  return MTL_OK;
}

mtl_event *mtl_event_retain(mtl_event *event) {
  if (event) {
    mtli_object_retain(&event->object);
  }
  return event;
}

void mtl_event_release(mtl_event *event) {
  if (event) {
    mtli_object_release(&event->object);
  }
}

// Checks the requirements of every host call on an event.
static mtl_status check_host_use(const mtl_event *event, const char *call) {
  if (!event) {
    return mtli_fail(MTL_INVALID_ARGUMENT, "%s: event is NULL", call);
  }
  MTL_TRY(mtli_device_check(event->device));
  if (!event->is_shared) {
    return mtli_fail(MTL_INVALID_ARGUMENT,
                     "%s: event '%s' is not shared, so the host cannot use it",
                     call, event->label ? event->label : "");
  }
  return MTL_OK;
}

// The host has seen an event's value: work before the signal is ordered before
// everything that the host does next.
static void note_seen(const mtl_event *event, uint64_t value) {
  if (mtli_check_is_on()) {
    mtli_check_host_waited((uintptr_t)event, value);
  }
}

mtl_status mtl_event_value(const mtl_event *event, uint64_t *out_value) {
  if (!out_value) {
    return mtli_fail(MTL_INVALID_ARGUMENT,
                     "mtl_event_value: out_value is NULL");
  }
  *out_value = 0;
  MTL_TRY(check_host_use(event, "mtl_event_value"));
  // The slot takes no const: reading may need the driver's lock.
  *out_value = event->device->driver->event_value((mtl_event *)event);
  note_seen(event, *out_value);
  return MTL_OK;
}

mtl_status mtl_event_signal(mtl_event *event, uint64_t value) {
  MTL_TRY(check_host_use(event, "mtl_event_signal"));
  return event->device->driver->event_signal(event, value);
}

mtl_status mtl_event_wait(mtl_event *event, uint64_t value,
                          uint64_t timeout_ns) {
  MTL_TRY(check_host_use(event, "mtl_event_wait"));
  const mtli_driver *driver = event->device->driver;
  const mtl_status status = driver->event_wait(event, value, timeout_ns);
  if (status == MTL_TIMED_OUT) {
    return mtli_fail(MTL_TIMED_OUT,
                     "event '%s' has value %" PRIu64 ", not yet %" PRIu64
                     ", after %" PRIu64 " ns",
                     event->label ? event->label : "",
                     driver->event_value(event), value, timeout_ns);
  }
  if (status == MTL_OK) {
    note_seen(event, value);
  }
  return status;
}

static void listener_run(mtli_task *task) {
  listener *ear = (listener *)((char *)task - offsetof(listener, task));
  note_seen(ear->event, ear->value);
  ear->callback(ear->context, ear->event, ear->value);
  mtl_event_release(ear->event);  // -1
  free(ear);
}

static void listener_reached(mtli_watcher *watcher, uint64_t value) {
  listener *ear = (listener *)watcher;
  ear->value = value;
  mtl_event_retain(ear->event);  // +1
  mtli_lane_post(ear->event->lane, &ear->task);
}

mtl_status mtl_event_notify(mtl_event *event, uint64_t value,
                            mtl_event_callback *callback, void *context) {
  MTL_TRY(check_host_use(event, "mtl_event_notify"));
  if (!callback) {
    return mtli_fail(MTL_INVALID_ARGUMENT,
                     "mtl_event_notify: callback is NULL");
  }
  listener *ear = calloc(1, sizeof *ear);
  if (!ear) {
    return mtli_fail(MTL_OUT_OF_MEMORY, "no memory for a listener");
  }
  *ear = (listener){
      .watcher = {.threshold = value, .reached = listener_reached},
      .task = {.run = listener_run},
      .event = event,
      .callback = callback,
      .context = context,
  };
  const mtli_driver *driver = event->device->driver;
  if (!driver->event_notify(event, &ear->watcher)) {
    listener_reached(&ear->watcher, driver->event_value(event));
  }
  return MTL_OK;
}

static void fence_destroy(mtli_object *object) {
  mtl_fence *fence = (mtl_fence *)object;
  mtl_device *device = fence->device;
  if (mtli_check_is_on()) {
    mtli_check_fence_ends((uintptr_t)fence);
  }
  free(fence);
  mtl_device_release(device);  // -1
}

mtl_status mtl_fence_create(mtl_device *device, mtl_fence **out_fence) {
  if (!device || !out_fence) {
    return mtli_fail(MTL_INVALID_ARGUMENT, "mtl_fence_create: %s is NULL",
                     device ? "out_fence" : "device");
  }
  *out_fence = NULL;
  MTL_TRY(mtli_device_check(device));
  mtl_fence *fence = calloc(1, sizeof *fence);
  if (!fence) {
    return mtli_fail(MTL_OUT_OF_MEMORY, "no memory for a fence");
  }
  mtli_object_init(&fence->object, fence_destroy);
  fence->device = mtl_device_retain(device);  // +1
  *out_fence = fence;
  return MTL_OK;
}

mtl_fence *mtl_fence_retain(mtl_fence *fence) {
  if (fence) {
    mtli_object_retain(&fence->object);
  }
  return fence;
}

void mtl_fence_release(mtl_fence *fence) {
  if (fence) {
    mtli_object_release(&fence->object);
  }
}
