// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// refusals.cpp: refuses what Metal's compiler refuses and clang's
// device mode takes: walks the program's syntax tree, what templates became
// included, once all is parsed. Only what Metal surely refuses is here; with
// -fpermissive these errors are warnings. Calls of the library are judged by
// overloads.cpp.
#include <string>

#include "clang/AST/ASTContext.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Sema/Sema.h"
#include "clang/Sema/SemaSYCL.h"
#include "compiler/frontend/parts.h"
#include "compiler/frontend/reflect.h"

using namespace clang;
using llvm::StringRef;

// clang walks the type of each variable at each use for what SYCL devices lack,
// with all members, and finds nothing to say: 8 % of its time on large
// libraries. The linker's --wrap sends the walk here.
void wrapDeviceTypes(SemaSYCL *, SourceLocation, llvm::DenseSet<QualType>,
                     ValueDecl *)
    __asm__(
        "__wrap__ZN5clang8SemaSYCL22deepTypeCheckForDeviceENS_14SourceLocation"
        "EN4llvm8DenseSetINS_8QualTypeENS2_12DenseMapInfoIS4_vEEEEPNS_9ValueDe"
        "clE");
void wrapDeviceTypes(SemaSYCL *, SourceLocation, llvm::DenseSet<QualType>,
                     ValueDecl *) {}

namespace {

using namespace mtlc;

class RefusalVisitor : public RecursiveASTVisitor<RefusalVisitor> {
 public:
  explicit RefusalVisitor(Refusals &Out)
      : Out(Out), C(Out.S.Context), SM(Out.S.getSourceManager()) {}

  bool shouldVisitTemplateInstantiations() const {
    return true;
  }

  // Notes which function's instance is looked at.
  bool TraverseDecl(Decl *D) {
    auto *F = dyn_cast_or_null<FunctionDecl>(D);
    if (!F) return RecursiveASTVisitor::TraverseDecl(D);
    FunctionDecl *const Outer = Out.Instance;
    if (F->getPointOfInstantiation().isValid()) Out.Instance = F;
    const bool Result = RecursiveASTVisitor::TraverseDecl(D);
    Out.Instance = Outer;
    return Result;
  }

  // --- address spaces ---

  bool VisitCallExpr(CallExpr *E) {
    const FunctionDecl *F = E->getDirectCallee();
    if (!F) return true;
    if (isFree(F))
      for (const Expr *Argument : E->arguments()) freeArgument(Argument);
    else
      checkTemplateArguments(E, F);
    judgeCall(Out, E, F);
    if (!SM.isInSystemHeader(F->getLocation()) && isKernel(F)) {
      Free.insert(E->getCallee());
      refuse(Out, E->getExprLoc(),
             "kernel '" + F->getNameAsString() + "' cannot be called",
             "write a function that both call");
    }
    return true;
  }

  bool VisitCXXMemberCallExpr(CXXMemberCallExpr *E) {
    const auto *Member = dyn_cast<MemberExpr>(E->getCallee()->IgnoreParens());
    if (!Member || !E->getMethodDecl()) return true;
    if (isFree(E->getMethodDecl()))
      freeArgument(Member->getBase());
    else
      checkObject(Member->getBase(), E->getMethodDecl());
    return true;
  }

  bool VisitCXXOperatorCallExpr(CXXOperatorCallExpr *E) {
    const auto *Method = dyn_cast_or_null<CXXMethodDecl>(E->getDirectCallee());
    if (Method && Method->isInstance() && !isFree(Method) && E->getNumArgs())
      checkObject(E->getArg(0), Method);
    return true;
  }

  bool VisitCXXConstructExpr(CXXConstructExpr *E) {
    judgeComponents(Out, E);
    if (isFree(E->getConstructor()))
      for (const Expr *Argument : E->arguments()) freeArgument(Argument);
    return true;
  }

  // Operands in different spaces give a value, which no reference binds to.
  bool VisitConditionalOperator(ConditionalOperator *E) {
    freeArgument(E->getTrueExpr());
    freeArgument(E->getFalseExpr());
    return true;
  }

