// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// logs.c: messages that kernels log by os_log, and their handlers.
#include "conformance.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

static const char logging_kernels[] =
    "#include <metal_stdlib>\n"
    "#include <metal_logging>\n"
    "using namespace metal;\n"
    "constant os_log custom(\"com.example.app\", \"kernels\");\n"
    "enum fruit { apple = 7 };\n"
    "kernel void scalars(constant float *x [[buffer(0)]]) {\n"
    "  os_log_default.log(\"%d %5d|%-4d|%+d %03u %x %#X %o\", -7, 42, 6, 1,\n"
    "                     9u, 255, 255u, 8);\n"
    "  os_log_default.log(\"%f %.2f %e %g %a\", x[0], x[0], 1e10, 0.5h, 1.0);\n"
    "  os_log_default.log(\"%ld %lu %hhx %hd %c %d %d %%\", 1L << 40, ~0UL,\n"
    "                     0x1ff, 65537, 'q', true, apple);\n"
    "  os_log_default.log(\"%s and %10s|%-6s|%.2s\", \"one\", \"two\", "
    "\"three\",\n"
    "                     \"four\");\n"
    "}\n"
    "kernel void vectors(constant float3 *x [[buffer(0)]]) {\n"
    "  os_log_default.log(\"%v3f %v4hlf\", x[0], float4(1));\n"
    "  os_log_default.log(\"%v2d %v4hhx %.1v2f\", int2(-1, 2),\n"
    "                     uchar4(1, 2, 254, 255), half2(0.5h, 2));\n"
    "  os_log_default.log(\"%v3u\", packed_ushort3(1, 2, 65535));\n"
    "}\n"
    "kernel void levels() {\n"
    "  custom.log_debug(\"a\");\n"
    "  custom.log_info(\"b\");\n"
    "  custom.log(\"c\");\n"
    "  custom.log_error(\"d\");\n"
    "  custom.log_fault(\"e\");\n"
    "  custom.log_with_type(os_log_type_error, \"f\");\n"
    "}\n"
    "kernel void wrong_formats(constant char *bytes [[buffer(0)]]) {\n"
    "  os_log_default.log(\"%d %d\", 1);\n"
    "  os_log_default.log(\"%s %d %f\", 5, 0.5, 3);\n"
    "  os_log_default.log(\"100%y %\", 1);\n"
    "  os_log_default.log(\"%s\", bytes);\n"
    "  os_log_default.log(\"%s\", (constant char *)16);\n"
    "}\n"
    "kernel void some_threads(device uint *out [[buffer(0)]],\n"
    "                         uint i [[thread_position_in_grid]]) {\n"
    "  if (i % 3 == 1) {\n"
    "    for (uint k = 0; k < i % 4; k++)\n"
    "      os_log_default.log(\"%u.%u\", i, k);\n"
    "  }\n"
    "  out[i] = i;\n"
    "}\n"
    "kernel void everyone(uint i [[thread_position_in_grid]]) {\n"
    "  os_log_default.log(\"%u\", i);\n"
    "}\n"
    "kernel void falls(uint i [[thread_position_in_grid]]) {\n"
    "  if (i == 3) {\n"
    "    os_log_default.log(\"going\");\n"
    "    __builtin_trap();\n"
    "  }\n"
    "}\n";

enum { MOST_HEARD = 4096 };

typedef struct heard {
  pthread_mutex_t lock;
  unsigned count;
  mtl_log_level level[MOST_HEARD];
  char text[MOST_HEARD][96];
  char source[64];  // of the last
} heard;

static void hear(void *context, const mtl_log_message *message) {
  heard *it = context;
  pthread_mutex_lock(&it->lock);
  if (it->count < MOST_HEARD) {
    snprintf(it->text[it->count], sizeof it->text[0], "%s", message->text);
    it->level[it->count] = message->level;
    snprintf(it->source, sizeof it->source, "%s/%s", message->subsystem,
             message->category);
  }
  it->count++;
  pthread_mutex_unlock(&it->lock);
}

static heard *new_heard(void) {
  static heard it;
  pthread_mutex_init(&it.lock, NULL);
  it.count = 0;
  return &it;
}

static mtl_log_state *new_state(mtl_log_state_desc desc, heard *it) {
  mtl_log_state *state;
  CHECK_OK(mtl_log_state_create(the_device(), &desc, &state));
  CHECK_OK(mtl_log_state_add_handler(state, hear, it));
  return state;
}

