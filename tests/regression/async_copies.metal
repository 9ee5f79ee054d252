// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Copies by a simdgroup that Metal's headers do not declare and programs do, by
// their names in Apple's intermediate representation, one as newer compilers
// want it escaped.
// run: tiles --grid 64 --group 64 0=iota:f32:40 1=zeros:f32:24 2=zeros:u8:12
// expect: 1: 8 9 10 0 18 19 20 0 0 0 0 0 8 9 10 10 18 19 20 20 18 19 20 20
// expect: 2: 0 0 0 64 0 0 64 64 0 0 128 64
// One template that copies elements of two types.
// run: of_two_types --grid 32 --group 32 0=iota:f16:32 1=iota:f32:32
// expect: 1: 0 2 4 6 8 10 12 14 16 18 20 22 24 26 28 30 32
#include <metal_stdlib>
using namespace metal;

struct _simdgroup_event_t;
thread _simdgroup_event_t *copy_in(ulong, ulong, threadgroup void *, ulong, ulong, ulong2,
                                   const device void *, ulong, ulong, ulong2, long2, int)
    __asm("air.simdgroup_async_copy_2d.p3i8.p1i8");
thread _simdgroup_event_t *copy_out(ulong, ulong, device void *, ulong, ulong, ulong2,
                                    const threadgroup void *, ulong, ulong, ulong2, long2, int)
    __asm("\1air.simdgroup_async_copy_2d.p1i8.p3i8");
thread _simdgroup_event_t *copy_in(ulong, ulong, threadgroup void *, const device void *, ulong)
    __asm("air.simdgroup_async_copy_1d.p3i8.p1i8");
void wait(int, thread _simdgroup_event_t **) __asm("air.wait_simdgroup_events");

kernel void tiles(const device float *rows [[buffer(0)]], device float *out [[buffer(1)]],
                  device uchar *bytes [[buffer(2)]], uint simdgroup [[simdgroup_index_in_threadgroup]]) {
  threadgroup float zero[12], edge[12];
  threadgroup packed_half3 triples[2];
  if (simdgroup == 0) {
    thread _simdgroup_event_t *events[3];
    events[0] = copy_in(4, 4, zero, 4, 1, ulong2(4, 3), rows + 8, 10, 1, ulong2(3, 2), long2(0), 0);
    events[1] = copy_in(4, 4, edge, 4, 1, ulong2(4, 3), rows + 8, 10, 1, ulong2(3, 2), long2(0), 1);
    events[2] = copy_in(6, 2, triples, (const device packed_half3 *)(rows + 2), 2);
    wait(3, events);
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (simdgroup == 1) {
    thread _simdgroup_event_t *events[3];
    events[0] = copy_out(4, 4, out, 12, 1, ulong2(12, 1), zero, 12, 1, ulong2(12, 1), long2(0), 0);
    events[1] = copy_out(4, 4, out + 12, 12, 1, ulong2(12, 1), edge, 12, 1, ulong2(12, 1), long2(0), 0);
    events[2] = copy_out(6, 2, bytes, 1, 1, ulong2(1, 2), triples, 1, 1, ulong2(1, 2), long2(0), 0);
    wait(3, events);
  }
}

template <typename T>
void load(threadgroup T *to, const device T *from, uint count) {
  thread _simdgroup_event_t *event =
      copy_in(sizeof(T), alignof(T), reinterpret_cast<threadgroup void *>(to), count, 1, ulong2(count, 1),
              reinterpret_cast<const device void *>(from), count, 1, ulong2(count, 1), long2(0), 0);
  wait(1, &event);
}
kernel void of_two_types(const device half *halves [[buffer(0)]], device float *floats [[buffer(1)]],
                         uint i [[thread_index_in_threadgroup]]) {
  threadgroup half h[32];
  threadgroup float f[32];
  load(h, halves, 32);
  load(f, floats, 32);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  floats[i] = f[i] + float(h[i]);
}
