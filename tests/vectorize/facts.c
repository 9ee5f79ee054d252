// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// facts.c: prints a line for each fact. Values without a name have none: a test
// names the values that it asks about in its IR.
#include "facts.h"

#include <inttypes.h>
#include <llvm-c/IRReader.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory/arena.h"
#include "compiler/frontend/frontend.h"
#include "compiler/ir/llvm/calls.h"
#include "compiler/ir/llvm/names.h"
#include "compiler/vectorize/analysis/addresses/affine.h"
#include "compiler/vectorize/analysis/addresses/induction.h"
#include "compiler/vectorize/analysis/addresses/lane_bits.h"
#include "compiler/vectorize/analysis/addresses/no_wrap.h"
#include "compiler/vectorize/analysis/addresses/trip_counts.h"
#include "compiler/vectorize/analysis/callees.h"
#include "compiler/vectorize/analysis/effects.h"
#include "compiler/vectorize/analysis/group_uniformity.h"
#include "compiler/vectorize/prepare/versions/value_ranges.h"
#include "harness/test.h"

static char text[4096];

void facts_add(const char *format, ...) {
  const size_t length = strlen(text);
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text + length, sizeof text - length, format, arguments);
  va_end(arguments);
  strncat(text, "\n", sizeof text - strlen(text) - 1);
}

const char *facts_name(LLVMValueRef value) {
  static char numbers[8][24];
  static unsigned next;
  if (!value || !LLVMIsAConstantInt(value)) {
    return value ? mtlc_name(value) : "none";
  }
  char *number = numbers[next++ % 8];
  snprintf(number, sizeof numbers[0], "%lld", LLVMConstIntGetSExtValue(value));
  return number;
}

static const char *node_name(const lanes_graph *graph, uint32_t n) {
  const lanes_node *node = &graph->nodes[n];
  return node->kind == LANES_BLOCK   ? LLVMGetBasicBlockName(node->block)
         : node->kind == LANES_LATCH ? "latch"
                                     : "exit";
}

void facts_of_graph(const facts_subject *s) {
  for (uint32_t n = 0; n < s->graph->node_count; n++) {
    const lanes_node *node = &s->graph->nodes[n];
    char line[128] = "";
    for (uint32_t i = 0; i < node->successors.count; i++) {
      snprintf(line + strlen(line), sizeof line - strlen(line), " %u",
               node->successors.items[i]);
    }
    facts_add("%u %s:%s", n, node_name(s->graph, n), line);
  }
  for (uint32_t l = 0; l < s->graph->loop_count; l++) {
    const lanes_loop *loop = &s->graph->loops[l];
    facts_add("loop %u to %u%s", loop->header, loop->latch,
              loop->parent == LANES_NONE ? "" : ", inside another");
  }
}

void facts_of_shapes(const facts_subject *s) {
  for (uint32_t i = 0; i < s->values->count; i++) {
    const lanes_shape shape = s->values->shapes[i];
    const char *name = mtlc_name(s->values->items[i]);
    const char *checked = shape.conditional ? ", checked" : "";
    if (!*name) {
      continue;
    }
    if (lanes_is_uniform(shape)) {
      facts_add("%s uniform%s", name, checked);
    } else if (lanes_is_scalar(shape)) {
      facts_add("%s by %" PRId64 "%s", name, shape.stride, checked);
    } else if (shape.row > 1) {
      facts_add("%s by %" PRId64 " in rows of %u%s", name, shape.stride,
                shape.row, checked);
    } else {
      facts_add("%s varying", name);
    }
  }
}

void facts_of_flow(const facts_subject *s) {
  for (uint32_t n = 0; n < s->graph->node_count; n++) {
    if (s->graph->nodes[n].kind == LANES_BLOCK) {
      facts_add("%s%s%s%s", node_name(s->graph, n),
                s->values->masked[n] ? " masked" : "",
                s->values->divergent_branch[n] ? " parts" : "",
                s->values->joins[n] ? " joins" : "");
    }
  }
  for (uint32_t l = 0; l < s->graph->loop_count; l++) {
    facts_add("loop %s", s->values->divergent_loop[l] ? "left one by one"
                                                      : "left together");
  }
}

