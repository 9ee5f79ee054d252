// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MetalPerformanceShadersGraph.h: MPSGraph's name. There is no class of that
// name: a program that makes a graph does not link, one that only hands graphs
// on does.
#ifndef METTLE_OBJC_METALPERFORMANCESHADERSGRAPH_H
#define METTLE_OBJC_METALPERFORMANCESHADERSGRAPH_H

#include <MetalPerformanceShaders/MetalPerformanceShaders.h>

#ifdef __OBJC__
@class MPSGraphTensor, MPSGraphTensorData, MPSGraphOperation,
    MPSGraphExecutionDescriptor;
@interface MPSGraph : NSObject
- (void)encodeToCommandBuffer:(MPSCommandBuffer *)commands
                        feeds:(NSDictionary *)feeds
             targetOperations:(NSArray *)operations
            resultsDictionary:(NSDictionary *)results
          executionDescriptor:(MPSGraphExecutionDescriptor *)descriptor;
@end
#endif

#endif
