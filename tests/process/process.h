// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// process.h: shared by the tests of the compiler process and its cache.
#ifndef METTLE_TEST_PROCESS_H
#define METTLE_TEST_PROCESS_H

#include <sys/types.h>

#include "compiler/compiler.h"

// Points METTLE_COMPILER at the stand-in, without a cache.
void use_stand_in(void);
// The same with a cache in a fresh folder, removed when the test has passed.
const char *use_cache_folder(void) __attribute__((returns_nonnull));

// Compiles a text, with options or NULL.
mtl_status compile_text(const char *text, const mtl_compile_options *options,
                        mtli_compiled *out_compiled);
// Compiles a text that has to compile, and gives the name of its first kernel
// (valid until the next call) or clears the result.
const char *compile_name(const char *text, const mtl_compile_options *options);
void compile_ok(const char *text);

pid_t server_pid(void);

// Waits until a process that need not be a child has ended.
void wait_for_end_of(pid_t pid);

// Runs function in a child process, which must end with status 0.
void run_in_child(void (*function)(void));

void write_file(const char *folder, const char *name, const char *text);

#endif
