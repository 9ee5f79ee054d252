// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// argument_layout.c: reads the layout that the compiler wrote for an argument
// buffer, and makes the same of descriptors.
#include "runtime/library/argument_layout.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"

void mtli_argument_layout_clear(mtli_argument_layout *layout) {
  free(layout->members);
  free(layout->nested);
  mtli_arena_clear(&layout->names);
  *layout = (mtli_argument_layout){0};
}

const mtl_argument_member *mtli_argument_layout_find(
    const mtli_argument_layout *layout, uint32_t id) {
  for (size_t i = 0; i < layout->count; i++) {
    const mtl_argument_member *member = &layout->members[i];
    if (id >= member->id && id - member->id < member->count) {
      return member;
    }
  }
  return NULL;
}

// Appends a member, with room for count of them in all.
static mtl_status append(mtli_argument_layout *layout, size_t *capacity,
                         const mtl_argument_member *member,
                         const char *nested) {
  if (layout->count == *capacity) {
    const size_t wanted = *capacity ? 2 * *capacity : 16;
    mtl_argument_member *members =
        realloc(layout->members, wanted * sizeof *members);
    layout->members = members ? members : layout->members;
    const char **texts = realloc(layout->nested, wanted * sizeof *texts);
    layout->nested = texts ? texts : layout->nested;
    if (!members || !texts) {
      return mtli_fail(MTL_OUT_OF_MEMORY, "no memory for an argument encoder");
    }
    *capacity = wanted;
  }
  layout->members[layout->count] = *member;
  layout->nested[layout->count++] = nested;
  return MTL_OK;
}

// --- the compiler's text -----------------------------------------------------

// Skips "{ ... }" at text. Returns the text behind it.
static const char *skip_nested(const char *text) {
  size_t depth = 0;
  for (; *text; text++) {
    depth += *text == '{';
    if (*text == '}' && --depth == 0) {
      return text + 1;
    }
  }
  return text;
}

static bool kind_of(char letter, mtl_member_kind *out_kind) {
  static const char letters[] = {
      [MTL_MEMBER_CONSTANT] = 'c',       [MTL_MEMBER_BUFFER] = 'b',
      [MTL_MEMBER_TEXTURE] = 't',        [MTL_MEMBER_SAMPLER] = 's',
      [MTL_MEMBER_FUNCTION_TABLE] = 'f', [MTL_MEMBER_PIPELINE] = 'p',
      [MTL_MEMBER_INDIRECT_COMMANDS] = 'i',
  };
  const char *found = memchr(letters, letter, sizeof letters);
  *out_kind = found ? (mtl_member_kind)(found - letters) : MTL_MEMBER_CONSTANT;
  return found;
}

// Reads the member at *text and moves past it. Containers come from outside:
// false if a member does not fit the struct.
static bool read_member(mtli_argument_layout *layout, const char **text,
                        mtl_argument_member *out, const char **out_nested) {
  uint64_t id, offset_bytes, count, size_bytes;
  char letter;
  int name_start = 0, length = 0;
  if (sscanf(*text,
             " %" SCNu64 " %" SCNu64 " %c %" SCNu64 " %" SCNu64 " %n%*s%n", &id,
             &offset_bytes, &letter, &count, &size_bytes, &name_start,
             &length) != 5 ||
      length <= name_start) {
    return false;
  }
  const char *name = *text + name_start;
  size_t name_length = (size_t)(length - name_start);
  name_length = name_length == 1 && *name == '-' ? 0 : name_length;  // none
  *text += length;
  while (**text == ' ') {
    ++*text;
  }
  *out_nested = NULL;
  if (**text == '{') {
    *out_nested = *text + 1;
    *text = skip_nested(*text);
  }
  const uint64_t room = offset_bytes <= layout->length_bytes
                            ? layout->length_bytes - offset_bytes
                            : 0;
  *out = (mtl_argument_member){
      .name = mtli_arena_copy_text(&layout->names, name, name_length),
      .id = (uint32_t)id,
      .count = (uint32_t)count,
      .offset_bytes = offset_bytes,
      .element_bytes = size_bytes,
  };
  return out->name && kind_of(letter, &out->kind) && count <= UINT32_MAX &&
         id <= UINT32_MAX && (size_bytes == 0 || count <= room / size_bytes) &&
         (out->kind == MTL_MEMBER_CONSTANT || size_bytes == sizeof(uint64_t));
}

mtl_status mtli_argument_layout_read(const char *text,
                                     mtli_argument_layout *out_layout) {
  int length = 0;
  *out_layout = (mtli_argument_layout){0};
  if (sscanf(text, " %" SCNu64 " %" SCNu64 "%n", &out_layout->length_bytes,
             &out_layout->alignment_bytes, &length) != 2 ||
      out_layout->alignment_bytes == 0) {
    return mtli_fail(MTL_BAD_DATA, "the layout of an argument buffer is wrong");
  }
  text += length;
  size_t capacity = 0;
  mtl_argument_member next;
  const char *nested;
  while (read_member(out_layout, &text, &next, &nested)) {
    MTL_TRY(append(out_layout, &capacity, &next, nested));
  }
  return MTL_OK;
}

