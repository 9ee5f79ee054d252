// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// texture_sampling.c: values that kernels sample and gather. Coordinates are
// multiples of 1/128 and sides powers of two, so that the formulas of the
// specifications (MSL, "Samplers"; OpenCL C 8.2) hold to the last bit.
#include <math.h>
#include <string.h>

#include "textures.h"

static const char sample_kernels[] =
    "using namespace metal;\n"
    "#define SAMPLE(name, type, ...)                                       \\\n"
    "  kernel void name(type t [[texture(0)]], sampler s [[sampler(0)]],   \\\n"
    "                   device const float4 *in [[buffer(0)]],             \\\n"
    "                   device float4 *out [[buffer(1)]],                  \\\n"
    "                   uint i [[thread_position_in_grid]]) {              \\\n"
    "    float4 c = in[i];                                                 \\\n"
    "    out[i] = float4(__VA_ARGS__);                                     \\\n"
    "  }\n"
    "SAMPLE(in_1d, texture1d<float>, t.sample(s, c.x))\n"
    "SAMPLE(in_2d, texture2d<float>, t.sample(s, c.xy))\n"
    "SAMPLE(in_2d_level, texture2d<float>, t.sample(s, c.xy, level(c.w)))\n"
    "SAMPLE(in_2d_offset, texture2d<float>, t.sample(s, c.xy, int2(-3, 5)))\n"
    "SAMPLE(in_2d_gradient, texture2d<float>,\n"
    "       t.sample(s, c.xy, gradient2d(float2(c.z, 0), float2(0, c.w))))\n"
    "SAMPLE(in_2d_limit, texture2d<float>, t.sample(s, c.xy, level(0),\n"
    "       min_lod_clamp(c.w)))\n"
    "SAMPLE(in_2d_array, texture2d_array<float>,\n"
    "       t.sample(s, c.xy, uint(c.z)))\n"
    "SAMPLE(in_2d_uint, texture2d<uint>, t.sample(s, c.xy))\n"
    "SAMPLE(in_3d, texture3d<float>, t.sample(s, c.xyz))\n"
    "SAMPLE(in_cube, texturecube<float>, t.sample(s, c.xyz))\n"
    "SAMPLE(in_cube_array, texturecube_array<float>,\n"
    "       t.sample(s, c.xyz, uint(c.w)))\n"
    "SAMPLE(gathered, texture2d<float>,\n"
    "       t.gather(s, c.xy, int2(0), component::x))\n"
    "SAMPLE(compared, depth2d<float>, t.sample_compare(s, c.xy, c.z))\n"
    "SAMPLE(gather_compared, depth2d<float>, t.gather_compare(s, c.xy, c.z))\n"
    "kernel void in_code(texture2d<float> t [[texture(0)]],\n"
    "                    device const float4 *in [[buffer(0)]],\n"
    "                    device float4 *out [[buffer(1)]],\n"
    "                    uint i [[thread_position_in_grid]]) {\n"
    "  constexpr sampler s(coord::pixel, filter::linear,\n"
    "                      address::clamp_to_zero);\n"
    "  out[i] = t.sample(s, in[i].xy);\n"
    "}\n";

enum { POINT_LIMIT = 512 };

typedef struct points {
  float in[POINT_LIMIT][4];
  float out[POINT_LIMIT][4];
  uint32_t count;
} points;

static void add_point(points *p, float x, float y, float z, float w) {
  CHECK(p->count < POINT_LIMIT);
  float *at = p->in[p->count++];
  at[0] = x;
  at[1] = y;
  at[2] = z;
  at[3] = w;
}

