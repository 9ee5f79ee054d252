// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// spaces.cpp: tells pointers and references that are declared `thread`, which
// is no word of clang's: the text around the type is looked at. A parameter
// `T *` of a template may be of any space, `thread T *` of no other.
#include "clang/AST/TypeLoc.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Sema/Sema.h"
#include "compiler/frontend/parts.h"

using namespace clang;
using llvm::StringRef;

namespace {

using namespace mtlc;

// The type without qualifiers, lengths of arrays and parentheses.
TypeLoc withoutWrapping(TypeLoc T) {
  for (;;) {
    T = T.getUnqualifiedLoc();
    if (const auto Parens = T.getAs<ParenTypeLoc>())
      T = Parens.getInnerLoc();
    else if (const auto Array = T.getAs<ArrayTypeLoc>())
      T = Array.getElementLoc();
    else
      return T;
  }
}

// The words of a declaration, as they are in the source.
class DeclarationText {
 public:
  explicit DeclarationText(const SourceManager &SM) : SM(SM) {}

  // True if `thread` is a word between Begin and End, or a qualifier in front of
  // Begin.
  bool saysThread(SourceLocation Begin, SourceLocation End) const {
    if (Begin.isInvalid() || Begin.isMacroID() || End.isMacroID()) return false;
    const auto [File, First] = SM.getDecomposedLoc(Begin);
    const auto [Other, Last] = SM.getDecomposedLoc(End);
    if (File != Other || Last < First) return false;
    const StringRef Text = SM.getBufferData(File);
    return isIn(Text.slice(First, Last)) || isBefore(Text.take_front(First));
  }

 private:
  static bool isWordPart(char C) {
    return llvm::isAlnum(C) || C == '_';
  }

  bool isIn(StringRef Text) const {
    while (!Text.empty()) {
      const StringRef Word = Text.take_while(isWordPart);
      if (Word == "thread") return true;
      Text = Text.drop_front(Word.empty() ? 1 : Word.size());
    }
    return false;
  }

  // Looks backwards over qualifiers and specifiers.
  bool isBefore(StringRef Text) const {
    for (;;) {
      Text = Text.rtrim();
      size_t Size = 0;
      while (Size < Text.size() && isWordPart(Text[Text.size() - Size - 1]))
        ++Size;
      const StringRef Word = Text.take_back(Size);
      if (Word == "thread") return true;
      if (!llvm::is_contained({"const", "volatile", "static", "inline",
                               "constexpr", "struct", "enum", "typename",
                               "friend"},
                              Word))
        return false;
      Text = Text.drop_back(Size);
    }
  }

  const SourceManager &SM;
};

}  // namespace

bool mtlc::saysThread(Sema &S, TypeLoc T) {
  const TypeLoc Bare = withoutWrapping(T);
  SourceLocation Sign;
  if (const auto Pointer = Bare.getAs<PointerTypeLoc>())
    Sign = Pointer.getStarLoc();
  else if (const auto Reference = Bare.getAs<LValueReferenceTypeLoc>())
    Sign = Reference.getAmpLoc();
  return Sign.isValid() &&
         DeclarationText(S.getSourceManager()).saysThread(T.getBeginLoc(), Sign);
}
