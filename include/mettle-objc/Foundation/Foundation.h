// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Foundation.h: the part of Foundation that clients of Metal use. What is not
// here is not there: docs/objc.md.
#ifndef METTLE_OBJC_FOUNDATION_H
#define METTLE_OBJC_FOUNDATION_H

#include <Availability.h>
#include <Block.h>
#include <CoreFoundation/CoreFoundation.h>
#include <CoreGraphics/CoreGraphics.h>
#include <TargetConditionals.h>
#include <objc/runtime.h>
#include <sys/types.h>
#include <unistd.h>
#include <dispatch/dispatch.h>
#include <mach/mach.h>

#define FOUNDATION_EXPORT OBJC_EXTERN
#define FOUNDATION_EXTERN OBJC_EXTERN
#define NS_INLINE static inline
#define NS_ENUM(type, name) \
  enum name : type name;    \
  enum name : type
// In C++ an integer, so that flags may be joined and converted.
#ifdef __cplusplus
#define NS_OPTIONS(type, name) \
  type name;                   \
  enum : type
#else
#define NS_OPTIONS(type, name) \
  enum name : type name;       \
  enum name : type
#endif
#define NS_ASSUME_NONNULL_BEGIN _Pragma("clang assume_nonnull begin")
#define NS_ASSUME_NONNULL_END _Pragma("clang assume_nonnull end")
#define NS_CLOSED_ENUM NS_ENUM
#define NS_ERROR_ENUM(domain, name) \
  enum name : NSInteger name;       \
  enum name : NSInteger
#define NS_DESIGNATED_INITIALIZER __attribute__((objc_designated_initializer))
#define NS_UNAVAILABLE __attribute__((unavailable))
#define UNAVAILABLE_ATTRIBUTE __attribute__((unavailable))
#define NS_REQUIRES_SUPER __attribute__((objc_requires_super))
#define NS_ROOT_CLASS __attribute__((objc_root_class))
#define NS_RETURNS_RETAINED __attribute__((ns_returns_retained))
#define NS_RETURNS_NOT_RETAINED __attribute__((ns_returns_not_retained))
#define NS_RETURNS_INNER_POINTER __attribute__((objc_returns_inner_pointer))
#define NS_VALID_UNTIL_END_OF_SCOPE __attribute__((objc_precise_lifetime))
#define NS_NOESCAPE __attribute__((noescape))
#define NS_TYPED_ENUM
#define NS_TYPED_EXTENSIBLE_ENUM
#define NS_STRING_ENUM
#define NS_EXTENSIBLE_STRING_ENUM
#define NS_SWIFT_NAME(...)
#define NS_SWIFT_UNAVAILABLE(...)
#define NS_SWIFT_SENDABLE
#define NS_REFINED_FOR_SWIFT
#define NS_AVAILABLE(...)
#define NS_AVAILABLE_MAC(...)
#define NS_DEPRECATED(...)
#define NS_CLASS_AVAILABLE(...)
#define NS_HEADER_AUDIT_BEGIN(...)
#define NS_HEADER_AUDIT_END(...)
#define NS_REQUIRES_NIL_TERMINATION __attribute__((sentinel(0, 1)))
#define NS_FORMAT_FUNCTION(f, a) __attribute__((format(__NSString__, f, a)))

typedef unsigned long NSUInteger;
typedef long NSInteger;
typedef double NSTimeInterval;
typedef unsigned short unichar;
typedef struct _NSZone NSZone;
typedef uint32_t UTF32Char;
#define NSIntegerMax LONG_MAX
#define NSUIntegerMax ULONG_MAX
#define NSNotFound ((NSInteger)__LONG_MAX__)

typedef struct _NSRange {
  NSUInteger location;
  NSUInteger length;
} NSRange;
NS_INLINE NSRange NSMakeRange(NSUInteger location, NSUInteger length) {
  NSRange range = {location, length};
  return range;
}
NS_INLINE NSUInteger NSMaxRange(NSRange range) {
  return range.location + range.length;
}
NS_INLINE bool NSLocationInRange(NSUInteger location, NSRange range) {
  return location >= range.location &&
         location - range.location < range.length;
}
NS_INLINE bool NSEqualRanges(NSRange one, NSRange other) {
  return one.location == other.location && one.length == other.length;
}
NS_INLINE NSRange NSUnionRange(NSRange one, NSRange other) {
  const NSUInteger first =
      one.location < other.location ? one.location : other.location;
  const NSUInteger end = NSMaxRange(one) > NSMaxRange(other)
                             ? NSMaxRange(one)
                             : NSMaxRange(other);
  return NSMakeRange(first, end - first);
}
NS_INLINE NSRange NSIntersectionRange(NSRange one, NSRange other) {
  const NSUInteger first =
      one.location > other.location ? one.location : other.location;
  const NSUInteger end = NSMaxRange(one) < NSMaxRange(other)
                             ? NSMaxRange(one)
                             : NSMaxRange(other);
  return first < end ? NSMakeRange(first, end - first) : NSMakeRange(0, 0);
}
typedef NSRange *NSRangePointer;

#ifndef MAX
#define MAX(a, b)           \
  __extension__({           \
    __typeof__(a) a_ = (a); \
    __typeof__(b) b_ = (b); \
    a_ > b_ ? a_ : b_;      \
  })
#endif
#ifndef MIN
#define MIN(a, b)           \
  __extension__({           \
    __typeof__(a) a_ = (a); \
    __typeof__(b) b_ = (b); \
    a_ < b_ ? a_ : b_;      \
  })
#endif
#ifndef ABS
#define ABS(a)              \
  __extension__({           \
    __typeof__(a) a_ = (a); \
    a_ < 0 ? -a_ : a_;      \
  })
#endif

typedef CGPoint NSPoint;
typedef CGSize NSSize;
typedef CGRect NSRect;
NS_INLINE NSPoint NSMakePoint(CGFloat x, CGFloat y) {
  return CGPointMake(x, y);
}
NS_INLINE NSSize NSMakeSize(CGFloat width, CGFloat height) {
  return CGSizeMake(width, height);
}
NS_INLINE NSRect NSMakeRect(CGFloat x, CGFloat y, CGFloat width,
                            CGFloat height) {
  return CGRectMake(x, y, width, height);
}

typedef NS_ENUM(NSInteger, NSComparisonResult) {
  NSOrderedAscending = -1,
  NSOrderedSame = 0,
  NSOrderedDescending = 1
};

typedef struct {
  NSInteger majorVersion;
  NSInteger minorVersion;
  NSInteger patchVersion;
} NSOperatingSystemVersion;

#ifdef __OBJC__

@class NSString, NSArray, NSDictionary, NSError, NSData, NSURL, Protocol,
    NSEnumerator, NSIndexSet, NSNotification, NSDate;

// --- NSObject ----------------------------------------------------------------

@protocol NSObject
- (BOOL)isEqual:(id)object;
@property(readonly) NSUInteger hash;
@property(readonly) Class superclass;
- (Class)class;
- (instancetype)self;
- (id)performSelector:(SEL)selector;
- (id)performSelector:(SEL)selector withObject:(id)object;
- (id)performSelector:(SEL)selector
           withObject:(id)object
           withObject:(id)other;
- (BOOL)isProxy;
- (BOOL)isKindOfClass:(Class)cls;
- (BOOL)isMemberOfClass:(Class)cls;
- (BOOL)conformsToProtocol:(Protocol *)protocol;
- (BOOL)respondsToSelector:(SEL)selector;
#if !__has_feature(objc_arc)
- (instancetype)retain;
- (oneway void)release;
- (instancetype)autorelease;
- (NSUInteger)retainCount;
#endif
@property(readonly, copy) NSString *description;
@optional
@property(readonly, copy) NSString *debugDescription;
@end

