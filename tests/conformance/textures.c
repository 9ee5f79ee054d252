// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// textures.c: textures as objects, and kernels that read and write them.
#include "textures.h"

#include <stdio.h>
#include <string.h>

static const char invert_kernel[] =
    "using namespace metal;\n"
    "kernel void invert(texture2d<float, access::read> in [[texture(0)]],\n"
    "                   texture2d<float, access::write> out [[texture(1)]],\n"
    "                   uint2 at [[thread_position_in_grid]]) {\n"
    "  float4 c = in.read(at);\n"
    "  out.write(float4(1.0f - c.rgb, c.a), at);\n"
    "}\n";

TEST(textures, bytes_come_back) {
  mtl_texture *texture = new_texture_2d(MTL_FORMAT_RGBA8_UNORM, 5, 3);
  uint32_t texels[15], back[15];
  for (uint32_t i = 0; i < 15; i++) {
    texels[i] = 0x01020304 * i;
  }
  put_texels(texture, texels);
  get_texels(texture, back);
  CHECK(memcmp(texels, back, sizeof texels) == 0);
}

TEST(textures, start_as_zeros) {
  uint32_t back[15];
  memset(back, 0xff, sizeof back);
  get_texels(new_texture_2d(MTL_FORMAT_RGBA8_UNORM, 5, 3), back);
  for (int i = 0; i < 15; i++) {
    CHECK_EQUAL(back[i], 0);
  }
}

TEST(textures, region_stays_in_its_place) {
  mtl_texture *texture = new_texture_2d(MTL_FORMAT_R8_UINT, 4, 4);
  const uint8_t two_rows[] = {1, 2, 99, 3, 4, 99};
  CHECK_OK(mtl_texture_replace_region(
      texture,
      (mtl_region){.x = 1, .y = 2, .width = 2, .height = 2, .depth = 1}, 0, 0,
      two_rows, 3, 0));
  uint8_t back[16];
  get_texels(texture, back);
  const uint8_t wanted[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 0, 0, 3, 4, 0};
  CHECK(memcmp(back, wanted, sizeof wanted) == 0);
}

TEST(textures, levels_have_halved_sides) {
  mtl_texture *texture = new_texture_like(
      (mtl_texture_desc){.pixel_format = MTL_FORMAT_R8_UINT,
                         .width = 5,
                         .height = 2,
                         .level_count = 3});
  const uint8_t bytes[2] = {7, 8};
  const mtl_region row = {.width = 2, .height = 1, .depth = 1};
  CHECK_OK(mtl_texture_replace_region(texture, row, 1, 0, bytes, 0, 0));
  uint8_t back[2] = {0};
  CHECK_OK(mtl_texture_get_bytes(texture, row, 1, 0, back, 0, 0));
  CHECK_EQUAL(back[1], 8);
  CHECK_ERROR(mtl_texture_get_bytes(texture, row, 2, 0, back, 0, 0),
              MTL_INVALID_ARGUMENT, "1x1x1");
}

TEST(textures, float_texels_through_a_kernel) {
  const float in[] = {0, 0.25f, 0.5f, 0.75f, 1, 2, -1, 0.125f};
  const float wanted[] = {1, 0.75f, 0.5f, 0.75f, 0, -1, 2, 0.125f};
  mtl_texture *source = new_texture_2d(MTL_FORMAT_RGBA32_FLOAT, 2, 1);
  mtl_texture *target = new_texture_2d(MTL_FORMAT_RGBA32_FLOAT, 2, 1);
  put_texels(source, in);
  run_textures(new_pipeline(invert_kernel, "invert"),
               (mtl_texture *[]){source, target}, 2, size_of(2, 1, 1));
  float back[8];
  get_texels(target, back);
  CHECK(memcmp(back, wanted, sizeof wanted) == 0);
}

