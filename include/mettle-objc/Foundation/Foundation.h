// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Foundation.h: the part of Foundation that clients of Metal use. What is not
// here is not there: docs/objc.md.
#ifndef METTLE_OBJC_FOUNDATION_H
#define METTLE_OBJC_FOUNDATION_H

#include <Availability.h>
#include <Block.h>
#include <CoreFoundation/CoreFoundation.h>
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
#define NS_OPTIONS(type, name) \
  enum name : type name;       \
  enum name : type
#define NS_ASSUME_NONNULL_BEGIN _Pragma("clang assume_nonnull begin")
#define NS_ASSUME_NONNULL_END _Pragma("clang assume_nonnull end")
#define NS_DESIGNATED_INITIALIZER
#define NS_UNAVAILABLE
#define NS_RETURNS_RETAINED __attribute__((ns_returns_retained))
#define NS_AVAILABLE(...)
#define NS_REQUIRES_NIL_TERMINATION __attribute__((sentinel(0, 1)))
#define NS_FORMAT_FUNCTION(f, a) __attribute__((format(__NSString__, f, a)))

typedef unsigned long NSUInteger;
typedef long NSInteger;
typedef double NSTimeInterval;
typedef unsigned short unichar;
typedef struct _NSZone NSZone;
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

@class NSString, NSArray, NSDictionary, NSError, NSData, NSURL, Protocol;

// --- NSObject ----------------------------------------------------------------

@protocol NSObject
- (BOOL)isEqual:(id)object;
@property(readonly) NSUInteger hash;
@property(readonly) Class superclass;
- (Class)class;
- (instancetype)self;
- (id)performSelector:(SEL)selector;
- (id)performSelector:(SEL)selector withObject:(id)object;
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
+ (NSCharacterSet *)characterSetWithCharactersInString:(NSString *)characters;
+ (NSCharacterSet *)characterSetWithRange:(NSRange)range;
@property(readonly, copy) NSCharacterSet *invertedSet;
- (BOOL)characterIsMember:(unichar)unit;
@end

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
+ (NSValue *)valueWithPointer:(const void *)pointer;
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
- (void)enumerateKeysAndObjectsUsingBlock:
    (void (^)(K key, V value, BOOL *stop))block;
@end

@interface NSMutableDictionary<K, V> : NSDictionary<K, V>
+ (instancetype)dictionaryWithCapacity:(NSUInteger)capacity;
- (void)setObject:(V)value forKey:(K)key;
- (void)setObject:(V)value forKeyedSubscript:(K)key;
- (void)removeObjectForKey:(K)key;
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
- (BOOL)isEqualToData:(NSData *)other;
- (void)getBytes:(void *)out length:(NSUInteger)length;
- (NSData *)subdataWithRange:(NSRange)range;
- (BOOL)writeToFile:(NSString *)path atomically:(BOOL)atomically;
@end
@interface NSMutableData : NSData
+ (instancetype)dataWithLength:(NSUInteger)length;
@property(readonly) void *mutableBytes;
- (void)setLength:(NSUInteger)length;
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
FOUNDATION_EXPORT NSErrorDomain const NSCocoaErrorDomain;
FOUNDATION_EXPORT NSErrorDomain const NSPOSIXErrorDomain;
FOUNDATION_EXPORT NSExceptionName const NSInvalidArgumentException;
FOUNDATION_EXPORT NSExceptionName const NSInternalInconsistencyException;
FOUNDATION_EXPORT NSExceptionName const NSRangeException;
FOUNDATION_EXPORT NSExceptionName const NSGenericException;
FOUNDATION_EXPORT NSExceptionName const NSMallocException;

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
@end

@interface NSException : NSObject
+ (NSException *)exceptionWithName:(NSExceptionName)name
                            reason:(NSString *)reason
                          userInfo:(NSDictionary *)info;
+ (void)raise:(NSExceptionName)name format:(NSString *)format, ...
    NS_FORMAT_FUNCTION(2, 3);
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
@end

typedef NSString *NSFileAttributeKey;
FOUNDATION_EXPORT NSFileAttributeKey const NSFileSize;
FOUNDATION_EXPORT NSFileAttributeKey const NSFileType;
FOUNDATION_EXPORT NSString *const NSFileTypeRegular;
FOUNDATION_EXPORT NSString *const NSFileTypeDirectory;
FOUNDATION_EXPORT NSString *const NSFileTypeSymbolicLink;

@interface NSFileManager : NSObject
@property(class, readonly, strong) NSFileManager *defaultManager;
@property(readonly, copy) NSString *currentDirectoryPath;
- (BOOL)fileExistsAtPath:(NSString *)path;
- (BOOL)fileExistsAtPath:(NSString *)path isDirectory:(BOOL *)out_is_directory;
- (BOOL)isReadableFileAtPath:(NSString *)path;
- (NSDictionary<NSFileAttributeKey, id> *)attributesOfItemAtPath:(NSString *)path
                                                           error:(NSError **)error;
- (NSString *)destinationOfSymbolicLinkAtPath:(NSString *)path
                                        error:(NSError **)error;
- (BOOL)removeItemAtPath:(NSString *)path error:(NSError **)error;
@end

@interface NSBundle : NSObject
@property(class, readonly, strong) NSBundle *mainBundle;
+ (NSBundle *)bundleForClass:(Class)cls;
+ (instancetype)bundleWithPath:(NSString *)path;
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
@end

@interface NSProcessInfo : NSObject
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
- (BOOL)tryLock;
@end
@interface NSRecursiveLock : NSObject <NSLocking>
- (BOOL)tryLock;
@end
@interface NSCondition : NSObject <NSLocking>
- (void)wait;
- (void)signal;
- (void)broadcast;
@end

#endif  // __OBJC__
#endif
