// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// guard.c: installs and removes guard pages, if the kernel has them and the
// settings allow it.
#include "base/guard.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/machine.h"

// Linux 6.13, include/uapi/asm-generic/mman-common.h
#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102
#define MADV_GUARD_REMOVE 103
#endif

// Tests ask for the way of older systems.
static bool is_wanted(void) {
  const char *setting = getenv("METTLE_GUARDS");
  return !setting || strcmp(setting, "mappings") != 0;
}

static bool try_one(void) {
  const size_t page_bytes = mtli_machine_page_bytes();
  char *page = mmap(NULL, page_bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (page == MAP_FAILED) {
    return false;
  }
  const bool is_there = mtli_guard_install(page, page_bytes);
  munmap(page, page_bytes);
  return is_there;
}

bool mtli_guard_is_there(void) {
  enum { UNKNOWN, YES, NO };
  static _Atomic int known;
  int answer = atomic_load_explicit(&known, memory_order_relaxed);
  if (answer == UNKNOWN) {
    answer = is_wanted() && try_one() ? YES : NO;
    atomic_store_explicit(&known, answer, memory_order_relaxed);
  }
  return answer == YES;
}

bool mtli_guard_install(char *first, size_t size_bytes) {
  return madvise(first, size_bytes, MADV_GUARD_INSTALL) == 0;
}

bool mtli_guard_remove(char *first, size_t size_bytes) {
  return madvise(first, size_bytes, MADV_GUARD_REMOVE) == 0;
}
