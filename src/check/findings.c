// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// findings.c: keeps the findings: one entry for a kind and a pair of lines,
// with its first instance and a count.
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/status.h"
#include "check/findings.h"

static check_entry *entries;  // [entry_count]
static size_t entry_count, entry_capacity;
static uint64_t report_count;

const check_entry *check_entries(size_t *out_count) {
  *out_count = entry_count;
  return entries;
}

check_side check_side_now(const check_state *s, uint32_t site) {
  return (check_side){.sites = s->sites,
                      .site = site,
                      .has_thread = !check_is_command(s->sites),
                      .thread = s->check.thread,
                      .group = s->now.group,
                      .kernel = s->kernel,
                      .group_count = s->group_count,
                      .dispatch = s->dispatch};
}

check_side check_side_of(const check_state *s, check_segment segment,
                         uint32_t site) {
  check_side side = check_side_now(s, site);
  const check_past *past = check_past_of(segment);
  check_moment moment;
  if (past) {
    side.sites = past->sites;
    side.kernel = past->kernel;
    side.group_count = past->group_count;
    side.dispatch = past->number;
  }
  side.has_thread =
      check_moment_of(segment, &moment) && !check_is_command(side.sites);
  if (side.has_thread) {
    side.thread = moment.thread;
    side.group = moment.group;
  }
  return side;
}

static const char *does(uint8_t access) {
  switch (access) {
    case MTLI_CHECK_READ: return "read";
    case MTLI_CHECK_WRITE: return "write";
    case MTLI_CHECK_ATOMIC_READ: return "atomic read";
    case MTLI_CHECK_ATOMIC_WRITE: return "atomic write";
    case MTLI_CHECK_ATOMIC_EXCHANGE:
    case MTLI_CHECK_ATOMIC_BOTH: return "atomic";
    case MTLI_CHECK_VARIABLE: return "declared";
    case MTLI_CHECK_BRANCH: return "branch";
    case MTLI_CHECK_ADDRESS: return "address";
    case MTLI_CHECK_BARRIER: return "barrier";
    case MTLI_CHECK_SIMD_BARRIER: return "simdgroup barrier";
    case MTLI_CHECK_SHUFFLE: return "shuffle";
    case MTLI_CHECK_SCAN_INCLUSIVE:
    case MTLI_CHECK_SCAN_EXCLUSIVE:
    case MTLI_CHECK_SIMD: return "simdgroup function";
    case MTLI_CHECK_FENCE: return "fence";
    default: return "operation";
  }
}

static void unfold(const uint32_t count[3], uint32_t group, uint32_t out[3]) {
  const uint32_t x = count[0] ? count[0] : 1, y = count[1] ? count[1] : 1;
  out[0] = group % x;
  out[1] = group / x % y;
  out[2] = group / x / y;
}

// Texts are the kernel's; those of entries are copies.
mtl_check_place check_place_of(const check_side *side) {
  const mtli_check_site *site = &side->sites->sites[side->site];
  mtl_check_place place = {.file = side->sites->texts + site->file,
                           .line = site->line,
                           .column = site->column,
                           .inlined = side->sites->texts + site->inlined,
                           .does = does(site->access),
                           .variable = side->sites->texts + site->name,
                           .kernel = side->kernel,
                           .has_thread = side->has_thread,
                           .thread = side->thread,
                           .dispatch = side->dispatch};
  unfold(side->group_count, side->group, place.group);
  return place;
}

static const mtl_check_place no_place = {
    .file = "", .inlined = "", .does = "", .variable = "", .kernel = ""};

static bool is_same_place(const mtl_check_place *a, const mtl_check_place *b) {
  return a->line == b->line && strcmp(a->file, b->file) == 0 &&
         strcmp(a->kernel, b->kernel) == 0;
}

