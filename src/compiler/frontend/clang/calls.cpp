// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// calls.cpp: calls and casts that clang 19 takes otherwise than Metal,
// put right as repairs.cpp does it: the linker's --wrap sends clang's
// own calls of these functions here.
//
//   f({x, 1})   a braced argument becomes a temporary, which is in thread
//               memory: no f takes it whose parameter is a reference to other
//   f8(h8)      vectors of clang's own convert component by component; clang
//               copies their bits, or refuses
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include "clang/AST/ExprCXX.h"
#include "clang/Sema/Sema.h"
#pragma GCC diagnostic pop

#include "compiler/frontend/parts.h"

using namespace clang;

// The functions, by the names that CMakeLists.txt wraps.
#define CALL                                                              \
  "_ZN5clang4Sema23BuildOverloadedCallExprEPNS_5ScopeEPNS_4ExprEPNS_20Un" \
  "resolvedLookupExprENS_14SourceLocationEN4llvm15MutableArrayRefIS4_EES" \
  "7_S4_bb"
#define MEMBER_CALL                                                        \
  "_ZN5clang4Sema25BuildCallToMemberFunctionEPNS_5ScopeEPNS_4ExprENS_14So" \
  "urceLocationEN4llvm15MutableArrayRefIS4_EES5_S4_bb"
#define CAST                                                             \
  "_ZN5clang4Sema19BuildCStyleCastExprENS_14SourceLocationEPNS_14TypeSo" \
  "urceInfoES1_PNS_4ExprE"
#define FUNCTIONAL_CAST                                                    \
  "_ZN5clang4Sema26BuildCXXFunctionalCastExprEPNS_14TypeSourceInfoENS_8Qu" \
  "alTypeENS_14SourceLocationEPNS_4ExprES4_"

ExprResult realCall(Sema *, Scope *, Expr *, UnresolvedLookupExpr *,
                    SourceLocation, MultiExprArg, SourceLocation, Expr *, bool,
                    bool) __asm__("__real_" CALL);
ExprResult wrapCall(Sema *, Scope *, Expr *, UnresolvedLookupExpr *,
                    SourceLocation, MultiExprArg, SourceLocation, Expr *, bool,
                    bool) __asm__("__wrap_" CALL);
ExprResult realMemberCall(Sema *, Scope *, Expr *, SourceLocation, MultiExprArg,
                          SourceLocation, Expr *, bool,
                          bool) __asm__("__real_" MEMBER_CALL);
ExprResult wrapMemberCall(Sema *, Scope *, Expr *, SourceLocation, MultiExprArg,
                          SourceLocation, Expr *, bool,
                          bool) __asm__("__wrap_" MEMBER_CALL);
ExprResult realCast(Sema *, SourceLocation, TypeSourceInfo *, SourceLocation,
                    Expr *) __asm__("__real_" CAST);
ExprResult wrapCast(Sema *, SourceLocation, TypeSourceInfo *, SourceLocation,
                    Expr *) __asm__("__wrap_" CAST);
ExprResult realFunctionalCast(
    Sema *, TypeSourceInfo *, QualType, SourceLocation, Expr *,
    SourceLocation) __asm__("__real_" FUNCTIONAL_CAST);
ExprResult wrapFunctionalCast(
    Sema *, TypeSourceInfo *, QualType, SourceLocation, Expr *,
    SourceLocation) __asm__("__wrap_" FUNCTIONAL_CAST);

