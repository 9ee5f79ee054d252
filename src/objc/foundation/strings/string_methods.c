// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// string_methods.c: NSString's and NSMutableString's methods by UTF8String. A
// client's subclass needs only length and characterAtIndex:.
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "objc/foundation/files.h"
#include "objc/foundation/foundation.h"
#include "objc/foundation/strings/string_init.h"
#include "objc/runtime/failure.h"
#include "objc/runtime/name_table.h"

extern id string_mutable_create(const char *utf8);
extern struct objc_class OBJC_CLASS_$_NSString;
extern struct objc_class OBJC_CLASS_$_NSMutableString;

// Returns a class method's result: mutable for NSMutableString.
static id finish(Class class, id string) {
  if (class == &OBJC_CLASS_$_NSMutableString) {
    const id made = string_mutable_create(string_utf8(string));
    objc_release(string);
    return objc_autorelease(made);
  }
  return objc_autorelease(string);
}

// --- Class methods -----------------------------------------------------------

static id make_empty(Class self, SEL _cmd) {
  (void)_cmd;
  return finish(self, string_create(""));
}

static id make_utf8(Class self, SEL _cmd, const char *utf8) {
  (void)_cmd;
  return utf8 ? finish(self, string_create(utf8)) : NULL;
}

static id make_c_string(Class self, SEL _cmd, const char *bytes,
                        NSUInteger encoding) {
  (void)_cmd;
  const id string =
      bytes ? string_create_encoded(bytes, strlen(bytes), encoding) : NULL;
  return string ? finish(self, string) : NULL;
}

static id make_string(Class self, SEL _cmd, id other) {
  return make_utf8(self, _cmd, string_utf8(other));
}

static id make_characters(Class self, SEL _cmd, const unichar *units,
                          NSUInteger count) {
  (void)_cmd;
  return finish(self, string_create_encoded(units, 2 * count, ENCODING_UTF16));
}

static id make_format(Class self, SEL _cmd, id format, ...) {
  (void)_cmd;
  va_list arguments;
  va_start(arguments, format);
  const id string = string_create_format(string_utf8(format), arguments);
  va_end(arguments);
  return finish(self, string);
}

static id make_capacity(Class self, SEL _cmd, NSUInteger capacity) {
  (void)capacity;
  return make_empty(self, _cmd);
}

static id make_from_file(Class self, SEL _cmd, id path, NSUInteger encoding,
                         id *out_error) {
  (void)_cmd;
  size_t length;
  char *bytes = file_read(string_utf8(path), &length, out_error);
  const id string = bytes ? string_create_encoded(bytes, length, encoding) : NULL;
  free(bytes);
  return string ? finish(self, string) : NULL;
}

static NSUInteger default_encoding(Class self, SEL _cmd) {
  (void)self;
  (void)_cmd;
  return ENCODING_UTF8;
}

static id make_path(Class self, SEL _cmd, id components) {
  (void)self;
  (void)_cmd;
  id path = string_make("");
  for (size_t i = 0; i < array_count(components); ++i) {
    path = SEND(id(*)(id, SEL, id), path, "stringByAppendingPathComponent:",
                array_at(components, i));
  }
  return path;
}

METHODS(string_class_methods, METHOD("alloc", "@16@0:8", string_alloc),
        METHOD("string", "@16@0:8", make_empty),
        METHOD("stringWithUTF8String:", "@24@0:8*16", make_utf8),
        METHOD("stringWithCString:encoding:", "@32@0:8*16Q24", make_c_string),
        METHOD("stringWithString:", "@24@0:8@16", make_string),
        METHOD("stringWithCharacters:length:", "@32@0:8^S16Q24",
               make_characters),
        METHOD("stringWithFormat:", "@24@0:8@16", make_format),
        METHOD("stringWithCapacity:", "@24@0:8Q16", make_capacity),
        METHOD("stringWithContentsOfFile:encoding:error:",
               "@40@0:8@16Q24^@32", make_from_file),
        METHOD("pathWithComponents:", "@24@0:8@16", make_path),
        METHOD("defaultCStringEncoding", "Q16@0:8", default_encoding));

// --- For classes of a client's own -------------------------------------------

