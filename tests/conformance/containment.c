// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// containment.c: kernels that leave what is theirs hurt nobody: not each other,
// not the program's memory, stack and signals. Each is a fault that says what
// happened, in both tiers, and the program goes on.
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>

#include "conformance.h"

static const char straying_kernels[] =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "kernel void shared_words(device uint *out [[buffer(0)]],\n"
    "                         device const int *at [[buffer(1)]],\n"
    "                         uint t [[thread_position_in_threadgroup]]) {\n"
    "  threadgroup uint words[32];\n"
    "  words[t] = t;\n"
    "  threadgroup_barrier(mem_flags::mem_threadgroup);\n"
    "  words[at[0] + int(t)] = 0x41414141;\n"  // line 9
    "  threadgroup_barrier(mem_flags::mem_threadgroup);\n"
    "  out[t] = words[t];\n"
    "}\n"
    "kernel void looks_up_the_stack(device uint *out [[buffer(0)]],\n"
    "                               device const int *step [[buffer(1)]]) {\n"
    "  thread uint mine = out[0];\n"
    "  device const uchar *p = (device const uchar *)(ulong)&mine;\n"
    "  uint sum = 0;\n"
    "  for (uint k = 0; k < (1u << 30); k++) { sum += *p; p += step[0]; }\n"
    "  out[0] = sum + mine;\n"
    "}\n"
    "__attribute__((noinline)) static uint deeper(uint n, device uint *o) {\n"
    "  uint a[64];\n"
    "  for (uint i = 0; i < 64; ++i) a[i] = o[(n + i) & 63];\n"
    "  return deeper(n + 1, o) + a[n & 63];\n"  // line 24
    "}\n"
    "kernel void recurses(device uint *out [[buffer(0)]]) {\n"
    "  out[0] = deeper(out[0], out);\n"
    "}\n"
    "kernel void put(device uint *out [[buffer(0)]],\n"
    "                device const long *at [[buffer(1)]],\n"
    "                uint i [[thread_position_in_grid]]) {\n"
    "  if (i == 0) { out[at[0]] = 0x41414141; }\n"  // line 32
    "}\n"
    "kernel void take(constant uint *in [[buffer(0)]],\n"
    "                 device uint *out [[buffer(1)]],\n"
    "                 uint i [[thread_position_in_grid]]) {\n"
    "  out[i] = in[i + 4];\n"
    "}\n"
    "kernel void follow(device const ulong *address [[buffer(0)]],\n"
    "                   device uint *out [[buffer(1)]],\n"
    "                   uint i [[thread_position_in_grid]]) {\n"
    "  out[i] = ((device const uint *)address[0])[i];\n"
    "}\n"
    "kernel void spin(device uint *out [[buffer(0)]],\n"
    "                 device const uint *turns [[buffer(1)]],\n"
    "                 uint i [[thread_position_in_grid]]) {\n"
    "  uint v = i;\n"
    "  for (uint k = 0; k < turns[0]; ++k) {\n"
    "    v = v * 1664525u + 1013904223u;\n"
    "    v ^= v >> 7;\n"
    "  }\n"
    "  out[i] = v;\n"
    "}\n"
    "kernel void odd_vectors(device uchar *bytes [[buffer(0)]],\n"
    "                        uint i [[thread_position_in_grid]]) {\n"
    "  if (i == 0) { *(device uint4 *)(bytes + 3) = uint4(1); }\n"
    "}\n"
    "kernel void reads_null(device uint *out [[buffer(0)]],\n"
    "                       uint i [[thread_position_in_grid]]) {\n"
    "  device uint *null = nullptr;\n"
    "  out[i] = *null + 5;\n"
    "}\n"
    "kernel void writes_behind_null(device uint *out [[buffer(0)]],\n"
    "                               uint i [[thread_position_in_grid]]) {\n"
    "  device uint *null = nullptr;\n"
    "  null[out[0] + i] = 1;\n"
    "}\n"
    "kernel void chooses_null(device uint *out [[buffer(0)]],\n"
    "                         uint i [[thread_position_in_grid]]) {\n"
    "  device uint *chosen = out[i] ? out : nullptr;\n"
    "  chosen[i] = 7;\n"
    "}\n"
    "kernel void reads_far(device uint *out [[buffer(0)]]) {\n"
    "  out[0] = *(device uint *)(1ul << 45);\n"
    "}\n"
    "kernel void sums_rows(device float *x [[buffer(0)]],\n"
    "                      device const int *at [[buffer(1)]],\n"
    "                      uint i [[thread_position_in_grid]]) {\n"
    "  float s = 0;\n"
    "  for (uint k = 0; k < 17; ++k) {\n"
    "    s += x[(i * 17 + k) % 1024 + (i == 173 && k == 9 ? at[0] : 0)];\n"
    "  }\n"
    "  x[i] = s;\n"
    "}\n"
    "kernel void strays_once(device float *x [[buffer(0)]],\n"
    "                        device const int *at [[buffer(1)]],\n"
    "                        uint i [[thread_position_in_grid]]) {\n"
    "  x[i + (i == 173 ? at[0] : 0)] = 1;\n"
    "}\n";

