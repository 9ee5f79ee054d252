// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// device_convolution.c: loads cuDNN at run time, so that it is no dependency.
// Names, numbers and layouts are those of its documentation.
#include "stream/libraries/device_convolution.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "mettle/status.h"
#include "stream/libraries/device_library.h"

enum {
  CUDNN_DATA_FLOAT = 0,
  CUDNN_DATA_HALF = 2,
  CUDNN_DATA_BFLOAT16 = 9,
  CUDNN_TENSOR_NCHW = 0,
  CUDNN_CROSS_CORRELATION = 1,
  CUDNN_TENSOR_OP_MATH = 1,
  CUDNN_FMA_MATH = 3,  // products of floats are of floats, not of TF32
  MOST_ALGORITHMS = 16,
  HANDLES = 16,
  PLANS = 128,
};

// cudnnConvolutionFwdAlgoPerf_t
typedef struct algorithm {
  int number;
  int status;
  float ms;
  size_t work_bytes;
  int is_deterministic;
  int math;
  int reserved[3];
} algorithm;

#define CUDNN_FUNCTIONS(F)                                                    \
  F(cudnnCreate, (void **handle))                                             \
  F(cudnnDestroy, (void *handle))                                             \
  F(cudnnSetStream, (void *handle, void *stream))                             \
  F(cudnnCreateTensorDescriptor, (void **tensor))                             \
  F(cudnnDestroyTensorDescriptor, (void *tensor))                             \
  F(cudnnSetTensorNdDescriptor,                                               \
    (void *tensor, int type, int rank, const int *sizes, const int *strides)) \
  F(cudnnCreateFilterDescriptor, (void **filter))                             \
  F(cudnnDestroyFilterDescriptor, (void *filter))                             \
  F(cudnnSetFilterNdDescriptor,                                               \
    (void *filter, int type, int format, int rank, const int *sizes))         \
  F(cudnnCreateConvolutionDescriptor, (void **convolution))                   \
  F(cudnnDestroyConvolutionDescriptor, (void *convolution))                   \
  F(cudnnSetConvolutionNdDescriptor,                                          \
    (void *convolution, int rank, const int *padding, const int *stride,      \
     const int *dilation, int mode, int sums))                                \
  F(cudnnSetConvolutionGroupCount, (void *convolution, int count))            \
  F(cudnnSetConvolutionMathType, (void *convolution, int math))               \
  F(cudnnGetConvolutionForwardAlgorithm_v7,                                   \
    (void *handle, void *in, void *weight, void *convolution, void *out,      \
     int wanted, int *count, algorithm *algorithms))                          \
  F(cudnnConvolutionForward,                                                  \
    (void *handle, const void *alpha, void *in_tensor, const void *in,        \
     void *weight_filter, const void *weight, void *convolution, int number,  \
     void *work, size_t work_bytes, const void *beta, void *out_tensor,       \
     void *out))                                                              \
  F(cudnnAddTensor,                                                           \
    (void *handle, const void *alpha, void *a_tensor, const void *a,          \
     const void *beta, void *c_tensor, void *c))

#define DECLARE(name, parameters) int(*name) parameters;
static struct {
  CUDNN_FUNCTIONS(DECLARE)
} cudnn;
#undef DECLARE
static bool is_there;

static bool find_functions(void *library) {
#define FIND(name, parameters)                   \
  *(void **)&cudnn.name = dlsym(library, #name); \
  if (!cudnn.name) {                             \
    return false;                                \
  }
  CUDNN_FUNCTIONS(FIND)
#undef FIND
  return true;
}

// One that the program has loaded itself, as torch does, goes first.
static void load(void) {
  static const char *const names[] = {"libcudnn.so.9", "libcudnn.so.8"};
  if (!device_library_is_wanted("cudnn")) {
    return;
  }
  for (int i = 0; i < 2 * 2 && !is_there; i++) {
    void *library =
        dlopen(names[i % 2], RTLD_NOW | RTLD_LOCAL | (i < 2 ? RTLD_NOLOAD : 0));
    is_there = library && find_functions(library);
  }
}

bool device_convolution_is_there(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, load);
  return is_there;
}

