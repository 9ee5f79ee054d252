// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// builder.c: blocks, shuffles, masks and memory of the emitted function.
#include "compiler/vectorize/emit/values/builder.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "compiler/ir/llvm/marks.h"
#include "compiler/ir/llvm/types.h"
#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/base/tables.h"
#include "compiler/vectorize/emit/values/emitter.h"

LLVMBasicBlockRef lanes_block(lanes_emitter *e, const char *name) {
  return LLVMAppendBasicBlockInContext(e->context, e->function, name);
}

void lanes_keep_loop(LLVMValueRef latch) {
  mtlc_set_loop_hint(latch, "llvm.loop.unroll.disable");
}

LLVMValueRef lanes_intrinsic(lanes_emitter *e, const char *name,
                             LLVMTypeRef *overloads, uint32_t overload_count,
                             LLVMValueRef *arguments, uint32_t count) {
  const unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
  LLVMValueRef function = LLVMGetIntrinsicDeclaration(
      e->kernel->module, id, overloads, overload_count);
  return LLVMBuildCall2(e->builder, LLVMGlobalGetValueType(function), function,
                        arguments, count, "");
}

LLVMValueRef lanes_shuffle(lanes_emitter *e, LLVMValueRef a, LLVMValueRef b,
                           const int *lanes, uint32_t count) {
  LLVMValueRef *items = lanes_allocate(e->arena, count, sizeof *items);
  for (uint32_t i = 0; i < count; i++) {
    items[i] = lanes[i] < 0 ? LLVMGetPoison(e->types.i32)
                            : mtlc_i32(e->context, (uint32_t)lanes[i]);
  }
  return LLVMBuildShuffleVector(e->builder, a,
                                b ? b : LLVMGetPoison(LLVMTypeOf(a)),
                                LLVMConstVector(items, count), "");
}

LLVMValueRef lanes_subvector(lanes_emitter *e, LLVMValueRef vector, uint32_t first,
                         uint32_t count) {
  if (count == LLVMGetVectorSize(LLVMTypeOf(vector))) {
    return vector;
  }
  int *lanes = lanes_allocate(e->arena, count, sizeof *lanes);
  for (uint32_t i = 0; i < count; i++) {
    lanes[i] = (int)(first + i);
  }
  return lanes_shuffle(e, vector, NULL, lanes, count);
}

LLVMValueRef lanes_interleave(lanes_emitter *e, LLVMValueRef first,
                              LLVMValueRef second) {
  int items[2 * MOST_LANES];
  for (uint32_t i = 0; i < 2 * e->lanes; i++) {
    items[i] = (int)(i / 2 + i % 2 * e->lanes);
  }
  return lanes_shuffle(e, first, second, items, 2 * e->lanes);
}

LLVMValueRef lanes_deinterleave(lanes_emitter *e, LLVMValueRef both,
                                uint32_t from) {
  int items[MOST_LANES];
  for (uint32_t i = 0; i < e->lanes; i++) {
    items[i] = (int)(2 * i + from);
  }
  return lanes_shuffle(e, both, NULL, items, e->lanes);
}

LLVMValueRef lanes_splat_to(lanes_emitter *e, LLVMBuilderRef builder,
                            LLVMValueRef scalar, uint32_t width) {
  if (width == 1) {
    return scalar;
  }
  if (LLVMIsConstant(scalar) && !LLVMIsAConstantExpr(scalar) &&
      !LLVMIsAGlobalValue(scalar)) {
    LLVMValueRef *items = lanes_allocate(e->arena, width, sizeof *items);
    for (uint32_t i = 0; i < width; i++) {
      items[i] = scalar;
    }
    return LLVMConstVector(items, width);
  }
  LLVMTypeRef type = LLVMVectorType(LLVMTypeOf(scalar), width);
  LLVMValueRef one = LLVMBuildInsertElement(
      builder, LLVMGetPoison(type), scalar, mtlc_i32(e->context, 0), "");
  LLVMValueRef zeros = LLVMConstNull(LLVMVectorType(e->types.i32, width));
  return LLVMBuildShuffleVector(builder, one, LLVMGetPoison(type), zeros, "");
}

LLVMValueRef lanes_splat(lanes_emitter *e, LLVMBuilderRef builder,
                         LLVMValueRef scalar) {
  return lanes_splat_to(e, builder, scalar, e->lanes);
}

LLVMValueRef lanes_steps(uint32_t lanes, LLVMTypeRef type, uint64_t start, uint64_t step) {
  LLVMValueRef items[MOST_LANES];
  for (uint32_t i = 0; i < lanes; i++) {
    items[i] = LLVMConstInt(type, start + i * step, false);
  }
  return LLVMConstVector(items, lanes);
}

static LLVMValueRef all_bits(lanes_emitter *e, LLVMValueRef mask) {
  LLVMTypeRef bits =
      LLVMIntTypeInContext(e->context, LLVMGetVectorSize(LLVMTypeOf(mask)));
  return LLVMBuildBitCast(e->builder, mask, bits, "");
}

LLVMValueRef lanes_mask_bits(lanes_emitter *e, LLVMValueRef mask) {
  return LLVMBuildZExt(e->builder, all_bits(e, mask), e->types.i32, "");
}

