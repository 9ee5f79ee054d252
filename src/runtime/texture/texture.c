// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// texture.c: makes textures and views: checks the descriptor and lays the
// levels out in a buffer, level after level, image after image.
#include "runtime/texture/texture.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  ROW_ALIGNMENT = 16,  // bytes: the least alignment of rows of textures of
                       // buffers
  IMAGE_ALIGNMENT = 64,  // bytes; a cache line
};

// What a texture type allows.
typedef struct type_rules {
  const char *name;  // in MSL
  uint32_t width, height, depth, layers;  // the most of each
  bool has_levels;
  bool has_samples;
} type_rules;

static const type_rules rules[] = {
    [MTL_TEXTURE_1D] = {"texture1d", MTL_MAX_TEXTURE_SIDE, 1, 1, 1, false,
                        false},
    [MTL_TEXTURE_1D_ARRAY] = {"texture1d_array", MTL_MAX_TEXTURE_SIDE, 1, 1,
                              MTL_MAX_TEXTURE_LAYERS, false, false},
    [MTL_TEXTURE_2D] = {"texture2d", MTL_MAX_TEXTURE_SIDE,
                        MTL_MAX_TEXTURE_SIDE, 1, 1, true, false},
    [MTL_TEXTURE_2D_ARRAY] = {"texture2d_array", MTL_MAX_TEXTURE_SIDE,
                              MTL_MAX_TEXTURE_SIDE, 1, MTL_MAX_TEXTURE_LAYERS,
                              true, false},
    [MTL_TEXTURE_2D_MULTISAMPLE] = {"texture2d_ms", MTL_MAX_TEXTURE_SIDE,
                                    MTL_MAX_TEXTURE_SIDE, 1, 1, false, true},
    [MTL_TEXTURE_2D_MULTISAMPLE_ARRAY] = {"texture2d_ms_array",
                                          MTL_MAX_TEXTURE_SIDE,
                                          MTL_MAX_TEXTURE_SIDE, 1,
                                          MTL_MAX_TEXTURE_LAYERS, false, true},
    [MTL_TEXTURE_CUBE] = {"texturecube", MTL_MAX_TEXTURE_SIDE,
                          MTL_MAX_TEXTURE_SIDE, 1, 1, true, false},
    [MTL_TEXTURE_CUBE_ARRAY] = {"texturecube_array", MTL_MAX_TEXTURE_SIDE,
                                MTL_MAX_TEXTURE_SIDE, 1,
                                MTL_MAX_TEXTURE_LAYERS / 6, true, false},
    [MTL_TEXTURE_3D] = {"texture3d", MTL_MAX_TEXTURE_3D_SIDE,
                        MTL_MAX_TEXTURE_3D_SIDE, MTL_MAX_TEXTURE_3D_SIDE, 1,
                        true, false},
    [MTL_TEXTURE_BUFFER] = {"texture_buffer", MTL_MAX_TEXTURE_BUFFER_WIDTH, 1,
                            1, 1, false, false},
};

const char *mtli_texture_type_name(mtl_texture_type type) {
  return type > MTL_TEXTURE_TYPE_DEFAULT && type <= MTL_TEXTURE_BUFFER
             ? rules[type].name
             : "?";
}

static uint32_t max_u32(uint32_t a, uint32_t b) {
  return a > b ? a : b;
}

// Zero means the default.
static void fill_defaults(mtl_texture_desc *desc) {
  desc->type = desc->type == MTL_TEXTURE_TYPE_DEFAULT ? MTL_TEXTURE_2D
                                                      : desc->type;
  desc->height = max_u32(desc->height, 1);
  desc->depth = max_u32(desc->depth, 1);
  desc->level_count = max_u32(desc->level_count, 1);
  desc->array_length = max_u32(desc->array_length, 1);
  if (desc->sample_count == 0 && desc->type >= MTL_TEXTURE_2D_MULTISAMPLE &&
      desc->type <= MTL_TEXTURE_2D_MULTISAMPLE_ARRAY) {
    desc->sample_count = 4;
  }
  desc->sample_count = max_u32(desc->sample_count, 1);
}

static uint32_t most_levels(const mtl_texture_desc *desc) {
  const uint32_t side =
      max_u32(desc->width, max_u32(desc->height, desc->depth));
  return rules[desc->type].has_levels ? 32 - (uint32_t)__builtin_clz(side) : 1;
}

