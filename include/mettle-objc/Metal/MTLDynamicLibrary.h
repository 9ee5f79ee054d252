// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MTLDynamicLibrary.h: dynamic libraries.
#ifndef METTLE_OBJC_MTLDYNAMICLIBRARY_H
#define METTLE_OBJC_MTLDYNAMICLIBRARY_H

#include <Metal/MTLDefines.h>

typedef NS_ENUM(NSUInteger, MTLDynamicLibraryError) {
  MTLDynamicLibraryErrorNone = 0,
  MTLDynamicLibraryErrorInvalidFile = 1,
  MTLDynamicLibraryErrorCompilationFailure = 2,
  MTLDynamicLibraryErrorUnresolvedInstallName = 3,
  MTLDynamicLibraryErrorDependencyLoadFailure = 4,
  MTLDynamicLibraryErrorUnsupported = 5
};

#ifdef __OBJC__

MTL_EXTERN NSErrorDomain const MTLDynamicLibraryDomain;

// There are none yet (docs/objc.md): making one fails, with the reason.
@protocol MTLDynamicLibrary <NSObject>
@property(copy) NSString *label;
@property(readonly) id<MTLDevice> device;
@property(readonly) NSString *installName;
- (BOOL)serializeToURL:(NSURL *)url error:(NSError **)error;
@end

#endif

#endif
