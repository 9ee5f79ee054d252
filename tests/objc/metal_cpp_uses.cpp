// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// metal_cpp_uses.cpp: a program over metal-cpp, Apple's C++ wrapper of the
// Objective-C API: structs and floats as results, blocks from std::function,
// function descriptors, heaps, residency, fences, events, indirect commands,
// errors.
#define NS_PRIVATE_IMPLEMENTATION
#define MTL_PRIVATE_IMPLEMENTATION
#define CA_PRIVATE_IMPLEMENTATION
#include <Foundation/Foundation.hpp>
#include <Metal/Metal.hpp>
#include <QuartzCore/QuartzCore.hpp>

#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <thread>
#include <vector>

static int passed, failed;
#define CHECK(condition)                                             \
  do {                                                               \
    if (condition) {                                                 \
      ++passed;                                                      \
    } else {                                                         \
      ++failed;                                                      \
      std::printf("FAILED: %s:%d: %s\n", __FILE__, __LINE__, #condition); \
    }                                                                \
  } while (0)

static const char source[] = R"(
#include <metal_stdlib>
using namespace metal;
constant int factor [[function_constant(0)]];
kernel void scale(device float *x [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  x[i] = x[i] * factor;
}
kernel void add(device const float *x [[buffer(0)]], device const float *y [[buffer(1)]],
                device float *z [[buffer(2)]], uint i [[thread_position_in_grid]]) {
  z[i] = x[i] + y[i];
}
)";

static NS::String *text(const char *utf8) {
  return NS::String::string(utf8, NS::UTF8StringEncoding);
}

static NS::SharedPtr<MTL::Buffer> floats(MTL::Device *device,
                                         std::vector<float> values) {
  return NS::TransferPtr(
      device->newBuffer(values.data(), values.size() * sizeof(float),
                        MTL::ResourceStorageModeShared));
}

static float at(const NS::SharedPtr<MTL::Buffer> &buffer, int index) {
  return static_cast<const float *>(buffer->contents())[index];
}

static void device_values(MTL::Device *device) {
  const MTL::Size most = device->maxThreadsPerThreadgroup();  // 24 bytes
  CHECK(most.width == 1024 && most.height == 1024 && most.depth >= 64);
  CHECK(std::strlen(device->name()->utf8String()) > 0);
  CHECK(device->supportsFamily(MTL::GPUFamilyMetal3));
  const MTL::SizeAndAlign size =
      device->heapBufferSizeAndAlign(1000, MTL::ResourceStorageModeShared);
  CHECK(size.size >= 1000 && size.align && size.size % size.align == 0);
  NS::Array *devices = MTL::CopyAllDevices();
  bool is_among = false;
  for (NS::UInteger i = 0; i < devices->count(); ++i) {
    is_among |= devices->object<MTL::Device>(i) == device;
  }
  CHECK(is_among);
  devices->release();
  const NS::OperatingSystemVersion version =
      NS::ProcessInfo::processInfo()->operatingSystemVersion();
  CHECK(version.majorVersion >= 14);
}

static void foundation() {
  NS::Number *half = NS::Number::number(0.5f);
  CHECK(half->floatValue() == 0.5f && half->doubleValue() == 0.5);
  const NS::Object *objects[] = {text("one"), half};
  NS::Array *array = NS::Array::array(objects, 2);
  CHECK(array->count() == 2);
  CHECK(array->object<NS::String>(0)->isEqualToString(text("one")));
  CHECK(text("h\u00e9llo")->length() == 5);
  NS::Dictionary *table = NS::Dictionary::dictionary(half, text("key"));
  CHECK(table->object(text("key")) == half && !table->object(text("other")));
  const NS::Range found = NS::Range::Make(3, 4);
  CHECK(found.location == 3 && found.Max() == 7);
}

static void errors(MTL::Device *device) {
  NS::Error *error = nullptr;
  CHECK(!device->newLibrary(text("kernel void broken( {"), nullptr, &error));
  CHECK(error && error->code() != 0);
  CHECK(error && std::strstr(error->localizedDescription()->utf8String(),
                             "error"));
  CHECK(error && error->domain()->isEqualToString(text("MTLLibraryErrorDomain")));
  CHECK(!device->newBuffer(~0ul >> 1, MTL::ResourceStorageModeShared));
}

static MTL::ComputePipelineState *pipeline(MTL::Device *device,
                                           MTL::Function *function) {
  NS::Error *error = nullptr;
  MTL::ComputePipelineState *made =
      device->newComputePipelineState(function, &error);
  CHECK(made && !error);
  return made;
}

static NS::SharedPtr<MTL::Function> scaled(MTL::Library *library, int factor) {
  auto values = NS::TransferPtr(MTL::FunctionConstantValues::alloc()->init());
  values->setConstantValue(&factor, MTL::DataTypeInt, NS::UInteger(0));
  auto descriptor = NS::RetainPtr(MTL::FunctionDescriptor::functionDescriptor());
  descriptor->setName(text("scale"));
  descriptor->setSpecializedName(text("scale_by"));
  descriptor->setConstantValues(values.get());
  NS::Error *error = nullptr;
  auto made = NS::TransferPtr(library->newFunction(descriptor.get(), &error));
  CHECK(made && !error);
  return made;
}

// What MLX does: concurrent encoders, a fence each, a residency set, handlers.
static void fences_and_handlers(MTL::Device *device, MTL::Library *library) {
  auto queue = NS::TransferPtr(device->newCommandQueue());
  auto triple = NS::TransferPtr(pipeline(device, scaled(library, 3).get()));
  auto add = NS::TransferPtr(
      pipeline(device, NS::TransferPtr(library->newFunction(text("add"))).get()));
  CHECK(add->threadExecutionWidth() == 32);
  auto x = floats(device, {1, 2, 3, 4}), y = floats(device, {10, 20, 30, 40});
  auto z = floats(device, {0, 0, 0, 0});
  auto set_descriptor =
      NS::TransferPtr(MTL::ResidencySetDescriptor::alloc()->init());
  set_descriptor->setInitialCapacity(4);
  NS::Error *error = nullptr;
  auto set =
      NS::TransferPtr(device->newResidencySet(set_descriptor.get(), &error));
  CHECK(set && !error);
  set->addAllocation(x.get());
  set->addAllocation(z.get());
  set->commit();
  set->requestResidency();
  CHECK(set->containsAllocation(x.get()) && set->allocationCount() == 2);
  const MTL::ResidencySet *sets[] = {set.get()};
  queue->addResidencySets(sets, 1);

  auto fence = NS::TransferPtr(device->newFence());
  MTL::CommandBuffer *commands = queue->commandBufferWithUnretainedReferences();
  MTL::ComputeCommandEncoder *first =
      commands->computeCommandEncoder(MTL::DispatchTypeConcurrent);
  first->setComputePipelineState(triple.get());
  first->setBuffer(x.get(), 0, 0);
  first->dispatchThreads(MTL::Size(4, 1, 1), MTL::Size(4, 1, 1));
  first->updateFence(fence.get());
  first->endEncoding();
  MTL::ComputeCommandEncoder *second =
      commands->computeCommandEncoder(MTL::DispatchTypeConcurrent);
  second->waitForFence(fence.get());
  second->setComputePipelineState(add.get());
  const MTL::Buffer *buffers[] = {x.get(), y.get(), z.get()};
  const NS::UInteger offsets[] = {0, 0, 0};
  second->setBuffers(buffers, offsets, NS::Range::Make(0, 3));
  second->dispatchThreads(MTL::Size(4, 1, 1), MTL::Size(2, 1, 1));
  second->memoryBarrier(MTL::BarrierScopeBuffers);
  second->endEncoding();

  auto event = NS::TransferPtr(device->newSharedEvent());
  commands->encodeSignalEvent(event.get(), 7);
  std::mutex lock;
  std::condition_variable changed;
  int handled = 0;
  for (int i = 1; i <= 2; ++i) {
    commands->addCompletedHandler([&, i](MTL::CommandBuffer *done) {
      std::lock_guard<std::mutex> hold(lock);
      handled += done->status() == MTL::CommandBufferStatusCompleted ? i : 100;
      changed.notify_all();
    });
  }
  commands->commit();
  CHECK(event->waitUntilSignaledValue(7, ~0ull));
  commands->waitUntilCompleted();
  CHECK(commands->status() == MTL::CommandBufferStatusCompleted);
  CHECK(!commands->error());
  CHECK(commands->GPUEndTime() >= commands->GPUStartTime());  // doubles
  CHECK(commands->GPUStartTime() > 0);
  {
    std::unique_lock<std::mutex> hold(lock);
    changed.wait(hold, [&] { return handled >= 3; });
  }
  CHECK(handled == 3);
  CHECK(at(z, 0) == 13 && at(z, 3) == 52);
  CHECK(event->signaledValue() == 7);
  queue->removeResidencySet(set.get());
}

static void heaps_and_events(MTL::Device *device, MTL::Library *library) {
  auto descriptor = NS::TransferPtr(MTL::HeapDescriptor::alloc()->init());
  descriptor->setResourceOptions(MTL::ResourceStorageModeShared);
  descriptor->setSize(1 << 20);
  auto heap = NS::TransferPtr(device->newHeap(descriptor.get()));
  CHECK(heap && heap->size() >= 1 << 20);
  auto x = NS::TransferPtr(
      heap->newBuffer(256, MTL::ResourceStorageModeShared));
  CHECK(x && x->heap() == heap.get() && x->length() == 256);
  for (int i = 0; i < 64; ++i) {
    static_cast<float *>(x->contents())[i] = float(i);
  }
  auto twice = NS::TransferPtr(pipeline(device, scaled(library, 2).get()));
  auto queue = NS::TransferPtr(device->newCommandQueue());
  auto event = NS::TransferPtr(device->newSharedEvent());
  MTL::CommandBuffer *commands = queue->commandBuffer();
  commands->encodeWait(event.get(), 1);
  MTL::ComputeCommandEncoder *encoder = commands->computeCommandEncoder();
  encoder->setComputePipelineState(twice.get());
  encoder->setBuffer(x.get(), 0, 0);
  encoder->dispatchThreadgroups(MTL::Size(2, 1, 1), MTL::Size(32, 1, 1));
  encoder->endEncoding();
  commands->commit();
  CHECK(at(x, 63) == 63);
  CHECK(!event->waitUntilSignaledValue(1, 0));
  std::thread([&] { event->setSignaledValue(1); }).join();
  commands->waitUntilCompleted();
  CHECK(at(x, 63) == 126);
}

static void threads(MTL::Device *device, MTL::Library *library) {
  auto function = NS::TransferPtr(library->newFunction(text("add")));
  auto add = NS::TransferPtr(pipeline(device, function.get()));
  std::atomic<int> right{0};
  std::vector<std::thread> all;
  for (int t = 0; t < 8; ++t) {
    all.emplace_back([&, t] {
      auto queue = NS::TransferPtr(device->newCommandQueue());
      for (int i = 0; i < 50; ++i) {
        NS::AutoreleasePool *pool = NS::AutoreleasePool::alloc()->init();
        auto x = floats(device, {float(t)}), y = floats(device, {float(i)});
        auto z = floats(device, {-1});
        MTL::CommandBuffer *commands = queue->commandBuffer();
        MTL::ComputeCommandEncoder *encoder = commands->computeCommandEncoder();
        encoder->setComputePipelineState(add.get());
        encoder->setBuffer(x.get(), 0, 0);
        encoder->setBuffer(y.get(), 0, 1);
        encoder->setBuffer(z.get(), 0, 2);
        encoder->dispatchThreads(MTL::Size(1, 1, 1), MTL::Size(1, 1, 1));
        encoder->endEncoding();
        commands->commit();
        commands->waitUntilCompleted();
        right += at(z, 0) == float(t + i);
        pool->release();
      }
    });
  }
  for (std::thread &each : all) {
    each.join();
  }
  CHECK(right == 400);
}

int main() {
  NS::AutoreleasePool *pool = NS::AutoreleasePool::alloc()->init();
  MTL::Device *device = MTL::CreateSystemDefaultDevice();
  device_values(device);
  foundation();
  errors(device);
  NS::Error *error = nullptr;
  auto options = NS::TransferPtr(MTL::CompileOptions::alloc()->init());
  options->setMathMode(MTL::MathModeSafe);
  auto library =
      NS::TransferPtr(device->newLibrary(text(source), options.get(), &error));
  CHECK(library && !error);
  CHECK(library->functionNames()->count() == 2);
  fences_and_handlers(device, library.get());
  heaps_and_events(device, library.get());
  threads(device, library.get());
  device->release();
  pool->release();
  std::printf("%d passed, %d failed\n", passed, failed);
  return failed != 0;
}
