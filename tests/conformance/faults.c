// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// faults.c: kernels that go wrong while they run.
#include "conformance.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

static const char faulty_kernels[] =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "kernel void write_at(device uint *out [[buffer(0)]],\n"
    "                     constant ulong &at [[buffer(1)]],\n"
    "                     uint i [[thread_position_in_grid]]) {\n"
    "  if (i == 37) { out[at] = 1; }\n"
    "}\n"
    "kernel void read_null(device uint *out [[buffer(0)]],\n"
    "                      device ulong *in [[buffer(1)]]) {\n"
    "  device uint *address = (device uint *)in[0];\n"
    "  out[0] = address[0];\n"
    "}\n"
    "kernel void trap_one(device uint *out [[buffer(0)]],\n"
    "                     uint i [[thread_position_in_grid]]) {\n"
    "  if (i == 70) { __builtin_trap(); }\n"
    "  out[i] = 1;\n"
    "}\n"
    "template <typename T> T checked(T x) {\n"
    "  assert(x < T(150) || x == 3);\n"
    "  return x;\n"
    "}\n"
    "kernel void assert_all(device uint *out [[buffer(0)]],\n"
    "                       uint2 i [[thread_position_in_grid]]) {\n"
    "  out[i.x] = checked(i.x);\n"
    "}\n"
    "kernel void count(device atomic_uint *bins [[buffer(0)]],\n"
    "                  device uint *ran [[buffer(1)]],\n"
    "                  uint i [[thread_position_in_grid]]) {\n"
    "  ran[i] = 1;\n"
    "  uint bin = i == 99999 ? 1024u : i % 16;\n"
    "  atomic_fetch_add_explicit(&bins[bin], 1, memory_order_relaxed);\n"
    "}\n"
    "kernel void divide(device int *data [[buffer(0)]]) {\n"
    "  data[2] = data[0] / data[1];\n"
    "  data[3] = data[0] % data[1];\n"
    "}\n";

static const char row_kernels[] =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "kernel void sum_row(device const uint *x [[buffer(0)]],\n"
    "                    device uint *sums [[buffer(1)]],\n"
    "                    uint row [[thread_position_in_grid]]) {\n"
    "  uint sum = 0;\n"
    "  for (uint i = 0; i < 12 && row % 3 != 1; i++) {\n"
    "    sum += x[row * 12 + i];\n"
    "  }\n"
    "  sums[row] = sum;\n"
    "}\n"
    "kernel void sum_row_of_seven(device const uint *x [[buffer(0)]],\n"
    "                             device uint *sums [[buffer(1)]],\n"
    "                             uint row [[thread_position_in_grid]]) {\n"
    "  sums[row] = 0;\n"
    "  if (row % 3 == 1) { return; }\n"
    "  device const uint *own = x + row * 12 + 5;\n"
    "  sums[row] = own[0] + own[1] + own[2] + own[3] + own[4] + own[5] +\n"
    "              own[6];\n"
    "}\n"
    "kernel void sum_vectors(device const uint4 *x [[buffer(0)]],\n"
    "                        device uint *sums [[buffer(1)]],\n"
    "                        uint row [[thread_position_in_grid]]) {\n"
    "  uint4 sum = 0;\n"
    "  for (uint i = 0; i < 3 && row % 3 != 1; i++) {\n"
    "    sum += x[row * 3 + i];\n"
    "  }\n"
    "  sums[row] = sum.x + sum.y + sum.z + sum.w;\n"
    "}\n";

static mtl_command_buffer *run_two(mtl_pipeline *pipeline, mtl_buffer *first,
                                   mtl_buffer *second, uint32_t grid,
                                   mtl_status expected) {
  mtl_command_buffer *commands = new_commands(new_queue());
  mtl_compute_encoder *encoder = new_encoder(commands);
  mtl_compute_encoder_set_pipeline(encoder, pipeline);
  mtl_compute_encoder_set_buffer(encoder, first, 0, 0);
  mtl_compute_encoder_set_buffer(encoder, second, 0, 1);
  mtl_compute_encoder_dispatch_threads(encoder, size_of(grid, 1, 1),
                                       size_of(32, 1, 1));
  end(encoder);
  CHECK_OK(mtl_command_buffer_commit(commands));
  CHECK_EQUAL(mtl_command_buffer_wait(commands), expected);
  return commands;
}

