// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tokens.cpp: from text to syntax tree, with the rewriter between
// clang's lexer and its parser.
#include <memory>
#include <string>
#include <vector>

#include "clang/AST/ASTConsumer.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Lex/Pragma.h"
#include "clang/Lex/Preprocessor.h"
#include "clang/Parse/Parser.h"
#include "clang/Sema/EnterExpressionEvaluationContext.h"
#include "clang/Sema/ExternalSemaSource.h"
#include "clang/Sema/Lookup.h"
#include "clang/Sema/Sema.h"
#include "compiler/frontend/parts.h"
#include "compiler/frontend/source/source.h"

using namespace clang;
using llvm::StringRef;

namespace {

using namespace mtlc;

// 16 million tokens need about 1.3 GB here.
constexpr size_t MostTokens = 16u << 20;

mtlc_token describeToken(const Token &T) {
  const auto Make = [](StringRef Text, mtlc_token_kind Kind) {
    return mtlc_token{Text.data(), static_cast<uint32_t>(Text.size()), Kind};
  };
  if (T.isAnnotation() || T.is(tok::eof)) return Make("", MTLC_TOKEN_OTHER);
  if (const IdentifierInfo *II = T.getIdentifierInfo())
    return Make(II->getName(), MTLC_TOKEN_WORD);
  if (T.isLiteral())
    return Make(
        StringRef(T.getLiteralData(), T.getLiteralData() ? T.getLength() : 0),
        MTLC_TOKEN_LITERAL);
  const char *Spelling = tok::getPunctuatorSpelling(T.getKind());
  return Make(Spelling ? Spelling : "",
              Spelling ? MTLC_TOKEN_PUNCTUATION : MTLC_TOKEN_OTHER);
}

// A token that the rewriter put in, at the place of the one it stands for.
Token makeToken(Preprocessor &PP, StringRef Text, const Token &Origin) {
  Token T;
  T.startToken();
  T.setLocation(Origin.getLocation());
  if (Text.front() == '"') {
    T.setKind(tok::string_literal);
    PP.CreateString(Text, T, Origin.getLocation(), Origin.getLocation());
    return T;
  }
  T.setLength(Origin.isAnnotation() ? 1 : Origin.getLength());
  static const llvm::StringMap<tok::TokenKind> Punctuators = [] {
    llvm::StringMap<tok::TokenKind> Map;
    for (unsigned Kind = 0; Kind < tok::NUM_TOKENS; ++Kind)
      if (const char *Spelling =
              tok::getPunctuatorSpelling(static_cast<tok::TokenKind>(Kind)))
        Map[Spelling] = static_cast<tok::TokenKind>(Kind);
    return Map;
  }();
  if (const auto Found = Punctuators.find(Text); Found != Punctuators.end()) {
    T.setKind(Found->second);
    return T;
  }
  IdentifierInfo *II = PP.getIdentifierInfo(Text);
  T.setIdentifierInfo(II);
  T.setKind(II->getTokenID());
  return T;
}

// Finds the constants whose presence is asked for, which a client may then
// leave out: name in is_function_constant_defined(name), a macro.
void findTestedConstants(const std::vector<mtlc_token> &Tokens,
                         llvm::StringSet<> &Result) {
  const auto Text = [&](size_t I) {
    return StringRef(Tokens[I].text, Tokens[I].length);
  };
  for (size_t I = 0; I < Tokens.size(); ++I) {
    if (Text(I) != "__mettle_constant_defined") continue;
    for (size_t J = I + 1; J < Tokens.size() && Text(J) != ")"; ++J)
      if (Tokens[J].kind == MTLC_TOKEN_WORD) Result.insert(Text(J));
  }
}

// Finds the library's declaration of a name for programs that do not declare
// it.
DeclContext::lookup_result findUndeclared(ASTContext &C, DeclarationName Name) {
  const auto Spaces = C.getTranslationUnitDecl()->lookup(
      &C.Idents.get("__mettle_if_undeclared"));
  for (NamedDecl *Space : Spaces)
    return cast<NamespaceDecl>(Space)->lookup(Name);
  return {};
}

bool isIndirect(ASTContext &C, const IdentifierInfo *Name) {
  return !findUndeclared(C, DeclarationName(Name)).empty();
}

// Keywords of OpenCL that the rewriter uses; clang's parser knows them in every
// language, its lexer does not.
void addSpaceKeywords(Preprocessor &PP) {
  IdentifierTable &Table = PP.getIdentifierTable();
  Table.get("__global", tok::kw___global);
  Table.get("__local", tok::kw___local);
  Table.get("__constant", tok::kw___constant);
}

// ::MTLDispatchThreadgroupsIndirectArguments: the structs of mettle/indirect.h
// are no members of the global namespace, so a program that does not declare
// one finds it without the colons, which go.
void unqualifyIndirect(ASTContext &C, std::vector<Token> &Tokens) {
  const auto NameAt = [&](size_t I) -> const IdentifierInfo * {
    return I < Tokens.size() && !Tokens[I].isAnnotation() &&
                   !Tokens[I].isLiteral()
               ? Tokens[I].getIdentifierInfo()
               : nullptr;
  };
  llvm::DenseSet<const IdentifierInfo *> Declared;
  for (size_t I = 0; I + 2 < Tokens.size(); ++I)
    if (Tokens[I].isOneOf(tok::kw_struct, tok::kw_using) && NameAt(I + 1) &&
        Tokens[I + 2].isOneOf(tok::l_brace, tok::equal))
      Declared.insert(NameAt(I + 1));
  std::vector<Token> Kept;
  Kept.reserve(Tokens.size());
  for (size_t I = 0; I < Tokens.size(); ++I) {
    const IdentifierInfo *Name = NameAt(I + 1);
    const bool IsQualified =
        I > 0 && !Tokens[I].hasLeadingSpace() &&
        Tokens[I - 1].isOneOf(tok::greater, tok::identifier);
    if (Tokens[I].is(tok::coloncolon) && Name && !IsQualified &&
        Name->getName().starts_with("MTL") && !Declared.count(Name) &&
        isIndirect(C, Name))
      continue;
    Kept.push_back(Tokens[I]);
  }
  Tokens.swap(Kept);
}

// Lexes the whole translation unit and rewrites it (source.h).
bool readTokens(Preprocessor &PP, ASTContext &C, std::vector<Token> &Result,
                llvm::StringSet<> &TestedConstants, bool &HasPragmas) {
  std::vector<Token> Tokens;
  do {
    Tokens.emplace_back();
    PP.Lex(Tokens.back());
  } while (Tokens.back().isNot(tok::eof) && Tokens.size() < MostTokens);
  unqualifyIndirect(C, Tokens);
  std::vector<mtlc_token> Described;
  Described.reserve(Tokens.size());
  for (const Token &T : Tokens) {
    Described.push_back(describeToken(T));
    HasPragmas |=
        T.isOneOf(tok::annot_pragma_fp, tok::annot_pragma_fp_contract);
    const SourceLocation Loc = T.getLocation();
    const bool IsLongLong = T.is(tok::kw_long) && &T != Tokens.data() &&
                            (&T)[-1].is(tok::kw_long);
    if ((IsLongLong || T.is(tok::kw_double)) &&
        !isLibrarys(PP.getSourceManager(), Loc))
      report(PP.getDiagnostics(), Loc, DiagnosticsEngine::Error,
             IsLongLong ? "'long long' is not supported in Metal: 'long' has "
                          "64 bits"
                        : "'double' is not supported in Metal");
  }
  refuseHostWords(PP, Tokens);
  findTestedConstants(Described, TestedConstants);
  mtlc_rewrite Rewrite;
  if (Tokens.back().isNot(tok::eof) ||
      !mtlc_rewrite_tokens(Described.data(), Described.size(), &Rewrite))
    return false;
  addSpaceKeywords(PP);
  Result.reserve(Rewrite.count);
  for (size_t I = 0; I < Rewrite.count; ++I) {
    const Token &Origin = Tokens[Rewrite.tokens[I].origin];
    const char *Text = Rewrite.tokens[I].text;
    Result.push_back(Text ? makeToken(PP, Text, Origin) : Origin);
  }
  mtlc_rewrite_clear(&Rewrite);
  return true;
}

// Sema's list of functions to check at the end for what devices lack. In a
// precompiled header it would make every compilation read the whole library,
// at 3 ms of 4.5; it has no accessor, but an explicit instantiation may name a
// private member.
template <auto Member>
struct DeferredDecls {
  friend auto &deferredDecls(Sema &S) {
    return S.*Member;
  }
};
template struct DeferredDecls<&Sema::DeclsToCheckForDeferredDiags>;
auto &deferredDecls(Sema &S);

// #pragma METAL fp contract(off) and math_mode(safe), as clang spells them.
class MetalPragmaHandler : public PragmaHandler {
 public:
  MetalPragmaHandler() : PragmaHandler("METAL") {}

