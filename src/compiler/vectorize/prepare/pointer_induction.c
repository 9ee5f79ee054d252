// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// pointer_induction.c: replaces pointers that a loop advances by a base and an
// induction variable, as in
//
//   weight += columns * row + thread_index_in_simdgroup;  // unsigned
//   do { ... *weight ...; weight += 32; } while (...);
//
// Where the sum does not wrap around, neighbouring threads read neighbouring
// elements, which is asked at run time (wrap_checks.c); what the answer holds for is
// known of the place where the loop begins, but not of what goes round in it.
// So it is the offset that goes round, the same for all threads, and the place
// stays outside.
#include "compiler/vectorize/prepare/pointer_induction.h"

#include <llvm-c/Target.h>
#include <stddef.h>
#include <stdlib.h>

#include "compiler/ir/llvm/instructions.h"
#include "compiler/ir/llvm/types.h"
#include "compiler/ir/llvm/value_list.h"
#include "compiler/vectorize/analysis/graph.h"
#include "compiler/vectorize/analysis/uniformity.h"
#include "compiler/vectorize/base/tables.h"

enum { MOST_PHIS = 8 };

// Phis of pointers that are computed from each other by getelementptr, and from
// one pointer outside.
typedef struct pointer_web {
  const lanes_values *values;
  LLVMValueRef phis[MOST_PHIS];
  LLVMValueRef offsets[MOST_PHIS];
  uint32_t count;
  LLVMValueRef base;  // the pointer outside
} pointer_web;

static bool is_pointer_phi(LLVMValueRef value) {
  return LLVMIsAPHINode(value) &&
         LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMPointerTypeKind;
}

// --- Which phis belong together ----------------------------------------------

static int index_of(const pointer_web *web, LLVMValueRef phi) {
  for (uint32_t i = 0; i < web->count; i++) {
    if (web->phis[i] == phi) {
      return (int)i;
    }
  }
  return -1;
}

// True if a pointer is computed from phi; seen are the phis on the way.
static bool depends_on_phi(LLVMValueRef value, LLVMValueRef phi,
                       pointer_web *seen) {
  LLVMValueRef from = mtlc_root_of(value);
  if (from == phi) {
    return true;
  }
  if (!is_pointer_phi(from) || index_of(seen, from) >= 0 ||
      seen->count == MOST_PHIS) {
    return false;
  }
  seen->phis[seen->count++] = from;
  for (unsigned k = 0; k < LLVMCountIncoming(from); k++) {
    if (depends_on_phi(LLVMGetIncomingValue(from, k), phi, seen)) {
      return true;
    }
  }
  return false;
}

// True if the steps can be added up: each is one index of an address's width.
static bool has_plain_steps(LLVMValueRef value) {
  while (LLVMIsAGetElementPtrInst(value)) {
    if (LLVMGetNumOperands(value) != 2 ||
        LLVMGetIntTypeWidth(LLVMTypeOf(LLVMGetOperand(value, 1))) != 64) {
      return false;
    }
    value = LLVMGetOperand(value, 0);
  }
  return true;
}

static bool take_incoming(pointer_web *web, LLVMValueRef value) {
  LLVMValueRef from = mtlc_root_of(value);
  pointer_web seen = {0};
  const bool is_inside =
      index_of(web, from) >= 0 ||
      (is_pointer_phi(from) && depends_on_phi(from, web->phis[0], &seen));
  if (!is_inside) {
    const bool is_same = !web->base || web->base == value;
    web->base = value;
    return is_same;
  }
  if (index_of(web, from) < 0) {
    if (web->count == MOST_PHIS) {
      return false;
    }
    web->phis[web->count++] = from;
  }
  return has_plain_steps(value);
}

static uint32_t node_of(const lanes_values *values, LLVMValueRef instruction) {
  return values->nodes[lanes_map_get(&values->numbers, instruction)];
}

// True if the outside pointer is invariant in the loops of the phis.
static bool is_base_outside(const pointer_web *web) {
  const lanes_graph *graph = web->values->graph;
  const uint32_t first = node_of(web->values, web->phis[0]);
  uint32_t loop = graph->nodes[first].loop;
  for (uint32_t i = 1; i < web->count && loop != LANES_NONE; i++) {
    loop = lanes_common_loop(graph, first, node_of(web->values, web->phis[i]));
  }
  return loop != LANES_NONE &&
         !lanes_in_loop(graph, node_of(web->values, web->base), loop);
}

// True for private memory: it is interleaved, so an offset is no distance in
// bytes.
static bool is_private(const lanes_values *values, LLVMValueRef pointer) {
  return values->private_of[lanes_map_get(&values->numbers, pointer)] !=
         LANES_NONE;
}

static bool find_web(pointer_web *web, LLVMValueRef phi) {
  web->phis[web->count++] = phi;
  for (uint32_t i = 0; i < web->count; i++) {
    for (unsigned k = 0; k < LLVMCountIncoming(web->phis[i]); k++) {
      if (!take_incoming(web, LLVMGetIncomingValue(web->phis[i], k))) {
        return false;
      }
    }
  }
  return web->base && LLVMIsAInstruction(web->base) &&
         lanes_shape_of(web->values, web->base).conditional &&
         !is_private(web->values, web->base) && is_base_outside(web);
}

