// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// shortcuts.cpp: functions of clang 19 that do the same work
// hundreds of times for a library of hundreds of instances of one template. The
// linker's --wrap (CMakeLists.txt) sends clang's calls of them here, as it does
// those of repairs.cpp, which asks assignWithinClass.
//
//   CreateOverloadedBinOp  an assignment within a class that becomes a number,
//                       as bfloat does: clang tries all pairs of numbers, a
//                       million instructions, before it takes the operator=
//                       that the class has by itself
//   CheckCompletedExpr  warns of conversions, overflow and order in a whole
//                       expression: once for one place of a template. What its
//                       instances have in common is told by the first of them
//   getPresumedLoc      file, line and column of a place: code generation asks
//                       for each instruction
//   DILocation::get     the node of a place: code generation asks for each
//                       expression, and LLVM finds it among half a million
#include "clang/AST/DeclTemplate.h"
#include "clang/AST/Expr.h"
#include "clang/AST/ExprCXX.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Sema/Initialization.h"
#include "clang/Sema/Overload.h"
#include "clang/Sema/Sema.h"
#include "compiler/frontend/parts.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/IR/Metadata.h"

using namespace clang;

#define COMPLETED \
  "_ZN5clang4Sema18CheckCompletedExprEPNS_4ExprENS_14SourceLocationEb"
#define PRESUMED \
  "_ZNK5clang13SourceManager14getPresumedLocENS_14SourceLocationEb"

void realCompleted(Sema *, Expr *, SourceLocation,
                   bool) __asm__("__real_" COMPLETED);
void wrapCompleted(Sema *, Expr *, SourceLocation,
                   bool) __asm__("__wrap_" COMPLETED);
#define DEBUG_PLACE                                              \
  "_ZN4llvm10DILocation7getImplERNS_11LLVMContextEjjPNS_8Metada" \
  "taES4_bNS3_11StorageTypeEb"
PresumedLoc realPresumed(const SourceManager *, SourceLocation,
                         bool) __asm__("__real_" PRESUMED);
PresumedLoc wrapPresumed(const SourceManager *, SourceLocation,
                         bool) __asm__("__wrap_" PRESUMED);
// LLVM keeps StorageType to itself.
llvm::DILocation *realDebugPlace(llvm::LLVMContext &, unsigned, unsigned,
                                 llvm::Metadata *, llvm::Metadata *, bool,
                                 unsigned,
                                 bool) __asm__("__real_" DEBUG_PLACE);
llvm::DILocation *wrapDebugPlace(llvm::LLVMContext &, unsigned, unsigned,
                                 llvm::Metadata *, llvm::Metadata *, bool,
                                 unsigned,
                                 bool) __asm__("__wrap_" DEBUG_PLACE);

namespace {

// The state of one compilation, which runs on one thread.
struct Shortcuts {
  struct Place {
    unsigned Location = 0;  // 0 is none
    PresumedLoc Presumed;
  };
  static constexpr size_t PlaceCount = 1024;

  struct DebugPlace {
    llvm::LLVMContext *Context = nullptr;  // null is none
    const llvm::Metadata *Scope = nullptr;
    unsigned Line = 0, Column = 0;
    llvm::DILocation *Node = nullptr;
  };
  static constexpr size_t DebugPlaceCount = 2048;

  llvm::DenseSet<unsigned> Checked;  // places of expressions in templates
  const SourceManager *SM = nullptr;
  Place Places[PlaceCount];  // by the lower bits of the location
  DebugPlace DebugPlaces[DebugPlaceCount];  // by the lines and columns
};
thread_local Shortcuts *Current;

}  // namespace

// --- assignment within a class

// True if clang collects what numbers the class becomes for built-in operators:
// it does not look at conversions that are templates.
static bool becomesNumbers(CXXRecordDecl *Class) {
  for (const NamedDecl *D : Class->getVisibleConversionFunctions())
    if (!isa<FunctionTemplateDecl>(D->getUnderlyingDecl())) return true;
  return false;
}

// Returns the class's implicit operator=, if it is the one to call for these
// operands; else null.
static CXXMethodDecl *chooseOwn(Sema &S, SourceLocation Loc, Expr *Left,
                                Expr *Right, DeclAccessPair &Found) {
  Expr *Operands[] = {Left, Right};
  OverloadCandidateSet Candidates(Loc, OverloadCandidateSet::CSK_Operator);
  S.AddMemberOperatorCandidates(OO_Equal, Loc, Operands, Candidates);
  OverloadCandidateSet::iterator Best;
  if (Candidates.BestViableFunction(S, Loc, Best) != OR_Success) return nullptr;
  auto *Method = dyn_cast_or_null<CXXMethodDecl>(Best->Function);
  if (!Method || !Method->isImplicit() || Method->getAccess() != AS_public)
    return nullptr;
  // No built-in operator is as good as one that needs no conversion by users.
  for (const ImplicitConversionSequence &Conversion : Best->Conversions)
    if (!Conversion.isStandard()) return nullptr;
  Found = Best->FoundDecl;
  return Method;
}

