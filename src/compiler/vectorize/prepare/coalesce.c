// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// coalesce.c: coalesces the accesses of threads that each own a block of
// neighbouring elements:
//
//   for (uint i = 0; i < 8; i++)
//     y[8 * t + i] = f(x[8 * t + i]);
//
// Unrolled, each line is a chain from loads to a store, and all chains compute
// the same of their own element. So it does not matter which lane computes
// which: chain i of lane l takes element 32 * i + l of the simdgroup's in place
// of 8 * l + i. Each access is then one vector, where it was a transposition.
// The whole block is exchanged or nothing is: what a chain computes may go
// nowhere but to its store.
#include "compiler/vectorize/prepare/coalesce.h"

#include <llvm-c/Target.h>
#include <stddef.h>

#include "compiler/ir/llvm/calls.h"
#include "compiler/ir/llvm/instructions.h"
#include "compiler/ir/llvm/marks.h"
#include "compiler/ir/llvm/types.h"
#include "compiler/vectorize/analysis/addresses/affine.h"
#include "compiler/vectorize/analysis/callees.h"
#include "compiler/vectorize/analysis/effects.h"
#include "compiler/vectorize/analysis/graph.h"
#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/base/tables.h"
#include "compiler/vectorize/prepare/hoist_loads.h"

enum {
  MOST_CHAINS = 32,
  MOST_STORES = 64,  // of a block
  MOST_DEPTH = 24,   // operations from a store down to loads
};

// A use of a value that is different in each chain.
typedef struct exchange {
  LLVMValueRef user;
  unsigned operand;
  uint32_t chain;
  int64_t step;  // difference from one element to the next
} exchange;

typedef struct coalescer {
  mtlc_kernel *kernel;
  const lanes_values *values;
  uint32_t node;
  uint32_t chain_count;    // the same for all of a block's groups
  LLVMValueRef *stores;    // [store_count] of the block, in order
  uint32_t store_count;
  uint32_t *groups;        // [store_count] number of the first store of its
                           // group
  uint8_t *chains;         // [values->count] chain that computes it, from 1; 0
                           // for none
  LLVMValueRef *firsts;    // [values->count] the corresponding value of the
                           // first chain
  exchange *exchanges;     // [exchange_count]
  uint32_t exchange_count;
  uint32_t exchange_capacity;
} coalescer;

static uint32_t number_of(const coalescer *c, LLVMValueRef value) {
  return LLVMIsAInstruction(value)
             ? lanes_map_get(&c->values->numbers, value)
             : LANES_NONE;
}

static bool is_here(const coalescer *c, LLVMValueRef value) {
  const uint32_t number = number_of(c, value);
  return number != LANES_NONE && c->values->nodes[number] == c->node;
}

static void add_exchange(coalescer *c, LLVMValueRef user, unsigned operand,
                         uint32_t chain, int64_t step) {
  c->exchanges = lanes_make_room(c->values->arena, c->exchanges,
                                 c->exchange_count, &c->exchange_capacity, 32,
                                 sizeof *c->exchanges);
  c->exchanges[c->exchange_count++] = (exchange){user, operand, chain, step};
}

// --- Chains ------------------------------------------------------------------

// Returns by how much a value rises from element to element, if it rises evenly
// over lanes; else 0.
static int64_t step_of(const coalescer *c, LLVMValueRef value) {
  const lanes_shape shape = lanes_shape_of(c->values, value);
  const int64_t count = c->chain_count;
  return shape.row == shape.lanes && !shape.conditional && shape.stride > 0 &&
                 shape.stride % count == 0
             ? shape.stride / count
             : 0;
}

static uint32_t private_of(const coalescer *c, LLVMValueRef pointer) {
  const uint32_t number = number_of(c, pointer);
  return number == LANES_NONE ? LANES_NONE : c->values->private_of[number];
}

// True for memory that lanes share.
static bool is_shared(const coalescer *c, LLVMValueRef pointer) {
  LLVMValueRef root = mtlc_root_of(pointer);
  return private_of(c, pointer) == LANES_NONE && LLVMIsACallInst(root) &&
         lanes_callee_of(root) == LANES_CALLEE_ARGUMENT;
}

