// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MetalKit.h: Metal alone; there are no views, and no loaders of pictures and
// meshes: the compiler refuses them.
#ifndef METTLE_OBJC_METALKIT_H
#define METTLE_OBJC_METALKIT_H

#include <Metal/Metal.h>

#ifdef __OBJC__
__attribute__((unavailable("Mettle shows nothing: MTKView is not here")))
@interface MTKView : NSObject
@end
__attribute__((unavailable(
    "Mettle reads no picture formats: fill a texture by replaceRegion:")))
@interface MTKTextureLoader : NSObject
@end
__attribute__((unavailable("Mettle reads no meshes: MTKMesh is not here")))
@interface MTKMesh : NSObject
@end
#endif

#endif
