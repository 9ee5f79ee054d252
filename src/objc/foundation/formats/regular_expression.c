// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// regular_expression.c: NSRegularExpression and its matches,
// NSTextCheckingResult.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "objc/foundation/foundation.h"
#include "objc/foundation/regex/regex.h"
#include "objc/foundation/string_stream.h"
#include "objc/runtime/memory/block.h"

extern struct objc_class OBJC_CLASS_$_NSMutableString;
extern struct objc_class OBJC_CLASS_$_NSRegularExpression;
extern struct objc_class OBJC_CLASS_$_NSTextCheckingResult;
extern id const NSCocoaErrorDomain;

enum { ERROR_FORMATTING = 2048 };

// NSMatchingOptions
enum {
  MATCHING_ANCHORED = 1 << 2,
  MATCHING_TRANSPARENT = 1 << 3,
  MATCHING_NO_ANCHORS = 1 << 4,
};

// --- NSTextCheckingResult ----------------------------------------------------

typedef struct result {
  struct objc_object object;
  id expression;  // +1
  size_t count;
  NSRange ranges[];
} result;

static id result_make(id expression, const regex_span *spans, size_t count) {
  result *made = (result *)instance_create(&OBJC_CLASS_$_NSTextCheckingResult,
                                           count * sizeof(NSRange));
  made->expression = objc_retain(expression);
  made->count = count;
  for (size_t i = 0; i < count; ++i) {
    made->ranges[i] =
        spans[i].start == SIZE_MAX
            ? (NSRange){NSNotFound, 0}
            : (NSRange){spans[i].start, spans[i].end - spans[i].start};
  }
  return objc_autorelease(&made->object);
}

static void result_dealloc(id self, SEL _cmd) {
  (void)_cmd;
  objc_release(((result *)self)->expression);
  instance_dispose(self);
}

static NSUInteger result_count(id self, SEL _cmd) {
  (void)_cmd;
  return ((result *)self)->count;
}

static NSRange result_at(id self, SEL _cmd, NSUInteger index) {
  (void)_cmd;
  const result *of = (result *)self;
  if (index >= of->count) {
    exception_raise("NSRangeException", "group %lu of a match that has %zu",
                    index, of->count - 1);
  }
  return of->ranges[index];
}

static NSRange result_range(id self, SEL _cmd) {
  return result_at(self, _cmd, 0);
}

static id result_expression(id self, SEL _cmd) {
  (void)_cmd;
  return ((result *)self)->expression;
}

static NSUInteger result_type(id self, SEL _cmd) {
  (void)self;
  (void)_cmd;
  return 1 << 10;  // NSTextCheckingTypeRegularExpression
}

// --- NSRegularExpression -----------------------------------------------------

typedef struct expression {
  struct objc_object object;
  id pattern;  // +1
  NSUInteger options;
  regex *compiled;
} expression;

static NSRange result_named(id self, SEL _cmd, id name) {
  const expression *of = (expression *)((result *)self)->expression;
  const char *text = string_utf8(name);
  const size_t number = regex_group_named(of->compiled, text, strlen(text));
  return number ? result_at(self, _cmd, number) : (NSRange){NSNotFound, 0};
}

METHODS(result_methods, METHOD("dealloc", "v16@0:8", result_dealloc),
        METHOD("range", "{_NSRange=QQ}16@0:8", result_range),
        METHOD("rangeAtIndex:", "{_NSRange=QQ}24@0:8Q16", result_at),
        METHOD("rangeWithName:", "{_NSRange=QQ}24@0:8@16", result_named),
        METHOD("numberOfRanges", "Q16@0:8", result_count),
        METHOD("resultType", "Q16@0:8", result_type),
        METHOD("regularExpression", "@16@0:8", result_expression));
DEFINE_CLASS(NSTextCheckingResult, NSObject, sizeof(result), result_methods,
             NO_METHODS);

// The units of a string; the caller frees them.
static uint16_t *units_of(id string, size_t *out_count) {
  const char *text = string_utf8(string);
  const size_t bytes = strlen(text);
  uint16_t *units = malloc((bytes + 1) * sizeof *units);
  *out_count = utf16_from_utf8(text, bytes, units);
  return units;
}

