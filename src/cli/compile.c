// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// compile.c: `mettle compile`: checks a source, writes its code container, and
// shows what the compiler makes of each kernel.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/listing.h"
#include "cli/program/program.h"

enum {
  OPTION_OUTPUT = OPTION_VERB,
  OPTION_DUMP_AFTER,
  OPTION_WITHOUT,
  OPTION_DUMP_PLAN,
  OPTION_ASM,
  OPTION_REPORT,
  OPTION_KERNEL,
  OPTION_GROUP,
};

// The name under which mtl_pipeline_dump returns machine code.
static const char code_listing[] = "asm";

// The name of the plan of loads and stores.
static const char access_plan[] = "plan";

static const option_spec compile_option_specs[] = {
    PROGRAM_OPTIONS,
    {"-o", OPTION_OUTPUT, true},
    {"--dump-after", OPTION_DUMP_AFTER, true},
    {"--dump-plan", OPTION_DUMP_PLAN, false},
    {"--without", OPTION_WITHOUT, true},
    {"--asm", OPTION_ASM, false},
    {"--report", OPTION_REPORT, false},
    {"--kernel", OPTION_KERNEL, true},
    {"--group", OPTION_GROUP, true},
    {NULL, 0, false},
};

typedef struct compile_options {
  program_options program;
  const char *output;
  const char *dump_after;
  const char *without;  // steps, or NULL
  const char *kernel;  // NULL for all
  uint32_t group[3];  // zeros for a guess
  bool report;
} compile_options;

static bool take_group(compile_options *options, const char *value,
                       cli_error *error) {
  if (!size_parse("--group", value, options->group, error)) {
    return false;
  }
  const uint32_t *side = options->group;
  return (side[0] && side[1] && side[2]) ||
         cli_fail(error, CLI_USAGE, "--group %s: a side is 0", value);
}

static bool take_argument(compile_options *options, int id, const char *value,
                          cli_error *error) {
  switch (id) {
    case ARGUMENT_POSITIONAL:
      if (options->program.file != NULL) {
        return cli_fail(error, CLI_USAGE, "'%s' is one argument too many",
                        value);
      }
      options->program.file = value;
      return true;
    case OPTION_OUTPUT: options->output = value; return true;
    case OPTION_DUMP_AFTER: options->dump_after = value; return true;
    case OPTION_DUMP_PLAN: options->dump_after = access_plan; return true;
    case OPTION_WITHOUT: options->without = value; return true;
    case OPTION_ASM: options->dump_after = code_listing; return true;
    case OPTION_REPORT: options->report = true; return true;
    case OPTION_KERNEL: options->kernel = value; return true;
    case OPTION_GROUP: return take_group(options, value, error);
    default: return program_options_take(&options->program, id, value, error);
  }
}

static bool parse(char **arguments, compile_options *out_options,
                  cli_error *error) {
  argument_walk walk = {.next = arguments, .options = compile_option_specs};
  const char *value;
  int id;
  while ((id = argument_walk_next(&walk, &value, error)) != ARGUMENT_END) {
    if (id == ARGUMENT_WRONG || !take_argument(out_options, id, value, error)) {
      return false;
    }
  }
  if (out_options->without != NULL && out_options->dump_after == NULL &&
      !out_options->report) {
    return cli_fail(error, CLI_USAGE,
                    "--without shows nothing by itself: it goes with "
                    "--dump-after, --dump-plan, --asm or --report");
  }
  return out_options->program.file != NULL ||
         cli_fail(error, CLI_USAGE, "FILE.metal is missing");
}

static void print_block(const char *text) {
  const size_t length = strlen(text);
  fputs(text, stdout);
  if (length > 0 && text[length - 1] != '\n') {
    putchar('\n');
  }
}

static void print_report(const char *name, const mtl_pipeline *pipeline) {
  printf("kernel %s\n", name);
  printf("threads in a group: %u at most; threadgroup variables: %zu bytes\n",
         mtl_pipeline_max_total_threads_per_threadgroup(pipeline),
         mtl_pipeline_static_threadgroup_memory_bytes(pipeline));
  print_block(mtl_pipeline_report(pipeline));
}

static void print_dump(const compile_options *options, const char *name,
                       const char *dump) {
  if (strcmp(options->dump_after, code_listing) == 0) {
    printf("; kernel %s\n", name);
    listing_print(dump);
  } else if (strcmp(options->dump_after, access_plan) == 0) {
    printf("kernel %s\n", name);
    print_block(dump);
  } else {
    printf("; kernel %s after %s\n", name, options->dump_after);
    print_block(dump);
  }
}

// Prints the IR that an error's text carries, and takes it off the error.
static void print_reached(cli_error *error) {
  static const char start[] = "\n; kernel ";
  const char *dump = strstr(mtl_last_error(), start);
  if (dump != NULL) {
    print_block(dump + 1);
  }
  char *rest = strstr(error->text, start);
  if (rest != NULL) {
    *rest = '\0';
  }
}

// Returns the value of mtl_pipeline_desc.dump_after, which the caller frees, or
// NULL for none.
static char *wanted_dump(const compile_options *options) {
  char *text = NULL;
  if (options->without != NULL) {
    const char *pass = options->dump_after != NULL ? options->dump_after : "";
    return asprintf(&text, "%s without %s", pass, options->without) < 0 ? NULL
                                                                        : text;
  }
  return options->dump_after != NULL ? strdup(options->dump_after) : NULL;
}

