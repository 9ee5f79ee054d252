// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// texture_blits.c: copies of texels by blit encoders, and storage modes.
#include <string.h>

#include "textures.h"

static mtl_region region_at(uint32_t x, uint32_t y, uint32_t width,
                            uint32_t height) {
  return (mtl_region){
      .x = x, .y = y, .width = width, .height = height, .depth = 1};
}

TEST(texture_blits, buffer_to_texture_and_back) {
  uint8_t bytes[64];
  for (int i = 0; i < 64; i++) {
    bytes[i] = (uint8_t)(i + 1);
  }
  mtl_texture *texture = new_texture_like(
      (mtl_texture_desc){.pixel_format = MTL_FORMAT_R8_UINT,
                         .width = 6,
                         .height = 4,
                         .storage_mode = MTL_STORAGE_PRIVATE});
  mtl_buffer *source = BUFFER_OF(bytes), *target = new_buffer(64);
  mtl_command_buffer *commands = new_commands(new_queue());
  mtl_blit_encoder *blit = new_blit(commands);
  mtl_blit_encoder_copy_buffer_to_texture(blit, source, 3, 10, 0, texture,
                                          region_at(1, 1, 4, 2), 0, 0);
  mtl_blit_encoder_copy_texture_to_buffer(
      blit, texture, region_at(0, 0, 6, 4), 0, 0, target, 2, 8, 0);
  end_blit(blit);
  finish(commands);
  const uint8_t wanted[34] = {0, 0, 0, 0, 0, 0,  0,  0,  0,  0, 0, 4,
                              5, 6, 7, 0, 0, 0,  0,  14, 15, 16, 17, 0,
                              0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  CHECK(memcmp(mtl_buffer_contents(target), wanted, sizeof wanted) == 0);
}

TEST(texture_blits, textures_to_textures) {
  mtl_texture *source = new_texture_2d(MTL_FORMAT_R16_UINT, 3, 3);
  mtl_texture *target = new_texture_like(
      (mtl_texture_desc){.type = MTL_TEXTURE_3D,
                         .pixel_format = MTL_FORMAT_R16_SINT,
                         .width = 4,
                         .height = 4,
                         .depth = 2});
  uint16_t texels[9], back[32] = {0};
  for (uint16_t i = 0; i < 9; i++) {
    texels[i] = i + 1;
  }
  put_texels(source, texels);
  mtl_command_buffer *commands = new_commands(new_queue());
  mtl_blit_encoder *blit = new_blit(commands);
  mtl_blit_encoder_copy_texture(blit, source, region_at(1, 1, 2, 2), 0, 0,
                                target, (mtl_region){.x = 2, .y = 1, .z = 1}, 0,
                                0);
  end_blit(blit);
  finish(commands);
  get_texels(target, back);
  for (int i = 0; i < 32; i++) {
    const int wanted = i == 22   ? 5
                       : i == 23 ? 6
                       : i == 26 ? 8
                       : i == 27 ? 9
                                 : 0;
    CHECK_EQUAL(back[i], wanted);
  }
}

TEST(texture_blits, managed_textures_are_synchronized) {
  mtl_texture *texture = new_texture_like(
      (mtl_texture_desc){.pixel_format = MTL_FORMAT_R8_UINT,
                         .width = 2,
                         .storage_mode = MTL_STORAGE_MANAGED});
  mtl_buffer *source = new_buffer_with("ab", 2);
  put_texels(texture, "xy");
  mtl_command_buffer *commands = new_commands(new_queue());
  mtl_blit_encoder *blit = new_blit(commands);
  mtl_blit_encoder_copy_buffer_to_texture(blit, source, 0, 0, 0, texture,
                                          region_at(1, 0, 1, 1), 0, 0);
  mtl_blit_encoder_synchronize_texture(blit, texture);
  end_blit(blit);
  finish(commands);
  char back[3] = {0};
  get_texels(texture, back);
  CHECK_TEXT(back, "xa");
}

TEST(texture_blits, ranges_are_checked) {
  mtl_texture *texture = new_texture_2d(MTL_FORMAT_R8_UINT, 4, 4);
  mtl_blit_encoder *blit = new_blit(new_commands(new_queue()));
  mtl_blit_encoder_copy_buffer_to_texture(
      blit, new_buffer(15), 0, 0, 0, texture, region_at(0, 0, 4, 4), 0, 0);
  CHECK_ERROR(mtl_blit_encoder_end(blit), MTL_INVALID_ARGUMENT,
              "4 rows of 4 bytes");
  blit = new_blit(new_commands(new_queue()));
  mtl_blit_encoder_copy_texture_to_buffer(
      blit, texture, region_at(1, 0, 4, 1), 0, 0, new_buffer(16), 0, 0, 0);
  CHECK_ERROR(mtl_blit_encoder_end(blit), MTL_INVALID_ARGUMENT,
              "4x1x1 texels at 1, 0, 0");
  blit = new_blit(new_commands(new_queue()));
  mtl_blit_encoder_copy_texture(blit, texture, region_at(0, 0, 2, 2), 0, 0,
                                texture, (mtl_region){.x = 1, .y = 1}, 0, 0);
  CHECK_ERROR(mtl_blit_encoder_end(blit), MTL_INVALID_ARGUMENT, "overlap");
  blit = new_blit(new_commands(new_queue()));
  mtl_blit_encoder_copy_buffer_to_texture(blit, new_buffer(64), 0, SIZE_MAX, 0,
                                          texture, region_at(0, 0, 4, 4), 0, 0);
  CHECK_ERROR(mtl_blit_encoder_end(blit), MTL_INVALID_ARGUMENT,
              "not in buffer");
}

TEST(texture_blits, private_textures_are_not_the_hosts) {
  mtl_texture *texture = new_texture_like(
      (mtl_texture_desc){.pixel_format = MTL_FORMAT_R8_UINT,
                         .width = 1,
                         .storage_mode = MTL_STORAGE_PRIVATE});
  uint8_t byte = 0;
  CHECK_ERROR(mtl_texture_get_bytes(texture, region_at(0, 0, 1, 1), 0, 0, &byte,
                                    0, 0),
              MTL_INVALID_ARGUMENT, "private");
}

static void generate(mtl_texture *texture) {
  mtl_command_buffer *commands = new_commands(new_queue());
  mtl_blit_encoder *blit = new_blit(commands);
  mtl_blit_encoder_generate_mipmaps(blit, texture);
  end_blit(blit);
  finish(commands);
}

static void get_level(mtl_texture *texture, uint32_t level, uint32_t slice,
                      uint32_t width, uint32_t height, void *texels) {
  CHECK_OK(mtl_texture_get_bytes(texture, region_at(0, 0, width, height), level,
                                 slice, texels, 0, 0));
}

TEST(texture_blits, mipmaps_are_averages) {
  mtl_texture *texture = new_texture_like(
      (mtl_texture_desc){.type = MTL_TEXTURE_2D_ARRAY,
                         .pixel_format = MTL_FORMAT_R32_FLOAT,
                         .width = 4,
                         .height = 2,
                         .level_count = 3,
                         .array_length = 2});
  const float texels[8] = {0, 4, 8, 8, 4, 8, 8, 16};
  CHECK_OK(mtl_texture_replace_region(texture, region_at(0, 0, 4, 2), 0, 1,
                                      texels, 0, 0));
  generate(texture);
  float level[2];
  get_level(texture, 1, 1, 2, 1, level);
  CHECK(level[0] == 4 && level[1] == 10);
  get_level(texture, 2, 1, 1, 1, level);
  CHECK(level[0] == 7);
  get_level(texture, 1, 0, 2, 1, level);
  CHECK(level[0] == 0 && level[1] == 0);
}

TEST(texture_blits, mipmaps_of_odd_sides_leave_no_texel_out) {
  mtl_texture *texture = new_texture_like(
      (mtl_texture_desc){.pixel_format = MTL_FORMAT_R32_FLOAT,
                         .width = 5,
                         .height = 1,
                         .level_count = 2});
  put_texels(texture, (float[5]){5, 10, 15, 20, 25});
  generate(texture);
  float level[2];
  get_level(texture, 1, 0, 2, 1, level);
  // Each covers 2.5 texels: 5 + 10 + 15 / 2, and 15 / 2 + 20 + 25.
  CHECK(level[0] > 8.99999f && level[0] < 9.00001f);
  CHECK(level[1] > 20.99999f && level[1] < 21.00001f);
}

TEST(texture_blits, mipmaps_of_volumes_and_srgb) {
  mtl_texture *volume = new_texture_like(
      (mtl_texture_desc){.type = MTL_TEXTURE_3D,
                         .pixel_format = MTL_FORMAT_R32_FLOAT,
                         .width = 2,
                         .height = 2,
                         .depth = 2,
                         .level_count = 2});
  put_texels(volume, (float[8]){1, 2, 3, 4, 5, 6, 7, 8});
  generate(volume);
  float level;
  get_level(volume, 1, 0, 1, 1, &level);
  CHECK(level == 4.5f);
  mtl_texture *colour = new_texture_like(
      (mtl_texture_desc){.pixel_format = MTL_FORMAT_RGBA8_UNORM_SRGB,
                         .width = 2,
                         .level_count = 2});
  put_texels(colour, (uint32_t[2]){0xff000000, 0x00ffffff});
  generate(colour);
  uint32_t texel;
  get_level(colour, 1, 0, 1, 1, &texel);
  CHECK_EQUAL(texel, 0x80bcbcbc);  // half the light is 188, half of 255 is 128
}

TEST(texture_blits, mipmaps_want_levels_and_fractions) {
  mtl_blit_encoder *blit = new_blit(new_commands(new_queue()));
  mtl_blit_encoder_generate_mipmaps(blit,
                                    new_texture_2d(MTL_FORMAT_R8_UNORM, 2, 2));
  CHECK_ERROR(mtl_blit_encoder_end(blit), MTL_INVALID_ARGUMENT, "1 levels");
}
