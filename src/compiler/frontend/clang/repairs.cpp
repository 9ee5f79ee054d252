// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// repairs.cpp: ten functions of clang 19 that refuse what Metal
// takes, put right. It stands beside frontend.cpp because the linker's --wrap
// (CMakeLists.txt) sends clang's own calls of these functions here and gives
// their bodies the prefix __real_; their mangled names are the interface.
//
//   c ? x[i] : float4(0)    class objects in different address spaces have no
//                           common type in C++: both are copied first
//   c ? b : 0               an integer beside a bfloat, a class, becomes one
//   v.x += y, v.xy + v.zw   swizzles are properties; a template that is
//   v.x++                   instantiated forgets to read and write them
//   1.5bf, 2.0H             suffixes that clang has not: _bf and h of
//                           metal_literals
//   1.5                     a float; clang's own way makes a double and a cast,
//                           and templates that are instantiated drop the cast
//   float f() device        member functions for objects in an address space,
//                           which clang knows in C++ for OpenCL alone
//   x = 1                   by a class's own operator=(uint), beside the one
//                           that every class has
//   template <uint N>       a vector's size is deduced as any integer, as if
//   f(vec<float, N>)        vectors were clang's own and not a class
//   "text", __func__        string literals are in the constant address space
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include "clang/AST/ASTContext.h"
#include "clang/AST/Expr.h"
#include "clang/Lex/Preprocessor.h"
#include "clang/Sema/DeclSpec.h"
#include "clang/Sema/Initialization.h"
#include "clang/Sema/Sema.h"
#include "clang/Sema/SemaPseudoObject.h"
#include "llvm/ADT/StringExtras.h"
#pragma GCC diagnostic pop

using namespace clang;

// The functions, by the names that CMakeLists.txt wraps.
#define CONDITIONAL                                                       \
  "_ZN5clang4Sema27CXXCheckConditionalOperandsERNS_12ActionResultIPNS_4E" \
  "xprELb1EEES5_S5_RNS_13ExprValueKindERNS_14ExprObjectKindENS_14SourceL" \
  "ocationE"
#define BINARY                                                            \
  "_ZN5clang4Sema18CreateBuiltinBinOpENS_14SourceLocationENS_18BinaryOpe" \
  "ratorKindEPNS_4ExprES4_"
#define ASSIGNMENT                                                            \
  "_ZN5clang4Sema21CreateOverloadedBinOpENS_14SourceLocationENS_18BinaryOper" \
  "atorKindERKNS_17UnresolvedSetImplEPNS_4ExprES7_bbPNS_12FunctionDeclE"
#define UNARY                                                             \
  "_ZN5clang4Sema20CreateBuiltinUnaryOpENS_14SourceLocationENS_17UnaryOp" \
  "eratorKindEPNS_4ExprEb"
#define NUMBER "_ZN5clang4Sema20ActOnNumericConstantERKNS_5TokenEPNS_5ScopeE"
#define DECLARATOR "_ZN5clang4Sema20GetTypeForDeclaratorERNS_10DeclaratorE"
#define ARGUMENT                                                           \
  "_ZN5clang4Sema21CheckTemplateArgumentEPNS_9NamedDeclERNS_19TemplateArg" \
  "umentLocES2_NS_14SourceLocationES5_jRN4llvm15SmallVectorImplINS_16Temp" \
  "lateArgumentEEESA_NS0_25CheckTemplateArgumentKindE"
#define LITERAL \
  "_ZNK5clang10ASTContext25getStringLiteralArrayTypeENS_8QualTypeEj"
#define FUNCTION_NAME                                                 \
  "_ZN5clang4Sema19ActOnPredefinedExprENS_14SourceLocationENS_3tok9T" \
  "okenKindE"
#define FUNCTION_NAME_AGAIN                                           \
  "_ZN5clang4Sema19BuildPredefinedExprENS_14SourceLocationENS_19Pred" \
  "efinedIdentKindE"

QualType realConditional(Sema *, ExprResult &, ExprResult &, ExprResult &,
                         ExprValueKind &, ExprObjectKind &,
                         SourceLocation) __asm__("__real_" CONDITIONAL);
QualType wrapConditional(Sema *, ExprResult &, ExprResult &, ExprResult &,
                         ExprValueKind &, ExprObjectKind &,
                         SourceLocation) __asm__("__wrap_" CONDITIONAL);
ExprResult realBinary(Sema *, SourceLocation, BinaryOperatorKind, Expr *,
                      Expr *) __asm__("__real_" BINARY);
