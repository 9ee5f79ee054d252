// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// texture_binding.c: reads the words that bind textures and samplers, and
// knows which arrays hold which pixel formats.
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "cli/bind/binding.h"
#include "cli/base/suggest.h"

// Order matters: texture_format_for returns the first match.
static const texture_format formats[] = {
    {"r32Float", MTL_FORMAT_R32_FLOAT, VALUE_F32, 1},
    {"rg32Float", MTL_FORMAT_RG32_FLOAT, VALUE_F32, 2},
    {"rgba32Float", MTL_FORMAT_RGBA32_FLOAT, VALUE_F32, 4},
    {"r16Float", MTL_FORMAT_R16_FLOAT, VALUE_F16, 1},
    {"rg16Float", MTL_FORMAT_RG16_FLOAT, VALUE_F16, 2},
    {"rgba16Float", MTL_FORMAT_RGBA16_FLOAT, VALUE_F16, 4},
    {"r8Unorm", MTL_FORMAT_R8_UNORM, VALUE_U8, 1},
    {"rg8Unorm", MTL_FORMAT_RG8_UNORM, VALUE_U8, 2},
    {"rgba8Unorm", MTL_FORMAT_RGBA8_UNORM, VALUE_U8, 4},
    {"r8Uint", MTL_FORMAT_R8_UINT, VALUE_U8, 1},
    {"rg8Uint", MTL_FORMAT_RG8_UINT, VALUE_U8, 2},
    {"rgba8Uint", MTL_FORMAT_RGBA8_UINT, VALUE_U8, 4},
    {"r8Snorm", MTL_FORMAT_R8_SNORM, VALUE_I8, 1},
    {"rg8Snorm", MTL_FORMAT_RG8_SNORM, VALUE_I8, 2},
    {"rgba8Snorm", MTL_FORMAT_RGBA8_SNORM, VALUE_I8, 4},
    {"r8Sint", MTL_FORMAT_R8_SINT, VALUE_I8, 1},
    {"rg8Sint", MTL_FORMAT_RG8_SINT, VALUE_I8, 2},
    {"rgba8Sint", MTL_FORMAT_RGBA8_SINT, VALUE_I8, 4},
    {"r16Unorm", MTL_FORMAT_R16_UNORM, VALUE_U16, 1},
    {"rg16Unorm", MTL_FORMAT_RG16_UNORM, VALUE_U16, 2},
    {"rgba16Unorm", MTL_FORMAT_RGBA16_UNORM, VALUE_U16, 4},
    {"r16Uint", MTL_FORMAT_R16_UINT, VALUE_U16, 1},
    {"rg16Uint", MTL_FORMAT_RG16_UINT, VALUE_U16, 2},
    {"rgba16Uint", MTL_FORMAT_RGBA16_UINT, VALUE_U16, 4},
    {"r16Snorm", MTL_FORMAT_R16_SNORM, VALUE_I16, 1},
    {"rg16Snorm", MTL_FORMAT_RG16_SNORM, VALUE_I16, 2},
    {"rgba16Snorm", MTL_FORMAT_RGBA16_SNORM, VALUE_I16, 4},
    {"r16Sint", MTL_FORMAT_R16_SINT, VALUE_I16, 1},
    {"rg16Sint", MTL_FORMAT_RG16_SINT, VALUE_I16, 2},
    {"rgba16Sint", MTL_FORMAT_RGBA16_SINT, VALUE_I16, 4},
    {"r32Uint", MTL_FORMAT_R32_UINT, VALUE_U32, 1},
    {"rg32Uint", MTL_FORMAT_RG32_UINT, VALUE_U32, 2},
    {"rgba32Uint", MTL_FORMAT_RGBA32_UINT, VALUE_U32, 4},
    {"r32Sint", MTL_FORMAT_R32_SINT, VALUE_I32, 1},
    {"rg32Sint", MTL_FORMAT_RG32_SINT, VALUE_I32, 2},
    {"rgba32Sint", MTL_FORMAT_RGBA32_SINT, VALUE_I32, 4},
    {"a8Unorm", MTL_FORMAT_A8_UNORM, VALUE_U8, 1},
    {"r8Unorm_srgb", MTL_FORMAT_R8_UNORM_SRGB, VALUE_U8, 1},
    {"rg8Unorm_srgb", MTL_FORMAT_RG8_UNORM_SRGB, VALUE_U8, 2},
    {"rgba8Unorm_srgb", MTL_FORMAT_RGBA8_UNORM_SRGB, VALUE_U8, 4},
    {"bgra8Unorm", MTL_FORMAT_BGRA8_UNORM, VALUE_U8, 4},
    {"bgra8Unorm_srgb", MTL_FORMAT_BGRA8_UNORM_SRGB, VALUE_U8, 4},
    {"b5g6r5Unorm", MTL_FORMAT_B5G6R5_UNORM, VALUE_U16, 1},
    {"a1bgr5Unorm", MTL_FORMAT_A1BGR5_UNORM, VALUE_U16, 1},
    {"abgr4Unorm", MTL_FORMAT_ABGR4_UNORM, VALUE_U16, 1},
    {"bgr5A1Unorm", MTL_FORMAT_BGR5A1_UNORM, VALUE_U16, 1},
    {"rgb10a2Unorm", MTL_FORMAT_RGB10A2_UNORM, VALUE_U32, 1},
    {"rgb10a2Uint", MTL_FORMAT_RGB10A2_UINT, VALUE_U32, 1},
    {"rg11b10Float", MTL_FORMAT_RG11B10_FLOAT, VALUE_U32, 1},
    {"rgb9e5Float", MTL_FORMAT_RGB9E5_FLOAT, VALUE_U32, 1},
    {"bgr10a2Unorm", MTL_FORMAT_BGR10A2_UNORM, VALUE_U32, 1},
    {"depth16Unorm", MTL_FORMAT_DEPTH16_UNORM, VALUE_U16, 1},
    {"depth32Float", MTL_FORMAT_DEPTH32_FLOAT, VALUE_F32, 1},
};
enum { FORMAT_COUNT = sizeof formats / sizeof *formats };

