// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// library.c: MTLLibrary and MTLFunction.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "objc/dispatch/dispatch.h"
#include "objc/metal/library/compile_options.h"
#include "objc/metal/library/constant_values.h"
#include "objc/metal/library/joined_library.h"
#include "objc/metal/metal.h"
#include "objc/metal/property.h"
#include "objc/runtime/memory/block.h"
// --- MTLFunctionDescriptor ---------------------------------------------------

typedef struct function_descriptor {
  struct objc_object object;
  id name;
  id specializedName;
  id constantValues;
  id binaryArchives;
  NSUInteger options;
} function_descriptor;

REFERENCES(function_descriptor, name, binaryArchives)

COPY_PROPERTY(function_descriptor, name)
COPY_PROPERTY(function_descriptor, specializedName)
OBJECT_PROPERTY(function_descriptor, constantValues)
VALUE_PROPERTY(function_descriptor, NSUInteger, options)
COPY_PROPERTY(function_descriptor, binaryArchives)

static id descriptor_make(Class self, SEL _cmd) {
  (void)_cmd;
  return objc_autorelease(instance_create(self, 0));
}

METHODS(
    descriptor_methods, REFERENCES_METHODS(function_descriptor),
    OBJECT_METHODS(function_descriptor, name, "setName:"),
    OBJECT_METHODS(function_descriptor, specializedName, "setSpecializedName:"),
    OBJECT_METHODS(function_descriptor, constantValues, "setConstantValues:"),
    VALUE_METHODS(function_descriptor, options, "setOptions:", "Q"),
    OBJECT_METHODS(function_descriptor, binaryArchives, "setBinaryArchives:"));
METHODS(descriptor_class_methods,
        METHOD("functionDescriptor", "@16@0:8", descriptor_make));
DEFINE_CLASS(MTLFunctionDescriptor, NSObject, sizeof(function_descriptor),
             descriptor_methods, &descriptor_class_methods);
// --- MTLFunction -------------------------------------------------------------

extern struct objc_class OBJC_CLASS_$_MettleFunction;
extern struct objc_class OBJC_CLASS_$_MettleLibrary;

mtl_function *function_of(id function) {
  return function ? ((metal_function *)function)->function : NULL;
}

static void function_dealloc(id self, SEL _cmd) {
  (void)_cmd;
  metal_function *function = (metal_function *)self;
  mtl_function_release(function->function);
  objc_release(function->label);
  objc_release(function->name);
  objc_release(function->library);
  objc_release(function->device);
  instance_dispose(self);
}

static id function_name(id self, SEL _cmd) {
  (void)_cmd;
  const metal_function *function = (metal_function *)self;
  return function->name ? function->name
                        : string_make(mtl_function_name(function->function));
}

static NSUInteger function_type(id self, SEL _cmd) {
  (void)_cmd;
  // MTLFunctionTypeVisible, MTLFunctionTypeKernel
  mtl_function *function = function_of(self);
  return function && mtl_function_is_visible(function) ? 5 : 3;
}

static id function_device(id self, SEL _cmd) {
  (void)_cmd;
  return ((metal_function *)self)->device;
}

static NSUInteger function_options(id self, SEL _cmd) {
  (void)self;
  (void)_cmd;
  return 0;
}

COPY_PROPERTY(metal_function, label)

METHODS(function_methods, METHOD("dealloc", "v16@0:8", function_dealloc),
        METHOD("name", "@16@0:8", function_name),
        METHOD("functionType", "Q16@0:8", function_type),
        METHOD("options", "Q16@0:8", function_options),
        METHOD("device", "@16@0:8", function_device),
        OBJECT_METHODS(metal_function, label, "setLabel:"));
DEFINE_CLASS(MettleFunction, NSObject, sizeof(metal_function), function_methods,
             NO_METHODS);
// --- MTLLibrary --------------------------------------------------------------

static id create(id device, mtl_library *library) {
  metal_library *made = (metal_library *)CREATE(MettleLibrary);
  made->device = objc_retain(device);
  made->library = library;
  return &made->object;
}

static void library_dealloc(id self, SEL _cmd) {
  (void)_cmd;
  metal_library *library = (metal_library *)self;
  mtl_library_release(library->library);
  objc_release(library->label);
  objc_release(library->device);
  objc_release(library->next);
  instance_dispose(self);
}

static id library_device(id self, SEL _cmd) {
  (void)_cmd;
  return ((metal_library *)self)->device;
}

COPY_PROPERTY(metal_library, label)

static id library_names(id self, SEL _cmd) {
  (void)_cmd;
  const id names = objc_autorelease(mutable_array_create());
  for (const metal_library *each = (metal_library *)self; each;
       each = (metal_library *)each->next) {
    const size_t count = mtl_library_function_count(each->library);
    for (size_t i = 0; i < count; ++i) {
      SEND(void (*)(id, SEL, id), names, "addObject:",
           string_make(mtl_library_function_name(each->library, i)));
    }
  }
  return names;
}

