// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// part_vectors.c: deinterleaves vectors into one vector for each component, and
// interleaves them again, by shuffles.
#include "compiler/vectorize/emit/memory/part_vectors.h"

#include <llvm-c/Target.h>
#include <stddef.h>

#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/emit/memory/lane_vectors/transpose.h"
#include "compiler/vectorize/emit/values/builder.h"
#include "compiler/vectorize/emit/values/emitter.h"
#include "compiler/vectorize/plan/access/access.h"

enum { BLOCK_BYTES = 16 };

// The element numbers that a vector holds, counted from the first lane's first.
typedef int held_elements[MOST_LANES];

// A step of deinterleaving: from count vectors that hold elements first, first
// + step, ... of each lane, to half as many with the even ones of these, and as
// many with the odd ones.
typedef struct parting {
  uint64_t size_bytes;
  uint32_t wanted;  // elements of a lane
  uint32_t first;
  uint32_t step;
  uint32_t count;
} parting;

static parting next_parting(const parting *p, uint32_t odd) {
  return (parting){.size_bytes = p->size_bytes,
                   .wanted = p->wanted,
                   .first = p->first + odd * p->step,
                   .step = 2 * p->step,
                   .count = p->count / 2};
}

// True if a step shuffles within 16-byte blocks only, which leaves elements out
// of order until the last step. That is faster beside products, while full
// permutations replace most of such steps (Zen 4: 0.8 of the time).
static bool stays_in_blocks(const lanes_emitter *e, const parting *p) {
  return e->machine.has_masks && p->count > 2 &&
         p->step * p->size_bytes < BLOCK_BYTES;
}

// Writes which elements a step's number-th result holds, made of two vectors
// that hold held[0] and held[1].
static void hold_half(const lanes_emitter *e, const parting *p,
                      const held_elements *held, uint32_t odd, uint32_t number,
                      held_elements out_held) {
  const parting next = next_parting(p, odd);
  const uint32_t block = BLOCK_BYTES / (uint32_t)p->size_bytes;
  const uint32_t whole = e->machine.vector_bytes / (uint32_t)p->size_bytes;
  for (uint32_t i = 0; i < e->lanes; i++) {
    if (!stays_in_blocks(e, p)) {
      out_held[i] = (int)(next.first + (number * e->lanes + i) * next.step);
      continue;
    }
    const uint32_t in_block = 2 * i % block + odd;
    const uint32_t second = i % block / (block / 2);
    const uint32_t from =
        (i / whole * 2 + second) * whole + i % whole / block * block + in_block;
    out_held[i] = held[from / e->lanes][from % e->lanes];
  }
}

// Writes which elements adjacent vectors hold, and returns the first step for
// them.
static parting hold_all(uint32_t lanes, uint64_t size_bytes, uint32_t wanted,
                        uint32_t count, held_elements *out_held) {
  for (uint32_t i = 0; i < count * lanes; i++) {
    out_held[i / lanes][i % lanes] = (int)i;
  }
  return (parting){
      .size_bytes = size_bytes, .wanted = wanted, .step = 1, .count = count};
}

// Returns the position of an element in two adjacent vectors.
static int place_of(uint32_t lanes, const held_elements a,
                    const held_elements b, int element) {
  uint32_t place = 0;
  while ((place < lanes ? a[place] : b[place - lanes]) != element) {
    place++;
  }
  return (int)place;
}

// Deinterleaves adjacent vectors of 32 into out_components: elements first,
// first + step, ... of each lane. Each step separates even from odd ones of two
// registers, which machines have instructions for.
static void part_registers(lanes_emitter *e, const parting *p,
                           LLVMValueRef *parts, const held_elements *held,
                           LLVMValueRef *out_components) {
  if (p->first >= p->wanted || p->count == 1) {
    if (p->first < p->wanted) {
      out_components[p->first] = parts[0];
    }
    return;
  }
  LLVMValueRef half[LARGEST_STRIDE_BYTES / 2];
  held_elements half_held[LARGEST_STRIDE_BYTES / 2];
  for (uint32_t odd = 0; odd < 2; odd++) {
    for (uint32_t k = 0; k < p->count / 2; k++) {
      hold_half(e, p, held + 2 * k, odd, k, half_held[k]);
      int lanes[MOST_LANES];
      for (uint32_t i = 0; i < e->lanes; i++) {
        lanes[i] =
            place_of(e->lanes, held[2 * k], held[2 * k + 1], half_held[k][i]);
      }
      half[k] =
          lanes_shuffle(e, parts[2 * k], parts[2 * k + 1], lanes, e->lanes);
    }
    const parting next = next_parting(p, odd);
    part_registers(e, &next, half, half_held, out_components);
  }
}

// A transpose of four or eight words a lane in registers of eight words.
// Separating even from odd takes two shuffles across a register's halves in
// each step; a transpose of lanes that are four apart stays within the halves.
enum { WORDS = 8, MOST_GROUPS = MOST_LANES / WORDS };

// Returns the half of a register that holds a lane's first or second four
// words.
static const int *half_of(uint32_t count, uint32_t lane, uint32_t four) {
  static const int halves[2][WORDS] = {{0, 1, 2, 3, 8, 9, 10, 11},
                                       {4, 5, 6, 7, 12, 13, 14, 15}};
  return halves[count == WORDS ? four : lane % 2];
}