// Compiles one kernel to machine code and prints what was asked for.
static bool show_kernel(const compile_options *options,
                        const cli_program *program, const char *name,
                        cli_error *error) {
  mtl_function *function = NULL;
  mtl_pipeline *pipeline = NULL;
  if (!program_find_function(program, &options->program, name, false, &function,
                             error)) {
    return false;
  }
  char *wanted = wanted_dump(options);
  const mtl_pipeline_desc desc = {
      .debug = options->program.compile.debug,
      .dump_after = wanted,
      .report_code = options->report,
      .group_threads = {options->group[0], options->group[1],
                        options->group[2]},
  };
  const bool ok = program_make_pipeline(function, &desc, &pipeline, error);
  free(wanted);
  if (!ok && options->dump_after != NULL) {
    print_reached(error);
  }
  if (ok && options->dump_after != NULL) {
    print_dump(options, name, mtl_pipeline_dump(pipeline));
  }
  if (ok && options->report) {
    print_report(name, pipeline);
  }
  mtl_pipeline_release(pipeline);
  mtl_function_release(function);
  return ok;
}

// Translates one function of a metallib, or all, and reports failures: each on
// a line of its own on standard error, and their number on standard output.
static bool translate_functions(const compile_options *options,
                                const cli_program *program, cli_error *error) {
  const size_t all = mtl_library_function_count(program->library);
  const size_t count = options->kernel ? 1 : all;
  size_t failed = 0;
  for (size_t i = 0; i < count; ++i) {
    const char *name = options->kernel
                           ? options->kernel
                           : mtl_library_function_name(program->library, i);
    const mtl_constant_info *infos;
    size_t info_count;
    if (mtl_library_function_constants(program->library, name, &infos,
                                       &info_count) != MTL_OK) {
      fprintf(stderr, "%s\n", mtl_last_error());
      failed++;
    }
  }
  printf("%zu functions, %zu of %zu translated\n", all, count - failed, count);
  return failed == 0 || cli_fail(error, CLI_NOT_COMPILED,
                                 "%s: %zu of %zu functions cannot be "
                                 "translated",
                                 options->program.file, failed, count);
}

static bool show_kernels(const compile_options *options,
                         const cli_program *program, cli_error *error) {
  if (options->dump_after == NULL && !options->report) {
    return !program->is_metallib ||
           translate_functions(options, program, error);
  }
  if (options->kernel != NULL) {
    return show_kernel(options, program, options->kernel, error);
  }
  // A report goes on behind a kernel that fails; the first error is the one.
  const size_t count = program_kernel_count(program->library);
  bool ok = true;
  for (size_t i = 0; i < count && (ok || options->report); ++i) {
    const char *name = mtl_library_function_name(program->library, i);
    cli_error own = {0};
    if (!show_kernel(options, program, name, &own)) {
      if (options->report) {
        printf("kernel %s\nnot compiled: %s\n", name, own.text);
      }
      *error = ok ? own : *error;
      ok = false;
    }
  }
  return ok;
}

static bool write_container(const compile_options *options,
                            const cli_program *program, cli_error *error) {
  if (options->output == NULL) {
    return true;
  }
  const mtl_status status =
      mtl_library_write(program->library, options->output);
  return status == MTL_OK || cli_fail_status(error, status, options->output);
}

static bool compile(char **arguments, cli_error *error) {
  compile_options options = {0};
  cli_program program = {0};
  if (!program_options_create(arguments, &options.program, error)) {
    return false;
  }
  const bool ok = parse(arguments, &options, error) &&
                  program_open(&options.program, &program, error) &&
                  program_check_constants(&program, &options.program, error) &&
                  write_container(&options, &program, error) &&
                  show_kernels(&options, &program, error);
  program_clear(&program);
  program_options_clear(&options.program);
  return ok;
}

static const char compile_help[] =
    "usage: mettle compile FILE.metal [-o FILE] [option...]\n"
    "\n"
    "Compiles FILE.metal and prints what is wrong with it. Errors and "
    "warnings\n"
    "go to standard error. Of a compiled Metal library (metallib) it translates\n"
    "every function, and tells which cannot be.\n"
    "\n"
    "  -o FILE                write the code container, for 'mettle run FILE'\n"
    "                         and mtl_library_create_from_file\n"
    "  --dump-after=PASS      print the LLVM IR of each kernel after PASS; a\n"
    "                         wrong name lists the passes. vectorize.STEP is a\n"
    "                         step of the vectoriser, 'steps' a table of all\n"
    "                         with their changes and processor times\n"
    "  --dump-plan            print how each load and store is done, and why\n"
    "  --without=STEP[,STEP]  leave out steps of the vectoriser\n"
    "  --asm                  print each kernel's machine code, with the "
    "source's\n"
    "                         lines in between\n"
    "  --report               print how each kernel was compiled, and its "
    "limits\n"
    "  --kernel NAME          print of this kernel only\n"
    "  --group X[,Y[,Z]]      make the code for such threadgroups; else for "
    "rows of 32\n"
    "  --debug                compile for tier T0, as 'mettle run "
    "--debug'\n" PROGRAM_HELP
    "\n"
    "exit code: 0 done, 1 failed, 2 wrong usage, 3 the source did not "
    "compile\n";

const cli_verb cli_verb_compile = {
    .name = "compile",
    .summary = "check a source, write its code, show how it compiles",
    .help = compile_help,
    .run = compile,
};
