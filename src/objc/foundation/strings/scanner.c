// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// scanner.c: NSScanner: parses words and numbers of a string in sequence.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "objc/foundation/foundation.h"
#include "objc/runtime/failure.h"

typedef struct scanner {
  struct objc_object object;
  id string;
  id skipped;  // NSCharacterSet, or NULL
  bool is_case_sensitive;
  char *text;  // of string, in UTF-8
  size_t at;   // in bytes
} scanner;

extern struct objc_class OBJC_CLASS_$_NSScanner;
extern struct objc_class OBJC_CLASS_$_NSCharacterSet;

static const char *text_of(const scanner *from) {
  return from->text;
}

// Returns the bytes of the character at text, and its first unit.
static size_t next(const char *text, unichar *out_unit) {
  const size_t bytes = strlen(text);
  *out_unit = utf16_unit(text, bytes, 0);
  const size_t one = utf8_offset(text, bytes, 1);
  return one ? one : 1;
}

// Returns where the run of characters inside, or outside, the set ends.
static size_t span(const char *text, id set, bool has) {
  size_t at = 0;
  unichar unit;
  while (text[at]) {
    const size_t bytes = next(text + at, &unit);
    if (character_set_has(set, unit) != has) {
      break;
    }
    at += bytes;
  }
  return at;
}

// Returns where scanning begins: behind skipped characters.
static size_t begin(const scanner *from) {
  const char *rest = text_of(from) + from->at;
  return from->at + (from->skipped ? span(rest, from->skipped, true) : 0);
}

// Moves to end and returns the text up to there; false if it is empty.
static int take(scanner *from, size_t first, size_t end, id *out) {
  if (end == first) {
    return 0;
  }
  if (out) {
    *out = string_make_bytes(text_of(from) + first, end - first);
  }
  from->at = end;
  return 1;
}

static int matches(const scanner *from, const char *text, const char *wanted) {
  const size_t bytes = strlen(wanted);
  return from->is_case_sensitive ? !strncmp(text, wanted, bytes)
                                 : !strncasecmp(text, wanted, bytes);
}

// --- Words -------------------------------------------------------------------

static int scan_string(id self, SEL _cmd, id wanted, id *out) {
  (void)_cmd;
  scanner *from = (scanner *)self;
  const size_t first = begin(from);
  const char *utf8 = string_utf8(wanted);
  return matches(from, text_of(from) + first, utf8) &&
         take(from, first, first + strlen(utf8), out);
}

static int scan_up_to_string(id self, SEL _cmd, id wanted, id *out) {
  (void)_cmd;
  scanner *from = (scanner *)self;
  const size_t first = begin(from);
  const char *text = text_of(from);
  const char *utf8 = string_utf8(wanted);
  size_t end = first;
  while (text[end] && !(*utf8 && matches(from, text + end, utf8))) {
    ++end;
  }
  return take(from, first, end, out);
}

static int scan_set(id self, SEL _cmd, id set, id *out) {
  (void)_cmd;
  scanner *from = (scanner *)self;
  const size_t first = begin(from);
  return take(from, first, first + span(text_of(from) + first, set, true),
              out);
}

static int scan_up_to_set(id self, SEL _cmd, id set, id *out) {
  (void)_cmd;
  scanner *from = (scanner *)self;
  const size_t first = begin(from);
  return take(from, first, first + span(text_of(from) + first, set, false),
              out);
}

// --- Numbers -----------------------------------------------------------------

// Moves on to end if a number lay there.
static int finish(scanner *from, const char *text, const char *end) {
  if (end == text) {
    return 0;
  }
  from->at += (size_t)(end - (text_of(from) + from->at));
  return 1;
}

static const char *number_at(scanner *from) {
  const char *text = text_of(from) + begin(from);
  // C accepts further forms of numbers than decimals; a scanner does not.
  return strchr("+-.0123456789", *text) && *text ? text : NULL;
}

static int scan_long(id self, SEL _cmd, long long *out) {
  (void)_cmd;
  const char *text = number_at((scanner *)self);
  char *end;
  const long long value = text ? strtoll(text, &end, 10) : 0;
  if (!text || !finish((scanner *)self, text, end)) {
    return 0;
  }
  if (out) {
    *out = value;
  }
  return 1;
}

static int scan_int(id self, SEL _cmd, int *out) {
  long long value;
  if (!scan_long(self, _cmd, &value)) {
    return 0;
  }
  if (out) {
    *out = value > INT32_MAX   ? INT32_MAX
           : value < INT32_MIN ? INT32_MIN
                               : (int)value;
  }
  return 1;
}

static int scan_hex(id self, SEL _cmd, unsigned *out) {
  (void)_cmd;
  const char *text = text_of((scanner *)self) + begin((scanner *)self);
  char *end = (char *)text;
  const unsigned long value =
      *text != '-' && *text != '+' ? strtoul(text, &end, 16) : 0;
  if (!finish((scanner *)self, text, end)) {
    return 0;
  }
  if (out) {
    *out = value > UINT32_MAX ? UINT32_MAX : (unsigned)value;
  }
  return 1;
}

