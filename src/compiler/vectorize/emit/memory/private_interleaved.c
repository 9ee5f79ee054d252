// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// private_interleaved.c: loads and stores of interleaved private memory. An
// access is split into units, each of which is one vector where all lanes use
// the same index.
#include "compiler/vectorize/emit/memory/private_interleaved.h"

#include <stdbool.h>

#include "compiler/vectorize/analysis/components.h"
#include "compiler/vectorize/base/alignment.h"
#include "compiler/vectorize/emit/memory/gathers.h"
#include "compiler/vectorize/emit/memory/masked.h"
#include "compiler/vectorize/emit/values/builder.h"
#include "compiler/vectorize/emit/values/emitter.h"
#include "compiler/vectorize/emit/values/values.h"
#include "compiler/vectorize/plan/access/access.h"
#include "compiler/vectorize/plan/access/access_plan.h"

static bool is_pointer(LLVMTypeRef type) {
  return LLVMGetTypeKind(type) == LLVMPointerTypeKind;
}

// Casts a vector of elements to integers of the same size, and back.
static LLVMValueRef to_bits(lanes_emitter *e, const lanes_access *a,
                            LLVMValueRef elements, LLVMTypeRef bits) {
  return is_pointer(a->element)
             ? LLVMBuildPtrToInt(e->builder, elements, bits, "")
             : LLVMBuildBitCast(e->builder, elements, bits, "");
}

static LLVMValueRef from_bits(lanes_emitter *e, const lanes_access *a,
                              LLVMValueRef bits) {
  LLVMTypeRef elements = lanes_vector_of(e->lanes, a->element);
  return is_pointer(a->element)
             ? LLVMBuildIntToPtr(e->builder, bits, elements, "")
             : LLVMBuildBitCast(e->builder, bits, elements, "");
}

// Returns the access to one unit of an interleaved element.
static lanes_access part_access(lanes_emitter *e, const lanes_access *a,
                                uint32_t unit) {
  lanes_access part = *a;
  if (a->size_bytes != unit) {
    part.element = LLVMIntTypeInContext(e->context, unit * 8);
  }
  part.count = 1;
  part.size_bytes = unit;
  part.alignment = unit;
  return part;
}

static LLVMValueRef load_part(lanes_emitter *e, const lanes_access *part,
                              bool is_vector,
                              uint64_t offset) {
  const uint32_t unit = (uint32_t)part->size_bytes;
  if (is_vector) {
    LLVMValueRef at =
        lanes_address_at(e, lanes_scalar(e, part->pointer, 0), offset);
    // No mask is needed: private memory exists for lanes that do not run as
    // well.
    LLVMValueRef value =
        LLVMBuildLoad2(e->builder, lanes_vector_of(e->lanes, part->element), at, "");
    LLVMSetAlignment(value, lanes_common_alignment(64, unit * e->lanes));
    return value;
  }
  return lanes_gather(e, part, lanes_vector(e, part->pointer, 0), offset);
}

static void store_part(lanes_emitter *e, const lanes_access *part,
                       bool is_vector,
                       uint64_t offset, LLVMValueRef value) {
  const uint32_t unit = (uint32_t)part->size_bytes;
  if (is_vector) {
    lanes_masked_store(
        e, part, value,
        lanes_address_at(e, lanes_scalar(e, part->pointer, 0), offset),
        lanes_common_alignment(64, unit * e->lanes), e->mask);
    return;
  }
  lanes_scatter(e, part, lanes_vector(e, part->pointer, 0), offset, value);
}

void lanes_load_private(lanes_emitter *e, const lanes_access *a,
                        const lanes_choice *choice,
                      LLVMValueRef *out_components) {
  const uint32_t unit = choice->stride;
  const bool is_vector = choice->form == LANES_PRIVATE_VECTOR;
  const lanes_access part = part_access(e, a, unit);
  const uint32_t parts = (uint32_t)a->size_bytes / unit;
  for (uint32_t c = 0; c < a->count; c++) {
    const uint64_t offset = c * a->size_bytes * e->lanes;
    if (parts == 1) {
      out_components[c] = load_part(e, &part, is_vector, offset);
      continue;
    }
    LLVMTypeRef whole = lanes_vector_of(e->lanes, 
        LLVMIntTypeInContext(e->context, (unsigned)a->size_bytes * 8));
    LLVMValueRef sum = LLVMConstNull(whole);
    for (uint32_t p = 0; p < parts; p++) {
      LLVMValueRef value = LLVMBuildZExt(
          e->builder, load_part(e, &part, is_vector, offset + (uint64_t)p * unit * e->lanes),
          whole, "");
      LLVMValueRef shift =
          lanes_steps(e->lanes, LLVMGetElementType(whole), (uint64_t)p * unit * 8, 0);
      sum = LLVMBuildOr(e->builder, sum,
                        LLVMBuildShl(e->builder, value, shift, ""), "");
    }
    out_components[c] = from_bits(e, a, sum);
  }
}

void lanes_store_private(lanes_emitter *e, const lanes_access *a,
                        const lanes_choice *choice,
                       LLVMValueRef *components) {
  const uint32_t unit = choice->stride;
  const bool is_vector = choice->form == LANES_PRIVATE_VECTOR;
  const lanes_access part = part_access(e, a, unit);
  const uint32_t parts = (uint32_t)a->size_bytes / unit;
  for (uint32_t c = 0; c < a->count; c++) {
    const uint64_t offset = c * a->size_bytes * e->lanes;
    if (parts == 1) {
      store_part(e, &part, is_vector, offset, components[c]);
      continue;
    }
    LLVMTypeRef whole = lanes_vector_of(e->lanes, 
        LLVMIntTypeInContext(e->context, (unsigned)a->size_bytes * 8));
    LLVMValueRef bits = to_bits(e, a, components[c], whole);
    for (uint32_t p = 0; p < parts; p++) {
      LLVMValueRef shift =
          lanes_steps(e->lanes, LLVMGetElementType(whole), (uint64_t)p * unit * 8, 0);
      LLVMValueRef value =
          LLVMBuildTrunc(e->builder, LLVMBuildLShr(e->builder, bits, shift, ""),
                         lanes_vector_of(e->lanes, part.element), "");
      store_part(e, &part, is_vector, offset + (uint64_t)p * unit * e->lanes, value);
    }
  }
}
