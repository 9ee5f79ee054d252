// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// device_convolution.h: convolutions by a vendor library on the device's own
// queues: cuDNN on the device cuda, if installed.
#ifndef METTLE_STREAM_DEVICE_CONVOLUTION_H
#define METTLE_STREAM_DEVICE_CONVOLUTION_H

#include <stdbool.h>
#include <stdint.h>

#include "mettle/tensor.h"

enum { DEVICE_CONVOLUTION_RANK = 3 };

// A convolution's shape: tensors of batch, channels and rank more dimensions,
// contiguous in that order; sums are in float. Equal convolutions are equal
// byte by byte, so that the struct is a key.
typedef struct device_convolution {
  int type;        // an mtl_data_type: half, bfloat or float, of all tensors
  int dimensions;  // 2 or 3, behind batch and channels
  int in[2 + DEVICE_CONVOLUTION_RANK];
  int weight[2 + DEVICE_CONVOLUTION_RANK];
  int out[2 + DEVICE_CONVOLUTION_RANK];
  int stride[DEVICE_CONVOLUTION_RANK];
  int padding[DEVICE_CONVOLUTION_RANK];
  int dilation[DEVICE_CONVOLUTION_RANK];
  int groups;
  int has_bias;  // of one element a channel of out
} device_convolution;

// Addresses of the GPU's.
typedef struct device_convolution_memory {
  uint64_t in, weight, bias, out;
  uint64_t work;  // [work_bytes] for the library
  uint64_t work_bytes;
} device_convolution_memory;

// True if the library is available. The first call loads it, unless
// METTLE_DEVICE_LIBRARY names another. Any thread.
bool device_convolution_is_there(void);

// Submits a convolution to a CUstream. Any thread that has the stream's
// context.
mtl_status device_convolve(const device_convolution *convolution,
                           const device_convolution_memory *memory,
                           void *stream);

#endif
