// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hoist_loads.c: moves loads above earlier stores. Steps of an unrolled loop,
// or statements repeated for each component, load, compute and store in turn,
// and a step may load what the one before has stored. With all stores last, a
// thread's loads are adjacent, and so are its stores, and each is one vector
// (lane_vectors.c, store_group.c). Buffers almost never overlap: one run-time
// check for all threads confirms it, and both versions of the block are kept.
#include "compiler/vectorize/prepare/hoist_loads.h"

#include <llvm-c/Target.h>
#include <stddef.h>

#include "compiler/ir/kernel/kernel.h"
#include "compiler/ir/llvm/calls.h"
#include "compiler/ir/llvm/instructions.h"
#include "compiler/ir/llvm/marks.h"
#include "compiler/ir/llvm/types.h"
#include "compiler/vectorize/analysis/addresses/affine.h"
#include "compiler/vectorize/analysis/callees.h"
#include "compiler/vectorize/analysis/effects.h"
#include "compiler/vectorize/analysis/graph.h"
#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/analysis/uniformity.h"
#include "compiler/vectorize/base/tables.h"

enum {
  MOST_PAIRS = 8,  // of buffers, tested at run time
  MOST_PHIS = 8,  // phis that an address depends on
  MOST_STORES = 64,
  MOST_LOADS = 64,    // tested for adjacent ones
  MOST_CLONED = 512,  // instructions
  LEAST_LOADS = 3,    // after the first store
};

// Mark the ends of the two versions of a block.
static const char first_mark[] = "mettle.loads_first";
static const char turns_mark[] = "mettle.loads_in_turn";

// --- What lies apart ---------------------------------------------------------

typedef enum relation { APART, SAME_PLACE, IF_APART, UNKNOWN } relation;

// A plain access, by the root of its address, which may be a loop's phi.
typedef struct memory_access {
  LLVMValueRef instruction;
  LLVMValueRef pointer;
  LLVMValueRef root;
  uint64_t bytes;
} memory_access;

static bool is_argument(LLVMValueRef root) {
  return LLVMIsACallInst(root) &&
         lanes_callee_of(root) == LANES_CALLEE_ARGUMENT;
}

static bool is_slot(LLVMValueRef root) {
  return is_argument(root) && !mtlc_is_marked(root, MTLC_THREADGROUP_MARK);
}

static bool is_own_kind(LLVMValueRef root) {
  return LLVMIsAAllocaInst(root) || (is_argument(root) && !is_slot(root)) ||
         (LLVMIsACallInst(root) &&
          lanes_callee_of(root) == LANES_CALLEE_THREADGROUP_MEMORY);
}

// The memory that an address may point to, found through the phis by which a
// loop steps the address.
typedef struct memory_kind {
  bool may_be_buffer, may_be_own, may_be_other;
  LLVMValueRef phis[MOST_PHIS];  // [phi_count] seen on the way
  uint32_t phi_count;
} memory_kind;

static void find_kind(memory_kind *kind, LLVMValueRef address) {
  LLVMValueRef root = mtlc_root_of(address);
  for (uint32_t i = 0; i < kind->phi_count; i++) {
    if (kind->phis[i] == root) {
      return;
    }
  }
  if (!LLVMIsAPHINode(root) || kind->phi_count == MOST_PHIS) {
    kind->may_be_buffer |= is_slot(root);
    kind->may_be_own |= is_own_kind(root);
    kind->may_be_other |= !is_slot(root) && !is_own_kind(root);
    return;
  }
  kind->phis[kind->phi_count++] = root;
  for (unsigned k = 0; k < LLVMCountIncoming(root); k++) {
    find_kind(kind, LLVMGetIncomingValue(root, k));
  }
}

bool lanes_lie_apart(LLVMValueRef a, LLVMValueRef b) {
  memory_kind kinds[2] = {0};
  find_kind(&kinds[0], a);
  find_kind(&kinds[1], b);
  return !kinds[0].may_be_other && !kinds[1].may_be_other &&
         !(kinds[0].may_be_buffer && kinds[1].may_be_buffer) &&
         !(kinds[0].may_be_own && kinds[1].may_be_own);
}

