// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// frontend.cpp: clang behind frontend.h. It parses MSL as C++17, from Metal 4 on
// as C++23, in SYCL device mode, whose address spaces are MSL's, with Metal's
// library precompiled, and hands on portable IR (docs/ir.md) with the argument
// tables. No other C++ is in Mettle than this folder.
#include "compiler/frontend/parts.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "clang/Basic/TargetInfo.h"
#include "clang/Basic/Version.h"
#include "clang/CodeGen/ModuleBuilder.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/FrontendActions.h"
#include "clang/Frontend/MultiplexConsumer.h"
#include "clang/Lex/PreprocessorOptions.h"
#include "clang/Serialization/ASTWriter.h"
#include "clang/Serialization/InMemoryModuleCache.h"
#include "compiler/frontend/headers.h"
#include "llvm-c/Target.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/CBindingWrapping.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/thread.h"

using namespace clang;
using llvm::StringRef;

namespace {

using namespace mtlc;

#if defined(__aarch64__)
constexpr char Triple[] = "aarch64-unknown-linux-gnu";
#else
constexpr char Triple[] = "x86_64-unknown-linux-gnu";
#endif

// Deep expressions and templates recurse in clang; pages are used as needed.
constexpr unsigned StackBytes = 512u << 20;

// --- actions -----------------------------------------------------------------

// Compiles a source to IR.
class CompileAction : public ASTFrontendAction {
 public:
  CompileAction(const mtl_compile_options &Options, mtlc_parsed *Parsed,
                llvm::LLVMContext &Context)
      : Options(Options), Parsed(Parsed), Context(Context) {}

  std::unique_ptr<ASTConsumer> CreateASTConsumer(CompilerInstance &CI,
                                                 StringRef Name) override {
    Generator =
        CreateLLVMCodeGen(CI.getDiagnostics(), Name, &CI.getVirtualFileSystem(),
                          CI.getHeaderSearchOpts(), CI.getPreprocessorOpts(),
                          CI.getCodeGenOpts(), Context);
    std::vector<std::unique_ptr<ASTConsumer>> Both;
    Both.push_back(
        makeKernelConsumer(Options, Parsed, Tested, Linked, Generator));
    Both.push_back(makePragmaConsumer(HasPragmas, Pragmas));
    Both.emplace_back(Generator);
    return std::make_unique<MultiplexConsumer>(std::move(Both));
  }

  void ExecuteAction() override {
    CompilerInstance &CI = getCompilerInstance();
    CI.createSema(getTranslationUnitKind(), nullptr);
    parseTranslationUnit(CI, Tested, HasPragmas);
    Module.reset(Generator->ReleaseModule());
    if (Module) applyPragmas(*Module, Pragmas);
  }

  std::unique_ptr<llvm::Module> Module;
  LinkedSymbols Linked;

