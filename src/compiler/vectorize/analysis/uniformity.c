// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// uniformity.c: finds shapes and divergence together, by an optimistic fixed
// point: everything is uniform until an operand, a join of diverged threads or
// a divergent loop exit says otherwise.
#include "compiler/vectorize/analysis/uniformity.h"

#include <stddef.h>
#include <string.h>

#include "compiler/vectorize/analysis/callees.h"
#include "compiler/vectorize/analysis/graph.h"
#include "compiler/vectorize/analysis/private_layout.h"
#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/base/tables.h"

lanes_shape lanes_shape_of(const lanes_values *values, LLVMValueRef operand) {
  if (LLVMIsAInstruction(operand)) {
    const uint32_t number = lanes_map_get(&values->numbers, operand);
    return number == LANES_NONE ? lanes_shape_uniform(values->lanes)
                                : values->shapes[number];
  }
  return lanes_shape_of_constant(operand, values->lanes);
}

uint32_t lanes_offset_scale(const lanes_values *values, LLVMValueRef address) {
  const uint32_t number = lanes_map_get(&values->numbers, address);
  const uint32_t private =
      number == LANES_NONE ? LANES_NONE : values->private_of[number];
  const bool interleaved =
      private != LANES_NONE && values->privates[private].unit_bytes;
  return interleaved ? values->lanes : 1;
}

bool lanes_leaves_divergent_loop(const lanes_values *values, uint32_t from,
                                 uint32_t to) {
  for (uint32_t loop = values->graph->nodes[from].loop; loop != LANES_NONE;
       loop = values->graph->loops[loop].parent) {
    if (lanes_in_loop(values->graph, to, loop)) {
      return false;
    }
    if (values->divergent_loop[loop]) {
      return true;
    }
  }
  return false;
}

static void number_instructions(lanes_values *values) {
  const lanes_graph *graph = values->graph;
  for (int pass = 0; pass < 2; pass++) {
    uint32_t count = 0;
    for (uint32_t n = 0; n < graph->node_count; n++) {
      if (graph->nodes[n].kind != LANES_BLOCK) {
        continue;
      }
      for (LLVMValueRef i = LLVMGetFirstInstruction(graph->nodes[n].block); i;
           i = LLVMGetNextInstruction(i), count++) {
        if (pass) {
          values->items[count] = i;
          values->nodes[count] = n;
          lanes_map_set(values->arena, &values->numbers, i, count);
        }
      }
    }
    if (!pass) {
      values->count = count;
      values->items = lanes_allocate(values->arena, count, sizeof(void *));
      values->nodes = lanes_allocate(values->arena, count, sizeof(uint32_t));
      values->shapes =
          lanes_allocate(values->arena, count, sizeof(lanes_shape));
      values->private_of =
          lanes_allocate(values->arena, count, sizeof(uint32_t));
    }
  }
}

// --- Divergent control flow --------------------------------------------------

// Marks the nodes after n that are its successors; returns the last of them, or
// last.
static uint32_t mark_successors(lanes_values *values, uint32_t n,
                                uint32_t last) {
  const lanes_list *to = &values->graph->nodes[n].successors;
  for (uint32_t k = 0; k < to->count; k++) {
    if (to->items[k] > n) {
      values->pending[to->items[k] / 64] |= UINT64_C(1) << to->items[k] % 64;
      last = to->items[k] > last ? to->items[k] : last;
    }
  }
  return last;
}

// Takes the next marked node from n on; returns one past last if there is none.
static uint32_t take_marked(lanes_values *values, uint32_t n, uint32_t last) {
  for (uint32_t word = n / 64; word <= last / 64; word++) {
    if (values->pending[word]) {
      const uint32_t bit = (uint32_t)__builtin_ctzll(values->pending[word]);
      values->pending[word] &= values->pending[word] - 1;
      return word * 64 + bit;
    }
  }
  return last + 1;
}

