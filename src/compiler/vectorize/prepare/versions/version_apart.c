// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// version_apart.c: versions loops that accumulate in memory for buffers that do
// not overlap:
//
//   for (int k = 0; k < n; k++) out[i] += a[k] * b[k * m + i];
//
// Metal lets buffers overlap, so each iteration must store the sum before it
// loads. One comparison of addresses for a whole loop nest, over all bytes that
// any thread of the dispatch accesses there in each buffer (value_ranges.c),
// shows that they do not. A second version of the loops then has no-alias
// metadata (alias.scope), and LLVM keeps the sum in a register. If buffers
// overlap, or it cannot be computed at run time, the original loops run.
#include "compiler/vectorize/prepare/versions/version_apart.h"

#include <llvm-c/Target.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "compiler/ir/llvm/instructions.h"
#include "compiler/ir/llvm/marks.h"
#include "compiler/ir/llvm/types.h"
#include "compiler/vectorize/analysis/effects.h"
#include "compiler/vectorize/prepare/hoist_loads.h"
#include "compiler/vectorize/prepare/versions/clone_region.h"
#include "compiler/vectorize/prepare/versions/value_ranges.h"

enum {
  MOST_ROOTS = 8,
  MOST_ACCESSES = 128,
  MOST_INSTRUCTIONS = 600,  // of a nest of loops
  MOST_QUESTIONS = 250,     // instructions that ask
};

// Marks the terminators of both versions, which are not versioned again.
static const char tried_mark[] = "mettle.tried_apart";

// The memory behind one pointer.
typedef struct root_memory {
  LLVMValueRef root;
  bool is_known;  // bytes is
  bool is_stored;
  lanes_range bytes;  // from the root to the first byte, and behind the last
  LLVMValueRef start, end;
} root_memory;

typedef struct separation {
  mtlc_kernel *kernel;
  const lanes_graph *graph;
  uint32_t loop;
  LLVMValueRef accesses[MOST_ACCESSES];
  uint32_t owners[MOST_ACCESSES];  // their roots
  uint32_t access_count;
  root_memory roots[MOST_ROOTS];
  uint32_t root_count;
  lanes_ranges ranges;
} separation;

// --- What gains --------------------------------------------------------------

static LLVMValueRef pointer_of(LLVMValueRef access) {
  return LLVMGetOperand(access, LLVMIsAStoreInst(access) ? 1 : 0);
}

static bool is_access(LLVMValueRef i) {
  return (LLVMIsALoadInst(i) || LLVMIsAStoreInst(i)) && lanes_is_plain(i) &&
         !mtlc_is_invariant(i);
}

static bool is_outside(const lanes_graph *graph, LLVMValueRef value,
                       uint32_t loop) {
  const uint32_t node =
      LLVMIsAInstruction(value)
          ? lanes_map_get(&graph->blocks, LLVMGetInstructionParent(value))
          : LANES_NONE;
  return node == LANES_NONE || !lanes_in_loop(graph, node, loop);
}

static LLVMValueRef end_of_header(const lanes_graph *graph, uint32_t loop) {
  return LLVMGetBasicBlockTerminator(
      graph->nodes[graph->loops[loop].header].block);
}

static bool is_tried(const lanes_graph *graph, uint32_t loop) {
  return mtlc_is_marked(end_of_header(graph, loop), tried_mark);
}

// Returns the instruction of a loop after i, or the first one for NULL; NULL at
// the loop's end. *node is the node of i, or the loop's header.
static LLVMValueRef next_in_loop(const lanes_graph *graph, uint32_t loop,
                                 LLVMValueRef i, uint32_t *node) {
  i = i ? LLVMGetNextInstruction(i) : NULL;
  for (; !i && *node < graph->loops[loop].latch; ++*node) {
    const lanes_node *next = &graph->nodes[*node];
    i = next->kind == LANES_BLOCK ? LLVMGetFirstInstruction(next->block) : NULL;
  }
  return i;
}

#define FOR_EACH_IN_LOOP(graph, loop, i)                                      \
  for (uint32_t node = (graph)->loops[loop].header, once = 1; once; once = 0) \
    for (LLVMValueRef i = next_in_loop(graph, loop, NULL, &node); i;          \
         i = next_in_loop(graph, loop, i, &node))

// True if only accesses to other memory keep a loop's store to one place from
// being moved out of the loop.
static bool is_held_up(const lanes_graph *graph, uint32_t loop,
                       LLVMValueRef store) {
  LLVMValueRef root = mtlc_root_of(LLVMGetOperand(store, 1));
  bool others = false;
  FOR_EACH_IN_LOOP(graph, loop, i) {
    if (!is_access(i) || lanes_lie_apart(pointer_of(i), root)) {
      continue;
    }
    if (mtlc_root_of(pointer_of(i)) != root) {
      others = true;
    } else if (!is_outside(graph, pointer_of(i), loop)) {
      return false;
    }
  }
  return others;
}