static void sample_with(mtl_pipeline *pipeline, mtl_texture *texture,
                        mtl_sampler *sampler, points *p) {
  mtl_buffer *in = new_buffer_with(p->in, sizeof p->in[0] * p->count);
  mtl_buffer *out = new_buffer(sizeof p->out[0] * p->count);
  mtl_command_buffer *commands = new_commands(new_queue());
  mtl_compute_encoder *encoder = new_encoder(commands);
  mtl_compute_encoder_set_pipeline(encoder, pipeline);
  mtl_compute_encoder_set_texture(encoder, texture, 0);
  mtl_compute_encoder_set_sampler(encoder, sampler, 0);
  mtl_compute_encoder_set_buffer(encoder, in, 0, 0);
  mtl_compute_encoder_set_buffer(encoder, out, 0, 1);
  mtl_compute_encoder_dispatch_threads(encoder, size_of(p->count, 1, 1),
                                       size_of(64, 1, 1));
  end(encoder);
  finish(commands);
  memcpy(p->out, mtl_buffer_contents(out), sizeof p->out[0] * p->count);
}

static void sample(const char *kernel, mtl_texture *texture,
                   mtl_sampler_desc desc, points *p) {
  sample_with(new_pipeline(sample_kernels, kernel), texture, new_sampler(desc),
              p);
}

static mtl_sampler_desc modes(mtl_address_mode mode, mtl_filter filter) {
  return (mtl_sampler_desc){.s_address = mode,
                            .t_address = mode,
                            .r_address = mode,
                            .min_filter = filter,
                            .mag_filter = filter,
                            .border_color = MTL_BORDER_OPAQUE_WHITE};
}

// --- the formulas ------------------------------------------------------------

// Returns the texel that index i of n refers to, or -1 for the border.
static int place(int i, int n, mtl_address_mode mode) {
  const int in_period = ((i % n) + n) % n;
  const int in_double = ((i % (2 * n)) + 2 * n) % (2 * n);
  switch (mode) {
    case MTL_ADDRESS_REPEAT: return in_period;
    case MTL_ADDRESS_MIRROR_REPEAT:
      return in_double < n ? in_double : 2 * n - 1 - in_double;
    case MTL_ADDRESS_MIRROR_CLAMP_TO_EDGE:
      i = i < 0 ? -1 - i : i;
      return i < n ? i : n - 1;
    case MTL_ADDRESS_CLAMP_TO_EDGE: return i < 0 ? 0 : i < n ? i : n - 1;
    default: return i < 0 || i >= n ? -1 : i;
  }
}

typedef struct image {
  int width, height;
  const float *red;  // [height][width]
  double border;
} image;

static double texel(const image *it, int x, int y, mtl_address_mode mode) {
  const int px = place(x, it->width, mode), py = place(y, it->height, mode);
  return px < 0 || py < 0 ? it->border : (double)it->red[py * it->width + px];
}

static double expected(const image *it, double u, double v,
                       mtl_address_mode mode, mtl_filter filter) {
  if (filter == MTL_FILTER_NEAREST) {
    return texel(it, (int)floor(u), (int)floor(v), mode);
  }
  const int x = (int)floor(u - 0.5), y = (int)floor(v - 0.5);
  const double a = u - 0.5 - x, b = v - 0.5 - y;
  return (1 - a) * (1 - b) * texel(it, x, y, mode) +
         a * (1 - b) * texel(it, x + 1, y, mode) +
         (1 - a) * b * texel(it, x, y + 1, mode) +
         a * b * texel(it, x + 1, y + 1, mode);
}

enum { WIDTH = 8, HEIGHT = 4 };

// Small whole numbers, so that all sums of the tests are exact.
static void fill_image(float red[HEIGHT * WIDTH]) {
  for (int i = 0; i < HEIGHT * WIDTH; i++) {
    red[i] = (float)((i * 7 + i / 3) % 31);
  }
}

static void check_red(const points *p, uint32_t i, double wanted) {
  if ((double)p->out[i][0] != wanted) {
    test_fail(__FILE__, __LINE__, "at %g, %g, %g, %g: %.9g, not %.9g",
              (double)p->in[i][0], (double)p->in[i][1], (double)p->in[i][2],
              (double)p->in[i][3], (double)p->out[i][0], wanted);
  }
}

