// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bytes and halves that lanes access two to eight bytes apart: all lanes, some,
// every other one, where an index wraps, up to the last element of a buffer of
// whole pages. An element holds its own index; threads compare.
// run: shorts --grid 2048 --group 256 0=iota:u16:8192 1=zeros:u32:2 2=u32:2048
// expect: 1: 0 2048
// run: shorts --grid 2048 --group 256 0=iota:u16:8192 1=zeros:u32:2 2=u32:2029
// expect: 1: 0 2029
// run: bytes --grid 2048 --group 64 0=iota:u8:16384 1=zeros:u32:2 2=u32:2041
// expect: 1: 0 2041
// run: halves --grid 512 --group 100 0=iota:f16:2048 1=zeros:u32:2 2=u32:509
// expect: 1: 0 509
// run: wrapping --grid 64 --group 64 0=iota:u16:4096 1=zeros:u32:2
// expect: 1: 0 64
// run: stores --grid 1024 --group 128 0=zeros:u8:8192 1=zeros:u16:4096 2=u32:1021
// run: odd_stores --grid 1024 --group 128 0=zeros:u8:8192 1=zeros:u16:4096
#include <metal_stdlib>
using namespace metal;

static void count(device atomic_uint *counts, uint wrong) {
  atomic_fetch_add_explicit(&counts[0], wrong, memory_order_relaxed);
  atomic_fetch_add_explicit(&counts[1], 1, memory_order_relaxed);
}

kernel void shorts(device const ushort *a [[buffer(0)]],
                   device atomic_uint *counts [[buffer(1)]],
                   constant uint &n [[buffer(2)]],
                   uint i [[thread_position_in_grid]]) {
  if (i >= n) {
    return;
  }
  uint wrong = (a[4 * i + 3] != 4 * i + 3) + (a[2 * i + 1] != 2 * i + 1);
  wrong += (a + 4096)[2 * i + 1] != 4096 + 2 * i + 1;
  if (i & 1) {
    wrong += (a[4 * i] != 4 * i) + (a[4 * i + 2] != 4 * i + 2);
  }
  count(counts, wrong);
}

kernel void bytes(device const uchar *a [[buffer(0)]],
                  device atomic_uint *counts [[buffer(1)]],
                  constant uint &n [[buffer(2)]],
                  uint i [[thread_position_in_grid]]) {
  if (i >= n) {
    return;
  }
  uint wrong = a[8 * i + 7] != uchar(8 * i + 7);
  wrong += a[8192 + 4 * i + 3] != uchar(4 * i + 3);
  wrong += a[12288 + 2 * i + 1] != uchar(2 * i + 1);
  if (i % 3) {
    wrong += (a[8 * i] != uchar(8 * i)) + (a[4 * i] != uchar(4 * i));
  }
  count(counts, wrong);
}

kernel void halves(device const half *a [[buffer(0)]],
                   device atomic_uint *counts [[buffer(1)]],
                   constant uint &n [[buffer(2)]],
                   uint i [[thread_position_in_grid]]) {
  if (i >= n) {
    return;
  }
  uint wrong = 0;
  for (uint k = 0; k < (i & 3) + 1; k++) {
    wrong += a[4 * i + k] != half(4 * i + k);
  }
  count(counts, wrong);
}

kernel void wrapping(device const ushort *a [[buffer(0)]],
                     device atomic_uint *counts [[buffer(1)]],
                     uint i [[thread_position_in_grid]]) {
  const uint low = 4 * i - 40;
  uint wrong = 0;
  if (i != 3) {
    wrong += a[(low + 80) & 1023] != ((low + 80) & 1023);
    wrong += (a + 64)[int(low)] != ushort(64 + int(low));
    wrong += (i < 10 ? a[i] : a[low]) != ushort(i < 10 ? i : low);
  }
  count(counts, wrong);
}

kernel void stores(device uchar *bytes [[buffer(0)]],
                   device ushort *shorts [[buffer(1)]],
                   constant uint &n [[buffer(2)]],
                   uint i [[thread_position_in_grid]]) {
  if (i < n) {
    bytes[8 * i + 7] = uchar(i);
    bytes[4 * i] = uchar(i + 1);
    shorts[4 * i + 3] = ushort(i);
    shorts[2 * i] = ushort(i + 2);
  }
}

kernel void odd_stores(device uchar *bytes [[buffer(0)]],
                       device ushort *shorts [[buffer(1)]],
                       uint i [[thread_position_in_grid]]) {
  if (i % 5 < 3) {
    bytes[8 * i + 2] = uchar(i);
    shorts[4 * i + 1] = ushort(i);
  }
}
