// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Each thread reads several elements that lie side by side in a row of its own,
// of every size, at indices that wrap, in threads that do not all run.
// run: walk --grid 37 --group 32 0=iota:i32:481 1=zeros:i32:37 2=u32:13
// expect: 1: 382109 2345367 1146330 2253133 1844671 382109 2345367 1146330 2253133 1844671 382109 2345367 1146330 2253133 1844671 382109 2345367 1146330 2253133 1844671 382109 2345367 1146330 2253133 1844671 382109 2345367 1146330 2253133 1844671 382109 2345367 1146330 2253133 1844671 382109 2345367
// run: walk --grid 37 --group 32 0=iota:i32:296 1=zeros:i32:37 2=u32:8
// expect: 1: 1571 9651 4716 9271 7591 1571 9651 4716 9271 7591 1571 9651 4716 9271 7591 1571 9651 4716 9271 7591 1571 9651 4716 9271 7591 1571 9651 4716 9271 7591 1571 9651 4716 9271 7591 1571 9651
// run: walk --grid 37 --group 32 0=iota:i32:111 1=zeros:i32:37 2=u32:3
// expect: 1: 5 39 18 37 31 5 39 18 37 31 5 39 18 37 31 5 39 18 37 31 5 39 18 37 31 5 39 18 37 31 5 39 18 37 31 5 39
// run: triangle --grid 37 --group 64 0=iota:i32:1480 1=zeros:i32:37
// expect: 1: 0 40 161 363 646 1010 1455 1981 2588 3276 4045 4895 5826 6838 7931 9105 10360 11696 13113 14611 16190 17850 19591 21413 23316 25300 27365 29511 31738 34046 36435 38905 41456 44088 46801 49595 52470
// run: halves --grid 37 --group 32 0=ones:f16:740 1=zeros:f16:37
// expect: 1: 10 10 10 10 10 10 10 10 10 10 10 10 10 10 10 10 10 10 10 10 10 10 10 10 10 10 10 10 10 10 10 10 10 10 10 10 10
// run: bytes --grid 37 --group 32 0=iota:u8:592 1=zeros:u32:37 2=u32:16
// expect: 1: 1360 3536 5712 7888 10064 12240 14416 16592 18768 20944 23120 25296 27472 29648 31824 34000 1360 3536 5712 7888 10064 12240 14416 16592 18768 20944 23120 25296 27472 29648 31824 34000 1360 3536 5712 7888 10064
// run: bytes --grid 37 --group 32 0=iota:u8:1295 1=zeros:u32:37 2=u32:35
// expect: 1: 14280 36330 58380 80430 102480 124530 146580 24246 29400 51450 73500 95550 117600 139650 65188 22470 44520 66570 88620 110670 132720 137106 15540 37590 59640 81690 103740 125790 147840 20130 30660 52710 74760 96810 118860 140910 55440
// run: wrapped --grid 4 --group 32 0=iota:i32:72 1=zeros:i32:4 2=u32:4294967292,4294967290,0,4294967288
// expect: 1: 38006 30001 54028 22000
// run: narrow --grid 7 --group 32 0=iota:i32:65536 1=zeros:i32:7 2=u16:65530,65535,32764,32767,0,7,40000
// expect: 1: 17300161 9175092 9141487 8552500 786763 788716 10373899
// run: structures --grid 64 --group 32 0=iota:i32:420 1=zeros:i32:64
// expect: 1: 58 394 1018 1930 3130 4618 6394 8458 10810 13450 16378 19594 23098 26890 30970 35338 39994 44938 50170 55690 61498 67594 73978 80650 87610 94858 102394 110218 118330 126730 135418 144394 153274 162826 172666 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
// run: chosen --grid 37 --group 32 0=f32:0.5,i32:0,f16:0,f16:1,u8:1,u8:2,u8:3,u8:4,f32:0,f32:2,f32:4,f32:0,f32:1,f32:2,f32:3,f32:5,u64:25769803785,u64:0,f32:1.5,i32:2,f16:1,f16:2,u8:1,u8:2,u8:4,u8:4,f32:1,f32:2,f32:5,f32:0,f32:1,f32:2,f32:3,f32:6,u64:30064771081,u64:0,f32:2.5,i32:4,f16:2,f16:3,u8:1,u8:2,u8:5,u8:4,f32:2,f32:2,f32:6,f32:0,f32:1,f32:2,f32:3,f32:7,u64:34359738377,u64:0,f32:3.5,i32:6,f16:3,f16:4,u8:1,u8:2,u8:6,u8:4,f32:3,f32:2,f32:7,f32:0,f32:1,f32:2,f32:3,f32:8,u64:38654705673,u64:0,f32:4.5,i32:8,f16:4,f16:5,u8:1,u8:2,u8:7,u8:4,f32:4,f32:2,f32:8,f32:0,f32:1,f32:2,f32:3,f32:9,u64:42949672969,u64:0 1=u32:3,0,2,4,1,3,0,2,4,1,3,0,2,4,1,3,0,2,4,1,3,0,2,4,1,3,0,2,4,1,3,0,2,4,1,3,0 2=zeros:i32:37
// expect: 2: 53 0 43 63 0 53 23 0 63 33 0 23 43 0 33 53 0 43 63 0 53 23 0 63 33 0 23 43 0 33 53 0 43 63 0 53 23
// run: rewritten --grid 37 --group 32 0=iota:i32:333 1=zeros:i32:37
// expect: 1: 103 130 157 184 211 238 265 292 319 346 373 400 427 454 481 508 535 562 589 616 643 670 697 724 751 778 805 832 859 886 913 940 967 994 1021 1048 1075
#include <metal_stdlib>
using namespace metal;

