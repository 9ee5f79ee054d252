// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// container_round_trip.c: a code container gives back what was put in, and
// refuses whatever else it is given.
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "code/code.h"
#include "harness/test.h"

// A library's code with one of everything in it.
static const mtl_member inner[] = {
    {"x", "float", MTL_TYPE_FLOAT, 1, 1, 0, 4, 1, NULL, 0},
};
static const mtl_member members[] = {
    {"count", "uint", MTL_TYPE_UINT, 1, 1, 0, 4, 1, NULL, 0},
    {"inner", "Inner", MTL_TYPE_NONE, 0, 1, 8, 4, 2, inner, 1},
    {"m", "half2x2", MTL_TYPE_HALF, 2, 2, 16, 8, 1, NULL, 0},
};

static mtli_parameter parameters[] = {
    {.argument = {.name = "x",
                  .kind = MTL_ARGUMENT_BUFFER,
                  .index = 30,
                  .access = MTL_ACCESS_READ_WRITE,
                  .type_name = "float4",
                  .type = MTL_TYPE_FLOAT,
                  .components = 4,
                  .size_bytes = 16,
                  .alignment_bytes = 16,
                  .is_active = true},
     .enabling_constant = 1},
    {.argument = {.name = "i", .type_name = "", .is_active = true},
     .builtin = MTLI_THREAD_POSITION_IN_GRID,
     .builtin_components = 3,
     .builtin_component_bytes = 4,
     .enabling_constant = -1},
    {.argument = {.name = "parameters",
                  .kind = MTL_ARGUMENT_BUFFER,
                  .index = 0,
                  .access = MTL_ACCESS_READ_ONLY,
                  .type_name = "Parameters",
                  .size_bytes = 24,
                  .alignment_bytes = 8,
                  .is_reference = true,
                  .is_active = true,
                  .members = members,
                  .member_count = 3},
     .is_constant = true,
     .enabling_constant = -1},
};

static mtli_kernel kernels[] = {
    {.name = "scale",
     .symbol = "mettle.kernel.0",
     .file = "scale.metal",
     .line = 7,
     .parameters = parameters,
     .parameter_count = 2,
     .max_total_threads_per_threadgroup = 256,
     .static_threadgroup_bytes = 1024,
     .tier = MTLI_TIER_1,
     .group_class = {16, true, true, true, true, true, 9, 2},
     .facts = {.depends_on_row = true,
               .depends_on_uneven = true,
               .depends_on_whole = true,
               .depends_on_far = true,
               .any_groups = true,
               .is_brief = true,
               .shares_rows = true}},
    {.name = "nothing", .symbol = "mettle.kernel.1", .file = "scale.metal"},
    {.name = "add",
     .symbol = "mettle.kernel.2",
     .file = "scale.metal",
     .line = 4000000000u,
     .parameters = parameters + 2,
     .parameter_count = 1},
};

static mtli_constant constants[] = {
    {.info = {.name = "width",
              .index = 3,
              .type = MTL_TYPE_UINT,
              .components = 2,
              .required = true},
     .symbol = "constant.width"},
    {.info = {.name = "biased",
              .index = 65535,
              .type = MTL_TYPE_BOOL,
              .components = 1},
     .symbol = "constant.biased"},
};

static mtli_blob blobs[] = {
    {.kind = MTLI_BLOB_IR,
     .target = "",
     .bytes = "BC\xC0\xDE",
     .size_bytes = 4},
    {.kind = MTLI_BLOB_ELF,
     .target = "x86_64 avx2",
     .bytes = "\x7F"
              "ELF and more than sixteen",
     .size_bytes = 26},
    {.kind = MTLI_BLOB_REPORT, .target = "", .bytes = "", .size_bytes = 0},
};

static const mtli_code whole = {.language_version = MTL_LANGUAGE_3_1,
                                .math_mode = MTL_MATH_SAFE,
                                .debug = true,
                                .warnings = "a.metal:1:1: warning: \xC3\xA4",
                                .other_functions = "vertex main0\n",
                                .kernels = kernels,
                                .kernel_count = 3,
                                .constants = constants,
                                .constant_count = 2,
                                .blobs = blobs,
                                .blob_count = 3};

typedef struct encoded {
  unsigned char *bytes;
  size_t size_bytes;
} encoded;

static encoded encode(const mtli_code *code) {
  void *bytes;
  encoded result;
  CHECK_OK(mtli_code_write(code, &bytes, &result.size_bytes));
  result.bytes = bytes;
  return result;
}

