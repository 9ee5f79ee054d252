// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// number_formatter.c: NSFormatter, NSNumberFormatter and NSByteCountFormatter,
// as in the United States: there are no locales.
//
// Source  Unicode Technical Standard 35, part 3: number patterns
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "objc/foundation/foundation.h"
#include "objc/foundation/string_stream.h"

extern struct objc_class OBJC_CLASS_$_NSByteCountFormatter;
extern struct objc_class OBJC_CLASS_$_NSFormatter;
extern struct objc_class OBJC_CLASS_$_NSNumber;
extern struct objc_class OBJC_CLASS_$_NSNumberFormatter;
extern struct objc_class OBJC_CLASS_$_NSString;

static id formatter_string(id self, SEL _cmd, id object) {
  (void)self;
  (void)_cmd;
  return SEND(id(*)(id, SEL), object, "description");
}

METHODS(formatter_methods,
        METHOD("stringForObjectValue:", "@24@0:8@16", formatter_string));
DEFINE_CLASS(NSFormatter, NSObject, sizeof(struct objc_object),
             formatter_methods, NO_METHODS);

// --- Decimal digits ----------------------------------------------------------

enum { MAX_DIGITS = 340 };

// A number as 0.d1d2d3... times 10 to the power of point.
typedef struct decimal {
  char digits[MAX_DIGITS];
  int count;
  int point;
  bool is_negative;
} decimal;

// The fewest digits that read back as the same double.
static decimal decimal_of(double value) {
  decimal of = {.is_negative = signbit(value) && value != 0};
  char text[40];
  for (int digits = 0; digits < 17; ++digits) {
    snprintf(text, sizeof text, "%.*e", digits, fabs(value));
    if (strtod(text, NULL) == fabs(value)) {
      break;
    }
  }
  const char *exponent = strchr(text, 'e');
  for (const char *at = text; at < exponent; ++at) {
    if (*at != '.') {
      of.digits[of.count++] = *at;
    }
  }
  of.point = atoi(exponent + 1) + 1;
  if (value == 0) {
    of.count = 0;
    of.point = 0;
  }
  return of;
}

// Drops digits behind the first keep, by the rounding mode: half to even unless
// it is another of NSNumberFormatterRoundingMode.
static void round_to(decimal *of, int keep, int mode) {
  enum { CEILING, FLOOR, DOWN, UP, HALF_EVEN, HALF_DOWN, HALF_UP };
  if (keep >= of->count) {
    return;
  }
  const int first = keep < 0 ? -1 : of->digits[keep] - '0';
  bool rest = false;
  for (int i = keep < 0 ? 0 : keep + 1; i < of->count; ++i) {
    rest |= of->digits[i] != '0';
  }
  const bool any = first > 0 || rest;
  const bool above = first > 5 || (first == 5 && rest), half = first == 5;
  const bool odd = keep > 0 && (of->digits[keep - 1] & 1);
  bool up = false;
  switch (mode) {
    case CEILING: up = any && !of->is_negative; break;
    case FLOOR: up = any && of->is_negative; break;
    case DOWN: break;
    case UP: up = any; break;
    case HALF_DOWN: up = above; break;
    case HALF_UP: up = above || half; break;
    default: up = above || (half && odd); break;
  }
  of->count = keep < 0 ? 0 : keep;
  int i = of->count;
  while (up && i > 0 && of->digits[i - 1] == '9') {
    of->digits[--i] = '0';
  }
  if (up && i > 0) {
    ++of->digits[i - 1];
  } else if (up) {  // all were nines, or none is kept
    memmove(of->digits + 1, of->digits, (size_t)of->count);
    of->digits[0] = '1';
    of->point = keep < 0 ? of->point - keep + 1 : of->point + 1;
    of->count = keep < 0 ? 1 : of->count + 1;
  }
}

static char digit_at(const decimal *of, int place) {
  return place >= 0 && place < of->count ? of->digits[place] : '0';
}

// --- NSNumberFormatter -------------------------------------------------------

typedef enum number_style {
  STYLE_NONE,
  STYLE_DECIMAL,
  STYLE_CURRENCY,
  STYLE_PERCENT,
  STYLE_SCIENTIFIC,
} number_style;

typedef struct number_formatter {
  struct objc_object object;
  NSUInteger style, rounding;
  NSUInteger min_integer, min_fraction, max_fraction;
  NSUInteger min_significant, max_significant;
  bool groups, significant;
  id texts[8];  // +1 each, nil for the usual one
} number_formatter;

