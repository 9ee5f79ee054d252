// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rare_operators.c: operators that few models have, through the ABI, with
// results worked out by hand.
#include <math.h>
#include <string.h>

#include "aoti/aoti.h"

enum { I8 = 1, I32 = 3, C64 = 9, BOOL = 11 };

static AtenTensorHandle new_floats(int64_t rank, const int64_t *sizes,
                                   const float *values) {
  AtenTensorHandle tensor = new_tensor(MPS, F32, rank, sizes);
  int64_t count = 1;
  for (int64_t i = 0; i < rank; ++i) {
    count *= sizes[i];
  }
  memcpy(floats_of(tensor), values, (size_t)count * sizeof *values);
  return tensor;
}
#define FLOATS(...) ((const float[]){__VA_ARGS__})

static void delete_tensor(void *tensor) {
  aoti_torch_delete_tensor_object(tensor);
}

// Checks count elements, in memory's order, and deletes out with the test.
static void check_floats(AtenTensorHandle out, int count, const float *wanted) {
  test_defer(delete_tensor, out);
  wait_for_stream();
  for (int i = 0; i < count; ++i) {
    if (!(fabsf(floats_of(out)[i] - wanted[i]) <= 1e-5f)) {
      test_fail(__FILE__, __LINE__, "element %d is %g, not %g", i,
                (double)floats_of(out)[i], (double)wanted[i]);
    }
  }
}

TEST(rare_operators, fourier_transform_of_six) {
  // Not a power of two. cos(2 pi k / 6) has half of 6 at frequency 1.
  AtenTensorHandle in =
      new_floats(SIZES(6), FLOATS(1, 0.5f, -0.5f, -1, -0.5f, 0.5f));
  AtenTensorHandle out = NULL;
  CHECK_EQUAL(aoti_torch_mps__fft_r2c(in, (int64_t[]){0}, 1, 0, 1, &out), 0);
  check_floats(out, 8, FLOATS(0, 0, 3, 0, 0, 0, 0, 0));
  AtenTensorHandle back = NULL;
  AtenTensorHandle whole = NULL;
  CHECK_EQUAL(aoti_torch_mps__fft_r2c(in, (int64_t[]){0}, 1, 0, 0, &whole), 0);
  check_floats(whole, 12, FLOATS(0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 3, 0));
  // Inverse, divided by the count.
  CHECK_EQUAL(aoti_torch_mps__fft_c2c(whole, (int64_t[]){0}, 1, 2, 0, &back),
              0);
  check_floats(back, 12,
               FLOATS(1, 0, 0.5f, 0, -0.5f, 0, -1, 0, -0.5f, 0, 0.5f, 0));
}

TEST(rare_operators, fourier_transform_along_the_first_dimension) {
  AtenTensorHandle in = new_floats(SIZES(2, 2), FLOATS(1, 2, 3, 5));
  AtenTensorHandle out = NULL;
  CHECK_EQUAL(aoti_torch_mps__fft_r2c(in, (int64_t[]){0}, 1, 1, 1, &out), 0);
  int64_t *strides = NULL;
  CHECK_EQUAL(aoti_torch_get_strides(out, &strides), 0);
  const float root = sqrtf(0.5f);
  const float sums[] = {4 * root, 7 * root, -2 * root, -3 * root};
  test_defer(delete_tensor, out);
  for (int i = 0; i < 4; ++i) {
    const int64_t at = i / 2 * strides[0] + i % 2 * strides[1];
    CHECK(fabsf(floats_of(out)[2 * at] - sums[i]) <= 1e-6f);
    CHECK(floats_of(out)[2 * at + 1] == 0);
  }
  CHECK(aoti_torch_mps__fft_r2c(in, (int64_t[]){2}, 1, 0, 1, &out) != 0);
  CHECK(aoti_torch_mps__fft_c2c(in, (int64_t[]){0}, 1, 0, 1, &out) != 0);
}

TEST(rare_operators, distances) {
  AtenTensorHandle a = new_floats(SIZES(2, 2), FLOATS(0, 0, 1, 1));
  AtenTensorHandle b = new_floats(SIZES(1, 2), FLOATS(3, 4));
  const float wanted[][2] = {{2, 2}, {7, 5}, {5, 3.6055513f}, {4, 3}};
  const double powers[] = {0, 1, 2, INFINITY};
  for (int i = 0; i < 4; ++i) {
    AtenTensorHandle out = NULL;
    CHECK_EQUAL(aoti_torch_mps__cdist_forward(a, b, powers[i], NULL, &out), 0);
    check_floats(out, 2, wanted[i]);
  }
}

