// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// words.cpp: the words of diagnostics: types by the names that
// programs have for them, and what a misspelled word was probably meant to be.
#include <string>
#include <vector>

#include "clang/AST/ASTContext.h"
#include "clang/AST/Decl.h"
#include "clang/Basic/IdentifierTable.h"
#include "clang/Frontend/CompilerInstance.h"
#include "compiler/frontend/parts.h"
#include "compiler/frontend/source/source.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Regex.h"

using namespace clang;
using llvm::StringRef;

namespace {

using namespace mtlc;

// --- types -------------------------------------------------------------------

// Returns the name of a component in clang's text; "" if there is none.
StringRef componentName(StringRef Name) {
  constexpr std::pair<StringRef, StringRef> Names[] = {
      {"_Float16", "half"},         {"unsigned char", "uchar"},
      {"unsigned short", "ushort"}, {"unsigned int", "uint"},
      {"unsigned long", "ulong"},   {"half", "half"},
      {"uchar", "uchar"},           {"ushort", "ushort"},
      {"uint", "uint"},             {"ulong", "ulong"},
      {"bool", "bool"},             {"char", "char"},
      {"short", "short"},           {"int", "int"},
      {"long", "long"},             {"float", "float"},
      {"bfloat", "bfloat"}};
  for (const auto &[Known, Metals] : Names)
    if (Name == Known) return Metals;
  return "";
}

// Replaces matches, from left to right, by Make's text for their groups; a
// match without a text stays.
template <typename F>
std::string replaceAll(StringRef Text, llvm::Regex Pattern, F Make) {
  std::string Result;
  llvm::SmallVector<StringRef> Groups;
  while (Pattern.match(Text, &Groups)) {
    const size_t At = Groups[0].data() - Text.data();
    const std::string New = Make(Groups);
    Result += Text.take_front(At);
    Result += New.empty() ? Groups[0].str() : New;
    Text = Text.drop_front(At + Groups[0].size());
  }
  return Result + Text.str();
}

// vec<float, 4>, packed_vec<...> and matrix<...> as float4 and so on.
std::string withNames(StringRef Text) {
  const auto Vector = [](size_t Component, StringRef Prefix) {
    return [=](llvm::ArrayRef<StringRef> G) {
      const StringRef Name = componentName(G[Component]);
      return Name.empty() ? ""
                          : (Prefix + Name + G[Component + 1]).str();
    };
  };
  std::string Result = replaceAll(
      Text,
      llvm::Regex("(metal::)?packed_vec<([A-Za-z0-9_ ]+), ([234])"
                  "(, (metal::)?vec<[^<>]*> ?)?>"),
      Vector(2, "packed_"));
  Result = replaceAll(
      Result, llvm::Regex("(metal::)?vec<([A-Za-z0-9_ ]+), ([234])>"),
      Vector(2, ""));
  Result = replaceAll(Result,
                      llvm::Regex("__mettle::native<([A-Za-z0-9_ ]+), "
                                  "([234])>"),
                      Vector(1, ""));
  return replaceAll(
      Result,
      llvm::Regex("(metal::)?matrix<([A-Za-z0-9_ ]+), ([234]), ([234])>"),
      [](llvm::ArrayRef<StringRef> G) {
        const StringRef Name = componentName(G[2]);
        return Name.empty() ? "" : (Name + G[3] + "x" + G[4]).str();
      });
}

// Replaces the library's own aliases for types in messages about its operators.
std::string withoutAliases(StringRef Text) {
  std::string Last;
  std::string Result = replaceAll(
      Text,
      llvm::Regex("'native_type' \\(aka '(const )?(__mettle::)?native<"
                  "([A-Za-z0-9_ ]+), ([234])>'\\)"),
      [&](llvm::ArrayRef<StringRef> G) {
        const StringRef Name = componentName(G[3]);
        if (!Name.empty()) Last = ("'" + Name + G[4] + "'").str();
        return Last;
      });
  if (!Last.empty())
    Result = replaceAll(Result, llvm::Regex("'native_type'"),
                        [&](llvm::ArrayRef<StringRef>) { return Last; });
  return replaceAll(Result, llvm::Regex("__mettle::identity_t<([^<>]*)>"),
                    [](llvm::ArrayRef<StringRef> G) { return G[1].str(); });
}

// Drops repeated names such as "'float4' (aka 'float4')".
std::string withoutTwins(StringRef Text) {
  return replaceAll(
      Text, llvm::Regex("'([^']*)' \\(aka '([^']*)'\\)"),
      [](llvm::ArrayRef<StringRef> G) {
        const bool IsTwin = G[1] == G[2] || G[2].contains("__mettle") ||
                            G[2].contains("native<") ||
                            componentName(G[2]) == G[1];
        return IsTwin ? ("'" + G[1] + "'").str() : "";
      });
}

// --- suggestions -------------------------------------------------------------

constexpr StringRef LanguageWords[] = {
    "device", "constant", "threadgroup", "thread", "kernel", "bool", "char",
    "short", "int", "long", "float", "half", "unsigned", "void", "struct"};

// True if two neighbouring letters have changed places, and nothing else.
bool isSwapped(StringRef Word, StringRef Name) {
  if (Word.size() != Name.size()) return false;
  size_t At = 0;
  while (At < Word.size() && Word[At] == Name[At]) ++At;
  return At + 1 < Word.size() && Word[At] == Name[At + 1] &&
         Word[At + 1] == Name[At] && Word.substr(At + 2) == Name.substr(At + 2);
}

// Half edits: a swap is likelier than another letter.
unsigned distanceOf(StringRef Word, StringRef Name, unsigned Most) {
  return isSwapped(Word, Name)
             ? 1
             : 2 * Word.edit_distance(Name, /*AllowReplacements=*/true, Most);
}

// Finds the candidate nearest to an unknown word.
class Nearest {
 public:
  explicit Nearest(StringRef Word)
      : Word(Word), Most(Word.size() < 4 ? 0 : (Word.size() + 2) / 4) {}

