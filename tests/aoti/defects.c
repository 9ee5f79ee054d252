// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// defects.c: what went wrong in other hosts of such models, a test each, called
// by its report: PyTorch's or ExecuTorch's issue, or the place in ExecuTorch's
// Metal backend. What concerns streams alone is in tests/stream.
#include <link.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "aoti/aoti.h"

static mtl_stream *current(void) {
  mtl_stream *stream = NULL;
  CHECK_OK(mtl_stream_current(&stream));
  return stream;
}

// pytorch 196233: generated code ignores these status codes.
TEST(defects, a_library_that_does_not_compile_fails_loudly) {
  AOTIMetalShaderLibraryHandle library = NULL;
  AOTIMetalKernelFunctionHandle function = NULL;
  CHECK(aoti_torch_mps_create_shader_library(
            "kernel void generated_kernel() { wrong_name(); }", &library) != 0);
  CHECK(library == NULL);
  CHECK(aoti_torch_mps_get_kernel_function(library, "generated_kernel",
                                           &function) != 0);
  CHECK(function == NULL);
  AtenTensorHandle tensor = new_iota(4);
  CHECK(aoti_torch_mps_start_encoding(function) != 0);
  CHECK(aoti_torch_mps_set_arg_tensor(function, 0, tensor) != 0);
  CHECK(aoti_torch_mps_dispatch_single(function, 4) != 0);
  CHECK_ERROR(mtl_stream_synchronize(current(), MTL_SYNC_COMMIT_AND_WAIT),
              MTL_COMPILE_FAILED, "wrong_name");
  // The model keeps its NULL: the next run fails for the same reason.
  CHECK(aoti_torch_mps_start_encoding(function) != 0);
  CHECK_ERROR(mtl_stream_synchronize(current(), MTL_SYNC_COMMIT_AND_WAIT),
              MTL_COMPILE_FAILED, "wrong_name");
}

static void count_call(AOTIMetalKernelFunctionHandle function,
                       void *user_data) {
  (void)function;
  *(int *)user_data += 1;
}

TEST(defects, a_block_without_a_kernel_fails_loudly) {
  int calls = 0;
  CHECK(aoti_torch_mps_run_command_block(NULL, count_call, &calls) != 0);
  CHECK_EQUAL(calls, 0);
  CHECK(mtl_stream_synchronize(current(), MTL_SYNC_COMMIT_AND_WAIT) != MTL_OK);
}

// executorch 22956: such a view had a buffer of its own, with stale data.
TEST(defects, offset_views_share_memory_within_one_encoder) {
  AtenTensorHandle whole = new_iota(64);
  AtenTensorHandle tail = view_of(whole, SIZES(32), (int64_t[]){1}, 32);
  for (int i = 0; i < 200; ++i) {
    add_one(whole, whole, 64);
    add_one(tail, tail, 32);
  }
  CHECK_EQUAL(mtl_stream_get_statistics(current()).waits, 0);
  wait_for_stream();
  CHECK_EQUAL(floats_of(whole)[0], 200);
  CHECK_EQUAL(floats_of(whole)[31], 231);
  CHECK_EQUAL(floats_of(whole)[32], 432);
  CHECK_EQUAL(floats_of(tail)[31], 463);
}

// executorch 22983: such a view was a packed copy: writes were lost.
TEST(defects, strided_views_are_written_in_place) {
  AtenTensorHandle whole = new_iota(24);  // 4 x 6
  AtenTensorHandle column = view_of(whole, SIZES(4, 2), (int64_t[]){6, 3}, 1);
  AtenTensorHandle ones = new_tensor(MPS, F32, SIZES(4, 2));
  for (int i = 0; i < 8; ++i) {
    floats_of(ones)[i] = 100 + (float)i;
  }
  CHECK_EQUAL(aoti_torch_copy_(column, ones, 0), 0);
  wait_for_stream();
  CHECK_EQUAL(floats_of(whole)[0], 0);
  CHECK_EQUAL(floats_of(whole)[1], 100);
  CHECK_EQUAL(floats_of(whole)[2], 2);
  CHECK_EQUAL(floats_of(whole)[4], 101);
  CHECK_EQUAL(floats_of(whole)[7], 102);
  CHECK_EQUAL(floats_of(whole)[22], 107);
  CHECK_EQUAL(floats_of(whole)[23], 23);
  // And by a kernel, at the view's own address.
  add_one(column, column, 1);
  wait_for_stream();
  CHECK_EQUAL(floats_of(whole)[1], 101);
}

