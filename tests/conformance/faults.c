// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// faults.c: kernels that go wrong while they run.
#include "conformance.h"

#include <signal.h>

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
    "kernel void divide(device int *data [[buffer(0)]]) {\n"
    "  data[2] = data[0] / data[1];\n"
    "  data[3] = data[0] % data[1];\n"
    "}\n";

// Runs one kernel that must fail and returns the error's text.
static const char *fault_of(const char *kernel, mtl_buffer *first,
                            mtl_buffer *second, uint32_t grid) {
  mtl_command_buffer *commands = new_commands(new_queue());
  mtl_compute_encoder *encoder = new_encoder(commands);
  mtl_compute_encoder_set_pipeline(encoder,
                                   new_pipeline(faulty_kernels, kernel));
  mtl_compute_encoder_set_buffer(encoder, first, 0, 0);
  mtl_compute_encoder_set_buffer(encoder, second, 0, 1);
  mtl_compute_encoder_dispatch_threads(encoder, size_of(grid, 1, 1),
                                       size_of(32, 1, 1));
  end(encoder);
  CHECK_OK(mtl_command_buffer_commit(commands));
  CHECK_EQUAL(mtl_command_buffer_wait(commands), MTL_KERNEL_FAULT);
  CHECK_EQUAL(mtl_command_buffer_get_status(commands),
              MTL_COMMAND_BUFFER_ERROR);
  const char *text = NULL;
  CHECK_EQUAL(mtl_command_buffer_error(commands, &text), MTL_KERNEL_FAULT);
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

TEST(faults, wild_address_is_caught) {
  uint64_t address[1] = {0};
  fault_of("read_null", new_buffer(4), BUFFER_OF(address), 1);
}

TEST(faults, trap_is_caught) {
  fault_of("trap_one", new_buffer(400), NULL, 100);
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
