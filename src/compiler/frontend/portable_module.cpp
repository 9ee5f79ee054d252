// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// portable_module.cpp: from clang's IR to portable IR, and from a library's
// bitcode back to the module of one kernel.
#include <stdlib.h>

#include <memory>
#include <string>
#include <vector>

#include "compiler/frontend/parts.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/ReplaceConstant.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/CBindingWrapping.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"
#include "llvm/Transforms/IPO/Internalize.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using llvm::cast;
using llvm::dyn_cast;
using llvm::StringRef;

namespace {

using mtlc::InputPrefix;

// The threadgroup variables that were given an initialiser (source.c).
std::vector<llvm::GlobalVariable *> initializedVariables(llvm::Module &M) {
  std::vector<llvm::GlobalVariable *> Result;
  const auto *G = M.getNamedGlobal("llvm.global.annotations");
  if (!G) return Result;
  for (const llvm::Use &Entry : G->getInitializer()->operands()) {
    const auto *Fields = cast<llvm::ConstantStruct>(Entry);
    const auto *Name = cast<llvm::GlobalVariable>(Fields->getOperand(1));
    const auto *Text =
        cast<llvm::ConstantDataSequential>(Name->getInitializer());
    auto *Variable = dyn_cast<llvm::GlobalVariable>(Fields->getOperand(0));
    if (Variable && Text->getAsCString() == "mettle.initialized")
      Result.push_back(Variable);
  }
  return Result;
}

bool isUsedIn(const llvm::Value *V, const llvm::Function *F) {
  return llvm::any_of(V->users(), [&](const llvm::User *U) {
    const auto *I = dyn_cast<llvm::Instruction>(U);
    return I ? I->getFunction() == F : isUsedIn(U, F);
  });
}

// Lets the first thread of the group write the initial values of a kernel's
// variables, and the others wait for it.
void writeInitialValues(llvm::Module &M, llvm::CallInst *Kernel,
                        llvm::ArrayRef<llvm::GlobalVariable *> Variables) {
  llvm::IRBuilder<> Builder(Kernel);
  llvm::Type *I32 = Builder.getInt32Ty();
  const llvm::FunctionCallee Position =
      M.getOrInsertFunction("mettle.position", I32, I32, I32);
  llvm::FunctionCallee Barrier = M.getOrInsertFunction(
      "mettle.barrier.threadgroup", Builder.getVoidTy(), I32);
  cast<llvm::Function>(Barrier.getCallee())->setConvergent();
  llvm::Value *Thread = Builder.CreateCall(
      Position, {Builder.getInt32(MTLI_THREAD_INDEX_IN_THREADGROUP),
                 Builder.getInt32(0)});
  llvm::Value *IsFirst = Builder.CreateICmpEQ(Thread, Builder.getInt32(0));
  constexpr uint32_t ThreadgroupFlag = 2;  // mem_flags::mem_threadgroup
  llvm::CallInst *Wait =
      Builder.CreateCall(Barrier, Builder.getInt32(ThreadgroupFlag));
  Wait->setConvergent();
  Builder.SetInsertPoint(
      llvm::SplitBlockAndInsertIfThen(IsFirst, Wait, /*Unreachable=*/false));
  for (llvm::GlobalVariable *G : Variables) {
    const uint64_t Size = M.getDataLayout().getTypeAllocSize(G->getValueType());
    llvm::Constant *Value = G->getInitializer();
    if (Value->isNullValue()) {
      Builder.CreateMemSet(G, Builder.getInt8(0), Size, G->getAlign());
      continue;
    }
    auto *Copy = new llvm::GlobalVariable(
        M, G->getValueType(), /*isConstant=*/true,
        llvm::GlobalValue::PrivateLinkage, Value, G->getName() + ".initial");
    Copy->setAlignment(G->getAlign());
    Builder.CreateMemCpy(G, G->getAlign(), Copy, G->getAlign(), Size);
  }
}

// Metal leaves threadgroup memory undefined but for initialisers.
void initializeThreadgroupMemory(llvm::Module &M) {
  const std::vector<llvm::GlobalVariable *> Variables = initializedVariables(M);
  for (llvm::Function &Entry : M) {
    if (Variables.empty() || !Entry.getName().starts_with("mettle.kernel."))
      continue;
    std::vector<llvm::GlobalVariable *> Used;
    for (llvm::Instruction &I : llvm::make_early_inc_range(Entry.front())) {
      auto *Call = dyn_cast<llvm::CallInst>(&I);
      llvm::Function *Kernel = Call ? Call->getCalledFunction() : nullptr;
      if (!Kernel || Kernel->isDeclaration()) continue;
      llvm::copy_if(Variables, std::back_inserter(Used),
                    [&](const auto *G) { return isUsedIn(G, Kernel); });
      if (!Used.empty()) {
        writeInitialValues(M, Call, Used);
        break;
      }
    }
  }
  for (llvm::GlobalVariable &G : M.globals())
    if (G.getSection() == ".mettle.threadgroup")
      G.setInitializer(llvm::UndefValue::get(G.getValueType()));
}

// The parsed parts of a name with InputPrefix.
struct ProgramInput {
  unsigned Builtin = 0, Components = 0, Bytes = 0;
};

ProgramInput readInput(StringRef Name) {
  ProgramInput Input;
  Name.consume_front(InputPrefix);
  Name.consumeInteger(10, Input.Builtin);
  Name.consume_front(".");
  Name.consumeInteger(10, Input.Components);
  Name.consume_front(".");
  Name.consumeInteger(10, Input.Bytes);
  return Input;
}

// Memory with a built-in input's value, as MSL lays its type out.
llvm::Value *makeInput(llvm::Function &F, const ProgramInput &Input) {
  llvm::Module &M = *F.getParent();
  llvm::IRBuilder<> Builder(&*F.getEntryBlock().getFirstInsertionPt());
  llvm::Type *I32 = Builder.getInt32Ty();
  llvm::Type *Component = Builder.getIntNTy(Input.Bytes * 8);
  const llvm::FunctionCallee Position =
      M.getOrInsertFunction("mettle.position", I32, I32, I32);
  const unsigned Room = Input.Components == 3 ? 4 : Input.Components;
  llvm::AllocaInst *Memory =
      Builder.CreateAlloca(llvm::ArrayType::get(Component, Room));
  Memory->setAlignment(llvm::Align(16));
  for (unsigned I = 0; I < Input.Components; ++I) {
    llvm::Value *Value = Builder.CreateCall(
        Position, {Builder.getInt32(Input.Builtin), Builder.getInt32(I)});
    Builder.CreateStore(Builder.CreateTrunc(Value, Component),
                        Builder.CreateConstGEP1_32(Component, Memory, I));
  }
  return Memory;
}

// Gives each function that reads a built-in input declared at program scope a
// copy of its own.
void lowerProgramInputs(llvm::Module &M) {
  for (llvm::GlobalVariable &G : llvm::make_early_inc_range(M.globals())) {
    if (!G.getName().starts_with(InputPrefix)) continue;
    llvm::convertUsersOfConstantsToInstructions({&G});
    llvm::DenseMap<llvm::Function *, llvm::Value *> Copies;
    for (llvm::Use &U : llvm::make_early_inc_range(G.uses())) {
      auto *I = dyn_cast<llvm::Instruction>(U.getUser());
      if (!I) continue;
      llvm::Value *&Copy = Copies[I->getFunction()];
      if (!Copy) Copy = makeInput(*I->getFunction(), readInput(G.getName()));
      U.set(Copy);
    }
    if (G.use_empty()) G.eraseFromParent();
  }
}

// The passes here do not use expectations about branches.
void removeExpectations(llvm::Module &M) {
  for (llvm::Function &F : llvm::make_early_inc_range(M)) {
    const llvm::Intrinsic::ID ID = F.getIntrinsicID();
    if (ID != llvm::Intrinsic::expect_with_probability) continue;
    for (llvm::User *U : llvm::make_early_inc_range(F.users())) {
      auto *Call = cast<llvm::CallInst>(U);
      Call->replaceAllUsesWith(Call->getArgOperand(0));
      Call->eraseFromParent();
    }
    F.eraseFromParent();
  }
}

// Annotations are no longer needed; those of fields would prevent optimisation
// of loads.
void removeAnnotations(llvm::Module &M) {
  for (llvm::Function &F : llvm::make_early_inc_range(M)) {
    const llvm::Intrinsic::ID ID = F.getIntrinsicID();
    if (ID != llvm::Intrinsic::var_annotation &&
        ID != llvm::Intrinsic::ptr_annotation)
      continue;
    for (llvm::User *U : llvm::make_early_inc_range(F.users())) {
      auto *Call = cast<llvm::CallInst>(U);
      if (ID == llvm::Intrinsic::ptr_annotation)
        Call->replaceAllUsesWith(Call->getArgOperand(0));
      Call->eraseFromParent();
    }
    F.eraseFromParent();
  }
  if (llvm::GlobalVariable *G = M.getNamedGlobal("llvm.global.annotations"))
    G->eraseFromParent();
}

// --- reading one kernel ------------------------------------------------------

// What a function reaches, its body read in as the search gets there.
class Reach {
 public:
  void add(llvm::GlobalValue *G) {
    if (G && Found.insert(G).second) Next.push_back(G);
  }
  bool contains(const llvm::GlobalValue *G) const {
    return Found.count(G);
  }
  llvm::Error search() {
    while (!Next.empty()) {
      llvm::GlobalValue *G = Next.pop_back_val();
      if (llvm::Error E = G->materialize()) return E;
      addOperands(*G);
      if (auto *F = llvm::dyn_cast<llvm::Function>(G))
        for (const llvm::Instruction &I : llvm::instructions(F)) addOperands(I);
    }
    return llvm::Error::success();
  }

