// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// encoder.h: records dispatches and copies into a command buffer.
//
// An encoder is open from its creation to its end; a command buffer has one
// open encoder at the most. Grids are counted in threads unless the name says
// threadgroups.
#ifndef METTLE_ENCODER_H
#define METTLE_ENCODER_H

#include "buffer.h"
#include "command_buffer.h"
#include "function_table.h"
#include "pipeline.h"
#include "texture.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mtl_compute_encoder mtl_compute_encoder;
typedef struct mtl_blit_encoder mtl_blit_encoder;

typedef struct mtl_size {
  uint32_t x, y, z;  // 1-D sizes have y = z = 1; any 0 makes the grid empty
} mtl_size;

typedef enum mtl_dispatch_type {
  MTL_DISPATCH_SERIAL = 0,  // each dispatch sees all effects of earlier ones
  MTL_DISPATCH_CONCURRENT,  // dispatches may overlap between barriers
} mtl_dispatch_type;

// What a memory barrier orders.
typedef enum mtl_barrier_scope {
  MTL_BARRIER_BUFFERS = 1,
  MTL_BARRIER_TEXTURES = 2,
} mtl_barrier_scope;

typedef enum mtl_resource_usage {
  MTL_USAGE_READ = 1,
  MTL_USAGE_WRITE = 2,
} mtl_resource_usage;

typedef struct mtl_counter_sample_buffer mtl_counter_sample_buffer;

#define MTL_MAX_SAMPLE_ATTACHMENTS 4  // Metal: MTLComputePassDescriptor
#define MTL_DONT_SAMPLE UINT32_MAX    // Metal: MTLCounterDontSample

// Samples of the device's time (counters.h) when an encoder's work begins and
// when it has finished.
typedef struct mtl_sample_attachment {
  mtl_counter_sample_buffer *samples;  // NULL for none of both
  uint32_t start_index;                // MTL_DONT_SAMPLE for none
  uint32_t end_index;                  // MTL_DONT_SAMPLE for none
} mtl_sample_attachment;

typedef struct mtl_encoder_desc {
  mtl_dispatch_type dispatch_type;  // of a compute encoder
  mtl_sample_attachment samples[MTL_MAX_SAMPLE_ATTACHMENTS];
  // Counts as one encoder with the command buffer's previous one, of dispatches
  // or blits: an encoder of Metal 4 encodes both.
  bool continues_encoder;
} mtl_encoder_desc;

// Opens a compute encoder.
//
// Ownership  The encoder is yours; it retains command_buffer. Releasing it
//            while open ends it.
// Threads    One at a time per command buffer.
// Errors     MTL_INVALID_STATE  committed, or another encoder is open
// Source     Metal: -[MTLCommandBuffer computeCommandEncoderWithDispatchType:]
MTL_API MTL_MUST_USE mtl_status mtl_compute_encoder_create(
    mtl_command_buffer *command_buffer, mtl_dispatch_type dispatch_type,
    mtl_compute_encoder **out_encoder);
// The same with samples of the device's time.
//
//   desc   NULL for the defaults
//
// Ownership  Retains the sample buffers until the work finishes.
// Errors     MTL_INVALID_ARGUMENT  there is no such sample; another device's
// Source     Metal: computeCommandEncoderWithDescriptor:
MTL_API MTL_MUST_USE mtl_status mtl_compute_encoder_create_with(
    mtl_command_buffer *command_buffer, const mtl_encoder_desc *desc,
    mtl_compute_encoder **out_encoder);
MTL_API void mtl_compute_encoder_release(mtl_compute_encoder *encoder);
MTL_API mtl_compute_encoder *mtl_compute_encoder_retain(
    mtl_compute_encoder *encoder);

// Closes the encoder and returns the command buffer's first error, if any.
MTL_API MTL_MUST_USE mtl_status
mtl_compute_encoder_end(mtl_compute_encoder *encoder);

// Chooses what later dispatches run. Bindings stay.
MTL_API void mtl_compute_encoder_set_pipeline(mtl_compute_encoder *encoder,
                                              mtl_pipeline *pipeline);

// Binds buffer at offset_bytes to [[buffer(index)]]; NULL unbinds.
//
//   offset_bytes   within the buffer; a multiple of the device's
//                  buffer_offset_alignment_bytes and, checked at dispatch, of
//                  the argument's alignment
//   index          0 to 30
MTL_API void mtl_compute_encoder_set_buffer(mtl_compute_encoder *encoder,
                                            mtl_buffer *buffer,
                                            size_t offset_bytes,
                                            uint32_t index);