// --- plans -------------------------------------------------------------------

// A convolution's description and algorithm in the library, kept: finding an
// algorithm takes longer than a small convolution.
typedef struct plan {
  device_convolution of;
  void *in, *weight, *bias, *out, *convolution;
  algorithm algorithms[MOST_ALGORITHMS];  // [count], the quickest first
  int count;
  uint64_t last_use;
} plan;

static struct {
  void *stream;
  void *handle;
} handles[HANDLES];
static int newest;
static plan *plans[PLANS];
static uint64_t uses;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static mtl_status failed(int result, const char *what) {
  return mtl_fail(MTL_KERNEL_FAULT, "%s: cuDNN gives %d", what, result);
}

// The lock is held, here and below.
static mtl_status handle_for(void *stream, void **out_handle) {
  for (int i = 0; i < HANDLES; i++) {
    if (handles[i].handle && handles[i].stream == stream) {
      *out_handle = handles[i].handle;
      return MTL_OK;
    }
  }
  void *handle = NULL;
  const int result = cudnn.cudnnCreate(&handle);
  if (result != 0) {
    return failed(result, "a handle");
  }
  newest = (newest + 1) % HANDLES;
  if (handles[newest].handle) {
    cudnn.cudnnDestroy(handles[newest].handle);
  }
  handles[newest].stream = stream;
  handles[newest].handle = handle;
  *out_handle = handle;
  return MTL_OK;
}

static int type_of(int type) {
  return type == MTL_TYPE_HALF     ? CUDNN_DATA_HALF
         : type == MTL_TYPE_BFLOAT ? CUDNN_DATA_BFLOAT16
                                   : CUDNN_DATA_FLOAT;
}

static void end_plan(plan *it) {
  void *const tensors[] = {it->in, it->bias, it->out};
  for (int i = 0; i < 3; i++) {
    if (tensors[i]) {
      cudnn.cudnnDestroyTensorDescriptor(tensors[i]);
    }
  }
  if (it->weight) {
    cudnn.cudnnDestroyFilterDescriptor(it->weight);
  }
  if (it->convolution) {
    cudnn.cudnnDestroyConvolutionDescriptor(it->convolution);
  }
  free(it);
}

static int make_tensor(void **out_tensor, const device_convolution *of,
                       const int *sizes) {
  int strides[2 + DEVICE_CONVOLUTION_RANK];
  const int rank = of->dimensions + 2;
  int step = 1;
  for (int d = rank - 1; d >= 0; d--) {
    strides[d] = step;
    step *= sizes[d];
  }
  int result = cudnn.cudnnCreateTensorDescriptor(out_tensor);
  if (result == 0) {
    result = cudnn.cudnnSetTensorNdDescriptor(*out_tensor, type_of(of->type),
                                              rank, sizes, strides);
  }
  return result;
}

static int make_convolution(plan *it) {
  const device_convolution *of = &it->of;
  int result = cudnn.cudnnCreateFilterDescriptor(&it->weight);
  if (result == 0) {
    result = cudnn.cudnnSetFilterNdDescriptor(it->weight, type_of(of->type),
                                              CUDNN_TENSOR_NCHW,
                                              of->dimensions + 2, of->weight);
  }
  if (result == 0) {
    result = cudnn.cudnnCreateConvolutionDescriptor(&it->convolution);
  }
  if (result == 0) {
    result = cudnn.cudnnSetConvolutionNdDescriptor(
        it->convolution, of->dimensions, of->padding, of->stride, of->dilation,
        CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT);
  }
  if (result == 0) {
    result = cudnn.cudnnSetConvolutionGroupCount(it->convolution, of->groups);
  }
  if (result == 0) {
    result = cudnn.cudnnSetConvolutionMathType(
        it->convolution,
        of->type == MTL_TYPE_FLOAT ? CUDNN_FMA_MATH : CUDNN_TENSOR_OP_MATH);
  }
  return result;
}

