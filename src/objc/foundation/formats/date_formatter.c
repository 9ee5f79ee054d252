// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// date_formatter.c: NSDateFormatter and NSISO8601DateFormatter, with the words
// of English.
//
// Source  Unicode Technical Standard 35, part 4: date format patterns
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "objc/foundation/foundation.h"
#include "objc/foundation/string_stream.h"
#include "objc/foundation/formats/time_zone.h"

extern struct objc_class OBJC_CLASS_$_NSDate;
extern struct objc_class OBJC_CLASS_$_NSDateFormatter;
extern struct objc_class OBJC_CLASS_$_NSISO8601DateFormatter;
extern struct objc_class OBJC_CLASS_$_NSTimeZone;

static const char *const months[] = {
    "January", "February", "March",     "April",   "May",      "June",
    "July",    "August",   "September", "October", "November", "December"};
static const char *const days[] = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                   "Thursday", "Friday", "Saturday"};
static const char *const halves[] = {"AM", "PM"};

// --- Writing -----------------------------------------------------------------

typedef struct moment {
  struct tm parts;
  double fraction;  // of the second
  long offset;      // seconds east of UTC
} moment;

static moment moment_of(double since_1970, id zone) {
  moment of;
  of.offset = time_zone_offset(zone, since_1970);
  const double second = floor(since_1970);
  of.fraction = since_1970 - second;
  const time_t local = (time_t)second + of.offset;
  gmtime_r(&local, &of.parts);
  return of;
}

static void put_word(FILE *out, const char *word, size_t letters) {
  fprintf(out, "%.*s", letters > 3 ? (int)strlen(word) : 3, word);
}

// Z and XXX: "+0100", "+01:00", and "Z" for UTC where with_z.
static void put_offset(FILE *out, long offset, bool colon, bool with_z) {
  if (!offset && with_z) {
    fputc('Z', out);
    return;
  }
  const long minutes = labs(offset) / 60;
  fprintf(out, "%c%02ld%s%02ld", offset < 0 ? '-' : '+', minutes / 60,
          colon ? ":" : "", minutes % 60);
}

// X and x: the minutes only where there are any.
static void put_short_offset(FILE *out, long offset, bool with_z) {
  if (offset % 3600 || (!offset && with_z)) {
    put_offset(out, offset, false, with_z);
  } else {
    fprintf(out, "%c%02ld", offset < 0 ? '-' : '+', labs(offset) / 3600);
  }
}

static void put_fraction(FILE *out, double fraction, size_t letters) {
  double scaled = fraction;
  for (size_t i = 0; i < letters && i < 9; ++i) {
    scaled *= 10;
  }
  // A time in binary lies a little below its decimal.
  fprintf(out, "%0*ld", (int)letters, (long)floor(scaled + 1e-4));
}

static int twelve_hours(int hour) {
  return hour % 12 ? hour % 12 : 12;
}

static void put_field(FILE *out, const moment *of, char letter,
                      size_t letters) {
  const struct tm *parts = &of->parts;
  const int width = (int)letters;
  switch (letter) {
    case 'y':
    case 'Y':
    case 'u':
      fprintf(
          out, "%0*d", width,
          letters == 2 ? (parts->tm_year + 1900) % 100 : parts->tm_year + 1900);
      break;
    case 'M':
    case 'L':
      if (letters >= 3) {
        put_word(out, months[parts->tm_mon], letters);
      } else {
        fprintf(out, "%0*d", width, parts->tm_mon + 1);
      }
      break;
    case 'd': fprintf(out, "%0*d", width, parts->tm_mday); break;
    case 'D': fprintf(out, "%0*d", width, parts->tm_yday + 1); break;
    case 'E':
    case 'c': put_word(out, days[parts->tm_wday], letters); break;
    case 'a': fputs(halves[parts->tm_hour >= 12], out); break;
    case 'H': fprintf(out, "%0*d", width, parts->tm_hour); break;
    case 'k':
      fprintf(out, "%0*d", width, parts->tm_hour ? parts->tm_hour : 24);
      break;
    case 'h': fprintf(out, "%0*d", width, twelve_hours(parts->tm_hour)); break;
    case 'K': fprintf(out, "%0*d", width, parts->tm_hour % 12); break;
    case 'm': fprintf(out, "%0*d", width, parts->tm_min); break;
    case 's': fprintf(out, "%0*d", width, parts->tm_sec); break;
    case 'S': put_fraction(out, of->fraction, letters); break;
    case 'X':
    case 'x':
      if (letters == 1) {
        put_short_offset(out, of->offset, letter == 'X');
      } else {
        put_offset(out, of->offset, letters == 3, letter == 'X');
      }
      break;
    case 'Z': put_offset(out, of->offset, letters == 5, letters == 5); break;
    case 'z':
      fputs("GMT", out);
      if (of->offset) {
        put_offset(out, of->offset, true, false);
      }
      break;
    default: break;
  }
}

