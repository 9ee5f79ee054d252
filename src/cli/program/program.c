// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// program.c: makes a library and its functions from the options of the command
// line.
#include "cli/program/program.h"

#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/progress.h"
#include "cli/base/suggest.h"
#include "cli/program/spirv.h"

// What a code container starts with (docs/travel.md), and a metallib.
#define CONTAINER_MAGIC "MTLCODE"
#define METALLIB_MAGIC "MTLB"

static bool read_stream(FILE *file, char **out_bytes, size_t *out_size) {
  size_t size = 0, capacity = 64 << 10;
  char *bytes = malloc(capacity);
  while (bytes != NULL) {
    size += fread(bytes + size, 1, capacity - size, file);
    if (size < capacity) {
      break;
    }
    capacity *= 2;
    char *larger = realloc(bytes, capacity);
    if (larger == NULL) {
      free(bytes);
    }
    bytes = larger;
  }
  *out_bytes = bytes;
  *out_size = size;
  return bytes != NULL && !ferror(file);
}

bool read_whole_file(const char *path, char **out_bytes, size_t *out_size,
                     cli_error *error) {
  const bool is_stdin = strcmp(path, "-") == 0;
  *out_bytes = NULL;
  errno = 0;
  FILE *file = is_stdin ? stdin : fopen(path, "rb");
  const bool ok = file != NULL && read_stream(file, out_bytes, out_size);
  const int reason = errno;
  if (file != NULL && !is_stdin) {
    fclose(file);
  }
  if (!ok) {
    free(*out_bytes);
    *out_bytes = NULL;
    return cli_fail(error, CLI_FAILED, "%s: %s", path, strerror(reason));
  }
  return true;
}

static bool starts_with(const char *bytes, size_t size, const char *magic) {
  return size >= strlen(magic) && memcmp(bytes, magic, strlen(magic)) == 0;
}

static bool is_compiled(const char *bytes, size_t size) {
  return starts_with(bytes, size, CONTAINER_MAGIC) ||
         starts_with(bytes, size, METALLIB_MAGIC);
}

// A metallib in a named file is not read as a whole.
static bool is_metallib_file(const char *path) {
  char magic[4] = "";
  FILE *file = strcmp(path, "-") == 0 ? NULL : fopen(path, "rb");
  const size_t size = file ? fread(magic, 1, sizeof magic, file) : 0;
  if (file != NULL) {
    fclose(file);
  }
  return starts_with(magic, size, METALLIB_MAGIC);
}

mtl_status program_compile_source(program_options *options, mtl_device *device,
                                  const char *bytes, size_t size,
                                  mtl_library **out_library) {
  const bool is_stdin = strcmp(options->file, "-") == 0;
  free(options->directory);
  options->directory = strdup(options->file);
  if (options->directory != NULL) {
    options->include_paths[0] = dirname(options->directory);
  }
  options->compile.file_name = is_stdin ? "<stdin>" : options->file;
  options->compile.macros = options->macros;
  options->compile.include_paths = options->include_paths;
  return mtl_library_create_from_source(device, bytes, size, &options->compile,
                                        out_library);
}

static bool check_compiled(const program_options *options, cli_error *error) {
  return options->source_option == NULL ||
         cli_fail(error, CLI_USAGE, "%s is compiled already: %s comes too late",
                  options->file, options->source_option);
}

static bool open_metallib(const program_options *options, mtl_device *device,
                          mtl_library **out_library, cli_error *error) {
  if (!check_compiled(options, error)) {
    return false;
  }
  const mtl_status status =
      mtl_library_create_from_file(device, options->file, out_library);
  return status == MTL_OK || cli_fail_compile(error, status, options->file);
}

static bool open_library(program_options *options, mtl_device *device,
                         const char *bytes, size_t size,
                         mtl_library **out_library, cli_error *error) {
  mtl_status status;
  if (is_compiled(bytes, size)) {
    if (!check_compiled(options, error)) {
      return false;
    }
    status = mtl_library_create_from_data(device, bytes, size, out_library);
  } else {
    progress *bar = progress_start("compiling");
    status = program_compile_source(options, device, bytes, size, out_library);
    progress_stop(bar);
  }
  return status == MTL_OK || cli_fail_compile(error, status, options->file);
}

