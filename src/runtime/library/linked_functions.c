// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// linked_functions.c: checks and keeps the visible functions that a pipeline is
// linked with, and makes handles of them.
#include "runtime/library/linked_functions.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_FUNCTIONS = 4096, MOST_CALL_DEPTH = 8 };

struct mtl_function_handle {
  mtli_object object;
  mtl_pipeline *pipeline;        // +1
  const mtl_function *function;  // the pipeline's
  uint64_t number;  // the function's number in tables
};

static mtl_status check_function(const mtl_device *device,
                                 const mtl_function *function) {
  if (!function) {
    return mtli_fail(MTL_INVALID_ARGUMENT, "a linked function is NULL");
  }
  if (!function->kernel->is_visible) {
    return mtli_fail(MTL_INVALID_ARGUMENT,
                     "linked function '%s' is a kernel; only [[visible]] "
                     "functions can be linked",
                     function->kernel->name);
  }
  if (function->library->device != device) {
    return mtli_fail(MTL_INVALID_ARGUMENT,
                     "linked function '%s' is of device '%s', the kernel of "
                     "'%s'",
                     function->kernel->name,
                     function->library->device->info.name, device->info.name);
  }
  return MTL_OK;
}

static mtl_status add_all(mtli_linked_functions *linked,
                          const mtl_device *device,
                          mtl_function *const *functions, size_t count) {
  if (count && !functions) {
    return mtli_fail(MTL_INVALID_ARGUMENT, "the linked functions are NULL");
  }
  for (size_t i = 0; i < count; i++) {
    MTL_TRY(check_function(device, functions[i]));
    linked->functions[linked->count++] = mtl_function_retain(functions[i]);
  }
  return MTL_OK;
}

mtl_status mtli_linked_functions_create(mtl_device *device,
                                        const mtl_pipeline_desc *desc,
                                        mtli_linked_functions *out_linked) {
  const mtl_linked_functions *wanted = &desc->linked_functions;
  *out_linked = (mtli_linked_functions){
      .call_depth =
          desc->max_call_stack_depth ? desc->max_call_stack_depth : 1};
  if (out_linked->call_depth > MOST_CALL_DEPTH) {
    return mtli_fail(MTL_INVALID_ARGUMENT,
                     "max_call_stack_depth is %u; %d is the most",
                     desc->max_call_stack_depth, MOST_CALL_DEPTH);
  }
  if (wanted->function_count > MOST_FUNCTIONS ||
      wanted->private_function_count > MOST_FUNCTIONS) {
    return mtli_fail(MTL_INVALID_ARGUMENT,
                     "%zu and %zu linked functions; %d are the most",
                     wanted->function_count, wanted->private_function_count,
                     MOST_FUNCTIONS);
  }
  const size_t count = wanted->function_count + wanted->private_function_count;
  if (!count) {
    return MTL_OK;
  }
  out_linked->functions = calloc(count, sizeof(mtl_function *));
  mtl_status status =
      out_linked->functions
          ? add_all(out_linked, device, wanted->functions,
                    wanted->function_count)
          : mtli_fail(MTL_OUT_OF_MEMORY, "no memory for linked functions");
  out_linked->table_count = out_linked->count;
  if (status == MTL_OK) {
    status = add_all(out_linked, device, wanted->private_functions,
                     wanted->private_function_count);
  }
  if (status != MTL_OK) {
    mtli_linked_functions_clear(out_linked);
  }
  return status;
}

void mtli_linked_functions_clear(mtli_linked_functions *linked) {
  for (size_t i = 0; i < linked->count; i++) {
    mtl_function_release(linked->functions[i]);  // -1
  }
  free(linked->functions);
  *linked = (mtli_linked_functions){0};
}

