// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// recording.h: the runtime's half of a command buffer, shared by
// command_buffer.c, completion.c and the encoders.
#ifndef MTLI_RECORDING_H
#define MTLI_RECORDING_H

#include "runtime/objects.h"
#include "runtime/record/inline_bytes.h"

// The progress of a committed command buffer: waiters sleep on it.
typedef enum mtli_progress {
  MTLI_PROGRESS_NONE = 0,
  MTLI_PROGRESS_SCHEDULED,
  MTLI_PROGRESS_EXECUTED,  // status and error are final
  MTLI_PROGRESS_DONE,      // and the completed callbacks have run
} mtli_progress;

typedef struct mtli_callback {
  struct mtli_callback *next;
  mtl_command_buffer_callback *function;
  void *context;
} mtli_callback;

// A residency set that a command buffer uses.
typedef struct mtli_used_set {
  struct mtli_used_set *next;
  mtl_residency_set *set;
} mtli_used_set;

enum { MTLI_SEEN_COUNT = 64 };  // a power of two

typedef struct mtli_work_times mtli_work_times;

typedef struct mtli_recording {
  mtl_command_buffer command_buffer;
  const mtli_driver *driver;
  char *label;               // under the device's lock; NULL for none
  _Atomic bool is_labelled;  // false while the label is NULL
  mtl_log_state *log_state;  // +1; NULL for none
  bool unretained_references;
  mtli_arena arena;  // commands and the memory that they point to, except
  mtli_tray *tray;   // values that kernels reach by address; NULL for none yet
  mtli_command *last_command;
  mtli_used_set *residency_sets;
  uint32_t residency_set_count;
  mtli_execute *executes;  // among the commands; the last one first
  // A buffer is used for as long as the list lives.
  mtl_buffer **buffers;  // [buffer_count] malloc'ed, +1 each unless unretained
  size_t buffer_count;
  size_t buffer_capacity;
  mtli_object *
      *objects;  // [object_count] malloc'ed, +1 each: pipelines, events
  size_t object_count;
  size_t object_capacity;
  // Objects retained lately, by a hash of their address, so that a thousand
  // dispatches with the same buffers retain them once.
  const void *seen[MTLI_SEEN_COUNT];
  mtli_work_times *work_times;  // NULL if nobody asks (counters.h)
  uint64_t commit_flow;         // of trace_work.c; 0 for none
  uint64_t wait_flow;
  uint16_t encoder_count;       // modulo 2^16
  bool is_encoding;             // an encoder is open
  bool is_enqueued;
  bool is_committed;
  // The first error of recording, or that of execution.
  mtl_status error;
  char *error_text;  // malloc'ed; NULL for none

  _Atomic uint32_t status;    // mtl_command_buffer_status
  _Atomic uint32_t progress;  // mtli_progress; a futex
  _Atomic uint32_t sleepers;  // threads asleep on it
  mtl_command_buffer_times times;
  mtli_callback *scheduled_callbacks;  // in the order added
  mtli_callback *completed_callbacks;
  mtli_callback *direct_callbacks;  // of completion, on the driver's thread
  mtli_task scheduled_task;
  mtli_task completed_task;
} mtli_recording;

static inline mtli_recording *mtli_recording_of(
    const mtl_command_buffer *command_buffer) {
  return (mtli_recording *)command_buffer;
}

// Keeps the first error of recording.
void mtli_recording_fail(mtli_recording *recording, mtl_status status,
                         const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// Records what orders work beside barriers of all memory, where there is a
// checker.
void mtli_recording_order(mtli_recording *recording, const mtl_order *order);
// The same for a fence, of all stages.
static inline void mtli_recording_fence(mtli_recording *recording,
                                        mtl_fence *fence, bool is_update) {
  mtli_recording_order(recording,
                       &(mtl_order){.kind = is_update ? MTL_ORDER_UPDATE_FENCE
                                                      : MTL_ORDER_WAIT_FENCE,
                                    .after = MTL_STAGES_ALL,
                                    .before = MTL_STAGES_ALL,
                                    .fence = fence});
}

// For the checker: the client has seen that a command buffer is completed, so
// its later work is ordered behind it.
void mtli_recording_seen(const mtl_command_buffer *command_buffer);

// Appends a command with room for the driver's part, or NULL: the recording
// has failed then.
mtli_command *mtli_recording_add(mtli_recording *recording,
                                 mtli_command_kind kind, bool is_ordered);

// Allocates from the list's memory, or fails the recording and returns NULL.
void *mtli_recording_allocate(mtli_recording *recording, size_t size_bytes);

// Has the list keep buffer (unless unretained) and lists it as used.
void mtli_recording_use_buffer(mtli_recording *recording, mtl_buffer *buffer);
// Has the list keep a pipeline, a texture or an event in any case.
void mtli_recording_keep(mtli_recording *recording, mtli_object *object);
// Has the list keep a texture (unless unretained) and list its memory as used.
void mtli_recording_use_texture(mtli_recording *recording,
                                mtl_texture *texture);
// Has the list keep a pipeline (unless unretained).
void mtli_recording_use_pipeline(mtli_recording *recording,
                                 mtl_pipeline *pipeline);

// Fails the recording and returns false unless object's device is the queue's.
bool mtli_recording_check_device(mtli_recording *recording,
                                 const mtl_device *device, const char *what);

// Opens an encoder; MTL_INVALID_STATE if that cannot be now.
mtl_status mtli_recording_open(mtli_recording *recording, const char *call);
// Closes it, and returns the recording's first error.
mtl_status mtli_recording_close(mtli_recording *recording);

// Retains the present members of the queue's and the command buffer's residency
// sets.
void mtli_recording_take_residents(mtli_recording *recording);

// Frees the list and releases its objects; the error text stays.
void mtli_recording_clear(mtli_recording *recording);

// Puts a command buffer into its queue's order, and takes it out again if it
// was never committed; queue.c.
void mtli_queue_enqueue(mtl_queue *queue, mtl_command_buffer *command_buffer);
void mtli_queue_forget(mtl_queue *queue, mtl_command_buffer *command_buffer);
// Submits the committed command buffers at the head of the queue.
void mtli_queue_commit(mtl_queue *queue, mtl_command_buffer *command_buffer);
// Waits for a free place among max_command_buffers, and gives it back.
mtl_status mtli_queue_enter(mtl_queue *queue);
void mtli_queue_leave(mtl_queue *queue);

// Returns how far the calling thread must wait for "completed".
mtli_progress mtli_recording_wanted(void);
// Fails if the queue cannot go on while the calling thread waits for it.
mtl_status mtli_queue_check_wait(const mtl_queue *queue, const char *call);
// Waits until progress is at least wanted; false if the deadline passed.
bool mtli_recording_wait(mtli_recording *recording, mtli_progress wanted,
                         uint64_t deadline_ns);

#endif
