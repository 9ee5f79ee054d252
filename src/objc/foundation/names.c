// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// names.c: Foundation's functions for names of classes, selectors and ranges,
// and for a user's folders.
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "objc/foundation/foundation.h"

extern Class objc_lookUpClass(const char *name);
extern SEL sel_registerName(const char *name);
extern const char *class_getName(Class class);
extern const char *protocol_getName(const protocol *any);
extern protocol *objc_getProtocol(const char *name);

OBJC_EXPORT id NSStringFromClass(Class class) {
  return class ? string_make(class_getName(class)) : NULL;
}

OBJC_EXPORT Class NSClassFromString(id name) {
  return name ? objc_lookUpClass(string_utf8(name)) : NULL;
}

OBJC_EXPORT id NSStringFromSelector(SEL selector) {
  return selector ? string_make((const char *)selector) : NULL;
}

OBJC_EXPORT SEL NSSelectorFromString(id name) {
  return name ? sel_registerName(string_utf8(name)) : NULL;
}

OBJC_EXPORT id NSStringFromProtocol(const protocol *any) {
  return any ? string_make(protocol_getName(any)) : NULL;
}

OBJC_EXPORT protocol *NSProtocolFromString(id name) {
  return name ? objc_getProtocol(string_utf8(name)) : NULL;
}

OBJC_EXPORT id NSStringFromRange(NSRange range) {
  return string_make_printf("{%lu, %lu}", range.location, range.length);
}

OBJC_EXPORT NSRange NSRangeFromString(id text) {
  NSRange range = {0, 0};
  const char *at = string_utf8(text);
  at += strcspn(at, "0123456789");
  char *end;
  range.location = strtoul(at, &end, 10);
  end += strcspn(end, "0123456789");
  range.length = strtoul(end, NULL, 10);
  return range;
}

// --- Folders -----------------------------------------------------------------

static const char *home(void) {
  const char *named = getenv("HOME");
  if (named && *named) {
    return named;
  }
  const struct passwd *user = getpwuid(getuid());
  return user ? user->pw_dir : "/";
}

OBJC_EXPORT id NSHomeDirectory(void) {
  return string_make(home());
}

OBJC_EXPORT id NSUserName(void) {
  const struct passwd *user = getpwuid(getuid());
  const char *named = getenv("USER");
  return string_make(user ? user->pw_name : named ? named : "");
}

OBJC_EXPORT id NSTemporaryDirectory(void) {
  const char *named = getenv("TMPDIR");
  return string_make_printf("%s/", named && *named ? named : "/tmp");
}

// NSSearchPathDirectory, by Apple's documentation, and where such files are
// kept here.
//
// Source  the XDG base directory specification
OBJC_EXPORT id NSSearchPathForDirectoriesInDomains(NSUInteger directory,
                                                   NSUInteger domains,
                                                   _Bool expands_tilde) {
  enum { DOCUMENTS = 9, DESKTOP = 12, CACHES = 13, SUPPORT = 14, DOWNLOADS = 15 };
  enum { LIBRARY = 5, USER_DOMAIN = 1 };
  const char *variable = directory == CACHES    ? "XDG_CACHE_HOME"
                         : directory == SUPPORT ? "XDG_DATA_HOME"
                                                : NULL;
  const char *named = variable ? getenv(variable) : NULL;
  const char *folder = NULL;
  switch (directory) {
    case LIBRARY: folder = ".local/share"; break;
    case DOCUMENTS: folder = "Documents"; break;
    case DESKTOP: folder = "Desktop"; break;
    case CACHES: folder = ".cache"; break;
    case SUPPORT: folder = ".local/share"; break;
    case DOWNLOADS: folder = "Downloads"; break;
  }
  if (!(domains & USER_DOMAIN) || !folder) {
    return array_make(NULL, 0);
  }
  const id path =
      named && *named
          ? string_make(named)
          : string_make_printf("%s/%s", expands_tilde ? home() : "~", folder);
  return array_make(&path, 1);
}

// --- Paths with a tilde --------------------------------------------------------

static id path_expand(id self, SEL _cmd) {
  (void)_cmd;
  const char *path = string_utf8(self);
  return path[0] == '~' && (path[1] == '/' || !path[1])
             ? string_make_printf("%s%s", home(), path + 1)
             : string_make(path);
}

static id path_abbreviate(id self, SEL _cmd) {
  (void)_cmd;
  const char *path = string_utf8(self), *from = home();
  const size_t bytes = strlen(from);
  return !strncmp(path, from, bytes) && (path[bytes] == '/' || !path[bytes])
             ? string_make_printf("~%s", path + bytes)
             : string_make(path);
}

static id path_resolve(id self, SEL _cmd) {
  (void)_cmd;
  char real[PATH_MAX];
  return string_make(realpath(string_utf8(self), real) ? real
                                                       : string_utf8(self));
}

METHODS(tilde_methods,
        METHOD("stringByExpandingTildeInPath", "@16@0:8", path_expand),
        METHOD("stringByAbbreviatingWithTildeInPath", "@16@0:8",
               path_abbreviate),
        METHOD("stringByResolvingSymlinksInPath", "@16@0:8", path_resolve));
extern struct objc_class OBJC_CLASS_$_NSString;
DEFINE_CATEGORY(NSString, tilde_paths, tilde_methods);
