// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// bodies.c: how 4096 bodies pull at each other: arithmetic on what all threads
// read alike.
#include <math.h>

#include "kernel.h"
#include "lanes.h"

#define COUNT 4096

static const char msl[] = TEXT(kernel void k(
    device const float4 *bodies [[buffer(0)]], device float4 *out [[buffer(1)]],
    uint i [[thread_position_in_grid]]) {
  const float3 own = bodies[i].xyz;
  float3 pull = 0;
  for (uint j = 0; j < COUNT; j++) {
    const float4 other = bodies[j];
    const float3 way = other.xyz - own;
    const float inverse = rsqrt(dot(way, way) + 0.01f);
    pull += way * (other.w * inverse * inverse * inverse);
  }
  out[i] = float4(pull, 0);
});
static const char opencl[] =
    TEXT(kernel void k(global const float4 *bodies, global float4 *out) {
      const uint i = get_global_id(0);
      const float3 own = bodies[i].xyz;
      float3 pull = 0;
      for (uint j = 0; j < COUNT; j++) {
        const float4 other = bodies[j];
        const float3 way = other.xyz - own;
        const float inverse = rsqrt(dot(way, way) + 0.01f);
        pull += way * (other.w * inverse * inverse * inverse);
      }
      out[i] = (float4)(pull, 0);
    });

static void plain_c(void *const *buffers) {
  const float(*restrict bodies)[4] = buffers[0];
  float(*restrict out)[4] = buffers[1];
#pragma omp parallel for schedule(static)
  for (int i = 0; i < COUNT; i++) {
    float px = 0, py = 0, pz = 0;
#pragma omp simd reduction(+ : px, py, pz)
    for (int j = 0; j < COUNT; j++) {
      const float x = bodies[j][0] - bodies[i][0];
      const float y = bodies[j][1] - bodies[i][1];
      const float z = bodies[j][2] - bodies[i][2];
      const float inverse = 1 / sqrtf(x * x + y * y + z * z + 0.01f);
      const float force = bodies[j][3] * inverse * inverse * inverse;
      px += x * force;
      py += y * force;
      pz += z * force;
    }
    out[i][0] = px;
    out[i][1] = py;
    out[i][2] = pz;
    out[i][3] = 0;
  }
}

static void lanes_c(void *const *buffers) {
  const float(*restrict bodies)[4] = buffers[0];
  float(*restrict out)[4] = buffers[1];
#pragma omp parallel for schedule(static)
  for (int i = 0; i < COUNT; i += 32) {
    lanes ox, oy, oz, px = {0}, py = {0}, pz = {0};
    for (int l = 0; l < 32; l++) {
      ox[l] = bodies[i + l][0];
      oy[l] = bodies[i + l][1];
      oz[l] = bodies[i + l][2];
    }
    for (int j = 0; j < COUNT; j++) {
      const lanes x = bodies[j][0] - ox;
      const lanes y = bodies[j][1] - oy;
      const lanes z = bodies[j][2] - oz;
      const lanes square = x * x + y * y + z * z + 0.01f;
      lanes inverse;
      for (int l = 0; l < 32; l++) {
        inverse[l] = 1 / sqrtf(square[l]);
      }
      const lanes force = bodies[j][3] * inverse * inverse * inverse;
      px += x * force;
      py += y * force;
      pz += z * force;
    }
    for (int l = 0; l < 32; l++) {
      const float all[4] = {px[l], py[l], pz[l], 0};
      memcpy(out[i + l], all, sizeof all);
    }
  }
}

static double reference(void *const *buffers, size_t element) {
  const float(*bodies)[4] = buffers[0];
  const float *own = bodies[element / 4];
  double pull[4] = {0};
  for (int j = 0; j < COUNT; j++) {
    const double way[4] = {(double)bodies[j][0] - own[0],
                           (double)bodies[j][1] - own[1],
                           (double)bodies[j][2] - own[2], 0};
    const double square =
        way[0] * way[0] + way[1] * way[1] + way[2] * way[2] + 0.01;
    for (int d = 0; d < 4; d++) {
      pull[d] += way[d] * bodies[j][3] / (square * sqrt(square));
    }
  }
  return pull[element % 4];
}

const kernel_case bodies = {
    .name = "n-body, 4096",
    .work = 20.0 * COUNT * COUNT,
    .unit = "GFLOP/s",
    .is_bound_by_cores = true,
    .msl = msl,
    .opencl = opencl,
    .plain_c = plain_c,
    .lanes_c = lanes_c,
    .reference = reference,
    .buffers = {{COUNT * 16, FILL_SIGNED}, {COUNT * 16, FILL_ZERO}},
    .grid = {COUNT, 1, 1},
    .group = {256, 1, 1},
    .output = 1,
    .tolerance = 3e-3,  // sums of 4096 numbers up to 1000
};
