// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// mtl4_compiler.c: MTL4Compiler: creates libraries and pipelines by Metal 4's
// descriptors through Metal 3's functions.
#include "objc/metal/metal4/mtl4.h"
#include "objc/metal/property.h"

extern struct objc_class OBJC_CLASS_$_MettleCompiler4;
extern struct objc_class OBJC_CLASS_$_MTL4LibraryFunctionDescriptor;
extern struct objc_class OBJC_CLASS_$_MTL4SpecializedFunctionDescriptor;
extern struct objc_class OBJC_CLASS_$_MTLComputePipelineDescriptor;

typedef struct compiler {
  struct objc_object object;
  id device;  // +1
  id label;
} compiler;

static void compiler_dealloc(id self, SEL _cmd) {
  (void)_cmd;
  objc_release(((compiler *)self)->device);
  objc_release(((compiler *)self)->label);
  instance_dispose(self);
}

READ_PROPERTY(compiler, id, device)
READ_PROPERTY(compiler, id, label)

static id new_compiler(id self, SEL _cmd, id descriptor, id *out_error) {
  (void)_cmd;
  (void)out_error;
  compiler *made = (compiler *)CREATE(MettleCompiler4);
  made->device = objc_retain(self);
  made->label = objc_retain(
      descriptor ? SEND(id(*)(id, SEL), descriptor, "label") : NULL);
  return &made->object;
}

static id new_library(id self, SEL _cmd, id descriptor, id *out_error) {
  (void)_cmd;
  const mtl4_library_descriptor *from = (mtl4_library_descriptor *)descriptor;
  const id made = SEND(id(*)(id, SEL, id, id, id *), ((compiler *)self)->device,
                       "newLibraryWithSource:options:error:", from->source,
                       from->options, out_error);
  if (made && from->name) {
    SEND(void (*)(id, SEL, id), made, "setLabel:", from->name);
  }
  return made;
}


// Returns the caller's reference to the function that a descriptor names; NULL,
// and an error.
static id new_function(id descriptor, id *out_error) {
  const mtl4_function_descriptor *from =
      (mtl4_function_descriptor *)descriptor;
  id constants = NULL, label = NULL;
  if (object_is(descriptor, &OBJC_CLASS_$_MTL4SpecializedFunctionDescriptor)) {
    constants = from->constantValues;
    label = from->specializedName;
    from = (mtl4_function_descriptor *)from->functionDescriptor;
  }
  if (!object_is((id)from, &OBJC_CLASS_$_MTL4LibraryFunctionDescriptor) ||
      !from->library) {
    error_set(out_error, MTLLibraryErrorDomain, 1,
              "a function's descriptor names no library's function");
    return NULL;
  }
  const id made =
      constants
          ? SEND(id(*)(id, SEL, id, id, id *), from->library,
                 "newFunctionWithName:constantValues:error:", from->name,
                 constants, out_error)
          : SEND(id(*)(id, SEL, id), from->library, "newFunctionWithName:",
                 from->name);
  if (!made && !constants) {
    error_set(out_error, MTLLibraryErrorDomain, 5,
              string_utf8(string_make_printf("the library has no function %s",
                                             string_utf8(from->name))));
  }
  if (made && label) {
    SEND(void (*)(id, SEL, id), made, "setLabel:", label);
  }
  return made;
}

static id new_pipeline(id self, SEL _cmd, id descriptor, id options,
                       id *out_error) {
  (void)_cmd;
  (void)options;  // where to look up compiled code: the cache is used instead
  const mtl4_pipeline_descriptor *from =
      (mtl4_pipeline_descriptor *)descriptor;
  const id function = new_function(from->computeFunctionDescriptor, out_error);
  if (!function) {
    return NULL;
  }
  const id wanted = CREATE(MTLComputePipelineDescriptor);
  const id initialized = SEND(id(*)(id, SEL), wanted, "init");
  SEND(void (*)(id, SEL, id), initialized, "setComputeFunction:", function);
  SEND(void (*)(id, SEL, id), initialized, "setLabel:", from->label);
  SEND(void (*)(id, SEL, NSUInteger), initialized,
       "setMaxTotalThreadsPerThreadgroup:",
       from->maxTotalThreadsPerThreadgroup);
  SEND(void (*)(id, SEL, int), initialized, "setSupportIndirectCommandBuffers:",
       from->supportIndirectCommandBuffers == 1);
  SEND(void (*)(id, SEL, int), initialized,
       "setThreadGroupSizeIsMultipleOfThreadExecutionWidth:",
       from->threadGroupSizeIsMultipleOfThreadExecutionWidth);
  const id made = SEND(
      id(*)(id, SEL, id, NSUInteger, id *, id *), ((compiler *)self)->device,
      "newComputePipelineStateWithDescriptor:options:reflection:error:",
      initialized, (NSUInteger)0, NULL, out_error);
  objc_release(initialized);
  objc_release(function);
  return made;
}

METHODS(compiler_methods, METHOD("dealloc", "v16@0:8", compiler_dealloc),
        METHOD("device", "@16@0:8", compiler_get_device),
        METHOD("label", "@16@0:8", compiler_get_label),
        METHOD("newLibraryWithDescriptor:error:", "@32@0:8@16^@24",
               new_library),
        METHOD("newComputePipelineStateWithDescriptor:compilerTaskOptions:"
               "error:",
               "@40@0:8@16@24^@32", new_pipeline));
DEFINE_CLASS(MettleCompiler4, NSObject, sizeof(compiler), compiler_methods,
             NO_METHODS);

METHODS(device_methods,
        METHOD("newCompilerWithDescriptor:error:", "@32@0:8@16^@24",
               new_compiler));
DEFINE_CATEGORY(MettleDevice, compiler4, device_methods);
