// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// container_write.c: encodes a mtli_code as a code container.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

#include "base/memory/bytes.h"
#include "base/status.h"
#include "code/code.h"
#include "code/container_format.h"

typedef struct container_writer {
  mtli_bytes sections[SECTION_COUNT];
} container_writer;

static void write_text(container_writer *writer, container_section section,
                       const char *text) {
  mtli_bytes *texts = &writer->sections[SECTION_TEXTS];
  const char *value = text ? text : "";
  const size_t length = strlen(value);
  if (texts->size + length >= UINT32_MAX) {
    texts->failed = true;
    return;
  }
  mtli_bytes_append_u32(&writer->sections[section], (uint32_t)texts->size);
  mtli_bytes_append_u32(&writer->sections[section], (uint32_t)length);
  mtli_bytes_append(texts, value, length + 1);
}

static void write_info(container_writer *writer, const mtli_code *code) {
  mtli_bytes *info = &writer->sections[SECTION_INFO];
  mtli_bytes_append_u32(info, (uint32_t)code->language_version);
  mtli_bytes_append_u32(info, (uint32_t)code->math_mode);
  mtli_bytes_append_u32(info, code->debug);
  write_text(writer, SECTION_INFO, code->warnings);
  write_text(writer, SECTION_INFO, code->other_functions);
}

static void write_members(container_writer *writer, const mtl_member *members,
                          uint32_t count) {
  mtli_bytes *out = &writer->sections[SECTION_MEMBERS];
  for (uint32_t i = 0; i < count; ++i) {
    write_text(writer, SECTION_MEMBERS, members[i].name);
    write_text(writer, SECTION_MEMBERS, members[i].type_name);
    mtli_bytes_append_u32(out, (uint32_t)members[i].type);
    mtli_bytes_append_u32(out, members[i].components);
    mtli_bytes_append_u32(out, members[i].columns);
    mtli_bytes_append_u32(out, members[i].offset_bytes);
    mtli_bytes_append_u32(out, members[i].size_bytes);
    mtli_bytes_append_u32(out, members[i].array_length);
    mtli_bytes_append_u32(out, members[i].member_count);
  }
  for (uint32_t i = 0; i < count; ++i) {
    write_members(writer, members[i].members, members[i].member_count);
  }
}

// The extents of a tensor as text, with blanks between.
static void write_extents(container_writer *writer,
                          const mtl_argument *argument) {
  char text[MTL_MAX_TENSOR_RANK * 22] = "";
  size_t length = 0;
  for (uint32_t i = 0; i < argument->tensor_rank; ++i) {
    length += (size_t)snprintf(text + length, sizeof text - length,
                               "%s%" PRId64, i ? " " : "",
                               argument->tensor_extents[i]);
  }
  write_text(writer, SECTION_PARAMETERS, text);
}

static void write_parameter(container_writer *writer,
                            const mtli_parameter *parameter) {
  const mtl_argument *argument = &parameter->argument;
  mtli_bytes *out = &writer->sections[SECTION_PARAMETERS];
  write_text(writer, SECTION_PARAMETERS, argument->name);
  write_text(writer, SECTION_PARAMETERS, argument->type_name);
  mtli_bytes_append_u32(out, (uint32_t)argument->kind);
  mtli_bytes_append_u32(out, argument->index);
  mtli_bytes_append_u32(out, (uint32_t)argument->access);
  mtli_bytes_append_u32(out, (uint32_t)argument->type);
  mtli_bytes_append_u32(out, argument->components);
  mtli_bytes_append_u32(out, argument->size_bytes);
  mtli_bytes_append_u32(out, argument->alignment_bytes);
  mtli_bytes_append_u32(
      out, (argument->is_reference ? PARAMETER_IS_REFERENCE : 0) |
               (argument->is_active ? PARAMETER_IS_ACTIVE : 0) |
               (argument->is_depth_texture ? PARAMETER_IS_DEPTH : 0) |
               (parameter->is_constant ? PARAMETER_IS_CONSTANT : 0) |
               (parameter->is_unused ? PARAMETER_IS_UNUSED : 0) |
               (parameter->has_open_end ? PARAMETER_HAS_OPEN_END : 0));
  mtli_bytes_append_u32(out, argument->array_length);
  mtli_bytes_append_u32(out, (uint32_t)argument->texture_type);
  mtli_bytes_append_u32(out, (uint32_t)parameter->builtin);
  mtli_bytes_append_u32(out, parameter->builtin_components);
  mtli_bytes_append_u32(out, parameter->builtin_component_bytes);
  mtli_bytes_append_u32(out, (uint32_t)parameter->enabling_constant);
  write_text(writer, SECTION_PARAMETERS, parameter->condition);
  write_text(writer, SECTION_PARAMETERS, parameter->layout);
  write_extents(writer, argument);
  mtli_bytes_append_u32(out, argument->member_count);
  write_members(writer, argument->members, argument->member_count);
}

