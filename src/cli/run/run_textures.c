// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// run_textures.c: from bindings to textures and samplers, and from textures to
// arrays. An array has the texture's sides from the slowest on, then components
// if a texel has more than one; layers and faces come first.
#include <stdlib.h>
#include <string.h>

#include "cli/bind/png.h"
#include "cli/run/run_buffers.h"

// Returns the number of dimensions of the arrays for a texture type.
static uint32_t side_count(mtl_texture_type type) {
  switch (type) {
    case MTL_TEXTURE_1D:
    case MTL_TEXTURE_BUFFER: return 1;
    case MTL_TEXTURE_1D_ARRAY:
    case MTL_TEXTURE_2D: return 2;
    case MTL_TEXTURE_2D_ARRAY:
    case MTL_TEXTURE_CUBE:
    case MTL_TEXTURE_CUBE_ARRAY:
    case MTL_TEXTURE_3D: return 3;
    default: return 0;
  }
}

static bool is_cube(mtl_texture_type type) {
  return type == MTL_TEXTURE_CUBE || type == MTL_TEXTURE_CUBE_ARRAY;
}

static uint32_t slice_count(mtl_texture_type type, const uint32_t size[3]) {
  switch (type) {
    case MTL_TEXTURE_1D_ARRAY: return size[1];
    case MTL_TEXTURE_2D_ARRAY:
    case MTL_TEXTURE_CUBE:
    case MTL_TEXTURE_CUBE_ARRAY: return size[2];
    default: return 1;
  }
}

// The sides and the format of a file's array.
static bool measure_array(const mtl_argument *argument, kernel_binding *binding,
                          cli_error *error) {
  const npy_array *const array = &binding->array;
  const uint32_t sides = side_count(argument->texture_type);
  const uint32_t rest = array->dimension_count - sides;
  if (array->dimension_count < sides || rest > 1 || array->fortran_order ||
      array->struct_bytes > 0) {
    return cli_fail(error, CLI_FAILED,
                    "%s: a %s needs an array of %u dimensions in C's order, or "
                    "%u with components",
                    binding->path_name, argument->type_name, sides, sides + 1);
  }
  const uint64_t components = rest ? array->shape[sides] : 1;
  for (uint32_t i = 0; i < 3; ++i) {
    const uint64_t side = i < sides ? array->shape[sides - 1 - i] : 1;
    if (side > UINT32_MAX) {
      return cli_fail(error, CLI_FAILED, "%s: a side is too long",
                      binding->path_name);
    }
    binding->size[i] = (uint32_t)side;
  }
  if (binding->format == MTL_FORMAT_NONE && components <= 4) {
    const texture_format *const found =
        texture_format_for(array->type, (uint32_t)components, argument->type,
                           argument->is_depth_texture);
    binding->format = found ? found->format : MTL_FORMAT_NONE;
  }
  if (binding->format == MTL_FORMAT_NONE) {
    return cli_fail(error, CLI_FAILED,
                    "%s: no pixel format has %llu components of type %s for "
                    "a %s; @FILE:FORMAT can name one",
                    binding->path_name, (unsigned long long)components,
                    value_type_get_info(array->type)->name,
                    argument->type_name);
  }
  const uint64_t texel_bytes =
      components * value_type_get_info(array->type)->size_bytes;
  return texel_bytes == mtl_pixel_format_bytes(binding->format) ||
         cli_fail(error, CLI_FAILED,
                  "%s: a texel of %s has %zu bytes, the array has %llu",
                  binding->path_name,
                  texture_format_find(binding->format)->name,
                  mtl_pixel_format_bytes(binding->format),
                  (unsigned long long)texel_bytes);
}