LLVMValueRef lanes_last(lanes_emitter *e) {
  LLVMValueRef arguments[] = {lanes_mask_bits(e, e->mask),
                              LLVMConstInt(e->types.i1, 0, false)};
  LLVMValueRef above =
      lanes_intrinsic(e, "llvm.ctlz", &e->types.i32, 1, arguments, 2);
  return LLVMBuildAnd(e->builder, LLVMBuildNot(e->builder, above, ""),
                      mtlc_i32(e->context, e->lanes - 1), "");
}

LLVMValueRef lanes_any(lanes_emitter *e, LLVMValueRef mask) {
  LLVMValueRef bits = all_bits(e, mask);
  return LLVMBuildICmp(e->builder, LLVMIntNE, bits,
                       LLVMConstNull(LLVMTypeOf(bits)), "");
}

LLVMValueRef lanes_all(lanes_emitter *e, LLVMValueRef mask) {
  LLVMValueRef bits = all_bits(e, mask);
  return LLVMBuildICmp(e->builder, LLVMIntEQ, bits,
                       LLVMConstAllOnes(LLVMTypeOf(bits)), "");
}

LLVMValueRef lanes_fixed_alloca(lanes_emitter *e, LLVMTypeRef type) {
  LLVMBuilderRef builder = LLVMCreateBuilderInContext(e->context);
  LLVMValueRef first = LLVMGetFirstInstruction(e->entry);
  if (first) {
    LLVMPositionBuilderBefore(builder, first);
  } else {
    LLVMPositionBuilderAtEnd(builder, e->entry);
  }
  LLVMValueRef memory = LLVMBuildAlloca(builder, type, "");
  LLVMDisposeBuilder(builder);
  return memory;
}

LLVMValueRef lanes_promotable_alloca(lanes_emitter *e, LLVMTypeRef type) {
  LLVMValueRef memory = lanes_fixed_alloca(e, type);
  e->memories = lanes_make_room(e->arena, e->memories, e->memory_count,
                                &e->memory_capacity, 256, sizeof *e->memories);
  e->memories[e->memory_count++] = memory;
  return memory;
}

// Concatenates vectors of equal length, a power of two of them at the end.
LLVMValueRef lanes_concatenated(lanes_emitter *e, LLVMValueRef *parts,
                                uint32_t count) {
  while (count > 1) {
    const uint32_t length = LLVMGetVectorSize(LLVMTypeOf(parts[0]));
    int *lanes = lanes_allocate(e->arena, 2 * length, sizeof *lanes);
    for (uint32_t i = 0; i < 2 * length; i++) {
      lanes[i] = (int)i;
    }
    uint32_t joined = 0;
    for (uint32_t i = 0; i < count; i += 2) {
      LLVMValueRef second =
          i + 1 < count ? parts[i + 1] : LLVMGetPoison(LLVMTypeOf(parts[i]));
      parts[joined++] = lanes_shuffle(e, parts[i], second, lanes, 2 * length);
    }
    count = joined;
  }
  return parts[0];
}

LLVMValueRef lanes_address_at(lanes_emitter *e, LLVMValueRef pointer,
                              uint64_t offset) {
  if (!offset) {
    return pointer;
  }
  LLVMValueRef by = mtlc_i64(e->context, offset);
  return LLVMBuildGEP2(e->builder, e->types.i8, pointer, &by, 1, "");
}

LLVMValueRef lanes_gather_from(lanes_emitter *e, LLVMTypeRef element,
                               LLVMValueRef pointers, uint32_t alignment,
                               LLVMValueRef mask) {
  LLVMTypeRef type =
      LLVMVectorType(element, LLVMGetVectorSize(LLVMTypeOf(pointers)));
  LLVMValueRef arguments[] = {pointers, mtlc_i32(e->context, alignment), mask,
                              LLVMGetPoison(type)};
  LLVMTypeRef overloads[] = {type, LLVMTypeOf(pointers)};
  return lanes_intrinsic(e, "llvm.masked.gather", overloads, 2, arguments, 4);
}

LLVMValueRef lanes_broadcast_segments(lanes_emitter *e, LLVMValueRef firsts, uint32_t from,
                          int64_t stride, uint32_t width) {
  LLVMValueRef all = NULL;
  if (from == 1) {
    all = lanes_splat_to(e, e->builder, firsts, width);
  } else {
    int items[MOST_LANES];
    for (uint32_t i = 0; i < width; i++) {
      items[i] = (int)(i * from / width);
    }
    all = lanes_shuffle(e, firsts, NULL, items, width);
  }
  if (!stride) {
    return all;
  }
  LLVMTypeRef type = LLVMGetElementType(LLVMTypeOf(all));
  const bool is_pointer = LLVMGetTypeKind(type) == LLVMPointerTypeKind;
  LLVMTypeRef number = is_pointer ? e->types.i64 : type;
  LLVMValueRef steps[MOST_LANES];
  for (uint32_t i = 0; i < width; i++) {
    const uint64_t lane = i % (width / from) * (e->lanes / width);
    steps[i] = LLVMConstInt(number, lane * (uint64_t)stride, false);
  }
  LLVMValueRef by = LLVMConstVector(steps, width);
  if (is_pointer) {
    return LLVMBuildGEP2(e->builder, e->types.i8, from == 1 ? firsts : all, &by,
                         1, "");
  }
  return LLVMBuildAdd(e->builder, all, by, "");
}
