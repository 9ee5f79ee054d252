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

#include "compiler/ir/module.h"
#include "compiler/vectorize/analysis/callees.h"
#include "compiler/vectorize/plan/linearize.h"
#include "compiler/vectorize/base/debug_lines.h"
#include "compiler/vectorize/analysis/lane_bits.h"

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
typedef struct lanes_wait {
  LLVMBasicBlockRef before;  // ends in `ret i32 number`
  LLVMBasicBlockRef after;
} lanes_wait;

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
typedef struct lanes_fetched {
  LLVMValueRef address;
  LLVMValueRef base;   // of it
  LLVMValueRef index;  // or NULL
  uint32_t node;
} lanes_fetched;
enum { LANES_FETCHED = 32 };

// What an access has found out about where its lanes are (permute_window.c): what is
// added to all indices, if anything, the way that it went, each lane's place in
// its register's window, where the windows begin without what is added, and of
// a store the lane at each place of a window's halves.
typedef struct lanes_near {
  LLVMValueRef index;  // the thread function's; NULL if nothing is known
  LLVMValueRef mask;
  uint32_t fresh;
  LLVMValueRef common;  // i32
  LLVMValueRef way;     // i32
  LLVMValueRef places;
  LLVMValueRef begins[MOST_LANES];
  LLVMValueRef lanes[2];
} lanes_near;

// Memory for one lane's values after another's (scalarise.c).
typedef struct lanes_array {
  LLVMTypeRef type;
  LLVMValueRef memory;
  uint32_t taken;  // by which instruction, the last time
} lanes_array;

enum { LANES_WINDOWS = 4 };  // of counters.ll

// Atomic additions that may be done later (deferred_atomics.c).
typedef struct lanes_counting {
  bool is_on;
  // Each window is for what is reached from one of these.
  LLVMValueRef roots[LANES_WINDOWS];  // [window_count]
  uint32_t window_count;
  // Arguments that are added to, and those that are touched behind that, and
  // must be others: a bit a slot.
  uint64_t added_slots;
  uint64_t touched_slots;
} lanes_counting;

// What vectors the machine has; asked of its features once.
typedef struct lanes_machine {
  bool has_avx2;    // and gathers; x86-64 alone
  bool has_avx512;  // masks and scatters
  bool is_zen;      // AMD's
  bool has_pairs;   // of bfloats multiplied as fast as floats
  uint32_t vector_registers;
  uint32_t vector_bytes;  // of each
} lanes_machine;

