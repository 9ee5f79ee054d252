// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Halves side by side for each lane, which are transposed as halves.
// run: halves --grid 32 --group 32 0=zeros:f32:32 1=iota:f16:768
// expect: 0: 168 1032 1896 2760 3624 4488 5352 6216 7080 7944 8808 9672 10536 11400 12264 13128 13992 14856 15720 16584 17448 18312 19176 20040 20904 21768 22632 23496 24360 25224 26088 26952
#include <metal_stdlib>
using namespace metal;

// Each lane reads 16 bytes of 48.
kernel void halves(device float *out [[buffer(0)]],
                   device const half4 *x [[buffer(1)]],
                   uint i [[thread_position_in_grid]]) {
  const float4 a = float4(x[6 * i]), b = float4(x[6 * i + 1]);
  out[i] = a.x + 2 * a.y + 3 * a.z + 4 * a.w + 5 * b.x + 6 * b.y + 7 * b.z +
           8 * b.w;
}