static void part_fours(lanes_emitter *e, LLVMValueRef *parts, uint32_t count,
                       uint32_t wanted, LLVMValueRef *out_components) {
  const uint32_t group_count = e->lanes / WORDS;
  LLVMValueRef groups[WORDS][MOST_GROUPS];
  for (uint32_t g = 0; g < group_count; g++) {
    LLVMValueRef in[WORDS], apart[4], words[4];
    for (uint32_t k = 0; k < count; k++) {
      const uint32_t number = g * count + k;
      in[k] = lanes_subvector(e, parts[number / group_count],
                              number % group_count * WORDS, WORDS);
    }
    for (uint32_t four = 0; four < count / 4; four++) {
      for (uint32_t k = 0; k < 4; k++) {
        apart[k] =
            lanes_shuffle(e, in[k * count / WORDS], in[(k + 4) * count / WORDS],
                          half_of(count, k, four), WORDS);
      }
      lanes_transpose(e, apart, 4, words);
      for (uint32_t c = 0; c < 4; c++) {
        groups[four * 4 + c][g] = words[c];
      }
    }
  }
  for (uint32_t c = 0; c < wanted; c++) {
    out_components[c] = lanes_concatenated(e, groups[c], group_count);
  }
}

// True if the machine transposes by fours.
static bool transposes_by_fours(const lanes_emitter *e, uint32_t count,
                                uint64_t size_bytes) {
  return (count == 4 || count == WORDS) && size_bytes == 4 &&
         e->machine.has_gathers && !e->machine.has_masks;
}

void lanes_part_vectors(lanes_emitter *e, LLVMValueRef *parts, uint32_t count,
                        uint64_t size_bytes, uint32_t wanted,
                        LLVMValueRef *out_components) {
  if (transposes_by_fours(e, count, size_bytes)) {
    part_fours(e, parts, count, wanted, out_components);
  } else {
    held_elements held[LARGEST_STRIDE_BYTES];
    const parting p = hold_all(e->lanes, size_bytes, wanted, count, held);
    part_registers(e, &p, parts, held, out_components);
  }
}

// Interleaves components: fills vectors; those without a component stay
// undefined.
static void join_registers(lanes_emitter *e, const parting *p,
                           LLVMValueRef *components, const held_elements *held,
                           LLVMValueRef *out_parts) {
  if (p->count == 1) {
    out_parts[0] = p->first < p->wanted
                       ? components[p->first]
                       : LLVMGetPoison(LLVMTypeOf(components[0]));
    return;
  }
  LLVMValueRef half[2][LARGEST_STRIDE_BYTES / 2];
  held_elements half_held[2][LARGEST_STRIDE_BYTES / 2];
  for (uint32_t odd = 0; odd < 2; odd++) {
    for (uint32_t k = 0; k < p->count / 2; k++) {
      hold_half(e, p, held + 2 * k, odd, k, half_held[odd][k]);
    }
    const parting next = next_parting(p, odd);
    join_registers(e, &next, components, half_held[odd], half[odd]);
  }
  for (uint32_t k = 0; k < p->count; k++) {
    int lanes[MOST_LANES];
    for (uint32_t i = 0; i < e->lanes; i++) {
      lanes[i] = place_of(e->lanes, half_held[0][k / 2], half_held[1][k / 2],
                          held[k][i]);
    }
    out_parts[k] =
        lanes_shuffle(e, half[0][k / 2], half[1][k / 2], lanes, e->lanes);
  }
}

static void join_fours(lanes_emitter *e, LLVMValueRef *components,
                       uint32_t wanted, uint32_t count,
                       LLVMValueRef *out_parts) {
  LLVMTypeRef type =
      LLVMVectorType(LLVMGetElementType(LLVMTypeOf(components[0])), WORDS);
  const uint32_t group_count = e->lanes / WORDS;
  LLVMValueRef pieces[WORDS][MOST_GROUPS];
  for (uint32_t g = 0; g < group_count; g++) {
    LLVMValueRef fours[2][4];
    for (uint32_t four = 0; four < count / 4; four++) {
      LLVMValueRef words[4];
      for (uint32_t c = 0; c < 4; c++) {
        const uint32_t from = four * 4 + c;
        words[c] = from < wanted
                       ? lanes_subvector(e, components[from], g * WORDS, WORDS)
                       : LLVMGetPoison(type);
      }
      lanes_transpose(e, words, 4, fours[four]);
    }
    for (uint32_t k = 0; k < count; k++) {
      const uint32_t lane = k * WORDS / count;
      LLVMValueRef *second =
          count == WORDS ? fours[1] + lane % 4 : fours[0] + (lane + 1) % 4;
      const uint32_t number = g * count + k;
      pieces[number / group_count][number % group_count] = lanes_shuffle(
          e, fours[0][lane % 4], *second, half_of(WORDS, 0, lane / 4), WORDS);
    }
  }
  for (uint32_t k = 0; k < count; k++) {
    out_parts[k] = lanes_concatenated(e, pieces[k], group_count);
  }
}

void lanes_join_vectors(lanes_emitter *e, LLVMValueRef *components,
                        uint32_t wanted, uint64_t size_bytes, uint32_t count,
                        LLVMValueRef *out_parts) {
  if (transposes_by_fours(e, count, size_bytes)) {
    join_fours(e, components, wanted, count, out_parts);
  } else {
    held_elements held[LARGEST_STRIDE_BYTES];
    const parting p = hold_all(e->lanes, size_bytes, wanted, count, held);
    join_registers(e, &p, components, held, out_parts);
  }
}
