// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// packed_vectors.c: finds short vectors of the kernel, such as half4, that can
// stay packed as in memory: lane 0's components, then lane 1's, in one vector.
// Otherwise a vector's components are 32 lanes each, which shuffles
// deinterleave and interleave. Additions and multiplications of whole vectors
// between contiguous loads and stores need no shuffles, nor do sums in loops.
#include "compiler/vectorize/plan/access/forms/packed_vectors.h"

#include <llvm-c/Target.h>
#include <stddef.h>

#include "compiler/ir/llvm/calls.h"
#include "compiler/vectorize/analysis/callees.h"
#include "compiler/vectorize/analysis/effects.h"
#include "compiler/vectorize/analysis/graph.h"
#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/analysis/uniformity.h"
#include "compiler/vectorize/base/tables.h"
#include "compiler/vectorize/plan/access/planning.h"

enum {
  MOST_COMPONENTS = 4,
  LEAST_ROW = 4,   // adjacent lanes
  TURNS_BITS = 3,  // iterations of a loop counted as this power of two
  MOST_DEPTH = 4,  // loops deeper than this count as this deep
};

typedef struct packing {
  const lanes_values *values;
  const lanes_graph *graph;
  mtli_arena *arena;
  const bool *copied;
  lanes_packed *packed;
} packing;

static lanes_packed *whole_of(const packing *p, LLVMValueRef value) {
  const uint32_t number = LLVMIsAInstruction(value)
                              ? lanes_map_get(&p->values->numbers, value)
                              : LANES_NONE;
  return number == LANES_NONE ? NULL : &p->packed[number];
}

static uint32_t count_of(LLVMValueRef value) {
  return LLVMGetVectorSize(LLVMTypeOf(value));
}

static uint64_t size_of(const packing *p, LLVMTypeRef type) {
  return LLVMStoreSizeOfType(p->values->data, LLVMGetElementType(type));
}

static bool is_uniform(const packing *p, LLVMValueRef operand) {
  return lanes_is_uniform(lanes_shape_of(p->values, operand));
}

// True for vectors of two or four numbers of whole bytes.
static bool is_type(const packing *p, LLVMTypeRef type) {
  if (LLVMGetTypeKind(type) != LLVMVectorTypeKind) {
    return false;
  }
  const uint32_t count = LLVMGetVectorSize(type);
  LLVMTypeRef element = LLVMGetElementType(type);
  const uint64_t size = size_of(p, type);
  return (count == 2 || count == MOST_COMPONENTS) && size <= 4 &&
         LLVMGetTypeKind(element) != LLVMPointerTypeKind &&
         LLVMSizeOfTypeInBits(p->values->data, element) == 8 * size;
}

// True if lanes' vectors are adjacent.
static bool is_dense(const packing *p, LLVMValueRef access,
                     LLVMValueRef pointer, LLVMTypeRef type) {
  const lanes_packed *whole = whole_of(p, pointer);
  if (!whole || !lanes_is_plain(access) || !is_type(p, type)) {
    return false;
  }
  const lanes_shape shape = lanes_shape_of(p->values, pointer);
  const bool is_private =
      p->values->private_of[whole - p->packed] != LANES_NONE;
  return !is_private && shape.row >= LEAST_ROW &&
         shape.stride == (int64_t)(LLVMGetVectorSize(type) * size_of(p, type));
}

// True for elementwise operations but divisions, whose divisor may be zero
// where no thread runs.
static bool is_elementwise(LLVMValueRef i) {
  static const char *const calls[] = {
      "llvm.fma.",  "llvm.fmuladd.", "llvm.fabs.", "llvm.sqrt.",
      "llvm.smin.", "llvm.smax.",    "llvm.umin.", "llvm.umax."};
  for (size_t k = 0; LLVMIsACallInst(i) && k < sizeof calls / sizeof *calls;
       k++) {
    if (mtlc_is_call_of(i, calls[k])) {
      return true;
    }
  }
  switch (LLVMGetInstructionOpcode(i)) {
    case LLVMUDiv:
    case LLVMSDiv:
    case LLVMURem:
    case LLVMSRem:
    case LLVMFRem:
    case LLVMFPToUI:
    case LLVMFPToSI: return false;
    case LLVMFNeg: return true;
    default: return LLVMIsABinaryOperator(i) || LLVMIsACastInst(i);
  }
}

