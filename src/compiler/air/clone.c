// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// clone.c: translates each body of AIR, one instruction after the other, into a
// new one.
//
// Only copied parts exist, so nothing has to be removed: poison-generating
// flags, aliasing metadata (a buffer may be bound twice) and assumptions are
// left out. Of the fast-math flags only contract is copied, the one that
// portable IR has.
#include <stdlib.h>
#include <string.h>

#include "compiler/air/air.h"

// --- calls -------------------------------------------------------------------

static LLVMValueRef call_function(air_translation *t, LLVMValueRef call,
                                  LLVMValueRef callee) {
  LLVMValueRef function = air_value(t, callee);
  const unsigned count = LLVMGetNumArgOperands(call);
  LLVMValueRef *arguments = air_allocate(t, (count + 1) * sizeof *arguments);
  for (unsigned i = 0; i < count; ++i) {
    arguments[i] = air_operand(t, call, i);
  }
  if (LLVMIsAFunction(callee) && !LLVMIsDeclaration(callee) &&
      LLVMIsFunctionVarArg(LLVMGlobalGetValueType(callee))) {
    return air_call_packed(t, function, arguments, count);
  }
  LLVMTypeRef type = LLVMIsAFunction(callee)
                         ? LLVMGlobalGetValueType(function)
                         : air_type(t, LLVMGetCalledFunctionType(call));
  return LLVMBuildCall2(t->builder, type, function, arguments, count, "");
}

static LLVMValueRef clone_call(air_translation *t, LLVMValueRef call) {
  LLVMValueRef callee = LLVMGetCalledValue(call);
  if (LLVMIsAInlineAsm(callee)) {
    air_fail(t, MTL_UNSUPPORTED, "inline assembly");
    return NULL;
  }
  if (!LLVMIsAFunction(callee)) {
    return call_function(t, call, callee);
  }
  size_t length;
  const char *name = LLVMGetValueName2(callee, &length);
  if (strncmp(name, "llvm.", 5) == 0) {
    return air_call_intrinsic(t, call, name);
  }
  if (strncmp(name, "air.", 4) == 0) {
    return air_call(t, call, name);
  }
  return call_function(t, call, callee);
}

// --- vectors -----------------------------------------------------------------

// Returns where element `at` of an AIR vector is in portable IR; -1 for none:
// of a matrix only the first two exist there.
static int own_element(LLVMTypeRef type, int at) {
  return air_is_matrix(type) && at >= AIR_OWN_ELEMENTS ? -1 : at;
}

static LLVMValueRef clone_shuffle(air_translation *t, LLVMValueRef i) {
  LLVMTypeRef from = LLVMTypeOf(LLVMGetOperand(i, 0)), to = LLVMTypeOf(i);
  LLVMTypeRef i32 = LLVMInt32TypeInContext(t->context);
  const int size = (int)LLVMGetVectorSize(from);
  const int own_size = air_is_matrix(from) ? AIR_OWN_ELEMENTS : size;
  const unsigned count = LLVMGetVectorSize(air_type(t, to));
  LLVMValueRef *mask = air_allocate(t, count * sizeof *mask);
  for (unsigned k = 0; k < count; ++k) {
    const int at = LLVMGetMaskValue(i, k);
    const int place = at < 0 ? -1 : own_element(from, at % size);
    mask[k] = place < 0 ? LLVMGetPoison(i32)
                        : LLVMConstInt(
                              i32, (unsigned)(place + at / size * own_size), 0);
  }
  return LLVMBuildShuffleVector(t->builder, air_operand(t, i, 0),
                                air_operand(t, i, 1),
                                LLVMConstVector(mask, count), "");
}

static bool is_own_index(LLVMTypeRef vector, LLVMValueRef index) {
  return !air_is_matrix(vector) || !LLVMIsAConstantInt(index) ||
         LLVMConstIntGetZExtValue(index) < AIR_OWN_ELEMENTS;
}

static LLVMValueRef clone_extract(air_translation *t, LLVMValueRef i) {
  if (!is_own_index(LLVMTypeOf(LLVMGetOperand(i, 0)), LLVMGetOperand(i, 1))) {
    return LLVMGetUndef(air_type(t, LLVMTypeOf(i)));
  }
  return LLVMBuildExtractElement(t->builder, air_operand(t, i, 0),
                                 air_operand(t, i, 1), "");
}

static LLVMValueRef clone_insert(air_translation *t, LLVMValueRef i) {
  if (!is_own_index(LLVMTypeOf(i), LLVMGetOperand(i, 2))) {
    return air_operand(t, i, 0);
  }
  return LLVMBuildInsertElement(t->builder, air_operand(t, i, 0),
                                air_operand(t, i, 1), air_operand(t, i, 2), "");
}

