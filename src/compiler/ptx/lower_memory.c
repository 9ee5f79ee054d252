// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// lower_memory.c: what LLVM 19's PTX back end does not take or takes wrongly of
// memory: fences, ordered atomics, and constants with vectors of three, whose
// padding it leaves out. Constants of bytes are padded, so that the host may read
// a text piece by piece (code/ptx_abi.h).
//
// Requires  any module
// Leaves    fences as machine code; relaxed atomics; no initialiser with a
//           vector in it; no globals that are LLVM's own
#include <llvm-c/Target.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "code/ptx_abi.h"
#include "compiler/ir/kernel/kernel.h"
#include "compiler/ir/llvm/instructions.h"
#include "compiler/ir/llvm/names.h"
#include "compiler/ir/llvm/types.h"
#include "compiler/ir/llvm/value_list.h"
#include "compiler/ptx/ptx.h"

// --- fences ------------------------------------------------------------------

typedef struct fencing {
  mtlc_kernel *kernel;
  mtlc_types types;
  LLVMBuilderRef builder;
} fencing;

// Builds a fence before an instruction, for threads of other threadgroups as
// well.
static void build_fence(const fencing *f, LLVMValueRef before, bool is_total) {
  const char *text = is_total ? "fence.sc.gpu;" : "fence.acq_rel.gpu;";
  static const char clobbers[] = "~{memory}";
  LLVMTypeRef type = LLVMFunctionType(f->types.nothing, NULL, 0, false);
  LLVMValueRef code =
      LLVMGetInlineAsm(type, text, strlen(text), clobbers, sizeof clobbers - 1,
                       true, false, LLVMInlineAsmDialectATT, false);
  LLVMPositionBuilderBefore(f->builder, before);
  LLVMBuildCall2(f->builder, type, code, NULL, 0, "");
}

static bool is_ordered(LLVMAtomicOrdering ordering) {
  return ordering > LLVMAtomicOrderingMonotonic;
}

static void relax(const fencing *f, LLVMValueRef i,
                  LLVMAtomicOrdering ordering) {
  const bool is_total = ordering == LLVMAtomicOrderingSequentiallyConsistent;
  build_fence(f, i, is_total);
  build_fence(f, LLVMGetNextInstruction(i), is_total);
}

static void lower_ordering(LLVMValueRef i, void *context) {
  const fencing *f = context;
  if (mtlc_is_opcode(i, LLVMFence)) {
    build_fence(f, i,
                LLVMGetOrdering(i) == LLVMAtomicOrderingSequentiallyConsistent);
    LLVMInstructionEraseFromParent(i);
  } else if (LLVMIsAAtomicCmpXchgInst(i)) {
    if (is_ordered(LLVMGetCmpXchgSuccessOrdering(i))) {
      relax(f, i, LLVMGetCmpXchgSuccessOrdering(i));
      LLVMSetCmpXchgFailureOrdering(i, LLVMAtomicOrderingMonotonic);
      LLVMSetCmpXchgSuccessOrdering(i, LLVMAtomicOrderingMonotonic);
    }
  } else if ((LLVMIsALoadInst(i) || LLVMIsAStoreInst(i) ||
              LLVMIsAAtomicRMWInst(i)) &&
             is_ordered(LLVMGetOrdering(i))) {
    relax(f, i, LLVMGetOrdering(i));
    LLVMSetOrdering(i, LLVMAtomicOrderingMonotonic);
  }
}

// --- constants ---------------------------------------------------------------

static bool has_vector(LLVMTypeRef type) {
  switch (LLVMGetTypeKind(type)) {
    case LLVMVectorTypeKind: return true;
    case LLVMArrayTypeKind: return has_vector(LLVMGetElementType(type));
    case LLVMStructTypeKind:
      for (unsigned i = 0; i < LLVMCountStructElementTypes(type); i++) {
        if (has_vector(LLVMStructGetTypeAtIndex(type, i))) {
          return true;
        }
      }
      return false;
    default: return false;
  }
}

// The members of a packed struct, one after another.
typedef struct pieces {
  LLVMContextRef context;
  LLVMTargetDataRef data;
  LLVMTypeRef byte;
  mtlc_values items;
  uint64_t end;  // bytes so far
} pieces;

static void pad(pieces *p, uint64_t offset) {
  if (offset > p->end) {
    mtlc_values_add(&p->items,
                    LLVMConstNull(LLVMArrayType2(p->byte, offset - p->end)));
    p->end = offset;
  }
}

static void append(pieces *p, LLVMValueRef value, uint64_t offset);

// Returns an element of an aggregate; also of one that is all zeros or
// undefined.
static LLVMValueRef element(LLVMValueRef value, unsigned index) {
  return LLVMGetAggregateElement(value, index);
}

static void append_elements(pieces *p, LLVMValueRef value, uint64_t offset,
                            unsigned count, uint64_t stride) {
  for (unsigned i = 0; i < count; i++) {
    append(p, element(value, i), offset + i * stride);
  }
}

