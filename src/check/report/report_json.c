// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// report_json.c: the findings as JSON: {"findings": [...], "dispatches": n,
// "unchecked": n}.
#include <inttypes.h>

#include "check/findings.h"

void check_write_string(FILE *file, const char *text) {
  fputc('"', file);
  for (; *text; ++text) {
    const unsigned char c = (unsigned char)*text;
    if (c == '"' || c == '\\') {
      fprintf(file, "\\%c", c);
    } else if (c < 0x20) {
      fprintf(file, "\\u%04x", c);
    } else {
      fputc(c, file);
    }
  }
  fputc('"', file);
}

static void write_field(FILE *file, const char *name, const char *text) {
  fprintf(file, "\"%s\": ", name);
  check_write_string(file, text);
}

static void write_place(FILE *file, const mtl_check_place *place) {
  fputc('{', file);
  write_field(file, "file", place->file);
  fprintf(file, ", \"line\": %u, \"column\": %u, ", place->line,
          place->column);
  write_field(file, "access", place->does);
  fputs(", ", file);
  write_field(file, "variable", place->variable);
  fputs(", ", file);
  write_field(file, "kernel", place->kernel);
  fputs(", ", file);
  write_field(file, "inlined", place->inlined);
  if (place->has_thread) {
    fprintf(file, ", \"thread\": %u, \"threadgroup\": [%u, %u, %u]",
            place->thread, place->group[0], place->group[1], place->group[2]);
  }
  fprintf(file, ", \"dispatch\": %u}", place->dispatch);
}

void check_write_json(FILE *file) {
  size_t count;
  const check_entry *entries = check_entries(&count);
  const char *between = "";
  fputs("{\"findings\": [", file);
  for (size_t i = 0; i < count; ++i) {
    const mtl_check_finding *it = &entries[i].finding;
    if (!check_is_shown(&entries[i])) {
      continue;
    }
    fprintf(file, "%s\n  {", between);
    between = ",";
    write_field(file, "kind", it->kind);
    fputs(", ", file);
    write_field(file, "kernel", it->first.kernel);
    fputs(", ", file);
    write_field(file, "variable",
                it->first.variable[0] ? it->first.variable
                                      : it->second.variable);
    fputs(", ", file);
    write_field(file, "text", it->text);
    fprintf(file, ", \"count\": %" PRIu64 ", ", it->count);
    write_field(file, "schedule", it->schedule);
    fputs(",\n   \"first\": ", file);
    write_place(file, &it->first);
    if (it->second.kernel[0]) {
      fputs(",\n   \"second\": ", file);
      write_place(file, &it->second);
    }
    fputc('}', file);
  }
  fprintf(file, "],\n \"dispatches\": %u, \"unchecked\": %u}\n",
          check_dispatches, check_unchecked);
}