// Finds which path leads to a node: its predecessors' common one, or a new one.
static void find_way(lanes_values *values, uint32_t branch, uint32_t n,
                     uint32_t *way) {
  const lanes_list *from = &values->graph->nodes[n].predecessors;
  for (uint32_t k = 0; k < from->count; k++) {
    const uint32_t p = from->items[k];
    if (p != branch && way[p] == LANES_NONE) {
      continue;
    }
    const uint32_t its_way = p == branch ? n : way[p];
    if (way[n] != LANES_NONE && way[n] != its_way) {
      values->joins[n] = true;
      way[n] = n;
    } else {
      way[n] = its_way;
    }
  }
}

// Threads diverge at a branch and meet at its postdominator. In between, a node
// that two different paths lead to is a join, and starts a path of its own.
// Only nodes on some path are visited: a switch has a path for each of its
// thousands of cases.
void lanes_spread_divergence(lanes_values *values, uint32_t branch,
                             uint32_t *way) {
  const lanes_graph *graph = values->graph;
  const uint32_t meeting = graph->nodes[branch].postdominator;
  if (!values->pending) {
    values->pending = lanes_allocate(
        values->arena, graph->node_count / 64 + 1, sizeof(uint64_t));
  }
  uint32_t last = mark_successors(values, branch, branch);
  for (uint32_t n = take_marked(values, branch, last); n <= last;
       n = take_marked(values, n, last)) {
    find_way(values, branch, n, way);
    if (n == meeting) {
      way[n] = LANES_NONE;  // only threads about to trap continue here
    }
    if (way[n] != LANES_NONE) {
      values->masked[n] = true;
      last = mark_successors(values, n, last);
    }
  }
  for (uint32_t n = branch + 1; n <= last; n++) {
    way[n] = LANES_NONE;
  }
  for (uint32_t loop = graph->nodes[branch].loop; loop != LANES_NONE;
       loop = graph->loops[loop].parent) {
    if (meeting != LANES_NONE && lanes_in_loop(graph, meeting, loop)) {
      break;
    }
    values->divergent_loop[loop] = true;
  }
}

// In a loop that threads leave at different times, every node may lack some
// threads.
void lanes_mask_divergent_loops(lanes_values *values) {
  for (uint32_t n = 0; n < values->graph->node_count; n++) {
    for (uint32_t loop = values->graph->nodes[n].loop; loop != LANES_NONE;
         loop = values->graph->loops[loop].parent) {
      values->masked[n] |= values->divergent_loop[loop];
    }
  }
}

// --- Shapes ------------------------------------------------------------------

bool lanes_is_temporal(const lanes_values *values, LLVMValueRef value,
                       uint32_t to) {
  if (!LLVMIsAInstruction(value)) {
    return false;
  }
  const uint32_t number = lanes_map_get(&values->numbers, value);
  return number != LANES_NONE &&
         lanes_leaves_divergent_loop(values, values->nodes[number], to);
}

bool lanes_diverges_before(const lanes_values *values, uint32_t node) {
  const lanes_graph *graph = values->graph;
  bool parted = values->joins[node];
  for (uint32_t l = 0; l < graph->loop_count; l++) {
    if (graph->loops[l].header == node) {
      parted |= values->joins[graph->loops[l].latch];
    }
  }
  return parted;
}

static lanes_shape shape_of_phi(const lanes_values *values, LLVMValueRef phi,
                                uint32_t node) {
  lanes_shape result = {.lanes = values->lanes};
  const uint32_t count = LLVMCountIncoming(phi);
  bool same = true;
  LLVMValueRef only = NULL;
  for (uint32_t i = 0; i < count; i++) {
    LLVMValueRef value = LLVMGetIncomingValue(phi, i);
    if (LLVMIsUndef(value) || value == phi) {
      continue;
    }
    same &= !only || only == value;
    only = value;
    if (lanes_is_temporal(values, value, node)) {
      return lanes_shape_varying(values->lanes);
    }
    result = lanes_shape_join(result, lanes_shape_of(values, value));
  }
  if (!same && lanes_diverges_before(values, node)) {
    return lanes_shape_varying(values->lanes);
  }
  if (result.conditional) {
    return lanes_shape_varying(values->lanes);
  }
  return result;
}

bool lanes_is_plain(LLVMValueRef access) {
  return !LLVMGetVolatile(access) &&
         LLVMGetOrdering(access) == LLVMAtomicOrderingNotAtomic;
}