// Makes the checksum right again after a change, as a forger would.
static void repair_checksum(encoded *container) {
  XXH128_canonical_t checksum;
  const size_t covered = container->size_bytes - sizeof checksum;
  XXH128_canonicalFromHash(&checksum, XXH3_128bits(container->bytes, covered));
  memcpy(container->bytes + covered, &checksum, sizeof checksum);
}

static void check_refused(const encoded *container, size_t size_bytes,
                          const char *part) {
  mtli_arena arena = {0};
  mtli_code *code;
  CHECK_ERROR(mtli_code_read(container->bytes, size_bytes, &arena, &code),
              MTL_BAD_DATA, part);
  CHECK(code == NULL);
  mtli_arena_clear(&arena);
}

static void check_first_parameter(const mtli_parameter *parameter) {
  CHECK_TEXT(parameter->argument.name, "x");
  CHECK_TEXT(parameter->argument.type_name, "float4");
  CHECK_EQUAL(parameter->argument.kind, MTL_ARGUMENT_BUFFER);
  CHECK_EQUAL(parameter->argument.index, 30);
  CHECK_EQUAL(parameter->argument.access, MTL_ACCESS_READ_WRITE);
  CHECK_EQUAL(parameter->argument.type, MTL_TYPE_FLOAT);
  CHECK_EQUAL(parameter->argument.components, 4);
  CHECK_EQUAL(parameter->argument.size_bytes, 16);
  CHECK_EQUAL(parameter->argument.alignment_bytes, 16);
  CHECK(!parameter->argument.is_reference);
  CHECK(!parameter->is_constant);
  CHECK(parameter->argument.is_active);
  CHECK_EQUAL(parameter->builtin, MTLI_BUILTIN_NONE);
  CHECK_EQUAL(parameter->enabling_constant, 1);
}

static void check_kernels(const mtli_code *code) {
  CHECK_EQUAL(code->kernel_count, 3);
  const mtli_kernel *scale = &code->kernels[0];
  CHECK_TEXT(scale->name, "scale");
  CHECK_TEXT(scale->symbol, "mettle.kernel.0");
  CHECK_TEXT(scale->file, "scale.metal");
  CHECK_EQUAL(scale->line, 7);
  CHECK_EQUAL(scale->max_total_threads_per_threadgroup, 256);
  CHECK_EQUAL(scale->static_threadgroup_bytes, 1024);
  CHECK_EQUAL(scale->tier, MTLI_TIER_1);
  CHECK_EQUAL(scale->group_class.row, 16);
  CHECK(scale->group_class.is_exact);
  CHECK(scale->group_class.is_single);
  CHECK(scale->group_class.is_uneven);
  CHECK(scale->group_class.is_whole);
  CHECK(scale->group_class.is_far);
  CHECK_EQUAL(scale->group_class.simdgroups, 9);
  CHECK_EQUAL(scale->group_class.row_dimension, 2);
  CHECK(scale->facts.depends_on_uneven);
  CHECK(scale->facts.depends_on_whole);
  CHECK(scale->facts.depends_on_far);
  CHECK(scale->facts.any_groups);
  CHECK(scale->facts.is_brief);
  CHECK(scale->facts.shares_rows);
  CHECK(scale->facts.depends_on_row);
  CHECK(!scale->facts.depends_on_single);
  CHECK_EQUAL(scale->parameter_count, 2);
  check_first_parameter(&scale->parameters[0]);
  CHECK_EQUAL(scale->parameters[1].builtin, MTLI_THREAD_POSITION_IN_GRID);
  CHECK_EQUAL(scale->parameters[1].builtin_components, 3);
  CHECK_EQUAL(scale->parameters[1].builtin_component_bytes, 4);
  CHECK_EQUAL(scale->parameters[1].enabling_constant, -1);
  CHECK_EQUAL(code->kernels[1].parameter_count, 0);
  const mtli_kernel *add = mtli_code_find_kernel(code, "add");
  CHECK(add == &code->kernels[2]);
  CHECK_EQUAL(add->line, 4000000000u);
  CHECK_TEXT(add->parameters[0].argument.type_name, "Parameters");
  CHECK(add->parameters[0].argument.is_reference);
  CHECK(add->parameters[0].is_constant);
  CHECK_EQUAL(scale->parameters[0].argument.member_count, 0);
  CHECK_EQUAL(add->parameters[0].argument.member_count, 3);
  const mtl_member *read = add->parameters[0].argument.members;
  CHECK_TEXT(read[0].name, "count");
  CHECK_EQUAL(read[1].array_length, 2);
  CHECK_EQUAL(read[1].member_count, 1);
  CHECK_TEXT(read[1].members[0].type_name, "float");
  CHECK_EQUAL(read[2].type, MTL_TYPE_HALF);
  CHECK_EQUAL(read[2].columns, 2);
  CHECK_EQUAL(read[2].offset_bytes, 16);
  CHECK_EQUAL(read[2].size_bytes, 8);
  CHECK(mtli_code_find_kernel(code, "ad") == NULL);
}