 private:
  const mtl_compile_options &Options;
  mtlc_parsed *Parsed;
  llvm::StringSet<> Tested;
  bool HasPragmas = false;
  OperatorPragmas Pragmas;
  llvm::LLVMContext &Context;
  CodeGenerator *Generator = nullptr;
};

// Makes the precompiled form of the prelude and metal_stdlib.
class PrecompileAction : public ASTFrontendAction {
 public:
  std::unique_ptr<ASTConsumer> CreateASTConsumer(CompilerInstance &CI,
                                                 StringRef) override {
    return std::make_unique<PCHGenerator>(
        CI.getPreprocessor(), CI.getModuleCache(), PCHPath, "", Buffer,
        CI.getFrontendOpts().ModuleFileExtensions,
        /*AllowASTWithErrors=*/false, /*IncludeTimestamps=*/false);
  }
  TranslationUnitKind getTranslationUnitKind() override {
    return TU_Prefix;
  }
  void ExecuteAction() override {
    CompilerInstance &CI = getCompilerInstance();
    CI.createSema(getTranslationUnitKind(), nullptr);
    llvm::StringSet<> Tested;
    bool HasPragmas = false;
    parseTranslationUnit(CI, Tested, HasPragmas);
  }
  std::shared_ptr<PCHBuffer> Buffer = std::make_shared<PCHBuffer>();
};

// --- options -----------------------------------------------------------------

// What is the same for every compilation; part of the identity of the
// precompiled header. Aliasing by type and endless loops are not held against
// a kernel, and no C library's names mean anything. The auxiliary triple is
// there because clang 19 asks it how to mangle __bf16, present or not. A packed
// struct packs its packed vectors, classes though they are, as Apple's targets
// have it: clang's ABI of old. A null pointer is an address like any other, of
// which an access faults. What the library itself needs of its templates
// is made once, with it, and not by every compilation. A vector built from
// {a, b} with integers in it is no narrowing in Metal; a pragma in the prelude
// would have clang look for pragmas in front of each diagnostic that it weighs.
const char *const CommonArguments[] = {"-triple",
                                       Triple,
                                       "-aux-triple",
                                       Triple,
                                       "-x",
                                       "c++",
                                       "-fsycl-is-device",
                                       "-fdeclspec",
                                       "-fno-rtti",
                                       "-fclang-abi-compat=15",
                                       "-fpch-instantiate-templates",
                                       "-fno-threadsafe-statics",
                                       "-fno-builtin",
                                       "-nostdsysteminc",
                                       "-nobuiltininc",
                                       "-nostdinc++",
                                       "-ffloat16-excess-precision=none",
                                       "-fbfloat16-excess-precision=none",
                                       "-fnative-half-arguments-and-returns",
                                       "-relaxed-aliasing",
                                       "-fno-finite-loops",
                                       "-fno-strict-return",
                                       "-fno-delete-null-pointer-checks",
                                       "-fwrapv",
                                       "-O1",
                                       "-funroll-loops",
                                       "-disable-llvm-passes",
                                       "-mrelocation-model",
                                       "pic",
                                       "-pic-level",
                                       "2",
                                       "-dwarf-version=5",
                                       "-ferror-limit",
                                       "50",
                                       "-ftemplate-depth=1024",
                                       "-fno-elide-type",
                                       "-Wno-gcc-compat",
                                       // NS_ENUM of headers shared with hosts
                                       "-Wno-elaborated-enum-base",
                                       "-Wno-c++11-narrowing",
                                       "-Wno-pragma-once-outside-header",
                                       "-Wno-psabi",
                                       "-Wno-duplicate-decl-specifier",
                                       "-Wno-unknown-pragmas",
                                       "-Wno-vla-extension",
                                       "-Wno-builtin-macro-redefined",
                                       "-isystem",
                                       "/mettle/include",
                                       "-include",
                                       "mettle/prelude.h"};

// How clang compiles a version of Metal. Metal 4 has template arguments of
// class types and subscripts of several indices, and its own library needs
// both.
struct Dialect {
  mtl_language_version First;
  const char *Standard;
  const char *File;  // the precompiled library's name after the compiler's
};
constexpr Dialect Dialects[] = {
    {MTL_LANGUAGE_DEFAULT, "-std=c++17", "mettlec.pch"},
    {MTL_LANGUAGE_4_0, "-std=c++23", "mettlec-metal4.pch"},
};

// What all compilations of one dialect share.
struct Shared {
  const Dialect *Language;
  CompilerInvocation Base;
  std::unique_ptr<llvm::MemoryBuffer> File;  // where Library is, from disk
  std::string Memory;                        // or this
  StringRef Library;  // the precompiled header; "" if there is none
  std::once_flag IsSought;
};
Shared *Prepared;  // [of Dialects]

// The text behind the library: the client's macros, and Metal's own macros
// instead of those that clang has for the host.
std::string optionsText(const mtl_compile_options &Options) {
  const int Version = languageVersion(Options);
  std::string Text;
  for (const char *Name :
       {"__x86_64__", "__x86_64", "__amd64__", "__amd64", "__aarch64__",
        "__linux__", "__linux", "__gnu_linux__", "__unix__", "__unix",
        "__ELF__", "__SSE__", "__SSE2__", "__MMX__", "__ARM_NEON",
        "SYCL_LANGUAGE_VERSION", "__SYCL_DEVICE_ONLY__", "__has_embed"})
    Text += std::string("#undef ") + Name + "\n";
  Text +=
      "#define __METAL__ 1\n#define __METAL_MACOS__ 1\n"
      "#define __METAL_VERSION__ " +
      std::to_string(Version) + "\n";
  // metal_config has those that do not depend on the version.
  if (Version >= MTL_LANGUAGE_3_1) Text += "#define __HAVE_BFLOAT__ 1\n";
  if (Version >= MTL_LANGUAGE_4_0)
    Text +=
        "#define __HAVE_TENSOR__ 1\n#define __HAVE_INT4B_FORMAT_TYPE__ 1\n";
  if (Version >= MTL_LANGUAGE_4_1)
    for (const char *Name :
         {"TENSOR_MULTIPLANE", "INT2B_FORMAT_TYPE",
          "METAL_FP4_E2M1_FORMAT_TYPE", "METAL_FP8_E4M3_FORMAT_TYPE",
          "METAL_FP8_E5M2_FORMAT_TYPE", "METAL_FP8_UE8M0_FORMAT_TYPE"})
      Text += std::string("#define __HAVE_") + Name + "__ 1\n";
  for (size_t I = 0; I < Options.macro_count; ++I) {
    const mtl_macro &Macro = Options.macros[I];
    std::string Line =
        std::string(Macro.name) + " " + (Macro.value ? Macro.value : "1");
    std::replace(Line.begin(), Line.end(), '\n', ' ');
    Text += "#define " + Line + "\n";
  }
  return Text;
}

void setDiagnostics(CompilerInstance &CI, llvm::raw_ostream &OS) {
  CI.createDiagnostics(makeDiagnosticPrinter(OS, CI));
}

std::shared_ptr<CompilerInvocation> makeInvocation(const Shared &Common,
                                                   const mtlc_source *Source) {
  auto Invocation = std::make_shared<CompilerInvocation>(Common.Base);
  const mtl_compile_options &Options = Source->options;
  Invocation->getLangOpts().setDefaultFPContractMode(
      Options.math_mode == MTL_MATH_SAFE ? LangOptions::FPM_On
                                         : LangOptions::FPM_Fast);
  PreprocessorOptions &PP = Invocation->getPreprocessorOpts();
  if (!Common.Library.empty()) {
    PP.ImplicitPCHInclude = PCHPath;
    PP.DisablePCHOrModuleValidation = DisableValidationForModuleKind::All;
    PP.Includes.clear();
  }
  PP.DisablePragmaDebugCrash = true;
  PP.Includes.push_back(OptionsPath);
  HeaderSearchOptions &Search = Invocation->getHeaderSearchOpts();
  const StringRef Folder =
      Options.file_name ? llvm::sys::path::parent_path(Options.file_name) : "";
  if (Options.file_name)
    Search.AddPath(Folder.empty() ? "." : Folder, frontend::Quoted, false,
                   true);
  for (size_t I = 0; I < Options.include_path_count; ++I)
    Search.AddPath(Options.include_paths[I], frontend::Angled, false, true);
  if (Source->header_lookup)
    Search.AddPath(StringRef(CallbackDir).drop_back(), frontend::After, false,
                   true);
  CodeGenOptions &CodeGen = Invocation->getCodeGenOpts();
  CodeGen.setDebugInfo(Options.debug
                           ? llvm::codegenoptions::LimitedDebugInfo
                           : llvm::codegenoptions::DebugLineTablesOnly);
  CodeGen.DiscardValueNames = false;  // but see dropRegisterNames
  llvm::SmallString<256> Current;
  llvm::sys::fs::current_path(Current);
  CodeGen.DebugCompilationDir = Current.str();
  CodeGen.MainFileName = Options.file_name ? Options.file_name : "";
  return Invocation;
}

// --- precompiling ------------------------------------------------------------

std::string precompile(const Shared &Common) {
  CompilerInstance CI;
  CI.setInvocation(std::make_shared<CompilerInvocation>(Common.Base));
  CI.getLangOpts().CompilingPCH = true;
  std::string Text;
  llvm::raw_string_ostream OS(Text);
  setDiagnostics(CI, OS);
  FilePolicy Policy(nullptr);
  CI.createFileManager(makeFileSystem(nullptr, Policy, {}));
  CI.createSourceManager(CI.getFileManager());
  const auto Main =
      llvm::MemoryBuffer::getMemBuffer("#include <metal_stdlib>\n", "library");
  PrecompileAction Action;
  if (!CI.createTarget() ||
      !Action.BeginSourceFile(
          CI, {Main->getMemBufferRef(), InputKind(Language::CXX)}))
    return "";
  llvm::consumeError(Action.Execute());
  Action.EndSourceFile();
  if (!Action.Buffer->IsComplete || CI.getDiagnostics().hasErrorOccurred()) {
    llvm::errs() << Text;
    return "";
  }
  return std::string(Action.Buffer->Data.begin(), Action.Buffer->Data.end());
}

// The precompiled header as a file: believed only if it was made by this
// compiler from these headers, and is whole.
struct LibraryHead {
  char Magic[8];
  XXH128_hash_t Identity;  // hash of its sources
  XXH128_hash_t Contents;  // of the bytes below
};
constexpr char LibraryMagic[8] = {'M', 'T', 'L', 'P', 'C', 'H', '1', '\n'};

LibraryHead describeLibrary(const Dialect &Language, StringRef Contents) {
  std::string Source = getClangFullVersion() + Language.Standard;
  for (const char *Argument : CommonArguments)
    Source += std::string(Argument) + '\0';
  for (const mtlc_header *H = mtlc_headers; H->name; ++H)
    Source += std::string(H->name) + '\0' + std::string(H->text, H->size_bytes);
  LibraryHead Head;
  memcpy(Head.Magic, LibraryMagic, sizeof Head.Magic);
  Head.Identity = XXH3_128bits(Source.data(), Source.size());
  Head.Contents = XXH3_128bits(Contents.data(), Contents.size());
  return Head;
}

// Opens the file that a compiler may have beside it; while it still may.
void openLibrary(Shared &Common) {
  llvm::SmallString<256> Path(
      llvm::sys::fs::getMainExecutable(nullptr, nullptr));
  llvm::sys::path::remove_filename(Path);
  llvm::sys::path::append(Path, Common.Language->File);
  auto File = llvm::MemoryBuffer::getFile(Path, /*IsText=*/false,
                                          /*RequiresNullTerminator=*/false);
  if (File && (*File)->getBufferSize() >= sizeof(LibraryHead))
    Common.File = std::move(*File);
}

bool loadLibrary(Shared &Common) {
  if (!Common.File) return false;
  const StringRef Contents =
      Common.File->getBuffer().drop_front(sizeof(LibraryHead));
  const LibraryHead Head = describeLibrary(*Common.Language, Contents);
  if (memcmp(Common.File->getBufferStart(), &Head, sizeof Head) != 0)
    return false;
  Common.Library = Contents;
  return true;
}

// Makes Common.Library available, once.
Shared &withLibrary(Shared &Common) {
  std::call_once(Common.IsSought, [&] {
    if (loadLibrary(Common)) return;
    Common.Memory = precompile(Common);
    Common.Library = Common.Memory;
  });
  return Common;
}

Shared &sharedFor(const mtl_compile_options &Options) {
  size_t I = std::size(Dialects) - 1;
  while (languageVersion(Options) < Dialects[I].First) --I;
  return withLibrary(Prepared[I]);
}

void prepareInvocations() {
  Prepared = new Shared[std::size(Dialects)];
  for (size_t I = 0; I < std::size(Dialects); ++I) {
    Prepared[I].Language = &Dialects[I];
    std::vector<const char *> Arguments(std::begin(CommonArguments),
                                        std::end(CommonArguments));
    Arguments.push_back(Dialects[I].Standard);
    CompilerInstance CI;
    CI.createDiagnostics();
    CompilerInvocation::CreateFromArgs(Prepared[I].Base, Arguments,
                                       CI.getDiagnostics());
    LangOptions &Lang = Prepared[I].Base.getLangOpts();
    Lang.SinglePrecisionConstants = true;  // its flag is for OpenCL alone
    Lang.CharIsSigned = true;
  }
}

}  // namespace

