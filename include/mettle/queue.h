// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// queue.h: runs command buffers in the order of their commits.
#ifndef METTLE_QUEUE_H
#define METTLE_QUEUE_H

#include "log.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mtl_queue mtl_queue;

// As many command buffers as memory has room for: creating one never waits.
#define MTL_UNLIMITED_COMMAND_BUFFERS UINT32_MAX

typedef struct mtl_queue_desc {
  uint32_t max_command_buffers;  // not yet completed, at the most; creating one
                                 // more waits. 0 means 64, as Metal
  const char *label;             // copied; NULL for none
  mtl_log_state *log_state;      // retained, for its command buffers that have
                                 // none of their own; NULL for none
  uint64_t time_limit_ns;        // for its command buffers that have none of
                                 // their own; 0 for that of the environment
  bool times_work;               // all its command buffers tell when each
                                 // piece of their work ran (counters.h)
  bool is_ordered_by_barriers;   // as below
} mtl_queue_desc;

// A queue that is ordered by barriers tracks no hazards, whatever the hazard
// tracking of its buffers: commands, encoders and command buffers may run
// concurrently unless mtl_compute_encoder_order, an event or the host orders
// them. All its compute encoders are concurrent. Mettle runs its encoders one
// after another.
//
// Source     Metal: MTL4CommandQueue, whose resources are all untracked

// How long a command buffer's work may run, measured from when its queue takes
// it up; the time that it waits for events, or for code to be compiled, does
// not count. One that has run for longer ends with MTL_TIMED_OUT, and the text
// names the kernel and its line: its other commands are skipped, its events
// signalled, and the queue goes on with the next. What the kernel had written
// stays written. METTLE_KERNEL_SECONDS, a number above 0, is the limit of
// queues without one; without the variable there is none.
//
// Source     Metal: the watchdog of GPUs,
// kIOGPUCommandBufferCallbackErrorTimeout
#define MTL_NO_TIME_LIMIT UINT64_MAX  // none, whatever the environment says

// Makes a queue. Queues of a device run side by side; each keeps its order.
//
// Ownership  The queue is yours; it retains device. Command buffers retain
//            their queue, so releasing it while work is in flight is fine.
// Threads    Any; command buffers may be committed from any thread.
// Source     Metal: -[MTLDevice newCommandQueueWithMaxCommandBufferCount:]
MTL_API MTL_MUST_USE mtl_status mtl_queue_create(mtl_device *device,
                                                 const mtl_queue_desc *desc,
                                                 mtl_queue **out_queue);
MTL_API mtl_queue *mtl_queue_retain(mtl_queue *queue);
MTL_API void mtl_queue_release(mtl_queue *queue);
MTL_API mtl_device *mtl_queue_device(const mtl_queue *queue);  // borrowed
MTL_API void mtl_queue_set_label(mtl_queue *queue, const char *label);
MTL_API const char *mtl_queue_label(const mtl_queue *queue);

#ifdef __cplusplus
}
#endif
#endif