TEST(rare_operators, histogram_and_medians) {
  AtenTensorHandle in = new_floats(SIZES(6), FLOATS(-1, 0, 1, 2, 4, 9));
  AtenTensorHandle out = NULL;
  CHECK_EQUAL(aoti_torch_mps_histc(in, 4, 0, 4, &out), 0);
  check_floats(out, 4, FLOATS(1, 1, 1, 1));  // 4 is in the last one
  CHECK_EQUAL(aoti_torch_mps_histc(in, 2, 0, 0, &out), 0);
  check_floats(out, 2, FLOATS(4, 2));  // -1 to 4, 4 to 9
  CHECK_EQUAL(aoti_torch_mps_median(in, &out), 0);
  check_floats(out, 1, FLOATS(1));
  floats_of(in)[5] = NAN;
  CHECK_EQUAL(aoti_torch_mps_nanmedian(in, &out), 0);
  check_floats(out, 1, FLOATS(1));
  CHECK_EQUAL(aoti_torch_mps_median(in, &out), 0);
  CHECK(isnan(floats_of(out)[0]));
  aoti_torch_delete_tensor_object(out);
}

TEST(rare_operators, sums_of_products) {
  AtenTensorHandle a =
      new_floats(SIZES(2, 2, 2), FLOATS(1, 2, 3, 4, 5, 6, 7, 8));
  AtenTensorHandle one = new_floats(SIZES(2, 2, 1), FLOATS(1, 1, 1, 2));
  AtenTensorHandle bias = new_floats(SIZES(2, 1), FLOATS(10, 20));
  AtenTensorHandle out = NULL;
  CHECK_EQUAL(aoti_torch_mps_addbmm(bias, a, one, 0.5, 2, &out), 0);
  // 5 + 2 * (1 + 2 + 5 + 12), 10 + 2 * (3 + 4 + 7 + 16)
  check_floats(out, 2, FLOATS(45, 70));
  AtenTensorHandle matrix = new_floats(SIZES(2, 2), FLOATS(1, 2, 3, 4));
  AtenTensorHandle vector = new_floats(SIZES(2), FLOATS(1, -1));
  CHECK_EQUAL(aoti_torch_mps_addmv(vector, matrix, vector, 3, 1, &out), 0);
  check_floats(out, 2, FLOATS(2, -4));
  // x[b, i] w[o, i, j] y[b, j], as nn.Bilinear has it.
  CHECK_EQUAL(aoti_torch_mps__trilinear(matrix, a, matrix, (int64_t[]){1, 3}, 2,
                                        (int64_t[]){0}, 1, (int64_t[]){1, 2}, 2,
                                        (int64_t[]){2, 3}, 2, 1, &out),
              0);
  check_floats(out, 4, FLOATS(27, 63, 133, 329));
}

TEST(rare_operators, products_by_groups) {
  AtenTensorHandle a = new_floats(SIZES(3, 2), FLOATS(1, 2, 3, 4, 5, 6));
  AtenTensorHandle b = new_floats(
      SIZES(2, 2, 4), FLOATS(1, 0, 0, 0, 0, 1, 0, 0, 2, 0, 0, 1, 0, 2, 0, 1));
  AtenTensorHandle ends = new_tensor(MPS, I32, SIZES(2));
  memcpy(floats_of(ends), (int32_t[]){1, 3}, 8);
  AtenTensorHandle out = NULL;
  CHECK_EQUAL(aoti_torch_mps__grouped_mm(a, b, &ends, NULL, NULL, &out), 0);
  check_floats(out, 12, FLOATS(1, 2, 0, 0, 6, 8, 0, 7, 10, 12, 0, 11));
  memcpy(floats_of(ends), (int32_t[]){2, 4}, 8);
  CHECK(aoti_torch_mps__grouped_mm(a, b, &ends, NULL, NULL, &out) != 0);
}

TEST(rare_operators, weights_in_8_bits) {
  AtenTensorHandle x = new_floats(SIZES(1, 4), FLOATS(1, 2, 3, 4));
  AtenTensorHandle weights = new_tensor(MPS, I8, SIZES(2, 4));
  memcpy(floats_of(weights), (int8_t[]){1, 1, 1, 1, -128, 0, 0, 127}, 8);
  AtenTensorHandle scales = new_floats(SIZES(2), FLOATS(0.5f, 2));
  AtenTensorHandle out = NULL;
  CHECK_EQUAL(aoti_torch_mps__weight_int8pack_mm(x, weights, scales, &out), 0);
  check_floats(out, 2, FLOATS(5, 760));
}

