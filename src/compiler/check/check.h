// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// check.h: the passes of the checked tier, and what their files share. In comes
// mettle.thread with its calls, out the same thread in SSA form, whose accesses
// and waits call the run-time part of the checker (code/check_abi.h).
#ifndef MTLC_CHECK_H
#define MTLC_CHECK_H

#include "code/check_abi.h"
#include "compiler/ir/analysis/cycles.h"
#include "compiler/ir/analysis/inlined_size.h"
#include "compiler/ir/kernel/kernel.h"
#include "compiler/ir/llvm/attributes.h"
#include "compiler/ir/llvm/calls.h"
#include "compiler/ir/llvm/instructions.h"
#include "compiler/ir/llvm/marks.h"
#include "compiler/ir/llvm/module.h"
#include "compiler/ir/llvm/names.h"
#include "compiler/ir/llvm/split_calls.h"
#include "compiler/ir/llvm/types.h"
#include "compiler/ir/llvm/value_list.h"

mtlc_pass mtlc_mark_arithmetic;
mtlc_pass mtlc_mark_lanes;
mtlc_pass mtlc_mark_texture_handles;
mtlc_pass mtlc_simplify_checked;
mtlc_pass mtlc_check_accesses;
mtlc_pass mtlc_screen_accesses;

// Marks of arithmetic: void(i32 what, i1 is_bad); what is MTLI_CHECK_DIVISION,
// _SHIFT, _OVERFLOW or _BORN.
#define MTLC_ARITHMETIC_MARK "mettle.marked.arithmetic"

// --- mark_arithmetic.c: values that are not finite -----------------------------

bool mtlc_is_floating(LLVMTypeRef type);
// Returns an i1: true if an element is infinite or NaN.
LLVMValueRef mtlc_any_wild(LLVMBuilderRef builder, LLVMValueRef value);
// Returns an i1: an operation or a call gives infinity though its operands are
// finite, or NaN though none of them is one.
LLVMValueRef mtlc_is_born(LLVMBuilderRef builder, LLVMValueRef operation);

// --- lane_numbers.c -------------------------------------------------------------

// Returns an i1: the thread number that a shuffle reads from exists in the
// simdgroup or quad. NULL if it always does.
LLVMValueRef mtlc_lane_is_there(LLVMBuilderRef builder, LLVMValueRef shuffle);
// Replaces the marked thread numbers of shuffles by their remainders modulo the
// simdgroup's or quad's width. Run it once shuffles are tested.
void mtlc_drop_lane_marks(mtlc_kernel *kernel);

// --- texture_handles.c ----------------------------------------------------------

// Returns the handle of a texture that a value is the mark of; NULL if it is
// none.
LLVMValueRef mtlc_marked_handle(LLVMValueRef value);
void mtlc_drop_handle_marks(mtlc_kernel *kernel);

// --- sites.c: the table of places --------------------------------------------

typedef struct mtlc_sites {
  mtlc_kernel *kernel;
  mtli_check_site *items;  // [count]; 0 is none
  uint32_t count;
  uint32_t capacity;
  char *texts;  // [text_bytes]
  uint32_t text_bytes;
  uint32_t text_capacity;
} mtlc_sites;

void mtlc_sites_begin(mtlc_sites *sites, mtlc_kernel *kernel);
// Writes MTLC_CHECK_SITES_GLOBAL.
void mtlc_sites_write(mtlc_sites *sites);
void mtlc_sites_end(mtlc_sites *sites);
// Adds a site at the place of an instruction; the rest of it is the caller's,
// with texts of mtlc_sites_text. Returns its number.
uint32_t mtlc_sites_add(mtlc_sites *sites, LLVMValueRef instruction,
                        const mtli_check_site *site);
uint32_t mtlc_sites_text(mtlc_sites *sites, const char *text);

// --- roots.c: what memory an address is of ------------------------------------

enum { MTLC_SOME_TEXTURE = UINT32_MAX };  // of an argument buffer, or of several

typedef struct mtlc_root {
  mtli_check_space space;
  LLVMValueRef base;  // of a variable; NULL if it is one of several
  uint32_t slot;      // of a parameter, or MTLI_CHECK_NO_SLOT
  uint64_t bytes;     // of a variable or a referenced type; 0 if not known
  bool is_outside;  // memory that no name in the kernel's source refers to
  // Of a texture: the parameter's slot + 1, or MTLC_SOME_TEXTURE. The parameter
  // holds the address of a descriptor, which holds that of the texels.
  uint32_t texture;
  bool is_descriptor;
} mtlc_root;

