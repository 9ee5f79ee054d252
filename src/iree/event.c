// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// event.c: events within a command buffer. A wait for an event is encoded as a
// full barrier, which is stronger, so an event has no state.
#include "mettle_hal.h"

typedef struct mettle_event {
  iree_hal_resource_t resource;
  iree_allocator_t host_allocator;
} mettle_event;

static const iree_hal_event_vtable_t event_vtable;

iree_status_t mettle_event_create(iree_allocator_t host_allocator,
                                  iree_hal_event_t **out_event) {
  mettle_event *event = NULL;
  IREE_RETURN_IF_ERROR(
      iree_allocator_malloc(host_allocator, sizeof *event, (void **)&event));
  iree_hal_resource_initialize(&event_vtable, &event->resource);
  event->host_allocator = host_allocator;
  *out_event = (iree_hal_event_t *)event;
  return iree_ok_status();
}

static void event_destroy(iree_hal_event_t *base) {
  mettle_event *event = (mettle_event *)base;
  iree_allocator_free(event->host_allocator, event);
}

static const iree_hal_event_vtable_t event_vtable = {.destroy = event_destroy};
