// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// json.c: NSJSONSerialization. What it reads is mutable.
//
// Source  RFC 8259
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "objc/foundation/foundation.h"
#include "objc/runtime/failure.h"

extern struct objc_class OBJC_CLASS_$_NSNull;
extern struct objc_class OBJC_CLASS_$_NSNumber;
extern struct objc_class OBJC_CLASS_$_NSString;
extern struct objc_class OBJC_CLASS_$_NSArray;
extern struct objc_class OBJC_CLASS_$_NSDictionary;
extern struct objc_class OBJC_CLASS_$_NSJSONSerialization;
extern id const NSCocoaErrorDomain;

enum { MAX_DEPTH = 512, READ_CORRUPT = 3840 };
enum { WRITES_PRETTY = 1, WRITES_SORTED = 2, WRITES_FRAGMENTS = 4 };

// --- Reading -----------------------------------------------------------------

typedef struct reader {
  const char *start, *at, *end;
  int depth;
  const char *error;
} reader;

static id read_value(reader *in);

static id fail(reader *in, const char *error) {
  in->error = in->error ? in->error : error;
  return NULL;
}

static void skip_space(reader *in) {
  while (in->at < in->end && strchr(" \t\r\n", *in->at) && *in->at) {
    ++in->at;
  }
}

static bool take(reader *in, char wanted) {
  skip_space(in);
  const bool is_there = in->at < in->end && *in->at == wanted;
  in->at += is_there;
  return is_there;
}

static bool take_word(reader *in, const char *word) {
  const size_t bytes = strlen(word);
  const bool is_there =
      (size_t)(in->end - in->at) >= bytes && !memcmp(in->at, word, bytes);
  in->at += is_there ? bytes : 0;
  return is_there;
}

// Returns the four digits of \uXXXX; -1 if they are none.
static int read_unit(reader *in) {
  int value = 0;
  if (in->end - in->at < 4) {
    return -1;
  }
  for (int i = 0; i < 4; ++i) {
    const int digit = (unsigned char)*in->at++;
    if (!isxdigit(digit)) {
      return -1;
    }
    value =
        value * 16 + (isdigit(digit) ? digit - '0' : tolower(digit) - 'a' + 10);
  }
  return value;
}