// True if all threads reach a phi by the same edge.
static bool has_one_active_edge(const packing *p, LLVMValueRef phi) {
  const lanes_values *values = p->values;
  const uint32_t node = values->nodes[whole_of(p, phi) - p->packed];
  bool is_one = !values->masked[node] && !lanes_diverges_before(values, node);
  for (unsigned k = 0; k < LLVMCountIncoming(phi); k++) {
    const uint32_t from =
        lanes_map_get(&p->graph->blocks, LLVMGetIncomingBlock(phi, k));
    is_one &= from == LANES_NONE || !values->masked[from];
  }
  return is_one;
}

// True if an instruction can stay packed if its operands do.
static bool is_candidate(const packing *p, LLVMValueRef i) {
  if (LLVMIsALoadInst(i)) {
    return is_dense(p, i, LLVMGetOperand(i, 0), LLVMTypeOf(i));
  }
  if (LLVMIsAStoreInst(i)) {
    return is_dense(p, i, LLVMGetOperand(i, 1),
                    LLVMTypeOf(LLVMGetOperand(i, 0)));
  }
  if (!is_type(p, LLVMTypeOf(i)) || is_uniform(p, i)) {
    return false;
  }
  if (LLVMIsAPHINode(i)) {
    return has_one_active_edge(p, i);
  }
  for (unsigned k = 0; k < lanes_operand_count(i); k++) {
    LLVMValueRef operand = LLVMGetOperand(i, k);
    if (!is_type(p, LLVMTypeOf(operand)) || count_of(operand) != count_of(i)) {
      return false;
    }
  }
  return is_elementwise(i);
}

static bool parts_segments(LLVMValueRef i) {
  return LLVMIsACallInst(i) && lanes_may_write(i);
}

static void find_candidates(packing *p) {
  uint32_t segment = 0;
  for (uint32_t n = 0; n < p->graph->node_count; n++) {
    LLVMBasicBlockRef block = p->graph->nodes[n].block;
    segment++;
    for (LLVMValueRef i = block ? LLVMGetFirstInstruction(block) : NULL; i;
         i = LLVMGetNextInstruction(i)) {
      segment += parts_segments(i);
      lanes_packed *whole = whole_of(p, i);
      if (!whole) {
        continue;
      }
      const uint32_t number = (uint32_t)(whole - p->packed);
      if (!p->copied[number] && is_candidate(p, i)) {
        *whole =
            (lanes_packed){.segment = segment, .group = number, .is_in = true};
      }
    }
  }
}

static bool are_together(const packing *p, LLVMValueRef value,
                         LLVMValueRef user) {
  const lanes_packed *a = whole_of(p, value), *b = whole_of(p, user);
  return a && b && a->is_in && b->is_in;
}

// True if no component of a value is used separately.
static bool is_only_whole(const packing *p, LLVMValueRef value) {
  for (LLVMUseRef use = LLVMGetFirstUse(value); use;
       use = LLVMGetNextUse(use)) {
    if (!are_together(p, value, LLVMGetUser(use))) {
      return false;
    }
  }
  return true;
}

static int first_operand(LLVMValueRef i) {
  return LLVMIsALoadInst(i) ? 1 : 0;  // addresses do not count as operands here
}

static int operand_count(LLVMValueRef i) {
  return LLVMIsAStoreInst(i) ? 1 : (int)lanes_operand_count(i);
}

