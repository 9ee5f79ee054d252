// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// source_order.c: decides whether LLVM's scheduler may reorder a kernel's
// instructions, or should keep the source order.
//
// LLVM schedules a block before register allocation, to overlap latencies.
// Out-of-order processors gain little by it, and long formulas lose: more of
// their values are live than there are registers. Kernels that already have too
// many live values in source order gain. So this walks blocks in source order
// with the processor's registers, and counts reloads to tell the two kinds
// apart.
//
// Requires  a module that is ready for code generation
// Leaves    it as it is
#include "compiler/emit/source_order.h"

#include <llvm-c/Target.h>
#include <stddef.h>

#include "compiler/ir/kernel/kernel.h"
#include "compiler/vectorize/base/tables.h"
#include "compiler/vectorize/target/machine.h"

enum {
  MOST_REGISTERS = 16,  // with 32 it has not been measured
  // Of a hundred registers' worth of operations, how many may be loaded again.
  // Measured on a 2-core EPYC of the Zen 3 kind, 2026-11, 17 kernels without
  // loops: 14 up to 13.5 take 0.70 to 1.03 of the time in their own order, 0.86
  // in the geometric mean; three from 15.6 on 1.00 to 1.85.
  MOST_RELOADED_PERCENT = 14,
  // And how many elements taken out of vectors or put in another order: LLVM
  // does those of one vector all at once, if let.
  MOST_PARTED_PERCENT = 4,
};

typedef struct walk {
  mtli_arena arena;
  LLVMTargetDataRef data;
  lanes_machine machine;
  LLVMValueRef *items;  // [count] the block's instructions
  uint32_t count;
  lanes_map numbers;  // instruction to its place
  lanes_list *uses;  // [count] places of the uses, rising; count for a use
                     // behind the block
  uint32_t *used;     // [count] how many of them have passed
  uint32_t held[MOST_REGISTERS];  // places of the values in registers
  uint32_t held_count;
  uint32_t filled;      // registers
  uint64_t operations;  // all in registers
  uint64_t reloads;
  uint64_t parted;
} walk;

// True if a value is a constant that hoist_constants has made one of.
static bool is_parked(LLVMValueRef value) {
  while (LLVMIsAFreezeInst(value) || LLVMIsAShuffleVectorInst(value)) {
    value = LLVMGetOperand(value, 0);
  }
  return LLVMIsAConstant(value);
}

// Registers that a value takes; scalars have others, and constants are operands
// in memory. A lane of a mask is as wide as what it is for, 32 bits as a rule.
static uint32_t registers_of(const walk *w, LLVMValueRef value) {
  LLVMTypeRef type = LLVMTypeOf(value);
  if (LLVMGetTypeKind(type) != LLVMVectorTypeKind || is_parked(value)) {
    return 0;
  }
  const bool is_mask = LLVMGetElementType(type) ==
                       LLVMInt1TypeInContext(LLVMGetTypeContext(type));
  const uint64_t bytes = is_mask ? LLVMGetVectorSize(type) * sizeof(uint32_t)
                                 : LLVMStoreSizeOfType(w->data, type);
  return (uint32_t)((bytes + w->machine.vector_bytes - 1) /
                    w->machine.vector_bytes);
}

static void read_block(walk *w, LLVMBasicBlockRef block) {
  w->count = 0;
  for (LLVMValueRef i = LLVMGetFirstInstruction(block); i;
       i = LLVMGetNextInstruction(i)) {
    w->count++;
  }
  w->items = lanes_allocate(&w->arena, w->count, sizeof *w->items);
  w->uses = lanes_allocate(&w->arena, w->count, sizeof *w->uses);
  w->used = lanes_allocate(&w->arena, w->count, sizeof *w->used);
  w->numbers = (lanes_map){0};
  w->held_count = w->filled = 0;
  uint32_t place = 0;
  for (LLVMValueRef i = LLVMGetFirstInstruction(block); i;
       i = LLVMGetNextInstruction(i)) {
    w->items[place] = i;
    lanes_map_set(&w->arena, &w->numbers, i, place++);
  }
}

