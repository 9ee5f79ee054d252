// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// kernels.cpp: reads kernels and function constants off the syntax
// tree, has them judged (reflect.h), and writes an entry for each kernel.
#include <string>
#include <vector>

#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/AST/GlobalDecl.h"
#include "clang/Basic/SourceManager.h"
#include "clang/CodeGen/ModuleBuilder.h"
#include "clang/Sema/Sema.h"
#include "clang/Sema/SemaConsumer.h"
#include "compiler/frontend/parts.h"
#include "compiler/frontend/reflect.h"

using namespace clang;
using llvm::StringRef;

namespace {

using namespace mtlc;

// One compilation's results, and the way to them: collects kernels and
// constants as they are parsed, judges them at the end, and gives each kernel
// its entry before code is generated.
class MetalConsumer : public SemaConsumer {
 public:
  MetalConsumer(const mtl_compile_options &Options, mtlc_parsed *Parsed,
                const llvm::StringSet<> &Tested, LinkedSymbols &Linked,
                CodeGenerator *Generator)
      : Options(Options),
        Parsed(Parsed),
        Tested(Tested),
        Linked(Linked),
        Generator(Generator) {}

  void InitializeSema(Sema &Semantics) override {
    S = &Semantics;
    C = &Semantics.Context;
  }

  bool HandleTopLevelDecl(DeclGroupRef Group) override {
    refuseHostSyntax(*S, Group);
    for (Decl *D : Group) {
      collect(D);
      if (isWritten(D)) Program.push_back(D);
    }
    return true;
  }

  // Of the precompiled library, which has no kernels.
  void HandleInterestingDecl(DeclGroupRef) override {}

  void HandleTranslationUnit(ASTContext &) override {
    if (hasErrors()) return;
    sortBySource(Constants);
    sortBySource(Kernels);
    sortBySource(Visible);
    reflectConstants();
    reflectFunctions();
    for (FunctionDecl *F : Functions) checkStatics(F->getBody(), isKernel(F));
    if (hasErrors()) return;
    Refusals Judged{*S, languageVersion(Options), Options.permissive};
    refuseProgram(Judged, Program);
    if (hasErrors()) return;
    for (size_t I = 0; I < Kernels.size(); ++I)
      Generator->HandleTopLevelDecl(DeclGroupRef(makeEntry(Kernels[I], I)));
    S->PerformPendingInstantiations();
  }

 private:
  bool hasErrors() const {
    return S->getDiagnostics().hasErrorOccurred();
  }

  void error(SourceLocation Loc, const llvm::Twine &Text) {
    report(S->getDiagnostics(), Loc, DiagnosticsEngine::Error, Text.str());
  }

  const char *keep(StringRef Text) {
    return mtli_arena_copy_text(&Parsed->arena, Text.data(), Text.size());
  }

  template <typename T>
  T *keepArray(size_t Count) {
    return static_cast<T *>(
        mtli_arena_allocate(&Parsed->arena, Count * sizeof(T)));
  }

  // --- collecting ---

  // True if D is the program's own and no instance of a template; instances
  // come with their template.
  bool isWritten(const Decl *D) const {
    const auto *F = dyn_cast<FunctionDecl>(D);
    return !(F && F->isTemplateInstantiation()) &&
           !S->getSourceManager().isInSystemHeader(D->getLocation());
  }

  void collect(Decl *D) {
    if (auto *Context = dyn_cast<DeclContext>(D);
        Context && isa<NamespaceDecl, LinkageSpecDecl, CXXRecordDecl>(D)) {
      for (Decl *Inner : Context->noload_decls()) collect(Inner);
    } else if (auto *F = dyn_cast<FunctionDecl>(D)) {
      collectFunction(F);
    } else if (auto *Template = dyn_cast<FunctionTemplateDecl>(D)) {
      if (Template->getTemplatedDecl()->doesThisDeclarationHaveABody())
        Functions.push_back(Template->getTemplatedDecl());
    } else if (auto *V = dyn_cast<VarDecl>(D)) {
      collectVariable(V);
    }
  }