void facts_of_privates(const facts_subject *s) {
  for (uint32_t i = 0; i < s->values->private_count; i++) {
    const lanes_private *p = &s->values->privates[i];
    const char *name = mtlc_name(p->alloca_instruction);
    if (p->is_shared) {
      facts_add("%s once, %" PRIu64 " bytes", name, p->size_bytes);
    } else {
      facts_add("%s for each lane, %" PRIu64 " bytes in units of %u", name,
                p->size_bytes, p->unit_bytes);
    }
  }
}

void facts_of_groups(const facts_subject *s) {
  lanes_group_uniform common;
  lanes_group_uniform_find(s->values, false, &common);
  for (uint32_t i = 0; i < s->values->count; i++) {
    if (*mtlc_name(s->values->items[i])) {
      facts_add("%s %s", mtlc_name(s->values->items[i]),
                common.values[i] ? "one for all" : "differs");
    }
  }
  facts_add("waits %s", common.waits_together ? "together" : "apart");
}

void facts_of_bits(const facts_subject *s) {
  lanes_pattern_finder finder = lanes_patterns_begin(s->values);
  for (uint32_t i = 0; i < s->values->count; i++) {
    const char *name = mtlc_name(s->values->items[i]);
    const LLVMTypeKind kind = LLVMGetTypeKind(LLVMTypeOf(s->values->items[i]));
    if (!*name ||
        (kind != LLVMIntegerTypeKind && kind != LLVMPointerTypeKind)) {
      continue;
    }
    const lanes_pattern pattern =
        lanes_pattern_of(&finder, s->values->items[i]);
    char line[128] = "";
    for (uint32_t b = 0; b < LANES_BITS; b++) {
      char bit[24] = " ?";
      if (pattern.known >> b & 1) {
        snprintf(bit, sizeof bit, " %" PRId64, pattern.by_bit[b]);
      }
      strcat(line, bit);
    }
    facts_add("%s%s", name, line);
  }
}

void facts_of_addresses(const facts_subject *s) {
  for (uint32_t i = 0; i < s->values->count; i++) {
    LLVMValueRef value = s->values->items[i];
    if (!LLVMIsALoadInst(value)) {
      continue;
    }
    lanes_affine a;
    lanes_affine_find(s->values, LLVMGetOperand(value, 0), &a);
    char line[256] = "";
    for (uint32_t t = 0; t < a.term_count; t++) {
      snprintf(line + strlen(line), sizeof line - strlen(line), "%s + ",
               facts_name(a.terms[t]));
    }
    facts_add("%s: %s + %" PRIu64 " * %s(%s%" PRId64 ") + %" PRId64,
              mtlc_name(value), facts_name(a.base), a.scale,
              !a.is_extended ? ""
              : a.is_signed  ? "signed "
                             : "unsigned ",
              line, a.constant, a.bytes);
  }
}

void facts_of_steps(const facts_subject *s) {
  for (uint32_t i = 0; i < s->values->count; i++) {
    LLVMValueRef value = s->values->items[i];
    const uint32_t loop = s->graph->nodes[s->values->nodes[i]].loop;
    const LLVMTypeKind kind = LLVMGetTypeKind(LLVMTypeOf(value));
    if (!*mtlc_name(value) || loop == LANES_NONE ||
        (kind != LLVMIntegerTypeKind && kind != LLVMPointerTypeKind)) {
      continue;
    }
    const lanes_induction_step step = lanes_step_of(s->values, value, loop);
    switch (step.kind) {
      case LANES_STEP_KNOWN:
        facts_add("%s by %" PRId64, mtlc_name(value), (int64_t)step.by);
        break;
      case LANES_STEP_TIMES:
        facts_add("%s by %" PRId64 " times %s", mtlc_name(value),
                  (int64_t)step.by, facts_name(step.factor));
        break;
      case LANES_STEP_SAME:
        facts_add("%s by the same", mtlc_name(value));
        break;
      default: facts_add("%s unknown", mtlc_name(value)); break;
    }
  }
}

