// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// aoti.c: shared by the tests of the ABI.
#include "aoti/aoti.h"

static void delete_tensor(void *tensor) {
  aoti_torch_delete_tensor_object(tensor);
}

static void delete_library(void *library) {
  aoti_torch_mps_delete_shader_library(library);
}

AtenTensorHandle new_tensor(int32_t device, int32_t dtype, int64_t rank,
                            const int64_t *sizes) {
  int64_t strides[16];
  int64_t stride = 1;
  for (int64_t i = rank; i-- > 0;) {
    strides[i] = stride;
    stride *= sizes[i];
  }
  AtenTensorHandle tensor = NULL;
  CHECK_EQUAL(
      aoti_torch_empty_strided(rank, sizes, strides, dtype, device, 0, &tensor),
      0);
  test_defer(delete_tensor, tensor);
  return tensor;
}

AtenTensorHandle new_iota(int64_t count) {
  AtenTensorHandle tensor = new_tensor(MPS, F32, 1, &count);
  for (int64_t i = 0; i < count; ++i) {
    floats_of(tensor)[i] = (float)i;
  }
  return tensor;
}

AtenTensorHandle view_of(AtenTensorHandle tensor, int64_t rank,
                         const int64_t *sizes, const int64_t *strides,
                         int64_t offset) {
  AtenTensorHandle view = NULL;
  CHECK_EQUAL(aoti_torch__reinterpret_tensor(tensor, rank, sizes, strides,
                                             offset, &view),
              0);
  test_defer(delete_tensor, view);
  return view;
}

float *floats_of(AtenTensorHandle tensor) {
  void *data = NULL;
  CHECK_EQUAL(aoti_torch_get_data_ptr(tensor, &data), 0);
  return data;
}

void wait_for_stream(void) {
  mtl_stream *stream = NULL;
  CHECK_OK(mtl_stream_current(&stream));
  CHECK_OK(mtl_stream_synchronize(stream, MTL_SYNC_COMMIT_AND_WAIT));
}

AOTIMetalKernelFunctionHandle new_function(const char *source) {
  AOTIMetalShaderLibraryHandle library = NULL;
  CHECK_EQUAL(aoti_torch_mps_create_shader_library(source, &library), 0);
  test_defer(delete_library, library);
  AOTIMetalKernelFunctionHandle function = NULL;
  CHECK_EQUAL(aoti_torch_mps_get_kernel_function(library, "generated_kernel",
                                                 &function),
              0);
  return function;
}

static const char add_one_source[] =
    "#include <metal_stdlib>\n"
    "kernel void generated_kernel(device float *out, constant float *in,\n"
    "                             uint i [[thread_position_in_grid]]) {\n"
    "  out[i] = in[i] + 1;\n"
    "}\n";

void add_one(AtenTensorHandle out, AtenTensorHandle in, uint64_t count) {
  AOTIMetalKernelFunctionHandle function = new_function(add_one_source);
  CHECK_EQUAL(aoti_torch_mps_start_encoding(function), 0);
  CHECK_EQUAL(aoti_torch_mps_set_arg_tensor(function, 0, out), 0);
  CHECK_EQUAL(aoti_torch_mps_set_arg_tensor(function, 1, in), 0);
  CHECK_EQUAL(aoti_torch_mps_dispatch_single(function, count), 0);
}
