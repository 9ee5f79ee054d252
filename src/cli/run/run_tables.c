// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// run_tables.c: function tables of a run: which visible functions its pipeline
// is linked with, and the tables of their handles.
#include <stdlib.h>
#include <string.h>

#include "cli/run/run_buffers.h"

// Steps through "NAME,NAME"; an empty name is an empty entry.
static bool next_name(const char **rest, char *out_name, size_t room) {
  if (*rest == NULL) {
    return false;
  }
  const size_t length = strcspn(*rest, ",");
  snprintf(out_name, room, "%.*s", (int)length, *rest);
  *rest = (*rest)[length] == ',' ? *rest + length + 1 : NULL;
  return true;
}

static mtl_function *find_linked(const run_state *state, const char *name) {
  for (size_t i = 0; i < state->linked_count; ++i) {
    if (strcmp(mtl_function_name(state->linked[i]), name) == 0) {
      return state->linked[i];
    }
  }
  return NULL;
}

static bool link_one(const run_options *options, run_state *state,
                     const char *name, cli_error *error) {
  if (name[0] == '\0' || find_linked(state, name) != NULL) {
    return true;
  }
  mtl_function **linked =
      realloc(state->linked, (state->linked_count + 1) * sizeof *state->linked);
  if (linked == NULL) {
    return cli_fail(error, CLI_FAILED, "out of memory");
  }
  state->linked = linked;
  if (!program_find_function(&state->program, &options->program, name, false,
                             &linked[state->linked_count], error)) {
    return false;
  }
  ++state->linked_count;
  return true;
}

bool run_link_functions(const run_options *options, run_state *state,
                        cli_error *error) {
  char name[256];
  for (size_t i = 0; i < options->binding_count; ++i) {
    const char *rest = options->bindings[i].functions;
    while (next_name(&rest, name, sizeof name)) {
      if (!link_one(options, state, name, error)) {
        return false;
      }
    }
  }
  return true;
}

static mtl_status set_entry(const run_state *state, mtl_function_table *table,
                            const char *name, uint32_t index) {
  mtl_function_handle *handle = NULL;
  mtl_status status = MTL_OK;
  if (name[0] != '\0') {
    status = mtl_pipeline_function_handle(state->pipeline,
                                          find_linked(state, name), &handle);
  }
  if (status == MTL_OK) {
    status = mtl_function_table_set(table, handle, index);
  }
  mtl_function_handle_release(handle);
  return status;
}

static mtl_status make_table(const run_state *state, const char *functions,
                             mtl_function_table **out_table) {
  char name[256];
  mtl_function_table_desc desc = {0};
  for (const char *rest = functions; next_name(&rest, name, sizeof name);) {
    ++desc.function_count;
  }
  mtl_status status =
      mtl_function_table_create(state->pipeline, &desc, out_table);
  uint32_t index = 0;
  for (const char *rest = functions;
       status == MTL_OK && next_name(&rest, name, sizeof name);) {
    status = set_entry(state, *out_table, name, index++);
  }
  return status;
}

bool run_make_tables(const run_options *options, run_state *state,
                     cli_error *error) {
  state->tables = calloc(options->binding_count + 1, sizeof *state->tables);
  if (state->tables == NULL) {
    return cli_fail(error, CLI_FAILED, "out of memory");
  }
  for (size_t i = 0; i < options->binding_count; ++i) {
    const kernel_binding *binding = &options->bindings[i];
    const mtl_status status =
        binding->functions
            ? make_table(state, binding->functions, &state->tables[i])
            : MTL_OK;
    if (status != MTL_OK) {
      return cli_fail_status(error, status, options->kernel);
    }
  }
  return true;
}

void run_release_tables(run_state *state, size_t binding_count) {
  for (size_t i = 0; i < binding_count && state->tables != NULL; ++i) {
    mtl_function_table_release(state->tables[i]);
  }
  for (size_t i = 0; i < state->linked_count; ++i) {
    mtl_function_release(state->linked[i]);
  }
  free(state->tables);
  free(state->linked);
}
