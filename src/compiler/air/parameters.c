// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// parameters.c: reads a kernel's parameters from the metadata that describes
// them, as the front end's facts, from which reflect.c builds the argument
// table.
#include <stdio.h>
#include <string.h>

#include "compiler/air/air.h"
#include "compiler/frontend/reflect.h"

bool air_parse_type(const char *name, mtl_data_type *out_type,
                    uint32_t *out_components) {
  static const struct {
    const char *name;
    mtl_data_type type;
  } types[] = {
      {"bool", MTL_TYPE_BOOL},     {"char", MTL_TYPE_CHAR},
      {"uchar", MTL_TYPE_UCHAR},   {"short", MTL_TYPE_SHORT},
      {"ushort", MTL_TYPE_USHORT}, {"int", MTL_TYPE_INT},
      {"uint", MTL_TYPE_UINT},     {"long", MTL_TYPE_LONG},
      {"ulong", MTL_TYPE_ULONG},   {"half", MTL_TYPE_HALF},
      {"bfloat", MTL_TYPE_BFLOAT}, {"float", MTL_TYPE_FLOAT},
  };
  const char *packed = "packed_";
  if (strncmp(name, packed, strlen(packed)) == 0) {
    name += strlen(packed);
  }
  for (size_t i = 0; i < sizeof types / sizeof *types; ++i) {
    const size_t length = strlen(types[i].name);
    const char *rest = name + length;
    if (strncmp(name, types[i].name, length) != 0) {
      continue;
    }
    if (*rest == '\0' || (rest[0] >= '2' && rest[0] <= '4' && !rest[1])) {
      *out_type = types[i].type;
      *out_components = *rest ? (uint32_t)(*rest - '0') : 1;
      return true;
    }
  }
  return false;
}

// --- textures ----------------------------------------------------------------

// "texture2d<float, sample>", "array<texture2d<float>, 4>".
static void describe_texture(const char *type_name,
                             mtlc_parameter_facts *facts) {
  const char *array = strncmp(type_name, "array<", 6) == 0 ? type_name + 6
                                                           : type_name;
  const size_t length = strcspn(array, "<");
  (void)mtlc_find_texture_class(array, length, facts);
  char component[16] = "";
  if (array[length] == '<') {
    const char *start = array + length + 1;
    snprintf(component, sizeof component, "%.*s", (int)strcspn(start, ",>"),
             start);
  }
  uint32_t components;
  if (!air_parse_type(component, &facts->type, &components)) {
    facts->type = MTL_TYPE_FLOAT;
  }
  facts->components = 4;
}

// --- one argument ------------------------------------------------------------

typedef struct argument_reader {
  air_translation *t;
  LLVMValueRef *operands;  // [count]
  unsigned count;
  unsigned at;
  mtlc_parameter_facts *facts;
  LLVMValueRef members;
} argument_reader;

static LLVMValueRef next(argument_reader *r) {
  return r->at < r->count ? r->operands[r->at++] : NULL;
}

static mtlc_space space_of(int64_t number) {
  return number == 1   ? MTLC_SPACE_DEVICE
         : number == 2 ? MTLC_SPACE_CONSTANT
         : number == 3 ? MTLC_SPACE_THREADGROUP
                       : MTLC_SPACE_THREAD;
}

static void take_location(argument_reader *r) {
  r->facts->has_index = true;
  r->facts->index = air_integer(next(r), 0);
  const int64_t length = air_integer(next(r), 1);
  r->facts->array_length = length > 0 ? (uint32_t)length : 1;
}

static void take_condition(argument_reader *r) {
  unsigned count;
  LLVMValueRef *operands = air_node(r->t, next(r), &count);
  if (count > 0) {
    air_describe_condition(r->t, operands[0], &r->facts->enabling_constant,
                           &r->facts->condition);
  }
}

