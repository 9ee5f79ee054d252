// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// library.h: MSL source, compiled, and the functions in it.
//
// A library is made by the compiler, a process of its own that the runtime
// starts at the first need and keeps. Whatever happens to that process is a
// status here. Libraries and pipelines are cached on disk (docs/choices.md).
#ifndef METTLE_LIBRARY_H
#define METTLE_LIBRARY_H

#include "device.h"
#include "texture.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mtl_library mtl_library;
typedef struct mtl_function mtl_function;
typedef struct mtl_constant_values mtl_constant_values;

// Metal language versions, major * 100 + minor * 10, as __METAL_VERSION__.
typedef enum mtl_language_version {
  MTL_LANGUAGE_DEFAULT = 0,  // 3.2
  MTL_LANGUAGE_2_4 = 240,
  MTL_LANGUAGE_3_0 = 300,
  MTL_LANGUAGE_3_1 = 310,
  MTL_LANGUAGE_3_2 = 320,
  MTL_LANGUAGE_4_0 = 400,  // with tensors
  MTL_LANGUAGE_4_1 = 410,  // as 4.0
} mtl_language_version;

// What the compiler may do with floating point.
//
// Source     Metal: MTLMathMode; its default is fast
typedef enum mtl_math_mode {
  MTL_MATH_FAST = 0,  // fast variants of functions, contraction allowed;
                      // of min and max with a NaN any result, simd_sum in the
                      // order that is fastest;
                      // subnormal bfloats in products of simdgroup matrices,
                      // and subnormal sums of these, may count as 0
  MTL_MATH_RELAXED,   // fast variants, infinities and NaN kept; bfloats and
                      // contraction as above
  MTL_MATH_SAFE,      // precise variants, IEEE semantics
} mtl_math_mode;

typedef struct mtl_macro {
  const char *name;   // NAME or NAME(PARAMETERS)
  const char *value;  // NULL means 1; one line
} mtl_macro;

// Finds the text of a header that a source includes and that is neither part
// of Metal's library nor on the include paths.
//
//   name        as written between the quotes or brackets
//   out_text    [*out_length] the header, valid until the compile call returns
//
// Returns false if there is no such header. Called on the thread that called
// mtl_library_create_from_source, before that call returns.
typedef bool mtl_header_callback(void *context, const char *name,
                                 const char **out_text, size_t *out_length);

// A source reads no files of its own accord but those under its include paths
// and, if it has a file name, under the folder of that: neither by an absolute
// path, nor by "..", nor through links that lead elsewhere, and __has_include
// finds nothing there. Without both it reads no files at all. Relative paths
// start in the working directory (docs/security.md).
typedef struct mtl_compile_options {
  mtl_language_version language_version;
  mtl_math_mode math_mode;
  const mtl_macro *macros;  // [macro_count]
  size_t macro_count;
  const char *const *include_paths;  // [include_path_count], searched in order
  size_t include_path_count;
  mtl_header_callback *header_callback;  // NULL for none
  void *header_context;
  const char *file_name;  // shown in diagnostics, and its folder is searched;
                          // NULL means "program_source", and no folder
  bool debug;             // full debug information; pipelines use tier T0
  bool keep_source;       // in the library and its data: mtl_library_source
  bool permissive;        // what Metal's compiler refuses and this one can
                          // compile is a warning, as with -fpermissive
} mtl_compile_options;

// Compiles MSL source.
//
//   source   [source_bytes] UTF-8 text, no terminator needed
//   options  NULL for the defaults
//
// Ownership  The library is yours; it retains device. The rest is borrowed.
// Threads    Any; calls from several threads compile side by side.
// Errors     MTL_INVALID_ARGUMENT  an option is none, a macro cannot be
//            MTL_COMPILE_FAILED  the text is every diagnostic, each as
//                                file:line:column: error: text, the line and
//                                a caret
//            MTL_COMPILER_LOST   the compiler died or passed its limits
//                                (METTLE_COMPILER_SECONDS of processor
//                                time, default 120, or four times that by the
//                                clock;
//                                METTLE_COMPILER_MEMORY_MB, default 4096)
// Source     Metal: -[MTLDevice newLibraryWithSource:options:error:]
MTL_API MTL_MUST_USE mtl_status mtl_library_create_from_source(
    mtl_device *device, const char *source, size_t source_bytes,
    const mtl_compile_options *options, mtl_library **out_library);

