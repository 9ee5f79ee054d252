// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// host.metal: host-only language features are refused at their line.

//--- assembly
// error: 5: assembly is not supported in Metal
// error: 8: assembly is not supported in Metal
// error: 9: assembly is not supported in Metal
// error: 12: assembly is not supported in Metal
asm(".globl f\nf: ret");
kernel void k(device uint *x [[buffer(0)]]) {
  uint v = x[0];
  asm volatile("mov $60, %%eax; syscall" ::: "rax", "memory");
  __asm__("" : "+r"(v));
  x[0] = v;
}
template <typename T> void f(T) { __asm("nop"); }

//--- symbols
// error: 3: the symbol 'llvm.sqrt.f32' is not supported in Metal
// error: 4: the symbol 'mettle.position' is not supported in Metal
float f(int) __asm("llvm.sqrt.f32");
uint g(uint, uint) __asm__("mettle.position");
int same(int) __asm("mine");
int same(int a) { return a + 1; }
kernel void k(device int *x [[buffer(0)]]) { x[0] = same(2); }

//--- names_of_functions_stay
// expect: kernel k
int same(int) __asm("mine");
int same(int a) { return a + 1; }
kernel void k(device int *x [[buffer(0)]]) { x[0] = same(2); }

//--- storage_of_threads
// error: 5: 'thread_local' is not supported in Metal
// error: 6: '__thread' is not supported in Metal
// error: 7: '_Thread_local' is not supported in Metal
// error: 8: 'thread_local' is not supported in Metal
constant int a = 1; thread_local const int b = 1;
__thread const int c = 1;
_Thread_local const int d = 1;
kernel void k(device int *x [[buffer(0)]]) { static thread_local int e; x[0] = 1; }

//--- types
// error: 9: '__int128' is not supported in Metal
// error: 10: '__uint128_t' is not supported in Metal
// error: 11: '_BitInt' is not supported in Metal
// error: 12: '_Complex' is not supported in Metal
// error: 13: '__float128' is not supported in Metal
// error: 14: '2.0if' is not supported in Metal
// error: 15: 'mode' is not supported in Metal
kernel void k(device int *x [[buffer(0)]]) {
  __int128 a = x[0];
  __uint128_t b = 1;
  _BitInt(200) c = 1;
  _Complex float d = 1.0f;
  __float128 e = 1.0f;
  auto f = 2.0if;
  typedef int wide __attribute__((mode(TI)));
}

//--- long_numbers
// error: 2: 'long double' is not supported in Metal
kernel void k(device float *x [[buffer(0)]]) { x[0] = float(1.5L * x[1]); }

//--- host_functions
// error: 11: '__builtin_setjmp' is not supported in Metal
// error: 12: '__builtin_longjmp' is not supported in Metal
// error: 13: '__builtin_return_address' is not supported in Metal
// error: 14: '__builtin_alloca' is not supported in Metal
// error: 15: '__builtin_ia32_pause' is not supported in Metal
// error: 16: '__builtin_cpu_supports' is not supported in Metal
// error: 17: '__builtin_set_flt_rounds' is not supported in Metal
// error: 18: '__builtin_thread_pointer' is not supported in Metal
kernel void k(device ulong *x [[buffer(0)]]) {
  void *b[5];
  if (__builtin_setjmp(b)) x[0] = 1;
  else __builtin_longjmp(b, 1);
  x[1] = (ulong)__builtin_return_address(0);
  x[2] = *(thread uint *)__builtin_alloca(64);
  __builtin_ia32_pause();
  x[3] = __builtin_cpu_supports("avx2");
  __builtin_set_flt_rounds(1);
  x[4] = (ulong)__builtin_thread_pointer();
}

//--- variable_arguments
// error: 2: '__builtin_va_list' is not supported in Metal
int f(int n, ...) { __builtin_va_list a; return n; }

//--- functions_of_a_c_library
// error: 5: 'sin' of the host is not supported in Metal
kernel void k(device float *x [[buffer(0)]]) {
  // Nothing would have these, once all is compiled.
  // (One error for each function.)
  x[0] = __builtin_sinf(x[0]);
}
float g(float a, float b) { return __builtin_fmodf(a, b); }

//--- exceptions
// error: 4: exception handling is not supported in Metal
// error: 5: exception handling is not supported in Metal
kernel void k(device uint *x [[buffer(0)]]) {
  try { x[0] = 1; } catch (...) {}
  if (x[1]) throw 1;
}

