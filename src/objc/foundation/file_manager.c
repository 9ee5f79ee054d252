// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// file_manager.c: NSFileManager and NSDirectoryEnumerator.
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "objc/foundation/files.h"
#include "objc/foundation/foundation.h"
#include "objc/runtime/memory/block.h"

CONSTANT_STRING(NSFileSize, "NSFileSize");
CONSTANT_STRING(NSFileType, "NSFileType");
CONSTANT_STRING(NSFileModificationDate, "NSFileModificationDate");
CONSTANT_STRING(NSFilePosixPermissions, "NSFilePosixPermissions");
CONSTANT_STRING(NSFileTypeRegular, "NSFileTypeRegular");
CONSTANT_STRING(NSFileTypeDirectory, "NSFileTypeDirectory");
CONSTANT_STRING(NSFileTypeSymbolicLink, "NSFileTypeSymbolicLink");

extern struct objc_class OBJC_CLASS_$_NSURL;

static id manager_default(Class self, SEL _cmd) {
  static _Atomic(id) shared;
  (void)_cmd;
  return shared_instance(&shared, self);
}

static id path_of_url(id url) {
  return url ? SEND(id(*)(id, SEL), url, "path") : NULL;
}

// Ends a call: an NSError from errno if it did not succeed.
static int done(bool succeeded, id path, bool writes, id *out_error) {
  if (!succeeded) {
    file_error(out_error, string_utf8(path), writes);
  }
  return succeeded;
}

// --- Questions ---------------------------------------------------------------

static int has_access(id path, int mode) {
  return path && access(string_utf8(path), mode) == 0;
}

static int manager_exists(id self, SEL _cmd, id path) {
  (void)self;
  (void)_cmd;
  return has_access(path, F_OK);
}

static int manager_exists_directory(id self, SEL _cmd, id path,
                                    signed char *out_is_directory) {
  struct stat found;
  (void)self;
  (void)_cmd;
  if (!path || stat(string_utf8(path), &found)) {
    return 0;
  }
  if (out_is_directory) {
    *out_is_directory = S_ISDIR(found.st_mode);
  }
  return 1;
}

static int manager_readable(id self, SEL _cmd, id path) {
  (void)self;
  (void)_cmd;
  return has_access(path, R_OK);
}

static int manager_writable(id self, SEL _cmd, id path) {
  (void)self;
  (void)_cmd;
  return has_access(path, W_OK);
}

static int manager_executable(id self, SEL _cmd, id path) {
  (void)self;
  (void)_cmd;
  return has_access(path, X_OK);
}

static id manager_attributes(id self, SEL _cmd, id path, id *out_error) {
  struct stat found;
  (void)self;
  (void)_cmd;
  if (!done(!lstat(string_utf8(path), &found), path, false, out_error)) {
    return NULL;
  }
  const id attributes = objc_autorelease(dictionary_create());
  dictionary_set(attributes, NSFileSize,
                 number_make_unsigned((NSUInteger)found.st_size));
  dictionary_set(attributes, NSFileModificationDate, file_date(found.st_mtim));
  dictionary_set(attributes, NSFilePosixPermissions,
                 number_make_unsigned(found.st_mode & 07777));
  dictionary_set(attributes, NSFileType,
                 S_ISDIR(found.st_mode)   ? NSFileTypeDirectory
                 : S_ISLNK(found.st_mode) ? NSFileTypeSymbolicLink
                                          : NSFileTypeRegular);
  return attributes;
}

static unsigned long long attributes_size(id self, SEL _cmd) {
  (void)_cmd;
  const id size = dictionary_get(self, NSFileSize);
  return size ? SEND(NSUInteger(*)(id, SEL), size, "unsignedLongValue") : 0;
}

static id attributes_type(id self, SEL _cmd) {
  (void)_cmd;
  return dictionary_get(self, NSFileType);
}

static id attributes_date(id self, SEL _cmd) {
  (void)_cmd;
  return dictionary_get(self, NSFileModificationDate);
}

METHODS(attribute_methods, METHOD("fileSize", "Q16@0:8", attributes_size),
        METHOD("fileType", "@16@0:8", attributes_type),
        METHOD("fileModificationDate", "@16@0:8", attributes_date));
