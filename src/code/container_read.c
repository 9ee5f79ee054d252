// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// container_read.c: decodes a code container, trusting nothing in it.
//
// The checksum finds damage; the checks behind it hold for containers that
// were made to do harm, whose checksum is right.
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/status.h"
#include "code/container_reader.h"

mtl_status mtli_bad_record(container_section section, uint64_t offset,
                           const char *what, uint64_t value) {
  static const char *const names[SECTION_COUNT] = {
      "info",     "kernel", "parameter", "member",
      "constant", "blob",   "texts",     "data"};
  return mtli_fail(MTL_BAD_DATA,
                   "code container: %s record at offset %llu: %s is %llu",
                   names[section], (unsigned long long)offset, what,
                   (unsigned long long)value);
}

mtl_status mtli_reader_out_of_memory(const mtli_container_reader *reader) {
  return mtli_fail(MTL_OUT_OF_MEMORY,
                   "no memory to decode a code container of %llu bytes",
                   (unsigned long long)reader->size_bytes);
}

mtli_cursor mtli_reader_cursor(const mtli_container_reader *reader,
                               uint64_t offset_bytes, uint64_t size_bytes) {
  return (mtli_cursor){.data = reader->bytes + offset_bytes,
                       .size = (size_t)size_bytes};
}

// --- header and section table

static mtl_status check_magic(const mtli_container_reader *reader) {
  const size_t least = CONTAINER_TABLE_OFFSET +
                       (size_t)SECTION_COUNT * CONTAINER_TABLE_ENTRY_BYTES +
                       CONTAINER_CHECKSUM_BYTES;
  if (reader->size_bytes < CONTAINER_MAGIC_BYTES ||
      memcmp(reader->bytes, CONTAINER_MAGIC, CONTAINER_MAGIC_BYTES) != 0) {
    return mtli_fail(MTL_BAD_DATA,
                     "not a code container: no magic at offset 0 of %llu bytes",
                     (unsigned long long)reader->size_bytes);
  }
  if (reader->size_bytes < least) {
    return mtli_fail(MTL_BAD_DATA,
                     "code container cut short: %llu bytes, the least is %zu",
                     (unsigned long long)reader->size_bytes, least);
  }
  return MTL_OK;
}

static mtl_status check_header(const mtli_container_reader *reader) {
  MTL_TRY(check_magic(reader));
  mtli_cursor cursor =
      mtli_reader_cursor(reader, CONTAINER_MAGIC_BYTES,
                         CONTAINER_TABLE_OFFSET - CONTAINER_MAGIC_BYTES);
  const uint32_t version = mtli_cursor_u32(&cursor);
  const uint32_t section_count = mtli_cursor_u32(&cursor);
  const uint64_t size_bytes = mtli_cursor_u64(&cursor);
  if (version != CONTAINER_VERSION) {
    return mtli_fail(MTL_BAD_DATA,
                     "code container of format version %u at offset 8; this "
                     "Mettle reads version %d",
                     version, CONTAINER_VERSION);
  }
  if (section_count != SECTION_COUNT) {
    return mtli_fail(MTL_BAD_DATA,
                     "code container: %u sections at offset 12, not %d",
                     section_count, SECTION_COUNT);
  }
  if (size_bytes != reader->size_bytes) {
    return mtli_fail(
        MTL_BAD_DATA, "code container: says %llu bytes at offset 16, has %llu",
        (unsigned long long)size_bytes, (unsigned long long)reader->size_bytes);
  }
  return MTL_OK;
}

static mtl_status check_checksum(const mtli_container_reader *reader) {
  const size_t covered = (size_t)reader->size_bytes - CONTAINER_CHECKSUM_BYTES;
  XXH128_canonical_t checksum;
  XXH128_canonicalFromHash(&checksum, XXH3_128bits(reader->bytes, covered));
  if (memcmp(&checksum, reader->bytes + covered, CONTAINER_CHECKSUM_BYTES) !=
      0) {
    return mtli_fail(MTL_BAD_DATA,
                     "code container damaged: the checksum at offset %zu does "
                     "not fit the bytes before it",
                     covered);
  }
  return MTL_OK;
}

