// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// property_list.c: NSPropertyListSerialization in XML, and the collections that
// are read from and written to such files.
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "objc/foundation/files.h"
#include "objc/foundation/foundation.h"

extern struct objc_class OBJC_CLASS_$_NSArray;
extern struct objc_class OBJC_CLASS_$_NSData;
extern struct objc_class OBJC_CLASS_$_NSDate;
extern struct objc_class OBJC_CLASS_$_NSDictionary;
extern struct objc_class OBJC_CLASS_$_NSNumber;
extern struct objc_class OBJC_CLASS_$_NSPropertyListSerialization;
extern struct objc_class OBJC_CLASS_$_NSString;
extern id const NSCocoaErrorDomain;

enum { FORMAT_XML = 100, READ_CORRUPT = 3840, WRITE_INVALID = 3852 };
enum { MAX_DEPTH = 256 };

// --- Reading -----------------------------------------------------------------

typedef struct reader {
  const char *at, *end;
  int depth;
  const char *error;
} reader;

static id fail(reader *in, const char *error) {
  in->error = in->error ? in->error : error;
  return NULL;
}

static bool starts(const reader *in, const char *text) {
  const size_t length = strlen(text);
  return (size_t)(in->end - in->at) >= length &&
         strncmp(in->at, text, length) == 0;
}

// Moves behind the next text; false if there is none.
static bool skip_behind(reader *in, const char *text) {
  const char *found =
      memmem(in->at, (size_t)(in->end - in->at), text, strlen(text));
  in->at = found ? found + strlen(text) : in->end;
  return found != NULL;
}

// Skips space, comments, <?xml ...?> and <!DOCTYPE ...>.
static void skip_space(reader *in) {
  for (;;) {
    while (in->at < in->end && isspace((unsigned char)*in->at)) {
      ++in->at;
    }
    if (starts(in, "<!--")) {
      skip_behind(in, "-->");
    } else if (starts(in, "<?")) {
      skip_behind(in, "?>");
    } else if (starts(in, "<!DOCTYPE")) {
      skip_behind(in, ">");
    } else {
      return;
    }
  }
}

// Reads <name attributes> or <name/>; false if another tag or none is there.
static bool take_tag(reader *in, const char *name, bool *out_empty) {
  skip_space(in);
  const size_t length = strlen(name);
  if (in->at >= in->end || *in->at != '<' ||
      (size_t)(in->end - in->at) <= length + 1 ||
      strncmp(in->at + 1, name, length) != 0 ||
      !strchr(" \t\r\n/>", in->at[length + 1])) {
    return false;
  }
  if (!skip_behind(in, ">")) {
    return false;
  }
  *out_empty = in->at[-2] == '/';
  return true;
}

static bool take_end(reader *in, const char *name) {
  skip_space(in);
  const size_t length = strlen(name);
  if (!starts(in, "</") || (size_t)(in->end - in->at) < length + 3 ||
      strncmp(in->at + 2, name, length) != 0) {
    return false;
  }
  return skip_behind(in, ">");
}

// Replaces the entity at text by its character; returns the entity's length, 1
// for a plain "&".
static size_t put_entity(const char *text, size_t length, char *out,
                         size_t *out_bytes) {
  static const struct {
    const char *name;
    char is;
  } entities[] = {{"&lt;", '<'},
                  {"&gt;", '>'},
                  {"&amp;", '&'},
                  {"&quot;", '"'},
                  {"&apos;", '\''}};
  for (size_t i = 0; i < sizeof entities / sizeof *entities; ++i) {
    const size_t size = strlen(entities[i].name);
    if (length >= size && strncmp(text, entities[i].name, size) == 0) {
      *out = entities[i].is;
      *out_bytes = 1;
      return size;
    }
  }
  char *end;
  if (length > 3 && text[1] == '#') {
    const unsigned long code = text[2] == 'x' ? strtoul(text + 3, &end, 16)
                                              : strtoul(text + 2, &end, 10);
    if (*end == ';' && code && code < 0x110000) {
      *out_bytes = (size_t)(utf8_put(out, (uint32_t)code) - out);
      return (size_t)(end + 1 - text);
    }
  }
  *out = '&';
  *out_bytes = 1;
  return 1;
}

