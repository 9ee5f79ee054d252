// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// module.c: the helpers of module.h, over LLVM's C API.
#include "compiler/ir/module.h"

#include <llvm-c/DebugInfo.h>
#include <llvm-c/IRReader.h>
#include <llvm-c/Linker.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "code/cpu_abi.h"

mtlc_types mtlc_types_of(LLVMContextRef context) {
  return (mtlc_types){
      .nothing = LLVMVoidTypeInContext(context),
      .i1 = LLVMInt1TypeInContext(context),
      .i8 = LLVMInt8TypeInContext(context),
      .i16 = LLVMInt16TypeInContext(context),
      .i32 = LLVMInt32TypeInContext(context),
      .i64 = LLVMInt64TypeInContext(context),
      .f16 = LLVMHalfTypeInContext(context),
      .f32 = LLVMFloatTypeInContext(context),
      .pointer = LLVMPointerTypeInContext(context, 0),
      .token = LLVMTokenTypeInContext(context),
  };
}

LLVMValueRef mtlc_i32(LLVMContextRef context, uint32_t value) {
  return LLVMConstInt(LLVMInt32TypeInContext(context), value, false);
}

LLVMValueRef mtlc_i64(LLVMContextRef context, uint64_t value) {
  return LLVMConstInt(LLVMInt64TypeInContext(context), value, false);
}

void mtlc_values_add(mtlc_values *values, LLVMValueRef value) {
  if (values->count == values->capacity) {
    values->capacity = values->capacity ? 2 * values->capacity : 16;
    // The compiler is a process of its own with a memory limit: running out
    // ends it, and the runtime reports that.
    values->items =
        realloc(values->items, values->capacity * sizeof values->items[0]);
    if (!values->items) {
      abort();
    }
  }
  values->items[values->count++] = value;
}

bool mtlc_values_has(const mtlc_values *values, LLVMValueRef value) {
  for (size_t i = 0; i < values->count; ++i) {
    if (values->items[i] == value) {
      return true;
    }
  }
  return false;
}

LLVMValueRef mtlc_callee(LLVMValueRef instruction) {
  if (!LLVMIsACallInst(instruction)) {
    return NULL;
  }
  LLVMValueRef called = LLVMGetCalledValue(instruction);
  return LLVMIsAFunction(called) ? called : NULL;
}

const char *mtlc_name(LLVMValueRef value) {
  size_t length;
  return LLVMGetValueName2(value, &length);
}

bool mtlc_starts_with(const char *text, const char *prefix) {
  return strncmp(text, prefix, strlen(prefix)) == 0;
}

void mtlc_name_in_source(const char *name, char *out, size_t capacity) {
  snprintf(out, capacity, "%s", name);
  if (!mtlc_starts_with(name, "_Z")) {
    return;
  }
  const char *at = name + 2 + strcspn(name + 2, "0123456789");
  size_t length = 0;
  while (*at >= '0' && *at <= '9') {
    char *part = NULL;
    const unsigned long bytes = strtoul(at, &part, 10);
    if (bytes > strlen(part) || length + bytes + 3 > capacity) {
      break;
    }
    length += (size_t)snprintf(out + length, capacity - length, "%s%.*s",
                               length ? "::" : "", (int)bytes, part);
    at = part + bytes;
    if (name[2] != 'N') {
      break;  // what follows are types of parameters
    }
  }
}

void mtlc_collect_calls(LLVMModuleRef module, const char *prefix,
                        mtlc_values *calls) {
  for (LLVMValueRef function = LLVMGetFirstFunction(module); function;
       function = LLVMGetNextFunction(function)) {
    if (!mtlc_starts_with(mtlc_name(function), prefix)) {
      continue;
    }
    for (LLVMUseRef use = LLVMGetFirstUse(function); use;
         use = LLVMGetNextUse(use)) {
      LLVMValueRef user = LLVMGetUser(use);
      if (mtlc_callee(user) == function) {
        mtlc_values_add(calls, user);
      }
    }
  }
}

bool mtlc_names_threadgroup_memory(LLVMValueRef value) {
  if (LLVMIsAGlobalVariable(value)) {
    const char *section = LLVMGetSection(value);
    return section && strcmp(section, ".mettle.threadgroup") == 0;
  }
  if (!LLVMIsAConstantExpr(value)) {
    return false;
  }
  for (int i = 0; i < LLVMGetNumOperands(value); ++i) {
    if (mtlc_names_threadgroup_memory(LLVMGetOperand(value, (unsigned)i))) {
      return true;
    }
  }
  return false;
}