static bool has_function(const mtl_library *library, const char *name) {
  const size_t count = mtl_library_function_count(library);
  for (size_t i = 0; i < count; ++i) {
    if (!strcmp(mtl_library_function_name(library, i), name)) {
      return true;
    }
  }
  return false;
}

static id new_function(id self, id name, id constants, id *out_error) {
  const metal_library *library = (metal_library *)self;
  while (library->next && !has_function(library->library, string_utf8(name))) {
    library = (metal_library *)library->next;
  }
  mtl_function *function;
  const mtl_status status =
      mtl_function_create(library->library, string_utf8(name),
                          constant_values_of(constants), &function);
  // Without values a function can be created only to ask which it needs.
  const bool is_bare = status == MTL_INVALID_ARGUMENT && !constants;
  if (status != MTL_OK && !is_bare) {
    error_from_mettle(out_error, MTLLibraryErrorDomain, status);
    return NULL;
  }
  error_clear(out_error);
  metal_function *made = (metal_function *)CREATE(MettleFunction);
  made->device = objc_retain(library->device);
  made->library = objc_retain(self);
  made->function = function;
  made->name = is_bare ? objc_retain(name) : NULL;
  return &made->object;
}

static id library_function(id self, SEL _cmd, id name) {
  (void)_cmd;
  return new_function(self, name, NULL, NULL);
}

static id library_function_with(id self, SEL _cmd, id name, id constants,
                                id *out_error) {
  (void)_cmd;
  return new_function(self, name, constants, out_error);
}

static id library_function_by(id self, SEL _cmd, id descriptor, id *out_error) {
  (void)_cmd;
  const function_descriptor *wanted = (function_descriptor *)descriptor;
  const id made =
      new_function(self, wanted->name, wanted->constantValues, out_error);
  if (made && wanted->specializedName) {
    metal_function_set_label(made, _cmd, wanted->specializedName);
    metal_function *function = (metal_function *)made;
    // A function that was not created is found by its own name only.
    if (function->function) {
      function->name = objc_retain(wanted->specializedName);
    }
  }
  return made;
}

static void library_function_then(id self, SEL _cmd, id name, id constants,
                                  id literal) {
  (void)_cmd;
  id error = NULL;
  const id made = objc_autorelease(new_function(self, name, constants, &error));
  BLOCK_CALL(void (*)(id, id, id), literal, made, error);
}

static void library_function_by_then(id self, SEL _cmd, id descriptor,
                                     id literal) {
  id error = NULL;
  const id made =
      objc_autorelease(library_function_by(self, _cmd, descriptor, &error));
  BLOCK_CALL(void (*)(id, id, id), literal, made, error);
}

static id library_install_name(id self, SEL _cmd) {
  (void)self;
  (void)_cmd;
  return NULL;  // only dynamic libraries have one
}

static NSInteger library_type(id self, SEL _cmd) {
  (void)self;
  (void)_cmd;
  return 0;  // MTLLibraryTypeExecutable
}

METHODS(library_methods, METHOD("dealloc", "v16@0:8", library_dealloc),
        METHOD("device", "@16@0:8", library_device),
        OBJECT_METHODS(metal_library, label, "setLabel:"),
        METHOD("functionNames", "@16@0:8", library_names),
        METHOD("type", "q16@0:8", library_type),
        METHOD("installName", "@16@0:8", library_install_name),
        METHOD("newFunctionWithName:", "@24@0:8@16", library_function),
        METHOD("newFunctionWithName:constantValues:error:", "@40@0:8@16@24^@32",
               library_function_with),
        METHOD("newFunctionWithName:constantValues:completionHandler:",
               "v40@0:8@16@24@?32", library_function_then),
        METHOD("newFunctionWithDescriptor:error:", "@32@0:8@16^@24",
               library_function_by),
        METHOD("newFunctionWithDescriptor:completionHandler:", "v32@0:8@16@?24",
               library_function_by_then));
DEFINE_CLASS(MettleLibrary, NSObject, sizeof(metal_library), library_methods,
             NO_METHODS);
// --- Making ------------------------------------------------------------------

static id finish(id device, mtl_status status, mtl_library *library,
                 id *out_error) {
  if (status != MTL_OK) {
    error_from_mettle(out_error, MTLLibraryErrorDomain, status);
    return NULL;
  }
  error_clear(out_error);
  return create(device, library);
}

static id new_from_source(id self, SEL _cmd, id source, id options,
                          id *out_error) {
  (void)_cmd;
  if (compile_options_want_dynamic(options)) {
    const mtl_status status =
        mtl_fail(MTL_UNSUPPORTED,
                 "dynamic libraries are not supported: the options have a "
                 "libraryType of MTLLibraryTypeDynamic, or libraries");
    return finish(self, status, NULL, out_error);
  }
  mtl_library *library = NULL;
  const mtl_status status = library_from_source(
      device_of(self), string_utf8(source), options, &library);
  return finish(self, status, library, out_error);
}

