// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// key_value.c: key-value coding: valueForKey: and related methods, by accessors
// or instance variables. key_observing.c has observers.
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "objc/foundation/foundation.h"
#include "objc/foundation/messages/key_names.h"

extern struct objc_class OBJC_CLASS_$_NSNumber;
extern struct objc_class OBJC_CLASS_$_NSArray;
extern struct objc_class OBJC_CLASS_$_NSSet;
extern struct objc_class OBJC_CLASS_$_NSMutableDictionary;

typedef struct ivar ivar_handle;
extern ivar_handle *class_getInstanceVariable(Class class, const char *name);
extern const char *ivar_getTypeEncoding(const ivar_handle *of);
extern ptrdiff_t ivar_getOffset(const ivar_handle *of);
extern void *class_getInstanceMethod(Class class, SEL selector);
extern const char *method_getTypeEncoding(void *getter_or_setter);
extern SEL sel_registerName(const char *name);
extern const char *class_getName(Class class);

static __attribute__((noreturn)) void undefined(id self, const char *key) {
  exception_raise("NSUnknownKeyException",
                  "[<%s> valueForUndefinedKey:]: this class is not key value "
                  "coding-compliant for the key %s",
                  class_getName(self->isa), key);
}

void key_name(char *out, const char *prefix, const char *key, bool upper,
              const char *suffix) {
  const int first = upper ? toupper((unsigned char)*key) : *key;
  snprintf(out, KEY_NAME_BYTES, "%s%c%s%s", prefix, first, *key ? key + 1 : "",
           suffix);
}

// --- Values as objects -------------------------------------------------------

#define AS(type, read) SEND(id (*)(id, SEL, type), number, read, *(type *)place)

// Returns the object for a value of an encoded type at place. Returns NULL and
// sets *out_known to false if the type has none.
static id boxed(const char *type, void *place, bool *out_known) {
  const id number = (id)&OBJC_CLASS_$_NSNumber;
  *out_known = true;
  switch (*type) {
    case '@':
    case '#': return *(id *)place;
    case 'c': return AS(char, "numberWithChar:");
    case 'C': return AS(unsigned char, "numberWithUnsignedChar:");
    case 's': return AS(short, "numberWithShort:");
    case 'S': return AS(unsigned short, "numberWithUnsignedShort:");
    case 'i': return AS(int, "numberWithInt:");
    case 'I': return AS(unsigned, "numberWithUnsignedInt:");
    case 'l':
    case 'q': return AS(long, "numberWithLong:");
    case 'L':
    case 'Q': return AS(unsigned long, "numberWithUnsignedLong:");
    case 'f': return AS(float, "numberWithFloat:");
    case 'd': return AS(double, "numberWithDouble:");
    case 'B': return number_make_bool(*(_Bool *)place);
    default: *out_known = false; return NULL;
  }
}

// Calls a getter, and stores its result at out, by the kind of its type.
static bool call_getter(id self, SEL selector, const char *type, void *out) {
  switch (*type) {
    case 'f':
      *(float *)out = ((float (*)(id, SEL))objc_msgSend)(self, selector);
      return true;
    case 'd':
      *(double *)out = ((double (*)(id, SEL))objc_msgSend)(self, selector);
      return true;
    case '{':
    case '(':
    case '[':
    case 'D': return false;
    default:
      *(uint64_t *)out = ((uint64_t (*)(id, SEL))objc_msgSend)(self, selector);
      return true;
  }
}

static void store(id object, const char *type, void *place) {
  switch (*type) {
    case 'c':
    case 'C':
    case 'B':
      *(signed char *)place =
          (signed char)SEND(int (*)(id, SEL), object, "intValue");
      break;
    case 's':
    case 'S':
      *(short *)place = (short)SEND(int (*)(id, SEL), object, "intValue");
      break;
    case 'i':
    case 'I':
      *(int *)place = (int)SEND(long (*)(id, SEL), object, "longValue");
      break;
    case 'f':
      *(float *)place = SEND(float (*)(id, SEL), object, "floatValue");
      break;
    case 'd':
      *(double *)place = SEND(double (*)(id, SEL), object, "doubleValue");
      break;
    default:
      *(long *)place = SEND(long (*)(id, SEL), object, "longValue");
      break;
  }
}

// --- valueForKey: ------------------------------------------------------------

static ivar_handle *find_ivar(id self, const char *key) {
  char text[KEY_NAME_BYTES];
  static const struct {
    const char *prefix;
    bool upper;
  } names[] = {{"_", false}, {"_is", true}, {"", false}, {"is", true}};
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
    key_name(text, names[i].prefix, key, names[i].upper, "");
    ivar_handle *found = class_getInstanceVariable(self->isa, text);
    if (found) {
      return found;
    }
  }
  return NULL;
}

