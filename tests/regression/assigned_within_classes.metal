// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Assignments between objects of one class that becomes a number by itself: by
// the operator= that every class has, by one of the class's own, and not by one
// that is for something else; in chains, from templates and in all spaces.
// run: assign --grid 4 --group 4 0=zeros:u32:16 1=u32:1,2,3,4 2=zeros:u16:4
// expect: 0: 2 10 1001 8 3 20 1002 8 4 30 1003 8 5 40 1004 8
// expect: 2: 16384 16512 16576 16640
#include <metal_stdlib>
using namespace metal;

struct Plain {
  uint value;
  operator uint() const { return value; }
  operator float() const { return float(value); }
};

// Its own operator= counts the copies.
struct Counting {
  uint value;
  Counting() = default;
  Counting(uint v) : value(v) {}
  thread Counting &operator=(thread const Counting &other) {
    value = other.value + 1000;
    return *this;
  }
  operator uint() const { return value; }
};

// An operator= for other types does not take the class itself.
struct Loose {
  uint value;
  template <typename T, typename = enable_if_t<is_arithmetic_v<T>>>
  thread Loose &operator=(T v) {
    value = uint(v) + 7;
    return *this;
  }
  operator float() const { return float(value); }
};

template <typename T>
T last(T a, T b) {
  T result;
  result = a;
  result = b;
  return result;
}

kernel void assign(device uint *out [[buffer(0)]],
                   device const uint *in [[buffer(1)]],
                   device ushort *bits [[buffer(2)]],
                   uint i [[thread_position_in_grid]]) {
  threadgroup Plain shared[4];
  Plain a{in[i]}, b, c;
  (b = c = a).value += 1;
  out[4 * i] = b;
  shared[i] = a;
  shared[i].value *= 10;
  c = shared[i];
  out[4 * i + 1] = c;
  Counting from(in[i]), to;
  to = from;
  out[4 * i + 2] = to;
  Loose x, y;
  x = 1.5f;
  y = x;
  out[4 * i + 3] = y.value;
  bits[i] = as_type<ushort>(last(bfloat(3.0f), bfloat(2.0f * float(in[i]))));
}