 private:
  // Constants are expressions of any depth, and many share their parts.
  void addOperands(const llvm::User &Root) {
    llvm::SmallVector<const llvm::User *> Users{&Root};
    while (!Users.empty())
      for (llvm::Value *V : Users.pop_back_val()->operands()) {
        if (auto *G = llvm::dyn_cast<llvm::GlobalValue>(V))
          add(G);
        else if (auto *C = llvm::dyn_cast<llvm::Constant>(V))
          if (C->getNumOperands() && Seen.insert(C).second) Users.push_back(C);
      }
  }

  llvm::DenseSet<const llvm::GlobalValue *> Found;
  llvm::DenseSet<const llvm::Constant *> Seen;
  llvm::SmallVector<llvm::GlobalValue *> Next;
};

// Remaining code uses nothing of the dropped code; dropped code may use the
// rest.
void dropUnreached(llvm::Module &M, const Reach &Reached) {
  llvm::SmallVector<llvm::GlobalValue *> Dropped;
  for (llvm::GlobalValue &G : M.global_values())
    if (!Reached.contains(&G) && !G.getName().starts_with("llvm."))
      Dropped.push_back(&G);
  for (llvm::GlobalValue *G : Dropped)
    if (auto *F = llvm::dyn_cast<llvm::Function>(G))
      F->deleteBody();
    else
      G->dropAllReferences();
  for (llvm::GlobalValue *G : Dropped) {
    G->replaceAllUsesWith(llvm::PoisonValue::get(G->getType()));
    G->eraseFromParent();
  }
}

// Has LLVM read a module without verifying it: its own verifier ends the
// process on an error. lld resets all switches.
void leaveCheckingToUs() {
  auto &Options = llvm::cl::getRegisteredOptions();
  const auto Found = Options.find("disable-auto-upgrade-debug-info");
  if (Found != Options.end())
    static_cast<llvm::cl::opt<bool> *>(Found->second)->setValue(true);
}

llvm::Error loadFunctions(llvm::LLVMContext &Context, StringRef Bitcode,
                          const char *const *Symbols, size_t Count,
                          std::unique_ptr<llvm::Module> &Out) {
  leaveCheckingToUs();
  auto Opened = llvm::getOwningLazyBitcodeModule(
      llvm::MemoryBuffer::getMemBuffer(Bitcode, "library", false), Context,
      /*ShouldLazyLoadMetadata=*/true);
  if (!Opened) return Opened.takeError();
  Reach Reached;
  if (Symbols) {
    for (const char *Symbol : llvm::ArrayRef(Symbols, Count))
      Reached.add((*Opened)->getFunction(Symbol));
    Reached.add((*Opened)->getNamedGlobal("llvm.global_ctors"));
    if (llvm::Error E = Reached.search()) return E;
    dropUnreached(**Opened, Reached);
  }
  if (llvm::Error E = (*Opened)->materializeAll()) return E;
  bool HasBrokenDebugInfo = false;
  if (llvm::verifyModule(**Opened, nullptr, &HasBrokenDebugInfo))
    return llvm::createStringError(llvm::inconvertibleErrorCode(), "invalid");
  if (HasBrokenDebugInfo) llvm::StripDebugInfo(**Opened);
  Out = std::move(*Opened);
  return llvm::Error::success();
}

// "ns::f" of "_ZN2ns1fEj"; other names as they are.
std::string nameInSource(StringRef Symbol) {
  const std::string Mangled = Symbol.str();
  llvm::ItaniumPartialDemangler Demangler;
  if (!Symbol.starts_with("_Z") || Demangler.partialDemangle(Mangled.c_str()))
    return Mangled;
  char *Name = Demangler.isFunction()
                   ? Demangler.getFunctionName(nullptr, nullptr)
                   : Demangler.finishDemangle(nullptr, nullptr);
  const std::string Result = Name ? Name : Mangled;
  free(Name);
  return Result;
}

// Constants of the pipeline and inputs of the kernel are declared alone.
bool isDeclaredOnly(const llvm::GlobalVariable &G, const mtli_code &Code) {
  return G.getName().starts_with("mettle.") ||
         std::any_of(Code.constants, Code.constants + Code.constant_count,
                     [&](const mtli_constant &Constant) {
                       return G.getName() == Constant.symbol;
                     });
}

}  // namespace

