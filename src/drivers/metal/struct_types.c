// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// struct_types.c: converts an MTLStructType to the runtime's members, and to
// the layout that argument encoders read.
#include "drivers/metal/struct_types.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory/bytes.h"

// MTLDataType numbers of types that are no values.
enum { STRUCT = 1, ARRAY = 2, TEXTURE = 58, SAMPLER = 59, POINTER = 60,
       PIPELINE = 79, COMMANDS = 80, FUNCTION_TABLE = 115 };
// The nesting depth to which structs and the pointers between them are
// followed.
enum { DEPTH_LIMIT = 8, HANDLE_BYTES = 8 };

// --- one member, arrays looked through -----------------------------------------

typedef struct shape {
  unsigned long type;   // MTLDataType of an element
  uint32_t count;       // elements of all dimensions
  uint32_t size_bytes;  // from one to the next; 0 if not known
  id struct_type;       // of an element; or nil
  id pointee;           // MTLStructType that an element points to; or nil
  unsigned long id_stride;
} shape;

static uint32_t value_bytes(unsigned long type) {
  mtl_data_type scalar;
  uint32_t components, columns;
  if (!metal_data_type_read(type, &scalar, &components, &columns)) {
    return type == STRUCT || type == ARRAY ? 0 : HANDLE_BYTES;
  }
  // A vector of three takes the room of four.
  return (uint32_t)mtl_data_type_size(scalar) * columns *
         (components == 3 ? 4 : components);
}

static id pointee_of(id pointer) {
  return pointer ? GET_OBJECT(pointer, elementStructType) : NULL;
}

static shape shape_of(id member) {
  shape it = {.type = GET_NUMBER(member, dataType), .count = 1, .id_stride = 1};
  id array = it.type == ARRAY ? GET_OBJECT(member, arrayType) : NULL;
  if (!array) {
    it.struct_type = it.type == STRUCT ? GET_OBJECT(member, structType) : NULL;
    it.pointee =
        it.type == POINTER ? pointee_of(GET_OBJECT(member, pointerType)) : NULL;
    it.size_bytes = value_bytes(it.type);
    return it;
  }
  while (array) {
    it.count *= (uint32_t)GET_NUMBER(array, arrayLength);
    it.type = GET_NUMBER(array, elementType);
    it.size_bytes = (uint32_t)GET_NUMBER(array, stride);
    it.id_stride = GET_NUMBER(array, argumentIndexStride);
    it.struct_type =
        it.type == STRUCT ? GET_OBJECT(array, elementStructType) : NULL;
    it.pointee = it.type == POINTER
                     ? pointee_of(GET_OBJECT(array, elementPointerType))
                     : NULL;
    array = it.type == ARRAY ? GET_OBJECT(array, elementArrayType) : NULL;
  }
  return it;
}

static unsigned long members_count(id type, id *out_members) {
  *out_members = type ? GET_OBJECT(type, members) : NULL;
  return *out_members ? GET_NUMBER(*out_members, count) : 0;
}

static id member_at(id members, unsigned long index) {
  return SEND(id(*)(id, SEL, unsigned long), members, objectAtIndex, index);
}

// --- the runtime's members -----------------------------------------------------

static const mtl_member *read_members(id type, mtli_arena *arena, int depth,
                                      uint32_t *out_count);

static void read_member(id from, mtli_arena *arena, int depth,
                        mtl_member *out) {
  const char *name = metal_text(GET_OBJECT(from, name));
  const shape it = shape_of(from);
  out->name = mtli_arena_copy_text(arena, name, strlen(name));
  out->type_name = "";
  metal_data_type_read(it.type, &out->type, &out->components, &out->columns);
  if (out->type != MTL_TYPE_NONE && out->columns == 1) {
    char text[32];
    snprintf(text, sizeof text, out->components > 1 ? "%s%u" : "%s",
             metal_data_type_name(out->type), out->components);
    out->type_name = mtli_arena_copy_text(arena, text, strlen(text));
  }
  out->offset_bytes = (uint32_t)GET_NUMBER(from, offset);
  out->size_bytes = it.size_bytes;
  out->array_length = it.count;
  out->members =
      read_members(it.struct_type, arena, depth + 1, &out->member_count);
  for (uint32_t i = 0; i < out->member_count && !it.size_bytes; i++) {
    const mtl_member *last = &out->members[i];
    const uint32_t end =
        last->offset_bytes + last->size_bytes * last->array_length;
    out->size_bytes = end > out->size_bytes ? end : out->size_bytes;
  }
}

static const mtl_member *read_members(id type, mtli_arena *arena, int depth,
                                      uint32_t *out_count) {
  id from = NULL;
  const unsigned long count =
      depth < DEPTH_LIMIT ? members_count(type, &from) : 0;
  mtl_member *members =
      count ? mtli_arena_allocate(arena, count * sizeof *members) : NULL;
  *out_count = members ? (uint32_t)count : 0;
  for (uint32_t i = 0; i < *out_count; i++) {
    read_member(member_at(from, i), arena, depth, &members[i]);
  }
  return members;
}

