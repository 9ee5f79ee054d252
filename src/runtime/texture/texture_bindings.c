// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// texture_bindings.c: binds textures and samplers to a compute encoder, and
// checks them against a kernel's arguments.
#include "runtime/record/compute_encoder.h"
#include "runtime/texture/texture.h"

#define FAIL(encoder, ...)                                             \
  mtli_recording_fail((encoder)->base.recording, MTL_INVALID_ARGUMENT, \
                      __VA_ARGS__)

// Checks the indices of a call that binds count objects.
static bool check_indices(mtl_compute_encoder *encoder, uint32_t first,
                          uint32_t count, uint32_t limit, const void *objects,
                          const char *what, const char *call) {
  if (!mtli_compute_encoder_check(encoder, call)) {
    return false;
  }
  if (!objects && count) {
    FAIL(encoder, "%s: the %ss are NULL", call, what);
    return false;
  }
  if (first > limit || count > limit - first) {
    FAIL(encoder, "%s: %u of %s index %u on; the last one is %u", call, count,
         what, first, limit - 1);
    return false;
  }
  return true;
}

static void bind_textures(mtl_compute_encoder *encoder,
                          mtl_texture *const *textures, uint32_t first,
                          uint32_t count, const char *call) {
  if (!check_indices(encoder, first, count, MTL_MAX_TEXTURE_ARGUMENTS, textures,
                     "texture", call)) {
    return;
  }
  mtli_recording *recording = encoder->base.recording;
  for (uint32_t i = 0; i < count; i++) {
    mtl_texture *texture = textures[i];
    mtli_texture_binding *binding = &encoder->textures[first + i];
    *binding = (mtli_texture_binding){.is_set = true};
    if (texture && mtli_recording_check_device(
                       recording, texture->buffer->device, "a texture")) {
      mtli_recording_use_texture(recording, texture);
      binding->texture = texture;
    }
  }
}

void mtl_compute_encoder_set_texture(mtl_compute_encoder *encoder,
                                     mtl_texture *texture, uint32_t index) {
  bind_textures(encoder, &texture, index, 1, "mtl_compute_encoder_set_texture");
}

void mtl_compute_encoder_set_textures(mtl_compute_encoder *encoder,
                                      mtl_texture *const *textures,
                                      uint32_t first_index, uint32_t count) {
  bind_textures(encoder, textures, first_index, count,
                "mtl_compute_encoder_set_textures");
}

static void bind_samplers(mtl_compute_encoder *encoder,
                          mtl_sampler *const *samplers, uint32_t first,
                          uint32_t count, const char *call) {
  if (!check_indices(encoder, first, count, MTL_MAX_SAMPLER_ARGUMENTS, samplers,
                     "sampler", call)) {
    return;
  }
  for (uint32_t i = 0; i < count; i++) {
    // The sampler's id outlives the sampler: nothing need be retained.
    const mtl_sampler *sampler = samplers[i];
    const bool fits =
        sampler && mtli_recording_check_device(encoder->base.recording,
                                               sampler->device, "a sampler");
    encoder->samplers[first + i] = fits ? sampler->resource_id : 0;
  }
}

void mtl_compute_encoder_set_sampler(mtl_compute_encoder *encoder,
                                     mtl_sampler *sampler, uint32_t index) {
  bind_samplers(encoder, &sampler, index, 1, "mtl_compute_encoder_set_sampler");
}

void mtl_compute_encoder_set_samplers(mtl_compute_encoder *encoder,
                                      mtl_sampler *const *samplers,
                                      uint32_t first_index, uint32_t count) {
  bind_samplers(encoder, samplers, first_index, count,
                "mtl_compute_encoder_set_samplers");
}

// --- at the dispatch ---------------------------------------------------------

// Names the component types that a texture argument reads and writes.
static const char *wanted_class(mtl_data_type type) {
  switch (type) {
    case MTL_TYPE_INT:
    case MTL_TYPE_SHORT: return "signed integers";
    case MTL_TYPE_UINT:
    case MTL_TYPE_USHORT: return "unsigned integers";
    case MTL_TYPE_ULONG: return "two words that make one number";
    default: return "numbers with a fraction";
  }
}