  void offer(StringRef Name) {
    const unsigned Distance = distanceOf(Word, Name, Most);
    if (Distance > 2 * Most || (!Names.empty() && Distance > Least)) return;
    if (Names.empty() || Distance < Least) Names.clear();
    Least = Distance;
    Names.push_back(Name.str());
  }
  llvm::ArrayRef<std::string> names() const {
    return Names;
  }

 private:
  StringRef Word;
  unsigned Most;
  unsigned Least = 0;
  std::vector<std::string> Names;
};

bool isMetals(ASTContext &C, StringRef Name) {
  const DeclarationName Word(&C.Idents.get(Name));
  if (!C.getTranslationUnitDecl()->lookup(Word).empty()) return true;
  const DeclarationName Metal(&C.Idents.get("metal"));
  for (NamedDecl *D : C.getTranslationUnitDecl()->lookup(Metal))
    if (auto *Space = dyn_cast<NamespaceDecl>(D))
      if (!Space->lookup(Word).empty()) return true;
  return false;
}

// Returns a similar name of the program or of Metal that is visible everywhere.
std::string nearestName(CompilerInstance &CI, StringRef Word) {
  Nearest Found(Word);
  for (const StringRef Known : LanguageWords) Found.offer(Known);
  ASTContext &C = CI.getASTContext();
  for (const auto &Entry : C.Idents)
    if (!Entry.getKey().starts_with("_") && Entry.getKey() != Word)
      Found.offer(Entry.getKey());
  if (IdentifierInfoLookup *More = C.Idents.getExternalIdentifierLookup()) {
    const std::unique_ptr<IdentifierIterator> All(More->getIdentifiers());
    for (StringRef Name = All->Next(); !Name.empty(); Name = All->Next())
      if (!Name.starts_with("_") && Name != Word) Found.offer(Name);
  }
  for (const std::string &Name : Found.names())
    if (llvm::is_contained(LanguageWords, Name) || isMetals(C, Name))
      return Name;
  return "";
}

std::string nearestMember(CompilerInstance &CI, StringRef Word,
                          StringRef Class) {
  ASTContext &C = CI.getASTContext();
  Nearest Found(Word);
  Class.consume_front("metal::");
  const DeclarationName Name(&C.Idents.get(Class));
  const auto OfferAll = [&](const DeclContext::lookup_result &Decls) {
    for (NamedDecl *D : Decls)
      if (auto *Tag = dyn_cast<TagDecl>(D))
        for (Decl *Member : Tag->decls())
          if (auto *Named = dyn_cast<NamedDecl>(Member))
            if (Named->getIdentifier() && !Named->getName().starts_with("_"))
              Found.offer(Named->getName());
  };
  const DeclarationName Metal(&C.Idents.get("metal"));
  for (NamedDecl *D : C.getTranslationUnitDecl()->lookup(Metal))
    if (auto *Space = dyn_cast<NamespaceDecl>(D)) OfferAll(Space->lookup(Name));
  OfferAll(C.getTranslationUnitDecl()->lookup(Name));
  return Found.names().empty() ? "" : Found.names().front();
}

std::string nearestAttribute(StringRef Word) {
  Nearest Found(Word);
  for (size_t I = 0; const char *Name = mtlc_attribute_name(I); ++I)
    Found.offer(Name);
  return Found.names().empty() ? "" : Found.names().front();
}

// The components that a vector has.
std::string componentsOf(StringRef Type) {
  constexpr StringRef Positions[] = {"x, y", "x, y, z", "x, y, z, w"};
  constexpr StringRef Colours[] = {"r, g", "r, g, b", "r, g, b, a"};
  const size_t Count = Type.back() - '2';
  return Count > 2 || componentName(Type.drop_back()).empty()
             ? ""
             : ("; its components are " + Positions[Count] + " or " +
                Colours[Count])
                   .str();
}

}  // namespace

