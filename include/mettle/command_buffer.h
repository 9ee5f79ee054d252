// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// command_buffer.h: a list of work, recorded once and committed once.
//
// Everything that a command buffer uses is retained until it has completed,
// however early the client releases it, unless retained references are turned
// off. Recording calls return nothing: the command buffer keeps its first
// error, and mtl_command_buffer_commit returns it.
#ifndef METTLE_COMMAND_BUFFER_H
#define METTLE_COMMAND_BUFFER_H

#include "buffer.h"
#include "event.h"
#include "queue.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mtl_command_buffer mtl_command_buffer;

// Source     Metal: MTLCommandBufferStatus, same order
typedef enum mtl_command_buffer_status {
  MTL_COMMAND_BUFFER_NOT_ENQUEUED = 0,
  MTL_COMMAND_BUFFER_ENQUEUED,
  MTL_COMMAND_BUFFER_COMMITTED,
  MTL_COMMAND_BUFFER_SCHEDULED,
  MTL_COMMAND_BUFFER_COMPLETED,
  MTL_COMMAND_BUFFER_ERROR,
} mtl_command_buffer_status;

typedef struct mtl_command_buffer_desc {
  bool unretained_references;  // the client keeps what it uses alive
  const char *label;           // copied; NULL for none
  mtl_log_state *log_state;    // retained; NULL for the queue's
  uint64_t time_limit_ns;      // queue.h; 0 for the queue's
  bool times_work;  // tells when each piece of its work ran (counters.h), which
                    // takes two looks at a clock a piece; so if the queue does
} mtl_command_buffer_desc;

// Makes an empty command buffer on queue. Waits while the queue already has
// max_command_buffers that are not completed.
//
//   desc   NULL for the defaults
//
// Ownership  The command buffer is yours; it retains queue.
// Threads    One thread at a time per command buffer while recording; any
//            thread for status, wait and callbacks.
// Source     Metal: -[MTLCommandQueue commandBufferWithDescriptor:]
MTL_API MTL_MUST_USE mtl_status
mtl_command_buffer_create(mtl_queue *queue, const mtl_command_buffer_desc *desc,
                          mtl_command_buffer **out_command_buffer);
MTL_API mtl_command_buffer *mtl_command_buffer_retain(
    mtl_command_buffer *command_buffer);
// Releasing one that was never committed discards it.
MTL_API void mtl_command_buffer_release(mtl_command_buffer *command_buffer);

// Takes the next place in the queue's order; commit may come later. The queue
// runs nothing behind this place before then.
//
// Errors     MTL_INVALID_STATE  already enqueued
MTL_API MTL_MUST_USE mtl_status
mtl_command_buffer_enqueue(mtl_command_buffer *command_buffer);

// Hands the command buffer to its queue and returns at once.
//
// Errors     MTL_INVALID_STATE  committed before, or an encoder is still open
//            any other           the first error of recording; nothing runs,
//                                and the command buffer's status is ERROR
MTL_API MTL_MUST_USE mtl_status
mtl_command_buffer_commit(mtl_command_buffer *command_buffer);

// Ends a command buffer early: nothing more of it begins, and a kernel of it
// that runs is left, however long it would run. It then completes with
// MTL_CANCELLED, at its place in the queue: its events are signalled, waits for
// events left out, its callbacks called. One that is not yet committed, or
// waits for its turn, does nothing when its turn comes; one that has completed
// stays as it is. Host work and copies end at the piece that they are at.
//
// Threads    Any. Does not wait for the end: mtl_command_buffer_wait does.
// Errors     MTL_OUT_OF_MEMORY  no thread to see it through: only what has not
//                               begun is left out
MTL_API MTL_MUST_USE mtl_status
mtl_command_buffer_cancel(mtl_command_buffer *command_buffer);

// Waits until the command buffer has completed, and returns its error, MTL_OK
// if it has none. May be called any number of times.
//
// Errors     MTL_INVALID_STATE  not committed; or the caller is a deallocator
// that
//                               the command buffer's queue waits for
//            MTL_KERNEL_FAULT   the text names kernel, thread and address
//            MTL_TIMED_OUT      it ran for longer than its time limit
//            MTL_CANCELLED      mtl_command_buffer_cancel ended it
MTL_API MTL_MUST_USE mtl_status
mtl_command_buffer_wait(mtl_command_buffer *command_buffer);

