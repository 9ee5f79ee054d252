// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// traps.c: replaces mettle.trap by code that writes a fault record and ends the
// thread, and MTLC_PTX_ASK by a test whether an access is within its memory.
#include <llvm-c/DebugInfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "code/ptx_abi.h"
#include "compiler/ir/llvm/attributes.h"
#include "compiler/ir/llvm/calls.h"
#include "compiler/ir/llvm/instructions.h"
#include "compiler/ir/llvm/module.h"
#include "compiler/ir/llvm/value_list.h"
#include "compiler/ptx/enter_block.h"
#include "compiler/ptx/ptx.h"

// --- traps ------------------------------------------------------------------

static void end_thread(const mtlc_ptx_entry *e) {
  static const char text[] = "exit;";
  LLVMTypeRef type = LLVMFunctionType(e->types.nothing, NULL, 0, false);
  LLVMValueRef code = LLVMGetInlineAsm(type, text, sizeof text - 1, "", 0, true,
                                       false, LLVMInlineAsmDialectATT, false);
  LLVMBuildCall2(e->builder, type, code, NULL, 0, "");
}

// Offsets of a fault record's fields, without its reason, and without is_whole,
// which is written last.
static const size_t record_parts[] = {
    offsetof(mtli_ptx_fault, text),       offsetof(mtli_ptx_fault, place),
    offsetof(mtli_ptx_fault, group),      offsetof(mtli_ptx_fault, group) + 4,
    offsetof(mtli_ptx_fault, group) + 8,  offsetof(mtli_ptx_fault, thread),
    offsetof(mtli_ptx_fault, thread) + 4, offsetof(mtli_ptx_fault, thread) + 8,
    offsetof(mtli_ptx_fault, address),    offsetof(mtli_ptx_fault, access)};
enum { RECORD_PARTS = sizeof record_parts / sizeof *record_parts };
enum { ADDRESS_PART = RECORD_PARTS - 2 };

static void store_at(const mtlc_ptx_entry *e, LLVMValueRef record,
                     size_t offset, LLVMValueRef value) {
  LLVMSetVolatile(LLVMBuildStore(e->builder, value,
                                 mtlc_offset(e->builder, record, offset)),
                  true);
}

// Makes the function that ends a thread: the first one that does so writes the
// record of ptx_abi.h. Parameters: the record, the reason, the record's parts.
static LLVMValueRef make_trap(mtlc_ptx_entry *e) {
  LLVMTypeRef types[2 + RECORD_PARTS] = {e->types.pointer, e->types.i32,
                                         e->types.i64, e->types.i64};
  for (unsigned i = 2; i < RECORD_PARTS; i++) {
    types[2 + i] = i == ADDRESS_PART ? e->types.i64 : e->types.i32;
  }
  LLVMContextRef context = e->kernel->context;
  LLVMValueRef trap = mtlc_declare(
      e->kernel->module, "mettle_stop",
      LLVMFunctionType(e->types.nothing, types, 2 + RECORD_PARTS, false));
  LLVMSetLinkage(trap, LLVMInternalLinkage);
  mtlc_set_attribute(trap, "noinline", 0);
  mtlc_set_attribute(trap, "nounwind", 0);
  LLVMBasicBlockRef start = LLVMAppendBasicBlockInContext(context, trap, "");
  LLVMBasicBlockRef write = LLVMAppendBasicBlockInContext(context, trap, "");
  LLVMBasicBlockRef end = LLVMAppendBasicBlockInContext(context, trap, "");
  LLVMValueRef record = LLVMGetParam(trap, 0);
  LLVMPositionBuilderAtEnd(e->builder, start);
  LLVMValueRef old = LLVMBuildAtomicCmpXchg(
      e->builder, record, mtlc_ptx_i32(e, 0), LLVMGetParam(trap, 1),
      LLVMAtomicOrderingMonotonic, LLVMAtomicOrderingMonotonic, false);
  LLVMBuildCondBr(e->builder, LLVMBuildExtractValue(e->builder, old, 1, ""),
                  write, end);
  LLVMPositionBuilderAtEnd(e->builder, write);
  for (unsigned i = 0; i < RECORD_PARTS; i++) {
    store_at(e, record, record_parts[i], LLVMGetParam(trap, 2 + i));
  }
  store_at(e, record, offsetof(mtli_ptx_fault, is_whole), mtlc_ptx_i32(e, 1));
  LLVMBuildBr(e->builder, end);
  LLVMPositionBuilderAtEnd(e->builder, end);
  end_thread(e);
  LLVMBuildRetVoid(e->builder);
  return trap;
}

// Returns the text "FILE:LINE" of an instruction; null if it is not known.
static LLVMValueRef place_of(const mtlc_ptx_entry *e,
                             LLVMValueRef instruction) {
  unsigned length = 0;
  const char *file = LLVMGetDebugLocFilename(instruction, &length);
  const unsigned line = LLVMGetDebugLocLine(instruction);
  char text[512];
  if (!file || !length || !line) {
    return LLVMConstNull(e->types.pointer);
  }
  snprintf(text, sizeof text, "%.*s:%u", (int)length, file, line);
  return mtlc_ptx_add_text(e->kernel, text, strlen(text) + 1, 1);
}

