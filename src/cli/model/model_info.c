// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// model_info.c: `mettle model info`: prints a model's contents.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/base/json.h"
#include "cli/model/model.h"

typedef const char *name_function(const mtl_model *model, size_t index);

static void print_names(const mtl_model *model, const char *title, size_t count,
                        name_function *name) {
  printf("%s %zu\n", title, count);
  for (size_t i = 0; i < count; ++i) {
    const char *text = name(model, i);
    printf("  %zu  %s\n", i, text ? text : "");
  }
}

static void print_json_names(const mtl_model *model, const char *title,
                             size_t count, name_function *name) {
  printf("\"%s\": [", title);
  for (size_t i = 0; i < count; ++i) {
    const char *text = name(model, i);
    fputs(i == 0 ? "" : ", ", stdout);
    json_write_text(stdout, text ? text : "");
  }
  fputs("], ", stdout);
}

static bool print_constant(const model_options *options, const mtl_model *model,
                           size_t index, cli_error *error) {
  mtl_model_constant constant;
  const mtl_status status = mtl_model_get_constant(model, index, &constant);
  if (status != MTL_OK) {
    return model_fail(options, status, error);
  }
  const char *name =
      constant.original_name ? constant.original_name : constant.name;
  const char *type = mtl_scalar_type_name(constant.type);
  if (options->json) {
    fputs(index == 0 ? "{\"name\": " : ", {\"name\": ", stdout);
    json_write_text(stdout, name);
    printf(", \"type\": \"%s\", \"bytes\": %" PRIu64 "}", type,
           constant.data_bytes);
  } else {
    printf("  %zu  %s  %s  %" PRIu64 " bytes\n", index, name, type,
           constant.data_bytes);
  }
  return true;
}

static size_t line_count(const char *text) {
  size_t count = 0;
  for (; *text; ++text) {
    count += *text == '\n';
  }
  return count;
}

static void print_kernel(const model_options *options, const mtl_model *model,
                         size_t index) {
  const char *source = mtl_model_kernel_source(model, index);
  if (options->json) {
    printf("%s{\"bytes\": %zu, \"lines\": %zu}", index == 0 ? "" : ", ",
           strlen(source), line_count(source));
  } else {
    printf("  %zu  %zu bytes of MSL, %zu lines\n", index, strlen(source),
           line_count(source));
  }
}

bool model_info(const model_options *options, const mtl_model *model,
                cli_error *error) {
  const size_t inputs = mtl_model_input_count(model);
  const size_t outputs = mtl_model_output_count(model);
  const size_t constants = mtl_model_constant_count(model);
  const size_t kernels = mtl_model_kernel_count(model);
  if (options->json) {
    putchar('{');
    print_json_names(model, "inputs", inputs, mtl_model_input_name);
    print_json_names(model, "outputs", outputs, mtl_model_output_name);
    fputs("\"constants\": [", stdout);
  } else {
    print_names(model, "inputs", inputs, mtl_model_input_name);
    print_names(model, "outputs", outputs, mtl_model_output_name);
    printf("constants %zu\n", constants);
  }
  for (size_t i = 0; i < constants; ++i) {
    if (!print_constant(options, model, i, error)) {
      return false;
    }
  }
  if (options->json) {
    fputs("], \"kernels\": [", stdout);
  } else {
    printf("kernels %zu\n", kernels);
  }
  for (size_t i = 0; i < kernels; ++i) {
    print_kernel(options, model, i);
  }
  fputs(options->json ? "]}\n" : "", stdout);
  return true;
}
