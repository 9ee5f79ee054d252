// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// argument_layout.h: how the struct of an argument buffer lies in memory, as
// the compiler wrote it (mtli_parameter.layout) or as descriptors tell.
#ifndef MTLI_ARGUMENT_LAYOUT_H
#define MTLI_ARGUMENT_LAYOUT_H

#include "base/memory/arena.h"
#include "mettle/argument_encoder.h"

typedef struct mtli_argument_layout {
  uint64_t length_bytes;
  uint64_t alignment_bytes;
  mtl_argument_member *members;  // [count] malloc'ed, by offset
  const char **nested;  // [count] malloc'ed: the layout that a buffer leads to,
                        // in the text that was read; NULL for none
  size_t count;
  mtli_arena names;
} mtli_argument_layout;

// Reads the compiler's text, which must outlive the layout. What does not fit
// the struct ends the list. On failure, clear.
mtl_status mtli_argument_layout_read(const char *text,
                                     mtli_argument_layout *out_layout);
// Lays members out one behind the other by their ids. On failure, clear.
mtl_status mtli_argument_layout_make(const mtl_argument_desc *descs,
                                     size_t count,
                                     mtli_argument_layout *out_layout);
void mtli_argument_layout_clear(mtli_argument_layout *layout);

// Finds the member that has id; NULL if none has.
const mtl_argument_member *mtli_argument_layout_find(
    const mtli_argument_layout *layout, uint32_t id);

#endif
