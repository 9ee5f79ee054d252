// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// shadows.c: the table of shadows. A shadow says which bits of a value were
// never set, and where the first unset value came from. Only values that depend
// on memory, or on a variable without a value, can have one; bits that are
// masked, shifted out or not selected do not count.
#include "compiler/check/shadows.h"

#include <llvm-c/DebugInfo.h>
#include <stdlib.h>

static void find_maybe(mtlc_shadows *s);

mtlc_shadows *mtlc_shadows_begin(mtlc_kernel *kernel, mtlc_sites *sites,
                                 LLVMBuilderRef builder) {
  mtlc_shadows *s = calloc(1, sizeof *s);
  if (!s) {
    abort();  // as mtlc_values_add
  }
  *s = (mtlc_shadows){.kernel = kernel,
                      .sites = sites,
                      .types = mtlc_types_of(kernel->context),
                      .builder = builder,
                      .layout = LLVMGetModuleDataLayout(kernel->module),
                      .capacity = 1024};
  s->entries = calloc(s->capacity, sizeof *s->entries);
  if (!s->entries) {
    abort();
  }
  find_maybe(s);
  return s;
}

void mtlc_shadows_end(mtlc_shadows *s) {
  free(s->entries);
  free(s->maybe);
  free(s->phis.items);
  free(s);
}

// --- the table --------------------------------------------------------------

static mtlc_shadow_entry *slot_of(const mtlc_shadows *s, LLVMValueRef value) {
  size_t at = ((uintptr_t)value >> 4) * 0x9e3779b97f4a7c15u >> 20;
  for (;; ++at) {
    mtlc_shadow_entry *e = &s->entries[at & (s->capacity - 1)];
    if (!e->value || e->value == value) {
      return e;
    }
  }
}

void mtlc_set_shadow(mtlc_shadows *s, LLVMValueRef value, mtlc_shadow shadow) {
  if (2 * s->count > s->capacity) {
    mtlc_shadow_entry *old = s->entries;
    const size_t old_capacity = s->capacity;
    s->capacity *= 2;
    s->entries = calloc(s->capacity, sizeof *s->entries);
    if (!s->entries) {
      abort();
    }
    for (size_t i = 0; i < old_capacity; ++i) {
      if (old[i].value) {
        *slot_of(s, old[i].value) = old[i];
      }
    }
    free(old);
  }
  mtlc_shadow_entry *e = slot_of(s, value);
  s->count += e->value == NULL;
  *e = (mtlc_shadow_entry){value, shadow};
}

// --- values that may have one -----------------------------------------------

static mtlc_shadow_entry *maybe_slot(const mtlc_shadows *s,
                                     LLVMValueRef value) {
  size_t at = ((uintptr_t)value >> 4) * 0x9e3779b97f4a7c15u >> 20;
  for (;; ++at) {
    mtlc_shadow_entry *e = &s->maybe[at & (s->maybe_capacity - 1)];
    if (!e->value || e->value == value) {
      return e;
    }
  }
}

// False if the value is in the set already.
static bool add_maybe(mtlc_shadows *s, LLVMValueRef value) {
  mtlc_shadow_entry *e = maybe_slot(s, value);
  if (e->value) {
    return false;
  }
  e->value = value;
  ++s->maybe_count;
  return true;
}

// True for a load of constant memory, which the host has set.
static bool is_of_constants(const mtlc_shadows *s, LLVMValueRef load) {
  const mtlc_root root = mtlc_find_root(s->kernel, LLVMGetOperand(load, 0));
  return root.space == MTLI_CHECK_CONSTANT ||
         root.space == MTLI_CHECK_ANYWHERE ||
         (root.slot != MTLI_CHECK_NO_SLOT &&
          s->kernel->kernel->parameters[root.slot].is_constant);
}

static bool is_source(const mtlc_shadows *s, LLVMValueRef i) {
  LLVMValueRef callee = mtlc_callee(i);
  if (callee) {
    return mtlc_starts_with(mtlc_name(callee), MTLC_UNSET_PREFIX) ||
           mtlc_starts_with(mtlc_name(callee), "mettle.simd.");
  }
  return (LLVMIsALoadInst(i) && !is_of_constants(s, i)) ||
         LLVMIsAAtomicRMWInst(i) || LLVMIsAAtomicCmpXchgInst(i);
}

