// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// core_collections.c: CoreFoundation's functions of arrays, dictionaries, URLs
// and bundles, which are NSArray, NSDictionary, NSURL and NSBundle.
#include <string.h>

#include "objc/foundation/foundation.h"

extern struct objc_class OBJC_CLASS_$_NSURL;
extern struct objc_class OBJC_CLASS_$_NSBundle;

// Collections hold objects; who names other callbacks gets these, too.
typedef struct callbacks {
  long version;
} callbacks;
OBJC_EXPORT const callbacks kCFTypeArrayCallBacks;
OBJC_EXPORT const callbacks kCFTypeDictionaryKeyCallBacks;
OBJC_EXPORT const callbacks kCFTypeDictionaryValueCallBacks;
const callbacks kCFTypeArrayCallBacks;
const callbacks kCFTypeDictionaryKeyCallBacks;
const callbacks kCFTypeDictionaryValueCallBacks;

// --- Arrays ------------------------------------------------------------------

OBJC_EXPORT id CFArrayCreate(id allocator, const id *values, long count,
                             const callbacks *of) {
  (void)allocator;
  (void)of;
  return array_create(values, (size_t)count);
}

OBJC_EXPORT id CFArrayCreateMutable(id allocator, long capacity,
                                    const callbacks *of) {
  (void)allocator;
  (void)capacity;
  (void)of;
  return mutable_array_create();
}

OBJC_EXPORT long CFArrayGetCount(id array) {
  return (long)array_count(array);
}

OBJC_EXPORT id CFArrayGetValueAtIndex(id array, long index) {
  return array_at(array, (size_t)index);
}

OBJC_EXPORT void CFArrayAppendValue(id array, id value) {
  array_add(array, value);
}

// --- Dictionaries ------------------------------------------------------------

OBJC_EXPORT id CFDictionaryCreateMutable(id allocator, long capacity,
                                         const callbacks *keys,
                                         const callbacks *values) {
  (void)allocator;
  (void)capacity;
  (void)keys;
  (void)values;
  return dictionary_create();
}

OBJC_EXPORT void CFDictionarySetValue(id dictionary, id key, id value) {
  SEND(void (*)(id, SEL, id, id), dictionary, "setObject:forKey:", value, key);
}

OBJC_EXPORT id CFDictionaryCreate(id allocator, const id *keys,
                                  const id *values, long count,
                                  const callbacks *of_keys,
                                  const callbacks *of_values) {
  const id made =
      CFDictionaryCreateMutable(allocator, count, of_keys, of_values);
  for (long i = 0; i < count; ++i) {
    CFDictionarySetValue(made, keys[i], values[i]);
  }
  return made;
}

OBJC_EXPORT long CFDictionaryGetCount(id dictionary) {
  return (long)SEND(NSUInteger(*)(id, SEL), dictionary, "count");
}

OBJC_EXPORT id CFDictionaryGetValue(id dictionary, id key) {
  return SEND(id(*)(id, SEL, id), dictionary, "objectForKey:", key);
}

OBJC_EXPORT uint8_t CFDictionaryGetValueIfPresent(id dictionary, id key,
                                                  id *out_value) {
  const id found = CFDictionaryGetValue(dictionary, key);
  if (found && out_value) {
    *out_value = found;
  }
  return found != NULL;
}

OBJC_EXPORT uint8_t CFDictionaryContainsKey(id dictionary, id key) {
  return CFDictionaryGetValue(dictionary, key) != NULL;
}

OBJC_EXPORT void CFDictionaryAddValue(id dictionary, id key, id value) {
  if (!CFDictionaryContainsKey(dictionary, key)) {
    CFDictionarySetValue(dictionary, key, value);
  }
}

OBJC_EXPORT void CFDictionaryRemoveValue(id dictionary, id key) {
  SEND(void (*)(id, SEL, id), dictionary, "removeObjectForKey:", key);
}

// --- URLs and the bundle -----------------------------------------------------

OBJC_EXPORT id CFURLCreateWithFileSystemPath(id allocator, id path, long style,
                                             uint8_t is_folder) {
  (void)allocator;
  (void)style;
  return objc_retain(SEND(id(*)(id, SEL, id, int), CLASS_OF(NSURL),
                          "fileURLWithPath:isDirectory:", path, is_folder));
}

OBJC_EXPORT id CFURLCopyFileSystemPath(id url, long style) {
  (void)style;
  return objc_retain(SEND(id(*)(id, SEL), url, "path"));
}

OBJC_EXPORT uint8_t CFURLGetFileSystemRepresentation(id url, uint8_t resolves,
                                                     uint8_t *buffer,
                                                     long size) {
  (void)resolves;
  const char *path = string_utf8(SEND(id(*)(id, SEL), url, "path"));
  const size_t bytes = strlen(path) + 1;
  if (size < 0 || bytes > (size_t)size) {
    return 0;
  }
  memcpy(buffer, path, bytes);
  return 1;
}

OBJC_EXPORT id CFBundleGetMainBundle(void) {
  return SEND(id(*)(id, SEL), CLASS_OF(NSBundle), "mainBundle");
}

OBJC_EXPORT id CFBundleCopyResourcesDirectoryURL(id bundle) {
  return objc_retain(SEND(id(*)(id, SEL), bundle, "resourceURL"));
}

OBJC_EXPORT id CFBundleCopyBundleURL(id bundle) {
  return objc_retain(SEND(id(*)(id, SEL), bundle, "bundleURL"));
}

OBJC_EXPORT id CFBundleCopyResourceURL(id bundle, id name, id type, id folder) {
  if (folder) {
    name = SEND(id(*)(id, SEL, id), folder,
                "stringByAppendingPathComponent:", name);
  }
  return objc_retain(SEND(id(*)(id, SEL, id, id), bundle,
                          "URLForResource:withExtension:", name, type));
}
