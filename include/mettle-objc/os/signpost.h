// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// signpost.h: intervals and events for a profiler, which is not here: they are
// nothing. docs/tracing.md has the timelines of Mettle.
#ifndef METTLE_OBJC_OS_SIGNPOST_H
#define METTLE_OBJC_OS_SIGNPOST_H

#include <os/log.h>

typedef uint64_t os_signpost_id_t;
#define OS_SIGNPOST_ID_NULL ((os_signpost_id_t)0)
#define OS_SIGNPOST_ID_INVALID (~(os_signpost_id_t)0)
#define OS_SIGNPOST_ID_EXCLUSIVE ((os_signpost_id_t)0xEEEEB0B5B2B2EEEE)

static inline os_signpost_id_t os_signpost_id_generate(os_log_t log) {
  (void)log;
  return 1;
}
static inline os_signpost_id_t os_signpost_id_make_with_pointer(
    os_log_t log, const void *pointer) {
  (void)log;
  return (os_signpost_id_t)(uintptr_t)pointer;
}
static inline bool os_signpost_enabled(os_log_t log) {
  (void)log;
  return false;
}
#define os_signpost_interval_begin(log, id, name, ...) ((void)(log), (void)(id))
#define os_signpost_interval_end(log, id, name, ...) ((void)(log), (void)(id))
#define os_signpost_event_emit(log, id, name, ...) ((void)(log), (void)(id))

#endif
