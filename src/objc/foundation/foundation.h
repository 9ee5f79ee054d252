// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// foundation.h: Foundation's objects for our own C code. A function called
// create returns the caller's reference, one called make an autoreleased
// object.
#ifndef METTLE_OBJC_FOUNDATION_H
#define METTLE_OBJC_FOUNDATION_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "objc/runtime/abi.h"
#include "objc/runtime/class.h"
#include "objc/runtime/define.h"
#include "objc/runtime/exception.h"
#include "objc/runtime/memory/instance.h"
#include "objc/runtime/memory/pool.h"
#include "objc/runtime/message/message.h"

typedef unsigned long NSUInteger;
typedef long NSInteger;
typedef uint16_t unichar;

typedef struct NSRange {
  NSUInteger location;
  NSUInteger length;
} NSRange;

#define NSNotFound ((NSUInteger)INTPTR_MAX)

typedef enum string_encoding {
  ENCODING_ASCII = 1,
  ENCODING_UTF8 = 4,
  ENCODING_LATIN1 = 5,
  ENCODING_UTF16 = 10,
  ENCODING_UTF16_LITTLE_ENDIAN = 0x94000100u,
} string_encoding;

// Makes an instance of a class by its C name, with one reference, all zeros.
#define CREATE(name) instance_create(&OBJC_CLASS_$_##name, 0)

// Returns the object of class that *shared holds, made by the first caller.
id shared_instance(_Atomic(id) *shared, Class class);

// --- Strings -----------------------------------------------------------------

// Make a string from UTF-8; bytes counts as strlen.
id string_create(const char *utf8);
id string_create_bytes(const char *utf8, size_t bytes);
id string_make(const char *utf8);
id string_make_bytes(const char *utf8, size_t bytes);
__attribute__((format(printf, 1, 2))) id string_make_printf(const char *format,
                                                            ...);
// Formats as Foundation does, with %@ for objects.
id string_create_format(const char *format, va_list arguments);

// Returns a string's UTF-8, valid as long as the string and the pool. "" for
// nil.
const char *string_utf8(id string);
bool string_equals(id one, id other);

// Returns the number of UTF-16 units of bytes of UTF-8.
size_t utf16_length(const char *utf8, size_t bytes);
// Returns where the UTF-16 unit with this index begins.
size_t utf8_offset(const char *utf8, size_t bytes, size_t unit_index);
// Returns the UTF-16 unit with this index, which is below utf16_length.
unichar utf16_unit(const char *utf8, size_t bytes, size_t unit_index);
// Writes the units of UTF-8 to out, which has room for one a byte, and returns
// their number.
size_t utf16_from_utf8(const char *utf8, size_t bytes, unichar *out);
// Writes the UTF-8 of a code point, 1 to 4 bytes; returns where it ends.
char *utf8_put(char *out, uint32_t character);
// Writes the UTF-8 of units [count] to out, which has room for 3 * count, and
// returns its bytes.
size_t utf8_from_utf16(const unichar *units, size_t count, char *out);

// True if an NSCharacterSet holds the UTF-16 unit.
bool character_set_has(id set, unichar unit);

// --- Collections -------------------------------------------------------------

id array_create(const id *objects, size_t count);
id array_make(const id *objects, size_t count);
id mutable_array_create(void);
id dictionary_create(void);  // mutable
void dictionary_set(id dictionary, id key, id value);
// Sets a value and retains the key, of any class, instead of copying it.
// dictionary is from dictionary_create.
void dictionary_set_uncopied(id dictionary, id key, id value);
id dictionary_get(id dictionary, id key);
id number_make_integer(NSInteger value);
id number_make_unsigned(NSUInteger value);
id number_make_double(double value);
id number_make_bool(bool value);
// True if number was made by numberWithBool:.
bool number_is_bool(id number);
id data_make(const void *bytes, size_t length);

// Return the count and the objects of an NSArray.
size_t array_count(id array);
id array_at(id array, size_t index);

// Adds to an NSMutableArray.
void array_add(id array, id object);
// Makes an NSArray of all elements of a collection, or of anything that for-in
// accepts.
id array_make_of(id enumerable);
// True if object is of class or of one below it; false for nil.
bool object_is(id object, Class class);
// True if both are nil or isEqual: is.
bool objects_equal(id one, id other);

// The state of a for-in loop (NSFastEnumerationState): a run of objects, and a
// word that changes when the collection is mutated.
typedef struct enumeration {
  unsigned long state;
  id *items;
  unsigned long *mutations;
  unsigned long extra[5];
} enumeration;
// Gives the next objects of an NSArray, at most room_count, in room, and
// returns how many: 0 at the end. state->state counts those given.
NSUInteger array_enumerate(id array, enumeration *state, id *room,
                           NSUInteger room_count);

// --- Errors ------------------------------------------------------------------

// Sets *out_error, where the caller gave one, to an NSError with this
// localizedDescription.
void error_set(id *out_error, id domain, NSInteger code, const char *text);
// Prints an error if METTLE_OBJC_DEBUG has the word errors: the caller may
// never read its NSError.
void error_tell(id domain, const char *text);
id error_make(id domain, NSInteger code, const char *text);
// Makes an error with value under key in its userInfo, too.
id error_make_with(id domain, NSInteger code, const char *text, const char *key,
                   id value);

// A constant NSString as compilers lay out @"...", for exported constants.
typedef struct constant_string {
  Class isa;
  int flags;
  const char *bytes;
  long length;
} constant_string;

extern struct objc_class __CFConstantStringClassReference;
#define CONSTANT_STRING(symbol, text)                                   \
  static constant_string symbol##_storage = {                           \
      &__CFConstantStringClassReference, 0x7c8, text, sizeof text - 1}; \
  OBJC_EXPORT id const symbol = (id) & symbol##_storage

#endif
