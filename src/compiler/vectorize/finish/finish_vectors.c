// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// finish_vectors.c: LLVM's passes over what the vectoriser has made, with the
// loop over threadgroups around it: those that find something in code that is
// vectors already. LLVM's -O3 would spend most of its time on looking for more.
#include "compiler/vectorize/finish/finish_vectors.h"

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "compiler/ir/analysis/loops.h"
#include "compiler/ir/kernel/kernel.h"
#include "compiler/ir/llvm/instructions.h"
#include "compiler/ir/llvm/module.h"
#include "compiler/vectorize/base/debug_lines.h"
#include "compiler/vectorize/finish/simdgroups/fault_position.h"
#include "compiler/vectorize/finish/simdgroups/skip_idle.h"
#include "compiler/vectorize/finish/specialise_group_size.h"
#include "compiler/vectorize/finish/tiling/register_tiling.h"
#include "compiler/vectorize/prepare/versions/version_uniform.h"

static const char finishing[] =
    "globaldce,function(sroa<modify-cfg>,early-cse<memssa>,"
    "instcombine<no-verify-fixpoint>,simplifycfg,loop-simplify,lcssa,"
    "loop-mssa(licm),gvn<no-pre>,dse,simplifycfg<sink-common-insts>)";
static const char widening[] =
    "function(loop-simplify,lcssa,loop(indvars,loop-deletion))";
static const char unrolling[] =
    "function(loop-unroll<O2;no-runtime>,early-cse,"
    "instcombine<no-verify-fixpoint>)";
// Once the simdgroup is known: promotes memory to registers.
static const char settling[] =
    "function(simplifycfg,sroa<modify-cfg>,early-cse<memssa>,"
    "instcombine<no-verify-fixpoint>,simplifycfg)";
static const char closing[] =
    "function(early-cse<memssa>,loop-simplify,lcssa,loop-mssa(licm),adce,"
    "simplifycfg),globaldce";
// Removes loops that turned out to do nothing.
static const char tidying[] =
    "function(loop-simplify,lcssa,loop(loop-deletion),simplifycfg)";

// Where loops are tiled for registers: without promotion of their memory.
static const char parting[] = "function(adce)";

// Makes vectors of what several simdgroups at once do with a uniform number
// each. Addresses alone are not worth it: their vectors are split again, or
// rows are gathered, and a product by 8 x 8 threadgroups takes 2.2 times as
// long.
static const char joining[] =
    "function(slp-vectorizer,instcombine<no-verify-fixpoint>)";

static void find_arithmetic(LLVMValueRef i, void *found) {
  const LLVMTypeKind kind = LLVMGetTypeKind(LLVMTypeOf(i));
  if ((kind == LLVMFloatTypeKind || kind == LLVMHalfTypeKind) &&
      (LLVMIsABinaryOperator(i) || LLVMIsACallInst(i) || LLVMIsACastInst(i))) {
    *(bool *)found = true;
  }
}

static bool has_arithmetic(LLVMModuleRef module) {
  bool found = false;
  mtlc_for_each_in_module(module, find_arithmetic, &found);
  return found;
}

// --- Simdgroups with nothing to do -------------------------------------------

// True if a block only loops, and notes the simdgroup.
static bool is_idle(LLVMBasicBlockRef block) {
  LLVMValueRef end = LLVMGetBasicBlockTerminator(block);
  bool is_loop = false;
  for (unsigned k = 0; k < LLVMGetNumSuccessors(end); k++) {
    is_loop |= LLVMGetSuccessor(end, k) == block;
  }
  for (LLVMValueRef i = LLVMGetFirstInstruction(block); i && is_loop;
       i = LLVMGetNextInstruction(i)) {
    const LLVMOpcode opcode = LLVMGetInstructionOpcode(i);
    is_loop = lanes_notes_fault_position(i) || opcode == LLVMPHI || opcode == LLVMAdd ||
              opcode == LLVMICmp || opcode == LLVMSelect ||
              opcode == LLVMZExt || opcode == LLVMGetElementPtr || i == end;
  }
  return is_loop;
}

// Removes the notes of simdgroups that have nothing to do between two barriers,
// such as those past the bound of a tree's step.
static bool forget_idle_places(mtlc_kernel *kernel) {
  bool any = false;
  for (LLVMValueRef f = LLVMGetFirstFunction(kernel->module); f;
       f = LLVMGetNextFunction(f)) {
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(f); block;
         block = LLVMGetNextBasicBlock(block)) {
      LLVMValueRef next = NULL;
      const bool idle = is_idle(block);
      for (LLVMValueRef i = idle ? LLVMGetFirstInstruction(block) : NULL; i;
           i = next) {
        next = LLVMGetNextInstruction(i);
        if (lanes_notes_fault_position(i)) {
          LLVMInstructionEraseFromParent(i);
          any = true;
        }
      }
    }
  }
  return any;
}

// --- The passes --------------------------------------------------------------

// Specialises for a known count of threads first: LLVM would otherwise compute
// trip counts of the general loops by simulating the specialised ones.
static mtl_status use_threads(mtlc_kernel *kernel) {
  lanes_unroll_simdgroups(kernel);
  MTL_TRY(mtlc_run_llvm_passes(kernel, unrolling));
  lanes_open_memory(kernel);
  return mtlc_run_llvm_passes(kernel, settling);
}

mtl_status mtlc_finish_vectors(mtlc_kernel *kernel) {
  MTL_TRY(mtlc_run_llvm_passes(kernel, "always-inline"));
  lanes_answer_is_whole(kernel->module);
  MTL_TRY(mtlc_run_llvm_passes(kernel, finishing));
  if (kernel->knows_threads) {
    MTL_TRY(use_threads(kernel));
  }
  if (mtlc_most_loops(kernel->module) <= MTLC_MANY_LOOPS) {
    MTL_TRY(mtlc_run_llvm_passes(kernel, widening));
  }
  if (mtlc_has_known_turns(kernel->module)) {
    MTL_TRY(mtlc_run_llvm_passes(kernel, unrolling));
  }
  MTL_TRY(mtlc_run_llvm_passes(kernel, closing));
  if (forget_idle_places(kernel)) {
    MTL_TRY(mtlc_run_llvm_passes(kernel, tidying));
  }
  lanes_skip_idle(kernel);
  lanes_write_fault_positions(kernel);
  if (lanes_tile_loops(kernel)) {
    MTL_TRY(mtlc_run_llvm_passes(kernel, parting));
  }
  if (kernel->is_at_once && has_arithmetic(kernel->module)) {
    MTL_TRY(mtlc_run_llvm_passes(kernel, joining));
  }
  lanes_flatten_lines(kernel);
  return MTL_OK;
}
