// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// textures.h: shared by the tests of textures.
#ifndef METTLE_TESTS_TEXTURES_H
#define METTLE_TESTS_TEXTURES_H

#include "conformance.h"

// Released when the test ends.
mtl_texture *new_texture_like(mtl_texture_desc desc);
mtl_texture *new_texture_2d(mtl_pixel_format format, uint32_t width,
                            uint32_t height);
mtl_sampler *new_sampler(mtl_sampler_desc desc);

// All of level 0, slice 0, without gaps.
void put_texels(mtl_texture *texture, const void *texels);
void get_texels(mtl_texture *texture, void *texels);

// Binds textures[0..] to 0.., dispatches grid threads once and waits.
void run_textures(mtl_pipeline *pipeline, mtl_texture *const *textures,
                  uint32_t count, mtl_size grid);

#endif