  void HandlePragma(Preprocessor &PP, PragmaIntroducer, Token &First) override {
    std::vector<std::string> Words;
    for (Token T; PP.LexUnexpandedToken(T), T.isNot(tok::eod);)
      Words.push_back(PP.getSpelling(T));
    if (Words.size() != 5 || Words[0] != "fp") return;
    std::string Mode;
    if (Words[1] == "contract")
      Mode = Words[3];
    else if (Words[1] == "math_mode")
      Mode = Words[3] == "safe" ? "on" : "fast";
    if (Mode != "on" && Mode != "off" && Mode != "fast") return;
    const std::string Spelling = "\"clang fp contract(" + Mode + ")\"";
    auto Tokens = std::make_unique<Token[]>(4);
    const char *const Texts[] = {"_Pragma", "(", Spelling.c_str(), ")"};
    for (size_t I = 0; I < 4; ++I) Tokens[I] = makeToken(PP, Texts[I], First);
    PP.EnterTokenStream(std::move(Tokens), 4, /*DisableMacroExpansion=*/false,
                        /*IsReinject=*/false);
  }
};

// Finds what only a program that does not declare it itself has from the
// library: mettle_indirect.h.
class UndeclaredNames : public ExternalSemaSource {
 public:
  explicit UndeclaredNames(ASTContext &C) : C(C) {}

