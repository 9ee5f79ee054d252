// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// reflect.c: `mettle reflect`: the kernels of a source, their arguments, and
// its function constants.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/json.h"
#include "cli/program/program.h"

enum { OPTION_JSON = OPTION_VERB, OPTION_KERNEL };

static const option_spec reflect_option_specs[] = {
    PROGRAM_OPTIONS,
    {"--json", OPTION_JSON, false},
    {"--kernel", OPTION_KERNEL, true},
    {NULL, 0, false},
};

static const char *kind_name(mtl_argument_kind kind) {
  switch (kind) {
    case MTL_ARGUMENT_BUFFER: return "buffer";
    case MTL_ARGUMENT_THREADGROUP_MEMORY: return "threadgroup";
    case MTL_ARGUMENT_TEXTURE: return "texture";
    case MTL_ARGUMENT_FUNCTION_TABLE: return "functions";
    default: return "sampler";
  }
}

static const char *access_name(mtl_access access) {
  switch (access) {
    case MTL_ACCESS_READ_ONLY: return "read";
    case MTL_ACCESS_WRITE_ONLY: return "write";
    default: return "read_write";
  }
}

static const char *type_name(mtl_data_type type) {
  static const char *const names[] = {
      [MTL_TYPE_NONE] = "struct", [MTL_TYPE_BOOL] = "bool",
      [MTL_TYPE_CHAR] = "char",   [MTL_TYPE_UCHAR] = "uchar",
      [MTL_TYPE_SHORT] = "short", [MTL_TYPE_USHORT] = "ushort",
      [MTL_TYPE_INT] = "int",     [MTL_TYPE_UINT] = "uint",
      [MTL_TYPE_LONG] = "long",   [MTL_TYPE_ULONG] = "ulong",
      [MTL_TYPE_HALF] = "half",   [MTL_TYPE_BFLOAT] = "bfloat",
      [MTL_TYPE_FLOAT] = "float",
  };
  return names[type];
}

// "uint[2][3]"; returns the member that describes an element.
static const mtl_member *print_type(const mtl_member *member) {
  const mtl_member *element = member;
  while (element_is_array(element)) {
    element = &element->members[0];
  }
  fputs(element->type_name, stdout);
  for (const mtl_member *side = member;; side = &side->members[0]) {
    if (side->array_length != 1) {
      printf("[%u]", side->array_length);
    }
    if (side == element) {
      return element;
    }
  }
}

// A member a line, those of a struct behind it; offsets are in the argument.
static void print_members(const mtl_member *members, uint32_t count,
                          uint32_t base_bytes, int depth) {
  for (uint32_t i = 0; i < count; ++i) {
    const mtl_member *member = &members[i];
    const uint32_t offset_bytes = base_bytes + member->offset_bytes;
    printf("    %8u  %*s", offset_bytes, 2 * depth, "");
    const mtl_member *element = print_type(member);
    printf("%s%s\n", member->name[0] ? " " : "", member->name);
    print_members(element->members, element->member_count, offset_bytes,
                  depth + 1);
  }
}

static void print_argument(const mtl_argument *argument) {
  printf("  %-11s %2u  %-16s %-10s %s%s", kind_name(argument->kind),
         argument->index, argument->name, access_name(argument->access),
         argument->type_name, argument->is_reference ? "&" : "");
  printf("  (%u bytes, aligned to %u)%s\n", argument->size_bytes,
         argument->alignment_bytes,
         argument->is_active ? "" : "  left out by its constant");
  print_members(argument->members, argument->member_count, 0, 0);
}

static void print_json_members(const mtl_member *members, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    const mtl_member *member = &members[i];
    fputs(i == 0 ? "{\"name\": " : ", {\"name\": ", stdout);
    json_write_text(stdout, member->name);
    fputs(", \"type\": ", stdout);
    json_write_text(stdout, member->type_name);
    printf(
        ", \"element\": \"%s\", \"components\": %u, \"columns\": %u, "
        "\"offset_bytes\": %u, \"size_bytes\": %u, \"array_length\": %u, "
        "\"members\": [",
        type_name(member->type), member->components, member->columns,
        member->offset_bytes, member->size_bytes, member->array_length);
    print_json_members(member->members, member->member_count);
    fputs("]}", stdout);
  }
}

