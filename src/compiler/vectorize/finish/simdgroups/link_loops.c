// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// link_loops.c: the loops over simdgroups around a variant, from IR text.
#include "compiler/vectorize/finish/simdgroups/link_loops.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "code/cpu_abi.h"
#include "compiler/ir/kernel/kernel.h"
#include "compiler/ir/llvm/instructions.h"
#include "compiler/ir/llvm/module.h"
#include "compiler/ir/llvm/names.h"
#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/base/tables.h"
#include "compiler/vectorize/emit/values/emitter.h"
#include "compiler/vectorize/finish/simdgroups/group_loop.h"
#include "compiler/vectorize/target/machine.h"

extern const char mtlc_text_simdgroups[];
extern const char mtlc_text_simdgroups_waiting[];
extern const char mtlc_text_simdgroups_state[];
extern const char mtlc_text_simdgroups_together[];
extern const char mtlc_text_simdgroups_rest[];
extern const char mtlc_text_simdgroups_step[];
extern const char mtlc_text_simdgroups_at_once[];

// A larger function is called for whole simdgroups as for others: twice the
// code would cost more to compile than a known mask saves. Without barriers a
// known mask saves 15 % at 16 to 110 instructions and nothing at 230 and more
// (measured on eleven kernels, x86-64-v4, 2026-11). With them the copy for each
// state is smaller than the function.
enum { LARGEST_COPY_INSTRUCTIONS = 200, LARGEST_WAITING_INSTRUCTIONS = 1500 };
// The most barriers of a function that gets a separate loop for each: where
// control flow joins, so that code after a barrier is copied into several
// loops; and where each barrier leads only to the next.
enum { MOST_STATE_LOOPS = 16, MOST_STRAIGHT_LOOPS = 64 };

// --- Text --------------------------------------------------------------------

typedef struct replacement {
  const char *name;
  const char *value;
} replacement;

static void append(char **text, size_t *length, const char *more,
                   size_t more_length) {
  char *grown = realloc(*text, *length + more_length + 1);
  if (!grown) {
    abort();  // as LLVM does; the client starts another compiler
  }
  memcpy(grown + *length, more, more_length);
  *length += more_length;
  grown[*length] = 0;
  *text = grown;
}

static char *fill_in(const char *text, const replacement *replacements,
                     size_t count) {
  char *result = NULL;
  size_t length = 0;
  while (*text) {
    const size_t plain = strcspn(text, "$");
    append(&result, &length, text, plain);
    text += plain;
    size_t i = 0;
    while (*text && i < count &&
           !mtlc_starts_with(text + 1, replacements[i].name)) {
      i++;
    }
    if (*text && i < count) {
      append(&result, &length, replacements[i].value,
             strlen(replacements[i].value));
      text += 1 + strlen(replacements[i].name);
    } else if (*text) {
      append(&result, &length, text++, 1);
    }
  }
  return result;
}

// Counts the instructions that a block leads to, including its own.
static uint32_t count_behind(const lanes_map *numbers, LLVMBasicBlockRef from,
                             LLVMBasicBlockRef *work, bool *seen,
                             uint32_t block_count) {
  uint32_t found = 1, total = 0;
  memset(seen, 0, block_count * sizeof *seen);
  work[0] = from;
  seen[lanes_map_get(numbers, from)] = true;
  while (found) {
    LLVMBasicBlockRef block = work[--found];
    LLVMValueRef end = LLVMGetBasicBlockTerminator(block);
    total += mtlc_count_in_block(block);
    for (unsigned k = 0; k < LLVMGetNumSuccessors(end); k++) {
      LLVMBasicBlockRef to = LLVMGetSuccessor(end, k);
      bool *is_seen = &seen[lanes_map_get(numbers, to)];
      if (!*is_seen) {
        *is_seen = true;
        work[found++] = to;
      }
    }
  }
  return total;
}

