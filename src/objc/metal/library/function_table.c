// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// function_table.c: MTLVisibleFunctionTable, and handles of the functions that
// a pipeline calls through tables.
#include "objc/metal/library/pipeline.h"
#include "objc/metal/metal.h"
#include "objc/metal/metal4/mtl4.h"
#include "objc/metal/property.h"

extern struct objc_class OBJC_CLASS_$_MettleFunctionHandle;
extern struct objc_class OBJC_CLASS_$_MettleFunctionTable;

// --- Handles -----------------------------------------------------------------

typedef struct function_handle {
  struct objc_object object;
  id device;  // +1
  mtl_function_handle *handle;
} function_handle;

typedef struct function_table {
  struct objc_object object;
  id device;  // +1
  mtl_function_table *table;
  id label;
} function_table;

mtl_function_table *function_table_of(id table) {
  return table ? ((function_table *)table)->table : NULL;
}

id pipeline_handle(id self, SEL _cmd, id function) {
  (void)_cmd;
  mtl_function_handle *handle;
  if (mtl_pipeline_function_handle(pipeline_of(self), function_of(function),
                                   &handle) != MTL_OK) {
    return NULL;
  }
  function_handle *made = (function_handle *)CREATE(MettleFunctionHandle);
  made->device = objc_retain(((metal_pipeline *)self)->device);
  made->handle = handle;
  return objc_autorelease(&made->object);
}

static void handle_dealloc(id self, SEL _cmd) {
  (void)_cmd;
  mtl_function_handle_release(((function_handle *)self)->handle);
  objc_release(((function_handle *)self)->device);
  instance_dispose(self);
}

static id handle_name(id self, SEL _cmd) {
  (void)_cmd;
  return string_make(
      mtl_function_handle_name(((function_handle *)self)->handle));
}

static NSUInteger handle_type(id self, SEL _cmd) {
  (void)self;
  (void)_cmd;
  return 5;  // MTLFunctionTypeVisible
}

static id handle_device(id self, SEL _cmd) {
  (void)_cmd;
  return ((function_handle *)self)->device;
}

METHODS(handle_methods, METHOD("dealloc", "v16@0:8", handle_dealloc),
        METHOD("name", "@16@0:8", handle_name),
        METHOD("functionType", "Q16@0:8", handle_type),
        METHOD("device", "@16@0:8", handle_device));
DEFINE_CLASS(MettleFunctionHandle, NSObject, sizeof(function_handle),
             handle_methods, NO_METHODS);

typedef struct table_descriptor {
  struct objc_object object;
  NSUInteger functionCount;
} table_descriptor;

VALUES_ALONE(table_descriptor)
VALUE_PROPERTY(table_descriptor, NSUInteger, functionCount)

static id table_descriptor_make(Class self, SEL _cmd) {
  (void)_cmd;
  return objc_autorelease(instance_create(self, 0));
}

METHODS(table_descriptor_methods, VALUES_ALONE_METHODS(table_descriptor),
        VALUE_METHODS(table_descriptor, functionCount, "setFunctionCount:",
                      "Q"));
METHODS(table_descriptor_class_methods,
        METHOD("visibleFunctionTableDescriptor", "@16@0:8",
               table_descriptor_make));
DEFINE_CLASS(MTLVisibleFunctionTableDescriptor, NSObject,
             sizeof(table_descriptor), table_descriptor_methods,
             &table_descriptor_class_methods);

id pipeline_new_table(id self, SEL _cmd, id descriptor) {
  (void)_cmd;
  mtl_function_table *table;
  const mtl_function_table_desc desc = {
      .function_count =
          (uint32_t)((table_descriptor *)descriptor)->functionCount};
  if (mtl_function_table_create(pipeline_of(self), &desc, &table) != MTL_OK) {
    return NULL;
  }
  function_table *made = (function_table *)CREATE(MettleFunctionTable);
  made->device = objc_retain(((metal_pipeline *)self)->device);
  made->table = table;
  resource_add(mtl_function_table_resource_id(table), &made->object);
  return &made->object;
}

static void table_dealloc(id self, SEL _cmd) {
  (void)_cmd;
  mtl_function_table_release(function_table_of(self));
  objc_release(((function_table *)self)->label);
  objc_release(((function_table *)self)->device);
  instance_dispose(self);
}

static void table_set(id self, SEL _cmd, id handle, NSUInteger index) {
  (void)_cmd;
  if (mtl_function_table_set(
          function_table_of(self),
          handle ? ((function_handle *)handle)->handle : NULL,
          (uint32_t)index) != MTL_OK) {
    metal_assert("setFunction:atIndex: %s", mtl_last_error());
  }
}

static void table_set_range(id self, SEL _cmd, const id *handles,
                            NSRange range) {
  for (NSUInteger i = 0; i < range.length; ++i) {
    table_set(self, _cmd, handles[i], range.location + i);
  }
}

static uint64_t table_resource(id self, SEL _cmd) {
  (void)_cmd;
  return mtl_function_table_resource_id(function_table_of(self));
}

static id table_device(id self, SEL _cmd) {
  (void)_cmd;
  return ((function_table *)self)->device;
}

COPY_PROPERTY(function_table, label)

METHODS(table_methods, METHOD("dealloc", "v16@0:8", table_dealloc),
        METHOD("setFunction:atIndex:", "v32@0:8@16Q24", table_set),
        METHOD("setFunctions:withRange:", "v40@0:8^@16{_NSRange=QQ}24",
               table_set_range),
        METHOD("gpuResourceID", "{MTLResourceID=Q}16@0:8", table_resource),
        METHOD("device", "@16@0:8", table_device),
        OBJECT_METHODS(function_table, label, "setLabel:"));
DEFINE_CLASS(MettleFunctionTable, NSObject, sizeof(function_table),
             table_methods, NO_METHODS);
