// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// compiler.h: the runtime's way to the compiler: a client of the compiler
// process, behind the disk cache. client.c talks, cache.c remembers.
//
// The process is started at the first need, kept, shared by all threads, and
// started anew when it is lost. It ends by itself when this process ends.
#ifndef MTLI_COMPILER_H
#define MTLI_COMPILER_H

#include "code/code.h"

// MSL source to a library's container. Arguments as for
// mtl_library_create_from_source, checked there.
//
// Ownership  *out_compiled is yours; end it with mtli_compiled_clear.
// Threads    Any.
// Errors     MTL_COMPILE_FAILED, MTL_COMPILER_LOST, MTL_OUT_OF_MEMORY
mtl_status mtli_compile_library(const char *source, size_t source_bytes,
                                const mtl_compile_options *options,
                                mtli_compiled *out_compiled);

// A visible function that a pipeline's kernel may call.
typedef struct mtli_linked_function {
  const void *library_bytes;  // [library_size_bytes] its library's container
  size_t library_size_bytes;
  const char *name;
  const mtli_constant_value *constant_values;  // as for the kernel
  size_t constant_count;
  bool is_private;  // called by name only; in no table
} mtli_linked_function;

// What a pipeline is compiled for.
typedef struct mtli_pipeline_request {
  const void *library_bytes;  // [library_size_bytes] a library's container
  size_t library_size_bytes;
  const char *kernel_name;
  const mtli_constant_value *constant_values;  // [constant_count], or NULL
  size_t constant_count;
  // [linked_count] in tables the functions that are not private have numbers:
  // their place among all, counted from 1.
  const mtli_linked_function *linked;
  size_t linked_count;
  uint32_t call_depth;  // of calls through tables within each other, at least 1
  mtli_tier tier;
  // Of MTLI_TIER_CHECKED and _SCREENED: MTLI_CHECK_ bits (check_abi.h).
  uint32_t checks;
  // The machine, its kind and features: "x86_64 znver4 +avx2…", or
  // "nvptx64 sm_90 +ptx78" for a GPU. NULL for the CPU that the process runs
  // on.
  const char *target;
  mtli_group_class group_class;  // the class of threadgroups to compile for
  bool may_change_class;         // to the class that drivers form of any_groups
                                 // kernels that are brief
  const char *dump_after;  // a pass after which the IR is wanted in dump; the
                           // cache has no part in such a request; or NULL
  bool report_code;        // report on the machine code, too
} mtli_pipeline_request;

// A function of a compiled Metal library (code/metallib.h).
typedef struct mtli_translation_request {
  const void *bitcode;  // [bitcode_bytes] AIR
  size_t bitcode_bytes;
  const char *name;
  bool is_visible;  // a visible function, and no kernel
} mtli_translation_request;

// Translates such a function into a library container that has this function
// alone.
//
// Errors     MTL_BAD_DATA, MTL_UNSUPPORTED, MTL_COMPILER_LOST,
//            MTL_OUT_OF_MEMORY
mtl_status mtli_translate_function(const mtli_translation_request *request,
                                   mtli_compiled *out_compiled);

// Has a compiler process try what it must not be able to do: a line "what: why
// not" for each attempt, "what: done" for one that succeeded.
//
// Ownership  *out_text is yours, malloc'ed.
// Errors     MTL_COMPILER_LOST, MTL_OUT_OF_MEMORY
mtl_status mtli_probe_compiler(char **out_text);

// Finds 128 bits that two requests have in common only if code made for one is
// right for the other, on this machine and for this version: a hash of all that
// it depends on but which compiler it is.
mtl_status mtli_pipeline_key(const mtli_pipeline_request *request,
                             unsigned char out_key[16]);

// Compiles one function of a library to a pipeline's container.
mtl_status mtli_compile_pipeline(const mtli_pipeline_request *request,
                                 mtli_compiled *out_compiled);

#endif
