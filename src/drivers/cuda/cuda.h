// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cuda.h: the cuda driver's objects and slots: NVIDIA GPUs by their driver API
// alone (docs/cuda.md).
//
// A queue is a stream. Two threads serve it, or a client that waits does their
// work: one submits commands to the stream, the other waits for completions.
#ifndef CUDA_H
#define CUDA_H

#include "base/memory/pages.h"
#include "code/ptx_abi.h"
#include "drivers/cuda/api.h"
#include "runtime/driver.h"

// --- memory ------------------------------------------------------------------

// Suballocates large allocations: pieces of a power of two, which are reused
// for the same size.
enum {
  CUDA_LEAST_PIECE_SHIFT = 8,   // 256 bytes
  CUDA_LARGEST_PIECE_SHIFT = 20,
  CUDA_SMALL_BYTES = 64 * 1024,  // shared buffers up to here are pinned
  CUDA_PIECE_SIZES = CUDA_LARGEST_PIECE_SHIFT - CUDA_LEAST_PIECE_SHIFT + 1,
};
typedef struct cuda_free_piece {
  struct cuda_free_piece *next;
  uint64_t address;
} cuda_free_piece;
typedef struct cuda_slabs {
  pthread_mutex_t lock;
  bool is_host;  // pinned memory of the host that the GPU sees; else the GPU's
  cuda_free_piece *free[CUDA_PIECE_SIZES];
  uint64_t *allocations;  // [count]
  size_t *sizes_bytes;    // [count]
  size_t count;
} cuda_slabs;

// Takes a piece of at least bytes. Its address is the GPU's, or both sides'.
mtl_status cuda_piece_take(cuda_slabs *slabs, size_t bytes,
                           uint64_t *out_address);
void cuda_piece_give(cuda_slabs *slabs, size_t bytes, uint64_t address);
void cuda_slabs_init(cuda_slabs *slabs, bool is_host);
// Calls add with each range of the slabs' allocations, used or free.
void cuda_slabs_add_ranges(cuda_slabs *slabs,
                           void (*add)(void *context, uint64_t address,
                                       uint64_t bytes),
                           void *context);
void cuda_slabs_end(cuda_slabs *slabs, bool is_inherited);

typedef enum cuda_home {
  CUDA_NOWHERE,
  CUDA_PINNED,    // a piece of pinned slabs
  CUDA_MANAGED,   // pages that move to whoever touches them
  CUDA_PIECE,     // a piece of the GPU's slabs
  CUDA_CLIENTS,   // the client's memory, pinned when a kernel may use it
  CUDA_OTHERS,  // memory of the GPU that other libraries allocated
  CUDA_PART,      // of another buffer
} cuda_home;

typedef struct cuda_pinning cuda_pinning;

typedef struct cuda_buffer {
  mtl_buffer buffer;
  cuda_home home;
  mtli_pages host;  // the host's copy of a managed buffer
  uint64_t allocation;  // of one that moves: the allocation that it is a part
                        // of, for pages
  _Atomic bool was_prefetched;
  _Atomic bool is_pinned;  // of the client's memory; set under a lock
  cuda_pinning *pinning;   // that it shares with others; NULL if none is ours
} cuda_buffer;

// True if the client's memory is not pinned yet: copies take their time, and
// kernels cannot use it.
bool cuda_client_memory_is_pageable(const mtl_buffer *buffer);
// Pins the memory of a buffer, or of what it is a part of, if it is the
// client's.
mtl_status cuda_client_memory_pin(mtl_buffer *buffer);
// Makes a buffer over no_copy_bytes in shared storage, and ends it.
mtl_status cuda_client_memory_create(cuda_buffer *made,
                                     const mtl_buffer_desc *desc);
void cuda_client_memory_destroy(cuda_buffer *buffer);
// Returns the root buffer of a sub-buffer, through nested ones, or the buffer
// itself.
cuda_buffer *cuda_buffer_whole(const mtl_buffer *part);
// True if the host cannot access the buffer's memory at its gpu_address.
bool cuda_buffer_is_hidden(const mtl_buffer *buffer);

typedef struct cuda_texture {
  mtl_texture texture;
  uint64_t piece;
} cuda_texture;

// --- devices -----------------------------------------------------------------

typedef struct cuda_device {
  mtl_device device;
  CUdevice gpu;
  CUcontext context;
  CUstream stream;  // for copies to new buffers, which belong to no queue
  pthread_mutex_t stream_lock;
  bool shares_addresses;  // pinned memory has the host's addresses
  char target[48];
  char architecture[16];
  cuda_slabs pinned, memory;
  pthread_mutex_t srgb_lock;
  uint64_t srgb;  // an mtli_srgb_tables of the GPU's; 0 until it is needed
  CUmodule clock_module;
  cuda_slabs descriptors;  // of textures
  CUfunction clock;  // writes the GPU's time to an address
  uint64_t *clock_word;  // pinned
  // The count of unloaded codes: graphs made earlier may contain their
  // functions.
  _Atomic uint64_t unloaded_count;
} cuda_device;

