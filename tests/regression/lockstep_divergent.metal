// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Simdgroups in step where threads part: what both sides of a branch store is
// there behind it, threads in a loop go round together whatever their number
// of turns, those that have left it wait behind, atomics come in the order of
// the program, and so does memory of the device.
// checked: race.threadgroup race.device init.threadgroup order
// run: sides --grid 32 0=iota:i32:32 1=zeros:i32:32
// expect: 1: 10 2 30 4 50 6 70 8 90 10 110 12 130 14 150 16 170 18 190 20 210 22 230 24 250 26 270 28 290 30 310 0
// run: turns --grid 32 0=zeros:i32:32
// expect: 0: 3 2 1 0 3 2 1 0 3 2 1 0 3 2 1 0 3 2 1 0 3 2 1 0 3 2 1 0 3 2 1 0
// run: early --grid 32 0=zeros:i32:32
// expect: 0: -1 24 24 24 -1 24 24 24 -1 24 24 24 -1 24 24 24 -1 24 24 24 -1 24 24 24 -1 24 24 24 -1 24 24 24
// run: tickets --grid 32 0=zeros:i32:32 1=zeros:i32:32
// expect: 0: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31
// expect: 1: 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63
// run: on_device --grid 32 0=iota:i32:32 1=zeros:i32:32
// expect: 0: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 0
// expect: 1: 498 499 500 501 502 503 504 505 506 507 508 509 510 511 512 513 514 515 516 517 518 519 520 521 522 523 524 525 526 527 496 497
#include <metal_stdlib>
using namespace metal;

kernel void sides(device const int *x [[buffer(0)]],
                  device int *y [[buffer(1)]],
                  uint lane [[thread_index_in_simdgroup]]) {
  volatile threadgroup int values[32];
  if (lane & 1) {
    values[lane] = 10 * x[lane];
  } else {
    values[lane] = x[lane];
  }
  const int right = values[(lane + 1) % 32];
  values[lane] = right;
  y[lane] = values[lane];
}

// A thread iterates as many times as its number modulo 4. In each iteration all
// threads still in the loop count themselves, and each sees the whole count.
kernel void turns(device int *y [[buffer(0)]],
                  uint lane [[thread_index_in_simdgroup]]) {
  volatile threadgroup int counts[32];
  counts[lane] = 0;
  for (uint turn = 0; turn < lane % 4; ++turn) {
    const int ahead = counts[(lane + 31) % 32];  // one of whom has one
                                                 // iteration less
    counts[lane] = ahead + 1;
  }
  // 1, 1 + the neighbour's value in the iteration before, and so on.
  y[lane] = counts[31 - lane];
}

// One thread in four returns; the others sum the values that those left, and
// then write there.
kernel void early(device int *y [[buffer(0)]],
                  uint lane [[thread_index_in_simdgroup]]) {
  volatile threadgroup int values[32];
  values[lane] = 1;
  if (lane % 4 == 0) {
    values[lane] = 0;
    y[lane] = -1;
    return;
  }
  int sum = 0;
  for (uint k = 0; k < 32; ++k) { sum += values[k]; }
  values[(lane * 5) % 32] = 100;
  y[lane] = sum;
}

kernel void tickets(device int *first [[buffer(0)]],
                    device int *second [[buffer(1)]],
                    uint lane [[thread_index_in_simdgroup]]) {
  threadgroup atomic_int next;
  atomic_store_explicit(&next, 0, memory_order_relaxed);
  first[lane] = atomic_fetch_add_explicit(&next, 1, memory_order_relaxed);
  second[lane] = atomic_fetch_add_explicit(&next, 1, memory_order_relaxed);
}

kernel void on_device(volatile device int *x [[buffer(0)]],
                      device int *y [[buffer(1)]],
                      uint lane [[thread_index_in_simdgroup]]) {
  const int sum = simd_sum(x[lane]);
  const int right = x[(lane + 1) % 32];
  x[lane] = right;
  y[lane] = sum + x[(lane + 1) % 32];
}
