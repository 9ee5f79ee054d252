// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// binary_archive.h: machine code of pipelines, kept in a file of the program's
// own, so that it need not be compiled where the program runs.
//
// A pipeline is found in an archive if all is the same that its code depends
// on: the library's container, the function and its constants, what is linked,
// debug or not, the threadgroups that it is made for, the kind of processor,
// and the version of Mettle. Anything else is a miss.
//
// An archive holds code of the machine that runs as part of the process: open
// only archives that you would load as a shared library (docs/security.md).
#ifndef METTLE_BINARY_ARCHIVE_H
#define METTLE_BINARY_ARCHIVE_H

#include "pipeline.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mtl_binary_archive_desc {
  const char *path;   // of a file that mtl_binary_archive_write wrote, or
  const void *data;   // [data_bytes] what is in such a file; NULL and NULL for
  size_t data_bytes;  // an empty archive
  const char *label;  // copied; NULL for none
} mtl_binary_archive_desc;

// Makes an archive.
//
//   desc   NULL for an empty one
//
// Ownership  The archive is yours; it retains device. Borrows desc.
// Threads    Any, for all functions here.
// Errors     MTL_BAD_DATA          damaged, cut short, or another version's
//            MTL_NOT_FOUND, MTL_IO_ERROR  of the file; the text has the path
//            MTL_INVALID_ARGUMENT  both path and data
// Source     Metal: newBinaryArchiveWithDescriptor:error:
MTL_API MTL_MUST_USE mtl_status mtl_binary_archive_create(
    mtl_device *device, const mtl_binary_archive_desc *desc,
    mtl_binary_archive **out_archive);
MTL_API mtl_binary_archive *mtl_binary_archive_retain(
    mtl_binary_archive *archive);
MTL_API void mtl_binary_archive_release(mtl_binary_archive *archive);

// Compiles function as mtl_pipeline_create would with desc, and adds the code.
// One that is there is not compiled again. The archives of desc are not asked.
//
//   desc   NULL for the defaults; group_threads names the threadgroups, of
//   which
//          several may be added one by one
//
// Errors     as mtl_pipeline_create
// Source     Metal: addComputePipelineFunctionsWithDescriptor:error:
MTL_API MTL_MUST_USE mtl_status
mtl_binary_archive_add(mtl_binary_archive *archive, mtl_function *function,
                       const mtl_pipeline_desc *desc);

// Returns how many pieces of code there are.
MTL_API size_t mtl_binary_archive_count(const mtl_binary_archive *archive);

// Writes the archive to path, atomically; into a pipe or device directly.
//
// Errors     MTL_IO_ERROR  the text has the path
// Source     Metal: serializeToURL:error:
MTL_API MTL_MUST_USE mtl_status
mtl_binary_archive_write(const mtl_binary_archive *archive, const char *path);

// Returns the archive's label, "" if there is none, and its device.
MTL_API const char *mtl_binary_archive_label(const mtl_binary_archive *archive);
MTL_API mtl_device *mtl_binary_archive_device(
    const mtl_binary_archive *archive);  // borrowed

#ifdef __cplusplus
}
#endif
#endif
