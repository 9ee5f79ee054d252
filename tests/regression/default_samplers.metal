// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A sampler without fields is one, as image filters declare it; a texture's
// type may name its coherence.
// run: k --grid 1 0=zeros:u64:1
// expect: 0: 1
#include <metal_stdlib>
using namespace metal;

struct Filter {
  texture2d<float, access::read_write, memory_coherence_device> target;
};

float4 filtered(texture2d<float> source, float2 at) {
  constexpr sampler plain;
  const sampler copy = plain;
  return source.sample(copy, at);
}

constexpr sampler quad;

kernel void k(device ulong *out [[buffer(0)]]) {
  constexpr sampler nearest(filter::nearest, address::clamp_to_edge);
  out[0] = as_type<ulong>(quad) == as_type<ulong>(nearest);
}
