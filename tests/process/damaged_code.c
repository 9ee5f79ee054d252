// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// damaged_code.c: clang and LLVM given damaged input: sources with words lost,
// doubled and swapped, and containers whose IR has bits turned, with a checksum
// that is right. Each is an error with a text or compiles, and the next request
// works.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "code/code.h"
#include "harness/test.h"
#include "process.h"

static const char source[] =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "struct Body { float3 place; float mass; packed_float3 speed; };\n"
    "template <typename T, int n> T total(device const T *x, uint i) {\n"
    "  T sum = 0;\n"
    "  for (int k = 0; k < n; ++k) { sum += x[i * n + k]; }\n"
    "  return sum;\n"
    "}\n"
    "[[visible]] float twice(float x) { return 2.0f * x; }\n"
    "kernel void all(device Body *bodies [[buffer(0)]],\n"
    "                device const float *x [[buffer(1)]],\n"
    "                device atomic_uint *count [[buffer(2)]],\n"
    "                texture2d<float, access::sample> t [[texture(0)]],\n"
    "                threadgroup float *shared [[threadgroup(0)]],\n"
    "                uint i [[thread_position_in_grid]],\n"
    "                uint l [[thread_index_in_threadgroup]]) {\n"
    "  constexpr sampler s(filter::linear, address::repeat);\n"
    "  shared[l] = total<float, 4>(x, i) + t.sample(s, float2(x[i], 0)).x;\n"
    "  threadgroup_barrier(mem_flags::mem_threadgroup);\n"
    "  float4x4 m(shared[l ^ 1]);\n"
    "  switch (l) {\n"
    "    case 1: m = m * m; break;\n"
    "    default: m[1] = float4(twice(m[0].x)); break;\n"
    "  }\n"
    "  bodies[i].place = cross((m * m[2]).xyz, bodies[i].speed);\n"
    "  bodies[i].mass = simd_sum(fma(x[i], x[i], 1.0f));\n"
    "  atomic_fetch_add_explicit(count, uint(bodies[i].mass > 1.0f),\n"
    "                            memory_order_relaxed);\n"
    "}\n";

// Steele and Vigna's splitmix: the same numbers on every machine.
static uint64_t state;
static uint32_t number_below(uint32_t most) {
  uint64_t z = state += 0x9e3779b97f4a7c15;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return (uint32_t)((z ^ z >> 31) >> 33) % most;
}

static void use_clang(void) {
  use_stand_in();
  setenv("METTLE_COMPILER", REAL_PATH, 1);
}

// Where the words and marks of the source begin; [returned] of them.
static size_t find_words(const char **words, size_t most) {
  size_t count = 0;
  for (const char *at = source; *at && count < most;) {
    size_t length = strspn(at, "abcdefghijklmnopqrstuvwxyz_0123456789");
    words[count++] = at;
    at += length ? length : 1;
  }
  words[count] = source + sizeof source - 1;
  return count;
}

static char *damaged_source(void) {
  enum { MOST = 1000 };
  static const char *words[MOST + 1];
  const size_t count = find_words(words, MOST);
  const size_t changed = number_below((uint32_t)count);
  const size_t other = number_below((uint32_t)count);
  const uint32_t how = number_below(4);
  char *text = malloc(2 * sizeof source);
  char *end = text;
  CHECK(text != NULL);
  for (size_t i = 0; i < count; ++i) {
    const size_t taken = i == changed && how != 0 ? other : i;
    const bool is_lost = i == changed && how == 0;
    const int times = i == changed && how == 3 ? 40 : !is_lost;
    for (int k = 0; k < times; ++k) {
      const size_t length = (size_t)(words[taken + 1] - words[taken]);
      if ((size_t)(end - text) + length < 2 * sizeof source) {
        memcpy(end, words[taken], length);
        end += length;
      }
    }
  }
  *end = '\0';
  return text;
}

