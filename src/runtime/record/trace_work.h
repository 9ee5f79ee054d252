// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// trace_work.h: command buffers' events in a timeline (base/trace/trace.h).
#ifndef MTLI_TRACE_WORK_H
#define MTLI_TRACE_WORK_H

#include "base/futex.h"
#include "runtime/record/recording.h"

// Records this thread's work from start_ns until now.
void mtli_trace_commit(mtli_recording *recording, uint64_t start_ns);
void mtli_trace_wait(mtli_recording *recording, uint64_t start_ns);

// Records all work of a command buffer with times, before its commands are
// cleared.
void mtli_trace_command_buffer(mtli_recording *recording);

#endif
