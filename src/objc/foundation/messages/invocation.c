// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// invocation.c: NSMethodSignature, NSInvocation, and forwardInvocation: for
// messages that a class has no method for.
#include <stdlib.h>
#include <string.h>

#include "objc/foundation/foundation.h"
#include "objc/foundation/messages/invocation.h"
#include "objc/runtime/invocation/call_frame.h"
#include "objc/runtime/memory/block.h"
#include "objc/runtime/protocol.h"

extern struct objc_class OBJC_CLASS_$_NSInvocation;
extern struct objc_class OBJC_CLASS_$_NSMethodSignature;

extern method *class_getInstanceMethod(Class class, SEL selector);

// --- NSMethodSignature -------------------------------------------------------

enum { MAX_TYPES = 64 };

// A method's types: that of the result is first, then self, _cmd and so on.
typedef struct signature {
  struct objc_object object;
  char *types[MAX_TYPES];
  size_t count;
} signature;

static id signature_make(const char *types) {
  if (!types || !*types) {
    return NULL;
  }
  signature *made = (signature *)CREATE(NSMethodSignature);
  while (*types && made->count < MAX_TYPES) {
    size_t bytes, alignment;
    const char *end = type_measure(types, &bytes, &alignment);
    if (end == types) {
      break;
    }
    made->types[made->count++] = strndup(types, (size_t)(end - types));
    types = end;
  }
  return objc_autorelease(&made->object);
}

static id signature_with(id self, SEL _cmd, const char *types) {
  (void)self;
  (void)_cmd;
  return signature_make(types);
}

static void signature_dealloc(id self, SEL _cmd) {
  (void)_cmd;
  signature *of = (signature *)self;
  for (size_t i = 0; i < of->count; ++i) {
    free(of->types[i]);
  }
  instance_dispose(self);
}

static NSUInteger signature_count(id self, SEL _cmd) {
  (void)_cmd;
  return ((signature *)self)->count - 1;
}

// Returns the type of argument index; that of the result for index -1.
static const char *type_at(const signature *of, NSInteger index) {
  if (index < -1 || (size_t)(index + 1) >= of->count) {
    exception_raise("NSInvalidArgumentException",
                    "argument %ld of a method that has %zu", (long)index,
                    of->count - 1);
  }
  return of->types[index + 1];
}

static const char *signature_argument(id self, SEL _cmd, NSUInteger index) {
  (void)_cmd;
  return type_at((signature *)self, (NSInteger)index);
}

static const char *signature_result(id self, SEL _cmd) {
  (void)_cmd;
  return ((signature *)self)->types[0];
}

static size_t bytes_of(const char *type) {
  size_t bytes, alignment;
  type_measure(type, &bytes, &alignment);
  return bytes;
}

static NSUInteger signature_result_bytes(id self, SEL _cmd) {
  (void)_cmd;
  return bytes_of(((signature *)self)->types[0]);
}

static NSUInteger signature_frame_bytes(id self, SEL _cmd) {
  (void)_cmd;
  const signature *of = (signature *)self;
  size_t sum = 0;
  for (size_t i = 1; i < of->count; ++i) {
    sum += (bytes_of(of->types[i]) + 7) / 8 * 8;
  }
  return sum;
}

static int signature_is_oneway(id self, SEL _cmd) {
  (void)_cmd;
  return *((signature *)self)->types[0] == 'V';
}

static int signature_equals(id self, SEL _cmd, id other) {
  (void)_cmd;
  const signature *a = (signature *)self, *b = (signature *)other;
  bool same =
      object_is(other, &OBJC_CLASS_$_NSMethodSignature) && a->count == b->count;
  for (size_t i = 0; same && i < a->count; ++i) {
    same = !strcmp(a->types[i], b->types[i]);
  }
  return same;
}

