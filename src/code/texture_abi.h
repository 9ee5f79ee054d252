// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// texture_abi.h: what kernels know of a texture and a sampler. A texture in MSL
// is the address of an mtli_texture_descriptor, a sampler is a word of bits; in
// the argument table and in argument buffers each takes 8 bytes, its resource
// id, 0 for none. src/compiler/metal/mettle/texel.h has the same layout.
//
// Formats are data, not code: a component is a number of bits at a place in the
// texel, so kernels need no switch over the formats.
#ifndef MTLI_TEXTURE_ABI_H
#define MTLI_TEXTURE_ABI_H

#include <stddef.h>
#include <stdint.h>

// Formats that kernels have vector code for.
typedef enum mtli_texel_kind {
  MTLI_TEXEL_ANY = 0,   // read by the descriptor's bit positions, one thread at
                        // a time
  MTLI_TEXEL_UNORM8,    // one unsigned normalised byte, red
  MTLI_TEXEL_UNORM32,   // unsigned normalised components within 32 bits
  MTLI_TEXEL_WORD,      // one component of 32 bits, float or integer
  MTLI_TEXEL_WORDS4,    // four of them
  MTLI_TEXEL_HALVES4,   // four halves
} mtli_texel_kind;

// How the bits of a component are interpreted.
typedef enum mtli_texel_class {
  MTLI_CLASS_UNORM = 0,
  MTLI_CLASS_SNORM,
  MTLI_CLASS_UINT,
  MTLI_CLASS_SINT,
  MTLI_CLASS_FLOAT,      // of 32, 16, 11 (no sign) or 10 bits (no sign)
  MTLI_CLASS_SRGB,       // 8 bits; alpha is unorm
  MTLI_CLASS_SHARED_EXPONENT,  // rgb9e5
} mtli_texel_class;

// Images are the slices of an array, the faces of cubes, or the planes of a
// 3-D texture.
typedef struct mtli_texture_level {
  uint64_t offset_bytes;  // offset 0: of its first image, from texels on
  uint64_t image_bytes;   // offset 8: from image to image
  uint32_t row_bytes;     // offset 16: from row to row
  uint32_t width;         // offset 20
  uint32_t height;        // offset 24
  uint32_t depth;         // offset 28
} mtli_texture_level;

typedef struct mtli_texture_descriptor {
  uint64_t texels;        // offset 0: address of the memory
  uint32_t array_length;  // offset 8: elements; a cube counts as one
  uint32_t level_count;   // offset 12
  uint32_t sample_count;  // offset 16: they lie side by side
  uint32_t kind;          // offset 20: mtli_texel_kind
  uint32_t texel_class;   // offset 24: mtli_texel_class
  uint32_t texel_bytes;   // offset 28
  uint64_t srgb;          // offset 32: address of an mtli_srgb_tables
  float divisor[4];  // offset 40: the number that stands for a normalised 1, or
                     // 1
  float missing[4];       // offset 56: the value of a component without bits
  uint32_t shift[4];      // offset 72: where component r, g, b, a begins
  uint32_t bits[4];       // offset 88: its width; 0 if it is not there
  mtli_texture_level levels[16];  // offset 104: [level_count]
} mtli_texture_descriptor;

_Static_assert(offsetof(mtli_texture_descriptor, levels) == 104, "layout");
_Static_assert(sizeof(mtli_texture_level) == 32, "layout");

// Between 8 bits and linear light.
typedef struct mtli_srgb_tables {
  float linear[256];  // of each byte
  float limits[256];  // [i] the least value that becomes i + 1; 2 at the end
} mtli_srgb_tables;

// A sampler's bits, from the lowest up.
enum {
  MTLI_SAMPLER_PIXEL_SHIFT = 0,       // 1
  MTLI_SAMPLER_S_SHIFT = 1,           // 3, mtl_address_mode
  MTLI_SAMPLER_T_SHIFT = 4,           // 3
  MTLI_SAMPLER_R_SHIFT = 7,           // 3
  MTLI_SAMPLER_MAG_SHIFT = 10,        // 1, mtl_filter
  MTLI_SAMPLER_MIN_SHIFT = 11,        // 1
  MTLI_SAMPLER_MIP_SHIFT = 12,        // 2, mtl_mip_filter
  MTLI_SAMPLER_COMPARE_SHIFT = 14,    // 3, mtl_compare_function
  MTLI_SAMPLER_BORDER_SHIFT = 17,     // 2, mtl_border_color
  MTLI_SAMPLER_ANISOTROPY_SHIFT = 19, // 4, less 1
  MTLI_SAMPLER_LOD_MIN_SHIFT = 24,    // 16, a half
  MTLI_SAMPLER_LOD_MAX_SHIFT = 40,    // 16, a half
  MTLI_SAMPLER_SET_SHIFT = 63,        // 1, so that no sampler is 0
};

#endif
