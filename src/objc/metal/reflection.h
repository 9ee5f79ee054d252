// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// reflection.h: what a pipeline's arguments are, as Metal tells it.
#ifndef METTLE_OBJC_REFLECTION_H
#define METTLE_OBJC_REFLECTION_H

#include <mettle/mettle.h>

#include "objc/runtime/abi.h"

// Makes an autoreleased MTLComputePipelineReflection.
id reflection_make(mtl_pipeline *pipeline);

#endif
