// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// texture_formats.c: the values that kernels read from the bytes of every pixel
// format, and the bytes that they write. Expected values follow the MSL
// specification, "Texture addressing and conversion rules".
#include <math.h>
#include <string.h>

#include "textures.h"

static const char format_kernels[] =
    "using namespace metal;\n"
    "#define COPIES(T, name)                                               \\\n"
    "  kernel void read_##name(texture2d<T, access::read> t [[texture(0)]],\\\n"
    "                          device vec<T, 4> *out [[buffer(0)]]) {      \\\n"
    "    out[0] = t.read(uint2(1, 0));                                     \\\n"
    "  }                                                                   \\\n"
    "  kernel void write_##name(texture2d<T, access::write> t              \\\n"
    "                               [[texture(0)]],                        \\\n"
    "                           device vec<T, 4> *in [[buffer(0)]]) {      \\\n"
    "    t.write(in[0], ushort2(1, 0));                                    \\\n"
    "  }\n"
    "COPIES(float, float)\n"
    "COPIES(half, half)\n"
    "COPIES(uint, uint)\n"
    "COPIES(int, int)\n";

// Runs one kernel of one thread over a texture and a buffer.
static void run_copy(const char *name, mtl_texture *texture,
                     mtl_buffer *buffer) {
  mtl_command_buffer *commands = new_commands(new_queue());
  mtl_compute_encoder *encoder = new_encoder(commands);
  mtl_compute_encoder_set_pipeline(encoder, new_pipeline(format_kernels, name));
  mtl_compute_encoder_set_texture(encoder, texture, 0);
  mtl_compute_encoder_set_buffer(encoder, buffer, 0, 0);
  mtl_compute_encoder_dispatch_threads(encoder, size_of(1, 1, 1),
                                       size_of(1, 1, 1));
  end(encoder);
  finish(commands);
}

typedef struct texel_case {
  mtl_pixel_format format;
  uint32_t texel[4];  // little endian
  double value[4];
} texel_case;

// c of the sRGB curve in linear light.
//
// Source     IEC 61966-2-1
static double linear(double byte) {
  const double c = byte / 255;
  return c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4);
}

enum { CASE_COUNT = 36 };