static void replace_trap(mtlc_ptx_entry *e, LLVMValueRef call,
                         LLVMValueRef trap, LLVMValueRef record) {
  LLVMPositionBuilderBefore(e->builder, call);
  LLVMValueRef arguments[2 + RECORD_PARTS] = {
      record, mtlc_ptx_add(e, LLVMGetOperand(call, 0), mtlc_ptx_i32(e, 1)),
      LLVMBuildPtrToInt(e->builder, LLVMGetOperand(call, 1), e->types.i64, ""),
      LLVMBuildPtrToInt(e->builder, place_of(e, call), e->types.i64, "")};
  for (unsigned i = 0; i < 3; i++) {
    arguments[4 + i] = e->at.group[i];
    arguments[7 + i] = e->at.thread[i];
  }
  arguments[10] = LLVMConstNull(e->types.i64);
  arguments[11] = mtlc_ptx_i32(e, 0);
  mtlc_call(e->builder, trap, arguments, 2 + RECORD_PARTS);
  LLVMInstructionEraseFromParent(call);
}

// --- accesses that ask ------------------------------------------------------

// Builds the body of mettle_is_constant: true if the bytes lie in one of the
// module's constants.
static void make_is_constant(const mtlc_ptx_entry *e) {
  LLVMModuleRef module = e->kernel->module;
  LLVMValueRef function = LLVMGetNamedFunction(module, "mettle_is_constant");
  LLVMTargetDataRef layout = LLVMGetModuleDataLayout(module);
  LLVMBuilderRef b = LLVMCreateBuilderInContext(e->kernel->context);
  LLVMPositionBuilderAtEnd(
      b, LLVMAppendBasicBlockInContext(e->kernel->context, function, ""));
  LLVMValueRef first = LLVMGetParam(function, 0);
  LLVMValueRef end = LLVMGetParam(function, 1);
  LLVMValueRef is_any =
      LLVMConstNull(LLVMInt1TypeInContext(e->kernel->context));
  for (LLVMValueRef global = LLVMGetFirstGlobal(module); global;
       global = LLVMGetNextGlobal(global)) {
    if (!LLVMGetInitializer(global)) {
      continue;
    }
    LLVMValueRef address =
        LLVMGetPointerAddressSpace(LLVMTypeOf(global))
            ? LLVMConstAddrSpaceCast(global, e->types.pointer)
            : global;
    LLVMValueRef begin = LLVMBuildPtrToInt(b, address, e->types.i64, "");
    LLVMValueRef behind = LLVMBuildAdd(
        b, begin,
        mtlc_i64(e->kernel->context,
                 LLVMABISizeOfType(layout, LLVMGlobalGetValueType(global))),
        "");
    LLVMValueRef is_inside =
        LLVMBuildAnd(b, LLVMBuildICmp(b, LLVMIntUGE, first, begin, ""),
                     LLVMBuildICmp(b, LLVMIntULE, end, behind, ""), "");
    is_any = LLVMBuildOr(b, is_any, is_inside, "");
  }
  LLVMBuildRet(b, is_any);
  LLVMDisposeBuilder(b);
  LLVMSetLinkage(function, LLVMInternalLinkage);
}

static void replace_ask(const mtlc_ptx_entry *e, LLVMValueRef call,
                        LLVMValueRef ask, LLVMValueRef ranges,
                        LLVMValueRef record) {
  LLVMPositionBuilderBefore(e->builder, call);
  LLVMValueRef arguments[13] = {
      LLVMGetOperand(call, 0),
      LLVMGetOperand(call, 1),
      LLVMGetOperand(call, 2),
      LLVMGetOperand(call, 3),
      ranges,
      record,
      LLVMBuildPtrToInt(e->builder, place_of(e, call), e->types.i64, "")};
  for (unsigned i = 0; i < 3; i++) {
    arguments[7 + i] = e->at.group[i];
    arguments[10 + i] = e->at.thread[i];
  }
  mtlc_call(e->builder, ask, arguments, 13);
  LLVMInstructionEraseFromParent(call);
}

static mtl_status replace_asks(mtlc_ptx_entry *e, const mtlc_values *calls,
                               LLVMValueRef record) {
  LLVMValueRef ranges = mtlc_ptx_generic(e, MTLC_PTX_RANGES);
  MTL_TRY(mtlc_link_text(e->kernel, "ptx_check.ll", mtlc_text_ptx_check));
  make_is_constant(e);
  LLVMValueRef ask = LLVMGetNamedFunction(e->kernel->module, "mettle_ask");
  LLVMSetLinkage(ask, LLVMInternalLinkage);
  for (size_t i = 0; i < calls->count; i++) {
    replace_ask(e, calls->items[i], ask, ranges, record);
  }
  return MTL_OK;
}

mtl_status mtlc_ptx_replace_traps(mtlc_ptx_entry *e) {
  mtlc_values traps = {0}, asks = {0};
  mtlc_collect_calls(e->kernel->module, "mettle.trap", &traps);
  mtlc_collect_calls(e->kernel->module, MTLC_PTX_ASK, &asks);
  mtl_status status = MTL_OK;
  mtlc_ptx_go_to_entry(e);
  LLVMValueRef record =
      traps.count || asks.count ? mtlc_ptx_generic(e, MTLC_PTX_FAULT) : NULL;
  if (asks.count) {
    status = replace_asks(e, &asks, record);
  }
  if (record && status == MTL_OK) {
    LLVMValueRef trap = make_trap(e);
    for (size_t i = 0; i < traps.count; i++) {
      replace_trap(e, traps.items[i], trap, record);
    }
  }
  free(traps.items);
  free(asks.items);
  return status;
}
