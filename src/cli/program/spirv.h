// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// spirv.h: SPIR-V as a program: its MSL, by the program spirv-cross.
#ifndef METTLE_CLI_SPIRV_H
#define METTLE_CLI_SPIRV_H

#include "cli/base/arguments.h"

// True if bytes begin as SPIR-V does, in either order of bytes.
bool spirv_is(const char *bytes, size_t size);

// Runs spirv-cross on a module.
//
//   name      of its file, for errors
//   out_text  [*out_size], its MSL; free() it
bool spirv_to_source(const char *name, const char *bytes, size_t size,
                     char **out_text, size_t *out_size, cli_error *error);

#endif
