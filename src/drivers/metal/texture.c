// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// texture.c: MTLTextures and sampler states.
#include <float.h>
#include <stdlib.h>

#include "drivers/metal/metal.h"

// --- textures ------------------------------------------------------------------

// True for what Metal can keep in a buffer as the runtime lays it out.
//
// Source  Apple: -[MTLBuffer newTextureWithDescriptor:offset:bytesPerRow:]
static bool is_linear(const mtl_texture *texture) {
  enum { FIRST_DEPTH_FORMAT = 250 };  // MTLPixelFormatDepth16Unorm
  const mtl_texture_desc *desc = &texture->desc;
  return desc->type == MTL_TEXTURE_BUFFER ||
         (desc->type == MTL_TEXTURE_2D && desc->level_count == 1 &&
          (int)desc->pixel_format < FIRST_DEPTH_FORMAT);
}

static id descriptor_of(const mtl_texture *texture) {
  const mtl_texture_desc *desc = &texture->desc;
  const id made = metal_new("MTLTextureDescriptor");
  SET_NUMBER(made, setTextureType, metal_texture_type(desc->type));
  SET_NUMBER(made, setPixelFormat, (unsigned long)desc->pixel_format);
  SET_NUMBER(made, setWidth, desc->width);
  SET_NUMBER(made, setHeight, desc->height);
  SET_NUMBER(made, setDepth, desc->depth);
  SET_NUMBER(made, setMipmapLevelCount, desc->level_count);
  SET_NUMBER(made, setArrayLength, desc->array_length);
  SET_NUMBER(made, setUsage, desc->usage);
  return made;
}

static id create_linear(const mtl_texture *texture, id descriptor) {
  const mtli_texture_level *level = &texture->descriptor.levels[0];
  SET_NUMBER(descriptor, setResourceOptions,
             metal_resource_options(texture->buffer->storage_mode,
                                    texture->buffer->hazard_tracking));
  return SEND(id(*)(id, SEL, id, unsigned long, unsigned long),
              metal_object_of(texture->buffer), newTextureInBuffer, descriptor,
              metal_offset_of(texture->buffer) + texture->offset_bytes +
                  level->offset_bytes,
              (unsigned long)level->row_bytes);
}

static id create_shadow(const mtl_texture *texture, id descriptor) {
  SET_NUMBER(
      descriptor, setResourceOptions,
      metal_resource_options(MTL_STORAGE_PRIVATE, MTL_HAZARD_TRACKED));
  return SEND(id(*)(id, SEL, id),
              metal_device_of(texture->buffer->device)->object, newTexture,
              descriptor);
}

// MTLTextureSwizzleChannels.
typedef struct swizzles {
  uint8_t of[4];
} swizzles;

// Returns a view of base with the texture's swizzle, or base once more.
static id swizzle(const mtl_texture *texture, id base) {
  enum { RED = 2 };  // MTLTextureSwizzleRed; zero and one before it
  const mtl_texture_desc *desc = &texture->desc;
  swizzles wanted;
  bool is_same = true;
  for (uint8_t i = 0; i < 4; i++) {
    const mtl_swizzle each = texture->swizzle[i];
    wanted.of[i] =
        (uint8_t)(each == MTL_SWIZZLE_SAME ? RED + i : (int)each - 1);
    is_same = is_same && wanted.of[i] == RED + i;
  }
  if (is_same) {
    return metal_retain(base);
  }
  const metal_range levels = {0, desc->level_count};
  const metal_range slices = {
      0, desc->array_length * (desc->type == MTL_TEXTURE_CUBE ||
                                       desc->type == MTL_TEXTURE_CUBE_ARRAY
                                   ? 6
                                   : 1)};
  return SEND(id(*)(id, SEL, unsigned long, unsigned long, metal_range,
                    metal_range, swizzles),
              base, newSwizzledView, (unsigned long)desc->pixel_format,
              metal_texture_type(desc->type), levels, slices, wanted);
}

static void shadow_add(metal_texture *made) {
  metal_buffer *buffer = (metal_buffer *)made->texture.buffer;
  metal_device *device = metal_device_of(buffer->buffer.device);
  pthread_mutex_lock(&device->lock);
  made->next_shadow = buffer->shadows;
  if (made->next_shadow) {
    made->next_shadow->previous_shadow = made;
  }
  buffer->shadows = made;
  pthread_mutex_unlock(&device->lock);
}

static void shadow_remove(metal_texture *made) {
  metal_buffer *buffer = (metal_buffer *)made->texture.buffer;
  metal_device *device = metal_device_of(buffer->buffer.device);
  if (mtli_device_is_inherited(&device->device)) {
    return;
  }
  pthread_mutex_lock(&device->lock);
  if (made->previous_shadow) {
    made->previous_shadow->next_shadow = made->next_shadow;
  } else {
    buffer->shadows = made->next_shadow;
  }
  if (made->next_shadow) {
    made->next_shadow->previous_shadow = made->previous_shadow;
  }
  pthread_mutex_unlock(&device->lock);
}

