// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// findings.h: the list of findings, and the formats of the report.
#ifndef MTLI_CHECK_FINDINGS_H
#define MTLI_CHECK_FINDINGS_H

#include <stdio.h>

#include "check/state.h"

// A finding; all its texts are its own.
typedef struct check_entry {
  mtl_check_finding finding;
  bool is_suppressed;
  bool is_real;       // with a cause of its own in some dispatch
  bool is_explained;  // by another finding, unless it is_real
  uint32_t dispatch;  // the dispatch in which it was last found, and
  uint64_t order;     // its place among the findings, there
} check_entry;

// True if it is in the report.
static inline bool check_is_shown(const check_entry *entry) {
  return !entry->is_suppressed && (entry->is_real || !entry->is_explained);
}

// Marks entry number `entry` as having a cause of its own, or as explained.
void check_entry_settle(size_t entry, bool is_real);

// causes.c: the dispatch begins; a site has read bytes that were not set, and
// others that another had read before (has_others); a write that races with
// read_site has set some of these; a finding comes from what origin has read;
// the dispatch ends: such findings are settled.
void check_causes_begin(const check_state *s);
void check_causes_read(uint32_t site, uint64_t bytes, bool has_others);
void check_causes_write(uint32_t read_site, uint64_t bytes);
void check_causes_use(size_t entry, uint32_t origin);
void check_causes_end(void);

// Returns the entries [*out_count] in the order in which they were found. The
// lock is held, or no kernel runs any more.
const check_entry *check_entries(size_t *out_count);

// True if the finding is suppressed: by the file that METTLE_CHECK_SUPPRESS
// names, or by its source line.
bool check_is_suppressed(const mtl_check_finding *finding);
// Reads a line of a source into text, without what is around it. False if the
// file, or the line, is not there.
bool check_source_line(const char *file, uint32_t line, char *text,
                       size_t capacity);

void check_write_text(FILE *file, const mtl_check_finding *finding);
void check_write_json(FILE *file);
void check_write_sarif(FILE *file);
// Writes text as a string of JSON, in quotes.
void check_write_string(FILE *file, const char *text);

// Return what METTLE_CHECK_REPORT and METTLE_CHECK_EXIT say; NULL and -1 if
// unset.
const char *check_report_path(void);

#endif