// The same with a limit.
//
// Errors     MTL_TIMED_OUT  still running after timeout_ns, or it ran for
// longer
//                           than its time limit: the status tells which
MTL_API MTL_MUST_USE mtl_status mtl_command_buffer_wait_timeout(
    mtl_command_buffer *command_buffer, uint64_t timeout_ns);

// Waits until the queue has taken the command buffer up.
//
// Source     Metal: -[MTLCommandBuffer waitUntilScheduled]
MTL_API MTL_MUST_USE mtl_status
mtl_command_buffer_wait_scheduled(mtl_command_buffer *command_buffer);

// Tells how far the command buffer has come.
MTL_API mtl_command_buffer_status
mtl_command_buffer_get_status(const mtl_command_buffer *command_buffer);

// Returns the error's status and, in *out_text, its text ("" without one),
// valid as long as the command buffer. MTL_OK until it has failed.
MTL_API mtl_status mtl_command_buffer_error(
    const mtl_command_buffer *command_buffer, const char **out_text);

typedef void mtl_command_buffer_callback(void *context,
                                         mtl_command_buffer *command_buffer);

// Adds a function to call once the command buffer is scheduled or completed
// (failed ones complete too), in the order added, on a thread of Mettle's.
// wait returns only after the completed callbacks have run; called in a
// callback, it returns when the work has, for callbacks come one by one.
//
// Ownership  The command buffer is borrowed by the callback.
// Errors     MTL_INVALID_STATE  already committed
MTL_API MTL_MUST_USE mtl_status mtl_command_buffer_on_scheduled(
    mtl_command_buffer *command_buffer, mtl_command_buffer_callback *callback,
    void *context);
MTL_API MTL_MUST_USE mtl_status mtl_command_buffer_on_completed(
    mtl_command_buffer *command_buffer, mtl_command_buffer_callback *callback,
    void *context);

// The same for completion, called at once on the thread that finds the work
// done, before the callbacks of mtl_command_buffer_on_completed and without the
// wake of another thread: for who takes note and signals. Such a callback holds
// up the device: its queue stands still, and a thread that kernels need is not
// there. So it must be brief, and neither block nor wait for work. It may
// record and commit, signal events and release objects; what would wait for its
// own queue is MTL_INVALID_STATE.
//
// Threads    Any of the device's, or one of the client's that waits for
//            something. Callbacks of one queue come one by one.
// Errors     MTL_INVALID_STATE  already committed
MTL_API MTL_MUST_USE mtl_status mtl_command_buffer_on_completed_directly(
    mtl_command_buffer *command_buffer, mtl_command_buffer_callback *callback,
    void *context);

// Makes the command buffer depend on an earlier one of its queue: if that one
// fails, this one runs nothing but its signals and fails with MTL_CANCELLED.
// (The order of a queue alone runs what comes behind a failure all the same.)
// The host has no part in it: the work follows as without a dependency.
//
// Ownership  Retains earlier until the command buffer is done.
// Errors     MTL_INVALID_ARGUMENT  earlier is not committed or is of another
//                                  queue
//            MTL_INVALID_STATE     command_buffer is enqueued or committed
//            MTL_UNSUPPORTED       the device starts work before it knows
//                                  whether that before it failed (metal)
MTL_API MTL_MUST_USE mtl_status mtl_command_buffer_depend_on(
    mtl_command_buffer *command_buffer, mtl_command_buffer *earlier);

// Records a wait: nothing recorded later starts before event is at least
// value. It blocks the queue, never the caller.
//
// Ownership  Retains event.
// Source     Metal: -[MTLCommandBuffer encodeWaitForEvent:value:]
MTL_API void mtl_command_buffer_wait_event(mtl_command_buffer *command_buffer,
                                           mtl_event *event, uint64_t value);

// Records a signal: event rises to value once everything recorded earlier has
// finished. A command buffer that fails signals all the same, so that no other
// queue hangs; its own error tells.
MTL_API void mtl_command_buffer_signal_event(mtl_command_buffer *command_buffer,
                                             mtl_event *event, uint64_t value);

// A piece or a run of pieces of host work.
//
//   arguments  the recorded copy
//   addresses  [buffer_count] where each buffer's memory is for the device, its
//              offset added
//   scratch    [scratch_bytes] of this thread's, aligned to 64, not cleared
//   first,end  pieces first to end - 1
//
// Threads    Any of the device's threads, or a client's that waits; several at
//            a time, each with pieces of its own. It must not wait for other
//            work, nor start threads that outlive it.
typedef void mtl_host_work_function(const void *arguments,
                                    void *const *addresses, void *scratch,
                                    uint64_t first, uint64_t end);

