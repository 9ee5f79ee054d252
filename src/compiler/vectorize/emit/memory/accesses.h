// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// accesses.h: what loads and stores of all kinds of memory share.
#ifndef MTLC_ACCESSES_H
#define MTLC_ACCESSES_H

#include "compiler/vectorize/emit/values/emitter.h"
#include "compiler/vectorize/analysis/affine.h"

typedef struct lanes_access {
  LLVMValueRef instruction;
  LLVMValueRef pointer;  // operand, or NULL: only what is given counts
  lanes_shape shape;     // of the pointer
  LLVMTypeRef element;   // as it is in memory: whole bytes
  LLVMTypeRef type;      // of a component of the value
  uint32_t count;        // components
  uint64_t size_bytes;   // of an element
  uint64_t pitch_bytes;  // from one component to the next
  uint32_t alignment;
  LLVMValueRef first;     // lane 0's address if it is not the pointer's
  LLVMValueRef *firsts;   // [LANES / shape.row] each row's, or NULL
  const struct lanes_factors *factors;  // of its index, or NULL
  LLVMValueRef places;    // in windows: each lane's, in elements from its first
  LLVMValueRef lanes[2];  // the lane at each place of a window's halves
} lanes_access;

static inline uint32_t lanes_common_alignment(uint32_t alignment,
                                              uint64_t offset) {
  while (alignment > 1 && offset % alignment) {
    alignment /= 2;
  }
  return alignment;
}

// Returns pointer, a scalar or a vector, offset bytes further on.
LLVMValueRef lanes_address_at(lanes_emitter *e, LLVMValueRef pointer,
                              uint64_t offset);
LLVMValueRef lanes_masked_load(lanes_emitter *e, LLVMTypeRef type,
                               LLVMValueRef pointer, uint32_t alignment,
                               LLVMValueRef mask);
// Says whether an access is to a worker's own memory, around which there is
// enough of it.
bool lanes_is_own_memory(const lanes_emitter *e, const lanes_access *a);
// Says whether what is around an element that is wanted may be written as well,
// as it is: no other worker has a part in it. Machines' masked stores of 32
// bytes take as long as several whole ones.
bool lanes_is_workers_own(const lanes_emitter *e, const lanes_access *a);
// A part of what an access stores.
void lanes_masked_store(lanes_emitter *e, const lanes_access *a,
                        LLVMValueRef value, LLVMValueRef pointer,
                        uint32_t alignment, LLVMValueRef mask);
// masked_emulation.c: the same where the machine has no masks.
LLVMValueRef lanes_load_part(lanes_emitter *e, LLVMTypeRef type,
                             LLVMValueRef pointer, uint32_t alignment,
                             LLVMValueRef mask);
void lanes_store_part(lanes_emitter *e, LLVMValueRef value,
                      LLVMValueRef pointer, uint32_t alignment,
                      LLVMValueRef mask);
// Returns i1: all elements are wanted, or some are and all lie in one page with
// them, which therefore is there.
LLVMValueRef lanes_may_load_whole(lanes_emitter *e, LLVMTypeRef type,
                                  LLVMValueRef pointer, LLVMValueRef mask);
// Returns i1: so many bytes behind a pointer do not leave its page.
LLVMValueRef lanes_is_in_page(lanes_emitter *e, LLVMValueRef pointer,
                              uint64_t bytes);
// Where the whole vector is wanted, as it mostly is, a plain access will do.
// The builder goes on in all; lanes_ask_rest ends what has been emitted and
// goes on in another of the blocks.
typedef struct lanes_whole_question {
  LLVMBasicBlockRef all, some, done;
} lanes_whole_question;
lanes_whole_question lanes_ask(lanes_emitter *e, LLVMValueRef holds);
lanes_whole_question lanes_ask_whole(lanes_emitter *e, LLVMValueRef mask);
void lanes_ask_rest(lanes_emitter *e, const lanes_whole_question *question,
                    LLVMBasicBlockRef next);
// Describes an access; refuses what is no scalar or vector.
lanes_access lanes_access_of(lanes_emitter *e, LLVMValueRef instruction,
                             LLVMValueRef pointer, LLVMTypeRef value_type);

