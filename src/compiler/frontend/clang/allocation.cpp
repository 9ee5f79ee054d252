// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// allocation.cpp: operator new and delete for the compiler's programs. A large
// library is millions of small objects that clang and LLVM make and drop, and
// glibc's malloc, which merges neighbours and keeps sizes beside the objects,
// was a twelfth of a front end run. Here small objects lie in slabs of one
// size, and what is freed is the next to be handed out. Large ones are
// malloc's. The slabs are one range of addresses, of which pages become memory
// as they are needed: what is ours is told by its address, and RLIMIT_DATA
// counts what is used alone.
#include "compiler/frontend/clang/allocation.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

#include <atomic>
#include <new>

volatile sig_atomic_t mtlc_memory_ran_out;

// A sanitizer has its own.
#if !defined(METTLE_SANITIZED)

namespace {

constexpr size_t StepBytes = 16;  // sizes and alignments are multiples of this
constexpr size_t MostBytes = 512;
constexpr size_t SlabBytes = 32 << 10;
constexpr size_t GrowBytes = 2 << 20;  // one huge page
constexpr size_t RegionBytes = size_t(16) << 30;

struct Freed {
  Freed *Next;
};

// The objects of one size that a thread may hand out.
struct SizeClass {
  Freed *First;
  char *Next, *End;  // of the slab's rest, which was never handed out
};
thread_local SizeClass Classes[MostBytes / StepBytes + 1];

pthread_mutex_t Lock = PTHREAD_MUTEX_INITIALIZER;  // guards the variables below
size_t UsedBytes, OpenBytes;  // of the region: used for slabs, and made
                              // writable
bool HasFailed;

std::atomic<char *> Region;
unsigned char ClassOf[RegionBytes / SlabBytes];  // [of slabs]

// Reserves the range of addresses, at a huge page's boundary.
char *reserveRegion() {
  void *Range = mmap(nullptr, RegionBytes + GrowBytes, PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (Range == MAP_FAILED) return nullptr;
  const size_t Address = reinterpret_cast<size_t>(Range);
  char *Begin = static_cast<char *>(Range) +
                (GrowBytes - Address % GrowBytes) % GrowBytes;
  madvise(Begin, RegionBytes, MADV_HUGEPAGE);  // where there are such pages
  return Begin;
}

// Reserves memory for one more slab; returns false where none can be had.
bool growRegion() {
  char *Begin = Region.load(std::memory_order_relaxed);
  if (!Begin) {
    Begin = reserveRegion();
    if (!Begin) return false;
    Region.store(Begin, std::memory_order_relaxed);
  }
  if (UsedBytes + SlabBytes <= OpenBytes) return true;
  if (OpenBytes + GrowBytes > RegionBytes ||
      mprotect(Begin + OpenBytes, GrowBytes, PROT_READ | PROT_WRITE) != 0)
    return false;
  OpenBytes += GrowBytes;
  return true;
}

bool takeSlab(size_t Class) {
  pthread_mutex_lock(&Lock);
  HasFailed = HasFailed || !growRegion();
  const bool Done = !HasFailed;
  if (Done) {
    SizeClass &Its = Classes[Class];
    Its.Next = Region.load(std::memory_order_relaxed) + UsedBytes;
    Its.End = Its.Next + SlabBytes;
    ClassOf[UsedBytes / SlabBytes] = static_cast<unsigned char>(Class);
    UsedBytes += SlabBytes;
  }
  pthread_mutex_unlock(&Lock);
  return Done;
}

// Null if there is no memory.
void *allocate(size_t Bytes) {
  if (Bytes > MostBytes) return malloc(Bytes);
  const size_t Class = Bytes ? (Bytes + StepBytes - 1) / StepBytes : 1;
  SizeClass &Its = Classes[Class];
  if (Freed *Object = Its.First) {
    Its.First = Object->Next;
    return Object;
  }
  const size_t ObjectBytes = Class * StepBytes;
  if (static_cast<size_t>(Its.End - Its.Next) < ObjectBytes && !takeSlab(Class))
    return malloc(Bytes);
  void *Object = Its.Next;
  Its.Next += ObjectBytes;
  return Object;
}

// An object may be freed by another thread, which then owns it.
void release(void *Object) {
  // Relaxed: who has an object of a slab has seen the region.
  const char *Begin = Region.load(std::memory_order_relaxed);
  const size_t Offset =
      reinterpret_cast<size_t>(Object) - reinterpret_cast<size_t>(Begin);
  if (!Begin || Offset >= RegionBytes) {
    free(Object);
    return;
  }
  SizeClass &Its = Classes[ClassOf[Offset / SlabBytes]];
  auto *Top = static_cast<Freed *>(Object);
  Top->Next = Its.First;
  Its.First = Top;
}

// The compiler is built without exceptions: without memory it ends, and the
// process that waits for it says so.
[[noreturn]] void endWithoutMemory() {
  mtlc_memory_ran_out = 1;
  abort();
}

void *mustAllocate(size_t Bytes) {
  void *Object = allocate(Bytes);
  if (!Object) endWithoutMemory();
  return Object;
}

bool isPlain(std::align_val_t Alignment) {
  return static_cast<size_t>(Alignment) <= StepBytes;
}

void *mustAlign(size_t Bytes, std::align_val_t Alignment) {
  if (isPlain(Alignment)) return mustAllocate(Bytes);
  void *Object = nullptr;
  if (posix_memalign(&Object, static_cast<size_t>(Alignment), Bytes) != 0)
    endWithoutMemory();
  return Object;
}

void releaseAligned(void *Object, std::align_val_t Alignment) {
  if (isPlain(Alignment))
    release(Object);
  else
    free(Object);
}

}  // namespace

void *operator new(size_t Bytes) {
  return mustAllocate(Bytes);
}
void *operator new[](size_t Bytes) {
  return mustAllocate(Bytes);
}
void *operator new(size_t Bytes, const std::nothrow_t &) noexcept {
  return allocate(Bytes);
}
void *operator new[](size_t Bytes, const std::nothrow_t &) noexcept {
  return allocate(Bytes);
}
void *operator new(size_t Bytes, std::align_val_t Alignment) {
  return mustAlign(Bytes, Alignment);
}
void *operator new[](size_t Bytes, std::align_val_t Alignment) {
  return mustAlign(Bytes, Alignment);
}
void operator delete(void *Object) noexcept {
  release(Object);
}
void operator delete[](void *Object) noexcept {
  release(Object);
}
void operator delete(void *Object, size_t) noexcept {
  release(Object);
}
void operator delete[](void *Object, size_t) noexcept {
  release(Object);
}
void operator delete(void *Object, std::align_val_t Alignment) noexcept {
  releaseAligned(Object, Alignment);
}
void operator delete[](void *Object, std::align_val_t Alignment) noexcept {
  releaseAligned(Object, Alignment);
}
void operator delete(void *Object, size_t, std::align_val_t Alignment) noexcept {
  releaseAligned(Object, Alignment);
}
void operator delete[](void *Object, size_t,
                       std::align_val_t Alignment) noexcept {
  releaseAligned(Object, Alignment);
}

#endif
