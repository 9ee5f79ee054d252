// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tensor.h: buffers as Metal 4's tensors: the arguments tensor<device T,
// extents<...>> of kernels.
//
// A tensor has elements of one type in a buffer, 1 to MTL_MAX_TENSOR_RANK
// dimensions of them, the innermost first: a matrix of R rows and C columns,
// row by row, has the extents {C, R} and the strides {1, C}. mtl_tensor is the
// word of stream.h for a tensor of a model.
#ifndef METTLE_TENSOR_H
#define METTLE_TENSOR_H

#include "encoder.h"
#include "library.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mtl_buffer_tensor mtl_buffer_tensor;

typedef struct mtl_buffer_tensor_desc {
  mtl_data_type type;      // of the elements: a number, not bool
  uint32_t rank;           // 1 to MTL_MAX_TENSOR_RANK
  const int64_t *extents;  // [rank] elements along each dimension, 1 or more
  // [rank] elements from one to the next along each dimension; the first is 1.
  // NULL for a packed tensor.
  const int64_t *strides;
  size_t offset_bytes;  // of the first element; a multiple of its size
  const char *label;    // copied; NULL for the buffer's
} mtl_buffer_tensor_desc;

// Makes a tensor of a buffer's memory.
//
// Ownership  The tensor is yours; it retains buffer. Borrows desc.
// Threads    Any, for all functions here.
// Errors     MTL_INVALID_ARGUMENT  a type, rank, extent or stride that cannot
//                                  be; elements past the buffer's end
//            MTL_UNSUPPORTED       the device's driver binds no tensors
//            MTL_OUT_OF_MEMORY
// Source     Metal: -[MTLBuffer newTensorWithDescriptor:offset:error:]
MTL_API MTL_MUST_USE mtl_status mtl_buffer_tensor_create(
    mtl_buffer *buffer, const mtl_buffer_tensor_desc *desc,
    mtl_buffer_tensor **out_tensor);

// Finds how many bytes of a buffer a tensor takes, from its first element on.
//
// Errors     MTL_INVALID_ARGUMENT  as mtl_buffer_tensor_create; or they are
//                                  more than size_t counts
// Source     Metal: -[MTLDevice tensorSizeAndAlignWithDescriptor:]
MTL_API MTL_MUST_USE mtl_status mtl_buffer_tensor_size(
    const mtl_buffer_tensor_desc *desc, size_t *out_size_bytes);

MTL_API mtl_buffer_tensor *mtl_buffer_tensor_retain(mtl_buffer_tensor *tensor);
// NULL is allowed; work in flight keeps the buffer alive.
MTL_API void mtl_buffer_tensor_release(mtl_buffer_tensor *tensor);

// What the tensor was made with; extents and strides [rank] are there for a
// packed one too, and all live as long as the tensor.
MTL_API const mtl_buffer_tensor_desc *mtl_buffer_tensor_info(
    const mtl_buffer_tensor *tensor);
MTL_API mtl_buffer *mtl_buffer_tensor_buffer(
    const mtl_buffer_tensor *tensor);  // borrowed

// Binds a tensor to the argument tensor<...> [[buffer(index)]]; NULL unbinds.
// Such an argument can also be bound to memory that says what a tensor is, with
// mtl_compute_encoder_set_bytes: a pointer, int64_t extents[rank], int64_t
// strides[rank]; nothing then checks them.
//
//   index   0 to 30
//
// Ownership  Retains the tensor's buffer until the work finishes.
// Errors     kept by the command buffer. MTL_INVALID_ARGUMENT: an index over
//            30; another device's; at a dispatch: the argument is no tensor, or
//            one of other elements, another rank, other fixed extents
// Source     Metal: -[MTL4ArgumentTable setResource:atBufferIndex:]
MTL_API void mtl_compute_encoder_set_tensor(mtl_compute_encoder *encoder,
                                            mtl_buffer_tensor *tensor,
                                            uint32_t index);

#ifdef __cplusplus
}
#endif
#endif
