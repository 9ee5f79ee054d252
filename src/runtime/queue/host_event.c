// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// host_event.c: events whose signals arrive on the host: a timeline each.
// Drivers that have nothing faster point at these slots.
#include "runtime/driver.h"

static mtli_timeline *timeline_of(mtl_event *event) {
  return &((mtli_host_event *)event)->timeline;
}

mtl_status mtli_host_event_create(mtl_event *event) {
  mtli_timeline_init(timeline_of(event), event->initial_value);
  return MTL_OK;
}

mtli_watcher *mtli_host_event_destroy(mtl_event *event) {
  return mtli_timeline_end(timeline_of(event));
}

uint64_t mtli_host_event_value(mtl_event *event) {
  return mtli_timeline_value(timeline_of(event));
}

mtl_status mtli_host_event_signal(mtl_event *event, uint64_t value) {
  mtli_timeline_raise(timeline_of(event), value);
  return MTL_OK;
}

mtl_status mtli_host_event_wait(mtl_event *event, uint64_t value,
                                uint64_t timeout_ns) {
  return mtli_timeline_wait(timeline_of(event), value, timeout_ns)
             ? MTL_OK
             : MTL_TIMED_OUT;
}

bool mtli_host_event_notify(mtl_event *event, mtli_watcher *watcher) {
  return mtli_timeline_watch(timeline_of(event), watcher);
}