// True if separate loops for each barrier would not be much more code than the
// function: each barrier leads only to the next.
static bool is_straight(LLVMValueRef function) {
  LLVMValueRef jump =
      LLVMGetBasicBlockTerminator(LLVMGetEntryBasicBlock(function));
  mtli_arena arena = {0};
  lanes_map numbers = {0};
  uint32_t block_count = 0;
  for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block;
       block = LLVMGetNextBasicBlock(block)) {
    lanes_map_set(&arena, &numbers, block, block_count++);
  }
  LLVMBasicBlockRef *work = lanes_allocate(&arena, block_count, sizeof *work);
  bool *seen = lanes_allocate(&arena, block_count, sizeof *seen);
  uint64_t total = 0;
  for (unsigned k = 0; k < LLVMGetNumSuccessors(jump); k++) {
    total += count_behind(&numbers, LLVMGetSuccessor(jump, k), work, seen,
                          block_count);
  }
  mtli_arena_clear(&arena);
  return total <= UINT64_C(2) * mtlc_count_instructions(function);
}

bool lanes_is_in_place(const lanes_variant *variant) {
  const uint32_t most = variant->wait_count > 0 ? LARGEST_WAITING_INSTRUCTIONS
                                                : LARGEST_COPY_INSTRUCTIONS;
  if (variant->row == 1 || variant->wait_count >= MOST_STRAIGHT_LOOPS ||
      mtlc_count_instructions(variant->function) > most) {
    return false;
  }
  return variant->wait_count < MOST_STATE_LOOPS ||
         is_straight(variant->function);
}

// The loops over simdgroups in one state each, as text.
typedef struct state_loops {
  char *loops;
  char *cases;
  char *ors;
  char *ands;
} state_loops;

// Returns the lanes of a vector as text.
static const char *lanes_text(uint8_t lanes) {
  return lanes == MOST_LANES ? "32" : "16";
}

static void append_for_state(char **text, const char *pattern, uint32_t state,
                             uint8_t lanes, const char *row,
                             const char *frame) {
  char number[16];
  snprintf(number, sizeof number, "%u", state);
  const replacement replacements[] = {{"STATE", number},
                                      {"ROW", row},
                                      {"FRAME", frame},
                                      {"LANES", lanes_text(lanes)}};
  char *filled = fill_in(pattern, replacements,
                         sizeof replacements / sizeof *replacements);
  size_t length = strlen(*text);
  append(text, &length, filled, strlen(filled));
  free(filled);
}

static state_loops make_state_loops(uint32_t state_count, uint8_t lanes,
                                    const char *row, const char *frame) {
  state_loops made = {calloc(1, 1), calloc(1, 1), calloc(1, 1), calloc(1, 1)};
  if (!made.loops || !made.cases || !made.ors || !made.ands) {
    abort();
  }
  for (uint32_t s = 0; s < state_count; s++) {
    append_for_state(&made.loops, mtlc_text_simdgroups_state, s, lanes, row,
                     frame);
    append_for_state(&made.cases, "i32 $STATE, label %loop.$STATE ", s, lanes,
                     row, frame);
    append_for_state(&made.ors, ", [ %or.next.$STATE, %loop.$STATE ]", s, lanes,
                     row, frame);
    append_for_state(&made.ands, ", [ %and.next.$STATE, %loop.$STATE ]", s,
                     lanes, row, frame);
  }
  return made;
}

static void free_state_loops(state_loops *loops) {
  free(loops->loops);
  free(loops->cases);
  free(loops->ors);
  free(loops->ands);
}

static char *empty_text(void) {
  char *text = calloc(1, 1);
  if (!text) {
    abort();
  }
  return text;
}

static void append_filled(char **text, const char *pattern,
                          const replacement *replacements, size_t count) {
  char *filled = fill_in(pattern, replacements, count);
  size_t length = strlen(*text);
  append(text, &length, filled, strlen(filled));
  free(filled);
}

// Returns, as text, the fewest threads of a threadgroup with a complete
// simdgroup, and which bits of their number tell of an incomplete one.
static const char *least_text(bool lacks_none) {
  return lacks_none ? "0" : "1";
}