// Runs one kernel that must fail and returns the error's text.
static const char *fault_in(mtl_pipeline *pipeline, mtl_buffer *first,
                            mtl_buffer *second, uint32_t grid) {
  mtl_command_buffer *commands =
      run_two(pipeline, first, second, grid, MTL_KERNEL_FAULT);
  CHECK_EQUAL(mtl_command_buffer_get_status(commands),
              MTL_COMMAND_BUFFER_ERROR);
  const char *text = NULL;
  CHECK_EQUAL(mtl_command_buffer_error(commands, &text), MTL_KERNEL_FAULT);
  return text;
}

static const char *fault_of(const char *kernel, mtl_buffer *first,
                            mtl_buffer *second, uint32_t grid) {
  const char *text =
      fault_in(new_pipeline(faulty_kernels, kernel), first, second, grid);
  CHECK_CONTAINS(text, kernel);
  return text;
}

TEST(faults, write_past_a_guarded_buffer_is_caught_and_named) {
  mtl_buffer *out = new_buffer_like((mtl_buffer_desc){
      .length_bytes = 4096, .guarded = true, .label = "particles"});
  uint64_t at[1] = {1024};
  const char *text = fault_of("write_at", out, BUFFER_OF(at), 64);
  CHECK_CONTAINS(text, "particles");
}

// Each thread sums up a row of its own, every third one none; rows of 12 end
// where the buffer does. What is read together is no more than what is read.
TEST(faults, rows_of_threads_are_read_to_the_end_of_a_buffer) {
  enum { ROWS = 39, LENGTH = 12 };
  mtl_buffer *rows = new_buffer_like((mtl_buffer_desc){
      .length_bytes = ROWS * LENGTH * 4, .guarded = true});
  mtl_buffer *sums = new_buffer(ROWS * 4);
  for (uint32_t i = 0; i < ROWS * LENGTH; i++) {
    words(rows)[i] = i;
  }
  static const char *const kernels[] = {"sum_row", "sum_row_of_seven",
                                        "sum_vectors"};
  for (uint32_t k = 0; k < 3; k++) {
    run_two(new_pipeline(row_kernels, kernels[k]), rows, sums, ROWS, MTL_OK);
    for (uint32_t r = 0; r < ROWS; r++) {
      // The last 7 of 12, or all.
      const uint32_t first = k == 1 ? 5 : 0;
      uint32_t sum = 0;
      for (uint32_t i = first; i < LENGTH; i++) {
        sum += r * LENGTH + i;
      }
      CHECK_EQUAL(words(sums)[r], r % 3 == 1 ? 0 : sum);
    }
  }
}

TEST(faults, row_past_the_end_of_a_buffer_is_caught) {
  const char *text = fault_in(
      new_pipeline(row_kernels, "sum_row"),
      new_buffer_like(
          (mtl_buffer_desc){.length_bytes = 38 * 48, .guarded = true}),
      new_buffer(39 * 4), 39);
  CHECK_CONTAINS(text, "sum_row");
}

// A simdgroup may have gone no further than the thread that failed.
TEST(faults, additions_before_a_fault_are_not_lost) {
  enum { THREADS = 100000, SIMDGROUP = 32 };
  mtl_buffer *bins =
      new_buffer_like((mtl_buffer_desc){.length_bytes = 4096, .guarded = true});
  mtl_buffer *ran = new_buffer(THREADS * 4);
  fault_of("count", bins, ran, THREADS);
  uint32_t ran_count = 0;
  for (uint32_t i = 0; i < THREADS; i++) {
    ran_count += words(ran)[i];
  }
  uint32_t count = 0;
  for (uint32_t bin = 0; bin < 16; bin++) {
    count += words(bins)[bin];
  }
  CHECK(count < ran_count && count + SIMDGROUP >= ran_count);
}

TEST(faults, wild_address_is_caught) {
  uint64_t address[1] = {0};
  fault_of("read_null", new_buffer(4), BUFFER_OF(address), 1);
}

TEST(faults, trap_is_caught) {
  fault_of("trap_one", new_buffer(400), NULL, 100);
}