bool program_open_device(const char *name, mtl_device **out_device,
                         cli_error *error) {
  const mtl_status status = name ? mtl_device_by_name(name, out_device)
                                 : mtl_device_default(out_device);
  if (status == MTL_NOT_FOUND) {
    char suggestion[CLI_SUGGESTION_SIZE];
    cli_suggest_listed(suggestion, name ? name : "", mtl_last_error());
    return cli_fail(error, CLI_USAGE, "%.800s%s", mtl_last_error(), suggestion);
  }
  return status == MTL_OK || cli_fail_status(error, status, "device");
}

static void print_warnings(const mtl_library *library) {
  const char *warnings = mtl_library_warnings(library);
  const size_t length = strlen(warnings);
  if (length > 0) {
    fputs(warnings, stderr);
    if (warnings[length - 1] != '\n') {
      fputc('\n', stderr);
    }
  }
}

// Replaces SPIR-V by MSL; leaves everything else unchanged.
static bool replace_spirv(const program_options *options, char **bytes,
                          size_t *size, cli_error *error) {
  char *source;
  size_t source_size;
  if (!spirv_is(*bytes, *size)) {
    return true;
  }
  if (!spirv_to_source(options->file, *bytes, *size, &source, &source_size,
                       error)) {
    return false;
  }
  free(*bytes);
  *bytes = source;
  *size = source_size;
  return true;
}

bool program_open(program_options *options, cli_program *out_program,
                  cli_error *error) {
  memset(out_program, 0, sizeof *out_program);
  char *bytes = NULL;
  size_t size = 0;
  const bool is_metallib = is_metallib_file(options->file);
  if (!is_metallib && !read_whole_file(options->file, &bytes, &size, error)) {
    return false;
  }
  const bool ok =
      (is_metallib || replace_spirv(options, &bytes, &size, error)) &&
      program_open_device(options->device_name, &out_program->device, error) &&
      (is_metallib ? open_metallib(options, out_program->device,
                                   &out_program->library, error)
                   : open_library(options, out_program->device, bytes, size,
                                  &out_program->library, error));
  out_program->is_metallib =
      is_metallib || starts_with(bytes, size, METALLIB_MAGIC);
  free(bytes);
  if (ok) {
    print_warnings(out_program->library);
  }
  return ok;
}

void program_clear(cli_program *program) {
  mtl_library_release(program->library);
  mtl_device_release(program->device);
  memset(program, 0, sizeof *program);
}

size_t program_kernel_count(const mtl_library *library) {
  size_t count = mtl_library_function_count(library);
  while (count > 0 && mtl_library_function_is_visible(library, count - 1)) {
    --count;
  }
  return count;
}

// Writes "; there are: ..." with the first count functions, and which of them
// name may mean.
static void list_functions(const cli_program *program, size_t count,
                           const char *name, char list[512],
                           char suggestion[CLI_SUGGESTION_SIZE]) {
  const char **names = calloc(count + 1, sizeof *names);
  list[0] = suggestion[0] = '\0';
  if (names != NULL) {
    for (size_t i = 0; i < count; ++i) {
      names[i] = mtl_library_function_name(program->library, i);
    }
    cli_list_names(list, 512, names, count);
    cli_suggest(suggestion, name, strlen(name), names, count);
  }
  free(names);
}

static bool fail_no_kernel(const cli_program *program, const char *name,
                           cli_error *error) {
  const size_t count = mtl_library_function_count(program->library);
  char list[512], suggestion[CLI_SUGGESTION_SIZE];
  list_functions(program, count, name, list, suggestion);
  return cli_fail(error, CLI_USAGE, "there is no kernel '%.200s'%s%s", name,
                  count == 0 ? "; the source has none" : list, suggestion);
}

