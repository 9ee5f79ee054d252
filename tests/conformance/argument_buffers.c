// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// argument_buffers.c: structs with resources, filled by argument encoders and
// by hand.
#include <string.h>

#include "conformance.h"

static const char source[] =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "struct Inner { device float *p [[id(0)]]; float k [[id(1)]]; };\n"
    "struct Arguments {\n"
    "  device float *a [[id(3)]];\n"
    "  constant float *b;\n"
    "  array<device float *, 3> c [[id(10)]];\n"
    "  float scale [[id(20)]];\n"
    "  Inner inner[2] [[id(30)]];\n"
    "  device Inner *list [[id(40)]];\n"
    "  float4 v [[id(50)]];\n"
    "};\n"
    "kernel void add(constant Arguments &x [[buffer(2)]],\n"
    "                device float *out [[buffer(0)]],\n"
    "                uint i [[thread_position_in_grid]]) {\n"
    "  out[i] = x.a[i] + x.b[i] + x.c[2][i] * x.scale +\n"
    "           x.inner[1].p[i] * x.inner[1].k +\n"
    "           x.list[1].p[i] * x.list[1].k + x.v.w;\n"
    "}\n"
    "kernel void many(device const Inner *x [[buffer(0)]],\n"
    "                 device float *out [[buffer(1)]],\n"
    "                 uint i [[thread_position_in_grid]]) {\n"
    "  out[i] = x[i].p[0] * x[i].k;\n"
    "}\n"
    "struct Plain { float x; int y; };\n"
    "kernel void plain(constant Plain &p [[buffer(0)]]) {}\n"
    "struct Resources { texture2d<float> t; sampler s; device float *p; };\n"
    "kernel void read(constant Resources &r [[buffer(0)]]) {\n"
    "  r.p[0] = r.t.read(uint2(1, 0)).x;\n"
    "}\n"
    "struct Node { device Node *next; float value; };\n"
    "kernel void walk(device Node *n [[buffer(0)]],\n"
    "                 device float *out [[buffer(1)]]) {\n"
    "  float sum = 0;\n"
    "  for (; n; n = n->next) sum += n->value;\n"
    "  out[0] = sum;\n"
    "}\n";

static void release_encoder(void *encoder) {
  mtl_argument_encoder_release(encoder);
}

static mtl_argument_encoder *later(mtl_argument_encoder *encoder) {
  test_defer(release_encoder, encoder);
  return encoder;
}

static mtl_argument_encoder *encoder_of(mtl_library *library, const char *name,
                                        uint32_t index) {
  mtl_argument_encoder *encoder = NULL;
  CHECK_OK(mtl_argument_encoder_create(new_function(library, name), index,
                                       &encoder));
  return later(encoder);
}

static void set_float(mtl_argument_encoder *encoder, uint32_t id, float value) {
  float *place = mtl_argument_encoder_constant_data(encoder, id);
  CHECK(place != NULL);
  *place = value;
}

// Dispatches grid threads with buffers 0 and 1 or 2 bound and the rest used.
static void run_using(mtl_library *library, const char *name,
                      mtl_buffer *const *bound, const uint32_t *indices,
                      size_t bound_count, mtl_buffer *const *used,
                      size_t used_count, uint32_t grid) {
  mtl_command_buffer *commands = new_commands(new_queue());
  mtl_compute_encoder *encoder = new_encoder(commands);
  mtl_compute_encoder_set_pipeline(encoder, new_pipeline_from(library, name));
  for (size_t i = 0; i < bound_count; i++) {
    mtl_compute_encoder_set_buffer(encoder, bound[i], 0, indices[i]);
  }
  for (size_t i = 0; i < used_count; i++) {
    mtl_compute_encoder_use_buffer(encoder, used[i],
                                   MTL_USAGE_READ | MTL_USAGE_WRITE);
  }
  mtl_compute_encoder_dispatch_threads(encoder, size_of(grid, 1, 1),
                                       size_of(grid, 1, 1));
  end(encoder);
  finish(commands);
}

