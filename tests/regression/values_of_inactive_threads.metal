// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shuffles that read threads which take no part in them: each has the value
// that the variable had for it in front of the branch. The values below come of
// a register a thread. Reductions leave such threads out.
// checked: sync.simdgroup
// run: scan --grid 32 0=iota:i32:32 1=zeros:i32:32
// expect: 1: 0 1 3 6 10 15 21 28 36 45 55 66 78 91 105 120 136 153 171 190 210 231 253 276 300 325 351 378 406 435 465 496
// not on cuda: the value of an inactive thread
// run: tree --grid 32 0=iota:f32:32 1=zeros:f32:32
// expect: 1: 496 256 128 136 64 68 72 76 32 34 36 38 40 42 44 46 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31
// not on cuda: the value of an inactive thread
// run: made_in_front --grid 32 0=iota:f32:32 1=zeros:f32:32
// expect: 1: 34 36 38 40 42 44 46 48 50 52 54 56 58 60 62 64 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1
// not on cuda: the value of an inactive thread
// run: pairs --grid 32 0=iota:i32:128 1=zeros:i32:128
// expect: 1: 0 1 2 3 4 6 8 10 8 9 10 11 20 22 24 26 16 17 18 19 36 38 40 42 24 25 26 27 52 54 56 58 32 33 34 35 68 70 72 74 40 41 42 43 84 86 88 90 48 49 50 51 100 102 104 106 56 57 58 59 116 118 120 122 64 65 66 67 132 134 136 138 72 73 74 75 148 150 152 154 80 81 82 83 164 166 168 170 88 89 90 91 180 182 184 186 96 97 98 99 196 198 200 202 104 105 106 107 212 214 216 218 112 113 114 115 228 230 232 234 120 121 122 123 244 246 248 250
// not on cuda: the value of an inactive thread
// run: two --grid 32 0=iota:i32:32 1=zeros:i32:64
// expect: 1: 0 0 1 3 -1 6 6 9 -11 12 15 15 -27 18 28 21 -43 24 45 27 -65 30 66 33 -87 36 91 39 -109 42 120 45 -131 48 153 51 -159 54 190 57 -187 60 231 63 -215 66 276 69 -243 72 325 75 -271 78 378 81 -299 84 435 87 -327 90 496 93
// not on cuda: the value of an inactive thread
// run: returned --grid 32 0=iota:i32:32 1=zeros:i32:32
// expect: 1: 85 92 99 106 113 120 127 134 141 148 155 162 169 176 183 190 197 204 211 218 0 0 0 0 0 0 0 0 0 0 0 0
// not on cuda: the value of an inactive thread
// run: leaving --grid 32 0=iota:i32:32 1=zeros:i32:32
// expect: 1: 961 1861 2702 3486 4215 4891 5516 6092 6621 7105 7546 7946 8307 8631 8920 9176 9401 9597 9766 9910 10031 10131 10212 10276 10325 10361 10386 10402 10411 10415 10416 10416
// not on cuda: the value of an inactive thread
// run: halves --grid 32 0=iota:f16:32 1=zeros:f16:32
// expect: 1: 3 7 2 7 7 21 6 19 11 31 10 31 15 43 14 43 19 55 18 55 23 67 22 67 27 79 26 79 31 91 30 91
// not on cuda: the value of an inactive thread
// run: sums --grid 32 0=iota:i32:32 1=zeros:i32:32
// expect: 1: 75420 102421 130422 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24220 49220 75220 102220 130220 159220 189220 220220
// not on cuda: the value of an inactive thread
// run: ahead --grid 32 0=iota:i32:32 1=zeros:i32:32
// expect: 1: 1616 1617 1618 1619 1620 1621 1622 1623 1624 1625 1626 1627 1628 1629 1630 1631 1280 1360 1440 1520 1600 1680 1760 1840 1920 2000 2080 2160 2240 2320 2400 2480
// not on cuda: the value of an inactive thread
#include <metal_stdlib>
using namespace metal;

kernel void scan(device const int *x [[buffer(0)]],
                 device int *y [[buffer(1)]],
                 uint lane [[thread_index_in_simdgroup]]) {
  int sum = x[lane];
  for (ushort d = 1; d < 32; d *= 2)
    if (lane >= d) sum += simd_shuffle_up(sum, d);
  y[lane] = sum;
}

