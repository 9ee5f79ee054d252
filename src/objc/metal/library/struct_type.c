// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// struct_type.c: MTLStructType, MTLStructMember, MTLArrayType and
// MTLPointerType: describe the struct in a buffer. An argument buffer's members
// form a flat list: members of a nested struct have the path as their name, as
// argument encoders name them.
#include <string.h>

#include "objc/metal/library/reflection.h"
#include "objc/metal/metal.h"
#include "objc/metal/property.h"

extern struct objc_class OBJC_CLASS_$_MTLStructType;
extern struct objc_class OBJC_CLASS_$_MTLStructMember;
extern struct objc_class OBJC_CLASS_$_MTLArrayType;
extern struct objc_class OBJC_CLASS_$_MTLPointerType;

// MTLDataType numbers of types that are no values.
enum {
  TYPE_NONE = 0,
  TYPE_STRUCT = 1,
  TYPE_ARRAY = 2,
  TYPE_TEXTURE = 58,
  TYPE_SAMPLER = 59,
  TYPE_POINTER = 60,
  TYPE_COMPUTE_PIPELINE = 79,
  TYPE_INDIRECT_COMMANDS = 80,
  TYPE_FUNCTION_TABLE = 115,
};

NSUInteger data_type_of(mtl_data_type type, uint32_t components,
                        uint32_t columns) {
  static const uint8_t first[] = {
      [MTL_TYPE_NONE] = TYPE_NONE, [MTL_TYPE_BOOL] = 53,
      [MTL_TYPE_CHAR] = 45,        [MTL_TYPE_UCHAR] = 49,
      [MTL_TYPE_SHORT] = 37,       [MTL_TYPE_USHORT] = 41,
      [MTL_TYPE_INT] = 29,         [MTL_TYPE_UINT] = 33,
      [MTL_TYPE_LONG] = 81,        [MTL_TYPE_ULONG] = 85,
      [MTL_TYPE_HALF] = 16,        [MTL_TYPE_BFLOAT] = 121,
      [MTL_TYPE_FLOAT] = 3};
  enum { FLOAT2X2 = 7, HALF2X2 = 20 };
  if (columns > 1 && (type == MTL_TYPE_FLOAT || type == MTL_TYPE_HALF)) {
    return (type == MTL_TYPE_FLOAT ? FLOAT2X2 : HALF2X2) + (columns - 2) * 3 +
           components - 2;
  }
  return first[type] + (components > 1 ? components - 1 : 0);
}

// --- MTLPointerType ------------------------------------------------------------

typedef struct pointer_type {
  struct objc_object object;
  mtl_argument_encoder *encoder;  // +1, of the struct with the pointer
  uint32_t id;
  _Atomic(id) pointee;  // +1; made when first asked for
} pointer_type;

static void pointer_dealloc(id self, SEL _cmd) {
  (void)_cmd;
  pointer_type *pointer = (pointer_type *)self;
  mtl_argument_encoder_release(pointer->encoder);
  objc_release(pointer->pointee);
  instance_dispose(self);
}

static id struct_of_encoder(const mtl_argument *argument,
                            mtl_argument_encoder *encoder);

static id pointer_struct(id self, SEL _cmd) {
  (void)_cmd;
  pointer_type *pointer = (pointer_type *)self;
  id known = atomic_load(&pointer->pointee);
  mtl_argument_encoder *nested = NULL;
  if (!known && mtl_argument_encoder_create_nested(
                    pointer->encoder, pointer->id, &nested) == MTL_OK) {
    const id made = struct_of_encoder(NULL, nested);
    mtl_argument_encoder_release(nested);
    if (atomic_compare_exchange_strong(&pointer->pointee, &known, made)) {
      known = made;
    } else {
      objc_release(made);
    }
  }
  return known;
}

static NSUInteger pointer_element(id self, SEL _cmd) {
  return pointer_struct(self, _cmd) ? TYPE_STRUCT : TYPE_NONE;
}

METHODS(pointer_methods, METHOD("dealloc", "v16@0:8", pointer_dealloc),
        METHOD("elementType", "Q16@0:8", pointer_element),
        METHOD("elementStructType", "@16@0:8", pointer_struct));
DEFINE_CLASS(MTLPointerType, NSObject, sizeof(pointer_type), pointer_methods,
             NO_METHODS);

static id pointer_create(mtl_argument_encoder *encoder, uint32_t number) {
  pointer_type *made = (pointer_type *)CREATE(MTLPointerType);
  made->encoder = mtl_argument_encoder_retain(encoder);
  made->id = number;
  return &made->object;
}

// --- MTLArrayType --------------------------------------------------------------

typedef struct array_type {
  struct objc_object object;
  NSUInteger elementType;
  NSUInteger arrayLength;
  NSUInteger stride;
  NSUInteger argumentIndexStride;
  id element;  // +1, the type object of elementType; or nil
} array_type;