TEST(argument_buffers, lie_as_their_struct_does) {
  mtl_argument_encoder *encoder =
      encoder_of(new_library(source), "add", 2);
  // a, b, c[3]: 40; scale and padding: 8; inner: 2 * 16; list: 8; to 16: 8;
  // v: 16.
  CHECK_EQUAL(mtl_argument_encoder_encoded_length(encoder), 112);
  CHECK_EQUAL(mtl_argument_encoder_alignment(encoder), 16);
  mtl_buffer *target = new_buffer(112);
  mtl_buffer *buffer = new_buffer(64);
  CHECK_OK(mtl_argument_encoder_set_argument_buffer(encoder, target, 0));
  const char *bytes = mtl_buffer_contents(target);
  static const struct {
    uint32_t id;
    size_t offset;
  } pointers[] = {{3, 0},   {4, 8},   {10, 16}, {11, 24},
                  {12, 32}, {30, 48}, {32, 64}, {40, 80}};
  for (size_t i = 0; i < sizeof pointers / sizeof *pointers; i++) {
    CHECK_OK(mtl_argument_encoder_set_buffer(encoder, buffer, 4 * i,
                                             pointers[i].id));
    uint64_t address = 0;
    memcpy(&address, bytes + pointers[i].offset, sizeof address);
    CHECK_EQUAL(address, mtl_buffer_gpu_address(buffer) + 4 * i);
  }
  CHECK(mtl_argument_encoder_constant_data(encoder, 20) == bytes + 40);
  CHECK(mtl_argument_encoder_constant_data(encoder, 31) == bytes + 56);
  CHECK(mtl_argument_encoder_constant_data(encoder, 33) == bytes + 72);
  CHECK(mtl_argument_encoder_constant_data(encoder, 50) == bytes + 96);
}

TEST(argument_buffers, encoded_members_reach_the_kernel) {
  mtl_library *library = new_library(source);
  mtl_argument_encoder *encoder = encoder_of(library, "add", 2);
  const float ones[] = {1, 2}, tens[] = {0, 10, 20};
  mtl_buffer *a = BUFFER_OF(ones), *b = BUFFER_OF(tens);
  mtl_argument_encoder *nested = NULL;
  CHECK_OK(mtl_argument_encoder_create_nested(encoder, 40, &nested));
  later(nested);
  CHECK_EQUAL(mtl_argument_encoder_encoded_length(nested), 16);
  mtl_buffer *list = new_buffer(32), *target = new_buffer(256);
  CHECK_OK(mtl_argument_encoder_set_argument_buffer(nested, list, 16));
  CHECK_OK(mtl_argument_encoder_set_buffer(nested, a, 0, 0));
  set_float(nested, 1, 100);
  CHECK_OK(mtl_argument_encoder_set_argument_buffer(encoder, target, 0));
  CHECK_OK(mtl_argument_encoder_set_buffer(encoder, a, 0, 3));
  CHECK_OK(mtl_argument_encoder_set_buffer(encoder, b, 4, 4));
  CHECK_OK(mtl_argument_encoder_set_buffer(encoder, a, 0, 12));
  CHECK_OK(mtl_argument_encoder_set_buffer(encoder, a, 0, 32));
  CHECK_OK(mtl_argument_encoder_set_buffer(encoder, list, 0, 40));
  set_float(encoder, 20, 1000);
  set_float(encoder, 33, 0.5f);
  const float v[] = {1, 2, 3, 10000};
  memcpy(mtl_argument_encoder_constant_data(encoder, 50), v, sizeof v);
  mtl_buffer *out = new_buffer(8);
  run_using(library, "add", (mtl_buffer *[]){out, target}, (uint32_t[]){0, 2},
            2, (mtl_buffer *[]){a, b, list}, 3, 2);
  // a + b + 1000 a + a / 2 + 100 a + 10000
  CHECK(floats(out)[0] == 1 + 10 + 1000 + 0.5f + 100 + 10000);
  CHECK(floats(out)[1] == 2 + 20 + 2000 + 1 + 200 + 10000);
}

