# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# objc.cmake: libMetal.so.1, which programs written for Metal's Objective-C API
# find on Linux, what is linked into such programs, and what they are started
# with (docs/objc.md).
file(GLOB_RECURSE objc_sources CONFIGURE_DEPENDS src/objc/runtime/*.[cS]
  src/objc/foundation/*.c src/objc/dispatch/*.c src/objc/operations/*.c
  src/objc/loops/*.c src/objc/metal/*.c)
# Hands an image's classes to the runtime; linked into each, ours too.
add_library(mettle_objc_crt OBJECT src/objc/launch/crt.c)
if(METTLE_SANITIZE)  # of programs that know of no sanitizer
  target_compile_options(mettle_objc_crt PRIVATE -fno-sanitize=all)
endif()
add_library(mettle_objc SHARED ${objc_sources}
  $<TARGET_OBJECTS:mettle_objc_crt>)
# An exception of C++ or of Objective-C passes through our frames.
target_compile_options(mettle_objc PRIVATE -fexceptions)
# Its version is part of its name: libMetal.so is a linker script.
set_target_properties(mettle_objc PROPERTIES OUTPUT_NAME Metal SUFFIX .so.1
  LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/objc)
target_link_libraries(mettle_objc PRIVATE mettle Threads::Threads stdc++
  ${CMAKE_DL_LIBS} m)
target_link_options(mettle_objc PRIVATE LINKER:-z,defs)

# What `-framework Accelerate` links; it needs nothing else of ours.
add_library(mettle_accelerate SHARED src/objc/accelerate/blas.c
  src/objc/accelerate/vdsp.c)
target_link_libraries(mettle_accelerate PRIVATE m)
set_target_properties(mettle_accelerate PROPERTIES
  OUTPUT_NAME mettle-accelerate LIBRARY_OUTPUT_DIRECTORY
  ${CMAKE_BINARY_DIR}/objc)

# What `mettle env` sets: an auditor that maps frameworks' paths, and a library
# that finds the file with the system's version.
add_library(mettle_audit SHARED src/objc/launch/audit.c)
add_library(mettle_files SHARED src/objc/launch/files.c)
target_link_libraries(mettle_files PRIVATE ${CMAKE_DL_LIBS})
set_target_properties(mettle_audit mettle_files PROPERTIES
  LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/objc)
set_target_properties(mettle_audit PROPERTIES OUTPUT_NAME mettle-audit)
set_target_properties(mettle_files PROPERTIES OUTPUT_NAME mettle-files)
if(METTLE_SANITIZE)  # they are loaded before a sanitizer's own library
  foreach(target mettle_audit mettle_files)
    target_compile_options(${target} PRIVATE -fno-sanitize=all)
    target_link_options(${target} PRIVATE -fno-sanitize=all)
  endforeach()
endif()
configure_file(src/objc/launch/SystemVersion.plist
  ${CMAKE_BINARY_DIR}/objc/SystemVersion.plist COPYONLY)
set(objc_folder ${CMAKE_INSTALL_LIBDIR}/mettle)
set(objc_headers ${CMAKE_INSTALL_INCLUDEDIR}/mettle-objc)

# What stands in for Apple's tools under `mettle env`. The compiler looks for
# headers from the folder of libMetal.
file(RELATIVE_PATH METTLE_OBJC_HEADERS ${CMAKE_BINARY_DIR}/objc
  ${CMAKE_SOURCE_DIR}/include/mettle-objc)
configure_file(src/objc/launch/bin/cc ${CMAKE_BINARY_DIR}/objc/bin/cc @ONLY)
file(RELATIVE_PATH METTLE_OBJC_HEADERS /prefix/${objc_folder}
  /prefix/${objc_headers})
configure_file(src/objc/launch/bin/cc ${CMAKE_BINARY_DIR}/objc/installed/cc
  @ONLY)
configure_file(src/objc/launch/bin/xcrun ${CMAKE_BINARY_DIR}/objc/bin/xcrun
  COPYONLY)
set(objc_tools "")
foreach(name c++ clang clang++)
  file(CREATE_LINK cc ${CMAKE_BINARY_DIR}/objc/bin/${name} SYMBOLIC)
  list(APPEND objc_tools ${CMAKE_BINARY_DIR}/objc/bin/${name})
endforeach()
foreach(name metal metallib)
  file(CREATE_LINK xcrun ${CMAKE_BINARY_DIR}/objc/bin/${name} SYMBOLIC)
  list(APPEND objc_tools ${CMAKE_BINARY_DIR}/objc/bin/${name})
endforeach()

# For linkers: -lMetal, or any other of the frameworks that libMetal has, is
# the library and the object that each image needs.
set(objc_crt_object ${CMAKE_BINARY_DIR}/objc/mettle-objc-crt.o)
add_custom_command(OUTPUT ${objc_crt_object}
  COMMAND ${CMAKE_COMMAND} -E copy $<TARGET_OBJECTS:mettle_objc_crt>
    ${objc_crt_object}
  DEPENDS mettle_objc_crt $<TARGET_OBJECTS:mettle_objc_crt>)
add_custom_target(mettle_objc_development ALL DEPENDS ${objc_crt_object}
  mettle_objc mettle_accelerate mettle_audit mettle_files)
# Earlier builds have a link to the library there, which must not be followed.
if(IS_SYMLINK ${CMAKE_BINARY_DIR}/objc/libMetal.so)
  file(REMOVE ${CMAKE_BINARY_DIR}/objc/libMetal.so)
endif()
set(objc_scripts "")
foreach(name Metal MetalKit MetalPerformanceShaders
    MetalPerformanceShadersGraph Foundation CoreFoundation CoreGraphics
    QuartzCore IOSurface IOKit Cocoa AppKit objc)
  configure_file(src/objc/launch/libMetal.so
    ${CMAKE_BINARY_DIR}/objc/lib${name}.so COPYONLY)
  list(APPEND objc_scripts ${CMAKE_BINARY_DIR}/objc/lib${name}.so)
endforeach()

install(TARGETS mettle_objc mettle_accelerate mettle_audit mettle_files
  LIBRARY DESTINATION ${objc_folder})
install(FILES ${objc_crt_object} ${objc_scripts}
  ${CMAKE_BINARY_DIR}/objc/SystemVersion.plist DESTINATION ${objc_folder})
install(PROGRAMS ${CMAKE_BINARY_DIR}/objc/bin/xcrun
  ${CMAKE_BINARY_DIR}/objc/installed/cc DESTINATION ${objc_folder}/bin)
install(FILES ${objc_tools} DESTINATION ${objc_folder}/bin)
install(DIRECTORY include/mettle-objc DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.h")
set_target_properties(mettle_objc PROPERTIES INSTALL_RPATH "$ORIGIN/..")

# `mettle env` looks there, from the folder of the command.
file(RELATIVE_PATH objc_from_bin /prefix/${CMAKE_INSTALL_BINDIR}
  /prefix/${objc_folder})
set(METTLE_OBJC_FROM_BIN ${objc_from_bin})
