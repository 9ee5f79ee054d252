// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Member functions that differ only in the address space of their object.
// run: which --grid 1 0=i32:1,2 1=i32:3 2=zeros:i32:7
// expect: 2: 1 2 3 4 5 2 6
// run: arrays --grid 4 0=zeros:f32:4 1=f32:1,2,3,4
// expect: 0: 5 7 9 11
// run: literals --grid 1 0=zeros:i32:5
// expect: 0: 15 98 2 1 104
#include <metal_stdlib>
using namespace metal;

struct Place {
  int value;
  Place(int v) thread : value(v) {}
  Place(int v) threadgroup : value(v) {}
  int where() thread { return 1; }
  int where() device { return 2; }
  int where() threadgroup { return 3; }
  int where() const constant { return 4; }
  int where() const thread { return 5; }
  int once() device { return 6; }
  static int shared(int x) { return x; }
  device Place &self() device;
};
device Place &Place::self() device { return *this; }

kernel void which(device Place *d [[buffer(0)]], constant Place &c [[buffer(1)]],
                  device int *out [[buffer(2)]]) {
  threadgroup int memory;
  threadgroup Place *t = (threadgroup Place *)&memory;
  Place local(0);
  const Place fixed = local;
  out[0] = local.where();
  out[1] = d->where();
  out[2] = t->where();
  out[3] = c.where();
  out[4] = fixed.where();
  out[5] = d[1].self().where();
  out[6] = Place::shared(d->once());
}

// An array class as translators write it, with references to its address space.
template <typename T, size_t N>
struct Array {
  T elements[N ? N : 1];
  thread T &operator[](size_t i) thread { return elements[i]; }
  constexpr const thread T &operator[](size_t i) const thread { return elements[i]; }
  device T &operator[](size_t i) device { return elements[i]; }
  constexpr const device T &operator[](size_t i) const device { return elements[i]; }
  constexpr const constant T &operator[](size_t i) const constant { return elements[i]; }
  threadgroup T &operator[](size_t i) threadgroup { return elements[i]; }
};
struct Block { Array<float, 4> a; };

kernel void arrays(device Block &b [[buffer(0)]], constant Block &c [[buffer(1)]],
                   uint i [[thread_position_in_grid]]) {
  threadgroup Array<float, 4> t;
  Array<float, 4> local = Array<float, 4>({1, 2, 3, 4});
  threadgroup float *p = &t[i];
  *p = c.a[i];
  device float &r = b.a[i];
  constant float *q = &c.a[2];
  r = t[i] + local[i] + *q;
}

static int length(constant char *text) {
  int count = 0;
  while (text[count]) count++;
  return count;
}
constant char *constant message = "abc";
constant char word[] = "hello";

kernel void literals(device int *out [[buffer(0)]]) {
  constant char *local = "abcd";
  out[0] = length("xyz") + length(local) + length(message) + length(word);
  out[1] = local[1];
  constant char *both[2] = {"a", "bb"};
  out[2] = length(both[1]);
  out[3] = length(out[0] ? "q" : "rr");
  char copy[] = "h";
  out[4] = copy[0];
}
