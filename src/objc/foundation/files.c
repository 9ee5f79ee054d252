// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// files.c: reads and writes whole files, and takes paths apart.
#include "objc/foundation/files.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "objc/foundation/foundation.h"

extern id const NSPOSIXErrorDomain;
extern id const NSCocoaErrorDomain;
extern id const NSLocalizedDescriptionKey;
extern id const NSFilePathErrorKey;
extern id const NSUnderlyingErrorKey;
extern struct objc_class OBJC_CLASS_$_NSDate;
extern struct objc_class OBJC_CLASS_$_NSError;

// NSCocoaErrorDomain's numbers, by Apple's documentation.
static NSInteger cocoa_code(int code, bool writes) {
  switch (code) {
    case ENOENT: return writes ? 4 : 260;  // no such file
    case EACCES:
    case EPERM: return writes ? 513 : 257;  // no permission
    case EEXIST: return 516;
    case ENOSPC: return 640;
    case EROFS: return 642;
    case ENAMETOOLONG: return writes ? 514 : 258;
    default: return writes ? 512 : 256;  // unknown
  }
}

void file_error(id *out_error, const char *path, bool writes) {
  const int code = errno;
  if (!out_error) {
    return;
  }
  const id text = string_make_printf("%s: %s", path, strerror(code));
  const id info = objc_autorelease(dictionary_create());
  dictionary_set(info, NSLocalizedDescriptionKey, text);
  dictionary_set(info, NSFilePathErrorKey, string_make(path));
  dictionary_set(info, NSUnderlyingErrorKey,
                 error_make(NSPOSIXErrorDomain, code, strerror(code)));
  error_tell(NSCocoaErrorDomain, string_utf8(text));
  *out_error =
      SEND(id(*)(id, SEL, id, NSInteger, id), (id)&OBJC_CLASS_$_NSError,
           "errorWithDomain:code:userInfo:", NSCocoaErrorDomain,
           cocoa_code(code, writes), info);
}

id file_date(struct timespec time) {
  return SEND(id(*)(id, SEL, double), CLASS_OF(NSDate),
              "dateWithTimeIntervalSince1970:",
              (double)time.tv_sec + (double)time.tv_nsec * 1e-9);
}

static void fail(id *out_error, const char *path) {
  file_error(out_error, path, false);
}

char *file_read(const char *path, size_t *out_length, id *out_error) {
  FILE *file = fopen(path, "rb");
  char *bytes = NULL;
  size_t length = 0, capacity = 0, got = 1;
  while (file && got) {
    if (length + 1 >= capacity) {
      capacity = capacity ? 2 * capacity : 65536;
      char *grown = realloc(bytes, capacity);
      if (!grown) {
        errno = ENOMEM;
        break;
      }
      bytes = grown;
    }
    got = fread(bytes + length, 1, capacity - length - 1, file);
    length += got;
  }
  if (!file || got || ferror(file)) {
    fail(out_error, path);
    free(bytes);
    bytes = NULL;
  } else {
    bytes[length] = 0;
    *out_length = length;
  }
  if (file) {
    fclose(file);
  }
  return bytes;
}

bool file_make_folders(const char *path, mode_t mode) {
  char *copy = strdup(path);
  bool made = copy != NULL;
  for (char *at = copy; made && at;) {
    at = strchr(at + 1, '/');
    if (at) {
      *at = 0;
    }
    made = !mkdir(copy, mode) || errno == EEXIST;
    if (at) {
      *at = '/';
    }
  }
  free(copy);
  return made;
}

bool file_write(const char *path, const void *bytes, size_t length,
                id *out_error) {
  char *temporary = NULL;
  if (asprintf(&temporary, "%s.XXXXXX", path) < 0) {
    return false;
  }
  const int descriptor = mkstemp(temporary);
  FILE *file = descriptor < 0 ? NULL : fdopen(descriptor, "wb");
  bool written =
      file && (!length || fwrite(bytes, 1, length, file) == length);
  if (file) {
    written = fchmod(descriptor, 0644) == 0 && written;
    written = fclose(file) == 0 && written;
  }
  written = written && rename(temporary, path) == 0;
  if (!written) {
    file_error(out_error, path, true);
    if (descriptor >= 0) {
      unlink(temporary);
    }
  }
  free(temporary);
  return written;
}

// --- Paths, as a category of NSString ----------------------------------------

static id path_append(id self, SEL _cmd, id other) {
  (void)_cmd;
  const char *path = string_utf8(self), *more = string_utf8(other);
  size_t bytes = strlen(path);
  while (bytes > 1 && path[bytes - 1] == '/') {
    --bytes;
  }
  more += strspn(more, bytes ? "/" : "");
  const bool needs_slash = bytes && path[bytes - 1] != '/' && *more;
  return string_make_printf("%.*s%s%s", (int)bytes, path,
                            needs_slash ? "/" : "", more);
}