static void fill_cases(texel_case cases[CASE_COUNT]) {
  const texel_case all[CASE_COUNT] = {
      {MTL_FORMAT_A8_UNORM, {0x80}, {0, 0, 0, 128 / 255.0}},
      {MTL_FORMAT_R8_UNORM, {0x33}, {51 / 255.0, 0, 0, 1}},
      {MTL_FORMAT_R8_UNORM_SRGB, {188}, {linear(188), 0, 0, 1}},
      {MTL_FORMAT_R8_UNORM_SRGB, {5}, {linear(5), 0, 0, 1}},
      {MTL_FORMAT_R8_SNORM, {0x81}, {-1, 0, 0, 1}},
      {MTL_FORMAT_R8_SNORM, {0x40}, {64 / 127.0, 0, 0, 1}},
      {MTL_FORMAT_R16_UNORM, {0x8001}, {32769 / 65535.0, 0, 0, 1}},
      {MTL_FORMAT_R16_SNORM, {0xc000}, {-16384 / 32767.0, 0, 0, 1}},
      {MTL_FORMAT_R16_FLOAT, {0xb800}, {-0.5, 0, 0, 1}},
      {MTL_FORMAT_R16_FLOAT, {0x0001}, {0x1p-24, 0, 0, 1}},
      {MTL_FORMAT_RG8_UNORM, {0xff01}, {1 / 255.0, 1, 0, 1}},
      {MTL_FORMAT_RG8_UNORM_SRGB, {0xff80}, {linear(128), 1, 0, 1}},
      {MTL_FORMAT_RG8_SNORM, {0x7fff}, {-1 / 127.0, 1, 0, 1}},
      {MTL_FORMAT_B5G6R5_UNORM, {31 << 11 | 21 << 5 | 3},
       {1, 21 / 63.0, 3 / 31.0, 1}},
      {MTL_FORMAT_A1BGR5_UNORM, {4 << 11 | 9 << 6 | 30 << 1 | 1},
       {4 / 31.0, 9 / 31.0, 30 / 31.0, 1}},
      {MTL_FORMAT_ABGR4_UNORM, {0x1234},
       {1 / 15.0, 2 / 15.0, 3 / 15.0, 4 / 15.0}},
      {MTL_FORMAT_BGR5A1_UNORM, {0x8000 | 7 << 10 | 8 << 5 | 9},
       {7 / 31.0, 8 / 31.0, 9 / 31.0, 1}},
      {MTL_FORMAT_R32_FLOAT, {0x40490fdb}, {(double)3.14159274f, 0, 0, 1}},
      {MTL_FORMAT_RG16_UNORM, {0xffff0001}, {1 / 65535.0, 1, 0, 1}},
      {MTL_FORMAT_RG16_SNORM, {0x80007fff}, {1, -1, 0, 1}},
      {MTL_FORMAT_RG16_FLOAT, {0x40003c00}, {1, 2, 0, 1}},
      {MTL_FORMAT_RGBA8_UNORM, {0x04030201},
       {1 / 255.0, 2 / 255.0, 3 / 255.0, 4 / 255.0}},
      {MTL_FORMAT_RGBA8_UNORM_SRGB, {0x80604020},
       {linear(32), linear(64), linear(96), 128 / 255.0}},
      {MTL_FORMAT_RGBA8_SNORM, {0x81fe017f},
       {1, 1 / 127.0, -2 / 127.0, -1}},
      {MTL_FORMAT_BGRA8_UNORM, {0x04030201},
       {3 / 255.0, 2 / 255.0, 1 / 255.0, 4 / 255.0}},
      {MTL_FORMAT_BGRA8_UNORM_SRGB, {0x80604020},
       {linear(96), linear(64), linear(32), 128 / 255.0}},
      {MTL_FORMAT_RGB10A2_UNORM, {2u << 30 | 3 << 20 | 2 << 10 | 1},
       {1 / 1023.0, 2 / 1023.0, 3 / 1023.0, 2 / 3.0}},
      {MTL_FORMAT_BGR10A2_UNORM, {1u << 30 | 3 << 20 | 2 << 10 | 1},
       {3 / 1023.0, 2 / 1023.0, 1 / 1023.0, 1 / 3.0}},
      // 1.5 = 2^0 * (1 + 32/64); 0.75; 2^-14 / 32, a subnormal
      {MTL_FORMAT_RG11B10_FLOAT,
       {(15 << 6 | 32) | (14 << 6 | 32) << 11 | 1u << 22},
       {1.5, 0.75, 0x1p-19, 1}},
      // 256, 128 and 1 units of 2^(16 - 24)
      {MTL_FORMAT_RGB9E5_FLOAT, {256 | 128 << 9 | 1 << 18 | 16u << 27},
       {1, 0.5, 0x1p-8, 1}},
      {MTL_FORMAT_RG32_FLOAT, {0x3f800000, 0xc0000000}, {1, -2, 0, 1}},
      {MTL_FORMAT_RGBA16_UNORM, {0x00020001, 0xffff0003},
       {1 / 65535.0, 2 / 65535.0, 3 / 65535.0, 1}},
      {MTL_FORMAT_RGBA16_SNORM, {0x80017fff, 0x00010000},
       {1, -1, 0, 1 / 32767.0}},
      {MTL_FORMAT_RGBA16_FLOAT, {0x40003c00, 0xbc003800}, {1, 2, 0.5, -1}},
      {MTL_FORMAT_RGBA32_FLOAT,
       {0x3f800000, 0x40000000, 0x3f000000, 0xbf800000},
       {1, 2, 0.5, -1}},
      {MTL_FORMAT_DEPTH16_UNORM, {0x8001}, {32769 / 65535.0, 0, 0, 1}},
  };
  memcpy(cases, all, sizeof all);
}