mtlc_root mtlc_find_root(const mtlc_kernel *kernel, LLVMValueRef address);
// The name in the source of a root's variable or argument.
void mtlc_name_root(const mtlc_kernel *kernel, const mtlc_root *root,
                    char *out, size_t capacity);

// --- members.c: what subscripts tell ------------------------------------------

// The array, member of a structure, that an address is inside of.
typedef struct mtlc_member {
  LLVMValueRef base;  // an address; NULL if there is none
  uint64_t bytes;
} mtlc_member;

mtlc_member mtlc_find_member(LLVMBuilderRef builder, LLVMTargetDataRef layout,
                             LLVMValueRef address);
// The row, of an array of arrays, that an address is a subscript of.
mtlc_member mtlc_find_row(LLVMTargetDataRef layout, LLVMValueRef address);
// True if a member is all of the root's variable, or its first row, whose
// subscripts may go through all rows.
bool mtlc_is_all_of(const mtlc_member *member, const mtlc_root *root);
// True if size bytes lie at a constant offset inside a root's variable, and
// inside each array in it that they are subscripts of.
bool mtlc_is_constant_inside(LLVMTargetDataRef layout, const mtlc_root *root,
                             LLVMValueRef address, uint64_t size);

// --- padding.c: bytes of structures that no member has -------------------------

// Longer copies stay, and are checked as pieces.
enum { MTLC_LONGEST_COPY_BYTES = 512 };

// Marks a load of padding, which is never unset.
#define MTLC_PADDING_MARK "mettle.padding"

// Stores zeros to the padding of a private variable.
void mtlc_set_padding(LLVMBuilderRef builder, LLVMTargetDataRef layout,
                      LLVMValueRef variable);
// Appends an instruction to a list (mtlc_values *) if it is a copy of
// MTLC_LONGEST_COPY_BYTES at most, for mtlc_for_each_instruction.
void mtlc_collect_copy(LLVMValueRef instruction, void *copies);
// Marks the loads of padding in the module's copies of structures.
void mtlc_split_padded_copies(mtlc_kernel *kernel);

// --- private_bytes.c: which bytes of private variables are set -----------------

typedef struct mtlc_private_bytes {
  const mtlc_kernel *kernel;
  LLVMBuilderRef builder;
  mtlc_values variables;  // those that stay in memory, and
  mtlc_values bytes;      // [variables.count] their shadows
} mtlc_private_bytes;

void mtlc_private_bytes_make(mtlc_private_bytes *bytes,
                             const mtlc_kernel *kernel, LLVMBuilderRef builder);
void mtlc_private_bytes_clear(mtlc_private_bytes *bytes);
// Returns the shadow of a variable; a null pointer if it has none.
LLVMValueRef mtlc_private_bytes_of(const mtlc_private_bytes *bytes,
                                   LLVMValueRef variable);
// Marks a variable's bytes as unset, at llvm.lifetime.start, where it begins or
// begins anew.
void mtlc_private_bytes_start(const mtlc_private_bytes *bytes,
                              LLVMValueRef start);

// The first removes the marks (MTLC_UNSET_PREFIX) of variables that stay in
// memory, whose bytes have shadows. The second removes the other marks, once
// shadows have been made.
void mtlc_drop_unset_stores(mtlc_kernel *kernel);
void mtlc_drop_unset_marks(mtlc_kernel *kernel);

// --- fast_paths.c: accesses found clean without a call -------------------------

typedef struct mtlc_fast_access {
  mtli_check_space space;
  bool is_write;  // else a read; no atomic
  bool has_slot;  // a parameter's memory
  bool has_shadow;  // of a private variable
  uint32_t size_bytes;
  uint32_t align_bytes;
  uint64_t object_bytes;  // as mtli_check_site
} mtlc_fast_access;

// The function for such accesses, made if it is not there: {ptr, i64}(ptr
// check, ptr address, i32 site, i64 unset, ptr base, ptr shadow, i64 slot),
// which returns the address to access, and a bit for each byte of a read value
// that is not set. NULL if there is none.
#define MTLC_FAST_PATH_PREFIX "mettle.checked."
LLVMValueRef mtlc_fast_path(mtlc_kernel *kernel, const mtlc_fast_access *access,
                            bool is_inline);

// --- screen_stamps.c: accesses found clean by vectors of threads ----------------

enum { MTLC_MOST_STAMPED_WORDS = 16 };

