// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// metal_cpp_metal4.cpp: metal-cpp's binary archives, and Metal 4's queues,
// compilers and argument tables. Expected sums by loops of the host.
#define NS_PRIVATE_IMPLEMENTATION
#define MTL_PRIVATE_IMPLEMENTATION
#include <Foundation/Foundation.hpp>
#include <Metal/Metal.hpp>
#include <cstdio>
#include <cstring>
#include <unistd.h>

#include "check.h"
static const char *source =
    "#include <metal_stdlib>\nusing namespace metal;\n"
    "constant int factor [[function_constant(0)]];\n"
    "kernel void scale(device int *x [[buffer(0)]], constant int &n "
    "[[buffer(1)]], uint i [[thread_position_in_grid]]) { if (int(i) < n) x[i] "
    "*= factor; }\n"
    "kernel void sum(device const int *x [[buffer(0)]], constant int &n "
    "[[buffer(1)]], device atomic_int *out [[buffer(2)]], uint i "
    "[[thread_position_in_grid]]) { if (int(i) < n) "
    "atomic_fetch_add_explicit(out, x[i], memory_order_relaxed); }\n";
static NS::String *str(const char *s) {
  return NS::String::string(s, NS::UTF8StringEncoding);
}
int main() {
  NS::AutoreleasePool *pool = NS::AutoreleasePool::alloc()->init();
  MTL::Device *device = MTL::CreateSystemDefaultDevice();
  NS::Error *error = nullptr;
  MTL::Library *library = device->newLibrary(str(source), nullptr, &error);
  CHECK(library);
  if (!library) {
    puts(error->localizedDescription()->utf8String());
    return 1;
  }
  // binary archive: added, written, read, required
  MTL::FunctionConstantValues *values =
      MTL::FunctionConstantValues::alloc()->init();
  int factor = 3;
  values->setConstantValue(&factor, MTL::DataTypeInt, NS::UInteger(0));
  MTL::Function *scale = library->newFunction(str("scale"), values, &error);
  MTL::Function *sum = library->newFunction(str("sum"));
  MTL::ComputePipelineDescriptor *pd =
      MTL::ComputePipelineDescriptor::alloc()->init();
  pd->setComputeFunction(scale);
  MTL::BinaryArchiveDescriptor *ad =
      MTL::BinaryArchiveDescriptor::alloc()->init();
  MTL::BinaryArchive *archive = device->newBinaryArchive(ad, &error);
  CHECK(archive && archive->addComputePipelineFunctions(pd, &error));
  char path[] = "/tmp/mettle-archive-XXXXXX";
  close(mkstemp(path));
  CHECK(archive->serializeToURL(NS::URL::fileURLWithPath(str(path)), &error));
  ad->setUrl(NS::URL::fileURLWithPath(str(path)));
  MTL::BinaryArchive *again = device->newBinaryArchive(ad, &error);
  CHECK(again);
  pd->setBinaryArchives(NS::Array::array(again));
  MTL::ComputePipelineState *scaling = device->newComputePipelineState(
      pd, MTL::PipelineOptionFailOnBinaryArchiveMiss, nullptr, &error);
  CHECK(scaling);
  MTL::ComputePipelineDescriptor *missing =
      MTL::ComputePipelineDescriptor::alloc()->init();
  missing->setComputeFunction(sum);
  missing->setBinaryArchives(NS::Array::array(again));
  CHECK(!device->newComputePipelineState(
            missing, MTL::PipelineOptionFailOnBinaryArchiveMiss, nullptr,
            &error) &&
        error);
  error = nullptr;
  // Metal 4
  MTL4::CompilerDescriptor *cd = MTL4::CompilerDescriptor::alloc()->init();
  MTL4::Compiler *compiler = device->newCompiler(cd, &error);
  CHECK(compiler);
  MTL4::LibraryFunctionDescriptor *fd =
      MTL4::LibraryFunctionDescriptor::alloc()->init();
  fd->setLibrary(library);
  fd->setName(str("sum"));
  MTL4::ComputePipelineDescriptor *p4 =
      MTL4::ComputePipelineDescriptor::alloc()->init();
  p4->setComputeFunctionDescriptor(fd);
  MTL::ComputePipelineState *summing = compiler->newComputePipelineState(
      p4, (MTL4::CompilerTaskOptions *)nullptr, &error);
  CHECK(summing);
  if (!summing && error) puts(error->localizedDescription()->utf8String());
  MTL4::CommandQueue *queue = device->newMTL4CommandQueue();
  MTL4::CommandAllocator *allocator = device->newCommandAllocator();
  MTL4::CommandBuffer *work = device->newCommandBuffer();
  MTL4::ArgumentTableDescriptor *td =
      MTL4::ArgumentTableDescriptor::alloc()->init();
  td->setMaxBufferBindCount(3);
  MTL4::ArgumentTable *table = device->newArgumentTable(td, &error);
  CHECK(queue && allocator && work && table);
  const int n = 1000;
  MTL::Buffer *x = device->newBuffer(n * 4, MTL::ResourceStorageModeShared),
              *count = device->newBuffer(&n, 4, MTL::ResourceStorageModeShared),
              *out = device->newBuffer(4, MTL::ResourceStorageModeShared),
              *copy = device->newBuffer(n * 4, MTL::ResourceStorageModeShared);
  MTL::ResidencySetDescriptor *rd =
      MTL::ResidencySetDescriptor::alloc()->init();
  MTL::ResidencySet *set = device->newResidencySet(rd, &error);
  for (MTL::Buffer *b : {x, count, out, copy}) set->addAllocation(b);
  set->commit();
  queue->addResidencySet(set);
  MTL::SharedEvent *event = device->newSharedEvent();
  long expected = 0;
  for (int round = 1; round <= 3; ++round) {
    int *v = (int *)x->contents();
    expected = 0;
    for (int i = 0; i < n; ++i) {
      v[i] = i * round - 7;
      expected += 3L * v[i];
    }
    *(int *)out->contents() = 0;
    allocator->reset();
    work->beginCommandBuffer(allocator);
    MTL4::ComputeCommandEncoder *e = work->computeCommandEncoder();
    table->setAddress(x->gpuAddress(), 0);
    table->setAddress(count->gpuAddress(), 1);
    table->setAddress(out->gpuAddress(), 2);
    e->setArgumentTable(table);
    e->setComputePipelineState(scaling);
    e->dispatchThreads(MTL::Size(n, 1, 1), MTL::Size(64, 1, 1));
    e->barrierAfterEncoderStages(MTL::StageDispatch,
                                 MTL::StageDispatch | MTL::StageBlit,
                                 MTL4::VisibilityOptionDevice);
    e->setComputePipelineState(summing);
    e->dispatchThreadgroups(MTL::Size((n + 63) / 64, 1, 1),
                            MTL::Size(64, 1, 1));
    e->copyFromBuffer(x, 0, copy, 0, n * 4);
    e->endEncoding();
    work->endCommandBuffer();
    const MTL4::CommandBuffer *list[] = {work};
    queue->commit(list, 1);
    queue->signalEvent(event, round);
    CHECK(event->waitUntilSignaledValue(round, 10000));
    CHECK(*(int *)out->contents() == expected &&
          ((int *)copy->contents())[n - 1] == 3 * ((n - 1) * round - 7));
  }
  unlink(path);
  pool->release();
  return checks_end();
}
