// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// lane_places.h: expresses each lane's load address as a uniform part plus the
// lane's own.
#ifndef MTLC_LANE_PLACES_H
#define MTLC_LANE_PLACES_H

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stdint.h>

#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/analysis/uniformity.h"

enum { LANES_MOST_SYMBOLS = 8 };

// An address: base + by[0] * symbols[0] + ... + constant, in bytes, the factors
// and the constant by lane.
typedef struct lanes_place {
  LLVMValueRef base;                         // the same for all lanes
  LLVMValueRef symbols[LANES_MOST_SYMBOLS];  // [count] so are these, integers
  bool is_unsigned[LANES_MOST_SYMBOLS];      // extended to 64 bits with 0
  int64_t by[LANES_MOST_SYMBOLS][MOST_LANES];
  int64_t constant[MOST_LANES];
  uint32_t count;
} lanes_place;

typedef struct lanes_place_finder {
  const lanes_values *values;
  uint64_t **numbers;    // [values->count] by lane, where they are known
  bool *is_known;        // [values->count] places is known for this value
  lanes_place **places;  // [values->count] of addresses that were asked for
  bool may_wrap;         // indices narrower than addresses, between two lanes
} lanes_place_finder;

lanes_place_finder lanes_places_begin(const lanes_values *values,
                                      bool may_wrap);
// Returns an integer of each lane, [MOST_LANES], that follows from the lane's
// number alone, zero-extended; NULL for others.
const uint64_t *lanes_numbers_of(lanes_place_finder *finder,
                                 LLVMValueRef value);
// Returns the place that an address is, or NULL.
const lanes_place *lanes_place_of(lanes_place_finder *finder,
                                  LLVMValueRef address);

#endif
