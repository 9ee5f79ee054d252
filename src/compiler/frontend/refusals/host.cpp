// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// host.cpp: refuses what clang has for programs of a host and a
// kernel must not use: assembly, threads' storage, exceptions, the host's
// registers and instructions, types that need a C library. Words are judged as
// they are read, syntax as it is parsed, and IR at the end, whatever made it.
#include <string>
#include <vector>

#include "clang/AST/RecursiveASTVisitor.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Lex/LexDiagnostic.h"
#include "clang/Lex/Pragma.h"
#include "clang/Lex/Preprocessor.h"
#include "clang/Sema/Sema.h"
#include "compiler/frontend/parts.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"

using namespace clang;
using llvm::StringRef;

namespace {

using namespace mtlc;

// --- words -------------------------------------------------------------------

constexpr StringRef Words[] = {
    "thread_local", "__thread",    "_Thread_local", "__int128",
    "__int128_t",   "__uint128_t", "_BitInt",       "_ExtInt",
    "_Complex",     "__complex",   "__complex__",   "__float128",
    "__ibm128"};

// A name that ends in '_' stands for all that begin so.
constexpr StringRef Builtins[] = {
    "__builtin___",
    "__builtin_alloca",
    "__builtin_alloca_",
    "__builtin_arm_",
    "__builtin_call_with_static_chain",
    "__builtin_coro_",
    "__builtin_cpu_",
    "__builtin_dwarf_",
    "__builtin_eh_",
    "__builtin_extract_return_addr",
    "__builtin_flt_rounds",
    "__builtin_frame_address",
    "__builtin_frob_return_addr",
    "__builtin_ia32_",
    "__builtin_init_dwarf_",
    "__builtin_longjmp",
    "__builtin_ms_va_",
    "__builtin_neon_",
    "__builtin_operator_",
    "__builtin_os_log_",
    "__builtin_readcyclecounter",
    "__builtin_readsteadycounter",
    "__builtin_return_address",
    "__builtin_set_flt_rounds",
    "__builtin_setjmp",
    "__builtin_sme_",
    "__builtin_stdarg_",
    "__builtin_sve_",
    "__builtin_thread_pointer",
    "__builtin_unwind_init",
    "__builtin_va_"};

constexpr StringRef Attributes[] = {
    "address_space",    "alias",
    "code_seg",         "constructor",
    "cpu_dispatch",     "cpu_specific",
    "destructor",       "ifunc",
    "init_priority",    "init_seg",
    "interrupt",        "naked",
    "section",          "no_caller_saved_registers",
    "target",           "patchable_function_entry",
    "target_clones",    "target_version",
    "tls_model",        "xray_always_instrument",
    "xray_log_args"};

// Arguments of the attribute mode that are wider than Metal's types, or pairs.
constexpr StringRef Modes[] = {"TI", "OI", "XF", "TF", "KF", "IF",
                               "SC", "DC", "HC", "XC", "TC", "KC"};

StringRef withoutUnderscores(StringRef Name) {
  if (Name.size() > 4 && Name.starts_with("__") && Name.ends_with("__"))
    return Name.drop_front(2).drop_back(2);
  return Name;
}

// Looks through the words of a translation unit before the rewriter does, so
// that what stands in attributes is the program's own.
class WordCheck {
 public:
  WordCheck(Preprocessor &PP, llvm::ArrayRef<Token> Tokens)
      : PP(PP), Tokens(Tokens) {}

  void run() {
    for (size_t I = 0; I < Tokens.size(); ++I) {
      const IdentifierInfo *II = wordAt(I);
      if (!II) {
        if (Tokens[I].is(tok::annot_embed)) refuse(Tokens[I], "#embed");
        checkLiteral(Tokens[I]);
        checkBrackets(I);
        continue;
      }
      const StringRef Name = II->getName();
      if (llvm::is_contained(Words, Name) || isHostBuiltin(Name))
        refuse(Tokens[I], Name);
      else if (Name == "__attribute__" || Name == "__attribute" ||
               Name == "__declspec")
        checkList(I + 1);
    }
  }

