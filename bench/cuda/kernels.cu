// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// kernels.cu: the benchmark's kernels in CUDA C++, as their MSL is written:
// indices of 32 bits without sign, no __restrict__, sizes that are constants
// there constants here.
#include "twins.h"

namespace {

constexpr unsigned WIDTH = 32, ALL = 0xffffffff;

__device__ unsigned place(unsigned block, unsigned side, unsigned thread) {
  return block * side + thread;
}
#define X place(blockIdx.x, blockDim.x, threadIdx.x)
#define Y place(blockIdx.y, blockDim.y, threadIdx.y)
#define LOCAL threadIdx.x

__device__ float warp_sum(float value) {
  for (unsigned step = WIDTH / 2; step > 0; step /= 2) {
    value += __shfl_xor_sync(ALL, value, step);
  }
  return value;
}

// --- elementwise -------------------------------------------------------------

__global__ void saxpy(const float *x, float *y) {
  const unsigned i = X;
  y[i] = 0.5f * x[i] + y[i];
}

__global__ void scaled(const float *x, float *y, float a) {
  const unsigned i = X;
  y[i] = a * x[i] + y[i];
}

__global__ void silu(const float *x, float *y) {
  const unsigned i = X;
  y[i] = x[i] / (1.0f + expf(-x[i]));
}

__global__ void transcendental(const float *x, float *y) {
  const unsigned i = X;
  const float v = 4.0f * x[i];
  y[i] = expf(-v * v) * sinf(3.0f * v) + logf(1.0f + v * v);
}

__global__ void mandelbrot(unsigned *out) {
  const unsigned px = X, py = Y, n = gridDim.x * blockDim.x;
  const float cr = -2.0f + 2.5f * (float)px / (float)n;
  const float ci = -1.25f + 2.5f * (float)py / (float)n;
  float zr = 0, zi = 0;
  unsigned count = 0;
  while (count < 256 && zr * zr + zi * zi < 4.0f) {
    const float next = zr * zr - zi * zi + cr;
    zi = 2.0f * zr * zi + ci;
    zr = next;
    count++;
  }
  out[py * n + px] = count;
}

__global__ void stencil(const float *in, float *out) {
  constexpr unsigned SIDE = 2048;
  const unsigned x = X, y = Y, i = y * SIDE + x;
  if (x == 0 || y == 0 || x == SIDE - 1 || y == SIDE - 1) {
    out[i] = in[i];
  } else {
    out[i] = in[i] + 0.2f * (in[i - 1] + in[i + 1] + in[i - SIDE] +
                             in[i + SIDE] - 4.0f * in[i]);
  }
}

// --- products ----------------------------------------------------------------

__global__ void naive(const float *a, const float *b, float *c) {
  const unsigned column = X, row = Y, n = gridDim.x * blockDim.x;
  float sum = 0;
  for (unsigned i = 0; i < n; i++) {
    sum += a[row * n + i] * b[i * n + column];
  }
  c[row * n + column] = sum;
}

__global__ void tiled(const float *a, const float *b, float *c) {
  __shared__ float ta[16][16], tb[16][16];
  const unsigned column = X, row = Y, n = gridDim.x * blockDim.x;
  const unsigned x = threadIdx.x, y = threadIdx.y;
  float sum = 0;
  for (unsigned first = 0; first < n; first += 16) {
    ta[y][x] = a[row * n + first + x];
    tb[y][x] = b[(first + y) * n + column];
    __syncthreads();
    for (unsigned i = 0; i < 16; i++) {
      sum += ta[y][i] * tb[i][x];
    }
    __syncthreads();
  }
  c[row * n + column] = sum;
}

// --- sums --------------------------------------------------------------------

__global__ void tree(const float *in, float *out) {
  __shared__ float sums[256];
  const unsigned i = X, l = LOCAL, g = blockIdx.x;
  sums[l] = in[i];
  for (unsigned stride = 128; stride > 0; stride /= 2) {
    __syncthreads();
    if (l < stride) {
      sums[l] += sums[l + stride];
    }
  }
  if (l == 0) {
    out[g] = sums[0];
  }
}

__global__ void simd(const float *in, float *out) {
  __shared__ float parts[32];
  const unsigned l = LOCAL, g = blockIdx.x, lane = l % 32, own = l / 32;
  float sum = 0;
  for (unsigned i = l; i < 4096; i += 256) {
    sum += in[g * 4096 + i];
  }
  sum = warp_sum(sum);
  if (lane == 0) {
    parts[own] = sum;
  }
  __syncthreads();
  if (own == 0) {
    sum = warp_sum(lane < 8 ? parts[lane] : 0.0f);
    if (lane == 0) {
      out[g] = sum;
    }
  }
}

__global__ void prefix(const unsigned *in, unsigned *out) {
  __shared__ unsigned sums[8];
  const unsigned i = X, lane = LOCAL % 32, own = LOCAL / 32;
  unsigned sum = in[i];
  for (unsigned step = 1; step < WIDTH; step *= 2) {
    const unsigned below = __shfl_up_sync(ALL, sum, step);
    sum += lane >= step ? below : 0;
  }
  if (lane == 31) {
    sums[own] = sum;
  }
  __syncthreads();
  for (unsigned s = 0; s < own; s++) {
    sum += sums[s];
  }
  out[i] = sum;
}

// --- rows --------------------------------------------------------------------

__global__ void softmax(const float *in, float *out) {
  __shared__ float shared[256];
  const unsigned l = LOCAL, row = blockIdx.x, n = 1024;
  float most = -3e38f;
  for (unsigned c = l; c < n; c += 256) {
    most = fmaxf(most, in[row * n + c]);
  }
  shared[l] = most;
  for (unsigned stride = 128; stride > 0; stride /= 2) {
    __syncthreads();
    if (l < stride) {
      shared[l] = fmaxf(shared[l], shared[l + stride]);
    }
  }
  __syncthreads();
  most = shared[0];
  __syncthreads();
  float sum = 0;
  for (unsigned c = l; c < n; c += 256) {
    sum += expf(in[row * n + c] - most);
  }
  shared[l] = sum;
  for (unsigned stride = 128; stride > 0; stride /= 2) {
    __syncthreads();
    if (l < stride) {
      shared[l] += shared[l + stride];
    }
  }
  __syncthreads();
  sum = shared[0];
  for (unsigned c = l; c < n; c += 256) {
    out[row * n + c] = expf(in[row * n + c] - most) / sum;
  }
}

__global__ void layer_norm(const float *in, const float *weight, const float *bias,
                     float *out) {
  __shared__ float2 parts[8];
  const unsigned l = LOCAL, lane = l % 32, row = blockIdx.x, n = 1024;
  float2 sums = {0, 0};
  for (unsigned c = l; c < n; c += 256) {
    const float x = in[row * n + c];
    sums.x += x;
    sums.y += x * x;
  }
  sums.x = warp_sum(sums.x);
  sums.y = warp_sum(sums.y);
  if (lane == 0) {
    parts[l / 32] = sums;
  }
  __syncthreads();
  sums = {0, 0};
  for (unsigned s = 0; s < 8; s++) {
    sums.x += parts[s].x;
    sums.y += parts[s].y;
  }
  const float mean = sums.x / n;
  const float scale = rsqrtf(sums.y / n - mean * mean + 1e-5f);
  for (unsigned c = l; c < n; c += 256) {
    out[row * n + c] = (in[row * n + c] - mean) * scale * weight[c] + bias[c];
  }
}

__global__ void attend(const float *queries, const float *keys,
                       const float *values, float *out) {
  constexpr unsigned SIZE = 64;
  const unsigned query = blockIdx.x * 8 + LOCAL / 32, own = LOCAL % 32 * 2;
  const float q0 = queries[query * SIZE + own] * 0.125f;
  const float q1 = queries[query * SIZE + own + 1] * 0.125f;
  float most = -3e38f, sum = 0, o0 = 0, o1 = 0;
  for (unsigned key = 0; key < 512; key++) {
    const float score =
        warp_sum(q0 * keys[key * SIZE + own] + q1 * keys[key * SIZE + own + 1]);
    const float larger = fmaxf(most, score);
    const float old = expf(most - larger);
    const float fresh = expf(score - larger);
    most = larger;
    sum = sum * old + fresh;
    o0 = o0 * old + fresh * values[key * SIZE + own];
    o1 = o1 * old + fresh * values[key * SIZE + own + 1];
  }
  out[query * SIZE + own] = o0 / sum;
  out[query * SIZE + own + 1] = o1 / sum;
}

// --- integers ----------------------------------------------------------------

__global__ void sort(const unsigned *in, unsigned *out) {
  constexpr unsigned BLOCK = 512;
  __shared__ unsigned keys[BLOCK];
  const unsigned l = LOCAL, g = blockIdx.x;
  keys[l] = in[g * BLOCK + l];
  keys[l + 256] = in[g * BLOCK + l + 256];
  for (unsigned size = 2; size <= BLOCK; size *= 2) {
    for (unsigned stride = size / 2; stride > 0; stride /= 2) {
      __syncthreads();
      const unsigned low = 2 * l - (l & (stride - 1)), high = low + stride;
      const unsigned a = keys[low], b = keys[high];
      if ((a > b) == ((low & size) == 0)) {
        keys[low] = b;
        keys[high] = a;
      }
    }
  }
  __syncthreads();
  out[g * BLOCK + l] = keys[l];
  out[g * BLOCK + l + 256] = keys[l + 256];
}

__global__ void device_histogram(const unsigned *in, unsigned *bins) {
  atomicAdd(&bins[in[X] & 255], 1);
}

__global__ void group_histogram(const unsigned *in, unsigned *bins) {
  __shared__ unsigned own[256];
  const unsigned l = LOCAL, g = blockIdx.x;
  own[l] = 0;
  __syncthreads();
  for (unsigned i = l; i < 4096; i += 256) {
    atomicAdd(&own[in[g * 4096 + i] & 255], 1);
  }
  __syncthreads();
  atomicAdd(&bins[l], own[l]);
}

__global__ void float_atomics(const float *in, float *bins) {
  const unsigned i = X;
  atomicAdd(&bins[i & 4095], in[i]);
}

// --- bodies ------------------------------------------------------------------

__global__ void bodies(const float4 *all, float4 *out) {
  const unsigned i = X;
  const float4 own = all[i];
  float px = 0, py = 0, pz = 0;
  for (unsigned j = 0; j < 4096; j++) {
    const float4 other = all[j];
    const float x = other.x - own.x, y = other.y - own.y, z = other.z - own.z;
    const float inverse = rsqrtf(x * x + y * y + z * z + 0.01f);
    const float pull = other.w * inverse * inverse * inverse;
    px += x * pull;
    py += y * pull;
    pz += z * pull;
  }
  out[i] = make_float4(px, py, pz, 0);
}

// --- quantised ---------------------------------------------------------------

__global__ void bytes(const char4 *weights, const float *scales, const float4 *x,
                     float *y) {
  const unsigned lane = LOCAL % 32, row = blockIdx.x * 8 + LOCAL / 32;
  float sum = 0;
  for (unsigned i = lane; i < 1024; i += 32) {
    const char4 w = weights[row * 1024 + i];
    const float4 v = x[i];
    sum += scales[row * 128 + i / 8] *
           (w.x * v.x + w.y * v.y + w.z * v.z + w.w * v.w);
  }
  sum = warp_sum(sum);
  if (lane == 0) {
    y[row] = sum;
  }
}

__global__ void nibbles(const unsigned *weights, const float *scales,
                     const float *x, float *y) {
  const unsigned lane = LOCAL % 32, row = blockIdx.x * 8 + LOCAL / 32;
  float sum = 0;
  for (unsigned i = lane; i < 512; i += 32) {
    const unsigned word = weights[row * 512 + i];
    float part = 0;
    for (unsigned j = 0; j < 8; j++) {
      part += float(int(word >> (4 * j) & 15) - 8) * x[i * 8 + j];
    }
    sum += scales[row * 128 + i / 4] * part;
  }
  sum = warp_sum(sum);
  if (lane == 0) {
    y[row] = sum;
  }
}

}  // namespace

