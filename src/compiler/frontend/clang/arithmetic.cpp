// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// arithmetic.cpp: lets pragmas for floating point reach the operators
// of vectors and matrices, which are functions of Metal's library here: clang
// compiles those once, as the options have it. A call of one under a pragma
// gets a copy whose products and sums may or may not be contracted.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include "clang/AST/ASTConsumer.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include "clang/Basic/SourceManager.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Path.h"
#include "llvm/Transforms/Utils/Cloning.h"
#pragma GCC diagnostic pop

#include "compiler/frontend/parts.h"

using llvm::StringRef;

namespace {

using namespace mtlc;

// A place in a source as debug information knows it: files by their names, for
// how it writes folders differs.
std::string placeName(StringRef File, unsigned Line, unsigned Column) {
  return (llvm::sys::path::filename(File) + ":" + llvm::Twine(Line) + ":" +
          llvm::Twine(Column))
      .str();
}

// --- where pragmas hold ------------------------------------------------------

// Notes each operator of a class under a pragma: whether it may be contracted
// with an operation on its result.
class OperatorVisitor : public clang::RecursiveASTVisitor<OperatorVisitor> {
 public:
  OperatorVisitor(const clang::SourceManager &Sources, OperatorPragmas &Found)
      : Sources(Sources), Found(Found) {}

  bool shouldVisitTemplateInstantiations() const {
    return true;
  }
  bool VisitCXXOperatorCallExpr(clang::CXXOperatorCallExpr *E) {
    const clang::FPOptionsOverride Pragmas = E->getFPFeatures();
    if (!Pragmas.hasFPContractModeOverride()) return true;
    const clang::PresumedLoc At =
        Sources.getPresumedLoc(Sources.getExpansionLoc(E->getExprLoc()));
    if (At.isValid())
      Found[placeName(At.getFilename(), At.getLine(), At.getColumn())] =
          Pragmas.getFPContractModeOverride() == clang::LangOptions::FPM_Fast;
    return true;
  }

 private:
  const clang::SourceManager &Sources;
  OperatorPragmas &Found;
};

class PragmaConsumer : public clang::ASTConsumer {
 public:
  PragmaConsumer(const bool &HasPragmas, OperatorPragmas &Found)
      : HasPragmas(HasPragmas), Found(Found) {}

  void HandleTranslationUnit(clang::ASTContext &C) override {
    if (!HasPragmas) return;
    OperatorVisitor Visitor(C.getSourceManager(), Found);
    for (clang::Decl *D : C.getTranslationUnitDecl()->noload_decls())
      if (!D->isFromASTFile()) Visitor.TraverseDecl(D);
  }

 private:
  const bool &HasPragmas;
  OperatorPragmas &Found;
};

// --- copies of the library's operators ---------------------------------------

class Copies {
 public:
  explicit Copies(bool Contracts) : Contracts(Contracts) {}

  // The library's functions are those without debug information.
  static bool isLibrary(const llvm::Function *F) {
    return F && !F->isDeclaration() && !F->getSubprogram();
  }

  llvm::Function *of(llvm::Function *F) {
    llvm::Function *&Copy = Made[F];
    if (Copy) return Copy;
    llvm::ValueToValueMapTy Values;
    llvm::Function *New = llvm::CloneFunction(F, Values);
    New->setComdat(nullptr);
    New->setLinkage(llvm::GlobalValue::InternalLinkage);
    Copy = New;
    for (llvm::Instruction &I : llvm::instructions(New)) change(I);
    return New;
  }

 private:
  void change(llvm::Instruction &I) {
    switch (I.getOpcode()) {
      case llvm::Instruction::FAdd:
      case llvm::Instruction::FSub:
      case llvm::Instruction::FMul: I.setHasAllowContract(Contracts); break;
      case llvm::Instruction::Call: {
        auto &Call = llvm::cast<llvm::CallInst>(I);
        if (isLibrary(Call.getCalledFunction()))
          Call.setCalledFunction(of(Call.getCalledFunction()));
        break;
      }
      default: break;
    }
  }

  const bool Contracts;
  llvm::DenseMap<llvm::Function *, llvm::Function *> Made;
};

}  // namespace

std::unique_ptr<clang::ASTConsumer> mtlc::makePragmaConsumer(
    const bool &HasPragmas, OperatorPragmas &Found) {
  return std::make_unique<PragmaConsumer>(HasPragmas, Found);
}

void mtlc::applyPragmas(llvm::Module &M, const OperatorPragmas &Pragmas) {
  if (Pragmas.empty()) return;
  Copies Contracted(true), Separate(false);
  llvm::SmallVector<std::pair<llvm::CallInst *, bool>> Calls;
  for (llvm::Function &F : M)
    for (llvm::Instruction &I : llvm::instructions(F)) {
      auto *Call = llvm::dyn_cast<llvm::CallInst>(&I);
      const llvm::DILocation *At = Call ? Call->getDebugLoc().get() : nullptr;
      if (!At || !Copies::isLibrary(Call->getCalledFunction())) continue;
      const auto Pragma = Pragmas.find(
          placeName(At->getFilename(), At->getLine(), At->getColumn()));
      if (Pragma != Pragmas.end()) Calls.push_back({Call, Pragma->second});
    }
  for (const auto &[Call, Contracts] : Calls)
    Call->setCalledFunction(
        (Contracts ? Contracted : Separate).of(Call->getCalledFunction()));
}