void facts_of_counters(const facts_subject *s) {
  for (uint32_t i = 0; i < s->values->count; i++) {
    lanes_counter counter;
    if (!LLVMIsAPHINode(s->values->items[i])) {
      continue;
    }
    if (lanes_counter_find(s->graph, s->values->items[i], &counter)) {
      facts_add(
          "%s from %s %s %s", mtlc_name(counter.phi), facts_name(counter.start),
          counter.reaches_bound ? "to" : "below", facts_name(counter.bound));
    } else {
      facts_add("%s is none", mtlc_name(s->values->items[i]));
    }
  }
}

// Ranges that are known at compile time, at a place that only the entry leads
// to: "right if asked" if they hold only under a run-time test.
void facts_of_ranges(const facts_subject *s) {
  LLVMBasicBlockRef place = LLVMAppendBasicBlockInContext(
      s->kernel->context, s->kernel->thread, "place");
  lanes_ranges ranges = {
      .graph = s->graph,
      .data = s->values->data,
      .context = s->kernel->context,
      .module = s->kernel->module,
      .builder = LLVMCreateBuilderInContext(s->kernel->context),
      .holds = LLVMConstInt(LLVMInt1TypeInContext(s->kernel->context), 1, 0)};
  LLVMPositionBuilderAtEnd(ranges.builder, place);
  for (uint32_t n = 0; n < s->values->count; n++) {
    LLVMValueRef i = s->values->items[n];
    lanes_range range;
    if (LLVMGetTypeKind(LLVMTypeOf(i)) != LLVMIntegerTypeKind ||
        LLVMIsACmpInst(i)) {
      continue;
    }
    if (!lanes_range_of(&ranges, i, &range)) {
      facts_add("%s is any", facts_name(i));
    } else if (LLVMIsAConstantInt(range.least) &&
               LLVMIsAConstantInt(range.greatest)) {
      facts_add("%s from %s to %s", facts_name(i), facts_name(range.least),
                facts_name(range.greatest));
    } else {
      facts_add("%s as the launch is", facts_name(i));
    }
  }
  facts_add("%s", !LLVMIsAConstantInt(ranges.holds) ? "right if asked"
                  : LLVMIsNull(ranges.holds)        ? "wrong"
                                                    : "right");
  LLVMDisposeBuilder(ranges.builder);
  LLVMDeleteBasicBlock(place);
}

void facts_of_effects(const facts_subject *s) {
  for (uint32_t i = 0; i < s->values->count; i++) {
    LLVMValueRef value = s->values->items[i];
    if (LLVMIsALoadInst(value) || LLVMIsAStoreInst(value)) {
      LLVMValueRef address =
          LLVMGetOperand(value, LLVMIsALoadInst(value) ? 0 : 1);
      facts_add("%s %s%s", LLVMIsALoadInst(value) ? "load" : "store",
                lanes_may_write(value) ? "may write " : "",
                lanes_is_in_threadgroup(s->kernel, address) ? "threadgroup"
                                                            : "elsewhere");
    } else if (LLVMIsACallInst(value)) {
      facts_add("%s%s", mtlc_callee_name(value),
                lanes_may_write(value) ? " may write" : "");
    }
  }
}

void facts_of_callees(const facts_subject *s) {
  static const char *const names[] = {
      [LANES_CALLEE_OTHER] = "thread by thread",
      [LANES_CALLEE_NOTHING] = "nothing",
      [LANES_CALLEE_ARGUMENT] = "argument",
      [LANES_CALLEE_POSITION] = "position",
      [LANES_CALLEE_THREADGROUP_BARRIER] = "threadgroup barrier",
      [LANES_CALLEE_SIMDGROUP_BARRIER] = "simdgroup barrier",
      [LANES_CALLEE_SHUFFLE] = "shuffle",
      [LANES_CALLEE_BALLOT] = "ballot",
      [LANES_CALLEE_REDUCE] = "reduction",
      [LANES_CALLEE_SCAN] = "scan",
      [LANES_CALLEE_ELEMENTWISE] = "elementwise",
      [LANES_CALLEE_UNKNOWN] = "unknown"};
  for (uint32_t i = 0; i < s->values->count; i++) {
    LLVMValueRef value = s->values->items[i];
    if (LLVMIsACallInst(value)) {
      facts_add("%s: %s%s", mtlc_callee_name(value),
                names[lanes_callee_of(value)],
                lanes_is_convergent(value) ? ", convergent" : "");
    }
  }
}

