// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// container_parameters.c: decodes the parameters of kernels and the members of
// structures in them, and checks each value.
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "code/container_reader.h"

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
    return mtli_bad_record(SECTION_PARAMETERS, offset, "the kind",
                           (uint32_t)argument->kind);
  }
  if (argument->index >= table_sizes[argument->kind]) {
    return mtli_bad_record(SECTION_PARAMETERS, offset, "the index",
                           argument->index);
  }
  if (argument->array_length > table_sizes[argument->kind] - argument->index) {
    return mtli_bad_record(SECTION_PARAMETERS, offset, "the array length",
                           argument->array_length);
  }
  if ((uint32_t)argument->texture_type > MTL_TEXTURE_BUFFER) {
    return mtli_bad_record(SECTION_PARAMETERS, offset, "the texture type",
                           (uint32_t)argument->texture_type);
  }
  if ((uint32_t)argument->access > MTL_ACCESS_WRITE_ONLY) {
    return mtli_bad_record(SECTION_PARAMETERS, offset, "the access",
                           (uint32_t)argument->access);
  }
  if ((uint32_t)argument->type > MTL_TYPE_FLOAT) {
    return mtli_bad_record(SECTION_PARAMETERS, offset, "the type",
                           (uint32_t)argument->type);
  }
  if (argument->components > 4) {
    return mtli_bad_record(SECTION_PARAMETERS, offset,
                           "the count of components", argument->components);
  }
  if (alignment & (alignment - 1)) {
    return mtli_bad_record(SECTION_PARAMETERS, offset, "the alignment",
                           alignment);
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
    return mtli_bad_record(SECTION_MEMBERS, offset, "the type",
                           (uint32_t)member->type);
  }
  const bool has_type = member->type != MTL_TYPE_NONE;
  if (member->components > 4 || has_type != (member->components > 0)) {
    return mtli_bad_record(SECTION_MEMBERS, offset, "the count of components",
                           member->components);
  }
  if (member->columns < 1 || member->columns > 4) {
    return mtli_bad_record(SECTION_MEMBERS, offset, "the count of columns",
                           member->columns);
  }
  if (has_type && member->size_bytes / member->columns <
                      member->components * type_bytes[member->type]) {
    return mtli_bad_record(SECTION_MEMBERS, offset, "the size",
                           member->size_bytes);
  }
  if (has_type && member->member_count > 0) {
    return mtli_bad_record(SECTION_MEMBERS, offset, "the count of members",
                           member->member_count);
  }
  return MTL_OK;
}