void metal_struct_read(id type, mtli_arena *arena, mtl_argument *argument) {
  argument->members = read_members(type, arena, 0, &argument->member_count);
}

// --- the layout of an argument buffer --------------------------------------------

// True if a struct contains a resource or a pointer.
static bool has_resources(id type, int depth) {
  id members = NULL;
  const unsigned long count =
      depth < DEPTH_LIMIT ? members_count(type, &members) : 0;
  for (unsigned long i = 0; i < count; i++) {
    const shape it = shape_of(member_at(members, i));
    if (it.type == TEXTURE || it.type == SAMPLER || it.type == POINTER ||
        it.type == FUNCTION_TABLE || it.type == PIPELINE ||
        it.type == COMMANDS || has_resources(it.struct_type, depth + 1)) {
      return true;
    }
  }
  return false;
}

static char kind_letter(unsigned long type) {
  return type == POINTER          ? 'b'
         : type == TEXTURE        ? 't'
         : type == SAMPLER        ? 's'
         : type == FUNCTION_TABLE ? 'f'
         : type == PIPELINE       ? 'p'
         : type == COMMANDS       ? 'i'
                                  : 'c';
}

// The base of a nested struct's members.
typedef struct place {
  unsigned long first_id;
  uint32_t offset_bytes;
  const char *path;
  int depth;
} place;

static void write_text(mtli_bytes *text, const char *more) {
  mtli_bytes_append(text, more, strlen(more));
}

static void write_members(mtli_bytes *text, id type, const place *at);

static uint32_t struct_end(id type, int depth) {
  id members = NULL;
  const unsigned long count =
      depth < DEPTH_LIMIT ? members_count(type, &members) : 0;
  uint32_t end = 0;
  for (unsigned long i = 0; i < count; i++) {
    const id member = member_at(members, i);
    const shape it = shape_of(member);
    const uint32_t size = it.size_bytes ? it.size_bytes
                                        : struct_end(it.struct_type, depth + 1);
    const uint32_t last =
        (uint32_t)GET_NUMBER(member, offset) + size * it.count;
    end = last > end ? last : end;
  }
  return (end + HANDLE_BYTES - 1) / HANDLE_BYTES * HANDLE_BYTES;
}

static void write_nested(mtli_bytes *text, id type, int depth) {
  char head[48];
  snprintf(head, sizeof head, " { %u %d", struct_end(type, depth),
           HANDLE_BYTES);
  write_text(text, head);
  const place at = {.path = "", .depth = depth};
  write_members(text, type, &at);
  write_text(text, " }");
}

static void write_structs(mtli_bytes *text, const shape *it, const place *at) {
  for (uint32_t i = 0; i < it->count; i++) {
    char path[256];
    snprintf(path, sizeof path, it->count > 1 ? "%s[%u]." : "%s.", at->path, i);
    const place inner = {at->first_id + i * it->id_stride,
                         at->offset_bytes + i * it->size_bytes, path,
                         at->depth + 1};
    write_members(text, it->struct_type, &inner);
  }
}

static void write_member(mtli_bytes *text, id member, const place *at) {
  const shape it = shape_of(member);
  char path[256], line[384];
  snprintf(path, sizeof path, "%s%s", at->path,
           metal_text(GET_OBJECT(member, name)));
  const place here = {at->first_id + GET_NUMBER(member, argumentIndex),
                      at->offset_bytes + (uint32_t)GET_NUMBER(member, offset),
                      path, at->depth};
  if (it.struct_type) {
    write_structs(text, &it, &here);
    return;
  }
  snprintf(line, sizeof line, " %lu %u %c %u %u %s", here.first_id,
           here.offset_bytes, kind_letter(it.type), it.count, it.size_bytes,
           *path ? path : "-");
  write_text(text, line);
  if (it.pointee && at->depth < DEPTH_LIMIT && has_resources(it.pointee, 0)) {
    write_nested(text, it.pointee, at->depth + 1);
  }
}

static void write_members(mtli_bytes *text, id type, const place *at) {
  id members = NULL;
  const unsigned long count =
      at->depth < DEPTH_LIMIT ? members_count(type, &members) : 0;
  for (unsigned long i = 0; i < count; i++) {
    write_member(text, member_at(members, i), at);
  }
}

char *metal_struct_layout(id type, const mtl_argument *argument,
                          mtli_arena *arena) {
  if (!has_resources(type, 0)) {
    return mtli_arena_copy_text(arena, "", 0);
  }
  mtli_bytes text = {0};
  char head[48];
  snprintf(head, sizeof head, "%u %u",
           argument->size_bytes ? argument->size_bytes : struct_end(type, 0),
           argument->alignment_bytes ? argument->alignment_bytes
                                     : HANDLE_BYTES);
  write_text(&text, head);
  const place at = {.path = ""};
  write_members(&text, type, &at);
  char *layout = text.failed ? NULL
                             : mtli_arena_copy_text(
                                   arena, (const char *)text.data, text.size);
  mtli_bytes_clear(&text);
  return layout;
}
