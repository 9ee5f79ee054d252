// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// emitter.h: the function that runs one simdgroup, while it is being written.
//
// Every value of the thread function has one or more components: a vector's
// elements, a structure's fields. Of a component that differs by a stride, or
// not at all, over runs of lanes, the first of each run is kept: one scalar if
// the run is the simdgroup, or else a short vector; this number is its width
// (lanes_width_of). Any other is a vector of 32. Values that another block
// reads go through memory (an alloca a component): LLVM's mem2reg makes SSA
// form of it, so no rule of dominance has to be kept here.
#ifndef MTLC_EMITTER_H
#define MTLC_EMITTER_H

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/memory/arena.h"
#include "compiler/ir/kernel/kernel.h"
#include "compiler/ir/llvm/types.h"
#include "compiler/vectorize/analysis/graph.h"
#include "compiler/vectorize/analysis/group_uniformity.h"
#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/analysis/uniformity.h"
#include "compiler/vectorize/base/debug_lines.h"
#include "compiler/vectorize/base/tables.h"
#include "compiler/vectorize/plan/access/access_plan.h"
#include "compiler/vectorize/plan/access/planning.h"
#include "compiler/vectorize/plan/linearize.h"
#include "compiler/vectorize/target/machine.h"

// A value of the thread function in the emitted code.
typedef struct lanes_slot {
  uint32_t component_count;
  LLVMValueRef *memory;     // [component_count] allocas, or NULL
  LLVMValueRef *current;    // [component_count] valid in the current block, if
                            // fresh
  LLVMValueRef *as_vector;  // [component_count] made of narrower ones; the same
  uint32_t fresh;           // the block's number in which the two above are
                            // valid
  uint32_t vector_fresh;
  LLVMValueRef *everywhere;  // [component_count] constants and values of the
                             // entry block, which all blocks can read; or NULL
  LLVMValueRef
      *phi_memory;    // [component_count] where edges leave a phi's value
  LLVMValueRef home;  // address of a matrix accumulator, which stays there; or
                      // NULL
} lanes_slot;

// A barrier: where the simdgroup returns, and later continues.
typedef struct lanes_barrier {
  LLVMBasicBlockRef before;  // ends in `ret i32 number`
  LLVMBasicBlockRef after;
} lanes_barrier;

// The order of a tile's elements in memory. A float tile lies in blocks of 4 x
// 4, as threads hold it, or in rows or columns of 8. A tile of bfloats lies in
// pairs, the later one first: a left side's pairs are of columns, row by row; a
// right side's, of rows. A tile of bytes is widened to 16 bits, the even bytes
// of all words before the odd ones: a left side's by columns of each row; a
// right side's by rows.
typedef enum lanes_tile_order {
  LANES_BY_BLOCKS,
  LANES_BY_ROWS,
  LANES_BY_COLUMNS,
  LANES_LEFT_PAIRS,
  LANES_RIGHT_PAIRS,
  LANES_LEFT_BYTES,
  LANES_LEFT_SIGNED_BYTES,
  LANES_RIGHT_BYTES,
  LANES_RIGHT_SIGNED_BYTES,
} lanes_tile_order;

// A matrix tile that is in memory, for the block being emitted.
typedef struct lanes_tile_home {
  LLVMValueRef value;      // of the thread function
  LLVMValueRef memory;     // 64 floats, or bfloats, or 128 of split bytes
  bool is_wide;            // memory is that of split bytes
  LLVMValueRef first_row;  // otherwise the address of its first row
  LLVMValueRef row_bytes;  // i64 from there to the next row
  lanes_tile_order order;
} lanes_tile_home;

// An address whose lines have been prefetched (prefetch.c).
typedef struct lanes_prefetched {
  LLVMValueRef address;
  LLVMValueRef base;   // its base
  LLVMValueRef index;  // or NULL
  uint32_t node;
} lanes_prefetched;
enum { LANES_PREFETCHED = 32 };

// What an access has found out about its lanes' positions (permute_window.c):
// the part added to all indices, the branch that it took, each lane's position
// in its register's window, where the windows begin without the added part, and
// for a store the lane at each element of a window's halves.
typedef struct lanes_window {
  LLVMValueRef index;  // as in the thread function; NULL if nothing is known
  LLVMValueRef mask;
  uint32_t fresh;
  LLVMValueRef common;  // i32
  LLVMValueRef way;     // i32: the branch that it took
  LLVMValueRef places;
  LLVMValueRef begins[MOST_LANES];
  LLVMValueRef lanes[2];
} lanes_window;

// An array for the lanes' values (scalarise.c).
typedef struct lanes_array {
  LLVMTypeRef type;
  LLVMValueRef memory;
  uint32_t taken;  // the instruction that used it last
} lanes_array;

enum { LANES_WINDOWS = 4 };  // windows of counters.ll

// Atomic additions that a worker may do later (deferred_atomics.c).
typedef struct lanes_deferral {
  bool is_on;
  // Each window is for accesses that start from one of these arguments.
  LLVMValueRef roots[LANES_WINDOWS];  // [window_count]
  uint32_t window_count;
  // Slots of arguments that are added to, and of those that are touched later
  // and must not overlap them: a bit each.
  uint64_t added_slots;
  uint64_t touched_slots;
} lanes_deferral;

