// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums that fill the registers, kept across barriers: halves of simdgroups run
// at a time, in threadgroups of whole simdgroups, of whole halves and of others.
// report: half a simdgroup at a time
// run: blocked --grid 16,8 --group 16,8 0=iota:u32:768 1=iota:u32:1536 2=zeros:f32:2048 3=u32:24
// expect: 2: 119 142 130 128 141 119 142 130 128 141 119 142 130 128 141 119 142 130 128 141 119 142 130 128 141 119 142 130 128 141 119 142 130 128 141 119 142 130 128 141 119 142 130 128 141 119 142 130 128 141 119 142 130 128 141 119 142 130 128 141 119 142 130 128 148 163 128 153 158 148 163 128 153 158 148 163 128 153 158 148 163 128 153 158 148 163 128 153 158 148 163 128 153 158 148 163 128 153 158 148 163 128 153 158 148 163 128 153 158 148 163 128 153 158 148 163 128 153 158 148 163 128 153 158 148 163 128 153 135 135 140 150 140 135 135 140 150 140 135 135 140 150 140 135 135 140 150 140 135 135 140 150 140 135 135 140 150 140 135 135 140 150 140 135 135 140 150 140 135 135 140 150 140 135 135 140 150 140 135 135 140 150 140 135 135 140 150 140 135 135 140 150 143 149 145 126 157 143 149 145
// run: tree --grid 512 --group 256 0=iota:u32:500 1=zeros:u32:2 2=u32:5
// expect: 1: 1331089 1315547
// run: tree --grid 300 --group 100 0=iota:u32:500 1=zeros:u32:3 2=u32:5
// expect: 1: 519836 520084 519969
// run: tree --grid 96 --group 48 0=iota:u32:500 1=zeros:u32:2 2=u32:5
// expect: 1: 249398 249934
// run: tree --grid 40 --group 20 0=iota:u32:500 1=zeros:u32:2 2=u32:5
// expect: 1: 104280 103611
// run: tree --grid 66 --group 33 0=iota:u32:500 1=zeros:u32:2 2=u32:5
// expect: 1: 171600 171600
// run: some --grid 64 --group 64 0=u32:3,3 1=zeros:u32:64
// expect: 1: 6528 7072 7616 8160 8704 9248 9792 10336 10880 11424 11968 12512 13056 13600 14144 14688 15232 15776 16320 16864 17408 17952 18496 19040 19584 20128 20672 21216 21760 22304 21296 20385 19571 18854 18234 17711 17285 16956 16724 16589 16551 16610 16766 17019 17369 18344 18359 18405 17458 15582 13865 12307 10908 9668 8587 7665 6902 6298 5853 5567 5440 5472 5696 6048
// run: some --grid 96 --group 96 0=u32:3,3,3 1=zeros:u32:96
// expect: 1: 6528 7072 7616 8160 8704 9248 9792 10336 10880 11424 11968 12512 13056 13600 14144 14688 15232 15776 16320 16864 17408 17952 18496 19040 19584 20128 20672 21216 21760 22304 21296 20385 19571 18854 18234 17711 17285 16956 16724 16589 16551 16610 16766 17019 17369 17816 18360 18904 19448 19992 20536 21080 21624 22168 22712 23256 23800 24344 24888 25432 25976 26520 27064 27608 28152 28696 29240 29784 30328 30872 31416 31960 32504 33048 33592 34136 34680 35240 34263 33381 31058 27390 24009 20915 18108 15588 13355 11409 9750 8378 7293 6495 5984 5760 5824 6080
// run: some --grid 128 --group 128 0=u32:3,3,3,3 1=zeros:u32:128
// expect: 1: 6528 7072 7616 8160 8704 9248 9792 10336 10880 11424 11968 12512 13056 13600 14144 14688 15232 15776 16320 16864 17408 17952 18496 19040 19584 20128 20672 21216 21760 22304 21296 20385 19571 18854 18234 17711 17285 16956 16724 16589 16551 16610 16766 17019 17369 17816 18360 18904 19448 19992 20536 21080 21624 22168 22712 23256 23800 24344 24888 25432 25976 26520 27064 27608 28152 28696 29240 29784 30328 30872 31416 31960 32504 33048 33592 34136 34680 35224 35768 34760 33849 31483 29311 27333 25549 23959 22563 21361 20353 19539 18919 18493 18261 18223 18379 18729 19176 19720 20264 20808 21352 21896 22440 22984 23528 24072 24616 25160 25704 25752 25335 24980 24191 21447 18924 16622 14541 12681 11042 9624 8427 7451 6696 6162 5849 5757 5855 6112
// run: some --grid 48 --group 48 0=u32:3,3 1=zeros:u32:48
// expect: 1: 6528 7072 7616 8160 8704 9248 9792 10336 10880 11424 11968 12512 13056 13600 14144 14688 15232 15776 16320 16864 17408 17952 18496 19040 19584 20128 20672 21216 21760 21536 20592 19744 18224 16080 14128 12368 10800 9424 8240 7248 6448 5840 5424 5200 5168 5328 5632 6032
#include <metal_stdlib>
using namespace metal;