 private:
  const IdentifierInfo *wordAt(size_t I) const {
    return I < Tokens.size() && !Tokens[I].isAnnotation() &&
                   !Tokens[I].isLiteral()
               ? Tokens[I].getIdentifierInfo()
               : nullptr;
  }

  StringRef nameAt(size_t I) const {
    const IdentifierInfo *II = wordAt(I);
    return II ? withoutUnderscores(II->getName()) : "";
  }

  // "" if the text is not at hand: that of a macro of the library.
  static StringRef literalText(const Token &T) {
    return StringRef(T.getLiteralData(),
                     T.getLiteralData() ? T.getLength() : 0);
  }

  bool isAt(size_t I, tok::TokenKind Kind) const {
    return I < Tokens.size() && Tokens[I].is(Kind);
  }

  static bool isHostBuiltin(StringRef Name) {
    return Name.starts_with("__builtin_") &&
           llvm::any_of(Builtins, [&](StringRef B) {
             return B.ends_with("_") ? Name.starts_with(B) : Name == B;
           });
  }

  void refuse(const Token &T, StringRef What) {
    if (!isLibrarys(PP.getSourceManager(), T.getLocation()))
      report(PP.getDiagnostics(), T.getLocation(), DiagnosticsEngine::Error,
             ("'" + What + "' is not supported in Metal").str());
  }

  // 1.0i, an imaginary number.
  void checkLiteral(const Token &T) {
    const StringRef Text = literalText(T);
    if (T.is(tok::numeric_constant) && !Text.contains('_') &&
        Text.find_first_of("iIjJ") != StringRef::npos)
      refuse(T, Text);
  }

  // [[gnu::name(...), clang::name]], and [[using gnu: name]].
  void checkBrackets(size_t I) {
    if (!isAt(I, tok::l_square) || !isAt(I + 1, tok::l_square)) return;
    size_t Depth = 2;
    for (I += 2; I < Tokens.size() && Depth; ++I) {
      if (Tokens[I].isOneOf(tok::l_square, tok::l_paren)) ++Depth;
      if (Tokens[I].isOneOf(tok::r_square, tok::r_paren)) --Depth;
      const bool IsScoped = isAt(I - 1, tok::coloncolon) ||
                            isAt(I - 1, tok::colon) || isAt(I - 1, tok::comma);
      if (Depth == 2 && IsScoped) checkAttribute(I);
    }
  }

  // ((name, name(...))) behind __attribute__, (name(...) name) of __declspec.
  void checkList(size_t I) {
    size_t Depth = 0;
    const size_t Outer = isAt(I + 1, tok::l_paren) ? 2 : 1;
    for (; I < Tokens.size(); ++I) {
      if (Tokens[I].is(tok::l_paren)) ++Depth;
      if (Tokens[I].is(tok::r_paren) && --Depth == 0) return;
      if (Depth == Outer) checkAttribute(I);
      if (Depth == 0) return;
    }
  }

  void checkAttribute(size_t I) {
    const StringRef Name = nameAt(I);
    if (Name.empty()) return;
    if (llvm::is_contained(Attributes, Name) ||
        (Name == "thread" && isAt(I - 1, tok::l_paren)) ||
        (Name == "mode" && llvm::is_contained(Modes, nameAt(I + 2))))
      refuse(Tokens[I], Name);
    if (Name == "annotate" && isAt(I + 2, tok::string_literal) &&
        literalText(Tokens[I + 2]).contains("mettle."))
      refuse(Tokens[I + 2], "annotate(\"mettle....\")");
  }

  Preprocessor &PP;
  llvm::ArrayRef<Token> Tokens;
};

// --- directives -----------------------------------------------------------

class RefusedPragma : public PragmaHandler {
 public:
  RefusedPragma(StringRef Space, StringRef Name)
      : PragmaHandler(Name), Space(Space) {}

  void HandlePragma(Preprocessor &PP, PragmaIntroducer, Token &First) override {
    const SourceLocation Loc = First.getLocation();
    PP.DiscardUntilEndOfDirective();
    const std::string Name = Space.empty() ? "" : Space + " ";
    report(PP.getDiagnostics(), Loc, DiagnosticsEngine::Error,
           "'#pragma " + Name + getName().str() +
               "' is not supported in Metal");
  }