@protocol NSCopying
- (id)copyWithZone:(NSZone *)zone;
@end
@protocol NSMutableCopying
- (id)mutableCopyWithZone:(NSZone *)zone;
@end
@protocol NSSecureCoding
@end

__attribute__((objc_root_class))
@interface NSObject <NSObject> {
  Class isa;
}
+ (void)load;
+ (void)initialize;
- (instancetype)init;
+ (instancetype)new;
+ (instancetype)alloc;
+ (instancetype)allocWithZone:(NSZone *)zone;
- (void)dealloc;
- (id)copy;
- (id)mutableCopy;
+ (Class)class;
+ (Class)superclass;
+ (BOOL)isSubclassOfClass:(Class)cls;
+ (BOOL)instancesRespondToSelector:(SEL)selector;
+ (BOOL)conformsToProtocol:(Protocol *)protocol;
+ (IMP)instanceMethodForSelector:(SEL)selector;
- (IMP)methodForSelector:(SEL)selector;
- (void)doesNotRecognizeSelector:(SEL)selector;
- (id)forwardingTargetForSelector:(SEL)selector;
+ (BOOL)resolveClassMethod:(SEL)selector;
+ (BOOL)resolveInstanceMethod:(SEL)selector;
+ (NSString *)description;
@end

// By accessors or instance variables; there is no observing.
@interface NSObject (NSKeyValueCoding)
- (id)valueForKey:(NSString *)key;
- (void)setValue:(id)value forKey:(NSString *)key;
- (id)valueForKeyPath:(NSString *)path;
- (void)setValue:(id)value forKeyPath:(NSString *)path;
- (id)valueForUndefinedKey:(NSString *)key;
- (void)setValue:(id)value forUndefinedKey:(NSString *)key;
- (NSDictionary *)dictionaryWithValuesForKeys:(NSArray *)keys;
@end

FOUNDATION_EXPORT NSString *NSStringFromClass(Class cls);
FOUNDATION_EXPORT Class NSClassFromString(NSString *name);
FOUNDATION_EXPORT NSString *NSStringFromSelector(SEL selector);
FOUNDATION_EXPORT SEL NSSelectorFromString(NSString *name);
FOUNDATION_EXPORT NSString *NSStringFromProtocol(Protocol *protocol);
FOUNDATION_EXPORT Protocol *NSProtocolFromString(NSString *name);
FOUNDATION_EXPORT NSString *NSStringFromRange(NSRange range);
FOUNDATION_EXPORT NSRange NSRangeFromString(NSString *text);

#if __has_feature(objc_arc)
NS_INLINE CFTypeRef CFBridgingRetain(id object) {
  return (__bridge_retained CFTypeRef)object;
}
NS_INLINE id CFBridgingRelease(CFTypeRef object) {
  return (__bridge_transfer id)object;
}
#else
NS_INLINE CFTypeRef CFBridgingRetain(id object) {
  return object ? CFRetain((CFTypeRef)object) : 0;
}
NS_INLINE id CFBridgingRelease(CFTypeRef object) {
  return objc_autorelease((id)object);
}
#endif

@interface NSAutoreleasePool : NSObject
#if !__has_feature(objc_arc)
- (void)drain;
#endif
@end

typedef struct {
  unsigned long state;
  id __unsafe_unretained *itemsPtr;
  unsigned long *mutationsPtr;
  unsigned long extra[5];
} NSFastEnumerationState;
@protocol NSFastEnumeration
- (NSUInteger)countByEnumeratingWithState:(NSFastEnumerationState *)state
                                  objects:(id __unsafe_unretained[])buffer
                                    count:(NSUInteger)count;
@end

@class NSArray<__covariant T>;
@interface NSEnumerator<T> : NSObject <NSFastEnumeration>
- (T)nextObject;
@property(readonly, copy) NSArray<T> *allObjects;
@end

// --- Strings -----------------------------------------------------------------

typedef NSUInteger NSStringEncoding;
enum {
  NSASCIIStringEncoding = 1,
  NSUTF8StringEncoding = 4,
  NSISOLatin1StringEncoding = 5,
  NSUnicodeStringEncoding = 10,
  NSUTF16StringEncoding = 10,
  NSUTF16LittleEndianStringEncoding = 0x94000100
};

@interface NSCharacterSet : NSObject <NSCopying>
@property(class, readonly, copy) NSCharacterSet *whitespaceCharacterSet;
@property(class, readonly, copy) NSCharacterSet *newlineCharacterSet;
@property(class, readonly, copy)
    NSCharacterSet *whitespaceAndNewlineCharacterSet;
@property(class, readonly, copy) NSCharacterSet *decimalDigitCharacterSet;
@property(class, readonly, copy) NSCharacterSet *letterCharacterSet;
@property(class, readonly, copy) NSCharacterSet *alphanumericCharacterSet;
@property(class, readonly, copy) NSCharacterSet *punctuationCharacterSet;
@property(class, readonly, copy) NSCharacterSet *uppercaseLetterCharacterSet;
@property(class, readonly, copy) NSCharacterSet *lowercaseLetterCharacterSet;
@property(class, readonly, copy) NSCharacterSet *URLHostAllowedCharacterSet;
@property(class, readonly, copy) NSCharacterSet *URLPathAllowedCharacterSet;
@property(class, readonly, copy) NSCharacterSet *URLQueryAllowedCharacterSet;
@property(class, readonly, copy)
    NSCharacterSet *URLFragmentAllowedCharacterSet;
@property(class, readonly, copy) NSCharacterSet *URLUserAllowedCharacterSet;
@property(class, readonly, copy)
    NSCharacterSet *URLPasswordAllowedCharacterSet;
+ (NSCharacterSet *)characterSetWithCharactersInString:(NSString *)characters;
+ (NSCharacterSet *)characterSetWithRange:(NSRange)range;
@property(readonly, copy) NSCharacterSet *invertedSet;
- (BOOL)characterIsMember:(unichar)unit;
@end

typedef NS_OPTIONS(NSUInteger, NSStringCompareOptions) {
  NSCaseInsensitiveSearch = 1,
  NSLiteralSearch = 2,
  NSBackwardsSearch = 4,
  NSAnchoredSearch = 8,
  NSNumericSearch = 64
};

@interface NSString : NSObject <NSCopying, NSMutableCopying>
@property(readonly) NSUInteger length;
- (unichar)characterAtIndex:(NSUInteger)index;
@end

@interface NSString (NSStringExtensionMethods)
+ (instancetype)string;
+ (instancetype)stringWithString:(NSString *)string;
+ (instancetype)stringWithUTF8String:(const char *)utf8;
+ (instancetype)stringWithCString:(const char *)bytes
                         encoding:(NSStringEncoding)encoding;
+ (instancetype)stringWithCharacters:(const unichar *)units
                              length:(NSUInteger)length;
+ (instancetype)stringWithFormat:(NSString *)format, ...
    NS_FORMAT_FUNCTION(1, 2);
+ (instancetype)stringWithContentsOfFile:(NSString *)path
                                encoding:(NSStringEncoding)encoding
                                   error:(NSError **)error;
+ (instancetype)stringWithContentsOfURL:(NSURL *)url
                               encoding:(NSStringEncoding)encoding
                                  error:(NSError **)error;
- (instancetype)initWithContentsOfFile:(NSString *)path
                              encoding:(NSStringEncoding)encoding
                                 error:(NSError **)error;
- (BOOL)writeToURL:(NSURL *)url
        atomically:(BOOL)atomically
          encoding:(NSStringEncoding)encoding
             error:(NSError **)error;
