// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// sampler.c: MTLSamplerState and its descriptor.
#include <float.h>

#include "objc/metal/metal.h"
#include "objc/metal/metal4/mtl4.h"
#include "objc/metal/property.h"

extern struct objc_class OBJC_CLASS_$_MettleSampler;

mtl_sampler *sampler_of(id sampler) {
  return sampler ? ((metal_sampler *)sampler)->sampler : NULL;
}

typedef struct sampler_descriptor {
  struct objc_object object;
  NSUInteger minFilter;
  NSUInteger magFilter;
  NSUInteger mipFilter;
  NSUInteger maxAnisotropy;
  NSUInteger sAddressMode;
  NSUInteger tAddressMode;
  NSUInteger rAddressMode;
  NSUInteger borderColor;
  NSUInteger compareFunction;
  float lodMinClamp;
  float lodMaxClamp;
  bool normalizedCoordinates;
  bool lodAverage;
  bool supportArgumentBuffers;
  id label;
} sampler_descriptor;

VALUE_PROPERTY(sampler_descriptor, NSUInteger, minFilter)
VALUE_PROPERTY(sampler_descriptor, NSUInteger, magFilter)
VALUE_PROPERTY(sampler_descriptor, NSUInteger, mipFilter)
VALUE_PROPERTY(sampler_descriptor, NSUInteger, maxAnisotropy)
VALUE_PROPERTY(sampler_descriptor, NSUInteger, sAddressMode)
VALUE_PROPERTY(sampler_descriptor, NSUInteger, tAddressMode)
VALUE_PROPERTY(sampler_descriptor, NSUInteger, rAddressMode)
VALUE_PROPERTY(sampler_descriptor, NSUInteger, borderColor)
VALUE_PROPERTY(sampler_descriptor, NSUInteger, compareFunction)
VALUE_PROPERTY(sampler_descriptor, float, lodMinClamp)
VALUE_PROPERTY(sampler_descriptor, float, lodMaxClamp)
FLAG_PROPERTY(sampler_descriptor, normalizedCoordinates)
FLAG_PROPERTY(sampler_descriptor, lodAverage)
FLAG_PROPERTY(sampler_descriptor, supportArgumentBuffers)
REFERENCES(sampler_descriptor, label, label)
COPY_PROPERTY(sampler_descriptor, label)

static id descriptor_init(id self, SEL _cmd) {
  (void)_cmd;
  sampler_descriptor *made = (sampler_descriptor *)self;
  made->maxAnisotropy = 1;
  made->lodMaxClamp = FLT_MAX;
  made->normalizedCoordinates = true;
  return self;
}

METHODS(
    descriptor_methods, METHOD("init", "@16@0:8", descriptor_init),
    REFERENCES_METHODS(sampler_descriptor),
    VALUE_METHODS(sampler_descriptor, minFilter, "setMinFilter:", "Q"),
    VALUE_METHODS(sampler_descriptor, magFilter, "setMagFilter:", "Q"),
    VALUE_METHODS(sampler_descriptor, mipFilter, "setMipFilter:", "Q"),
    VALUE_METHODS(sampler_descriptor, maxAnisotropy, "setMaxAnisotropy:",
                  "Q"),
    VALUE_METHODS(sampler_descriptor, sAddressMode, "setSAddressMode:", "Q"),
    VALUE_METHODS(sampler_descriptor, tAddressMode, "setTAddressMode:", "Q"),
    VALUE_METHODS(sampler_descriptor, rAddressMode, "setRAddressMode:", "Q"),
    VALUE_METHODS(sampler_descriptor, borderColor, "setBorderColor:", "Q"),
    VALUE_METHODS(sampler_descriptor, compareFunction, "setCompareFunction:",
                  "Q"),
    VALUE_METHODS(sampler_descriptor, lodMinClamp, "setLodMinClamp:", "f"),
    VALUE_METHODS(sampler_descriptor, lodMaxClamp, "setLodMaxClamp:", "f"),
    FLAG_METHODS(sampler_descriptor, normalizedCoordinates,
                 "setNormalizedCoordinates:"),
    FLAG_METHODS(sampler_descriptor, lodAverage, "setLodAverage:"),
    FLAG_METHODS(sampler_descriptor, supportArgumentBuffers,
                 "setSupportArgumentBuffers:"),
    OBJECT_METHODS(sampler_descriptor, label, "setLabel:"));