static id expression_init(id self, SEL _cmd, id pattern, NSUInteger options,
                          id *out_error) {
  (void)_cmd;
  expression *of = (expression *)self;
  size_t count, at;
  const char *error;
  uint16_t *units = units_of(pattern, &count);
  of->pattern = SEND(id(*)(id, SEL), pattern, "copy");
  of->options = options;
  of->compiled = regex_create(units, count, (unsigned)options, &error, &at);
  free(units);
  if (!of->compiled) {
    error_set(out_error, NSCocoaErrorDomain, ERROR_FORMATTING,
              string_utf8(string_make_printf(
                  "the regular expression \"%s\" has, at %zu, %s",
                  string_utf8(pattern), at, error)));
    objc_release(self);
    return NULL;
  }
  return self;
}

static id expression_with(Class self, SEL _cmd, id pattern, NSUInteger options,
                          id *out_error) {
  return objc_autorelease(expression_init(instance_create(self, 0), _cmd,
                                          pattern, options, out_error));
}

static void expression_dealloc(id self, SEL _cmd) {
  (void)_cmd;
  objc_release(((expression *)self)->pattern);
  regex_free(((expression *)self)->compiled);
  instance_dispose(self);
}

static id expression_pattern(id self, SEL _cmd) {
  (void)_cmd;
  return ((expression *)self)->pattern;
}

static NSUInteger expression_options(id self, SEL _cmd) {
  (void)_cmd;
  return ((expression *)self)->options;
}

static NSUInteger expression_groups(id self, SEL _cmd) {
  (void)_cmd;
  return regex_groups(((expression *)self)->compiled);
}

// Calls each with the matches one after the other, until it says no.
typedef bool match_function(void *context, id match);

static void each_match(id self, id string, NSUInteger options, NSRange range,
                       match_function *each, void *context) {
  const expression *of = (expression *)self;
  size_t count;
  uint16_t *units = units_of(string, &count);
  const regex_text text = {units,
                           count,
                           range.location,
                           range.location + range.length,
                           !(options & MATCHING_NO_ANCHORS),
                           options & MATCHING_TRANSPARENT};
  if (text.last > count || range.location > count) {
    free(units);
    exception_raise("NSRangeException", "a range that the string has not");
  }
  regex_span spans[REGEX_MAX_GROUPS + 1];
  size_t at = text.first;
  while (at <= text.last &&
         regex_find(of->compiled, &text, at, options & MATCHING_ANCHORED,
                    spans) == REGEX_MATCH) {
    if (!each(context,
              result_make(self, spans, regex_groups(of->compiled) + 1))) {
      break;
    }
    // Behind an empty match the next one begins a character later.
    at = spans[0].end + (spans[0].end == spans[0].start);
  }
  free(units);
}

static bool add_match(void *array, id match) {
  array_add(array, match);
  return true;
}

static id matches(id self, SEL _cmd, id string, NSUInteger options,
                  NSRange range) {
  (void)_cmd;
  const id made = objc_autorelease(mutable_array_create());
  each_match(self, string, options, range, add_match, made);
  return made;
}

static bool take_first(void *out, id match) {
  *(id *)out = match;
  return false;
}

static id first_match(id self, SEL _cmd, id string, NSUInteger options,
                      NSRange range) {
  (void)_cmd;
  id found = NULL;
  each_match(self, string, options, range, take_first, &found);
  return found;
}

static NSRange first_range(id self, SEL _cmd, id string, NSUInteger options,
                           NSRange range) {
  const id found = first_match(self, _cmd, string, options, range);
  return found ? result_range(found, _cmd) : (NSRange){NSNotFound, 0};
}

static NSUInteger count_matches(id self, SEL _cmd, id string,
                                NSUInteger options, NSRange range) {
  return array_count(matches(self, _cmd, string, options, range));
}

static bool call_block(void *literal, id match) {
  signed char stops = 0;
  BLOCK_CALL(void (*)(id, id, NSUInteger, signed char *), (id)literal, match,
             0ul, &stops);
  return !stops;
}

static void enumerate(id self, SEL _cmd, id string, NSUInteger options,
                      NSRange range, id literal) {
  (void)_cmd;
  each_match(self, string, options, range, call_block, literal);
}

// --- Replacing ---------------------------------------------------------------

static void put_range(FILE *out, id string, NSRange range) {
  if (range.location != NSNotFound) {
    fputs(string_utf8(SEND(id(*)(id, SEL, NSRange), string,
                           "substringWithRange:", range)),
          out);
  }
}

