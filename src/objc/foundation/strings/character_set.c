// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// character_set.c: NSCharacterSet, and the methods of NSString that take one.
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "objc/foundation/foundation.h"
#include "objc/runtime/failure.h"

typedef bool unit_test(unichar unit);

typedef struct character_set {
  struct objc_object object;
  unit_test *test;  // NULL: the set is the list of units
  unichar *units;   // [count]
  size_t count;
  NSRange range;  // and these
  bool is_inverted;
} character_set;

extern struct objc_class OBJC_CLASS_$_NSCharacterSet;

bool character_set_has(id set, unichar unit) {
  const character_set *of = (character_set *)set;
  bool found = of->test ? of->test(unit)
                        : unit - of->range.location < of->range.length;
  for (size_t i = 0; i < of->count && !found; ++i) {
    found = of->units[i] == unit;
  }
  return found != of->is_inverted;
}

// --- Making ------------------------------------------------------------------

// Unicode's letters and digits beyond ASCII all count as letters.
static bool is_space(unichar unit) {
  return unit == ' ' || unit == '\t' || unit == 0xa0 || unit == 0x3000 ||
         (unit >= 0x2000 && unit <= 0x200b);
}

static bool is_newline(unichar unit) {
  return (unit >= '\n' && unit <= '\r') || unit == 0x85 || unit == 0x2028 ||
         unit == 0x2029;
}

static bool is_space_or_newline(unichar unit) {
  return is_space(unit) || is_newline(unit);
}

static bool is_digit(unichar unit) {
  return unit < 0x80 && isdigit(unit);
}

static bool is_letter(unichar unit) {
  return unit < 0x80 ? isalpha(unit) != 0 : unit >= 0xaa && !is_space(unit);
}

static bool is_letter_or_digit(unichar unit) {
  return is_letter(unit) || is_digit(unit);
}

static bool is_punctuation(unichar unit) {
  // Symbols are no punctuation.
  return unit < 0x80 && ispunct(unit) && !strchr("$+<=>^`|~", unit);
}

static bool is_upper(unichar unit) {
  return unit < 0x80 && isupper(unit);
}

static bool is_lower(unichar unit) {
  return unit < 0x80 && islower(unit);
}

static character_set *create(void) {
  return (character_set *)CREATE(NSCharacterSet);
}

#define MAKE(name)                               \
  static id make_##name(Class self, SEL _cmd) {  \
    (void)self;                                  \
    (void)_cmd;                                  \
    character_set *made = create();              \
    made->test = is_##name;                      \
    return objc_autorelease(&made->object);      \
  }
MAKE(space)
MAKE(newline)
MAKE(space_or_newline)
MAKE(digit)
MAKE(letter)
MAKE(letter_or_digit)
MAKE(punctuation)
MAKE(upper)
MAKE(lower)

// Returns the units of a string, to be freed.
static unichar *units_of(id string, size_t *out_count) {
  const char *utf8 = string_utf8(string);
  const size_t bytes = strlen(utf8);
  unichar *units = calloc(bytes + 1, sizeof *units);
  if (!units) {
    runtime_fail("no memory for %zu characters", bytes);
  }
  *out_count = utf16_from_utf8(utf8, bytes, units);
  return units;
}

static id make_listed(Class self, SEL _cmd, id string) {
  (void)self;
  (void)_cmd;
  character_set *made = create();
  made->units = units_of(string, &made->count);
  return objc_autorelease(&made->object);
}

static id make_range(Class self, SEL _cmd, NSRange range) {
  (void)self;
  (void)_cmd;
  character_set *made = create();
  made->range = range;
  return objc_autorelease(&made->object);
}

static id set_inverted(id self, SEL _cmd) {
  (void)_cmd;
  const character_set *from = (character_set *)self;
  character_set *made = create();
  made->test = from->test;
  made->range = from->range;
  made->is_inverted = !from->is_inverted;
  made->count = from->count;
  made->units = calloc(from->count + 1, sizeof *made->units);
  if (!made->units) {
    runtime_fail("no memory for %zu characters", from->count);
  }
  if (from->count) {
    memcpy(made->units, from->units, from->count * sizeof *made->units);
  }
  return objc_autorelease(&made->object);
}

static void set_dealloc(id self, SEL _cmd) {
  (void)_cmd;
  free(((character_set *)self)->units);
  instance_dispose(self);
}

static int set_has(id self, SEL _cmd, unichar unit) {
  (void)_cmd;
  return character_set_has(self, unit);
}

static id set_copy(id self, SEL _cmd, void *zone) {
  (void)_cmd;
  (void)zone;
  return objc_retain(self);
}

