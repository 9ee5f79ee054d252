// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// device.c: the devices "cpu", whose memory is the host's, and "cpu-discrete",
// which behaves like a device with memory of its own.

#include "base/futex.h"
#include "base/machine.h"
#include "drivers/cpu/cpu.h"

// cpu-discrete has a clock of its own, as devices behind a bus do.
enum { NS_A_TICK = 40 };

uint32_t cpu_device_count(void) {
  return CPU_DEVICE_COUNT;
}

const char *cpu_device_name(uint32_t index) {
  return index == CPU_DISCRETE_DEVICE ? "cpu-discrete" : "cpu";
}

bool cpu_device_is_listed(uint32_t index) {
  return index != CPU_DISCRETE_DEVICE;
}

// Returns the micro-architecture level of the x86-64 psABI, or the machine's
// name.
static const char *architecture(void) {
#if defined(__x86_64__)
  return __builtin_cpu_supports("x86-64-v4")   ? "x86-64-v4"
         : __builtin_cpu_supports("x86-64-v3") ? "x86-64-v3"
         : __builtin_cpu_supports("x86-64-v2") ? "x86-64-v2"
                                               : "x86-64";
#elif defined(__aarch64__)
  return "aarch64";
#else
  return "unknown";
#endif
}

static void info_fill(cpu_device *cpu) {
  const uint64_t memory_bytes = mtli_machine_memory_bytes();
  cpu->device.memory_bytes = memory_bytes;
  mtl_device_info *info = &cpu->device.info;
  info->architecture = architecture();
  info->thread_execution_width = MTL_SIMD_WIDTH;
  info->max_threads_per_threadgroup = 1024;  // as Apple's GPUs
  info->max_threadgroup_threads[0] = 1024;
  info->max_threadgroup_threads[1] = 1024;
  info->max_threadgroup_threads[2] = 1024;
  info->max_threadgroup_memory_bytes = 32 * 1024;  // as Apple's GPUs
  info->max_buffer_bytes = memory_bytes / 4 * 3;
  // Three quarters of memory, as Apple recommends for GPUs with unified memory.
  info->recommended_max_working_set_bytes = memory_bytes / 4 * 3;
  info->buffer_offset_alignment_bytes = 1;
  info->compute_units = cpu_pool_threads(cpu->pool);
  info->has_unified_memory = !cpu_is_discrete(&cpu->device);
  info->runs_host_work = true;
  info->no_copy_alignment_bytes = 1;
  info->timestamp_frequency_hz =
      UINT64_C(1000000000) / (cpu_is_discrete(&cpu->device) ? NS_A_TICK : 1);
}

uint64_t cpu_device_ticks(const cpu_device *device, uint64_t now_ns) {
  return cpu_is_discrete(&device->device)
             ? (now_ns - device->clock_start_ns) / NS_A_TICK
             : now_ns;
}

char *cpu_device_code_target(const mtl_device *device) {
  (void)device;
  return mtli_cpu_target();
}

// All private memory is the process's.
mtl_status cpu_device_reach(mtl_device *device, mtl_device *other) {
  (void)device;
  (void)other;
  return MTL_OK;
}

mtl_status cpu_device_timestamps(mtl_device *device, uint64_t *out_host_ns,
                                 uint64_t *out_device) {
  *out_host_ns = mtli_now_ns();
  *out_device = cpu_device_ticks((const cpu_device *)device, *out_host_ns);
  return MTL_OK;
}

mtl_status cpu_device_open(mtl_device *device) {
  cpu_device *cpu = (cpu_device *)device;
  cpu->pool = cpu_pool_create();
  if (!cpu->pool) {
    return mtli_fail(MTL_OUT_OF_MEMORY, "no memory for a device");
  }
  if (cpu_is_discrete(device)) {
    cpu->late = cpu_late_create();
    if (!cpu->late) {
      cpu_pool_end(cpu->pool, false);
      return mtli_fail(MTL_OUT_OF_MEMORY, "no memory for a device");
    }
  }
  cpu->clock_start_ns = mtli_now_ns();
  info_fill(cpu);
  cpu_fault_install();
  return MTL_OK;
}

void cpu_device_close(mtl_device *device) {
  cpu_device *cpu = (cpu_device *)device;
  const bool is_inherited = mtli_device_is_inherited(device);
  if (cpu->late) {
    cpu_late_end(cpu->late, is_inherited);
  }
  cpu_pool_end(cpu->pool, is_inherited);
}

// Compute features only: Apple7 is the newest family whose compute features
// are all here; Apple8 brings 64-bit atomics and more.
bool cpu_device_family(const mtl_device *device, mtl_family family) {
  (void)device;
  enum { FIRST_APPLE = 1001, FIRST_MAC = 2001 };
  return (family >= (int)FIRST_APPLE && family <= MTL_FAMILY_APPLE7) ||
         (family >= (int)FIRST_MAC && family <= MTL_FAMILY_MAC2) ||
         (family >= MTL_FAMILY_COMMON1 && family <= MTL_FAMILY_COMMON3) ||
         family == MTL_FAMILY_METAL3;
}
