// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// textures.c: translates texture functions: air.OP_texture_SHAPE.TYPE(texture,
// ...) and air.OP_depth_SHAPE become calls of the support library
// (metal/mettle/air_resources), which has one form for all shapes.
//
// What stands in an argument list differs between versions of AIR. It is read
// by its types, so that lists of all versions are: a texture; a sampler, which
// is a pointer too; a number where depth textures have one; coordinates, then
// face and element where the shape has them; then a reference; gradients; a
// bit with an offset; a bit with a level or bias; the least level; a component;
// and how the texture is accessed, which its type says already.
#include <stdio.h>
#include <string.h>

#include "compiler/air/families.h"

// The values of air_shape in metal/mettle/air_resources.
typedef enum air_shape {
  SHAPE_1D,
  SHAPE_1D_ARRAY,
  SHAPE_2D,
  SHAPE_2D_ARRAY,
  SHAPE_2D_MS,
  SHAPE_2D_MS_ARRAY,
  SHAPE_3D,
  SHAPE_CUBE,
  SHAPE_CUBE_ARRAY,
} air_shape;

static const struct {
  const char *name;
  air_shape shape;
  unsigned sides;    // of the image, in texels
  const char *kind;  // by which it is sampled
} shapes[] = {
    // a name that is a prefix of another comes after it
    {"1d_array", SHAPE_1D_ARRAY, 1, "1d"},
    {"1d", SHAPE_1D, 1, "1d"},
    {"buffer_1d", SHAPE_1D, 1, NULL},
    {"2d_array", SHAPE_2D_ARRAY, 2, "2d"},
    {"2d_ms_array", SHAPE_2D_MS_ARRAY, 2, NULL},
    {"2d_ms", SHAPE_2D_MS, 2, NULL},
    {"2d", SHAPE_2D, 2, "2d"},
    {"3d", SHAPE_3D, 3, "3d"},
    {"cube_array", SHAPE_CUBE_ARRAY, 2, "cube"},
    {"cube", SHAPE_CUBE, 2, "cube"},
};

static const char *const operations[] = {
    "sample_compare_", "sample_", "gather_compare_", "gather_", "read_",
    "write_", "fence_", "get_width_", "get_height_", "get_depth_",
    "get_array_size_", "get_num_mip_levels_", "get_num_samples_", "atomic_"};

// The parts of a function's name.
typedef struct texture_name {
  const char *operation;  // followed by '_'
  const char *action;     // of an atomic operation: "fetch_add"
  size_t action_length;
  bool is_depth;
  bool is_gradient;
  bool is_signed;  // components are signed integers
  bool is_integer;
  bool is_wide;    // of 64 bits
  const char *kind;
  air_shape shape;
  unsigned sides;
} texture_name;

static bool starts(const char *text, const char *prefix) {
  return strncmp(text, prefix, strlen(prefix)) == 0;
}

// Parses "texture_2d_array_grad.s.v4i32".
static bool parse_class(const char *at, texture_name *out) {
  out->is_depth = starts(at, "depth_");
  if (!out->is_depth && !starts(at, "texture_")) {
    return false;
  }
  at += out->is_depth ? strlen("depth_") : strlen("texture_");
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; ++i) {
    if (!starts(at, shapes[i].name)) {
      continue;
    }
    at += strlen(shapes[i].name);
    out->shape = shapes[i].shape;
    out->sides = shapes[i].sides;
    out->kind = shapes[i].kind;
    out->is_gradient = starts(at, "_grad");
    at += out->is_gradient ? strlen("_grad") : 0;
    out->is_signed = strstr(at, ".s.") != NULL;
    out->is_integer = out->is_signed || strstr(at, ".u.") != NULL;
    out->is_wide = strstr(at, "i64") != NULL;
    return *at == '.' || *at == '\0';
  }
  return false;
}

