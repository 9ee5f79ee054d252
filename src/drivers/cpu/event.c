// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// event.c: host-side events: a timeline each, with a hint of the queue that
// will signal it.
#include "drivers/cpu/cpu.h"

static mtli_timeline *timeline_of(mtl_event *event) {
  return &((cpu_event *)event)->timeline;
}

mtl_status cpu_event_create(mtl_event *event) {
  mtli_timeline_init(timeline_of(event), event->initial_value);
  return MTL_OK;
}

mtli_watcher *cpu_event_destroy(mtl_event *event) {
  cpu_check_event_destroyed(event);
  return mtli_timeline_end(timeline_of(event));
}

uint64_t cpu_event_value(mtl_event *event) {
  return mtli_timeline_value(timeline_of(event));
}

mtl_status cpu_event_signal(mtl_event *event, uint64_t value) {
  mtli_timeline_raise(timeline_of(event), value);
  return MTL_OK;
}

mtl_status cpu_event_signal_by_host(mtl_event *event, uint64_t value) {
  cpu_check_host_signals(event, value);
  return cpu_event_signal(event, value);
}

mtl_status cpu_event_wait(mtl_event *event, uint64_t value,
                          uint64_t timeout_ns) {
  // A client without a time limit meanwhile runs the queue that will signal.
  cpu_event *cpu = (cpu_event *)event;
  const uintptr_t signaller =
      atomic_load_explicit(&cpu->signaller, memory_order_relaxed);
  if (timeout_ns == MTL_WAIT_FOREVER && signaller &&
      mtli_timeline_value(&cpu->timeline) < value) {
    cpu_queue_help_towards(((cpu_device *)event->device)->pool, signaller,
                           &(cpu_goal){.event = cpu, .value = value});
  }
  return mtli_timeline_wait(timeline_of(event), value, timeout_ns)
             ? MTL_OK
             : MTL_TIMED_OUT;
}

bool cpu_event_notify(mtl_event *event, mtli_watcher *watcher) {
  return mtli_timeline_watch(timeline_of(event), watcher);
}
