// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// struct_types.h: converts the MTLStructType of a buffer.
#ifndef METAL_STRUCT_TYPES_H
#define METAL_STRUCT_TYPES_H

#include "drivers/metal/metal.h"

// Sets argument's members from an MTLStructType.
void metal_struct_read(id type, mtli_arena *arena, mtl_argument *argument);

// Writes the layout of an argument buffer (mtli_parameter.layout), "" for a
// struct without resources; NULL if there is no memory.
char *metal_struct_layout(id type, const mtl_argument *argument,
                          mtli_arena *arena);

#endif
