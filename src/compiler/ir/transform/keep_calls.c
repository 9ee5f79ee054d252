// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// keep_calls.c: chooses the functions that stay calls in a long kernel.
// Programs with 256-bit arithmetic call a product of 700 instructions hundreds
// of times, through functions on points of a curve; inlining all of it takes
// minutes to compile. Other kernels are inlined into one function.
#include "compiler/ir/transform/keep_calls.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "compiler/ir/analysis/variable_use.h"
#include "compiler/ir/kernel/kernel.h"
#include "compiler/ir/llvm/attributes.h"
#include "compiler/ir/llvm/calls.h"
#include "compiler/ir/llvm/module.h"
#include "compiler/ir/llvm/names.h"
#include "compiler/ir/transform/pass_values.h"
#include "compiler/ir/transform/same_arguments.h"

enum {
  // Functions shorter than this, with what they call inlined, as in the source,
  // are always inlined. A short one with loops may be long later.
  SHORTEST_SOURCE_INSTRUCTIONS = 100,
  // The same for a whole kernel.
  SHORTEST_SOURCE_KERNEL = 5000,
  // The limit after simplification, with everything inlined.
  LONGEST_INLINED_INSTRUCTIONS = 8000,
  SHORTEST_CALLED_INSTRUCTIONS = 100,
  // the least by which a call has to shorten the kernel
  LEAST_SAVED_INSTRUCTIONS = 400,
};

// True if METTLE_CALLS has a value: tests and measurements set it so that all
// functions that can be called are, however short, or none.
static bool is_setting(const char *setting) {
  const char *text = getenv("METTLE_CALLS");
  return text && strcmp(text, setting) == 0;
}

bool mtlc_is_called(LLVMValueRef function) {
  return !LLVMIsDeclaration(function) &&
         mtlc_starts_with(mtlc_name(function), MTLC_CALLED_PREFIX);
}

// --- Who calls whom ----------------------------------------------------------

typedef struct callee {
  LLVMValueRef function;
  uint64_t own_count;      // of its instructions
  uint64_t inlined_count;  // including its callees
  uint32_t call_count;     // calls in the module
  bool is_inner;           // called by another than the thread, or those that
                           // stay: its callers may still change
} callee;

// Functions in an order in which callees come first; the thread is last.
typedef struct callees {
  callee *items;  // [count]
  size_t count;
  size_t capacity;
} callees;

static callee *find_callee(const callees *all, LLVMValueRef function) {
  for (size_t i = 0; i < all->count; ++i) {
    if (all->items[i].function == function) {
      return &all->items[i];
    }
  }
  return NULL;
}

// Calls visit for each call of a function by its name that has a body.
typedef void call_visit(callees *all, LLVMValueRef callee, void *context);

static uint64_t visit_calls(callees *all, LLVMValueRef function,
                            call_visit *visit, void *context) {
  uint64_t count = 0;
  for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block;
       block = LLVMGetNextBasicBlock(block)) {
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i;
         i = LLVMGetNextInstruction(i)) {
      LLVMValueRef called = mtlc_callee(i);
      count++;
      if (called && !LLVMIsDeclaration(called)) {
        visit(all, called, context);
      }
    }
  }
  return count;
}

static void add_callee(callees *all, LLVMValueRef function, void *context);

static void add_inlined(callees *all, LLVMValueRef function, void *context) {
  uint64_t *count = context;
  const callee *called = find_callee(all, function);
  *count += called ? called->inlined_count : 0;
}

// A recursive function is not in the order, nor are its callees.
static void add_callee(callees *all, LLVMValueRef function, void *context) {
  const bool is_recursive = mtlc_has_attribute(function, "noinline") &&
                            !mtlc_is_called(function);
  if (find_callee(all, function) || is_recursive) {
    return;
  }
  (void)context;
  uint64_t inlined = visit_calls(all, function, add_callee, NULL);
  const uint64_t own = inlined;
  visit_calls(all, function, add_inlined, &inlined);
  if (all->count == all->capacity) {
    all->capacity = all->capacity ? 2 * all->capacity : 64;
    all->items = realloc(all->items, all->capacity * sizeof *all->items);
    if (!all->items) {
      abort();  // as mtlc_values_add
    }
  }
  all->items[all->count++] = (callee){
      .function = function, .own_count = own, .inlined_count = inlined};
}

static void add_calls(callees *all, LLVMValueRef function, void *context) {
  const LLVMValueRef *caller = context;
  callee *to = find_callee(all, function);
  if (to) {
    const bool is_last = all->items[all->count - 1].function == *caller;
    to->call_count++;
    to->is_inner |= !is_last && !mtlc_is_called(*caller);
  }
}

