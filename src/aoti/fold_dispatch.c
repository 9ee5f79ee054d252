// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// fold_dispatch.c: folds dispatches whose arguments follow from constants
// alone. A kernel reads nothing but its arguments, so equal arguments give
// equal results.
#include <stdlib.h>
#include <string.h>

#include "aoti/fold.h"

// The written storages of a call, each once.
typedef struct targets {
  aoti_storage *storages[FOLD_RESULTS_MAX];
  uint32_t count;
} targets;

// True if argument is the whole of a storage that a run has made for itself.
static bool can_be_target(const fold_argument *argument) {
  const aoti_storage *storage = argument->storage;
  return storage && (storage->is_fresh || storage->value) &&
         argument->offset_bytes == 0 &&
         argument->length_bytes == storage->size_bytes;
}

static bool find_targets(const fold_call *call, targets *out_targets) {
  out_targets->count = 0;
  for (uint32_t i = 0; i < call->argument_count; ++i) {
    const fold_argument *at = &call->arguments[i];
    if (!at->is_set || !at->is_written) {
      continue;
    }
    if (!can_be_target(at) || out_targets->count == FOLD_RESULTS_MAX) {
      return false;
    }
    for (uint32_t t = 0; t < out_targets->count; ++t) {
      if (out_targets->storages[t] == at->storage) {
        return false;
      }
    }
    out_targets->storages[out_targets->count++] = at->storage;
  }
  return out_targets->count > 0;
}

// Without a lock: most dispatches have an input that depends on no constant.
static bool may_be_known(const fold_call *call) {
  bool has_constant = false;
  for (uint32_t i = 0; i < call->argument_count; ++i) {
    const fold_argument *at = &call->arguments[i];
    if (!at->is_set || at->is_written || !at->storage) {
      continue;
    }
    if (!at->storage->value && !at->storage->is_constant) {
      return false;
    }
    has_constant = true;
  }
  return has_constant;
}

static void add_word(fold_key *key, uint64_t word) {
  key->words[key->word_count++] = word;
  key->hash = (key->hash ^ word) * 0x9e3779b97f4a7c15u;  // 2^64 / golden ratio
  key->hash ^= key->hash >> 32;
}

static void add_bytes(fold_key *key, const fold_argument *argument) {
  const char *bytes = argument->bytes;
  for (size_t i = 0; i < argument->length_bytes; i += sizeof(uint64_t)) {
    uint64_t word = 0;
    const size_t left = argument->length_bytes - i;
    memcpy(&word, bytes + i, left < sizeof word ? left : sizeof word);
    add_word(key, word);
  }
}

// False if the contents are not known.
static bool add_argument(fold_key *key, const fold_argument *at) {
  add_word(key, (uint64_t)at->is_set | (uint64_t)at->is_written << 1 |
                    (uint64_t)(at->storage != NULL) << 2 |
                    (uint64_t)at->length_bytes << 3);
  if (!at->is_set || !at->storage) {
    add_bytes(key, at);
    return true;
  }
  add_word(key, at->offset_bytes);
  const uint64_t name =
      fold_name_of(at->storage, at->offset_bytes, at->length_bytes);
  add_word(key, name);
  return name != 0 || (at->is_written && at->storage->is_fresh);
}

// NULL if the results do not follow from constants.
static fold_key *make_key(const fold_call *call) {
  size_t words = sizeof call->sizes / sizeof *call->sizes;
  for (uint32_t i = 0; i < call->argument_count; ++i) {
    words += 4 + call->arguments[i].length_bytes *
                     (call->arguments[i].storage == NULL) / sizeof(uint64_t);
  }
  fold_key *key = malloc(sizeof *key + words * sizeof *key->words);
  if (!key) {
    return NULL;
  }
  *key = (fold_key){.pipeline = mtl_pipeline_retain(call->pipeline)};  // +1
  for (size_t i = 0; i < sizeof call->sizes / sizeof *call->sizes; ++i) {
    add_word(key, call->sizes[i]);
  }
  for (uint32_t i = 0; i < call->argument_count; ++i) {
    if (!add_argument(key, &call->arguments[i])) {
      fold_key_delete(key);
      return NULL;
    }
  }
  return key;
}

static mtl_status before_writes(const fold_call *call) {
  for (uint32_t i = 0; i < call->argument_count; ++i) {
    const fold_argument *at = &call->arguments[i];
    if (at->is_set && at->is_written && at->storage) {
      AOTI_TRY(
          fold_before_write(at->storage, at->offset_bytes, at->length_bytes));
    }
  }
  return MTL_OK;
}

static bool can_fold(mtl_stream *stream) {
  const mtl_device_info *info = mtl_device_get_info(mtl_stream_device(stream));
  return info->runs_host_work &&
         (info->has_unified_memory || info->runs_native_work);
}

mtl_status fold_find(mtl_stream *stream, const fold_call *call, bool *out_found,
                     fold_key **out_key) {
  *out_found = false;
  *out_key = NULL;
  targets to;
  fold_key *key =
      may_be_known(call) && find_targets(call, &to) && can_fold(stream)
          ? make_key(call)
          : NULL;
  fold_value *results[FOLD_RESULTS_MAX];
  bool is_new = false;
  if (key && fold_table_find(key, results, &is_new)) {
    for (uint32_t i = 0; i < to.count; ++i) {
      fold_value_share(results[i], to.storages[i]);
      fold_value_release(results[i]);  // -1
    }
    *out_found = true;
  }
  if (!is_new || *out_found) {
    fold_key_delete(key);
    key = NULL;
  }
  *out_key = key;
  return *out_found ? MTL_OK : before_writes(call);
}

// Host work behind the kernel: it does not run if the kernel failed.
static void mark_results(const void *arguments, void *const *addresses,
                         void *scratch, uint64_t first, uint64_t end) {
  (void)arguments;
  (void)scratch;
  (void)first;
  (void)end;
  fold_value *value = addresses[0];
  // Release: pairs with the acquire in fold_table.c.
  atomic_store_explicit(&value->is_there, true, memory_order_release);
}

static mtl_status mark_when_there(mtl_stream *stream, fold_value *value) {
  const size_t start = 0;
  const mtl_host_work work = {
      .name = "a constant's value",
      .function = mark_results,
      .buffers = &value->self,
      .offsets_bytes = &start,
      .buffer_count = 1,
      .piece_count = 1,
      .piece_ns = 1,
  };
  return mtl_stream_host_work(stream, &work);
}

void fold_keep(mtl_stream *stream, const fold_call *call, fold_key *key) {
  for (uint32_t i = 0; key && i < call->argument_count; ++i) {
    const fold_argument *at = &call->arguments[i];
    if (!at->is_set || !at->is_written) {
      continue;
    }
    fold_value *value =
        fold_value_create(mtl_stream_device(stream), at->storage);
    if (!value || mark_when_there(stream, value) != MTL_OK) {
      fold_value_release(value);  // -1
      fold_key_delete(key);
      return;
    }
    key->results[key->result_count++] = value;  // +1
  }
  if (key) {
    fold_table_add(key);
  }
}