// Moves the offset of the buffer that is bound to [[buffer(index)]].
//
// Errors     kept by the command buffer. MTL_INVALID_ARGUMENT: no buffer is
//            bound there, or as mtl_compute_encoder_set_buffer
// Source     Metal: setBufferOffset:atIndex:
MTL_API void mtl_compute_encoder_set_buffer_offset(mtl_compute_encoder *encoder,
                                                   size_t offset_bytes,
                                                   uint32_t index);

// Binds a copy of bytes, apart from other memory as a buffer is; from the 33rd
// of a command buffer on, apart from all but each other.
//
//   length_bytes   1 to 4096, as Metal
MTL_API void mtl_compute_encoder_set_bytes(mtl_compute_encoder *encoder,
                                           const void *bytes,
                                           size_t length_bytes, uint32_t index);
// Sets the size of [[threadgroup(index)]].
//
// An argument whose size is not set has no memory: a kernel may declare one
// that it does not use, and faults where it does.
//
//   length_bytes   a multiple of 16; 0 unbinds
MTL_API void mtl_compute_encoder_set_threadgroup_memory(
    mtl_compute_encoder *encoder, size_t length_bytes, uint32_t index);

// Binds texture to [[texture(index)]]. NULL binds none, which is_null_texture
// tells; a texture argument that was never bound is an error of the dispatch.
//
//   index   0 to 127
//
// Source     Metal: setTexture:atIndex:
MTL_API void mtl_compute_encoder_set_texture(mtl_compute_encoder *encoder,
                                             mtl_texture *texture,
                                             uint32_t index);
// Binds textures [count] to index first_index and those behind it.
MTL_API void mtl_compute_encoder_set_textures(mtl_compute_encoder *encoder,
                                              mtl_texture *const *textures,
                                              uint32_t first_index,
                                              uint32_t count);
// Binds sampler to [[sampler(index)]]; NULL unbinds.
//
//   index   0 to 15
//
// Source     Metal: setSamplerState:atIndex:
MTL_API void mtl_compute_encoder_set_sampler(mtl_compute_encoder *encoder,
                                             mtl_sampler *sampler,
                                             uint32_t index);
MTL_API void mtl_compute_encoder_set_samplers(mtl_compute_encoder *encoder,
                                              mtl_sampler *const *samplers,
                                              uint32_t first_index,
                                              uint32_t count);

// Binds table to [[buffer(index)]], in the place of a buffer; NULL unbinds. A
// dispatch takes only tables of its own pipeline.
//
//   index   0 to 30
//
// Source     Metal: setVisibleFunctionTable:atBufferIndex:
MTL_API void mtl_compute_encoder_set_function_table(
    mtl_compute_encoder *encoder, mtl_function_table *table, uint32_t index);
// Binds tables [count] to index first_index and those behind it.
MTL_API void mtl_compute_encoder_set_function_tables(
    mtl_compute_encoder *encoder, mtl_function_table *const *tables,
    uint32_t first_index, uint32_t count);

// Runs grid threads in threadgroups of group threads; the last ones along each
// side are smaller where grid is no multiple of group. An empty grid does
// nothing, whatever group is.
//
//   group   1 to the pipeline's max_total_threads_per_threadgroup in all, and
//           to the device's max_threadgroup_threads along each side
//
// Errors     kept by the command buffer. MTL_INVALID_ARGUMENT: no pipeline; an
//            argument that the kernel uses not bound; a buffer too small
//            behind its offset for a reference; a group too large; threadgroup
//            memory over the limit
// Source     Metal: dispatchThreads:threadsPerThreadgroup:
MTL_API void mtl_compute_encoder_dispatch_threads(mtl_compute_encoder *encoder,
                                                  mtl_size grid,
                                                  mtl_size group);
// Runs groups whole threadgroups of group threads.
MTL_API void mtl_compute_encoder_dispatch_threadgroups(
    mtl_compute_encoder *encoder, mtl_size groups, mtl_size group);
// The same with the count of groups read from buffer when the dispatch runs:
// three uint32_t at offset_bytes (a multiple of 4).
MTL_API void mtl_compute_encoder_dispatch_threadgroups_indirect(
    mtl_compute_encoder *encoder, mtl_buffer *buffer, size_t offset_bytes,
    mtl_size group);

// In a concurrent encoder: later dispatches see the effects of earlier ones.
MTL_API void mtl_compute_encoder_memory_barrier(mtl_compute_encoder *encoder,
                                                mtl_barrier_scope scope);
// The same for buffers [count] only.
MTL_API void mtl_compute_encoder_memory_barrier_buffers(
    mtl_compute_encoder *encoder, mtl_buffer *const *buffers, size_t count);

// Keeps buffer alive, and ordered if tracked, for kernels that reach it
// through an address.
MTL_API void mtl_compute_encoder_use_buffer(mtl_compute_encoder *encoder,
                                            mtl_buffer *buffer,
                                            mtl_resource_usage usage);

