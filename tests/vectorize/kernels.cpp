// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// kernels.cpp: kernels of many shapes of control flow and memory access.
#include "kernels.h"

// streaming
KERNEL(0) {
  in.out[in.self] = 2.5f * in.x[in.self] + in.out[in.self];
}

// Mandelbrot: a divergent loop
KERNEL(1) {
  float cx = (float)(int)in.at.x / (float)in.grid.x * 3 - 2.1f;
  float cy = (float)(int)in.at.y / (float)in.grid.y * 2.4f - 1.2f;
  float x = 0, y = 0;
  uint i = 0;
  while (i < 100 && x * x + y * y < 4) {
    float t = x * x - y * y + cx;
    y = 2 * x * y + cy;
    x = t;
    i++;
  }
  in.bits[in.self] = i;
}

// matrix product, one row of threads a row of the result; inputs of 16 columns
KERNEL(2) {
  uint inner = in.p[2];
  float total = 0;
  for (uint k = 0; k < inner; k++) {
    total += in.x[in.at.y * inner + k] * in.x[k * in.grid.x + in.at.x];
  }
  in.out[in.self] = total;
}

// if, else, nested, with and without memory
KERNEL(3) {
  float v = in.x[in.self];
  int k = in.n[in.self];
  if (v > 0.25f) {
    v = __builtin_sqrtf(v) + 1;
    if (k & 1) {
      v += in.x[in.self + 1];
    } else {
      in.bits[in.self] = k;
      v -= 3;
    }
  } else if (v < -0.25f) {
    v = v * v;
  } else {
    v = k % 7;
  }
  in.out[in.self] = v;
}

// nested divergent loops, break, continue
KERNEL(4) {
  int k = in.n[in.self];
  uint total = 0;
  for (int i = 0; i < (k & 15); i++) {
    if ((i + k) % 3 == 0) continue;
    for (int j = 0; j < ((k >> 4) & 7); j++) {
      total += i * j;
      if (total % 11 == 5) break;
      total ^= in.n[in.self * 4 + (j & 3)];
    }
    if (total % 29 == 7) break;
  }
  in.bits[in.self * 16 + 15] = total;
}

// early returns
KERNEL(5) {
  int k = in.n[in.self];
  if (in.self >= in.p[0] - 5) return;
  in.out[in.self] = 1;
  if (k % 5 == 0) {
    in.bits[in.self] = 77;
    return;
  }
  for (int i = 0; i < 10; i++) {
    if (((k >> i) & 3) == 3) {
      in.bits[in.self] = i;
      return;
    }
    in.out[in.self] += i;
  }
  in.bits[in.self] = 99;
}

// switch, with fallthrough
KERNEL(6) {
  int k = in.n[in.self];
  float v = in.x[in.self];
  switch (k & 7) {
    case 0: v += 1; break;
    case 1: v *= 2;
    case 2: v -= 3; break;
    case 3: in.bits[in.self] = 3; break;
    case 5: v = -v;
    case 6: v += in.x[in.self + 2];
    default: v *= 0.5f;
  }
  in.out[in.self] = v;
}

// private memory: indexed by a constant pattern, by data, by a uniform value
KERNEL(7) {
  float held[12];
  for (int i = 0; i < 12; i++) held[i] = in.x[in.self + i];
  uint first = in.n[in.self] & 7;
  for (uint i = 0; i < 4; i++) held[first + i] += held[i * in.p[3] % 12];
  float total = 0;
  for (uint i = 0; i < in.p[3]; i++) total = total * 0.5f + held[(i * 5) % 12];
  in.out[in.self] = total;
}

// tree sum in threadgroup memory
KERNEL(8) {
  threadgroup float held[1024];
  held[in.index] = in.x[in.self];
  barrier(2);
  uint n = in.group_size.x * in.group_size.y * in.group_size.z;
  for (uint half = 512; half > 0; half /= 2) {
    if (in.index < half && in.index + half < n) {
      held[in.index] += held[in.index + half];
    }
    barrier(2);
  }
  in.out[in.self] = held[0];
}