TEST(container, gives_back_what_was_written) {
  encoded container = encode(&whole);
  CHECK(memcmp(container.bytes, "MTLCODE", 8) == 0);
  mtli_arena arena = {0};
  mtli_code *code;
  CHECK_OK(
      mtli_code_read(container.bytes, container.size_bytes, &arena, &code));
  CHECK_EQUAL(code->language_version, MTL_LANGUAGE_3_1);
  CHECK_EQUAL(code->math_mode, MTL_MATH_SAFE);
  CHECK(code->debug);
  CHECK_TEXT(code->warnings, "a.metal:1:1: warning: \xC3\xA4");
  CHECK_TEXT(code->other_functions, "vertex main0\n");
  check_kernels(code);
  CHECK_EQUAL(code->constant_count, 2);
  CHECK_TEXT(code->constants[0].info.name, "width");
  CHECK_TEXT(code->constants[0].symbol, "constant.width");
  CHECK_EQUAL(code->constants[0].info.type, MTL_TYPE_UINT);
  CHECK_EQUAL(code->constants[0].info.components, 2);
  CHECK(code->constants[0].info.required);
  CHECK_EQUAL(code->constants[1].info.index, 65535);
  CHECK(!code->constants[1].info.required);
  mtli_arena_clear(&arena);
  free(container.bytes);
}

TEST(container, keeps_blobs_in_place_and_aligned) {
  encoded container = encode(&whole);
  mtli_arena arena = {0};
  mtli_code *code;
  CHECK_OK(
      mtli_code_read(container.bytes, container.size_bytes, &arena, &code));
  const mtli_blob *elf = mtli_code_find_blob(code, MTLI_BLOB_ELF);
  CHECK_TEXT(elf->target, "x86_64 avx2");
  CHECK_EQUAL(elf->size_bytes, 26);
  CHECK(memcmp(elf->bytes,
               "\x7F"
               "ELF and more than sixteen",
               26) == 0);
  const size_t offset =
      (size_t)((const unsigned char *)elf->bytes - container.bytes);
  CHECK(offset < container.size_bytes);
  CHECK_EQUAL(offset % 16, 0);
  CHECK_EQUAL(mtli_code_find_blob(code, MTLI_BLOB_REPORT)->size_bytes, 0);
  CHECK(mtli_code_find_blob(code, MTLI_BLOB_PTX) == NULL);
  mtli_arena_clear(&arena);
  free(container.bytes);
}

TEST(container, may_be_empty) {
  encoded container = encode(&(mtli_code){0});
  mtli_arena arena = {0};
  mtli_code *code;
  CHECK_OK(
      mtli_code_read(container.bytes, container.size_bytes, &arena, &code));
  CHECK_EQUAL(code->kernel_count, 0);
  CHECK_TEXT(code->warnings, "");
  mtli_arena_clear(&arena);
  free(container.bytes);
}

TEST(container, is_the_same_bytes_every_time) {
  encoded first = encode(&whole);
  encoded second = encode(&whole);
  CHECK_EQUAL(first.size_bytes, second.size_bytes);
  CHECK(memcmp(first.bytes, second.bytes, first.size_bytes) == 0);
  free(first.bytes);
  free(second.bytes);
}

