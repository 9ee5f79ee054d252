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

execute_process(COMMAND ${LLVM_PREFIX}/bin/llvm-config --link-static --libs
    x86 aarch64 passes lto coroutines frontendopenmp frontendhlsl windowsdriver
    option coverage debuginfodwarf
  OUTPUT_VARIABLE llvm_static OUTPUT_STRIP_TRAILING_WHITESPACE
  ERROR_QUIET)
if(llvm_static)
  separate_arguments(llvm_static)
  list(REMOVE_DUPLICATES llvm_static)
  list(TRANSFORM llvm_static REPLACE "^-l(.*)$" "${LLVM_PREFIX}/lib/lib\\1.a")
  foreach(path IN LISTS llvm_static)
    if(NOT EXISTS ${path})  # Polly, which is not asked for
      list(REMOVE_ITEM llvm_static ${path})
    endif()
  endforeach()
  list(JOIN llvm_static "," llvm_group)
  # lld and the front end initialise all targets that LLVM was built with; those
  # that are left out have nothing to initialise. Polly is for lld's LTO, which
  # nobody asks for.
  execute_process(COMMAND ${LLVM_PREFIX}/bin/llvm-config --targets-built
    OUTPUT_VARIABLE llvm_targets OUTPUT_STRIP_TRAILING_WHITESPACE)
  separate_arguments(llvm_targets)
  list(REMOVE_ITEM llvm_targets X86 AArch64)
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
    ${CMAKE_BINARY_DIR}/absent_targets.c
    $<TARGET_OBJECTS:mettle_base> $<TARGET_OBJECTS:mettle_code>
    $<TARGET_OBJECTS:mettle_frontend>)
  target_link_options(mettlec_wheel PRIVATE -static-libstdc++ -static-libgcc
    -Wl,--gc-sections -Wl,-O2 -Wl,--as-needed
    $<TARGET_PROPERTY:mettle_frontend,INTERFACE_LINK_OPTIONS>)
  find_library(XXHASH_STATIC libxxhash.a)
  find_library(ZSTD_STATIC libzstd.a)
  find_library(Z_STATIC libz.a)
  target_link_libraries(mettlec_wheel PRIVATE ${LLVM_PREFIX}/lib/liblldELF.a
    ${LLVM_PREFIX}/lib/liblldCommon.a
    "$<LINK_GROUP:RESCAN,${clang_group},${llvm_group}>" ${XXHASH_STATIC}
    ${ZSTD_STATIC} ${Z_STATIC} Threads::Threads ${CMAKE_DL_LIBS} m)
  target_link_directories(mettlec_wheel PRIVATE ${LLVM_PREFIX}/lib)
endif()