  bool VisitCastExpr(CastExpr *E) {
    if (Free.count(E)) return true;
    checkConversion(E);
    const QualType From = E->getSubExpr()->getType(), To = E->getType();
    const bool IsPointer = From->isPointerType() && To->isPointerType();
    if (!IsPointer && (!E->isGLValue() || !E->getSubExpr()->isGLValue()))
      return true;
    const QualType Source = IsPointer ? From->getPointeeType() : From;
    const QualType Target = IsPointer ? To->getPointeeType() : To;
    if (spaceOf(Source) == spaceOf(Target)) return true;
    const bool IsExplicit = isa<ExplicitCastExpr>(E);
    std::string Text =
        IsPointer ? (IsExplicit ? "casting '" : "converting '") + name(Source) +
                        " *' to '" + name(Target) +
                        " *' changes address space of pointer"
                  : "binding reference of type '" + name(Target) +
                        "' to value of type '" + name(Source) +
                        "' changes address space";
    refuse(Out, IsExplicit ? E->getBeginLoc() : E->getExprLoc(), Text,
           std::string("give the other side the address space '") +
               spaceName(spaceOf(Source)) +
               "', or copy the value to a variable of the thread's first");
    return true;
  }

  // --- declarations ---

  bool VisitVarDecl(VarDecl *V) {
    checkName(V);
    if (!V->isInvalidDecl()) checkStorage(V);
    return true;
  }

  bool VisitFieldDecl(FieldDecl *F) {
    checkName(F);
    return true;
  }

  bool VisitFunctionDecl(FunctionDecl *F) {
    checkName(F);
    return true;
  }

  bool VisitCXXMethodDecl(CXXMethodDecl *M) {
    if (M->isVirtualAsWritten())
      refuse(Out, M->getLocation(),
             "virtual functions are not supported in Metal", "");
    return true;
  }

  bool VisitCXXRecordDecl(CXXRecordDecl *Class) {
    if (!Class->isThisDeclarationADefinition()) return true;
    for (const CXXBaseSpecifier &Base : Class->bases())
      if (Base.isVirtual())
        refuse(Out, Base.getBeginLoc(),
               "virtual base classes are not supported in Metal", "");
    return true;
  }

  // --- statements and expressions ---

  bool VisitGotoStmt(GotoStmt *Statement) {
    return refuseGoto(Statement->getGotoLoc());
  }
  bool VisitIndirectGotoStmt(IndirectGotoStmt *Statement) {
    return refuseGoto(Statement->getGotoLoc());
  }
  bool VisitLabelStmt(LabelStmt *Statement) {
    refuse(Out, Statement->getIdentLoc(),
           "labels are not supported in Metal: it has no 'goto'", "");
    return true;
  }
  bool VisitAddrLabelExpr(AddrLabelExpr *E) {
    return refuseGoto(E->getLabelLoc());
  }
  bool VisitCXXNewExpr(CXXNewExpr *E) {
    refuse(Out, E->getBeginLoc(), "'new' is not supported in Metal", "");
    return true;
  }
  bool VisitCXXDeleteExpr(CXXDeleteExpr *E) {
    refuse(Out, E->getBeginLoc(), "'delete' is not supported in Metal", "");
    return true;
  }

  // --- types ---

  // Their length is unknown to every limit of private memory: never taken, nor
  // a name of such a type or a pointer to one.
  bool VisitVariableArrayTypeLoc(VariableArrayTypeLoc T) {
    refuse(Out, T.getLBracketLoc(),
           "variable length arrays are not supported in Metal",
           "the length must be a constant expression", /*Always=*/true);
    return true;
  }


  bool VisitTypedefTypeLoc(TypedefTypeLoc T) {
    const TypedefNameDecl *D = T.getTypedefNameDecl();
    if (SM.isInSystemHeader(D->getLocation()))
      judgeType(Out, T.getNameLoc(), QualType(T.getTypePtr(), 0));
    return true;
  }
  bool VisitTemplateSpecializationTypeLoc(TemplateSpecializationTypeLoc T) {
    judgeType(Out, T.getTemplateNameLoc(), QualType(T.getTypePtr(), 0));
    return true;
  }
  bool VisitRecordTypeLoc(RecordTypeLoc T) {
    judgeType(Out, T.getNameLoc(), QualType(T.getTypePtr(), 0));
    return true;
  }

