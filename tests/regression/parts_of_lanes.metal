// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Addresses made of a thread's index divided and its remainder, as those of
// quantised products: even steps, patterns of words and of bytes that threads
// share, loops that some threads leave before others, indices that wrap, and
// tables of sixteen entries and fewer.
// run: dense --grid 64 --group 64 0=iota:f32:2048 1=zeros:f32:64 2=i32:64
// expect: 1: 47892 49364 50836 52308 53780 55252 56724 58196 59668 61140 62612 64084 65556 67028 68500 69972 71444 72916 74388 75860 77332 78804 80276 81748 83220 84692 86164 87636 89108 90580 92052 93524 94996 96468 97940 99412 100884 102356 103828 105300 106772 108244 109716 111188 112660 114132 115604 117076 118548 120020 121492 122964 124436 125908 127380 128852 130324 131796 133268 134740 136212 137684 139156 140628
// run: dense --grid 64 --group 64 0=iota:f32:2048 1=zeros:f32:64 2=i32:40
// expect: 1: 47892 49364 50836 52308 53780 55252 56724 58196 59668 61140 62612 64084 65556 67028 68500 69972 12170 12906 13642 14378 15114 15850 16586 17322 18058 18794 19530 20266 21002 21738 22474 23210 23946 24682 25418 26154 26890 27626 28362 29098 29834 30570 31306 32042 32778 33514 34250 34986 35722 36458 37194 37930 38666 39402 40138 40874 41610 42346 43082 43818 44554 45290 46026 46762
// run: dense --grid 64 --group 32 0=iota:f32:2048 1=zeros:f32:64 2=i32:33
// expect: 1: 47892 49364 1866 2602 3338 4074 4810 5546 6282 7018 7754 8490 9226 9962 10698 11434 12170 12906 13642 14378 15114 15850 16586 17322 18058 18794 19530 20266 21002 21738 22474 23210 47892 49364 1866 2602 3338 4074 4810 5546 6282 7018 7754 8490 9226 9962 10698 11434 12170 12906 13642 14378 15114 15850 16586 17322 18058 18794 19530 20266 21002 21738 22474 23210
// run: halves --grid 32 --group 32 0=iota:u8:576 1=zeros:u32:32 2=i32:32
// expect: 1: 47520 56770 69364 53944 91208 59342 113052 72964 102002 94808 99176 116652 104574 138496 118196 160340 140040 149290 161884 146464 183728 151862 205572 165484 190410 170880 109456 126932 102518 132328 46236 88380
// run: halves --grid 64 --group 64 0=iota:u8:576 1=zeros:u32:64 2=i32:21
// expect: 1: 47520 56770 69364 53944 91208 59342 113052 72964 102002 94808 44448 53186 47147 64108 53958 75030 64880 69505 75802 68092 86724 70791 97646 77602 92121 88524 90708 99446 81071 93920 17978 39050 47520 56770 69364 53944 91208 59342 113052 72964 102002 94808 44448 53186 47147 64108 53958 75030 64880 69505 75802 68092 86724 70791 97646 77602 92121 88524 90708 99446 81071 93920 17978 39050
// run: halves --grid 32 --group 32 0=iota:u8:576 1=zeros:u32:32 2=i32:5
// expect: 1: 18620 23245 29542 21832 40464 24531 51386 31342 45861 42264 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
// run: words --grid 32 --group 32 0=iota:u8:840 1=zeros:u32:32 2=i32:4
// expect: 1: 96932 73760 97124 73952 97316 71558 97456 69042 97660 69176 97852 69368 98044 69534 98184 69674 98628 70336 98820 70528 99012 70694 99152 70834 99356 71064 99548 71256 99740 71422 99880 71562
// run: words --grid 32 --group 32 0=iota:u8:840 1=zeros:u32:32 2=i32:3
// expect: 1: 96932 48562 97124 48658 97316 48754 97456 48728 97660 48734 97852 48830 98044 48926 98184 48996 98628 49314 98820 49410 99012 49506 99152 49576 99356 49678 99548 49774 99740 49870 99880 49940
// run: words --grid 32 --group 32 0=iota:u8:840 1=zeros:u32:32 2=i32:1
// expect: 1: 62612 0 62708 0 62804 0 62900 0 62976 0 63072 0 63168 0 63264 0 63556 0 63652 0 63748 0 63844 0 63920 0 64016 0 64112 0 64208 0
// run: shared_places --grid 96 --group 32 0=iota:u16:120 1=zeros:u32:96 2=i32:3
// expect: 1: 400 504 582 686 504 608 686 790 400 504 582 686 504 608 686 790 413 517 595 699 517 621 699 803 413 517 595 699 517 621 699 803 400 504 582 686 504 608 686 790 400 504 582 686 504 608 686 790 413 517 595 699 517 621 699 803 413 517 595 699 517 621 699 803 400 504 582 686 504 608 686 790 400 504 582 686 504 608 686 790 413 517 595 699 517 621 699 803 413 517 595 699 517 621 699 803
// run: shared_places --grid 96 --group 48 0=iota:u16:120 1=zeros:u32:96 2=i32:2
// expect: 1: 80 112 136 168 112 144 168 200 80 112 136 168 112 144 168 200 84 116 140 172 116 148 172 204 84 116 140 172 116 148 172 204 80 112 136 168 112 144 168 200 80 112 136 168 112 144 168 200 80 112 136 168 112 144 168 200 80 112 136 168 112 144 168 200 84 116 140 172 116 148 172 204 84 116 140 172 116 148 172 204 80 112 136 168 112 144 168 200 80 112 136 168 112 144 168 200
// run: wrapped --grid 32 --group 32 0=iota:u32:40 1=zeros:u32:32 2=u32:0
// expect: 1: 0 1 102 103 204 205 306 307 408 409 510 511 612 613 714 715 816 817 918 919 1020 1021 1122 1123 1224 1225 1326 1327 1428 1429 1530 1531
// run: wrapped --grid 32 --group 32 0=iota:u32:40 1=zeros:u32:32 2=u32:8
// expect: 1: 808 809 910 911 1012 1013 1114 1115 1216 1217 1318 1319 1420 1421 1522 1523 1624 1625 1726 1727 1828 1829 1930 1931 2032 2033 2134 2135 2236 2237 2338 2339
// run: wrapped --grid 32 --group 32 0=iota:u32:40 1=zeros:u32:32 2=u32:4294967288
// expect: 1: 0 0 0 0 0 0 0 0 0 1 2 3 4 5 6 7 8 9 110 111 212 213 314 315 416 417 518 519 620 621 722 723
// run: wrapped --grid 32 --group 32 0=iota:u32:40 1=zeros:u32:32 2=u32:4294967293
// expect: 1: 0 0 0 0 1 2 3 4 105 106 207 208 309 310 411 412 513 514 615 616 717 718 819 820 921 922 1023 1024 1125 1126 1227 1228
// run: wrapped --grid 32 --group 32 0=iota:u32:40 1=zeros:u32:32 2=u32:2147483640
// expect: 1: 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
// run: tables --grid 64 --group 64 0=iota:u8:64 1=zeros:f32:64 2=iota:f32:12 3=i32:3,-1,4,-1,5,-9,2,6 4=iota:i32:32 tg0=64
// expect: 1: 226054 105902 49971 2066 -43866 -130043 -207958 226096 105968 50023 2105 -70064 -130000 -207925 177910 106002 50064 -20127 -70012 -129960 -207864 177956 106052 50110 -20061 -69971 -129925 -254051 177999 106089 25913 -20013 -69930 -166114 -254013 178050 106150 25973 -19974 -69888 -166048 -253961 178089 75920 26016 -19941 -98074 -166014 -253920 137889 75972 26056 -19880 -98028 -165964 -253874 137955 76013 26091 -44067 -97985 -165927 225897 138003
// run: tables --grid 64 --group 32 0=iota:u8:64 1=zeros:f32:64 2=iota:f32:12 3=i32:3,-1,4,-1,5,-9,2,6 4=iota:i32:32 tg0=64
// expect: 1: 226054 105902 49971 2066 -43866 -130043 -207958 226096 105968 50023 2105 -70064 -130000 -207925 177910 106002 50064 -20127 -70012 -129960 -207864 177956 106052 50110 -20061 -69971 -129925 -254051 177999 106089 25913 -20013 -69930 -166114 -254013 178050 106150 25973 -19974 -69888 -166048 -253961 178089 75920 26016 -19941 -98074 -166014 -253920 137889 75972 26056 -19880 -98028 -165964 -253874 137955 76013 26091 -44067 -97985 -165927 225897 138003
#include <metal_stdlib>
using namespace metal;

