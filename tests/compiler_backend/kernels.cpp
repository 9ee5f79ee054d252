// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// kernels.cpp: kernels for the tests of the compiler's back half, as the
// frontend would hand them on (docs/ir.md), in C++ that clang takes as it is.
#define device __attribute__((opencl_global))
#define threadgroup static __attribute__((section(".mettle.threadgroup")))
#define KERNEL(number)                                          \
  extern "C" __attribute__((used)) void kernel_##number(void **a) \
      __asm__("mettle.kernel." #number);                        \
  extern "C" void kernel_##number(void **a)
#define NAMED(name) __asm__(name)

typedef unsigned uint;
typedef unsigned char uchar;
typedef unsigned long ulong;
struct uint3 {
  uint x, y, z, padding;
};

template <class T>
static T &at(void *p) {
  return *(T *)p;
}

void barrier(int flags) NAMED("mettle.barrier.threadgroup");
void simd_barrier(int flags) NAMED("mettle.barrier.simdgroup");
uint ballot(bool predicate) NAMED("mettle.simd.ballot");
uint shuffle(uint value, uint lane) NAMED("mettle.simd.shuffle.i32");
ulong shuffle64(ulong value, uint lane) NAMED("mettle.simd.shuffle.i64");
float sum(float value) NAMED("mettle.simd.reduce.add.f32");
float largest(float value) NAMED("mettle.simd.reduce.max.f32");
int smallest(int value) NAMED("mettle.simd.reduce.min.i32");
uint any_bit(uint value) NAMED("mettle.simd.reduce.or.i32");
float prefix(float value) NAMED("mettle.simd.scan.inclusive.add.f32");
float before(float value) NAMED("mettle.simd.scan.exclusive.add.f32");
_Float16 sum_half(_Float16 value) NAMED("mettle.simd.reduce.add.f16");
void trap(int reason, const char *text) NAMED("mettle.trap");

// x, y, a, thread_position_in_grid.x
static void saxpy(device const float *x, device float *y, const float &a,
                  uint i) {
  y[i] = a * x[i] + y[i];
}

KERNEL(0) {
  saxpy(at<device float *>(&a[0]), at<device float *>(&a[1]), at<float>(a[2]),
        at<uint>(a[3]));
}

// out, and every built-in input, by number; each thread writes a row of 64
KERNEL(1) {
  uint3 p = at<uint3>(a[1]);
  uint3 size = at<uint3>(a[2]);
  device uint *row = at<device uint *>(&a[0]) +
                     64 * (p.x + size.x * (p.y + size.y * p.z));
  for (uint i = 0; i < 19; ++i) {
    uint3 value = at<uint3>(a[3 + i]);
    row[3 * i] = value.x;
    row[3 * i + 1] = value.y;
    row[3 * i + 2] = value.z;
  }
}

// Reverses a threadgroup of up to 256: x, index in it, its size
KERNEL(2) {
  threadgroup float held[256];
  device float *x = at<device float *>(&a[0]);
  uint i = at<uint>(a[1]), n = at<uint>(a[2]), first = at<uint>(a[3]);
  held[i] = x[first + i];
  barrier(2);
  x[first + i] = held[n - 1 - i];
}

// Tree sum of a threadgroup in memory of the client's, early exits beside it:
// x, out, threadgroup memory, index, size, group
KERNEL(3) {
  float *held = at<float *>(&a[2]);
  uint i = at<uint>(a[3]), n = at<uint>(a[4]), group = at<uint>(a[5]);
  held[i] = at<device float *>(&a[0])[group * n + i];
  barrier(2);
  for (uint half = n / 2; half > 0; half /= 2) {
    if (i < half) held[i] += held[i + half];
    barrier(2);
  }
  if (i == 0) at<device float *>(&a[1])[group] = held[0];
}

// The simdgroup functions, all threads or some: in, out [16 each], index
KERNEL(4) {
  uint i = at<uint>(a[2]);
  float x = at<device float *>(&a[0])[i];
  device float *out = at<device float *>(&a[1]) + 16 * i;
  out[0] = sum(x);
  out[1] = largest(x);
  out[2] = smallest((int)x);
  out[3] = prefix(x);
  out[4] = before(x);
  out[5] = any_bit(1u << (i % 32));
  out[6] = shuffle(i, i ^ 1);
  out[7] = (float)sum_half((_Float16)x);
  if (i % 32 % 3 == 0) {
    out[8] = sum(x);
    out[9] = prefix(x);
    out[10] = before(x);
  } else {
    out[8] = -sum(x);
    if (i % 32 % 3 == 1) out[9] = largest(x);
    out[10] = smallest((int)x);
  }
  out[11] = ballot(i % 2 == 0);
  out[12] = (float)shuffle64(((ulong)i << 32) + 7, 31 - i % 32) / 4294967296.0f;
}

// Loops whose turns differ between threads: out [4 each], index
KERNEL(5) {
  uint i = at<uint>(a[1]);
  device uint *out = at<device uint *>(&a[0]) + 4 * i;
  uint total = 0;
  for (uint turn = 0; turn < i % 5; ++turn) {
    if ((turn + i) % 2) continue;
    total = 31 * total + ballot(true);
  }
  out[0] = total;
  out[1] = ballot(true);
  uint nested = 0;
  for (uint j = 0; j < 3; ++j) {
    for (uint k = 0; k < (i + j) % 4; ++k) {
      nested = 17 * nested + ballot(k % 2 == 0);
    }
    if (j == i % 3) nested += ballot(true);
  }
  out[2] = nested;
  if (i % 7 == 3) return;
  out[3] = ballot(true);
}

// Operations that C++ leaves undefined: a, b, f, out [12 each], index
KERNEL(6) {
  uint i = at<uint>(a[4]);
  int x = at<device int *>(&a[0])[i], y = at<device int *>(&a[1])[i];
  float f = at<device float *>(&a[2])[i];
  device int *out = at<device int *>(&a[3]) + 12 * i;
  out[0] = x / y;
  out[1] = x % y;
  out[2] = (uint)x / (uint)y;
  out[3] = (uint)x % (uint)y;
  out[4] = x << y;
  out[5] = x >> y;
  out[6] = (uint)x >> y;
  out[7] = (int)f;
  out[8] = (uint)f;
  out[9] = (short)f;
  out[10] = (uchar)f;
  out[11] = x / 7 + x % -1;
}

// Function constants: out, index
extern const int scale __asm__("constant.scale");
extern const bool flag __asm__("constant.flag");
extern const float vector3[3] __asm__("constant.vector3");
bool defined(const void *) NAMED("mettle.constant_defined");

KERNEL(7) {
  uint i = at<uint>(a[1]);
  int bias = defined(&flag) ? (flag ? 100 : 200) : 300;
  at<device int *>(&a[0])[i] = scale * (int)i + bias + (int)vector3[2];
}

// Recursion of what needs the other threads, which is an error
__attribute__((noinline)) static uint deep(uint n) {
  barrier(2);
  return n < 2 ? n : deep(n - 1) + deep(n - 2);
}
KERNEL(8) {
  at<device uint *>(&a[0])[0] = deep(at<device uint *>(&a[0])[0]);
}

// A function without a definition
uint unheard_of(uint) NAMED("mettle.unheard_of");
KERNEL(9) {
  at<device uint *>(&a[0])[0] = unheard_of(3);
}

// Traps in thread 5: out, index
KERNEL(10) {
  uint i = at<uint>(a[1]);
  if (i == 5) trap(1, "here");
  at<device uint *>(&a[0])[i] = i;
}

// Barriers that part of the threads skip by returning: x, index, size
KERNEL(11) {
  threadgroup uint count[64];
  device uint *x = at<device uint *>(&a[0]);
  uint i = at<uint>(a[1]);
  count[i] = i;
  if (i >= 40) return;
  barrier(2);
  uint neighbour = count[(i + 1) % 40];
  barrier(2);
  count[i] = neighbour;
  barrier(2);
  x[i] = count[(i + 1) % 40];
}

// Products and sums: a, b, c, out [4 each], index
typedef float float_x4 __attribute__((ext_vector_type(4)));
struct float4 {
  float_x4 v;
};
__attribute__((always_inline)) static float4 operator*(float4 a, float4 b) {
  return {a.v * b.v};
}
__attribute__((always_inline)) static float4 operator+(float4 a, float4 b) {
  return {a.v + b.v};
}
KERNEL(12) {
  uint i = at<uint>(a[4]);
  float4 x = {at<device float *>(&a[0])[i]}, y = {at<device float *>(&a[1])[i]},
         z = {at<device float *>(&a[2])[i]};
  device float *out = at<device float *>(&a[3]) + 4 * i;
  out[0] = (x * y + z).v[1];
  out[1] = x.v[0] * y.v[0] - z.v[0];
  out[2] = z.v[0] - x.v[0] * y.v[0];
  float product = x.v[0] * y.v[0];
  out[3] = product + z.v[0];
}

// Large private memory and a copy of it: out, index
struct block {
  uint words[100];
};
__attribute__((noinline)) static block filled(uint seed) {
  block b;
  for (uint i = 0; i < 100; ++i) b.words[i] = seed + i;
  return b;
}
KERNEL(13) {
  uint i = at<uint>(a[1]);
  block b = filled(i);
  block c = b;
  c.words[i % 100] = 7;
  barrier(1);
  uint total = 0;
  for (uint k = 0; k < 100; ++k) total += c.words[(k + i) % 100] * k;
  at<device uint *>(&a[0])[i] = total;
}

// Operations that some machines lack: a, b, c, fused, halves, bfloats, back
// from half, back from bfloat, index
KERNEL(14) {
  uint i = at<uint>(a[8]);
  float x = at<device float *>(&a[0])[i], y = at<device float *>(&a[1])[i],
        z = at<device float *>(&a[2])[i];
  at<device float *>(&a[3])[i] = __builtin_fmaf(x, y, z);
  at<device _Float16 *>(&a[4])[i] = (_Float16)x;
  at<device __bf16 *>(&a[5])[i] = (__bf16)y;
  at<device float *>(&a[6])[i] = (float)(_Float16)x * (float)(_Float16)y;
  __bf16 p = (__bf16)x, q = (__bf16)z;
  at<device float *>(&a[7])[i] = (float)(__bf16)(p * q) + (p < q ? 1.0f : 0.0f);
}

// Constants computed from function constants; kernel 7 has no use for offset,
// which would ask for a value that nobody gives.
extern const int base __asm__("constant.base");
static const int offset = base * 2 + 1;
static const int twice_offset = offset * 2;
KERNEL(15) {
  uint i = at<uint>(a[1]);
  at<device int *>(&a[0])[i] = twice_offset + (int)i;
}

// The same by __builtin_trap, which clang follows with unreachable
KERNEL(16) {
  uint i = at<uint>(a[1]);
  if (i == 5) __builtin_trap();
  at<device uint *>(&a[0])[i] = i;
}

// A function that ends by calling itself is a loop
__attribute__((noinline)) static void count_down(uint n, uint *sum) {
  *sum += n;
  if (n > 1) count_down(n - 1, sum);
}
KERNEL(17) {
  uint i = at<uint>(a[1]);
  uint sum = 0;
  count_down(i, &sum);
  at<device uint *>(&a[0])[i] = sum;
}
