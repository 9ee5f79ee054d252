// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// core_string.c: CoreFoundation's functions of strings, numbers and data, which
// are NSString, NSNumber and NSData, and of all objects.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "objc/foundation/foundation.h"

extern struct objc_class OBJC_CLASS_$_NSString;
extern struct objc_class OBJC_CLASS_$_NSNumber;
extern struct objc_class OBJC_CLASS_$_NSArray;
extern struct objc_class OBJC_CLASS_$_NSDictionary;
extern struct objc_class OBJC_CLASS_$_NSData;
extern struct objc_class OBJC_CLASS_$_NSMutableData;

typedef struct CFRange {
  long location, length;
} CFRange;

// --- All objects -------------------------------------------------------------

OBJC_EXPORT id CFRetain(id object) {
  return objc_retain(object);
}

OBJC_EXPORT void CFRelease(id object) {
  objc_release(object);
}

OBJC_EXPORT id CFAutorelease(id object) {
  return objc_autorelease(object);
}

OBJC_EXPORT long CFGetRetainCount(id object) {
  return (long)SEND(NSUInteger(*)(id, SEL), object, "retainCount");
}

OBJC_EXPORT uint8_t CFEqual(id one, id other) {
  return objects_equal(one, other);
}

OBJC_EXPORT unsigned long CFHash(id object) {
  return SEND(NSUInteger(*)(id, SEL), object, "hash");
}

OBJC_EXPORT id CFCopyDescription(id object) {
  return objc_retain(SEND(id(*)(id, SEL), object, "description"));
}

OBJC_EXPORT void CFShow(id object) {
  const id text = SEND(id(*)(id, SEL), object, "description");
  fprintf(stderr, "%s\n", object ? string_utf8(text) : "(null)");
}

// Types are told apart by numbers of our own.
enum {
  TYPE_OTHER = 1,
  TYPE_STRING = 7,
  TYPE_DICTIONARY,
  TYPE_ARRAY,
  TYPE_DATA,
  TYPE_BOOLEAN,
  TYPE_NUMBER
};

OBJC_EXPORT unsigned long CFGetTypeID(id object) {
  return object_is(object, &OBJC_CLASS_$_NSString)       ? TYPE_STRING
         : object_is(object, &OBJC_CLASS_$_NSDictionary) ? TYPE_DICTIONARY
         : object_is(object, &OBJC_CLASS_$_NSArray)      ? TYPE_ARRAY
         : object_is(object, &OBJC_CLASS_$_NSData)       ? TYPE_DATA
         : !object_is(object, &OBJC_CLASS_$_NSNumber)    ? TYPE_OTHER
         : number_is_bool(object)                        ? TYPE_BOOLEAN
                                                         : TYPE_NUMBER;
}

#define TYPE_ID(name, value)                        \
  OBJC_EXPORT unsigned long name##GetTypeID(void) { \
    return value;                                   \
  }
TYPE_ID(CFString, TYPE_STRING)
TYPE_ID(CFDictionary, TYPE_DICTIONARY)
TYPE_ID(CFArray, TYPE_ARRAY)
TYPE_ID(CFData, TYPE_DATA)
TYPE_ID(CFBoolean, TYPE_BOOLEAN)
TYPE_ID(CFNumber, TYPE_NUMBER)

// --- Strings -----------------------------------------------------------------

// Converts a CFStringEncoding to Foundation's. MacRoman is taken for ASCII.
static NSUInteger encoding_of(uint32_t encoding) {
  return encoding == 0x08000100   ? ENCODING_UTF8
         : encoding == 0x0201     ? ENCODING_LATIN1
         : encoding == 0x0100     ? ENCODING_UTF16
         : encoding == 0x14000100 ? ENCODING_UTF16_LITTLE_ENDIAN
                                  : ENCODING_ASCII;
}

OBJC_EXPORT id CFStringCreateWithBytes(id allocator, const uint8_t *bytes,
                                       long count, uint32_t encoding,
                                       uint8_t has_mark) {
  (void)allocator;
  (void)has_mark;
  const id made = SEND(id(*)(id, SEL), CLASS_OF(NSString), "alloc");
  return SEND(id(*)(id, SEL, const void *, NSUInteger, NSUInteger), made,
              "initWithBytes:length:encoding:", bytes, (NSUInteger)count,
              encoding_of(encoding));
}

OBJC_EXPORT id CFStringCreateWithCString(id allocator, const char *text,
                                         uint32_t encoding) {
  return CFStringCreateWithBytes(allocator, (const uint8_t *)text,
                                 (long)strlen(text), encoding, 0);
}

OBJC_EXPORT id CFStringCreateWithFormat(id allocator, id options, id format,
                                        ...) {
  (void)allocator;
  (void)options;
  va_list arguments;
  va_start(arguments, format);
  const id made = string_create_format(string_utf8(format), arguments);
  va_end(arguments);
  return made;
}

OBJC_EXPORT id CFStringCreateCopy(id allocator, id string) {
  (void)allocator;
  return SEND(id(*)(id, SEL), string, "copy");
}

OBJC_EXPORT long CFStringGetLength(id string) {
  return (long)SEND(NSUInteger(*)(id, SEL), string, "length");
}

OBJC_EXPORT long CFStringGetMaximumSizeForEncoding(long length,
                                                   uint32_t encoding) {
  const NSUInteger named = encoding_of(encoding);
  return named == ENCODING_UTF8                                ? 3 * length
         : named == ENCODING_ASCII || named == ENCODING_LATIN1 ? length
                                                               : 2 * length;
}

