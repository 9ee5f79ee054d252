// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// data_more.c: searches and converts NSData by bytes and length; NSUUID.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "objc/foundation/files.h"
#include "objc/foundation/foundation.h"
#include "objc/runtime/failure.h"
#include "objc/runtime/memory/block.h"

extern struct objc_class OBJC_CLASS_$_NSData;
extern struct objc_class OBJC_CLASS_$_NSMutableData;

static const char *bytes_of(id data) {
  return data ? SEND(const char *(*)(id, SEL), data, "bytes") : NULL;
}

static size_t length_of(id data) {
  return data ? SEND(NSUInteger(*)(id, SEL), data, "length") : 0;
}

static void check(id self, NSRange range) {
  const size_t length = length_of(self);
  if (range.location > length || range.length > length - range.location) {
    exception_raise("NSRangeException",
                    "the range {%lu, %lu} is outside data of %zu bytes",
                    range.location, range.length, length);
  }
}

// --- Files -----------------------------------------------------------------------

static id read_file(const char *path, id *out_error) {
  size_t length;
  char *bytes = file_read(path, &length, out_error);
  const id made = bytes ? data_make(bytes, length) : NULL;
  free(bytes);
  return made;
}

// Maps or reads the file; callers cannot tell.
static id with_file(Class self, SEL _cmd, id path, NSUInteger options,
                    id *out_error) {
  (void)self;
  (void)_cmd;
  (void)options;
  return read_file(string_utf8(path), out_error);
}

static const char *url_path(id url) {
  return SEND(const char *(*)(id, SEL), url, "fileSystemRepresentation");
}

static id with_url(Class self, SEL _cmd, id url, NSUInteger options,
                   id *out_error) {
  (void)self;
  (void)_cmd;
  (void)options;
  return read_file(url_path(url), out_error);
}

static id init_file(id self, SEL _cmd, id path) {
  (void)_cmd;
  objc_release(self);
  return objc_retain(read_file(string_utf8(path), NULL));
}

static id init_url(id self, SEL _cmd, id url) {
  (void)_cmd;
  objc_release(self);
  return objc_retain(read_file(url_path(url), NULL));
}

static int write_with(id self, SEL _cmd, id path, NSUInteger options,
                      id *out_error) {
  (void)_cmd;
  (void)options;
  return file_write(string_utf8(path), bytes_of(self), length_of(self),
                    out_error);
}

static int write_url(id self, SEL _cmd, id url, signed char atomically) {
  (void)_cmd;
  (void)atomically;
  return file_write(url_path(url), bytes_of(self), length_of(self), NULL);
}

static int write_url_with(id self, SEL _cmd, id url, NSUInteger options,
                          id *out_error) {
  (void)_cmd;
  (void)options;
  return file_write(url_path(url), bytes_of(self), length_of(self), out_error);
}

// --- Parts -----------------------------------------------------------------------

static void get_range(id self, SEL _cmd, void *out, NSRange range) {
  (void)_cmd;
  check(self, range);
  memcpy(out, bytes_of(self) + range.location, range.length);
}

static void get_all(id self, SEL _cmd, void *out) {
  get_range(self, _cmd, out, (NSRange){0, length_of(self)});
}

static NSRange range_of(id self, SEL _cmd, id wanted, NSUInteger options,
                        NSRange range) {
  enum { IS_BACKWARDS = 1, IS_ANCHORED = 2 };  // NSDataSearchOptions
  (void)_cmd;
  check(self, range);
  const size_t bytes = length_of(wanted);
  if (bytes && bytes <= range.length) {
    const size_t places = options & IS_ANCHORED ? 1 : range.length - bytes + 1;
    for (size_t i = 0; i < places; ++i) {
      const size_t at = options & IS_BACKWARDS
                            ? range.location + range.length - bytes - i
                            : range.location + i;
      if (!memcmp(bytes_of(self) + at, bytes_of(wanted), bytes)) {
        return (NSRange){at, bytes};
      }
    }
  }
  return (NSRange){NSNotFound, 0};
}

static void each_range(id self, SEL _cmd, id literal) {
  (void)_cmd;
  signed char stop = 0;
  BLOCK_CALL(void (*)(id, const void *, NSRange, signed char *), literal,
             bytes_of(self), ((NSRange){0, length_of(self)}), &stop);
}

// --- Base 64 (RFC 4648) -----------------------------------------------------------

