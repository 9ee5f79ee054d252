// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// metallib.h: compiled Metal libraries as libraries of ours. Such a library is
// a list of functions; each is translated when it is first asked for, into a
// library of its own, its part, which functions and pipelines then know alone.
#ifndef MTLI_RUNTIME_METALLIB_H
#define MTLI_RUNTIME_METALLIB_H

#include "runtime/objects.h"

// Reads the list of a library in memory, [size_bytes], malloc'ed.
//
// Ownership  Takes bytes, also on failure.
mtl_status mtli_metallib_open_memory(mtl_library *library, void *bytes,
                                     size_t size_bytes);

// Reads the list of a library in a file, if the file is one, and keeps the
// file open.
//
//   out_is  false if it is none, and nothing has been done
mtl_status mtli_metallib_open_file(mtl_library *library, const char *path,
                                   bool *out_is);

void mtli_metallib_close(mtl_library *library);

// Finds the part of function index, in compiled.code->kernels. Any thread.
//
// Ownership  *out_part lives as long as library.
mtl_status mtli_metallib_part(mtl_library *library, size_t index,
                              mtl_library **out_part);

// Reads all of the file into library->compiled.bytes, if it is not there yet.
mtl_status mtli_metallib_load_bytes(mtl_library *library);

// library.c: creates a library from the compiler's output.
//
// Ownership  Takes *compiled, also on failure.
mtl_status mtli_library_create_compiled(mtl_device *device,
                                        mtli_compiled *compiled,
                                        mtl_library **out_library);

#endif
