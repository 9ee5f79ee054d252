// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// stream.h: work in program order, as PyTorch's and ExecuTorch's Metal
// backends see it: a stream that opens command buffers and encoders itself,
// shader libraries, memory known by its addresses, and five ways to
// synchronise.
//
// Lifetimes. A shader library is persistent: it compiles MSL once, makes
// pipelines lazily and keeps them. A kernel belongs to its library and lives as
// long; it holds nothing of a dispatch, so any thread may use it. A stream owns
// one queue, the command buffer that is being recorded and those in flight.
// Consecutive dispatches share one encoder until a copy, a fill or a
// synchronisation ends it. Whatever recorded work uses is retained until that
// work has completed, so buffers, tensors and libraries may go earlier.
//
// Order. Everything recorded on one stream takes effect in the order of the
// calls. Streams do not order each other; a client that shares memory between
// two synchronises one before it uses the other.
//
// Errors. Each call returns its own status. The stream also keeps the first
// failure, of a recording call or of a kernel that faulted later, with its text
// (a compiler's diagnostics in full). Every synchronisation that commits
// returns what is kept; one that waits also clears it, and the stream works on.
// After a failed recording call the batch that it belongs to is discarded as a
// whole; batches before and after it run.
//
// Threads. All calls may come from any thread: each locks its stream. Calls
// that belong together (start-encoding to dispatch) need the lock throughout
// where threads share a stream: mtl_stream_lock. A thread that has a stream of
// its own (mtl_stream_set_current) needs none.
#ifndef METTLE_STREAM_H
#define METTLE_STREAM_H

#include "buffer.h"
#include "command_buffer.h"
#include "encoder.h"
#include "library.h"
#include "queue.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mtl_stream mtl_stream;
typedef struct mtl_shader_library mtl_shader_library;
typedef struct mtl_kernel mtl_kernel;

// How far a synchronisation goes. Each ends the open encoder.
//
// Source     PyTorch: at::mps::SyncType, same values
typedef enum mtl_sync_mode {
  MTL_SYNC_NONE = 0,         // nothing is committed
  MTL_SYNC_COMMIT,           // committed; the next call records into a fresh
                             // command buffer
  MTL_SYNC_COMMIT_AND_WAIT,  // and all earlier work has finished
  MTL_SYNC_COMMIT_AND_CONTINUE,  // committed without a stall, even where the
                                 // device is behind; recording goes on, and a
                                 // later wait covers every batch
  MTL_SYNC_COMMIT_ADAPTIVE,  // committed if that pays: much is pending, or the
                             // device is idle and a quarter of that is. A
                             // later wait covers the rest
} mtl_sync_mode;

// --- Streams -----------------------------------------------------------------

typedef struct mtl_stream_desc {
  uint32_t flush_dispatches;  // a dispatch commits by itself once so many are
                              // pending; 0 means 64
  uint64_t flush_bytes;       // likewise for the bytes bound to pending
                              // dispatches; 0 means 256 MiB
  bool manual;                // only synchronisations commit
  const char *label;          // copied; NULL for none
} mtl_stream_desc;

// Makes a stream with a queue of its own.
//
//   device   NULL for the default one
//   desc     NULL for the defaults
//
// Ownership  The stream is yours; it retains device.
// Source     PyTorch: at::mps::MPSStream
MTL_API MTL_MUST_USE mtl_status mtl_stream_create(mtl_device *device,
                                                  const mtl_stream_desc *desc,
                                                  mtl_stream **out_stream);
MTL_API mtl_stream *mtl_stream_retain(mtl_stream *stream);
// The last owner's release commits what is pending and does not wait for it.
MTL_API void mtl_stream_release(mtl_stream *stream);

// Gives the process' default stream, on the default device, made at the first
// call.
//
// Ownership  Borrowed; it lives as long as the process.
MTL_API MTL_MUST_USE mtl_status mtl_stream_default(mtl_stream **out_stream);

// Gives the calling thread's current stream: the one set last, otherwise the
// default one.
//
// Ownership  Borrowed; valid until the thread sets another.
MTL_API MTL_MUST_USE mtl_status mtl_stream_current(mtl_stream **out_stream);

// Makes stream the calling thread's current one; NULL goes back to the default.
//
// Ownership  Retains stream until another is set or the thread ends.
MTL_API void mtl_stream_set_current(mtl_stream *stream);

