// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// device.c: opens each GPU as a device: "cuda", "cuda:1" and so on. It shares
// the primary context with whatever else in the process uses the GPU.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/futex.h"
#include "drivers/cuda/cuda.h"

enum {
  MOST_DEVICES = 16,
  // The newest that the compiler makes code for; later GPUs take it.
  MOST_CAPABILITY = 90,
};
// Memory left to other programs: managed memory must never fill the GPU.
#define SPARE_BYTES (UINT64_C(1) << 30)

uint32_t cuda_device_count(void) {
  const uint32_t count = cuda_gpu_count();
  return count < MOST_DEVICES ? count : MOST_DEVICES;
}

const char *cuda_device_name(uint32_t index) {
  static const char names[MOST_DEVICES][8] = {
      "cuda",    "cuda:1",  "cuda:2",  "cuda:3", "cuda:4",  "cuda:5",
      "cuda:6",  "cuda:7",  "cuda:8",  "cuda:9", "cuda:10", "cuda:11",
      "cuda:12", "cuda:13", "cuda:14", "cuda:15"};
  return names[index];
}

// Returns false: listing opens a device, which takes 0.1 s and memory of the
// card. Clients that want it name it.
bool cuda_device_is_listed(uint32_t index) {
  (void)index;
  return false;
}

void cuda_enter(const cuda_device *device) {
  cuda.cuCtxPushCurrent(device->context);
}

void cuda_leave(void) {
  CUcontext context;
  cuda.cuCtxPopCurrent(&context);
}

// --- what has ended it -------------------------------------------------------

static pthread_mutex_t lost_lock = PTHREAD_MUTEX_INITIALIZER;
static char lost_text[512];
static _Atomic bool is_lost;

const char *cuda_lost_text(void) {
  // pairs with the release in cuda_set_lost
  return atomic_load_explicit(&is_lost, memory_order_acquire) ? lost_text
                                                              : NULL;
}

void cuda_set_lost(const char *text) {
  pthread_mutex_lock(&lost_lock);
  if (!atomic_load_explicit(&is_lost, memory_order_relaxed)) {
    snprintf(lost_text, sizeof lost_text, "%s", text);
    atomic_store_explicit(&is_lost, true, memory_order_release);
  }
  pthread_mutex_unlock(&lost_lock);
}

// Errors of kernels, after which every call of the process fails.
static bool is_lasting(CUresult result) {
  return result >= 700 && result <= 720 && result != 701 && result != 704 &&
         result != 705 && result != 708 && result != 712 && result != 713;
}

mtl_status cuda_done(CUresult result, const char *what) {
  if (result == CUDA_SUCCESS) {
    return MTL_OK;
  }
  const mtl_status status = cuda_check(result, what);
  if (!is_lasting(result)) {
    return status;
  }
  char text[512];
  snprintf(text, sizeof text,
           "the device cuda is lost to this process by a kernel fault: %s",
           mtl_last_error());
  cuda_set_lost(text);
  return mtli_fail(MTL_KERNEL_FAULT, "%s", cuda_lost_text());
}

// --- other GPUs --------------------------------------------------------------

mtl_status cuda_device_reach(mtl_device *base, mtl_device *other) {
  cuda_device *device = cuda_device_of(base), *peer = cuda_device_of(other);
  int can = 0;
  MTL_TRY(cuda_done(cuda.cuDeviceCanAccessPeer(&can, device->gpu, peer->gpu),
                    "cuDeviceCanAccessPeer"));
  if (!can) {
    return mtli_no_device_reach(base, other);
  }
  cuda_enter(device);
  CUresult result = cuda.cuCtxEnablePeerAccess(peer->context, 0);
  cuda_leave();
  if (result == CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED) {
    result = CUDA_SUCCESS;  // by an earlier view, or by torch
  }
  return cuda_done(result, "cuCtxEnablePeerAccess");
}

// --- opening -----------------------------------------------------------------

// Writes the GPU's clock, in nanoseconds, to an address.
static const char clock_ptx[] =
    ".version 7.0\n"
    ".target sm_70\n"
    ".address_size 64\n"
    ".visible .entry clock(.param .u64 clock_param_0)\n"
    "{\n"
    "  .reg .b64 %rd<3>;\n"
    "  ld.param.u64 %rd1, [clock_param_0];\n"
    "  mov.u64 %rd2, %globaltimer;\n"
    "  st.global.u64 [%rd1], %rd2;\n"
    "  ret;\n"
    "}\n";

static int attribute(const cuda_device *device, int which) {
  int value = 0;
  cuda.cuDeviceGetAttribute(&value, which, device->gpu);
  return value;
}