#define KERNEL(name) reinterpret_cast<const void *>(name)

const twin kernel_twins[] = {
    {"saxpy of 16 M", KERNEL(saxpy)},
    {"saxpy of 64 K, factor by set_bytes", KERNEL(scaled)},
    {"silu of 16 M", KERNEL(silu)},
    {"exp, sin and log of 2 M", KERNEL(transcendental)},
    {"naive product of 512 x 512", KERNEL(naive)},
    {"tiled product of 512 x 512", KERNEL(tiled)},
    {"tiled product of 2048 x 2048", KERNEL(tiled)},
    {"tree sums of 256 over 16 M", KERNEL(tree)},
    {"simdgroup sums of 4096 over 16 M", KERNEL(simd)},
    {"prefix sums of 256 over 8 M", KERNEL(prefix)},
    {"softmax of 4096 rows of 1024", KERNEL(softmax)},
    {"layer norm of 4096 rows of 1024", KERNEL(layer_norm)},
    {"attention, 512 queries and keys of 64", KERNEL(attend)},
    {"Mandelbrot 1024 x 1024", KERNEL(mandelbrot)},
    {"bitonic sort of 512 over 1 M", KERNEL(sort)},
    {"histogram of 4 M in 256 device atomics", KERNEL(device_histogram)},
    {"histogram of 4 M in threadgroup atomics", KERNEL(group_histogram)},
    {"float atomics of 4 M to 4096", KERNEL(float_atomics)},
    {"stencil of 5 points, 2048 x 2048", KERNEL(stencil)},
    {"n-body, 4096", KERNEL(bodies)},
    {"int8 matrix times vector, 4096 x 4096", KERNEL(bytes)},
    {"int4 matrix times vector, 4096 x 4096", KERNEL(nibbles)},
    {nullptr, nullptr}};