// executorch 22951: convolution took every operand for dense.
TEST(defects, convolution_honours_strides) {
  // 2 channels of 2 x 2, channels last in memory.
  AtenTensorHandle memory = new_iota(8);
  AtenTensorHandle input =
      view_of(memory, SIZES(1, 2, 2, 2), (int64_t[]){8, 1, 4, 2}, 0);
  AtenTensorHandle weight = new_tensor(MPS, F32, SIZES(1, 2, 1, 1));
  floats_of(weight)[0] = 1;
  floats_of(weight)[1] = 100;
  const int64_t one[] = {1, 1};
  const int64_t zero[] = {0, 0};
  AtenTensorHandle out = NULL;
  CHECK_EQUAL(aoti_torch_mps_convolution(input, weight, NULL, one, 2, zero, 2,
                                         one, 2, 0, zero, 2, 1, &out),
              0);
  wait_for_stream();
  CHECK_EQUAL(floats_of(out)[0], 100);  // 0 + 100 * 1
  CHECK_EQUAL(floats_of(out)[1], 302);  // 2 + 100 * 3
  CHECK_EQUAL(floats_of(out)[2], 504);
  CHECK_EQUAL(floats_of(out)[3], 706);
  aoti_torch_delete_tensor_object(out);
}

// executorch 22953: addresses of a released model stayed known.
TEST(defects, an_address_can_be_tracked_again_and_again) {
  float *blob = NULL;
  for (int i = 0; i < 12; ++i) {
    CHECK_EQUAL(aoti_torch_mps_malloc((void **)&blob, 256), 0);
    AtenTensorHandle constants[2] = {NULL, NULL};
    for (int64_t at = 0; at < 2; ++at) {
      CHECK_EQUAL(aoti_torch_create_tensor_from_blob_v2(
                      blob, 1, (int64_t[]){8}, (int64_t[]){1}, 16 * at, F32,
                      MPS, 0, &constants[at], 0, NULL, 0),
                  0);
    }
    // Memory is freed before the handles, as models do.
    CHECK_EQUAL(aoti_torch_mps_free(blob), 0);
    CHECK_EQUAL(aoti_torch_delete_tensor_object(constants[0]), 0);
    CHECK_EQUAL(aoti_torch_delete_tensor_object(constants[1]), 0);
  }
  mtl_buffer *found = NULL;
  size_t offset_bytes = 0;
  CHECK(mtl_memory_find(blob, &found, &offset_bytes) == MTL_NOT_FOUND);
}

// executorch 18673: handles that a run replaced were never released.
TEST(defects, handles_and_memory_are_given_back) {
  mtl_pool_statistics before;
  mtl_pool_statistics after;
  CHECK_OK(mtl_pool_get_statistics(mtl_stream_device(current()), &before));
  for (int i = 0; i < 1000; ++i) {
    AtenTensorHandle tensor = NULL;
    AtenTensorHandle other = NULL;
    AtenTensorHandle view = NULL;
    CHECK_EQUAL(aoti_torch_empty_strided(1, (int64_t[]){100}, (int64_t[]){1},
                                         F32, MPS, 0, &tensor),
                0);
    CHECK_EQUAL(aoti_torch_new_tensor_handle(tensor, &other), 0);
    CHECK_EQUAL(aoti_torch__reinterpret_tensor(other, 1, (int64_t[]){50},
                                               (int64_t[]){2}, 1, &view),
                0);
    CHECK_EQUAL(aoti_torch_delete_tensor_object(tensor), 0);
    CHECK_EQUAL(aoti_torch_delete_tensor_object(other), 0);
    floats_of(view)[0] = 1;  // the last one keeps the memory
    CHECK_EQUAL(aoti_torch_delete_tensor_object(view), 0);
  }
  CHECK_OK(mtl_pool_get_statistics(mtl_stream_device(current()), &after));
  CHECK_EQUAL(after.used_buffers, before.used_buffers);
  CHECK(after.misses - before.misses <= 1);
}

