// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// device.c: one table of all drivers' devices. A device is opened when someone
// first asks for it, shared by all who do, and closed with its last owner.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/settings.h"
#include "mettle/check.h"
#include "check/check.h"
#include "runtime/objects.h"
#include "runtime/record/inline_bytes.h"

enum {
  OPEN_LIMIT = 64,  // devices of one machine that are open at once
  DRIVER_LIMIT = 8,
};

static pthread_mutex_t registry_lock = PTHREAD_MUTEX_INITIALIZER;
static mtl_device *registry[OPEN_LIMIT];
// Held while a device of the driver of that number is opened, which may open a
// device of a driver listed earlier: taken from the last to the first, with
// registry_lock inside.
static pthread_mutex_t opening_locks[DRIVER_LIMIT] = {
    [0 ... DRIVER_LIMIT - 1] = PTHREAD_MUTEX_INITIALIZER};

void mtli_registry_lock(void) {
  for (size_t i = DRIVER_LIMIT; i > 0; i--) {
    pthread_mutex_lock(&opening_locks[i - 1]);
  }
  pthread_mutex_lock(&registry_lock);
}

void mtli_registry_unlock(void) {
  pthread_mutex_unlock(&registry_lock);
  for (size_t i = 0; i < DRIVER_LIMIT; i++) {
    pthread_mutex_unlock(&opening_locks[i]);
  }
}

static void device_destroy(mtli_object *object) {
  mtl_device *device = (mtl_device *)object;
  pthread_mutex_lock(&registry_lock);
  for (size_t i = 0; i < OPEN_LIMIT; i++) {
    if (registry[i] == device) {
      registry[i] = NULL;
    }
  }
  pthread_mutex_unlock(&registry_lock);
  device->driver->device_close(device);
  mtli_inline_bytes_close(device);
  mtli_pipeline_ids_clear(device);
  mtli_arena_pool_clear(&device->arenas);
  pthread_mutex_destroy(&device->lock);
  free(device);
}

// Returns the same identity in every process: FNV-1a of the name.
static uint64_t registry_id(const char *name) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (; *name; name++) {
    hash = (hash ^ (unsigned char)*name) * 0x100000001b3u;
  }
  return hash;
}

static mtl_status device_create(const mtli_driver *driver, uint32_t index,
                                mtl_device **out_device) {
  mtl_device *device = calloc(1, driver->device_bytes);
  if (!device) {
    return mtli_fail(MTL_OUT_OF_MEMORY, "no memory for a device");
  }
  mtli_object_init(&device->object, device_destroy);
  device->driver = driver;
  device->index = index;
  device->process = mtli_process_number();
  device->info.name = driver->device_name(index);
  device->info.registry_id = registry_id(device->info.name);
  pthread_mutex_init(&device->lock, NULL);
  const mtl_status status = driver->device_open(device);
  if (status != MTL_OK) {
    pthread_mutex_destroy(&device->lock);
    free(device);
    return status;
  }
  *out_device = device;
  return MTL_OK;
}

// Takes a reference unless the last one is already gone.
static bool try_retain(mtl_device *device) {
  uint32_t references =
      atomic_load_explicit(&device->object.references, memory_order_relaxed);
  while (references) {
    // Relaxed as any retain; on failure the loop looks again.
    if (atomic_compare_exchange_weak_explicit(
            &device->object.references, &references, references + 1,
            memory_order_relaxed, memory_order_relaxed)) {
      return true;
    }
  }
  return false;
}

// Gives the open device with a reference, or NULL.
static mtl_device *registry_find(const mtli_driver *driver, uint32_t index) {
  mtl_device *found = NULL;
  pthread_mutex_lock(&registry_lock);
  for (size_t i = 0; i < OPEN_LIMIT && !found; i++) {
    mtl_device *device = registry[i];
    // A device from before a fork is shared only by its inheritors; one that
    // cannot be retained is being destroyed.
    if (device && !mtli_device_is_inherited(device) &&
        device->driver == driver && device->index == index &&
        try_retain(device)) {
      found = device;
    }
  }
  pthread_mutex_unlock(&registry_lock);
  return found;
}