static bool parse_name(const char *name, texture_name *out) {
  *out = (texture_name){0};
  for (size_t i = 0; i < sizeof operations / sizeof *operations; ++i) {
    const char *at = name + strlen(operations[i]);
    if (!starts(name, operations[i])) {
      continue;
    }
    out->operation = operations[i];
    if (starts(out->operation, "atomic_")) {
      const char *end = strstr(at, "_explicit_");
      if (!end) {
        return false;
      }
      out->action = at;
      out->action_length = (size_t)(end - at);
      at = end + strlen("_explicit_");
    }
    return parse_class(at, out);
  }
  return false;
}

static bool is(const texture_name *name, const char *operation) {
  return strcmp(name->operation, operation) == 0;
}

static bool is_sampling(const texture_name *name) {
  return starts(name->operation, "sample_") ||
         starts(name->operation, "gather_");
}

// Finds the support library's function, without "lib."; false if there is none.
static bool library_name(const texture_name *name, char out[64]) {
  const char *id = name->is_integer ? "i32" : "f32";
  const int length = (int)strlen(name->operation) - 1;
  if (is_sampling(name)) {
    snprintf(out, 64, "texture.%s%s%s.%s", name->operation,
             name->kind ? name->kind : "", name->is_gradient ? "_grad" : "",
             id);
    return name->kind != NULL;
  }
  if (is(name, "read_") || is(name, "write_")) {
    snprintf(out, 64, "texture.%.*s.%s", length, name->operation, id);
  } else if (is(name, "atomic_")) {
    snprintf(out, 64, "texture.atomic_%.*s.%s",
             (int)(name->action_length < 32 ? name->action_length : 32),
             name->action,
             name->is_wide     ? "i64"
             : name->is_signed ? "s32"
                               : "i32");
  } else {
    snprintf(out, 64, "texture.%.*s", length, name->operation);
  }
  return true;
}

bool air_texture_library_name(const char *name, char out[64]) {
  texture_name parsed;
  return parse_name(name, &parsed) && library_name(&parsed, out);
}

// --- arguments ---------------------------------------------------------------

enum { MOST_ARGUMENTS = 32 };

typedef struct texture_call {
  air_translation *t;
  LLVMValueRef call;
  const texture_name *name;
  unsigned at;     // the next operand
  unsigned count;  // of operands
  // arguments for the support library
  LLVMValueRef given[MOST_ARGUMENTS];
  unsigned given_count;
  bool failed;
} texture_call;

static LLVMTypeRef type_at(const texture_call *c) {
  return c->at < c->count ? LLVMTypeOf(LLVMGetOperand(c->call, c->at)) : NULL;
}
static bool is_next(const texture_call *c, LLVMTypeKind kind) {
  LLVMTypeRef type = type_at(c);
  return type && LLVMGetTypeKind(type) == kind;
}
static bool is_next_vector(const texture_call *c, bool of_integers) {
  return is_next(c, LLVMVectorTypeKind) &&
         (LLVMGetTypeKind(LLVMGetElementType(type_at(c))) ==
          LLVMIntegerTypeKind) == of_integers;
}
static bool is_next_bit(const texture_call *c) {
  return is_next(c, LLVMIntegerTypeKind) &&
         LLVMGetIntTypeWidth(type_at(c)) == 1;
}
static bool is_next_integer(const texture_call *c) {
  return is_next(c, LLVMIntegerTypeKind) && !is_next_bit(c);
}

static LLVMValueRef take(texture_call *c) {
  if (c->at >= c->count) {
    c->failed = true;
    return LLVMGetUndef(LLVMInt32TypeInContext(c->t->context));
  }
  return air_operand(c->t, c->call, c->at++);
}

static LLVMValueRef word(const texture_call *c, uint32_t value) {
  return LLVMConstInt(LLVMInt32TypeInContext(c->t->context), value, false);
}
static LLVMValueRef number(const texture_call *c) {
  return LLVMConstNull(LLVMFloatTypeInContext(c->t->context));
}

static void give(texture_call *c, LLVMValueRef value) {
  if (c->given_count < MOST_ARGUMENTS) {
    c->given[c->given_count++] = value;
  }
}

