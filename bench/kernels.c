// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// kernels.c: whole kernels on whole grids: Mettle, the OpenCL twin on PoCL,
// plain C with OpenMP, 32 lanes by hand. The time is that of one run, commit
// and wait included. The first run of each is checked, element by element
// against each other and in part against a reference.
#include "kernels/kernel.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "opencl.h"

enum {
  CASE_LIMIT = 64,
  // How many elements of an output are compared with the reference.
  REFERENCE_ELEMENTS = 500,
};

// Whose results a case keeps.
enum { METTLE, POCL, PLAIN_C, LANES_C, SIDE_COUNT };
static const char *const side_names[SIDE_COUNT] = {"mettle", "pocl", "c+openmp",
                                                   "32 lanes in c"};

// What a case keeps between samples.
typedef struct kernel_state {
  const kernel_case *it;
  mtl_pipeline *pipeline;
  mtl_buffer *device_buffers[KERNEL_BUFFERS];
  opencl_kernel *kernel;
  void *buffers[SIDE_COUNT][KERNEL_BUFFERS];  // as the host sees them
} kernel_state;
static kernel_state states[CASE_LIMIT];

// --- Buffers -----------------------------------------------------------------

static uint32_t mixed(uint64_t value) {
  value = (value + 1) * UINT64_C(0x9e3779b97f4a7c15);
  value = (value ^ (value >> 32)) * UINT64_C(0xd6e8feb86659fd93);
  return (uint32_t)(value >> 32);
}

// The same for all sides, whatever the machine.
static void fill(void *bytes, kernel_buffer buffer, uint64_t number) {
  uint32_t *words = bytes;
  for (size_t i = 0; i < buffer.length_bytes / 4; i++) {
    const uint32_t bits = mixed(i + (number << 40));
    const float unit = (float)(bits >> 8) * 0x1p-24f;  // 0 to 1
    const float value = buffer.fill == FILL_SIGNED ? 2 * unit - 1 : unit + 0.5f;
    if (buffer.fill == FILL_ZERO) {
      words[i] = 0;
    } else if (buffer.fill == FILL_BITS) {
      words[i] = bits;
    } else {
      memcpy(&words[i], &value, sizeof value);
    }
  }
}

static void fill_all(kernel_state *state, void **buffers) {
  for (uint32_t i = 0; i < KERNEL_BUFFERS; i++) {
    if (buffers[i] != NULL) {
      fill(buffers[i], state->it->buffers[i], i);
    }
  }
}

// Makes the buffers of a side that lie in the program's own memory.
static void make_host_buffers(kernel_state *state, void **buffers) {
  for (uint32_t i = 0; i < KERNEL_BUFFERS; i++) {
    const size_t length_bytes = state->it->buffers[i].length_bytes;
    buffers[i] = length_bytes ? bench_allocate_pages(length_bytes) : NULL;
  }
  fill_all(state, buffers);
}

// --- One run -----------------------------------------------------------------

// The figure of a run that began at start.
static double figure(const kernel_state *state, uint64_t start) {
  const double ns = (double)(now_ns() - start);
  return state->it->work > 0 ? state->it->work / ns : ns / 1e6;
}

static void prepare_mettle(kernel_state *state) {
  static const char head[] =
      "#include <metal_stdlib>\nusing namespace metal;\n";
  char *source = bench_allocate(sizeof head + strlen(state->it->msl));
  strcpy(source, head);
  strcat(source, state->it->msl);
  state->pipeline = bench_pipeline_for(source, "k", state->it->group);
  free(source);
  for (uint32_t i = 0; i < KERNEL_BUFFERS; i++) {
    const size_t length_bytes = state->it->buffers[i].length_bytes;
    if (length_bytes > 0) {
      state->device_buffers[i] = bench_buffer(length_bytes);
      state->buffers[METTLE][i] = mtl_buffer_contents(state->device_buffers[i]);
    }
  }
  fill_all(state, state->buffers[METTLE]);
}

static mtl_size size_of(const uint32_t side[3]) {
  return (mtl_size){side[0], side[1], side[2]};
}