// Reads what lies before the end tag; the string is the caller's, by free.
static char *read_text(reader *in, const char *name) {
  const char *end =
      memmem(in->at, (size_t)(in->end - in->at), "</", strlen("</"));
  const size_t length = end ? (size_t)(end - in->at) : 0;
  char *made = malloc(length + 1);
  if (!end || !made) {
    free(made);
    fail(in, "text without an end");
    return NULL;
  }
  size_t count = 0;
  for (size_t i = 0; i < length;) {
    if (in->at[i] == '&') {
      size_t bytes;
      i += put_entity(in->at + i, length - i, made + count, &bytes);
      count += bytes;
    } else {
      made[count++] = in->at[i++];
    }
  }
  made[count] = 0;
  in->at = end;
  if (!take_end(in, name)) {
    free(made);
    fail(in, "an element without its end");
    return NULL;
  }
  return made;
}

static id read_value(reader *in);

static id read_array(reader *in) {
  const id made = objc_autorelease(mutable_array_create());
  while (!in->error && !take_end(in, "array")) {
    const id value = read_value(in);
    if (value) {
      array_add(made, value);
    }
  }
  return made;
}

static id read_dictionary(reader *in) {
  const id made = objc_autorelease(dictionary_create());
  bool empty;
  while (!in->error && !take_end(in, "dict")) {
    if (!take_tag(in, "key", &empty)) {
      return fail(in, "a dictionary without a key");
    }
    char *key = empty ? strdup("") : read_text(in, "key");
    const id value = key ? read_value(in) : NULL;
    if (value) {
      dictionary_set(made, string_make(key), value);
    }
    free(key);
  }
  return made;
}

static id date_of(reader *in, const char *text) {
  struct tm parts = {0};
  const char *end = strptime(text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  if (!end || *end) {
    return fail(in, "a date that is none");
  }
  return SEND(id(*)(id, SEL, double), CLASS_OF(NSDate),
              "dateWithTimeIntervalSince1970:", (double)timegm(&parts));
}

static id data_of(const char *text) {
  enum { IGNORES_UNKNOWN = 1 };
  return objc_autorelease(SEND(id(*)(id, SEL, id, NSUInteger),
                               SEND(id(*)(id, SEL), CLASS_OF(NSData), "alloc"),
                               "initWithBase64EncodedString:options:",
                               string_make(text), (NSUInteger)IGNORES_UNKNOWN));
}

static id number_of(reader *in, const char *text) {
  char *end;
  const bool is_negative = strchr(text, '-') != NULL;
  const id made = is_negative ? number_make_integer(strtol(text, &end, 0))
                              : number_make_unsigned(strtoul(text, &end, 0));
  return end == text ? fail(in, "a number that is none") : made;
}

// Reads a value whose element has text.
static id read_scalar(reader *in) {
  static const char *const names[] = {"string", "integer", "real", "date",
                                      "data"};
  bool empty;
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
    if (!take_tag(in, names[i], &empty)) {
      continue;
    }
    char *text = empty ? strdup("") : read_text(in, names[i]);
    id made = NULL;
    if (text) {
      switch (i) {
        case 0: made = string_make(text); break;
        case 1: made = number_of(in, text); break;
        case 2: made = number_make_double(strtod(text, NULL)); break;
        case 3: made = date_of(in, text); break;
        default: made = data_of(text); break;
      }
    }
    free(text);
    return made;
  }
  return fail(in, "an element that property lists have not");
}

