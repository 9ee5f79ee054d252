// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// indirect_command_buffer.h: dispatches that are recorded once, and executed
// and edited again and again.
//
// Commands are read when they are executed, not when the execution is encoded:
// what the host edits before a command buffer gets there counts. An indirect
// command buffer keeps none of the buffers and pipelines that its commands
// name: mtl_compute_encoder_use_buffer does, or the client. A command that
// names one that is gone by then fails the command buffer with
// MTL_KERNEL_FAULT.
#ifndef METTLE_INDIRECT_COMMAND_BUFFER_H
#define METTLE_INDIRECT_COMMAND_BUFFER_H

#include "encoder.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mtl_indirect_command_buffer mtl_indirect_command_buffer;

#define MTL_MAX_INDIRECT_COMMANDS 16384  // Metal: maxCommandCount

// Which kinds of dispatches commands may be. Source: MTLIndirectCommandType.
typedef enum mtl_indirect_command_type {
  MTL_INDIRECT_DISPATCH_THREADGROUPS = 0x20,
  MTL_INDIRECT_DISPATCH_THREADS = 0x40,
} mtl_indirect_command_type;

typedef struct mtl_indirect_command_buffer_desc {
  uint32_t max_commands;   // 1 to MTL_MAX_INDIRECT_COMMANDS
  uint32_t command_types;  // mtl_indirect_command_type, or-ed; 0 for all
  // Commands bind [[buffer(0)]] to [[buffer(max_buffers - 1)]] and so many
  // lengths of threadgroup memory; 0 for all 31.
  uint32_t max_buffers;
  uint32_t max_threadgroup_memory;
  bool inherit_buffers;   // commands bind none, and use the encoder's
  bool inherit_pipeline;  // the same of the pipeline
  const char *label;      // copied; NULL for none
} mtl_indirect_command_buffer_desc;

// Makes an indirect command buffer whose commands are all empty.
//
// Ownership  It is yours; it retains device, and nothing that commands name.
// Threads    Any, for all functions here. Commands may be edited while they are
//            executed: each execution sees a command as it was before or after
//            an edit.
// Errors     MTL_INVALID_ARGUMENT  a number out of its range
//            MTL_UNSUPPORTED       the device has none
//            MTL_OUT_OF_MEMORY
// Source     Metal: newIndirectCommandBufferWithDescriptor:maxCommandCount:…
MTL_API MTL_MUST_USE mtl_status mtl_indirect_command_buffer_create(
    mtl_device *device, const mtl_indirect_command_buffer_desc *desc,
    mtl_indirect_command_buffer **out_commands);
MTL_API mtl_indirect_command_buffer *mtl_indirect_command_buffer_retain(
    mtl_indirect_command_buffer *commands);
// NULL is allowed; work in flight keeps it alive.
MTL_API void mtl_indirect_command_buffer_release(
    mtl_indirect_command_buffer *commands);

// Returns max_commands.
MTL_API uint32_t
mtl_indirect_command_buffer_size(const mtl_indirect_command_buffer *commands);
MTL_API mtl_device *mtl_indirect_command_buffer_device(
    const mtl_indirect_command_buffer *commands);  // borrowed
MTL_API void mtl_indirect_command_buffer_set_label(
    mtl_indirect_command_buffer *commands, const char *label);
MTL_API const char *mtl_indirect_command_buffer_label(
    const mtl_indirect_command_buffer *commands);

// Gives what a kernel knows the commands by: what command_buffer of MSL is in
// an argument buffer. Kernels encode commands from then on, each by one thread
// at a time: compute_command. They need
// mtl_compute_encoder_use_commands, and see what the host has recorded; the host
// sees what they have encoded once their command buffer is completed.
//
//   out_id   the same each time; valid as long as commands
//
// What a kernel encodes is checked when it is executed. A buffer is found by
// its address: one that is in none, or a pipeline that is none, is
// MTL_KERNEL_FAULT. A kernel that names a command or an index past the end, or
// sets what is inherited, ends with MTL_KERNEL_FAULT itself.
//
// Errors     MTL_UNSUPPORTED    kernels of the device encode no commands
//            MTL_OUT_OF_MEMORY
// Source     Metal: -[MTLIndirectCommandBuffer gpuResourceID]
MTL_API MTL_MUST_USE mtl_status mtl_indirect_command_buffer_resource_id(
    mtl_indirect_command_buffer *commands, uint64_t *out_id);

// --- One command ------------------------------------------------------------
// index is the command's, 0 to max_commands - 1. A command runs when it has a
// dispatch; one without, or with an empty grid, does nothing.
//
// Errors     MTL_INVALID_ARGUMENT  an index or a number out of its range; an
//                                  object of another device
//            MTL_INVALID_STATE     what is set is inherited, or not among
//                                  command_types
// Source     Metal: MTLIndirectComputeCommand

// Chooses what the command runs; NULL unsets it. Borrows pipeline.
MTL_API MTL_MUST_USE mtl_status mtl_indirect_command_buffer_set_pipeline(
    mtl_indirect_command_buffer *commands, uint32_t index,
    mtl_pipeline *pipeline);