enum {
  TEXT_GROUPING,
  TEXT_DECIMAL,
  TEXT_PREFIX,
  TEXT_SUFFIX,
  TEXT_CURRENCY,
  TEXT_EXPONENT,
  TEXT_MINUS,
  TEXT_PERCENT,
};
static const char *const usual_texts[] = {",", ".", "", "", "$", "E", "-", "%"};

static void set_style(id self, SEL _cmd, NSUInteger style) {
  (void)_cmd;
  number_formatter *of = (number_formatter *)self;
  of->style = style;
  of->min_integer = style == STYLE_NONE ? 0 : 1;
  of->min_fraction = style == STYLE_CURRENCY ? 2 : 0;
  of->max_fraction = style == STYLE_DECIMAL      ? 3
                     : style == STYLE_CURRENCY   ? 2
                     : style == STYLE_SCIENTIFIC ? MAX_DIGITS
                                                 : 0;
  of->groups = style == STYLE_DECIMAL || style == STYLE_CURRENCY ||
               style == STYLE_PERCENT;
}

static id number_init(id self, SEL _cmd) {
  number_formatter *of = (number_formatter *)self;
  of->rounding = 4;  // half to even
  of->min_significant = 1;
  of->max_significant = 6;
  set_style(self, _cmd, STYLE_NONE);
  return self;
}

static void number_dealloc(id self, SEL _cmd) {
  (void)_cmd;
  for (size_t i = 0; i < sizeof usual_texts / sizeof *usual_texts; ++i) {
    objc_release(((number_formatter *)self)->texts[i]);
  }
  instance_dispose(self);
}

static const char *text_of(const number_formatter *of, int which) {
  return of->texts[which] ? string_utf8(of->texts[which]) : usual_texts[which];
}

static void put_integer(FILE *out, const number_formatter *of,
                        const decimal *value) {
  int places = value->point > 0 ? value->point : 0;
  if (places < (int)of->min_integer) {
    places = (int)of->min_integer;
  }
  for (int left = places; left > 0; --left) {
    if (of->groups && left != places && left % 3 == 0) {
      fputs(text_of(of, TEXT_GROUPING), out);
    }
    fputc(digit_at(value, value->point - left), out);
  }
}

static void put_fraction(FILE *out, const number_formatter *of,
                         const decimal *value, int least, int most) {
  int places = value->count - value->point;
  while (places > least && places > 0 &&
         digit_at(value, value->point + places - 1) == '0') {
    --places;
  }
  places = places < least ? least : places > most ? most : places;
  if (places > 0) {
    fputs(text_of(of, TEXT_DECIMAL), out);
  }
  for (int i = 0; i < places; ++i) {
    fputc(digit_at(value, value->point + i), out);
  }
}

static void put_number(FILE *out, const number_formatter *of, decimal *value) {
  int least = (int)of->min_fraction, most = (int)of->max_fraction;
  int exponent = 0;
  if (of->style == STYLE_SCIENTIFIC && value->count) {
    exponent = value->point - 1;
    value->point = 1;
  }
  if (of->significant) {
    round_to(value, (int)of->max_significant, (int)of->rounding);
    least = (int)of->min_significant - value->point;
    most = MAX_DIGITS;
  } else {
    round_to(value, value->point + most, (int)of->rounding);
  }
  const long start = ftell(out);
  put_integer(out, of, value);
  put_fraction(out, of, value, least, most);
  if (ftell(out) == start) {
    fputc('0', out);
  }
  if (of->style == STYLE_SCIENTIFIC) {
    fprintf(out, "%s%d", text_of(of, TEXT_EXPONENT), exponent);
  }
}

