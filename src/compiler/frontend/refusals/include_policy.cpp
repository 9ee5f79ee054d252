// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// include_policy.cpp: which files a source may read. A path is judged by its
// text first, so that a refusal tells nothing of what the disk has, and then
// by where it really leads.
#include <stdlib.h>
#include <sys/stat.h>

#include <string>

#include "clang/Frontend/CompilerInstance.h"
#include "clang/Lex/PPCallbacks.h"
#include "clang/Lex/Preprocessor.h"
#include "compiler/frontend/parts.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace clang;
using llvm::StringRef;

namespace {

using namespace mtlc;

// Absolute and without dots, by the text alone.
std::string plainPath(StringRef Path) {
  llvm::SmallString<256> Plain(Path);
  llvm::sys::fs::make_absolute(Plain);
  llvm::sys::path::remove_dots(Plain, /*remove_dot_dot=*/true);
  return Plain.str().str();
}

// Returns the real path, "" if there is none.
std::string resolve(const std::string &Path) {
  char *Real = realpath(Path.c_str(), nullptr);
  const std::string Result = Real ? Real : "";
  free(Real);
  return Result;
}

bool isUnder(StringRef Path, StringRef Root) {
  return Path.consume_front(Root) &&
         (Path.empty() || Path.front() == '/' || Root.ends_with("/"));
}

// Tells of refused inclusions in the place of "file not found", and keeps what
// the compiler makes for itself out of sources' reach.
class InclusionWatch : public PPCallbacks {
 public:
  InclusionWatch(DiagnosticsEngine &Diags, const FilePolicy &Policy)
      : Diags(Diags), Policy(Policy) {}

  bool FileNotFound(StringRef Name) override {
    IsRefused = Policy.hasRefused(Name);
    return IsRefused;
  }

  void InclusionDirective(SourceLocation, const Token &, StringRef Name, bool,
                          CharSourceRange Range, OptionalFileEntryRef File,
                          StringRef, StringRef, const Module *, bool,
                          SrcMgr::CharacteristicKind) override {
    if (!File && IsRefused)
      report(Diags, Range.getBegin(), DiagnosticsEngine::Fatal,
             ("'" + Name + "' " + Policy.reason()).str());
    IsRefused = false;
  }

 private:
  DiagnosticsEngine &Diags;
  const FilePolicy &Policy;
  bool IsRefused = false;
};

}  // namespace

FilePolicy::FilePolicy(const mtlc_source *Source) {
  const auto Add = [&](StringRef Folder) {
    const std::string Given = Folder.empty() ? "." : Folder.str();
    Roots.push_back(plainPath(Given));
    const std::string Real = resolve(Given);
    if (!Real.empty() && Real != Roots.back()) Roots.push_back(Real);
  };
  if (!Source) return;
  if (Source->options.file_name)
    Add(llvm::sys::path::parent_path(Source->options.file_name));
  for (size_t I = 0; I < Source->options.include_path_count; ++I)
    Add(Source->options.include_paths[I]);
}

bool FilePolicy::allows(StringRef Path) {
  const auto IsWithin = [&](StringRef P) {
    return llvm::any_of(Roots, [&](const auto &R) { return isUnder(P, R); });
  };
  // Of what is not there, the nearest folder that is counts: whether a file
  // behind a link exists is not told either. A root need not exist.
  const auto LeadsWithin = [&](StringRef At) {
    for (std::string Real; (Real = resolve(At.str())).empty();) {
      struct stat Link;
      if (llvm::is_contained(Roots, plainPath(At))) return true;
      if (lstat(At.str().c_str(), &Link) == 0 || At == ".") return false;
      At = llvm::sys::path::parent_path(At);
      if (At.empty()) At = ".";
    }
    return IsWithin(resolve(At.str()));
  };
  if (IsWithin(plainPath(Path)) && LeadsWithin(Path)) return true;
  Refused.insert(Path);
  return false;
}

// A file's folder is looked for before the file.
bool FilePolicy::hasRefused(StringRef Name) const {
  const StringRef Folder = llvm::sys::path::parent_path(Name);
  return llvm::any_of(Refused, [&](const auto &Entry) {
    return Entry.first().ends_with(Name) ||
           (!Folder.empty() && Entry.first().ends_with(Folder));
  });
}

StringRef FilePolicy::reason() const {
  return Roots.empty() ? "cannot be included: a source without a file name "
                         "and include paths reads no files"
                       : "cannot be included: it lies outside the include "
                         "paths (-I) and the source's own folder";
}

void mtlc::watchInclusions(CompilerInstance &CI, const FilePolicy &Policy) {
  CI.getPreprocessor().addPPCallbacks(
      std::make_unique<InclusionWatch>(CI.getDiagnostics(), Policy));
}
