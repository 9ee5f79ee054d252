// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// host.h: graph operations that a host library computes faster, on devices that
// run host work; docs/operations.md has the table.
#ifndef METTLE_STREAM_OPS_HOST_H
#define METTLE_STREAM_OPS_HOST_H

#include "stream/ops/parts.h"

enum { OPS_HOST_TENSORS = 4 };

// --- ops/kept.c --------------------------------------------------------------

// Finds the buffer kept of a constant under key [key_bytes], +1. *out_is_known
// is true if there is an entry, which may be NULL.
mtl_buffer *ops_kept_find(uint64_t constant, const void *key, size_t key_bytes,
                          bool *out_is_known);
// Adds an entry with kept, which is retained and may be NULL; without room it
// is dropped. The caller ensures that the constant is not forgotten meanwhile.
void ops_kept_add(uint64_t constant, const void *key, size_t key_bytes,
                  mtl_buffer *kept);
// True if so many more bytes may be kept.
bool ops_kept_has_room(uint64_t bytes);

// --- ops/host.c --------------------------------------------------------------

static inline int64_t at_most(int64_t value, int64_t high) {
  return value < high ? value : high;
}

static inline int64_t at_least(int64_t value, int64_t low) {
  return value > low ? value : low;
}

static inline int64_t divide_up(int64_t a, int64_t b) {
  return (a + b - 1) / b;
}

// True if the host library may compute work of stream's device: "cpu", not
// "cpu-discrete", which tests the portable kernels.
bool ops_host_is_there(mtl_stream *stream);

typedef struct ops_host_work {
  const char *name;
  mtl_host_work_function *function;
  const void *arguments;
  size_t arguments_bytes;
  const mtl_tensor *tensors[OPS_HOST_TENSORS];  // the addresses, in this order
  uint32_t tensor_count;
  size_t scratch_bytes;
  uint64_t piece_count;
  uint64_t flops;  // of all pieces
} ops_host_work;
// Records the work in the stream's order.
mtl_status ops_host_record(mtl_stream *stream, const ops_host_work *work);

// Returns into how many pieces to cut work of so many operations.
uint64_t ops_host_pieces(mtl_stream *stream, uint64_t flops);

// out = alpha * (a x b) + beta * bias, the leading dimensions being equal in
// all; bias may be NULL. *out_done is false if it is left to the kernels.
mtl_status ops_host_matmul(mtl_stream *stream, const mtl_tensor *a,
                           const mtl_tensor *b, const mtl_tensor *bias,
                           float alpha, float beta, const mtl_tensor *out,
                           bool *out_done);

// --- ops/device_matmul.c -----------------------------------------------------

// True if the device library is available.
bool ops_device_is_there(mtl_stream *stream);
// The same by the device library.
mtl_status ops_device_matmul(mtl_stream *stream, const mtl_tensor *a,
                             const mtl_tensor *b, const mtl_tensor *bias,
                             float alpha, float beta, const mtl_tensor *out,
                             bool *out_done);

// `convolution` of convolution.metal. Its shapes: three dimensions, of which
// the first may be 1.
typedef struct ops_convolution {
  int32_t in_size[3], out_size[3], window[3];
  int32_t stride[3], padding[3], dilation[3];
  uint32_t in_channels, out_channels;  // of one group
  uint32_t groups;
  uint32_t has_bias;
  // Batch, channel and the three dimensions; weight: its first two, as stored.
  int64_t in_strides[5], weight_strides[5], out_strides[5];
  int64_t bias_stride;
} ops_convolution;

// Sets the strides of batch, channel and three dimensions, the first of which
// may be missing.
void ops_fill_strides(const mtl_tensor *tensor, int64_t strides[5]);

// True if positions, in row-major order, are `expected` apart.
bool ops_is_dense(const int32_t sizes[3], const int64_t strides[5],
                  int64_t expected);

// Convolves forward by oneDNN with constant weights, which are kept packed.
// *out_done is false if it leaves the work to other implementations.
mtl_status ops_host_packed_convolution(mtl_stream *stream, const mtl_tensor *in,
                                       const mtl_tensor *weight,
                                       const mtl_tensor *bias,
                                       const ops_convolution *shape,
                                       const mtl_tensor *out, bool *out_done);

// Convolves forward. *out_done is false if it leaves the work to the kernels.
mtl_status ops_host_convolution(mtl_stream *stream, const mtl_tensor *in,
                                const mtl_tensor *weight,
                                const mtl_tensor *bias,
                                const ops_convolution *shape,
                                const mtl_tensor *out, bool *out_done);

// --- ops/device_convolution.c ------------------------------------------------

// Convolves by the device library. *out_done is false if there is none, or it
// does not accept the tensors' layout.
mtl_status ops_device_convolution(mtl_stream *stream, const mtl_tensor *in,
                                  const mtl_tensor *weight,
                                  const mtl_tensor *bias,
                                  const ops_convolution *it,
                                  const mtl_tensor *out, bool *out_done);

// --- ops/packed.c ------------------------------------------------------------

// Convolves forward by our kernels with constant weights, which are kept
// packed. *out_done is false if it leaves the work to other implementations.
mtl_status ops_packed_convolution(mtl_stream *stream, const mtl_tensor *in,
                                  const mtl_tensor *weight,
                                  const mtl_tensor *bias,
                                  const ops_convolution *shape,
                                  const mtl_tensor *out, bool *out_done);

// Returns a depthwise convolution's constant weights as [taps][channels], +1;
// NULL if they are not constant.
mtl_buffer *ops_packed_taps(mtl_stream *stream, const ops_convolution *shape,
                            const mtl_tensor *weight);

// Multiplies as ops_host_matmul, for a constant b.
mtl_status ops_packed_matmul(mtl_stream *stream, const mtl_tensor *a,
                             const mtl_tensor *b, const mtl_tensor *bias,
                             float alpha, float beta, const mtl_tensor *out,
                             bool *out_done);

// --- ops/columns.c -----------------------------------------------------------

// Convolves forward as gathered columns and matrix products. *out_done is false
// if it leaves the work to the direct kernels.
mtl_status ops_columns_convolution(mtl_stream *stream, const mtl_tensor *in,
                                   const mtl_tensor *weight,
                                   const mtl_tensor *bias,
                                   const ops_convolution *shape,
                                   const mtl_tensor *out, bool *out_done);

#endif
