// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// mps_matrix.h: matrices in buffers, for the kernels that read them.
#ifndef METTLE_OBJC_MPS_MATRIX_H
#define METTLE_OBJC_MPS_MATRIX_H

#include "objc/foundation/foundation.h"

// MPSDataType: bits, and flags above them.
#define MPS_FLOAT16 0x10000010u
#define MPS_FLOAT32 0x10000020u
#define MPS_BFLOAT16 0x90000010u

typedef struct mps_matrix {
  struct objc_object object;
  id device;  // +1
  id data;    // +1, an MTLBuffer
  NSUInteger offset;
  NSUInteger rows, columns, matrices;
  NSUInteger rowBytes, matrixBytes;
  uint32_t dataType;
} mps_matrix;

// Returns the bytes of one element.
static inline NSUInteger mps_type_bytes(uint32_t type) {
  return (type & 0xffff) / 8;
}

#endif