static void find_uses(walk *w) {
  for (uint32_t place = 0; place < w->count; place++) {
    const bool is_phi = LLVMIsAPHINode(w->items[place]) != NULL;
    const int operands = is_phi ? 0 : LLVMGetNumOperands(w->items[place]);
    for (int k = 0; k < operands; k++) {
      const uint32_t of = lanes_map_get(
          &w->numbers, LLVMGetOperand(w->items[place], (unsigned)k));
      if (of != LANES_NONE) {
        lanes_list_add(&w->arena, &w->uses[of], place);
      }
    }
  }
  for (uint32_t place = 0; place < w->count; place++) {
    for (LLVMUseRef use = LLVMGetFirstUse(w->items[place]); use;
         use = LLVMGetNextUse(use)) {
      LLVMValueRef user = LLVMGetUser(use);
      if (LLVMIsAPHINode(user) ||
          lanes_map_get(&w->numbers, user) == LANES_NONE) {
        lanes_list_add(&w->arena, &w->uses[place], w->count);
        break;
      }
    }
  }
}

// Returns where a value is next used; LANES_NONE if it is not.
static uint32_t next_use(const walk *w, uint32_t place) {
  return w->used[place] < w->uses[place].count
             ? w->uses[place].items[w->used[place]]
             : LANES_NONE;
}

static void drop(walk *w, uint32_t index) {
  w->filled -= registers_of(w, w->items[w->held[index]]);
  w->held[index] = w->held[--w->held_count];
}

static bool is_held(const walk *w, uint32_t place) {
  for (uint32_t k = 0; k < w->held_count; k++) {
    if (w->held[k] == place) {
      return true;
    }
  }
  return false;
}

// Puts a value into registers, in the place of those that are used last.
static void hold(walk *w, uint32_t place) {
  const uint32_t wanted = registers_of(w, w->items[place]);
  while (w->held_count && (w->filled + wanted > w->machine.vector_registers ||
                           w->held_count == MOST_REGISTERS)) {
    uint32_t last = 0;
    for (uint32_t k = 1; k < w->held_count; k++) {
      if (next_use(w, w->held[k]) > next_use(w, w->held[last])) {
        last = k;
      }
    }
    drop(w, last);
  }
  w->held[w->held_count++] = place;
  w->filled += wanted;
}

static void step(walk *w, uint32_t place) {
  LLVMValueRef item = w->items[place];
  const int operands = LLVMIsAPHINode(item) ? 0 : LLVMGetNumOperands(item);
  for (int k = 0; k < operands; k++) {
    const uint32_t of =
        lanes_map_get(&w->numbers, LLVMGetOperand(item, (unsigned)k));
    if (of == LANES_NONE) {
      continue;
    }
    w->used[of]++;
    const uint32_t registers = registers_of(w, w->items[of]);
    if (registers && !is_held(w, of)) {
      w->reloads += registers;
      hold(w, of);
    }
  }
  for (uint32_t k = w->held_count; k-- > 0;) {
    if (next_use(w, w->held[k]) == LANES_NONE) {
      drop(w, k);
    }
  }
  const uint32_t registers = registers_of(w, item);
  w->parted += LLVMIsAExtractElementInst(item) ||
               (LLVMIsAShuffleVectorInst(item) && !is_parked(item));
  w->operations += registers;
  if (registers && next_use(w, place) != LANES_NONE) {
    hold(w, place);
  }
}

bool mtlc_keeps_source_order(const mtlc_kernel *kernel) {
  walk w = {.data = LLVMGetModuleDataLayout(kernel->module),
            .machine = lanes_machine_of(kernel->target)};
  // Loops run several iterations or simdgroups at once, which should be
  // interleaved.
  if (!kernel->is_vectorized || !kernel->facts.is_brief || !w.machine.has_gathers ||
      w.machine.vector_registers > MOST_REGISTERS) {
    return false;
  }
  for (LLVMValueRef f = LLVMGetFirstFunction(kernel->module); f;
       f = LLVMGetNextFunction(f)) {
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(f); block;
         block = LLVMGetNextBasicBlock(block)) {
      read_block(&w, block);
      find_uses(&w);
      for (uint32_t place = 0; place < w.count; place++) {
        step(&w, place);
      }
      mtli_arena_reset(&w.arena);
    }
  }
  mtli_arena_clear(&w.arena);
  return w.reloads * 100 <= w.operations * MOST_RELOADED_PERCENT &&
         w.parted * 100 <= w.operations * MOST_PARTED_PERCENT;
}
