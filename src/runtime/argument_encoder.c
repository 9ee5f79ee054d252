// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// argument_encoder.c: reads the layout that the compiler wrote for an argument
// buffer (mtli_parameter.layout) and writes members by their ids.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mettle/argument_encoder.h"
#include "runtime/objects.h"

// Neighbours of one kind: ids id to id + count - 1, size_bytes each.
typedef struct member {
  uint64_t id;
  uint64_t offset_bytes;
  char kind;
  uint64_t count;
  uint64_t size_bytes;
  const char *nested;  // the layout that it leads to, in the function's text
} member;

struct mtl_argument_encoder {
  mtli_object object;
  mtl_function *function;  // +1
  uint64_t length_bytes;
  uint64_t alignment_bytes;
  member *members;  // [count]
  size_t count;
  mtl_buffer *target;  // +1; NULL for none
  size_t target_offset_bytes;
};

static void encoder_destroy(mtli_object *object) {
  mtl_argument_encoder *encoder = (mtl_argument_encoder *)object;
  mtl_function *function = encoder->function;
  mtl_buffer_release(encoder->target);  // -1
  free(encoder->members);
  free(encoder);
  mtl_function_release(function);  // -1
}

// --- the layout --------------------------------------------------------------

// Skips "{ ... }" at text. Returns what stands behind it.
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

// Reads the member at *text and moves past it. Containers come from outside:
// what does not fit the struct ends the list.
static bool read_member(const mtl_argument_encoder *encoder, const char **text,
                        member *out) {
  int length = 0;
  *out = (member){0};
  if (sscanf(*text, " %" SCNu64 " %" SCNu64 " %c %" SCNu64 " %" SCNu64 "%n",
             &out->id, &out->offset_bytes, &out->kind, &out->count,
             &out->size_bytes, &length) != 5) {
    return false;
  }
  *text += length;
  while (**text == ' ') {
    ++*text;
  }
  if (**text == '{') {
    out->nested = *text + 1;
    *text = skip_nested(*text);
  }
  const uint64_t room = out->offset_bytes <= encoder->length_bytes
                            ? encoder->length_bytes - out->offset_bytes
                            : 0;
  const bool is_handle = out->kind != 'c';
  return out->count <= UINT32_MAX && out->id <= UINT32_MAX &&
         (out->size_bytes == 0 || out->count <= room / out->size_bytes) &&
         (!is_handle || out->size_bytes == sizeof(uint64_t));
}

static mtl_status read_layout(mtl_argument_encoder *encoder, const char *text) {
  int length = 0;
  if (sscanf(text, " %" SCNu64 " %" SCNu64 "%n", &encoder->length_bytes,
             &encoder->alignment_bytes, &length) != 2 ||
      encoder->alignment_bytes == 0) {
    return mtli_fail(MTL_BAD_DATA, "the layout of an argument buffer is wrong");
  }
  text += length;
  size_t capacity = 0;
  member next;
  while (read_member(encoder, &text, &next)) {
    if (encoder->count == capacity) {
      capacity = capacity ? 2 * capacity : 16;
      member *grown =
          realloc(encoder->members, capacity * sizeof *encoder->members);
      if (!grown) {
        return mtli_fail(MTL_OUT_OF_MEMORY, "no memory for an encoder");
      }
      encoder->members = grown;
    }
    encoder->members[encoder->count++] = next;
  }
  return MTL_OK;
}

static mtl_status create(mtl_function *function, const char *layout,
                         mtl_argument_encoder **out_encoder) {
  mtl_argument_encoder *encoder = calloc(1, sizeof *encoder);
  if (!encoder) {
    return mtli_fail(MTL_OUT_OF_MEMORY, "no memory for an argument encoder");
  }
  mtli_object_init(&encoder->object, encoder_destroy);
  encoder->function = mtl_function_retain(function);  // +1
  const mtl_status status = read_layout(encoder, layout);
  if (status != MTL_OK) {
    mtl_argument_encoder_release(encoder);
    return status;
  }
  *out_encoder = encoder;
  return MTL_OK;
}