static id value_for_key(id self, SEL _cmd, id key_string) {
  (void)_cmd;
  const char *key = string_utf8(key_string);
  static const struct {
    const char *prefix;
    bool upper;
  } getters[] = {{"get", true}, {"", false}, {"is", true}, {"_", false}};
  char text[KEY_NAME_BYTES];
  uint64_t value[2] = {0};
  bool has_value = false;
  for (size_t i = 0; i < sizeof getters / sizeof *getters; ++i) {
    key_name(text, getters[i].prefix, key, getters[i].upper, "");
    const SEL selector = sel_registerName(text);
    void *getter_or_setter = class_getInstanceMethod(self->isa, selector);
    if (getter_or_setter) {
      const char *type = method_getTypeEncoding(getter_or_setter);
      const id object = call_getter(self, selector, type, value)
                            ? boxed(type, value, &has_value)
                            : NULL;
      if (has_value) {
        return object;
      }
    }
  }
  ivar_handle *found = find_ivar(self, key);
  if (found) {
    const id object = boxed(ivar_getTypeEncoding(found),
                            (char *)self + ivar_getOffset(found), &has_value);
    if (has_value) {
      return object;
    }
  }
  return SEND(id(*)(id, SEL, id), self, "valueForUndefinedKey:", key_string);
}

static id value_undefined(id self, SEL _cmd, id key) {
  (void)_cmd;
  undefined(self, string_utf8(key));
}

static id value_for_path(id self, SEL _cmd, id path) {
  (void)_cmd;
  const char *text = string_utf8(path), *dot = strchr(text, '.');
  if (!dot || *text == '@') {
    return SEND(id(*)(id, SEL, id), self, "valueForKey:", path);
  }
  const id head = string_make_bytes(text, (size_t)(dot - text));
  const id next = SEND(id(*)(id, SEL, id), self, "valueForKey:", head);
  return SEND(id(*)(id, SEL, id), next,
              "valueForKeyPath:", string_make(dot + 1));
}

// --- setValue:forKey: --------------------------------------------------------

static bool call_setter(id self, SEL selector, const char *type, id object) {
  uint64_t value = 0;
  switch (*type) {
    case '@':
    case '#':
      ((void (*)(id, SEL, id))objc_msgSend)(self, selector, object);
      return true;
    case 'f':
      ((void (*)(id, SEL, float))objc_msgSend)(
          self, selector, SEND(float (*)(id, SEL), object, "floatValue"));
      return true;
    case 'd':
      ((void (*)(id, SEL, double))objc_msgSend)(
          self, selector, SEND(double (*)(id, SEL), object, "doubleValue"));
      return true;
    case '{':
    case '(':
    case '[':
    case '^': return false;
    default:
      store(object, type, &value);
      ((void (*)(id, SEL, uint64_t))objc_msgSend)(self, selector, value);
      return true;
  }
}

// Returns the type of a method's first argument, behind "v24@0:8".
static const char *argument_type(const char *types) {
  const char *colon = strchr(types, ':');
  return colon ? colon + 1 + strspn(colon + 1, "0123456789") : "";
}

static void set_value(id self, SEL _cmd, id object, id key_string) {
  (void)_cmd;
  const char *key = string_utf8(key_string);
  char text[KEY_NAME_BYTES];
  key_name(text, "set", key, true, ":");
  const SEL selector = sel_registerName(text);
  void *getter_or_setter = class_getInstanceMethod(self->isa, selector);
  if (getter_or_setter &&
      call_setter(self, selector,
                  argument_type(method_getTypeEncoding(getter_or_setter)),
                  object)) {
    return;
  }
  ivar_handle *found = find_ivar(self, key);
  if (!found) {
    SEND(void (*)(id, SEL, id, id), self, "setValue:forUndefinedKey:", object,
         key_string);
    return;
  }
  const char *type = ivar_getTypeEncoding(found);
  void *place = (char *)self + ivar_getOffset(found);
  SEND(void (*)(id, SEL, id), self, "willChangeValueForKey:", key_string);
  if (*type == '@') {
    const id old = *(id *)place;
    *(id *)place = objc_retain(object);
    objc_release(old);
  } else {
    store(object, type, place);
  }
  SEND(void (*)(id, SEL, id), self, "didChangeValueForKey:", key_string);
}

static void set_undefined(id self, SEL _cmd, id object, id key) {
  (void)_cmd;
  (void)object;
  undefined(self, string_utf8(key));
}

static void set_path(id self, SEL _cmd, id object, id path) {
  (void)_cmd;
  const char *text = string_utf8(path), *dot = strrchr(text, '.');
  id owner = self, key = path;
  if (dot) {
    owner = value_for_path(self, _cmd,
                           string_make_bytes(text, (size_t)(dot - text)));
    key = string_make(dot + 1);
  }
  SEND(void (*)(id, SEL, id, id), owner, "setValue:forKey:", object, key);
}

