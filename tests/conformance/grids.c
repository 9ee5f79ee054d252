// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// grids.c: exact grids, and a thread's position in them.
#include "conformance.h"

#include <string.h>

static const char grid_kernels[] =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "kernel void count_visits(device atomic_uint *visits [[buffer(0)]],\n"
    "                         uint3 p [[thread_position_in_grid]],\n"
    "                         uint3 n [[threads_per_grid]]) {\n"
    "  uint i = (p.z * n.y + p.y) * n.x + p.x;\n"
    "  atomic_fetch_add_explicit(&visits[i], 1, memory_order_relaxed);\n"
    "}\n"
    // Without atomics or a threadgroup's number: the driver may form other
    // threadgroups.
    "kernel void visit(device uint *visits [[buffer(0)]],\n"
    "                  uint3 p [[thread_position_in_grid]],\n"
    "                  uint3 n [[threads_per_grid]]) {\n"
    "  visits[(p.z * n.y + p.y) * n.x + p.x] += 1;\n"
    "}\n"
    "kernel void visit_slowly(device uint *visits [[buffer(0)]],\n"
    "                         uint3 p [[thread_position_in_grid]],\n"
    "                         uint3 n [[threads_per_grid]]) {\n"
    "  uint sum = 0;\n"
    "  for (uint i = 0; i <= p.x % 5; i++) { sum += i; }\n"
    "  visits[(p.z * n.y + p.y) * n.x + p.x] +=\n"
    "      sum - p.x % 5 * (p.x % 5 + 1) / 2 + 1;\n"
    "}\n"
    "kernel void count_threads(device atomic_uint *out [[buffer(0)]]) {\n"
    "  atomic_fetch_add_explicit(&out[0], 1, memory_order_relaxed);\n"
    "}\n"
    // One record of 24 words for each thread of a 2-D grid.
    "kernel void places(device uint *out [[buffer(0)]],\n"
    "    uint3 grid_position [[thread_position_in_grid]],\n"
    "    uint3 local_position [[thread_position_in_threadgroup]],\n"
    "    uint3 group_position [[threadgroup_position_in_grid]],\n"
    "    uint3 group_size [[threads_per_threadgroup]],\n"
    "    uint3 full_group_size [[dispatch_threads_per_threadgroup]],\n"
    "    uint3 grid_size [[threads_per_grid]],\n"
    "    uint3 group_count [[threadgroups_per_grid]],\n"
    "    uint local_index [[thread_index_in_threadgroup]],\n"
    "    uint lane [[thread_index_in_simdgroup]],\n"
    "    uint simdgroup [[simdgroup_index_in_threadgroup]],\n"
    "    uint simdgroups [[simdgroups_per_threadgroup]],\n"
    "    uint width [[threads_per_simdgroup]]) {\n"
    "  uint i = (grid_position.z * grid_size.y + grid_position.y)\n"
    "           * grid_size.x + grid_position.x;\n"
    "  device uint *record = out + i * 24;\n"
    "  for (int d = 0; d < 3; d++) {\n"
    "    record[d] = local_position[d];\n"
    "    record[3 + d] = group_position[d];\n"
    "    record[6 + d] = group_size[d];\n"
    "    record[9 + d] = full_group_size[d];\n"
    "    record[12 + d] = grid_size[d];\n"
    "    record[15 + d] = group_count[d];\n"
    "  }\n"
    "  record[18] = local_index;\n"
    "  record[19] = lane;\n"
    "  record[20] = simdgroup;\n"
    "  record[21] = simdgroups;\n"
    "  record[22] = width;\n"
    "  record[23] = 0xC0FFEE;\n"
    "}\n"
    "kernel void narrow(device ushort *out [[buffer(0)]],\n"
    "                   ushort2 p [[thread_position_in_grid]],\n"
    "                   ushort2 n [[threads_per_grid]]) {\n"
    "  out[p.y * n.x + p.x] = ushort(p.y * 100 + p.x);\n"
    "}\n";

