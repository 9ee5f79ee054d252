// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// data.c: NSData and NSMutableData.
#include <stdlib.h>
#include <string.h>

#include "objc/foundation/foundation.h"
#include "objc/foundation/files.h"
#include "objc/runtime/failure.h"

typedef struct data {
  struct objc_object object;
  size_t length;
  bool borrows;  // the bytes remain the caller's
  char *bytes;
} data;

extern struct objc_class OBJC_CLASS_$_NSData;

static id data_init(id self, SEL _cmd, const void *bytes, NSUInteger length) {
  (void)_cmd;
  data *made = (data *)self;
  made->bytes = malloc(length + 1);
  if (!made->bytes) {
    runtime_fail("no memory for data of %lu bytes", length);
  }
  if (length && bytes) {
    memcpy(made->bytes, bytes, length);
  }
  made->length = length;
  return self;
}

static id data_init_no_copy(id self, SEL _cmd, void *bytes, NSUInteger length,
                            signed char frees) {
  (void)_cmd;
  data *made = (data *)self;
  made->bytes = bytes;
  made->length = length;
  made->borrows = !frees;
  return self;
}

static id data_init_data(id self, SEL _cmd, id other) {
  return data_init(self, _cmd, SEND(const void *(*)(id, SEL), other, "bytes"),
                   SEND(NSUInteger(*)(id, SEL), other, "length"));
}

static id data_init_empty(id self, SEL _cmd) {
  return data_init(self, _cmd, NULL, 0);
}

static id data_init_length(id self, SEL _cmd, NSUInteger length) {
  data_init(self, _cmd, NULL, length);
  memset(((data *)self)->bytes, 0, length);
  return self;
}

static id allocated(Class class) {
  return SEND(id(*)(id, SEL), class, "alloc");
}

static id data_with(Class self, SEL _cmd, const void *bytes,
                    NSUInteger length) {
  return objc_autorelease(data_init(allocated(self), _cmd, bytes, length));
}

static id data_with_no_copy(Class self, SEL _cmd, void *bytes,
                            NSUInteger length, signed char frees) {
  return objc_autorelease(
      data_init_no_copy(allocated(self), _cmd, bytes, length, frees));
}

static id data_with_data(Class self, SEL _cmd, id other) {
  return objc_autorelease(data_init_data(allocated(self), _cmd, other));
}

static id data_empty(Class self, SEL _cmd) {
  return data_with(self, _cmd, NULL, 0);
}

static id data_with_length(Class self, SEL _cmd, NSUInteger length) {
  return objc_autorelease(data_init_length(allocated(self), _cmd, length));
}

static id data_with_file(Class self, SEL _cmd, id path) {
  size_t length;
  char *bytes = file_read(string_utf8(path), &length, NULL);
  return bytes ? data_with_no_copy(self, _cmd, bytes, length, 1) : NULL;
}

static id data_with_url(Class self, SEL _cmd, id url) {
  return data_with_file(self, _cmd, SEND(id(*)(id, SEL), url, "path"));
}

id data_make(const void *bytes, size_t length) {
  return data_with(&OBJC_CLASS_$_NSData, NULL, bytes, length);
}

static void data_dealloc(id self, SEL _cmd) {
  (void)_cmd;
  data *of = (data *)self;
  if (!of->borrows) {
    free(of->bytes);
  }
  instance_dispose(self);
}

static const void *data_bytes(id self, SEL _cmd) {
  (void)_cmd;
  return ((data *)self)->bytes;
}

static NSUInteger data_length(id self, SEL _cmd) {
  (void)_cmd;
  return ((data *)self)->length;
}

static int data_is_equal(id self, SEL _cmd, id other) {
  (void)_cmd;
  const data *one = (data *)self, *two = (data *)other;
  return other &&
         SEND(int (*)(id, SEL, Class), other,
              "isKindOfClass:", &OBJC_CLASS_$_NSData) &&
         one->length == two->length &&
         !memcmp(one->bytes, two->bytes, one->length);
}

static NSUInteger data_hash(id self, SEL _cmd) {
  (void)_cmd;
  return ((data *)self)->length;
}

static void data_get(id self, SEL _cmd, void *out, NSUInteger length) {
  (void)_cmd;
  const data *of = (data *)self;
  memcpy(out, of->bytes, length < of->length ? length : of->length);
}

