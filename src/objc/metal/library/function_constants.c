// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// function_constants.c: MTLFunctionConstant: describes the function constants
// of a library.
#include "objc/metal/library/reflection.h"
#include "objc/metal/metal.h"
#include "objc/metal/property.h"

extern struct objc_class OBJC_CLASS_$_MTLFunctionConstant;
extern struct objc_class OBJC_CLASS_$_MettleFunction;
extern struct objc_class OBJC_CLASS_$_NSMutableDictionary;

typedef struct function_constant {
  struct objc_object object;
  id name;
  NSUInteger type;
  NSUInteger index;
  bool required;
} function_constant;

READ_PROPERTY(function_constant, id, name)
READ_PROPERTY(function_constant, NSUInteger, type)
READ_PROPERTY(function_constant, NSUInteger, index)
READ_PROPERTY(function_constant, int, required)

static void constant_dealloc(id self, SEL _cmd) {
  (void)_cmd;
  objc_release(((function_constant *)self)->name);
  instance_dispose(self);
}

METHODS(constant_methods, METHOD("dealloc", "v16@0:8", constant_dealloc),
        METHOD("name", "@16@0:8", function_constant_get_name),
        METHOD("type", "Q16@0:8", function_constant_get_type),
        METHOD("index", "Q16@0:8", function_constant_get_index),
        METHOD("required", "B16@0:8", function_constant_get_required));
DEFINE_CLASS(MTLFunctionConstant, NSObject, sizeof(function_constant),
             constant_methods, NO_METHODS);

static id constant_create(const mtl_constant_info *info) {
  function_constant *made = (function_constant *)CREATE(MTLFunctionConstant);
  made->name = string_create(info->name);
  made->type = data_type_of(info->type, info->components, 1);
  made->index = info->index;
  made->required = info->required;
  return &made->object;
}

static id function_constants(id self, SEL _cmd) {
  (void)_cmd;
  const metal_function *function = (metal_function *)self;
  const char *name = function->function ? mtl_function_name(function->function)
                                        : string_utf8(function->name);
  size_t count = 0;
  const mtl_constant_info *infos = NULL;
  // Returns the function of the first joined library that has it.
  for (const metal_library *library = (metal_library *)function->library;
       library && mtl_library_function_constants(library->library, name, &infos,
                                                 &count) != MTL_OK;
       library = (metal_library *)library->next) {
  }
  const id all = SEND(id(*)(id, SEL), (id)&OBJC_CLASS_$_NSMutableDictionary,
                      "dictionary");
  for (size_t i = 0; i < count; ++i) {
    const id each = constant_create(&infos[i]);
    SEND(void (*)(id, SEL, id, id), all, "setObject:forKey:", each,
         ((function_constant *)each)->name);
    objc_release(each);
  }
  return all;
}

METHODS(function_methods, METHOD("functionConstantsDictionary", "@16@0:8",
                                 function_constants));
DEFINE_CATEGORY(MettleFunction, constants, function_methods);
