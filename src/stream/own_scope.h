// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// own_scope.h: opens shared libraries whose references bind to their own
// definitions, whatever the process has loaded under the same names.
#ifndef METTLE_STREAM_OWN_SCOPE_H
#define METTLE_STREAM_OWN_SCOPE_H

#include <stddef.h>

// Opens a library as dlopen does, for the caller alone. Its references to its
// own functions and variables reach these and no others, though a library in
// the global scope (preloaded, linked, or loaded globally) has the same names.
//
//   sentinel  a function that every version of the library has
//   out_why   [capacity] where it fails, what is in the way or dlerror's text
//
// Returns NULL if there is no such library, or if the dynamic linker cannot
// keep it apart and another library has its names.
void *own_scope_open(const char *name, const char *sentinel, char *out_why,
                     size_t capacity);

#endif
