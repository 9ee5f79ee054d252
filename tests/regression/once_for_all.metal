// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What lies between two barriers and is the same for all simdgroups, which one
// of them does for all: by whole simdgroups, with one that has gaps, in a row
// and in a column, twice in a row; and where a thread writes in between. The
// values are those of the same loops in Python.
// run: folded --grid 256 --group 128 0=zeros:u32:256
// expect: 0: 2629127936 2629127937 2629127938
// run: folded --grid 200 --group 100 0=zeros:u32:200
// expect: 0: 3666024152 3666024153 3666024154
// run: rows --grid 2,128 --group 1,128 0=zeros:u32:256
// expect: 0: 2629127936 2629127937 2629127938
// run: rows --grid 2,70 --group 1,70 0=zeros:u32:140
// expect: 0: 47230447 47230448 47230449
// run: changed --grid 128 --group 128 0=zeros:u32:128
// expect: 0: 8272512 8272513 8272514
// run: changed --grid 50 --group 50 0=zeros:u32:50
// expect: 0: 1277550 1277551 1277552
#include <metal_stdlib>
using namespace metal;

static uint fold(threadgroup uint *values, uint count, uint factor) {
  uint result = 0;
  for (uint i = 0; i < count; i++)
    result = factor == 3 ? result * 3 + values[i] : result * 5 ^ values[i];
  return result;
}

static uint both(threadgroup uint *values, uint group, uint id,
                 uint count) {
  values[id] = (id + 1) * (group + 1);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  const uint first = fold(values, count, 3);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  values[id] = first + id;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  const uint second = fold(values, count, 5);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  return second + id;
}

kernel void folded(device uint *out [[buffer(0)]],
                   uint group [[threadgroup_position_in_grid]],
                   uint id [[thread_position_in_threadgroup]],
                   uint count [[threads_per_threadgroup]]) {
  threadgroup uint values[128];
  out[group * count + id] = both(values, group, id, count);
}

kernel void rows(device uint *out [[buffer(0)]],
                 uint2 group [[threadgroup_position_in_grid]],
                 uint2 id [[thread_position_in_threadgroup]],
                 uint2 count [[threads_per_threadgroup]]) {
  threadgroup uint values[128];
  out[group.x * count.y + id.y] = both(values, group.x, id.y, count.y);
}

kernel void changed(device uint *out [[buffer(0)]],
                    uint id [[thread_position_in_threadgroup]],
                    uint count [[threads_per_threadgroup]]) {
  threadgroup uint values[128];
  values[id] = id + 1;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  uint before = 0;
  for (uint i = 0; i < count; i++)
    before += values[i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (id == 0)
    values[0] += before;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  uint after = 0;
  for (uint i = 0; i < count; i++)
    after += values[i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[id] = before * 1000 + after + id;
}
