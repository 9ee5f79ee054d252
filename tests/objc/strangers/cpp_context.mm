// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cpp_context.mm: a wrapper in Objective-C++, as a program for macOS has them.
#import <Metal/Metal.h>
#import <Foundation/Foundation.h>
#include <vector>
#include <string>
#include <memory>
#include <functional>
#include <stdexcept>
#include <map>
#include "../check.h"
class Context {
 public:
  Context() {
    device_ = MTLCreateSystemDefaultDevice();
    if (!device_) throw std::runtime_error("no device");
    queue_ = [device_ newCommandQueue];
  }
  id<MTLComputePipelineState> pipeline(const std::string &src,
                                       const std::string &fn) {
    auto it = cache_.find(fn);
    if (it != cache_.end()) return it->second;
    NSError *err = nil;
    id<MTLLibrary> lib = [device_
        newLibraryWithSource:[NSString stringWithUTF8String:src.c_str()]
                     options:nil
                       error:&err];
    if (!lib) throw std::runtime_error(err.localizedDescription.UTF8String);
    id<MTLFunction> f = [lib newFunctionWithName:@(fn.c_str())];
    if (!f) throw std::invalid_argument("no function " + fn);
    id<MTLComputePipelineState> p =
        [device_ newComputePipelineStateWithFunction:f error:&err];
    cache_[fn] = p;
    return p;
  }
  void run(id<MTLComputePipelineState> p,
           const std::vector<id<MTLBuffer>> &bufs, size_t n,
           std::function<void(double)> done) {
    id<MTLCommandBuffer> cb = [queue_ commandBuffer];
    id<MTLComputeCommandEncoder> e = [cb computeCommandEncoder];
    [e setComputePipelineState:p];
    NSUInteger i = 0;
    for (auto b : bufs) [e setBuffer:b offset:0 atIndex:i++];
    [e dispatchThreads:MTLSizeMake(n, 1, 1)
        threadsPerThreadgroup:MTLSizeMake(
                                  std::min<size_t>(
                                      n, p.maxTotalThreadsPerThreadgroup),
                                  1, 1)];
    [e endEncoding];
    [cb addCompletedHandler:^(id<MTLCommandBuffer> c) {
      done(c.GPUEndTime - c.GPUStartTime);
    }];
    [cb commit];
    [cb waitUntilCompleted];
  }
  template <class T>
  id<MTLBuffer> upload(const std::vector<T> &v) {
    return [device_ newBufferWithBytes:v.data()
                                length:v.size() * sizeof(T)
                               options:MTLResourceStorageModeShared];
  }
  id<MTLDevice> device_;
  id<MTLCommandQueue> queue_;
  std::map<std::string, id<MTLComputePipelineState>> cache_;
};
int main() {
  @autoreleasepool {
    auto ctx = std::make_unique<Context>();
    const char *src = R"(#include <metal_stdlib>
using namespace metal;
kernel void mul(device const float *a, device const float *b, device float *c, uint i [[thread_position_in_grid]]) { c[i] = a[i] * b[i]; })";
    std::vector<float> a(1000, 3.f), b(1000, 4.f), c(1000);
    auto ba = ctx->upload(a), bb = ctx->upload(b), bc = ctx->upload(c);
    double t = -1;
    ctx->run(ctx->pipeline(src, "mul"), {ba, bb, bc}, 1000,
             [&](double s) { t = s; });
    CHECK(t >= 0);
    CHECK(static_cast<float *>(bc.contents)[999] == 12.f);
    try {
      ctx->pipeline("bad", "x");
      CHECK(0);
    } catch (const std::runtime_error &e) {
      CHECK(std::string(e.what()).size() > 0);
    }
    try {
      ctx->pipeline(src, "zork");
      CHECK(0);
    } catch (const std::exception &) {
    }
    try {
      @throw [NSException exceptionWithName:@"x" reason:@"y" userInfo:nil];
    } catch (NSException *e) {
      CHECK([e.name isEqual:@"x"]);
    } @
    try {
      throw std::runtime_error("z");
    } @catch (...) {
    }
  }
  return checks_end();
}
