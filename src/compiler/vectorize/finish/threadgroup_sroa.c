// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// threadgroup_sroa.c: replaces a variable by vectors of 32 elements, the cells.
// An access to known elements anywhere in them becomes shuffles between cells;
// in memory it would wait for stores of other elements that it straddles, or go
// element by element. Elements have 1 to 8 bytes; all in a block of 256 bytes
// have the same size.
#include "compiler/vectorize/finish/threadgroup_sroa.h"

#include <stddef.h>
#include <stdlib.h>

#include "code/cpu_abi.h"
#include "compiler/ir/kernel/kernel.h"
#include "compiler/ir/llvm/calls.h"
#include "compiler/ir/llvm/instructions.h"
#include "compiler/ir/llvm/types.h"
#include "compiler/ir/llvm/value_list.h"
#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/analysis/uniformity.h"
#include "compiler/vectorize/finish/evaluate.h"

enum {
  WIDTH = MOST_LANES,         // elements of a cell (one vector)
  MOST_ELEMENTS = 4 * WIDTH,  // of an access: four for each thread
  BLOCK_BYTES = 8 * WIDTH,
  BLOCK_CELLS = 8,  // the most cells of a block, with bytes as elements
  MOST_BLOCKS = 48,
  MOST_CELLS = MOST_BLOCKS * BLOCK_CELLS,
  PATIENCE = 10000,  // operations to evaluate one access
};

// --- Accesses ----------------------------------------------------------------

static uint32_t bytes_of_element(LLVMTargetDataRef data, LLVMTypeRef type) {
  switch (LLVMGetTypeKind(type)) {
    case LLVMIntegerTypeKind: {
      const unsigned bits = LLVMGetIntTypeWidth(type);
      return bits == 8 || bits == 16 || bits == 32 || bits == 64 ? bits / 8 : 0;
    }
    case LLVMHalfTypeKind:
    case LLVMBFloatTypeKind:
    case LLVMFloatTypeKind:
    case LLVMDoubleTypeKind: return (uint32_t)LLVMABISizeOfType(data, type);
    default: return 0;
  }
}

bool lanes_touch_of(LLVMTargetDataRef data, LLVMValueRef i, lanes_touch *out) {
  *out = (lanes_touch){.instruction = i, .type = LLVMTypeOf(i)};
  if (LLVMIsALoadInst(i) || LLVMIsAStoreInst(i)) {
    out->stores = LLVMIsAStoreInst(i);
    out->value = out->stores ? LLVMGetOperand(i, 0) : NULL;
    out->address = LLVMGetOperand(i, out->stores ? 1 : 0);
    if (!lanes_is_plain(i)) {
      return false;
    }
  } else if (mtlc_is_call_of(i, "llvm.masked.load.") ||
             mtlc_is_call_of(i, "llvm.masked.gather.")) {
    out->address = LLVMGetOperand(i, 0);
    out->mask = LLVMGetOperand(i, 2);
    out->value = LLVMGetOperand(i, 3);
  } else if (mtlc_is_call_of(i, "llvm.masked.store.") ||
             mtlc_is_call_of(i, "llvm.masked.scatter.")) {
    out->stores = true;
    out->value = LLVMGetOperand(i, 0);
    out->address = LLVMGetOperand(i, 1);
    out->mask = LLVMGetOperand(i, 3);
  } else {
    return false;
  }
  out->type = out->stores ? LLVMTypeOf(out->value) : out->type;
  LLVMTypeRef element = mtlc_element_of(out->type);
  out->count = element == out->type ? 1 : LLVMGetVectorSize(out->type);
  out->element_bytes = bytes_of_element(data, element);
  return out->element_bytes != 0 && out->count <= MOST_ELEMENTS;
}

static bool is_vector(LLVMValueRef value) {
  return LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMVectorTypeKind;
}

