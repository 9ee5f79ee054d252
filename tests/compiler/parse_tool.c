// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// parse_tool.c: runs the front end alone over a file and prints what it hands
// on: parse_tool [-I DIR] [-D NAME[=VALUE]] [--math MODE] [--std N] [--ir]
// [--debug] [-fpermissive] [--repeat N] FILE. The argument tables go to
// stdout, one line an argument, diagnostics to stderr; exit 1 if the source has
// errors.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "compiler/frontend/frontend.h"

enum { MOST_OPTIONS = 64 };

typedef struct tool_options {
  mtl_compile_options compile;
  mtl_macro macros[MOST_OPTIONS];
  const char *include_paths[MOST_OPTIONS];
  bool prints_ir;
  int repeat;
} tool_options;

static void fail(const char *text, const char *what) {
  fprintf(stderr, "parse_tool: %s: %s\n", text, what);
  exit(2);
}

static char *read_file(const char *path, size_t *out_size) {
  FILE *file = fopen(path, "rb");
  if (file == NULL) {
    fail("cannot open", path);
  }
  char *text = NULL;
  size_t size = 0;
  size_t capacity = 0;
  do {
    capacity = capacity * 2 + 4096;
    text = realloc(text, capacity);
    size += fread(text + size, 1, capacity - size, file);
  } while (size == capacity);
  fclose(file);
  *out_size = size;
  return text;
}

static void add_macro(tool_options *options, char *text) {
  char *equals = strchr(text, '=');
  mtl_macro *macro = &options->macros[options->compile.macro_count++];
  macro->name = text;
  macro->value = equals == NULL ? NULL : equals + 1;
  if (equals != NULL) {
    *equals = '\0';
  }
}

static void read_options(int count, char **words, tool_options *options) {
  options->compile.macros = options->macros;
  options->compile.include_paths = options->include_paths;
  for (int i = 1; i < count; i++) {
    const char *word = words[i];
    char *value = i + 1 < count ? words[i + 1] : "";
    if (strcmp(word, "--ir") == 0) {
      options->prints_ir = true;
    } else if (strcmp(word, "--debug") == 0) {
      options->compile.debug = true;
    } else if (strcmp(word, "-fpermissive") == 0) {
      options->compile.permissive = true;
    } else if (word[0] != '-') {
      options->compile.file_name = word;
    } else if (strcmp(word, "-D") == 0) {
      add_macro(options, value), i++;
    } else if (strcmp(word, "-I") == 0) {
      options->include_paths[options->compile.include_path_count++] = value;
      i++;
    } else if (strcmp(word, "--math") == 0) {
      options->compile.math_mode = value[0] == 's'   ? MTL_MATH_SAFE
                                   : value[0] == 'r' ? MTL_MATH_RELAXED
                                                     : MTL_MATH_FAST;
      i++;
    } else if (strcmp(word, "--std") == 0) {
      options->compile.language_version = (mtl_language_version)atoi(value);
      i++;
    } else if (strcmp(word, "--repeat") == 0) {
      options->repeat = atoi(value), i++;
    } else {
      fail("unknown option", word);
    }
  }
}

static void print_parameter(const mtli_parameter *parameter) {
  const mtl_argument *a = &parameter->argument;
  if (parameter->builtin != MTLI_BUILTIN_NONE) {
    printf("  %s builtin %d components %u bytes %u\n", a->name,
           (int)parameter->builtin, parameter->builtin_components,
           parameter->builtin_component_bytes);
    return;
  }
  printf("  %s %s %u %s %s type %d x %u size %u align %u%s", a->name,
         a->kind == MTL_ARGUMENT_BUFFER ? "buffer" : "threadgroup", a->index,
         a->access == MTL_ACCESS_READ_ONLY ? "read" : "readwrite", a->type_name,
         (int)a->type, a->components, a->size_bytes, a->alignment_bytes,
         a->is_reference ? " reference" : "");
  if (parameter->enabling_constant >= 0) {
    printf(" if constant %d", parameter->enabling_constant);
  }
  if (parameter->enabling_constant < -1) {
    printf(" if constant %d is defined",
           MTLI_ENABLED_IF_DEFINED(parameter->enabling_constant));
  }
  putchar('\n');
}

static void print_code(const mtli_code *code) {
  for (size_t i = 0; i < code->kernel_count; i++) {
    const mtli_kernel *kernel = &code->kernels[i];
    printf("kernel %s = %s line %u", kernel->name, kernel->symbol,
           kernel->line);
    if (kernel->max_total_threads_per_threadgroup != 0) {
      printf(" max %u", kernel->max_total_threads_per_threadgroup);
    }
    putchar('\n');
    for (size_t p = 0; p < kernel->parameter_count; p++) {
      print_parameter(&kernel->parameters[p]);
    }
  }
  for (size_t i = 0; i < code->constant_count; i++) {
    const mtli_constant *c = &code->constants[i];
    printf("constant %s = %s index %u type %d x %u%s\n", c->info.name,
           c->symbol, c->info.index, (int)c->info.type, c->info.components,
           c->info.required ? " required" : "");
  }
}

// Returns processor time, which other work on the machine does not affect.
static double now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

int main(int count, char **words) {
  tool_options options = {.repeat = 1};
  read_options(count, words, &options);
  if (options.compile.file_name == NULL) {
    fail("no file", "parse_tool [options] FILE");
  }
  mtlc_source source = {.options = options.compile};
  source.text = read_file(options.compile.file_name, &source.size_bytes);
  mtlc_frontend_prepare();
  bool done = false;
  for (int i = 0; i < options.repeat; i++) {
    mtlc_parsed parsed;
    const double start_ms = now_ms();
    done = mtlc_parse(&source, &parsed);
    if (options.repeat > 1) {
      printf("%.3f ms\n", now_ms() - start_ms);
    }
    if (i + 1 == options.repeat) {
      fputs(parsed.diagnostics, stderr);
      if (done) {
        print_code(&parsed.code);
      }
      if (done && options.prints_ir) {
        char *text = LLVMPrintModuleToString(parsed.module);
        puts(text);
        LLVMDisposeMessage(text);
      }
    }
    mtlc_parsed_clear(&parsed);
  }
  free((char *)source.text);
  return done ? 0 : 1;
}