// The array of a texture without a file.
static bool describe_zeros(const mtl_argument *argument,
                           kernel_binding *binding, cli_error *error) {
  const texture_format *const format = texture_format_find(binding->format);
  const uint32_t sides = side_count(argument->texture_type);
  if (argument->texture_type == MTL_TEXTURE_CUBE) {
    binding->size[2] = 6;
  }
  uint64_t count = format->components;
  for (int i = 0; i < 3; ++i) {
    if ((uint32_t)i >= sides && binding->size[i] != 1) {
      return cli_fail(error, CLI_FAILED, "tex%u: a %s has %u sides",
                      binding->index, argument->type_name, sides);
    }
    if (__builtin_mul_overflow(count, binding->size[i], &count)) {
      count = UINT64_MAX;
    }
  }
  npy_array *const array = &binding->array;
  if (!npy_describe(format->type, count, array)) {
    return cli_fail(error, CLI_FAILED, "tex%u: larger than memory can be",
                    binding->index);
  }
  array->dimension_count = sides + (format->components > 1);
  for (uint32_t i = 0; i < sides; ++i) {
    array->shape[sides - 1 - i] = binding->size[i];
  }
  if (format->components > 1) {
    array->shape[sides] = format->components;
  }
  return true;
}

static bool make_room(const kernel_binding *binding, unsigned char **out_texels,
                      cli_error *error) {
  *out_texels = calloc(1, binding->array.data_bytes + 1);
  return *out_texels != NULL ||
         cli_fail(error, CLI_FAILED, "out of memory: texture %u has %llu bytes",
                  binding->index,
                  (unsigned long long)binding->array.data_bytes);
}

// Makes texels of a picture, in the format that was given or one for it.
static bool take_picture(const mtl_argument *argument, kernel_binding *binding,
                         const png_picture *picture, unsigned char **out_texels,
                         cli_error *error) {
  const texture_format *format =
      binding->format
          ? texture_format_find(binding->format)
          : png_format_for(picture, argument->type, argument->is_depth_texture);
  if (format == NULL) {
    return cli_fail(error, CLI_FAILED,
                    "%s: no format is known for a %s; @FILE:FORMAT can name "
                    "one",
                    binding->path_name, argument->type_name);
  }
  binding->format = format->format;
  binding->size[0] = picture->width;
  binding->size[1] = picture->height;
  binding->size[2] = 1;
  return describe_zeros(argument, binding, error) &&
         make_room(binding, out_texels, error) &&
         png_to_texels(binding->path_name, picture, format, *out_texels, error);
}

static bool read_picture(const mtl_argument *argument, kernel_binding *binding,
                         unsigned char **out_texels, cli_error *error) {
  if (argument->texture_type != MTL_TEXTURE_2D) {
    return cli_fail(error, CLI_FAILED,
                    "%s: a PNG file is no %s: .npy files have other sides",
                    binding->path_name, argument->type_name);
  }
  png_picture picture;
  const bool ok = png_read(binding->path_name, &picture, error) &&
                  take_picture(argument, binding, &picture, out_texels, error);
  free(picture.samples);
  return ok;
}

static bool read_texels(const mtl_argument *argument, kernel_binding *binding,
                        unsigned char **out_texels, cli_error *error) {
  if (binding->path_name == NULL) {
    return describe_zeros(argument, binding, error) &&
           make_room(binding, out_texels, error);
  }
  if (png_is_one(binding->path_name)) {
    return read_picture(argument, binding, out_texels, error);
  }
  FILE *file;
  if (!npy_open(binding->path_name, &binding->array, &file, error)) {
    return false;
  }
  const bool ok = measure_array(argument, binding, error) &&
                  make_room(binding, out_texels, error) &&
                  npy_read_data(binding->path_name, file, &binding->array,
                                *out_texels, error);
  fclose(file);
  return ok;
}

