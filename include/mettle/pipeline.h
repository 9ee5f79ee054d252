// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// pipeline.h: one function, made ready to run on one device.
#ifndef METTLE_PIPELINE_H
#define METTLE_PIPELINE_H

#include "check.h"
#include "library.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mtl_pipeline mtl_pipeline;
typedef struct mtl_binary_archive mtl_binary_archive;  // binary_archive.h

// The most private memory that a thread may have, in any tier: the arrays,
// structures and matrices over 64 bytes that its kernel declares, with those of
// the functions that it calls, one within the other. 32 threads of it fit the
// stack that kernels run on.
#define MTL_MAX_PRIVATE_BYTES (1024 * 1024)

// Visible functions that a pipeline's kernel may call.
//
// Source     Metal: MTLLinkedFunctions; its groups are hints, and not here
typedef struct mtl_linked_functions {
  // [function_count] for function tables (function_table.h), and for calls by
  // name.
  mtl_function *const *functions;
  size_t function_count;
  // [private_function_count] for calls by name alone, by kernels that declare
  // them: `extern float shade(float);`.
  mtl_function *const *private_functions;
  size_t private_function_count;
} mtl_linked_functions;

typedef struct mtl_pipeline_desc {
  uint32_t max_total_threads_per_threadgroup;  // threads; 0 for the device's
  const char *label;                           // copied; NULL for the name
  // [3] threads along each side of the threadgroups that dispatches will have,
  // if known: the code for them is made at once. Zeros for a guess.
  // Threadgroups of other shapes run as well; the first may wait for code of
  // their own.
  uint32_t group_threads[3];
  mtl_linked_functions linked_functions;  // the pipeline retains them
  // How deep calls through function tables nest: 2 if a function of a table
  // calls through one. 0 means 1, at most 8.
  uint32_t max_call_stack_depth;
  bool debug;  // tier T0: one thread at a time, unoptimised; a dispatch runs
               // on one thread of the host, in order of threadgroups and
               // threads, which take turns where they wait for each other and,
               // within a simdgroup, around stores to memory that they share
  const char *dump_after;  // keep the compiler's IR as it is after this pass,
                           // for mtl_pipeline_dump, and compile past the
                           // cache; NULL for none, "vectorize.STEP" for a
                           // step of the vectoriser, "steps" for a table of
                           // all with their times, "asm" for the machine
                           // code as text, with "; FILE:LINE" in front of
                           // what is of another line. If a later stage fails,
                           // the error's text ends with it, from a line
                           // "; kernel NAME after PASS" on. " without STEP"
                           // or " without STEP,STEP" behind it leaves steps of
                           // the vectoriser out
  // [archive_count] where the code is looked for, before it is compiled; the
  // pipeline retains them, for code for other threadgroups. dump_after passes
  // them by.
  mtl_binary_archive *const *archives;
  size_t archive_count;
  bool fail_on_archive_miss;  // code that is in none of them is MTL_NOT_FOUND
  // MTL_CHECK_ bits of check.h: tier "checked", in the place of debug's and the
  // usual one, on a device that runs on the host; 0 for what METTLE_CHECK says.
  uint32_t check;
  bool report_code;           // mtl_pipeline_report counts the machine code's
                     // registers and spills too, which takes a little time
} mtl_pipeline_desc;

// Compiles function for its device, or takes it from the cache.
//
//   desc   NULL for the defaults
//
// Ownership  The pipeline is yours; it retains function's device, and function
//            where other threadgroups may need other code.
// Threads    Any.
// Errors     MTL_COMPILE_FAILED, MTL_COMPILER_LOST
//            MTL_UNSUPPORTED       also a kernel with more private memory than
//                                  MTL_MAX_PRIVATE_BYTES, or of no fixed size
//                                  (alloca); the text has the numbers
//            MTL_INVALID_ARGUMENT  function is no kernel, a linked one is, or
//                                  is another device's
//            MTL_NOT_FOUND  dump_after is no pass; the text lists all
// Source     Metal: -[MTLDevice newComputePipelineStateWithFunction:error:]
MTL_API MTL_MUST_USE mtl_status
mtl_pipeline_create(mtl_function *function, const mtl_pipeline_desc *desc,
                    mtl_pipeline **out_pipeline);

// Receives the pipeline, or NULL with the status and text of the failure.
//
// Ownership  pipeline is yours; error is borrowed.
// Threads    Called once, on a thread of Mettle's.
typedef void mtl_pipeline_callback(void *context, mtl_pipeline *pipeline,
                                   mtl_status status, const char *error);

// Does the same in the background and calls back.
//
// Ownership  Retains function and its linked functions until the callback
//            returns. Borrows desc.
MTL_API MTL_MUST_USE mtl_status
mtl_pipeline_create_async(mtl_function *function, const mtl_pipeline_desc *desc,
                          mtl_pipeline_callback *callback, void *context);

MTL_API mtl_pipeline *mtl_pipeline_retain(mtl_pipeline *pipeline);
MTL_API void mtl_pipeline_release(mtl_pipeline *pipeline);

// A linked function as one pipeline has it, to be put into its tables.
typedef struct mtl_function_handle mtl_function_handle;

// Finds a function among those that the pipeline was linked with for tables.
//
// Ownership  The handle is yours; it retains pipeline.
// Errors     MTL_NOT_FOUND  it is none of them
// Source     Metal: -[MTLComputePipelineState functionHandleWithFunction:]
MTL_API MTL_MUST_USE mtl_status mtl_pipeline_function_handle(
    mtl_pipeline *pipeline, const mtl_function *function,
    mtl_function_handle **out_handle);
MTL_API mtl_function_handle *mtl_function_handle_retain(
    mtl_function_handle *handle);
MTL_API void mtl_function_handle_release(mtl_function_handle *handle);
MTL_API const char *mtl_function_handle_name(const mtl_function_handle *handle);

// Gives the number by which kernels that encode indirect commands know the
// pipeline: what compute_pipeline_state of MSL is in an argument buffer. The
// same each time, never 0, and no other pipeline's of the device.
//
// Errors     MTL_UNSUPPORTED    kernels of the device encode no commands
//            MTL_OUT_OF_MEMORY
// Source     Metal: -[MTLComputePipelineState gpuResourceID]
MTL_API MTL_MUST_USE mtl_status
mtl_pipeline_resource_id(mtl_pipeline *pipeline, uint64_t *out_id);

// Threads in a threadgroup at the most.
MTL_API uint32_t
mtl_pipeline_max_total_threads_per_threadgroup(const mtl_pipeline *pipeline);
// Threads in a simdgroup: 32.
MTL_API uint32_t
mtl_pipeline_thread_execution_width(const mtl_pipeline *pipeline);
// Bytes of threadgroup variables declared in the function.
MTL_API size_t
mtl_pipeline_static_threadgroup_memory_bytes(const mtl_pipeline *pipeline);
MTL_API const mtl_argument *mtl_pipeline_arguments(const mtl_pipeline *pipeline,
                                                   size_t *out_count);
MTL_API const char *mtl_pipeline_label(const mtl_pipeline *pipeline);
// Returns what the compiler tells of the machine code that it made: vectorised
// or why not, how barriers run; with report_code its registers and spills.
// Text for people; "" if it tells nothing. Valid as long as the pipeline.
MTL_API const char *mtl_pipeline_report(const mtl_pipeline *pipeline);
// Returns the LLVM IR that dump_after asked for, "" without it. Valid as long
// as the pipeline.
MTL_API const char *mtl_pipeline_dump(const mtl_pipeline *pipeline);

#ifdef __cplusplus
}
#endif
#endif
