// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// kernel.h: the kernel that the passes work on.
#ifndef MTLC_KERNEL_H
#define MTLC_KERNEL_H

#include <llvm-c/Core.h>
#include <llvm-c/TargetMachine.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "code/cpu_facts.h"
#include "code/group_class.h"
#include "compiler/compiler.h"

#define MTLC_THREAD_FUNCTION "mettle.thread"
// What a thread gives to shuffles that it takes no part in: docs/ir.md.
#define MTLC_OFFER_PREFIX "mettle.offer."
#define MTLC_GROUP_FUNCTION "mettle.group"
// mtli_cpu_code.begin and .finish of cpu_abi.h, where there is something to do.
#define MTLC_BEGIN_FUNCTION "mettle.begin"
#define MTLC_FINISH_FUNCTION "mettle.finish"
// mtli_cpu_code.sites, of checked code.
#define MTLC_CHECK_SITES_GLOBAL "mettle.check.sites"
#define MTLC_THREADGROUP_MEMORY_FUNCTION "mettle.threadgroup_memory"

// The kernel being compiled: inputs that every pass may read, and the few facts
// that passes leave for later ones.
typedef struct mtlc_kernel {
  LLVMContextRef context;
  LLVMModuleRef module;
  LLVMValueRef thread;  // void(void): the code of one thread (docs/ir.md)
  const mtli_code *library;
  const mtli_kernel *kernel;
  const mtli_constant_value *constant_values;  // [library->constant_count]
  // Visible functions that the kernel may call, [linked_count].
  const mtli_linked_function *linked;
  size_t linked_count;
  uint32_t call_depth;  // as mtli_pipeline_request
  mtli_tier tier;
  uint32_t checks;  // as mtli_pipeline_request
  bool is_ptx;  // the target is no CPU but an NVIDIA GPU (ptx/ptx.h)
  bool may_approximate;  // with it: functions of fast math
  mtli_group_class group_class;
  bool may_change_class;
  LLVMTargetMachineRef target;
  // Left by lower_threadgroup_memory, or the vectoriser; a multiple of 64:
  uint32_t static_threadgroup_bytes;
  bool without_vectors;  // leave T1 to loops and coroutines; for tests
  // Set by the pass that made MTLC_GROUP_FUNCTION; those after it stand back.
  bool has_group;
  // Set together: the members of mtli_cpu_code of these names.
  uint64_t kept_bytes;
  uint64_t context_bytes;
  uint64_t simdgroup_bytes;
  uint64_t frame_bytes;  // of those, by half a simdgroup where halves run
  uint64_t thread_bytes;
  // Threadgroups along x that the code can run at once, and how far apart they
  // are; 0: one at a time.
  uint32_t groups_at_once;
  uint32_t groups_apart;
  // Set with it, and by passes in front: how the code depends on group_class.
  mtli_cpu_facts facts;
  // Set as well if the vectoriser made it and will optimise it.
  bool is_vectorized;
  // Set with that if some loop takes several simdgroups at once, and if there
  // is a form for threadgroups of a known size.
  bool is_at_once;
  bool knows_threads;
  uint32_t vector_lanes;  // of that code
  // The requested dump (steps.h): a pass or step, or NULL; the steps to leave
  // out, or NULL; and the dump's text, malloc'ed.
  const char *dump_after;
  const char *without;
  char *dump;
  // The text for `mettle compile --report`, malloc'ed, grown by passes.
  char *report;
} mtlc_kernel;

// Runs one pass. Returns MTL_OK, or a failure made with mtli_fail.
typedef mtl_status mtlc_pass(mtlc_kernel *kernel);

#endif