// Writes the characters of an escape to out, and returns their bytes; 0 for one
// that is none.
static size_t read_escape(reader *in, char *out) {
  static const char letters[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
  if (in->at == in->end) {
    return 0;
  }
  const char letter = *in->at++;
  const char *found = letter ? strchr(letters, letter) : NULL;
  if (found) {
    *out = meant[found - letters];
    return 1;
  }
  unichar units[2];
  size_t count = 1;
  const int first = letter == 'u' ? read_unit(in) : -1;
  if (first < 0) {
    return 0;
  }
  units[0] = (unichar)first;
  if (first >= 0xd800 && first < 0xdc00 && take_word(in, "\\u")) {
    const int second = read_unit(in);
    if (second < 0) {
      return 0;
    }
    units[count++] = (unichar)second;
  }
  return utf8_from_utf16(units, count, out);
}

// Reads a string from behind its opening quote.
static id read_string(reader *in) {
  char *text = malloc((size_t)(in->end - in->at) * 3 + 8), *out = text;
  if (!text) {
    runtime_fail("no memory for a string");
  }
  while (in->at < in->end && *in->at != '"') {
    if ((unsigned char)*in->at < ' ') {
      free(text);
      return fail(in, "a string has a control character");
    }
    if (*in->at != '\\') {
      *out++ = *in->at++;
      continue;
    }
    ++in->at;
    const size_t bytes = read_escape(in, out);
    if (!bytes) {
      free(text);
      return fail(in, "a string has an escape that is none");
    }
    out += bytes;
  }
  const id made = in->at < in->end
                      ? string_make_bytes(text, (size_t)(out - text))
                      : fail(in, "a string has no end");
  free(text);
  ++in->at;
  return made;
}

static id read_number(reader *in) {
  char text[64];
  size_t bytes = 0;
  const char *first = in->at;
  while (in->at < in->end && bytes + 1 < sizeof text &&
         (isdigit((unsigned char)*in->at) ||
          (*in->at && strchr("+-.eE", *in->at)))) {
    text[bytes++] = *in->at++;
  }
  text[bytes] = 0;
  const char *digits = text + (*text == '-');
  if (in->at == first || !isdigit((unsigned char)*digits) ||
      (*digits == '0' && isdigit((unsigned char)digits[1]))) {
    return fail(in, "neither a value nor a number");
  }
  char *end;
  errno = 0;
  if (!strpbrk(text, ".eE")) {
    const long long value = strtoll(text, &end, 10);
    if (!errno && !*end) {
      return number_make_integer(value);
    }
  }
  const double value = strtod(text, &end);
  return *end || end[-1] == '.' ? fail(in, "a number that is none")
                                : number_make_double(value);
}

static id read_array(reader *in) {
  const id made = objc_autorelease(mutable_array_create());
  if (take(in, ']')) {
    return made;
  }
  do {
    const id value = read_value(in);
    if (!value) {
      return NULL;
    }
    array_add(made, value);
  } while (take(in, ','));
  return take(in, ']') ? made : fail(in, "an array wants , or ]");
}

static id read_object(reader *in) {
  const id made = objc_autorelease(dictionary_create());
  if (take(in, '}')) {
    return made;
  }
  do {
    const id key =
        take(in, '"') ? read_string(in) : fail(in, "an object wants a key");
    if (!key || !take(in, ':')) {
      return fail(in, "an object wants : behind a key");
    }
    const id value = read_value(in);
    if (!value) {
      return NULL;
    }
    dictionary_set(made, key, value);
  } while (take(in, ','));
  return take(in, '}') ? made : fail(in, "an object wants , or }");
}

static id read_value(reader *in) {
  if (++in->depth > MAX_DEPTH) {
    return fail(in, "too many levels");
  }
  id made;
  if (take(in, '{')) {
    made = read_object(in);
  } else if (take(in, '[')) {
    made = read_array(in);
  } else if (take(in, '"')) {
    made = read_string(in);
  } else if (take_word(in, "true")) {
    made = number_make_bool(true);
  } else if (take_word(in, "false")) {
    made = number_make_bool(false);
  } else if (take_word(in, "null")) {
    made = SEND(id(*)(id, SEL), (id)&OBJC_CLASS_$_NSNull, "null");
  } else {
    made = read_number(in);
  }
  --in->depth;
  return made;
}

static id json_read(Class self, SEL _cmd, id data, NSUInteger options,
                    id *out_error) {
  (void)self;
  (void)_cmd;
  (void)options;
  const char *bytes = SEND(const char *(*)(id, SEL), data, "bytes");
  reader in = {bytes, bytes,
               bytes + SEND(NSUInteger(*)(id, SEL), data, "length"), 0, NULL};
  id made = read_value(&in);
  skip_space(&in);
  if (made && in.at != in.end) {
    made = fail(&in, "something stands behind the value");
  }
  if (!made) {
    const id text = string_make_printf("JSON, byte %td: %s", in.at - in.start,
                                       in.error ? in.error : "the text ends");
    error_set(out_error, NSCocoaErrorDomain, READ_CORRUPT, string_utf8(text));
  }
  return made;
}

// --- Writing -----------------------------------------------------------------

typedef struct writer {
  id out;  // an NSMutableString
  NSUInteger options;
  int depth;
} writer;

static bool write_value(writer *out, id value);

static void put(writer *out, const char *text) {
  SEND(void (*)(id, SEL, id), out->out, "appendString:", string_make(text));
}

static void put_line(writer *out) {
  if (out->options & WRITES_PRETTY) {
    put(out, "\n");
    for (int i = 0; i < out->depth; ++i) {
      put(out, "  ");
    }
  }
}

static void write_string(writer *out, id value) {
  const char *utf8 = string_utf8(value);
  char *text = malloc(6 * strlen(utf8) + 3), *at = text;
  if (!text) {
    runtime_fail("no memory for a string");
  }
  *at++ = '"';
  for (; *utf8; ++utf8) {
    static const char from[] = "\"\\/\b\f\n\r\t", to[] = "\"\\/bfnrt";
    const char *found = strchr(from, *utf8);
    if (found) {
      *at++ = '\\';
      *at++ = to[found - from];
    } else if ((unsigned char)*utf8 < ' ') {
      at += sprintf(at, "\\u%04x", *utf8);
    } else {
      *at++ = *utf8;
    }
  }
  *at++ = '"';
  *at = 0;
  put(out, text);
  free(text);
}

// False for a number that JSON has no words for.
static bool write_number(writer *out, id value) {
  const char type = *SEND(const char *(*)(id, SEL), value, "objCType");
  char text[40];
  if (number_is_bool(value)) {
    put(out, SEND(int (*)(id, SEL), value, "intValue") ? "true" : "false");
  } else if (type == 'd' || type == 'f') {
    const double number = SEND(double (*)(id, SEL), value, "doubleValue");
    if (!isfinite(number)) {
      return false;
    }
    snprintf(text, sizeof text, "%.17g", number);
    for (int digits = 1; digits < 17; ++digits) {  // the shortest that is it
      char shorter[40];
      snprintf(shorter, sizeof shorter, "%.*g", digits, number);
      if (strtod(shorter, NULL) == number) {
        memcpy(text, shorter, sizeof text);
        break;
      }
    }
    put(out, text);
  } else {
    put(out, string_utf8(SEND(id(*)(id, SEL), value, "stringValue")));
  }
  return true;
}

static bool write_array(writer *out, id value) {
  const size_t count = array_count(value);
  put(out, "[");
  ++out->depth;
  for (size_t i = 0; i < count; ++i) {
    put(out, i ? "," : "");
    put_line(out);
    if (!write_value(out, array_at(value, i))) {
      return false;
    }
  }
  --out->depth;
  if (count) {
    put_line(out);
  }
  put(out, "]");
  return true;
}

static bool write_object(writer *out, id value) {
  id keys = SEND(id(*)(id, SEL), value, "allKeys");
  if (out->options & WRITES_SORTED) {
    keys = SEND(id(*)(id, SEL, SEL), keys,
                "sortedArrayUsingSelector:", SELECTOR("compare:"));
  }
  const size_t count = array_count(keys);
  put(out, "{");
  ++out->depth;
  for (size_t i = 0; i < count; ++i) {
    const id key = array_at(keys, i);
    if (!object_is(key, &OBJC_CLASS_$_NSString)) {
      return false;
    }
    put(out, i ? "," : "");
    put_line(out);
    write_string(out, key);
    put(out, out->options & WRITES_PRETTY ? " : " : ":");
    if (!write_value(out, dictionary_get(value, key))) {
      return false;
    }
  }
  --out->depth;
  if (count) {
    put_line(out);
  }
  put(out, "}");
  return true;
}

static bool write_value(writer *out, id value) {
  if (out->depth > MAX_DEPTH) {
    return false;
  }
  if (object_is(value, &OBJC_CLASS_$_NSString)) {
    write_string(out, value);
    return true;
  }
  if (object_is(value, &OBJC_CLASS_$_NSNumber)) {
    return write_number(out, value);
  }
  if (object_is(value, &OBJC_CLASS_$_NSArray)) {
    return write_array(out, value);
  }
  if (object_is(value, &OBJC_CLASS_$_NSDictionary)) {
    return write_object(out, value);
  }
  if (object_is(value, &OBJC_CLASS_$_NSNull)) {
    put(out, "null");
    return true;
  }
  return false;
}

// Returns the text, or NULL for objects that JSON has no form for.
static id text_of(id value, NSUInteger options) {
  extern id string_mutable_create(const char *utf8);
  const bool is_whole = object_is(value, &OBJC_CLASS_$_NSArray) ||
                        object_is(value, &OBJC_CLASS_$_NSDictionary) ||
                        options & WRITES_FRAGMENTS;
  writer out = {objc_autorelease(string_mutable_create("")), options, 0};
  return is_whole && write_value(&out, value) ? out.out : NULL;
}

static id json_write(Class self, SEL _cmd, id value, NSUInteger options,
                     id *out_error) {
  (void)self;
  (void)_cmd;
  (void)out_error;
  const id text = text_of(value, options);
  if (!text) {
    exception_raise("NSInvalidArgumentException",
                    "an object that is no JSON: NSString, NSNumber, NSArray, "
                    "NSDictionary and NSNull are, and finite numbers");
  }
  const char *utf8 = string_utf8(text);
  return data_make(utf8, strlen(utf8));
}

static int json_is_valid(Class self, SEL _cmd, id value) {
  (void)self;
  (void)_cmd;
  return text_of(value, 0) != NULL;
}

METHODS(json_methods, METHOD_LIST_END);
METHODS(json_class_methods,
        METHOD("JSONObjectWithData:options:error:", "@40@0:8@16Q24^@32",
               json_read),
        METHOD("dataWithJSONObject:options:error:", "@40@0:8@16Q24^@32",
               json_write),
        METHOD("isValidJSONObject:", "B24@0:8@16", json_is_valid));
DEFINE_CLASS(NSJSONSerialization, NSObject, sizeof(struct objc_object),
             json_methods, &json_class_methods);
