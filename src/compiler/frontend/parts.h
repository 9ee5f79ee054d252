// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// parts.h: shared by the files of the front end. Other rooms see frontend.h
// alone.
#ifndef MTLC_PARTS_H
#define MTLC_PARTS_H

extern "C" {
#include "code/code.h"
}
#include <memory>
#include <string>
#include <vector>

#include "clang/AST/DeclGroup.h"
#include "clang/AST/Type.h"
#include "clang/Basic/Diagnostic.h"
#include "clang/Lex/Token.h"
#include "clang/Sema/Ownership.h"
#include "compiler/frontend/frontend.h"
#include "compiler/frontend/reflect.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/VirtualFileSystem.h"

namespace clang {
class ASTConsumer;
class ASTContext;
class AnnotateAttr;
class CXXConstructExpr;
class CallExpr;
class CodeGenerator;
class CompilerInstance;
class Decl;
class DiagnosticConsumer;
class DiagnosticOptions;
class Expr;
class FunctionDecl;
class Preprocessor;
class Sema;
class SourceManager;
class TypeLoc;
class VarDecl;
}  // namespace clang
namespace llvm {
class DILocation;
class DebugLoc;
class Module;
class Value;
}  // namespace llvm

namespace mtlc {

// The folders of Metal's own library, of the text generated from a
// compilation's options, and of the client's headers, as clang sees them.
constexpr char LibraryDir[] = "/mettle/include/";
constexpr char PCHPath[] = "/mettle/library.pch";
constexpr char OptionsPath[] = "/mettle/compile_options.h";
constexpr char CallbackDir[] = "/mettle/client/";

// The prefix of a built-in input at program scope in clang's IR. The
// mtli_builtin, its components, their bytes and a number follow, separated by
// dots.
constexpr char InputPrefix[] = "mettle.input.";

// include_policy.cpp: restricts which files on disk a source may read: those
// under the include paths, and under the folder of a source that has a file
// name, after links and ".." are resolved. No other path is even looked up.
class FilePolicy {
 public:
  explicit FilePolicy(const mtlc_source *Source);

  // Remembers a path that it refuses.
  bool allows(llvm::StringRef Path);
  // True if Name, as an inclusion spells it, was refused somewhere.
  bool hasRefused(llvm::StringRef Name) const;
  // The reason, to follow "'name' ".
  llvm::StringRef reason() const;