bool lanes_may_change(LLVMValueRef instruction, LLVMValueRef address) {
  return lanes_may_write(instruction) &&
         !(mtlc_is_opcode(instruction, LLVMStore) &&
           lanes_is_plain(instruction) &&
           lanes_lie_apart(LLVMGetOperand(instruction, 1), address));
}

static bool find_access(const lanes_values *values, LLVMValueRef i,
                        memory_access *out_access) {
  const bool is_store = mtlc_is_opcode(i, LLVMStore);
  LLVMValueRef pointer = LLVMGetOperand(i, is_store ? 1 : 0);
  LLVMTypeRef type = LLVMTypeOf(is_store ? LLVMGetOperand(i, 0) : i);
  *out_access =
      (memory_access){.instruction = i,
                      .pointer = pointer,
                      .root = mtlc_root_of(pointer),
                      .bytes = LLVMStoreSizeOfType(values->data, type)};
  memory_kind kind = {0};
  find_kind(&kind, pointer);
  return lanes_is_plain(i) && !kind.may_be_other;
}

// Returns how two addresses in one buffer differ for any threads.
static relation relation_of_places(const lanes_values *values,
                                   const memory_access *a,
                                   const memory_access *b) {
  lanes_affine at[2];
  lanes_affine_find(values, a->pointer, &at[0]);
  lanes_affine_find(values, b->pointer, &at[1]);
  if (!lanes_affine_like(&at[0], &at[1]) || at[0].bytes != at[1].bytes ||
      a->bytes != b->bytes) {
    return UNKNOWN;
  }
  if (at[0].constant == at[1].constant) {
    return SAME_PLACE;
  }
  return at[0].scale >= a->bytes ? APART : UNKNOWN;
}

static relation relation_of(const lanes_values *values, const memory_access *a,
                            const memory_access *b) {
  if (a->root == b->root) {
    return relation_of_places(values, a, b);
  }
  if (is_slot(a->root) && is_slot(b->root)) {
    return IF_APART;
  }
  return lanes_lie_apart(a->root, b->root) ? APART : UNKNOWN;
}

// --- Loops -------------------------------------------------------------------

bool lanes_steps_may_hoist_loads(const lanes_values *values,
                                LLVMBasicBlockRef block) {
  for (LLVMValueRef s = LLVMGetFirstInstruction(block); s;
       s = LLVMGetNextInstruction(s)) {
    memory_access store, other;
    if (!lanes_may_write(s)) {
      continue;
    }
    if (!mtlc_is_opcode(s, LLVMStore) || !find_access(values, s, &store)) {
      return false;
    }
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i;
         i = LLVMGetNextInstruction(i)) {
      const bool is_load = mtlc_is_opcode(i, LLVMLoad) && !mtlc_is_invariant(i);
      if (i == s || (!is_load && !mtlc_is_opcode(i, LLVMStore))) {
        continue;
      }
      if (!find_access(values, i, &other)) {
        return false;
      }
      const relation r = relation_of(values, &store, &other);
      if (r == UNKNOWN || (r == APART && store.root == other.root)) {
        return false;
      }
    }
  }
  return true;
}

// --- Blocks ------------------------------------------------------------------

// A block's stores, and the pairs of buffers that must not overlap.
typedef struct block_survey {
  LLVMValueRef first;  // the first instruction that touches memory
  memory_access stores[MOST_STORES];
  uint32_t store_count;
  memory_access loads[MOST_LOADS];  // the first ones
  uint32_t load_count;
  uint32_t early_loads;  // before the first store
  uint32_t late_loads;   // after the first store
  uint32_t pairs[MOST_PAIRS][2];
  uint32_t pair_count;
  bool fits;
} block_survey;

static uint32_t slot_of(const memory_access *a) {
  return (uint32_t)LLVMConstIntGetZExtValue(LLVMGetOperand(a->root, 0));
}

static void add_pair(block_survey *survey, uint32_t a, uint32_t b) {
  for (uint32_t i = 0; i < survey->pair_count; i++) {
    const uint32_t *pair = survey->pairs[i];
    if ((pair[0] == a && pair[1] == b) || (pair[0] == b && pair[1] == a)) {
      return;
    }
  }
  if (survey->pair_count == MOST_PAIRS) {
    survey->fits = false;
    return;
  }
  survey->pairs[survey->pair_count][0] = a;
  survey->pairs[survey->pair_count++][1] = b;
}