int mtlc::languageVersion(const mtl_compile_options &Options) {
  return Options.language_version == MTL_LANGUAGE_DEFAULT
             ? MTL_LANGUAGE_3_2
             : Options.language_version;
}

std::string mtlc::inMetalsWords(const std::string &Text) {
  static const std::pair<StringRef, StringRef> Words[] = {
      {"const __global_host", "constant"},
      {"__global_host", "constant"},
      {"__global", "device"},
      {"__local", "threadgroup"},
      {"_Float16", "half"},
      {"__bf16", "bfloat"},
      {"SYCL device code", "Metal"}};
  const auto IsPartOfWord = [&](size_t I) {
    return I < Text.size() && (llvm::isAlnum(Text[I]) || Text[I] == '_');
  };
  std::string Result;
  for (size_t I = 0; I < Text.size();) {
    const auto *Word = llvm::find_if(Words, [&](const auto &W) {
      return StringRef(Text).substr(I).starts_with(W.first) &&
             !IsPartOfWord(I + W.first.size()) && !(I && IsPartOfWord(I - 1));
    });
    if (Word == std::end(Words)) {
      Result += Text[I++];
      continue;
    }
    Result += Word->second;
    I += Word->first.size();
  }
  return Result;
}

namespace {

bool parse(const mtlc_source *Source, mtlc_parsed *Out, std::string &Text) {
  llvm::raw_string_ostream OS(Text);
  auto *Context = new llvm::LLVMContext;
  Out->context = llvm::wrap(Context);
  CompilerInstance CI;
  const Shared &Common = sharedFor(Source->options);
  CI.setInvocation(makeInvocation(Common, Source));
  setDiagnostics(CI, OS);
  const std::string Options = optionsText(Source->options);
  FilePolicy Policy(Source);
  CI.createFileManager(makeFileSystem(
      Source, Policy, {{OptionsPath, Options}, {PCHPath, Common.Library}}));
  CI.createSourceManager(CI.getFileManager());
  const char *Name =
      Source->options.file_name ? Source->options.file_name : "program_source";
  const auto Main = llvm::MemoryBuffer::getMemBufferCopy(
      StringRef(Source->text, Source->size_bytes), Name);
  CompileAction Action(Source->options, Out, *Context);
  if (!CI.createTarget() ||
      !Action.BeginSourceFile(
          CI, {Main->getMemBufferRef(), InputKind(Language::CXX)}))
    return false;
  watchInclusions(CI, Policy);
  refuseEmbedding(CI, Name);
  llvm::consumeError(Action.Execute());
  Action.EndSourceFile();
  if (CI.getDiagnostics().hasErrorOccurred() || !Action.Module) return false;
  finishModule(*Action.Module, Action.Linked);
  if (!Source->options.debug) dropRegisterNames(*Action.Module);
  if (!isComplete(*Action.Module, Out->code, Action.Linked, OS) ||
      !isOfKernels(*Action.Module, OS))
    return false;
  Out->module = llvm::wrap(Action.Module.release());
  return true;
}

}  // namespace

