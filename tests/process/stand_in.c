// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// stand_in.c: a compiler process for tests, in place of clang: the jobs of
// compile.h and of air/translate.h done by a tiny language that goes wrong on command, which real
// source cannot be relied upon to do.
//
// Source is lines of "verb argument"; a pipeline's kernel name is one such
// line, and so are a metallib function's "bitcode".
//
//   kernel NAME     the library has a kernel of that name
//   pid, server, directory, bytes   one named after the worker's process, the
//                   server's, the working directory, the length of the source
//   macro NAME      one named after the macro's value
//   warn TEXT       a warning
//   error TEXT      fails to compile
//   include NAME    reads more lines from a file on the include paths, or from
//                   the header callback
//   include-pid     asks the header callback for the worker's process number
//   blob BYTES      a blob of so many bytes
//   say TEXT        writes to standard output and standard error
//   crash, abort, exit N, recurse, hang, spin, allocate, allocate-at-once,
//   refuse-memory   what they say
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/status.h"
#include "code/code.h"
#include "compiler/air/translate.h"
#include "compiler/frontend/clang/allocation.h"
#include "compiler/process/compile.h"

volatile sig_atomic_t mtlc_memory_ran_out;  // it has malloc alone

enum { MOST_KERNELS = 64 };

typedef struct stand_in {
  const mtlc_source *source;  // NULL for a pipeline
  mtli_arena arena;
  mtli_kernel kernels[MOST_KERNELS];
  mtli_code code;
  mtl_status status;
  char *text;  // diagnostics
  mtli_blob blob;
} stand_in;

static void run_lines(stand_in *self, const char *text, size_t length);

static char *copy(stand_in *self, const char *text, size_t length) {
  return mtli_arena_copy_text(&self->arena, text, length);
}

static void add_kernel(stand_in *self, const char *name) {
  if (self->code.kernel_count < MOST_KERNELS) {
    self->kernels[self->code.kernel_count++] = (mtli_kernel){
        .name = copy(self, name, strlen(name)), .symbol = "", .file = ""};
  }
}

static void add_number(stand_in *self, unsigned long long number) {
  char text[32];
  snprintf(text, sizeof text, "%llu", number);
  add_kernel(self, text);
}

static void add_macro(stand_in *self, const char *name) {
  const mtl_compile_options *options = &self->source->options;
  for (size_t i = 0; i < options->macro_count; ++i) {
    if (strcmp(options->macros[i].name, name) == 0) {
      add_kernel(self,
                 options->macros[i].value ? options->macros[i].value : "1");
    }
  }
}

// Reads a file as the front end would: whole, and told to the observer.
static bool include_file(stand_in *self, const char *path) {
  const mtlc_source *source = self->source;
  FILE *file = fopen(path, "r");
  if (!file) {
    source->file_observer(source->file_context, path, NULL, 0);
    return false;
  }
  char text[4096];
  const size_t length = fread(text, 1, sizeof text, file);
  fclose(file);
  source->file_observer(source->file_context, path, text, length);
  run_lines(self, text, length);
  return true;
}

static void include(stand_in *self, const char *name) {
  const mtlc_source *source = self->source;
  char path[4096];
  for (size_t i = 0; i < source->options.include_path_count; ++i) {
    snprintf(path, sizeof path, "%s/%s", source->options.include_paths[i],
             name);
    if (include_file(self, path)) {
      return;
    }
  }
  const char *text;
  size_t length;
  if (source->header_lookup &&
      source->header_lookup(source->header_context, name, &text, &length)) {
    run_lines(self, text, length);
  } else {
    self->status = MTL_COMPILE_FAILED;
    self->text = "error: no such header";
  }
}

// Volatile: the C compiler must not know its value.
static volatile int endless = 1;
static volatile uintptr_t address_of_nothing = 8;

__attribute__((noinline)) static int recurse(volatile char *above) {
  volatile char here[4096];
  here[0] = above ? above[0] : 0;
  return endless ? recurse(here) + here[0] : 0;
}

