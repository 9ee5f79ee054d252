// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// mettle_cplusplus.h: the headers of C++ that libc++'s bring along, which cc of
// `mettle env` includes before every source. Nothing for C and Objective-C, as
// one command may compile sources of several languages.
#ifdef __cplusplus
#include <cstring>
#include <memory>
#include <vector>
#if __cplusplus >= 201103L
#include <chrono>
#endif
#endif
