// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// opencl.c: the calls of opencl.h over libOpenCL.so.1.
#include "opencl.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEVICE_TYPE_CPU (UINT64_C(1) << 1)  // CL_DEVICE_TYPE_CPU
#define PLATFORM_VERSION 0x0901             // CL_PLATFORM_VERSION
#define PLATFORM_NAME 0x0902                // CL_PLATFORM_NAME
#define PROGRAM_BUILD_LOG 0x1183            // CL_PROGRAM_BUILD_LOG
#define MAX_PLATFORMS 16

typedef void *handle;

// name, result, arguments
#define FUNCTIONS(F)                                                           \
  F(GetPlatformIDs, int32_t, (uint32_t, handle *, uint32_t *))                 \
  F(GetPlatformInfo, int32_t, (handle, uint32_t, size_t, void *, size_t *))    \
  F(GetDeviceIDs, int32_t, (handle, uint64_t, uint32_t, handle *, uint32_t *)) \
  F(CreateContext, handle,                                                     \
    (const intptr_t *, uint32_t, const handle *, void *, void *, int32_t *))   \
  F(CreateCommandQueue, handle, (handle, handle, uint64_t, int32_t *))         \
  F(CreateBuffer, handle, (handle, uint64_t, size_t, void *, int32_t *))       \
  F(CreateProgramWithSource, handle,                                           \
    (handle, uint32_t, const char **, const size_t *, int32_t *))              \
  F(BuildProgram, int32_t,                                                     \
    (handle, uint32_t, const handle *, const char *, void *, void *))          \
  F(GetProgramBuildInfo, int32_t,                                              \
    (handle, handle, uint32_t, size_t, void *, size_t *))                      \
  F(CreateKernel, handle, (handle, const char *, int32_t *))                   \
  F(SetKernelArg, int32_t, (handle, uint32_t, size_t, const void *))           \
  F(EnqueueNDRangeKernel, int32_t,                                             \
    (handle, handle, uint32_t, const size_t *, const size_t *, const size_t *, \
     uint32_t, const handle *, handle *))                                      \
  F(EnqueueCopyBuffer, int32_t,                                                \
    (handle, handle, handle, size_t, size_t, size_t, uint32_t, const handle *, \
     handle *))                                                                \
  F(EnqueueFillBuffer, int32_t,                                                \
    (handle, handle, const void *, size_t, size_t, size_t, uint32_t,           \
     const handle *, handle *))                                                \
  F(EnqueueMarkerWithWaitList, int32_t,                                        \
    (handle, uint32_t, const handle *, handle *))                              \
  F(CreateUserEvent, handle, (handle, int32_t *))                              \
  F(SetUserEventStatus, int32_t, (handle, int32_t))                            \
  F(ReleaseEvent, int32_t, (handle))                                           \
  F(ReleaseKernel, int32_t, (handle))                                          \
  F(ReleaseProgram, int32_t, (handle))                                         \
  F(Flush, int32_t, (handle))                                                  \
  F(Finish, int32_t, (handle))

static struct {
#define MEMBER(name, result, arguments) result(*name) arguments;
  FUNCTIONS(MEMBER)
#undef MEMBER
} cl;

static handle device, context;
static char description[256] = "no PoCL: apt-get install pocl-opencl-icd";

static void must(int32_t error, const char *what) {
  if (error != 0) {
    fprintf(stderr, "mettle-bench: OpenCL: %s gives %d\n", what, error);
    exit(1);
  }
}

static bool load_functions(void) {
  void *library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    return false;
  }
  // POSIX's way to turn dlsym's result into a function pointer.
#define LOAD(name, result, arguments)              \
  *(void **)&cl.name = dlsym(library, "cl" #name); \
  if (cl.name == NULL) {                           \
    return false;                                  \
  }
  FUNCTIONS(LOAD)
#undef LOAD
  return true;
}

static bool find_device(void) {
  handle platforms[MAX_PLATFORMS];
  uint32_t count = 0;
  if (cl.GetPlatformIDs(MAX_PLATFORMS, platforms, &count) != 0) {
    return false;
  }
  for (uint32_t i = 0; i < count && i < MAX_PLATFORMS; i++) {
    char name[128] = "", version[128] = "";
    cl.GetPlatformInfo(platforms[i], PLATFORM_NAME, sizeof name, name, NULL);
    cl.GetPlatformInfo(platforms[i], PLATFORM_VERSION, sizeof version, version,
                       NULL);
    if (strcmp(name, "Portable Computing Language") == 0 &&
        cl.GetDeviceIDs(platforms[i], DEVICE_TYPE_CPU, 1, &device, NULL) == 0) {
      snprintf(description, sizeof description, "PoCL: %.80s", version);
      return true;
    }
  }
  return false;
}

