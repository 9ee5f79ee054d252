// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tensor.h: the tensors behind the ABI's handles, and how the files of this
// folder report failures.
#ifndef METTLE_AOTI_TENSOR_H
#define METTLE_AOTI_TENSOR_H

#include <stdatomic.h>

#include "mettle/aoti.h"
#include "mettle/stream.h"

// PyTorch's codes. Source: c10/core/ScalarType.h, c10/core/DeviceType.h
enum {
  AOTI_UINT8 = 0,
  AOTI_INT8 = 1,
  AOTI_INT16 = 2,
  AOTI_INT32 = 3,
  AOTI_INT64 = 4,
  AOTI_FLOAT16 = 5,
  AOTI_FLOAT32 = 6,
  AOTI_FLOAT64 = 7,
  AOTI_COMPLEX32 = 8,
  AOTI_COMPLEX64 = 9,
  AOTI_COMPLEX128 = 10,
  AOTI_BOOL = 11,
  AOTI_BFLOAT16 = 15,
  AOTI_UINT16 = 27,
  AOTI_UINT32 = 28,
  AOTI_UINT64 = 29,

  AOTI_CPU = 0,
  AOTI_CUDA = 1,
  AOTI_MPS = 13,
};

// Memory that tensors share.
typedef struct aoti_storage {
  _Atomic uint32_t reference_count;
  int32_t device_type;
  mtl_buffer *buffer;   // +1, of mps storages; NULL if empty
  size_t offset_bytes;  // of base in buffer
  char *base;           // the host's address of the first byte
  size_t size_bytes;
  void *pooled;  // for mtl_memory_free; NULL if borrowed
  void *heap;    // for free; NULL if borrowed

  // See fold.h.
  struct fold_value *value;  // +1; the shared folded value that has the
                             // contents, or NULL
  bool is_fresh;             // made by a run, and not written yet
  bool is_constant;          // may hold constants
} aoti_storage;

typedef struct AtenTensorOpaque {
  aoti_storage *storage;  // +1; NULL if the tensor is not defined
  int32_t dtype;
  int64_t offset;  // elements
  int64_t rank;
  int64_t *sizes;     // [rank], in numbers
  int64_t *strides;   // [rank], in numbers
  int64_t numbers[];  // [2 * rank], at least 2
} aoti_tensor;

// Returns early with the code of a failed call.
#define AOTI_TRY(call)                                         \
  do {                                                         \
    const AOTITorchError aoti_error_ = (AOTITorchError)(call); \
    if (aoti_error_ != 0) {                                    \
      return aoti_error_;                                      \
    }                                                          \
  } while (0)

// Refuses a NULL argument.
#define AOTI_CHECK_NOT_NULL(argument)                                   \
  do {                                                                  \
    if (!(argument)) {                                                  \
      return mtl_fail(MTL_INVALID_ARGUMENT, "%s: %s is NULL", __func__, \
                      #argument);                                       \
    }                                                                   \
  } while (0)

// Makes a tensor over storage and takes that reference, also on failure.
mtl_status aoti_tensor_make(aoti_storage *storage, int32_t dtype, int64_t rank,
                            const int64_t *sizes, const int64_t *strides,
                            int64_t offset, AtenTensorHandle *out_new);
// Makes a storage of the pool or the heap.
mtl_status aoti_storage_create(int32_t device_type, size_t size_bytes,
                               aoti_storage **out_storage);
// Makes a storage over an mtl_buffer, which is retained.
mtl_status aoti_storage_wrap(mtl_buffer *buffer, size_t offset_bytes,
                             size_t size_bytes, aoti_storage **out_storage);
// Makes a storage over memory at any address: of the pool, whose buffer is
// retained, or of the caller, which is used in place.
mtl_status aoti_storage_wrap_address(char *data, size_t size_bytes,
                                     aoti_storage **out_storage);
aoti_storage *aoti_storage_retain(aoti_storage *storage);
void aoti_storage_release(aoti_storage *storage);

// Makes an empty tensor; strides NULL for contiguous ones.
mtl_status aoti_tensor_empty(int32_t device_type, int32_t dtype, int64_t rank,
                             const int64_t *sizes, const int64_t *strides,
                             AtenTensorHandle *out_new);
// The same on the device, with the type and sizes given, contiguous.
mtl_status aoti_tensor_like(const aoti_tensor *tensor, int32_t dtype,
                            int64_t rank, const int64_t *sizes,
                            AtenTensorHandle *out_new);
// Another view of tensor's storage.
mtl_status aoti_tensor_view(const aoti_tensor *tensor, int32_t dtype,
                            int64_t rank, const int64_t *sizes,
                            const int64_t *strides, int64_t offset,
                            AtenTensorHandle *out_new);

size_t aoti_element_size(int32_t dtype);  // 0 for an unknown type
int64_t aoti_tensor_count(const aoti_tensor *tensor);
bool aoti_tensor_is_contiguous(const aoti_tensor *tensor);
// Elements from the first to the last in memory, inclusive.
int64_t aoti_extent(int64_t rank, const int64_t *sizes, const int64_t *strides);
// Returns the host's address of element 0.
char *aoti_tensor_data(const aoti_tensor *tensor);

// Describes an mps tensor for stream.h and ops.h, for work that may write it.
mtl_status aoti_tensor_describe(const aoti_tensor *tensor,
                                mtl_tensor *out_tensor);
// The same for work that only reads it.
mtl_status aoti_tensor_describe_read(const aoti_tensor *tensor,
                                     mtl_tensor *out_tensor);
// Prepares tensor for being written other than by described work.
mtl_status aoti_tensor_before_write(const aoti_tensor *tensor);

// Returns the current stream after all its work has finished.
mtl_status aoti_wait(void);

#endif
