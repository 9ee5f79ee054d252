// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// scratch_file.c: memfd_create, and what there is without it.
#include "base/scratch_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MFD_EXEC
#define MFD_EXEC 0x0010U  // Linux 6.3, include/uapi/linux/memfd.h
#endif

const char *mtli_scratch_folder(size_t number) {
  static const char *const folders[] = {"/tmp", "/var/tmp", "/dev/shm"};
  const char *chosen = secure_getenv("TMPDIR");
  const size_t first = chosen && *chosen ? 1 : 0;
  if (number < first) {
    return chosen;
  }
  number -= first;
  return number < sizeof folders / sizeof *folders ? folders[number] : NULL;
}

int mtli_scratch_file_named(const char *folder, char out_path[PATH_MAX]) {
  const int length =
      snprintf(out_path, PATH_MAX, "%s/mettle-XXXXXX", folder);
  if (length >= PATH_MAX) {
    errno = ENAMETOOLONG;
    return -1;
  }
  return mkostemp(out_path, O_CLOEXEC);
}

// Older kernels do not know a flag that newer ones may require.
static int memory_file(const char *name) {
  const int file = memfd_create(name, MFD_CLOEXEC | MFD_EXEC);
  return file >= 0 || errno != EINVAL ? file : memfd_create(name, MFD_CLOEXEC);
}

int mtli_scratch_file(const char *name) {
  int file = memory_file(name);
  const int error = errno;
  const char *folder;
  char path[PATH_MAX];
  for (size_t i = 0; file < 0 && (folder = mtli_scratch_folder(i)); ++i) {
    file = mtli_scratch_file_named(folder, path);
    if (file >= 0) {
      unlink(path);
    }
  }
  if (file < 0) {
    errno = error;
  }
  return file;
}