DEFINE_CLASS(MTLSamplerDescriptor, NSObject, sizeof(sampler_descriptor),
             descriptor_methods, NO_METHODS);

// Converts a maximum level: 0 is no limit to the C API, but 0 to Metal.
static float lod_max(float clamp) {
  return clamp >= FLT_MAX ? 0 : clamp <= 0 ? -1 : clamp;
}

static id new_sampler(id self, SEL _cmd, id descriptor) {
  (void)_cmd;
  const sampler_descriptor *from = (sampler_descriptor *)descriptor;
  const mtl_sampler_desc desc = {
      .min_filter = (mtl_filter)from->minFilter,
      .mag_filter = (mtl_filter)from->magFilter,
      .mip_filter = (mtl_mip_filter)from->mipFilter,
      .s_address = (mtl_address_mode)from->sAddressMode,
      .t_address = (mtl_address_mode)from->tAddressMode,
      .r_address = (mtl_address_mode)from->rAddressMode,
      .max_anisotropy = (uint32_t)from->maxAnisotropy,
      .is_pixel_coordinates = !from->normalizedCoordinates,
      .lod_min_clamp = from->lodMinClamp,
      .lod_max_clamp = lod_max(from->lodMaxClamp),
      .compare_function = (mtl_compare_function)from->compareFunction,
      .border_color = (mtl_border_color)from->borderColor,
      .label = from->label ? string_utf8(from->label) : NULL};
  mtl_sampler *sampler;
  if (mtl_sampler_create(device_of(self), &desc, &sampler) != MTL_OK) {
    metal_assert("newSamplerStateWithDescriptor: %s", mtl_last_error());
  }
  metal_sampler *made = (metal_sampler *)CREATE(MettleSampler);
  made->device = objc_retain(self);
  made->sampler = sampler;
  made->descriptor = SEND(id(*)(id, SEL), descriptor, "copy");
  resource_add(mtl_sampler_resource_id(sampler), &made->object);
  return &made->object;
}

id sampler_with_lods(id sampler, float min, float max) {
  const metal_sampler *from = (metal_sampler *)sampler;
  if (!from) {
    return NULL;
  }
  sampler_descriptor *chosen = (sampler_descriptor *)SEND(
      id(*)(id, SEL), from->descriptor, "copy");
  chosen->lodMinClamp = min;
  chosen->lodMaxClamp = max;
  const id made = new_sampler(from->device, NULL, &chosen->object);
  objc_release(&chosen->object);
  return objc_autorelease(made);
}

METHODS(device_methods, METHOD("newSamplerStateWithDescriptor:", "@24@0:8@16",
                               new_sampler));
DEFINE_CATEGORY(MettleDevice, samplers, device_methods);

static void sampler_dealloc(id self, SEL _cmd) {
  (void)_cmd;
  mtl_sampler_release(sampler_of(self));
  objc_release(((metal_sampler *)self)->descriptor);
  objc_release(((metal_sampler *)self)->device);
  instance_dispose(self);
}

static id sampler_device(id self, SEL _cmd) {
  (void)_cmd;
  return ((metal_sampler *)self)->device;
}

static id sampler_label(id self, SEL _cmd) {
  (void)_cmd;
  return label_make(mtl_sampler_label(sampler_of(self)));
}

static uint64_t sampler_resource(id self, SEL _cmd) {
  (void)_cmd;
  return mtl_sampler_resource_id(sampler_of(self));
}

METHODS(sampler_methods, METHOD("dealloc", "v16@0:8", sampler_dealloc),
        METHOD("device", "@16@0:8", sampler_device),
        METHOD("label", "@16@0:8", sampler_label),
        METHOD("gpuResourceID", "{MTLResourceID=Q}16@0:8",
               sampler_resource));
DEFINE_CLASS(MettleSampler, NSObject, sizeof(metal_sampler), sampler_methods,
             NO_METHODS);