static bool is_relaxed(LLVMValueRef access) {
  const LLVMAtomicOrdering ordering = LLVMGetOrdering(access);
  return !LLVMGetVolatile(access) &&
         (ordering == LLVMAtomicOrderingMonotonic ||
          ordering == LLVMAtomicOrderingUnordered);
}

bool lanes_is_ordinary(LLVMValueRef access) {
  return lanes_is_plain(access) || is_relaxed(access);
}

bool lanes_loads_by_segments(LLVMValueRef load, lanes_shape address) {
  const LLVMTypeKind kind = LLVMGetTypeKind(LLVMTypeOf(load));
  const bool is_bit =
      kind == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(LLVMTypeOf(load)) == 1;
  const bool one_element = kind != LLVMVectorTypeKind &&
                           kind != LLVMStructTypeKind &&
                           kind != LLVMArrayTypeKind && !is_bit;
  return address.stride == 0 && !address.conditional &&
         (address.row == address.lanes || (address.row > 1 && one_element)) &&
         lanes_is_ordinary(load);
}

static lanes_shape shape_of_load(const lanes_values *values,
                                 LLVMValueRef load) {
  const lanes_shape address = lanes_shape_of(values, LLVMGetOperand(load, 0));
  lanes_shape result = lanes_shape_varying(values->lanes);
  if (!address.row) {
    return address;
  }
  if (lanes_loads_by_segments(load, address)) {
    result = lanes_shape_uniform(values->lanes);
    result.row = address.row;
  }
  LLVMTypeRef type = LLVMTypeOf(load);
  if (LLVMGetTypeKind(type) == LLVMIntegerTypeKind) {
    const uint32_t width = LLVMGetIntTypeWidth(type);
    result.bits = width < 64 ? (uint8_t)width : 64;
  }
  return result;
}

static bool has_own_shape(LLVMOpcode opcode) {
  return opcode == LLVMAtomicRMW || opcode == LLVMAtomicCmpXchg ||
         opcode == LLVMVAArg || opcode == LLVMCallBr || opcode == LLVMInvoke;
}

static lanes_shape evaluate(const lanes_values *values, uint32_t number) {
  LLVMValueRef i = values->items[number];
  const LLVMOpcode opcode = LLVMGetInstructionOpcode(i);
  if (opcode == LLVMPHI) {
    return shape_of_phi(values, i, values->nodes[number]);
  }
  if (opcode == LLVMLoad) {
    return shape_of_load(values, i);
  }
  if (opcode == LLVMAlloca) {
    const lanes_private *memory = &values->privates[values->private_of[number]];
    if (memory->is_shared) {
      return lanes_shape_uniform(values->lanes);
    }
    return lanes_shape_strided(values->lanes, 
        values->lanes, (int64_t)(memory->unit_bytes ? memory->unit_bytes
                                            : memory->size_bytes));
  }
  if (has_own_shape(opcode)) {
    return lanes_shape_varying(values->lanes);
  }
  const int count = LLVMGetNumOperands(i);
  lanes_shape few[8];
  lanes_shape *shapes = few;
  if (count > 8) {
    shapes = lanes_allocate(values->arena, (size_t)count, sizeof *shapes);
  }
  for (int k = 0; k < count; k++) {
    LLVMValueRef operand = LLVMGetOperand(i, (unsigned)k);
    shapes[k] = LLVMValueIsBasicBlock(operand)
                    ? lanes_shape_uniform(values->lanes)
                    : lanes_shape_of(values, operand);
    if (!shapes[k].row) {
      return shapes[k];  // not known yet: it will be visited again
    }
  }
  if (opcode == LLVMCall) {
    return lanes_shape_of_call(values, i, shapes);
  }
  return lanes_shape_of_operation(
      i, shapes,
      &(lanes_layout){.data = values->data,
                      .offset_scale = lanes_offset_scale(values, i)});
}

