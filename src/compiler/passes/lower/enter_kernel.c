// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// enter_kernel.c: makes void @mettle.thread(void) from the kernel's wrapper:
// the argument array is built, and what talks to the outside is inlined.
//
// Requires  select_kernel, fix_constants
// Leaves    mettle.thread, which alone calls functions of docs/ir.md or names
//           threadgroup variables. Other functions may be left; a circle of
//           calls goes through one that is marked noinline. No access relies
//           on an alignment of more than 16 bytes. Both tiers are alike up to
//           contract_arithmetic, so what is inlined here does not depend on
//           the tier.
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/status.h"
#include "compiler/ir/kernel/kernel.h"
#include "compiler/ir/kernel/target.h"
#include "compiler/ir/llvm/attributes.h"
#include "compiler/ir/llvm/calls.h"
#include "compiler/ir/llvm/instructions.h"
#include "compiler/ir/llvm/marks.h"
#include "compiler/ir/llvm/module.h"
#include "compiler/ir/llvm/names.h"
#include "compiler/ir/llvm/types.h"
#include "compiler/ir/llvm/value_list.h"
#include "compiler/ir/transform/break_circles.h"
#include "compiler/passes/passes.h"

// --- the call graph ----------------------------------------------------------

typedef enum colour { WHITE, GREY, BLACK } colour;

typedef struct function_facts {
  LLVMValueRef function;
  colour colour;
  bool needs_thread;  // calls a function of docs/ir.md, at some depth
  bool is_recursive;  // where a circle of calls closes
} function_facts;

typedef struct call_graph {
  function_facts *facts;  // [count]
  size_t count;
  bool has_recursion;
} call_graph;

static function_facts *find_facts(call_graph *graph, LLVMValueRef function) {
  for (size_t i = 0; i < graph->count; ++i) {
    if (graph->facts[i].function == function) {
      return &graph->facts[i];
    }
  }
  return NULL;
}

static void walk_function(call_graph *graph, function_facts *facts);

static void walk_instruction(call_graph *graph, function_facts *facts,
                             LLVMValueRef instruction) {
  for (int i = 0; i < LLVMGetNumOperands(instruction); ++i) {
    if (mtlc_names_threadgroup_memory(
            LLVMGetOperand(instruction, (unsigned)i))) {
      facts->needs_thread = true;
    }
  }
  LLVMValueRef callee = mtlc_callee(instruction);
  if (!callee) {
    return;
  }
  function_facts *called = find_facts(graph, callee);
  if (!called) {
    facts->needs_thread |= mtlc_starts_with(mtlc_name(callee), "mettle.");
    return;
  }
  if (called->colour == GREY) {
    called->is_recursive = true;
    graph->has_recursion = true;
  } else if (called->colour == WHITE) {
    walk_function(graph, called);
  }
  facts->needs_thread |= called->needs_thread;
}

static void walk_function(call_graph *graph, function_facts *facts) {
  facts->colour = GREY;
  for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(facts->function); block;
       block = LLVMGetNextBasicBlock(block)) {
    for (LLVMValueRef instruction = LLVMGetFirstInstruction(block); instruction;
         instruction = LLVMGetNextInstruction(instruction)) {
      walk_instruction(graph, facts, instruction);
    }
  }
  facts->colour = BLACK;
}

static call_graph make_call_graph(LLVMModuleRef module) {
  call_graph graph = {0};
  mtlc_values functions = {0};
  for (LLVMValueRef function = LLVMGetFirstFunction(module); function;
       function = LLVMGetNextFunction(function)) {
    if (!LLVMIsDeclaration(function)) {
      mtlc_values_add(&functions, function);
    }
  }
  graph.count = functions.count;
  graph.facts = calloc(functions.count + 1, sizeof graph.facts[0]);
  for (size_t i = 0; i < functions.count; ++i) {
    graph.facts[i].function = functions.items[i];
  }
  for (size_t i = 0; i < graph.count; ++i) {
    if (graph.facts[i].colour == WHITE) {
      walk_function(&graph, &graph.facts[i]);
    }
  }
  free(functions.items);
  return graph;
}

// A function that calls itself last of all is a loop, to Metal's compiler too:
// programs rely on it.
static const char tail_calls[] =
    "function(sroa<modify-cfg>,simplifycfg,tailcallelim)";

// Refuses recursion: barriers and memory positions exist in mettle.thread
// alone, and a recursive function cannot be inlined into it.
static mtl_status refuse_recursion(const mtlc_kernel *kernel,
                                   LLVMValueRef function) {
  char name[256];
  mtlc_name_in_source(mtlc_name(function), name, sizeof name);
  return mtli_fail(MTL_UNSUPPORTED,
                   "kernel %s: function %s calls itself, directly or through "
                   "others, and uses barriers, simdgroup functions or "
                   "threadgroup variables",
                   kernel->kernel->name, name);
}