static const char *gaps_text(uint8_t lanes, bool lacks_none) {
  return lacks_none ? "0" : lanes == MOST_LANES ? "31" : "15";
}

// Returns loops for simdgroups that are all in the same state: one for each
// state, or one that passes the state to the function.
static char *together_text(const lanes_variant *variant, const char *row,
                           const char *frame, bool lacks_none) {
  const bool in_place = lanes_is_in_place(variant);
  const uint32_t last = in_place ? variant->wait_count : 0;
  char bytes[24];
  snprintf(bytes, sizeof bytes, "%llu",
           (unsigned long long)variant->common_bytes);
  char once[24];
  snprintf(once, sizeof once, "%lld",
           variant->wait_count < 64 ? (long long)variant->states_once : 0ll);
  char *loops = empty_text();
  char *ways = empty_text();  // the cases of all states but the first
  char *reached = empty_text();
  char number[16] = "any";
  for (uint32_t s = 1; s <= last; s++) {
    snprintf(number, sizeof number, "%u", s);
    append_filled(&ways, "i32 $STATE, label %enter.$STATE ",
                  &(replacement){"STATE", number}, 1);
  }
  for (uint32_t s = 0; s <= last; s++) {
    if (in_place) {
      snprintf(number, sizeof number, "%u", s);
    }
    const replacement step[] = {
        {"STATE", number},
        {"FROM", in_place ? number : "%state"},
        {"ASKED", in_place ? "%any.partial" : "true"},
        {"ROW", row},
        {"LANES", lanes_text(variant->lanes)},
        {"FRAME", frame},
        {"COMMON", bytes},
        {"WAYS", ways},
        {"ONCE", once},
        {"WHOLE", in_place ? "alwaysinline" : "noinline"}};
    const size_t count = sizeof step / sizeof *step;
    append_filled(&loops, mtlc_text_simdgroups_step, step, count);
    append_filled(&reached, ", [ %reached.$STATE, %done.$STATE ]", step, count);
  }
  const replacement replacements[] = {
      {"ROW", row},
      {"LANES", lanes_text(variant->lanes)},
      {"FRAME", frame},
      {"COMMON", bytes},
      {"OTHERWISE", in_place ? "0" : "any"},
      {"LOOPS", loops},
      {"WAYS", ways},
      {"REACHED", reached},
      {"LEAST", least_text(lacks_none)},
      {"GAPS", gaps_text(variant->lanes, lacks_none)}};
  char *text = fill_in(mtlc_text_simdgroups_together, replacements,
                       sizeof replacements / sizeof *replacements);
  free(loops);
  free(ways);
  free(reached);
  return text;
}

// Returns the text that finds where each later simdgroup begins.
static char *positions_text(uint8_t lanes, uint32_t count) {
  static const char pattern[] =
      "  %x.up.$TO = add i32 %x.$FROM, $LANES\n"
      "  %x.ends.$TO = icmp uge i32 %x.up.$TO, %size.x\n"
      "  %x.$TO = select i1 %x.ends.$TO, i32 0, i32 %x.up.$TO\n"
      "  %x.carry.$TO = zext i1 %x.ends.$TO to i32\n"
      "  %y.up.$TO = add i32 %y.$FROM, %x.carry.$TO\n"
      "  %y.ends.$TO = icmp uge i32 %y.up.$TO, %size.y\n"
      "  %y.$TO = select i1 %y.ends.$TO, i32 0, i32 %y.up.$TO\n"
      "  %y.carry.$TO = zext i1 %y.ends.$TO to i32\n"
      "  %z.$TO = add i32 %z.$FROM, %y.carry.$TO\n"
      "  %first.$TO = add nuw i32 %first.$FROM, $LANES\n";
  char *text = empty_text();
  for (uint32_t k = 1; k <= count; k++) {
    char from[8], to[8];
    snprintf(from, sizeof from, "%u", k - 1);
    snprintf(to, sizeof to, "%u", k);
    append_filled(&text, pattern,
                  (const replacement[]){
                      {"FROM", from}, {"TO", to}, {"LANES", lanes_text(lanes)}},
                  3);
  }
  return text;
}