// Every place of the grid is visited once, and nothing behind it.
static void check_exact_by(const char *kernel, mtl_size grid, mtl_size group) {
  const size_t count = (size_t)grid.x * grid.y * grid.z;
  const size_t beyond = 64;
  mtl_buffer *visits = new_buffer((count + beyond) * 4);
  RUN(new_pipeline(grid_kernels, kernel), grid, group, visits);
  for (size_t i = 0; i < count + beyond; i++) {
    const uint32_t expected = i < count ? 1 : 0;
    if (words(visits)[i] != expected) {
      test_fail(__FILE__, __LINE__,
                "%s: grid %ux%ux%u in groups of %ux%ux%u: place %zu was "
                "visited %u times",
                kernel, grid.x, grid.y, grid.z, group.x, group.y, group.z, i,
                words(visits)[i]);
    }
  }
}

static void check_exact(mtl_size grid, mtl_size group) {
  check_exact_by("count_visits", grid, group);
  check_exact_by("visit", grid, group);
  check_exact_by("visit_slowly", grid, group);
}

TEST(grids, one_thread) {
  check_exact(size_of(1, 1, 1), size_of(1, 1, 1));
}

TEST(grids, one_dimension_with_uneven_edge) {
  check_exact(size_of(1000, 1, 1), size_of(256, 1, 1));
  check_exact(size_of(1000, 1, 1), size_of(33, 1, 1));
  check_exact(size_of(7, 1, 1), size_of(32, 1, 1));
  check_exact(size_of(1025, 1, 1), size_of(1024, 1, 1));
}

TEST(grids, two_dimensions_with_uneven_edges) {
  check_exact(size_of(37, 19, 1), size_of(8, 8, 1));
  check_exact(size_of(100, 3, 1), size_of(16, 16, 1));
  check_exact(size_of(3, 100, 1), size_of(32, 4, 1));
  check_exact(size_of(65, 65, 1), size_of(32, 32, 1));
}

TEST(grids, three_dimensions_with_uneven_edges) {
  check_exact(size_of(5, 7, 11), size_of(2, 3, 4));
  check_exact(size_of(17, 9, 5), size_of(8, 4, 4));
  check_exact(size_of(1, 1, 100), size_of(1, 1, 64));
}

TEST(grids, group_that_is_larger_than_the_grid) {
  check_exact(size_of(3, 2, 1), size_of(32, 32, 1));
}

TEST(grids, group_shapes_that_are_odd) {
  check_exact(size_of(50, 50, 1), size_of(7, 5, 1));
  check_exact(size_of(31, 3, 2), size_of(31, 1, 1));
  check_exact(size_of(99, 1, 1), size_of(97, 1, 1));
  check_exact(size_of(11, 13, 2), size_of(1, 13, 2));
}

TEST(grids, groups_that_are_small) {
  check_exact(size_of(2048, 3, 1), size_of(1, 1, 1));
  check_exact(size_of(1100, 2, 3), size_of(8, 8, 1));
  check_exact(size_of(1000, 5, 2), size_of(3, 1, 1));
  check_exact(size_of(96, 40, 2), size_of(4, 4, 1));
  check_exact(size_of(64, 7, 1), size_of(16, 16, 1));
  check_exact(size_of(40, 6, 5), size_of(1, 1, 2));
  check_exact(size_of(9, 6, 5), size_of(2, 2, 2));
}

TEST(grids, groups_of_one_thread_along_x) {
  check_exact(size_of(3, 500, 1), size_of(1, 64, 1));
  check_exact(size_of(5, 130, 2), size_of(1, 48, 1));
  check_exact(size_of(3, 70, 3), size_of(1, 7, 2));
  check_exact(size_of(3, 5, 200), size_of(1, 1, 64));
  check_exact(size_of(2, 3, 77), size_of(1, 1, 9));
  check_exact(size_of(1, 100, 3), size_of(8, 32, 1));
  check_exact(size_of(300, 40, 1), size_of(1, 8, 1));
}

