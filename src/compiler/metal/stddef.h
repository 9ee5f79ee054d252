// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// stddef.h: its types are there without it.
#ifndef METTLE_STDDEF_H
#define METTLE_STDDEF_H

#ifndef NULL
#define NULL __null
#endif
#ifndef offsetof
#define offsetof(type, member) __builtin_offsetof(type, member)
#endif

#endif