static bool has_wanted_class(const mtl_texture *texture, mtl_data_type type) {
  const uint32_t own = texture->descriptor.texel_class;
  switch (type) {
    case MTL_TYPE_INT:
    case MTL_TYPE_SHORT: return own == MTLI_CLASS_SINT;
    case MTL_TYPE_UINT:
    case MTL_TYPE_USHORT: return own == MTLI_CLASS_UINT;
    case MTL_TYPE_ULONG:
      return texture->desc.pixel_format == MTL_FORMAT_RG32_UINT;
    default: return own != MTLI_CLASS_SINT && own != MTLI_CLASS_UINT;
  }
}

static bool check_texture(mtl_compute_encoder *encoder,
                          const mtl_argument *argument,
                          const mtl_texture *texture, uint32_t index) {
  const mtl_texture_desc *desc = &texture->desc;
  const char *label = mtl_texture_label(texture);
  if (desc->type != argument->texture_type) {
    FAIL(encoder,
         "kernel '%s': argument '%s' [[texture(%u)]] is a %s; texture '%s' is "
         "a %s",
         mtli_kernel_name(encoder), argument->name, index,
         mtli_texture_type_name(argument->texture_type), label,
         mtli_texture_type_name(desc->type));
    return false;
  }
  if (!has_wanted_class(texture, argument->type)) {
    FAIL(encoder,
         "kernel '%s': argument '%s' [[texture(%u)]] of '%s' takes %s; texture "
         "'%s' of pixel format %d has none",
         mtli_kernel_name(encoder), argument->name, index, argument->type_name,
         wanted_class(argument->type), label, (int)desc->pixel_format);
    return false;
  }
  const uint32_t needed =
      (argument->access != MTL_ACCESS_WRITE_ONLY ? MTL_TEXTURE_USAGE_SHADER_READ
                                                 : 0) |
      (argument->access != MTL_ACCESS_READ_ONLY ? MTL_TEXTURE_USAGE_SHADER_WRITE
                                                : 0);
  const uint32_t usage =
      desc->usage & ~(uint32_t)MTL_TEXTURE_USAGE_PIXEL_FORMAT_VIEW;
  if (usage != MTL_TEXTURE_USAGE_ANY && (usage & needed) != needed) {
    FAIL(encoder,
         "kernel '%s': argument '%s' [[texture(%u)]] needs usage %#x; texture "
         "'%s' has %#x",
         mtli_kernel_name(encoder), argument->name, index, needed, label,
         desc->usage);
    return false;
  }
  return true;
}

uint64_t *mtli_resolve_textures(mtl_compute_encoder *encoder,
                                const mtl_argument *argument) {
  const uint32_t count = argument->array_length;
  uint64_t *ids = mtli_compute_encoder_handles(encoder, count);
  for (uint32_t i = 0; ids && i < count; i++) {
    const uint32_t index = argument->index + i;
    const mtli_texture_binding *binding = &encoder->textures[index];
    // An array may have gaps.
    if (!binding->is_set && count == 1) {
      FAIL(encoder, "kernel '%s': argument '%s' [[texture(%u)]] is not bound",
           mtli_kernel_name(encoder), argument->name, index);
      return NULL;
    }
    if (binding->texture &&
        !check_texture(encoder, argument, binding->texture, index)) {
      return NULL;
    }
    ids[i] = binding->texture ? binding->texture->resource_id : 0;
  }
  return ids;
}

uint64_t *mtli_resolve_samplers(mtl_compute_encoder *encoder,
                                const mtl_argument *argument) {
  const uint32_t count = argument->array_length;
  uint64_t *ids = mtli_compute_encoder_handles(encoder, count);
  for (uint32_t i = 0; ids && i < count; i++) {
    const uint32_t index = argument->index + i;
    if (!encoder->samplers[index] && count == 1) {
      FAIL(encoder, "kernel '%s': argument '%s' [[sampler(%u)]] is not bound",
           mtli_kernel_name(encoder), argument->name, index);
      return NULL;
    }
    ids[i] = encoder->samplers[index];
  }
  return ids;
}
