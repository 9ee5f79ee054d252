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

// What an argument counts as in the choice between overloads: the types that
// functions are overloaded for, in the order of kinds, and others.
enum NumberKind {
  Char,
  Uchar,
  Short,
  Ushort,
  Int,
  Uint,
  Long,
  Ulong,
  Half,
  Float,
  KindCount,
  Bool = KindCount,
  Bfloat,
  NotANumber,
};

constexpr const char *KindNames[KindCount] = {
    "char", "uchar", "short", "ushort", "int",
    "uint", "long",  "ulong", "half",   "float"};

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

NumberKind kindOf(const BuiltinType *T) {
  switch (T->getKind()) {
    case BuiltinType::Bool: return Bool;
    case BuiltinType::Char_S:
    case BuiltinType::SChar: return Char;
    case BuiltinType::Char_U:
    case BuiltinType::UChar: return Uchar;
    case BuiltinType::Short: return Short;
    case BuiltinType::UShort: return Ushort;
    case BuiltinType::Int: return Int;
    case BuiltinType::UInt: return Uint;
    case BuiltinType::Long: return Long;
    case BuiltinType::ULong: return Ulong;
    case BuiltinType::Half:
    case BuiltinType::Float16: return Half;
    case BuiltinType::Float: return Float;
    default: return NotANumber;
  }
}

Number numberOf(const ASTContext &C, QualType T) {
  Number Result;
  PrintingPolicy Policy(C.getLangOpts());
  Policy.SuppressTagKeyword = true;
  T = T.getNonReferenceType();
  if (T->isEnumeralType()) return Result;
  Result.Name = inMetalsWords(T.getUnqualifiedType().getAsString(Policy));
  if (const auto *B = T->getAs<BuiltinType>()) Result.Kind = kindOf(B);
  if (Result.Kind < KindCount) Result.Name = KindNames[Result.Kind];
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

// The components of a vector or a scalar; 0 for anything else.
int componentsOf(const ASTContext &C, QualType T) {
  const Number N = numberOf(C, T);
  if (!N.IsVector) return N.Kind == NotANumber ? 0 : 1;
  const auto *Vector = cast<ClassTemplateSpecializationDecl>(
      T.getNonReferenceType().getCanonicalType()->getAsCXXRecordDecl());
  return static_cast<int>(
      Vector->getTemplateArgs()[1].getAsIntegral().getExtValue());
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
      "trunc", "mix",   "saturate", "sign", "smoothstep", "step",
      "isfinite", "isinf", "isnan", "isnormal", "isordered", "isunordered",
      "signbit"};
  return Names.contains(Name);
}

// Functions that have overloads for integers too.
bool isNumberFunction(StringRef Name) {
  static const llvm::StringSet<> Names = {"min",  "max",  "clamp",
                                          "min3", "max3", "median3"};
  return Names.contains(Name);
}

// Functions of integers alone.
bool isIntegerFunction(StringRef Name) {
  static const llvm::StringSet<> Names = {"absdiff", "addsat", "hadd",
                                          "madhi",   "madsat", "mulhi",
                                          "rhadd",   "subsat"};
  return Names.contains(Name);
}

std::string listTypes(llvm::ArrayRef<Number> Numbers) {
  std::string Text;
  for (const Number &N : Numbers)
    Text += (Text.empty() ? "" : ", ") + N.Name;
  return Text;
}

// How an argument converts to a parameter, as C++ ranks it.
enum ConversionRank { Exact, Promotion, Conversion, Impossible };

ConversionRank rankOf(NumberKind From, NumberKind To) {
  if (From == To) return Exact;
  // A bfloat does not convert implicitly to a narrower number or an integer.
  if (From == Bfloat) return To == Float ? Conversion : Impossible;
  const bool IsPromoted = From < Int || From == Bool;
  return IsPromoted && To == Int ? Promotion : Conversion;
}

// True if a function with parameters of the type A is the better choice.
bool isBetter(llvm::ArrayRef<Number> Numbers, NumberKind A, NumberKind B) {
  bool IsBetter = false;
  for (const Number &N : Numbers) {
    if (rankOf(N.Kind, A) > rankOf(N.Kind, B)) return false;
    IsBetter |= rankOf(N.Kind, A) < rankOf(N.Kind, B);
  }
  return IsBetter;
}