READ_PROPERTY(array_type, NSUInteger, elementType)
READ_PROPERTY(array_type, NSUInteger, arrayLength)
READ_PROPERTY(array_type, NSUInteger, stride)
READ_PROPERTY(array_type, NSUInteger, argumentIndexStride)

static void array_dealloc(id self, SEL _cmd) {
  (void)_cmd;
  objc_release(((array_type *)self)->element);
  instance_dispose(self);
}

static id array_element(id self, NSUInteger type) {
  const array_type *array = (array_type *)self;
  return array->elementType == type ? array->element : NULL;
}

static id array_struct(id self, SEL _cmd) {
  (void)_cmd;
  return array_element(self, TYPE_STRUCT);
}

static id array_array(id self, SEL _cmd) {
  (void)_cmd;
  return array_element(self, TYPE_ARRAY);
}

static id array_pointer(id self, SEL _cmd) {
  (void)_cmd;
  return array_element(self, TYPE_POINTER);
}

METHODS(array_methods, METHOD("dealloc", "v16@0:8", array_dealloc),
        METHOD("elementType", "Q16@0:8", array_type_get_elementType),
        METHOD("arrayLength", "Q16@0:8", array_type_get_arrayLength),
        METHOD("stride", "Q16@0:8", array_type_get_stride),
        METHOD("argumentIndexStride", "Q16@0:8",
               array_type_get_argumentIndexStride),
        METHOD("elementStructType", "@16@0:8", array_struct),
        METHOD("elementArrayType", "@16@0:8", array_array),
        METHOD("elementPointerType", "@16@0:8", array_pointer));
DEFINE_CLASS(MTLArrayType, NSObject, sizeof(array_type), array_methods,
             NO_METHODS);

// --- MTLStructMember -----------------------------------------------------------

typedef struct struct_member {
  struct objc_object object;
  id name;
  NSUInteger offset;
  NSUInteger dataType;
  NSUInteger argumentIndex;
  id type;  // +1, the type object of dataType; or nil
} struct_member;

READ_PROPERTY(struct_member, id, name)
READ_PROPERTY(struct_member, NSUInteger, offset)
READ_PROPERTY(struct_member, NSUInteger, dataType)
READ_PROPERTY(struct_member, NSUInteger, argumentIndex)

static void member_dealloc(id self, SEL _cmd) {
  (void)_cmd;
  objc_release(((struct_member *)self)->name);
  objc_release(((struct_member *)self)->type);
  instance_dispose(self);
}

static id member_type(id self, NSUInteger type) {
  const struct_member *member = (struct_member *)self;
  return member->dataType == type ? member->type : NULL;
}

static id member_struct(id self, SEL _cmd) {
  (void)_cmd;
  return member_type(self, TYPE_STRUCT);
}

static id member_array(id self, SEL _cmd) {
  (void)_cmd;
  return member_type(self, TYPE_ARRAY);
}

static id member_pointer(id self, SEL _cmd) {
  (void)_cmd;
  return member_type(self, TYPE_POINTER);
}

METHODS(member_methods, METHOD("dealloc", "v16@0:8", member_dealloc),
        METHOD("name", "@16@0:8", struct_member_get_name),
        METHOD("offset", "Q16@0:8", struct_member_get_offset),
        METHOD("dataType", "Q16@0:8", struct_member_get_dataType),
        METHOD("argumentIndex", "Q16@0:8", struct_member_get_argumentIndex),
        METHOD("structType", "@16@0:8", member_struct),
        METHOD("arrayType", "@16@0:8", member_array),
        METHOD("pointerType", "@16@0:8", member_pointer));
DEFINE_CLASS(MTLStructMember, NSObject, sizeof(struct_member), member_methods,
             NO_METHODS);

// --- MTLStructType -------------------------------------------------------------

typedef struct struct_type {
  struct objc_object object;
  id members;
} struct_type;

READ_PROPERTY(struct_type, id, members)

static void struct_dealloc(id self, SEL _cmd) {
  (void)_cmd;
  objc_release(((struct_type *)self)->members);
  instance_dispose(self);
}

static id struct_by_name(id self, SEL _cmd, id name) {
  (void)_cmd;
  const id members = ((struct_type *)self)->members;
  for (size_t i = 0; i < array_count(members); ++i) {
    const id each = array_at(members, i);
    if (strcmp(string_utf8(((struct_member *)each)->name),
               string_utf8(name)) == 0) {
      return each;
    }
  }
  return NULL;
}

METHODS(struct_methods, METHOD("dealloc", "v16@0:8", struct_dealloc),
        METHOD("members", "@16@0:8", struct_type_get_members),
        METHOD("memberByName:", "@24@0:8@16", struct_by_name));
DEFINE_CLASS(MTLStructType, NSObject, sizeof(struct_type), struct_methods,
             NO_METHODS);

static struct_type *struct_create(void) {
  struct_type *made = (struct_type *)CREATE(MTLStructType);
  made->members = mutable_array_create();
  return made;
}

