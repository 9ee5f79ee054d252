// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// corpus.c: `mettle corpus`: compiles every source under a folder as its
// project would, and reports by file.
#include "cli/corpus/corpus.h"

#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/base/progress.h"

#define MANIFEST_NAME "mettle-corpus.txt"

enum { OPTION_MANIFEST = OPTION_VERB, OPTION_PIPELINES, OPTION_JSON };

// --constant is not among them: one value cannot be meant for every source.
static const option_spec corpus_option_specs[] = {
    {"-I", OPTION_INCLUDE, true},
    {"-D", OPTION_DEFINE, true},
    {"--math", OPTION_MATH, true},
    {"--std", OPTION_STD, true},
    {"-fpermissive", OPTION_PERMISSIVE, false},
    {"--debug", OPTION_DEBUG, false},
    {"--device", OPTION_DEVICE, true},
    {"--manifest", OPTION_MANIFEST, true},
    {"--pipelines", OPTION_PIPELINES, false},
    {"--json", OPTION_JSON, false},
    {NULL, 0, false},
};

typedef struct corpus {
  program_options program;
  const char *folder;
  const char *manifest_path;  // NULL for the folder's own
  bool with_pipelines;
  bool as_json;
  corpus_manifest manifest;
  corpus_files files;
  mtl_device *device;
} corpus;

static uint64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static bool take_argument(corpus *work, int id, const char *value,
                          cli_error *error) {
  switch (id) {
    case ARGUMENT_POSITIONAL:
      if (work->folder != NULL) {
        return cli_fail(error, CLI_USAGE, "'%s' is one argument too many",
                        value);
      }
      work->folder = value;
      return true;
    case OPTION_MANIFEST: work->manifest_path = value; return true;
    case OPTION_PIPELINES: work->with_pipelines = true; return true;
    case OPTION_JSON: work->as_json = true; return true;
    default: return program_options_take(&work->program, id, value, error);
  }
}

static bool parse(char **arguments, corpus *work, cli_error *error) {
  argument_walk walk = {.next = arguments, .options = corpus_option_specs};
  const char *value;
  int id;
  while ((id = argument_walk_next(&walk, &value, error)) != ARGUMENT_END) {
    if (id == ARGUMENT_WRONG || !take_argument(work, id, value, error)) {
      return false;
    }
  }
  return work->folder != NULL || cli_fail(error, CLI_USAGE, "DIR is missing");
}

static bool read_manifest(corpus *work, cli_error *error) {
  char own[4096];
  const int length =
      snprintf(own, sizeof own, "%s/" MANIFEST_NAME, work->folder);
  if (length < 0 || (size_t)length >= sizeof own) {
    return cli_fail(error, CLI_USAGE, "the path of DIR is too long");
  }
  const bool is_own = work->manifest_path == NULL;
  // The sources may include each other: DIR is searched last.
  return corpus_manifest_read(is_own ? own : work->manifest_path, is_own,
                              &work->program, &work->manifest, error) &&
         program_options_take(&work->program, OPTION_INCLUDE, work->folder,
                              error);
}

// Keeps the first error of the compiler's text, or its first line.
static void keep_diagnostic(corpus_row *row, const char *text) {
  if (row->diagnostic != NULL) {
    return;
  }
  const char *start = strstr(text, "error: ");
  start = start != NULL ? start : text;
  while (start > text && start[-1] != '\n') {
    --start;
  }
  row->diagnostic = strndup(start, strcspn(start, "\n"));
}

// Keeps why the first kernel that is not vectorised is not.
static void keep_refusal(corpus_row *row, const char *kernel,
                         const char *report) {
  static const char start[] = "not vectorised: ";
  const char *refusal = strstr(report, start);
  if (row->refusal == NULL && refusal != NULL) {
    refusal += strlen(start);
    if (asprintf(&row->refusal, "%s: %.*s", kernel, (int)strcspn(refusal, "\n"),
                 refusal) < 0) {
      row->refusal = NULL;
    }
  }
}