// Keeps a function table that kernels reach through an argument buffer.
MTL_API void mtl_compute_encoder_use_function_table(
    mtl_compute_encoder *encoder, mtl_function_table *table);

// The same for a texture that kernels reach through an argument buffer.
MTL_API void mtl_compute_encoder_use_texture(mtl_compute_encoder *encoder,
                                             mtl_texture *texture,
                                             mtl_resource_usage usage);

// The same for each of buffers or textures [count].
//
// Source     Metal: useResources:count:usage:
MTL_API void mtl_compute_encoder_use_buffers(mtl_compute_encoder *encoder,
                                             mtl_buffer *const *buffers,
                                             size_t count,
                                             mtl_resource_usage usage);
MTL_API void mtl_compute_encoder_use_textures(mtl_compute_encoder *encoder,
                                              mtl_texture *const *textures,
                                              size_t count,
                                              mtl_resource_usage usage);

// Signals fence when this encoder's work is done; makes this encoder's work
// wait for the fence's last update that was recorded before. What is in one
// encoder is not ordered by it: that takes a barrier. A fence that was never
// updated holds up nothing.
//
// Errors     MTL_INVALID_ARGUMENT  fence is NULL or of another device
// Source     Metal: -[MTLComputeCommandEncoder updateFence:], waitForFence:
MTL_API void mtl_compute_encoder_update_fence(mtl_compute_encoder *encoder,
                                              mtl_fence *fence);
MTL_API void mtl_compute_encoder_wait_fence(mtl_compute_encoder *encoder,
                                            mtl_fence *fence);

// Kinds of work, or-ed.
typedef enum mtl_stages {
  MTL_STAGE_DISPATCH = 1,
  MTL_STAGE_BLIT = 2,
  MTL_STAGES_ALL = 3,
} mtl_stages;

typedef enum mtl_order_kind {
  MTL_ORDER_WITHIN_ENCODER = 0,  // earlier work of this encoder, before later
  MTL_ORDER_BEHIND_QUEUE,        // that of earlier encoders, before later work
                                 // of this one
  MTL_ORDER_BEFORE_QUEUE,        // earlier work of this encoder, before later
                                 // encoders
  MTL_ORDER_UPDATE_FENCE,        // signals fence behind work of this encoder
  MTL_ORDER_WAIT_FENCE,          // later work of it waits for fence
} mtl_order_kind;

typedef struct mtl_order {
  mtl_order_kind kind;
  mtl_stages after;   // the earlier work; not of WAIT_FENCE
  mtl_stages before;  // the later work; not of UPDATE_FENCE
  mtl_fence *fence;   // of the last two
} mtl_order;

// Orders work of a queue that is ordered by barriers. In other queues only
// MTL_ORDER_WITHIN_ENCODER adds something.
//
// Errors     MTL_INVALID_ARGUMENT  a kind or stages that do not exist, or a
//                                  fence that is NULL or another device's
// Source     Metal: -[MTL4CommandEncoder
// barrierAfterEncoderStages:beforeEncoderStages:visibilityOptions:],
// barrierAfterQueueStages:beforeStages:visibilityOptions:,
// barrierAfterStages:beforeQueueStages:visibilityOptions:,
// updateFence:afterEncoderStages:, waitForFence:beforeEncoderStages:
MTL_API void mtl_compute_encoder_order(mtl_compute_encoder *encoder,
                                       const mtl_order *order);

// Names what follows, in errors and traces; groups nest.
MTL_API void mtl_compute_encoder_push_debug_group(mtl_compute_encoder *encoder,
                                                  const char *name);
MTL_API void mtl_compute_encoder_pop_debug_group(mtl_compute_encoder *encoder);

// Opens a blit encoder; as mtl_compute_encoder_create.
MTL_API MTL_MUST_USE mtl_status mtl_blit_encoder_create(
    mtl_command_buffer *command_buffer, mtl_blit_encoder **out_encoder);
// The same with samples of the device's time; as
// mtl_compute_encoder_create_with.
MTL_API MTL_MUST_USE mtl_status mtl_blit_encoder_create_with(
    mtl_command_buffer *command_buffer, const mtl_encoder_desc *desc,
    mtl_blit_encoder **out_encoder);
MTL_API mtl_blit_encoder *mtl_blit_encoder_retain(mtl_blit_encoder *encoder);
MTL_API void mtl_blit_encoder_release(mtl_blit_encoder *encoder);
MTL_API MTL_MUST_USE mtl_status mtl_blit_encoder_end(mtl_blit_encoder *encoder);

// Copies length_bytes; the ranges may lie in one buffer but not overlap. Any
// alignment.
MTL_API void mtl_blit_encoder_copy(
    mtl_blit_encoder *encoder, mtl_buffer *source, size_t source_offset_bytes,
    mtl_buffer *target, size_t target_offset_bytes, size_t length_bytes);