+ (NSString *)pathWithComponents:(NSArray *)components;
+ (NSStringEncoding)defaultCStringEncoding;
- (instancetype)initWithString:(NSString *)string;
- (instancetype)initWithUTF8String:(const char *)utf8;
- (instancetype)initWithCString:(const char *)bytes
                       encoding:(NSStringEncoding)encoding;
- (instancetype)initWithBytes:(const void *)bytes
                       length:(NSUInteger)length
                     encoding:(NSStringEncoding)encoding;
- (instancetype)initWithBytesNoCopy:(void *)bytes
                             length:(NSUInteger)length
                           encoding:(NSStringEncoding)encoding
                       freeWhenDone:(BOOL)frees;
- (instancetype)initWithCharacters:(const unichar *)units
                            length:(NSUInteger)length;
- (instancetype)initWithData:(NSData *)data
                    encoding:(NSStringEncoding)encoding;
- (instancetype)initWithFormat:(NSString *)format, ...
    NS_FORMAT_FUNCTION(1, 2);
- (instancetype)initWithFormat:(NSString *)format arguments:(va_list)arguments;
@property(readonly) const char *UTF8String __attribute__((objc_returns_inner_pointer));
@property(readonly) int intValue;
@property(readonly) NSInteger integerValue;
@property(readonly) long long longLongValue;
@property(readonly) float floatValue;
@property(readonly) double doubleValue;
@property(readonly) BOOL boolValue;
@property(readonly, copy) NSString *lowercaseString;
@property(readonly, copy) NSString *uppercaseString;
@property(readonly, copy) NSString *lastPathComponent;
@property(readonly, copy) NSString *pathExtension;
@property(readonly, copy) NSString *stringByDeletingLastPathComponent;
@property(readonly, copy) NSString *stringByDeletingPathExtension;
@property(readonly, copy) NSString *stringByStandardizingPath;
@property(readonly, copy) NSArray *pathComponents;
@property(readonly, getter=isAbsolutePath) BOOL absolutePath;
@property(readonly) const char *fileSystemRepresentation __attribute__((objc_returns_inner_pointer));
- (BOOL)isEqualToString:(NSString *)other;
- (NSComparisonResult)compare:(NSString *)other;
- (NSComparisonResult)caseInsensitiveCompare:(NSString *)other;
- (BOOL)hasPrefix:(NSString *)prefix;
- (BOOL)hasSuffix:(NSString *)suffix;
- (BOOL)containsString:(NSString *)other;
- (NSRange)rangeOfString:(NSString *)other;
- (NSString *)substringToIndex:(NSUInteger)end;
- (NSString *)substringFromIndex:(NSUInteger)first;
- (NSString *)substringWithRange:(NSRange)range;
- (NSString *)stringByAppendingString:(NSString *)other;
- (NSString *)stringByAppendingFormat:(NSString *)format, ...
    NS_FORMAT_FUNCTION(1, 2);
- (NSString *)stringByAppendingPathComponent:(NSString *)part;
- (NSString *)stringByAppendingPathExtension:(NSString *)extension;
- (NSString *)stringByReplacingOccurrencesOfString:(NSString *)wanted
                                        withString:(NSString *)other;
- (NSArray *)componentsSeparatedByString:(NSString *)separator;
- (NSArray *)componentsSeparatedByCharactersInSet:(NSCharacterSet *)set;
- (NSString *)stringByTrimmingCharactersInSet:(NSCharacterSet *)set;
- (NSRange)rangeOfCharacterFromSet:(NSCharacterSet *)set;
- (NSRange)rangeOfString:(NSString *)other
                 options:(NSStringCompareOptions)options;
- (NSRange)rangeOfString:(NSString *)other
                 options:(NSStringCompareOptions)options
                   range:(NSRange)range;
- (NSRange)rangeOfString:(NSString *)other
                 options:(NSStringCompareOptions)options
                   range:(NSRange)range
                  locale:(id)locale;
- (NSComparisonResult)compare:(NSString *)other
                      options:(NSStringCompareOptions)options;
- (NSComparisonResult)compare:(NSString *)other
                      options:(NSStringCompareOptions)options
                        range:(NSRange)range;
- (NSComparisonResult)localizedCompare:(NSString *)other;
- (NSComparisonResult)localizedCaseInsensitiveCompare:(NSString *)other;
- (NSComparisonResult)localizedStandardCompare:(NSString *)other;
- (BOOL)localizedCaseInsensitiveContainsString:(NSString *)other;
- (BOOL)localizedStandardContainsString:(NSString *)other;
- (NSString *)commonPrefixWithString:(NSString *)other
                             options:(NSStringCompareOptions)options;
- (NSString *)stringByReplacingCharactersInRange:(NSRange)range
                                      withString:(NSString *)other;
- (NSString *)stringByReplacingOccurrencesOfString:(NSString *)wanted
                                        withString:(NSString *)other
                                           options:
                                               (NSStringCompareOptions)options
                                             range:(NSRange)range;
- (NSString *)stringByPaddingToLength:(NSUInteger)length
                           withString:(NSString *)pad
                      startingAtIndex:(NSUInteger)index;
@property(readonly, copy) NSString *capitalizedString;
@property(readonly, copy) NSString *stringByExpandingTildeInPath;
@property(readonly, copy) NSString *stringByAbbreviatingWithTildeInPath;
@property(readonly, copy) NSString *stringByResolvingSymlinksInPath;
@property(readonly, copy) NSString *stringByRemovingPercentEncoding;
- (NSString *)stringByAddingPercentEncodingWithAllowedCharacters:
    (NSCharacterSet *)allowed;
- (void)getCharacters:(unichar *)out range:(NSRange)range;
- (void)getCharacters:(unichar *)out;
- (void)enumerateLinesUsingBlock:(void (^)(NSString *line, BOOL *stop))block;
- (const char *)cStringUsingEncoding:(NSStringEncoding)encoding;
- (NSUInteger)lengthOfBytesUsingEncoding:(NSStringEncoding)encoding;
- (NSUInteger)maximumLengthOfBytesUsingEncoding:(NSStringEncoding)encoding;
- (BOOL)getCString:(char *)out
         maxLength:(NSUInteger)capacity
          encoding:(NSStringEncoding)encoding;
- (NSData *)dataUsingEncoding:(NSStringEncoding)encoding;
- (BOOL)writeToFile:(NSString *)path
         atomically:(BOOL)atomically
           encoding:(NSStringEncoding)encoding
              error:(NSError **)error;
@end

@interface NSMutableString : NSString
+ (instancetype)stringWithCapacity:(NSUInteger)capacity;
- (void)appendString:(NSString *)other;
- (void)appendFormat:(NSString *)format, ... NS_FORMAT_FUNCTION(1, 2);
- (void)setString:(NSString *)other;
- (void)insertString:(NSString *)other atIndex:(NSUInteger)index;
- (void)deleteCharactersInRange:(NSRange)range;
- (NSUInteger)replaceOccurrencesOfString:(NSString *)wanted
                              withString:(NSString *)other
                                 options:(NSStringCompareOptions)options
                                   range:(NSRange)range;
- (instancetype)initWithCapacity:(NSUInteger)capacity;
- (void)replaceCharactersInRange:(NSRange)range withString:(NSString *)other;
@end

// Compilers name the class of @"..." so.
@interface NSConstantString : NSString
@end

@interface NSScanner : NSObject
+ (instancetype)scannerWithString:(NSString *)string;
- (instancetype)initWithString:(NSString *)string;
@property(readonly, copy) NSString *string;
@property(copy) NSCharacterSet *charactersToBeSkipped;
@property BOOL caseSensitive;
@property NSUInteger scanLocation;
@property(readonly, getter=isAtEnd) BOOL atEnd;
- (BOOL)scanString:(NSString *)wanted intoString:(NSString **)out;
- (BOOL)scanUpToString:(NSString *)wanted intoString:(NSString **)out;
- (BOOL)scanCharactersFromSet:(NSCharacterSet *)set intoString:(NSString **)out;
- (BOOL)scanUpToCharactersFromSet:(NSCharacterSet *)set
                       intoString:(NSString **)out;