mtl_status mtli_linked_functions_describe(const mtli_linked_functions *linked,
                                          mtli_linked_function **out_requests) {
  *out_requests = calloc(linked->count + 1, sizeof **out_requests);
  if (!*out_requests) {
    return mtli_fail(MTL_OUT_OF_MEMORY, "no memory for linked functions");
  }
  for (size_t i = 0; i < linked->count; i++) {
    const mtl_function *function = linked->functions[i];
    const mtli_compiled *library = &function->library->compiled;
    (*out_requests)[i] = (mtli_linked_function){
        .library_bytes = library->bytes,
        .library_size_bytes = library->size_bytes,
        .name = function->kernel->name,
        .constant_values = function->values,
        .constant_count = library->code->constant_count,
        .is_private = i >= linked->table_count,
    };
  }
  return MTL_OK;
}

// --- handles -----------------------------------------------------------------

static void handle_destroy(mtli_object *object) {
  mtl_function_handle *handle = (mtl_function_handle *)object;
  mtl_pipeline *pipeline = handle->pipeline;
  free(handle);
  mtl_pipeline_release(pipeline);  // -1
}

// True for the same function with the same constants, even if created twice.
static bool is_same(const mtl_function *a, const mtl_function *b) {
  return a == b ||
         (a->library == b->library &&
          strcmp(a->kernel->name, b->kernel->name) == 0 &&
          memcmp(a->values, b->values,
                 a->library->compiled.code->constant_count *
                     sizeof *a->values) == 0);
}

mtl_status mtl_pipeline_function_handle(mtl_pipeline *pipeline,
                                        const mtl_function *function,
                                        mtl_function_handle **out_handle) {
  if (!pipeline || !function || !out_handle) {
    return mtli_fail(MTL_INVALID_ARGUMENT,
                     "mtl_pipeline_function_handle: %s is NULL",
                     !pipeline   ? "pipeline"
                     : !function ? "function"
                                 : "out_handle");
  }
  *out_handle = NULL;
  const mtli_linked_functions *linked = mtli_pipeline_linked(pipeline);
  size_t place = 0;
  while (place < linked->table_count &&
         !is_same(linked->functions[place], function)) {
    place++;
  }
  if (place == linked->table_count) {
    return mtli_fail(MTL_NOT_FOUND,
                     "function '%s' is none of the %zu that pipeline '%s' was "
                     "linked with for tables",
                     function->kernel->name, linked->table_count,
                     mtl_pipeline_label(pipeline));
  }
  mtl_function_handle *handle = calloc(1, sizeof *handle);
  if (!handle) {
    return mtli_fail(MTL_OUT_OF_MEMORY, "no memory for a function handle");
  }
  mtli_object_init(&handle->object, handle_destroy);
  handle->pipeline = mtl_pipeline_retain(pipeline);  // +1
  handle->function = linked->functions[place];
  handle->number = place + 1;
  *out_handle = handle;
  return MTL_OK;
}

mtl_function_handle *mtl_function_handle_retain(mtl_function_handle *handle) {
  if (handle) {
    mtli_object_retain(&handle->object);
  }
  return handle;
}

void mtl_function_handle_release(mtl_function_handle *handle) {
  if (handle) {
    mtli_object_release(&handle->object);
  }
}

const char *mtl_function_handle_name(const mtl_function_handle *handle) {
  return handle->function->kernel->name;
}

// --- tables ------------------------------------------------------------------

static void table_destroy(mtli_object *object) {
  mtl_function_table *table = (mtl_function_table *)object;
  mtl_pipeline *pipeline = table->pipeline;
  pipeline->device->driver->function_table_destroy(table);
  free(table);
  mtl_pipeline_release(pipeline);  // -1
}