// Returns the length of the run of equal letters.
static size_t run_of(const char *pattern) {
  size_t count = 1;
  while (pattern[count] == *pattern) {
    ++count;
  }
  return count;
}

// Returns the length of quoted text, which starts with ', and passes its
// characters on; '' is one quote.
typedef bool char_function(void *context, char is);
static size_t quoted(const char *pattern, char_function *each, void *context,
                     bool *out_matches) {
  size_t at = 1;
  *out_matches = true;
  if (pattern[1] == '\'') {
    *out_matches = each(context, '\'');
    return 2;
  }
  while (pattern[at]) {
    if (pattern[at] == '\'' && pattern[at + 1] != '\'') {
      return at + 1;
    }
    at += pattern[at] == '\'';
    *out_matches &= each(context, pattern[at++]);
  }
  return at;
}

static bool put_char(void *out, char is) {
  fputc(is, out);
  return true;
}

static id format_date(const char *pattern, double since_1970, id zone) {
  const moment of = moment_of(since_1970, zone);
  string_stream made;
  string_stream_open(&made);
  FILE *out = made.file;
  while (*pattern) {
    bool matches;
    if (*pattern == '\'') {
      pattern += quoted(pattern, put_char, out, &matches);
    } else if (isalpha((unsigned char)*pattern)) {
      const size_t letters = run_of(pattern);
      put_field(out, &of, *pattern, letters);
      pattern += letters;
    } else {
      fputc(*pattern++, out);
    }
  }
  return string_stream_close(&made);
}

// --- Reading -----------------------------------------------------------------

typedef struct parse {
  const char *at;
  struct tm parts;
  double fraction;
  bool has_offset, is_pm, has_half;
  long offset;
} parse;

static bool take_number(parse *in, size_t most, int *out) {
  size_t digits = 0;
  int value = 0;
  while (digits < most && isdigit((unsigned char)in->at[digits])) {
    value = 10 * value + in->at[digits++] - '0';
  }
  in->at += digits;
  *out = value;
  return digits > 0;
}

static bool take_word(parse *in, const char *const *words, int count,
                      int *out) {
  for (int i = 0; i < count; ++i) {
    const size_t whole = strlen(words[i]);
    const size_t lengths[] = {whole, whole < 3 ? whole : 3};
    for (int j = 0; j < 2; ++j) {
      if (strncasecmp(in->at, words[i], lengths[j]) == 0) {
        in->at += lengths[j];
        *out = i;
        return true;
      }
    }
  }
  return false;
}

static bool take_offset(parse *in) {
  in->has_offset = true;
  if (*in->at == 'Z') {
    ++in->at;
    return true;
  }
  if (strncmp(in->at, "GMT", 3) == 0 || strncmp(in->at, "UTC", 3) == 0) {
    in->at += 3;
    if (*in->at != '+' && *in->at != '-') {
      return true;
    }
  }
  const char sign = *in->at;
  int hours, minutes = 0;
  if (sign != '+' && sign != '-') {
    return false;
  }
  ++in->at;
  if (!take_number(in, 2, &hours)) {
    return false;
  }
  in->at += *in->at == ':';
  take_number(in, 2, &minutes);
  in->offset = (sign == '-' ? -1L : 1L) * (hours * 3600L + minutes * 60L);
  return true;
}

