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
  LLVMValueRef *current;    // [component_count] in this block, if fresh
  LLVMValueRef *as_vector;  // [component_count] made from less, if fresh
  uint32_t fresh;           // the block's number in which the two are valid
  uint32_t vector_fresh;
  LLVMValueRef *everywhere;  // [component_count] constants and values of the
                             // entry block, which all blocks can read; or NULL
  LLVMValueRef
      *phi_memory;    // [component_count] where edges leave a phi's value
  LLVMValueRef home;  // where a sum of products always is, instead; or NULL
} lanes_slot;

// A place where the simdgroup waits at a barrier and later goes on.
typedef struct lanes_barrier {
  LLVMBasicBlockRef before;  // ends in `ret i32 number`
  LLVMBasicBlockRef after;
} lanes_barrier;

// How the elements of a tile lie: as threads have them, blocks of 4 x 4, or in
// rows or columns of 8. Or as pairs of bfloats, the later one first: a left
// side's of columns, row by row, a right side's of rows.
typedef enum lanes_tile_order {
  LANES_BY_BLOCKS,
  LANES_BY_ROWS,
  LANES_BY_COLUMNS,
  LANES_LEFT_PAIRS,
  LANES_RIGHT_PAIRS,
} lanes_tile_order;

// A tile in memory, for the block being emitted.
typedef struct lanes_tile_home {
  LLVMValueRef value;      // of the thread function
  LLVMValueRef memory;     // 64 floats, or bfloats
  LLVMValueRef first_row;  // or else the address of that, where it was,
  LLVMValueRef row_bytes;  // and i64 from there to the next
  lanes_tile_order order;
} lanes_tile_home;

// What has been asked for ahead of time (prefetch.c).
typedef struct lanes_prefetched {
  LLVMValueRef address;
  LLVMValueRef base;   // of it
  LLVMValueRef index;  // or NULL
  uint32_t node;
} lanes_prefetched;
enum { LANES_PREFETCHED = 32 };

// What an access has found out about where its lanes are (permute_window.c): what is
// added to all indices, if anything, the way that it went, each lane's place in
// its register's window, where the windows begin without what is added, and of
// a store the lane at each place of a window's halves.
typedef struct lanes_window {
  LLVMValueRef index;  // the thread function's; NULL if nothing is known
  LLVMValueRef mask;
  uint32_t fresh;
  LLVMValueRef common;  // i32
  LLVMValueRef way;     // i32
  LLVMValueRef places;
  LLVMValueRef begins[MOST_LANES];
  LLVMValueRef lanes[2];
} lanes_window;

// Memory for one lane's values after another's (scalarise.c).
typedef struct lanes_array {
  LLVMTypeRef type;
  LLVMValueRef memory;
  uint32_t taken;  // by which instruction, the last time
} lanes_array;

enum { LANES_WINDOWS = 4 };  // of counters.ll