TEST(damaged, source_is_an_error_or_compiles) {
  enum { COUNT = 60 };
  use_clang();
  state = 1;
  int wrong = 0;
  for (int i = 0; i < COUNT; ++i) {
    char *text = damaged_source();
    mtli_compiled compiled;
    const mtl_status status = compile_text(text, NULL, &compiled);
    if (status != MTL_OK && status != MTL_COMPILE_FAILED) {
      printf("%s: %s\n%s\n", mtl_status_name(status), mtl_last_error(), text);
    }
    CHECK(status == MTL_OK || status == MTL_COMPILE_FAILED);
    CHECK(status == MTL_OK || mtl_last_error()[0] != '\0');
    wrong += status != MTL_OK;
    mtli_compiled_clear(&compiled);
    free(text);
  }
  CHECK(wrong > COUNT / 4);  // most containers are really damaged
}

// Writes the container again, with a few bits of its IR turned.
static void *damage(const mtli_code *code, size_t *out_size_bytes) {
  mtli_code copy = *code;
  mtli_blob *blobs = calloc(code->blob_count + 1, sizeof *blobs);
  unsigned char *ir = NULL;
  CHECK(blobs != NULL);
  memcpy(blobs, code->blobs, code->blob_count * sizeof *blobs);
  for (size_t i = 0; i < code->blob_count; ++i) {
    if (blobs[i].kind == MTLI_BLOB_IR && !ir) {
      ir = malloc(blobs[i].size_bytes);
      CHECK(ir != NULL);
      memcpy(ir, blobs[i].bytes, blobs[i].size_bytes);
      for (uint32_t k = 1 + number_below(4); k > 0; --k) {
        ir[number_below((uint32_t)blobs[i].size_bytes)] ^=
            (unsigned char)(1u << number_below(8));
      }
      blobs[i].bytes = ir;
    }
  }
  CHECK(ir != NULL);
  copy.blobs = blobs;
  void *bytes;
  CHECK_OK(mtli_code_write(&copy, &bytes, out_size_bytes));
  free(ir);
  free(blobs);
  return bytes;
}

static mtl_status make_pipeline(const void *bytes, size_t size_bytes,
                                mtli_tier tier) {
  const mtli_pipeline_request request = {.library_bytes = bytes,
                                         .library_size_bytes = size_bytes,
                                         .kernel_name = "all",
                                         .tier = tier,
                                         .call_depth = 1,
                                         .group_class = {.row = 32}};
  mtli_compiled pipeline;
  const mtl_status status = mtli_compile_pipeline(&request, &pipeline);
  if (status == MTL_OK) {
    mtli_compiled_clear(&pipeline);
  }
  return status;
}

// Faults of LLVM's reader are damage like other damage, and what it has read is
// checked before it is used. What a turned bit makes huge may still take the
// memory that there is, of which the caller is told.
TEST(damaged, ir_is_an_error_or_compiles) {
  enum { COUNT = 120, MOST_LOST = 1 };
  use_clang();
  setenv("METTLE_COMPILER_SECONDS", "10", 1);
  setenv("METTLE_COMPILER_MEMORY_MB", "1024", 1);
  state = 2;
  mtli_compiled library;
  CHECK_OK(compile_text(source, NULL, &library));
  CHECK_OK(make_pipeline(library.bytes, library.size_bytes, MTLI_TIER_1));
  int refused = 0;
  int lost = 0;
  for (int i = 0; i < COUNT; ++i) {
    size_t size_bytes;
    void *bytes = damage(library.code, &size_bytes);
    const mtl_status status =
        make_pipeline(bytes, size_bytes, i % 2 ? MTLI_TIER_1 : MTLI_TIER_0);
    CHECK(status == MTL_OK || mtl_last_error()[0] != '\0');
    refused += status == MTL_BAD_DATA || status == MTL_UNSUPPORTED;
    if (status == MTL_COMPILER_LOST) {
      printf("%s\n", mtl_last_error());
      ++lost;
    } else {
      CHECK(status == MTL_OK || status == MTL_BAD_DATA ||
            status == MTL_UNSUPPORTED || status == MTL_COMPILE_FAILED);
    }
    free(bytes);
  }
  printf("%d refused, %d lost\n", refused, lost);
  CHECK(refused > COUNT / 4);
  CHECK(lost <= MOST_LOST);
  CHECK_OK(make_pipeline(library.bytes, library.size_bytes, MTLI_TIER_1));
  mtli_compiled_clear(&library);
}