void mtlc_for_each_instruction(LLVMValueRef function, mtlc_visit *visit,
                               void *context) {
  for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block;
       block = LLVMGetNextBasicBlock(block)) {
    LLVMValueRef next;
    for (LLVMValueRef instruction = LLVMGetFirstInstruction(block); instruction;
         instruction = next) {
      next = LLVMGetNextInstruction(instruction);
      visit(instruction, context);
    }
  }
}

void mtlc_for_each_in_module(LLVMModuleRef module, mtlc_visit *visit,
                             void *context) {
  for (LLVMValueRef function = LLVMGetFirstFunction(module); function;
       function = LLVMGetNextFunction(function)) {
    mtlc_for_each_instruction(function, visit, context);
  }
}

void mtlc_replace(LLVMValueRef instruction, LLVMValueRef value) {
  LLVMReplaceAllUsesWith(instruction, value);
  LLVMInstructionEraseFromParent(instruction);
}

LLVMValueRef mtlc_declare(LLVMModuleRef module, const char *name,
                          LLVMTypeRef type) {
  LLVMValueRef function = LLVMGetNamedFunction(module, name);
  return function ? function : LLVMAddFunction(module, name, type);
}

LLVMValueRef mtlc_call_intrinsic(LLVMBuilderRef builder, const char *name,
                                 LLVMTypeRef *overloads, size_t overload_count,
                                 LLVMValueRef *arguments, size_t count) {
  LLVMBasicBlockRef block = LLVMGetInsertBlock(builder);
  LLVMModuleRef module = LLVMGetGlobalParent(LLVMGetBasicBlockParent(block));
  const unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
  LLVMValueRef function =
      LLVMGetIntrinsicDeclaration(module, id, overloads, overload_count);
  return mtlc_call(builder, function, arguments, count);
}

LLVMValueRef mtlc_call_alike(LLVMBuilderRef builder, LLVMValueRef call,
                             LLVMTypeRef type, LLVMValueRef *arguments) {
  LLVMValueRef callee = mtlc_callee(call);
  LLVMValueRef function = LLVMGetIntrinsicDeclaration(
      LLVMGetGlobalParent(callee), LLVMGetIntrinsicID(callee), &type, 1);
  return mtlc_call(builder, function, arguments, LLVMGetNumArgOperands(call));
}

LLVMValueRef mtlc_call(LLVMBuilderRef builder, LLVMValueRef function,
                       LLVMValueRef *arguments, size_t count) {
  return LLVMBuildCall2(builder, LLVMGlobalGetValueType(function), function,
                        arguments, (unsigned)count, "");
}

LLVMValueRef mtlc_offset(LLVMBuilderRef builder, LLVMValueRef pointer,
                         uint64_t bytes) {
  LLVMContextRef context = LLVMGetTypeContext(LLVMTypeOf(pointer));
  LLVMValueRef index = mtlc_i64(context, bytes);
  return LLVMBuildGEP2(builder, LLVMInt8TypeInContext(context), pointer, &index,
                       1, "");
}

void mtlc_position_at_entry(LLVMBuilderRef builder, LLVMValueRef function) {
  LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(function);
  LLVMValueRef at = LLVMGetFirstInstruction(entry);
  while (at && LLVMIsAAllocaInst(at) && LLVMIsConstant(LLVMGetOperand(at, 0))) {
    at = LLVMGetNextInstruction(at);
  }
  LLVMPositionBuilder(builder, entry, at);
}

void mtlc_move_body(LLVMValueRef source, LLVMValueRef target) {
  LLVMContextRef context = LLVMGetModuleContext(LLVMGetGlobalParent(target));
  // Blocks move behind a block of the target, so it needs one to begin with.
  LLVMBasicBlockRef anchor =
      LLVMAppendBasicBlockInContext(context, target, "anchor");
  LLVMBasicBlockRef after = anchor;
  LLVMBasicBlockRef next;
  for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(source); block;
       block = next) {
    next = LLVMGetNextBasicBlock(block);
    LLVMMoveBasicBlockAfter(block, after);
    after = block;
  }
  LLVMDeleteBasicBlock(anchor);
  LLVMMetadataRef subprogram = LLVMGetSubprogram(source);
  if (subprogram) {
    // One definition describes one function.
    LLVMGlobalEraseMetadata(source,
                            LLVMGetMDKindIDInContext(context, "dbg", 3));
    LLVMSetSubprogram(target, subprogram);
  }
}