// True if a loop would keep a sum in a register.
static bool gains(const lanes_graph *graph, uint32_t loop) {
  bool any = false;
  FOR_EACH_IN_LOOP(graph, loop, i) {
    if (!LLVMIsAStoreInst(i) || !is_access(i)) {
      if (lanes_may_write(i)) {
        return false;
      }
    } else if (!any && is_outside(graph, LLVMGetOperand(i, 1), loop)) {
      any = is_held_up(graph, loop, i);
    }
  }
  return any;
}

static bool is_inside(const lanes_graph *graph, uint32_t loop, uint32_t outer) {
  return outer == LANES_NONE ||
         lanes_in_loop(graph, graph->loops[loop].header, outer);
}

static bool any_gains(const lanes_graph *graph, uint32_t outer) {
  for (uint32_t l = 0; l < graph->loop_count; l++) {
    if (is_inside(graph, l, outer) && gains(graph, l)) {
      return true;
    }
  }
  return false;
}

bool lanes_may_version_apart(const lanes_graph *graph) {
  return any_gains(graph, LANES_NONE);
}

// --- What is touched ---------------------------------------------------------

static uint32_t root_number(separation *s, LLVMValueRef root) {
  for (uint32_t k = 0; k < s->root_count; k++) {
    if (s->roots[k].root == root) {
      return k;
    }
  }
  if (s->root_count == MOST_ROOTS) {
    return LANES_NONE;
  }
  s->roots[s->root_count] = (root_memory){.root = root, .is_known = true};
  return s->root_count++;
}

static void touch(separation *s, root_memory *m, LLVMValueRef access,
                  bool is_first) {
  LLVMValueRef root = NULL;
  lanes_range bytes;
  const bool is_store = LLVMIsAStoreInst(access) != NULL;
  m->is_stored |= is_store;
  if (!m->is_known ||
      !lanes_range_of_address(&s->ranges, pointer_of(access), &root, &bytes) ||
      (!is_first && root != m->start)) {
    m->is_known = false;
    return;
  }
  m->start = root;  // until it is moved
  LLVMTypeRef type = LLVMTypeOf(is_store ? LLVMGetOperand(access, 0) : access);
  const uint64_t size = LLVMStoreSizeOfType(s->ranges.data, type);
  bytes.greatest = LLVMBuildAdd(s->ranges.builder, bytes.greatest,
                                mtlc_i64(s->kernel->context, size), "");
  m->bytes = is_first ? bytes : lanes_range_union(&s->ranges, m->bytes, bytes);
}

static bool collect(separation *s) {
  FOR_EACH_IN_LOOP(s->graph, s->loop, i) {
    if (!is_access(i)) {
      continue;
    }
    const uint32_t roots = s->root_count;
    const uint32_t root = root_number(s, mtlc_root_of(pointer_of(i)));
    if (root == LANES_NONE || s->access_count == MOST_ACCESSES) {
      return false;
    }
    s->accesses[s->access_count] = i;
    s->owners[s->access_count++] = root;
    touch(s, &s->roots[root], i, s->root_count > roots);
  }
  return true;
}

// True if two can be shown not to overlap, at run time or because they are of
// different kinds.
static bool are_told_apart(const separation *s, uint32_t a, uint32_t b) {
  return a != b && ((s->roots[a].is_known && s->roots[b].is_known) ||
                    lanes_lie_apart(s->roots[a].root, s->roots[b].root));
}

static bool needs_question(const separation *s, uint32_t a, uint32_t b) {
  return s->roots[a].is_known && s->roots[b].is_known &&
         (s->roots[a].is_stored || s->roots[b].is_stored) &&
         !lanes_lie_apart(s->roots[a].root, s->roots[b].root);
}

// True if in some loop a sum stays in memory only because of accesses that are
// shown not to overlap it.
static bool will_gain(const separation *s) {
  const lanes_graph *graph = s->graph;
  for (uint32_t l = 0; l < graph->loop_count; l++) {
    if (!is_inside(graph, l, s->loop) || !gains(graph, l)) {
      continue;
    }
    bool all = true;
    for (uint32_t a = 0; a < s->access_count && all; a++) {
      LLVMValueRef store = s->accesses[a];
      if (!LLVMIsAStoreInst(store) || is_outside(graph, store, l) ||
          !is_outside(graph, pointer_of(store), l)) {
        continue;
      }
      for (uint32_t b = 0; b < s->access_count && all; b++) {
        all = is_outside(graph, s->accesses[b], l) ||
              s->owners[a] == s->owners[b] ||
              are_told_apart(s, s->owners[a], s->owners[b]);
      }
    }
    if (all) {
      return true;
    }
  }
  return false;
}

