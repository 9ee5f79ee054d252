// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// api.c: libcuda.so.1, found at run time.
#include "drivers/cuda/api.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "drivers/cuda/cuda.h"

cuda_api cuda;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static char failure[256];  // "" if all is well
static uint32_t gpu_count;
static uint64_t process;  // that loaded it

typedef CUresult find_fn(const char *name, void **function, int version,
                         uint64_t flags, int *status);

// Finds every function in its version: a plain name is the oldest version's.
static bool find_functions(void *library) {
  find_fn *find;
  *(void **)&find = dlsym(library, "cuGetProcAddress_v2");
  if (!find) {
    snprintf(failure, sizeof failure,
             "libcuda.so.1 is older than 12.0: update NVIDIA's driver");
    return false;
  }
  int status;
#define CUDA_FIND(name, parameters)                                       \
  if (find(#name, (void **)&cuda.name, CUDA_API_VERSION, 0, &status) ||   \
      !cuda.name) {                                                       \
    snprintf(failure, sizeof failure, "libcuda.so.1 has no " #name);      \
    return false;                                                         \
  }
  CUDA_FUNCTIONS(CUDA_FIND)
#undef CUDA_FIND
  return true;
}

static void load(void) {
  process = mtli_process_number();
  // NVIDIA's kernel module creates this file: without it the library need not
  // be loaded.
  if (access("/dev/nvidiactl", F_OK) != 0) {
    snprintf(failure, sizeof failure, "there is no NVIDIA GPU");
    return;
  }
  void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    snprintf(failure, sizeof failure, "%s", dlerror());
    return;
  }
  if (!find_functions(library)) {
    return;
  }
  int count = 0;
  CUresult result = cuda.cuInit(0);
  result = result ? result : cuda.cuDeviceGetCount(&count);
  if (result) {
    const char *name = "?";
    cuda.cuGetErrorName(result, &name);
    snprintf(failure, sizeof failure, "cuInit: %s", name);
    return;
  }
  gpu_count = (uint32_t)count;
}

mtl_status cuda_load(void) {
  pthread_once(&once, load);
  if (failure[0]) {
    return mtli_fail(MTL_NOT_FOUND, "%s", failure);
  }
  return process == mtli_process_number()
             ? MTL_OK
             : mtli_fail(MTL_INVALID_STATE,
                         "CUDA was in use when this process was forked, and "
                         "cannot be used in it");
}

uint32_t cuda_gpu_count(void) {
  pthread_once(&once, load);
  return gpu_count;
}

mtl_status cuda_check(CUresult result, const char *what) {
  if (result == CUDA_SUCCESS) {
    return MTL_OK;
  }
  const char *name = "an unknown error", *text = "";
  cuda.cuGetErrorName(result, &name);
  cuda.cuGetErrorString(result, &text);
  return mtli_fail(
      result == CUDA_ERROR_OUT_OF_MEMORY ? MTL_OUT_OF_MEMORY : MTL_KERNEL_FAULT,
      "%s: %s: %s", what, name, text);
}
