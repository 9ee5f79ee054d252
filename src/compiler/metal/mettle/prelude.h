// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// prelude.h: what Metal's compiler knows without any #include: the
// address space keywords, the function qualifiers, the built-in scalar, vector
// and matrix types. The front end includes it before every source.
#ifndef METTLE_PRELUDE_H
#define METTLE_PRELUDE_H

#define device __attribute__((opencl_global))
#define threadgroup __attribute__((opencl_local))
#define constant __attribute__((opencl_global_host)) const
#define thread
#define kernel __attribute__((annotate("mettle.kernel")))
#define vertex __attribute__((annotate("mettle.vertex")))
#define fragment __attribute__((annotate("mettle.fragment")))

// Every function of the library: inlined in every tier, and without debug
// information, so that a debugger and a fault stop at the caller's line.
#define METTLE_INLINE __attribute__((always_inline, nodebug)) inline

// M(space, object) for every kind of object that a member function may be
// called on: what it returns a reference to is where the object is. Written as
// frontend/clang/repairs.cpp has members that differ in the space of their object;
// compilers without those define it for their one space.
#ifndef METTLE_EACH_SPACE
#define METTLE_EACH_SPACE(M)              \
  M(thread, __restrict)                   \
  M(const thread, const __restrict)       \
  M(device, __global)                     \
  M(const device, const __global)         \
  M(threadgroup, __local)                 \
  M(const threadgroup, const __local)     \
  M(constant, const __constant)
#endif

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef _Float16 half;

typedef signed char int8_t;
typedef unsigned char uint8_t;
typedef short int16_t;
typedef unsigned short uint16_t;
typedef int int32_t;
typedef unsigned int uint32_t;
typedef long int64_t;
typedef unsigned long uint64_t;
typedef decltype(sizeof(0)) size_t;
typedef long ptrdiff_t;
typedef long intptr_t;
typedef unsigned long uintptr_t;
typedef decltype(nullptr) nullptr_t;

namespace metal {
using ::half;
using ::uchar;
using ::uint;
using ::ulong;
using ::ushort;
using ::int8_t;
using ::uint8_t;
using ::int16_t;
using ::uint16_t;
using ::int32_t;
using ::uint32_t;
using ::int64_t;
using ::uint64_t;
using ::size_t;
using ::ptrdiff_t;
using ::intptr_t;
using ::uintptr_t;
using ::nullptr_t;
}  // namespace metal

#include <metal_config>
#include <metal_function_constants>
#include <metal_types>

#endif
