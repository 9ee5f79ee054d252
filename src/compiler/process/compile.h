// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// compile.h: the compiler's two jobs, in one process, in C. main.c serves them
// to the runtime; the fuzzers and the compiler's tests call them directly.
#ifndef MTLC_COMPILE_H
#define MTLC_COMPILE_H

#include "compiler/compiler.h"
#include "compiler/frontend/frontend.h"

// The answer to either job.
typedef struct mtlc_result {
  mtl_status status;  // MTL_OK, MTL_COMPILE_FAILED, MTL_UNSUPPORTED, ...
  char *text;         // malloc'ed: diagnostics, or the error; never NULL
  void *bytes;        // [size_bytes] malloc'ed container, if status is MTL_OK
  size_t size_bytes;
  // Internal state, freed by mtlc_result_clear; a process that ends after its
  // answer need not free it.
  void *work;
  void (*free_work)(void *work);
} mtlc_result;

void mtlc_result_clear(mtlc_result *result);

// Source to a library's container: parse, check, verify, write.
void mtlc_compile_library(const mtlc_source *source, mtlc_result *out_result);

// One kernel of a library to a pipeline's container: read the IR, fix the
// constants, run the passes of passes.c for the tier, emit an object, link it.
//
//   dump_after  NULL, or the name of the pass after which the IR's text is
//               wanted, in out_result->text; there behind the error, from a
//               line "; kernel NAME after PASS" on, if a later stage failed
void mtlc_compile_pipeline(const mtli_pipeline_request *request,
                           const char *dump_after, mtlc_result *out_result);

#endif