TEST(texture_sampling, every_address_mode_and_filter) {
  float red[HEIGHT * WIDTH];
  fill_image(red);
  mtl_texture *texture = new_texture_2d(MTL_FORMAT_R32_FLOAT, WIDTH, HEIGHT);
  put_texels(texture, red);
  mtl_pipeline *pipeline = new_pipeline(sample_kernels, "in_2d");
  for (int mode = 0; mode <= MTL_ADDRESS_CLAMP_TO_BORDER_COLOR; mode++) {
    for (int filter = 0; filter <= MTL_FILTER_LINEAR; filter++) {
      points p = {.count = 0};
      // Not on the border between two texels, which a mirror may swap.
      for (int i = 0; i < 400; i++) {
        add_point(&p, (float)(2 * i - 319) / 128,
                  (float)(2 * (i * 13 % 250) - 179) / 128, 0, 0);
      }
      const mtl_sampler_desc desc =
          modes((mtl_address_mode)mode, (mtl_filter)filter);
      sample_with(pipeline, texture, new_sampler(desc), &p);
      const image it = {WIDTH, HEIGHT, red,
                        mode == MTL_ADDRESS_CLAMP_TO_BORDER_COLOR ? 1 : 0};
      for (uint32_t i = 0; i < p.count; i++) {
        check_red(&p, i,
                  expected(&it, (double)p.in[i][0] * WIDTH,
                           (double)p.in[i][1] * HEIGHT, (mtl_address_mode)mode,
                           (mtl_filter)filter));
      }
    }
  }
}

TEST(texture_sampling, offsets_move_by_texels) {
  float red[HEIGHT * WIDTH];
  fill_image(red);
  mtl_texture *texture = new_texture_2d(MTL_FORMAT_R32_FLOAT, WIDTH, HEIGHT);
  put_texels(texture, red);
  mtl_pipeline *pipeline = new_pipeline(sample_kernels, "in_2d_offset");
  for (int mode = 0; mode <= MTL_ADDRESS_CLAMP_TO_ZERO; mode++) {
    points p = {.count = 0};
    for (int i = 0; i < 200; i++) {
      add_point(&p, (float)(i - 60) / 64, (float)(i * 13 % 150 - 40) / 64, 0,
                0);
    }
    const mtl_sampler_desc desc =
        modes((mtl_address_mode)mode, MTL_FILTER_LINEAR);
    sample_with(pipeline, texture, new_sampler(desc), &p);
    const image it = {WIDTH, HEIGHT, red, 0};
    for (uint32_t i = 0; i < p.count; i++) {
      check_red(&p, i,
                expected(&it, (double)p.in[i][0] * WIDTH - 3,
                         (double)p.in[i][1] * HEIGHT + 5,
                         (mtl_address_mode)mode, MTL_FILTER_LINEAR));
    }
  }
}

TEST(texture_sampling, pixel_coordinates_and_samplers_in_code) {
  float red[HEIGHT * WIDTH];
  fill_image(red);
  mtl_texture *texture = new_texture_2d(MTL_FORMAT_R32_FLOAT, WIDTH, HEIGHT);
  put_texels(texture, red);
  points p = {.count = 0};
  for (int i = 0; i < 300; i++) {
    add_point(&p, (float)(i * 37 % 700 - 100) / 64,
              (float)(i * 13 % 400 - 90) / 64, 0, 0);
  }
  sample("in_code", texture, (mtl_sampler_desc){0}, &p);
  const image it = {WIDTH, HEIGHT, red, 0};
  for (uint32_t i = 0; i < p.count; i++) {
    check_red(&p, i,
              expected(&it, (double)p.in[i][0], (double)p.in[i][1],
                       MTL_ADDRESS_CLAMP_TO_ZERO, MTL_FILTER_LINEAR));
  }
}

