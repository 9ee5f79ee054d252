// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// fuzz_arguments.c: any lines as the command line of `mettle run`: read without
// harm, refused with a text, and what is bound can be made, whatever the type
// of the kernel's argument. Needs what `mettle run` reads its words with.
#include <stdlib.h>
#include <string.h>

#include "cli/run/run.h"

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

// struct Inner { half2 h; bool on; packed_float3 p[2]; };
static const mtl_member inner[] = {
    {"h", "half2", MTL_TYPE_HALF, 2, 1, 0, 4, 1, NULL, 0},
    {"on", "bool", MTL_TYPE_BOOL, 1, 1, 4, 1, 1, NULL, 0},
    {"p", "packed_float3", MTL_TYPE_FLOAT, 3, 1, 8, 12, 2, NULL, 0},
};
// struct Outer { float3 axis; Inner in[3]; float3x3 m; union { float f; int i;
// }; uint bits : 3; device float *p; };
static const mtl_member outer[] = {
    {"axis", "float3", MTL_TYPE_FLOAT, 3, 1, 0, 16, 1, NULL, 0},
    {"in", "Inner", MTL_TYPE_NONE, 0, 1, 16, 32, 3, inner, 3},
    {"m", "float3x3", MTL_TYPE_FLOAT, 3, 3, 112, 48, 1, NULL, 0},
    {"f", "float", MTL_TYPE_FLOAT, 1, 1, 160, 4, 1, NULL, 0},
    {"i", "int", MTL_TYPE_INT, 1, 1, 160, 4, 1, NULL, 0},
    {"bits", "uint : 3", MTL_TYPE_NONE, 0, 1, 164, 0, 1, NULL, 0},
    {"p", "device float *", MTL_TYPE_NONE, 0, 1, 168, 8, 1, NULL, 0},
};
static const mtl_member matrix[] = {
    {"", "float4x4", MTL_TYPE_FLOAT, 4, 4, 0, 64, 1, NULL, 0},
};

static const mtl_argument arguments[] = {
    {.name = "s",
     .type_name = "Outer",
     .size_bytes = 176,
     .members = outer,
     .member_count = 7},
    {.name = "r",
     .type_name = "Outer",
     .size_bytes = 176,
     .members = outer,
     .member_count = 7,
     .is_reference = true},
    {.name = "m",
     .type_name = "float4x4",
     .size_bytes = 64,
     .members = matrix,
     .member_count = 1},
    {.name = "x",
     .type_name = "float",
     .type = MTL_TYPE_FLOAT,
     .components = 1,
     .size_bytes = 4},
    {.name = "v",
     .type_name = "ushort3",
     .type = MTL_TYPE_USHORT,
     .components = 3,
     .size_bytes = 8},
    {.name = "p", .type_name = "void", .is_reference = true},
    {.name = "t",
     .kind = MTL_ARGUMENT_TEXTURE,
     .type_name = "texture2d<float>",
     .type = MTL_TYPE_FLOAT,
     .array_length = 4},
    {.name = "q",
     .kind = MTL_ARGUMENT_SAMPLER,
     .type_name = "sampler",
     .array_length = 1},
};

static void print_elements(const kernel_binding *binding) {
  static FILE *nowhere;
  if (nowhere == NULL) {
    nowhere = fopen("/dev/null", "w");
  }
  const mtl_member *element = &binding->element;
  const size_t size_bytes = (size_t)element->size_bytes * element->array_length;
  check(nowhere != NULL && binding->values_bytes % size_bytes == 0);
  check(binding->array.data_bytes == binding->values_bytes);
  // Further bits would find the same faults, and cost more.
  const size_t most = size_bytes * 8;
  for (size_t i = 0; i < binding->values_bytes && i < most; i += size_bytes) {
    element_print(nowhere, element, binding->values + i, i % 2 == 1);
  }
}

// True if text has a number that would take long to make room for.
static bool has_large_number(const char *text) {
  for (; *text != '\0'; ++text) {
    if (strspn(text, "0123456789xXabcdefABCDEF") > 5) {
      return true;
    }
  }
  return false;
}

// Reads an open binding as that of each kind of argument, and again into the
// elements that came of it.
static void resolve(const kernel_binding *binding) {
  if (has_large_number(binding->word)) {
    return;
  }
  for (size_t i = 0; i < sizeof arguments / sizeof *arguments; ++i) {
    kernel_binding first = *binding, again = *binding;
    cli_error error = {0};
    bool ok =
        (first.name == NULL || binding_place(&first, &arguments[i], &error)) &&
        binding_resolve(&first, &arguments[i], NULL, &error);
    if (ok) {
      cli_error ignored = {0};
      (void)binding_resolve(&again, &arguments[i], &first, &ignored);
      ok = binding_finish(&first, &error);
    }
    check(ok || error.text[0] != '\0');
    if (ok && first.kind == BINDING_VALUES && first.element.size_bytes > 0) {
      print_elements(&first);
    } else if (ok) {
      make_binding(&first);
    }
    binding_clear(&first);
    binding_clear(&again);
  }
}

static uint32_t limit_of(binding_kind kind) {
  switch (kind) {
    case BINDING_TEXTURE: return MTL_MAX_TEXTURE_ARGUMENTS;
    case BINDING_SAMPLER: return MTL_MAX_SAMPLER_ARGUMENTS;
    default: return MTL_MAX_BUFFER_ARGUMENTS;
  }
}

static void check_accepted(const run_options *options) {
  check(options->program.file != NULL);
  check(options->repeat > 0);
  for (size_t i = 0; i < options->binding_count; ++i) {
    const kernel_binding *binding = &options->bindings[i];
    check(binding->index < limit_of(binding->kind));
    if (binding->kind == BINDING_OPEN) {
      resolve(binding);
    } else {
      make_binding(binding);
    }
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
