// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CoreGraphics.h: the plain types that clients of Metal name.
#ifndef METTLE_OBJC_COREGRAPHICS_H
#define METTLE_OBJC_COREGRAPHICS_H

#include <CoreGraphics/CGColorSpace.h>
#include <CoreGraphics/CGGeometry.h>

#endif
