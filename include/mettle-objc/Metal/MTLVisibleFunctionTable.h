// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MTLVisibleFunctionTable.h: tables of functions.
#ifndef METTLE_OBJC_MTLVISIBLEFUNCTIONTABLE_H
#define METTLE_OBJC_MTLVISIBLEFUNCTIONTABLE_H

#include <Metal/MTLDefines.h>
#include <Metal/MTLResource.h>
#include <Metal/MTLTypes.h>

#ifdef __OBJC__

@interface MTLVisibleFunctionTableDescriptor : NSObject <NSCopying>
+ (MTLVisibleFunctionTableDescriptor *)visibleFunctionTableDescriptor;
@property NSUInteger functionCount;
@end

@protocol MTLVisibleFunctionTable <MTLResource>
- (void)setFunctions:(const id<MTLFunctionHandle> __unsafe_unretained[])list
           withRange:(NSRange)range;
@property(readonly) MTLResourceID gpuResourceID;
- (void)setFunction:(id<MTLFunctionHandle>)function atIndex:(NSUInteger)index;
@end

#endif

#endif