// --- lines -------------------------------------------------------------------

// Each kernel goes wrong on the line that its name ends in.
static const char placed_kernels[] =
    "#include <metal_stdlib>\n"
    "#include \"deeper.h\"\n"
    "using namespace metal;\n"
    "inline void put(device uint *out, ulong at, uint value) {\n"
    "  out[at] = value;\n"  // line 5
    "}\n"
    "kernel void store_in_a_function_5(device uint *out [[buffer(0)]],\n"
    "                                  device ulong *at [[buffer(1)]],\n"
    "                                  uint i [[thread_position_in_grid]])\n"
    "{\n"  // line 10
    "  put(out, i == 37 ? at[0] : i, i);\n"
    "}\n"
    "kernel void load_16(device uint *out [[buffer(0)]],\n"
    "                    device ulong *at [[buffer(1)]],\n"
    "                    uint i [[thread_position_in_grid]]) {\n"  // line 15
    "  uint value = out[at[i % 2]];\n"
    "  out[i] = value * 3;\n"
    "}\n"
    "kernel void behind_a_barrier_26(device uint *out [[buffer(0)]],\n"
    "                                device ulong *at [[buffer(1)]],\n"
    "    uint i [[thread_position_in_threadgroup]]) {\n"
    "  threadgroup uint shared[64];\n"
    "  shared[i] = i;\n"
    "  for (uint turn = 0; turn < 3; turn++) {\n"
    "    threadgroup_barrier(mem_flags::mem_threadgroup);\n"  // line 25
    "    out[turn == 2 ? at[0] + i : i] = shared[i ^ 1];\n"
    "  }\n"
    "}\n"
    "kernel void trap_32(device uint *out [[buffer(0)]],\n"
    "                    uint i [[thread_position_in_grid]]) {\n"  // line 30
    "  out[i] = 1;\n"
    "  if (i == 37) { __builtin_trap(); }\n"
    "}\n"
    "struct large { uint words[100]; };\n"
    "kernel void copy_38(device large *out [[buffer(0)]],\n"  // line 35
    "                    device ulong *at [[buffer(1)]]) {\n"
    "  large whole = out[0];\n"
    "  out[at[0] / 100] = whole;\n"  // over the buffer's end
    "}\n"
    "kernel void atomic_43(device uint *out [[buffer(0)]],\n"  // line 40
    "                      device ulong *at [[buffer(1)]]) {\n"
    "  device atomic_uint *sums = (device atomic_uint *)out + at[0];\n"
    "  atomic_fetch_add_explicit(sums, 1u, memory_order_relaxed);\n"
    "}\n"
    "kernel void deeper_2(device uint *out [[buffer(0)]],\n"  // line 45
    "                     device ulong *at [[buffer(1)]]) {\n"
    "  put_deeper(out, at[0]);\n"
    "}\n";

static bool find_deeper(void *context, const char *name, const char **out_text,
                        size_t *out_length) {
  (void)context;
  *out_text =
      "inline void put_deeper(device uint *out, ulong at) {\n"
      "  out[at] = 1;\n"
      "}\n";
  *out_length = strlen(*out_text);
  return strcmp(name, "deeper.h") == 0;
}

static mtl_pipeline *placed_pipeline(const char *kernel, bool debug) {
  mtl_library *library = new_library_with(
      placed_kernels, &(mtl_compile_options){.file_name = "placed.metal",
                                             .header_callback = find_deeper,
                                             .debug = debug});
  return new_pipeline_from(library, kernel);
}

// A kernel's fault is reported with the line of the access, in both tiers.
static void check_line(const char *kernel, const char *place) {
  for (int debug = 0; debug < 2; debug++) {
    mtl_buffer *out = new_buffer_like(
        (mtl_buffer_desc){.length_bytes = 4096, .guarded = true});
    uint64_t at[2] = {1024, 1024};
    const char *text =
        fault_in(placed_pipeline(kernel, debug), out, BUFFER_OF(at), 64);
    CHECK_CONTAINS(text, place);
  }
}

TEST(faults, line_of_a_store_in_a_function_is_told) {
  check_line("store_in_a_function_5", "failed at placed.metal:5,");
}

