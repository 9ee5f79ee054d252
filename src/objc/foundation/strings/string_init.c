// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// string_init.c: NSString's alloc, which returns a placeholder that init
// replaces; and strings from bytes in any encoding.
#include "objc/foundation/strings/string_init.h"

#include <stdlib.h>
#include <string.h>

#include "objc/runtime/failure.h"

extern id string_mutable_create(const char *utf8);
extern struct objc_class OBJC_CLASS_$_NSString;
extern struct objc_class OBJC_CLASS_$_NSMutableString;

// +[NSString alloc] does not know which init follows: it returns a placeholder
// that its init replaces.
typedef struct stand_in {
  struct objc_object object;
  bool is_mutable;
} stand_in;
extern struct objc_class OBJC_CLASS_$_MettleStringStandIn;

id string_alloc(Class self, SEL _cmd) {
  (void)_cmd;
  if (self != &OBJC_CLASS_$_NSString && self != &OBJC_CLASS_$_NSMutableString) {
    return instance_create(self, 0);
  }
  stand_in *made =
      (stand_in *)instance_create(&OBJC_CLASS_$_MettleStringStandIn, 0);
  made->is_mutable = self == &OBJC_CLASS_$_NSMutableString;
  return &made->object;
}

// Releases a placeholder and returns the string that replaces it.
static id replace(id self, const char *utf8, size_t bytes) {
  const bool is_mutable = ((stand_in *)self)->is_mutable;
  const id string = string_create_bytes(utf8, bytes);
  instance_dispose(self);
  if (!is_mutable) {
    return string;
  }
  const id made = string_mutable_create(string_utf8(string));
  objc_release(string);
  return made;
}

static id init_empty(id self, SEL _cmd) {
  (void)_cmd;
  return replace(self, "", 0);
}

static id init_utf8(id self, SEL _cmd, const char *utf8) {
  (void)_cmd;
  return replace(self, utf8, utf8 ? strlen(utf8) : 0);
}

// True for UTF-8 by RFC 3629, or ASCII.
static bool utf8_is_valid(const unsigned char *at, size_t length,
                          bool is_ascii) {
  const unsigned char *end = at + length;
  while (at < end) {
    const unsigned first = *at++;
    const size_t more = first < 0x80   ? 0
                        : first < 0xc2 ? SIZE_MAX
                        : first < 0xe0 ? 1
                        : first < 0xf0 ? 2
                        : first < 0xf5 ? 3
                                       : SIZE_MAX;
    if (more && (is_ascii || more > (size_t)(end - at))) {
      return false;
    }
    for (size_t i = 0; i < more; ++i) {
      if ((at[i] & 0xc0) != 0x80) {
        return false;
      }
    }
    if (more > 1 &&
        ((first == 0xe0 && at[0] < 0xa0) || (first == 0xed && at[0] > 0x9f) ||
         (first == 0xf0 && at[0] < 0x90) || (first == 0xf4 && at[0] > 0x8f))) {
      return false;
    }
    at += more;
  }
  return true;
}

// NULL for an unknown encoding.
id string_create_encoded(const void *bytes, size_t length,
                         NSUInteger encoding) {
  if (encoding == ENCODING_UTF8 || encoding == ENCODING_ASCII) {
    return utf8_is_valid(bytes, length, encoding == ENCODING_ASCII)
               ? string_create_bytes(bytes, length)
               : NULL;
  }
  if (encoding != ENCODING_UTF16 && encoding != ENCODING_UTF16_LITTLE_ENDIAN &&
      encoding != ENCODING_LATIN1) {
    return NULL;
  }
  const size_t count = encoding == ENCODING_LATIN1 ? length : length / 2;
  unichar *units = calloc(count + 1, sizeof *units);
  char *utf8 = malloc(3 * count + 1);
  id made = NULL;
  if (units && utf8) {
    for (size_t i = 0; i < count; ++i) {
      units[i] = encoding == ENCODING_LATIN1
                     ? ((const uint8_t *)bytes)[i]
                     : (unichar)(((const uint8_t *)bytes)[2 * i] |
                                 ((const uint8_t *)bytes)[2 * i + 1] << 8);
    }
    made = string_create_bytes(utf8, utf8_from_utf16(units, count, utf8));
  }
  free(units);
  free(utf8);
  return made;
}