static id read_value(reader *in) {
  bool empty;
  if (++in->depth > MAX_DEPTH) {
    return fail(in, "too many collections in each other");
  }
  id made = NULL;
  if (take_tag(in, "dict", &empty)) {
    made = empty ? objc_autorelease(dictionary_create()) : read_dictionary(in);
  } else if (take_tag(in, "array", &empty)) {
    made = empty ? objc_autorelease(mutable_array_create()) : read_array(in);
  } else if (take_tag(in, "true", &empty)) {
    made = number_make_bool(true);
  } else if (take_tag(in, "false", &empty)) {
    made = number_make_bool(false);
  } else {
    made = read_scalar(in);
  }
  --in->depth;
  return in->error ? NULL : made;
}

static id property_list_read(const char *bytes, size_t length, id *out_error) {
  reader in = {bytes, bytes + length, 0, NULL};
  bool empty;
  id made = NULL;
  if (length >= 6 && strncmp(bytes, "bplist", 6) == 0) {
    in.error = "the binary form of property lists is not read";
  } else if (!take_tag(&in, "plist", &empty) || empty) {
    in.error = "there is no <plist>";
  } else {
    made = read_value(&in);
  }
  if (!made) {
    error_set(out_error, NSCocoaErrorDomain, READ_CORRUPT,
              in.error ? in.error : "an empty property list");
  }
  return made;
}

// --- Writing -----------------------------------------------------------------

static void put_text(FILE *out, const char *name, const char *text) {
  fprintf(out, "<%s>", name);
  for (; *text; ++text) {
    switch (*text) {
      case '<': fputs("&lt;", out); break;
      case '>': fputs("&gt;", out); break;
      case '&': fputs("&amp;", out); break;
      default: fputc(*text, out); break;
    }
  }
  fprintf(out, "</%s>\n", name);
}

static void indent(FILE *out, int depth) {
  for (int i = 0; i < depth; ++i) {
    fputc('\t', out);
  }
}

static bool put_value(FILE *out, id value, int depth);

static bool put_array(FILE *out, id array, int depth) {
  fputs("<array>\n", out);
  for (size_t i = 0; i < array_count(array); ++i) {
    if (!put_value(out, array_at(array, i), depth + 1)) {
      return false;
    }
  }
  indent(out, depth);
  fputs("</array>\n", out);
  return true;
}

static bool put_dictionary(FILE *out, id dictionary, int depth) {
  const id keys =
      SEND(id(*)(id, SEL, SEL), SEND(id(*)(id, SEL), dictionary, "allKeys"),
           "sortedArrayUsingSelector:", SELECTOR("compare:"));
  fputs("<dict>\n", out);
  for (size_t i = 0; i < array_count(keys); ++i) {
    const id key = array_at(keys, i);
    if (!object_is(key, &OBJC_CLASS_$_NSString)) {
      return false;
    }
    indent(out, depth + 1);
    put_text(out, "key", string_utf8(key));
    if (!put_value(out, dictionary_get(dictionary, key), depth + 1)) {
      return false;
    }
  }
  indent(out, depth);
  fputs("</dict>\n", out);
  return true;
}

static void put_number(FILE *out, id number) {
  const char type = *SEND(const char *(*)(id, SEL), number, "objCType");
  const char *text = string_utf8(SEND(id(*)(id, SEL), number, "stringValue"));
  if (number_is_bool(number)) {
    fputs(SEND(int (*)(id, SEL), number, "boolValue") ? "<true/>\n"
                                                      : "<false/>\n",
          out);
  } else if (type == 'f' || type == 'd') {
    fprintf(out, "<real>%.17g</real>\n",
            SEND(double (*)(id, SEL), number, "doubleValue"));
  } else {
    put_text(out, "integer", text);
  }
}

static void put_date(FILE *out, id date) {
  const time_t when =
      (time_t)floor(SEND(double (*)(id, SEL), date, "timeIntervalSince1970"));
  struct tm parts;
  char text[64] = "";
  gmtime_r(&when, &parts);
  strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  put_text(out, "date", text);
}

