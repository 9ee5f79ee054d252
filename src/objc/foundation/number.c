// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// number.c: NSValue and NSNumber.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "objc/foundation/foundation.h"

typedef struct number {
  struct objc_object object;
  char type;  // as @encode: 'q' for signed integers, 'Q', 'd', 'f', 'B', 'c'
  union {
    int64_t integer;
    uint64_t unsigned_integer;
    double real;
  };
} number;

extern struct objc_class OBJC_CLASS_$_NSNumber;

static bool is_real(const number *value) {
  return value->type == 'd' || value->type == 'f';
}

static bool is_unsigned(const number *value) {
  return value->type == 'Q';
}

static number *create(char type) {
  number *made = (number *)CREATE(NSNumber);
  made->type = type;
  return made;
}

static id make_integer(char type, int64_t value) {
  number *made = create(type);
  made->integer = value;
  return objc_autorelease(&made->object);
}

static id make_unsigned(uint64_t value) {
  number *made = create('Q');
  made->unsigned_integer = value;
  return objc_autorelease(&made->object);
}

static id make_real(char type, double value) {
  number *made = create(type);
  made->real = value;
  return objc_autorelease(&made->object);
}

id number_make_integer(NSInteger value) {
  return make_integer('q', value);
}

id number_make_unsigned(NSUInteger value) {
  return make_unsigned(value);
}

id number_make_bool(bool value) {
  return make_integer('B', value);
}

id number_make_double(double value) {
  return make_real('d', value);
}

// --- Values ------------------------------------------------------------------

static double real_value(const number *value) {
  return is_real(value)       ? value->real
         : is_unsigned(value) ? (double)value->unsigned_integer
                              : (double)value->integer;
}

static int64_t integer_value(const number *value) {
  if (!is_real(value)) {
    return value->integer;
  }
  // Outside int64_t a conversion has no defined value; take the nearest.
  if (!(value->real < 9223372036854775808.0)) {
    return value->real != value->real ? 0 : INT64_MAX;
  }
  return value->real < -9223372036854775808.0 ? INT64_MIN
                                              : (int64_t)value->real;
}

static uint64_t unsigned_value(const number *value) {
  return is_real(value) && value->real >= 9223372036854775808.0
             ? (value->real < 18446744073709551616.0 ? (uint64_t)value->real
                                                     : UINT64_MAX)
             : (uint64_t)integer_value(value);
}

#define GETTER(name, type, expression)        \
  static type name(id self, SEL _cmd) {       \
    (void)_cmd;                               \
    const number *value = (const number *)self; \
    return (type)(expression);                \
  }
GETTER(get_char, int, (signed char)integer_value(value))
GETTER(get_unsigned_char, unsigned, (unsigned char)integer_value(value))
GETTER(get_short, int, (short)integer_value(value))
GETTER(get_unsigned_short, unsigned, (unsigned short)integer_value(value))
GETTER(get_int, int, integer_value(value))
GETTER(get_unsigned_int, unsigned, integer_value(value))
GETTER(get_integer, int64_t, integer_value(value))
GETTER(get_unsigned, uint64_t, unsigned_value(value))
GETTER(get_float, float, real_value(value))
GETTER(get_double, double, real_value(value))
GETTER(get_bool, int,
       is_real(value) ? value->real != 0 : value->integer != 0)

bool number_is_bool(id self) {
  return ((const number *)self)->type == 'B';
}

static const char *get_type(id self, SEL _cmd) {
  (void)_cmd;
  switch (((const number *)self)->type) {
    case 'Q': return "Q";
    case 'd': return "d";
    case 'f': return "f";
    case 'B':  // a BOOL is a char to Foundation
    case 'c': return "c";
    case 'i': return "i";
    case 's': return "s";
    default: return "q";
  }
}