ExprResult wrapBinary(Sema *, SourceLocation, BinaryOperatorKind, Expr *,
                      Expr *) __asm__("__wrap_" BINARY);
ExprResult realAssignment(Sema *, SourceLocation, BinaryOperatorKind,
                          const UnresolvedSetImpl &, Expr *, Expr *, bool, bool,
                          FunctionDecl *) __asm__("__real_" ASSIGNMENT);
ExprResult wrapAssignment(Sema *, SourceLocation, BinaryOperatorKind,
                          const UnresolvedSetImpl &, Expr *, Expr *, bool, bool,
                          FunctionDecl *) __asm__("__wrap_" ASSIGNMENT);
ExprResult realUnary(Sema *, SourceLocation, UnaryOperatorKind, Expr *,
                     bool) __asm__("__real_" UNARY);
ExprResult wrapUnary(Sema *, SourceLocation, UnaryOperatorKind, Expr *,
                     bool) __asm__("__wrap_" UNARY);
ExprResult realNumber(Sema *, const Token &, Scope *) __asm__("__real_" NUMBER);
ExprResult wrapNumber(Sema *, const Token &, Scope *) __asm__("__wrap_" NUMBER);
TypeSourceInfo *realDeclarator(Sema *,
                               Declarator &) __asm__("__real_" DECLARATOR);
TypeSourceInfo *wrapDeclarator(Sema *,
                               Declarator &) __asm__("__wrap_" DECLARATOR);
QualType realLiteral(const ASTContext *, QualType,
                     unsigned) __asm__("__real_" LITERAL);
QualType wrapLiteral(const ASTContext *, QualType,
                     unsigned) __asm__("__wrap_" LITERAL);
ExprResult realFunctionName(Sema *, SourceLocation,
                            tok::TokenKind) __asm__("__real_" FUNCTION_NAME);
ExprResult wrapFunctionName(Sema *, SourceLocation,
                            tok::TokenKind) __asm__("__wrap_" FUNCTION_NAME);
ExprResult realFunctionNameAgain(
    Sema *, SourceLocation,
    PredefinedIdentKind) __asm__("__real_" FUNCTION_NAME_AGAIN);
ExprResult wrapFunctionNameAgain(
    Sema *, SourceLocation,
    PredefinedIdentKind) __asm__("__wrap_" FUNCTION_NAME_AGAIN);

bool wrapArgument(Sema *, NamedDecl *, TemplateArgumentLoc &, NamedDecl *,
                  SourceLocation, SourceLocation, unsigned,
                  llvm::SmallVectorImpl<TemplateArgument> &,
                  llvm::SmallVectorImpl<TemplateArgument> &,
                  Sema::CheckTemplateArgumentKind) __asm__("__wrap_" ARGUMENT);
bool realArgument(Sema *, NamedDecl *, TemplateArgumentLoc &, NamedDecl *,
                  SourceLocation, SourceLocation, unsigned,
                  llvm::SmallVectorImpl<TemplateArgument> &,
                  llvm::SmallVectorImpl<TemplateArgument> &,
                  Sema::CheckTemplateArgumentKind) __asm__("__real_" ARGUMENT);

