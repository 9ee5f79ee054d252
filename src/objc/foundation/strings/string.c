// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// string.c: NSString's concrete classes: UTF-8 on the heap, mutable or not, and
// constants that compilers emit. string_methods.c has all other methods.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "objc/foundation/foundation.h"
#include "objc/runtime/failure.h"

typedef struct heap_string {
  struct objc_object object;
  size_t bytes;
  size_t capacity;
  char *utf8;  // [bytes] and a 0 behind them
} heap_string;

extern struct objc_class OBJC_CLASS_$_MettleString;
extern struct objc_class OBJC_CLASS_$_MettleMutableString;

// --- Making ------------------------------------------------------------------

static void reserve(heap_string *string, size_t bytes) {
  if (bytes + 1 > string->capacity) {
    const size_t wanted = string->capacity ? 2 * string->capacity : 0;
    const size_t capacity = bytes + 1 > wanted ? bytes + 1 : wanted;
    char *grown = realloc(string->utf8, capacity);
    if (!grown) {
      runtime_fail("no memory for a string of %zu bytes", bytes);
    }
    string->utf8 = grown;
    string->capacity = capacity;
  }
}

static void append(heap_string *string, const char *utf8, size_t bytes) {
  reserve(string, string->bytes + bytes);
  memcpy(string->utf8 + string->bytes, utf8, bytes);
  string->bytes += bytes;
  string->utf8[string->bytes] = 0;
}

static id create(Class class, const char *utf8, size_t bytes) {
  heap_string *string = (heap_string *)instance_create(class, 0);
  append(string, utf8 ? utf8 : "", utf8 ? bytes : 0);
  return &string->object;
}

id string_create_bytes(const char *utf8, size_t bytes) {
  return create(&OBJC_CLASS_$_MettleString, utf8, bytes);
}

id string_create(const char *utf8) {
  return string_create_bytes(utf8, utf8 ? strlen(utf8) : 0);
}

id string_make(const char *utf8) {
  return objc_autorelease(string_create(utf8));
}

id string_make_bytes(const char *utf8, size_t bytes) {
  return objc_autorelease(string_create_bytes(utf8, bytes));
}

id string_make_printf(const char *format, ...) {
  char *text = NULL;
  va_list arguments;
  va_start(arguments, format);
  const int bytes = vasprintf(&text, format, arguments);
  va_end(arguments);
  const id string = string_make_bytes(text, bytes < 0 ? 0 : (size_t)bytes);
  free(text);
  return string;
}

const char *string_utf8(id string) {
  return string ? SEND(const char *(*)(id, SEL), string, "UTF8String") : "";
}

bool string_equals(id one, id other) {
  return one == other ||
         (one && other && !strcmp(string_utf8(one), string_utf8(other)));
}

// --- On the heap -------------------------------------------------------------

static void heap_dealloc(id self, SEL _cmd) {
  (void)_cmd;
  free(((heap_string *)self)->utf8);
  instance_dispose(self);
}

static const char *heap_utf8(id self, SEL _cmd) {
  (void)_cmd;
  return ((heap_string *)self)->utf8;
}

static NSUInteger heap_length(id self, SEL _cmd) {
  (void)_cmd;
  const heap_string *string = (heap_string *)self;
  return utf16_length(string->utf8, string->bytes);
}

static id heap_copy(id self, SEL _cmd, void *zone) {
  (void)_cmd;
  (void)zone;
  return objc_retain(self);
}

METHODS(string_methods, METHOD("dealloc", "v16@0:8", heap_dealloc),
        METHOD("UTF8String", "*16@0:8", heap_utf8),
        METHOD("length", "Q16@0:8", heap_length),
        METHOD("copyWithZone:", "@24@0:8^v16", heap_copy));
DEFINE_CLASS(MettleString, NSString, sizeof(heap_string), string_methods,
             NO_METHODS);

// --- Mutable -----------------------------------------------------------------

// The bytes may move with the next change, so callers get a copy.
static const char *mutable_utf8(id self, SEL _cmd) {
  (void)_cmd;
  const heap_string *string = (heap_string *)self;
  return heap_utf8(string_make_bytes(string->utf8, string->bytes), _cmd);
}

static id mutable_copy(id self, SEL _cmd, void *zone) {
  (void)_cmd;
  (void)zone;
  const heap_string *string = (heap_string *)self;
  return string_create_bytes(string->utf8, string->bytes);
}

static void mutable_append(id self, SEL _cmd, id other) {
  (void)_cmd;
  const char *utf8 = string_utf8(other);
  append((heap_string *)self, utf8, strlen(utf8));
}

