// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// api.h: the part of NVIDIA's driver API that the driver calls, declared here
// so that no toolkit is needed. Names and numbers are those of the API's
// documentation; each function is of the version that 12.0 has, whatever driver
// is there (api.c).
#ifndef CUDA_API_H
#define CUDA_API_H

#include <stddef.h>
#include <stdint.h>

#include "mettle/mettle.h"

typedef int CUresult;
typedef int CUdevice;
typedef uint64_t CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;
typedef struct CUgraph_st *CUgraph;
typedef struct CUgraphExec_st *CUgraphExec;
typedef struct CUgraphNode_st *CUgraphNode;

enum {
  CUDA_API_VERSION = 12000,
  // Results
  CUDA_SUCCESS = 0,
  CUDA_ERROR_INVALID_VALUE = 1,
  CUDA_ERROR_OUT_OF_MEMORY = 2,
  CUDA_ERROR_NO_BINARY_FOR_GPU = 209,
  CUDA_ERROR_NOT_READY = 600,
  CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED = 704,
  CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED = 712,
  // Attributes of devices
  CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16,
  CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75,
  CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76,
  CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS = 89,
  CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM = 91,
  // Attributes of functions
  CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 0,
  // Flags
  CU_STREAM_NON_BLOCKING = 1,
  CU_EVENT_DEFAULT = 0,
  CU_EVENT_BLOCKING_SYNC = 1,
  CU_EVENT_DISABLE_TIMING = 2,
  CU_MEMHOSTALLOC_PORTABLE = 1,
  CU_MEMHOSTALLOC_DEVICEMAP = 2,
  CU_MEMHOSTREGISTER_PORTABLE = 1,
  CU_MEMHOSTREGISTER_DEVICEMAP = 2,
  CU_MEMHOSTREGISTER_READ_ONLY = 8,
  CU_MEM_ATTACH_GLOBAL = 1,
  CU_MEM_ADVISE_SET_PREFERRED_LOCATION = 3,
  CU_MEMORYTYPE_HOST = 1,
  CU_MEMORYTYPE_DEVICE = 2,
  CU_MEMORYTYPE_UNIFIED = 4,
  // Attributes of addresses
  CU_POINTER_ATTRIBUTE_MEMORY_TYPE = 2,
  CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL = 9,
  // Options of the assembler
  CU_JIT_MAX_REGISTERS = 0,
  CU_JIT_ERROR_LOG_BUFFER = 5,
  CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES = 6,
  CU_JIT_OPTIMIZATION_LEVEL = 7,
};
// Ends a list of launch parameters given as one block.
#define CU_LAUNCH_PARAM_END ((void *)0)
#define CU_LAUNCH_PARAM_BUFFER_POINTER ((void *)1)
#define CU_LAUNCH_PARAM_BUFFER_SIZE ((void *)2)

typedef struct CUDA_MEMCPY3D {
  size_t srcXInBytes, srcY, srcZ, srcLOD;
  int srcMemoryType;
  const void *srcHost;
  CUdeviceptr srcDevice;
  void *srcArray;
  void *reserved0;
  size_t srcPitch, srcHeight;
  size_t dstXInBytes, dstY, dstZ, dstLOD;
  int dstMemoryType;
  void *dstHost;
  CUdeviceptr dstDevice;
  void *dstArray;
  void *reserved1;
  size_t dstPitch, dstHeight;
  size_t WidthInBytes, Height, Depth;
} CUDA_MEMCPY3D;

typedef struct CUDA_KERNEL_NODE_PARAMS {
  CUfunction func;
  unsigned gridDimX, gridDimY, gridDimZ;
  unsigned blockDimX, blockDimY, blockDimZ;
  unsigned sharedMemBytes;
  void **kernelParams;
  void **extra;
  void *kern;
  CUcontext ctx;
} CUDA_KERNEL_NODE_PARAMS;

