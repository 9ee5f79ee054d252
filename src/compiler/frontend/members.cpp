// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// members.cpp: the members of the struct that an argument points at,
// with MSL's layout, for who fills it by name: mtl_argument.members.
#include <string>
#include <vector>

#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/AST/RecordLayout.h"
#include "clang/Sema/Sema.h"
#include "code/container_format.h"
#include "compiler/frontend/parts.h"
#include "compiler/frontend/reflect.h"

using namespace clang;
using llvm::StringRef;

namespace {

class MemberReader {
 public:
  MemberReader(Sema &S, mtli_arena &Arena) : S(S), C(S.Context), Arena(Arena) {}

  // What T has: its members, or itself without a name if it is a matrix or an
  // array.
  llvm::ArrayRef<mtl_member> read(QualType T) {
    if (!isComplete(T)) return {};
    if (const CXXRecordDecl *Class = structOf(T)) return membersOf(Class, 1);
    std::vector<mtl_member> Own;
    if (mtlc::elementType(T).Type == MTL_TYPE_NONE && !T->isFunctionType()) {
      add(Own, T, "", 0, 1);
      if (!Own.empty() && Own[0].type == MTL_TYPE_NONE &&
          Own[0].member_count == 0)
        Own.clear();  // a pointer, say
    }
    return TooMany ? llvm::ArrayRef<mtl_member>() : kept(Own);
  }

 private:
  // More of them than anybody would name one by one.
  static constexpr size_t MostMembers = 4096;

  bool isComplete(QualType T) {
    return S.isCompleteType(SourceLocation(), T);
  }

  static const ClassTemplateSpecializationDecl *libraryTemplate(
      QualType T, StringRef Name) {
    const auto *Record = dyn_cast_or_null<ClassTemplateSpecializationDecl>(
        T->getAsCXXRecordDecl());
    const bool IsIt =
        Record && Record->getName() == Name &&
        StringRef(Record->getQualifiedNameAsString()).starts_with("metal::");
    return IsIt ? Record : nullptr;
  }

  // The client's class that T is, or null.
  const CXXRecordDecl *structOf(QualType T) {
    const CXXRecordDecl *Class = T.getCanonicalType()->getAsCXXRecordDecl();
    if (!Class || !isComplete(T) ||
        mtlc::elementType(T).Type != MTL_TYPE_NONE ||
        StringRef(Class->getQualifiedNameAsString()).starts_with("metal::"))
      return nullptr;
    return Class->getDefinition();
  }

  // What T is an array of, C's or the library's; null if it is none.
  QualType elementOf(QualType T, uint64_t &Count) const {
    if (const ConstantArrayType *Array = C.getAsConstantArrayType(T)) {
      Count = Array->getZExtSize();
      return Array->getElementType();
    }
    if (const auto *Array = C.getAsIncompleteArrayType(T)) {
      Count = 0;
      return Array->getElementType();
    }
    if (const auto *Record = libraryTemplate(T, "array")) {
      Count = Record->getTemplateArgs()[1].getAsIntegral().getZExtValue();
      return Record->getTemplateArgs()[0].getAsType();
    }
    return QualType();
  }

  const char *keep(StringRef Text) {
    return mtli_arena_copy_text(&Arena, Text.data(), Text.size());
  }

  llvm::ArrayRef<mtl_member> kept(const std::vector<mtl_member> &Members) {
    auto *Copy = static_cast<mtl_member *>(
        mtli_arena_allocate(&Arena, Members.size() * sizeof(mtl_member)));
    std::copy(Members.begin(), Members.end(), Copy);
    return {Copy, Members.size()};
  }

  llvm::ArrayRef<mtl_member> membersOf(const CXXRecordDecl *Class, int Depth) {
    std::vector<mtl_member> Members;
    addMembers(Members, Class, 0, Depth);
    return TooMany ? llvm::ArrayRef<mtl_member>() : kept(Members);
  }

  void addMembers(std::vector<mtl_member> &Members, const CXXRecordDecl *Class,
                  uint64_t Offset, int Depth) {
    const ASTRecordLayout &Layout = C.getASTRecordLayout(Class);
    for (const CXXBaseSpecifier &Base : Class->bases())
      if (const CXXRecordDecl *Parent = Base.getType()->getAsCXXRecordDecl();
          Parent && !Base.isVirtual())
        addMembers(Members, Parent->getDefinition(),
                   Offset + Layout.getBaseClassOffset(Parent).getQuantity(),
                   Depth);
    for (const FieldDecl *F : Class->fields()) {
      const uint64_t Bits = Layout.getFieldOffset(F->getFieldIndex());
      addField(Members, F, Offset + Bits / C.getCharWidth(), Depth);
    }
  }