static double thread_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// Returns the seconds to delete each of count handles that live together; the
// least of a few rounds.
static double seconds_to_delete_one_of(size_t count) {
  AtenTensorHandle *handles = calloc(count, sizeof *handles);
  AtenTensorHandle whole = new_iota(4);
  double least = 1e9;
  for (int round = 0; round < 3; ++round) {
    for (size_t i = 0; i < count; ++i) {
      CHECK_EQUAL(aoti_torch_new_tensor_handle(whole, &handles[i]), 0);
    }
    const double start = thread_seconds();
    for (size_t i = 0; i < count; ++i) {
      CHECK_EQUAL(aoti_torch_delete_tensor_object(handles[i]), 0);
    }
    const double each = (thread_seconds() - start) / (double)count;
    least = each < least ? each : least;
  }
  free(handles);
  return least;
}

// executorch 18675: deleting a handle searched all remaining ones. With 64
// times as many, each deletion would take 64 times as long.
TEST(defects, a_handle_goes_as_fast_among_many) {
  const double few = seconds_to_delete_one_of(2000);
  const double many = seconds_to_delete_one_of(128000);
  CHECK(many < 16 * few);
}

// mlx 3461: a buffer was freed while work in flight still used it.
TEST(defects, handles_may_go_while_their_work_is_pending) {
  AtenTensorHandle result = new_iota(1000);
  for (int i = 0; i < 50; ++i) {
    AtenTensorHandle passing = NULL;
    CHECK_EQUAL(aoti_torch_empty_strided(1, (int64_t[]){1000}, (int64_t[]){1},
                                         F32, MPS, 0, &passing),
                0);
    add_one(passing, result, 1000);
    add_one(result, passing, 1000);
    CHECK_EQUAL(aoti_torch_delete_tensor_object(passing), 0);
  }
  wait_for_stream();
  CHECK_EQUAL(floats_of(result)[0], 100);
  CHECK_EQUAL(floats_of(result)[999], 1099);
}

// pytorch 171998, and model_container.h: the offset comes in elements, beside a
// pointer that has it already.
TEST(defects, constants_are_updated_from_a_view) {
  float *blob = NULL;
  CHECK_EQUAL(aoti_torch_mps_malloc((void **)&blob, 256), 0);
  memset(blob, 0, 256);
  AtenTensorHandle values = new_iota(32);
  AtenTensorHandle view = view_of(values, SIZES(4), (int64_t[]){1}, 8);
  CHECK_EQUAL(aoti_torch_mps_copy_buffer(floats_of(view), blob, 16, 8, 64), 0);
  wait_for_stream();
  CHECK_EQUAL(blob[15], 0);
  CHECK_EQUAL(blob[16], 8);
  CHECK_EQUAL(blob[19], 11);
  CHECK_EQUAL(blob[20], 0);
  // From the start of memory, offsets are bytes.
  CHECK_EQUAL(aoti_torch_mps_copy_buffer(floats_of(values), blob, 4, 12, 0), 0);
  wait_for_stream();
  CHECK_EQUAL(blob[0], 3);
  CHECK_EQUAL(aoti_torch_mps_free(blob), 0);
}

// review of pytorch/executorch 15020, comment 10; et_metal.mm: a void return.
TEST(defects, copies_past_an_end_are_answered_with_a_code) {
  char *blob = NULL;
  uint8_t host[64] = {0};
  CHECK_EQUAL(aoti_torch_mps_malloc((void **)&blob, 256), 0);
  CHECK(aoti_torch_mps_memcpy(blob, 250, 0, 64, host) != 0);
  CHECK(aoti_torch_mps_memcpy(blob, SIZE_MAX - 8, 0, 64, host) != 0);
  CHECK(aoti_torch_mps_memcpy(NULL, 0, 0, 64, host) != 0);
  CHECK(aoti_torch_mps_copy_buffer(host, blob, 64, 0, 200) != 0);
  CHECK(mtl_stream_synchronize(current(), MTL_SYNC_COMMIT_AND_WAIT) != MTL_OK);
  CHECK_EQUAL(aoti_torch_mps_free(blob), 0);
}

// shim_mps.mm: malloc looked into its argument before it checked it.
TEST(defects, malloc_checks_its_argument) {
  CHECK(aoti_torch_mps_malloc(NULL, 16) != 0);
  void *nothing = &nothing;
  CHECK_EQUAL(aoti_torch_mps_malloc(&nothing, 0), 0);
  CHECK(nothing == NULL);
  CHECK_EQUAL(aoti_torch_mps_free(NULL), 0);
  CHECK(aoti_torch_mps_free(&nothing) != 0);
}