kernel void walk(device const int *x [[buffer(0)]],
                 device int *sums [[buffer(1)]],
                 constant uint &length [[buffer(2)]],
                 uint row [[thread_position_in_grid]]) {
  int sum = 0;
  for (uint k = 0; k < length; k++) {
    sum = sum * 3 + x[row * length + k] % 5;
  }
  sums[row] = sum;
}

// Each thread's row is as long as its number.
kernel void triangle(device const int *x [[buffer(0)]],
                     device int *sums [[buffer(1)]],
                     uint row [[thread_position_in_grid]]) {
  int sum = 0;
  for (uint k = 0; k < row; k++) {
    sum += x[row * 40 + k];
  }
  sums[row] = sum;
}

kernel void halves(device const half *x [[buffer(0)]],
                   device half *sums [[buffer(1)]],
                   uint row [[thread_position_in_grid]]) {
  device const half *own = x + row * 20;
  half sum = 0;
  for (int k = 0; k < 20; k++) {
    sum = fma(own[k], half(0.5), sum);
  }
  sums[row] = sum;
}

kernel void bytes(device const uchar *x [[buffer(0)]],
                  device uint *sums [[buffer(1)]],
                  constant uint &length [[buffer(2)]],
                  uint row [[thread_position_in_grid]]) {
  uint sum = 0;
  for (uint k = 0; k < length; k++) {
    sum += x[row * length + k] * (k + 1);
  }
  sums[row] = sum;
}

// 32-bit indices that wrap inside a row: from 4294967292 on to 3.
kernel void wrapped(device const int *x [[buffer(0)]],
                    device int *sums [[buffer(1)]],
                    device const uint *starts [[buffer(2)]],
                    uint row [[thread_position_in_grid]]) {
  int sum = 0;
  for (uint k = 0; k < 8; k++) {
    const uint at = starts[row] + k;
    sum += at < 64 ? x[at] : 0;
  }
  device const int *end = x + 8;
  for (uint k = 4; k < 8; k++) {
    sum += 1000 * end[int(starts[row] + k)];
  }
  sums[row] = sum;
}

// Indices of 16 bits do so where there is memory on both sides, as signed ones
// do at -1.
kernel void narrow(device const int *x [[buffer(0)]],
                   device int *sums [[buffer(1)]],
                   device const ushort *starts [[buffer(2)]],
                   uint row [[thread_position_in_grid]]) {
  int sum = 0;
  for (int k = 0; k < 8; k++) {
    sum = sum * 2 + x[ushort(starts[row] + k)];
  }
  device const int *middle = x + 32768;
  for (int k = 0; k < 8; k++) {
    sum += 3 * middle[short(starts[row] + k)];
  }
  sums[row] = sum;
}

// A structure for each thread; the last ones do nothing.
struct pair_of_rows {
  int4 a, b, c;
};
kernel void structures(device const pair_of_rows *p [[buffer(0)]],
                       device int *sums [[buffer(1)]],
                       uint i [[thread_position_in_grid]],
                       uint in_group [[thread_position_in_threadgroup]]) {
  if (i >= 35) {
    return;
  }
  sums[i] = p[i].a.x - p[i].a.w + p[i].b.y * p[i].c.z + p[in_group].c.w;
}

struct particle {
  float mass;
  int kind;
  half2 charge;
  uchar4 colour;
  float3 at;
  float4 speed;
  ulong name;
};

kernel void chosen(device const particle *p [[buffer(0)]],
                   device const uint *which [[buffer(1)]],
                   device int *out [[buffer(2)]],
                   uint i [[thread_position_in_grid]]) {
  if (i % 3 == 1) {
    return;
  }
  const particle own = p[which[i]];
  out[i] = int(own.mass) + own.kind + int(own.charge.y) + own.colour.z +
           int(own.at.x + own.at.y * own.at.z) + int(own.speed.w) +
           int(own.name >> 32);
}

// A store between two loads of a row may change it.
kernel void rewritten(device int *x [[buffer(0)]],
                      device int *sums [[buffer(1)]],
                      uint row [[thread_position_in_grid]]) {
  device int *own = x + row * 9;
  int sum = own[0] + own[1];
  own[3] = 100;
  sum += own[2] + own[3];
  sums[row] = sum;
}