// load_store.c: loads or stores values, of which store says which: in one way
// where the stride of a conditional address holds, in another where not. What
// the second gathers is not reported.
typedef void lanes_access_way(lanes_emitter *e, const lanes_access *a,
                              bool store, LLVMValueRef *values);
void lanes_access_conditionally(lanes_emitter *e, const lanes_access *a,
                                lanes_access_way *then[2], bool store,
                                uint32_t count, LLVMValueRef *values);
// Components where it does not hold.
void lanes_access_wrapped(lanes_emitter *e, const lanes_access *a, bool store,
                          LLVMValueRef *components);

// gathers.c: what lies at pointers, of which there may be LANES; at those of a
// mask.
LLVMValueRef lanes_gather_from(lanes_emitter *e, LLVMTypeRef element,
                               LLVMValueRef pointers, uint32_t alignment,
                               LLVMValueRef mask);
// Each lane's element offset bytes behind its pointer.
LLVMValueRef lanes_gather(lanes_emitter *e, const lanes_access *a,
                          LLVMValueRef pointers, uint64_t offset);
void lanes_scatter(lanes_emitter *e, const lanes_access *a,
                   LLVMValueRef pointers, uint64_t offset, LLVMValueRef value);
// Says whether lanes_scatter makes one instruction of it.
bool lanes_has_scatter(const lanes_emitter *e, const lanes_access *a);
// lane_loop.c: the same on machines that have no instruction for it.
LLVMValueRef lanes_load_each(lanes_emitter *e, const lanes_access *a,
                             LLVMValueRef pointers, uint64_t offset);
void lanes_store_each(lanes_emitter *e, const lanes_access *a,
                      LLVMValueRef pointers, uint64_t offset,
                      LLVMValueRef value);
// The vector where lanes that do not run have what the last that does has.
LLVMValueRef lanes_filled(lanes_emitter *e, LLVMValueRef vector);
// The same in little code, where it hardly ever comes to it or few run. Lanes
// are the address's stride apart if lane 0's is given, anywhere if it is NULL.
LLVMValueRef lanes_load_running(lanes_emitter *e, const lanes_access *a,
                                LLVMValueRef first, uint64_t offset);
void lanes_store_running(lanes_emitter *e, const lanes_access *a,
                         LLVMValueRef pointers, uint64_t offset,
                         LLVMValueRef value);
// The same where only a few of the lanes run, a set of which is given; all bits
// if it is not known which.
void lanes_store_few(lanes_emitter *e, const lanes_access *a,
                     LLVMValueRef pointers, uint64_t offset, LLVMValueRef value,
                     uint32_t lanes);
// Several values, lane by lane.
typedef struct lanes_own_value {
  LLVMValueRef value;     // <32 x T>
  LLVMValueRef pointers;  // <32 x ptr>
  uint32_t alignment;
} lanes_own_value;
void lanes_store_own_values(lanes_emitter *e, const lanes_own_value *values,
                            uint32_t count);
// What the last index of an address counts, if all else is the same for all
// lanes, and what is indexed; NULL otherwise.
LLVMTypeRef lanes_type_indexed(const lanes_emitter *e, LLVMValueRef address);
LLVMValueRef lanes_index_of(LLVMValueRef address);
LLVMValueRef lanes_base_indexed(lanes_emitter *e, LLVMValueRef address);

// segment_addresses.c: the first value of one of the runs that an operand has at a
// width.
LLVMValueRef lanes_first_of_run(lanes_emitter *e, LLVMValueRef operand,
                                uint32_t width, uint32_t run);
// Says whether an address has an index, and all its parts runs of that width;
// then returns a run's index before it is extended, and its address.
bool lanes_is_sum_of_runs(const lanes_emitter *e, const lanes_linear *at,
                          uint32_t width);
LLVMValueRef lanes_index_of_run(lanes_emitter *e, const lanes_linear *at,
                                uint32_t width, uint32_t run);
LLVMValueRef lanes_address_of_run(lanes_emitter *e, const lanes_linear *at,
                                  uint32_t width, uint32_t run);
