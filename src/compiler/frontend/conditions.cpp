// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// conditions.cpp: finds which function constant, or which expression over
// several, decides whether an argument exists.
#include <string>

#include "clang/AST/ASTContext.h"
#include "clang/AST/Expr.h"
#include "compiler/frontend/parts.h"

using namespace clang;
using llvm::ArrayRef;
using llvm::StringRef;

namespace {

constexpr int MostDepth = 64;

const Expr *withoutWrapping(const Expr *E) {
  E = E->IgnoreParenImpCasts();
  if (const auto *Full = dyn_cast<FullExpr>(E))
    E = Full->getSubExpr()->IgnoreParenImpCasts();
  if (const auto *Address = dyn_cast<UnaryOperator>(E);
      Address && Address->getOpcode() == UO_AddrOf)
    E = Address->getSubExpr()->IgnoreParenImpCasts();
  return E;
}

// Returns the variable that E names, or null.
const VarDecl *variable(const Expr *E) {
  const auto *Ref = dyn_cast<DeclRefExpr>(E);
  return Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
}

int32_t position(const VarDecl *V, ArrayRef<VarDecl *> Constants) {
  for (size_t I = 0; V && I < Constants.size(); ++I)
    if (V->getCanonicalDecl() == Constants[I]) return static_cast<int32_t>(I);
  return -1;
}

// Returns the constant that E tests with is_function_constant_defined, or -1.
int32_t askedFor(const Expr *E, ArrayRef<VarDecl *> Constants) {
  const auto *Call = dyn_cast<CallExpr>(E);
  const FunctionDecl *Callee = Call ? Call->getDirectCallee() : nullptr;
  if (!Callee || Call->getNumArgs() != 1 || !Callee->getIdentifier() ||
      Callee->getName() != "__mettle_constant_defined")
    return -1;
  return position(variable(withoutWrapping(Call->getArg(0))), Constants);
}

const char *conditionOperator(BinaryOperatorKind Kind) {
  switch (Kind) {
    case BO_LAnd: return "&&";
    case BO_LOr: return "||";
    case BO_EQ: return "==";
    case BO_NE: return "!=";
    case BO_LT: return "<";
    case BO_LE: return "<=";
    case BO_GT: return ">";
    case BO_GE: return ">=";
    case BO_Add: return "+";
    case BO_Sub: return "-";
    case BO_Mul: return "*";
    case BO_Div: return "/";
    case BO_And: return "&";
    case BO_Or: return "|";
    case BO_Xor: return "^";
    default: return nullptr;
  }
}

class Writer {
 public:
  Writer(const ASTContext &C, ArrayRef<VarDecl *> Constants)
      : C(C), Constants(Constants) {}

  // Appends the value of E to Text; false if it cannot be written.
  bool write(const Expr *E, int Depth = 0) {
    if (Depth > MostDepth) return false;
    E = E->IgnoreParens();
    if (const auto *Full = dyn_cast<FullExpr>(E))
      return write(Full->getSubExpr(), Depth + 1);
    if (const auto *Cast = dyn_cast<CastExpr>(E))
      return writeCast(Cast, Depth + 1);
    const QualType T = E->getType();
    if (!T->isIntegralOrEnumerationType() && !isFloat(T)) return false;
    if (writeValue(E)) return true;
    if (const VarDecl *V = variable(E)) {
      const Expr *Init = V->getAnyInitializer();
      return Init && write(Init, Depth + 1);
    }
    if (const auto *Choice = dyn_cast<ConditionalOperator>(E))
      return write(Choice->getCond(), Depth + 1) &&
             write(Choice->getTrueExpr(), Depth + 1) &&
             write(Choice->getFalseExpr(), Depth + 1) && word("?");
    if (const auto *Unary = dyn_cast<UnaryOperator>(E))
      return writeUnary(Unary, Depth + 1);
    const auto *Binary = dyn_cast<BinaryOperator>(E);
    return Binary && writeBinary(Binary, Depth + 1);
  }

  std::string Text;

