// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// kernels.h: what a kernel of the vectoriser's differential tests sees: one set
// of parameters for all, and the functions of docs/ir.md. C++ as the frontend
// would hand it on.
#define device __attribute__((opencl_global))
#define threadgroup static __attribute__((section(".mettle.threadgroup")))
#define KERNEL(number)                                                     \
  static void body_##number(const input &in);                              \
  extern "C" __attribute__((used)) void kernel_##number(void **a) __asm__( \
      "mettle.kernel." #number);                                           \
  extern "C" void kernel_##number(void **a) {                              \
    body_##number(make(a));                                                \
  }                                                                        \
  static void body_##number(const input &in)
#define NAMED(name) __asm__(name)

typedef unsigned uint;
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned long ulong;
typedef float float4 __attribute__((ext_vector_type(4)));
typedef uint uint4v __attribute__((ext_vector_type(4)));
struct uint3 {
  uint x, y, z, padding;
};

struct input {
  device float *x;     // [threads * 16] inputs
  device int *n;       // [threads * 16]
  device float *out;   // [threads * 16]
  device uint *bits;   // [threads * 16]
  device uint *p;  // [8] the same for all threads: their number, a width, ...
  uint3 at, in_group;  // thread_position_in_grid, _in_threadgroup
  uint index, lane, simdgroup;
  uint3 group_size, group, grid;
  uint self;  // linear position in the grid, rows of grid.x
};

template <class T>
static T &at(void *p) {
  return *(T *)p;
}

static input make(void **a) {
  input in;
  in.x = at<device float *>(&a[0]);
  in.n = at<device int *>(&a[1]);
  in.out = at<device float *>(&a[2]);
  in.bits = at<device uint *>(&a[3]);
  in.p = at<device uint *>(&a[4]);
  in.at = at<uint3>(a[5]);
  in.in_group = at<uint3>(a[6]);
  in.index = at<uint>(a[7]);
  in.lane = at<uint>(a[8]);
  in.simdgroup = at<uint>(a[9]);
  in.group_size = at<uint3>(a[10]);
  in.group = at<uint3>(a[11]);
  in.grid = at<uint3>(a[12]);
  in.self = in.at.x + in.grid.x * (in.at.y + in.grid.y * in.at.z);
  return in;
}

void barrier(int flags) NAMED("mettle.barrier.threadgroup");
void simd_barrier(int flags) NAMED("mettle.barrier.simdgroup");
uint ballot(bool predicate) NAMED("mettle.simd.ballot");
uint shuffle(uint value, uint lane) NAMED("mettle.simd.shuffle.i32");
ulong shuffle64(ulong value, uint lane) NAMED("mettle.simd.shuffle.i64");
float sum(float value) NAMED("mettle.simd.reduce.add.f32");
float largest(float value) NAMED("mettle.simd.reduce.max.f32");
int smallest(int value) NAMED("mettle.simd.reduce.min.i32");
uint largest_uint(uint value) NAMED("mettle.simd.reduce.max.u32");
float product(float value) NAMED("mettle.simd.reduce.mul.f32");
ulong sum64(ulong value) NAMED("mettle.simd.reduce.add.i64");
ulong tile_load(const void *p, ulong stride, bool transposed)
    NAMED("mettle.tile.load.i64");
uint tile_load16(const void *p, ulong stride, bool transposed)
    NAMED("mettle.tile.load.i32");
void tile_store(ulong tile, void *p, ulong stride, bool transposed)
    NAMED("mettle.tile.store.i64");
void tile_store16(uint tile, void *p, ulong stride, bool transposed)
    NAMED("mettle.tile.store.i32");
ulong tile_widen(uint halves) NAMED("mettle.tile.widen.f16");
ulong tile_widen_bfloat(uint halves) NAMED("mettle.tile.widen.bf16");
ulong tile_product(ulong a, ulong b, ulong c)
    NAMED("mettle.tile.multiply_add") __attribute__((convergent));
uint sum_int(uint value) NAMED("mettle.simd.reduce.add.i32");
uint any_bit(uint value) NAMED("mettle.simd.reduce.or.i32");
float prefix(float value) NAMED("mettle.simd.scan.inclusive.add.f32");
float before(float value) NAMED("mettle.simd.scan.exclusive.add.f32");
float before_product(float value) NAMED("mettle.simd.scan.exclusive.mul.f32");
uint prefix_int(uint value) NAMED("mettle.simd.scan.inclusive.add.i32");
_Float16 sum_half(_Float16 value) NAMED("mettle.simd.reduce.add.f16");