// Atomic additions that may be done later (deferred_atomics.c).
typedef struct lanes_deferral {
  bool is_on;
  // Each window is for what is reached from one of these.
  LLVMValueRef roots[LANES_WINDOWS];  // [window_count]
  uint32_t window_count;
  // Arguments that are added to, and those that are touched behind that, and
  // must be others: a bit a slot.
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
  const lanes_access_plan *accesses;  // how each load and store is done
  struct lanes_packed_value *packed;  // [values->count] packed_vectors.c
  lanes_group_uniform common;  // of a kernel that waits

  LLVMValueRef function;
  LLVMValueRef called;    // the function it is the vector form of, or NULL for
  LLVMValueRef *results;  // the thread; what that returns, if it does (vector_calls.h)
  LLVMBasicBlockRef entry;      // allocas and what is computed once
  LLVMBuilderRef prologue;      // at the end of entry
  LLVMValueRef all_lanes;       // <32 x i1> that entered
  LLVMValueRef private_memory;  // or NULL
  LLVMValueRef positions[MTLI_BUILTIN_COUNT][3];  // [builtin][dimension]

  lanes_slot *slots;          // [values->count]
  LLVMValueRef *mask_memory;  // [node_count] or NULL
  lanes_list *cleared;        // [node_count + 1] whose masks a node clears
  uint32_t *coming_to;        // [node_count] coming, of those emitted so far
  LLVMBasicBlockRef *starts;  // [node_count] where control enters a node
  LLVMBasicBlockRef *bodies;  // [node_count] behind its guard
  LLVMValueRef *memories;     // [memory_count] all allocas, for lanes_spill_at_barriers
  uint32_t memory_count;
  uint32_t memory_capacity;

  uint32_t node;         // being emitted
  uint32_t fresh;        // number of the block being emitted
  LLVMValueRef mask;     // <32 x i1> the threads that run it
  LLVMValueRef node_mask;  // mask, where no access has a part of it
  uint32_t coming;       // only so many lanes, from 0 on, come to the block
  LLVMMetadataRef line;  // of the instruction being emitted, in the thread
  bool uncached;         // what is made now does not dominate what comes later
  uint32_t each_count;     // accesses lane by lane so far (lane_loop.c)
  uint32_t emitted;        // instructions
  lanes_array *arrays;     // [array_count]
  uint32_t array_count;
  uint32_t array_capacity;

  lanes_barrier *waits;  // [wait_count]
  uint32_t wait_count;
  uint32_t wait_capacity;

  lanes_tile_home *homes;  // [home_count], more were in use before
  uint32_t home_count;
  uint32_t home_capacity;
  uint32_t homes_fresh;  // the block's number in which they are valid
  // Where sums of products are in the frame (tile_sums.c), by value: [count],
  // 0 for none; or NULL.
  uint64_t *sum_places;
  uint64_t sums_bytes;
  bool has_one_sum;  // only one: LLVM keeps it in registers (value_slots.c)
  uint32_t product_count;  // of tiles, that are emitted
  uint32_t batch_count;    // of them, each for one left side

  lanes_deferral counting;
  bool is_counting;       // what is emitted is an addition done later
  LLVMValueRef counters;  // where they are summed up, or NULL

  bool is_at_once;  // the function is to be one for several simdgroups
  LLVMValueRef copy_fetched;  // load of a copy whose next lines were asked for
  lanes_window near[2];  // the last load's and the last store's
  lanes_prefetched fetched[LANES_PREFETCHED];  // [fetched_count]
  uint32_t fetched_count;
  const bool *loops_that_wait;  // [loops] found when first asked for
  bool in_rows;           // threads know more than one dimension of the grid
  bool has_waits;         // somewhere in the thread function
  bool private_in_frame;  // private memory is kept in the frame, not the stack
  bool single_simdgroup;  // threadgroups have at most 32 threads
  lanes_lines gathers;    // of tiles and of the plan, and calls and atomics
  lanes_lines scatters;   // that are run lane by lane
  lanes_lines serials;
  char refusal[256];   // why the kernel cannot be vectorised, or ""
} lanes_emitter;

// Parameters of the emitted function.
typedef enum lanes_parameter {
  LANES_LAUNCH,      // ptr to mtli_cpu_launch
  LANES_SCRATCH,     // ptr to the worker's scratch
  LANES_GROUP,       // ptr to mtli_cpu_group
  LANES_FRAME,       // ptr to what the simdgroup keeps across barriers
  LANES_FIRST,       // i32: index in the threadgroup of lane 0
  LANES_ENTRY_MASK,  // i32: bit i set if there is a lane i
  LANES_STATE,       // i32: 0 to begin, else the wait to go on from
  LANES_X,           // i32: lane 0's position in the threadgroup, if rows fill
  LANES_Y,           // simdgroups
  LANES_Z,
  LANES_COMMON_IN,   // ptr to what simdgroups that wait together share: as it
  LANES_COMMON_OUT,  // was when they last waited, and as it will be
  LANES_PARAMETER_COUNT,
} lanes_parameter;

enum {
  LANES_MOST_AT_ONCE = 4,  // simdgroups that one function may run (jam_simdgroups.c)
  LANES_PARAMETERS_AT_ONCE =
      LANES_PARAMETER_COUNT + 4 * (LANES_MOST_AT_ONCE - 1),
  LANES_REFUSED = 1,  // returned by several that are to be run one by one
};

void lanes_refuse(lanes_emitter *e, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

// --- Values (emitter.c) ------------------------------------------------------

LLVMValueRef lanes_mask_bits(lanes_emitter *e, LLVMValueRef mask);  // as i32

// --- Instructions ------------------------------------------------------------

#endif
