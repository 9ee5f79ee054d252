// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// host_library.c: loads oneDNN or OpenBLAS at run time, so that neither is a
// dependency. Their threads are kept off: the device's own share the work.
#include "stream/libraries/host_library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "stream/own_scope.h"

// oneDNN: include/oneapi/dnnl/dnnl.h, dnnl_sgemm; rows first, since 1.0.
typedef int onednn_product_fn(char transpose_a, char transpose_b, int64_t m,
                              int64_t n, int64_t k, float alpha, const float *a,
                              int64_t row_a, const float *b, int64_t row_b,
                              float beta, float *c, int64_t row_c);
// The reference BLAS's C interface, cblas.h; 32-bit integers.
typedef void cblas_product_fn(int order, int transpose_a, int transpose_b,
                              int m, int n, int k, float alpha, const float *a,
                              int row_a, const float *b, int row_b, float beta,
                              float *c, int row_c);
enum { CBLAS_ROWS = 101, CBLAS_PLAIN = 111, CBLAS_TRANSPOSED = 112 };

static struct {
  void *onednn_handle;  // of dlopen
  onednn_product_fn *onednn;
  cblas_product_fn *cblas;
  // OpenMP's count of threads is each thread's own; NULL without OpenMP.
  int (*get_threads)(void);
  void (*set_threads)(int count);
} library;

static void *find(void *handle, const char *name) {
  return handle ? dlsym(handle, name) : NULL;
}

static void *open_own(const char *name, const char *sentinel) {
  char why[256];
  return own_scope_open(name, sentinel, why, sizeof why);
}

static bool load_onednn(void) {
  void *handle = open_own("libdnnl.so.2", "dnnl_primitive_create");
  if (!handle) {
    handle = open_own("libdnnl.so.3", "dnnl_primitive_create");
  }
  library.onednn_handle = handle;
  *(void **)&library.onednn = find(handle, "dnnl_sgemm");
  // The OpenMP library that it was linked with is found through it.
  *(void **)&library.get_threads = find(handle, "omp_get_max_threads");
  *(void **)&library.set_threads = find(handle, "omp_set_num_threads");
  return library.onednn != NULL;
}

// Some are built with 64-bit integers, without a name of their own.
static bool has_wide_integers(void *handle) {
  const char *(*get_config)(void) = NULL;
  *(void **)&get_config = find(handle, "openblas_get_config");
  return get_config && strstr(get_config(), "USE64BITINT");
}

static bool load_openblas(void) {
  static const char name[] = "libopenblas.so.0";
  // The number of threads is the process's: a library that the program uses
  // itself is left alone.
  void *present = dlopen(name, RTLD_NOW | RTLD_NOLOAD);
  if (present) {
    dlclose(present);
    return false;
  }
  void *handle = open_own(name, "blas_memory_alloc");
  void (*set_threads)(int) = NULL;
  *(void **)&set_threads = find(handle, "openblas_set_num_threads");
  *(void **)&library.cblas = find(handle, "cblas_sgemm");
  if (!set_threads || !library.cblas || has_wide_integers(handle)) {
    library.cblas = NULL;
    return false;
  }
  set_threads(1);
  return true;
}

// A library that gives a wrong product is not used.
static bool multiplies_right(void) {
  if (host_library_test(host_library_multiply)) {
    return true;
  }
  library.onednn_handle = NULL;
  library.onednn = NULL;
  library.get_threads = NULL;
  library.set_threads = NULL;
  library.cblas = NULL;
  return false;
}

static void load(void) {
  const char *wanted = getenv("METTLE_HOST_LIBRARY");
  const bool is_any = !wanted || *wanted == '\0';
  if ((is_any || strcmp(wanted, "onednn") == 0) && load_onednn() &&
      multiplies_right()) {
    return;
  }
  if ((is_any || strcmp(wanted, "openblas") == 0) && load_openblas()) {
    (void)multiplies_right();
  }
}

bool host_library_is_there(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, load);
  return library.onednn || library.cblas;
}

void *host_library_onednn(void) {
  return host_library_is_there() && library.onednn ? library.onednn_handle
                                                   : NULL;
}

int host_library_enter(void) {
  const int threads = library.get_threads ? library.get_threads() : 1;
  if (threads != 1) {
    library.set_threads(1);
  }
  return threads;
}

void host_library_leave(int threads) {
  if (threads != 1) {
    library.set_threads(threads);
  }
}

static void multiply_by_onednn(const host_product *p) {
  const int threads = host_library_enter();
  library.onednn(p->is_a_transposed ? 'T' : 'N', p->is_b_transposed ? 'T' : 'N',
                 p->m, p->n, p->k, p->alpha, p->a, p->row_a, p->b, p->row_b,
                 p->beta, p->c, p->row_c);
  host_library_leave(threads);
}

void host_library_multiply(const host_product *p) {
  if (library.onednn) {
    multiply_by_onednn(p);
    return;
  }
  library.cblas(CBLAS_ROWS, p->is_a_transposed ? CBLAS_TRANSPOSED : CBLAS_PLAIN,
                p->is_b_transposed ? CBLAS_TRANSPOSED : CBLAS_PLAIN, (int)p->m,
                (int)p->n, (int)p->k, p->alpha, p->a, (int)p->row_a, p->b,
                (int)p->row_b, p->beta, p->c, (int)p->row_c);
}
