// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// function_bindings.c: binds function tables to a compute encoder, and checks
// them against a kernel's arguments.
#include "runtime/record/compute_encoder.h"

#define FAIL(encoder, ...)                                             \
  mtli_recording_fail((encoder)->base.recording, MTL_INVALID_ARGUMENT, \
                      __VA_ARGS__)

// Has the command buffer keep a table, its pipeline, and its entries.
static void use_table(mtl_compute_encoder *encoder, mtl_function_table *table) {
  mtli_recording *recording = encoder->base.recording;
  if (table->buffer) {
    mtli_recording_use_buffer(recording, table->buffer);
  }
  if (!recording->unretained_references) {
    mtli_recording_keep(recording, &table->object);
  }
}

static void bind_tables(mtl_compute_encoder *encoder,
                        mtl_function_table *const *tables, uint32_t first,
                        uint32_t count, const char *call) {
  if (!mtli_compute_encoder_check(encoder, call)) {
    return;
  }
  if (!tables && count) {
    FAIL(encoder, "%s: the tables are NULL", call);
    return;
  }
  if (first > MTL_MAX_BUFFER_ARGUMENTS ||
      count > MTL_MAX_BUFFER_ARGUMENTS - first) {
    FAIL(encoder, "%s: %u of buffer index %u on; the last one is %d", call,
         count, first, MTL_MAX_BUFFER_ARGUMENTS - 1);
    return;
  }
  for (uint32_t i = 0; i < count; i++) {
    mtli_binding *binding = &encoder->bindings[first + i];
    *binding = (mtli_binding){0};
    if (tables[i] &&
        mtli_recording_check_device(encoder->base.recording,
                                    tables[i]->pipeline->device,
                                    "a function table")) {
      use_table(encoder, tables[i]);
      binding->table = tables[i];
    }
  }
}

void mtl_compute_encoder_set_function_table(mtl_compute_encoder *encoder,
                                            mtl_function_table *table,
                                            uint32_t index) {
  bind_tables(encoder, &table, index, 1,
              "mtl_compute_encoder_set_function_table");
}

void mtl_compute_encoder_set_function_tables(mtl_compute_encoder *encoder,
                                             mtl_function_table *const *tables,
                                             uint32_t first_index,
                                             uint32_t count) {
  bind_tables(encoder, tables, first_index, count,
              "mtl_compute_encoder_set_function_tables");
}

void mtl_compute_encoder_use_function_table(mtl_compute_encoder *encoder,
                                            mtl_function_table *table) {
  static const char call[] = "mtl_compute_encoder_use_function_table";
  if (!mtli_compute_encoder_check(encoder, call)) {
    return;
  }
  if (!table) {
    FAIL(encoder, "%s: table is NULL", call);
  } else if (mtli_recording_check_device(encoder->base.recording,
                                         table->pipeline->device,
                                         "a function table")) {
    use_table(encoder, table);
  }
}

static bool check_table(mtl_compute_encoder *encoder,
                        const mtl_argument *argument, uint32_t index) {
  const mtli_binding *binding = &encoder->bindings[index];
  if (!binding->table) {
    FAIL(encoder,
         "kernel '%s': argument '%s' [[buffer(%u)]] is a function table; %s is "
         "bound",
         mtli_kernel_name(encoder), argument->name, index,
         binding->buffer || binding->bytes ? "a buffer" : "nothing");
    return false;
  }
  if (binding->table->pipeline != encoder->pipeline) {
    FAIL(encoder,
         "kernel '%s': argument '%s' [[buffer(%u)]] is bound to a function "
         "table of another pipeline, '%s'",
         mtli_kernel_name(encoder), argument->name, index,
         mtl_pipeline_label(binding->table->pipeline));
    return false;
  }
  return true;
}

uint64_t *mtli_resolve_function_tables(mtl_compute_encoder *encoder,
                                       const mtl_argument *argument) {
  const uint32_t count = argument->array_length;
  uint64_t *ids = mtli_compute_encoder_handles(encoder, count);
  for (uint32_t i = 0; ids && i < count; i++) {
    const uint32_t index = argument->index + i;
    // An array may have gaps.
    if (count > 1 && !encoder->bindings[index].table) {
      continue;
    }
    if (!check_table(encoder, argument, index)) {
      return NULL;
    }
    ids[i] = mtl_function_table_resource_id(encoder->bindings[index].table);
  }
  return ids;
}
