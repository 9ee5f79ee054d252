// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// main.c: runs the benchmarks, prints a table and writes bench.json: a list of
// {"name", "unit", "value", "peers": {name: value}}.
#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "opencl.h"

static const bench_topic *const topics[] = {
    &submit_topic, &small_topic,   &copy_topic,           &compile_topic,
    &length_topic, &kernel_topic,  &scaling_topic,        &matrix_product_topic,
    &stream_topic, &message_topic};

enum {
  // A side whose samples all take longer takes only those that its row asks.
  QUICK_NS = 50000000,
  // How long the others go on, and how many samples they take at most.
  MORE_ROUNDS_NS = 1000000000,
  MOST_SAMPLES = 101,
};

typedef struct row_result {
  const benchmark *row;
  double mettle;
  double peers[BENCH_MAX_PEERS];
} row_result;

static int by_value(const void *left, const void *right) {
  const double a = *(const double *)left, b = *(const double *)right;
  return (a > b) - (a < b);
}

static double median(double *values, size_t count) {
  qsort(values, count, sizeof values[0], by_value);
  return count % 2 ? values[count / 2]
                   : (values[count / 2 - 1] + values[count / 2]) / 2;
}

// Mettle or a peer.
typedef struct bench_side {
  bench_measure *measure;  // NULL if it is not there
  double *samples;         // [sample_count]
  uint32_t sample_count;
  uint64_t least_ns;  // that a sample took
} bench_side;

enum { SIDE_COUNT = BENCH_MAX_PEERS + 1 };

// The first round is not counted.
static void take_sample(const benchmark *row, bench_side *side,
                        uint32_t round) {
  if (side->measure == NULL) {
    return;
  }
  const uint64_t start = now_ns();
  const double value = side->measure(row->context);
  const uint64_t spent_ns = now_ns() - start;
  if (round == 0 || spent_ns < side->least_ns) {
    side->least_ns = spent_ns;
  }
  if (isnan(value)) {
    side->measure = NULL;
  } else if (round > 0) {
    side->samples[side->sample_count++] = value;
  }
}

static bool is_quick(const bench_side *side) {
  return side->measure != NULL && side->least_ns < QUICK_NS;
}

// Says whether Mettle and a peer are: alone, Mettle's samples would be of
// another time than what they are compared with.
static bool may_go_on(const bench_side *sides) {
  bool any = false;
  for (size_t i = 1; i < SIDE_COUNT; i++) {
    any |= is_quick(&sides[i]);
  }
  return any && is_quick(&sides[0]);
}

// Takes all samples of one row, Mettle and its peers in turn, so that a change
// of the machine's mood meets all alike, and each round another first, for what
// runs behind a long sample finds the machine's processors awake. Behind the
// rounds that the row asks for, the quick sides go on for a while: a run of a
// few milliseconds differs from the next by more than what is asked.
static void take_samples(const benchmark *row, bench_side *sides) {
  uint64_t end = 0;
  for (uint32_t round = 0; round < MOST_SAMPLES; round++) {
    const bool all = round <= row->sample_count;
    if (!all && (now_ns() > end || !may_go_on(sides))) {
      return;
    }
    for (size_t i = 0; i < SIDE_COUNT; i++) {
      bench_side *side = &sides[(i + round) % SIDE_COUNT];
      if (all || is_quick(side)) {
        take_sample(row, side, round);
      }
    }
    if (round == 0 && row->check != NULL) {
      row->check(row->context);
    }
    end = all ? now_ns() + MORE_ROUNDS_NS : end;
  }
}

static row_result run_row(const benchmark *row) {
  row_result result = {.row = row};
  bench_side sides[SIDE_COUNT] = {{.measure = row->mettle}};
  for (size_t i = 0; i < SIDE_COUNT; i++) {
    if (i > 0) {
      sides[i].measure = row->peers[i - 1].measure;
    }
    sides[i].samples = bench_allocate(MOST_SAMPLES * sizeof(double));
  }
  take_samples(row, sides);
  for (size_t i = 0; i < SIDE_COUNT; i++) {
    *(i == 0 ? &result.mettle : &result.peers[i - 1]) =
        sides[i].measure ? median(sides[i].samples, sides[i].sample_count)
                         : NAN;
    free(sides[i].samples);
  }
  if (row->release != NULL) {
    row->release(row->context);
  }
  return result;
}

static bool more_is_better(const char *unit) {
  return strstr(unit, "/s") != NULL;
}

// How many times better Mettle is than a peer.
static double advantage(const row_result *result, size_t peer) {
  return more_is_better(result->row->unit)
             ? result->mettle / result->peers[peer]
             : result->peers[peer] / result->mettle;
}

static void print_heading(const char *topic) {
  printf("\n%-40s %10s  %-5s  %s\n", topic, "mettle", "",
         "others (times Mettle is better)");
}

static void print_row(const row_result *result) {
  const benchmark *row = result->row;
  printf("%-40s %10.3g  %-5s ", row->name, result->mettle, row->unit);
  for (size_t i = 0; i < BENCH_MAX_PEERS && row->peers[i].name; i++) {
    if (isnan(result->peers[i])) {
      printf(" %s: not here", row->peers[i].name);
    } else {
      printf(" %s %.3g (%.2fx)", row->peers[i].name, result->peers[i],
             advantage(result, i));
    }
  }
  putchar('\n');
  fflush(stdout);
}