// Sections must follow one another without gaps but for alignment, so that none
// can overlap.
static mtl_status read_section_table(mtli_container_reader *reader) {
  const uint64_t limit = reader->size_bytes - CONTAINER_CHECKSUM_BYTES;
  uint64_t end = CONTAINER_TABLE_OFFSET +
                 (uint64_t)SECTION_COUNT * CONTAINER_TABLE_ENTRY_BYTES;
  mtli_cursor cursor = mtli_reader_cursor(reader, CONTAINER_TABLE_OFFSET,
                                          end - CONTAINER_TABLE_OFFSET);
  for (uint32_t i = 0; i < SECTION_COUNT; ++i) {
    const size_t at = CONTAINER_TABLE_OFFSET + cursor.offset;
    const uint32_t kind = mtli_cursor_u32(&cursor);
    const uint32_t record_bytes = mtli_cursor_u32(&cursor);
    const uint64_t offset = mtli_cursor_u64(&cursor);
    const uint64_t size = mtli_cursor_u64(&cursor);
    const uint64_t expected =
        (end + CONTAINER_ALIGNMENT - 1) & ~(uint64_t)(CONTAINER_ALIGNMENT - 1);
    if (kind != i || record_bytes != container_record_bytes[i] ||
        offset != expected || offset > limit || size > limit - offset ||
        size % record_bytes != 0) {
      return mtli_fail(MTL_BAD_DATA,
                       "code container: bad section %u of %llu bytes at "
                       "%llu, in the table at offset %zu",
                       kind, (unsigned long long)size,
                       (unsigned long long)offset, at);
    }
    reader->sections[i] =
        (mtli_section_view){offset, size, size / record_bytes};
    end = offset + size;
  }
  return MTL_OK;
}

// --- records

// Copies all texts at once; the records point into the copy.
static mtl_status read_texts(mtli_container_reader *reader) {
  const mtli_section_view *section = &reader->sections[SECTION_TEXTS];
  reader->texts = mtli_arena_copy_text(
      reader->arena, (const char *)reader->bytes + section->offset,
      (size_t)section->size_bytes);
  return reader->texts ? MTL_OK : mtli_reader_out_of_memory(reader);
}

mtl_status mtli_reader_take_text(mtli_container_reader *reader,
                                 mtli_cursor *cursor, const char **out_text) {
  const uint64_t size = reader->sections[SECTION_TEXTS].size_bytes;
  const uint64_t offset = mtli_cursor_u32(cursor);
  const uint64_t length = mtli_cursor_u32(cursor);
  if (offset >= size || length >= size - offset ||
      reader->texts[offset + length] != '\0') {
    return mtli_fail(MTL_BAD_DATA,
                     "code container: text of %llu bytes at offset %llu of the "
                     "texts, which have %llu",
                     (unsigned long long)length, (unsigned long long)offset,
                     (unsigned long long)size);
  }
  *out_text = reader->texts + offset;
  return MTL_OK;
}

static mtl_status read_info(mtli_container_reader *reader) {
  const mtli_section_view *section = &reader->sections[SECTION_INFO];
  if (section->count != 1) {
    return mtli_bad_record(SECTION_INFO, section->offset,
                           "the count of records", section->count);
  }
  mtli_cursor cursor =
      mtli_reader_cursor(reader, section->offset, section->size_bytes);
  const uint32_t language_version = mtli_cursor_u32(&cursor);
  const uint32_t math_mode = mtli_cursor_u32(&cursor);
  const uint32_t debug = mtli_cursor_u32(&cursor);
  switch (language_version) {
    case MTL_LANGUAGE_DEFAULT:
    case MTL_LANGUAGE_2_4:
    case MTL_LANGUAGE_3_0:
    case MTL_LANGUAGE_3_1:
    case MTL_LANGUAGE_3_2:
    case MTL_LANGUAGE_4_0:
    case MTL_LANGUAGE_4_1: break;
    default:
      return mtli_bad_record(SECTION_INFO, section->offset,
                             "the language version", language_version);
  }
  if (math_mode > MTL_MATH_SAFE) {
    return mtli_bad_record(SECTION_INFO, section->offset, "the math mode",
                           math_mode);
  }
  if (debug > 1) {
    return mtli_bad_record(SECTION_INFO, section->offset, "debug", debug);
  }
  reader->code->language_version = (mtl_language_version)language_version;
  reader->code->math_mode = (mtl_math_mode)math_mode;
  reader->code->debug = debug;
  MTL_TRY(mtli_reader_take_text(reader, &cursor, &reader->code->warnings));
  return mtli_reader_take_text(reader, &cursor, &reader->code->other_functions);
}