TEST(textures, bytes_through_a_kernel_at_every_size) {
  mtl_pipeline *pipeline = new_pipeline(invert_kernel, "invert");
  static const uint32_t sides[][2] = {{1, 1}, {33, 2}, {7, 9}, {64, 5}};
  for (size_t s = 0; s < COUNT_OF(sides); s++) {
    const uint32_t count = sides[s][0] * sides[s][1];
    uint8_t in[64 * 9 * 4], back[64 * 9 * 4];
    for (uint32_t i = 0; i < count * 4; i++) {
      in[i] = (uint8_t)(i * 37 + 11);
    }
    mtl_texture *source =
        new_texture_2d(MTL_FORMAT_RGBA8_UNORM, sides[s][0], sides[s][1]);
    mtl_texture *target =
        new_texture_2d(MTL_FORMAT_BGRA8_UNORM, sides[s][0], sides[s][1]);
    put_texels(source, in);
    run_textures(pipeline, (mtl_texture *[]){source, target}, 2,
                 size_of(sides[s][0], sides[s][1], 1));
    get_texels(target, back);
    for (uint32_t i = 0; i < count; i++) {
      CHECK_EQUAL(back[4 * i + 2], 255 - in[4 * i]);
      CHECK_EQUAL(back[4 * i + 1], 255 - in[4 * i + 1]);
      CHECK_EQUAL(back[4 * i], 255 - in[4 * i + 2]);
      CHECK_EQUAL(back[4 * i + 3], in[4 * i + 3]);
    }
  }
}

TEST(textures, outside_reads_are_zero_and_writes_nothing) {
  mtl_pipeline *pipeline = new_pipeline(invert_kernel, "invert");
  mtl_texture *source = new_texture_2d(MTL_FORMAT_RGBA8_UNORM, 1, 1);
  mtl_texture *target = new_texture_2d(MTL_FORMAT_RGBA8_UNORM, 2, 1);
  const uint8_t white[4] = {255, 255, 255, 255};
  put_texels(source, white);
  run_textures(pipeline, (mtl_texture *[]){source, target}, 2,
               size_of(5, 5, 1));
  uint8_t back[8];
  get_texels(target, back);
  const uint8_t wanted[8] = {0, 0, 0, 255, 255, 255, 255, 0};
  CHECK(memcmp(back, wanted, sizeof wanted) == 0);
}

TEST(textures, view_shares_memory_in_another_format) {
  mtl_texture *texture = new_texture_2d(MTL_FORMAT_RGBA8_UNORM, 1, 1);
  mtl_texture *view = NULL;
  CHECK_OK(mtl_texture_create_view(
      texture, &(mtl_texture_view_desc){.pixel_format = MTL_FORMAT_R32_UINT},
      &view));
  const uint32_t word = 0x04030201;
  put_texels(view, &word);
  mtl_texture_release(view);
  uint8_t back[4];
  get_texels(texture, back);
  CHECK_EQUAL(back[0], 1);
  CHECK_EQUAL(back[3], 4);
}

TEST(textures, view_of_a_level_and_a_slice) {
  mtl_texture *texture = new_texture_like(
      (mtl_texture_desc){.type = MTL_TEXTURE_2D_ARRAY,
                         .pixel_format = MTL_FORMAT_R8_UINT,
                         .width = 4,
                         .height = 2,
                         .level_count = 2,
                         .array_length = 3});
  const uint8_t bytes[2] = {5, 6};
  const mtl_region row = {.width = 2, .height = 1, .depth = 1};
  CHECK_OK(mtl_texture_replace_region(texture, row, 1, 2, bytes, 0, 0));
  mtl_texture *view = NULL;
  CHECK_OK(mtl_texture_create_view(
      texture,
      &(mtl_texture_view_desc){
          .type = MTL_TEXTURE_2D, .first_level = 1, .first_slice = 2},
      &view));
  CHECK_EQUAL(mtl_texture_info(view)->width, 2);
  CHECK_EQUAL(mtl_texture_info(view)->height, 1);
  CHECK_EQUAL(mtl_texture_info(view)->level_count, 1);
  uint8_t back[2] = {0};
  get_texels(view, back);
  mtl_texture_release(view);
  CHECK_EQUAL(back[0], 5);
  CHECK_EQUAL(back[1], 6);
}