static id init_bytes(id self, SEL _cmd, const void *bytes, NSUInteger length,
                     NSUInteger encoding) {
  (void)_cmd;
  const id string = string_create_encoded(bytes, length, encoding);
  if (!string) {
    instance_dispose(self);
    return NULL;
  }
  const char *utf8 = string_utf8(string);
  const id made = replace(self, utf8, strlen(utf8));
  objc_release(string);
  return made;
}

static id init_bytes_no_copy(id self, SEL _cmd, void *bytes, NSUInteger length,
                             NSUInteger encoding, signed char frees) {
  const id made = init_bytes(self, _cmd, bytes, length, encoding);
  if (frees) {
    free(bytes);
  }
  return made;
}

static id init_c_string(id self, SEL _cmd, const char *bytes,
                        NSUInteger encoding) {
  return init_bytes(self, _cmd, bytes, strlen(bytes), encoding);
}

static id init_characters(id self, SEL _cmd, const unichar *units,
                          NSUInteger count) {
  return init_bytes(self, _cmd, units, 2 * count, ENCODING_UTF16);
}

static id init_string(id self, SEL _cmd, id other) {
  return init_utf8(self, _cmd, string_utf8(other));
}

static id init_format_arguments(id self, SEL _cmd, id format,
                                va_list arguments) {
  const id text = string_create_format(string_utf8(format), arguments);
  const id made = init_utf8(self, _cmd, string_utf8(text));
  objc_release(text);
  return made;
}

static id init_format(id self, SEL _cmd, id format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const id made = init_format_arguments(self, _cmd, format, arguments);
  va_end(arguments);
  return made;
}

static id init_data(id self, SEL _cmd, id data, NSUInteger encoding) {
  return init_bytes(self, _cmd, SEND(const void *(*)(id, SEL), data, "bytes"),
                    SEND(NSUInteger(*)(id, SEL), data, "length"), encoding);
}

static id init_capacity(id self, SEL _cmd, NSUInteger capacity) {
  (void)capacity;
  return init_empty(self, _cmd);
}

static id init_contents(id self, SEL _cmd, id path, NSUInteger encoding,
                        id *out_error) {
  (void)_cmd;
  const id read = SEND(
      id(*)(id, SEL, id, NSUInteger, id *), (id)&OBJC_CLASS_$_NSString,
      "stringWithContentsOfFile:encoding:error:", path, encoding, out_error);
  if (!read) {
    instance_dispose(self);
    return NULL;
  }
  return init_string(self, _cmd, read);
}

METHODS(stand_in_methods, METHOD("init", "@16@0:8", init_empty),
        METHOD("initWithContentsOfFile:encoding:error:", "@40@0:8@16Q24^@32",
               init_contents),
        METHOD("initWithUTF8String:", "@24@0:8*16", init_utf8),
        METHOD("initWithCString:encoding:", "@32@0:8*16Q24", init_c_string),
        METHOD("initWithBytes:length:encoding:", "@40@0:8^v16Q24Q32",
               init_bytes),
        METHOD("initWithBytesNoCopy:length:encoding:freeWhenDone:",
               "@44@0:8^v16Q24Q32c40", init_bytes_no_copy),
        METHOD("initWithCharacters:length:", "@32@0:8^S16Q24", init_characters),
        METHOD("initWithString:", "@24@0:8@16", init_string),
        METHOD("initWithFormat:", "@24@0:8@16", init_format),
        METHOD("initWithFormat:arguments:", "@32@0:8@16^v24",
               init_format_arguments),
        METHOD("initWithData:encoding:", "@32@0:8@16Q24", init_data),
        METHOD("initWithCapacity:", "@24@0:8Q16", init_capacity));
DEFINE_CLASS(MettleStringStandIn, NSString, sizeof(stand_in), stand_in_methods,
             NO_METHODS);
