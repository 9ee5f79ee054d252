// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// code.h: the code container, the one form in which compiled code travels:
// from the compiler to the runtime, to the disk cache, to a file and back.
//
// A container of a library holds its functions, their argument tables, its
// function constants and the portable IR (LLVM bitcode). A container of a
// pipeline holds one function and, besides, the machine code for it. This
// header is the decoded form; container_write.c turns it into bytes and
// container_read.c back. No LLVM, no device.
#ifndef MTLI_CODE_H
#define MTLI_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory/arena.h"
#include "code/cpu_facts.h"
#include "code/group_class.h"
#include "mettle/library.h"

// The source of a kernel parameter's value. Buffers, threadgroup memory,
// textures and samplers come from the client (mtl_argument_kind); the rest are
// the built-in inputs of the MSL specification, section "attributes for kernel
// functions".
typedef enum mtli_builtin {
  MTLI_BUILTIN_NONE = 0,
  MTLI_THREAD_POSITION_IN_GRID,
  MTLI_THREAD_POSITION_IN_THREADGROUP,
  MTLI_THREADGROUP_POSITION_IN_GRID,
  MTLI_THREADS_PER_THREADGROUP,
  MTLI_DISPATCH_THREADS_PER_THREADGROUP,
  MTLI_THREADS_PER_GRID,
  MTLI_THREADGROUPS_PER_GRID,
  MTLI_GRID_ORIGIN,  // always 0
  MTLI_GRID_SIZE,    // threads_per_grid
  MTLI_THREAD_INDEX_IN_THREADGROUP,
  MTLI_THREAD_INDEX_IN_SIMDGROUP,
  MTLI_THREAD_INDEX_IN_QUADGROUP,
  MTLI_SIMDGROUP_INDEX_IN_THREADGROUP,
  MTLI_QUADGROUP_INDEX_IN_THREADGROUP,
  MTLI_SIMDGROUPS_PER_THREADGROUP,
  MTLI_QUADGROUPS_PER_THREADGROUP,
  MTLI_DISPATCH_SIMDGROUPS_PER_THREADGROUP,
  MTLI_DISPATCH_QUADGROUPS_PER_THREADGROUP,
  MTLI_THREADS_PER_SIMDGROUP,  // thread_execution_width
  MTLI_THREADGROUPS_AT_ONCE,   // of the compiler's own: mtli_cpu_group.count
  MTLI_BUILTIN_COUNT,
} mtli_builtin;

// The macro is its own inverse.
#define MTLI_ENABLED_IF_DEFINED(position) (-2 - (position))

// One parameter of a kernel, in source order.
typedef struct mtli_parameter {
  mtl_argument argument;  // for MTLI_BUILTIN_NONE; name is always set
  bool is_constant;       // in the address space constant
  bool is_unused;         // the code never uses it; known of pipelines alone
  // A reference whose type ends with an array of one element or none:
  // translators write an array so if its length follows from the buffer.
  bool has_open_end;
  mtli_builtin builtin;
  uint32_t builtin_components;       // 1 to 3
  uint32_t builtin_component_bytes;  // 2 or 4
  // The function constant that decides whether the argument is there: by its
  // value, the position in mtli_code.constants; by whether it is defined,
  // MTLI_ENABLED_IF_DEFINED of the position; -1 if the argument always is.
  int32_t enabling_constant;
  // A computation over constants that decides it instead; NULL or "" for none.
  // Integers, c or d with a constant's position for its value or whether it is
  // defined, and C's operators behind their operands, all with blanks between:
  // "d0 c0 &&". Floats are f with a position, x with the bits of a number, and
  // have operators that begin with a dot, .from an integer and .to one among
  // them: "f1 x1073741824 .>".
  const char *condition;
  // Of a struct with resources or [[id(n)]], as argument encoders need it; ""
  // for none. Words with blanks between: its size and alignment in bytes, then
  // for each member that is no struct: id, offset in bytes, kind (b buffer,
  // t texture, s sampler, f function table, p pipeline, i indirect commands, c
  // constant), elements, bytes of one, name as a path ("-" for none); a buffer
  // of such structs has their layout in { } behind it.
  const char *layout;
} mtli_parameter;