static void write_kernel(container_writer *writer, const mtli_kernel *kernel) {
  mtli_bytes *out = &writer->sections[SECTION_KERNELS];
  write_text(writer, SECTION_KERNELS, kernel->name);
  write_text(writer, SECTION_KERNELS, kernel->symbol);
  write_text(writer, SECTION_KERNELS, kernel->file);
  mtli_bytes_append_u32(out, kernel->line);
  mtli_bytes_append_u32(out, (uint32_t)kernel->parameter_count);
  mtli_bytes_append_u32(out, kernel->max_total_threads_per_threadgroup);
  mtli_bytes_append_u32(out, kernel->static_threadgroup_bytes);
  mtli_bytes_append_u32(out, kernel->tier);
  mtli_bytes_append_u32(
      out, (kernel->group_class.row & KERNEL_ROW_MASK) |
               (kernel->group_class.is_single ? KERNEL_IS_SINGLE : 0) |
               (kernel->group_class.is_exact ? KERNEL_IS_EXACT : 0) |
               (kernel->group_class.is_uneven ? KERNEL_IS_UNEVEN : 0) |
               (kernel->group_class.is_whole ? KERNEL_IS_WHOLE : 0) |
               (kernel->group_class.is_far ? KERNEL_IS_FAR : 0) |
               mtli_cpu_facts_bits(&kernel->facts) |
               kernel->group_class.simdgroups << KERNEL_SIMDGROUPS_SHIFT |
               kernel->group_class.row_dimension << KERNEL_ROW_DIMENSION_SHIFT |
               (kernel->is_visible ? KERNEL_IS_VISIBLE : 0));
  for (size_t i = 0; i < kernel->parameter_count; ++i) {
    write_parameter(writer, &kernel->parameters[i]);
  }
}

static void write_constant(container_writer *writer,
                           const mtli_constant *constant) {
  mtli_bytes *out = &writer->sections[SECTION_CONSTANTS];
  write_text(writer, SECTION_CONSTANTS, constant->info.name);
  write_text(writer, SECTION_CONSTANTS, constant->symbol);
  mtli_bytes_append_u32(out, constant->info.index);
  mtli_bytes_append_u32(out, (uint32_t)constant->info.type);
  mtli_bytes_append_u32(out, constant->info.components);
  mtli_bytes_append_u32(out, constant->info.required);
}

static void write_blob(container_writer *writer, const mtli_blob *blob) {
  mtli_bytes *out = &writer->sections[SECTION_BLOBS];
  mtli_bytes *data = &writer->sections[SECTION_DATA];
  mtli_bytes_align(data, CONTAINER_ALIGNMENT);
  mtli_bytes_append_u32(out, (uint32_t)blob->kind);
  mtli_bytes_append_u32(out, 0);
  write_text(writer, SECTION_BLOBS, blob->target);
  mtli_bytes_append_u64(out, data->size);
  mtli_bytes_append_u64(out, blob->size_bytes);
  mtli_bytes_append(data, blob->bytes, blob->size_bytes);
}

