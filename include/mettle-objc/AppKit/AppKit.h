// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// AppKit.h: what command-line programs take from it, which is Foundation and
// CoreGraphics.
#ifndef METTLE_OBJC_APPKIT_H
#define METTLE_OBJC_APPKIT_H

#include <CoreGraphics/CoreGraphics.h>
#include <Foundation/Foundation.h>

#endif
