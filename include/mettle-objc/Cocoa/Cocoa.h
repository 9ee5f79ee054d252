// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Cocoa.h: Foundation alone. There are no windows here: a program that names a
// class of AppKit's is refused by the compiler.
#ifndef METTLE_OBJC_COCOA_H
#define METTLE_OBJC_COCOA_H

#include <AppKit/AppKit.h>

#endif