// Records the conditions for moving an access before earlier stores. Those to
// one buffer keep their order.
static void pass_stores(const lanes_values *values, block_survey *survey,
                        const memory_access *access, bool is_store) {
  for (uint32_t i = 0; i < survey->store_count; i++) {
    const memory_access *store = &survey->stores[i];
    if (is_store && store->root == access->root) {
      continue;
    }
    const relation r = relation_of(values, store, access);
    survey->fits &= r == APART || r == IF_APART;
    if (r == IF_APART) {
      add_pair(survey, slot_of(store), slot_of(access));
    }
  }
}

static void survey_instruction(const lanes_values *values, LLVMValueRef i,
                               block_survey *survey) {
  memory_access access;
  const bool is_store = mtlc_is_opcode(i, LLVMStore);
  if (!is_store && !mtlc_is_opcode(i, LLVMLoad)) {
    survey->fits &= !lanes_may_write(i);
    return;
  }
  if (!is_store && mtlc_is_invariant(i)) {
    return;
  }
  survey->first = survey->first ? survey->first : i;
  if (!is_store && survey->load_count < MOST_LOADS &&
      find_access(values, i, &access)) {
    survey->loads[survey->load_count++] = access;
    survey->early_loads += survey->store_count == 0;
  }
  if (!is_store && survey->store_count == 0) {
    survey->fits &= lanes_is_plain(i);
    return;
  }
  survey->fits &=
      find_access(values, i, &access) && survey->store_count < MOST_STORES;
  if (!survey->fits) {
    return;
  }
  pass_stores(values, survey, &access, is_store);
  if (is_store) {
    survey->stores[survey->store_count++] = access;
  } else {
    survey->late_loads++;
  }
}

// True if each thread has two adjacent elements, and neighbouring threads'
// elements are not adjacent.
static bool are_side_by_side(const lanes_values *values, const memory_access *a,
                             const memory_access *b) {
  lanes_affine at[2];
  const lanes_shape shape = lanes_shape_of(values, a->pointer);
  if (a->root != b->root || a->bytes != b->bytes ||
      (shape.row == values->lanes && shape.stride <= (int64_t)a->bytes)) {
    return false;
  }
  lanes_affine_find(values, a->pointer, &at[0]);
  lanes_affine_find(values, b->pointer, &at[1]);
  const int64_t distance = lanes_affine_distance(&at[0], &at[1]);
  return lanes_affine_like(&at[0], &at[1]) &&
         (distance == (int64_t)a->bytes || -distance == (int64_t)a->bytes);
}

// True if some two accesses of the block are such elements side by side, the
// later one being number `from` or above.
static bool has_rows(const lanes_values *values, const memory_access *accesses,
                     uint32_t from, uint32_t count) {
  for (uint32_t i = from; i < count; i++) {
    for (uint32_t k = 0; k < i; k++) {
      if (are_side_by_side(values, &accesses[k], &accesses[i])) {
        return true;
      }
    }
  }
  return false;
}

// True if adjacent loads, or stores, would come together.
static bool joins_rows(const lanes_values *values, const block_survey *survey) {
  return survey->late_loads &&
         (has_rows(values, survey->stores, 0, survey->store_count) ||
          has_rows(values, survey->loads, survey->early_loads,
                   survey->load_count));
}

static bool survey_block(const lanes_values *values, LLVMBasicBlockRef block,
                         bool is_unrolled, block_survey *survey) {
  uint32_t count = 0;
  survey->fits = true;
  for (LLVMValueRef i = LLVMGetFirstInstruction(block); i && survey->fits;
       i = LLVMGetNextInstruction(i)) {
    survey_instruction(values, i, survey);
    count++;
  }
  return survey->fits && count <= MOST_CLONED &&
         (is_unrolled ? survey->late_loads >= LEAST_LOADS
                      : joins_rows(values, survey));
}

// --- Two forms ---------------------------------------------------------------

typedef struct block_forms {
  mtlc_kernel *kernel;
  LLVMBuilderRef builder;
  LLVMBasicBlockRef head;   // the code before the first access
  LLVMBasicBlockRef first;  // the version with loads first
  LLVMBasicBlockRef turns;  // the version with its accesses in program order
  LLVMBasicBlockRef end;    // the block itself: its end
  LLVMValueRef *originals;  // [count] instructions of `turns`, in order
  LLVMValueRef *clones;     // [count]
  uint32_t count;
} block_forms;