static mtl_pipeline *pipeline_of(const char *kernel, bool debug) {
  mtl_library *library = new_library_with(
      straying_kernels,
      &(mtl_compile_options){.file_name = "straying.metal", .debug = debug});
  return new_pipeline_from(library, kernel);
}

static mtl_command_buffer *commit_two(mtl_pipeline *pipeline, mtl_buffer *first,
                                      mtl_buffer *second, uint32_t threads) {
  mtl_command_buffer *commands = new_commands(new_queue());
  mtl_compute_encoder *encoder = new_encoder(commands);
  mtl_compute_encoder_set_pipeline(encoder, pipeline);
  mtl_compute_encoder_set_buffer(encoder, first, 0, 0);
  mtl_compute_encoder_set_buffer(encoder, second, 0, 1);
  mtl_compute_encoder_dispatch_threads(encoder, size_of(threads, 1, 1),
                                       size_of(threads, 1, 1));
  end(encoder);
  CHECK_OK(mtl_command_buffer_commit(commands));
  return commands;
}

static const char *fault_of(mtl_pipeline *pipeline, mtl_buffer *first,
                            mtl_buffer *second, uint32_t threads) {
  mtl_command_buffer *commands = commit_two(pipeline, first, second, threads);
  CHECK_EQUAL(mtl_command_buffer_wait(commands), MTL_KERNEL_FAULT);
  const char *text = NULL;
  (void)mtl_command_buffer_error(commands, &text);
  return text;
}

// Checks that the program, its heap and the device still work.
static void check_all_is_well(void) {
  void *pieces[64];
  for (size_t i = 0; i < COUNT_OF(pieces); i++) {
    pieces[i] = calloc(1, 40 * (i + 1));
    CHECK(pieces[i] && *(char *)pieces[i] == 0);
  }
  for (size_t i = 0; i < COUNT_OF(pieces); i++) {
    free(pieces[i]);
  }
  mtl_buffer *data = new_buffer(4096);
  RUN(new_pipeline(simple_kernels, "add_one"), size_of(1000, 1, 1),
      size_of(64, 1, 1), data);
  CHECK_EQUAL(words(data)[999], 1);
}

// --- threadgroup memory, the stack -------------------------------------------

static void check_shared_words(int32_t offset, const char *what) {
  for (int debug = 0; debug < 2; debug++) {
    int32_t at[1] = {offset};
    const char *text = fault_of(pipeline_of("shared_words", debug),
                                new_buffer(128), BUFFER_OF(at), 32);
    CHECK_CONTAINS(text, "failed at straying.metal:9,");
    CHECK_CONTAINS(text, what);
    check_all_is_well();
  }
}

TEST(containment, threadgroup_memory_is_left_at_its_end) {
  check_shared_words(600, "past the end of its 128 bytes of threadgroup");
}

TEST(containment, threadgroup_memory_is_left_far_behind) {
  check_shared_words(250000, "past the end of its 128 bytes of threadgroup");
}

TEST(containment, threadgroup_memory_is_left_before_its_start) {
  check_shared_words(-1000, "before its 128 bytes of threadgroup memory");
}