static mtl_status check_counts(const mtl_texture_desc *desc, const char *call) {
  const type_rules *rule = &rules[desc->type];
  if (desc->level_count > most_levels(desc)) {
    return mtli_fail(MTL_INVALID_ARGUMENT,
                     "%s: %u levels; a %s of %ux%ux%u texels has at most %u",
                     call, desc->level_count, rule->name, desc->width,
                     desc->height, desc->depth, most_levels(desc));
  }
  const uint32_t samples = desc->sample_count;
  if (rule->has_samples ? samples != 2 && samples != 4 && samples != 8
                        : samples != 1) {
    return mtli_fail(MTL_INVALID_ARGUMENT,
                     "%s: %u samples; a %s has %s", call, samples, rule->name,
                     rule->has_samples ? "2, 4 or 8" : "1");
  }
  if (mtli_texture_is_cube(desc->type) && desc->width != desc->height) {
    return mtli_fail(MTL_INVALID_ARGUMENT,
                     "%s: the faces of a cube are squares, not %ux%u", call,
                     desc->width, desc->height);
  }
  return MTL_OK;
}

// Checks a descriptor with its defaults filled in.
static mtl_status check_desc(const mtl_texture_desc *desc, const char *call) {
  if ((unsigned)desc->type > MTL_TEXTURE_BUFFER) {
    return mtli_fail(MTL_INVALID_ARGUMENT, "%s: texture type %d does not exist",
                     call, (int)desc->type);
  }
  if (!mtli_pixel_format_find(desc->pixel_format)) {
    return mtli_fail(MTL_INVALID_ARGUMENT,
                     "%s: pixel format %d does not exist, or is none for "
                     "compute",
                     call, (int)desc->pixel_format);
  }
  const type_rules *rule = &rules[desc->type];
  if (desc->width == 0 || desc->width > rule->width ||
      desc->height > rule->height || desc->depth > rule->depth ||
      desc->array_length > rule->layers) {
    return mtli_fail(MTL_INVALID_ARGUMENT,
                     "%s: %ux%ux%u texels and an array length of %u; a %s has "
                     "1x1x1 to %ux%ux%u and at most %u",
                     call, desc->width, desc->height, desc->depth,
                     desc->array_length, rule->name, rule->width, rule->height,
                     rule->depth, rule->layers);
  }
  const uint32_t known = MTL_TEXTURE_USAGE_SHADER_READ |
                         MTL_TEXTURE_USAGE_SHADER_WRITE |
                         MTL_TEXTURE_USAGE_PIXEL_FORMAT_VIEW |
                         MTL_TEXTURE_USAGE_SHADER_ATOMIC;
  if (desc->usage & ~known) {
    return mtli_fail(MTL_INVALID_ARGUMENT, "%s: usage %#x does not exist", call,
                     desc->usage);
  }
  return check_counts(desc, call);
}

