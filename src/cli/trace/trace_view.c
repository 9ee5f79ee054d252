// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// trace_view.c: `mettle trace view`: a page with the timeline inside. The page
// is src/cli/trace/page, embedded by page.S; its script reads the events.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/arguments.h"
#include "cli/trace/trace.h"

extern const char timeline_page_head[], timeline_page_tail[];

// Writes JSON inside of a script element: no text in it can end that. '<' stands
// in texts alone, where it may be escaped.
static void write_events(FILE *target, const char *raw, size_t size) {
  for (const char *at = raw, *end = raw + size; at < end; ++at) {
    const char *special = memchr(at, '<', (size_t)(end - at));
    const char *stop = special ? special : end;
    fwrite(at, 1, (size_t)(stop - at), target);
    if (special) {
      fputs("\\u003c", target);
    }
    at = stop;
  }
}

static void write_page(FILE *target, const trace_file *file, const char *raw) {
  fputs(timeline_page_head, target);
  fputs("{\"traceEvents\":[", target);
  write_events(target, raw + file->first, file->end - file->first);
  fputs("]}\n", target);
  fputs(timeline_page_tail, target);
}

// FILE's name with .html in the place of .json or behind it. malloc'ed.
static char *page_name(const char *path) {
  const size_t length = strlen(path);
  const bool is_json = length > 5 && strcmp(path + length - 5, ".json") == 0;
  char *name = malloc(length + sizeof ".html");
  if (name) {
    sprintf(name, "%.*s.html", (int)(is_json ? length - 5 : length), path);
  }
  return name;
}

static bool save(const char *name, const trace_file *file, const char *raw,
                 cli_error *error) {
  const bool is_standard = strcmp(name, "-") == 0;
  FILE *target = is_standard ? stdout : fopen(name, "wb");
  if (!target) {
    return cli_fail(error, CLI_FAILED, "%s: %s", name, strerror(errno));
  }
  write_page(target, file, raw);
  const bool is_bad = fflush(target) != 0 || ferror(target);
  const int why = errno;
  if (!is_standard) {
    fclose(target);
  }
  if (is_bad) {
    return cli_fail(error, CLI_FAILED, "%s: %s", name, strerror(why));
  }
  if (!is_standard) {
    printf("%s\n", name);
  }
  return true;
}

static bool view(const char *path, const char *page, cli_error *error) {
  trace_file file;
  char *raw = NULL;
  char *name = page ? strdup(page) : page_name(path);
  const bool is_done =
      name ? trace_read(path, &file, &raw, error) &&
                 save(name, &file, raw, error)
           : cli_fail(error, CLI_FAILED, "%s: no memory", path);
  if (name) {
    trace_clear(&file);
  }
  free(name);
  free(raw);
  return is_done;
}

bool trace_view(char **arguments, cli_error *error) {
  enum { OPTION_OUTPUT = 1 };
  static const option_spec options[] = {{"--output", OPTION_OUTPUT, true},
                                        {"-o", OPTION_OUTPUT, true},
                                        {0}};
  argument_walk walk = {.next = arguments, .options = options};
  const char *path = NULL, *page = NULL, *value;
  for (int id; (id = argument_walk_next(&walk, &value, error));) {
    if (id == ARGUMENT_WRONG) {
      return false;
    }
    if (id == OPTION_OUTPUT) {
      page = value;
    } else if (path) {
      return cli_fail(error, CLI_USAGE, "one FILE is enough: %s", value);
    } else {
      path = value;
    }
  }
  return path ? view(path, page, error)
              : cli_fail(error, CLI_USAGE, "FILE is missing");
}
