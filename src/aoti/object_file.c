// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// object_file.c: whether a file can be a model's shared object: the system's
// loader maps what a file's headers promise without a look at how long it is.
#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "aoti/model.h"

static mtl_status fail_cut(const char *path, uint64_t size, uint64_t wanted) {
  return mtl_fail(MTL_BAD_DATA,
                  "%s is cut short: %" PRIu64 " bytes of at least %" PRIu64,
                  path, size, wanted);
}

static mtl_status check_segments(const char *path, FILE *file, uint64_t size,
                                 const Elf64_Ehdr *header) {
  uint64_t wanted = header->e_phoff;
  for (uint32_t i = 0; i < header->e_phnum; ++i) {
    Elf64_Phdr segment;
    if (fread(&segment, sizeof segment, 1, file) != 1) {
      return fail_cut(path, size, wanted + sizeof segment);
    }
    const uint64_t end = segment.p_offset + segment.p_filesz;
    if (end < segment.p_offset || end > size) {
      return fail_cut(path, size, end);
    }
    wanted += sizeof segment;
  }
  return MTL_OK;
}

static mtl_status check_file(const char *path, FILE *file) {
  struct stat about;
  if (fstat(fileno(file), &about) != 0) {
    return mtl_fail(MTL_IO_ERROR, "model %s: %s", path, strerror(errno));
  }
  if (!S_ISREG(about.st_mode)) {
    return mtl_fail(MTL_BAD_DATA, "%s is no file", path);
  }
  const uint64_t size = (uint64_t)about.st_size;
  Elf64_Ehdr header = {0};
  const size_t got = fread(&header, 1, sizeof header, file);
  if (memcmp(&header, "PK\3\4", 4) == 0) {
    return mtl_fail(MTL_BAD_DATA,
                    "%s is an archive, as PyTorch's packages (.pt2) are: "
                    "unpack it and load the shared object in it",
                    path);
  }
  if (memcmp(&header, ELFMAG, SELFMAG) != 0) {
    return mtl_fail(MTL_BAD_DATA, "%s is no shared object", path);
  }
  if (got < sizeof header) {
    return fail_cut(path, size, sizeof header);
  }
  if (header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_phentsize != sizeof(Elf64_Phdr)) {
    return MTL_OK;  // the loader says what it thinks of another format
  }
  if (header.e_phoff > size ||
      fseeko(file, (off_t)header.e_phoff, SEEK_SET) != 0) {
    return fail_cut(path, size, header.e_phoff);
  }
  return check_segments(path, file, size, &header);
}

mtl_status model_object_check(const char *path) {
  FILE *file = fopen(path, "rbe");
  if (!file) {
    return mtl_fail(MTL_IO_ERROR, "model %s: %s", path, strerror(errno));
  }
  const mtl_status status = check_file(path, file);
  fclose(file);
  return status;
}
