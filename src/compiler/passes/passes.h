// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// passes.h: the passes from portable IR to one kernel's machine code, and what
// they share. The order is in passes.c.
//
// Between the passes the module changes shape three times:
//
//   docs/ir.md       to enter_kernel: one wrapper that takes an argument array
//   @mettle.thread   void(void), one thread. It reaches the outside only by the
//                    functions of docs/ir.md; lower_threadgroup_memory leaves
//                      ptr @mettle.threadgroup_memory(i32 offset_bytes)
//                    in place of the kernel's threadgroup variables: the
//                    address of a byte of the threadgroup memory
//   @mettle.group    void(ptr launch, ptr scratch, ptr context, ptr group): one
//                    threadgroup, as mtli_cpu_run_group of cpu_abi.h. Whoever
//                    makes it says what memory it needs, and is done
#ifndef MTLC_PASSES_H
#define MTLC_PASSES_H

#include <llvm-c/Core.h>
#include <llvm-c/TargetMachine.h>

#include "compiler/compiler.h"

#define MTLC_THREAD_FUNCTION "mettle.thread"
#define MTLC_GROUP_FUNCTION "mettle.group"
// mtli_cpu_code.begin and .finish of cpu_abi.h, where there is something to do.
#define MTLC_BEGIN_FUNCTION "mettle.begin"
#define MTLC_FINISH_FUNCTION "mettle.finish"
#define MTLC_THREADGROUP_MEMORY_FUNCTION "mettle.threadgroup_memory"

// What every pass may read, and the few facts that passes leave for later ones.
typedef struct mtlc_kernel {
  LLVMContextRef context;
  LLVMModuleRef module;
  LLVMValueRef thread;  // void(void): what one thread does (docs/ir.md)
  const mtli_code *library;
  const mtli_kernel *kernel;
  const mtli_constant_value *constant_values;  // [library->constant_count]
  // Visible functions that the kernel may call, [linked_count].
  const mtli_linked_function *linked;
  size_t linked_count;
  uint32_t call_depth;  // as mtli_pipeline_request
  mtli_tier tier;
  bool is_ptx;  // the target is no CPU but an NVIDIA GPU (ptx/ptx.h)
  mtli_group_class group_class;
  bool may_change_class;
  LLVMTargetMachineRef target;
  // Left by lower_threadgroup_memory, or the vectoriser; a multiple of 64:
  uint32_t static_threadgroup_bytes;
  bool without_vectors;  // leave T1 to loops and coroutines; for tests
  // Set by the pass that made MTLC_GROUP_FUNCTION; those after it stand back.
  bool has_group;
  // Set with it: what mtli_cpu_code has of these names.
  uint64_t kept_bytes;
  uint64_t context_bytes;
  uint64_t simdgroup_bytes;
  uint64_t frame_bytes;  // of those, by half a simdgroup where halves run
  uint64_t thread_bytes;
  // Set with it if the code is for threadgroups of group_class, and others
  // would be wrong or slow (mtli_kernel).
  bool depends_on_row;
  bool depends_on_uneven;
  bool depends_on_single;
  bool depends_on_whole;
  bool depends_on_far;
  bool depends_on_simdgroups;
  bool needs_simdgroups;
  // These as mtli_kernel; set by the vectoriser.
  bool any_groups;
  bool is_brief;
  bool shares_rows;
  // Set with it if the vectoriser made it, and knows how to optimise it.
  bool is_vectorized;
  // Set with that if some loop takes several simdgroups at once, and if there
  // is a form for threadgroups of a known size.
  bool is_at_once;
  bool knows_threads;
  // The text for `mettle compile --report`, malloc'ed, grown by passes.
  char *report;
} mtlc_kernel;

// Runs one pass. Returns MTL_OK, or a failure made with mtli_fail.
typedef mtl_status mtlc_pass(mtlc_kernel *kernel);

// Runs all passes for kernel->tier, so that kernel->module holds the code of
// cpu_abi.h. dump_after and out_dump as mtlc_compile_pipeline; a name that
// is no pass is MTL_NOT_FOUND with the names that are.
mtl_status mtlc_run_passes(mtlc_kernel *kernel, const char *dump_after,
                           char **out_dump);

// Appends a line of text (printf form) to kernel->report.
void mtlc_report(mtlc_kernel *kernel, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

// The passes, each in the file of its name, which says what it requires and
// leaves behind.
mtlc_pass mtlc_drop_initialisers;
mtlc_pass mtlc_select_kernel;
mtlc_pass mtlc_fix_constants;
mtlc_pass mtlc_fold_initialisers;  // part of fix_constants
mtlc_pass mtlc_link_functions;
mtlc_pass mtlc_check_private;
mtlc_pass mtlc_lower_pointer_calls;
mtlc_pass mtlc_simplify_library;
mtlc_pass mtlc_enter_kernel;
mtlc_pass mtlc_lower_bfloat;
mtlc_pass mtlc_define_arithmetic;
mtlc_pass mtlc_contract_arithmetic;
mtlc_pass mtlc_lower_threadgroup_memory;
mtlc_pass mtlc_carry_private;
mtlc_pass mtlc_bound_private;
mtlc_pass mtlc_fix_threads;
mtlc_pass mtlc_simplify_thread;
mtlc_pass mtlc_lower_tiles;
mtlc_pass mtlc_advance_together;
mtlc_pass mtlc_loop_lanes;
mtlc_pass mtlc_make_coroutines;
mtlc_pass mtlc_describe_code;
mtlc_pass mtlc_optimise;
mtlc_pass mtlc_finish_module;
mtlc_pass mtlc_restore_extremes;
mtlc_pass mtlc_widen_masks;
mtlc_pass mtlc_split_blocks;
mtlc_pass mtlc_park_constants;

// The target machine for a request's target string, kept for the next who asks:
// with what it knows of a CPU by then, which takes 2 ms to work out. Borrowed.
mtl_status mtlc_target_machine(const char *target, mtli_tier tier,
                               LLVMTargetMachineRef *out_target);

// Module to relocatable object; malloc'ed.
mtl_status mtlc_emit_object(mtlc_kernel *kernel, void **out_object,
                            size_t *out_size_bytes);
// Behind all passes, for dump_after: the machine code as text.
#define MTLC_CODE_LISTING "asm"
// Writes it; malloc'ed. Before emit_object, which changes the module.
mtl_status mtlc_list_code(mtlc_kernel *kernel, char **out_text);
// Reports what an object of emit_object's says of registers; x86-64 only.
void mtlc_report_code(mtlc_kernel *kernel, const void *object,
                      size_t size_bytes);

#endif
