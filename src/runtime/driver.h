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

#include <pthread.h>

#include "base/lane.h"
#include "base/memory/arena_pool.h"
#include "base/object.h"
#include "base/status.h"
#include "base/timeline.h"
#include "base/trace/trace.h"
#include "code/code.h"
#include "code/texture_abi.h"
#include "mettle/mettle.h"

typedef struct mtli_driver mtli_driver;
typedef struct mtli_command mtli_command;

// A buffer that is no more: an error may have to name it.
enum { MTLI_RELEASED_COUNT = 64 };
typedef struct mtli_released {
  uint64_t first;  // its gpu_address
  size_t length_bytes;
  char label[32];  // cut off; "" for none
} mtli_released;

// Memory of values that command buffers have copied (inline_bytes.h).
typedef struct mtli_tray mtli_tray;
// A reference that keeps nothing alive (weak.h).
typedef struct mtli_weak mtli_weak;
enum { MTLI_WARM_TRAYS = 64 };  // as many as a queue has command buffers

// Pipelines that kernels may name, by their numbers less 1 (pipeline_ids.c).
typedef struct mtli_pipeline_ids {
  mtli_weak **pipelines;  // [count] +1 each
  size_t count;
  size_t capacity;
} mtli_pipeline_ids;

struct mtl_device {
  mtli_object object;
  const mtli_driver *driver;
  uint32_t index;         // in the driver
  uint64_t process;       // mtli_process_number() at the start
  mtl_device_info info;   // device_open fills it in, but for name
  uint64_t memory_bytes;  // all buffers together at the most; by device_open
  // The addresses in command_buffer->log are of texts that the driver has
  // copied, not of constant memory; by device_open.
  bool copies_log_texts;
  _Atomic uint64_t allocated_bytes;
  pthread_mutex_t lock;  // of buffers, labels, released and pipeline_ids
  mtl_buffer *buffers;   // all that are alive, to name an address in an error
  mtli_released released[MTLI_RELEASED_COUNT];  // the last ones, in a ring
  uint32_t released_count;                      // to date
  mtli_pipeline_ids pipeline_ids;               // under lock; the runtime's
  _Atomic(mtli_tray *) trays[MTLI_WARM_TRAYS];  // free ones; NULL for none
  mtli_arena_pool arenas;                       // of recordings
};

struct mtl_buffer {
  mtli_object object;
  mtl_device *device;  // +1
  mtl_buffer *next;    // in device->buffers, under device->lock
  mtl_buffer *previous;
  size_t length_bytes;
  mtl_storage_mode storage_mode;
  mtl_hazard_tracking hazard_tracking;
  bool guarded;
  // NULL, or the memory of the heap that it lies in, at parent_offset_bytes.
  mtl_buffer *parent;
  size_t parent_offset_bytes;
  mtl_heap *heap;              // +1; the runtime's: parent's
  _Atomic bool is_aliasable;   // the same: its place may be another's too
  _Atomic uint32_t purgeable;  // the same: mtl_purgeable_state; 0 for none set
  _Atomic bool is_prefaulted;  // the same: advised so (residency_set.c)
  void *contents;        // host address, set by buffer_create; NULL if private
  uint64_t gpu_address;  // what kernels see, set by buffer_create
  char *label;           // under device->lock; NULL for none
  _Atomic(mtli_weak *) weak;  // the runtime's
  void *no_copy_bytes;
  mtl_buffer_deallocator *deallocator;
  void *deallocator_context;
};

// The bytes of a texture are those of a buffer, which orders it, keeps it alive
// and moves it between host and device.
struct mtl_texture {
  mtli_object object;
  mtl_buffer *buffer;     // +1
  size_t offset_bytes;    // of the descriptor's texels in the buffer
  mtl_texture_desc desc;  // as it has come to be
  mtl_swizzle swizzle[4];
  mtli_texture_descriptor descriptor;
  uint64_t resource_id;  // the descriptor's address for kernels, set by
                         // texture_create
  char *label;           // under device->lock; NULL for none
};

struct mtl_sampler {
  mtli_object object;
  mtl_device *device;    // +1
  uint64_t bits;         // code/texture_abi.h
  uint64_t resource_id;  // what kernels see, set by sampler_create; never 0
  char *label;           // NULL for none
};

