// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// threadgroups.c: memory that a threadgroup shares, and its barriers.
#include "conformance.h"

static const char threadgroup_kernels[] =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    // Each threadgroup writes its threads' inputs in reverse.
    "kernel void reverse(device const uint *in [[buffer(0)]],\n"
    "                    device uint *out [[buffer(1)]],\n"
    "                    threadgroup uint *tile [[threadgroup(0)]],\n"
    "                    uint i [[thread_position_in_grid]],\n"
    "                    uint local [[thread_position_in_threadgroup]],\n"
    "                    uint size [[threads_per_threadgroup]]) {\n"
    "  tile[local] = in[i];\n"
    "  threadgroup_barrier(mem_flags::mem_threadgroup);\n"
    "  out[i] = tile[size - 1 - local];\n"
    "}\n"
    // A tree of 256: a barrier in a loop that all threads go round alike.
    "kernel void tree_sum(device const uint *in [[buffer(0)]],\n"
    "                     device uint *out [[buffer(1)]],\n"
    "                     uint i [[thread_position_in_grid]],\n"
    "                     uint local [[thread_index_in_threadgroup]],\n"
    "                     uint group [[threadgroup_position_in_grid]]) {\n"
    "  threadgroup uint sums[256];\n"
    "  sums[local] = in[i];\n"
    "  for (uint stride = 128; stride > 0; stride /= 2) {\n"
    "    threadgroup_barrier(mem_flags::mem_threadgroup);\n"
    "    if (local < stride) { sums[local] += sums[local + stride]; }\n"
    "  }\n"
    "  if (local == 0) { out[group] = sums[0]; }\n"
    "}\n"
    // An inclusive prefix sum: a thread's read value must be kept across the
    // barrier.
    "kernel void prefix_sum(device uint *data [[buffer(0)]],\n"
    "                       uint local [[thread_index_in_threadgroup]],\n"
    "                       uint size [[threads_per_threadgroup]]) {\n"
    "  threadgroup uint sums[1024];\n"
    "  uint own = data[local];\n"
    "  for (uint distance = 1; distance < size; distance *= 2) {\n"
    "    sums[local] = own;\n"
    "    threadgroup_barrier(mem_flags::mem_threadgroup);\n"
    "    if (local >= distance) { own += sums[local - distance]; }\n"
    "    threadgroup_barrier(mem_flags::mem_threadgroup);\n"
    "  }\n"
    "  data[local] = own;\n"
    "}\n"
    // Threads talk through device memory inside one threadgroup.
    "kernel void rotate_in_device(device uint *data [[buffer(0)]],\n"
    "                             uint local [[thread_index_in_threadgroup]],\n"
    "                             uint size [[threads_per_threadgroup]]) {\n"
    "  uint next = data[(local + 1) % size];\n"
    "  threadgroup_barrier(mem_flags::mem_device);\n"
    "  data[local] = next;\n"
    "}\n"
    "kernel void two_arguments(device uint *out [[buffer(0)]],\n"
    "                          threadgroup uint *a [[threadgroup(0)]],\n"
    "                          threadgroup uint *b [[threadgroup(1)]],\n"
    "                          uint local [[thread_index_in_threadgroup]]) {\n"
    "  threadgroup uint own[32];\n"
    "  a[local] = local;\n"
    "  b[local] = local * 100;\n"
    "  own[local] = local * 10000;\n"
    "  threadgroup_barrier(mem_flags::mem_threadgroup);\n"
    "  uint other = 31 - local;\n"
    "  out[local] = a[other] + b[other] + own[other];\n"
    "}\n"
    // Threads that have left do not hold up the rest.
    "kernel void early_exit(device uint *out [[buffer(0)]],\n"
    "                       uint local [[thread_index_in_threadgroup]]) {\n"
    "  threadgroup uint tile[64];\n"
    "  if (local >= 40) { return; }\n"
    "  tile[local] = local + 1;\n"
    "  threadgroup_barrier(mem_flags::mem_threadgroup);\n"
    "  out[local] = tile[39 - local];\n"
    "}\n"
    // A bound that only the threadgroup knows.
    "kernel void rounds(device const uint *count [[buffer(0)]],\n"
    "                   device uint *out [[buffer(1)]],\n"
    "                   uint i [[thread_position_in_grid]],\n"
    "                   uint local [[thread_index_in_threadgroup]],\n"
    "                   uint group [[threadgroup_position_in_grid]]) {\n"
    "  threadgroup uint tile[64];\n"
    "  uint value = local;\n"
    "  for (uint n = 0; n < count[group]; n++) {\n"
    "    tile[local] = value;\n"
    "    threadgroup_barrier(mem_flags::mem_threadgroup);\n"
    "    value = tile[(local + 1) % 64] + 1;\n"
    "    threadgroup_barrier(mem_flags::mem_threadgroup);\n"
    "  }\n"
    "  out[i] = value;\n"
    "}\n";