// Runs a kernel of the page above, in the tier asked for.
static mtl_status run_logging(mtl_log_state *state, const char *kernel,
                              bool debug, uint32_t grid, mtl_buffer *first) {
  mtl_queue *queue;
  CHECK_OK(mtl_queue_create(the_device(), &(mtl_queue_desc){.log_state = state},
                            &queue));
  release_queue_later(queue);
  mtl_pipeline *pipeline;
  CHECK_OK(
      mtl_pipeline_create(new_function(new_library(logging_kernels), kernel),
                          &(mtl_pipeline_desc){.debug = debug}, &pipeline));
  release_pipeline_later(pipeline);
  mtl_command_buffer *commands = new_commands(queue);
  mtl_compute_encoder *encoder = new_encoder(commands);
  mtl_compute_encoder_set_pipeline(encoder, pipeline);
  if (first) {
    mtl_compute_encoder_set_buffer(encoder, first, 0, 0);
  }
  mtl_compute_encoder_dispatch_threads(encoder, size_of(grid, 1, 1),
                                       size_of(64, 1, 1));
  end(encoder);
  CHECK_OK(mtl_command_buffer_commit(commands));
  return mtl_command_buffer_wait(commands);
}

// Checks all that one thread of kernel says, in both tiers.
static void check_texts(const char *kernel, mtl_buffer *first,
                        const char *const *texts, unsigned count) {
  for (int debug = 0; debug < 2; debug++) {
    heard *it = new_heard();
    mtl_log_state *state = new_state((mtl_log_state_desc){0}, it);
    CHECK_OK(run_logging(state, kernel, debug, 1, first));
    CHECK_EQUAL(it->count, count);
    for (unsigned i = 0; i < count; i++) {
      CHECK_TEXT(it->text[i], texts[i]);
    }
    mtl_log_state_release(state);
  }
}

TEST(logs, numbers_and_texts_are_formatted) {
  float x[] = {3.14159f};
  check_texts("scalars", BUFFER_OF(x),
              (const char *[]){
                  "-7    42|6   |+1 009 ff 0XFF 10",
                  "3.141590 3.14 1.000000e+10 0.5 0x1p+0",
                  "1099511627776 18446744073709551615 ff 1 q 1 7 %",
                  "one and        two|three |fo",
              },
              4);
}

TEST(logs, vectors_are_lists) {
  float x[] = {1.5f, -2.0f, 0.25f, 0.0f};
  check_texts("vectors", BUFFER_OF(x),
              (const char *[]){
                  "1.500000,-2.000000,0.250000 "
                  "1.000000,1.000000,1.000000,1.000000",
                  "-1,2 1,2,fe,ff 0.5,2.0",
                  "1,2,65535",
              },
              3);
}

TEST(logs, a_format_that_does_not_fit_shows_what_is_there) {
  char bytes[] = {'a', 'b', 'c', 'd'};  // not ended by a zero
  check_texts("wrong_formats", BUFFER_OF(bytes),
              (const char *[]){"1 %d", "5 0.500000 3.000000", "100%y %",
                               "abcd", "(null)"},
              5);
}

TEST(logs, levels_and_sources_come_along) {
  heard *it = new_heard();
  mtl_log_state *state = new_state((mtl_log_state_desc){0}, it);
  CHECK_OK(run_logging(state, "levels", false, 1, NULL));
  const mtl_log_level levels[] = {MTL_LOG_DEBUG, MTL_LOG_INFO,  MTL_LOG_NOTICE,
                                  MTL_LOG_ERROR, MTL_LOG_FAULT, MTL_LOG_ERROR};
  CHECK_EQUAL(it->count, 6);
  for (unsigned i = 0; i < 6; i++) {
    CHECK_EQUAL(it->level[i], levels[i]);
    CHECK_EQUAL(it->text[i][0], 'a' + (int)i);
  }
  CHECK_TEXT(it->source, "com.example.app/kernels");
  mtl_log_state_release(state);
}

TEST(logs, lower_levels_are_not_kept) {
  heard *it = new_heard();
  mtl_log_state *state =
      new_state((mtl_log_state_desc){.level = MTL_LOG_ERROR}, it);
  CHECK_OK(run_logging(state, "levels", false, 1, NULL));
  CHECK_EQUAL(it->count, 3);
  CHECK_TEXT(it->text[0], "d");
  CHECK_EQUAL(mtl_log_state_dropped(state), 0);
  mtl_log_state_release(state);
}