// Returns by how many bytes an address is after another; false if that is not
// known.
static bool distance_of(const coalescer *c, LLVMValueRef from, LLVMValueRef to,
                        int64_t *out_bytes) {
  lanes_affine a, b;
  lanes_affine_find(c->values, from, &a);
  lanes_affine_find(c->values, to, &b);
  *out_bytes = lanes_affine_distance(&a, &b);
  return lanes_affine_like(&a, &b) && !lanes_affine_may_wrap(c->values, &a, &b);
}

// True if a chain's address corresponds to the first chain's, one element
// further each, or both are the same.
static bool match_addresses(coalescer *c, LLVMValueRef user, unsigned operand,
                            LLVMValueRef first, uint32_t chain) {
  LLVMValueRef pointer = LLVMGetOperand(user, operand);
  int64_t bytes = 0;
  if (lanes_is_uniform(lanes_shape_of(c->values, pointer))) {
    return pointer == first;
  }
  const int64_t step = step_of(c, pointer);
  if (!step || step != step_of(c, first) || !is_shared(c, pointer) ||
      !distance_of(c, first, pointer, &bytes) || bytes != step * chain) {
    return false;
  }
  add_exchange(c, user, operand, chain, step);
  return true;
}

// True if the numbers of elements match in the same way.
static bool match_numbers(coalescer *c, LLVMValueRef user, unsigned operand,
                          LLVMValueRef first, uint32_t chain) {
  LLVMValueRef number = LLVMGetOperand(user, operand);
  if (LLVMGetTypeKind(LLVMTypeOf(number)) != LLVMIntegerTypeKind) {
    return false;
  }
  const int64_t step = step_of(c, number);
  lanes_affine from, to;
  if (!step || step != step_of(c, first) ||
      !lanes_affine_find_number(first, &from) ||
      !lanes_affine_find_number(number, &to) ||
      !lanes_affine_like(&from, &to) ||
      lanes_affine_distance(&from, &to) != step * chain) {
    return false;
  }
  add_exchange(c, user, operand, chain, step);
  return true;
}

static bool have_same_mask(LLVMValueRef a, LLVMValueRef b) {
  const unsigned count = LLVMGetNumMaskElements(a);
  bool same = LLVMGetNumMaskElements(b) == count;
  for (unsigned i = 0; same && i < count; i++) {
    same = LLVMGetMaskValue(a, i) == LLVMGetMaskValue(b, i);
  }
  return same;
}

static bool have_same_flags(LLVMValueRef a, LLVMValueRef b) {
  switch (LLVMGetInstructionOpcode(a)) {
    case LLVMAdd:
    case LLVMSub:
    case LLVMMul:
    case LLVMShl:
      return LLVMGetNUW(a) == LLVMGetNUW(b) && LLVMGetNSW(a) == LLVMGetNSW(b);
    case LLVMUDiv:
    case LLVMSDiv:
    case LLVMLShr:
    case LLVMAShr: return LLVMGetExact(a) == LLVMGetExact(b);
    case LLVMOr: return LLVMGetIsDisjoint(a) == LLVMGetIsDisjoint(b);
    case LLVMZExt: return LLVMGetNNeg(a) == LLVMGetNNeg(b);
    default:
      return !LLVMCanValueUseFastMathFlags(a) ||
             LLVMGetFastMathFlags(a) == LLVMGetFastMathFlags(b);
  }
}

