// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arguments of every kind that function constants leave out. Unoptimised code
// copies a texture's or a sampler's handle although nobody asks for it.
// run: look --grid 2 0=zeros:u32:2 --constant 0=bool:0
// expect: 0: 5 6
// run: look --grid 2 0=zeros:u32:2 --constant 0=bool:1 1=u32:7 tex0=rgba32Uint:4 tex1=rgba32Uint:4 tex2=rgba32Uint:4 tex3=rgba32Uint:4 sampler0=nearest tg0=16
// expect: 0: 16 16
#include <metal_stdlib>
using namespace metal;

constant bool has [[function_constant(0)]];

kernel void look(device uint *out [[buffer(0)]],
                 constant uint &more [[buffer(1), function_constant(has)]],
                 texture1d<uint> image [[texture(0), function_constant(has)]],
                 array<texture1d<uint>, 3> images
                     [[texture(1), function_constant(has)]],
                 sampler how [[sampler(0), function_constant(has)]],
                 threadgroup uint *shared
                     [[threadgroup(0), function_constant(has)]],
                 uint i [[thread_position_in_grid]]) {
  out[i] = 5 + i;
  if (has) {
    shared[i] = i;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    out[i] = more + image.sample(how, 0.5f).x + image.get_width() +
             out[i] - shared[i];
  }
}
