// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// members.c: reads members of structs from air.struct_type_info, and the layout
// of argument buffers.
//
// A node lists for each member: offset, size of an element, elements of an
// array or 0, the type's name, the member's name; and behind that may come
// "air.struct_type_info" with a node of the member's own members, and
// "air.indirect_argument" with one that describes a resource.
#include <stdio.h>
#include <string.h>

#include "compiler/air/air.h"

enum { MEMBER_OPERANDS = 5, MOST_DEPTH = 16 };

typedef struct member_entry {
  uint32_t offset_bytes, size_bytes, array_length;
  const char *type_name, *name;
  LLVMValueRef members;   // a node, or NULL
  LLVMValueRef argument;  // likewise: a resource's
} member_entry;

// Reads the entry at *at and moves *at past it.
static bool next_entry(air_translation *t, LLVMValueRef *operands,
                       unsigned count, unsigned *at, member_entry *out) {
  if (*at + MEMBER_OPERANDS > count) {
    return false;
  }
  LLVMValueRef *first = operands + *at;
  *out = (member_entry){
      .offset_bytes = (uint32_t)air_integer(first[0], 0),
      .size_bytes = (uint32_t)air_integer(first[1], 0),
      .array_length = (uint32_t)air_integer(first[2], 0),
      .type_name = air_text(t, first[3]),
      .name = air_text(t, first[4])};
  *at += MEMBER_OPERANDS;
  while (*at + 1 < count) {
    const char *word = air_text(t, operands[*at]);
    if (word && strcmp(word, "air.struct_type_info") == 0) {
      out->members = operands[*at + 1];
    } else if (word && strcmp(word, "air.indirect_argument") == 0) {
      out->argument = operands[*at + 1];
    } else {
      break;
    }
    *at += 2;
  }
  return out->type_name && out->name;
}

// "float4x3" to its component, columns and rows.
static bool parse_matrix(const char *name, mtl_data_type *type,
                         uint32_t *columns, uint32_t *rows) {
  const size_t length = strlen(name);
  char component[32];
  if (length < 4 || length >= sizeof component || name[length - 2] != 'x') {
    return false;
  }
  *columns = (uint32_t)(name[length - 3] - '0');
  *rows = (uint32_t)(name[length - 1] - '0');
  snprintf(component, sizeof component, "%.*s%u", (int)length - 3, name, *rows);
  uint32_t ignored;
  return *columns >= 2 && *columns <= 4 && *rows >= 2 && *rows <= 4 &&
         air_parse_type(component, type, &ignored);
}

const char *air_atomic_type(air_translation *t, const char *type_name,
                            LLVMValueRef members, const char **out_inner) {
  unsigned count, at = 0;
  LLVMValueRef *operands = air_node(t, members, &count);
  member_entry entry;
  if (!strstr(type_name, "_atomic") ||
      !next_entry(t, operands, count, &at, &entry) || at != count ||
      strcmp(entry.name, "__s") != 0) {
    return NULL;
  }
  char name[64];
  const bool has_word = strcmp(entry.type_name, "int") == 0 ||
                        strcmp(entry.type_name, "uint") == 0 ||
                        strcmp(entry.type_name, "float") == 0 ||
                        strcmp(entry.type_name, "bool") == 0;
  snprintf(name, sizeof name, has_word ? "atomic_%.40s" : "atomic<%.40s>",
           entry.type_name);
  *out_inner = entry.type_name;
  return air_copy_text(t, name, strlen(name));
}

static const mtl_member *read_members(air_translation *t, LLVMValueRef node,
                                      uint32_t *out_count, int depth) {
  unsigned count, at = 0;
  LLVMValueRef *operands = air_node(t, node, &count);
  mtl_member *members =
      air_allocate(t, (count / MEMBER_OPERANDS + 1) * sizeof *members);
  *out_count = 0;
  member_entry entry;
  while (depth < MOST_DEPTH && next_entry(t, operands, count, &at, &entry)) {
    mtl_member *member = &members[(*out_count)++];
    const char *type_name = entry.type_name, *inner = NULL;
    const char *atomic =
        entry.members ? air_atomic_type(t, type_name, entry.members, &inner)
                      : NULL;
    if (atomic) {
      type_name = inner;
      entry.members = NULL;
    }
    *member = (mtl_member){
        .name = entry.name,
        .type_name = atomic ? atomic : type_name,
        .columns = 1,
        .offset_bytes = entry.offset_bytes,
        .size_bytes = entry.size_bytes,
        .array_length = entry.array_length ? entry.array_length : 1};
    if (!air_parse_type(type_name, &member->type, &member->components) &&
        !parse_matrix(type_name, &member->type, &member->columns,
                      &member->components)) {
      member->type = MTL_TYPE_NONE;
      member->components = 0;
      member->columns = 1;
    }
    if (entry.members) {
      member->members =
          read_members(t, entry.members, &member->member_count, depth + 1);
    }
  }
  return members;
}

