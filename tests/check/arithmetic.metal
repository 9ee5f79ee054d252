// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Integer divisions by zero, shifts by the width or more, and operations that
// make infinity or NaN of finite operands; a constant infinity is no finding.
// checks: default,integer,nan
// run: quotients --grid 8 --group 8 0=iota:i32:8 1=zeros:i32:8
// find: integer.division @quotients
// run: amounts --grid 8 --group 8 0=10,20,30,40,1,2,3,4 1=zeros:i32:8
// find: integer.shift @amounts
// run: inverses --grid 8 --group 8 0=iota:f32:8 1=zeros:f32:8
// find: nan @inverses
// run: largest --grid 8 --group 8 0=iota:f32:8 1=zeros:f32:8
// expect: 1: -inf -inf -inf -inf
// run: greatest --grid 4 --group 4 0=-inf,-inf,-inf,1,2 1=zeros:f32:4
// run: weights --grid 4 --group 4 0=-inf,-inf,-inf,1,2 1=zeros:f32:4
// find: nan @weights
#include <metal_stdlib>
using namespace metal;

kernel void quotients(device const int *x [[buffer(0)]],
                      device int *y [[buffer(1)]],
                      uint i [[thread_position_in_grid]]) {
  y[i] = 100 / x[i];  // @quotients
}

kernel void amounts(device const int *x [[buffer(0)]],
                    device int *y [[buffer(1)]],
                    uint i [[thread_position_in_grid]]) {
  y[i] = 1 << x[i];  // @amounts
}

kernel void inverses(device const float *x [[buffer(0)]],
                     device float *y [[buffer(1)]],
                     uint i [[thread_position_in_grid]]) {
  const float inverse = 1.0f / x[i];  // @inverses
  y[i] = inverse * 2.0f;
}

kernel void largest(device const float *x [[buffer(0)]],
                    device float *y [[buffer(1)]],
                    uint i [[thread_position_in_grid]]) {
  y[i] = x[i] < 100.0f ? -INFINITY : x[i];
}

// An infinity that came in is handed on.
kernel void greatest(device const float *x [[buffer(0)]],
                     device float *y [[buffer(1)]],
                     uint i [[thread_position_in_grid]]) {
  y[i] = max(x[i], min(x[i + 1], 0.0f));
}

kernel void weights(device const float *x [[buffer(0)]],
                    device float *y [[buffer(1)]],
                    uint i [[thread_position_in_grid]]) {
  const float largest = max(x[i], x[i + 1]);
  const float weight = exp(x[i] - largest);  // @weights
  y[i] = weight;
}