struct mtl_library {
  mtli_object object;
  mtl_device *device;            // +1
  mtli_compiled compiled;        // by library_compile, or from a file
  mtl_constant_info *constants;  // [compiled.code->constant_count]
  // A compiled Metal library's (metallib.h), whose compiled.code has names
  // alone: drivers see its parts. NULL for any other.
  struct mtli_metallib_state *metallib;
};

struct mtl_function {
  mtli_object object;
  mtl_library *library;         // +1
  const mtli_kernel *kernel;    // the library's, unless function_describe
                                // replaces it by one that it owns
  mtli_constant_value *values;  // [library's constant_count]
  // Set by function_describe:
  mtl_argument *arguments;  // [argument_count], malloc'ed; freed by the runtime
  size_t argument_count;
};

// The visible functions that a pipeline is linked with: those for tables
// first. Their numbers are their places, counted from 1.
typedef struct mtli_linked_functions {
  mtl_function **functions;  // [count] +1 each
  size_t count;
  size_t table_count;
  uint32_t call_depth;
} mtli_linked_functions;

struct mtl_pipeline {
  mtli_object object;
  mtl_device *device;  // +1
  // Set by pipeline_create. code is the pipeline's container, decoded: NULL of
  // a driver that has its machine code elsewhere. Then kernel is its
  // function's, which the pipeline keeps.
  mtli_code *code;
  const mtli_kernel *kernel;
  uint32_t max_threads;  // in a threadgroup
  bool is_foreign;       // METTLE_CPU_TARGET: code that this machine cannot run
  struct mtli_pipeline_parts *parts;  // the runtime's (pipeline.c)
  uint64_t id;  // under device->lock; 0 if kernels do not know it
  _Atomic(mtli_weak *) weak;          // the runtime's
};

struct mtl_function_table {
  mtli_object object;
  mtl_pipeline *pipeline;  // +1
  uint32_t count;
  // Set by function_table_create: what kernels see, and the memory that a
  // kernel reads, if that is a buffer: +1, NULL otherwise.
  uint64_t resource_id;
  mtl_buffer *buffer;
};

struct mtl_queue {
  mtli_object object;
  mtl_device *device;        // +1
  char *label;               // under device->lock; NULL for none
  mtl_log_state *log_state;  // +1; NULL for none
  // The runtime's (queue.c):
  mtli_lane *lane;                  // callbacks of the command buffers
  pthread_mutex_t lock;             // of places
  mtl_command_buffer *first_place;  // enqueued or committed, not submitted
  mtl_command_buffer *last_place;
  uint32_t max_command_buffers;
  uint64_t time_limit_ns;      // of command buffers without one; 0 for none
  bool times_work;             // of all its command buffers
  mtli_trace_track track;      // under lock: of the timeline whose number is
  uint32_t track_timeline;     // this
  mtl_residency_set *residency_sets[MTL_MAX_RESIDENCY_SETS];  // [count] +1
  _Atomic uint32_t residency_set_count;
  _Atomic uint32_t in_flight;  // created and not completed; a futex
  _Atomic uint32_t creators;   // threads asleep on it
};

struct mtl_event {
  mtli_object object;
  mtl_device *device;  // +1
  bool is_shared;
  uint64_t initial_value;
  char *label;      // NULL for none
  mtli_lane *lane;  // the runtime's: callbacks of listeners
};

// --- the recorded list ------------------------------------------------------

typedef enum mtli_command_kind {
  MTLI_COMMAND_DISPATCH,
  MTLI_COMMAND_COPY,
  MTLI_COMMAND_COPY_BOX,
  MTLI_COMMAND_FILL,
  MTLI_COMMAND_UPDATE,
  MTLI_COMMAND_SYNCHRONIZE,
  MTLI_COMMAND_HOST_WORK,
  MTLI_COMMAND_EXECUTE,        // of an indirect command buffer
  MTLI_COMMAND_EDIT_INDIRECT,  // mtli_edit_indirect_commands does it all
  MTLI_COMMAND_SAMPLE,
  MTLI_COMMAND_WAIT,
  MTLI_COMMAND_SIGNAL,
  // A fence is updated or waited for: recorded for the checker alone.
  MTLI_COMMAND_FENCE,
} mtli_command_kind;

// An argument whose value was recorded by set_bytes: arguments[slot] is the
// host's address of the copy. A driver whose kernels cannot read host memory
// moves it.
typedef struct mtli_inline_argument {
  uint32_t slot;
  uint32_t length_bytes;
} mtli_inline_argument;

