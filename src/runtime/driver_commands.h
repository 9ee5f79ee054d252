// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// driver_commands.h: a command buffer as a driver sees it: the list of recorded
// commands, with what each of them needs, and the buffers that they use.
#ifndef MTLI_DRIVER_COMMANDS_H
#define MTLI_DRIVER_COMMANDS_H

#include "runtime/driver_objects.h"

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
  MTLI_COMMAND_ORDER,  // recorded for the checker alone
} mtli_command_kind;

// An argument whose value was recorded by set_bytes: arguments[slot] is the
// host's address of the copy. A driver whose kernels cannot read host memory
// copies it to the device.
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
  bool is_serial;             // each command waits for the one before
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
  // The thread that did all of it, for the timeline; 0 if it has an event of
  // its own for that.
  _Atomic uint32_t thread;
  bool is_of_many;  // an execution: its commands have these in common
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

// Records this thread's work for a command in the timeline, if one is being
// written.
void mtli_trace_command(const mtli_command *command, uint64_t start_ns,
                        uint64_t end_ns);
// The same, of a thread that did all of it.
void mtli_trace_whole_command(const mtli_command *command, uint64_t start_ns,
                              uint64_t end_ns);

// Memory that a barrier names.
typedef struct mtli_ordered_piece {
  const struct mtli_ordered_piece *next;
  uint64_t gpu_address;
} mtli_ordered_piece;

enum { MTLI_ORDERS_ALL = MTL_BARRIER_BUFFERS | MTL_BARRIER_TEXTURES };

struct mtli_command {
  mtli_command *next;
  mtli_command_kind kind;
  // Starts only after every earlier command of the queue is complete and its
  // effects are visible. A command without it may overlap with the earlier
  // ones back to the last that has it.
  bool is_ordered;
  // For the checker, the memory that the client wants ordered: of these kinds
  // (mtl_barrier_scope), or these pieces alone.
  uint8_t orders;
  uint16_t encoder;  // number of its encoder in the command buffer, modulo 2^16
  const mtli_ordered_piece *ordered;
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
      mtl_buffer *buffer;  // the device's clock, a uint64_t, is written there
      size_t offset_bytes;
    } sample;
    struct {
      mtl_event *event;
      uint64_t value;
    } event;          // WAIT and SIGNAL
    mtl_order order;  // the fence is kept
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

// A command buffer that another one depends on, which keeps it.
typedef struct mtli_dependency {
  const struct mtli_dependency *next;
  const mtl_command_buffer *earlier;
} mtli_dependency;

struct mtl_command_buffer {
  mtli_object object;
  mtl_queue *queue;            // +1
  mtl_command_buffer *next;    // the driver's, once submitted; before that, the
                               // next one in the queue
  mtli_command *commands;      // in the order recorded
  mtl_buffer *const *buffers;  // [buffer_count] every buffer that the commands
  size_t buffer_count;         // use, each once or a few times
  mtli_residents *const *residents;  // [resident_count] and those that kernels
  size_t resident_count;             // may use without being named
  // Indirect command buffers that kernels may encode, of a device that keeps
  // its own.
  const mtli_used_commands *used_commands;
  // Recording failed: only the SIGNAL commands run.
  bool is_failed;
  // How long its work may run, the time that it waits for events left out; 0
  // for any time. A driver without such a limit ignores it.
  uint64_t time_limit_ns;
  // The client has asked for its end. Set before queue_cancel is called, and
  // perhaps before queue_submit: then nothing but the SIGNAL commands runs.
  _Atomic bool is_cancelled;
  // Its work has failed. A driver that knows_failures sets it before the
  // queue's next command buffer starts.
  _Atomic bool has_failed;
  const mtli_dependency *dependencies;
  // Of the checker (check/check.h); NULL without one: what came
  // before the commit, and what the host knows who has seen it completed.
  void *check_committed;
  void *check_completed;
  // What os_log writes to (code/log_abi.h), as the host sees it; NULL without a
  // log state. The runtime reads it when everything is done.
  struct mtli_log_header *log;
  void *driver_data;  // [driver->command_buffer_bytes] the driver's, zeroed
};

#endif