// --- Geometric means ---------------------------------------------------------

// Of a topic's rows, for each place among a row's peers, which is the same peer
// in all of them.
typedef struct summary {
  double sum_of_logs[BENCH_MAX_PEERS];
  uint32_t count[BENCH_MAX_PEERS];
  double least[BENCH_MAX_PEERS];
  const benchmark *least_row[BENCH_MAX_PEERS];
} summary;

static void summary_add(summary *all, const row_result *result) {
  for (size_t i = 0; i < BENCH_MAX_PEERS && result->row->peers[i].name; i++) {
    if (isnan(result->peers[i]) || isnan(result->mettle)) {
      continue;
    }
    const double times = advantage(result, i);
    all->sum_of_logs[i] += log(times);
    if (all->count[i]++ == 0 || times < all->least[i]) {
      all->least[i] = times;
      all->least_row[i] = result->row;
    }
  }
}

static void summary_print(const summary *all) {
  for (size_t i = 0; i < BENCH_MAX_PEERS; i++) {
    if (all->count[i] > 0) {
      printf("geometric mean against %s over %u: %.2fx, least %.2fx (%s)\n",
             all->least_row[i]->peers[i].name, all->count[i],
             exp(all->sum_of_logs[i] / all->count[i]), all->least[i],
             all->least_row[i]->name);
    }
  }
}

static void write_json_row(FILE *file, const row_result *result, bool first) {
  const benchmark *row = result->row;
  fprintf(file, "%s\n  {\"name\": \"%s\", \"unit\": \"%s\", \"value\": %.6g, ",
          first ? "" : ",", row->name, row->unit, result->mettle);
  fprintf(file, "\"peers\": {");
  const char *separator = "";
  for (size_t i = 0; i < BENCH_MAX_PEERS && row->peers[i].name; i++) {
    if (!isnan(result->peers[i])) {
      fprintf(file, "%s\"%s\": %.6g", separator, row->peers[i].name,
              result->peers[i]);
      separator = ", ";
    }
  }
  fprintf(file, "}}");
}

static int run_all(const char *output, const char *filter) {
  FILE *file = output ? fopen(output, "w") : NULL;
  if (output != NULL && file == NULL) {
    perror(output);
    return 1;
  }
  const mtl_device_info *info = mtl_device_get_info(bench_device());
  printf("device %s (%s), %u compute units; %s\n", info->name,
         info->architecture, info->compute_units, opencl_description());
  bench_kernels_prepare();
  bool first = true;
  for (size_t t = 0; t < sizeof topics / sizeof topics[0]; t++) {
    bool has_heading = false;
    summary all = {0};
    for (size_t i = 0; i < topics[t]->row_count; i++) {
      const benchmark *row = &topics[t]->rows[i];
      if (filter != NULL && fnmatch(filter, row->name, 0) != 0 &&
          fnmatch(filter, topics[t]->name, 0) != 0) {
        continue;
      }
      if (!has_heading) {
        print_heading(topics[t]->name);
        has_heading = true;
      }
      const row_result result = run_row(row);
      print_row(&result);
      summary_add(&all, &result);
      if (file != NULL && !isnan(result.mettle)) {
        fprintf(file, first ? "[" : "");
        write_json_row(file, &result, first);
        first = false;
      }
    }
    if (topics[t]->has_summary) {
      summary_print(&all);
    }
  }
  if (file != NULL) {
    fprintf(file, first ? "[]\n" : "\n]\n");
    return fclose(file) == 0 ? 0 : 1;
  }
  return 0;
}

static int run_sample(const char *name) {
  for (const bench_child_sample *it = bench_child_samples; it->name; it++) {
    if (strcmp(it->name, name) == 0) {
      printf("%.9g\n", it->measure(NULL));
      return 0;
    }
  }
  bench_kernels_prepare();
  printf("%.9g\n", bench_kernel_sample(name));
  return 0;
}

// Caches that this run fills and that no other run has filled.
static char cache_folder[] = "/tmp/mettle-bench-XXXXXX";

static void remove_cache_folder(void) {
  char command[64];
  snprintf(command, sizeof command, "rm -rf %s", cache_folder);
  if (system(command) != 0) {
    fprintf(stderr, "mettle-bench: %s is left behind\n", cache_folder);
  }
}

int main(int argument_count, char **arguments) {
  const char *output = NULL, *filter = NULL;
  for (int i = 1; i < argument_count; i++) {
    if (strcmp(arguments[i], "--sample") == 0 && i + 1 < argument_count) {
      return run_sample(arguments[i + 1]);
    } else if (strcmp(arguments[i], "--output") == 0 &&
               i + 1 < argument_count) {
      output = arguments[++i];
    } else if (arguments[i][0] != '-' && filter == NULL) {
      filter = arguments[i];
    } else {
      fprintf(stderr, "usage: mettle-bench [--output FILE.json] [PATTERN]\n");
      return 2;
    }
  }
  if (mkdtemp(cache_folder) != NULL) {
    setenv("METTLE_CACHE_DIR", cache_folder, 1);
    setenv("POCL_CACHE_DIR", cache_folder, 1);
    atexit(remove_cache_folder);
  }
  return run_all(output, filter);
}
