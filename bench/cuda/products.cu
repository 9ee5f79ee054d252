// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// products.cu: products of matrices by nvcuda::wmma in the blocking of their
// MSL: 128 threads and 64 x 64 a threadgroup, 32 x 32 a simdgroup.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

#include "twins.h"

using namespace nvcuda;

namespace {


template <typename M, typename T, int K>
__device__ void direct(const T *a, const T *b, float *c, unsigned n) {
  const unsigned simd = threadIdx.x / 32;
  const unsigned row = blockIdx.y * 64 + simd / 2 * 32;
  const unsigned column = blockIdx.x * 64 + simd % 2 * 32;
  wmma::fragment<wmma::accumulator, 16, 16, K, float> out[2][2];
  for (int i = 0; i < 4; i++) {
    wmma::fill_fragment(out[i / 2][i % 2], 0.0f);
  }
  for (unsigned k = 0; k < n; k += K) {
    wmma::fragment<wmma::matrix_a, 16, 16, K, M, wmma::row_major> x[2];
    wmma::fragment<wmma::matrix_b, 16, 16, K, M, wmma::row_major> y[2];
    for (int i = 0; i < 2; i++) {
      wmma::load_matrix_sync(x[i], a + (row + 16 * i) * n + k, n);
      wmma::load_matrix_sync(y[i], b + k * n + column + 16 * i, n);
    }
    for (int i = 0; i < 4; i++) {
      wmma::mma_sync(out[i / 2][i % 2], x[i / 2], y[i % 2], out[i / 2][i % 2]);
    }
  }
  for (int i = 0; i < 4; i++) {
    wmma::store_matrix_sync(
        c + (row + 16 * (i / 2)) * n + column + 16 * (i % 2), out[i / 2][i % 2],
        n, wmma::mem_row_major);
  }
}

__global__ void direct_float(const float *a, const float *b, float *c,
                             unsigned n) {
  direct<wmma::precision::tf32, float, 8>(a, b, c, n);
}
__global__ void direct_half(const half *a, const half *b, float *c,
                            unsigned n) {
  direct<half, half, 16>(a, b, c, n);
}
__global__ void direct_bfloat(const __nv_bfloat16 *a, const __nv_bfloat16 *b,
                              float *c, unsigned n) {
  direct<__nv_bfloat16, __nv_bfloat16, 16>(a, b, c, n);
}

// 32 columns of a and rows of b at a time in threadgroup memory.
__global__ void staged_half(const half *a, const half *b, float *c,
                            unsigned n) {
  __shared__ __align__(16) half ta[64][40], tb[32][72];
  const unsigned simd = threadIdx.x / 32, l = threadIdx.x;
  const unsigned row = simd / 2 * 32, column = simd % 2 * 32;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> out[2][2];
  for (int i = 0; i < 4; i++) {
    wmma::fill_fragment(out[i / 2][i % 2], 0.0f);
  }
  for (unsigned k = 0; k < n; k += 32) {
    for (unsigned i = l; i < 256; i += 128) {
      const unsigned y = i / 4, x = i % 4 * 8, r = i / 8, s = i % 8 * 8;
      *(uint4 *)&ta[y][x] =
          *(const uint4 *)&a[(blockIdx.y * 64 + y) * n + k + x];
      *(uint4 *)&tb[r][s] =
          *(const uint4 *)&b[(k + r) * n + blockIdx.x * 64 + s];
    }
    __syncthreads();
    for (unsigned j = 0; j < 32; j += 16) {
      wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> x[2];
      wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> y[2];
      for (int i = 0; i < 2; i++) {
        wmma::load_matrix_sync(x[i], &ta[row + 16 * i][j], 40);
        wmma::load_matrix_sync(y[i], &tb[j][column + 16 * i], 72);
      }
      for (int i = 0; i < 4; i++) {
        wmma::mma_sync(out[i / 2][i % 2], x[i / 2], y[i % 2],
                       out[i / 2][i % 2]);
      }
    }
    __syncthreads();
  }
  for (int i = 0; i < 4; i++) {
    wmma::store_matrix_sync(c + (blockIdx.y * 64 + row + 16 * (i / 2)) * n +
                                blockIdx.x * 64 + column + 16 * (i % 2),
                            out[i / 2][i % 2], n, wmma::mem_row_major);
  }
}

}  // namespace

#define KERNEL(name) reinterpret_cast<const void *>(name)

const twin product_twins[] = {{"direct_float", KERNEL(direct_float)},
                              {"direct_half", KERNEL(direct_half)},
                              {"direct_bfloat", KERNEL(direct_bfloat)},
                              {"staged_half", KERNEL(staged_half)},
                              {nullptr, nullptr}};