// Returns what the stream's work runs on.
MTL_API mtl_device *mtl_stream_device(const mtl_stream *stream);  // borrowed
MTL_API mtl_queue *mtl_stream_queue(const mtl_stream *stream);    // borrowed

// Keeps other threads' calls on this stream out until the unlock. Nests.
MTL_API void mtl_stream_lock(mtl_stream *stream);
MTL_API void mtl_stream_unlock(mtl_stream *stream);

// Ends the encoder and goes as far as mode says.
//
// Errors     MTL_INVALID_ARGUMENT  no such mode
//            any other             the first failure kept, see above; NONE
//                                  returns MTL_OK
MTL_API MTL_MUST_USE mtl_status mtl_stream_synchronize(mtl_stream *stream,
                                                       mtl_sync_mode mode);

// Tells whether nothing is recorded that is not committed.
MTL_API bool mtl_stream_is_empty(mtl_stream *stream);
// Tells whether nothing is recorded or in flight.
MTL_API bool mtl_stream_is_idle(mtl_stream *stream);

// Keeps a failure as if a call on the stream had made it, unless one is kept
// already: for layers above streams, whose callers ignore what is returned.
//
//   text   NULL for mtl_last_error's
MTL_API void mtl_stream_fail(mtl_stream *stream, mtl_status status,
                             const char *text);
// Returns the failure kept so far without clearing it, MTL_OK if there is none.
MTL_API mtl_status mtl_stream_error(mtl_stream *stream);

// Counts since the stream was made.
typedef struct mtl_stream_statistics {
  uint64_t dispatches;          // kernels recorded
  uint64_t copies;              // copies and fills recorded
  uint64_t host_operations;     // see mtl_stream_count_host_operation
  uint64_t commits;             // command buffers committed
  uint64_t waits;               // synchronisations that waited
  uint64_t bytes;               // bound, copied and filled
  uint32_t pending_dispatches;  // not committed now
  uint32_t in_flight;           // command buffers committed, not completed
} mtl_stream_statistics;
MTL_API mtl_stream_statistics mtl_stream_get_statistics(mtl_stream *stream);

// --- Shader libraries and kernels --------------------------------------------

// Compiles MSL source with safe, precise mathematics, as PyTorch does.
//
//   device   NULL for the current stream's
//   source   UTF-8 text with its terminator
//
// Ownership  The library is yours; it retains device.
// Threads    Any.
// Errors     MTL_COMPILE_FAILED  the text is every diagnostic
MTL_API MTL_MUST_USE mtl_status mtl_shader_library_create(
    mtl_device *device, const char *source, mtl_shader_library **out_library);
MTL_API mtl_shader_library *mtl_shader_library_retain(
    mtl_shader_library *library);
// Kernels of the library go with its last owner; recorded dispatches stay.
MTL_API void mtl_shader_library_release(mtl_shader_library *library);

// Finds a kernel and makes its pipeline ready. The same name gives the same
// kernel.
//
// Ownership  Borrowed from library.
// Threads    Any.
// Errors     MTL_NOT_FOUND  the text lists near names
MTL_API MTL_MUST_USE mtl_status mtl_shader_library_kernel(
    mtl_shader_library *library, const char *name, mtl_kernel **out_kernel);

// Returns the kernel's name, valid as long as the kernel, and its pipeline.
MTL_API const char *mtl_kernel_name(const mtl_kernel *kernel);
MTL_API mtl_pipeline *mtl_kernel_pipeline(
    const mtl_kernel *kernel);  // borrowed

// --- Dispatches --------------------------------------------------------------

// Begins a dispatch of kernel: opens the encoder unless one is open, and
// forgets all arguments of the dispatch before.
MTL_API MTL_MUST_USE mtl_status mtl_stream_start_encoding(mtl_stream *stream,
                                                          mtl_kernel *kernel);

// Binds buffer at offset_bytes to [[buffer(index)]].
//
//   index         0 to 30
//   length_bytes  of what the kernel uses, for the adaptive commit; 0 for all
//
// Errors     MTL_INVALID_ARGUMENT  index, or the range ends past the buffer
//            MTL_INVALID_STATE     nothing is being encoded
MTL_API MTL_MUST_USE mtl_status mtl_stream_set_buffer(mtl_stream *stream,
                                                      uint32_t index,
                                                      mtl_buffer *buffer,
                                                      size_t offset_bytes,
                                                      size_t length_bytes);
