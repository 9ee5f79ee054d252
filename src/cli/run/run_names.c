// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// run_names.c: matches the words of a command line with a kernel's arguments:
// which argument each names, and of what type it is.
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/bind/png.h"
#include "cli/run/run.h"
#include "cli/base/suggest.h"

typedef struct argument_list {
  const mtl_argument *arguments;  // [count]
  size_t count;
  const char *kernel;
} argument_list;

static bool fail_name(const argument_list *list, const char *name,
                      size_t length, cli_error *error) {
  char suggestion[CLI_SUGGESTION_SIZE] = "", names_text[512] = "";
  const char **names = calloc(list->count + 1, sizeof *names);
  if (names != NULL) {
    for (size_t i = 0; i < list->count; ++i) {
      names[i] = list->arguments[i].name;
    }
    cli_suggest(suggestion, name, length, names, list->count);
    cli_list_names(names_text, sizeof names_text, names, list->count);
  }
  free(names);
  return cli_fail(error, CLI_USAGE, "%.100s has no argument '%.*s'%s%s",
                  list->kernel, length > 40 ? 40 : (int)length, name,
                  names_text, suggestion);
}

static const mtl_argument *find_named(const argument_list *list,
                                      const char *name, size_t length) {
  for (size_t i = 0; i < list->count; ++i) {
    if (strlen(list->arguments[i].name) == length &&
        memcmp(list->arguments[i].name, name, length) == 0) {
      return &list->arguments[i];
    }
  }
  return NULL;
}

static const mtl_argument *find_placed(const argument_list *list,
                                       mtl_argument_kind table,
                                       uint32_t index) {
  for (size_t i = 0; i < list->count; ++i) {
    if (list->arguments[i].kind == table && list->arguments[i].index == index) {
      return &list->arguments[i];
    }
  }
  return NULL;
}

static bool find_argument(const argument_list *list, kernel_binding *binding,
                          const mtl_argument **out_argument, cli_error *error) {
  if (binding->name == NULL) {
    *out_argument = find_placed(list, binding->table, binding->index);
    return *out_argument != NULL ||
           cli_fail(error, CLI_USAGE,
                    "binding %.200s: %.100s has no %s %u, so that a type is "
                    "needed: %u=TYPE:...",
                    binding->word, list->kernel,
                    binding_table_name(binding->table), binding->index,
                    binding->index);
  }
  *out_argument = find_named(list, binding->name, binding->name_length);
  return *out_argument == NULL
             ? fail_name(list, binding->name, binding->name_length, error)
             : binding_place(binding, *out_argument, error);
}

static kernel_binding *find_earlier(run_options *options, size_t count,
                                    const kernel_binding *binding) {
  for (size_t i = 0; i < count; ++i) {
    kernel_binding *earlier = &options->bindings[i];
    if (binding_table(earlier) == binding_table(binding) &&
        earlier->index == binding->index) {
      return earlier;
    }
  }
  return NULL;
}

// Resolves each binding in turn; one that only adds to an earlier one leaves
// the list.
static bool resolve_bindings(run_options *options, const argument_list *list,
                             cli_error *error) {
  const size_t count = options->binding_count;
  size_t kept = 0;
  bool ok = true;
  for (size_t i = 0; i < count; ++i) {
    kernel_binding binding = options->bindings[i];
    memset(&options->bindings[i], 0, sizeof binding);
    const mtl_argument *argument = NULL;
    const bool was_open = binding.kind == BINDING_OPEN;
    ok = ok && (!was_open || find_argument(list, &binding, &argument, error));
    kernel_binding *earlier = ok ? find_earlier(options, kept, &binding) : NULL;
    if (ok && was_open) {
      ok = binding_resolve(&binding, argument, earlier, error);
    } else if (earlier != NULL) {
      ok = cli_fail(error, CLI_USAGE, "%s %u is bound twice",
                    binding_table_name(binding_table(&binding)), binding.index);
    }
    if (earlier != NULL) {
      binding_clear(&binding);
    } else {
      options->bindings[kept++] = binding;
    }
  }
  options->binding_count = kept;
  for (size_t i = 0; i < kept && ok; ++i) {
    ok = binding_finish(&options->bindings[i], error);
  }
  return ok;
}

// Refuses, before the kernel runs, an output that its file's format cannot
// hold.
static bool check_kind(const run_output *output, cli_error *error) {
  const char *name = output->path ? strrchr(output->path, '/') : NULL;
  name = name ? name + 1 : output->path;
  const char *end = name ? strrchr(name, '.') : NULL;
  // "result" and "result.100" have no format of their own.
  if (end == NULL || end == name || isdigit((unsigned char)end[1]) ||
      strcasecmp(end, ".npy") == 0) {
    return true;
  }
  if (png_is_one(output->path)) {
    return output->table != MTL_ARGUMENT_BUFFER ||
           cli_fail(error, CLI_USAGE,
                    "--save %.*s: a PNG file holds a texture, and this is a "
                    "buffer: .npy files hold buffers",
                    (int)output->what_length, output->what);
  }
  static const char *const kinds[] = {"npy", "png"};
  const char *near = cli_near_name(end + 1, strlen(end + 1), kinds, 2);
  return cli_fail(error, CLI_USAGE,
                  near ? "--save: %.200s: files are .npy or .png; did you mean "
                         "'.%s'?"
                       : "--save: %.200s: files are .npy or .png",
                  output->path, near);
}

static bool resolve_output(const run_options *options,
                           const argument_list *list, run_output *output,
                           cli_error *error) {
  const char *option = output->path ? "--save" : "--print";
  if (output->is_named) {
    const mtl_argument *argument =
        find_named(list, output->what, output->what_length);
    if (argument == NULL) {
      cli_error inner = {0};
      fail_name(list, output->what, output->what_length, &inner);
      return cli_fail(error, CLI_USAGE, "%s: %.900s", option, inner.text);
    }
    output->table = argument->kind;
    output->index = argument->index;
  }
  if (!run_output_keeps(output, error) || !check_kind(output, error)) {
    return false;
  }
  const kernel_binding *binding =
      run_find_binding(options, output->table, output->index);
  if (binding == NULL) {
    return cli_fail(error, CLI_USAGE, "%s: %s %u is not bound", option,
                    binding_table_name(output->table), output->index);
  }
  return !binding->is_mixed || cli_fail(error, CLI_USAGE,
                                        "%s: buffer %u holds values of several "
                                        "types",
                                        option, output->index);
}

bool run_resolve_names(run_options *options, const mtl_function *function,
                       cli_error *error) {
  argument_list list = {.kernel = mtl_function_name(function)};
  list.arguments = mtl_function_arguments(function, &list.count);
  const char *grid = options->grid_like;
  if (grid != NULL && find_named(&list, grid, strlen(grid)) == NULL) {
    cli_error inner = {0};
    fail_name(&list, grid, strlen(grid), &inner);
    return cli_fail(error, CLI_USAGE,
                    "--grid X[,Y[,Z]] or an argument's name: %.900s",
                    inner.text);
  }
  bool ok = resolve_bindings(options, &list, error);
  for (size_t i = 0; i < options->output_count && ok; ++i) {
    ok = resolve_output(options, &list, &options->outputs[i], error);
  }
  return ok;
}