// Binds buffer at offset_bytes to [[buffer(buffer_index)]]; NULL unbinds.
// Borrows buffer.
//
//   offset_bytes   as mtl_compute_encoder_set_buffer
//   buffer_index   0 to max_buffers - 1
//
// Source     Metal: setKernelBuffer:offset:atIndex:
MTL_API MTL_MUST_USE mtl_status mtl_indirect_command_buffer_set_buffer(
    mtl_indirect_command_buffer *commands, uint32_t index, mtl_buffer *buffer,
    size_t offset_bytes, uint32_t buffer_index);

// Sets the size of [[threadgroup(memory_index)]].
//
//   length_bytes   a multiple of 16; 0 unbinds
MTL_API MTL_MUST_USE mtl_status
mtl_indirect_command_buffer_set_threadgroup_memory(
    mtl_indirect_command_buffer *commands, uint32_t index, size_t length_bytes,
    uint32_t memory_index);

// Sets the grid, as mtl_compute_encoder_dispatch_threadgroups and
// mtl_compute_encoder_dispatch_threads. Whether the threadgroups suit the
// pipeline is checked when the command is executed.
MTL_API MTL_MUST_USE mtl_status
mtl_indirect_command_buffer_dispatch_threadgroups(
    mtl_indirect_command_buffer *commands, uint32_t index, mtl_size groups,
    mtl_size group);
MTL_API MTL_MUST_USE mtl_status mtl_indirect_command_buffer_dispatch_threads(
    mtl_indirect_command_buffer *commands, uint32_t index, mtl_size grid,
    mtl_size group);

// Has the command wait for all earlier ones of its execution, or not. Commands
// without a barrier may overlap with earlier ones, but for those that a serial
// encoder executes.
MTL_API MTL_MUST_USE mtl_status mtl_indirect_command_buffer_set_barrier(
    mtl_indirect_command_buffer *commands, uint32_t index, bool has_barrier);

// Empties commands [count] from first on.
//
// Source     Metal: resetWithRange:, -[MTLIndirectComputeCommand reset]
MTL_API MTL_MUST_USE mtl_status mtl_indirect_command_buffer_reset(
    mtl_indirect_command_buffer *commands, uint32_t first, uint32_t count);

// --- Encoders ---------------------------------------------------------------

// Executes commands [count] from first on, in their order. They touch what
// mtl_compute_encoder_use_buffer names, as far as hazards are tracked, and with
// inherit_buffers what is bound now. The encoder's own pipeline and bindings
// stay.
//
// Ownership  Retains commands until the work finishes.
// Errors     kept by the command buffer. MTL_INVALID_ARGUMENT: the range ends
//            past the last command; when it runs, what a dispatch may be
//            refused for. MTL_KERNEL_FAULT: a command names a buffer or
//            pipeline that was released
// Source     Metal: executeCommandsInBuffer:withRange:
MTL_API void mtl_compute_encoder_execute_commands(
    mtl_compute_encoder *encoder, mtl_indirect_command_buffer *commands,
    uint32_t first, uint32_t count);
// The same with the range read from buffer when it runs: two uint32_t at
// offset_bytes (a multiple of 4), first and count.
//
// Source     Metal: executeCommandsInBuffer:indirectBuffer:…,
//            MTLIndirectCommandBufferExecutionRange
MTL_API void mtl_compute_encoder_execute_commands_indirect(
    mtl_compute_encoder *encoder, mtl_indirect_command_buffer *commands,
    mtl_buffer *buffer, size_t offset_bytes);

// Says that kernels of this encoder encode commands (MTL_USAGE_WRITE) or copy
// from them, which keeps them alive and orders the kernels. Executions come
// after all earlier kernels in any case.
//
// Ownership  Retains commands until the work finishes.
// Source     Metal: useResource:usage:
MTL_API void mtl_compute_encoder_use_commands(
    mtl_compute_encoder *encoder, mtl_indirect_command_buffer *commands,
    mtl_resource_usage usage);

// Copies commands [count], when the blit runs. Both indirect command buffers
// inherit the same, and target has room for what the commands bind; the ranges
// may lie in one but not overlap.
//
// Source     Metal: copyIndirectCommandBuffer:sourceRange:destination:…
MTL_API void mtl_blit_encoder_copy_commands(mtl_blit_encoder *encoder,
                                            mtl_indirect_command_buffer *source,
                                            uint32_t source_first,
                                            mtl_indirect_command_buffer *target,
                                            uint32_t target_first,
                                            uint32_t count);
// Empties commands, when the blit runs.
//
// Source     Metal: resetCommandsInBuffer:withRange:
MTL_API void mtl_blit_encoder_reset_commands(
    mtl_blit_encoder *encoder, mtl_indirect_command_buffer *commands,
    uint32_t first, uint32_t count);
// Checks its arguments and does nothing: executions keep what they have
// prepared anyway.
//
// Source     Metal: optimizeIndirectCommandBuffer:withRange:
MTL_API void mtl_blit_encoder_optimize_commands(
    mtl_blit_encoder *encoder, mtl_indirect_command_buffer *commands,
    uint32_t first, uint32_t count);

#ifdef __cplusplus
}
#endif
#endif
