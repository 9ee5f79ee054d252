// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// string_search.c: searches, compares and replaces in NSString and
// NSMutableString by options. Case folding covers ASCII alone.
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "objc/foundation/foundation.h"
#include "objc/runtime/failure.h"
#include "objc/runtime/memory/block.h"

extern struct objc_class OBJC_CLASS_$_NSString;
extern struct objc_class OBJC_CLASS_$_NSMutableString;
extern struct objc_class OBJC_CLASS_$_NSRegularExpression;

// NSStringCompareOptions
enum {
  FOLDS_CASE = 1,
  IS_LITERAL = 2,
  IS_BACKWARDS = 4,
  IS_ANCHORED = 8,
  IS_NUMERIC = 64,
  IS_EXPRESSION = 1024,
};
enum { MATCHING_ANCHORED = 4 };  // of NSMatchingOptions

// The UTF-16 units of a string; free them.
typedef struct units {
  unichar *at;
  size_t count;
} units;

static units units_of(id string) {
  const char *utf8 = string_utf8(string);
  const size_t bytes = strlen(utf8);
  units made = {malloc((bytes + 1) * sizeof(unichar)), 0};
  if (!made.at) {
    runtime_fail("no memory for a string of %zu bytes", bytes);
  }
  made.count = utf16_from_utf8(utf8, bytes, made.at);
  return made;
}

static id string_of(const unichar *at, size_t count) {
  char *utf8 = malloc(3 * count + 1);
  if (!utf8) {
    runtime_fail("no memory for a string of %zu units", count);
  }
  const id made = string_make_bytes(utf8, utf8_from_utf16(at, count, utf8));
  free(utf8);
  return made;
}

static void check(NSRange range, size_t count) {
  if (range.location > count || range.length > count - range.location) {
    exception_raise("NSRangeException",
                    "the range {%lu, %lu} is outside a string of %zu",
                    range.location, range.length, count);
  }
}

static unichar folded(unichar unit) {
  return unit >= 'A' && unit <= 'Z' ? unit + 32 : unit;
}

// --- Searching ---------------------------------------------------------------

static bool matches(const unichar *one, const unichar *other, size_t count,
                    NSUInteger options) {
  for (size_t i = 0; i < count; ++i) {
    if (options & FOLDS_CASE ? folded(one[i]) != folded(other[i])
                             : one[i] != other[i]) {
      return false;
    }
  }
  return true;
}

static NSRange find(units in, units wanted, NSUInteger options,
                    NSRange range) {
  const NSRange none = {NSNotFound, 0};
  if (!wanted.count || wanted.count > range.length) {
    return none;
  }
  const size_t places =
      options & IS_ANCHORED ? 1 : range.length - wanted.count + 1;
  for (size_t i = 0; i < places; ++i) {
    const size_t at = options & IS_BACKWARDS
                          ? range.location + range.length - wanted.count - i
                          : range.location + i;
    if (matches(in.at + at, wanted.at, wanted.count, options)) {
      return (NSRange){at, wanted.count};
    }
  }
  return none;
}

// An expression of the pattern, by the options of a search.
static id expression_of(id pattern, NSUInteger options) {
  return SEND(id(*)(id, SEL, id, NSUInteger, id *),
              CLASS_OF(NSRegularExpression),
              "regularExpressionWithPattern:options:error:", pattern,
              (NSUInteger)((options & FOLDS_CASE) != 0), (id *)NULL);
}

static NSUInteger matching_of(NSUInteger options) {
  return options & IS_ANCHORED ? MATCHING_ANCHORED : 0;
}

static NSRange range_of_in(id self, SEL _cmd, id other, NSUInteger options,
                           NSRange range) {
  (void)_cmd;
  if (options & IS_EXPRESSION) {
    const id expression = expression_of(other, options);
    return expression
               ? SEND(NSRange(*)(id, SEL, id, NSUInteger, NSRange), expression,
                      "rangeOfFirstMatchInString:options:range:", self,
                      matching_of(options), range)
               : (NSRange){NSNotFound, 0};
  }
  const units in = units_of(self), wanted = units_of(other);
  check(range, in.count);
  const NSRange found = find(in, wanted, options, range);
  free(in.at);
  free(wanted.at);
  return found;
}

static NSRange all_of(id self) {
  return (NSRange){0, SEND(NSUInteger(*)(id, SEL), self, "length")};
}

static NSRange range_of(id self, SEL _cmd, id other, NSUInteger options) {
  return range_of_in(self, _cmd, other, options, all_of(self));
}

