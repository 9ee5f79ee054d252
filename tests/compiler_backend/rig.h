// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rig.h: takes a kernel of kernels.cpp through the passes, links it, loads it
// and calls it as the cpu driver would. Checks of tests/harness/test.h end the
// test if any of that fails.
#ifndef RIG_H
#define RIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "code/code.h"
#include "code/cpu_abi.h"

enum { RIG_PARAMETERS = 32 };

typedef struct rig_kernel {
  unsigned number;         // n of mettle.kernel.n
  const char *parameters;  // "buffer threadgroup thread_position_in_grid:3";
                           // with ":3h", components of 2 bytes
  const mtli_constant *constants;  // [constant_count]
  const mtli_constant_value *constant_values;
  size_t constant_count;
} rig_kernel;

// How the threads of a kernel are run.
typedef enum rig_way {
  RIG_T0,
  RIG_T1,
  RIG_T1_WITHOUT_VECTORS,  // the code that T1 falls back to
  RIG_WAYS,
} rig_way;

typedef struct rig_code {
  void *library;  // of dlopen
  const mtli_cpu_code *code;  // in it
  uint32_t static_threadgroup_bytes;
  size_t parameter_count;
  char report[4096];
  uint64_t pass_ns;  // of this thread, in the passes; then in code generation
  uint64_t emit_ns;
} rig_code;

// Compiles; returns the status of the passes and of code generation, with
// *out_code set if it is MTL_OK. target as mtlc_target_machine; code for
// another architecture is made, not loaded.
mtl_status rig_try(const rig_kernel *kernel, rig_way way, const char *target,
                   rig_code *out_code);
// Compiles for this machine, or fails the test.
rig_code rig_compile(const rig_kernel *kernel, rig_way way);
void rig_clear(rig_code *code);

typedef struct rig_launch {
  uint32_t grid[3];
  uint32_t group[3];
  void *arguments[RIG_PARAMETERS];  // offsets for threadgroup memory
  uint32_t threadgroup_bytes;       // of the threadgroup arguments
} rig_launch;

// Runs all threadgroups in two calls, on scratch memory filled with garbage.
// Returns the scratch's reserved[0]: a trap's reason + 1 if there was one.
uint32_t rig_run(const rig_code *code, const rig_launch *launch);

#endif
