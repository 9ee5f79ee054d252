// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// driver_objects.h: the objects as a driver sees them. The first members of
// each are the runtime's; a driver's own part lies behind (see driver.h).
//
//   +1       the object holds a reference
//   runtime  "the runtime's" members: a driver leaves them alone
#ifndef MTLI_DRIVER_OBJECTS_H
#define MTLI_DRIVER_OBJECTS_H

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

// A released buffer, remembered so that errors can name it.
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
  mtl_buffer *buffers;   // all live buffers, to name an address in an error
  mtli_released released[MTLI_RELEASED_COUNT];  // the last released ones, in a
                                                // ring
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
  // The buffer whose memory this one is a part of, from parent_offset_bytes on:
  // a heap's, or one of another device that this is a view of. NULL for none.
  mtl_buffer *parent;
  size_t parent_offset_bytes;
  mtl_heap *heap;              // +1; the runtime's: parent's; NULL for none
  mtl_buffer *viewed;          // +1; the same: the buffer of the other device
  _Atomic bool is_aliasable;   // the same: its place may also be another's
  _Atomic uint32_t purgeable;  // the same: mtl_purgeable_state; 0 for none set
  _Atomic bool is_prefaulted;  // the same: advised so (residency_set.c)
  void *contents;        // host address, set by buffer_create; NULL if private
  uint64_t gpu_address;  // the address that kernels see, set by buffer_create
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
  mtl_texture_desc desc;  // the description, with defaults filled in
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
  uint64_t resource_id;  // the id that kernels see, set by sampler_create;
                         // never 0
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
  const char *name;      // the kernel's, and lasts as long as the process
  uint32_t max_threads;  // in a threadgroup
  bool is_foreign;       // METTLE_CPU_TARGET: code that this machine cannot run
  struct mtli_pipeline_parts *parts;  // the runtime's (pipeline.c)
  uint64_t id;                // under device->lock; 0 if kernels do not know it
  _Atomic(mtli_weak *) weak;  // the runtime's
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
  uint64_t time_limit_ns;  // of command buffers without one; 0 for none
  bool times_work;         // of all its command buffers
  bool is_ordered_by_barriers;
  // Valid for the timeline of the number below; written under lock.
  _Atomic mtli_trace_track track;
  _Atomic uint32_t track_timeline;
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

// An event whose signals arrive on the host (has_host_events): queues of other
// devices with such events may wait for a shared one and signal it.
typedef struct mtli_host_event {
  mtl_event event;
  mtli_timeline timeline;
} mtli_host_event;

#endif