static id get_string(id self, SEL _cmd) {
  (void)_cmd;
  const number *value = (const number *)self;
  return value->type == 'd'   ? string_make_printf("%.16g", value->real)
         : value->type == 'f' ? string_make_printf("%.7g", value->real)
         : is_unsigned(value)
             ? string_make_printf("%lu", (unsigned long)value->integer)
             : string_make_printf("%ld", (long)value->integer);
}

static NSUInteger number_hash(id self, SEL _cmd) {
  (void)_cmd;
  const number *value = (const number *)self;
  // Equal numbers of different types hash alike.
  return is_real(value) && floor(value->real) != value->real
             ? (NSUInteger)(value->real * 2654435761.0)
             : (NSUInteger)integer_value(value) * 2654435761u;
}

static NSInteger compare(const number *one, const number *other) {
  if (is_real(one) || is_real(other)) {
    const double a = real_value(one), b = real_value(other);
    return (a > b) - (a < b);
  }
  if (is_unsigned(one) != is_unsigned(other)) {
    const number *sign = is_unsigned(one) ? other : one;
    if (sign->integer < 0) {
      return sign == one ? -1 : 1;
    }
  }
  return is_unsigned(one) || is_unsigned(other)
             ? (one->unsigned_integer > other->unsigned_integer) -
                   (one->unsigned_integer < other->unsigned_integer)
             : (one->integer > other->integer) -
                   (one->integer < other->integer);
}

static NSInteger number_compare(id self, SEL _cmd, id other) {
  (void)_cmd;
  return compare((const number *)self, (const number *)other);
}

static int number_is_equal(id self, SEL _cmd, id other) {
  (void)_cmd;
  return other &&
         SEND(int (*)(id, SEL, Class), other,
              "isKindOfClass:", &OBJC_CLASS_$_NSNumber) &&
         compare((const number *)self, (const number *)other) == 0;
}

// --- Making ------------------------------------------------------------------

#define MAKER(name, type, call)                        \
  static id make_##name(Class self, SEL _cmd, type value) { \
    (void)self;                                        \
    (void)_cmd;                                        \
    return call;                                       \
  }                                                    \
  static id init_##name(id self, SEL _cmd, type value) { \
    (void)_cmd;                                        \
    instance_dispose(self);                            \
    return objc_retain(call);                          \
  }
MAKER(from_char, signed char, make_integer('c', value))
MAKER(from_bool, int, number_make_bool((value & 0xff) != 0))
MAKER(from_unsigned_char, unsigned char, make_integer('s', value))
MAKER(from_short, short, make_integer('s', value))
MAKER(from_unsigned_short, unsigned short, make_integer('i', value))
MAKER(from_int, int, make_integer('i', value))
MAKER(from_unsigned_int, unsigned, make_integer('q', value))
MAKER(from_integer, int64_t, make_integer('q', value))
MAKER(from_unsigned, uint64_t, make_unsigned(value))
MAKER(from_float, float, make_real('f', value))
MAKER(from_double, double, make_real('d', value))