// Lane 0's address.
LLVMValueRef lanes_first_address(lanes_emitter *e, LLVMValueRef pointer);
// Each lane's, where all run: lane 0's and so many bytes, if these are known.
void lanes_take_addresses(lanes_emitter *e, LLVMValueRef pointer,
                          LLVMValueRef out_addresses[MOST_LANES]);
// load_store.c: the same of an access, which may know it.
LLVMValueRef lanes_access_begin(lanes_emitter *e, const lanes_access *a);
// All of them, where a run in which no lane lives has the address of another in
// which one does: live is [width] i1, not all false.
void lanes_addresses_of_live_runs(lanes_emitter *e, const lanes_linear *at,
                                  uint32_t width, LLVMValueRef *live,
                                  LLVMValueRef *out_addresses);

// bit_permuted.c: what each bit of a lane's number adds to a value.
lanes_pattern lanes_pattern_here(lanes_emitter *e, LLVMValueRef value);
// Lanes that lie side by side, by the bits of their numbers.
typedef struct lanes_pattern_runs {
  lanes_pattern pattern;      // of the address
  uint8_t order[LANES_BITS];  // the bits of a run's lanes, nearest first
  uint8_t others;             // mask of the rest, by which runs differ
  uint32_t lanes;             // of a run
  uint64_t bytes;             // of a run
} lanes_pattern_runs;
// Says whether an access is to long enough runs.
bool lanes_find_runs(lanes_emitter *e, const lanes_access *a,
                     lanes_pattern_runs *out_runs);
// Says whether a load is of few runs, however short, each of which any number
// of lanes may share.
bool lanes_find_pieces(lanes_emitter *e, const lanes_access *a,
                       lanes_pattern_runs *out_runs);
void lanes_store_runs(lanes_emitter *e, const lanes_access *a,
                      const lanes_pattern_runs *runs, LLVMValueRef *components);
void lanes_load_runs(lanes_emitter *e, const lanes_access *a,
                     const lanes_pattern_runs *runs,
                     LLVMValueRef *out_components);
// A vector of what all lanes have at a pattern behind lane 0's address.
LLVMValueRef lanes_load_pattern(lanes_emitter *e, const lanes_pattern *pattern,
                                LLVMTypeRef type, uint32_t size_bytes,
                                uint32_t alignment, LLVMValueRef first);

// segment_vectors.c: says whether each row is one vector, of whole vectors of up
// to 4 components.
bool lanes_is_by_rows(const lanes_access *a);
void lanes_load_rows(lanes_emitter *e, const lanes_access *a,
                     LLVMValueRef *out_components);
void lanes_store_rows(lanes_emitter *e, const lanes_access *a,
                      LLVMValueRef *components);
// The address of a row's first element.
LLVMValueRef lanes_address_of_row(lanes_emitter *e, const lanes_access *a,
                                  uint32_t row);
// The same of one vector in which all is as it lies in memory.
LLVMValueRef lanes_load_whole_rows(lanes_emitter *e, const lanes_access *a);
void lanes_store_whole_rows(lanes_emitter *e, const lanes_access *a,
                            LLVMValueRef all);
// Loads one element for each row (lanes_loads_by_rows), as a vector of as many
// as there are rows.
LLVMValueRef lanes_load_row_firsts(lanes_emitter *e, const lanes_access *a);
// The same at the first addresses that are given, so many bytes further on.
LLVMValueRef lanes_load_firsts(lanes_emitter *e, const lanes_access *a,
                               uint64_t offset);

// check_adjacent.c: says whether a value is the same for all lanes of a row.
bool lanes_is_same_in_rows(const lanes_emitter *e, LLVMValueRef value);
// Says whether lanes of an address of which nothing is known may well
// turn out to be neighbours, the shape that they would have then, and whether
// they may as well have the same address.
bool lanes_may_be_runs(const lanes_emitter *e, const lanes_access *a,
                       lanes_shape *out_shape, bool *out_may_be_same);
// Returns i1: that is so for the lanes that run. Sets the first address of each
// row.
LLVMValueRef lanes_are_runs(lanes_emitter *e, const lanes_access *a,
                            lanes_shape shape, LLVMValueRef *out_firsts);