static mtl_status read_kernel(mtli_container_reader *reader,
                              mtli_cursor *cursor, mtli_kernel *kernel) {
  const uint64_t offset =
      reader->sections[SECTION_KERNELS].offset + cursor->offset;
  MTL_TRY(mtli_reader_take_text(reader, cursor, &kernel->name));
  MTL_TRY(mtli_reader_take_text(reader, cursor, &kernel->symbol));
  MTL_TRY(mtli_reader_take_text(reader, cursor, &kernel->file));
  kernel->line = mtli_cursor_u32(cursor);
  kernel->parameter_count = mtli_cursor_u32(cursor);
  kernel->max_total_threads_per_threadgroup = mtli_cursor_u32(cursor);
  kernel->static_threadgroup_bytes = mtli_cursor_u32(cursor);
  kernel->tier = mtli_cursor_u32(cursor);
  const uint32_t flags = mtli_cursor_u32(cursor);
  if (kernel->tier > MTLI_TIER_SCREENED) {
    return mtli_bad_record(SECTION_KERNELS, offset, "the tier", kernel->tier);
  }
  if (flags >= KERNEL_FLAGS_END ||
      (flags >> KERNEL_ROW_DIMENSION_SHIFT & KERNEL_ROW_DIMENSION_MASK) > 2) {
    return mtli_bad_record(SECTION_KERNELS, offset, "the group class", flags);
  }
  kernel->group_class.row = flags & KERNEL_ROW_MASK;
  kernel->group_class.is_single = (flags & KERNEL_IS_SINGLE) != 0;
  kernel->group_class.is_exact = (flags & KERNEL_IS_EXACT) != 0;
  kernel->group_class.is_uneven = (flags & KERNEL_IS_UNEVEN) != 0;
  kernel->group_class.is_whole = (flags & KERNEL_IS_WHOLE) != 0;
  kernel->group_class.is_far = (flags & KERNEL_IS_FAR) != 0;
  kernel->group_class.simdgroups =
      flags >> KERNEL_SIMDGROUPS_SHIFT & KERNEL_SIMDGROUPS_MASK;
  kernel->group_class.row_dimension =
      flags >> KERNEL_ROW_DIMENSION_SHIFT & KERNEL_ROW_DIMENSION_MASK;
  kernel->facts = mtli_cpu_facts_of(flags);
  kernel->is_visible = (flags & KERNEL_IS_VISIBLE) != 0;
  return mtli_reader_parameters(reader, offset, kernel);
}

static mtl_status read_kernels(mtli_container_reader *reader) {
  const mtli_section_view *section = &reader->sections[SECTION_KERNELS];
  mtli_code *code = reader->code;
  code->kernels = mtli_arena_allocate(
      reader->arena, (size_t)section->count * sizeof *code->kernels);
  if (!code->kernels) {
    return mtli_reader_out_of_memory(reader);
  }
  code->kernel_count = (size_t)section->count;
  mtli_cursor cursor =
      mtli_reader_cursor(reader, section->offset, section->size_bytes);
  for (size_t i = 0; i < code->kernel_count; ++i) {
    MTL_TRY(read_kernel(reader, &cursor, &code->kernels[i]));
  }
  if (reader->members_taken != reader->sections[SECTION_MEMBERS].count) {
    return mtli_bad_record(SECTION_KERNELS, section->offset,
                           "the count of members of all parameters",
                           reader->members_taken);
  }
  if (reader->parameters_read != reader->sections[SECTION_PARAMETERS].count) {
    return mtli_bad_record(SECTION_KERNELS, section->offset,
                           "the count of parameters of all kernels",
                           reader->parameters_read);
  }
  return MTL_OK;
}

static mtl_status read_constant(mtli_container_reader *reader,
                                mtli_cursor *cursor, mtli_constant *constant) {
  const uint64_t offset =
      reader->sections[SECTION_CONSTANTS].offset + cursor->offset;
  MTL_TRY(mtli_reader_take_text(reader, cursor, &constant->info.name));
  MTL_TRY(mtli_reader_take_text(reader, cursor, &constant->symbol));
  constant->info.index = mtli_cursor_u32(cursor);
  constant->info.type = (mtl_data_type)mtli_cursor_u32(cursor);
  constant->info.components = mtli_cursor_u32(cursor);
  const uint32_t required = mtli_cursor_u32(cursor);
  constant->info.required = required;
  if (constant->info.type == MTL_TYPE_NONE ||
      (uint32_t)constant->info.type > MTL_TYPE_FLOAT) {
    return mtli_bad_record(SECTION_CONSTANTS, offset, "the type",
                           (uint32_t)constant->info.type);
  }
  if (constant->info.components < 1 || constant->info.components > 4) {
    return mtli_bad_record(SECTION_CONSTANTS, offset, "the count of components",
                           constant->info.components);
  }
  if (required > 1) {
    return mtli_bad_record(SECTION_CONSTANTS, offset, "required", required);
  }
  return MTL_OK;
}

