// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// mettle_hal.h: the driver's objects, for its own files.
//
// An operation (op.c) is what a queue slot of the HAL makes of its arguments:
// semaphores to wait for, work, semaphores to signal. It goes through three
// steps, each once:
//
//   issued     every wait is satisfied, or work that has been committed will
//              satisfy it: its own work is committed
//   done       every wait is satisfied and the work has completed
//   finished   its semaphores are signalled, or failed with what went wrong
//
// Locks: mettle_device.mutex is the only one, and nothing is called under it.
#ifndef METTLE_IREE_METTLE_HAL_H
#define METTLE_IREE_METTLE_HAL_H

#include "hal_driver.h"
#include "iree/async/frontier_tracker.h"
#include "iree/async/notification.h"
#include "iree/async/operations/scheduling.h"
#include "iree/async/proactor.h"
#include "iree/async/semaphore.h"
#include "iree/async/util/proactor_pool.h"
#include "iree/base/internal/arena.h"
#include "iree/base/threading/mutex.h"
#include "iree/base/threading/notification.h"
#include "iree/hal/local/profile.h"
#include "iree/hal/memory/slab_provider.h"
#include "iree/hal/utils/resource_set.h"

typedef struct mettle_device mettle_device;
typedef struct mettle_op mettle_op;
typedef struct mettle_wait mettle_wait;
typedef struct mettle_executable mettle_executable;

#define MAX_QUEUES 16
// The buffer index of push constants in SPIRV-Cross's MSL.
#define CONSTANTS_INDEX 3
// IREE's compiler refuses more bindings for Metal; 4 KiB is set_bytes' limit.
#define MAX_BINDINGS 64
#define MAX_CONSTANTS 64

// --- status.c ---

// Returns an IREE status of a failed Mettle call, with the thread's text.
iree_status_t mettle_status(mtl_status status, const char *what);
// The same with a text.
iree_status_t mettle_status_text(mtl_status status, const char *text);

// --- queue ---

typedef struct mettle_queue {
  mettle_device *device;
  mtl_queue *queue;
  uint32_t ordinal;
  iree_async_axis_t axis;
  iree_atomic_int64_t epoch;  // operations finished
  // Committed and not completed: all of them, and those that may be long.
  iree_atomic_int32_t in_flight, in_flight_long;
} mettle_queue;

// --- device.c ---

struct mettle_device {
  iree_hal_resource_t resource;  // of IREE's references
  // Operations, semaphores and IREE's own: who may still touch the struct.
  iree_atomic_ref_count_t references;
  iree_allocator_t host_allocator;
  mtl_device *device;
  bool is_unified;  // one memory for host and device
  mtl_math_mode math_mode;

  iree_hal_allocator_t *allocator;
  iree_hal_channel_provider_t *channel_provider;
  iree_async_proactor_pool_t *proactor_pool;
  iree_async_proactor_t *proactor;  // of the pool
  iree_arena_block_pool_t block_pool;

  // Memory of queue_alloca (pools.c).
  iree_hal_pool_set_t pools;
  iree_hal_slab_provider_t *slabs;
  iree_async_notification_t *pool_notification;
  iree_hal_pool_t *small_pool;
  iree_hal_pool_t *large_pool;
  iree_hal_slab_provider_t *host_slabs;  // NULL if slabs are the host's too
  iree_hal_pool_t *host_pool;

  iree_hal_device_topology_info_t topology_info;
  iree_async_frontier_tracker_t *tracker;

  iree_slim_mutex_t mutex;
  mettle_op *ops;            // mutex: all that are not finished
  uint32_t op_count;         // mutex
  bool is_closing;           // mutex: no new operations
  iree_notification_t idle;  // op_count fell to 0

  struct mettle_workers *workers;  // workers.c

  iree_slim_mutex_t profile_mutex;
  iree_hal_local_profile_recorder_t *recorder;  // profile_mutex; profile.c
  uint64_t profile_session;                     // profile_mutex
  uint64_t profile_submission;                  // profile_mutex
  uint64_t profile_sample;                      // profile_mutex
  iree_atomic_int64_t next_id;

  iree_string_view_t identifier;
  uint32_t queue_count;
  mettle_queue queues[MAX_QUEUES];
};