static id number_string(id self, SEL _cmd, id number) {
  (void)_cmd;
  const number_formatter *of = (number_formatter *)self;
  if (!number) {
    return NULL;
  }
  double plain = SEND(double (*)(id, SEL), number, "doubleValue");
  if (!isfinite(plain)) {
    return string_make(isnan(plain) ? "NaN" : plain < 0 ? "-\u221e" : "\u221e");
  }
  decimal value = decimal_of(plain);
  const char type = *SEND(const char *(*)(id, SEL), number, "objCType");
  if (type != 'f' && type != 'd') {  // an integer of over 53 bits, too
    const char *digits =
        string_utf8(SEND(id(*)(id, SEL), number, "stringValue"));
    digits += *digits == '-';
    value.count = (int)strlen(digits);
    memcpy(value.digits, digits, (size_t)value.count);
    value.point = value.count;
    value.count = plain == 0 ? 0 : value.count;
  } else if (type == 'f') {  // its own digits, not those of the double
    for (int i = 1; i < 9; ++i) {
      char text[40];
      snprintf(text, sizeof text, "%.*g", i, plain);
      if (strtof(text, NULL) == (float)plain) {
        plain = strtod(text, NULL);
        break;
      }
    }
    value = decimal_of(plain);
  }
  value.point += of->style == STYLE_PERCENT ? 2 : 0;
  string_stream made;
  string_stream_open(&made);
  FILE *out = made.file;
  fputs(value.is_negative ? text_of(of, TEXT_MINUS) : "", out);
  fputs(text_of(of, TEXT_PREFIX), out);
  fputs(of->style == STYLE_CURRENCY ? text_of(of, TEXT_CURRENCY) : "", out);
  put_number(out, of, &value);
  fputs(of->style == STYLE_PERCENT ? text_of(of, TEXT_PERCENT) : "", out);
  fputs(text_of(of, TEXT_SUFFIX), out);
  return string_stream_close(&made);
}

static id number_localized(Class self, SEL _cmd, id number, NSUInteger style) {
  const id made = objc_autorelease(number_init(instance_create(self, 0), _cmd));
  set_style(made, _cmd, style);
  return number_string(made, _cmd, number);
}

// Removes what follows from text, wherever it is.
static void remove_all(char *text, const char *what) {
  const size_t length = strlen(what);
  for (char *at; length && (at = strstr(text, what)) != NULL;) {
    memmove(at, at + length, strlen(at + length) + 1);
  }
}

static id number_read(id self, SEL _cmd, id string) {
  (void)_cmd;
  const number_formatter *of = (number_formatter *)self;
  if (!string) {
    return NULL;
  }
  char *text = strdup(string_utf8(string));
  if (of->groups) {
    remove_all(text, text_of(of, TEXT_GROUPING));
  }
  remove_all(text, text_of(of, TEXT_PREFIX));
  remove_all(text, text_of(of, TEXT_SUFFIX));
  const bool percent =
      of->style == STYLE_PERCENT && strstr(text, text_of(of, TEXT_PERCENT));
  if (of->style == STYLE_PERCENT) {
    remove_all(text, text_of(of, TEXT_PERCENT));
  } else if (of->style == STYLE_CURRENCY) {
    remove_all(text, text_of(of, TEXT_CURRENCY));
  }
  char *point = strstr(text, text_of(of, TEXT_DECIMAL));
  if (point) {
    const size_t length = strlen(text_of(of, TEXT_DECIMAL));
    memmove(point + 1, point + length, strlen(point + length) + 1);
    *point = '.';
  }
  char *end;
  const double value = strtod(text, &end);
  const bool whole = end != text && !*end;
  const bool integer =
      whole && !percent && strspn(text, "+-0123456789") == strlen(text);
  id made = NULL;
  if (integer) {
    made = number_make_integer(strtol(text, NULL, 10));
  } else if (whole) {
    made = number_make_double(percent ? value / 100 : value);
  }
  free(text);
  return made;
}

#define PROPERTY(name, field, type)                       \
  static type get_##name(id self, SEL _cmd) {             \
    (void)_cmd;                                           \
    return (type)((number_formatter *)self)->field;       \
  }                                                       \
  static void set_##name(id self, SEL _cmd, type value) { \
    (void)_cmd;                                           \
    ((number_formatter *)self)->field = value;            \
  }
PROPERTY(rounding, rounding, NSUInteger)
PROPERTY(min_integer, min_integer, NSUInteger)
PROPERTY(min_significant, min_significant, NSUInteger)
PROPERTY(max_significant, max_significant, NSUInteger)
PROPERTY(groups, groups, int)
PROPERTY(significant, significant, int)

static NSUInteger get_style(id self, SEL _cmd) {
  (void)_cmd;
  return ((number_formatter *)self)->style;
}

static NSUInteger get_min_fraction(id self, SEL _cmd) {
  (void)_cmd;
  return ((number_formatter *)self)->min_fraction;
}

static void set_min_fraction(id self, SEL _cmd, NSUInteger places) {
  (void)_cmd;
  number_formatter *of = (number_formatter *)self;
  of->min_fraction = places;
  of->max_fraction = of->max_fraction < places ? places : of->max_fraction;
}

static NSUInteger get_max_fraction(id self, SEL _cmd) {
  (void)_cmd;
  return ((number_formatter *)self)->max_fraction;
}

