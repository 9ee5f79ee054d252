// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// images.m: a loader of textures, as programs have that do without MetalKit's:
// a PPM file becomes a texture with mipmaps, is filtered by a kernel, and
// written out again.
#import <Foundation/Foundation.h>
#import <Metal/Metal.h>
#import <MetalKit/MetalKit.h>
#include "../check.h"

@interface ImageLoader : NSObject
@property(readonly) id<MTLDevice> device;
@property(readonly) id<MTLCommandQueue> queue;
- (instancetype)initWithDevice:(id<MTLDevice>)device;
- (id<MTLTexture>)textureWithContentsOfURL:(NSURL *)url
                                   options:(NSDictionary<NSString *, id> *)options
                                     error:(NSError **)error;
- (NSData *)PPMWithTexture:(id<MTLTexture>)texture level:(NSUInteger)level;
@end

static NSErrorDomain const ImageLoaderDomain = @"ImageLoaderDomain";
static NSString *const ImageLoaderMipmaps = @"mipmaps";

@implementation ImageLoader
- (instancetype)initWithDevice:(id<MTLDevice>)device {
  if ((self = [super init])) {
    _device = device;
    _queue = [device newCommandQueue];
    _queue.label = @"image loader";
  }
  return self;
}

- (NSError *)errorWithCode:(NSInteger)code reason:(NSString *)reason {
  return [NSError errorWithDomain:ImageLoaderDomain
                             code:code
                         userInfo:@{NSLocalizedDescriptionKey : reason}];
}

- (id<MTLTexture>)textureWithContentsOfURL:(NSURL *)url
                                   options:(NSDictionary<NSString *, id> *)options
                                     error:(NSError **)error {
  NSData *data = [NSData dataWithContentsOfURL:url options:0 error:error];
  if (!data) {
    return nil;
  }
  NSString *head = [[NSString alloc]
      initWithData:[data subdataWithRange:NSMakeRange(0, MIN(data.length, 20u))]
          encoding:NSISOLatin1StringEncoding];
  NSScanner *scanner = [NSScanner scannerWithString:head];
  NSInteger width = 0, height = 0, most = 0;
  if (![scanner scanString:@"P6" intoString:NULL] ||
      ![scanner scanInteger:&width] || ![scanner scanInteger:&height] ||
      ![scanner scanInteger:&most] || most != 255) {
    if (error) {
      *error = [self errorWithCode:2
                            reason:[NSString stringWithFormat:@"%@ is no PPM",
                                             url.lastPathComponent]];
    }
    return nil;
  }
  const uint8_t *rgb = (const uint8_t *)data.bytes + scanner.scanLocation + 1;
  NSMutableData *rgba =
      [NSMutableData dataWithLength:(NSUInteger)(width * height * 4)];
  uint8_t *to = rgba.mutableBytes;
  for (NSInteger i = 0; i < width * height; ++i) {
    to[4 * i] = rgb[3 * i];
    to[4 * i + 1] = rgb[3 * i + 1];
    to[4 * i + 2] = rgb[3 * i + 2];
    to[4 * i + 3] = 255;
  }
  BOOL mipmaps = [options[ImageLoaderMipmaps] boolValue];
  MTLTextureDescriptor *descriptor = [MTLTextureDescriptor
      texture2DDescriptorWithPixelFormat:MTLPixelFormatRGBA8Unorm
                                   width:(NSUInteger)width
                                  height:(NSUInteger)height
                               mipmapped:mipmaps];
  descriptor.usage = MTLTextureUsageShaderRead;
  id<MTLTexture> texture = [self.device newTextureWithDescriptor:descriptor];
  texture.label = url.lastPathComponent;
  [texture replaceRegion:MTLRegionMake2D(0, 0, (NSUInteger)width,
                                         (NSUInteger)height)
             mipmapLevel:0
               withBytes:rgba.bytes
             bytesPerRow:(NSUInteger)width * 4];
  if (mipmaps) {
    id<MTLCommandBuffer> commands = [self.queue commandBuffer];
    id<MTLBlitCommandEncoder> blit = [commands blitCommandEncoder];
    [blit generateMipmapsForTexture:texture];
    [blit optimizeContentsForGPUAccess:texture];
    [blit endEncoding];
    [commands commit];
    [commands waitUntilCompleted];
  }
  return texture;
}

- (NSData *)PPMWithTexture:(id<MTLTexture>)texture level:(NSUInteger)level {
  NSUInteger width = MAX(texture.width >> level, 1u);
  NSUInteger height = MAX(texture.height >> level, 1u);
  NSMutableData *rgba = [NSMutableData dataWithLength:width * height * 4];
  [texture getBytes:rgba.mutableBytes
         bytesPerRow:width * 4
          fromRegion:MTLRegionMake2D(0, 0, width, height)
         mipmapLevel:level];
  NSMutableData *out = [[[NSString
      stringWithFormat:@"P6\n%lu %lu\n255\n", (unsigned long)width,
                       (unsigned long)height]
      dataUsingEncoding:NSASCIIStringEncoding] mutableCopy];
  for (NSUInteger i = 0; i < width * height; ++i) {
    [out appendBytes:(uint8_t *)rgba.bytes + 4 * i length:3];
  }
  return out;
}
@end