// memory.cpp: storage of a strided tensor was as large as its elements.
TEST(defects, a_strided_tensor_has_room_for_its_extent) {
  AtenTensorHandle tensor = NULL;
  CHECK_EQUAL(aoti_torch_empty_strided(2, (int64_t[]){4, 3}, (int64_t[]){10, 2},
                                       F32, MPS, 0, &tensor),
              0);
  int64_t bytes = 0;
  CHECK_EQUAL(aoti_torch_get_storage_size(tensor, &bytes), 0);
  CHECK_EQUAL(bytes, 4 * 35);
  CHECK_EQUAL(aoti_torch_delete_tensor_object(tensor), 0);
}

// memory.cpp: an empty tensor was an error.
TEST(defects, an_empty_tensor_is_one) {
  AtenTensorHandle tensor = new_tensor(MPS, F32, SIZES(0, 5));
  int64_t count = 1;
  CHECK_EQUAL(aoti_torch_get_numel(tensor, &count), 0);
  CHECK_EQUAL(count, 0);
  AtenTensorHandle copy = NULL;
  CHECK_EQUAL(aoti_torch_clone(tensor, &copy), 0);
  CHECK_EQUAL(aoti_torch_delete_tensor_object(copy), 0);
  wait_for_stream();
}

// tensor_attribute.cpp: everything was on device 13, at offset 0.
TEST(defects, attributes_are_the_tensor_s_own) {
  AtenTensorHandle host = new_tensor(CPU, F64, SIZES(2));
  AtenTensorHandle view = view_of(new_iota(10), SIZES(3), (int64_t[]){2}, 4);
  int32_t type = -1;
  int64_t offset = -1;
  bool is_contiguous = true;
  CHECK_EQUAL(aoti_torch_get_device_type(host, &type), 0);
  CHECK_EQUAL(type, CPU);
  CHECK_EQUAL(aoti_torch_get_device_type(view, &type), 0);
  CHECK_EQUAL(type, MPS);
  CHECK_EQUAL(aoti_torch_get_storage_offset(view, &offset), 0);
  CHECK_EQUAL(offset, 4);
  CHECK_EQUAL(aoti_torch_is_contiguous(view, &is_contiguous), 0);
  CHECK(!is_contiguous);
  CHECK_EQUAL(aoti_torch_dtype_element_size(BF16), 2);
  CHECK_EQUAL(aoti_torch_device_type_mps(), 13);
  CHECK_EQUAL(aoti_torch_device_type_cuda(), 1);
}

// topk widened its indices on the host, in the middle of a run.
TEST(defects, topk_gives_64_bit_indices_without_a_stall) {
  AtenTensorHandle values = NULL;
  AtenTensorHandle indices = NULL;
  AtenTensorHandle input = new_iota(100);
  CHECK_EQUAL(aoti_torch_mps_topk(input, 3, -1, 1, 1, &values, &indices), 0);
  CHECK_EQUAL(mtl_stream_get_statistics(current()).waits, 0);
  wait_for_stream();
  int32_t dtype = 0;
  CHECK_EQUAL(aoti_torch_get_dtype(indices, &dtype), 0);
  CHECK_EQUAL(dtype, I64);
  CHECK_EQUAL(((int64_t *)floats_of(indices))[0], 99);
  CHECK_EQUAL(((int64_t *)floats_of(indices))[2], 97);
  CHECK_EQUAL(floats_of(values)[1], 98);
  aoti_torch_delete_tensor_object(values);
  aoti_torch_delete_tensor_object(indices);
  CHECK(aoti_torch_mps_topk(input, 101, 0, 1, 1, &values, &indices) != 0);
}

// mm took the strides of self and of out for dense.
TEST(defects, products_honour_every_stride) {
  AtenTensorHandle a = view_of(new_iota(4), SIZES(2, 2), (int64_t[]){1, 2}, 0);
  AtenTensorHandle b = view_of(new_iota(4), SIZES(2, 2), (int64_t[]){2, 1}, 0);
  AtenTensorHandle memory = new_iota(4);
  AtenTensorHandle out = view_of(memory, SIZES(2, 2), (int64_t[]){1, 2}, 0);
  CHECK_EQUAL(aoti_torch_mps_mm_out(out, a, b), 0);
  wait_for_stream();
  // a = [0 2; 1 3], b = [0 1; 2 3], out = [4 6; 6 10] column by column
  CHECK_EQUAL(floats_of(memory)[0], 4);
  CHECK_EQUAL(floats_of(memory)[1], 6);
  CHECK_EQUAL(floats_of(memory)[2], 6);
  CHECK_EQUAL(floats_of(memory)[3], 10);
}

