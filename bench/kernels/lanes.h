// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// lanes.h: 32 lanes as one vector of the compiler's, for the versions by hand.
#ifndef METTLE_BENCH_LANES_H
#define METTLE_BENCH_LANES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef float lanes __attribute__((vector_size(128)));
typedef float lanes_16 __attribute__((vector_size(64)));
typedef float lanes_8 __attribute__((vector_size(32)));
typedef int32_t lanes_int __attribute__((vector_size(128)));
typedef int8_t lanes_byte __attribute__((vector_size(32)));

static inline lanes lanes_load(const float *from) {
  lanes result;
  memcpy(&result, from, sizeof result);
  return result;
}

static inline void lanes_store(float *to, lanes value) {
  memcpy(to, &value, sizeof value);
}

static inline lanes lanes_all(float value) {
  return value - (lanes){0};
}

static inline lanes lanes_choose(lanes_int choice, lanes a, lanes b) {
  return (lanes)((choice & (lanes_int)a) | (~choice & (lanes_int)b));
}

static inline lanes lanes_larger(lanes a, lanes b) {
  return lanes_choose(a > b, a, b);
}

static inline float lanes_sum(lanes value) {
  lanes_16 half[2];
  memcpy(half, &value, sizeof half);
  half[0] += half[1];
  lanes_8 quarter[2];
  memcpy(quarter, half, sizeof quarter);
  quarter[0] += quarter[1];
  float eight[8], sum = 0;
  memcpy(eight, quarter, sizeof eight);
  for (int i = 0; i < 4; i++) {
    sum += eight[i] + eight[i + 4];
  }
  return sum;
}

static inline float lanes_largest(lanes value) {
  float all[32];
  memcpy(all, &value, sizeof all);
  for (int half = 16; half > 0; half /= 2) {
    for (int i = 0; i < half; i++) {
      all[i] = all[i] > all[i + half] ? all[i] : all[i + half];
    }
  }
  return all[0];
}

// e^x to 2 ULP for |x| < 80: 2^n times a polynomial (Cephes, expf).
static inline lanes lanes_exp(lanes x) {
  const lanes magic = lanes_all(12582912.0f);  // 1.5 * 2^23 rounds to integers
  const lanes n = (x * 1.44269504f + magic) - magic;
  const lanes r = x - n * 0.693359375f + n * 2.12194440e-4f;
  lanes p = lanes_all(1.9875691500e-4f);
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * r * r + r + 1.0f;
  const lanes_int exponent = __builtin_convertvector(n, lanes_int) + 127;
  return p * (lanes)(exponent << 23);
}

#endif