TEST(argument_buffers, stand_in_arrays) {
  mtl_library *library = new_library(source);
  mtl_argument_encoder *encoder = encoder_of(library, "many", 0);
  const size_t stride = mtl_argument_encoder_encoded_length(encoder);
  mtl_buffer *target = new_buffer(3 * stride);
  const float values[] = {5, 6, 7};
  mtl_buffer *data = BUFFER_OF(values), *out = new_buffer(12);
  for (uint32_t i = 0; i < 3; i++) {
    CHECK_OK(mtl_argument_encoder_set_argument_buffer(encoder, target,
                                                      i * stride));
    CHECK_OK(mtl_argument_encoder_set_buffer(encoder, data, 4 * i, 0));
    set_float(encoder, 1, (float)(i + 1));
  }
  run_using(library, "many", (mtl_buffer *[]){target, out},
            (uint32_t[]){0, 1}, 2, &data, 1, 3);
  CHECK(floats(out)[0] == 5);
  CHECK(floats(out)[1] == 12);
  CHECK(floats(out)[2] == 21);
}

TEST(argument_buffers, hold_textures_and_samplers) {
  mtl_library *library = new_library(source);
  mtl_argument_encoder *encoder = encoder_of(library, "read", 0);
  mtl_texture *texture = NULL;
  CHECK_OK(mtl_texture_create(
      the_device(),
      &(mtl_texture_desc){.type = MTL_TEXTURE_2D,
                          .pixel_format = MTL_FORMAT_R32_FLOAT,
                          .width = 2,
                          .height = 1,
                          .usage = MTL_TEXTURE_USAGE_SHADER_READ},
      &texture));
  const float texels[] = {3, 8};
  CHECK_OK(mtl_texture_replace_region(
      texture, (mtl_region){0, 0, 0, 2, 1, 1}, 0, 0, texels, 8, 0));
  mtl_sampler *sampler = NULL;
  CHECK_OK(mtl_sampler_create(the_device(), &(mtl_sampler_desc){0}, &sampler));
  mtl_buffer *out = new_buffer(4), *target = new_buffer(64);
  CHECK_OK(mtl_argument_encoder_set_argument_buffer(encoder, target, 0));
  CHECK_OK(mtl_argument_encoder_set_texture(encoder, texture, 0));
  CHECK_OK(mtl_argument_encoder_set_sampler(encoder, sampler, 1));
  CHECK_OK(mtl_argument_encoder_set_buffer(encoder, out, 0, 2));
  uint64_t word = 0;
  memcpy(&word, (char *)mtl_buffer_contents(target) + 8, sizeof word);
  CHECK(word == mtl_sampler_resource_id(sampler));
  mtl_command_buffer *commands = new_commands(new_queue());
  mtl_compute_encoder *compute = new_encoder(commands);
  mtl_compute_encoder_set_pipeline(compute,
                                   new_pipeline_from(library, "read"));
  mtl_compute_encoder_set_buffer(compute, target, 0, 0);
  mtl_compute_encoder_use_buffer(compute, out, MTL_USAGE_WRITE);
  mtl_compute_encoder_use_texture(compute, texture, MTL_USAGE_READ);
  mtl_compute_encoder_dispatch_threads(compute, size_of(1, 1, 1),
                                       size_of(1, 1, 1));
  end(compute);
  finish(commands);
  CHECK(floats(out)[0] == 8);
  mtl_texture_release(texture);
  mtl_sampler_release(sampler);
}

TEST(argument_buffers, written_by_hand_form_lists) {
  typedef struct node {
    uint64_t next;
    float value;
  } node;
  mtl_buffer *nodes = new_buffer(3 * sizeof(node)), *out = new_buffer(4);
  node *list = mtl_buffer_contents(nodes);
  const uint64_t address = mtl_buffer_gpu_address(nodes);
  list[0] = (node){address + 2 * sizeof(node), 1};
  list[2] = (node){address + sizeof(node), 20};
  list[1] = (node){0, 300};
  run_using(new_library(source), "walk", (mtl_buffer *[]){nodes, out},
            (uint32_t[]){0, 1}, 2, NULL, 0, 1);
  CHECK(floats(out)[0] == 321);
}

