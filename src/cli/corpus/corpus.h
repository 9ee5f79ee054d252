// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// corpus.h: what the files of `mettle corpus` share: the sources under a
// folder, the manifest that says how their project compiles them, and the rows
// of the report.
#ifndef METTLE_CLI_CORPUS_H
#define METTLE_CLI_CORPUS_H

#include "cli/program/program.h"

// One source and its result. Zero is a source not yet tried.
typedef struct corpus_row {
  char *path;        // as it can be opened; malloc'ed
  const char *name;  // path without the folder; part of path
  bool skipped;      // the manifest leaves it out
  bool compiled;
  // Its functions of others keep it from compiling alone: part of diagnostic's
  // reason, no error. The name of the first source that has one; NULL else.
  const char *needs;
  size_t kernels;
  uint64_t compile_ns;
  // With --pipelines: machine code of each kernel.
  size_t pipelines;   // made
  size_t vectorised;  // of them
  size_t failed;      // not made
  uint64_t pipeline_ns;
  char *refusal;     // "KERNEL: why it is not vectorised", of the first;
                     // malloc'ed, NULL without
  bool is_trouble;   // the failure is the machine's, not the source's
  char *diagnostic;  // the first error; malloc'ed, NULL without
} corpus_row;

typedef struct corpus_files {
  corpus_row *rows;  // [count], sorted by name
  size_t count;
} corpus_files;

// Finds every file under folder that ends in .metal, following no links to
// folders.
//
// Ownership  End *out_files with corpus_files_clear, also after a failure.
bool corpus_files_find(const char *folder, corpus_files *out_files,
                       cli_error *error);
void corpus_files_clear(corpus_files *files);

// A manifest: a text file, a directive a line, "#" before a comment.
//
//   include PATH       search PATH for headers; relative to the manifest
//   define NAME[=TEXT] define a macro
//   math MODE          safe, relaxed or fast
//   std VERSION        metal3.2 and so on
//   skip PATTERN       leave out the files whose path matches, as fnmatch(3)
typedef struct corpus_manifest {
  char *text;    // malloc'ed; the other texts are parts of it
  char **skips;  // [skip_count]
  char **paths;  // [path_count] malloc'ed include paths
  size_t skip_count, path_count;
} corpus_manifest;

// Reads path into *out_manifest and the options that it gives into *options,
// which has room for them. Without a file there, out_manifest is empty if
// may_be_missing.
//
// Ownership  End *out_manifest with corpus_manifest_clear, also after a
//            failure, and not before the options.
bool corpus_manifest_read(const char *path, bool may_be_missing,
                          program_options *options,
                          corpus_manifest *out_manifest, cli_error *error);
void corpus_manifest_clear(corpus_manifest *manifest);
// True if the manifest leaves out the file called name.
bool corpus_manifest_skips(const corpus_manifest *manifest, const char *name);

// Returns the name of the source that defines the first function that row calls
// and only declares; NULL if errors, the compiler's text, has one that no other
// source mends.
const char *corpus_needs(const corpus_files *files, const corpus_row *row,
                         const char *errors);

// Options that a manifest can give at the most; a longer one is refused.
#define CORPUS_MAX_OPTIONS 1000

// Print a row or the summary, for people or as part of a JSON object.
void corpus_print_row(const corpus_row *row, bool with_pipelines);
void corpus_print_summary(const corpus_files *files, bool with_pipelines);
void corpus_print_json(const corpus_files *files, bool with_pipelines);

#endif