const texture_format *texture_format_find(mtl_pixel_format format) {
  for (size_t i = 0; i < FORMAT_COUNT; ++i) {
    if (formats[i].format == format) {
      return &formats[i];
    }
  }
  return NULL;
}

const texture_format *texture_format_for(value_type type, uint32_t components,
                                         mtl_data_type metal, bool is_depth) {
  const bool reads_integers = metal != MTL_TYPE_FLOAT &&
                              metal != MTL_TYPE_HALF && metal != MTL_TYPE_NONE;
  for (size_t i = 0; i < FORMAT_COUNT; ++i) {
    const bool is_integer = strstr(formats[i].name, "int") != NULL;
    const bool holds_depth = strncmp(formats[i].name, "depth", 5) == 0;
    if (formats[i].type == type && formats[i].components == components &&
        is_integer == reads_integers && holds_depth == is_depth) {
      return &formats[i];
    }
  }
  return NULL;
}

static bool take_format(const char *name, size_t length,
                        kernel_binding *binding, cli_error *error) {
  for (size_t i = 0; i < FORMAT_COUNT; ++i) {
    if (strlen(formats[i].name) == length &&
        memcmp(formats[i].name, name, length) == 0) {
      binding->format = formats[i].format;
      return true;
    }
  }
  const char *names[FORMAT_COUNT];
  for (size_t i = 0; i < FORMAT_COUNT; ++i) {
    names[i] = formats[i].name;
  }
  char suggestion[CLI_SUGGESTION_SIZE];
  cli_suggest(suggestion, name, length, names, FORMAT_COUNT);
  return cli_fail(error, CLI_USAGE,
                  "'%.*s' is no pixel format: Metal's are, as rgba8Unorm%s",
                  length > 40 ? 40 : (int)length, name, suggestion);
}

