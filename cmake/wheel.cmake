# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# wheel.cmake: what the Python package has of its own. `mettle_python` is one
# call for a whole dispatch (python/native); the targets *_wheel need no
# library but the C library's. `make wheel` packs them.
file(GLOB python_sources CONFIGURE_DEPENDS python/native/*.c)
add_library(mettle_python SHARED ${python_sources})
set_target_properties(mettle_python PROPERTIES OUTPUT_NAME mettle-python)
target_link_libraries(mettle_python PRIVATE mettle Threads::Threads)
# Its signal handler and threads stay.
target_link_options(mettle_python PRIVATE -Wl,-z,nodelete)

# --- what `make install` puts where -------------------------------------------------
# The Python package, for who names its folder in PYTHONPATH; libmettle-python
# lies where the package looks first.
set(mettle_python_folder ${CMAKE_INSTALL_DATADIR}/mettle/python)
install(DIRECTORY python/mettle DESTINATION ${mettle_python_folder}
  FILES_MATCHING PATTERN "*.py" PATTERN "py.typed" PATTERN "_lib" EXCLUDE
  PATTERN "__pycache__" EXCLUDE)
install(TARGETS mettle_python
  LIBRARY DESTINATION ${mettle_python_folder}/mettle/_lib)
file(RELATIVE_PATH library_from_python
  /prefix/${mettle_python_folder}/mettle/_lib /prefix/${CMAKE_INSTALL_LIBDIR})
set_target_properties(mettle_python PROPERTIES
  INSTALL_RPATH "$ORIGIN/${library_from_python}")

# --- what `make wheel` packs, in build/wheel ---------------------------------------
# The same objects again, linked so that everything lies in one folder and needs
# nothing of the system's but the C library.
set(wheel_folder ${CMAKE_BINARY_DIR}/wheel)
find_library(PNG_STATIC libpng16.a)
if(NOT METTLE_STATIC_LLVM OR METTLE_SANITIZE)
  return()
endif()

function(in_wheel target)
  set_target_properties(${target} PROPERTIES EXCLUDE_FROM_ALL ON
    RUNTIME_OUTPUT_DIRECTORY ${wheel_folder}
    LIBRARY_OUTPUT_DIRECTORY ${wheel_folder}
    BUILD_RPATH "$ORIGIN;$ORIGIN/../${CMAKE_INSTALL_LIBDIR}"
    BUILD_RPATH_USE_ORIGIN ON)
  target_link_options(${target} PRIVATE -s -Wl,--gc-sections -Wl,-O2
    -Wl,--as-needed -static-libgcc)
endfunction()

foreach(name mettle mettle_aoti mettle_python)
  add_library(${name}_wheel SHARED EXCLUDE_FROM_ALL)
  in_wheel(${name}_wheel)
  target_link_options(${name}_wheel PRIVATE -Wl,-z,nodelete
    -Wl,-Bsymbolic-functions)
  target_link_libraries(${name}_wheel PRIVATE Threads::Threads
    ${CMAKE_DL_LIBS} m)
endforeach()
target_sources(mettle_wheel PRIVATE ${mettle_objects})
target_link_libraries(mettle_wheel PRIVATE ${XXHASH_STATIC})
target_sources(mettle_aoti_wheel PRIVATE $<TARGET_OBJECTS:mettle_aoti_objects>)
target_sources(mettle_python_wheel PRIVATE $<TARGET_OBJECTS:mettle_python>)
target_link_libraries(mettle_aoti_wheel PRIVATE mettle_wheel)
target_link_libraries(mettle_python_wheel PRIVATE mettle_wheel)
set_target_properties(mettle_wheel PROPERTIES OUTPUT_NAME mettle
  SOVERSION ${PROJECT_VERSION_MAJOR} LINKER_LANGUAGE C)
set_target_properties(mettle_aoti_wheel PROPERTIES OUTPUT_NAME mettle-aoti
  SOVERSION ${PROJECT_VERSION_MAJOR} LINKER_LANGUAGE C)
set_target_properties(mettle_python_wheel PROPERTIES
  OUTPUT_NAME mettle-python LINKER_LANGUAGE C)

add_executable(mettle_cli_wheel EXCLUDE_FROM_ALL $<TARGET_OBJECTS:mettle_cli>)
in_wheel(mettle_cli_wheel)
set_target_properties(mettle_cli_wheel PROPERTIES OUTPUT_NAME mettle
  LINKER_LANGUAGE C)
target_link_libraries(mettle_cli_wheel PRIVATE mettle_aoti_wheel mettle_wheel
  $<$<BOOL:${PNG_FOUND}>:${PNG_STATIC}> ${Z_STATIC} Threads::Threads m)

# The compiler has all that it needs inside.
set(mettlec_wheel ${wheel_folder}/mettlec)
add_custom_command(OUTPUT ${mettlec_wheel}
  COMMAND ${CMAKE_STRIP} -o ${mettlec_wheel} $<TARGET_FILE:mettlec>
  COMMAND ${mettlec_wheel} --precompile ${wheel_folder}
  DEPENDS mettlec VERBATIM)

add_custom_target(wheel_files DEPENDS mettle_wheel mettle_aoti_wheel
  mettle_python_wheel mettle_cli_wheel ${mettlec_wheel})
