// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// host_metal.h: what random kernels of integers (random_integers.py) use of Metal,
// in C++ for the host, and the loops that run them, one thread after the other.
// Nothing of Mettle's compiler or library is in here.
#ifndef METTLE_TESTS_HOST_METAL_H
#define METTLE_TESTS_HOST_METAL_H

#include <sys/resource.h>

#include <cstdio>
#include <type_traits>

#include "random_memory.h"

#define kernel
#define device
#define threadgroup
#define constant const
#define thread

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
struct uint3 {
  uint x, y, z;
};

// --- operators where C++ leaves a result open ---------------------------------

template <typename A, typename B>
auto divided(A a, B b) {
  typedef decltype(a / b) T;
  const T x = T(a), y = T(b);
  if (y == 0) {
    return T(0);
  }
  if (std::is_signed<T>::value && y == T(-1)) {
    return T(T(0) - x);
  }
  return T(x / y);
}
template <typename A, typename B>
auto remainder_of(A a, B b) {
  typedef decltype(a % b) T;
  const T x = T(a), y = T(b);
  if (y == 0 || (std::is_signed<T>::value && y == T(-1))) {
    return T(0);
  }
  return T(x % y);
}
template <typename A, typename B>
auto to_left(A a, B b) {
  typedef decltype(a << b) T;
  typedef typename std::make_unsigned<T>::type U;
  return T(U(a) << (ulong(b) & (8 * sizeof(T) - 1)));
}
template <typename A, typename B>
auto to_right(A a, B b) {
  typedef decltype(a >> b) T;
  return T(T(a) >> (ulong(b) & (8 * sizeof(T) - 1)));
}

// --- functions of metal_integer, by 128 bits or bit by bit --------------------

typedef __int128 wide;
template <typename T>
constexpr int width_of = 8 * sizeof(T);
template <typename T>
using unsigned_of = typename std::make_unsigned<T>::type;
template <typename T>
wide least_of() {
  return std::is_signed<T>::value ? -(wide(1) << (width_of<T> - 1)) : wide(0);
}
template <typename T>
wide greatest_of() {
  return least_of<T>() + (wide(1) << width_of<T>)-1;
}
template <typename T>
T saturated(wide v) {
  return v < least_of<T>() ? T(least_of<T>())
         : v > greatest_of<T>() ? T(greatest_of<T>())
                                : T(v);
}
template <typename T>
bool bit_of(T v, int i) {
  return (unsigned_of<T>(v) >> i) & 1;
}
template <typename T>
T min(T a, T b) {
  return a < b ? a : b;
}
template <typename T>
T max(T a, T b) {
  return a < b ? b : a;
}
template <typename T>
T clamp(T v, T low, T high) {
  return min(max(v, low), high);
}
template <typename T>
T select(T a, T b, bool second) {
  return second ? b : a;
}
template <typename T>
T absolute(T v) {
  return v < 0 ? T(0 - unsigned_of<T>(v)) : v;
}
#define abs absolute
template <typename T>
unsigned_of<T> absdiff(T a, T b) {
  return unsigned_of<T>(a < b ? wide(b) - wide(a) : wide(a) - wide(b));
}
template <typename T>
T addsat(T a, T b) {
  return saturated<T>(wide(a) + wide(b));
}
template <typename T>
T subsat(T a, T b) {
  return saturated<T>(wide(a) - wide(b));
}
template <typename T>
T hadd(T a, T b) {
  return T((wide(a) + wide(b)) >> 1);
}
template <typename T>
T rhadd(T a, T b) {
  return T((wide(a) + wide(b) + 1) >> 1);
}
template <typename T>
wide product_of(T a, T b) {  // as an unsigned one of 128 bits where it must
  return std::is_signed<T>::value
             ? wide(a) * wide(b)
             : wide((unsigned __int128)a * (unsigned __int128)b);
}
template <typename T>
T mulhi(T a, T b) {
  return T(product_of(a, b) >> width_of<T>);
}
template <typename T>
T madhi(T a, T b, T c) {
  return T(unsigned_of<T>(mulhi(a, b)) + unsigned_of<T>(c));
}
template <typename T>
T madsat(T a, T b, T c) {
  if (std::is_signed<T>::value || sizeof(T) < 8) {
    return saturated<T>(product_of(a, b) + wide(c));
  }
  const unsigned __int128 sum =
      (unsigned __int128)a * (unsigned __int128)b + (unsigned __int128)c;
  return sum >> 64 ? T(~T(0)) : T(sum);
}
template <typename T>
T rotate(T v, T by) {
  T r = 0;
  for (int i = 0; i < width_of<T>; ++i) {
    const int to = int((ulong(i) + ulong(by)) & (width_of<T> - 1));
    r = T(unsigned_of<T>(r) | unsigned_of<T>(unsigned_of<T>(bit_of(v, i)) << to));
  }
  return r;
}
template <typename T>
T popcount(T v) {
  int n = 0;
  for (int i = 0; i < width_of<T>; ++i) {
    n += bit_of(v, i);
  }
  return T(n);
}
template <typename T>
T ctz(T v) {
  int n = 0;
  while (n < width_of<T> && !bit_of(v, n)) {
    ++n;
  }
  return T(n);
}
template <typename T>
T clz(T v) {
  int n = 0;
  while (n < width_of<T> && !bit_of(v, width_of<T> - 1 - n)) {
    ++n;
  }
  return T(n);
}
template <typename T>
T reverse_bits(T v) {
  unsigned_of<T> r = 0;
  for (int i = 0; i < width_of<T>; ++i) {
    r = unsigned_of<T>(r << 1 | bit_of(v, i));
  }
  return T(r);
}
template <typename T>
T extract_bits(T v, uint offset, uint bits) {
  wide r = 0;
  for (uint i = 0; i < bits; ++i) {
    r |= wide(bit_of(v, int(offset + i))) << i;
  }
  if (std::is_signed<T>::value && bits && bit_of(v, int(offset + bits - 1))) {
    r -= wide(1) << bits;
  }
  return T(r);
}
template <typename T>
T insert_bits(T base, T field, uint offset, uint bits) {
  unsigned_of<T> r = unsigned_of<T>(base);
  for (uint i = 0; i < bits; ++i) {
    const unsigned_of<T> bit = unsigned_of<T>(unsigned_of<T>(1) << (offset + i));
    r = bit_of(field, int(i)) ? unsigned_of<T>(r | bit)
                              : unsigned_of<T>(r & unsigned_of<T>(~bit));
  }
  return T(r);
}

