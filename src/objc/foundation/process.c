// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// process.c: NSProcessInfo and NSBundle: the process, its arguments and its
// files. A bundle is the folder of an executable or library.
#include <dlfcn.h>
#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "objc/foundation/files.h"
#include "objc/foundation/foundation.h"
#include "objc/runtime/failure.h"

extern struct objc_class OBJC_CLASS_$_NSProcessInfo;
extern struct objc_class OBJC_CLASS_$_NSBundle;

// --- NSProcessInfo -----------------------------------------------------------

// The version of macOS that we answer to: the first whose MTLCompileOptions
// have a math mode. METTLE_OBJC_MACOS overrides it.
static void system_version(long numbers[3]) {
  const char *text = getenv("METTLE_OBJC_MACOS");
  numbers[0] = 15;
  numbers[1] = numbers[2] = 0;
  if (text &&
      sscanf(text, "%ld.%ld.%ld", &numbers[0], &numbers[1], &numbers[2]) < 1) {
    runtime_fail("METTLE_OBJC_MACOS: '%s' is no version", text);
  }
}

typedef struct operating_system_version {
  NSInteger major, minor, patch;
} operating_system_version;

static id process_shared(Class self, SEL _cmd) {
  static _Atomic(id) shared;
  (void)_cmd;
  return shared_instance(&shared, self);
}

static id process_arguments(id self, SEL _cmd) {
  (void)self;
  (void)_cmd;
  size_t length;
  const id list = objc_autorelease(mutable_array_create());
  char *bytes = file_read("/proc/self/cmdline", &length, NULL);
  for (size_t i = 0; bytes && i < length; i += strlen(bytes + i) + 1) {
    SEND(void (*)(id, SEL, id), list, "addObject:", string_make(bytes + i));
  }
  free(bytes);
  return list;
}

static id process_environment(id self, SEL _cmd) {
  (void)self;
  (void)_cmd;
  const id all = objc_autorelease(dictionary_create());
  for (char **each = environ; each && *each; ++each) {
    const char *equals = strchr(*each, '=');
    if (equals) {
      dictionary_set(all, string_make_bytes(*each, (size_t)(equals - *each)),
                     string_make(equals + 1));
    }
  }
  return all;
}

static id process_name(id self, SEL _cmd) {
  (void)self;
  (void)_cmd;
  return string_make(program_invocation_short_name);
}

static int process_identifier(id self, SEL _cmd) {
  (void)self;
  (void)_cmd;
  return getpid();
}

static NSUInteger process_processors(id self, SEL _cmd) {
  (void)self;
  (void)_cmd;
  return (NSUInteger)sysconf(_SC_NPROCESSORS_ONLN);
}