TEST(grids, a_million_threads) {
  mtl_buffer *out = new_buffer(4);
  RUN(new_pipeline(grid_kernels, "count_threads"), size_of(1000003, 1, 1),
      size_of(256, 1, 1), out);
  CHECK_EQUAL(words(out)[0], 1000003);
}

TEST(grids, many_rows_with_uneven_edges) {
  check_exact(size_of(300007, 1, 1), size_of(128, 1, 1));
  check_exact(size_of(5000, 70, 1), size_of(256, 1, 1));
  check_exact(size_of(700, 100, 5), size_of(256, 1, 1));
}

TEST(grids, largest_group) {
  const uint32_t most = the_info()->max_threads_per_threadgroup;
  check_exact(size_of(most * 2 + 5, 1, 1), size_of(most, 1, 1));
}

TEST(grids, threadgroups_are_whole) {
  mtl_buffer *out = new_buffer(4);
  mtl_command_buffer *commands = new_commands(new_queue());
  mtl_compute_encoder *encoder = new_encoder(commands);
  mtl_compute_encoder_set_pipeline(encoder,
                                   new_pipeline(grid_kernels, "count_threads"));
  mtl_compute_encoder_set_buffer(encoder, out, 0, 0);
  mtl_compute_encoder_dispatch_threadgroups(encoder, size_of(3, 2, 5),
                                            size_of(7, 3, 2));
  end(encoder);
  finish(commands);
  CHECK_EQUAL(words(out)[0], 3 * 2 * 5 * 7 * 3 * 2);
}

TEST(grids, empty_grids_do_nothing) {
  mtl_buffer *out = new_buffer(4);
  mtl_pipeline *pipeline = new_pipeline(grid_kernels, "count_threads");
  mtl_command_buffer *commands = new_commands(new_queue());
  mtl_compute_encoder *encoder = new_encoder(commands);
  mtl_compute_encoder_set_pipeline(encoder, pipeline);
  mtl_compute_encoder_set_buffer(encoder, out, 0, 0);
  const mtl_size group = size_of(8, 1, 1);
  mtl_compute_encoder_dispatch_threads(encoder, size_of(0, 1, 1), group);
  mtl_compute_encoder_dispatch_threads(encoder, size_of(1, 0, 1), group);
  mtl_compute_encoder_dispatch_threads(encoder, size_of(1, 1, 0), group);
  mtl_compute_encoder_dispatch_threadgroups(encoder, size_of(0, 5, 5), group);
  mtl_compute_encoder_dispatch_threadgroups(encoder, size_of(5, 0, 5), group);
  // The group is not used then.
  static const mtl_size none;
  mtl_compute_encoder_dispatch_threads(encoder, none, none);
  mtl_compute_encoder_dispatch_threadgroups(encoder, none, none);
  mtl_compute_encoder_dispatch_threadgroups(encoder, size_of(0, 1, 1),
                                            size_of(5000, 1, 1));
  end(encoder);
  finish(commands);
  CHECK_EQUAL(words(out)[0], 0);
}

