// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// model_run.c: runs a model and hands out its results.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "aoti/model/model.h"

struct mtl_model_result {
  mtl_model *model;  // +1: a result may be a view of a constant
  size_t count;
  AtenTensorHandle tensors[];
};

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
  // An earlier failure must not look like a failure of this run.
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
  mtl_fail(MTL_OK, "%s", "");  // so that the text is of this run
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
  delete_all(handles, count);  // outputs that the model did not take over
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
