// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// pages.c: maps anonymous memory and opens a part of each mapping.
#include "base/memory/pages.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/guard.h"
#include "base/machine.h"

enum {
  // from this size on, memory is aligned for transparent huge pages, and asks
  // for them
  HUGE_BYTES = 4 * 1024 * 1024,
  HUGE_PAGE_BYTES = 2 * 1024 * 1024,
  GUARD_BYTES = 64 * 1024,
  WIDE_GUARD_BYTES = 16 * 1024 * 1024,
};

// Pages that have mappings around them that cannot be accessed: at most a
// quarter of the mappings that there may be, for each counts for two.
static _Atomic uint32_t apart_count;

static uint32_t most_apart(void) {
  enum { USUAL_MAPPINGS = 65530, SHARE = 4 };
  static _Atomic uint32_t known;
  uint32_t most = atomic_load_explicit(&known, memory_order_relaxed);
  if (most == 0) {
    unsigned mappings = USUAL_MAPPINGS;
    FILE *file = fopen("/proc/sys/vm/max_map_count", "re");
    if (file) {
      if (fscanf(file, "%u", &mappings) != 1 || mappings < SHARE) {
        mappings = USUAL_MAPPINGS;
      }
      fclose(file);
    }
    most = mappings / SHARE;
    atomic_store_explicit(&known, most, memory_order_relaxed);
  }
  return most;
}

// True if there may be one more.
static bool count_apart(void) {
  if (atomic_fetch_add_explicit(&apart_count, 1, memory_order_relaxed) <
      most_apart()) {
    return true;
  }
  atomic_fetch_sub_explicit(&apart_count, 1, memory_order_relaxed);
  return false;
}

static void uncount_apart(void) {
  atomic_fetch_sub_explicit(&apart_count, 1, memory_order_relaxed);
}