METHODS(signature_methods, METHOD("dealloc", "v16@0:8", signature_dealloc),
        METHOD("numberOfArguments", "Q16@0:8", signature_count),
        METHOD("getArgumentTypeAtIndex:", "r*24@0:8Q16", signature_argument),
        METHOD("methodReturnType", "r*16@0:8", signature_result),
        METHOD("methodReturnLength", "Q16@0:8", signature_result_bytes),
        METHOD("frameLength", "Q16@0:8", signature_frame_bytes),
        METHOD("isOneway", "B16@0:8", signature_is_oneway),
        METHOD("isEqual:", "B24@0:8@16", signature_equals));
METHODS(signature_class_methods,
        METHOD("signatureWithObjCTypes:", "@24@0:8r*16", signature_with));
DEFINE_CLASS(NSMethodSignature, NSObject, sizeof(signature), signature_methods,
             &signature_class_methods);

// --- NSInvocation ------------------------------------------------------------

typedef struct invocation {
  struct objc_object object;
  signature *types;         // +1
  void *values[MAX_TYPES];  // the result, then the arguments
  bool retains;
} invocation;

static invocation *invocation_create(signature *types) {
  if (strchr(type_skip_qualifiers(types->types[0]), 'D')) {
    exception_raise("NSInvalidArgumentException",
                    "a method that returns long double cannot be invoked");
  }
  invocation *made = (invocation *)CREATE(NSInvocation);
  made->types = (signature *)objc_retain(&types->object);
  for (size_t i = 0; i < types->count; ++i) {
    made->values[i] = calloc(1, bytes_of(types->types[i]) + 16);
  }
  return made;
}

static id invocation_with(id self, SEL _cmd, id types) {
  (void)self;
  (void)_cmd;
  if (!types) {
    exception_raise("NSInvalidArgumentException",
                    "invocationWithMethodSignature: of nil");
  }
  return objc_autorelease((id)invocation_create((signature *)types));
}

// Takes a reference to argument index, or releases it.
static void hold(invocation *of, size_t index) {
  const char *type = type_skip_qualifiers(of->types->types[index]);
  void **value = of->values[index];
  if (type[0] == '@' && type[1] == '?') {
    *value = _Block_copy(*value);
  } else if (*type == '@' || *type == '#') {
    objc_retain(*value);
  } else if (*type == '*' && *value) {
    *value = strdup(*value);
  }
}

static void let_go(invocation *of, size_t index) {
  const char *type = type_skip_qualifiers(of->types->types[index]);
  void **value = of->values[index];
  if (*type == '@' || *type == '#') {
    objc_release(*value);
  } else if (*type == '*') {
    free(*value);
  }
}

static void invocation_dealloc(id self, SEL _cmd) {
  (void)_cmd;
  invocation *of = (invocation *)self;
  for (size_t i = 0; i < of->types->count; ++i) {
    if (of->retains && i) {
      let_go(of, i);
    }
    free(of->values[i]);
  }
  objc_release(&of->types->object);
  instance_dispose(self);
}

static id invocation_signature(id self, SEL _cmd) {
  (void)_cmd;
  return &((invocation *)self)->types->object;
}

static void get_value(id self, NSInteger index, void *out) {
  const invocation *of = (invocation *)self;
  memcpy(out, of->values[index + 1], bytes_of(type_at(of->types, index)));
}

static void set_value(id self, NSInteger index, const void *value) {
  invocation *of = (invocation *)self;
  const size_t bytes = bytes_of(type_at(of->types, index));
  const bool holds = of->retains && index >= 0;
  if (holds) {
    let_go(of, (size_t)index + 1);
  }
  memcpy(of->values[index + 1], value, bytes);
  if (holds) {
    hold(of, (size_t)index + 1);
  }
}

static void invocation_get(id self, SEL _cmd, void *out, NSInteger index) {
  (void)_cmd;
  get_value(self, index, out);
}

static void invocation_set(id self, SEL _cmd, const void *value,
                           NSInteger index) {
  (void)_cmd;
  set_value(self, index, value);
}

static void invocation_get_result(id self, SEL _cmd, void *out) {
  (void)_cmd;
  get_value(self, -1, out);
}

static void invocation_set_result(id self, SEL _cmd, const void *value) {
  (void)_cmd;
  set_value(self, -1, value);
}

