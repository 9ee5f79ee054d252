// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// passes.c: the order of the passes, with a reason a line.
#include "compiler/passes/passes.h"

#include <llvm-c/Analysis.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "compiler/check/check.h"
#include "compiler/ir/kernel/kernel.h"
#include "compiler/ir/kernel/steps.h"
#include "compiler/ptx/ptx.h"
#include "compiler/vectorize/finish/hoist_constants.h"
#include "compiler/vectorize/finish/mask_as_integers.h"
#include "compiler/vectorize/finish/split_fminmax.h"
#include "compiler/vectorize/finish/split_strands.h"
#include "compiler/vectorize/vectorize.h"

// The lists that a pass is in: the cpu's tiers, and PTX, whose tiers are alike.
enum {
  T0 = 1 << MTLI_TIER_0,
  CHECKED = 1 << MTLI_TIER_CHECKED,
  SCREENED = 1 << MTLI_TIER_SCREENED,
  T1 = 1 << MTLI_TIER_1 | SCREENED,  // which is T1 with accesses screened
  PTX = 1 << (MTLI_TIER_SCREENED + 1),
  CPU = T0 | T1 | CHECKED,
  ALL = CPU | PTX,
};

typedef struct pass {
  const char *name;
  mtlc_pass *run;
  unsigned lists;
} pass;

static mtlc_pass vectorize;