static void mutable_set(id self, SEL _cmd, id other) {
  const char *utf8 = string_utf8(other);
  char *copy = strdup(utf8);
  ((heap_string *)self)->bytes = 0;
  append((heap_string *)self, copy ? copy : "", copy ? strlen(copy) : 0);
  free(copy);
  (void)_cmd;
}

static void mutable_append_format(id self, SEL _cmd, id format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const id text = string_create_format(string_utf8(format), arguments);
  va_end(arguments);
  mutable_append(self, _cmd, text);
  objc_release(text);
}

static void mutable_replace(id self, SEL _cmd, NSRange range, id other) {
  (void)_cmd;
  heap_string *string = (heap_string *)self;
  const size_t length = utf16_length(string->utf8, string->bytes);
  if (range.location > length || range.length > length - range.location) {
    exception_raise("NSRangeException",
                    "{%lu, %lu} is outside a string of length %zu",
                    range.location, range.length, length);
  }
  const size_t first =
      utf8_offset(string->utf8, string->bytes, range.location);
  const size_t end = utf8_offset(string->utf8, string->bytes,
                                 range.location + range.length);
  char *tail = strdup(string->utf8 + end);
  const size_t tail_bytes = string->bytes - end;
  char *between = strdup(string_utf8(other));
  string->bytes = first;
  append(string, between ? between : "", between ? strlen(between) : 0);
  append(string, tail ? tail : "", tail ? tail_bytes : 0);
  free(between);
  free(tail);
}

METHODS(mutable_methods, METHOD("dealloc", "v16@0:8", heap_dealloc),
        METHOD("UTF8String", "*16@0:8", mutable_utf8),
        METHOD("length", "Q16@0:8", heap_length),
        METHOD("copyWithZone:", "@24@0:8^v16", mutable_copy),
        METHOD("appendString:", "v24@0:8@16", mutable_append),
        METHOD("setString:", "v24@0:8@16", mutable_set),
        METHOD("appendFormat:", "v24@0:8@16", mutable_append_format),
        METHOD("replaceCharactersInRange:withString:",
               "v40@0:8{_NSRange=QQ}16@32", mutable_replace));
DEFINE_CLASS(MettleMutableString, NSMutableString, sizeof(heap_string),
             mutable_methods, NO_METHODS);

id string_mutable_create(const char *utf8) {
  return create(&OBJC_CLASS_$_MettleMutableString, utf8, strlen(utf8));
}

// --- As compilers lay them out -----------------------------------------------

enum { CONSTANT_IS_UTF16 = 0x10 };  // of constant_string.flags

static const char *constant_utf8(id self, SEL _cmd) {
  (void)_cmd;
  const constant_string *string = (constant_string *)self;
  if (!(string->flags & CONSTANT_IS_UTF16)) {
    return string->bytes;
  }
  char *utf8 = malloc(3 * (size_t)string->length + 1);
  if (!utf8) {
    runtime_fail("no memory for a string");
  }
  const size_t bytes = utf8_from_utf16((const unichar *)string->bytes,
                                       (size_t)string->length, utf8);
  const id made = string_make_bytes(utf8, bytes);
  free(utf8);
  return heap_utf8(made, _cmd);
}

static NSUInteger constant_length(id self, SEL _cmd) {
  (void)_cmd;
  return (NSUInteger)((constant_string *)self)->length;
}

static id constant_self(id self, SEL _cmd) {
  (void)_cmd;
  return self;
}

static void constant_nothing(id self, SEL _cmd) {
  (void)self;
  (void)_cmd;
}

METHODS(constant_methods, METHOD("UTF8String", "*16@0:8", constant_utf8),
        METHOD("length", "Q16@0:8", constant_length),
        METHOD("retain", "@16@0:8", constant_self),
        METHOD("release", "v16@0:8", constant_nothing),
        METHOD("autorelease", "@16@0:8", constant_self),
        METHOD("copyWithZone:", "@24@0:8^v16", constant_self));
DEFINE_CLASS(__NSCFConstantString, NSString, sizeof(constant_string),
             constant_methods, NO_METHODS);
extern OBJC_EXPORT struct objc_class __CFConstantStringClassReference
    __attribute__((alias("OBJC_CLASS_$___NSCFConstantString")));

static void __attribute__((constructor(110))) make_constants_immortal(void) {
  runtime_lock();
  OBJC_CLASS_$___NSCFConstantString.data->flags |= CLASS_IMMORTAL;
  runtime_unlock();
}