static void take_word(argument_reader *r, const char *word) {
  mtlc_parameter_facts *facts = r->facts;
  if (strcmp(word, "buffer") == 0 || strcmp(word, "indirect_buffer") == 0) {
    facts->is_pointer = true;
  } else if (strcmp(word, "buffer_size") == 0) {
    // A reference has as many bytes as its type; a pointer has no known size.
    facts->size_bytes = (uint32_t)air_integer(next(r), 0);
    facts->is_reference = true;
    facts->is_pointer = false;
  } else if (strcmp(word, "texture") == 0) {
    facts->is_texture = true;
  } else if (strcmp(word, "sampler") == 0) {
    facts->is_sampler = true;
  } else if (strcmp(word, "visible_function_table") == 0) {
    facts->is_function_table = true;
  } else if (strcmp(word, "location_index") == 0) {
    take_location(r);
  } else if (strcmp(word, "function_constant") == 0) {
    take_condition(r);
  } else if (strcmp(word, "read") == 0 || strcmp(word, "sample") == 0) {
    facts->is_const = true;
    facts->access = MTL_ACCESS_READ_ONLY;
  } else if (strcmp(word, "write") == 0) {
    facts->access = MTL_ACCESS_WRITE_ONLY;
  } else if (strcmp(word, "read_write") == 0) {
    facts->access = MTL_ACCESS_READ_WRITE;
  } else if (strcmp(word, "address_space") == 0) {
    facts->space = space_of(air_integer(next(r), 0));
  } else if (strcmp(word, "struct_type_info") == 0) {
    r->members = next(r);
  } else if (strcmp(word, "arg_type_size") == 0) {
    facts->size_bytes = (uint32_t)air_integer(next(r), 0);
  } else if (strcmp(word, "arg_type_align_size") == 0) {
    facts->alignment_bytes = (uint32_t)air_integer(next(r), 0);
  } else if (strcmp(word, "arg_type_name") == 0) {
    const char *name = air_text(r->t, next(r));
    facts->type_name = name ? name : "";
  } else if (strcmp(word, "arg_name") == 0) {
    const char *name = air_text(r->t, next(r));
    facts->name = name ? name : "";
  } else if (mtlc_find_builtin(word) != MTLI_BUILTIN_NONE) {
    facts->attribute = word;
  } else if (!facts->attribute && strcmp(word, "arg_unused") != 0) {
    facts->attribute = word;  // judged, and named, by reflect.c
  }
}

// Fills in the attributes that follow from the kind of resource or address.
static void finish_facts(argument_reader *r) {
  mtlc_parameter_facts *facts = r->facts;
  const bool is_memory = facts->is_pointer || facts->is_reference;
  if (facts->is_texture) {
    facts->attribute = "texture";
    describe_texture(facts->type_name, facts);
    return;
  }
  if (facts->is_sampler) {
    facts->attribute = "sampler";
  } else if (facts->is_function_table) {
    facts->attribute = "buffer";
  } else if (is_memory) {
    facts->attribute =
        facts->space == MTLC_SPACE_THREADGROUP ? "threadgroup" : "buffer";
  }
  const char *type_name = facts->type_name;
  const char *atomic =
      r->members ? air_atomic_type(r->t, facts->type_name, r->members,
                                   &type_name)
                 : NULL;
  if (atomic) {
    facts->type_name = atomic;
    r->members = NULL;
  }
  if (!air_parse_type(type_name, &facts->type, &facts->components)) {
    facts->type = MTL_TYPE_NONE;
    facts->components = 0;
  }
  if (r->members && is_memory) {
    facts->members = air_members(r->t, r->members, &facts->member_count);
    facts->layout = air_layout(r->t, r->members, facts->size_bytes,
                               facts->alignment_bytes);
  }
}

static void read_argument(air_translation *t, LLVMValueRef node,
                          mtlc_parameter_facts *facts) {
  argument_reader r = {.t = t, .facts = facts, .at = 1};
  *facts = (mtlc_parameter_facts){
      .name = "", .type_name = "", .enabling_constant = -1, .array_length = 1};
  r.operands = air_node(t, node, &r.count);
  while (r.at < r.count) {
    const char *word = air_text(t, next(&r));
    if (word && strncmp(word, "air.", 4) == 0) {
      take_word(&r, word + 4);
    }
  }
  finish_facts(&r);
}

void air_describe_parameters(air_translation *t, LLVMValueRef arguments,
                             mtli_kernel *kernel) {
  unsigned count;
  LLVMValueRef *nodes = air_node(t, arguments, &count);
  mtlc_parameter_facts *facts = air_allocate(t, (count + 1) * sizeof *facts);
  for (unsigned i = 0; i < count; ++i) {
    read_argument(t, nodes[i], &facts[i]);
  }
  mtlc_parameter_error error;
  kernel->parameter_count = count;
  kernel->parameters =
      air_allocate(t, (count + 1) * sizeof *kernel->parameters);
  if (!mtlc_reflect_parameters(facts, count, kernel->parameters, &error)) {
    air_fail(t, MTL_UNSUPPORTED, "function %s: %s", kernel->name, error.text);
  }
}
