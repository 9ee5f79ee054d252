// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// contents.c: copies, conversions, arguments by value, grids.
#include <math.h>
#include <string.h>

#include "aoti/aoti.h"

static void *bytes_of(AtenTensorHandle tensor) {
  return floats_of(tensor);
}

TEST(copies, host_to_device_and_back_with_strides) {
  AtenTensorHandle host = new_tensor(CPU, F32, SIZES(3, 4));
  for (int i = 0; i < 12; ++i) {
    floats_of(host)[i] = (float)i;
  }
  AtenTensorHandle turned = view_of(new_tensor(MPS, F32, SIZES(12)),
                                    SIZES(3, 4), (int64_t[]){1, 3}, 0);
  CHECK_EQUAL(aoti_torch_copy_(turned, host, 0), 0);
  CHECK_EQUAL(floats_of(turned)[1], 4);  // row 1, column 0
  CHECK_EQUAL(floats_of(turned)[11], 11);
  AtenTensorHandle back = new_tensor(CPU, F32, SIZES(3, 4));
  CHECK_EQUAL(aoti_torch_copy_(back, turned, 1), 0);
  CHECK_EQUAL(memcmp(floats_of(back), floats_of(host), 48), 0);
}

TEST(copies, types_are_converted) {
  AtenTensorHandle doubles = new_tensor(CPU, F64, SIZES(3));
  const double numbers[] = {1.5, -2.25, 70000};
  memcpy(bytes_of(doubles), numbers, sizeof numbers);
  AtenTensorHandle bfloats = new_tensor(CPU, BF16, SIZES(3));
  AtenTensorHandle halves = new_tensor(CPU, 5, SIZES(3));
  AtenTensorHandle longs = new_tensor(CPU, I64, SIZES(3));
  AtenTensorHandle bools = new_tensor(CPU, 11, SIZES(3));
  CHECK_EQUAL(aoti_torch_copy_(bfloats, doubles, 0), 0);
  CHECK_EQUAL(aoti_torch_copy_(halves, doubles, 0), 0);
  CHECK_EQUAL(aoti_torch_copy_(longs, doubles, 0), 0);
  CHECK_EQUAL(aoti_torch_copy_(bools, doubles, 0), 0);
  const uint16_t *b = bytes_of(bfloats);
  const uint16_t *h = bytes_of(halves);
  CHECK_EQUAL(b[0], 0x3fc0);
  CHECK_EQUAL(b[1], 0xc010);
  CHECK_EQUAL(b[2], 0x4789);  // 70144, the nearest
  CHECK_EQUAL(h[0], 0x3e00);
  CHECK_EQUAL(h[1], 0xc080);
  CHECK_EQUAL(h[2], 0x7c00);  // over 65504: infinite
  CHECK_EQUAL(((int64_t *)bytes_of(longs))[1], -2);
  CHECK_EQUAL(((uint8_t *)bytes_of(bools))[1], 1);
}

TEST(copies, a_scalar_fills_a_tensor) {
  AtenTensorHandle tensor = new_iota(10);
  AtenTensorHandle seven = NULL;
  CHECK_EQUAL(aoti_torch_scalar_to_tensor_float64(7, &seven), 0);
  CHECK_EQUAL(aoti_torch_copy_(tensor, seven, 0), 0);
  CHECK_EQUAL(floats_of(tensor)[9], 7);
  CHECK_EQUAL(aoti_torch_zero_(tensor), 0);
  wait_for_stream();
  CHECK_EQUAL(floats_of(tensor)[0], 0);
  CHECK_EQUAL(floats_of(tensor)[9], 0);
  aoti_torch_delete_tensor_object(seven);
  AtenTensorHandle pair = new_iota(2);
  CHECK(aoti_torch_copy_(tensor, pair, 0) != 0);  // 2 do not go into 10
}

