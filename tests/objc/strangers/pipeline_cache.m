// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// pipeline_cache.m: a cache of pipelines as games have it: an archive that is
// read at the start, asked first, filled by many threads and written at the
// end.
#import <Foundation/Foundation.h>
#import <Metal/Metal.h>
#include "../check.h"

@interface PipelineCache : NSObject
@property(readonly) NSUInteger hits, misses;
- (instancetype)initWithDevice:(id<MTLDevice>)device URL:(NSURL *)url;
- (id<MTLComputePipelineState>)pipelineFor:(MTLComputePipelineDescriptor *)wanted
                                     error:(NSError **)error;
- (BOOL)save:(NSError **)error;
@end

@implementation PipelineCache {
  id<MTLDevice> _device;
  NSURL *_url;
  id<MTLBinaryArchive> _archive;
  NSMutableDictionary<NSString *, id<MTLComputePipelineState>> *_made;
  NSLock *_lock;
}
- (instancetype)initWithDevice:(id<MTLDevice>)device URL:(NSURL *)url {
  if (!(self = [super init])) {
    return nil;
  }
  _device = device;
  _url = url;
  _lock = [NSLock new];
  _made = [NSMutableDictionary new];
  MTLBinaryArchiveDescriptor *descriptor = [MTLBinaryArchiveDescriptor new];
  if ([[NSFileManager defaultManager] fileExistsAtPath:url.path]) {
    descriptor.url = url;
  }
  NSError *error = nil;
  _archive = [device newBinaryArchiveWithDescriptor:descriptor error:&error];
  if (!_archive) {  // spoilt
    descriptor.url = nil;
    _archive = [device newBinaryArchiveWithDescriptor:descriptor error:&error];
  }
  _archive.label = url.lastPathComponent;
  return self;
}

- (id<MTLComputePipelineState>)pipelineFor:(MTLComputePipelineDescriptor *)wanted
                                     error:(NSError **)error {
  @synchronized(self) {
    id<MTLComputePipelineState> known = _made[wanted.label];
    if (known) {
      return known;
    }
  }
  wanted.binaryArchives = @[ _archive ];
  id<MTLComputePipelineState> made = [_device
      newComputePipelineStateWithDescriptor:wanted
                                    options:
                                        MTLPipelineOptionFailOnBinaryArchiveMiss
                                 reflection:nil
                                      error:NULL];
  const BOOL hit = made != nil;
  if (!made) {
    [_lock lock];
    [_archive addComputePipelineFunctionsWithDescriptor:wanted error:error];
    [_lock unlock];
    made = [_device newComputePipelineStateWithDescriptor:wanted
                                                  options:0
                                               reflection:nil
                                                    error:error];
  }
  @synchronized(self) {
    hit ? ++_hits : ++_misses;
    if (made) {
      _made[wanted.label] = made;
    }
  }
  return made;
}

- (BOOL)save:(NSError **)error {
  return [_archive serializeToURL:_url error:error];
}
@end

static NSString *const source =
    @"#include <metal_stdlib>\n"
     "using namespace metal;\n"
     "constant int which [[function_constant(0)]];\n"
     "kernel void variant(device int *out, uint i "
     "[[thread_position_in_grid]]) { out[i] = which * 10 + int(i); }\n";

enum { VARIANTS = 8 };

static MTLComputePipelineDescriptor *variant(id<MTLLibrary> library, int which) {
  MTLFunctionConstantValues *values = [MTLFunctionConstantValues new];
  [values setConstantValue:&which type:MTLDataTypeInt atIndex:0];
  MTLComputePipelineDescriptor *made = [MTLComputePipelineDescriptor new];
  made.label = [NSString stringWithFormat:@"variant %d", which];
  made.computeFunction = [library newFunctionWithName:@"variant"
                                       constantValues:values
                                                error:NULL];
  return made;
}

static void use(PipelineCache *cache, id<MTLDevice> device) {
  id<MTLLibrary> library = [device newLibraryWithSource:source
                                                options:nil
                                                  error:NULL];
  dispatch_apply(VARIANTS, DISPATCH_APPLY_AUTO, ^(size_t i) {
    @autoreleasepool {
      NSError *error = nil;
      id<MTLComputePipelineState> made =
          [cache pipelineFor:variant(library, (int)i) error:&error];
      if (!made) {
        NSLog(@"%zu: %@", i, error);
      }
    }
  });
  id<MTLBuffer> out = [device newBufferWithLength:16 options:0];
  id<MTLCommandBuffer> commands = [[device newCommandQueue] commandBuffer];
  id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
  [encoder setComputePipelineState:[cache pipelineFor:variant(library, 5)
                                                error:NULL]];
  [encoder setBuffer:out offset:0 atIndex:0];
  [encoder dispatchThreads:MTLSizeMake(4, 1, 1)
      threadsPerThreadgroup:MTLSizeMake(4, 1, 1)];
  [encoder endEncoding];
  [commands commit];
  [commands waitUntilCompleted];
  CHECK(((int *)out.contents)[3] == 53);
}

int main(void) {
  @autoreleasepool {
    id<MTLDevice> device = MTLCreateSystemDefaultDevice();
    NSURL *url = [NSURL
        fileURLWithPath:[NSTemporaryDirectory()
                            stringByAppendingPathComponent:@"game.archive"]];
    [[NSFileManager defaultManager] removeItemAtURL:url error:NULL];
    NSError *error = nil;
    PipelineCache *cache = [[PipelineCache alloc] initWithDevice:device URL:url];
    use(cache, device);
    CHECK(cache.hits == 0 && cache.misses == VARIANTS);
    CHECK([cache save:&error]);
    cache = [[PipelineCache alloc] initWithDevice:device URL:url];
    use(cache, device);
    CHECK(cache.hits == VARIANTS && cache.misses == 0);
    CHECK([[@"spoilt" dataUsingEncoding:NSUTF8StringEncoding] writeToURL:url
                                                              atomically:YES]);
    cache = [[PipelineCache alloc] initWithDevice:device URL:url];
    use(cache, device);
    CHECK(cache.misses == VARIANTS);
    CHECK([cache save:&error]);
  }
  return checks_end();
}
