// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// driver.h: the whole contract between the runtime and a driver.
//
// The runtime checks every argument, counts references, keeps the order of
// commits and the client's callbacks; a driver allocates, runs and reports. A
// driver trusts what it is given.
//
// Objects. The runtime allocates each object with room for the driver's own
// part behind it (the *_bytes of mtli_driver): a driver declares
//     typedef struct cuda_queue { mtl_queue queue; CUstream stream; } ...
// and gets that memory zeroed, its public part filled in. create returns MTL_OK
// or fails with everything undone; destroy comes once, after the last use, and
// cannot fail.
//
// Each slot states which thread calls it and whether it may block. No lock of
// the runtime is held in any slot, but for queue_submit. A driver without a
// feature uses mtli_no_<slot>, which returns MTL_UNSUPPORTED.
#ifndef MTLI_DRIVER_H
#define MTLI_DRIVER_H
#include "base/memory/pages.h"
#include "runtime/driver_commands.h"
#include "runtime/driver_objects.h"

// --- what a driver calls ----------------------------------------------------
// From any thread, holding no lock of its own that a slot takes. In this
// order, each once for every command buffer that it was given.

// The queue has started the command buffer.
void mtli_command_buffer_scheduled(mtl_command_buffer *command_buffer);

// Reports when a command buffer's work began and ended, by CLOCK_MONOTONIC, in
// nanoseconds. Not called if nothing ran.
void mtli_command_buffer_ran(mtl_command_buffer *command_buffer,
                             uint64_t start_ns, uint64_t end_ns);

// A kernel logged a message that the device has formatted itself instead of
// leaving it in command_buffer->log. Called for each message.
void mtli_command_buffer_logged(mtl_command_buffer *command_buffer,
                                const mtl_log_message *message);

// Everything is done, or has failed with status and text (borrowed). The
// driver must not touch command_buffer afterwards; its queue may be gone, too.
void mtli_command_buffer_completed(mtl_command_buffer *command_buffer,
                                   mtl_status status, const char *text);

// Says why the command buffer is not to run (any further): it was cancelled, or
// one that it depends on has failed. NULL: it runs. Any thread.
const char *mtli_stop_reason(const mtl_command_buffer *command_buffer);

// Reads the commands that command, an EXECUTE of command_buffer's, is to
// execute now: [count] from first on, which must be its own or what its range
// says. *out_first is the first of a list of DISPATCH commands in an order that
// is_ordered tells as ever; the last one's next is command's next, which is all
// there is if they do nothing. Each has its driver's part zeroed. They stay
// until the command buffer is completed. On the thread that runs the queue;
// does not block for long. A failure is the command buffer's.
mtl_status mtli_execution_begin(mtl_command_buffer *command_buffer,
                                mtli_command *command, uint32_t first,
                                uint32_t count, mtli_command **out_first);

// Executes a MTLI_COMMAND_EDIT_INDIRECT when the queue reaches it.
void mtli_edit_indirect_commands(const mtli_indirect_edit *edit);

// Returns the driver's own object, as mtli_indirect_create_fn made it.
void *mtli_indirect_native(const mtl_indirect_command_buffer *commands);

// Tells whether one more command buffer may be created on queue.
static inline bool mtli_queue_has_room(const mtl_queue *queue) {
  return atomic_load_explicit(&queue->in_flight, memory_order_relaxed) <
         queue->max_command_buffers;
}

// An access that failed.
typedef struct mtli_access {
  uint64_t address;
  bool is_write;
  const mtli_dispatch *dispatch;  // that made it; NULL for other commands
  bool has_slot;                  // it is known which argument it was of:
  uint32_t slot;
} mtli_access;

// Describes the place of a device's access for an error message: "" if nothing
// is known of its address.
void mtli_describe_access(mtl_device *device, const mtli_access *access,
                          char *text, size_t capacity);

// Receives a container that the runtime owns; borrows it.
typedef mtl_status mtli_take_code_fn(void *context, const mtli_code *code);

// Returns the visible functions that pipeline is made with. Any thread.
const mtli_linked_functions *mtli_pipeline_linked(const mtl_pipeline *pipeline);

