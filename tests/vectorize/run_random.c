// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// run_random.c: runs every kernel of MSL sources in both tiers over many grids
// and compares what they leave in memory, bit for bit. Public API alone.
//
//   run_random FILE...
//
// One line a kernel: FILE KERNEL VERDICT TEXT, with VERDICT one of
//
//   same     TEXT is a hash of all that the kernel wrote, over all grids
//   serial   the same, and the vectoriser stood back: TEXT has the reason too
//   differs  TEXT says where first
//   fails    TEXT is the error of the compiler or of the command buffer, such
//            as an access past either end of a buffer
//   hangs    T1 did not end in 20 s of processor time, or
//            METTLE_RANDOM_SECONDS, where T0 had; nothing comes after it
//   endless  T0 did not end
//   finds    the checker has findings: TEXT is "KIND LINE LINE;..."
//
// METTLE_RANDOM_CHECK=compare has the checked tier in the place of T1, =find
// runs nothing else. A kernel with "short" in its name finds its output a word
// too short for the 16 words of each thread.
// A kernel's first parameters are those of random_source.py. Kernels with
// "whole" in their name run on grids of whole simdgroups only. A file's first
// line names the math mode: "// math: fast". METTLE_RANDOM_GRIDS=N takes N of
// the grids for each kernel, others for the next: code for fewer threadgroups,
// which is what takes the time.
#include <mettle/mettle.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

#include "random_memory.h"

enum {
  TIER_SECONDS = 20,   // of processors
  SLEEP_STRETCH = 15,  // of that, whatever the machine is busy with
  INPUTS = 3,
};

typedef struct memory {
  uint32_t output[OUTPUT_WORDS];
  uint32_t shared[SHARED_WORDS];
} memory;

typedef struct bench {
  mtl_device *device;
  mtl_queue *queue;
  mtl_buffer *inputs[INPUTS];
  mtl_buffer *output, *shared;
  uint32_t uniforms[UNIFORM_WORDS];
  const char *file;
  int tier_seconds;
  bool is_checked;  // METTLE_RANDOM_CHECK is set
  bool is_alone;    // to "find"
  bool is_short;    // the kernel is to have a short output
} bench;

static void must(mtl_status status) {
  if (status != MTL_OK) {
    fprintf(stderr, "%s: %s\n", mtl_status_name(status), mtl_last_error());
    exit(2);
  }
}

static mtl_size size_of(const uint32_t threads[3]) {
  return (mtl_size){threads[0], threads[1], threads[2]};
}

static mtl_status record(bench *b, const shape *s, mtl_pipeline *pipeline,
                         mtl_command_buffer *commands) {
  mtl_compute_encoder *encoder = NULL;
  const mtl_status status =
      mtl_compute_encoder_create(commands, MTL_DISPATCH_SERIAL, &encoder);
  if (status != MTL_OK) {
    return status;
  }
  mtl_compute_encoder_set_pipeline(encoder, pipeline);
  for (uint32_t i = 0; i < INPUTS; i++) {
    mtl_compute_encoder_set_buffer(encoder, b->inputs[i], 0, i);
  }
  const size_t threads = (size_t)s->grid[0] * s->grid[1] * s->grid[2];
  mtl_compute_encoder_set_buffer(
      encoder, b->output,
      b->is_short ? 4 * (OUTPUT_WORDS - 16 * threads + 1) : 0, 3);
  mtl_compute_encoder_set_buffer(encoder, b->shared, 0, 4);
  mtl_compute_encoder_set_bytes(encoder, b->uniforms, sizeof b->uniforms, 5);
  mtl_compute_encoder_set_threadgroup_memory(encoder, THREADGROUP_BYTES, 0);
  mtl_compute_encoder_dispatch_threads(encoder, size_of(s->grid),
                                       size_of(s->group));
  const mtl_status ended = mtl_compute_encoder_end(encoder);
  mtl_compute_encoder_release(encoder);
  return ended;
}