  // A function that the program declares by the name that it has in Apple's
  // intermediate representation is the library's (metal/mettle/air.h).
  void useLibrary(FunctionDecl *F) {
    const auto *Label = F->getAttr<AsmLabelAttr>();
    StringRef Wanted = Label ? Label->getLabel() : "";
    Wanted.consume_front("\1");
    if (!Wanted.starts_with("air.")) return;
    std::string Name = Wanted.str();
    std::replace(Name.begin(), Name.end(), '.', '_');
    const auto Spaces =
        C->getTranslationUnitDecl()->lookup(&C->Idents.get("__mettle"));
    for (NamedDecl *Space : Spaces) {
      const auto Found =
          cast<NamespaceDecl>(Space)->lookup(&C->Idents.get(Name));
      for (NamedDecl *D : Found) {
        Generator->HandleTopLevelDecl(DeclGroupRef(D));
        F->dropAttr<AsmLabelAttr>();
        F->addAttr(AsmLabelAttr::CreateImplicit(*C, Name, true));
        // Otherwise a call would describe the library's function as the
        // program's.
        F->addAttr(NoDebugAttr::CreateImplicit(*C));
        return;
      }
    }
  }

  void collectFunction(FunctionDecl *F) {
    useLibrary(F);
    if (F->isDependentContext()) return;
    if (!F->doesThisDeclarationHaveABody()) {
      if (isVisible(F) || F->getStorageClass() == SC_Extern)
        Declared.push_back(F);
      return;
    }
    const TemplateSpecializationKind Kind = F->getTemplateSpecializationKind();
    if (Kind != TSK_ImplicitInstantiation &&
        Kind != TSK_ExplicitInstantiationDefinition)
      Functions.push_back(F);
    if (Kind == TSK_ImplicitInstantiation ||
        Kind == TSK_ExplicitInstantiationDeclaration)
      return;
    noteStage(F);
    if (isKernel(F)) Kernels.push_back(F);
    if (isVisible(F)) {
      Visible.push_back(F);
      // Emitted even if nobody calls it.
      F->addAttr(UsedAttr::CreateImplicit(S->Context));
    }
  }

  void collectVariable(VarDecl *V) {
    if (findAnnotation(V, "function_constant") && V == V->getCanonicalDecl())
      Constants.push_back(V);
    const auto *Section = V->getAttr<SectionAttr>();
    if (V->getType().getAddressSpace() == LangAS::sycl_local && !Section)
      Stray.push_back(V);
    for (const AnnotateAttr *A : V->specific_attrs<AnnotateAttr>())
      if (const mtli_builtin Input =
              mtlc_find_builtin(annotationName(A).str().c_str()))
        nameInput(V, Input);
  }

  // A built-in input at program scope, `uint i [[thread_position_in_grid]];`,
  // gets a name that tells finishModule what it is.
  void nameInput(VarDecl *V, mtli_builtin Input) {
    const mtlc_parameter_facts Facts = parameterFacts(V);
    mtli_parameter Parameter;
    mtlc_parameter_error Error;
    if (!mtlc_reflect_parameters(&Facts, 1, &Parameter, &Error)) {
      error(V->getLocation(), Error.text);
      return;
    }
    std::string Symbol;
    llvm::raw_string_ostream(Symbol)
        << InputPrefix << Input << '.' << Parameter.builtin_components << '.'
        << Parameter.builtin_component_bytes << '.' << ++InputCount;
    V->addAttr(AsmLabelAttr::CreateImplicit(S->Context, Symbol, true));
  }

  static bool isKernel(const FunctionDecl *F) {
    return findAnnotation(F, "kernel") != nullptr;
  }

  // Functions of other stages compile, but are only reported.
  void noteStage(const FunctionDecl *F) {
    for (const char *Stage :
         {"vertex", "fragment", "mesh", "object", "intersection"})
      if (findAnnotation(F, Stage))
        Others += std::string(Stage) + " " + kernelName(F) + "\n";
  }

  static bool isVisible(const FunctionDecl *F) {
    return findAnnotation(F, "visible") || findAnnotation(F, "stitchable");
  }