// No member may lie outside its structure, or have more members than there are.
TEST(container, refuses_members_that_make_no_sense) {
  const mtl_member ring[] = {
      {"a", "A", MTL_TYPE_NONE, 0, 1, 0, 24, 1, NULL, 0}};
  mtl_member deep[40];
  for (size_t i = 0; i < 40; i++) {
    deep[i] = ring[0];
    deep[i].members = &deep[i + 1];
    deep[i].member_count = i + 1 < 40;
  }
  const struct {
    mtl_member member;
    const char *part;
  } cases[] = {
      {{"a", "A", MTL_TYPE_UINT, 1, 1, 24, 4, 1, NULL, 0}, "the end of"},
      {{"a", "A", MTL_TYPE_UINT, 1, 1, 0, 4, 7, NULL, 0}, "the end of"},
      {{"a", "A", MTL_TYPE_UINT, 4, 1, 0, 8, 1, NULL, 0}, "the size"},
      {{"a", "A", MTL_TYPE_UINT, 5, 1, 0, 20, 1, NULL, 0}, "components"},
      {{"a", "A", MTL_TYPE_UINT, 1, 0, 0, 4, 1, NULL, 0}, "columns"},
      {{"a", "A", (mtl_data_type)99, 1, 1, 0, 4, 1, NULL, 0}, "the type"},
      {{"a", "A", MTL_TYPE_UINT, 1, 1, 0, 4, 1, ring, 1}, "members"},
      {deep[0], "the count of members"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    mtli_parameter parameter = parameters[2];
    parameter.argument.members = &cases[i].member;
    parameter.argument.member_count = 1;
    mtli_kernel kernel = kernels[2];
    kernel.parameters = &parameter;
    void *bytes;
    size_t size_bytes;
    CHECK_ERROR(
        mtli_code_write(&(mtli_code){.kernels = &kernel, .kernel_count = 1},
                        &bytes, &size_bytes),
        MTL_BAD_DATA, cases[i].part);
  }
}

TEST(container, refuses_every_truncation) {
  encoded container = encode(&whole);
  for (size_t size = 0; size < container.size_bytes; ++size) {
    // An exact copy, so that a sanitizer sees a read past its end.
    encoded cut = {malloc(size ? size : 1), size};
    memcpy(cut.bytes, container.bytes, size);
    check_refused(&cut, size, "");
    free(cut.bytes);
  }
  free(container.bytes);
}

TEST(container, refuses_every_flipped_bit) {
  encoded container = encode(&whole);
  for (size_t bit = 0; bit < container.size_bytes * 8; ++bit) {
    container.bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
    check_refused(&container, container.size_bytes, "");
    container.bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
  }
  free(container.bytes);
}

TEST(container, refuses_bytes_behind_its_end) {
  encoded container = encode(&whole);
  container.bytes = realloc(container.bytes, container.size_bytes + 1);
  container.bytes[container.size_bytes] = 0;
  check_refused(&container, container.size_bytes + 1, "at offset 16");
  free(container.bytes);
}

TEST(container, says_what_is_wrong_and_where) {
  encoded container = encode(&whole);
  const unsigned char version = container.bytes[8];
  container.bytes[8] = 99;
  check_refused(&container, container.size_bytes, "format version 99");
  container.bytes[8] = version;
  container.bytes[200] ^= 1;
  check_refused(&container, container.size_bytes, "checksum");
  container.bytes[0] = 'X';
  check_refused(&container, container.size_bytes, "not a code container");
  free(container.bytes);
}

// With the checksum repaired any change must either be refused or give code
// that is safe to walk through.
TEST(container, is_safe_with_any_byte_forged) {
  encoded container = encode(&whole);
  const unsigned char values[] = {0x00, 0x01, 0x7F, 0x80, 0xFF};
  for (size_t i = 0; i + 16 < container.size_bytes; ++i) {
    const unsigned char kept = container.bytes[i];
    for (size_t v = 0; v < sizeof values; ++v) {
      container.bytes[i] = values[v];
      repair_checksum(&container);
      mtli_arena arena = {0};
      mtli_code *code;
      const mtl_status status =
          mtli_code_read(container.bytes, container.size_bytes, &arena, &code);
      CHECK(status == MTL_OK || status == MTL_BAD_DATA);
      for (size_t k = 0; code && k < code->kernel_count; ++k) {
        CHECK(strlen(code->kernels[k].name) < container.size_bytes);
        for (size_t p = 0; p < code->kernels[k].parameter_count; ++p) {
          const mtli_parameter *parameter = &code->kernels[k].parameters[p];
          CHECK(strlen(parameter->argument.type_name) < container.size_bytes);
          CHECK(parameter->argument.index < 128);
        }
      }
      mtli_arena_clear(&arena);
    }
    container.bytes[i] = kept;
  }
  free(container.bytes);
}

TEST(container, refuses_to_write_what_it_could_not_read) {
  mtli_blob blob = {.kind = (mtli_blob_kind)7, .target = "", .bytes = ""};
  mtli_code code = {.blobs = &blob, .blob_count = 1};
  void *bytes;
  size_t size_bytes;
  CHECK_ERROR(mtli_code_write(&code, &bytes, &size_bytes), MTL_BAD_DATA,
              "the kind is 7");
  CHECK(bytes == NULL);
}
