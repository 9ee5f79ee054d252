// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// overloads.cpp: judges calls of the library and uses of its types by
// what Metal has: its functions are overloads for a few types each, where this
// library has templates, and some came with a later language version.
#include <string>

#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/AST/Expr.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Sema/Sema.h"
#include "compiler/frontend/parts.h"

using namespace clang;
using llvm::StringRef;

namespace {

using namespace mtlc;

// What an argument counts as in the choice between overloads.
enum NumberKind {
  NotANumber,
  Integer,       // bool too
  LongInteger,   // of 64 bits
  Half,
  Bfloat,
  Float,
};

struct Number {
  NumberKind Kind = NotANumber;
  bool IsVector = false;
  std::string Name;
};

const CXXRecordDecl *libraryClass(const ASTContext &C, QualType T) {
  const CXXRecordDecl *Class = T.getCanonicalType()->getAsCXXRecordDecl();
  return Class && Class->getIdentifier() &&
                 C.getSourceManager().isInSystemHeader(Class->getLocation())
             ? Class
             : nullptr;
}

Number numberOf(const ASTContext &C, QualType T) {
  Number Result;
  PrintingPolicy Policy(C.getLangOpts());
  Policy.SuppressTagKeyword = true;
  T = T.getNonReferenceType();
  if (T->isEnumeralType()) return Result;
  Result.Name = inMetalsWords(T.getUnqualifiedType().getAsString(Policy));
  if (T->isIntegerType())
    Result.Kind = C.getTypeSize(T) == 64 ? LongInteger : Integer;
  else if (T->isHalfType() || T->isFloat16Type())
    Result.Kind = Half;
  else if (T->isSpecificBuiltinType(BuiltinType::Float))
    Result.Kind = Float;
  const CXXRecordDecl *Class = libraryClass(C, T);
  if (!Class) return Result;
  if (Class->getName() == "bfloat") Result.Kind = Bfloat;
  const auto *Vector = dyn_cast<ClassTemplateSpecializationDecl>(Class);
  if (!Vector ||
      (Class->getName() != "vec" && Class->getName() != "packed_vec"))
    return Result;
  Result.Kind = numberOf(C, Vector->getTemplateArgs()[0].getAsType()).Kind;
  Result.IsVector = true;
  return Result;
}

// The argument as the program writes it, without conversions.
QualType writtenType(const Expr *E) {
  return E->IgnoreImplicit()->getType();
}

// Functions of half and float, and of nothing else.
bool isFloatFunction(StringRef Name) {
  static const llvm::StringSet<> Names = {
      "acos",  "acosh", "asin",  "asinh", "atan",     "atanh",   "atan2",
      "ceil",  "copysign", "cos", "cosh", "cospi",    "divide",  "exp",
      "exp2",  "exp10", "fabs",  "fdim",  "floor",    "fma",     "fmax",
      "fmax3", "fmedian3", "fmin", "fmin3", "fmod",   "fract",   "log",
      "log2",  "log10", "pow",   "powr",  "rint",     "round",   "rsqrt",
      "sin",   "sinh",  "sinpi", "sqrt",  "tan",      "tanh",    "tanpi",
      "trunc", "mix",   "saturate", "sign", "smoothstep", "step"};
  return Names.contains(Name);
}

// Those that have forms for integers too.
bool isNumberFunction(StringRef Name) {
  static const llvm::StringSet<> Names = {"min",  "max",  "clamp",
                                          "min3", "max3", "median3"};
  return Names.contains(Name);
}

std::string listTypes(llvm::ArrayRef<Number> Numbers) {
  std::string Text;
  for (const Number &N : Numbers)
    Text += (Text.empty() ? "" : ", ") + N.Name;
  return Text;
}

// Overloads that are all as good, or none.
void judgeOverloads(Refusals &Out, const CallExpr *E, StringRef Name,
                    StringRef Space) {
  const bool IsNumberFunction = isNumberFunction(Name);
  if (!IsNumberFunction && !isFloatFunction(Name)) return;
  llvm::SmallVector<Number, 3> Numbers;
  unsigned Halves = 0, Floats = 0, Integers = 0, Vectors = 0;
  for (const Expr *Argument : E->arguments()) {
    Numbers.push_back(numberOf(Out.S.Context, writtenType(Argument)));
    const Number &N = Numbers.back();
    Halves += N.Kind == Half;
    Floats += N.Kind == Float;
    Integers += N.Kind == Integer || N.Kind == LongInteger;
    Vectors += N.IsVector;
  }
  if (Vectors != 0 || Numbers.empty()) return;
  // fast:: and precise:: know float alone: anything scalar becomes one.
  if (!Space.empty()) return;
  const bool IsMixed = Halves != 0 && Floats != 0;
  const bool IsIntegers = !IsNumberFunction && Integers == Numbers.size();
  if (IsMixed || IsIntegers)
    refuse(Out, E->getExprLoc(),
           "call to '" + Name.str() + "' is ambiguous for (" +
               listTypes(Numbers) + ")",
           IsMixed ? "Metal has it for half and for float: convert the "
                     "arguments to one of them"
                   : "Metal has it for half and for float: convert the "
                     "argument to one of them");
}

// fast:: and precise:: have no vectors but float's.
void judgePrecision(Refusals &Out, const CallExpr *E, StringRef Name,
                    StringRef Space) {
  if (Space.empty()) return;
  for (const Expr *Argument : E->arguments()) {
    const Number N = numberOf(Out.S.Context, writtenType(Argument));
    if (N.IsVector && (N.Kind == Half || N.Kind == Bfloat)) {
      refuse(Out, E->getExprLoc(),
             "no matching function for call to '" + Space.str() +
                 "::" + Name.str() + "' with '" + N.Name + "'",
             "it is for float alone; 'metal::" + Name.str() +
                 "' takes other types too");
      return;
    }
  }
}

void judgeSimd(Refusals &Out, const CallExpr *E, const FunctionDecl *F,
               StringRef Name) {
  if (!(Name.starts_with("simd_") || Name.starts_with("quad_")) ||
      !F->isTemplateInstantiation() || E->getNumArgs() == 0)
    return;
  const Number N = numberOf(Out.S.Context, writtenType(E->getArg(0)));
  if (N.Kind == LongInteger)
    refuse(Out, E->getExprLoc(),
           "no matching function for call to '" + Name.str() + "' with '" +
               N.Name + "'",
           "Metal has no such function for integers of 64 bits: exchange the "
           "two halves as a 'uint2'");
}

// The type that an atomic holds, by the name that its functions know; "" for
// what is no atomic.
std::string heldType(const ASTContext &C, QualType T) {
  const auto *Atomic = dyn_cast_or_null<ClassTemplateSpecializationDecl>(
      libraryClass(C, T));
  if (!Atomic || Atomic->getName() != "atomic") return "";
  const TemplateArgument &Held = Atomic->getTemplateArgs()[0];
  if (Held.getKind() != TemplateArgument::Type ||
      Held.getAsType()->isDependentType())
    return "";
  QualType Bare = Held.getAsType().getCanonicalType().getUnqualifiedType();
  if (const auto *B = Bare->getAs<BuiltinType>()) switch (B->getKind()) {
      case BuiltinType::Bool: return "bool";
      case BuiltinType::Int: return "int";
      case BuiltinType::UInt: return "uint";
      case BuiltinType::Float: return "float";
      case BuiltinType::ULong:
      case BuiltinType::ULongLong: return "ulong";
      default: break;
    }
  PrintingPolicy Policy(C.getLangOpts());
  Policy.SuppressTagKeyword = true;
  return inMetalsWords(Bare.getAsString(Policy));
}

std::string versionText(int Version) {
  return std::to_string(Version / 100) + "." +
         std::to_string(Version % 100 / 10);
}

void needVersion(Refusals &Out, SourceLocation Loc, const std::string &What,
                 int Version) {
  if (Out.Version < Version)
    refuse(Out, Loc, What + " needs Metal " + versionText(Version),
           "this is compiled as Metal " + versionText(Out.Version) +
               ": --std metal" + versionText(Version) +
               " or a later one has it");
}

// What Metal has for an atomic type, beside load and store.
bool hasOperation(StringRef Held, StringRef Operation) {
  const bool IsExchange = Operation.contains("exchange");
  const bool IsSilentExtreme = Operation == "atomic_min_explicit" ||
                               Operation == "atomic_max_explicit";
  const bool IsSum = Operation == "atomic_fetch_add_explicit" ||
                     Operation == "atomic_fetch_sub_explicit";
  if (!IsExchange && !Operation.starts_with("atomic_fetch_") &&
      !IsSilentExtreme)
    return true;
  if (Held == "bool") return IsExchange;
  if (Held == "float") return IsExchange || IsSum;
  if (Held == "ulong") return IsSilentExtreme;
  return !IsSilentExtreme;
}

void judgeAtomic(Refusals &Out, const CallExpr *E, StringRef Name) {
  if (!Name.starts_with("atomic_")) return;
  const ASTContext &C = Out.S.Context;
  if (Name == "atomic_thread_fence")
    needVersion(Out, E->getExprLoc(), "'atomic_thread_fence'", 320);
  for (const Expr *Argument : E->arguments()) {
    const auto *Order = Argument->getType()->getAsTagDecl();
    Expr::EvalResult Value;
    if (Out.Version < 320 && Order && Order->getName() == "memory_order" &&
        !Argument->isValueDependent() && Argument->EvaluateAsInt(Value, C) &&
        Value.Val.getInt() != 0)
      needVersion(Out, Argument->getExprLoc(),
                  "a memory order other than 'memory_order_relaxed'", 320);
  }
  if (E->getNumArgs() == 0) return;
  const QualType First = writtenType(E->getArg(0));
  const QualType Object = First->isPointerType() ? First->getPointeeType()
                          : First->isArrayType()
                              ? C.getBaseElementType(First)
                              : First;
  const std::string Held = heldType(C, Object);
  if (Held.empty() || hasOperation(Held, Name)) return;
  refuse(Out, E->getExprLoc(),
         "no matching function for call to '" + Name.str() + "' with 'atomic<" +
             Held + ">'",
         Held == "ulong"
             ? "of read-modify-write operations, Metal has only "
               "'atomic_min_explicit' and 'atomic_max_explicit' for it"
         : Held == "float" ? "Metal has 'atomic_fetch_add_explicit', "
                             "'atomic_fetch_sub_explicit' and exchanges for it"
                           : "");
}

}  // namespace