// Checks one thread's record against its place, computed here.
static void check_record(const uint32_t *record, const uint32_t at[3],
                         const uint32_t grid[3], const uint32_t group[3]) {
  uint32_t local[3], size[3];
  for (int d = 0; d < 3; d++) {
    local[d] = at[d] % group[d];
    const uint32_t first = at[d] - local[d];
    size[d] = grid[d] - first < group[d] ? grid[d] - first : group[d];
    CHECK_EQUAL(record[d], local[d]);
    CHECK_EQUAL(record[3 + d], at[d] / group[d]);
    CHECK_EQUAL(record[6 + d], size[d]);
    CHECK_EQUAL(record[9 + d], group[d]);
    CHECK_EQUAL(record[12 + d], grid[d]);
    CHECK_EQUAL(record[15 + d], (grid[d] + group[d] - 1) / group[d]);
  }
  const uint32_t index = (local[2] * size[1] + local[1]) * size[0] + local[0];
  CHECK_EQUAL(record[18], index);
  CHECK_EQUAL(record[19], index % 32);
  CHECK_EQUAL(record[20], index / 32);
  CHECK_EQUAL(record[21], (size[0] * size[1] * size[2] + 31) / 32);
  CHECK_EQUAL(record[22], 32);
  CHECK_EQUAL(record[23], 0xC0FFEE);
}

static void check_places(mtl_size grid, mtl_size group) {
  const uint32_t sides[3] = {grid.x, grid.y, grid.z};
  const uint32_t groups[3] = {group.x, group.y, group.z};
  mtl_buffer *out = new_buffer((size_t)grid.x * grid.y * grid.z * 24 * 4);
  RUN(new_pipeline(grid_kernels, "places"), grid, group, out);
  const uint32_t *record = words(out);
  for (uint32_t z = 0; z < grid.z; z++) {
    for (uint32_t y = 0; y < grid.y; y++) {
      for (uint32_t x = 0; x < grid.x; x++, record += 24) {
        check_record(record, (const uint32_t[]){x, y, z}, sides, groups);
      }
    }
  }
}

TEST(grids, places_in_one_dimension) {
  check_places(size_of(200, 1, 1), size_of(64, 1, 1));
  check_places(size_of(75, 1, 1), size_of(50, 1, 1));
}

TEST(grids, places_in_two_dimensions) {
  check_places(size_of(20, 10, 1), size_of(8, 8, 1));
  check_places(size_of(64, 3, 1), size_of(32, 2, 1));
}

TEST(grids, places_in_three_dimensions) {
  check_places(size_of(9, 7, 5), size_of(4, 3, 2));
}

// The driver turns these.
TEST(grids, places_in_groups_of_one_thread_along_x) {
  check_places(size_of(3, 200, 2), size_of(1, 64, 1));
  check_places(size_of(5, 83, 1), size_of(1, 48, 1));
  check_places(size_of(2, 33, 9), size_of(1, 8, 4));
  check_places(size_of(3, 5, 70), size_of(1, 1, 64));
  check_places(size_of(1, 75, 2), size_of(4, 32, 1));
}

TEST(grids, positions_may_be_narrow) {
  mtl_buffer *out = new_buffer(21 * 5 * 2);
  const mtl_size groups[] = {{8, 2, 1}, {1, 4, 1}};
  for (size_t i = 0; i < COUNT_OF(groups); i++) {
    RUN(new_pipeline(grid_kernels, "narrow"), size_of(21, 5, 1), groups[i],
        out);
    const uint16_t *values = mtl_buffer_contents(out);
    for (uint32_t y = 0; y < 5; y++) {
      for (uint32_t x = 0; x < 21; x++) {
        CHECK_EQUAL(values[y * 21 + x], y * 100 + x);
      }
    }
    memset(mtl_buffer_contents(out), 0, 21 * 5 * 2);
  }
}

static mtl_command_buffer *record_indirect(const uint32_t *counts,
                                           size_t offset_bytes,
                                           mtl_buffer *out) {
  mtl_command_buffer *commands = new_commands(new_queue());
  mtl_compute_encoder *encoder = new_encoder(commands);
  mtl_compute_encoder_set_pipeline(encoder,
                                   new_pipeline(grid_kernels, "count_threads"));
  mtl_compute_encoder_set_buffer(encoder, out, 0, 0);
  mtl_compute_encoder_dispatch_threadgroups_indirect(
      encoder, new_buffer_with(counts, 16 * 4), offset_bytes, size_of(4, 2, 1));
  end(encoder);
  return commands;
}

