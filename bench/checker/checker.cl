// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// checker.cl: the kernels of checker.metal for Oclgrind.
kernel void scale_add(global const float *x, global float *y, const float a) {
  const size_t i = get_global_id(0);
  y[i] += a * x[i];
}

kernel void tree(global const float *x, global float *sums) {
  local float part[256];
  const size_t t = get_local_id(0);
  part[t] = x[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint step = 128; step; step >>= 1) {
    if (t < step) part[t] += part[t + step];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (t == 0) sums[get_group_id(0)] = part[0];
}

kernel void tiles(global const float *a, global const float *b,
                  global float *c) {
  local float left[16][16];
  local float right[16][16];
  const size_t tx = get_local_id(0), ty = get_local_id(1);
  const size_t px = get_global_id(0), py = get_global_id(1);
  float sum = 0;
  for (uint k = 0; k < 64; k += 16) {
    left[ty][tx] = a[64 * py + k + tx];
    right[ty][tx] = b[64 * (k + ty) + px];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint j = 0; j < 16; ++j) sum += left[ty][j] * right[j][tx];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  c[64 * py + px] = sum;
}
