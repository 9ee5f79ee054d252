// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// launch.h: what the Python package calls besides the public API, by ctypes.
// Plain C, so that one library serves every version of Python.
#ifndef METTLE_PYTHON_LAUNCH_H
#define METTLE_PYTHON_LAUNCH_H

#include <mettle/mettle.h>

// python/mettle/_arguments.py packs these: 32 bytes each.
typedef enum mettle_argument_kind {
  METTLE_ARGUMENT_BUFFER = 0,  // object is an mtl_buffer or NULL
  METTLE_ARGUMENT_MEMORY,      // object is an address of the program's
  METTLE_ARGUMENT_VALUE,       // object is the bytes themselves, 8 at the most
  METTLE_ARGUMENT_BYTES,       // object is the address of bytes to copy
  METTLE_ARGUMENT_TEXTURE,
  METTLE_ARGUMENT_SAMPLER,
  METTLE_ARGUMENT_TABLE,
  METTLE_ARGUMENT_THREADGROUP,  // length_bytes of threadgroup memory
  METTLE_ARGUMENT_TENSOR,       // object is an mtl_buffer_tensor
  // What a struct leads to: is not bound, but made resident.
  METTLE_ARGUMENT_USED_BUFFER,
  METTLE_ARGUMENT_USED_TEXTURE,
  METTLE_ARGUMENT_USED_TABLE,
} mettle_argument_kind;

typedef struct mettle_argument {
  uint32_t kind;
  uint32_t index;
  uint64_t object;
  uint64_t offset_bytes;
  uint64_t length_bytes;
} mettle_argument;

typedef enum mettle_launch_flags {
  METTLE_LAUNCH_WAIT = 1,          // for its end, whose status is returned
  METTLE_LAUNCH_THREADGROUPS = 2,  // the grid is counted in threadgroups
} mettle_launch_flags;

// Records one dispatch in a command buffer of its own and commits it.
//
//   arguments   [count]
//   sizes       [6] grid x, y, z and threadgroup x, y, z
//   flags       mettle_launch_flags, or-ed
//   event       rises to value when all has finished; NULL for none
//   interrupt_fd  as mettle_watch_interrupts, which is called; -1 for none
//
// *out_command_buffer is there while it is waited for, for another thread to
// cancel.
//
// Ownership  The command buffer is yours, also with an error of its run. Memory
//            stays the caller's until the command buffer has completed.
// Threads    Any.
// Errors     as mtl_command_buffer_commit; with METTLE_LAUNCH_WAIT as
//            mtl_command_buffer_wait
MTL_API mtl_status mettle_launch(mtl_queue *queue, mtl_pipeline *pipeline,
                                 const mettle_argument *arguments,
                                 uint32_t count, const uint32_t *sizes,
                                 uint32_t flags, mtl_event *event,
                                 uint64_t value, int interrupt_fd,
                                 mtl_command_buffer **out_command_buffer);

// Makes a buffer of memory of the program's, where it lies, and of as much
// around it as the device's no_copy_alignment_bytes asks for; out_offset_bytes
// is where in the buffer it begins.
MTL_API mtl_status mettle_wrap_memory(mtl_device *device, uint64_t address,
                                      uint64_t length_bytes,
                                      mtl_buffer **out_buffer,
                                      uint64_t *out_offset_bytes);

// Has each SIGINT write a byte to fd, which does not block, before Python's own
// handler sees it. Called before every wait of the main thread: a handler that
// was installed in between is put behind this one again.
MTL_API void mettle_watch_interrupts(int fd);

// A field of a public structure; the structure itself if field is "".
typedef struct mettle_layout {
  const char *type;
  const char *field;
  uint32_t offset_bytes;
  uint32_t size_bytes;
} mettle_layout;

// Returns all of them, [*out_count]; static storage.
MTL_API const mettle_layout *mettle_layouts(size_t *out_count);

#endif
