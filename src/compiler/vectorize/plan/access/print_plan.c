// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// print_plan.c: prints the access plan: a line for each load and store, and an
// indented one for each arm of a check.
#include <stdio.h>
#include <stdlib.h>

#include "compiler/vectorize/analysis/uniformity.h"
#include "compiler/vectorize/plan/access/access_plan.h"

static const char *const form_names[LANES_FORMS] = {
    [LANES_NO_FORM] = "none",
    [LANES_SCALARISED] = "lane by lane",
    [LANES_UNIFORM] = "uniform",
    [LANES_SEGMENT_FIRSTS] = "one a row",
    [LANES_PRIVATE_VECTOR] = "private vector",
    [LANES_PRIVATE_GATHER] = "private gather",
    [LANES_CONTIGUOUS] = "contiguous",
    [LANES_INTERLEAVED] = "interleaved",
    [LANES_REVERSED] = "reversed",
    [LANES_WORDS] = "words",
    [LANES_INTERLEAVE_GROUP] = "interleave group",
    [LANES_LOADED_AHEAD] = "loaded ahead",
    [LANES_SEGMENT_VECTORS] = "segment vectors",
    [LANES_STRIDED_SEGMENTS] = "strided segments",
    [LANES_LANE_VECTORS] = "lane vectors",
    [LANES_STORE_GROUP] = "store group",
    [LANES_BIT_PERMUTED] = "bit permuted",
    [LANES_TABLE] = "table",
    [LANES_WINDOW] = "window",
    [LANES_BROADCAST] = "broadcast",
    [LANES_GATHER] = "gather",
    [LANES_SCATTER] = "scatter",
    [LANES_SCATTER_VECTORS] = "scatter of vectors",
    [LANES_IN_LINE] = "in line",
    [LANES_EACH] = "one by one",
    [LANES_LANE_LOOP] = "lane loop",
    [LANES_SPLIT_AT_WRAP] = "split at the wrap",
    [LANES_ROW_COPY] = "row copy",
    [LANES_PACKED] = "packed",
};

static const char *const check_names[LANES_CHECKS] = {
    [LANES_CHECK_NO_WRAP] = "no index wraps",
    [LANES_CHECK_STRIDE_ONE] = "the stride is one",
    [LANES_CHECK_STRIDE_ZERO] = "the stride is none",
    [LANES_CHECK_ADJACENT] = "lanes are adjacent",
    [LANES_CHECK_EQUAL] = "lanes are equal",
    [LANES_CHECK_IN_TABLE] = "the table is readable",
    [LANES_CHECK_IN_WINDOW] = "lanes are in a window",
    [LANES_CHECK_ALL_LANES] = "all lanes run",
    [LANES_CHECK_READABLE] = "what lies between is readable",
};

static void print_choice(FILE *out, const lanes_choice *c, unsigned depth) {
  if (!c->check) {
    fprintf(out, "%s", form_names[c->form]);
    if (c->stride > 1) {
      fprintf(out, " %u", c->stride);
    }
    if (c->form == LANES_SPLIT_AT_WRAP || c->form == LANES_REVERSED) {
      fprintf(out, c->form == LANES_REVERSED ? " " : ", each ");
      print_choice(out, c->then, depth);
      return;
    }
    fprintf(out, ", cost %u: %s\n", c->cost, c->why);
    return;
  }
  fprintf(out, "if %s, cost %u: %s\n", check_names[c->check], c->cost, c->why);
  const lanes_choice *ways[] = {c->then, c->otherwise};
  for (unsigned w = 0; w < 2; w++) {
    fprintf(out, "%*s%s ", 2 * (int)depth + 4, "", w == 0 ? "then" : "else");
    print_choice(out, ways[w], depth + 1);
  }
}

char *lanes_access_plan_text(const lanes_values *values,
                             const lanes_access_plan *plan) {
  char *text = NULL;
  size_t length = 0;
  FILE *out = open_memstream(&text, &length);
  for (uint32_t n = 0; out && n < values->count; n++) {
    if (!plan->of[n]) {
      continue;
    }
    LLVMValueRef i = values->items[n];
    fprintf(out, "  line %u, %s: ", LLVMGetDebugLocLine(i),
            LLVMIsAStoreInst(i) ? "store" : "load");
    print_choice(out, plan->of[n], 0);
  }
  if (!out || fclose(out) != 0) {
    free(text);
    return NULL;
  }
  return text;
}
