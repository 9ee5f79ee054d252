// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// compile_lengths.c: how compilation grows with a kernel's length: ms from
// source to pipeline with a warm compiler, and the memory that it takes.
//
// The kernel is made up: of every ten lines one opens a loop, one closes it and
// one branches and loads; bench/compile_growth.py has more kinds.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

enum { LINE_BYTES = 96, FRAME_BYTES = 1024 };

static void write_line(char *text, uint32_t line) {
  static const char names[] = "abcd";
  const char p = names[line % 4], q = names[(line + 1) % 4];
  const char r = names[(line * 7 + 2) % 4];
  switch (line % 10) {
    case 0:
      snprintf(text, LINE_BYTES, "for (uint t = 0; t < n + %u; t++) {\n",
               line % 7);
      return;
    case 5:
      snprintf(text, LINE_BYTES, "if (%c > %c) %c += x[(i * t + %u) & 1023];\n",
               p, q, r, line);
      return;
    case 9: strcpy(text, "}\n"); return;
    default:
      snprintf(text, LINE_BYTES, "%c = %c * %u.25f + %c - %c;\n", p, q,
               line % 17, r, p);
  }
}

// The number makes it a kernel that no cache knows. malloc'ed.
static char *make_source(uint32_t line_count, uint32_t number) {
  char *source = bench_allocate(FRAME_BYTES + (size_t)line_count * LINE_BYTES);
  char *end = source;
  end += sprintf(end,
                 "#include <metal_stdlib>\n"
                 "using namespace metal;\n"
                 "kernel void k(device float *x [[buffer(0)]],\n"
                 "              device float *y [[buffer(1)]],\n"
                 "              constant uint &n [[buffer(2)]],\n"
                 "              uint i [[thread_position_in_grid]]) {\n"
                 "float a = x[i], b = y[i], c = %u.0f, d = 0.5f;\n",
                 number);
  for (uint32_t line = 0; line < line_count; line++) {
    write_line(end, line);
    end += strlen(end);
  }
  strcpy(end, "y[i] = a + b + c + d;\n}\n");
  return source;
}

static double compile_ms(uint32_t line_count, uint32_t number) {
  char *source = make_source(line_count, number);
  const uint64_t start = now_ns();
  mtl_pipeline *pipeline = bench_pipeline(source, "k");
  const double result = (double)(now_ns() - start) / 1e6;
  mtl_pipeline_release(pipeline);
  free(source);
  return result;
}

static double compile_lines(const void *context) {
  static uint32_t number;
  return compile_ms(*(const uint32_t *)context, ++number);
}

double bench_compiler_memory(const void *unused) {
  (void)unused;
  enum { LINES = 5000 };
  // The compiler's process, which a child of this one starts, becomes a child
  // of this one too, and tells at its end how much its workers had.
  if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) {
    return NAN;
  }
  const pid_t compiling = fork();
  if (compiling == 0) {
    compile_ms(LINES, 0);
    _exit(EXIT_SUCCESS);
  }
  long most_kb = 0;
  struct rusage usage;
  for (pid_t pid; (pid = wait4(-1, NULL, 0, &usage)) > 0;) {
    if (pid != compiling && usage.ru_maxrss > most_kb) {
      most_kb = usage.ru_maxrss;
    }
  }
  return most_kb ? (double)most_kb / 1024 : NAN;
}

static double compiler_memory(const void *unused) {
  (void)unused;
  return bench_sample_without_cache("compiler memory");
}

static const uint32_t lengths[] = {100, 1000, 5000};
static const benchmark rows[] = {
    {.name = "compile 100 lines",
     .unit = "ms",
     .sample_count = 7,
     .mettle = compile_lines,
     .context = &lengths[0]},
    {.name = "compile 1000 lines",
     .unit = "ms",
     .sample_count = 3,
     .mettle = compile_lines,
     .context = &lengths[1]},
    {.name = "compile 5000 lines",
     .unit = "ms",
     .sample_count = 1,
     .mettle = compile_lines,
     .context = &lengths[2]},
    {.name = "compiler's memory for 5000 lines",
     .unit = "MB",
     .sample_count = 1,
     .mettle = compiler_memory},
};
const bench_topic length_topic = {
    .name = "compilation of long kernels",
    .rows = rows,
    .row_count = sizeof rows / sizeof rows[0],
};