TEST(argument_buffers, wrong_uses_are_told) {
  mtl_library *library = new_library(source);
  mtl_argument_encoder *encoder = encoder_of(library, "add", 2), *none = NULL;
  mtl_function *plain = new_function(library, "plain");
  CHECK_ERROR(mtl_argument_encoder_create(plain, 0, &none),
              MTL_INVALID_ARGUMENT, "'p' [[buffer(0)]]");
  CHECK_ERROR(mtl_argument_encoder_create(plain, 7, &none), MTL_NOT_FOUND,
              "[[buffer(7)]]");
  CHECK(none == NULL);
  mtl_buffer *buffer = new_buffer(112);
  CHECK_ERROR(mtl_argument_encoder_set_buffer(encoder, buffer, 0, 3),
              MTL_INVALID_STATE, "no argument buffer is set");
  CHECK_ERROR(mtl_argument_encoder_set_argument_buffer(encoder, buffer, 8),
              MTL_INVALID_ARGUMENT, "112 bytes at offset 8");
  CHECK_OK(mtl_argument_encoder_set_argument_buffer(encoder, buffer, 0));
  CHECK_ERROR(mtl_argument_encoder_set_buffer(encoder, buffer, 0, 5),
              MTL_NOT_FOUND, "no member has id 5");
  CHECK_ERROR(mtl_argument_encoder_set_buffer(encoder, buffer, 0, 20),
              MTL_INVALID_ARGUMENT, "member 20 is a constant, not a buffer");
  CHECK_ERROR(mtl_argument_encoder_set_buffer(encoder, buffer, 113, 3),
              MTL_INVALID_ARGUMENT, "past the end");
  CHECK(mtl_argument_encoder_constant_data(encoder, 3) == NULL);
  CHECK_ERROR(mtl_argument_encoder_create_nested(encoder, 3, &none),
              MTL_INVALID_ARGUMENT, "member 3 points to no struct");
  CHECK_OK(mtl_argument_encoder_set_buffer(encoder, NULL, 0, 3));
}

TEST(argument_buffers, tell_where_members_lie) {
  mtl_argument_encoder *encoder = encoder_of(new_library(source), "add", 2);
  static const mtl_argument_member expected[] = {
      {"a", 3, 1, MTL_MEMBER_BUFFER, 0, 8},
      {"b", 4, 1, MTL_MEMBER_BUFFER, 8, 8},
      {"c", 10, 3, MTL_MEMBER_BUFFER, 16, 8},
      {"scale", 20, 1, MTL_MEMBER_CONSTANT, 40, 4},
      {"inner[0].p", 30, 1, MTL_MEMBER_BUFFER, 48, 8},
      {"inner[0].k", 31, 1, MTL_MEMBER_CONSTANT, 56, 4},
      {"inner[1].p", 32, 1, MTL_MEMBER_BUFFER, 64, 8},
      {"inner[1].k", 33, 1, MTL_MEMBER_CONSTANT, 72, 4},
      {"list", 40, 1, MTL_MEMBER_BUFFER, 80, 8},
      {"v", 50, 1, MTL_MEMBER_CONSTANT, 96, 16},
  };
  size_t count = 0;
  const mtl_argument_member *members =
      mtl_argument_encoder_members(encoder, &count);
  CHECK_EQUAL(count, COUNT_OF(expected));
  for (size_t i = 0; i < count; i++) {
    CHECK_TEXT(members[i].name, expected[i].name);
    CHECK_EQUAL(members[i].id, expected[i].id);
    CHECK_EQUAL(members[i].count, expected[i].count);
    CHECK_EQUAL(members[i].kind, expected[i].kind);
    CHECK_EQUAL(members[i].offset_bytes, expected[i].offset_bytes);
    CHECK_EQUAL(members[i].element_bytes, expected[i].element_bytes);
  }
}

TEST(argument_buffers, offsets_by_id_and_by_name) {
  mtl_argument_encoder *encoder = encoder_of(new_library(source), "add", 2);
  size_t offset = 0;
  CHECK_OK(mtl_argument_encoder_offset(encoder, 12, &offset));
  CHECK_EQUAL(offset, 32);
  CHECK_OK(mtl_argument_encoder_offset(encoder, 50, &offset));
  CHECK_EQUAL(offset, 96);
  CHECK_ERROR(mtl_argument_encoder_offset(encoder, 13, &offset), MTL_NOT_FOUND,
              "no member has id 13");
  const mtl_argument_member *member = NULL;
  CHECK_OK(mtl_argument_encoder_find(encoder, "inner[1].k", &member));
  CHECK_EQUAL(member->offset_bytes, 72);
  CHECK_ERROR(mtl_argument_encoder_find(encoder, "k", &member), MTL_NOT_FOUND,
              "'k'");
  CHECK_ERROR(mtl_argument_encoder_find(encoder, "", &member), MTL_NOT_FOUND,
              "''");
  CHECK(member == NULL);
  mtl_argument_encoder *nested = NULL;
  CHECK_OK(mtl_argument_encoder_create_nested(encoder, 40, &nested));
  (void)later(nested);
  CHECK_OK(mtl_argument_encoder_find(nested, "k", &member));
  CHECK_EQUAL(member->offset_bytes, 8);
  CHECK_EQUAL(member->id, 1);
}