// Passes over functions change the graph: one circle at a time, and each once.
static mtl_status break_circles(mtlc_kernel *kernel, call_graph *graph) {
  mtl_status status = MTL_OK;
  for (size_t i = 0; i < graph->count && status == MTL_OK; ++i) {
    if (graph->facts[i].is_recursive) {
      status = mtlc_break_circle(kernel, graph->facts[i].function);
      free(graph->facts);
      *graph = make_call_graph(kernel->module);
    }
  }
  return status;
}

static mtl_status mark_inline(mtlc_kernel *kernel) {
  call_graph graph = make_call_graph(kernel->module);
  if (graph.has_recursion) {
    free(graph.facts);
    MTL_TRY(mtlc_run_llvm_passes(kernel, tail_calls));
    graph = make_call_graph(kernel->module);
  }
  if (graph.has_recursion) {
    MTL_TRY(break_circles(kernel, &graph));
  }
  mtl_status status = MTL_OK;
  for (size_t i = 0; i < graph.count && status == MTL_OK; ++i) {
    const function_facts *facts = &graph.facts[i];
    if (facts->is_recursive && facts->needs_thread) {
      status = refuse_recursion(kernel, facts->function);
    } else if (facts->is_recursive) {
      mtlc_set_attribute(facts->function, "noinline", 0);
    } else if (facts->needs_thread && facts->function != kernel->thread) {
      mtlc_set_attribute(facts->function, "alwaysinline", 0);
    }
  }
  free(graph.facts);
  return status;
}

// --- the argument array ------------------------------------------------------

typedef struct entry_builder {
  mtlc_kernel *kernel;
  mtlc_types types;
  LLVMBuilderRef builder;
  LLVMValueRef argument;  // @mettle.argument
  LLVMValueRef position;  // @mettle.position
} entry_builder;

// Stores a built-in input as the MSL type of its parameter has it; a third
// component takes the room of four.
static LLVMValueRef build_builtin(entry_builder *b,
                                  const mtli_parameter *parameter) {
  const uint32_t bytes = parameter->builtin_component_bytes;
  const uint32_t components = parameter->builtin_components;
  LLVMTypeRef component = bytes == 2 ? b->types.i16 : b->types.i32;
  LLVMTypeRef storage =
      LLVMArrayType2(component, components == 3 ? 4 : components);
  LLVMValueRef memory = LLVMBuildAlloca(b->builder, storage, "");
  LLVMSetAlignment(memory, 16);
  for (uint32_t i = 0; i < components; ++i) {
    LLVMValueRef arguments[] = {
        mtlc_i32(b->kernel->context, parameter->builtin),
        mtlc_i32(b->kernel->context, i)};
    LLVMValueRef value = mtlc_call(b->builder, b->position, arguments, 2);
    if (bytes == 2) {
      value = LLVMBuildTrunc(b->builder, value, component, "");
    }
    LLVMBuildStore(b->builder, value,
                   mtlc_offset(b->builder, memory, i * bytes));
  }
  return memory;
}

static LLVMValueRef build_arguments(entry_builder *b) {
  const mtli_kernel *kernel = b->kernel->kernel;
  LLVMValueRef array = LLVMBuildAlloca(
      b->builder, LLVMArrayType2(b->types.pointer, kernel->parameter_count),
      "arguments");
  for (size_t i = 0; i < kernel->parameter_count; ++i) {
    LLVMValueRef value;
    if (kernel->parameters[i].builtin != MTLI_BUILTIN_NONE) {
      value = build_builtin(b, &kernel->parameters[i]);
    } else {
      LLVMValueRef slot = mtlc_i32(b->kernel->context, (uint32_t)i);
      value = mtlc_call(b->builder, b->argument, &slot, 1);
      if (kernel->parameters[i].argument.kind ==
          MTL_ARGUMENT_THREADGROUP_MEMORY) {
        mtlc_mark(value, MTLC_THREADGROUP_MARK);
      }
    }
    LLVMBuildStore(b->builder, value,
                   mtlc_offset(b->builder, array, i * sizeof(void *)));
  }
  return array;
}