// Returns i1: lanes that run, of which there are some, have the same address.
LLVMValueRef lanes_are_same(lanes_emitter *e, const lanes_access *a,
                            LLVMValueRef *out_address);

// check_strides.c: how an index comes from a run of lanes, by factors that are the
// same for all lanes and known at run time.
enum { LANES_FACTORS = 4, LANES_EXTENSIONS = 4 };
typedef struct lanes_factors {
  LLVMValueRef index;
  LLVMValueRef items[LANES_FACTORS];
  uint32_t count;
  // On the way: extensions, and the stride of what they extend. The stride is
  // the index's in the end. All are those if the factors are one.
  LLVMValueRef extensions[LANES_EXTENSIONS];
  int64_t strides[LANES_EXTENSIONS];
  uint32_t extension_count;
  int64_t stride;
  bool is_moved;   // loops add numbers to it that are not known
  bool is_masked;  // all lanes have to run, or the first may not have it
} lanes_factors;

// Says whether an access's index is like that, and the address's shape if all
// factors are one.
bool lanes_find_factors(lanes_emitter *e, const lanes_access *a,
                        lanes_factors *out_factors, lanes_shape *out_shape);
// The first address of each row.
void lanes_firsts_by_factors(lanes_emitter *e, const lanes_access *a,
                             const lanes_factors *factors,
                             LLVMValueRef *out_firsts);
// Returns i1: all factors are one and no index wraps; some factor is none.
LLVMValueRef lanes_factors_are_one(lanes_emitter *e, const lanes_factors *f);
LLVMValueRef lanes_is_factor_none(lanes_emitter *e, const lanes_factors *f);

// permute_window.c: loads, or stores of AVX2 to a worker's own memory, of one
// component a lane, of which nothing is known but that they may well turn out
// to be near each other. Those that are not go apart. What no lane stores to
// stays. Returns false if it is no such access.
bool lanes_access_near(lanes_emitter *e, const lanes_access *a,
                       lanes_access_way *apart, bool store,
                       LLVMValueRef *component);
// Says whether a load's indices are so small that all lanes are in one place,
// as of the sixteen values that four bits stand for; then returns i1: it may be
// read whole. Sets the access's places and first addresses.
bool lanes_may_be_table(const lanes_emitter *e, const lanes_access *a);
LLVMValueRef lanes_is_table(lanes_emitter *e, lanes_access *a,
                            LLVMValueRef *out_firsts);
LLVMValueRef lanes_load_table(lanes_emitter *e, const lanes_access *a);

// prefetch.c: by how many bytes a load's address rises with each turn of the
// loop with barriers around it, if that is further than processors guess, who
// do not follow many rows at a time; NULL otherwise. And asks for what is so
// far behind an address; not if step is NULL.
LLVMValueRef lanes_next_turn(lanes_emitter *e, const lanes_access *a,
                             bool is_by_rows);
// That, or else by how much to be ahead of the rows of a tile; NULL if it is
// none.
LLVMValueRef lanes_next_lines(lanes_emitter *e, const lanes_access *a,
                              bool is_by_rows);
void lanes_fetch_at(lanes_emitter *e, LLVMValueRef address, LLVMValueRef step,
                    uint64_t bytes);
// Asks for the lines from an address on, to write to them.
void lanes_fetch_to_change(lanes_emitter *e, LLVMValueRef address,
                           uint64_t bytes);
// Asks for what later threadgroups may access, given the bytes
// of an access from the first on.
void lanes_fetch_ahead(lanes_emitter *e, const lanes_access *a,
                       LLVMValueRef first, uint64_t bytes);
// Says whether an address is where such a simdgroup's next lines are asked for
// that jam_simdgroups.c may put further: what the next simdgroups will load.
bool lanes_is_ahead(LLVMValueRef address);

// interleaved.c: returns how many elements lanes are apart, or 0 if they
// are not, or too far.
uint32_t lanes_stride_elements(const lanes_access *a);
void lanes_load_strided(lanes_emitter *e, const lanes_access *a,
                        uint32_t stride, LLVMValueRef *out_components);