// True if all operands are packed or uniform, at least one is packed, and no
// other user wants its components: packed values then exist anyway, and cost
// nothing.
static bool has_whole_operands(const packing *p, LLVMValueRef i) {
  bool any = LLVMIsALoadInst(i) != NULL;
  for (int k = first_operand(i); k < operand_count(i); k++) {
    LLVMValueRef operand = LLVMGetOperand(i, (unsigned)k);
    if (is_uniform(p, operand)) {
      continue;
    }
    if (!are_together(p, operand, i) || !is_only_whole(p, operand)) {
      return false;
    }
    any = true;
  }
  return any;
}

static void leave_out_the_rest(packing *p) {
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t n = 0; n < p->values->count; n++) {
      lanes_packed *whole = &p->packed[n];
      if (whole->is_in && !has_whole_operands(p, p->values->items[n])) {
        whole->is_in = false;
        changed = true;
      }
    }
  }
}

// Puts instructions that use each other's results into one group.
static void join_groups(packing *p) {
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t n = 0; n < p->values->count; n++) {
      LLVMValueRef i = p->values->items[n];
      lanes_packed *whole = &p->packed[n];
      for (int k = first_operand(i); whole->is_in && k < operand_count(i);
           k++) {
        lanes_packed *other = whole_of(p, LLVMGetOperand(i, (unsigned)k));
        if (other && other->is_in && other->group != whole->group) {
          const uint32_t least =
              other->group < whole->group ? other->group : whole->group;
          other->group = whole->group = least;
          changed = true;
        }
      }
    }
  }
}

// Returns the cost of splitting a vector, or of assembling one: about as many
// as the shuffles of a machine with 64-byte registers.
static int32_t cost_of(const packing *p, LLVMTypeRef type) {
  static const int32_t by_size[] = {[1] = 14, [2] = 24, [4] = 16};
  return by_size[size_of(p, type)] * (int32_t)LLVMGetVectorSize(type);
}

// Returns about how often an instruction runs.
static int64_t turns_of(const packing *p, uint32_t number) {
  uint32_t depth = 0;
  for (uint32_t loop = p->graph->nodes[p->values->nodes[number]].loop;
       loop != LANES_NONE && depth < MOST_DEPTH;
       loop = p->graph->loops[loop].parent) {
    depth++;
  }
  return INT64_C(1) << TURNS_BITS * depth;
}

// Drops groups that do not pay: unpacking their values costs as much as packed
// loads and stores save.
static void leave_out_losses(packing *p) {
  int64_t *gains = lanes_allocate(p->arena, p->values->count, sizeof *gains);
  for (uint32_t n = 0; n < p->values->count; n++) {
    LLVMValueRef i = p->values->items[n];
    lanes_packed *whole = &p->packed[n];
    if (!whole->is_in) {
      continue;
    }
    const int64_t turns = turns_of(p, n);
    if (LLVMIsAStoreInst(i)) {
      gains[whole->group] +=
          turns * cost_of(p, LLVMTypeOf(LLVMGetOperand(i, 0)));
      continue;
    }
    const int64_t cost = turns * cost_of(p, LLVMTypeOf(i));
    whole->is_apart = !is_only_whole(p, i);
    gains[whole->group] += LLVMIsALoadInst(i) ? cost : 0;
    gains[whole->group] -= whole->is_apart ? cost : 0;
  }
  for (uint32_t n = 0; n < p->values->count; n++) {
    p->packed[n].is_in &= gains[p->packed[n].group] > 0;
  }
}

lanes_packed *lanes_find_packed(const lanes_planning *planning,
                                const bool *copied) {
  const uint32_t count = planning->values->count;
  packing p = {.values = planning->values,
               .graph = planning->graph,
               .arena = planning->arena,
               .copied = copied};
  p.packed = lanes_allocate(p.arena, count, sizeof *p.packed);
  find_candidates(&p);
  leave_out_the_rest(&p);
  join_groups(&p);
  leave_out_losses(&p);
  return p.packed;
}
