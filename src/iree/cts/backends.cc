// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// backends.cc: tells IREE's conformance tests of the driver: all six tags, no
// test left out. METTLE_DEVICE chooses the device.
#include "iree/hal/api.h"
#include "iree/hal/cts/util/registry.h"
#include "hal_driver.h"

namespace iree::hal::cts {

static iree_status_t CreateDevice(
    const iree_hal_device_create_params_t *create_params,
    iree_hal_driver_t **out_driver, iree_hal_device_t **out_device) {
  iree_hal_driver_registry_t *registry = iree_hal_driver_registry_default();
  iree_status_t status = mettle_hal_driver_module_register(registry);
  if (iree_status_is_already_exists(status)) {
    iree_status_free(status);
    status = iree_ok_status();
  }
  IREE_RETURN_IF_ERROR(status);
  iree_hal_driver_t *driver = nullptr;
  IREE_RETURN_IF_ERROR(iree_hal_driver_registry_try_create(
      registry, IREE_SV(METTLE_HAL_DRIVER_NAME), iree_allocator_system(),
      &driver));
  status = iree_hal_driver_create_default_device(
      driver, create_params, iree_allocator_system(), out_device);
  if (iree_status_is_ok(status)) {
    *out_driver = driver;
  } else {
    iree_hal_driver_release(driver);
  }
  return status;
}

static bool registered =
    (CtsRegistry::RegisterBackend(
         {"mettle",
          {"mettle", CreateDevice, /*executable_format=*/nullptr,
           /*executable_data=*/nullptr, RecordingMode::kDirect,
           /*unsupported_tests=*/{}, /*expected_failures=*/{}},
          {"async_queue", "events", "file_io", "host_calls", "mapping",
           "indirect"}}),
     true);

}  // namespace iree::hal::cts
