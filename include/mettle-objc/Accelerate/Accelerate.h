// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Accelerate.h: vDSP, vForce and CBLAS of real numbers, which programs compare
// their kernels with. No transforms, LAPACK, vImage, BNNS or sparse matrices.
#ifndef METTLE_OBJC_ACCELERATE_H
#define METTLE_OBJC_ACCELERATE_H

#include <CoreFoundation/CFBase.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef unsigned long vDSP_Length;
typedef long vDSP_Stride;

// Declares a function of vectors of float, and name##D of double.
#define METTLE_VDSP(name, ...)                     \
  METTLE_VDSP_OF(vDSP_##name, float, __VA_ARGS__); \
  METTLE_VDSP_OF(vDSP_##name##D, double, __VA_ARGS__)
#define METTLE_VDSP_OF(name, real, parameters) void name parameters(real)
#define METTLE_TWO(real)                                            \
  (const real *first, vDSP_Stride first_stride, const real *second, \
   vDSP_Stride second_stride, real *out, vDSP_Stride out_stride,    \
   vDSP_Length count)
#define METTLE_ONE(real)                                                     \
  (const real *in, vDSP_Stride in_stride, real *out, vDSP_Stride out_stride, \
   vDSP_Length count)
#define METTLE_SCALAR(real)                                              \
  (const real *in, vDSP_Stride in_stride, const real *scalar, real *out, \
   vDSP_Stride out_stride, vDSP_Length count)
#define METTLE_REDUCE(real) \
  (const real *in, vDSP_Stride in_stride, real *out, vDSP_Length count)
#define METTLE_REDUCE_INDEX(real)                                            \
  (const real *in, vDSP_Stride in_stride, real *out, vDSP_Length *out_index, \
   vDSP_Length count)
#define METTLE_REDUCE_TWO(real)                                     \
  (const real *first, vDSP_Stride first_stride, const real *second, \
   vDSP_Stride second_stride, real *out, vDSP_Length count)
#define METTLE_TWO_SCALARS(real)                                              \
  (const real *in, vDSP_Stride in_stride, const real *one, const real *other, \
   real *out, vDSP_Stride out_stride, vDSP_Length count)
#define METTLE_VSMA(real)                                                      \
  (const real *in, vDSP_Stride in_stride, const real *scalar, const real *add, \
   vDSP_Stride add_stride, real *out, vDSP_Stride out_stride,                  \
   vDSP_Length count)
#define METTLE_VMA(real)                                               \
  (const real *first, vDSP_Stride first_stride, const real *second,    \
   vDSP_Stride second_stride, const real *add, vDSP_Stride add_stride, \
   real *out, vDSP_Stride out_stride, vDSP_Length count)
#define METTLE_FILL(real) \
  (const real *value, real *out, vDSP_Stride out_stride, vDSP_Length count)
#define METTLE_CLEAR(real) \
  (real * out, vDSP_Stride out_stride, vDSP_Length count)
#define METTLE_RAMP(real)                                                  \
  (const real *start, const real *step, real *out, vDSP_Stride out_stride, \
   vDSP_Length count)
#define METTLE_MMUL(real)                                                    \
  (const real *a, vDSP_Stride a_stride, const real *b, vDSP_Stride b_stride, \
   real *out, vDSP_Stride out_stride, vDSP_Length rows, vDSP_Length columns, \
   vDSP_Length inner)
#define METTLE_MTRANS(real)                                                  \
  (const real *in, vDSP_Stride in_stride, real *out, vDSP_Stride out_stride, \
   vDSP_Length out_rows, vDSP_Length out_columns)

// vDSP_vsub and vDSP_vdiv take the subtrahend and the divisor first.
METTLE_VDSP(vadd, METTLE_TWO);
METTLE_VDSP(vsub, METTLE_TWO);
METTLE_VDSP(vmul, METTLE_TWO);
METTLE_VDSP(vdiv, METTLE_TWO);
METTLE_VDSP(vmax, METTLE_TWO);
METTLE_VDSP(vmin, METTLE_TWO);
METTLE_VDSP(vsq, METTLE_ONE);
METTLE_VDSP(vabs, METTLE_ONE);
METTLE_VDSP(vneg, METTLE_ONE);
METTLE_VDSP(vsadd, METTLE_SCALAR);
METTLE_VDSP(vsmul, METTLE_SCALAR);
METTLE_VDSP(vsdiv, METTLE_SCALAR);
METTLE_VDSP(vsmsa, METTLE_TWO_SCALARS);
METTLE_VDSP(vclip, METTLE_TWO_SCALARS);
METTLE_VDSP(vsma, METTLE_VSMA);
METTLE_VDSP(vma, METTLE_VMA);
METTLE_VDSP(vfill, METTLE_FILL);
METTLE_VDSP(vclr, METTLE_CLEAR);
METTLE_VDSP(vramp, METTLE_RAMP);
METTLE_VDSP(sve, METTLE_REDUCE);
METTLE_VDSP(svesq, METTLE_REDUCE);
METTLE_VDSP(svemg, METTLE_REDUCE);
METTLE_VDSP(meanv, METTLE_REDUCE);
METTLE_VDSP(measqv, METTLE_REDUCE);
METTLE_VDSP(rmsqv, METTLE_REDUCE);
METTLE_VDSP(maxv, METTLE_REDUCE);
METTLE_VDSP(minv, METTLE_REDUCE);
METTLE_VDSP(maxmgv, METTLE_REDUCE);
METTLE_VDSP(maxvi, METTLE_REDUCE_INDEX);
METTLE_VDSP(minvi, METTLE_REDUCE_INDEX);
METTLE_VDSP(maxmgvi, METTLE_REDUCE_INDEX);
METTLE_VDSP(dotpr, METTLE_REDUCE_TWO);
METTLE_VDSP(distancesq, METTLE_REDUCE_TWO);
METTLE_VDSP(mmul, METTLE_MMUL);
METTLE_VDSP(mtrans, METTLE_MTRANS);

#define METTLE_CONVERT(name, from, to)                             \
  void vDSP_##name(const from *in, vDSP_Stride in_stride, to *out, \
                   vDSP_Stride out_stride, vDSP_Length count)
METTLE_CONVERT(vspdp, float, double);
METTLE_CONVERT(vdpsp, double, float);
METTLE_CONVERT(vflt8, char, float);
METTLE_CONVERT(vflt16, short, float);
METTLE_CONVERT(vflt32, int, float);
METTLE_CONVERT(vfltu8, unsigned char, float);
METTLE_CONVERT(vfltu16, unsigned short, float);
METTLE_CONVERT(vfltu32, unsigned, float);
METTLE_CONVERT(vfix8, float, char);
METTLE_CONVERT(vfix16, float, short);
METTLE_CONVERT(vfix32, float, int);
METTLE_CONVERT(vfixu8, float, unsigned char);

#define METTLE_FORCE(name)                                         \
  void vv##name##f(float *out, const float *in, const int *count); \
  void vv##name(double *out, const double *in, const int *count)
METTLE_FORCE(exp);
METTLE_FORCE(exp2);
METTLE_FORCE(expm1);
METTLE_FORCE(log);
METTLE_FORCE(log2);
METTLE_FORCE(log10);
METTLE_FORCE(log1p);
METTLE_FORCE(sqrt);
METTLE_FORCE(sin);
METTLE_FORCE(cos);
METTLE_FORCE(tan);
METTLE_FORCE(sinh);
METTLE_FORCE(cosh);
METTLE_FORCE(tanh);
METTLE_FORCE(asin);
METTLE_FORCE(acos);
METTLE_FORCE(atan);
METTLE_FORCE(floor);
METTLE_FORCE(ceil);
METTLE_FORCE(int);
METTLE_FORCE(nint);
METTLE_FORCE(fabs);
METTLE_FORCE(rec);
METTLE_FORCE(rsqrt);
// base to the power of exponent.
void vvpowf(float *out, const float *exponent, const float *base,
            const int *count);
void vvpow(double *out, const double *exponent, const double *base,
           const int *count);
void vvdivf(float *out, const float *dividend, const float *divisor,
            const int *count);

// --- CBLAS -------------------------------------------------------------------

typedef enum CBLAS_ORDER {
  CblasRowMajor = 101,
  CblasColMajor = 102,
} CBLAS_ORDER;
typedef enum CBLAS_TRANSPOSE {
  CblasNoTrans = 111,
  CblasTrans = 112,
  CblasConjTrans = 113,
} CBLAS_TRANSPOSE;
typedef enum CBLAS_UPLO {
  CblasUpper = 121,
  CblasLower = 122,
} CBLAS_UPLO;
typedef CBLAS_ORDER CBLAS_LAYOUT;
typedef int __LAPACK_int;

#define METTLE_BLAS(letter, real)                                              \
  real cblas_##letter##dot(int n, const real *x, int incx, const real *y,      \
                           int incy);                                          \
  void cblas_##letter##axpy(int n, real alpha, const real *x, int incx,        \
                            real *y, int incy);                                \
  void cblas_##letter##copy(int n, const real *x, int incx, real *y,           \
                            int incy);                                         \
  void cblas_##letter##swap(int n, real *x, int incx, real *y, int incy);      \
  void cblas_##letter##scal(int n, real alpha, real *x, int incx);             \
  real cblas_##letter##asum(int n, const real *x, int incx);                   \
  real cblas_##letter##nrm2(int n, const real *x, int incx);                   \
  int cblas_i##letter##amax(int n, const real *x, int incx);                   \
  void cblas_##letter##gemv(CBLAS_ORDER order, CBLAS_TRANSPOSE trans, int m,   \
                            int n, real alpha, const real *a, int lda,         \
                            const real *x, int incx, real beta, real *y,       \
                            int incy);                                         \
  void cblas_##letter##sbmv(CBLAS_ORDER order, CBLAS_UPLO uplo, int n, int k,  \
                            real alpha, const real *a, int lda, const real *x, \
                            int incx, real beta, real *y, int incy);           \
  void cblas_##letter##ger(CBLAS_ORDER order, int m, int n, real alpha,        \
                           const real *x, int incx, const real *y, int incy,   \
                           real *a, int lda);                                  \
  void cblas_##letter##gemm(CBLAS_ORDER order, CBLAS_TRANSPOSE trans_a,        \
                            CBLAS_TRANSPOSE trans_b, int m, int n, int k,      \
                            real alpha, const real *a, int lda, const real *b, \
                            int ldb, real beta, real *c, int ldc)
METTLE_BLAS(s, float);
METTLE_BLAS(d, double);

#ifdef __cplusplus
}
#endif

#undef METTLE_VDSP
#undef METTLE_VDSP_OF
#undef METTLE_TWO
#undef METTLE_ONE
#undef METTLE_SCALAR
#undef METTLE_REDUCE
#undef METTLE_REDUCE_INDEX
#undef METTLE_REDUCE_TWO
#undef METTLE_TWO_SCALARS
#undef METTLE_VSMA
#undef METTLE_VMA
#undef METTLE_FILL
#undef METTLE_CLEAR
#undef METTLE_RAMP
#undef METTLE_MMUL
#undef METTLE_MTRANS
#undef METTLE_CONVERT
#undef METTLE_FORCE
#undef METTLE_BLAS

#endif
