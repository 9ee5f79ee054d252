// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// drivers.c: the built-in drivers, and stubs for the slots that a driver lacks.
#include "runtime/driver.h"

extern const mtli_driver mtli_cpu_driver;
extern const mtli_driver mtli_null_driver;
extern const mtli_driver mtli_metal_driver;
extern const mtli_driver mtli_cuda_driver;

// The first that has a listed device is the default; one may be made of another
// that stands before it.
const mtli_driver *const mtli_drivers[] = {
#if defined(__APPLE__)
    &mtli_metal_driver, &mtli_cpu_driver, &mtli_null_driver,
#else
    &mtli_cpu_driver, &mtli_null_driver, &mtli_metal_driver, &mtli_cuda_driver,
#endif
};
const size_t mtli_driver_count = sizeof mtli_drivers / sizeof *mtli_drivers;

mtl_status mtli_no_queue_help(mtl_queue *queue,
                              mtl_command_buffer *command_buffer) {
  (void)queue;
  (void)command_buffer;
  return MTL_UNSUPPORTED;
}

mtl_status mtli_no_device_reach(mtl_device *device, mtl_device *other) {
  return mtli_fail(MTL_UNSUPPORTED,
                   "device '%s' cannot use the memory of device '%s'",
                   device->info.name, other->info.name);
}

mtl_status mtli_no_buffer_advise(mtl_buffer *buffer, mtli_advice advice) {
  (void)advice;
  return mtli_fail(MTL_UNSUPPORTED, "device '%s' takes no advice on memory",
                   buffer->device->info.name);
}

mtl_status mtli_no_buffer_modified(mtl_buffer *buffer, size_t offset_bytes,
                                   size_t length_bytes) {
  (void)offset_bytes;
  (void)length_bytes;
  return mtli_fail(MTL_UNSUPPORTED, "device '%s' has no managed buffers",
                   buffer->device->info.name);
}