mettle_device *mettle_device_cast(iree_hal_device_t *base);
void mettle_device_retain(mettle_device *device);
void mettle_device_release(mettle_device *device);
mettle_queue *mettle_device_queue(mettle_device *device,
                                  iree_hal_queue_affinity_t affinity);
// Numbers command buffers and executables for profiles, from 1 on.
uint64_t mettle_device_next_id(mettle_device *device);
iree_hal_queue_affinity_t mettle_queue_affinity(const mettle_queue *queue);

// --- workers.c: threads for what may block ---

typedef struct mettle_job {
  struct mettle_job *next;
  void (*run)(struct mettle_job *job);
} mettle_job;
iree_status_t mettle_workers_create(iree_allocator_t host_allocator,
                                    struct mettle_workers **out_workers);
// Ends the threads once their jobs are done.
void mettle_workers_destroy(struct mettle_workers *workers);
// Runs job on a thread of its own: no other job delays it.
iree_status_t mettle_workers_post(struct mettle_workers *workers,
                                  mettle_job *job);

// --- buffer.c, allocator.c, slabs.c, pools.c ---

typedef struct mettle_buffer {
  iree_hal_buffer_t base;
  iree_allocator_t host_allocator;
  mettle_device *device;
  mtl_buffer *buffer;
  size_t offset;     // of byte 0, in buffer
  uint64_t address;  // of byte 0, for kernels
  iree_hal_buffer_release_callback_t release_callback;
} mettle_buffer;

// Wraps length bytes of buffer from offset on.
//
// Ownership  Retains buffer.
iree_status_t mettle_buffer_wrap(mettle_device *device, mtl_buffer *buffer,
                                 size_t offset,
                                 iree_hal_buffer_placement_t placement,
                                 const iree_hal_buffer_params_t *params,
                                 iree_device_size_t length,
                                 iree_hal_buffer_release_callback_t callback,
                                 iree_hal_buffer_t **out_buffer);

// A range of a HAL buffer, resolved to a Mettle buffer.
typedef struct mettle_range {
  mettle_buffer *buffer;
  size_t offset;  // in buffer->buffer
  size_t length;
  uint64_t address;
} mettle_range;
iree_status_t mettle_range_resolve(iree_hal_buffer_t *buffer,
                                   iree_device_size_t offset,
                                   iree_device_size_t length,
                                   mettle_range *out_range);

iree_status_t mettle_allocator_create(mettle_device *device,
                                      iree_hal_allocator_t **out_allocator);
// Decides the storage of a buffer, and completes params->type.
mtl_storage_mode mettle_storage_of(const mettle_device *device,
                                   iree_hal_memory_type_t *type);
iree_status_t mettle_slab_provider_create(mettle_device *device,
                                          iree_hal_memory_type_t type,
                                          iree_hal_slab_provider_t **out);
iree_status_t mettle_pools_create(mettle_device *device,
                                  iree_device_size_t slab_bytes);
void mettle_pools_destroy(mettle_device *device);
iree_status_t mettle_pools_trim(mettle_device *device);
iree_status_t mettle_pools_select(mettle_device *device, iree_hal_pool_t *pool,
                                  iree_hal_buffer_params_t params,
                                  iree_device_size_t length,
                                  iree_hal_pool_t **out_pool);
iree_hal_pool_epoch_query_t mettle_pools_epoch_query(mettle_device *device);

// --- semaphore.c, event.c ---

typedef struct mettle_semaphore {
  iree_async_semaphore_t async;
  mettle_device *device;
  iree_allocator_t host_allocator;
  // The value that committed work will signal. device->mutex.
  uint64_t promised;
  mettle_queue *promise_queue;  // the queue that orders it; NULL for none
  mtl_command_buffer *promise_commands;  // +1; the command buffer to wait for,
                                         // NULL for none
  bool promise_is_short;                 // their last run was short
  bool promise_is_whole;                 // nothing else is waited for
  // By value: unfinished waits, and among them those for more than the promised
  // value.
  mettle_wait *waits, *last_wait;
  mettle_wait *uncovered, *last_uncovered;
  iree_atomic_intptr_t event;  // mtl_event *, made when first asked for
} mettle_semaphore;

iree_status_t mettle_semaphore_create(mettle_device *device, uint64_t value,
                                      iree_hal_semaphore_t **out_semaphore);