TEST(containment, threadgroup_memory_is_left_far_before) {
  check_shared_words(-250000, "before its 128 bytes of threadgroup memory");
}

// In T0 a fault is exact: even the first word behind the end faults.
TEST(containment, debug_finds_the_first_word_behind_threadgroup_memory) {
  int32_t at[1] = {1};
  const char *text = fault_of(pipeline_of("shared_words", true),
                              new_buffer(128), BUFFER_OF(at), 32);
  CHECK_CONTAINS(text, "thread (31, 0, 0)");
  CHECK_CONTAINS(text, "right behind the end of its 128 bytes of threadgroup");
}

// Reads the threads that a text tells of, which lie in one row.
static void threads_of(const char *text, unsigned *first, unsigned *last) {
  char copy[1024];
  snprintf(copy, sizeof copy, "%s", text);
  const char *several = strstr(copy, "one of threads (");
  const char *one = strstr(copy, "thread (");
  if (several) {
    CHECK_EQUAL(
        sscanf(several, "one of threads (%u, 0, 0) to (%u, 0, 0)", first, last),
        2);
  } else {
    CHECK(one && sscanf(one, "thread (%u, 0, 0)", first) == 1);
    *last = *first;
  }
}

// Thread 173 of 256. T0 names it, T1 those that ran with it: one simdgroup, or
// up to four of rows that are summed.
TEST(containment, the_thread_is_among_those_that_are_told) {
  static const char *const names[] = {"sums_rows", "strays_once"};
  int32_t at[1] = {1 << 30};
  for (int i = 0; i < 4; i++) {
    const bool debug = i / 2;
    const char *text = fault_of(pipeline_of(names[i % 2], debug),
                                new_buffer(4096), BUFFER_OF(at), 256);
    unsigned first, last;
    threads_of(text, &first, &last);
    CHECK(first <= 173 && 173 <= last && last - first < 128);
    CHECK(!debug || first == last);
    CHECK(debug || strcmp(names[i % 2], "strays_once") != 0 ||
          (first == 160 && last == 191));
  }
}

TEST(containment, threadgroup_memory_is_left_many_times) {
  mtl_pipeline *pipeline = pipeline_of("shared_words", false);
  for (int32_t i = 0; i < 20; i++) {
    int32_t at[1] = {1000 + i * 997};
    fault_of(pipeline, new_buffer(128), BUFFER_OF(at), 32);
    check_all_is_well();
  }
}

// In T1 there may be no such variable.
TEST(containment, stack_of_the_host_is_out_of_reach) {
  static const int32_t steps[] = {1, 4096, -4096};
  for (size_t i = 0; i < COUNT_OF(steps); i++) {
    int32_t step[1] = {steps[i]};
    CHECK_CONTAINS(fault_of(pipeline_of("looks_up_the_stack", true),
                            new_buffer(4), BUFFER_OF(step), 1),
                   "private memory");
  }
  check_all_is_well();
}

TEST(containment, recursion_without_end) {
  for (int debug = 0; debug < 2; debug++) {
    const char *text =
        fault_of(pipeline_of("recurses", debug), new_buffer(256), NULL, 1);
    CHECK_CONTAINS(text, "straying.metal:2");  // 23 or 24
    CHECK_CONTAINS(text, "private memory does not fit on its stack");
    check_all_is_well();
  }
}

// The largest allowed private memory has the right values in both tiers.
TEST(containment, private_memory_may_be_as_large_as_the_limit) {
  static const char source[] =
      "kernel void k(device uint *out [[buffer(0)]],\n"
      "              uint i [[thread_position_in_grid]]) {\n"
      "  uint a[262144];\n"
      "  const uint n = out[i];\n"
      "  for (uint j = 0; j < 262144; ++j) { a[j] = n * j; }\n"
      "  out[i] = a[262143 - n] + a[n * 1000];\n"
      "}\n";
  for (int debug = 0; debug < 2; debug++) {
    mtl_buffer *out = new_buffer(40 * 4);
    for (uint32_t i = 0; i < 40; i++) {
      words(out)[i] = i;
    }
    mtl_library *library =
        new_library_with(source, &(mtl_compile_options){.debug = debug});
    RUN(new_pipeline_from(library, "k"), size_of(40, 1, 1), size_of(40, 1, 1),
        out);
    for (uint32_t i = 0; i < 40; i++) {
      CHECK_EQUAL(words(out)[i], i * (262143 - i) + i * i * 1000);
    }
  }
}

