// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions that call themselves, directly, through another and with private
// memory by reference; some threads deeper than others.
// run: fibonacci --grid 12 0=zeros:u32:12
// expect: 0: 0 1 1 2 3 5 8 13 21 34 55 89
// run: parity --grid 8 0=zeros:u32:8
// expect: 0: 100 1 100 1 100 1 100 1
// run: hanoi --grid 6 0=zeros:u32:12
// expect: 0: 0 0 1 2 3 5 7 10 15 19 31 36
// run: some_threads --grid 8 0=zeros:u32:8
// expect: 0: 0 1 2 2 4 5 6 13
#include <metal_stdlib>
using namespace metal;

static uint fib(uint n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

kernel void fibonacci(device uint *out [[buffer(0)]],
                      uint i [[thread_position_in_grid]]) {
  out[i] = fib(i);
}

template <typename T> uint is_odd(T n);
template <typename T> uint is_even(T n) {
  if (n == 0) return 100;
  const uint rest = is_odd(n - 1);
  return rest == 50 ? 7 : rest;
}
template <typename T> uint is_odd(T n) {
  if (n == 0) return 1;
  const uint rest = is_even(n - 1);
  return rest == 50 ? 7 : rest;
}

kernel void parity(device uint *out [[buffer(0)]],
                   uint i [[thread_position_in_grid]]) {
  out[i] = is_even(int(i));
}

// Counts the moves, and adds the pegs that discs are put on.
struct Towers {
  uint moves;
  uint pegs;
};

static void move(thread Towers &towers, uint discs, uint from, uint to) {
  if (discs == 0) return;
  const uint other = 3 - from - to;
  move(towers, discs - 1, from, other);
  towers.moves += 1;
  towers.pegs += to;
  move(towers, discs - 1, other, to);
}

kernel void hanoi(device uint *out [[buffer(0)]],
                  uint i [[thread_position_in_grid]]) {
  Towers towers = {0, 0};
  move(towers, i, 0, 2);
  out[2 * i] = towers.moves;
  out[2 * i + 1] = towers.pegs;
}

kernel void some_threads(device uint *out [[buffer(0)]],
                         uint i [[thread_position_in_grid]]) {
  uint value = i;
  if (i % 4 == 3) value = fib(i);
  out[i] = value;
}