extern struct objc_class OBJC_CLASS_$_NSDictionary;
DEFINE_CATEGORY(NSDictionary, file_attributes, attribute_methods);

static id manager_link(id self, SEL _cmd, id path, id *out_error) {
  char target[PATH_MAX];
  (void)self;
  (void)_cmd;
  const ssize_t bytes = readlink(string_utf8(path), target, sizeof target);
  return done(bytes >= 0, path, false, out_error)
             ? string_make_bytes(target, (size_t)bytes)
             : NULL;
}

static id manager_directory(id self, SEL _cmd) {
  char path[PATH_MAX];
  (void)self;
  (void)_cmd;
  return string_make(getcwd(path, sizeof path));
}

static int manager_change_directory(id self, SEL _cmd, id path) {
  (void)self;
  (void)_cmd;
  return !chdir(string_utf8(path));
}

static id manager_contents(id self, SEL _cmd, id path) {
  (void)self;
  (void)_cmd;
  size_t length;
  char *bytes = file_read(string_utf8(path), &length, NULL);
  const id made = bytes ? data_make(bytes, length) : NULL;
  free(bytes);
  return made;
}

static int manager_contents_equal(id self, SEL _cmd, id one, id other) {
  return objects_equal(manager_contents(self, _cmd, one),
                       manager_contents(self, _cmd, other));
}

static id manager_temporary(id self, SEL _cmd) {
  extern id NSTemporaryDirectory(void);
  (void)self;
  (void)_cmd;
  return SEND(id(*)(id, SEL, id), (id)&OBJC_CLASS_$_NSURL,
              "fileURLWithPath:", NSTemporaryDirectory());
}

// --- Directories -------------------------------------------------------------

// Adds the names in a folder, behind prefix; those below it, too, if deep.
static bool list_folder(const char *folder, const char *prefix, bool deep,
                        id names) {
  DIR *open = opendir(folder);
  if (!open) {
    return false;
  }
  for (const struct dirent *each; (each = readdir(open)) != NULL;) {
    if (!strcmp(each->d_name, ".") || !strcmp(each->d_name, "..")) {
      continue;
    }
    const id name = string_make_printf("%s%s", prefix, each->d_name);
    array_add(names, name);
    const id path = string_make_printf("%s/%s", folder, each->d_name);
    struct stat found;
    if (deep && !lstat(string_utf8(path), &found) && S_ISDIR(found.st_mode)) {
      list_folder(string_utf8(path),
                  string_utf8(string_make_printf("%s/", string_utf8(name))),
                  true, names);
    }
  }
  closedir(open);
  return true;
}

static id list(id path, bool deep, id *out_error) {
  const id names = objc_autorelease(mutable_array_create());
  return done(list_folder(string_utf8(path), "", deep, names), path, false,
              out_error)
             ? names
             : NULL;
}

static id manager_list(id self, SEL _cmd, id path, id *out_error) {
  (void)self;
  (void)_cmd;
  return list(path, false, out_error);
}

static id manager_list_deep(id self, SEL _cmd, id path, id *out_error) {
  (void)self;
  (void)_cmd;
  return list(path, true, out_error);
}

static id manager_subpaths(id self, SEL _cmd, id path) {
  (void)self;
  (void)_cmd;
  return list(path, true, NULL);
}

static id manager_list_url(id self, SEL _cmd, id url, id keys,
                           NSUInteger options, id *out_error) {
  enum { SKIPS_HIDDEN = 4 };  // NSDirectoryEnumerationSkipsHiddenFiles
  (void)self;
  (void)_cmd;
  (void)keys;
  const id names = list(path_of_url(url), false, out_error);
  const id urls = objc_autorelease(mutable_array_create());
  const size_t count = array_count(names);
  for (size_t i = 0; i < count; ++i) {
    const id name = array_at(names, i);
    if (!(options & SKIPS_HIDDEN) || *string_utf8(name) != '.') {
      array_add(urls, SEND(id(*)(id, SEL, id), url,
                           "URLByAppendingPathComponent:", name));
    }
  }
  return names ? urls : NULL;
}

