// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tensor.c: makes, measures and views tensors.
#include "aoti/tensor.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "aoti/fold.h"

enum { RANK_MAX = 64 };  // PyTorch's limit

static mtl_data_type metal_type(int32_t dtype) {
  switch (dtype) {
    case AOTI_UINT8: return MTL_TYPE_UCHAR;
    case AOTI_INT8: return MTL_TYPE_CHAR;
    case AOTI_BOOL: return MTL_TYPE_BOOL;
    case AOTI_INT16: return MTL_TYPE_SHORT;
    case AOTI_UINT16: return MTL_TYPE_USHORT;
    case AOTI_INT32: return MTL_TYPE_INT;
    case AOTI_UINT32: return MTL_TYPE_UINT;
    case AOTI_INT64: return MTL_TYPE_LONG;
    case AOTI_UINT64: return MTL_TYPE_ULONG;
    case AOTI_FLOAT16: return MTL_TYPE_HALF;
    case AOTI_BFLOAT16: return MTL_TYPE_BFLOAT;
    case AOTI_FLOAT32: return MTL_TYPE_FLOAT;
    default: return MTL_TYPE_NONE;
  }
}

int64_t aoti_tensor_count(const aoti_tensor *tensor) {
  int64_t count = 1;
  for (int64_t i = 0; i < tensor->rank; ++i) {
    count *= tensor->sizes[i];
  }
  return count;
}

int64_t aoti_extent(int64_t rank, const int64_t *sizes,
                    const int64_t *strides) {
  int64_t last = 0;
  for (int64_t i = 0; i < rank; ++i) {
    if (sizes[i] == 0) {
      return 0;
    }
    last += (sizes[i] - 1) * strides[i];
  }
  return last + 1;
}

bool aoti_tensor_is_contiguous(const aoti_tensor *tensor) {
  int64_t expected = 1;
  for (int64_t i = tensor->rank; i-- > 0;) {
    if (tensor->sizes[i] != 1 && tensor->strides[i] != expected) {
      return aoti_tensor_count(tensor) == 0;
    }
    expected *= tensor->sizes[i];
  }
  return true;
}

char *aoti_tensor_data(const aoti_tensor *tensor) {
  if (!tensor->storage || !tensor->storage->base) {
    return NULL;
  }
  return tensor->storage->base +
         tensor->offset * (int64_t)aoti_element_size(tensor->dtype);
}

static mtl_status check_shape(int64_t rank, const int64_t *sizes,
                              int32_t dtype) {
  if (rank < 0 || rank > RANK_MAX || (rank > 0 && !sizes)) {
    return mtl_fail(MTL_INVALID_ARGUMENT,
                    "a tensor of %" PRId64 " dimensions, not 0 to %d%s", rank,
                    RANK_MAX, sizes ? "" : "; sizes is NULL");
  }
  if (aoti_element_size(dtype) == 0) {
    return mtl_fail(MTL_UNSUPPORTED, "element type %d", dtype);
  }
  int64_t bytes = (int64_t)aoti_element_size(dtype);
  for (int64_t i = 0; i < rank; ++i) {
    if (sizes[i] < 0 || __builtin_mul_overflow(bytes, sizes[i], &bytes)) {
      return mtl_fail(MTL_INVALID_ARGUMENT,
                      "size %" PRId64 " of dimension %" PRId64
                      " is out of range",
                      sizes[i], i);
    }
  }
  return MTL_OK;
}

static aoti_tensor *tensor_new(int64_t rank) {
  const size_t count = rank ? 2 * (size_t)rank : 2;
  aoti_tensor *tensor =
      calloc(1, sizeof *tensor + count * sizeof *tensor->numbers);
  if (tensor) {
    tensor->rank = rank;
    tensor->sizes = tensor->numbers;
    tensor->strides = tensor->numbers + count / 2;
  }
  return tensor;
}

static void set_shape(aoti_tensor *tensor, const int64_t *sizes,
                      const int64_t *strides) {
  int64_t stride = 1;
  for (int64_t i = tensor->rank; i-- > 0;) {
    tensor->sizes[i] = sizes[i];
    tensor->strides[i] = strides ? strides[i] : stride;
    stride *= sizes[i] > 1 ? sizes[i] : 1;
  }
}