static void print_json_argument(const mtl_argument *argument) {
  fputs("{\"name\": ", stdout);
  json_write_text(stdout, argument->name);
  printf(", \"kind\": \"%s\", \"index\": %u, \"access\": \"%s\", \"type\": ",
         kind_name(argument->kind), argument->index,
         access_name(argument->access));
  json_write_text(stdout, argument->type_name);
  printf(
      ", \"element\": \"%s\", \"components\": %u, \"size_bytes\": %u, "
      "\"alignment_bytes\": %u, \"reference\": %s, \"active\": %s, "
      "\"members\": [",
      type_name(argument->type), argument->components, argument->size_bytes,
      argument->alignment_bytes, argument->is_reference ? "true" : "false",
      argument->is_active ? "true" : "false");
  print_json_members(argument->members, argument->member_count);
  fputs("]", stdout);
  if (argument->tensor_rank) {
    fputs(", \"tensor_extents\": [", stdout);  // innermost first; -1 dynamic
    for (uint32_t i = 0; i < argument->tensor_rank; ++i) {
      printf("%s%" PRId64, i ? ", " : "", argument->tensor_extents[i]);
    }
    fputs("]", stdout);
  }
  fputs("}", stdout);
}

static void print_kernel(const mtl_function *function, bool as_json) {
  const char *name = mtl_function_name(function);
  size_t count;
  const mtl_argument *arguments = mtl_function_arguments(function, &count);
  if (!as_json) {
    printf("kernel %s\n", name);
    for (size_t i = 0; i < count; ++i) {
      print_argument(&arguments[i]);
    }
    return;
  }
  fputs("{\"name\": ", stdout);
  json_write_text(stdout, name);
  fputs(", \"arguments\": [", stdout);
  for (size_t i = 0; i < count; ++i) {
    fputs(i == 0 ? "" : ", ", stdout);
    print_json_argument(&arguments[i]);
  }
  fputs("]}", stdout);
}

static void print_constant(const mtl_constant_info *constant, bool as_json) {
  if (!as_json) {
    char width[12] = "";
    if (constant->components > 1) {
      snprintf(width, sizeof width, "%u", constant->components);
    }
    printf("constant %u  %s  %s%s%s\n", constant->index, constant->name,
           type_name(constant->type), width,
           constant->required ? "" : "  optional");
    return;
  }
  printf("{\"index\": %u, \"name\": ", constant->index);
  json_write_text(stdout, constant->name);
  printf(", \"type\": \"%s\", \"components\": %u, \"required\": %s}",
         type_name(constant->type), constant->components,
         constant->required ? "true" : "false");
}

// The constants of all functions that are shown, each once.
typedef struct shown_constants {
  const mtl_constant_info **infos;  // [count]
  size_t count;
} shown_constants;

static bool has_constant(const shown_constants *shown,
                         const mtl_constant_info *info) {
  for (size_t i = 0; i < shown->count; ++i) {
    if (shown->infos[i]->index == info->index &&
        strcmp(shown->infos[i]->name, info->name) == 0) {
      return true;
    }
  }
  return false;
}

static bool add_constants(shown_constants *shown,
                          const mtl_constant_info *infos, size_t count) {
  const mtl_constant_info **grown =
      realloc(shown->infos, (shown->count + count + 1) * sizeof *grown);
  if (grown == NULL) {
    return false;
  }
  shown->infos = grown;
  for (size_t i = 0; i < count; ++i) {
    if (!has_constant(shown, &infos[i])) {
      shown->infos[shown->count++] = &infos[i];
    }
  }
  return true;
}

static void print_constants(const cli_program *program,
                            mtl_function *const *functions, size_t count,
                            bool as_json) {
  shown_constants shown = {0};
  size_t own_count, info_count;
  const mtl_constant_info *infos, *own =
      mtl_library_constants(program->library, &own_count);
  bool ok = add_constants(&shown, own, own_count);
  for (size_t i = 0; i < count && ok; ++i) {
    // Only in a metallib does a function have constants of its own.
    if (mtl_library_function_constants(program->library,
                                       mtl_function_name(functions[i]), &infos,
                                       &info_count) == MTL_OK &&
        infos != own) {
      ok = add_constants(&shown, infos, info_count);
    }
  }
  for (size_t i = 0; i < shown.count; ++i) {
    fputs(as_json && i > 0 ? ", " : "", stdout);
    print_constant(shown.infos[i], as_json);
  }
  free(shown.infos);
}