static bool take_fraction(parse *in) {
  const char *start = in->at;
  double unit = 0.1;
  for (; isdigit((unsigned char)*in->at); ++in->at, unit /= 10) {
    in->fraction += (*in->at - '0') * unit;
  }
  return in->at > start;
}

static bool take_year(parse *in, size_t letters) {
  int year;
  if (!take_number(in, letters == 2 ? 2 : 9, &year)) {
    return false;
  }
  if (letters == 2) {  // within 80 years before now and 20 behind
    year += year < 46 ? 2000 : 1900;
  }
  in->parts.tm_year = year - 1900;
  return true;
}

static bool take_field(parse *in, char letter, size_t letters) {
  int value, ignored;
  struct tm *parts = &in->parts;
  // Two letters may be followed by digits of the next field.
  const size_t most = letters > 1 ? letters : 2;
  switch (letter) {
    case 'y':
    case 'Y':
    case 'u': return take_year(in, letters);
    case 'M':
    case 'L':
      if (letters >= 3) {
        return take_word(in, months, 12, &parts->tm_mon);
      }
      if (!take_number(in, most, &value)) {
        return false;
      }
      parts->tm_mon = value - 1;
      return value >= 1 && value <= 12;
    case 'd':
      return take_number(in, most, &parts->tm_mday) && parts->tm_mday >= 1 &&
             parts->tm_mday <= 31;
    case 'E':
    case 'c': return take_word(in, days, 7, &ignored);
    case 'a':
      in->has_half = take_word(in, halves, 2, &value);
      in->is_pm = in->has_half && value;
      return in->has_half;
    case 'H':
    case 'k':
    case 'h':
    case 'K':
      return take_number(in, most, &parts->tm_hour) && parts->tm_hour <= 24;
    case 'm':
      return take_number(in, most, &parts->tm_min) && parts->tm_min < 60;
    case 's':
      return take_number(in, most, &parts->tm_sec) && parts->tm_sec < 61;
    case 'S': return take_fraction(in);
    case 'Z':
    case 'z':
    case 'X':
    case 'x': return take_offset(in);
    default: return false;
  }
}

static bool take_char(void *context, char is) {
  parse *in = context;
  return *in->at == is && *in->at++;
}

static id parse_date(const char *pattern, const char *text, id zone) {
  parse in = {.at = text, .parts = {.tm_year = 100, .tm_mday = 1}};
  bool matches = true;
  while (*pattern && matches) {
    if (*pattern == '\'') {
      pattern += quoted(pattern, take_char, &in, &matches);
    } else if (isalpha((unsigned char)*pattern)) {
      const size_t letters = run_of(pattern);
      matches = take_field(&in, *pattern, letters);
      pattern += letters;
    } else {
      matches = take_char(&in, *pattern++);
    }
  }
  if (!matches || *in.at) {
    return NULL;
  }
  if (in.has_half) {
    in.parts.tm_hour = in.parts.tm_hour % 12 + (in.is_pm ? 12 : 0);
  }
  const int day = in.parts.tm_mday;
  const double local = (double)timegm(&in.parts);
  if (in.parts.tm_mday != day && in.parts.tm_hour != 0) {
    return NULL;  // February 30
  }
  long offset = in.offset;
  if (!in.has_offset) {  // the zone's at that time, which needs the offset
    offset = time_zone_offset(zone, local);
    offset = time_zone_offset(zone, local - (double)offset);
  }
  return SEND(
      id(*)(id, SEL, double), CLASS_OF(NSDate),
      "dateWithTimeIntervalSince1970:", local - (double)offset + in.fraction);
}

// --- NSDateFormatter ---------------------------------------------------------

typedef struct date_formatter {
  struct objc_object object;
  id pattern, zone, locale;  // +1
  NSUInteger date_style, time_style;
  NSUInteger options;  // of ISO 8601
} date_formatter;

static void date_dealloc(id self, SEL _cmd) {
  (void)_cmd;
  const date_formatter *of = (date_formatter *)self;
  objc_release(of->pattern);
  objc_release(of->zone);
  objc_release(of->locale);
  instance_dispose(self);
}

