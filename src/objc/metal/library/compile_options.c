// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// compile_options.c: MTLCompileOptions, and compiles source by them.
#include "objc/metal/library/compile_options.h"

#include <stdlib.h>
#include <string.h>

#include "objc/metal/metal.h"
#include "objc/metal/property.h"

enum { TYPE_DYNAMIC = 1 };  // MTLLibraryType
// MTLMathMode and MTLMathFloatingPointFunctions.
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

METHODS(options_methods, METHOD("init", "@16@0:8", options_init),
        REFERENCES_METHODS(compile_options),
        METHOD("fastMathEnabled", "B16@0:8", options_is_fast),
        METHOD("setFastMathEnabled:", "v20@0:8B16", options_set_fast),
        OBJECT_METHODS(compile_options, preprocessorMacros,
                       "setPreprocessorMacros:"),
        VALUE_METHODS(compile_options, mathMode, "setMathMode:", "q"),
        VALUE_METHODS(compile_options, mathFloatingPointFunctions,
                      "setMathFloatingPointFunctions:", "q"),
        VALUE_METHODS(compile_options, languageVersion,
                      "setLanguageVersion:", "Q"),
        VALUE_METHODS(compile_options, libraryType, "setLibraryType:", "q"),
        OBJECT_METHODS(compile_options, installName, "setInstallName:"),
        OBJECT_METHODS(compile_options, libraries, "setLibraries:"),
        FLAG_METHODS(compile_options, preserveInvariance,
                     "setPreserveInvariance:"),
        VALUE_METHODS(compile_options, optimizationLevel,
                      "setOptimizationLevel:", "q"),
        VALUE_METHODS(compile_options, compileSymbolVisibility,
                      "setCompileSymbolVisibility:", "q"),
        FLAG_METHODS(compile_options, allowReferencingUndefinedSymbols,
                     "setAllowReferencingUndefinedSymbols:"),
        VALUE_METHODS(compile_options, maxTotalThreadsPerThreadgroup,
                      "setMaxTotalThreadsPerThreadgroup:", "Q"),
        FLAG_METHODS(compile_options, enableLogging, "setEnableLogging:"));
DEFINE_CLASS(MTLCompileOptions, NSObject, sizeof(compile_options),
             options_methods, NO_METHODS);

// Maps an MTLLanguageVersion, major << 16 | minor, to the nearest version that
// is supported.
static mtl_language_version language_of(NSUInteger version) {
  if (!version) {
    return MTL_LANGUAGE_DEFAULT;
  }
  const NSUInteger number = (version >> 16) * 100 + (version & 0xffff) * 10;
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
      macros[i] =
          (mtl_macro){string_utf8(array_at(names, i)),
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

bool compile_options_want_dynamic(id options) {
  const compile_options *given = (compile_options *)options;
  return given &&
         (given->libraryType == TYPE_DYNAMIC || array_count(given->libraries));
}