// The offset of the memory of a threadgroup argument that has none: this, or
// more by a multiple of itself. A kernel that uses it must fault.
enum { MTLI_NO_THREADGROUP_MEMORY = 64 * 1024 };

// Buffers that a kernel may reach by addresses: those that its encoder was told
// to use.
typedef struct mtli_used_buffer {
  struct mtli_used_buffer *next;
  mtl_buffer *buffer;
  bool is_written;
} mtli_used_buffer;

typedef struct mtli_dispatch {
  mtl_pipeline *pipeline;
  // [pipeline->kernel->parameter_count], by position in the parameter list: a
  // buffer's gpu_address plus offset; the address of inline bytes; the offset
  // of a threadgroup argument's memory; the address of a texture's or sampler's
  // resource ids, which count as inline bytes; NULL for built-in inputs and
  // inactive arguments.
  void **arguments;
  // [parameter_count] how many bytes of a buffer, or inline bytes, there are at
  // that address; 0 for everything else. NULL if that is not known.
  uint64_t *argument_bytes;
  const mtli_inline_argument *inline_arguments;  // [inline_count]
  uint32_t inline_count;
  uint32_t threadgroup_bytes;  // static and dynamic, a multiple of 64
  uint32_t threadgroup_end;    // offset behind the last threadgroup argument
  uint32_t grid_threads[3];    // never 0, unless indirect
  uint32_t group_threads[3];
  mtl_buffer *indirect;  // NULL, or three uint32_t at indirect_offset_bytes
  size_t indirect_offset_bytes;  // count the threadgroups
  const char *debug_group;       // names joined by "/"; NULL outside of groups
  const mtli_used_buffer *used;  // a list; NULL for none
  bool is_repeated;  // of mtli_execution_begin, which gave it before as it is
} mtli_dispatch;

// mtl_host_work or mtl_native_work, recorded.
typedef struct mtli_host_work {
  mtl_host_work_function *function;  // NULL: it is native
  mtl_native_work_function *native;
  const char *name;
  const void *arguments;
  void **addresses;  // [buffer_count] gpu_address plus offset of each
  uint32_t buffer_count;
  size_t scratch_bytes;
  uint64_t piece_count;  // never 0
  uint64_t piece_ns;
} mtli_host_work;

// What [[buffer(n)]] is bound to: a buffer, or inline bytes, or a function
// table, or a tensor, or nothing.
typedef struct mtli_binding {
  mtl_buffer *buffer;
  size_t offset_bytes;
  void *bytes;  // [length_bytes] in the recording's memory
  uint32_t length_bytes;
  mtl_function_table *table;
  const mtl_buffer_tensor *tensor;  // that bytes tell kernels of
} mtli_binding;

// What the encoder had when an execution was encoded, for commands that
// inherit; in the recording's memory.
typedef struct mtli_inherited {
  mtl_pipeline *pipeline;
  mtli_binding bindings[MTL_MAX_BUFFER_ARGUMENTS];
  size_t threadgroup_bytes[MTL_MAX_THREADGROUP_ARGUMENTS];
} mtli_inherited;

// Commands of an indirect command buffer, to be read when this one runs:
// mtli_execution_begin gives them as a list, unless the device keeps them.
typedef struct mtli_execute {
  mtl_indirect_command_buffer *commands;
  uint32_t first;
  uint32_t count;
  mtl_buffer *range;  // NULL, or two uint32_t at range_offset_bytes are first
  size_t range_offset_bytes;  // and count
  bool is_serial;  // each command waits for the one before
  const char *debug_group;
  const mtli_used_buffer *used;     // by the encoder
  const mtli_inherited *inherited;  // NULL if they inherit nothing
  // The runtime's:
  struct mtli_execution *execution;  // while it runs
  struct mtli_execute *next;         // of the list
} mtli_execute;

// A blit that edits commands.
typedef struct mtli_indirect_edit {
  mtl_indirect_command_buffer *source;  // NULL: target's are emptied
  uint32_t source_first;
  mtl_indirect_command_buffer *target;
  uint32_t target_first;
  uint32_t count;
} mtli_indirect_edit;

// One side of a copy of rows of bytes: texels of a texture, or a buffer's.
typedef struct mtli_box_side {
  mtl_buffer *buffer;
  size_t offset_bytes;
  size_t row_pitch;    // bytes from row to row
  size_t image_pitch;  // bytes from image to image
} mtli_box_side;