static char *map(size_t map_bytes, int access) {
  char *first = mmap(NULL, map_bytes, access,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return first == MAP_FAILED ? NULL : first;
}

// Maps whole pages between guards.
static bool map_apart(size_t whole_bytes, size_t guard_bytes,
                      mtli_pages *out_pages) {
  const bool is_huge = whole_bytes >= HUGE_BYTES;
  const size_t slack_bytes = is_huge ? HUGE_PAGE_BYTES : 0;
  const size_t map_bytes = whole_bytes + 2 * guard_bytes + slack_bytes;
  // Guard pages need page tables, which a mapping of its own does not.
  const bool is_small = guard_bytes <= GUARD_BYTES && mtli_guard_is_there();
  char *first = map(map_bytes, is_small ? PROT_READ | PROT_WRITE : PROT_NONE);
  if (!first) {
    return false;
  }
  char *bytes = first + guard_bytes;
  bytes += is_huge ? -(uintptr_t)bytes % HUGE_PAGE_BYTES : 0;
  const bool is_made =
      is_small ? mtli_guard_install(bytes - guard_bytes, guard_bytes) &&
                     mtli_guard_install(bytes + whole_bytes, guard_bytes)
               : mprotect(bytes, whole_bytes, PROT_READ | PROT_WRITE) == 0;
  if (!is_made) {
    munmap(first, map_bytes);
    return false;
  }
  *out_pages = (mtli_pages){.bytes = bytes,
                            .first = first,
                            .map_bytes = map_bytes,
                            .is_counted = !is_small};
  return true;
}

static bool open_slot(mtli_slots_kind kind, size_t whole_bytes,
                      mtli_pages *out_pages) {
  mtli_slots *home = NULL;
  char *bytes = mtli_slots_open(kind, whole_bytes, &home);
  if (!bytes) {
    return false;
  }
  *out_pages = (mtli_pages){
      .bytes = bytes,
      .first = bytes,
      .map_bytes = whole_bytes,
      .home = home,
      .is_counted = kind == MTLI_SLOTS_APART && !mtli_guard_is_there()};
  return true;
}

static bool create_apart(size_t whole_bytes, bool is_small,
                         mtli_pages *out_pages) {
  const bool is_counted = !mtli_guard_is_there();
  if (is_counted && !count_apart()) {
    return false;
  }
  const bool is_there =
      is_small ? open_slot(MTLI_SLOTS_APART, whole_bytes, out_pages)
               : map_apart(whole_bytes, GUARD_BYTES, out_pages);
  if (is_counted && !is_there) {
    uncount_apart();
  }
  return is_there;
}

// Creates pages without inaccessible memory around them.
static bool create_plain(size_t whole_bytes, bool is_small,
                         mtli_pages *out_pages) {
  if (is_small && open_slot(MTLI_SLOTS_ASIDE, whole_bytes, out_pages)) {
    return true;
  }
  char *first = map(whole_bytes, PROT_READ | PROT_WRITE);
  *out_pages = (mtli_pages){
      .bytes = first, .first = first, .map_bytes = first ? whole_bytes : 0};
  return first != NULL;
}

static size_t round_up(size_t length_bytes, size_t unit_bytes) {
  return (length_bytes + unit_bytes - 1) / unit_bytes * unit_bytes;
}

// Moves the memory so that it ends at the last page's end.
static void move_to_end(size_t length_bytes, size_t whole_bytes,
                        size_t alignment_bytes, mtli_pages *pages) {
  pages->bytes += whole_bytes - round_up(length_bytes, alignment_bytes);
}

mtl_status mtli_pages_create_wide(size_t length_bytes,
                                  size_t end_alignment_bytes,
                                  mtli_pages *out_pages) {
  const size_t page_bytes = mtli_machine_page_bytes();
  const size_t whole_bytes = round_up(length_bytes, page_bytes);
  *out_pages = (mtli_pages){0};
  if (!map_apart(whole_bytes, WIDE_GUARD_BYTES, out_pages) &&
      !map_apart(whole_bytes, page_bytes, out_pages)) {
    return mtli_fail(MTL_OUT_OF_MEMORY,
                     "no guard pages for a buffer of %zu bytes: %s",
                     length_bytes, strerror(errno));
  }
  if (out_pages->is_counted) {  // the client asked for this memory and gets all
                                // of it
    atomic_fetch_add_explicit(&apart_count, 1, memory_order_relaxed);
  }
  move_to_end(length_bytes, whole_bytes, end_alignment_bytes, out_pages);
  return MTL_OK;
}

mtl_status mtli_pages_create(size_t length_bytes, size_t end_alignment_bytes,
                             mtli_pages *out_pages) {
  const size_t whole_bytes = round_up(length_bytes, mtli_machine_page_bytes());
  const bool is_small = whole_bytes <= mtli_slots_most_bytes();
  *out_pages = (mtli_pages){0};
  if (!create_apart(whole_bytes, is_small, out_pages) &&
      !create_plain(whole_bytes, is_small, out_pages)) {
    return mtli_fail(MTL_OUT_OF_MEMORY,
                     "no memory for a buffer of %zu bytes: %s", length_bytes,
                     strerror(errno));
  }
  if (whole_bytes >= HUGE_BYTES) {
    // Only advice: failure does not matter.
    madvise(out_pages->bytes, whole_bytes, MADV_HUGEPAGE);
  }
  if (end_alignment_bytes) {
    move_to_end(length_bytes, whole_bytes, end_alignment_bytes, out_pages);
  }
  return MTL_OK;
}

// Widens a range to whole pages.
static char *whole_pages(void *bytes, size_t length_bytes,
                         size_t *out_length_bytes) {
  const uintptr_t page_bytes = mtli_machine_page_bytes();
  const uintptr_t first = (uintptr_t)bytes & -page_bytes;
  const uintptr_t end =
      ((uintptr_t)bytes + length_bytes + page_bytes - 1) & -page_bytes;
  *out_length_bytes = end - first;
  return (char *)bytes - ((uintptr_t)bytes - first);
}

void mtli_pages_discard(void *bytes, size_t length_bytes) {
  size_t whole_bytes;
  char *first = whole_pages(bytes, length_bytes, &whole_bytes);
  madvise(first, whole_bytes, MADV_DONTNEED);
}

void mtli_pages_prefault(void *bytes, size_t length_bytes) {
  enum { POPULATE_WRITE = 23 };  // MADV_POPULATE_WRITE, Linux 5.14
  const size_t page_bytes = mtli_machine_page_bytes();
  const long free_pages = sysconf(_SC_AVPHYS_PAGES);
  size_t whole_bytes;
  char *first = whole_pages(bytes, length_bytes, &whole_bytes);
  if (free_pages <= 0 ||
      whole_bytes / page_bytes > (unsigned long)free_pages / 2 ||
      madvise(first, whole_bytes, POPULATE_WRITE) == 0) {
    return;
  }
  // An older kernel, or memory that cannot be written: reading it is enough.
  for (size_t i = 0; i < whole_bytes; i += page_bytes) {
    (void)*(volatile char *)(first + i);
  }
}

void mtli_pages_destroy(mtli_pages *pages) {
  if (!pages->first) {
    return;
  }
  if (pages->home) {
    mtli_slots_close(pages->home, pages->first, pages->map_bytes);
  } else {
    munmap(pages->first, pages->map_bytes);
  }
  if (pages->is_counted) {
    uncount_apart();
  }
}
