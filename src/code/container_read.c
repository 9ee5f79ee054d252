// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// container_read.c: decodes a code container, trusting nothing in it.
//
// The checksum finds damage; the checks behind it hold for containers that
// were made to do harm, whose checksum is right.
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/memory/bytes.h"
#include "base/status.h"
#include "code/code.h"
#include "code/container_format.h"

typedef struct section_view {
  uint64_t offset;  // in the container
  uint64_t size_bytes;
  uint64_t count;  // records
} section_view;

typedef struct container_reader {
  const unsigned char *bytes;  // [size_bytes]
  uint64_t size_bytes;
  mtli_arena *arena;
  section_view sections[SECTION_COUNT];
  const char *texts;  // a copy of the section of texts, in arena
  mtli_code *code;
  uint64_t parameters_read;
  mtl_member *members;  // of all parameters
  uint64_t members_taken;
} container_reader;

static mtl_status bad_record(container_section section, uint64_t offset,
                             const char *what, uint64_t value) {
  static const char *const names[SECTION_COUNT] = {
      "info",     "kernel", "parameter", "member",
      "constant", "blob",   "texts",     "data"};
  return mtli_fail(MTL_BAD_DATA,
                   "code container: %s record at offset %llu: %s is %llu",
                   names[section], (unsigned long long)offset, what,
                   (unsigned long long)value);
}

static mtl_status out_of_memory(const container_reader *reader) {
  return mtli_fail(MTL_OUT_OF_MEMORY,
                   "no memory to decode a code container of %llu bytes",
                   (unsigned long long)reader->size_bytes);
}

static mtli_cursor cursor_at(const container_reader *reader,
                             uint64_t offset_bytes, uint64_t size_bytes) {
  return (mtli_cursor){.data = reader->bytes + offset_bytes,
                       .size = (size_t)size_bytes};
}

// --- header and section table

