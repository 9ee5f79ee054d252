// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// overlaps.c: sums that kernels keep in memory, where the memory is apart from
// the addends, overlaps them in part, or is the same.
#include "conformance.h"

#include <stdint.h>
#include <string.h>

// Thread i has words i * 64 to i * 64 + 63 of a buffer to itself, whatever is
// bound how far behind its start, up to 24 words.
enum { THREADS = 32, ROW = 64, WORDS = THREADS * ROW };

static const char source[] =
    "struct lengths { uint turns; int first, last; };\n"
    // Up, to a number that only the launch knows.
    "kernel void add_up(device uint *out [[buffer(0)]],\n"
    "                   device const uint *in [[buffer(1)]],\n"
    "                   constant lengths &l [[buffer(2)]],\n"
    "                   uint i [[thread_position_in_grid]]) {\n"
    "  for (uint k = 0; k < l.turns; k++) {\n"
    "    out[i * 64] += in[i * 64 + k] * 3 + 1;\n"
    "  }\n"
    "}\n"
    // Down, and in steps, in a nest; where a thread is found by division.
    "kernel void nest(device uint *out [[buffer(0)]],\n"
    "                 device const uint *in [[buffer(1)]],\n"
    "                 constant lengths &l [[buffer(2)]],\n"
    "                 uint i [[thread_position_in_grid]]) {\n"
    "  const uint row = i / 8 * 512 + i % 8 * 64;\n"
    "  for (int j = l.last; j >= l.first; j--) {\n"
    "    for (uint k = 0; k < 12; k += 5) {\n"
    "      out[row] += in[row + j * 2 + k] * 5 + 7;\n"
    "    }\n"
    "  }\n"
    "}\n"
    // Two sums, which a condition parts.
    "kernel void two(device uint *out [[buffer(0)]],\n"
    "                device const uint *in [[buffer(1)]],\n"
    "                constant lengths &l [[buffer(2)]],\n"
    "                uint i [[thread_position_in_grid]]) {\n"
    "  for (int k = l.first; k != l.last; k++) {\n"
    "    const uint word = in[i * 64 + k];\n"
    "    out[i * 64] += word + 1;\n"
    "    if (word & 1) {\n"
    "      out[i * 64 + 2] += word ^ out[i * 64];\n"
    "    }\n"
    "  }\n"
    "}\n";

typedef struct lengths {
  uint32_t turns;
  int32_t first, last;
} lengths;

typedef void reference(uint32_t *out, const uint32_t *in, lengths l);

// The same for one thread, whose row out and in begin in: in C, where the two
// may overlap.
static void add_up(uint32_t *out, const uint32_t *in, lengths l) {
  for (uint32_t k = 0; k < l.turns; k++) {
    out[0] += in[k] * 3 + 1;
  }
}

static void nest(uint32_t *out, const uint32_t *in, lengths l) {
  for (int32_t j = l.last; j >= l.first; j--) {
    for (int32_t k = 0; k < 12; k += 5) {
      out[0] += in[j * 2 + k] * 5 + 7;
    }
  }
}

static void two(uint32_t *out, const uint32_t *in, lengths l) {
  for (int32_t k = l.first; k != l.last; k++) {
    const uint32_t word = in[k];
    out[0] += word + 1;
    if (word & 1) {
      out[2] += word ^ out[0];
    }
  }
}

static void fill(uint32_t *to, size_t count) {
  uint32_t state = 12345;
  for (size_t i = 0; i < count; i++) {
    state = state * 1664525 + 1013904223;
    to[i] = state >> 7;
  }
}