// --- The question ------------------------------------------------------------

static void find_ends(separation *s) {
  LLVMBuilderRef b = s->ranges.builder;
  const mtlc_types types = mtlc_types_of(s->kernel->context);
  for (uint32_t k = 0; k < s->root_count; k++) {
    root_memory *m = &s->roots[k];
    if (m->is_known) {
      LLVMValueRef base = LLVMBuildPtrToInt(b, m->start, types.i64, "");
      m->start = LLVMBuildAdd(b, base, m->bytes.least, "");
      m->end = LLVMBuildAdd(b, base, m->bytes.greatest, "");
    }
  }
}

static LLVMValueRef ask(separation *s) {
  LLVMBuilderRef b = s->ranges.builder;
  LLVMValueRef all = s->ranges.holds;
  for (uint32_t i = 0; i < s->root_count; i++) {
    for (uint32_t k = i + 1; k < s->root_count; k++) {
      const root_memory *one = &s->roots[i], *other = &s->roots[k];
      if (needs_question(s, i, k)) {
        LLVMValueRef apart = LLVMBuildOr(
            b, LLVMBuildICmp(b, LLVMIntULE, one->end, other->start, ""),
            LLVMBuildICmp(b, LLVMIntULE, other->end, one->start, ""), "");
        all = LLVMBuildAnd(b, all, apart, "");
      }
    }
  }
  return all;
}

// --- The second form ---------------------------------------------------------

static LLVMMetadataRef node_of(LLVMContextRef context, LLVMMetadataRef *items,
                               size_t count) {
  return LLVMMDNodeInContext2(context, items, count);
}

// Returns the scope of a root's accesses, of one nest of loops.
static LLVMMetadataRef scope_of(const separation *s, uint32_t root) {
  LLVMContextRef context = s->kernel->context;
  char name[64];
  const int length = snprintf(
      name, sizeof name, "mettle.apart.%p.%u",
      (void *)s->graph->nodes[s->graph->loops[s->loop].header].block, root);
  LLVMMetadataRef domain =
      LLVMMDStringInContext2(context, "mettle.apart", strlen("mettle.apart"));
  LLVMMetadataRef items[] = {
      LLVMMDStringInContext2(context, name, (size_t)length),
      node_of(context, &domain, 1)};
  return node_of(context, items, 2);
}

static void set(LLVMContextRef context, LLVMValueRef i, const char *kind,
                LLVMMetadataRef *scopes, size_t count) {
  if (count) {
    LLVMSetMetadata(
        i, LLVMGetMDKindIDInContext(context, kind, (unsigned)strlen(kind)),
        LLVMMetadataAsValue(context, node_of(context, scopes, count)));
  }
}

static void mark_accesses(const separation *s, const lanes_clone *part) {
  LLVMMetadataRef scopes[MOST_ROOTS];
  for (uint32_t k = 0; k < s->root_count; k++) {
    scopes[k] = scope_of(s, k);
  }
  for (uint32_t a = 0; a < s->access_count; a++) {
    LLVMMetadataRef others[MOST_ROOTS];
    size_t count = 0;
    for (uint32_t k = 0; k < s->root_count; k++) {
      if (are_told_apart(s, s->owners[a], k) &&
          (s->roots[k].is_stored || s->roots[s->owners[a]].is_stored)) {
        others[count++] = scopes[k];
      }
    }
    LLVMValueRef copy = lanes_clone_copy_of(part, s->accesses[a]);
    set(s->kernel->context, copy, "alias.scope", &scopes[s->owners[a]], 1);
    set(s->kernel->context, copy, "noalias", others, count);
  }
}

// Returns the block that leads to a loop, if it leads nowhere else.
static LLVMBasicBlockRef preheader_of(const lanes_graph *graph, uint32_t loop) {
  const uint32_t header = graph->loops[loop].header;
  const uint32_t before = graph->nodes[header].dominator;
  if (graph->nodes[header].predecessors.count != 1 || before == LANES_NONE ||
      graph->nodes[before].kind != LANES_BLOCK ||
      graph->nodes[before].successors.count != 1) {
    return NULL;
  }
  return graph->nodes[before].block;
}

static bool take_loop(separation *s, lanes_clone *part) {
  const lanes_loop *loop = &s->graph->loops[s->loop];
  for (uint32_t n = loop->header; n <= loop->latch; n++) {
    if (lanes_in_loop(s->graph, n, s->loop)) {
      lanes_set_add(part->nodes, n);
    }
  }
  part->entry = s->graph->nodes[loop->header].block;
  lanes_clone_survey(part);
  return part->fits && part->instructions <= MOST_INSTRUCTIONS;
}