TEST(texture_sampling, borders_are_texels_of_the_format) {
  const struct {
    mtl_pixel_format format;
    mtl_address_mode mode;
    mtl_border_color color;
    float wanted[4];
  } cases[] = {
      {MTL_FORMAT_RGBA8_UNORM, MTL_ADDRESS_CLAMP_TO_ZERO, 2, {0, 0, 0, 0}},
      {MTL_FORMAT_R8_UNORM, MTL_ADDRESS_CLAMP_TO_ZERO, 0, {0, 0, 0, 1}},
      {MTL_FORMAT_RGBA8_UNORM, MTL_ADDRESS_CLAMP_TO_BORDER_COLOR, 0,
       {0, 0, 0, 0}},
      {MTL_FORMAT_RGBA8_UNORM, MTL_ADDRESS_CLAMP_TO_BORDER_COLOR, 1,
       {0, 0, 0, 1}},
      {MTL_FORMAT_RGBA8_UNORM, MTL_ADDRESS_CLAMP_TO_BORDER_COLOR, 2,
       {1, 1, 1, 1}},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    points p = {.count = 0};
    add_point(&p, -1, 0.5f, 0, 0);
    mtl_sampler_desc desc = modes(cases[i].mode, MTL_FILTER_NEAREST);
    desc.border_color = cases[i].color;
    sample("in_2d", new_texture_2d(cases[i].format, 2, 2), desc, &p);
    CHECK(memcmp(p.out[0], cases[i].wanted, sizeof cases[i].wanted) == 0);
  }
}

// A 4 x 4 texture whose level l is 100 * l everywhere.
static mtl_texture *new_stepped(void) {
  mtl_texture *texture = new_texture_like(
      (mtl_texture_desc){.pixel_format = MTL_FORMAT_R32_FLOAT,
                         .width = 4,
                         .height = 4,
                         .level_count = 3});
  for (uint32_t level = 0; level < 3; level++) {
    float texels[16];
    for (int i = 0; i < 16; i++) {
      texels[i] = 100.0f * (float)level;
    }
    const uint32_t side = 4u >> level;
    CHECK_OK(mtl_texture_replace_region(
        texture, (mtl_region){.width = side, .height = side, .depth = 1}, level,
        0, texels, 0, 0));
  }
  return texture;
}

TEST(texture_sampling, levels_are_chosen_and_mixed) {
  static const float lods[] = {-1, 0, 0.25f, 0.75f, 1, 1.5f, 2, 9};
  static const float nearest[] = {0, 0, 0, 100, 100, 200, 200, 200};
  static const float mixed[] = {0, 0, 25, 75, 100, 150, 200, 200};
  mtl_texture *texture = new_stepped();
  points p = {.count = 0};
  for (size_t i = 0; i < COUNT_OF(lods); i++) {
    add_point(&p, 0.5f, 0.5f, 0, lods[i]);
  }
  sample("in_2d_level", texture,
         (mtl_sampler_desc){.mip_filter = MTL_MIP_FILTER_NEAREST}, &p);
  for (uint32_t i = 0; i < p.count; i++) {
    check_red(&p, i, (double)nearest[i]);
  }
  sample("in_2d_level", texture,
         (mtl_sampler_desc){.mip_filter = MTL_MIP_FILTER_LINEAR,
                            .min_filter = MTL_FILTER_LINEAR},
         &p);
  for (uint32_t i = 0; i < p.count; i++) {
    check_red(&p, i, (double)mixed[i]);
  }
  sample("in_2d_level", texture, (mtl_sampler_desc){0}, &p);
  check_red(&p, 7, 0);  // no mip filter: level 0
  sample("in_2d_level", texture,
         (mtl_sampler_desc){.mip_filter = MTL_MIP_FILTER_LINEAR,
                            .lod_min_clamp = 0.5f,
                            .lod_max_clamp = 1.25f},
         &p);
  check_red(&p, 0, 50);
  check_red(&p, 7, 125);
  sample("in_2d_limit", texture,
         (mtl_sampler_desc){.mip_filter = MTL_MIP_FILTER_LINEAR}, &p);
  check_red(&p, 3, 75);
}

TEST(texture_sampling, gradients_choose_the_level) {
  mtl_texture *texture = new_stepped();
  points p = {.count = 0};
  add_point(&p, 0.5f, 0.5f, 0.25f, 0.125f);  // a texel
  add_point(&p, 0.5f, 0.5f, 0.5f, 0.125f);   // two
  add_point(&p, 0.5f, 0.5f, 0.125f, 1.0f);   // four
  sample("in_2d_gradient", texture,
         (mtl_sampler_desc){.mip_filter = MTL_MIP_FILTER_NEAREST}, &p);
  check_red(&p, 0, 0);
  check_red(&p, 1, 100);
  check_red(&p, 2, 200);
}