// Receives the library, or NULL with the status and text of the failure.
//
// Ownership  library is yours; error is borrowed.
// Threads    Called once, on a thread of Mettle's.
typedef void mtl_library_callback(void *context, mtl_library *library,
                                  mtl_status status, const char *error);

// Compiles in the background and calls back.
//
// Ownership  Copies source and options, but for the header callback, which is
//            called on the thread that compiles. Retains device.
// Threads    Any.
// Errors     MTL_INVALID_ARGUMENT  device, source or callback is NULL
//            MTL_OUT_OF_MEMORY. All others go to the callback
// Source     Metal: newLibraryWithSource:options:completionHandler:
MTL_API MTL_MUST_USE mtl_status mtl_library_create_from_source_async(
    mtl_device *device, const char *source, size_t source_bytes,
    const mtl_compile_options *options, mtl_library_callback *callback,
    void *context);

// What keeps a source that takes the compiler process over from doing harm. A
// kernel of Linux that lacks one, or a sandbox that forbids it, leaves it out
// (docs/security.md).
typedef enum mtl_confinement {
  MTL_CONFINED_CALLS = 1,  // seccomp: no programs, network, other processes
  MTL_CONFINED_FILES = 2,  // Landlock: reads what the source may include
} mtl_confinement;

// Has a compiler process try what it must not be able to do.
//
//   out_confined  MTL_CONFINED_* that held, added up
//
// Threads    Any.
// Errors     MTL_COMPILER_LOST, MTL_OUT_OF_MEMORY
MTL_API MTL_MUST_USE mtl_status
mtl_compiler_confinement(uint32_t *out_confined);

// Makes a library from a code container in memory, checked in full, or from one
// of Metal's compiled libraries (metallib; docs/metallib.md), of which the list
// of functions is read alone: a function is translated when it is created.
//
// Ownership  Borrows data.
// Errors     MTL_BAD_DATA     damaged, cut short, or from another version
//            MTL_UNSUPPORTED  a metallib for another system than macOS, or a
//                             universal file
// Source     Metal: -[MTLDevice newLibraryWithData:error:]
MTL_API MTL_MUST_USE mtl_status
mtl_library_create_from_data(mtl_device *device, const void *data,
                             size_t data_bytes, mtl_library **out_library);

// The same from a file that mtl_library_write wrote, or from a metallib, which
// stays open as long as the library lives and is read piece by piece.
//
// Errors     MTL_NOT_FOUND, MTL_IO_ERROR, MTL_BAD_DATA; the text has the path
MTL_API MTL_MUST_USE mtl_status mtl_library_create_from_file(
    mtl_device *device, const char *path, mtl_library **out_library);

// Writes the library's code container to path, atomically; into a pipe or
// device directly.
MTL_API MTL_MUST_USE mtl_status mtl_library_write(const mtl_library *library,
                                                  const char *path);

// Returns the library's code container, [*out_size_bytes], as
// mtl_library_create_from_data takes it; of a metallib the metallib. Valid as
// long as the library. NULL if a metallib's file cannot be read.
MTL_API const void *mtl_library_data(const mtl_library *library,
                                     size_t *out_size_bytes);

// Returns the source that the library was compiled from with keep_source, here
// or before it was written; NULL if it was not kept. Not terminated. Valid as
// long as the library.
MTL_API const char *mtl_library_source(const mtl_library *library,
                                       size_t *out_length);

MTL_API mtl_library *mtl_library_retain(mtl_library *library);
MTL_API void mtl_library_release(mtl_library *library);

