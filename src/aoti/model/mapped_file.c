// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// mapped_file.c: maps a whole file; its bytes are read when they are touched.
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "aoti/model/model.h"

static mtl_status fail(const char *what, const char *path, int error) {
  return mtl_fail(error == ENOENT ? MTL_NOT_FOUND : MTL_IO_ERROR, "%s %s: %s",
                  what, path, strerror(error));
}

static mtl_status map_open(const char *what, const char *path, int file,
                           mapped_file *out_file) {
  struct stat about;
  if (fstat(file, &about) != 0) {
    return fail(what, path, errno);
  }
  if (!S_ISREG(about.st_mode)) {
    return mtl_fail(MTL_BAD_DATA, "%s is no file", path);
  }
  out_file->size = (size_t)about.st_size;
  if (out_file->size == 0) {
    return MTL_OK;
  }
  void *bytes =
      mmap(NULL, out_file->size, PROT_READ, MAP_PRIVATE, file, 0);
  if (bytes == MAP_FAILED) {
    return fail(what, path, errno);
  }
  // The file is read once, from front to back: ask the kernel to read ahead.
  (void)madvise(bytes, out_file->size, MADV_WILLNEED);
  out_file->bytes = bytes;
  return MTL_OK;
}

mtl_status mapped_file_open(const char *what, const char *path,
                            mapped_file *out_file) {
  *out_file = (mapped_file){0};
  // Non-blocking: a pipe without a writer must not hold the process up.
  const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) {
    return fail(what, path, errno);
  }
  const mtl_status status = map_open(what, path, file, out_file);
  close(file);
  return status;
}

void mapped_file_close(mapped_file *file) {
  if (file->bytes) {
    munmap((void *)file->bytes, file->size);
  }
  *file = (mapped_file){0};
}