static NSRange range_of_locale(id self, SEL _cmd, id other, NSUInteger options,
                               NSRange range, id locale) {
  (void)locale;
  return range_of_in(self, _cmd, other, options, range);
}

static int contains_folded(id self, SEL _cmd, id other) {
  return range_of(self, _cmd, other, FOLDS_CASE).location != NSNotFound;
}

// --- Comparing ---------------------------------------------------------------

// Returns the number at *at, its first digit, in text.
static unsigned long long number_at(units text, size_t *at) {
  unsigned long long value = 0;
  for (; *at < text.count && text.at[*at] >= '0' && text.at[*at] <= '9';
       ++*at) {
    value = value * 10 + (text.at[*at] - '0');
  }
  return value;
}

static bool is_digit_at(units text, size_t at) {
  return at < text.count && text.at[at] >= '0' && text.at[at] <= '9';
}

static NSInteger compare_units(units one, units other, NSUInteger options) {
  size_t left = 0, right = 0;
  while (left < one.count && right < other.count) {
    if (options & IS_NUMERIC && is_digit_at(one, left) &&
        is_digit_at(other, right)) {
      const unsigned long long a = number_at(one, &left),
                               b = number_at(other, &right);
      if (a != b) {
        return a < b ? -1 : 1;
      }
      continue;
    }
    unichar a = one.at[left++], b = other.at[right++];
    if (options & FOLDS_CASE) {
      a = folded(a);
      b = folded(b);
    }
    if (a != b) {
      return a < b ? -1 : 1;
    }
  }
  return left < one.count ? 1 : right < other.count ? -1 : 0;
}

static NSInteger compare_in(id self, SEL _cmd, id other, NSUInteger options,
                            NSRange range) {
  (void)_cmd;
  units one = units_of(self);
  const units two = units_of(other);
  check(range, one.count);
  const NSInteger order = compare_units(
      (units){one.at + range.location, range.length}, two, options);
  free(one.at);
  free(two.at);
  return order;
}

static NSInteger compare(id self, SEL _cmd, id other, NSUInteger options) {
  return compare_in(self, _cmd, other, options, all_of(self));
}

// There is one locale.
static NSInteger compare_local(id self, SEL _cmd, id other) {
  return compare(self, _cmd, other, 0);
}

static NSInteger compare_local_folded(id self, SEL _cmd, id other) {
  return compare(self, _cmd, other, FOLDS_CASE);
}

static NSInteger compare_as_finder(id self, SEL _cmd, id other) {
  return compare(self, _cmd, other, FOLDS_CASE | IS_NUMERIC);
}

static id common_prefix(id self, SEL _cmd, id other, NSUInteger options) {
  (void)_cmd;
  const units one = units_of(self), two = units_of(other);
  size_t count = 0;
  while (count < one.count && count < two.count &&
         matches(one.at + count, two.at + count, 1, options)) {
    ++count;
  }
  const id made = string_of(one.at, count);
  free(one.at);
  free(two.at);
  return made;
}

// --- Replacing ---------------------------------------------------------------

static id replace_range(id self, SEL _cmd, NSRange range, id other) {
  (void)_cmd;
  const units in = units_of(self);
  check(range, in.count);
  const id head = string_of(in.at, range.location);
  const size_t end = range.location + range.length;
  const id tail = string_of(in.at + end, in.count - end);
  free(in.at);
  return string_make_printf("%s%s%s", string_utf8(head), string_utf8(other),
                            string_utf8(tail));
}

static id replace_all(id self, id wanted, id other, NSUInteger options,
                      NSRange range, NSUInteger *out_count) {
  if (options & IS_EXPRESSION) {
    const id made = SEND(id(*)(id, SEL), self, "mutableCopy");
    const id expression = expression_of(wanted, options);
    *out_count =
        SEND(NSUInteger(*)(id, SEL, id, NSUInteger, NSRange, id), expression,
             "replaceMatchesInString:options:range:withTemplate:", made,
             matching_of(options), range, other);
    return objc_autorelease(made);
  }
  const units in = units_of(self), what = units_of(wanted);
  check(range, in.count);
  const id made = objc_autorelease(
      SEND(id(*)(id, SEL), (id)&OBJC_CLASS_$_NSMutableString, "new"));
  size_t from = 0;
  const size_t end = range.location + range.length;
  NSUInteger count = 0;
  for (NSRange rest = range;;) {
    const NSRange found = find(in, what, options & ~(NSUInteger)IS_BACKWARDS,
                               rest);
    if (found.location == NSNotFound) {
      break;
    }
    SEND(void (*)(id, SEL, id), made, "appendString:",
         string_of(in.at + from, found.location - from));
    SEND(void (*)(id, SEL, id), made, "appendString:", other);
    from = found.location + found.length;
    rest = (NSRange){from, end - from};
    ++count;
  }
  SEND(void (*)(id, SEL, id), made, "appendString:",
       string_of(in.at + from, in.count - from));
  free(in.at);
  free(what.at);
  *out_count = count;
  return made;
}