// True if two instructions have the same operation.
static bool do_the_same(LLVMValueRef a, LLVMValueRef b) {
  if (LLVMGetInstructionOpcode(a) != LLVMGetInstructionOpcode(b) ||
      LLVMTypeOf(a) != LLVMTypeOf(b) || !have_same_flags(a, b)) {
    return false;
  }
  switch (LLVMGetInstructionOpcode(a)) {
    case LLVMICmp: return LLVMGetICmpPredicate(a) == LLVMGetICmpPredicate(b);
    case LLVMFCmp: return LLVMGetFCmpPredicate(a) == LLVMGetFCmpPredicate(b);
    case LLVMShuffleVector: return have_same_mask(a, b);
    case LLVMCall:
      return lanes_callee_of(a) == LANES_CALLEE_ELEMENTWISE &&
             !lanes_is_convergent(a) && !lanes_may_write(a) &&
             LLVMGetCalledValue(a) == LLVMGetCalledValue(b);
    case LLVMLoad: return lanes_is_plain(a) && lanes_is_plain(b);
    case LLVMSelect:
    case LLVMFreeze:
    case LLVMFNeg:
    case LLVMExtractElement:
    case LLVMInsertElement: return true;
    default: return LLVMIsABinaryOperator(a) || LLVMIsACastInst(a);
  }
}

static bool match_operand(coalescer *c, LLVMValueRef user, unsigned operand,
                          LLVMValueRef first, uint32_t chain, uint32_t depth);

// True if a chain's value corresponds to the first chain's.
static bool match_values(coalescer *c, LLVMValueRef value, LLVMValueRef first,
                         uint32_t chain, uint32_t depth) {
  if (!depth || !is_here(c, value) || !is_here(c, first) ||
      !do_the_same(value, first)) {
    return false;
  }
  const uint32_t number = number_of(c, value);
  if (c->chains[number]) {
    return c->chains[number] == chain + 1 && c->firsts[number] == first;
  }
  c->chains[number] = (uint8_t)(chain + 1);
  c->firsts[number] = first;
  if (LLVMIsALoadInst(value)) {
    return match_addresses(c, value, 0, LLVMGetOperand(first, 0), chain);
  }
  for (unsigned k = 0; k < lanes_operand_count(value); k++) {
    if (!match_operand(c, value, k, LLVMGetOperand(first, k), chain,
                       depth - 1)) {
      return false;
    }
  }
  return true;
}

static bool match_operand(coalescer *c, LLVMValueRef user, unsigned operand,
                          LLVMValueRef first, uint32_t chain, uint32_t depth) {
  LLVMValueRef value = LLVMGetOperand(user, operand);
  if (lanes_is_uniform(lanes_shape_of(c->values, value))) {
    return value == first;
  }
  return match_numbers(c, user, operand, first, chain) ||
         match_values(c, value, first, chain, depth);
}

// --- Groups of stores --------------------------------------------------------

static uint64_t size_of(const coalescer *c, LLVMValueRef store) {
  return LLVMStoreSizeOfType(c->values->data,
                             LLVMTypeOf(LLVMGetOperand(store, 0)));
}

// Finds the stores adjacent to one, ordered by address. Returns their count; 0
// if they do not cover all elements of a lane.
static uint32_t find_group(coalescer *c, uint32_t at,
                           LLVMValueRef group[MOST_CHAINS]) {
  LLVMValueRef one = c->stores[at];
  LLVMValueRef pointer = LLVMGetOperand(one, 1);
  const lanes_shape shape = lanes_shape_of(c->values, pointer);
  const int64_t size = (int64_t)size_of(c, one);
  const int64_t count = shape.stride / size;
  if (shape.row != shape.lanes || shape.conditional || shape.stride % size ||
      count < 2 || count > MOST_CHAINS || !is_shared(c, pointer)) {
    return 0;
  }
  int64_t lowest = 0;
  uint32_t members[MOST_CHAINS], found = 0;
  for (uint32_t i = at; i < c->store_count && found < count; i++) {
    int64_t bytes = 0;
    if (c->groups[i] == LANES_NONE && size_of(c, c->stores[i]) == (uint64_t)size &&
        distance_of(c, pointer, LLVMGetOperand(c->stores[i], 1), &bytes) &&
        bytes > -shape.stride && bytes < shape.stride && bytes % size == 0) {
      lowest = bytes < lowest ? bytes : lowest;
      members[found++] = i;
    }
  }
  for (uint32_t i = 0; i < found; i++) {
    int64_t bytes = 0;
    distance_of(c, pointer, LLVMGetOperand(c->stores[members[i]], 1), &bytes);
    const int64_t place = (bytes - lowest) / size;
    if (place >= count || group[place]) {
      return 0;
    }
    group[place] = c->stores[members[i]];
    c->groups[members[i]] = at;
  }
  return found == count ? found : 0;
}

