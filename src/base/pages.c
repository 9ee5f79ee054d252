// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// pages.c: anonymous mappings.
#include "base/pages.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "base/machine.h"

// From here on transparent huge pages are asked for.
enum { HUGE_BYTES = 4 * 1024 * 1024 };

mtl_status mtli_pages_create(size_t length_bytes, bool guarded,
                             mtli_pages *out_pages) {
  const size_t page_bytes = mtli_machine_page_bytes();
  const size_t whole_bytes =
      (length_bytes + page_bytes - 1) / page_bytes * page_bytes;
  const size_t map_bytes = whole_bytes + (guarded ? page_bytes : 0);
  *out_pages = (mtli_pages){0};
  char *first = mmap(NULL, map_bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (first == MAP_FAILED) {
    return mtli_fail(MTL_OUT_OF_MEMORY,
                     "no memory for a buffer of %zu bytes: %s", length_bytes,
                     strerror(errno));
  }
  char *bytes = first;
  if (guarded) {
    bytes += whole_bytes - ((length_bytes + 15) & ~(size_t)15);
    if (mprotect(first + whole_bytes, page_bytes, PROT_NONE) != 0) {
      munmap(first, map_bytes);
      return mtli_fail(MTL_OUT_OF_MEMORY,
                       "no guard page for a buffer of %zu bytes: %s",
                       length_bytes, strerror(errno));
    }
  } else if (map_bytes >= HUGE_BYTES) {
    madvise(first, map_bytes, MADV_HUGEPAGE);  // a wish; failure is no matter
  }
  *out_pages =
      (mtli_pages){.bytes = bytes, .first = first, .map_bytes = map_bytes};
  return MTL_OK;
}

void mtli_pages_destroy(mtli_pages *pages) {
  if (pages->first) {
    munmap(pages->first, pages->map_bytes);
  }
}
