// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// NSValue.h: numbers and structs as objects.
#ifndef METTLE_OBJC_FOUNDATION_NSVALUE_H
#define METTLE_OBJC_FOUNDATION_NSVALUE_H

#include <Foundation/NSScanner.h>

#ifdef __OBJC__

@interface NSValue : NSObject <NSCopying>
+ (NSValue *)valueWithBytes:(const void *)bytes objCType:(const char *)type;
+ (NSValue *)value:(const void *)bytes withObjCType:(const char *)type;
+ (NSValue *)valueWithPointer:(const void *)pointer;
+ (NSValue *)valueWithNonretainedObject:(id)object;
+ (NSValue *)valueWithRange:(NSRange)range;
@property(readonly) id nonretainedObjectValue;
@property(readonly) NSRange rangeValue;
- (void)getValue:(void *)out;
- (void)getValue:(void *)out size:(NSUInteger)bytes;
@property(readonly) const char *objCType;
@property(readonly) void *pointerValue;
@end

#define NUMBER(Name, type)                     \
  +(NSNumber *)numberWith##Name : (type)value; \
  -(instancetype)initWith##Name : (type)value
@interface NSNumber : NSValue
NUMBER(Char, char);
NUMBER(UnsignedChar, unsigned char);
NUMBER(Short, short);
NUMBER(UnsignedShort, unsigned short);
NUMBER(Int, int);
NUMBER(UnsignedInt, unsigned int);
NUMBER(Long, long);
NUMBER(UnsignedLong, unsigned long);
NUMBER(LongLong, long long);
NUMBER(UnsignedLongLong, unsigned long long);
NUMBER(Integer, NSInteger);
NUMBER(UnsignedInteger, NSUInteger);
NUMBER(Bool, BOOL);
NUMBER(Float, float);
NUMBER(Double, double);
@property(readonly) char charValue;
@property(readonly) unsigned char unsignedCharValue;
@property(readonly) short shortValue;
@property(readonly) unsigned short unsignedShortValue;
@property(readonly) int intValue;
@property(readonly) unsigned int unsignedIntValue;
@property(readonly) long longValue;
@property(readonly) unsigned long unsignedLongValue;
@property(readonly) long long longLongValue;
@property(readonly) unsigned long long unsignedLongLongValue;
@property(readonly) NSInteger integerValue;
@property(readonly) NSUInteger unsignedIntegerValue;
@property(readonly) float floatValue;
@property(readonly) double doubleValue;
@property(readonly) BOOL boolValue;
@property(readonly, copy) NSString *stringValue;
- (BOOL)isEqualToNumber:(NSNumber *)other;
- (NSComparisonResult)compare:(NSNumber *)other;
@end
#undef NUMBER

#endif

#endif
