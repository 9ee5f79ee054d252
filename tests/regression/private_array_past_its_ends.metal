// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// private_array_past_its_ends.metal: the threads behind the end of a row fill
// their array from a negative index on, as a layer norm of short rows does. A
// GPU's thread has its arrays to itself and such writes change nothing that
// others see; here they went into other threads' arrays and the host's memory.
//
// checked: bounds.private
// run: fill --grid 8 --group 8 0=zeros:i32:8 1=i32:-40 2=i32:44 3=i32:2
// expect: 0: 1 3 5 7 9 11 13 15
#include <metal_stdlib>
using namespace metal;

kernel void fill(device int *out [[buffer(0)]],
                 constant int &from [[buffer(1)]],
                 constant int &to [[buffer(2)]],
                 constant int &pick [[buffer(3)]],
                 uint thread_index [[thread_position_in_threadgroup]]) {
  const int t = int(thread_index);
  int first[4], array[4], last[4];
  for (int i = 0; i < 4; ++i) {
    first[(i + pick) & 3] = t;
    last[(i + pick) & 3] = t + 2;
  }
  for (int i = from + t; i < to; ++i) {
    array[i] = -1;
  }
  out[t] = first[pick] + array[pick] + last[pick];
}