 private:
  bool isFloat(QualType T) const {
    return T->isSpecificBuiltinType(BuiltinType::Float) || isHalf(T);
  }
  static bool isHalf(QualType T) {
    return T->isSpecificBuiltinType(BuiltinType::Float16) || T->isHalfType();
  }

  bool word(const std::string &Word) {
    Text += Word + " ";
    return true;
  }

  // A number, or a constant's value or presence.
  bool writeValue(const Expr *E) {
    const bool IsFloat = isFloat(E->getType());
    Expr::EvalResult Value;
    if (!IsFloat && E->EvaluateAsInt(Value, C))
      return word(std::to_string(Value.Val.getInt().getExtValue()));
    llvm::APFloat Number(0.0f);
    if (IsFloat && E->EvaluateAsFloat(Number, C)) {
      bool IsLossy = false;
      Number.convert(llvm::APFloat::IEEEsingle(),
                     llvm::APFloat::rmNearestTiesToEven, &IsLossy);
      return word("x" + std::to_string(Number.bitcastToAPInt().getZExtValue()));
    }
    if (const int32_t At = askedFor(E, Constants); At >= 0)
      return word("d" + std::to_string(At));
    const int32_t At = position(variable(E), Constants);
    return At >= 0 && word((IsFloat ? "f" : "c") + std::to_string(At));
  }

  bool writeCast(const CastExpr *E, int Depth) {
    if (!write(E->getSubExpr(), Depth)) return false;
    switch (E->getCastKind()) {
      case CK_FloatingToBoolean: return word("x0") && word(".!=");
      case CK_FloatingToIntegral: return word(".to");
      case CK_IntegralToFloating: return !isHalf(E->getType()) && word(".from");
      case CK_IntegralToBoolean: return word("0") && word("!=");
      case CK_FloatingCast: return !isHalf(E->getType());
      default: return true;
    }
  }

  bool writeUnary(const UnaryOperator *E, int Depth) {
    switch (E->getOpcode()) {
      case UO_LNot: return write(E->getSubExpr(), Depth) && word("!");
      case UO_AddrOf:
      case UO_Plus: return write(E->getSubExpr(), Depth);
      case UO_Minus: {
        // -0.0 - x and 0 - x are negations.
        const bool IsFloat = isFloat(E->getType());
        return word(IsFloat ? "x2147483648" : "0") &&
               write(E->getSubExpr(), Depth) && word(IsFloat ? ".-" : "-");
      }
      default: return false;
    }
  }

  // Halves are compared, but not added up: that would round to half.
  bool writeBinary(const BinaryOperator *E, int Depth) {
    const char *const Operator = conditionOperator(E->getOpcode());
    const bool OfFloats = isFloat(E->getLHS()->getType());
    if (!Operator || isHalf(E->getType()) ||
        (!OfFloats && E->getOpcode() == BO_Div))
      return false;
    return write(E->getLHS(), Depth) && write(E->getRHS(), Depth) &&
           word((OfFloats ? "." : "") + std::string(Operator));
  }

  const ASTContext &C;
  ArrayRef<VarDecl *> Constants;
};

}  // namespace

int32_t mtlc::enablingConstant(const Expr *E, ArrayRef<VarDecl *> Constants) {
  for (int Depth = 0; E && Depth < MostDepth; ++Depth) {
    E = withoutWrapping(E);
    if (const int32_t At = askedFor(E, Constants); At >= 0)
      return MTLI_ENABLED_IF_DEFINED(At);
    const VarDecl *V = variable(E);
    if (const int32_t At = position(V, Constants); At >= 0)
      return V->getType()->isBooleanType() ? At : -1;
    E = V ? V->getAnyInitializer() : nullptr;
  }
  return -1;
}

std::string mtlc::conditionText(const Expr *E, const ASTContext &C,
                                ArrayRef<VarDecl *> Constants) {
  E = withoutWrapping(E);
  Writer W(C, Constants);
  if (!W.write(E)) return "";
  return W.Text + (E->getType()->isRealFloatingType() ? "x0 .!= " : "");
}