typedef struct mtlc_stamped {
  mtli_check_access kind;  // READ, WRITE, or one of the atomics
  uint32_t words;          // up to MTLC_MOST_STAMPED_WORDS
  bool is_also_read;       // the memory may be, since the last barrier or in the
  bool is_also_written;    // dispatch, by something in the kernel
  // Arrays of stamps, each twice, and the access's offset in them.
  LLVMValueRef writes, reads, writes_again, reads_again;
  LLVMValueRef offset;  // i64, bytes
  LLVMValueRef own;     // i32: the thread's stamp
  LLVMValueRef floor;   // i32: those below are ordered before
  LLVMValueRef least;   // i32: those below are of words that were never set
} mtlc_stamped;

// Returns i1: nothing is wrong with an access, and it is noted.
LLVMValueRef mtlc_stamp(mtlc_kernel *kernel, LLVMBuilderRef builder,
                        const mtlc_stamped *access);

// --- screen_loops.c: bounds of what counted loops access -----------------------

// Returns an offset's extremes, in front of the outermost remaining loop: an
// i64, and an i1 that must hold for the two to be right, or NULL.
typedef struct mtlc_extreme_offsets {
  LLVMValueRef least, most, holds;
} mtlc_extreme_offsets;

// False if there are none, or they are not known. Leaves the builder in front of
// the loops, or anywhere if there are none.
bool mtlc_extremes(const mtlc_flow *flow, LLVMBuilderRef builder,
                   LLVMValueRef access, LLVMValueRef offset,
                   mtlc_extreme_offsets *out);

// --- screen_intervals.c: accesses between the same barriers ---------------------

// Says how other threads may access threadgroup memory at the same time as an
// access.
typedef struct mtlc_group_use {
  bool is_read;
  bool is_written;
} mtlc_group_use;

typedef struct mtlc_intervals {
  mtlc_values accesses;  // of threadgroup memory, and
  mtlc_group_use *uses;  // [accesses.count] the threadgroup use beside each
} mtlc_intervals;

void mtlc_intervals_make(mtlc_intervals *intervals, const mtlc_kernel *kernel);
void mtlc_intervals_clear(mtlc_intervals *intervals);
mtlc_group_use mtlc_interval_use(const mtlc_intervals *intervals,
                                 LLVMValueRef access);

// --- shadows.c: which bits of values were never set ---------------------------

typedef struct mtlc_shadow {
  LLVMValueRef bits;    // integers of the value's size, 1 for a bit not set
  LLVMValueRef origin;  // i32, a site; of use where bits are not 0
} mtlc_shadow;

typedef struct mtlc_shadows mtlc_shadows;

// Marks of variables without a value: calls of functions of this name, by
// simplify_checked.
#define MTLC_UNSET_PREFIX "mettle.unset."

mtlc_shadows *mtlc_shadows_begin(mtlc_kernel *kernel, mtlc_sites *sites,
                                 LLVMBuilderRef builder);
void mtlc_shadows_end(mtlc_shadows *shadows);
// Makes the shadow of an instruction's value out of its operands'; for phis
// with what comes later.
void mtlc_shadows_visit(mtlc_shadows *shadows, LLVMValueRef instruction);
// Fills in the phis, after all visits.
void mtlc_shadows_finish(mtlc_shadows *shadows);
// True if it is known while compiling that all of the value is set.
bool mtlc_is_set(mtlc_shadows *shadows, LLVMValueRef value);
mtlc_shadow mtlc_shadow_of(mtlc_shadows *shadows, LLVMValueRef value);
void mtlc_set_shadow(mtlc_shadows *shadows, LLVMValueRef value,
                     mtlc_shadow shadow);
// i1: some bit of a value is not set.
LLVMValueRef mtlc_any_unset(mtlc_shadows *shadows, LLVMValueRef value);
// i64 with a bit for each byte of a value, as in memory; NULL if the type has
// no shadow.
LLVMValueRef mtlc_unset_bytes(mtlc_shadows *shadows, LLVMValueRef value);
// Returns the shadow of a loaded value from such bytes.
mtlc_shadow mtlc_shadow_of_bytes(mtlc_shadows *shadows, LLVMTypeRef type,
                                 LLVMValueRef bytes, LLVMValueRef origin);
// Returns a shadow that is all unset if is_bad, an i1.
mtlc_shadow mtlc_shadow_if(mtlc_shadows *shadows, LLVMTypeRef type,
                           LLVMValueRef is_bad, LLVMValueRef origin);
bool mtlc_has_shadow(LLVMTypeRef type);

#endif
