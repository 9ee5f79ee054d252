// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// access_spaces.c: finds the origin of every address in a copy of the module in
// which everything is inlined and variables are SSA values. An assumption
// before each access of the copy names its address and its number; LLVM drops
// it with a variable that becomes a value.
#include "compiler/ir/analysis/access_spaces.h"

#include <llvm-c/DebugInfo.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "compiler/ir/analysis/inlined_size.h"
#include "compiler/ir/kernel/kernel.h"
#include "compiler/ir/llvm/attributes.h"
#include "compiler/ir/llvm/calls.h"
#include "compiler/ir/llvm/instructions.h"
#include "compiler/ir/llvm/marks.h"
#include "compiler/ir/llvm/module.h"
#include "compiler/ir/llvm/names.h"
#include "compiler/ir/llvm/split_calls.h"
#include "compiler/ir/llvm/types.h"
#include "compiler/ir/llvm/value_list.h"

static const char number_name[] = "mettle.access";

// The tag of an assumption's operand bundle, which LLVM ignores.
static const char tag[] = "ignore";

enum { READS = 1, WRITES = 2 };

// Inlining everything for the analysis may multiply the code; in a larger
// kernel, what is not plainly private may be any memory.
enum { LARGEST_INLINED_INSTRUCTIONS = 400000 };

// --- numbers -----------------------------------------------------------------

static unsigned number_kind(LLVMContextRef context) {
  return LLVMGetMDKindIDInContext(context, number_name,
                                  (unsigned)strlen(number_name));
}

// Returns how a call of a named function uses the memory at argument i.
static int use_by_call(const char *callee, unsigned i) {
  if (mtlc_starts_with(callee, "llvm.memcpy.") ||
      mtlc_starts_with(callee, "llvm.memmove.")) {
    return i == 0 ? WRITES : READS;
  }
  return mtlc_starts_with(callee, "llvm.memset.") && i == 0 ? WRITES : 0;
}

enum { MOST_ADDRESSES = 2 };  // of one access: a copy's

// Returns how an instruction uses the memory at operand i.
static int use_of(LLVMValueRef instruction, unsigned i) {
  LLVMValueRef callee = mtlc_callee(instruction);
  if (callee) {
    return use_by_call(mtlc_name(callee), i);
  }
  switch (LLVMGetInstructionOpcode(instruction)) {
    case LLVMLoad: return i == 0 ? READS : 0;
    case LLVMStore: return i == 1 ? WRITES : 0;
    case LLVMAtomicRMW:
    case LLVMAtomicCmpXchg: return i == 0 ? READS | WRITES : 0;
    default: return 0;
  }
}

static bool is_own_variable(LLVMValueRef address) {
  return LLVMIsAAllocaInst(mtlc_root_of(address)) != NULL;
}

static bool touches_memory(LLVMValueRef instruction) {
  for (unsigned i = 0; i < MOST_ADDRESSES; ++i) {
    if (use_of(instruction, i) &&
        !is_own_variable(LLVMGetOperand(instruction, i))) {
      return true;
    }
  }
  return false;
}

typedef struct numbering {
  LLVMContextRef context;
  unsigned kind;
  size_t count;
} numbering;

static void give_number(LLVMValueRef instruction, void *context) {
  numbering *n = context;
  if (!touches_memory(instruction)) {
    return;
  }
  LLVMMetadataRef number =
      LLVMValueAsMetadata(mtlc_i32(n->context, (uint32_t)n->count++));
  LLVMSetMetadata(
      instruction, n->kind,
      LLVMMetadataAsValue(n->context,
                          LLVMMDNodeInContext2(n->context, &number, 1)));
}

static bool number_of(LLVMValueRef instruction, uint32_t *out_number) {
  LLVMContextRef context = LLVMGetTypeContext(LLVMTypeOf(instruction));
  LLVMValueRef node =
      LLVMHasMetadata(instruction)
          ? LLVMGetMetadata(instruction, number_kind(context))
          : NULL;
  if (!node) {
    return false;
  }
  LLVMValueRef number = NULL;
  LLVMGetMDNodeOperands(node, &number);
  *out_number = (uint32_t)LLVMConstIntGetZExtValue(number);
  return true;
}

// --- assumptions -------------------------------------------------------------

typedef struct assumer {
  LLVMModuleRef module;
  LLVMBuilderRef builder;
} assumer;

static void assume_address(assumer *a, LLVMValueRef address, uint32_t number,
                           int use) {
  LLVMContextRef context = LLVMGetModuleContext(a->module);
  const char *name = "llvm.assume";
  LLVMValueRef function = LLVMGetIntrinsicDeclaration(
      a->module, LLVMLookupIntrinsicID(name, strlen(name)), NULL, 0);
  LLVMValueRef inputs[] = {address, mtlc_i32(context, number),
                           mtlc_i32(context, (uint32_t)use)};
  LLVMOperandBundleRef bundle =
      LLVMCreateOperandBundle(tag, strlen(tag), inputs, 3);
  LLVMValueRef is_true = LLVMConstInt(LLVMInt1TypeInContext(context), 1, false);
  LLVMBuildCallWithOperandBundles(a->builder,
                                  LLVMGlobalGetValueType(function), function,
                                  &is_true, 1, &bundle, 1, "");
  LLVMDisposeOperandBundle(bundle);
}