static uint64_t process_memory(id self, SEL _cmd) {
  (void)self;
  (void)_cmd;
  return (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
}

static double process_uptime(id self, SEL _cmd) {
  (void)self;
  (void)_cmd;
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static operating_system_version process_version(id self, SEL _cmd) {
  (void)self;
  (void)_cmd;
  long n[3];
  system_version(n);
  return (operating_system_version){n[0], n[1], n[2]};
}

static int process_version_at_least(id self, SEL _cmd,
                                    operating_system_version wanted) {
  const operating_system_version is = process_version(self, _cmd);
  return is.major != wanted.major   ? is.major > wanted.major
         : is.minor != wanted.minor ? is.minor > wanted.minor
                                    : is.patch >= wanted.patch;
}

static id process_version_string(id self, SEL _cmd) {
  const operating_system_version is = process_version(self, _cmd);
  return string_make_printf("Version %ld.%ld.%ld (Mettle)", is.major, is.minor,
                            is.patch);
}

static id process_host(id self, SEL _cmd) {
  (void)self;
  (void)_cmd;
  char name[256] = "";
  (void)!gethostname(name, sizeof name - 1);
  return string_make(name);
}

static id process_unique(id self, SEL _cmd) {
  (void)self;
  (void)_cmd;
  return SEND(id(*)(id, SEL),
              SEND(id(*)(id, SEL), objc_getClass("NSUUID"), "UUID"),
              "UUIDString");
}

static NSInteger process_nominal(id self, SEL _cmd) {
  (void)self;
  (void)_cmd;
  return 0;  // NSProcessInfoThermalStateNominal
}

static int process_no(id self, SEL _cmd) {
  (void)self;
  (void)_cmd;
  return 0;
}

METHODS(process_methods, METHOD("arguments", "@16@0:8", process_arguments),
        METHOD("environment", "@16@0:8", process_environment),
        METHOD("processName", "@16@0:8", process_name),
        METHOD("hostName", "@16@0:8", process_host),
        METHOD("globallyUniqueString", "@16@0:8", process_unique),
        METHOD("thermalState", "q16@0:8", process_nominal),
        METHOD("isLowPowerModeEnabled", "B16@0:8", process_no),
        METHOD("processIdentifier", "i16@0:8", process_identifier),
        METHOD("processorCount", "Q16@0:8", process_processors),
        METHOD("activeProcessorCount", "Q16@0:8", process_processors),
        METHOD("physicalMemory", "Q16@0:8", process_memory),
        METHOD("systemUptime", "d16@0:8", process_uptime),
        METHOD("operatingSystemVersion", "{?=qqq}16@0:8", process_version),
        METHOD("isOperatingSystemAtLeastVersion:", "B40@0:8{?=qqq}16",
               process_version_at_least),
        METHOD("operatingSystemVersionString", "@16@0:8",
               process_version_string));
METHODS(process_class_methods,
        METHOD("processInfo", "@16@0:8", process_shared));
DEFINE_CLASS(NSProcessInfo, NSObject, sizeof(struct objc_object),
             process_methods, &process_class_methods);

// --- NSBundle ----------------------------------------------------------------

typedef struct bundle {
  struct objc_object object;
  id path;
} bundle;

static id bundle_init_path(id self, SEL _cmd, id path) {
  (void)_cmd;
  ((bundle *)self)->path = SEND(id(*)(id, SEL), path, "copy");
  return self;
}

// Makes the bundle of a folder once, and keeps it for good, as Foundation does.
static id bundle_create(const char *folder) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  static id known;
  const id path = string_make(folder);
  pthread_mutex_lock(&lock);
  if (!known) {
    known = dictionary_create();
  }
  id found = objc_retain(dictionary_get(known, path));
  if (!found) {
    found = bundle_init_path(CREATE(NSBundle), NULL, path);
    dictionary_set(known, path, found);
  }
  pthread_mutex_unlock(&lock);
  return found;
}

static id bundle_with_path(Class self, SEL _cmd, id path) {
  if (!path || access(string_utf8(path), F_OK)) {
    return NULL;
  }
  (void)self;
  (void)_cmd;
  return objc_autorelease(bundle_create(string_utf8(path)));
}

static id bundle_main(Class self, SEL _cmd) {
  (void)self;
  (void)_cmd;
  char path[PATH_MAX] = "";
  const ssize_t bytes = readlink("/proc/self/exe", path, sizeof path - 1);
  path[bytes > 0 ? bytes : 0] = 0;
  return objc_autorelease(bundle_create(bytes > 0 ? dirname(path) : "."));
}

// Returns the folder of the executable or library that a class is in.
static id bundle_of_class(Class self, SEL _cmd, Class class) {
  Dl_info info;
  if (!class || !dladdr(class, &info) || !info.dli_fname) {
    return bundle_main(self, _cmd);
  }
  char *real = realpath(info.dli_fname, NULL);
  const id made = real ? objc_autorelease(bundle_create(dirname(real)))
                       : bundle_main(self, _cmd);
  free(real);
  return made;
}

static void bundle_dealloc(id self, SEL _cmd) {
  (void)_cmd;
  objc_release(((bundle *)self)->path);
  instance_dispose(self);
}

static id bundle_path(id self, SEL _cmd) {
  (void)_cmd;
  return ((bundle *)self)->path;
}

static id bundle_url(id self, SEL _cmd) {
  return SEND(id(*)(id, SEL, id), objc_getClass("NSURL"),
              "fileURLWithPath:", bundle_path(self, _cmd));
}

static id bundle_file(id self, SEL _cmd, id name, id type) {
  (void)_cmd;
  const char *extension = string_utf8(type);
  const id path =
      string_make_printf("%s/%s%s%s", string_utf8(((bundle *)self)->path),
                         string_utf8(name), *extension ? "." : "", extension);
  return access(string_utf8(path), F_OK) == 0 ? path : NULL;
}

static id bundle_url_for(id self, SEL _cmd, id name, id type) {
  const id path = bundle_file(self, _cmd, name, type);
  return path ? SEND(id(*)(id, SEL, id), objc_getClass("NSURL"),
                     "fileURLWithPath:", path)
              : NULL;
}

static id bundle_executable(id self, SEL _cmd) {
  (void)self;
  (void)_cmd;
  char path[PATH_MAX] = "";
  const ssize_t bytes = readlink("/proc/self/exe", path, sizeof path - 1);
  return string_make_bytes(path, bytes > 0 ? (size_t)bytes : 0);
}

static id bundle_executable_url(id self, SEL _cmd) {
  return SEND(id(*)(id, SEL, id), objc_getClass("NSURL"),
              "fileURLWithPath:", bundle_executable(self, _cmd));
}

static id bundle_with_url(Class self, SEL _cmd, id url) {
  return bundle_with_path(self, _cmd, SEND(id(*)(id, SEL), url, "path"));
}

static id bundle_file_in(id self, SEL _cmd, id name, id type, id folder) {
  const id within = folder ? string_make_printf("%s/%s", string_utf8(folder),
                                                string_utf8(name))
                           : name;
  return bundle_file(self, _cmd, within, type);
}

static id bundle_files(id self, SEL _cmd, id type, id folder) {
  const id path =
      folder ? string_make_printf("%s/%s", string_utf8(bundle_path(self, _cmd)),
                                  string_utf8(folder))
             : bundle_path(self, _cmd);
  const id manager =
      SEND(id(*)(id, SEL), objc_getClass("NSFileManager"), "defaultManager");
  const id names = SEND(id(*)(id, SEL, id, id *), manager,
                        "contentsOfDirectoryAtPath:error:", path, NULL);
  const id found = objc_autorelease(mutable_array_create());
  for (size_t i = 0; names && i < array_count(names); ++i) {
    const id name = array_at(names, i);
    if (!type ||
        string_equals(SEND(id(*)(id, SEL), name, "pathExtension"), type)) {
      array_add(found, string_make_printf("%s/%s", string_utf8(path),
                                          string_utf8(name)));
    }
  }
  return found;
}

// No property lists are read.
static id bundle_info(id self, SEL _cmd) {
  (void)self;
  (void)_cmd;
  return objc_autorelease(dictionary_create());
}

static id bundle_info_entry(id self, SEL _cmd, id key) {
  (void)self;
  (void)_cmd;
  (void)key;
  return NULL;
}

static id bundle_none(id self, SEL _cmd) {
  (void)self;
  (void)_cmd;
  return NULL;
}

static id bundle_list(Class self, SEL _cmd) {
  const id main = bundle_main(self, _cmd);
  return array_make(&main, 1);
}

METHODS(bundle_methods, METHOD("initWithPath:", "@24@0:8@16", bundle_init_path),
        METHOD("dealloc", "v16@0:8", bundle_dealloc),
        METHOD("bundlePath", "@16@0:8", bundle_path),
        METHOD("resourcePath", "@16@0:8", bundle_path),
        METHOD("bundleURL", "@16@0:8", bundle_url),
        METHOD("resourceURL", "@16@0:8", bundle_url),
        METHOD("executablePath", "@16@0:8", bundle_executable),
        METHOD("executableURL", "@16@0:8", bundle_executable_url),
        METHOD("bundleIdentifier", "@16@0:8", bundle_none),
        METHOD("pathForResource:ofType:inDirectory:", "@40@0:8@16@24@32",
               bundle_file_in),
        METHOD("pathsForResourcesOfType:inDirectory:", "@32@0:8@16@24",
               bundle_files),
        METHOD("infoDictionary", "@16@0:8", bundle_info),
        METHOD("objectForInfoDictionaryKey:", "@24@0:8@16", bundle_info_entry),
        METHOD("pathForResource:ofType:", "@32@0:8@16@24", bundle_file),
        METHOD("URLForResource:withExtension:", "@32@0:8@16@24",
               bundle_url_for));
METHODS(bundle_class_methods, METHOD("mainBundle", "@16@0:8", bundle_main),
        METHOD("bundleForClass:", "@24@0:8#16", bundle_of_class),
        METHOD("bundleWithURL:", "@24@0:8@16", bundle_with_url),
        METHOD("bundleWithPath:", "@24@0:8@16", bundle_with_path),
        METHOD("allBundles", "@16@0:8", bundle_list),
        METHOD("allFrameworks", "@16@0:8", bundle_list));
DEFINE_CLASS(NSBundle, NSObject, sizeof(bundle), bundle_methods,
             &bundle_class_methods);