kernel void tree(device const float *x [[buffer(0)]],
                 device float *y [[buffer(1)]],
                 uint lane [[thread_index_in_simdgroup]]) {
  float v = x[lane];
  if (lane < 16) v += simd_shuffle_down(v, 16);
  if (lane < 8) v += simd_shuffle_down(v, 8);
  if (lane < 4) v += simd_shuffle_down(v, 4);
  if (lane < 2) v += simd_shuffle_down(v, 2);
  if (lane < 1) v += simd_shuffle_down(v, 1);
  y[lane] = v;
}

// The value is used behind the branch alone: nothing may make it there.
kernel void made_in_front(device const float *x [[buffer(0)]],
                          device float *y [[buffer(1)]],
                          uint lane [[thread_index_in_simdgroup]]) {
  const float v = x[lane] + 1;
  float r = -1;
  if (lane < 16) r = simd_shuffle_down(v * 2, 16);
  y[lane] = r;
}

kernel void pairs(device const int4 *x [[buffer(0)]],
                  device int4 *y [[buffer(1)]],
                  uint lane [[thread_index_in_simdgroup]]) {
  int4 v = x[lane];
  if (lane & 1) v += simd_shuffle_xor(v, 1);
  y[lane] = v;
}

// Two values through one branch, and branches in a branch.
kernel void two(device const int *x [[buffer(0)]],
                device int *y [[buffer(1)]],
                uint lane [[thread_index_in_simdgroup]]) {
  int s = x[lane], m = 3 * x[lane];
  for (uint d = 1; d < 32; d <<= 1) {
    if (lane >= d) {
      if (lane & 1) {
        s += simd_shuffle_up(s, d);
        m = max(m, simd_shuffle_up(m, d) + 1);
      } else {
        s -= simd_shuffle_up(m, d);
      }
    }
  }
  y[2 * lane] = s;
  y[2 * lane + 1] = m;
}

kernel void returned(device const int *x [[buffer(0)]],
                     device int *y [[buffer(1)]],
                     uint lane [[thread_index_in_simdgroup]]) {
  const int v = 7 * x[lane] + 1;
  if (lane >= 20) return;
  y[lane] = simd_shuffle_down(v, 12);
}

// The threads of a loop become fewer.
kernel void leaving(device const int *x [[buffer(0)]],
                    device int *y [[buffer(1)]],
                    uint lane [[thread_index_in_simdgroup]]) {
  const int v = x[lane] * x[lane];
  int sum = 0;
  for (uint k = 0; k <= lane; ++k) sum += simd_shuffle(v, (ushort)(31 - k));
  y[lane] = sum;
}

kernel void halves(device const half *x [[buffer(0)]],
                   device half *y [[buffer(1)]],
                   uint lane [[thread_index_in_simdgroup]]) {
  half v = x[lane];
  if (lane % 4 == 0) v = quad_broadcast(v, 3);
  if (lane == 5) v = simd_broadcast(v, 7);
  if (lane % 4 == 1) v += quad_shuffle_xor(v, 2) + quad_shuffle_down(v, 2);
  if (lane % 4 == 3) v += quad_shuffle_up(v, 1) + simd_shuffle_rotate_up(v, 1);
  y[lane] = v;
}

// Nothing but the threads of the branch is in a sum.
kernel void sums(device const int *x [[buffer(0)]], device int *y [[buffer(1)]],
                 uint lane [[thread_index_in_simdgroup]]) {
  int v = x[lane];
  if (lane >= 24) v = simd_sum(v) + 1000 * simd_prefix_inclusive_sum(v);
  if (lane < 3) v += 100 * simd_max(v) + simd_shuffle_down(v, 26);
  y[lane] = v;
}

// Threads wait between the branch and the shuffle, and write the variable when
// they are ahead.
kernel void ahead(device const int *x [[buffer(0)]],
                  device int *y [[buffer(1)]],
                  uint lane [[thread_index_in_simdgroup]]) {
  int v = x[lane];
  if (lane < 16) {
    const int all = simd_sum(1);
    y[lane] = simd_shuffle_down(v, 16) + 100 * all;
  } else {
    v = simd_sum(5) * v;
    y[lane] = v;
  }
}
