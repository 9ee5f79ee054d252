# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# static_llvm.cmake: links mettlec with LLVM inside, where the static libraries
# are there. link_static_llvm(TARGET) does; METTLE_STATIC_LLVM says whether it
# can. Such a compiler runs on systems without LLVM, and starts in half of the
# time: with libLLVM, 540,000 addresses are relocated then.
find_library(XXHASH_STATIC libxxhash.a)
find_library(ZSTD_STATIC libzstd.a)
find_library(Z_STATIC libz.a)
execute_process(COMMAND ${LLVM_PREFIX}/bin/llvm-config --link-static --libs
    x86 aarch64 nvptx passes lto coroutines frontendopenmp frontendhlsl
    windowsdriver option coverage debuginfodwarf
  OUTPUT_VARIABLE llvm_static OUTPUT_STRIP_TRAILING_WHITESPACE
  ERROR_QUIET)
if(NOT llvm_static OR NOT XXHASH_STATIC OR NOT ZSTD_STATIC OR NOT Z_STATIC)
  set(METTLE_STATIC_LLVM OFF)
  message(STATUS "no static LLVM, xxhash, zstd or zlib: the compiler starts "
    "more slowly, and there is no `make wheel`")
  return()
endif()
set(METTLE_STATIC_LLVM ON)

separate_arguments(llvm_static)
list(REMOVE_DUPLICATES llvm_static)
list(TRANSFORM llvm_static REPLACE "^-l(.*)$" "${LLVM_PREFIX}/lib/lib\\1.a")
foreach(path IN LISTS llvm_static)
  if(NOT EXISTS ${path})
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

# At a fixed address, so that nothing is relocated.
function(link_static_llvm target)
  target_sources(${target} PRIVATE ${CMAKE_BINARY_DIR}/absent_targets.c
    $<TARGET_OBJECTS:mettle_frontend>)
  target_link_options(${target} PRIVATE -no-pie -Wl,--gc-sections -Wl,-O2
    -Wl,--as-needed -static-libgcc -static-libstdc++
    $<TARGET_PROPERTY:mettle_frontend,INTERFACE_LINK_OPTIONS>)
  target_link_directories(${target} PRIVATE ${LLVM_PREFIX}/lib)
  target_link_libraries(${target} PRIVATE
    "$<LINK_LIBRARY:WHOLE_ARCHIVE,mettle_clang>"
    ${LLVM_PREFIX}/lib/liblldELF.a ${LLVM_PREFIX}/lib/liblldCommon.a
    "$<LINK_GROUP:RESCAN,${clang_group},${llvm_group}>" ${XXHASH_STATIC}
    ${ZSTD_STATIC} ${Z_STATIC})
endfunction()
