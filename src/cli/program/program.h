// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// program.h: the options that every verb with a FILE shares, and the library
// made from them.
#ifndef METTLE_CLI_PROGRAM_H
#define METTLE_CLI_PROGRAM_H

#include "cli/base/arguments.h"
#include "cli/bind/binding.h"
#include "mettle/mettle.h"

typedef struct program_options {
  const char *file;           // NULL until given
  const char *device_name;    // NULL for the default device
  const char *source_option;  // the last that a code container cannot follow
  mtl_compile_options compile;
  mtl_macro *macros;  // names malloc'ed, values borrowed
  const char **include_paths;
  char *directory;  // of file; where it finds its own headers
  constant_value *constants;
  size_t constant_count;
} program_options;

// Ids of the options below; a verb's own start at OPTION_VERB.
enum {
  OPTION_INCLUDE = 1,
  OPTION_DEFINE,
  OPTION_MATH,
  OPTION_STD,
  OPTION_DEBUG,
  OPTION_DEVICE,
  OPTION_CONSTANT,
  OPTION_PERMISSIVE,
  OPTION_VERB = 100,
};

#define PROGRAM_OPTIONS                                                      \
  {"-I", OPTION_INCLUDE, true}, {"-D", OPTION_DEFINE, true},                 \
      {"--math", OPTION_MATH, true}, {"--std", OPTION_STD, true},            \
      {"-fpermissive", OPTION_PERMISSIVE, false},                            \
      {"--debug", OPTION_DEBUG, false}, {"--device", OPTION_DEVICE, true}, { \
    "--constant", OPTION_CONSTANT, true                                      \
  }

// These options' part of a help page.
#define PROGRAM_HELP                                                           \
  "  -I DIR                 search DIR for headers; FILE's own directory is\n" \
  "                         searched first\n"                                  \
  "  -D NAME[=VALUE]        define a macro, as 1 without VALUE; NAME may "     \
  "have\n"                                                                     \
  "                         (PARAMETERS)\n"                                    \
  "  --constant NAME=V[,V...]\n"                                               \
  "                         the value of a function constant; its index may\n" \
  "                         stand for NAME\n"                                  \
  "  --math safe|relaxed|fast\n"                                               \
  "                         what may be done with floating point; fast, as\n"  \
  "                         in Metal, if not given\n"                          \
  "  --std VERSION          metal2.4, metal3.0, metal3.1, metal3.2 (the\n"     \
  "                         default), metal4.0 or metal4.1; earlier ones\n"    \
  "                         are taken for metal2.4\n"                          \
  "  -fpermissive           what Metal's compiler refuses and this one can\n"  \
  "                         compile is a warning\n"                            \
  "  --device NAME          a name that 'mettle devices' lists\n"

// Makes room for as many of each option as there are arguments.
bool program_options_create(char **arguments, program_options *out_options,
                            cli_error *error);
void program_options_clear(program_options *options);
// Fails if the file cannot be read: before errors that are of less interest
// then.
bool program_options_check_file(const program_options *options,
                                cli_error *error);

// Takes one option of PROGRAM_OPTIONS.
bool program_options_take(program_options *options, int id, const char *value,
                          cli_error *error);

typedef struct cli_program {
  mtl_device *device;
  mtl_library *library;
  bool is_metallib;  // its functions are translated when they are asked for
} cli_program;

// Compiles options->file, or loads it if it is a code container, and prints
// the compiler's warnings.
//
// Ownership  End *out_program with program_clear, also after a failure.
bool program_open(program_options *options, cli_program *out_program,
                  cli_error *error);
void program_clear(cli_program *program);

// program_open in two steps, for a source whose text the caller has: opens the
// device, and compiles the text [size]. options->file names the source, for
// messages and for headers beside it.
//
// Ownership  *out_device and *out_library are yours.
bool program_open_device(const char *name, mtl_device **out_device,
                         cli_error *error);
mtl_status program_compile_source(program_options *options, mtl_device *device,
                                  const char *bytes, size_t size,
                                  mtl_library **out_library);

// Names the kernel of a program that has one only. Valid as long as it.
bool program_only_kernel(const cli_program *program, const char **out_name,
                         cli_error *error);

// Fails if the command line has a value for a constant that no kernel knows.
bool program_check_constants(const cli_program *program,
                             const program_options *options, cli_error *error);

// Finds a kernel and gives it the constants of the command line.
//
//   zero_missing   required constants that have no value become 0
//
// Ownership  *out_function is yours.
bool program_find_function(const cli_program *program,
                           const program_options *options, const char *name,
                           bool zero_missing, mtl_function **out_function,
                           cli_error *error);

// Makes the pipeline of a function, ready to run on its device.
//
// Ownership  *out_pipeline is yours.
bool program_make_pipeline(mtl_function *function,
                           const mtl_pipeline_desc *desc,
                           mtl_pipeline **out_pipeline, cli_error *error);

// Reads a whole file, "-" for standard input; *out_bytes is malloc'ed.
bool read_whole_file(const char *path, char **out_bytes, size_t *out_size,
                     cli_error *error);

// Counts the kernels among a library's functions, which come first.
size_t program_kernel_count(const mtl_library *library);

#endif
