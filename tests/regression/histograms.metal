// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Additions to counters whose index has few bits and comes from memory: parts of
// words, bytes, every other element, counters that lie across two pages, inputs
// that are overwritten, threadgroup memory, and another value for each lane.
// run: bits --grid 40960 --group 256 0=iota:u32:40960 1=zeros:u32:256
// expect: 1: 160 160 160 160 160 160 160 160 160 160 160 160
// run: bits --grid 40923 --group 96 0=iota:u32:40960 1=zeros:u32:256
// expect: 1: 160 160 160 160 160 160 160 160 160 160 160 160
// run: bytes --grid 40960 --group 128 0=iota:u8:40960 1=zeros:u32:256
// expect: 1: 160 160 160 160 160 160 160 160 160 160 160 160
// run: pairs --grid 20480 --group 256 0=iota:u16:40960 1=zeros:u32:130
// expect: 1: 1024 1024 1024 1024 1024 1024 1024 1024 1024 1024 1024 1024
// run: across --grid 40960 --group 256 0=iota:u32:40960 1=zeros:u32:1088
// expect: 1: 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 160 0 0 0 160
// run: overwritten --grid 40960 --group 256 0=iota:u32:40960 1=zeros:u32:64
// expect: 1: 640 640 640 640 640 640 640 640 640 640 640 640
// expect: 0: 0 0 0 0
// run: shared --grid 4096 --group 256 0=iota:u32:4096 1=zeros:u32:256
// expect: 1: 16 16 16 16 16 16 16 16 16 16 16 16
// run: uneven --grid 40960 --group 256 0=iota:u32:40960 1=zeros:u32:64
// expect: 1: 13086720 13087360 13088000 13088640 13089280 13089920
#include <metal_stdlib>
using namespace metal;

static void count(device atomic_uint *bins, uint at, uint by = 1) {
  atomic_fetch_add_explicit(&bins[at], by, memory_order_relaxed);
}

kernel void bits(device const uint *in [[buffer(0)]],
                 device atomic_uint *bins [[buffer(1)]],
                 uint i [[thread_position_in_grid]]) {
  count(bins, in[i] >> 3 & 255);
}

kernel void bytes(device const uchar *in [[buffer(0)]],
                  device atomic_uint *bins [[buffer(1)]],
                  uint i [[thread_position_in_grid]]) {
  count(bins, in[i]);
}

kernel void pairs(device const ushort *in [[buffer(0)]],
                  device atomic_uint *bins [[buffer(1)]],
                  uint i [[thread_position_in_grid]]) {
  count(bins, in[2 * i] >> 10, 2);
}

struct counter {
  atomic_uint value;
  uint rest[3];
};

kernel void across(device const uint *in [[buffer(0)]],
                   device counter *counters [[buffer(1)]],
                   uint i [[thread_position_in_grid]]) {
  atomic_fetch_add_explicit(&counters[16 + (in[i] & 255)].value, 1,
                            memory_order_relaxed);
}

kernel void overwritten(device uint *in [[buffer(0)]],
                        device atomic_uint *bins [[buffer(1)]],
                        uint i [[thread_position_in_grid]]) {
  uint own = in[i];
  in[i] = 0;
  count(bins, own & 63);
}

kernel void shared(device const uint *in [[buffer(0)]],
                   device atomic_uint *bins [[buffer(1)]],
                   uint i [[thread_position_in_grid]],
                   uint l [[thread_index_in_threadgroup]]) {
  threadgroup atomic_uint own[256];
  threadgroup uint values[256];
  atomic_store_explicit(&own[l], 0, memory_order_relaxed);
  values[l] = in[i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  uint value = values[255 - l];
  values[255 - l] = 1;
  atomic_fetch_add_explicit(&own[value >> 2 & 255], 1, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  count(bins, l, atomic_load_explicit(&own[l], memory_order_relaxed));
}

kernel void uneven(device const uint *in [[buffer(0)]],
                   device atomic_uint *bins [[buffer(1)]],
                   uint i [[thread_position_in_grid]]) {
  count(bins, in[i] & 63, i);
}
