// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// link.cpp: lld in this process, from memory to memory.
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <memory>
#include <optional>
#include <string>

extern "C" {
#include "base/scratch_file.h"
}
#include "compiler/frontend/parts.h"
#include "lld/Common/CommonLinkerContext.h"
#include "lld/Common/Driver.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

LLD_HAS_DRIVER(elf)

#define GET_FILE                                                          \
  "_ZN4llvm12MemoryBuffer7getFileERKNS_5TwineEbbbSt8optionalINS_5AlignEE"

using OpenedFile = llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>>;

OpenedFile realGetFile(const llvm::Twine &, bool, bool, bool,
                       std::optional<llvm::Align>) __asm__("__real_" GET_FILE);
OpenedFile wrapGetFile(const llvm::Twine &, bool, bool, bool,
                       std::optional<llvm::Align>) __asm__("__wrap_" GET_FILE);

namespace {

// lld reads files by name alone. This one is an object in memory.
const char InputName[] = "mettle:object";
thread_local llvm::StringRef InputObject;

bool readAll(int File, void **Bytes, size_t *Size) {
  const off_t Length = lseek(File, 0, SEEK_END);
  *Bytes = Length > 0 ? malloc(static_cast<size_t>(Length)) : nullptr;
  if (!*Bytes) return false;
  *Size = static_cast<size_t>(Length);
  size_t Done = 0;
  while (Done < *Size) {
    const ssize_t Got = pread(File, static_cast<char *>(*Bytes) + Done,
                              *Size - Done, static_cast<off_t>(Done));
    if (Got <= 0) {
      free(*Bytes);
      *Bytes = nullptr;
      return false;
    }
    Done += static_cast<size_t>(Got);
  }
  return true;
}

// lld makes a temporary file beside its output, so that is standard output for
// as long as it runs.
bool link(int Output, std::string &Text) {
  const char *const Arguments[] = {
      "ld.lld", "-shared", "--hash-style=gnu", "--build-id=fast", "-z", "defs",
      "-z",     "now",     "--threads=1",      InputName,         "-o", "-"};
  const int Kept = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  if (dup2(Output, STDOUT_FILENO) < 0) {
    Text = std::string("dup2: ") + strerror(errno);
    return false;
  }
  llvm::raw_string_ostream OS(Text);
  const bool Done = lld::elf::link(Arguments, OS, OS, /*exitEarly=*/false,
                                   /*disableOutput=*/false);
  lld::CommonLinkerContext::destroy();
  close(STDOUT_FILENO);
  if (Kept >= 0) {
    dup2(Kept, STDOUT_FILENO);
    close(Kept);
  }
  return Done;
}

}  // namespace

OpenedFile wrapGetFile(const llvm::Twine &Name, bool IsText,
                       bool RequiresNullTerminator, bool IsVolatile,
                       std::optional<llvm::Align> Alignment) {
  if (Name.str() != InputName) {
    return realGetFile(Name, IsText, RequiresNullTerminator, IsVolatile,
                       Alignment);
  }
  return llvm::MemoryBuffer::getMemBuffer(InputObject, InputName,
                                          /*RequiresNullTerminator=*/false);
}

mtl_status mtlc_link_shared(const void *object, size_t object_bytes,
                            void **out_shared, size_t *out_size_bytes,
                            char **out_error) {
  *out_shared = nullptr;
  *out_size_bytes = 0;
  *out_error = nullptr;
  InputObject = llvm::StringRef(static_cast<const char *>(object),
                                object_bytes);
  const int Output = mtli_scratch_file("shared");
  std::string Text;
  mtl_status Status = MTL_OK;
  if (Output < 0) {
    Status = MTL_IO_ERROR;
    Text = std::string("no file for the result, neither in memory nor in "
                       "TMPDIR: ") +
           strerror(errno);
  } else if (!link(Output, Text)) {
    Status = MTL_UNSUPPORTED;
  } else if (!readAll(Output, out_shared, out_size_bytes)) {
    Status = MTL_IO_ERROR;
    Text = "the result cannot be read";
  }
  if (Output >= 0) close(Output);
  if (Status != MTL_OK) *out_error = strdup(Text.c_str());
  return Status;
}
