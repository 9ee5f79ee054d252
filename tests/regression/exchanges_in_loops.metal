// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loops around atomic exchanges on places that were found before the loop: the
// places of consecutive lanes, and of an index that each lane reads.
// run: along --grid 40,4 --group 32,1 0=ones:f32:82 1=f32:2 2=i64:40
// expect: 0: 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 1 1
// run: along --grid 16,4 --group 16,4 0=ones:f32:34 1=f32:2 2=i64:16
// expect: 0: 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 1 1
// run: picked --grid 40 --group 40 0=ones:f32:200 1=f32:2 2=iota:i32:40
// expect: 0: 1 2 1 1 2 1 1 2 1 1 2
#include <metal_stdlib>
using namespace metal;

static void multiply(device atomic_float *at, float by) {
  float old = atomic_load_explicit(at, memory_order_relaxed);
  while (!atomic_compare_exchange_weak_explicit(at, &old, by * old,
                                                memory_order_relaxed,
                                                memory_order_relaxed)) {
    if (isnan(old)) {
      break;
    }
  }
}

kernel void along(device atomic_float *out [[buffer(0)]],
                  constant float &by [[buffer(1)]],
                  constant size_t &pitch [[buffer(2)]],
                  uint2 p [[thread_position_in_grid]]) {
  size_t start = size_t(p.y / 2) * pitch;
  multiply(out + (start + p.x), by);
}

kernel void picked(device atomic_float *out [[buffer(0)]],
                   constant float &by [[buffer(1)]],
                   const device int *index [[buffer(2)]],
                   uint p [[thread_position_in_grid]]) {
  int at = index[p] * 3 + 1;
  multiply(out + at, by);
}
