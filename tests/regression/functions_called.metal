// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// functions_called.metal: a kernel so long that its functions are called rather
// than inlined: numbers by reference, one of them twice; threads that do not
// call; an array with run-time indices; a key that is part of the array.
// run: powers --grid 40 --group 40 0=zeros:u32:40 1=zeros:u32:40
// expect: 0: 2530664600 1828665382 2432406882 791493809 1123451808 1510326620 2964913779 2092755872 2078168082 3022984042 4087566512 1009939265 2722863984 53409740 3644483686 1238143996 1443311613 926002149 771775871 3374174377 3510753372 3353868136 442982248 4039100422 2514166402 616481979 197516189 2722698584 1286350646 1675537468 3691038776 107470611 1190280474 3836659726 3049329246 1320703405 638376670 956969375 2569403518 3300886210
// expect: 1: 0 1 1 0 0 0 0 0 0 1 1 1 0 0 0 0 1 1 1 1 0 0 0 1 0 0 0 1 0 0 1 0 0 1 0 0 0 1 0 1
// report: functions called rather than inlined: multiply
#include <metal_stdlib>
using namespace metal;

struct number {
  uint words[8];
};

// Multiplies modulo 2^256 - 189, but without the last subtraction.
static void multiply(thread number &result, thread const number &a,
                     thread const number &b) {
  uint product[16];
  for (uint i = 0; i < 16; i++) {
    product[i] = 0;
  }
  for (uint i = 0; i < 8; i++) {
    ulong carry = 0;
    for (uint k = 0; k < 8; k++) {
      carry += ulong(a.words[i]) * b.words[k] + product[i + k];
      product[i + k] = uint(carry);
      carry >>= 32;
    }
    product[i + 8] = uint(carry);
  }
  ulong carry = 0;
  for (uint i = 0; i < 8; i++) {
    carry += ulong(product[i + 8]) * 189u + product[i];
    result.words[i] = uint(carry);
    carry >>= 32;
  }
  while (carry) {
    carry *= 189u;
    for (uint i = 0; i < 8; i++) {
      carry += result.words[i];
      result.words[i] = uint(carry);
      carry >>= 32;
    }
  }
}

static bool is_above(number a, number b) {
  for (int i = 7; i >= 0; i--) {
    if (a.words[i] != b.words[i]) {
      return a.words[i] > b.words[i];
    }
  }
  return false;
}

static void reduce(thread number &x) {
  bool is_large = x.words[0] >= 0xffffff43u;
  for (uint i = 1; i < 8; i++) {
    is_large = is_large && x.words[i] == 0xffffffffu;
  }
  if (is_large) {
    x.words[0] -= 0xffffff43u;
    for (uint i = 1; i < 8; i++) {
      x.words[i] = 0;
    }
  }
}

static void mix(thread uint *state, thread const uint &key) {
  for (uint round = 0; round < 12; round++) {
    for (uint i = 0; i < 8; i++) {
      state[i] =
          state[i] * (key | 1) + state[(i + state[i] % 7 + 1) % 8] + round;
      state[(state[i] >> 3) % 8] ^= state[i] >> 5;
    }
  }
}

kernel void powers(device uint *mixed [[buffer(0)]],
                   device uint *above [[buffer(1)]],
                   uint lane [[thread_position_in_grid]]) {
  number x, y;
  for (uint i = 0; i < 8; i++) {
    x.words[i] = (lane * 7 + 1) * (i + 3) * 2654435761u;
  }
  multiply(y, x, x);
  multiply(y, y, x);
  multiply(x, x, x);
  if (lane & 1) {
    multiply(y, y, x);
  }
  for (uint i = 0; i < lane % 5; i++) {
    multiply(x, x, y);
  }
  multiply(y, y, x);
  multiply(x, x, y);
  multiply(y, y, x);
  multiply(x, x, y);
  multiply(y, y, x);
  multiply(x, x, y);
  multiply(y, y, x);
  multiply(x, x, y);
  multiply(y, y, x);
  multiply(x, x, y);
  multiply(y, y, x);
  multiply(x, x, y);
  multiply(y, y, x);
  multiply(x, x, y);
  multiply(y, y, x);
  multiply(x, x, y);
  multiply(y, y, x);
  multiply(x, x, y);
  multiply(y, y, x);
  multiply(x, x, y);
  multiply(y, y, x);
  multiply(x, x, y);
  multiply(y, y, x);
  multiply(x, x, y);
  multiply(y, y, x);
  multiply(x, x, y);
  multiply(y, y, x);
  multiply(x, x, y);
  multiply(y, y, x);
  multiply(x, x, y);
  multiply(y, y, x);
  multiply(x, x, y);
  multiply(y, y, x);
  multiply(x, x, y);
  multiply(y, y, x);
  multiply(x, x, y);
  multiply(y, y, x);
  multiply(x, x, y);
  multiply(y, y, x);
  multiply(x, x, y);
  reduce(x);
  reduce(y);
  uint state[8];
  for (uint i = 0; i < 8; i++) {
    state[i] = x.words[i];
  }
  uint key = y.words[0];
  mix(state, key);
  mix(state, state[3]);
  mix(state, key);
  mixed[lane] = state[lane % 8] ^ state[(lane + 1) % 8];
  above[lane] = is_above(x, y);
}