// sdpa's second result was never written.
TEST(defects, attention_gives_its_weights) {
  AtenTensorHandle q = new_tensor(MPS, F32, SIZES(1, 1, 2, 4));
  AtenTensorHandle v = new_tensor(MPS, F32, SIZES(1, 1, 2, 4));
  for (int i = 0; i < 8; ++i) {
    floats_of(q)[i] = 0;
    floats_of(v)[i] = (float)i;
  }
  AtenTensorHandle out = NULL;
  AtenTensorHandle weights = NULL;
  CHECK_EQUAL(aoti_torch_mps__scaled_dot_product_attention_math_for_mps_v2(
                  q, q, v, NULL, 0, 0, NULL, NULL, 0, &out, &weights),
              0);
  wait_for_stream();
  CHECK(floats_of(weights)[0] == 0.5f);
  CHECK(floats_of(weights)[3] == 0.5f);
  CHECK(floats_of(out)[0] == 2.0f);  // (0 + 4) / 2
  aoti_torch_delete_tensor_object(out);
  aoti_torch_delete_tensor_object(weights);
}

// Tensors of three dimensions have no batch; of five, a mask's batch may be one
// of two.
TEST(defects, attention_has_any_number_of_dimensions) {
  AtenTensorHandle zeros = new_tensor(MPS, F32, SIZES(1, 2, 4));
  AtenTensorHandle iota =
      view_of(new_iota(8), SIZES(1, 2, 4), (int64_t[]){8, 4, 1}, 0);
  AtenTensorHandle out = NULL;
  CHECK_EQUAL(aoti_torch_mps__scaled_dot_product_attention_math_for_mps_v2(
                  zeros, zeros, iota, NULL, 0, 0, NULL, NULL, 0, &out, NULL),
              0);
  wait_for_stream();
  CHECK(floats_of(out)[3] == 5.0f);  // (3 + 7) / 2
  aoti_torch_delete_tensor_object(out);
  zeros = new_tensor(MPS, F32, SIZES(2, 1, 1, 2, 4));
  iota = view_of(new_iota(16), SIZES(2, 1, 1, 2, 4), (int64_t[]){8, 8, 8, 4, 1},
                 0);
  AtenTensorHandle mask = new_tensor(MPS, F32, SIZES(2, 1, 1, 1, 2));
  const float hidden[] = {-INFINITY, 0, 0, 0};
  memcpy(floats_of(mask), hidden, sizeof hidden);
  AtenTensorHandle weights = NULL;
  CHECK_EQUAL(
      aoti_torch_mps__scaled_dot_product_attention_math_for_mps_v2(
          zeros, zeros, iota, &mask, 0, 0, NULL, NULL, 0, &out, &weights),
      0);
  wait_for_stream();
  CHECK(floats_of(out)[0] == 4.0f);
  CHECK(floats_of(out)[15] == 13.0f);  // (11 + 15) / 2
  CHECK(floats_of(weights)[3] == 1.0f);
  CHECK(floats_of(weights)[7] == 0.5f);
  aoti_torch_delete_tensor_object(out);
  aoti_torch_delete_tensor_object(weights);
  mask = new_tensor(MPS, F32, SIZES(3, 1, 1, 1, 2));
  CHECK(aoti_torch_mps__scaled_dot_product_attention_math_for_mps_v2(
            zeros, zeros, iota, &mask, 0, 0, NULL, NULL, 0, &out, NULL) != 0);
  CHECK(strstr(mtl_last_error(),
               "2, 2, 2 and 3 of query, key, value and mask "
               "in dimension 0") != NULL);
}

