// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// description.c: how collections describe themselves: as property lists of the
// old style, a member a line, strings in quotes unless they are words.
//
// Source  Apple: -[NSDictionary description], -[NSArray
//         descriptionWithLocale:indent:]
#include <ctype.h>
#include <string.h>

#include "objc/foundation/foundation.h"

enum { INDENT = 4 };

extern struct objc_class OBJC_CLASS_$_NSArray;
extern struct objc_class OBJC_CLASS_$_NSDictionary;
extern struct objc_class OBJC_CLASS_$_NSMutableString;
extern struct objc_class OBJC_CLASS_$_NSSet;
extern struct objc_class OBJC_CLASS_$_NSString;

static void append(id text, id more) {
  SEND(void (*)(id, SEL, id), text, "appendString:", more);
}

static bool is_word(const char *text) {
  const char *at = text;
  while (isalnum((unsigned char)*at) || *at == '_') {
    ++at;
  }
  return at > text && !*at;
}

static id quoted(id string) {
  const char *utf8 = string_utf8(string);
  if (is_word(utf8)) {
    return string;
  }
  const id out = SEND(id(*)(id, SEL), CLASS_OF(NSMutableString), "string");
  const size_t bytes = strlen(utf8);
  const size_t count = utf16_length(utf8, bytes);
  for (size_t i = 0; i < count; ++i) {
    const unichar unit = utf16_unit(utf8, bytes, i);
    append(out, unit == '\n'                  ? string_make("\\n")
                : unit == '\t'                ? string_make("\\t")
                : unit == '"' || unit == '\\' ? string_make_printf("\\%c", unit)
                : unit < 0x80                 ? string_make_printf("%c", unit)
                              : string_make_printf("\\U%04x", unit));
  }
  return string_make_printf("\"%s\"", string_utf8(out));
}

// Describes what a collection holds.
static id member(id object, NSUInteger level) {
  if (object_is(object, &OBJC_CLASS_$_NSArray) ||
      object_is(object, &OBJC_CLASS_$_NSDictionary) ||
      object_is(object, &OBJC_CLASS_$_NSSet)) {
    return SEND(id(*)(id, SEL, id, NSUInteger), object,
                "descriptionWithLocale:indent:", NULL, level);
  }
  return quoted(SEND(id(*)(id, SEL), object, "description"));
}

static id margin(NSUInteger level) {
  return string_make_printf("%*s", (int)(INDENT * level), "");
}

static id list(id members, NSUInteger level, const char *open,
               const char *close) {
  const id out = SEND(id(*)(id, SEL), CLASS_OF(NSMutableString), "string");
  const char *before = string_utf8(margin(level));
  append(out, string_make_printf("%s%s\n", before, open));
  const size_t count = array_count(members);
  for (size_t i = 0; i < count; ++i) {
    append(out, margin(level + 1));
    append(out, member(array_at(members, i), level + 1));
    append(out, string_make(i + 1 < count ? ",\n" : "\n"));
  }
  append(out, string_make_printf("%s%s", before, close));
  return out;
}

static id array_describe(id self, SEL _cmd, id locale, NSUInteger level) {
  (void)_cmd;
  (void)locale;
  return list(self, level, "(", ")");
}

static id set_describe(id self, SEL _cmd, id locale, NSUInteger level) {
  (void)_cmd;
  (void)locale;
  return list(SEND(id(*)(id, SEL), self, "allObjects"), level, "{(", ")}");
}

// Returns the keys, in order if all are strings.
static id keys_of(id dictionary) {
  const id keys = SEND(id(*)(id, SEL), dictionary, "allKeys");
  for (size_t i = 0; i < array_count(keys); ++i) {
    if (!object_is(array_at(keys, i), &OBJC_CLASS_$_NSString)) {
      return keys;
    }
  }
  return SEND(id(*)(id, SEL, SEL), keys,
              "sortedArrayUsingSelector:", SELECTOR("compare:"));
}

static id dictionary_describe(id self, SEL _cmd, id locale, NSUInteger level) {
  (void)_cmd;
  (void)locale;
  const id out = SEND(id(*)(id, SEL), CLASS_OF(NSMutableString), "string");
  const char *before = string_utf8(margin(level));
  append(out, string_make_printf("%s{\n", before));
  const id keys = keys_of(self);
  for (size_t i = 0; i < array_count(keys); ++i) {
    const id key = array_at(keys, i);
    append(out, margin(level + 1));
    append(out, member(key, level + 1));
    append(out, string_make(" = "));
    append(out, member(dictionary_get(self, key), level + 1));
    append(out, string_make(";\n"));
  }
  append(out, string_make_printf("%s}", before));
  return out;
}

// The same without a margin.
static id array_description(id self, SEL _cmd) {
  return array_describe(self, _cmd, NULL, 0);
}

static id set_description(id self, SEL _cmd) {
  return set_describe(self, _cmd, NULL, 0);
}

static id dictionary_description(id self, SEL _cmd) {
  return dictionary_describe(self, _cmd, NULL, 0);
}

METHODS(array_methods, METHOD("description", "@16@0:8", array_description),
        METHOD("descriptionWithLocale:indent:", "@32@0:8@16Q24",
               array_describe));
DEFINE_CATEGORY(NSArray, description, array_methods);
METHODS(set_methods, METHOD("description", "@16@0:8", set_description),
        METHOD("descriptionWithLocale:indent:", "@32@0:8@16Q24", set_describe));
DEFINE_CATEGORY(NSSet, description, set_methods);
METHODS(dictionary_methods,
        METHOD("description", "@16@0:8", dictionary_description),
        METHOD("descriptionWithLocale:indent:", "@32@0:8@16Q24",
               dictionary_describe));
DEFINE_CATEGORY(NSDictionary, description, dictionary_methods);