// Fills the set: sources of unset bits, and all values that depend on one.
static void find_maybe(mtlc_shadows *s) {
  s->maybe_capacity = 1024;
  while (s->maybe_capacity <
         4 * (size_t)mtlc_count_instructions(s->kernel->thread)) {
    s->maybe_capacity *= 2;
  }
  s->maybe = calloc(s->maybe_capacity, sizeof *s->maybe);
  if (!s->maybe) {
    abort();
  }
  mtlc_values work = {0};
  for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(s->kernel->thread);
       block; block = LLVMGetNextBasicBlock(block)) {
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i;
         i = LLVMGetNextInstruction(i)) {
      if (is_source(s, i) && add_maybe(s, i)) {
        mtlc_values_add(&work, i);
      }
    }
  }
  while (work.count) {
    LLVMValueRef value = work.items[--work.count];
    for (LLVMUseRef use = LLVMGetFirstUse(value); use;
         use = LLVMGetNextUse(use)) {
      LLVMValueRef user = LLVMGetUser(use);
      if (!LLVMIsALoadInst(user) && !LLVMIsAStoreInst(user) &&
          add_maybe(s, user)) {
        mtlc_values_add(&work, user);
      }
    }
  }
  free(work.items);
}

// --- queries and visits -----------------------------------------------------

mtlc_shadow mtlc_shadow_of(mtlc_shadows *s, LLVMValueRef value) {
  const mtlc_shadow_entry *e = slot_of(s, value);
  return e->value ? e->shadow : mtlc_shadow_all_set(s, LLVMTypeOf(value));
}

bool mtlc_is_set(mtlc_shadows *s, LLVMValueRef value) {
  const mtlc_shadow_entry *e = slot_of(s, value);
  return !e->value || !e->shadow.bits || LLVMIsNull(e->shadow.bits);
}

static bool all_operands_set(mtlc_shadows *s, LLVMValueRef instruction) {
  for (unsigned i = 0; i < (unsigned)LLVMGetNumOperands(instruction); ++i) {
    if (!mtlc_is_set(s, LLVMGetOperand(instruction, i))) {
      return false;
    }
  }
  return true;
}

static void visit_phi(mtlc_shadows *s, LLVMValueRef phi) {
  LLVMTypeRef type = mtlc_shadow_type(s, LLVMTypeOf(phi));
  if (!type) {
    return;
  }
  LLVMPositionBuilderBefore(s->builder, phi);
  LLVMSetCurrentDebugLocation2(s->builder, NULL);
  const mtlc_shadow shadow = {LLVMBuildPhi(s->builder, type, "unset"),
                              LLVMBuildPhi(s->builder, s->types.i32, "origin")};
  mtlc_set_shadow(s, phi, shadow);
  mtlc_values_add(&s->phis, phi);
}

void mtlc_shadows_visit(mtlc_shadows *s, LLVMValueRef i) {
  LLVMTypeRef type = LLVMTypeOf(i);
  if (!maybe_slot(s, i)->value) {
    return;
  }
  if (LLVMIsAPHINode(i)) {
    visit_phi(s, i);
    return;
  }
  if (mtlc_is_call_of(i, MTLC_UNSET_PREFIX)) {
    mtlc_set_shadow(s, i, mtlc_shadow_of_mark(s, i));
    return;
  }
  if (LLVMGetTypeKind(type) == LLVMVoidTypeKind || LLVMIsAAllocaInst(i) ||
      LLVMIsALoadInst(i) || LLVMIsAAtomicRMWInst(i) ||
      LLVMIsAAtomicCmpXchgInst(i) || LLVMIsAStoreInst(i) ||
      all_operands_set(s, i)) {
    return;
  }
  mtlc_shadow shadow;
  LLVMPositionBuilderBefore(s->builder, LLVMGetNextInstruction(i));
  LLVMSetCurrentDebugLocation2(s->builder, LLVMInstructionGetDebugLoc(i));
  if (mtlc_make_shadow(s, i, &shadow) && shadow.bits) {
    mtlc_set_shadow(s, i, shadow);
  }
}

void mtlc_shadows_finish(mtlc_shadows *s) {
  for (size_t i = 0; i < s->phis.count; ++i) {
    LLVMValueRef phi = s->phis.items[i];
    const mtlc_shadow shadow = mtlc_shadow_of(s, phi);
    for (unsigned k = 0; k < LLVMCountIncoming(phi); ++k) {
      mtlc_shadow from = mtlc_shadow_of(s, LLVMGetIncomingValue(phi, k));
      LLVMBasicBlockRef block = LLVMGetIncomingBlock(phi, k);
      LLVMAddIncoming(shadow.bits, &from.bits, &block, 1);
      LLVMAddIncoming(shadow.origin, &from.origin, &block, 1);
    }
  }
}