static id replacing(id self, SEL _cmd, id wanted, id other, NSUInteger options,
                    NSRange range) {
  NSUInteger count;
  (void)_cmd;
  return replace_all(self, wanted, other, options, range, &count);
}

static NSUInteger mutable_replace_all(id self, SEL _cmd, id wanted, id other,
                                      NSUInteger options, NSRange range) {
  NSUInteger count;
  (void)_cmd;
  const id made = replace_all(self, wanted, other, options, range, &count);
  SEND(void (*)(id, SEL, id), self, "setString:", made);
  return count;
}

static void mutable_insert(id self, SEL _cmd, id other, NSUInteger index) {
  (void)_cmd;
  SEND(void (*)(id, SEL, NSRange, id), self,
       "replaceCharactersInRange:withString:", ((NSRange){index, 0}), other);
}

static void mutable_delete(id self, SEL _cmd, NSRange range) {
  (void)_cmd;
  SEND(void (*)(id, SEL, NSRange, id), self,
       "replaceCharactersInRange:withString:", range, string_make(""));
}

METHODS(mutable_methods,
        METHOD("replaceOccurrencesOfString:withString:options:range:",
               "Q56@0:8@16@24Q32{_NSRange=QQ}40", mutable_replace_all),
        METHOD("insertString:atIndex:", "v32@0:8@16Q24", mutable_insert),
        METHOD("deleteCharactersInRange:", "v32@0:8{_NSRange=QQ}16",
               mutable_delete));
DEFINE_CATEGORY(NSMutableString, search, mutable_methods);

// --- Making others -----------------------------------------------------------

static id capitalized(id self, SEL _cmd) {
  (void)_cmd;
  const units in = units_of(self);
  bool begins = true;
  for (size_t i = 0; i < in.count; ++i) {
    const unichar unit = folded(in.at[i]);
    in.at[i] = begins && unit >= 'a' && unit <= 'z' ? unit - 32 : unit;
    begins = unit < 128 && isspace(unit);
  }
  const id made = string_of(in.at, in.count);
  free(in.at);
  return made;
}

static id padded(id self, SEL _cmd, NSUInteger length, id pad,
                 NSUInteger index) {
  (void)_cmd;
  const units in = units_of(self), with = units_of(pad);
  unichar *out = calloc(length + 1, sizeof *out);
  if (!out) {
    runtime_fail("no memory for a string of %lu units", length);
  }
  for (NSUInteger i = 0; i < length; ++i) {
    out[i] = i < in.count  ? in.at[i]
             : with.count ? with.at[(index + i - in.count) % with.count]
                          : ' ';
  }
  const id made = string_of(out, length);
  free(out);
  free(in.at);
  free(with.at);
  return made;
}

static void get_units(id self, SEL _cmd, unichar *out, NSRange range) {
  (void)_cmd;
  const units in = units_of(self);
  check(range, in.count);
  memcpy(out, in.at + range.location, range.length * sizeof *out);
  free(in.at);
}

static void get_all_units(id self, SEL _cmd, unichar *out) {
  get_units(self, _cmd, out, all_of(self));
}

static void each_line(id self, SEL _cmd, id literal) {
  (void)_cmd;
  signed char stop = 0;
  for (const char *at = string_utf8(self); *at && !stop;) {
    const size_t bytes = strcspn(at, "\r\n");
    BLOCK_CALL(void (*)(id, id, signed char *), literal,
               string_make_bytes(at, bytes), &stop);
    at += bytes;
    at += *at == '\r' && at[1] == '\n' ? 2 : *at != 0;
  }
}

// --- Percent encoding ----------------------------------------------------------

static id percent_added(id self, SEL _cmd, id allowed) {
  (void)_cmd;
  static const char digits[] = "0123456789ABCDEF";
  const char *utf8 = string_utf8(self);
  char *out = malloc(3 * strlen(utf8) + 1), *end = out;
  if (!out) {
    runtime_fail("no memory for a string");
  }
  for (; *utf8; ++utf8) {
    const unsigned char byte = (unsigned char)*utf8;
    if (byte < 128 && character_set_has(allowed, byte)) {
      *end++ = (char)byte;
    } else {
      *end++ = '%';
      *end++ = digits[byte >> 4];
      *end++ = digits[byte & 15];
    }
  }
  const id made = string_make_bytes(out, (size_t)(end - out));
  free(out);
  return made;
}