static inline cuda_device *cuda_device_of(mtl_device *device) {
  return (cuda_device *)device;
}

// Makes the device's context current on this thread until cuda_leave.
void cuda_enter(const cuda_device *device);
void cuda_leave(void);

// Returns the first fault, or NULL: after a fault CUDA is lost for the process.
const char *cuda_lost_text(void);
void cuda_set_lost(const char *text);
// Converts a result: MTL_OK, or a failure that names the call. A failure that
// loses CUDA is remembered.
mtl_status cuda_done(CUresult result, const char *what);

// Copy and clear synchronously.
mtl_status cuda_write(cuda_device *device, uint64_t target, const void *source,
                      size_t bytes);
mtl_status cuda_read(cuda_device *device, void *target, uint64_t source,
                     size_t bytes);
mtl_status cuda_clear(cuda_device *device, uint64_t target, size_t bytes);

// --- pipelines ---------------------------------------------------------------

typedef enum cuda_class {
  CUDA_WHOLE,   // full threadgroups of whole simdgroups
  CUDA_FULL,    // full threadgroups
  CUDA_UNEVEN,  // any
  CUDA_CLASSES,
} cuda_class;

typedef struct cuda_code {
  CUmodule module;
  CUfunction function;
  bool may_stop;  // has assertions or traps, or checks accesses
  bool asks;  // made for debugging: each access checks whether it is allowed
} cuda_code;

typedef struct cuda_pipeline {
  mtl_pipeline pipeline;
  pthread_mutex_t lock;  // of making codes
  cuda_code codes[CUDA_CLASSES];
  _Atomic bool is_ready[CUDA_CLASSES];
} cuda_pipeline;

// Finds the code for a dispatch, or compiles it.
mtl_status cuda_code_find(cuda_pipeline *pipeline, const uint32_t grid[3],
                          const uint32_t group[3], const cuda_code **out_code);

// --- queues ------------------------------------------------------------------

// An event recorded on the stream; reused when it is free.
typedef struct cuda_mark {
  struct cuda_mark *next;
  CUevent event;
  bool is_timed;      // it costs the stream 1.6 us more
  uint64_t sequence;  // the least value of the worker's word once this is done;
                      // 0 if only the event tells
} cuda_mark;

// The purpose of a mark.
typedef enum cuda_mark_kind {
  CUDA_MARK_PLACE,  // to be waited for
  CUDA_MARK_TIME,   // and to tell when
  CUDA_MARK_END,  // of a command buffer: both, and threads look for it
} cuda_mark_kind;

// One launch of a kernel for which the host has nothing to do.
typedef struct cuda_node {
  CUfunction function;
  uint32_t grid[3];
  uint32_t block[3];
  uint32_t shared_bytes;
  uint32_t parameter_bytes;
} cuda_node;

// Consecutive launches, with their parameters in one array.
typedef struct cuda_launches {
  cuda_node *nodes;  // [count]
  char *parameters;  // [parameter_bytes]
  size_t count, capacity;
  size_t parameter_bytes, parameter_capacity;
} cuda_launches;

typedef struct cuda_graphs cuda_graphs;

typedef enum cuda_step_kind {
  CUDA_STEP_TIMES,
  CUDA_STEP_SIGNAL,
  CUDA_STEP_END,
} cuda_step_kind;

// What the host does when the stream has reached a mark.
typedef struct cuda_step {
  struct cuda_step *next;
  cuda_step_kind kind;
  cuda_mark *start;  // for times and the end; NULL if nothing ran
  uint64_t start_ns;  // the host's time if start is NULL; 0 if nothing ran
  cuda_mark *mark;   // the place; NULL: at once
  mtl_command_buffer *command_buffer;
  mtl_event *event;  // of a signal, and its value
  uint64_t value;
  mtli_command_times *times;
} cuda_step;

// A piece of memory that a command buffer uses until it has ended.
typedef struct cuda_loan {
  struct cuda_loan *next;
  cuda_slabs *slabs;
  size_t bytes;
  uint64_t address;
} cuda_loan;

// The driver's part of a command buffer.
typedef struct cuda_list {
  cuda_loan *loans;
  mtli_ptx_fault *fault;  // pinned; NULL without dispatches
  struct mtli_log_header *log;  // pinned; NULL without a log
  size_t log_bytes;
  struct text *texts;  // that messages name, until they are delivered
  uint64_t begun_ns;  // when some of it may be on the stream; 0 before
  bool is_marked;  // its times are measured by marks
  bool is_started;    // start or start_ns is set
  cuda_mark *start;  // the place where the GPU begins with it
  uint64_t start_ns;  // or the time, if the GPU was idle
  bool is_command_timed;  // the command being handed over
  cuda_mark *command_start;  // where the GPU begins with that command; NULL
                             // before
  mtl_status status;
  char *text;  // malloc'ed
  const mtl_pipeline *stopped;  // the pipeline that stopped itself
  const mtli_dispatch *dispatch;  // its dispatch, while it is examined
} cuda_list;