static id invocation_target(id self, SEL _cmd) {
  (void)_cmd;
  return *(id *)((invocation *)self)->values[1];
}

static void invocation_set_target(id self, SEL _cmd, id target) {
  (void)_cmd;
  set_value(self, 0, &target);
}

static SEL invocation_selector(id self, SEL _cmd) {
  (void)_cmd;
  return *(SEL *)((invocation *)self)->values[2];
}

static void invocation_set_selector(id self, SEL _cmd, SEL selector) {
  (void)_cmd;
  set_value(self, 1, &selector);
}

static void invocation_retain(id self, SEL _cmd) {
  (void)_cmd;
  invocation *of = (invocation *)self;
  for (size_t i = 1; !of->retains && i < of->types->count; ++i) {
    hold(of, i);
  }
  of->retains = true;
}

static int invocation_retains(id self, SEL _cmd) {
  (void)_cmd;
  return ((invocation *)self)->retains;
}

// --- Between values and the registers of a call ------------------------------

// Returns where a piece lies in the frame.
static void *piece_at(call_frame *frame, const value_piece *piece) {
  switch (piece->place) {
    case IN_VECTOR: return frame->vector[piece->index].words;
    case ON_STACK: return frame->stack + piece->index;
    default:
      return piece->index < MAX_GENERAL
                 ? &frame->general[piece->index]
                 : &frame->stack[piece->index - MAX_GENERAL];
  }
}

static void put(call_frame *frame, const value_piece *piece, void *value) {
  void *at = piece_at(frame, piece);
  if (piece->place == BY_REFERENCE) {
    memcpy(at, &value, sizeof value);
  } else {
    memcpy(at, (char *)value + piece->offset, piece->bytes);
  }
}

static void take(call_frame *frame, const value_piece *piece, void *value) {
  const void *at = piece_at(frame, piece);
  if (piece->place == BY_REFERENCE) {
    memcpy(&at, at, sizeof at);
  }
  memcpy((char *)value + piece->offset, at, piece->bytes);
}

typedef void mover(call_frame *frame, const value_piece *piece, void *value);

// Moves all arguments; returns the words of the stack that they take.
static size_t move_arguments(invocation *of, call_frame *frame, bool hidden,
                             mover *move) {
  placement used = {0, 0, 0};
  if (hidden) {
    place_hidden(&used);
  }
  for (size_t i = 1; i < of->types->count; ++i) {
    value_piece pieces[MAX_PIECES];
    const size_t count = place_argument(&used, of->types->types[i], pieces);
    for (size_t j = 0; move && j < count; ++j) {
      move(frame, &pieces[j], of->values[i]);
    }
  }
  return used.stack;
}

static bool is_hidden(const invocation *of) {
  value_piece pieces[MAX_PIECES];
  const char *type = of->types->types[0];
  return bytes_of(type) && !place_result(type, pieces);
}

static void move_result(invocation *of, call_frame *frame, mover *move) {
  value_piece pieces[MAX_PIECES];
  const size_t count = place_result(of->types->types[0], pieces);
  for (size_t i = 0; i < count; ++i) {
    move(frame, &pieces[i], of->values[0]);
  }
}

static void invoke(invocation *of, IMP imp) {
  call_frame frame = {.stack = NULL};
  const bool hidden = is_hidden(of);
  frame.stack_words = move_arguments(of, &frame, hidden, NULL);
  frame.stack = calloc(frame.stack_words + 1, sizeof *frame.stack);
  move_arguments(of, &frame, hidden, put);
  if (hidden) {
    frame_set_result(&frame, of->values[0]);
  }
  call_with_frame(imp, &frame);
  free(frame.stack);
  move_result(of, &frame, take);
}

SEL invocation_get_selector(id of) {
  return invocation_selector(of, NULL);
}

void invocation_call(id of, IMP imp) {
  invoke((invocation *)of, imp);
}