// --- atomics, among threads that run one after the other ----------------------

enum memory_order { memory_order_relaxed };
template <typename T>
struct atomic {
  T value;
};
typedef atomic<uint> atomic_uint;
typedef atomic<int> atomic_int;
typedef atomic<float> atomic_float;
#define HOST_FETCH(name, result)                                            \
  template <typename T, typename V>                                         \
  T atomic_fetch_##name##_explicit(atomic<T> *object, V given, memory_order) { \
    const T old = object->value, operand = T(given);                        \
    object->value = result;                                                 \
    return old;                                                             \
  }
HOST_FETCH(add, T(old + operand))
HOST_FETCH(sub, T(old - operand))
HOST_FETCH(min, old < operand ? old : operand)
HOST_FETCH(max, old < operand ? operand : old)
#undef HOST_FETCH
#define HOST_FETCH(name, op)                                                \
  template <typename T, typename V>                                         \
  T atomic_fetch_##name##_explicit(atomic<T> *object, V given, memory_order) { \
    const T old = object->value;                                            \
    object->value = T(old op T(given));                                     \
    return old;                                                             \
  }
HOST_FETCH(and, &)
HOST_FETCH(or, |)
HOST_FETCH(xor, ^)
#undef HOST_FETCH
template <typename T, typename V>
T atomic_exchange_explicit(atomic<T> *object, V value, memory_order) {
  const T old = object->value;
  object->value = T(value);
  return old;
}
template <typename T>
T atomic_load_explicit(const atomic<T> *object, memory_order) {
  return object->value;
}
template <typename T, typename V>
bool atomic_compare_exchange_weak_explicit(atomic<T> *object, T *expected,
                                           V desired, memory_order,
                                           memory_order) {
  if (object->value == *expected) {
    object->value = T(desired);
    return true;
  }
  *expected = object->value;
  return false;
}

// --- what random_source.py puts before kernels --------------------------------

struct uniforms {
  uint threads, width, five, three;
  int some[4];
  float scale[4];
};
static const uint table[8] = {7u, 0u, 0x80000000u, 3u, 0xffffu, 12u, 1u, 99u};
struct pair {
  ushort low[2];
  int high[2];
};
static const pair pairs[3] = {
    {{1, 2}, {-3, 4}}, {{65535, 0}, {7}}, {{9, 8}, {0x7fffffff, -1}}};
// run_random gives constants of even index a value, 5 + index where whole.
static const uint fc_count = 5;
static const bool fc_flag = true;
#define MISSING 6u

