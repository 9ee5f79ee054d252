// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// indirect.h: the structs of arguments that kernels write and that the
// host's indirect calls read, as Metal's host headers lay them out. A program
// may declare one for itself, since not every compiler of Apple's has them all:
// they are found only where no other declaration is (frontend/tokens.cpp).
#ifndef METTLE_INDIRECT_H
#define METTLE_INDIRECT_H

namespace __mettle_if_undeclared {

struct MTLDispatchThreadgroupsIndirectArguments {
  uint32_t threadgroupsPerGrid[3];
};
struct MTLDispatchThreadsIndirectArguments {
  uint32_t threadsPerGrid[3];
  uint32_t threadsPerThreadgroup[3];
};
struct MTLStageInRegionIndirectArguments {
  uint32_t stageInOrigin[3];
  uint32_t stageInSize[3];
};
struct MTLDrawPrimitivesIndirectArguments {
  uint32_t vertexCount;
  uint32_t instanceCount;
  uint32_t vertexStart;
  uint32_t baseInstance;
};
struct MTLDrawIndexedPrimitivesIndirectArguments {
  uint32_t indexCount;
  uint32_t instanceCount;
  uint32_t indexStart;
  int32_t baseVertex;
  uint32_t baseInstance;
};
struct MTLDrawPatchIndirectArguments {
  uint32_t patchCount;
  uint32_t instanceCount;
  uint32_t patchStart;
  uint32_t baseInstance;
};
struct MTLQuadTessellationFactorsHalf {
  half edgeTessellationFactor[4];
  half insideTessellationFactor[2];
};
struct MTLTriangleTessellationFactorsHalf {
  half edgeTessellationFactor[3];
  half insideTessellationFactor;
};
struct MTLMapIndirectArguments {
  uint32_t regionOriginX;
  uint32_t regionOriginY;
  uint32_t regionOriginZ;
  uint32_t regionSizeWidth;
  uint32_t regionSizeHeight;
  uint32_t regionSizeDepth;
  uint32_t mipMapLevel;
  uint32_t sliceId;
};

}  // namespace __mettle_if_undeclared

#endif
