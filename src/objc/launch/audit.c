// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// audit.c: libmettle-audit.so, for LD_AUDIT: redirects a macOS program that
// opens a framework by its path to libMetal.so.1.
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

// METTLE_OBJC_LIBRARY, set by mettle env: the path of libMetal.so.1.
static const char *library;

EXPORT unsigned la_version(unsigned version) {
  library = getenv("METTLE_OBJC_LIBRARY");
  return version < LAV_CURRENT ? version : LAV_CURRENT;
}

static int starts_with(const char *text, const char *start) {
  return !strncmp(text, start, strlen(start));
}

// True for libraries that macOS has and Linux has not. GNUstep's libobjc.so.4
// is among them: under mettle env, libobjc is ours. So is libMetal.so.1 without
// a path, which programs that were linked with -lMetal want.
static int is_apples(const char *name) {
  return starts_with(name, "/System/Library/Frameworks/") ||
         starts_with(name, "/Library/Frameworks/") ||
         starts_with(name, "/System/Library/PrivateFrameworks/") ||
         starts_with(name, "/usr/lib/libSystem") ||
         starts_with(name, "/usr/lib/libobjc") ||
         !strcmp(name, "libobjc.so.4") || !strcmp(name, "libobjc.dylib") ||
         !strcmp(name, "libMetal.so.1");
}

EXPORT char *la_objsearch(const char *name, uintptr_t *cookie, unsigned flag) {
  (void)cookie;
  return (char *)(library && flag == LA_SER_ORIG && is_apples(name) ? library
                                                                    : name);
}
