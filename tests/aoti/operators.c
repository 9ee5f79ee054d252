// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// operators.c: the operators that ExecuTorch and Inductor call through the ABI,
// with results worked out by hand, and that every function is there.
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <math.h>
#include <string.h>

#include "aoti/aoti.h"

enum { I32 = 3 };

static void fill(AtenTensorHandle tensor, int count, float value) {
  for (int i = 0; i < count; ++i) {
    floats_of(tensor)[i] = value;
  }
}

static AtenTensorHandle filled(int64_t rank, const int64_t *sizes, int count,
                               float value) {
  AtenTensorHandle tensor = new_tensor(MPS, F32, rank, sizes);
  fill(tensor, count, value);
  return tensor;
}

TEST(operators, int4_linear) {
  AtenTensorHandle a = filled(SIZES(2, 32), 64, 1);
  AtenTensorHandle b = new_tensor(MPS, U8, SIZES(4, 16));
  memset(floats_of(b), 0x21, 64);  // 1 at even places of k, 2 at odd ones
  AtenTensorHandle scales = filled(SIZES(4, 1), 4, 0.5f);
  AtenTensorHandle zeros = filled(SIZES(4, 1), 4, 1);
  AtenTensorHandle out;
  CHECK_EQUAL(
      aoti_torch_mps__linear_fp_act_4bit_weight(a, b, 32, scales, zeros, &out),
      0);
  wait_for_stream();
  CHECK_EQUAL(floats_of(out)[0],
              56);  // 16 * (0.5 * 1 + 1) + 16 * (0.5 * 2 + 1)
  CHECK_EQUAL(floats_of(out)[7], 56);
  aoti_torch_delete_tensor_object(out);
}

TEST(operators, gathered_int4_products) {
  AtenTensorHandle x = filled(SIZES(2, 32), 64, 1);
  AtenTensorHandle w = new_tensor(MPS, U8, SIZES(3, 4, 16));
  for (int expert = 0; expert < 3; ++expert) {
    memset((char *)floats_of(w) + expert * 64, 0x11 * (expert + 1), 64);
  }
  AtenTensorHandle scales = filled(SIZES(3, 4, 1), 12, 1);
  AtenTensorHandle zeros = filled(SIZES(3, 4, 1), 12, 0);
  AtenTensorHandle experts = new_tensor(MPS, I32, SIZES(2));
  memcpy(floats_of(experts), (int32_t[]){2, 0}, 8);
  AtenTensorHandle out;
  CHECK_EQUAL(aoti_torch_mps_gather_qmv(x, w, scales, zeros, experts, 32, &out),
              0);
  wait_for_stream();
  CHECK_EQUAL(floats_of(out)[0], 96);  // 32 * 3
  CHECK_EQUAL(floats_of(out)[7], 32);  // 32 * 1
  aoti_torch_delete_tensor_object(out);
}

TEST(operators, gated_delta_rule_updates_its_state) {
  AtenTensorHandle query = filled(SIZES(1, 1, 1, 2), 2, 2);
  AtenTensorHandle key = filled(SIZES(1, 1, 1, 2), 2, 1);
  AtenTensorHandle value = filled(SIZES(1, 1, 1, 1), 1, 3);
  AtenTensorHandle gate = filled(SIZES(1, 1, 1), 1, 0.5f);
  AtenTensorHandle beta = filled(SIZES(1, 1, 1), 1, 1);
  AtenTensorHandle state = filled(SIZES(1, 1, 1, 2), 2, 2);
  AtenTensorHandle out;
  CHECK_EQUAL(aoti_torch_mps_gated_delta_rule(query, key, value, gate, beta,
                                              state, &out),
              0);
  wait_for_stream();
  // The state is halved to (1, 1), whose product with key is 2; 3 - 2 is added.
  CHECK_EQUAL(floats_of(state)[0], 2);
  CHECK_EQUAL(floats_of(state)[1], 2);
  CHECK_EQUAL(floats_of(out)[0], 8);
  aoti_torch_delete_tensor_object(out);
}

TEST(operators, scatter_in_place_and_from_another) {
  AtenTensorHandle self = filled(SIZES(4), 4, 1);
  AtenTensorHandle source = filled(SIZES(3), 3, 5);
  AtenTensorHandle out = filled(SIZES(4), 4, 9);
  AtenTensorHandle index = new_tensor(MPS, I64, SIZES(3));
  memcpy(floats_of(index), (int64_t[]){0, 2, 2}, 24);
  CHECK_EQUAL(aoti_torch_mps_scatter_reduce_two_out(out, self, 0, index, source,
                                                    "sum", 1),
              0);
  CHECK_EQUAL(aoti_torch_mps_scatter_value_out(self, self, -1, index, 7), 0);
  wait_for_stream();
  CHECK_EQUAL(floats_of(out)[0], 6);
  CHECK_EQUAL(floats_of(out)[1], 1);
  CHECK_EQUAL(floats_of(out)[2], 11);
  CHECK_EQUAL(floats_of(self)[2], 7);
  CHECK_EQUAL(floats_of(self)[3], 1);
  CHECK(aoti_torch_mps_scatter_reduce_two_out(out, self, 0, index, source,
                                              "median", 1) != 0);
  CHECK_CONTAINS(mtl_last_error(), "median");
}

