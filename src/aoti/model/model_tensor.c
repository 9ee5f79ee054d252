// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// model_tensor.c: converts the client's tensors into a model's tensor handles.
#include "aoti/model/model.h"

mtl_model_tensor mtl_model_tensor_make(mtl_buffer *buffer, mtl_scalar_type type,
                                       uint32_t rank, const int64_t *sizes) {
  mtl_model_tensor tensor = {.buffer = buffer, .type = type, .rank = rank};
  int64_t stride = 1;
  for (uint32_t i = rank; i-- > 0 && rank <= MTL_TENSOR_MAX_RANK;) {
    tensor.sizes[i] = sizes[i];
    tensor.strides[i] = stride;
    stride *= sizes[i] > 1 ? sizes[i] : 1;
  }
  return tensor;
}

// The buffer that holds value, from its first byte to the buffer's end.
static mtl_status wrap_buffer(const mtl_model_tensor *value,
                              aoti_storage **out_storage) {
  const size_t length = mtl_buffer_length(value->buffer);
  if (value->offset_bytes > length) {
    return mtl_fail(MTL_INVALID_ARGUMENT,
                    "a tensor at offset %zu of a buffer of %zu bytes",
                    value->offset_bytes, length);
  }
  return aoti_storage_wrap(value->buffer, value->offset_bytes,
                           length - value->offset_bytes, out_storage);
}

static mtl_status wrap_data(const mtl_model_tensor *value, size_t element_bytes,
                            aoti_storage **out_storage) {
  const size_t size_bytes =
      (size_t)aoti_extent(value->rank, value->sizes, value->strides) *
      element_bytes;
  return aoti_storage_wrap_address(value->data, size_bytes ? size_bytes : 1,
                                   out_storage);
}

mtl_status model_tensor_wrap(const mtl_model_tensor *value,
                             AtenTensorHandle *out_new) {
  *out_new = NULL;
  const size_t size = aoti_element_size((int32_t)value->type);
  const bool has_memory = value->buffer || value->data;
  if (!has_memory || value->rank > MTL_TENSOR_MAX_RANK || size == 0) {
    return mtl_fail(MTL_INVALID_ARGUMENT,
                    "a tensor of %u dimensions and element type %d%s",
                    value->rank, (int)value->type,
                    has_memory ? "" : " without a buffer");
  }
  aoti_storage *storage = NULL;
  AOTI_TRY(value->buffer ? wrap_buffer(value, &storage)
                         : wrap_data(value, size, &storage));
  return aoti_tensor_make(storage, (int32_t)value->type, value->rank,
                          value->sizes, value->strides, 0, out_new);
}
