// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// report_sarif.c: the findings as SARIF 2.1.0, which code hosts and editors
// show at the lines.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "check/findings.h"
#include "mettle/version.h"

static const struct {
  const char *kind;
  const char *what;
} rules[] = {
    {"race.threadgroup", "Two threads access threadgroup memory, one writes, "
                         "and no barrier orders them."},
    {"race.device", "Two threads of a dispatch access device memory, one "
                    "writes, and nothing orders them."},
    {"race.dispatch", "Two dispatches access device memory, one writes, and "
                      "nothing orders them."},
    {"bounds.device", "An access outside of what an argument may touch."},
    {"bounds.threadgroup", "An access outside of a threadgroup variable."},
    {"bounds.private", "An access outside of a variable."},
    {"bounds.constant", "An access outside of constant data."},
    {"bounds.subobject", "An access outside of a member of a structure."},
    {"init.private", "A variable is used that was given no value."},
    {"init.threadgroup", "Threadgroup memory is used that was never written."},
    {"init.device", "Device memory is used that was never written."},
    {"sync.barrier", "Not all threads come to a barrier."},
    {"sync.simdgroup", "A value of a thread that takes no part is used."},
    {"align", "An address is no multiple of its type's alignment."},
    {"nan", "An operation makes a value that is not finite of finite ones."},
    {"integer.division", "A division by zero."},
    {"integer.shift", "A shift by the width of its type or more."},
    {"nondeterministic", "A result that depends on the schedule."},
    {"integer.overflow", "The least integer divided by -1."},
    {"host", "The host touches a buffer that is in use."},
};

// A path as part of a URI: other characters become hexadecimal escapes.
static void write_uri(FILE *file, const char *path) {
  fputs(path[0] == '/' ? "\"file://" : "\"", file);
  for (; *path; ++path) {
    const unsigned char c = (unsigned char)*path;
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                          (c >= '0' && c <= '9') || strchr("-._~/", c);
    if (is_plain) {
      fputc(c, file);
    } else {
      fprintf(file, "%%%02X", c);
    }
  }
  fputc('"', file);
}

static void write_location(FILE *file, const mtl_check_place *place,
                           int64_t id) {
  fputs("{", file);
  if (id >= 0) {
    fprintf(file, "\"id\": %" PRId64 ", ", id);
  }
  if (place->line) {
    fputs("\"physicalLocation\": {\"artifactLocation\": {\"uri\": ", file);
    write_uri(file, place->file);
    fprintf(file, "}, \"region\": {\"startLine\": %u", place->line);
    if (place->column) {
      fprintf(file, ", \"startColumn\": %u", place->column);
    }
    fputs("}}, ", file);
  }
  fputs("\"logicalLocations\": [{\"kind\": \"function\", \"name\": ", file);
  check_write_string(file, place->kernel);
  fputs("}], \"message\": {\"text\": ", file);
  char text[512];
  if (place->has_thread) {
    snprintf(text, sizeof text, "%s by thread %u of threadgroup (%u,%u,%u)",
             place->does, place->thread, place->group[0], place->group[1],
             place->group[2]);
  } else {
    snprintf(text, sizeof text, "%s", place->does);
  }
  check_write_string(file, text);
  fputs("}}", file);
}

static size_t rule_of(const char *kind) {
  for (size_t i = 0; i < sizeof rules / sizeof *rules; ++i) {
    if (strcmp(rules[i].kind, kind) == 0) {
      return i;
    }
  }
  return 0;
}

// Writes the inlined places as a code flow: "a:1:2, b:3:4", from the inside
// outwards.
static void write_flow(FILE *file, const mtl_check_place *place) {
  fputs("\"codeFlows\": [{\"threadFlows\": [{\"locations\": [", file);
  char *chain = strdup(place->inlined);
  char *end = chain ? chain + strlen(chain) : NULL;
  while (end && end > chain) {
    char *start = end;
    while (start > chain && !(start[0] == ' ' && start[-1] == ',')) {
      --start;
    }
    mtl_check_place step = *place;
    char *text = start + (*start == ' ');
    char *column = strrchr(text, ':');
    if (column) {
      *column = '\0';
    }
    char *line = strrchr(text, ':');
    if (column && line) {
      *line = '\0';
      step.file = text;
      step.line = (uint32_t)strtoul(line + 1, NULL, 10);
      step.column = (uint32_t)strtoul(column + 1, NULL, 10);
      step.does = "call";
      step.has_thread = false;
      fputs("{\"location\": ", file);
      write_location(file, &step, -1);
      fputs("}, ", file);
    }
    end = start > chain ? start - 1 : chain;
    *end = '\0';
  }
  free(chain);
  fputs("{\"location\": ", file);
  write_location(file, place, -1);
  fputs("}]}]}], ", file);
}

static uint64_t fingerprint(const mtl_check_finding *it) {
  char text[2048];
  snprintf(text, sizeof text, "%s|%s|%s|%u|%u", it->kind, it->first.kernel,
           strrchr(it->first.file, '/') ? strrchr(it->first.file, '/') + 1
                                        : it->first.file,
           it->first.line, it->second.line);
  uint64_t hash = 0xcbf29ce484222325u;  // FNV-1a
  for (const char *at = text; *at; ++at) {
    hash = (hash ^ (unsigned char)*at) * 0x100000001b3u;
  }
  return hash;
}

static void write_result(FILE *file, const mtl_check_finding *it) {
  fputs("\n    {\"ruleId\": ", file);
  check_write_string(file, it->kind);
  fprintf(file, ", \"ruleIndex\": %zu, \"level\": \"error\", ",
          rule_of(it->kind));
  fputs("\"message\": {\"text\": ", file);
  check_write_string(file, it->text);
  fputs("}, \"locations\": [", file);
  write_location(file, &it->first, -1);
  fputs("], ", file);
  if (it->second.kernel[0]) {
    fputs("\"relatedLocations\": [", file);
    write_location(file, &it->second, 1);
    fputs("], ", file);
  }
  if (it->first.inlined[0]) {
    write_flow(file, &it->first);
  }
  fprintf(file,
          "\"occurrenceCount\": %" PRIu64
          ", \"partialFingerprints\": {\"kindKernelLines/v1\": "
          "\"%016" PRIx64 "\"}, \"properties\": {\"schedule\": ",
          it->count, fingerprint(it));
  check_write_string(file, it->schedule);
  fputs("}}", file);
}

void check_write_sarif(FILE *file) {
  size_t count;
  const check_entry *entries = check_entries(&count);
  fputs("{\"$schema\": \"https://json.schemastore.org/sarif-2.1.0.json\",\n"
        " \"version\": \"2.1.0\",\n \"runs\": [{\"tool\": {\"driver\": "
        "{\"name\": \"mettle check\", \"rules\": [", file);
  for (size_t i = 0; i < sizeof rules / sizeof *rules; ++i) {
    fprintf(file, "%s\n    {\"id\": \"%s\", \"shortDescription\": {\"text\": "
            "\"%s\"}}", i ? "," : "", rules[i].kind, rules[i].what);
  }
  fprintf(file, "]}},\n   \"invocations\": [{\"executionSuccessful\": %s}],\n"
          "   \"columnKind\": \"utf16CodeUnits\",\n   \"results\": [",
          check_unchecked ? "false" : "true");
  const char *between = "";
  for (size_t i = 0; i < count; ++i) {
    if (check_is_shown(&entries[i])) {
      fputs(between, file);
      between = ",";
      write_result(file, &entries[i].finding);
    }
  }
  fputs("]}]}\n", file);
}
