// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// core_foundation.m: CoreFoundation's strings, numbers and collections as
// programs use them that were written in C, and that they are Foundation's.
#import <Foundation/Foundation.h>
#include "../check.h"

static void strings(void) {
  CFStringRef text = CFStringCreateWithCString(kCFAllocatorDefault, "h\xc3\xa9",
                                               kCFStringEncodingUTF8);
  char bytes[4];
  CHECK(CFStringGetLength(text) == 2);
  CHECK(CFStringGetCString(text, bytes, 4, kCFStringEncodingUTF8));
  CHECK(!strcmp(bytes, "h\xc3\xa9"));
  CHECK(!CFStringGetCString(text, bytes, 3, kCFStringEncodingUTF8));
  CHECK(!CFStringGetCStringPtr(text, kCFStringEncodingASCII));
  CHECK(!strcmp(CFStringGetCStringPtr(CFSTR("abc"), kCFStringEncodingASCII),
                "abc"));
  CHECK(CFStringGetMaximumSizeForEncoding(5, kCFStringEncodingUTF8) == 15);
  CHECK([(__bridge NSString *)text isEqual:@"h\u00e9"]);
  CHECK(CFStringCompare(CFSTR("ABC"), (__bridge CFStringRef) @"abc",
                        kCFCompareCaseInsensitive) == kCFCompareEqualTo);
  CHECK(CFStringCompare(CFSTR("a"), CFSTR("b"), 0) == kCFCompareLessThan);
  CHECK(CFGetTypeID(text) == CFStringGetTypeID());
  CFStringRef made = CFStringCreateWithFormat(NULL, NULL, CFSTR("%@ %d"),
                                              CFSTR("x"), 3);
  CHECK(CFEqual(made, CFSTR("x 3")) && CFHash(made) == CFHash(CFSTR("x 3")));
  CFRelease(made);
  CFRelease(text);
}

static void numbers(void) {
  const int32_t three = -3;
  const double half = 0.5, large = 1e10;
  CFNumberRef a = CFNumberCreate(NULL, kCFNumberSInt32Type, &three);
  CFNumberRef b = CFNumberCreate(NULL, kCFNumberDoubleType, &half);
  CFNumberRef c = CFNumberCreate(NULL, kCFNumberFloat64Type, &large);
  int64_t whole = 0;
  int32_t narrow = 0;
  float real = 0;
  CHECK(CFNumberGetValue(a, kCFNumberSInt64Type, &whole) && whole == -3);
  CHECK(CFNumberGetValue(b, kCFNumberFloatType, &real) && real == 0.5f);
  CHECK(!CFNumberGetValue(b, kCFNumberIntType, &narrow) && narrow == 0);
  CHECK(!CFNumberGetValue(c, kCFNumberSInt32Type, &narrow));
  CHECK([(__bridge NSNumber *)a isEqual:@-3]);
  CHECK(CFBooleanGetValue(kCFBooleanTrue) && !CFBooleanGetValue(kCFBooleanFalse));
  CHECK(CFGetTypeID(kCFBooleanTrue) == CFBooleanGetTypeID());
  CHECK(CFGetTypeID(a) == CFNumberGetTypeID());
  CFRelease(a);
  CFRelease(b);
  CFRelease(c);
}

static void collections(void) {
  CFMutableDictionaryRef table = CFDictionaryCreateMutable(
      kCFAllocatorDefault, 0, &kCFTypeDictionaryKeyCallBacks,
      &kCFTypeDictionaryValueCallBacks);
  CFDictionarySetValue(table, CFSTR("name"), CFSTR("one"));
  CFDictionaryAddValue(table, CFSTR("name"), CFSTR("two"));
  const void *found = NULL;
  CHECK(CFDictionaryGetValueIfPresent(table, CFSTR("name"), &found));
  CHECK(CFEqual(found, CFSTR("one")) && CFDictionaryGetCount(table) == 1);
  CHECK(!CFDictionaryContainsKey(table, CFSTR("other")));
  NSDictionary *same = (__bridge NSDictionary *)table;
  CHECK([same[@"name"] isEqual:@"one"]);
  CFRelease(table);
  const void *values[] = {CFSTR("a"), CFSTR("b")};
  CFArrayRef fixed = CFArrayCreate(NULL, values, 2, &kCFTypeArrayCallBacks);
  CFMutableArrayRef list = CFArrayCreateMutable(NULL, 0, NULL);
  CFArrayAppendValue(list, fixed);
  CHECK(CFArrayGetCount(list) == 1 && CFArrayGetCount(fixed) == 2);
  CHECK(CFEqual(CFArrayGetValueAtIndex(fixed, 1), CFSTR("b")));
  CHECK(CFArrayGetValueAtIndex(list, 0) == fixed);
  CFRelease(list);
  CFRelease(fixed);
  CFMutableDataRef data = CFDataCreateMutable(NULL, 0);
  CFDataAppendBytes(data, (const UInt8 *)"abcd", 4);
  UInt8 middle[2];
  CFDataGetBytes(data, CFRangeMake(1, 2), middle);
  CHECK(CFDataGetLength(data) == 4 && middle[0] == 'b' && middle[1] == 'c');
  CHECK(CFDataGetBytePtr(data)[3] == 'd');
  CFRelease(data);
}

static void urls(void) {
  CFURLRef url = CFURLCreateWithFileSystemPath(
      NULL, CFSTR("/tmp/a b"), kCFURLPOSIXPathStyle, false);
  UInt8 path[16];
  CHECK(CFURLGetFileSystemRepresentation(url, true, path, sizeof path));
  CHECK(!strcmp((const char *)path, "/tmp/a b"));
  CHECK(!CFURLGetFileSystemRepresentation(url, true, path, 8));
  CFRelease(url);
  CHECK(CFBundleGetMainBundle() ==
        (__bridge CFBundleRef)[NSBundle mainBundle]);
}

int main(void) {
  @autoreleasepool {
    strings();
    numbers();
    collections();
    urls();
  }
  return checks_end();
}