static void invocation_invoke(id self, SEL _cmd) {
  invocation *of = (invocation *)self;
  const id target = invocation_target(self, _cmd);
  const SEL selector = invocation_selector(self, _cmd);
  if (!target) {
    memset(of->values[0], 0, bytes_of(of->types->types[0]));
    return;
  }
  const method *found = class_getInstanceMethod(target->isa, selector);
  // objc_msgSend finds the receiver by its arguments, and answers for classes
  // that have no method, too.
  invoke(of, found ? found->imp : (IMP)objc_msgSend);
}

static void invocation_invoke_with(id self, SEL _cmd, id target) {
  invocation_set_target(self, _cmd, target);
  invocation_invoke(self, _cmd);
}

METHODS(invocation_methods, METHOD("dealloc", "v16@0:8", invocation_dealloc),
        METHOD("methodSignature", "@16@0:8", invocation_signature),
        METHOD("getArgument:atIndex:", "v32@0:8^v16q24", invocation_get),
        METHOD("setArgument:atIndex:", "v32@0:8^v16q24", invocation_set),
        METHOD("getReturnValue:", "v24@0:8^v16", invocation_get_result),
        METHOD("setReturnValue:", "v24@0:8^v16", invocation_set_result),
        METHOD("target", "@16@0:8", invocation_target),
        METHOD("setTarget:", "v24@0:8@16", invocation_set_target),
        METHOD("selector", ":16@0:8", invocation_selector),
        METHOD("setSelector:", "v24@0:8:16", invocation_set_selector),
        METHOD("retainArguments", "v16@0:8", invocation_retain),
        METHOD("argumentsRetained", "B16@0:8", invocation_retains),
        METHOD("invoke", "v16@0:8", invocation_invoke),
        METHOD("invokeWithTarget:", "v24@0:8@16", invocation_invoke_with));
METHODS(invocation_class_methods, METHOD("invocationWithMethodSignature:",
                                         "@24@0:8@16", invocation_with));
DEFINE_CLASS(NSInvocation, NSObject, sizeof(invocation), invocation_methods,
             &invocation_class_methods);

// --- Forwarding --------------------------------------------------------------

// Called by message_forward with the arguments of a message that has no method.
void forward_invocation(call_frame *frame);
void forward_invocation(call_frame *frame) {
  const bool hidden = !selector_is_interned((SEL)(uintptr_t)frame->general[1]);
  const size_t first = hidden ? frame_first(true) : 0;
  const id receiver = (id)(uintptr_t)frame->general[first];
  const SEL selector = (SEL)(uintptr_t)frame->general[first + 1];
  const id types = SEND(id(*)(id, SEL, SEL), receiver,
                        "methodSignatureForSelector:", selector);
  invocation *made = invocation_create((signature *)types);
  const bool in_memory = is_hidden(made);
  void *memory = hidden ? (void *)(uintptr_t)frame->general[0] : frame->result;
  move_arguments(made, frame, in_memory, take);
  SEND(void (*)(id, SEL, id), receiver, "forwardInvocation:", (id)made);
  if (in_memory) {
    memcpy(memory, made->values[0], bytes_of(made->types->types[0]));
    frame->general[0] = (uint64_t)(uintptr_t)memory;
  } else {
    move_result(made, frame, put);
  }
  // The result may live by the invocation alone.
  objc_autorelease((id)made);
}

static id object_signature(id self, SEL _cmd, SEL selector) {
  (void)_cmd;
  const method *found = class_getInstanceMethod(self->isa, selector);
  return found ? signature_make(found->types) : NULL;
}

static id instance_signature(id self, SEL _cmd, SEL selector) {
  (void)_cmd;
  const method *found = class_getInstanceMethod((Class)self, selector);
  return found ? signature_make(found->types) : NULL;
}

static void object_forward(id self, SEL _cmd, id of) {
  SEND(void (*)(id, SEL, SEL), self,
       "doesNotRecognizeSelector:", invocation_selector(of, _cmd));
}

METHODS(object_methods,
        METHOD("methodSignatureForSelector:", "@24@0:8:16", object_signature),
        METHOD("forwardInvocation:", "v24@0:8@16", object_forward));
METHODS(object_class_methods, METHOD("instanceMethodSignatureForSelector:",
                                     "@24@0:8:16", instance_signature));
