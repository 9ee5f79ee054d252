// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// diagnostics.cpp: tells errors and warnings as clang does, but about
// the program: what goes wrong inside Metal's own library is told at the line
// of the program that asked for it, without the library's lines and names.
#include <memory>
#include <string>
#include <vector>

#include "clang/Basic/SourceManager.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/TextDiagnostic.h"
#include "clang/Lex/LexDiagnostic.h"
#include "compiler/frontend/parts.h"
#include "llvm/ADT/StringExtras.h"

using namespace clang;
using llvm::StringRef;

namespace {

using namespace mtlc;

// Notes about candidates of the library that follow one error.
constexpr size_t MostCandidates = 4;

// An error or a warning, with its notes.
using Group = std::vector<StoredDiagnostic>;

class Printer : public DiagnosticConsumer {
 public:
  Printer(llvm::raw_ostream &OS, CompilerInstance &CI)
      : OS(OS), CI(CI), Options(&CI.getDiagnosticOpts()) {}

  void BeginSourceFile(const LangOptions &Language,
                       const Preprocessor *) override {
    Lang = Language;
    Renderer = std::make_unique<TextDiagnostic>(OS, Lang, Options.get());
  }

  void EndSourceFile() override {
    flush();
    Renderer.reset();
  }

  void HandleDiagnostic(DiagnosticsEngine::Level Level,
                        const Diagnostic &Info) override {
    DiagnosticConsumer::HandleDiagnostic(Level, Info);
    if (IsSilent) return;
    llvm::SmallString<256> Text;
    Info.FormatDiagnostic(Text);
    const bool IsEmbedding = Info.getID() == diag::ext_pp_embed_directive;
    if (IsEmbedding) Text = "'#embed' is not supported in Metal";
    if (Level != DiagnosticsEngine::Note) flush();
    const std::string Unsupported =
        Level >= DiagnosticsEngine::Error
            ? unsupportedText(Info, Text, Lang.CPlusPlus20)
            : "";
    // Later errors only follow from it.
    IsSilent = !Unsupported.empty();
    if (IsSilent)
      Text = Unsupported;
    else if (!IsEmbedding)
      Text += optionOf(Level, Info.getID());
    add(Level, Info, Text);
    if (!Renderer) flush();
  }

 private:
  // " [-Wname]", as clang has it.
  static std::string optionOf(DiagnosticsEngine::Level Level, unsigned ID) {
    const StringRef Option = DiagnosticIDs::getWarningOptionForDiag(ID);
    return Level == DiagnosticsEngine::Note || Option.empty()
               ? ""
               : (" [-W" + Option + "]").str();
  }

  void add(DiagnosticsEngine::Level Level, const Diagnostic &Info,
           StringRef Text) {
    FullSourceLoc Loc;
    if (Info.hasSourceManager() && Info.getLocation().isValid())
      Loc = FullSourceLoc(Info.getLocation(), Info.getSourceManager());
    Current.emplace_back(Level, Info.getID(), inProgramsWords(Text), Loc,
                         Info.getRanges(), Info.getFixItHints());
  }

  static bool isInLibrary(const StoredDiagnostic &D) {
    const FullSourceLoc &Loc = D.getLocation();
    return Loc.isValid() && Loc.getManager()
                                .getFilename(Loc.getExpansionLoc())
                                .starts_with(LibraryDir);
  }

  static bool isInProgram(const StoredDiagnostic &D) {
    return D.getLocation().isValid() && !isInLibrary(D);
  }