static int fill_plan(plan *it, void *handle) {
  int bias[2 + DEVICE_CONVOLUTION_RANK] = {1, it->of.out[1], 1, 1, 1};
  int result = make_tensor(&it->in, &it->of, it->of.in);
  if (result == 0) {
    result = make_tensor(&it->out, &it->of, it->of.out);
  }
  if (result == 0 && it->of.has_bias) {
    result = make_tensor(&it->bias, &it->of, bias);
  }
  if (result == 0) {
    result = make_convolution(it);
  }
  if (result == 0) {
    result = cudnn.cudnnGetConvolutionForwardAlgorithm_v7(
        handle, it->in, it->weight, it->convolution, it->out, MOST_ALGORITHMS,
        &it->count, it->algorithms);
  }
  return result;
}

// Returns the plan of a convolution; a new one replaces the least recently used
// one.
static mtl_status find_plan(const device_convolution *of, void *handle,
                            plan **out_plan) {
  int place = 0;
  for (int i = 0; i < PLANS; i++) {
    if (plans[i] && memcmp(&plans[i]->of, of, sizeof *of) == 0) {
      *out_plan = plans[i];
      return MTL_OK;
    }
    if (!plans[i] ||
        (plans[place] && plans[i]->last_use < plans[place]->last_use)) {
      place = i;
    }
  }
  plan *made = calloc(1, sizeof *made);
  if (!made) {
    return mtl_fail(MTL_OUT_OF_MEMORY, "no memory for a convolution");
  }
  made->of = *of;
  const int result = fill_plan(made, handle);
  if (result != 0) {
    end_plan(made);
    return failed(result, "a convolution's description");
  }
  if (plans[place]) {
    end_plan(plans[place]);
  }
  plans[place] = made;
  *out_plan = made;
  return MTL_OK;
}

static int run(const plan *it, void *handle,
               const device_convolution_memory *memory) {
  const float zero = 0, one = 1;
  int result = -1;
  for (int i = 0; i < it->count && result != 0; i++) {
    const algorithm *how = &it->algorithms[i];
    if (how->status == 0 && how->work_bytes <= memory->work_bytes) {
      result = cudnn.cudnnConvolutionForward(
          handle, &one, it->in, (const void *)(uintptr_t)memory->in, it->weight,
          (const void *)(uintptr_t)memory->weight, it->convolution, how->number,
          (void *)(uintptr_t)memory->work, memory->work_bytes, &zero, it->out,
          (void *)(uintptr_t)memory->out);
    }
  }
  if (result == 0 && it->bias) {
    result = cudnn.cudnnAddTensor(handle, &one, it->bias,
                                  (const void *)(uintptr_t)memory->bias, &one,
                                  it->out, (void *)(uintptr_t)memory->out);
  }
  return result;
}

mtl_status device_convolve(const device_convolution *convolution,
                           const device_convolution_memory *memory,
                           void *stream) {
  pthread_mutex_lock(&lock);
  void *handle = NULL;
  plan *it = NULL;
  mtl_status status = handle_for(stream, &handle);
  if (status == MTL_OK) {
    const int result = cudnn.cudnnSetStream(handle, stream);
    status = result ? failed(result, "a stream") : MTL_OK;
  }
  if (status == MTL_OK) {
    status = find_plan(convolution, handle, &it);
  }
  if (status == MTL_OK) {
    it->last_use = ++uses;
    const int result = run(it, handle, memory);
    status = result ? failed(result, "a convolution") : MTL_OK;
  }
  pthread_mutex_unlock(&lock);
  return status;
}
