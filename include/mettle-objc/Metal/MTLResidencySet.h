// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MTLResidencySet.h: what is to be in memory.
#ifndef METTLE_OBJC_MTLRESIDENCYSET_H
#define METTLE_OBJC_MTLRESIDENCYSET_H

#include <Metal/MTLDefines.h>

#ifdef __OBJC__

@interface MTLResidencySetDescriptor : NSObject <NSCopying>
@property(copy) NSString *label;
@property NSUInteger initialCapacity;
@end

@protocol MTLResidencySet <NSObject>
@property(readonly) id<MTLDevice> device;
@property(readonly) NSString *label;
@property(readonly) uint64_t allocatedSize;
@property(readonly) NSUInteger allocationCount;
@property(readonly, copy) NSArray<id<MTLAllocation>> *allAllocations;
- (void)addAllocation:(id<MTLAllocation>)allocation;
- (void)removeAllocation:(id<MTLAllocation>)allocation;
- (void)addAllocations:(const id<MTLAllocation> __unsafe_unretained[])list
                 count:(NSUInteger)count;
- (void)removeAllocations:(const id<MTLAllocation> __unsafe_unretained[])list
                    count:(NSUInteger)count;
- (void)removeAllAllocations;
- (BOOL)containsAllocation:(id<MTLAllocation>)allocation;
- (void)commit;
- (void)requestResidency;
- (void)endResidency;
@end

#endif

#endif