 private:
  LangAS spaceOf(QualType T) const {
    return C.getBaseElementType(T).getAddressSpace();
  }

  // A type with its address space in front.
  std::string name(QualType T) const {
    const LangAS Space = spaceOf(T);
    PrintingPolicy Policy(C.getLangOpts());
    Policy.SuppressTagKeyword = true;
    const std::string Text = inMetalsWords(T.getAsString(Policy));
    return Space == LangAS::Default ? "thread " + Text : Text;
  }

  static bool isKernel(const FunctionDecl *F) {
    return llvm::any_of(F->specific_attrs<AnnotateAttr>(),
                        [](const AnnotateAttr *A) {
                          return A->getAnnotation() == "mettle.kernel";
                        });
  }

  // A template with a parameter `thread T *` does not accept other spaces,
  // which here would become a part of T.
  void checkTemplateArguments(const CallExpr *E, const FunctionDecl *F) {
    const FunctionTemplateDecl *Template = F->getPrimaryTemplate();
    if (!Template || isa<CXXMethodDecl>(F)) return;
    const FunctionDecl *Pattern = Template->getTemplatedDecl();
    if (Pattern->getNumParams() != F->getNumParams()) return;
    for (unsigned I = 0; I < F->getNumParams(); ++I) {
      const QualType T = F->getParamDecl(I)->getType()->getPointeeType();
      const ParmVarDecl *Written = Pattern->getParamDecl(I);
      const QualType Pointee = Written->getType()->getPointeeType();
      if (T.isNull() || Pointee.isNull() ||
          Written->getType()->isRValueReferenceType() ||
          !isa<TemplateTypeParmType>(Pointee.getTypePtr()) ||
          spaceOf(T) == LangAS::Default ||
          !saysThread(Out.S, Written->getTypeSourceInfo()->getTypeLoc()))
        continue;
      refuse(Out, E->getExprLoc(),
             "no matching function for call to '" + F->getNameAsString() +
                 "': parameter '" + Written->getNameAsString() +
                 "' is in the thread address space, the argument in '" +
                 spaceName(spaceOf(T)) + "'",
             "copy the value to a variable of the thread's first");
    }
  }

  void checkConversion(const CastExpr *E) {
    const auto *Cast = dyn_cast<ImplicitCastExpr>(E);
    if (!Cast || Cast->isPartOfExplicitCast()) return;
    const Expr *Operand = Cast->getSubExpr()->IgnoreParens();
    if (Cast->getCastKind() == CK_FunctionToPointerDecay) {
      const auto *Name = dyn_cast<DeclRefExpr>(Operand);
      const auto *F = Name ? dyn_cast<FunctionDecl>(Name->getDecl()) : nullptr;
      if (F && isKernel(F))
        refuse(Out, E->getExprLoc(),
               "kernel '" + F->getNameAsString() + "' has no address", "");
    } else if (Cast->getCastKind() == CK_FloatingCast &&
               Cast->getType()->isFloat16Type() && isBfloat(Operand)) {
      refuse(Out, E->getExprLoc(),
             "cannot convert 'bfloat' to 'half' implicitly",
             "write 'half(...)'");
    }
  }

  // True if an expression is an implicit conversion of a bfloat.
  bool isBfloat(const Expr *E) const {
    if (const auto *Cast = dyn_cast<ImplicitCastExpr>(E))
      E = Cast->getSubExpr();
    const auto *Call = dyn_cast<CXXMemberCallExpr>(E);
    const CXXRecordDecl *Class = Call ? Call->getRecordDecl() : nullptr;
    return Class && isa_and_nonnull<CXXConversionDecl>(Call->getMethodDecl()) &&
           Class->getName() == "bfloat" &&
           SM.isInSystemHeader(Class->getLocation());
  }

  // True if a function takes objects in any space: the library's, and copies,
  // which every class has.
  bool isFree(const FunctionDecl *F) const {
    if (F->isImplicit() || F->isDefaulted()) return true;
    if (const auto *Constructor = dyn_cast<CXXConstructorDecl>(F))
      if (Constructor->isCopyOrMoveConstructor()) return true;
    return SM.isInSystemHeader(F->getLocation());
  }