// Fails unless all elements lie in the storage.
static mtl_status check_fit(const aoti_tensor *tensor) {
  const int64_t extent =
      aoti_extent(tensor->rank, tensor->sizes, tensor->strides);
  const int64_t size = (int64_t)aoti_element_size(tensor->dtype);
  int64_t end = 0;
  for (int64_t i = 0; i < tensor->rank; ++i) {
    if (tensor->strides[i] < 0) {
      return mtl_fail(MTL_UNSUPPORTED, "a stride of %" PRId64,
                      tensor->strides[i]);
    }
  }
  if (tensor->offset < 0 ||
      __builtin_add_overflow(tensor->offset, extent, &end) ||
      __builtin_mul_overflow(end, size, &end) ||
      (extent > 0 && (uint64_t)end > tensor->storage->size_bytes)) {
    return mtl_fail(MTL_INVALID_ARGUMENT,
                    "a tensor of %" PRId64 " elements of %" PRId64
                    " bytes, from element %" PRId64
                    ", does not lie in a storage of %zu bytes",
                    extent, size, tensor->offset, tensor->storage->size_bytes);
  }
  return MTL_OK;
}

mtl_status aoti_tensor_make(aoti_storage *storage, int32_t dtype, int64_t rank,
                            const int64_t *sizes, const int64_t *strides,
                            int64_t offset, AtenTensorHandle *out_new) {
  *out_new = NULL;
  mtl_status status = check_shape(rank, sizes, dtype);
  aoti_tensor *tensor = status == MTL_OK ? tensor_new(rank) : NULL;
  if (!tensor) {
    aoti_storage_release(storage);
    return status == MTL_OK ? mtl_fail(MTL_OUT_OF_MEMORY, "a tensor: no memory")
                            : status;
  }
  tensor->storage = storage;
  tensor->dtype = dtype;
  tensor->offset = offset;
  set_shape(tensor, sizes, strides);
  status = check_fit(tensor);
  if (status != MTL_OK) {
    aoti_torch_delete_tensor_object(tensor);
    return status;
  }
  *out_new = tensor;
  return MTL_OK;
}

mtl_status aoti_tensor_empty(int32_t device_type, int32_t dtype, int64_t rank,
                             const int64_t *sizes, const int64_t *strides,
                             AtenTensorHandle *out_new) {
  *out_new = NULL;
  AOTI_TRY(check_shape(rank, sizes, dtype));
  int64_t extent = 1;
  for (int64_t i = 0; i < rank; ++i) {
    extent *= sizes[i];
  }
  if (strides) {
    extent = aoti_extent(rank, sizes, strides);
  }
  if (extent < 0) {
    return mtl_fail(MTL_UNSUPPORTED, "strides below 0");
  }
  aoti_storage *storage = NULL;
  AOTI_TRY(aoti_storage_create(
      device_type, (size_t)extent * aoti_element_size(dtype), &storage));
  return aoti_tensor_make(storage, dtype, rank, sizes, strides, 0, out_new);
}

mtl_status aoti_tensor_like(const aoti_tensor *tensor, int32_t dtype,
                            int64_t rank, const int64_t *sizes,
                            AtenTensorHandle *out_new) {
  return aoti_tensor_empty(tensor->storage->device_type, dtype, rank, sizes,
                           NULL, out_new);
}

mtl_status aoti_tensor_view(const aoti_tensor *tensor, int32_t dtype,
                            int64_t rank, const int64_t *sizes,
                            const int64_t *strides, int64_t offset,
                            AtenTensorHandle *out_new) {
  return aoti_tensor_make(aoti_storage_retain(tensor->storage), dtype, rank,
                          sizes, strides, offset, out_new);  // +1
}