TEST(faults, line_of_a_load_is_told) {
  check_line("load_16", "failed at placed.metal:16,");
}

TEST(faults, line_behind_a_barrier_is_told) {
  check_line("behind_a_barrier_26", "failed at placed.metal:26,");
}

TEST(faults, line_of_a_trap_is_told) {
  check_line("trap_32", "failed at placed.metal:32,");
}

TEST(faults, line_of_a_copy_is_told) {
  check_line("copy_38", "failed at placed.metal:38,");
}

TEST(faults, line_of_an_atomic_is_told) {
  check_line("atomic_43", "failed at placed.metal:43,");
}

TEST(faults, line_in_a_header_is_told) {
  check_line("deeper_2", "deeper.h:2,");
}

// --- what goes on ------------------------------------------------------------

// Runs assert_all, which fails from i.x 150 on, in one tier.
static const char *run_assertions(bool debug, const mtl_macro *macro,
                                  mtl_size group) {
  const mtl_compile_options options = {.file_name = "faulty.metal",
                                       .macros = macro,
                                       .macro_count = macro != NULL};
  mtl_pipeline *pipeline;
  CHECK_OK(mtl_pipeline_create(
      new_function(new_library_with(faulty_kernels, &options), "assert_all"),
      &(mtl_pipeline_desc){.debug = debug}, &pipeline));
  release_pipeline_later(pipeline);
  mtl_command_buffer *commands = new_commands(new_queue());
  mtl_compute_encoder *encoder = new_encoder(commands);
  mtl_compute_encoder_set_pipeline(encoder, pipeline);
  mtl_compute_encoder_set_buffer(encoder, new_buffer(4096), 0, 0);
  mtl_compute_encoder_dispatch_threads(encoder, size_of(152, 2, 1), group);
  end(encoder);
  CHECK_OK(mtl_command_buffer_commit(commands));
  const mtl_status status = mtl_command_buffer_wait(commands);
  CHECK_EQUAL(status, macro ? MTL_OK : MTL_KERNEL_FAULT);
  const char *text = NULL;
  (void)mtl_command_buffer_error(commands, &text);
  return text;
}

TEST(faults, assertion_tells_thread_line_and_expression) {
  for (int debug = 0; debug < 2; debug++) {
    const char *text = run_assertions(debug, NULL, size_of(16, 2, 1));
    CHECK_CONTAINS(text, "at faulty.metal:19, ");
    CHECK_CONTAINS(text, "thread (6, ");
    CHECK_CONTAINS(text, "of threadgroup (9, 0, 0)");
    CHECK_CONTAINS(text, "assertion failed: x < T(150) || x == 3");
    text = run_assertions(debug, NULL, size_of(1, 2, 1));
    CHECK_CONTAINS(text, "thread (0, ");
    // Both threadgroups 150 and 151 fail; only a processor's debug tier runs
    // them in order.
    const bool in_order = debug && strncmp(the_info()->name, "cuda", 4) != 0;
    CHECK(strstr(text, "of threadgroup (150, 0, 0)") ||
          (!in_order && strstr(text, "of threadgroup (151, 0, 0)")));
  }
}

TEST(faults, assertions_go_with_ndebug) {
  run_assertions(false, &(mtl_macro){.name = "NDEBUG"}, size_of(16, 2, 1));
}