static char *others_text(uint32_t count) {
  char *text = empty_text();
  for (uint32_t k = 1; k < LANES_MOST_AT_ONCE; k++) {
    char number[8];
    snprintf(number, sizeof number, "%u", k);
    append_filled(&text,
                  k < count ? ", i32 %first.$K, i32 %x.$K, i32 %y.$K, i32 %z.$K"
                            : ", i32 0, i32 0, i32 0, i32 0",
                  (const replacement[]){{"K", number}}, 1);
  }
  return text;
}

// Returns the text that runs simdgroups one by one if they refuse; a plain
// branch if they never do.
static char *singles_text(const lanes_variant *variant, const char *row) {
  static const char single[] =
      "  call void @mettle.note.thread(ptr %thread.at, i32 %first.$K)\n"
      "  %done.$K = call i32 @mettle.simdgroup.$ROW(ptr %launch, ptr "
      "%scratch,\n"
      "      ptr %group, ptr %context, i32 %first.$K, i32 -1, i32 0,\n"
      "      i32 %x.$K, i32 %y.$K, i32 %z.$K, ptr null, ptr null) noinline\n";
  char *text = empty_text();
  if (variant->may_refuse) {
    append_filled(&text,
                  "  %refused = icmp ne i32 %done, 0\n"
                  "  br i1 %refused, label %singles, label %next\n\n"
                  "singles:\n",
                  NULL, 0);
    for (uint32_t k = 0; k < variant->at_once_count; k++) {
      char number[12];
      snprintf(number, sizeof number, "%u", k);
      append_filled(&text, single,
                    (const replacement[]){{"ROW", row}, {"K", number}}, 2);
    }
  }
  append_filled(&text, "  br label %next\n", NULL, 0);
  return text;
}

// Links the loop over several simdgroups at a time.
static mtl_status link_at_once(mtlc_kernel *kernel,
                               const lanes_variant *variant, const char *row) {
  const uint32_t count = variant->at_once_count;
  char number[8], batch[8];
  snprintf(number, sizeof number, "%u", count);
  snprintf(batch, sizeof batch, "%u", count * variant->lanes);
  char *positions = positions_text(variant->lanes, count);
  char *others = others_text(count);
  char *singles = singles_text(variant, row);
  const replacement replacements[] = {
      {"ROW", row},
      {"COUNT", number},
      {"LAST", number},
      {"BATCH", batch},
      {"OTHERS", others},
      {"POSITIONS", positions},
      {"SINGLES", singles},
      {"WIDEST", variant->at_once_same_x ? lanes_text(variant->lanes) : "-1"}};
  char *text = fill_in(mtlc_text_simdgroups_at_once, replacements,
                       sizeof replacements / sizeof *replacements);
  const mtl_status status = mtlc_link_text(kernel, "simdgroups_at_once", text);
  free(text);
  free(positions);
  free(others);
  free(singles);
  return status;
}

// True if there is code for threadgroups of whole simdgroups, and other code
// for the rest. With barriers both would be twice the code, and a state could
// come from either. Without barriers it pays for functions too long to be made
// for both, on machines without mask registers, where code for a simdgroup that
// may lack threads is slow.
static bool depends_on_whole(const mtlc_kernel *kernel,
                             const lanes_variant *variant, bool has_waits) {
  return has_waits || kernel->facts.depends_on_whole ||
         (!lanes_is_in_place(variant) &&
          !lanes_machine_of(kernel->target).has_masks);
}

