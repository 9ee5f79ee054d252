// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// steps.h: dumps and timings of passes and of the vectoriser's steps, and which
// of them a request leaves out.
#ifndef MTLC_STEPS_H
#define MTLC_STEPS_H

#include <stdbool.h>
#include <stdint.h>

#include "compiler/ir/kernel/kernel.h"

// The value of dump_after that asks for a table: a line for each pass and step,
// with the count of its changes, where it has one, and its processor time. The
// last line, emit_object, is the time from IR to machine code.
#define MTLC_STEP_TABLE "steps"
// The value that asks for the plan of loads and stores, version by version.
#define MTLC_ACCESS_PLAN "plan"
// Stands between dump_after and the names of left-out steps, comma-separated.
#define MTLC_STEPS_WITHOUT " without "

// The count of a step that counts no changes.
#define MTLC_NOT_COUNTED UINT32_MAX

// True if the request leaves the step out.
bool mtlc_step_is_left_out(const mtlc_kernel *kernel, const char *name);

// True if the request asks for the plan of loads and stores.
bool mtlc_wants_access_plan(const mtlc_kernel *kernel);
// Appends a text to the dump.
void mtlc_dump_add(mtlc_kernel *kernel, const char *text);

// Call before and after each pass or step that is not left out. mtlc_step_done
// dumps the module if the request wants it after this step, and adds a line to
// the table.
//
//   start_ns  from mtlc_step_begin
uint64_t mtlc_step_begin(const mtlc_kernel *kernel);
void mtlc_step_done(mtlc_kernel *kernel, const char *name, uint32_t changes,
                    uint64_t start_ns);

#endif