// Threadgroup 9 goes wrong, of several that may run at once.
TEST(faults, small_threadgroups_are_told_that_ran_with_a_wrong_one) {
  static const char kernels[] =
      "#include <metal_stdlib>\n"
      "using namespace metal;\n"
      "kernel void tile(device uint *out [[buffer(0)]],\n"
      "                 device ulong *at [[buffer(1)]],\n"
      "                 uint group [[threadgroup_position_in_grid]],\n"
      "                 uint i [[thread_position_in_threadgroup]]) {\n"
      "  out[group % 2 * 32 + i + select(0ul, at[0], group == 9)] = group;\n"
      "}\n";
  uint64_t far_away[1] = {UINT64_C(1) << 60};
  mtl_pipeline *pipeline;
  CHECK_OK(mtl_pipeline_create(new_function(new_library(kernels), "tile"),
                               &(mtl_pipeline_desc){.group_threads = {32, 1, 1}},
                               &pipeline));
  release_pipeline_later(pipeline);
  mtl_command_buffer *commands = new_commands(new_queue());
  mtl_compute_encoder *encoder = new_encoder(commands);
  mtl_compute_encoder_set_pipeline(encoder, pipeline);
  mtl_compute_encoder_set_buffer(encoder, new_buffer(256), 0, 0);
  mtl_compute_encoder_set_buffer(encoder, BUFFER_OF(far_away), 0, 1);
  mtl_compute_encoder_dispatch_threadgroups(encoder, size_of(16, 1, 1),
                                            size_of(32, 1, 1));
  end(encoder);
  CHECK_OK(mtl_command_buffer_commit(commands));
  CHECK_EQUAL(mtl_command_buffer_wait(commands), MTL_KERNEL_FAULT);
  const char *text = NULL;
  (void)mtl_command_buffer_error(commands, &text);
  const char *place = strstr(text, "of threadgroup (");
  unsigned first = 0, others = 0, apart = 1;
  CHECK(place && sscanf(place,
                        "of threadgroup (%u, 0, 0) or one of the %u next, %u "
                        "apart",
                        &first, &others, &apart) >= 1);
  CHECK(first <= 9 && 9 <= first + others * apart && (9 - first) % apart == 0);
}

TEST(faults, later_work_of_the_queue_still_runs) {
  mtl_queue *queue = new_queue();
  mtl_buffer *data = new_buffer(400);
  mtl_command_buffer *bad = new_commands(queue);
  mtl_compute_encoder *encoder = new_encoder(bad);
  mtl_compute_encoder_set_pipeline(encoder,
                                   new_pipeline(faulty_kernels, "trap_one"));
  mtl_compute_encoder_set_buffer(encoder, new_buffer(400), 0, 0);
  mtl_compute_encoder_dispatch_threads(encoder, size_of(100, 1, 1),
                                       size_of(32, 1, 1));
  end(encoder);
  CHECK_OK(mtl_command_buffer_commit(bad));
  mtl_command_buffer *good = new_commands(queue);
  encoder = new_encoder(good);
  mtl_compute_encoder_set_pipeline(encoder,
                                   new_pipeline(simple_kernels, "add_one"));
  mtl_compute_encoder_set_buffer(encoder, data, 0, 0);
  mtl_compute_encoder_dispatch_threads(encoder, size_of(100, 1, 1),
                                       size_of(32, 1, 1));
  end(encoder);
  finish(good);
  CHECK_EQUAL(words(data)[99], 1);
  CHECK_EQUAL(mtl_command_buffer_wait(bad), MTL_KERNEL_FAULT);
}

TEST(faults, many_in_a_row_are_each_told) {
  for (int i = 0; i < 30; i++) {
    fault_of("trap_one", new_buffer(400), NULL, 100);
  }
}

TEST(faults, integer_division_by_zero_is_defined) {
  int32_t start[4] = {7, 0, -1, -1};
  mtl_buffer *data = BUFFER_OF(start);
  RUN(new_pipeline(faulty_kernels, "divide"), size_of(1, 1, 1),
      size_of(1, 1, 1), data);
  CHECK_EQUAL(words(data)[2], 0);
  int32_t least[4] = {INT32_MIN, -1, 5, 5};
  data = BUFFER_OF(least);
  RUN(new_pipeline(faulty_kernels, "divide"), size_of(1, 1, 1),
      size_of(1, 1, 1), data);
  CHECK_EQUAL((int32_t)words(data)[2], INT32_MIN);
  CHECK_EQUAL(words(data)[3], 0);
}

static volatile sig_atomic_t host_signals;

static void count_signal(int number) {
  (void)number;
  host_signals = host_signals + 1;
}

// The program's own handlers keep getting the signals that are its own.
TEST(faults, of_the_host_reach_the_hosts_handler) {
  struct sigaction action = {.sa_handler = count_signal};
  CHECK_EQUAL(sigaction(SIGFPE, &action, NULL), 0);
  fault_of("trap_one", new_buffer(400), NULL, 100);
  raise(SIGFPE);
  CHECK_EQUAL(host_signals, 1);
}
