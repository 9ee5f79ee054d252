// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// alignment.h: alignments of addresses.
#ifndef MTLC_ALIGNMENT_H
#define MTLC_ALIGNMENT_H

#include <stdint.h>

// Returns the alignment of an address that is offset bytes after an aligned
// one.
static inline uint32_t lanes_common_alignment(uint32_t alignment,
                                              uint64_t offset) {
  while (alignment > 1 && offset % alignment) {
    alignment /= 2;
  }
  return alignment;
}

#endif
