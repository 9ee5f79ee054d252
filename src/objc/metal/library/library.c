// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// library.c: MTLLibrary, MTLFunction, the options of a compilation and the
// values of function constants.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "objc/dispatch/dispatch.h"
#include "objc/metal/library/joined_library.h"
#include "objc/metal/metal.h"
#include "objc/metal/property.h"
#include "objc/runtime/memory/block.h"

// --- MTLCompileOptions -------------------------------------------------------

// MTLMathMode and MTLMathFloatingPointFunctions.
enum { TYPE_DYNAMIC = 1 };  // MTLLibraryType
enum { MATH_SAFE = 0, MATH_RELAXED = 1, MATH_FAST = 2, FUNCTIONS_PRECISE = 1 };

typedef struct compile_options {
  struct objc_object object;
  id preprocessorMacros;
  id installName;
  id libraries;
  NSInteger mathMode;
  NSInteger mathFloatingPointFunctions;
  NSUInteger languageVersion;  // major << 16 | minor; 0 for the newest
  NSInteger libraryType;
  bool preserveInvariance;
  NSInteger optimizationLevel;
  NSInteger compileSymbolVisibility;
  bool allowReferencingUndefinedSymbols;
  NSUInteger maxTotalThreadsPerThreadgroup;
  bool enableLogging;
} compile_options;

static id options_init(id self, SEL _cmd) {
  (void)_cmd;
  ((compile_options *)self)->mathMode = MATH_FAST;
  return self;
}

REFERENCES(compile_options, preprocessorMacros, libraries)
COPY_PROPERTY(compile_options, preprocessorMacros)
VALUE_PROPERTY(compile_options, NSInteger, mathMode)
VALUE_PROPERTY(compile_options, NSInteger, mathFloatingPointFunctions)
VALUE_PROPERTY(compile_options, NSUInteger, languageVersion)
VALUE_PROPERTY(compile_options, NSInteger, libraryType)
COPY_PROPERTY(compile_options, installName)
COPY_PROPERTY(compile_options, libraries)
FLAG_PROPERTY(compile_options, preserveInvariance)
VALUE_PROPERTY(compile_options, NSInteger, optimizationLevel)
VALUE_PROPERTY(compile_options, NSInteger, compileSymbolVisibility)
FLAG_PROPERTY(compile_options, allowReferencingUndefinedSymbols)
VALUE_PROPERTY(compile_options, NSUInteger, maxTotalThreadsPerThreadgroup)
FLAG_PROPERTY(compile_options, enableLogging)

// The property of before macOS 15: the same switch with two positions.
static int options_is_fast(id self, SEL _cmd) {
  (void)_cmd;
  return ((compile_options *)self)->mathMode == MATH_FAST;
}

static void options_set_fast(id self, SEL _cmd, int value) {
  (void)_cmd;
  ((compile_options *)self)->mathMode =
      (value & 0xff) != 0 ? MATH_FAST : MATH_SAFE;
}

METHODS(
    options_methods, METHOD("init", "@16@0:8", options_init),
    REFERENCES_METHODS(compile_options),
    METHOD("fastMathEnabled", "B16@0:8", options_is_fast),
    METHOD("setFastMathEnabled:", "v20@0:8B16", options_set_fast),
    OBJECT_METHODS(compile_options, preprocessorMacros,
                   "setPreprocessorMacros:"),
    VALUE_METHODS(compile_options, mathMode, "setMathMode:", "q"),
    VALUE_METHODS(compile_options, mathFloatingPointFunctions,
                  "setMathFloatingPointFunctions:", "q"),
    VALUE_METHODS(compile_options, languageVersion, "setLanguageVersion:",
                  "Q"),
    VALUE_METHODS(compile_options, libraryType, "setLibraryType:", "q"),
    OBJECT_METHODS(compile_options, installName, "setInstallName:"),
    OBJECT_METHODS(compile_options, libraries, "setLibraries:"),
    FLAG_METHODS(compile_options, preserveInvariance,
                 "setPreserveInvariance:"),
    VALUE_METHODS(compile_options, optimizationLevel, "setOptimizationLevel:",
                  "q"),
    VALUE_METHODS(compile_options, compileSymbolVisibility,
                  "setCompileSymbolVisibility:", "q"),
    FLAG_METHODS(compile_options, allowReferencingUndefinedSymbols,
                 "setAllowReferencingUndefinedSymbols:"),
    VALUE_METHODS(compile_options, maxTotalThreadsPerThreadgroup,
                  "setMaxTotalThreadsPerThreadgroup:", "Q"),
    FLAG_METHODS(compile_options, enableLogging, "setEnableLogging:"));
DEFINE_CLASS(MTLCompileOptions, NSObject, sizeof(compile_options),
             options_methods, NO_METHODS);