static mtl_status run(bench *b, const shape *s, mtl_pipeline *pipeline,
                      memory *out) {
  fill(s, mtl_buffer_contents(b->output), mtl_buffer_contents(b->shared),
       b->uniforms);
  mtl_command_buffer *commands = NULL;
  must(mtl_command_buffer_create(b->queue, NULL, &commands));
  mtl_status status = record(b, s, pipeline, commands);
  if (status == MTL_OK) {
    status = mtl_command_buffer_commit(commands);
  }
  if (status == MTL_OK) {
    status = mtl_command_buffer_wait(commands);
  }
  mtl_command_buffer_release(commands);
  memcpy(out->output, mtl_buffer_contents(b->output), sizeof out->output);
  memcpy(out->shared, mtl_buffer_contents(b->shared), sizeof out->shared);
  return status;
}

// Prints one line; newlines in text become spaces.
static void tell(const bench *b, const char *kernel, const char *verdict,
                 const char *text) {
  printf("%s %s %s ", b->file, kernel, verdict);
  const char *error = strstr(text, "error: ");
  text = error ? error : text;  // warnings may stand before it
  for (size_t i = 0; text[i] && i < 400; i++) {
    putchar(text[i] == '\n' ? ' ' : text[i]);
  }
  putchar('\n');
  fflush(stdout);
}

// What the alarm says: "FILE KERNEL hangs -\n".
static char alarm_line[4096];

static void alarm_rings(int signal) {
  (void)signal;
  (void)!write(STDOUT_FILENO, alarm_line, strlen(alarm_line));
  _exit(0);
}

static void set_clocks(time_t processor, time_t wall) {
  setitimer(ITIMER_PROF, &(struct itimerval){.it_value = {.tv_sec = processor}},
            NULL);
  setitimer(ITIMER_REAL, &(struct itimerval){.it_value = {.tv_sec = wall}},
            NULL);
}

// Gives the tier that runs next its time.
static void set_alarm(const bench *b, const char *kernel, const char *verdict) {
  set_clocks(0, 0);
  snprintf(alarm_line, sizeof alarm_line, "%s %s %s -\n", b->file, kernel,
           verdict);
  set_clocks(b->tier_seconds, b->tier_seconds * SLEEP_STRETCH);
}

static bool same(const bench *b, const char *kernel, const shape *s,
                 const memory *t0, const memory *t1) {
  for (size_t i = 0; i < OUTPUT_WORDS + SHARED_WORDS; i++) {
    const bool out = i < OUTPUT_WORDS;
    const uint32_t want = out ? t0->output[i] : t0->shared[i - OUTPUT_WORDS];
    const uint32_t got = out ? t1->output[i] : t1->shared[i - OUTPUT_WORDS];
    if (want != got) {
      char text[200];
      snprintf(text, sizeof text,
               "grid %u %u %u, group %u %u %u: %s word %zu: tier 0 has %08x, "
               "tier 1 %08x",
               s->grid[0], s->grid[1], s->grid[2], s->group[0], s->group[1],
               s->group[2], out ? "output" : "shared",
               out ? i : i - OUTPUT_WORDS, want, got);
      tell(b, kernel, "differs", text);
      return false;
    }
  }
  return true;
}

// Constants by their index: even ones have a value, odd ones that need none
// stay undefined.
static mtl_constant_values *constants_of(mtl_library *library) {
  mtl_constant_values *values = NULL;
  must(mtl_constant_values_create(&values));
  size_t count = 0;
  const mtl_constant_info *infos = mtl_library_constants(library, &count);
  for (size_t i = 0; i < count; i++) {
    const uint32_t whole = 5 + infos[i].index;
    const float real = 1.5f;
    const bool yes = true;
    const void *value = infos[i].type == MTL_TYPE_FLOAT  ? (const void *)&real
                        : infos[i].type == MTL_TYPE_BOOL ? (const void *)&yes
                                                         : &whole;
    if (infos[i].index % 2 == 0) {
      must(mtl_constant_values_set(values, infos[i].index, infos[i].type, 1,
                                   value));
    }
  }
  return values;
}

// One of the shapes that there is code of their own for, by a kernel's name.
static uint32_t announced_shape(const char *kernel) {
  static const uint32_t whole[] = {0, 2, 3, 4};
  uint32_t sum = 0;
  while (*kernel) {
    sum += (unsigned char)*kernel++;
  }
  return whole[sum % (sizeof whole / sizeof *whole)];
}

