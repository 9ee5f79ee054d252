// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// event.h: timelines that order work between queues and the host, and fences
// that order encoders.
#ifndef METTLE_EVENT_H
#define METTLE_EVENT_H

#include "device.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mtl_event mtl_event;
typedef struct mtl_fence mtl_fence;

#define MTL_WAIT_FOREVER UINT64_MAX

typedef struct mtl_event_desc {
  bool shared;             // the host may read, signal and wait, and so may
                           // queues of other devices (not to and from metal)
  uint64_t initial_value;  // shared only
  const char *label;       // copied; NULL for none
} mtl_event_desc;

// Makes an event: a 64-bit value that only rises. A wait for v ends when the
// value is at least v. Waits may be made before any signal exists.
//
// Ownership  The event is yours; it retains device.
// Threads    Any, for all functions on events.
// Source     Metal: -[MTLDevice newSharedEvent], newEvent
MTL_API MTL_MUST_USE mtl_status mtl_event_create(mtl_device *device,
                                                 const mtl_event_desc *desc,
                                                 mtl_event **out_event);
MTL_API mtl_event *mtl_event_retain(mtl_event *event);
MTL_API void mtl_event_release(mtl_event *event);

// Reads the value.
//
// Errors     MTL_INVALID_ARGUMENT  the event is not shared
// Source     Metal: -[MTLSharedEvent signaledValue]
MTL_API MTL_MUST_USE mtl_status mtl_event_value(const mtl_event *event,
                                                uint64_t *out_value);

// Raises the value from the host. A value not above the present one changes
// nothing.
MTL_API MTL_MUST_USE mtl_status mtl_event_signal(mtl_event *event,
                                                 uint64_t value);

// Waits on the calling thread until the value is at least value.
//
//   timeout_ns   0 only asks; MTL_WAIT_FOREVER never gives up
//
// Errors     MTL_TIMED_OUT  the text has the value asked for and the present
// Source     Metal: -[MTLSharedEvent waitUntilSignaledValue:timeoutMS:]
MTL_API MTL_MUST_USE mtl_status mtl_event_wait(mtl_event *event, uint64_t value,
                                               uint64_t timeout_ns);

typedef void mtl_event_callback(void *context, mtl_event *event,
                                uint64_t value);

// Calls back once when the value is at least value, at once if it already is,
// with the value reached, on a thread of Mettle's.
//
// Ownership  Retains the event until the callback has returned. An event that
//            is never signalled frees its listeners, uncalled, with itself.
// Source     Metal: -[MTLSharedEvent notifyListener:atValue:block:]
MTL_API MTL_MUST_USE mtl_status mtl_event_notify(mtl_event *event,
                                                 uint64_t value,
                                                 mtl_event_callback *callback,
                                                 void *context);

// Makes a fence: orders encoders of one queue over untracked buffers. An
// encoder that waits for it runs after those that updated it before, whichever
// command buffers they are in. Mettle's queues run their encoders in order in
// any case, so fences cost nothing here. Between queues use events.
//
// Source     Metal: -[MTLDevice newFence]
MTL_API MTL_MUST_USE mtl_status mtl_fence_create(mtl_device *device,
                                                 mtl_fence **out_fence);
MTL_API mtl_fence *mtl_fence_retain(mtl_fence *fence);
MTL_API void mtl_fence_release(mtl_fence *fence);

#ifdef __cplusplus
}
#endif
#endif