// --- buffers -----------------------------------------------------------------

static void check_put(mtl_buffer *out, int64_t word, const char *what) {
  for (int debug = 0; debug < 2; debug++) {
    int64_t at[1] = {word};
    const char *text =
        fault_of(pipeline_of("put", debug), out, BUFFER_OF(at), 1);
    CHECK_CONTAINS(text, "failed at straying.metal:32,");
    CHECK_CONTAINS(text, what);
  }
}

TEST(containment, buffers_do_not_touch) {
  static const size_t lengths[] = {16, 4096, 65536, 1 << 20, 8 << 20};
  for (size_t i = 0; i < COUNT_OF(lengths); i++) {
    mtl_buffer *around[3];
    for (int k = 0; k < 3; k++) {
      around[k] = new_buffer_like(
          (mtl_buffer_desc){.length_bytes = lengths[i], .label = "middle"});
    }
    // Accesses behind its last page, and before its first byte.
    const int64_t pages = (int64_t)((lengths[i] + 4095) / 4096 * 1024);
    check_put(around[1], pages, " the end of buffer 'middle'");
    check_put(around[1], pages + 1000, " past the end of buffer 'middle'");
    check_put(around[1], -1, "bytes before buffer 'middle'");
    for (int k = 0; k < 3; k++) {
      CHECK_EQUAL(words(around[k])[0], 0);
      CHECK_EQUAL(words(around[k])[lengths[i] / 4 - 1], 0);
    }
  }
}

TEST(containment, guarded_buffers_are_guarded_far_off) {
  mtl_buffer *out = new_buffer_like(
      (mtl_buffer_desc){.length_bytes = 64, .guarded = true, .label = "close"});
  check_put(out, 16, "right behind the end of buffer 'close'");
  check_put(out, 100000, "399936 bytes past the end of buffer 'close'");
  check_put(out, -100000, "400000 bytes before buffer 'close'");
}

TEST(containment, many_small_buffers_are_had) {
  enum { COUNT = 100000 };
  mtl_buffer **buffers = calloc(COUNT, sizeof *buffers);
  CHECK(buffers != NULL);
  for (uint32_t i = 0; i < COUNT; i++) {
    CHECK_OK(mtl_buffer_create(
        the_device(), &(mtl_buffer_desc){.length_bytes = 64}, &buffers[i]));
  }
  words(buffers[COUNT - 1])[0] = 7;
  CHECK_EQUAL(words(buffers[COUNT - 2])[0], 0);
  for (uint32_t i = 0; i < COUNT; i++) {
    mtl_buffer_release(buffers[i]);
  }
  free(buffers);
}

TEST(containment, bytes_of_an_encoder_end_at_their_end) {
  for (int debug = 0; debug < 2; debug++) {
    const uint32_t in[4] = {1, 2, 3, 4};
    mtl_command_buffer *commands = new_commands(new_queue());
    mtl_compute_encoder *encoder = new_encoder(commands);
    mtl_compute_encoder_set_pipeline(encoder, pipeline_of("take", debug));
    mtl_compute_encoder_set_bytes(encoder, in, sizeof in, 0);
    mtl_compute_encoder_set_buffer(encoder, new_buffer(4096), 0, 1);
    mtl_compute_encoder_dispatch_threads(encoder, size_of(1, 1, 1),
                                         size_of(1, 1, 1));
    end(encoder);
    CHECK_OK(mtl_command_buffer_commit(commands));
    CHECK_EQUAL(mtl_command_buffer_wait(commands), MTL_KERNEL_FAULT);
    CHECK_CONTAINS(mtl_last_error(),
                   "behind the end of the bytes of argument 'in' of 16 bytes");
  }
}