// Fixes the mask to a constant if the code is for complete simdgroups alone.
// True if so.
static bool fix_mask(mtlc_kernel *kernel, const lanes_variant *variant,
                     bool has_waits) {
  if (!depends_on_whole(kernel, variant, has_waits)) {
    return false;
  }
  kernel->facts.depends_on_whole = true;
  if (kernel->group_class.is_whole) {
    LLVMValueRef mask = LLVMGetParam(variant->function, LANES_ENTRY_MASK);
    LLVMReplaceAllUsesWith(mask, LLVMConstAllOnes(LLVMTypeOf(mask)));
  }
  return kernel->group_class.is_whole;
}

// The parts of the text around a loop that depend on the row's length, and on
// whether several simdgroups run at once before it.
typedef struct row_texts {
  char *begin;    // runs those, and says where the loop goes on
  char *declare;  // what begin calls
  char *rest;     // the simdgroup that may lack threads
} row_texts;

static row_texts make_row_texts(const lanes_variant *variant, const char *row,
                                bool lacks_none) {
  row_texts texts = {empty_text(), empty_text(), empty_text()};
  const replacement of_row[] = {{"ROW", row},
                                {"LANES", lanes_text(variant->lanes)}};
  append_filled(
      &texts.rest,
      lacks_none ? "  br label %leave\n\n" : mtlc_text_simdgroups_rest, of_row,
      2);
  append_filled(&texts.begin,
                variant->at_once
                    ? "call { i32, i32, i32, i32 } @mettle.at.once.$ROW("
                      "ptr %launch, ptr %scratch, ptr %context, ptr %group, "
                      "i32 %threads, i32 %size.x, i32 %size.y)"
                    : "insertvalue { i32, i32, i32, i32 } zeroinitializer, "
                      "i32 0, 0",
                of_row, 1);
  append_filled(&texts.declare,
                variant->at_once
                    ? "declare { i32, i32, i32, i32 } @mettle.at.once.$ROW("
                      "ptr, ptr, ptr, ptr, i32, i32, i32)"
                    : "\n",
                of_row, 1);
  return texts;
}

static void free_row_texts(row_texts *texts) {
  free(texts->begin);
  free(texts->declare);
  free(texts->rest);
}

mtl_status lanes_link_loop(mtlc_kernel *kernel, const lanes_variant *variant,
                           bool has_waits, uint64_t frame_bytes) {
  char row[8];
  char frame[24];
  const bool lacks_none = fix_mask(kernel, variant, has_waits);
  snprintf(row, sizeof row, "%u", variant->row);
  snprintf(frame, sizeof frame, "%llu", (unsigned long long)frame_bytes);
  if (has_waits && variant->waits_together) {
    char *together = together_text(variant, row, frame, lacks_none);
    const mtl_status linked = mtlc_link_text(kernel, "simdgroups", together);
    free(together);
    return linked;
  }
  const bool in_place = lanes_is_in_place(variant);
  const uint32_t state_count =
      has_waits && in_place ? variant->wait_count + 1 : 0;
  state_loops states =
      make_state_loops(state_count, variant->lanes, row, frame);
  if (variant->at_once) {
    MTL_TRY(link_at_once(kernel, variant, row));
  }
  row_texts texts = make_row_texts(variant, row, lacks_none);
  const replacement replacements[] = {
      {"ROW", row},
      {"LANES", lanes_text(variant->lanes)},
      {"FRAME", frame},
      {"BEGIN", texts.begin},
      {"DECLARE", texts.declare},
      {"REST", texts.rest},
      {"WHOLE",
       in_place || (lacks_none && !has_waits) ? "alwaysinline" : "noinline"},
      {"LOOPS", states.loops},
      {"CASES", states.cases},
      {"ORS", states.ors},
      {"LEAST", least_text(lacks_none)},
      {"GAPS", gaps_text(variant->lanes, lacks_none)},
      {"ANDS", states.ands}};
  char *text =
      fill_in(has_waits ? mtlc_text_simdgroups_waiting : mtlc_text_simdgroups,
              replacements, sizeof replacements / sizeof *replacements);
  free_state_loops(&states);
  free_row_texts(&texts);
  const mtl_status status = mtlc_link_text(kernel, "simdgroups", text);
  free(text);
  return status;
}