static mtl_status read_constants(mtli_container_reader *reader) {
  const mtli_section_view *section = &reader->sections[SECTION_CONSTANTS];
  mtli_code *code = reader->code;
  code->constants = mtli_arena_allocate(
      reader->arena, (size_t)section->count * sizeof *code->constants);
  if (!code->constants) {
    return mtli_reader_out_of_memory(reader);
  }
  code->constant_count = (size_t)section->count;
  mtli_cursor cursor =
      mtli_reader_cursor(reader, section->offset, section->size_bytes);
  for (size_t i = 0; i < code->constant_count; ++i) {
    const mtli_constant *constants = code->constants;
    MTL_TRY(read_constant(reader, &cursor, &code->constants[i]));
    if (i > 0 && constants[i].info.index < constants[i - 1].info.index) {
      return mtli_bad_record(SECTION_CONSTANTS, section->offset,
                             "an index that does not rise",
                             constants[i].info.index);
    }
  }
  return MTL_OK;
}

static mtl_status read_blob(mtli_container_reader *reader, mtli_cursor *cursor,
                            mtli_blob *blob) {
  const mtli_section_view *data = &reader->sections[SECTION_DATA];
  const uint64_t at = reader->sections[SECTION_BLOBS].offset + cursor->offset;
  const uint32_t kind = mtli_cursor_u32(cursor);
  const uint32_t reserved = mtli_cursor_u32(cursor);
  MTL_TRY(mtli_reader_take_text(reader, cursor, &blob->target));
  const uint64_t offset = mtli_cursor_u64(cursor);
  const uint64_t size = mtli_cursor_u64(cursor);
  if (kind < MTLI_BLOB_IR || kind > MTLI_BLOB_SOURCE) {
    return mtli_bad_record(SECTION_BLOBS, at, "the kind", kind);
  }
  if (reserved) {
    return mtli_bad_record(SECTION_BLOBS, at, "the reserved word", reserved);
  }
  if (offset % CONTAINER_ALIGNMENT != 0 || offset > data->size_bytes) {
    return mtli_bad_record(SECTION_BLOBS, at, "the offset", offset);
  }
  if (size > data->size_bytes - offset) {
    return mtli_bad_record(SECTION_BLOBS, at, "the size", size);
  }
  blob->kind = (mtli_blob_kind)kind;
  blob->bytes = reader->bytes + data->offset + offset;
  blob->size_bytes = (size_t)size;
  return MTL_OK;
}

static mtl_status read_blobs(mtli_container_reader *reader) {
  const mtli_section_view *section = &reader->sections[SECTION_BLOBS];
  mtli_code *code = reader->code;
  code->blobs = mtli_arena_allocate(
      reader->arena, (size_t)section->count * sizeof *code->blobs);
  if (!code->blobs) {
    return mtli_reader_out_of_memory(reader);
  }
  code->blob_count = (size_t)section->count;
  mtli_cursor cursor =
      mtli_reader_cursor(reader, section->offset, section->size_bytes);
  for (size_t i = 0; i < code->blob_count; ++i) {
    MTL_TRY(read_blob(reader, &cursor, &code->blobs[i]));
  }
  return MTL_OK;
}

mtl_status mtli_code_read(const void *bytes, size_t size_bytes,
                          mtli_arena *arena, mtli_code **out_code) {
  *out_code = NULL;
  mtli_container_reader reader = {
      .bytes = bytes, .size_bytes = size_bytes, .arena = arena};
  MTL_TRY(check_header(&reader));
  MTL_TRY(check_checksum(&reader));
  MTL_TRY(read_section_table(&reader));
  reader.code = mtli_arena_allocate(arena, sizeof *reader.code);
  if (!reader.code) {
    return mtli_reader_out_of_memory(&reader);
  }
  MTL_TRY(read_texts(&reader));
  MTL_TRY(read_info(&reader));
  MTL_TRY(read_constants(&reader));
  MTL_TRY(mtli_reader_members(&reader));
  MTL_TRY(read_kernels(&reader));
  MTL_TRY(read_blobs(&reader));
  *out_code = reader.code;
  return MTL_OK;
}

const mtli_blob *mtli_code_find_blob(const mtli_code *code,
                                     mtli_blob_kind kind) {
  for (size_t i = 0; i < code->blob_count; ++i) {
    if (code->blobs[i].kind == kind) {
      return &code->blobs[i];
    }
  }
  return NULL;
}

const mtli_kernel *mtli_code_find_kernel(const mtli_code *code,
                                         const char *name) {
  for (size_t i = 0; i < code->kernel_count; ++i) {
    if (strcmp(code->kernels[i].name, name) == 0) {
      return &code->kernels[i];
    }
  }
  return NULL;
}

void mtli_compiled_clear(mtli_compiled *compiled) {
  mtli_arena_clear(&compiled->arena);
  free(compiled->bytes);
  free(compiled->dump);
  *compiled = (mtli_compiled){0};
}