static void set_max_fraction(id self, SEL _cmd, NSUInteger places) {
  (void)_cmd;
  number_formatter *of = (number_formatter *)self;
  of->max_fraction = places < MAX_DIGITS ? places : MAX_DIGITS;
  of->min_fraction = of->min_fraction > places ? places : of->min_fraction;
}

#define TEXT(name, which)                                         \
  static id get_##name(id self, SEL _cmd) {                       \
    (void)_cmd;                                                   \
    return string_make(text_of((number_formatter *)self, which)); \
  }                                                               \
  static void set_##name(id self, SEL _cmd, id text) {            \
    (void)_cmd;                                                   \
    number_formatter *of = (number_formatter *)self;              \
    objc_release(of->texts[which]);                               \
    of->texts[which] = SEND(id(*)(id, SEL), text, "copy");        \
  }
TEXT(grouping, TEXT_GROUPING)
TEXT(decimal, TEXT_DECIMAL)
TEXT(prefix, TEXT_PREFIX)
TEXT(suffix, TEXT_SUFFIX)
TEXT(currency, TEXT_CURRENCY)

METHODS(number_methods, METHOD("init", "@16@0:8", number_init),
        METHOD("dealloc", "v16@0:8", number_dealloc),
        METHOD("stringFromNumber:", "@24@0:8@16", number_string),
        METHOD("stringForObjectValue:", "@24@0:8@16", number_string),
        METHOD("numberFromString:", "@24@0:8@16", number_read),
        METHOD("numberStyle", "Q16@0:8", get_style),
        METHOD("setNumberStyle:", "v24@0:8Q16", set_style),
        METHOD("roundingMode", "Q16@0:8", get_rounding),
        METHOD("setRoundingMode:", "v24@0:8Q16", set_rounding),
        METHOD("minimumIntegerDigits", "Q16@0:8", get_min_integer),
        METHOD("setMinimumIntegerDigits:", "v24@0:8Q16", set_min_integer),
        METHOD("minimumFractionDigits", "Q16@0:8", get_min_fraction),
        METHOD("setMinimumFractionDigits:", "v24@0:8Q16", set_min_fraction),
        METHOD("maximumFractionDigits", "Q16@0:8", get_max_fraction),
        METHOD("setMaximumFractionDigits:", "v24@0:8Q16", set_max_fraction),
        METHOD("minimumSignificantDigits", "Q16@0:8", get_min_significant),
        METHOD("setMinimumSignificantDigits:", "v24@0:8Q16",
               set_min_significant),
        METHOD("maximumSignificantDigits", "Q16@0:8", get_max_significant),
        METHOD("setMaximumSignificantDigits:", "v24@0:8Q16",
               set_max_significant),
        METHOD("usesSignificantDigits", "B16@0:8", get_significant),
        METHOD("setUsesSignificantDigits:", "v20@0:8B16", set_significant),
        METHOD("usesGroupingSeparator", "B16@0:8", get_groups),
        METHOD("setUsesGroupingSeparator:", "v20@0:8B16", set_groups),
        METHOD("groupingSeparator", "@16@0:8", get_grouping),
        METHOD("setGroupingSeparator:", "v24@0:8@16", set_grouping),
        METHOD("decimalSeparator", "@16@0:8", get_decimal),
        METHOD("setDecimalSeparator:", "v24@0:8@16", set_decimal),
        METHOD("positivePrefix", "@16@0:8", get_prefix),
        METHOD("setPositivePrefix:", "v24@0:8@16", set_prefix),
        METHOD("positiveSuffix", "@16@0:8", get_suffix),
        METHOD("setPositiveSuffix:", "v24@0:8@16", set_suffix),
        METHOD("currencySymbol", "@16@0:8", get_currency),
        METHOD("setCurrencySymbol:", "v24@0:8@16", set_currency));
METHODS(number_class_methods, METHOD("localizedStringFromNumber:numberStyle:",
                                     "@32@0:8@16Q24", number_localized));
DEFINE_CLASS(NSNumberFormatter, NSFormatter, sizeof(number_formatter),
             number_methods, &number_class_methods);

// --- NSByteCountFormatter ----------------------------------------------------

enum { COUNT_FILE, COUNT_MEMORY, COUNT_DECIMAL, COUNT_BINARY };

typedef struct byte_formatter {
  struct objc_object object;
  NSInteger style;
  NSUInteger units;  // NSByteCountFormatterUnits; 0 for the usual ones
  bool hides_unit, hides_count, digits_only, fixed, pads;
} byte_formatter;

