// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loops that sum up more than the registers hold, which go round in parts: each
// thread's 4 x 4 or 8 x 8 elements of a product of matrices, side by side,
// sixteen apart, as vectors, with other sums beside them, and no turns at all.
// run: squares --grid 16,16 --group 16,16 0=iota:f32:4096 1=iota:f32:4096 2=zeros:f32:4096 3=zeros:u32:1 4=u32:64
// expect: 2: 5462016 5464031 5466046 5468061 5470080 5472095 5474110 5476125 5478144 5480159 5482174 5484189 5486208 5488223 5490238 5492253
// expect: 3: 0
// run: squares --grid 16,16 --group 16,16 0=iota:f32:4096 1=iota:f32:4096 2=zeros:f32:4096 3=zeros:u32:1 4=u32:19
// expect: 2: 134976 135146 135316 135486 135660 135830 136000 136170 136344 136514 136684 136854 137028 137198 137368 137538
// expect: 3: 0
// run: squares --grid 16,16 --group 16,16 0=iota:f32:4096 1=iota:f32:4096 2=zeros:f32:4096 3=zeros:u32:1 4=u32:0
// expect: 2: 0 -1 -2 -3 0 -1 -2 -3 0 -1 -2 -3 0 -1 -2 -3
// expect: 3: 0
// run: squares_of_zero --grid 16,16 --group 16,16 0=iota:f32:4096 1=iota:f32:4096 2=zeros:f32:4096 3=zeros:u32:1 4=u32:64
// expect: 2: 5462016 5464032 5466048 5468064 5470080 5472096 5474112 5476128 5478144 5480160 5482176 5484192 5486208 5488224 5490240 5492256
// expect: 3: 0
// run: squares_of_zero --grid 16,16 --group 16,16 0=iota:f32:4096 1=iota:f32:4096 2=zeros:f32:4096 3=zeros:u32:1 4=u32:19
// expect: 2: 134976 135147 135318 135489 135660 135831 136002 136173 136344 136515 136686 136857 137028 137199 137370 137541
// expect: 3: 0
// run: squares_of_zero --grid 16,16 --group 16,16 0=iota:f32:4096 1=iota:f32:4096 2=zeros:f32:4096 3=zeros:u32:1 4=u32:0
// expect: 2: 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
// expect: 3: 0
// run: large_squares --grid 8,8 --group 8,8 0=iota:f32:4096 1=iota:f32:4096 2=zeros:f32:4096 3=zeros:u32:1 4=u32:64
// expect: 2: 5462016 5464032 5466048 5468064 5470080 5472096 5474112 5476128 5478144 5480160 5482176 5484192 5486208 5488224 5490240 5492256
// expect: 3: 0
// run: large_squares --grid 8,8 --group 8,8 0=iota:f32:4096 1=iota:f32:4096 2=zeros:f32:4096 3=zeros:u32:1 4=u32:0
// expect: 2: 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
// expect: 3: 0
// run: vectors --grid 16,16 --group 16,16 0=iota:f32:4096 1=iota:f32:4096 2=zeros:f32:4096 3=zeros:u32:1 4=u32:64
// expect: 2: 5462017 5464033 5466049 5468065 5470081 5472097 5474113 5476129 5478145 5480161 5482177 5484193 5486209 5488225 5490241 5492257
// expect: 3: 0
// run: vectors --grid 16,16 --group 16,16 0=iota:f32:4096 1=iota:f32:4096 2=zeros:f32:4096 3=zeros:u32:1 4=u32:3
// expect: 2: 321 324 327 330 333 336 339 342 345 348 351 354 357 360 363 366
// expect: 3: 0
// run: vectors --grid 16,16 --group 16,16 0=iota:f32:4096 1=iota:f32:4096 2=zeros:f32:4096 3=zeros:u32:1 4=u32:0
// expect: 2: 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1
// expect: 3: 0
// run: columns --grid 16,16 --group 16,16 0=iota:f32:4096 1=iota:f32:4096 2=zeros:f32:4096 3=zeros:u32:1 4=u32:64
// expect: 2: 5462016 5464032 5466048 5468064 5470080 5472096 5474112 5476128 5478144 5480160 5482176 5484192 5486208 5488224 5490240 5492256
// expect: 3: 0
// run: columns --grid 16,16 --group 16,16 0=iota:f32:4096 1=iota:f32:4096 2=zeros:f32:4096 3=zeros:u32:1 4=u32:1
// expect: 2: 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
// expect: 3: 0
// run: beside --grid 16,16 --group 16,16 0=iota:f32:4096 1=iota:f32:4096 2=zeros:f32:4096 3=zeros:u32:1 4=u32:64
// expect: 2: 5462016 5464032 5466048 5468064 5470080 5472096 5474112 5476128 5478144 5480160 5482176 5484192 5486208 5488224 5490240 5492256
// expect: 3: 0
// run: beside --grid 16,16 --group 16,16 0=iota:f32:4096 1=iota:f32:4096 2=zeros:f32:4096 3=zeros:u32:1 4=u32:5
// expect: 2: 1920 1930 1940 1950 1960 1970 1980 1990 2000 2010 2020 2030 2040 2050 2060 2070
// expect: 3: 0
#include <metal_stdlib>
using namespace metal;