namespace {

// Turns a class object in an address space into a copy outside any.
void copyOut(Sema &S, ExprResult &E) {
  const QualType T = E.get()->getType();
  if (!E.get()->isGLValue() || !T->isRecordType() ||
      T.getAddressSpace() == LangAS::Default)
    return;
  const ExprResult Copy = S.PerformCopyInitialization(
      InitializedEntity::InitializeTemporary(T.getUnqualifiedType()),
      SourceLocation(), E);
  if (Copy.isUsable()) E = Copy;
}

bool isBfloat(QualType T) {
  const CXXRecordDecl *Class = T->getAsCXXRecordDecl();
  return Class && Class->getIdentifier() && Class->getName() == "bfloat" &&
         Class->getDeclContext()->isTranslationUnit();
}

// Turns an integer beside a bfloat into a bfloat.
void joinBfloat(Sema &S, ExprResult &Integer, const ExprResult &Other) {
  const QualType T = Other.get()->getType();
  if (!isBfloat(T) || !Integer.get()->getType()->isIntegerType()) return;
  const ExprResult Converted = S.PerformCopyInitialization(
      InitializedEntity::InitializeTemporary(T.getUnqualifiedType()),
      SourceLocation(), Integer);
  if (Converted.isUsable()) Integer = Converted;
}

bool isProperty(const Expr *E) {
  const auto *T = E->getType()->getAs<BuiltinType>();
  return T && T->getKind() == BuiltinType::PseudoObject;
}

// Reads a property; leaves anything else.
bool readProperty(Sema &S, Expr *&E) {
  if (!isProperty(E)) return true;
  const ExprResult Value = S.CheckPlaceholderExpr(E);
  if (Value.isUsable()) E = Value.get();
  return Value.isUsable();
}

// The address space that a member function names for its object; the rewriter
// spells it as OpenCL does, so that clang parses it (source_members.c).
LangAS objectSpace(const DeclaratorChunk::FunctionTypeInfo &Function) {
  if (Function.MethodQualifiers)
    for (const ParsedAttr &A : Function.MethodQualifiers->getAttributes())
      switch (A.getKind()) {
        case ParsedAttr::AT_OpenCLGlobalAddressSpace:
          return LangAS::sycl_global;
        case ParsedAttr::AT_OpenCLLocalAddressSpace: return LangAS::sycl_local;
        case ParsedAttr::AT_OpenCLConstantAddressSpace:
          return LangAS::sycl_global_host;
        default: break;
      }
  return LangAS::Default;
}

// Is there a static function of the name in the class that D's own names?
bool definesStatic(Sema &S, Declarator &D) {
  DeclContext *Class = S.computeDeclContext(D.getCXXScopeSpec(), true);
  if (!Class) return false;
  for (const NamedDecl *Found :
       Class->lookup(S.GetNameForDeclarator(D).getName())) {
    const auto *Method = dyn_cast<CXXMethodDecl>(Found->getUnderlyingDecl());
    if (Method && Method->isStatic()) return true;
  }
  return false;
}

// Does D declare a member function with an object?
bool declaresMethod(Sema &S, Declarator &D) {
  const DeclSpec &Specifiers = D.getDeclSpec();
  if (Specifiers.isFriendSpecified() ||
      Specifiers.getStorageClassSpec() != DeclSpec::SCS_unspecified)
    return false;
  switch (D.getName().getKind()) {
    case UnqualifiedIdKind::IK_Identifier:
    case UnqualifiedIdKind::IK_ConversionFunctionId: break;
    case UnqualifiedIdKind::IK_OperatorFunctionId:
      switch (D.getName().OperatorFunctionId.Operator) {
        case OO_New:
        case OO_Array_New:
        case OO_Delete:
        case OO_Array_Delete: return false;
        default: break;
      }
      break;
    default: return false;
  }
  if (D.getCXXScopeSpec().isEmpty())
    return D.getContext() == DeclaratorContext::Member;
  const NestedNameSpecifier *Scope = D.getCXXScopeSpec().getScopeRep();
  return (Scope->getKind() == NestedNameSpecifier::TypeSpec ||
          Scope->getKind() == NestedNameSpecifier::TypeSpecWithTemplate) &&
         !definesStatic(S, D);
}

DeclContext::lookup_result assignments(const CXXRecordDecl *Class) {
  return Class->lookup(
      Class->getASTContext().DeclarationNames.getCXXOperatorName(OO_Equal));
}

// Does Class have an operator= of its own, with wrapDeclarator's restrict?
bool ownAssignment(const CXXRecordDecl *Class) {
  if (!Class || !Class->hasDefinition()) return false;
  for (const NamedDecl *Found : assignments(Class)) {
    const auto *Method = dyn_cast_or_null<CXXMethodDecl>(
        Found->getUnderlyingDecl()->getAsFunction());
    if (Method && Method->getMethodQualifiers().hasRestrict()) return true;
  }
  return false;
}

// Declares the operator= that every class has, and lists Class's two.
llvm::SmallVector<CXXMethodDecl *, 2> givenAssignments(Sema &S,
                                                       CXXRecordDecl *Class) {
  S.ForceDeclarationOfImplicitMembers(Class);
  llvm::SmallVector<CXXMethodDecl *, 2> Given;
  for (NamedDecl *Found : assignments(Class)) {
    auto *Method = dyn_cast<CXXMethodDecl>(Found->getUnderlyingDecl());
    if (Method && Method->isImplicit()) Given.push_back(Method);
  }
  return Given;
}

// The type of a member function with the restrict that wrapDeclarator adds.
QualType restricted(Sema &S, QualType T) {
  const auto *Function = T->castAs<FunctionProtoType>();
  FunctionProtoType::ExtProtoInfo Extra = Function->getExtProtoInfo();
  Extra.TypeQuals.addRestrict();
  return S.Context.getFunctionType(Function->getReturnType(),
                                   Function->getParamTypes(), Extra);
}

}  // namespace