static mtl_status describe(const aoti_tensor *tensor, mtl_tensor *out_tensor) {
  if (!tensor || !tensor->storage) {
    return mtl_fail(MTL_INVALID_ARGUMENT, "a tensor is %s",
                    tensor ? "not defined" : "NULL");
  }
  if (tensor->storage->device_type != AOTI_MPS) {
    return mtl_fail(MTL_INVALID_ARGUMENT,
                    "a tensor is on device type %d, not on mps",
                    tensor->storage->device_type);
  }
  if (tensor->rank > MTL_TENSOR_MAX_RANK ||
      metal_type(tensor->dtype) == MTL_TYPE_NONE) {
    return mtl_fail(MTL_UNSUPPORTED,
                    "a tensor of element type %d and %" PRId64
                    " dimensions on mps",
                    tensor->dtype, tensor->rank);
  }
  *out_tensor = (mtl_tensor){
      .buffer = tensor->storage->buffer,
      .offset_bytes = tensor->storage->offset_bytes +
                      (size_t)tensor->offset * aoti_element_size(tensor->dtype),
      .type = metal_type(tensor->dtype),
      .rank = (uint32_t)tensor->rank,
  };
  memcpy(out_tensor->sizes, tensor->sizes,
         (size_t)tensor->rank * sizeof *tensor->sizes);
  memcpy(out_tensor->strides, tensor->strides,
         (size_t)tensor->rank * sizeof *tensor->strides);
  return MTL_OK;
}

static size_t start_bytes(const aoti_tensor *tensor) {
  return (size_t)tensor->offset * aoti_element_size(tensor->dtype);
}

static size_t extent_bytes(const aoti_tensor *tensor) {
  return (size_t)aoti_extent(tensor->rank, tensor->sizes, tensor->strides) *
         aoti_element_size(tensor->dtype);
}

mtl_status aoti_tensor_before_write(const aoti_tensor *tensor) {
  return fold_before_write(tensor->storage, start_bytes(tensor),
                           extent_bytes(tensor));
}

mtl_status aoti_tensor_describe(const aoti_tensor *tensor,
                                mtl_tensor *out_tensor) {
  if (tensor && tensor->storage) {
    AOTI_TRY(aoti_tensor_before_write(tensor));
  }
  return describe(tensor, out_tensor);
}

mtl_status aoti_tensor_describe_read(const aoti_tensor *tensor,
                                     mtl_tensor *out_tensor) {
  AOTI_TRY(describe(tensor, out_tensor));
  // A value that is still being computed must not be looked at.
  if (!tensor->storage->value || fold_value_is_there(tensor->storage->value)) {
    out_tensor->constant = fold_name_of(tensor->storage, start_bytes(tensor),
                                        extent_bytes(tensor));
  }
  return MTL_OK;
}

// --- Making and deleting -----------------------------------------------------

// Makes a buffer of the pages around memory that is not ours.
static mtl_status wrap_pages(char *data, size_t size_bytes,
                             aoti_storage **out_storage) {
  const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  const uintptr_t start = (uintptr_t)data / page * page;
  const uintptr_t end = ((uintptr_t)data + size_bytes + page - 1) / page * page;
  mtl_stream *stream = NULL;
  AOTI_TRY(mtl_stream_current(&stream));
  mtl_buffer *buffer = NULL;
  const mtl_buffer_desc desc = {.length_bytes = end - start,
                                .no_copy_bytes = (void *)start};
  AOTI_TRY(mtl_buffer_create(mtl_stream_device(stream), &desc, &buffer));
  const mtl_status status = aoti_storage_wrap(buffer, (uintptr_t)data - start,
                                              size_bytes, out_storage);
  mtl_buffer_release(buffer);  // -1; the storage has a reference of its own
  return status;
}

mtl_status aoti_storage_wrap_address(char *data, size_t size_bytes,
                                     aoti_storage **out_storage) {
  mtl_buffer *buffer = NULL;
  size_t offset_bytes = 0;
  if (mtl_memory_find(data, &buffer, &offset_bytes) != MTL_OK) {
    return wrap_pages(data, size_bytes, out_storage);
  }
  const mtl_status status =
      aoti_storage_wrap(buffer, offset_bytes,
                        mtl_buffer_length(buffer) - offset_bytes, out_storage);
  if (status == MTL_OK) {
    (*out_storage)->is_constant = fold_is_constant(buffer);
  }
  mtl_buffer_release(buffer);  // -1
  return status;
}