// Rows of a and b are 64 long, an element is its own number; how[0] is how many
// elements of a row of a are used.
#define PARAMETERS                                                          \
  device const float *a [[buffer(0)]], device const float *b [[buffer(1)]], \
      device float *c [[buffer(2)]], device atomic_uint *wrong [[buffer(3)]], \
      constant uint *how [[buffer(4)]],                                     \
      uint2 t [[thread_position_in_threadgroup]],                           \
      uint l [[thread_index_in_threadgroup]]

#define PARAMETERS_OF_SQUARE                                                 \
  device const float *a, device const float *b, device float *c,             \
      device atomic_uint *wrong, constant uint *how, uint2 t, uint l,        \
      threadgroup float(&as)[16][64], threadgroup float(&bs)[16][64]

// Compares an element with one sum's result, and stores it.
static void check(device const float *a, device const float *b,
                  device float *c, device atomic_uint *wrong, uint n,
                  uint row, uint column, float sum, float start) {
  float own = start;
  for (uint k = 0; k < n; k++) {
    own += a[row * 64 + k] * b[k * 64 + column];
  }
  if (own != sum) {
    atomic_fetch_add_explicit(wrong, 1u, memory_order_relaxed);
  }
  c[row * 64 + column] = sum;
}

// Four by four elements side by side, from threadgroup memory. What they begin
// with differs, or does not.
template <int differs>
static void square(PARAMETERS_OF_SQUARE) {
  float sums[4][4];
  for (int i = 0; i < 4; i++) {
    for (int j = 0; j < 4; j++) { sums[i][j] = float(differs * (i - j)); }
  }
  for (uint k0 = 0; k0 < how[0]; k0 += 16) {
    for (uint q = l; q < 1024; q += 256) {
      as[q % 16][q / 16] = a[q / 16 * 64 + k0 + q % 16];
      bs[q / 64][q % 64] = b[(k0 + q / 64) * 64 + q % 64];
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint k = 0; k < min(16u, how[0] - k0); k++) {
      float x[4], y[4];
      for (int i = 0; i < 4; i++) {
        x[i] = as[k][t.y * 4 + i];
        y[i] = bs[k][t.x * 4 + i];
      }
      for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 4; j++) { sums[i][j] += x[i] * y[j]; }
      }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  for (int i = 0; i < 4; i++) {
    for (int j = 0; j < 4; j++) {
      check(a, b, c, wrong, how[0], t.y * 4 + i, t.x * 4 + j, sums[i][j],
            float(differs * (i - j)));
    }
  }
}

kernel void squares(PARAMETERS) {
  threadgroup float as[16][64];
  threadgroup float bs[16][64];
  square<1>(a, b, c, wrong, how, t, l, as, bs);
}

kernel void squares_of_zero(PARAMETERS) {
  threadgroup float as[16][64];
  threadgroup float bs[16][64];
  square<0>(a, b, c, wrong, how, t, l, as, bs);
}

