// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// counters.h: times of the device's: samples that command buffers take, and the
// start and end of each piece of work.
//
// The one set of counters is the device's time. It is told in ticks of the
// device's clock, mtl_device_info.timestamp_frequency_hz a second;
// mtl_device_sample_timestamps relates it to the host's.
#ifndef METTLE_COUNTERS_H
#define METTLE_COUNTERS_H

#include "buffer.h"
#include "command_buffer.h"
#include "encoder.h"

#ifdef __cplusplus
extern "C" {
#endif

// Reads both clocks at one moment, as nearly as the device can.
//
//   out_host_ns   CLOCK_MONOTONIC, in nanoseconds, as all times of Mettle's
//   out_device    ticks of the device's clock
//
// Two readings some time apart give the line that turns ticks into nanoseconds.
//
// Threads    Any.
// Source     Metal: -[MTLDevice sampleTimestamps:gpuTimestamp:]
MTL_API MTL_MUST_USE mtl_status mtl_device_sample_timestamps(
    mtl_device *device, uint64_t *out_host_ns, uint64_t *out_device);

// A sample that was not taken.
#define MTL_COUNTER_ERROR UINT64_MAX  // Metal: MTLCounterErrorValue

typedef struct mtl_counter_sample_buffer_desc {
  uint32_t sample_count;          // 1 to MTL_MAX_COUNTER_SAMPLES
  mtl_storage_mode storage_mode;  // shared, or private: then blits resolve it
  const char *label;              // copied; NULL for none
} mtl_counter_sample_buffer_desc;

#define MTL_MAX_COUNTER_SAMPLES 4096  // Metal: 32 KiB of 8 bytes each

// Makes room for samples, each MTL_COUNTER_ERROR until it is taken. A command
// buffer that fails takes none behind its failure.
//
// Ownership  The buffer is yours; it retains device.
// Threads    Any.
// Errors     MTL_INVALID_ARGUMENT  a count of 0 or over the limit; managed
//            MTL_OUT_OF_MEMORY
// Source     Metal: newCounterSampleBufferWithDescriptor:error:
MTL_API MTL_MUST_USE mtl_status mtl_counter_sample_buffer_create(
    mtl_device *device, const mtl_counter_sample_buffer_desc *desc,
    mtl_counter_sample_buffer **out_samples);
MTL_API mtl_counter_sample_buffer *mtl_counter_sample_buffer_retain(
    mtl_counter_sample_buffer *samples);
MTL_API void mtl_counter_sample_buffer_release(
    mtl_counter_sample_buffer *samples);
MTL_API uint32_t
mtl_counter_sample_buffer_count(const mtl_counter_sample_buffer *samples);
MTL_API const char *mtl_counter_sample_buffer_label(
    const mtl_counter_sample_buffer *samples);

// Copies samples first to first + count - 1 out, as ticks of the device's
// clock. Those of a command buffer are there when it has completed.
//
//   out_ticks  [count]
//
// Errors     MTL_INVALID_ARGUMENT  not all of them exist; the buffer is private
// Source     Metal: resolveCounterRange:
MTL_API MTL_MUST_USE mtl_status mtl_counter_sample_buffer_resolve(
    mtl_counter_sample_buffer *samples, uint32_t first, uint32_t count,
    uint64_t *out_ticks);

// Takes sample index of samples when what the encoder recorded before has
// finished, and before what it records later begins; without is_ordered, in a
// concurrent encoder, at a time when the work around it may run.
//
// Ownership  Retains samples until the work finishes.
// Errors     kept by the command buffer. MTL_INVALID_ARGUMENT: there is no such
//            sample; another device's buffer
// Source     Metal: sampleCountersInBuffer:atSampleIndex:withBarrier:
MTL_API void mtl_compute_encoder_sample_counters(
    mtl_compute_encoder *encoder, mtl_counter_sample_buffer *samples,
    uint32_t index, bool is_ordered);
MTL_API void mtl_blit_encoder_sample_counters(
    mtl_blit_encoder *encoder, mtl_counter_sample_buffer *samples,
    uint32_t index, bool is_ordered);

// Writes samples first to first + count - 1 into target, 8 bytes each, behind
// the work recorded before.
//
//   target_offset_bytes   a multiple of 8
//
// Errors     kept by the command buffer. MTL_INVALID_ARGUMENT: not all of the
//            samples exist; a range that is not in the buffer
// Source     Metal: resolveCounters:inRange:destinationBuffer:…
MTL_API void mtl_blit_encoder_resolve_counters(
    mtl_blit_encoder *encoder, mtl_counter_sample_buffer *samples,
    uint32_t first, uint32_t count, mtl_buffer *target,
    size_t target_offset_bytes);

typedef enum mtl_work_kind {
  MTL_WORK_COMPUTE_ENCODER = 0,
  MTL_WORK_BLIT_ENCODER,
  MTL_WORK_DISPATCH,
  MTL_WORK_EXECUTE,      // of indirect commands, all together
  MTL_WORK_COPY,         // of buffers, textures, indirect commands
  MTL_WORK_FILL,         // updates too
  MTL_WORK_SYNCHRONIZE,  // of managed memory
  MTL_WORK_HOST_WORK,
} mtl_work_kind;

#define MTL_NO_ENCODER UINT32_MAX

// When one piece of a command buffer's work ran.
typedef struct mtl_work_time {
  mtl_work_kind kind;
  uint32_t encoder;         // the encoders of the command buffer count from 0;
                            // MTL_NO_ENCODER for host work
  const char *name;         // of the kernel or the host work; "" for others
  const char *debug_group;  // as in errors: names joined by "/"; "" outside
  // CLOCK_MONOTONIC, in nanoseconds; 0 if it did not run. An encoder's are the
  // first start and the last end of its work.
  uint64_t start_ns;
  uint64_t end_ns;
} mtl_work_time;

// Returns the times of a command buffer made with times_work, in the order
// recorded: an encoder, then what it recorded. Samples, events and barriers are
// not among them.
//
// Threads    Any, once the command buffer has completed; before, there are
// none. Ownership  Valid as long as the command buffer.
MTL_API const mtl_work_time *mtl_command_buffer_work_times(
    const mtl_command_buffer *command_buffer, size_t *out_count);

#ifdef __cplusplus
}
#endif
#endif
