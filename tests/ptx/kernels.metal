// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// kernels.metal: instructions that the PTX of small kernels must have
// (run_ptx.py).
#include <metal_stdlib>
using namespace metal;

// A plain access of device memory and no branch: threadgroups are full.
// has: .visible .entry mettle_kernel(
// has: ld.global.f32
// has: st.global.f32
// has: mad.lo.s32 %r, %r, %r, %r;
// has not: setp
// has not: .local
kernel void copies(device float *to [[buffer(0)]],
                   device const float *from [[buffer(1)]],
                   uint i [[thread_position_in_grid]]) {
  to[i] = from[i];
}

// Threadgroups of 24 threads, of which the last may be cut off: those that it
// does not have end at once.
// group: 24,1,1
// has: min.u32
// has: setp
kernel void copies_to_the_end(device float *to [[buffer(0)]],
                              device const float *from [[buffer(1)]],
                              uint i [[thread_position_in_grid]]) {
  to[i] = from[i];
}

// Constants that hold for the whole dispatch go through the cache for those.
// has: ld.global.nc.f32
// has: fma.rn.f32
// has not: mul.rn.f32
kernel void fuses(device float *y [[buffer(0)]],
                  constant float &a [[buffer(1)]],
                  uint i [[thread_position_in_grid]]) {
  y[i] = a * y[i] + 1;
}

// has: div.rn.f32
// has: sqrt.rn.f32
// has not: .ftz
// has not: .approx
kernel void rounds(device float *y [[buffer(0)]],
                   uint i [[thread_position_in_grid]]) {
  y[i] = sqrt(y[i]) / y[i + 1];
}

// All 32 threads come here: nobody asks who is active.
// has: shfl.sync.idx.b32
// has: 31, -1;
// has not: activemask
kernel void sums(device float *y [[buffer(0)]],
                 uint i [[thread_position_in_grid]]) {
  y[i] = simd_sum(y[i]);
}

// Some of them come here.
// has: activemask.b32
kernel void sums_of_some(device float *y [[buffer(0)]],
                         uint i [[thread_position_in_grid]]) {
  if (y[i] > 1) y[i] = simd_sum(y[i]);
}

// has: redux.sync.add.s32
// has: redux.sync.max.u32
kernel void sums_of_integers(device int *y [[buffer(0)]],
                             device uint *z [[buffer(1)]],
                             uint i [[thread_position_in_grid]]) {
  y[i] = simd_sum(y[i]);
  z[i] = simd_max(z[i]);
}

// Which sm_75 has not.
// target: sm_75
// has not: redux
// has: shfl.sync
kernel void sums_of_integers_before(device int *y [[buffer(0)]],
                                    uint i [[thread_position_in_grid]]) {
  y[i] = simd_sum(y[i]);
}