// The same of one component of the lanes of rows shorter than a simdgroup, of
// words.
uint32_t lanes_stride_in_rows(const lanes_access *a);
void lanes_store_strided(lanes_emitter *e, const lanes_access *a,
                         uint32_t stride, LLVMValueRef *components);
// Says whether elements of bytes or halves lie a word apart, with gaps between
// them; then loads those of all lanes, and the gaps. A word of the first 16
// lanes begins with their elements and one of the last ends with them, so that
// nothing is read in front of the first element or behind the last, where no
// memory need be.
bool lanes_lie_in_words(const lanes_access *a, uint32_t stride);
void lanes_load_words(lanes_emitter *e, const lanes_access *a, uint32_t stride,
                      LLVMValueRef *out_components);
// The same of one vector in which all is as it lies in memory, without gaps.
LLVMValueRef lanes_load_whole(lanes_emitter *e, const lanes_access *a);
void lanes_store_whole(lanes_emitter *e, const lanes_access *a,
                       LLVMValueRef all);
// Loads an element together with those beside it that the same block loads
// later, and sets the results of all. Returns false if there are none.
bool lanes_load_neighbours(lanes_emitter *e, const lanes_access *a);
// An element that lies so many bytes behind the beginning of lanes' words.
LLVMValueRef lanes_part_of_word(lanes_emitter *e, const lanes_access *a,
                                LLVMValueRef word, uint64_t offset);
// Says whether what is loaded behind an instruction may differ from what was
// there before it.
bool lanes_may_write(LLVMValueRef instruction);
// lane_vectors.c: the same where lanes may be anywhere, for an element or a vector
// of them.
bool lanes_load_lane_rows(lanes_emitter *e, const lanes_access *a);
// Words of 16 lanes, lane by lane, from four vectors of four lanes' units,
// those of lanes 4 apart in one; and back. Of 8 lanes from vectors of two.
void lanes_transpose(lanes_emitter *e, LLVMValueRef parts[4],
                     LLVMValueRef out_words[4]);
// Says whether that has been done for a load.
bool lanes_is_loaded_ahead(const lanes_emitter *e, LLVMValueRef load);
// lane_vector_store.c: stores several components side by side of lanes anywhere.
// Returns false if they are not that.
bool lanes_store_lane_rows(lanes_emitter *e, const lanes_access *a,
                           LLVMValueRef *components);
// store_group.c: stores an element or a vector together with what the block
// stores beside it later, when it comes to the last of them. Returns false if
// there is nothing.
bool lanes_store_row(lanes_emitter *e, const lanes_access *a);
// Lane i's components are the elements from i * stride on of one vector, which
// the second makes; the mask has each lane's bit count times.
void lanes_take_apart(lanes_emitter *e, LLVMValueRef all, uint32_t stride,
                      uint32_t count, LLVMValueRef *out_components);
LLVMValueRef lanes_put_together(lanes_emitter *e, LLVMValueRef *components,
                                uint32_t stride, uint32_t count);
LLVMValueRef lanes_repeated_mask(lanes_emitter *e, uint32_t count);
// Takes apart what has no gaps, a power of two of components each, in the way
// that machines do best.
void lanes_part_whole(lanes_emitter *e, LLVMValueRef whole, uint32_t count,
                      LLVMValueRef *out_components);

// private_interleaved.c: returns the unit of the private memory that an access
// goes to, or 0 if it is not interleaved private memory.
uint32_t lanes_unit_of(const lanes_emitter *e, const lanes_access *a);
void lanes_load_units(lanes_emitter *e, const lanes_access *a, uint32_t unit,
                      LLVMValueRef *out_components);
void lanes_store_units(lanes_emitter *e, const lanes_access *a, uint32_t unit,
                       LLVMValueRef *components);

// interleaved.c: so many lanes, from the first on, are all that come to
// where the emitter is, or more of them, a power of two.
uint32_t lanes_narrow_count(const lanes_emitter *e);
// All lanes, of which the first are given.
LLVMValueRef lanes_widened(lanes_emitter *e, LLVMValueRef first,
                           uint32_t count);

#endif