static void declare_inputs(entry_builder *b) {
  LLVMModuleRef module = b->kernel->module;
  LLVMTypeRef i32s[] = {b->types.i32, b->types.i32};
  b->argument = mtlc_declare(module, "mettle.argument",
                             LLVMFunctionType(b->types.pointer, i32s, 1, 0));
  b->position = mtlc_declare(module, "mettle.position",
                             LLVMFunctionType(b->types.i32, i32s, 2, 0));
  LLVMValueRef both[] = {b->argument, b->position};
  for (size_t i = 0; i < 2; ++i) {
    mtlc_set_attribute(both[i], "nounwind", 0);
    mtlc_set_attribute(both[i], "willreturn", 0);
    mtlc_set_attribute(both[i], "memory", 0);
    mtlc_set_attribute(both[i], "speculatable", 0);
  }
}

// Moves the wrapper's body to the thread, with the array for its parameter.
static void make_thread(mtlc_kernel *kernel, LLVMValueRef wrapper) {
  entry_builder b = {.kernel = kernel,
                     .types = mtlc_types_of(kernel->context),
                     .builder = LLVMCreateBuilderInContext(kernel->context)};
  declare_inputs(&b);
  kernel->thread =
      LLVMAddFunction(kernel->module, MTLC_THREAD_FUNCTION,
                      LLVMFunctionType(b.types.nothing, NULL, 0, false));
  mtlc_set_attribute(kernel->thread, "nounwind", 0);
  mtlc_move_body(wrapper, kernel->thread);
  LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(kernel->thread);
  LLVMPositionBuilderBefore(b.builder, LLVMGetFirstInstruction(entry));
  LLVMReplaceAllUsesWith(LLVMGetParam(wrapper, 0), build_arguments(&b));
  LLVMDeleteFunction(wrapper);
  LLVMDisposeBuilder(b.builder);
}

// --- alignment ---------------------------------------------------------------

// The alignment that hosts guarantee: of inline bytes, their own memory,
// guarded buffers. Of MSL's types only long3 and long4 ask for more.
enum { BOUND_ALIGNMENT = 16 };

static void limit_attribute(LLVMValueRef call, LLVMAttributeIndex index) {
  const unsigned kind = LLVMGetEnumAttributeKindForName("align", 5);
  LLVMAttributeRef align = LLVMGetCallSiteEnumAttribute(call, index, kind);
  if (align && LLVMGetEnumAttributeValue(align) > BOUND_ALIGNMENT) {
    LLVMRemoveCallSiteEnumAttribute(call, index, kind);
    LLVMSetInstrParamAlignment(call, index, BOUND_ALIGNMENT);
  }
}

// Lowers every access's alignment to that.
static void limit_alignment(LLVMValueRef i, void *context) {
  (void)context;
  if (LLVMIsALoadInst(i) || LLVMIsAStoreInst(i)) {
    if (LLVMGetAlignment(i) > BOUND_ALIGNMENT) {
      LLVMSetAlignment(i, BOUND_ALIGNMENT);
    }
  } else if (LLVMIsACallInst(i)) {
    for (LLVMAttributeIndex k = 1; k <= LLVMGetNumArgOperands(i); ++k) {
      limit_attribute(i, k);
    }
  }
}

static void limit_parameters(LLVMModuleRef module) {
  const unsigned kind = LLVMGetEnumAttributeKindForName("align", 5);
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f;
       f = LLVMGetNextFunction(f)) {
    for (LLVMAttributeIndex k = 1; k <= LLVMCountParams(f); ++k) {
      LLVMAttributeRef align = LLVMGetEnumAttributeAtIndex(f, k, kind);
      if (align && LLVMGetEnumAttributeValue(align) > BOUND_ALIGNMENT) {
        LLVMRemoveEnumAttributeAtIndex(f, k, kind);
      }
    }
  }
}

mtl_status mtlc_enter_kernel(mtlc_kernel *kernel) {
  LLVMValueRef wrapper =
      LLVMGetNamedFunction(kernel->module, kernel->kernel->symbol);
  if (!wrapper || LLVMIsDeclaration(wrapper)) {
    return mtli_fail(MTL_BAD_DATA, "the container's IR has no %s",
                     kernel->kernel->symbol);
  }
  if (LLVMCountParams(wrapper) != 1) {
    return mtli_fail(MTL_BAD_DATA, "%s takes %u parameters; one was expected",
                     kernel->kernel->symbol, LLVMCountParams(wrapper));
  }
  mtlc_for_each_in_module(kernel->module, limit_alignment, NULL);
  limit_parameters(kernel->module);
  make_thread(kernel, wrapper);
  MTL_TRY(mark_inline(kernel));
  mtlc_set_target_attributes(kernel);  // as in simplify_library
  return mtlc_run_llvm_passes(kernel, "always-inline,globaldce");
}
