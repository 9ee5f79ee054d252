# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# compiler.cmake: the rooms of src/compiler behind the front end, for mettlec
# and for tests of them. A new folder is taken as it is.
set(compiler_folder ${PROJECT_SOURCE_DIR}/src/compiler)
file(GLOB process_sources CONFIGURE_DEPENDS ${compiler_folder}/process/*.c
  ${compiler_folder}/air/*.c)
# From portable IR to an object: no front end, no process.
file(GLOB_RECURSE backend_sources CONFIGURE_DEPENDS ${compiler_folder}/*.c)
list(FILTER backend_sources EXCLUDE REGEX
  "/src/compiler/(air|client|process|frontend|metal)/")
list(APPEND backend_sources ${compiler_folder}/ir/text/ir_text.S)
file(GLOB_RECURSE ir_texts CONFIGURE_DEPENDS ${compiler_folder}/*.ll)
set_source_files_properties(${compiler_folder}/ir/text/ir_text.S PROPERTIES
  OBJECT_DEPENDS "${ir_texts}")

# The back end's objects, made once for all that link them.
if(NOT TARGET mettle_backend)
  add_library(mettle_backend OBJECT ${backend_sources})
  target_include_directories(mettle_backend SYSTEM PRIVATE
    ${LLVM_PREFIX}/include)
endif()
