// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// row_copies.c: finds copies between buffers and threadgroup memory, as where a
// threadgroup loads tiles: each thread loads some adjacent elements, may
// convert them, and stores them adjacent.
#include "compiler/vectorize/plan/access/forms/row_copies.h"

#include <stddef.h>

#include "compiler/ir/llvm/instructions.h"
#include "compiler/vectorize/analysis/callees.h"
#include "compiler/vectorize/analysis/effects.h"
#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/analysis/uniformity.h"
#include "compiler/vectorize/base/tables.h"
#include "compiler/vectorize/plan/access/access.h"
#include "compiler/vectorize/plan/access/planning.h"

enum {
  LEAST_BYTES = 8,   // of one thread
  MOST_STEPS = 64,   // instructions between load and store
  DEEPEST_BASE = 3,  // phis of phis followed
};

// True if a value has one user, in the same block.
static bool is_for(LLVMValueRef value, LLVMValueRef user) {
  LLVMUseRef use = LLVMGetFirstUse(value);
  return use && !LLVMGetNextUse(use) && LLVMGetUser(use) == user &&
         LLVMGetInstructionParent(value) == LLVMGetInstructionParent(user);
}

typedef enum memory_kind { UNKNOWN, DEVICE, THREADGROUP } memory_kind;

static memory_kind kind_of(const lanes_planning *p, LLVMValueRef address,
                           uint32_t depth) {
  LLVMValueRef base = mtlc_root_of(address);
  if (LLVMIsACallInst(base)) {
    return lanes_is_in_threadgroup(p->kernel, base)         ? THREADGROUP
           : lanes_callee_of(base) == LANES_CALLEE_ARGUMENT ? DEVICE
                                                            : UNKNOWN;
  }
  if (!LLVMIsAPHINode(base) || depth == DEEPEST_BASE) {
    return UNKNOWN;
  }
  bool any[THREADGROUP + 1] = {false};
  for (unsigned k = 0; k < LLVMCountIncoming(base); k++) {
    LLVMValueRef value = mtlc_root_of(LLVMGetIncomingValue(base, k));
    if (value != base) {
      any[kind_of(p, value, depth + 1)] = true;
    }
  }
  return any[UNKNOWN] || any[DEVICE] == any[THREADGROUP] ? UNKNOWN
         : any[DEVICE]                                   ? DEVICE
                                                         : THREADGROUP;
}

// True if the two addresses are in different kinds of memory, so that no lane
// loads what another stores, and nothing writes to the source in between.
static bool may_move(const lanes_planning *p, const lanes_row_copy *copy) {
  const memory_kind from = kind_of(p, LLVMGetOperand(copy->load, 0), 0);
  const memory_kind to = kind_of(p, LLVMGetOperand(copy->store, 1), 0);
  if (from == UNKNOWN || to == UNKNOWN || from == to) {
    return false;
  }
  LLVMValueRef i = LLVMGetNextInstruction(copy->load);
  for (uint32_t n = 0; i && n < MOST_STEPS; n++) {
    if (i == copy->store) {
      return true;
    }
    const bool harmless = mtlc_is_opcode(i, LLVMStore) && lanes_is_plain(i) &&
                          kind_of(p, LLVMGetOperand(i, 1), 0) == to;
    if (lanes_may_write(i) && !harmless) {
      return false;
    }
    i = LLVMGetNextInstruction(i);
  }
  return false;
}

static bool find_copy(const lanes_planning *p, LLVMValueRef store,
                      lanes_row_copy *out_copy) {
  if (!mtlc_is_opcode(store, LLVMStore)) {
    return false;
  }
  LLVMValueRef value = LLVMGetOperand(store, 0);
  *out_copy = (lanes_row_copy){.store = store};
  LLVMValueRef user = store;
  if (mtlc_is_opcode(value, LLVMFPTrunc) || mtlc_is_opcode(value, LLVMFPExt)) {
    out_copy->conversion = value;
    if (!is_for(value, user)) {
      return false;
    }
    user = value;
    value = LLVMGetOperand(value, 0);
  }
  out_copy->load = value;
  return mtlc_is_opcode(value, LLVMLoad) && is_for(value, user) &&
         lanes_is_plain(value) && lanes_is_plain(store) &&
         LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMVectorTypeKind &&
         may_move(p, out_copy);
}

// True for whole-byte elements whose address differs between lanes.
static bool is_row(const lanes_access *a) {
  const uint64_t bytes = a->count * a->size_bytes;
  return a->element == a->type && a->pitch_bytes == a->size_bytes &&
         LLVMGetTypeKind(a->type) != LLVMPointerTypeKind &&
         !lanes_is_uniform(a->shape) && bytes >= LEAST_BYTES &&
         bytes <= LANES_COPIED_BYTES && !(bytes & (bytes - 1));
}

static bool is_vector(const lanes_access *a) {
  return !a->shape.conditional &&
         (lanes_stride_elements(a) || lanes_is_by_segments(a));
}

static bool is_worth_it(const lanes_planning *p, lanes_row_copy *copy) {
  LLVMValueRef value = LLVMGetOperand(copy->store, 0);
  copy->from =
      lanes_access_of(p->values, copy->load, LLVMGetOperand(copy->load, 0),
                      LLVMTypeOf(copy->load));
  copy->to = lanes_access_of(p->values, copy->store,
                             LLVMGetOperand(copy->store, 1), LLVMTypeOf(value));
  return is_row(&copy->from) && is_row(&copy->to) &&
         !(is_vector(&copy->from) && is_vector(&copy->to));
}

bool lanes_find_row_copy(const lanes_planning *p, LLVMValueRef store,
                         lanes_row_copy *out_copy) {
  const uint32_t n = lanes_map_get(&p->values->numbers, store);
  return !p->values->masked[p->values->nodes[n]] &&
         find_copy(p, store, out_copy) && is_worth_it(p, out_copy);
}