 private:
  std::string Space;
};

// The preprocessor's own pragmas are its handlers to delete, and so are those in
// their places. The parser owns its own, and at its end takes out what it finds
// in their places without deleting it.
constexpr std::pair<StringRef, StringRef> PreprocessorPragmas[] = {
    {"clang", "__debug"},
    {"clang", "module"},
    {"clang", "dependency"},
    {"GCC", "dependency"}};
constexpr std::pair<StringRef, StringRef> ParserPragmas[] = {
    {"clang", "attribute"},
    {"clang", "section"},
    {"", "comment"},
    {"", "redefine_extname"}};

// The preprocessor has no accessor for its handlers, which must go before
// others can come; an explicit instantiation may name a private member.
template <auto Member>
struct PragmaRoot {
  friend auto &pragmaRoot(Preprocessor &PP) {
    return PP.*Member;
  }
};
template struct PragmaRoot<&Preprocessor::PragmaHandlers>;
auto &pragmaRoot(Preprocessor &PP);

// Takes the handler of a pragma out; NULL if there is none.
PragmaHandler *takePragma(Preprocessor &PP, StringRef Space, StringRef Name) {
  PragmaNamespace *Parent = pragmaRoot(PP).get();
  if (!Space.empty()) {
    PragmaHandler *Found = Parent->FindHandler(Space, /*IgnoreNull=*/true);
    Parent = Found ? Found->getIfNamespace() : nullptr;
  }
  PragmaHandler *Old =
      Parent ? Parent->FindHandler(Name, /*IgnoreNull=*/true) : nullptr;
  if (Old) Parent->RemovePragmaHandler(Old);
  return Old;
}

// True if "embed" is somewhere in Text, be it parted by spliced lines.
bool mentionsEmbed(StringRef Text) {
  for (size_t At = Text.find('e'); At != StringRef::npos;
       At = Text.find('e', At + 1)) {
    StringRef Rest = Text.drop_front(At);
    StringRef Word = "embed";
    while (!Word.empty() && Rest.consume_front(Word.take_front(1))) {
      Word = Word.drop_front(1);
      while (Rest.starts_with("\\") || Rest.starts_with("?\?/")) {
        const StringRef After =
            Rest.drop_front(Rest.front() == '\\' ? 1 : 3).ltrim(" \t\v\f\r");
        if (!After.starts_with("\n")) break;
        Rest = After.drop_front(1);
      }
    }
    if (Word.empty()) return true;
  }
  return false;
}

// --- syntax ------------------------------------------------------------------

class HostVisitor : public RecursiveASTVisitor<HostVisitor> {
 public:
  explicit HostVisitor(Sema &S) : S(S) {}

  bool VisitCXXThrowExpr(CXXThrowExpr *E) {
    return refuse(E->getBeginLoc(), "exception handling");
  }
  bool VisitCXXTryStmt(CXXTryStmt *T) {
    return refuse(T->getBeginLoc(), "exception handling");
  }
  // Translators write an empty asm statement to stop an optimiser.
  bool VisitGCCAsmStmt(GCCAsmStmt *T) {
    return T->getAsmString()->getString().empty() && T->getNumOutputs() == 0 &&
                   T->getNumInputs() == 0
               ? true
               : refuse(T->getAsmLoc(), "assembly");
  }
  bool VisitMSAsmStmt(MSAsmStmt *T) {
    return refuse(T->getAsmLoc(), "assembly");
  }
  bool VisitFileScopeAsmDecl(FileScopeAsmDecl *D) {
    return refuse(D->getAsmLoc(), "assembly");
  }
  bool VisitDeclaratorDecl(DeclaratorDecl *D) {
    const auto *Label = D->getAttr<AsmLabelAttr>();
    if (!Label || Label->isImplicit() || Label->isInherited()) return true;
    StringRef Symbol = Label->getLabel();
    Symbol.consume_front("\1");
    return !Symbol.starts_with("llvm.") && !Symbol.starts_with("mettle.")
               ? true
               : refuse(Label->getLocation(),
                        "the symbol '" + Symbol.str() + "'");
  }
  // Ends of programs are no time that a kernel has.
  bool VisitVarDecl(VarDecl *V) {
    if (V->hasGlobalStorage() && !V->getType()->isDependentType() &&
        V->getType().isDestructedType())
      refuse(V->getLocation(), "a destructor of a static variable");
    return true;
  }

