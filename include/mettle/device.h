// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// device.h: what there is to compute on, and its limits.
#ifndef METTLE_DEVICE_H
#define METTLE_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mtl_device mtl_device;

// A simdgroup is 32 threads on every device.  // Apple GPUs and CUDA warps
#define MTL_SIMD_WIDTH 32
#define MTL_MAX_TENSOR_RANK 16  // Metal: MTLTensorExtents
#define MTL_MAX_BUFFER_ARGUMENTS 31  // Metal: buffer argument table, 31 entries
#define MTL_MAX_THREADGROUP_ARGUMENTS 31  // Metal: threadgroup memory table

// Feature families, with Metal's meaning and raw values (MTLGPUFamily).
typedef enum mtl_family {
  MTL_FAMILY_APPLE7 = 1007,
  MTL_FAMILY_APPLE8 = 1008,
  MTL_FAMILY_APPLE9 = 1009,
  MTL_FAMILY_APPLE10 = 1010,
  MTL_FAMILY_MAC2 = 2002,
  MTL_FAMILY_COMMON1 = 3001,
  MTL_FAMILY_COMMON2 = 3002,
  MTL_FAMILY_COMMON3 = 3003,
  MTL_FAMILY_METAL3 = 5001,
  MTL_FAMILY_METAL4 = 5002,
} mtl_family;

// What a device is. Every limit carries its unit in its name.
typedef struct mtl_device_info {
  const char *name;  // "cpu", "cpu-discrete", "null"; owned by the device
  const char *architecture;  // "x86-64-v4", for instance; owned by the device
  uint64_t registry_id;      // the same in every process on this machine
  uint32_t thread_execution_width;       // threads; MTL_SIMD_WIDTH
  uint32_t max_threads_per_threadgroup;  // threads in all
  uint32_t max_threadgroup_threads[3];   // threads along x, y, z
  uint64_t max_threadgroup_memory_bytes;
  uint64_t max_buffer_bytes;                   // one buffer
  uint64_t recommended_max_working_set_bytes;  // all buffers together
  uint64_t buffer_offset_alignment_bytes;      // of offsets in set_buffer; 1
  uint32_t compute_units;                      // threadgroups that run at once
  bool has_unified_memory;
  bool runs_host_work;               // mtl_command_buffer_host_work
  uint64_t no_copy_alignment_bytes;  // of no_copy_bytes and of its length: 1 if
                                     // any will do
  uint64_t timestamp_frequency_hz;   // ticks a second of the device's clock
                                     // (counters.h)
  // Functions of fast math are the machine's approximations, within Metal's
  // bounds, and not equal to those of other devices to the bit: unless
  // METTLE_EXACT=1 was set when it was opened. Those of other modes are.
  bool approximates_fast_math;
  bool runs_native_work;  // mtl_command_buffer_native_work
} mtl_device_info;

// Lists the devices of this machine that work is meant for, the first of them
// the default. Those for tests, "cpu-discrete" and "null", are never among
// them: ask for them by name.
//
//   out_devices  [capacity] receives up to capacity devices; NULL with
//                capacity 0 asks only for the count
//   out_count    how many devices there are, which may exceed capacity
//
// Ownership  Each device is yours.
// Threads    Any.
// Errors     MTL_INVALID_ARGUMENT  out_count is NULL; a METTLE_ variable of the
//                                  environment has a wrong value: the text
//                                  names it. So does every call that gives a
//                                  device
// Source     Metal: MTLCopyAllDevices
MTL_API MTL_MUST_USE mtl_status mtl_device_list(mtl_device **out_devices,
                                                size_t capacity,
                                                size_t *out_count);

// Gives the default device: the one named by the environment variable
// METTLE_DEVICE if set, otherwise the first of mtl_device_list.
//
// Ownership  The device is yours.
// Threads    Any.
// Errors     MTL_NOT_FOUND  METTLE_DEVICE names no device
// Source     Metal: MTLCreateSystemDefaultDevice
MTL_API MTL_MUST_USE mtl_status mtl_device_default(mtl_device **out_device);

// Gives the device called name.
//
// Ownership  The device is yours.
// Threads    Any.
// Errors     MTL_NOT_FOUND  the text lists the names that exist
MTL_API MTL_MUST_USE mtl_status mtl_device_by_name(const char *name,
                                                   mtl_device **out_device);

// Counts one more owner, and returns device. NULL is allowed.
MTL_API mtl_device *mtl_device_retain(mtl_device *device);
// Counts one owner less; the last one ends the device. NULL is allowed.
// Objects made from a device keep it alive.
MTL_API void mtl_device_release(mtl_device *device);

// Returns the device's description, valid as long as the device.
MTL_API const mtl_device_info *mtl_device_get_info(const mtl_device *device);

// Tells whether the device has all compute features of family, or METTLE_FAMILY
// says that it has.
//
// Source     Metal: -[MTLDevice supportsFamily:]
MTL_API bool mtl_device_supports_family(const mtl_device *device,
                                        mtl_family family);

// Returns the bytes that live buffers of this device take now.
//
// Threads    Any.
// Source     Metal: -[MTLDevice currentAllocatedSize]
MTL_API uint64_t mtl_device_current_allocated_bytes(const mtl_device *device);

#ifdef __cplusplus
}
#endif
#endif
