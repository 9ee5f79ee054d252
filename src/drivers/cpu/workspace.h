// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// workspace.h: the memory of a thread that runs kernels. It is mapped apart
// from everything else, in parts with inaccessible memory between: an access
// past the end of one, near or far, faults and hurts nobody.
//
//   guard | stack | guard | fronts | guard | kept | guard
//
// The stack is the kernel's own, so that what is past a private array is never
// the stack of the thread that lends itself. A front holds a worker's position
// and threadgroup memory (cpu_abi.h), which end where a guard begins; there is
// one for each power of two of sizes, a guard between any two. What is kept is
// what the code keeps across threadgroups and barriers.
#ifndef CPU_WORKSPACE_H
#define CPU_WORKSPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CPU_FRONTS = 5 };  // of 4 KiB to 64 KiB

// Zero is none.
typedef struct cpu_workspace {
  char *first;  // of the mapping
  size_t map_bytes;
  size_t guard_bytes;
  char *stack;      // its lowest byte
  char *stack_end;  // its highest address: it grows down from here
  char *front_ends[CPU_FRONTS];
  char *kept;
  size_t kept_bytes;  // that may be accessed
  size_t kept_most_bytes;
} cpu_workspace;

// Maps it. False when out of memory.
bool cpu_workspace_create(cpu_workspace *workspace);
// Accepts none.
void cpu_workspace_destroy(cpu_workspace *workspace);

// Returns the place, aligned to 64, of size_bytes that end margin_bytes before
// a guard; NULL if there is no front that large.
char *cpu_workspace_front(const cpu_workspace *workspace, size_t size_bytes,
                          size_t margin_bytes);
// Makes size_bytes of the kept memory accessible, margins included. False when
// out of memory.
bool cpu_workspace_keep(cpu_workspace *workspace, size_t size_bytes);

// Sets the stack right after a kernel that faulted at address: one that used
// all of it leaves its memory.
void cpu_workspace_recover(cpu_workspace *workspace, uintptr_t address);

// True if address is on the stack, or so near that a kernel got there from it.
bool cpu_workspace_has_stack(const cpu_workspace *workspace, uintptr_t address);

#endif