static mtl_status check_magic(const container_reader *reader) {
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

static mtl_status check_header(const container_reader *reader) {
  MTL_TRY(check_magic(reader));
  mtli_cursor cursor =
      cursor_at(reader, CONTAINER_MAGIC_BYTES,
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

static mtl_status check_checksum(const container_reader *reader) {
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

// Sections must lie one behind the other without gaps but for alignment, so
// that none can overlap.
static mtl_status read_section_table(container_reader *reader) {
  const uint64_t limit = reader->size_bytes - CONTAINER_CHECKSUM_BYTES;
  uint64_t end = CONTAINER_TABLE_OFFSET +
                 (uint64_t)SECTION_COUNT * CONTAINER_TABLE_ENTRY_BYTES;
  mtli_cursor cursor =
      cursor_at(reader, CONTAINER_TABLE_OFFSET, end - CONTAINER_TABLE_OFFSET);
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
    reader->sections[i] = (section_view){offset, size, size / record_bytes};
    end = offset + size;
  }
  return MTL_OK;
}

// --- records

// All texts at once: one copy, and the records point into it.
static mtl_status read_texts(container_reader *reader) {
  const section_view *section = &reader->sections[SECTION_TEXTS];
  reader->texts = mtli_arena_copy_text(
      reader->arena, (const char *)reader->bytes + section->offset,
      (size_t)section->size_bytes);
  return reader->texts ? MTL_OK : out_of_memory(reader);
}

static mtl_status take_text(container_reader *reader, mtli_cursor *cursor,
                            const char **out_text) {
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

static mtl_status read_info(container_reader *reader) {
  const section_view *section = &reader->sections[SECTION_INFO];
  if (section->count != 1) {
    return bad_record(SECTION_INFO, section->offset, "the count of records",
                      section->count);
  }
  mtli_cursor cursor = cursor_at(reader, section->offset, section->size_bytes);
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
      return bad_record(SECTION_INFO, section->offset, "the language version",
                        language_version);
  }
  if (math_mode > MTL_MATH_SAFE) {
    return bad_record(SECTION_INFO, section->offset, "the math mode",
                      math_mode);
  }
  if (debug > 1) {
    return bad_record(SECTION_INFO, section->offset, "debug", debug);
  }
  reader->code->language_version = (mtl_language_version)language_version;
  reader->code->math_mode = (mtl_math_mode)math_mode;
  reader->code->debug = debug;
  MTL_TRY(take_text(reader, &cursor, &reader->code->warnings));
  return take_text(reader, &cursor, &reader->code->other_functions);
}

static mtl_status check_argument(const mtl_argument *argument,
                                 uint64_t offset) {
  // Metal's argument tables (Metal Feature Set Tables, "function arguments").
  static const uint32_t table_sizes[] = {
      [MTL_ARGUMENT_BUFFER] = MTL_MAX_BUFFER_ARGUMENTS,
      [MTL_ARGUMENT_THREADGROUP_MEMORY] = MTL_MAX_THREADGROUP_ARGUMENTS,
      [MTL_ARGUMENT_TEXTURE] = MTL_MAX_TEXTURE_ARGUMENTS,
      [MTL_ARGUMENT_SAMPLER] = MTL_MAX_SAMPLER_ARGUMENTS,
      [MTL_ARGUMENT_FUNCTION_TABLE] = MTL_MAX_BUFFER_ARGUMENTS,
  };
  const uint32_t alignment = argument->alignment_bytes;
  if ((uint32_t)argument->kind > MTL_ARGUMENT_FUNCTION_TABLE) {
    return bad_record(SECTION_PARAMETERS, offset, "the kind",
                      (uint32_t)argument->kind);
  }
  if (argument->index >= table_sizes[argument->kind]) {
    return bad_record(SECTION_PARAMETERS, offset, "the index", argument->index);
  }
  if (argument->array_length > table_sizes[argument->kind] - argument->index) {
    return bad_record(SECTION_PARAMETERS, offset, "the array length",
                      argument->array_length);
  }
  if ((uint32_t)argument->texture_type > MTL_TEXTURE_BUFFER) {
    return bad_record(SECTION_PARAMETERS, offset, "the texture type",
                      (uint32_t)argument->texture_type);
  }
  if ((uint32_t)argument->access > MTL_ACCESS_WRITE_ONLY) {
    return bad_record(SECTION_PARAMETERS, offset, "the access",
                      (uint32_t)argument->access);
  }
  if ((uint32_t)argument->type > MTL_TYPE_FLOAT) {
    return bad_record(SECTION_PARAMETERS, offset, "the type",
                      (uint32_t)argument->type);
  }
  if (argument->components > 4) {
    return bad_record(SECTION_PARAMETERS, offset, "the count of components",
                      argument->components);
  }
  if (alignment & (alignment - 1)) {
    return bad_record(SECTION_PARAMETERS, offset, "the alignment", alignment);
  }
  return MTL_OK;
}

static mtl_status check_member(const mtl_member *member, uint64_t offset) {
  static const uint8_t type_bytes[] = {
      [MTL_TYPE_BOOL] = 1,  [MTL_TYPE_CHAR] = 1,   [MTL_TYPE_UCHAR] = 1,
      [MTL_TYPE_SHORT] = 2, [MTL_TYPE_USHORT] = 2, [MTL_TYPE_INT] = 4,
      [MTL_TYPE_UINT] = 4,  [MTL_TYPE_LONG] = 8,   [MTL_TYPE_ULONG] = 8,
      [MTL_TYPE_HALF] = 2,  [MTL_TYPE_BFLOAT] = 2, [MTL_TYPE_FLOAT] = 4,
  };
  if ((uint32_t)member->type > MTL_TYPE_FLOAT) {
    return bad_record(SECTION_MEMBERS, offset, "the type",
                      (uint32_t)member->type);
  }
  const bool has_type = member->type != MTL_TYPE_NONE;
  if (member->components > 4 || has_type != (member->components > 0)) {
    return bad_record(SECTION_MEMBERS, offset, "the count of components",
                      member->components);
  }
  if (member->columns < 1 || member->columns > 4) {
    return bad_record(SECTION_MEMBERS, offset, "the count of columns",
                      member->columns);
  }
  if (has_type && member->size_bytes / member->columns <
                      member->components * type_bytes[member->type]) {
    return bad_record(SECTION_MEMBERS, offset, "the size", member->size_bytes);
  }
  if (has_type && member->member_count > 0) {
    return bad_record(SECTION_MEMBERS, offset, "the count of members",
                      member->member_count);
  }
  return MTL_OK;
}

static mtl_status read_members(container_reader *reader) {
  const section_view *section = &reader->sections[SECTION_MEMBERS];
  reader->members = mtli_arena_allocate(
      reader->arena, (size_t)section->count * sizeof *reader->members);
  if (!reader->members) {
    return out_of_memory(reader);
  }
  mtli_cursor cursor = cursor_at(reader, section->offset, section->size_bytes);
  for (uint64_t i = 0; i < section->count; ++i) {
    const uint64_t offset = section->offset + cursor.offset;
    mtl_member *member = &reader->members[i];
    MTL_TRY(take_text(reader, &cursor, &member->name));
    MTL_TRY(take_text(reader, &cursor, &member->type_name));
    member->type = (mtl_data_type)mtli_cursor_u32(&cursor);
    member->components = mtli_cursor_u32(&cursor);
    member->columns = mtli_cursor_u32(&cursor);
    member->offset_bytes = mtli_cursor_u32(&cursor);
    member->size_bytes = mtli_cursor_u32(&cursor);
    member->array_length = mtli_cursor_u32(&cursor);
    member->member_count = mtli_cursor_u32(&cursor);
    MTL_TRY(check_member(member, offset));
  }
  return MTL_OK;
}

// Takes the next members as those of something of size_bytes, and after them
// theirs. No member lies outside of what it is a member of.
static mtl_status take_members(container_reader *reader, uint32_t count,
                               uint32_t size_bytes, int depth,
                               const mtl_member **out_members) {
  const section_view *section = &reader->sections[SECTION_MEMBERS];
  const uint64_t offset =
      section->offset +
      reader->members_taken * container_record_bytes[SECTION_MEMBERS];
  *out_members = NULL;
  if (count == 0) {
    return MTL_OK;
  }
  if (count > section->count - reader->members_taken ||
      depth > CONTAINER_MEMBER_DEPTH) {
    return bad_record(SECTION_MEMBERS, offset, "the count of members", count);
  }
  mtl_member *members = reader->members + reader->members_taken;
  reader->members_taken += count;
  *out_members = members;
  for (uint32_t i = 0; i < count; ++i) {
    const uint64_t end =
        members[i].offset_bytes +
        (uint64_t)members[i].size_bytes * members[i].array_length;
    if (end > size_bytes) {
      return bad_record(SECTION_MEMBERS, offset, "the end of a member", end);
    }
    MTL_TRY(take_members(reader, members[i].member_count, members[i].size_bytes,
                         depth + 1, &members[i].members));
  }
  return MTL_OK;
}

static mtl_status check_builtin(const mtli_parameter *parameter,
                                uint64_t offset) {
  const uint32_t bytes = parameter->builtin_component_bytes;
  if ((uint32_t)parameter->builtin >= MTLI_BUILTIN_COUNT) {
    return bad_record(SECTION_PARAMETERS, offset, "the built-in input",
                      (uint32_t)parameter->builtin);
  }
  if (parameter->builtin == MTLI_BUILTIN_NONE) {
    return MTL_OK;
  }
  if (parameter->builtin_components < 1 || parameter->builtin_components > 3) {
    return bad_record(SECTION_PARAMETERS, offset, "the built-in's components",
                      parameter->builtin_components);
  }
  if (bytes != 2 && bytes != 4) {
    return bad_record(SECTION_PARAMETERS, offset,
                      "the bytes of a built-in's component", bytes);
  }
  return MTL_OK;
}

// Reads the extents of a tensor.
static mtl_status take_extents(container_reader *reader, mtli_cursor *cursor,
                               uint64_t offset, mtl_argument *argument) {
  const char *text = NULL;
  MTL_TRY(take_text(reader, cursor, &text));
  int64_t extents[MTL_MAX_TENSOR_RANK];
  uint32_t rank = 0;
  while (*text != '\0') {
    char *end = NULL;
    const int64_t extent = strtoll(text, &end, 10);
    if (rank == MTL_MAX_TENSOR_RANK || end == text || extent < -1 ||
        (*end != '\0' && *end != ' ')) {
      return bad_record(SECTION_PARAMETERS, offset, "a tensor's extent", rank);
    }
    extents[rank++] = extent;
    text = end + (*end == ' ');
  }
  argument->tensor_rank = rank;
  if (rank) {
    int64_t *copy =
        mtli_arena_allocate(reader->arena, rank * sizeof *copy);
    if (!copy) {
      return mtli_fail(MTL_OUT_OF_MEMORY, "no memory for a code container");
    }
    argument->tensor_extents = memcpy(copy, extents, rank * sizeof *copy);
  }
  return MTL_OK;
}

static mtl_status read_parameter(container_reader *reader, mtli_cursor *cursor,
                                 mtli_parameter *parameter) {
  const uint64_t offset =
      reader->sections[SECTION_PARAMETERS].offset + cursor->offset;
  mtl_argument *argument = &parameter->argument;
  MTL_TRY(take_text(reader, cursor, &argument->name));
  MTL_TRY(take_text(reader, cursor, &argument->type_name));
  argument->kind = (mtl_argument_kind)mtli_cursor_u32(cursor);
  argument->index = mtli_cursor_u32(cursor);
  argument->access = (mtl_access)mtli_cursor_u32(cursor);
  argument->type = (mtl_data_type)mtli_cursor_u32(cursor);
  argument->components = mtli_cursor_u32(cursor);
  argument->size_bytes = mtli_cursor_u32(cursor);
  argument->alignment_bytes = mtli_cursor_u32(cursor);
  const uint32_t flags = mtli_cursor_u32(cursor);
  argument->is_reference = flags & PARAMETER_IS_REFERENCE;
  argument->is_active = flags & PARAMETER_IS_ACTIVE;
  argument->is_depth_texture = flags & PARAMETER_IS_DEPTH;
  parameter->is_constant = flags & PARAMETER_IS_CONSTANT;
  parameter->is_unused = flags & PARAMETER_IS_UNUSED;
  argument->array_length = mtli_cursor_u32(cursor);
  argument->texture_type = (mtl_texture_type)mtli_cursor_u32(cursor);
  parameter->builtin = (mtli_builtin)mtli_cursor_u32(cursor);
  parameter->builtin_components = mtli_cursor_u32(cursor);
  parameter->builtin_component_bytes = mtli_cursor_u32(cursor);
  parameter->enabling_constant = (int32_t)mtli_cursor_u32(cursor);
  MTL_TRY(take_text(reader, cursor, &parameter->condition));
  MTL_TRY(take_text(reader, cursor, &parameter->layout));
  MTL_TRY(take_extents(reader, cursor, offset, argument));
  argument->member_count = mtli_cursor_u32(cursor);
  MTL_TRY(take_members(reader, argument->member_count, argument->size_bytes, 1,
                       &argument->members));
  if (flags & ~(uint32_t)(PARAMETER_IS_REFERENCE | PARAMETER_IS_ACTIVE |
                          PARAMETER_IS_DEPTH | PARAMETER_IS_CONSTANT |
                          PARAMETER_IS_UNUSED)) {
    return bad_record(SECTION_PARAMETERS, offset, "the flags", flags);
  }
  const int64_t enabling = parameter->enabling_constant;
  const int64_t constant_count = (int64_t)reader->code->constant_count;
  if (enabling < MTLI_ENABLED_IF_DEFINED(constant_count - 1) ||
      enabling >= constant_count) {
    return bad_record(SECTION_PARAMETERS, offset, "the enabling constant",
                      (uint32_t)parameter->enabling_constant);
  }
  MTL_TRY(check_argument(argument, offset));
  return check_builtin(parameter, offset);
}

// Reads the parameters of the next kernel.
static mtl_status read_parameters(container_reader *reader, uint64_t offset,
                                  mtli_kernel *kernel) {
  const section_view *section = &reader->sections[SECTION_PARAMETERS];
  if (kernel->parameter_count > section->count - reader->parameters_read) {
    return bad_record(SECTION_KERNELS, offset, "the count of parameters",
                      kernel->parameter_count);
  }
  kernel->parameters = mtli_arena_allocate(
      reader->arena, kernel->parameter_count * sizeof *kernel->parameters);
  if (!kernel->parameters) {
    return out_of_memory(reader);
  }
  mtli_cursor cursor = cursor_at(reader, section->offset, section->size_bytes);
  cursor.offset = (size_t)reader->parameters_read *
                  container_record_bytes[SECTION_PARAMETERS];
  for (size_t i = 0; i < kernel->parameter_count; ++i) {
    MTL_TRY(read_parameter(reader, &cursor, &kernel->parameters[i]));
  }
  reader->parameters_read += kernel->parameter_count;
  return MTL_OK;
}

static mtl_status read_kernel(container_reader *reader, mtli_cursor *cursor,
                              mtli_kernel *kernel) {
  const uint64_t offset =
      reader->sections[SECTION_KERNELS].offset + cursor->offset;
  MTL_TRY(take_text(reader, cursor, &kernel->name));
  MTL_TRY(take_text(reader, cursor, &kernel->symbol));
  MTL_TRY(take_text(reader, cursor, &kernel->file));
  kernel->line = mtli_cursor_u32(cursor);
  kernel->parameter_count = mtli_cursor_u32(cursor);
  kernel->max_total_threads_per_threadgroup = mtli_cursor_u32(cursor);
  kernel->static_threadgroup_bytes = mtli_cursor_u32(cursor);
  kernel->tier = mtli_cursor_u32(cursor);
  const uint32_t flags = mtli_cursor_u32(cursor);
  if (kernel->tier > MTLI_TIER_SCREENED) {
    return bad_record(SECTION_KERNELS, offset, "the tier", kernel->tier);
  }
  if (flags >= KERNEL_FLAGS_END) {
    return bad_record(SECTION_KERNELS, offset, "the group class", flags);
  }
  kernel->group_class.row = flags & KERNEL_ROW_MASK;
  kernel->group_class.is_single = (flags & KERNEL_IS_SINGLE) != 0;
  kernel->group_class.is_exact = (flags & KERNEL_IS_EXACT) != 0;
  kernel->group_class.is_uneven = (flags & KERNEL_IS_UNEVEN) != 0;
  kernel->group_class.is_whole = (flags & KERNEL_IS_WHOLE) != 0;
  kernel->group_class.is_far = (flags & KERNEL_IS_FAR) != 0;
  kernel->group_class.simdgroups =
      flags >> KERNEL_SIMDGROUPS_SHIFT & KERNEL_SIMDGROUPS_MASK;
  kernel->facts = mtli_cpu_facts_of(flags);
  kernel->is_visible = (flags & KERNEL_IS_VISIBLE) != 0;
  return read_parameters(reader, offset, kernel);
}

static mtl_status read_kernels(container_reader *reader) {
  const section_view *section = &reader->sections[SECTION_KERNELS];
  mtli_code *code = reader->code;
  code->kernels = mtli_arena_allocate(
      reader->arena, (size_t)section->count * sizeof *code->kernels);
  if (!code->kernels) {
    return out_of_memory(reader);
  }
  code->kernel_count = (size_t)section->count;
  mtli_cursor cursor = cursor_at(reader, section->offset, section->size_bytes);
  for (size_t i = 0; i < code->kernel_count; ++i) {
    MTL_TRY(read_kernel(reader, &cursor, &code->kernels[i]));
  }
  if (reader->members_taken != reader->sections[SECTION_MEMBERS].count) {
    return bad_record(SECTION_KERNELS, section->offset,
                      "the count of members of all parameters",
                      reader->members_taken);
  }
  if (reader->parameters_read != reader->sections[SECTION_PARAMETERS].count) {
    return bad_record(SECTION_KERNELS, section->offset,
                      "the count of parameters of all kernels",
                      reader->parameters_read);
  }
  return MTL_OK;
}

static mtl_status read_constant(container_reader *reader, mtli_cursor *cursor,
                                mtli_constant *constant) {
  const uint64_t offset =
      reader->sections[SECTION_CONSTANTS].offset + cursor->offset;
  MTL_TRY(take_text(reader, cursor, &constant->info.name));
  MTL_TRY(take_text(reader, cursor, &constant->symbol));
  constant->info.index = mtli_cursor_u32(cursor);
  constant->info.type = (mtl_data_type)mtli_cursor_u32(cursor);
  constant->info.components = mtli_cursor_u32(cursor);
  const uint32_t required = mtli_cursor_u32(cursor);
  constant->info.required = required;
  if (constant->info.type == MTL_TYPE_NONE ||
      (uint32_t)constant->info.type > MTL_TYPE_FLOAT) {
    return bad_record(SECTION_CONSTANTS, offset, "the type",
                      (uint32_t)constant->info.type);
  }
  if (constant->info.components < 1 || constant->info.components > 4) {
    return bad_record(SECTION_CONSTANTS, offset, "the count of components",
                      constant->info.components);
  }
  if (required > 1) {
    return bad_record(SECTION_CONSTANTS, offset, "required", required);
  }
  return MTL_OK;
}

static mtl_status read_constants(container_reader *reader) {
  const section_view *section = &reader->sections[SECTION_CONSTANTS];
  mtli_code *code = reader->code;
  code->constants = mtli_arena_allocate(
      reader->arena, (size_t)section->count * sizeof *code->constants);
  if (!code->constants) {
    return out_of_memory(reader);
  }
  code->constant_count = (size_t)section->count;
  mtli_cursor cursor = cursor_at(reader, section->offset, section->size_bytes);
  for (size_t i = 0; i < code->constant_count; ++i) {
    const mtli_constant *constants = code->constants;
    MTL_TRY(read_constant(reader, &cursor, &code->constants[i]));
    if (i > 0 && constants[i].info.index < constants[i - 1].info.index) {
      return bad_record(SECTION_CONSTANTS, section->offset,
                        "an index that does not rise", constants[i].info.index);
    }
  }
  return MTL_OK;
}

static mtl_status read_blob(container_reader *reader, mtli_cursor *cursor,
                            mtli_blob *blob) {
  const section_view *data = &reader->sections[SECTION_DATA];
  const uint64_t at = reader->sections[SECTION_BLOBS].offset + cursor->offset;
  const uint32_t kind = mtli_cursor_u32(cursor);
  const uint32_t reserved = mtli_cursor_u32(cursor);
  MTL_TRY(take_text(reader, cursor, &blob->target));
  const uint64_t offset = mtli_cursor_u64(cursor);
  const uint64_t size = mtli_cursor_u64(cursor);
  if (kind < MTLI_BLOB_IR || kind > MTLI_BLOB_SOURCE) {
    return bad_record(SECTION_BLOBS, at, "the kind", kind);
  }
  if (reserved) {
    return bad_record(SECTION_BLOBS, at, "the reserved word", reserved);
  }
  if (offset % CONTAINER_ALIGNMENT != 0 || offset > data->size_bytes) {
    return bad_record(SECTION_BLOBS, at, "the offset", offset);
  }
  if (size > data->size_bytes - offset) {
    return bad_record(SECTION_BLOBS, at, "the size", size);
  }
  blob->kind = (mtli_blob_kind)kind;
  blob->bytes = reader->bytes + data->offset + offset;
  blob->size_bytes = (size_t)size;
  return MTL_OK;
}

static mtl_status read_blobs(container_reader *reader) {
  const section_view *section = &reader->sections[SECTION_BLOBS];
  mtli_code *code = reader->code;
  code->blobs = mtli_arena_allocate(
      reader->arena, (size_t)section->count * sizeof *code->blobs);
  if (!code->blobs) {
    return out_of_memory(reader);
  }
  code->blob_count = (size_t)section->count;
  mtli_cursor cursor = cursor_at(reader, section->offset, section->size_bytes);
  for (size_t i = 0; i < code->blob_count; ++i) {
    MTL_TRY(read_blob(reader, &cursor, &code->blobs[i]));
  }
  return MTL_OK;
}

mtl_status mtli_code_read(const void *bytes, size_t size_bytes,
                          mtli_arena *arena, mtli_code **out_code) {
  *out_code = NULL;
  container_reader reader = {
      .bytes = bytes, .size_bytes = size_bytes, .arena = arena};
  MTL_TRY(check_header(&reader));
  MTL_TRY(check_checksum(&reader));
  MTL_TRY(read_section_table(&reader));
  reader.code = mtli_arena_allocate(arena, sizeof *reader.code);
  if (!reader.code) {
    return out_of_memory(&reader);
  }
  MTL_TRY(read_texts(&reader));
  MTL_TRY(read_info(&reader));
  MTL_TRY(read_constants(&reader));
  MTL_TRY(read_members(&reader));
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