TEST(textures, of_a_buffer_share_its_bytes) {
  mtl_buffer *buffer = new_buffer(16 + 2 * 32);
  mtl_texture *texture = NULL;
  CHECK_OK(mtl_texture_create_from_buffer(
      buffer,
      &(mtl_texture_desc){
          .pixel_format = MTL_FORMAT_R32_UINT, .width = 5, .height = 2},
      16, 32, &texture));
  uint32_t texels[10];
  for (uint32_t i = 0; i < 10; i++) {
    texels[i] = i + 1;
  }
  put_texels(texture, texels);
  mtl_texture_release(texture);
  CHECK_EQUAL(words(buffer)[4], 1);
  CHECK_EQUAL(words(buffer)[4 + 8 + 4], 10);
}

TEST(textures, wrong_descriptors_are_refused_with_numbers) {
  static const struct {
    mtl_texture_desc desc;
    const char *part;
  } wrong[] = {
      {{.pixel_format = MTL_FORMAT_R8_UNORM}, "0x1x1"},
      {{.pixel_format = (mtl_pixel_format)7, .width = 1}, "7"},
      {{.pixel_format = MTL_FORMAT_R8_UNORM, .width = 16385}, "16384"},
      {{.pixel_format = MTL_FORMAT_R8_UNORM, .width = 4, .level_count = 4},
       "at most 3"},
      {{.type = MTL_TEXTURE_1D,
        .pixel_format = MTL_FORMAT_R8_UNORM,
        .width = 4,
        .height = 2},
       "texture1d"},
      {{.type = MTL_TEXTURE_CUBE,
        .pixel_format = MTL_FORMAT_R8_UNORM,
        .width = 4,
        .height = 2},
       "4x2"},
      {{.pixel_format = MTL_FORMAT_R8_UNORM, .width = 4, .sample_count = 4},
       "4 samples"},
      {{.pixel_format = MTL_FORMAT_R8_UNORM, .width = 4, .array_length = 2},
       "array length of 2"},
  };
  for (size_t i = 0; i < COUNT_OF(wrong); i++) {
    mtl_texture *texture = (mtl_texture *)1;
    CHECK_ERROR(mtl_texture_create(the_device(), &wrong[i].desc, &texture),
                MTL_INVALID_ARGUMENT, wrong[i].part);
    CHECK(texture == NULL);
  }
}

// Records one dispatch of invert and returns the status of the encoder's end.
static mtl_status dispatch_invert(mtl_texture *in, mtl_texture *out,
                                  bool set_out) {
  mtl_compute_encoder *encoder = new_encoder(new_commands(new_queue()));
  mtl_compute_encoder_set_pipeline(encoder,
                                   new_pipeline(invert_kernel, "invert"));
  mtl_compute_encoder_set_texture(encoder, in, 0);
  if (set_out) {
    mtl_compute_encoder_set_texture(encoder, out, 1);
  }
  mtl_compute_encoder_dispatch_threads(encoder, size_of(1, 1, 1),
                                       size_of(1, 1, 1));
  return mtl_compute_encoder_end(encoder);
}

TEST(textures, unbound_argument_is_refused) {
  mtl_texture *texture = new_texture_2d(MTL_FORMAT_RGBA8_UNORM, 1, 1);
  CHECK_ERROR(dispatch_invert(texture, NULL, false), MTL_INVALID_ARGUMENT,
              "'out' [[texture(1)]] is not bound");
}

