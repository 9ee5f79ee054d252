// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// textures_common.c: the helpers of textures.h.
#include "textures.h"

static void release_texture(void *texture) {
  mtl_texture_release(texture);
}

static void release_sampler(void *sampler) {
  mtl_sampler_release(sampler);
}

mtl_texture *new_texture_like(mtl_texture_desc desc) {
  desc.height =
      desc.type == MTL_TEXTURE_CUBE || desc.type == MTL_TEXTURE_CUBE_ARRAY
          ? desc.width
          : desc.height;
  mtl_texture *texture = NULL;
  CHECK_OK(mtl_texture_create(the_device(), &desc, &texture));
  test_defer(release_texture, texture);
  return texture;
}

mtl_texture *new_texture_2d(mtl_pixel_format format, uint32_t width,
                            uint32_t height) {
  return new_texture_like((mtl_texture_desc){
      .pixel_format = format, .width = width, .height = height});
}

mtl_sampler *new_sampler(mtl_sampler_desc desc) {
  mtl_sampler *sampler = NULL;
  CHECK_OK(mtl_sampler_create(the_device(), &desc, &sampler));
  test_defer(release_sampler, sampler);
  return sampler;
}

static mtl_region whole(const mtl_texture *texture) {
  const mtl_texture_desc *info = mtl_texture_info(texture);
  return (mtl_region){.width = info->width,
                      .height = info->height,
                      .depth = info->depth};
}

void put_texels(mtl_texture *texture, const void *texels) {
  CHECK_OK(mtl_texture_replace_region(texture, whole(texture), 0, 0, texels, 0,
                                      0));
}

void get_texels(mtl_texture *texture, void *texels) {
  CHECK_OK(
      mtl_texture_get_bytes(texture, whole(texture), 0, 0, texels, 0, 0));
}

void run_textures(mtl_pipeline *pipeline, mtl_texture *const *textures,
                  uint32_t count, mtl_size grid) {
  mtl_command_buffer *commands = new_commands(new_queue());
  mtl_compute_encoder *encoder = new_encoder(commands);
  mtl_compute_encoder_set_pipeline(encoder, pipeline);
  mtl_compute_encoder_set_textures(encoder, textures, 0, count);
  mtl_compute_encoder_dispatch_threads(encoder, grid, size_of(8, 8, 1));
  end(encoder);
  finish(commands);
}
