// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// fold.h: folds constants: what a model computes from its constants alone is
// computed once. A storage whose contents follow from constants has a value:
// memory that all runs share and nobody writes.
//
// A constant is memory of aoti_torch_mps_malloc that aoti_torch_mps_memcpy or
// aoti_torch_mps_copy_buffer has written. Writing it again forgets all that
// followed from it; memory that a run itself writes is no longer a constant.
#ifndef METTLE_AOTI_FOLD_H
#define METTLE_AOTI_FOLD_H

#include "aoti/tensor.h"

typedef struct fold_value fold_value;

fold_value *fold_value_retain(fold_value *value);
void fold_value_release(fold_value *value);
// True if the value has been computed.
bool fold_value_is_there(const fold_value *value);

// --- fold.c: constants -------------------------------------------------------

// Notes that a range of buffer now holds new constants.
void fold_constants_loaded(mtl_buffer *buffer, size_t offset_bytes,
                           size_t length_bytes);
// Notes that the memory is about to be freed.
void fold_constants_freed(mtl_buffer *buffer);
// True if buffer holds constants.
bool fold_is_constant(const mtl_buffer *buffer);
// Returns a number that names the contents of a range, for mtl_tensor's
// constant and for keys; 0 if they do not follow from constants.
uint64_t fold_name_of(const aoti_storage *storage, size_t offset_bytes,
                      size_t length_bytes);

// Prepares a range for work that writes it; call before recording the work. A
// storage that shares a value gets memory of its own, and what followed from a
// constant is forgotten.
mtl_status fold_before_write(aoti_storage *storage, size_t offset_bytes,
                             size_t length_bytes);

// --- fold_dispatch.c: kernels ------------------------------------------------

enum { FOLD_ARGUMENTS_MAX = 31 };

typedef struct fold_argument {
  aoti_storage *storage;  // NULL for bytes
  size_t offset_bytes;    // in the storage
  size_t length_bytes;    // of the extent, or of bytes
  const void *bytes;
  bool is_set;
  bool is_written;
} fold_argument;

typedef struct fold_call {
  mtl_pipeline *pipeline;
  uint64_t sizes[8];  // rank, grid and threadgroup, all told
  uint32_t argument_count;
  fold_argument arguments[FOLD_ARGUMENTS_MAX];
} fold_call;

typedef struct fold_key fold_key;

// Looks for the results of a dispatch. If *out_found, the written storages
// share them. Otherwise record the dispatch, into storages that are ready to be
// written; *out_key is then for fold_keep, or NULL if the dispatch cannot be
// folded.
mtl_status fold_find(mtl_stream *stream, const fold_call *call, bool *out_found,
                     fold_key **out_key);
// Makes folded values of the memory that the recorded dispatch writes. Takes
// key.
void fold_keep(mtl_stream *stream, const fold_call *call, fold_key *key);

// --- fold_table.c: what is known ---------------------------------------------

struct fold_value {
  uint64_t name;  // of mtl_constant_create
  mtl_buffer *buffer;
  size_t offset_bytes;
  size_t size_bytes;
  void *pooled;           // for mtl_memory_free
  mtl_buffer *self;       // this page; its references are the value's
  _Atomic bool is_there;  // computed
};

enum { FOLD_RESULTS_MAX = 4 };

struct fold_key {
  fold_key *next;          // in its bucket
  mtl_pipeline *pipeline;  // +1, so that its address stays its own
  uint64_t hash;
  fold_value *results[FOLD_RESULTS_MAX];  // +1 each
  uint32_t result_count;
  uint32_t word_count;
  uint64_t words[];  // the inputs that determine the results
};

// Takes over storage's memory; NULL without memory of our own.
fold_value *fold_value_create(mtl_device *device, aoti_storage *storage);
// Puts a value in the place of storage's own memory.
void fold_value_share(fold_value *value, aoti_storage *storage);

// Finds an entry with the same words; results [FOLD_RESULTS_MAX] receive +1
// each. Returns false if there is none, or if its results are not computed yet;
// *out_is_new is true if the key may be added.
bool fold_table_find(const fold_key *key, fold_value **results,
                     bool *out_is_new);
// Adds key with its results; takes it.
void fold_table_add(fold_key *key);
void fold_key_delete(fold_key *key);
// Drops every result that follows from name, directly or through others.
void fold_table_forget(uint64_t name);

#endif
