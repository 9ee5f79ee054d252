// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// steps.h: what is shown of the passes and of their steps: the module behind
// one, a table of them all, and which are left out.
#ifndef MTLC_STEPS_H
#define MTLC_STEPS_H

#include <stdbool.h>
#include <stdint.h>

#include "compiler/ir/kernel/kernel.h"

// dump_after's word for the table: a line for each pass and step, with how
// often it changed something, where that is counted, and its time.
#define MTLC_STEP_TABLE "steps"
// Its word for the plan of loads and stores, of each version of the code.
#define MTLC_ACCESS_PLAN "plan"
// Between dump_after and the steps that are left out, apart by commas.
#define MTLC_STEPS_WITHOUT " without "

// How often a step changed something: not counted.
#define MTLC_NOT_COUNTED UINT32_MAX

// True if the request leaves the step out.
bool mtlc_step_is_left_out(const mtlc_kernel *kernel, const char *name);

// True if the request asks for the plan of loads and stores.
bool mtlc_wants_access_plan(const mtlc_kernel *kernel);
// Adds a text to what is shown.
void mtlc_dump_add(mtlc_kernel *kernel, const char *text);

// To be called behind each pass and step that is not left out: keeps the module
// as text, if this is where it is wanted, and adds to the table.
//
//   start_ns  mtli_now_ns() in front of it
void mtlc_step_done(mtlc_kernel *kernel, const char *name, uint32_t changes,
                    uint64_t start_ns);

#endif
