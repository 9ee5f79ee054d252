// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// argument_encoder.c: writes members of an argument buffer by their ids, and
// tells where they lie; argument_layout.c knows.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/library/argument_layout.h"
#include "runtime/objects.h"

struct mtl_argument_encoder {
  mtli_object object;
  mtl_device *device;      // +1
  mtl_function *function;  // +1; NULL if made of descriptors
  mtli_argument_layout layout;
  mtl_buffer *target;  // +1; NULL for none
  size_t target_offset_bytes;
};

static void encoder_destroy(mtli_object *object) {
  mtl_argument_encoder *encoder = (mtl_argument_encoder *)object;
  mtl_device *device = encoder->device;
  mtl_buffer_release(encoder->target);  // -1
  mtli_argument_layout_clear(&encoder->layout);
  mtl_function_release(encoder->function);  // -1
  free(encoder);
  mtl_device_release(device);  // -1
}

// Makes an encoder around layout, which it takes, on failure too.
static mtl_status create(mtl_device *device, mtl_function *function,
                         mtli_argument_layout *layout, mtl_status status,
                         mtl_argument_encoder **out_encoder) {
  mtl_argument_encoder *encoder =
      status == MTL_OK ? calloc(1, sizeof *encoder) : NULL;
  if (!encoder) {
    mtli_argument_layout_clear(layout);
    return status == MTL_OK ? mtli_fail(MTL_OUT_OF_MEMORY,
                                        "no memory for an argument encoder")
                            : status;
  }
  mtli_object_init(&encoder->object, encoder_destroy);
  encoder->device = mtl_device_retain(device);        // +1
  encoder->function = mtl_function_retain(function);  // +1
  encoder->layout = *layout;
  *out_encoder = encoder;
  return MTL_OK;
}

// The same from the compiler's text, which the function keeps.
static mtl_status create_from_text(mtl_function *function, const char *text,
                                   mtl_argument_encoder **out_encoder) {
  mtli_argument_layout layout;
  const mtl_status status = mtli_argument_layout_read(text, &layout);
  return create(function->library->device, function, &layout, status,
                out_encoder);
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
    return create_from_text(function, parameter->layout, out_encoder);
  }
  return mtli_fail(MTL_NOT_FOUND,
                   "mtl_argument_encoder_create: function '%s' has no argument "
                   "[[buffer(%u)]]",
                   kernel->name, buffer_index);
}

mtl_status mtl_argument_encoder_create_from_descs(
    mtl_device *device, const mtl_argument_desc *descs, size_t count,
    mtl_argument_encoder **out_encoder) {
  static const char call[] = "mtl_argument_encoder_create_from_descs";
  if (!device || !out_encoder) {
    return mtli_fail(MTL_INVALID_ARGUMENT, "%s: %s is NULL", call,
                     device ? "out_encoder" : "device");
  }
  *out_encoder = NULL;
  MTL_TRY(mtli_device_check(device));
  if (!descs || !count) {
    return mtli_fail(MTL_INVALID_ARGUMENT, "%s: there are no descriptors",
                     call);
  }
  mtli_argument_layout layout;
  const mtl_status status = mtli_argument_layout_make(descs, count, &layout);
  return create(device, NULL, &layout, status, out_encoder);
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
  return encoder ? encoder->layout.length_bytes : 0;
}

size_t mtl_argument_encoder_alignment(const mtl_argument_encoder *encoder) {
  return encoder ? encoder->layout.alignment_bytes : 0;
}

// --- members -----------------------------------------------------------------

static const char *kind_name(mtl_member_kind kind) {
  static const char *const names[] = {
      [MTL_MEMBER_CONSTANT] = "a constant", [MTL_MEMBER_BUFFER] = "a buffer",
      [MTL_MEMBER_TEXTURE] = "a texture",   [MTL_MEMBER_SAMPLER] = "a sampler",
      [MTL_MEMBER_FUNCTION_TABLE] = "a function table",
      [MTL_MEMBER_PIPELINE] = "a pipeline",
      [MTL_MEMBER_INDIRECT_COMMANDS] = "an indirect command buffer",
  };
  return names[kind];
}

