// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// trace.c: `mettle trace`: summarises where the time of a timeline went.
#include "cli/trace/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/arguments.h"
#include "cli/base/suggest.h"

// Slices of one name in one category.
typedef struct total {
  const char *category;
  const char *name;
  size_t count;
  double us;
  double longest_us;
  double bytes;
} total;

typedef struct total_rows {
  total *rows;  // [count] malloc'ed
  size_t count;
} total_rows;

static int by_text(const void *first, const void *second) {
  const trace_event *const *a = first, *const *b = second;
  const int order = strcmp((*a)->category, (*b)->category);
  return order ? order : strcmp((*a)->name, (*b)->name);
}

static int by_time(const void *first, const void *second) {
  const total *a = first, *b = second;
  return a->us < b->us ? 1 : a->us > b->us ? -1 : 0;
}

static void add(total *row, const trace_event *event) {
  row->category = event->category;
  row->name = event->name;
  ++row->count;
  row->us += event->length_us;
  row->bytes += event->bytes;
  if (event->length_us > row->longest_us) {
    row->longest_us = event->length_us;
  }
}

// Returns the slices of a file; [*out_count] malloc'ed.
static const trace_event **slices_of(const trace_file *file,
                                     size_t *out_count) {
  const trace_event **slices = malloc((file->count + 1) * sizeof *slices);
  *out_count = 0;
  for (size_t i = 0; slices && i < file->count; ++i) {
    if (file->events[i].kind == 'X') {
      slices[(*out_count)++] = &file->events[i];
    }
  }
  return slices;
}

static bool add_up(const trace_file *file, total_rows *out_totals) {
  size_t count = 0;
  const trace_event **slices = slices_of(file, &count);
  total *rows = calloc(count + 1, sizeof *rows);
  *out_totals = (total_rows){.rows = rows};
  if (slices && rows) {
    qsort(slices, count, sizeof *slices, by_text);
  }
  for (size_t i = 0; slices && rows && i < count; ++i) {
    if (i > 0 && by_text(&slices[i - 1], &slices[i]) != 0) {
      ++out_totals->count;
    }
    add(&rows[out_totals->count], slices[i]);
  }
  out_totals->count += count > 0;
  const bool is_done = slices && rows;
  if (is_done) {
    qsort(rows, out_totals->count, sizeof *rows, by_time);
  }
  free(slices);
  return is_done;
}

static double sum_of(const total_rows *totals, const char *category) {
  double us = 0;
  for (size_t i = 0; i < totals->count; ++i) {
    us += strcmp(totals->rows[i].category, category) == 0 ? totals->rows[i].us
                                                          : 0;
  }
  return us;
}

static void print_commands(const total_rows *totals, size_t most) {
  const double all_us = sum_of(totals, "command");
  printf("%10s %6s %8s %10s %10s %9s  command\n", "ms", "%", "count", "mean us",
         "most us", "GB/s");
  size_t printed = 0;
  for (size_t i = 0; i < totals->count && printed < most; ++i) {
    const total *row = &totals->rows[i];
    if (strcmp(row->category, "command") != 0) {
      continue;
    }
    printf("%10.3f %6.1f %8zu %10.1f %10.1f %9.1f  %s\n", row->us / 1e3,
           all_us > 0 ? 100 * row->us / all_us : 0, row->count,
           row->us / (double)row->count, row->longest_us,
           row->us > 0 ? row->bytes / row->us / 1e3 : 0, row->name);
    ++printed;
  }
}

// --- Queues --------------------------------------------------------------------

typedef struct queue_use {
  uint64_t track;
  double first_us, last_us;  // from the first start to the last end
  double busy_us;
  double longest_gap_us;
  double gap_at_us;
  size_t count;
} queue_use;

static int by_start(const void *first, const void *second) {
  const trace_event *a = *(const trace_event *const *)first;
  const trace_event *b = *(const trace_event *const *)second;
  if (a->track != b->track) {
    return a->track < b->track ? -1 : 1;
  }
  return a->start_us < b->start_us ? -1 : a->start_us > b->start_us ? 1 : 0;
}

static const char *track_name(const trace_file *file, uint64_t track) {
  for (size_t i = 0; i < file->count; ++i) {
    const trace_event *event = &file->events[i];
    if (event->kind == 'M' && event->track == track &&
        strcmp(event->name, "thread_name") == 0) {
      return event->new_name;
    }
  }
  return "";
}

static void print_queue(const trace_file *file, const queue_use *use) {
  const double span_us = use->last_us - use->first_us;
  printf("%s: %zu command buffers, %.3f ms from the first to the last, %.0f %% "
         "busy", track_name(file, use->track), use->count, span_us / 1e3,
         span_us > 0 ? 100 * use->busy_us / span_us : 100);
  if (use->longest_gap_us > 0) {
    printf("; longest gap %.3f ms, %.3f ms after the first",
           use->longest_gap_us / 1e3, (use->gap_at_us - use->first_us) / 1e3);
  }
  putchar('\n');
}