mtl_status mtl_function_table_create(mtl_pipeline *pipeline,
                                     const mtl_function_table_desc *desc,
                                     mtl_function_table **out_table) {
  static const char call[] = "mtl_function_table_create";
  if (!pipeline || !desc || !out_table) {
    return mtli_fail(MTL_INVALID_ARGUMENT, "%s: %s is NULL", call,
                     !pipeline ? "pipeline"
                     : !desc   ? "desc"
                               : "out_table");
  }
  *out_table = NULL;
  if (desc->function_count == 0) {
    return mtli_fail(MTL_INVALID_ARGUMENT, "%s: function_count is 0", call);
  }
  const mtli_driver *driver = pipeline->device->driver;
  mtl_function_table *table = calloc(1, driver->function_table_bytes);
  if (!table) {
    return mtli_fail(MTL_OUT_OF_MEMORY, "no memory for a function table");
  }
  mtli_object_init(&table->object, table_destroy);
  table->count = desc->function_count;
  table->pipeline = pipeline;
  const mtl_status status = driver->function_table_create(table);
  if (status != MTL_OK) {
    free(table);
    return status;
  }
  mtl_pipeline_retain(pipeline);  // +1
  *out_table = table;
  return MTL_OK;
}

mtl_status mtli_function_table_in_buffer(mtl_function_table *table) {
  const size_t words = (size_t)table->count + 1;
  MTL_TRY(mtl_buffer_create(
      table->pipeline->device,
      &(mtl_buffer_desc){.length_bytes = words * sizeof(uint64_t),
                         .label = "function table"},
      &table->buffer));
  *(uint64_t *)table->buffer->contents = table->count;
  table->resource_id = table->buffer->gpu_address;
  return MTL_OK;
}

void mtli_function_table_buffer_release(mtl_function_table *table) {
  mtl_buffer_release(table->buffer);  // -1
}

void mtli_function_table_buffer_set(mtl_function_table *table, uint32_t index,
                                    uint64_t number) {
  ((uint64_t *)table->buffer->contents)[index + 1] = number;
}

mtl_function_table *mtl_function_table_retain(mtl_function_table *table) {
  if (table) {
    mtli_object_retain(&table->object);
  }
  return table;
}

void mtl_function_table_release(mtl_function_table *table) {
  if (table) {
    mtli_object_release(&table->object);
  }
}

uint32_t mtl_function_table_count(const mtl_function_table *table) {
  return table->count;
}

uint64_t mtl_function_table_resource_id(const mtl_function_table *table) {
  return table->resource_id;
}

static mtl_status check_handle(const mtl_function_table *table,
                               const mtl_function_handle *handle,
                               const char *call) {
  if (handle && handle->pipeline != table->pipeline) {
    return mtli_fail(MTL_INVALID_ARGUMENT,
                     "%s: the handle of '%s' is of pipeline '%s', the table of "
                     "another, '%s'",
                     call, mtl_function_handle_name(handle),
                     mtl_pipeline_label(handle->pipeline),
                     mtl_pipeline_label(table->pipeline));
  }
  return MTL_OK;
}

static mtl_status set_entries(mtl_function_table *table,
                              const mtl_function_handle *const *handles,
                              uint32_t first, uint32_t count,
                              const char *call) {
  if (!table || (!handles && count)) {
    return mtli_fail(MTL_INVALID_ARGUMENT, "%s: %s is NULL", call,
                     table ? "handles" : "table");
  }
  if (first > table->count || count > table->count - first) {
    return mtli_fail(MTL_INVALID_ARGUMENT,
                     "%s: %u entries from %u on are past the end of a table of "
                     "%u",
                     call, count, first, table->count);
  }
  for (uint32_t i = 0; i < count; i++) {
    MTL_TRY(check_handle(table, handles[i], call));
  }
  const mtli_driver *driver = table->pipeline->device->driver;
  for (uint32_t i = 0; i < count; i++) {
    driver->function_table_set(table, first + i,
                               handles[i] ? handles[i]->number : 0);
  }
  return MTL_OK;
}

mtl_status mtl_function_table_set(mtl_function_table *table,
                                  const mtl_function_handle *handle,
                                  uint32_t index) {
  return set_entries(table, &handle, index, 1, "mtl_function_table_set");
}

mtl_status mtl_function_table_set_range(mtl_function_table *table,
                                        mtl_function_handle *const *handles,
                                        uint32_t first_index, uint32_t count) {
  return set_entries(table, (const mtl_function_handle *const *)handles,
                     first_index, count, "mtl_function_table_set_range");
}
