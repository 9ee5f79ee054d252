// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MetalPerformancePrimitives.h: operations on tensors that threads carry out
// together.
#ifndef METTLE_METAL_PERFORMANCE_PRIMITIVES
#define METTLE_METAL_PERFORMANCE_PRIMITIVES

#include <MetalPerformancePrimitives/MPPTensorOpsConvolution2d.h>
#include <MetalPerformancePrimitives/MPPTensorOpsMatMul2d.h>

#endif