// The pattern that is set, or that of the styles.
static id get_pattern(id self, SEL _cmd) {
  static const char *const dates[] = {"", "M/d/yy", "MMM d, y", "MMMM d, y",
                                      "EEEE, MMMM d, y"};
  static const char *const times[] = {"", "h:mm a", "h:mm:ss a", "h:mm:ss a z",
                                      "h:mm:ss a z"};
  (void)_cmd;
  const date_formatter *of = (date_formatter *)self;
  if (of->pattern) {
    return of->pattern;
  }
  const NSUInteger date = of->date_style < 5 ? of->date_style : 4;
  const NSUInteger time = of->time_style < 5 ? of->time_style : 4;
  const char *between = !date || !time ? "" : date > 2 ? " 'at' " : ", ";
  return string_make_printf("%s%s%s", dates[date], between, times[time]);
}

static void set_pattern(id self, SEL _cmd, id pattern) {
  (void)_cmd;
  date_formatter *of = (date_formatter *)self;
  objc_release(of->pattern);
  of->pattern = SEND(id(*)(id, SEL), pattern, "copy");
}

static double since_1970(id date) {
  return SEND(double (*)(id, SEL), date, "timeIntervalSince1970");
}

static id date_string(id self, SEL _cmd, id date) {
  return date ? format_date(string_utf8(get_pattern(self, _cmd)),
                            since_1970(date), ((date_formatter *)self)->zone)
              : NULL;
}

static id date_read(id self, SEL _cmd, id text) {
  return text ? parse_date(string_utf8(get_pattern(self, _cmd)),
                           string_utf8(text), ((date_formatter *)self)->zone)
              : NULL;
}

static id date_localized(Class self, SEL _cmd, id date, NSUInteger date_style,
                         NSUInteger time_style) {
  date_formatter *of =
      (date_formatter *)objc_autorelease(instance_create(self, 0));
  of->date_style = date_style;
  of->time_style = time_style;
  return date_string(&of->object, _cmd, date);
}

static id get_zone(id self, SEL _cmd) {
  (void)_cmd;
  const id zone = ((date_formatter *)self)->zone;
  return zone ? zone
              : SEND(id(*)(id, SEL), CLASS_OF(NSTimeZone), "localTimeZone");
}

static void set_zone(id self, SEL _cmd, id zone) {
  (void)_cmd;
  objc_storeStrong(&((date_formatter *)self)->zone, zone);
}

static id get_locale(id self, SEL _cmd) {
  (void)_cmd;
  return ((date_formatter *)self)->locale;
}

static void set_locale(id self, SEL _cmd, id locale) {
  (void)_cmd;
  objc_storeStrong(&((date_formatter *)self)->locale, locale);
}

#define PROPERTY(name, field)                                   \
  static NSUInteger get_##name(id self, SEL _cmd) {             \
    (void)_cmd;                                                 \
    return ((date_formatter *)self)->field;                     \
  }                                                             \
  static void set_##name(id self, SEL _cmd, NSUInteger value) { \
    (void)_cmd;                                                 \
    ((date_formatter *)self)->field = value;                    \
  }
PROPERTY(date_style, date_style)
PROPERTY(time_style, time_style)
PROPERTY(options, options)

METHODS(date_methods, METHOD("dealloc", "v16@0:8", date_dealloc),
        METHOD("stringFromDate:", "@24@0:8@16", date_string),
        METHOD("stringForObjectValue:", "@24@0:8@16", date_string),
        METHOD("dateFromString:", "@24@0:8@16", date_read),
        METHOD("dateFormat", "@16@0:8", get_pattern),
        METHOD("setDateFormat:", "v24@0:8@16", set_pattern),
        METHOD("timeZone", "@16@0:8", get_zone),
        METHOD("setTimeZone:", "v24@0:8@16", set_zone),
        METHOD("locale", "@16@0:8", get_locale),
        METHOD("setLocale:", "v24@0:8@16", set_locale),
        METHOD("dateStyle", "Q16@0:8", get_date_style),
        METHOD("setDateStyle:", "v24@0:8Q16", set_date_style),
        METHOD("timeStyle", "Q16@0:8", get_time_style),
        METHOD("setTimeStyle:", "v24@0:8Q16", set_time_style));
