// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rows of threads' own, copied from memory to memory: structures, rows that are
// converted on the way, along a loop; where some threads of a simdgroup are
// missing; and where what is copied is overwritten before it is stored.
// run: structures --grid 80 --group 80 0=iota:f32:4096 1=zeros:u32:80
// expect: 1: 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
// run: halves --grid 80 --group 80 0=iota:f32:4096 1=zeros:u32:80
// expect: 1: 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
// run: widened --grid 80 --group 80 0=iota:f32:4096 1=zeros:u32:80
// expect: 1: 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
// run: stepping --grid 80 --group 80 0=iota:f32:4096 1=zeros:u32:80
// expect: 1: 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
// run: kept --grid 80 --group 80 0=iota:f32:4096 1=zeros:u32:80
// expect: 1: 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
#include <metal_stdlib>
using namespace metal;

struct alignas(4) row {
  uint8_t bytes[32];
};

enum { PITCH = 40 };

#define KERNEL(name)                                       \
  kernel void name(device const float *iota [[buffer(0)]], \
                   device uint *wrong [[buffer(1)]],       \
                   ushort t [[thread_index_in_threadgroup]])

// Two threads a row of 16, as many rows as there are pairs of threads.
KERNEL(structures) {
  threadgroup float memory[40 * 20];
  const short i = t / 2, j = 8 * (t % 2);
  *(threadgroup row *)(memory + i * 20 + j) =
      *(device const row *)(iota + i * PITCH + j);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (short k = 0; k < 16; k++) {
    const short other = (i + k) % 40;
    wrong[t] += memory[other * 20 + k] != other * PITCH + k;
  }
}
// Rows whose numbers threads read from memory.
KERNEL(halves) {
  threadgroup half memory[80 * 12];
  const uint from = t * 37 % 80 * 8;
  *(threadgroup half4 *)(memory + t * 12) =
      half4(*(device const float4 *)(iota + from));
  *(threadgroup half4 *)(memory + t * 12 + 4) =
      half4(*(device const float4 *)(iota + from + 4));
  threadgroup_barrier(mem_flags::mem_threadgroup);
  const ushort other = (t + 33) % 80;
  for (short k = 0; k < 8; k++) {
    wrong[t] += float(memory[other * 12 + k]) != other * 37 % 80 * 8 + k;
  }
}
KERNEL(widened) {
  threadgroup half memory[80 * 8];
  threadgroup float wide[80 * 20];
  for (short k = 0; k < 8; k++) memory[t * 8 + k] = half(t * 8 + k);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  const ushort other = t * 37 % 80;
  *(threadgroup float4 *)(wide + t * 20) =
      float4(*(threadgroup const half4 *)(memory + other * 8 + 4));
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (short k = 0; k < 4; k++) {
    wrong[t] += wide[t * 20 + k] != other * 8 + 4 + k;
  }
}
KERNEL(stepping) {
  threadgroup float memory[80 * 12];
  device const float *from = iota + t * 37 % 80 * PITCH;
  for (short n = 0; n < 4; n++, from += 4) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    *(threadgroup float4 *)(memory + t * 12) =
        *(device const float4 *)from;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    const ushort other = (t + 5) % 80;
    for (short k = 0; k < 4; k++) {
      wrong[t] +=
          memory[other * 12 + k] != other * 37 % 80 * PITCH + 4 * n + k;
    }
  }
}
KERNEL(kept) {
  threadgroup float4 memory[80 * 3], other[80 * 3];
  const ushort at = t * 37 % 80 * 3;
  memory[at] = float4(t, t + 1, t + 2, t + 3);
  const float4 value = memory[at];
  memory[at] = float4(-1);
  other[at + 1] = value;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  wrong[t] = any(other[at + 1] != float4(t, t + 1, t + 2, t + 3)) +
             any(memory[at] != float4(-1));
}
