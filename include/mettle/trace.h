// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// trace.h: a timeline of what Mettle does in this process: compilation,
// commits, waits, each command buffer, encoder and command on its queue, and
// what each thread does for them. The file is JSON in the trace event format,
// which Perfetto (ui.perfetto.dev), Chrome (chrome://tracing) and
// `mettle trace` read.
//
// The environment variable METTLE_TRACE names a file that is written from the
// first device to the end of the process. docs/tracing.md shows what is in it.
#ifndef METTLE_TRACE_H
#define METTLE_TRACE_H

#include "status.h"

#ifdef __cplusplus
extern "C" {
#endif

// Begins a timeline. What is committed from now on is told in full.
//
//   path  of the file, which is overwritten; %p in it is the process's number
//
// Threads    Any.
// Errors     MTL_INVALID_ARGUMENT  path is NULL
//            MTL_INVALID_STATE     a timeline is being written already
//            MTL_IO_ERROR          the file cannot be written
// Source     Metal: -[MTLCaptureManager startCaptureWithDescriptor:error:]
MTL_API MTL_MUST_USE mtl_status mtl_trace_start(const char *path);

// Ends the timeline; its file is whole then. Without one nothing happens. The
// end of the process does it, too.
//
// Threads    Any.
// Errors     MTL_IO_ERROR  not all could be written
// Source     Metal: -[MTLCaptureManager stopCapture]
MTL_API mtl_status mtl_trace_stop(void);

#ifdef __cplusplus
}
#endif
#endif
