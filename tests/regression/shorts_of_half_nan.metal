// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Halves that are no numbers, or too large, as shorts: also where a value is
// the same for all threads, on machines with half arithmetic.
// run: converted --grid 4 --group 4 0=zeros:i32:4 1=zeros:i32:4 2=u32:32256
// expect: 0: 32767 0 0 0
// expect: 1: 0 -2 -2 -2
#include <metal_stdlib>
using namespace metal;

kernel void converted(device int *own [[buffer(0)]],
                      device int *common [[buffer(1)]],
                      constant uint &quiet [[buffer(2)]],
                      uint i [[thread_position_in_grid]]) {
  own[i] = short(as_type<half>(ushort(0x7c00 + i)));
  const short nothing = short(as_type<half>(ushort(quiet)));
  const short two = short(as_type<half>(ushort(0x8000 | (quiet - 0x3dff))));
  common[i] = i == 0 ? nothing : two;
}
