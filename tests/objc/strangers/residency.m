// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// residency.m: residency sets, as a program for macOS has them.
#import <Metal/Metal.h>
#include "../check.h"
int main(void) {
  @autoreleasepool {
    id<MTLDevice> d = MTLCreateSystemDefaultDevice();
    NSError *error = nil;
    MTLResidencySetDescriptor *rd = [[MTLResidencySetDescriptor alloc] init];
    rd.label = @"weights";
    rd.initialCapacity = 16;
    if (@available(macOS 15.0, *)) {
      id<MTLResidencySet> rs = [d newResidencySetWithDescriptor:rd
                                                          error:&error];
      CHECK(rs);
      CHECK([rs.label isEqual:@"weights"]);
      CHECK(rs.device == d);
      id<MTLBuffer> a = [d newBufferWithLength:65536
                                       options:MTLResourceStorageModePrivate],
                    b = [d newBufferWithLength:65536 options:0];
      [rs addAllocation:a];
      const id<MTLAllocation> list[] = {b};
      [rs addAllocations:list count:1];
      CHECK([rs containsAllocation:a]);
      [rs commit];
      CHECK(rs.allocationCount == 2);
      CHECK(rs.allAllocations.count == 2);
      CHECK(rs.allocatedSize >= 131072);
      [rs requestResidency];
      id<MTLCommandQueue> q = [d newCommandQueue];
      [q addResidencySet:rs];
      id<MTLCommandBuffer> cb = [q commandBuffer];
      [cb useResidencySet:rs];
      [cb commit];
      [cb waitUntilCompleted];
      [q removeResidencySet:rs];
      [rs removeAllocation:a];
      [rs removeAllocations:list count:1];
      [rs commit];
      CHECK(rs.allocationCount == 0);
      // allocations of other kinds: tensors of one buffer, and commands
      NSInteger two[2] = {2, 2}, strides[2] = {1, 2};
      MTLTensorDescriptor *td = [MTLTensorDescriptor new];
      td.dimensions = [[MTLTensorExtents alloc] initWithRank:2 values:two];
      td.strides = [[MTLTensorExtents alloc] initWithRank:2 values:strides];
      td.dataType = MTLTensorDataTypeFloat32;
      NSError *te = nil;
      id<MTLTensor> t1 = [b newTensorWithDescriptor:td offset:0 error:&te],
                    t2 = [b newTensorWithDescriptor:td offset:64 error:&te];
      MTLIndirectCommandBufferDescriptor *cd =
          [MTLIndirectCommandBufferDescriptor new];
      cd.commandTypes = MTLIndirectCommandTypeConcurrentDispatch;
      cd.maxKernelBufferBindCount = 1;
      id<MTLIndirectCommandBuffer> commands =
          [d newIndirectCommandBufferWithDescriptor:cd
                                    maxCommandCount:1
                                            options:0];
      const id<MTLAllocation> others[] = {t1, t2, commands};
      [rs addAllocations:others count:3];
      CHECK(rs.allocationCount == 3 && [rs containsAllocation:commands]);
      [rs removeAllocation:t1];
      [rs commit];
      CHECK(rs.allocatedSize >= 65536 && ![rs containsAllocation:t1]);
      [rs removeAllocation:t2];
      [rs commit];
      CHECK(rs.allocatedSize == 0 && rs.allocationCount == 1);
      [rs removeAllAllocations];
      [rs endResidency];
      CHECK(a.allocatedSize >= 65536);
    }
  }
  return checks_end();
}