bool opencl_is_there(void) {
  static int state;  // 0 unknown, 1 there, -1 not
  if (state == 0) {
    state = load_functions() && find_device() ? 1 : -1;
    if (state == 1) {
      int32_t error = 0;
      context = cl.CreateContext(NULL, 1, &device, NULL, NULL, &error);
      must(error, "clCreateContext");
    }
  }
  return state == 1;
}

const char *opencl_description(void) {
  opencl_is_there();
  return description;
}

opencl_queue *opencl_new_queue(void) {
  int32_t error = 0;
  handle queue = cl.CreateCommandQueue(context, device, 0, &error);
  must(error, "clCreateCommandQueue");
  return queue;
}

opencl_memory *opencl_new_memory(size_t length_bytes) {
  int32_t error = 0;
  handle memory = cl.CreateBuffer(context, 1, length_bytes, NULL, &error);
  must(error, "clCreateBuffer");
  // As bench_buffer: touched before the clock runs.
  handle queue = opencl_new_queue();
  const uint8_t one = 1;
  must(cl.EnqueueFillBuffer(queue, memory, &one, 1, 0, length_bytes, 0, NULL,
                            NULL),
       "clEnqueueFillBuffer");
  must(cl.Finish(queue), "clFinish");
  return memory;
}

opencl_memory *opencl_new_memory_at(void *bytes, size_t length_bytes) {
  int32_t error = 0;
  // CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR
  handle memory =
      cl.CreateBuffer(context, 1 | 1 << 3, length_bytes, bytes, &error);
  must(error, "clCreateBuffer");
  return memory;
}

struct opencl_kernel {
  handle program;
  handle kernel;
};

opencl_kernel *opencl_new_kernel(const char *source, const char *name) {
  int32_t error = 0;
  opencl_kernel *result = malloc(sizeof *result);
  if (result == NULL) {
    must(-6, "malloc");  // CL_OUT_OF_HOST_MEMORY
  }
  result->program =
      cl.CreateProgramWithSource(context, 1, &source, NULL, &error);
  must(error, "clCreateProgramWithSource");
  error = cl.BuildProgram(result->program, 1, &device, "-cl-mad-enable", NULL,
                          NULL);
  if (error != 0) {
    char text[4096] = "";
    cl.GetProgramBuildInfo(result->program, device, PROGRAM_BUILD_LOG,
                           sizeof text - 1, text, NULL);
    fputs(text, stderr);
    must(error, "clBuildProgram");
  }
  result->kernel = cl.CreateKernel(result->program, name, &error);
  must(error, "clCreateKernel");
  return result;
}

void opencl_release_kernel(opencl_kernel *kernel) {
  must(cl.ReleaseKernel(kernel->kernel), "clReleaseKernel");
  must(cl.ReleaseProgram(kernel->program), "clReleaseProgram");
  free(kernel);
}

void opencl_set_memory(opencl_kernel *kernel, uint32_t index,
                       opencl_memory *memory) {
  must(cl.SetKernelArg(kernel->kernel, index, sizeof(handle), &memory),
       "clSetKernelArg");
}

void opencl_run(opencl_queue *queue, opencl_kernel *kernel,
                const size_t grid[3], const size_t group[3]) {
  must(cl.EnqueueNDRangeKernel(queue, kernel->kernel, 3, NULL, grid, group, 0,
                               NULL, NULL),
       "clEnqueueNDRangeKernel");
}

void opencl_copy(opencl_queue *queue, opencl_memory *source,
                 opencl_memory *target, size_t length_bytes) {
  must(cl.EnqueueCopyBuffer(queue, source, target, 0, 0, length_bytes, 0, NULL,
                            NULL),
       "clEnqueueCopyBuffer");
}

opencl_event *opencl_marker(opencl_queue *queue, opencl_event *wait) {
  handle wait_handle = wait, event = NULL;
  must(cl.EnqueueMarkerWithWaitList(queue, wait ? 1 : 0,
                                    wait ? &wait_handle : NULL, &event),
       "clEnqueueMarkerWithWaitList");
  return event;
}

opencl_event *opencl_new_user_event(void) {
  int32_t error = 0;
  handle event = cl.CreateUserEvent(context, &error);
  must(error, "clCreateUserEvent");
  return event;
}

void opencl_complete_user_event(opencl_event *event) {
  must(cl.SetUserEventStatus(event, 0), "clSetUserEventStatus");
}

void opencl_release_event(opencl_event *event) {
  must(cl.ReleaseEvent(event), "clReleaseEvent");
}

void opencl_flush(opencl_queue *queue) {
  must(cl.Flush(queue), "clFlush");
}

void opencl_finish(opencl_queue *queue) {
  must(cl.Finish(queue), "clFinish");
}
