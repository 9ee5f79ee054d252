// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// parts.h: what commands.c, dispatch.c and host_work.c share.
#ifndef CUDA_PARTS_H
#define CUDA_PARTS_H

#include "drivers/cuda/cuda.h"

// Takes memory until the command buffer has ended.
mtl_status cuda_borrow(cuda_list *list, cuda_slabs *slabs, size_t bytes,
                       uint64_t *out_address);

// Waits for all that the stream has been given.
mtl_status cuda_stream_finish(const cuda_worker *worker);

// Notes where the stream begins with the command buffer and, if it is timed,
// with the command: to be called when all that takes the host long, as having
// code made, is done.
void cuda_work_starts(cuda_worker *worker, cuda_list *list);

// Has what the list's dispatches need be on the GPU: inline bytes; a record for
// faults, and memory for the log.
mtl_status cuda_dispatches_begin(cuda_worker *worker,
                                 mtl_command_buffer *command_buffer);
mtl_status cuda_dispatch_run(cuda_worker *worker,
                             mtl_command_buffer *command_buffer,
                             const mtli_command *command);

// Runs as many of the dispatches from command on as need nothing of the host and
// are not timed, at once. Returns what comes behind them; command if it is to
// run alone.
mtl_status cuda_dispatches_run(cuda_worker *worker,
                               mtl_command_buffer *command_buffer,
                               mtli_command *command, mtli_command **out_next);

// Sends a kernel that asks a table of what memory there is (ptx_abi.h): the
// buffers of the device, and what the command buffer has borrowed. arguments are
// those of the launch.
mtl_status cuda_ranges_send(cuda_worker *worker, cuda_list *list,
                            const mtli_dispatch *dispatch,
                            const uint64_t *arguments, uint64_t *out_address);

mtl_status cuda_host_work_run(cuda_worker *worker,
                              mtl_command_buffer *command_buffer,
                              const mtli_command *command);

#endif
