// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// url_resources.c: what NSURL tells of the file that it names.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "objc/foundation/files.h"
#include "objc/foundation/foundation.h"

extern struct objc_class OBJC_CLASS_$_NSURL;

CONSTANT_STRING(NSURLNameKey, "NSURLNameKey");
CONSTANT_STRING(NSURLPathKey, "_NSURLPathKey");
CONSTANT_STRING(NSURLIsRegularFileKey, "NSURLIsRegularFileKey");
CONSTANT_STRING(NSURLIsDirectoryKey, "NSURLIsDirectoryKey");
CONSTANT_STRING(NSURLIsSymbolicLinkKey, "NSURLIsSymbolicLinkKey");
CONSTANT_STRING(NSURLIsHiddenKey, "NSURLIsHiddenKey");
CONSTANT_STRING(NSURLIsReadableKey, "NSURLIsReadableKey");
CONSTANT_STRING(NSURLIsWritableKey, "NSURLIsWritableKey");
CONSTANT_STRING(NSURLIsExecutableKey, "NSURLIsExecutableKey");
CONSTANT_STRING(NSURLFileSizeKey, "NSURLFileSizeKey");
CONSTANT_STRING(NSURLContentModificationDateKey,
                "NSURLContentModificationDateKey");

// Returns the value of a resource key; nil if the key is not supported, or not
// for this type of file.
static id value_of(id path, const struct stat *file, id key) {
  const char *text = string_utf8(path);
  const id name = SEND(id(*)(id, SEL), path, "lastPathComponent");
  const id keys[] = {NSURLIsReadableKey, NSURLIsWritableKey,
                     NSURLIsExecutableKey};
  const int rights[] = {R_OK, W_OK, X_OK};
  for (size_t i = 0; i < 3; ++i) {
    if (string_equals(key, keys[i])) {
      return number_make_bool(!access(text, rights[i]));
    }
  }
  return string_equals(key, NSURLNameKey)   ? name
         : string_equals(key, NSURLPathKey) ? path
         : string_equals(key, NSURLIsRegularFileKey)
             ? number_make_bool(S_ISREG(file->st_mode))
         : string_equals(key, NSURLIsDirectoryKey)
             ? number_make_bool(S_ISDIR(file->st_mode))
         : string_equals(key, NSURLIsSymbolicLinkKey)
             ? number_make_bool(S_ISLNK(file->st_mode))
         : string_equals(key, NSURLIsHiddenKey)
             ? number_make_bool(*string_utf8(name) == '.')
         : string_equals(key, NSURLFileSizeKey) && S_ISREG(file->st_mode)
             ? number_make_integer(file->st_size)
         : string_equals(key, NSURLContentModificationDateKey)
             ? file_date(file->st_mtim)
             : NULL;
}

static bool look(id url, struct stat *out_file, id *out_path, id *out_error) {
  *out_path = SEND(id(*)(id, SEL), url, "path");
  if (!lstat(string_utf8(*out_path), out_file)) {
    return true;
  }
  file_error(out_error, string_utf8(*out_path), false);
  return false;
}

static int url_value(id self, SEL _cmd, id *out_value, id key, id *out_error) {
  (void)_cmd;
  struct stat file;
  id path;
  if (!look(self, &file, &path, out_error)) {
    return 0;
  }
  *out_value = value_of(path, &file, key);
  return 1;
}

static id url_values(id self, SEL _cmd, id keys, id *out_error) {
  (void)_cmd;
  struct stat file;
  id path;
  if (!look(self, &file, &path, out_error)) {
    return NULL;
  }
  const id values = objc_autorelease(dictionary_create());
  for (size_t i = 0; i < array_count(keys); ++i) {
    const id value = value_of(path, &file, array_at(keys, i));
    if (value) {
      dictionary_set(values, array_at(keys, i), value);
    }
  }
  return values;
}

static int url_is_reachable(id self, SEL _cmd, id *out_error) {
  (void)_cmd;
  const char *path = string_utf8(SEND(id(*)(id, SEL), self, "path"));
  if (access(path, F_OK)) {
    file_error(out_error, path, false);
    return 0;
  }
  return 1;
}

METHODS(resource_methods,
        METHOD("getResourceValue:forKey:error:", "B40@0:8^@16@24^@32",
               url_value),
        METHOD("resourceValuesForKeys:error:", "@32@0:8@16^@24", url_values),
        METHOD("checkResourceIsReachableAndReturnError:", "B24@0:8^@16",
               url_is_reachable));
DEFINE_CATEGORY(NSURL, resources, resource_methods);