TEST(textures, wrong_type_and_format_are_refused) {
  mtl_texture *good = new_texture_2d(MTL_FORMAT_RGBA8_UNORM, 1, 1);
  mtl_texture *integer = new_texture_2d(MTL_FORMAT_RGBA8_UINT, 1, 1);
  mtl_texture *cube = new_texture_like(
      (mtl_texture_desc){.type = MTL_TEXTURE_CUBE,
                         .pixel_format = MTL_FORMAT_RGBA8_UNORM,
                         .width = 1});
  mtl_texture *read_only = new_texture_like(
      (mtl_texture_desc){.pixel_format = MTL_FORMAT_RGBA8_UNORM,
                         .width = 1,
                         .usage = MTL_TEXTURE_USAGE_SHADER_READ});
  CHECK_ERROR(dispatch_invert(integer, good, true), MTL_INVALID_ARGUMENT,
              "fraction");
  CHECK_ERROR(dispatch_invert(cube, good, true), MTL_INVALID_ARGUMENT,
              "is a texturecube");
  CHECK_ERROR(dispatch_invert(good, read_only, true), MTL_INVALID_ARGUMENT,
              "needs usage 0x2");
  CHECK_OK(dispatch_invert(good, good, true));
}

TEST(textures, indices_are_checked) {
  mtl_compute_encoder *encoder = new_encoder(new_commands(new_queue()));
  mtl_compute_encoder_set_texture(encoder, NULL, 128);
  CHECK_ERROR(mtl_compute_encoder_end(encoder), MTL_INVALID_ARGUMENT, "127");
}

TEST(textures, arguments_are_reflected) {
  mtl_library *library = new_library(
      "using namespace metal;\n"
      "kernel void k(depth2d_array<float> d [[texture(3)]],\n"
      "              array<texture2d<half, access::read_write>, 4> many,\n"
      "              sampler s [[sampler(2)]]) {}\n");
  size_t count = 0;
  const mtl_argument *arguments =
      mtl_function_arguments(new_function(library, "k"), &count);
  CHECK_EQUAL(count, 3);
  CHECK_EQUAL(arguments[0].kind, MTL_ARGUMENT_TEXTURE);
  CHECK_EQUAL(arguments[0].index, 3);
  CHECK_EQUAL(arguments[0].texture_type, MTL_TEXTURE_2D_ARRAY);
  CHECK(arguments[0].is_depth_texture);
  CHECK_EQUAL(arguments[1].array_length, 4);
  CHECK_EQUAL(arguments[1].index, 4);
  CHECK_EQUAL(arguments[1].type, MTL_TYPE_HALF);
  CHECK_EQUAL(arguments[1].access, MTL_ACCESS_READ_WRITE);
  CHECK_EQUAL(arguments[2].kind, MTL_ARGUMENT_SAMPLER);
  CHECK_EQUAL(arguments[2].index, 2);
}

TEST(textures, released_before_the_work_runs) {
  mtl_texture *source = NULL, *target = NULL, *view = NULL;
  const mtl_texture_desc desc = {
      .pixel_format = MTL_FORMAT_RGBA8_UNORM, .width = 1, .height = 1};
  CHECK_OK(mtl_texture_create(the_device(), &desc, &source));
  CHECK_OK(mtl_texture_create(the_device(), &desc, &target));
  CHECK_OK(mtl_texture_create_view(target, &(mtl_texture_view_desc){0}, &view));
  mtl_command_buffer *commands = new_commands(new_queue());
  mtl_compute_encoder *encoder = new_encoder(commands);
  mtl_compute_encoder_set_pipeline(encoder,
                                   new_pipeline(invert_kernel, "invert"));
  mtl_compute_encoder_set_textures(encoder, (mtl_texture *[]){source, view}, 0,
                                   2);
  mtl_compute_encoder_dispatch_threads(encoder, size_of(1, 1, 1),
                                       size_of(1, 1, 1));
  end(encoder);
  mtl_texture_release(source);
  mtl_texture_release(view);
  finish(commands);
  uint8_t back[4];
  get_texels(target, back);
  CHECK_EQUAL(back[0], 255);
  mtl_texture_release(target);
}

