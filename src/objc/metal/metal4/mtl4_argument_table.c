// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// mtl4_argument_table.c: MTL4ArgumentTable: binds arguments of the next
// dispatches by address and identifier.
#include "objc/metal/metal4/mtl4.h"
#include "objc/metal/property.h"

extern struct objc_class OBJC_CLASS_$_MettleArgumentTable4;

static id fail(id *out_error, const char *text) {
  error_set(out_error, MTLCommandBufferErrorDomain, 9, text);
  return NULL;
}

typedef struct argument_table {
  struct objc_object object;
  id device;  // +1
  id label;
  NSUInteger buffers, textures, samplers;
  table_contents contents;
} argument_table;

const table_contents *table_contents_of(id table) {
  return &((argument_table *)table)->contents;
}

static id new_table(id self, SEL _cmd, id descriptor, id *out_error) {
  (void)_cmd;
  const mtl4_table_descriptor *from = (mtl4_table_descriptor *)descriptor;
  if (from->maxBufferBindCount > TABLE_BUFFERS ||
      from->maxTextureBindCount > TABLE_TEXTURES ||
      from->maxSamplerStateBindCount > TABLE_SAMPLERS) {
    return fail(out_error,
                "an argument table holds at most 31 buffers, 128 textures and "
                "16 samplers");
  }
  argument_table *made = (argument_table *)CREATE(MettleArgumentTable4);
  made->device = objc_retain(self);
  made->label = objc_retain(from->label);
  made->buffers = from->maxBufferBindCount;
  made->textures = from->maxTextureBindCount;
  made->samplers = from->maxSamplerStateBindCount;
  return &made->object;
}

static void table_dealloc(id self, SEL _cmd) {
  (void)_cmd;
  objc_release(((argument_table *)self)->device);
  objc_release(((argument_table *)self)->label);
  instance_dispose(self);
}

static void check_index(const char *call, NSUInteger index, NSUInteger count) {
  if (index >= count) {
    metal_assert("%s index %lu is outside a table of %lu", call, index, count);
  }
}

static void table_set_address(id self, SEL _cmd, uint64_t address,
                              NSUInteger index) {
  (void)_cmd;
  argument_table *table = (argument_table *)self;
  check_index("setAddress:atIndex:", index, table->buffers);
  table->contents.buffers[index] = address;
  table->contents.are_resources[index] = false;
}

static void table_set_resource(id self, SEL _cmd, uint64_t resource,
                               NSUInteger index) {
  table_set_address(self, _cmd, resource, index);
  ((argument_table *)self)->contents.are_resources[index] = true;
}

static void table_set_texture(id self, SEL _cmd, uint64_t resource,
                              NSUInteger index) {
  (void)_cmd;
  argument_table *table = (argument_table *)self;
  check_index("setTexture:atIndex:", index, table->textures);
  table->contents.textures[index] = resource;
}

static void table_set_sampler(id self, SEL _cmd, uint64_t resource,
                              NSUInteger index) {
  (void)_cmd;
  argument_table *table = (argument_table *)self;
  check_index("setSamplerState:atIndex:", index, table->samplers);
  table->contents.samplers[index] = resource;
}

READ_PROPERTY(argument_table, id, device)
READ_PROPERTY(argument_table, id, label)

METHODS(table_methods, METHOD("dealloc", "v16@0:8", table_dealloc),
        METHOD("device", "@16@0:8", argument_table_get_device),
        METHOD("label", "@16@0:8", argument_table_get_label),
        METHOD("setAddress:atIndex:", "v32@0:8Q16Q24", table_set_address),
        METHOD("setResource:atBufferIndex:", "v32@0:8{MTLResourceID=Q}16Q24",
               table_set_resource),
        METHOD("setTexture:atIndex:", "v32@0:8{MTLResourceID=Q}16Q24",
               table_set_texture),
        METHOD("setSamplerState:atIndex:", "v32@0:8{MTLResourceID=Q}16Q24",
               table_set_sampler));
DEFINE_CLASS(MettleArgumentTable4, NSObject, sizeof(argument_table),
             table_methods, NO_METHODS);

METHODS(device_methods, METHOD("newArgumentTableWithDescriptor:error:",
                               "@32@0:8@16^@24", new_table));
DEFINE_CATEGORY(MettleDevice, argument_tables4, device_methods);
