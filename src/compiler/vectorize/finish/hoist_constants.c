// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hoist_constants.c: hides constant factors and addends in loops from code
// generation. LLVM treats a constant of 32 lanes as 32 operands, and each
// instruction tests whether they can be negated, split or folded. In the end
// the constant is a register that is loaded before the loop: this pass puts it
// there at once.
//
// Requires  a module that nothing optimises any more
// Leaves    constants of floating-point arithmetic in loops frozen in front of
//           the outermost loop, a machine's vector each; only where machines
//           have vectors of eight floats
#include "compiler/vectorize/finish/hoist_constants.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include "compiler/ir/kernel/kernel.h"
#include "compiler/ir/llvm/calls.h"
#include "compiler/vectorize/analysis/graph.h"
#include "compiler/vectorize/base/tables.h"
#include "compiler/vectorize/target/machine.h"

enum {
  MOST_MACHINE_ELEMENTS = 16,
  MOST_ELEMENTS = 64,
};

// A constant that is kept in a register.
typedef struct parked {
  uint32_t home;  // the node that loads it, in no loop
  LLVMValueRef value;
  struct parked *next;  // the same constant, loaded in another node
} parked;

// A vector constant of equal elements.
typedef struct splat {
  LLVMValueRef constant;
  bool may_be_parked;
  parked *homes;
  LLVMBasicBlockRef block;  // the last block that uses it, and
  LLVMValueRef whole;       // the constant's vector in that block
} splat;

typedef struct parking {
  mtli_arena arena;
  lanes_graph graph;
  LLVMBuilderRef builder;
  LLVMTypeRef f32;
  unsigned machine_elements;  // of a machine's vector
  lanes_map numbers;          // constants to splats
  splat *splats;              // [splat_count]
  uint32_t splat_count;
  uint32_t splat_capacity;
  LLVMValueRef lanes;  // which lanes of the machine vector make the last
                       // constant
} parking;

// --- Which constants ---------------------------------------------------------

// True for numbers that code generation has no better way for.
static bool is_plain_number(LLVMValueRef number) {
  LLVMBool loses = 0;
  const double value = fabs(LLVMConstRealGetDouble(number, &loses));
  return isfinite(value) && value != 0 && value != 1 && value != 2;
}

static LLVMValueRef vector_of(LLVMValueRef element, unsigned count) {
  LLVMValueRef elements[MOST_ELEMENTS];
  for (unsigned i = 0; i < count; i++) {
    elements[i] = element;
  }
  return LLVMConstVector(elements, count);
}

static bool may_be_parked(const parking *p, LLVMValueRef constant) {
  LLVMTypeRef type = LLVMTypeOf(constant);
  const unsigned count = LLVMGetVectorSize(type);
  if (LLVMGetElementType(type) != p->f32 || count > MOST_ELEMENTS ||
      count % p->machine_elements != 0) {
    return false;
  }
  LLVMValueRef first = LLVMGetAggregateElement(constant, 0);
  return vector_of(first, count) == constant && is_plain_number(first);
}

static splat *find_splat(parking *p, LLVMValueRef constant) {
  const uint32_t known = lanes_map_get(&p->numbers, constant);
  if (known != LANES_NONE) {
    return &p->splats[known];
  }
  p->splats = lanes_make_room(&p->arena, p->splats, p->splat_count,
                              &p->splat_capacity, 32, sizeof *p->splats);
  lanes_map_set(&p->arena, &p->numbers, constant, p->splat_count);
  splat *s = &p->splats[p->splat_count++];
  *s = (splat){.constant = constant,
               .may_be_parked = may_be_parked(p, constant)};
  return s;
}

// --- Where they are kept -----------------------------------------------------

// Returns the nearest node before all loops around a node.
static uint32_t home_of(const lanes_graph *graph, uint32_t node) {
  while (graph->nodes[node].loop != LANES_NONE ||
         graph->nodes[node].kind != LANES_BLOCK) {
    node = graph->nodes[node].dominator;
  }
  return node;
}