// --- memory ------------------------------------------------------------------

static LLVMValueRef clone_load(air_translation *t, LLVMValueRef i) {
  LLVMValueRef load = LLVMBuildLoad2(
      t->builder, air_type(t, LLVMTypeOf(i)), air_operand(t, i, 0), "");
  LLVMSetAlignment(load, LLVMGetAlignment(i));
  LLVMSetVolatile(load, LLVMGetVolatile(i));
  LLVMSetOrdering(load, LLVMGetOrdering(i));
  return load;
}

static LLVMValueRef clone_store(air_translation *t, LLVMValueRef i) {
  LLVMValueRef store =
      LLVMBuildStore(t->builder, air_operand(t, i, 0), air_operand(t, i, 1));
  LLVMSetAlignment(store, LLVMGetAlignment(i));
  LLVMSetVolatile(store, LLVMGetVolatile(i));
  LLVMSetOrdering(store, LLVMGetOrdering(i));
  return store;
}

static LLVMValueRef clone_address(air_translation *t, LLVMValueRef i) {
  const unsigned count = (unsigned)LLVMGetNumOperands(i) - 1;
  LLVMValueRef *indices = air_allocate(t, (count + 1) * sizeof *indices);
  for (unsigned k = 0; k < count; ++k) {
    indices[k] = air_operand(t, i, k + 1);
  }
  return LLVMBuildGEP2(t->builder, air_type(t, LLVMGetGEPSourceElementType(i)),
                       air_operand(t, i, 0), indices, count, "");
}

static LLVMValueRef clone_alloca(air_translation *t, LLVMValueRef i) {
  LLVMTypeRef type = air_type(t, LLVMGetAllocatedType(i));
  LLVMValueRef made =
      LLVMIsConstant(LLVMGetOperand(i, 0)) &&
              LLVMConstIntGetZExtValue(LLVMGetOperand(i, 0)) == 1
          ? LLVMBuildAlloca(t->builder, type, "")
          : LLVMBuildArrayAlloca(t->builder, type, air_operand(t, i, 0), "");
  LLVMSetAlignment(made, LLVMGetAlignment(i));
  return made;
}

static LLVMValueRef clone_atomic(air_translation *t, LLVMValueRef i) {
  return LLVMBuildAtomicRMW(t->builder, LLVMGetAtomicRMWBinOp(i),
                            air_operand(t, i, 0), air_operand(t, i, 1),
                            LLVMAtomicOrderingMonotonic, false);
}

static LLVMValueRef clone_exchange(air_translation *t, LLVMValueRef i) {
  return LLVMBuildAtomicCmpXchg(t->builder, air_operand(t, i, 0),
                                air_operand(t, i, 1), air_operand(t, i, 2),
                                LLVMAtomicOrderingMonotonic,
                                LLVMAtomicOrderingMonotonic, false);
}

// --- values ------------------------------------------------------------------

// A member of a member is reached a step at a time.
static LLVMValueRef clone_extract_member(air_translation *t, LLVMValueRef i) {
  LLVMValueRef value = air_operand(t, i, 0);
  for (unsigned k = 0; k < LLVMGetNumIndices(i); ++k) {
    value =
        LLVMBuildExtractValue(t->builder, value, LLVMGetIndices(i)[k], "");
  }
  return value;
}

static LLVMValueRef clone_insert_member(air_translation *t, LLVMValueRef i) {
  const unsigned depth = LLVMGetNumIndices(i), *at = LLVMGetIndices(i);
  LLVMValueRef *outer = air_allocate(t, depth * sizeof *outer);
  outer[0] = air_operand(t, i, 0);
  for (unsigned k = 1; k < depth; ++k) {
    outer[k] = LLVMBuildExtractValue(t->builder, outer[k - 1], at[k - 1], "");
  }
  LLVMValueRef value = air_operand(t, i, 1);
  for (unsigned k = depth; k-- > 0;) {
    value = LLVMBuildInsertValue(t->builder, outer[k], value, at[k], "");
  }
  return value;
}

static void keep_contraction(LLVMValueRef from, LLVMValueRef made) {
  if (LLVMIsAInstruction(made) && LLVMCanValueUseFastMathFlags(from) &&
      LLVMCanValueUseFastMathFlags(made) &&
      (LLVMGetFastMathFlags(from) & LLVMFastMathAllowContract)) {
    LLVMSetFastMathFlags(made, LLVMFastMathAllowContract);
  }
}

