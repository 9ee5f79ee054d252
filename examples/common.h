// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// common.h: what the examples share: an end for failed calls, a kernel out of
// a .metal file beside the program's source, and a clock.
#ifndef METTLE_EXAMPLES_COMMON_H
#define METTLE_EXAMPLES_COMMON_H

#include <mettle/mettle.h>

// Prints the error and exits unless status is MTL_OK.
void check(mtl_status status);

// Compiles the file (a name in examples/) and makes a pipeline of its kernel,
// with code for threadgroups of this size.
mtl_pipeline *load_kernel(mtl_device *device, const char *file_name,
                          const char *kernel_name, mtl_size group);

// Makes a shared buffer of zeros.
mtl_buffer *make_buffer(mtl_device *device, size_t length_bytes);

// Commits, waits, and returns the seconds that the device was busy. Releases
// commands.
double run_and_time(mtl_command_buffer *commands);

#endif