METHODS(date_class_methods,
        METHOD("localizedStringFromDate:dateStyle:timeStyle:",
               "@40@0:8@16Q24Q32", date_localized));
DEFINE_CLASS(NSDateFormatter, NSFormatter, sizeof(date_formatter), date_methods,
             &date_class_methods);

// --- NSISO8601DateFormatter --------------------------------------------------

enum {
  ISO_YEAR = 1 << 0,
  ISO_MONTH = 1 << 1,
  ISO_DAY = 1 << 4,
  ISO_TIME = 1 << 5,
  ISO_ZONE = 1 << 6,
  ISO_SPACE = 1 << 7,
  ISO_DASHES = 1 << 8,
  ISO_COLONS = 1 << 9,
  ISO_ZONE_COLON = 1 << 10,
  ISO_FRACTION = 1 << 11,
  ISO_INTERNET = ISO_YEAR | ISO_MONTH | ISO_DAY | ISO_TIME | ISO_ZONE |
                 ISO_DASHES | ISO_COLONS | ISO_ZONE_COLON,
};

static id iso_init(id self, SEL _cmd) {
  (void)_cmd;
  date_formatter *of = (date_formatter *)self;
  of->options = ISO_INTERNET;
  of->zone = objc_retain(SEND(id(*)(id, SEL, id), CLASS_OF(NSTimeZone),
                              "timeZoneWithName:", string_make("GMT")));
  return self;
}

static const char *iso_pattern(NSUInteger options) {
  const char *dash = options & ISO_DASHES ? "-" : "";
  const bool month = options & ISO_MONTH, day = options & ISO_DAY;
  const bool colons = options & ISO_COLONS, has_time = options & ISO_TIME;
  return string_utf8(string_make_printf(
      "%s%s%s%s%s%s%s%s%s", options & ISO_YEAR ? "yyyy" : "",
      month && options & ISO_YEAR ? dash : "", month ? "MM" : "",
      day && month ? dash : "", day ? "dd" : "",
      !has_time             ? ""
      : options & ISO_SPACE ? " "
                            : "'T'",
      !has_time ? ""
      : colons  ? "HH:mm:ss"
                : "HHmmss",
      options & ISO_FRACTION ? ".SSS" : "",
      !(options & ISO_ZONE)      ? ""
      : options & ISO_ZONE_COLON ? "XXX"
                                 : "XX"));
}

static id iso_string(id self, SEL _cmd, id date) {
  (void)_cmd;
  const date_formatter *of = (date_formatter *)self;
  return date
             ? format_date(iso_pattern(of->options), since_1970(date), of->zone)
             : NULL;
}

static id iso_read(id self, SEL _cmd, id text) {
  (void)_cmd;
  const date_formatter *of = (date_formatter *)self;
  return text
             ? parse_date(iso_pattern(of->options), string_utf8(text), of->zone)
             : NULL;
}

static id iso_string_with(Class self, SEL _cmd, id date, id zone,
                          NSUInteger options) {
  date_formatter *of =
      (date_formatter *)objc_autorelease(instance_create(self, 0));
  of->options = options;
  of->zone = objc_retain(zone);
  return iso_string(&of->object, _cmd, date);
}

METHODS(iso_methods, METHOD("init", "@16@0:8", iso_init),
        METHOD("dealloc", "v16@0:8", date_dealloc),
        METHOD("stringFromDate:", "@24@0:8@16", iso_string),
        METHOD("stringForObjectValue:", "@24@0:8@16", iso_string),
        METHOD("dateFromString:", "@24@0:8@16", iso_read),
        METHOD("timeZone", "@16@0:8", get_zone),
        METHOD("setTimeZone:", "v24@0:8@16", set_zone),
        METHOD("formatOptions", "Q16@0:8", get_options),
        METHOD("setFormatOptions:", "v24@0:8Q16", set_options));
METHODS(iso_class_methods, METHOD("stringFromDate:timeZone:formatOptions:",
                                  "@40@0:8@16@24Q32", iso_string_with));
DEFINE_CLASS(NSISO8601DateFormatter, NSFormatter, sizeof(date_formatter),
             iso_methods, &iso_class_methods);
