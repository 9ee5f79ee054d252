// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// facts.h: the facts that the vectoriser's analyses find about a small
// function, as text.
#ifndef TESTS_FACTS_H
#define TESTS_FACTS_H

#include "compiler/ir/kernel/kernel.h"
#include "compiler/vectorize/analysis/graph.h"
#include "compiler/vectorize/analysis/uniformity.h"

// A function and the results of all analyses; its values end with the test.
typedef struct facts_subject {
  mtlc_kernel *kernel;  // arguments 0 to 6 are buffers, 7 threadgroup memory
  const lanes_graph *graph;
  lanes_values *values;
} facts_subject;

// Adds a line, without its end, to the text.
void facts_add(const char *format, ...) __attribute__((format(printf, 1, 2)));
// A value's name or constant.
const char *facts_name(LLVMValueRef value);

typedef void facts_printer(const facts_subject *subject);
facts_printer facts_of_graph, facts_of_shapes, facts_of_flow, facts_of_privates,
    facts_of_groups, facts_of_bits, facts_of_addresses, facts_of_steps,
    facts_of_counters, facts_of_effects, facts_of_callees, facts_of_wraps,
    facts_of_ranges;

// Finds the facts of @thread, for vectors of that many lanes and rows of that
// many threads, and returns what the printer says. The body follows
// "define void @thread() {"; functions of docs/ir.md are declared.
const char *facts_of(const char *body, uint8_t lanes, uint8_t row,
                     facts_printer *print);

#endif