static mtl_argument_encoder *encoder_from(const mtl_argument_desc *descs,
                                          size_t count) {
  mtl_argument_encoder *encoder = NULL;
  CHECK_OK(mtl_argument_encoder_create_from_descs(the_device(), descs, count,
                                                  &encoder));
  return later(encoder);
}

// A struct's bases hold members like its own, in front of them.
TEST(argument_buffers, bases_have_members) {
  mtl_library *library = new_library(
      "#include <metal_stdlib>\n"
      "using namespace metal;\n"
      "struct Root { float scale; device const float *a [[id(2)]]; };\n"
      "struct Middle : Root { float shift; };\n"
      "struct Other { device const float *b [[id(7)]]; };\n"
      "struct Arguments : Middle, Other {\n"
      "  device const float *c;\n"
      "  float last [[id(20)]];\n"
      "};\n"
      "kernel void add(constant Arguments &x [[buffer(0)]],\n"
      "                device float *out [[buffer(1)]],\n"
      "                uint i [[thread_position_in_grid]]) {\n"
      "  out[i] = x.a[i] * x.scale + x.shift + x.b[i] + x.c[i] + x.last;\n"
      "}\n");
  mtl_argument_encoder *encoder = encoder_of(library, "add", 0);
  // scale and padding: 8; a: 8; shift and padding: 8; b: 8; c: 8; last and
  // padding: 8.
  CHECK_EQUAL(mtl_argument_encoder_encoded_length(encoder), 48);
  const float ones[] = {1, 2}, tens[] = {10, 20}, hundreds[] = {100, 200};
  mtl_buffer *used[] = {BUFFER_OF(ones), BUFFER_OF(tens), BUFFER_OF(hundreds)};
  mtl_buffer *target = new_buffer(48), *out = new_buffer(8);
  CHECK_OK(mtl_argument_encoder_set_argument_buffer(encoder, target, 0));
  const char *bytes = mtl_buffer_contents(target);
  static const struct {
    uint32_t id;
    size_t offset;
  } floats[] = {{0, 0}, {3, 16}, {20, 40}}, pointers[] = {{2, 8}, {7, 24},
                                                          {8, 32}};
  for (size_t i = 0; i < 3; i++) {
    CHECK(mtl_argument_encoder_constant_data(encoder, floats[i].id) ==
          bytes + floats[i].offset);
    CHECK_OK(mtl_argument_encoder_set_buffer(encoder, used[i], 0,
                                             pointers[i].id));
    uint64_t address = 0;
    memcpy(&address, bytes + pointers[i].offset, sizeof address);
    CHECK_EQUAL(address, mtl_buffer_gpu_address(used[i]));
  }
  set_float(encoder, 0, 3);
  set_float(encoder, 3, 0.5f);
  set_float(encoder, 20, 1000);
  run_using(library, "add", (mtl_buffer *[]){target, out},
            (uint32_t[]){0, 1}, 2, used, 3, 2);
  const float *sums = mtl_buffer_contents(out);
  CHECK(sums[0] == 1113.5f);  // 1 * 3 + 0.5 + 10 + 100 + 1000
  CHECK(sums[1] == 1226.5f);
}

