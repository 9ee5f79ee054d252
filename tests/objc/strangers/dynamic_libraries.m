// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// dynamic_libraries.m: the errors where dynamic libraries are not supported, as
// a program for macOS sees them.
#import <Metal/Metal.h>
#include "../check.h"
int main(void) {
  @autoreleasepool {
    id<MTLDevice> device = MTLCreateSystemDefaultDevice();
    NSError *error = nil;
    if (![device supportsDynamicLibraries]) {
      printf("no dynamic libraries\n");
      MTLCompileOptions *o = [MTLCompileOptions new];
      o.libraryType = MTLLibraryTypeDynamic;
      o.installName = @"@executable_path/x.metallib";
      id<MTLLibrary> l = [device
          newLibraryWithSource:@"namespace n { float f(float x) { return x; } }"
                       options:o
                         error:&error];
      if (l) {
        id<MTLDynamicLibrary> dl = [device newDynamicLibrary:l error:&error];
        CHECK(dl == nil);
        CHECK(error != nil);
        if (error) NSLog(@"%@", error.localizedDescription);
      } else {
        CHECK(error != nil);
        NSLog(@"%@", error.localizedDescription);
      }
      return checks_end();
    }
    MTLCompileOptions *o = [MTLCompileOptions new];
    o.libraryType = MTLLibraryTypeDynamic;
    o.installName = @"@executable_path/x.metallib";
    id<MTLLibrary> l = [device
        newLibraryWithSource:@"#include <metal_stdlib>\nusing namespace "
                             @"metal;\nfloat twice(float x) { return x * 2; }"
                     options:o
                       error:&error];
    if (!l) NSLog(@"%@", error);
    CHECK(l.type == MTLLibraryTypeDynamic);
    CHECK([l.installName isEqual:o.installName]);
    id<MTLDynamicLibrary> dl = [device newDynamicLibrary:l error:&error];
    if (!dl) NSLog(@"%@", error);
    CHECK(dl != nil);
    MTLCompileOptions *o2 = [MTLCompileOptions new];
    o2.libraries = @[ dl ];
    id<MTLLibrary> m =
        [device newLibraryWithSource:@"float twice(float); kernel void "
                                     @"k(device float *o) { o[0] = twice(21); }"
                             options:o2
                               error:&error];
    if (!m) NSLog(@"%@", error);
    id<MTLComputePipelineState> p =
        [device newComputePipelineStateWithFunction:[m newFunctionWithName:@"k"]
                                              error:&error];
    if (!p) NSLog(@"%@", error);
    id<MTLBuffer> b = [device newBufferWithLength:4 options:0];
    id<MTLCommandBuffer> cb = [[device newCommandQueue] commandBuffer];
    id<MTLComputeCommandEncoder> e = [cb computeCommandEncoder];
    [e setComputePipelineState:p];
    [e setBuffer:b offset:0 atIndex:0];
    [e dispatchThreads:MTLSizeMake(1, 1, 1)
        threadsPerThreadgroup:MTLSizeMake(1, 1, 1)];
    [e endEncoding];
    [cb commit];
    [cb waitUntilCompleted];
    CHECK(*(float *)b.contents == 42);
  }
  return checks_end();
}
