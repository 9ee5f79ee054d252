// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// parts.h: what the files of the front end have of each other. The
// rest of Mettle sees frontend.h alone.
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
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/VirtualFileSystem.h"

namespace clang {
class ASTConsumer;
class ASTContext;
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

// Where Metal's own library, the generated text of a compilation's options,
// and the client's headers seem to be.
constexpr char LibraryDir[] = "/mettle/include/";
constexpr char PCHPath[] = "/mettle/library.pch";
constexpr char OptionsPath[] = "/mettle/compile_options.h";
constexpr char CallbackDir[] = "/mettle/client/";

// How a built-in input at program scope is called in clang's IR: behind it the
// mtli_builtin, its components, their bytes, and a number, with dots between.
constexpr char InputPrefix[] = "mettle.input.";

// include_policy.cpp: which files of the disk a source may read: what lies
// under the include paths, and under the folder of a source that has a file
// name, wherever links and ".." lead. Nothing else is so much as looked for.
class FilePolicy {
 public:
  explicit FilePolicy(const mtlc_source *Source);

  // Remembers a path that it refuses.
  bool allows(llvm::StringRef Path);
  // True if Name, as an inclusion spells it, was refused somewhere.
  bool hasRefused(llvm::StringRef Name) const;
  // Why, to follow "'name' ".
  llvm::StringRef reason() const;

 private:
  std::vector<std::string> Roots;  // as given, without dots, and resolved
  llvm::StringSet<> Refused;
};

// Has inclusions of what the policy refuses told as that.
void watchInclusions(clang::CompilerInstance &CI, const FilePolicy &Policy);

// files.cpp: the files of a compilation: Metal's library, the
// client's headers, the given texts, and the disk, whose use the source's
// observer is told.
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
                          llvm::StringSet<> &TestedConstants,
                          bool &HasPragmas);
void report(clang::DiagnosticsEngine &Diags, clang::SourceLocation Loc,
            clang::DiagnosticsEngine::Level Level, llvm::StringRef Text);

// frontend.cpp: the version that a program is compiled as, for the default too.
int languageVersion(const mtl_compile_options &Options);

// frontend.cpp: the text with Metal's words for those of clang's device mode.
std::string inMetalsWords(const std::string &Text);

// shortcuts.cpp: what is remembered while a source is parsed, once
// all of it is read, for clang to do it once.
class ShortcutScope {
 public:
  ShortcutScope();
  ~ShortcutScope();
  ShortcutScope(const ShortcutScope &) = delete;
  ShortcutScope &operator=(const ShortcutScope &) = delete;
};

// shortcuts.cpp: Left = Right where both are of one class and its own operator=
// is what clang would choose at length; empty where clang has to.
clang::ExprResult assignWithinClass(clang::Sema &S, clang::SourceLocation Loc,
                                    clang::Expr *Left, clang::Expr *Right);

// unsupported.cpp: what to say in place of an error with this text if it is
// about what Metal has and Mettle has not, or not in this version of the
// language, else "".
std::string unsupportedText(const clang::Diagnostic &Info,
                            llvm::StringRef Text, bool IsMetal4);

// diagnostics.cpp: prints diagnostics, each as clang would but for
// those of Metal's own library. The engine that it is given to owns it.
clang::DiagnosticConsumer *makeDiagnosticPrinter(llvm::raw_ostream &OS,
                                                 clang::CompilerInstance &CI);

// words.cpp: the text of a diagnostic with a program's names for the
// library's types.
std::string inProgramsWords(llvm::StringRef Text);
// True if a note about the library, which has no place in the program, says
// something to its author.
bool isOfUse(llvm::StringRef Note);
// What to say of an error in the library.
//
//   Asked  the note about what the program asked for
std::string textOfLibrary(llvm::StringRef Text, llvm::StringRef Asked);
// The text, and what a name in it that nobody knows was probably meant to be.
std::string withSuggestion(clang::CompilerInstance &CI, llvm::StringRef Text);
// True if that is a word of the language, without which the parser misreads
// what follows.
bool isWordSuggested(llvm::StringRef Text);

// host.cpp: errors for what a kernel must not use of the host.
// First, once the main source, of that name, is the source manager's.
void refuseEmbedding(clang::CompilerInstance &CI, llvm::StringRef Name);
// Once the parser has its pragmas.
void refuseHostPragmas(clang::Preprocessor &PP);
//   Tokens  of the program, as they are written
void refuseHostWords(clang::Preprocessor &PP,
                     llvm::ArrayRef<clang::Token> Tokens);
void refuseHostSyntax(clang::Sema &S, clang::DeclGroupRef Group);
// Whether nothing of the host is in a finished module; writes to Errors.
bool isOfKernels(const llvm::Module &M, llvm::raw_ostream &Errors);
// True if Loc is in Metal's own library, or in what a macro of it became.
bool isLibrarys(const clang::SourceManager &SM, clang::SourceLocation Loc);
// Of an instruction that uses a constant; null if none has a place.
const llvm::DebugLoc *placeOfUse(const llvm::Value *V);

