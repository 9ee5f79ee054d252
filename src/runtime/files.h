// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// files.h: whole files of the program's: libraries and archives.
#ifndef MTLI_FILES_H
#define MTLI_FILES_H

#include <stddef.h>

#include "base/status.h"

// Reads a whole regular file; *out_bytes is malloc'ed. Errors: MTL_NOT_FOUND,
// MTL_IO_ERROR, MTL_OUT_OF_MEMORY; the text has the path.
mtl_status mtli_file_read(const char *path, void **out_bytes,
                          size_t *out_size_bytes);

// Writes a file so that a reader sees all or nothing; into a pipe or device
// directly. Errors: MTL_IO_ERROR, MTL_INVALID_ARGUMENT for a path too long.
mtl_status mtli_file_write(const char *path, const void *bytes,
                           size_t size_bytes);

#endif