typedef struct mtli_kernel {
  const char *name;    // host name
  bool is_visible;     // a visible function, which kernels call; no parameters
  const char *symbol;  // of the per-thread function in the IR, or of itself
  const char *file;    // where it is declared, and
  uint32_t line;
  mtli_parameter *parameters;  // [parameter_count]
  size_t parameter_count;
  uint32_t max_total_threads_per_threadgroup;  // attribute; 0 if none
  // Known only in a pipeline's container:
  uint32_t static_threadgroup_bytes;
  uint32_t tier;  // mtli_tier of the machine code
  // The threadgroups that the machine code is for, and how it depends on that.
  mtli_group_class group_class;
  mtli_cpu_facts facts;
} mtli_kernel;

typedef struct mtli_constant {
  mtl_constant_info info;
  const char *symbol;  // the global in the IR
} mtli_constant;

// A value for a constant when a pipeline is made, by position.
typedef struct mtli_constant_value {
  bool is_set;
  uint8_t bytes[32];  // components * size of the constant's type
} mtli_constant_value;

// Execution tiers: how a kernel's threads become machine code.
typedef enum mtli_tier {
  MTLI_TIER_0 = 0,  // one thread at a time, unoptimised
  MTLI_TIER_1 = 1,  // optimised
  MTLI_TIER_CHECKED = 2,  // one thread at a time, every access checked
  // Optimised code that stops where a checked one might report; if it does not
  // stop, there are no findings.
  MTLI_TIER_SCREENED = 3,
} mtli_tier;

typedef enum mtli_blob_kind {
  MTLI_BLOB_IR = 1,     // LLVM bitcode, portable IR (docs/ir.md)
  MTLI_BLOB_ELF = 2,    // shared object with the symbols of cpu_abi.h
  MTLI_BLOB_PTX = 3,    // PTX text
  MTLI_BLOB_REPORT = 4, // text of `mettle compile --report`
  MTLI_BLOB_SOURCE = 5, // MSL, for a device that compiles it itself
} mtli_blob_kind;

typedef struct mtli_blob {
  mtli_blob_kind kind;
  const char *target;  // "x86_64 avx512f,..." for ELF; "" for IR
  const void *bytes;   // [size_bytes]
  size_t size_bytes;
} mtli_blob;

typedef struct mtli_code {
  mtl_language_version language_version;
  mtl_math_mode math_mode;
  bool debug;
  const char *warnings;  // the compiler's, "" for none
  // Functions that no pipeline here can run, a line each: the stage, a blank,
  // the name. "" for none.
  const char *other_functions;
  mtli_kernel *kernels;  // [kernel_count], source order
  size_t kernel_count;
  mtli_constant *constants;  // [constant_count], by rising index
  size_t constant_count;
  mtli_blob *blobs;  // [blob_count]
  size_t blob_count;
} mtli_code;

// A container together with the bytes that it was decoded from: from a
// compiler, the cache or a file.
typedef struct mtli_compiled {
  mtli_arena arena;
  mtli_code *code;
  void *bytes;  // [size_bytes] the container itself
  size_t size_bytes;
  char *dump;  // malloc'ed: the IR that dump_after asked for; NULL without it
  bool from_cache;
} mtli_compiled;

void mtli_compiled_clear(mtli_compiled *compiled);

// Encodes code as a container.
//
//   out_bytes  malloc'ed, yours; starts with the magic "MTLCODE" and a format
//              version, ends with a checksum of everything before
mtl_status mtli_code_write(const mtli_code *code, void **out_bytes,
                           size_t *out_size_bytes);

// Decodes a container, checking every length, offset, count, enumeration and
// the checksum; any input is safe.
//
// Ownership  *out_code lives in arena, but for blob bytes, which stay in
//            bytes: keep both alive.
// Errors     MTL_BAD_DATA  the text says what is wrong and at which offset
mtl_status mtli_code_read(const void *bytes, size_t size_bytes,
                          mtli_arena *arena, mtli_code **out_code);

// Returns the blob of a kind, or NULL.
const mtli_blob *mtli_code_find_blob(const mtli_code *code,
                                     mtli_blob_kind kind);
// Returns the kernel of a name, or NULL.
const mtli_kernel *mtli_code_find_kernel(const mtli_code *code,
                                         const char *name);

#endif