static bool registry_add(mtl_device *device) {
  mtl_device **vacant = NULL;
  pthread_mutex_lock(&registry_lock);
  for (size_t i = 0; i < OPEN_LIMIT && !vacant; i++) {
    if (!registry[i] || mtli_device_is_inherited(registry[i])) {
      vacant = &registry[i];
      *vacant = device;
    }
  }
  pthread_mutex_unlock(&registry_lock);
  return vacant != NULL;
}

// Opens a device that is not open. The driver's opening lock is held.
static mtl_status registry_open(const mtli_driver *driver, uint32_t index,
                                mtl_device **out_device) {
  mtl_device *device = NULL;
  MTL_TRY(device_create(driver, index, &device));
  if (!registry_add(device)) {
    mtl_device_release(device);
    return mtli_fail(MTL_OUT_OF_MEMORY, "%d devices are open already",
                     OPEN_LIMIT);
  }
  *out_device = device;
  return MTL_OK;
}

// The driver whose device this thread opens now. METTLE_DEVICE may name the
// device that asks, through another driver, for the default.
static _Thread_local const mtli_driver *opening;

static mtl_status device_get(const mtli_driver *driver, uint32_t index,
                             mtl_device **out_device) {
  MTL_TRY(mtli_settings_check());
  MTL_TRY(mtl_check_settings());
  if (opening == driver) {
    return mtli_fail(MTL_INVALID_STATE, "device '%s' is being opened",
                     driver->device_name(index));
  }
  mtli_watch_forks();
  MTL_TRY(mtli_trace_start_by_setting());
  size_t number = 0;
  while (mtli_drivers[number] != driver) {
    number++;
  }
  pthread_mutex_lock(&opening_locks[number]);
  mtl_status status = MTL_OK;
  *out_device = registry_find(driver, index);
  if (!*out_device) {
    const mtli_driver *outer = opening;
    opening = driver;
    status = registry_open(driver, index, out_device);
    opening = outer;
  }
  pthread_mutex_unlock(&opening_locks[number]);
  return status;
}

mtl_status mtl_device_list(mtl_device **out_devices, size_t capacity,
                           size_t *out_count) {
  if (!out_count || (!out_devices && capacity)) {
    return mtli_fail(MTL_INVALID_ARGUMENT, "mtl_device_list: %s is NULL",
                     out_count ? "out_devices" : "out_count");
  }
  *out_count = 0;
  size_t count = 0;
  for (size_t i = 0; i < mtli_driver_count; i++) {
    const mtli_driver *driver = mtli_drivers[i];
    const uint32_t driver_devices = driver->device_count();
    for (uint32_t index = 0; index < driver_devices; index++) {
      if (!driver->device_is_listed(index)) {
        continue;
      }
      mtl_status status = MTL_OK;
      if (count < capacity) {
        status = device_get(driver, index, &out_devices[count]);
      }
      if (status != MTL_OK) {
        while (count) {
          mtl_device_release(out_devices[--count]);
          out_devices[count] = NULL;
        }
        return status;
      }
      count++;
    }
  }
  *out_count = count;
  return MTL_OK;
}

// Appends "name, name" to text, up to its capacity.
static void names_list(char *text, size_t capacity) {
  text[0] = '\0';
  for (size_t i = 0; i < mtli_driver_count; i++) {
    const uint32_t count = mtli_drivers[i]->device_count();
    for (uint32_t index = 0; index < count; index++) {
      const size_t used = strlen(text);
      snprintf(text + used, capacity - used, "%s%s", used ? ", " : "",
               mtli_drivers[i]->device_name(index));
    }
  }
}