TEST(logs, threads_of_a_divergent_loop_all_speak) {
  for (int debug = 0; debug < 2; debug++) {
    heard *it = new_heard();
    mtl_log_state *state = new_state((mtl_log_state_desc){0}, it);
    CHECK_OK(run_logging(state, "some_threads", debug, 200, new_buffer(800)));
    unsigned expected = 0;
    for (unsigned i = 0; i < 200; i++) {
      for (unsigned k = 0; i % 3 == 1 && k < i % 4; k++, expected++) {
        char text[32];
        snprintf(text, sizeof text, "%u.%u", i, k);
        unsigned found = 0;
        for (unsigned n = 0; n < it->count; n++) {
          found += strcmp(it->text[n], text) == 0;
        }
        CHECK_EQUAL(found, 1);
      }
    }
    CHECK_EQUAL(it->count, expected);
    mtl_log_state_release(state);
  }
}

TEST(logs, what_finds_no_room_is_counted) {
  enum { RECORD_BYTES = 32 + 16, THREADS = 1000 };
  heard *it = new_heard();
  mtl_log_state *state =
      new_state((mtl_log_state_desc){.buffer_bytes = 1024}, it);
  CHECK_OK(run_logging(state, "everyone", false, THREADS, NULL));
  CHECK_EQUAL(it->count, 1024 / RECORD_BYTES);
  CHECK_EQUAL(mtl_log_state_dropped(state), THREADS - 1024 / RECORD_BYTES);
  CHECK_OK(run_logging(state, "everyone", false, 10, NULL));
  CHECK_EQUAL(it->count, 1024 / RECORD_BYTES + 10);
  mtl_log_state_release(state);
}

TEST(logs, what_a_failed_kernel_said_is_heard) {
  heard *it = new_heard();
  mtl_log_state *state = new_state((mtl_log_state_desc){0}, it);
  CHECK_EQUAL(run_logging(state, "falls", false, 32, NULL), MTL_KERNEL_FAULT);
  CHECK_EQUAL(it->count, 1);
  CHECK_TEXT(it->text[0], "going");
  mtl_log_state_release(state);
}

TEST(logs, a_command_buffers_own_state_goes_first) {
  heard *it = new_heard();
  mtl_log_state *state = new_state((mtl_log_state_desc){0}, it);
  mtl_log_state *deaf;
  CHECK_OK(mtl_log_state_create(the_device(), NULL, &deaf));
  mtl_queue *queue;
  CHECK_OK(mtl_queue_create(the_device(), &(mtl_queue_desc){.log_state = deaf},
                            &queue));
  release_queue_later(queue);
  mtl_command_buffer *commands;
  CHECK_OK(mtl_command_buffer_create(
      queue, &(mtl_command_buffer_desc){.log_state = state}, &commands));
  release_commands_later(commands);
  mtl_log_state_release(deaf);
  mtl_compute_encoder *encoder = new_encoder(commands);
  mtl_compute_encoder_set_pipeline(encoder,
                                   new_pipeline(logging_kernels, "everyone"));
  mtl_compute_encoder_dispatch_threads(encoder, size_of(5, 1, 1),
                                       size_of(5, 1, 1));
  end(encoder);
  finish(commands);
  CHECK_EQUAL(it->count, 5);
  mtl_log_state_release(state);
}

TEST(logs, without_a_state_nothing_is_said) {
  RUN(new_pipeline(logging_kernels, "some_threads"), size_of(200, 1, 1),
      size_of(64, 1, 1), new_buffer(800));
}

TEST(logs, wrong_descriptions_are_refused) {
  mtl_log_state *state;
  const mtl_log_state_desc small = {.buffer_bytes = 1023};
  CHECK_EQUAL(mtl_log_state_create(the_device(), &small, &state),
              MTL_INVALID_ARGUMENT);
  CHECK_CONTAINS(mtl_last_error(), "1023");
  const mtl_log_state_desc high = {.level = (mtl_log_level)6};
  CHECK_EQUAL(mtl_log_state_create(the_device(), &high, &state),
              MTL_INVALID_ARGUMENT);
  CHECK_OK(mtl_log_state_create(the_device(), NULL, &state));
  CHECK_EQUAL(mtl_log_state_add_handler(state, NULL, NULL),
              MTL_INVALID_ARGUMENT);
  mtl_log_state_release(state);
}
