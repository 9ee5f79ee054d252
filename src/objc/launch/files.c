// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// files.c: libmettle-files.so, for LD_PRELOAD: redirects a macOS program that
// reads the system's version to the file that mettle env names, and one that
// looks whether a library of Apple's is there, before it opens that, to ours.
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define EXPORT __attribute__((visibility("default")))

// Returns where path really is: METTLE_OBJC_SYSTEM_VERSION for the one file.
static const char *real_path(const char *path) {
  static const char wanted[] =
      "/System/Library/CoreServices/SystemVersion.plist";
  const char *ours = getenv("METTLE_OBJC_SYSTEM_VERSION");
  return ours && path && !strcmp(path, wanted) ? ours : path;
}

// Returns where the file that somebody asks about is: METTLE_OBJC_LIBRARY for
// the binary of a framework that Mettle has, and for libobjc.
static const char *asked_path(const char *path) {
  static const char *const libraries[] = {
      "/usr/lib/libobjc.dylib",
      "/usr/lib/libobjc.A.dylib",
      "/System/Library/Frameworks/Metal.framework/Metal",
      "/System/Library/Frameworks/Foundation.framework/Foundation",
      "/System/Library/Frameworks/CoreFoundation.framework/CoreFoundation",
      "/System/Library/Frameworks/CoreGraphics.framework/CoreGraphics",
      "/Library/Frameworks/Metal.framework/Metal",
      "/Library/Frameworks/Foundation.framework/Foundation",
      "/Library/Frameworks/CoreGraphics.framework/CoreGraphics",
  };
  const char *ours = getenv("METTLE_OBJC_LIBRARY");
  for (size_t i = 0; ours && path && i < sizeof libraries / sizeof *libraries;
       ++i) {
    if (!strcmp(path, libraries[i])) {
      return ours;
    }
  }
  return real_path(path);
}

static mode_t mode_of(int flags, va_list arguments) {
  return flags & (O_CREAT | __O_TMPFILE) ? va_arg(arguments, mode_t) : 0;
}

#define OPEN(name)                                                   \
  EXPORT int name(const char *path, int flags, ...) {                \
    static int (*next)(const char *, int, ...);                      \
    if (!next) next = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, #name); \
    va_list arguments;                                               \
    va_start(arguments, flags);                                      \
    const mode_t mode = mode_of(flags, arguments);                   \
    va_end(arguments);                                               \
    return next(real_path(path), flags, mode);                       \
  }
OPEN(open)
OPEN(open64)

#define STAT(name, type)                                             \
  EXPORT int name(const char *path, struct type *out) {              \
    static int (*next)(const char *, struct type *);                 \
    if (!next) next = (int (*)(const char *, struct type *))dlsym(RTLD_NEXT, #name); \
    return next(asked_path(path), out);                              \
  }
STAT(stat, stat)
STAT(stat64, stat64)