struct input {
  const float *x;
  const int *n;
  const uchar *bytes;
  uint *out;
  atomic_uint *shared;
  const uniforms &u;
  uint *held;
  uint3 at, at_group, size, group;
  uint index, lane, simdgroup, count, self;
};

template <typename T>
T clean(T v) {
  return v;
}
static uint bits(bool v) { return v ? 5 : 3; }
static uint bits(char v) { return uint(v); }
static uint bits(uchar v) { return uint(v); }
static uint bits(short v) { return uint(v); }
static uint bits(ushort v) { return uint(v); }
static uint bits(int v) { return uint(v); }
static uint bits(uint v) { return v; }
static uint bits(ulong v) { return uint(v ^ (v >> 32)); }
static uint bits(long v) { return bits(ulong(v)); }
template <typename T, int N>
T total(const T (&a)[N], uint from) {
  T sum = T(0);
  for (uint i = from % N; i < uint(N); ++i) {
    sum = T(sum + a[i]);
  }
  return sum;
}
template <typename T>
void exchange_values(T &a, T &b) {
  const T kept = a;
  a = b;
  b = kept;
}
template <typename T>
bool order_values(T *a, T *b, uint rounds) {
  for (uint i = 0; i < rounds; ++i) {
    if (*a < *b) {
      return false;
    }
    exchange_values(*a, *b);
    *b = T(*b + T(i));
  }
  return true;
}
static uint climbed(uint n, uint &acc) {
  acc = acc * 31u + n;
  if (n == 0u) {
    return acc;
  }
  return (n & 1u) ? climbed(n >> 1, acc) : climbed(n - 1u, acc) ^ n;
}
static uint twist0(uint v) { return v * 3u + 1u; }
static uint twist1(uint v) {
  uint r = v;
  for (uint i = 0; i < (v & 3u); ++i) {
    r ^= r >> 3;
  }
  return r;
}
static uint twist2(uint v) { return v & 1u ? v / 3u : ~v; }

// --- the run -------------------------------------------------------------------

typedef void kernel_function(const float *, const int *, const uchar *, uint *,
                             atomic_uint *, const uniforms &, uint *, uint3,
                             uint3, uint3, uint3, uint3, uint, uint, uint);

struct host_memory {
  float x[INPUT_WORDS];
  uint n[INPUT_WORDS], bytes[INPUT_WORDS];
  uint output[OUTPUT_WORDS], shared[SHARED_WORDS];
  alignas(uniforms) uint words[UNIFORM_WORDS];
};
static host_memory memory;

static uint3 uint3_of(const uint32_t v[3]) {
  return {v[0], v[1], v[2]};
}

static void run_thread(kernel_function *run, const shape &s, uint3 at) {
  const uint3 size = uint3_of(s.group), grid = uint3_of(s.grid);
  const uint3 group = {at.x / size.x, at.y / size.y, at.z / size.z};
  const uint3 inside = {at.x % size.x, at.y % size.y, at.z % size.z};
  // The last threadgroups are as large as the rest of the grid.
  const uint3 there = {min(size.x, grid.x - group.x * size.x),
                       min(size.y, grid.y - group.y * size.y),
                       min(size.z, grid.z - group.z * size.z)};
  const uint index = inside.x + there.x * (inside.y + there.y * inside.z);
  run(memory.x, (const int *)memory.n, (const uchar *)memory.bytes,
      memory.output, (atomic_uint *)memory.shared,
      *(const uniforms *)memory.words, nullptr, at, inside, there, group, grid,
      index, index % 32, index / 32);
}

// Ends this process where a kernel does not end.
static void set_limit() {
  const struct rlimit seconds = {10, 10};  // of a processor, for all kernels
  setrlimit(RLIMIT_CPU, &seconds);
}

static void run_kernel(const char *name, kernel_function *run) {
  uint64_t state = 1;
  fill_inputs(memory.x, memory.n, memory.bytes);
  for (uint32_t i = 0; i < SHAPE_COUNT; i++) {
    const shape &s = shapes[i];
    if (!is_wanted(name, i)) {
      continue;
    }
    fill(&s, memory.output, memory.shared, memory.words);
    for (uint z = 0; z < s.grid[2]; z++) {
      for (uint y = 0; y < s.grid[1]; y++) {
        for (uint x = 0; x < s.grid[0]; x++) {
          run_thread(run, s, {x, y, z});
        }
      }
    }
    state = hash(state, memory.output, memory.shared);
  }
  printf("%s %016llx\n", name, (unsigned long long)state);
  fflush(stdout);
}

#endif
