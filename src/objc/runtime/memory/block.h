// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// block.h: blocks, as compilers lay them out.
//
// Source  Clang: "Block Implementation Specification"
#ifndef METTLE_OBJC_BLOCK_H
#define METTLE_OBJC_BLOCK_H

#include <stdint.h>

#include "objc/runtime/abi.h"

typedef struct block {
  Class isa;
  _Atomic int32_t flags;
  int32_t reserved;
  void (*invoke)(void);  // called with the block itself first
  const struct block_descriptor *descriptor;
} block;

// Copies a stack block to the heap, or retains a heap block. NULL is allowed.
OBJC_EXPORT void *_Block_copy(const void *literal);
OBJC_EXPORT void _Block_release(const void *literal);

// Calls block with these arguments: BLOCK_CALL(void (*)(id, int), block, 3).
#define BLOCK_CALL(type, literal, ...) \
  ((type)((block *)(literal))->invoke)((id)(literal), ##__VA_ARGS__)

#endif
