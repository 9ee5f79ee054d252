// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Textures whose texels of two words are one number: atomic_min and atomic_max
// (Metal 3.1), reads and writes. Outside of the texture they do nothing.
// run: extremes --grid 100 --group 20 0=u64:0,0,7,0 tex0=rg32Uint:2,2 tex1=rg32Uint:3,1,2
// checked: race.device
// expect: 0: 425201762304 99 7 5
#include <metal_stdlib>
using namespace metal;

kernel void extremes(texture2d<ulong, access::read_write> image [[texture(0)]],
                     texture2d_array<ulong, access::read_write> images
                         [[texture(1)]],
                     device atomic_ulong *out [[buffer(0)]],
                     uint i [[thread_position_in_grid]]) {
  image.atomic_max(uint2(1, 0), (ulong)i << 32);
  image.atomic_max(uint2(0, 1), ulong4(i));
  image.atomic_max(uint2(7, 1), ulong4(1));
  images.atomic_min(uint2(2, 0), 1, 5ul);
  if (i == 0) images.write(ulong4(5), uint2(2, 0), 1);
  atomic_max_explicit(&out[0], image.read(uint2(1, 0)).x, memory_order_relaxed);
  atomic_max_explicit(&out[1], image.read(uint2(0, 1)).x, memory_order_relaxed);
  atomic_min_explicit(&out[2], 7 + image.read(uint2(7, 1)).x,
                      memory_order_relaxed);
  atomic_max_explicit(&out[3], images.read(uint2(2, 0), 1).x,
                      memory_order_relaxed);
}