// The same for memory known by its address: see mtl_memory_find.
//
// Errors     MTL_NOT_FOUND  no buffer is known there
MTL_API MTL_MUST_USE mtl_status mtl_stream_set_address(mtl_stream *stream,
                                                       uint32_t index,
                                                       const void *address,
                                                       size_t length_bytes);
// Binds a copy of value, `constant long &` in the kernel.
MTL_API MTL_MUST_USE mtl_status mtl_stream_set_int64(mtl_stream *stream,
                                                     uint32_t index,
                                                     int64_t value);
// Binds a copy of bytes [length_bytes], 1 to 4096.
MTL_API MTL_MUST_USE mtl_status mtl_stream_set_bytes(mtl_stream *stream,
                                                     uint32_t index,
                                                     const void *bytes,
                                                     size_t length_bytes);

// Runs exactly the given threads, the product of grid_threads.
//
//   grid_threads   [rank] each up to UINT32_MAX; 0 does nothing
//   rank           1 to 3
//   group_threads  [rank] threads of a threadgroup; NULL chooses: as many as
//                  the pipeline allows along x, no more than the grid has
//
// Errors     MTL_INVALID_ARGUMENT  rank; a size; a group of 0 threads or of
//                                  more than the pipeline allows
//            MTL_INVALID_STATE     nothing is being encoded
MTL_API MTL_MUST_USE mtl_status
mtl_stream_dispatch(mtl_stream *stream, const uint64_t *grid_threads,
                    size_t rank, const uint64_t *group_threads);
// Runs groups whole threadgroups of group_threads threads.
MTL_API MTL_MUST_USE mtl_status mtl_stream_dispatch_threadgroups(
    mtl_stream *stream, mtl_size groups, mtl_size group_threads);

// Records work of the host's own (command_buffer.h) in the stream's order. It
// counts as a dispatch.
//
// Errors     MTL_UNSUPPORTED  the device's info says !runs_host_work
MTL_API MTL_MUST_USE mtl_status mtl_stream_host_work(mtl_stream *stream,
                                                     const mtl_host_work *work);
// The same with work of the device's own.
//
// Errors     MTL_UNSUPPORTED  the device's info says !runs_native_work
MTL_API MTL_MUST_USE mtl_status
mtl_stream_native_work(mtl_stream *stream, const mtl_native_work *work);

// --- Copies ------------------------------------------------------------------

// Copies length_bytes between buffers, then synchronises as mode says. 0 bytes
// copy nothing.
//
// Errors     MTL_INVALID_ARGUMENT  a range ends past its buffer, the sum
//                                  overflows, or the ranges overlap
MTL_API MTL_MUST_USE mtl_status mtl_stream_copy(
    mtl_stream *stream, mtl_buffer *source, size_t source_offset_bytes,
    mtl_buffer *target, size_t target_offset_bytes, size_t length_bytes,
    mtl_sync_mode mode);
// Sets length_bytes bytes to value, then synchronises.
MTL_API MTL_MUST_USE mtl_status
mtl_stream_fill(mtl_stream *stream, mtl_buffer *buffer, size_t offset_bytes,
                size_t length_bytes, uint8_t value, mtl_sync_mode mode);

// Counts one operation that a layer above did on the host, in order, for the
// statistics.
MTL_API void mtl_stream_count_host_operation(mtl_stream *stream,
                                             uint64_t bytes);

// --- Memory known by its addresses -------------------------------------------
//
// A buffer that is tracked is found by any address within it, in O(log n) under
// a lock of its own; once forgotten it is found no more. Memory that is
// allocated here comes from a pool for each device, is tracked, and goes back
// to the pool when it is freed, however much recorded work still uses it: the
// pool hands it out again only where that work cannot notice.

// What the one who allocates will do first.
typedef enum mtl_memory_use {
  MTL_MEMORY_FOR_HOST = 0,  // the host may touch it at once
  MTL_MEMORY_FOR_STREAM,    // only work recorded on stream touches it: memory
                            // that earlier work of this stream still uses will
                            // do
} mtl_memory_use;

// Allocates length_bytes in a shared buffer; contents are undefined.
//
//   stream         NULL for the current one
//   length_bytes   0 gives NULL
//   out_address    a multiple of 256 bytes. What lies behind the length,
//   rounded
//                  up to an eighth of its power of two and 256, is
//                  inaccessible, unless memory was freed that fits as well
//
// Ownership  The memory is yours: mtl_memory_free.
// Threads    Any.
// Errors     MTL_OUT_OF_MEMORY
MTL_API MTL_MUST_USE mtl_status mtl_memory_allocate(mtl_stream *stream,
                                                    size_t length_bytes,
                                                    mtl_memory_use use,
                                                    void **out_address);