// Binds textures to 0.., buffers to 0.. and runs grid threads.
static void run_both(mtl_pipeline *pipeline, mtl_texture *const *textures,
                     uint32_t texture_count, mtl_buffer *const *buffers,
                     uint32_t buffer_count, mtl_texture *used, mtl_size grid) {
  mtl_command_buffer *commands = new_commands(new_queue());
  mtl_compute_encoder *encoder = new_encoder(commands);
  mtl_compute_encoder_set_pipeline(encoder, pipeline);
  mtl_compute_encoder_set_textures(encoder, textures, 0, texture_count);
  for (uint32_t i = 0; i < buffer_count; i++) {
    mtl_compute_encoder_set_buffer(encoder, buffers[i], 0, i);
  }
  if (used) {
    mtl_compute_encoder_use_texture(encoder, used, MTL_USAGE_READ);
  }
  mtl_compute_encoder_dispatch_threads(encoder, grid, size_of(32, 1, 1));
  end(encoder);
  finish(commands);
}

TEST(textures, textures_inside_structs_and_arrays) {
  mtl_pipeline *pipeline = new_pipeline(
      "using namespace metal;\n"
      "struct pair { float scale; texture2d<float> t; sampler s; };\n"
      "static float4 look(texture2d<float> t, sampler s, float x) {\n"
      "  return t.sample(s, float2(x, 0.5));\n"
      "}\n"
      "kernel void k(array<texture2d<float, access::read>, 2> many\n"
      "                  [[texture(0)]],\n"
      "              constant pair &p [[buffer(0)]],\n"
      "              device float *out [[buffer(1)]],\n"
      "              uint i [[thread_position_in_grid]]) {\n"
      "  out[i] = many[i].read(uint2(0)).x + p.scale * look(p.t, p.s, i).x;\n"
      "}\n",
      "k");
  mtl_texture *textures[3];
  for (int i = 0; i < 3; i++) {
    textures[i] = new_texture_2d(MTL_FORMAT_R32_FLOAT, 2, 1);
    put_texels(textures[i], (float[2]){(float)(i + 1), 8});
  }
  mtl_sampler *sampler = new_sampler((mtl_sampler_desc){0});
  const struct {
    float scale;
    uint32_t gap;
    uint64_t texture, sampler;
  } arguments = {10, 0, mtl_texture_resource_id(textures[2]),
                 mtl_sampler_resource_id(sampler)};
  mtl_buffer *out = new_buffer(8);
  run_both(pipeline, textures, 2,
           (mtl_buffer *[]){new_buffer_with(&arguments, sizeof arguments), out},
           2, textures[2], size_of(2, 1, 1));
  CHECK(floats(out)[0] == 1 + 10 * 3);
  CHECK(floats(out)[1] == 2 + 10 * 8);
}

TEST(textures, optional_and_null_textures) {
  mtl_library *library = new_library(
      "using namespace metal;\n"
      "constant bool has [[function_constant(0)]];\n"
      "kernel void k(texture2d<uint> left_out\n"
      "                  [[texture(0), function_constant(has)]],\n"
      "              texture2d<uint> null [[texture(1)]],\n"
      "              device uint *out [[buffer(0)]]) {\n"
      "  out[0] = is_null_texture(null) ? 7 : 8;\n"
      "  if (has) out[0] = left_out.get_width();\n"
      "}\n");
  mtl_constant_values *values = NULL;
  CHECK_OK(mtl_constant_values_create(&values));
  release_constants_later(values);
  const bool has = false;
  CHECK_OK(mtl_constant_values_set(values, 0, MTL_TYPE_BOOL, 1, &has));
  mtl_function *function = NULL;
  mtl_pipeline *pipeline = NULL;
  CHECK_OK(mtl_function_create(library, "k", values, &function));
  release_function_later(function);
  CHECK_OK(mtl_pipeline_create(function, NULL, &pipeline));
  release_pipeline_later(pipeline);
  mtl_buffer *out = new_buffer(4);
  run_both(pipeline, (mtl_texture *[]){NULL, NULL}, 2, &out, 1, NULL,
           size_of(1, 1, 1));
  CHECK_EQUAL(words(out)[0], 7);
}