// The paths below a folder, all read when it is made; its URLs if it was made
// of one.
extern struct objc_class OBJC_CLASS_$_NSDirectoryEnumerator;

typedef struct directory_enumerator {
  struct objc_object object;
  id names;   // +1, an NSArray
  id folder;  // +1, its path
  id url;     // +1 or nil
  size_t next;
} directory_enumerator;

static id enumerator_of(id names, id path, id url) {
  directory_enumerator *made =
      (directory_enumerator *)CREATE(NSDirectoryEnumerator);
  made->names = objc_retain(names);
  made->folder = SEND(id(*)(id, SEL), path, "copy");
  made->url = objc_retain(url);
  return objc_autorelease(&made->object);
}

static id manager_enumerator(id self, SEL _cmd, id path) {
  (void)self;
  (void)_cmd;
  const id names = list(path, true, NULL);
  return names ? enumerator_of(names, path, NULL) : NULL;
}

// True if a path or a folder of it begins with a dot.
static bool is_hidden(const char *name) {
  return *name == '.' || strstr(name, "/.");
}

static id manager_enumerator_url(id self, SEL _cmd, id url, id keys,
                                 NSUInteger options, id handler) {
  enum { STAYS_IN_FOLDER = 1, SKIPS_HIDDEN = 4 };
  (void)self;
  (void)_cmd;
  (void)keys;
  const id path = path_of_url(url);
  id error = NULL;
  const id names = list(path, !(options & STAYS_IN_FOLDER), &error);
  const id kept = objc_autorelease(mutable_array_create());
  if (!names && handler) {
    BLOCK_CALL(signed char (*)(id, id, id), handler, url, error);
  }
  for (size_t i = 0; i < array_count(names); ++i) {
    if (!(options & SKIPS_HIDDEN) ||
        !is_hidden(string_utf8(array_at(names, i)))) {
      array_add(kept, array_at(names, i));
    }
  }
  return enumerator_of(kept, path, url);
}

// Returns the name that was given last, nil before the first.
static id last_name(id self) {
  const directory_enumerator *of = (directory_enumerator *)self;
  return of->next ? array_at(of->names, of->next - 1) : NULL;
}

static id enumerator_next(id self, SEL _cmd) {
  (void)_cmd;
  directory_enumerator *of = (directory_enumerator *)self;
  if (of->next == array_count(of->names)) {
    return NULL;
  }
  const id name = array_at(of->names, of->next++);
  return of->url ? SEND(id(*)(id, SEL, id), of->url,
                        "URLByAppendingPathComponent:", name)
                 : name;
}

static NSUInteger enumerator_level(id self, SEL _cmd) {
  (void)_cmd;
  const id last = last_name(self);
  NSUInteger level = 0;
  for (const char *at = last ? string_utf8(last) : NULL; at;
       at = strchr(at + 1, '/')) {
    ++level;
  }
  return level;
}

// Skips the descendants of the folder that was returned last.
static void enumerator_skip(id self, SEL _cmd) {
  (void)_cmd;
  directory_enumerator *of = (directory_enumerator *)self;
  const id last = last_name(self);
  const char *folder = last ? string_utf8(last) : "";
  const size_t length = strlen(folder);
  for (; last && of->next < array_count(of->names); ++of->next) {
    const char *name = string_utf8(array_at(of->names, of->next));
    if (strncmp(name, folder, length) != 0 || name[length] != '/') {
      return;
    }
  }
}

static id enumerator_attributes(id self, SEL _cmd) {
  const directory_enumerator *of = (directory_enumerator *)self;
  const id last = last_name(self);
  return last ? manager_attributes(
                    NULL, _cmd,
                    string_make_printf("%s/%s", string_utf8(of->folder),
                                       string_utf8(last)),
                    NULL)
              : NULL;
}

static void enumerator_dealloc(id self, SEL _cmd) {
  (void)_cmd;
  const directory_enumerator *of = (directory_enumerator *)self;
  objc_release(of->names);
  objc_release(of->folder);
  objc_release(of->url);
  instance_dispose(self);
}