QualType wrapConditional(Sema *S, ExprResult &Condition, ExprResult &Left,
                         ExprResult &Right, ExprValueKind &Kind,
                         ExprObjectKind &Object, SourceLocation Question) {
  if (Left.isUsable() && Right.isUsable() && !Left.get()->isTypeDependent() &&
      !Right.get()->isTypeDependent() &&
      !S->Context.hasSameType(Left.get()->getType(), Right.get()->getType())) {
    copyOut(*S, Left);
    copyOut(*S, Right);
    joinBfloat(*S, Left, Right);
    joinBfloat(*S, Right, Left);
  }
  return realConditional(S, Condition, Left, Right, Kind, Object, Question);
}

ExprResult wrapBinary(Sema *S, SourceLocation Loc, BinaryOperatorKind Operator,
                      Expr *Left, Expr *Right) {
  if (!isProperty(Left) && !isProperty(Right))
    return realBinary(S, Loc, Operator, Left, Right);
  if (!readProperty(*S, Right)) return ExprError();
  if (isProperty(Left) && BinaryOperator::isAssignmentOp(Operator))
    return S->PseudoObject().checkAssignment(nullptr, Loc, Operator, Left,
                                             Right);
  if (!readProperty(*S, Left)) return ExprError();
  return S->BuildBinOp(nullptr, Loc, Operator, Left, Right);
}

// Clang prefers a function whose object has fewer qualifiers. The operator=
// that every class has lacks the restrict that wrapDeclarator gives to all
// others, so it gets one while clang chooses. Where both sides are of the class
// there is no choice, and the operator= has to do for all address spaces as it
// is.
ExprResult wrapAssignment(Sema *S, SourceLocation Loc,
                          BinaryOperatorKind Operator,
                          const UnresolvedSetImpl &Functions, Expr *Left,
                          Expr *Right, bool ByArguments, bool Rewritten,
                          FunctionDecl *Defaulted) {
  CXXRecordDecl *Class = Left->getType()->getAsCXXRecordDecl();
  const CXXRecordDecl *Source = Right->getType()->getAsCXXRecordDecl();
  if (Operator == BO_Assign && Class && Class == Source &&
      !Left->isTypeDependent() && !Right->isTypeDependent()) {
    const ExprResult Done = assignWithinClass(*S, Loc, Left, Right);
    if (Done.isInvalid() || Done.isUsable()) return Done;
  }
  const bool IsOwn = Operator == BO_Assign && !Left->isTypeDependent() &&
                     !Right->isTypeDependent() && ownAssignment(Class) &&
                     Source != Class;
  llvm::SmallVector<std::pair<CXXMethodDecl *, QualType>, 2> Plain;
  if (IsOwn)
    for (CXXMethodDecl *Given : givenAssignments(*S, Class)) {
      Plain.push_back({Given, Given->getType()});
      Given->setType(restricted(*S, Given->getType()));
    }
  const ExprResult Result =
      realAssignment(S, Loc, Operator, Functions, Left, Right, ByArguments,
                     Rewritten, Defaulted);
  for (const auto &[Given, Type] : Plain) Given->setType(Type);
  return Result;
}

ExprResult wrapUnary(Sema *S, SourceLocation Loc, UnaryOperatorKind Operator,
                     Expr *Operand, bool IsAfterAmp) {
  if (!isProperty(Operand))
    return realUnary(S, Loc, Operator, Operand, IsAfterAmp);
  if (UnaryOperator::isIncrementDecrementOp(Operator))
    return S->PseudoObject().checkIncDec(nullptr, Loc, Operator, Operand);
  if (!readProperty(*S, Operand)) return ExprError();
  return S->BuildUnaryOp(nullptr, Loc, Operator, Operand);
}

// Whether a number has neither a suffix nor is an integer.
static bool isPlainFloat(StringRef Text, bool IsFloat) {
  return IsFloat && (isDigit(Text.back()) || Text.back() == '.') &&
         !Text.contains('_');
}

