// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// module.h: what the passes share in reading and changing a module: types,
// lists of calls, moved functions, linked text.
#ifndef MTLC_MODULE_H
#define MTLC_MODULE_H

#include <stdbool.h>
#include <string.h>

#include "compiler/passes/passes.h"

// The types that passes name most.
typedef struct mtlc_types {
  LLVMTypeRef nothing, i1, i8, i16, i32, i64, f16, f32, pointer, token;
} mtlc_types;

mtlc_types mtlc_types_of(LLVMContextRef context);

LLVMValueRef mtlc_i32(LLVMContextRef context, uint32_t value);
LLVMValueRef mtlc_i64(LLVMContextRef context, uint64_t value);

// A growing list of values. Zero is empty; free(items) ends it.
typedef struct mtlc_values {
  LLVMValueRef *items;  // [count]
  size_t count;
  size_t capacity;
} mtlc_values;

void mtlc_values_add(mtlc_values *values, LLVMValueRef value);
bool mtlc_values_has(const mtlc_values *values, LLVMValueRef value);

// The function that a call calls by name, or NULL: not a call, or by pointer.
LLVMValueRef mtlc_callee(LLVMValueRef instruction);
// The name of a value; never NULL.
const char *mtlc_name(LLVMValueRef value);
bool mtlc_starts_with(const char *text, const char *prefix);
// The names in a mangled name, "ns::f" of "_ZN2ns1fEj"; other names as they
// are.
void mtlc_name_in_source(const char *name, char *out, size_t capacity);

// Appends every call of a function whose name starts with prefix.
void mtlc_collect_calls(LLVMModuleRef module, const char *prefix,
                        mtlc_values *calls);

// Whether a value is a threadgroup variable (docs/ir.md) or a constant
// expression over one.
bool mtlc_names_threadgroup_memory(LLVMValueRef value);

// Calls visit for each instruction of a function, or of all functions. The
// visited instruction may be erased, its block not split.
typedef void mtlc_visit(LLVMValueRef instruction, void *context);
void mtlc_for_each_instruction(LLVMValueRef function, mtlc_visit *visit,
                               void *context);
void mtlc_for_each_in_module(LLVMModuleRef module, mtlc_visit *visit,
                             void *context);

// The largest number of which both are multiples.
uint64_t mtlc_common_divisor(uint64_t a, uint64_t b);

// Has a builder go on in front of an instruction, or behind the phis that begin
// with it.
void mtlc_position_behind_phis(LLVMBuilderRef builder,
                               LLVMValueRef instruction);

// Moves all of a block but its branch to a new one, to which now leads what led
// to the block; the phis behind the branch need not be told. Returns the new
// one, which has no end yet.
LLVMBasicBlockRef mtlc_split_above(LLVMBuilderRef builder,
                                   LLVMValueRef branch);

// Whether a value is an instruction of that kind.
bool mtlc_is_opcode(LLVMValueRef value, LLVMOpcode opcode);

// Whether an operation of two integers is never wrong to do, whatever they are:
// no division.
bool mtlc_is_plain_arithmetic(LLVMOpcode opcode);

// Puts value in the place of an instruction and erases it.
void mtlc_replace(LLVMValueRef instruction, LLVMValueRef value);

// The declaration of a function of the module, made if it is not there.
LLVMValueRef mtlc_declare(LLVMModuleRef module, const char *name,
                          LLVMTypeRef type);
// Calls an intrinsic, overloaded on the types given.
LLVMValueRef mtlc_call_intrinsic(LLVMBuilderRef builder, const char *name,
                                 LLVMTypeRef *overloads, size_t overload_count,
                                 LLVMValueRef *arguments, size_t count);
// Calls an intrinsic as another call does, overloaded on another type.
LLVMValueRef mtlc_call_alike(LLVMBuilderRef builder, LLVMValueRef call,
                             LLVMTypeRef type, LLVMValueRef *arguments);
// Calls a function of the module.
LLVMValueRef mtlc_call(LLVMBuilderRef builder, LLVMValueRef function,
                       LLVMValueRef *arguments, size_t count);

// The address that lies bytes behind pointer.
LLVMValueRef mtlc_offset(LLVMBuilderRef builder, LLVMValueRef pointer,
                         uint64_t bytes);

// Positions a builder where code that must run before the function's own may
// be put: behind the first block's static allocas.
void mtlc_position_at_entry(LLVMBuilderRef builder, LLVMValueRef function);

// Cuts blocks of many calls of functions that are marked alwaysinline, for
// inlining them takes time that grows with the square of their number in one.
void mtlc_split_between_calls(mtlc_kernel *kernel);

// Moves the body of source into target, a declaration, with its debug
// information; parameters and attributes do not move.
void mtlc_move_body(LLVMValueRef source, LLVMValueRef target);

