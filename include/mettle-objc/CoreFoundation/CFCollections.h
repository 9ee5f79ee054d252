// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CFCollections.h: arrays and dictionaries of objects: NSArray and
// NSDictionary. Callbacks are taken for those of objects, whose addresses are
// here.
#ifndef METTLE_OBJC_CFCOLLECTIONS_H
#define METTLE_OBJC_CFCOLLECTIONS_H

#include <CoreFoundation/CFBase.h>

typedef struct {
  CFIndex version;
} CFArrayCallBacks;
typedef struct {
  CFIndex version;
} CFDictionaryKeyCallBacks;
typedef struct {
  CFIndex version;
} CFDictionaryValueCallBacks;
CF_EXPORT const CFArrayCallBacks kCFTypeArrayCallBacks;
CF_EXPORT const CFDictionaryKeyCallBacks kCFTypeDictionaryKeyCallBacks;
CF_EXPORT const CFDictionaryValueCallBacks kCFTypeDictionaryValueCallBacks;

CF_EXPORT CFTypeID CFArrayGetTypeID(void);
CF_EXPORT CFArrayRef CFArrayCreate(CFAllocatorRef allocator,
                                   const void **values, CFIndex count,
                                   const CFArrayCallBacks *callbacks);
CF_EXPORT CFMutableArrayRef
CFArrayCreateMutable(CFAllocatorRef allocator, CFIndex capacity,
                     const CFArrayCallBacks *callbacks);
CF_EXPORT CFIndex CFArrayGetCount(CFArrayRef array);
CF_EXPORT const void *CFArrayGetValueAtIndex(CFArrayRef array, CFIndex index);
CF_EXPORT void CFArrayAppendValue(CFMutableArrayRef array, const void *value);

CF_EXPORT CFTypeID CFDictionaryGetTypeID(void);
CF_EXPORT CFDictionaryRef CFDictionaryCreate(
    CFAllocatorRef allocator, const void **keys, const void **values,
    CFIndex count, const CFDictionaryKeyCallBacks *keyCallbacks,
    const CFDictionaryValueCallBacks *valueCallbacks);
CF_EXPORT CFMutableDictionaryRef
CFDictionaryCreateMutable(CFAllocatorRef allocator, CFIndex capacity,
                          const CFDictionaryKeyCallBacks *keyCallbacks,
                          const CFDictionaryValueCallBacks *valueCallbacks);
CF_EXPORT CFIndex CFDictionaryGetCount(CFDictionaryRef dictionary);
CF_EXPORT const void *CFDictionaryGetValue(CFDictionaryRef dictionary,
                                           const void *key);
CF_EXPORT Boolean CFDictionaryGetValueIfPresent(CFDictionaryRef dictionary,
                                                const void *key,
                                                const void **value);
CF_EXPORT Boolean CFDictionaryContainsKey(CFDictionaryRef dictionary,
                                          const void *key);
CF_EXPORT void CFDictionarySetValue(CFMutableDictionaryRef dictionary,
                                    const void *key, const void *value);
CF_EXPORT void CFDictionaryAddValue(CFMutableDictionaryRef dictionary,
                                    const void *key, const void *value);
CF_EXPORT void CFDictionaryRemoveValue(CFMutableDictionaryRef dictionary,
                                       const void *key);

#endif