// Returns the warnings of the compilation, "" if there were none. Valid as
// long as the library.
MTL_API const char *mtl_library_warnings(const mtl_library *library);

// Returns the number of kernels and visible functions.
MTL_API size_t mtl_library_function_count(const mtl_library *library);
// Returns the name of function index, kernels in source order and then visible
// functions; NULL past the end.
MTL_API const char *mtl_library_function_name(const mtl_library *library,
                                              size_t index);
// Tells whether function index is a [[visible]] function, which kernels call
// through function tables (function_table.h), and no kernel.
//
// Source     Metal: MTLFunctionTypeVisible
MTL_API bool mtl_library_function_is_visible(const mtl_library *library,
                                             size_t index);

// The types of function constants and of arguments' elements.
typedef enum mtl_data_type {
  MTL_TYPE_NONE = 0,  // a struct or a type with no name here
  MTL_TYPE_BOOL,
  MTL_TYPE_CHAR,
  MTL_TYPE_UCHAR,
  MTL_TYPE_SHORT,
  MTL_TYPE_USHORT,
  MTL_TYPE_INT,
  MTL_TYPE_UINT,
  MTL_TYPE_LONG,
  MTL_TYPE_ULONG,
  MTL_TYPE_HALF,
  MTL_TYPE_BFLOAT,
  MTL_TYPE_FLOAT,
} mtl_data_type;

// Returns the size of one element in bytes; 0 for MTL_TYPE_NONE.
MTL_API size_t mtl_data_type_size(mtl_data_type type);

// A declared function constant.
typedef struct mtl_constant_info {
  const char *name;
  uint32_t index;  // n of [[function_constant(n)]]
  mtl_data_type type;
  uint32_t components;  // 1 to 4
  bool required;        // read without is_function_constant_defined
} mtl_constant_info;

// Returns the constants that the library declares. Valid as long as it. Those
// of a metallib are its functions': mtl_library_function_constants.
MTL_API const mtl_constant_info *mtl_library_constants(
    const mtl_library *library, size_t *out_count);

// Finds the constants that a function may be created with: of a metallib its
// own, for which it is translated; of any other library all.
//
//   out_infos  [*out_count] by rising index, valid as long as library
//
// Threads    Any; may block.
// Errors     MTL_NOT_FOUND; of a metallib also as mtl_function_create
// Source     Metal: -[MTLFunction functionConstantsDictionary]
MTL_API MTL_MUST_USE mtl_status mtl_library_function_constants(
    mtl_library *library, const char *name, const mtl_constant_info **out_infos,
    size_t *out_count);

// Makes an empty set of constant values.
//
// Ownership  The set is yours.
MTL_API MTL_MUST_USE mtl_status
mtl_constant_values_create(mtl_constant_values **out_values);
MTL_API void mtl_constant_values_release(mtl_constant_values *values);

// Sets the constant with the given index, or by name. A later value replaces
// an earlier one.
//
//   components  1 to 4; value is [components] elements of type
//
// Ownership  Borrows value.
// Threads    One at a time per set.
MTL_API MTL_MUST_USE mtl_status mtl_constant_values_set(
    mtl_constant_values *values, uint32_t index, mtl_data_type type,
    uint32_t components, const void *value);
MTL_API MTL_MUST_USE mtl_status mtl_constant_values_set_named(
    mtl_constant_values *values, const char *name, mtl_data_type type,
    uint32_t components, const void *value);

// Finds a function by name and fixes its constants.
//
//   name       the host name: [[host_name("…")]], or the function's own name
//   constants  NULL if the function uses none
//
// Ownership  The function is yours; it retains library. Borrows constants.
// Errors     MTL_NOT_FOUND         the text lists near names
//            MTL_UNSUPPORTED       a vertex or fragment function, or the like;
//                                  of a metallib, what has no definition here
//            MTL_BAD_DATA          a metallib's function is damaged
//            MTL_INVALID_ARGUMENT  a constant is of another type, or missing;
//                                  which of them the function's body needs is
//                                  known, and told, when a pipeline is made
// Source     Metal: -[MTLLibrary newFunctionWithName:constantValues:error:]
MTL_API MTL_MUST_USE mtl_status mtl_function_create(
    mtl_library *library, const char *name,
    const mtl_constant_values *constants, mtl_function **out_function);