// Hands each slice to one of the two functions that copy regions.
static mtl_status copy_slices(const kernel_binding *binding,
                              mtl_texture *texture, unsigned char *texels,
                              bool is_upload) {
  const mtl_texture_type type = mtl_texture_info(texture)->type;
  const uint32_t slices = slice_count(type, binding->size);
  const size_t slice_bytes = binding->array.data_bytes / slices;
  const mtl_region region = {
      .width = binding->size[0],
      .height = type == MTL_TEXTURE_1D_ARRAY ? 1 : binding->size[1],
      .depth = type == MTL_TEXTURE_3D ? binding->size[2] : 1};
  mtl_status status = MTL_OK;
  for (uint32_t i = 0; i < slices && status == MTL_OK; ++i) {
    unsigned char *const slice = texels + i * slice_bytes;
    status =
        is_upload
            ? mtl_texture_replace_region(texture, region, 0, i, slice, 0, 0)
            : mtl_texture_get_bytes(texture, region, 0, i, slice, 0, 0);
  }
  return status;
}

static mtl_status create_texture(const run_state *state,
                                 const mtl_argument *argument,
                                 const kernel_binding *binding,
                                 mtl_texture **out_texture) {
  const mtl_texture_type type = argument->texture_type;
  const uint32_t *const size = binding->size;
  const uint32_t slices = slice_count(type, size);
  const mtl_texture_desc desc = {
      .type = type,
      .pixel_format = binding->format,
      .width = size[0],
      .height = type == MTL_TEXTURE_1D_ARRAY ? 1 : size[1],
      .depth = type == MTL_TEXTURE_3D ? size[2] : 1,
      .array_length = is_cube(type) ? slices / 6 : slices,
      .label = argument->name};
  return mtl_texture_create(state->program.device, &desc, out_texture);
}

// Chooses a format for a texture of zeros without a given format: wide enough
// for what the kernel writes, or a PNG format if it is saved to one.
static void choose_format(const run_options *options,
                          const mtl_argument *argument,
                          kernel_binding *binding) {
  static const value_type types[] = {
      [MTL_TYPE_CHAR] = VALUE_I8,   [MTL_TYPE_UCHAR] = VALUE_U8,
      [MTL_TYPE_SHORT] = VALUE_I16, [MTL_TYPE_USHORT] = VALUE_U16,
      [MTL_TYPE_INT] = VALUE_I32,   [MTL_TYPE_UINT] = VALUE_U32,
      [MTL_TYPE_HALF] = VALUE_F16,  [MTL_TYPE_FLOAT] = VALUE_F32,
  };
  bool is_picture = false;
  for (size_t i = 0; i < options->output_count; ++i) {
    const run_output *output = &options->outputs[i];
    is_picture |= output->path != NULL && png_is_one(output->path) &&
                  output->table == MTL_ARGUMENT_TEXTURE &&
                  output->index == binding->index;
  }
  const bool is_depth = argument->is_depth_texture;
  const value_type type = is_picture && !is_depth ? VALUE_U8
                          : argument->type <= MTL_TYPE_FLOAT
                              ? types[argument->type]
                              : VALUE_F32;
  const texture_format *format =
      texture_format_for(type, is_depth ? 1 : 4, argument->type, is_depth);
  binding->format = format ? format->format : MTL_FORMAT_RGBA32_FLOAT;
}

static bool copy_size(const run_options *options, const run_state *state,
                      kernel_binding *binding, cli_error *error) {
  for (size_t i = 0; i < options->binding_count; ++i) {
    const kernel_binding *other = &options->bindings[i];
    const mtl_argument *argument = run_find_argument(state, other);
    if (other->kind == BINDING_TEXTURE && other != binding &&
        other->like == NULL && argument != NULL &&
        strcmp(argument->name, binding->like) == 0) {
      memcpy(binding->size, other->size, sizeof binding->size);
      binding->format = other->format;
      return true;
    }
  }
  return cli_fail(error, CLI_USAGE,
                  "binding %.200s: there is no texture '%.40s' with a size of "
                  "its own",
                  binding->word, binding->like);
}

