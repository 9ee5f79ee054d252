// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// debug_lines.h: debug locations of the code that the vectoriser makes. A
// debugger shows the kernel as one function with the lines of its accesses.
// Inlined code keeps its file and line, and has no frames of its own.
#ifndef MTLC_DEBUG_LINES_H
#define MTLC_DEBUG_LINES_H

#include <llvm-c/Core.h>
#include <stdint.h>

#include "base/memory/arena.h"
#include "compiler/ir/kernel/kernel.h"

// One instruction's source line.
typedef struct lanes_line {
  const char *file;  // NULL: the source's own
  uint32_t number;   // 0: none
} lanes_line;

typedef struct lanes_lines {
  lanes_line *items;  // [count]
  uint32_t count;
  uint32_t capacity;
} lanes_lines;

// Adds the source line of an instruction.
void lanes_lines_add(mtli_arena *arena, lanes_lines *lines,
                     LLVMValueRef instruction);

// Returns the lines as a report prints them: "3 gathers (lines 7, 12; rows.h
// 30)", each line once, in order. The caller frees it.
char *lanes_lines_describe(const lanes_lines *lines, const char *what);

// Gives function the debug information of thread, as a function of its own, and
// each call in it the thread's line. Does nothing if thread has none.
void lanes_describe_function(mtlc_kernel *kernel, LLVMMetadataRef thread,
                             LLVMValueRef function);

// Returns the source location of another function's instruction, as a location
// of function; NULL if either has no debug information.
LLVMMetadataRef lanes_line_in(mtlc_kernel *kernel, LLVMValueRef instruction,
                              LLVMValueRef function);

// Replaces locations of inlined code by the locations of the calls.
void lanes_flatten_lines(mtlc_kernel *kernel);

#endif