static id values_for_keys(id self, SEL _cmd, id keys) {
  (void)_cmd;
  const id made = objc_autorelease(dictionary_create());
  const size_t count = array_count(keys);
  for (size_t i = 0; i < count; ++i) {
    const id key = array_at(keys, i);
    const id value = SEND(id(*)(id, SEL, id), self, "valueForKey:", key);
    if (value) {
      dictionary_set(made, key, value);
    }
  }
  return made;
}

METHODS(object_methods, METHOD("valueForKey:", "@24@0:8@16", value_for_key),
        METHOD("valueForUndefinedKey:", "@24@0:8@16", value_undefined),
        METHOD("valueForKeyPath:", "@24@0:8@16", value_for_path),
        METHOD("setValue:forKey:", "v32@0:8@16@24", set_value),
        METHOD("setValue:forUndefinedKey:", "v32@0:8@16@24", set_undefined),
        METHOD("setValue:forKeyPath:", "v32@0:8@16@24", set_path),
        METHOD("dictionaryWithValuesForKeys:", "@24@0:8@16", values_for_keys));
DEFINE_CATEGORY(NSObject, key_values, object_methods);

// --- Collections: a key's values of all members ------------------------------

static double sum_of(id all, const char *path) {
  double sum = 0;
  const size_t count = array_count(all);
  for (size_t i = 0; i < count; ++i) {
    const id value = SEND(id(*)(id, SEL, id), array_at(all, i),
                          "valueForKeyPath:", string_make(path));
    sum += SEND(double (*)(id, SEL), value, "doubleValue");
  }
  return sum;
}

// Returns the largest (order 1) or smallest (order -1) value.
static id extreme_of(id all, const char *path, NSInteger order) {
  id found = NULL;
  const size_t count = array_count(all);
  for (size_t i = 0; i < count; ++i) {
    const id value = SEND(id(*)(id, SEL, id), array_at(all, i),
                          "valueForKeyPath:", string_make(path));
    if (!found ||
        SEND(NSInteger(*)(id, SEL, id), value, "compare:", found) == order) {
      found = value;
    }
  }
  return found;
}

static id array_values(id self, SEL _cmd, id key) {
  (void)_cmd;
  if (string_equals(key, string_make("@count"))) {
    return number_make_unsigned(array_count(self));
  }
  extern struct objc_class OBJC_CLASS_$_NSNull;
  const id made = objc_autorelease(mutable_array_create());
  const size_t count = array_count(self);
  for (size_t i = 0; i < count; ++i) {
    const id value =
        SEND(id(*)(id, SEL, id), array_at(self, i), "valueForKey:", key);
    array_add(
        made,
        value ? value : SEND(id(*)(id, SEL), (id)&OBJC_CLASS_$_NSNull, "null"));
  }
  return made;
}

static id array_values_path(id self, SEL _cmd, id path) {
  const char *text = string_utf8(path), *dot = strchr(text, '.');
  if (*text != '@' || !dot) {
    return value_for_path(self, _cmd, path);
  }
  const size_t bytes = (size_t)(dot - text), count = array_count(self);
  if (bytes == 4 && !strncmp(text, "@sum", 4)) {
    return number_make_double(sum_of(self, dot + 1));
  }
  if (bytes == 4 && !strncmp(text, "@avg", 4)) {
    return number_make_double(count ? sum_of(self, dot + 1) / (double)count
                                    : 0);
  }
  if (bytes == 4 && !strncmp(text, "@max", 4)) {
    return extreme_of(self, dot + 1, 1);
  }
  if (bytes == 4 && !strncmp(text, "@min", 4)) {
    return extreme_of(self, dot + 1, -1);
  }
  return SEND(id(*)(id, SEL, id), self, "valueForUndefinedKey:", path);
}

METHODS(array_methods, METHOD("valueForKey:", "@24@0:8@16", array_values),
        METHOD("valueForKeyPath:", "@24@0:8@16", array_values_path));
DEFINE_CATEGORY(NSArray, key_values, array_methods);

static void dictionary_set_value(id self, SEL _cmd, id object, id key) {
  (void)_cmd;
  if (object) {
    SEND(void (*)(id, SEL, id, id), self, "setObject:forKey:", object, key);
  } else {
    SEND(void (*)(id, SEL, id), self, "removeObjectForKey:", key);
  }
}

METHODS(dictionary_methods,
        METHOD("setValue:forKey:", "v32@0:8@16@24", dictionary_set_value));
DEFINE_CATEGORY(NSMutableDictionary, key_values, dictionary_methods);