METHODS(
    number_methods, METHOD("charValue", "c16@0:8", get_char),
    METHOD("unsignedCharValue", "C16@0:8", get_unsigned_char),
    METHOD("shortValue", "s16@0:8", get_short),
    METHOD("unsignedShortValue", "S16@0:8", get_unsigned_short),
    METHOD("intValue", "i16@0:8", get_int),
    METHOD("unsignedIntValue", "I16@0:8", get_unsigned_int),
    METHOD("longValue", "q16@0:8", get_integer),
    METHOD("longLongValue", "q16@0:8", get_integer),
    METHOD("integerValue", "q16@0:8", get_integer),
    METHOD("unsignedLongValue", "Q16@0:8", get_unsigned),
    METHOD("unsignedLongLongValue", "Q16@0:8", get_unsigned),
    METHOD("unsignedIntegerValue", "Q16@0:8", get_unsigned),
    METHOD("floatValue", "f16@0:8", get_float),
    METHOD("doubleValue", "d16@0:8", get_double),
    METHOD("boolValue", "B16@0:8", get_bool),
    METHOD("objCType", "*16@0:8", get_type),
    METHOD("stringValue", "@16@0:8", get_string),
    METHOD("description", "@16@0:8", get_string),
    METHOD("hash", "Q16@0:8", number_hash),
    METHOD("isEqual:", "B24@0:8@16", number_is_equal),
    METHOD("isEqualToNumber:", "B24@0:8@16", number_is_equal),
    METHOD("compare:", "q24@0:8@16", number_compare),
    METHOD("initWithChar:", "@20@0:8c16", init_from_char),
    METHOD("initWithBool:", "@20@0:8B16", init_from_bool),
    METHOD("initWithUnsignedChar:", "@20@0:8C16", init_from_unsigned_char),
    METHOD("initWithShort:", "@20@0:8s16", init_from_short),
    METHOD("initWithUnsignedShort:", "@20@0:8S16", init_from_unsigned_short),
    METHOD("initWithInt:", "@20@0:8i16", init_from_int),
    METHOD("initWithUnsignedInt:", "@20@0:8I16", init_from_unsigned_int),
    METHOD("initWithLong:", "@24@0:8q16", init_from_integer),
    METHOD("initWithLongLong:", "@24@0:8q16", init_from_integer),
    METHOD("initWithInteger:", "@24@0:8q16", init_from_integer),
    METHOD("initWithUnsignedLong:", "@24@0:8Q16", init_from_unsigned),
    METHOD("initWithUnsignedLongLong:", "@24@0:8Q16", init_from_unsigned),
    METHOD("initWithUnsignedInteger:", "@24@0:8Q16", init_from_unsigned),
    METHOD("initWithFloat:", "@20@0:8f16", init_from_float),
    METHOD("initWithDouble:", "@24@0:8d16", init_from_double));

METHODS(
    number_class_methods, METHOD("numberWithChar:", "@20@0:8c16", make_from_char),
    METHOD("numberWithBool:", "@20@0:8B16", make_from_bool),
    METHOD("numberWithUnsignedChar:", "@20@0:8C16", make_from_unsigned_char),
    METHOD("numberWithShort:", "@20@0:8s16", make_from_short),
    METHOD("numberWithUnsignedShort:", "@20@0:8S16", make_from_unsigned_short),
    METHOD("numberWithInt:", "@20@0:8i16", make_from_int),
    METHOD("numberWithUnsignedInt:", "@20@0:8I16", make_from_unsigned_int),
    METHOD("numberWithLong:", "@24@0:8q16", make_from_integer),
    METHOD("numberWithLongLong:", "@24@0:8q16", make_from_integer),
    METHOD("numberWithInteger:", "@24@0:8q16", make_from_integer),
    METHOD("numberWithUnsignedLong:", "@24@0:8Q16", make_from_unsigned),
    METHOD("numberWithUnsignedLongLong:", "@24@0:8Q16", make_from_unsigned),
    METHOD("numberWithUnsignedInteger:", "@24@0:8Q16", make_from_unsigned),
    METHOD("numberWithFloat:", "@20@0:8f16", make_from_float),
    METHOD("numberWithDouble:", "@24@0:8d16", make_from_double));
DEFINE_CLASS(NSNumber, NSValue, sizeof(number), number_methods,
             &number_class_methods);

// --- NSValue -----------------------------------------------------------------

typedef struct value {
  struct objc_object object;
  char *type;
  size_t bytes;
  void *contents;
} value;

extern struct objc_class OBJC_CLASS_$_MettleValue;
extern struct objc_class OBJC_CLASS_$_NSValue;