static callees find_callees(const mtlc_kernel *kernel) {
  callees all = {0};
  add_callee(&all, kernel->thread, NULL);
  for (size_t i = 0; i < all.count; ++i) {
    LLVMValueRef caller = all.items[i].function;
    visit_calls(&all, caller, add_calls, &caller);
  }
  return all;
}

// --- Making them -------------------------------------------------------------

// Marks a function for no pass to inline, or for all to.
static void set_inline(LLVMValueRef function, bool is_inlined) {
  if (is_inlined) {
    mtlc_remove_attribute(function, "noinline");
    mtlc_set_attribute(function, "alwaysinline", 0);
  } else {
    mtlc_remove_attribute(function, "alwaysinline");
  }
}

// Marks functions that may stay calls, by their size in the source.
bool mtlc_may_keep_calls(mtlc_kernel *kernel) {
  if (is_setting("none")) {
    return false;
  }
  callees all = find_callees(kernel);
  const bool calls = is_setting("all");
  const bool is_long =
      calls || all.items[all.count - 1].inlined_count >= SHORTEST_SOURCE_KERNEL;
  bool any = false;
  for (size_t i = 0; is_long && i + 1 < all.count; ++i) {
    const callee *c = &all.items[i];
    if (calls || (c->call_count > 1 &&
                  c->inlined_count >= SHORTEST_SOURCE_INSTRUCTIONS)) {
      set_inline(c->function, false);
      any = true;
    }
  }
  free(all.items);
  return any;
}

// Inlines functions with effects besides their result.
static void mark_others(mtlc_kernel *kernel) {
  callees all = find_callees(kernel);
  for (size_t i = 0; i + 1 < all.count; ++i) {
    if (!mtlc_only_computes(all.items[i].function)) {
      set_inline(all.items[i].function, true);
    }
  }
  free(all.items);
}

// Top-down from the thread: a caller's variables are known once the caller has
// been rewritten.
static mtl_status pass_values(mtlc_kernel *kernel, bool *out_any) {
  for (bool is_done = false; !is_done;) {
    callees all = find_callees(kernel);
    is_done = true;
    for (size_t i = 0; i + 1 < all.count; ++i) {
      const callee *c = &all.items[i];
      if (mtlc_is_called(c->function)) {
        continue;
      }
      is_done = false;
      if (!c->is_inner) {
        *out_any |=
            mtlc_pass_values(kernel, c->function, MTLC_CALLED_PREFIX) > 0;
        set_inline(c->function, true);
      }
    }
    free(all.items);
    MTL_TRY(mtlc_run_llvm_passes(kernel, "always-inline,globaldce"));
  }
  return MTL_OK;
}

// True if called functions have more code than the thread itself. Tested early,
// because the rest costs a fifth of an ordinary kernel's compilation.
static bool is_mostly_calls(const mtlc_kernel *kernel) {
  callees all = find_callees(kernel);
  const callee *thread = &all.items[all.count - 1];
  const bool is_mostly =
      all.count > 1 && (is_setting("all") ||
                        thread->inlined_count >= 2 * thread->own_count);
  free(all.items);
  return is_mostly;
}

mtl_status mtlc_keep_calls(mtlc_kernel *kernel, bool *out_any) {
  *out_any = false;
  MTL_TRY(mtlc_run_llvm_passes(kernel, MTLC_PIECEWISE ",globaldce"));
  mark_others(kernel);
  MTL_TRY(mtlc_run_llvm_passes(kernel, "always-inline,globaldce"));
  if (is_mostly_calls(kernel)) {
    return pass_values(kernel, out_any);
  }
  return MTL_OK;
}

// --- Keeping them ------------------------------------------------------------

static void add_remaining(callees *all, LLVMValueRef function, void *context) {
  uint64_t *count = context;
  const callee *called = find_callee(all, function);
  const bool is_inlined =
      called && mtlc_has_attribute(function, "alwaysinline");
  *count += is_inlined ? called->own_count : 0;
}

bool mtlc_settle_calls(mtlc_kernel *kernel) {
  callees all = find_callees(kernel);
  const bool calls = is_setting("all");
  const bool is_long = calls || all.items[all.count - 1].inlined_count >
                                    LONGEST_INLINED_INSTRUCTIONS;
  bool any = false;
  // Callees first: inlining one makes its callers longer.
  for (size_t i = 0; is_long && i + 1 < all.count; ++i) {
    callee *c = &all.items[i];
    visit_calls(&all, c->function, add_remaining, &c->own_count);
    const bool is_worth_it =
        calls ||
        (c->own_count >= SHORTEST_CALLED_INSTRUCTIONS &&
         (c->call_count - 1) * c->own_count >= LEAST_SAVED_INSTRUCTIONS);
    if (mtlc_is_called(c->function) && is_worth_it) {
      any = true;
      mtlc_share_arguments(kernel, c->function);
    } else {
      set_inline(c->function, true);
    }
  }
  free(all.items);
  return any;
}