static void fill_info(cuda_device *device, uint64_t memory_bytes) {
  mtl_device_info *info = &device->device.info;
  device->device.memory_bytes = memory_bytes;
  info->architecture = device->architecture;
  device->device.copies_log_texts = true;
  info->thread_execution_width = MTL_SIMD_WIDTH;
  info->max_threads_per_threadgroup = 1024;
  info->max_threadgroup_threads[0] = 1024;
  info->max_threadgroup_threads[1] = 1024;
  info->max_threadgroup_threads[2] = 64;
  info->max_threadgroup_memory_bytes = 32 * 1024;  // as Apple's GPUs
  info->max_buffer_bytes = memory_bytes / 4 * 3;
  info->recommended_max_working_set_bytes = memory_bytes / 4 * 3;
  info->buffer_offset_alignment_bytes = 1;
  info->compute_units =
      (uint32_t)attribute(device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  info->has_unified_memory = false;
  info->runs_host_work = true;
  info->runs_native_work = true;
  info->no_copy_alignment_bytes = 1;
  device->shares_addresses = attribute(
      device, CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM);
  info->timestamp_frequency_hz = UINT64_C(1000000000);
}

// Chooses the target that the device's pipelines are compiled to.
static mtl_status choose_target(cuda_device *device) {
  const int major =
      attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  const int minor =
      attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  const int capability = major * 10 + minor;
  snprintf(device->architecture, sizeof device->architecture, "sm_%d",
           capability);
  if (capability < 70) {
    return mtli_fail(MTL_UNSUPPORTED,
                     "device '%s' is sm_%d; threads that wait for each other "
                     "need sm_70",
                     device->device.info.name, capability);
  }
  const char *exact = getenv("METTLE_EXACT");
  device->device.info.approximates_fast_math = !exact || *exact != '1';
  snprintf(device->target, sizeof device->target, "nvptx64 sm_%d +ptx78%s",
           capability < MOST_CAPABILITY ? capability : MOST_CAPABILITY,
           device->device.info.approximates_fast_math ? " +approximate" : "");
  return MTL_OK;
}

static mtl_status open_parts(cuda_device *device) {
  size_t free_bytes = 0, total_bytes = 0;
  MTL_TRY(cuda_done(cuda.cuMemGetInfo(&free_bytes, &total_bytes),
                    "cuMemGetInfo"));
  fill_info(device, free_bytes > 2 * SPARE_BYTES ? free_bytes - SPARE_BYTES
                                                 : free_bytes / 2);
  MTL_TRY(cuda_done(
      cuda.cuStreamCreate(&device->stream, CU_STREAM_NON_BLOCKING),
      "cuStreamCreate"));
  MTL_TRY(cuda_done(cuda.cuModuleLoadDataEx(&device->clock_module, clock_ptx, 0,
                                            NULL, NULL),
                    "cuModuleLoadDataEx"));
  MTL_TRY(cuda_done(cuda.cuModuleGetFunction(
                        &device->clock, device->clock_module, "clock"),
                    "cuModuleGetFunction"));
  uint64_t word;
  MTL_TRY(cuda_piece_take(&device->pinned, sizeof *device->clock_word, &word));
  device->clock_word = (uint64_t *)(uintptr_t)word;
  // The first launch loads the code: it is done here, where nobody waits.
  uint64_t host_ns, ticks;
  return cuda_device_timestamps(&device->device, &host_ns, &ticks);
}

mtl_status cuda_device_open(mtl_device *base) {
  cuda_device *device = cuda_device_of(base);
  MTL_TRY(cuda_load());
  if (cuda_lost_text()) {
    return mtli_fail(MTL_KERNEL_FAULT, "%s", cuda_lost_text());
  }
  MTL_TRY(cuda_done(cuda.cuDeviceGet(&device->gpu, (int)base->index),
                    "cuDeviceGet"));
  MTL_TRY(choose_target(device));
  if (!attribute(device, CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS)) {
    return mtli_fail(MTL_UNSUPPORTED,
                     "device '%s' cannot share memory with the host while it "
                     "works",
                     base->info.name);
  }
  MTL_TRY(cuda_done(
      cuda.cuDevicePrimaryCtxRetain(&device->context, device->gpu),
      "cuDevicePrimaryCtxRetain"));
  pthread_mutex_init(&device->stream_lock, NULL);
  pthread_mutex_init(&device->srgb_lock, NULL);
  cuda_slabs_init(&device->pinned, true);
  cuda_slabs_init(&device->memory, false);
  cuda_slabs_init(&device->descriptors, false);
  cuda_enter(device);
  const mtl_status status = open_parts(device);
  cuda_leave();
  if (status != MTL_OK) {
    cuda_device_close(base);
  }
  return status;
}

void cuda_device_close(mtl_device *base) {
  cuda_device *device = cuda_device_of(base);
  const bool is_inherited = mtli_device_is_inherited(base);
  if (!is_inherited) {
    cuda_enter(device);
  }
  cuda_slabs_end(&device->pinned, is_inherited);
  cuda_slabs_end(&device->memory, is_inherited);
  cuda_slabs_end(&device->descriptors, is_inherited);
  if (is_inherited) {
    return;
  }
  if (device->clock_module) {
    cuda.cuModuleUnload(device->clock_module);
  }
  if (device->stream) {
    cuda.cuStreamDestroy(device->stream);
  }
  cuda_leave();
  cuda.cuDevicePrimaryCtxRelease(device->gpu);
  pthread_mutex_destroy(&device->stream_lock);
  pthread_mutex_destroy(&device->srgb_lock);
}

// Supports the same features as the device cpu: the compute features of Apple7.
bool cuda_device_family(const mtl_device *device, mtl_family family) {
  (void)device;
  enum { FIRST_APPLE = 1001, FIRST_MAC = 2001 };
  return (family >= (int)FIRST_APPLE && family <= MTL_FAMILY_APPLE7) ||
         (family >= (int)FIRST_MAC && family <= MTL_FAMILY_MAC2) ||
         (family >= MTL_FAMILY_COMMON1 && family <= MTL_FAMILY_COMMON3) ||
         family == MTL_FAMILY_METAL3;
}

// --- the device's own stream -------------------------------------------------

static mtl_status finish(cuda_device *device, CUresult result,
                         const char *what) {
  mtl_status status = cuda_done(result, what);
  if (status == MTL_OK) {
    status = cuda_done(cuda.cuStreamSynchronize(device->stream), what);
  }
  cuda_leave();
  pthread_mutex_unlock(&device->stream_lock);
  return status;
}

static void begin(cuda_device *device) {
  pthread_mutex_lock(&device->stream_lock);
  cuda_enter(device);
}

mtl_status cuda_write(cuda_device *device, uint64_t target, const void *source,
                      size_t bytes) {
  begin(device);
  return finish(device,
                cuda.cuMemcpyHtoDAsync(target, source, bytes, device->stream),
                "a copy to the device");
}

mtl_status cuda_read(cuda_device *device, void *target, uint64_t source,
                     size_t bytes) {
  begin(device);
  return finish(device,
                cuda.cuMemcpyDtoHAsync(target, source, bytes, device->stream),
                "a copy from the device");
}

mtl_status cuda_clear(cuda_device *device, uint64_t target, size_t bytes) {
  begin(device);
  return finish(device,
                cuda.cuMemsetD8Async(target, 0, bytes, device->stream),
                "clearing a buffer");
}

// Runs the clock's kernel once; says when it began and how long it took.
static mtl_status read_clock(cuda_device *device, uint64_t *out_start_ns,
                             uint64_t *out_took_ns) {
  uint64_t address = (uintptr_t)device->clock_word;
  size_t bytes = sizeof address;
  void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &address,
                   CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END};
  *out_start_ns = mtli_now_ns();
  MTL_TRY(cuda_done(cuda.cuLaunchKernel(device->clock, 1, 1, 1, 1, 1, 1, 0,
                                        device->stream, NULL, extra),
                    "reading the clock"));
  MTL_TRY(cuda_done(cuda.cuStreamSynchronize(device->stream),
                    "reading the clock"));
  *out_took_ns = mtli_now_ns() - *out_start_ns;
  return MTL_OK;
}

char *cuda_device_code_target(const mtl_device *device) {
  return strdup(((const cuda_device *)device)->target);
}

mtl_status cuda_device_timestamps(mtl_device *base, uint64_t *out_host_ns,
                                  uint64_t *out_device) {
  enum { TRIES = 20, GOOD_NS = 10 * 1000 };
  cuda_device *device = cuda_device_of(base);
  uint64_t best_ns = UINT64_MAX;
  mtl_status status = MTL_OK;
  begin(device);
  for (int i = 0; i < TRIES && best_ns > GOOD_NS && status == MTL_OK; i++) {
    uint64_t start_ns = 0, took_ns = 0;
    status = read_clock(device, &start_ns, &took_ns);
    if (status == MTL_OK && took_ns < best_ns) {
      best_ns = took_ns;
      *out_host_ns = start_ns + took_ns / 2;
      *out_device = *device->clock_word;
    }
  }
  cuda_leave();
  pthread_mutex_unlock(&device->stream_lock);
  return status;
}