// Says whether a kernel is to run on the shape that is announced for it, or on
// another.
static bool wants(const char *kernel, bool announced) {
  for (uint32_t i = 0; i < SHAPE_COUNT; i++) {
    if (is_wanted(kernel, i) && (i == announced_shape(kernel)) == announced) {
      return true;
    }
  }
  return false;
}

// Returns the line in the kernel: that of the place, or, for code of an inlined
// function, that of the outermost call, which inlined
// ("FILE:LINE:COLUMN, FILE:LINE:COLUMN") names last.
static unsigned line_of(const mtl_check_place *place) {
  const char *last = strrchr(place->inlined, ',');
  last = last ? last : place->inlined;
  const char *colon = strchr(last, ':');
  return colon ? (unsigned)strtoul(colon + 1, NULL, 10) : place->line;
}

typedef struct findings {
  const char *kernel;
  char text[400];
} findings;

static void add_finding(void *context, const mtl_check_finding *it) {
  findings *found = context;
  const size_t length = strlen(found->text);
  if (strcmp(it->first.kernel, found->kernel) == 0) {
    snprintf(found->text + length, sizeof found->text - length, "%s %u %u;",
             it->kind, line_of(&it->first), line_of(&it->second));
  }
}

// True if the checker has found something in a kernel, which is told.
static bool tell_findings(const bench *b, const char *kernel) {
  findings found = {.kernel = kernel};
  must(mtl_check_report(add_finding, &found));
  if (found.text[0]) {
    tell(b, kernel, "finds", found.text);
  }
  return found.text[0] != '\0';
}

// The checked tier alone.
static void find(bench *b, const char *kernel, mtl_pipeline *checked) {
  static memory out;
  for (uint32_t i = 0; i < SHAPE_COUNT; i++) {
    if (is_wanted(kernel, i)) {
      set_alarm(b, kernel, "hangs");
      const mtl_status status = run(b, &shapes[i], checked, &out);
      set_clocks(0, 0);
      if (status != MTL_OK && status != MTL_KERNEL_FAULT) {
        tell(b, kernel, "fails", mtl_last_error());
        return;
      }
    }
  }
  if (!tell_findings(b, kernel)) {
    tell(b, kernel, "same", "-");
  }
}

static void compare(bench *b, const char *kernel, mtl_pipeline *t0,
                    mtl_pipeline *t1, mtl_pipeline *announced) {
  static memory expected, actual;
  uint64_t state = 1;
  for (uint32_t i = 0; i < SHAPE_COUNT; i++) {
    if (!is_wanted(kernel, i)) {
      continue;
    }
    set_alarm(b, kernel, "endless");
    mtl_status status = run(b, &shapes[i], t0, &expected);
    if (status == MTL_OK) {
      set_alarm(b, kernel, "hangs");
      status = run(b, &shapes[i], i == announced_shape(kernel) ? announced : t1,
                   &actual);
    }
    set_clocks(0, 0);
    if (b->is_checked && tell_findings(b, kernel)) {
      return;
    }
    if (status != MTL_OK) {
      tell(b, kernel, "fails", mtl_last_error());
      return;
    }
    if (!same(b, kernel, &shapes[i], &expected, &actual)) {
      return;
    }
    state = hash(state, actual.output, actual.shared);
  }
  const char *report = mtl_pipeline_report(t1 ? t1 : announced);
  const bool vectorised = b->is_checked || strstr(report, "vectorised for");
  char text[400];
  snprintf(text, sizeof text, "%016llx %.300s", (unsigned long long)state,
           vectorised ? "" : report);
  tell(b, kernel, vectorised ? "same" : "serial", text);
}