mtl_status mtl_argument_encoder_create(mtl_function *function,
                                       uint32_t buffer_index,
                                       mtl_argument_encoder **out_encoder) {
  if (!function || !out_encoder) {
    return mtli_fail(MTL_INVALID_ARGUMENT,
                     "mtl_argument_encoder_create: %s is NULL",
                     function ? "out_encoder" : "function");
  }
  *out_encoder = NULL;
  const mtli_kernel *kernel = function->kernel;
  for (size_t i = 0; i < kernel->parameter_count; i++) {
    const mtli_parameter *parameter = &kernel->parameters[i];
    if (parameter->builtin != MTLI_BUILTIN_NONE ||
        parameter->argument.kind != MTL_ARGUMENT_BUFFER ||
        parameter->argument.index != buffer_index) {
      continue;
    }
    if (!parameter->layout || !*parameter->layout) {
      return mtli_fail(MTL_INVALID_ARGUMENT,
                       "mtl_argument_encoder_create: argument '%s' "
                       "[[buffer(%u)]] of function '%s' is no struct with "
                       "resources or [[id(n)]]",
                       parameter->argument.name, buffer_index, kernel->name);
    }
    return create(function, parameter->layout, out_encoder);
  }
  return mtli_fail(MTL_NOT_FOUND,
                   "mtl_argument_encoder_create: function '%s' has no argument "
                   "[[buffer(%u)]]",
                   kernel->name, buffer_index);
}

mtl_argument_encoder *mtl_argument_encoder_retain(
    mtl_argument_encoder *encoder) {
  if (encoder) {
    mtli_object_retain(&encoder->object);
  }
  return encoder;
}

void mtl_argument_encoder_release(mtl_argument_encoder *encoder) {
  if (encoder) {
    mtli_object_release(&encoder->object);
  }
}

size_t mtl_argument_encoder_encoded_length(
    const mtl_argument_encoder *encoder) {
  return encoder ? encoder->length_bytes : 0;
}

size_t mtl_argument_encoder_alignment(const mtl_argument_encoder *encoder) {
  return encoder ? encoder->alignment_bytes : 0;
}

// --- members -----------------------------------------------------------------

static const char *kind_name(char kind) {
  return kind == 'b'   ? "a buffer"
         : kind == 't' ? "a texture"
         : kind == 's' ? "a sampler"
         : kind == 'f' ? "a function table"
                       : "a constant";
}

static mtl_status find_member(const mtl_argument_encoder *encoder, uint32_t id,
                              char kind, const member **out_member,
                              const char *call) {
  if (!encoder) {
    return mtli_fail(MTL_INVALID_ARGUMENT, "%s: encoder is NULL", call);
  }
  for (size_t i = 0; i < encoder->count; i++) {
    const member *found = &encoder->members[i];
    if (id < found->id || id - found->id >= found->count) {
      continue;
    }
    if (found->kind != kind) {
      return mtli_fail(MTL_INVALID_ARGUMENT, "%s: member %u is %s, not %s",
                       call, id, kind_name(found->kind), kind_name(kind));
    }
    *out_member = found;
    return MTL_OK;
  }
  return mtli_fail(MTL_NOT_FOUND, "%s: no member has id %u", call, id);
}

// Gives the place of a member in the argument buffer.
static mtl_status find_place(const mtl_argument_encoder *encoder, uint32_t id,
                             char kind, void **out_place, const char *call) {
  const member *found = NULL;
  MTL_TRY(find_member(encoder, id, kind, &found, call));
  if (!encoder->target) {
    return mtli_fail(MTL_INVALID_STATE, "%s: no argument buffer is set", call);
  }
  *out_place = (char *)encoder->target->contents +
               encoder->target_offset_bytes + found->offset_bytes +
               (id - found->id) * found->size_bytes;
  return MTL_OK;
}

