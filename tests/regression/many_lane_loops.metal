// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// More loads and stores that go lane by lane than are made without a loop.
// run: spread --grid 64 --group 32 0=zeros:f16:8 1=zeros:f16:1280
// expect: 0: 0 0 0 0 0 0 0 0
// expect: 1: 0 13 26 39 52 1 14 27 40 53 2 15 28 41 54 3 16 29 42 55 4 17 30 43 56 5 18 31 44 57 6 19 32 45 58 7 20 33 46 59 8 21 34 47 60 9 22 35 48 61 10 23 36 49 62 11 24 37 50 63 12 25 38 51
// run: collect --grid 8 --group 32 0=zeros:i32:8 1=iota:u8:64
// expect: 0: 3290 2318 5834 7918 6618 4974 7050 6990
#include <metal_stdlib>
using namespace metal;

#define TWENTY(f) f(0) f(1) f(2) f(3) f(4) f(5) f(6) f(7) f(8) f(9) \
                  f(10) f(11) f(12) f(13) f(14) f(15) f(16) f(17) f(18) f(19)

kernel void spread(device half *unused [[buffer(0)]], device half *y [[buffer(1)]],
                   uint i [[thread_position_in_grid]]) {
#define STORE(k) y[k * 64 + (i * 5 & 63)] = half(i + k);
  TWENTY(STORE)
}

kernel void collect(device int *out [[buffer(0)]], device const uchar *x [[buffer(1)]],
                    uint i [[thread_position_in_grid]]) {
  int sum = 0;
#define LOAD(k) sum += x[((i * k) ^ (k + 3)) & 63] * (k + 1);
  TWENTY(LOAD)
  out[i] = sum;
}