// Writes a template: $1 is a group, a backslash takes the next character as it
// is. Of "$12" as many digits count as name a group that is there.
static void put_template(FILE *out, const char *text, id string, id match) {
  const size_t count = result_count(match, NULL);
  for (; *text; ++text) {
    if (*text == '\\' && text[1]) {
      fputc(*++text, out);
    } else if (*text == '$' && text[1] >= '0' && text[1] <= '9') {
      size_t number = (size_t)(*++text - '0');
      while (text[1] >= '0' && text[1] <= '9' &&
             number * 10 + (size_t)(text[1] - '0') < count) {
        number = number * 10 + (size_t)(*++text - '0');
      }
      if (number < count) {
        put_range(out, string, result_at(match, NULL, number));
      }
    } else {
      fputc(*text, out);
    }
  }
}

static id replaced(id self, SEL _cmd, id string, NSUInteger options,
                   NSRange range, id template_text) {
  const id all = matches(self, _cmd, string, options, range);
  string_stream made;
  string_stream_open(&made);
  FILE *out = made.file;
  size_t end = 0;
  for (size_t i = 0; i < array_count(all); ++i) {
    const id match = array_at(all, i);
    const NSRange found = result_range(match, _cmd);
    put_range(out, string, (NSRange){end, found.location - end});
    put_template(out, string_utf8(template_text), string, match);
    end = found.location + found.length;
  }
  const NSUInteger whole = SEND(NSUInteger(*)(id, SEL), string, "length");
  put_range(out, string, (NSRange){end, whole - end});
  return string_stream_close(&made);
}

static NSUInteger replace(id self, SEL _cmd, id string, NSUInteger options,
                          NSRange range, id template_text) {
  const NSUInteger count = count_matches(self, _cmd, string, options, range);
  SEND(void (*)(id, SEL, id), string, "setString:",
       replaced(self, _cmd, string, options, range, template_text));
  return count;
}

static id replacement(id self, SEL _cmd, id match, id string, NSInteger offset,
                      id template_text) {
  (void)self;
  (void)_cmd;
  (void)offset;
  string_stream made;
  string_stream_open(&made);
  FILE *out = made.file;
  put_template(out, string_utf8(template_text), string, match);
  return string_stream_close(&made);
}

static id escaped(id string, const char *special) {
  string_stream made;
  string_stream_open(&made);
  FILE *out = made.file;
  for (const char *at = string_utf8(string); *at; ++at) {
    if (strchr(special, *at)) {
      fputc('\\', out);
    }
    fputc(*at, out);
  }
  return string_stream_close(&made);
}

static id escaped_pattern(id self, SEL _cmd, id string) {
  (void)self;
  (void)_cmd;
  return escaped(string, "\\^$.|?*+()[]{}/#-&");
}

static id escaped_template(id self, SEL _cmd, id string) {
  (void)self;
  (void)_cmd;
  return escaped(string, "\\$");
}

METHODS(expression_methods, METHOD("dealloc", "v16@0:8", expression_dealloc),
        METHOD("initWithPattern:options:error:", "@40@0:8@16Q24^@32",
               expression_init),
        METHOD("pattern", "@16@0:8", expression_pattern),
        METHOD("options", "Q16@0:8", expression_options),
        METHOD("numberOfCaptureGroups", "Q16@0:8", expression_groups),
        METHOD("matchesInString:options:range:", "@48@0:8@16Q24{_NSRange=QQ}32",
               matches),
        METHOD("firstMatchInString:options:range:",
               "@48@0:8@16Q24{_NSRange=QQ}32", first_match),
        METHOD("rangeOfFirstMatchInString:options:range:",
               "{_NSRange=QQ}48@0:8@16Q24{_NSRange=QQ}32", first_range),
        METHOD("numberOfMatchesInString:options:range:",
               "Q48@0:8@16Q24{_NSRange=QQ}32", count_matches),
        METHOD("enumerateMatchesInString:options:range:usingBlock:",
               "v56@0:8@16Q24{_NSRange=QQ}32@?48", enumerate),
        METHOD("stringByReplacingMatchesInString:options:range:withTemplate:",
               "@56@0:8@16Q24{_NSRange=QQ}32@48", replaced),
        METHOD("replaceMatchesInString:options:range:withTemplate:",
               "Q56@0:8@16Q24{_NSRange=QQ}32@48", replace),
        METHOD("replacementStringForResult:inString:offset:template:",
               "@48@0:8@16@24q32@40", replacement));
METHODS(expression_class_methods,
        METHOD("regularExpressionWithPattern:options:error:",
               "@40@0:8@16Q24^@32", expression_with),
        METHOD("escapedPatternForString:", "@24@0:8@16", escaped_pattern),
        METHOD("escapedTemplateForString:", "@24@0:8@16", escaped_template));
DEFINE_CLASS(NSRegularExpression, NSObject, sizeof(expression),
             expression_methods, &expression_class_methods);