static const char *abstract_utf8(id self, SEL _cmd) {
  (void)_cmd;
  const NSUInteger count = SEND(NSUInteger(*)(id, SEL), self, "length");
  unichar *units = calloc(count + 1, sizeof *units);
  char *utf8 = malloc(3 * count + 1);
  if (!units || !utf8) {
    runtime_fail("no memory for a string");
  }
  for (NSUInteger i = 0; i < count; ++i) {
    units[i] =
        SEND(unichar(*)(id, SEL, NSUInteger), self, "characterAtIndex:", i);
  }
  const id string =
      string_make_bytes(utf8, utf8_from_utf16(units, count, utf8));
  free(units);
  free(utf8);
  return string_utf8(string);
}

static unichar character_at(id self, SEL _cmd, NSUInteger index) {
  (void)_cmd;
  const char *utf8 = string_utf8(self);
  const size_t bytes = strlen(utf8);
  const size_t length = utf16_length(utf8, bytes);
  if (index >= length) {
    exception_raise("NSRangeException",
                    "index %lu is outside a string of length %zu", index,
                    length);
  }
  return utf16_unit(utf8, bytes, index);
}

// --- What all strings can do -------------------------------------------------

static id string_description(id self, SEL _cmd) {
  (void)_cmd;
  return self;
}

static NSUInteger string_hash(id self, SEL _cmd) {
  (void)_cmd;
  return name_hash(string_utf8(self));
}

static int string_is_equal(id self, SEL _cmd, id other) {
  (void)_cmd;
  return other &&
         SEND(int (*)(id, SEL, Class), other,
              "isKindOfClass:", &OBJC_CLASS_$_NSString) &&
         string_equals(self, other);
}

static NSInteger string_compare(id self, SEL _cmd, id other) {
  (void)_cmd;
  const int order = strcmp(string_utf8(self), string_utf8(other));
  return (order > 0) - (order < 0);
}

static NSInteger string_compare_folded(id self, SEL _cmd, id other) {
  (void)_cmd;
  const int order = strcasecmp(string_utf8(self), string_utf8(other));
  return (order > 0) - (order < 0);
}

static int string_has_prefix(id self, SEL _cmd, id other) {
  (void)_cmd;
  const char *prefix = string_utf8(other);
  return !strncmp(string_utf8(self), prefix, strlen(prefix));
}

static int string_has_suffix(id self, SEL _cmd, id other) {
  (void)_cmd;
  const char *utf8 = string_utf8(self), *suffix = string_utf8(other);
  const size_t bytes = strlen(utf8), suffix_bytes = strlen(suffix);
  return bytes >= suffix_bytes && !strcmp(utf8 + bytes - suffix_bytes, suffix);
}

static NSRange string_range_of(id self, SEL _cmd, id other) {
  (void)_cmd;
  const char *utf8 = string_utf8(self), *wanted = string_utf8(other);
  const char *found = *wanted ? strstr(utf8, wanted) : NULL;
  return found ? (NSRange){utf16_length(utf8, (size_t)(found - utf8)),
                           utf16_length(wanted, strlen(wanted))}
               : (NSRange){NSNotFound, 0};
}

static int string_contains(id self, SEL _cmd, id other) {
  (void)_cmd;
  return strstr(string_utf8(self), string_utf8(other)) != NULL;
}

static id substring(id self, NSUInteger first, NSUInteger end) {
  const char *utf8 = string_utf8(self);
  const size_t bytes = strlen(utf8);
  const size_t length = utf16_length(utf8, bytes);
  if (first > end || end > length) {
    exception_raise("NSRangeException",
                    "%lu to %lu is outside a string of length %zu", first, end,
                    length);
  }
  const size_t from = utf8_offset(utf8, bytes, first);
  return string_make_bytes(utf8 + from, utf8_offset(utf8, bytes, end) - from);
}

static id string_to_index(id self, SEL _cmd, NSUInteger end) {
  (void)_cmd;
  return substring(self, 0, end);
}

static id string_from_index(id self, SEL _cmd, NSUInteger first) {
  (void)_cmd;
  return substring(self, first, SEND(NSUInteger(*)(id, SEL), self, "length"));
}

static id string_with_range(id self, SEL _cmd, NSRange range) {
  (void)_cmd;
  return substring(self, range.location, range.location + range.length);
}

static id string_append(id self, SEL _cmd, id other) {
  (void)_cmd;
  return string_make_printf("%s%s", string_utf8(self), string_utf8(other));
}

static id string_append_format(id self, SEL _cmd, id format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const id text = string_create_format(string_utf8(format), arguments);
  va_end(arguments);
  const id made = string_append(self, _cmd, text);
  objc_release(text);
  return made;
}

