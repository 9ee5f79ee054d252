# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# wheel.cmake: what the Python package has of its own. `mettle_python` is one
# call for a whole dispatch (python/native); `mettlec_wheel` is the compiler for
# systems without LLVM: linked statically with the targets that it has code
# for, and without what nobody calls. `make wheel` packs them.
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
find_library(XXHASH_STATIC libxxhash.a)
find_library(ZSTD_STATIC libzstd.a)
find_library(Z_STATIC libz.a)
find_library(PNG_STATIC libpng16.a)
execute_process(COMMAND ${LLVM_PREFIX}/bin/llvm-config --link-static --libs
    x86 aarch64 nvptx passes lto coroutines frontendopenmp frontendhlsl windowsdriver
    option coverage debuginfodwarf
  OUTPUT_VARIABLE llvm_static OUTPUT_STRIP_TRAILING_WHITESPACE
  ERROR_QUIET)
if(NOT llvm_static OR NOT XXHASH_STATIC OR NOT ZSTD_STATIC OR NOT Z_STATIC)
  message(STATUS "no static LLVM, xxhash, zstd or zlib: no `make wheel`")
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

# The compiler, with the targets that it has code for. lld and the front end
# initialise all targets that LLVM was built with; those that are left out have
# nothing to initialise. Polly is for lld's LTO, which nobody asks for.
separate_arguments(llvm_static)
list(REMOVE_DUPLICATES llvm_static)
list(TRANSFORM llvm_static REPLACE "^-l(.*)$" "${LLVM_PREFIX}/lib/lib\\1.a")
foreach(path IN LISTS llvm_static)
  if(NOT EXISTS ${path})
    list(REMOVE_ITEM llvm_static ${path})
  endif()
endforeach()
list(JOIN llvm_static "," llvm_group)
execute_process(COMMAND ${LLVM_PREFIX}/bin/llvm-config --targets-built
  OUTPUT_VARIABLE llvm_targets OUTPUT_STRIP_TRAILING_WHITESPACE)
separate_arguments(llvm_targets)
list(REMOVE_ITEM llvm_targets X86 AArch64 NVPTX)
set(absent "void _Z18getPollyPluginInfov(void) { __builtin_trap(); }\n")
foreach(target IN LISTS llvm_targets)
  foreach(part TargetInfo Target TargetMC AsmPrinter AsmParser)
    string(APPEND absent "void LLVMInitialize${target}${part}(void) {}\n")
  endforeach()
endforeach()
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/absent_targets.c
  CONTENT "${absent}" @ONLY)
set_source_files_properties(${CMAKE_BINARY_DIR}/absent_targets.c PROPERTIES
  COMPILE_OPTIONS "-Wno-strict-prototypes;-fvisibility=default")

add_executable(mettlec_wheel EXCLUDE_FROM_ALL $<TARGET_OBJECTS:mettlec>
  ${CMAKE_BINARY_DIR}/absent_targets.c ${mettlec_objects}
  $<TARGET_OBJECTS:mettle_frontend>)
in_wheel(mettlec_wheel)
set_target_properties(mettlec_wheel PROPERTIES OUTPUT_NAME mettlec)
target_link_options(mettlec_wheel PRIVATE -static-libstdc++
  $<TARGET_PROPERTY:mettle_frontend,INTERFACE_LINK_OPTIONS>)
target_link_directories(mettlec_wheel PRIVATE ${LLVM_PREFIX}/lib)
target_link_libraries(mettlec_wheel PRIVATE
  "$<LINK_LIBRARY:WHOLE_ARCHIVE,mettle_clang>"
  ${LLVM_PREFIX}/lib/liblldELF.a ${LLVM_PREFIX}/lib/liblldCommon.a
  "$<LINK_GROUP:RESCAN,${clang_group},${llvm_group}>" ${XXHASH_STATIC}
  ${ZSTD_STATIC} ${Z_STATIC} Threads::Threads ${CMAKE_DL_LIBS} m)
add_custom_command(TARGET mettlec_wheel POST_BUILD
  COMMAND $<TARGET_FILE:mettlec_wheel> --precompile ${wheel_folder})

add_custom_target(wheel_files DEPENDS mettle_wheel mettle_aoti_wheel
  mettle_python_wheel mettle_cli_wheel mettlec_wheel)
