// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// debug_faults.c: what pipelines for debugging tell of accesses that miss, on
// devices that check each access, too. Buffers are guarded for the others.
#include <string.h>

#include "conformance.h"
#include "textures.h"

static const char source[] =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "kernel void write_at(device uint *out [[buffer(0)]],\n"
    "                     constant ulong &at [[buffer(1)]],\n"
    "                     uint i [[thread_position_in_grid]]) {\n"  // line 5
    "  out[i == 37 ? at : i] = i + 1;\n"
    "}\n"
    "kernel void read_at(device uint *out [[buffer(0)]],\n"
    "                    device ulong *at [[buffer(1)]],\n"
    "                    uint i [[thread_position_in_grid]]) {\n"  // line 10
    "  out[i] = out[at[0] + i];\n"
    "}\n"
    "kernel void add_at(device uint *out [[buffer(0)]],\n"
    "                   device ulong *at [[buffer(1)]]) {\n"
    "  device atomic_uint *sums = (device atomic_uint *)out + at[0];\n"
    "  atomic_fetch_add_explicit(sums, 1u, memory_order_relaxed);\n"
    "}\n"
    "struct large { uint words[100]; };\n"
    "kernel void copy_at(device large *out [[buffer(0)]],\n"
    "                    device ulong *at [[buffer(1)]]) {\n"  // line 20
    "  large whole = out[0];\n"
    "  out[at[0]] = whole;\n"
    "}\n"
    "kernel void follow(device uint *out [[buffer(0)]],\n"
    "                   device ulong *in [[buffer(1)]]) {\n"  // line 25
    "  device uint *address = (device uint *)in[0];\n"
    "  out[0] = address[0];\n"
    "}\n"
    "kernel void unbound(device uint *out [[buffer(0)]],\n"
    "                    threadgroup uint *own [[threadgroup(0)]],\n"
    "                    uint i [[thread_position_in_threadgroup]]) {\n"
    "  own[i] = i;\n"
    "  threadgroup_barrier(mem_flags::mem_threadgroup);\n"
    "  out[i] = own[i ^ 1];\n"
    "}\n"
    "kernel void behind_a_barrier(device uint *out [[buffer(0)]],\n"
    "                             device ulong *at [[buffer(1)]],\n"
    "    uint i [[thread_position_in_threadgroup]]) {\n"
    "  threadgroup uint shared[64];\n"
    "  shared[i] = i;\n"  // line 40
    "  for (uint turn = 0; turn < 3; turn++) {\n"
    "    threadgroup_barrier(mem_flags::mem_threadgroup);\n"
    "    out[turn == 2 ? at[0] + i : i] = shared[i ^ 1];\n"
    "  }\n"
    "}\n";

static mtl_pipeline *debug_pipeline(const char *text, const char *kernel) {
  mtl_library *library = new_library_with(
      text, &(mtl_compile_options){.file_name = "wild.metal", .debug = true});
  return new_pipeline_from(library, kernel);
}

// Runs a kernel over 64 threads; they are one threadgroup.
static mtl_command_buffer *run_one(mtl_queue *queue, mtl_pipeline *pipeline,
                                   mtl_buffer *first, mtl_buffer *second,
                                   mtl_status expected) {
  mtl_command_buffer *commands = new_commands(queue);
  mtl_compute_encoder *encoder = new_encoder(commands);
  mtl_compute_encoder_set_pipeline(encoder, pipeline);
  mtl_compute_encoder_set_buffer(encoder, first, 0, 0);
  mtl_compute_encoder_set_buffer(encoder, second, 0, 1);
  mtl_compute_encoder_dispatch_threads(encoder, size_of(64, 1, 1),
                                       size_of(64, 1, 1));
  end(encoder);
  CHECK_OK(mtl_command_buffer_commit(commands));
  CHECK_EQUAL(mtl_command_buffer_wait(commands), expected);
  return commands;
}

static mtl_buffer *particles(void) {
  return new_buffer_like((mtl_buffer_desc){
      .length_bytes = 4096, .guarded = true, .label = "particles"});
}

// The kernel's access misses at an element; its error names the place and the
// buffer. The queue still works.
static void check_fault(const char *kernel, uint64_t where, const char *place,
                        const char *what) {
  mtl_queue *queue = new_queue();
  mtl_buffer *out = particles();
  uint64_t at[1] = {where};
  const char *text = NULL;
  mtl_pipeline *pipeline = debug_pipeline(source, kernel);
  (void)mtl_command_buffer_error(
      run_one(queue, pipeline, out, BUFFER_OF(at), MTL_KERNEL_FAULT), &text);
  CHECK_CONTAINS(text, kernel);
  CHECK_CONTAINS(text, place);
  CHECK_CONTAINS(text, what);
  uint64_t inside[1] = {37};
  run_one(queue, debug_pipeline(source, "write_at"), out, BUFFER_OF(inside),
          MTL_OK);
  for (uint32_t i = 0; i < 64; i++) {
    CHECK_EQUAL(words(out)[i], i + 1);
  }
}