MTL_API mtl_function *mtl_function_retain(mtl_function *function);
MTL_API void mtl_function_release(mtl_function *function);
MTL_API const char *mtl_function_name(const mtl_function *function);
// As mtl_library_function_is_visible.
MTL_API bool mtl_function_is_visible(const mtl_function *function);

typedef enum mtl_argument_kind {
  MTL_ARGUMENT_BUFFER = 0,          // device or constant pointer or reference,
                                    // or a tensor (tensor.h)
  MTL_ARGUMENT_THREADGROUP_MEMORY,  // [[threadgroup(n)]]
  MTL_ARGUMENT_TEXTURE,
  MTL_ARGUMENT_SAMPLER,
  MTL_ARGUMENT_FUNCTION_TABLE,  // visible_function_table<...>, [[buffer(n)]]
} mtl_argument_kind;

typedef enum mtl_access {
  MTL_ACCESS_READ_ONLY = 0,
  MTL_ACCESS_READ_WRITE,
  MTL_ACCESS_WRITE_ONLY,
} mtl_access;

// One member of a struct, as MSL lays it out: `uint size[2]` at offset 16. The
// members of base classes and of unnamed structs and unions are the struct's
// own; those of a union share their bytes.
//
// Source     Metal: MTLStructMember, MTLArrayType
typedef struct mtl_member mtl_member;
struct mtl_member {
  const char *name;
  const char *type_name;  // of one element, as written: "packed_float3"
  mtl_data_type type;     // of a component; MTL_TYPE_NONE for a struct, a
                          // pointer, a bit-field
  uint32_t components;    // 1 to 4, of a matrix those of a column; 0 for
                          // MTL_TYPE_NONE
  uint32_t columns;       // of a matrix, each size_bytes / columns long;
                          // otherwise 1
  uint32_t offset_bytes;  // in the struct that it is a member of
  uint32_t size_bytes;    // of one element, what aligns the next included
  uint32_t array_length;  // elements; 1 if no array
  // [member_count] of a struct, in its order; of an array of arrays, one
  // without a name: `uint g[2][3]` has array_length 2 and a uint of 3 in it.
  const mtl_member *members;
  uint32_t member_count;
};

// One argument of a function.
//
// Source     Metal: MTLBinding, MTLBufferBinding
typedef struct mtl_argument {
  const char *name;
  mtl_argument_kind kind;
  uint32_t index;  // in the table of its kind
  mtl_access access;
  const char *type_name;  // of the pointee, as written: "float4"; of a
                          // texture, all of it
  mtl_data_type type;     // of the pointee's elements
  uint32_t components;    // 1 to 4; 0 for a struct
  uint32_t size_bytes;    // of the pointee
  uint32_t alignment_bytes;
  bool is_reference;  // T&: needs at least size_bytes behind the offset
  bool is_active;     // false if the constants leave it out
  // Textures, samplers and function tables: how many, 1 unless it is an
  // array<T, n>.
  uint32_t array_length;
  mtl_texture_type texture_type;  // of a texture; type is its component's
  bool is_depth_texture;
  // [member_count] of a buffer's struct; of a matrix or an array, which have
  // no type here, one without a name.
  const mtl_member *members;
  uint32_t member_count;
  // A buffer that is a tensor<..., tensor_handle>: its dimensions, the
  // innermost first, -1 for one that is known at run time; 0 and NULL for any
  // other. type is its elements'.
  uint32_t tensor_rank;
  const int64_t *tensor_extents;  // [tensor_rank]
} mtl_argument;

// Returns the arguments in source order. Valid as long as the function.
MTL_API const mtl_argument *mtl_function_arguments(const mtl_function *function,
                                                   size_t *out_count);

#ifdef __cplusplus
}
#endif
#endif
