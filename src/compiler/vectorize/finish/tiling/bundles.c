// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// bundles.c: groups values of a tiled loop (register_tiling.c) that should be
// in registers together: those computed with the same elements of memory, and
// interleaved accumulators.
#include "compiler/vectorize/finish/tiling/bundles.h"

#include <llvm-c/Target.h>
#include <stddef.h>
#include <stdlib.h>

#include "compiler/ir/llvm/calls.h"
#include "compiler/vectorize/analysis/callees.h"
#include "compiler/vectorize/base/tables.h"
#include "compiler/vectorize/finish/tiling/items.h"
#include "compiler/vectorize/finish/tiling/register_tiling.h"

// --- Where elements lie ------------------------------------------------------

static bool find_place(const lanes_region *l, LLVMValueRef value, uint32_t lane,
                       lanes_element *out) {
  while (LLVMIsAShuffleVectorInst(value)) {
    const int from = LLVMGetMaskValue(value, lane);
    LLVMValueRef side = LLVMGetOperand(value, 0);
    const int side_lanes = (int)lanes_in(side);
    if (from < 0) {
      return false;
    }
    value = from < side_lanes ? side : LLVMGetOperand(value, 1);
    lane = (uint32_t)(from < side_lanes ? from : from - side_lanes);
  }
  if (!LLVMIsALoadInst(value) || !lanes_item_of(l, value) ||
      lanes_in(value) == 1) {
    return false;
  }
  LLVMTargetDataRef data = LLVMGetModuleDataLayout(l->kernel->module);
  const uint64_t size =
      LLVMStoreSizeOfType(data, LLVMGetElementType(LLVMTypeOf(value)));
  *out = (lanes_element){.base = LLVMGetOperand(value, 0),
                         .bytes = (int64_t)(lane * size),
                         .load = value};
  while (LLVMIsAGetElementPtrInst(out->base) &&
         LLVMGetNumOperands(out->base) == 2 &&
         LLVMIsAConstantInt(LLVMGetOperand(out->base, 1))) {
    const uint64_t scale =
        LLVMABISizeOfType(data, LLVMGetGEPSourceElementType(out->base));
    out->bytes +=
        LLVMConstIntGetSExtValue(LLVMGetOperand(out->base, 1)) * (int64_t)scale;
    out->base = LLVMGetOperand(out->base, 0);
  }
  return true;
}

// True if a value's lanes in a piece are all equal.
bool lanes_is_splat(LLVMValueRef value, uint32_t first, uint32_t count) {
  if (LLVMIsAConstant(value)) {
    LLVMValueRef one = LLVMGetAggregateElement(value, first);
    for (uint32_t i = 1; one && i < count; i++) {
      if (LLVMGetAggregateElement(value, first + i) != one) {
        return false;
      }
    }
    return one != NULL;
  }
  if (!LLVMIsAShuffleVectorInst(value)) {
    return false;
  }
  const int from = LLVMGetMaskValue(value, first);
  for (uint32_t i = 1; i < count; i++) {
    if (LLVMGetMaskValue(value, first + i) != from) {
      return false;
    }
  }
  return from >= 0;
}

// True if values' lanes in a piece are adjacent in memory, count elements a
// lane.
bool lanes_lie_side_by_side(const lanes_region *l, LLVMValueRef *values,
                            uint32_t count, uint32_t first,
                            lanes_element *out_first) {
  if (!find_place(l, values[0], first, out_first)) {
    return false;
  }
  LLVMTargetDataRef data = LLVMGetModuleDataLayout(l->kernel->module);
  const int64_t size = (int64_t)LLVMStoreSizeOfType(
      data, LLVMGetElementType(LLVMTypeOf(values[0])));
  for (uint32_t i = 0; i < lanes_in_piece(l) * count; i++) {
    lanes_element own;
    if (!find_place(l, values[i % count], first + i / count, &own) ||
        own.base != out_first->base ||
        own.bytes != out_first->bytes + (int64_t)i * size) {
      return false;
    }
  }
  return true;
}