lanes_whereabouts lanes_touches_at(const lanes_known_place *place,
                                   const lanes_touch *touch, uint32_t element,
                                   LLVMValueRef root, int64_t *out) {
  uint64_t runs;
  if (touch->mask && lanes_evaluate(place, touch->mask, element, &runs) &&
      !runs) {
    return LANES_NOWHERE;
  }
  if (!lanes_offset_at(place, touch->address, element, root, out)) {
    return LANES_SOMEWHERE;
  }
  *out += is_vector(touch->address)
              ? 0
              : (int64_t)element * (int64_t)touch->element_bytes;
  return LANES_KNOWN;
}

// True for the memset that zeroes a variable.
static bool is_filled(LLVMValueRef user) {
  return mtlc_is_call_of(user, "llvm.memset.");
}

bool lanes_find_touches(LLVMTargetDataRef data, LLVMValueRef root,
                        mtlc_values *accesses) {
  mtlc_values addresses = {0};
  bool all = true;
  mtlc_values_add(&addresses, root);
  for (size_t i = 0; i < addresses.count && all; i++) {
    LLVMValueRef address = addresses.items[i];
    for (LLVMUseRef use = LLVMGetFirstUse(address); use && all;
         use = LLVMGetNextUse(use)) {
      LLVMValueRef user = LLVMGetUser(use);
      lanes_touch touch;
      if (LLVMIsAGetElementPtrInst(user) || LLVMIsAInsertElementInst(user) ||
          LLVMIsAShuffleVectorInst(user)) {  // a shuffle that repeats it for
                                             // each lane
        mtlc_values_add(&addresses, user);
      } else if (LLVMIsAAllocaInst(root) && is_filled(user)) {
        continue;
      } else {
        all = lanes_touch_of(data, user, &touch) && touch.address == address &&
              touch.value != address;
        mtlc_values_add(accesses, user);
      }
    }
  }
  free(addresses.items);
  return all;
}

// --- Cells -------------------------------------------------------------------

typedef struct cells {
  mtlc_kernel *kernel;
  LLVMBuilderRef builder;
  lanes_known_place place;
  LLVMValueRef variable;
  uint64_t size_bytes;
  uint32_t element_bytes[MOST_BLOCKS];  // 0 if no access touches it
  LLVMValueRef items[MOST_CELLS];       // one variable for each cell; NULL if
                                        // none touches it
} cells;

// The elements of an access, as cell * WIDTH + lane, or NOWHERE.
typedef struct elements {
  int at[MOST_ELEMENTS];
  int first_cell, end_cell;  // range of the cells touched
} elements;
enum { NOWHERE = -1 };

// Finds the element at an offset. False if its block has elements of another
// size or alignment.
static bool find_element(cells *c, int64_t offset, uint32_t bytes, int *out) {
  if (offset < 0 || (uint64_t)offset >= c->size_bytes || offset % bytes) {
    return false;
  }
  uint32_t *element_bytes = &c->element_bytes[offset / BLOCK_BYTES];
  *element_bytes = *element_bytes ? *element_bytes : bytes;
  const int in_block = (int)(offset % BLOCK_BYTES / bytes);
  *out = (int)(offset / BLOCK_BYTES) * BLOCK_CELLS * WIDTH + in_block;
  return *element_bytes == bytes;
}

static bool find_elements(cells *c, const lanes_touch *touch, elements *out) {
  uint64_t patience = PATIENCE;
  lanes_known_place place = c->place;
  place.patience = &patience;
  *out = (elements){.first_cell = MOST_CELLS};
  for (uint32_t k = 0; k < touch->count; k++) {
    int64_t offset = 0;
    const lanes_whereabouts found =
        lanes_touches_at(&place, touch, k, c->variable, &offset);
    out->at[k] = NOWHERE;
    if (found == LANES_NOWHERE) {
      continue;
    }
    if (found == LANES_SOMEWHERE ||
        !find_element(c, offset, touch->element_bytes, &out->at[k])) {
      return false;
    }
    const int cell = out->at[k] / WIDTH;
    out->first_cell = cell < out->first_cell ? cell : out->first_cell;
    out->end_cell = cell >= out->end_cell ? cell + 1 : out->end_cell;
  }
  return true;
}