// Returns a component of 16 bits or of 32 as one of 32.
static LLVMValueRef widen(texture_call *c, LLVMValueRef value,
                          bool is_signed) {
  LLVMTypeRef type = LLVMTypeOf(value);
  if (LLVMGetTypeKind(type) == LLVMIntegerTypeKind) {
    return LLVMBuildIntCast2(c->t->builder, value,
                             LLVMInt32TypeInContext(c->t->context), is_signed,
                             "");
  }
  return LLVMBuildFPCast(c->t->builder, value,
                         LLVMFloatTypeInContext(c->t->context), "");
}

// Splits the next argument into `wanted` components: those of a vector, or a
// scalar as the first; zeros for the rest.
static void take_components(texture_call *c, LLVMValueRef out[4],
                            unsigned wanted, bool is_signed) {
  LLVMValueRef value = take(c);
  LLVMTypeRef type = LLVMTypeOf(value);
  const bool is_vector = LLVMGetTypeKind(type) == LLVMVectorTypeKind;
  const unsigned size = is_vector ? LLVMGetVectorSize(type) : 1;
  for (unsigned i = 0; i < size && i < wanted; ++i) {
    out[i] = is_vector ? LLVMBuildExtractElement(c->t->builder, value,
                                                 word(c, i), "")
                       : value;
    out[i] = widen(c, out[i], is_signed);
  }
  for (unsigned i = size; i < wanted; ++i) {
    out[i] = LLVMConstNull(LLVMTypeOf(out[0]));
  }
}

static bool has_elements(air_shape shape) {
  return shape == SHAPE_1D_ARRAY || shape == SHAPE_2D_ARRAY ||
         shape == SHAPE_2D_MS_ARRAY || shape == SHAPE_CUBE_ARRAY;
}

// A texel's place: the shape, x, y, z, face, element; the level follows.
static void give_place(texture_call *c) {
  const air_shape shape = c->name->shape;
  LLVMValueRef at[4];
  take_components(c, at, 3, false);
  give(c, word(c, shape));
  for (unsigned i = 0; i < 3; ++i) {
    give(c, at[i]);
  }
  const bool has_face = shape == SHAPE_CUBE || shape == SHAPE_CUBE_ARRAY;
  give(c, has_face ? widen(c, take(c), false) : word(c, 0));
  give(c, has_elements(shape) ? widen(c, take(c), false) : word(c, 0));
}

// --- results -----------------------------------------------------------------

// Returns the library's four components as AIR has them: of 16 bits perhaps,
// the first alone, and with a byte behind that says whether memory was missing.
static LLVMValueRef fit_result(texture_call *c, LLVMValueRef color) {
  LLVMBuilderRef b = c->t->builder;
  LLVMTypeRef type = air_type(c->t, LLVMTypeOf(c->call)), texel = type;
  if (LLVMGetTypeKind(type) == LLVMStructTypeKind) {
    texel = LLVMStructGetTypeAtIndex(type, 0);
  }
  LLVMValueRef value = color;
  LLVMTypeRef element = texel;
  if (LLVMGetTypeKind(texel) == LLVMVectorTypeKind) {
    element = LLVMGetElementType(texel);
  } else {
    value = LLVMBuildExtractElement(b, color, word(c, 0), "");
  }
  value = LLVMGetTypeKind(element) == LLVMIntegerTypeKind
              ? LLVMBuildIntCast2(b, value, texel, c->name->is_signed, "")
              : LLVMBuildFPCast(b, value, texel, "");
  return texel == type ? value
                       : LLVMBuildInsertValue(b, LLVMConstNull(type), value, 0,
                                              "");
}

static LLVMValueRef call_library(texture_call *c, LLVMTypeRef result) {
  char name[64];
  if (c->failed || !library_name(c->name, name)) {
    return NULL;
  }
  LLVMValueRef function = air_find_library(c->t, name);
  return function ? air_call_fitting(c->t, function, result, c->given,
                                     c->given_count)
                  : NULL;
}

static LLVMTypeRef color_type(const texture_call *c) {
  LLVMContextRef context = c->t->context;
  return LLVMVectorType(c->name->is_integer ? LLVMInt32TypeInContext(context)
                                            : LLVMFloatTypeInContext(context),
                        4);
}

