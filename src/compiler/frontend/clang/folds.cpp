// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// folds.cpp: keeps clang from folding constants to poison. 1u << 33,
// 1 / 0 and uint(-1.0f) have values (docs/ir.md), and define_arithmetic gives
// them; but where all operands are constants, clang's IR builder folds them
// while it builds, by C++'s rules. So are vectors of three that it
// widens to four. The linker's --wrap (CMakeLists.txt) gives
// clang's builders the table of virtual functions of this file's class in
// place of ConstantFolder's: what would be poison becomes an instruction.
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

// What clang's references to ConstantFolder's table are sent to.
extern "C" const char wrappedFolderTable __asm__(
    "__wrap__ZTVN4llvm14ConstantFolderE")
    __attribute__((alias("_ZTV12MettleFolder")));