typedef struct compilation {
  id device;
  id source;
  id options;
  id literal;
} compilation;

static void compile_then_call(void *context) {
  compilation *of = context;
  id error = NULL;
  const id library =
      new_from_source(of->device, NULL, of->source, of->options, &error);
  BLOCK_CALL(void (*)(id, id, id), of->literal, library, error);
  objc_release(library);
  objc_release(of->device);
  objc_release(of->source);
  objc_release(of->options);
  _Block_release(of->literal);
  free(of);
}

static void new_from_source_then(id self, SEL _cmd, id source, id options,
                                 id literal) {
  (void)_cmd;
  compilation *made = malloc(sizeof *made);
  if (!made) {
    return;
  }
  *made = (compilation){objc_retain(self), SEND(id(*)(id, SEL), source, "copy"),
                        SEND(id(*)(id, SEL), options, "copy"),
                        _Block_copy(literal)};
  dispatch_queue_add(dispatch_get_global_queue(0, 0), compile_then_call, made);
}

// Makes the library of some data. Joined libraries become a chain, in their
// order.
static id new_from_bytes(id self, const void *data, size_t length,
                         id *out_error) {
  joined_library whole = {data, length}, *parts = &whole;
  size_t count = 1;
  if (joined_libraries_are(data, length)) {
    const mtl_status status =
        joined_libraries_read(data, length, &parts, &count);
    if (status != MTL_OK) {
      return finish(self, status, NULL, out_error);
    }
  }
  id made = NULL;
  bool is_made = true;
  for (size_t i = count; i-- > 0 && is_made;) {
    mtl_library *library = NULL;
    const mtl_status status = library_from_data(device_of(self), parts[i].data,
                                                parts[i].length, &library);
    const id next = made;
    made = finish(self, status, library, out_error);
    is_made = made != NULL;
    if (is_made) {
      ((metal_library *)made)->next = next;
    } else {
      objc_release(next);
    }
  }
  if (parts != &whole) {
    free(parts);
  }
  return made;
}

static id new_from_data(id self, SEL _cmd, id data, id *out_error) {
  (void)_cmd;
  size_t length;
  const void *bytes = dispatch_data_bytes(data, &length);
  return new_from_bytes(self, bytes, length, out_error);
}

extern char *file_read(const char *path, size_t *out_length, id *out_error);

static id new_from_path(id self, const char *path, id *out_error) {
  if (path && library_is_of_apple(path)) {
    mtl_library *library = NULL;
    const mtl_status status =
        mtl_library_create_from_file(device_of(self), path, &library);
    return finish(self, status, library, out_error);
  }
  size_t length;
  errno = 0;
  char *bytes = path ? file_read(path, &length, NULL) : NULL;
  if (!bytes) {
    const mtl_status status =
        mtl_fail(MTL_IO_ERROR, "%s: %s", path ? path : "no file",
                 errno ? strerror(errno) : "cannot be read");
    return finish(self, status, NULL, out_error);
  }
  const id made = new_from_bytes(self, bytes, length, out_error);
  free(bytes);
  return made;
}

static id new_from_file(id self, SEL _cmd, id path, id *out_error) {
  (void)_cmd;
  return new_from_path(self, string_utf8(path), out_error);
}

static id new_from_url(id self, SEL _cmd, id url, id *out_error) {
  (void)_cmd;
  return new_from_path(
      self, SEND(const char *(*)(id, SEL), url, "fileSystemRepresentation"),
      out_error);
}

// Returns the library that a program ships: default.metallib beside it.
static id new_default_in(id self, SEL _cmd, id bundle, id *out_error) {
  (void)_cmd;
  const id folder = SEND(id(*)(id, SEL), bundle, "resourcePath");
  return new_from_path(self,
                       string_utf8(string_make_printf("%s/default.metallib",
                                                      string_utf8(folder))),
                       out_error);
}

static id new_default(id self, SEL _cmd) {
  const id bundle =
      SEND(id(*)(id, SEL), objc_getClass("NSBundle"), "mainBundle");
  return new_default_in(self, _cmd, bundle, NULL);
}

METHODS(device_methods,
        METHOD("newLibraryWithSource:options:error:", "@40@0:8@16@24^@32",
               new_from_source),
        METHOD("newLibraryWithSource:options:completionHandler:",
               "v40@0:8@16@24@?32", new_from_source_then),
        METHOD("newLibraryWithData:error:", "@32@0:8@16^@24", new_from_data),
        METHOD("newLibraryWithFile:error:", "@32@0:8@16^@24", new_from_file),
        METHOD("newLibraryWithURL:error:", "@32@0:8@16^@24", new_from_url),
        METHOD("newDefaultLibrary", "@16@0:8", new_default),
        METHOD("newDefaultLibraryWithBundle:error:", "@32@0:8@16^@24",
               new_default_in));
DEFINE_CATEGORY(MettleDevice, libraries, device_methods);
