// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pointers that begin at an unsigned sum and go round in loops, which threads
// leave at different times.
// run: walk --grid 40 --group 40 0=iota:u32:4096 1=zeros:u32:40 2=u32:9 3=u32:7
// expect: 1: 934571 337552 121071 1170755 416272 147303 1406939 494992 173535 1643123 573712 199767 1879307 652432 225999 2115491 731152 252231 2351675 809872 278463 2587859 888592 304695 2824043 967312 330927 3060227 1046032 357159 3296411 1124752 383391 3532595 1203472 409623 3768779 1282192 435855 4004963
// run: nest --grid 40 --group 40 0=iota:u32:4096 1=zeros:u32:40 2=u32:45 3=u32:2
// expect: 1: 51849 6961840 59661 7938402 67473 8914964 75285 9891526 83097 10868088 90909 11844650 98721 12821212 106533 13797774 114345 14774336 122157 15750898 129969 16727460 137781 17704022 145593 18680584 153405 19657146 161217 20633708 169029 21610270 176841 22586832 184653 23563394 192465 24539956 200277 25516518
// report: 0 gathers
#include <metal_stdlib>
using namespace metal;

kernel void walk(device const uint4 *x [[buffer(0)]],
                 device uint *y [[buffer(1)]],
                 constant uint &n [[buffer(2)]],
                 constant uint &start [[buffer(3)]],
                 uint i [[thread_position_in_grid]]) {
  device const uint4 *p = x + (start + i);
  uint sum = 0;
  uint k = n - i % 3;
  do {
    sum = sum * 3 + p->x + p->w;
    p += n;
  } while (--k != 0);
  y[i] = sum;
}

kernel void nest(device const uint *x [[buffer(0)]],
                 device uint *y [[buffer(1)]],
                 constant uint &n [[buffer(2)]],
                 constant uint &start [[buffer(3)]],
                 uint i [[thread_position_in_grid]]) {
  device const uint *p = x + (start + i);
  uint sum = 0;
  for (uint a = 0; a < 3; a++) {
    for (uint b = 0; b < 2 + i % 2; b++) {
      sum = sum * 5 + *p;
      p += n;
    }
    p++;
  }
  y[i] = sum;
}
