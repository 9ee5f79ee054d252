// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// float_environment.h: saves the thread's rounding mode, traps and flags while
// kernels run with the default ones. fesetenv is slow on x86-64 because it
// loads all of x87's state, of which only the control word matters here.
#ifndef MTLI_FLOAT_ENVIRONMENT_H
#define MTLI_FLOAT_ENVIRONMENT_H

#include <stdint.h>

#if defined(__x86_64__)
typedef struct mtli_float_environment {
  uint32_t vectors;  // MXCSR
  uint16_t x87;      // its control word
} mtli_float_environment;

static inline uint32_t mtli_mxcsr(void) {
  uint32_t value;
  __asm__ volatile("stmxcsr %0" : "=m"(value));
  return value;
}

static inline void mtli_set_mxcsr(uint32_t value) {
  __asm__ volatile("ldmxcsr %0" : : "m"(value));
}

static inline void mtli_set_x87(uint16_t value) {
  __asm__ volatile("fldcw %0" : : "m"(value));
}

static inline void mtli_float_environment_begin(mtli_float_environment *kept) {
  // Intel SDM vol. 1, 8.1.5 and 10.2.3
  enum { FLAGS = 0x3f, DEFAULT = 0x1f80, X87_DEFAULT = 0x37f };
  __asm__ volatile("fnstcw %0" : "=m"(kept->x87));
  if (kept->x87 != X87_DEFAULT) {
    mtli_set_x87(X87_DEFAULT);
  }
  kept->vectors = mtli_mxcsr();
  if ((kept->vectors & ~(uint32_t)FLAGS) != DEFAULT) {
    mtli_set_mxcsr(DEFAULT);
  }
}

static inline void mtli_float_environment_end(
    const mtli_float_environment *kept) {
  enum { X87_DEFAULT = 0x37f };
  if (kept->x87 != X87_DEFAULT) {
    mtli_set_x87(kept->x87);
  }
  if (mtli_mxcsr() != kept->vectors) {
    mtli_set_mxcsr(kept->vectors);
  }
}
#else
#include <fenv.h>

typedef struct mtli_float_environment {
  fenv_t all;
} mtli_float_environment;

static inline void mtli_float_environment_begin(mtli_float_environment *kept) {
  fegetenv(&kept->all);
  fesetenv(FE_DFL_ENV);
}

static inline void mtli_float_environment_end(
    const mtli_float_environment *kept) {
  fesetenv(&kept->all);
}
#endif

#endif