static const char digits[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static id base64(id self, SEL _cmd, NSUInteger options) {
  (void)_cmd;
  (void)options;
  const unsigned char *bytes = (const unsigned char *)bytes_of(self);
  const size_t length = length_of(self);
  char *text = malloc(length / 3 * 4 + 5), *out = text;
  if (!text) {
    runtime_fail("no memory for data of %zu bytes", length);
  }
  for (size_t i = 0; i < length; i += 3) {
    const size_t left = length - i < 3 ? length - i : 3;
    const uint32_t word = (uint32_t)bytes[i] << 16 |
                          (left > 1 ? (uint32_t)bytes[i + 1] << 8 : 0) |
                          (left > 2 ? bytes[i + 2] : 0);
    for (size_t k = 0; k < 4; ++k) {
      *out++ = k <= left ? digits[word >> (18 - 6 * k) & 63] : '=';
    }
  }
  const id made = string_make_bytes(text, (size_t)(out - text));
  free(text);
  return made;
}

static id init_base64(id self, SEL _cmd, id text, NSUInteger options) {
  enum { IGNORES_UNKNOWN = 1 };
  (void)_cmd;
  objc_release(self);
  const char *at = string_utf8(text);
  unsigned char *bytes = malloc(strlen(at) + 3);
  size_t count = 0, read = 0, pads = 0;
  uint32_t word = 0;
  bool is_good = bytes != NULL;
  for (; is_good && *at; ++at) {
    const char *digit = strchr(digits, *at);
    if (*at == '=') {
      ++pads;
    } else if (digit && !pads) {
      word = word << 6 | (uint32_t)(digit - digits);
      if (++read % 4 == 0) {
        bytes[count++] = (unsigned char)(word >> 16);
        bytes[count++] = (unsigned char)(word >> 8);
        bytes[count++] = (unsigned char)word;
      }
    } else {
      is_good = options & IGNORES_UNKNOWN;
    }
  }
  is_good = is_good && (read + pads) % 4 == 0 && pads < 3;
  if (is_good && pads) {
    word <<= 6 * pads;
    bytes[count++] = (unsigned char)(word >> 16);
    if (pads == 1) {
      bytes[count++] = (unsigned char)(word >> 8);
    }
  }
  const id made = is_good ? objc_retain(data_make(bytes, count)) : NULL;
  free(bytes);
  return made;
}

METHODS(
    data_methods, METHOD("initWithContentsOfFile:", "@24@0:8@16", init_file),
    METHOD("initWithContentsOfURL:", "@24@0:8@16", init_url),
    METHOD("writeToFile:options:error:", "B40@0:8@16Q24^@32", write_with),
    METHOD("writeToURL:atomically:", "B28@0:8@16c24", write_url),
    METHOD("writeToURL:options:error:", "B40@0:8@16Q24^@32", write_url_with),
    METHOD("getBytes:range:", "v40@0:8^v16{_NSRange=QQ}24", get_range),
    METHOD("getBytes:", "v24@0:8^v16", get_all),
    METHOD("rangeOfData:options:range:",
           "{_NSRange=QQ}48@0:8@16Q24{_NSRange=QQ}32", range_of),
    METHOD("enumerateByteRangesUsingBlock:", "v24@0:8@?16", each_range),
    METHOD("base64EncodedStringWithOptions:", "@24@0:8Q16", base64),
    METHOD("initWithBase64EncodedString:options:", "@32@0:8@16Q24",
           init_base64));
METHODS(data_class_methods,
        METHOD("dataWithContentsOfFile:options:error:", "@40@0:8@16Q24^@32",
               with_file),
        METHOD("dataWithContentsOfURL:options:error:", "@40@0:8@16Q24^@32",
               with_url));
static category data_category = {
    .name = "more",
    .class = &OBJC_CLASS_$_NSData,
    .instance_methods = (method_list *)&data_methods,
    .class_methods = (method_list *)&data_class_methods};
static category *data_listed __attribute__((section("objc_catlist"), used)) =
    &data_category;

// --- NSMutableData -----------------------------------------------------------------

static void set_length(id self, size_t length) {
  SEND(void (*)(id, SEL, NSUInteger), self, "setLength:", length);
}

static char *mutable_bytes(id self) {
  return SEND(char *(*)(id, SEL), self, "mutableBytes");
}

static void replace_with(id self, SEL _cmd, NSRange range, const void *bytes,
                         NSUInteger count) {
  (void)_cmd;
  check(self, range);
  const size_t length = length_of(self), end = range.location + range.length;
  char *copy = malloc(count + length - end + 1);
  if (!copy) {
    runtime_fail("no memory for data of %zu bytes", length);
  }
  memcpy(copy, bytes, count);
  memcpy(copy + count, bytes_of(self) + end, length - end);
  set_length(self, range.location + count + length - end);
  memcpy(mutable_bytes(self) + range.location, copy, count + length - end);
  free(copy);
}

static void replace(id self, SEL _cmd, NSRange range, const void *bytes) {
  replace_with(self, _cmd, range, bytes, range.length);
}

static void reset(id self, SEL _cmd, NSRange range) {
  (void)_cmd;
  check(self, range);
  memset(mutable_bytes(self) + range.location, 0, range.length);
}

static void grow(id self, SEL _cmd, NSUInteger count) {
  (void)_cmd;
  set_length(self, length_of(self) + count);
}

static void set_data(id self, SEL _cmd, id other) {
  replace_with(self, _cmd, (NSRange){0, length_of(self)}, bytes_of(other),
               length_of(other));
}

METHODS(mutable_methods,
        METHOD("replaceBytesInRange:withBytes:", "v40@0:8{_NSRange=QQ}16^v32",
               replace),
        METHOD("replaceBytesInRange:withBytes:length:",
               "v48@0:8{_NSRange=QQ}16^v32Q40", replace_with),
        METHOD("resetBytesInRange:", "v32@0:8{_NSRange=QQ}16", reset),
        METHOD("increaseLengthBy:", "v24@0:8Q16", grow),
        METHOD("setData:", "v24@0:8@16", set_data));
DEFINE_CATEGORY(NSMutableData, more, mutable_methods);

// --- NSUUID (RFC 9562, version 4) ----------------------------------------------------

typedef struct uuid {
  struct objc_object object;
  unsigned char bytes[16];
} uuid;

static id uuid_init(id self, SEL _cmd) {
  (void)_cmd;
  uuid *made = (uuid *)self;
  if (getrandom(made->bytes, sizeof made->bytes, 0) < 0) {
    runtime_fail("no random bytes for an NSUUID");
  }
  made->bytes[6] = (made->bytes[6] & 15) | 0x40;
  made->bytes[8] = (made->bytes[8] & 0x3f) | 0x80;
  return self;
}

static id uuid_make(Class self, SEL _cmd) {
  return objc_autorelease(uuid_init(instance_create(self, 0), _cmd));
}

static id uuid_init_string(id self, SEL _cmd, id text) {
  (void)_cmd;
  uuid *made = (uuid *)self;
  const char *at = string_utf8(text);
  size_t count = 0;
  for (unsigned byte; count < 16 && sscanf(at, "%2x", &byte) == 1; ++count) {
    made->bytes[count] = (unsigned char)byte;
    at += 2;
    at += *at == '-';
  }
  if (count < 16 || *at) {
    objc_release(self);
    return NULL;
  }
  return self;
}

static id uuid_string(id self, SEL _cmd) {
  (void)_cmd;
  const unsigned char *b = ((uuid *)self)->bytes;
  return string_make_printf(
      "%02X%02X%02X%02X-%02X%02X-%02X%02X-%02X%02X-%02X%02X%02X%02X%02X%02X",
      b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11],
      b[12], b[13], b[14], b[15]);
}