// Adds a member of an element type and that type's object, which it takes; with
// a count of more than one it becomes an array of them.
static void struct_add(struct_type *type, struct_member member,
                       array_type array) {
  struct_member *made = (struct_member *)CREATE(MTLStructMember);
  member.object = made->object;
  *made = member;
  if (array.arrayLength != 1) {
    array_type *elements = (array_type *)CREATE(MTLArrayType);
    array.object = elements->object;
    *elements = array;
    elements->elementType = member.dataType;
    elements->element = member.type;
    made->dataType = TYPE_ARRAY;
    made->type = &elements->object;
  }
  SEND(void (*)(id, SEL, id), type->members, "addObject:", &made->object);
  objc_release(&made->object);
}

// --- from a struct's members -----------------------------------------------------

static id struct_of_members(const mtl_member *members, uint32_t count);

// An array of arrays has one member without a name.
static id element_object(const mtl_member *member, NSUInteger *out_type) {
  const mtl_member *inner = member->members;
  if (!member->member_count) {
    *out_type = data_type_of(member->type, member->components, member->columns);
    return NULL;
  }
  if (member->member_count > 1 || (inner->name && *inner->name)) {
    *out_type = TYPE_STRUCT;
    return struct_of_members(inner, member->member_count);
  }
  array_type *made = (array_type *)CREATE(MTLArrayType);
  made->element = element_object(inner, &made->elementType);
  made->arrayLength = inner->array_length;
  made->stride = inner->size_bytes;
  *out_type = TYPE_ARRAY;
  return &made->object;
}

static id struct_of_members(const mtl_member *members, uint32_t count) {
  struct_type *made = struct_create();
  for (uint32_t i = 0; i < count; ++i) {
    const mtl_member *from = &members[i];
    struct_member member = {.name = string_create(from->name),
                            .offset = from->offset_bytes};
    member.type = element_object(from, &member.dataType);
    struct_add(made, member,
               (array_type){.arrayLength = from->array_length,
                            .stride = from->size_bytes});
  }
  return &made->object;
}

// --- from an argument buffer's ---------------------------------------------------

// Returns the type of the value at an offset, in the structs and arrays there.
static NSUInteger value_type(const mtl_member *members, uint32_t count,
                             size_t offset) {
  for (uint32_t i = 0; i < count; ++i) {
    const mtl_member *member = &members[i];
    const size_t inside = offset - member->offset_bytes;
    const size_t size = member->size_bytes;
    if (offset < member->offset_bytes || inside >= size * member->array_length) {
      continue;
    }
    return member->member_count
               ? value_type(member->members, member->member_count,
                            inside % size)
               : data_type_of(member->type, member->components,
                              member->columns);
  }
  return TYPE_NONE;
}

static NSUInteger constant_type(const mtl_argument *argument, size_t offset) {
  return argument ? value_type(argument->members, argument->member_count,
                               offset)
                  : TYPE_NONE;
}

static id struct_of_encoder(const mtl_argument *argument,
                            mtl_argument_encoder *encoder) {
  static const NSUInteger types[] = {
      [MTL_MEMBER_CONSTANT] = TYPE_NONE,
      [MTL_MEMBER_BUFFER] = TYPE_POINTER,
      [MTL_MEMBER_TEXTURE] = TYPE_TEXTURE,
      [MTL_MEMBER_SAMPLER] = TYPE_SAMPLER,
      [MTL_MEMBER_FUNCTION_TABLE] = TYPE_FUNCTION_TABLE,
      [MTL_MEMBER_PIPELINE] = TYPE_COMPUTE_PIPELINE,
      [MTL_MEMBER_INDIRECT_COMMANDS] = TYPE_INDIRECT_COMMANDS};
  size_t count = 0;
  const mtl_argument_member *members =
      mtl_argument_encoder_members(encoder, &count);
  struct_type *made = struct_create();
  for (size_t i = 0; i < count; ++i) {
    const mtl_argument_member *from = &members[i];
    struct_member member = {.name = string_create(from->name),
                            .offset = from->offset_bytes,
                            .dataType = types[from->kind],
                            .argumentIndex = from->id};
    if (from->kind == MTL_MEMBER_CONSTANT) {
      member.dataType = constant_type(argument, from->offset_bytes);
    } else if (from->kind == MTL_MEMBER_BUFFER) {
      member.type = pointer_create(encoder, from->id);
    }
    struct_add(made, member,
               (array_type){.arrayLength = from->count,
                            .stride = from->element_bytes,
                            .argumentIndexStride = 1});
  }
  return &made->object;
}

id struct_type_create(mtl_function *function, const mtl_argument *argument) {
  mtl_argument_encoder *encoder = NULL;
  if (function && mtl_argument_encoder_create(function, argument->index,
                                              &encoder) == MTL_OK) {
    const id made = struct_of_encoder(argument, encoder);
    mtl_argument_encoder_release(encoder);
    return made;
  }
  return argument->member_count
             ? struct_of_members(argument->members, argument->member_count)
             : NULL;
}