static void dispatch_indirect(const uint32_t *counts, size_t offset_bytes,
                              mtl_buffer *out) {
  finish(record_indirect(counts, offset_bytes, out));
}

TEST(grids, indirect_counts_are_read_at_the_offset) {
  const uint32_t counts[16] = {9, 9, 9, 9, 2, 3, 4, 9};
  mtl_buffer *out = new_buffer(4);
  dispatch_indirect(counts, 16, out);
  CHECK_EQUAL(words(out)[0], 2 * 3 * 4 * 8);
}

TEST(grids, indirect_groups_of_one_thread_along_x) {
  const uint32_t counts[3] = {3, 2, 2};
  mtl_buffer *visits = new_buffer((3 * 80 * 2 + 64) * 4);
  mtl_command_buffer *commands = new_commands(new_queue());
  mtl_compute_encoder *encoder = new_encoder(commands);
  mtl_compute_encoder_set_pipeline(encoder,
                                   new_pipeline(grid_kernels, "count_visits"));
  mtl_compute_encoder_set_buffer(encoder, visits, 0, 0);
  mtl_compute_encoder_dispatch_threadgroups_indirect(
      encoder, new_buffer_with(counts, sizeof counts), 0, size_of(1, 40, 1));
  end(encoder);
  finish(commands);
  for (size_t i = 0; i < 3 * 80 * 2 + 64; i++) {
    CHECK_EQUAL(words(visits)[i], i < 3 * 80 * 2);
  }
}

TEST(grids, indirect_zero_count_does_nothing) {
  const uint32_t counts[16] = {5, 0, 5};
  mtl_buffer *out = new_buffer(4);
  dispatch_indirect(counts, 0, out);
  CHECK_EQUAL(words(out)[0], 0);
}

// The error shows only at run time, so it is the command buffer's.
TEST(grids, indirect_grid_that_is_too_large_is_an_error) {
  const uint32_t counts[][16] = {
      {0x40000000, 1, 1},           // 2^32 threads along x
      {0x10000, 0x10000, 0x10000},  // each side fits
  };
  for (size_t i = 0; i < COUNT_OF(counts); i++) {
    mtl_buffer *out = new_buffer(4);
    mtl_command_buffer *commands = record_indirect(counts[i], 0, out);
    CHECK_OK(mtl_command_buffer_commit(commands));
    CHECK_ERROR(mtl_command_buffer_wait(commands), MTL_INVALID_ARGUMENT,
                "too large");
    CHECK_EQUAL(words(out)[0], 0);
  }
}

TEST(grids, indirect_counts_written_by_an_earlier_dispatch) {
  const char *source =
      "#include <metal_stdlib>\n"
      "using namespace metal;\n"
      "kernel void plan(device uint *counts [[buffer(0)]]) {\n"
      "  counts[0] = 6; counts[1] = 2; counts[2] = 1;\n"
      "}\n";
  mtl_buffer *counts = new_buffer(12);
  mtl_buffer *out = new_buffer(4);
  mtl_command_buffer *commands = new_commands(new_queue());
  mtl_compute_encoder *encoder = new_encoder(commands);
  mtl_compute_encoder_set_pipeline(encoder, new_pipeline(source, "plan"));
  mtl_compute_encoder_set_buffer(encoder, counts, 0, 0);
  mtl_compute_encoder_dispatch_threads(encoder, size_of(1, 1, 1),
                                       size_of(1, 1, 1));
  mtl_compute_encoder_set_pipeline(encoder,
                                   new_pipeline(grid_kernels, "count_threads"));
  mtl_compute_encoder_set_buffer(encoder, out, 0, 0);
  mtl_compute_encoder_dispatch_threadgroups_indirect(encoder, counts, 0,
                                                     size_of(10, 1, 1));
  end(encoder);
  finish(commands);
  CHECK_EQUAL(words(out)[0], 6 * 2 * 10);
}
