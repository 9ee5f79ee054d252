// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// constants.m: function constants, descriptors, macros, as a program for macOS
// has them.
#import <Metal/Metal.h>
#include "../check.h"
static NSString *src =
    @"#include <metal_stdlib>\nusing namespace metal;\nconstant int N "
    @"[[function_constant(0)]]; constant bool flag [[function_constant(1)]]; "
    @"constant float4 v [[function_constant(2)]]; constant bool has = "
    @"is_function_constant_defined(flag); constant half hh "
    @"[[function_constant(3)]]; constant uint2 u2 [[function_constant(4)]];\n"
     "kernel void k(device float *o [[buffer(0)]]) { o[0] = N; o[1] = has ? "
     "(flag ? 1 : 2) : 3; o[2] = v.w; o[3] = hh; o[4] = u2.y; }";
int main(void) {
  @autoreleasepool {
    id<MTLDevice> device = MTLCreateSystemDefaultDevice();
    NSError *error = nil;
    id<MTLLibrary> lib = [device newLibraryWithSource:src
                                              options:nil
                                                error:&error];
    if (!lib) {
      NSLog(@"%@", error);
      return 1;
    }
    MTLFunctionConstantValues *cv = [MTLFunctionConstantValues new];
    int n = 42;
    bool flag = true;
    float v[4] = {1, 2, 3, 4};
    __fp16 h = 1.5;
    uint32_t u[2] = {8, 9};
    [cv setConstantValue:&n type:MTLDataTypeInt atIndex:0];
    [cv setConstantValue:&flag type:MTLDataTypeBool withName:@"flag"];
    [cv setConstantValue:v type:MTLDataTypeFloat4 atIndex:2];
    [cv setConstantValue:&h type:MTLDataTypeHalf atIndex:3];
    [cv setConstantValue:u type:MTLDataTypeUInt2 atIndex:4];
    id<MTLFunction> f = [lib newFunctionWithName:@"k"
                                  constantValues:cv
                                           error:&error];
    if (!f) {
      NSLog(@"%@", error);
      return 1;
    }
    NSDictionary<NSString *, MTLFunctionConstant *> *d =
        [lib newFunctionWithName:@"k"].functionConstantsDictionary;
    CHECK(d.count == 5);
    CHECK(d[@"N"].index == 0 && d[@"N"].type == MTLDataTypeInt &&
          d[@"N"].required);
    CHECK(d[@"v"].type == MTLDataTypeFloat4);
    CHECK([d[@"flag"].name isEqual:@"flag"]);
    id<MTLBuffer> o = [device newBufferWithLength:32 options:0];
    id<MTLComputePipelineState> p =
        [device newComputePipelineStateWithFunction:f error:&error];
    id<MTLCommandBuffer> cb = [[device newCommandQueue] commandBuffer];
    id<MTLComputeCommandEncoder> e = [cb computeCommandEncoder];
    [e setComputePipelineState:p];
    [e setBuffer:o offset:0 atIndex:0];
    [e dispatchThreads:MTLSizeMake(1, 1, 1)
        threadsPerThreadgroup:MTLSizeMake(1, 1, 1)];
    [e endEncoding];
    [cb commit];
    [cb waitUntilCompleted];
    float *r = o.contents;
    CHECK(r[0] == 42 && r[1] == 1 && r[2] == 4 && r[3] == 1.5f && r[4] == 9);
    NSError *miss = nil;
    MTLFunctionConstantValues *none = [[MTLFunctionConstantValues alloc] init];
    id<MTLFunction> bad = [lib newFunctionWithName:@"k"
                                    constantValues:none
                                             error:&miss];
    CHECK(bad == nil
              ? miss != nil
              : [device newComputePipelineStateWithFunction:bad
                                                      error:&miss] == nil &&
                    miss != nil);
    [lib newFunctionWithName:@"absent" constantValues:cv error:&miss];
    CHECK(miss.code == MTLLibraryErrorFunctionNotFound);
    MTLFunctionDescriptor *fd = [MTLFunctionDescriptor functionDescriptor];
    fd.name = @"k";
    fd.constantValues = cv;
    fd.specializedName = @"k_42";
    fd.options = MTLFunctionOptionNone;
    id<MTLFunction> s = [lib newFunctionWithDescriptor:fd error:&error];
    CHECK([s.name isEqualToString:@"k_42"]);
    MTLCompileOptions *o2 = [MTLCompileOptions new];
    o2.preprocessorMacros = @{@"FOO" : @3, @"BAR" : @"4.5f"};
    o2.languageVersion = MTLLanguageVersion3_1;
    o2.fastMathEnabled = NO;
    o2.preserveInvariance = YES;
    o2.optimizationLevel = MTLLibraryOptimizationLevelDefault;
    id<MTLLibrary> l2 =
        [device newLibraryWithSource:
                    @"kernel void g(device float *o) { o[0] = FOO + BAR; }"
                             options:o2
                               error:&error];
    CHECK(l2 != nil);
    if (!l2) NSLog(@"%@", error);
  }
  return checks_end();
}