static check_entry *find(const char *kind, const mtl_check_place *first,
                         const mtl_check_place *second) {
  for (size_t i = 0; i < entry_count; ++i) {
    const mtl_check_finding *it = &entries[i].finding;
    if (strcmp(it->kind, kind) != 0) {
      continue;
    }
    if ((is_same_place(&it->first, first) &&
         is_same_place(&it->second, second)) ||
        (is_same_place(&it->first, second) &&
         is_same_place(&it->second, first))) {
      return &entries[i];
    }
  }
  return NULL;
}

static const char *copy(const char *text) {
  const char *made = text && *text ? strdup(text) : NULL;
  return made ? made : "";
}

static void keep_texts(mtl_check_place *place) {
  place->file = copy(place->file);
  place->inlined = copy(place->inlined);
  place->variable = copy(place->variable);
  place->kernel = copy(place->kernel);
}

static check_entry *add(const mtl_check_finding *finding) {
  if (entry_count == entry_capacity) {
    entry_capacity = entry_capacity ? 2 * entry_capacity : 16;
    check_entry *grown = realloc(entries, entry_capacity * sizeof *entries);
    if (!grown) {
      entry_capacity = entry_count;
      mtli_check_note_unchecked("no memory for what was found");
      return NULL;
    }
    entries = grown;
  }
  check_entry *entry = &entries[entry_count++];
  *entry = (check_entry){.finding = *finding};
  entry->is_suppressed = check_is_suppressed(finding);
  entry->finding.text = copy(finding->text);
  entry->finding.schedule = copy(finding->schedule);
  keep_texts(&entry->finding.first);
  keep_texts(&entry->finding.second);
  return entry;
}

// Returns the text of the command buffer's error.
static char *error_text(const mtl_check_finding *it) {
  char *text = NULL;
  const char *slash = strrchr(it->first.file, '/');
  if (asprintf(&text, "kernel '%s': %s at %s:%u: %s", it->first.kernel,
               it->kind, slash ? slash + 1 : it->first.file, it->first.line,
               it->text) < 0) {
    return NULL;
  }
  return text;
}

size_t check_report(check_state *s, const char *kind, const check_side *first,
                    const check_side *second, const char *detail, ...) {
  char text[1024];
  mtl_check_finding finding = {.kind = kind,
                               .text = text,
                               .first = check_place_of(first),
                               .second = no_place,
                               .schedule = check_schedule_text()};
  if (second) {
    finding.second = check_place_of(second);
  }
  check_entry *entry = find(kind, &finding.first, &finding.second);
  if (!entry) {
    va_list arguments;
    va_start(arguments, detail);
    vsnprintf(text, sizeof text, detail, arguments);
    va_end(arguments);
    entry = add(&finding);
  }
  if (!entry) {
    return SIZE_MAX;
  }
  entry->finding.count++;
  if (entry->dispatch != s->dispatch) {
    entry->dispatch = s->dispatch;
    entry->order = ++report_count;
  }
  s->is_to_stop |=
      !entry->is_suppressed && (s->checks & MTLI_CHECK_STOP) != 0;
  return (size_t)(entry - entries);
}

void check_entry_settle(size_t entry, bool is_real) {
  entries[entry].is_real |= is_real;
  entries[entry].is_explained = true;
}

char *check_first_text(const check_state *s) {
  const check_entry *first = NULL;
  for (size_t i = 0; i < entry_count; ++i) {
    const check_entry *it = &entries[i];
    if (check_is_shown(it) && it->dispatch == s->dispatch &&
        (!first || it->order < first->order)) {
      first = it;
    }
  }
  return first ? error_text(&first->finding) : NULL;
}

// --- the public calls -------------------------------------------------------------

bool mtl_check_writer(uint64_t gpu_address, mtl_check_place *out_place) {
  pthread_mutex_lock(&check_lock);
  const check_memory *memory = check_memory_find(gpu_address);
  check_cell cell = {0};
  if (memory && memory->cells) {
    const uint64_t offset = gpu_address - memory->first;
    cell = check_parts_at(&memory->cells[offset / 4],
                          &memory->quarters[offset / 4 * 4], offset);
  }
  const bool is_known = cell.write && check_past_of(cell.write);
  if (is_known) {
    const check_side side =
        check_side_of(check_last_state(), cell.write,
                      cell.write_site & MTLI_CHECK_MOST_WRITE_SITE);
    *out_place = check_place_of(&side);
  }
  pthread_mutex_unlock(&check_lock);
  return is_known;
}

