// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// host_convolution.h: convolutions by oneDNN, channels last, in float, with
// weights packed in oneDNN's order.
#ifndef METTLE_STREAM_HOST_CONVOLUTION_H
#define METTLE_STREAM_HOST_CONVOLUTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// One image, rows before columns. `before` and `after` pad it with zeros.
typedef struct host_convolution_shape {
  int64_t in_channels, out_channels;
  bool is_depthwise;  // in_channels groups of one; out_channels is the same
  int64_t in_size[2], out_size[2], window[2];
  int64_t stride[2], dilation[2], before[2], after[2];
} host_convolution_shape;

typedef struct host_convolution host_convolution;

// Prepares a convolution for one thread; NULL if oneDNN is missing or has no
// fast implementation of it.
//
//   like   NULL, or one whose packed weights it must be able to take
//
// Ownership  Yours.
host_convolution *host_convolution_create(const host_convolution_shape *shape,
                                          const host_convolution *like);
void host_convolution_delete(host_convolution *convolution);

size_t host_convolution_weight_bytes(const host_convolution *convolution);
size_t host_convolution_scratch_bytes(const host_convolution *convolution);

// Brings weights [out_channels, in_channels, window] (depthwise: [channels, 1,
// window]) into oneDNN's order. False if that fails. Any thread.
//
//   packed   [weight_bytes] aligned to 64
bool host_convolution_pack(const host_convolution *convolution,
                           const float *weights, void *packed);

// Convolves on the calling thread alone. False if that fails. Any thread.
//
//   in        [in_size, in_channels]
//   out       [out_size, out_channels]
//   scratch   [scratch_bytes] aligned to 64
bool host_convolution_run(const host_convolution *convolution, const float *in,
                          const void *packed, float *out, void *scratch);

#endif
