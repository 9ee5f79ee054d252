// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// event.c: host-side events with a hint of the queue that will signal them.
#include "drivers/cpu/cpu.h"

mtli_watcher *cpu_event_destroy(mtl_event *event) {
  cpu_check_event_destroyed(event);
  return mtli_host_event_destroy(event);
}

mtl_status cpu_event_signal(mtl_event *event, uint64_t value) {
  cpu_check_host_signals(event, value);
  return mtli_host_event_signal(event, value);
}

mtl_status cpu_event_wait(mtl_event *event, uint64_t value,
                          uint64_t timeout_ns) {
  // A client without a time limit meanwhile runs the queue that will signal.
  cpu_event *cpu = (cpu_event *)event;
  const uintptr_t signaller =
      atomic_load_explicit(&cpu->signaller, memory_order_relaxed);
  if (timeout_ns == MTL_WAIT_FOREVER && signaller &&
      mtli_host_event_value(event) < value) {
    cpu_queue_help_towards(((cpu_device *)event->device)->pool, signaller,
                           &(cpu_goal){.event = &cpu->base, .value = value});
  }
  return mtli_host_event_wait(event, value, timeout_ns);
}
