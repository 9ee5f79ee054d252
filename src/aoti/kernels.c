// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// kernels.c: shader libraries and dispatches on the current stream. Generated
// code does not look at what these return, so every failure stays on the
// stream, and what the compiler says goes to stderr.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aoti/model.h"

// Why the last kernel could not be had: models keep a NULL handle for good.
static pthread_mutex_t reason_lock = PTHREAD_MUTEX_INITIALIZER;
static char *reason;  // malloc'ed

static mtl_status keep(mtl_status status) {
  mtl_stream *stream = NULL;
  if (status != MTL_OK && mtl_stream_current(&stream) == MTL_OK) {
    mtl_stream_fail(stream, status, NULL);
  }
  return status;
}

static mtl_status keep_reason(mtl_status status) {
  if (status != MTL_OK) {
    fprintf(stderr, "mettle: a model's kernel cannot be used: %s\n",
            mtl_last_error());
    pthread_mutex_lock(&reason_lock);
    free(reason);
    reason = strdup(mtl_last_error());
    pthread_mutex_unlock(&reason_lock);
  }
  return keep(status);
}

static mtl_status fail_without_kernel(const char *call) {
  pthread_mutex_lock(&reason_lock);
  const mtl_status status = mtl_fail(
      MTL_COMPILE_FAILED, "%s: there is no kernel%s%s", call,
      reason ? ", for this one could not be had: " : "", reason ? reason : "");
  pthread_mutex_unlock(&reason_lock);
  return keep(status);
}

static mtl_kernel *kernel_of(AOTIMetalKernelFunctionHandle function) {
  return (mtl_kernel *)function;
}

AOTITorchError aoti_torch_mps_create_shader_library(
    const char *source, AOTIMetalShaderLibraryHandle *out_library) {
  AOTI_CHECK_NOT_NULL(source);
  AOTI_CHECK_NOT_NULL(out_library);
  *out_library = NULL;
  mtl_stream *stream = NULL;
  AOTI_TRY(mtl_stream_current(&stream));
  mtl_device *device = mtl_stream_device(stream);
  mtl_shader_library *library = model_kernels_library(device, source);  // +1
  mtl_status status = MTL_OK;
  if (!library) {
    status = mtl_shader_library_create(device, source, &library);
  }
  *out_library = (AOTIMetalShaderLibraryHandle)library;
  return keep_reason(status);
}

AOTITorchError aoti_torch_mps_delete_shader_library(
    AOTIMetalShaderLibraryHandle library) {
  mtl_shader_library_release((mtl_shader_library *)library);  // -1
  return MTL_OK;
}

AOTITorchError aoti_torch_mps_get_kernel_function(
    AOTIMetalShaderLibraryHandle library, const char *name,
    AOTIMetalKernelFunctionHandle *out_function) {
  AOTI_CHECK_NOT_NULL(out_function);
  *out_function = NULL;
  if (!library) {
    return fail_without_kernel(__func__);
  }
  mtl_kernel *kernel = NULL;
  const mtl_status status =
      mtl_shader_library_kernel((mtl_shader_library *)library, name, &kernel);
  *out_function = (AOTIMetalKernelFunctionHandle)kernel;
  return keep_reason(status);
}

// The stream that function is to be encoded on; all that is wrong is kept.
#define CURRENT_STREAM(stream)            \
  mtl_stream *stream = NULL;              \
  if (!function) {                        \
    return fail_without_kernel(__func__); \
  }                                       \
  AOTI_TRY(mtl_stream_current(&stream))

AOTITorchError aoti_torch_mps_start_encoding(
    AOTIMetalKernelFunctionHandle function) {
  CURRENT_STREAM(stream);
  return mtl_stream_start_encoding(stream, kernel_of(function));
}

// A scalar on the host is an argument by value.
static mtl_status set_scalar(mtl_stream *stream, unsigned index,
                             const aoti_tensor *tensor) {
  if (tensor->rank != 0) {
    return keep(mtl_fail(MTL_INVALID_ARGUMENT,
                         "argument %u is a tensor on the host of %lld "
                         "dimensions; only scalars can be",
                         index, (long long)tensor->rank));
  }
  const char *data = aoti_tensor_data(tensor);
  if (tensor->dtype == AOTI_FLOAT64) {
    const float value = (float)*(const double *)data;
    return mtl_stream_set_bytes(stream, index, &value, sizeof value);
  }
  if (tensor->dtype == AOTI_COMPLEX128) {
    const double *pair = (const double *)data;
    const float value[2] = {(float)pair[0], (float)pair[1]};
    return mtl_stream_set_bytes(stream, index, value, sizeof value);
  }
  return mtl_stream_set_bytes(stream, index, data,
                              aoti_element_size(tensor->dtype));
}