static void append(pieces *p, LLVMValueRef value, uint64_t offset) {
  LLVMTypeRef type = LLVMTypeOf(value);
  if (LLVMIsNull(value) || LLVMIsUndef(value)) {
    pad(p, offset + LLVMABISizeOfType(p->data, type));
    return;
  }
  switch (LLVMGetTypeKind(type)) {
    case LLVMStructTypeKind:
      for (unsigned i = 0; i < LLVMCountStructElementTypes(type); i++) {
        append(p, element(value, i),
               offset + LLVMOffsetOfElement(p->data, type, i));
      }
      break;
    case LLVMArrayTypeKind:
      append_elements(
          p, value, offset, (unsigned)LLVMGetArrayLength2(type),
          LLVMABISizeOfType(p->data, LLVMGetElementType(type)));
      break;
    case LLVMVectorTypeKind:
      append_elements(
          p, value, offset, LLVMGetVectorSize(type),
          LLVMStoreSizeOfType(p->data, LLVMGetElementType(type)));
      break;
    default:
      pad(p, offset);
      mtlc_values_add(&p->items, value);
      p->end = offset + LLVMStoreSizeOfType(p->data, type);
      return;
  }
  pad(p, offset + LLVMABISizeOfType(p->data, type));
}

// Makes a variable again whose initialiser's parts are scalars and padding.
static void flatten(mtlc_kernel *kernel, LLVMValueRef global) {
  pieces p = {.context = kernel->context,
              .data = LLVMGetModuleDataLayout(kernel->module),
              .byte = LLVMInt8TypeInContext(kernel->context)};
  append(&p, LLVMGetInitializer(global), 0);
  LLVMValueRef value = LLVMConstStructInContext(
      kernel->context, p.items.items, (unsigned)p.items.count, true);
  LLVMTypeRef type = LLVMGlobalGetValueType(global);
  const unsigned alignment = LLVMGetAlignment(global);
  LLVMValueRef made = LLVMAddGlobalInAddressSpace(
      kernel->module, LLVMTypeOf(value), "",
      LLVMGetPointerAddressSpace(LLVMTypeOf(global)));
  LLVMSetInitializer(made, value);
  LLVMSetGlobalConstant(made, LLVMIsGlobalConstant(global));
  LLVMSetLinkage(made, LLVMInternalLinkage);
  LLVMSetAlignment(made, alignment ? alignment
                                   : LLVMABIAlignmentOfType(p.data, type));
  LLVMReplaceAllUsesWith(global, made);
  LLVMDeleteGlobal(global);
  free(p.items.items);
}

static bool is_text(LLVMValueRef global) {
  LLVMValueRef value = LLVMGetInitializer(global);
  return value && LLVMIsGlobalConstant(global) &&
         LLVMGetPointerAddressSpace(LLVMTypeOf(global)) == 0 &&
         LLVMIsAConstantDataSequential(value) && LLVMIsConstantString(value);
}

LLVMValueRef mtlc_ptx_add_text(mtlc_kernel *kernel, const char *text,
                               size_t length, unsigned alignment) {
  enum { UNIT = MTLI_PTX_TEXT_BYTES };
  const size_t padded = (length + UNIT - 1) / UNIT * UNIT;
  char *bytes = calloc(1, padded + 1);
  if (!bytes) {
    abort();  // as LLVM does
  }
  memcpy(bytes, text, length);
  LLVMValueRef value = LLVMConstStringInContext(kernel->context, bytes,
                                                (unsigned)padded, true);
  free(bytes);
  LLVMValueRef made = LLVMAddGlobal(kernel->module, LLVMTypeOf(value), "");
  LLVMSetInitializer(made, value);
  LLVMSetGlobalConstant(made, true);
  LLVMSetLinkage(made, LLVMInternalLinkage);
  LLVMSetAlignment(made, alignment > UNIT ? alignment : UNIT);
  return made;
}

static void pad_text(mtlc_kernel *kernel, LLVMValueRef global) {
  size_t length = 0;
  const char *text = LLVMGetAsString(LLVMGetInitializer(global), &length);
  LLVMReplaceAllUsesWith(
      global, mtlc_ptx_add_text(kernel, text, length, LLVMGetAlignment(global)));
  LLVMDeleteGlobal(global);
}

static void flatten_constants(mtlc_kernel *kernel) {
  mtlc_values globals = {0};
  for (LLVMValueRef global = LLVMGetFirstGlobal(kernel->module); global;
       global = LLVMGetNextGlobal(global)) {
    mtlc_values_add(&globals, global);
  }
  for (size_t i = 0; i < globals.count; i++) {
    LLVMValueRef global = globals.items[i];
    if (mtlc_starts_with(mtlc_name(global), "llvm.")) {
      LLVMDeleteGlobal(global);
    } else if (LLVMGetInitializer(global) &&
               !LLVMIsNull(LLVMGetInitializer(global)) &&
               has_vector(LLVMGlobalGetValueType(global))) {
      flatten(kernel, global);
    } else if (is_text(global)) {
      pad_text(kernel, global);
    }
  }
  free(globals.items);
}

mtl_status mtlc_ptx_lower_memory(mtlc_kernel *kernel) {
  fencing f = {.kernel = kernel,
               .types = mtlc_types_of(kernel->context),
               .builder = LLVMCreateBuilderInContext(kernel->context)};
  mtlc_for_each_in_module(kernel->module, lower_ordering, &f);
  LLVMDisposeBuilder(f.builder);
  flatten_constants(kernel);
  return MTL_OK;
}