// False if a value is none that property lists have.
static bool put_value(FILE *out, id value, int depth) {
  indent(out, depth);
  if (depth > MAX_DEPTH) {
    return false;
  }
  if (object_is(value, &OBJC_CLASS_$_NSDictionary)) {
    return put_dictionary(out, value, depth);
  }
  if (object_is(value, &OBJC_CLASS_$_NSArray)) {
    return put_array(out, value, depth);
  }
  if (object_is(value, &OBJC_CLASS_$_NSString)) {
    put_text(out, "string", string_utf8(value));
  } else if (object_is(value, &OBJC_CLASS_$_NSNumber)) {
    put_number(out, value);
  } else if (object_is(value, &OBJC_CLASS_$_NSDate)) {
    put_date(out, value);
  } else if (object_is(value, &OBJC_CLASS_$_NSData)) {
    put_text(out, "data",
             string_utf8(SEND(id(*)(id, SEL, NSUInteger), value,
                              "base64EncodedStringWithOptions:", 0ul)));
  } else {
    return false;
  }
  return true;
}

// Returns the caller's bytes, by free; NULL for a value that is no property
// list.
static char *property_list_write(id value, size_t *out_length) {
  char *bytes = NULL;
  *out_length = 0;
  FILE *out = open_memstream(&bytes, out_length);
  if (!out) {
    return NULL;
  }
  fputs(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" "
      "\"http://www.apple.com/DTDs/PropertyList-1.0.dtd\">\n"
      "<plist version=\"1.0\">\n",
      out);
  const bool whole = put_value(out, value, 0);
  fputs("</plist>\n", out);
  fclose(out);
  if (!whole) {
    free(bytes);
    return NULL;
  }
  return bytes;
}

// --- NSPropertyListSerialization ---------------------------------------------

static id list_data(id self, SEL _cmd, id value, NSUInteger format,
                    NSUInteger options, id *out_error) {
  (void)self;
  (void)_cmd;
  (void)options;
  size_t length;
  char *bytes =
      format == FORMAT_XML ? property_list_write(value, &length) : NULL;
  if (!bytes) {
    error_set(out_error, NSCocoaErrorDomain, WRITE_INVALID,
              format == FORMAT_XML ? "an object that property lists have not"
                                   : "property lists are written as XML alone");
    return NULL;
  }
  const id made = data_make(bytes, length);
  free(bytes);
  return made;
}

static id list_read(id self, SEL _cmd, id data, NSUInteger options,
                    NSUInteger *out_format, id *out_error) {
  (void)self;
  (void)_cmd;
  (void)options;
  if (out_format) {
    *out_format = FORMAT_XML;
  }
  return property_list_read(SEND(const char *(*)(id, SEL), data, "bytes"),
                            SEND(NSUInteger(*)(id, SEL), data, "length"),
                            out_error);
}

static int list_is_valid(id self, SEL _cmd, id value, NSUInteger format) {
  (void)self;
  (void)_cmd;
  size_t length;
  char *bytes = property_list_write(value, &length);
  free(bytes);
  return bytes && format == FORMAT_XML;
}

METHODS(list_methods, METHOD_LIST_END);
METHODS(list_class_methods,
        METHOD("dataWithPropertyList:format:options:error:",
               "@48@0:8@16Q24Q32^@40", list_data),
        METHOD("propertyListWithData:options:format:error:",
               "@48@0:8@16Q24^Q32^@40", list_read),
        METHOD("propertyList:isValidForFormat:", "B32@0:8@16Q24",
               list_is_valid));
DEFINE_CLASS(NSPropertyListSerialization, NSObject, sizeof(struct objc_object),
             list_methods, &list_class_methods);

