// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// causes.c: finds which reads of unset bytes are the other side of a race. A
// read that may come before the write of what it reads is one mistake, and is
// reported once, as the race.
#include <stdlib.h>
#include <string.h>

#include "check/findings.h"

// The unset bytes that a site has read.
typedef struct unset_reads {
  uint64_t bytes;      // read by it first
  uint64_t explained;  // how many of these were written later by racing threads
  bool has_others;  // it has also read bytes that another site had read before
} unset_reads;

static unset_reads *reads;  // [read_count], by site of the dispatch
static size_t read_count, read_capacity;
static uint64_t all_bytes, all_explained;

// A finding of the dispatch, and the site whose read caused it.
typedef struct use {
  size_t entry;
  uint32_t origin;
} use;

static use *uses;  // [use_count]
static size_t use_count, use_capacity;

// Begins to collect reads of unset bytes. If there is no memory, no finding is
// merged.
void check_causes_begin(const check_state *s) {
  if (s->sites->count > read_capacity) {
    unset_reads *grown = realloc(reads, s->sites->count * sizeof *reads);
    reads = grown ? grown : reads;
    read_capacity = grown ? s->sites->count : read_capacity;
  }
  read_count = s->sites->count <= read_capacity ? s->sites->count : 0;
  if (read_count) {
    memset(reads, 0, read_count * sizeof *reads);
  }
  all_bytes = all_explained = 0;
  use_count = 0;
}

void check_causes_read(uint32_t site, uint64_t bytes, bool has_others) {
  all_bytes += bytes;
  if (site < read_count) {
    reads[site].bytes += bytes;
    reads[site].has_others |= has_others;
  }
}

void check_causes_write(uint32_t read_site, uint64_t bytes) {
  all_explained += bytes;
  if (read_site < read_count) {
    reads[read_site].explained += bytes;
  }
}

void check_causes_use(size_t entry, uint32_t origin) {
  for (size_t i = 0; i < use_count; ++i) {
    if (uses[i].entry == entry && uses[i].origin == origin) {
      return;
    }
  }
  if (use_count == use_capacity) {
    const size_t larger = use_capacity ? 2 * use_capacity : 16;
    use *grown = realloc(uses, larger * sizeof *uses);
    if (!grown) {
      check_entry_settle(entry, true);
      return;
    }
    uses = grown;
    use_capacity = larger;
  }
  uses[use_count++] = (use){entry, origin};
}

static bool is_explained(uint32_t site) {
  if (site >= read_count) {
    return false;
  }
  const unset_reads *it = &reads[site];
  return it->has_others ? all_bytes > 0 && all_explained >= all_bytes
                        : it->bytes > 0 && it->explained >= it->bytes;
}

void check_causes_end(void) {
  for (size_t i = 0; i < use_count; ++i) {
    check_entry_settle(uses[i].entry, !is_explained(uses[i].origin));
  }
  use_count = 0;
}