// Symbols of functions that other libraries may have a part in.
struct LinkedSymbols {
  llvm::StringSet<> Offered;  // visible functions, with bodies
  llvm::StringSet<> Wanted;   // declared for a linked function to define
};

// kernels.cpp: judges kernels, visible functions and function
// constants once all is parsed, fills in Parsed->code and Linked, and gives
// Generator an entry for each kernel.
std::unique_ptr<clang::ASTConsumer> makeKernelConsumer(
    const mtl_compile_options &Options, mtlc_parsed *Parsed,
    const llvm::StringSet<> &TestedConstants, LinkedSymbols &Linked,
    clang::CodeGenerator *Generator);

// refusals.cpp: how a program is judged by what Metal takes.
struct Refusals {
  clang::Sema &S;
  int Version;        // as mtl_language_version
  bool IsPermissive;  // warnings instead of errors
  clang::FunctionDecl *Instance = nullptr;  // of a template, that is looked at
  llvm::StringSet<> Seen;                   // what is already told
};
// Tells of what Metal refuses in Program, the declarations as written.
void refuseProgram(Refusals &Out, llvm::ArrayRef<clang::Decl *> Program);
// Tells of one thing, once for all instances of a template, and what to do.
//
//   Always  an error with -fpermissive too
void refuse(Refusals &Out, clang::SourceLocation Loc, const std::string &Text,
            const std::string &Hint, bool Always = false);

// overloads.cpp: judges a call of the function F, which may be the
// library's, and the use of a type.
void judgeCall(Refusals &Out, const clang::CallExpr *E,
               const clang::FunctionDecl *F);
void judgeType(Refusals &Out, clang::SourceLocation Loc, clang::QualType T);
// Refuses float4(1, 2): what is in parentheses has each component.
void judgeComponents(Refusals &Out, const clang::CXXConstructExpr *E);
// Refuses What in versions of Metal before Version.
void needVersion(Refusals &Out, clang::SourceLocation Loc,
                 const std::string &What, int Version);

// spaces.cpp: true if a pointer or reference is declared as one to the thread's
// memory.
bool saysThread(clang::Sema &S, clang::TypeLoc T);

// conditions.cpp: the function constant that decides, as
// mtli_parameter.enabling_constant: the one that E names, itself or through
// constants that stand for it.
int32_t enablingConstant(const clang::Expr *E,
                         llvm::ArrayRef<clang::VarDecl *> Constants);
// E as mtli_parameter.condition has it; "" if it cannot be.
std::string conditionText(const clang::Expr *E, const clang::ASTContext &C,
                          llvm::ArrayRef<clang::VarDecl *> Constants);

// layout.cpp: mtli_parameter.layout of a struct, "" if it is no
// argument buffer.
//
//   Nesting  how many pointers lead to it
std::string argumentLayout(clang::Sema &S, clang::QualType T, int Nesting);

// arithmetic.cpp: the operators of classes that pragmas for floating
// point hold for, by their places: true if they may be contracted.
using OperatorPragmas = llvm::StringMap<bool>;
std::unique_ptr<clang::ASTConsumer> makePragmaConsumer(const bool &HasPragmas,
                                                       OperatorPragmas &Found);
// Has the pragmas reach the library's functions that are such operators.
void applyPragmas(llvm::Module &M, const OperatorPragmas &Pragmas);

// What an element of a buffer or a member of a struct is.
struct ElementType {
  mtl_data_type Type = MTL_TYPE_NONE;
  uint32_t Components = 0;
  bool IsPlain = false;  // a scalar or vec, which have a name in reflect.h
};
// kernels.cpp: sees through the library's vectors and atomics.
ElementType elementType(clang::QualType T);
// The type as Metal writes it, without qualifiers and the library's namespace.
std::string writtenName(const clang::ASTContext &C, clang::QualType T);

// members.cpp: true if T is an array of one element or none, or a structure
// that ends with one.
bool endsOpen(const clang::ASTContext &C, clang::QualType T);
// members.cpp: mtl_argument.members of what an argument points at;
// empty if it has none.
llvm::ArrayRef<mtl_member> structMembers(clang::Sema &S, clang::QualType T,
                                         mtli_arena &Arena);

// portable_module.cpp: makes portable IR (docs/ir.md) of what clang emitted.
void finishModule(llvm::Module &M, const LinkedSymbols &Linked);
// "file:line:column" as diagnostics have it.
std::string placeInSource(const llvm::Module &M, const llvm::DILocation &At);
// Whether all that is used is defined, or wanted of a linked function; writes
// what is not to Errors.
bool isComplete(const llvm::Module &M, const mtli_code &Code,
                const LinkedSymbols &Linked, llvm::raw_ostream &Errors);

}  // namespace mtlc

#endif
