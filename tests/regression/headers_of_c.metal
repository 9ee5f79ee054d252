// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Headers that hosts and kernels share include C's; without Metal's before.
// run: shared --grid 1 0=zeros:u32:6
// expect: 0: 255 8 1 2147483647 24 1
#include <TargetConditionals.h>
#include <float.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <metal_initializer_list>

typedef struct { uint32_t first; uint64_t second; } Shared;

kernel void shared(device uint32_t *out [[buffer(0)]]) {
  out[0] = UINT8_MAX;
  out[1] = uint32_t(offsetof(Shared, second));
  out[2] = TARGET_OS_OSX && __bool_true_false_are_defined;
  out[3] = INT_MAX;
  out[4] = FLT_MANT_DIG;
  out[5] = INT64_MAX == LONG_MAX && UINTPTR_MAX == SIZE_MAX;
  device uint32_t *none = NULL;
  if (none) { out[0] = 0; }
}
