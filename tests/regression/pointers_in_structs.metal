// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Private structs in which pointers stand beside smaller fields, read by an
// index known at run time: pointers once were stored over each other.
// run: choose --grid 40 0=zeros:i32:40 1=i32:10,1 2=iota:i32:40 3=ones:i32:40
// expect: 0: 1 11 21 31 41 51 61 71 81 91 101 111 121 131 141 151 161 171 181 191 201 211 221 231 241 251 261 271 281 291 301 311 321 331 341 351 361 371 381 391
// run: swap --grid 36 0=zeros:i32:36 2=iota:i32:40 3=ones:i32:40
// expect: 0: 0 1 2 1 4 1 6 1 8 1 10 1 12 1 14 1 16 1 18 1 20 1 22 1 24 1 26 1 28 1 30 1 32 1 34 1
#include <metal_stdlib>
using namespace metal;

template <int N>
struct Sources {
  const array<const device int *, N> buffers;
  const constant int *factors;
  const int count;
};

template <int N>
static int weighted(const thread Sources<N> &sources, uint i) {
  int sum = 0;
  for (int n = 0; n < sources.count; n++) {
    sum += sources.buffers[n][i] * sources.factors[n];
  }
  return sum;
}

kernel void choose(device int *out [[buffer(0)]],
                   constant int *factors [[buffer(1)]],
                   const device int *first [[buffer(2)]],
                   const device int *second [[buffer(3)]],
                   uint i [[thread_position_in_grid]]) {
  const Sources<2> sources{{first, second}, factors, 2};
  out[i] = weighted(sources, i);
}

struct Entry {
  uchar used;
  const device int *data;
  ushort at;
};

kernel void swap(device int *out [[buffer(0)]],
                 const device int *first [[buffer(2)]],
                 const device int *second [[buffer(3)]],
                 uint i [[thread_position_in_grid]]) {
  Entry entries[3];
  for (ushort n = 0; n < 3; n++) {
    entries[n].used = n < 2;
    entries[n].data = n == 0 ? first : second;
    entries[n].at = ushort(i);
  }
  const Entry entry = entries[i & 1];
  out[i] = entry.used ? entry.data[entry.at] : -1;
}
