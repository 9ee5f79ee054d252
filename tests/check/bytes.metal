// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bytes and halves of one word, accessed by different threads, at different
// places and in different orders.
// run: bytes_in_turn --grid 256 --group 64 0=iota:u8:256 1=zeros:u8:256
// expect: 1: 1 2 3 4 5 6 7 8
// run: bytes_unrolled --grid 64 --group 32 0=iota:u8:256 1=zeros:u8:256
// expect: 1: 1 3 5 7 2 4 6 8
// run: nibbles --grid 64 --group 32 0=iota:u8:64 1=zeros:f16:128
// expect: 1: 0 0 1 0 2 0 3 0
// run: far_apart --grid 256,4 --group 256,1 0=zeros:u8:1024
// expect: 0: 0 1 2 3 1 2 3 4
// run: wide_apart --grid 8192,4 --group 256,1 0=zeros:u8:32768
// expect: 0: 0 1 2 3 1 2 3 4
// run: in_phases --grid 64 --group 64 0=iota:u8:64
// expect: 0: 2 0 0 5 12 16 20 24
// run: own_group --grid 64 --group 64 0=iota:u8:64 1=zeros:u8:64
// expect: 1: 63 62 61 60
// run: read_by_all --grid 64 --group 32 0=zeros:u8:68
// run: after_words --grid 16 --group 16 0=zeros:u32:16 1=zeros:u8:64
// expect: 1: 0 0 0 0 1 1 1 1
// run: race_neighbour --grid 64 --group 64 0=zeros:u8:65
// find: race.device @neighbour,@neighbour
// run: race_last_byte --grid 64 --group 32 0=zeros:u8:64
// find: race.device @mine,@last
// run: race_half --grid 64 --group 64 0=zeros:f16:64 1=zeros:f16:64
// find: race.device @half_read,@half_write
// run: race_of_groups --grid 128 --group 32 0=zeros:u8:128
// find: race.device @group_write,@group_read
// run: race_word --grid 64 --group 64 0=zeros:u8:256 1=zeros:u32:64
// find: race.device @word_read,@byte_write
// run: race_in_group --grid 64 --group 64 0=zeros:u8:64
// find: race.threadgroup @shared_write,@shared_read
// run: race_of_sites --grid 64 --group 64 0=zeros:u8:256
// find: race.device @second_byte,@other_second
#include <metal_stdlib>
using namespace metal;
#define I uint i [[thread_position_in_grid]]
#define T uint t [[thread_index_in_threadgroup]]

kernel void bytes_in_turn(device const uchar *x, device uchar *y, I) {
  y[i] = x[i] + 1;
}
kernel void bytes_unrolled(device const uchar *x, device uchar *y, I) {
  y[4 * i] = x[4 * i] + 1 - 3 * i;
  y[4 * i + 1] = x[4 * i + 1] + 2 - 3 * i;
  y[4 * i + 2] = x[4 * i + 2] + 3 - 3 * i;
  y[4 * i + 3] = x[4 * i + 3] + 4 - 3 * i;
}
kernel void nibbles(device const uchar *x, device half *y, I) {
  y[2 * i] = x[i] & 15;
  y[2 * i + 1] = x[i] >> 4;
}
// Bytes of a word by threads of threadgroups that lie far from each other.
kernel void far_apart(device uchar *y, uint2 p [[thread_position_in_grid]]) {
  y[4 * p.x + p.y] = p.x + p.y;
}
kernel void wide_apart(device uchar *y, uint2 p [[thread_position_in_grid]]) {
  y[4 * p.x + p.y] = p.x + p.y;
}
kernel void in_phases(device uchar *y, T) {
  for (uint k = 0; k < 2; ++k) {
    const uchar sum = y[t] + (t > 0 ? y[t - 1] : 1);
    threadgroup_barrier(mem_flags::mem_device);
    y[t] = t == 1 || t == 2 ? 0 : sum;
    threadgroup_barrier(mem_flags::mem_device);
  }
}
kernel void own_group(device uchar *x, device uchar *y, T) {
  threadgroup uchar part[64];
  part[t] = x[t];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = part[63 - t];
}
// All threads read bytes that nobody writes, beside bytes that some write.
kernel void read_by_all(device uchar *y, I) {
  y[4 + i] = y[0] + y[1] + y[2] + y[3];
}
kernel void after_words(device uint *x, device uchar *y, T) {
  x[t] = t * 0x01010101u;
  threadgroup_barrier(mem_flags::mem_device);
  device const uchar *bytes = (device const uchar *)x;
  for (uint k = 0; k < 4; ++k) y[4 * t + k] = bytes[4 * t + k];
}

kernel void race_neighbour(device uchar *y, I) {
  y[i] = y[i + 1] + 1;  // @neighbour
}
kernel void race_last_byte(device uchar *y, I) {
  y[i] = i + 1;             // @mine
  if (i == 40) y[63] = 99;  // @last
}
kernel void race_half(device half *y, device half *z, I) {
  z[i] = y[i ^ 1];    // @half_read
  y[i] = i;           // @half_write
}
kernel void race_of_groups(device uchar *y, I) {
  y[i] = i + 1;                                   // @group_write
  threadgroup_barrier(mem_flags::mem_device);
  if (i % 32 == 0) y[i] = y[(i + 33) % 128] + y[i];  // @group_read
}
kernel void race_word(device uchar *y, device uint *z, I) {
  y[4 * i + 2] = i + 1;                                    // @byte_write
  z[i] = ((device const uint *)y)[(i + 1) % 64];           // @word_read
}
kernel void race_in_group(device uchar *y, T) {
  threadgroup uchar part[64];
  part[t] = t;           // @shared_write
  y[t] = part[t ^ 1];    // @shared_read
}
kernel void race_of_sites(device uchar *y, I) {
  y[4 * i] = 1;
  y[4 * i + 1] = i + 2;                      // @second_byte
  y[4 * i + 2] = 3;
  y[4 * i + 3] = 4;
  if (i == 9) y[4 * 10 + 1] = 200;           // @other_second
}