void mtlc_frontend_prepare(void) {
  LLVMInitializeAllTargetInfos();
  LLVMInitializeAllTargets();
  LLVMInitializeAllTargetMCs();
  LLVMInitializeAllAsmPrinters();
  prepareInvocations();
  for (size_t I = 0; I < std::size(Dialects); ++I) openLibrary(Prepared[I]);
  withLibrary(Prepared[0]);
}

static bool writeLibrary(const Shared &Common, StringRef Folder) {
  const std::string Contents = precompile(Common);
  if (Contents.empty()) return false;
  const LibraryHead Head = describeLibrary(*Common.Language, Contents);
  llvm::SmallString<256> Path(Folder);
  llvm::sys::path::append(Path, Common.Language->File);
  llvm::Error Failed = llvm::writeToOutput(Path, [&](llvm::raw_ostream &OS) {
    OS.write(reinterpret_cast<const char *>(&Head), sizeof Head) << Contents;
    return llvm::Error::success();
  });
  const bool Done = !Failed;
  llvm::consumeError(std::move(Failed));
  return Done;
}

bool mtlc_frontend_precompile(const char *folder) {
  prepareInvocations();
  for (size_t I = 0; I < std::size(Dialects); ++I)
    if (!writeLibrary(Prepared[I], folder)) return false;
  return true;
}