ExprResult mtlc::assignWithinClass(Sema &S, SourceLocation Loc, Expr *Left,
                                   Expr *Right) {
  CXXRecordDecl *Class = Left->getType()->getAsCXXRecordDecl();
  if (!Class || Class != Right->getType()->getAsCXXRecordDecl() ||
      !Class->hasDefinition() || !becomesNumbers(Class))
    return ExprEmpty();
  DeclAccessPair Found;
  CXXMethodDecl *Method = chooseOwn(S, Loc, Left, Right, Found);
  if (!Method) return ExprEmpty();
  const ExprResult Object = S.PerformImplicitObjectArgumentInitialization(
      Left, nullptr, Found.getDecl(), Method);
  const ExprResult Value = S.PerformCopyInitialization(
      InitializedEntity::InitializeParameter(S.Context,
                                             Method->getParamDecl(0)),
      SourceLocation(), Right);
  if (Object.isInvalid() || Value.isInvalid() ||
      S.DiagnoseUseOfDecl(Method, Loc))
    return ExprError();
  auto *Name = DeclRefExpr::Create(
      S.Context, NestedNameSpecifierLoc(), SourceLocation(), Method, false,
      DeclarationNameInfo(Method->getDeclName(), Loc), Method->getType(),
      VK_LValue);
  S.MarkDeclRefReferenced(Name, Object.get());
  const ExprResult Function = S.ImpCastExprToType(
      Name, S.Context.getPointerType(Name->getType()),
      CK_FunctionToPointerDecay);
  Expr *Operands[] = {Object.get(), Value.get()};
  const QualType Result = Method->getReturnType();
  return S.MaybeBindToTemporary(CXXOperatorCallExpr::Create(
      S.Context, OO_Equal, Function.get(), Operands,
      Result.getNonLValueExprType(S.Context),
      Expr::getValueKindForType(Result), Loc, S.CurFPFeatureOverrides()));
}

// --- what is remembered

mtlc::ShortcutScope::ShortcutScope() {
  Current = new Shortcuts;
}

mtlc::ShortcutScope::~ShortcutScope() {
  delete Current;
  Current = nullptr;
}

void wrapCompleted(Sema *S, Expr *E, SourceLocation Loc, bool IsConstexpr) {
  if (Current && E && S->inTemplateInstantiation()) {
    const SourceLocation Place = Loc.isValid() ? Loc : E->getExprLoc();
    if (!Current->Checked.insert(Place.getRawEncoding()).second) return;
  }
  realCompleted(S, E, Loc, IsConstexpr);
}

// Directives that change lines are read before the parser begins.
PresumedLoc wrapPresumed(const SourceManager *SM, SourceLocation Loc,
                         bool UseLineDirectives) {
  if (!Current || !UseLineDirectives || Loc.isInvalid())
    return realPresumed(SM, Loc, UseLineDirectives);
  if (Current->SM != SM) {
    Current->SM = SM;
    for (Shortcuts::Place &Place : Current->Places) Place.Location = 0;
  }
  Shortcuts::Place &Place =
      Current->Places[Loc.getRawEncoding() % Shortcuts::PlaceCount];
  if (Place.Location != Loc.getRawEncoding()) {
    Place.Presumed = realPresumed(SM, Loc, true);
    Place.Location = Loc.getRawEncoding();
  }
  return Place.Presumed;
}

// True for nodes that are never replaced: a distinct scope lives as long as its
// context.
static bool isLasting(const llvm::Metadata *Scope) {
  const auto *Node = llvm::dyn_cast_or_null<llvm::MDNode>(Scope);
  return Node && Node->isDistinct();
}

llvm::DILocation *wrapDebugPlace(llvm::LLVMContext &Context, unsigned Line,
                                 unsigned Column, llvm::Metadata *Scope,
                                 llvm::Metadata *InlinedAt, bool IsImplicit,
                                 unsigned Storage, bool ShouldCreate) {
  constexpr unsigned Uniqued = 0;
  if (!Current || InlinedAt || IsImplicit || Storage != Uniqued ||
      !ShouldCreate || !isLasting(Scope))
    return realDebugPlace(Context, Line, Column, Scope, InlinedAt, IsImplicit,
                          Storage, ShouldCreate);
  Shortcuts::DebugPlace &Place =
      Current->DebugPlaces[(Line * 61 + Column) % Shortcuts::DebugPlaceCount];
  if (Place.Context != &Context || Place.Scope != Scope ||
      Place.Line != Line || Place.Column != Column)
    Place = {&Context, Scope, Line, Column,
             realDebugPlace(Context, Line, Column, Scope, nullptr, false,
                            Storage, true)};
  return Place.Node;
}
