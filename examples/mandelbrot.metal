// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// mandelbrot.metal: the Mandelbrot set in colour, one thread a pixel.
#include <metal_stdlib>
using namespace metal;

struct View {
  float2 centre;  // of the picture, in the complex plane
  float pixel;    // width of a pixel there
  uint limit;     // iterations after which a point counts as inside
};

// The smooth count of iterations until z leaves the circle of radius 16, or
// limit.
static float iterate(float2 c, uint limit) {
  float2 z = 0;
  for (uint i = 0; i < limit; ++i) {
    z = float2(z.x * z.x - z.y * z.y, 2 * z.x * z.y) + c;
    if (dot(z, z) > 256) {
      return i + 1 - log2(0.5f * log2(dot(z, z)));
    }
  }
  return limit;
}

// Cosine waves, one phase a channel.
static float3 colour(float count) {
  const float3 phase(0.55f, 0.62f, 0.70f);
  return 0.5f + 0.5f * cos(6.2831853f * (0.025f * count + phase));
}

kernel void mandelbrot(device uchar4 *pixels [[buffer(0)]],
                       constant View &view [[buffer(1)]],
                       uint2 position [[thread_position_in_grid]],
                       uint2 size [[threads_per_grid]]) {
  const float2 offset = float2(position) - 0.5f * float2(size);
  const float count = iterate(view.centre + offset * view.pixel, view.limit);
  const float3 shade = count < view.limit ? colour(count) : float3(0);
  pixels[position.y * size.x + position.x] =
      uchar4(uchar3(255 * shade + 0.5f), 255);
}