// The functions: name and parameters.
#define CUDA_FUNCTIONS(F)                                                      \
  F(cuInit, (unsigned flags))                                                  \
  F(cuDriverGetVersion, (int *version))                                        \
  F(cuDeviceGetCount, (int *count))                                            \
  F(cuDeviceGet, (CUdevice * device, int ordinal))                             \
  F(cuDeviceGetName, (char *name, int capacity, CUdevice device))              \
  F(cuDeviceGetAttribute, (int *value, int attribute, CUdevice device))        \
  F(cuDeviceCanAccessPeer, (int *can, CUdevice device, CUdevice peer))         \
  F(cuDevicePrimaryCtxRetain, (CUcontext * context, CUdevice device))          \
  F(cuDevicePrimaryCtxRelease, (CUdevice device))                              \
  F(cuCtxEnablePeerAccess, (CUcontext peer, unsigned flags))                   \
  F(cuCtxPushCurrent, (CUcontext context))                                     \
  F(cuCtxPopCurrent, (CUcontext * context))                                    \
  F(cuGetErrorName, (CUresult result, const char **name))                      \
  F(cuGetErrorString, (CUresult result, const char **text))                    \
  F(cuMemGetInfo, (size_t *free_bytes, size_t *total_bytes))                   \
  F(cuMemAlloc, (CUdeviceptr * address, size_t bytes))                         \
  F(cuPointerGetAttribute, (void *value, int attribute, CUdeviceptr address))  \
  F(cuMemFree, (CUdeviceptr address))                                          \
  F(cuMemAllocManaged, (CUdeviceptr * address, size_t bytes, unsigned flags))  \
  F(cuMemHostAlloc, (void **address, size_t bytes, unsigned flags))            \
  F(cuMemFreeHost, (void *address))                                            \
  F(cuMemHostRegister, (void *address, size_t bytes, unsigned flags))          \
  F(cuMemHostUnregister, (void *address))                                      \
  F(cuMemHostGetDevicePointer,                                                 \
    (CUdeviceptr * address, void *host, unsigned flags))                       \
  F(cuMemAdvise,                                                               \
    (CUdeviceptr address, size_t bytes, int advice, CUdevice device))          \
  F(cuMemPrefetchAsync,                                                        \
    (CUdeviceptr address, size_t bytes, CUdevice device, CUstream stream))     \
  F(cuMemcpyAsync,                                                             \
    (CUdeviceptr target, CUdeviceptr source, size_t bytes, CUstream stream))   \
  F(cuMemcpyHtoDAsync,                                                         \
    (CUdeviceptr target, const void *source, size_t bytes, CUstream stream))   \
  F(cuMemcpyDtoHAsync,                                                         \
    (void *target, CUdeviceptr source, size_t bytes, CUstream stream))         \
  F(cuStreamWriteValue32,                                                      \
    (CUstream stream, CUdeviceptr target, uint32_t value, unsigned flags))     \
  F(cuStreamWriteValue64,                                                      \
    (CUstream stream, CUdeviceptr target, uint64_t value, unsigned flags))     \
  F(cuGraphCreate, (CUgraph * graph, unsigned flags))                          \
  F(cuGraphDestroy, (CUgraph graph))                                           \
  F(cuGraphAddKernelNode,                                                      \
    (CUgraphNode * node, CUgraph graph, const CUgraphNode *before,             \
     size_t before_count, const CUDA_KERNEL_NODE_PARAMS *parameters))          \
  F(cuGraphInstantiateWithFlags,                                               \
    (CUgraphExec * made, CUgraph graph, unsigned long long flags))             \
  F(cuGraphExecKernelNodeSetParams,                                            \
    (CUgraphExec made, CUgraphNode node,                                       \
     const CUDA_KERNEL_NODE_PARAMS *parameters))                               \
  F(cuGraphExecDestroy, (CUgraphExec made))                                    \
  F(cuGraphLaunch, (CUgraphExec made, CUstream stream))                        \
  F(cuMemcpy3DAsync, (const CUDA_MEMCPY3D *copy, CUstream stream))             \
  F(cuMemsetD8Async,                                                           \
    (CUdeviceptr target, unsigned char value, size_t count, CUstream stream))  \
  F(cuMemsetD32Async,                                                          \
    (CUdeviceptr target, unsigned value, size_t count, CUstream stream))       \
  F(cuStreamCreate, (CUstream * stream, unsigned flags))                       \
  F(cuStreamDestroy, (CUstream stream))                                        \
  F(cuStreamSynchronize, (CUstream stream))                                    \
  F(cuEventCreate, (CUevent * event, unsigned flags))                          \
  F(cuEventDestroy, (CUevent event))                                           \
  F(cuEventRecord, (CUevent event, CUstream stream))                           \
  F(cuEventQuery, (CUevent event))                                             \
  F(cuEventSynchronize, (CUevent event))                                       \
  F(cuEventElapsedTime, (float *ms, CUevent start, CUevent end))               \
  F(cuModuleLoadDataEx, (CUmodule * module, const void *image, unsigned count, \
                         int *options, void **values))                         \
  F(cuModuleUnload, (CUmodule module))                                         \
  F(cuModuleGetFunction,                                                       \
    (CUfunction * function, CUmodule module, const char *name))                \
  F(cuFuncGetAttribute, (int *value, int attribute, CUfunction function))      \
  F(cuLaunchKernel,                                                            \
    (CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,   \
     unsigned block_x, unsigned block_y, unsigned block_z,                     \
     unsigned shared_bytes, CUstream stream, void **parameters, void **extra))

#define CUDA_DECLARE(name, parameters) CUresult(*name) parameters;
typedef struct cuda_api {
  CUDA_FUNCTIONS(CUDA_DECLARE)
} cuda_api;
#undef CUDA_DECLARE

extern cuda_api cuda;

// Loads libcuda.so.1 and fills in the table, once.
//
// Errors  MTL_NOT_FOUND      there is no driver, or no GPU; the text says which
//         MTL_INVALID_STATE  it was loaded before this process was forked
mtl_status cuda_load(void);

// Returns the number of GPUs; 0 if cuda_load fails.
uint32_t cuda_gpu_count(void);

// Converts a result: MTL_OK, or a failure "what: CUDA_ERROR_...: text", where
// what names the call.
mtl_status cuda_check(CUresult result, const char *what);

#endif