static LLVMContextRef function_context(LLVMValueRef function) {
  return LLVMGetModuleContext(LLVMGetGlobalParent(function));
}

uint64_t mtlc_common_divisor(uint64_t a, uint64_t b) {
  while (b != 0) {
    const uint64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

void mtlc_position_behind_phis(LLVMBuilderRef builder,
                               LLVMValueRef instruction) {
  while (LLVMIsAPHINode(instruction)) {
    instruction = LLVMGetNextInstruction(instruction);
  }
  LLVMPositionBuilderBefore(builder, instruction);
}

LLVMValueRef mtlc_root_of(LLVMValueRef address) {
  while (LLVMIsAGetElementPtrInst(address)) {
    address = LLVMGetOperand(address, 0);
  }
  return address;
}

static unsigned mark_kind(LLVMValueRef instruction, const char *name) {
  return LLVMGetMDKindIDInContext(LLVMGetTypeContext(LLVMTypeOf(instruction)),
                                  name, (unsigned)strlen(name));
}

void mtlc_mark(LLVMValueRef instruction, const char *name) {
  LLVMContextRef context = LLVMGetTypeContext(LLVMTypeOf(instruction));
  LLVMMetadataRef none = LLVMMDNodeInContext2(context, NULL, 0);
  LLVMSetMetadata(instruction, mark_kind(instruction, name),
                  LLVMMetadataAsValue(context, none));
}

bool mtlc_is_marked(LLVMValueRef instruction, const char *name) {
  return LLVMHasMetadata(instruction) &&
         LLVMGetMetadata(instruction, mark_kind(instruction, name)) != NULL;
}

static const char invariant[] = "invariant.load";

void mtlc_mark_invariant(LLVMValueRef load) {
  mtlc_mark(load, invariant);
}

bool mtlc_is_invariant(LLVMValueRef load) {
  return mtlc_is_marked(load, invariant);
}

// Those that another instruction of the kind has; with NULL none.
static void set_flags(LLVMValueRef to, LLVMValueRef from) {
  switch (LLVMGetInstructionOpcode(to)) {
    case LLVMAdd:
    case LLVMSub:
    case LLVMMul:
    case LLVMShl:
      LLVMSetNUW(to, from && LLVMGetNUW(from));
      LLVMSetNSW(to, from && LLVMGetNSW(from));
      break;
    case LLVMUDiv:
    case LLVMSDiv:
    case LLVMLShr:
    case LLVMAShr: LLVMSetExact(to, from && LLVMGetExact(from)); break;
    case LLVMOr: LLVMSetIsDisjoint(to, from && LLVMGetIsDisjoint(from)); break;
    case LLVMZExt: LLVMSetNNeg(to, from && LLVMGetNNeg(from)); break;
    default: break;
  }
}

void mtlc_keep_flags(LLVMValueRef from, LLVMValueRef made) {
  if (mtlc_is_opcode(made, LLVMGetInstructionOpcode(from)) &&
      !LLVMGetFirstUse(made)) {
    set_flags(made, from);
  }
}

void mtlc_drop_flags(LLVMValueRef i) {
  set_flags(i, NULL);
  if (LLVMIsATruncInst(i)) {
    LLVMSetNUW(i, false);
    LLVMSetNSW(i, false);
  } else if (LLVMIsAGetElementPtrInst(i)) {
    LLVMSetIsInBounds(i, false);
  }
}

void mtlc_set_attribute(LLVMValueRef function, const char *name,
                        uint64_t value) {
  const unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
  LLVMAddAttributeAtIndex(
      function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
      LLVMCreateEnumAttribute(function_context(function), kind, value));
}

void mtlc_set_parameter_attribute(LLVMValueRef function, unsigned parameter,
                                  const char *name, uint64_t value) {
  const unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
  LLVMAddAttributeAtIndex(
      function, parameter + 1,
      LLVMCreateEnumAttribute(function_context(function), kind, value));
}

void mtlc_set_text_attribute(LLVMValueRef function, const char *name,
                             const char *value) {
  LLVMAddAttributeAtIndex(
      function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
      LLVMCreateStringAttribute(function_context(function), name,
                                (unsigned)strlen(name), value,
                                (unsigned)strlen(value)));
}

void mtlc_remove_attribute(LLVMValueRef function, const char *name) {
  LLVMRemoveEnumAttributeAtIndex(
      function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
      LLVMGetEnumAttributeKindForName(name, strlen(name)));
}

bool mtlc_has_attribute(LLVMValueRef function, const char *name) {
  const unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
  return LLVMGetEnumAttributeAtIndex(
             function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, kind) !=
         NULL;
}

void mtlc_set_location(LLVMValueRef instruction, LLVMValueRef function) {
  LLVMMetadataRef subprogram = LLVMGetSubprogram(function);
  LLVMInstructionSetDebugLoc(
      instruction,
      LLVMDIBuilderCreateDebugLocation(function_context(function),
                                       LLVMDISubprogramGetLine(subprogram), 0,
                                       subprogram, NULL));
}

bool mtlc_is_convergent(LLVMModuleRef module) {
  mtlc_values calls = {0};
  mtlc_collect_calls(module, "mettle.barrier.", &calls);
  mtlc_collect_calls(module, "mettle.simd.", &calls);
  free(calls.items);
  return calls.count > 0;
}

void mtlc_hide_functions(LLVMModuleRef module) {
  for (LLVMValueRef function = LLVMGetFirstFunction(module); function;
       function = LLVMGetNextFunction(function)) {
    if (!LLVMIsDeclaration(function)) {
      LLVMSetLinkage(function, LLVMInternalLinkage);
    }
  }
}

void mtlc_set_target_attributes(mtlc_kernel *kernel) {
  char *cpu = LLVMGetTargetMachineCPU(kernel->target);
  char *features = LLVMGetTargetMachineFeatureString(kernel->target);
  for (LLVMValueRef function = LLVMGetFirstFunction(kernel->module); function;
       function = LLVMGetNextFunction(function)) {
    if (!LLVMIsDeclaration(function)) {
      mtlc_set_text_attribute(function, "target-cpu", cpu);
      mtlc_set_text_attribute(function, "target-features", features);
      // LLVM else keeps to 256 bits on machines that have 512.
      mtlc_set_text_attribute(function, "prefer-vector-width", "512");
      if (kernel->tier == MTLI_TIER_1) {
        // Spilled vectors that lie across cache lines cost twice as much.
        mtlc_set_text_attribute(function, "stackrealign", "");
      }
    }
  }
  LLVMDisposeMessage(cpu);
  LLVMDisposeMessage(features);
}

uint32_t mtlc_count_in_block(LLVMBasicBlockRef block) {
  uint32_t count = 0;
  for (LLVMValueRef i = LLVMGetFirstInstruction(block); i;
       i = LLVMGetNextInstruction(i)) {
    count++;
  }
  return count;
}

uint32_t mtlc_count_instructions(LLVMValueRef function) {
  uint32_t count = 0;
  for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block;
       block = LLVMGetNextBasicBlock(block)) {
    count += mtlc_count_in_block(block);
  }
  return count;
}

bool mtlc_is_plain_arithmetic(LLVMOpcode opcode) {
  switch (opcode) {
    case LLVMAdd:
    case LLVMSub:
    case LLVMMul:
    case LLVMShl:
    case LLVMLShr:
    case LLVMAShr:
    case LLVMAnd:
    case LLVMOr:
    case LLVMXor: return true;
    default: return false;
  }
}

bool mtlc_is_opcode(LLVMValueRef value, LLVMOpcode opcode) {
  return LLVMIsAInstruction(value) && LLVMGetInstructionOpcode(value) == opcode;
}

bool mtlc_target_is(LLVMTargetMachineRef target, const char *architecture) {
  char *triple = LLVMGetTargetMachineTriple(target);
  const bool is = mtlc_starts_with(triple, architecture);
  LLVMDisposeMessage(triple);
  return is;
}

bool mtlc_target_is_cpu(LLVMTargetMachineRef target, const char *family) {
  char *cpu = LLVMGetTargetMachineCPU(target);
  const bool is = mtlc_starts_with(cpu, family);
  LLVMDisposeMessage(cpu);
  return is;
}

bool mtlc_target_has(LLVMTargetMachineRef target, const char *feature) {
  char *features = LLVMGetTargetMachineFeatureString(target);
  bool has =
      mtlc_target_is(target, "aarch64") || mtlc_target_is(target, "nvptx64");
  char *rest = NULL;
  for (char *name = strtok_r(features, ",", &rest); name;
       name = strtok_r(NULL, ",", &rest)) {
    has = has || (name[0] == '+' && strcmp(name + 1, feature) == 0);
  }
  LLVMDisposeMessage(features);
  return has;
}

void mtlc_set_loop_wish(LLVMValueRef latch, const char *wish) {
  static const char name[] = "llvm.loop";
  LLVMContextRef context = LLVMGetTypeContext(LLVMTypeOf(latch));
  // A loop's node names itself, so that no two are the same.
  LLVMMetadataRef self = LLVMTemporaryMDNode(context, NULL, 0);
  LLVMMetadataRef text = LLVMMDStringInContext2(context, wish, strlen(wish));
  LLVMMetadataRef parts[] = {self, LLVMMDNodeInContext2(context, &text, 1)};
  LLVMMetadataRef node = LLVMMDNodeInContext2(context, parts, 2);
  LLVMMetadataReplaceAllUsesWith(self, node);
  LLVMSetMetadata(latch,
                  LLVMGetMDKindIDInContext(context, name, sizeof name - 1),
                  LLVMMetadataAsValue(context, node));
}

static void move_to_end(LLVMBuilderRef builder, LLVMValueRef instruction,
                        LLVMBasicBlockRef block) {
  LLVMMetadataRef location = LLVMInstructionGetDebugLoc(instruction);
  LLVMInstructionRemoveFromParent(instruction);
  LLVMPositionBuilderAtEnd(builder, block);
  LLVMInsertIntoBuilder(builder, instruction);
  LLVMInstructionSetDebugLoc(instruction, location);
}

LLVMBasicBlockRef mtlc_split_above(LLVMBuilderRef builder,
                                   LLVMValueRef branch) {
  LLVMBasicBlockRef block = LLVMGetInstructionParent(branch);
  LLVMContextRef context = LLVMGetTypeContext(LLVMTypeOf(branch));
  LLVMBasicBlockRef above = LLVMInsertBasicBlockInContext(context, block, "");
  LLVMValueRef next = NULL;
  for (LLVMValueRef i = LLVMGetFirstInstruction(block); i != branch; i = next) {
    next = LLVMGetNextInstruction(i);
    move_to_end(builder, i, above);
  }
  // With a branch at its end, a block is replaced in phis, too.
  move_to_end(builder, branch, above);
  LLVMReplaceAllUsesWith(LLVMBasicBlockAsValue(block),
                         LLVMBasicBlockAsValue(above));
  move_to_end(builder, branch, block);
  return above;
}

mtl_status mtlc_link_text(mtlc_kernel *kernel, const char *name,
                          const char *text) {
  LLVMMemoryBufferRef buffer =
      LLVMCreateMemoryBufferWithMemoryRange(text, strlen(text), name, true);
  LLVMModuleRef part = NULL;
  char *message = NULL;
  if (LLVMParseIRInContext(kernel->context, buffer, &part, &message)) {
    const mtl_status status =
        mtli_fail(MTL_UNSUPPORTED, "built-in IR %s: %s", name, message);
    LLVMDisposeMessage(message);
    return status;
  }
  LLVMSetTarget(part, LLVMGetTarget(kernel->module));
  LLVMSetDataLayout(part, LLVMGetDataLayoutStr(kernel->module));
  if (LLVMLinkModules2(kernel->module, part)) {
    return mtli_fail(MTL_UNSUPPORTED, "built-in IR %s does not link", name);
  }
  return MTL_OK;
}

mtl_status mtlc_run_llvm_passes(mtlc_kernel *kernel, const char *passes) {
  LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
  LLVMErrorRef error =
      LLVMRunPasses(kernel->module, passes, kernel->target, options);
  LLVMDisposePassBuilderOptions(options);
  if (!error) {
    return MTL_OK;
  }
  char *message = LLVMGetErrorMessage(error);
  const mtl_status status =
      mtli_fail(MTL_UNSUPPORTED, "LLVM passes \"%s\": %s", passes, message);
  LLVMDisposeErrorMessage(message);
  return status;
}