static double measure_mettle(const void *context) {
  kernel_state *state = (kernel_state *)context;
  if (state->pipeline == NULL) {
    prepare_mettle(state);
  }
  const uint64_t start = now_ns();
  mtl_command_buffer *commands = NULL;
  mtl_compute_encoder *encoder = NULL;
  MUST(mtl_command_buffer_create(bench_queue(0), NULL, &commands));
  MUST(mtl_compute_encoder_create(commands, MTL_DISPATCH_SERIAL, &encoder));
  mtl_compute_encoder_set_pipeline(encoder, state->pipeline);
  for (uint32_t i = 0; i < KERNEL_BUFFERS; i++) {
    if (state->device_buffers[i] != NULL) {
      mtl_compute_encoder_set_buffer(encoder, state->device_buffers[i], 0, i);
    }
  }
  mtl_compute_encoder_dispatch_threads(encoder, size_of(state->it->grid),
                                       size_of(state->it->group));
  MUST(mtl_compute_encoder_end(encoder));
  MUST(mtl_command_buffer_commit(commands));
  MUST(mtl_command_buffer_wait(commands));
  const double result = figure(state, start);
  mtl_compute_encoder_release(encoder);
  mtl_command_buffer_release(commands);
  return result;
}

static double measure_pocl(const void *context) {
  kernel_state *state = (kernel_state *)context;
  static opencl_queue *queue;
  if (!opencl_is_there()) {
    return NAN;
  }
  if (queue == NULL) {
    queue = opencl_new_queue();
  }
  if (state->kernel == NULL) {
    state->kernel = opencl_new_kernel(state->it->opencl, "k");
    make_host_buffers(state, state->buffers[POCL]);
    for (uint32_t i = 0; i < KERNEL_BUFFERS; i++) {
      if (state->buffers[POCL][i] != NULL) {
        opencl_set_memory(
            state->kernel, i,
            opencl_new_memory_at(state->buffers[POCL][i],
                                 state->it->buffers[i].length_bytes));
      }
    }
  }
  size_t grid[3], group[3];
  for (int side = 0; side < 3; side++) {
    grid[side] = state->it->grid[side];
    group[side] = state->it->group[side];
  }
  const uint64_t start = now_ns();
  opencl_run(queue, state->kernel, grid, group);
  opencl_finish(queue);
  return figure(state, start);
}

static double measure_c(kernel_state *state, int side, kernel_in_c *run) {
  if (run == NULL) {
    return NAN;
  }
  if (state->buffers[side][0] == NULL) {
    make_host_buffers(state, state->buffers[side]);
  }
  const uint64_t start = now_ns();
  run(state->buffers[side]);
  return figure(state, start);
}

static double measure_plain_c(const void *context) {
  kernel_state *state = (kernel_state *)context;
  return measure_c(state, PLAIN_C, state->it->plain_c);
}

static double measure_lanes_c(const void *context) {
  kernel_state *state = (kernel_state *)context;
  return measure_c(state, LANES_C, state->it->lanes_c);
}

// --- Whether they are right --------------------------------------------------

static double element_of(const kernel_state *state, int side, size_t i) {
  const void *output = state->buffers[side][state->it->output];
  return state->it->is_integer ? (double)((const uint32_t *)output)[i]
                               : (double)((const float *)output)[i];
}

static bool is_close(const kernel_state *state, double a, double b) {
  // Also if one of them is not a number.
  return fabs(a - b) <= state->it->tolerance * (1 + fmax(fabs(a), fabs(b)));
}

static void complain(const kernel_state *state, int side, const char *other,
                     size_t wrong, size_t count, size_t last) {
  fprintf(stderr,
          "mettle-bench: %s: %s differs from %s in %zu of %zu elements, at "
          "%zu it is %.9g\n",
          state->it->name, side_names[side], other, wrong, count, last,
          element_of(state, side, last));
  exit(1);
}

static void check_reference(const kernel_state *state, int side,
                            void *const *inputs, size_t count) {
  size_t wrong = 0, last = 0;
  for (uint32_t n = 0; n < REFERENCE_ELEMENTS; n++) {
    const size_t i = mixed(n) % count;
    const double expected = state->it->reference(inputs, i);
    if (!is_close(state, element_of(state, side, i), expected)) {
      wrong++;
      last = i;
    }
  }
  if (wrong > state->it->may_differ * REFERENCE_ELEMENTS) {
    complain(state, side, "the reference", wrong, REFERENCE_ELEMENTS, last);
  }
}

static void check_each_other(const kernel_state *state, int side,
                             size_t count) {
  size_t wrong = 0, last = 0;
  for (size_t i = 0; i < count; i++) {
    if (!is_close(state, element_of(state, side, i),
                  element_of(state, METTLE, i))) {
      wrong++;
      last = i;
    }
  }
  if (wrong > state->it->may_differ * (double)count) {
    complain(state, side, side_names[METTLE], wrong, count, last);
  }
}