TEST(texture_sampling, lines_arrays_and_volumes) {
  float texels[64];
  for (int i = 0; i < 64; i++) {
    texels[i] = (float)i;
  }
  const mtl_sampler_desc linear =
      modes(MTL_ADDRESS_CLAMP_TO_EDGE, MTL_FILTER_LINEAR);
  points p = {.count = 0};
  add_point(&p, 0.5f, 0.5f, 0.5f, 0);
  add_point(&p, 0.25f, 0, 1, 0);
  add_point(&p, 0.375f, 0.375f, 0.375f, 0);
  mtl_texture *line = new_texture_like(
      (mtl_texture_desc){.type = MTL_TEXTURE_1D,
                         .pixel_format = MTL_FORMAT_R32_FLOAT,
                         .width = 64});
  put_texels(line, texels);
  sample("in_1d", line, linear, &p);
  check_red(&p, 0, 31.5);
  check_red(&p, 1, 15.5);
  mtl_texture *volume = new_texture_like(
      (mtl_texture_desc){.type = MTL_TEXTURE_3D,
                         .pixel_format = MTL_FORMAT_R32_FLOAT,
                         .width = 4,
                         .height = 4,
                         .depth = 4});
  put_texels(volume, texels);
  sample("in_3d", volume, linear, &p);
  check_red(&p, 0, 31.5);  // the middle of all
  check_red(&p, 1, 0.5 + 0 + 48);
  check_red(&p, 2, 1 + 4 + 16);
  mtl_texture *layers = new_texture_like(
      (mtl_texture_desc){.type = MTL_TEXTURE_2D_ARRAY,
                         .pixel_format = MTL_FORMAT_R32_FLOAT,
                         .width = 2,
                         .height = 2,
                         .array_length = 3});
  const mtl_region face = {.width = 2, .height = 2, .depth = 1};
  for (uint32_t slice = 0; slice < 3; slice++) {
    CHECK_OK(mtl_texture_replace_region(layers, face, 0, slice,
                                        texels + 10 * slice, 0, 0));
  }
  points q = {.count = 0};
  add_point(&q, 0.5f, 0.5f, 1, 0);
  add_point(&q, 0.5f, 0.5f, 9, 0);  // the last one
  sample("in_2d_array", layers, linear, &q);
  check_red(&q, 0, 11.5);
  check_red(&q, 1, 21.5);
}

TEST(texture_sampling, integers_take_the_nearest) {
  mtl_texture *texture = new_texture_2d(MTL_FORMAT_R8_UINT, 2, 1);
  put_texels(texture, (uint8_t[2]){7, 200});
  points p = {.count = 0};
  add_point(&p, 0.25f, 0.5f, 0, 0);
  add_point(&p, 0.75f, 0.5f, 0, 0);
  sample("in_2d_uint", texture,
         modes(MTL_ADDRESS_CLAMP_TO_EDGE, MTL_FILTER_NEAREST), &p);
  check_red(&p, 0, 7);
  check_red(&p, 1, 200);
}

// A cube of side 2: texel i of face f is 10 * f + i.
static mtl_texture *new_cube(mtl_texture_type type, uint32_t cubes) {
  mtl_texture *cube = new_texture_like(
      (mtl_texture_desc){.type = type,
                         .pixel_format = MTL_FORMAT_R32_FLOAT,
                         .width = 2,
                         .array_length = cubes});
  for (uint32_t slice = 0; slice < 6 * cubes; slice++) {
    const float first = (float)(slice * 10);
    const float texels[4] = {first, first + 1, first + 2, first + 3};
    CHECK_OK(mtl_texture_replace_region(
        cube, (mtl_region){.width = 2, .height = 2, .depth = 1}, 0, slice,
        texels, 0, 0));
  }
  return cube;
}

