// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// opencl.h: PoCL through OpenCL, found at run time so that the benchmarks build
// and run without it. Only the calls and constants used here are declared.
// Source: OpenCL 1.2 specification, Khronos Group.
#ifndef METTLE_BENCH_OPENCL_H
#define METTLE_BENCH_OPENCL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct opencl_queue opencl_queue;
typedef struct opencl_kernel opencl_kernel;
typedef struct opencl_memory opencl_memory;
typedef struct opencl_event opencl_event;

// Whether there is a CPU device of PoCL's; looked for once.
bool opencl_is_there(void);
// One line for the head of the table.
const char *opencl_description(void);

// Everything below needs opencl_is_there() and ends the program when a call
// fails. Queues, memory and kernels live until the program ends.
opencl_queue *opencl_new_queue(void);
opencl_memory *opencl_new_memory(size_t length_bytes);  // of ones, touched
// The program's own memory, where a CPU device leaves it.
opencl_memory *opencl_new_memory_at(void *bytes, size_t length_bytes);
// Builds source anew; the kernel keeps its program.
opencl_kernel *opencl_new_kernel(const char *source, const char *name);
void opencl_release_kernel(opencl_kernel *kernel);
void opencl_set_memory(opencl_kernel *kernel, uint32_t index,
                       opencl_memory *memory);
void opencl_run(opencl_queue *queue, opencl_kernel *kernel,
                const size_t grid[3], const size_t group[3]);
void opencl_copy(opencl_queue *queue, opencl_memory *source,
                 opencl_memory *target, size_t length_bytes);
// A marker that waits for wait, if any; its event is the caller's.
opencl_event *opencl_marker(opencl_queue *queue, opencl_event *wait);
// An event that the host completes.
opencl_event *opencl_new_user_event(void);
void opencl_complete_user_event(opencl_event *event);
void opencl_release_event(opencl_event *event);
void opencl_flush(opencl_queue *queue);
void opencl_finish(opencl_queue *queue);

#endif