bool program_only_kernel(const cli_program *program, const char **out_name,
                         cli_error *error) {
  const size_t count = program_kernel_count(program->library);
  *out_name = mtl_library_function_name(program->library, 0);
  if (count == 1) {
    return true;
  }
  char list[512], suggestion[CLI_SUGGESTION_SIZE];
  list_functions(program, count, "", list, suggestion);
  return count == 0 ? cli_fail(error, CLI_USAGE, "the source has no kernel")
                    : cli_fail(error, CLI_USAGE,
                               "KERNEL is missing: which of the source's %zu%s",
                               count, list);
}

static bool has_kernel(const cli_program *program, const char *name) {
  const size_t count = mtl_library_function_count(program->library);
  for (size_t i = 0; i < count; ++i) {
    if (strcmp(mtl_library_function_name(program->library, i), name) == 0) {
      return true;
    }
  }
  return false;
}

static bool is_same_constant(const mtl_constant_info *info,
                             const constant_value *value) {
  if (value->name == NULL) {
    return info->index == value->index;
  }
  return strlen(info->name) == value->name_length &&
         memcmp(info->name, value->name, value->name_length) == 0;
}

// Sets a declared constant. By name, where it has one: an index may be that of
// several constants, of several types.
static mtl_status set_named(mtl_constant_values *values,
                            const mtl_constant_info *info, mtl_data_type type,
                            uint32_t components, const void *bytes) {
  return info->name && *info->name
             ? mtl_constant_values_set_named(values, info->name, type,
                                             components, bytes)
             : mtl_constant_values_set(values, info->index, type, components,
                                       bytes);
}

// Sets the declared constant to its value from the command line, or zeros.
static mtl_status set_constant(mtl_constant_values *values,
                               const mtl_constant_info *info,
                               const program_options *options,
                               bool zero_missing) {
  for (size_t i = 0; i < options->constant_count; ++i) {
    const constant_value *value = &options->constants[i];
    if (is_same_constant(info, value)) {
      return set_named(values, info, value_type_get_info(value->type)->metal,
                       value->components, value->bytes);
    }
  }
  if (!zero_missing || !info->required) {
    return MTL_OK;
  }
  const unsigned char zeros[32] = {0};
  return set_named(values, info, info->type, info->components, zeros);
}

static bool fail_constant(const mtl_constant_info *infos, size_t count,
                          const constant_value *value, cli_error *error) {
  if (value->name == NULL) {
    return cli_fail(error, CLI_USAGE, "the source has no function constant %u",
                    value->index);
  }
  char list[512] = "", suggestion[CLI_SUGGESTION_SIZE] = "";
  const char **names = calloc(count + 1, sizeof *names);
  for (size_t i = 0; names != NULL && i < count; ++i) {
    names[i] = infos[i].name;
  }
  if (names != NULL) {
    cli_list_names(list, sizeof list, names, count);
    cli_suggest(suggestion, value->name, value->name_length, names, count);
  }
  free(names);
  return cli_fail(error, CLI_USAGE,
                  "the source has no function constant '%.*s'%s%s",
                  value->name_length > 100 ? 100 : (int)value->name_length,
                  value->name, list, suggestion);
}

static const mtl_constant_info *find_constant(const mtl_constant_info *infos,
                                              size_t count,
                                              const constant_value *value) {
  for (size_t i = 0; i < count; ++i) {
    if (is_same_constant(&infos[i], value)) {
      return &infos[i];
    }
  }
  return NULL;
}

// Fails for a value that is no constant's; reads those without a type.
static bool check_constants(const mtl_constant_info *infos, size_t count,
                            const program_options *options, cli_error *error) {
  for (size_t i = 0; i < options->constant_count; ++i) {
    constant_value *value = &options->constants[i];
    const mtl_constant_info *found = find_constant(infos, count, value);
    if (found == NULL) {
      return fail_constant(infos, count, value, error);
    }
    if (!constant_value_resolve(value, found, error)) {
      return false;
    }
  }
  return true;
}