TEST(debug_faults, store_is_told_with_line_and_buffer) {
  check_fault("write_at", 1024, "wild.metal:6,",
              "right behind the end of buffer 'particles' of 4096 bytes");
}

TEST(debug_faults, load_is_told_with_line_and_buffer) {
  check_fault("read_at", 1026, "wild.metal:11,", "buffer 'particles'");
}

TEST(debug_faults, atomic_is_told_with_line_and_buffer) {
  check_fault("add_at", 1024, "wild.metal:16,",
              "right behind the end of buffer 'particles' of 4096 bytes");
}

TEST(debug_faults, copy_over_the_end_is_told) {
  check_fault("copy_at", 10, "wild.metal:22,", "buffer 'particles'");
}

TEST(debug_faults, store_behind_a_barrier_is_told) {
  check_fault("behind_a_barrier", 1024, "wild.metal:43,",
              "buffer 'particles' of 4096 bytes");
}

TEST(debug_faults, null_pointer_of_a_buffer_is_told) {
  check_fault("follow", 0, "wild.metal:27,", "read address");
}

TEST(debug_faults, wild_pointer_of_a_buffer_is_told) {
  check_fault("follow", UINT64_C(0x7b0000000000), "wild.metal:27,",
              "read address 0x7b0000000000");
}

TEST(debug_faults, threadgroup_argument_without_memory_is_told) {
  mtl_queue *queue = new_queue();
  const char *text = NULL;
  (void)mtl_command_buffer_error(
      run_one(queue, debug_pipeline(source, "unbound"), particles(), NULL,
              MTL_KERNEL_FAULT),
      &text);
  CHECK_CONTAINS(text, "whose length is 0: it is not bound");
}

// --- what is right goes through ----------------------------------------------

static const char clean_source[] =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "constant uint primes[4] = {2, 3, 5, 7};\n"
    "struct inner { device uint *values; };\n"
    "struct outer { device inner *next; texture2d<float> picture; };\n"
    "kernel void follow_all(device uint *out [[buffer(0)]],\n"
    "                       constant outer &from [[buffer(1)]],\n"
    "                       constant uint *few [[buffer(2)]],\n"
    "                       texture2d<float> picture [[texture(0)]],\n"
    "                       uint i [[thread_position_in_grid]]) {\n"
    "  threadgroup uint shared[64];\n"
    "  uint own[4];\n"
    "  for (uint k = 0; k < 4; k++) { own[(k + i) % 4] = k; }\n"
    "  constant uint *either = i % 2 ? few : primes;\n"
    "  shared[i] = from.next->values[i] + either[i % 4] + own[i % 4];\n"
    "  threadgroup_barrier(mem_flags::mem_threadgroup);\n"
    "  constexpr sampler s(filter::nearest);\n"
    "  out[i] = shared[63 - i] + uint(picture.read(uint2(1, 0)).x) +\n"
    "           uint(from.picture.sample(s, float2(0.75, 0.5)).x);\n"
    "}\n";

TEST(debug_faults, everything_that_is_there_may_be_used) {
  uint32_t values[64];
  for (uint32_t i = 0; i < 64; i++) {
    values[i] = 100 * i;
  }
  mtl_buffer *leaf = BUFFER_OF(values);
  uint64_t next[1] = {mtl_buffer_gpu_address(leaf)};
  mtl_buffer *inner = BUFFER_OF(next);
  const float texels[2] = {1000, 7000};
  mtl_texture *picture = new_texture_2d(MTL_FORMAT_R32_FLOAT, 2, 1);
  put_texels(picture, texels);
  uint64_t from[2] = {mtl_buffer_gpu_address(inner),
                      mtl_texture_resource_id(picture)};
  const uint32_t few[4] = {10, 20, 30, 40};
  mtl_buffer *out = new_buffer(64 * 4);
  mtl_command_buffer *commands = new_commands(new_queue());
  mtl_compute_encoder *encoder = new_encoder(commands);
  mtl_compute_encoder_set_pipeline(encoder,
                                   debug_pipeline(clean_source, "follow_all"));
  mtl_compute_encoder_set_buffer(encoder, out, 0, 0);
  mtl_compute_encoder_set_buffer(encoder, BUFFER_OF(from), 0, 1);
  mtl_compute_encoder_set_bytes(encoder, few, sizeof few, 2);
  mtl_compute_encoder_set_texture(encoder, picture, 0);
  mtl_compute_encoder_dispatch_threads(encoder, size_of(64, 1, 1),
                                       size_of(64, 1, 1));
  end(encoder);
  CHECK_OK(mtl_command_buffer_commit(commands));
  CHECK_OK(mtl_command_buffer_wait(commands));
  static const uint32_t either[2][4] = {{2, 3, 5, 7}, {10, 20, 30, 40}};
  for (uint32_t i = 0; i < 64; i++) {
    const uint32_t j = 63 - i;
    // own[j % 4] is 0: of (k + j) % 4 the k that is 0.
    CHECK_EQUAL(words(out)[i], 100 * j + either[j % 2][j % 4] + 7000 + 7000);
  }
}