static LLVMValueRef park(parking *p, splat *s, uint32_t home) {
  for (const parked *at = s->homes; at; at = at->next) {
    if (lanes_dominates(&p->graph, at->home, home)) {
      return at->value;
    }
  }
  LLVMPositionBuilderBefore(
      p->builder, LLVMGetBasicBlockTerminator(p->graph.nodes[home].block));
  LLVMValueRef element = LLVMGetAggregateElement(s->constant, 0);
  parked *made = lanes_allocate(&p->arena, 1, sizeof *made);
  *made = (parked){.home = home,
                   .value = LLVMBuildFreeze(
                       p->builder, vector_of(element, p->machine_elements), ""),
                   .next = s->homes};
  s->homes = made;
  return made->value;
}

static LLVMValueRef lanes_of(parking *p, unsigned count) {
  if (!p->lanes || LLVMGetVectorSize(LLVMTypeOf(p->lanes)) != count) {
    LLVMTypeRef i32 = LLVMInt32TypeInContext(LLVMGetTypeContext(p->f32));
    LLVMValueRef lanes[MOST_ELEMENTS];
    for (unsigned i = 0; i < count; i++) {
      lanes[i] = LLVMConstInt(i32, i % p->machine_elements, false);
    }
    p->lanes = LLVMConstVector(lanes, count);
  }
  return p->lanes;
}

// Repeats the machine's vector to the constant's length.
static LLVMValueRef repeat(parking *p, LLVMValueRef value, unsigned count) {
  return LLVMBuildShuffleVector(p->builder, value,
                                LLVMGetPoison(LLVMTypeOf(value)),
                                lanes_of(p, count), "");
}

// --- Their uses --------------------------------------------------------------

// Returns how many of an instruction's first operands are terms of arithmetic
// whose cost does not depend on their values.
static unsigned count_terms(LLVMValueRef i) {
  switch (LLVMGetInstructionOpcode(i)) {
    case LLVMFAdd:
    case LLVMFSub:
    case LLVMFMul: return 2;
    case LLVMCall: return mtlc_is_call_of(i, "llvm.fma.") ? 3 : 0;
    default: return 0;
  }
}

static void park_operands(parking *p, uint32_t node, LLVMValueRef i) {
  const unsigned count = count_terms(i);
  for (unsigned k = 0; k < count; k++) {
    LLVMValueRef constant = LLVMGetOperand(i, k);
    splat *s =
        LLVMIsAConstantDataVector(constant) ? find_splat(p, constant) : NULL;
    if (!s || !s->may_be_parked) {
      continue;
    }
    LLVMBasicBlockRef block = p->graph.nodes[node].block;
    if (s->block != block) {
      LLVMValueRef value = park(p, s, home_of(&p->graph, node));
      LLVMPositionBuilderBefore(p->builder, i);
      s->whole = repeat(p, value, LLVMGetVectorSize(LLVMTypeOf(constant)));
      s->block = block;
    }
    LLVMSetOperand(i, k, s->whole);
  }
}

static void park_in_function(parking *p, LLVMValueRef function) {
  if (!lanes_graph_build(function, &p->arena, &p->graph)) {
    return;
  }
  p->numbers = (lanes_map){0};
  p->splat_count = 0;
  for (uint32_t n = 0; n < p->graph.node_count; n++) {
    const lanes_node *node = &p->graph.nodes[n];
    if (node->kind != LANES_BLOCK || node->loop == LANES_NONE) {
      continue;
    }
    for (LLVMValueRef i = LLVMGetFirstInstruction(node->block); i;
         i = LLVMGetNextInstruction(i)) {
      park_operands(p, n, i);
    }
  }
}

mtl_status mtlc_hoist_constants(mtlc_kernel *kernel) {
  const lanes_machine machine = lanes_machine_of(kernel->target);
  if (!kernel->is_vectorized || !machine.has_gathers) {
    return MTL_OK;
  }
  parking p = {
      .builder = LLVMCreateBuilderInContext(kernel->context),
      .f32 = LLVMFloatTypeInContext(kernel->context),
      .machine_elements = machine.has_masks ? 16 : 8};
  for (LLVMValueRef function = LLVMGetFirstFunction(kernel->module); function;
       function = LLVMGetNextFunction(function)) {
    if (!LLVMIsDeclaration(function)) {
      park_in_function(&p, function);
    }
  }
  LLVMDisposeBuilder(p.builder);
  mtli_arena_clear(&p.arena);
  return MTL_OK;
}