// True if one of the overloads for First to Last, each with parameters of one
// type, is better than all others.
bool hasBest(llvm::ArrayRef<Number> Numbers, int First, int Last) {
  for (int A = First; A <= Last; ++A) {
    bool IsBest = true;
    for (int B = First; B <= Last; ++B)
      IsBest &= A == B || isBetter(Numbers, NumberKind(A), NumberKind(B));
    if (IsBest) return true;
  }
  return false;
}

// Judges overloads that are all equally good, or none of which fits.
void judgeOverloads(Refusals &Out, const CallExpr *E, StringRef Name,
                    StringRef Space) {
  const bool TakesFloats = isFloatFunction(Name);
  const bool TakesIntegers = isIntegerFunction(Name);
  // fast:: and precise:: know float alone: anything scalar becomes one.
  if (!Space.empty() ||
      !(TakesFloats || TakesIntegers || isNumberFunction(Name)))
    return;
  llvm::SmallVector<Number, 3> Numbers;
  for (const Expr *Argument : E->arguments()) {
    Numbers.push_back(numberOf(Out.S.Context, writtenType(Argument)));
    if (Numbers.back().IsVector || Numbers.back().Kind == NotANumber) return;
  }
  if (Numbers.empty() || hasBest(Numbers, TakesFloats ? Half : Char,
                                 TakesIntegers ? Ulong : Float))
    return;
  const std::string Types = TakesFloats     ? "half and for float"
                            : TakesIntegers ? "each type of integer"
                                            : "each type of number";
  refuse(Out, E->getExprLoc(),
         "call to '" + Name.str() + "' is ambiguous for (" +
             listTypes(Numbers) + ")",
         "Metal has it for " + Types + ": convert the " +
             (Numbers.size() == 1 ? "argument" : "arguments") +
             " to one of them");
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
  if (N.Kind == Long || N.Kind == Ulong)
    refuse(Out, E->getExprLoc(),
           "no matching function for call to '" + Name.str() + "' with '" +
               N.Name + "'",
           "Metal has no such function for integers of 64 bits: exchange the "
           "two halves as a 'uint2'");
}

// The type that an atomic holds, by its name in the atomic functions; "" if it
// is no atomic.
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

// True if Metal has an operation for an atomic type, besides load and store.
bool hasOperation(StringRef Held, StringRef Operation) {
  const bool IsExchange = Operation.contains("exchange");
  const bool IsSilentExtreme = Operation == "atomic_min_explicit" ||
                               Operation == "atomic_max_explicit";
  const bool IsSum = Operation == "atomic_fetch_add_explicit" ||
                     Operation == "atomic_fetch_sub_explicit";
  if (Operation.contains("_strong")) return false;
  if (Held == "ulong") return IsSilentExtreme;
  if (!IsExchange && !Operation.starts_with("atomic_fetch_") &&
      !IsSilentExtreme)
    return true;
  if (Held == "bool") return IsExchange;
  if (Held == "float") return IsExchange || IsSum;
  return !IsSilentExtreme;
}

// "" if Metal has atomics of such a value in this memory; else the name of the
// memory that they need.
std::string memoryOfAtomics(StringRef Held, LangAS Space) {
  if (Space == LangAS::sycl_global) return "";
  if (Space == LangAS::sycl_local)
    return Held == "float" ? "an atomic_float is in device memory" : "";
  return "an atomic is in device or threadgroup memory";
}

// The type of the object that an argument is, or points to, as written.
QualType objectType(const ASTContext &C, const Expr *Argument) {
  const QualType T = writtenType(Argument);
  return T->isPointerType() ? T->getPointeeType()
         : T->isArrayType() ? C.getBaseElementType(T)
                            : T;
}

LangAS addressSpace(const ASTContext &C, QualType T) {
  return C.getBaseElementType(T).getAddressSpace();
}

// Metal declares what these give besides their value as the thread's.
void judgeOutput(Refusals &Out, const CallExpr *E, StringRef Name) {
  const bool HasOutput = Name == "frexp" || Name == "modf" ||
                         Name == "sincos" ||
                         Name.starts_with("atomic_compare_exchange_");
  if (!HasOutput || E->getNumArgs() < 2) return;
  const ASTContext &C = Out.S.Context;
  const LangAS Space = addressSpace(C, objectType(C, E->getArg(1)));
  if (Space == LangAS::Default) return;
  refuse(Out, E->getArg(1)->getExprLoc(),
         "no matching function for call to '" + Name.str() +
             "': its second parameter is in the thread address space, the "
             "argument in '" +
             spaceName(Space) + "'",
         "give it a variable of the thread's, and copy that");
}