TEST(rare_operators, a_norm_and_a_window) {
  AtenTensorHandle x = new_floats(SIZES(2, 2), FLOATS(3, 4, 0, 0));
  AtenTensorHandle weight = new_floats(SIZES(2), FLOATS(1, 10));
  AtenTensorHandle out = NULL;
  AtenTensorHandle factors = NULL;
  CHECK_EQUAL(aoti_torch_mps__fused_rms_norm(x, (int64_t[]){2}, 1, &weight,
                                             (double[]){0.25}, &out, &factors),
              0);
  const float factor = 1 / sqrtf(12.75f);
  check_floats(out, 4, FLOATS(3 * factor, 40 * factor, 0, 0));
  check_floats(factors, 2, FLOATS(factor, 2));
  CHECK_EQUAL(aoti_torch_mps_hann_window(4, NULL, NULL, NULL, 0, NULL, &out),
              0);
  check_floats(out, 4, FLOATS(0, 0.5f, 1, 0.5f));
}

TEST(rare_operators, what_masks_pick) {
  AtenTensorHandle x = new_floats(SIZES(2, 3), FLOATS(1, 0, 3, 0, 5, 6));
  AtenTensorHandle out = NULL;
  CHECK_EQUAL(aoti_torch_mps_nonzero(x, &out), 0);
  const int64_t wanted[] = {0, 0, 1, 1, 0, 2, 1, 2};  // column by column
  CHECK(memcmp(floats_of(out), wanted, sizeof wanted) == 0);
  aoti_torch_delete_tensor_object(out);
  AtenTensorHandle mask = new_tensor(MPS, BOOL, SIZES(2, 3));
  memcpy(floats_of(mask), "\1\0\1\0\1\0", 6);
  CHECK_EQUAL(aoti_torch_mps_masked_select(x, mask, &out), 0);
  check_floats(out, 3, FLOATS(1, 3, 5));
  const AtenTensorHandle *indices[] = {&mask};
  CHECK_EQUAL(aoti_torch_mps_index_Tensor(x, indices, 1, &out), 0);
  check_floats(out, 3, FLOATS(1, 3, 5));
}

TEST(rare_operators, indices_apart_come_first) {
  // x[i, :, j] of 2 x 2 x 2
  AtenTensorHandle x =
      new_floats(SIZES(2, 2, 2), FLOATS(0, 1, 2, 3, 4, 5, 6, 7));
  AtenTensorHandle i = new_tensor(MPS, I64, SIZES(3));
  AtenTensorHandle j = new_tensor(MPS, I64, SIZES(1));
  memcpy(floats_of(i), (int64_t[]){1, 0, -1}, 24);
  memcpy(floats_of(j), (int64_t[]){1}, 8);
  AtenTensorHandle out = NULL;
  const AtenTensorHandle *apart[] = {&i, NULL, &j};
  CHECK_EQUAL(aoti_torch_mps_index_Tensor(x, apart, 3, &out), 0);
  check_floats(out, 6, FLOATS(5, 7, 1, 3, 5, 7));
  const AtenTensorHandle *together[] = {NULL, &j, &j};
  CHECK_EQUAL(aoti_torch_mps_index_Tensor(x, together, 3, &out), 0);
  check_floats(out, 2, FLOATS(3, 7));
  memcpy(floats_of(j), (int64_t[]){2}, 8);
  CHECK(aoti_torch_mps_index_Tensor(x, together, 3, &out) != 0);
}

// Models' kernels count on it: fake tensors have the strides of their operands.
TEST(rare_operators, results_keep_the_order_of_their_operands) {
  AtenTensorHandle x = new_floats(SIZES(2, 3), FLOATS(3, 1, 2, 6, 5, 4));
  AtenTensorHandle turned = view_of(x, SIZES(3, 2), (int64_t[]){1, 3}, 0);
  AtenTensorHandle values = NULL;
  AtenTensorHandle places = NULL;
  CHECK_EQUAL(aoti_torch_mps_sort(turned, 0, 0, &values, &places), 0);
  check_floats(values, 6, FLOATS(1, 2, 3, 4, 5, 6));
  const int64_t wanted[] = {1, 2, 0, 2, 1, 0};
  CHECK(memcmp(floats_of(places), wanted, sizeof wanted) == 0);
  aoti_torch_delete_tensor_object(places);
  AtenTensorHandle out = NULL;
  CHECK_EQUAL(aoti_torch_mps_mul_Scalar(turned, -2, &out), 0);
  check_floats(out, 6, FLOATS(-6, -2, -4, -12, -10, -8));
  // The first operand that has both dimensions decides.
  AtenTensorHandle row = new_floats(SIZES(2), FLOATS(10, 20));
  CHECK_EQUAL(aoti_torch_mps_add_Tensor(row, turned, 1, &out), 0);
  check_floats(out, 6, FLOATS(13, 11, 12, 26, 25, 24));
  AtenTensorHandle index = new_tensor(MPS, I64, SIZES(1));
  memcpy(floats_of(index), (int64_t[]){2}, 8);
  const AtenTensorHandle *indices[] = {&index};
  CHECK_EQUAL(aoti_torch_mps_index_put(turned, indices, 1, row, 0, &out), 0);
  check_floats(out, 6, FLOATS(3, 1, 10, 6, 5, 20));
}