static void dispatch(const char *name, mtl_buffer *const *buffers, size_t count,
                     const size_t *memory_bytes, size_t memory_count,
                     uint32_t grid, uint32_t group) {
  mtl_command_buffer *commands = new_commands(new_queue());
  mtl_compute_encoder *encoder = new_encoder(commands);
  mtl_compute_encoder_set_pipeline(encoder,
                                   new_pipeline(threadgroup_kernels, name));
  for (size_t i = 0; i < count; i++) {
    mtl_compute_encoder_set_buffer(encoder, buffers[i], 0, (uint32_t)i);
  }
  for (size_t i = 0; i < memory_count; i++) {
    mtl_compute_encoder_set_threadgroup_memory(encoder, memory_bytes[i],
                                               (uint32_t)i);
  }
  mtl_compute_encoder_dispatch_threads(encoder, size_of(grid, 1, 1),
                                       size_of(group, 1, 1));
  end(encoder);
  finish(commands);
}

static void check_reverse(uint32_t grid, uint32_t group) {
  mtl_buffer *in = new_buffer(grid * 4);
  mtl_buffer *out = new_buffer(grid * 4);
  for (uint32_t i = 0; i < grid; i++) {
    words(in)[i] = i * 3 + 1;
  }
  const size_t memory = ((size_t)group * 4 + 15) / 16 * 16;
  dispatch("reverse", (mtl_buffer *[]){in, out}, 2, &memory, 1, grid, group);
  for (uint32_t i = 0; i < grid; i++) {
    const uint32_t first = i / group * group;
    const uint32_t size = grid - first < group ? grid - first : group;
    CHECK_EQUAL(words(out)[i], (first + size - 1 - (i - first)) * 3 + 1);
  }
}

TEST(threadgroups, reverse_whole_groups) {
  check_reverse(1024, 128);
}

TEST(threadgroups, reverse_with_uneven_edge) {
  check_reverse(1000, 96);
}

TEST(threadgroups, reverse_in_groups_smaller_than_a_simdgroup) {
  check_reverse(100, 7);
}

TEST(threadgroups, reverse_in_the_largest_group) {
  check_reverse(2048, the_info()->max_threads_per_threadgroup);
}

TEST(threadgroups, tree_sum_with_barriers_in_a_loop) {
  enum { GROUPS = 9 };
  mtl_buffer *in = new_buffer(GROUPS * 256 * 4);
  mtl_buffer *out = new_buffer(GROUPS * 4);
  for (uint32_t i = 0; i < GROUPS * 256; i++) {
    words(in)[i] = i;
  }
  dispatch("tree_sum", (mtl_buffer *[]){in, out}, 2, NULL, 0, GROUPS * 256,
           256);
  for (uint32_t group = 0; group < GROUPS; group++) {
    // 256 numbers from 256 * group on: 256 * 256 * group + 255 * 256 / 2.
    CHECK_EQUAL(words(out)[group], 65536 * group + 32640);
  }
}

TEST(threadgroups, prefix_sum_keeps_values_across_barriers) {
  static const uint32_t sizes[] = {1, 31, 32, 33, 100, 1000};
  for (size_t n = 0; n < COUNT_OF(sizes); n++) {
    const uint32_t size = sizes[n];
    mtl_buffer *data = new_buffer(size * 4);
    for (uint32_t i = 0; i < size; i++) {
      words(data)[i] = i + 1;
    }
    dispatch("prefix_sum", &data, 1, NULL, 0, size, size);
    for (uint32_t i = 0; i < size; i++) {
      CHECK_EQUAL(words(data)[i], (i + 1) * (i + 2) / 2);
    }
  }
}

TEST(threadgroups, barrier_orders_device_memory) {
  enum { COUNT = 100 };
  mtl_buffer *data = new_buffer(COUNT * 4);
  for (uint32_t i = 0; i < COUNT; i++) {
    words(data)[i] = i;
  }
  dispatch("rotate_in_device", &data, 1, NULL, 0, COUNT, COUNT);
  for (uint32_t i = 0; i < COUNT; i++) {
    CHECK_EQUAL(words(data)[i], (i + 1) % COUNT);
  }
}

TEST(threadgroups, arguments_and_variables_do_not_overlap) {
  mtl_buffer *out = new_buffer(32 * 4);
  dispatch("two_arguments", &out, 1, (const size_t[]){128, 128}, 2, 32, 32);
  for (uint32_t i = 0; i < 32; i++) {
    CHECK_EQUAL(words(out)[i], (31 - i) * 10101);
  }
}

TEST(threadgroups, threads_that_have_left_hold_up_nobody) {
  mtl_buffer *out = new_buffer(64 * 4);
  dispatch("early_exit", &out, 1, NULL, 0, 64, 64);
  for (uint32_t i = 0; i < 64; i++) {
    CHECK_EQUAL(words(out)[i], i < 40 ? 40 - i : 0);
  }
}