// After one run of each side.
static void check(const void *context) {
  kernel_state *state = (kernel_state *)context;
  const size_t count = state->it->buffers[state->it->output].length_bytes / 4;
  void *inputs[KERNEL_BUFFERS];
  make_host_buffers(state, inputs);
  for (int side = 0; side < SIDE_COUNT; side++) {
    if (state->buffers[side][0] != NULL) {
      check_reference(state, side, inputs, count);
      check_each_other(state, side, count);
    }
  }
  for (uint32_t i = 0; i < KERNEL_BUFFERS; i++) {
    bench_free_pages(inputs[i], state->it->buffers[i].length_bytes);
  }
}

static void release(const void *context) {
  kernel_state *state = (kernel_state *)context;
  for (uint32_t i = 0; i < KERNEL_BUFFERS; i++) {
    const size_t length_bytes = state->it->buffers[i].length_bytes;
    mtl_buffer_release(state->device_buffers[i]);
    bench_free_pages(state->buffers[PLAIN_C][i], length_bytes);
    bench_free_pages(state->buffers[LANES_C][i], length_bytes);
  }
}

// --- From one core to two ----------------------------------------------------

// The fastest of a few runs in a process of its own, which has one thread, or
// the machine's all.
enum { RUNS_OF_A_CHILD = 5 };

double bench_kernel_sample(const char *name) {
  for (const kernel_state *state = states; state->it; state++) {
    if (strcmp(state->it->name, name) == 0) {
      double best = measure_mettle(state);
      for (int i = 0; i < RUNS_OF_A_CHILD; i++) {
        const double value = measure_mettle(state);
        best = (value > best) == (state->it->work > 0) ? value : best;
      }
      return best;
    }
  }
  return NAN;
}

static double measure_threads(const void *context, const char *setting) {
  const kernel_state *state = context;
  return bench_sample_with(state->it->name, setting);
}

static double measure_two_threads(const void *context) {
  return measure_threads(context, "METTLE_CPU_THREADS=2");
}

static double measure_one_thread(const void *context) {
  return measure_threads(context, "METTLE_CPU_THREADS=1");
}

// --- The tables --------------------------------------------------------------

static const kernel_case *const *find_cases(void) {
  // The library of the rivals lies beside this program.
  char path[1024] = "";
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 32);
  strcpy(path + (length > 0 ? length : 0), "-rivals.so");
  // Waiting threads of OpenMP that spin would be in the others' way.
  setenv("OMP_WAIT_POLICY", "passive", 1);
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  kernel_case_list *list = NULL;
  if (library != NULL) {
    *(void **)&list = dlsym(library, "mettle_bench_kernel_cases");
  }
  if (list == NULL) {
    fprintf(stderr, "mettle-bench: %s\n", dlerror());
    exit(1);
  }
  return list();
}

static benchmark rows[CASE_LIMIT], scaling_rows[CASE_LIMIT];
bench_topic kernel_topic = {
    .name = "kernels", .rows = rows, .has_summary = true};
bench_topic scaling_topic = {.name = "kernels, on two cores",
                             .rows = scaling_rows};

void bench_kernels_prepare(void) {
  const kernel_case *const *cases = find_cases();
  for (size_t n = 0; cases[n] != NULL && n + 1 < CASE_LIMIT; n++) {
    states[n].it = cases[n];
    const char *unit = cases[n]->work > 0 ? cases[n]->unit : "ms";
    rows[kernel_topic.row_count++] =
        (benchmark){.name = cases[n]->name,
                    .unit = unit,
                    .sample_count = 11,
                    .mettle = measure_mettle,
                    .peers = {{side_names[POCL], measure_pocl},
                              {side_names[PLAIN_C], measure_plain_c},
                              {side_names[LANES_C], measure_lanes_c}},
                    .context = &states[n],
                    .check = check,
                    .release = release};
    if (cases[n]->is_bound_by_cores) {
      scaling_rows[scaling_topic.row_count++] =
          (benchmark){.name = cases[n]->name,
                      .unit = unit,
                      .sample_count = 3,
                      .mettle = measure_two_threads,
                      .peers = {{"one core", measure_one_thread}},
                      .context = &states[n]};
    }
  }
}