// So many inline values that some share pages: all of them keep their contents.
TEST(containment, bytes_of_many_dispatches_are_kept) {
  enum { COUNT = 3000 };
  mtl_pipeline *pipeline = pipeline_of("take", false);
  mtl_buffer *out = new_buffer(COUNT * 4);
  mtl_command_buffer *commands = new_commands(new_queue());
  mtl_compute_encoder *encoder = new_encoder(commands);
  mtl_compute_encoder_set_pipeline(encoder, pipeline);
  for (uint32_t i = 0; i < COUNT; i++) {
    uint32_t in[70] = {0};
    in[4] = i * 3;
    mtl_compute_encoder_set_bytes(encoder, in, sizeof in, 0);
    mtl_compute_encoder_set_buffer(encoder, out, i * 4, 1);
    mtl_compute_encoder_dispatch_threads(encoder, size_of(1, 1, 1),
                                         size_of(1, 1, 1));
  }
  end(encoder);
  finish(commands);
  for (uint32_t i = 0; i < COUNT; i++) {
    CHECK_EQUAL(words(out)[i], i * 3);
  }
}

// --- whom the text blames ----------------------------------------------------

TEST(containment, what_is_only_read_is_not_blamed_for_a_write) {
  mtl_buffer *at = new_buffer_like(
      (mtl_buffer_desc){.length_bytes = 4096, .label = "indices"});
  mtl_buffer *out = new_buffer_like((mtl_buffer_desc){.length_bytes = 64});
  ((int64_t *)mtl_buffer_contents(at))[0] =
      ((int64_t)mtl_buffer_gpu_address(at) + 4096 -
       (int64_t)mtl_buffer_gpu_address(out)) /
      4;
  const char *text = fault_of(pipeline_of("put", false), out, at, 1);
  CHECK(strstr(text, "indices") == NULL);
  CHECK_CONTAINS(text, "it wrote to address 0x");
}

TEST(containment, an_argument_stands_for_a_buffer_without_label) {
  mtl_buffer *out = new_buffer_like((mtl_buffer_desc){.length_bytes = 4096});
  check_put(out, 1024, "right behind the end of the buffer of argument 'out'");
}

TEST(containment, memory_of_a_released_buffer_is_told) {
  for (int debug = 0; debug < 2; debug++) {
    mtl_buffer *gone;
    CHECK_OK(mtl_buffer_create(
        the_device(),
        &(mtl_buffer_desc){.length_bytes = 256, .label = "weights"}, &gone));
    uint64_t address[1] = {mtl_buffer_gpu_address(gone)};
    mtl_buffer *addresses = BUFFER_OF(address);
    mtl_buffer_release(gone);
    CHECK_CONTAINS(
        fault_of(pipeline_of("follow", debug), addresses, new_buffer(256), 64),
        "in buffer 'weights' of 256 bytes, which was released");
  }
}

TEST(containment, impossible_addresses_are_told) {
  static const uint64_t impossible[] = {UINT64_C(0x8000000000000000),
                                        UINT64_C(0x7f7f7f7f7f7f7f7f)};
  for (size_t i = 0; i < COUNT_OF(impossible); i++) {
    for (int debug = 0; debug < 2; debug++) {
      uint64_t address[1] = {impossible[i]};
      const char *text = fault_of(pipeline_of("follow", debug),
                                  BUFFER_OF(address), new_buffer(256), 1);
      char digits[32];
      snprintf(digits, sizeof digits, "0x%llx",
               (unsigned long long)impossible[i]);
      CHECK_CONTAINS(text, digits);
#if defined(__x86_64__)
      CHECK_CONTAINS(text, "which no memory can have");
#endif
    }
  }
}

#if defined(__x86_64__)
// MSL leaves them undefined; where the processor refuses, the text says so.
TEST(containment, misaligned_vectors_are_told) {
  for (int debug = 0; debug < 2; debug++) {
    CHECK_CONTAINS(
        fault_of(pipeline_of("odd_vectors", debug), new_buffer(4096), NULL, 4),
        "misaligned");
  }
}
#endif

// --- the host's signals and stacks -------------------------------------------

static sigjmp_buf probe_start;
static volatile sig_atomic_t own_faults;
// An address below those that a program may map.
static int *volatile nowhere = (int *)4096;

