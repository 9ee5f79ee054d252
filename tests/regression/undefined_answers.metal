// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A loop whose result is undefined until an iteration sets it. A vote over such
// a value gives one answer for all threads, and is not repeated.
// run: difference --grid 64 --group 64 0=u32:0,0,0,0,5,0,0,0,0,0,0,0,0,0,0,9 1=u32:1,0,0,0,3,0,0,0,0,0,0,0,0,0,0,9 2=zeros:u32:16
// expect: 2: 255 255 255 255 1 0 0 0 0 0 0 0 0 0 0 0
// run: difference --grid 40 --group 40 0=u32:1,0,0,0,3,0,0,0,0,0,0,0,0,0,0,9 1=u32:0,0,0,0,5,0,0,0,0,0,0,0,0,0,0,9 2=zeros:u32:16
// expect: 2: 1 1 2 3 2 5 6 7 8 9 10 11 12 13 14 15
#include <metal_stdlib>
using namespace metal;

struct Number {
  uint limbs[16];
};

struct Difference {
  Number value;
  uchar borrow;
};

static bool reaches(Number a, Number b) {
#pragma unroll(16)
  for (uint k = 0; k < 16; k++) {
    const uint i = 15 - k;
    if (a.limbs[i] < b.limbs[i]) {
      return false;
    } else if (a.limbs[i] > b.limbs[i]) {
      return true;
    }
  }
  return true;
}

static Difference subtract(Number a, Number b) {
  Difference d;
  d.borrow = 0;
#pragma unroll(16)
  for (uint i = 0; i < 16; i++) {
    d.value.limbs[i] = a.limbs[i] - b.limbs[i] - d.borrow;
    if (a.limbs[i] < b.limbs[i] + d.borrow) {
      d.value.limbs[i] += 256;
      d.borrow = 1;
    } else {
      d.borrow = 0;
    }
  }
  return d;
}

kernel void difference(device Number *a [[buffer(0)]],
                       device Number *b [[buffer(1)]],
                       device Number *out [[buffer(2)]]) {
  if (reaches(*a, *b)) {
    *out = subtract(*a, *b).value;
  } else {
    Number all;
    for (uint i = 0; i < 16; i++) {
      all.limbs[i] = i;
    }
    *out = subtract(all, subtract(*b, *a).value).value;
  }
}