// Source     MSL specification, cube faces: +x -x +y -y +z -z, each with its
//            own s and t
TEST(texture_sampling, cubes_choose_face_and_texel) {
  points p = {.count = 0};
  static const struct {
    float x, y, z;
    int wanted;
  } cases[] = {
      {1, 0.5f, 0.5f, 0},      // +x: s = -z, t = -y: left above
      {1, -0.5f, -0.5f, 3},    // right below
      {-1, 0.5f, 0.5f, 11},    // -x: s = z: right above
      {0.5f, 1, -0.5f, 21},    // +y: s = x, t = z: right above
      {-0.5f, 1, 0.5f, 22},    // left below
      {0.5f, -1, 0.5f, 31},    // -y: t = -z: right above
      {0.5f, 0.5f, 1, 41},     // +z: s = x, t = -y: right above
      {0.5f, 0.5f, -1, 50},    // -z: s = -x: left above
      {-4, -16, 32, 42},       // any length: left below
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    add_point(&p, cases[i].x, cases[i].y, cases[i].z, 1);
  }
  sample("in_cube", new_cube(MTL_TEXTURE_CUBE, 1), (mtl_sampler_desc){0}, &p);
  for (uint32_t i = 0; i < p.count; i++) {
    check_red(&p, i, cases[i].wanted);
  }
  sample("in_cube_array", new_cube(MTL_TEXTURE_CUBE_ARRAY, 2),
         (mtl_sampler_desc){0}, &p);
  for (uint32_t i = 0; i < p.count; i++) {
    check_red(&p, i, 60 + cases[i].wanted);
  }
}

TEST(texture_sampling, cubes_are_filtered_across_edges_and_corners) {
  points p = {.count = 0};
  // The edge between +x (its left side, upper texel 0) and +z (its right side,
  // upper texel 1): half of each.
  add_point(&p, 1, 0.5f, 1, 0);
  // The corner of +x (left above, 0), +y (right below, 3) and +z (right above,
  // 1): a third of each.
  add_point(&p, 1, 1, 1, 0);
  // The edge between -y (upper side) and +z (lower side), left texels.
  add_point(&p, -0.5f, -1, 1, 0);
  sample("in_cube", new_cube(MTL_TEXTURE_CUBE, 1),
         modes(MTL_ADDRESS_CLAMP_TO_EDGE, MTL_FILTER_LINEAR), &p);
  check_red(&p, 0, (0 + 41) / 2.0);
  const double corner = (0 + 23 + 41) / 3.0;
  CHECK(fabs((double)p.out[1][0] - corner) < 1e-5);  // thirds are not exact
  check_red(&p, 2, (30 + 42) / 2.0);
}

TEST(texture_sampling, gather_gives_four_in_metals_order) {
  mtl_texture *texture = new_texture_2d(MTL_FORMAT_R32_FLOAT, 2, 2);
  put_texels(texture, (float[4]){1, 2, 3, 4});
  points p = {.count = 0};
  add_point(&p, 0.5f, 0.5f, 0, 0);
  sample("gathered", texture, (mtl_sampler_desc){0}, &p);
  const float wanted[4] = {3, 4, 2, 1};
  CHECK(memcmp(p.out[0], wanted, sizeof wanted) == 0);
}

TEST(texture_sampling, comparisons_compare_before_they_filter) {
  mtl_texture *texture = new_texture_2d(MTL_FORMAT_DEPTH32_FLOAT, 2, 2);
  put_texels(texture, (float[4]){0.25f, 0.5f, 0.75f, 1});
  // Of 0.5 with 0.25, 0.5, 0.75, 1: how many quarters pass.
  static const float wanted[] = {0, 0.5f, 0.25f, 0.75f, 0.25f, 0.75f, 0.5f, 1};
  mtl_pipeline *pipeline = new_pipeline(sample_kernels, "compared");
  for (int function = 0; function <= MTL_COMPARE_ALWAYS; function++) {
    points p = {.count = 0};
    add_point(&p, 0.5f, 0.5f, 0.5f, 0);
    mtl_sampler_desc desc = modes(MTL_ADDRESS_CLAMP_TO_EDGE, MTL_FILTER_LINEAR);
    desc.compare_function = (mtl_compare_function)function;
    sample_with(pipeline, texture, new_sampler(desc), &p);
    check_red(&p, 0, (double)wanted[function]);
  }
  points p = {.count = 0};
  add_point(&p, 0.5f, 0.5f, 0.5f, 0);
  sample("gather_compared", texture,
         (mtl_sampler_desc){.compare_function = MTL_COMPARE_LESS}, &p);
  const float gathered[4] = {1, 1, 0, 0};
  CHECK(memcmp(p.out[0], gathered, sizeof gathered) == 0);
}