// Sections 1.2, 1.3 and 8 of the list of functions that models and hosts
// import.
static const char *const names[] = {
    "mps_create_shader_library",
    "mps_delete_shader_library",
    "mps_get_kernel_function",
    "mps_start_encoding",
    "mps_set_arg_tensor",
    "mps_set_arg_int",
    "mps_dispatch_single",
    "mps_dispatch_single_with_group_size",
    "mps_dispatch_array",
    "mps_dispatch_array_with_group_size",
    "mps_shared_callback",
    "mps_run_command_block",
    "mps_malloc",
    "mps_free",
    "mps_memcpy",
    "mps_copy_buffer",
    "create_tensor_from_blob",
    "create_tensor_from_blob_v2",
    "empty_strided",
    "delete_tensor_object",
    "_reinterpret_tensor",
    "new_tensor_handle",
    "copy_",
    "clone",
    "clone_preserve_strides",
    "get_data_ptr",
    "get_sizes",
    "get_strides",
    "get_dim",
    "get_numel",
    "get_storage_size",
    "get_storage_offset",
    "get_dtype",
    "get_device_type",
    "get_device_index",
    "get_layout",
    "is_contiguous",
    "is_defined",
    "device_type_cpu",
    "device_type_cuda",
    "device_type_mps",
    "dtype_element_size",
    "grad_mode_is_enabled",
    "grad_mode_set_enabled",
    "warn",
    "check",
    "item_float32",
    "item_int64",
    "item_bool",
    "scalar_to_tensor_float32",
    "scalar_to_tensor_int64",
    "proxy_executor_call_function",
    "assign_tensors",
    "assign_tensors_out",
    "_alloc_from_pool",
    "as_strided",
    "zero_",
    "index_put_out",
    "scatter_out",
    "scatter_reduce_out",
    "mps_mm_out",
    "mps_addmm_out",
    "mps_bmm_out",
    "mps_baddbmm_out",
    "mps_convolution",
    "mps_convolution_channels_last",
    "mps__scaled_dot_product_attention_math_for_mps",
    "mps__scaled_dot_product_attention_math_for_mps_v2",
    "mps_topk",
    "mps__linear_fp_act_4bit_weight",
    "mps_gather_qmv",
    "mps_gated_delta_rule",
    "mps_sort",
    "mps_sort_stable",
    "mps_cumsum",
    "mps_cumprod",
    "mps_cummax",
    "mps_cummin",
    "mps_cat",
    "mps_narrow",
    "mps_permute",
    "mps_reshape",
    "mps_slice_Tensor",
    "mps_squeeze_dim",
    "mps_view_as_complex",
    "mps_view_as_real",
    "mps_view_dtype",
    "mps_index_put",
    "mps_scatter_src_out",
    "mps_scatter_value_out",
    "mps_scatter_reduce_two_out",
    "mps_avg_pool2d",
    "mps__adaptive_avg_pool2d",
    "mps_adaptive_max_pool2d",
    "mps_max_pool2d_with_indices"};

TEST(operators, every_function_is_exported) {
  CHECK(dlsym(RTLD_DEFAULT, "torch_mps_set_arg_bytes") != NULL);
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
    char name[128];
    snprintf(name, sizeof name, "aoti_torch_%s", names[i]);
    if (!dlsym(RTLD_DEFAULT, name)) {
      CHECK_TEXT(name, "exported");
    }
  }
}

// Declared here as a model's code has it.
AOTITorchError aoti_torch_mps_cholesky_inverse(AtenTensorHandle self,
                                               int32_t upper,
                                               AtenTensorHandle *out_new);

TEST(operators, what_is_not_there_says_so_when_it_is_called) {
  AtenTensorHandle out = NULL;
  CHECK_EQUAL(aoti_torch_mps_cholesky_inverse(new_iota(4), 0, &out),
              MTL_UNSUPPORTED);
  CHECK(out == NULL);
  CHECK(strstr(mtl_last_error(), "aoti_torch_mps_cholesky_inverse") != NULL);
}

// --- On the host -------------------------------------------------------------

static AtenTensorHandle new_floats(int64_t count, const float *values) {
  AtenTensorHandle tensor = new_tensor(MPS, F32, 1, &count);
  memcpy(floats_of(tensor), values, (size_t)count * sizeof *values);
  return tensor;
}