// What an address is made of by getelementptr.
LLVMValueRef mtlc_root_of(LLVMValueRef address);
// Marks an instruction by metadata of that name without operands; copies have
// it, too.
void mtlc_mark(LLVMValueRef instruction, const char *name);
bool mtlc_is_marked(LLVMValueRef instruction, const char *name);
// On a call of mettle.argument that is a threadgroup's memory.
#define MTLC_THREADGROUP_MARK "mettle.threadgroup"
// What is known of a vector's elements, as that a sum does not wrap, is known
// of each: an instruction that was just made from another, if it is one.
void mtlc_keep_flags(LLVMValueRef from, LLVMValueRef made);
// Takes away what is known of an instruction's result and its operands.
void mtlc_drop_flags(LLVMValueRef instruction);
// What this load reads nothing writes while the kernel runs.
void mtlc_mark_invariant(LLVMValueRef load);
bool mtlc_is_invariant(LLVMValueRef load);

void mtlc_set_attribute(LLVMValueRef function, const char *name,
                        uint64_t value);
// The same of a parameter, from 0 on.
void mtlc_set_parameter_attribute(LLVMValueRef function, unsigned parameter,
                                  const char *name, uint64_t value);
void mtlc_set_text_attribute(LLVMValueRef function, const char *name,
                             const char *value);
void mtlc_remove_attribute(LLVMValueRef function, const char *name);
bool mtlc_has_attribute(LLVMValueRef function, const char *name);

// Gives an instruction of function, made by us, the line that the function
// begins on; function has debug information.
void mtlc_set_location(LLVMValueRef instruction, LLVMValueRef function);

// Visible functions that link_functions has brought in, for calls through
// tables: "mettle.linked.LEVEL.NUMBER". The kernel is at level 0; what a
// function of a level calls through a table is at the next.
#define MTLC_LINKED_PREFIX "mettle.linked."
// The linked function of a number and level, or NULL.
LLVMValueRef mtlc_linked_function(LLVMModuleRef module, uint32_t level,
                                  size_t number);
// The level at which a function stands.
uint32_t mtlc_level_of(LLVMValueRef function);
// Appends the calls through pointers in functions of a level.
void mtlc_collect_pointer_calls(LLVMModuleRef module, uint32_t level,
                                mtlc_values *calls);

// Whether the module calls barriers or simdgroup functions.
bool mtlc_is_convergent(LLVMModuleRef module);

// Sets what a loop wishes, such as "llvm.loop.unroll.full", on the branch back
// to its header.
void mtlc_set_loop_wish(LLVMValueRef latch, const char *wish);

// Parses IR text (from ir_text.S) and links it into the kernel's module.
mtl_status mtlc_link_text(mtlc_kernel *kernel, const char *name,
                          const char *text);

// Makes every function internal but those of cpu_abi.h.
void mtlc_hide_functions(LLVMModuleRef module);

// Sets the target's CPU and features on every function, without which LLVM
// optimises and emits for the plainest machine of the triple.
void mtlc_set_target_attributes(mtlc_kernel *kernel);

// Whether the target has an x86 feature, or is AArch64 or PTX, which have the
// like of those that are asked for.
bool mtlc_target_has(LLVMTargetMachineRef target, const char *feature);
// Whether a target's triple starts with an architecture.
bool mtlc_target_is(LLVMTargetMachineRef target, const char *architecture);
// Whether the name of a target's CPU starts with that of a family.
bool mtlc_target_is_cpu(LLVMTargetMachineRef target, const char *family);
uint32_t mtlc_count_instructions(LLVMValueRef function);
uint32_t mtlc_count_in_block(LLVMBasicBlockRef block);
// How many instructions the thread has when all is inlined that is marked to
// be. A circle of calls has a function that is not.
uint64_t mtlc_inlined_size(const mtlc_kernel *kernel);

// break_circles.c: inlines what function calls and is called by, and drops calls
// whose condition cannot hold then. The functions of kernel may change.
mtl_status mtlc_break_circle(mtlc_kernel *kernel, LLVMValueRef function);

// Runs a pipeline of LLVM's own passes, described as for `opt -passes`.
mtl_status mtlc_run_llvm_passes(mtlc_kernel *kernel, const char *passes);

// Texts of ir_text.S.
extern const char mtlc_text_counters[];
extern const char mtlc_text_lane_loop[];
extern const char mtlc_text_schedule[];
extern const char mtlc_text_memory[];
extern const char mtlc_text_fused[];
extern const char mtlc_text_halves[];
extern const char mtlc_text_tiles[];
extern const char mtlc_text_pairs[];
extern const char mtlc_text_apart[];
extern const char mtlc_text_extremes[];

#endif
