// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// report_text.c: a finding for people.
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "check/findings.h"

bool check_source_line(const char *file, uint32_t line, char *text,
                       size_t capacity) {
  FILE *source = line ? fopen(file, "r") : NULL;
  uint32_t number = 0;
  bool found = false;
  char part[512];
  while (source && !found && fgets(part, sizeof part, source)) {
    found = ++number == line;
    while (!strchr(part, '\n') && !found && fgets(part, sizeof part, source)) {
    }
  }
  if (source) {
    fclose(source);
  }
  if (!found) {
    text[0] = '\0';
    return false;
  }
  const char *start = part;
  while (isspace((unsigned char)*start)) {
    ++start;
  }
  size_t length = strlen(start);
  while (length && isspace((unsigned char)start[length - 1])) {
    --length;
  }
  snprintf(text, capacity, "%.*s", (int)length, start);
  return true;
}

static const char *base_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

static void write_place(FILE *file, const mtl_check_place *place) {
  char line[512];
  char where[512];
  if (place->line) {
    snprintf(where, sizeof where, "%s:%u:%u", base_name(place->file),
             place->line, place->column);
  } else {
    snprintf(where, sizeof where, "%s%s", place->has_thread ? "kernel " : "",
             place->kernel);
  }
  fprintf(file, "  %-12s %s", place->does, where);
  if (check_source_line(place->file, place->line, line, sizeof line)) {
    fprintf(file, "  %s", line);
  }
  fputc('\n', file);
  if (place->has_thread) {
    fprintf(file, "               thread %u of threadgroup (%u,%u,%u)",
            place->thread, place->group[0], place->group[1], place->group[2]);
    fprintf(file, ", dispatch %u of '%s'\n", place->dispatch, place->kernel);
  }
  if (place->inlined[0]) {
    fprintf(file, "               inlined into %s\n", place->inlined);
  }
}

void check_write_text(FILE *file, const mtl_check_finding *it) {
  fprintf(file, "%s: %s\n", it->kind, it->text);
  write_place(file, &it->first);
  if (it->second.kernel[0]) {
    write_place(file, &it->second);
  }
  fprintf(file, "  %" PRIu64 " instance%s; schedule %s\n", it->count,
          it->count == 1 ? "" : "s", it->schedule);
}
