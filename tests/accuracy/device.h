// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// device.h: functions of Metal's library as pipelines, run over blocks of
// arguments. Any failure ends the program.
#ifndef ACCURACY_DEVICE_H
#define ACCURACY_DEVICE_H

#include <mettle/mettle.h>
#include <stdbool.h>
#include <stdint.h>

enum { BLOCK = 1 << 20 };  // arguments in one run, at the most

void device_open(void);
void device_close(void);

// Where the arguments of functions of two are put: [BLOCK] which is 0 or 1.
float *device_arguments(int which);

// space::name over type ("float" or "half"), in tier T0 if debug. The pipeline
// is yours.
mtl_pipeline *device_function(const char *space, const char *name,
                              const char *type, int arguments, bool debug);

// Runs it over count arguments: those with the bits first, first + step, ...,
// or what device_arguments has. Returns [count] results, until the next run.
const void *device_run(mtl_pipeline *pipeline, uint32_t count, uint32_t first,
                       uint32_t step);

#endif