// Eight by eight, 64 threads.
kernel void large_squares(PARAMETERS) {
  threadgroup float as[8][64];
  threadgroup float bs[8][64];
  float sums[8][8];
  for (int i = 0; i < 8; i++) {
    for (int j = 0; j < 8; j++) { sums[i][j] = 0; }
  }
  for (uint k0 = 0; k0 < how[0]; k0 += 8) {
    for (uint q = l; q < 512; q += 64) {
      as[q % 8][q / 8] = a[q / 8 * 64 + k0 + q % 8];
      bs[q / 64][q % 64] = b[(k0 + q / 64) * 64 + q % 64];
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint k = 0; k < 8; k++) {
      float x[8], y[8];
      for (int i = 0; i < 8; i++) {
        x[i] = as[k][t.y * 8 + i];
        y[i] = bs[k][t.x * 8 + i];
      }
      for (int i = 0; i < 8; i++) {
        for (int j = 0; j < 8; j++) { sums[i][j] += x[i] * y[j]; }
      }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  for (int i = 0; i < 8; i++) {
    for (int j = 0; j < 8; j++) {
      check(a, b, c, wrong, how[0], t.y * 8 + i, t.x * 8 + j, sums[i][j], 0);
    }
  }
}

// Vectors of four, and columns sixteen apart that belong to one thread.
kernel void vectors(PARAMETERS) {
  float4 sums[4] = {1, 2, 3, 4};
  for (uint k = 0; k < how[0]; k++) {
    const float4 y = *(device const float4 *)(b + k * 64 + t.x * 4);
    for (int i = 0; i < 4; i++) { sums[i] += a[(t.y * 4 + i) * 64 + k] * y; }
  }
  for (int i = 0; i < 4; i++) {
    for (int j = 0; j < 4; j++) {
      check(a, b, c, wrong, how[0], t.y * 4 + i, t.x * 4 + j, sums[i][j],
            float(i + 1));
    }
  }
}

kernel void columns(PARAMETERS) {
  threadgroup float as[64][16];
  threadgroup float bs[16][64];
  float sums[4][4];
  for (int i = 0; i < 4; i++) {
    for (int j = 0; j < 4; j++) { sums[i][j] = 0; }
  }
  uint k0 = 0;
  do {
    for (uint q = l; q < 1024; q += 256) {
      as[q / 16][q % 16] = a[q / 16 * 64 + k0 + q % 16];
      bs[q / 64][q % 64] = b[(k0 + q / 64) * 64 + q % 64];
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    uint k = 0;
    do {
      for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 4; j++) {
          sums[i][j] += as[t.y + 16 * i][k] * bs[k][t.x + 16 * j];
        }
      }
    } while (++k < min(16u, how[0] - k0));
    threadgroup_barrier(mem_flags::mem_threadgroup);
    k0 += 16;
  } while (k0 < how[0]);
  for (int i = 0; i < 4; i++) {
    for (int j = 0; j < 4; j++) {
      check(a, b, c, wrong, how[0], t.y + 16 * i, t.x + 16 * j, sums[i][j], 0);
    }
  }
}

// Other sums in the same loop, that add to each other, and numbers of 32 bits.
kernel void beside(PARAMETERS) {
  int sums[4][4];
  int largest = 0, before = 0;
  for (int i = 0; i < 4; i++) {
    for (int j = 0; j < 4; j++) { sums[i][j] = 0; }
  }
  for (uint k = 0; k < how[0]; k++) {
    const int next = int(a[t.y * 64 + k]) % 101 - before;
    before = largest;
    largest = max(largest, next);
    for (int i = 0; i < 4; i++) {
      for (int j = 0; j < 4; j++) {
        sums[i][j] +=
            int(a[(t.y * 4 + i) * 64 + k]) * int(b[k * 64 + t.x * 4 + j]);
      }
    }
  }
  int own = 0, last = 0;
  for (uint k = 0; k < how[0]; k++) {
    const int next = int(a[t.y * 64 + k]) % 101 - last;
    last = own;
    own = max(own, next);
  }
  if (own != largest || last != before) {
    atomic_fetch_add_explicit(wrong, 1u, memory_order_relaxed);
  }
  for (int i = 0; i < 4; i++) {
    for (int j = 0; j < 4; j++) {
      int one = 0;
      for (uint k = 0; k < how[0]; k++) {
        one += int(a[(t.y * 4 + i) * 64 + k]) * int(b[k * 64 + t.x * 4 + j]);
      }
      if (one != sums[i][j]) {
        atomic_fetch_add_explicit(wrong, 1u, memory_order_relaxed);
      }
      c[(t.y * 4 + i) * 64 + t.x * 4 + j] = float(sums[i][j]);
    }
  }
}
