// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// IOSurfaceRef.h: a type that Metal's headers name; there are no surfaces.
#ifndef METTLE_OBJC_IOSURFACE_H
#define METTLE_OBJC_IOSURFACE_H

typedef struct __IOSurface *IOSurfaceRef;

#endif