void mtlc::judgeCall(Refusals &Out, const CallExpr *E, const FunctionDecl *F) {
  if (!F->getIdentifier() ||
      !Out.S.getSourceManager().isInSystemHeader(F->getLocation()))
    return;
  const auto *Space = dyn_cast<NamespaceDecl>(F->getDeclContext());
  if (!Space) return;
  const StringRef Inner = Space->getName();
  const bool IsByPrecision = Inner == "fast" || Inner == "precise";
  if (!IsByPrecision && Inner != "metal") return;
  const StringRef Name = F->getName();
  judgeOverloads(Out, E, Name, IsByPrecision ? Inner : "");
  judgePrecision(Out, E, Name, IsByPrecision ? Inner : "");
  judgeSimd(Out, E, F, Name);
  judgeAtomic(Out, E, Name);
}

void mtlc::judgeType(Refusals &Out, SourceLocation Loc, QualType T) {
  const ASTContext &C = Out.S.Context;
  const CXXRecordDecl *Class = libraryClass(C, T);
  if (!Class) return;
  if (Out.Version < 310 && numberOf(C, T).Kind == Bfloat) {
    needVersion(Out, Loc, "'bfloat'", 310);
    return;
  }
  const std::string Held = heldType(C, T);
  if (Held.empty()) return;
  if (Held == "float")
    needVersion(Out, Loc, "'atomic_float'", 300);
  else if (Held != "int" && Held != "uint" && Held != "bool" && Held != "ulong")
    refuse(Out, Loc, "'atomic<" + Held + ">' is no type of Metal",
           "an atomic holds an int, a uint, a bool, a ulong or a float");
}
