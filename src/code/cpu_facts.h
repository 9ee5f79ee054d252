// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cpu_facts.h: facts about a kernel's machine code that the compiler passes to
// the cpu driver, besides mtli_cpu_code. They travel as one word of the
// container, which nothing in between reads. A new flag is a line here, the
// pass that sets it and the driver that reads it.
#ifndef MTLI_CPU_FACTS_H
#define MTLI_CPU_FACTS_H

#include <stdbool.h>
#include <stdint.h>

// flag(bit of the container's word, name). Code is made for threadgroups of a
// class (group_class.h) and right for others too where what a depends_on_ names
// makes no difference: their rows, where those begin, whether there is one
// simdgroup, whether all are whole, how large buffers are, how many simdgroups
// there are (other code would be better, or with needs_simdgroups this is
// wrong).
//
//   any_groups   threads ask for their places in the grid alone, and
//                threadgroups have nothing in common: drivers may form others
//   is_brief     has no loops
//   shares_rows  simdgroups of one place along x, in threadgroups of up to 32
//                along x, load together what each would load again in a loop
#define MTLI_CPU_FLAGS(flag)      \
  flag(9, depends_on_row)         \
  flag(10, depends_on_single)     \
  flag(14, depends_on_uneven)     \
  flag(16, depends_on_whole)      \
  flag(17, any_groups)            \
  flag(18, is_brief)              \
  flag(20, depends_on_far)        \
  flag(21, depends_on_simdgroups) \
  flag(22, needs_simdgroups)      \
  flag(29, shares_rows)

typedef struct mtli_cpu_facts {
#define MTLI_CPU_FLAG(bit, name) bool name;
  MTLI_CPU_FLAGS(MTLI_CPU_FLAG)
#undef MTLI_CPU_FLAG
} mtli_cpu_facts;

// The facts as bits of a word, and back; other bits are unchanged.
static inline uint32_t mtli_cpu_facts_bits(const mtli_cpu_facts *facts) {
  uint32_t bits = 0;
#define MTLI_CPU_FLAG(bit, name) bits |= (uint32_t)facts->name << (bit);
  MTLI_CPU_FLAGS(MTLI_CPU_FLAG)
#undef MTLI_CPU_FLAG
  return bits;
}
static inline mtli_cpu_facts mtli_cpu_facts_of(uint32_t bits) {
  mtli_cpu_facts facts;
#define MTLI_CPU_FLAG(bit, name) facts.name = (bits >> (bit) & 1) != 0;
  MTLI_CPU_FLAGS(MTLI_CPU_FLAG)
#undef MTLI_CPU_FLAG
  return facts;
}

// True if other threadgroups may want other code.
static inline bool mtli_cpu_facts_depend(const mtli_cpu_facts *facts) {
  return facts->depends_on_row || facts->depends_on_uneven ||
         facts->depends_on_single || facts->depends_on_whole ||
         facts->depends_on_far || facts->depends_on_simdgroups;
}

#endif
