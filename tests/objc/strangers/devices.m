// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// devices.m: devices' properties, as a program for macOS reads them.
#import <Metal/Metal.h>
#include "../check.h"
int main(void) {
  @autoreleasepool {
    NSArray<id<MTLDevice>> *all = MTLCopyAllDevices();
    CHECK(all.count >= 1);
    for (id<MTLDevice> d in all)
      NSLog(@"%@ %d %d %llu", d.name, d.isLowPower, d.isHeadless, d.registryID);
    id observer = nil;
    NSArray *obs = MTLCopyAllDevicesWithObserver(
        &observer, ^(id<MTLDevice> dev, MTLDeviceNotificationName n) {
          if ([n isEqualToString:MTLDeviceWasAddedNotification]) {
          }
        });
    CHECK(obs.count >= 1);
    MTLRemoveDeviceObserver(observer);
    id<MTLDevice> d = MTLCreateSystemDefaultDevice();
    CHECK(!d.isRemovable);
    CHECK(d.hasUnifiedMemory || !d.hasUnifiedMemory);
    CHECK(d.maxThreadsPerThreadgroup.width >= 256);
    CHECK(d.maxThreadgroupMemoryLength >= 16384);
    CHECK(d.maxBufferLength >= 1 << 20);
    CHECK(d.recommendedMaxWorkingSetSize > 0);
    CHECK([d supportsFamily:MTLGPUFamilyApple7]);
    CHECK([d supportsFamily:MTLGPUFamilyMetal3]);
    CHECK([d supportsFamily:MTLGPUFamilyCommon3]);
    CHECK(d.location == MTLDeviceLocationBuiltIn);
    CHECK(d.locationNumber == 0);
    CHECK(d.maxTransferRate == 0);
    CHECK(d.peerGroupID == 0 && d.peerCount == 0);
    CHECK(d.readWriteTextureSupport == MTLReadWriteTextureTier2);
    CHECK(!d.supportsRaytracing);
    CHECK([d supportsTextureSampleCount:1]);
    CHECK(d.supports32BitFloatFiltering);
    CHECK(d.supportsFunctionPointers);
    CHECK(d.areProgrammableSamplePositionsSupported || 1);
    CHECK(d.supportsShaderBarycentricCoordinates || 1);
    CHECK(d.maxArgumentBufferSamplerCount > 0);
    CHECK(d.architecture.name.length > 0);
    CHECK(d.supports32BitMSAA || 1);
    CHECK(d.supportsQueryTextureLOD || 1);
    CHECK(d.supportsBCTextureCompression || 1);
    CHECK(d.supportsPullModelInterpolation || 1);
    CHECK(!d.supportsRenderDynamicLibraries);
    CHECK(!d.supportsPrimitiveMotionBlur);
    CHECK(d.sparseTileSizeInBytes >= 0);
    CHECK(d.maximumConcurrentCompilationTaskCount >= 1);
    d.shouldMaximizeConcurrentCompilation = YES;
    CHECK(![d supportsVertexAmplificationCount:2]);
    CHECK([d isKindOfClass:[NSObject class]] &&
          [d conformsToProtocol:@protocol(MTLDevice)]);
    CHECK([d respondsToSelector:@selector(newBufferWithLength:options:)]);
    CHECK(![d supportsFeatureSet:MTLFeatureSet_macOS_GPUFamily2_v1] || 1);
  }
  return checks_end();
}
