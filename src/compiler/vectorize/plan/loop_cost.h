// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// loop_cost.h: the cost of an iteration of a kernel's loops, by how many
// threads run it at once.
#ifndef MTLC_LOOP_COST_H
#define MTLC_LOOP_COST_H

#include <stdbool.h>
#include <stdint.h>

#include "compiler/vectorize/analysis/uniformity.h"
#include "compiler/vectorize/target/machine.h"

// An iteration of an innermost loop. Work and latency are in cycles; registers
// are counted for as many threads as a register has 32-bit elements.
typedef struct lanes_iteration {
  double work;       // of varying instructions, for one register
  double latency;    // from one iteration to the next, for any count of threads
  double path;       // from an iteration's beginning to its end
  double registers;  // of values passed to the next iteration
  double widest;     // of its products, in registers: 2 for 64-bit ones
  double asked;      // registers of the largest load behind a check
  uint32_t asking;   // count of such loads
  uint32_t varying;  // instructions for each register
  uint32_t uniform;  // instructions for all threads together
  bool parts;        // the loop is divergent
  double weight;     // grows with the depth of nesting
} lanes_iteration;

typedef struct lanes_iterations {
  lanes_iteration *items;  // [count] loops with varying instructions
  uint32_t count;
} lanes_iterations;

void lanes_iterations_find(const lanes_values *values, lanes_iterations *out_turns);

// Returns how many simdgroups should run an iteration at once, if a vector
// holds `lanes` threads: `most`, or a half or a quarter of it. The cost, for
// the threads of one register, is only good for comparison.
uint32_t lanes_best_jam(const lanes_iterations *turns,
                            const lanes_machine *machine, uint32_t lanes,
                            uint32_t most, double *out_cost);

// True if a cost is enough below the usual one to change the code.
bool lanes_is_worth(double cost, double usual);

#endif