// Debug information has taken the compilation's folder off.
std::string mtlc::placeInSource(const llvm::Module &M,
                                const llvm::DILocation &At) {
  llvm::SmallString<256> Path(At.getFilename());
  if (llvm::sys::path::is_absolute(M.getSourceFileName()))
    llvm::sys::fs::make_absolute(At.getDirectory(), Path);
  std::string Place;
  llvm::raw_string_ostream(Place)
      << Path << ':' << At.getLine() << ':' << At.getColumn();
  return Place;
}

// Keeps the names of variables, for findings of the checker; those of registers
// are not needed.
void mtlc::dropRegisterNames(llvm::Module &M) {
  for (llvm::Function &F : M) {
    for (llvm::Argument &A : F.args()) A.setName("");
    for (llvm::BasicBlock &B : F) {
      B.setName("");
      for (llvm::Instruction &I : B)
        if (!isa<llvm::AllocaInst>(I)) I.setName("");
    }
  }
}

// Keeps the kernels' entries, the visible functions and what they reach; the
// result is for no particular CPU.
void mtlc::finishModule(llvm::Module &M, const LinkedSymbols &Linked) {
  initializeThreadgroupMemory(M);
  removeAnnotations(M);
  removeExpectations(M);
  lowerProgramInputs(M);
  for (llvm::Function &F : M)
    for (const char *Name : {"target-cpu", "target-features", "tune-cpu",
                             "min-legal-vector-width"})
      F.removeFnAttr(Name);
  llvm::internalizeModule(M, [&](const llvm::GlobalValue &G) {
    return G.getName().starts_with("mettle.") ||
           Linked.Offered.contains(G.getName());
  });
  llvm::ModuleAnalysisManager Analyses;
  llvm::PassBuilder().registerModuleAnalyses(Analyses);
  llvm::GlobalDCEPass().run(M, Analyses);
  // These lists have kept the used symbols alive until here.
  for (const char *Name : {"llvm.used", "llvm.compiler.used"})
    if (llvm::GlobalVariable *G = M.getNamedGlobal(Name)) G->eraseFromParent();
}