static category object_category = {
    .name = "invocation",
    .class = &OBJC_CLASS_$_NSObject,
    .instance_methods = (method_list *)&object_methods,
    .class_methods = (method_list *)&object_class_methods};
static category *object_listed __attribute__((section("objc_catlist"), used)) =
    &object_category;

// --- NSProxy: a root class that stands for another object --------------------

static id proxy_alloc(id self, SEL _cmd) {
  (void)_cmd;
  return instance_create((Class)self, 0);
}

static void proxy_dealloc(id self, SEL _cmd) {
  (void)_cmd;
  instance_dispose(self);
}

static id proxy_signature(id self, SEL _cmd, SEL selector) {
  (void)_cmd;
  exception_raise("NSInvalidArgumentException",
                  "*** -[%s methodSignatureForSelector:] is not defined, and "
                  "%s was sent",
                  class_name(self->isa), selector);
}

static id proxy_retain(id self, SEL _cmd) {
  (void)_cmd;
  return class_is_meta(self->isa) ? self : instance_retain(self);
}

static void proxy_release(id self, SEL _cmd) {
  (void)_cmd;
  if (!class_is_meta(self->isa)) {
    instance_release(self);
  }
}

static id proxy_autorelease(id self, SEL _cmd) {
  (void)_cmd;
  if (!class_is_meta(self->isa)) {
    pool_add(self);
  }
  return self;
}

static NSUInteger proxy_references(id self, SEL _cmd) {
  (void)_cmd;
  return class_is_meta(self->isa) ? NSNotFound : instance_references(self);
}

static id proxy_self(id self, SEL _cmd) {
  (void)_cmd;
  return self;
}

static Class proxy_class(id self, SEL _cmd) {
  (void)_cmd;
  return self->isa;
}

static int proxy_is_proxy(id self, SEL _cmd) {
  (void)self;
  (void)_cmd;
  return 1;
}

static int proxy_equals(id self, SEL _cmd, id other) {
  (void)_cmd;
  return self == other;
}

static NSUInteger proxy_hash(id self, SEL _cmd) {
  (void)_cmd;
  return (NSUInteger)self;
}

static id proxy_description(id self, SEL _cmd) {
  (void)_cmd;
  return string_make_printf("<%s: %p>", class_name(self->isa), (void *)self);
}

static void proxy_unrecognized(id self, SEL _cmd, SEL selector) {
  (void)_cmd;
  exception_raise_unrecognized(self, selector);
}

static void proxy_initialize(Class self, SEL _cmd) {
  (void)self;
  (void)_cmd;
}

// All other messages, isKindOfClass: and respondsToSelector: too, are
// forwarded.
METHODS(proxy_methods, METHOD("dealloc", "v16@0:8", proxy_dealloc),
        METHOD("retain", "@16@0:8", proxy_retain),
        METHOD("release", "v16@0:8", proxy_release),
        METHOD("autorelease", "@16@0:8", proxy_autorelease),
        METHOD("retainCount", "Q16@0:8", proxy_references),
        METHOD("self", "@16@0:8", proxy_self),
        METHOD("class", "#16@0:8", proxy_class),
        METHOD("isProxy", "B16@0:8", proxy_is_proxy),
        METHOD("isEqual:", "B24@0:8@16", proxy_equals),
        METHOD("hash", "Q16@0:8", proxy_hash),
        METHOD("description", "@16@0:8", proxy_description),
        METHOD("methodSignatureForSelector:", "@24@0:8:16", proxy_signature),
        METHOD("forwardInvocation:", "v24@0:8@16", object_forward),
        METHOD("doesNotRecognizeSelector:", "v24@0:8:16", proxy_unrecognized));
METHODS(proxy_class_methods, METHOD("alloc", "@16@0:8", proxy_alloc),
        METHOD("class", "#16@0:8", proxy_self),
        METHOD("initialize", "v16@0:8", proxy_initialize));
DEFINE_ROOT_CLASS(NSProxy, proxy_methods, &proxy_class_methods);