static id string_replace(id self, SEL _cmd, id wanted, id other) {
  (void)_cmd;
  const char *utf8 = string_utf8(self), *from = string_utf8(wanted);
  const size_t from_bytes = strlen(from);
  const id made = objc_autorelease(string_mutable_create(""));
  while (from_bytes && *utf8) {
    const char *found = strstr(utf8, from);
    if (!found) {
      break;
    }
    const id before = string_make_bytes(utf8, (size_t)(found - utf8));
    SEND(void (*)(id, SEL, id), made, "appendString:", before);
    SEND(void (*)(id, SEL, id), made, "appendString:", other);
    utf8 = found + from_bytes;
  }
  SEND(void (*)(id, SEL, id), made, "appendString:", string_make(utf8));
  return made;
}

static id string_split(id self, SEL _cmd, id separator) {
  (void)_cmd;
  const char *utf8 = string_utf8(self), *by = string_utf8(separator);
  const id parts = objc_autorelease(mutable_array_create());
  const char *found;
  while (*by && (found = strstr(utf8, by)) != NULL) {
    SEND(void (*)(id, SEL, id), parts, "addObject:",
         string_make_bytes(utf8, (size_t)(found - utf8)));
    utf8 = found + strlen(by);
  }
  SEND(void (*)(id, SEL, id), parts, "addObject:", string_make(utf8));
  return parts;
}

static id string_mapped(id self, int (*map)(int)) {
  char *copy = strdup(string_utf8(self));
  for (char *each = copy; copy && *each; ++each) {
    *each = (char)map((unsigned char)*each);
  }
  const id made = string_make(copy);
  free(copy);
  return made;
}

static id string_lowercase(id self, SEL _cmd) {
  (void)_cmd;
  return string_mapped(self, tolower);
}

static id string_uppercase(id self, SEL _cmd) {
  (void)_cmd;
  return string_mapped(self, toupper);
}

static int string_int(id self, SEL _cmd) {
  (void)_cmd;
  return (int)strtol(string_utf8(self), NULL, 10);
}

static NSInteger string_integer(id self, SEL _cmd) {
  (void)_cmd;
  return strtol(string_utf8(self), NULL, 10);
}

static double string_double(id self, SEL _cmd) {
  (void)_cmd;
  return strtod(string_utf8(self), NULL);
}

static float string_float(id self, SEL _cmd) {
  (void)_cmd;
  return strtof(string_utf8(self), NULL);
}

static int string_bool(id self, SEL _cmd) {
  (void)_cmd;
  const char *utf8 = string_utf8(self);
  utf8 += strspn(utf8, " \t\n+-0");
  return *utf8 && strchr("YyTt123456789", *utf8) != NULL;
}

static const char *string_c_string(id self, SEL _cmd, NSUInteger encoding) {
  (void)_cmd;
  return encoding == ENCODING_UTF8 || encoding == ENCODING_ASCII
             ? string_utf8(self)
             : NULL;
}

static NSUInteger string_bytes(id self, SEL _cmd, NSUInteger encoding) {
  (void)_cmd;
  const char *utf8 = string_utf8(self);
  return encoding == ENCODING_UTF16 ? 2 * utf16_length(utf8, strlen(utf8))
                                    : strlen(utf8);
}

static int string_get_c_string(id self, SEL _cmd, char *out,
                               NSUInteger capacity, NSUInteger encoding) {
  const char *utf8 = string_c_string(self, _cmd, encoding);
  if (!utf8 || strlen(utf8) >= capacity) {
    return 0;
  }
  strcpy(out, utf8);
  return 1;
}

static id string_data(id self, SEL _cmd, NSUInteger encoding) {
  (void)_cmd;
  const char *utf8 = string_utf8(self);
  const size_t bytes = strlen(utf8);
  if (encoding == ENCODING_UTF8) {
    return data_make(utf8, bytes);
  }
  unichar *units = malloc((bytes + 2) * sizeof *units);
  if (!units) {
    runtime_fail("no memory for a string of %zu bytes", bytes);
  }
  // Writes a byte order mark if the encoding does not imply the order.
  const size_t mark = encoding == ENCODING_UTF16;
  units[0] = 0xfeff;
  const size_t count = utf16_from_utf8(utf8, bytes, units + mark);
  id made = NULL;
  if (encoding == ENCODING_UTF16 || encoding == ENCODING_UTF16_LITTLE_ENDIAN) {
    made = data_make(units, (count + mark) * sizeof *units);
  } else if (encoding == ENCODING_ASCII || encoding == ENCODING_LATIN1) {
    char *narrow = (char *)units;
    const unichar most = encoding == ENCODING_ASCII ? 127 : 255;
    size_t at = 0;
    for (; at < count && units[at] <= most; ++at) {
      narrow[at] = (char)units[at];
    }
    made = at == count ? data_make(narrow, count) : NULL;
  }
  free(units);
  return made;
}