bool program_check_constants(const cli_program *program,
                             const program_options *options,
                             cli_error *error) {
  size_t count, of_function;
  const mtl_constant_info *infos =
      mtl_library_constants(program->library, &count);
  const size_t kernels = program_kernel_count(program->library);
  for (size_t i = 0; i < options->constant_count; ++i) {
    const constant_value *value = &options->constants[i];
    bool is_known = find_constant(infos, count, value) != NULL;
    // Only in a metallib does a function have constants of its own.
    for (size_t k = 0; k < kernels && !is_known; ++k) {
      const mtl_constant_info *own;
      is_known = mtl_library_function_constants(
                     program->library,
                     mtl_library_function_name(program->library, k), &own,
                     &of_function) == MTL_OK &&
                 find_constant(own, of_function, value) != NULL;
    }
    if (!is_known) {
      return fail_constant(infos, count, value, error);
    }
  }
  return true;
}

static bool make_constants(const cli_program *program,
                           const program_options *options, const char *name,
                           bool zero_missing,
                           mtl_constant_values **out_values, cli_error *error) {
  size_t count;
  const mtl_constant_info *infos;
  mtl_status status =
      mtl_library_function_constants(program->library, name, &infos, &count);
  if (status != MTL_OK) {
    return cli_fail_compile(error, status, name);
  }
  if (!check_constants(infos, count, options, error)) {
    return false;
  }
  status = mtl_constant_values_create(out_values);
  for (size_t i = 0; i < count && status == MTL_OK; ++i) {
    status = set_constant(*out_values, &infos[i], options, zero_missing);
  }
  return status == MTL_OK || cli_fail_status(error, status, "constants");
}

bool program_find_function(const cli_program *program,
                           const program_options *options, const char *name,
                           bool zero_missing, mtl_function **out_function,
                           cli_error *error) {
  if (!has_kernel(program, name)) {
    // The function exists but is of another stage: reports that.
    return mtl_function_create(program->library, name, NULL, out_function) ==
                   MTL_UNSUPPORTED
               ? cli_fail(error, CLI_FAILED, "%s", mtl_last_error())
               : fail_no_kernel(program, name, error);
  }
  mtl_constant_values *values = NULL;
  bool ok =
      make_constants(program, options, name, zero_missing, &values, error);
  if (ok) {
    const mtl_status status =
        mtl_function_create(program->library, name, values, out_function);
    ok = status == MTL_OK || cli_fail_status(error, status, name);
    if (status == MTL_INVALID_ARGUMENT) {
      error->exit_code = CLI_USAGE;  // --constant is missing or of another type
    }
  }
  mtl_constant_values_release(values);
  return ok;
}

// A name that is like the wrong one stands for the list of all, which is long.
static bool fail_pass(const char *name, cli_error *error) {
  enum { MOST = 900 };
  const char *text = mtl_last_error();
  const char *list = strstr(text, "; there are: ");
  char suggestion[CLI_SUGGESTION_SIZE];
  cli_suggest_listed(suggestion, name, text);
  size_t shown = strlen(text);
  if (suggestion[0] && list) {
    shown = (size_t)(list - text);
  } else if (shown > MOST) {
    for (shown = MOST; shown > 0 && text[shown] != ','; --shown) {
    }
    snprintf(suggestion, sizeof suggestion, ", ...");
  }
  return cli_fail(error, CLI_USAGE, "--dump-after: %.*s%s", (int)shown, text,
                  suggestion);
}

bool program_make_pipeline(mtl_function *function,
                           const mtl_pipeline_desc *desc,
                           mtl_pipeline **out_pipeline, cli_error *error) {
  progress *bar = progress_start("compiling");
  const mtl_status status = mtl_pipeline_create(function, desc, out_pipeline);
  progress_stop(bar);
  switch (status) {
    case MTL_OK: return true;
    case MTL_NOT_FOUND:
      return fail_pass(desc->dump_after ? desc->dump_after : "", error);
    case MTL_INVALID_ARGUMENT:  // a --constant is missing, or the environment
      return cli_fail(error,
                      strncmp(mtl_last_error(), "METTLE_", 7) == 0 ? CLI_FAILED
                                                                   : CLI_USAGE,
                      "%s", mtl_last_error());
    default:
      return cli_fail_compile(error, status, mtl_function_name(function));
  }
}