TEST(texture_formats, numbers_are_read) {
  texel_case cases[CASE_COUNT];
  fill_cases(cases);
  for (size_t i = 0; i < CASE_COUNT; i++) {
    const texel_case *it = &cases[i];
    const size_t bytes = mtl_pixel_format_bytes(it->format);
    mtl_texture *texture = new_texture_2d(it->format, 2, 1);
    uint8_t texels[32] = {0};
    memcpy(texels + bytes, it->texel, bytes);
    put_texels(texture, texels);
    mtl_buffer *buffer = new_buffer(16);
    run_copy("read_float", texture, buffer);
    for (int c = 0; c < 4; c++) {
      const float wanted = (float)it->value[c];
      if (floats(buffer)[c] != wanted) {
        test_fail(__FILE__, __LINE__, "format %d component %d: %a, not %a",
                  (int)it->format, c, (double)floats(buffer)[c],
                  (double)wanted);
      }
    }
  }
}

// Numbers that a format holds exactly are written as they were read.
TEST(texture_formats, numbers_are_written) {
  texel_case cases[CASE_COUNT];
  fill_cases(cases);
  for (size_t i = 0; i < CASE_COUNT; i++) {
    const texel_case *it = &cases[i];
    // -1 has two spellings; the one with the lowest bits is never written.
    const bool has_two = it->format == MTL_FORMAT_RG16_SNORM;
    const size_t bytes = mtl_pixel_format_bytes(it->format);
    mtl_texture *texture = new_texture_2d(it->format, 2, 1);
    float color[4];
    for (int c = 0; c < 4; c++) {
      color[c] = (float)it->value[c];
    }
    run_copy("write_float", texture, BUFFER_OF(color));
    uint32_t texels[8] = {0}, wanted[4] = {0}, actual[4] = {0};
    get_texels(texture, texels);
    memcpy(wanted, it->texel, bytes);
    memcpy(actual, (char *)texels + bytes, bytes);
    wanted[0] = has_two ? 0x80017fff : wanted[0];
    if (memcmp(wanted, actual, bytes) != 0) {
      test_fail(__FILE__, __LINE__, "format %d: %08x %08x, not %08x %08x",
                (int)it->format, actual[0], actual[1], wanted[0], wanted[1]);
    }
    CHECK(memcmp(texels, (uint32_t[4]){0}, bytes) == 0);
  }
}

// Writes color and gives the first word of the texel.
static uint32_t written(mtl_pixel_format format, float r, float g, float b,
                        float a) {
  mtl_texture *texture = new_texture_2d(format, 2, 1);
  const float color[] = {r, g, b, a};
  run_copy("write_float", texture, BUFFER_OF(color));
  uint32_t texels[8] = {0};
  get_texels(texture, texels);
  const size_t bytes = mtl_pixel_format_bytes(format);
  uint32_t word = 0;
  memcpy(&word, (char *)texels + bytes, bytes < 4 ? bytes : 4);
  return word;
}

