// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// load.c: loads Metal and the Objective-C runtime from one library: on macOS
// the framework; elsewhere Mettle's own libMetal.so.1, which lies beside
// libmettle or is named by METTLE_METAL_LIBRARY.
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/metal/objc.h"

metal_runtime metal;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool is_loaded;

static const char *const selector_texts[] = {
#define METAL_SELECTOR_TEXT(name, text) text,
    METAL_SELECTORS(METAL_SELECTOR_TEXT)
#undef METAL_SELECTOR_TEXT
};

#if defined(__APPLE__)
static const char *const usual_places[] = {
    "/System/Library/Frameworks/Metal.framework/Metal"};
#else
// From the folder of libmettle: as it is installed, and as it is built.
static const char *const usual_places[] = {"mettle/libMetal.so.1",
                                           "objc/libMetal.so.1",
                                           "libMetal.so.1"};
#endif

// Writes the path of a usual place: relative ones begin where this code lies.
static void place_path(char *path, size_t capacity, const char *place) {
  Dl_info here;
  const char *slash = NULL;
  if (place[0] != '/' && dladdr(selector_texts, &here) && here.dli_fname) {
    slash = strrchr(here.dli_fname, '/');
  }
  snprintf(path, capacity, "%.*s%s",
           slash ? (int)(slash + 1 - here.dli_fname) : 0,
           slash ? here.dli_fname : "", place);
}

static void *open_library(void) {
  const char *named = secure_getenv("METTLE_METAL_LIBRARY");
  if (named && *named) {
    return dlopen(named, RTLD_NOW | RTLD_LOCAL);
  }
  void *library = NULL;
  for (size_t i = 0; i < sizeof usual_places / sizeof *usual_places && !library;
       i++) {
    char path[PATH_MAX];
    place_path(path, sizeof path, usual_places[i]);
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  }
  return library;
}

static mtl_status find_all(void *library) {
  const struct {
    const char *name;
    void *place;
    bool is_optional;
  } wanted[] = {
      {"objc_msgSend", &metal.send, false},
      {"objc_msgSend_stret", &metal.send_struct, true},
      {"objc_getClass", &metal.get_class, false},
      {"objc_autoreleasePoolPush", &metal.pool_push, false},
      {"objc_autoreleasePoolPop", &metal.pool_pop, false},
      {"MTLCopyAllDevices", &metal.copy_all_devices, false},
      {"_NSConcreteStackBlock", &metal.stack_block, false},
  };
  for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
    void *found = dlsym(library, wanted[i].name);
    if (!found && !wanted[i].is_optional) {
      return mtli_fail(MTL_UNSUPPORTED, "device 'metal': Metal lacks '%s'",
                       wanted[i].name);
    }
    memcpy(wanted[i].place, &found, sizeof found);
  }
#if !defined(__x86_64__)
  metal.send_struct = NULL;  // the other ABIs have one way for all results
#endif
  SEL (*register_name)(const char *);
  void *found = dlsym(library, "sel_registerName");
  if (!found) {
    return mtli_fail(MTL_UNSUPPORTED,
                     "device 'metal': Metal lacks 'sel_registerName'");
  }
  memcpy(&register_name, &found, sizeof found);
  for (size_t i = 0; i < METAL_SELECTOR_COUNT; i++) {
    metal.selectors[i] = register_name(selector_texts[i]);
  }
  metal.send_struct = metal.send_struct ? metal.send_struct : metal.send;
  return MTL_OK;
}

// The library stays: its classes cannot be taken out of a process.
static mtl_status load(void) {
  void *library = open_library();
  if (!library) {
    const char *why = dlerror();
    return mtli_fail(MTL_NOT_FOUND, "device 'metal': no Metal: %s",
                     why ? why : "it cannot be opened");
  }
  return find_all(library);
}

mtl_status metal_load(void) {
  pthread_mutex_lock(&lock);
  mtl_status status = MTL_OK;
  if (!is_loaded) {
    status = load();
    is_loaded = status == MTL_OK;
  }
  pthread_mutex_unlock(&lock);
  return status;
}
