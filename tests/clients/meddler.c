// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// meddler.c: a second build of the stand-in for OpenBLAS, as numpy brings one:
// some of its names are the same but have another meaning.
void *blas_memory_alloc(int place);
void *blas_memory_alloc(int place) {
  (void)place;
  return 0;
}

float blas_own_product(float a, float b);
float blas_own_product(float a, float b) {
  return a - b;
}

float (*gotoblas)(float, float) = blas_own_product;