  void flush() {
    Group Told;
    Told.swap(Current);
    if (Told.empty()) return;
    if (isInLibrary(Told.front()) && !moveToProgram(Told)) return;
    const StoredDiagnostic First = suggest(Told.front());
    const unsigned Line = First.getLocation().isValid()
                              ? First.getLocation().getExpansionLineNumber()
                              : 0;
    if (Line && Line == MisreadLine) return;
    if (isRepeated(First)) return;
    if (isWordSuggested(First.getMessage())) MisreadLine = Line;
    print(First);
    size_t Candidates = 0;
    llvm::StringSet<> Seen;
    for (const StoredDiagnostic &Note : llvm::drop_begin(Told)) {
      if (!isInLibrary(Note))
        print(Note);
      else if (isOfUse(Note.getMessage()) &&
               Seen.insert(Note.getMessage()).second &&
               ++Candidates <= MostCandidates)
        printAt(First.getLocation(), Note.getMessage());
    }
  }

  // True if the same was told of the same place right before.
  bool isRepeated(const StoredDiagnostic &D) {
    const FullSourceLoc &Loc = D.getLocation();
    if (Loc.isInvalid()) return false;
    const auto Key = std::make_pair(Loc.getRawEncoding(),
                                    D.getMessage().str());
    if (Key == Last) return true;
    Last = Key;
    return false;
  }

  // A suggestion of clang's that gives way takes its change of the line along.
  StoredDiagnostic suggest(const StoredDiagnostic &D) {
    const std::string Text = withSuggestion(CI, D.getMessage());
    const bool IsSame = Text == D.getMessage();
    return StoredDiagnostic(D.getLevel(), D.getID(), Text, D.getLocation(),
                            D.getRanges(),
                            IsSame ? D.getFixIts() : ArrayRef<FixItHint>());
  }

  // Moves an error in the library to the place of the program that caused it,
  // which its first note has. False if an error was reported there already.
  bool moveToProgram(Group &Told) {
    const auto Asked = llvm::find_if(Told, isInProgram);
    // Clang prints only once how it came to one instance of a template.
    if (Asked == Told.end()) return Moved.empty();
    const FullSourceLoc Place = Asked->getLocation();
    const StoredDiagnostic &First = Told.front();
    const std::string Text = textOfLibrary(First.getMessage(),
                                           Asked->getMessage());
    if (First.getLevel() >= DiagnosticsEngine::Error &&
        !Moved.insert(Place.getRawEncoding()).second)
      return false;
    StoredDiagnostic Primary(First.getLevel(), First.getID(), Text, Place, {},
                             {});
    Group Rest{Primary};
    for (const StoredDiagnostic &D :
         llvm::make_range(std::next(Asked), Told.end()))
      if (isInProgram(D)) Rest.push_back(D);
    Told.swap(Rest);
    return true;
  }

  void print(const StoredDiagnostic &D) {
    if (Renderer && D.getLocation().isValid()) {
      Renderer->emitStoredDiagnostic(const_cast<StoredDiagnostic &>(D));
      return;
    }
    TextDiagnostic::printDiagnosticLevel(OS, D.getLevel(),
                                         /*ShowColors=*/false);
    OS << D.getMessage() << '\n';
  }

  // A note without the line of the source, which stands above.
  void printAt(const FullSourceLoc &Loc, StringRef Text) {
    const PresumedLoc Place = Loc.isValid() ? Loc.getPresumedLoc()
                                            : PresumedLoc();
    if (Place.isValid())
      OS << Place.getFilename() << ':' << Place.getLine() << ':'
         << Place.getColumn() << ": ";
    OS << "note: " << Text << '\n';
  }

  llvm::raw_ostream &OS;
  CompilerInstance &CI;
  IntrusiveRefCntPtr<DiagnosticOptions> Options;
  LangOptions Lang;
  std::unique_ptr<TextDiagnostic> Renderer;  // within a source file
  Group Current;
  llvm::DenseSet<unsigned> Moved;  // places of the program, of library errors
  std::pair<unsigned, std::string> Last;  // the place and text told last
  unsigned MisreadLine = 0;  // line of a misspelled word of the language
  bool IsSilent = false;
};

}  // namespace

DiagnosticConsumer *mtlc::makeDiagnosticPrinter(llvm::raw_ostream &OS,
                                                CompilerInstance &CI) {
  return new Printer(OS, CI);
}
