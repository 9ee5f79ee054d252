// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// dynamic_library.c: MTLDynamicLibrary, which is unsupported: calls return
// errors, and supportsDynamicLibraries is NO.
#include "objc/metal/metal.h"

CONSTANT_STRING(MTLDynamicLibraryDomain, "MTLDynamicLibraryDomain");

enum { ERROR_UNSUPPORTED = 5 };  // MTLDynamicLibraryErrorUnsupported

static id new_dynamic(id self, SEL _cmd, id from, id *out_error) {
  (void)self;
  (void)_cmd;
  (void)from;
  error_set(out_error, MTLDynamicLibraryDomain, ERROR_UNSUPPORTED,
            "dynamic libraries are not supported: compile the functions into "
            "the library that calls them, or call visible functions");
  return NULL;
}

METHODS(device_methods,
        METHOD("newDynamicLibrary:error:", "@32@0:8@16^@24", new_dynamic),
        METHOD("newDynamicLibraryWithURL:error:", "@32@0:8@16^@24",
               new_dynamic));
DEFINE_CATEGORY(MettleDevice, dynamic_libraries, device_methods);
