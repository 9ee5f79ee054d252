// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// own_malloc.c: a process with a malloc of its own, as jemalloc's users have.
#include <stddef.h>

extern void *__libc_malloc(size_t size_bytes);

void *malloc(size_t size_bytes);
void *malloc(size_t size_bytes) {
  return __libc_malloc(size_bytes);
}
