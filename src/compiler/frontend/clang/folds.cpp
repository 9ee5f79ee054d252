// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// folds.cpp: keeps clang from folding constants to poison. 1u << 33,
// 1 / 0 and uint(-1.0f) have values (docs/ir.md), and define_arithmetic gives
// them; but where all operands are constants, clang's IR builder folds them
// while it builds, by C++'s rules. So are vectors of three that it
// widens to four. The build (CMakeLists.txt) renames ConstantFolder's table of
// virtual functions in clang's objects, so that clang's builders have that of
// this file's class: what would be poison becomes an instruction. LLVM's passes
// keep their own: some do not end where nothing is folded.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/IR/ConstantFold.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilderFolder.h"
#include "llvm/IR/Instruction.h"
#define final  // a class may be derived from it here
#include "llvm/IR/ConstantFolder.h"
#undef final
#pragma GCC diagnostic pop

// In no namespace, so that the alias below can name it.
class MettleFolder final : public llvm::ConstantFolder {
 public:
  llvm::Value *FoldBinOp(llvm::Instruction::BinaryOps Opcode, llvm::Value *Left,
                         llvm::Value *Right) const override;
  llvm::Value *FoldExactBinOp(llvm::Instruction::BinaryOps Opcode,
                              llvm::Value *Left, llvm::Value *Right,
                              bool IsExact) const override;
  llvm::Value *FoldNoWrapBinOp(llvm::Instruction::BinaryOps Opcode,
                               llvm::Value *Left, llvm::Value *Right,
                               bool HasNUW, bool HasNSW) const override;
  llvm::Value *FoldCast(llvm::Instruction::CastOps Opcode, llvm::Value *Value,
                        llvm::Type *Type) const override;
  llvm::Value *FoldShuffleVector(llvm::Value *Left, llvm::Value *Right,
                                 llvm::ArrayRef<int> Mask) const override;
};

// The builder takes null for "not folded".
static llvm::Value *unlessPoison(llvm::Value *Folded) {
  const auto *C = llvm::dyn_cast_or_null<llvm::Constant>(Folded);
  const bool IsPoison =
      C && (llvm::isa<llvm::PoisonValue>(C) || C->containsPoisonElement());
  return IsPoison ? nullptr : Folded;
}

llvm::Value *MettleFolder::FoldBinOp(llvm::Instruction::BinaryOps Opcode,
                                     llvm::Value *Left,
                                     llvm::Value *Right) const {
  return unlessPoison(ConstantFolder::FoldBinOp(Opcode, Left, Right));
}

llvm::Value *MettleFolder::FoldExactBinOp(llvm::Instruction::BinaryOps Opcode,
                                          llvm::Value *Left, llvm::Value *Right,
                                          bool IsExact) const {
  return unlessPoison(
      ConstantFolder::FoldExactBinOp(Opcode, Left, Right, IsExact));
}

llvm::Value *MettleFolder::FoldNoWrapBinOp(llvm::Instruction::BinaryOps Opcode,
                                           llvm::Value *Left,
                                           llvm::Value *Right, bool HasNUW,
                                           bool HasNSW) const {
  return unlessPoison(
      ConstantFolder::FoldNoWrapBinOp(Opcode, Left, Right, HasNUW, HasNSW));
}

llvm::Value *MettleFolder::FoldCast(llvm::Instruction::CastOps Opcode,
                                    llvm::Value *Value,
                                    llvm::Type *Type) const {
  return unlessPoison(ConstantFolder::FoldCast(Opcode, Value, Type));
}

llvm::Value *MettleFolder::FoldShuffleVector(llvm::Value *Left,
                                             llvm::Value *Right,
                                             llvm::ArrayRef<int> Mask) const {
  return unlessPoison(ConstantFolder::FoldShuffleVector(Left, Right, Mask));
}

// The new name of ConstantFolder's table in clang's objects.
extern "C" const char folderTable __asm__("mettle_folder_table")
    __attribute__((alias("_ZTV12MettleFolder")));
