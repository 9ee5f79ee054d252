// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elements that are far apart for neighbouring threads, at an index that one
// block computes and others use: the index is not there any more, the first
// address is.
// run: stir --grid 64 --group 64 0=zeros:u64:64 1=iota:u64:64 2=u32:3 tg0=12288
// expect: 0: 5 32 59 86
#include <metal_stdlib>
using namespace metal;

kernel void stir(device ulong *out [[buffer(0)]],
                 device const ulong *in [[buffer(1)]],
                 constant uint &rounds [[buffer(2)]],
                 threadgroup ulong *shared [[threadgroup(0)]],
                 uint thread_index [[thread_index_in_threadgroup]]) {
  const uint at = thread_index * 24;
  shared[at + 1] = in[thread_index];
  for (uint i = 0; i < rounds; i++) {
    shared[at + 1] = shared[at + 1] * 3 + i;
    shared[at + (in[i] & 2)] = i;
  }
  out[thread_index] = shared[at + 1];
}