static int scan_double(id self, SEL _cmd, double *out) {
  (void)_cmd;
  const char *text = number_at((scanner *)self);
  char *end;
  const double value = text ? strtod(text, &end) : 0;
  if (!text || !finish((scanner *)self, text, end)) {
    return 0;
  }
  if (out) {
    *out = value;
  }
  return 1;
}

static int scan_float(id self, SEL _cmd, float *out) {
  double value;
  if (!scan_double(self, _cmd, &value)) {
    return 0;
  }
  if (out) {
    *out = (float)value;
  }
  return 1;
}

// --- The scanner -------------------------------------------------------------

static id scanner_init(id self, SEL _cmd, id string) {
  (void)_cmd;
  scanner *made = (scanner *)self;
  made->string = SEND(id(*)(id, SEL), string, "copy");
  made->text = strdup(string_utf8(string));
  if (!made->text) {
    runtime_fail("no memory for a scanner");
  }
  made->skipped = objc_retain(SEND(id(*)(id, SEL), CLASS_OF(NSCharacterSet),
                                   "whitespaceAndNewlineCharacterSet"));
  return self;
}

static id scanner_make(Class self, SEL _cmd, id string) {
  return objc_autorelease(
      scanner_init(instance_create(self, 0), _cmd, string));
}

static void scanner_dealloc(id self, SEL _cmd) {
  (void)_cmd;
  objc_release(((scanner *)self)->string);
  objc_release(((scanner *)self)->skipped);
  free(((scanner *)self)->text);
  instance_dispose(self);
}

static id scanner_string(id self, SEL _cmd) {
  (void)_cmd;
  return ((scanner *)self)->string;
}

static id scanner_skipped(id self, SEL _cmd) {
  (void)_cmd;
  return ((scanner *)self)->skipped;
}

static void scanner_set_skipped(id self, SEL _cmd, id set) {
  (void)_cmd;
  objc_storeStrong(&((scanner *)self)->skipped, set);
}

static int scanner_is_sensitive(id self, SEL _cmd) {
  (void)_cmd;
  return ((scanner *)self)->is_case_sensitive;
}

static void scanner_set_sensitive(id self, SEL _cmd, int value) {
  (void)_cmd;
  ((scanner *)self)->is_case_sensitive = (value & 0xff) != 0;
}

static NSUInteger scanner_location(id self, SEL _cmd) {
  (void)_cmd;
  const scanner *from = (scanner *)self;
  return utf16_length(text_of(from), from->at);
}

static void scanner_set_location(id self, SEL _cmd, NSUInteger location) {
  (void)_cmd;
  scanner *from = (scanner *)self;
  const char *text = text_of(from);
  const size_t bytes = strlen(text);
  if (location > utf16_length(text, bytes)) {
    exception_raise("NSRangeException",
                    "index %lu is outside the string of a scanner", location);
  }
  from->at = utf8_offset(text, bytes, location);
}

static int scanner_is_at_end(id self, SEL _cmd) {
  (void)_cmd;
  const scanner *from = (scanner *)self;
  return !text_of(from)[begin(from)];
}

METHODS(scanner_methods, METHOD("initWithString:", "@24@0:8@16", scanner_init),
        METHOD("dealloc", "v16@0:8", scanner_dealloc),
        METHOD("string", "@16@0:8", scanner_string),
        METHOD("charactersToBeSkipped", "@16@0:8", scanner_skipped),
        METHOD("setCharactersToBeSkipped:", "v24@0:8@16", scanner_set_skipped),
        METHOD("caseSensitive", "B16@0:8", scanner_is_sensitive),
        METHOD("setCaseSensitive:", "v20@0:8B16", scanner_set_sensitive),
        METHOD("scanLocation", "Q16@0:8", scanner_location),
        METHOD("setScanLocation:", "v24@0:8Q16", scanner_set_location),
        METHOD("isAtEnd", "B16@0:8", scanner_is_at_end),
        METHOD("scanString:intoString:", "B32@0:8@16^@24", scan_string),
        METHOD("scanUpToString:intoString:", "B32@0:8@16^@24",
               scan_up_to_string),
        METHOD("scanCharactersFromSet:intoString:", "B32@0:8@16^@24",
               scan_set),
        METHOD("scanUpToCharactersFromSet:intoString:", "B32@0:8@16^@24",
               scan_up_to_set),
        METHOD("scanInt:", "B24@0:8^i16", scan_int),
        METHOD("scanInteger:", "B24@0:8^q16", scan_long),
        METHOD("scanLongLong:", "B24@0:8^q16", scan_long),
        METHOD("scanHexInt:", "B24@0:8^I16", scan_hex),
        METHOD("scanFloat:", "B24@0:8^f16", scan_float),
        METHOD("scanDouble:", "B24@0:8^d16", scan_double));
METHODS(scanner_class_methods,
        METHOD("scannerWithString:", "@24@0:8@16", scanner_make));
DEFINE_CLASS(NSScanner, NSObject, sizeof(scanner), scanner_methods,
             &scanner_class_methods);