static mtl_status wrap_host(char *data, size_t size_bytes,
                            aoti_storage **out_storage) {
  aoti_storage *storage = calloc(1, sizeof *storage);
  if (!storage) {
    return mtl_fail(MTL_OUT_OF_MEMORY, "a tensor's storage: no memory");
  }
  atomic_init(&storage->reference_count, 1);
  storage->device_type = AOTI_CPU;
  storage->base = data;
  storage->size_bytes = size_bytes;
  *out_storage = storage;
  return MTL_OK;
}

AOTITorchError aoti_torch_create_tensor_from_blob_v2(
    void *data, int64_t ndim, const int64_t *sizes, const int64_t *strides,
    int64_t storage_offset, int32_t dtype, int32_t device_type,
    int32_t device_index, AtenTensorHandle *out_new, int32_t layout,
    const uint8_t *opaque_metadata, int64_t opaque_metadata_size) {
  (void)device_index;
  (void)opaque_metadata;
  (void)opaque_metadata_size;
  AOTI_CHECK_NOT_NULL(out_new);
  *out_new = NULL;
  if (layout != aoti_torch_layout_strided()) {
    return mtl_fail(MTL_UNSUPPORTED, "layout %d, not strided", layout);
  }
  AOTI_TRY(check_shape(ndim, sizes, dtype));
  aoti_tensor *shape = tensor_new(ndim);
  AOTI_CHECK_NOT_NULL(shape);
  set_shape(shape, sizes, strides);
  const int64_t extent = aoti_extent(ndim, shape->sizes, shape->strides);
  free(shape);
  if (extent > 0 && (!data || storage_offset < 0)) {
    return mtl_fail(MTL_INVALID_ARGUMENT, "a tensor from %p at offset %" PRId64,
                    data, storage_offset);
  }
  const size_t size_bytes =
      (size_t)(storage_offset + extent) * aoti_element_size(dtype);
  aoti_storage *storage = NULL;
  if (!data) {
    AOTI_TRY(aoti_storage_create(device_type, 0, &storage));
  } else if (device_type == AOTI_MPS) {
    AOTI_TRY(aoti_storage_wrap_address(data, size_bytes ? size_bytes : 1, &storage));
  } else if (device_type == AOTI_CPU) {
    AOTI_TRY(wrap_host(data, size_bytes, &storage));
  } else {
    return mtl_fail(MTL_UNSUPPORTED, "device type %d", device_type);
  }
  return aoti_tensor_make(storage, dtype, ndim, sizes, strides, storage_offset,
                          out_new);
}

AOTITorchError aoti_torch_create_tensor_from_blob(
    void *data, int64_t ndim, const int64_t *sizes, const int64_t *strides,
    int64_t storage_offset, int32_t dtype, int32_t device_type,
    int32_t device_index, AtenTensorHandle *out_new) {
  return aoti_torch_create_tensor_from_blob_v2(
      data, ndim, sizes, strides, storage_offset, dtype, device_type,
      device_index, out_new, aoti_torch_layout_strided(), NULL, 0);
}

AOTITorchError aoti_torch_empty_strided(int64_t ndim, const int64_t *sizes,
                                        const int64_t *strides, int32_t dtype,
                                        int32_t device_type,
                                        int32_t device_index,
                                        AtenTensorHandle *out_new) {
  (void)device_index;
  AOTI_CHECK_NOT_NULL(out_new);
  return aoti_tensor_empty(device_type, dtype, ndim, sizes, strides, out_new);
}

AOTITorchError aoti_torch_empty_strided_pinned(
    int64_t ndim, const int64_t *sizes, const int64_t *strides, int32_t dtype,
    int32_t device_type, int32_t device_index, AtenTensorHandle *out_new) {
  return aoti_torch_empty_strided(ndim, sizes, strides, dtype, device_type,
                                  device_index, out_new);
}

