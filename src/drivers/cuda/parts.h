// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// parts.h: shared by commands.c, dispatch.c and host_work.c.
#ifndef CUDA_PARTS_H
#define CUDA_PARTS_H

#include "drivers/cuda/cuda.h"

// Borrows memory until the command buffer has ended.
mtl_status cuda_borrow(cuda_list *list, cuda_slabs *slabs, size_t bytes,
                       uint64_t *out_address);

// Waits until the stream has completed all its work.
mtl_status cuda_stream_finish(const cuda_worker *worker);

// Marks where the stream starts the command buffer and, if it is timed, the
// command. Call it after slow host work, such as compilation.
void cuda_work_starts(cuda_worker *worker, cuda_list *list);

// Allocates and uploads what the list's dispatches need on the GPU: inline
// bytes, a fault record, and memory for the log.
mtl_status cuda_dispatches_begin(cuda_worker *worker,
                                 mtl_command_buffer *command_buffer);
mtl_status cuda_dispatch_run(cuda_worker *worker,
                             mtl_command_buffer *command_buffer,
                             const mtli_command *command);

// Launches consecutive dispatches, from command on, that are untimed and leave
// the host nothing to do. Returns the command after them: command itself if it
// must run alone.
mtl_status cuda_dispatches_run(cuda_worker *worker,
                               mtl_command_buffer *command_buffer,
                               mtli_command *command, mtli_command **out_next);

// Uploads the table of accessible memory for a kernel that checks its accesses
// (ptx_abi.h): the device's buffers, and what the command buffer has borrowed.
// arguments are those of the launch.
mtl_status cuda_ranges_send(cuda_worker *worker, cuda_list *list,
                            const mtli_dispatch *dispatch,
                            const uint64_t *arguments, uint64_t *out_address);

mtl_status cuda_host_work_run(cuda_worker *worker,
                              mtl_command_buffer *command_buffer,
                              const mtli_command *command);

#endif
