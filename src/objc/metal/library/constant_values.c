// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// constant_values.c: MTLFunctionConstantValues.
#include "objc/metal/library/constant_values.h"

#include "objc/metal/metal.h"

typedef struct constant_values {
  struct objc_object object;
  mtl_constant_values *values;
} constant_values;

bool element_type_of(NSUInteger type, mtl_data_type *out_type,
                     uint32_t *out_components) {
  // Scalars are followed by their vectors of 2, 3 and 4.
  static const struct {
    NSUInteger first;
    mtl_data_type type;
  } types[] = {
      {3, MTL_TYPE_FLOAT}, {16, MTL_TYPE_HALF},  {29, MTL_TYPE_INT},
      {33, MTL_TYPE_UINT}, {37, MTL_TYPE_SHORT}, {41, MTL_TYPE_USHORT},
      {45, MTL_TYPE_CHAR}, {49, MTL_TYPE_UCHAR}, {53, MTL_TYPE_BOOL},
      {81, MTL_TYPE_LONG}, {85, MTL_TYPE_ULONG}, {121, MTL_TYPE_BFLOAT},
  };
  for (size_t i = 0; i < sizeof types / sizeof *types; ++i) {
    if (type >= types[i].first && type < types[i].first + 4) {
      *out_type = types[i].type;
      *out_components = (uint32_t)(type - types[i].first + 1);
      return true;
    }
  }
  return false;
}

static id values_init(id self, SEL _cmd) {
  (void)_cmd;
  if (mtl_constant_values_create(&((constant_values *)self)->values) !=
      MTL_OK) {
    instance_dispose(self);
    return NULL;
  }
  return self;
}

static void values_dealloc(id self, SEL _cmd) {
  (void)_cmd;
  mtl_constant_values_release(((constant_values *)self)->values);
  instance_dispose(self);
}

static void values_reset(id self, SEL _cmd) {
  (void)_cmd;
  constant_values *values = (constant_values *)self;
  mtl_constant_values_release(values->values);
  if (mtl_constant_values_create(&values->values) != MTL_OK) {
    values->values = NULL;
  }
}

static void set_value(id self, const void *value, NSUInteger type,
                      const char *name, NSUInteger index) {
  mtl_data_type element;
  uint32_t components;
  if (!element_type_of(type, &element, &components)) {
    metal_assert("setConstantValue: %lu is no type of a function constant",
                 type);
  }
  mtl_constant_values *values = ((constant_values *)self)->values;
  const mtl_status status =
      name ? mtl_constant_values_set_named(values, name, element, components,
                                           value)
           : mtl_constant_values_set(values, (uint32_t)index, element,
                                     components, value);
  if (status != MTL_OK) {
    metal_assert("setConstantValue: %s", mtl_last_error());
  }
}

static void values_set(id self, SEL _cmd, const void *value, NSUInteger type,
                       NSUInteger index) {
  (void)_cmd;
  set_value(self, value, type, NULL, index);
}

static void values_set_named(id self, SEL _cmd, const void *value,
                             NSUInteger type, id name) {
  (void)_cmd;
  set_value(self, value, type, string_utf8(name), 0);
}

static void values_set_range(id self, SEL _cmd, const void *values,
                             NSUInteger type, NSRange range) {
  (void)_cmd;
  mtl_data_type element;
  uint32_t components = 1;
  size_t bytes = 0;
  if (element_type_of(type, &element, &components)) {
    // A vector of three takes the room of four.
    bytes = mtl_data_type_size(element) * (components == 3 ? 4 : components);
  }
  for (NSUInteger i = 0; i < range.length; ++i) {
    set_value(self, (const char *)values + i * bytes, type, NULL,
              range.location + i);
  }
}

METHODS(values_methods, METHOD("init", "@16@0:8", values_init),
        METHOD("dealloc", "v16@0:8", values_dealloc),
        METHOD("reset", "v16@0:8", values_reset),
        METHOD("setConstantValue:type:atIndex:", "v40@0:8^v16Q24Q32",
               values_set),
        METHOD("setConstantValue:type:withName:", "v40@0:8^v16Q24@32",
               values_set_named),
        METHOD("setConstantValues:type:withRange:",
               "v48@0:8^v16Q24{_NSRange=QQ}32", values_set_range));
DEFINE_CLASS(MTLFunctionConstantValues, NSObject, sizeof(constant_values),
             values_methods, NO_METHODS);

const mtl_constant_values *constant_values_of(id values) {
  return values ? ((constant_values *)values)->values : NULL;
}