TEST(copies, clones_have_memory_of_their_own) {
  AtenTensorHandle whole = new_iota(20);
  AtenTensorHandle view = view_of(whole, SIZES(3, 2), (int64_t[]){5, 2}, 3);
  AtenTensorHandle clone = NULL;
  AtenTensorHandle same = NULL;
  CHECK_EQUAL(aoti_torch_clone(view, &clone), 0);
  CHECK_EQUAL(aoti_torch_clone_preserve_strides(view, &same), 0);
  wait_for_stream();
  floats_of(whole)[3] = -1;
  int64_t *strides = NULL;
  CHECK_EQUAL(aoti_torch_get_strides(clone, &strides), 0);
  CHECK_EQUAL(strides[0], 2);
  CHECK_EQUAL(floats_of(clone)[0], 3);
  CHECK_EQUAL(floats_of(clone)[5], 15);
  CHECK_EQUAL(aoti_torch_get_strides(same, &strides), 0);
  CHECK_EQUAL(strides[0], 5);
  CHECK_EQUAL(floats_of(same)[0], 3);
  CHECK_EQUAL(floats_of(same)[12], 15);
  aoti_torch_delete_tensor_object(clone);
  aoti_torch_delete_tensor_object(same);
}

TEST(copies, memory_of_the_host_becomes_a_tensor_in_place) {
  static float numbers[300];
  AtenTensorHandle tensor = NULL;
  CHECK_EQUAL(aoti_torch_create_tensor_from_blob(
                  numbers + 7, 1, (int64_t[]){200}, (int64_t[]){1}, 3, F32, MPS,
                  0, &tensor),
              0);
  add_one(tensor, tensor, 200);
  CHECK_EQUAL(aoti_torch_delete_tensor_object(tensor), 0);
  wait_for_stream();
  CHECK_EQUAL(numbers[9], 0);
  CHECK_EQUAL(numbers[10], 1);
  CHECK_EQUAL(numbers[209], 1);
  CHECK_EQUAL(numbers[210], 0);
}

TEST(items, wait_for_their_value) {
  AtenTensorHandle tensor = new_iota(1);
  floats_of(tensor)[0] = 41;
  add_one(tensor, tensor, 1);
  int64_t number = 0;
  bool truth = false;
  double real = 0;
  CHECK_EQUAL(aoti_torch_item_int64(tensor, &number), 0);
  CHECK_EQUAL(number, 42);
  CHECK_EQUAL(aoti_torch_item_bool(tensor, &truth), 0);
  CHECK(truth);
  CHECK_EQUAL(aoti_torch_item_float64(tensor, &real), 0);
  CHECK(real == 42.0);
  CHECK(aoti_torch_item_float64(new_iota(2), &real) != 0);
}

static const char scale_source[] =
    "#include <metal_stdlib>\n"
    "kernel void generated_kernel(device float *out, constant float &factor,\n"
    "                             constant long &offset,\n"
    "                             uint2 p [[thread_position_in_grid]],\n"
    "                             uint2 n [[threads_per_grid]]) {\n"
    "  out[p.x + n.x * p.y] = factor * float(p.x + 10 * p.y + offset);\n"
    "}\n";

TEST(kernels, take_doubles_of_the_host_as_floats) {
  AOTIMetalKernelFunctionHandle function = new_function(scale_source);
  AtenTensorHandle out = new_iota(24);
  AtenTensorHandle half = NULL;
  CHECK_EQUAL(aoti_torch_scalar_to_tensor_float64(0.5, &half), 0);
  CHECK_EQUAL(aoti_torch_mps_start_encoding(function), 0);
  CHECK_EQUAL(aoti_torch_mps_set_arg_tensor(function, 0, out), 0);
  CHECK_EQUAL(aoti_torch_mps_set_arg_tensor(function, 1, half), 0);
  CHECK_EQUAL(aoti_torch_mps_set_arg_int(function, 2, 100), 0);
  aoti_torch_delete_tensor_object(half);
  const uint64_t grid[] = {6, 4};
  const uint64_t group[] = {4, 4};
  CHECK_EQUAL(aoti_torch_mps_dispatch_array_with_group_size(function, grid, 2,
                                                            group, 2),
              0);
  wait_for_stream();
  CHECK(floats_of(out)[0] == 50.0f);
  CHECK(floats_of(out)[23] == 67.5f);  // (5 + 30 + 100) / 2
}

