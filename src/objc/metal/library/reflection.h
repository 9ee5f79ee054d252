// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// reflection.h: describes a pipeline's arguments in Metal's terms.
#ifndef METTLE_OBJC_REFLECTION_H
#define METTLE_OBJC_REFLECTION_H

#include <mettle/mettle.h>

#include "objc/foundation/foundation.h"

// Makes an autoreleased MTLComputePipelineReflection of a pipeline of function.
// Without a function (NULL) argument buffers are not described.
id reflection_make(mtl_pipeline *pipeline, mtl_function *function);

// MTLDataType, by Apple's numbers; 0 for MTL_TYPE_NONE.
NSUInteger data_type_of(mtl_data_type type, uint32_t components,
                        uint32_t columns);

// Makes an MTLStructType of a buffer's struct; nil if it is none. The caller's
// reference.
id struct_type_create(mtl_function *function, const mtl_argument *argument);

#endif