static mtl_status create(metal_texture *made) {
  mtl_texture *texture = &made->texture;
  made->is_shadow = !is_linear(texture);
  const id descriptor = descriptor_of(texture);
  made->base = made->is_shadow ? create_shadow(texture, descriptor)
                               : create_linear(texture, descriptor);
  metal_release(descriptor);
  made->object = made->base ? swizzle(texture, made->base) : NULL;
  if (!made->object) {
    metal_release(made->base);
    return mtli_fail(MTL_OUT_OF_MEMORY, "Metal has no texture of %ux%ux%u",
                     texture->desc.width, texture->desc.height,
                     texture->desc.depth);
  }
  metal_label(made->object, texture->label);
  texture->resource_id = SEND(uint64_t(*)(id, SEL), made->object, gpuResourceID);
  made->handle = (metal_handle){.resource_id = texture->resource_id,
                                .object = made->object,
                                .texture = made};
  metal_handle_add(metal_device_of(texture->buffer->device), &made->handle);
  if (made->is_shadow) {
    shadow_add(made);
  }
  return MTL_OK;
}

mtl_status metal_texture_create(mtl_texture *texture) {
  if (texture->desc.sample_count > 1) {
    return mtli_fail(MTL_UNSUPPORTED,
                     "device '%s': only rendering writes samples into a "
                     "texture of %u",
                     texture->buffer->device->info.name,
                     texture->desc.sample_count);
  }
  void *pool = metal.pool_push();
  const mtl_status status = create((metal_texture *)texture);
  metal.pool_pop(pool);
  return status;
}

void metal_texture_destroy(mtl_texture *texture) {
  metal_texture *made = (metal_texture *)texture;
  mtl_device *device = texture->buffer->device;
  if (made->is_shadow) {
    shadow_remove(made);
  }
  metal_handle_remove(metal_device_of(device), &made->handle);
  metal_give_back(device, made->object);
  metal_give_back(device, made->base);
}

// --- samplers ------------------------------------------------------------------

static id sampler_descriptor(const mtl_sampler_desc *desc) {
  const id made = metal_new("MTLSamplerDescriptor");
  const float most = desc->lod_max_clamp == 0.0f  ? FLT_MAX
                     : desc->lod_max_clamp < 0.0f ? 0.0f
                                                  : desc->lod_max_clamp;
  SET_NUMBER(made, setMinFilter, (unsigned long)desc->min_filter);
  SET_NUMBER(made, setMagFilter, (unsigned long)desc->mag_filter);
  SET_NUMBER(made, setMipFilter, (unsigned long)desc->mip_filter);
  SET_NUMBER(made, setSAddressMode, (unsigned long)desc->s_address);
  SET_NUMBER(made, setTAddressMode, (unsigned long)desc->t_address);
  SET_NUMBER(made, setRAddressMode, (unsigned long)desc->r_address);
  SET_NUMBER(made, setMaxAnisotropy,
             desc->max_anisotropy ? desc->max_anisotropy : 1);
  SET_NUMBER(made, setNormalizedCoordinates, !desc->is_pixel_coordinates);
  SET_NUMBER(made, setCompareFunction, (unsigned long)desc->compare_function);
  SET_NUMBER(made, setBorderColor, (unsigned long)desc->border_color);
  SET_NUMBER(made, setSupportArgumentBuffers, 1);
  SEND(metal_set_float *, made, setLodMinClamp, desc->lod_min_clamp);
  SEND(metal_set_float *, made, setLodMaxClamp, most);
  return made;
}

static mtl_status create_state(metal_device *device, uint64_t bits,
                               const mtl_sampler_desc *desc,
                               metal_sampler_state **out_state) {
  metal_sampler_state *state = calloc(1, sizeof *state);
  if (!state) {
    return mtli_fail(MTL_OUT_OF_MEMORY, "no memory for a sampler");
  }
  const id descriptor = sampler_descriptor(desc);
  state->bits = bits;
  state->handle.object =
      SEND(id(*)(id, SEL, id), device->object, newSampler, descriptor);
  metal_release(descriptor);
  if (!state->handle.object) {
    free(state);
    return mtli_fail(MTL_OUT_OF_MEMORY, "Metal has no sampler");
  }
  state->handle.resource_id =
      SEND(uint64_t(*)(id, SEL), state->handle.object, gpuResourceID);
  *out_state = state;
  return MTL_OK;
}

static metal_sampler_state *find_state(metal_device *device, uint64_t bits) {
  pthread_mutex_lock(&device->lock);
  metal_sampler_state *state = device->samplers;
  while (state && state->bits != bits) {
    state = state->next;
  }
  pthread_mutex_unlock(&device->lock);
  return state;
}

// Samplers of one description share one of Metal's, which is never released: a
// device has few, and command buffers retain none. Two threads may both make
// one: no harm.
mtl_status metal_sampler_create(mtl_sampler *sampler,
                                const mtl_sampler_desc *desc) {
  metal_device *device = metal_device_of(sampler->device);
  metal_sampler_state *state = find_state(device, sampler->bits);
  mtl_status status = MTL_OK;
  if (!state) {
    void *pool = metal.pool_push();
    status = create_state(device, sampler->bits, desc, &state);
    metal.pool_pop(pool);
    if (status == MTL_OK) {
      metal_handle_add(device, &state->handle);
      pthread_mutex_lock(&device->lock);
      state->next = device->samplers;
      device->samplers = state;
      pthread_mutex_unlock(&device->lock);
    }
  }
  sampler->resource_id = state ? state->handle.resource_id : 0;
  return status;
}
