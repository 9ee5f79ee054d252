// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Barriers in two nested uniform loops, with swaps between threads.
// run: sort --grid 64 --group 64 0=u32:7,3,9,1,63,2,0,5,60,61,62,4,8,6,10,11,59,58,57,56,55,54,53,52,12,13,14,15,16,17,18,19,51,50,49,48,47,46,45,44,20,21,22,23,24,25,26,27,43,42,41,40,39,38,37,36,28,29,30,31,32,33,34,35 1=zeros:u32:64
// expect: 1: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63
#include <metal_stdlib>
using namespace metal;

template <typename T>
void swap_if(threadgroup T *values, uint a, uint b, bool rising) {
  if ((values[a] > values[b]) == rising) {
    T kept = values[a];
    values[a] = values[b];
    values[b] = kept;
  }
}

kernel void sort(constant uint *in [[buffer(0)]],
                 device uint *out [[buffer(1)]],
                 uint i [[thread_position_in_threadgroup]],
                 uint n [[threads_per_threadgroup]]) {
  threadgroup uint values[64];
  values[i] = in[i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint size = 2; size <= n; size *= 2) {
    for (uint stride = size / 2; stride > 0; stride /= 2) {
      const uint other = i ^ stride;
      if (other > i) { swap_if(values, i, other, (i & size) == 0); }
      threadgroup_barrier(mem_flags::mem_threadgroup);
    }
  }
  out[i] = values[i];
}
