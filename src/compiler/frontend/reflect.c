// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// reflect.c: checks a kernel's parameters against the rules of the MSL
// specification, chapter 5, and builds the argument table.
#include "compiler/frontend/reflect.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef struct builtin_input {
  const char *name;
  mtli_builtin builtin;
  bool is_vector;  // up to three components; otherwise a scalar
} builtin_input;

static const builtin_input builtin_inputs[] = {
    {"thread_position_in_grid", MTLI_THREAD_POSITION_IN_GRID, true},
    {"thread_position_in_threadgroup", MTLI_THREAD_POSITION_IN_THREADGROUP,
     true},
    {"threadgroup_position_in_grid", MTLI_THREADGROUP_POSITION_IN_GRID, true},
    {"threads_per_threadgroup", MTLI_THREADS_PER_THREADGROUP, true},
    {"dispatch_threads_per_threadgroup", MTLI_DISPATCH_THREADS_PER_THREADGROUP,
     true},
    {"threads_per_grid", MTLI_THREADS_PER_GRID, true},
    {"threadgroups_per_grid", MTLI_THREADGROUPS_PER_GRID, true},
    {"grid_origin", MTLI_GRID_ORIGIN, true},
    {"grid_size", MTLI_GRID_SIZE, true},
    {"thread_index_in_threadgroup", MTLI_THREAD_INDEX_IN_THREADGROUP, false},
    {"thread_index_in_simdgroup", MTLI_THREAD_INDEX_IN_SIMDGROUP, false},
    {"thread_index_in_quadgroup", MTLI_THREAD_INDEX_IN_QUADGROUP, false},
    {"simdgroup_index_in_threadgroup", MTLI_SIMDGROUP_INDEX_IN_THREADGROUP,
     false},
    {"quadgroup_index_in_threadgroup", MTLI_QUADGROUP_INDEX_IN_THREADGROUP,
     false},
    {"simdgroups_per_threadgroup", MTLI_SIMDGROUPS_PER_THREADGROUP, false},
    {"quadgroups_per_threadgroup", MTLI_QUADGROUPS_PER_THREADGROUP, false},
    {"dispatch_simdgroups_per_threadgroup",
     MTLI_DISPATCH_SIMDGROUPS_PER_THREADGROUP, false},
    {"dispatch_quadgroups_per_threadgroup",
     MTLI_DISPATCH_QUADGROUPS_PER_THREADGROUP, false},
    {"threads_per_simdgroup", MTLI_THREADS_PER_SIMDGROUP, false},
    {"thread_execution_width", MTLI_THREADS_PER_SIMDGROUP, false},
};

static const builtin_input *find_builtin(const char *name) {
  for (size_t i = 0; i < sizeof builtin_inputs / sizeof *builtin_inputs; i++) {
    if (strcmp(builtin_inputs[i].name, name) == 0) {
      return &builtin_inputs[i];
    }
  }
  return NULL;
}

// The indices of one kind of argument.
typedef struct index_table {
  mtl_argument_kind kind;
  const char *attribute;
  uint32_t count;
  uint64_t used[2];  // bit i: index i is taken
} index_table;

typedef struct reflection {
  const mtlc_parameter_facts *facts;
  mtli_parameter *parameters;
  mtlc_parameter_error *error;
  index_table buffers;
  index_table threadgroups;
  index_table textures;
  index_table samplers;
} reflection;

