// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// trace_library.h: compilation's events in a timeline (base/trace/trace.h).
#ifndef MTLI_TRACE_LIBRARY_H
#define MTLI_TRACE_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Records this thread's work from start_ns until now.
void mtli_trace_library(size_t source_bytes, uint64_t start_ns);
void mtli_trace_pipeline(const char *kernel, bool from_cache,
                         uint64_t start_ns);

#endif
