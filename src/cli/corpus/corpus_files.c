// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// corpus_files.c: finds the sources under a folder.
#include <errno.h>
#include <fts.h>
#include <stdlib.h>
#include <string.h>

#include "cli/corpus/corpus.h"

static bool is_source(const FTSENT *entry) {
  static const char suffix[] = ".metal";
  const size_t length = entry->fts_namelen;
  // A link counts as the file that it leads to.
  return (entry->fts_info == FTS_F || entry->fts_info == FTS_SL) &&
         length > strlen(suffix) &&
         strcmp(entry->fts_name + length - strlen(suffix), suffix) == 0;
}

static bool add_file(corpus_files *files, size_t *capacity, const char *path,
                     size_t folder_length) {
  if (files->count == *capacity) {
    const size_t larger = *capacity ? *capacity * 2 : 64;
    corpus_row *rows = realloc(files->rows, larger * sizeof *rows);
    if (rows == NULL) {
      return false;
    }
    files->rows = rows;
    *capacity = larger;
  }
  corpus_row *row = &files->rows[files->count];
  memset(row, 0, sizeof *row);
  row->path = strdup(path);
  if (row->path == NULL) {
    return false;
  }
  row->name = row->path + folder_length;
  while (*row->name == '/') {
    ++row->name;
  }
  ++files->count;
  return true;
}

static int compare_rows(const void *left, const void *right) {
  return strcmp(((const corpus_row *)left)->name,
                ((const corpus_row *)right)->name);
}

static bool walk(FTS *tree, const char *folder, corpus_files *files,
                 cli_error *error) {
  size_t capacity = 0;
  FTSENT *entry;
  while (errno = 0, (entry = fts_read(tree)) != NULL) {
    if (entry->fts_info == FTS_ERR || entry->fts_info == FTS_DNR ||
        entry->fts_info == FTS_NS) {
      return cli_fail(error, CLI_FAILED, "%s: %s", entry->fts_path,
                      strerror(entry->fts_errno));
    }
    if (is_source(entry) &&
        !add_file(files, &capacity, entry->fts_path, strlen(folder))) {
      return cli_fail(error, CLI_FAILED, "out of memory");
    }
  }
  return errno == 0 ||
         cli_fail(error, CLI_FAILED, "%s: %s", folder, strerror(errno));
}

bool corpus_files_find(const char *folder, corpus_files *out_files,
                       cli_error *error) {
  memset(out_files, 0, sizeof *out_files);
  char *const roots[] = {(char *)folder, NULL};
  FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, NULL);
  if (tree == NULL) {
    return cli_fail(error, CLI_FAILED, "%s: %s", folder, strerror(errno));
  }
  const bool ok = walk(tree, folder, out_files, error);
  fts_close(tree);
  if (ok && out_files->count > 0) {
    qsort(out_files->rows, out_files->count, sizeof *out_files->rows,
          compare_rows);
  }
  return ok &&
         (out_files->count > 0 ||
          cli_fail(error, CLI_FAILED, "%s: no .metal file there", folder));
}

void corpus_files_clear(corpus_files *files) {
  for (size_t i = 0; i < files->count; ++i) {
    free(files->rows[i].path);
    free(files->rows[i].refusal);
    free(files->rows[i].diagnostic);
  }
  free(files->rows);
  memset(files, 0, sizeof *files);
}