// Matrices of a simdgroup come from and go to the memory of several threads.
void judgeTile(Refusals &Out, const CallExpr *E, StringRef Name) {
  if ((Name != "simdgroup_load" && Name != "simdgroup_store") ||
      E->getNumArgs() < 2)
    return;
  const ASTContext &C = Out.S.Context;
  const LangAS Space = addressSpace(C, objectType(C, E->getArg(1)));
  if (Space == LangAS::sycl_global || Space == LangAS::sycl_local) return;
  refuse(Out, E->getArg(1)->getExprLoc(),
         "no matching function for call to '" + Name.str() +
             "': a matrix is in device or threadgroup memory",
         "");
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
  const QualType Object = objectType(C, E->getArg(0));
  const std::string Held = heldType(C, Object);
  if (Held.empty()) return;
  const std::string Memory = memoryOfAtomics(Held, addressSpace(C, Object));
  if (!Memory.empty())
    refuse(Out, E->getExprLoc(),
           "no matching function for call to '" + Name.str() + "': " + Memory,
           "");
  if (hasOperation(Held, Name)) return;
  refuse(Out, E->getExprLoc(),
         "no matching function for call to '" + Name.str() + "' with 'atomic<" +
             Held + ">'",
         Held == "ulong"
             ? "Metal has only 'atomic_min_explicit' and "
               "'atomic_max_explicit' for it"
         : Held == "float" ? "Metal has 'atomic_fetch_add_explicit', "
                             "'atomic_fetch_sub_explicit' and exchanges for it"
         : Name.contains("_strong")
             ? "Metal has 'atomic_compare_exchange_weak_explicit'"
             : "");
}

}  // namespace

void mtlc::needVersion(Refusals &Out, SourceLocation Loc,
                       const std::string &What, int Version) {
  if (Out.Version < Version)
    refuse(Out, Loc, What + " needs Metal " + versionText(Version),
           "this is compiled as Metal " + versionText(Out.Version) +
               ": --std metal" + versionText(Version) +
               " or a later one has it");
}

// Functions of the library's classes that came later than these.
static void judgeMethod(Refusals &Out, const CallExpr *E,
                        const CXXMethodDecl *Method) {
  const StringRef Class = Method->getParent()->getName();
  if (Class == "os_log")
    needVersion(Out, E->getExprLoc(), "logging", 320);
  else if (Class.starts_with("texture") &&
           Method->getName().starts_with("atomic_"))
    needVersion(Out, E->getExprLoc(), "'" + Method->getName().str() + "'", 310);
}

void mtlc::judgeCall(Refusals &Out, const CallExpr *E, const FunctionDecl *F) {
  if (!F->getIdentifier() ||
      !Out.S.getSourceManager().isInSystemHeader(F->getLocation()))
    return;
  if (const auto *Method = dyn_cast<CXXMethodDecl>(F))
    judgeMethod(Out, E, Method);
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
  judgeOutput(Out, E, Name);
  judgeTile(Out, E, Name);
}

void mtlc::judgeComponents(Refusals &Out, const CXXConstructExpr *E) {
  if (E->getNumArgs() < 2 || E->isListInitialization()) return;
  const ASTContext &C = Out.S.Context;
  const int Wanted = componentsOf(C, E->getType());
  if (Wanted < 2) return;
  int Given = 0;
  for (const Expr *Argument : E->arguments()) {
    const int Components = componentsOf(
        C, Argument->IgnoreUnlessSpelledInSource()->getType());
    if (Components == 0) return;
    Given += Components;
  }
  if (Given < Wanted)
    refuse(Out, E->getBeginLoc(),
           "no matching constructor for initialization of '" +
               numberOf(C, E->getType()).Name + "': " + std::to_string(Given) +
               " of " + std::to_string(Wanted) + " components",
           "give a value for each component, or one for all");
}

void mtlc::judgeType(Refusals &Out, SourceLocation Loc, QualType T) {
  const ASTContext &C = Out.S.Context;
  const CXXRecordDecl *Class = libraryClass(C, T);
  if (!Class) return;
  if (Out.Version < 310 && numberOf(C, T).Kind == Bfloat) {
    needVersion(Out, Loc, "'bfloat'", 310);
    return;
  }
  if (Class->getName() == "os_log") {
    needVersion(Out, Loc, "'os_log'", 320);
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