  // Notes the conversions of an argument that are the callee's own matter.
  void freeArgument(const Expr *E) {
    while (E) {
      if (const auto *Cast = dyn_cast<ImplicitCastExpr>(E)) {
        Free.insert(Cast);
        E = Cast->getSubExpr();
      } else if (const auto *Full = dyn_cast<FullExpr>(E)) {
        E = Full->getSubExpr();
      } else if (const auto *Made = dyn_cast<MaterializeTemporaryExpr>(E)) {
        E = Made->getSubExpr();
      } else {
        return;
      }
    }
  }

  // The object of a member function that is marked for another space.
  void checkObject(const Expr *Object, const CXXMethodDecl *Method) {
    const auto *Cast = dyn_cast<ImplicitCastExpr>(Object);
    if (!Cast) return;
    const auto Pointee = [](QualType T) {
      return T->isPointerType() ? T->getPointeeType() : T;
    };
    const LangAS Source = spaceOf(Pointee(Cast->getSubExpr()->getType()));
    const LangAS Target = spaceOf(Pointee(Cast->getType()));
    if (Source == Target) return;
    freeArgument(Object);
    refuse(Out, Cast->getExprLoc(),
           "'this' argument to member function '" +
               Method->getNameAsString() + "' is in the " + spaceName(Source) +
               " address space, but the function is not marked '" +
               spaceName(Source) + "'",
           "write the address space behind the parameters, or call it on a "
           "copy");
  }

  bool refuseGoto(SourceLocation Loc) {
    refuse(Out, Loc, "'goto' is not supported in Metal", "");
    return true;
  }

  void checkName(const NamedDecl *D) {
    const IdentifierInfo *Name = D->getIdentifier();
    if (Name && Name->isStr("half"))
      refuse(Out, D->getLocation(),
             "expected a name: 'half' is a type and a keyword of Metal", "");
  }

  // Metal takes zeros here, which MLX's kernels write. What a constructor gives
  // a variable without an initialiser would be lost.
  void checkInitializer(const VarDecl *V) {
    const auto Marks = V->specific_attrs<AnnotateAttr>();
    const bool IsWritten = llvm::any_of(Marks, [](const AnnotateAttr *A) {
      return A->getAnnotation() == "mettle.initialized";
    });
    const Expr *Init = V->getInit();
    if (!Init || Init->isValueDependent()) return;
    const APValue *Value = V->evaluateValue();
    if (!Value || isZero(*Value)) return;
    refuse(Out, V->getLocation(),
           "variable '" + V->getNameAsString() +
               "' in the threadgroup address space cannot have " +
               (IsWritten ? "an initializer other than zeros"
                          : "a constructor that sets other values than zeros"),
           "store to it in the kernel, in front of a threadgroup_barrier",
           /*Always=*/!IsWritten);
  }

  static bool isZero(const APValue &Value) {
    const auto AllZero = [](unsigned Count, auto Part) {
      for (unsigned I = 0; I < Count; ++I)
        if (!isZero(Part(I))) return false;
      return true;
    };
    switch (Value.getKind()) {
      case APValue::Int: return Value.getInt().isZero();
      case APValue::Float: return Value.getFloat().isPosZero();
      case APValue::Array:
        return (!Value.hasArrayFiller() || isZero(Value.getArrayFiller())) &&
               AllZero(Value.getArrayInitializedElts(), [&](unsigned I) {
                 return Value.getArrayInitializedElt(I);
               });
      case APValue::Struct:
        return AllZero(Value.getStructNumBases(),
                       [&](unsigned I) { return Value.getStructBase(I); }) &&
               AllZero(Value.getStructNumFields(),
                       [&](unsigned I) { return Value.getStructField(I); });
      case APValue::Vector:
        return AllZero(Value.getVectorLength(),
                       [&](unsigned I) { return Value.getVectorElt(I); });
      case APValue::LValue: return Value.isNullPointer();
      case APValue::Union: return isZero(Value.getUnionValue());
      default: return true;
    }
  }