// The names of visible functions, behind those of the count kernels.
static void print_visible(const mtl_library *library, size_t count,
                          bool as_json) {
  const char *name;
  for (size_t i = count; (name = mtl_library_function_name(library, i)); ++i) {
    if (as_json) {
      fputs(i > count ? ", " : "", stdout);
      json_write_text(stdout, name);
    } else {
      printf("visible %s\n", name);
    }
  }
}

static void print_program(const cli_program *program,
                          mtl_function *const *functions, size_t count,
                          bool as_json) {
  fputs(as_json ? "{\"kernels\": [" : "", stdout);
  for (size_t i = 0; i < count; ++i) {
    fputs(as_json && i > 0 ? ", " : "", stdout);
    print_kernel(functions[i], as_json);
  }
  fputs(as_json ? "], \"visible\": [" : "", stdout);
  print_visible(program->library, program_kernel_count(program->library),
                as_json);
  fputs(as_json ? "], \"constants\": [" : "", stdout);
  print_constants(program, functions, count, as_json);
  fputs(as_json ? "]}\n" : "", stdout);
}

typedef struct reflect_options {
  program_options program;
  const char *kernel;  // NULL for all
  bool as_json;
} reflect_options;

// Finds every function before anything is printed: half a JSON object helps
// nobody.
static bool reflect_program(const reflect_options *options,
                            const cli_program *program, cli_error *error) {
  const size_t all = program_kernel_count(program->library);
  const size_t count = options->kernel ? 1 : all;
  mtl_function **functions = calloc(count + 1, sizeof *functions);
  bool ok = functions != NULL || cli_fail(error, CLI_FAILED, "out of memory");
  for (size_t i = 0; i < count && ok; ++i) {
    const char *name = options->kernel
                           ? options->kernel
                           : mtl_library_function_name(program->library, i);
    ok = program_find_function(program, &options->program, name, true,
                               &functions[i], error);
  }
  if (ok) {
    print_program(program, functions, count, options->as_json);
  }
  for (size_t i = 0; i < count && functions != NULL; ++i) {
    mtl_function_release(functions[i]);
  }
  free(functions);
  return ok;
}

static bool parse(char **arguments, reflect_options *out, cli_error *error) {
  program_options *options = &out->program;
  argument_walk walk = {.next = arguments, .options = reflect_option_specs};
  const char *value;
  int id;
  while ((id = argument_walk_next(&walk, &value, error)) != ARGUMENT_END) {
    if (id == OPTION_JSON) {
      out->as_json = true;
    } else if (id == OPTION_KERNEL) {
      out->kernel = value;
    } else if (id == ARGUMENT_POSITIONAL && options->file == NULL) {
      options->file = value;
    } else if (id == ARGUMENT_POSITIONAL) {
      return cli_fail(error, CLI_USAGE, "'%s' is one argument too many", value);
    } else if (id == ARGUMENT_WRONG ||
               !program_options_take(options, id, value, error)) {
      return false;
    }
  }
  return options->file != NULL ||
         cli_fail(error, CLI_USAGE, "FILE.metal is missing");
}

static bool reflect(char **arguments, cli_error *error) {
  reflect_options options = {0};
  cli_program program = {0};
  if (!program_options_create(arguments, &options.program, error)) {
    return false;
  }
  const bool ok = parse(arguments, &options, error) &&
                  program_open(&options.program, &program, error) &&
                  reflect_program(&options, &program, error);
  program_clear(&program);
  program_options_clear(&options.program);
  return ok;
}

static const char reflect_help[] =
    "usage: mettle reflect FILE [--kernel NAME] [--json] [option...]\n"
    "\n"
    "Lists the kernels of FILE, a source, a code container or a compiled Metal\n"
    "library (metallib), with their arguments (kind, index, name, access,\n"
    "type, size), the members of structs with their offsets in bytes,\n"
    "the names of visible functions, and the function constants. A required\n"
    "constant without a value counts as 0. Limits are a pipeline's:\n"
    "see 'mettle compile --report'.\n"
    "\n"
    "  --json                 print one JSON object: kernels, visible,\n"
    "                         constants\n"
    "  --kernel NAME          list this kernel only; of a metallib no other is\n"
    "                         translated then\n"
    "  --debug                as 'mettle run --debug'\n" PROGRAM_HELP
    "\n"
    "exit code: 0 done, 1 failed, 2 wrong usage, 3 the source did not "
    "compile\n";

const cli_verb cli_verb_reflect = {
    .name = "reflect",
    .summary = "list a source's kernels and their arguments",
    .help = reflect_help,
    .run = reflect,
};