static void check_kernel(bench *b, mtl_library *library, const char *name) {
  mtl_constant_values *values = constants_of(library);
  mtl_function *function = NULL;
  mtl_pipeline *t0 = NULL, *t1 = NULL, *announced = NULL;
  const mtl_pipeline_desc debug = {.debug = true};
  mtl_pipeline_desc known = {0};
  memcpy(known.group_threads, shapes[announced_shape(name)].group,
         sizeof known.group_threads);
  const mtl_pipeline_desc usual = {.check =
                                       b->is_checked ? MTL_CHECK_DEFAULT : 0};
  known.check = usual.check;
  b->is_short = strstr(name, "short") != NULL;
  if (mtl_function_create(library, name, values, &function) != MTL_OK ||
      (!b->is_alone && mtl_pipeline_create(function, &debug, &t0) != MTL_OK) ||
      ((wants(name, false) || b->is_alone) &&
       mtl_pipeline_create(function, &usual, &t1) != MTL_OK) ||
      (wants(name, true) && !b->is_alone &&
       mtl_pipeline_create(function, &known, &announced) != MTL_OK)) {
    tell(b, name, "fails", mtl_last_error());
  } else if (b->is_alone) {
    find(b, name, t1);
  } else {
    compare(b, name, t0, t1, announced);
  }
  mtl_pipeline_release(t0);
  mtl_pipeline_release(t1);
  mtl_pipeline_release(announced);
  mtl_function_release(function);
  mtl_constant_values_release(values);
}

static char *read_text(const char *path) {
  FILE *file = fopen(path, "rb");
  char *text = calloc(1, 1 << 22);
  if (!file || !text || fread(text, 1, (1 << 22) - 1, file) == 0) {
    perror(path);
    exit(2);
  }
  fclose(file);
  return text;
}

static void check_file(bench *b, const char *path) {
  char *text = read_text(path);
  const mtl_compile_options options = {
      .math_mode = strncmp(text, "// math: safe", 13) == 0    ? MTL_MATH_SAFE
                   : strncmp(text, "// math: relax", 14) == 0 ? MTL_MATH_RELAXED
                                                              : MTL_MATH_FAST};
  mtl_library *library = NULL;
  b->file = path;
  if (mtl_library_create_from_source(b->device, text, strlen(text), &options,
                                     &library) != MTL_OK) {
    tell(b, "-", "fails", mtl_last_error());
  }
  for (size_t i = 0; library && i < mtl_library_function_count(library); i++) {
    check_kernel(b, library, mtl_library_function_name(library, i));
  }
  mtl_library_release(library);
  free(text);
}

// Memory between pages that nobody may touch: a kernel that leaves its buffer,
// at either end, fails.
static void *between_guards(size_t length_bytes) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  char *room = mmap(NULL, length_bytes + 2 * page, PROT_NONE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (room == MAP_FAILED ||
      mprotect(room + page, length_bytes, PROT_READ | PROT_WRITE) != 0) {
    perror("mmap");
    exit(2);
  }
  return room + page;
}

static mtl_buffer *buffer_of(bench *b, uint32_t words) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  mtl_buffer_desc desc = {.length_bytes = 4 * words};
  if (desc.length_bytes % page == 0) {
    desc.no_copy_bytes = between_guards(desc.length_bytes);
  } else {
    desc.guarded = true;  // behind it
  }
  mtl_buffer *buffer = NULL;
  must(mtl_buffer_create(b->device, &desc, &buffer));
  return buffer;
}

int main(int count, char **arguments) {
  bench b = {0};
  signal(SIGALRM, alarm_rings);
  signal(SIGPROF, alarm_rings);
  must(mtl_device_by_name("cpu", &b.device));
  must(mtl_queue_create(b.device, NULL, &b.queue));
  const char *seconds = getenv("METTLE_RANDOM_SECONDS");
  b.tier_seconds = seconds ? atoi(seconds) : TIER_SECONDS;
  const char *check = getenv("METTLE_RANDOM_CHECK");
  b.is_checked = check != NULL;
  b.is_alone = check && strcmp(check, "find") == 0;
  for (int i = 0; i < INPUTS; i++) {
    b.inputs[i] = buffer_of(&b, INPUT_WORDS);
  }
  b.output = buffer_of(&b, OUTPUT_WORDS);
  b.shared = buffer_of(&b, SHARED_WORDS);
  fill_inputs(mtl_buffer_contents(b.inputs[0]),
              mtl_buffer_contents(b.inputs[1]),
              mtl_buffer_contents(b.inputs[2]));
  for (int i = 1; i < count; i++) {
    check_file(&b, arguments[i]);
  }
  for (int i = 0; i < INPUTS; i++) {
    mtl_buffer_release(b.inputs[i]);
  }
  mtl_buffer_release(b.output);
  mtl_buffer_release(b.shared);
  mtl_queue_release(b.queue);
  mtl_device_release(b.device);
  return 0;
}
