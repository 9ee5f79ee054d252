// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// annotations.cpp: reads Metal's attributes, which the rewriter has turned into
// annotations (source/source_attributes.c).
#include "clang/AST/ASTContext.h"
#include "clang/AST/Attr.h"
#include "compiler/frontend/parts.h"

using namespace clang;
using llvm::StringRef;

StringRef mtlc::annotationName(const AnnotateAttr *A) {
  StringRef Name = A->getAnnotation();
  return Name.consume_front("mettle.") ? Name : "";
}

const AnnotateAttr *mtlc::findAnnotation(const Decl *D, StringRef Name) {
  for (const AnnotateAttr *A : D->specific_attrs<AnnotateAttr>())
    if (annotationName(A) == Name) return A;
  return nullptr;
}

bool mtlc::evaluateIndex(const AnnotateAttr *A, const ASTContext &C,
                         int64_t &Value) {
  Expr::EvalResult Result;
  if (A->args_size() == 0 || (*A->args_begin())->isValueDependent() ||
      !(*A->args_begin())->EvaluateAsInt(Result, C))
    return false;
  Value = Result.Val.getInt().getExtValue();
  return true;
}