static void move(LLVMBuilderRef builder, LLVMValueRef instruction,
                 LLVMBasicBlockRef to) {
  LLVMInstructionRemoveFromParent(instruction);
  LLVMPositionBuilderAtEnd(builder, to);
  LLVMInsertIntoBuilder(builder, instruction);
}

// Redirects control from the block to its head.
static void enter_head(const block_forms *f) {
  LLVMValueRef function = LLVMGetBasicBlockParent(f->end);
  for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block;
       block = LLVMGetNextBasicBlock(block)) {
    LLVMValueRef end = LLVMGetBasicBlockTerminator(block);
    for (unsigned k = 0; end && k < LLVMGetNumSuccessors(end); k++) {
      if (LLVMGetSuccessor(end, k) == f->end) {
        LLVMSetSuccessor(end, k, f->head);
      }
    }
  }
}

// Splits the block into head, `turns` and end; the version with loads first is
// a copy of `turns`.
static void part_block(block_forms *f, LLVMValueRef first_access) {
  LLVMValueRef next = NULL;
  LLVMBasicBlockRef to = f->head;
  LLVMValueRef end = LLVMGetBasicBlockTerminator(f->end);
  for (LLVMValueRef i = LLVMGetFirstInstruction(f->end); i != end; i = next) {
    next = LLVMGetNextInstruction(i);
    to = i == first_access ? f->turns : to;
    move(f->builder, i, to);
    if (to == f->turns) {
      f->originals[f->count++] = i;
    }
  }
}

static LLVMValueRef clone_of(const block_forms *f, LLVMValueRef value) {
  for (uint32_t i = f->count; i-- > 0;) {
    if (f->originals[i] == value) {
      return f->clones[i];
    }
  }
  return value;
}

static void clone_all(block_forms *f, LLVMValueRef *stores) {
  uint32_t store_count = 0;
  for (uint32_t i = 0; i < f->count; i++) {
    LLVMValueRef original = f->originals[i];
    LLVMValueRef clone = LLVMInstructionClone(original);
    for (unsigned k = 0; k < (unsigned)LLVMGetNumOperands(clone); k++) {
      LLVMSetOperand(clone, k, clone_of(f, LLVMGetOperand(original, k)));
    }
    f->clones[i] = clone;
    LLVMPositionBuilderAtEnd(f->builder, f->first);
    if (mtlc_is_opcode(clone, LLVMStore)) {
      stores[store_count++] = clone;
    } else {
      LLVMInsertIntoBuilder(f->builder, clone);
    }
  }
  // Stores to one buffer come together.
  for (uint32_t i = 0; i < store_count; i++) {
    LLVMValueRef root =
        stores[i] ? mtlc_root_of(LLVMGetOperand(stores[i], 1)) : NULL;
    for (uint32_t k = i; root && k < store_count; k++) {
      if (stores[k] && mtlc_root_of(LLVMGetOperand(stores[k], 1)) == root) {
        LLVMInsertIntoBuilder(f->builder, stores[k]);
        stores[k] = NULL;
      }
    }
  }
}

// Joins values that are used after both versions by phis.
static void join(const block_forms *f, uint32_t number) {
  LLVMValueRef original = f->originals[number];
  LLVMValueRef phi = NULL;
  LLVMUseRef next = NULL;
  for (LLVMUseRef use = LLVMGetFirstUse(original); use; use = next) {
    next = LLVMGetNextUse(use);
    LLVMValueRef user = LLVMGetUser(use);
    if (LLVMGetInstructionParent(user) == f->turns || user == phi) {
      continue;
    }
    if (!phi) {
      LLVMValueRef values[] = {original, f->clones[number]};
      LLVMBasicBlockRef blocks[] = {f->turns, f->first};
      LLVMPositionBuilderBefore(f->builder, LLVMGetFirstInstruction(f->end));
      phi = LLVMBuildPhi(f->builder, LLVMTypeOf(original), "");
      LLVMAddIncoming(phi, values, blocks, 2);
    }
    for (unsigned k = 0; k < (unsigned)LLVMGetNumOperands(user); k++) {
      if (LLVMGetOperand(user, k) == original) {
        LLVMSetOperand(user, k, phi);
      }
    }
    next = LLVMGetFirstUse(original);  // the list of uses has changed
  }
}