namespace {

// --- braced arguments --------------------------------------------------------

// True if D is no function, or its parameters may be bound to the temporaries
// that the braced ones among the arguments become.
bool takesTemporaries(const NamedDecl *D, MultiExprArg Arguments) {
  const FunctionDecl *Function = D->getUnderlyingDecl()->getAsFunction();
  if (!Function) return true;
  for (unsigned I = 0; I < Arguments.size(); ++I) {
    if (!isa<InitListExpr>(Arguments[I]) || I >= Function->getNumParams())
      continue;
    const QualType T = Function->getParamDecl(I)->getType();
    if (T->isReferenceType() &&
        T.getNonReferenceType().getAddressSpace() != LangAS::Default)
      return false;
  }
  return true;
}

// Fills Kept with the functions that can be called. True if those are some of
// Found, but not all.
bool chooseCallable(const OverloadExpr *Found, MultiExprArg Arguments,
                    UnresolvedSet<8> &Kept) {
  if (llvm::none_of(Arguments, [](Expr *E) { return isa<InitListExpr>(E); }))
    return false;
  for (auto I = Found->decls_begin(); I != Found->decls_end(); ++I)
    if (takesTemporaries(I.getDecl(), Arguments))
      Kept.addDecl(I.getDecl(), I.getAccess());
  return !Kept.empty() && Kept.size() != Found->getNumDecls();
}

// The template arguments written after a function's name.
struct WrittenArguments {
  explicit WrittenArguments(const OverloadExpr *E) {
    if (E->hasExplicitTemplateArgs()) E->copyTemplateArgumentsInto(List);
    Pointer = E->hasExplicitTemplateArgs() ? &List : nullptr;
  }
  TemplateArgumentListInfo List;
  const TemplateArgumentListInfo *Pointer;
};

// --- casts of vectors --------------------------------------------------------

// True if E is a vector of clang's own, of as many components as T but others.
bool convertsVector(const Sema &S, QualType T, const Expr *E) {
  if (T->isDependentType() || E->isTypeDependent()) return false;
  const auto *To = T->getAs<ExtVectorType>();
  const auto *From = E->getType()->getAs<ExtVectorType>();
  return To && From && To->getNumElements() == From->getNumElements() &&
         !S.Context.hasSameUnqualifiedType(To->getElementType(),
                                           From->getElementType()) &&
         !S.getSourceManager().isInSystemHeader(E->getExprLoc());
}

}  // namespace

ExprResult wrapCall(Sema *S, Scope *Names, Expr *Function,
                    UnresolvedLookupExpr *Found, SourceLocation Open,
                    MultiExprArg Arguments, SourceLocation Close, Expr *Config,
                    bool AllowTypo, bool IsAddressTaken) {
  UnresolvedSet<8> Kept;
  if (chooseCallable(Found, Arguments, Kept)) {
    const WrittenArguments Written(Found);
    Found = UnresolvedLookupExpr::Create(
        S->Context, Found->getNamingClass(), Found->getQualifierLoc(),
        Found->getTemplateKeywordLoc(), Found->getNameInfo(),
        Found->requiresADL(), Written.Pointer, Kept.begin(), Kept.end(),
        /*KnownDependent=*/false, /*KnownInstantiationDependent=*/false);
    Function = Found;
  }
  return realCall(S, Names, Function, Found, Open, Arguments, Close, Config,
                  AllowTypo, IsAddressTaken);
}

ExprResult wrapMemberCall(Sema *S, Scope *Names, Expr *Member,
                          SourceLocation Open, MultiExprArg Arguments,
                          SourceLocation Close, Expr *Config, bool IsConfig,
                          bool AllowRecovery) {
  UnresolvedSet<8> Kept;
  const auto *Found = dyn_cast<UnresolvedMemberExpr>(Member->IgnoreParens());
  if (Found && chooseCallable(Found, Arguments, Kept)) {
    const WrittenArguments Written(Found);
    Member = UnresolvedMemberExpr::Create(
        S->Context, Found->hasUnresolvedUsing(),
        Found->isImplicitAccess() ? nullptr
                                  : const_cast<Expr *>(Found->getBase()),
        Found->getBaseType(), Found->isArrow(), Found->getOperatorLoc(),
        Found->getQualifierLoc(), Found->getTemplateKeywordLoc(),
        Found->getNameInfo(), Written.Pointer, Kept.begin(), Kept.end());
  }
  return realMemberCall(S, Names, Member, Open, Arguments, Close, Config,
                        IsConfig, AllowRecovery);
}

ExprResult wrapCast(Sema *S, SourceLocation Open, TypeSourceInfo *Type,
                    SourceLocation Close, Expr *Operand) {
  if (convertsVector(*S, Type->getType(), Operand))
    return S->ConvertVectorExpr(Operand, Type, Open, Close);
  return realCast(S, Open, Type, Close, Operand);
}

ExprResult wrapFunctionalCast(Sema *S, TypeSourceInfo *Info, QualType Type,
                              SourceLocation Open, Expr *Operand,
                              SourceLocation Close) {
  if (convertsVector(*S, Type, Operand))
    return S->ConvertVectorExpr(Operand, Info, Open, Close);
  return realFunctionalCast(S, Info, Type, Open, Operand, Close);
}
