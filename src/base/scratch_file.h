// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// scratch_file.h: files without a name, in memory where the kernel has
// memfd_create, otherwise in a folder for temporary files.
#ifndef MTLI_SCRATCH_FILE_H
#define MTLI_SCRATCH_FILE_H

#include <limits.h>
#include <stddef.h>

// Returns the folders that are tried for temporary files, in order: TMPDIR,
// /tmp, /var/tmp, /dev/shm. NULL behind the last.
const char *mtli_scratch_folder(size_t number);

// Makes an empty file that can be read, written and executed, and is gone when
// nobody has it open. name is for whoever looks into /proc. Returns its
// descriptor, which exec closes, or -1 with errno.
int mtli_scratch_file(const char *name);

// Makes such a file with a name in a folder, for those who want a path; the
// caller unlinks it. Returns its descriptor, or -1 with errno.
int mtli_scratch_file_named(const char *folder, char out_path[PATH_MAX]);

#endif