TEST(kernels, refuse_what_is_out_of_range) {
  AOTIMetalKernelFunctionHandle function = new_function(scale_source);
  AtenTensorHandle out = new_iota(24);
  AtenTensorHandle host = new_tensor(CPU, F32, SIZES(3));
  const uint64_t grid[] = {6, 4, 1, 1};
  const uint64_t group[] = {1024, 2, 1, 1};
  CHECK_EQUAL(aoti_torch_mps_start_encoding(function), 0);
  CHECK(aoti_torch_mps_set_arg_tensor(function, 31, out) != 0);
  CHECK(aoti_torch_mps_set_arg_tensor(function, 1, host) != 0);
  CHECK(torch_mps_set_arg_bytes(function, 1, NULL, 4) != 0);
  CHECK(torch_mps_set_arg_bytes(function, 1, grid, 4097) != 0);
  CHECK(aoti_torch_mps_dispatch_array(function, grid, 0) != 0);
  CHECK(aoti_torch_mps_dispatch_array(function, grid, 4) != 0);
  CHECK(aoti_torch_mps_dispatch_array_with_group_size(function, grid, 2, group,
                                                      2) != 0);
  CHECK(aoti_torch_mps_dispatch_array_with_group_size(function, grid, 2, group,
                                                      1) != 0);
  CHECK(aoti_torch_mps_dispatch_single_with_group_size(function, 8, 1025) != 0);
  mtl_stream *stream = NULL;
  CHECK_OK(mtl_stream_current(&stream));
  CHECK_ERROR(mtl_stream_synchronize(stream, MTL_SYNC_COMMIT_AND_WAIT),
              MTL_INVALID_ARGUMENT, "31");
}

TEST(views, pairs_are_complex_numbers_and_back) {
  AtenTensorHandle pairs =
      view_of(new_iota(12), SIZES(3, 2, 2), (int64_t[]){4, 2, 1}, 0);
  AtenTensorHandle complex = NULL;
  AtenTensorHandle real = NULL;
  CHECK_EQUAL(aoti_torch_mps_view_as_complex(pairs, &complex), 0);
  int32_t dtype = 0;
  int64_t rank = 0;
  CHECK_EQUAL(aoti_torch_get_dtype(complex, &dtype), 0);
  CHECK_EQUAL(dtype, 9);
  CHECK_EQUAL(aoti_torch_get_dim(complex, &rank), 0);
  CHECK_EQUAL(rank, 2);
  CHECK_EQUAL(aoti_torch_mps_view_as_real(complex, &real), 0);
  CHECK(floats_of(real) == floats_of(pairs));
  aoti_torch_delete_tensor_object(complex);
  aoti_torch_delete_tensor_object(real);
}

TEST(views, concatenation_and_slices) {
  AtenTensorHandle a = view_of(new_iota(6), SIZES(2, 3), (int64_t[]){3, 1}, 0);
  const AtenTensorHandle both[] = {a, a};
  AtenTensorHandle joined = NULL;
  CHECK_EQUAL(aoti_torch_mps_cat(both, 2, -1, &joined), 0);
  int64_t start = 1;
  int64_t end = -1;
  AtenTensorHandle slice = NULL;
  CHECK_EQUAL(aoti_torch_mps_slice_Tensor(joined, 1, &start, &end, 2, &slice),
              0);
  wait_for_stream();
  const float expected[] = {0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5};
  CHECK_EQUAL(memcmp(floats_of(joined), expected, sizeof expected), 0);
  int64_t size = 0;
  CHECK_EQUAL(aoti_torch_get_size(slice, 1, &size), 0);
  CHECK_EQUAL(size, 2);
  CHECK_EQUAL(floats_of(slice)[2], 0);  // column 3 of row 0
  aoti_torch_delete_tensor_object(slice);
  aoti_torch_delete_tensor_object(joined);
}