static NSString *const source =
    @"#include <metal_stdlib>\n"
     "using namespace metal;\n"
     "constexpr sampler nearest(coord::pixel, filter::nearest,\n"
     "                          address::clamp_to_edge);\n"
     "kernel void invert(texture2d<half> in [[texture(0)]],\n"
     "                   texture2d<half, access::write> out [[texture(1)]],\n"
     "                   uint2 at [[thread_position_in_grid]]) {\n"
     "  if (at.x >= out.get_width() || at.y >= out.get_height()) return;\n"
     "  half4 c = in.sample(nearest, float2(at));\n"
     "  out.write(half4(1 - c.rgb, c.a), at);\n"
     "}\n";

int main(void) {
  @autoreleasepool {
    id<MTLDevice> device = MTLCreateSystemDefaultDevice();
    NSString *folder = NSTemporaryDirectory();
    NSURL *url = [NSURL
        fileURLWithPath:[folder stringByAppendingPathComponent:@"in.ppm"]];
    NSMutableData *file = [[@"P6\n4 2\n255\n"
        dataUsingEncoding:NSASCIIStringEncoding] mutableCopy];
    for (int i = 0; i < 8; ++i) {
      const uint8_t rgb[3] = {(uint8_t)(i * 16), 100, 255};
      [file appendBytes:rgb length:3];
    }
    CHECK([file writeToURL:url options:NSDataWritingAtomic error:NULL]);
    ImageLoader *loader = [[ImageLoader alloc] initWithDevice:device];
    NSError *error = nil;
    id<MTLTexture> texture =
        [loader textureWithContentsOfURL:url
                                 options:@{ImageLoaderMipmaps : @YES}
                                   error:&error];
    CHECK(texture && texture.mipmapLevelCount == 3);
    CHECK([texture.label isEqualToString:@"in.ppm"]);
    uint8_t small[8];
    [texture getBytes:small
           bytesPerRow:8
            fromRegion:MTLRegionMake2D(0, 0, 2, 1)
           mipmapLevel:1];
    // The mean of 0, 16, 64 and 80.
    CHECK(small[0] == 40 && small[1] == 100 && small[2] == 255);
    id<MTLLibrary> library = [device newLibraryWithSource:source
                                                  options:nil
                                                    error:&error];
    id<MTLComputePipelineState> invert = [device
        newComputePipelineStateWithFunction:[library
                                                newFunctionWithName:@"invert"]
                                      error:&error];
    CHECK(invert != nil);
    MTLTextureDescriptor *to = [MTLTextureDescriptor
        texture2DDescriptorWithPixelFormat:texture.pixelFormat
                                     width:texture.width
                                    height:texture.height
                                 mipmapped:NO];
    to.usage = MTLTextureUsageShaderWrite | MTLTextureUsageShaderRead;
    id<MTLTexture> out = [device newTextureWithDescriptor:to];
    id<MTLCommandBuffer> commands = [loader.queue commandBuffer];
    id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
    [encoder setComputePipelineState:invert];
    [encoder setTextures:(const id<MTLTexture>[]){texture, out}
               withRange:NSMakeRange(0, 2)];
    [encoder dispatchThreadgroups:MTLSizeMake(1, 1, 1)
            threadsPerThreadgroup:MTLSizeMake(8, 8, 1)];
    [encoder endEncoding];
    [commands commit];
    [commands waitUntilCompleted];
    NSData *ppm = [loader PPMWithTexture:out level:0];
    CHECK(ppm.length == 11 + 24);
    const uint8_t *rgb = (const uint8_t *)ppm.bytes + 11;
    CHECK(rgb[0] == 255 && rgb[1] == 155 && rgb[2] == 0);
    CHECK(rgb[21] == 255 - 112);
    [[@"not an image" dataUsingEncoding:NSUTF8StringEncoding]
        writeToURL:url
        atomically:YES];
    CHECK(![loader textureWithContentsOfURL:url options:nil error:&error]);
    CHECK(error.code == 2 &&
          [error.localizedDescription isEqualToString:@"in.ppm is no PPM"]);
    CHECK(![loader
        textureWithContentsOfURL:[NSURL fileURLWithPath:@"/none/such"]
                         options:nil
                           error:&error]);
    CHECK([error.domain isEqualToString:NSCocoaErrorDomain] &&
          error.code == NSFileReadNoSuchFileError);
  }
  return checks_end();
}
