// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// time_zone.c: NSTimeZone and NSLocale. A zone is the machine's, an offset from
// UTC, or a file of /usr/share/zoneinfo. There is one locale, in whose words
// formatters write: that of the United States.
//
// Source  RFC 8536: files of time zones
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "objc/foundation/files.h"
#include "objc/foundation/foundation.h"
#include "objc/foundation/formats/time_zone.h"

extern struct objc_class OBJC_CLASS_$_NSLocale;
extern struct objc_class OBJC_CLASS_$_NSTimeZone;

typedef struct time_zone {
  struct objc_object object;
  id name;     // +1
  char *file;  // NULL: an offset, or the machine's zone
  size_t file_bytes;
  bool is_local;
  long offset;  // seconds east of UTC
} time_zone;

// --- Files of zones ----------------------------------------------------------

static int64_t big_endian(const char *at, int bytes) {
  uint64_t value = (signed char)*at < 0 ? UINT64_MAX : 0;
  for (int i = 0; i < bytes; ++i) {
    value = value << 8 | (unsigned char)at[i];
  }
  return (int64_t)value;
}

enum { HEADER_BYTES = 44 };

// The counts of a header: of times, types and abbreviations' bytes among
// others.
typedef struct zone_counts {
  size_t utc, standard, leaps, times, types, text;
} zone_counts;

static zone_counts counts_at(const char *header) {
  size_t n[6];
  for (int i = 0; i < 6; ++i) {
    n[i] = (size_t)big_endian(header + 20 + 4 * i, 4) & 0xffffff;
  }
  return (zone_counts){n[0], n[1], n[2], n[3], n[4], n[5]};
}

static size_t block_bytes(const zone_counts *n, size_t time_bytes) {
  return n->times * (time_bytes + 1) + n->types * 6 + n->text +
         n->leaps * (time_bytes + 4) + n->standard + n->utc;
}

// Finds the block with times of 64 bits; false if the file is none of a zone.
static bool find_block(const time_zone *of, const char **out_block,
                       zone_counts *out) {
  if (of->file_bytes < HEADER_BYTES || strncmp(of->file, "TZif", 4) != 0 ||
      of->file[4] < '2') {
    return false;
  }
  const zone_counts old = counts_at(of->file);
  const size_t at = HEADER_BYTES + block_bytes(&old, 4);
  if (at + HEADER_BYTES > of->file_bytes) {
    return false;
  }
  *out = counts_at(of->file + at);
  *out_block = of->file + at + HEADER_BYTES;
  return at + HEADER_BYTES + block_bytes(out, 8) <= of->file_bytes &&
         out->types > 0;
}