static void check_integers(AtenTensorHandle tensor, int64_t count,
                           const int64_t *want) {
  void *data = NULL;
  CHECK_EQUAL(aoti_torch_get_data_ptr(tensor, &data), 0);
  for (int64_t i = 0; i < count; ++i) {
    CHECK_EQUAL(((const int64_t *)data)[i], want[i]);
  }
  aoti_torch_delete_tensor_object(tensor);
}

TEST(operators, searches_take_either_side) {
  AtenTensorHandle edges = new_floats(3, (float[]){1, 3, 5});
  AtenTensorHandle values = new_floats(5, (float[]){0, 1, 2, 5, NAN});
  AtenTensorHandle out = NULL;
  CHECK_EQUAL(aoti_torch_mps_bucketize_Tensor(values, edges, 0, 0, &out), 0);
  check_integers(out, 5, (int64_t[]){0, 0, 1, 2, 3});
  CHECK_EQUAL(aoti_torch_mps_bucketize_Tensor(values, edges, 0, 1, &out), 0);
  check_integers(out, 5, (int64_t[]){0, 1, 1, 3, 3});
  const char *side = "right";
  CHECK_EQUAL(
      aoti_torch_mps_searchsorted_Scalar(edges, 3, 0, 0, &side, NULL, &out), 0);
  check_integers(out, 1, (int64_t[]){2});
}

TEST(operators, complex_numbers_multiply) {
  // (1 + 2i) (3 - i) = 5 + 5i; (0 + i) (0 + i) = -1
  AtenTensorHandle left = new_tensor(MPS, F32, SIZES(2, 2));
  AtenTensorHandle right = new_tensor(MPS, F32, SIZES(2, 2));
  memcpy(floats_of(left), (float[]){1, 2, 0, 1}, 16);
  memcpy(floats_of(right), (float[]){3, -1, 0, 1}, 16);
  AtenTensorHandle a = NULL, b = NULL, product = NULL, out = NULL;
  CHECK_EQUAL(aoti_torch_mps_view_as_complex(left, &a), 0);
  CHECK_EQUAL(aoti_torch_mps_view_as_complex(right, &b), 0);
  CHECK_EQUAL(aoti_torch_mps_mul_Tensor(a, b, &product), 0);
  CHECK_EQUAL(aoti_torch_mps_view_as_real(product, &out), 0);
  CHECK_EQUAL(floats_of(out)[0], 5);
  CHECK_EQUAL(floats_of(out)[1], 5);
  CHECK_EQUAL(floats_of(out)[2], -1);
  CHECK_EQUAL(floats_of(out)[3], 0);
  AtenTensorHandle sizes = NULL;
  CHECK_EQUAL(aoti_torch_mps_abs(b, &sizes), 0);
  CHECK_EQUAL(floats_of(sizes)[0], 3.16227766f);  // the root of 10
  const AtenTensorHandle all[] = {a, b, product, out, sizes};
  for (int i = 0; i < 5; ++i) {
    aoti_torch_delete_tensor_object(all[i]);
  }
}

TEST(operators, kth_values_come_with_their_places) {
  AtenTensorHandle in = new_floats(5, (float[]){4, NAN, 1, 4, 2});
  AtenTensorHandle values = NULL, places = NULL;
  CHECK_EQUAL(aoti_torch_mps_kthvalue(in, 4, 0, 0, &values, &places), 0);
  CHECK_EQUAL(floats_of(values)[0], 4);
  aoti_torch_delete_tensor_object(values);
  check_integers(places, 1, (int64_t[]){3});
  CHECK_EQUAL(aoti_torch_mps_kthvalue(in, 6, 0, 0, &values, &places),
              MTL_INVALID_ARGUMENT);
}

TEST(operators, bags_leave_padding_out) {
  AtenTensorHandle weight = new_tensor(MPS, F32, SIZES(3, 2));
  memcpy(floats_of(weight), (float[]){1, 2, 10, 20, 100, 200}, 24);
  AtenTensorHandle rows = new_tensor(MPS, I64, SIZES(4));
  AtenTensorHandle starts = new_tensor(MPS, I64, SIZES(2));
  memcpy(floats_of(rows), (int64_t[]){2, 0, 1, 2}, 32);
  memcpy(floats_of(starts), (int64_t[]){0, 3}, 16);
  AtenTensorHandle out[4] = {0};
  const int64_t mean = 1;
  CHECK_EQUAL(aoti_torch_mps__embedding_bag_forward_only(
                  weight, rows, starts, 0, mean, 0, NULL, 0, 1, &out[0],
                  &out[1], &out[2], &out[3]),
              0);
  CHECK_EQUAL(floats_of(out[0])[0], 50.5);  // rows 2 and 0
  CHECK_EQUAL(floats_of(out[0])[1], 101);
  CHECK_EQUAL(floats_of(out[0])[2], 100);
  for (int i = 0; i < 4; ++i) {
    aoti_torch_delete_tensor_object(out[i]);
  }
}