// tiles: barriers in a uniform loop, values alive across
KERNEL(9) {
  threadgroup float a[1024], b[1024];
  float total = 0, other = 1;
  uint n = in.group_size.x * in.group_size.y * in.group_size.z;
  for (uint t = 0; t < in.p[2]; t++) {
    a[in.index] = in.x[in.self * 8 + t];
    b[in.index] = in.x[in.self + t];
    barrier(2);
    for (uint k = 0; k < 16; k++) {
      total += a[(in.index + k) % n] * b[k % n];
    }
    other = other * 0.9f + total;
    barrier(2);
  }
  in.out[in.self] = total - other;
}

// simdgroup functions, all threads
KERNEL(10) {
  float x = in.x[in.self];
  uint k = in.n[in.self];
  device float *out = in.out + 16 * in.self;
  device uint *bits = in.bits + 16 * in.self;
  out[0] = sum(x);
  out[1] = largest(x);
  out[2] = product(x);
  out[3] = prefix(x);
  out[4] = before(x);
  out[5] = before_product(x);
  out[6] = (float)sum_half((_Float16)x);
  bits[0] = any_bit(1u << (k % 32));
  bits[1] = smallest((int)k);
  bits[2] = largest_uint(k);
  bits[3] = ballot(k & 1);
  bits[4] = prefix_int(k);
  bits[5] = sum64((ulong)k << 9) >> 5;
  bits[6] = sum_int(k);
}

// simdgroup functions, some threads, in loops
KERNEL(11) {
  float x = in.x[in.self];
  uint k = in.n[in.self];
  device float *out = in.out + 16 * in.self;
  device uint *bits = in.bits + 16 * in.self;
  if (k % 3 == 0) {
    out[0] = sum(x);
    out[1] = prefix(x);
    out[2] = before(x);
  } else {
    out[0] = -sum(x);
    if (k % 3 == 1) out[1] = largest(x);
    out[2] = smallest(k);
  }
  uint total = 0;
  for (uint turn = 0; turn < k % 5; turn++) {
    if ((turn + k) % 2) continue;
    total = 31 * total + ballot(true);
  }
  bits[0] = total;
  bits[1] = ballot(true);
}

// shuffles among threads of whole simdgroups (others are unspecified)
KERNEL(12) {
  uint k = in.n[in.self];
  device uint *bits = in.bits + 16 * in.self;
  uint n = in.group_size.x * in.group_size.y * in.group_size.z;
  uint alive = n - in.simdgroup * 32 < 32 ? n - in.simdgroup * 32 : 32;
  bits[0] = shuffle(k, (in.lane ^ 1) % alive);
  bits[1] = shuffle(k, k % alive);
  bits[2] = shuffle(k, 3 % alive);
  bits[3] = shuffle64((ulong)k * 12345678901ul, (in.lane + 5) % alive) >> 20;
  uint value = k;
  for (uint step = 16; step > 0; step /= 2) {
    uint other = shuffle(value, in.lane ^ step);
    if ((in.lane ^ step) < alive) value += other;
  }
  bits[4] = alive == 32 ? value : 0;
}

// atomics: no order shows
KERNEL(13) {
  uint k = in.n[in.self];
  __atomic_fetch_add((uint *)&in.bits[0], 1u, __ATOMIC_RELAXED);
  __atomic_fetch_or((uint *)&in.bits[1 + (k & 7)], k, __ATOMIC_RELAXED);
  if (k & 1)
    __atomic_fetch_max((uint *)&in.bits[10 + (k % 3)], k, __ATOMIC_RELAXED);
  __atomic_fetch_xor((uint *)&in.bits[20], k * 7, __ATOMIC_RELAXED);
  __atomic_fetch_min((int *)&in.bits[21], (int)k, __ATOMIC_RELAXED);
}