// Reads a kernel's report; true if it was vectorised, which one of its lines
// says. Kernels without a thread's own work, and those of tier T0, are not, and
// need no reason.
static bool take_report(corpus_row *row, const char *kernel,
                        const char *report) {
  static const char said[] = "\nvectorised for ";
  const bool vectorised = strncmp(report, said + 1, strlen(said + 1)) == 0 ||
                          strstr(report, said) != NULL;
  if (!vectorised) {
    keep_refusal(row, kernel, report);
  }
  return vectorised;
}

// True if a failure is no fault of the source.
static bool is_trouble(mtl_status status) {
  return status != MTL_OK && status != MTL_COMPILE_FAILED &&
         status != MTL_UNSUPPORTED && status != MTL_NOT_FOUND;
}

static mtl_status make_pipeline(const corpus *work, const cli_program *program,
                                const char *name, corpus_row *row) {
  mtl_function *function = NULL;
  mtl_pipeline *pipeline = NULL;
  cli_error error = {0};
  if (!program_find_function(program, &work->program, name, true, &function,
                             &error)) {
    keep_diagnostic(row, error.text);
    return MTL_NOT_FOUND;
  }
  const mtl_pipeline_desc desc = {.debug = work->program.compile.debug};
  const mtl_status status = mtl_pipeline_create(function, &desc, &pipeline);
  if (status == MTL_OK) {
    row->vectorised += take_report(row, name, mtl_pipeline_report(pipeline));
  } else {
    keep_diagnostic(row, mtl_last_error());
  }
  mtl_pipeline_release(pipeline);
  mtl_function_release(function);
  return status;
}

static void make_pipelines(const corpus *work, mtl_library *library,
                           corpus_row *row) {
  const cli_program program = {.device = work->device, .library = library};
  const uint64_t start = now_ns();
  progress *bar = progress_start(row->name);
  for (size_t i = 0; i < row->kernels; ++i) {
    progress_set(bar, i, row->kernels);
    const mtl_status status = make_pipeline(
        work, &program, mtl_library_function_name(library, i), row);
    row->pipelines += status == MTL_OK;
    row->failed += status != MTL_OK;
    row->is_trouble |= is_trouble(status);
  }
  progress_stop(bar);
  row->pipeline_ns = now_ns() - start;
}

static void compile_text(corpus *work, corpus_row *row, const char *bytes,
                         size_t size) {
  mtl_library *library = NULL;
  work->program.file = row->path;
  const uint64_t start = now_ns();
  const mtl_status status = program_compile_source(&work->program, work->device,
                                                   bytes, size, &library);
  row->compile_ns = now_ns() - start;
  row->compiled = status == MTL_OK;
  row->is_trouble = is_trouble(status);
  if (!row->compiled) {
    row->needs = corpus_needs(&work->files, row, mtl_last_error());
    keep_diagnostic(row, mtl_last_error());
    return;
  }
  row->kernels = program_kernel_count(library);
  if (work->with_pipelines) {
    make_pipelines(work, library, row);
  }
  mtl_library_release(library);
}

static void compile_row(corpus *work, size_t index) {
  corpus_row *row = &work->files.rows[index];
  row->skipped = corpus_manifest_skips(&work->manifest, row->name);
  if (row->skipped) {
    return;
  }
  char *bytes;
  size_t size;
  cli_error error = {0};
  if (!read_whole_file(row->path, &bytes, &size, &error)) {
    row->is_trouble = true;
    keep_diagnostic(row, error.text);
    return;
  }
  progress *bar = work->with_pipelines ? NULL : progress_start("compiling");
  progress_set(bar, index, work->files.count);
  compile_text(work, row, bytes, size);
  progress_stop(bar);
  free(bytes);
}

