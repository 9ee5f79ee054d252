# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# iree.cmake: libmettle-iree out of the IREE sources that METTLE_IREE_SOURCE
# names, in a build of IREE's own (docs/iree.md). Nothing is fetched.
include(ExternalProject)
set(METTLE_IREE_CMAKE ${CMAKE_COMMAND} CACHE FILEPATH
  "the cmake that configures IREE: 3.26 or newer")
execute_process(COMMAND ${METTLE_IREE_CMAKE} --version
  OUTPUT_VARIABLE iree_cmake_version ERROR_QUIET)
string(REGEX MATCH "[0-9]+\\.[0-9]+" iree_cmake_version "${iree_cmake_version}")
if(NOT iree_cmake_version VERSION_GREATER_EQUAL 3.26)
  message(FATAL_ERROR "IREE wants CMake 3.26 or newer, and ${METTLE_IREE_CMAKE} "
    "is ${iree_cmake_version}: name one with -DMETTLE_IREE_CMAKE=PATH "
    "(pip install cmake has one)")
endif()
foreach(file runtime/src/iree/hal/api.h third_party/flatcc/CMakeLists.txt)
  if(NOT EXISTS ${METTLE_IREE_SOURCE}/${file})
    message(FATAL_ERROR "METTLE_IREE_SOURCE=${METTLE_IREE_SOURCE} has no ${file}: "
      "it is to be IREE's source tree with its submodule third_party/flatcc")
  endif()
endforeach()

set(iree_build ${CMAKE_BINARY_DIR}/iree)
set(iree_library ${iree_build}/runtime/plugins/hal/drivers/mettle/libmettle-iree.so.0)
ExternalProject_Add(mettle_iree
  SOURCE_DIR ${METTLE_IREE_SOURCE}
  BINARY_DIR ${iree_build}
  CONFIGURE_COMMAND ${METTLE_IREE_CMAKE} -G Ninja -S <SOURCE_DIR> -B <BINARY_DIR>
    -DCMAKE_BUILD_TYPE=${CMAKE_BUILD_TYPE}
    -DCMAKE_C_COMPILER=${CMAKE_C_COMPILER}
    -DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER}
    -DCMAKE_C_COMPILER_LAUNCHER=${CMAKE_C_COMPILER_LAUNCHER}
    -DCMAKE_CXX_COMPILER_LAUNCHER=${CMAKE_CXX_COMPILER_LAUNCHER}
    -DIREE_BUILD_COMPILER=OFF -DIREE_BUILD_TESTS=OFF -DIREE_BUILD_SAMPLES=OFF
    -DIREE_BUILD_BENCHMARKS=OFF -DIREE_BUILD_BINDINGS_TFLITE=OFF
    -DIREE_ENABLE_LIBBACKTRACE=OFF -DIREE_ENABLE_CPUINFO=OFF
    -DIREE_ERROR_ON_MISSING_SUBMODULES=OFF -DIREE_VISIBILITY_HIDDEN=OFF
    -DIREE_HAL_DRIVER_DEFAULTS=OFF -DIREE_EXTERNAL_HAL_DRIVERS=mettle
    -DIREE_CMAKE_PLUGIN_PATHS=${CMAKE_SOURCE_DIR}/src/iree
    -DMETTLE_BUILD=${CMAKE_BINARY_DIR}
  BUILD_COMMAND ${METTLE_IREE_CMAKE} --build <BINARY_DIR> --target mettle-iree
  COMMAND ${CMAKE_COMMAND} -E copy_if_different ${iree_library} ${CMAKE_BINARY_DIR}
  INSTALL_COMMAND ""
  BUILD_ALWAYS ON
  BUILD_BYPRODUCTS ${CMAKE_BINARY_DIR}/libmettle-iree.so.0
  USES_TERMINAL_BUILD ON)
ExternalProject_Add_StepDependencies(mettle_iree build mettle)
install(FILES ${CMAKE_BINARY_DIR}/libmettle-iree.so.0
  DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES src/iree/hal_driver.h
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/mettle RENAME iree.h)