mtl_status mtl_argument_encoder_create_nested(
    mtl_argument_encoder *encoder, uint32_t id,
    mtl_argument_encoder **out_encoder) {
  static const char call[] = "mtl_argument_encoder_create_nested";
  const member *found = NULL;
  if (!out_encoder) {
    return mtli_fail(MTL_INVALID_ARGUMENT, "%s: out_encoder is NULL", call);
  }
  *out_encoder = NULL;
  MTL_TRY(find_member(encoder, id, 'b', &found, call));
  if (!found->nested) {
    return mtli_fail(MTL_INVALID_ARGUMENT,
                     "%s: member %u points to no struct with resources or "
                     "[[id(n)]]",
                     call, id);
  }
  return create(encoder->function, found->nested, out_encoder);
}

mtl_status mtl_argument_encoder_set_argument_buffer(
    mtl_argument_encoder *encoder, mtl_buffer *buffer, size_t offset_bytes) {
  static const char call[] = "mtl_argument_encoder_set_argument_buffer";
  if (!encoder) {
    return mtli_fail(MTL_INVALID_ARGUMENT, "%s: encoder is NULL", call);
  }
  if (buffer && !buffer->contents) {
    return mtli_fail(MTL_INVALID_ARGUMENT, "%s: buffer '%s' is private", call,
                     mtl_buffer_label(buffer));
  }
  if (buffer && (offset_bytes % encoder->alignment_bytes ||
                 offset_bytes > buffer->length_bytes ||
                 buffer->length_bytes - offset_bytes < encoder->length_bytes)) {
    return mtli_fail(MTL_INVALID_ARGUMENT,
                     "%s: %" PRIu64 " bytes at offset %zu, a multiple of "
                     "%" PRIu64 ", do not lie in buffer '%s' of %zu bytes",
                     call, encoder->length_bytes, offset_bytes,
                     encoder->alignment_bytes, mtl_buffer_label(buffer),
                     buffer->length_bytes);
  }
  mtl_buffer *earlier = encoder->target;
  encoder->target = mtl_buffer_retain(buffer);  // +1
  encoder->target_offset_bytes = offset_bytes;
  mtl_buffer_release(earlier);  // -1
  return MTL_OK;
}

static mtl_status set_word(mtl_argument_encoder *encoder, uint32_t id,
                           char kind, uint64_t word, const char *call) {
  void *place = NULL;
  MTL_TRY(find_place(encoder, id, kind, &place, call));
  memcpy(place, &word, sizeof word);
  return MTL_OK;
}

mtl_status mtl_argument_encoder_set_buffer(mtl_argument_encoder *encoder,
                                           mtl_buffer *buffer,
                                           size_t offset_bytes, uint32_t id) {
  static const char call[] = "mtl_argument_encoder_set_buffer";
  if (buffer && offset_bytes > buffer->length_bytes) {
    return mtli_fail(MTL_INVALID_ARGUMENT,
                     "%s: offset %zu is past the end of buffer '%s' of %zu "
                     "bytes",
                     call, offset_bytes, mtl_buffer_label(buffer),
                     buffer->length_bytes);
  }
  return set_word(encoder, id, 'b',
                  buffer ? buffer->gpu_address + offset_bytes : 0, call);
}

mtl_status mtl_argument_encoder_set_texture(mtl_argument_encoder *encoder,
                                            mtl_texture *texture, uint32_t id) {
  return set_word(encoder, id, 't', texture ? texture->resource_id : 0,
                  "mtl_argument_encoder_set_texture");
}

mtl_status mtl_argument_encoder_set_sampler(mtl_argument_encoder *encoder,
                                            mtl_sampler *sampler, uint32_t id) {
  return set_word(encoder, id, 's', sampler ? sampler->bits : 0,
                  "mtl_argument_encoder_set_sampler");
}

mtl_status mtl_argument_encoder_set_function_table(
    mtl_argument_encoder *encoder, mtl_function_table *table, uint32_t id) {
  return set_word(encoder, id, 'f',
                  table ? mtl_function_table_resource_id(table) : 0,
                  "mtl_argument_encoder_set_function_table");
}

void *mtl_argument_encoder_constant_data(mtl_argument_encoder *encoder,
                                         uint32_t id) {
  void *place = NULL;
  const mtl_status status = find_place(encoder, id, 'c', &place,
                                       "mtl_argument_encoder_constant_data");
  return status == MTL_OK ? place : NULL;
}