static void assume_access(LLVMValueRef instruction, void *context) {
  uint32_t number;
  if (!number_of(instruction, &number)) {
    return;
  }
  assumer *a = context;
  LLVMPositionBuilderBefore(a->builder, instruction);
  for (unsigned i = 0; i < MOST_ADDRESSES; ++i) {
    const int use = use_of(instruction, i);
    if (use) {
      assume_address(a, LLVMGetOperand(instruction, i), number, use);
    }
  }
}

// Marks functions for inlining, except recursive ones and texel functions,
// whose memory no kernel has the address of.
static void mark_inlined(LLVMModuleRef module) {
  for (LLVMValueRef function = LLVMGetFirstFunction(module); function;
       function = LLVMGetNextFunction(function)) {
    const bool stays =
        strcmp(mtlc_name(function), MTLC_THREAD_FUNCTION) == 0 ||
        mtlc_has_attribute(function, "noinline") ||
        mtlc_starts_with(mtlc_name(function), "mettle.texel.");
    if (!LLVMIsDeclaration(function) && !stays) {
      mtlc_set_attribute(function, "alwaysinline", 0);
    }
  }
}

// Leaves *out_copy NULL if it would be too long.
static mtl_status make_copy(const mtlc_kernel *kernel,
                            LLVMModuleRef *out_copy) {
  mtlc_kernel copy = *kernel;
  copy.module = LLVMCloneModule(kernel->module);
  copy.thread = LLVMGetNamedFunction(copy.module, MTLC_THREAD_FUNCTION);
  mark_inlined(copy.module);
  if (mtlc_inlined_size(&copy) > LARGEST_INLINED_INSTRUCTIONS) {
    LLVMDisposeModule(copy.module);
    return MTL_OK;
  }
  LLVMStripModuleDebugInfo(copy.module);
  assumer a = {.module = copy.module,
               .builder = LLVMCreateBuilderInContext(kernel->context)};
  mtlc_for_each_in_module(copy.module, assume_access, &a);
  LLVMDisposeBuilder(a.builder);
  *out_copy = copy.module;
  mtlc_split_between_calls(&copy);
  return mtlc_run_llvm_passes(
      &copy,
      "function(sroa<modify-cfg>),always-inline,globaldce,function("
      "sroa<modify-cfg>)");
}

// --- origins -----------------------------------------------------------------

enum { PATIENCE = 400 };  // values on the way to one address

bool mtlc_is_threadgroup_memory(LLVMValueRef value) {
  LLVMValueRef callee = mtlc_callee(value);
  return callee &&
         (strcmp(mtlc_name(callee), MTLC_THREADGROUP_MEMORY_FUNCTION) == 0 ||
          mtlc_is_marked(value, MTLC_THREADGROUP_MARK));
}

static mtlc_spaces spaces_of_call(LLVMValueRef call) {
  LLVMValueRef callee = mtlc_callee(call);
  const char *name = callee ? mtlc_name(callee) : "";
  if (mtlc_is_threadgroup_memory(call)) {
    return MTLC_SPACES_THREADGROUP;
  }
  if (strcmp(name, "mettle.argument") == 0) {
    const uint64_t slot = LLVMConstIntGetZExtValue(LLVMGetOperand(call, 0));
    return (mtlc_spaces)1 << (slot <= MTLC_LAST_ARGUMENT_SPACE
                                  ? slot
                                  : MTLC_LAST_ARGUMENT_SPACE);
  }
  if (strcmp(name, "mettle.log_memory") == 0) {
    return 0;
  }
  return MTLC_SPACES_OTHER | MTLC_SPACES_THREADGROUP;
}

static mtlc_spaces spaces_of(mtlc_values *seen, LLVMValueRef address);

static mtlc_spaces spaces_of_operands(mtlc_values *seen, LLVMValueRef value,
                                      unsigned first) {
  mtlc_spaces spaces = 0;
  const unsigned count = (unsigned)LLVMGetNumOperands(value);
  for (unsigned i = first; i < count; ++i) {
    spaces |= spaces_of(seen, LLVMGetOperand(value, i));
  }
  return spaces;
}

// An address that was found in a buffer is one of the device's memory; in a
// variable it may be any.
static mtlc_spaces spaces_of_found(mtlc_values *seen, LLVMValueRef load) {
  const mtlc_spaces where = spaces_of(seen, LLVMGetOperand(load, 0));
  return where && !(where & MTLC_SPACES_THREADGROUP)
             ? MTLC_SPACES_OTHER
             : MTLC_SPACES_OTHER | MTLC_SPACES_THREADGROUP;
}

