// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// frontend_link.cpp: lld in this process, from memory to memory.
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <string>

#include "compiler/frontend_parts.h"
#include "lld/Common/CommonLinkerContext.h"
#include "lld/Common/Driver.h"
#include "llvm/Support/raw_ostream.h"

LLD_HAS_DRIVER(elf)

namespace {

bool writeAll(int File, const void *Bytes, size_t Size) {
  const char *Next = static_cast<const char *>(Bytes);
  while (Size > 0) {
    const ssize_t Written = write(File, Next, Size);
    if (Written < 0 && errno == EINTR) continue;
    if (Written <= 0) return false;
    Next += Written;
    Size -= static_cast<size_t>(Written);
  }
  return true;
}

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

// lld makes a temporary file beside its output, which /proc/self/fd does not
// allow, so the output is standard output for as long as it runs.
bool link(int Input, int Output, std::string &Text) {
  const std::string From = "/proc/self/fd/" + std::to_string(Input);
  const char *const Arguments[] = {
      "ld.lld", "-shared", "--hash-style=gnu", "--build-id=fast", "-z", "defs",
      "-z",     "now",     "--threads=1",      From.c_str(),      "-o", "-"};
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

bool mtlc_link_shared(const void *object, size_t object_bytes,
                      void **out_shared, size_t *out_size_bytes,
                      char **out_error) {
  *out_shared = nullptr;
  *out_size_bytes = 0;
  *out_error = nullptr;
  const int Input = memfd_create("object", MFD_CLOEXEC);
  const int Output = memfd_create("shared", MFD_CLOEXEC);
  std::string Text;
  bool Done = false;
  if (Input < 0 || Output < 0 || !writeAll(Input, object, object_bytes)) {
    Text = std::string("memory for linking: ") + strerror(errno);
  } else {
    Done = link(Input, Output, Text) &&
           readAll(Output, out_shared, out_size_bytes);
  }
  close(Input);
  close(Output);
  if (!Done) *out_error = strdup(Text.c_str());
  return Done;
}
