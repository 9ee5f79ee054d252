// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// date.c: NSDate, and the clocks by which programs measure time.
#include <math.h>
#include <time.h>

#include "objc/foundation/foundation.h"

// Seconds from 1970 to the reference date, the beginning of 2001, both in UTC.
#define REFERENCE 978307200.0
#define FAR_AWAY 63113904000.0  // 2000 years of 365.2425 days

typedef struct date {
  struct objc_object object;
  double seconds;  // since the reference date
} date;

extern struct objc_class OBJC_CLASS_$_NSDate;
extern uint64_t dispatch_now_ns(void);

OBJC_EXPORT double CFAbsoluteTimeGetCurrent(void) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return (double)now.tv_sec - REFERENCE + 1e-9 * (double)now.tv_nsec;
}

OBJC_EXPORT double CACurrentMediaTime(void) {
  return 1e-9 * (double)dispatch_now_ns();
}

OBJC_EXPORT const double NSTimeIntervalSince1970;
const double NSTimeIntervalSince1970 = REFERENCE;

static double seconds_of(id self) {
  return ((const date *)self)->seconds;
}

static id make(double seconds) {
  date *made = (date *)CREATE(NSDate);
  made->seconds = seconds;
  return objc_autorelease((id)made);
}

static id date_init(id self, SEL _cmd) {
  (void)_cmd;
  ((date *)self)->seconds = CFAbsoluteTimeGetCurrent();
  return self;
}

static id init_reference(id self, SEL _cmd, double seconds) {
  (void)_cmd;
  ((date *)self)->seconds = seconds;
  return self;
}

static id init_1970(id self, SEL _cmd, double seconds) {
  return init_reference(self, _cmd, seconds - REFERENCE);
}

static id init_now(id self, SEL _cmd, double seconds) {
  return init_reference(self, _cmd, CFAbsoluteTimeGetCurrent() + seconds);
}

static double date_since_reference(id self, SEL _cmd) {
  (void)_cmd;
  return seconds_of(self);
}

static double date_since_1970(id self, SEL _cmd) {
  (void)_cmd;
  return seconds_of(self) + REFERENCE;
}

static double date_since(id self, SEL _cmd, id other) {
  (void)_cmd;
  return other ? seconds_of(self) - seconds_of(other) : NAN;
}

static double date_since_now(id self, SEL _cmd) {
  (void)_cmd;
  return seconds_of(self) - CFAbsoluteTimeGetCurrent();
}

static id date_adding(id self, SEL _cmd, double seconds) {
  (void)_cmd;
  return make(seconds_of(self) + seconds);
}

static NSInteger date_compare(id self, SEL _cmd, id other) {
  (void)_cmd;
  const double a = seconds_of(self), b = seconds_of(other);
  return (a > b) - (a < b);
}

static id date_earlier(id self, SEL _cmd, id other) {
  return date_compare(self, _cmd, other) > 0 ? other : self;
}

static id date_later(id self, SEL _cmd, id other) {
  return date_compare(self, _cmd, other) < 0 ? other : self;
}

static int date_equals(id self, SEL _cmd, id other) {
  (void)_cmd;
  return other &&
         SEND(int (*)(id, SEL, Class), other,
              "isKindOfClass:", &OBJC_CLASS_$_NSDate) &&
         seconds_of(self) == seconds_of(other);
}

static NSUInteger date_hash(id self, SEL _cmd) {
  (void)_cmd;
  return (NSUInteger)(NSInteger)fmod(seconds_of(self), 1e15);
}

static id date_copy(id self, SEL _cmd, void *zone) {
  (void)_cmd;
  (void)zone;
  return objc_retain(self);
}

static id date_description(id self, SEL _cmd) {
  (void)_cmd;
  const time_t when = (time_t)floor(seconds_of(self) + REFERENCE);
  struct tm parts;
  char text[64];
  if (!gmtime_r(&when, &parts) ||
      !strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S +0000", &parts)) {
    return string_make("a date");
  }
  return string_make(text);
}

// --- the class's own -----------------------------------------------------------

static id date_now(id self, SEL _cmd) {
  (void)self;
  (void)_cmd;
  return make(CFAbsoluteTimeGetCurrent());
}

static id with_reference(id self, SEL _cmd, double seconds) {
  (void)self;
  (void)_cmd;
  return make(seconds);
}

static id with_1970(id self, SEL _cmd, double seconds) {
  return with_reference(self, _cmd, seconds - REFERENCE);
}

static id with_now(id self, SEL _cmd, double seconds) {
  return with_reference(self, _cmd, CFAbsoluteTimeGetCurrent() + seconds);
}

static id with_date(id self, SEL _cmd, double seconds, id other) {
  return with_reference(self, _cmd, seconds_of(other) + seconds);
}

static double class_reference(id self, SEL _cmd) {
  (void)self;
  (void)_cmd;
  return CFAbsoluteTimeGetCurrent();
}

static id distant_future(id self, SEL _cmd) {
  return with_reference(self, _cmd, FAR_AWAY);
}

static id distant_past(id self, SEL _cmd) {
  return with_reference(self, _cmd, -FAR_AWAY);
}

METHODS(date_methods, METHOD("init", "@16@0:8", date_init),
        METHOD("initWithTimeIntervalSinceReferenceDate:", "@24@0:8d16",
               init_reference),
        METHOD("initWithTimeIntervalSince1970:", "@24@0:8d16", init_1970),
        METHOD("initWithTimeIntervalSinceNow:", "@24@0:8d16", init_now),
        METHOD("timeIntervalSinceReferenceDate", "d16@0:8",
               date_since_reference),
        METHOD("timeIntervalSince1970", "d16@0:8", date_since_1970),
        METHOD("timeIntervalSinceDate:", "d24@0:8@16", date_since),
        METHOD("timeIntervalSinceNow", "d16@0:8", date_since_now),
        METHOD("dateByAddingTimeInterval:", "@24@0:8d16", date_adding),
        METHOD("compare:", "q24@0:8@16", date_compare),
        METHOD("earlierDate:", "@24@0:8@16", date_earlier),
        METHOD("laterDate:", "@24@0:8@16", date_later),
        METHOD("isEqualToDate:", "B24@0:8@16", date_equals),
        METHOD("isEqual:", "B24@0:8@16", date_equals),
        METHOD("hash", "Q16@0:8", date_hash),
        METHOD("copyWithZone:", "@24@0:8^v16", date_copy),
        METHOD("description", "@16@0:8", date_description));
METHODS(date_class_methods, METHOD("date", "@16@0:8", date_now),
        METHOD("now", "@16@0:8", date_now),
        METHOD("dateWithTimeIntervalSinceReferenceDate:", "@24@0:8d16",
               with_reference),
        METHOD("dateWithTimeIntervalSince1970:", "@24@0:8d16", with_1970),
        METHOD("dateWithTimeIntervalSinceNow:", "@24@0:8d16", with_now),
        METHOD("dateWithTimeInterval:sinceDate:", "@32@0:8d16@24", with_date),
        METHOD("timeIntervalSinceReferenceDate", "d16@0:8", class_reference),
        METHOD("distantFuture", "@16@0:8", distant_future),
        METHOD("distantPast", "@16@0:8", distant_past));
DEFINE_CLASS(NSDate, NSObject, sizeof(date), date_methods,
             &date_class_methods);