  static SourceLocation sourceOf(const Decl *D) {
    if (const auto *F = dyn_cast<FunctionDecl>(D))
      if (F->getPointOfInstantiation().isValid())
        return F->getPointOfInstantiation();
    return D->getLocation();
  }

  template <typename T>
  void sortBySource(std::vector<T *> &Decls) {
    const SourceManager &SM = S->getSourceManager();
    std::stable_sort(Decls.begin(), Decls.end(), [&](T *A, T *B) {
      return SM.isBeforeInTranslationUnit(sourceOf(A), sourceOf(B));
    });
    Decls.erase(std::unique(Decls.begin(), Decls.end()), Decls.end());
  }

  // --- function constants ---

  void reflectConstants() {
    std::vector<std::pair<int64_t, VarDecl *>> Indexed;
    for (VarDecl *V : Constants) {
      int64_t Index = 0;
      if (!evaluateIndex(findAnnotation(V, "function_constant"), *C, Index) ||
          Index < 0 || Index > UINT16_MAX)
        error(V->getLocation(), "the index of function constant '" +
                                    V->getName() + "' must be 0 to 65535");
      else if (elementType(V->getType()).Components == 0)
        error(V->getLocation(), "function constant '" + V->getName() +
                                    "' must be a scalar or a vector");
      else if (V->hasInit())
        error(V->getLocation(), "function constant '" + V->getName() +
                                    "' cannot have an initializer");
      else if (V->getType().getAddressSpace() != LangAS::sycl_global_host)
        error(V->getLocation(), "function constant '" + V->getName() +
                                    "' must reside in the constant address "
                                    "space");
      else
        Indexed.push_back({Index, V});
    }
    std::stable_sort(
        Indexed.begin(), Indexed.end(),
        [](const auto &A, const auto &B) { return A.first < B.first; });
    Constants.clear();
    mtli_constant *Table = keepArray<mtli_constant>(Indexed.size());
    for (auto &[Index, V] : Indexed) {
      const ElementType E = elementType(V->getType());
      mtli_constant &Constant = Table[Constants.size()];
      Constant.info.name = keep(V->getName());
      Constant.info.index = static_cast<uint32_t>(Index);
      Constant.info.type = E.Type;
      Constant.info.components = E.Components;
      Constant.info.required = !Tested.count(V->getName());
      Constant.symbol = keep(Generator->GetMangledName(GlobalDecl(V)));
      Constants.push_back(V);
    }
    Parsed->code.constants = Table;
    Parsed->code.constant_count = Constants.size();
  }

  // Returns the condition of [[function_constant(name)]] on a parameter.
  void reflectCondition(const ValueDecl *P, mtlc_parameter_facts &Facts) {
    const AnnotateAttr *A = findAnnotation(P, "enabled_by");
    Facts.enabling_constant = -1;
    if (!A || A->args_size() == 0) return;
    Facts.enabling_constant = enablingConstant(*A->args_begin(), Constants);
    if (Facts.enabling_constant == -1)
      Facts.condition = keep(conditionText(*A->args_begin(), *C, Constants));
  }

  // --- kernels ---

  std::string kernelName(const FunctionDecl *F) {
    StringRef Name;
    for (const AnnotateAttr *A : F->specific_attrs<AnnotateAttr>()) {
      StringRef Text = annotationName(A);
      if (Text.consume_front("host_name:")) Name = Text;
    }
    if (!Name.empty()) return Name.str();
    std::string Qualified;
    llvm::raw_string_ostream OS(Qualified);
    F->getNameForDiagnostic(OS, C->getPrintingPolicy(), /*Qualified=*/true);
    return Qualified;
  }