static void move_all(LLVMBuilderRef builder, LLVMBasicBlockRef from,
                     LLVMValueRef before) {
  LLVMPositionBuilderBefore(builder, before);
  for (LLVMValueRef i = LLVMGetFirstInstruction(from); i;
       i = LLVMGetFirstInstruction(from)) {
    LLVMInstructionRemoveFromParent(i);
    LLVMInsertIntoBuilder(builder, i);
  }
}

// Adds the copy's values to the phis of the loop's exits.
static void connect_exits(const lanes_clone *part) {
  for (uint32_t n = part->first; n <= part->last; n++) {
    LLVMBasicBlockRef from =
        lanes_set_has(part->nodes, n) ? lanes_clone_block(part, n) : NULL;
    LLVMValueRef last = from ? LLVMGetBasicBlockTerminator(from) : NULL;
    for (unsigned k = 0; last && k < LLVMGetNumSuccessors(last); k++) {
      LLVMBasicBlockRef to = LLVMGetSuccessor(last, k);
      if (!lanes_clone_has(part, to) &&
          (k == 0 || to != LLVMGetSuccessor(last, 0))) {
        lanes_clone_add_path(part, to, from,
                             lanes_clone_block_copy(part, from));
      }
    }
  }
}

static void mark_both(const separation *s, const lanes_clone *part) {
  for (uint32_t l = 0; l < s->graph->loop_count; l++) {
    if (is_inside(s->graph, l, s->loop)) {
      LLVMValueRef end = end_of_header(s->graph, l);
      mtlc_mark(end, tried_mark);
      mtlc_mark(lanes_clone_copy_of(part, end), tried_mark);
    }
  }
}

static void make_form(separation *s, lanes_clone *part,
                      LLVMBasicBlockRef before, LLVMBasicBlockRef question,
                      LLVMValueRef condition) {
  LLVMValueRef branch = LLVMGetBasicBlockTerminator(before);
  // The function's entry is never the block in front of a loop then.
  LLVMBasicBlockRef above = mtlc_split_above(part->builder, branch);
  LLVMPositionBuilderAtEnd(part->builder, above);
  LLVMBuildBr(part->builder, before);
  lanes_clone_copy(part, before, before);
  connect_exits(part);
  mark_accesses(s, part);
  mark_both(s, part);
  move_all(part->builder, question, branch);
  LLVMPositionBuilderBefore(part->builder, branch);
  LLVMBuildCondBr(part->builder, condition,
                  lanes_clone_block_copy(part, part->entry), part->entry);
  LLVMInstructionEraseFromParent(branch);
}

static bool try_loop(mtlc_kernel *kernel, const lanes_graph *graph,
                     uint32_t loop) {
  const lanes_values values = {.arena = graph->arena, .graph = graph};
  LLVMBasicBlockRef before = preheader_of(graph, loop);
  if (!before) {
    return false;
  }
  separation *s = lanes_allocate(graph->arena, 1, sizeof *s);
  lanes_clone part = lanes_clone_begin(kernel, &values);
  LLVMBasicBlockRef question =
      LLVMAppendBasicBlockInContext(kernel->context, kernel->thread, "apart");
  *s = (separation){
      .kernel = kernel,
      .graph = graph,
      .loop = loop,
      .ranges = {.graph = graph,
                 .data = LLVMGetModuleDataLayout(kernel->module),
                 .context = kernel->context,
                 .module = kernel->module,
                 .builder = LLVMCreateBuilderInContext(kernel->context),
                 .place = lanes_map_get(&graph->blocks, before),
                 .holds = LLVMConstInt(LLVMInt1TypeInContext(kernel->context),
                                       1, false)}};
  LLVMPositionBuilderAtEnd(s->ranges.builder, question);
  bool done = take_loop(s, &part) && collect(s) && will_gain(s);
  if (done) {
    find_ends(s);
    LLVMValueRef condition = ask(s);
    done = !LLVMIsAConstantInt(condition) &&
           mtlc_count_in_block(question) <= MOST_QUESTIONS;
    if (done) {
      make_form(s, &part, before, question, condition);
    }
  }
  LLVMDisposeBuilder(s->ranges.builder);
  LLVMDeleteBasicBlock(question);
  lanes_clone_end(&part);
  return done;
}

bool lanes_version_apart(mtlc_kernel *kernel, const lanes_graph *graph) {
  // Loops have numbers behind those of the loops inside them.
  for (uint32_t l = graph->loop_count; l-- > 0;) {
    if (is_tried(graph, l) || !any_gains(graph, l)) {
      continue;
    }
    if (try_loop(kernel, graph, l)) {
      return true;
    }
    mtlc_mark(end_of_header(graph, l), tried_mark);
  }
  return false;
}