static LLVMValueRef call_for_color(texture_call *c) {
  LLVMValueRef color = call_library(c, color_type(c));
  return color ? fit_result(c, color) : NULL;
}

// --- sampling ----------------------------------------------------------------

// The arguments after the coordinates; missing ones are zero.
typedef struct sample_options {
  LLVMValueRef offset[4];
  LLVMValueRef gradients[2][4];
  LLVMValueRef is_level, level, least, component;
} sample_options;

static void take_offset(texture_call *c, LLVMValueRef is_there,
                        sample_options *out) {
  take_components(c, out->offset, 3, true);
  for (unsigned i = 0; i < 3; ++i) {
    out->offset[i] = LLVMBuildSelect(c->t->builder, is_there, out->offset[i],
                                     word(c, 0), "");
  }
}

static void take_options(texture_call *c, sample_options *out) {
  *out = (sample_options){
      .is_level = LLVMConstNull(LLVMInt1TypeInContext(c->t->context)),
      .level = number(c),
      .least = number(c),
      .component = word(c, 0)};
  for (unsigned i = 0; i < 3; ++i) {
    out->offset[i] = word(c, 0);
    out->gradients[0][i] = out->gradients[1][i] = number(c);
  }
  unsigned integers = 0, gradients = c->name->is_gradient ? 2 : 0;
  while (c->at < c->count && !c->failed) {
    if (gradients > 0) {
      take_components(c, out->gradients[2 - gradients--], 3, true);
    } else if (is_next_bit(c)) {
      LLVMValueRef bit = take(c);
      if (is_next(c, LLVMFloatTypeKind)) {
        out->is_level = bit;
        out->level = take(c);
      } else {
        take_offset(c, bit, out);
      }
    } else if (is_next(c, LLVMFloatTypeKind)) {
      out->least = take(c);
    } else {
      LLVMValueRef integer = take(c);
      out->component = integers++ == 0 ? integer : out->component;
    }
  }
}

// Samples. Arguments: texture, sampler, shape, coordinates, offset, element.
static LLVMValueRef sample(texture_call *c) {
  const texture_name *name = c->name;
  sample_options options;
  LLVMValueRef at[4], element = word(c, 0), reference = NULL;
  give(c, take(c));
  give(c, take(c));
  if (name->is_depth && is_next_integer(c)) {
    (void)take(c);
  }
  take_components(c, at, 3, true);
  if (has_elements(name->shape)) {
    element = widen(c, take(c), false);
  }
  if (strstr(name->operation, "compare")) {
    reference = take(c);
  }
  take_options(c, &options);
  give(c, word(c, name->shape));
  for (unsigned i = 0; i < 3; ++i) {
    give(c, at[i]);
  }
  for (unsigned i = 0; i < 3; ++i) {
    give(c, options.offset[i]);
  }
  give(c, element);
  if (reference) {
    give(c, reference);
  }
  if (is(name, "gather_")) {
    give(c, name->is_depth ? word(c, 0) : options.component);
  } else if (name->is_gradient) {
    for (unsigned i = 0; i < 6; ++i) {
      give(c, options.gradients[i / 3][i % 3]);
    }
    give(c, options.least);
  } else if (starts(name->operation, "sample_")) {
    give(c, options.is_level);
    give(c, options.level);
    give(c, options.least);
  }
  return call_for_color(c);
}

// --- texels ------------------------------------------------------------------

// Adds the call's next argument, an offset, to the coordinates.
static void move_place(texture_call *c) {
  enum { FIRST = 2 };  // follows texture and shape
  LLVMValueRef offset[4];
  take_components(c, offset, 3, true);
  for (unsigned i = 0; i < 3; ++i) {
    c->given[FIRST + i] =
        LLVMBuildAdd(c->t->builder, c->given[FIRST + i], offset[i], "");
  }
}