// --- descriptors -------------------------------------------------------------

static bool is_power_of_2(uint32_t value) {
  return value && !(value & (value - 1));
}

// Finds an element's size and alignment. As in MSL, three components take the
// room of four.
static mtl_status element_of(const mtl_argument_desc *desc, uint64_t *out_bytes,
                             uint64_t *out_alignment) {
  if ((unsigned)desc->kind > MTL_MEMBER_INDIRECT_COMMANDS) {
    return mtli_fail(MTL_INVALID_ARGUMENT, "member %u: kind %d does not exist",
                     desc->id, (int)desc->kind);
  }
  *out_bytes = *out_alignment = sizeof(uint64_t);
  if (desc->kind != MTL_MEMBER_CONSTANT) {
    return MTL_OK;
  }
  const uint32_t components = desc->components ? desc->components : 1;
  const uint32_t columns = desc->columns ? desc->columns : 1;
  const size_t scalar_bytes = mtl_data_type_size(desc->type);
  if (!scalar_bytes || components > 4 || columns > 4 ||
      (desc->alignment_bytes && !is_power_of_2(desc->alignment_bytes))) {
    return mtli_fail(MTL_INVALID_ARGUMENT,
                     "member %u: a constant has a type, up to 4 components and "
                     "4 columns, and an alignment that is a power of 2; they "
                     "are %d, %u, %u and %u",
                     desc->id, (int)desc->type, components, columns,
                     desc->alignment_bytes);
  }
  const uint64_t column_bytes =
      scalar_bytes * (components == 3 ? 4 : components);
  *out_bytes = column_bytes * columns;
  *out_alignment = desc->alignment_bytes > column_bytes ? desc->alignment_bytes
                                                        : column_bytes;
  return MTL_OK;
}

static int compare_ids(const void *left, const void *right) {
  const uint32_t a = ((const mtl_argument_desc *)left)->id;
  const uint32_t b = ((const mtl_argument_desc *)right)->id;
  return (a > b) - (a < b);
}

static uint64_t round_up(uint64_t bytes, uint64_t alignment_bytes) {
  return (bytes + alignment_bytes - 1) / alignment_bytes * alignment_bytes;
}

// Puts one member behind those before it.
static mtl_status place(mtli_argument_layout *layout, size_t *capacity,
                        const mtl_argument_desc *desc) {
  enum { MOST_ELEMENTS = 1 << 24 };  // far more than any device can bind
  uint64_t element_bytes, alignment_bytes;
  MTL_TRY(element_of(desc, &element_bytes, &alignment_bytes));
  const uint32_t count = desc->array_length ? desc->array_length : 1;
  const mtl_argument_member *last =
      layout->count ? &layout->members[layout->count - 1] : NULL;
  if (last && desc->id - last->id < last->count) {
    return mtli_fail(MTL_INVALID_ARGUMENT,
                     "member %u: its id is one of member %u's %u", desc->id,
                     last->id, last->count);
  }
  if (count > MOST_ELEMENTS || desc->id > UINT32_MAX - count) {
    return mtli_fail(MTL_INVALID_ARGUMENT,
                     "member %u: an array of %u elements is too long", desc->id,
                     count);
  }
  const mtl_argument_member member = {
      .name = "",
      .id = desc->id,
      .count = count,
      .kind = desc->kind,
      .offset_bytes = round_up(layout->length_bytes, alignment_bytes),
      .element_bytes = element_bytes,
  };
  layout->length_bytes = member.offset_bytes + count * element_bytes;
  if (alignment_bytes > layout->alignment_bytes) {
    layout->alignment_bytes = alignment_bytes;
  }
  return append(layout, capacity, &member, NULL);
}

mtl_status mtli_argument_layout_make(const mtl_argument_desc *descs,
                                     size_t count,
                                     mtli_argument_layout *out_layout) {
  *out_layout = (mtli_argument_layout){.alignment_bytes = 1};
  mtl_argument_desc *sorted = malloc(count * sizeof *sorted);
  if (!sorted) {
    return mtli_fail(MTL_OUT_OF_MEMORY, "no memory for an argument encoder");
  }
  memcpy(sorted, descs, count * sizeof *sorted);
  qsort(sorted, count, sizeof *sorted, compare_ids);
  size_t capacity = 0;
  mtl_status status = MTL_OK;
  for (size_t i = 0; i < count && status == MTL_OK; i++) {
    status = place(out_layout, &capacity, &sorted[i]);
  }
  free(sorted);
  out_layout->length_bytes =
      round_up(out_layout->length_bytes, out_layout->alignment_bytes);
  return status;
}