static mtl_pipeline *new_debug_pipeline(const char *kernel) {
  const mtl_compile_options options = {.debug = true};
  return new_pipeline_from(new_library_with(sample_kernels, &options), kernel);
}

// One thread at a time or 32: the same bits, for odd sides, odd coordinates and
// formats with and without vector code.
TEST(texture_sampling, debug_gives_the_same_bits) {
  static const mtl_pixel_format formats[] = {
      MTL_FORMAT_RGBA8_UNORM, MTL_FORMAT_RGBA16_FLOAT, MTL_FORMAT_R8_SNORM,
      MTL_FORMAT_RGBA8_UNORM_SRGB};
  static const char *const kernels[] = {"in_2d_level", "in_2d_gradient",
                                        "gathered"};
  for (size_t k = 0; k < COUNT_OF(kernels); k++) {
    mtl_pipeline *fast = new_pipeline(sample_kernels, kernels[k]);
    mtl_pipeline *debug = new_debug_pipeline(kernels[k]);
    for (size_t f = 0; f < COUNT_OF(formats); f++) {
      mtl_texture *texture = new_texture_2d(formats[f], 13, 7);
      uint8_t texels[13 * 7 * 8];
      points a = {.count = 0};
      uint32_t random = (uint32_t)(k * 10 + f + 1);
      for (size_t i = 0; i < sizeof texels; i++) {
        random = random * 1664525 + 1013904223;
        texels[i] = (uint8_t)(random >> 24) & 0x7b;  // no NaN as halves
      }
      put_texels(texture, texels);
      for (int i = 0; i < 100; i++) {
        float c[4];
        for (int j = 0; j < 4; j++) {
          random = random * 1664525 + 1013904223;
          c[j] = (float)random / 0x1p30f - 1.5f;
        }
        add_point(&a, c[0], c[1], c[2], c[3]);
      }
      points b = a;
      for (int mode = 0; mode <= MTL_ADDRESS_CLAMP_TO_ZERO; mode += 2) {
        mtl_sampler_desc desc =
            modes((mtl_address_mode)mode, MTL_FILTER_LINEAR);
        desc.mip_filter = MTL_MIP_FILTER_LINEAR;
        sample_with(fast, texture, new_sampler(desc), &a);
        sample_with(debug, texture, new_sampler(desc), &b);
        CHECK(memcmp(a.out, b.out, sizeof a.out[0] * a.count) == 0);
      }
    }
  }
}

TEST(texture_sampling, wrong_samplers_are_refused) {
  mtl_sampler *sampler = NULL;
  const mtl_sampler_desc wrong = {.s_address = (mtl_address_mode)6};
  CHECK_ERROR(mtl_sampler_create(the_device(), &wrong, &sampler),
              MTL_INVALID_ARGUMENT, "s_address 6");
  mtl_compute_encoder *encoder = new_encoder(new_commands(new_queue()));
  mtl_compute_encoder_set_pipeline(encoder,
                                   new_pipeline(sample_kernels, "in_2d"));
  mtl_compute_encoder_set_texture(encoder,
                                  new_texture_2d(MTL_FORMAT_R8_UNORM, 1, 1), 0);
  mtl_compute_encoder_set_buffer(encoder, new_buffer(16), 0, 0);
  mtl_compute_encoder_set_buffer(encoder, new_buffer(16), 0, 1);
  mtl_compute_encoder_dispatch_threads(encoder, size_of(1, 1, 1),
                                       size_of(1, 1, 1));
  CHECK_ERROR(mtl_compute_encoder_end(encoder), MTL_INVALID_ARGUMENT,
              "[[sampler(0)]] is not bound");
}
