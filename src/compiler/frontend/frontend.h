// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// frontend.h: the C interface to clang, to lld and to what LLVM's C API lacks.
// Only this folder is C++ and sees their classes.
#ifndef MTLC_FRONTEND_H
#define MTLC_FRONTEND_H

#include <llvm-c/Core.h>

#include "code/code.h"
#include "mettle/status.h"

#ifdef __cplusplus
extern "C" {
#endif

// Returns the text of a header that clang does not find; as
// mtl_header_callback, with text that lives until the compilation ends.
typedef bool mtlc_header_lookup(void *context, const char *name,
                                const char **out_text, size_t *out_length);

// Is called for every file outside Metal's own library that the compilation
// opened or failed to find: headers on include paths, and paths that were tried
// before them. The cache thus knows what a result depends on.
//
//   path   as opened; relative paths are relative to the working directory
//   text   [length] as read, before any rewriting; NULL if there is no file
typedef void mtlc_file_observer(void *context, const char *path,
                                const char *text, size_t length);

typedef struct mtlc_source {
  const char *text;  // [size_bytes]
  size_t size_bytes;
  mtl_compile_options options;  // header_callback unused: see header_lookup
  mtlc_header_lookup *header_lookup;  // NULL for none
  void *header_context;
  mtlc_file_observer *file_observer;  // NULL for none
  void *file_context;
} mtlc_source;

typedef struct mtlc_parsed {
  LLVMContextRef context;
  LLVMModuleRef module;  // portable IR as docs/ir.md, unoptimised
  char *diagnostics;     // malloc'ed text, "" for none: warnings, and errors
  mtli_arena arena;      // memory that the members point to
  mtli_code code;        // all but blobs
} mtlc_parsed;

// Prepares what every compilation needs: targets, and the standard library's
// precompiled header, from mettlec.pch beside the program if that was made by
// this very compiler, else made now (some 100 ms). Metal 4's, of
// mettlec-metal4.pch, is opened now and seen to by the first source that needs
// it. Call once, before mtlc_parse.
void mtlc_frontend_prepare(void);

// Writes both to a folder; the build calls it through `mettlec --precompile`.
//
// Returns false if the library's headers do not compile, with the reason on
// stderr, or the file cannot be written.
bool mtlc_frontend_precompile(const char *folder);

// Parses and type-checks source, and emits IR.
//
// Returns false if the source has errors; diagnostics is set in any case.
bool mtlc_parse(const mtlc_source *source, mtlc_parsed *out_parsed);
void mtlc_parsed_clear(mtlc_parsed *parsed);

// Loads one function from bitcode, with all that it reaches and the module's
// initialisers: a library may hold thousands of kernels. (LLVM's C API reads a
// whole module or nothing.)
//
//   bitcode     [size_bytes] as written by the frontend; read during this call
//   symbol      the function's; if the module has none such, the module comes
//               without
//   out_module  in context, yours
//
// Returns false if the bitcode is damaged.
bool mtlc_load_kernel(LLVMContextRef context, const void *bitcode,
                      size_t size_bytes, const char *symbol,
                      LLVMModuleRef *out_module);

// Loads several functions likewise, and skips those that are not there. Without
// symbols it loads the whole module.
bool mtlc_load_functions(LLVMContextRef context, const void *bitcode,
                         size_t size_bytes, const char *const *symbols,
                         size_t symbol_count, LLVMModuleRef *out_module);

// Links one relocatable ELF object into a shared object with lld.
//
//   out_shared  [*out_size_bytes] malloc'ed
//
// Returns MTL_UNSUPPORTED if a symbol of the object is undefined, MTL_IO_ERROR
// if the system has no room for the result; with a malloc'ed text in
// *out_error.
mtl_status mtlc_link_shared(const void *object, size_t object_bytes,
                            void **out_shared, size_t *out_size_bytes,
                            char **out_error);

// Returns what is wrong with a target's text (mtlc_target_machine), malloc'ed:
// it names a processor or feature that LLVM does not know, or lacks one that
// LLVM needs. NULL if the text is right.
char *mtlc_target_error(const char *target);

#ifdef __cplusplus
}
#endif
#endif
