// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// vdsp.c: Accelerate's vDSP and vForce: functions of vectors, in plain loops.
#include <math.h>
#include <stdint.h>

#define EXPORT __attribute__((visibility("default")))

typedef unsigned long length;
typedef long stride;

#define REAL float
#define VDSP(name) vDSP_##name
#include "objc/accelerate/vectors.h"
#define REAL double
#define VDSP(name) vDSP_##name##D
#include "objc/accelerate/vectors.h"

// --- Conversions -------------------------------------------------------------

#define CONVERT(name, from, to)                                       \
  EXPORT void vDSP_##name(const from *a, stride ia, to *c, stride ic, \
                          length n) {                                 \
    for (length i = 0; i < n; ++i, a += ia, c += ic) {                \
      *c = (to) * a;                                                  \
    }                                                                 \
  }
CONVERT(vspdp, float, double)
CONVERT(vdpsp, double, float)
CONVERT(vflt8, int8_t, float)
CONVERT(vflt16, int16_t, float)
CONVERT(vflt32, int32_t, float)
CONVERT(vfltu8, uint8_t, float)
CONVERT(vfltu16, uint16_t, float)
CONVERT(vfltu32, uint32_t, float)
CONVERT(vfix8, float, int8_t)
CONVERT(vfix16, float, int16_t)
CONVERT(vfix32, float, int32_t)
CONVERT(vfixu8, float, uint8_t)

// --- vForce: functions of C's library, element by element --------------------

#define FORCE(name, function)                                           \
  EXPORT void vv##name##f(float *y, const float *x, const int *count) { \
    for (int i = 0; i < *count; ++i) {                                  \
      y[i] = function##f(x[i]);                                         \
    }                                                                   \
  }                                                                     \
  EXPORT void vv##name(double *y, const double *x, const int *count) {  \
    for (int i = 0; i < *count; ++i) {                                  \
      y[i] = function(x[i]);                                            \
    }                                                                   \
  }
#define reciprocal(x) (1 / (x))
#define reciprocalf(x) (1 / (x))
#define inverse_root(x) (1 / sqrt(x))
#define inverse_rootf(x) (1 / sqrtf(x))
FORCE(exp, exp)
FORCE(exp2, exp2)
FORCE(expm1, expm1)
FORCE(log, log)
FORCE(log2, log2)
FORCE(log10, log10)
FORCE(log1p, log1p)
FORCE(sqrt, sqrt)
FORCE(sin, sin)
FORCE(cos, cos)
FORCE(tan, tan)
FORCE(sinh, sinh)
FORCE(cosh, cosh)
FORCE(tanh, tanh)
FORCE(asin, asin)
FORCE(acos, acos)
FORCE(atan, atan)
FORCE(floor, floor)
FORCE(ceil, ceil)
FORCE(int, trunc)
FORCE(nint, rint)
FORCE(fabs, fabs)
FORCE(rec, reciprocal)
FORCE(rsqrt, inverse_root)

// z = x to the power of y: the exponent comes first.
EXPORT void vvpowf(float *z, const float *y, const float *x, const int *count) {
  for (int i = 0; i < *count; ++i) {
    z[i] = powf(x[i], y[i]);
  }
}

EXPORT void vvpow(double *z, const double *y, const double *x,
                  const int *count) {
  for (int i = 0; i < *count; ++i) {
    z[i] = pow(x[i], y[i]);
  }
}

EXPORT void vvdivf(float *z, const float *y, const float *x, const int *count) {
  for (int i = 0; i < *count; ++i) {
    z[i] = y[i] / x[i];
  }
}
