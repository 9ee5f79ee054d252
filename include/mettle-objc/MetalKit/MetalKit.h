// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MetalKit.h: Metal alone; there are no views.
#ifndef METTLE_OBJC_METALKIT_H
#define METTLE_OBJC_METALKIT_H

#include <Metal/Metal.h>

#endif