const mtl_member *air_members(air_translation *t, LLVMValueRef node,
                              uint32_t *out_count) {
  const mtl_member *members = read_members(t, node, out_count, 0);
  return *out_count ? members : NULL;
}

// --- argument buffers --------------------------------------------------------

typedef struct layout_text {
  char text[4096];
  size_t length;
  bool has_resource;
} layout_text;

static void append(air_translation *t, layout_text *out, const char *word) {
  const size_t length = strlen(word);
  if (out->length + length + 2 > sizeof out->text) {
    air_fail(t, MTL_UNSUPPORTED, "an argument buffer with too many members");
    return;
  }
  out->length += (size_t)sprintf(out->text + out->length, "%s%s",
                                 out->length ? " " : "", word);
}

static void append_number(air_translation *t, layout_text *out,
                          uint64_t number) {
  char text[24];
  snprintf(text, sizeof text, "%llu", (unsigned long long)number);
  append(t, out, text);
}

// Returns the kind of an argument buffer's resource, as a letter of the layout.
static char kind_of(air_translation *t, LLVMValueRef argument,
                    uint32_t *out_id) {
  unsigned count;
  LLVMValueRef *operands = air_node(t, argument, &count);
  char kind = 'c';
  *out_id = 0;
  for (unsigned i = 0; i < count; ++i) {
    const char *word = air_text(t, operands[i]);
    if (!word) {
      continue;
    }
    if (strcmp(word, "air.buffer") == 0 ||
        strcmp(word, "air.indirect_buffer") == 0) {
      kind = 'b';
    } else if (strcmp(word, "air.texture") == 0) {
      kind = 't';
    } else if (strcmp(word, "air.sampler") == 0) {
      kind = 's';
    } else if (strcmp(word, "air.visible_function_table") == 0) {
      kind = 'f';
    } else if (strcmp(word, "air.command_buffer") == 0) {
      kind = 'i';
    } else if (strcmp(word, "air.compute_pipeline_state") == 0) {
      kind = 'p';
    } else if (strcmp(word, "air.location_index") == 0 && i + 1 < count) {
      *out_id = (uint32_t)air_integer(operands[i + 1], 0);
    }
  }
  return kind;
}

static void append_members(air_translation *t, layout_text *out,
                           LLVMValueRef node, const char *path,
                           uint32_t base_bytes, int depth) {
  unsigned count, at = 0;
  LLVMValueRef *operands = air_node(t, node, &count);
  member_entry entry;
  while (depth < MOST_DEPTH && next_entry(t, operands, count, &at, &entry)) {
    char name[256];
    snprintf(name, sizeof name, "%s%s%s", path, *path ? "." : "", entry.name);
    if (entry.members && !entry.argument) {
      append_members(t, out, entry.members, name,
                     base_bytes + entry.offset_bytes, depth + 1);
      continue;
    }
    uint32_t id;
    const char kind[] = {kind_of(t, entry.argument, &id), '\0'};
    out->has_resource |= kind[0] != 'c' || entry.argument;
    append_number(t, out, id);
    append_number(t, out, base_bytes + entry.offset_bytes);
    append(t, out, kind);
    append_number(t, out, entry.array_length ? entry.array_length : 1);
    append_number(t, out, entry.size_bytes);
    append(t, out, *name ? name : "-");
  }
}

const char *air_layout(air_translation *t, LLVMValueRef node,
                       uint32_t size_bytes, uint32_t alignment_bytes) {
  layout_text *out = air_allocate(t, sizeof *out);
  append_number(t, out, size_bytes);
  append_number(t, out, alignment_bytes);
  append_members(t, out, node, "", 0, 0);
  return out->has_resource ? out->text : NULL;
}
