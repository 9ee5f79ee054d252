// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// screening.h: what the files of the screening tier share: the thread being
// screened, its loaded facts, and the conditions that it must meet.
//
//   screen_accesses.c  the pass: what can be screened, block by block
//   screening.c        conditions, and facts loaded in the entry block
//   screen_memory.c    one access: its bounds, its stamps, its set bytes
//   screen_barriers.c  barriers and shuffles
#ifndef MTLC_SCREENING_H
#define MTLC_SCREENING_H

#include "base/status.h"
#include "compiler/check/check.h"

// How the kernel accesses the memory of one parameter.
typedef struct mtlc_slot_use {
  bool is_read;
  bool is_written;
} mtlc_slot_use;

typedef struct mtlc_screening {
  mtlc_kernel *kernel;
  mtlc_types types;
  mtlc_sites sites;       // scratch for shadows; not written out
  mtlc_shadows *shadows;  // NULL if the init check is off
  LLVMBuilderRef builder;
  LLVMTargetDataRef layout;
  mtlc_private_bytes private_bytes;
  mtlc_slot_use *slots;  // [parameter_count]
  mtlc_intervals intervals;
  const mtlc_flow *flow;
  // Loaded in the entry block, where the checks asked for need them:
  LLVMValueRef check;          // the run-time part's mtli_check
  LLVMValueRef views;          // its mtli_check_view of each slot
  LLVMValueRef thread;         // i32: index in the threadgroup
  LLVMValueRef own;            // i32: the thread's stamp in device memory
  LLVMValueRef stamp;          // i32: the first stamp of the dispatch
  LLVMValueRef group_stamp;    // i32: the first stamp of the threadgroup
  LLVMValueRef group_threads;  // i32: threads of the threadgroup
  LLVMValueRef memory;         // i64: address of threadgroup memory
  LLVMValueRef group_arrays[4];
  LLVMValueRef epoch;   // alloca i32: first stamp since the last barrier
  LLVMValueRef passed;  // alloca i32: the value that mtli_check.arrived must
                        // reach
  uint32_t barrier_count;
  // Of the current block:
  LLVMValueRef pending;  // i1: a condition that its end has to test
  mtlc_values inside;    // pairs: an address, the size tested against bounds
  mtl_status status;
} mtlc_screening;

// True if one of these checks is asked for.
bool mtlc_screen_wants(const mtlc_screening *s, unsigned checks);
// True if the kernel stamps its accesses, or counts barriers.
bool mtlc_screen_has_stamps(const mtlc_screening *s);
bool mtlc_screen_has_barriers(const mtlc_screening *s);
// Fails with MTL_UNSUPPORTED; the first reason stays.
void mtlc_screen_refuse(mtlc_screening *s, const char *why);

// --- screening.c: conditions ------------------------------------------------

// Stops the thread here unless an i1 holds.
void mtlc_screen_must(mtlc_screening *s, LLVMValueRef holds);
// Requires a condition by the end of the block, tested together with others.
void mtlc_screen_must_later(mtlc_screening *s, LLVMValueRef holds);
void mtlc_screen_flush(mtlc_screening *s);
// Requires that every bit of a value is set.
void mtlc_screen_must_be_set(mtlc_screening *s, LLVMValueRef value);

// --- screening.c: code ------------------------------------------------------

LLVMValueRef mtlc_screen_i64(const mtlc_screening *s, uint64_t value);
LLVMValueRef mtlc_screen_i32(const mtlc_screening *s, uint32_t value);
// Puts the builder in front of an instruction, with its debug location.
void mtlc_screen_go_before(mtlc_screening *s, LLVMValueRef instruction);
LLVMValueRef mtlc_screen_declare(mtlc_screening *s, const char *name,
                                 LLVMTypeRef result, LLVMTypeRef *parameters,
                                 unsigned count);
// Returns a function without effects.
LLVMValueRef mtlc_screen_declare_pure(mtlc_screening *s, const char *name,
                                      LLVMTypeRef result,
                                      LLVMTypeRef *parameters, unsigned count);
// Loads a field; is_fixed if the dispatch never changes it.
LLVMValueRef mtlc_screen_load(mtlc_screening *s, LLVMTypeRef type,
                              LLVMValueRef base, uint64_t offset,
                              bool is_fixed);
// Loads, in the entry block, the values that later conditions compare with.
void mtlc_screen_load_all(mtlc_screening *s);

// --- screen_memory.c --------------------------------------------------------

// True if the root of an address is known well enough to screen the access.
bool mtlc_screen_is_known(const mtlc_root *root);
// Tests an access by its operand, an address of a value of this type.
void mtlc_screen_access(mtlc_screening *s, LLVMValueRef access,
                        unsigned operand, LLVMTypeRef type,
                        mtli_check_access kind);

// --- screen_barriers.c ------------------------------------------------------

// Counts the threads that reach a barrier, and requires all of them.
void mtlc_screen_barrier(mtlc_screening *s, LLVMValueRef barrier);
// Requires all lanes: a shuffle may read from any of them, and a barrier of the
// simdgroup waits for all.
void mtlc_screen_all_lanes(mtlc_screening *s, LLVMValueRef call);

#endif