void facts_of_wraps(const facts_subject *s) {
  facts_add("%s", lanes_mark_no_wrap(s->kernel->kernel, s->values)
                      ? "some do not wrap"
                      : "all may wrap");
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(s->kernel->thread); b;
       b = LLVMGetNextBasicBlock(b)) {
    for (LLVMValueRef i = LLVMGetFirstInstruction(b); i;
         i = LLVMGetNextInstruction(i)) {
      if (LLVMIsASExtInst(i) || LLVMIsAZExtInst(i)) {
        facts_add("%s", LLVMIsASExtInst(i) ? "signed" : "unsigned");
      }
    }
  }
}

// load_ir's function of the frontend; no function here is loaded.
bool mtlc_load_kernel(LLVMContextRef context, const void *bitcode,
                      size_t size_bytes, const char *symbol,
                      LLVMModuleRef *out_module) {
  (void)context, (void)bitcode, (void)size_bytes, (void)symbol;
  *out_module = NULL;
  return false;
}

// --- The subject -------------------------------------------------------------

static const char declarations[] =
    "declare ptr @mettle.argument(i32)\n"
    "declare i32 @mettle.position(i32, i32)\n"
    "declare void @mettle.barrier.threadgroup(i32) convergent\n"
    "declare i32 @mettle.simd.shuffle.i32(i32, i32) convergent\n"
    "declare i32 @mettle.simd.reduce.add.i32(i32) convergent\n"
    "declare i32 @mettle.simd.scan.inclusive.add.i32(i32) convergent\n"
    "declare i32 @mettle.simd.ballot(i1) convergent\n"
    "declare float @llvm.fabs.f32(float)\n"
    "declare void @elsewhere()\n"
    "define void @thread() {\n";

static LLVMModuleRef parse(LLVMContextRef context, const char *body) {
  char source[4096];
  snprintf(source, sizeof source, "%s%s}\n", declarations, body);
  LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(
      source, strlen(source), "thread");
  LLVMModuleRef module;
  char *why = NULL;
  if (LLVMParseIRInContext(context, buffer, &module, &why)) {
    test_fail(__FILE__, __LINE__, "%s", why);
  }
  return module;
}

const char *facts_of(const char *body, uint8_t lanes, uint8_t row,
                     facts_printer *print) {
  enum { BUFFERS = 7 };
  LLVMContextRef context = LLVMContextCreate();
  mtli_parameter parameters[BUFFERS + 1] = {0};
  mtli_kernel interface = {.parameters = parameters,
                           .parameter_count = BUFFERS + 1};
  for (int i = 0; i < BUFFERS; i++) {
    parameters[i].argument.kind = MTL_ARGUMENT_BUFFER;
  }
  parameters[BUFFERS].argument.kind = MTL_ARGUMENT_THREADGROUP_MEMORY;
  mtlc_kernel kernel = {
      .context = context, .module = parse(context, body), .kernel = &interface};
  kernel.thread = LLVMGetNamedFunction(kernel.module, "thread");
  mtli_arena arena = {0};
  lanes_graph graph;
  lanes_values values;
  const mtli_group_class class = {.row = row};
  text[0] = 0;
  if (lanes_graph_build(kernel.thread, &arena, &graph)) {
    lanes_values_find(&graph, LLVMGetModuleDataLayout(kernel.module), lanes,
                      row, &class, &values);
    print(&(facts_subject){
        .kernel = &kernel, .graph = &graph, .values = &values});
  } else {
    facts_add("no graph");
  }
  mtli_arena_clear(&arena);
  LLVMDisposeModule(kernel.module);
  LLVMContextDispose(context);
  return text;
}