// When a command began and ended, of CLOCK_MONOTONIC in nanoseconds. One that
// had nothing to do has the same twice, one that did not run zeros; of an
// execution the first command's start and the last one's end.
typedef struct mtli_command_times {
  _Atomic uint64_t start_ns;
  _Atomic uint64_t end_ns;
} mtli_command_times;

static inline void mtli_command_starts(mtli_command_times *times,
                                       uint64_t now_ns) {
  // Relaxed, here and below: completion orders them.
  if (!atomic_load_explicit(&times->start_ns, memory_order_relaxed)) {
    atomic_store_explicit(&times->start_ns, now_ns, memory_order_relaxed);
  }
}

static inline void mtli_command_ends(mtli_command_times *times,
                                     uint64_t now_ns) {
  atomic_store_explicit(&times->end_ns, now_ns, memory_order_relaxed);
}

// Puts what this thread did for a command into the timeline, if one is being
// written.
void mtli_trace_command(const mtli_command *command, uint64_t start_ns,
                        uint64_t end_ns);

struct mtli_command {
  mtli_command *next;
  mtli_command_kind kind;
  // Starts only after every earlier command of the queue is complete and its
  // effects are visible. A command without it may overlap with the earlier
  // ones back to the last that has it.
  bool is_ordered;
  uint16_t encoder;  // which of the command buffer's it is of, modulo 2^16
  mtli_command_times *times;  // the driver fills it in; NULL if nobody asks
  union {
    mtli_dispatch dispatch;
    struct {
      mtl_buffer *source;
      size_t source_offset_bytes;
      mtl_buffer *target;
      size_t target_offset_bytes;
      size_t length_bytes;
    } copy;
    struct {
      mtli_box_side source;
      mtli_box_side target;
      size_t row_bytes;  // no count is 0
      uint32_t rows;     // of an image
      uint32_t images;
    } copy_box;
    struct {
      mtl_buffer *buffer;
      size_t offset_bytes;
      size_t length_bytes;
      uint8_t pattern[4];  // repeated from offset_bytes on, the last one cut
    } fill;
    struct {
      mtl_buffer *buffer;
      size_t offset_bytes;
      size_t length_bytes;
      const void *bytes;  // [length_bytes] the list's, in the host's memory
    } update;
    struct {
      mtl_buffer *buffer;  // managed
    } synchronize;
    mtli_host_work host_work;
    mtli_execute execute;
    mtli_indirect_edit edit;
    struct {
      mtl_buffer *buffer;  // the device's clock, a uint64_t, goes there
      size_t offset_bytes;
    } sample;
    struct {
      mtl_event *event;
      uint64_t value;
    } event;  // WAIT and SIGNAL
    struct {
      mtl_fence *fence;  // kept
      bool is_update;    // else it is waited for
    } fence;
  };
};

// The driver's part of a command, driver->command_bytes zeroed bytes, lies
// behind it, aligned to 16.
enum { MTLI_COMMAND_BYTES = (sizeof(mtli_command) + 15) / 16 * 16 };
static inline void *mtli_command_data(mtli_command *command) {
  return (char *)command + MTLI_COMMAND_BYTES;
}

typedef struct mtli_used_commands {
  const struct mtli_used_commands *next;
  mtl_indirect_command_buffer *commands;
  mtl_resource_usage usage;
} mtli_used_commands;

// Buffers that a residency set has had at some time; it never changes.
typedef struct mtli_residents {
  mtli_object object;
  size_t count;
  mtl_buffer **buffers;  // [count]
} mtli_residents;