// True if an element is touched twice.
static bool has_twice(const elements *e, uint32_t count) {
  for (uint32_t k = 1; k < count; k++) {
    for (uint32_t j = 0; j < k; j++) {
      if (e->at[k] != NOWHERE && e->at[k] == e->at[j]) {
        return true;
      }
    }
  }
  return false;
}

// True if an access can become one of cells. It cannot if lanes that may not
// run store to the same element: which is last depends on the mask.
static bool may_be_cells(cells *c, const lanes_touch *touch) {
  elements e;
  return find_elements(c, touch, &e) &&
         !(touch->stores && touch->mask && !LLVMIsConstant(touch->mask) &&
           has_twice(&e, touch->count));
}

static LLVMTypeRef cell_type(const cells *c, uint32_t element_bytes,
                             uint32_t count) {
  return LLVMVectorType(
      LLVMIntTypeInContext(c->kernel->context, 8 * element_bytes), count);
}

static LLVMValueRef cell_of(cells *c, int number, LLVMTypeRef type) {
  LLVMValueRef *cell = &c->items[number];
  if (!*cell) {
    LLVMBuilderRef entry = LLVMCreateBuilderInContext(c->kernel->context);
    LLVMPositionBuilderBefore(
        entry,
        LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(c->place.function)));
    *cell = LLVMBuildAlloca(entry, type, "cell");
    LLVMSetAlignment(*cell, MTLI_CPU_SCRATCH_ALIGNMENT);
    mtlc_position_at_entry(entry, c->place.function);
    LLVMBuildStore(entry, LLVMConstNull(type), *cell);
    LLVMDisposeBuilder(entry);
  }
  return *cell;
}

static LLVMValueRef shuffle(cells *c, LLVMValueRef left, LLVMValueRef right,
                            const int *lanes, uint32_t count) {
  const mtlc_types types = mtlc_types_of(c->kernel->context);
  LLVMValueRef mask[MOST_ELEMENTS];
  for (uint32_t k = 0; k < count; k++) {
    mask[k] = lanes[k] < 0 ? LLVMGetUndef(types.i32)
                           : mtlc_i32(c->kernel->context, (uint32_t)lanes[k]);
  }
  return LLVMBuildShuffleVector(c->builder, left, right,
                                LLVMConstVector(mask, count), "");
}

// Truncates a vector to its first lanes, or appends undefined lanes.
static LLVMValueRef resize(cells *c, LLVMValueRef value, uint32_t count) {
  int lanes[MOST_ELEMENTS];
  LLVMTypeRef type = LLVMTypeOf(value);
  const uint32_t there = LLVMGetVectorSize(type);
  for (uint32_t k = 0; k < count; k++) {
    lanes[k] = k < there ? (int)k : -1;
  }
  return there == count ? value
                        : shuffle(c, value, LLVMGetPoison(type), lanes, count);
}

static bool is_alone(const lanes_touch *touch) {
  return mtlc_element_of(touch->type) == touch->type;
}

// Loads the elements of an access, in its type.
static LLVMValueRef load_elements(cells *c, const lanes_touch *touch,
                                  const elements *e) {
  const uint32_t width = touch->count > WIDTH ? touch->count : WIDTH;
  LLVMTypeRef type = cell_type(c, touch->element_bytes, WIDTH);
  LLVMValueRef found = LLVMGetPoison(cell_type(c, touch->element_bytes, width));
  bool is_found = false;
  for (int cell = e->first_cell; cell < e->end_cell; cell++) {
    int lanes[MOST_ELEMENTS];
    bool touches = false;
    for (uint32_t k = 0; k < width; k++) {
      const int at = k < touch->count ? e->at[k] : NOWHERE;
      const bool is_here = at != NOWHERE && at / WIDTH == cell;
      touches |= is_here;
      lanes[k] = is_here ? (int)width + at % WIDTH : is_found ? (int)k : -1;
    }
    if (touches) {
      LLVMValueRef all =
          LLVMBuildLoad2(c->builder, type, cell_of(c, cell, type), "");
      found = shuffle(c, found, resize(c, all, width), lanes, width);
      is_found = true;
    }
  }
  found = is_alone(touch)
              ? LLVMBuildExtractElement(c->builder, found,
                                        mtlc_i32(c->kernel->context, 0), "")
              : resize(c, found, touch->count);
  return LLVMBuildBitCast(c->builder, found, touch->type, "");
}