// --- What they become --------------------------------------------------------

// Returns the offset of a pointer of the web from its base.
static LLVMValueRef offset_of(const pointer_web *web, LLVMBuilderRef builder,
                              LLVMValueRef value) {
  LLVMContextRef context = LLVMGetTypeContext(LLVMTypeOf(value));
  if (value == web->base) {
    return mtlc_i64(context, 0);
  }
  const int index = index_of(web, value);
  if (index >= 0) {
    return web->offsets[index];
  }
  LLVMValueRef before = offset_of(web, builder, LLVMGetOperand(value, 0));
  LLVMPositionBuilderBefore(builder, value);
  const uint64_t bytes =
      LLVMABISizeOfType(web->values->data, LLVMGetGEPSourceElementType(value));
  LLVMValueRef step = LLVMBuildMul(builder, LLVMGetOperand(value, 1),
                                   mtlc_i64(context, bytes), "");
  return LLVMBuildAdd(builder, before, step, "");
}

static void rewrite_web(pointer_web *web, LLVMBuilderRef builder) {
  LLVMContextRef context = LLVMGetTypeContext(LLVMTypeOf(web->base));
  for (uint32_t i = 0; i < web->count; i++) {
    LLVMPositionBuilderBefore(builder, web->phis[i]);
    web->offsets[i] =
        LLVMBuildPhi(builder, LLVMInt64TypeInContext(context), "");
  }
  for (uint32_t i = 0; i < web->count; i++) {
    for (unsigned k = 0; k < LLVMCountIncoming(web->phis[i]); k++) {
      LLVMBasicBlockRef from = LLVMGetIncomingBlock(web->phis[i], k);
      LLVMValueRef offset =
          offset_of(web, builder, LLVMGetIncomingValue(web->phis[i], k));
      LLVMAddIncoming(web->offsets[i], &offset, &from, 1);
    }
  }
  for (uint32_t i = 0; i < web->count; i++) {
    mtlc_position_behind_phis(builder, web->phis[i]);
    LLVMReplaceAllUsesWith(
        web->phis[i], LLVMBuildGEP2(builder, LLVMInt8TypeInContext(context),
                                    web->base, &web->offsets[i], 1, ""));
  }
  for (uint32_t i = 0; i < web->count; i++) {
    LLVMInstructionEraseFromParent(web->phis[i]);
  }
}

// --- All of them -------------------------------------------------------------

// True if a pointer has an index of fewer bits than an address.
static bool has_narrow_index(LLVMValueRef value) {
  for (; LLVMIsAGetElementPtrInst(value); value = LLVMGetOperand(value, 0)) {
    for (int k = 1; k < LLVMGetNumOperands(value); k++) {
      LLVMValueRef index = LLVMGetOperand(value, (unsigned)k);
      if (LLVMIsAZExtInst(index) || LLVMIsASExtInst(index)) {
        return true;
      }
    }
  }
  return false;
}

static bool may_be_carried(LLVMValueRef phi) {
  for (unsigned k = 0; k < LLVMCountIncoming(phi); k++) {
    if (has_narrow_index(LLVMGetIncomingValue(phi, k))) {
      return true;
    }
  }
  return false;
}

// Appends phis of loop headers that may be such pointers.
static void collect(const lanes_graph *graph, mtlc_values *phis) {
  for (uint32_t l = 0; l < graph->loop_count; l++) {
    LLVMBasicBlockRef header = graph->nodes[graph->loops[l].header].block;
    for (LLVMValueRef i = LLVMGetFirstInstruction(header);
         i && LLVMIsAPHINode(i); i = LLVMGetNextInstruction(i)) {
      if (is_pointer_phi(i) && may_be_carried(i)) {
        mtlc_values_add(phis, i);
      }
    }
  }
}

bool lanes_may_have_pointer_inductions(const lanes_graph *graph) {
  mtlc_values phis = {0};
  collect(graph, &phis);
  free(phis.items);
  return phis.count > 0;
}

bool lanes_rewrite_pointer_inductions(const lanes_values *values) {
  bool any = false;
  mtlc_values phis = {0};
  collect(values->graph, &phis);
  for (size_t i = 0; i < phis.count; i++) {
    pointer_web web = {.values = values};
    // The first phi of a web includes the others.
    if (phis.items[i] && find_web(&web, phis.items[i])) {
      for (size_t k = i + 1; k < phis.count; k++) {
        if (index_of(&web, phis.items[k]) >= 0) {
          phis.items[k] = NULL;
        }
      }
      LLVMBuilderRef builder =
          LLVMCreateBuilderInContext(LLVMGetTypeContext(LLVMTypeOf(web.base)));
      rewrite_web(&web, builder);
      LLVMDisposeBuilder(builder);
      any = true;
    }
  }
  free(phis.items);
  return any;
}