// For pipeline_create of a driver whose machine code Mettle's compiler makes:
// has function compiled to driver->code_kind and sets pipeline->code, ->kernel
// and ->max_threads.
mtl_status mtli_pipeline_compile(mtl_pipeline *pipeline,
                                 const mtl_function *function,
                                 const mtl_pipeline_desc *desc);

// For pipeline_create of a checked pipeline: makes one of MTLI_TIER_SCREENED of
// the same function, for the driver to keep and release. MTL_UNSUPPORTED if
// its accesses cannot be screened.
mtl_status mtli_pipeline_create_screened(mtl_function *function,
                                         const mtl_pipeline_desc *desc,
                                         mtl_pipeline **out_pipeline);

// Sets pipeline->max_threads to the least of what the device, the kernel's
// attribute and desc allow; fails if desc wants more than the device has.
mtl_status mtli_pipeline_limit_threads(mtl_pipeline *pipeline,
                                       const mtl_pipeline_desc *desc);

// Compiles pipeline's function once more, or takes it from the cache, for
// threadgroups of another class than pipeline->kernel's, and calls take. Only
// for a kernel that depends on it. Blocks; any thread, holding no lock.
mtl_status mtli_pipeline_compile_for(mtl_pipeline *pipeline,
                                     mtli_group_class group_class,
                                     mtli_take_code_fn *take, void *context);

// Counts the forks between the first process and this one. Threads, locks and
// hardware of an object from another process number are lost: its destroy
// slots may free memory, and touch nothing else.
uint64_t mtli_process_number(void);
static inline bool mtli_device_is_inherited(const mtl_device *device) {
  return device->process != mtli_process_number();
}

// --- the slots --------------------------------------------------------------

// How many devices there are. Any thread; may block; called more than once.
typedef uint32_t mtli_device_count_fn(void);
// Returns the name of a device: static storage, unique among all drivers.
typedef const char *mtli_device_name_fn(uint32_t index);
// True if mtl_device_list has the device; one for tests is opened by its name
// alone. Any thread; does not block.
typedef bool mtli_device_is_listed_fn(uint32_t index);
// Starts device number device->index and fills in device->info. Any thread;
// at most one open device per index and process.
typedef mtl_status mtli_device_open_fn(mtl_device *device);
// Any thread, one of the driver's own too; nothing else uses the device.
typedef void mtli_device_close_fn(mtl_device *device);
// Tells whether the device has all of a family. Any thread; does not block.
typedef bool mtli_device_family_fn(const mtl_device *device, mtl_family family);

// Returns what a pipeline is to be compiled for, as compiler.h has it: yours to
// free; NULL for the CPU that the process runs on. Any thread; does not block.
typedef char *mtli_device_code_target_fn(const mtl_device *device);

// Reads CLOCK_MONOTONIC in nanoseconds, and the device's clock, which samples
// are of and info.timestamp_frequency_hz counts, at one moment. Any thread.
typedef mtl_status mtli_device_timestamps_fn(mtl_device *device,
                                             uint64_t *out_host_ns,
                                             uint64_t *out_device);

// Makes pages for a buffer that lie and are guarded as desc says.
mtl_status mtli_buffer_create_pages(const mtl_buffer_desc *desc,
                                    mtli_pages *out_pages);
// Allocates; sets contents and gpu_address; contents start as desc->bytes or
// zeros. With buffer->parent there is nothing to allocate: the buffer is a part
// of parent's memory, of the same storage mode, whatever else lies there, and
// starts as that is or as desc->bytes. Any thread; may block.
typedef mtl_status mtli_buffer_create_fn(mtl_buffer *buffer,
                                         const mtl_buffer_desc *desc);
// Any thread; does not block for long. The runtime calls the deallocator.
typedef void mtli_buffer_destroy_fn(mtl_buffer *buffer);
// A hint about all of a buffer's memory, whether or not work uses it. Any
// thread.
typedef enum mtli_advice {
  MTLI_ADVICE_DISCARD,   // contents may be lost, and memory given back; not of
                         // a part of another, nor of the client's
  MTLI_ADVICE_PREFAULT,  // the memory is about to be used: provide it now
} mtli_advice;
typedef mtl_status mtli_buffer_advise_fn(mtl_buffer *buffer,
                                         mtli_advice advice);