// As ggml's products of dense matrices: sixteen elements a thread.
kernel void dense(device const float4 *x [[buffer(0)]],
                  device float *y [[buffer(1)]], constant int &n [[buffer(2)]],
                  ushort lane [[thread_index_in_simdgroup]],
                  ushort group [[simdgroup_index_in_threadgroup]],
                  uint t [[thread_position_in_grid]]) {
  const short row = lane / 2, part = lane % 2;
  float sum = 0;
  for (int i = group * 16 + row; i < n; i += 32) {
    device const float4 *p = x + (i * 32 + part * 16) / 4;
    for (short k = 0; k < 4; k++) sum += dot(p[k], float4(1, 2, 3, 4 + k));
  }
  y[t] = sum;
}

struct block {
  ushort scale;
  uchar q[16];
};

// Half a block of eighteen bytes a thread.
kernel void halves(device const block *x [[buffer(0)]],
                   device uint *y [[buffer(1)]], constant int &n [[buffer(2)]],
                   ushort lane [[thread_index_in_simdgroup]],
                   uint t [[thread_position_in_grid]]) {
  const short row = lane / 2, part = lane % 2 * 8;
  uint sum = 0;
  for (int i = row; i < n; i += 16) {
    device const ushort *q = (device const ushort *)(x[i].q + part);
    for (short k = 0; k < 4; k++) sum += (q[k] & 0x0f0f) * (k + 1) + q[k] / 16;
    sum += x[i].scale;
  }
  y[t] = sum;
}