static void on_own_fault(int number) {
  (void)number;
  own_faults = own_faults + 1;
  siglongjmp(probe_start, 1);
}

// Probes memory as a program may: under its own handler.
static void on_alarm(int number) {
  (void)number;
  if (sigsetjmp(probe_start, 1) == 0) {
    *nowhere = 1;
  }
}

TEST(containment, fault_in_a_handler_of_the_hosts_is_the_hosts) {
#ifdef __SANITIZE_THREAD__
  test_skip("ThreadSanitizer calls handlers from places of its own");
#endif
  const struct sigaction fault = {.sa_handler = on_own_fault,
                                  .sa_flags = SA_NODEFER};
  const struct sigaction alarm = {.sa_handler = on_alarm};
  CHECK_EQUAL(sigaction(SIGSEGV, &fault, NULL), 0);  // before Mettle's
  CHECK_EQUAL(sigaction(SIGALRM, &alarm, NULL), 0);
  uint32_t turns[1] = {20 * 1000 * 1000};
  mtl_pipeline *pipeline = pipeline_of("spin", false);
  mtl_command_buffer *commands =
      commit_two(pipeline, new_buffer(256), BUFFER_OF(turns), 64);
  const struct itimerval often = {{0, 2000}, {0, 2000}};
  const struct itimerval never = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &often, NULL);
  const mtl_status status = mtl_command_buffer_wait(commands);
  setitimer(ITIMER_REAL, &never, NULL);
  CHECK_EQUAL(status, MTL_OK);
  CHECK(own_faults > 0);
}

// A stack for signals on which this processor's registers may not fit.
static void use_small_signal_stack(void) {
  enum { PAGE = 4096, BYTES = 2048 };
  char *pages = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(pages != MAP_FAILED);
  mprotect(pages, PAGE, PROT_NONE);
  const stack_t stack = {.ss_sp = pages + PAGE, .ss_size = BYTES};
  if (sigaltstack(&stack, NULL) != 0) {
    test_skip("the system refuses such a small stack itself");
  }
}

static void check_null_fault(void) {
  uint64_t address[1] = {0};
  CHECK_CONTAINS(fault_of(pipeline_of("follow", false), BUFFER_OF(address),
                          new_buffer(256), 1),
                 "a null pointer");
}

// The compiler knows the addresses, and takes no access for one that cannot be.
TEST(containment, accesses_to_null_by_name_are_faults) {
  static const char *const kernels[] = {"reads_null", "writes_behind_null",
                                        "chooses_null"};
  for (size_t i = 0; i < 2 * COUNT_OF(kernels); i++) {
    CHECK_CONTAINS(fault_of(pipeline_of(kernels[i / 2], i % 2), new_buffer(256),
                            new_buffer(16), 64),
                   "a null pointer");
  }
  CHECK_CONTAINS(fault_of(pipeline_of("reads_far", false), new_buffer(256),
                          new_buffer(16), 1),
                 "it read address 0x200000000000");
}

TEST(containment, small_signal_stacks_do_not_matter) {
  use_small_signal_stack();
  check_null_fault();
}

TEST(containment, small_signal_stacks_may_come_later) {
  check_null_fault();
  use_small_signal_stack();
  check_null_fault();
}

static void *wait_for(void *commands) {
  return (void *)(uintptr_t)mtl_command_buffer_wait(commands);
}

TEST(containment, thread_with_a_small_stack_may_wait) {
  enum { STACK_BYTES = 96 * 1024 };
  uint32_t turns[1] = {100000};
  mtl_command_buffer *commands = commit_two(
      pipeline_of("spin", false), new_buffer(256), BUFFER_OF(turns), 64);
  pthread_attr_t attributes;
  pthread_t thread;
  void *status = NULL;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, STACK_BYTES);
  CHECK_EQUAL(pthread_create(&thread, &attributes, wait_for, commands), 0);
  CHECK_EQUAL(pthread_join(thread, &status), 0);
  pthread_attr_destroy(&attributes);
  CHECK_EQUAL((uintptr_t)status, MTL_OK);
}
