// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// thread_state.h: binds mettle.thread to the state that it runs in.
#ifndef MTLC_THREAD_STATE_H
#define MTLC_THREAD_STATE_H

#include <llvm-c/Core.h>

#include "compiler/ir/kernel/kernel.h"

// The bound thread function; the name used in ir/*.ll.
#define MTLC_BODY_FUNCTION "mettle.body"

// Parameters of a bound thread function.
typedef enum mtlc_body_parameter {
  MTLC_BODY_LAUNCH,   // ptr, mtli_cpu_launch
  MTLC_BODY_SCRATCH,  // ptr, a worker's scratch
  MTLC_BODY_GROUP,    // ptr, mtli_cpu_group
  MTLC_BODY_X,        // i32, thread_position_in_threadgroup
  MTLC_BODY_Y,
  MTLC_BODY_Z,
  MTLC_BODY_INDEX,  // i32, thread_index_in_threadgroup
  MTLC_BODY_PARAMETER_COUNT,
} mtlc_body_parameter;

// Moves the body of kernel->thread into body, a declaration whose parameters
// begin as above, and replaces the calls of mettle.argument, mettle.position,
// mettle.threadgroup_memory and mettle.trap by code over them. kernel->thread
// is body afterwards.
mtl_status mtlc_bind_thread(mtlc_kernel *kernel, LLVMValueRef body);

#endif