  // The object file, and memory while it is made, hold all of it.
  void checkSize(const VarDecl *V) {
    constexpr int64_t MostBytes = 256 << 20;
    const QualType T = V->getType();
    if (T->isDependentType() || T->isReferenceType() || T->isIncompleteType())
      return;
    const int64_t Bytes = C.getTypeSizeInChars(T).getQuantity();
    if (Bytes > MostBytes)
      refuse(Out, V->getLocation(),
             "constant '" + V->getNameAsString() + "' has " +
                 std::to_string(Bytes) + " bytes; at most " +
                 std::to_string(MostBytes) + " are supported",
             "pass what is larger in a buffer", /*Always=*/true);
  }

  // Arguments at program scope came later than kernels.
  void checkVersion(const VarDecl *V) {
    for (const AnnotateAttr *A : V->specific_attrs<AnnotateAttr>()) {
      StringRef Name = A->getAnnotation();
      if (!Name.consume_front("mettle.")) continue;
      if (mtlc_find_builtin(Name.str().c_str()))
        needVersion(Out, V->getLocation(), "an input at program scope", 310);
      else if (llvm::is_contained({"buffer", "texture", "sampler",
                                   "threadgroup"}, Name))
        needVersion(Out, V->getLocation(), "an argument at program scope",
                    320);
    }
  }

  // Variables that outlive a call must be constant or threadgroup memory.
  void checkStorage(const VarDecl *V) {
    if (V->isFileVarDecl()) checkVersion(V);
    if (isa<ParmVarDecl>(V) || V->isImplicit()) return;
    const LangAS Space = spaceOf(V->getType());
    if (Space == LangAS::sycl_global_host) checkSize(V);
    if (Space == LangAS::sycl_local) {
      if (V->isStaticLocal()) checkInitializer(V);
      return;
    }
    if (!V->isFileVarDecl() && !V->isStaticLocal() && !V->hasExternalStorage())
      return;
    if (Space == LangAS::sycl_global_host || V->getType()->isDependentType() ||
        V->getType()->isReferenceType() || V->hasAttr<AnnotateAttr>() ||
        isSampler(V->getType()))
      return;
    const char *const Kind = V->isStaticLocal()        ? "static"
                             : V->isStaticDataMember() ? "static member"
                                                       : "program scope";
    refuse(Out, V->getLocation(),
           std::string(Kind) + " variable '" + V->getNameAsString() +
               "' must reside in the constant address space",
           "declare it 'constant'; what changes belongs in a buffer");
  }

  bool isSampler(QualType T) const {
    const CXXRecordDecl *Class =
        C.getBaseElementType(T)->getAsCXXRecordDecl();
    return Class && Class->getName() == "sampler" &&
           SM.isInSystemHeader(Class->getLocation());
  }

  Refusals &Out;
  ASTContext &C;
  const SourceManager &SM;
  llvm::DenseSet<const Expr *> Free;
};

}  // namespace

const char *mtlc::spaceName(LangAS Space) {
  switch (Space) {
    case LangAS::sycl_global: return "device";
    case LangAS::sycl_global_host: return "constant";
    case LangAS::sycl_local: return "threadgroup";
    default: return "thread";
  }
}

void mtlc::refuse(Refusals &Out, SourceLocation Loc, const std::string &Text,
                  const std::string &Hint, bool Always) {
  if (!Out.Seen.insert(std::to_string(Loc.getRawEncoding()) + Text).second)
    return;
  DiagnosticsEngine &Diags = Out.S.getDiagnostics();
  report(Diags, Loc,
         Out.IsPermissive && !Always ? DiagnosticsEngine::Warning
                                     : DiagnosticsEngine::Error,
         Text);
  if (!Hint.empty()) report(Diags, Loc, DiagnosticsEngine::Note, Hint);
  if (!Out.Instance) return;
  std::string Name;
  llvm::raw_string_ostream OS(Name);
  Out.Instance->getNameForDiagnostic(
      OS, Out.S.Context.getPrintingPolicy(), /*Qualified=*/true);
  report(Diags, Out.Instance->getPointOfInstantiation(),
         DiagnosticsEngine::Note,
         "in instantiation of '" + Name + "' requested here");
}

void mtlc::refuseProgram(Refusals &Out, llvm::ArrayRef<Decl *> Program) {
  RefusalVisitor Visitor(Out);
  for (Decl *D : Program) Visitor.TraverseDecl(D);
}
