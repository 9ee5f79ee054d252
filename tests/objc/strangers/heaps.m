// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// heaps.m: automatic and placement heaps, as a program for macOS has them.
#import <Metal/Metal.h>
#include "../check.h"
int main(void) {
  @autoreleasepool {
    id<MTLDevice> device = MTLCreateSystemDefaultDevice();
    MTLSizeAndAlign sa =
        [device heapBufferSizeAndAlignWithLength:1000
                                         options:MTLResourceStorageModePrivate];
    CHECK(sa.size >= 1000 && sa.align >= 1);
    MTLTextureDescriptor *td = [MTLTextureDescriptor
        texture2DDescriptorWithPixelFormat:MTLPixelFormatRGBA8Unorm
                                     width:64
                                    height:64
                                 mipmapped:NO];
    td.storageMode = MTLStorageModePrivate;
    td.usage = MTLTextureUsageShaderRead | MTLTextureUsageShaderWrite;
    MTLSizeAndAlign ta = [device heapTextureSizeAndAlignWithDescriptor:td];
    CHECK(ta.size >= 64 * 64 * 4);
    MTLHeapDescriptor *hd = [MTLHeapDescriptor new];
    hd.size = (sa.size + ta.size + 65536);
    hd.storageMode = MTLStorageModePrivate;
    hd.cpuCacheMode = MTLCPUCacheModeDefaultCache;
    hd.hazardTrackingMode = MTLHazardTrackingModeTracked;
    hd.type = MTLHeapTypeAutomatic;
    id<MTLHeap> heap = [device newHeapWithDescriptor:hd];
    heap.label = @"h";
    CHECK(heap.size >= hd.size);
    CHECK(heap.storageMode == MTLStorageModePrivate);
    CHECK([heap maxAvailableSizeWithAlignment:256] >= sa.size);
    id<MTLBuffer> b = [heap newBufferWithLength:1000
                                        options:MTLResourceStorageModePrivate];
    CHECK(b.heap == heap);
    CHECK(heap.usedSize >= 1000);
    CHECK(b.length == 1000);
    CHECK(b.storageMode == MTLStorageModePrivate);
    id<MTLTexture> t = [heap newTextureWithDescriptor:td];
    CHECK(t.width == 64);
    CHECK(!b.isAliasable);
    [b makeAliasable];
    CHECK(b.isAliasable);
    CHECK([heap setPurgeableState:MTLPurgeableStateKeepCurrent] ==
          MTLPurgeableStateNonVolatile);
    MTLHeapDescriptor *pd = [[MTLHeapDescriptor alloc] init];
    pd.type = MTLHeapTypePlacement;
    pd.size = 1 << 20;
    pd.resourceOptions = MTLResourceStorageModeShared;
    id<MTLHeap> ph = [device newHeapWithDescriptor:pd];
    CHECK(ph.type == MTLHeapTypePlacement);
    id<MTLBuffer> p0 = [ph newBufferWithLength:4096
                                       options:MTLResourceStorageModeShared
                                        offset:0],
                  p1 = [ph newBufferWithLength:4096
                                       options:MTLResourceStorageModeShared
                                        offset:0];
    CHECK(p0.heapOffset == 0);
    ((int *)p0.contents)[3] = 77;
    CHECK(((int *)p1.contents)[3] == 77);
    CHECK(p0.gpuAddress == p1.gpuAddress && p0.gpuAddress != 0);
    CHECK(heap.currentAllocatedSize >= heap.size);
    CHECK(device.currentAllocatedSize >= heap.size);
    CHECK([heap newBufferWithLength:1 << 30
                            options:MTLResourceStorageModePrivate] == nil);
  }
  return checks_end();
}