std::string mtlc::inProgramsWords(StringRef Text) {
  // Swizzles are properties of the library's vectors.
  if (Text == "address of property expression requested")
    return "a vector's component has no address";
  for (const StringRef Head : {"no member named '__put_",
                               "cannot find suitable setter for property '"})
    if (Text.starts_with(Head))
      return "'" + Text.drop_front(Head.size()).split('\'').first.str() +
             "' cannot be assigned: it names a component twice";
  return withoutTwins(withNames(withoutAliases(Text)));
}

bool mtlc::isOfUse(StringRef Note) {
  for (const char *Word :
       {"__mettle", "__builtin", "__is_", "native<", "ext_vector", "METTLE_",
        "type-parameter", "substitution failure", "requirement '",
        "template ignored", "declared here", "implicit copy", "implicit move",
        "explicitly deleted", "explicitly marked", "no_argument",
        "explicit constructor", "expression evaluates", " volatile "})
    if (Note.contains(Word)) return false;
  return Note.starts_with("candidate");
}

std::string mtlc::textOfLibrary(StringRef Text, StringRef Asked) {
  if (Text.starts_with("static assertion failed")) {
    const size_t At = Text.rfind("': ");
    if (At != StringRef::npos) return Text.drop_front(At + 3).str();
    return Text.split(": ").second.str();
  }
  for (const char *Word : {"__mettle", "__builtin", "native<", "native_type",
                           "ext_vector", "__attribute__"})
    if (Text.contains(Word)) {
      const StringRef What = Asked.split('\'').second.rsplit('\'').first;
      return ("'" + What + "' is not for such types").str();
    }
  return Text.str();
}

bool mtlc::isWordSuggested(StringRef Text) {
  return llvm::any_of(LanguageWords, [&](StringRef Word) {
    return Text.ends_with(("; did you mean '" + Word + "'?").str());
  });
}

std::string mtlc::withSuggestion(CompilerInstance &CI, StringRef Text) {
  const StringRef Name = Text.split('\'').second.split('\'').first;
  std::string Better;
  if (Text.starts_with("unknown attribute '")) {
    Better = nearestAttribute(Name);
    if (Better.empty()) return Text.str();
    const auto [Head, Tail] = Text.split(" ignored");
    return (Head + " ignored; did you mean '" + Better + "'?" + Tail).str();
  }
  if (!CI.hasASTContext()) return Text.str();
  const bool IsUnknown = Text.starts_with("use of undeclared identifier '") ||
                         Text.starts_with("unknown type name '") ||
                         (Text.starts_with("no member named '") &&
                          Text.ends_with("in namespace 'metal'"));
  if (Text.contains("; did you mean '")) {
    // Prefers the guess that is a word of the language, if it is nearer.
    const auto [Head, Tail] = Text.split("; did you mean '");
    Nearest Found(Name);
    for (const StringRef Known : LanguageWords) Found.offer(Known);
    if (!IsUnknown || Found.names().empty() ||
        distanceOf(Name, Tail.split('\'').first, 0) <=
            distanceOf(Name, Found.names().front(), 0))
      return Text.str();
    return (Head + "; did you mean '" + Found.names().front() + "'?").str();
  }
  if (IsUnknown) {
    Better = nearestName(CI, Name);
  } else if (Text.starts_with("no member named '")) {
    const StringRef Class = Text.rsplit("in '").second.split('\'').first;
    if (Class.empty()) return Text.str();
    const std::string Components = componentsOf(Class);
    if (!Components.empty()) return Text.str() + Components;
    Better = nearestMember(CI, Name, Class);
  }
  return Better.empty() ? Text.str()
                        : (Text + "; did you mean '" + Better + "'?").str();
}
