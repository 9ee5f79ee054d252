// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// process.c: PyTorch's constants, and the state of the thread or process.
#include <stdio.h>

#include "aoti/tensor.h"

#define CONSTANT(name, value)       \
  int32_t aoti_torch_##name(void) { \
    return value;                   \
  }

CONSTANT(device_type_cpu, AOTI_CPU)
CONSTANT(device_type_cuda, AOTI_CUDA)
CONSTANT(device_type_meta, 14)
CONSTANT(device_type_xpu, 12)
CONSTANT(device_type_mps, AOTI_MPS)
CONSTANT(device_type_privateuse1, 20)
CONSTANT(dtype_uint8, AOTI_UINT8)
CONSTANT(dtype_int8, AOTI_INT8)
CONSTANT(dtype_int16, AOTI_INT16)
CONSTANT(dtype_int32, AOTI_INT32)
CONSTANT(dtype_int64, AOTI_INT64)
CONSTANT(dtype_float16, AOTI_FLOAT16)
CONSTANT(dtype_float32, AOTI_FLOAT32)
CONSTANT(dtype_float64, AOTI_FLOAT64)
CONSTANT(dtype_complex32, AOTI_COMPLEX32)
CONSTANT(dtype_complex64, AOTI_COMPLEX64)
CONSTANT(dtype_complex128, AOTI_COMPLEX128)
CONSTANT(dtype_bool, AOTI_BOOL)
CONSTANT(dtype_bfloat16, AOTI_BFLOAT16)
CONSTANT(dtype_uint16, AOTI_UINT16)
CONSTANT(dtype_uint32, AOTI_UINT32)
CONSTANT(dtype_uint64, AOTI_UINT64)
CONSTANT(layout_strided, 0)
CONSTANT(memory_format_contiguous_format, 0)
CONSTANT(memory_format_preserve_format, 1)
CONSTANT(memory_format_channels_last, 2)
CONSTANT(memory_format_channels_last_3d, 3)

size_t aoti_torch_dtype_element_size(int32_t dtype) {
  return aoti_element_size(dtype);
}

// Major, minor and patch in the three highest bytes: 2.13.0.
uint64_t aoti_torch_abi_version(void) {
  return (uint64_t)2 << 56 | (uint64_t)13 << 48;
}

// Names of types without kernels here exist all the same.
CONSTANT(dtype_float8_e5m2, 23)
CONSTANT(dtype_float8_e4m3fn, 24)
CONSTANT(dtype_float8_e5m2fnuz, 25)
CONSTANT(dtype_float8_e4m3fnuz, 26)
CONSTANT(dtype_float8_e8m0fnu, 44)
CONSTANT(dtype_float4_e2m1fn_x2, 45)
CONSTANT(layout_sparse_coo, 1)
CONSTANT(layout_sparse_csr, 2)
CONSTANT(layout__mkldnn, 3)
CONSTANT(layout_sparse_csc, 4)
CONSTANT(layout_sparse_bsr, 5)
CONSTANT(layout_sparse_bsc, 6)
CONSTANT(layout_jagged, 7)

AOTITorchError aoti_torch_get_current_device_index(int32_t *out_index) {
  AOTI_CHECK_NOT_NULL(out_index);
  *out_index = 0;
  return MTL_OK;
}

static _Thread_local bool grad_is_off;

bool aoti_torch_grad_mode_is_enabled(void) {
  return !grad_is_off;
}

void aoti_torch_grad_mode_set_enabled(bool enabled) {
  grad_is_off = !enabled;
}

mtl_status aoti_wait(void) {
  mtl_stream *stream = NULL;
  AOTI_TRY(mtl_stream_current(&stream));
  return mtl_stream_synchronize(stream, MTL_SYNC_COMMIT_AND_WAIT);
}

void aoti_torch_warn(const char *function, const char *file, uint32_t line,
                     const char *message) {
  fprintf(stderr, "warning: %s:%u: %s: %s\n", file ? file : "", line,
          function ? function : "", message ? message : "");
}

void aoti_torch_check(bool condition, const char *function, const char *file,
                      uint32_t line, const char *message) {
  mtl_stream *stream = NULL;
  if (condition || mtl_stream_current(&stream) != MTL_OK) {
    return;
  }
  const mtl_status status = mtl_fail(
      MTL_INVALID_ARGUMENT, "the model's check failed: %s:%u: %s: %s",
      file ? file : "", line, function ? function : "", message ? message : "");
  mtl_stream_fail(stream, status, NULL);
}

AOTITorchError aoti_torch_proxy_executor_call_function(
    AOTIProxyExecutorHandle proxy, int node_index, int int_count, int64_t *ints,
    int tensor_count, AtenTensorHandle *tensors) {
  (void)proxy;
  (void)int_count;
  (void)ints;
  (void)tensor_count;
  (void)tensors;
  return mtl_fail(MTL_UNSUPPORTED,
                  "the model calls operator %d through PyTorch's proxy "
                  "executor; Mettle has none",
                  node_index);
}