 private:
  bool refuse(SourceLocation Loc, const std::string &What) {
    report(S.getDiagnostics(), Loc, DiagnosticsEngine::Error,
           What + " is not supported in Metal");
    return true;
  }

  Sema &S;
};

// --- IR ----------------------------------------------------------------------

// Intrinsics that depend on the host, or become calls of a C library.
bool isHostIntrinsic(const llvm::Function &F) {
  StringRef Name = F.getName();
  if (!Name.consume_front("llvm.")) return false;
  constexpr StringRef Families[] = {"x86.", "aarch64.", "arm.",  "eh.",
                                    "coro.", "va_",      "init."};
  constexpr StringRef Names[] = {
      "sin",          "cos",           "tan",
      "asin",         "acos",          "atan",
      "sinh",         "cosh",          "tanh",
      "pow",          "powi",          "exp",
      "exp2",         "exp10",         "log",
      "log2",         "log10",         "ldexp",
      "frexp",        "lround",        "llround",
      "lrint",        "llrint",        "returnaddress",
      "frameaddress", "read_register", "read_volatile_register",
      "sponentry",    "thread",        "write_register",
      "clear_cache",  "set",           "get",
      "addressofreturnaddress"};
  return llvm::any_of(Families,
                      [&](StringRef N) { return Name.starts_with(N); }) ||
         llvm::is_contained(Names, Name.split('.').first);
}

bool isWideNumber(const llvm::Type *T) {
  T = T->getScalarType();
  return T->isX86_FP80Ty() || T->isFP128Ty() || T->isPPC_FP128Ty();
}

bool isWideInteger(const llvm::Type *T) {
  return T->getScalarType()->isIntegerTy() && T->getScalarSizeInBits() > 64;
}

using Intrinsics = llvm::SmallPtrSet<const llvm::Function *, 4>;

Intrinsics findHostIntrinsics(const llvm::Module &M) {
  Intrinsics Found;
  for (const llvm::Function &F : M)
    if (F.isDeclaration() && isHostIntrinsic(F)) Found.insert(&F);
  return Found;
}

// Returns the reason to refuse an instruction, "" for none.
std::string judge(const llvm::Instruction &I, const Intrinsics &OfHost) {
  if (const auto *Call = llvm::dyn_cast<llvm::CallBase>(&I)) {
    const auto *Assembly =
        llvm::dyn_cast<llvm::InlineAsm>(Call->getCalledOperand());
    if (Assembly) return Assembly->getAsmString().empty() ? "" : "assembly";
    const llvm::Function *F = Call->getCalledFunction();
    if (F && OfHost.contains(F))
      return "'" + F->getName().split('.').second.split('.').first.str() +
             "' of the host";
  }
  if (llvm::isa<llvm::IndirectBrInst, llvm::CallBrInst>(I)) return "'goto'";
  if (I.isEHPad() || llvm::isa<llvm::InvokeInst, llvm::ResumeInst>(I))
    return "exception handling";
  if (I.getOpcode() == llvm::Instruction::FRem) return "'fmod' of the host";
  bool HasWideInteger = isWideInteger(I.getType());
  bool HasWideNumber = isWideNumber(I.getType());
  for (const llvm::Value *V : I.operands()) {
    HasWideInteger |= isWideInteger(V->getType());
    HasWideNumber |= isWideNumber(V->getType());
  }
  if (HasWideNumber) return "'long double'";
  const bool NeedsLibrary =
      I.isIntDivRem() || I.isAtomic() ||
      llvm::isa<llvm::FPToSIInst, llvm::FPToUIInst, llvm::SIToFPInst,
                llvm::UIToFPInst>(I);
  return HasWideInteger && NeedsLibrary ? "an integer of more than 64 bits"
                                        : "";
}

}  // namespace

