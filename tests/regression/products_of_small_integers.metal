// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums of products of bytes and of 16-bit integers, with and without a sign, as
// quantised matrix products have them: at their limits, where the sum of two
// products needs 33 bits, and where a component is used for something else.
// run: mixed --grid 8,4 --group 8,4 0=i8:-128,127,-1,5,100,-100,3,-3,0,1,-77,64,-128,-128,-128,-128 1=u8:255,254,0,17,200,1,128,127,255,255,255,255,3,99,180,66 2=zeros:i32:32
// expect: 2: -28282 -120183 -65803 -102115 -28282 -120183 -65803 -102115 -120539 -66159 -102471 -28638 -120539 -66159 -102471 -28638 -65603 -101915 -28082 -119983 -65603 -101915 -28082 -119983 -101759 -27926 -119827 -65447 -101759 -27926 -119827 -65447
// run: signs --grid 8,4 --group 8,4 0=i8:-128,127,-1,5,100,-100,3,-3,0,1,-77,64,-128,-128,-128,-128 1=zeros:i32:32
// expect: 1: 127835 -25173 764 -25173 127835 -25173 764 -25173 -25529 408 -25529 127479 -25529 408 -25529 127479 964 -24973 128035 -24973 964 -24973 128035 -24973 -24817 128191 -24817 1120 -24817 128191 -24817 1120
// run: none --grid 8,4 --group 4,4 0=u8:255,254,0,17,200,1,128,127,255,255,255,255,3,99,180,66 1=zeros:i32:32
// expect: 1: 509729 286185 333221 286185 509729 286185 333221 286185 286492 333528 286492 510036 286492 333528 286492 510036 333615 286579 510123 286579 333615 286579 510123 286579 286886 510430 286886 333922 286886 510430 286886 333922
// run: shorts --grid 8,4 --group 8,4 0=i16:-32768,-32768,32767,-1,12345,-12345,2,32767,-32768,32767,-32768,-32768,1,2,3,4 1=zeros:i32:32
// expect: 1: 304548292 -1883021205 -2147102770 -1883021205 304548292 -1883021205 -2147102770 -1883021205 -1883099087 -2147180652 -1883099087 304470410 -1883099087 -2147180652 -1883099087 304470410 -2147078082 -1882996517 304572980 -1882996517 -2147078082 -1882996517 304572980 -1882996517 -1883074399 304495098 -1883074399 -2147155964 -1883074399 304495098 -1883074399 -2147155964
#include <metal_stdlib>
using namespace metal;

template <typename T, typename A, typename B>
T sum(device const A *a, device const B *b, uint2 g) {
  T result = 0;
  for (uint k = 0; k < 4; ++k) {
    const vec<T, 4> x = vec<T, 4>(a[g.y + k & 3]);
    const vec<T, 4> y = vec<T, 4>(b[g.x * 3 + k & 3]);
    result += x.x * y.x + x.y * y.y + x.w * y.w + x.z * y.z + T(k) * x.x;
  }
  return result;
}

kernel void mixed(device const char4 *a [[buffer(0)]],
                  device const uchar4 *b [[buffer(1)]],
                  device int *out [[buffer(2)]],
                  uint2 g [[thread_position_in_grid]]) {
  out[g.y * 8 + g.x] = sum<int>(a, b, g);
}

kernel void signs(device const char4 *a [[buffer(0)]],
                  device int *out [[buffer(1)]],
                  uint2 g [[thread_position_in_grid]]) {
  out[g.y * 8 + g.x] = sum<int>(a, a, g);
}

kernel void none(device const uchar4 *a [[buffer(0)]],
                 device uint *out [[buffer(1)]],
                 uint2 g [[thread_position_in_grid]]) {
  out[g.y * 8 + g.x] = sum<uint>(a, a, g);
}

kernel void shorts(device const short4 *a [[buffer(0)]],
                   device int *out [[buffer(1)]],
                   uint2 g [[thread_position_in_grid]]) {
  out[g.y * 8 + g.x] = sum<int>(a, a, g);
}
