// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// png.h: PNG files, for textures: their samples as they are, without gamma.
#ifndef METTLE_CLI_PNG_H
#define METTLE_CLI_PNG_H

#include <stdint.h>

#include "cli/bind/binding.h"

typedef struct png_picture {
  uint32_t width, height;
  uint32_t channels;  // 1 gray, 2 gray and alpha, 3 RGB, 4 RGBA
  uint32_t bits;      // of a sample: 8 or 16
  // [height * width * channels], rows from the top; malloc'ed. Samples of 16
  // bits are as the machine's.
  unsigned char *samples;
} png_picture;

// True if path ends in .png.
bool png_is_one(const char *path);

// Reads a file: palettes become RGB, samples of 1 to 4 bits become 8.
//
// Ownership  free(out_picture->samples), also after a failure.
bool png_read(const char *path, png_picture *out_picture, cli_error *error);

bool png_write(const char *path, const png_picture *picture, cli_error *error);

// png_texels.c: the pixel format that holds a picture for a kernel that reads
// components of metal's type, or depths.
const texture_format *png_format_for(const png_picture *picture,
                                     mtl_data_type metal, bool is_depth);

// Writes a picture's texels in a format.
//
//   texels   [width * height texels of format]
bool png_to_texels(const char *path, const png_picture *picture,
                   const texture_format *format, void *texels,
                   cli_error *error);

// Makes a picture of texels: as many bits as the format has, 8 for floats,
// which are clamped to 0 to 1.
//
// Ownership  free(out_picture->samples), also after a failure.
bool png_from_texels(const char *path, const void *texels,
                     const texture_format *format, uint32_t width,
                     uint32_t height, png_picture *out_picture,
                     cli_error *error);

#endif