static LLVMValueRef ask(const block_forms *f, const block_survey *survey) {
  const mtlc_types types = mtlc_types_of(f->kernel->context);
  LLVMTypeRef slots[] = {types.i32, types.i32};
  LLVMValueRef function =
      mtlc_declare(f->kernel->module, "mettle.apart",
                   LLVMFunctionType(types.i1, slots, 2, false));
  LLVMValueRef all = LLVMConstInt(types.i1, 1, false);
  for (uint32_t i = 0; i < survey->pair_count; i++) {
    LLVMValueRef pair[] = {mtlc_i32(f->kernel->context, survey->pairs[i][0]),
                           mtlc_i32(f->kernel->context, survey->pairs[i][1])};
    all = LLVMBuildAnd(f->builder, all,
                       mtlc_call(f->builder, function, pair, 2), "");
  }
  return all;
}

static LLVMBasicBlockRef new_block(const block_forms *f, const char *name) {
  return LLVMInsertBasicBlockInContext(f->kernel->context, f->end, name);
}

static void make_forms(mtlc_kernel *kernel, LLVMBasicBlockRef block,
                       const block_survey *survey) {
  LLVMValueRef originals[MOST_CLONED], clones[MOST_CLONED];
  LLVMValueRef stores[MOST_CLONED];
  block_forms f = {.kernel = kernel,
                   .builder = LLVMCreateBuilderInContext(kernel->context),
                   .end = block,
                   .originals = originals,
                   .clones = clones};
  f.head = new_block(&f, "loads");
  f.first = new_block(&f, "first");
  f.turns = new_block(&f, "turns");
  enter_head(&f);
  part_block(&f, survey->first);
  clone_all(&f, stores);
  for (uint32_t i = 0; i < f.count; i++) {
    join(&f, i);
  }
  LLVMPositionBuilderAtEnd(f.builder, f.head);
  LLVMBuildCondBr(f.builder, ask(&f, survey), f.first, f.turns);
  LLVMPositionBuilderAtEnd(f.builder, f.first);
  mtlc_mark(LLVMBuildBr(f.builder, f.end), first_mark);
  LLVMPositionBuilderAtEnd(f.builder, f.turns);
  mtlc_mark(LLVMBuildBr(f.builder, f.end), turns_mark);
  LLVMDisposeBuilder(f.builder);
}

bool lanes_has_loads_first(LLVMBasicBlockRef block) {
  return mtlc_is_marked(LLVMGetBasicBlockTerminator(block), first_mark);
}

static bool has_loads_in_turn(LLVMBasicBlockRef block) {
  return mtlc_is_marked(LLVMGetBasicBlockTerminator(block), turns_mark);
}

bool lanes_may_hoist_loads(const lanes_graph *graph) {
  for (uint32_t n = 0; n < graph->node_count; n++) {
    const lanes_node *node = &graph->nodes[n];
    uint32_t stores = 0;
    for (LLVMValueRef i = node->kind == LANES_BLOCK
                              ? LLVMGetFirstInstruction(node->block)
                              : NULL;
         i; i = LLVMGetNextInstruction(i)) {
      const bool is_late = stores && mtlc_is_opcode(i, LLVMLoad);
      stores += mtlc_is_opcode(i, LLVMStore);
      if (is_late && !mtlc_is_invariant(i)) {
        return true;
      }
    }
  }
  return false;
}

bool lanes_hoist_loads(mtlc_kernel *kernel, const lanes_values *values,
                      bool is_unrolled) {
  const lanes_graph *graph = values->graph;
  bool any = false;
  for (uint32_t n = 0; n < graph->node_count; n++) {
    const lanes_node *node = &graph->nodes[n];
    block_survey survey = {0};
    const bool in_loop = is_unrolled && node->loop != LANES_NONE;
    if (node->kind == LANES_BLOCK && !has_loads_in_turn(node->block) &&
        survey_block(values, node->block, in_loop, &survey)) {
      make_forms(kernel, node->block, &survey);
      any = true;
    }
  }
  return any;
}
