// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// data_types.c: converts MTLDataType and MTLTextureType by Apple's numbers,
// where vectors of 2, 3 and 4 follow their scalar.
#include "drivers/metal/metal.h"

static const struct {
  unsigned long first;
  mtl_data_type type;
  const char *name;
} scalars[] = {
    {3, MTL_TYPE_FLOAT, "float"},   {16, MTL_TYPE_HALF, "half"},
    {29, MTL_TYPE_INT, "int"},      {33, MTL_TYPE_UINT, "uint"},
    {37, MTL_TYPE_SHORT, "short"},  {41, MTL_TYPE_USHORT, "ushort"},
    {45, MTL_TYPE_CHAR, "char"},    {49, MTL_TYPE_UCHAR, "uchar"},
    {53, MTL_TYPE_BOOL, "bool"},    {81, MTL_TYPE_LONG, "long"},
    {85, MTL_TYPE_ULONG, "ulong"},  {121, MTL_TYPE_BFLOAT, "bfloat"},
};
enum { SCALAR_COUNT = sizeof scalars / sizeof *scalars };

// MTLTextureType has cubes and 3-D textures before arrays of samples.
static const mtl_texture_type texture_types[] = {
    MTL_TEXTURE_1D,
    MTL_TEXTURE_1D_ARRAY,
    MTL_TEXTURE_2D,
    MTL_TEXTURE_2D_ARRAY,
    MTL_TEXTURE_2D_MULTISAMPLE,
    MTL_TEXTURE_CUBE,
    MTL_TEXTURE_CUBE_ARRAY,
    MTL_TEXTURE_3D,
    MTL_TEXTURE_2D_MULTISAMPLE_ARRAY,
    MTL_TEXTURE_BUFFER,
};
enum { TEXTURE_TYPE_COUNT = sizeof texture_types / sizeof *texture_types };

unsigned long metal_texture_type(mtl_texture_type type) {
  unsigned long number = 0;
  while (number < TEXTURE_TYPE_COUNT && texture_types[number] != type) {
    number++;
  }
  return number;
}

mtl_texture_type metal_texture_type_read(unsigned long number) {
  return number < TEXTURE_TYPE_COUNT ? texture_types[number]
                                     : MTL_TEXTURE_TYPE_DEFAULT;
}

unsigned long metal_data_type(mtl_data_type type, uint32_t components) {
  for (size_t i = 0; i < SCALAR_COUNT; i++) {
    if (scalars[i].type == type) {
      return scalars[i].first + components - 1;
    }
  }
  return 0;
}

const char *metal_data_type_name(mtl_data_type type) {
  for (size_t i = 0; i < SCALAR_COUNT; i++) {
    if (scalars[i].type == type) {
      return scalars[i].name;
    }
  }
  return "";
}

bool metal_data_type_read(unsigned long number, mtl_data_type *out_type,
                          uint32_t *out_components, uint32_t *out_columns) {
  enum { FLOAT2X2 = 7, HALF2X2 = 20, MATRIX_COUNT = 9 };
  *out_columns = 1;
  for (size_t i = 0; i < SCALAR_COUNT; i++) {
    if (number - scalars[i].first < 4) {
      *out_type = scalars[i].type;
      *out_components = (uint32_t)(number - scalars[i].first) + 1;
      return true;
    }
  }
  // 2x2, 2x3, 2x4, 3x2 and so on: columns, then rows.
  const unsigned long first = number >= HALF2X2 ? HALF2X2 : FLOAT2X2;
  if (number - first < MATRIX_COUNT) {
    *out_type = first == HALF2X2 ? MTL_TYPE_HALF : MTL_TYPE_FLOAT;
    *out_columns = (uint32_t)(number - first) / 3 + 2;
    *out_components = (uint32_t)(number - first) % 3 + 2;
    return true;
  }
  *out_type = MTL_TYPE_NONE;
  *out_components = 0;
  return false;
}