// The layout is MSL's for a struct of the same members.
TEST(argument_buffers, descriptors_lay_out_as_msl_does) {
  static const mtl_argument_desc descs[] = {
      {.id = 7, .type = MTL_TYPE_FLOAT, .components = 3},
      {.id = 0, .kind = MTL_MEMBER_BUFFER},
      {.id = 1, .type = MTL_TYPE_HALF},
      {.id = 2, .kind = MTL_MEMBER_TEXTURE, .array_length = 3},
      {.id = 5, .kind = MTL_MEMBER_SAMPLER},
      {.id = 6, .type = MTL_TYPE_CHAR, .array_length = 1},
      {.id = 8, .type = MTL_TYPE_FLOAT, .components = 4, .columns = 4},
      {.id = 9, .type = MTL_TYPE_UINT, .alignment_bytes = 64},
      {.id = 10, .kind = MTL_MEMBER_FUNCTION_TABLE},
  };
  static const size_t offsets[] = {0, 8, 16, 24, 32, 40, 48, 64, 80, 192, 200};
  mtl_argument_encoder *encoder = encoder_from(descs, COUNT_OF(descs));
  for (uint32_t id = 0; id < COUNT_OF(offsets); id++) {
    size_t offset = 0;
    CHECK_OK(mtl_argument_encoder_offset(encoder, id, &offset));
    CHECK_EQUAL(offset, offsets[id]);
  }
  // 192 lies on a multiple of 64; the whole is rounded up to that.
  CHECK_EQUAL(mtl_argument_encoder_alignment(encoder), 64);
  CHECK_EQUAL(mtl_argument_encoder_encoded_length(encoder), 256);
}

TEST(argument_buffers, descriptors_encode_for_a_kernel) {
  static const mtl_argument_desc descs[] = {
      {.id = 0, .kind = MTL_MEMBER_BUFFER},
      {.id = 1, .type = MTL_TYPE_FLOAT},
  };
  mtl_argument_encoder *encoder = encoder_from(descs, COUNT_OF(descs));
  CHECK_EQUAL(mtl_argument_encoder_encoded_length(encoder), 16);
  mtl_buffer *arguments = new_buffer(16), *out = new_buffer(4);
  mtl_buffer *number = new_buffer_with(&(float){5}, 4);
  CHECK_OK(mtl_argument_encoder_set_argument_buffer(encoder, arguments, 0));
  CHECK_OK(mtl_argument_encoder_set_buffer(encoder, number, 0, 0));
  set_float(encoder, 1, 3);
  run_using(new_library(source), "many", (mtl_buffer *[]){arguments, out},
            (uint32_t[]){0, 1}, 2, (mtl_buffer *[]){number}, 1, 1);
  CHECK(floats(out)[0] == 15);
}

TEST(argument_buffers, wrong_descriptors_are_told) {
  mtl_argument_encoder *none = (mtl_argument_encoder *)1;
  const struct {
    mtl_argument_desc descs[2];
    const char *text;
  } wrong[] = {
      {{{.id = 0, .kind = MTL_MEMBER_BUFFER}, {.id = 0}}, "one of member 0's"},
      {{{.id = 4, .kind = MTL_MEMBER_TEXTURE, .array_length = 3},
        {.id = 6, .kind = MTL_MEMBER_BUFFER}},
       "one of member 4's 3"},
      {{{.id = 0, .type = MTL_TYPE_NONE}, {.id = 1}}, "member 0"},
      {{{.id = 0, .type = MTL_TYPE_INT, .components = 5},
        {.id = 1, .type = MTL_TYPE_INT}},
       "5"},
      {{{.id = 0, .type = MTL_TYPE_INT, .alignment_bytes = 12},
        {.id = 1, .type = MTL_TYPE_INT}},
       "power of 2"},
      {{{.id = 0, .kind = (mtl_member_kind)9}, {.id = 1}}, "kind 9"},
      {{{.id = 0, .kind = MTL_MEMBER_BUFFER, .array_length = UINT32_MAX},
        {.id = 1}},
       "too long"},
  };
  for (size_t i = 0; i < COUNT_OF(wrong); i++) {
    mtl_argument_desc descs[2] = {wrong[i].descs[0], wrong[i].descs[1]};
    if (i == 0) {
      descs[1].type = MTL_TYPE_INT;
    }
    CHECK_ERROR(mtl_argument_encoder_create_from_descs(the_device(), descs, 2,
                                                       &none),
                MTL_INVALID_ARGUMENT, wrong[i].text);
    CHECK(none == NULL);
  }
  CHECK_ERROR(
      mtl_argument_encoder_create_from_descs(the_device(), NULL, 0, &none),
      MTL_INVALID_ARGUMENT, "no descriptors");
}
