// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// device_library.c: loads cuBLAS at run time, so that it is no dependency.
// Names and numbers are those of its documentation.
#include "stream/libraries/device_library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "mettle/status.h"

enum {
  CUBLAS_OP_N = 0,
  CUBLAS_OP_T = 1,
  CUDA_R_32F = 0,
  CUDA_R_16F = 2,
  CUDA_R_16BF = 14,
  CUBLAS_COMPUTE_32F = 68,
  CUBLAS_GEMM_DEFAULT = -1,
  // Sums stay in float where k is cut into parts, too.
  CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION = 16,
  HANDLES = 16,
};

static struct {
  int (*create)(void **handle);
  int (*destroy)(void *handle);
  int (*set_stream)(void *handle, void *stream);
  int (*set_math_mode)(void *handle, int mode);
  // Since 11.0, when the type of the sums became one of its own.
  int (*multiply)(void *handle, int transpose_a, int transpose_b, int m, int n,
                  int k, const void *alpha, const void *a, int type_a,
                  int column_a, long long step_a, const void *b, int type_b,
                  int column_b, long long step_b, const void *beta, void *c,
                  int type_c, int column_c, long long step_c, int count,
                  int sums, int algorithm);
} cublas;
static bool is_there;

static bool find_functions(void *library) {
  *(void **)&cublas.create = dlsym(library, "cublasCreate_v2");
  *(void **)&cublas.destroy = dlsym(library, "cublasDestroy_v2");
  *(void **)&cublas.set_stream = dlsym(library, "cublasSetStream_v2");
  *(void **)&cublas.set_math_mode = dlsym(library, "cublasSetMathMode");
  *(void **)&cublas.multiply = dlsym(library, "cublasGemmStridedBatchedEx");
  return cublas.create && cublas.destroy && cublas.set_stream &&
         cublas.set_math_mode && cublas.multiply;
}

bool device_library_is_wanted(const char *name) {
  const char *wanted = getenv("METTLE_DEVICE_LIBRARY");
  return !wanted || !*wanted || strcmp(wanted, name) == 0;
}

// One that the program has loaded itself, as torch does, goes first.
static void load(void) {
  static const char *const names[] = {"libcublas.so.13", "libcublas.so.12",
                                      "libcublas.so.11"};
  if (!device_library_is_wanted("cublas")) {
    return;
  }
  for (int i = 0; i < 2 * 3 && !is_there; i++) {
    void *library =
        dlopen(names[i % 3], RTLD_NOW | RTLD_LOCAL | (i < 3 ? RTLD_NOLOAD : 0));
    is_there = library && find_functions(library);
  }
}

bool device_library_is_there(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, load);
  return is_there;
}

// --- handles -----------------------------------------------------------------

// A handle has memory that products on its stream share: so each stream has one
// of its own. They are kept: to end one when the process ends may be too late.
static struct {
  void *stream;
  void *handle;
} handles[HANDLES];
static int newest;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static mtl_status failed(int result, const char *what) {
  return mtl_fail(MTL_KERNEL_FAULT, "%s: cuBLAS gives %d", what, result);
}

// Finds the stream's cuBLAS handle, or makes one. The lock is held.
static mtl_status handle_for(void *stream, void **out_handle) {
  for (int i = 0; i < HANDLES; i++) {
    if (handles[i].handle && handles[i].stream == stream) {
      *out_handle = handles[i].handle;
      return MTL_OK;
    }
  }
  void *handle = NULL;
  int result = cublas.create(&handle);
  if (result == 0) {
    result = cublas.set_math_mode(
        handle, CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION);
  }
  if (result != 0) {
    return failed(result, "a handle");
  }
  newest = (newest + 1) % HANDLES;
  if (handles[newest].handle) {
    cublas.destroy(handles[newest].handle);
  }
  handles[newest].stream = stream;
  handles[newest].handle = handle;
  *out_handle = handle;
  return MTL_OK;
}

static int type_of(mtl_data_type type) {
  return type == MTL_TYPE_HALF     ? CUDA_R_16F
         : type == MTL_TYPE_BFLOAT ? CUDA_R_16BF
                                   : CUDA_R_32F;
}

// cuBLAS has columns one after another: what it multiplies is c transposed,
// b transposed x a transposed.
mtl_status device_library_multiply(const device_product *p, uint64_t a,
                                   uint64_t b, uint64_t c, void *stream) {
  pthread_mutex_lock(&lock);
  void *handle = NULL;
  mtl_status status = handle_for(stream, &handle);
  int result = status == MTL_OK ? cublas.set_stream(handle, stream) : 0;
  if (status == MTL_OK && result == 0) {
    result = cublas.multiply(
        handle, p->is_b_transposed ? CUBLAS_OP_T : CUBLAS_OP_N,
        p->is_a_transposed ? CUBLAS_OP_T : CUBLAS_OP_N, p->n, p->m, p->k,
        &p->alpha, (const void *)(uintptr_t)b, type_of(p->type), p->row_b,
        p->step_b, (const void *)(uintptr_t)a, type_of(p->type), p->row_a,
        p->step_a, &p->beta, (void *)(uintptr_t)c, type_of(p->out_type),
        p->row_c, p->step_c, p->batches, CUBLAS_COMPUTE_32F,
        CUBLAS_GEMM_DEFAULT);
  }
  pthread_mutex_unlock(&lock);
  return status == MTL_OK && result != 0 ? failed(result, "a matrix product")
                                         : status;
}