bool mettle_semaphore_isa(iree_hal_semaphore_t *semaphore);
// Returns the value; UINT64_MAX if it has failed.
uint64_t mettle_semaphore_value(mettle_semaphore *semaphore);
// Records the last submission of the calling thread, which helps to run it when
// it queries its semaphore.
void mettle_semaphore_submitted(iree_hal_semaphore_list_t signals);
// Adds a wait to its semaphore's list, or removes it. The mutex is held.
void mettle_semaphore_add_wait(mettle_semaphore *semaphore, mettle_wait *wait);
void mettle_semaphore_remove_wait(mettle_wait *wait);
// The same for the list of waits that no committed work will satisfy.
void mettle_semaphore_add_uncovered(mettle_semaphore *semaphore,
                                    mettle_wait *wait);
void mettle_semaphore_remove_uncovered(mettle_wait *wait);
// Returns the mtl_event that has the semaphore's value, made at the first call.
// Borrowed.
iree_status_t mettle_semaphore_event(mettle_semaphore *semaphore,
                                     mtl_event **out_event);
iree_status_t mettle_event_create(iree_allocator_t host_allocator,
                                  iree_hal_event_t **out_event);

// --- executable.c, executable_cache.c, arguments.c ---

// The layout of a kernel's bindings: a struct of addresses at [[buffer(0)]].
typedef struct mettle_layout {
  uint16_t struct_bytes;  // 0 if the kernel takes none
  // Offset of binding n in the struct; NOT_THERE if the kernel leaves it out.
  uint16_t offsets[MAX_BINDINGS];
} mettle_layout;
#define NOT_THERE UINT16_MAX
#define METTLE_EXECUTABLE_FORMAT "metal-msl-fb"
iree_status_t mettle_layout_query(mtl_function *function,
                                  uint32_t binding_count,
                                  mettle_layout *out_layout);

typedef struct mettle_pipeline {
  mtl_pipeline *pipeline;
  iree_string_view_t name;
  uint32_t group_threads[3];
  uint32_t constant_count;  // 32-bit words
  uint32_t binding_count;
  uint64_t read_only;  // bit n: binding n is not written
  bool takes_constants;
  mettle_layout layout;
} mettle_pipeline;

struct mettle_executable {
  iree_hal_resource_t resource;
  mettle_device *device;
  iree_allocator_t host_allocator;
  uint64_t profile_id;
  iree_host_size_t pipeline_count;
  mettle_pipeline pipelines[];
};
iree_status_t mettle_executable_create(
    mettle_device *device, const iree_hal_executable_params_t *params,
    iree_hal_executable_t **out_executable);
iree_status_t mettle_executable_infer_format(iree_const_byte_span_t data,
                                             iree_host_size_t capacity,
                                             char *format,
                                             iree_host_size_t *out_size);
mettle_executable *mettle_executable_cast(iree_hal_executable_t *base);
iree_status_t mettle_executable_pipeline(
    mettle_executable *executable, iree_hal_executable_function_t function,
    mettle_pipeline **out_pipeline);
iree_status_t mettle_executable_cache_create(mettle_device *device,
                                             iree_hal_executable_cache_t **out);

// --- command_buffer.c, encode.c ---

typedef enum mettle_command_kind {
  COMMAND_BARRIER = 0,
  COMMAND_FILL,
  COMMAND_UPDATE,
  COMMAND_COPY,
  COMMAND_DISPATCH,
} mettle_command_kind;

typedef struct mettle_dispatch {
  iree_hal_executable_t *base_executable;
  mettle_executable *executable;
  mettle_pipeline *pipeline;
  uint32_t function_ordinal;
  uint32_t group_count[3];
  bool is_indirect;
  iree_hal_buffer_ref_t group_count_ref;
  uint32_t constants_bytes;
  const void *constants;  // [constants_bytes]
  uint32_t binding_count;
  const iree_hal_buffer_ref_t *bindings;  // [binding_count]
} mettle_dispatch;

// One command, as recorded. What it points to lives as long as the list.
typedef struct mettle_command {
  struct mettle_command *next;
  mettle_command_kind kind;
  uint32_t index;  // among the commands of its command buffer
  iree_hal_buffer_ref_t target;
  iree_hal_buffer_ref_t source;  // of a copy
  const void *bytes;             // of an update: [target.length]
  uint32_t pattern;              // of a fill
  uint32_t pattern_bytes;        // 1, 2 or 4
  mettle_dispatch dispatch;
} mettle_command;