- (BOOL)scanInt:(int *)out;
- (BOOL)scanInteger:(NSInteger *)out;
- (BOOL)scanLongLong:(long long *)out;
- (BOOL)scanHexInt:(unsigned *)out;
- (BOOL)scanFloat:(float *)out;
- (BOOL)scanDouble:(double *)out;
@end

FOUNDATION_EXPORT void NSLog(NSString *format, ...) NS_FORMAT_FUNCTION(1, 2);
FOUNDATION_EXPORT void NSLogv(NSString *format, va_list arguments);

// --- Numbers -----------------------------------------------------------------

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

#define NUMBER(Name, type)                          \
  +(NSNumber *)numberWith##Name : (type)value;      \
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

// --- Collections -------------------------------------------------------------

typedef NS_OPTIONS(NSUInteger, NSEnumerationOptions) {
  NSEnumerationConcurrent = 1,
  NSEnumerationReverse = 2
};
typedef NS_OPTIONS(NSUInteger, NSSortOptions) {
  NSSortConcurrent = 1,
  NSSortStable = 16
};
typedef NSComparisonResult (^NSComparator)(id one, id other);

@interface NSNull : NSObject <NSCopying>
+ (NSNull *)null;
@end

@interface NSIndexSet : NSObject <NSCopying, NSMutableCopying>
+ (instancetype)indexSet;
+ (instancetype)indexSetWithIndex:(NSUInteger)index;
+ (instancetype)indexSetWithIndexesInRange:(NSRange)range;
- (instancetype)initWithIndex:(NSUInteger)index;
- (instancetype)initWithIndexesInRange:(NSRange)range;
- (instancetype)initWithIndexSet:(NSIndexSet *)other;
@property(readonly) NSUInteger count, firstIndex, lastIndex;
- (NSUInteger)indexGreaterThanIndex:(NSUInteger)index;
- (NSUInteger)indexLessThanIndex:(NSUInteger)index;
- (BOOL)containsIndex:(NSUInteger)index;
- (BOOL)containsIndexesInRange:(NSRange)range;
- (BOOL)isEqualToIndexSet:(NSIndexSet *)other;
- (void)enumerateIndexesUsingBlock:(void (^)(NSUInteger index,
                                             BOOL *stop))block;
- (void)enumerateRangesUsingBlock:(void (^)(NSRange range, BOOL *stop))block;
@end
@interface NSMutableIndexSet : NSIndexSet
- (void)addIndex:(NSUInteger)index;
- (void)addIndexesInRange:(NSRange)range;
- (void)addIndexes:(NSIndexSet *)other;
- (void)removeIndex:(NSUInteger)index;
- (void)removeIndexesInRange:(NSRange)range;
- (void)removeAllIndexes;
@end

@interface NSArray<__covariant T> : NSObject <NSCopying, NSMutableCopying, NSFastEnumeration>
@property(readonly) NSUInteger count;
- (T)objectAtIndex:(NSUInteger)index;
@end
@interface NSArray<T> (NSExtendedArray)
+ (instancetype)array;
+ (instancetype)arrayWithObject:(T)object;
+ (instancetype)arrayWithObjects:(const T[])objects count:(NSUInteger)count;
+ (instancetype)arrayWithObjects:(T)first, ... NS_REQUIRES_NIL_TERMINATION;
+ (instancetype)arrayWithArray:(NSArray<T> *)other;
- (instancetype)initWithObjects:(const T[])objects count:(NSUInteger)count;
- (instancetype)initWithObjects:(T)first, ... NS_REQUIRES_NIL_TERMINATION;
- (instancetype)initWithArray:(NSArray<T> *)other;
- (T)objectAtIndexedSubscript:(NSUInteger)index;
@property(readonly) T firstObject;
@property(readonly) T lastObject;
- (NSUInteger)indexOfObject:(T)object;
- (NSUInteger)indexOfObjectIdenticalTo:(T)object;
- (BOOL)containsObject:(T)object;
- (BOOL)isEqualToArray:(NSArray<T> *)other;
- (NSArray<T> *)arrayByAddingObject:(T)object;
- (NSArray<T> *)subarrayWithRange:(NSRange)range;
- (NSString *)componentsJoinedByString:(NSString *)separator;
- (void)enumerateObjectsUsingBlock:
    (void (^)(T object, NSUInteger index, BOOL *stop))block;
- (NSArray<T> *)sortedArrayUsingComparator:
    (NSComparisonResult (^)(T one, T other))comparator;
- (NSArray<T> *)sortedArrayWithOptions:(NSSortOptions)options
                       usingComparator:
                           (NSComparisonResult (^)(T one, T other))comparator;
- (NSArray<T> *)sortedArrayUsingSelector:(SEL)selector;
- (NSArray<T> *)sortedArrayUsingFunction:(NSInteger (*)(T, T, void *))function
                                 context:(void *)context;
- (NSEnumerator<T> *)objectEnumerator;
- (NSEnumerator<T> *)reverseObjectEnumerator;
- (void)enumerateObjectsWithOptions:(NSEnumerationOptions)options
                         usingBlock:(void (^)(T object, NSUInteger index,
                                              BOOL *stop))block;
- (NSUInteger)indexOfObjectPassingTest:(BOOL (^)(T object, NSUInteger index,
                                                 BOOL *stop))test;
- (NSIndexSet *)indexesOfObjectsPassingTest:(BOOL (^)(T object,
                                                      NSUInteger index,
                                                      BOOL *stop))test;
- (NSUInteger)indexOfObject:(T)object inRange:(NSRange)range;
- (T)firstObjectCommonWithArray:(NSArray<T> *)other;
- (NSArray<T> *)objectsAtIndexes:(NSIndexSet *)indexes;
- (NSArray<T> *)arrayByAddingObjectsFromArray:(NSArray<T> *)other;
- (void)makeObjectsPerformSelector:(SEL)selector;
- (void)makeObjectsPerformSelector:(SEL)selector withObject:(id)argument;
- (void)getObjects:(T __unsafe_unretained[])objects range:(NSRange)range;
@end

@interface NSMutableArray<T> : NSArray<T>
+ (instancetype)arrayWithCapacity:(NSUInteger)capacity;
- (instancetype)initWithCapacity:(NSUInteger)capacity;
- (void)addObject:(T)object;
- (void)addObjectsFromArray:(NSArray<T> *)other;
- (void)insertObject:(T)object atIndex:(NSUInteger)index;
- (void)removeObjectAtIndex:(NSUInteger)index;
- (void)removeObject:(T)object;
- (void)removeLastObject;
- (void)removeAllObjects;
- (void)replaceObjectAtIndex:(NSUInteger)index withObject:(T)object;
- (void)setArray:(NSArray<T> *)other;
- (void)exchangeObjectAtIndex:(NSUInteger)one
            withObjectAtIndex:(NSUInteger)other;
- (void)removeObjectsInRange:(NSRange)range;
- (void)removeObjectsInArray:(NSArray<T> *)others;
- (void)removeObjectIdenticalTo:(T)object;
- (void)removeObjectsAtIndexes:(NSIndexSet *)indexes;
- (void)sortUsingSelector:(SEL)selector;
- (void)sortUsingComparator:(NSComparisonResult (^)(T one, T other))comparator;
- (void)sortWithOptions:(NSSortOptions)options
        usingComparator:(NSComparisonResult (^)(T one, T other))comparator;
