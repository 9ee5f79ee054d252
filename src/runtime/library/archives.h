// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// archives.h: shared by pipeline.c and binary_archive.c.
#ifndef MTLI_ARCHIVES_H
#define MTLI_ARCHIVES_H

#include "code/archive.h"
#include "code/code.h"
#include "mettle/binary_archive.h"

// The archives in which a pipeline's code is looked up.
typedef struct mtli_archives {
  mtl_binary_archive **items;  // [count] malloc'ed, +1 each
  size_t count;
} mtli_archives;

// Keeps those that desc names. Errors: MTL_INVALID_ARGUMENT, one is NULL or of
// another device; MTL_OUT_OF_MEMORY. *out_archives is empty then.
mtl_status mtli_archives_create(const mtl_device *device,
                                const mtl_pipeline_desc *desc,
                                mtli_archives *out_archives);
void mtli_archives_clear(mtli_archives *archives);

// Finds code in one of them. MTL_NOT_FOUND without a text if it is in none.
mtl_status mtli_archives_find(const mtli_archives *archives,
                              const unsigned char key[MTLI_ARCHIVE_KEY_BYTES],
                              mtli_compiled *out_compiled);
// Adds a copy of code.
mtl_status mtli_binary_archive_put(
    mtl_binary_archive *archive,
    const unsigned char key[MTLI_ARCHIVE_KEY_BYTES], const char *name,
    const mtli_compiled *compiled);

// Makes a pipeline whose first code is put into an archive, too, unless that
// is NULL.
mtl_status mtli_pipeline_create_into(mtl_function *function,
                                     const mtl_pipeline_desc *desc,
                                     mtl_binary_archive *into,
                                     mtl_pipeline **out_pipeline);

#endif
