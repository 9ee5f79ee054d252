// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// storage.c: storages, the memory that tensors share: from the pool, from the
// heap, or the caller's.
#include <stdlib.h>
#include <unistd.h>

#include "aoti/fold.h"

static mtl_status allocate(aoti_storage *storage) {
  // Inside a model's run the memory is touched by recorded work alone.
  const mtl_memory_use use = aoti_torch_grad_mode_is_enabled()
                                 ? MTL_MEMORY_FOR_HOST
                                 : MTL_MEMORY_FOR_STREAM;
  mtl_status status =
      mtl_memory_allocate(NULL, storage->size_bytes, use, &storage->pooled);
  storage->is_fresh = use == MTL_MEMORY_FOR_STREAM;
  if (status == MTL_OK) {
    storage->base = storage->pooled;
    status = mtl_memory_find(storage->pooled, &storage->buffer,
                             &storage->offset_bytes);  // +1
  }
  return status;
}

static mtl_status allocate_heap(aoti_storage *storage) {
  if (posix_memalign(&storage->heap, 64, storage->size_bytes) != 0) {
    storage->heap = NULL;
    return mtl_fail(MTL_OUT_OF_MEMORY, "a tensor of %zu bytes: no memory",
                    storage->size_bytes);
  }
  storage->base = storage->heap;
  return MTL_OK;
}

static mtl_status storage_new(int32_t device_type, size_t size_bytes,
                              aoti_storage **out_storage) {
  if (device_type != AOTI_CPU && device_type != AOTI_MPS) {
    return mtl_fail(MTL_UNSUPPORTED,
                    "device type %d is neither the cpu (0) nor mps (13)",
                    device_type);
  }
  aoti_storage *storage = calloc(1, sizeof *storage);
  if (!storage) {
    return mtl_fail(MTL_OUT_OF_MEMORY, "a tensor's storage: no memory");
  }
  atomic_init(&storage->reference_count, 1);
  storage->device_type = device_type;
  storage->size_bytes = size_bytes;
  *out_storage = storage;
  return MTL_OK;
}

mtl_status aoti_storage_create(int32_t device_type, size_t size_bytes,
                               aoti_storage **out_storage) {
  AOTI_TRY(storage_new(device_type, size_bytes ? size_bytes : 1, out_storage));
  const mtl_status status = device_type == AOTI_MPS
                                ? allocate(*out_storage)
                                : allocate_heap(*out_storage);
  if (status != MTL_OK) {
    aoti_storage_release(*out_storage);
    *out_storage = NULL;
  }
  return status;
}

mtl_status aoti_storage_wrap(mtl_buffer *buffer, size_t offset_bytes,
                             size_t size_bytes, aoti_storage **out_storage) {
  AOTI_TRY(storage_new(AOTI_MPS, size_bytes, out_storage));
  (*out_storage)->buffer = mtl_buffer_retain(buffer);  // +1
  (*out_storage)->offset_bytes = offset_bytes;
  char *contents = mtl_buffer_contents(buffer);
  (*out_storage)->base = contents ? contents + offset_bytes : NULL;
  return MTL_OK;
}

aoti_storage *aoti_storage_retain(aoti_storage *storage) {
  if (storage) {
    // Relaxed: who retains has a reference already.
    atomic_fetch_add_explicit(&storage->reference_count, 1,
                              memory_order_relaxed);
  }
  return storage;
}

void aoti_storage_release(aoti_storage *storage) {
  // Acquire and release: the last owner sees what the others did.
  if (!storage || atomic_fetch_sub_explicit(&storage->reference_count, 1,
                                            memory_order_acq_rel) != 1) {
    return;
  }
  mtl_buffer_release(storage->buffer);  // -1; recorded work has a reference of
                                        // its own
  const mtl_status status = mtl_memory_free(storage->pooled);
  (void)status;  // it is our buffer, so the call cannot fail
  fold_value_release(storage->value);  // -1
  free(storage->heap);
  free(storage);
}
