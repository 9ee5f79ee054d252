// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// device.c: opens Metal's devices and reads their limits. On macOS they are
// this machine's GPUs. Elsewhere there is one, of Mettle's own Metal, opened by
// name alone: it runs the same kernels on the same processor by a longer path.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/machine.h"
#include "drivers/metal/metal.h"

#if defined(__APPLE__)
enum { IS_LISTED = true };
#else
enum { IS_LISTED = false };
#endif

enum { NAMED_DEVICES = 8 };
static const char *const names[NAMED_DEVICES] = {
    "metal",   "metal:1", "metal:2", "metal:3",
    "metal:4", "metal:5", "metal:6", "metal:7"};

// [index] of MTLCopyAllDevices with a reference, or nil.
static id device_at(uint32_t index) {
  void *pool = metal.pool_push();
  const id all = metal.copy_all_devices();
  id found = NULL;
  if (all && index < GET_NUMBER(all, count)) {
    found = metal_retain(SEND(id(*)(id, SEL, unsigned long), all,
                              objectAtIndex, (unsigned long)index));
  }
  metal_release(all);
  metal.pool_pop(pool);
  return found;
}

uint32_t metal_device_count(void) {
  if (!IS_LISTED) {
    return 1;
  }
  if (metal_load() != MTL_OK) {
    return 0;
  }
  uint32_t count = 0;
  for (id each = NULL; count < NAMED_DEVICES && (each = device_at(count));
       count++) {
    metal_release(each);
  }
  return count;
}

const char *metal_device_name(uint32_t index) {
  return index < NAMED_DEVICES ? names[index] : "metal:?";
}

bool metal_device_is_listed(uint32_t index) {
  (void)index;
  return IS_LISTED;
}

static void name_architecture(metal_device *metal_of) {
  const id object = metal_of->object;
  const id architecture =
      RESPONDS(object, architecture) ? GET_OBJECT(object, architecture) : NULL;
  snprintf(metal_of->architecture, sizeof metal_of->architecture, "%s",
           architecture ? metal_text(GET_OBJECT(architecture, name)) : "metal");
  metal_of->device.info.architecture = metal_of->architecture;
}

static void fill_info(metal_device *metal_of) {
  const id object = metal_of->object;
  mtl_device_info *info = &metal_of->device.info;
  const metal_size most = ((metal_size(*)(id, SEL))metal.send_struct)(
      object, metal.selectors[METAL_maxThreadsPerThreadgroup]);
  name_architecture(metal_of);
  info->thread_execution_width = MTL_SIMD_WIDTH;
  // No kernel has more than its device: pipelines report their own limit.
  info->max_threads_per_threadgroup = (uint32_t)most.width;
  info->max_threadgroup_threads[0] = (uint32_t)most.width;
  info->max_threadgroup_threads[1] = (uint32_t)most.height;
  info->max_threadgroup_threads[2] = (uint32_t)most.depth;
  info->max_threadgroup_memory_bytes =
      GET_NUMBER(object, maxThreadgroupMemoryLength);
  info->max_buffer_bytes = GET_NUMBER(object, maxBufferLength);
  info->recommended_max_working_set_bytes =
      GET_NUMBER(object, recommendedMaxWorkingSetSize);
  info->buffer_offset_alignment_bytes = 1;
  info->no_copy_alignment_bytes = mtli_machine_page_bytes();  // as Metal
  info->compute_units = 1;  // Metal does not say
  info->timestamp_frequency_hz = 1000 * 1000 * 1000;
  info->has_unified_memory = GET_BOOL(object, hasUnifiedMemory);
  // Metal takes what does not fit the working set, too, and pages it.
  metal_of->device.memory_bytes =
      info->max_buffer_bytes > info->recommended_max_working_set_bytes
          ? 2 * info->max_buffer_bytes
          : 2 * info->recommended_max_working_set_bytes;
}

mtl_status metal_device_open(mtl_device *device) {
  metal_device *metal_of = metal_device_of(device);
  MTL_TRY(metal_load());
  metal_of->object = device_at(device->index);
  if (!metal_of->object) {
    return mtli_fail(MTL_NOT_FOUND, "Metal has no device number %u",
                     device->index);
  }
  pthread_mutex_init(&metal_of->lock, NULL);
  void *pool = metal.pool_push();
  metal_of->listener = metal_new("MTLSharedEventListener");
  fill_info(metal_of);
  metal.pool_pop(pool);
  return MTL_OK;
}

void metal_device_close(mtl_device *device) {
  metal_device *metal_of = metal_device_of(device);
  while (metal_of->samplers) {
    metal_sampler_state *state = metal_of->samplers;
    metal_of->samplers = state->next;
    metal_give_back(device, state->handle.object);
    free(state);
  }
  metal_give_back(device, metal_of->staging);
  metal_give_back(device, metal_of->listener);
  metal_give_back(device, metal_of->object);
  pthread_mutex_destroy(&metal_of->lock);
}

bool metal_device_family(const mtl_device *device, mtl_family family) {
  return (SEND(unsigned long (*)(id, SEL, long), metal_device_of(device)->object,
               supportsFamily, (long)family) &
          0xff) != 0;
}

// Returns no target: Metal compiles for its own devices.
char *metal_device_code_target(const mtl_device *device) {
  (void)device;
  return NULL;
}

mtl_status metal_device_timestamps(mtl_device *device, uint64_t *out_host_ns,
                                   uint64_t *out_device) {
  SEND(void (*)(id, SEL, uint64_t *, uint64_t *), metal_device_of(device)->object,
       sampleTimestamps, out_host_ns, out_device);
  return MTL_OK;
}

void metal_give_back(const mtl_device *device, id object) {
  if (!object || mtli_device_is_inherited(device)) {
    return;
  }
  void *pool = metal.pool_push();
  metal_release(object);
  metal.pool_pop(pool);
}

// --- objects by resource id --------------------------------------------------

static metal_handle **list_of(metal_device *device, uint64_t resource_id) {
  const uint64_t hash = resource_id * 0x9e3779b97f4a7c15u;
  return &device->handles[hash >> 56 & (METAL_HANDLE_LISTS - 1)];
}

void metal_handle_add(metal_device *device, metal_handle *handle) {
  pthread_mutex_lock(&device->lock);
  metal_handle **list = list_of(device, handle->resource_id);
  handle->next = *list;
  *list = handle;
  pthread_mutex_unlock(&device->lock);
}

void metal_handle_remove(metal_device *device, metal_handle *handle) {
  if (mtli_device_is_inherited(&device->device)) {
    return;
  }
  pthread_mutex_lock(&device->lock);
  metal_handle **link = list_of(device, handle->resource_id);
  while (*link && *link != handle) {
    link = &(*link)->next;
  }
  if (*link) {
    *link = handle->next;
  }
  pthread_mutex_unlock(&device->lock);
}

id metal_handle_find(metal_device *device, uint64_t resource_id,
                     metal_texture **out_texture) {
  pthread_mutex_lock(&device->lock);
  const metal_handle *handle = *list_of(device, resource_id);
  while (handle && handle->resource_id != resource_id) {
    handle = handle->next;
  }
  const id object = handle ? handle->object : NULL;
  if (out_texture) {
    *out_texture = handle ? handle->texture : NULL;
  }
  pthread_mutex_unlock(&device->lock);
  return object;
}