static int string_write(id self, SEL _cmd, id path, signed char atomically,
                        NSUInteger encoding, id *out_error) {
  (void)_cmd;
  (void)atomically;
  (void)encoding;
  const char *utf8 = string_utf8(self);
  return file_write(string_utf8(path), utf8, strlen(utf8), out_error);
}

static id string_copy(id self, SEL _cmd, void *zone) {
  (void)_cmd;
  (void)zone;
  return string_create(string_utf8(self));
}

static id string_mutable_copy(id self, SEL _cmd, void *zone) {
  (void)_cmd;
  (void)zone;
  return string_mutable_create(string_utf8(self));
}

METHODS(
    string_methods, METHOD("UTF8String", "*16@0:8", abstract_utf8),
    METHOD("characterAtIndex:", "S24@0:8Q16", character_at),
    METHOD("description", "@16@0:8", string_description),
    METHOD("hash", "Q16@0:8", string_hash),
    METHOD("isEqual:", "B24@0:8@16", string_is_equal),
    METHOD("isEqualToString:", "B24@0:8@16", string_is_equal),
    METHOD("compare:", "q24@0:8@16", string_compare),
    METHOD("caseInsensitiveCompare:", "q24@0:8@16", string_compare_folded),
    METHOD("hasPrefix:", "B24@0:8@16", string_has_prefix),
    METHOD("hasSuffix:", "B24@0:8@16", string_has_suffix),
    METHOD("rangeOfString:", "{_NSRange=QQ}24@0:8@16", string_range_of),
    METHOD("containsString:", "B24@0:8@16", string_contains),
    METHOD("substringToIndex:", "@24@0:8Q16", string_to_index),
    METHOD("substringFromIndex:", "@24@0:8Q16", string_from_index),
    METHOD("substringWithRange:", "@32@0:8{_NSRange=QQ}16", string_with_range),
    METHOD("stringByAppendingString:", "@24@0:8@16", string_append),
    METHOD("stringByAppendingFormat:", "@24@0:8@16", string_append_format),
    METHOD("stringByReplacingOccurrencesOfString:withString:",
           "@32@0:8@16@24", string_replace),
    METHOD("componentsSeparatedByString:", "@24@0:8@16", string_split),
    METHOD("lowercaseString", "@16@0:8", string_lowercase),
    METHOD("uppercaseString", "@16@0:8", string_uppercase),
    METHOD("intValue", "i16@0:8", string_int),
    METHOD("integerValue", "q16@0:8", string_integer),
    METHOD("longLongValue", "q16@0:8", string_integer),
    METHOD("doubleValue", "d16@0:8", string_double),
    METHOD("floatValue", "f16@0:8", string_float),
    METHOD("boolValue", "B16@0:8", string_bool),
    METHOD("cStringUsingEncoding:", "*24@0:8Q16", string_c_string),
    METHOD("lengthOfBytesUsingEncoding:", "Q24@0:8Q16", string_bytes),
    METHOD("maximumLengthOfBytesUsingEncoding:", "Q24@0:8Q16", string_bytes),
    METHOD("getCString:maxLength:encoding:", "B40@0:8*16Q24Q32",
           string_get_c_string),
    METHOD("dataUsingEncoding:", "@24@0:8Q16", string_data),
    METHOD("writeToFile:atomically:encoding:error:",
           "B44@0:8@16c24Q28^@36", string_write),
    METHOD("copyWithZone:", "@24@0:8^v16", string_copy),
    METHOD("mutableCopyWithZone:", "@24@0:8^v16", string_mutable_copy));
DEFINE_CLASS(NSString, NSObject, sizeof(struct objc_object), string_methods,
             &string_class_methods);

METHODS(mutable_string_methods, METHOD_LIST_END);
DEFINE_CLASS(NSMutableString, NSString, sizeof(struct objc_object),
             mutable_string_methods, NO_METHODS);
