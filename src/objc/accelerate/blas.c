// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// blas.c: Accelerate's CBLAS of real vectors and matrices, in plain loops. A
// program that wants speed of it links a BLAS.
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#define EXPORT __attribute__((visibility("default")))

// CBLAS_ORDER, CBLAS_TRANSPOSE and CBLAS_UPLO
enum { ROW_MAJOR = 101, COLUMN_MAJOR = 102, NO_TRANS = 111, UPPER = 121 };

#define REAL float
#define BLAS(name) cblas_s##name
#define INDEX_BLAS(name) cblas_is##name
#include "objc/accelerate/blas.h"
#define REAL double
#define BLAS(name) cblas_d##name
#define INDEX_BLAS(name) cblas_id##name
#include "objc/accelerate/blas.h"