// Lets device use the private memory of other, a device of the same driver, at
// the addresses it has there: a buffer of device whose parent is a buffer of
// other may then be created. Any thread; may block.
typedef mtl_status mtli_device_reach_fn(mtl_device *device, mtl_device *other);
// The host wrote into a range of a managed buffer. Any thread.
typedef mtl_status mtli_buffer_modified_fn(mtl_buffer *buffer,
                                           size_t offset_bytes,
                                           size_t length_bytes);

// Makes texture->descriptor visible to kernels, for as long as the texture
// lives, and sets resource_id. Any thread; may block.
typedef mtl_status mtli_texture_create_fn(mtl_texture *texture);
typedef void mtli_texture_destroy_fn(mtl_texture *texture);

// Sets sampler->resource_id; desc is checked, and sampler->bits are it, packed.
// What is behind the id outlives the sampler: command buffers keep none. Any
// thread; may block.
typedef mtl_status mtli_sampler_create_fn(mtl_sampler *sampler,
                                          const mtl_sampler_desc *desc);

// Compiles MSL to library->compiled, a container: at the least the names and
// stages of the functions, the function constants, and a blob that library_load
// takes. Options are checked. Any thread; blocks.
typedef mtl_status mtli_library_compile_fn(mtl_library *library,
                                           const char *source,
                                           size_t source_bytes,
                                           const mtl_compile_options *options);
// Takes up library->compiled as it came from a file or memory. Any thread;
// may block.
typedef mtl_status mtli_library_load_fn(mtl_library *library);
// Called after either of the two has succeeded.
typedef void mtli_library_destroy_fn(mtl_library *library);

// Says what function's arguments are: sets arguments and argument_count, and
// kernel if the library's container does not describe its parameters.
// function->values are checked for their types. Any thread; may block.
typedef mtl_status mtli_function_describe_fn(mtl_function *function);
typedef void mtli_function_destroy_fn(mtl_function *function);

// Makes machine code, or has it made, and loads it. Any thread; may block.
typedef mtl_status mtli_pipeline_create_fn(mtl_pipeline *pipeline,
                                           const mtl_function *function,
                                           const mtl_pipeline_desc *desc);
typedef void mtli_pipeline_destroy_fn(mtl_pipeline *pipeline);

// Makes a table of table->count empty entries. Any thread; may block.
typedef mtl_status mtli_function_table_create_fn(mtl_function_table *table);
typedef void mtli_function_table_destroy_fn(mtl_function_table *table);
// Puts the function of a number among the pipeline's linked ones into an entry;
// 0 empties it. Any thread.
typedef void mtli_function_table_set_fn(mtl_function_table *table,
                                        uint32_t index, uint64_t number);

// Prepares a recorded list, on the committing thread, so that submit is cheap.
// A failure is the command buffer's. May not wait for work.
typedef mtl_status mtli_commands_prepare_fn(mtl_command_buffer *command_buffer);
// Undoes prepare; after completion, or instead of submit. Any thread.
typedef void mtli_commands_clear_fn(mtl_command_buffer *command_buffer);

typedef mtl_status mtli_queue_create_fn(mtl_queue *queue);
// Called when no command buffer is left. Any thread, also a driver's own.
typedef void mtli_queue_destroy_fn(mtl_queue *queue);
// Appends to the queue. The runtime holds a lock that keeps the order: must
// not block, and must not call mtli_command_buffer_* before it returns. Cannot
// fail: what goes wrong later is said by completed.
typedef void mtli_queue_submit_fn(mtl_queue *queue,
                                  mtl_command_buffer *command_buffer);
// Ends a command buffer early, with MTL_CANCELLED, wherever it is: not yet
// submitted (then is_cancelled tells), waiting, running (as soon as it can) or
// completed. Any thread; does not wait for the end. May fail only if what runs
// cannot be stopped.
typedef mtl_status mtli_queue_cancel_fn(mtl_queue *queue,
                                        mtl_command_buffer *command_buffer);
// The calling thread is about to wait for command_buffer, or with NULL until
// mtli_queue_has_room, and offers itself: may run work of the queue, and
// returns when there is nothing (more) for it to do. The client's thread.
typedef mtl_status mtli_queue_help_fn(mtl_queue *queue,
                                      mtl_command_buffer *command_buffer);

