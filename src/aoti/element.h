// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// element.h: reads and writes single elements of any type, for operators that
// run on the host.
#ifndef METTLE_AOTI_ELEMENT_H
#define METTLE_AOTI_ELEMENT_H

#include <stdbool.h>
#include <stdint.h>

// One element, in the widest form that keeps it.
typedef struct element {
  enum { SIGNED, UNSIGNED, REAL } kind;
  union {
    int64_t number;
    uint64_t natural;
    double real[2];  // and imaginary
  };
} element;

element aoti_element_read(int32_t dtype, const char *at);
// Converts as PyTorch does on x86-64.
void aoti_element_write(int32_t dtype, char *at, element value);
double aoti_element_real(element value);
int64_t aoti_element_integer(element value);

#endif