mtl_status mtli_reader_members(mtli_container_reader *reader) {
  const mtli_section_view *section = &reader->sections[SECTION_MEMBERS];
  reader->members = mtli_arena_allocate(
      reader->arena, (size_t)section->count * sizeof *reader->members);
  if (!reader->members) {
    return mtli_reader_out_of_memory(reader);
  }
  mtli_cursor cursor =
      mtli_reader_cursor(reader, section->offset, section->size_bytes);
  for (uint64_t i = 0; i < section->count; ++i) {
    const uint64_t offset = section->offset + cursor.offset;
    mtl_member *member = &reader->members[i];
    MTL_TRY(mtli_reader_take_text(reader, &cursor, &member->name));
    MTL_TRY(mtli_reader_take_text(reader, &cursor, &member->type_name));
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

// Takes the next members, as those of a struct of size_bytes, and after them
// the members' own. No member lies outside its struct.
static mtl_status take_members(mtli_container_reader *reader, uint32_t count,
                               uint32_t size_bytes, int depth,
                               const mtl_member **out_members) {
  const mtli_section_view *section = &reader->sections[SECTION_MEMBERS];
  const uint64_t offset =
      section->offset +
      reader->members_taken * container_record_bytes[SECTION_MEMBERS];
  *out_members = NULL;
  if (count == 0) {
    return MTL_OK;
  }
  if (count > section->count - reader->members_taken ||
      depth > CONTAINER_MEMBER_DEPTH) {
    return mtli_bad_record(SECTION_MEMBERS, offset, "the count of members",
                           count);
  }
  mtl_member *members = reader->members + reader->members_taken;
  reader->members_taken += count;
  *out_members = members;
  for (uint32_t i = 0; i < count; ++i) {
    const uint64_t end =
        members[i].offset_bytes +
        (uint64_t)members[i].size_bytes * members[i].array_length;
    if (end > size_bytes) {
      return mtli_bad_record(SECTION_MEMBERS, offset, "the end of a member",
                             end);
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
    return mtli_bad_record(SECTION_PARAMETERS, offset, "the built-in input",
                           (uint32_t)parameter->builtin);
  }
  if (parameter->builtin == MTLI_BUILTIN_NONE) {
    return MTL_OK;
  }
  if (parameter->builtin_components < 1 || parameter->builtin_components > 3) {
    return mtli_bad_record(SECTION_PARAMETERS, offset,
                           "the built-in's components",
                           parameter->builtin_components);
  }
  if (bytes != 2 && bytes != 4) {
    return mtli_bad_record(SECTION_PARAMETERS, offset,
                           "the bytes of a built-in's component", bytes);
  }
  return MTL_OK;
}

// Reads the extents of a tensor.
static mtl_status take_extents(mtli_container_reader *reader,
                               mtli_cursor *cursor, uint64_t offset,
                               mtl_argument *argument) {
  const char *text = NULL;
  MTL_TRY(mtli_reader_take_text(reader, cursor, &text));
  int64_t extents[MTL_MAX_TENSOR_RANK];
  uint32_t rank = 0;
  while (*text != '\0') {
    char *end = NULL;
    const int64_t extent = strtoll(text, &end, 10);
    if (rank == MTL_MAX_TENSOR_RANK || end == text || extent < -1 ||
        (*end != '\0' && *end != ' ')) {
      return mtli_bad_record(SECTION_PARAMETERS, offset, "a tensor's extent",
                             rank);
    }
    extents[rank++] = extent;
    text = end + (*end == ' ');
  }
  argument->tensor_rank = rank;
  if (rank) {
    int64_t *copy = mtli_arena_allocate(reader->arena, rank * sizeof *copy);
    if (!copy) {
      return mtli_fail(MTL_OUT_OF_MEMORY, "no memory for a code container");
    }
    argument->tensor_extents = memcpy(copy, extents, rank * sizeof *copy);
  }
  return MTL_OK;
}

static mtl_status read_parameter(mtli_container_reader *reader,
                                 mtli_cursor *cursor,
                                 mtli_parameter *parameter) {
  const uint64_t offset =
      reader->sections[SECTION_PARAMETERS].offset + cursor->offset;
  mtl_argument *argument = &parameter->argument;
  MTL_TRY(mtli_reader_take_text(reader, cursor, &argument->name));
  MTL_TRY(mtli_reader_take_text(reader, cursor, &argument->type_name));
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
  parameter->has_open_end = flags & PARAMETER_HAS_OPEN_END;
  argument->array_length = mtli_cursor_u32(cursor);
  argument->texture_type = (mtl_texture_type)mtli_cursor_u32(cursor);
  parameter->builtin = (mtli_builtin)mtli_cursor_u32(cursor);
  parameter->builtin_components = mtli_cursor_u32(cursor);
  parameter->builtin_component_bytes = mtli_cursor_u32(cursor);
  parameter->enabling_constant = (int32_t)mtli_cursor_u32(cursor);
  MTL_TRY(mtli_reader_take_text(reader, cursor, &parameter->condition));
  MTL_TRY(mtli_reader_take_text(reader, cursor, &parameter->layout));
  MTL_TRY(take_extents(reader, cursor, offset, argument));
  argument->member_count = mtli_cursor_u32(cursor);
  MTL_TRY(take_members(reader, argument->member_count, argument->size_bytes, 1,
                       &argument->members));
  if (flags & ~(uint32_t)(PARAMETER_IS_REFERENCE | PARAMETER_IS_ACTIVE |
                          PARAMETER_IS_DEPTH | PARAMETER_IS_CONSTANT |
                          PARAMETER_IS_UNUSED | PARAMETER_HAS_OPEN_END)) {
    return mtli_bad_record(SECTION_PARAMETERS, offset, "the flags", flags);
  }
  const int64_t enabling = parameter->enabling_constant;
  const int64_t constant_count = (int64_t)reader->code->constant_count;
  if (enabling < MTLI_ENABLED_IF_DEFINED(constant_count - 1) ||
      enabling >= constant_count) {
    return mtli_bad_record(SECTION_PARAMETERS, offset, "the enabling constant",
                           (uint32_t)parameter->enabling_constant);
  }
  MTL_TRY(check_argument(argument, offset));
  return check_builtin(parameter, offset);
}

// Reads the parameters of the next kernel.
mtl_status mtli_reader_parameters(mtli_container_reader *reader,
                                  uint64_t offset, mtli_kernel *kernel) {
  const mtli_section_view *section = &reader->sections[SECTION_PARAMETERS];
  if (kernel->parameter_count > section->count - reader->parameters_read) {
    return mtli_bad_record(SECTION_KERNELS, offset, "the count of parameters",
                           kernel->parameter_count);
  }
  kernel->parameters = mtli_arena_allocate(
      reader->arena, kernel->parameter_count * sizeof *kernel->parameters);
  if (!kernel->parameters) {
    return mtli_reader_out_of_memory(reader);
  }
  mtli_cursor cursor =
      mtli_reader_cursor(reader, section->offset, section->size_bytes);
  cursor.offset = (size_t)reader->parameters_read *
                  container_record_bytes[SECTION_PARAMETERS];
  for (size_t i = 0; i < kernel->parameter_count; ++i) {
    MTL_TRY(read_parameter(reader, &cursor, &kernel->parameters[i]));
  }
  reader->parameters_read += kernel->parameter_count;
  return MTL_OK;
}