// conv's cache knew its shape, not whether there is a bias, nor the padding of
// the output.
TEST(defects, convolutions_of_one_shape_are_told_apart) {
  AtenTensorHandle input =
      view_of(new_iota(2), SIZES(1, 1, 2), (int64_t[]){2, 2, 1}, 0);
  AtenTensorHandle weight = new_tensor(MPS, F32, SIZES(1, 1, 1));
  AtenTensorHandle bias = new_tensor(MPS, F32, SIZES(1));
  floats_of(weight)[0] = 10;
  floats_of(bias)[0] = 5;
  const int64_t two = 2;
  const int64_t one = 1;
  const int64_t zero = 0;
  for (int i = 0; i < 8; ++i) {
    const bool has_bias = i & 1;
    const int64_t extra = i / 2 & 1;
    AtenTensorHandle out = NULL;
    CHECK_EQUAL(
        aoti_torch_mps_convolution(input, weight, has_bias ? &bias : NULL, &two,
                                   1, &zero, 1, &one, 1, 1, &extra, 1, 1, &out),
        0);
    wait_for_stream();
    int64_t count = 0;
    CHECK_EQUAL(aoti_torch_get_numel(out, &count), 0);
    CHECK_EQUAL(count, 3 + extra);
    CHECK_EQUAL(floats_of(out)[1], has_bias ? 5 : 0);
    CHECK_EQUAL(floats_of(out)[2], has_bias ? 15 : 10);
    aoti_torch_delete_tensor_object(out);
  }
}

// addmm's cache knew the product's shape, not the bias's.
TEST(defects, biases_of_every_shape_are_told_apart) {
  AtenTensorHandle a = view_of(new_iota(2), SIZES(2, 1), (int64_t[]){1, 1}, 0);
  AtenTensorHandle b = new_tensor(MPS, F32, SIZES(1, 2));
  floats_of(b)[0] = floats_of(b)[1] = 10;
  AtenTensorHandle bias = new_iota(4);
  AtenTensorHandle out = new_tensor(MPS, F32, SIZES(2, 2));
  static const struct {
    int64_t sizes[2];
    float wanted[4];
  } cases[] = {{{2, 2}, {0, 1, 12, 13}},
               {{1, 2}, {0, 1, 10, 11}},
               {{2, 1}, {0, 0, 11, 11}},
               {{1, 1}, {0, 0, 10, 10}}};
  for (int i = 0; i < 8; ++i) {
    const int64_t *sizes = cases[i % 4].sizes;
    AtenTensorHandle view =
        view_of(bias, 2, sizes, (int64_t[]){sizes[1], 1}, 0);
    CHECK_EQUAL(aoti_torch_mps_addmm_out(out, view, a, b, 1, 1), 0);
    wait_for_stream();
    CHECK(memcmp(floats_of(out), cases[i % 4].wanted, 16) == 0);
  }
}

// executorch 22955: a library of OpenMP was needed where it is not used.
static int count_openmp(struct dl_phdr_info *info, size_t size, void *count) {
  (void)size;
  *(int *)count += strstr(info->dlpi_name, "omp.so") != NULL;
  return 0;
}

TEST(defects, no_openmp_is_loaded) {
  int count = 0;
  dl_iterate_phdr(count_openmp, &count);
  CHECK_EQUAL(count, 0);
}

// common_shims.cpp: exceptions were thrown out of these.
TEST(defects, what_is_missing_answers_with_a_code) {
  CHECK(aoti_torch_proxy_executor_call_function(NULL, 0, 0, NULL, 0, NULL) !=
        0);
  AtenTensorHandle tensor = NULL;
  CHECK(aoti_torch_empty_strided(1, (int64_t[]){4}, (int64_t[]){1}, F32, 1, 0,
                                 &tensor) != 0);
  CHECK(aoti_torch_empty_strided(1, (int64_t[]){4}, (int64_t[]){1}, 99, MPS, 0,
                                 &tensor) != 0);
  CHECK(aoti_torch_empty_strided(1, (int64_t[]){-4}, (int64_t[]){1}, F32, MPS,
                                 0, &tensor) != 0);
  CHECK(aoti_torch__reinterpret_tensor(new_iota(4), 1, (int64_t[]){5},
                                       (int64_t[]){1}, 0, &tensor) != 0);
  CHECK(aoti_torch_clone(NULL, &tensor) != 0);
  bool was_enabled = aoti_torch_grad_mode_is_enabled();
  aoti_torch_grad_mode_set_enabled(false);
  CHECK(!aoti_torch_grad_mode_is_enabled());
  aoti_torch_grad_mode_set_enabled(true);
  CHECK(aoti_torch_grad_mode_is_enabled());
  CHECK(was_enabled);
}
