// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// aoti.h: shared by the tests of the ABI.
#ifndef TESTS_AOTI_AOTI_H
#define TESTS_AOTI_AOTI_H

#include "harness/test.h"
#include "mettle/aoti.h"
#include "mettle/mettle.h"
#include "mettle/model.h"

enum { CPU = 0, MPS = 13, F32 = 6, F64 = 7, I64 = 4, BF16 = 15, U8 = 0 };

// A contiguous tensor, deleted when the test ends.
AtenTensorHandle new_tensor(int32_t device, int32_t dtype, int64_t rank,
                            const int64_t *sizes);
#define SIZES(...)                                                    \
  (sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (int64_t[]) { \
    __VA_ARGS__                                                       \
  }
// A float vector on mps with 0, 1, 2, ...
AtenTensorHandle new_iota(int64_t count);
// Views; deleted when the test ends.
AtenTensorHandle view_of(AtenTensorHandle tensor, int64_t rank,
                         const int64_t *sizes, const int64_t *strides,
                         int64_t offset);

float *floats_of(AtenTensorHandle tensor);
void wait_for_stream(void);

AOTIMetalKernelFunctionHandle new_function(const char *source);
// Runs out[i] = in[i] + 1 for count threads.
void add_one(AtenTensorHandle out, AtenTensorHandle in, uint64_t count);

#endif