TEST(texture_formats, written_numbers_are_clamped_and_rounded) {
  // 0.5 * 255 = 127.5 and 1.5 go to even, NaN to 0.
  CHECK_EQUAL(written(MTL_FORMAT_RGBA8_UNORM, 0.5f, 2, -1, NAN), 0x0000ff80);
  // As floats, 2.5 / 255 and 0.1 are a little more: 2.5000001, 25.5000004.
  CHECK_EQUAL(written(MTL_FORMAT_RGBA8_UNORM, 1.5f / 255, 2.5f / 255, 0.1f, 1),
              0xff1a0302);
  CHECK_EQUAL(written(MTL_FORMAT_R8_UNORM, 0.999f, 0, 0, 0), 255);
  CHECK_EQUAL(written(MTL_FORMAT_R8_SNORM, -2, 0, 0, 0), 0x81);
  CHECK_EQUAL(written(MTL_FORMAT_R8_SNORM, 0.5f, 0, 0, 0), 64);  // 63.5
  CHECK_EQUAL(written(MTL_FORMAT_R16_FLOAT, 65520, 0, 0, 0), 0x7c00);
  CHECK_EQUAL(written(MTL_FORMAT_R16_FLOAT, 1 + 0x1p-11f, 0, 0, 0), 0x3c00);
  // 1 + 1/128 lies between 1 and 1 + 1/64, and goes to even.
  CHECK_EQUAL(written(MTL_FORMAT_RG11B10_FLOAT, 1 + 0x1p-7f, -1, 1e9f, 0),
              15 << 6 | 31u << 27);
  // 1023.5 needs an exponent of 10: 511.75 units of 2 become 512 = 256 * 4.
  CHECK_EQUAL(written(MTL_FORMAT_RGB9E5_FLOAT, 1023.5f, 0, 0, 0),
              256 | 26u << 27);
  CHECK_EQUAL(written(MTL_FORMAT_RGB10A2_UNORM, 1, 0, 0.5f, 0.5f),
              1023 | 512 << 20 | 2u << 30);
}

TEST(texture_formats, every_srgb_byte_survives) {
  for (int byte = 0; byte < 256; byte += 5) {
    CHECK_EQUAL(written(MTL_FORMAT_R8_UNORM_SRGB, (float)linear(byte), 0, 0, 0),
                byte);
  }
  // Both sides of the middle between two bytes.
  CHECK_EQUAL(
      written(MTL_FORMAT_R8_UNORM_SRGB, (float)linear(100.49), 0, 0, 0), 100);
  CHECK_EQUAL(
      written(MTL_FORMAT_R8_UNORM_SRGB, (float)linear(100.51), 0, 0, 0), 101);
}

typedef struct integer_case {
  mtl_pixel_format format;
  uint32_t texel[4];
  int64_t value[4];
} integer_case;

static const integer_case integer_cases[] = {
    {MTL_FORMAT_R8_UINT, {200}, {200, 0, 0, 1}},
    {MTL_FORMAT_R8_SINT, {0x80}, {-128, 0, 0, 1}},
    {MTL_FORMAT_R16_UINT, {65535}, {65535, 0, 0, 1}},
    {MTL_FORMAT_R16_SINT, {0xfffe}, {-2, 0, 0, 1}},
    {MTL_FORMAT_RG8_UINT, {0x0201}, {1, 2, 0, 1}},
    {MTL_FORMAT_RG8_SINT, {0xff7f}, {127, -1, 0, 1}},
    {MTL_FORMAT_R32_UINT, {0xffffffff}, {0xffffffff, 0, 0, 1}},
    {MTL_FORMAT_R32_SINT, {0x80000000}, {INT32_MIN, 0, 0, 1}},
    {MTL_FORMAT_RG16_UINT, {0x00020001}, {1, 2, 0, 1}},
    {MTL_FORMAT_RG16_SINT, {0x8000ffff}, {-1, -32768, 0, 1}},
    {MTL_FORMAT_RGBA8_UINT, {0x04030201}, {1, 2, 3, 4}},
    {MTL_FORMAT_RGBA8_SINT, {0xfcfdfeff}, {-1, -2, -3, -4}},
    {MTL_FORMAT_RGB10A2_UINT, {3u << 30 | 3 << 20 | 2 << 10 | 1}, {1, 2, 3, 3}},
    {MTL_FORMAT_RG32_UINT, {7, 8}, {7, 8, 0, 1}},
    {MTL_FORMAT_RG32_SINT, {7, 0xffffffff}, {7, -1, 0, 1}},
    {MTL_FORMAT_RGBA16_UINT, {0x00020001, 0x00040003}, {1, 2, 3, 4}},
    {MTL_FORMAT_RGBA16_SINT, {0xfffeffff, 0xfffcfffd}, {-1, -2, -3, -4}},
    {MTL_FORMAT_RGBA32_UINT, {1, 2, 3, 4}, {1, 2, 3, 4}},
    {MTL_FORMAT_RGBA32_SINT, {1, 0xfffffffe, 3, 4}, {1, -2, 3, 4}},
};

