// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// load_matrices.c: loads tiles of 16-bit elements from threadgroup memory by
// ldmatrix, up to four at once. Each lane gives the address of one row of one
// tile, a multiple of 16 bytes.
#include <stdio.h>

#include "compiler/ir/analysis/access_spaces.h"
#include "compiler/ir/kernel/kernel.h"
#include "compiler/ir/llvm/calls.h"
#include "compiler/ir/llvm/instructions.h"
#include "compiler/ir/llvm/types.h"
#include "compiler/ptx/ptx.h"
#include "compiler/ptx/tiles.h"

enum { ROWS = 8, MOST = 4 };

typedef struct loading {
  LLVMBuilderRef builder;
  mtlc_types types;
  LLVMValueRef lane;
} loading;

bool mtlc_ptx_is_matrix(LLVMValueRef load) {
  LLVMValueRef row = LLVMGetOperand(load, MTLC_PTX_ROW);
  LLVMValueRef memory = LLVMGetOperand(load, MTLC_PTX_SOURCE);
  while (LLVMIsAGetElementPtrInst(memory)) {
    memory = LLVMGetOperand(memory, 0);
  }
  return LLVMGetIntTypeWidth(LLVMTypeOf(load)) == 32 &&
         mtlc_is_threadgroup_memory(memory) &&
         (!LLVMIsAConstantInt(row) ||
          LLVMConstIntGetZExtValue(row) % ROWS == 0);
}

// Returns one of up to four values, which the lanes of a tile's eight rows
// share.
static LLVMValueRef choose(const loading *l, LLVMValueRef *values,
                           unsigned count) {
  LLVMBuilderRef b = l->builder;
  LLVMValueRef chosen = values[0];
  for (unsigned i = 1; i < count; i++) {
    LLVMValueRef first =
        LLVMConstInt(l->types.i32, (unsigned long long)i * ROWS, false);
    chosen = values[i] == values[0] && chosen == values[0]
                 ? chosen
                 : LLVMBuildSelect(
                       b, LLVMBuildICmp(b, LLVMIntUGE, l->lane, first, ""),
                       values[i], chosen, "");
  }
  return chosen;
}

// Returns the address of the lane's row. The distance from the first tile is
// the same in all iterations of a loop.
static LLVMValueRef row_address(const loading *l, const LLVMValueRef *loads,
                                unsigned count) {
  LLVMBuilderRef b = l->builder;
  LLVMTypeRef i64 = l->types.i64;
  LLVMValueRef distances[MOST], rows[MOST];
  LLVMValueRef first = LLVMGetOperand(loads[0], MTLC_PTX_SOURCE);
  LLVMValueRef start = mtlc_ptx_address_number(b, i64, first);
  for (unsigned i = 0; i < count; i++) {
    LLVMValueRef source = LLVMGetOperand(loads[i], MTLC_PTX_SOURCE);
    distances[i] =
        LLVMBuildSub(b, mtlc_ptx_address_number(b, i64, source), start, "");
    rows[i] = LLVMGetOperand(loads[i], MTLC_PTX_ROW);
  }
  LLVMValueRef row =
      LLVMBuildAnd(b, l->lane, LLVMConstInt(l->types.i32, ROWS - 1, false), "");
  LLVMValueRef bytes =
      LLVMBuildMul(b, choose(l, rows, count), LLVMConstInt(i64, 2, false), "");
  LLVMValueRef offset = LLVMBuildAdd(
      b, choose(l, distances, count),
      LLVMBuildMul(b, LLVMBuildZExt(b, row, i64, ""), bytes, ""), "");
  return LLVMBuildGEP2(b, l->types.i8, first, &offset, 1, "");
}

static void load(const loading *l, const LLVMValueRef *loads, unsigned count,
                 bool is_transposed, LLVMValueRef *made) {
  LLVMBuilderRef b = l->builder;
  LLVMTypeRef shared = LLVMPointerTypeInContext(
      LLVMGetTypeContext(l->types.i32), MTLC_PTX_SHARED_SPACE);
  LLVMValueRef address =
      LLVMBuildAddrSpaceCast(b, row_address(l, loads, count), shared, "");
  char name[64];
  snprintf(name, sizeof name, "llvm.nvvm.ldmatrix.sync.aligned.m8n8.x%u%s.b16",
           count, is_transposed ? ".trans" : "");
  LLVMValueRef tiles = mtlc_call_intrinsic(b, name, &shared, 1, &address, 1);
  for (unsigned i = 0; i < count; i++) {
    made[i] = count == 1 ? tiles : LLVMBuildExtractValue(b, tiles, i, "");
  }
}

void mtlc_ptx_load_matrices(mtlc_kernel *kernel, LLVMBuilderRef builder,
                            const LLVMValueRef *loads, size_t count,
                            bool is_transposed, LLVMValueRef *made) {
  loading l = {
      .builder = builder,
      .types = mtlc_types_of(kernel->context),
      .lane = mtlc_call_intrinsic(builder, "llvm.nvvm.read.ptx.sreg.laneid",
                                  NULL, 0, NULL, 0)};
  for (size_t at = 0; at < count;) {
    const size_t left = count - at;
    const unsigned now = left >= MOST ? MOST : left >= 2 ? 2 : 1;
    load(&l, loads + at, now, is_transposed, made + at);
    at += now;
  }
}
