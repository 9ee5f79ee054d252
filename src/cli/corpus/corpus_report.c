// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// corpus_report.c: prints what `mettle corpus` found.
#include <stdio.h>
#include <stdlib.h>

#include "cli/corpus/corpus.h"
#include "cli/base/json.h"

static double milliseconds(uint64_t nanoseconds) {
  return (double)nanoseconds * 1e-6;
}

static const char *outcome(const corpus_row *row) {
  if (row->skipped) {
    return "skipped";
  }
  if (row->needs != NULL) {
    return "partial";
  }
  return row->compiled && row->failed == 0 ? "ok" : "failed";
}

void corpus_print_row(const corpus_row *row, bool with_pipelines) {
  printf("%-7s", outcome(row));
  if (row->compiled) {
    printf(" %6zu kernels %8.0f ms", row->kernels,
           milliseconds(row->compile_ns));
  } else {
    printf(" %26s", "");
  }
  if (with_pipelines && row->compiled) {
    printf("  %zu of %zu vectorised, %.0f ms", row->vectorised, row->pipelines,
           milliseconds(row->pipeline_ns));
  }
  printf("  %s\n", row->name);
  if (row->refusal != NULL) {
    printf("        not vectorised: %s\n", row->refusal);
  }
  if (row->diagnostic != NULL) {
    printf("        %s\n", row->diagnostic);
  }
  if (row->needs != NULL) {
    printf("        %s defines it: Metal's tools link both\n", row->needs);
  }
  fflush(stdout);
}

// The counts of all rows.
typedef struct totals {
  size_t tried, compiled, partial, skipped, kernels, pipelines, vectorised,
      failed;
  uint64_t median_ns, worst_ns, compile_ns, pipeline_ns;
} totals;

static int compare_times(const void *left, const void *right) {
  const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
  return (a > b) - (a < b);
}

static void add_times(const corpus_files *files, totals *sum) {
  uint64_t *times = calloc(files->count, sizeof *times);
  if (times == NULL) {
    return;
  }
  size_t count = 0;
  for (size_t i = 0; i < files->count; ++i) {
    if (files->rows[i].compiled) {
      times[count++] = files->rows[i].compile_ns;
    }
  }
  if (count > 0) {
    qsort(times, count, sizeof *times, compare_times);
    sum->median_ns = times[count / 2];
    sum->worst_ns = times[count - 1];
  }
  free(times);
}

static totals count_rows(const corpus_files *files) {
  totals sum = {0};
  for (size_t i = 0; i < files->count; ++i) {
    const corpus_row *row = &files->rows[i];
    sum.skipped += row->skipped;
    sum.tried += !row->skipped;
    sum.compiled += row->compiled;
    sum.partial += row->needs != NULL;
    sum.kernels += row->kernels;
    sum.pipelines += row->pipelines;
    sum.vectorised += row->vectorised;
    sum.failed += row->failed;
    sum.compile_ns += row->compile_ns;
    sum.pipeline_ns += row->pipeline_ns;
  }
  add_times(files, &sum);
  return sum;
}

void corpus_print_summary(const corpus_files *files, bool with_pipelines) {
  const totals sum = count_rows(files);
  printf("%zu of %zu files compiled, ", sum.compiled, sum.tried);
  if (sum.partial > 0) {
    printf("%zu partial, ", sum.partial);
  }
  printf("%zu skipped; %zu kernels\n", sum.skipped, sum.kernels);
  printf(
      "compile time: %.0f ms a file at the median, %.0f ms at worst, "
      "%.1f s in all\n",
      milliseconds(sum.median_ns), milliseconds(sum.worst_ns),
      (double)sum.compile_ns * 1e-9);
  if (with_pipelines) {
    printf("pipelines: %zu made, %zu of them vectorised, %zu failed, %.1f s\n",
           sum.pipelines, sum.vectorised, sum.failed,
           (double)sum.pipeline_ns * 1e-9);
  }
}

static void print_json_row(const corpus_row *row, bool with_pipelines) {
  fputs("{\"file\": ", stdout);
  json_write_text(stdout, row->name);
  printf(", \"outcome\": \"%s\"", outcome(row));
  if (row->compiled) {
    printf(", \"kernels\": %zu, \"compile_ms\": %.3f", row->kernels,
           milliseconds(row->compile_ns));
  }
  if (row->compiled && with_pipelines) {
    printf(
        ", \"pipelines\": %zu, \"vectorised\": %zu, \"failed\": %zu, "
        "\"pipeline_ms\": %.3f",
        row->pipelines, row->vectorised, row->failed,
        milliseconds(row->pipeline_ns));
  }
  if (row->refusal != NULL) {
    fputs(", \"not_vectorised\": ", stdout);
    json_write_text(stdout, row->refusal);
  }
  if (row->needs != NULL) {
    fputs(", \"needs\": ", stdout);
    json_write_text(stdout, row->needs);
  }
  if (row->diagnostic != NULL) {
    fputs(", \"diagnostic\": ", stdout);
    json_write_text(stdout, row->diagnostic);
  }
  putchar('}');
}

void corpus_print_json(const corpus_files *files, bool with_pipelines) {
  const totals sum = count_rows(files);
  fputs("{\"files\": [", stdout);
  for (size_t i = 0; i < files->count; ++i) {
    fputs(i == 0 ? "" : ",\n ", stdout);
    print_json_row(&files->rows[i], with_pipelines);
  }
  printf(
      "],\n\"compiled\": %zu, \"tried\": %zu, \"partial\": %zu, \"skipped\": "
      "%zu, "
      "\"kernels\": %zu, \"median_ms\": %.3f, \"worst_ms\": %.3f",
      sum.compiled, sum.tried, sum.partial, sum.skipped, sum.kernels,
      milliseconds(sum.median_ns), milliseconds(sum.worst_ns));
  if (with_pipelines) {
    printf(", \"pipelines\": %zu, \"vectorised\": %zu, \"failed\": %zu",
           sum.pipelines, sum.vectorised, sum.failed);
  }
  puts("}");
}
