// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// read_sites.c: the sites of the two reads that a cell records, in the bits for
// one. Where they differ, the bits number a pair, of which a table has each
// once.
#include <string.h>

#include "check/state.h"

enum {
  FIRST_PAIR = MTLI_CHECK_MOST_READ_SITE + 1,
  SITE_BITS = 12,
  MOST_PAIRS = (1 << SITE_BITS) - FIRST_PAIR,
  BYTES = 0xf << SITE_BITS,
};

typedef struct pair {
  uint16_t first;
  uint16_t second;
} pair;

static pair pairs[MOST_PAIRS];  // [pair_count]
static uint32_t pair_count;
static uint32_t last;  // found last

// Returns the bits of a pair; of none, which no site has, if there are too
// many.
static uint32_t number_of(pair wanted) {
  if (last < pair_count && memcmp(&pairs[last], &wanted, sizeof wanted) == 0) {
    return FIRST_PAIR + last;
  }
  for (last = 0; last < pair_count; ++last) {
    if (memcmp(&pairs[last], &wanted, sizeof wanted) == 0) {
      return FIRST_PAIR + last;
    }
  }
  if (pair_count == MOST_PAIRS) {
    return 0;
  }
  pairs[pair_count++] = wanted;
  return FIRST_PAIR + last;
}

static pair pair_of(const check_cell *cell) {
  const uint16_t bits = cell->read_site & (uint16_t)~BYTES;
  return bits >= FIRST_PAIR ? pairs[bits - FIRST_PAIR] : (pair){bits, bits};
}

uint32_t check_read_site(const check_cell *cell) {
  return pair_of(cell).first;
}

uint32_t check_other_read_site(const check_cell *cell) {
  return pair_of(cell).second;
}

void check_set_read_sites(check_cell *cell, uint32_t first, uint32_t second) {
  first = first > MTLI_CHECK_MOST_READ_SITE ? 0 : first;
  second = second > MTLI_CHECK_MOST_READ_SITE ? 0 : second;
  const uint32_t bits =
      first == second ? first
                      : number_of((pair){(uint16_t)first, (uint16_t)second});
  cell->read_site = (uint16_t)((cell->read_site & BYTES) | bits);
}

void check_read_sites_forget(void) {
  pair_count = 0;
}