typedef struct lanes_emitter {
  mtlc_kernel *kernel;
  lanes_machine machine;
  mtlc_types types;
  LLVMContextRef context;
  LLVMBuilderRef builder;
  mtli_arena *arena;
  const lanes_graph *graph;
  const lanes_values *values;
  uint32_t lanes;  // of a vector: values->lanes
  const lanes_plan *plan;
  lanes_planning *planning;
  const lanes_access_plan *accesses;  // the form of each load and store
  struct lanes_packed_value *packed;  // [values->count] packed_vectors.c
  lanes_group_uniform common;  // group-uniform values, of a kernel with
                               // barriers

  LLVMValueRef function;
  LLVMValueRef called;    // the function whose vector form this is; NULL for
                          // the thread function
  LLVMValueRef *results;  // its results, if it returns any (vector_calls.h)
  LLVMBasicBlockRef entry;      // has the allocas and loop-invariant code
  LLVMBuilderRef prologue;      // at the end of entry
  LLVMValueRef all_lanes;       // <32 x i1> the lanes that entered
  LLVMValueRef private_memory;  // or NULL
  LLVMValueRef positions[MTLI_BUILTIN_COUNT][3];  // [builtin][dimension]

  lanes_slot *slots;          // [values->count]
  LLVMValueRef *mask_memory;  // [node_count] or NULL
  lanes_list *cleared;        // [node_count + 1] nodes whose masks a node
                              // clears
  uint32_t *coming_to;        // [node_count] see coming, for nodes emitted so
                              // far
  LLVMBasicBlockRef *starts;  // [node_count] where control enters a node
  LLVMBasicBlockRef *bodies;  // [node_count] the block behind its guard
  LLVMValueRef *memories;     // [memory_count] all allocas, for
                              // lanes_spill_at_barriers
  uint32_t memory_count;
  uint32_t memory_capacity;

  uint32_t node;         // the node being emitted
  uint32_t fresh;        // number of the block being emitted
  LLVMValueRef mask;     // <32 x i1> the threads that run the node
  LLVMValueRef node_mask;  // the same, also where an access has only a part of
                           // mask
  uint32_t coming;       // only lanes 0 to coming - 1 reach the block
  LLVMMetadataRef line;  // of the instruction being emitted, in the thread
                         // function
  bool uncached;  // the emitted code does not dominate later code
  uint32_t each_count;     // accesses lane by lane so far (lane_loop.c)
  uint32_t emitted;        // instructions emitted
  lanes_array *arrays;     // [array_count]
  uint32_t array_count;
  uint32_t array_capacity;

  lanes_barrier *waits;  // [wait_count]
  uint32_t wait_count;
  uint32_t wait_capacity;

  lanes_tile_home *homes;  // [home_count], more were in use before
  uint32_t home_count;
  uint32_t home_capacity;
  uint32_t homes_fresh;  // the block's number in which homes are valid
  // Frame offsets of matrix accumulators (tile_sums.c), by value: [count], 0
  // for none; or NULL.
  uint64_t *sum_places;
  uint64_t sums_bytes;
  bool has_one_sum;  // there is only one: LLVM keeps it in registers
                     // (value_slots.c)
  uint32_t product_count;  // products of tiles emitted
  uint32_t batch_count;    // batches of them, each with one left side

  lanes_deferral counting;
  bool is_counting;  // a deferred addition is being emitted
  LLVMValueRef counters;  // where deferred additions are summed up, or NULL

  bool is_at_once;  // the function will run several simdgroups
                    // (jam_simdgroups.c)
  LLVMValueRef copy_fetched;  // load of a copy whose next lines have been
                              // prefetched
  lanes_window near[2];  // of the last load and of the last store
  lanes_prefetched fetched[LANES_PREFETCHED];  // [fetched_count]
  uint32_t fetched_count;
  const bool *loops_that_wait;  // [loops] have barriers; found on first use
  bool in_rows;           // threads know more than one dimension of the grid
  bool has_waits;         // the thread function has barriers
  bool private_in_frame;  // private memory is in the frame, not on the stack
  bool single_simdgroup;  // threadgroups have at most 32 threads
  lanes_lines gathers;    // for the report: gathers,
  lanes_lines scatters;   // and scatters, calls and atomics done lane by lane
  lanes_lines serials;
  char refusal[256];   // why the kernel is not vectorised, or ""
} lanes_emitter;

// Parameters of the emitted function.
typedef enum lanes_parameter {
  LANES_LAUNCH,      // ptr to mtli_cpu_launch
  LANES_SCRATCH,     // ptr to the worker's scratch
  LANES_GROUP,       // ptr to mtli_cpu_group
  LANES_FRAME,  // ptr to the memory that the simdgroup keeps across barriers
  LANES_FIRST,       // i32: index in the threadgroup of lane 0
  LANES_ENTRY_MASK,  // i32: bit i is set if lane i exists
  LANES_STATE,       // i32: 0 to begin, else the number of the barrier to
                     // continue from
  LANES_X,           // i32: lane 0's position in the threadgroup, if rows fill
  LANES_Y,           // simdgroups
  LANES_Z,
  LANES_COMMON_IN,   // ptr to the group-uniform values, as they were at the
  LANES_COMMON_OUT,  // last barrier, and as they will be at the next
  LANES_PARAMETER_COUNT,
} lanes_parameter;

enum {
  LANES_MOST_AT_ONCE = 4,  // simdgroups that one function may run (jam_simdgroups.c)
  LANES_PARAMETERS_AT_ONCE =
      LANES_PARAMETER_COUNT + 4 * (LANES_MOST_AT_ONCE - 1),
  LANES_REFUSED = 1,  // a jammed function's result: run the simdgroups one by
                      // one
};

void lanes_refuse(lanes_emitter *e, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

// --- Values (emitter.c) ------------------------------------------------------

LLVMValueRef lanes_mask_bits(lanes_emitter *e, LLVMValueRef mask);  // i32

// --- Instructions ------------------------------------------------------------

#endif
