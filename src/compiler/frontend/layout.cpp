// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// layout.cpp: how an argument buffer's struct lies in memory and which
// [[id(n)]] its members have, for argument encoders: mtli_parameter.layout.
#include <string>

#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/AST/RecordLayout.h"
#include "clang/Sema/Sema.h"
#include "compiler/frontend/parts.h"

using namespace clang;
using llvm::StringRef;

namespace {

// Structs may point to each other, even in rings; no encoder is made for one
// that lies this deep.
constexpr int MostNesting = 4;
constexpr int64_t MostEntries = 4096;

class LayoutWriter {
 public:
  LayoutWriter(Sema &S, int Nesting) : S(S), C(S.Context), Nesting(Nesting) {}

  // Writes the members of T, called Name, at Offset, from identifier Id on;
  // returns the next identifier.
  int64_t add(QualType T, const std::string &Name, int64_t Offset, int64_t Id) {
    int64_t Count = 1;
    const QualType Element = elementOf(T, Count);
    const CXXRecordDecl *Class = Element->getAsCXXRecordDecl();
    const bool IsStruct =
        Class && !isLibrary(Class) && !Class->isUnion() && isComplete(Element);
    if (!IsStruct) {
      addEntry(Element, Name, Offset, Id, Count);
      return Id + Count;
    }
    for (int64_t I = 0; I < Count && Entries < MostEntries; ++I)
      Id = addMembers(
          Class, Count == 1 ? Name : Name + "[" + std::to_string(I) + "]",
          Offset + I * sizeOf(Element), Id, Id);
    return Id;
  }

  std::string Text;
  bool HasResources = false;  // or identifiers: it is an argument buffer

 private:
  static bool isLibrary(const CXXRecordDecl *Class) {
    return StringRef(Class->getQualifiedNameAsString()).starts_with("metal::");
  }

  bool isComplete(QualType T) {
    return S.isCompleteType(SourceLocation(), T);
  }

  int64_t sizeOf(QualType T) const {
    return C.getTypeSizeInChars(T).getQuantity();
  }

  // Takes arrays off, C's and the library's.
  QualType elementOf(QualType T, int64_t &Count) const {
    for (T = T.getCanonicalType();;) {
      if (const ConstantArrayType *Array = C.getAsConstantArrayType(T)) {
        Count *= Array->getZExtSize();
        T = Array->getElementType().getCanonicalType();
        continue;
      }
      const auto *Record = dyn_cast_or_null<ClassTemplateSpecializationDecl>(
          T->getAsCXXRecordDecl());
      if (!Record || !isLibrary(Record) || Record->getName() != "array")
        return T;
      Count *= Record->getTemplateArgs()[1].getAsIntegral().getExtValue();
      T = Record->getTemplateArgs()[0].getAsType().getCanonicalType();
    }
  }

  // The members of the bases stand in front of a struct's own, under names and
  // identifiers of the same kind.
  //
  //   First  what the [[id(n)]] of the members count from
  int64_t addMembers(const CXXRecordDecl *Class, const std::string &Name,
                     int64_t Offset, int64_t First, int64_t Id) {
    const ASTRecordLayout &Layout = C.getASTRecordLayout(Class);
    for (const CXXBaseSpecifier &Base : Class->bases()) {
      const CXXRecordDecl *Parent = Base.getType()->getAsCXXRecordDecl();
      if (!Parent || Base.isVirtual()) continue;
      Id = addMembers(Parent->getDefinition(), Name,
                      Offset + Layout.getBaseClassOffset(Parent).getQuantity(),
                      First, Id);
    }
    for (const FieldDecl *F : Class->fields()) {
      if (F->isBitField()) continue;
      const int64_t Own = idOf(F);
      if (Own >= 0) Id = First + Own;
      HasResources |= Own >= 0;
      Id = add(F->getType(), joined(Name, F->getName()),
               Offset + Layout.getFieldOffset(F->getFieldIndex()) /
                            C.getCharWidth(),
               Id);
    }
    return Id;
  }

  // A member's path; that of an unnamed struct is its owner's.
  static std::string joined(const std::string &Owner, StringRef Member) {
    if (Owner.empty() || Member.empty()) return Owner + Member.str();
    return Owner + "." + Member.str();
  }

  // The n of [[id(n)]], or -1.
  int64_t idOf(const FieldDecl *F) const {
    for (const AnnotateAttr *A : F->specific_attrs<AnnotateAttr>()) {
      Expr::EvalResult Value;
      if (A->getAnnotation() == "mettle.id" && A->args_size() != 0 &&
          !(*A->args_begin())->isValueDependent() &&
          (*A->args_begin())->EvaluateAsInt(Value, C))
        return Value.Val.getInt().getExtValue();
    }
    return -1;
  }

  char kindOf(QualType T) const {
    if (T->isPointerType() || T->isReferenceType()) return 'b';
    const CXXRecordDecl *Class = T->getAsCXXRecordDecl();
    if (!Class || !isLibrary(Class)) return 'c';
    const StringRef Name = Class->getName();
    if (Name == "sampler") return 's';
    if (Name == "visible_function_table") return 'f';
    if (Name == "command_buffer") return 'i';
    if (Name == "compute_pipeline_state") return 'p';
    return Name.starts_with("texture") || Name.starts_with("depth") ? 't' : 'c';
  }

  void addEntry(QualType T, const std::string &Name, int64_t Offset, int64_t Id,
                int64_t Count) {
    const char Kind = kindOf(T);
    HasResources |= Kind != 'c';
    ++Entries;
    // A reference is a pointer in memory; its type's size is the target's.
    const int64_t Size = T->isReferenceType() ? int64_t(sizeof(void *))
                         : isComplete(T)      ? sizeOf(T)
                                              : 0;
    llvm::raw_string_ostream(Text) << ' ' << Id << ' ' << Offset << ' ' << Kind
                                   << ' ' << Count << ' ' << Size << ' '
                                   << (Name.empty() ? "-" : Name);
    if (Kind != 'b') return;
    const std::string Inner =
        mtlc::argumentLayout(S, T->getPointeeType(), Nesting + 1);
    if (!Inner.empty()) Text += " { " + Inner + " }";
  }

  Sema &S;
  ASTContext &C;
  int Nesting;
  int64_t Entries = 0;
};

}  // namespace

std::string mtlc::argumentLayout(Sema &S, QualType T, int Nesting) {
  if (Nesting > MostNesting || !T->isRecordType() ||
      !S.isCompleteType(SourceLocation(), T))
    return "";
  LayoutWriter Writer(S, Nesting);
  Writer.add(T.getUnqualifiedType(), "", 0, 0);
  if (!Writer.HasResources) return "";
  return std::to_string(S.Context.getTypeSizeInChars(T).getQuantity()) + " " +
         std::to_string(S.Context.getTypeAlignInChars(T).getQuantity()) +
         Writer.Text;
}