AOTITorchError aoti_torch_mps_set_arg_tensor(
    AOTIMetalKernelFunctionHandle function, unsigned index,
    AtenTensorHandle tensor) {
  CURRENT_STREAM(stream);
  if (!tensor || !tensor->storage) {
    return keep(
        mtl_fail(MTL_INVALID_ARGUMENT, "argument %u is no tensor", index));
  }
  const aoti_storage *storage = tensor->storage;
  if (storage->device_type != AOTI_MPS) {
    return set_scalar(stream, index, tensor);
  }
  const size_t size = aoti_element_size(tensor->dtype);
  return mtl_stream_set_buffer(
      stream, index, storage->buffer,
      storage->offset_bytes + (size_t)tensor->offset * size,
      (size_t)aoti_extent(tensor->rank, tensor->sizes, tensor->strides) * size);
}

AOTITorchError aoti_torch_mps_set_arg_int(
    AOTIMetalKernelFunctionHandle function, unsigned index, int64_t value) {
  CURRENT_STREAM(stream);
  return mtl_stream_set_int64(stream, index, value);
}

AOTITorchError torch_mps_set_arg_bytes(AOTIMetalKernelFunctionHandle function,
                                       unsigned index, const void *bytes,
                                       uint64_t size) {
  CURRENT_STREAM(stream);
  return mtl_stream_set_bytes(stream, index, bytes, size);
}

AOTITorchError aoti_torch_mps_dispatch_single(
    AOTIMetalKernelFunctionHandle function, uint64_t length) {
  CURRENT_STREAM(stream);
  return mtl_stream_dispatch(stream, &length, 1, NULL);
}

AOTITorchError aoti_torch_mps_dispatch_single_with_group_size(
    AOTIMetalKernelFunctionHandle function, uint64_t length,
    uint64_t group_size) {
  CURRENT_STREAM(stream);
  return mtl_stream_dispatch(stream, &length, 1, &group_size);
}

AOTITorchError aoti_torch_mps_dispatch_array(
    AOTIMetalKernelFunctionHandle function, const uint64_t *length,
    size_t length_size) {
  CURRENT_STREAM(stream);
  return mtl_stream_dispatch(stream, length, length_size, NULL);
}

AOTITorchError aoti_torch_mps_dispatch_array_with_group_size(
    AOTIMetalKernelFunctionHandle function, const uint64_t *length,
    size_t length_size, const uint64_t *group_size, size_t group_size_size) {
  CURRENT_STREAM(stream);
  if (length_size != group_size_size) {
    return keep(mtl_fail(MTL_INVALID_ARGUMENT,
                         "a grid of %zu dimensions in groups of %zu",
                         length_size, group_size_size));
  }
  return mtl_stream_dispatch(stream, length, length_size, group_size);
}

// A std::function<void(AOTIMetalKernelFunctionHandle)> as libstdc++ lays it
// out; the model was compiled against that.  // <bits/std_function.h>
typedef struct standard_function {
  void *functor[2];
  void *manager;
  void (*invoker)(const void *functor, AOTIMetalKernelFunctionHandle *argument);
} standard_function;

void aoti_torch_mps_shared_callback(AOTIMetalKernelFunctionHandle function,
                                    void *user_data) {
  const standard_function *callback = user_data;
  if (callback && callback->manager) {
    callback->invoker(callback->functor, &function);
  }
}

AOTITorchError aoti_torch_mps_run_command_block(
    AOTIMetalKernelFunctionHandle function,
    aoti_torch_mps_command_block_callback_t callback, void *user_data) {
  AOTI_CHECK_NOT_NULL(callback);
  CURRENT_STREAM(stream);
  mtl_stream_lock(stream);
  callback(function, user_data);
  mtl_stream_unlock(stream);
  return MTL_OK;
}