static LLVMValueRef read(texture_call *c) {
  const air_shape shape = c->name->shape;
  const bool is_sampled = shape == SHAPE_2D_MS || shape == SHAPE_2D_MS_ARRAY;
  give(c, take(c));
  if (is_next(c, LLVMPointerTypeKind)) {
    (void)take(c);  // skips a sampler, which a read does not need
  }
  if (c->name->is_depth && is_next_integer(c)) {
    (void)take(c);
  }
  give_place(c);
  if (is_next_vector(c, true)) {
    move_place(c);
  } else if (c->count - c->at == 3 && c->name->sides == 1) {
    move_place(c);  // of one coordinate
  }
  LLVMValueRef next = is_next_integer(c) ? widen(c, take(c), false)
                                         : word(c, 0);
  // Buffers have no levels: the next argument is the access mode.
  const bool is_buffer = c->name->kind == NULL && !is_sampled;
  give(c, is_sampled || is_buffer ? word(c, 0) : next);
  give(c, is_sampled ? next : word(c, 0));
  return call_for_color(c);
}

static LLVMValueRef write(texture_call *c) {
  LLVMValueRef color[4];
  give(c, take(c));
  give_place(c);
  take_components(c, color, 4, c->name->is_signed);
  give(c, c->name->kind && is_next_integer(c) ? widen(c, take(c), false)
                                              : word(c, 0));
  for (unsigned i = 0; i < 4; ++i) {
    give(c, color[i]);
  }
  return call_library(c, LLVMVoidTypeInContext(c->t->context));
}

// Returns the first component of the next operand, a vector.
static LLVMValueRef take_first(texture_call *c) {
  LLVMValueRef vector = take(c);
  return LLVMGetTypeKind(LLVMTypeOf(vector)) == LLVMVectorTypeKind
             ? LLVMBuildExtractElement(c->t->builder, vector, word(c, 0), "")
             : vector;
}

// Translates an atomic operation on a texel's only component. Results are (old
// value, 0, 0, 0) or, of a compare-exchange, a bit.
static LLVMValueRef atomic(texture_call *c) {
  LLVMTypeRef type = air_type(c->t, LLVMTypeOf(c->call));
  const bool is_vector = LLVMGetTypeKind(type) == LLVMVectorTypeKind;
  LLVMValueRef value = NULL, expected = NULL;
  give(c, take(c));
  if (strncmp(c->name->action, "store", 5) == 0) {
    value = take_first(c);
  }
  give_place(c);
  give(c, word(c, 0));
  if (is_next(c, LLVMPointerTypeKind)) {
    expected = take(c);
  }
  if (!value && is_next(c, LLVMVectorTypeKind)) {
    value = take_first(c);
  }
  if (expected) {
    give(c, expected);
  }
  if (value) {
    give(c, value);
  }
  LLVMValueRef old =
      call_library(c, is_vector ? LLVMGetElementType(type) : type);
  return old && is_vector
             ? LLVMBuildInsertElement(c->t->builder, LLVMConstNull(type), old,
                                      word(c, 0), "")
             : old;
}

static LLVMValueRef measure(texture_call *c) {
  give(c, take(c));
  give(c, is_next_integer(c) ? take(c) : word(c, 0));
  LLVMValueRef size = call_library(c, LLVMInt32TypeInContext(c->t->context));
  return size ? LLVMBuildIntCast2(c->t->builder, size,
                                  air_type(c->t, LLVMTypeOf(c->call)), false,
                                  "")
              : NULL;
}

LLVMValueRef air_call_texture(air_translation *t, LLVMValueRef call,
                              const char *name) {
  texture_name parsed;
  if (!parse_name(name, &parsed)) {
    return air_miss_callee(t, call);
  }
  texture_call c = {.t = t,
                    .call = call,
                    .name = &parsed,
                    .count = LLVMGetNumArgOperands(call)};
  LLVMValueRef made;
  if (is(&parsed, "fence_")) {
    return NULL;  // written values are visible to all later reads
  }
  if (is_sampling(&parsed)) {
    made = sample(&c);
  } else if (is(&parsed, "read_")) {
    made = read(&c);
  } else if (is(&parsed, "write_")) {
    made = write(&c);
  } else if (is(&parsed, "atomic_")) {
    made = atomic(&c);
  } else {
    made = measure(&c);
  }
  return made ? made : air_miss_callee(t, call);
}