kernel void blocked(device const uint *a [[buffer(0)]],
                    device const uint *b [[buffer(1)]],
                    device float *c [[buffer(2)]],
                    constant uint &inner [[buffer(3)]],
                    uint2 l [[thread_position_in_threadgroup]]) {
  threadgroup float left[8][32], right[8][64];
  const uint index = l.y * 16 + l.x;
  float sums[4][4] = {};
  for (uint begin = 0; begin < inner; begin += 8) {
    for (uint i = index; i < 256; i += 128) {
      left[i / 32][i % 32] = float(((i % 32) * inner + begin + i / 32) % 7) +
                             0 * float(a[i % (inner * 32)]);
    }
    for (uint i = index; i < 512; i += 128) {
      right[i / 64][i % 64] = float(b[(begin + i / 64) * 64 + i % 64] * 3 % 5);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint k = 0; k < 8; k++) {
      for (uint i = 0; i < 4; i++) {
        for (uint j = 0; j < 4; j++) {
          sums[i][j] += left[k][l.y * 4 + i] * right[k][l.x * 4 + j];
        }
      }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  for (uint i = 0; i < 4; i++) {
    for (uint j = 0; j < 4; j++) {
      c[(l.y * 4 + i) * 64 + l.x * 4 + j] = sums[i][j];
    }
  }
}

kernel void tree(device const uint *in [[buffer(0)]],
                 device uint *out [[buffer(1)]],
                 constant uint &turns [[buffer(2)]],
                 uint l [[thread_position_in_threadgroup]],
                 uint at [[thread_position_in_grid]],
                 uint group [[threadgroup_position_in_grid]],
                 uint threads [[threads_per_threadgroup]]) {
  threadgroup uint cells[256];
  uint sums[16] = {};
  for (uint i = 0; i < turns; i++) {
    for (uint j = 0; j < 16; j++) {
      sums[j] += in[(at + i * 16 + j) % 500] % 11 * (j + 1);
    }
  }
  uint sum = 0;
  for (uint j = 0; j < 16; j++) {
    sum += sums[j] * (1 + (j & 1));
  }
  cells[l] = sum;
  for (uint stride = 128; stride > 0; stride /= 2) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (l < stride && l + stride < threads) {
      cells[l] += cells[l + stride];
    }
  }
  if (l == 0) {
    out[group] = cells[0];
  }
}

kernel void some(device const uint *counts [[buffer(0)]],
                 device uint *out [[buffer(1)]],
                 uint l [[thread_position_in_threadgroup]],
                 uint threads [[threads_per_threadgroup]]) {
  threadgroup uint cells[128];
  uint sums[16] = {};
  cells[l] = l;
  for (uint t = 0; t < counts[l / 32]; t++) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint j = 0; j < 16; j++) {
      sums[j] += cells[(l + j + t) % threads];
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    uint next = 0;
    for (uint j = 0; j < 16; j++) {
      next = j == t % 16 ? sums[j] % 97 : next;
    }
    cells[l] = next;
  }
  uint all = 0;
  for (uint j = 0; j < 16; j++) {
    all += sums[j] * (j + 1);
  }
  out[l] = all % 1000003;
}
