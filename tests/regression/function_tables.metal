// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tables of visible functions that the command line binds: several tables, an
// empty entry, an array of tables, and a function that calls through a table.
// run: choose --grid 8 0=iota:f32:8 table1=twice,,plus_one table2=plus_one
// expect: 0: 1 2 5 7 9 11 13 8
// run: nested --grid 4 --call-depth 2 0=iota:f32:4 table1=deeper table2=twice,plus_one
// expect: 0: 0 2 6 4
#include <metal_stdlib>
using namespace metal;

typedef float number_function(float);
typedef float deep_function(float, visible_function_table<number_function>,
                            uint);

[[visible]] float twice(float x) { return 2 * x; }
[[visible]] float plus_one(float x) { return x + 1; }
[[visible]] float deeper(float x, visible_function_table<number_function> table,
                         uint i) {
  return i == 2 ? 3 * x : table[i & 1](x);
}

kernel void choose(device float *x [[buffer(0)]],
                   visible_function_table<number_function> first [[buffer(1)]],
                   visible_function_table<number_function> second
                       [[buffer(2)]],
                   uint i [[thread_position_in_grid]]) {
  const float y = second[0](x[i]);
  if (first.size() != 3) return;
  x[i] = i == 0 || i == 7 ? y : first[i == 1 ? 0 : 2](x[i] + i - (i > 1 ? 0 : 1));
}

kernel void nested(device float *x [[buffer(0)]],
                   visible_function_table<deep_function> deep [[buffer(1)]],
                   visible_function_table<number_function> table [[buffer(2)]],
                   uint i [[thread_position_in_grid]]) {
  x[i] = deep[0](x[i], table, i);
}
