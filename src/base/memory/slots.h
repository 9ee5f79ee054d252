// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// slots.h: address space reserved for many small pieces of memory, far from
// each other. A piece costs one system call to open and one to close, as a
// mapping of its own would, but uses up none of the process's mappings.
#ifndef MTLI_SLOTS_H
#define MTLI_SLOTS_H

#include <stdbool.h>
#include <stddef.h>

typedef struct mtli_slots mtli_slots;

typedef enum mtli_slots_kind {
  MTLI_SLOTS_APART = 0,  // between them no memory may be accessed
  MTLI_SLOTS_ASIDE,      // unused memory between them
  MTLI_SLOTS_KINDS,
} mtli_slots_kind;

// Returns the largest piece.
size_t mtli_slots_most_bytes(void);

// Returns size_bytes, whole pages, of zeros, and where to give them back to.
// NULL if there are none. One that was given back does not come again at once:
// what still uses its address finds nothing there.
char *mtli_slots_open(mtli_slots_kind kind, size_t size_bytes,
                      mtli_slots **out_home);
void mtli_slots_close(mtli_slots *home, char *bytes, size_t size_bytes);

#endif