// Returns where the last component begins; *out_end is behind it.
static const char *last_component(const char *path, const char **out_end) {
  const char *end = path + strlen(path);
  while (end > path + 1 && end[-1] == '/') {
    --end;
  }
  const char *first = end;
  while (first > path && first[-1] != '/') {
    --first;
  }
  *out_end = end;
  return first;
}

static id path_last(id self, SEL _cmd) {
  (void)_cmd;
  const char *end, *first = last_component(string_utf8(self), &end);
  return string_make_bytes(first, (size_t)(end - first));
}

static id path_without_last(id self, SEL _cmd) {
  (void)_cmd;
  const char *path = string_utf8(self);
  const char *end, *first = last_component(path, &end);
  while (first > path + 1 && first[-1] == '/') {
    --first;
  }
  return string_make_bytes(path, (size_t)(first - path));
}

// Returns the dot of the path's extension, NULL if it has none.
static const char *extension_dot(const char *path) {
  const char *end, *first = last_component(path, &end);
  const char *dot = strrchr(first, '.');
  return dot && dot > first && dot[1] ? dot : NULL;
}

static id path_extension(id self, SEL _cmd) {
  (void)_cmd;
  const char *dot = extension_dot(string_utf8(self));
  return string_make(dot ? dot + 1 : "");
}

static id path_without_extension(id self, SEL _cmd) {
  (void)_cmd;
  const char *path = string_utf8(self), *dot = extension_dot(path);
  return dot ? string_make_bytes(path, (size_t)(dot - path))
             : string_make(path);
}

static id path_with_extension(id self, SEL _cmd, id extension) {
  (void)_cmd;
  return string_make_printf("%s.%s", string_utf8(self), string_utf8(extension));
}

// Drops empty components, "." and components that ".." cancels.
static id path_standardized(id self, SEL _cmd) {
  (void)_cmd;
  const char *path = string_utf8(self);
  char *copy = strdup(path), *out = calloc(1, strlen(path) + 2), *state = NULL;
  size_t bytes = 0;
  const bool is_absolute = *path == '/';
  for (char *part = strtok_r(copy, "/", &state); part;
       part = strtok_r(NULL, "/", &state)) {
    if (!strcmp(part, ".")) {
      continue;
    }
    if (!strcmp(part, "..") && is_absolute) {
      while (bytes && out[--bytes] != '/') {
      }
      out[bytes] = 0;
      continue;
    }
    if (bytes || is_absolute) {
      out[bytes++] = '/';
    }
    strcpy(out + bytes, part);
    bytes += strlen(part);
  }
  const id made = string_make(bytes || !is_absolute ? out : "/");
  free(copy);
  free(out);
  return made;
}

static int path_is_absolute(id self, SEL _cmd) {
  (void)_cmd;
  return *string_utf8(self) == '/';
}

static id path_components(id self, SEL _cmd) {
  (void)_cmd;
  const id parts = objc_autorelease(mutable_array_create());
  const char *path = string_utf8(self);
  if (*path == '/') {
    SEND(void (*)(id, SEL, id), parts, "addObject:", string_make("/"));
  }
  while (*path) {
    path += strspn(path, "/");
    const size_t bytes = strcspn(path, "/");
    if (bytes) {
      SEND(void (*)(id, SEL, id), parts,
           "addObject:", string_make_bytes(path, bytes));
    }
    path += bytes;
  }
  return parts;
}

static const char *path_system(id self, SEL _cmd) {
  (void)_cmd;
  return string_utf8(self);
}

METHODS(path_methods,
        METHOD("stringByAppendingPathComponent:", "@24@0:8@16", path_append),
        METHOD("lastPathComponent", "@16@0:8", path_last),
        METHOD("stringByDeletingLastPathComponent", "@16@0:8",
               path_without_last),
        METHOD("pathExtension", "@16@0:8", path_extension),
        METHOD("stringByDeletingPathExtension", "@16@0:8",
               path_without_extension),
        METHOD("stringByAppendingPathExtension:", "@24@0:8@16",
               path_with_extension),
        METHOD("stringByStandardizingPath", "@16@0:8", path_standardized),
        METHOD("isAbsolutePath", "B16@0:8", path_is_absolute),
        METHOD("pathComponents", "@16@0:8", path_components),
        METHOD("fileSystemRepresentation", "*16@0:8", path_system));
extern struct objc_class OBJC_CLASS_$_NSString;
DEFINE_CATEGORY(NSString, paths, path_methods);