//--- ends_of_programs
// error: 3: a destructor of a static variable is not supported in Metal
struct S { int a; constexpr S() : a(3) {} ~S() {} };
constant S s;
kernel void k(device int *x [[buffer(0)]]) { x[0] = 1; }

//--- attributes
// error: 9: 'constructor' is not supported in Metal
// error: 10: 'section' is not supported in Metal
// error: 11: 'target' is not supported in Metal
// error: 12: 'ifunc' is not supported in Metal
// error: 13: 'naked' is not supported in Metal
// error: 14: 'destructor' is not supported in Metal
// error: 15: 'address_space' is not supported in Metal
// error: 16: 'annotate("mettle....")' is not supported in Metal
__attribute__((constructor)) void a() {}
__attribute__((noinline, __section__("b,c"))) void b() {}
[[gnu::target("avx512f")]] void c() {}
int d() __attribute__((ifunc("e")));
__declspec(naked) void f() {}
[[using gnu: noinline, destructor]] void g() {}
typedef __attribute__((address_space(257))) int far;
__attribute__((annotate("mettle.kernel"))) void h(device int *x) {}

//--- attributes_that_stay
// expect: kernel k
__attribute__((always_inline, unused)) static inline int f(int section) { return section; }
[[clang::annotate("mine")]] int target(int a) { return a; }
struct alignas(16) naked { int constructor; };
kernel void k(device int *x [[buffer(0)]]) { naked a{f(1)}; x[0] = target(a.constructor); }

//--- directives
// error: 7: '#pragma clang __debug' is not supported in Metal
// error: 8: '#pragma clang module' is not supported in Metal
// error: 9: '#pragma clang attribute' is not supported in Metal
// error: 10: '#pragma comment' is not supported in Metal
// error: 11: '#pragma clang __debug' is not supported in Metal
constant int line_6 = 1;
#pragma clang __debug crash
#pragma clang module import std
#pragma clang attribute push(__attribute__((constructor)), apply_to = function)
#pragma comment(lib, "m")
_Pragma("clang __debug parser_crash")

//--- embedding
// error: 3: '#embed' is not supported in Metal
constant unsigned char data[] = {
#embed "embedding.metal"
};

//--- embedding_in_parts
// error: 3: '#embed' is not supported in Metal
constant unsigned char data[] = {
#em\
bed "/etc/hostname"
};

//--- no_question_of_embedding
// error: 2: function-like macro '__has_embed' is not defined
#if __has_embed("/etc/hostname")
#endif

//--- undefined_variables
// error: 3: variable 'v' is used but nowhere defined
extern constant uint v;
kernel void k(device uint *x [[buffer(0)]]) { x[0] = v; }

//--- undefined_members
// error: 3: variable 'S::v' is used but nowhere defined
struct S { static constant uint v; };
kernel void k(device uint *x [[buffer(0)]]) { x[0] = S::v; }

//--- undefined_addresses
// error: 3: function 'getpid' is called but nowhere defined
extern "C" int getpid();
kernel void k(device ulong *x [[buffer(0)]]) { x[0] = (ulong)&getpid; }

//--- probabilities
// expect: kernel k
// no-ir: expect.with.probability
kernel void k(device uint *x [[buffer(0)]]) {
  x[0] = __builtin_expect_with_probability(x[1], 1, 0.5);
}

//--- files_outside
// error: 2: '/etc/hostname' cannot be included: it lies outside the include paths
#include "/etc/hostname"

//--- files_outside_by_dots
// error: 2: cannot be included: it lies outside the include paths
#import "../../../../../../../../etc/hostname"

//--- files_outside_by_macro
// error: 3: cannot be included: it lies outside the include paths
#define FILE </etc/hostname>
#include FILE

//--- no_question_of_files_outside
// expect: kernel k
#if __has_include("/etc/hostname") || __has_include("../../../../../../etc/hostname")
#error told of the disk
#endif
#if !__has_include("neighbour.h")
#error a neighbour
#endif
kernel void k(device uint *x [[buffer(0)]]) { x[0] = 1; }
// file: neighbour.h

//--- neighbours
// expect: kernel k
#include "near.h"
kernel void k(device uint *x [[buffer(0)]]) { x[0] = NEAR; }
// file: near.h
#define NEAR 1

//--- an_empty_statement_of_assembly_holds_nothing_but_an_optimiser
kernel void k(device uint *x [[buffer(0)]]) {
  __asm__("");
  asm volatile("" ::: "memory");
  x[0] = 1;
}
// expect: kernel k
