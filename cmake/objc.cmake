# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# objc.cmake: libMetal.so.1, which programs written for Metal's Objective-C API
# find on Linux, what is linked into such programs, and what they are started
# with (docs/objc.md).
file(GLOB objc_sources CONFIGURE_DEPENDS src/objc/runtime/*.[cS]
  src/objc/foundation/*.c src/objc/dispatch/*.c src/objc/metal/*.c)
# Hands an image's classes to the runtime; linked into each, ours too.
add_library(mettle_objc_crt OBJECT src/objc/launch/crt.c)
add_library(mettle_objc SHARED ${objc_sources}
  $<TARGET_OBJECTS:mettle_objc_crt>)
# An exception of C++ or of Objective-C passes through our frames.
target_compile_options(mettle_objc PRIVATE -fexceptions)
set_target_properties(mettle_objc PROPERTIES OUTPUT_NAME Metal SOVERSION 1
  LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/objc)
target_link_libraries(mettle_objc PRIVATE mettle Threads::Threads stdc++
  ${CMAKE_DL_LIBS} m)
target_link_options(mettle_objc PRIVATE LINKER:-z,defs)

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
configure_file(src/objc/launch/bin/xcrun ${CMAKE_BINARY_DIR}/objc/bin/xcrun
  COPYONLY)

# For linkers: -lMetal brings crt.o along.
set(objc_crt_object ${CMAKE_BINARY_DIR}/objc/mettle-objc-crt.o)
add_custom_command(OUTPUT ${objc_crt_object}
  COMMAND ${CMAKE_COMMAND} -E copy $<TARGET_OBJECTS:mettle_objc_crt>
    ${objc_crt_object}
  DEPENDS mettle_objc_crt $<TARGET_OBJECTS:mettle_objc_crt>)
add_custom_target(mettle_objc_development ALL DEPENDS ${objc_crt_object}
  mettle_objc mettle_audit mettle_files)

set(objc_folder ${CMAKE_INSTALL_LIBDIR}/mettle)
install(TARGETS mettle_objc LIBRARY DESTINATION ${objc_folder}
  NAMELINK_SKIP)
install(TARGETS mettle_audit mettle_files LIBRARY DESTINATION ${objc_folder})
install(FILES ${objc_crt_object}
  ${CMAKE_BINARY_DIR}/objc/SystemVersion.plist DESTINATION ${objc_folder})
install(PROGRAMS src/objc/launch/bin/xcrun DESTINATION ${objc_folder}/bin)
set_target_properties(mettle_objc PROPERTIES INSTALL_RPATH "$ORIGIN/..")

# `mettle env` looks there, from the folder of the command.
file(RELATIVE_PATH objc_from_bin /prefix/${CMAKE_INSTALL_BINDIR}
  /prefix/${objc_folder})
set(METTLE_OBJC_FROM_BIN ${objc_from_bin})
