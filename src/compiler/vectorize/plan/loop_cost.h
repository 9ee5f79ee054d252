// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// loop_cost.h: what a turn of a kernel's loops costs, by how many threads do
// it at a time.
#ifndef MTLC_LOOP_COST_H
#define MTLC_LOOP_COST_H

#include <stdbool.h>
#include <stdint.h>

#include "compiler/vectorize/analysis/uniformity.h"
#include "compiler/vectorize/target/machine.h"

// A turn of an innermost loop. Work and latency are in cycles; what is counted
// in registers is for as many threads as a register has 32-bit elements.
typedef struct lanes_iteration {
  double work;       // of what differs between threads, for one register
  double latency;    // from a turn to the next, however many threads
  double path;       // from a turn's beginning to its end
  double registers;  // of what one turn hands to the next
  double widest;     // of its products, in registers: 2 for those of 64 bits
  double asked;      // registers of the largest load that goes one of two ways
  uint32_t asking;   // such loads
  uint32_t varying;  // instructions for each register
  uint32_t uniform;  // instructions for all of them together
  bool parts;        // threads leave the loop one by one
  double weight;     // the more the deeper it is nested
} lanes_iteration;

typedef struct lanes_iterations {
  lanes_iteration *items;  // [count] those of loops that do anything for each thread
  uint32_t count;
} lanes_iterations;

void lanes_iterations_find(const lanes_values *values, lanes_iterations *out_turns);

// Returns how many simdgroups, `most` or a half or a quarter of it, should go
// through the turns at once if a vector holds `lanes` of their threads. The
// cost, of the threads of one register, is good for comparison only.
uint32_t lanes_best_jam(const lanes_iterations *turns,
                            const lanes_machine *machine, uint32_t lanes,
                            uint32_t most, double *out_cost);

// True if a cost is so much less than the usual one that something should
// be done otherwise.
bool lanes_is_worth(double cost, double usual);

#endif