- (void)setObject:(T)object atIndexedSubscript:(NSUInteger)index;
@end

@interface NSDictionary<K, V> : NSObject <NSCopying, NSMutableCopying, NSFastEnumeration>
@property(readonly) NSUInteger count;
- (V)objectForKey:(K)key;
@end
@interface NSDictionary<K, V> (NSExtendedDictionary)
+ (instancetype)dictionary;
+ (instancetype)dictionaryWithObject:(V)value forKey:(K)key;
+ (instancetype)dictionaryWithObjects:(const V[])values
                              forKeys:(const K[])keys
                                count:(NSUInteger)count;
+ (instancetype)dictionaryWithObjectsAndKeys:(id)first,
                                             ... NS_REQUIRES_NIL_TERMINATION;
+ (instancetype)dictionaryWithDictionary:(NSDictionary<K, V> *)other;
- (instancetype)initWithDictionary:(NSDictionary<K, V> *)other;
- (V)objectForKeyedSubscript:(K)key;
@property(readonly, copy) NSArray<K> *allKeys;
@property(readonly, copy) NSArray<V> *allValues;
- (BOOL)isEqualToDictionary:(NSDictionary<K, V> *)other;
+ (instancetype)dictionaryWithObjects:(NSArray<V> *)values
                              forKeys:(NSArray<K> *)keys;
- (instancetype)initWithObjects:(const V[])values
                        forKeys:(const K[])keys
                          count:(NSUInteger)count;
- (NSArray<K> *)allKeysForObject:(V)value;
- (NSArray<K> *)keysSortedByValueUsingSelector:(SEL)selector;
- (NSArray<K> *)keysSortedByValueUsingComparator:
    (NSComparisonResult (^)(V one, V other))comparator;
- (NSArray<V> *)objectsForKeys:(NSArray<K> *)keys notFoundMarker:(V)marker;
- (NSEnumerator<K> *)keyEnumerator;
- (NSEnumerator<V> *)objectEnumerator;
- (void)enumerateKeysAndObjectsUsingBlock:
    (void (^)(K key, V value, BOOL *stop))block;
@end

@interface NSMutableDictionary<K, V> : NSDictionary<K, V>
+ (instancetype)dictionaryWithCapacity:(NSUInteger)capacity;
- (void)setObject:(V)value forKey:(K)key;
- (void)setObject:(V)value forKeyedSubscript:(K)key;
- (void)removeObjectForKey:(K)key;
- (void)removeObjectsForKeys:(NSArray<K> *)keys;
- (void)setDictionary:(NSDictionary<K, V> *)other;
- (instancetype)initWithCapacity:(NSUInteger)capacity;
- (void)removeAllObjects;
- (void)addEntriesFromDictionary:(NSDictionary<K, V> *)other;
@end

@interface NSSet<__covariant T> : NSObject <NSCopying, NSMutableCopying, NSFastEnumeration>
@property(readonly) NSUInteger count;
- (T)member:(T)object;
@end
@interface NSSet<T> (NSExtendedSet)
+ (instancetype)set;
+ (instancetype)setWithObject:(T)object;
+ (instancetype)setWithObjects:(const T[])objects count:(NSUInteger)count;
+ (instancetype)setWithObjects:(T)first, ... NS_REQUIRES_NIL_TERMINATION;
+ (instancetype)setWithArray:(NSArray<T> *)array;
+ (instancetype)setWithSet:(NSSet<T> *)other;
- (instancetype)initWithArray:(NSArray<T> *)array;
- (instancetype)initWithSet:(NSSet<T> *)other;
- (instancetype)initWithObjects:(const T[])objects count:(NSUInteger)count;
@property(readonly, copy) NSArray<T> *allObjects;
- (T)anyObject;
- (BOOL)containsObject:(T)object;
- (BOOL)isSubsetOfSet:(NSSet<T> *)other;
- (NSSet<T> *)setByAddingObject:(T)object;
- (NSSet<T> *)setByAddingObjectsFromSet:(NSSet<T> *)other;
- (NSEnumerator<T> *)objectEnumerator;
- (BOOL)intersectsSet:(NSSet<T> *)other;
- (BOOL)isEqualToSet:(NSSet<T> *)other;
- (void)enumerateObjectsUsingBlock:(void (^)(T object, BOOL *stop))block;
@end

@interface NSMutableSet<T> : NSSet<T>
+ (instancetype)setWithCapacity:(NSUInteger)capacity;
- (instancetype)initWithCapacity:(NSUInteger)capacity;
- (void)addObject:(T)object;
- (void)removeObject:(T)object;
- (void)removeAllObjects;
- (void)addObjectsFromArray:(NSArray<T> *)array;
- (void)unionSet:(NSSet<T> *)other;
- (void)minusSet:(NSSet<T> *)other;
- (void)intersectSet:(NSSet<T> *)other;
@end

// Forgets what came first, of more than countLimit. Costs are not counted.
@interface NSCache<K, V> : NSObject
@property(copy) NSString *name;
@property NSUInteger countLimit, totalCostLimit;
- (V)objectForKey:(K)key;
- (void)setObject:(V)object forKey:(K)key;
- (void)setObject:(V)object forKey:(K)key cost:(NSUInteger)cost;
- (void)removeObjectForKey:(K)key;
- (void)removeAllObjects;
@end

typedef NS_OPTIONS(NSUInteger, NSDataReadingOptions) {
  NSDataReadingMappedIfSafe = 1,
  NSDataReadingUncached = 2,
  NSDataReadingMappedAlways = 8
};
typedef NS_OPTIONS(NSUInteger, NSDataWritingOptions) {
  NSDataWritingAtomic = 1,
  NSDataWritingWithoutOverwriting = 2
};
typedef NS_OPTIONS(NSUInteger, NSDataSearchOptions) {
  NSDataSearchBackwards = 1,
  NSDataSearchAnchored = 2
};
typedef NS_OPTIONS(NSUInteger, NSDataBase64EncodingOptions) {
  NSDataBase64EncodingNone = 0
};
typedef NS_OPTIONS(NSUInteger, NSDataBase64DecodingOptions) {
  NSDataBase64DecodingIgnoreUnknownCharacters = 1
};

@interface NSData : NSObject <NSCopying, NSMutableCopying>
@property(readonly) const void *bytes;
@property(readonly) NSUInteger length;
+ (instancetype)data;
+ (instancetype)dataWithBytes:(const void *)bytes length:(NSUInteger)length;
+ (instancetype)dataWithBytesNoCopy:(void *)bytes
                             length:(NSUInteger)length
                       freeWhenDone:(BOOL)frees;
+ (instancetype)dataWithContentsOfFile:(NSString *)path;
+ (instancetype)dataWithContentsOfURL:(NSURL *)url;
+ (instancetype)dataWithData:(NSData *)other;
- (instancetype)initWithBytes:(const void *)bytes length:(NSUInteger)length;
+ (instancetype)dataWithContentsOfFile:(NSString *)path
                               options:(NSDataReadingOptions)options
                                 error:(NSError **)error;
+ (instancetype)dataWithContentsOfURL:(NSURL *)url
                              options:(NSDataReadingOptions)options
                                error:(NSError **)error;
- (instancetype)initWithBytesNoCopy:(void *)bytes
                             length:(NSUInteger)length
                       freeWhenDone:(BOOL)frees;
- (instancetype)initWithData:(NSData *)other;
- (instancetype)initWithContentsOfFile:(NSString *)path;
- (instancetype)initWithContentsOfURL:(NSURL *)url;
- (instancetype)initWithBase64EncodedString:(NSString *)text
                                    options:(NSDataBase64DecodingOptions)options;
- (NSString *)base64EncodedStringWithOptions:
    (NSDataBase64EncodingOptions)options;