METHODS(enumerator_methods, METHOD("dealloc", "v16@0:8", enumerator_dealloc),
        METHOD("nextObject", "@16@0:8", enumerator_next),
        METHOD("level", "Q16@0:8", enumerator_level),
        METHOD("skipDescendants", "v16@0:8", enumerator_skip),
        METHOD("skipDescendents", "v16@0:8", enumerator_skip),
        METHOD("fileAttributes", "@16@0:8", enumerator_attributes));
DEFINE_CLASS(NSDirectoryEnumerator, NSEnumerator, sizeof(directory_enumerator),
             enumerator_methods, NO_METHODS);

// --- Changes -----------------------------------------------------------------

static int manager_create_directory(id self, SEL _cmd, id path,
                                    signed char makes_parents, id attributes,
                                    id *out_error) {
  (void)self;
  (void)_cmd;
  (void)attributes;
  return done(makes_parents ? file_make_folders(string_utf8(path), 0777)
                            : !mkdir(string_utf8(path), 0777),
              path, true, out_error);
}

static int manager_create_directory_url(id self, SEL _cmd, id url,
                                        signed char makes_parents,
                                        id attributes, id *out_error) {
  return manager_create_directory(self, _cmd, path_of_url(url), makes_parents,
                                  attributes, out_error);
}

static int manager_create_file(id self, SEL _cmd, id path, id data,
                               id attributes) {
  (void)self;
  (void)_cmd;
  (void)attributes;
  return file_write(string_utf8(path),
                    data ? SEND(const void *(*)(id, SEL), data, "bytes") : NULL,
                    data ? SEND(NSUInteger(*)(id, SEL), data, "length") : 0,
                    NULL);
}

static int manager_create_link(id self, SEL _cmd, id path, id target,
                               id *out_error) {
  (void)self;
  (void)_cmd;
  return done(!symlink(string_utf8(target), string_utf8(path)), path, true,
              out_error);
}

// Removes a file, or a folder with all that is in it.
static bool remove_tree(const char *path) {
  struct stat found;
  if (lstat(path, &found)) {
    return false;
  }
  if (S_ISDIR(found.st_mode)) {
    const id names = objc_autorelease(mutable_array_create());
    list_folder(path, "", false, names);
    const size_t count = array_count(names);
    for (size_t i = 0; i < count; ++i) {
      const id below =
          string_make_printf("%s/%s", path, string_utf8(array_at(names, i)));
      if (!remove_tree(string_utf8(below))) {
        return false;
      }
    }
  }
  return !remove(path);
}

static int manager_remove(id self, SEL _cmd, id path, id *out_error) {
  (void)self;
  (void)_cmd;
  return done(remove_tree(string_utf8(path)), path, true, out_error);
}

static int manager_remove_url(id self, SEL _cmd, id url, id *out_error) {
  return manager_remove(self, _cmd, path_of_url(url), out_error);
}

static bool copy_tree(const char *from, const char *to) {
  struct stat found;
  if (lstat(from, &found)) {
    return false;
  }
  if (S_ISDIR(found.st_mode)) {
    const id names = objc_autorelease(mutable_array_create());
    bool copied = !mkdir(to, 0777) && list_folder(from, "", false, names);
    const size_t count = array_count(names);
    for (size_t i = 0; copied && i < count; ++i) {
      const char *name = string_utf8(array_at(names, i));
      copied = copy_tree(string_utf8(string_make_printf("%s/%s", from, name)),
                         string_utf8(string_make_printf("%s/%s", to, name)));
    }
    return copied;
  }
  size_t length;
  char *bytes = file_read(from, &length, NULL);
  const bool copied = bytes && file_write(to, bytes, length, NULL) &&
                      !chmod(to, found.st_mode & 07777);
  free(bytes);
  return copied;
}

// Fails if a file is there: neither a copy nor a move overwrites one.
static int check_absent(id path, id *out_error) {
  errno = EEXIST;
  return done(!has_access(path, F_OK), path, true, out_error);
}

static int manager_copy(id self, SEL _cmd, id from, id to, id *out_error) {
  (void)self;
  (void)_cmd;
  return check_absent(to, out_error) &&
         done(copy_tree(string_utf8(from), string_utf8(to)), from, false,
              out_error);
}