static void add_buffer(queue_use *use, const trace_event *event) {
  const double end_us = event->start_us + event->length_us;
  if (use->count++ == 0) {
    use->track = event->track;
    use->first_us = use->last_us = event->start_us;
  }
  const double gap_us = event->start_us - use->last_us;
  if (gap_us > use->longest_gap_us) {
    use->longest_gap_us = gap_us;
    use->gap_at_us = use->last_us;
  }
  if (end_us > use->last_us) {
    use->busy_us += end_us - (gap_us > 0 ? event->start_us : use->last_us);
    use->last_us = end_us;
  }
}

static bool print_queues(const trace_file *file) {
  size_t count = 0;
  const trace_event **slices = slices_of(file, &count);
  if (!slices) {
    return false;
  }
  qsort(slices, count, sizeof *slices, by_start);
  queue_use use = {0};
  for (size_t i = 0; i < count; ++i) {
    if (strcmp(slices[i]->category, "command buffer") != 0) {
      continue;
    }
    if (use.count && use.track != slices[i]->track) {
      print_queue(file, &use);
      use = (queue_use){0};
    }
    add_buffer(&use, slices[i]);
  }
  if (use.count) {
    print_queue(file, &use);
  }
  free(slices);
  return true;
}

// --- The verb --------------------------------------------------------------------

static bool summarise(const char *path, size_t most, cli_error *error) {
  trace_file file;
  total_rows totals = {0};
  bool is_done = trace_read(path, &file, NULL, error);
  if (is_done && !add_up(&file, &totals)) {
    is_done = cli_fail(error, CLI_FAILED, "%s: no memory", path);
  }
  if (is_done) {
    print_commands(&totals, most);
    printf("\ncompilation %.3f ms, commits %.3f ms, waits %.3f ms, work on "
           "all threads %.3f ms\n\n", sum_of(&totals, "compile") / 1e3,
           sum_of(&totals, "commit") / 1e3, sum_of(&totals, "wait") / 1e3,
           sum_of(&totals, "work") / 1e3);
    is_done = print_queues(&file) ||
              cli_fail(error, CLI_FAILED, "%s: no memory", path);
  }
  free(totals.rows);
  trace_clear(&file);
  return is_done;
}

static bool run_summary(char **arguments, cli_error *error) {
  enum { TOP = 20 };
  size_t most = TOP;
  const char *path = NULL;
  for (char **word = arguments; *word; ++word) {
    if (strcmp(*word, "--top") == 0) {
      char *end = NULL;
      const long value = word[1] ? strtol(word[1], &end, 10) : 0;
      if (value <= 0 || *end) {
        return cli_fail(error, CLI_USAGE, "--top needs a number above 0");
      }
      most = (size_t)value;
      ++word;
    } else if ((*word)[0] == '-' && (*word)[1]) {
      return cli_fail(error, CLI_USAGE, "there is no option %s", *word);
    } else if (path) {
      return cli_fail(error, CLI_USAGE, "one FILE is enough: %s", *word);
    } else {
      path = *word;
    }
  }
  return path ? summarise(path, most, error)
              : cli_fail(error, CLI_USAGE, "FILE is missing");
}

static bool run(char **arguments, cli_error *error) {
  const char *what = arguments[0];
  if (what && strcmp(what, "summary") == 0) {
    return run_summary(arguments + 1, error);
  }
  if (what && strcmp(what, "view") == 0) {
    return trace_view(arguments + 1, error);
  }
  if (!what) {
    return cli_fail(error, CLI_USAGE,
                    "what to do is missing: summary FILE or view FILE");
  }
  static const char *const names[] = {"summary", "view"};
  char suggestion[CLI_SUGGESTION_SIZE];
  cli_suggest(suggestion, what, strlen(what), names, 2);
  return cli_fail(error, CLI_USAGE, "%s: it is summary FILE or view FILE%s",
                  what, suggestion);
}

const cli_verb cli_verb_trace = {
    .name = "trace",
    .summary = "tell where the time of a timeline went",
    .help =
        "Usage: mettle trace summary FILE [--top N]\n"
        "       mettle trace view FILE [--output PAGE]\n"
        "\n"
        "FILE is a timeline that METTLE_TRACE=FILE, `mettle run --trace FILE` or\n"
        "mtl_trace_start wrote.\n"
        "\n"
        "summary adds it up: time, share and bytes per second of each kernel and\n"
        "copy; what compilation, commits and waits took; how busy each queue was.\n"
        "view writes a page for any browser that shows it, in one file that loads\n"
        "nothing: zoom, move, search, measure. Perfetto (ui.perfetto.dev) opens\n"
        "FILE itself.\n"
        "\n"
        "  --top N         so many rows of commands, 20 without it\n"
        "  --output PAGE   the page's name; without it FILE's, with .html for\n"
        "                  .json; - is standard output\n",
    .run = run,
};
