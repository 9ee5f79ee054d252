// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Structs by value and by reference, private arrays indexed at run time,
// switch, break and continue, functions over thread references.
// run: walk --grid 8 0=zeros:i32:8 1=zeros:f32:8
// expect: 0: 18 85 18 352 297 391 682 265
// expect: 1: 0.5 1.5 2.5 3.5 4.5 5.5 6.5 7.5
#include <metal_stdlib>
using namespace metal;

struct Machine {
  int stack[6];
  int top;
  void push(int value) thread { stack[top++] = value; }
  int pop() thread { return stack[--top]; }
};

static void apply(thread Machine &machine, int code) {
  const int b = machine.pop();
  const int a = machine.pop();
  switch (code) {
    case 0: machine.push(a + b); break;
    case 1: machine.push(a - b); break;
    case 2: machine.push(a * b); break;
    default: machine.push(0); break;
  }
}

kernel void walk(device int *out [[buffer(0)]], device float *halves [[buffer(1)]],
                 uint i [[thread_position_in_grid]]) {
  Machine machine;
  machine.top = 0;
  machine.push(10);
  for (int step = 0; step < int(i) + 4; step++) {
    if (step == 3 && i % 2 == 0) { continue; }
    if (step > 5) { break; }
    machine.push(int(i) + step);
    apply(machine, (step + int(i)) % 3);
  }
  out[i] = machine.pop();
  half4 wide(half(i) + 0.5h, 1.0h, 2.0h, 3.0h);
  halves[i] = float(wide.wzyx.w);
}