// Asks the system itself, so that no sanitizer's allocator has its own idea.
_Noreturn static void run_out_of_memory(size_t step_bytes) {
  for (;;) {
    char *bytes = mmap(NULL, step_bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (bytes == MAP_FAILED) {
      fputs("LLVM ERROR: out of memory\n", stderr);
      abort();
    }
    memset(bytes, 1, step_bytes);
  }
}

static void go_wrong(stand_in *self, const char *verb, const char *argument) {
  if (strcmp(verb, "crash") == 0) {
    *(volatile int *)address_of_nothing = 1;
  } else if (strcmp(verb, "abort") == 0) {
    abort();
  } else if (strcmp(verb, "exit") == 0) {
    // Not exit: a sanitizer looks for leaks then, which a worker may not.
    _exit(atoi(argument));
  } else if (strcmp(verb, "recurse") == 0) {
    add_number(self, (unsigned)recurse(NULL));
  } else if (strcmp(verb, "hang") == 0) {
    for (;;) {
      pause();
    }
  } else if (strcmp(verb, "spin") == 0) {
    for (volatile int spinning = 1; spinning;) {
    }
  } else if (strcmp(verb, "allocate") == 0) {
    run_out_of_memory(1 << 20);
  } else if (strcmp(verb, "allocate-at-once") == 0) {
    run_out_of_memory((size_t)1 << 40);
  } else if (strcmp(verb, "refuse-memory") == 0) {
    self->status = MTL_OUT_OF_MEMORY;
  } else {
    self->status = MTL_COMPILE_FAILED;
    self->text = "error: unknown verb";
  }
}

static void run_line(stand_in *self, char *line) {
  char directory[4096];
  char *argument = strchr(line, ' ');
  if (argument) {
    *argument++ = '\0';
  } else {
    argument = line + strlen(line);
  }
  if (strcmp(line, "kernel") == 0) {
    add_kernel(self, argument);
  } else if (strcmp(line, "pid") == 0) {
    add_number(self, (unsigned)getpid());
  } else if (strcmp(line, "server") == 0) {
    add_number(self, (unsigned)getppid());
  } else if (strcmp(line, "directory") == 0) {
    add_kernel(self, getcwd(directory, sizeof directory));
  } else if (strcmp(line, "bytes") == 0) {
    add_number(self, self->source->size_bytes);
  } else if (strcmp(line, "macro") == 0) {
    add_macro(self, argument);
  } else if (strcmp(line, "warn") == 0) {
    self->code.warnings = argument;
  } else if (strcmp(line, "error") == 0) {
    self->status = MTL_COMPILE_FAILED;
    self->text = argument;
  } else if (strcmp(line, "include") == 0) {
    include(self, argument);
  } else if (strcmp(line, "include-pid") == 0) {
    snprintf(directory, sizeof directory, "%d", (int)getpid());
    include(self, directory);
  } else if (strcmp(line, "blob") == 0) {
    self->blob.size_bytes = strtoull(argument, NULL, 10);
    self->blob.bytes = calloc(1, self->blob.size_bytes);
  } else if (strcmp(line, "say") == 0) {
    printf("%s", argument);
    fflush(stdout);
    fputs(argument, stderr);
  } else if (*line) {
    go_wrong(self, line, argument);
  }
}

static void run_lines(stand_in *self, const char *text, size_t length) {
  const char *end = text + length;
  while (text < end && self->status == MTL_OK) {
    const char *line_end = memchr(text, '\n', (size_t)(end - text));
    if (!line_end) {
      line_end = end;
    }
    run_line(self, copy(self, text, (size_t)(line_end - text)));
    text = line_end + 1;
  }
}

static void finish(stand_in *self, mtlc_result *out_result) {
  self->code.kernels = self->kernels;
  if (self->blob.bytes) {
    self->blob.kind = MTLI_BLOB_IR;
    self->code.blobs = &self->blob;
    self->code.blob_count = 1;
  }
  *out_result = (mtlc_result){.status = self->status,
                              .text = strdup(self->text ? self->text : "")};
  if (self->status == MTL_OK) {
    out_result->status = mtli_code_write(&self->code, &out_result->bytes,
                                         &out_result->size_bytes);
  }
  free((void *)(uintptr_t)self->blob.bytes);
  mtli_arena_clear(&self->arena);
}

void mtlc_compile_library(const mtlc_source *source, mtlc_result *out_result) {
  stand_in self = {.source = source};
  // The server's own warm-up is MSL, which the stand-in does not understand.
  if (source->file_observer) {
    run_lines(&self, source->text, source->size_bytes);
  }
  finish(&self, out_result);
}

void mtlc_compile_pipeline(const mtli_pipeline_request *request,
                           const char *dump_after, mtlc_result *out_result) {
  stand_in self = {0};
  add_kernel(&self, request->kernel_name);
  if (strcmp(request->kernel_name, "warm") != 0) {
    run_lines(&self, request->kernel_name, strlen(request->kernel_name));
  }
  self.text = dump_after ? copy(&self, dump_after, strlen(dump_after)) : "";
  finish(&self, out_result);
}

void mtlc_result_clear(mtlc_result *result) {
  free(result->text);
  free(result->bytes);
  *result = (mtlc_result){0};
}

void mtlc_translate(const mtli_translation_request *request,
                    mtlc_result *out_result) {
  stand_in self = {0};
  add_kernel(&self, request->name);
  run_lines(&self, request->bitcode, request->bitcode_bytes);
  self.text = "";
  finish(&self, out_result);
}

void mtlc_frontend_prepare(void) {}
void mtlc_translate_prepare(void) {}
bool mtlc_translate_precompile(const char *folder) {
  (void)folder;
  return false;
}

bool mtlc_frontend_precompile(const char *path) {
  (void)path;
  return false;
}