static bool is_signed(const integer_case *it) {
  return it->value[0] < 0 || it->value[1] < 0 ||
         it->format == MTL_FORMAT_RG8_SINT ||
         it->format == MTL_FORMAT_RG32_SINT;
}

TEST(texture_formats, integers_are_read_and_written) {
  for (size_t i = 0; i < COUNT_OF(integer_cases); i++) {
    const integer_case *it = &integer_cases[i];
    const size_t bytes = mtl_pixel_format_bytes(it->format);
    mtl_texture *texture = new_texture_2d(it->format, 2, 1);
    uint32_t texels[8] = {0}, color[4];
    memcpy((char *)texels + bytes, it->texel, bytes);
    put_texels(texture, texels);
    mtl_buffer *buffer = new_buffer(16);
    run_copy(is_signed(it) ? "read_int" : "read_uint", texture, buffer);
    for (int c = 0; c < 4; c++) {
      color[c] = (uint32_t)it->value[c];
      CHECK_EQUAL(words(buffer)[c], color[c]);
    }
    mtl_texture *target = new_texture_2d(it->format, 2, 1);
    run_copy(is_signed(it) ? "write_int" : "write_uint", target,
             BUFFER_OF(color));
    uint32_t back[8] = {0};
    get_texels(target, back);
    CHECK(memcmp(texels, back, sizeof back) == 0);
  }
}

TEST(texture_formats, integers_out_of_range_become_the_nearest) {
  mtl_texture *texture = new_texture_2d(MTL_FORMAT_RGBA8_SINT, 2, 1);
  const int32_t color[4] = {1000, -1000, 5, INT32_MIN};
  run_copy("write_int", texture, BUFFER_OF(color));
  uint32_t texels[2];
  get_texels(texture, texels);
  CHECK_EQUAL(texels[1], 0x8005807f);
}

TEST(texture_formats, halves_are_rounded_from_the_texel) {
  mtl_texture *texture = new_texture_2d(MTL_FORMAT_RGBA8_UNORM, 2, 1);
  put_texels(texture, (uint32_t[2]){0, 0xff000001});
  mtl_buffer *buffer = new_buffer(8);
  run_copy("read_half", texture, buffer);
  CHECK_EQUAL(words(buffer)[0], 0x1c04);  // 1/255 = 2^-8 * 1.00390625
  CHECK_EQUAL(words(buffer)[1], 0x3c000000);
}

TEST(texture_formats, views_swizzle) {
  mtl_texture *texture = new_texture_2d(MTL_FORMAT_RGBA8_UINT, 2, 1);
  put_texels(texture, (uint32_t[2]){0, 0x04030201});
  mtl_texture *view = NULL;
  CHECK_OK(mtl_texture_create_view(
      texture,
      &(mtl_texture_view_desc){.swizzle = {MTL_SWIZZLE_ALPHA, MTL_SWIZZLE_ONE,
                                           MTL_SWIZZLE_RED, MTL_SWIZZLE_ZERO}},
      &view));
  mtl_buffer *buffer = new_buffer(16);
  run_copy("read_uint", view, buffer);
  mtl_texture_release(view);
  CHECK_EQUAL(words(buffer)[0], 4);
  CHECK_EQUAL(words(buffer)[1], 1);
  CHECK_EQUAL(words(buffer)[2], 1);
  CHECK_EQUAL(words(buffer)[3], 0);
}
