// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// files.h: reads and writes whole files, with NSErrors.
#ifndef METTLE_OBJC_FILES_H
#define METTLE_OBJC_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <time.h>

#include "objc/runtime/abi.h"

// Reads a file and appends a 0. The bytes are the caller's, by free. NULL, with
// an NSError if out_error is given, if the file cannot be read.
char *file_read(const char *path, size_t *out_length, id *out_error);

// Writes a file atomically: under another name, then renamed.
bool file_write(const char *path, const void *bytes, size_t length,
                id *out_error);

// Sets *out_error, where the caller gave one, from errno: Cocoa's number for a
// file that could not be read, or written, and POSIX' under it.
void file_error(id *out_error, const char *path, bool writes);

// Creates a directory and its parents, where they do not exist, with this mode
// less the umask. False, with errno, if one cannot be created.
bool file_make_folders(const char *path, mode_t mode);

// Makes an NSDate of a time that stat gives.
id file_date(struct timespec time);

#endif