// Returns the offset of a time by the transitions of the file; behind the last
// the rule of the file's end is not read, and the last year's one holds.
static long file_offset(const time_zone *of, int64_t when) {
  const char *block;
  zone_counts n;
  if (!find_block(of, &block, &n)) {
    return 0;
  }
  size_t low = 0, high = n.times;
  while (low < high) {
    const size_t middle = (low + high) / 2;
    if (big_endian(block + 8 * middle, 8) <= when) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  const char *indices = block + 8 * n.times, *types = indices + n.times;
  const size_t type = low ? (unsigned char)indices[low - 1] : 0;
  return type < n.types ? big_endian(types + 6 * type, 4) : 0;
}

long time_zone_offset(id zone, double since_1970) {
  const time_zone *of = (time_zone *)zone;
  const time_t when = (time_t)floor(since_1970);
  if (of && of->file) {
    return file_offset(of, when);
  }
  if (!of || of->is_local) {
    struct tm parts;
    return localtime_r(&when, &parts) ? parts.tm_gmtoff : 0;
  }
  return of->offset;
}

// --- NSTimeZone --------------------------------------------------------------

static id zone_make_offset(long offset) {
  time_zone *made = (time_zone *)CREATE(NSTimeZone);
  const long minutes = labs(offset) / 60;
  made->offset = offset;
  made->name = objc_retain(
      offset ? string_make_printf("GMT%c%02ld%02ld", offset < 0 ? '-' : '+',
                                  minutes / 60, minutes % 60)
             : string_make("GMT"));
  return objc_autorelease(&made->object);
}

static id zone_with_offset(id self, SEL _cmd, NSInteger offset) {
  (void)self;
  (void)_cmd;
  return zone_make_offset(offset);
}

static id zone_local(id self, SEL _cmd) {
  (void)self;
  (void)_cmd;
  time_zone *made = (time_zone *)CREATE(NSTimeZone);
  const char *name = getenv("TZ");
  made->is_local = true;
  made->name = string_create(name && *name ? name : "local");
  return objc_autorelease(&made->object);
}

// "GMT+0530" and "GMT-8"
static bool read_offset(const char *name, long *out) {
  int hours = 0, minutes = 0;
  if (strncmp(name, "GMT", 3) != 0 || (name[3] != '+' && name[3] != '-')) {
    return false;
  }
  const size_t digits = strspn(name + 4, "0123456789");
  if (digits <= 2 ? sscanf(name + 4, "%d:%d", &hours, &minutes) < 1
                  : sscanf(name + 4, "%2d%2d", &hours, &minutes) < 2) {
    return false;
  }
  *out = (name[3] == '-' ? -1L : 1L) * (hours * 3600L + minutes * 60L);
  return true;
}

static id zone_with_name(id self, SEL _cmd, id name) {
  (void)self;
  (void)_cmd;
  const char *text = string_utf8(name);
  long offset;
  if (!strcmp(text, "UTC") || !strcmp(text, "GMT") || !strcmp(text, "Z")) {
    return zone_make_offset(0);
  }
  if (read_offset(text, &offset)) {
    return zone_make_offset(offset);
  }
  if (strstr(text, "..") || *text == '/' || !*text) {
    return NULL;
  }
  time_zone *made = (time_zone *)CREATE(NSTimeZone);
  made->name = objc_retain(name);
  made->file =
      file_read(string_utf8(string_make_printf("/usr/share/zoneinfo/%s", text)),
                &made->file_bytes, NULL);
  const char *block;
  zone_counts n;
  objc_autorelease(&made->object);
  return made->file && find_block(made, &block, &n) ? &made->object : NULL;
}

static void zone_dealloc(id self, SEL _cmd) {
  (void)_cmd;
  objc_release(((time_zone *)self)->name);
  free(((time_zone *)self)->file);
  instance_dispose(self);
}

static id zone_name(id self, SEL _cmd) {
  (void)_cmd;
  return ((time_zone *)self)->name;
}

static NSInteger zone_offset_for(id self, SEL _cmd, id date) {
  (void)_cmd;
  return time_zone_offset(
      self, SEND(double (*)(id, SEL), date, "timeIntervalSince1970"));
}

static NSInteger zone_offset_now(id self, SEL _cmd) {
  (void)_cmd;
  return time_zone_offset(self, (double)time(NULL));
}

METHODS(zone_methods, METHOD("dealloc", "v16@0:8", zone_dealloc),
        METHOD("name", "@16@0:8", zone_name),
        METHOD("description", "@16@0:8", zone_name),
        METHOD("secondsFromGMT", "q16@0:8", zone_offset_now),
        METHOD("secondsFromGMTForDate:", "q24@0:8@16", zone_offset_for));
METHODS(zone_class_methods,
        METHOD("timeZoneWithName:", "@24@0:8@16", zone_with_name),
        METHOD("timeZoneWithAbbreviation:", "@24@0:8@16", zone_with_name),
        METHOD("timeZoneForSecondsFromGMT:", "@24@0:8q16", zone_with_offset),
        METHOD("localTimeZone", "@16@0:8", zone_local),
        METHOD("systemTimeZone", "@16@0:8", zone_local),
        METHOD("defaultTimeZone", "@16@0:8", zone_local));
DEFINE_CLASS(NSTimeZone, NSObject, sizeof(time_zone), zone_methods,
             &zone_class_methods);

// --- NSLocale ----------------------------------------------------------------

typedef struct locale {
  struct objc_object object;
  id identifier;  // +1
} locale;

static id locale_init(id self, SEL _cmd, id identifier) {
  (void)_cmd;
  ((locale *)self)->identifier = SEND(id(*)(id, SEL), identifier, "copy");
  return self;
}

static id locale_with(Class self, SEL _cmd, id identifier) {
  return objc_autorelease(
      locale_init(instance_create(self, 0), _cmd, identifier));
}

static id locale_current(Class self, SEL _cmd) {
  return locale_with(self, _cmd, string_make("en_US"));
}

static void locale_dealloc(id self, SEL _cmd) {
  (void)_cmd;
  objc_release(((locale *)self)->identifier);
  instance_dispose(self);
}

static id locale_identifier(id self, SEL _cmd) {
  (void)_cmd;
  return ((locale *)self)->identifier;
}

METHODS(locale_methods, METHOD("dealloc", "v16@0:8", locale_dealloc),
        METHOD("initWithLocaleIdentifier:", "@24@0:8@16", locale_init),
        METHOD("localeIdentifier", "@16@0:8", locale_identifier));
METHODS(locale_class_methods,
        METHOD("localeWithLocaleIdentifier:", "@24@0:8@16", locale_with),
        METHOD("currentLocale", "@16@0:8", locale_current),
        METHOD("systemLocale", "@16@0:8", locale_current));
DEFINE_CLASS(NSLocale, NSObject, sizeof(locale), locale_methods,
             &locale_class_methods);
