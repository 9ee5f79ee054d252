// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// fuzz_arguments.c: any lines as the command line of `mettle run`: read without
// harm, refused with a text, and what is bound can be made. Needs src/cli/
// {run_options,program_options,arguments,binding,texture_binding,npy_header,
// values,report}.c.
#include <stdlib.h>
#include <string.h>

#include "cli/run.h"

#define MAX_WORDS 64
#define MAX_FILL_BYTES (64u << 10)

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void check(bool condition) {
  if (!condition) {
    abort();
  }
}

static void make_binding(const kernel_binding *binding) {
  if (binding->kind != BINDING_FILL ||
      binding->array.data_bytes > MAX_FILL_BYTES) {
    return;
  }
  const uint32_t size_bytes =
      value_type_get_info(binding->array.type)->size_bytes;
  unsigned char *data = malloc(binding->array.data_bytes + 1);
  check(data != NULL);
  binding_fill_bytes(binding, data);
  if (binding->array.element_count > 0) {
    char text[VALUE_TEXT_SIZE];
    unsigned char again[8];
    cli_error error = {0};
    value_format(binding->array.type, data, text);
    check(value_parse(binding->array.type, text, strlen(text), again, &error));
    check(memcmp(data, again, size_bytes) == 0);
  }
  free(data);
}

static uint32_t limit_of(binding_kind kind) {
  switch (kind) {
    case BINDING_TEXTURE: return MTL_MAX_TEXTURE_ARGUMENTS;
    case BINDING_SAMPLER: return MTL_MAX_SAMPLER_ARGUMENTS;
    default: return MTL_MAX_BUFFER_ARGUMENTS;
  }
}

static void check_accepted(const run_options *options) {
  check(options->program.file != NULL && options->kernel != NULL);
  check(options->repeat > 0);
  for (size_t i = 0; i < options->binding_count; ++i) {
    const kernel_binding *binding = &options->bindings[i];
    check(binding->index < limit_of(binding->kind));
    make_binding(&options->bindings[i]);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  char *text = malloc(size + 1);
  char *words[MAX_WORDS + 1];
  size_t count = 0;
  check(text != NULL);
  memcpy(text, bytes, size);
  text[size] = '\0';
  char *rest = text;
  while (count < MAX_WORDS && rest != NULL) {
    words[count++] = strsep(&rest, "\n");
  }
  words[count] = NULL;
  run_options options;
  cli_error error = {0};
  if (run_options_parse(words, &options, &error)) {
    check_accepted(&options);
  } else {
    check(error.text[0] != '\0');
  }
  run_options_clear(&options);
  free(text);
  return 0;
}