// Lowers a value's shape; shapes never rise. The range is cut at coarse steps,
// so that a loop counter does not raise it bit by bit.
static bool lower_shape(lanes_values *values, uint32_t number) {
  const lanes_shape old = values->shapes[number];
  lanes_shape found = evaluate(values, number);
  if (!found.row) {
    return false;
  }
  if (old.row) {
    const bool conditional = old.conditional || found.conditional;
    lanes_shape a = old;
    lanes_shape b = found;
    a.conditional = b.conditional = false;
    found = lanes_shape_join(a, b);
    if (found.row > 1 && found.stride) {
      found.conditional = conditional;
    }
    if (found.bits > old.bits) {
      found.bits = 64;
    }
    if (found.align < old.align && found.align < 8) {
      found.align = found.align >= 5 ? 5 : 0;
    }
  }
  values->shapes[number] = found;
  return !lanes_shape_equal(found, old);
}

static bool find_divergent_branches(lanes_values *values, uint32_t *way) {
  bool changed = false;
  for (uint32_t n = 0; n < values->graph->node_count; n++) {
    const lanes_node *node = &values->graph->nodes[n];
    if (node->kind != LANES_BLOCK || values->divergent_branch[n] ||
        node->successors.count < 2) {
      continue;
    }
    LLVMValueRef end = LLVMGetBasicBlockTerminator(node->block);
    const lanes_shape shape = lanes_shape_of(values, LLVMGetCondition(end));
    if (shape.row && !lanes_is_uniform(shape)) {
      values->divergent_branch[n] = true;
      lanes_spread_divergence(values, n, way);
      changed = true;
    }
  }
  return changed;
}

// Lowers shapes until nothing changes.
static void settle(lanes_values *values, uint32_t *way) {
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t i = 0; i < values->count; i++) {
      changed |= lower_shape(values, i);
    }
    changed |= find_divergent_branches(values, way);
  }
}

static bool make_varying(lanes_values *values, bool phis_only) {
  bool found = false;
  for (uint32_t i = 0; i < values->count; i++) {
    if (!values->shapes[i].row &&
        (!phis_only || LLVMIsAPHINode(values->items[i]))) {
      values->shapes[i] = lanes_shape_varying(values->lanes);
      found = true;
    }
  }
  return found;
}

// Sets the shape of phis of undefined values alone, which the fixed point
// leaves without one, so that what depends on them, such as a uniform
// reduction, gets its own. True if there was any.
static bool shape_undefined(lanes_values *values) {
  return make_varying(values, true) || make_varying(values, false);
}

static void forget_shapes(lanes_values *values) {
  for (uint32_t i = 0; i < values->count; i++) {
    values->shapes[i] = (lanes_shape){.lanes = values->lanes};
  }
}

// Makes everything uniform again.
static void forget(lanes_values *values) {
  const lanes_graph *graph = values->graph;
  forget_shapes(values);
  memset(values->divergent_branch, 0, graph->node_count);
  memset(values->joins, 0, graph->node_count);
  memset(values->masked, 0, graph->node_count);
  memset(values->divergent_loop, 0, graph->loop_count);
}

void lanes_values_find(const lanes_graph *graph, LLVMTargetDataRef data,
                       uint8_t lanes, uint8_t row,
                       const mtli_group_class *group_class,
                       lanes_values *out_values) {
  mtli_arena *arena = graph->arena;
  *out_values = (lanes_values){
      .arena = arena,
      .graph = graph,
      .data = data,
      .lanes = lanes,
      .row = row,
      .is_exact = group_class->is_exact && group_class->row == row,
      .is_even = !group_class->is_uneven && group_class->row >= row,
      .divergent_branch = lanes_allocate(arena, graph->node_count, 1),
      .joins = lanes_allocate(arena, graph->node_count, 1),
      .masked = lanes_allocate(arena, graph->node_count, 1),
      .divergent_loop = lanes_allocate(arena, graph->loop_count + 1, 1)};
  number_instructions(out_values);
  forget_shapes(out_values);
  lanes_privates_find(out_values);
  uint32_t *way = lanes_allocate_none(arena, graph->node_count);
  do {
    forget(out_values);
    do {
      settle(out_values, way);
    } while (shape_undefined(out_values));
    lanes_mask_divergent_loops(out_values);
  } while (lanes_privates_share(out_values));
}
