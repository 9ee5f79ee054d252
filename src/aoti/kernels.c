// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// kernels.c: compiles shader libraries and records dispatches on the current
// stream. Generated code ignores the results of these calls: so the stream
// keeps every failure, and the compiler's messages go to stderr.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aoti/fold.h"
#include "aoti/model/model.h"

// The reason why the last kernel could not be created: models keep a NULL
// handle for good.
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

// Libraries that models have deleted. Models delete theirs in destructors of
// their object; to unload code from there would let the dynamic linker unmap
// that very object, if the process is ending. So it waits for a better moment.
typedef struct deleted {
  struct deleted *next;
  mtl_shader_library *library;  // +1
} deleted;

static pthread_mutex_t deleted_lock = PTHREAD_MUTEX_INITIALIZER;
static deleted *deleted_list;

void kernels_release_deleted(void) {
  pthread_mutex_lock(&deleted_lock);
  deleted *list = deleted_list;
  deleted_list = NULL;
  pthread_mutex_unlock(&deleted_lock);
  while (list) {
    deleted *next = list->next;
    mtl_shader_library_release(list->library);  // -1
    free(list);
    list = next;
  }
}

AOTITorchError aoti_torch_mps_create_shader_library(
    const char *source, AOTIMetalShaderLibraryHandle *out_library) {
  AOTI_CHECK_NOT_NULL(source);
  AOTI_CHECK_NOT_NULL(out_library);
  *out_library = NULL;
  kernels_release_deleted();
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
  deleted *added = library ? malloc(sizeof *added) : NULL;
  if (added) {  // without memory it stays
    added->library = (mtl_shader_library *)library;
    pthread_mutex_lock(&deleted_lock);
    added->next = deleted_list;
    deleted_list = added;
    pthread_mutex_unlock(&deleted_lock);
  }
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

// The stream to encode function on. An error is kept for the caller.
#define CURRENT_STREAM(stream)            \
  mtl_stream *stream = NULL;              \
  if (!function) {                        \
    return fail_without_kernel(__func__); \
  }                                       \
  AOTI_TRY(mtl_stream_current(&stream))

// --- One dispatch ------------------------------------------------------------

// The calls from start_encoding to the dispatch. They are kept until then,
// because a dispatch whose results are known (fold.h) is not recorded.
typedef struct recording {
  mtl_kernel *kernel;  // borrowed; NULL between dispatches
  fold_call call;
  size_t bytes_used;
  char bytes[4096 + 8 * FOLD_ARGUMENTS_MAX];
} recording;

static _Thread_local recording recorded;

static void forget_recording(void) {
  for (uint32_t i = 0; i < recorded.call.argument_count; ++i) {
    aoti_storage_release(recorded.call.arguments[i].storage);  // -1
    recorded.call.arguments[i] = (fold_argument){0};
  }
  recorded.call.argument_count = 0;
  recorded.bytes_used = 0;
  recorded.kernel = NULL;
}

AOTITorchError aoti_torch_mps_start_encoding(
    AOTIMetalKernelFunctionHandle function) {
  CURRENT_STREAM(stream);
  forget_recording();
  recorded.kernel = kernel_of(function);
  recorded.call.pipeline = mtl_kernel_pipeline(recorded.kernel);
  return MTL_OK;
}

// Finds the place of an argument; anything else than an error is cleared.
static mtl_status find_place(unsigned index, fold_argument **out_argument) {
  if (!recorded.kernel) {
    return mtl_fail(MTL_INVALID_STATE,
                    "argument %u: nothing is being encoded; start with "
                    "aoti_torch_mps_start_encoding",
                    index);
  }
  if (index >= FOLD_ARGUMENTS_MAX) {
    return mtl_fail(
        MTL_INVALID_ARGUMENT, "kernel '%s': index %u is over the limit of %d",
        mtl_kernel_name(recorded.kernel), index, FOLD_ARGUMENTS_MAX - 1);
  }
  *out_argument = &recorded.call.arguments[index];
  aoti_storage_release((*out_argument)->storage);  // -1
  **out_argument = (fold_argument){.is_set = true};
  if (recorded.call.argument_count <= index) {
    recorded.call.argument_count = index + 1;
  }
  return MTL_OK;
}

static mtl_status set_bytes(unsigned index, const void *bytes, uint64_t size) {
  fold_argument *argument = NULL;
  AOTI_TRY(find_place(index, &argument));
  const size_t room = sizeof recorded.bytes - recorded.bytes_used;
  if (!bytes || size == 0 || size > 4096 || size > room) {
    argument->is_set = false;
    return mtl_fail(MTL_INVALID_ARGUMENT,
                    "kernel '%s': index %u: %llu bytes at %p, not 1 to 4096 "
                    "in all",
                    mtl_kernel_name(recorded.kernel), index,
                    (unsigned long long)size, bytes);
  }
  char *to = recorded.bytes + recorded.bytes_used;
  memcpy(to, bytes, size);
  recorded.bytes_used += (size + 7) / 8 * 8;
  argument->bytes = to;
  argument->length_bytes = size;
  return MTL_OK;
}

// Sets a scalar on the host as an argument by value.
static mtl_status set_scalar(unsigned index, const aoti_tensor *tensor) {
  if (tensor->rank != 0) {
    return mtl_fail(MTL_INVALID_ARGUMENT,
                    "argument %u is a tensor on the host of %lld "
                    "dimensions; only scalars can be",
                    index, (long long)tensor->rank);
  }
  const char *data = aoti_tensor_data(tensor);
  if (tensor->dtype == AOTI_FLOAT64) {
    const float value = (float)*(const double *)data;
    return set_bytes(index, &value, sizeof value);
  }
  if (tensor->dtype == AOTI_COMPLEX128) {
    const double *pair = (const double *)data;
    const float value[2] = {(float)pair[0], (float)pair[1]};
    return set_bytes(index, value, sizeof value);
  }
  return set_bytes(index, data, aoti_element_size(tensor->dtype));
}

static mtl_status set_tensor(unsigned index, const aoti_tensor *tensor) {
  if (!tensor || !tensor->storage) {
    return mtl_fail(MTL_INVALID_ARGUMENT, "argument %u is no tensor", index);
  }
  if (tensor->storage->device_type != AOTI_MPS) {
    return set_scalar(index, tensor);
  }
  fold_argument *argument = NULL;
  AOTI_TRY(find_place(index, &argument));
  const size_t size = aoti_element_size(tensor->dtype);
  argument->storage = aoti_storage_retain(tensor->storage);  // +1
  argument->offset_bytes = (size_t)tensor->offset * size;
  argument->length_bytes =
      (size_t)aoti_extent(tensor->rank, tensor->sizes, tensor->strides) * size;
  return MTL_OK;
}

AOTITorchError aoti_torch_mps_set_arg_tensor(
    AOTIMetalKernelFunctionHandle function, unsigned index,
    AtenTensorHandle tensor) {
  CURRENT_STREAM(stream);
  return keep(set_tensor(index, tensor));
}

AOTITorchError aoti_torch_mps_set_arg_int(
    AOTIMetalKernelFunctionHandle function, unsigned index, int64_t value) {
  CURRENT_STREAM(stream);
  return keep(set_bytes(index, &value, sizeof value));
}

AOTITorchError torch_mps_set_arg_bytes(AOTIMetalKernelFunctionHandle function,
                                       unsigned index, const void *bytes,
                                       uint64_t size) {
  CURRENT_STREAM(stream);
  return keep(set_bytes(index, bytes, size));
}

static void note_access(fold_call *call) {
  size_t count = 0;
  const mtl_argument *list = mtl_pipeline_arguments(call->pipeline, &count);
  for (size_t i = 0; i < count; ++i) {
    if (list[i].kind == MTL_ARGUMENT_BUFFER &&
        list[i].index < call->argument_count) {
      call->arguments[list[i].index].is_written =
          list[i].access != MTL_ACCESS_READ_ONLY;
    }
  }
}

static mtl_status bind(mtl_stream *stream, uint32_t index,
                       const fold_argument *argument) {
  const aoti_storage *storage = argument->storage;
  if (!storage) {
    return mtl_stream_set_bytes(stream, index, argument->bytes,
                                argument->length_bytes);
  }
  return mtl_stream_set_buffer(stream, index, storage->buffer,
                               storage->offset_bytes + argument->offset_bytes,
                               argument->length_bytes);
}

static mtl_status record(mtl_stream *stream, const uint64_t *length,
                         size_t rank, const uint64_t *group) {
  AOTI_TRY(mtl_stream_start_encoding(stream, recorded.kernel));
  for (uint32_t i = 0; i < recorded.call.argument_count; ++i) {
    if (recorded.call.arguments[i].is_set) {
      AOTI_TRY(bind(stream, i, &recorded.call.arguments[i]));
    }
  }
  return mtl_stream_dispatch(stream, length, rank, group);
}

static mtl_status dispatch_recorded(mtl_stream *stream, const uint64_t *length,
                                    size_t rank, const uint64_t *group) {
  if (!recorded.kernel) {
    return mtl_fail(MTL_INVALID_STATE,
                    "a dispatch: nothing is being encoded; start with "
                    "aoti_torch_mps_start_encoding");
  }
  fold_call *call = &recorded.call;
  note_access(call);
  memset(call->sizes, 0, sizeof call->sizes);
  call->sizes[0] = rank;
  call->sizes[1] = group != NULL;
  for (size_t i = 0; length && i < rank && i < 3; ++i) {
    call->sizes[2 + i] = length[i];
    call->sizes[5 + i] = group ? group[i] : 0;
  }
  bool is_found = false;
  fold_key *key = NULL;
  AOTI_TRY(fold_find(stream, call, &is_found, &key));
  if (is_found) {
    return MTL_OK;
  }
  const mtl_status status = record(stream, length, rank, group);
  if (status == MTL_OK && key) {
    fold_keep(stream, call, key);
  } else {
    fold_key_delete(key);
  }
  return status;
}

static mtl_status dispatch(AOTIMetalKernelFunctionHandle function,
                           const uint64_t *length, size_t rank,
                           const uint64_t *group) {
  CURRENT_STREAM(stream);
  const mtl_status status = dispatch_recorded(stream, length, rank, group);
  forget_recording();
  return keep(status);
}

AOTITorchError aoti_torch_mps_dispatch_single(
    AOTIMetalKernelFunctionHandle function, uint64_t length) {
  return dispatch(function, &length, 1, NULL);
}

AOTITorchError aoti_torch_mps_dispatch_single_with_group_size(
    AOTIMetalKernelFunctionHandle function, uint64_t length,
    uint64_t group_size) {
  return dispatch(function, &length, 1, &group_size);
}

AOTITorchError aoti_torch_mps_dispatch_array(
    AOTIMetalKernelFunctionHandle function, const uint64_t *length,
    size_t length_size) {
  return dispatch(function, length, length_size, NULL);
}

AOTITorchError aoti_torch_mps_dispatch_array_with_group_size(
    AOTIMetalKernelFunctionHandle function, const uint64_t *length,
    size_t length_size, const uint64_t *group_size, size_t group_size_size) {
  if (function && length_size != group_size_size) {
    return keep(mtl_fail(MTL_INVALID_ARGUMENT,
                         "a grid of %zu dimensions in groups of %zu",
                         length_size, group_size_size));
  }
  return dispatch(function, length, length_size, group_size);
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