typedef mtl_status mtli_event_create_fn(mtl_event *event);
// Returns the watchers that were never reached. Any thread.
typedef mtli_watcher *mtli_event_destroy_fn(mtl_event *event);
// Returns the present value. Any thread; does not block.
typedef uint64_t mtli_event_value_fn(mtl_event *event);
// Raises the value from the host. Any thread; does not block.
typedef mtl_status mtli_event_signal_fn(mtl_event *event, uint64_t value);
// Blocks the calling thread until value is reached: MTL_OK, or MTL_TIMED_OUT
// with no text.
typedef mtl_status mtli_event_wait_fn(mtl_event *event, uint64_t value,
                                      uint64_t timeout_ns);
// Calls watcher->reached once, from any thread without locks, when the value
// reaches watcher->threshold; returns false, and never calls, if it has.
typedef bool mtli_event_notify_fn(mtl_event *event, mtli_watcher *watcher);

// Indirect command buffers that the device keeps itself. native is what create
// made. Any thread, one at a time for each native; none blocks. Everything was
// checked: an edit cannot fail. What edits name is kept by nobody.
//
// Source  Metal: MTLIndirectCommandBuffer, MTLIndirectComputeCommand
typedef mtl_status mtli_indirect_create_fn(
    mtl_device *device, const mtl_indirect_command_buffer_desc *desc,
    void **out_native);
typedef void mtli_indirect_destroy_fn(mtl_device *device, void *native);
// The handle by which kernels know it; never 0.
typedef uint64_t mtli_indirect_resource_id_fn(void *native);
typedef uint64_t mtli_indirect_pipeline_id_fn(mtl_pipeline *pipeline);
typedef void mtli_indirect_set_pipeline_fn(void *native, uint32_t index,
                                           mtl_pipeline *pipeline);
typedef void mtli_indirect_set_buffer_fn(void *native, uint32_t index,
                                         mtl_buffer *buffer,
                                         size_t offset_bytes,
                                         uint32_t buffer_index);
typedef void mtli_indirect_set_threadgroup_memory_fn(void *native,
                                                     uint32_t index,
                                                     size_t length_bytes,
                                                     uint32_t memory_index);
// type is one of mtl_indirect_command_type; grid counts threads or
// threadgroups.
typedef void mtli_indirect_dispatch_fn(void *native, uint32_t index,
                                       uint32_t type, mtl_size grid,
                                       mtl_size group);
typedef void mtli_indirect_set_barrier_fn(void *native, uint32_t index,
                                          bool has_barrier);
typedef void mtli_indirect_reset_fn(void *native, uint32_t first,
                                    uint32_t count);

typedef struct mtli_indirect_slots {
  mtli_indirect_create_fn *create;
  mtli_indirect_destroy_fn *destroy;
  mtli_indirect_resource_id_fn *resource_id;
  mtli_indirect_pipeline_id_fn *pipeline_id;
  mtli_indirect_set_pipeline_fn *set_pipeline;
  mtli_indirect_set_buffer_fn *set_buffer;
  mtli_indirect_set_threadgroup_memory_fn *set_threadgroup_memory;
  mtli_indirect_dispatch_fn *dispatch;
  mtli_indirect_set_barrier_fn *set_barrier;
  mtli_indirect_reset_fn *reset;
} mtli_indirect_slots;

struct mtli_driver {
  const char *name;
  mtli_blob_kind code_kind;  // the machine code that pipelines need
  // EXECUTE and EDIT_INDIRECT; without them there are no indirect command
  // buffers.
  bool executes_indirect_commands;
  // The device keeps the commands itself, and EXECUTE and EDIT_INDIRECT name
  // them by mtli_indirect_native; NULL: the runtime keeps them.
  const mtli_indirect_slots *indirect;
  // Kernels encode commands: the runtime may read and write a private buffer at
  // its gpu_address, and the driver calls mtli_execution_begin in its turn.
  bool kernels_encode_commands;
  bool binds_tensors;    // kernels read metal_tensor's record of them
  bool has_heaps;        // buffer_create knows of parents
  bool has_host_events;  // events begin with an mtli_host_event
  // A queue's command buffer starts when it is known whether that before it has
  // failed.
  bool knows_failures;
  bool checks;  // runs code of MTLI_TIER_CHECKED
  // Sizes of the objects with the driver's part.
  size_t device_bytes;
  size_t buffer_bytes;
  size_t texture_bytes;
  size_t library_bytes;
  size_t function_bytes;
  size_t pipeline_bytes;
  size_t function_table_bytes;
  size_t queue_bytes;
  size_t event_bytes;
  size_t command_buffer_bytes;  // of driver_data
  size_t command_bytes;         // of mtli_command_data

