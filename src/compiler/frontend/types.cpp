// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// types.cpp: classifies the types of parameters and members: scalars, vectors,
// address spaces, and the resources that a host binds.
#include <string>

#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclTemplate.h"
#include "compiler/frontend/parts.h"
#include "compiler/frontend/reflect.h"

using namespace clang;
using llvm::StringRef;

namespace {

using namespace mtlc;

mtl_data_type scalarType(const BuiltinType *T) {
  switch (T->getKind()) {
    case BuiltinType::Bool: return MTL_TYPE_BOOL;
    case BuiltinType::SChar:
    case BuiltinType::Char_S:
    case BuiltinType::Char_U: return MTL_TYPE_CHAR;
    case BuiltinType::UChar: return MTL_TYPE_UCHAR;
    case BuiltinType::Short: return MTL_TYPE_SHORT;
    case BuiltinType::UShort: return MTL_TYPE_USHORT;
    case BuiltinType::Int: return MTL_TYPE_INT;
    case BuiltinType::UInt: return MTL_TYPE_UINT;
    case BuiltinType::Long:
    case BuiltinType::LongLong: return MTL_TYPE_LONG;
    case BuiltinType::ULong:
    case BuiltinType::ULongLong: return MTL_TYPE_ULONG;
    case BuiltinType::Half:
    case BuiltinType::Float16: return MTL_TYPE_HALF;
    case BuiltinType::BFloat16: return MTL_TYPE_BFLOAT;
    case BuiltinType::Float: return MTL_TYPE_FLOAT;
    default: return MTL_TYPE_NONE;
  }
}

}  // namespace

mtlc::ElementType mtlc::elementType(QualType T) {
  ElementType E;
  T = T.getCanonicalType();
  if (const auto *B = T->getAs<BuiltinType>()) {
    E.Type = scalarType(B);
    E.Components = E.Type != MTL_TYPE_NONE;
    E.IsPlain = true;
    return E;
  }
  const CXXRecordDecl *Class = T->getAsCXXRecordDecl();
  if (Class && Class->getQualifiedNameAsString() == "bfloat") {
    E.Type = MTL_TYPE_BFLOAT;
    E.Components = 1;
    E.IsPlain = true;
    return E;
  }
  const auto *Record = dyn_cast_or_null<ClassTemplateSpecializationDecl>(Class);
  if (!Record ||
      !StringRef(Record->getQualifiedNameAsString()).starts_with("metal::"))
    return E;
  const StringRef Name = Record->getName();
  const TemplateArgumentList &Args = Record->getTemplateArgs();
  const bool IsVector = Name == "vec" || Name == "packed_vec";
  if ((!IsVector && Name != "atomic") || Args.size() == 0 ||
      Args[0].getKind() != TemplateArgument::Type)
    return E;
  E = elementType(Args[0].getAsType());
  E.IsPlain = Name == "vec";
  if (IsVector && Args.size() > 1 &&
      Args[1].getKind() == TemplateArgument::Integral)
    E.Components = Args[1].getAsIntegral().getExtValue();
  return E;
}

std::string mtlc::writtenName(const ASTContext &C, QualType T) {
  PrintingPolicy Policy(C.getLangOpts());
  Policy.SuppressTagKeyword = true;
  QualType Bare = C.removeAddrSpaceQualType(T).getUnqualifiedType();
  while (const auto *Attributed = Bare->getAs<AttributedType>())
    Bare = C.removeAddrSpaceQualType(Attributed->getModifiedType())
               .getUnqualifiedType();
  const std::string Text = inMetalsWords(Bare.getAsString(Policy));
  StringRef Name = Text;
  Name.consume_front("metal::");
  return Name.str();
}

mtlc_space mtlc::spaceOf(QualType T) {
  switch (T.getAddressSpace()) {
    case LangAS::sycl_global: return MTLC_SPACE_DEVICE;
    case LangAS::sycl_global_host: return MTLC_SPACE_CONSTANT;
    case LangAS::sycl_local: return MTLC_SPACE_THREADGROUP;
    default: return MTLC_SPACE_THREAD;
  }
}

namespace {

// Notes in Facts what a tensor is that the host binds (metal_tensor); one that
// programs make themselves is no argument.
void readTensor(const ClassTemplateSpecializationDecl &Record,
                mtlc_parameter_facts &Facts) {
  const TemplateArgumentList &Args = Record.getTemplateArgs();
  const CXXRecordDecl *Descriptor =
      Args.size() < 3 ? nullptr : Args[2].getAsType()->getAsCXXRecordDecl();
  const auto *Extents = dyn_cast_or_null<ClassTemplateSpecializationDecl>(
      Args[1].getAsType()->getAsCXXRecordDecl());
  if (!Descriptor || Descriptor->getName() != "tensor_handle" || !Extents ||
      Extents->getTemplateArgs().size() != 2)
    return;
  const QualType Element = Args[0].getAsType();
  const auto Sizes = Extents->getTemplateArgs()[1].getPackAsArray();
  if (Sizes.size() == 0 || Sizes.size() > MTL_MAX_TENSOR_RANK) return;
  Facts.tensor_rank = static_cast<uint32_t>(Sizes.size());
  for (size_t I = 0; I < Sizes.size(); ++I)
    Facts.tensor_extents[I] =
        static_cast<int64_t>(Sizes[I].getAsIntegral().getZExtValue());
  Facts.type = elementType(Element).Type;
  Facts.components = 1;
  Facts.is_const = Element.isConstQualified();
  Facts.space = spaceOf(Element);
}

}  // namespace

void mtlc::readResource(QualType T, mtlc_parameter_facts &Facts) {
  const CXXRecordDecl *Class = T.getCanonicalType()->getAsCXXRecordDecl();
  if (!Class ||
      !StringRef(Class->getQualifiedNameAsString()).starts_with("metal::"))
    return;
  if (Class->getName() == "sampler") {
    Facts.is_sampler = true;
    Facts.array_length = 1;
    return;
  }
  const auto *Record = dyn_cast<ClassTemplateSpecializationDecl>(Class);
  if (!Record) return;
  if (Record->getName() == "tensor") {
    readTensor(*Record, Facts);
    return;
  }
  if (Record->getName() == "visible_function_table") {
    Facts.is_function_table = true;
    Facts.array_length = 1;
    return;
  }
  const TemplateArgumentList &Args = Record->getTemplateArgs();
  if (Args.size() < 2 || Args[0].getKind() != TemplateArgument::Type ||
      Args[1].getKind() != TemplateArgument::Integral)
    return;
  const uint64_t Second = Args[1].getAsIntegral().getExtValue();
  if (Record->getName() == "array") {
    readResource(Args[0].getAsType(), Facts);
    if (Facts.array_length) {
      const uint64_t Length = Facts.array_length * Second;
      Facts.array_length =
          Length > UINT16_MAX ? UINT16_MAX : static_cast<uint32_t>(Length);
    }
    return;
  }
  const StringRef Name = Record->getName();
  if (!mtlc_find_texture_class(Name.data(), Name.size(), &Facts)) return;
  // The order of metal::access: sample, read, write, read_write.
  constexpr mtl_access Accesses[] = {MTL_ACCESS_READ_ONLY, MTL_ACCESS_READ_ONLY,
                                     MTL_ACCESS_WRITE_ONLY,
                                     MTL_ACCESS_READ_WRITE};
  Facts.is_texture = true;
  Facts.array_length = 1;
  Facts.access = Accesses[Second & 3];
  Facts.type = elementType(Args[0].getAsType()).Type;
}
