// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// files.cpp: the files that a compilation may read, and from where.
#include <string>
#include <vector>

#include "compiler/frontend/parts.h"
#include "compiler/frontend/headers.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Path.h"

using llvm::StringRef;

namespace {

using namespace mtlc;

class TextFile : public llvm::vfs::File {
 public:
  TextFile(llvm::vfs::Status Stat, StringRef Text)
      : Stat(std::move(Stat)), Text(Text) {}
  llvm::ErrorOr<llvm::vfs::Status> status() override {
    return Stat;
  }
  llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> getBuffer(
      const llvm::Twine &Name, int64_t, bool RequiresTerminator,
      bool) override {
    if (RequiresTerminator)
      return llvm::MemoryBuffer::getMemBufferCopy(Text, Name);
    return llvm::MemoryBuffer::getMemBuffer(Text, Name.str(), false);
  }
  std::error_code close() override {
    return {};
  }

 private:
  llvm::vfs::Status Stat;
  StringRef Text;
};

// Serves Metal's library and the client's headers from memory, and in front of
// the disk, which the policy restricts. Files used are reported to the
// observer.
class SourceFileSystem : public llvm::vfs::ProxyFileSystem {
 public:
  SourceFileSystem(const mtlc_source *Source, FilePolicy &Policy)
      : ProxyFileSystem(llvm::vfs::getRealFileSystem()),
        Source(Source),
        Policy(Policy) {
    const bool HasMetal4 =
        Source && languageVersion(Source->options) >= MTL_LANGUAGE_4_0;
    for (const mtlc_header *H = mtlc_headers; H->name; ++H) {
      StringRef Name = H->name;
      if (!Name.consume_front("metal4/") || HasMetal4)
        add(llvm::Twine(LibraryDir) + Name, StringRef(H->text, H->size_bytes));
    }
  }

  void add(const llvm::Twine &Path, StringRef Text) {
    Files[Path.str()] = Text;
  }

  llvm::ErrorOr<llvm::vfs::Status> status(const llvm::Twine &Path) override {
    const std::string Name = Path.str();
    if (!isVirtual(Name)) {
      if (!Policy.allows(Name)) return noSuchFile();
      llvm::ErrorOr<llvm::vfs::Status> Result = ProxyFileSystem::status(Path);
      if (!Result) observe(Name, nullptr, 0);
      return Result;
    }
    if (const auto Found = find(Name); Found != Files.end())
      return makeStatus(Name, Found->second, Found->first());
    // A header of the client's has a dot in its name; anything else between
    // is a directory.
    StringRef Text;
    const bool IsFile = llvm::sys::path::filename(Name).contains('.');
    if (IsFile && askClient(Name, Text)) return makeStatus(Name, Text, Name);
    if (IsFile ||
        (!StringRef(Name).starts_with(StringRef(CallbackDir).drop_back()) &&
         !isLibraryDir(Name)))
      return noSuchFile();
    return llvm::vfs::Status(Name, identity(Name), {}, 0, 0, 0,
                             llvm::sys::fs::file_type::directory_file,
                             llvm::sys::fs::all_read);
  }

  llvm::ErrorOr<std::unique_ptr<llvm::vfs::File>> openFileForRead(
      const llvm::Twine &Path) override {
    const std::string Name = Path.str();
    if (!isVirtual(Name)) return openOnDisk(Name);
    StringRef Text;
    if (const auto Found = find(Name); Found != Files.end())
      return std::make_unique<TextFile>(
          makeStatus(Name, Found->second, Found->first()), Found->second);
    if (!askClient(Name, Text)) return noSuchFile();
    return std::make_unique<TextFile>(makeStatus(Name, Text, Name), Text);
  }

  llvm::vfs::directory_iterator dir_begin(const llvm::Twine &,
                                          std::error_code &Error) override {
    Error = noSuchFile();
    return {};
  }

 private:
  static std::error_code noSuchFile() {
    return std::make_error_code(std::errc::no_such_file_or_directory);
  }

  static bool isVirtual(StringRef Name) {
    return Name.starts_with("/mettle/") || Name == "/mettle";
  }

  // A header of the library's is in its folder metal too, and one file.
  llvm::StringMap<StringRef>::const_iterator find(StringRef Name) const {
    StringRef Rest = Name;
    if (Rest.consume_front(LibraryDir) && Rest.consume_front("metal/") &&
        Rest.starts_with("metal_"))
      return Files.find((llvm::Twine(LibraryDir) + Rest).str());
    return Files.find(Name);
  }

  bool isLibraryDir(const std::string &Name) const {
    if (Name == std::string(LibraryDir) + "metal") return true;
    for (const auto &File : Files)
      if (File.first().starts_with(Name + "/")) return true;
    return false;
  }

  static llvm::sys::fs::UniqueID identity(StringRef Name) {
    return {UINT64_MAX, llvm::hash_value(Name)};
  }

  static llvm::vfs::Status makeStatus(StringRef Name, StringRef Text,
                                      StringRef File) {
    return llvm::vfs::Status(Name, identity(File), {}, 0, 0, Text.size(),
                             llvm::sys::fs::file_type::regular_file,
                             llvm::sys::fs::all_read);
  }

  void observe(const std::string &Name, const char *Text, size_t Length) {
    if (Source && Source->file_observer)
      Source->file_observer(Source->file_context, Name.c_str(), Text, Length);
  }

  bool askClient(StringRef Path, StringRef &Text) {
    if (!Source || !Source->header_lookup || !Path.consume_front(CallbackDir))
      return false;
    const char *Found = nullptr;
    size_t Length = 0;
    if (!Source->header_lookup(Source->header_context, Path.str().c_str(),
                               &Found, &Length))
      return false;
    Text = StringRef(Found, Length);
    return true;
  }

  // Only regular files: reading a device or a pipe might never end.
  llvm::ErrorOr<std::unique_ptr<llvm::vfs::File>> openOnDisk(
      const std::string &Name) {
    if (!Policy.allows(Name)) return noSuchFile();
    llvm::ErrorOr<llvm::vfs::Status> Stat = ProxyFileSystem::status(Name);
    if (Stat && !Stat->isRegularFile()) return noSuchFile();
    auto File = ProxyFileSystem::openFileForRead(Name);
    if (!File) {
      observe(Name, nullptr, 0);
      return File;
    }
    auto Buffer = (*File)->getBuffer(Name);
    if (!Buffer) return Buffer.getError();
    const StringRef Text = (*Buffer)->getBuffer();
    observe(Name, Text.data(), Text.size());
    Buffers.push_back(std::move(*Buffer));
    return std::make_unique<TextFile>(
        llvm::vfs::Status::copyWithNewSize(*Stat, Text.size()), Text);
  }

  const mtlc_source *Source;
  FilePolicy &Policy;
  llvm::StringMap<StringRef> Files;
  std::vector<std::unique_ptr<llvm::MemoryBuffer>> Buffers;
};

}  // namespace

llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> mtlc::makeFileSystem(
    const mtlc_source *Source, FilePolicy &Policy,
    llvm::ArrayRef<std::pair<StringRef, StringRef>> Extra) {
  auto Files = llvm::makeIntrusiveRefCnt<SourceFileSystem>(Source, Policy);
  for (const auto &[Path, Text] : Extra) Files->add(Path, Text);
  return Files;
}
