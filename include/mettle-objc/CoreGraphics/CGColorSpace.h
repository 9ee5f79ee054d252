// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CGColorSpace.h: the type of colour spaces, which nothing here makes.
#ifndef METTLE_OBJC_COREGRAPHICS_CGCOLORSPACE_H
#define METTLE_OBJC_COREGRAPHICS_CGCOLORSPACE_H

typedef struct CGColorSpace *CGColorSpaceRef;

#endif