static void encode_at(mtl_command_buffer *commands, mtl_pipeline *pipeline,
                      mtl_buffer *out, uint64_t out_at, mtl_buffer *in,
                      uint64_t in_at, lengths l) {
  mtl_compute_encoder *encoder = new_encoder(commands);
  mtl_compute_encoder_set_pipeline(encoder, pipeline);
  mtl_compute_encoder_set_buffer(encoder, out, out_at * 4, 0);
  mtl_compute_encoder_set_buffer(encoder, in, in_at * 4, 1);
  mtl_compute_encoder_set_bytes(encoder, &l, sizeof l, 2);
  mtl_compute_encoder_dispatch_threads(encoder, size_of(THREADS, 1, 1),
                                       size_of(32, 1, 1));
  end(encoder);
}

// Lays a sum at every distance to its addends, each in a part of its own.
static void check_overlaps(const char *name, reference *expected, lengths l) {
  static const uint32_t places[] = {0, 1, 2, 3, 5, 9, 17, 24};
  enum { PLACES = COUNT_OF(places), PART = WORDS + ROW };
  static uint32_t want[PLACES * PLACES * PART];
  fill(want, COUNT_OF(want));
  mtl_buffer *buffer = new_buffer_with(want, sizeof want);
  mtl_pipeline *pipeline = new_pipeline(source, name);
  mtl_command_buffer *commands = new_commands(new_queue());
  for (size_t p = 0; p < PLACES * PLACES; p++) {
    const uint32_t out = places[p / PLACES], in = places[p % PLACES];
    uint32_t *part = want + p * PART;
    encode_at(commands, pipeline, buffer, p * PART + out, buffer, p * PART + in,
              l);
    for (size_t i = 0; i < THREADS; i++) {
      expected(part + out + i * ROW, part + in + i * ROW, l);
    }
  }
  finish(commands);
  for (size_t k = 0; k < COUNT_OF(want); k++) {
    CHECK_EQUAL(words(buffer)[k], want[k]);
  }
}

// Sums that lie before, behind and in another buffer than their addends.
static void check_apart(const char *name, reference *expected, lengths l) {
  static uint32_t before[3 * WORDS], apart[WORDS];
  fill(before, COUNT_OF(before));
  fill(apart, WORDS);
  mtl_buffer *buffer = new_buffer_with(before, sizeof before);
  mtl_buffer *other = new_buffer_with(apart, sizeof apart);
  mtl_pipeline *pipeline = new_pipeline(source, name);
  mtl_command_buffer *commands = new_commands(new_queue());
  encode_at(commands, pipeline, buffer, 0, buffer, WORDS, l);
  encode_at(commands, pipeline, buffer, 2 * WORDS, buffer, WORDS, l);
  encode_at(commands, pipeline, other, 0, buffer, WORDS, l);
  for (size_t i = 0; i < THREADS; i++) {
    const uint32_t *in = before + WORDS + i * ROW;
    expected(before + i * ROW, in, l);
    expected(before + 2 * WORDS + i * ROW, in, l);
    expected(apart + i * ROW, in, l);
  }
  finish(commands);
  for (size_t k = 0; k < COUNT_OF(before); k++) {
    CHECK_EQUAL(words(buffer)[k], before[k]);
  }
  for (size_t k = 0; k < WORDS; k++) {
    CHECK_EQUAL(words(other)[k], apart[k]);
  }
}

static void check(const char *name, reference *expected, lengths l) {
  check_overlaps(name, expected, l);
  check_apart(name, expected, l);
}

TEST(overlaps, sums_over_a_length_of_the_launch) {
  check("add_up", add_up, (lengths){.turns = 24});
  check("add_up", add_up, (lengths){.turns = 1});
  check("add_up", add_up, (lengths){.turns = 0});
}

TEST(overlaps, sums_in_a_nest_of_loops) {
  check("nest", nest, (lengths){.first = 0, .last = 9});
  check("nest", nest, (lengths){.first = 3, .last = 3});
  check("nest", nest, (lengths){.first = 4, .last = 1});
}

TEST(overlaps, sums_behind_a_condition) {
  check("two", two, (lengths){.first = 0, .last = 20});
  check("two", two, (lengths){.first = 7, .last = 7});
}