OBJC_EXPORT const char *CFStringGetCStringPtr(id string, uint32_t encoding) {
  const char *text = string_utf8(string);
  const size_t bytes = strlen(text);
  // UTF-8 is what strings are; ASCII is UTF-8 of one byte a unit.
  return encoding_of(encoding) == ENCODING_UTF8 ||
                 utf16_length(text, bytes) == bytes
             ? text
             : NULL;
}

OBJC_EXPORT uint8_t CFStringGetCString(id string, char *buffer, long size,
                                       uint32_t encoding) {
  return (uint8_t)SEND(int (*)(id, SEL, char *, NSUInteger, NSUInteger), string,
                       "getCString:maxLength:encoding:", buffer,
                       (NSUInteger)size, encoding_of(encoding));
}

OBJC_EXPORT long CFStringCompare(id one, id other, unsigned long flags) {
  return SEND(NSInteger(*)(id, SEL, id, NSUInteger), one,
              "compare:options:", other, flags);
}

OBJC_EXPORT uint8_t CFStringHasPrefix(id string, id prefix) {
  return (uint8_t)SEND(int (*)(id, SEL, id), string, "hasPrefix:", prefix);
}

OBJC_EXPORT int32_t CFStringGetIntValue(id string) {
  return SEND(int (*)(id, SEL), string, "intValue");
}

OBJC_EXPORT double CFStringGetDoubleValue(id string) {
  return SEND(double (*)(id, SEL), string, "doubleValue");
}

// --- Numbers -----------------------------------------------------------------

OBJC_EXPORT id kCFBooleanTrue, kCFBooleanFalse;
id kCFBooleanTrue, kCFBooleanFalse;

static void __attribute__((constructor(111))) make_booleans(void) {
  kCFBooleanTrue = objc_retain(number_make_bool(true));
  kCFBooleanFalse = objc_retain(number_make_bool(false));
}

OBJC_EXPORT uint8_t CFBooleanGetValue(id boolean) {
  return (uint8_t)SEND(int (*)(id, SEL), boolean, "boolValue");
}

// Returns the bytes of a CFNumberType, 0 for none; *out_is_float as its name
// says.
static size_t number_bytes(long type, bool *out_is_float) {
  static const uint8_t bytes[] = {0, 1, 2, 4, 8, 4, 8, 1, 2,
                                  4, 8, 8, 4, 8, 8, 8, 8};
  if (type < 1 || type >= (long)sizeof bytes) {
    return 0;
  }
  *out_is_float =
      type == 5 || type == 6 || type == 12 || type == 13 || type == 16;
  return bytes[type];
}

static int64_t read_integer(const void *from, size_t bytes) {
  int64_t value = 0;
  memcpy(&value, from, bytes);  // little-endian
  const unsigned spare = 64 - 8 * (unsigned)bytes;
  return (int64_t)((uint64_t)value << spare) >> spare;
}

OBJC_EXPORT id CFNumberCreate(id allocator, long type, const void *value) {
  (void)allocator;
  bool is_float = false;
  const size_t bytes = number_bytes(type, &is_float);
  if (!bytes) {
    return NULL;
  }
  if (!is_float) {
    return objc_retain(number_make_integer(read_integer(value, bytes)));
  }
  float single;
  double full;
  memcpy(&single, value, sizeof single);
  memcpy(&full, value, bytes == 8 ? sizeof full : 0);
  return objc_retain(number_make_double(bytes == 8 ? full : (double)single));
}

OBJC_EXPORT uint8_t CFNumberGetValue(id number, long type, void *out_value) {
  bool is_float = false;
  const size_t bytes = number_bytes(type, &is_float);
  const double real = SEND(double (*)(id, SEL), number, "doubleValue");
  const int64_t whole = SEND(long long (*)(id, SEL), number, "longLongValue");
  if (!bytes) {
    return 0;
  }
  if (!is_float) {
    memcpy(out_value, &whole, bytes);
    return read_integer(&whole, bytes) == whole && (double)whole == real;
  }
  const float single = (float)real;
  memcpy(out_value, bytes == 8 ? (const void *)&real : &single, bytes);
  return bytes == 8 || (double)single == real || isnan(real);
}

// --- Data --------------------------------------------------------------------

OBJC_EXPORT id CFDataCreate(id allocator, const uint8_t *bytes, long length) {
  (void)allocator;
  return objc_retain(data_make(bytes, (size_t)length));
}

OBJC_EXPORT id CFDataCreateMutable(id allocator, long capacity) {
  (void)allocator;
  (void)capacity;
  return SEND(id(*)(id, SEL), CLASS_OF(NSMutableData), "new");
}

OBJC_EXPORT const uint8_t *CFDataGetBytePtr(id data) {
  return SEND(const void *(*)(id, SEL), data, "bytes");
}

OBJC_EXPORT uint8_t *CFDataGetMutableBytePtr(id data) {
  return SEND(void *(*)(id, SEL), data, "mutableBytes");
}

OBJC_EXPORT long CFDataGetLength(id data) {
  return (long)SEND(NSUInteger(*)(id, SEL), data, "length");
}

OBJC_EXPORT void CFDataGetBytes(id data, CFRange range, uint8_t *buffer) {
  SEND(void (*)(id, SEL, void *, NSRange), data, "getBytes:range:", buffer,
       (NSRange){(NSUInteger)range.location, (NSUInteger)range.length});
}

OBJC_EXPORT void CFDataSetLength(id data, long length) {
  SEND(void (*)(id, SEL, NSUInteger), data, "setLength:", (NSUInteger)length);
}

OBJC_EXPORT void CFDataAppendBytes(id data, const uint8_t *bytes, long length) {
  SEND(void (*)(id, SEL, const void *, NSUInteger), data,
       "appendBytes:length:", bytes, (NSUInteger)length);
}