  mtli_device_count_fn *device_count;
  mtli_device_name_fn *device_name;
  mtli_device_is_listed_fn *device_is_listed;
  mtli_device_open_fn *device_open;
  mtli_device_close_fn *device_close;
  mtli_device_family_fn *device_family;
  mtli_device_code_target_fn *device_code_target;
  mtli_device_timestamps_fn *device_timestamps;
  mtli_device_reach_fn *device_reach;
  mtli_buffer_create_fn *buffer_create;
  mtli_buffer_destroy_fn *buffer_destroy;
  mtli_buffer_modified_fn *buffer_modified;
  mtli_buffer_advise_fn *buffer_advise;
  mtli_texture_create_fn *texture_create;
  mtli_texture_destroy_fn *texture_destroy;
  mtli_sampler_create_fn *sampler_create;
  mtli_library_compile_fn *library_compile;
  mtli_library_load_fn *library_load;
  mtli_library_destroy_fn *library_destroy;
  mtli_function_describe_fn *function_describe;
  mtli_function_destroy_fn *function_destroy;
  mtli_pipeline_create_fn *pipeline_create;
  mtli_pipeline_destroy_fn *pipeline_destroy;
  mtli_function_table_create_fn *function_table_create;
  mtli_function_table_destroy_fn *function_table_destroy;
  mtli_function_table_set_fn *function_table_set;
  mtli_commands_prepare_fn *commands_prepare;
  mtli_commands_clear_fn *commands_clear;
  mtli_queue_create_fn *queue_create;
  mtli_queue_destroy_fn *queue_destroy;
  mtli_queue_submit_fn *queue_submit;
  mtli_queue_cancel_fn *queue_cancel;
  mtli_queue_help_fn *queue_help;
  mtli_event_create_fn *event_create;
  mtli_event_destroy_fn *event_destroy;
  mtli_event_value_fn *event_value;
  mtli_event_signal_fn *event_signal;
  mtli_event_wait_fn *event_wait;
  mtli_event_notify_fn *event_notify;
};

// The drivers, the preferred one first; runtime/device/drivers.c lists them.
extern const mtli_driver *const mtli_drivers[];
extern const size_t mtli_driver_count;

// What a driver points at whose code Mettle's compiler makes: the container has
// all there is to know, samplers are their bits, a function table is a buffer
// of a count and then the numbers, 8 bytes each.
mtli_sampler_create_fn mtli_sampler_is_bits;
mtli_library_compile_fn mtli_library_compile;
mtli_library_load_fn mtli_library_load;
mtli_library_destroy_fn mtli_library_has_no_part;
mtli_function_describe_fn mtli_function_describe;
mtli_function_destroy_fn mtli_function_has_no_part;
mtli_function_table_create_fn mtli_function_table_in_buffer;
mtli_function_table_destroy_fn mtli_function_table_buffer_release;
mtli_function_table_set_fn mtli_function_table_buffer_set;

// What a driver with has_host_events points at.
mtli_event_create_fn mtli_host_event_create;
mtli_event_destroy_fn mtli_host_event_destroy;
mtli_event_value_fn mtli_host_event_value;
mtli_event_signal_fn mtli_host_event_signal;
mtli_event_wait_fn mtli_host_event_wait;
mtli_event_notify_fn mtli_host_event_notify;

// A slot for each feature that a device may lack.
mtli_device_reach_fn mtli_no_device_reach;
mtli_buffer_modified_fn mtli_no_buffer_modified;
mtli_buffer_advise_fn mtli_no_buffer_advise;
mtli_queue_help_fn mtli_no_queue_help;

#endif