// Sets length_bytes bytes to value.
MTL_API void mtl_blit_encoder_fill(mtl_blit_encoder *encoder,
                                   mtl_buffer *buffer, size_t offset_bytes,
                                   size_t length_bytes, uint8_t value);
// Fills a range with copies of a pattern, from its first byte on.
//
//   pattern        [pattern_bytes] copied
//   pattern_bytes  1, 2 or 4
//   offset_bytes   any
//   length_bytes   a multiple of pattern_bytes; 0 does nothing
//
// Errors     kept by the command buffer. MTL_INVALID_ARGUMENT: another size of
//            pattern or of range; a range that is not in the buffer
// Source     Vulkan: vkCmdFillBuffer; Metal has patterns of one byte
MTL_API void mtl_blit_encoder_fill_pattern(
    mtl_blit_encoder *encoder, mtl_buffer *buffer, size_t offset_bytes,
    size_t length_bytes, const void *pattern, size_t pattern_bytes);

#define MTL_MAX_UPDATE_BYTES 65536  // Vulkan: vkCmdUpdateBuffer

// Writes bytes into a buffer when the work before it is done. They are copied
// now: the caller's may change at once.
//
//   bytes         [length_bytes]
//   offset_bytes  any
//   length_bytes  0 to MTL_MAX_UPDATE_BYTES; 0 does nothing
//
// Errors     kept by the command buffer. MTL_INVALID_ARGUMENT: more bytes than
//            that; a range that is not in the buffer. MTL_OUT_OF_MEMORY
// Source     Vulkan: vkCmdUpdateBuffer
MTL_API void mtl_blit_encoder_update(mtl_blit_encoder *encoder,
                                     mtl_buffer *buffer, size_t offset_bytes,
                                     const void *bytes, size_t length_bytes);
// Makes the device's writes to a managed buffer visible to the host.
MTL_API void mtl_blit_encoder_synchronize(mtl_blit_encoder *encoder,
                                          mtl_buffer *buffer);
// Makes the device's writes to a managed texture visible to the host.
MTL_API void mtl_blit_encoder_synchronize_texture(mtl_blit_encoder *encoder,
                                                  mtl_texture *texture);

// Copies rows of texels from a buffer into a region of a level and slice.
//
//   bytes_per_row    from row to row in the buffer; 0 for rows without a gap
//   bytes_per_image  from image to image of a 3-D region; 0 for no gap
//
// Errors     kept by the command buffer. MTL_INVALID_ARGUMENT: a range or
//            region that is not in the buffer or texture
// Source     Metal: copyFromBuffer:…toTexture:…
MTL_API void mtl_blit_encoder_copy_buffer_to_texture(
    mtl_blit_encoder *encoder, mtl_buffer *source, size_t source_offset_bytes,
    size_t bytes_per_row, size_t bytes_per_image, mtl_texture *target,
    mtl_region region, uint32_t level, uint32_t slice);
// The other way.
MTL_API void mtl_blit_encoder_copy_texture_to_buffer(
    mtl_blit_encoder *encoder, mtl_texture *source, mtl_region region,
    uint32_t level, uint32_t slice, mtl_buffer *target,
    size_t target_offset_bytes, size_t bytes_per_row, size_t bytes_per_image);
// Copies a region between textures of one size of texel.
//
//   target_at   where the region begins in the target; its sides are ignored
//
// Source     Metal: copyFromTexture:…toTexture:…
MTL_API void mtl_blit_encoder_copy_texture(
    mtl_blit_encoder *encoder, mtl_texture *source, mtl_region region,
    uint32_t source_level, uint32_t source_slice, mtl_texture *target,
    mtl_region target_at, uint32_t target_level, uint32_t target_slice);

// Fills level 1 and those behind it, each texel with the average of what lies
// under it in the level before, in linear light for sRGB formats. Compiles a
// kernel when first called.
//
// Errors     kept by the command buffer. MTL_INVALID_ARGUMENT: one level; a
//            format of integers
// Source     Metal: generateMipmapsForTexture:
MTL_API void mtl_blit_encoder_generate_mipmaps(mtl_blit_encoder *encoder,
                                               mtl_texture *texture);

// Raise fence when the copies so far have finished, and have those that follow
// wait for it, as mtl_compute_encoder_update_fence and its wait.
MTL_API void mtl_blit_encoder_update_fence(mtl_blit_encoder *encoder,
                                           mtl_fence *fence);
MTL_API void mtl_blit_encoder_wait_fence(mtl_blit_encoder *encoder,
                                         mtl_fence *fence);

#ifdef __cplusplus
}
#endif
#endif
