// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// sampler.c: packs a sampler into the word that kernels take (texture_abi.h).
#include <stdlib.h>
#include <string.h>

#include "runtime/objects.h"

static void sampler_destroy(mtli_object *object) {
  mtl_sampler *sampler = (mtl_sampler *)object;
  mtl_device *device = sampler->device;
  free(sampler->label);
  free(sampler);
  mtl_device_release(device);  // -1
}

static mtl_status check_value(const char *name, unsigned value, unsigned most) {
  return value <= most ? MTL_OK
                       : mtli_fail(MTL_INVALID_ARGUMENT,
                                   "mtl_sampler_create: %s %u; the last is %u",
                                   name, value, most);
}

static mtl_status check_desc(const mtl_sampler_desc *desc) {
  MTL_TRY(check_value("min_filter", desc->min_filter, MTL_FILTER_LINEAR));
  MTL_TRY(check_value("mag_filter", desc->mag_filter, MTL_FILTER_LINEAR));
  MTL_TRY(check_value("mip_filter", desc->mip_filter, MTL_MIP_FILTER_LINEAR));
  const unsigned last = MTL_ADDRESS_CLAMP_TO_BORDER_COLOR;
  MTL_TRY(check_value("s_address", desc->s_address, last));
  MTL_TRY(check_value("t_address", desc->t_address, last));
  MTL_TRY(check_value("r_address", desc->r_address, last));
  MTL_TRY(check_value("max_anisotropy", desc->max_anisotropy, 16));
  MTL_TRY(check_value("compare_function", desc->compare_function,
                      MTL_COMPARE_ALWAYS));
  MTL_TRY(check_value("border_color", desc->border_color,
                      MTL_BORDER_OPAQUE_WHITE));
  if (!(desc->lod_min_clamp >= 0.0f)) {
    return mtli_fail(MTL_INVALID_ARGUMENT,
                     "mtl_sampler_create: lod_min_clamp %g is below 0",
                     (double)desc->lod_min_clamp);
  }
  return MTL_OK;
}

static uint64_t half_bits(float value) {
  const _Float16 half = (_Float16)value;
  uint16_t bits;
  memcpy(&bits, &half, sizeof bits);
  return bits;
}

static uint64_t pack(const mtl_sampler_desc *desc) {
  const float most = desc->lod_max_clamp == 0.0f  ? __builtin_inff()
                     : desc->lod_max_clamp < 0.0f ? 0.0f
                                                  : desc->lod_max_clamp;
  const uint64_t anisotropy =
      desc->max_anisotropy ? desc->max_anisotropy - 1 : 0;
  return (uint64_t)desc->is_pixel_coordinates << MTLI_SAMPLER_PIXEL_SHIFT |
         (uint64_t)desc->s_address << MTLI_SAMPLER_S_SHIFT |
         (uint64_t)desc->t_address << MTLI_SAMPLER_T_SHIFT |
         (uint64_t)desc->r_address << MTLI_SAMPLER_R_SHIFT |
         (uint64_t)desc->mag_filter << MTLI_SAMPLER_MAG_SHIFT |
         (uint64_t)desc->min_filter << MTLI_SAMPLER_MIN_SHIFT |
         (uint64_t)desc->mip_filter << MTLI_SAMPLER_MIP_SHIFT |
         (uint64_t)desc->compare_function << MTLI_SAMPLER_COMPARE_SHIFT |
         (uint64_t)desc->border_color << MTLI_SAMPLER_BORDER_SHIFT |
         anisotropy << MTLI_SAMPLER_ANISOTROPY_SHIFT |
         half_bits(desc->lod_min_clamp) << MTLI_SAMPLER_LOD_MIN_SHIFT |
         half_bits(most) << MTLI_SAMPLER_LOD_MAX_SHIFT |
         UINT64_C(1) << MTLI_SAMPLER_SET_SHIFT;
}

mtl_status mtl_sampler_create(mtl_device *device, const mtl_sampler_desc *desc,
                              mtl_sampler **out_sampler) {
  if (!device || !desc || !out_sampler) {
    return mtli_fail(MTL_INVALID_ARGUMENT, "mtl_sampler_create: %s is NULL",
                     !device ? "device"
                     : !desc ? "desc"
                             : "out_sampler");
  }
  *out_sampler = NULL;
  MTL_TRY(mtli_device_check(device));
  MTL_TRY(check_desc(desc));
  mtl_sampler *sampler = calloc(1, sizeof *sampler);
  if (!sampler) {
    return mtli_fail(MTL_OUT_OF_MEMORY, "no memory for a sampler object");
  }
  mtli_object_init(&sampler->object, sampler_destroy);
  sampler->device = mtl_device_retain(device);  // +1
  sampler->bits = pack(desc);
  sampler->label = mtli_label_copy(desc->label);
  const mtl_status status = device->driver->sampler_create(sampler, desc);
  if (status != MTL_OK) {
    mtl_sampler_release(sampler);
    return status;
  }
  *out_sampler = sampler;
  return MTL_OK;
}

mtl_status mtli_sampler_is_bits(mtl_sampler *sampler,
                                const mtl_sampler_desc *desc) {
  (void)desc;
  sampler->resource_id = sampler->bits;
  return MTL_OK;
}

mtl_sampler *mtl_sampler_retain(mtl_sampler *sampler) {
  if (sampler) {
    mtli_object_retain(&sampler->object);
  }
  return sampler;
}

void mtl_sampler_release(mtl_sampler *sampler) {
  if (sampler) {
    mtli_object_release(&sampler->object);
  }
}

const char *mtl_sampler_label(const mtl_sampler *sampler) {
  return sampler->label ? sampler->label : "";
}

uint64_t mtl_sampler_resource_id(const mtl_sampler *sampler) {
  return sampler->resource_id;
}