// Finds a member of any kind.
static mtl_status find_id(const mtl_argument_encoder *encoder, uint32_t id,
                          const mtl_argument_member **out_member,
                          const char *call) {
  if (!encoder) {
    return mtli_fail(MTL_INVALID_ARGUMENT, "%s: encoder is NULL", call);
  }
  *out_member = mtli_argument_layout_find(&encoder->layout, id);
  return *out_member ? MTL_OK
                     : mtli_fail(MTL_NOT_FOUND, "%s: no member has id %u", call,
                                 id);
}

static mtl_status find_member(const mtl_argument_encoder *encoder, uint32_t id,
                              mtl_member_kind kind,
                              const mtl_argument_member **out_member,
                              const char *call) {
  MTL_TRY(find_id(encoder, id, out_member, call));
  const mtl_member_kind found = (*out_member)->kind;
  return found == kind
             ? MTL_OK
             : mtli_fail(MTL_INVALID_ARGUMENT, "%s: member %u is %s, not %s",
                         call, id, kind_name(found), kind_name(kind));
}

// Bytes from the start of the struct to the element that has id.
static size_t offset_of(const mtl_argument_member *member, uint32_t id) {
  return member->offset_bytes + (id - member->id) * member->element_bytes;
}

const mtl_argument_member *mtl_argument_encoder_members(
    const mtl_argument_encoder *encoder, size_t *out_count) {
  if (out_count) {
    *out_count = encoder ? encoder->layout.count : 0;
  }
  return encoder ? encoder->layout.members : NULL;
}

mtl_status mtl_argument_encoder_offset(const mtl_argument_encoder *encoder,
                                       uint32_t id, size_t *out_offset_bytes) {
  static const char call[] = "mtl_argument_encoder_offset";
  const mtl_argument_member *member;
  if (!out_offset_bytes) {
    return mtli_fail(MTL_INVALID_ARGUMENT, "%s: out_offset_bytes is NULL",
                     call);
  }
  *out_offset_bytes = 0;
  MTL_TRY(find_id(encoder, id, &member, call));
  *out_offset_bytes = offset_of(member, id);
  return MTL_OK;
}

mtl_status mtl_argument_encoder_find(const mtl_argument_encoder *encoder,
                                     const char *name,
                                     const mtl_argument_member **out_member) {
  static const char call[] = "mtl_argument_encoder_find";
  if (!encoder || !name || !out_member) {
    return mtli_fail(MTL_INVALID_ARGUMENT, "%s: %s is NULL", call,
                     !encoder ? "encoder"
                     : !name  ? "name"
                              : "out_member");
  }
  *out_member = NULL;
  for (size_t i = 0; i < encoder->layout.count; i++) {
    if (*name && strcmp(encoder->layout.members[i].name, name) == 0) {
      *out_member = &encoder->layout.members[i];
      return MTL_OK;
    }
  }
  return mtli_fail(MTL_NOT_FOUND, "%s: no member is called '%s'", call, name);
}

// Gives the place of a member in the argument buffer.
static mtl_status find_place(const mtl_argument_encoder *encoder, uint32_t id,
                             mtl_member_kind kind, void **out_place,
                             const char *call) {
  const mtl_argument_member *found = NULL;
  MTL_TRY(find_member(encoder, id, kind, &found, call));
  if (!encoder->target) {
    return mtli_fail(MTL_INVALID_STATE, "%s: no argument buffer is set", call);
  }
  *out_place = (char *)encoder->target->contents +
               encoder->target_offset_bytes + offset_of(found, id);
  return MTL_OK;
}