  void addField(std::vector<mtl_member> &Members, const FieldDecl *F,
                uint64_t Offset, int Depth) {
    if (F->isAnonymousStructOrUnion()) {
      addMembers(Members, F->getType()->getAsCXXRecordDecl()->getDefinition(),
                 Offset, Depth);
      return;
    }
    if (F->isUnnamedBitField()) return;
    if (!F->isBitField()) {
      add(Members, F->getType(), F->getName(), Offset, Depth);
      return;
    }
    const std::string Type = mtlc::writtenName(C, F->getType()) + " : " +
                             std::to_string(F->getBitWidthValue(C));
    append(Members, {.name = keep(F->getName()),
                     .type_name = keep(Type),
                     .columns = 1,
                     .offset_bytes = uint32_t(Offset),
                     .array_length = 1});
  }

  void add(std::vector<mtl_member> &Members, QualType T, StringRef Name,
           uint64_t Offset, int Depth) {
    uint64_t Count = 1, Ignored;
    const QualType Found = elementOf(T, Count);
    const QualType Element = Found.isNull() ? T : Found;
    const uint64_t Size = Element->isReferenceType()
                              ? sizeof(void *)
                              : C.getTypeSizeInChars(Element).getQuantity();
    mtl_member Member = {.name = keep(Name),
                         .columns = 1,
                         .offset_bytes = uint32_t(Offset),
                         .size_bytes = uint32_t(Size),
                         .array_length = uint32_t(Count)};
    describe(Member, Element, Depth);
    if (!Found.isNull() && !elementOf(Element, Ignored).isNull() &&
        Depth < CONTAINER_MEMBER_DEPTH) {
      std::vector<mtl_member> Inner;
      add(Inner, Element, "", 0, Depth + 1);
      const llvm::ArrayRef<mtl_member> Own = kept(Inner);
      Member.members = Own.data();
      Member.member_count = uint32_t(Own.size());
    }
    TooMany |= Offset + Size * Count > UINT32_MAX;
    append(Members, Member);
  }

  void describe(mtl_member &Member, QualType T, int Depth) {
    mtlc::ElementType E = mtlc::elementType(T);
    const char *Plain =
        E.IsPlain ? mtlc_type_name(E.Type, E.Components) : nullptr;
    Member.type_name = Plain ? Plain : keep(mtlc::writtenName(C, T));
    if (const auto *Matrix = libraryTemplate(T, "matrix")) {
      const TemplateArgumentList &Args = Matrix->getTemplateArgs();
      E = mtlc::elementType(Args[0].getAsType());
      Member.columns = uint32_t(Args[1].getAsIntegral().getZExtValue());
      E.Components = uint32_t(Args[2].getAsIntegral().getZExtValue());
    } else if (const auto *Enum = T->getAs<EnumType>()) {
      E = mtlc::elementType(Enum->getDecl()->getIntegerType());
    }
    if (E.Components > 4) E = {};  // wider vectors have no name here
    Member.type = E.Type;
    Member.components = E.Type == MTL_TYPE_NONE ? 0 : E.Components;
    const CXXRecordDecl *Class = structOf(T);
    if (!Class || T->isReferenceType()) return;
    if (Depth >= CONTAINER_MEMBER_DEPTH) {
      TooMany = true;
      return;
    }
    const llvm::ArrayRef<mtl_member> Own = membersOf(Class, Depth + 1);
    Member.members = Own.data();
    Member.member_count = uint32_t(Own.size());
  }

  void append(std::vector<mtl_member> &Members, const mtl_member &Member) {
    TooMany |= ++Total > MostMembers;
    if (!TooMany) Members.push_back(Member);
  }

  Sema &S;
  ASTContext &C;
  mtli_arena &Arena;
  size_t Total = 0;
  bool TooMany = false;
};

}  // namespace

llvm::ArrayRef<mtl_member> mtlc::structMembers(Sema &S, QualType T,
                                               mtli_arena &Arena) {
  return MemberReader(S, Arena).read(T.getUnqualifiedType());
}

bool mtlc::endsOpen(const ASTContext &C, QualType T) {
  if (const ConstantArrayType *Array = C.getAsConstantArrayType(T))
    return Array->getZExtSize() <= 1;
  if (T->isIncompleteArrayType()) return true;
  const RecordDecl *Record = T->getAsRecordDecl();
  Record = Record ? Record->getDefinition() : nullptr;
  if (!Record || Record->isUnion() || Record->field_empty()) return false;
  const FieldDecl *Last = nullptr;
  for (const FieldDecl *F : Record->fields()) Last = F;
  return endsOpen(C, Last->getType());
}