// has: .extern .shared .align 64 .b8 mettle_shared[];
// has: st.shared.f32
// has: bar.sync 0;
kernel void turns(device float *y [[buffer(0)]],
                  threadgroup float *mine [[threadgroup(0)]],
                  uint i [[thread_index_in_threadgroup]],
                  uint n [[threads_per_threadgroup]]) {
  threadgroup float own[64];
  mine[i] = y[i];
  own[i % 64] = y[i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[i] = mine[n - 1 - i] + own[i / 2 % 64];
}

// has: atom.global.add.u32
// has: atom.shared.max.s32
// has: atom.global.add.f32
kernel void counts(device atomic_uint *y [[buffer(0)]],
                   device atomic_float *z [[buffer(1)]],
                   device int *out [[buffer(2)]],
                   uint i [[thread_index_in_threadgroup]]) {
  threadgroup atomic_int most;
  atomic_store_explicit(&most, 0, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[64 + i] = (int)atomic_fetch_add_explicit(y, 1u, memory_order_relaxed);
  atomic_fetch_max_explicit(&most, out[i], memory_order_relaxed);
  atomic_fetch_add_explicit(z, 0.5f, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[i] = atomic_load_explicit(&most, memory_order_relaxed);
}

// has: fence.sc.gpu;
kernel void publishes(device int *y [[buffer(0)]],
                      device atomic_int *flag [[buffer(1)]],
                      uint i [[thread_position_in_grid]]) {
  y[i] = 1;
  atomic_thread_fence(mem_flags::mem_device, memory_order_seq_cst);
  atomic_store_explicit(flag, 1, memory_order_relaxed);
}

// A short3 takes 8 bytes.
// has: [16] = {255, 255, 254, 255, 253, 255, 0, 0, 1, 0, 2, 0, 3};
constant short3 triples[2] = {short3(-1, -2, -3), short3(1, 2, 3)};
kernel void reads_triples(device short *y [[buffer(0)]],
                          uint i [[thread_position_in_grid]]) {
  y[i] = triples[i & 1].z;
}

// A thread that stops itself ends, and the others of its simdgroup go on.
// has: exit;
// has: atom.cas.b32
// has not: trap;
kernel void stops(device int *y [[buffer(0)]],
                  uint i [[thread_position_in_grid]]) {
  if (y[i] == 7) __builtin_trap();
  y[i] = 1;
}

// Products of tiles in fast math: pairs of the same right side are one; halves
// go as they are, floats in two parts. Tiles of halves are loaded by pairs where
// rows begin at even elements, and the right side is turned.
// target: sm_90 +approximate
// group: 64,1,1
// has: mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32
// has: movmatrix.sync.aligned.m8n8.trans.b16
// has: ld.global.u32
// has: ld.global.u16
// has not: shfl
// has not: 0, 0,
kernel void multiplies_halves(device float *y [[buffer(0)]],
                              device const half *x [[buffer(1)]]) {
  simdgroup_half8x8 a[2], b;
  simdgroup_float8x8 sums[2] = {simdgroup_float8x8(0), simdgroup_float8x8(1)};
  simdgroup_load(a[0], x, 8);
  simdgroup_load(a[1], x + 64, 8);
  simdgroup_load(b, x + 128, 8);
  simdgroup_multiply_accumulate(sums[0], a[0], b, sums[0]);
  simdgroup_multiply_accumulate(sums[1], a[1], b, sums[1]);
  simdgroup_store(sums[0], y, 8);
  simdgroup_store(sums[1], y + 64, 8);
}

// Two that are added to each other are one of 16 columns: here of two turns of
// a loop, with what is left of an odd number of them behind it.
// target: sm_90 +approximate
// group: 32,1,1
// has: mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
// has: mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32
// has not: shfl
kernel void multiplies_in_a_loop(device float *y [[buffer(0)]],
                                 device const bfloat *x [[buffer(1)]],
                                 constant uint &n [[buffer(2)]]) {
  simdgroup_bfloat8x8 a[2], b;
  simdgroup_float8x8 sums[2] = {simdgroup_float8x8(0), simdgroup_float8x8(1)};
  for (uint k = 0; k < n; k += 8) {
    simdgroup_load(a[0], x + k, n);
    simdgroup_load(a[1], x + 8 * n + k, n);
    simdgroup_load(b, x + k * n, n);
    simdgroup_multiply_accumulate(sums[0], a[0], b, sums[0]);
    simdgroup_multiply_accumulate(sums[1], a[1], b, sums[1]);
  }
  simdgroup_store(sums[0], y, 8);
  simdgroup_store(sums[1], y + 64, 8);
}

// Tiles of halves in threadgroup memory come four at once, those of the right
// side turned, where rows begin at multiples of 16 bytes.
// target: sm_90 +approximate
// group: 32,1,1
// has: ldmatrix.sync.aligned.m8n8.x4.shared.b16
// has: ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16
// has: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
// has: ld.shared.u16
// has not: ld.shared.u32
kernel void multiplies_staged_halves(device float *y [[buffer(0)]],
                                     device const half4 *x [[buffer(1)]],
                                     threadgroup half4 *t [[threadgroup(0)]],
                                     uint l [[thread_index_in_threadgroup]]) {
  simdgroup_half8x8 a[4], b[4];
  simdgroup_float8x8 sums[4];
  for (uint i = 0; i < 4; i++) sums[i] = simdgroup_float8x8(0);
  for (uint i = l; i < 128; i += 32) t[i] = x[i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  threadgroup const half *own = (threadgroup const half *)t;
  for (uint i = 0; i < 4; i++) {
    simdgroup_load(a[i], own + 64 * i, 8);
    simdgroup_load(b[i], own + 256 + 8 * i, 32);
  }
  for (uint i = 0; i < 4; i++) {
    simdgroup_multiply_accumulate(sums[i % 2], a[i], b[i / 2], sums[i % 2]);
    simdgroup_multiply_accumulate(sums[2 + i % 2], a[i], b[2 + i / 2],
                                  sums[2 + i % 2]);
  }
  for (uint i = 0; i < 4; i++) simdgroup_store(sums[i], y + 64 * i, 8);
}

// Transposed ones take the other form; rows of another length are loaded one by
// one.
// target: sm_90 +approximate
// group: 32,1,1
// has: ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16
// has: ldmatrix.sync.aligned.m8n8.x1.shared.b16
// has: movmatrix.sync.aligned.m8n8.trans.b16
kernel void multiplies_transposed_halves(
    device float *y [[buffer(0)]], device const half *x [[buffer(1)]],
    uint l [[thread_index_in_threadgroup]]) {
  threadgroup half t[512];
  simdgroup_half8x8 a[2], b[2];
  simdgroup_float8x8 sums[2] = {simdgroup_float8x8(0), simdgroup_float8x8(1)};
  for (uint i = l; i < 512; i += 32) t[i] = x[i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  simdgroup_load(a[0], t, 16, ulong2(0, 0), true);
  simdgroup_load(a[1], t + 8, 16, ulong2(0, 0), true);
  simdgroup_load(b[0], t + 128, 24, ulong2(0, 0), true);
  simdgroup_load(b[1], t + 320, 10);
  for (uint i = 0; i < 2; i++) {
    simdgroup_multiply_accumulate(sums[i], a[i], b[0], sums[i]);
    simdgroup_multiply_accumulate(sums[i], a[i], b[1], sums[i]);
  }
  simdgroup_store(sums[0], y, 8);
  simdgroup_store(sums[1], y + 64, 8);
}

// Vectors are copied 16 bytes at a time, and all are on their way before the
// first is stored to threadgroup memory.
// group: 32,1,1
// has: ld.global.v4.u32
// has: st.shared.v4.u32
// has not: ld.global.u64
// has in order: ld.global.v4 | ld.global.v4 | st.shared.v4 | st.shared.v4
kernel void stages_vectors(device uint4 *y [[buffer(0)]],
                           device const uint4 *x [[buffer(1)]],
                           uint l [[thread_index_in_threadgroup]]) {
  threadgroup uint4 t[64];
  t[l] = x[l];
  t[32 + l] = x[1000 + l];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[l] = t[l ^ 1] + t[63 - l];
}

// Divisions of the program's own in fast math; constants' reciprocals are known.
// target: sm_90 +approximate
// has: div.full.f32
// has: rcp.approx.f32
// has: 0f3EAAAAAB;
// has not: div.rn
kernel void divides(device float4 *y [[buffer(0)]],
                    uint i [[thread_position_in_grid]]) {
  y[i] = y[i] / y[i + 1] + 1.0f / y[i + 2] + y[i + 3] / 3.0f;
}

// has: div.rn.f32
// has not: div.full
kernel void divides_exactly(device float4 *y [[buffer(0)]],
                            uint i [[thread_position_in_grid]]) {
  y[i] = y[i] / y[i + 1] + y[i + 3] / 3.0f;
}

// Two iterations at once, with all loads before the first exchange.
// group: 32,1,1
// has: +-384];
// has: +128];
kernel void sums_in_a_loop(device float *y [[buffer(0)]],
                           device const float *x [[buffer(1)]],
                           uint i [[thread_index_in_simdgroup]]) {
  float sum = 0, most = 0;
  for (uint k = 0; k < 512; k++) {
    const float all = simd_sum(x[k * 128 + i] * x[k * 128 + i + 32]);
    most = max(most, all);
    sum = sum * 0.5f + all / (1 + most);
  }
  y[i] = sum;
}

// A right side that is not loaded here is turned.
// target: sm_90 +approximate
// group: 32,1,1
// has: mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32
// has: cvt.rna.tf32.f32
// has: movmatrix.sync.aligned.m8n8.trans.b16
// has not: shfl
kernel void multiplies_results(device float *y [[buffer(0)]],
                               device const float *x [[buffer(1)]]) {
  simdgroup_float8x8 a, b;
  simdgroup_load(a, x, 8);
  simdgroup_multiply(b, a, a);
  simdgroup_multiply(b, a, b);
  simdgroup_store(b, y, 8);
}

// Not where results are to be other devices', on older machines, where threads
// are missing, or where a function of the simdgroup knows the lanes.
// group: 32,1,1
// has: shfl.sync.idx.b32
// has not: mma.sync
kernel void multiplies_exactly(device float *y [[buffer(0)]],
                               device const half *x [[buffer(1)]]) {
  simdgroup_half8x8 a;
  simdgroup_float8x8 b;
  simdgroup_load(a, x, 8);
  simdgroup_multiply(b, a, a);
  simdgroup_store(b, y, 8);
}

// target: sm_75 +approximate
// group: 32,1,1
// has: shfl.sync.idx.b32
// has not: mma.sync
kernel void multiplies_on_older_ones(device float *y [[buffer(0)]],
                                     device const half *x [[buffer(1)]]) {
  simdgroup_half8x8 a;
  simdgroup_float8x8 b;
  simdgroup_load(a, x, 8);
  simdgroup_multiply(b, a, a);
  simdgroup_store(b, y, 8);
}

// target: sm_90 +approximate
// group: 32,1,1
// has not: mma.sync
kernel void multiplies_and_sums(device float *y [[buffer(0)]],
                                device const half *x [[buffer(1)]],
                                uint i [[thread_index_in_simdgroup]]) {
  simdgroup_half8x8 a;
  simdgroup_float8x8 b;
  simdgroup_load(a, x, 8);
  simdgroup_multiply(b, a, a);
  simdgroup_store(b, y, 8);
  y[64 + i] = simd_sum(y[i]);
}

// target: sm_90 +approximate
// group: 64,1,1
// has not: mma.sync
kernel void multiplies_sometimes(device float *y [[buffer(0)]],
                                 device const half *x [[buffer(1)]],
                                 uint i [[thread_index_in_simdgroup]]) {
  if (y[i] > 0) {
    simdgroup_half8x8 a;
    simdgroup_float8x8 b;
    simdgroup_load(a, x, 8);
    simdgroup_multiply(b, a, a);
    simdgroup_store(b, y, 8);
  }
}

// Threads widen halves or bfloats and fill tiles of floats by themselves: the
// products are those of 16 bits. Of the elements that are neighbours at even
// places LLVM makes one load.
// target: sm_90 +approximate
// group: 32,1,1
// has: ld.shared.u32
// has: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
// has not: tf32
// has not: ld.shared.u16
kernel void multiplies_widened_halves(device float *y [[buffer(0)]],
                                      device const half *x [[buffer(1)]],
                                      uint lane [[thread_index_in_simdgroup]]) {
  threadgroup half staged[32 * 24];
  for (uint i = lane; i < 32 * 24; i += 32) {
    staged[i] = x[i];
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  const uint quad = lane / 4;
  const uint row = (quad & 4) + (lane / 2) % 4;
  const uint column = (quad & 2) * 2 + (lane % 2) * 2;
  simdgroup_float8x8 sums[2] = {simdgroup_float8x8(0), simdgroup_float8x8(0)};
  for (uint k = 0; k < 16; k += 8) {
    simdgroup_float8x8 a[2], b;
    for (uint i = 0; i < 2; i++) {
      thread auto &elements = a[i].thread_elements();
      elements[0] = float(staged[(8 * i + row) * 24 + k + column]);
      elements[1] = float(staged[(8 * i + row) * 24 + k + column + 1]);
    }
    b.thread_elements()[0] = float(staged[(16 + k + row) * 24 + column]);
    b.thread_elements()[1] = float(staged[(16 + k + row) * 24 + column + 1]);
    for (uint i = 0; i < 2; i++) {
      simdgroup_multiply_accumulate(sums[i], a[i], b, sums[i]);
    }
  }
  simdgroup_store(sums[0], y, 8);
  simdgroup_store(sums[1], y + 64, 8);
}

// target: sm_90 +approximate
// group: 32,1,1
// has: mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32
// has not: tf32
kernel void multiplies_widened_bfloats(
    device float *y [[buffer(0)]], device const bfloat *x [[buffer(1)]],
    uint lane [[thread_index_in_simdgroup]]) {
  simdgroup_float8x8 a, b, sum;
  a.thread_elements()[0] = float(x[2 * lane]);
  a.thread_elements()[1] = float(x[2 * lane + 1]);
  b.thread_elements()[0] = float(x[64 + 2 * lane]);
  b.thread_elements()[1] = 0.5f;
  simdgroup_multiply(sum, a, b);
  simdgroup_store(sum, y, 8);
}

// Elements of a matrix's edge that are not there are 0.
// target: sm_90 +approximate
// group: 32,1,1
// has: mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32
// has not: tf32
kernel void multiplies_an_edge(device float *y [[buffer(0)]],
                               device const half *x [[buffer(1)]],
                               constant uint &rows [[buffer(2)]],
                               uint lane [[thread_index_in_simdgroup]]) {
  simdgroup_float8x8 a, b, sum;
  const float2 both = float2(*(device const half2 *)(x + 2 * lane));
  reinterpret_cast<thread float2 &>(a.thread_elements()) = both;
  for (uint i = 0; i < 2; i++) {
    const uint at = 2 * lane + i;
    b.thread_elements()[i] = lane < rows ? float(x[64 + at]) : 0.0f;
  }
  simdgroup_multiply(sum, a, b);
  simdgroup_store(sum, y, 8);
}

// A float that is no half: both sides stay floats.
// target: sm_90 +approximate
// group: 32,1,1
// has: mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32
// has not: .f16.f16.
kernel void multiplies_widened_sums(device float *y [[buffer(0)]],
                                    device const half *x [[buffer(1)]],
                                    uint lane [[thread_index_in_simdgroup]]) {
  simdgroup_float8x8 a, b, sum;
  a.thread_elements()[0] = float(x[2 * lane]) + float(x[lane]);
  a.thread_elements()[1] = float(x[2 * lane + 1]);
  b.thread_elements()[0] = float(x[64 + 2 * lane]);
  b.thread_elements()[1] = 0.1f;
  simdgroup_multiply(sum, a, b);
  simdgroup_store(sum, y, 8);
}

// Accesses of kernels that are made for debugging ask: of an argument's memory,
// and of threadgroup memory. What is the program's own does not.
// debug:
// has: mettle_ask,
// has: .func mettle_ask(
// has: .func mettle_stop(
// has: %dynamic_smem_size
kernel void asks(device uint *out [[buffer(0)]],
                 constant uint *table [[buffer(1)]],
                 threadgroup uint *extra [[threadgroup(0)]],
                 uint i [[thread_position_in_threadgroup]]) {
  threadgroup uint shared[64];
  shared[i] = table[i];
  extra[i] = i;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (i == 63) {
    __builtin_trap();
  }
  out[i] = shared[63 - i] + extra[i ^ 1];
}

// Others do not.
// has not: mettle_ask
kernel void does_not_ask(device uint *out [[buffer(0)]],
                         uint i [[thread_position_in_grid]]) {
  out[i] = i;
}

// A thread that stops itself in a kernel with threadgroup memory.
// has: .func mettle_stop(
kernel void stops_behind_a_barrier(device uint *out [[buffer(0)]],
                                   uint i [[thread_position_in_threadgroup]]) {
  threadgroup uint shared[64];
  shared[i] = out[i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (shared[63 - i] == 7) {
    __builtin_trap();
  }
  out[i] = shared[63 - i];
}
