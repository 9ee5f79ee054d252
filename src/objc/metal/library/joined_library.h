// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// joined_library.h: several libraries in one file.
#ifndef METTLE_OBJC_JOINED_LIBRARY_H
#define METTLE_OBJC_JOINED_LIBRARY_H

#include "objc/metal/metal.h"

typedef struct joined_library {
  const void *data;  // [length], within the joined data
  size_t length;
} joined_library;

// True if data begins as joined libraries do.
bool joined_libraries_are(const void *data, size_t length);

// Finds the libraries in data. *out_parts [*out_count] must be freed.
mtl_status joined_libraries_read(const void *data, size_t length,
                                 joined_library **out_parts,
                                 size_t *out_count);

#endif
