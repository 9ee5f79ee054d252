// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// png_texels.c: from a picture's samples to texels of a pixel format and back.
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/bind/png.h"

bool png_is_one(const char *path) {
  const size_t length = strlen(path);
  return length > 4 && strcasecmp(path + length - 4, ".png") == 0;
}

// Formats whose components are plain unsigned numbers or floats. The names say
// what they are, as Metal's do.
static bool is_integer(const texture_format *format) {
  return strstr(format->name, "Uint") != NULL;
}

static bool is_bgra(const texture_format *format) {
  return strncmp(format->name, "bgra8", 5) == 0;
}

static bool can_hold(const texture_format *format) {
  const bool is_plain = strstr(format->name, "Unorm") != NULL ||
                        strstr(format->name, "Uint") != NULL ||
                        strstr(format->name, "Float") != NULL;
  const uint32_t texel_bytes =
      format->components * value_type_get_info(format->type)->size_bytes;
  const bool is_packed =  // several components in one number
      format->components == 1 && format->name[0] != 'r' &&
      format->name[0] != 'd' && format->name[0] != 'a';
  const bool is_packed_rgb =
      format->components == 1 && (strncmp(format->name, "rg", 2) == 0 ||
                                  strncmp(format->name, "a1", 2) == 0 ||
                                  strncmp(format->name, "ab", 2) == 0);
  return is_plain && !is_packed && !is_packed_rgb && texel_bytes > 0 &&
         format->type != VALUE_U32;
}

static bool fail_format(const char *path, const texture_format *format,
                        cli_error *error) {
  return cli_fail(error, CLI_FAILED,
                  "%s: a PNG file holds numbers of 8 or 16 bits from 0 up, "
                  "which %s are not: .npy files hold them",
                  path, format->name);
}

const texture_format *png_format_for(const png_picture *picture,
                                     mtl_data_type metal, bool is_depth) {
  const uint32_t components = picture->channels == 1 ? 1 : 4;
  const value_type type =
      picture->bits == 16 || is_depth ? VALUE_U16 : VALUE_U8;
  return texture_format_for(type, components, metal, is_depth);
}

static uint32_t sample_at(const png_picture *picture, size_t index) {
  if (picture->bits == 8) {
    return picture->samples[index];
  }
  uint16_t sample;
  memcpy(&sample, picture->samples + 2 * index, sizeof sample);
  return sample;
}

// Reads a texel's red, green, blue and alpha from any picture.
static void read_color(const png_picture *picture, size_t texel,
                       uint32_t color[4]) {
  const uint32_t channels = picture->channels;
  const size_t first = texel * channels;
  const bool is_gray = channels < 3;
  for (uint32_t i = 0; i < 3; ++i) {
    color[i] = sample_at(picture, first + (is_gray ? 0 : i));
  }
  color[3] = channels % 2 == 0 ? sample_at(picture, first + channels - 1)
                               : (1u << picture->bits) - 1;
}

// Stores one sample of that many bits as a component of type.
static void store(value_type type, bool as_integer, uint32_t sample,
                  uint32_t bits, unsigned char *target) {
  const uint32_t most = (1u << bits) - 1;
  uint16_t wide;
  switch (type) {
    case VALUE_U8:
      *target = as_integer || bits == 8
                    ? (unsigned char)sample
                    : (unsigned char)((sample * 255u + 32767u) / 65535u);
      break;
    case VALUE_U16:
      wide = as_integer || bits == 16 ? (uint16_t)sample
                                      : (uint16_t)(sample * 257u);
      memcpy(target, &wide, sizeof wide);
      break;
    case VALUE_F16:
      wide = value_half_from_double((double)sample / most);
      memcpy(target, &wide, sizeof wide);
      break;
    default: {
      const float number = (float)((double)sample / most);
      memcpy(target, &number, sizeof number);
    }
  }
}

bool png_to_texels(const char *path, const png_picture *picture,
                   const texture_format *format, void *texels,
                   cli_error *error) {
  const uint32_t size_bytes = value_type_get_info(format->type)->size_bytes;
  if (!can_hold(format)) {
    return fail_format(path, format, error);
  }
  if (is_integer(format) && picture->bits > size_bytes * 8) {
    return cli_fail(error, CLI_FAILED, "%s: %u bits do not fit %s", path,
                    picture->bits, format->name);
  }
  const bool is_alpha = format->name[0] == 'a';
  if (format->components < 4 && !is_alpha &&
      picture->channels > format->components) {
    return cli_fail(error, CLI_FAILED,
                    "%s: %u channels do not fit %s; @FILE:FORMAT can name "
                    "another format",
                    path, picture->channels, format->name);
  }
  unsigned char *next = texels;
  const size_t count = (size_t)picture->width * picture->height;
  for (size_t i = 0; i < count; ++i) {
    uint32_t color[4];
    read_color(picture, i, color);
    if (is_bgra(format)) {
      const uint32_t red = color[0];
      color[0] = color[2];
      color[2] = red;
    } else if (is_alpha) {
      color[0] = color[3];
    } else if (format->components == 2) {
      color[1] = picture->channels == 2 ? color[3] : 0;
    }
    for (uint32_t c = 0; c < format->components; ++c) {
      store(format->type, is_integer(format), color[c], picture->bits, next);
      next += size_bytes;
    }
  }
  return true;
}

// Returns a float from 0 to 1 as 8 bits; NaN is 0.
static unsigned char to_byte(double number) {
  return number > 0 ? (unsigned char)(number < 1 ? number * 255 + 0.5 : 255)
                    : 0;
}

static unsigned char byte_of(value_type type, const unsigned char *value) {
  if (type == VALUE_F16) {
    uint16_t bits;
    memcpy(&bits, value, sizeof bits);
    return to_byte(value_half_to_double(bits));
  }
  if (type == VALUE_F32) {
    float number;
    memcpy(&number, value, sizeof number);
    return to_byte((double)number);
  }
  return *value;
}

bool png_from_texels(const char *path, const void *texels,
                     const texture_format *format, uint32_t width,
                     uint32_t height, png_picture *out_picture,
                     cli_error *error) {
  static const uint32_t channels_of[] = {0, 1, 3, 3, 4};
  const uint32_t size_bytes = value_type_get_info(format->type)->size_bytes;
  const bool is_wide = format->type == VALUE_U16;
  *out_picture = (png_picture){.width = width,
                               .height = height,
                               .channels = channels_of[format->components],
                               .bits = is_wide ? 16 : 8};
  if (!can_hold(format)) {
    return fail_format(path, format, error);
  }
  const size_t count = (size_t)width * height;
  const uint32_t sample_bytes = is_wide ? 2 : 1;
  out_picture->samples = calloc(count + 1, (size_t)4 * sample_bytes);
  if (out_picture->samples == NULL) {
    return cli_fail(error, CLI_FAILED, "%s: out of memory", path);
  }
  const unsigned char *next = texels;
  for (size_t i = 0; i < count; ++i) {
    unsigned char *target =
        out_picture->samples + i * out_picture->channels * sample_bytes;
    for (uint32_t c = 0; c < format->components; ++c) {
      const uint32_t place = is_bgra(format) && c < 3 ? 2 - c : c;
      if (is_wide) {
        memcpy(target + 2 * place, next, 2);
      } else {
        target[place] = byte_of(format->type, next);
      }
      next += size_bytes;
    }
  }
  return true;
}