// Metal links when it compiles: every used function must be defined.
bool mtlc::isComplete(const llvm::Module &M, const mtli_code &Code,
                      const LinkedSymbols &Linked, llvm::raw_ostream &Errors) {
  bool Complete = true;
  const auto Miss = [&](const llvm::GlobalValue &G, StringRef What) {
    Complete = false;
    if (const llvm::DebugLoc *At = placeOfUse(&G))
      Errors << placeInSource(M, **At) << ": ";
    Errors << "error: " << What << "'" << nameInSource(G.getName()) << "' is "
           << (llvm::isa<llvm::Function>(G) ? "called" : "used")
           << " but nowhere defined\n";
  };
  for (const llvm::Function &F : M)
    if (F.isDeclaration() && !F.isIntrinsic() && !F.use_empty() &&
        !F.getName().starts_with("mettle.") &&
        !Linked.Wanted.contains(F.getName()))
      Miss(F, "function ");
  for (const llvm::GlobalVariable &G : M.globals())
    if (G.isDeclaration() && !G.use_empty() && !isDeclaredOnly(G, Code))
      Miss(G, "variable ");
  return Complete;
}

bool mtlc_load_kernel(LLVMContextRef context, const void *bitcode,
                      size_t size_bytes, const char *symbol,
                      LLVMModuleRef *out_module) {
  return mtlc_load_functions(context, bitcode, size_bytes, &symbol, 1,
                             out_module);
}

bool mtlc_load_functions(LLVMContextRef context, const void *bitcode,
                         size_t size_bytes, const char *const *symbols,
                         size_t symbol_count, LLVMModuleRef *out_module) {
  std::unique_ptr<llvm::Module> Module;
  const StringRef Bitcode(static_cast<const char *>(bitcode), size_bytes);
  llvm::Error Failed = loadFunctions(*llvm::unwrap(context), Bitcode, symbols,
                                     symbol_count, Module);
  const bool Done = !Failed;
  llvm::consumeError(std::move(Failed));
  *out_module = llvm::wrap(Module.release());
  return Done;
}
