# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# iree_runtime_plugin.cmake: tells IREE's build of the driver. It is found by
# -DIREE_CMAKE_PLUGIN_PATHS=THIS_FOLDER -DIREE_EXTERNAL_HAL_DRIVERS=mettle.
iree_register_external_hal_driver(
  NAME mettle
  SOURCE_DIR "${CMAKE_CURRENT_LIST_DIR}"
  DRIVER_TARGET iree::hal::drivers::mettle::mettle
  REGISTER_FN mettle_hal_driver_module_register)