TEST(textures, every_type_is_written_and_read) {
  static const struct {
    mtl_texture_desc desc;
    const char *type;
    const char *at;     // of texel i of 8
    const char *sizes;  // their product is 8
  } cases[] = {
      {{.type = MTL_TEXTURE_1D, .width = 8}, "texture1d", "i", "t.get_width()"},
      {{.type = MTL_TEXTURE_1D_ARRAY, .width = 4, .array_length = 2},
       "texture1d_array", "i % 4, i / 4", "t.get_width() * t.get_array_size()"},
      {{.width = 4, .height = 2}, "texture2d", "ushort2(i % 4, i / 4)",
       "t.get_width() * t.get_height() * t.get_num_mip_levels()"},
      {{.type = MTL_TEXTURE_2D_ARRAY, .width = 2, .height = 2,
        .array_length = 2},
       "texture2d_array", "uint2(i % 2, i / 2 % 2), i / 4",
       "t.get_width() * t.get_height() * t.get_array_size()"},
      {{.type = MTL_TEXTURE_3D, .width = 2, .height = 2, .depth = 2},
       "texture3d", "uint3(i % 2, i / 2 % 2, i / 4)",
       "t.get_width() * t.get_height() * t.get_depth()"},
      {{.type = MTL_TEXTURE_CUBE, .width = 2}, "texturecube",
       "uint2(i % 2, i / 2 % 2), 3 + i / 4",
       "t.get_width() * t.get_height() * 2"},
      {{.type = MTL_TEXTURE_CUBE_ARRAY, .width = 2, .array_length = 2},
       "texturecube_array", "uint2(i % 2, 1), i / 2, 1",
       "t.get_width() * t.get_height() * t.get_array_size()"},
      {{.type = MTL_TEXTURE_BUFFER, .width = 8}, "texture_buffer", "i",
       "t.get_width()"},
  };
  for (size_t c = 0; c < COUNT_OF(cases); c++) {
    char source[1024];
    snprintf(source, sizeof source,
             "using namespace metal;\n"
             "kernel void w(%s<uint, access::write> t [[texture(0)]],\n"
             "              uint i [[thread_position_in_grid]]) {\n"
             "  t.write(uint4(100 + i), %s);\n"
             "}\n"
             "kernel void r(%s<uint, access::read> t [[texture(0)]],\n"
             "              device uint *out [[buffer(0)]],\n"
             "              uint i [[thread_position_in_grid]]) {\n"
             "  out[i] = t.read(%s).x; out[8] = %s;\n"
             "}\n",
             cases[c].type, cases[c].at, cases[c].type, cases[c].at,
             cases[c].sizes);
    mtl_library *library = new_library(source);
    mtl_texture_desc desc = cases[c].desc;
    desc.pixel_format = MTL_FORMAT_R16_UINT;
    mtl_texture *texture = new_texture_like(desc);
    mtl_buffer *out = new_buffer(36);
    run_both(new_pipeline_from(library, "w"), &texture, 1, NULL, 0, NULL,
             size_of(8, 1, 1));
    run_both(new_pipeline_from(library, "r"), &texture, 1, &out, 1, NULL,
             size_of(8, 1, 1));
    for (uint32_t i = 0; i < 8; i++) {
      CHECK_EQUAL(words(out)[i], 100 + i);
    }
    CHECK_EQUAL(words(out)[8], 8);
  }
}