 private:
  std::vector<std::string> Roots;  // as given, without dots, and resolved
  llvm::StringSet<> Refused;
};

// Reports an inclusion that the policy refuses as such.
void watchInclusions(clang::CompilerInstance &CI, const FilePolicy &Policy);

// files.cpp: makes the file system of a compilation: Metal's library, the
// client's headers, the given texts, and the disk, whose reads go to the
// source's observer.
//
//   Source  null for none, else used as long as the files are, as Policy
//   Extra   path and text; the texts must last as long
llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> makeFileSystem(
    const mtlc_source *Source, FilePolicy &Policy,
    llvm::ArrayRef<std::pair<llvm::StringRef, llvm::StringRef>> Extra);

// tokens.cpp: lexes the whole translation unit, rewrites it
// (source.h) and parses it, as clang's ParseAST does without the rewriting.
//
//   TestedConstants  the names in is_function_constant_defined(name), known
//                    before the parser begins
//   HasPragmas       set to true if there are pragmas for floating point
void parseTranslationUnit(clang::CompilerInstance &CI,
                          llvm::StringSet<> &TestedConstants, bool &HasPragmas);
void report(clang::DiagnosticsEngine &Diags, clang::SourceLocation Loc,
            clang::DiagnosticsEngine::Level Level, llvm::StringRef Text);

// frontend.cpp: returns the language version to compile as, also for the
// default.
int languageVersion(const mtl_compile_options &Options);

// frontend.cpp: replaces the terms of clang's device mode in a text by Metal's.
std::string inMetalsWords(const std::string &Text);

// shortcuts.cpp: remembers, while one source is parsed, the work that clang
// need do only once.
class ShortcutScope {
 public:
  ShortcutScope();
  ~ShortcutScope();
  ShortcutScope(const ShortcutScope &) = delete;
  ShortcutScope &operator=(const ShortcutScope &) = delete;
};

// shortcuts.cpp: builds Left = Right if both are of one class and overload
// resolution would choose its own operator=; empty if clang has to resolve it.
clang::ExprResult assignWithinClass(clang::Sema &S, clang::SourceLocation Loc,
                                    clang::Expr *Left, clang::Expr *Right);

// unsupported.cpp: returns the text that replaces an error about a part of
// Metal that Mettle, or this version of the language, does not have; else "".
std::string unsupportedText(const clang::Diagnostic &Info, llvm::StringRef Text,
                            bool IsMetal4);

// diagnostics.cpp: makes a consumer that prints diagnostics as clang does,
// except those of Metal's own library. The diagnostics engine owns it.
clang::DiagnosticConsumer *makeDiagnosticPrinter(llvm::raw_ostream &OS,
                                                 clang::CompilerInstance &CI);

// words.cpp: replaces the library's type names in a diagnostic by the
// program's.
std::string inProgramsWords(llvm::StringRef Text);
// True if a note without a location in the program still helps the program's
// author.
bool isOfUse(llvm::StringRef Note);
// Returns the text for an error in the library.
//
//   Asked  the note about what the program asked for
std::string textOfLibrary(llvm::StringRef Text, llvm::StringRef Asked);
// Returns the text with a suggestion for the unknown name in it.
std::string withSuggestion(clang::CompilerInstance &CI, llvm::StringRef Text);
// True if the suggested word is a keyword: without it the parser misreads the
// following tokens.
bool isWordSuggested(llvm::StringRef Text);

// host.cpp: refuses what a kernel must not use of the host. Call
// refuseEmbedding first, once the source manager has the main source, which is
// called Name.
void refuseEmbedding(clang::CompilerInstance &CI, llvm::StringRef Name);
// Call once the parser has its pragmas.
void refuseHostPragmas(clang::Preprocessor &PP);
//   Tokens  of the program, as they are written
void refuseHostWords(clang::Preprocessor &PP,
                     llvm::ArrayRef<clang::Token> Tokens);
void refuseHostSyntax(clang::Sema &S, clang::DeclGroupRef Group);
// True if a finished module uses nothing of the host; otherwise writes the uses
// to Errors.
bool isOfKernels(const llvm::Module &M, llvm::raw_ostream &Errors);
// True if Loc is in Metal's own library or in an expansion of its macros.
bool isLibrarys(const clang::SourceManager &SM, clang::SourceLocation Loc);
// Returns the location of an instruction that uses a constant; null if none has
// one.
const llvm::DebugLoc *placeOfUse(const llvm::Value *V);

// Symbols of functions that are linked with other libraries.
struct LinkedSymbols {
  llvm::StringSet<> Offered;  // visible functions, with bodies
  llvm::StringSet<> Wanted;   // declared for a linked function to define
};

// kernels.cpp: checks kernels, visible functions and function constants after
// parsing. It fills in Parsed->code and Linked, and gives Generator an entry
// function for each kernel.
std::unique_ptr<clang::ASTConsumer> makeKernelConsumer(
    const mtl_compile_options &Options, mtlc_parsed *Parsed,
    const llvm::StringSet<> &TestedConstants, LinkedSymbols &Linked,
    clang::CodeGenerator *Generator);

// refusals.cpp: collects errors about programs that clang accepts and Metal
// refuses.
struct Refusals {
  clang::Sema &S;
  int Version;                              // as mtl_language_version
  bool IsPermissive;                        // warnings instead of errors
  clang::FunctionDecl *Instance = nullptr;  // the instance of a template that
                                            // is being checked
  llvm::StringSet<> Seen;                   // the errors already reported
};
// Reports what Metal refuses in Program, the declarations as written.
void refuseProgram(Refusals &Out, llvm::ArrayRef<clang::Decl *> Program);
// Reports one error, once for all instances of a template, with advice.
//   Always  an error with -fpermissive too
void refuse(Refusals &Out, clang::SourceLocation Loc, const std::string &Text,
            const std::string &Hint, bool Always = false);
// Metal's word for an address space of clang's.
const char *spaceName(clang::LangAS Space);

// overloads.cpp: checks a call of the function F, which may be the library's,
// and the use of a type.
void judgeCall(Refusals &Out, const clang::CallExpr *E,
               const clang::FunctionDecl *F);
void judgeType(Refusals &Out, clang::SourceLocation Loc, clang::QualType T);
// Refuses float4(1, 2), whose arguments have too few components.
void judgeComponents(Refusals &Out, const clang::CXXConstructExpr *E);
// Refuses What in versions of Metal before Version.
void needVersion(Refusals &Out, clang::SourceLocation Loc,
                 const std::string &What, int Version);

// spaces.cpp: true if a pointer or reference is declared `thread`.
bool saysThread(clang::Sema &S, clang::TypeLoc T);

// conditions.cpp: returns mtli_parameter.enabling_constant: the function
// constant that E names, directly or through other constants.
int32_t enablingConstant(const clang::Expr *E,
                         llvm::ArrayRef<clang::VarDecl *> Constants);
// Writes E as mtli_parameter.condition; "" if it cannot be written so.
std::string conditionText(const clang::Expr *E, const clang::ASTContext &C,
                          llvm::ArrayRef<clang::VarDecl *> Constants);

// layout.cpp: returns mtli_parameter.layout of a struct, "" if it is no
// argument buffer.
//
//   Nesting  how many pointers lead to it
std::string argumentLayout(clang::Sema &S, clang::QualType T, int Nesting);

// arithmetic.cpp: the places of class operators under a floating-point pragma:
// true if the pragma allows contraction.
using OperatorPragmas = llvm::StringMap<bool>;
std::unique_ptr<clang::ASTConsumer> makePragmaConsumer(const bool &HasPragmas,
                                                       OperatorPragmas &Found);
// Applies the pragmas to the library's functions that implement those
// operators.
void applyPragmas(llvm::Module &M, const OperatorPragmas &Pragmas);

// The type of a buffer's element or a struct's member.
struct ElementType {
  mtl_data_type Type = MTL_TYPE_NONE;
  uint32_t Components = 0;
  bool IsPlain = false;  // a scalar or vec, which have a name in reflect.h
};
// types.cpp: classifies a type; the library's vectors and atomics count as
// their elements.
ElementType elementType(clang::QualType T);
// Returns a type's name in MSL, without qualifiers and the library's namespace.
std::string writtenName(const clang::ASTContext &C, clang::QualType T);
mtlc_space spaceOf(clang::QualType T);
// Notes in Facts the kind of a texture, a sampler, a function table, a tensor,
// or an array of one of them.
void readResource(clang::QualType T, mtlc_parameter_facts &Facts);

// annotations.cpp: returns the text behind "mettle." in an annotation, or "".
llvm::StringRef annotationName(const clang::AnnotateAttr *A);
// Returns a declaration's annotation of a name, or null.
const clang::AnnotateAttr *findAnnotation(const clang::Decl *D,
                                          llvm::StringRef Name);
// Evaluates an annotation's argument; false if it is no constant.
bool evaluateIndex(const clang::AnnotateAttr *A, const clang::ASTContext &C,
                   int64_t &Value);

// members.cpp: true if T is an array of one element or none, or a structure
// that ends with one.
bool endsOpen(const clang::ASTContext &C, clang::QualType T);
// members.cpp: returns mtl_argument.members of the type that an argument points
// to; empty if it has none.
llvm::ArrayRef<mtl_member> structMembers(clang::Sema &S, clang::QualType T,
                                         mtli_arena &Arena);

// portable_module.cpp: turns clang's IR into portable IR (docs/ir.md).
void finishModule(llvm::Module &M, const LinkedSymbols &Linked);
void dropRegisterNames(llvm::Module &M);
// Returns "file:line:column" as in diagnostics.
std::string placeInSource(const llvm::Module &M, const llvm::DILocation &At);
// True if every symbol used is defined, or expected of a linked function;
// otherwise writes the missing ones to Errors.
bool isComplete(const llvm::Module &M, const mtli_code &Code,
                const LinkedSymbols &Linked, llvm::raw_ostream &Errors);

}  // namespace mtlc

#endif