TEST(rare_operators, reduction_by_index) {
  AtenTensorHandle x = new_floats(SIZES(2, 2), FLOATS(1, 2, 3, 4));
  AtenTensorHandle source = new_floats(SIZES(3, 2), FLOATS(9, 0, -5, 7, 2, 8));
  AtenTensorHandle index = new_tensor(MPS, I64, SIZES(3));
  memcpy(floats_of(index), (int64_t[]){1, 1, 0}, 24);
  AtenTensorHandle out = NULL;
  CHECK_EQUAL(aoti_torch_mps_index_reduce(x, 0, index, source, "amax", 1, &out),
              0);
  check_floats(out, 4, FLOATS(2, 8, 9, 7));
  CHECK_EQUAL(aoti_torch_mps_index_reduce(x, 0, index, source, "mean", 0, &out),
              0);
  check_floats(out, 4, FLOATS(2, 8, 2, 3.5f));
}

TEST(rare_operators, windows_over_volumes) {
  AtenTensorHandle x =
      new_floats(SIZES(1, 1, 2, 2, 2), FLOATS(1, 9, 3, 4, 5, 6, 7, 8));
  AtenTensorHandle out = NULL;
  AtenTensorHandle places = NULL;
  const int64_t two[] = {2};
  const int64_t one[] = {1};
  CHECK_EQUAL(aoti_torch_mps_max_pool3d_with_indices(
                  x, two, 1, NULL, 0, NULL, 0, one, 1, 0, &out, &places),
              0);
  check_floats(out, 1, FLOATS(9));
  CHECK_EQUAL(*(int64_t *)floats_of(places), 1);
  aoti_torch_delete_tensor_object(places);
  CHECK_EQUAL(
      aoti_torch_mps_avg_pool3d(x, two, 1, NULL, 0, NULL, 0, 0, 1, NULL, &out),
      0);
  check_floats(out, 1, FLOATS(5.375f));
  // Corners of a padded volume: one element each, divided by 8 or by 1.
  CHECK_EQUAL(
      aoti_torch_mps_avg_pool3d(x, two, 1, two, 1, one, 1, 0, 1, NULL, &out),
      0);
  check_floats(out, 8,
               FLOATS(0.125f, 1.125f, 0.375f, 0.5f, 0.625f, 0.75f, 0.875f, 1));
  CHECK_EQUAL(
      aoti_torch_mps_avg_pool3d(x, two, 1, two, 1, one, 1, 0, 0, NULL, &out),
      0);
  check_floats(out, 8, FLOATS(1, 9, 3, 4, 5, 6, 7, 8));
}

TEST(rare_operators, samples_of_volumes) {
  AtenTensorHandle x =
      new_floats(SIZES(1, 1, 2, 2, 2), FLOATS(1, 9, 3, 4, 5, 6, 7, 8));
  AtenTensorHandle grid =
      new_floats(SIZES(1, 1, 1, 3, 3), FLOATS(0, 0, 0, 1, -1, -1, 0, -1, -1));
  AtenTensorHandle out = NULL;
  CHECK_EQUAL(aoti_torch_mps_grid_sampler_3d(x, grid, 0, 0, 1, &out), 0);
  check_floats(out, 3, FLOATS(5.375f, 9, 5));
  // Corners are half an element further out: an eighth is inside, or all of it
  // at the border.
  CHECK_EQUAL(aoti_torch_mps_grid_sampler_3d(x, grid, 0, 0, 0, &out), 0);
  check_floats(out, 3, FLOATS(5.375f, 1.125f, 1.25f));
  CHECK_EQUAL(aoti_torch_mps_grid_sampler_3d(x, grid, 0, 1, 0, &out), 0);
  check_floats(out, 3, FLOATS(5.375f, 9, 5));
}