// Matches the chains of the group that begins with a store.
static bool match_group(coalescer *c, uint32_t at) {
  LLVMValueRef group[MOST_CHAINS] = {0};
  const uint32_t count = find_group(c, at, group);
  if (count == 0 || (c->chain_count && c->chain_count != count)) {
    return false;
  }
  c->chain_count = count;
  for (uint32_t i = 0; i < count; i++) {
    c->chains[number_of(c, group[i])] = (uint8_t)(i + 1);
    if (!match_addresses(c, group[i], 1, LLVMGetOperand(group[0], 1), i) ||
        !match_operand(c, group[i], 0, LLVMGetOperand(group[0], 0), i,
                       MOST_DEPTH)) {
      return false;
    }
  }
  return true;
}

// --- Blocks ------------------------------------------------------------------

// Collects a block's stores. False if something else writes, or loads after one
// of them.
static bool find_stores(coalescer *c, LLVMBasicBlockRef block) {
  c->store_count = 0;
  for (LLVMValueRef i = LLVMGetFirstInstruction(block); i;
       i = LLVMGetNextInstruction(i)) {
    if (mtlc_is_opcode(i, LLVMStore) && lanes_is_plain(i) &&
        c->store_count < MOST_STORES) {
      c->stores[c->store_count++] = i;
    } else if (lanes_may_write(i) ||
               (mtlc_is_opcode(i, LLVMLoad) && c->store_count &&
                !mtlc_is_invariant(i))) {
      return false;
    }
  }
  return c->store_count > 1;
}

// True if two groups are to buffers known not to overlap. Stores to one buffer
// keep their order.
static bool are_apart(const coalescer *c, LLVMBasicBlockRef block, uint32_t a,
                      uint32_t b) {
  return lanes_has_loads_first(block) &&
         mtlc_root_of(LLVMGetOperand(c->stores[a], 1)) !=
             mtlc_root_of(LLVMGetOperand(c->stores[b], 1));
}

static bool keeps_order(const coalescer *c, LLVMBasicBlockRef block) {
  for (uint32_t i = 1; i < c->store_count; i++) {
    for (uint32_t k = 0; k < i && c->groups[i] == i; k++) {
      if (c->groups[k] == k && !are_apart(c, block, k, i)) {
        return false;
      }
    }
  }
  return true;
}

// True if no value of a chain is used outside it.
static bool are_closed(const coalescer *c, LLVMBasicBlockRef block) {
  for (LLVMValueRef i = LLVMGetFirstInstruction(block); i;
       i = LLVMGetNextInstruction(i)) {
    const uint32_t number = number_of(c, i);
    const uint8_t chain = number == LANES_NONE ? 0 : c->chains[number];
    for (LLVMUseRef use = chain ? LLVMGetFirstUse(i) : NULL; use;
         use = LLVMGetNextUse(use)) {
      const uint32_t user = number_of(c, LLVMGetUser(use));
      if (user == LANES_NONE || c->chains[user] != chain) {
        return false;
      }
    }
  }
  return true;
}

static bool match_block(coalescer *c, LLVMBasicBlockRef block) {
  c->chain_count = c->exchange_count = 0;
  if (!find_stores(c, block)) {
    return false;
  }
  for (uint32_t i = 0; i < c->store_count; i++) {
    c->groups[i] = LANES_NONE;
  }
  for (uint32_t i = 0; i < c->store_count; i++) {
    if (c->groups[i] == LANES_NONE && !match_group(c, i)) {
      return false;
    }
  }
  return keeps_order(c, block) && are_closed(c, block);
}

