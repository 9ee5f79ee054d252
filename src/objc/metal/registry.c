// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// registry.c: IOKit's registry as far as Metal's clients read it: one service
// of class IOAccelerator for each device, with the number of its cores.
#include <pthread.h>
#include <stdint.h>
#include <string.h>

#include "objc/metal/metal.h"

typedef uint32_t io_object;  // 0: none

enum {
  IO_SUCCESS = 0,
  IO_NOT_FOUND = (int)0xe00002f0,  // kIOReturnNotFound
  SERVICES = 64,                   // objects 1 to 64 are services
  ITERATORS = 64,                  // those behind them iterators
};

extern id MTLCopyAllDevices(void);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
// The next service of each iterator; 0: the place is free.
static io_object next_service[ITERATORS];

// Returns a service's device, autoreleased; NULL if there is none.
static id device_at(io_object service) {
  const id all = objc_autorelease(MTLCopyAllDevices());
  return service && service <= array_count(all) ? array_at(all, service - 1)
                                                : NULL;
}

OBJC_EXPORT id IOServiceMatching(const char *name) {
  const id made = dictionary_create();
  dictionary_set(made, string_make("IOProviderClass"), string_make(name));
  return made;
}

// Consumes the dictionary, as IOKit does.
static bool matches_accelerators(id matching) {
  const id name = matching
                      ? dictionary_get(matching, string_make("IOProviderClass"))
                      : NULL;
  const char *text = string_utf8(name);
  const bool found =
      !strcmp(text, "IOAccelerator") || !strcmp(text, "AGXAccelerator");
  objc_release(matching);
  return found;
}

OBJC_EXPORT io_object IOServiceGetMatchingService(uint32_t port, id matching) {
  (void)port;
  return matches_accelerators(matching) && device_at(1) ? 1 : 0;
}

OBJC_EXPORT int IOServiceGetMatchingServices(uint32_t port, id matching,
                                             io_object *out_iterator) {
  (void)port;
  const bool found = matches_accelerators(matching);
  *out_iterator = 0;
  pthread_mutex_lock(&lock);
  for (io_object i = 0; i < ITERATORS && !*out_iterator; ++i) {
    if (!next_service[i]) {
      next_service[i] = found ? 1 : SERVICES + 1;
      *out_iterator = SERVICES + 1 + i;
    }
  }
  pthread_mutex_unlock(&lock);
  return *out_iterator ? IO_SUCCESS : IO_NOT_FOUND;
}

OBJC_EXPORT io_object IOIteratorNext(io_object iterator) {
  if (iterator <= SERVICES || iterator > SERVICES + ITERATORS) {
    return 0;
  }
  pthread_mutex_lock(&lock);
  const io_object service = next_service[iterator - SERVICES - 1];
  const bool found = device_at(service) != NULL;
  next_service[iterator - SERVICES - 1] += found;
  pthread_mutex_unlock(&lock);
  return found ? service : 0;
}

OBJC_EXPORT int IOObjectRelease(io_object object) {
  if (object > SERVICES && object <= SERVICES + ITERATORS) {
    pthread_mutex_lock(&lock);
    next_service[object - SERVICES - 1] = 0;
    pthread_mutex_unlock(&lock);
  }
  return IO_SUCCESS;
}

OBJC_EXPORT int IORegistryEntryGetRegistryEntryID(io_object entry,
                                                  uint64_t *out_id) {
  const id device = device_at(entry);
  *out_id = SEND(uint64_t (*)(id, SEL), device, "registryID");
  return device ? IO_SUCCESS : IO_NOT_FOUND;
}

// Returns a property, retained for the caller; NULL if the entry does not have
// it.
OBJC_EXPORT id IORegistryEntryCreateCFProperty(io_object entry, id key,
                                               id allocator, uint32_t options) {
  (void)allocator;
  (void)options;
  const id device = device_at(entry);
  if (!device) {
    return NULL;
  }
  if (!strcmp(string_utf8(key), "gpu-core-count")) {
    return objc_retain(number_make_unsigned(
        mtl_device_get_info(device_of(device))->compute_units));
  }
  if (!strcmp(string_utf8(key), "model")) {
    return objc_retain(SEND(id(*)(id, SEL), device, "name"));
  }
  return NULL;
}

OBJC_EXPORT id IORegistryEntrySearchCFProperty(io_object entry,
                                               const char *plane, id key,
                                               id allocator, uint32_t options) {
  (void)plane;
  return IORegistryEntryCreateCFProperty(entry, key, allocator, options);
}
