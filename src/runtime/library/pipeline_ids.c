// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// pipeline_ids.c: the numbers by which kernels know pipelines: places in a list
// of the device's, from 1 on. A place is not used again.
#include <stdlib.h>

#include "runtime/objects.h"
#include "runtime/weak.h"

// Puts weak at the end of the list. The lock is held. Returns its number, 0
// when out of memory.
static uint64_t append(mtl_device *device, mtli_weak *weak) {
  mtli_pipeline_ids *ids = &device->pipeline_ids;
  if (ids->count == ids->capacity) {
    const size_t capacity = ids->capacity ? 2 * ids->capacity : 16;
    mtli_weak **pipelines =
        realloc(ids->pipelines, capacity * sizeof *pipelines);
    if (!pipelines) {
      return 0;
    }
    ids->pipelines = pipelines;
    ids->capacity = capacity;
  }
  ids->pipelines[ids->count++] = mtli_weak_retain(weak);  // +1
  return ids->count;
}

uint64_t mtli_pipeline_id(mtl_pipeline *pipeline) {
  mtl_device *device = pipeline->device;
  mtli_weak *weak = mtli_weak_of(&pipeline->weak, &pipeline->object);  // +1
  if (!weak) {
    return 0;
  }
  pthread_mutex_lock(&device->lock);
  if (!pipeline->id) {
    pipeline->id = append(device, weak);
  }
  const uint64_t id = pipeline->id;
  pthread_mutex_unlock(&device->lock);
  mtli_weak_release(weak);  // -1
  return id;
}

mtli_weak *mtli_pipeline_of_id(mtl_device *device, uint64_t id) {
  pthread_mutex_lock(&device->lock);
  const mtli_pipeline_ids *ids = &device->pipeline_ids;
  mtli_weak *weak = id && id <= ids->count
                        ? mtli_weak_retain(ids->pipelines[id - 1])  // +1
                        : NULL;
  pthread_mutex_unlock(&device->lock);
  return weak;
}

void mtli_pipeline_ids_clear(mtl_device *device) {
  mtli_pipeline_ids *ids = &device->pipeline_ids;
  for (size_t i = 0; i < ids->count; i++) {
    mtli_weak_release(ids->pipelines[i]);  // -1
  }
  free(ids->pipelines);
  *ids = (mtli_pipeline_ids){0};
}

mtl_status mtl_pipeline_resource_id(mtl_pipeline *pipeline, uint64_t *out_id) {
  static const char call[] = "mtl_pipeline_resource_id";
  if (!pipeline || !out_id) {
    return mtli_fail(MTL_INVALID_ARGUMENT, "%s: %s is NULL", call,
                     pipeline ? "out_id" : "pipeline");
  }
  *out_id = 0;
  mtl_device *device = pipeline->device;
  MTL_TRY(mtli_device_check(device));
  if (!device->driver->kernels_encode_commands || pipeline->is_foreign) {
    return mtli_fail(MTL_UNSUPPORTED, "%s: kernels of device '%s' cannot name "
                     "pipeline '%s'",
                     call, device->info.name, mtl_pipeline_label(pipeline));
  }
  const mtli_indirect_slots *slots = device->driver->indirect;
  *out_id = slots ? slots->pipeline_id(pipeline) : mtli_pipeline_id(pipeline);
  return *out_id ? MTL_OK
                 : mtli_fail(MTL_OUT_OF_MEMORY, "%s: no memory", call);
}
