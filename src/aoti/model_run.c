// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// model_run.c: runs of a model, and their results.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "aoti/model.h"

struct mtl_model_result {
  mtl_model *model;  // +1: a result may be a view of a constant
  size_t count;
  AtenTensorHandle tensors[];
};

size_t mtl_scalar_type_size(mtl_scalar_type type) {
  return aoti_element_size((int32_t)type);
}

const char *mtl_scalar_type_name(mtl_scalar_type type) {
  switch (type) {
    case MTL_SCALAR_UINT8: return "u8";
    case MTL_SCALAR_INT8: return "i8";
    case MTL_SCALAR_INT16: return "i16";
    case MTL_SCALAR_INT32: return "i32";
    case MTL_SCALAR_INT64: return "i64";
    case MTL_SCALAR_FLOAT16: return "f16";
    case MTL_SCALAR_FLOAT32: return "f32";
    case MTL_SCALAR_FLOAT64: return "f64";
    case MTL_SCALAR_COMPLEX64: return "c64";
    case MTL_SCALAR_BOOL: return "bool";
    case MTL_SCALAR_BFLOAT16: return "bf16";
    case MTL_SCALAR_UINT16: return "u16";
    case MTL_SCALAR_UINT32: return "u32";
    case MTL_SCALAR_UINT64: return "u64";
  }
  return "?";
}

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

static mtl_status check_call(const mtl_model *model, size_t input_count,
                             mtl_stream *stream) {
  if (input_count != model->input_count) {
    return mtl_fail(MTL_INVALID_ARGUMENT,
                    "mtl_model_run: %zu inputs; the model takes %zu",
                    input_count, model->input_count);
  }
  if (model->lacks_weights) {
    return mtl_fail(MTL_NOT_FOUND,
                    "the model's weights are missing: MODEL_weights.blob is "
                    "not beside MODEL.so, and none were given");
  }
  // What failed before must not look like a failure of this run.
  return mtl_stream_error(stream);
}

static void delete_all(AtenTensorHandle *tensors, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    aoti_torch_delete_tensor_object(tensors[i]);
  }
}

// Generated code gives a result that comes twice as one handle, twice: each
// place gets a handle of its own.
static mtl_status separate_handles(mtl_model_result *result) {
  for (size_t i = 1; i < result->count; ++i) {
    size_t first = 0;
    while (result->tensors[first] != result->tensors[i]) {
      ++first;
    }
    if (first != i && result->tensors[i]) {
      const AtenTensorHandle shared = result->tensors[i];
      result->tensors[i] = NULL;
      AOTI_TRY((mtl_status)aoti_torch_new_tensor_handle(shared,
                                                        &result->tensors[i]));
    }
  }
  return MTL_OK;
}

// Runs with handles, which the model takes.
static mtl_status run_handles(mtl_model *model, AtenTensorHandle *inputs,
                              mtl_model_result *result, mtl_stream *stream) {
  mtl_fail(MTL_OK, "%s", "");  // so that a text is this run's
  const int32_t error =
      model->call.run(model->container, inputs, model->input_count,
                      result->tensors, model->output_count, NULL, NULL);
  if (error == 0) {
    AOTI_TRY(separate_handles(result));
    return mtl_stream_error(stream);
  }
  const char *text = NULL;
  if (model->call.last_error) {
    (void)model->call.last_error(&text);
  }
  const mtl_status kept = mtl_stream_error(stream);
  const char *ours = mtl_last_error();
  int length = text ? (int)strlen(text) : 0;
  while (length > 0 && text[length - 1] == '\n') {
    --length;
  }
  return mtl_fail(kept == MTL_OK ? MTL_INVALID_ARGUMENT : kept,
                  "the model's run failed: %s%s%.*s", ours, *ours ? ": " : "",
                  length, text ? text : "");
}