OBJC_EXPORT id CFPropertyListCreateWithData(id allocator, id data,
                                            unsigned long options,
                                            long *out_format, id *out_error) {
  (void)allocator;
  id error = NULL;
  const id made =
      list_read(NULL, NULL, data, options, (NSUInteger *)out_format, &error);
  if (out_error) {
    *out_error = made ? NULL : objc_retain(error);
  }
  return objc_retain(made);
}

// --- Collections in files ----------------------------------------------------

// Reads a list of class, which is autoreleased; NULL if the file has another.
static id read_file(id path, Class class, id *out_error) {
  size_t length;
  char *bytes = file_read(string_utf8(path), &length, out_error);
  if (!bytes) {
    return NULL;
  }
  const id made = property_list_read(bytes, length, out_error);
  free(bytes);
  if (made && !object_is(made, class)) {
    error_set(out_error, NSCocoaErrorDomain, READ_CORRUPT,
              "the file has another kind of collection");
    return NULL;
  }
  return made;
}

static id path_of(id url) {
  return SEND(id(*)(id, SEL), url, "path");
}

#define READS(name, class)                                               \
  static id name##_file(id self, SEL _cmd, id path) {                    \
    (void)self;                                                          \
    (void)_cmd;                                                          \
    return read_file(path, &OBJC_CLASS_$_##class, NULL);                 \
  }                                                                      \
  static id name##_url(id self, SEL _cmd, id url) {                      \
    return name##_file(self, _cmd, path_of(url));                        \
  }                                                                      \
  static id name##_url_error(id self, SEL _cmd, id url, id *out_error) { \
    (void)self;                                                          \
    (void)_cmd;                                                          \
    return read_file(path_of(url), &OBJC_CLASS_$_##class, out_error);    \
  }
READS(array, NSArray)
READS(dictionary, NSDictionary)

static int write_to(id self, id path, id *out_error) {
  size_t length;
  char *bytes = property_list_write(self, &length);
  if (!bytes) {
    error_set(out_error, NSCocoaErrorDomain, WRITE_INVALID,
              "an object that property lists have not");
    return 0;
  }
  const bool done = file_write(string_utf8(path), bytes, length, out_error);
  free(bytes);
  return done;
}

static int write_file(id self, SEL _cmd, id path, signed char atomically) {
  (void)_cmd;
  (void)atomically;
  return write_to(self, path, NULL);
}

static int write_url(id self, SEL _cmd, id url, signed char atomically) {
  return write_file(self, _cmd, path_of(url), atomically);
}

static int write_url_error(id self, SEL _cmd, id url, id *out_error) {
  (void)_cmd;
  return write_to(self, path_of(url), out_error);
}

#define FILE_CATEGORY(prefix, target)                                         \
  METHODS(prefix##_methods,                                                   \
          METHOD("writeToFile:atomically:", "B28@0:8@16B24", write_file),     \
          METHOD("writeToURL:atomically:", "B28@0:8@16B24", write_url),       \
          METHOD("writeToURL:error:", "B32@0:8@16^@24", write_url_error));    \
  METHODS(prefix##_class_methods,                                             \
          METHOD(#prefix "WithContentsOfFile:", "@24@0:8@16", prefix##_file), \
          METHOD(#prefix "WithContentsOfURL:", "@24@0:8@16", prefix##_url),   \
          METHOD(#prefix "WithContentsOfURL:error:", "@32@0:8@16^@24",        \
                 prefix##_url_error));                                        \
  static category prefix##_category = {                                       \
      .name = "property_lists",                                               \
      .class = &OBJC_CLASS_$_##target,                                        \
      .instance_methods = (method_list *)&prefix##_methods,                   \
      .class_methods = (method_list *)&prefix##_class_methods};               \
  static category *prefix##_listed                                            \
      __attribute__((section("objc_catlist"), used)) = &prefix##_category
FILE_CATEGORY(array, NSArray);
FILE_CATEGORY(dictionary, NSDictionary);