// The compiler process gives each job such a stack, outside its memory limit;
// other callers may not.
static bool hasLargeStack() {
  pthread_attr_t Attributes;
  void *Lowest = nullptr;
  size_t Size = 0;
  if (pthread_getattr_np(pthread_self(), &Attributes) != 0) return false;
  pthread_attr_getstack(&Attributes, &Lowest, &Size);
  pthread_attr_destroy(&Attributes);
  return Size >= StackBytes;
}

bool mtlc_parse(const mtlc_source *source, mtlc_parsed *out_parsed) {
  *out_parsed = mtlc_parsed();
  std::string Text;
  bool Done = false;
  const auto Parse = [&] { Done = parse(source, out_parsed, Text); };
  if (hasLargeStack()) {
    Parse();
  } else {
    llvm::thread Worker(std::optional<unsigned>(StackBytes), Parse);
    Worker.join();
  }
  out_parsed->diagnostics = strdup(inMetalsWords(Text).c_str());
  out_parsed->code.language_version =
      static_cast<mtl_language_version>(languageVersion(source->options));
  out_parsed->code.math_mode = source->options.math_mode;
  out_parsed->code.debug = source->options.debug;
  out_parsed->code.warnings = out_parsed->diagnostics;
  return Done;
}

void mtlc_parsed_clear(mtlc_parsed *parsed) {
  if (parsed->module) LLVMDisposeModule(parsed->module);
  if (parsed->context) LLVMContextDispose(parsed->context);
  free(parsed->diagnostics);
  mtli_arena_clear(&parsed->arena);
  *parsed = mtlc_parsed();
}