static const pass passes[] = {
    // Initialisers name constants that only other kernels use: first of all,
    // since later passes treat them as roots.
    {"drop_initialisers", mtlc_drop_initialisers, ALL},
    // A pipeline has one kernel: code that it does not reach need not be valid,
    // have values, or cost time.
    {"select_kernel", mtlc_select_kernel, ALL},
    // Constants first: whole branches and barriers depend on them.
    {"fix_constants", mtlc_fix_constants, ALL},
    // Each linked function brings the values of its own constants; later passes
    // see one program.
    {"link_functions", mtlc_link_functions, ALL},
    // Before the library's functions are simplified, and inlined.
    {"ptx_approximate", mtlc_ptx_approximate, PTX},
    // Limits that both tiers share, checked before more time is spent.
    {"check_private", mtlc_check_private, ALL},
    // Before conversions get their values, which are those of float.
    {"lower_bfloat", mtlc_lower_bfloat, ALL},
    // Before undefined C++ arithmetic is defined.
    {"mark_arithmetic", mtlc_mark_arithmetic, CHECKED},
    // Before a function of the library takes numbers of threads modulo 32.
    {"mark_lanes", mtlc_mark_lanes, CHECKED | SCREENED},
    // Before textures lose their types.
    {"mark_texture_handles", mtlc_mark_texture_handles, CHECKED},
    // Arithmetic is defined before anything could draw conclusions from what
    // C++ leaves undefined.
    {"define_arithmetic", mtlc_define_arithmetic, ALL},
    // Before functions are divided into those that must be inlined and others.
    {"lower_pointer_calls", mtlc_lower_pointer_calls, ALL},
    // Functions that are inlined many times are simplified first, alike for
    // both tiers.
    {"simplify_library", mtlc_simplify_library, ALL},
    // Makes the thread one function, with everything of ours inlined.
    {"enter_kernel", mtlc_enter_kernel, ALL},
    // Before anything draws conclusions from dimensions.
    {"turn_positions", mtlc_turn_positions, T1},
    // The last pass that may change a result: so it comes before the tiers
    // part.
    {"contract_arithmetic", mtlc_contract_arithmetic, ALL},
    // While all tiers have the same code, and values are where the source has
    // them: LLVM would move what makes them behind the branch.
    {"offer_values", mtlc_offer_values, CPU},
    // Prepares the screened form of a thread.
    {"simplify_screened", mtlc_simplify_checked, SCREENED},
    {"screen_accesses", mtlc_screen_accesses, SCREENED},
    // Before loops are unrolled whose count depends on it.
    {"fix_threads", mtlc_fix_threads, T1},
    // Everything after this wants SSA form, and few calls.
    {"simplify_thread", mtlc_simplify_thread, T1 | PTX},
    // Simplifying made fabs and fneg of masks.
    {"lower_made_bfloat", mtlc_lower_bfloat, T1 | PTX},
    // After all code is gone that constants and types exclude.
    {"find_unused", mtlc_find_unused, ALL},
    // Promotes variables that need no memory to registers; every access stays,
    // with its line.
    {"simplify_checked", mtlc_simplify_checked, CHECKED},
    // Before checks hide the accesses.
    {"advance_together_checked", mtlc_advance_together, CHECKED},
    // While variables are still objects, each with its size.
    {"check_accesses", mtlc_check_accesses, CHECKED},
    // Before variables have offsets, from which LLVM cannot tell them apart.
    {"drop_unread", mtlc_drop_unread, T1},
    // Gives variables offsets before vectors and loops are made, but after LLVM
    // has seen that different variables do not overlap.
    {"lower_threadgroup_memory", mtlc_lower_threadgroup_memory, ALL},
    // Makes indices of pointers into private arrays that are chosen or
    // loop-carried.
    {"carry_private", mtlc_carry_private, T1},
    // After all passes that make indices of private arrays constant, and before
    // 32 threads' arrays are interleaved.
    {"bound_private", mtlc_bound_private, T0 | T1 | PTX},
    // The last pass that lanes and an NVIDIA GPU's threads share.
    {"version_apart", mtlc_version_apart, 1 << MTLI_TIER_1 | PTX},
    // The best code there is, where it can be had; those below stand back.
    {"vectorize", vectorize, T1},
    // While products of tiles can be seen.
    {"ptx_multiply_tiles", mtlc_ptx_multiply_tiles, PTX},
    // Before barriers are looked for: this makes some.
    {"lower_tiles", mtlc_lower_tiles, T0 | T1 | PTX},
    // Accesses that fault in the other tier fault here as well.
    {"probe_alignment", mtlc_probe_alignment, T0},
    // For simdgroups that are no vector; a vector is in lockstep anyway.
    {"advance_together", mtlc_advance_together, T0 | T1},
    // Makes a block of an NVIDIA GPU of the same kernel.
    {"ptx_lower_simdgroups", mtlc_ptx_lower_simdgroups, PTX},
    // When products and exchanges have become accesses; only for debugging.
    {"ptx_check_accesses", mtlc_ptx_check_accesses, PTX},
    {"ptx_lower_memory", mtlc_ptx_lower_memory, PTX},
    {"ptx_enter_block", mtlc_ptx_enter_block, PTX},
    {"ptx_optimise", mtlc_ptx_optimise, PTX},
    // Loops that LLVM has not unrolled itself.
    {"ptx_unroll_loops", mtlc_ptx_unroll_loops, PTX},
    // When divisions by constants have become products.
    {"ptx_divide", mtlc_ptx_divide, PTX},
    // Before LLVM joins neighbouring accesses.
    {"ptx_raise_alignment", mtlc_ptx_raise_alignment, PTX},
    // Threads that never wait need no state of their own.
    {"loop_lanes", mtlc_loop_lanes, CPU},
    // Any other kernel.
    {"make_coroutines", mtlc_make_coroutines, CPU},
    // Last, as nothing is called by name from here on.
    {"describe_code", mtlc_describe_code, CPU},
    // Optimises the code that the loops and the scheduler have produced.
    {"optimise", mtlc_optimise, T1 | CHECKED},
    // Optimising made them again: LLVM would call functions that are not there.
    {"lower_left_bfloat", mtlc_lower_bfloat, CPU},
    // Names and attributes last, when functions are neither added nor dropped
    // any more.
    {"finish_module", mtlc_finish_module, CPU},
    // Optimising would join its conditions again; before masks are numbers.
    {"split_fminmax", mtlc_split_fminmax, T1},
    // Optimising would make masks of the numbers again.
    {"mask_as_integers", mtlc_mask_as_integers, T1},
    // LLVM's optimiser would merge the strands into whole vectors again.
    {"split_strands", mtlc_split_strands, T1},
    // LLVM's optimiser would merge the blocks again.
    {"split_blocks", mtlc_split_blocks, CPU},
    // When every block is there.
    {"bfloat_across_blocks", mtlc_bfloat_across_blocks, CPU},
    // After blocks are split, since each begins with the constants that it
    // uses.
    {"hoist_constants", mtlc_hoist_constants, T1},
};