static bool reject(reflection *r, size_t parameter, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static bool reject(reflection *r, size_t parameter, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(r->error->text, sizeof r->error->text, format, arguments);
  va_end(arguments);
  r->error->parameter = parameter;
  return false;
}

static const char *shown_name(const mtlc_parameter_facts *facts) {
  return facts->name[0] == '\0' ? "(unnamed)" : facts->name;
}

static bool reflect_builtin(reflection *r, size_t i,
                            const builtin_input *input) {
  const mtlc_parameter_facts *facts = &r->facts[i];
  const bool is_integer =
      facts->type == MTL_TYPE_UINT || facts->type == MTL_TYPE_USHORT;
  const uint32_t most = input->is_vector ? 3 : 1;
  if (facts->is_pointer || facts->is_reference || !is_integer ||
      facts->components < 1 || facts->components > most) {
    return reject(r, i,
                  "type '%s' of parameter '%s' is not allowed for attribute "
                  "'%s': it takes %s",
                  facts->type_name, shown_name(facts), input->name,
                  input->is_vector
                      ? "uint, uint2, uint3, ushort, ushort2 or ushort3"
                      : "uint or ushort");
  }
  mtli_parameter *parameter = &r->parameters[i];
  parameter->builtin = input->builtin;
  parameter->builtin_components = facts->components;
  parameter->builtin_component_bytes = facts->type == MTL_TYPE_UINT ? 4 : 2;
  return true;
}

// The inputs that positions are computed from must all be scalars, or all
// vectors with the same number of components.
//
// Source     MSL specification, "attributes for kernel function input
//            arguments": the types of the position and size attributes match
static bool check_inputs_match(reflection *r, size_t count) {
  size_t first = count;
  for (size_t i = 0; i < count; i++) {
    const uint32_t components = r->parameters[i].builtin_components;
    const builtin_input *input =
        components == 0 ? NULL : find_builtin(r->facts[i].attribute);
    if (input == NULL || !input->is_vector) {
      continue;
    }
    if (first == count) {
      first = i;
    } else if (components != r->parameters[first].builtin_components) {
      return reject(r, i,
                    "type '%s' of parameter '%s' does not match '%s' of "
                    "parameter '%s': positions and sizes must be all scalars, "
                    "or all vectors with the same number of components",
                    r->facts[i].type_name, shown_name(&r->facts[i]),
                    r->facts[first].type_name, shown_name(&r->facts[first]));
    }
  }
  return true;
}

static bool is_conditional(const mtlc_parameter_facts *facts) {
  return facts->enabling_constant >= 0 || facts->condition != NULL;
}

// Fails if a kernel has an input twice under one name. Under two names, as
// grid_size and threads_per_grid, it may.
static bool check_inputs_differ(reflection *r, size_t count) {
  for (size_t i = 0; i < count; i++) {
    for (size_t j = 0; j < i; j++) {
      if (r->parameters[i].builtin != MTLI_BUILTIN_NONE &&
          r->parameters[i].builtin == r->parameters[j].builtin &&
          strcmp(r->facts[i].attribute, r->facts[j].attribute) == 0 &&
          !is_conditional(&r->facts[i]) && !is_conditional(&r->facts[j])) {
        return reject(r, i,
                      "parameter '%s' with attribute '%s' is the same input as "
                      "'%s' with attribute '%s'",
                      shown_name(&r->facts[i]), r->facts[i].attribute,
                      shown_name(&r->facts[j]), r->facts[j].attribute);
      }
    }
  }
  return true;
}

static bool is_one_of(const char *name, const char *const *names) {
  for (; *names != NULL; names++) {
    if (strcmp(name, *names) == 0) {
      return true;
    }
  }
  return false;
}

static bool is_resource(const mtlc_parameter_facts *facts) {
  return facts->is_texture || facts->is_sampler || facts->is_function_table;
}

static index_table *choose_resource_table(reflection *r, size_t i) {
  const mtlc_parameter_facts *facts = &r->facts[i];
  index_table *table = facts->is_texture   ? &r->textures
                       : facts->is_sampler ? &r->samplers
                                           : &r->buffers;
  if (facts->attribute != NULL &&
      strcmp(facts->attribute, table->attribute) != 0) {
    reject(r, i, "attribute '%s' is not allowed on parameter '%s' of type '%s'",
           facts->attribute, shown_name(facts), facts->type_name);
    return NULL;
  }
  return table;
}

// Which table a parameter without a built-in input belongs to; NULL after an
// error.
static index_table *choose_table(reflection *r, size_t i) {
  static const char *const unsupported[] = {"stage_in", "imageblock_data",
                                            NULL};
  const mtlc_parameter_facts *facts = &r->facts[i];
  const char *attribute = facts->attribute;
  const bool is_address =
      facts->is_pointer || facts->is_reference || facts->tensor_rank != 0;
  if (attribute != NULL && is_one_of(attribute, unsupported)) {
    reject(r, i, "parameter '%s': '%s' is unsupported in kernels for now",
           shown_name(facts), attribute);
    return NULL;
  }
  if (is_resource(facts)) {
    return choose_resource_table(r, i);
  }
  if (attribute != NULL && strcmp(attribute, "buffer") != 0 &&
      strcmp(attribute, "threadgroup") != 0) {
    reject(r, i, "attribute '%s' is not allowed on kernel parameter '%s'",
           attribute, shown_name(facts));
    return NULL;
  }
  if (!is_address && attribute == NULL) {
    reject(r, i,
           "parameter '%s' of type '%s' needs an attribute: a kernel takes "
           "device, constant or threadgroup pointers and references, and "
           "built-in inputs such as [[thread_position_in_grid]]",
           shown_name(facts), facts->type_name);
    return NULL;
  }
  if (!is_address || facts->space == MTLC_SPACE_THREAD) {
    reject(r, i,
           "parameter '%s' must be a pointer or reference to the device, "
           "constant or threadgroup address space",
           shown_name(facts));
    return NULL;
  }
  const bool in_threadgroup = facts->space == MTLC_SPACE_THREADGROUP;
  index_table *table = in_threadgroup ? &r->threadgroups : &r->buffers;
  if (attribute != NULL && strcmp(attribute, table->attribute) != 0) {
    reject(r, i, "attribute '%s' on parameter '%s', which points to the %s",
           attribute, shown_name(facts),
           in_threadgroup ? "threadgroup address space"
                          : "device or constant address space");
    return NULL;
  }
  return table;
}

// How many indices a parameter takes.
static uint32_t span_of(const mtlc_parameter_facts *facts) {
  return is_resource(facts) ? facts->array_length : 1;
}

static bool is_used(const index_table *table, uint32_t first, uint32_t count) {
  bool used = false;
  for (uint32_t i = first; i < first + count; i++) {
    used |= table->used[i / 64] >> i % 64 & 1;
  }
  return used;
}

static void use(index_table *table, uint32_t first, uint32_t count) {
  for (uint32_t i = first; i < first + count; i++) {
    table->used[i / 64] |= UINT64_C(1) << i % 64;
  }
}

static bool take_index(reflection *r, size_t i, index_table *table) {
  const mtlc_parameter_facts *facts = &r->facts[i];
  const uint32_t span = span_of(facts);
  if (facts->index < 0 || span > table->count ||
      facts->index > table->count - span) {
    return reject(r, i, "%s index %lld of parameter '%s' is not in 0 to %u",
                  table->attribute, (long long)facts->index, shown_name(facts),
                  span > table->count ? 0 : table->count - span);
  }
  if (is_used(table, (uint32_t)facts->index, span)) {
    return reject(r, i, "%s index %lld of parameter '%s' is already used",
                  table->attribute, (long long)facts->index, shown_name(facts));
  }
  use(table, (uint32_t)facts->index, span);
  r->parameters[i].argument.index = (uint32_t)facts->index;
  return true;
}

static void describe_resource(const mtlc_parameter_facts *facts,
                              mtl_argument *argument) {
  argument->access = facts->access;
  argument->array_length = facts->array_length;
  argument->texture_type = facts->texture_type;
  argument->is_depth_texture = facts->is_depth_texture;
}

static bool reflect_memory(reflection *r, size_t i) {
  index_table *table = choose_table(r, i);
  if (table == NULL) {
    return false;
  }
  const mtlc_parameter_facts *facts = &r->facts[i];
  const bool is_read_only =
      facts->space == MTLC_SPACE_CONSTANT ||
      (facts->space == MTLC_SPACE_DEVICE && facts->is_const);
  mtl_argument *argument = &r->parameters[i].argument;
  argument->kind =
      facts->is_function_table ? MTL_ARGUMENT_FUNCTION_TABLE : table->kind;
  argument->access =
      is_read_only ? MTL_ACCESS_READ_ONLY : MTL_ACCESS_READ_WRITE;
  argument->type_name = facts->type_name;
  argument->type = facts->type;
  argument->components = facts->components;
  argument->size_bytes = facts->size_bytes;
  argument->alignment_bytes = facts->alignment_bytes;
  argument->is_reference = facts->is_reference;
  argument->members = facts->members;
  argument->member_count = facts->member_count;
  argument->tensor_rank = facts->tensor_rank;
  argument->tensor_extents = facts->tensor_rank ? facts->tensor_extents : NULL;
  r->parameters[i].is_constant = facts->space == MTLC_SPACE_CONSTANT;
  r->parameters[i].has_open_end = facts->has_open_end;
  argument->is_active = true;
  if (is_resource(facts)) {
    describe_resource(facts, argument);
  }
  return !facts->has_index || take_index(r, i, table);
}

// Assigns the lowest free index to a parameter without one, in order.
static bool assign_index(reflection *r, size_t i) {
  if (r->parameters[i].builtin != MTLI_BUILTIN_NONE || r->facts[i].has_index) {
    return true;
  }
  index_table *table = choose_table(r, i);
  const uint32_t span = span_of(&r->facts[i]);
  uint32_t index = 0;
  while (index + span <= table->count && is_used(table, index, span)) {
    index++;
  }
  if (index + span > table->count) {
    return reject(r, i, "no %s index is left for parameter '%s'",
                  table->attribute, shown_name(&r->facts[i]));
  }
  use(table, index, span);
  r->parameters[i].argument.index = index;
  return true;
}

bool mtlc_reflect_parameters(const mtlc_parameter_facts *facts, size_t count,
                             mtli_parameter *out_parameters,
                             mtlc_parameter_error *out_error) {
  reflection r = {
      .facts = facts,
      .parameters = out_parameters,
      .error = out_error,
      .buffers = {MTL_ARGUMENT_BUFFER, "buffer", MTLC_BUFFER_INDEX_COUNT, {0}},
      .threadgroups = {MTL_ARGUMENT_THREADGROUP_MEMORY, "threadgroup",
                       MTLC_THREADGROUP_INDEX_COUNT, {0}},
      .textures = {MTL_ARGUMENT_TEXTURE, "texture", MTLC_TEXTURE_INDEX_COUNT,
                   {0}},
      .samplers = {MTL_ARGUMENT_SAMPLER, "sampler", MTLC_SAMPLER_INDEX_COUNT,
                   {0}},
  };
  for (size_t i = 0; i < count; i++) {
    out_parameters[i] = (mtli_parameter){
        .argument = {.name = facts[i].name},
        .enabling_constant = facts[i].enabling_constant,
        .condition = facts[i].condition,
        .layout = facts[i].layout,
    };
    const builtin_input *input =
        facts[i].attribute == NULL ? NULL : find_builtin(facts[i].attribute);
    if (input != NULL ? !reflect_builtin(&r, i, input)
                      : !reflect_memory(&r, i)) {
      return false;
    }
  }
  for (size_t i = 0; i < count; i++) {
    if (!assign_index(&r, i)) {
      return false;
    }
  }
  return check_inputs_match(&r, count) && check_inputs_differ(&r, count);
}

mtli_builtin mtlc_find_builtin(const char *attribute) {
  const builtin_input *input = find_builtin(attribute);
  return input == NULL ? MTLI_BUILTIN_NONE : input->builtin;
}

const char *mtlc_type_name(mtl_data_type type, uint32_t components) {
  static const char *const names[][4] = {
      [MTL_TYPE_BOOL] = {"bool", "bool2", "bool3", "bool4"},
      [MTL_TYPE_CHAR] = {"char", "char2", "char3", "char4"},
      [MTL_TYPE_UCHAR] = {"uchar", "uchar2", "uchar3", "uchar4"},
      [MTL_TYPE_SHORT] = {"short", "short2", "short3", "short4"},
      [MTL_TYPE_USHORT] = {"ushort", "ushort2", "ushort3", "ushort4"},
      [MTL_TYPE_INT] = {"int", "int2", "int3", "int4"},
      [MTL_TYPE_UINT] = {"uint", "uint2", "uint3", "uint4"},
      [MTL_TYPE_LONG] = {"long", "long2", "long3", "long4"},
      [MTL_TYPE_ULONG] = {"ulong", "ulong2", "ulong3", "ulong4"},
      [MTL_TYPE_HALF] = {"half", "half2", "half3", "half4"},
      [MTL_TYPE_BFLOAT] = {"bfloat", "bfloat2", "bfloat3", "bfloat4"},
      [MTL_TYPE_FLOAT] = {"float", "float2", "float3", "float4"},
  };
  const bool is_known = type > MTL_TYPE_NONE && type <= MTL_TYPE_FLOAT &&
                        components >= 1 && components <= 4;
  return is_known ? names[type][components - 1] : NULL;
}

bool mtlc_find_texture_class(const char *name, size_t length,
                             mtlc_parameter_facts *facts) {
  static const struct {
    const char *name;
    mtl_texture_type type;
    bool is_depth;
  } classes[] = {
      {"texture1d", MTL_TEXTURE_1D, false},
      {"texture1d_array", MTL_TEXTURE_1D_ARRAY, false},
      {"texture2d", MTL_TEXTURE_2D, false},
      {"texture2d_array", MTL_TEXTURE_2D_ARRAY, false},
      {"texture2d_ms", MTL_TEXTURE_2D_MULTISAMPLE, false},
      {"texture2d_ms_array", MTL_TEXTURE_2D_MULTISAMPLE_ARRAY, false},
      {"texture3d", MTL_TEXTURE_3D, false},
      {"texturecube", MTL_TEXTURE_CUBE, false},
      {"texturecube_array", MTL_TEXTURE_CUBE_ARRAY, false},
      {"texture_buffer", MTL_TEXTURE_BUFFER, false},
      {"depth2d", MTL_TEXTURE_2D, true},
      {"depth2d_array", MTL_TEXTURE_2D_ARRAY, true},
      {"depth2d_ms", MTL_TEXTURE_2D_MULTISAMPLE, true},
      {"depth2d_ms_array", MTL_TEXTURE_2D_MULTISAMPLE_ARRAY, true},
      {"depthcube", MTL_TEXTURE_CUBE, true},
      {"depthcube_array", MTL_TEXTURE_CUBE_ARRAY, true},
  };
  for (size_t i = 0; i < sizeof classes / sizeof *classes; ++i) {
    if (strlen(classes[i].name) == length &&
        memcmp(classes[i].name, name, length) == 0) {
      facts->texture_type = classes[i].type;
      facts->is_depth_texture = classes[i].is_depth;
      return true;
    }
  }
  return false;
}