static bool make_texture(const run_options *options, const run_state *state,
                         kernel_binding *binding, size_t number,
                         cli_error *error) {
  const mtl_argument *const argument = run_find_argument(state, binding);
  if (argument == NULL) {
    return cli_fail(error, CLI_USAGE, "the kernel has no texture %u",
                    binding->index);
  }
  if (side_count(argument->texture_type) == 0) {
    return cli_fail(error, CLI_FAILED,
                    "argument '%s' is a %s, which the command line cannot bind",
                    argument->name, argument->type_name);
  }
  if (binding->like != NULL && !copy_size(options, state, binding, error)) {
    return false;
  }
  if (binding->path_name == NULL && binding->format == MTL_FORMAT_NONE) {
    choose_format(options, argument, binding);
  }
  if (!read_texels(argument, binding, &state->texels[number], error)) {
    return false;
  }
  if (!binding->size[0] || !binding->size[1] || !binding->size[2]) {
    return cli_fail(error, CLI_FAILED, "tex%u: a side is 0", binding->index);
  }
  if (is_cube(argument->texture_type) &&
      (binding->size[2] % 6 != 0 ||
       (argument->texture_type == MTL_TEXTURE_CUBE && binding->size[2] != 6))) {
    return cli_fail(error, CLI_FAILED,
                    "tex%u: a %s has 6 layers a cube, not %u", binding->index,
                    argument->type_name, binding->size[2]);
  }
  mtl_status status =
      create_texture(state, argument, binding, &state->textures[number]);
  if (status == MTL_OK) {
    status = copy_slices(binding, state->textures[number],
                         state->texels[number], true);
  }
  return status == MTL_OK || cli_fail_status(error, status, argument->name);
}

bool run_make_textures(run_options *options, run_state *state,
                       cli_error *error) {
  const size_t count = options->binding_count;
  state->textures = calloc(count + 1, sizeof *state->textures);
  state->texels = calloc(count + 1, sizeof *state->texels);
  state->samplers = calloc(count + 1, sizeof *state->samplers);
  if (!state->textures || !state->texels || !state->samplers) {
    return cli_fail(error, CLI_FAILED, "out of memory");
  }
  state->has_textures = true;
  // Textures that copy another one's size come after it.
  for (size_t i = 0; i < 2 * count; ++i) {
    kernel_binding *const binding = &options->bindings[i % count];
    if (binding->kind == BINDING_TEXTURE &&
        (binding->like != NULL) == (i >= count) &&
        !make_texture(options, state, binding, i % count, error)) {
      return false;
    }
  }
  for (size_t i = 0; i < count; ++i) {
    kernel_binding *const binding = &options->bindings[i];
    if (binding->kind == BINDING_SAMPLER) {
      const mtl_status status = mtl_sampler_create(
          state->program.device, &binding->sampler, &state->samplers[i]);
      if (status != MTL_OK) {
        return cli_fail_status(error, status, "sampler");
      }
    }
  }
  return true;
}

mtl_status run_restore_textures(const run_options *options,
                                const run_state *state) {
  mtl_status status = MTL_OK;
  for (size_t i = 0; i < options->binding_count && status == MTL_OK; ++i) {
    if (state->textures[i] != NULL) {
      status = copy_slices(&options->bindings[i], state->textures[i],
                           state->texels[i], true);
    }
  }
  return status;
}

mtl_status run_collect_texels(const run_options *options, run_state *state) {
  mtl_status status = MTL_OK;
  for (size_t i = 0; i < options->binding_count && status == MTL_OK; ++i) {
    if (state->textures[i] != NULL) {
      status = copy_slices(&options->bindings[i], state->textures[i],
                           state->texels[i], false);
      state->result.contents[i] = state->texels[i];
    }
  }
  return status;
}

void run_release_textures(run_state *state, size_t binding_count) {
  for (size_t i = 0; i < binding_count && state->has_textures; ++i) {
    mtl_texture_release(state->textures[i]);
    mtl_sampler_release(state->samplers[i]);
    free(state->texels[i]);
  }
  free(state->textures);
  free(state->samplers);
  free(state->texels);
}