typedef struct cuda_worker {
  mtli_object object;  // a reference of the queue, one of each thread
  cuda_device *device;
  CUstream stream;
  pthread_t threads[2];
  pthread_mutex_t lock;
  pthread_cond_t submitted, stepped;
  mtl_command_buffer *first, *last;  // not taken up
  cuda_step *first_step, *last_step;
  bool is_submitting, is_stepping;  // someone is
  bool is_ending;
  uint32_t sleepers[2];
  uint32_t helpers;  // clients that wait, and step
  // Counts what there may be to do for someone. Threads look at it all the
  // time: so it shares no line with what others write.
  char before_news[64];
  _Atomic uint32_t news;
  char behind_news[64];
  cuda_mark *free_marks[2];  // timed ones second
  _Atomic uint64_t *word;    // pinned: the last end that the stream has passed
  // Of the submitting thread:
  uint64_t sequence;  // of the last end
  bool has_no_words;  // the stream failed to write one at some end
  cuda_launches launches;
  cuda_graphs *graphs;  // NULL until there is one
  // Of the stepping thread: a moment known by both clocks.
  CUevent anchor;
  uint64_t anchor_ns;
} cuda_worker;

typedef struct cuda_queue {
  mtl_queue queue;
  cuda_worker *worker;
} cuda_queue;

cuda_mark *cuda_mark_place(cuda_worker *worker, cuda_mark_kind kind);
// True if the stream has completed all its work. Call while submitting.
bool cuda_stream_is_idle(const cuda_worker *worker);
void cuda_mark_free(cuda_worker *worker, cuda_mark *mark);
// Appends a copy of step.
void cuda_step_add(cuda_worker *worker, const cuda_step *step);
// Waits for the step's mark, performs the step and frees it.
void cuda_step_do(cuda_worker *worker, cuda_step *step);
// Notifies threads that spin for work. The worker's lock is held.
void cuda_worker_tell_news(cuda_worker *worker);
// Wakes the thread that performs steps, unless a client is about to. The
// worker's lock is held.
void cuda_worker_wake_stepper(cuda_worker *worker);
// Submits a command buffer's commands to the stream and adds its steps.
void cuda_commands_run(cuda_worker *worker, mtl_command_buffer *command_buffer);
// Submits the worker's launches: as a graph if the same ones came before, else
// one by one. The worker then forgets them.
CUresult cuda_launches_run(cuda_worker *worker);
CUresult cuda_launch(cuda_worker *worker, const cuda_node *node,
                     const void *parameters);
// Adds a launch with room for its parameters; NULL if out of memory.
cuda_node *cuda_launches_add(cuda_launches *launches, size_t parameter_bytes,
                             void **out_parameters);
// Frees graphs and launches; in a forked child their host memory alone.
void cuda_graphs_free(cuda_worker *worker, bool is_inherited);

// Records a command buffer's first failure.
void cuda_list_fail(cuda_list *list, mtl_status status, const char *text);
// Gives back the memory that a command buffer has borrowed.
void cuda_list_settle(cuda_list *list);
// Fails the list with the record of a kernel that stopped itself.
void cuda_fault_note(cuda_worker *worker, cuda_list *list);
// Moves the kernels' log messages to the command buffer's own memory.
void cuda_log_take(cuda_worker *worker, mtl_command_buffer *command_buffer);
void cuda_log_forget(cuda_list *list);

// --- slots -------------------------------------------------------------------

mtli_device_count_fn cuda_device_count;
mtli_device_name_fn cuda_device_name;
mtli_device_is_listed_fn cuda_device_is_listed;
mtli_device_open_fn cuda_device_open;
mtli_device_close_fn cuda_device_close;
mtli_device_family_fn cuda_device_family;
mtli_device_code_target_fn cuda_device_code_target;
mtli_device_timestamps_fn cuda_device_timestamps;
mtli_device_reach_fn cuda_device_reach;
mtli_buffer_create_fn cuda_buffer_create;
mtli_buffer_destroy_fn cuda_buffer_destroy;
mtli_buffer_modified_fn cuda_buffer_modified;
mtli_buffer_advise_fn cuda_buffer_advise;
mtli_texture_create_fn cuda_texture_create;
mtli_texture_destroy_fn cuda_texture_destroy;
mtli_pipeline_create_fn cuda_pipeline_create;
mtli_pipeline_destroy_fn cuda_pipeline_destroy;
mtli_commands_prepare_fn cuda_commands_prepare;
mtli_commands_clear_fn cuda_commands_clear;
mtli_queue_create_fn cuda_queue_create;
mtli_queue_destroy_fn cuda_queue_destroy;
mtli_queue_submit_fn cuda_queue_submit;
mtli_queue_cancel_fn cuda_queue_cancel;
mtli_queue_help_fn cuda_queue_help;

#endif