TEST(textures, atomics_add_up) {
  mtl_pipeline *pipeline = new_pipeline(
      "using namespace metal;\n"
      "kernel void k(texture2d<uint, access::read_write> t [[texture(0)]],\n"
      "              device uint *out [[buffer(0)]],\n"
      "              uint i [[thread_position_in_grid]]) {\n"
      "  uint old = t.atomic_fetch_add(uint2(i % 2, 0), uint4(i)).x;\n"
      "  t.atomic_fetch_max(uint2(2, 0), uint4(i));\n"
      "  t.atomic_fetch_add(uint2(9, 9), uint4(1));\n"
      "  out[i] = old;\n"
      "}\n",
      "k");
  mtl_texture *texture = new_texture_2d(MTL_FORMAT_R32_UINT, 3, 1);
  mtl_buffer *out = new_buffer(4000);
  run_both(pipeline, &texture, 1, &out, 1, NULL, size_of(1000, 1, 1));
  uint32_t back[3];
  get_texels(texture, back);
  CHECK_EQUAL(back[0], 249500);  // 0 + 2 + ... + 998
  CHECK_EQUAL(back[1], 250000);
  CHECK_EQUAL(back[2], 999);
}

TEST(textures, atomics_of_cubes_know_face_and_cube) {
  mtl_pipeline *pipeline = new_pipeline(
      "using namespace metal;\n"
      "kernel void k(texturecube<uint, access::read_write> t [[texture(0)]],\n"
      "              texturecube_array<int, access::read_write> u\n"
      "                  [[texture(1)]],\n"
      "              uint i [[thread_position_in_grid]]) {\n"
      "  t.atomic_fetch_add(uint2(1, 0), i % 7, uint4(2));\n"
      "  u.atomic_fetch_sub(uint2(0, 1), i % 6, i / 6 % 3, int4(3));\n"
      "}\n",
      "k");
  mtl_texture *both[2] = {
      new_texture_like((mtl_texture_desc){.type = MTL_TEXTURE_CUBE,
                                          .pixel_format = MTL_FORMAT_R32_UINT,
                                          .width = 2}),
      new_texture_like((mtl_texture_desc){.type = MTL_TEXTURE_CUBE_ARRAY,
                                          .pixel_format = MTL_FORMAT_R32_SINT,
                                          .width = 2,
                                          .array_length = 2})};
  run_both(pipeline, both, 2, NULL, 0, NULL, size_of(126, 1, 1));
  const mtl_region face = {.width = 2, .height = 2, .depth = 1};
  int32_t texels[4];
  for (uint32_t slice = 0; slice < 12; slice++) {
    CHECK_OK(mtl_texture_get_bytes(both[1], face, 0, slice, texels, 0, 0));
    CHECK_EQUAL(texels[1], 0);
    CHECK_EQUAL(texels[2], -21);  // 7 threads of 126; the third cube is none
    if (slice < 6) {
      CHECK_OK(mtl_texture_get_bytes(both[0], face, 0, slice, texels, 0, 0));
      CHECK_EQUAL(texels[1], 36);  // 18 threads; face 6 is none
      CHECK_EQUAL(texels[2], 0);
    }
  }
}

TEST(textures, samples_of_one_texel_lie_side_by_side) {
  mtl_texture *texture = new_texture_like(
      (mtl_texture_desc){.type = MTL_TEXTURE_2D_MULTISAMPLE,
                         .pixel_format = MTL_FORMAT_R8_UINT,
                         .width = 2,
                         .sample_count = 4});
  CHECK_EQUAL(mtl_texture_info(texture)->sample_count, 4);
  uint8_t texels[8] = {1, 2, 3, 4, 5, 6, 7, 8}, back[8];
  put_texels(texture, texels);
  get_texels(texture, back);
  CHECK(memcmp(texels, back, sizeof back) == 0);
}