  // Kernels first, then visible functions.
  void reflectFunctions() {
    for (const VarDecl *V : Stray)
      error(V->getLocation(), "variable '" + V->getName() +
                                  "' in the threadgroup address space must "
                                  "be declared in a kernel");
    const size_t Count = Kernels.size() + Visible.size();
    mtli_kernel *Table = keepArray<mtli_kernel>(Count);
    llvm::StringMap<const FunctionDecl *> Names;
    for (size_t I = 0; I < Count; ++I) {
      const bool IsKernel = I < Kernels.size();
      const FunctionDecl *F =
          IsKernel ? Kernels[I] : Visible[I - Kernels.size()];
      const std::string Name = kernelName(F);
      const auto [Entry, IsNew] = Names.insert({Name, F});
      if (!IsNew) {
        const std::string What = IsKernel ? "kernel" : "visible function";
        error(sourceOf(F), What + " name '" + Name + "' is already used");
        report(S->getDiagnostics(), sourceOf(Entry->second),
               DiagnosticsEngine::Note, "the first " + What + " of that name");
      }
      reflectPlace(F, Name, Table[I]);
      if (IsKernel)
        reflectKernel(F, Name, I, Table[I]);
      else
        reflectVisible(F, Table[I]);
    }
    Parsed->code.kernels = Table;
    Parsed->code.kernel_count = Count;
    Parsed->code.other_functions = keep(Others);
    for (const FunctionDecl *F : Declared)
      Linked.Wanted.insert(Generator->GetMangledName(GlobalDecl(F)));
  }

  void reflectPlace(const FunctionDecl *F, StringRef Name,
                    mtli_kernel &Function) {
    const PresumedLoc Loc = S->getSourceManager().getPresumedLoc(
        S->getSourceManager().getExpansionLoc(F->getLocation()));
    Function.name = keep(Name);
    Function.file = keep(Loc.isValid() ? Loc.getFilename() : "");
    Function.line = Loc.isValid() ? Loc.getLine() : 0;
  }

  void reflectVisible(const FunctionDecl *F, mtli_kernel &Function) {
    const StringRef Symbol = Generator->GetMangledName(GlobalDecl(F));
    Function.symbol = keep(Symbol);
    Function.is_visible = true;
    Linked.Offered.insert(Symbol);
    if (F->isVariadic() || (isa<CXXMethodDecl>(F) && !F->isStatic()))
      error(F->getLocation(),
            "visible function '" + F->getName() + "' must be a plain function");
  }

  void reflectKernel(const FunctionDecl *F, StringRef Name, size_t Number,
                     mtli_kernel &Kernel) {
    Kernel.symbol = keep(("mettle.kernel." + llvm::Twine(Number)).str());
    if (!F->getReturnType()->isVoidType())
      error(F->getLocation(), "kernel '" + Name + "' must return void");
    if (isa<CXXMethodDecl>(F) || F->isVariadic())
      error(F->getLocation(), "kernel '" + Name + "' must be a plain function");
    reflectThreadLimit(F, Kernel);
    reflectParameters(F, Kernel);
  }

  void reflectThreadLimit(const FunctionDecl *F, mtli_kernel &Kernel) {
    const AnnotateAttr *A =
        findAnnotation(F, "max_total_threads_per_threadgroup");
    int64_t Value = 0;
    if (A && (!evaluateIndex(A, *C, Value) || Value < 1 || Value > UINT32_MAX))
      error(F->getLocation(),
            "max_total_threads_per_threadgroup must be a positive number");
    Kernel.max_total_threads_per_threadgroup = static_cast<uint32_t>(Value);
  }

  // The members of a struct by which a kernel takes arguments and inputs; null
  // if D is no such struct.
  const CXXRecordDecl *membersOf(const ValueDecl *D) {
    const CXXRecordDecl *Class = D->getType()->getAsCXXRecordDecl();
    if (!Class || D->hasAttr<AnnotateAttr>() ||
        StringRef(Class->getQualifiedNameAsString()).starts_with("metal::") ||
        !S->isCompleteType(D->getLocation(), D->getType()) ||
        !Class->isAggregate() || Class->getNumBases() != 0 || Class->isUnion())
      return nullptr;
    const bool HasArguments = llvm::any_of(Class->fields(), [&](FieldDecl *F) {
      return F->hasAttr<AnnotateAttr>() || membersOf(F);
    });
    return HasArguments ? Class : nullptr;
  }