iree_status_t mettle_command_buffer_create(
    mettle_device *device, iree_hal_command_buffer_mode_t mode,
    iree_hal_command_category_t categories, iree_hal_queue_affinity_t affinity,
    iree_host_size_t binding_capacity, iree_hal_command_buffer_t **out);
bool mettle_command_buffer_isa(iree_hal_command_buffer_t *base);
const mettle_command *mettle_command_buffer_commands(
    iree_hal_command_buffer_t *base, uint32_t *out_count);
uint64_t mettle_command_buffer_profile_id(iree_hal_command_buffer_t *base);
// Records how long an execution took; mettle_command_buffer_is_short is true if
// the last one was short.
void mettle_command_buffer_ran(iree_hal_command_buffer_t *base, uint64_t ns);
bool mettle_command_buffer_is_short(iree_hal_command_buffer_t *base);
iree_status_t mettle_command_set_pattern(mettle_command *command,
                                         const void *pattern,
                                         iree_host_size_t pattern_bytes);
// Checks a dispatch and fills all of it but constants and bindings.
iree_status_t mettle_dispatch_prepare(iree_hal_executable_t *executable,
                                      iree_hal_executable_function_t function,
                                      iree_hal_dispatch_config_t config,
                                      iree_const_byte_span_t constants,
                                      iree_host_size_t binding_count,
                                      iree_hal_dispatch_flags_t flags,
                                      mettle_dispatch *out_dispatch);

// Records commands into a command buffer of Mettle's.
iree_status_t mettle_encode(mettle_device *device,
                            mtl_command_buffer *command_buffer,
                            const mettle_command *commands,
                            iree_hal_buffer_binding_table_t table);

// --- op.c ---

typedef enum mettle_op_kind {
  OP_BARRIER = 0,  // nothing between the waits and the signals
  OP_COMMANDS,     // one command or a few of the operation's own
  OP_EXECUTE,      // a command buffer
  OP_ALLOCA,
  OP_DEALLOCA,
  OP_JOB,  // on a thread of workers.c: host calls, files
} mettle_op_kind;

struct mettle_wait {
  iree_async_semaphore_timepoint_t timepoint;  // of others' semaphores
  mettle_op *op;
  iree_hal_semaphore_t *semaphore;
  mettle_semaphore *ours;  // semaphore, if it is this device's
  uint64_t value;
  bool is_awaited;  // was not satisfied when it was registered
  // All below: device->mutex.
  bool is_uncovered;
  bool is_listed;                // among ours->waits
  mettle_queue *cover_queue;     // NULL: no queue's order covers it
  mettle_wait *next, *previous;  // of ours->waits
  mettle_wait *next_uncovered, *previous_uncovered;  // of ours->uncovered
};

// A deferred step of an operation (steps.c).
typedef struct mettle_step {
  struct mettle_step *next;
  mettle_op *op;
  void (*run)(mettle_op *op);
} mettle_step;

typedef struct mettle_alloca {
  iree_hal_pool_t *pool;
  iree_hal_buffer_params_t params;
  iree_device_size_t length;
  iree_hal_alloca_flags_t flags;
  bool is_staged;
  bool is_waiting_for_frontier;
  iree_hal_pool_reservation_t reservation;
  const iree_async_frontier_t *frontier;
  iree_async_frontier_waiter_t waiter;
  iree_async_notification_wait_operation_t notified[2];
  uint8_t notified_slot;
} mettle_alloca;

struct mettle_op {
  mettle_device *device;
  mettle_queue *queue;
  mettle_op_kind kind;
  mettle_op *next, *previous;  // device->mutex
  iree_hal_semaphore_list_t signals;
  uint32_t wait_count;
  mettle_wait *waits;
  // Uncovered waits, and 1 while they are registered. device->mutex.
  uint32_t uncovered;
  // Waits that are not satisfied, 1 for the work, 1 for each step in a list.
  iree_atomic_int32_t pending;
  iree_atomic_intptr_t failure;   // the first iree_status_t that is not OK
  iree_atomic_intptr_t commands;  // mtl_command_buffer *, +1
  iree_atomic_int32_t abandoned;
  iree_atomic_int32_t is_registered;
  mettle_step issue, finish, abandon;

