// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// blits.m: blit encoders over buffers and textures, handlers, as a program for
// macOS has them.
#import <Metal/Metal.h>
#include "../check.h"
int main(void) {
  @autoreleasepool {
    id<MTLDevice> d = MTLCreateSystemDefaultDevice();
    id<MTLCommandQueue> q = [d newCommandQueue];
    uint8_t px[16 * 16 * 4];
    for (int i = 0; i < (int)sizeof px; i++) px[i] = i;
    id<MTLBuffer> src = [d newBufferWithBytes:px
                                       length:sizeof px
                                      options:MTLResourceStorageModeShared],
                  dst = [d newBufferWithLength:sizeof px
                                       options:MTLResourceStorageModeManaged];
    MTLTextureDescriptor *td = [[MTLTextureDescriptor alloc] init];
    td.textureType = MTLTextureType2D;
    td.pixelFormat = MTLPixelFormatRGBA8Unorm;
    td.width = 16;
    td.height = 16;
    td.mipmapLevelCount = 5;
    td.usage = MTLTextureUsageShaderRead;
    td.storageMode = MTLStorageModePrivate;
    id<MTLTexture> t = [d newTextureWithDescriptor:td],
                   u = [d newTextureWithDescriptor:td];
    t.label = @"tex";
    CHECK(t.mipmapLevelCount == 5 && t.arrayLength == 1 && t.sampleCount == 1 &&
          t.textureType == MTLTextureType2D &&
          t.pixelFormat == MTLPixelFormatRGBA8Unorm);
    id<MTLCommandBuffer> cb = [q commandBuffer];
    cb.label = @"blits";
    id<MTLBlitCommandEncoder> b = [cb blitCommandEncoder];
    b.label = @"b";
    [b pushDebugGroup:@"g"];
    [b copyFromBuffer:src
               sourceOffset:0
          sourceBytesPerRow:64
        sourceBytesPerImage:1024
                 sourceSize:MTLSizeMake(16, 16, 1)
                  toTexture:t
           destinationSlice:0
           destinationLevel:0
          destinationOrigin:MTLOriginMake(0, 0, 0)];
    [b generateMipmapsForTexture:t];
    [b copyFromTexture:t
              sourceSlice:0
              sourceLevel:0
             sourceOrigin:MTLOriginMake(0, 0, 0)
               sourceSize:MTLSizeMake(16, 16, 1)
                toTexture:u
         destinationSlice:0
         destinationLevel:0
        destinationOrigin:MTLOriginMake(0, 0, 0)];
    [b copyFromTexture:t toTexture:u];
    [b copyFromTexture:t
             sourceSlice:0
             sourceLevel:1
               toTexture:u
        destinationSlice:0
        destinationLevel:1
              sliceCount:1
              levelCount:2];
    [b copyFromTexture:u
                     sourceSlice:0
                     sourceLevel:0
                    sourceOrigin:MTLOriginMake(0, 0, 0)
                      sourceSize:MTLSizeMake(16, 16, 1)
                        toBuffer:dst
               destinationOffset:0
          destinationBytesPerRow:64
        destinationBytesPerImage:1024];
    [b synchronizeResource:dst];
    [b optimizeContentsForGPUAccess:t];
    [b optimizeContentsForCPUAccess:t];
    [b popDebugGroup];
    [b insertDebugSignpost:@"x"];
    [b endEncoding];
    __block BOOL sched = NO, comp = NO;
    [cb addScheduledHandler:^(id<MTLCommandBuffer> c) {
      sched = YES;
    }];
    [cb addCompletedHandler:^(id<MTLCommandBuffer> c) {
      comp = c.status == MTLCommandBufferStatusCompleted;
    }];
    [cb enqueue];
    CHECK(cb.status == MTLCommandBufferStatusEnqueued);
    [cb commit];
    [cb waitUntilScheduled];
    [cb waitUntilCompleted];
    CHECK(cb.status == MTLCommandBufferStatusCompleted);
    CHECK(!cb.error);
    if (cb.error) NSLog(@"%@", cb.error);
    CHECK(sched);
    CHECK(comp);
    CHECK(!memcmp(dst.contents, px, sizeof px));
    CHECK(cb.GPUEndTime >= cb.GPUStartTime && cb.GPUStartTime > 0);
    CHECK(cb.kernelEndTime >= cb.kernelStartTime);
    [dst didModifyRange:NSMakeRange(0, 4)];
    [dst addDebugMarker:@"m" range:NSMakeRange(0, 4)];
    [dst removeAllDebugMarkers];
    id<MTLTexture> view =
        [t newTextureViewWithPixelFormat:MTLPixelFormatRGBA8Unorm];
    CHECK(view.parentTexture == t);
    id<MTLTexture> v2 =
        [t newTextureViewWithPixelFormat:MTLPixelFormatRGBA8Unorm
                             textureType:MTLTextureType2D
                                  levels:NSMakeRange(1, 1)
                                  slices:NSMakeRange(0, 1)];
    CHECK(v2.width == 8 && v2.parentRelativeLevel == 1);
    MTLTextureDescriptor *bd = [MTLTextureDescriptor
        textureBufferDescriptorWithPixelFormat:MTLPixelFormatR32Float
                                         width:16
                               resourceOptions:0
                                         usage:MTLTextureUsageShaderRead];
    CHECK(bd.textureType == MTLTextureTypeTextureBuffer);
    NSUInteger al =
        [d minimumTextureBufferAlignmentForPixelFormat:MTLPixelFormatR32Float];
    CHECK(al >= 1);
    CHECK([d minimumLinearTextureAlignmentForPixelFormat:
                  MTLPixelFormatR32Float] >= 1);
    id<MTLTexture> bt = [src newTextureWithDescriptor:bd
                                               offset:0
                                          bytesPerRow:64];
    CHECK(bt.buffer == src);
    CHECK(bt.bufferBytesPerRow == 64);
    MTLTextureDescriptor *cd = [MTLTextureDescriptor
        textureCubeDescriptorWithPixelFormat:MTLPixelFormatR8Unorm
                                        size:4
                                   mipmapped:NO];
    id<MTLTexture> cube = [d newTextureWithDescriptor:cd];
    CHECK(cube.textureType == MTLTextureTypeCube);
    uint8_t two[16] = {5};
    id<MTLTexture> sh =
        [d newTextureWithDescriptor:
                [MTLTextureDescriptor
                    texture2DDescriptorWithPixelFormat:MTLPixelFormatR8Unorm
                                                 width:4
                                                height:4
                                             mipmapped:NO]];
    [sh replaceRegion:MTLRegionMake2D(0, 0, 4, 4)
          mipmapLevel:0
                slice:0
            withBytes:two
          bytesPerRow:4
        bytesPerImage:16];
    uint8_t back[16];
    [sh getBytes:back
        bytesPerRow:4
         fromRegion:MTLRegionMake2D(0, 0, 4, 4)
        mipmapLevel:0];
    CHECK(back[0] == 5 && back[1] == 0);
    id<MTLBuffer> nb = [d newBufferWithBytesNoCopy:valloc(4096)
                                            length:4096
                                           options:0
                                       deallocator:^(void *p, NSUInteger n) {
                                         free(p);
                                       }];
    CHECK(nb.length == 4096);
  }
  return checks_end();
}