AOTITorchError aoti_torch_new_uninitialized_tensor(AtenTensorHandle *out_new) {
  AOTI_CHECK_NOT_NULL(out_new);
  *out_new = tensor_new(0);
  return *out_new ? MTL_OK : mtl_fail(MTL_OUT_OF_MEMORY, "a tensor: no memory");
}

AOTITorchError aoti_torch_delete_tensor_object(AtenTensorHandle tensor) {
  if (tensor) {
    aoti_storage_release(tensor->storage);  // -1
    if (tensor->sizes != tensor->numbers) {
      free(tensor->sizes);  // of an assignment
    }
    free(tensor);
  }
  return MTL_OK;
}

AOTITorchError aoti_torch_new_tensor_handle(AtenTensorHandle tensor,
                                            AtenTensorHandle *out_new) {
  AOTI_CHECK_NOT_NULL(tensor);
  AOTI_CHECK_NOT_NULL(out_new);
  if (!tensor->storage) {
    return aoti_torch_new_uninitialized_tensor(out_new);
  }
  return aoti_tensor_view(tensor, tensor->dtype, tensor->rank, tensor->sizes,
                          tensor->strides, tensor->offset, out_new);
}

// --- Views -------------------------------------------------------------------

AOTITorchError aoti_torch__reinterpret_tensor(
    AtenTensorHandle self, int64_t ndim, const int64_t *sizes,
    const int64_t *strides, int64_t storage_offset, AtenTensorHandle *out_new) {
  AOTI_CHECK_NOT_NULL(self);
  AOTI_CHECK_NOT_NULL(self->storage);
  AOTI_CHECK_NOT_NULL(out_new);
  return aoti_tensor_view(self, self->dtype, ndim, sizes, strides,
                          self->offset + storage_offset, out_new);
}

AOTITorchError aoti_torch_as_strided(AtenTensorHandle self,
                                     const int64_t *sizes,
                                     const int64_t *strides,
                                     AtenTensorHandle *out_new) {
  AOTI_CHECK_NOT_NULL(self);
  return aoti_torch__reinterpret_tensor(self, self->rank, sizes, strides, 0,
                                        out_new);
}

AOTITorchError aoti_torch__alloc_from_pool(AtenTensorHandle self,
                                           int64_t offset_bytes, int32_t dtype,
                                           int64_t ndim, const int64_t *sizes,
                                           const int64_t *strides,
                                           AtenTensorHandle *out_new) {
  AOTI_CHECK_NOT_NULL(self);
  AOTI_CHECK_NOT_NULL(self->storage);
  AOTI_CHECK_NOT_NULL(out_new);
  const int64_t size = (int64_t)aoti_element_size(dtype);
  const int64_t own = self->offset * (int64_t)aoti_element_size(self->dtype);
  if (size == 0 || offset_bytes < 0 || (own + offset_bytes) % size != 0) {
    return mtl_fail(MTL_INVALID_ARGUMENT,
                    "offset %" PRId64 " is not a multiple of element type %d",
                    offset_bytes, dtype);
  }
  return aoti_tensor_view(self, dtype, ndim, sizes, strides,
                          (own + offset_bytes) / size, out_new);
}

// Makes target another handle of source's tensor. A handle's address is fixed:
// sizes and strides that do not fit behind it go to the heap.
AOTITorchError aoti_torch_assign_tensors(AtenTensorHandle source,
                                         AtenTensorHandle target) {
  AOTI_CHECK_NOT_NULL(source);
  AOTI_CHECK_NOT_NULL(target);
  if (source == target) {
    return MTL_OK;
  }
  const size_t rank = (size_t)source->rank;
  int64_t *numbers = malloc((rank ? 2 * rank : 2) * sizeof *numbers);
  AOTI_CHECK_NOT_NULL(numbers);
  memcpy(numbers, source->sizes, rank * sizeof *numbers);
  memcpy(numbers + rank, source->strides, rank * sizeof *numbers);
  aoti_storage_retain(source->storage);   // +1
  aoti_storage_release(target->storage);  // -1
  if (target->sizes != target->numbers) {
    free(target->sizes);
  }
  target->storage = source->storage;
  target->dtype = source->dtype;
  target->offset = source->offset;
  target->rank = source->rank;
  target->sizes = numbers;
  target->strides = numbers + rank;
  return MTL_OK;
}