// Work of the host's own at a place in a queue's order: what a library does
// better than a kernel. No limit but memory; 0 pieces do nothing.
typedef struct mtl_host_work {
  const char *name;  // for errors; copied
  mtl_host_work_function *function;
  const void *arguments;  // [arguments_bytes] copied, aligned to 16
  size_t arguments_bytes;
  mtl_buffer *const *buffers;   // [buffer_count]
  const size_t *offsets_bytes;  // [buffer_count] within each buffer
  uint32_t buffer_count;
  size_t scratch_bytes;
  uint64_t piece_count;
  // About how long a piece takes; the device's threads share at once what is
  // worth it. 0: not known, it is measured.
  uint64_t piece_ns;
} mtl_host_work;

// Records host work. It starts when all that was recorded earlier has finished,
// and what is recorded later waits for it. Its pieces run in any order on the
// device's own threads; it sees the device's memory as kernels do.
//
// Ownership  Retains the buffers until the work has finished.
// Errors     MTL_UNSUPPORTED       the device's info says !runs_host_work
//            MTL_INVALID_ARGUMENT  an offset past a buffer's end
//            MTL_KERNEL_FAULT      of the command buffer: it touched memory
//                                  that is not there
// Source     CUDA: cuLaunchHostFunc, with pieces
MTL_API void mtl_command_buffer_host_work(mtl_command_buffer *command_buffer,
                                          const mtl_host_work *work);

// Hands work to the device's own interface: what a library of the device's
// maker does.
//
//   arguments     the recorded copy
//   addresses     [buffer_count] where each buffer's memory is for the device,
//                 its offset added
//   native_queue  of the device's interface: what is put on it runs behind all
//                 that was recorded earlier. cuda: a CUstream, whose context is
//                 the thread's
//
// Returns a failure for the command buffer to have, with its text (mtl_fail).
//
// Threads    One of the device's threads, or a client's that waits. It must not
//            wait for the work.
typedef mtl_status mtl_native_work_function(const void *arguments,
                                            const uint64_t *addresses,
                                            void *native_queue);

// Work of the device's own at a place in a queue's order.
typedef struct mtl_native_work {
  const char *name;  // for errors; copied
  mtl_native_work_function *function;
  const void *arguments;  // [arguments_bytes] copied, aligned to 16
  size_t arguments_bytes;
  mtl_buffer *const *buffers;   // [buffer_count]
  const size_t *offsets_bytes;  // [buffer_count] within each buffer
  uint32_t buffer_count;
} mtl_native_work;

// Records native work. It starts when all that was recorded earlier has
// finished, and what is recorded later waits for it.
//
// Ownership  Retains the buffers until the work has finished.
// Errors     MTL_UNSUPPORTED       the device's info says !runs_native_work
//            MTL_INVALID_ARGUMENT  an offset past a buffer's end
// Source     CUDA: any call that takes a stream
MTL_API void mtl_command_buffer_native_work(mtl_command_buffer *command_buffer,
                                            const mtl_native_work *work);

// Times of CLOCK_MONOTONIC in nanoseconds, 0 until known: when the queue took
// the command buffer up (kernel) and when its work ran (device). Compiling code
// for the first dispatch counts as the former.
//
// Source     Metal: kernelStartTime, kernelEndTime, GPUStartTime, GPUEndTime
typedef struct mtl_command_buffer_times {
  uint64_t kernel_start_ns;
  uint64_t kernel_end_ns;
  uint64_t device_start_ns;
  uint64_t device_end_ns;
} mtl_command_buffer_times;
MTL_API mtl_command_buffer_times
mtl_command_buffer_get_times(const mtl_command_buffer *command_buffer);

// Sets the label shown in errors and timelines; copied, NULL for none. Labels
// returned are valid until the next set_label, and "" if there is none.
MTL_API void mtl_command_buffer_set_label(mtl_command_buffer *command_buffer,
                                          const char *label);
MTL_API const char *mtl_command_buffer_label(
    const mtl_command_buffer *command_buffer);
MTL_API mtl_queue *mtl_command_buffer_queue(
    const mtl_command_buffer *command_buffer);  // borrowed

#ifdef __cplusplus
}
#endif
#endif