  bool LookupUnqualified(LookupResult &R, Scope *) override {
    if (!R.getLookupName().isIdentifier()) return false;
    for (NamedDecl *D : findUndeclared(C, R.getLookupName())) R.addDecl(D);
    R.resolveKind();
    return !R.empty();
  }

 private:
  ASTContext &C;
};

}  // namespace

void mtlc::report(DiagnosticsEngine &Diags, SourceLocation Loc,
                  DiagnosticsEngine::Level Level, StringRef Text) {
  Diags.Report(Loc, Diags.getDiagnosticIDs()->getCustomDiagID(
                        static_cast<DiagnosticIDs::Level>(Level), "%0"))
      << Text;
}

void mtlc::parseTranslationUnit(CompilerInstance &CI,
                                llvm::StringSet<> &TestedConstants,
                                bool &HasPragmas) {
  Sema &S = CI.getSema();
  Preprocessor &PP = CI.getPreprocessor();
  ASTConsumer &Consumer = CI.getASTConsumer();
  Parser P(PP, S, /*SkipFunctionBodies=*/false);  // it handles the pragmas
  PP.AddPragmaHandler(new MetalPragmaHandler);
  S.addExternalSource(new UndeclaredNames(CI.getASTContext()));
  refuseHostPragmas(PP);
  PP.EnterMainSourceFile();
  if (ExternalASTSource *External = CI.getASTContext().getExternalSource())
    External->StartTranslationUnit(&Consumer);
  std::vector<Token> Tokens;
  if (!readTokens(PP, CI.getASTContext(), Tokens, TestedConstants, HasPragmas)) {
    report(CI.getDiagnostics(), SourceLocation(), DiagnosticsEngine::Fatal,
           "the source has more than 16 million tokens");
    return;
  }
  const ShortcutScope Shortcuts;
  PP.EnterTokenStream(Tokens, /*DisableMacroExpansion=*/true,
                      /*IsReinject=*/true);
  P.Initialize();
  EnterExpressionEvaluationContext Evaluated(
      S, Sema::ExpressionEvaluationContext::PotentiallyEvaluated);
  Parser::DeclGroupPtrTy Group;
  Sema::ModuleImportState State;
  for (bool AtEnd = P.ParseFirstTopLevelDecl(Group, State); !AtEnd;
       AtEnd = P.ParseTopLevelDecl(Group, State))
    if (Group) Consumer.HandleTopLevelDecl(Group.get());
  deferredDecls(S).clear();
  Consumer.HandleTranslationUnit(CI.getASTContext());
}