static uint64_t round_up(uint64_t value, uint64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

// Places the levels and returns how many bytes they take. Cannot overflow:
// 2^14 * 2^14 * 2^11 texels of 16 bytes and 8 samples are 2^46.
static uint64_t lay_out(mtl_texture *texture) {
  const mtl_texture_desc *desc = &texture->desc;
  mtli_texture_descriptor *descriptor = &texture->descriptor;
  enum { LEVEL_LIMIT = sizeof descriptor->levels / sizeof *descriptor->levels };
  uint64_t used_bytes = 0;
  for (uint32_t i = 0; i < desc->level_count && i < LEVEL_LIMIT; i++) {
    mtli_texture_level *level = &descriptor->levels[i];
    level->width = max_u32(desc->width >> i, 1);
    level->height = max_u32(desc->height >> i, 1);
    level->depth = max_u32(desc->depth >> i, 1);
    const uint64_t row_bytes = (uint64_t)level->width * desc->sample_count *
                               descriptor->texel_bytes;
    level->row_bytes = (uint32_t)round_up(row_bytes, ROW_ALIGNMENT);
    level->image_bytes =
        round_up(round_up(row_bytes, ROW_ALIGNMENT) * level->height,
                 IMAGE_ALIGNMENT);
    level->offset_bytes = used_bytes;
    const uint64_t images =
        (uint64_t)level->depth * mtli_texture_slices(texture);
    used_bytes += images * level->image_bytes;
  }
  return used_bytes;
}

static void texture_destroy(mtli_object *object) {
  mtl_texture *texture = (mtl_texture *)object;
  mtl_buffer *buffer = texture->buffer;
  buffer->device->driver->texture_destroy(texture);
  free(texture->label);
  free(texture);
  mtl_buffer_release(buffer);  // -1
}

// Gives a texture over buffer, which it takes, to the driver; texture is freed
// if that fails.
static mtl_status finish(mtl_texture *texture, mtl_buffer *buffer,
                         mtl_texture **out_texture) {
  mtli_texture_descriptor *descriptor = &texture->descriptor;
  const mtl_texture_desc *desc = &texture->desc;
  texture->buffer = buffer;
  descriptor->texels = buffer->gpu_address + texture->offset_bytes;
  descriptor->array_length = desc->array_length;
  descriptor->level_count = desc->level_count;
  descriptor->sample_count = desc->sample_count;
  texture->desc.label = NULL;
  const mtl_status status = buffer->device->driver->texture_create(texture);
  if (status != MTL_OK) {
    mtl_buffer_release(buffer);  // -1
    free(texture->label);
    free(texture);
    return status;
  }
  *out_texture = texture;
  return MTL_OK;
}

// Makes the object with its format described and its levels laid out.
static mtl_status allocate(mtl_device *device, const mtl_texture_desc *desc,
                           mtl_texture **out_texture) {
  mtl_texture *texture = calloc(1, device->driver->texture_bytes);
  if (!texture) {
    return mtli_fail(MTL_OUT_OF_MEMORY, "no memory for a texture object");
  }
  mtli_object_init(&texture->object, texture_destroy);
  texture->desc = *desc;
  texture->label = mtli_label_copy(desc->label);
  mtli_pixel_format_describe(mtli_pixel_format_find(desc->pixel_format),
                             texture->swizzle, &texture->descriptor);
  *out_texture = texture;
  return MTL_OK;
}

static mtl_status check_length(mtl_device *device, const mtl_texture_desc *desc,
                               uint64_t length_bytes) {
  if (length_bytes <= device->info.max_buffer_bytes) {
    return MTL_OK;
  }
  return mtli_fail(MTL_OUT_OF_MEMORY,
                   "mtl_texture_create: a %s of %ux%ux%u texels takes %" PRIu64
                   " bytes; device '%s' allows %" PRIu64,
                   mtli_texture_type_name(desc->type), desc->width,
                   desc->height, desc->depth, length_bytes, device->info.name,
                   device->info.max_buffer_bytes);
}

static mtl_status check_pointers(const void *owner, const char *owner_name,
                                 const void *desc, const void *out,
                                 const char *call) {
  if (owner && desc && out) {
    return MTL_OK;
  }
  return mtli_fail(MTL_INVALID_ARGUMENT, "%s: %s is NULL", call,
                   !owner  ? owner_name
                   : !desc ? "desc"
                           : "the place for the result");
}

// Checks desc, and makes the object with its levels laid out; *out_bytes is
// their size.
static mtl_status prepare(mtl_device *device, const mtl_texture_desc *desc,
                          const char *call, mtl_texture **out_texture,
                          size_t *out_bytes) {
  MTL_TRY(mtli_device_check(device));
  mtl_texture_desc whole = *desc;
  fill_defaults(&whole);
  MTL_TRY(check_desc(&whole, call));
  MTL_TRY(allocate(device, &whole, out_texture));
  *out_bytes = lay_out(*out_texture);
  const mtl_status status = check_length(device, &whole, *out_bytes);
  if (status != MTL_OK) {
    free((*out_texture)->label);
    free(*out_texture);
  }
  return status;
}

mtl_status mtli_texture_length(mtl_device *device, const mtl_texture_desc *desc,
                               const char *call, size_t *out_bytes) {
  mtl_texture *texture = NULL;
  MTL_TRY(prepare(device, desc, call, &texture, out_bytes));
  free(texture->label);
  free(texture);
  return MTL_OK;
}

// Makes a texture, in heap if that is not NULL.
static mtl_status create(mtl_device *device, mtl_heap *heap,
                         const mtl_texture_desc *desc, size_t offset_bytes,
                         const char *call, mtl_texture **out_texture) {
  mtl_texture *texture = NULL;
  mtl_buffer_desc memory = {.storage_mode = desc->storage_mode,
                            .hazard_tracking = desc->hazard_tracking,
                            .label = desc->label};
  MTL_TRY(prepare(device, desc, call, &texture, &memory.length_bytes));
  mtl_buffer *buffer = NULL;
  const mtl_status status =
      heap ? mtl_heap_create_buffer(heap, &memory, offset_bytes, &buffer)
           : mtl_buffer_create(device, &memory, &buffer);
  if (status != MTL_OK) {
    free(texture->label);
    free(texture);
    return status;
  }
  texture->desc.hazard_tracking = buffer->hazard_tracking;
  return finish(texture, buffer, out_texture);
}

mtl_status mtl_texture_create(mtl_device *device, const mtl_texture_desc *desc,
                              mtl_texture **out_texture) {
  static const char call[] = "mtl_texture_create";
  MTL_TRY(check_pointers(device, "device", desc, out_texture, call));
  *out_texture = NULL;
  return create(device, NULL, desc, 0, call, out_texture);
}

mtl_status mtl_heap_create_texture(mtl_heap *heap, const mtl_texture_desc *desc,
                                   size_t offset_bytes,
                                   mtl_texture **out_texture) {
  static const char call[] = "mtl_heap_create_texture";
  MTL_TRY(check_pointers(heap, "heap", desc, out_texture, call));
  *out_texture = NULL;
  return create(mtl_heap_device(heap), heap, desc, offset_bytes, call,
                out_texture);
}

static mtl_status check_linear(const mtl_buffer *buffer,
                               const mtl_texture_desc *desc,
                               size_t offset_bytes, size_t bytes_per_row,
                               const char *call) {
  const uint64_t row_bytes =
      (uint64_t)desc->width * mtl_pixel_format_bytes(desc->pixel_format);
  const bool is_buffer = desc->type == MTL_TEXTURE_BUFFER;
  if (!is_buffer && desc->type != MTL_TEXTURE_2D) {
    return mtli_fail(MTL_INVALID_ARGUMENT,
                     "%s: a %s cannot be made of a buffer", call,
                     mtli_texture_type_name(desc->type));
  }
  if (desc->level_count != 1) {
    return mtli_fail(MTL_INVALID_ARGUMENT, "%s: %u levels; 1 is allowed", call,
                     desc->level_count);
  }
  if (offset_bytes % MTL_TEXTURE_LINEAR_ALIGNMENT ||
      (!is_buffer && (bytes_per_row % MTL_TEXTURE_LINEAR_ALIGNMENT ||
                      bytes_per_row < row_bytes ||
                      bytes_per_row > UINT32_MAX))) {
    return mtli_fail(MTL_INVALID_ARGUMENT,
                     "%s: offset %zu and %zu bytes per row: both must be "
                     "multiples of %d, and a row has %" PRIu64 " bytes",
                     call, offset_bytes, bytes_per_row,
                     MTL_TEXTURE_LINEAR_ALIGNMENT, row_bytes);
  }
  const uint64_t needed_bytes =
      (is_buffer ? 0 : (uint64_t)bytes_per_row * (desc->height - 1)) +
      row_bytes;
  if (offset_bytes > buffer->length_bytes ||
      needed_bytes > buffer->length_bytes - offset_bytes) {
    return mtli_fail(MTL_INVALID_ARGUMENT,
                     "%s: %" PRIu64 " bytes at offset %zu end past buffer '%s' "
                     "of %zu bytes",
                     call, needed_bytes, offset_bytes, mtl_buffer_label(buffer),
                     buffer->length_bytes);
  }
  return MTL_OK;
}

mtl_status mtl_texture_create_from_buffer(mtl_buffer *buffer,
                                          const mtl_texture_desc *desc,
                                          size_t offset_bytes,
                                          size_t bytes_per_row,
                                          mtl_texture **out_texture) {
  static const char call[] = "mtl_texture_create_from_buffer";
  MTL_TRY(check_pointers(buffer, "buffer", desc, out_texture, call));
  *out_texture = NULL;
  mtl_texture_desc whole = *desc;
  fill_defaults(&whole);
  MTL_TRY(check_desc(&whole, call));
  MTL_TRY(check_linear(buffer, &whole, offset_bytes, bytes_per_row, call));
  whole.storage_mode = buffer->storage_mode;
  whole.hazard_tracking = buffer->hazard_tracking;
  mtl_texture *texture = NULL;
  MTL_TRY(allocate(buffer->device, &whole, &texture));
  lay_out(texture);
  mtli_texture_level *level = &texture->descriptor.levels[0];
  if (whole.type != MTL_TEXTURE_BUFFER) {
    level->row_bytes = (uint32_t)bytes_per_row;
  }
  level->image_bytes = (uint64_t)level->row_bytes * whole.height;
  texture->offset_bytes = offset_bytes;
  return finish(texture, mtl_buffer_retain(buffer) /* +1 */, out_texture);
}

// Tells whether a texture of one type may be seen as another.
//
// Source     Metal: newTextureViewWithPixelFormat:textureType:levels:slices:
static bool may_view_as(mtl_texture_type from, mtl_texture_type to) {
  const bool is_2d = from == MTL_TEXTURE_2D || from == MTL_TEXTURE_2D_ARRAY ||
                     mtli_texture_is_cube(from);
  const bool to_2d = to == MTL_TEXTURE_2D || to == MTL_TEXTURE_2D_ARRAY ||
                     mtli_texture_is_cube(to);
  const bool is_1d = from == MTL_TEXTURE_1D || from == MTL_TEXTURE_1D_ARRAY;
  const bool to_1d = to == MTL_TEXTURE_1D || to == MTL_TEXTURE_1D_ARRAY;
  const bool is_ms = from == MTL_TEXTURE_2D_MULTISAMPLE ||
                     from == MTL_TEXTURE_2D_MULTISAMPLE_ARRAY;
  const bool to_ms = to == MTL_TEXTURE_2D_MULTISAMPLE ||
                     to == MTL_TEXTURE_2D_MULTISAMPLE_ARRAY;
  return from == to || (is_2d && to_2d) || (is_1d && to_1d) || (is_ms && to_ms);
}

// Fills in a view's zeros and checks it.
static mtl_status check_view(const mtl_texture *texture,
                             mtl_texture_view_desc *view, const char *call) {
  const mtl_texture_desc *desc = &texture->desc;
  view->type = view->type ? view->type : desc->type;
  view->pixel_format =
      view->pixel_format ? view->pixel_format : desc->pixel_format;
  const size_t format_bytes = mtl_pixel_format_bytes(view->pixel_format);
  if (format_bytes != texture->descriptor.texel_bytes) {
    return mtli_fail(MTL_INVALID_ARGUMENT,
                     "%s: pixel format %d has %zu bytes a texel; the texture's "
                     "has %u",
                     call, (int)view->pixel_format, format_bytes,
                     texture->descriptor.texel_bytes);
  }
  if ((unsigned)view->type > MTL_TEXTURE_BUFFER ||
      !may_view_as(desc->type, view->type)) {
    return mtli_fail(MTL_INVALID_ARGUMENT, "%s: a %s cannot be seen as %s",
                     call, mtli_texture_type_name(desc->type),
                     mtli_texture_type_name(view->type));
  }
  const uint32_t slices = mtli_texture_slices(texture);
  if (view->first_level >= desc->level_count || view->first_slice >= slices ||
      view->level_count > desc->level_count - view->first_level ||
      view->slice_count > slices - view->first_slice) {
    return mtli_fail(MTL_INVALID_ARGUMENT,
                     "%s: %u levels from %u and %u slices from %u; the texture "
                     "has %u and %u",
                     call, view->level_count, view->first_level,
                     view->slice_count, view->first_slice, desc->level_count,
                     slices);
  }
  view->level_count = view->level_count ? view->level_count
                                        : desc->level_count - view->first_level;
  view->slice_count =
      view->slice_count ? view->slice_count : slices - view->first_slice;
  for (int c = 0; c < 4; c++) {
    if ((unsigned)view->swizzle[c] > MTL_SWIZZLE_ALPHA) {
      return mtli_fail(MTL_INVALID_ARGUMENT, "%s: swizzle %d does not exist",
                       call, (int)view->swizzle[c]);
    }
  }
  return MTL_OK;
}

// Returns the array length that a view's slices make, or 0 if its type cannot
// have them.
static uint32_t view_array_length(const mtl_texture_view_desc *view,
                                  const mtl_texture_desc *desc) {
  const uint32_t slices = view->slice_count;
  switch (view->type) {
    case MTL_TEXTURE_CUBE:
    case MTL_TEXTURE_CUBE_ARRAY:
      return slices % 6 || desc->width != desc->height ||
                     (view->type == MTL_TEXTURE_CUBE && slices != 6)
                 ? 0
                 : slices / 6;
    case MTL_TEXTURE_1D_ARRAY:
    case MTL_TEXTURE_2D_ARRAY:
    case MTL_TEXTURE_2D_MULTISAMPLE_ARRAY: return slices;
    default: return slices == 1 ? 1 : 0;
  }
}

mtl_status mtl_texture_create_view(mtl_texture *texture,
                                   const mtl_texture_view_desc *desc,
                                   mtl_texture **out_view) {
  static const char call[] = "mtl_texture_create_view";
  MTL_TRY(check_pointers(texture, "texture", desc, out_view, call));
  *out_view = NULL;
  mtl_texture_view_desc wanted = *desc;
  MTL_TRY(check_view(texture, &wanted, call));
  mtl_texture_desc whole = texture->desc;
  whole.type = wanted.type;
  whole.pixel_format = wanted.pixel_format;
  whole.width = max_u32(whole.width >> wanted.first_level, 1);
  whole.height = max_u32(whole.height >> wanted.first_level, 1);
  whole.depth = max_u32(whole.depth >> wanted.first_level, 1);
  whole.level_count = wanted.level_count;
  whole.array_length = view_array_length(&wanted, &whole);
  if (whole.array_length == 0) {
    return mtli_fail(MTL_INVALID_ARGUMENT,
                     "%s: %u slices of %ux%u texels cannot be a %s", call,
                     wanted.slice_count, whole.width, whole.height,
                     mtli_texture_type_name(wanted.type));
  }
  mtl_texture *view = NULL;
  MTL_TRY(allocate(texture->buffer->device, &whole, &view));
  for (int c = 0; c < 4; c++) {
    const mtl_swizzle own = wanted.swizzle[c];
    const int source =
        own >= MTL_SWIZZLE_RED ? (int)own - (int)MTL_SWIZZLE_RED : c;
    const bool is_fixed = own == MTL_SWIZZLE_ZERO || own == MTL_SWIZZLE_ONE;
    const mtl_swizzle inner = texture->swizzle[source];
    view->swizzle[c] = is_fixed || inner == MTL_SWIZZLE_SAME ? own : inner;
  }
  mtli_pixel_format_describe(mtli_pixel_format_find(whole.pixel_format),
                             view->swizzle, &view->descriptor);
  for (uint32_t i = 0; i < whole.level_count; i++) {
    mtli_texture_level *level = &view->descriptor.levels[i];
    *level = texture->descriptor.levels[i + wanted.first_level];
    level->offset_bytes += wanted.first_slice * level->image_bytes;
  }
  view->offset_bytes = texture->offset_bytes;
  return finish(view, mtl_buffer_retain(texture->buffer) /* +1 */, out_view);
}

mtl_texture *mtl_texture_retain(mtl_texture *texture) {
  if (texture) {
    mtli_object_retain(&texture->object);
  }
  return texture;
}

void mtl_texture_release(mtl_texture *texture) {
  if (texture) {
    mtli_object_release(&texture->object);
  }
}

const mtl_texture_desc *mtl_texture_info(const mtl_texture *texture) {
  return &texture->desc;
}

mtl_device *mtl_texture_device(const mtl_texture *texture) {
  return texture->buffer->device;
}

mtl_buffer *mtl_texture_buffer(const mtl_texture *texture) {
  return texture->buffer;
}

uint64_t mtl_texture_resource_id(const mtl_texture *texture) {
  return texture->resource_id;
}

void mtl_texture_set_label(mtl_texture *texture, const char *label) {
  mtli_label_set(texture->buffer->device, &texture->label, label);
}

const char *mtl_texture_label(const mtl_texture *texture) {
  return texture->label ? texture->label : "";
}
