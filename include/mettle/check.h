// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// check.h: the checker: what it is asked to look for in kernels, and what it
// has found. docs/checking.md has a session for each kind.
//
// A checked kernel runs one thread at a time on the host, with the same results
// to the bit, and each of its accesses is looked at. Findings do not stop it:
// a read out of bounds gives 0, a write is dropped. The command buffer ends
// with MTL_KERNEL_FAULT and the text of the first one.
//
// METTLE_CHECK asks for the same in any program, without these calls.
#ifndef METTLE_CHECK_H
#define METTLE_CHECK_H

#include "device.h"

#ifdef __cplusplus
extern "C" {
#endif

// Bits of mtl_pipeline_desc.check.
typedef enum mtl_check {
  MTL_CHECK_BOUNDS = 1,     // accesses outside of what they may touch
  MTL_CHECK_RACES = 2,      // accesses that nothing orders, one of them a write
  MTL_CHECK_INIT = 4,       // uses of what was never set
  MTL_CHECK_SYNC = 8,       // waits that not all threads come to
  MTL_CHECK_ALIGN = 16,     // addresses that are no multiple of their alignment
  MTL_CHECK_NAN = 32,       // where a value that is not finite is born
  MTL_CHECK_INTEGER = 64,   // division by zero, long shifts
  MTL_CHECK_HOST = 128,     // the host accesses a buffer in use; where kernels
                            // see other memory than it: on cpu-discrete
  MTL_CHECK_UNIFORM = 256,  // races of writes of one and the same value, too
  MTL_CHECK_STOP = 512,     // end the dispatch at its first finding
  MTL_CHECK_DEFAULT = 31,
} mtl_check;

// One side of a finding.
typedef struct mtl_check_place {
  const char *file;      // as the compiler was given it; "" if not known
  uint32_t line;         // 0 if not known
  uint32_t column;       // from 1
  const char *inlined;   // "f.metal:9:3, f.metal:20:7": where to; "" for nothing
  const char *does;      // "read", "write", "atomic", "barrier"
  const char *variable;  // argument or variable; "" if not known
  const char *kernel;
  bool has_thread;       // the next two are known
  uint32_t thread;       // thread_index_in_threadgroup
  uint32_t group[3];     // threadgroup_position_in_grid
  uint32_t dispatch;     // from 1, of the checked ones of the process
} mtl_check_place;

// A kind and a pair of lines, with its first instance.
typedef struct mtl_check_finding {
  const char *kind;  // "race.threadgroup"
  const char *text;  // what happened, for people
  mtl_check_place first;
  mtl_check_place second;  // line 0 and kernel "" if there is none
  uint64_t count;          // instances
  const char *schedule;    // to run it so again: "forward", "random:7"
} mtl_check_finding;

// Receives a finding; all of it is borrowed for the call.
typedef void mtl_check_handler(void *context, const mtl_check_finding *finding);

// Calls handler for each entry of what was found in the process to date, in the
// order of the first instances.
//
// Threads    Any; handler is called on the calling thread, and must not call
//            this.
// Errors     MTL_INVALID_ARGUMENT  handler is NULL
MTL_API MTL_MUST_USE mtl_status mtl_check_report(mtl_check_handler *handler,
                                                 void *context);

// Counts what was found and done to date; any of the pointers may be NULL.
//
//   out_findings    entries that are not suppressed
//   out_instances   all of them
//   out_dispatches  checked ones
//   out_unchecked   what was to be checked and could not be
MTL_API void mtl_check_counts(uint64_t *out_findings, uint64_t *out_instances,
                              uint64_t *out_dispatches,
                              uint64_t *out_unchecked);

// Finds the access of a checked kernel that wrote the byte at an address of a
// buffer (mtl_buffer_gpu_address) last, races among what was checked. Texts are
// borrowed for as long as the process lives; does is "write" or an atomic.
//
//   out_place  untouched where it returns false: nothing that was checked has
//              written there, or it is not known any more
MTL_API bool mtl_check_writer(uint64_t gpu_address, mtl_check_place *out_place);

// Tells whether the METTLE_CHECK variables are what they may be: docs/checking.md
// lists them. Opening a device asks for it.
//
// Errors     MTL_INVALID_ARGUMENT  one is not; the text says which
MTL_API MTL_MUST_USE mtl_status mtl_check_settings(void);

// Writes the report (METTLE_CHECK_REPORT, or standard error) and the last line,
// once in the process; at exit it is done anyway. Returns 0 if nothing was
// found, 3 for findings, 4 if something could not be checked and nothing was
// found.
MTL_API int mtl_check_finish(void);

#ifdef __cplusplus
}
#endif
#endif