// Returns an access's value as a vector of elements.
static LLVMValueRef elements_of(cells *c, const lanes_touch *touch,
                                LLVMValueRef value) {
  if (!is_alone(touch)) {
    return LLVMBuildBitCast(c->builder, value,
                            cell_type(c, touch->element_bytes, touch->count),
                            "");
  }
  LLVMTypeRef type = cell_type(c, touch->element_bytes, WIDTH);
  return LLVMBuildInsertElement(
      c->builder, LLVMGetPoison(type),
      LLVMBuildBitCast(c->builder, value, LLVMGetElementType(type), ""),
      mtlc_i32(c->kernel->context, 0), "");
}

static void store_elements(cells *c, const lanes_touch *touch,
                           const elements *e, LLVMValueRef value) {
  LLVMTypeRef type = cell_type(c, touch->element_bytes, WIDTH);
  value = elements_of(c, touch, value);
  for (int cell = e->first_cell; cell < e->end_cell; cell++) {
    int taken[WIDTH];
    int lanes[WIDTH];
    bool touches = false;
    for (int k = 0; k < WIDTH; k++) {
      taken[k] = -1;
      lanes[k] = k;
    }
    for (uint32_t k = 0; k < touch->count; k++) {
      if (e->at[k] != NOWHERE && e->at[k] / WIDTH == cell) {
        const int at = e->at[k] % WIDTH;
        taken[at] = (int)k;
        lanes[at] = WIDTH + at;
        touches = true;
      }
    }
    if (touches) {
      LLVMValueRef at = cell_of(c, cell, type);
      LLVMValueRef there = LLVMBuildLoad2(c->builder, type, at, "");
      LLVMValueRef own =
          shuffle(c, value, LLVMGetPoison(LLVMTypeOf(value)), taken, WIDTH);
      LLVMBuildStore(c->builder, shuffle(c, there, own, lanes, WIDTH), at);
    }
  }
}

static void make_access(cells *c, const lanes_touch *touch) {
  elements e;
  find_elements(c, touch, &e);
  LLVMPositionBuilderBefore(c->builder, touch->instruction);
  LLVMValueRef there =
      !touch->stores || touch->mask ? load_elements(c, touch, &e) : NULL;
  LLVMValueRef value = touch->stores ? touch->value : there;
  if (touch->mask) {
    value =
        touch->stores
            ? LLVMBuildSelect(c->builder, touch->mask, value, there, "")
            : LLVMBuildSelect(c->builder, touch->mask, there, touch->value, "");
  }
  if (touch->stores) {
    store_elements(c, touch, &e, value);
    LLVMInstructionEraseFromParent(touch->instruction);
  } else {
    mtlc_replace(touch->instruction, value);
  }
}

void lanes_split_threadgroup_memory(mtlc_kernel *kernel, LLVMValueRef variable) {
  LLVMTargetDataRef data = LLVMGetModuleDataLayout(kernel->module);
  cells c = {
      .kernel = kernel,
      .place = {.function =
                    LLVMGetBasicBlockParent(LLVMGetInstructionParent(variable)),
                .data = data},
      .variable = variable,
      .size_bytes = LLVMABISizeOfType(data, LLVMGetAllocatedType(variable))};
  mtlc_values accesses = {0};
  lanes_touch touch;
  bool all = c.size_bytes <= (uint64_t)MOST_BLOCKS * BLOCK_BYTES &&
             lanes_find_touches(data, variable, &accesses);
  for (size_t i = 0; i < accesses.count && all; i++) {
    all = lanes_touch_of(data, accesses.items[i], &touch) &&
          may_be_cells(&c, &touch);
  }
  if (all) {
    c.builder = LLVMCreateBuilderInContext(kernel->context);
    for (size_t i = 0; i < accesses.count; i++) {
      lanes_touch_of(data, accesses.items[i], &touch);
      make_access(&c, &touch);
    }
    LLVMDisposeBuilder(c.builder);
  }
  free(accesses.items);
}