// atomics whose results show: every thread has its own
KERNEL(14) {
  uint k = in.n[in.self];
  uint old =
      __atomic_fetch_add((uint *)&in.bits[in.self * 2], k, __ATOMIC_RELAXED);
  uint expected = k & 1 ? old : old + k;
  bool same =
      __atomic_compare_exchange_n((uint *)&in.bits[in.self * 2], &expected, 5u,
                                  false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  in.bits[in.self * 2 + 1] = same ? expected : expected + 1000;
  in.out[in.self] =
      __atomic_load_n((uint *)&in.bits[in.self * 2], __ATOMIC_RELAXED);
}

// vectors of four
KERNEL(15) {
  device float4 *x = (device float4 *)in.x;
  device float4 *out = (device float4 *)in.out;
  float4 a = x[in.self], b = x[in.self + 1];
  float4 c = a * b + a.wzyx;
  if (c.x > c.y) c.xy = c.zw;
  out[in.self] = c;
  uint4v u = __builtin_convertvector(c * 100 > 3, uint4v);
  ((device uint4v *)in.bits)[in.self] = u;
}

// integer division
KERNEL(16) {
  int k = in.n[in.self], d = in.n[in.self + 1];
  device uint *bits = in.bits + 16 * in.self;
  bits[0] = k / d;
  bits[1] = k % d;
  bits[2] = (uint)k / (uint)d;
  bits[3] = (uint)k % (uint)d;
  bits[4] = k / 7;
  bits[5] = (uint)k % 10;
  bits[6] = (short)k / (short)d;
  bits[7] = (uchar)k % (uchar)d;
  bits[8] = (uint)(((long)k * 98765432101l) / d);
  if (d > 1) bits[9] = (uint)(((ulong)k << 17) % (ulong)d);
  bits[10] = k / (int)in.p[3];
}

// narrow and wide types
KERNEL(17) {
  device uchar *bytes = (device uchar *)in.bits;
  device short *shorts = (device short *)in.n;
  device ulong *longs = (device ulong *)in.out;
  uint k = in.n[in.self];
  ulong wide = (ulong)k * k + shorts[in.self];
  bytes[in.self] = (uchar)(k >> 3) + bytes[in.self + 1 - 1];
  longs[in.self] = wide * 3 + (wide >> 7);
  bytes[in.p[0] + in.self * 3] = (uchar)k;
  bytes[in.p[0] + in.self * 3 + 2] = (uchar)(k > 100);
}

// half
KERNEL(18) {
  device _Float16 *out = (device _Float16 *)in.out;
  _Float16 a = (_Float16)in.x[in.self], b = (_Float16)in.x[in.self + 3];
  _Float16 c = a * b + a;
  if (c > b) c = c / (b + (_Float16)2.0f);
  out[in.self] = c;
  in.bits[in.self] = (int)(float)(c * (_Float16)16.0f);
}

// a stencil with edges
KERNEL(19) {
  uint x = in.at.x, y = in.at.y, w = in.grid.x, h = in.grid.y;
  float v = in.x[in.self] * 4;
  if (x > 0) v -= in.x[in.self - 1];
  if (x + 1 < w) v -= in.x[in.self + 1];
  if (y > 0) v -= in.x[in.self - w];
  if (y + 1 < h) v -= in.x[in.self + w];
  in.out[in.self] = v;
}

// flow with several entries into a loop
KERNEL(20) {
  int k = in.n[in.self] & 63;
  uint total = 0;
  if (k & 1) goto middle;
top:
  total += 3 * k;
  if (total > 500) goto end;
middle:
  total ^= k;
  k -= 3;
  if (k > 0) goto top;
end:
  in.bits[in.self] = total;
}

// uniform branches, and loops inside divergent ones
KERNEL(21) {
  float v = in.x[in.self];
  if (in.p[2] > 3) {
    v += in.x[in.p[3]];
  } else {
    v -= in.x[in.p[3] + 1];
  }
  if (v > 0.5f) {
    for (uint k = 0; k < in.p[2]; k++) {
      if (in.p[3] == k) {
        v += in.x[k * 32];
      } else {
        v *= 1.0f + in.x[in.self + k];
      }
    }
  }
  in.out[in.self] = v;
}

// arrays of structures, three and two elements apart
KERNEL(22) {
  device float *r = in.x + 3 * in.self;
  device float *o = in.out + 3 * in.self;
  float l = r[0] * r[0] + r[1] * r[1] + r[2] * r[2];
  if (l > 0.5f) {
    o[0] = r[1];
    o[1] = r[2] * l;
  }
  o[2] = in.x[2 * in.self + 1] + in.x[5 * in.self];
}

// bitonic sort of a threadgroup's first 64
KERNEL(23) {
  threadgroup uint held[1024];
  held[in.index] = in.n[in.self];
  barrier(2);
  for (uint k = 2; k <= 64; k *= 2) {
    for (uint j = k / 2; j > 0; j /= 2) {
      uint other = in.index ^ j;
      if (other > in.index && other < 64 && in.index < 64) {
        uint a = held[in.index], b = held[other];
        bool up = (in.index & k) == 0;
        if ((a > b) == up) {
          held[in.index] = b;
          held[other] = a;
        }
      }
      barrier(2);
    }
  }
  in.bits[in.self] = held[in.index];
}

// private memory and divergent values alive across barriers; some have left
KERNEL(24) {
  threadgroup float held[1024];
  float mine[6];
  uint k = in.n[in.self];
  for (uint i = 0; i < 6; i++) mine[i] = in.x[in.self + i];
  held[in.index] = 0;
  if (in.self >= in.p[0] - 3) return;
  bool odd = k & 1;
  float v = odd ? mine[k % 6] : 2;
  held[in.index] = v;
  barrier(2);
  uint n = in.group_size.x * in.group_size.y * in.group_size.z;
  v += held[(in.index + 7) % n];
  if (odd) {
    mine[(k >> 3) % 6] = v;
  }
  barrier(2);
  held[in.index] = mine[(k >> 5) % 6];
  barrier(2);
  in.out[in.self] = odd ? held[(in.index + 3) % n] + v : held[in.index];
}

// indices that wrap around in 32 bits, and in 16
KERNEL(25) {
  uint i = in.self - 7;
  if (in.self >= 7) in.out[i] = in.x[i];
  ushort s = (ushort)in.self + 65530;
  in.bits[s] = in.self;
  uint far = in.self * 0x10000001u;
  in.out[(far >> 4) & 1023] = 3;
}

// addresses from either side; a pointer that differs
KERNEL(26) {
  uint k = in.n[in.self];
  device float *from = k & 1 ? in.x : in.out;
  float v = from[in.self];
  device float *to = in.p[2] & 1 ? in.out + 20000 + in.self
                                 : in.out + in.self + 20001;
  in.bits[in.self] = *(uint *)&v;
  if (k & 2) *to = k;
}

// the last thread's value stays
KERNEL(27) {
  in.out[5] = in.x[in.self & ~31u];
  if (in.n[in.self] & 1) in.bits[in.group.x + 8] = 17;
}

// loops with several exits to different places
KERNEL(28) {
  uint k = in.n[in.self], r = 0;
  uint i = 0;
  for (;;) {
    k = k * 1664525u + 1013904223u;
    if ((k >> 28) == 3) {
      r = 100 + i;
      goto found;
    }
    if ((k >> 28) == 5) {
      r = 200;
      break;
    }
    if (++i > in.p[2]) {
      r = 300;
      goto done;
    }
  }
  r += in.bits[in.self * 2 + 1];
found:
  in.out[in.self] = k;
done:
  in.bits[in.self * 2] = r;
}

// reversal in memory; a loop with a uniform number of turns, unknown here
KERNEL(29) {
  float total = 0;
  for (uint i = in.lane; i < in.p[1]; i += 32) total += in.x[in.self * 2 + i];
  float held = 0;
  for (uint i = 0; i < in.p[2]; i++) {
    held = held * 0.5f + in.x[i];
    if (held > 3) break;
  }
  in.out[in.self] = sum(total) + held;
}

// bits, saturation, conversions
KERNEL(30) {
  float v = in.x[in.self] * 300;
  int k = in.n[in.self];
  device uint *bits = in.bits + 16 * in.self;
  bits[0] = __builtin_popcount(k);
  bits[1] = k ? __builtin_clz(k) : 32;
  bits[2] = __builtin_elementwise_min(k, 77);
  bits[3] = __builtin_elementwise_max((uint)k, 1000000u);
  bits[4] = __builtin_elementwise_add_sat(k, k);
  bits[5] = (int)v;
  bits[6] = (uint)v;
  bits[7] = (uchar)(uint)v;
  bits[8] = __builtin_bswap32(k);
  bits[9] = k << (k & 31);
  bits[10] = (k >> (k & 31)) | __builtin_rotateleft32(k, 7);
  in.out[in.self] = __builtin_floorf(v) + __builtin_ceilf(v) +
                    __builtin_truncf(v) + __builtin_fabsf(v) +
                    __builtin_fminf(v, 3.0f) + __builtin_fmaf(v, v, 1.0f) +
                    __builtin_copysignf(2.0f, v) + __builtin_rintf(v);
}

// rows of threads: positions in two dimensions
KERNEL(31) {
  uint i = in.at.y * in.p[1] + in.at.x;
  float v = in.x[i] + in.x[in.at.y] * in.x[in.at.x];
  threadgroup float held[1024];
  held[in.in_group.y * in.group_size.x + in.in_group.x] = v;
  barrier(2);
  v += held[in.in_group.y * in.group_size.x];
  in.out[i] = v + held[in.in_group.x];
}

// trouble for guards: uniform memory accesses and divisions behind conditions
KERNEL(32) {
  int k = in.n[in.self];
  float v = 0;
  if (k & 1) {
    if (k & 2) {
      v = in.x[in.p[3]];
    }
    uint d = in.p[3] - 3;
    v += d ? (float)(in.p[2] / d) : 1.0f;
    if (in.p[2] == 5) v += in.x[in.p[2]];
  }
  if (k > in.grid.x * 1000) {
    in.out[in.p[0] + 20000] = 1;
  }
  in.out[in.self] = v;
}

// a loop in a loop, both left at different times, with values carried
KERNEL(33) {
  uint k = in.n[in.self] & 1023, steps = 0, peak = 0;
  while (k != 1 && steps < 60) {
    uint low = 0;
    while ((k & 1) == 0 && k) {
      k >>= 1;
      low++;
    }
    if (k == 1 || k == 0) break;
    k = 3 * k + 1;
    if (k > peak) peak = k;
    steps += low + 1;
  }
  in.bits[in.self * 2] = steps;
  in.bits[in.self * 2 + 1] = peak;
}

// private structures copied whole, and memory of mixed widths
struct item {
  float value;
  uint key;
  ushort small[2];
};
KERNEL(34) {
  item items[5];
  for (uint i = 0; i < 5; i++) {
    items[i].value = in.x[in.self + i];
    items[i].key = in.n[in.self + i];
    items[i].small[0] = (ushort)i;
    items[i].small[1] = (ushort)(in.n[in.self] >> i);
  }
  for (uint i = 1; i < 5; i++) {
    for (uint j = i; j > 0 && items[j].value < items[j - 1].value; j--) {
      item t = items[j];
      items[j] = items[j - 1];
      items[j - 1] = t;
    }
  }
  uint which = in.n[in.self] % 5u;
  in.out[in.self] = items[which].value;
  in.bits[in.self] = items[which].key + items[4 - which].small[1] +
                     items[which].small[0];
}

// histogram in threadgroup memory
KERNEL(35) {
  threadgroup uint counts[64];
  for (uint i = in.index; i < 64; i += in.group_size.x * in.group_size.y *
                                       in.group_size.z) {
    counts[i] = 0;
  }
  barrier(2);
  __atomic_fetch_add((uint *)&counts[(uint)in.n[in.self] % 64], 1u,
                     __ATOMIC_RELAXED);
  barrier(2);
  if (in.index < 64) {
    __atomic_fetch_add((uint *)&in.bits[in.index], counts[in.index],
                       __ATOMIC_RELAXED);
  }
}

// atomics of all threads on one address: results show in lane order only
// within a simdgroup, so a threadgroup of one simdgroup is what is compared
KERNEL(36) {
  threadgroup uint counter, other, low;
  if (in.index == 0) {
    counter = other = 3;
    low = 1000;
  }
  barrier(2);
  uint k = in.n[in.self];
  uint n = in.group_size.x * in.group_size.y * in.group_size.z;
  __atomic_fetch_min((uint *)&low, k, __ATOMIC_RELAXED);
  if (k & 1) {
    uint place = __atomic_fetch_add((uint *)&counter, k & 7, __ATOMIC_RELAXED);
    if (n <= 32) in.bits[in.self] = place;
  } else {
    __atomic_fetch_sub((uint *)&other, 2u, __ATOMIC_RELAXED);
  }
  barrier(2);
  in.out[in.self] = counter + other + low;
}

// private memory filled and copied as a whole
KERNEL(37) {
  float held[24] = {0};
  ushort small[12] = {1, 2, 3};
  float other[24];
  uint k = in.n[in.self];
  for (uint i = 0; i < 5; i++) held[(k >> i) % 24] += in.x[in.self + i];
  __builtin_memcpy(other, held, sizeof other);
  other[k % 24] = 3;
  small[k % 12] += 5;
  in.out[in.self] = other[(k >> 2) % 24] + held[k % 24] + small[(k >> 1) % 12];
}

// a guard clause, then everything under it
KERNEL(38) {
  if (in.self >= in.p[0] - 7) return;
  in.out[in.self] = 2.5f * in.x[in.self] + in.out[in.self];
}

// a uniform branch inside a divergent one; threads on the other side of that
// wait for one of its sides
KERNEL(39) {
  uint k = in.n[in.self], j = in.self;
  float v = in.x[in.self], w = 1;
  if ((uint)(in.x[in.p[2]] * 16 + 64) % 2 == 0) {
    if (v > 0.25f && (in.n[in.p[2]] & 1)) {
      w += v - in.x[k & 3];
    } else {
      j += in.at.x & (k ^ in.index);
    }
  }
  in.bits[in.self] = j;
  in.out[in.self] = w;
}

// threads that wait at two barriers: not for vectors
KERNEL(40) {
  threadgroup float held[1024];
  held[in.index] = in.x[in.self];
  if (in.n[in.self] & 1) {
    barrier(2);
    in.out[in.self] = held[in.index ^ 1] + 1;
  } else {
    barrier(2);
    in.out[in.self] = held[in.index] - 1;
  }
}

// sums that are bitwise ors, and signed indices, for the threads that run only
KERNEL(41) {
  if ((in.self & 3) == 0) in.out[in.self] = in.x[in.self + 3];
  int i = (int)in.index - 5;
  if (i >= 0) in.bits[in.self] = in.n[i] + i;
}

// a divergent loop as the last of a uniform one with two ways out
KERNEL(42) {
  threadgroup uint held[1024];
  uint a[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  uint k = in.n[in.self], total = 3;
  held[in.index] = k;
  barrier(2);
  for (uint i = 0; i < 12 && in.p[2] > 3; i++) {
    for (uint j = 0; j < ((in.at.x | (in.self / ((k & 3) + 1))) & 7); j++) {
      total += (in.index << (j & 3)) ^ in.p[2];
    }
  }
  a[total & 7] = in.lane | in.bits[16 * in.self + (a[in.p[3] & 7] & 15)];
  in.bits[16 * in.self + 2] = total;
  in.bits[16 * in.self + 9] = a[k & 7] + a[3];
}

// runs of lanes within runs
KERNEL(43) {
  uint a[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  uint k = in.n[in.self];
  a[(in.lane / 16 + in.index) & 7] = k;
  in.bits[in.self] = a[k & 7] + a[3] + ((in.lane / 8) & 1);
  in.out[in.self] = in.x[((in.lane >> 3) + in.lane) & 15];
}

// products of tiles, of one left side and of several, in chains and in a loop
KERNEL(44) {
  threadgroup float held[2048];
  if ((in.simdgroup + 1) * 32 >
      in.group_size.x * in.group_size.y * in.group_size.z) {
    return;  // all 32 threads hold a tile, or none
  }
  ulong a = tile_load(in.x, 16, false);
  ulong c[6] = {0, a, 0x3f8000003f800000, a, a, 0};
  for (uint i = 0; i < in.p[2]; i++) {
    ulong b[5];
    for (uint j = 0; j < 5; j++) {
      b[j] = tile_load(in.x + 5 * i + j, 8 + j, in.p[3] == j);
    }
    for (uint j = 0; j < 5; j++) c[j] = tile_product(a, b[j], c[j]);
    c[5] = tile_product(a, b[0], c[5]);
    c[5] = tile_product(a, b[1], c[5]);
    c[5] = tile_product(b[2], a, c[5]);
    c[1] = tile_product(b[2], c[5], c[1]);
    a = c[i % 5];
  }
  device float *mine = in.out + 12 * in.self;
  for (uint j = 0; j < 6; j++) {
    float *tile = held + in.simdgroup * 64;
    tile_store(c[j], tile, 8, j == 1 || j == in.p[3]);
    simd_barrier(2);
    mine[2 * j] = tile[in.lane];
    mine[2 * j + 1] = tile[in.lane + 32];
    simd_barrier(2);
  }
}

// tiles of 16 bits, and elements changed by their threads
KERNEL(45) {
  threadgroup ushort held[32 * 256];
  if ((in.simdgroup + 1) * 32 >
      in.group_size.x * in.group_size.y * in.group_size.z) {
    return;
  }
  ushort *mine = held + in.simdgroup * 256;
  for (uint i = in.lane; i < 256; i += 32) {
    mine[i] = 0x3c00 | ((in.n[i] * 77u) & 0x83ff);  // halves from 1 to 2
  }
  simd_barrier(2);
  uint a = tile_load16(mine, 16, false);
  uint b = tile_load16(mine + 3, 9, in.p[3] > 2);
  ulong c = tile_product(tile_widen(a), tile_widen_bfloat(b), 0);
  for (uint i = 0; i < in.p[2]; i++) {
    float two[2];
    __builtin_memcpy(two, &c, 8);
    two[i & 1] *= 0.5f + in.lane;
    __builtin_memcpy(&c, two, 8);
    c = tile_product(tile_widen(a), tile_widen(b), c);
  }
  tile_store16(b ^ (uint)c, mine, 11, true);
  simd_barrier(2);
  in.bits[2 * in.self] = (uint)c ^ mine[in.lane];
  in.bits[2 * in.self + 1] = (uint)(c >> 32) ^ mine[in.lane * 2 + 64];
}

// tiles that threads do not agree on: each loads and stores for itself
KERNEL(46) {
  uint k = in.n[in.self];
  ulong tile = tile_load(in.x + (k & 15), 4 + (k & 3), k & 4);
  if (k & 8) {
    tile ^= tile_load16(in.n + (k & 7), 9, k & 1);
    tile_store(tile, in.bits + 16 * in.self, 0, k & 2);
    tile_store16((uint)tile, in.out + 16 * in.self, 1, false);
  } else {
    in.bits[16 * in.self + 1] = (uint)(tile >> 32);
  }
}

// vectors side by side in runs of four and eight threads; copies of 16 bytes
KERNEL(47) {
  struct alignas(16) block {
    float f[4];
  };
  uint i = in.index;
  float4 v, w;
  __builtin_memcpy(&v, in.x + i / 4 * 24 + i % 4 * 4, 16);
  __builtin_memcpy(&w, in.x + (i >> 3) * 40 + (i << 2 & 28), 16);
  w = v * 0.5f + w;
  __builtin_memcpy(in.out + (in.self >> 2) * 20 + (in.self * 4 & 12), &w, 16);
  device block *to = (device block *)(in.bits + (in.self >> 3) * 64);
  if (in.n[in.self] & 3) {
    to[in.self & 7] = ((device block *)in.x)[(i & ~3u) + (i * 4 & 12) / 4];
  }
}