static bool are_alike(LLVMValueRef a, LLVMValueRef b) {
  if (!LLVMIsAInstruction(a) || !LLVMIsAInstruction(b) ||
      LLVMGetInstructionOpcode(a) != LLVMGetInstructionOpcode(b) ||
      LLVMTypeOf(a) != LLVMTypeOf(b)) {
    return false;
  }
  switch (LLVMGetInstructionOpcode(a)) {
    case LLVMCall:
      return lanes_is_lanewise_call(a) && mtlc_callee(a) == mtlc_callee(b);
    case LLVMFNeg: return true;
    default: return LLVMIsABinaryOperator(a) != NULL;
  }
}

// Collects operand k of several operations.
void lanes_take_operands(LLVMValueRef *values, uint32_t count, unsigned k,
                         LLVMValueRef *out) {
  for (uint32_t c = 0; c < count; c++) {
    out[c] = LLVMGetOperand(values[c], k);
  }
}

bool lanes_are_all(LLVMValueRef *values, uint32_t count) {
  for (uint32_t c = 1; c < count; c++) {
    if (values[c] != values[0]) {
      return false;
    }
  }
  return true;
}

// True if the next values of a bundle's phis can be computed interleaved, as
// their elements are in memory.
static bool may_be_whole(const lanes_region *l, const lanes_bundle *b,
                         LLVMValueRef *values, uint32_t piece, uint32_t steps) {
  const uint32_t first = piece * lanes_in_piece(l);
  bool are_phis = true;
  for (uint32_t c = 0; c < b->count; c++) {
    are_phis &= values[c] == l->items[b->phis[c]].value;
  }
  lanes_element own;
  if (are_phis ||
      (lanes_are_all(values, b->count) &&
       lanes_is_splat(values[0], first, lanes_in_piece(l))) ||
      lanes_lie_side_by_side(l, values, b->count, first, &own)) {
    return true;
  }
  for (uint32_t c = 0; c < b->count; c++) {
    if (steps == 0 || !are_alike(values[0], values[c])) {
      return false;
    }
  }
  for (unsigned k = 0; k < lanes_operand_count(values[0]); k++) {
    LLVMValueRef operands[MOST_SIDE_BY_SIDE];
    lanes_take_operands(values, b->count, k, operands);
    if (!may_be_whole(l, b, operands, piece, steps - 1)) {
      return false;
    }
  }
  return true;
}

// Finds where a value's stream of elements begins and its lane stride; false if
// it uses none.
static bool find_stream(const lanes_region *l, LLVMValueRef value,
                        uint32_t steps, lanes_element *out,
                        int64_t *out_stride) {
  const lanes_item *own = lanes_item_of(l, value);
  lanes_element next;
  if (own && !own->is_kept && lanes_in(value) == l->lanes &&
      find_place(l, value, 0, out) && find_place(l, value, 1, &next) &&
      next.base == out->base && next.bytes > out->bytes) {
    *out_stride = next.bytes - out->bytes;
    return true;
  }
  if (!own || !own->is_kept || LLVMIsAPHINode(value) || steps == 0) {
    return false;
  }
  for (unsigned k = 0; k < lanes_operand_count(value); k++) {
    if (find_stream(l, LLVMGetOperand(value, k), steps - 1, out, out_stride)) {
      return true;
    }
  }
  return false;
}

// --- Bundles and units -------------------------------------------------------

typedef struct stream {
  bool is_there;
  bool is_taken;
  lanes_element first;
  int64_t stride;
} stream;

static bool may_all_be_whole(const lanes_region *l, const lanes_bundle *b) {
  LLVMValueRef nexts[MOST_SIDE_BY_SIDE];
  lanes_nexts_of(l, b, nexts);
  for (uint32_t p = 0; p < l->pieces; p++) {
    if (!may_be_whole(l, b, nexts, p, MOST_STEPS)) {
      return false;
    }
  }
  return true;
}

