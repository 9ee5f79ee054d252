// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// device_convolution.h: convolutions by a library for the device's own queues:
// cuDNN on the device cuda, where there is one.
#ifndef METTLE_STREAM_DEVICE_CONVOLUTION_H
#define METTLE_STREAM_DEVICE_CONVOLUTION_H

#include <stdbool.h>
#include <stdint.h>

#include "mettle/tensor.h"

enum { DEVICE_CONVOLUTION_RANK = 3 };

// Tensors of batch, channels and rank dimensions more, contiguous in that
// order. Sums are in float. Two that are the same are so byte by byte.
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

// Whether there is a library. The first call loads it, unless
// METTLE_DEVICE_LIBRARY is another. Any thread.
bool device_convolution_is_there(void);

// Puts a convolution on a CUstream. Any thread that has the stream's context.
mtl_status device_convolve(const device_convolution *convolution,
                           const device_convolution_memory *memory,
                           void *stream);

#endif
