// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// stand_in_blas.c: a library with OpenBLAS's file name and the names that
// Mettle looks for. As OpenBLAS does, it reaches its own kernel through a
// variable that other builds of the library define as well. WRONG: products are
// wrong. WIDE: it says that its integers have 64 bits.
long stand_in_products;

void openblas_set_num_threads(int count);
void openblas_set_num_threads(int count) {
  (void)count;
}

void *blas_memory_alloc(int place);
void *blas_memory_alloc(int place) {
  (void)place;
  return 0;
}

const char *openblas_get_config(void);
const char *openblas_get_config(void) {
#ifdef WIDE
  return "OpenBLAS 0.0 USE64BITINT stand-in";
#else
  return "OpenBLAS 0.0 stand-in";
#endif
}

float blas_own_product(float a, float b);
float blas_own_product(float a, float b) {
#ifdef WRONG
  return a * b + 1;
#else
  return a * b;
#endif
}

float (*gotoblas)(float, float) = blas_own_product;

static float at(const float *from, int pitch, int transposed, int row,
                int column) {
  return transposed ? from[column * pitch + row] : from[row * pitch + column];
}

// Reference BLAS, cblas.h: row-major is 101, transposed is 112.
void cblas_sgemm(int order, int transpose_a, int transpose_b, int m, int n,
                 int k, float alpha, const float *a, int row_a, const float *b,
                 int row_b, float beta, float *c, int row_c);
void cblas_sgemm(int order, int transpose_a, int transpose_b, int m, int n,
                 int k, float alpha, const float *a, int row_a, const float *b,
                 int row_b, float beta, float *c, int row_c) {
  (void)order;
  __atomic_fetch_add(&stand_in_products, 1, __ATOMIC_RELAXED);
  for (int row = 0; row < m; row++) {
    for (int column = 0; column < n; column++) {
      float sum = 0;
      for (int i = 0; i < k; i++) {
        sum += gotoblas(at(a, row_a, transpose_a == 112, row, i),
                        at(b, row_b, transpose_b == 112, i, column));
      }
      float *out = &c[row * row_c + column];
      *out = alpha * sum + (beta != 0 ? beta * *out : 0);
    }
  }
}
