// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// metallib.h: Metal's compiled libraries (metallib, magic "MTLB"): a list of
// functions, each a module of LLVM bitcode of its own. Reading one looks at the
// list alone; the bitcode is the compiler's business (compiler/air). No LLVM.
//
// Every number in such a file is from outside: lengths, offsets and counts are
// checked against the file before they are used.
#ifndef MTLI_METALLIB_H
#define MTLI_METALLIB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory/arena.h"
#include "mettle/status.h"

// A function's stage, as in its TYPE tag.
typedef enum mtli_metallib_stage {
  MTLI_METALLIB_VERTEX = 0,
  MTLI_METALLIB_FRAGMENT = 1,
  MTLI_METALLIB_KERNEL = 2,
  MTLI_METALLIB_UNQUALIFIED = 3,
  MTLI_METALLIB_VISIBLE = 4,
  MTLI_METALLIB_EXTERN = 5,
  MTLI_METALLIB_INTERSECTION = 6,
} mtli_metallib_stage;

typedef struct mtli_metallib_function {
  const char *name;
  uint32_t stage;           // mtli_metallib_stage, or one that is not known
  uint64_t bitcode_offset;  // in the file
  uint64_t bitcode_bytes;
  uint16_t air_version[2];       // major, minor; 0 where the file has none
  uint16_t language_version[2];  // of MSL
} mtli_metallib_function;

typedef struct mtli_metallib {
  mtli_metallib_function *functions;  // [function_count] in the file's order
  size_t function_count;
  bool has_source;  // the sources are in it, too
} mtli_metallib;

// Reads a range of a library's bytes.
//
// Copies size bytes from offset on to out. The range is within size_bytes.
typedef mtl_status mtli_metallib_read_fn(void *context, uint64_t offset,
                                         void *out, size_t size);
typedef struct mtli_metallib_source {
  uint64_t size_bytes;
  mtli_metallib_read_fn *read;
  void *context;
} mtli_metallib_source;

// Returns a source in memory; bytes [size_bytes] are borrowed.
mtli_metallib_source mtli_metallib_in_memory(const void *bytes,
                                             size_t size_bytes);

// bytes that mtli_metallib_is needs
enum { MTLI_METALLIB_MAGIC_BYTES = 8 };
// True if bytes that begin like this are a compiled library of Metal's, or a
// universal file, which contains such libraries.
bool mtli_metallib_is(const void *bytes, size_t size_bytes);

// Reads the list of functions, and nothing else.
//
// Ownership  The list lives in arena.
// Errors     MTL_BAD_DATA     damaged; the text says what and where
//            MTL_UNSUPPORTED  a universal file, a library for another system, of
//                             another kind or of a container of another age
mtl_status mtli_metallib_read(const mtli_metallib_source *source,
                              mtli_arena *arena, mtli_metallib *out_library);

#endif