// Versions older than 2.4 and newer than we know are taken as the nearest.
static mtl_language_version language_of(NSUInteger version) {
  if (!version) {
    return MTL_LANGUAGE_DEFAULT;
  }
  const NSUInteger number =
      (version >> 16) * 100 + (version & 0xffff) * 10;
  return number <= 240   ? MTL_LANGUAGE_2_4
         : number <= 300 ? MTL_LANGUAGE_3_0
         : number <= 310 ? MTL_LANGUAGE_3_1
         : number <= 320 ? MTL_LANGUAGE_3_2
         : number <= 400 ? MTL_LANGUAGE_4_0
                         : MTL_LANGUAGE_4_1;
}

static mtl_math_mode math_of(const compile_options *options) {
  if (options->mathMode == MATH_SAFE ||
      options->mathFloatingPointFunctions == FUNCTIONS_PRECISE) {
    return MTL_MATH_SAFE;
  }
  return options->mathMode == MATH_RELAXED ? MTL_MATH_RELAXED : MTL_MATH_FAST;
}

mtl_status library_from_source(mtl_device *device, const char *source,
                               id options, mtl_library **out_library) {
  mtl_compile_options chosen = {0};
  mtl_macro *macros = NULL;
  const compile_options *given = (compile_options *)options;
  if (given) {
    chosen.language_version = language_of(given->languageVersion);
    chosen.math_mode = math_of(given);
    const id names = SEND(id(*)(id, SEL), given->preprocessorMacros, "allKeys");
    const size_t count = array_count(names);
    macros = calloc(count + 1, sizeof *macros);
    for (size_t i = 0; macros && i < count; ++i) {
      const id value =
          dictionary_get(given->preprocessorMacros, array_at(names, i));
      macros[i] = (mtl_macro){
          string_utf8(array_at(names, i)),
          string_utf8(SEND(id(*)(id, SEL), value, "description"))};
    }
    chosen.macros = macros;
    chosen.macro_count = macros ? count : 0;
  }
  const mtl_status status = mtl_library_create_from_source(
      device, source, strlen(source), &chosen, out_library);
  free(macros);
  return status;
}

// --- MTLFunctionConstantValues -----------------------------------------------

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
      {3, MTL_TYPE_FLOAT}, {16, MTL_TYPE_HALF},   {29, MTL_TYPE_INT},
      {33, MTL_TYPE_UINT}, {37, MTL_TYPE_SHORT},  {41, MTL_TYPE_USHORT},
      {45, MTL_TYPE_CHAR}, {49, MTL_TYPE_UCHAR},  {53, MTL_TYPE_BOOL},
      {81, MTL_TYPE_LONG}, {85, MTL_TYPE_ULONG},  {121, MTL_TYPE_BFLOAT},
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

METHODS(descriptor_methods, REFERENCES_METHODS(function_descriptor),
        OBJECT_METHODS(function_descriptor, name, "setName:"),
        OBJECT_METHODS(function_descriptor, specializedName,
                       "setSpecializedName:"),
        OBJECT_METHODS(function_descriptor, constantValues,
                       "setConstantValues:"),
        VALUE_METHODS(function_descriptor, options, "setOptions:", "Q"),
        OBJECT_METHODS(function_descriptor, binaryArchives,
                       "setBinaryArchives:"));
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
DEFINE_CLASS(MettleFunction, NSObject, sizeof(metal_function),
             function_methods, NO_METHODS);

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
  const mtl_status status = mtl_function_create(
      library->library, string_utf8(name),
      constants ? ((constant_values *)constants)->values : NULL, &function);
  // Without values a function can be had, to ask which it needs.
  const bool is_bare = status == MTL_INVALID_ARGUMENT && !constants;
  if (status != MTL_OK && !is_bare) {
    error_from_mettle(out_error, MTLLibraryErrorDomain, status);
    return NULL;
  }
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

static id library_function_by(id self, SEL _cmd, id descriptor,
                              id *out_error) {
  (void)_cmd;
  const function_descriptor *wanted = (function_descriptor *)descriptor;
  const id made =
      new_function(self, wanted->name, wanted->constantValues, out_error);
  if (made && wanted->specializedName) {
    metal_function_set_label(made, _cmd, wanted->specializedName);
  }
  return made;
}

static void library_function_then(id self, SEL _cmd, id name, id constants,
                                  id literal) {
  (void)_cmd;
  id error = NULL;
  const id made =
      objc_autorelease(new_function(self, name, constants, &error));
  BLOCK_CALL(void (*)(id, id, id), literal, made, error);
}

static void library_function_by_then(id self, SEL _cmd, id descriptor,
                                     id literal) {
  id error = NULL;
  const id made = objc_autorelease(
      library_function_by(self, _cmd, descriptor, &error));
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

METHODS(
    library_methods, METHOD("dealloc", "v16@0:8", library_dealloc),
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
  return create(device, library);
}

static id new_from_source(id self, SEL _cmd, id source, id options,
                          id *out_error) {
  (void)_cmd;
  const compile_options *given = (compile_options *)options;
  if (given && (given->libraryType == TYPE_DYNAMIC ||
                array_count(given->libraries))) {
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

// Makes the library in data, or all of joined ones, the last first.
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
    const mtl_status status = library_from_data(
        device_of(self), parts[i].data, parts[i].length, &library);
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

// The library that a program ships: default.metallib beside it.
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

METHODS(
    device_methods,
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