AOTITorchError aoti_torch_assign_tensors_out(AtenTensorHandle source,
                                             AtenTensorHandle *out_new) {
  return aoti_torch_new_tensor_handle(source, out_new);
}

// --- What they are -----------------------------------------------------------

#define GETTER(name, type, value)                                              \
  AOTITorchError aoti_torch_##name(AtenTensorHandle tensor, type *out_value) { \
    AOTI_CHECK_NOT_NULL(tensor);                                               \
    AOTI_CHECK_NOT_NULL(out_value);                                            \
    *out_value = value;                                                        \
    return MTL_OK;                                                             \
  }

GETTER(get_sizes, int64_t *, tensor->sizes)
GETTER(get_strides, int64_t *, tensor->strides)
GETTER(get_dim, int64_t, tensor->rank)
GETTER(get_numel, int64_t, tensor->storage ? aoti_tensor_count(tensor) : 0)
GETTER(get_storage_offset, int64_t, tensor->offset)
// A constant's storage covers exactly the constant, as with torch's from_blob:
// models copy that many bytes when they copy one set of constants to another.
GETTER(get_storage_size, int64_t,
       !tensor->storage               ? 0
       : tensor->storage->is_constant ? (int64_t)extent_bytes(tensor)
                                      : (int64_t)tensor->storage->size_bytes)
GETTER(get_storage_numel, int64_t,
       tensor->storage ? (int64_t)(tensor->storage->size_bytes /
                                   aoti_element_size(tensor->dtype))
                       : 0)
GETTER(get_dtype, int32_t, tensor->dtype)
GETTER(get_device_type, int32_t,
       tensor->storage ? tensor->storage->device_type : AOTI_CPU)
GETTER(get_device_index, int32_t, 0)
GETTER(get_layout, int32_t, aoti_torch_layout_strided())
GETTER(is_contiguous, bool, aoti_tensor_is_contiguous(tensor))
GETTER(is_defined, bool, tensor->storage != NULL)

// A caller with the address may write to it: shared contents are copied first,
// at once.
AOTITorchError aoti_torch_get_data_ptr(AtenTensorHandle tensor,
                                       void **out_value) {
  AOTI_CHECK_NOT_NULL(tensor);
  AOTI_CHECK_NOT_NULL(out_value);
  aoti_storage *storage = tensor->storage;
  if (storage && storage->value) {
    AOTI_TRY(aoti_tensor_before_write(tensor));
    AOTI_TRY(aoti_wait());
  } else if (storage && !storage->is_constant) {
    storage->is_fresh = false;
  }
  *out_value = aoti_tensor_data(tensor);
  return MTL_OK;
}

static AOTITorchError get_number(const aoti_tensor *tensor,
                                 const int64_t *numbers, int64_t dimension,
                                 int64_t *out_number) {
  const int64_t index = dimension < 0 ? dimension + tensor->rank : dimension;
  if (index < 0 || index >= tensor->rank) {
    return mtl_fail(MTL_INVALID_ARGUMENT, "dimension %" PRId64 " of %" PRId64,
                    dimension, tensor->rank);
  }
  *out_number = numbers[index];
  return MTL_OK;
}

AOTITorchError aoti_torch_get_size(AtenTensorHandle tensor, int64_t dimension,
                                   int64_t *out_size) {
  AOTI_CHECK_NOT_NULL(tensor);
  AOTI_CHECK_NOT_NULL(out_size);
  return get_number(tensor, tensor->sizes, dimension, out_size);
}

AOTITorchError aoti_torch_get_stride(AtenTensorHandle tensor, int64_t dimension,
                                     int64_t *out_stride) {
  AOTI_CHECK_NOT_NULL(tensor);
  AOTI_CHECK_NOT_NULL(out_stride);
  return get_number(tensor, tensor->strides, dimension, out_stride);
}
