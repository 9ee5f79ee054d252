// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// loop_lanes.c: runs the threads of a threadgroup one after the other, for
// kernels whose threads do not wait for each other.
//
// Requires  mettle.thread; stands back if it calls a convergent function or if
//           mettle.group is already there
// Leaves    mettle.group: a loop over mettle.body, which is the thread
#include <llvm-c/DebugInfo.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "compiler/ir/kernel/kernel.h"
#include "compiler/ir/kernel/report.h"
#include "compiler/ir/llvm/attributes.h"
#include "compiler/ir/llvm/calls.h"
#include "compiler/ir/llvm/instructions.h"
#include "compiler/ir/llvm/marks.h"
#include "compiler/ir/llvm/module.h"
#include "compiler/ir/llvm/names.h"
#include "compiler/ir/llvm/value_list.h"
#include "compiler/ir/transform/thread_state.h"
#include "compiler/passes/passes.h"

// In T0 every thread is noted. In T1 only the threadgroup: LLVM does not
// vectorise a loop that stores a number to one place in each iteration.
static void define_note_thread(mtlc_kernel *kernel) {
  LLVMValueRef note =
      LLVMGetNamedFunction(kernel->module, "mettle.note_thread");
  LLVMBuilderRef builder = LLVMCreateBuilderInContext(kernel->context);
  LLVMPositionBuilderAtEnd(
      builder, LLVMAppendBasicBlockInContext(kernel->context, note, ""));
  if (kernel->tier == MTLI_TIER_0) {
    LLVMValueRef at = mtlc_offset(builder, LLVMGetParam(note, 0), 12);
    LLVMSetVolatile(LLVMBuildStore(builder, LLVMGetParam(note, 1), at), true);
  }
  LLVMBuildRetVoid(builder);
  LLVMDisposeBuilder(builder);
  LLVMSetLinkage(note, LLVMInternalLinkage);
  mtlc_set_attribute(note, "alwaysinline", 0);
}

typedef struct access_marker {
  unsigned kind;  // of the metadata
  LLVMValueRef access_group;
} access_marker;

static void find_alloca(LLVMValueRef instruction, void *context) {
  bool *found = context;
  *found |= LLVMIsAAllocaInst(instruction) != NULL;
}

static void mark_access(LLVMValueRef instruction, void *context) {
  const access_marker *marker = context;
  if (LLVMIsALoadInst(instruction) || LLVMIsAStoreInst(instruction)) {
    LLVMSetMetadata(instruction, marker->kind, marker->access_group);
  }
}

// Tells LLVM that iterations of the lane loop are independent: threads that
// access the same memory without atomics are racing anyway. Private memory is
// the exception, because all iterations share it.
static void mark_parallel(mtlc_kernel *kernel, LLVMValueRef body) {
  bool has_memory = false;
  mtlc_for_each_instruction(body, find_alloca, &has_memory);
  mtlc_values calls = {0};
  mtlc_collect_calls(kernel->module, "mettle.note_thread", &calls);
  const char *name = "llvm.access.group";
  access_marker marker = {.kind = LLVMGetMDKindIDInContext(
                              kernel->context, name, (unsigned)strlen(name))};
  marker.access_group = LLVMGetMetadata(calls.items[0], marker.kind);
  if (!has_memory) {
    mtlc_for_each_instruction(body, mark_access, &marker);
  }
  LLVMSetMetadata(calls.items[0], marker.kind, NULL);
  free(calls.items);
}

// Inlines the thread into the loop over it, which takes over the debug
// information: a function without any drops that of inlined code.
static mtl_status merge_body(mtlc_kernel *kernel, LLVMValueRef body,
                             const char *loop) {
  mtlc_values calls = {0};
  mtlc_collect_calls(kernel->module, mtlc_name(body), &calls);
  LLVMMetadataRef subprogram = LLVMGetSubprogram(body);
  if (subprogram) {
    LLVMValueRef group = LLVMGetNamedFunction(kernel->module, loop);
    LLVMGlobalEraseMetadata(
        body, LLVMGetMDKindIDInContext(kernel->context, "dbg", 3));
    LLVMSetSubprogram(group, subprogram);
    mtlc_set_location(calls.items[0], group);
  }
  free(calls.items);
  LLVMSetLinkage(body, LLVMInternalLinkage);
  mtlc_set_attribute(body, "alwaysinline", 0);
  return mtlc_run_llvm_passes(kernel, "always-inline,globaldce");
}

mtl_status mtlc_loop_lanes(mtlc_kernel *kernel) {
  if (kernel->has_group || mtlc_is_convergent(kernel->module)) {
    return MTL_OK;
  }
  const bool is_checked = kernel->tier == MTLI_TIER_CHECKED;
  MTL_TRY(is_checked ? mtlc_link_text(kernel, "check_lane_loop",
                                      mtlc_text_check_lane_loop)
                     : mtlc_link_text(kernel, "lane_loop",
                                      mtlc_text_lane_loop));
  LLVMValueRef body = LLVMGetNamedFunction(kernel->module, MTLC_BODY_FUNCTION);
  mtlc_set_attribute(body, "nounwind", 0);
  MTL_TRY(mtlc_bind_thread(kernel, body));
  kernel->has_group = true;
  if (is_checked) {
    mtlc_report(kernel, "threads: one after the other, checked");
    return merge_body(kernel, body, "mettle.check.row");
  }
  define_note_thread(kernel);
  if (kernel->tier == MTLI_TIER_0) {
    mtlc_report(kernel, "threads: one after the other");
    return MTL_OK;
  }
  mtlc_report(kernel, "threads: a loop, left to LLVM to vectorise");
  mark_parallel(kernel, body);
  return merge_body(kernel, body, MTLC_GROUP_FUNCTION);
}