static int manager_move(id self, SEL _cmd, id from, id to, id *out_error) {
  (void)self;
  (void)_cmd;
  return check_absent(to, out_error) &&
         done(!rename(string_utf8(from), string_utf8(to)), from, false,
              out_error);
}

static int manager_copy_url(id self, SEL _cmd, id from, id to, id *out_error) {
  return manager_copy(self, _cmd, path_of_url(from), path_of_url(to),
                      out_error);
}

static int manager_move_url(id self, SEL _cmd, id from, id to, id *out_error) {
  return manager_move(self, _cmd, path_of_url(from), path_of_url(to),
                      out_error);
}

METHODS(
    manager_methods, METHOD("fileExistsAtPath:", "B24@0:8@16", manager_exists),
    METHOD("fileExistsAtPath:isDirectory:", "B32@0:8@16^B24",
           manager_exists_directory),
    METHOD("isReadableFileAtPath:", "B24@0:8@16", manager_readable),
    METHOD("isWritableFileAtPath:", "B24@0:8@16", manager_writable),
    METHOD("isDeletableFileAtPath:", "B24@0:8@16", manager_writable),
    METHOD("isExecutableFileAtPath:", "B24@0:8@16", manager_executable),
    METHOD("attributesOfItemAtPath:error:", "@32@0:8@16^@24",
           manager_attributes),
    METHOD("destinationOfSymbolicLinkAtPath:error:", "@32@0:8@16^@24",
           manager_link),
    METHOD("currentDirectoryPath", "@16@0:8", manager_directory),
    METHOD("changeCurrentDirectoryPath:", "B24@0:8@16",
           manager_change_directory),
    METHOD("contentsAtPath:", "@24@0:8@16", manager_contents),
    METHOD("contentsEqualAtPath:andPath:", "B32@0:8@16@24",
           manager_contents_equal),
    METHOD("temporaryDirectory", "@16@0:8", manager_temporary),
    METHOD("contentsOfDirectoryAtPath:error:", "@32@0:8@16^@24", manager_list),
    METHOD("subpathsOfDirectoryAtPath:error:", "@32@0:8@16^@24",
           manager_list_deep),
    METHOD("subpathsAtPath:", "@24@0:8@16", manager_subpaths),
    METHOD("contentsOfDirectoryAtURL:includingPropertiesForKeys:options:error:",
           "@48@0:8@16@24Q32^@40", manager_list_url),
    METHOD("enumeratorAtPath:", "@24@0:8@16", manager_enumerator),
    METHOD("enumeratorAtURL:includingPropertiesForKeys:options:errorHandler:",
           "@48@0:8@16@24Q32@?40", manager_enumerator_url),
    METHOD("createDirectoryAtPath:withIntermediateDirectories:attributes:"
           "error:",
           "B44@0:8@16c24@28^@36", manager_create_directory),
    METHOD("createDirectoryAtURL:withIntermediateDirectories:attributes:"
           "error:",
           "B44@0:8@16c24@28^@36", manager_create_directory_url),
    METHOD("createFileAtPath:contents:attributes:", "B40@0:8@16@24@32",
           manager_create_file),
    METHOD("createSymbolicLinkAtPath:withDestinationPath:error:",
           "B40@0:8@16@24^@32", manager_create_link),
    METHOD("removeItemAtPath:error:", "B32@0:8@16^@24", manager_remove),
    METHOD("removeItemAtURL:error:", "B32@0:8@16^@24", manager_remove_url),
    METHOD("copyItemAtPath:toPath:error:", "B40@0:8@16@24^@32", manager_copy),
    METHOD("moveItemAtPath:toPath:error:", "B40@0:8@16@24^@32", manager_move),
    METHOD("copyItemAtURL:toURL:error:", "B40@0:8@16@24^@32", manager_copy_url),
    METHOD("moveItemAtURL:toURL:error:", "B40@0:8@16@24^@32",
           manager_move_url));
METHODS(manager_class_methods,
        METHOD("defaultManager", "@16@0:8", manager_default));
DEFINE_CLASS(NSFileManager, NSObject, sizeof(struct objc_object),
             manager_methods, &manager_class_methods);