// --- Exchanging --------------------------------------------------------------

static LLVMValueRef lane_of(const coalescer *c, LLVMBuilderRef builder) {
  const mtlc_types types = mtlc_types_of(c->kernel->context);
  LLVMTypeRef parameters[] = {types.i32, types.i32};
  LLVMValueRef function =
      mtlc_declare(c->kernel->module, "mettle.position",
                   LLVMFunctionType(types.i32, parameters, 2, false));
  LLVMValueRef arguments[] = {
      mtlc_i32(c->kernel->context, MTLI_THREAD_INDEX_IN_SIMDGROUP),
      mtlc_i32(c->kernel->context, 0)};
  LLVMValueRef lane = mtlc_call(builder, function, arguments, 2);
  return c->values->lanes == MOST_LANES
             ? lane
             : LLVMBuildAnd(builder, lane,
                            mtlc_i32(c->kernel->context, c->values->lanes - 1u), "");
}

// Rewrites a use: chain i of lane l now does element lanes * i + l, which is
// (lanes - 1) * i - (count - 1) * l after element count * l + i.
static void exchange_one(const coalescer *c, LLVMBuilderRef builder,
                         LLVMValueRef lane, const exchange *x) {
  LLVMValueRef value = LLVMGetOperand(x->user, x->operand);
  const bool is_address =
      LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMPointerTypeKind;
  const mtlc_types types = mtlc_types_of(c->kernel->context);
  LLVMTypeRef type = is_address ? types.i64 : LLVMTypeOf(value);
  const int64_t by_lane = -x->step * (int64_t)(c->chain_count - 1);
  const int64_t by_chain = x->step * (int64_t)(c->values->lanes - 1) * x->chain;
  LLVMPositionBuilderBefore(builder, LLVMGetNextInstruction(lane));
  LLVMValueRef wide = LLVMBuildIntCast2(builder, lane, type, false, "");
  LLVMValueRef back =
      LLVMBuildMul(builder, wide,
                   LLVMConstInt(type, (unsigned long long)by_lane, true), "");
  LLVMPositionBuilderBefore(builder, x->user);
  LLVMValueRef on = LLVMConstInt(type, (unsigned long long)by_chain, true);
  if (is_address) {
    value = LLVMBuildGEP2(builder, types.i8, value, &back, 1, "");
    value = LLVMBuildGEP2(builder, types.i8, value, &on, 1, "");
  } else {
    value = LLVMBuildAdd(builder, LLVMBuildAdd(builder, value, back, ""), on,
                         "");
  }
  LLVMSetOperand(x->user, x->operand, value);
}

static void exchange_all(const coalescer *c, LLVMBasicBlockRef block) {
  LLVMBuilderRef builder = LLVMCreateBuilderInContext(c->kernel->context);
  mtlc_position_behind_phis(builder, LLVMGetFirstInstruction(block));
  LLVMValueRef lane = lane_of(c, builder);
  for (uint32_t i = 0; i < c->exchange_count; i++) {
    exchange_one(c, builder, lane, &c->exchanges[i]);
  }
  LLVMDisposeBuilder(builder);
}

uint32_t lanes_coalesce(mtlc_kernel *kernel, const lanes_values *values) {
  mtli_arena *arena = values->arena;
  coalescer c = {
      .kernel = kernel,
      .values = values,
      .stores = lanes_allocate(arena, MOST_STORES, sizeof *c.stores),
      .groups = lanes_allocate(arena, MOST_STORES, sizeof *c.groups),
      .chains = lanes_allocate(arena, values->count, sizeof *c.chains),
      .firsts = lanes_allocate(arena, values->count, sizeof *c.firsts)};
  uint32_t count = 0;
  for (uint32_t n = 0; n < values->graph->node_count; n++) {
    const lanes_node *node = &values->graph->nodes[n];
    c.node = n;
    if (node->kind == LANES_BLOCK && !values->masked[n] &&
        match_block(&c, node->block)) {
      exchange_all(&c, node->block);
      count++;
    }
  }
  return count;
}
