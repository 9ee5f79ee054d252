// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cache_folder.h: the folder of the disk cache: files that are written whole
// or not at all, bounded in their sum, shared by all processes of a user.
//
// The folder is $METTLE_CACHE_DIR, else $XDG_CACHE_HOME/mettle, else
// ~/.cache/mettle. It is used only if it belongs to the user and nobody else
// can write to it; METTLE_CACHE=0 turns it off. A METTLE_CACHE_DIR that is no
// folder is an error (base/settings.h); nothing here fails aloud: a cache that cannot be used is a cache that never hits.
#ifndef MTLC_CACHE_FOLDER_H
#define MTLC_CACHE_FOLDER_H

#include "base/memory/bytes.h"

// Opens the folder, made if need be. Returns -1 if it may not be used.
//
// The descriptor is for one operation: a host may close descriptors that it
// does not know.
int mtlc_cache_folder_open(void);

// Reads a file of the folder whole and marks it as used.
//
//   name   32 hexadecimal digits, a dot and a kind
//
// Returns false if it is not there, is not a plain file of the user's, or is
// larger than any that would be written.
bool mtlc_cache_file_read(int folder, const char *name, mtli_bytes *out);

// Puts a file in place, atomically, and makes room by removing the files that
// were not used for the longest time. Files of more than a quarter of the
// limit (METTLE_CACHE_MB, default 512) are not kept.
void mtlc_cache_file_write(int folder, const char *name,
                           const mtli_bytes *bytes);

#endif