mtl_status mtl_argument_encoder_create_nested(
    mtl_argument_encoder *encoder, uint32_t id,
    mtl_argument_encoder **out_encoder) {
  static const char call[] = "mtl_argument_encoder_create_nested";
  const mtl_argument_member *found = NULL;
  if (!out_encoder) {
    return mtli_fail(MTL_INVALID_ARGUMENT, "%s: out_encoder is NULL", call);
  }
  *out_encoder = NULL;
  MTL_TRY(find_member(encoder, id, MTL_MEMBER_BUFFER, &found, call));
  const char *nested = encoder->layout.nested[found - encoder->layout.members];
  if (!nested) {
    return mtli_fail(MTL_INVALID_ARGUMENT,
                     "%s: member %u points to no struct with resources or "
                     "[[id(n)]]",
                     call, id);
  }
  return create_from_text(encoder->function, nested, out_encoder);
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
  if (buffer && (offset_bytes % encoder->layout.alignment_bytes ||
                 offset_bytes > buffer->length_bytes ||
                 buffer->length_bytes - offset_bytes < encoder->layout.length_bytes)) {
    return mtli_fail(MTL_INVALID_ARGUMENT,
                     "%s: %" PRIu64 " bytes at offset %zu, a multiple of "
                     "%" PRIu64 ", do not lie in buffer '%s' of %zu bytes",
                     call, encoder->layout.length_bytes, offset_bytes,
                     encoder->layout.alignment_bytes, mtl_buffer_label(buffer),
                     buffer->length_bytes);
  }
  mtl_buffer *earlier = encoder->target;
  encoder->target = mtl_buffer_retain(buffer);  // +1
  encoder->target_offset_bytes = offset_bytes;
  mtl_buffer_release(earlier);  // -1
  return MTL_OK;
}

static mtl_status set_word(mtl_argument_encoder *encoder, uint32_t id,
                           mtl_member_kind kind, uint64_t word,
                           const char *call) {
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
  return set_word(encoder, id, MTL_MEMBER_BUFFER,
                  buffer ? buffer->gpu_address + offset_bytes : 0, call);
}

mtl_status mtl_argument_encoder_set_texture(mtl_argument_encoder *encoder,
                                            mtl_texture *texture, uint32_t id) {
  return set_word(encoder, id, MTL_MEMBER_TEXTURE, texture ? texture->resource_id : 0,
                  "mtl_argument_encoder_set_texture");
}

mtl_status mtl_argument_encoder_set_sampler(mtl_argument_encoder *encoder,
                                            mtl_sampler *sampler, uint32_t id) {
  return set_word(encoder, id, MTL_MEMBER_SAMPLER,
                  sampler ? sampler->resource_id : 0,
                  "mtl_argument_encoder_set_sampler");
}

mtl_status mtl_argument_encoder_set_function_table(
    mtl_argument_encoder *encoder, mtl_function_table *table, uint32_t id) {
  return set_word(encoder, id, MTL_MEMBER_FUNCTION_TABLE,
                  table ? mtl_function_table_resource_id(table) : 0,
                  "mtl_argument_encoder_set_function_table");
}

mtl_status mtl_argument_encoder_set_pipeline(mtl_argument_encoder *encoder,
                                             mtl_pipeline *pipeline,
                                             uint32_t id) {
  uint64_t word = 0;
  if (pipeline) {
    MTL_TRY(mtl_pipeline_resource_id(pipeline, &word));
  }
  return set_word(encoder, id, MTL_MEMBER_PIPELINE, word,
                  "mtl_argument_encoder_set_pipeline");
}

mtl_status mtl_argument_encoder_set_indirect_commands(
    mtl_argument_encoder *encoder, mtl_indirect_command_buffer *commands,
    uint32_t id) {
  uint64_t word = 0;
  if (commands) {
    MTL_TRY(mtl_indirect_command_buffer_resource_id(commands, &word));
  }
  return set_word(encoder, id, MTL_MEMBER_INDIRECT_COMMANDS, word,
                  "mtl_argument_encoder_set_indirect_commands");
}

void *mtl_argument_encoder_constant_data(mtl_argument_encoder *encoder,
                                         uint32_t id) {
  void *place = NULL;
  const mtl_status status = find_place(encoder, id, MTL_MEMBER_CONSTANT, &place,
                                       "mtl_argument_encoder_constant_data");
  return status == MTL_OK ? place : NULL;
}
