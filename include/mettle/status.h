// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// status.h: how every fallible call of Mettle answers.
//
// A call that can fail returns an mtl_status that the caller must use, and
// leaves a text with the numbers in it for mtl_last_error(). Failures that
// happen after a call has returned (a kernel that faults, say) live on the
// command buffer: see command_buffer.h. The library never aborts, exits or
// prints.
#ifndef METTLE_STATUS_H
#define METTLE_STATUS_H

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define MTL_API __attribute__((visibility("default")))
#define MTL_MUST_USE __attribute__((warn_unused_result))
#define MTL_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define MTL_API
#define MTL_MUST_USE
#define MTL_PRINTF(text, first)
#endif

typedef enum mtl_status {
  MTL_OK = 0,
  MTL_INVALID_ARGUMENT,  // a value outside what the call's comment allows
  MTL_INVALID_STATE,     // right call, wrong time: a commit after a commit
  MTL_OUT_OF_MEMORY,     // host or device memory cannot be had
  MTL_NOT_FOUND,         // no such device, function, file or header
  MTL_UNSUPPORTED,       // Metal has it; this device or version has not
  MTL_COMPILE_FAILED,    // the source is wrong: the text is clang's diagnostics
  MTL_COMPILER_LOST,     // the compiler crashed, was killed, or ran out of its
                         // time or memory; the next request works
  MTL_BAD_DATA,          // a code container or file is damaged or foreign
  MTL_IO_ERROR,          // the operating system refused a file operation
  MTL_TIMED_OUT,         // the time given has passed
  MTL_KERNEL_FAULT,      // a kernel read or wrote memory that is not there,
                         // trapped, or failed an assertion
  MTL_CANCELLED,         // the work was ended early, or before it could run
} mtl_status;

// Returns the status' name, "MTL_OK" for instance. Never NULL; static storage.
//
// Threads    Any.
MTL_API const char *mtl_status_name(mtl_status status);

// Returns the text of the calling thread's last failure, or "" if there was
// none. Valid until the next Mettle call on the same thread.
//
// Threads    Any; each thread has its own text.
MTL_API const char *mtl_last_error(void);

// Records the calling thread's error text (printf form) and returns status, for
// libraries built on Mettle: a failure reads `return mtl_fail(...)`.
//
// Threads    Any; each thread has its own text.
MTL_API mtl_status mtl_fail(mtl_status status, const char *format, ...)
    MTL_PRINTF(2, 3);

#ifdef __cplusplus
}
#endif
#endif