static id byte_string(id self, SEL _cmd, long long count) {
  static const char *const names[] = {"bytes", "KB", "MB", "GB",
                                      "TB",    "PB", "EB"};
  (void)_cmd;
  const byte_formatter *of = (byte_formatter *)self;
  const double step =
      of->style == COUNT_MEMORY || of->style == COUNT_BINARY ? 1024 : 1000;
  const NSUInteger allowed = of->units ? of->units : 0x7f;
  double value = (double)count;
  size_t unit = 0;
  while (unit < 6 && (!(allowed >> unit & 1) || fabs(value) >= step) &&
         allowed >> (unit + 1)) {
    value /= step;
    ++unit;
  }
  if (!count && !of->digits_only && !of->hides_unit) {
    return string_make_printf("Zero %s",
                              of->units && unit ? names[unit] : "KB");
  }
  char text[64];
  for (;; value /= step, ++unit) {
    const int digits = unit < 2 ? 0 : unit == 2 || of->fixed ? 1 : 2;
    snprintf(text, sizeof text, "%.*f", digits, value);
    // 999.9 KB are rounded to 1 MB.
    if (fabs(strtod(text, NULL)) < step || unit == 6 ||
        !(allowed >> (unit + 1) & 1)) {
      break;
    }
  }
  char *point = of->pads ? NULL : strchr(text, '.');
  for (char *end = text + strlen(text); point && end > point;) {
    if (*--end != '0' && *end != '.') {
      break;
    }
    *end = 0;
  }
  const char *name = !unit && llabs(count) == 1 ? "byte" : names[unit];
  return of->hides_unit    ? string_make(text)
         : of->hides_count ? string_make(name)
                           : string_make_printf("%s %s", text, name);
}

static id byte_string_with(Class self, SEL _cmd, long long count,
                           NSInteger style) {
  byte_formatter *of =
      (byte_formatter *)objc_autorelease(instance_create(self, 0));
  of->style = style;
  return byte_string(&of->object, _cmd, count);
}

static NSInteger get_count_style(id self, SEL _cmd) {
  (void)_cmd;
  return ((byte_formatter *)self)->style;
}

static void set_count_style(id self, SEL _cmd, NSInteger style) {
  (void)_cmd;
  ((byte_formatter *)self)->style = style;
}

static NSUInteger get_units(id self, SEL _cmd) {
  (void)_cmd;
  return ((byte_formatter *)self)->units;
}

static void set_units(id self, SEL _cmd, NSUInteger units) {
  (void)_cmd;
  ((byte_formatter *)self)->units = units;
}

// A flag of the class, whose field may be its opposite.
#define FLAG(name, field, opposite)                            \
  static int get_##name(id self, SEL _cmd) {                   \
    (void)_cmd;                                                \
    return ((byte_formatter *)self)->field != (opposite);      \
  }                                                            \
  static void set_##name(id self, SEL _cmd, signed char is) {  \
    (void)_cmd;                                                \
    ((byte_formatter *)self)->field = (is != 0) != (opposite); \
  }
FLAG(unit, hides_unit, true)
FLAG(count, hides_count, true)
FLAG(words, digits_only, true)
FLAG(adaptive, fixed, true)
FLAG(pads, pads, false)

METHODS(byte_methods, METHOD("stringFromByteCount:", "@24@0:8q16", byte_string),
        METHOD("countStyle", "q16@0:8", get_count_style),
        METHOD("setCountStyle:", "v24@0:8q16", set_count_style),
        METHOD("allowedUnits", "Q16@0:8", get_units),
        METHOD("setAllowedUnits:", "v24@0:8Q16", set_units),
        METHOD("includesUnit", "B16@0:8", get_unit),
        METHOD("setIncludesUnit:", "v20@0:8B16", set_unit),
        METHOD("includesCount", "B16@0:8", get_count),
        METHOD("setIncludesCount:", "v20@0:8B16", set_count),
        METHOD("allowsNonnumericFormatting", "B16@0:8", get_words),
        METHOD("setAllowsNonnumericFormatting:", "v20@0:8B16", set_words),
        METHOD("isAdaptive", "B16@0:8", get_adaptive),
        METHOD("setAdaptive:", "v20@0:8B16", set_adaptive),
        METHOD("zeroPadsFractionDigits", "B16@0:8", get_pads),
        METHOD("setZeroPadsFractionDigits:", "v20@0:8B16", set_pads));
METHODS(byte_class_methods, METHOD("stringFromByteCount:countStyle:",
                                   "@32@0:8q16q24", byte_string_with));
DEFINE_CLASS(NSByteCountFormatter, NSFormatter, sizeof(byte_formatter),
             byte_methods, &byte_class_methods);
