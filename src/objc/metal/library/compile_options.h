// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// compile_options.h: reads an MTLCompileOptions for library.c.
#ifndef METTLE_OBJC_COMPILE_OPTIONS_H
#define METTLE_OBJC_COMPILE_OPTIONS_H

#include <stdbool.h>

#include "objc/runtime/abi.h"

// True if the options ask for a dynamic library, or for libraries to link.
bool compile_options_want_dynamic(id options);

#endif
