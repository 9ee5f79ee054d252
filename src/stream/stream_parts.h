// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// stream_parts.h: shared by the files of this folder. The lock order is a
// stream's lock, the list of streams, a pool, the pointer map.
#ifndef METTLE_STREAM_STREAM_PARTS_H
#define METTLE_STREAM_STREAM_PARTS_H

#include <pthread.h>
#include <stdatomic.h>

#include "mettle/event.h"
#include "mettle/stream.h"

// Returns early with the status of a failed call.
#define STREAM_TRY(call)                      \
  do {                                        \
    const mtl_status stream_status_ = (call); \
    if (stream_status_ != MTL_OK) {           \
      return stream_status_;                  \
    }                                         \
  } while (0)

// --- pointer_map.c -----------------------------------------------------------

// Adds buffer under its addresses; false if some of them are taken or there is
// no memory. Retains buffer.
bool pointer_map_insert(mtl_buffer *buffer, bool is_pooled);
// Removes the entry that starts at base and returns its reference. NULL if
// there is none, or only one of the other kind.
mtl_buffer *pointer_map_remove(const void *base, bool is_pooled);
// Finds the buffer that holds address, +1; NULL if none does.
mtl_buffer *pointer_map_find(const void *address, size_t *out_offset_bytes);

// --- buffer_pool.c -----------------------------------------------------------

// Takes a buffer of at least length_bytes from the pool of stream's device.
mtl_status buffer_pool_take(mtl_stream *stream, size_t length_bytes,
                            mtl_memory_use use, mtl_buffer **out_buffer);
// Gives a buffer back to its pool; takes the reference.
void buffer_pool_give(mtl_buffer *buffer);

// --- stream.c ----------------------------------------------------------------

typedef struct stream_batch {
  mtl_command_buffer *commands;  // +1
  uint64_t number;
} stream_batch;

enum { STREAM_BUFFER_COUNT = MTL_MAX_BUFFER_ARGUMENTS };

struct mtl_stream {
  _Atomic uint32_t reference_count;
  mtl_device *device;  // +1
  mtl_queue *queue;    // +1
  mtl_event *event;    // +1; rises to the number of each batch that is done
  pthread_mutex_t lock;
  mtl_stream_desc desc;
  struct mtl_stream *next;  // in the list of all streams

  // The newest batch with work in it; 0 before there is any.
  _Atomic uint64_t newest_batch;

  // Under the lock from here on.
  uint64_t batch;                // the number of the one being recorded
  mtl_command_buffer *commands;  // +1; NULL until something is recorded
  mtl_compute_encoder *encoder;  // +1; NULL between encoders
  mtl_kernel *kernel;            // being encoded; NULL between dispatches
  uint32_t set_mask;             // the arguments of this dispatch
  uint32_t bound_mask;           // of any dispatch in this encoder
  uint64_t pending_bytes;
  stream_batch *in_flight;  // [in_flight_count] malloc'ed, oldest first
  size_t in_flight_count;
  size_t in_flight_capacity;
  mtl_status error;
  char *error_text;  // malloc'ed
  mtl_stream_statistics statistics;
};

// Keeps a failure with mtl_last_error's text, and returns status.
mtl_status stream_keep(mtl_stream *stream, mtl_status status);
// Fails unless length_bytes from an offset lie in buffer, which `part` names.
mtl_status stream_check_range(const mtl_buffer *buffer, size_t offset_bytes,
                              size_t length_bytes, const char *call,
                              const char *part);
// Opens the command buffer, and the encoder, unless they are open.
mtl_status stream_open(mtl_stream *stream);
mtl_status stream_open_encoder(mtl_stream *stream);
// Commits the batch if it is large enough; called after each dispatch.
void stream_flush(mtl_stream *stream);

// Work of a stream that may still run: until event reaches value.
typedef struct stream_mark {
  const mtl_stream *stream;  // an identity only, not to be dereferenced
  mtl_event *event;          // +1
  uint64_t value;
} stream_mark;

enum { STREAM_MARKS_MAX = 8 };

// Collects marks of the unfinished work of every stream of device; false if
// there are more than STREAM_MARKS_MAX.
bool stream_marks_take(const mtl_device *device,
                       stream_mark marks[STREAM_MARKS_MAX], size_t *out_count);
void stream_marks_release(stream_mark *marks, size_t count);
// True if work recorded from now on `stream` (NULL: on the host, now) is
// ordered after all marks.
bool stream_marks_passed(const stream_mark *marks, size_t count,
                         const mtl_stream *stream);

// --- shader_library.c --------------------------------------------------------

enum { STREAM_BUILTIN_CONSTANTS = 5 };

// Returns kernel name of source, which is compiled once for each device and
// cached.
//
//   source      its address names it, so it must not change
//   constants   the values of function constants 0 to 4, all uint
mtl_status stream_builtin_kernel(
    mtl_stream *stream, const char *source, const char *name,
    const uint32_t constants[STREAM_BUILTIN_CONSTANTS],
    mtl_kernel **out_kernel);

// buffer_pool.c: returns a limit in bytes from an environment variable in MiB;
// otherwise_mib if it is unset or unreadable.
uint64_t stream_bound_bytes(const char *variable, uint32_t otherwise_mib);

#endif