// Adds phis to a bundle's first one. False if there are none.
static bool fill_bundle(const lanes_region *l, const stream *streams,
                        uint32_t first, int64_t size, lanes_bundle *b,
                        uint32_t *out_numbers) {
  const int64_t count = streams[first].stride / size;
  if (count * size != streams[first].stride || count < 2 ||
      count > MOST_SIDE_BY_SIDE || (count & (count - 1))) {
    return false;
  }
  *b = (lanes_bundle){.phis = {l->kept[first]}, .count = 1};
  out_numbers[0] = first;
  while (b->count < count) {
    const uint32_t before = b->count;
    for (uint32_t i = 0; i < l->kept_count && b->count == before; i++) {
      const stream *other = &streams[i];
      if (!other->is_there || other->is_taken ||
          other->first.base != streams[first].first.base ||
          other->stride != streams[first].stride ||
          other->first.bytes !=
              streams[first].first.bytes + (int64_t)before * size) {
        continue;
      }
      // phis with the same factor
      b->phis[before] = l->kept[i];
      LLVMValueRef a = lanes_next_of(l, b->phis[0]),
                   c = lanes_next_of(l, b->phis[before]);
      bool shares = are_alike(a, c);
      uint32_t same = 0;
      for (unsigned k = 0; shares && k < lanes_operand_count(a); k++) {
        same += LLVMGetOperand(a, k) == LLVMGetOperand(c, k);
      }
      if (shares && same > 0) {
        out_numbers[b->count++] = i;
      }
    }
    if (b->count == before) {
      return false;
    }
  }
  return may_all_be_whole(l, b);
}

static int by_order(const void *left, const void *right) {
  const lanes_unit *a = left, *b = right;
  return (a->order > b->order) - (a->order < b->order);
}

// Returns one number for all units that use the same elements.
static uint64_t stream_number(const lanes_region *l, const stream *streams,
                              uint32_t i) {
  for (uint32_t k = 0; streams[i].is_there && k < i; k++) {
    if (streams[k].is_there && streams[k].first.base == streams[i].first.base &&
        streams[k].first.bytes == streams[i].first.bytes) {
      return stream_number(l, streams, k);
    }
  }
  return i;
}

static void add_unit(lanes_region *l, lanes_unit u, uint64_t elements) {
  const uint64_t k = u.bundle == LANES_NONE ? 0 : u.number;
  const uint64_t row =
      ((uint64_t)u.piece * MOST_KEPT + elements) * MOST_SIDE_BY_SIDE + k;
  u.order = row * LANES_UNIT_ROW + l->unit_count;
  l->units[l->unit_count++] = u;
}

void lanes_find_units(lanes_region *l) {
  stream *streams = lanes_allocate(l->arena, l->kept_count, sizeof *streams);
  const int64_t size = (int64_t)(l->element_bits / 8);
  for (uint32_t i = 0; i < l->kept_count; i++) {
    streams[i].is_there =
        find_stream(l, lanes_next_of(l, l->kept[i]), MOST_STEPS,
                    &streams[i].first, &streams[i].stride);
  }
  l->units =
      lanes_allocate(l->arena, l->kept_count * l->pieces, sizeof *l->units);
  l->bundles = lanes_allocate(l->arena, l->kept_count, sizeof *l->bundles);
  for (uint32_t i = 0; i < l->kept_count; i++) {
    uint32_t numbers[MOST_SIDE_BY_SIDE];
    lanes_bundle *b = &l->bundles[l->bundle_count];
    if (streams[i].is_there && !streams[i].is_taken &&
        fill_bundle(l, streams, i, size, b, numbers)) {
      for (uint32_t p = 0; p < l->pieces; p++) {
        for (uint32_t k = 0; k < b->count; k++) {
          add_unit(
              l,
              (lanes_unit){.piece = p, .bundle = l->bundle_count, .number = k},
              stream_number(l, streams, i));
        }
      }
      for (uint32_t k = 0; k < b->count; k++) {
        streams[numbers[k]].is_taken = true;
      }
      l->bundle_count++;
    }
  }
  for (uint32_t i = 0; i < l->kept_count; i++) {
    for (uint32_t p = 0; !streams[i].is_taken && p < l->pieces; p++) {
      add_unit(
          l,
          (lanes_unit){.piece = p, .bundle = LANES_NONE, .number = l->kept[i]},
          stream_number(l, streams, i));
    }
  }
  qsort(l->units, l->unit_count, sizeof *l->units, by_order);
}