// Characters that parts of a URL may hold unescaped (RFC 3986).
#define UNRESERVED                                                           \
  "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
#define SUB_DELIMITERS "!$&'()*+,;="
#define URL_SET(name, characters)                                  \
  static id make_url_##name(Class self, SEL _cmd) {                \
    return make_listed(self, _cmd, string_make(UNRESERVED characters)); \
  }
URL_SET(host, SUB_DELIMITERS ":[]")
URL_SET(path, SUB_DELIMITERS ":@/")
URL_SET(query, SUB_DELIMITERS ":@/?")
URL_SET(user, SUB_DELIMITERS)

METHODS(set_methods, METHOD("dealloc", "v16@0:8", set_dealloc),
        METHOD("characterIsMember:", "B20@0:8S16", set_has),
        METHOD("invertedSet", "@16@0:8", set_inverted),
        METHOD("copyWithZone:", "@24@0:8^v16", set_copy));
METHODS(set_class_methods,
        METHOD("whitespaceCharacterSet", "@16@0:8", make_space),
        METHOD("newlineCharacterSet", "@16@0:8", make_newline),
        METHOD("whitespaceAndNewlineCharacterSet", "@16@0:8",
               make_space_or_newline),
        METHOD("decimalDigitCharacterSet", "@16@0:8", make_digit),
        METHOD("letterCharacterSet", "@16@0:8", make_letter),
        METHOD("alphanumericCharacterSet", "@16@0:8", make_letter_or_digit),
        METHOD("punctuationCharacterSet", "@16@0:8", make_punctuation),
        METHOD("uppercaseLetterCharacterSet", "@16@0:8", make_upper),
        METHOD("lowercaseLetterCharacterSet", "@16@0:8", make_lower),
        METHOD("characterSetWithCharactersInString:", "@24@0:8@16",
               make_listed),
        METHOD("URLHostAllowedCharacterSet", "@16@0:8", make_url_host),
        METHOD("URLPathAllowedCharacterSet", "@16@0:8", make_url_path),
        METHOD("URLQueryAllowedCharacterSet", "@16@0:8", make_url_query),
        METHOD("URLFragmentAllowedCharacterSet", "@16@0:8", make_url_query),
        METHOD("URLUserAllowedCharacterSet", "@16@0:8", make_url_user),
        METHOD("URLPasswordAllowedCharacterSet", "@16@0:8", make_url_user),
        METHOD("characterSetWithRange:", "@32@0:8{_NSRange=QQ}16",
               make_range));
DEFINE_CLASS(NSCharacterSet, NSObject, sizeof(character_set), set_methods,
             &set_class_methods);

// --- Strings -----------------------------------------------------------------

static id part(const unichar *units, size_t count) {
  char *utf8 = malloc(3 * count + 1);
  if (!utf8) {
    runtime_fail("no memory for %zu characters", count);
  }
  const id made = string_make_bytes(utf8, utf8_from_utf16(units, count, utf8));
  free(utf8);
  return made;
}

static id string_trim(id self, SEL _cmd, id set) {
  (void)_cmd;
  size_t end, first = 0;
  unichar *units = units_of(self, &end);
  while (first < end && character_set_has(set, units[first])) {
    ++first;
  }
  while (end > first && character_set_has(set, units[end - 1])) {
    --end;
  }
  const id made = part(units + first, end - first);
  free(units);
  return made;
}

static id string_split(id self, SEL _cmd, id set) {
  (void)_cmd;
  size_t count, first = 0;
  unichar *units = units_of(self, &count);
  const id parts = objc_autorelease(mutable_array_create());
  for (size_t i = 0; i <= count; ++i) {
    if (i == count || character_set_has(set, units[i])) {
      SEND(void (*)(id, SEL, id), parts, "addObject:",
           part(units + first, i - first));
      first = i + 1;
    }
  }
  free(units);
  return parts;
}

static NSRange string_find(id self, SEL _cmd, id set) {
  (void)_cmd;
  size_t count;
  unichar *units = units_of(self, &count);
  NSRange found = {NSNotFound, 0};
  for (size_t i = 0; i < count && !found.length; ++i) {
    if (character_set_has(set, units[i])) {
      found = (NSRange){i, 1};
    }
  }
  free(units);
  return found;
}

METHODS(string_methods,
        METHOD("stringByTrimmingCharactersInSet:", "@24@0:8@16", string_trim),
        METHOD("componentsSeparatedByCharactersInSet:", "@24@0:8@16",
               string_split),
        METHOD("rangeOfCharacterFromSet:", "{_NSRange=QQ}24@0:8@16",
               string_find));
extern struct objc_class OBJC_CLASS_$_NSString;
DEFINE_CATEGORY(NSString, character_sets, string_methods);