static void write_sections(container_writer *writer, const mtli_code *code) {
  write_info(writer, code);
  for (size_t i = 0; i < code->kernel_count; ++i) {
    write_kernel(writer, &code->kernels[i]);
  }
  for (size_t i = 0; i < code->constant_count; ++i) {
    write_constant(writer, &code->constants[i]);
  }
  for (size_t i = 0; i < code->blob_count; ++i) {
    write_blob(writer, &code->blobs[i]);
  }
}

static uint64_t align_offset(uint64_t offset) {
  return (offset + CONTAINER_ALIGNMENT - 1) &
         ~(uint64_t)(CONTAINER_ALIGNMENT - 1);
}

static void write_header(const container_writer *writer, mtli_bytes *out) {
  uint64_t end = CONTAINER_TABLE_OFFSET +
                 (uint64_t)SECTION_COUNT * CONTAINER_TABLE_ENTRY_BYTES;
  mtli_bytes table = {0};
  for (uint32_t i = 0; i < SECTION_COUNT; ++i) {
    const uint64_t offset = align_offset(end);
    mtli_bytes_append_u32(&table, i);
    mtli_bytes_append_u32(&table, container_record_bytes[i]);
    mtli_bytes_append_u64(&table, offset);
    mtli_bytes_append_u64(&table, writer->sections[i].size);
    end = offset + writer->sections[i].size;
  }
  mtli_bytes_append(out, CONTAINER_MAGIC, CONTAINER_MAGIC_BYTES);
  mtli_bytes_append_u32(out, CONTAINER_VERSION);
  mtli_bytes_append_u32(out, SECTION_COUNT);
  mtli_bytes_append_u64(out, align_offset(end) + CONTAINER_CHECKSUM_BYTES);
  mtli_bytes_append(out, table.data, table.size);
  out->failed |= table.failed;
  mtli_bytes_clear(&table);
}

static void join_sections(const container_writer *writer, mtli_bytes *out) {
  write_header(writer, out);
  for (int i = 0; i < SECTION_COUNT; ++i) {
    mtli_bytes_align(out, CONTAINER_ALIGNMENT);
    mtli_bytes_append(out, writer->sections[i].data, writer->sections[i].size);
    out->failed |= writer->sections[i].failed;
  }
  mtli_bytes_align(out, CONTAINER_ALIGNMENT);
  if (!out->failed) {
    XXH128_canonical_t checksum;
    XXH128_canonicalFromHash(&checksum, XXH3_128bits(out->data, out->size));
    mtli_bytes_append(out, &checksum, CONTAINER_CHECKSUM_BYTES);
  }
}

// Reads the container back: a mistake of the compiler shows here and not in
// another process.
static mtl_status check_readable(const mtli_bytes *bytes) {
  mtli_arena arena = {0};
  mtli_code *code = NULL;
  const mtl_status status =
      mtli_code_read(bytes->data, bytes->size, &arena, &code);
  mtli_arena_clear(&arena);
  return status;
}

mtl_status mtli_code_write(const mtli_code *code, void **out_bytes,
                           size_t *out_size_bytes) {
  *out_bytes = NULL;
  *out_size_bytes = 0;
  container_writer writer = {0};
  mtli_bytes out = {0};
  write_sections(&writer, code);
  join_sections(&writer, &out);
  for (int i = 0; i < SECTION_COUNT; ++i) {
    mtli_bytes_clear(&writer.sections[i]);
  }
  const mtl_status status =
      out.failed ? mtli_fail(MTL_OUT_OF_MEMORY,
                             "no memory for a code container of %zu kernels",
                             code->kernel_count)
                 : check_readable(&out);
  if (status != MTL_OK) {
    mtli_bytes_clear(&out);
    return status;
  }
  *out_bytes = out.data;
  *out_size_bytes = out.size;
  return MTL_OK;
}