static int uuid_is_equal(id self, SEL _cmd, id other) {
  (void)_cmd;
  return other && other->isa == self->isa &&
         !memcmp(((uuid *)self)->bytes, ((uuid *)other)->bytes, 16);
}

static NSUInteger uuid_hash(id self, SEL _cmd) {
  NSUInteger hash;
  (void)_cmd;
  memcpy(&hash, ((uuid *)self)->bytes, sizeof hash);
  return hash;
}

static id uuid_copy(id self, SEL _cmd, void *zone) {
  (void)_cmd;
  (void)zone;
  return objc_retain(self);
}

METHODS(uuid_methods, METHOD("init", "@16@0:8", uuid_init),
        METHOD("initWithUUIDString:", "@24@0:8@16", uuid_init_string),
        METHOD("UUIDString", "@16@0:8", uuid_string),
        METHOD("description", "@16@0:8", uuid_string),
        METHOD("isEqual:", "B24@0:8@16", uuid_is_equal),
        METHOD("hash", "Q16@0:8", uuid_hash),
        METHOD("copyWithZone:", "@24@0:8^v16", uuid_copy));
METHODS(uuid_class_methods, METHOD("UUID", "@16@0:8", uuid_make));
DEFINE_CLASS(NSUUID, NSObject, sizeof(uuid), uuid_methods, &uuid_class_methods);