static mtlc_spaces spaces_of(mtlc_values *seen, LLVMValueRef address) {
  if (mtlc_names_threadgroup_memory(address)) {
    return MTLC_SPACES_THREADGROUP;  // not lowered yet
  }
  if (mtlc_values_has(seen, address) || LLVMIsUndef(address) ||
      LLVMIsAConstantInt(address) || LLVMIsAConstantPointerNull(address) ||
      LLVMIsAGlobalVariable(address) || LLVMIsAAllocaInst(address)) {
    return 0;
  }
  if (seen->count == PATIENCE) {
    return MTLC_SPACES_OTHER | MTLC_SPACES_THREADGROUP;
  }
  mtlc_values_add(seen, address);
  if (LLVMIsAConstantExpr(address)) {
    return spaces_of(seen, LLVMGetOperand(address, 0));
  }
  if (!LLVMIsAInstruction(address)) {  // an argument of a recursive function
    return MTLC_SPACES_OTHER | MTLC_SPACES_THREADGROUP;
  }
  switch (LLVMGetInstructionOpcode(address)) {
    case LLVMGetElementPtr:
    case LLVMFreeze:
    case LLVMPtrToInt:
    case LLVMIntToPtr:
    case LLVMBitCast:
    case LLVMExtractValue: return spaces_of(seen, LLVMGetOperand(address, 0));
    case LLVMInsertValue:
    case LLVMPHI: return spaces_of_operands(seen, address, 0);
    case LLVMSelect: return spaces_of_operands(seen, address, 1);
    case LLVMLoad: return spaces_of_found(seen, address);
    case LLVMCall: return spaces_of_call(address);
    default: return MTLC_SPACES_OTHER | MTLC_SPACES_THREADGROUP;
  }
}

static void note_use(mtlc_access *access, int use, mtlc_spaces spaces) {
  access->read |= use & READS ? spaces : 0;
  access->written |= use & WRITES ? spaces : 0;
}

// Reads the facts that an assumption in the inlined copy states.
static void read_assumption(LLVMValueRef instruction, void *context) {
  mtlc_accesses *accesses = context;
  LLVMValueRef callee = mtlc_callee(instruction);
  if (!callee || strcmp(mtlc_name(callee), "llvm.assume") != 0 ||
      LLVMGetNumOperandBundles(instruction) != 1) {
    return;
  }
  LLVMOperandBundleRef bundle = LLVMGetOperandBundleAtIndex(instruction, 0);
  if (LLVMGetNumOperandBundleArgs(bundle) == 3) {
    LLVMValueRef number = LLVMGetOperandBundleArgAtIndex(bundle, 1);
    LLVMValueRef use = LLVMGetOperandBundleArgAtIndex(bundle, 2);
    mtlc_values seen = {0};
    note_use(&accesses->items[LLVMConstIntGetZExtValue(number)],
             (int)LLVMConstIntGetZExtValue(use),
             spaces_of(&seen, LLVMGetOperandBundleArgAtIndex(bundle, 0)));
    free(seen.items);
  }
  LLVMDisposeOperandBundle(bundle);
}

static void note_unknown(LLVMValueRef instruction, void *context) {
  mtlc_accesses *accesses = context;
  uint32_t number;
  if (number_of(instruction, &number)) {
    for (unsigned i = 0; i < MOST_ADDRESSES; ++i) {
      const int use = use_of(instruction, i);
      if (use && !is_own_variable(LLVMGetOperand(instruction, i))) {
        note_use(&accesses->items[number], use,
                 MTLC_SPACES_OTHER | MTLC_SPACES_THREADGROUP);
      }
    }
  }
}

mtl_status mtlc_find_accesses(mtlc_kernel *kernel,
                              mtlc_accesses *out_accesses) {
  numbering n = {.context = kernel->context,
                 .kind = number_kind(kernel->context)};
  mtlc_for_each_in_module(kernel->module, give_number, &n);
  *out_accesses = (mtlc_accesses){
      .items = calloc(n.count + 1, sizeof out_accesses->items[0]),
      .count = n.count};
  if (!out_accesses->items) {
    abort();  // as mtlc_values_add
  }
  LLVMModuleRef copy = NULL;
  const mtl_status status = make_copy(kernel, &copy);
  if (!copy) {
    mtlc_for_each_in_module(kernel->module, note_unknown, out_accesses);
    return status;
  }
  if (status == MTL_OK) {
    mtlc_for_each_in_module(copy, read_assumption, out_accesses);
  }
  LLVMDisposeModule(copy);
  return status;
}

mtlc_access mtlc_access_of(const mtlc_accesses *accesses,
                           LLVMValueRef instruction) {
  uint32_t number;
  return number_of(instruction, &number) && number < accesses->count
             ? accesses->items[number]
             : (mtlc_access){0};
}
