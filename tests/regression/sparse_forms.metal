// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The forms of read, sample and gather for sparse textures (Metal 2.3): all that
// is there is resident.
// run: sparse --grid 1 0=f32:0,0,0,0,0,0,0,0 tex0=r32Float:2,2 tex1=rg32Uint:2,2 tex2=depth32Float:2,2
// expect: 0: 7 1 0 1 0 1 9 1
#include <metal_stdlib>
using namespace metal;

template <typename T>
static void tell(device float *out, sparse_color<T> color, float value) {
  out[0] = value;
  out[1] = color.resident();
}

kernel void sparse(texture2d<float> image [[texture(0)]],
                   texture2d<uint, access::read_write> written [[texture(1)]],
                   depth2d<float> depths [[texture(2)]],
                   device float *out [[buffer(0)]]) {
  constexpr sampler nearest(coord::pixel, filter::nearest);
  written.write(uint4(7, 9, 0, 0), uint2(1, 1));
  written.fence();
  const sparse_color<uint4> color = written.sparse_read(uint2(1, 1));
  tell(out, color, color.value().x);
  out[6] = color.value().y;
  const auto sampled = image.sparse_sample(nearest, float2(1), level(0));
  tell(out + 2, sampled, sampled.value().x);
  sparse_color<float> depth = depths.sparse_sample_compare(nearest, float2(1),
                                                           0.5f);
  tell(out + 4, depth, depth.value());
  out[7] = image.sparse_gather(nearest, float2(1), int2(0), component::y)
               .resident();
}