// "@file.npy" or "@file.npy:FORMAT", where a path may have colons of its own.
static bool parse_file(const char *word, kernel_binding *binding,
                       cli_error *error) {
  size_t length = strlen(word);
  const char *const colon = strrchr(word, ':');
  if (colon != NULL && strchr(colon, '/') == NULL &&
      strchr(colon, '.') == NULL) {
    length = (size_t)(colon - word);
    if (!take_format(colon + 1, strlen(colon + 1), binding, error)) {
      return false;
    }
  }
  if (length == 0) {
    return cli_fail(error, CLI_USAGE, "a file's name is missing behind @");
  }
  binding->path_name = strndup(word, length);
  return binding->path_name != NULL ||
         cli_fail(error, CLI_FAILED, "out of memory");
}

bool texture_binding_parse(const char *word, kernel_binding *binding,
                           cli_error *error) {
  if (word[0] == '@') {
    return parse_file(word + 1, binding, error);
  }
  const char *const end = strrchr(word, '.');
  if (end != NULL && (strcmp(end, ".npy") == 0 || strcmp(end, ".png") == 0)) {
    return cli_fail(error, CLI_USAGE,
                    "a file's name begins with @; did you mean '@%.100s'?",
                    word);
  }
  const size_t length = strcspn(word, ":");
  if (isdigit((unsigned char)word[0])) {
    return size_parse("size", word, binding->size, error);
  }
  if (strncmp(word, "like:", 5) == 0 && word[5] != '\0') {
    binding->like = word + 5;
    return true;
  }
  if (word[length] == '\0') {
    return cli_fail(error, CLI_USAGE,
                    "@FILE, X,Y, FORMAT:X,Y or like:TEXTURE is needed");
  }
  return take_format(word, length, binding, error) &&
         size_parse("size", word + length + 1, binding->size, error);
}

static const char *const addresses[] = {
    [MTL_ADDRESS_CLAMP_TO_EDGE] = "clamp_to_edge",
    [MTL_ADDRESS_REPEAT] = "repeat",
    [MTL_ADDRESS_MIRROR_REPEAT] = "mirrored_repeat",
    [MTL_ADDRESS_CLAMP_TO_ZERO] = "clamp_to_zero",
    [MTL_ADDRESS_CLAMP_TO_BORDER_COLOR] = "clamp_to_border",
};
enum { ADDRESS_COUNT = sizeof addresses / sizeof *addresses };

static bool fail_sampler_word(const char *word, size_t length,
                              cli_error *error) {
  const char *names[ADDRESS_COUNT + 4] = {"nearest", "linear", "pixel",
                                          "normalized"};
  memcpy(names + 4, addresses, sizeof addresses);
  char suggestion[CLI_SUGGESTION_SIZE];
  cli_suggest(suggestion, word, length, names, ADDRESS_COUNT + 4);
  return cli_fail(error, CLI_USAGE,
                  "'%.*s' says nothing of a sampler: nearest, linear, repeat "
                  "or pixel do, for instance%s",
                  length > 40 ? 40 : (int)length, word, suggestion);
}

static bool take_sampler_word(const char *word, size_t length,
                              mtl_sampler_desc *sampler) {
  for (size_t i = 0; i < ADDRESS_COUNT; ++i) {
    if (addresses[i] != NULL && strlen(addresses[i]) == length &&
        memcmp(addresses[i], word, length) == 0) {
      sampler->s_address = sampler->t_address = sampler->r_address =
          (mtl_address_mode)i;
      return true;
    }
  }
  const bool is_linear = length == 6 && memcmp(word, "linear", 6) == 0;
  if (is_linear || (length == 7 && memcmp(word, "nearest", 7) == 0)) {
    sampler->min_filter = sampler->mag_filter =
        is_linear ? MTL_FILTER_LINEAR : MTL_FILTER_NEAREST;
    return true;
  }
  sampler->is_pixel_coordinates = length == 5 && memcmp(word, "pixel", 5) == 0;
  return sampler->is_pixel_coordinates ||
         (length == 10 && memcmp(word, "normalized", 10) == 0);
}

bool sampler_binding_parse(const char *word, kernel_binding *binding,
                           cli_error *error) {
  for (;;) {
    const size_t length = strcspn(word, ",");
    if (!take_sampler_word(word, length, &binding->sampler)) {
      return fail_sampler_word(word, length, error);
    }
    if (word[length] == '\0') {
      return true;
    }
    word += length + 1;
  }
}