TEST(threadgroups, barriers_in_a_loop_with_a_bound_of_its_own) {
  const uint32_t counts[4] = {0, 1, 5, 64};
  mtl_buffer *out = new_buffer(4 * 64 * 4);
  dispatch("rounds", (mtl_buffer *[]){BUFFER_OF(counts), out}, 2, NULL, 0,
           4 * 64, 64);
  for (uint32_t i = 0; i < 4 * 64; i++) {
    const uint32_t n = counts[i / 64];
    CHECK_EQUAL(words(out)[i], (i % 64 + n) % 64 + n);
  }
}

static const char unbound_kernels[] =
    "#include <metal_stdlib>\n"
    "kernel void maybe(device uint *out [[buffer(0)]],\n"
    "                  constant uint &uses [[buffer(1)]],\n"
    "                  threadgroup uint *first [[threadgroup(0)]],\n"
    "                  threadgroup uint *second [[threadgroup(1)]],\n"
    "                  uint i [[thread_index_in_threadgroup]]) {\n"
    "  uint value = i;\n"
    "  if (uses == 1) { first[i] = i; }\n"
    "  if (uses == 2) { second[i] = i; }\n"
    "  if (uses == 3) { value = second[i + 3]; }\n"
    "  if (uses) { threadgroup_barrier(metal::mem_flags::mem_threadgroup); }\n"
    "  out[i] = value + 1;\n"
    "}\n"
    "kernel void by_reference(device uint *out [[buffer(0)]],\n"
    "                         constant uint &uses [[buffer(1)]],\n"
    "                         threadgroup metal::atomic_uint &shared\n"
    "                             [[threadgroup(2)]],\n"
    "                         uint i [[thread_index_in_threadgroup]]) {\n"
    "  uint value = i + 1;\n"
    "  if (uses) {\n"
    "    value = metal::atomic_fetch_add_explicit(\n"
    "        &shared, uses, metal::memory_order_relaxed);\n"
    "  }\n"
    "  out[i] = value;\n"
    "}\n";

// Runs a kernel whose threadgroup arguments have no memory, or the first has.
static mtl_status run_unbound(const char *name, uint32_t uses, bool debug,
                              size_t first_bytes, mtl_buffer *out) {
  mtl_library *library =
      new_library_with(unbound_kernels, &(mtl_compile_options){.debug = debug});
  mtl_command_buffer *commands = new_commands(new_queue());
  mtl_compute_encoder *encoder = new_encoder(commands);
  mtl_compute_encoder_set_pipeline(encoder, new_pipeline_from(library, name));
  mtl_compute_encoder_set_buffer(encoder, out, 0, 0);
  mtl_compute_encoder_set_bytes(encoder, &uses, sizeof uses, 1);
  if (first_bytes) {
    mtl_compute_encoder_set_threadgroup_memory(encoder, first_bytes, 0);
    mtl_compute_encoder_set_threadgroup_memory(encoder, 64, 1);
    mtl_compute_encoder_set_threadgroup_memory(encoder, 0, 1);
  }
  mtl_compute_encoder_dispatch_threads(encoder, size_of(64, 1, 1),
                                       size_of(64, 1, 1));
  end(encoder);
  CHECK_OK(mtl_command_buffer_commit(commands));
  return mtl_command_buffer_wait(commands);
}

TEST(threadgroups, arguments_that_are_not_used_need_no_memory) {
  for (int debug = 0; debug < 2; debug++) {
    mtl_buffer *out = new_buffer(256);
    CHECK_OK(run_unbound("maybe", 0, debug, 0, out));
    CHECK_EQUAL(words(out)[0], 1);
    CHECK_EQUAL(words(out)[63], 64);
    mtl_buffer *other = new_buffer(256);
    CHECK_OK(run_unbound("maybe", 1, debug, 256, other));
    CHECK_EQUAL(words(other)[63], 64);
    mtl_buffer *third = new_buffer(256);
    CHECK_OK(run_unbound("by_reference", 0, debug, 0, third));
    CHECK_EQUAL(words(third)[63], 64);
  }
}

TEST(threadgroups, use_of_an_argument_without_memory_faults) {
  for (int debug = 0; debug < 2; debug++) {
    mtl_buffer *out = new_buffer(256);
    CHECK_ERROR(run_unbound("maybe", 1, debug, 0, out), MTL_KERNEL_FAULT,
                "it wrote to argument 'first' [[threadgroup(0)]], whose length "
                "is 0");
    CHECK_ERROR(run_unbound("maybe", 2, debug, 0, out), MTL_KERNEL_FAULT,
                "argument 'second' [[threadgroup(1)]]");
    CHECK_ERROR(run_unbound("maybe", 2, debug, 256, out), MTL_KERNEL_FAULT,
                "argument 'second' [[threadgroup(1)]]");
    CHECK_ERROR(run_unbound("maybe", 3, debug, 0, out), MTL_KERNEL_FAULT,
                "it read argument 'second' [[threadgroup(1)]]");
    CHECK_ERROR(run_unbound("by_reference", 1, debug, 0, out), MTL_KERNEL_FAULT,
                "argument 'shared' [[threadgroup(2)]]");
  }
}