// Returns the size of a type by its encoding, 0 if that is no simple type.
static size_t encoded_size(const char *type) {
  switch (*type) {
    case 'c':
    case 'C':
    case 'B': return 1;
    case 's':
    case 'S': return 2;
    case 'i':
    case 'I':
    case 'f': return 4;
    case '{': {
      size_t bytes = 0;
      const char *at = strchr(type, '=');
      for (at = at ? at + 1 : ""; *at && *at != '}'; ++at) {
        const size_t each = encoded_size(at);
        bytes = each ? (bytes + each - 1) / each * each + each : bytes;
      }
      return bytes;
    }
    default: return 8;
  }
}

static id value_create(const void *contents, const char *type) {
  value *made = (value *)CREATE(MettleValue);
  made->type = strdup(type);
  made->bytes = encoded_size(type);
  made->contents = malloc(made->bytes + 1);
  if (made->contents) {
    memcpy(made->contents, contents, made->bytes);
  }
  return &made->object;
}

static void value_dealloc(id self, SEL _cmd) {
  (void)_cmd;
  free(((value *)self)->type);
  free(((value *)self)->contents);
  instance_dispose(self);
}

static void value_get(id self, SEL _cmd, void *out) {
  (void)_cmd;
  memcpy(out, ((value *)self)->contents, ((value *)self)->bytes);
}

static void value_get_size(id self, SEL _cmd, void *out, NSUInteger bytes) {
  (void)_cmd;
  const value *from = (value *)self;
  memcpy(out, from->contents, bytes < from->bytes ? bytes : from->bytes);
}

static const char *value_type(id self, SEL _cmd) {
  (void)_cmd;
  return ((value *)self)->type;
}

static void *value_pointer(id self, SEL _cmd) {
  (void)_cmd;
  return *(void **)((value *)self)->contents;
}

METHODS(value_methods, METHOD("dealloc", "v16@0:8", value_dealloc),
        METHOD("getValue:", "v24@0:8^v16", value_get),
        METHOD("getValue:size:", "v32@0:8^v16Q24", value_get_size),
        METHOD("objCType", "*16@0:8", value_type),
        METHOD("pointerValue", "^v16@0:8", value_pointer),
        METHOD("nonretainedObjectValue", "@16@0:8", value_pointer));
DEFINE_CLASS(MettleValue, NSValue, sizeof(value), value_methods, NO_METHODS);

static id value_make(Class self, SEL _cmd, const void *contents,
                     const char *type) {
  (void)self;
  (void)_cmd;
  return objc_autorelease(value_create(contents, type));
}

static id value_make_range(Class self, SEL _cmd, NSRange range) {
  return value_make(self, _cmd, &range, "{_NSRange=QQ}");
}

static NSRange abstract_range(id self, SEL _cmd) {
  NSRange range = {0, 0};
  (void)_cmd;
  SEND(void (*)(id, SEL, void *, NSUInteger), self, "getValue:size:", &range,
       sizeof range);
  return range;
}

static id value_make_pointer(Class self, SEL _cmd, const void *pointer) {
  return value_make(self, _cmd, &pointer, "^v");
}

static id abstract_copy(id self, SEL _cmd, void *zone) {
  (void)_cmd;
  (void)zone;
  return objc_retain(self);
}

METHODS(abstract_methods,
        METHOD("rangeValue", "{_NSRange=QQ}16@0:8", abstract_range),
        METHOD("copyWithZone:", "@24@0:8^v16", abstract_copy));
METHODS(abstract_class_methods,
        METHOD("valueWithBytes:objCType:", "@32@0:8^v16*24", value_make),
        METHOD("value:withObjCType:", "@32@0:8^v16*24", value_make),
        METHOD("valueWithRange:", "@32@0:8{_NSRange=QQ}16", value_make_range),
        METHOD("valueWithPointer:", "@24@0:8^v16", value_make_pointer),
        METHOD("valueWithNonretainedObject:", "@24@0:8@16",
               value_make_pointer));
DEFINE_CLASS(NSValue, NSObject, sizeof(struct objc_object), abstract_methods,
             &abstract_class_methods);