struct wide {
  uchar low[128];
  uchar high[64];
  uchar scales[16];
  ushort d;
};

// Words, bytes that threads share and one number for all of a block.
kernel void words(device const wide *x [[buffer(0)]],
                  device uint *y [[buffer(1)]], constant int &n [[buffer(2)]],
                  ushort lane [[thread_index_in_simdgroup]],
                  uint t [[thread_position_in_grid]]) {
  const short place = lane / 2, first = lane % 2;
  const short part = place / 8, l = place % 8 * 4;
  const short is = 8 * part + l / 16;
  uint sum = 0;
  for (int i = first; i < n; i += 2) {
    device const uchar *q = x[i].low + 64 * part + l;
    device const uchar *h = x[i].high + 32 * part + l;
    device const uchar *s = x[i].scales + is;
    for (short k = 0; k < 4; k++)
      sum += (q[k] & 15) + 3 * (q[k + 32] >> 4) + 5 * h[k];
    sum += s[0] + 7 * s[2] + 11 * s[4] + 13 * s[6] + x[i].d;
  }
  y[t] = sum;
}

// The same place for threads whose numbers differ in some bits.
kernel void shared_places(device const ushort *x [[buffer(0)]],
                          device uint *y [[buffer(1)]],
                          constant int &n [[buffer(2)]],
                          uint lane [[thread_index_in_threadgroup]],
                          uint t [[thread_position_in_grid]]) {
  uint sum = 0;
  for (int i = 0; i < n; i++)
    sum = 3 * sum + x[i * 40 + (lane >> 4 & 1) + (lane & 3) * 7] +
          x[i * 40 + (lane & 4) * 2 + (lane & 1)];
  y[t] = sum;
}

// An index that wraps around between threads, of which those in front of that
// place do not load.
kernel void wrapped(device const uint *x [[buffer(0)]],
                    device uint *y [[buffer(1)]],
                    constant uint &base [[buffer(2)]],
                    ushort lane [[thread_index_in_simdgroup]],
                    uint t [[thread_position_in_grid]]) {
  const uint i = lane / 2 * 2 + lane % 2 + base;
  const uint j = lane / 2 + base;
  uint sum = 0;
  if (i < 40) sum = x[i];
  if (j < 40) sum += 100 * x[j];
  y[t] = sum;
}

constant float sixteen[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                              1,    13,   25,  38,  53,  69,  89,  113};

// Tables of so many entries as an index of few bits counts, and fewer.
kernel void tables(device const uchar *x [[buffer(0)]],
                   device float *y [[buffer(1)]],
                   device const float *twelve [[buffer(2)]],
                   device const int *eight [[buffer(3)]],
                   device const int *many [[buffer(4)]],
                   threadgroup float *own [[threadgroup(0)]],
                   ushort lane [[thread_index_in_threadgroup]],
                   uint t [[thread_position_in_grid]]) {
  if (lane < 16) own[lane] = 2 * sixteen[15 - lane];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  const uint q = x[t] * 37 + 11;
  float sum = sixteen[q & 15] + 1000 * own[q >> 4 & 15];
  if (q & 16) sum += eight[q >> 2 & 7];
  sum += many[q >> 1 & 31];
  if ((q & 15) < 12) sum += twelve[q & 15];
  y[t] = sum;
}