// Frees what mtl_memory_allocate gave. NULL is allowed.
//
// Errors     MTL_INVALID_ARGUMENT  not the first address of such memory
MTL_API MTL_MUST_USE mtl_status mtl_memory_free(void *address);

// Makes buffer findable by its addresses.
//
// Ownership  Retains buffer until mtl_memory_forget.
// Errors     MTL_INVALID_ARGUMENT  private, or its addresses are tracked
MTL_API MTL_MUST_USE mtl_status mtl_memory_track(mtl_buffer *buffer);
// Forgets a tracked buffer and its addresses.
//
// Errors     MTL_NOT_FOUND  not tracked
MTL_API MTL_MUST_USE mtl_status mtl_memory_forget(mtl_buffer *buffer);

// Finds the tracked buffer that holds address.
//
//   out_offset_bytes   of address in the buffer
//
// Ownership  The buffer is yours: another thread may forget it.
// Errors     MTL_NOT_FOUND
MTL_API MTL_MUST_USE mtl_status mtl_memory_find(const void *address,
                                                mtl_buffer **out_buffer,
                                                size_t *out_offset_bytes);

// A device's pool of buffers.
typedef struct mtl_pool_statistics {
  uint64_t limit_bytes;  // kept unused at the most; METTLE_POOL_MB, 256
  uint64_t kept_bytes;   // unused now
  uint64_t kept_buffers;
  uint64_t used_bytes;  // handed out now
  uint64_t used_buffers;
  uint64_t hits;       // allocations served by a kept buffer
  uint64_t misses;     // by a new one
  uint64_t evictions;  // buffers given up for the limit
} mtl_pool_statistics;
MTL_API MTL_MUST_USE mtl_status mtl_pool_get_statistics(
    mtl_device *device, mtl_pool_statistics *out_statistics);
// Changes the limit; what is over it goes, least recently used first. 0 keeps
// nothing.
MTL_API MTL_MUST_USE mtl_status mtl_pool_set_limit(mtl_device *device,
                                                   uint64_t limit_bytes);

// --- Tensors -----------------------------------------------------------------

#define MTL_TENSOR_MAX_RANK 16  // c10/metal/common.h: max_ndim

// A strided array in a buffer, as graph operations (ops.h) take it: a value,
// which owns nothing.
typedef struct mtl_tensor {
  mtl_buffer *buffer;   // borrowed during the call
  size_t offset_bytes;  // of element 0
  mtl_data_type type;
  uint32_t rank;                         // 0 for a scalar
  int64_t sizes[MTL_TENSOR_MAX_RANK];    // [rank] elements
  int64_t strides[MTL_TENSOR_MAX_RANK];  // [rank] elements, 0 or more
  uint64_t constant;  // of mtl_constant_create, if the elements are there when
                      // an operation is recorded and never change; otherwise 0
} mtl_tensor;

// Gives a number, never given before, to elements that do not change: an
// operation that meets it again may use what it kept of them, in an order of
// its own. METTLE_CONSTANTS_MB bounds what is kept in all, 512 at first.
//
// Threads    Any.
MTL_API uint64_t mtl_constant_create(void);
// Drops what was kept; no operation may be given the number any more. Work
// that was recorded before keeps what it needs. 0 is allowed.
MTL_API void mtl_constant_forget(uint64_t constant);
// Tells how many bytes are kept for all constants.
MTL_API uint64_t mtl_constant_kept_bytes(void);
// Tells the bound, in bytes, as METTLE_CONSTANTS_MB has it now.
MTL_API uint64_t mtl_constant_limit_bytes(void);

// Counts a tensor's elements.
MTL_API int64_t mtl_tensor_count(const mtl_tensor *tensor);
// Returns how many bytes from element 0 to the end of the last one.
MTL_API size_t mtl_tensor_extent_bytes(const mtl_tensor *tensor);
// Tells whether the elements lie row by row without gaps.
MTL_API bool mtl_tensor_is_contiguous(const mtl_tensor *tensor);

// Binds a tensor to [[buffer(index)]] at its first element.
MTL_API MTL_MUST_USE mtl_status mtl_stream_set_tensor(mtl_stream *stream,
                                                      uint32_t index,
                                                      const mtl_tensor *tensor);

#ifdef __cplusplus
}
#endif
#endif