  // Lists a parameter, or in its place the members of its struct.
  void addParameter(const ValueDecl *D, std::vector<const ValueDecl *> &Out) {
    if (const CXXRecordDecl *Class = membersOf(D))
      for (const FieldDecl *F : Class->fields()) addParameter(F, Out);
    else
      Out.push_back(D);
  }

  void reflectParameters(const FunctionDecl *F, mtli_kernel &Kernel) {
    std::vector<const ValueDecl *> Parameters;
    for (const ParmVarDecl *P : F->parameters()) addParameter(P, Parameters);
    const size_t Count = Parameters.size();
    auto *Facts = keepArray<mtlc_parameter_facts>(Count);
    for (size_t I = 0; I < Count; ++I) Facts[I] = parameterFacts(Parameters[I]);
    Kernel.parameters = keepArray<mtli_parameter>(Count);
    Kernel.parameter_count = Count;
    mtlc_parameter_error Error;
    if (!mtlc_reflect_parameters(Facts, Count, Kernel.parameters, &Error))
      error(Parameters[Error.parameter]->getLocation(), Error.text);
  }

  mtlc_parameter_facts parameterFacts(const ValueDecl *P) {
    mtlc_parameter_facts Facts = {};
    Facts.name = keep(P->getName());
    reflectCondition(P, Facts);
    for (const AnnotateAttr *A : P->specific_attrs<AnnotateAttr>()) {
      const StringRef Name = annotationName(A);
      if (Name.empty() || Name == "enabled_by") continue;
      Facts.attribute = keep(Name);
      Facts.has_index = A->args_size() != 0;
      if (Facts.has_index && !evaluateIndex(A, *C, Facts.index))
        Facts.index = -1;
    }
    QualType T = P->getType();
    Facts.is_pointer = T->isPointerType();
    Facts.is_reference = T->isReferenceType();
    if (Facts.is_pointer || Facts.is_reference) T = T->getPointeeType();
    Facts.has_open_end = Facts.is_reference && endsOpen(*C, T);
    Facts.space = spaceOf(T);
    Facts.is_const = T.isConstQualified();
    const ElementType E = elementType(T);
    Facts.type = E.Type;
    Facts.components = E.Components;
    if (!Facts.is_pointer && !Facts.is_reference) readResource(T, Facts);
    const char *Plain =
        E.IsPlain ? mtlc_type_name(E.Type, E.Components) : nullptr;
    Facts.type_name = Plain ? Plain : keep(writtenName(*C, T));
    if (S->isCompleteType(P->getLocation(), T) && !T->isFunctionType()) {
      Facts.size_bytes = C->getTypeSizeInChars(T).getQuantity();
      Facts.alignment_bytes = C->getTypeAlignInChars(T).getQuantity();
    }
    if (Facts.is_pointer || Facts.is_reference) {
      if (holdsTensor(T))
        error(P->getLocation(),
              "parameter '" + P->getName() +
                  "': a tensor_handle inside a struct is unsupported: make it "
                  "a parameter of the kernel");
      Facts.layout = keep(argumentLayout(*S, T, 0));
      const auto Members = structMembers(*S, T, Parsed->arena);
      Facts.members = Members.data();
      Facts.member_count = static_cast<uint32_t>(Members.size());
    }
    return Facts;
  }

  // True if a type is or contains a tensor_handle, a tensor that the host
  // binds. In a struct in memory it is an identifier of 8 bytes on Metal.
  static bool holdsTensor(QualType T) {
    while (const auto *A = dyn_cast<ArrayType>(T.getCanonicalType()))
      T = A->getElementType();
    const CXXRecordDecl *Class = T->getAsCXXRecordDecl();
    if (Class) Class = Class->getDefinition();
    if (!Class) return false;
    const auto *Record = dyn_cast<ClassTemplateSpecializationDecl>(Class);
    if (Record && Record->getQualifiedNameAsString() == "metal::tensor") {
      const CXXRecordDecl *Descriptor =
          Record->getTemplateArgs()[2].getAsType()->getAsCXXRecordDecl();
      return Descriptor && Descriptor->getName() == "tensor_handle";
    }
    for (const FieldDecl *F : Class->fields())
      if (holdsTensor(F->getType())) return true;
    for (const CXXBaseSpecifier &Base : Class->bases())
      if (holdsTensor(Base.getType())) return true;
    return false;
  }