static bool compile_all(corpus *work, cli_error *error) {
  size_t wrong = 0;
  size_t trouble = 0;
  for (size_t i = 0; i < work->files.count; ++i) {
    const corpus_row *row = &work->files.rows[i];
    compile_row(work, i);
    wrong +=
        !row->skipped && !row->needs && (!row->compiled || row->failed > 0);
    trouble += row->is_trouble;
    if (!work->as_json) {
      corpus_print_row(row, work->with_pipelines);
    }
  }
  if (work->as_json) {
    corpus_print_json(&work->files, work->with_pipelines);
  } else {
    corpus_print_summary(&work->files, work->with_pipelines);
  }
  if (trouble > 0) {
    return cli_fail(error, CLI_FAILED,
                    "%zu of %zu files did not compile, %zu of them for trouble "
                    "of this machine",
                    wrong, work->files.count, trouble);
  }
  return wrong == 0 ||
         cli_fail(error, CLI_NOT_COMPILED, "%zu of %zu files did not compile",
                  wrong, work->files.count);
}

// Makes room for the options of the command line and of a manifest, and DIR.
static bool create_options(char **arguments, program_options *out_options,
                           cli_error *error) {
  size_t count = 0;
  while (arguments[count] != NULL) {
    ++count;
  }
  char **room = calloc(count + CORPUS_MAX_OPTIONS + 2, sizeof *room);
  if (room == NULL) {
    return cli_fail(error, CLI_FAILED, "out of memory");
  }
  for (size_t i = 0; i < count + CORPUS_MAX_OPTIONS + 1; ++i) {
    room[i] = (char *)"";
  }
  const bool ok = program_options_create(room, out_options, error);
  free(room);
  return ok;
}

static bool run_corpus(char **arguments, cli_error *error) {
  corpus work = {0};
  if (!create_options(arguments, &work.program, error)) {
    return false;
  }
  const bool ok =
      parse(arguments, &work, error) && read_manifest(&work, error) &&
      corpus_files_find(work.folder, &work.files, error) &&
      program_open_device(work.program.device_name, &work.device, error) &&
      compile_all(&work, error);
  mtl_device_release(work.device);
  corpus_files_clear(&work.files);
  program_options_clear(&work.program);
  corpus_manifest_clear(&work.manifest);
  return ok;
}

static const char corpus_help[] =
    "usage: mettle corpus DIR [option...]\n"
    "\n"
    "Compiles every .metal file under DIR as its project would, and prints a\n"
    "line for each: its kernels, the time it took, and the first error of "
    "what\n"
    "failed. They may include what lies under DIR, and one that calls a "
    "function\n"
    "of another, as sources of one library may, counts as partial and not as\n"
    "failed. DIR/" MANIFEST_NAME
    " tells how they are compiled, if it is there; a directive a line:\n"
    "\n"
    "  include PATH           search PATH, relative to the manifest, for "
    "headers\n"
    "  define NAME[=VALUE]    define a macro\n"
    "  math MODE, std VERSION as --math and --std\n"
    "  skip PATTERN           leave out files whose path below DIR matches\n"
    "  # TEXT                 a comment\n"
    "\n"
    "  --manifest FILE        read FILE instead\n"
    "  --pipelines            make machine code of every kernel too, count "
    "what\n"
    "                         is vectorised and say why the first is not;\n"
    "                         constants without a value are 0\n"
    "  --json                 print one JSON object\n"
    "  --debug                compile for tier T0, as 'mettle run --debug'\n"
    "  -I DIR, -D NAME[=VALUE], --math MODE, --std VERSION, -fpermissive,\n"
    "  --device NAME          as in 'mettle compile'\n"
    "\n"
    "exit code: 0 all compiled, 1 failed, 2 wrong usage, 3 some did not "
    "compile\n";

const cli_verb cli_verb_corpus = {
    .name = "corpus",
    .summary = "compile every source under a folder and report",
    .help = corpus_help,
    .run = run_corpus,
};