  // Resources kept until the operation is finished.
  iree_host_size_t resource_count;
  iree_hal_resource_t **resources;  // [resource_count]

  iree_hal_buffer_t *transient;  // of an alloca or dealloca
  mettle_alloca *alloca;
  mettle_command *own_commands;
  iree_hal_command_buffer_t *command_buffer;
  iree_hal_buffer_binding_table_t table;
  mettle_job job;
  // Runs on a worker's thread; an error fails the operation. *out_deferred: the
  // called function will signal the semaphores.
  iree_status_t (*work)(mettle_op *op, bool *out_deferred);
  void *work_context;
  bool is_signalled_early;
  bool is_long;   // counted among its queue's in_flight_long
  bool is_woken;  // device->mutex

  // For profiles.
  iree_hal_profile_queue_event_type_t job_type;  // of a job
  iree_device_size_t job_bytes;
  struct mettle_profile *profile;  // NULL without a session
};

// Makes an operation with payload_bytes behind it, aligned for anything.
iree_status_t mettle_op_create(
    mettle_device *device, iree_hal_queue_affinity_t affinity,
    iree_hal_semaphore_list_t waits, iree_hal_semaphore_list_t signals,
    mettle_op_kind kind, iree_host_size_t resource_capacity,
    iree_host_size_t payload_bytes, mettle_op **out_op, void **out_payload);
// Keeps a resource until the operation is finished; NULL is allowed.
void mettle_op_keep(mettle_op *op, void *resource);
// True if there is nothing to wait for.
bool mettle_op_is_ready(const mettle_op *op);
// Ends a wait that is no longer in a list. Takes status.
void mettle_wait_resolve(mettle_wait *wait, iree_status_t status);
// Frees an operation that was not submitted.
void mettle_op_discard(mettle_op *op);
// Submits the operation and takes it. Never blocks.
iree_status_t mettle_op_submit(mettle_op *op);
// Records the operation's first failure and cancels its running work. Takes
// status.
void mettle_op_fail(mettle_op *op, iree_status_t status);
bool mettle_op_has_failed(mettle_op *op);
// Signals or fails the semaphores and ends the operation.
void mettle_op_end(mettle_op *op);
// Decrements the operation's pending count; mettle_op_hold increments it.
void mettle_op_settle(mettle_op *op);
void mettle_op_hold(mettle_op *op);
// Promises the operation's signals: its work has been committed.
void mettle_op_promise(mettle_op *op);
// Runs the steps that this thread has put off.
void mettle_steps_run(void);
void mettle_steps_add(mettle_step *step);
// Fails all waiting operations; then waits for the running ones, unless inside
// a callback.
void mettle_ops_close(mettle_device *device);
// True inside a callback of Mettle or of a semaphore, which must not block.
bool mettle_is_calling_back(void);
void mettle_callback_enter(void);
void mettle_callback_leave(void);

// Performs a small transfer on the calling thread, if it waits for nothing and
// the host can access the memory; otherwise returns false (commit.c).
bool mettle_op_transfer(mettle_op *op, iree_status_t *out_status);
// Commits the work of an operation (commit.c).
iree_status_t mettle_op_commit(mettle_op *op);
// True if the queue holds only a few operations that were short when they last
// ran, and waits for no other queue (commit.c).
bool mettle_queue_is_light(mettle_queue *queue);

// alloca.c: reserves memory at submission if the waits are satisfied, so that
// errors are reported at once.
iree_status_t mettle_alloca_try(mettle_op *op);
void mettle_alloca_prepare(mettle_op *op);  // at issue
void mettle_alloca_publish(mettle_op *op);  // when done
void mettle_alloca_wake(mettle_device *device);
void mettle_dealloca_release(mettle_op *op);

// --- profile.c ---

iree_status_t mettle_profile_begin(
    mettle_device *device, const iree_hal_device_profiling_options_t *options);
iree_status_t mettle_profile_flush(mettle_device *device);
iree_status_t mettle_profile_end(mettle_device *device);
// Records the submission and the end of an operation.
void mettle_profile_op_begin(mettle_op *op);
void mettle_profile_op_end(mettle_op *op);
// True if the operation's dispatches are to be timed one by one.
bool mettle_profile_times_dispatches(const mettle_op *op);

#endif