- (BOOL)writeToFile:(NSString *)path
            options:(NSDataWritingOptions)options
              error:(NSError **)error;
- (BOOL)writeToURL:(NSURL *)url atomically:(BOOL)atomically;
- (BOOL)writeToURL:(NSURL *)url
           options:(NSDataWritingOptions)options
             error:(NSError **)error;
- (void)getBytes:(void *)out range:(NSRange)range;
- (void)getBytes:(void *)out;
- (NSRange)rangeOfData:(NSData *)wanted
               options:(NSDataSearchOptions)options
                 range:(NSRange)range;
- (void)enumerateByteRangesUsingBlock:(void (^)(const void *bytes,
                                                NSRange range,
                                                BOOL *stop))block;
- (BOOL)isEqualToData:(NSData *)other;
- (void)getBytes:(void *)out length:(NSUInteger)length;
- (NSData *)subdataWithRange:(NSRange)range;
- (BOOL)writeToFile:(NSString *)path atomically:(BOOL)atomically;
@end
@interface NSMutableData : NSData
+ (instancetype)dataWithLength:(NSUInteger)length;
@property(readonly) void *mutableBytes;
@property NSUInteger length;
- (instancetype)initWithLength:(NSUInteger)length;
- (void)replaceBytesInRange:(NSRange)range withBytes:(const void *)bytes;
- (void)replaceBytesInRange:(NSRange)range
                  withBytes:(const void *)bytes
                     length:(NSUInteger)length;
- (void)resetBytesInRange:(NSRange)range;
- (void)increaseLengthBy:(NSUInteger)count;
- (void)setData:(NSData *)other;
- (void)appendBytes:(const void *)bytes length:(NSUInteger)length;
- (void)appendData:(NSData *)other;
@end

// --- Errors ------------------------------------------------------------------

typedef NSString *NSErrorDomain;
typedef NSString *NSErrorUserInfoKey;
typedef NSString *NSExceptionName;
FOUNDATION_EXPORT NSErrorUserInfoKey const NSLocalizedDescriptionKey;
FOUNDATION_EXPORT NSErrorUserInfoKey const NSLocalizedFailureReasonErrorKey;
FOUNDATION_EXPORT NSErrorUserInfoKey const NSUnderlyingErrorKey;
FOUNDATION_EXPORT NSErrorUserInfoKey const
    NSLocalizedRecoverySuggestionErrorKey;
FOUNDATION_EXPORT NSErrorUserInfoKey const NSDebugDescriptionErrorKey;
FOUNDATION_EXPORT NSErrorUserInfoKey const NSFilePathErrorKey;
FOUNDATION_EXPORT NSErrorUserInfoKey const NSURLErrorKey;
FOUNDATION_EXPORT NSErrorDomain const NSOSStatusErrorDomain;
FOUNDATION_EXPORT NSErrorDomain const NSMachErrorDomain;
FOUNDATION_EXPORT NSErrorDomain const NSCocoaErrorDomain;
FOUNDATION_EXPORT NSErrorDomain const NSPOSIXErrorDomain;
FOUNDATION_EXPORT NSExceptionName const NSInvalidArgumentException;
FOUNDATION_EXPORT NSExceptionName const NSInternalInconsistencyException;
FOUNDATION_EXPORT NSExceptionName const NSRangeException;
FOUNDATION_EXPORT NSExceptionName const NSGenericException;
FOUNDATION_EXPORT NSExceptionName const NSMallocException;
FOUNDATION_EXPORT NSExceptionName const NSUndefinedKeyException;
FOUNDATION_EXPORT NSExceptionName const NSObjectNotAvailableException;
FOUNDATION_EXPORT NSExceptionName const NSParseErrorException;

// Codes of NSCocoaErrorDomain.
enum {
  NSFileNoSuchFileError = 4,
  NSFileReadUnknownError = 256,
  NSFileReadNoPermissionError = 257,
  NSFileReadInvalidFileNameError = 258,
  NSFileReadCorruptFileError = 259,
  NSFileReadNoSuchFileError = 260,
  NSFileWriteUnknownError = 512,
  NSFileWriteNoPermissionError = 513,
  NSFileWriteInvalidFileNameError = 514,
  NSFileWriteFileExistsError = 516,
  NSFileWriteOutOfSpaceError = 640,
  NSFileWriteVolumeReadOnlyError = 642,
  NSUserCancelledError = 3072,
  NSPropertyListReadCorruptError = 3840
};

@interface NSError : NSObject <NSCopying>
+ (instancetype)errorWithDomain:(NSErrorDomain)domain
                           code:(NSInteger)code
                       userInfo:(NSDictionary *)info;
- (instancetype)initWithDomain:(NSErrorDomain)domain
                          code:(NSInteger)code
                      userInfo:(NSDictionary *)info;
@property(readonly, copy) NSErrorDomain domain;
@property(readonly) NSInteger code;
@property(readonly, copy) NSDictionary *userInfo;
@property(readonly, copy) NSString *localizedDescription;
@property(readonly, copy) NSString *localizedFailureReason;
@property(readonly, copy) NSString *localizedRecoverySuggestion;
@property(readonly, copy) NSArray<NSError *> *underlyingErrors;
@end

@interface NSException : NSObject
+ (NSException *)exceptionWithName:(NSExceptionName)name
                            reason:(NSString *)reason
                          userInfo:(NSDictionary *)info;
+ (void)raise:(NSExceptionName)name format:(NSString *)format, ...
    NS_FORMAT_FUNCTION(2, 3);
+ (void)raise:(NSExceptionName)name
       format:(NSString *)format
    arguments:(va_list)arguments;
- (instancetype)initWithName:(NSExceptionName)name
                      reason:(NSString *)reason
                    userInfo:(NSDictionary *)info;
- (void)raise;
@property(readonly, copy) NSExceptionName name;
@property(readonly, copy) NSString *reason;
@property(readonly, copy) NSDictionary *userInfo;
@property(readonly, copy) NSArray<NSString *> *callStackSymbols;
@end