  // --- threadgroup variables ---

  // Walks a function for its threadgroup variables, which are static (see
  // source.h) and so have no initialiser that could run once a threadgroup.
  void checkStatics(const Stmt *Body, bool InKernel) {
    if (!Body) return;
    if (const auto *Statement = dyn_cast<DeclStmt>(Body))
      for (Decl *D : Statement->decls())
        if (auto *V = dyn_cast<VarDecl>(D)) checkStatic(V, InKernel);
    for (const Stmt *Child : Body->children()) checkStatics(Child, InKernel);
  }

  void checkStatic(VarDecl *V, bool InKernel) {
    const auto *Section = V->getAttr<SectionAttr>();
    if (!Section || Section->getName() != ".mettle.threadgroup") return;
    const std::string Name = V->getNameAsString();
    if (V->getType().getAddressSpace() != LangAS::sycl_local &&
        !V->getType()->isDependentType() && !V->getType()->isArrayType())
      error(V->getLocation(), "declare '" + Name +
                                  "' apart from the threadgroup variables: "
                                  "it is not one itself");
    else if (!InKernel && !isLibrarys(S->getSourceManager(), V->getLocation()))
      error(V->getLocation(), "variable '" + Name +
                                  "' in the threadgroup address space must "
                                  "be declared in a kernel");
    else if (V->getInit() && doesNothing(V->getInit()))
      V->setInit(nullptr);
    else if (V->getInit() && !V->getInit()->isValueDependent() &&
             !V->hasConstantInitialization())
      error(V->getLocation(), "variable '" + Name +
                                  "' in the threadgroup address space needs "
                                  "a constant initializer, or a constructor "
                                  "that does nothing");
  }

  // True of a default constructor that sets nothing: it need not run.
  static bool doesNothing(const Expr *Init) {
    const auto *Construct = dyn_cast<CXXConstructExpr>(Init->IgnoreImplicit());
    if (!Construct || Construct->getNumArgs() != 0 ||
        Construct->requiresZeroInitialization())
      return false;
    const CXXConstructorDecl *Constructor = Construct->getConstructor();
    if (Constructor->isTrivial()) return true;
    const auto *Body = dyn_cast_or_null<CompoundStmt>(Constructor->getBody());
    return Body && Body->body_empty() &&
           llvm::all_of(Constructor->inits(), [](const CXXCtorInitializer *I) {
             return doesNothing(I->getInit());
           });
  }

  // --- entries ---

  // Writes  void mettle.kernel.n(void **arguments) { kernel(...); }  with one
  // pointer in arguments for each parameter, or for each member of a struct
  // that stands for several (docs/ir.md).
  FunctionDecl *makeEntry(FunctionDecl *Kernel, size_t Number) {
    const SourceLocation Loc = Kernel->getLocation();
    const std::string Symbol = ("mettle.kernel." + llvm::Twine(Number)).str();
    const QualType Arguments = C->getPointerType(C->VoidPtrTy);
    const QualType T = C->getFunctionType(C->VoidTy, {Arguments}, {});
    FunctionDecl *Entry =
        FunctionDecl::Create(*C, C->getTranslationUnitDecl(), Loc, Loc,
                             &C->Idents.get("__" + Symbol), T,
                             C->getTrivialTypeSourceInfo(T, Loc), SC_None);
    ParmVarDecl *P = ParmVarDecl::Create(
        *C, Entry, Loc, Loc, &C->Idents.get("arguments"), Arguments,
        C->getTrivialTypeSourceInfo(Arguments, Loc), SC_None, nullptr);
    Entry->setParams(P);
    Entry->addAttr(AsmLabelAttr::CreateImplicit(*C, Symbol, true));
    Sema::SynthesizedFunctionScope Scope(*S, Entry);
    std::vector<Expr *> Values;
    size_t Next = 0;
    for (const ParmVarDecl *Parameter : Kernel->parameters())
      Values.push_back(makeArgument(P, Next, Parameter));
    Expr *Callee =
        S->BuildDeclRefExpr(Kernel, Kernel->getType(), VK_LValue, Loc);
    const ExprResult Call = S->BuildCallExpr(nullptr, Callee, Loc, Values, Loc);
    if (Call.isUsable()) {
      Stmt *Statement = S->MaybeCreateExprWithCleanups(Call.get());
      Entry->setBody(
          CompoundStmt::Create(*C, Statement, FPOptionsOverride(), Loc, Loc));
    }
    return Entry;
  }