static id percent_removed(id self, SEL _cmd) {
  (void)_cmd;
  const char *utf8 = string_utf8(self);
  char *out = malloc(strlen(utf8) + 1), *end = out;
  if (!out) {
    runtime_fail("no memory for a string");
  }
  while (*utf8) {
    if (*utf8 == '%') {
      if (!isxdigit((unsigned char)utf8[1]) ||
          !isxdigit((unsigned char)utf8[2])) {
        free(out);
        return NULL;
      }
      const char pair[3] = {utf8[1], utf8[2], 0};
      *end++ = (char)strtol(pair, NULL, 16);
      utf8 += 3;
    } else {
      *end++ = *utf8++;
    }
  }
  const id made = string_make_bytes(out, (size_t)(end - out));
  free(out);
  return made;
}

// --- Files -----------------------------------------------------------------------

static const char *url_path(id url) {
  return SEND(const char *(*)(id, SEL), url, "fileSystemRepresentation");
}

static id from_url(Class self, SEL _cmd, id url, NSUInteger encoding,
                   id *out_error) {
  (void)_cmd;
  return SEND(id(*)(id, SEL, id, NSUInteger, id *), self,
              "stringWithContentsOfFile:encoding:error:",
              string_make(url_path(url)), encoding, out_error);
}

static int write_url(id self, SEL _cmd, id url, signed char atomically,
                     NSUInteger encoding, id *out_error) {
  (void)_cmd;
  return SEND(int (*)(id, SEL, id, signed char, NSUInteger, id *), self,
              "writeToFile:atomically:encoding:error:",
              string_make(url_path(url)), atomically, encoding, out_error);
}

METHODS(string_class_methods,
        METHOD("stringWithContentsOfURL:encoding:error:", "@40@0:8@16Q24^@32",
               from_url));
METHODS(
    string_methods,
    METHOD("writeToURL:atomically:encoding:error:", "B44@0:8@16c24Q28^@36",
           write_url),
    METHOD("rangeOfString:options:", "{_NSRange=QQ}32@0:8@16Q24", range_of),
    METHOD("rangeOfString:options:range:",
           "{_NSRange=QQ}48@0:8@16Q24{_NSRange=QQ}32", range_of_in),
    METHOD("rangeOfString:options:range:locale:",
           "{_NSRange=QQ}56@0:8@16Q24{_NSRange=QQ}32@48", range_of_locale),
    METHOD("localizedCaseInsensitiveContainsString:", "B24@0:8@16",
           contains_folded),
    METHOD("localizedStandardContainsString:", "B24@0:8@16", contains_folded),
    METHOD("compare:options:", "q32@0:8@16Q24", compare),
    METHOD("compare:options:range:", "q48@0:8@16Q24{_NSRange=QQ}32",
           compare_in),
    METHOD("localizedCompare:", "q24@0:8@16", compare_local),
    METHOD("localizedCaseInsensitiveCompare:", "q24@0:8@16",
           compare_local_folded),
    METHOD("localizedStandardCompare:", "q24@0:8@16", compare_as_finder),
    METHOD("commonPrefixWithString:options:", "@32@0:8@16Q24", common_prefix),
    METHOD("stringByReplacingCharactersInRange:withString:",
           "@40@0:8{_NSRange=QQ}16@32", replace_range),
    METHOD("stringByReplacingOccurrencesOfString:withString:options:range:",
           "@56@0:8@16@24Q32{_NSRange=QQ}40", replacing),
    METHOD("capitalizedString", "@16@0:8", capitalized),
    METHOD("stringByPaddingToLength:withString:startingAtIndex:",
           "@40@0:8Q16@24Q32", padded),
    METHOD("getCharacters:range:", "v40@0:8^S16{_NSRange=QQ}24", get_units),
    METHOD("getCharacters:", "v24@0:8^S16", get_all_units),
    METHOD("enumerateLinesUsingBlock:", "v24@0:8@?16", each_line),
    METHOD("stringByAddingPercentEncodingWithAllowedCharacters:",
           "@24@0:8@16", percent_added),
    METHOD("stringByRemovingPercentEncoding", "@16@0:8", percent_removed));
static category string_category = {
    .name = "search",
    .class = &OBJC_CLASS_$_NSString,
    .instance_methods = (method_list *)&string_methods,
    .class_methods = (method_list *)&string_class_methods};
static category *string_listed __attribute__((section("objc_catlist"), used)) =
    &string_category;
