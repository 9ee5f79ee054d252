// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// files.c: reads and writes whole files of the program's: libraries and
// archives.
#include "runtime/files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

mtl_status mtli_file_read(const char *path, void **out_bytes,
                          size_t *out_size_bytes) {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  struct stat facts;
  if (file < 0 || fstat(file, &facts) != 0 || !S_ISREG(facts.st_mode)) {
    const int error = file < 0 ? errno : EINVAL;
    if (file >= 0) {
      close(file);
    }
    return mtli_fail(error == ENOENT ? MTL_NOT_FOUND : MTL_IO_ERROR,
                     "cannot read '%s': %s", path, strerror(error));
  }
  const size_t size_bytes = (size_t)facts.st_size;
  char *bytes = malloc(size_bytes + 1);
  size_t done_bytes = 0;
  ssize_t got_bytes = 1;
  while (bytes && done_bytes < size_bytes && got_bytes > 0) {
    got_bytes = read(file, bytes + done_bytes, size_bytes - done_bytes);
    done_bytes += got_bytes > 0 ? (size_t)got_bytes : 0;
  }
  const int error = errno;
  close(file);
  if (!bytes) {
    return mtli_fail(MTL_OUT_OF_MEMORY, "no memory for '%s' of %zu bytes", path,
                     size_bytes);
  }
  if (got_bytes < 0) {
    free(bytes);
    return mtli_fail(MTL_IO_ERROR, "cannot read '%s': %s", path,
                     strerror(error));
  }
  *out_bytes = bytes;
  *out_size_bytes = done_bytes;
  return MTL_OK;
}

static bool write_all(int file, const void *bytes, size_t size_bytes) {
  const char *rest = bytes;
  while (size_bytes) {
    const ssize_t written_bytes = write(file, rest, size_bytes);
    if (written_bytes < 0 && errno == EINTR) {
      continue;
    }
    if (written_bytes <= 0) {
      return false;
    }
    rest += written_bytes;
    size_bytes -= (size_t)written_bytes;
  }
  return true;
}

// A pipe, terminal or device is written to directly: a rename would replace it
// by a file.
static bool is_special(const char *path) {
  struct stat facts;
  return stat(path, &facts) == 0 && !S_ISREG(facts.st_mode) &&
         !S_ISDIR(facts.st_mode);
}

static mtl_status write_special(const char *path, const void *bytes,
                                size_t size_bytes) {
  const int file = open(path, O_WRONLY | O_CLOEXEC);
  const bool good = file >= 0 && write_all(file, bytes, size_bytes);
  const int error = errno;
  if (file >= 0) {
    close(file);
  }
  return good ? MTL_OK
              : mtli_fail(MTL_IO_ERROR, "cannot write '%s': %s", path,
                          strerror(error));
}

mtl_status mtli_file_write(const char *path, const void *bytes,
                           size_t size_bytes) {
  if (is_special(path)) {
    return write_special(path, bytes, size_bytes);
  }
  // Written beside path and renamed, so that a reader sees either the old file
  // or the whole new one.
  static _Atomic uint32_t serial;
  char temporary[PATH_MAX];
  const int length = snprintf(temporary, sizeof temporary, "%s.%d-%u.tmp", path,
                              (int)getpid(), atomic_fetch_add(&serial, 1));
  if (length >= (int)sizeof temporary) {
    return mtli_fail(MTL_INVALID_ARGUMENT, "a path of %zu bytes is too long",
                     strlen(path));
  }
  const int file =
      open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file < 0) {
    return mtli_fail(MTL_IO_ERROR, "cannot write '%s': %s", path,
                     strerror(errno));
  }
  bool good = write_all(file, bytes, size_bytes);
  int error = errno;
  good = close(file) == 0 && good;
  if (good && rename(temporary, path) == 0) {
    return MTL_OK;
  }
  error = good ? errno : error;
  unlink(temporary);
  return mtli_fail(MTL_IO_ERROR, "cannot write '%s': %s", path,
                   strerror(error));
}