static LLVMValueRef clone_switch(air_translation *t, LLVMValueRef i) {
  const unsigned count = (unsigned)LLVMGetNumOperands(i) / 2;
  LLVMValueRef made = LLVMBuildSwitch(
      t->builder, air_operand(t, i, 0),
      air_map_get(&t->values, LLVMGetSwitchDefaultDest(i)), count);
  for (unsigned k = 1; k < count; ++k) {
    LLVMAddCase(made, air_operand(t, i, 2 * k),
                air_map_get(&t->values, LLVMGetOperand(i, 2 * k + 1)));
  }
  return made;
}

static LLVMValueRef clone_branch(air_translation *t, LLVMValueRef i) {
  LLVMBasicBlockRef first =
      air_map_get(&t->values, LLVMGetSuccessor(i, 0));
  if (!LLVMIsConditional(i)) {
    return LLVMBuildBr(t->builder, first);
  }
  return LLVMBuildCondBr(t->builder, air_value(t, LLVMGetCondition(i)), first,
                         air_map_get(&t->values, LLVMGetSuccessor(i, 1)));
}

static LLVMValueRef clone_return(air_translation *t, LLVMValueRef i) {
  return LLVMGetNumOperands(i) ? LLVMBuildRet(t->builder, air_operand(t, i, 0))
                               : LLVMBuildRetVoid(t->builder);
}

static LLVMValueRef clone_cast(air_translation *t, LLVMValueRef i,
                               LLVMOpcode opcode) {
  LLVMTypeRef type = air_type(t, LLVMTypeOf(i));
  LLVMValueRef value = air_operand(t, i, 0);
  return opcode == LLVMAddrSpaceCast || LLVMTypeOf(value) == type
             ? value
             : LLVMBuildCast(t->builder, opcode, value, type, "");
}

static LLVMValueRef clone_instruction(air_translation *t, LLVMValueRef i) {
  const LLVMOpcode opcode = LLVMGetInstructionOpcode(i);
  LLVMBuilderRef b = t->builder;
  switch (opcode) {
    case LLVMAdd: case LLVMSub: case LLVMMul: case LLVMUDiv: case LLVMSDiv:
    case LLVMURem: case LLVMSRem: case LLVMShl: case LLVMLShr: case LLVMAShr:
    case LLVMAnd: case LLVMOr: case LLVMXor: case LLVMFAdd: case LLVMFSub:
    case LLVMFMul: case LLVMFDiv: case LLVMFRem:
      return LLVMBuildBinOp(b, opcode, air_operand(t, i, 0),
                            air_operand(t, i, 1), "");
    case LLVMFNeg: return LLVMBuildFNeg(b, air_operand(t, i, 0), "");
    case LLVMTrunc: case LLVMZExt: case LLVMSExt: case LLVMFPToUI:
    case LLVMFPToSI: case LLVMUIToFP: case LLVMSIToFP: case LLVMFPTrunc:
    case LLVMFPExt: case LLVMPtrToInt: case LLVMIntToPtr: case LLVMBitCast:
    case LLVMAddrSpaceCast:
      return clone_cast(t, i, opcode);
    case LLVMICmp:
      return LLVMBuildICmp(b, LLVMGetICmpPredicate(i), air_operand(t, i, 0),
                           air_operand(t, i, 1), "");
    case LLVMFCmp:
      return LLVMBuildFCmp(b, LLVMGetFCmpPredicate(i), air_operand(t, i, 0),
                           air_operand(t, i, 1), "");
    case LLVMSelect:
      return LLVMBuildSelect(b, air_operand(t, i, 0), air_operand(t, i, 1),
                             air_operand(t, i, 2), "");
    case LLVMPHI: return LLVMBuildPhi(b, air_type(t, LLVMTypeOf(i)), "");
    case LLVMFreeze: return LLVMBuildFreeze(b, air_operand(t, i, 0), "");
    case LLVMCall: return clone_call(t, i);
    case LLVMLoad: return clone_load(t, i);
    case LLVMStore: return clone_store(t, i);
    case LLVMGetElementPtr: return clone_address(t, i);
    case LLVMAlloca: return clone_alloca(t, i);
    case LLVMAtomicRMW: return clone_atomic(t, i);
    case LLVMAtomicCmpXchg: return clone_exchange(t, i);
    case LLVMFence:
      return LLVMBuildFence(b, LLVMGetOrdering(i), LLVMIsAtomicSingleThread(i),
                            "");
    case LLVMExtractElement: return clone_extract(t, i);
    case LLVMInsertElement: return clone_insert(t, i);
    case LLVMShuffleVector: return clone_shuffle(t, i);
    case LLVMExtractValue: return clone_extract_member(t, i);
    case LLVMInsertValue: return clone_insert_member(t, i);
    case LLVMBr: return clone_branch(t, i);
    case LLVMSwitch: return clone_switch(t, i);
    case LLVMRet: return clone_return(t, i);
    case LLVMUnreachable: return LLVMBuildUnreachable(b);
    default:
      air_fail(t, MTL_UNSUPPORTED, "an instruction of kind %d", (int)opcode);
      return NULL;
  }
}