mtl_status mtl_check_report(mtl_check_handler *handler, void *context) {
  if (!handler) {
    return mtli_fail(MTL_INVALID_ARGUMENT, "mtl_check_report: handler is NULL");
  }
  pthread_mutex_lock(&check_lock);
  for (size_t i = 0; i < entry_count; ++i) {
    if (check_is_shown(&entries[i])) {
      handler(context, &entries[i].finding);
    }
  }
  pthread_mutex_unlock(&check_lock);
  return MTL_OK;
}

static size_t count_findings(void) {
  size_t count = 0;
  for (size_t i = 0; i < entry_count; ++i) {
    count += check_is_shown(&entries[i]);
  }
  return count;
}

static uint64_t count_instances(void) {
  uint64_t count = 0;
  for (size_t i = 0; i < entry_count; ++i) {
    count += check_is_shown(&entries[i]) ? entries[i].finding.count : 0;
  }
  return count;
}

void mtl_check_counts(uint64_t *out_findings, uint64_t *out_instances,
                      uint64_t *out_dispatches, uint64_t *out_unchecked) {
  pthread_mutex_lock(&check_lock);
  const uint64_t counts[] = {count_findings(), count_instances(),
                             check_dispatches, check_unchecked};
  pthread_mutex_unlock(&check_lock);
  uint64_t *const out[] = {out_findings, out_instances, out_dispatches,
                           out_unchecked};
  for (size_t i = 0; i < sizeof out / sizeof *out; ++i) {
    if (out[i]) {
      *out[i] = counts[i];
    }
  }
}

static bool ends_with(const char *text, const char *end) {
  const size_t length = strlen(text), end_length = strlen(end);
  return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

static void write_report(void) {
  const char *path = check_report_path();
  if (path) {
    FILE *file = fopen(path, "w");
    if (!file) {
      mtli_check_note_unchecked("the report cannot be written to %s", path);
    } else {
      if (ends_with(path, ".sarif")) {
        check_write_sarif(file);
      } else if (ends_with(path, ".json")) {
        check_write_json(file);
      } else {
        for (size_t i = 0; i < entry_count; ++i) {
          if (check_is_shown(&entries[i])) {
            check_write_text(file, &entries[i].finding);
          }
        }
      }
      fclose(file);
    }
  }
  enum { MOST_ENTRIES = 100 };
  size_t shown = 0;
  for (size_t i = 0; i < entry_count && shown < MOST_ENTRIES; ++i) {
    if (check_is_shown(&entries[i])) {
      check_write_text(stderr, &entries[i].finding);
      ++shown;
    }
  }
}

int mtl_check_finish(void) {
  static bool is_written;
  const size_t count = count_findings();
  if (!is_written && mtl_check_settings() == MTL_OK) {
    is_written = true;
    fflush(stdout);
    write_report();
    size_t kinds = 0, suppressed = 0;
    for (size_t i = 0; i < entry_count; ++i) {
      bool is_new = check_is_shown(&entries[i]);
      suppressed += entries[i].is_suppressed;
      for (size_t k = 0; k < i && is_new; ++k) {
        is_new = !check_is_shown(&entries[k]) ||
                 strcmp(entries[k].finding.kind, entries[i].finding.kind) != 0;
      }
      kinds += is_new;
    }
    if (suppressed) {
      fprintf(stderr, "mettle check: %zu suppressed\n", suppressed);
    }
    fprintf(stderr,
            "mettle check: %zu finding%s (%zu kind%s) in %u dispatch%s%s\n",
            count, count == 1 ? "" : "s", kinds, kinds == 1 ? "" : "s",
            check_dispatches, check_dispatches == 1 ? "" : "es",
            check_unchecked ? "; not all could be checked" : "");
  }
  return count ? 3 : check_unchecked ? 4 : 0;
}
