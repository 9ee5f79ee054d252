// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// device.c: opens a device that runs nothing, with the cpu device's limits, so
// that what it accepts also runs there.
#include "base/futex.h"
#include "base/machine.h"
#include "drivers/null/null.h"

uint32_t null_device_count(void) {
  return 1;
}

const char *null_device_name(uint32_t index) {
  (void)index;
  return "null";
}

bool null_device_is_listed(uint32_t index) {
  (void)index;
  return false;
}

mtl_status null_device_open(mtl_device *device) {
  const uint64_t memory_bytes = mtli_machine_memory_bytes();
  device->memory_bytes = memory_bytes;
  mtl_device_info *info = &device->info;
  info->architecture = "null";
  info->thread_execution_width = MTL_SIMD_WIDTH;
  info->max_threads_per_threadgroup = 1024;  // as Apple's GPUs
  info->max_threadgroup_threads[0] = 1024;
  info->max_threadgroup_threads[1] = 1024;
  info->max_threadgroup_threads[2] = 1024;
  info->max_threadgroup_memory_bytes = 32 * 1024;  // as Apple's GPUs
  info->max_buffer_bytes = memory_bytes / 4 * 3;
  info->recommended_max_working_set_bytes = memory_bytes / 4 * 3;
  info->buffer_offset_alignment_bytes = 1;
  info->compute_units = 1;
  info->has_unified_memory = true;
  info->no_copy_alignment_bytes = 1;
  info->timestamp_frequency_hz = UINT64_C(1000000000);
  return MTL_OK;
}

void null_device_close(mtl_device *device) {
  (void)device;
}

bool null_device_family(const mtl_device *device, mtl_family family) {
  (void)device;
  return family >= MTL_FAMILY_COMMON1 && family <= MTL_FAMILY_COMMON3;
}

char *null_device_code_target(const mtl_device *device) {
  (void)device;
  return mtli_cpu_target();
}

// The host's clock is the device's.
mtl_status null_device_timestamps(mtl_device *device, uint64_t *out_host_ns,
                                  uint64_t *out_device) {
  (void)device;
  *out_host_ns = *out_device = mtli_now_ns();
  return MTL_OK;
}