struct mtl_command_buffer {
  mtli_object object;
  mtl_queue *queue;          // +1
  mtl_command_buffer *next;  // the driver's, once submitted; before, the place
                             // behind this one in the queue
  mtli_command *commands;    // in the order recorded
  mtl_buffer *const *buffers;  // [buffer_count] every buffer that the commands
  size_t buffer_count;         // use, each once or a few times
  mtli_residents *const *residents;  // [resident_count] and those that kernels
  size_t resident_count;             // may use without being named
  // Indirect command buffers that kernels may encode, of a device that keeps
  // its own.
  const mtli_used_commands *used_commands;
  // Recording failed: nothing runs, but the SIGNAL commands do.
  bool is_failed;
  // How long its work may run, the time that it waits for events left out; 0
  // for any time. A driver without such a limit ignores it.
  uint64_t time_limit_ns;
  // The client has asked for its end. Set before queue_cancel is called, and
  // perhaps before queue_submit: then nothing but the SIGNAL commands runs.
  _Atomic bool is_cancelled;
  // Of the checker (check/check.h); NULL without one: what came
  // before the commit, and what the host knows who has seen it completed.
  void *check_committed;
  void *check_completed;
  // What os_log writes to (code/log_abi.h), as the host sees it; NULL without a
  // log state. The runtime reads it when everything is done.
  struct mtli_log_header *log;
  void *driver_data;  // [driver->command_buffer_bytes] the driver's, zeroed
};

// --- what a driver calls ----------------------------------------------------
// From any thread, holding no lock of its own that a slot takes. In this
// order, each once for every command buffer that it was given.

// The queue has taken the command buffer up.
void mtli_command_buffer_scheduled(mtl_command_buffer *command_buffer);

// Its work began and ended at these times of CLOCK_MONOTONIC, in nanoseconds.
// Not called if nothing ran.
void mtli_command_buffer_ran(mtl_command_buffer *command_buffer,
                             uint64_t start_ns, uint64_t end_ns);

// A kernel said message, which the device has formatted itself instead of
// leaving it in command_buffer->log. As often as that happens.
void mtli_command_buffer_logged(mtl_command_buffer *command_buffer,
                                const mtl_log_message *message);

// Everything is done, or has failed with status and text (borrowed). The
// driver must not touch command_buffer afterwards; its queue may be gone, too.
void mtli_command_buffer_completed(mtl_command_buffer *command_buffer,
                                   mtl_status status, const char *text);

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

// Does an EDIT_INDIRECT, when its turn has come.
void mtli_edit_indirect_commands(const mtli_indirect_edit *edit);

// What mtli_indirect_create_fn has made, of a device that keeps its own.
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

// Describes where an access of device's was, for an error message: "" if
// nothing is known of its address.
void mtli_describe_access(mtl_device *device, const mtli_access *access,
                          char *text, size_t capacity);

// Receives a container that the runtime owns; borrows it.
typedef mtl_status mtli_take_code_fn(void *context, const mtli_code *code);

// The visible functions that pipeline is made with. Any thread.
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
// Name of a device, static storage, unique among all drivers.
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

// Returns what mtli_pages_create takes: 0 for a buffer that is not guarded.
size_t mtli_buffer_end_alignment(const mtl_buffer_desc *desc);
// Allocates; sets contents and gpu_address; contents start as desc->bytes or
// zeros. With buffer->parent there is nothing to allocate: the buffer is a part
// of parent's memory, of the same storage mode, whatever else lies there, and
// starts as that is or as desc->bytes. Any thread; may block.
typedef mtl_status mtli_buffer_create_fn(mtl_buffer *buffer,
                                         const mtl_buffer_desc *desc);
// Any thread; does not block for long. The runtime calls the deallocator.
typedef void mtli_buffer_destroy_fn(mtl_buffer *buffer);
// A wish about all of a buffer's memory, work in flight or not. Any thread.
typedef enum mtli_advice {
  MTLI_ADVICE_DISCARD,   // contents may be lost, and memory given back; not of
                         // a part of another, nor of the client's
  MTLI_ADVICE_PREFAULT,  // it is about to be used: have the memory be there
} mtli_advice;
typedef mtl_status mtli_buffer_advise_fn(mtl_buffer *buffer,
                                         mtli_advice advice);
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
// Follows whichever of the two has succeeded.
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
// No command buffer is left. Any thread, one of the driver's own too.
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
// Present value. Any thread; does not block.
typedef uint64_t mtli_event_value_fn(mtl_event *event);
// Raises from the host. Any thread; does not block.
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
// type is one of mtl_indirect_command_type; grid counts threads or threadgroups.
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
  bool binds_tensors;  // kernels read metal_tensor's record of them
  bool has_heaps;  // buffer_create knows of parents
  bool checks;     // runs code of MTLI_TIER_CHECKED
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

// A slot for each feature that a device may lack.
mtli_buffer_modified_fn mtli_no_buffer_modified;
mtli_buffer_advise_fn mtli_no_buffer_advise;
mtli_queue_help_fn mtli_no_queue_help;

#endif