typedef struct lanes_emitter {
  mtlc_kernel *kernel;
  lanes_machine machine;
  mtlc_types types;
  LLVMContextRef context;
  LLVMBuilderRef builder;
  mtli_arena *arena;
  const lanes_graph *graph;
  const lanes_values *values;
  const lanes_plan *plan;
  lanes_pattern_finder patterns;  // begun when it is first asked
  bool *copied;  // [values->count] a part of what lanes copy (row_copies.c)
  struct lanes_whole *wholes;  // [values->count] packed_vectors.c
  lanes_common common;  // of a kernel that waits

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
  bool *for_whole;            // [node_count] only whole simdgroups come there
  lanes_list *cleared;        // [node_count + 1] whose masks a node clears
  uint32_t *coming_to;        // [node_count] coming, of those emitted so far
  LLVMBasicBlockRef *starts;  // [node_count] where control enters a node
  LLVMBasicBlockRef *bodies;  // [node_count] behind its guard
  LLVMValueRef *memories;     // [memory_count] all allocas, for lanes_spill
  uint32_t memory_count;
  uint32_t memory_capacity;

  uint32_t node;         // being emitted
  uint32_t fresh;        // number of the block being emitted
  LLVMValueRef mask;     // <32 x i1> the threads that run it
  LLVMValueRef node_mask;  // mask, where no access has a part of it
  uint32_t coming;       // only so many lanes, from 0 on, come to the block
  LLVMMetadataRef line;  // of the instruction being emitted, in the thread
  bool uncached;         // what is made now does not dominate what comes later
  lanes_map loaded_ahead;  // loads whose results are set
  uint32_t each_count;     // accesses lane by lane so far (lane_loop.c)
  uint32_t emitted;        // instructions
  lanes_array *arrays;     // [array_count]
  uint32_t array_count;
  uint32_t array_capacity;
  struct lanes_row *row_stored;  // stores that wait for its last, or NULL

  lanes_wait *waits;  // [wait_count]
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

  lanes_counting counting;
  bool is_counting;       // what is emitted is an addition done later
  LLVMValueRef counters;  // where they are summed up, or NULL

  bool is_at_once;  // the function is to be one for several simdgroups
  LLVMValueRef copy_fetched;  // load of a copy whose next lines were asked for
  lanes_near near[2];  // the last load's and the last store's
  lanes_fetched fetched[LANES_FETCHED];  // [fetched_count]
  uint32_t fetched_count;
  const bool *loops_that_wait;  // [loops] found when first asked for
  bool in_rows;           // threads know more than one dimension of the grid
  bool has_waits;         // somewhere in the thread function
  bool private_in_frame;  // private memory is kept in the frame, not the stack
  bool single_simdgroup;  // threadgroups have at most 32 threads
  lanes_lines gathers;    // what a person could make faster:
  lanes_lines scatters;
  lanes_lines serials;  // calls and atomics run lane by lane
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

// Writes the function for one row length (lanes_values.row). Returns NULL with
// e->refusal set if it cannot.
LLVMValueRef lanes_emit(lanes_emitter *e, const char *name);

void lanes_refuse(lanes_emitter *e, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

// --- Types (emitter.c) -------------------------------------------------------

uint32_t lanes_component_count(LLVMTypeRef type);
LLVMTypeRef lanes_component_type(LLVMTypeRef type, uint32_t component);
LLVMTypeRef lanes_vector_of(LLVMTypeRef type);
// A vector of width elements; for 1, the type itself.
LLVMTypeRef lanes_wide(LLVMTypeRef type, uint32_t width);

// --- Values (emitter.c) ------------------------------------------------------

// Says whether an operand has been computed on the way here, or is kept.
bool lanes_is_at_hand(lanes_emitter *e, LLVMValueRef operand);
// Returns a component of an operand at its own width: for a width of 1, lane
// 0's value.
LLVMValueRef lanes_scalar(lanes_emitter *e, LLVMValueRef operand,
                          uint32_t component);
// Returns it as a vector of 32.
LLVMValueRef lanes_vector(lanes_emitter *e, LLVMValueRef operand,
                          uint32_t component);
// Returns it at any width that its own width divides.
LLVMValueRef lanes_form(lanes_emitter *e, LLVMValueRef operand,
                        uint32_t component, uint32_t width);
// Returns it at that width, or as a scalar if it is uniform: for instructions
// that take either.
LLVMValueRef lanes_form_or_scalar(lanes_emitter *e, LLVMValueRef operand,
                                  uint32_t component, uint32_t width);
// Sets a component of an instruction's result, in the form of its shape.
void lanes_set_result(lanes_emitter *e, LLVMValueRef instruction,
                      uint32_t component, LLVMValueRef value);
// Sets a component that was computed in the entry block.
void lanes_set_everywhere(lanes_emitter *e, LLVMValueRef instruction,
                          LLVMValueRef value);
// Says whether all operands can be read in the entry block.
bool lanes_has_operands_everywhere(lanes_emitter *e, LLVMValueRef instruction);
// Returns the place where a sum of products always is, or NULL.
LLVMValueRef lanes_sum_home(lanes_emitter *e, LLVMValueRef value);
// Says whether a value has the same place as a sum that has one.
bool lanes_has_home_of(const lanes_emitter *e, LLVMValueRef value,
                       LLVMValueRef sum);
// Sums in their places, as <32 x i64> (tile_homes.c).
LLVMValueRef lanes_read_sum(lanes_emitter *e, LLVMValueRef home);
// Says whether threads' elements can be had without the whole tile.
bool lanes_has_sum_elements(const lanes_emitter *e);
// Each thread's first or second element, <32 x float>.
LLVMValueRef lanes_read_sum_element(lanes_emitter *e, LLVMValueRef home,
                                    uint32_t element);
// Where one thread's is, given its lane.
LLVMValueRef lanes_sum_element_at(lanes_emitter *e, LLVMValueRef home,
                                  uint32_t element, LLVMValueRef lane);
// operations.c: the place of a sum of which a cast's component is one of each
// thread's two elements, if that can be had so, and which; else NULL.
LLVMValueRef lanes_home_of_element(lanes_emitter *e, LLVMValueRef cast,
                                   uint32_t component, uint32_t *out_element);
void lanes_write_sum(lanes_emitter *e, LLVMValueRef home, LLVMValueRef tile);
// Returns an alloca that lanes_promote or mem2reg removes.
LLVMValueRef lanes_memory(lanes_emitter *e, LLVMTypeRef type);
// Returns one that stays, because addresses in it are computed.
LLVMValueRef lanes_reserve(lanes_emitter *e, LLVMTypeRef type);
LLVMValueRef lanes_splat(lanes_emitter *e, LLVMBuilderRef builder,
                         LLVMValueRef scalar);
LLVMValueRef lanes_splat_to(lanes_emitter *e, LLVMBuilderRef builder,
                            LLVMValueRef scalar, uint32_t width);
// Returns <32 x type> of start, start + step, ...
LLVMValueRef lanes_steps(LLVMTypeRef type, uint64_t start, uint64_t step);
// wrap_checks.c: returns i1: the stride of a conditional address holds.
LLVMValueRef lanes_stride_holds(lanes_emitter *e, LLVMValueRef address);
// Where an address's stride depends on one extension only, and lanes fill
// their row: returns the lanes before the one that wraps, and by how many bytes
// those from there on are off the stride. NULL otherwise.
LLVMValueRef lanes_before_wrap(lanes_emitter *e, LLVMValueRef address,
                               LLVMValueRef *out_jump_bytes);
// Marks a branch that asks whether something holds, where it does no harm to go
// on as if it did not; says whether one is marked so.
void lanes_mark_question(LLVMValueRef branch);
bool lanes_is_question(LLVMValueRef branch);
LLVMBasicBlockRef lanes_block(lanes_emitter *e, const char *name);
// Lets a loop with that latch stay one, though LLVM knows how often it turns.
void lanes_keep_loop(LLVMValueRef latch);
// Of masks of any length.
LLVMValueRef lanes_any(lanes_emitter *e, LLVMValueRef mask);
LLVMValueRef lanes_all(lanes_emitter *e, LLVMValueRef mask);
LLVMValueRef lanes_bits(lanes_emitter *e, LLVMValueRef mask);  // as i32
// i32: the last of the lanes that run; any lane if none does.
LLVMValueRef lanes_last(lanes_emitter *e);
// runtime_checks.c: returns i1: a condition, or its opposite, holds for all lanes,
// whichever run; may be false though it does.
LLVMValueRef lanes_holds_for_all(lanes_emitter *e, LLVMValueRef condition,
                                 bool holds);
// The same where first and last lanes tell; NULL otherwise. And the whole
// condition, of which then nothing need have been computed.
LLVMValueRef lanes_ends_tell(lanes_emitter *e, LLVMValueRef condition,
                             bool holds);
LLVMValueRef lanes_condition_anew(lanes_emitter *e, LLVMValueRef condition);
// Says whether a value rises from lane to lane and does not wrap as the numbers
// that a comparison takes it for.
bool lanes_is_rising(const lanes_emitter *e, LLVMValueRef value,
                     LLVMIntPredicate predicate);
LLVMIntPredicate lanes_inverse_of(LLVMIntPredicate predicate);
// The predicate for operands the other way round.
LLVMIntPredicate lanes_swapped(LLVMIntPredicate predicate);
bool lanes_is_signed(LLVMIntPredicate predicate);
// Says whether it is one of what is less, or no more, than another.
bool lanes_is_less(LLVMIntPredicate predicate);
uint32_t lanes_width(const lanes_emitter *e, LLVMValueRef operand);
LLVMValueRef lanes_intrinsic(lanes_emitter *e, const char *name,
                             LLVMTypeRef *overloads, uint32_t overload_count,
                             LLVMValueRef *arguments, uint32_t count);
// divisions.c: the quotient or remainder of two vectors.
bool lanes_is_division(LLVMOpcode opcode);
LLVMValueRef lanes_divide(lanes_emitter *e, LLVMValueRef instruction,
                          LLVMValueRef a, LLVMValueRef b);
// Repeats each of the runs' first values, of which there are from, to make
// width of them, and adds the stride times the lanes in between.
LLVMValueRef lanes_spread(lanes_emitter *e, LLVMValueRef firsts, uint32_t from,
                          int64_t stride, uint32_t width);
// Says whether a value is the same in each row of so many lanes.
bool lanes_is_same_in(const lanes_emitter *e, LLVMValueRef value, uint32_t row);
// compare_strided.c: the lanes of a comparison of 64-bit counters; NULL if it is
// another.
LLVMValueRef lanes_compare_runs(lanes_emitter *e, LLVMValueRef instruction);
// fault_position.c: says whether an instruction notes which simdgroup is at it;
// makes stores of all that do.
bool lanes_notes_thread(LLVMValueRef instruction);
void lanes_write_notes(mtlc_kernel *kernel);
// Simdgroups that are past what a loop between two barriers has for them are
// left out (skip_idle.c).
void lanes_skip_idle(mtlc_kernel *kernel);

// register_tiling.c: lets loops that keep more than the registers hold go round
// for a part of the lanes at a time. Returns whether there are any.
bool lanes_part_loops(mtlc_kernel *kernel);

// demanded_lanes.c: computes no more lanes than are taken of what is computed.
// Returns whether there was any.
bool lanes_narrow(LLVMValueRef function);
// scalarise_short.c: computes what is taken out of short vectors without them.
// Returns whether there was any.
bool lanes_part_rows(LLVMValueRef function);

lanes_machine lanes_machine_of(LLVMTargetMachineRef target);
LLVMValueRef lanes_shuffle(lanes_emitter *e, LLVMValueRef a, LLVMValueRef b,
                           const int *lanes, uint32_t count);
// Count elements of a vector, from the first on.
LLVMValueRef lanes_piece(lanes_emitter *e, LLVMValueRef vector, uint32_t first,
                         uint32_t count);
// Joins vectors of equal length, a power of two of them in the end.
LLVMValueRef lanes_concatenated(lanes_emitter *e, LLVMValueRef *parts,
                                uint32_t count);
// Returns <64 x T> of two <32 x T>, lane by lane; and every other element of
// one, from the first or the second on.
LLVMValueRef lanes_interleave(lanes_emitter *e, LLVMValueRef first,
                              LLVMValueRef second);
LLVMValueRef lanes_deinterleave(lanes_emitter *e, LLVMValueRef both,
                                uint32_t from);

// value_slots.c: says whether an instruction is computed again where it is used: as a
// vector (lanes_vector) or as an address by its index (load_store.c). Only then
// are its operands kept for that.
bool lanes_is_made_again(const lanes_emitter *e, LLVMValueRef instruction);

// value_slots.c: makes the slots of all values.
void lanes_make_slots(lanes_emitter *e);

// flow.c: sets the mask of the node being emitted, in a new block of it.
void lanes_load_mask(lanes_emitter *e);
// The lanes that may come to the node, if one of each of a few rows does at the
// most: all bits if it is not known which; 0 if there may be more.
uint32_t lanes_few_that_come(const lanes_emitter *e);
// Says whether the mask is of one thread at least.
bool lanes_has_thread(const lanes_emitter *e);

// --- Instructions ------------------------------------------------------------

// operations.c: everything that computes and touches nothing.
void lanes_emit_operation(lanes_emitter *e, LLVMValueRef instruction);
// Emits an operation again on vectors, for an address whose stride failed.
LLVMValueRef lanes_operation_as_vector(lanes_emitter *e,
                                       LLVMValueRef instruction,
                                       uint32_t component);
// conversions.c: returns a vector of floating point as one of integers, as
// llvm.fptosi.sat and llvm.fptoui.sat do; NULL for types that it does not know.
LLVMValueRef lanes_to_integer(lanes_emitter *e, LLVMValueRef value,
                              LLVMTypeRef type, bool is_signed);
// Returns a vector of half as one of float that LLVM does not take for one of
// half again; anything else as it is.
LLVMValueRef lanes_as_float(lanes_emitter *e, LLVMValueRef value);
// load_store.c
void lanes_emit_load(lanes_emitter *e, LLVMValueRef load);
void lanes_emit_store(lanes_emitter *e, LLVMValueRef store);
// row_copies.c: finds stores of rows that lanes load; emits one, its load and
// what is between them.
void lanes_copies_find(lanes_emitter *e);
void lanes_emit_copy(lanes_emitter *e, LLVMValueRef store);
// packed_vectors.c: finds vectors that stay as they lie in memory; emits one. Returns
// false if it does not.
void lanes_wholes_find(lanes_emitter *e);
bool lanes_emit_whole(lanes_emitter *e, LLVMValueRef instruction);
// Leaves what an edge brings to a phi that is one. Returns false if it is none.
bool lanes_pass_whole(lanes_emitter *e, LLVMValueRef phi, LLVMValueRef value);
// scalarise.c: atomics, unknown calls
void lanes_emit_serially(lanes_emitter *e, LLVMValueRef instruction);
// builtin_calls.c: everything that docs/ir.md names, and intrinsics
void lanes_emit_call(lanes_emitter *e, LLVMValueRef call);
// atomics.c: atomicrmw
void lanes_emit_atomic(lanes_emitter *e, LLVMValueRef atomic);
// What it makes of old values, if lanes_can_update says that it knows that.
bool lanes_can_update(LLVMAtomicRMWBinOp operation);
LLVMValueRef lanes_updated(lanes_emitter *e, LLVMAtomicRMWBinOp operation,
                           LLVMValueRef old, LLVMValueRef operand);
// adjacent_atomics.c: emits one on words that lie side by side. Returns false
// if it does not.
bool lanes_emit_neighbours(lanes_emitter *e, LLVMValueRef atomic);
// Does one thread's read-modify-write on memory that no other worker sees,
// given the operands. Returns the old value, or NULL if it has to be atomic.
LLVMValueRef lanes_update_alone(lanes_emitter *e, LLVMValueRef atomic,
                                LLVMValueRef address, LLVMValueRef operand);
// Says whether an address is one of threadgroup memory, for sure.
bool lanes_is_in_threadgroup(const lanes_emitter *e, LLVMValueRef address);

// base_index.c: the address of a lane is base + index * size_bytes.
typedef struct lanes_place {
  LLVMValueRef base;
  LLVMValueRef index;   // <32 x i32>
  LLVMValueRef source;  // what the thread function calls it; may be NULL
  bool is_signed;       // the index
  uint64_t size_bytes;
} lanes_place;

// Returns false if a value is no address of that form.
bool lanes_place_find(lanes_emitter *e, LLVMValueRef address,
                      lanes_place *out_place);
LLVMValueRef lanes_place_of_lane(lanes_emitter *e, const lanes_place *place,
                                 LLVMValueRef index);
// The indices one by one, for a user that all lanes run in turn.
typedef struct lanes_indices {
  const lanes_place *place;
  bool are_in_memory;         // read again from where they came from
  LLVMValueRef taken[MOST_LANES];  // else
} lanes_indices;

// Returns i1: the indices are where they are read from, which is to be asked
// before they are taken.
LLVMValueRef lanes_indices_hold(lanes_emitter *e, const lanes_place *place,
                                LLVMValueRef user);
void lanes_indices_begin(lanes_emitter *e, const lanes_place *place,
                         LLVMValueRef user, lanes_indices *out_indices);
// The lane's that is so many behind first, an i64 which only those in memory
// may have other than zero.
LLVMValueRef lanes_indices_at(lanes_emitter *e, const lanes_indices *indices,
                              LLVMValueRef first, uint32_t lane);
// Takes a vector apart; two words at a time, for a machine's registers of
// vectors are slow to part with what they hold.
void lanes_take_all(lanes_emitter *e, LLVMValueRef vector,
                    LLVMValueRef out_elements[MOST_LANES]);
// scalarise.c: memory for one lane's values after another's: [32] of a type, until
// the end of the instruction.
LLVMValueRef lanes_array_of(lanes_emitter *e, LLVMTypeRef type);
LLVMValueRef lanes_element_at(lanes_emitter *e, LLVMTypeRef type,
                              LLVMValueRef array, LLVMValueRef lane);
// Such an array, of a vector's elements but bool, and what a lane has in it.
LLVMValueRef lanes_array_from(lanes_emitter *e, LLVMValueRef vector);
LLVMValueRef lanes_element_of(lanes_emitter *e, LLVMTypeRef type,
                              LLVMValueRef array, LLVMValueRef lane);
// Runs a body for each lane that is live, by rising lane, and goes on in done.
typedef void lanes_lane_body(lanes_emitter *e, void *context,
                             LLVMValueRef lane);
void lanes_loop_over(lanes_emitter *e, lanes_lane_body *body, void *context,
                LLVMBasicBlockRef done);
// The same of an operand with one component as lanes_take_all of a vector.
void lanes_take_operand(lanes_emitter *e, LLVMValueRef operand,
                        LLVMValueRef out_elements[MOST_LANES]);

// deferred_atomics.c: finds out whether additions may be done later.
void lanes_counters_find(lanes_emitter *e);
// Makes the functions that counters.ll calls.
void lanes_counters_define(mtlc_kernel *kernel, const lanes_counting *counting);
// Emits an addition that may be. Returns false if it may not.
bool lanes_emit_counted(lanes_emitter *e, LLVMValueRef atomic);
// Says whether one may be done later.
bool lanes_is_counted(const lanes_emitter *e, LLVMValueRef atomic);
// One thread's, or one of all threads together; the result is nothing, but not
// NULL.
LLVMValueRef lanes_count(lanes_emitter *e, LLVMValueRef atomic,
                         LLVMValueRef address, LLVMValueRef operand);
// collectives.c: over the active threads, in the order of docs/ir.md
LLVMValueRef lanes_reduce(lanes_emitter *e, LLVMValueRef value,
                          lanes_collective what);
LLVMValueRef lanes_scan(lanes_emitter *e, LLVMValueRef value,
                        lanes_collective what);
void lanes_emit_collective(lanes_emitter *e, LLVMValueRef call);
void lanes_emit_shuffle(lanes_emitter *e, LLVMValueRef call);
void lanes_emit_ballot(lanes_emitter *e, LLVMValueRef call);
// How many words registers hold that the machine picks from by indices that it
// does not know before; 0 if there are none.
uint32_t lanes_register_words(const lanes_emitter *e);
// Picks as many, each by the lowest bits of its index, from the words of two
// registers side by side, or of as many as hold 32.
LLVMValueRef lanes_pick_words(lanes_emitter *e, LLVMValueRef *tables,
                              uint32_t count, LLVMValueRef index);
// tiles.c: mettle.tile.*
void lanes_emit_tile(lanes_emitter *e, LLVMValueRef call);
// barriers.c
void lanes_emit_wait(lanes_emitter *e);
// Gives what is alive at each wait a place in the frame, from offset_bytes on,
// or in the memory that simdgroups share. Returns the bytes of both.
uint64_t lanes_spill(lanes_emitter *e, uint64_t offset_bytes,
                     uint64_t *out_common_bytes);
// promote_allocas.c: puts memories that are written more than once into registers.
void lanes_promote(lanes_emitter *e);

#endif