static mtl_status run_on_current(mtl_model *model, mtl_stream *stream,
                                 const mtl_model_tensor *inputs,
                                 mtl_model_result *result) {
  const size_t count = model->input_count;
  AtenTensorHandle *handles = calloc(count + 1, sizeof *handles);
  AOTI_CHECK_NOT_NULL(handles);
  mtl_status status = MTL_OK;
  for (size_t i = 0; i < count && status == MTL_OK; ++i) {
    status = model_tensor_wrap(&inputs[i], &handles[i]);
  }
  if (status == MTL_OK) {
    status = run_handles(model, handles, result, stream);
  }
  delete_all(handles, count);  // what the model did not take
  free(handles);
  return status;
}

// Moves results on the host to the device, so that each has a buffer.
static mtl_status move_results(mtl_model_result *result) {
  for (size_t i = 0; i < result->count; ++i) {
    aoti_tensor *tensor = result->tensors[i];
    if (!tensor || !tensor->storage || tensor->rank > MTL_TENSOR_MAX_RANK) {
      return mtl_fail(
          MTL_UNSUPPORTED, "output %zu is %s", i,
          tensor && tensor->storage ? "of too many dimensions" : "no tensor");
    }
    // The host may write to what it gets.
    if (tensor->storage->value) {
      AOTI_TRY(aoti_tensor_before_write(tensor));
    }
    if (tensor->storage->device_type != AOTI_MPS) {
      AtenTensorHandle moved = NULL;
      AOTI_TRY(aoti_tensor_empty(AOTI_MPS, tensor->dtype, tensor->rank,
                                 tensor->sizes, NULL, &moved));
      result->tensors[i] = moved;
      const mtl_status status = (mtl_status)aoti_torch_copy_(moved, tensor, 0);
      aoti_torch_delete_tensor_object(tensor);
      AOTI_TRY(status);
    }
  }
  return MTL_OK;
}

mtl_status mtl_model_run(mtl_model *model, mtl_stream *stream,
                         const mtl_model_tensor *inputs, size_t input_count,
                         mtl_model_result **out_result) {
  AOTI_CHECK_NOT_NULL(model);
  AOTI_CHECK_NOT_NULL(out_result);
  *out_result = NULL;
  mtl_stream *before = NULL;
  AOTI_TRY(mtl_stream_current(&before));
  stream = stream ? stream : before;
  AOTI_TRY(check_call(model, input_count, stream));
  mtl_model_result *result =
      calloc(1, sizeof *result + model->output_count * sizeof *result->tensors);
  AOTI_CHECK_NOT_NULL(result);
  result->count = model->output_count;
  result->model = mtl_model_retain(model);  // +1
  mtl_stream_retain(before);                // +1: it may be set by us alone
  mtl_stream_set_current(stream);
  mtl_status status = run_on_current(model, stream, inputs, result);
  if (status == MTL_OK) {
    status = move_results(result);
  }
  mtl_stream_set_current(before);
  mtl_stream_release(before);  // -1
  if (status != MTL_OK) {
    mtl_model_result_release(result);
    return status;
  }
  *out_result = result;
  return MTL_OK;
}

size_t mtl_model_result_count(const mtl_model_result *result) {
  return result->count;
}

mtl_status mtl_model_result_get(const mtl_model_result *result, size_t index,
                                mtl_model_tensor *out_output) {
  AOTI_CHECK_NOT_NULL(result);
  AOTI_CHECK_NOT_NULL(out_output);
  if (index >= result->count) {
    return mtl_fail(MTL_INVALID_ARGUMENT, "output %zu of %zu", index,
                    result->count);
  }
  const aoti_tensor *tensor = result->tensors[index];
  const size_t size = aoti_element_size(tensor->dtype);
  *out_output = (mtl_model_tensor){
      .buffer = tensor->storage->buffer,
      .offset_bytes =
          tensor->storage->offset_bytes + (size_t)tensor->offset * size,
      .type = (mtl_scalar_type)tensor->dtype,
      .rank = (uint32_t)tensor->rank,
  };
  memcpy(out_output->sizes, tensor->sizes,
         (size_t)tensor->rank * sizeof *tensor->sizes);
  memcpy(out_output->strides, tensor->strides,
         (size_t)tensor->rank * sizeof *tensor->strides);
  return MTL_OK;
}

void mtl_model_result_release(mtl_model_result *result) {
  if (result) {
    delete_all(result->tensors, result->count);
    mtl_model_release(result->model);  // -1
    free(result);
  }
}