bool mtlc::isLibrarys(const SourceManager &SM, SourceLocation Loc) {
  return SM.getFilename(SM.getSpellingLoc(Loc)).starts_with(LibraryDir);
}

void mtlc::refuseHostWords(Preprocessor &PP, llvm::ArrayRef<Token> Tokens) {
  WordCheck(PP, Tokens).run();
}

void mtlc::refuseHostPragmas(Preprocessor &PP) {
  for (const auto &[Space, Name] : PreprocessorPragmas) {
    std::unique_ptr<PragmaHandler> Old(takePragma(PP, Space, Name));
    if (Old) PP.AddPragmaHandler(Space, new RefusedPragma(Space, Name));
  }
  // They have no state: one of each serves every compilation.
  static RefusedPragma Lasting[] = {
      {ParserPragmas[0].first, ParserPragmas[0].second},
      {ParserPragmas[1].first, ParserPragmas[1].second},
      {ParserPragmas[2].first, ParserPragmas[2].second},
      {ParserPragmas[3].first, ParserPragmas[3].second}};
  for (size_t I = 0; I < std::size(ParserPragmas); ++I) {
    const auto &[Space, Name] = ParserPragmas[I];
    if (takePragma(PP, Space, Name)) PP.AddPragmaHandler(Space, &Lasting[I]);
  }
}

void mtlc::refuseEmbedding(CompilerInstance &CI, StringRef Name) {
  CI.getDiagnostics().setSeverity(diag::ext_pp_embed_directive,
                                  diag::Severity::Fatal, SourceLocation());
  // clang 19 takes for granted that what has the directive is a file.
  SourceManager &SM = CI.getSourceManager();
  const llvm::MemoryBufferRef Main = SM.getBufferOrFake(SM.getMainFileID());
  if (!mentionsEmbed(Main.getBuffer())) return;
  const SrcMgr::ContentCache &Cache =
      SM.getSLocEntry(SM.getMainFileID()).getFile().getContentCache();
  const_cast<SrcMgr::ContentCache &>(Cache).OrigEntry =
      CI.getFileManager().getVirtualFileRef(Name, Main.getBufferSize(), 0);
}

void mtlc::refuseHostSyntax(Sema &S, DeclGroupRef Group) {
  HostVisitor Visitor(S);
  for (Decl *D : Group) Visitor.TraverseDecl(D);
}

bool mtlc::isOfKernels(const llvm::Module &M, llvm::raw_ostream &Errors) {
  bool Fits = true;
  const auto Refuse = [&](const llvm::DebugLoc *At, const llvm::Twine &What) {
    Fits = false;
    if (At && *At) Errors << placeInSource(M, **At) << ": ";
    Errors << "error: " << What << " is not supported in Metal\n";
  };
  if (!M.getModuleInlineAsm().empty()) Refuse(nullptr, "assembly");
  for (const llvm::GlobalVariable &G : M.globals())
    if (G.isThreadLocal()) Refuse(placeOfUse(&G), "'thread_local'");
  for (const llvm::GlobalIFunc &G : M.ifuncs())
    Refuse(placeOfUse(&G), "'ifunc'");
  const Intrinsics OfHost = findHostIntrinsics(M);
  for (const llvm::Function &F : M)
    for (const llvm::Instruction &I : llvm::instructions(F))
      if (const std::string What = judge(I, OfHost); !What.empty()) {
        const llvm::DebugLoc &At = I.getDebugLoc();
        Refuse(At ? &At : nullptr, What);
        break;  // one for each function
      }
  return Fits;
}

const llvm::DebugLoc *mtlc::placeOfUse(const llvm::Value *V) {
  for (const llvm::User *U : V->users()) {
    const auto *I = llvm::dyn_cast<llvm::Instruction>(U);
    if (I && I->getDebugLoc()) return &I->getDebugLoc();
    if (I || llvm::isa<llvm::GlobalValue>(U)) continue;
    if (const llvm::DebugLoc *Place = placeOfUse(U)) return Place;
  }
  return nullptr;
}