mtl_status mtl_device_by_name(const char *name, mtl_device **out_device) {
  if (!out_device) {
    return mtli_fail(MTL_INVALID_ARGUMENT,
                     "mtl_device_by_name: out_device is NULL");
  }
  *out_device = NULL;
  if (!name) {
    return mtli_fail(MTL_INVALID_ARGUMENT, "mtl_device_by_name: name is NULL");
  }
  for (size_t i = 0; i < mtli_driver_count; i++) {
    const mtli_driver *driver = mtli_drivers[i];
    const uint32_t count = driver->device_count();
    for (uint32_t index = 0; index < count; index++) {
      if (strcmp(driver->device_name(index), name) == 0) {
        return device_get(driver, index, out_device);
      }
    }
  }
  char names[512];
  names_list(names, sizeof names);
  return mtli_fail(MTL_NOT_FOUND, "no device '%s'; there are: %s", name, names);
}

mtl_status mtl_device_default(mtl_device **out_device) {
  if (!out_device) {
    return mtli_fail(MTL_INVALID_ARGUMENT,
                     "mtl_device_default: out_device is NULL");
  }
  *out_device = NULL;
  const char *name = getenv("METTLE_DEVICE");
  if ((!name || !*name) && (mtli_check_wanted() & MTLI_CHECK_HOST)) {
    name = "cpu-discrete";  // what hosts do is seen there alone
  }
  if (name && *name) {
    return mtl_device_by_name(name, out_device);
  }
  for (size_t i = 0; i < mtli_driver_count; i++) {
    const uint32_t count = mtli_drivers[i]->device_count();
    for (uint32_t index = 0; index < count; index++) {
      if (mtli_drivers[i]->device_is_listed(index)) {
        return device_get(mtli_drivers[i], index, out_device);
      }
    }
  }
  return mtli_fail(MTL_NOT_FOUND, "this machine has no device");
}

mtl_device *mtl_device_retain(mtl_device *device) {
  if (device) {
    mtli_object_retain(&device->object);
  }
  return device;
}

void mtl_device_release(mtl_device *device) {
  if (device) {
    mtli_object_release(&device->object);
  }
}

const mtl_device_info *mtl_device_get_info(const mtl_device *device) {
  return &device->info;
}

// True for the family that METTLE_FAMILY names, and earlier ones of its kind:
// clients then take other paths. Cooperative tensors lie as on Apple10, and
// clients with code for older layouts ask for that family.
static bool is_forced(mtl_family family) {
  static const struct {
    const char *word;
    mtl_family first, last;
  } families[] = {
      {"apple8", MTL_FAMILY_APPLE8, MTL_FAMILY_APPLE8},
      {"apple9", MTL_FAMILY_APPLE8, MTL_FAMILY_APPLE9},
      {"apple10", MTL_FAMILY_APPLE8, MTL_FAMILY_APPLE10},
      {"metal4", MTL_FAMILY_METAL4, MTL_FAMILY_METAL4},
      {"metal4", MTL_FAMILY_APPLE8, MTL_FAMILY_APPLE10},
  };
  const char *word = getenv("METTLE_FAMILY");
  for (size_t i = 0; word && i < sizeof families / sizeof *families; i++) {
    if (strcmp(word, families[i].word) == 0 && family >= families[i].first &&
        family <= families[i].last) {
      return true;
    }
  }
  return false;
}

bool mtl_device_supports_family(const mtl_device *device, mtl_family family) {
  return device->driver->device_family(device, family) || is_forced(family);
}

uint64_t mtl_device_current_allocated_bytes(const mtl_device *device) {
  return atomic_load_explicit(&device->allocated_bytes, memory_order_relaxed);
}

mtl_status mtli_device_check(const mtl_device *device) {
  if (mtli_device_is_inherited(device)) {
    return mtli_fail(MTL_INVALID_STATE,
                     "device '%s' was opened before this process was forked; "
                     "open it again in the child",
                     device->info.name);
  }
  return MTL_OK;
}
