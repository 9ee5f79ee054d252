// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Block.h: blocks on the heap.
#ifndef METTLE_OBJC_BLOCK_H
#define METTLE_OBJC_BLOCK_H

#include <objc/objc.h>

OBJC_EXPORT void *_Block_copy(const void *block);
OBJC_EXPORT void _Block_release(const void *block);
#ifdef __OBJC__
#define Block_copy(...) \
  ((__typeof(__VA_ARGS__))_Block_copy((const void *)(__VA_ARGS__)))
#else
#define Block_copy(...) \
  ((__typeof(__VA_ARGS__))_Block_copy((const void *)(__VA_ARGS__)))
#endif
#define Block_release(...) _Block_release((const void *)(__VA_ARGS__))

#endif
