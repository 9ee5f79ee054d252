// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// value_slots.c: chooses which values of the thread function go through memory:
// those that another block reads.
#include "compiler/vectorize/emit/values/value_slots.h"

#include <stddef.h>

#include "compiler/ir/llvm/instructions.h"
#include "compiler/vectorize/analysis/components.h"
#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/analysis/uniformity.h"
#include "compiler/vectorize/base/tables.h"
#include "compiler/vectorize/emit/values/builder.h"
#include "compiler/vectorize/emit/values/emitter.h"
#include "compiler/vectorize/emit/values/values.h"

// Returns the address of a matrix accumulator.
static LLVMValueRef home_of_sum(lanes_emitter *e, uint32_t number,
                                LLVMValueRef *only) {
  if (!e->has_one_sum) {
    return mtlc_offset(e->prologue, LLVMGetParam(e->function, LANES_FRAME),
                       e->sum_places[number]);
  }
  if (!*only) {
    *only = lanes_promotable_alloca(e, LLVMVectorType(e->types.f32, 2 * e->lanes));
  }
  return *only;
}

void lanes_make_slots(lanes_emitter *e) {
  const lanes_values *values = e->values;
  LLVMValueRef only_sum = NULL;
  e->slots = lanes_allocate(e->arena, values->count, sizeof *e->slots);
  for (uint32_t n = 0; n < values->count; n++) {
    LLVMValueRef i = values->items[n];
    LLVMTypeRef type = LLVMTypeOf(i);
    const uint32_t count = lanes_component_count(type);
    lanes_slot *slot = &e->slots[n];
    slot->component_count = count;
    slot->current = lanes_allocate(e->arena, count, sizeof(void *));
    slot->as_vector = lanes_allocate(e->arena, count, sizeof(void *));
    slot->everywhere = lanes_allocate(e->arena, count, sizeof(void *));
    if (e->sum_places && e->sum_places[n]) {
      slot->home = home_of_sum(e, n, &only_sum);
      continue;
    }
    if (e->planning->kept[n]) {
      slot->memory = lanes_allocate(e->arena, count, sizeof(void *));
    }
    if (LLVMGetInstructionOpcode(i) == LLVMPHI) {
      slot->phi_memory = lanes_allocate(e->arena, count, sizeof(void *));
      for (uint32_t c = 0; c < count; c++) {
        LLVMTypeRef part = lanes_component_type(type, c);
        slot->phi_memory[c] =
            lanes_promotable_alloca(e, lanes_wide(part, lanes_width(e, i)));
      }
    }
  }
}
