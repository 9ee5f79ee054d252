// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Comparisons, rounding and conversions of floating point that LLVM 19 did lane
// by lane: at infinities, NaN, zeros of both signs, halves and limits.
// run: compare --grid 12 --group 32 0=f16:inf,-inf,nan,0,-0,1,-1,0.5,65504,6e-8,-6e-8,2 1=zeros:u32:12
// expect: 1: 21 10 128 36 36 21 10 21 21 21 10 21
// run: rounded --grid 8 --group 32 0=f16:0.5,1.5,-0.5,-2.5,1023.5,-65504,inf,0.4 1=zeros:f16:48
// expect: 1: 0 1 -1 -3 1023 -65504 inf 0 1 2 -0 -2 1024 -65504 inf 1 0 1 -0 -2 1023 -65504 inf 0 0 2 -0 -2 1024 -65504 inf 0 1 2 -1 -3 1024 -65504 inf 0 0.5 0.5 0.5 0.5 0.5 0 0 0.4
// run: integers --grid 14 --group 32 0=f32:inf,-inf,nan,0,-0.9,1.9,-1.9,254.9,255.5,-128.9,2147483520,2147483648,-2147483648,1e19 1=zeros:i8:14 2=zeros:u8:14 3=zeros:i16:14 4=zeros:u16:14 5=zeros:i32:14 6=zeros:u32:14 7=zeros:i64:14 8=zeros:u64:14
// expect: 1: 127 -128 0 0 0 1 -1 127 127 -128 127 127 -128 127
// expect: 2: 255 0 0 0 0 1 0 254 255 0 255 255 0 255
// expect: 3: 32767 -32768 0 0 0 1 -1 254 255 -128 32767 32767 -32768 32767
// expect: 4: 65535 0 0 0 0 1 0 254 255 0 65535 65535 0 65535
// expect: 5: 2147483647 -2147483648 0 0 0 1 -1 254 255 -128 2147483520 2147483647 -2147483648 2147483647
// expect: 6: 4294967295 0 0 0 0 1 0 254 255 0 2147483520 2147483648 0 4294967295
// expect: 7: 9223372036854775807 -9223372036854775808 0 0 0 1 -1 254 255 -128 2147483520 2147483648 -2147483648 9223372036854775807
// expect: 8: 18446744073709551615 0 0 0 0 1 0 254 255 0 2147483520 2147483648 0 9999999980506447872
// run: integers_of_halves --grid 9 --group 32 0=f16:inf,-inf,nan,-0.9,300.5,-300.5,65504,-1,127.9 1=zeros:i8:9 2=zeros:u8:9 3=zeros:i32:9 4=zeros:u32:9 5=zeros:u64:9
// expect: 1: 127 -128 0 0 127 -128 127 -1 127
// expect: 2: 255 0 0 0 255 0 255 0 127
// expect: 3: 2147483647 -2147483648 0 0 300 -300 65504 -1 127
// expect: 4: 4294967295 0 0 0 300 0 65504 0 127
// expect: 5: 18446744073709551615 0 0 0 300 0 65504 0 127
#include <metal_stdlib>
using namespace metal;

kernel void compare(device const half *x [[buffer(0)]],
                    device uint *out [[buffer(1)]],
                    uint i [[thread_position_in_grid]]) {
  const half v = x[i];
  out[i] = (v > half(0) ? 1 : 0) | (v < half(0) ? 2 : 0) |
           (v >= half(0) ? 4 : 0) | (v <= half(0) ? 8 : 0) |
           (v > x[3] ? 16 : 0) | (v == x[4] ? 32 : 0) |
           (v != v ? 128 : 0);
  out[i] &= v == half(0) ? ~8u : ~0u;
}

kernel void rounded(device const half *x [[buffer(0)]],
                    device half *out [[buffer(1)]],
                    uint i [[thread_position_in_grid]]) {
  out[i] = floor(x[i]);
  out[8 + i] = ceil(x[i]);
  out[16 + i] = trunc(x[i]);
  out[24 + i] = rint(x[i]);
  out[32 + i] = round(x[i]);
  out[40 + i] = isinf(x[i]) ? half(0) : fract(x[i]);
}

kernel void integers(device const float *x [[buffer(0)]],
                     device char *a [[buffer(1)]], device uchar *b [[buffer(2)]],
                     device short *c [[buffer(3)]],
                     device ushort *d [[buffer(4)]],
                     device int *e [[buffer(5)]], device uint *f [[buffer(6)]],
                     device long *g [[buffer(7)]], device ulong *h [[buffer(8)]],
                     uint i [[thread_position_in_grid]]) {
  a[i] = char(x[i]);
  b[i] = uchar(x[i]);
  c[i] = short(x[i]);
  d[i] = ushort(x[i]);
  e[i] = int(x[i]);
  f[i] = uint(x[i]);
  g[i] = long(x[i]);
  h[i] = ulong(x[i]);
}

kernel void integers_of_halves(device const half *x [[buffer(0)]],
                               device char *a [[buffer(1)]],
                               device uchar *b [[buffer(2)]],
                               device int *c [[buffer(3)]],
                               device uint *d [[buffer(4)]],
                               device ulong *e [[buffer(5)]],
                               uint i [[thread_position_in_grid]]) {
  a[i] = char(x[i]);
  b[i] = uchar(x[i]);
  c[i] = int(x[i]);
  d[i] = uint(x[i]);
  e[i] = ulong(x[i]);
}
