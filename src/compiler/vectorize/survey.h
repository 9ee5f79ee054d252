// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// survey.h: facts from a kernel's calls before any change: barriers, how it
// depends on the threadgroup's shape, which rows of threads to make code for.
#ifndef MTLC_SURVEY_H
#define MTLC_SURVEY_H

#include <stdbool.h>
#include <stdint.h>

#include "compiler/ir/kernel/kernel.h"
#include "compiler/vectorize/vectorizer.h"

// Facts from a kernel's calls: whether it waits at barriers, and how it depends
// on the threadgroup's shape.
typedef struct lanes_survey {
  bool has_barrier;
  bool asks_x;      // it reads the thread's position along a row
  bool asks_other;  // it reads the position across rows
  uint32_t instruction_count;
} lanes_survey;

lanes_survey lanes_survey_of(const lanes_vectorizer *v);
// Finds whether threads of different threadgroups may share a vector.
void lanes_find_any_groups(lanes_vectorizer *v);
// True if a function does bit arithmetic on numbers (lane_bits.c).
bool lanes_asks_bits(LLVMValueRef function);
// True if threadgroups have one simdgroup at most: as the program says, or as
// this code is for.
bool lanes_is_limited_to_one(const lanes_vectorizer *v);
bool lanes_is_single_simdgroup(const lanes_vectorizer *v);
// Returns the segment length that the thread function is normalised for.
uint8_t lanes_usual_row(const lanes_vectorizer *v);
// Returns the row lengths to make code for: one, or all that are worth it if
// the threadgroups are not known, the best first; the last then fits any group.
uint32_t lanes_choose_rows(const lanes_vectorizer *v, lanes_survey survey,
                           uint8_t rows[LANES_MOST_VARIANTS]);

#endif