  // The argument for a parameter, from where Next is on; T{...} for a struct.
  Expr *makeArgument(ParmVarDecl *Arguments, size_t &Next, const ValueDecl *D) {
    const CXXRecordDecl *Class = membersOf(D);
    if (!Class) return makeArgument(Arguments, Next++, D->getType());
    const SourceLocation Loc = Arguments->getLocation();
    std::vector<Expr *> Members;
    for (const FieldDecl *F : Class->fields())
      Members.push_back(makeArgument(Arguments, Next, F));
    Expr *List = new (*C) InitListExpr(*C, Loc, Members, Loc);
    List->setType(C->VoidTy);
    const QualType T = D->getType().getUnqualifiedType();
    return S
        ->BuildCXXTypeConstructExpr(C->getTrivialTypeSourceInfo(T, Loc), Loc,
                                    List, Loc, /*ListInitialization=*/true)
        .get();
  }

  // *(T *)&arguments[i] for a pointer T, **(T **)&arguments[i] for the rest.
  Expr *makeArgument(ParmVarDecl *Arguments, size_t I, QualType T) {
    const SourceLocation Loc = Arguments->getLocation();
    const bool IsPointer = T->isPointerType();
    const QualType Element =
        (IsPointer ? T : C->getPointerType(T.getNonReferenceType()))
            .getUnqualifiedType();
    Expr *Index = IntegerLiteral::Create(
        *C, llvm::APInt(C->getTypeSize(C->getSizeType()), I), C->getSizeType(),
        Loc);
    Expr *Base =
        S->BuildDeclRefExpr(Arguments, Arguments->getType(), VK_LValue, Loc);
    Expr *E = S->CreateBuiltinArraySubscriptExpr(Base, Loc, Index, Loc).get();
    E = S->CreateBuiltinUnaryOp(Loc, UO_AddrOf, E).get();
    const QualType Target = C->getPointerType(Element);
    E = S->ImpCastExprToType(E, Target, CK_BitCast).get();
    E = S->CreateBuiltinUnaryOp(Loc, UO_Deref, E).get();
    return IsPointer ? E : S->CreateBuiltinUnaryOp(Loc, UO_Deref, E).get();
  }

  const mtl_compile_options &Options;
  mtlc_parsed *Parsed;
  const llvm::StringSet<> &Tested;  // as makeKernelConsumer
  LinkedSymbols &Linked;
  CodeGenerator *Generator;
  Sema *S = nullptr;
  ASTContext *C = nullptr;
  std::vector<Decl *> Program;            // as written
  std::vector<FunctionDecl *> Functions;  // as written, templates included
  std::vector<FunctionDecl *> Kernels;
  std::vector<FunctionDecl *> Visible;
  std::vector<FunctionDecl *> Declared;  // without a body, for linking
  std::vector<VarDecl *> Constants;
  std::vector<VarDecl *> Stray;
  std::string Others;     // as mtli_code.other_functions
  size_t InputCount = 0;  // of built-in inputs at program scope
};

}  // namespace

std::unique_ptr<ASTConsumer> mtlc::makeKernelConsumer(
    const mtl_compile_options &Options, mtlc_parsed *Parsed,
    const llvm::StringSet<> &TestedConstants, LinkedSymbols &Linked,
    CodeGenerator *Generator) {
  return std::make_unique<MetalConsumer>(Options, Parsed, TestedConstants,
                                         Linked, Generator);
}
