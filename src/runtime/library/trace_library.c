// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// trace_library.c: a timeline's events of compilation, on the threads that
// ask for it.
#include "runtime/library/trace_library.h"

#include <stdbool.h>

#include "base/futex.h"
#include "base/trace/trace.h"

void mtli_trace_library(size_t source_bytes, uint64_t start_ns) {
  mtli_trace_arguments arguments;
  mtli_trace_clear(&arguments);
  mtli_trace_number(&arguments, "bytes of source", source_bytes);
  mtli_trace_add_alone(&(mtli_trace_slice){.track = MTLI_TRACE_THREAD,
                                           .category = "compile",
                                           .name = "compile a library",
                                           .start_ns = start_ns,
                                           .end_ns = mtli_now_ns(),
                                           .arguments = &arguments});
}

void mtli_trace_pipeline(const char *kernel, bool from_cache,
                         uint64_t start_ns) {
  mtli_trace_arguments arguments;
  mtli_trace_clear(&arguments);
  mtli_trace_text(&arguments, "kernel", kernel);
  mtli_trace_text(&arguments, "from", from_cache ? "cache" : "compiler");
  mtli_trace_add_alone(&(mtli_trace_slice){
      .track = MTLI_TRACE_THREAD,
      .category = "compile",
      .name = from_cache ? "load a pipeline" : "compile a pipeline",
      .start_ns = start_ns,
      .end_ns = mtli_now_ns(),
      .arguments = &arguments});
}