ExprResult wrapNumber(Sema *S, const Token &Number, Scope *Names) {
  // Macros of a precompiled header have no text of their own: ask for it.
  SmallString<64> Buffer;
  Buffer.resize(Number.getLength());
  const StringRef Text = S->PP.getSpelling(Number, Buffer);
  const bool IsHex = Text.starts_with_insensitive("0x");
  const bool IsFloat = Text.contains('.') ||
                       Text.find_first_of(IsHex ? "pP" : "eE") != Text.npos;
  StringRef Digits = Text;
  const char *Suffix = nullptr;
  // In 0x1bf the letters are digits.
  if (!IsHex || IsFloat) {
    if (Digits.consume_back("bf") || Digits.consume_back("BF"))
      Suffix = "_bf";
    else if (Digits.consume_back("H"))
      Suffix = "h";
  }
  if (isPlainFloat(Text, IsFloat)) Suffix = "f";
  if (!Suffix || Digits.empty()) return realNumber(S, Number, Names);
  const std::string Taken = (Digits + Suffix).str();
  char *const Kept = new (S->Context) char[Taken.size() + 1];
  memcpy(Kept, Taken.c_str(), Taken.size() + 1);
  Token Renamed = Number;
  Renamed.setLiteralData(Kept);
  Renamed.setLength(Taken.size());
  return realNumber(S, Renamed, Names);
}

// Clang compares address spaces of objects and functions only where the other
// qualifiers differ; a restrict on every member function, and on no object,
// sees to that. Of the library's own, only those need it that name a space and
// those beside them, where it is written (METTLE_EACH_SPACE).
TypeSourceInfo *wrapDeclarator(Sema *S, Declarator &D) {
  TypeSourceInfo *Info = realDeclarator(S, D);
  if (!Info || !D.isFunctionDeclarator()) return Info;
  const LangAS Space = objectSpace(D.getFunctionTypeInfo());
  const bool isLibrary =
      S->getSourceManager().isInSystemHeader(D.getIdentifierLoc());
  if ((isLibrary && Space == LangAS::Default) || !declaresMethod(*S, D))
    return Info;
  // An attributed type would lose its attributes.
  const auto *Function =
      dyn_cast<FunctionProtoType>(Info->getType().getTypePtr());
  if (!Function) return Info;
  FunctionProtoType::ExtProtoInfo Extra = Function->getExtProtoInfo();
  Extra.TypeQuals.addRestrict();
  if (Space != LangAS::Default) Extra.TypeQuals.addAddressSpace(Space);
  // The source locations of a function's type do not depend on its qualifiers.
  Info->overrideType(S->Context.getFunctionType(
      Function->getReturnType(), Function->getParamTypes(), Extra));
  return Info;
}

QualType wrapLiteral(const ASTContext *C, QualType Element, unsigned Length) {
  return realLiteral(
      C, C->getAddrSpaceQualType(Element, LangAS::sycl_global_host), Length);
}

// Clang gives __func__ and its like an array of its own: what it would print is
// a literal like others. In a template the name is known when it is made.
static ExprResult asLiteral(Sema &S, ExprResult Name) {
  const auto *Known =
      Name.isUsable() ? dyn_cast<PredefinedExpr>(Name.get()) : nullptr;
  if (!Known || !Known->getFunctionName()) return Name;
  const StringRef Text = Known->getFunctionName()->getString();
  return StringLiteral::Create(
      S.Context, Text, StringLiteralKind::Ordinary, /*Pascal=*/false,
      S.Context.getStringLiteralArrayType(S.Context.CharTy, Text.size()),
      Known->getLocation());
}

ExprResult wrapFunctionName(Sema *S, SourceLocation Loc, tok::TokenKind Kind) {
  return asLiteral(*S, realFunctionName(S, Loc, Kind));
}

ExprResult wrapFunctionNameAgain(Sema *S, SourceLocation Loc,
                                 PredefinedIdentKind Kind) {
  return asLiteral(*S, realFunctionNameAgain(S, Loc, Kind));
}

bool wrapArgument(Sema *S, NamedDecl *Parameter, TemplateArgumentLoc &Argument,
                  NamedDecl *Template, SourceLocation Begin, SourceLocation End,
                  unsigned PackIndex,
                  llvm::SmallVectorImpl<TemplateArgument> &Sugared,
                  llvm::SmallVectorImpl<TemplateArgument> &Canonical,
                  Sema::CheckTemplateArgumentKind Kind) {
  // A value deduced from an array's bound may be of any integral type.
  if (Kind == Sema::CTAK_Deduced) Kind = Sema::CTAK_DeducedFromArrayBound;
  return realArgument(S, Parameter, Argument, Template, Begin, End, PackIndex,
                      Sugared, Canonical, Kind);
}
