// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// function_table.h: a table of visible functions, which a kernel calls by
// their places: visible_function_table<R(A...)> in MSL.
//
// Functions are compiled with the pipeline that they are linked into
// (mtl_pipeline_desc.linked_functions), so handles and tables belong to one
// pipeline. Changing an entry makes no code. A kernel that uses an index past
// the end, or calls an empty entry or one of another type, faults; the error
// has the thread and the line.
#ifndef METTLE_FUNCTION_TABLE_H
#define METTLE_FUNCTION_TABLE_H

#include "pipeline.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mtl_function_table mtl_function_table;

typedef struct mtl_function_table_desc {
  uint32_t function_count;  // entries, 1 at least
} mtl_function_table_desc;

// Makes a table with empty entries.
//
// Ownership  The table is yours; it retains pipeline.
// Threads    Any. Entries are set by one thread at a time, and, as a buffer's
//            contents, not while work that uses them runs.
// Errors     MTL_INVALID_ARGUMENT, MTL_OUT_OF_MEMORY
// Source     Metal: -[MTLComputePipelineState
//            newVisibleFunctionTableWithDescriptor:]
MTL_API MTL_MUST_USE mtl_status mtl_function_table_create(
    mtl_pipeline *pipeline, const mtl_function_table_desc *desc,
    mtl_function_table **out_table);
MTL_API mtl_function_table *mtl_function_table_retain(
    mtl_function_table *table);
MTL_API void mtl_function_table_release(mtl_function_table *table);

// Returns the number of entries.
MTL_API uint32_t mtl_function_table_count(const mtl_function_table *table);

// Sets an entry, or entries first_index to first_index + count - 1; a NULL
// handle empties one.
//
//   handles  [count]
//
// Ownership  Borrows the handles.
// Errors     MTL_INVALID_ARGUMENT  past the end; a handle of another pipeline
// Source     Metal: setFunction:atIndex:, setFunctions:withRange:
MTL_API MTL_MUST_USE mtl_status mtl_function_table_set(
    mtl_function_table *table, const mtl_function_handle *handle,
    uint32_t index);
MTL_API MTL_MUST_USE mtl_status mtl_function_table_set_range(
    mtl_function_table *table, mtl_function_handle *const *handles,
    uint32_t first_index, uint32_t count);

// What an argument buffer holds of the table, 8 bytes; not 0. The table must
// be used by the encoder (mtl_compute_encoder_use_function_table).
//
// Source     Metal: MTLVisibleFunctionTable.gpuResourceID
MTL_API uint64_t
mtl_function_table_resource_id(const mtl_function_table *table);

#ifdef __cplusplus
}
#endif
#endif