enum { PASS_COUNT = sizeof passes / sizeof passes[0] };

#ifdef NDEBUG
enum { VERIFY_EACH = 0 };
#else
enum { VERIFY_EACH = 1 };
#endif

static mtl_status vectorize(mtlc_kernel *kernel) {
  if (kernel->without_vectors) {
    return MTL_OK;
  }
  const mtl_status status = mtlc_vectorize(kernel);
  if (status == MTL_UNSUPPORTED && kernel->tier != MTLI_TIER_SCREENED) {
    return MTL_OK;  // the next passes take over; the report has the reason
  }
  kernel->has_group = status == MTL_OK;
  return status;
}

// Values of dump_after other than passes.
static const char *const other_names[] = {"frontend", MTLC_STEP_TABLE,
                                          MTLC_ACCESS_PLAN, MTLC_CODE_LISTING};
enum { OTHER_COUNT = sizeof other_names / sizeof other_names[0] };

static const char *name_at(size_t i) {
  if (i < OTHER_COUNT) {
    return other_names[i];
  }
  i -= OTHER_COUNT;
  return i < PASS_COUNT ? passes[i].name : mtlc_vectorize_step(i - PASS_COUNT);
}

// Lists the passes, or the vectoriser's steps if it seems to be one of those.
static mtl_status fail_unknown_pass(const char *name) {
  char names[4096] = "";
  const bool is_step = strncmp(name, "vectorize.", 10) == 0;
  for (size_t i = 0; name_at(i); ++i) {
    const size_t length = strlen(names);
    if (is_step == (strncmp(name_at(i), "vectorize.", 10) == 0)) {
      snprintf(names + length, sizeof names - length, "%s%s",
               length ? ", " : "", name_at(i));
    }
  }
  return mtli_fail(MTL_NOT_FOUND, "no pass is called %s; there are: %s", name,
                   names);
}

static mtl_status check_name(const char *name) {
  for (size_t i = 0; name_at(i); ++i) {
    if (strcmp(name, name_at(i)) == 0) {
      return MTL_OK;
    }
  }
  return fail_unknown_pass(name);
}

// Fails for a name that is no step of the vectoriser, or one that is needed.
static mtl_status check_left_out(const char *names) {
  while (*names) {
    const size_t length = strcspn(names, ",");
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)length, names);
    if (!mtlc_vectorize_can_leave_out(name)) {
      return mtli_fail(MTL_NOT_FOUND,
                       "%s is no step of the vectoriser that can be left out",
                       name);
    }
    names += length + (names[length] == ',');
  }
  return MTL_OK;
}

// Verifies the module after a pass. A failure is our mistake: reports it and
// where, instead of a crash later.
static mtl_status verify(mtlc_kernel *kernel, const char *after) {
  char *message = NULL;
  mtl_status status = MTL_OK;
  if (LLVMVerifyModule(kernel->module, LLVMReturnStatusAction, &message)) {
    status = mtli_fail(MTL_UNSUPPORTED,
                       "kernel %s: invalid code after %s (a mistake in the "
                       "compiler): %.2000s",
                       kernel->kernel->name, after, message);
  }
  LLVMDisposeMessage(message);
  return status;
}

mtl_status mtlc_run_passes(mtlc_kernel *kernel) {
  if (kernel->dump_after) {
    MTL_TRY(check_name(kernel->dump_after));
  }
  if (kernel->without) {
    MTL_TRY(check_left_out(kernel->without));
  }
  mtlc_step_done(kernel, "frontend", MTLC_NOT_COUNTED, mtlc_step_begin(kernel));
  const unsigned list = kernel->is_ptx ? PTX : 1u << kernel->tier;
  for (size_t i = 0; i < PASS_COUNT; ++i) {
    const uint64_t start_ns = mtlc_step_begin(kernel);
    if (passes[i].lists & list) {
      MTL_TRY(passes[i].run(kernel));
      if (VERIFY_EACH || i + 1 == PASS_COUNT) {
        MTL_TRY(verify(kernel, passes[i].name));
      }
    }
    // A pass that this tier lacks counts as one without changes.
    mtlc_step_done(kernel, passes[i].name, MTLC_NOT_COUNTED, start_ns);
  }
  return MTL_OK;
}