#define NSAssert(condition, text, ...)                                    \
  do {                                                                    \
    if (!(condition)) {                                                   \
      [NSException raise:NSInternalInconsistencyException                 \
                  format:(text), ##__VA_ARGS__];                          \
    }                                                                     \
  } while (0)
#define NSCAssert NSAssert
#define NSParameterAssert(condition) NSAssert((condition), @"%s", #condition)

// --- Files and the process ---------------------------------------------------

@interface NSURL : NSObject <NSCopying>
+ (NSURL *)fileURLWithPath:(NSString *)path;
+ (NSURL *)fileURLWithPath:(NSString *)path isDirectory:(BOOL)is_directory;
+ (instancetype)URLWithString:(NSString *)text;
- (instancetype)initFileURLWithPath:(NSString *)path;
- (instancetype)initWithString:(NSString *)text;
@property(readonly, copy) NSString *path;
@property(readonly, copy) NSString *absoluteString;
@property(readonly, getter=isFileURL) BOOL fileURL;
@property(readonly) const char *fileSystemRepresentation;
- (NSURL *)URLByAppendingPathComponent:(NSString *)part;
@property(readonly, copy) NSURL *URLByDeletingLastPathComponent;
- (NSURL *)URLByAppendingPathComponent:(NSString *)part
                           isDirectory:(BOOL)is_directory;
- (NSURL *)URLByAppendingPathExtension:(NSString *)extension;
@property(readonly, copy) NSURL *URLByDeletingPathExtension;
@property(readonly, copy) NSURL *URLByStandardizingPath;
@property(readonly, copy) NSString *relativePath;
@property(readonly, copy) NSString *lastPathComponent, *pathExtension;
@property(readonly, copy) NSArray<NSString *> *pathComponents;
@property(readonly, copy) NSString *scheme, *host;
- (BOOL)checkResourceIsReachableAndReturnError:(NSError **)error;
@end

FOUNDATION_EXPORT NSString *NSHomeDirectory(void);
FOUNDATION_EXPORT NSString *NSTemporaryDirectory(void);
FOUNDATION_EXPORT NSString *NSUserName(void);
typedef NS_ENUM(NSUInteger, NSSearchPathDirectory) {
  NSLibraryDirectory = 5,
  NSDocumentDirectory = 9,
  NSDesktopDirectory = 12,
  NSCachesDirectory = 13,
  NSApplicationSupportDirectory = 14,
  NSDownloadsDirectory = 15
};
typedef NS_OPTIONS(NSUInteger, NSSearchPathDomainMask) {
  NSUserDomainMask = 1,
  NSLocalDomainMask = 2,
  NSAllDomainsMask = 0xffff
};
// The user's alone: caches in XDG_CACHE_HOME or ~/.cache, and so on.
FOUNDATION_EXPORT NSArray<NSString *> *NSSearchPathForDirectoriesInDomains(
    NSSearchPathDirectory directory, NSSearchPathDomainMask domains,
    BOOL expands_tilde);

typedef NSString *NSFileAttributeKey;
typedef NSString *NSFileAttributeType;
typedef NSString *NSURLResourceKey;
FOUNDATION_EXPORT NSFileAttributeKey const NSFileSize;
FOUNDATION_EXPORT NSFileAttributeKey const NSFileType;
FOUNDATION_EXPORT NSFileAttributeKey const NSFileModificationDate;
FOUNDATION_EXPORT NSFileAttributeKey const NSFilePosixPermissions;
FOUNDATION_EXPORT NSFileAttributeType const NSFileTypeRegular;
FOUNDATION_EXPORT NSFileAttributeType const NSFileTypeDirectory;
FOUNDATION_EXPORT NSFileAttributeType const NSFileTypeSymbolicLink;
typedef NS_OPTIONS(NSUInteger, NSDirectoryEnumerationOptions) {
  NSDirectoryEnumerationSkipsSubdirectoryDescendants = 1,
  NSDirectoryEnumerationSkipsPackageDescendants = 2,
  NSDirectoryEnumerationSkipsHiddenFiles = 4
};

@interface NSDictionary (NSFileAttributes)
- (unsigned long long)fileSize;
- (NSString *)fileType;
- (NSDate *)fileModificationDate;
@end

@interface NSDirectoryEnumerator<T> : NSEnumerator<T>
@property(readonly, copy)
    NSDictionary<NSFileAttributeKey, id> *fileAttributes;
@end

@interface NSFileManager : NSObject
@property(class, readonly, strong) NSFileManager *defaultManager;
@property(readonly, copy) NSString *currentDirectoryPath;
@property(readonly, copy) NSURL *temporaryDirectory;
- (BOOL)fileExistsAtPath:(NSString *)path;
- (BOOL)fileExistsAtPath:(NSString *)path isDirectory:(BOOL *)out_is_directory;
- (BOOL)isReadableFileAtPath:(NSString *)path;
- (BOOL)isWritableFileAtPath:(NSString *)path;
- (BOOL)isExecutableFileAtPath:(NSString *)path;
- (BOOL)isDeletableFileAtPath:(NSString *)path;
- (BOOL)changeCurrentDirectoryPath:(NSString *)path;
- (NSDictionary<NSFileAttributeKey, id> *)attributesOfItemAtPath:(NSString *)path
                                                           error:(NSError **)error;
- (NSString *)destinationOfSymbolicLinkAtPath:(NSString *)path
                                        error:(NSError **)error;
- (NSData *)contentsAtPath:(NSString *)path;
- (BOOL)contentsEqualAtPath:(NSString *)one andPath:(NSString *)other;
- (NSArray<NSString *> *)contentsOfDirectoryAtPath:(NSString *)path
                                             error:(NSError **)error;
- (NSArray<NSString *> *)subpathsOfDirectoryAtPath:(NSString *)path
                                             error:(NSError **)error;
- (NSArray<NSString *> *)subpathsAtPath:(NSString *)path;
- (NSArray<NSURL *> *)
      contentsOfDirectoryAtURL:(NSURL *)url
    includingPropertiesForKeys:(NSArray<NSURLResourceKey> *)keys
                       options:(NSDirectoryEnumerationOptions)options
                         error:(NSError **)error;
- (NSDirectoryEnumerator<NSString *> *)enumeratorAtPath:(NSString *)path;
- (BOOL)createDirectoryAtPath:(NSString *)path
    withIntermediateDirectories:(BOOL)makes_parents
                     attributes:(NSDictionary *)attributes
                          error:(NSError **)error;
- (BOOL)createDirectoryAtURL:(NSURL *)url
    withIntermediateDirectories:(BOOL)makes_parents
                     attributes:(NSDictionary *)attributes
                          error:(NSError **)error;
- (BOOL)createFileAtPath:(NSString *)path
                contents:(NSData *)data
              attributes:(NSDictionary *)attributes;
- (BOOL)createSymbolicLinkAtPath:(NSString *)path
             withDestinationPath:(NSString *)target
                           error:(NSError **)error;
- (BOOL)removeItemAtPath:(NSString *)path error:(NSError **)error;
- (BOOL)removeItemAtURL:(NSURL *)url error:(NSError **)error;
- (BOOL)copyItemAtPath:(NSString *)from
                toPath:(NSString *)to
                 error:(NSError **)error;
- (BOOL)moveItemAtPath:(NSString *)from
                toPath:(NSString *)to
                 error:(NSError **)error;
- (BOOL)copyItemAtURL:(NSURL *)from toURL:(NSURL *)to error:(NSError **)error;
- (BOOL)moveItemAtURL:(NSURL *)from toURL:(NSURL *)to error:(NSError **)error;
@end

typedef NS_OPTIONS(NSUInteger, NSJSONReadingOptions) {
  NSJSONReadingMutableContainers = 1,
  NSJSONReadingMutableLeaves = 2,
  NSJSONReadingFragmentsAllowed = 4,
  NSJSONReadingAllowFragments = 4
};
typedef NS_OPTIONS(NSUInteger, NSJSONWritingOptions) {
  NSJSONWritingPrettyPrinted = 1,
  NSJSONWritingSortedKeys = 2,
  NSJSONWritingFragmentsAllowed = 4
};
@interface NSJSONSerialization : NSObject
+ (id)JSONObjectWithData:(NSData *)data
                 options:(NSJSONReadingOptions)options
                   error:(NSError **)error;
+ (NSData *)dataWithJSONObject:(id)object
                       options:(NSJSONWritingOptions)options
                         error:(NSError **)error;
+ (BOOL)isValidJSONObject:(id)object;
@end

@interface NSUUID : NSObject <NSCopying>
+ (instancetype)UUID;
- (instancetype)initWithUUIDString:(NSString *)text;
@property(readonly, copy) NSString *UUIDString;
@end

typedef NSString *NSNotificationName;
@interface NSNotification : NSObject
+ (instancetype)notificationWithName:(NSNotificationName)name object:(id)sender;
+ (instancetype)notificationWithName:(NSNotificationName)name
                              object:(id)sender
                            userInfo:(NSDictionary *)info;
@property(readonly, copy) NSNotificationName name;
@property(readonly, strong) id object;
@property(readonly, copy) NSDictionary *userInfo;
@end
// Observers are called on the thread that posts; a queue is not asked.
@interface NSNotificationCenter : NSObject
@property(class, readonly, strong) NSNotificationCenter *defaultCenter;
- (void)addObserver:(id)observer
           selector:(SEL)selector
               name:(NSNotificationName)name
             object:(id)sender;
- (id<NSObject>)addObserverForName:(NSNotificationName)name
                            object:(id)sender
                             queue:(id)queue
                        usingBlock:(void (^)(NSNotification *note))block;
- (void)removeObserver:(id)observer;
- (void)removeObserver:(id)observer
                  name:(NSNotificationName)name
                object:(id)sender;
- (void)postNotification:(NSNotification *)notification;
- (void)postNotificationName:(NSNotificationName)name object:(id)sender;
- (void)postNotificationName:(NSNotificationName)name
                      object:(id)sender
                    userInfo:(NSDictionary *)info;
@end

@interface NSBundle : NSObject
@property(class, readonly, strong) NSBundle *mainBundle;
+ (NSBundle *)bundleForClass:(Class)cls;
+ (instancetype)bundleWithPath:(NSString *)path;
+ (instancetype)bundleWithURL:(NSURL *)url;
- (instancetype)initWithPath:(NSString *)path;
@property(class, readonly, copy) NSArray<NSBundle *> *allBundles;
@property(class, readonly, copy) NSArray<NSBundle *> *allFrameworks;
@property(readonly, copy) NSString *bundlePath;
@property(readonly, copy) NSString *resourcePath;
@property(readonly, copy) NSString *executablePath;
@property(readonly, copy) NSString *bundleIdentifier;
@property(readonly, copy) NSURL *bundleURL;
@property(readonly, copy) NSURL *resourceURL;
- (NSString *)pathForResource:(NSString *)name ofType:(NSString *)type;
- (NSURL *)URLForResource:(NSString *)name withExtension:(NSString *)extension;
- (NSString *)pathForResource:(NSString *)name
                       ofType:(NSString *)type
                  inDirectory:(NSString *)folder;
- (NSArray<NSString *> *)pathsForResourcesOfType:(NSString *)type
                                     inDirectory:(NSString *)folder;
// Empty: no property lists are read.
@property(readonly, copy) NSDictionary<NSString *, id> *infoDictionary;
- (id)objectForInfoDictionaryKey:(NSString *)key;
@end

typedef NS_ENUM(NSInteger, NSProcessInfoThermalState) {
  NSProcessInfoThermalStateNominal = 0,
  NSProcessInfoThermalStateFair = 1,
  NSProcessInfoThermalStateSerious = 2,
  NSProcessInfoThermalStateCritical = 3
};
@interface NSProcessInfo : NSObject
@property(readonly, copy) NSString *hostName;
@property(readonly, copy) NSString *globallyUniqueString;
@property(readonly) NSProcessInfoThermalState thermalState;
@property(readonly, getter=isLowPowerModeEnabled) BOOL lowPowerModeEnabled;
@property(class, readonly, strong) NSProcessInfo *processInfo;
@property(readonly, copy) NSArray<NSString *> *arguments;
@property(readonly, copy) NSDictionary<NSString *, NSString *> *environment;
@property(readonly, copy) NSString *processName;
@property(readonly) int processIdentifier;
@property(readonly) NSUInteger processorCount;
@property(readonly) NSUInteger activeProcessorCount;
@property(readonly) unsigned long long physicalMemory;
@property(readonly) NSTimeInterval systemUptime;
@property(readonly) NSOperatingSystemVersion operatingSystemVersion;
@property(readonly, copy) NSString *operatingSystemVersionString;
- (BOOL)isOperatingSystemAtLeastVersion:(NSOperatingSystemVersion)version;
@end

// --- Times and threads ---------------------------------------------------------

FOUNDATION_EXPORT const NSTimeInterval NSTimeIntervalSince1970;

@interface NSDate : NSObject <NSCopying>
@property(class, readonly, copy) NSDate *now;
@property(class, readonly, copy) NSDate *distantFuture;
@property(class, readonly, copy) NSDate *distantPast;
@property(class, readonly) NSTimeInterval timeIntervalSinceReferenceDate;
@property(readonly) NSTimeInterval timeIntervalSinceReferenceDate;
@property(readonly) NSTimeInterval timeIntervalSince1970;
@property(readonly) NSTimeInterval timeIntervalSinceNow;
+ (instancetype)date;
+ (instancetype)dateWithTimeIntervalSinceNow:(NSTimeInterval)seconds;
+ (instancetype)dateWithTimeIntervalSince1970:(NSTimeInterval)seconds;
+ (instancetype)dateWithTimeIntervalSinceReferenceDate:(NSTimeInterval)seconds;
+ (instancetype)dateWithTimeInterval:(NSTimeInterval)seconds
                           sinceDate:(NSDate *)date;
- (instancetype)initWithTimeIntervalSinceNow:(NSTimeInterval)seconds;
- (instancetype)initWithTimeIntervalSince1970:(NSTimeInterval)seconds;
- (instancetype)initWithTimeIntervalSinceReferenceDate:(NSTimeInterval)seconds;
- (NSTimeInterval)timeIntervalSinceDate:(NSDate *)other;
- (instancetype)dateByAddingTimeInterval:(NSTimeInterval)seconds;
- (NSComparisonResult)compare:(NSDate *)other;
- (NSDate *)earlierDate:(NSDate *)other;
- (NSDate *)laterDate:(NSDate *)other;
- (BOOL)isEqualToDate:(NSDate *)other;
@end

@interface NSThread : NSObject
@property(class, readonly, strong) NSThread *currentThread;
@property(class, readonly, strong) NSThread *mainThread;
@property(class, readonly) BOOL isMainThread;
@property(readonly) BOOL isMainThread;
@property(readonly, getter=isExecuting) BOOL executing;
@property(readonly, getter=isFinished) BOOL finished;
@property(readonly, getter=isCancelled) BOOL cancelled;
@property(copy) NSString *name;
@property(readonly, retain) NSMutableDictionary *threadDictionary;
+ (void)sleepForTimeInterval:(NSTimeInterval)seconds;
+ (void)sleepUntilDate:(NSDate *)date;
+ (void)detachNewThreadSelector:(SEL)selector
                       toTarget:(id)target
                     withObject:(id)argument;
+ (void)detachNewThreadWithBlock:(void (^)(void))block;
- (instancetype)initWithTarget:(id)target
                      selector:(SEL)selector
                        object:(id)argument;
- (instancetype)initWithBlock:(void (^)(void))block;
- (void)start;
- (void)main;
- (void)cancel;
@end

// --- Locks -------------------------------------------------------------------

@protocol NSLocking
- (void)lock;
- (void)unlock;
@end
@interface NSLock : NSObject <NSLocking>
@property(copy) NSString *name;
- (BOOL)tryLock;
- (BOOL)lockBeforeDate:(NSDate *)date;
@end
@interface NSRecursiveLock : NSObject <NSLocking>
@property(copy) NSString *name;
- (BOOL)tryLock;
- (BOOL)lockBeforeDate:(NSDate *)date;
@end
@interface NSConditionLock : NSObject <NSLocking>
@property(copy) NSString *name;
@property(readonly) NSInteger condition;
- (instancetype)initWithCondition:(NSInteger)condition;
- (void)lockWhenCondition:(NSInteger)condition;
- (void)unlockWithCondition:(NSInteger)condition;
- (BOOL)tryLock;
- (BOOL)tryLockWhenCondition:(NSInteger)condition;
- (BOOL)lockBeforeDate:(NSDate *)date;
- (BOOL)lockWhenCondition:(NSInteger)condition beforeDate:(NSDate *)date;
@end
@interface NSCondition : NSObject <NSLocking>
@property(copy) NSString *name;
- (BOOL)waitUntilDate:(NSDate *)date;
- (void)wait;
- (void)signal;
- (void)broadcast;
@end

#endif  // __OBJC__
#endif
