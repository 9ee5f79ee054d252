// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cache.h: keeps compiled code of this user on this machine on disk.
//
// An entry is found by the hash of its key and used only if the whole key in
// it is the one asked for, its checksum is right, and every header that it was
// made from still has the text that it had. Anything else is a miss, and the
// next result takes its place.
#ifndef MTLC_CACHE_H
#define MTLC_CACHE_H

#include "compiler/process/protocol.h"

// Finds the container of a key. The header callback is asked again for the
// headers that it gave; NULL if there is none.
//
//   out_container  empty on a miss; yours
bool mtlc_cache_load(const mtli_bytes *key, mtl_header_callback *callback,
                     void *callback_context, mtli_bytes *out_container);

// Keeps the container of a reply.
void mtlc_cache_store(const mtli_bytes *key, const mtlc_reply *reply);

// Remembers which files the compiler at path is made of where the dynamic
// linker looks as it does here, so that the next process knows its identity
// without starting it.
bool mtlc_cache_load_identity(const char *path, mtli_bytes *out_identity);
void mtlc_cache_store_identity(const char *path, const void *identity,
                               size_t size);

#endif