static id data_sub(id self, SEL _cmd, NSRange range) {
  (void)_cmd;
  const data *of = (data *)self;
  if (range.location > of->length ||
      range.length > of->length - range.location) {
    exception_raise("NSRangeException", "{%lu, %lu} is outside %zu bytes",
                    range.location, range.length, of->length);
  }
  return data_make(of->bytes + range.location, range.length);
}

static int data_write(id self, SEL _cmd, id path, signed char atomically) {
  (void)_cmd;
  (void)atomically;
  const data *of = (data *)self;
  return file_write(string_utf8(path), of->bytes, of->length, NULL);
}

static id data_copy(id self, SEL _cmd, void *zone) {
  (void)_cmd;
  (void)zone;
  const data *of = (data *)self;
  return self->isa == &OBJC_CLASS_$_NSData
             ? objc_retain(self)
             : data_init(CREATE(NSData), _cmd, of->bytes, of->length);
}

extern struct objc_class OBJC_CLASS_$_NSMutableData;

static id data_mutable_copy(id self, SEL _cmd, void *zone) {
  (void)zone;
  return data_init_data(CREATE(NSMutableData), _cmd, self);
}

METHODS(data_methods, METHOD("init", "@16@0:8", data_init_empty),
        METHOD("initWithBytes:length:", "@32@0:8^v16Q24", data_init),
        METHOD("initWithBytesNoCopy:length:freeWhenDone:",
               "@36@0:8^v16Q24c32", data_init_no_copy),
        METHOD("initWithData:", "@24@0:8@16", data_init_data),
        METHOD("initWithLength:", "@24@0:8Q16", data_init_length),
        METHOD("dealloc", "v16@0:8", data_dealloc),
        METHOD("bytes", "^v16@0:8", data_bytes),
        METHOD("length", "Q16@0:8", data_length),
        METHOD("isEqual:", "B24@0:8@16", data_is_equal),
        METHOD("isEqualToData:", "B24@0:8@16", data_is_equal),
        METHOD("hash", "Q16@0:8", data_hash),
        METHOD("getBytes:length:", "v32@0:8^v16Q24", data_get),
        METHOD("subdataWithRange:", "@32@0:8{_NSRange=QQ}16", data_sub),
        METHOD("writeToFile:atomically:", "B28@0:8@16c24", data_write),
        METHOD("copyWithZone:", "@24@0:8^v16", data_copy),
        METHOD("mutableCopyWithZone:", "@24@0:8^v16", data_mutable_copy));
METHODS(data_class_methods, METHOD("data", "@16@0:8", data_empty),
        METHOD("dataWithBytes:length:", "@32@0:8^v16Q24", data_with),
        METHOD("dataWithBytesNoCopy:length:freeWhenDone:",
               "@36@0:8^v16Q24c32", data_with_no_copy),
        METHOD("dataWithData:", "@24@0:8@16", data_with_data),
        METHOD("dataWithLength:", "@24@0:8Q16", data_with_length),
        METHOD("dataWithContentsOfFile:", "@24@0:8@16", data_with_file),
        METHOD("dataWithContentsOfURL:", "@24@0:8@16", data_with_url));
DEFINE_CLASS(NSData, NSObject, sizeof(data), data_methods,
             &data_class_methods);

// --- NSMutableData -----------------------------------------------------------

static void mutable_set_length(id self, SEL _cmd, NSUInteger length) {
  (void)_cmd;
  data *of = (data *)self;
  char *grown = realloc(of->bytes, length + 1);
  if (!grown) {
    runtime_fail("no memory for data of %lu bytes", length);
  }
  if (length > of->length) {
    memset(grown + of->length, 0, length - of->length);
  }
  of->bytes = grown;
  of->length = length;
}

static void mutable_append(id self, SEL _cmd, const void *bytes,
                           NSUInteger length) {
  data *of = (data *)self;
  const size_t before = of->length;
  mutable_set_length(self, _cmd, before + length);
  if (length) {
    memcpy(of->bytes + before, bytes, length);
  }
}

static void mutable_append_data(id self, SEL _cmd, id other) {
  mutable_append(self, _cmd, data_bytes(other, _cmd), data_length(other, _cmd));
}

METHODS(mutable_data_methods,
        METHOD("mutableBytes", "^v16@0:8", data_bytes),
        METHOD("setLength:", "v24@0:8Q16", mutable_set_length),
        METHOD("appendBytes:length:", "v32@0:8^v16Q24", mutable_append),
        METHOD("appendData:", "v24@0:8@16", mutable_append_data));
DEFINE_CLASS(NSMutableData, NSData, sizeof(data), mutable_data_methods,
             NO_METHODS);