static void clone_block(air_translation *t, LLVMBasicBlockRef from) {
  LLVMPositionBuilderAtEnd(t->builder, air_map_get(&t->values, from));
  for (LLVMValueRef i = LLVMGetFirstInstruction(from); i;
       i = LLVMGetNextInstruction(i)) {
    air_set_line(t, i);
    LLVMValueRef made = clone_instruction(t, i);
    if (made) {
      keep_contraction(i, made);
    } else if (LLVMGetTypeKind(LLVMTypeOf(i)) != LLVMVoidTypeKind) {
      made = LLVMGetUndef(air_type(t, LLVMTypeOf(i)));
    }
    if (made) {
      air_map_set(&t->values, i, made);
    }
  }
}

// --- bodies ------------------------------------------------------------------

// The blocks that a function reaches, each after its dominators.
typedef struct block_order {
  LLVMBasicBlockRef *blocks;  // [count], the entry last
  size_t count;
} block_order;

// Depth first, without recursion: a function may have thousands of blocks.
static block_order order_blocks(air_translation *t, LLVMValueRef function) {
  const size_t most = LLVMCountBasicBlocks(function);
  block_order order = {.blocks = air_allocate(t, most * sizeof(void *))};
  LLVMBasicBlockRef *stack = air_allocate(t, most * sizeof *stack);
  unsigned *next = air_allocate(t, most * sizeof *next);
  size_t depth = 0;
  air_map seen = {0};
  stack[depth++] = LLVMGetEntryBasicBlock(function);
  air_map_set(&seen, stack[0], stack[0]);
  while (depth > 0) {
    LLVMValueRef end = LLVMGetBasicBlockTerminator(stack[depth - 1]);
    if (next[depth - 1] == LLVMGetNumSuccessors(end)) {
      order.blocks[order.count++] = stack[--depth];
      continue;
    }
    LLVMBasicBlockRef to = LLVMGetSuccessor(end, next[depth - 1]++);
    if (!air_map_get(&seen, to)) {
      air_map_set(&seen, to, to);
      next[depth] = 0;
      stack[depth++] = to;
    }
  }
  air_map_clear(&seen);
  return order;
}

static void fill_phi(air_translation *t, LLVMValueRef from) {
  LLVMValueRef phi = air_map_get(&t->values, from);
  const unsigned count = LLVMCountIncoming(from);
  for (unsigned i = 0; i < count; ++i) {
    LLVMBasicBlockRef block =
        air_map_get(&t->values, LLVMGetIncomingBlock(from, i));
    if (block) {  // other blocks are unreachable
      LLVMValueRef value = air_value(t, LLVMGetIncomingValue(from, i));
      LLVMAddIncoming(phi, &value, &block, 1);
    }
  }
}

static void fill_phis(air_translation *t, LLVMBasicBlockRef from) {
  for (LLVMValueRef i = LLVMGetFirstInstruction(from); i && LLVMIsAPHINode(i);
       i = LLVMGetNextInstruction(i)) {
    fill_phi(t, i);
  }
}

static void translate_body(air_translation *t, LLVMValueRef from) {
  LLVMValueRef to = air_map_get(&t->values, from);
  const block_order order = order_blocks(t, from);
  air_map reached = {0};
  for (size_t i = 0; i < order.count; ++i) {
    air_map_set(&reached, order.blocks[i], order.blocks[i]);
  }
  for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(from); block;
       block = LLVMGetNextBasicBlock(block)) {
    if (air_map_get(&reached, block)) {
      void *made = LLVMAppendBasicBlockInContext(t->context, to, "");
      air_map_set(&t->values, block, made);  // as a value it is the same
    }
  }
  air_map_clear(&reached);
  for (unsigned i = 0; i < LLVMCountParams(from); ++i) {
    air_map_set(&t->values, LLVMGetParam(from, i), LLVMGetParam(to, i));
  }
  air_begin_function_lines(t, from, to);
  for (size_t i = order.count; i-- > 0;) {
    clone_block(t, order.blocks[i]);
  }
  for (size_t i = 0; i < order.count; ++i) {
    fill_phis(t, order.blocks[i]);
  }
}

void air_translate_bodies(air_translation *t) {
  for (LLVMValueRef function = LLVMGetFirstFunction(t->source); function;
       function = LLVMGetNextFunction(function)) {
    if (!LLVMIsDeclaration(function) && t->status == MTL_OK) {
      translate_body(t, function);
    }
  }
}
