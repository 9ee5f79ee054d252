// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// bounds.c: reports addresses that are out of bounds or misaligned.
#include <inttypes.h>
#include <string.h>

#include "check/state.h"

void *check_harmless(check_state *s) {
  memset(s->dump, 0, 256);
  return s->dump;
}

// Reports where an address is, relative to the memory that may be accessed.
void check_report_bounds(check_state *s, const char *kind, uint32_t number,
                          uint64_t address, uint64_t first, uint64_t bytes,
                          uint64_t length) {
  const mtli_check_site *site = check_site(s, number);
  const check_side side = check_side_now(s, number);
  const char *name = check_text(s, site->name);
  const int64_t offset = (int64_t)(address - first);
  if (offset < 0) {
    check_report(s, kind, &side, NULL,
                 "'%s': %" PRIu64 " byte%s at offset %" PRId64
                 ", before its %" PRIu64 " bytes",
                 name, length, length == 1 ? "" : "s", offset, bytes);
  } else {
    check_report(s, kind, &side, NULL,
                 "'%s': %" PRIu64 " byte%s at offset %" PRId64 " of %" PRIu64
                 " bytes",
                 name, length, length == 1 ? "" : "s", offset, bytes);
  }
}

void check_report_member(mtli_check *check, uint32_t number, void *address,
                          void *base) {
  check_state *s = (check_state *)check;
  const mtli_check_site *site = check_site(s, number);
  check_report_bounds(s, "bounds.subobject", number, (uintptr_t)address,
                (uintptr_t)base, site->object_bytes, site->size_bytes);
}

void check_report_align(check_state *s, uint32_t number, uint64_t address) {
  const mtli_check_site *site = check_site(s, number);
  const check_side side = check_side_now(s, number);
  uint64_t is = address & -address;
  check_report(s, "align", &side, NULL,
               "'%s': %u bytes at an address that is a multiple of %" PRIu64
               ", and must be one of %u",
               check_text(s, site->name), site->size_bytes, is, site->align_bytes);
}

void check_report_residency(check_state *s, uint32_t number,
                            const check_memory *memory) {
  const check_side side = check_side_now(s, number);
  if (s->checks & MTLI_CHECK_BOUNDS) {
    check_report(s, "bounds.residency", &side, NULL,
                 "'%s', reached by its address, is neither bound nor made "
                 "resident",
                 memory->label && memory->label[0] ? memory->label : "buffer");
  }
}
