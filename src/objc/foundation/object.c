// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// object.c: NSObject, the root of all classes.
#include <stdio.h>
#include <string.h>

#include "objc/foundation/foundation.h"
#include "objc/runtime/protocol.h"

id shared_instance(_Atomic(id) *shared, Class class) {
  id known = atomic_load_explicit(shared, memory_order_acquire);
  if (!known) {
    const id made = instance_create(class, 0);
    if (atomic_compare_exchange_strong(shared, &known, made)) {
      known = made;
    } else {
      objc_release(made);
    }
  }
  return known;
}

static Class class_of(id self) {
  return class_is_meta(self->isa) ? (Class)self : self->isa;
}

// --- Class methods -----------------------------------------------------------

static id object_alloc(Class self, SEL _cmd) {
  (void)_cmd;
  return instance_create(self, 0);
}

static id object_alloc_with_zone(Class self, SEL _cmd, void *zone) {
  (void)_cmd;
  (void)zone;
  return SEND(id(*)(id, SEL), self, "alloc");
}

static id object_new(Class self, SEL _cmd) {
  (void)_cmd;
  const id object = SEND(id(*)(id, SEL), self, "alloc");
  return SEND(id(*)(id, SEL), object, "init");
}

static Class class_class(Class self, SEL _cmd) {
  (void)_cmd;
  return self;
}

static Class class_superclass(Class self, SEL _cmd) {
  (void)_cmd;
  return self->superclass;
}

static int is_subclass(Class class, Class other) {
  for (; class; class = class->superclass) {
    if (class == other) {
      return 1;
    }
  }
  return 0;
}

static int class_is_subclass(Class self, SEL _cmd, Class other) {
  (void)_cmd;
  return is_subclass(self, other);
}

static int finds_method(Class class, SEL selector) {
  return class_getMethodImplementation(class, selector) != NULL;
}

static int class_instances_respond(Class self, SEL _cmd, SEL selector) {
  (void)_cmd;
  return finds_method(self, selector);
}

static IMP class_instance_method(Class self, SEL _cmd, SEL selector) {
  (void)_cmd;
  return class_getMethodImplementation(self, selector);
}

static int conforms(Class class, const protocol *wanted) {
  int found = 0;
  runtime_lock();
  for (; class && !found; class = class->superclass) {
    found = wanted && class_adopts(class, wanted);
  }
  runtime_unlock();
  return found;
}

static int class_conforms(Class self, SEL _cmd, const protocol *wanted) {
  (void)_cmd;
  return conforms(self, wanted);
}

static void class_initialize(Class self, SEL _cmd) {
  (void)self;
  (void)_cmd;
}

static int class_resolve(Class self, SEL _cmd, SEL selector) {
  (void)self;
  (void)_cmd;
  (void)selector;
  return 0;
}

static id class_self(Class self, SEL _cmd) {
  (void)_cmd;
  return (id)self;
}

static id class_description(Class self, SEL _cmd) {
  (void)_cmd;
  return string_make(class_name(self));
}

// --- Instance methods --------------------------------------------------------

static id object_init(id self, SEL _cmd) {
  (void)_cmd;
  return self;
}

static void object_dealloc(id self, SEL _cmd) {
  (void)_cmd;
  instance_dispose(self);
}

// A class as a receiver is immortal; its methods are the root class' own.
static bool is_immortal(id self) {
  return class_flags(self->isa) & CLASS_IMMORTAL;
}

static id object_retain(id self, SEL _cmd) {
  (void)_cmd;
  return is_immortal(self) ? self : instance_retain(self);
}

static void object_release(id self, SEL _cmd) {
  (void)_cmd;
  if (!is_immortal(self)) {
    instance_release(self);
  }
}

static id object_autorelease(id self, SEL _cmd) {
  (void)_cmd;
  if (!is_immortal(self)) {
    pool_add(self);
  }
  return self;
}

static NSUInteger object_retain_count(id self, SEL _cmd) {
  (void)_cmd;
  return is_immortal(self) ? NSNotFound : instance_references(self);
}

static id object_self(id self, SEL _cmd) {
  (void)_cmd;
  return self;
}

static Class object_class(id self, SEL _cmd) {
  (void)_cmd;
  return self->isa;
}

static Class object_superclass(id self, SEL _cmd) {
  (void)_cmd;
  return self->isa->superclass;
}

static int object_is_kind(id self, SEL _cmd, Class other) {
  (void)_cmd;
  return is_subclass(self->isa, other);
}

static int object_is_member(id self, SEL _cmd, Class other) {
  (void)_cmd;
  // By the method, like description: an observed object's isa is a hidden
  // subclass (key_observing.c).
  return SEND(Class(*)(id, SEL), self, "class") == other;
}

static int object_responds(id self, SEL _cmd, SEL selector) {
  (void)_cmd;
  return finds_method(self->isa, selector);
}

static int object_conforms(id self, SEL _cmd, const protocol *wanted) {
  (void)_cmd;
  return conforms(class_of(self), wanted);
}

static IMP object_method(id self, SEL _cmd, SEL selector) {
  (void)_cmd;
  return class_getMethodImplementation(self->isa, selector);
}

static int object_is_equal(id self, SEL _cmd, id other) {
  (void)_cmd;
  return self == other;
}

static NSUInteger object_hash(id self, SEL _cmd) {
  (void)_cmd;
  return (NSUInteger)self / 16;
}

static id object_description(id self, SEL _cmd) {
  (void)_cmd;
  // An observed object's class is a hidden one; it answers with its own.
  const Class class = SEND(Class(*)(id, SEL), self, "class");
  return string_make_printf("<%s: %p>", class_name(class), (void *)self);
}

static id object_class_name(id self, SEL _cmd) {
  (void)_cmd;
  return string_make(class_name(SEND(Class(*)(id, SEL), self, "class")));
}

static id object_debug_description(id self, SEL _cmd) {
  (void)_cmd;
  return SEND(id(*)(id, SEL), self, "description");
}

static id object_copy(id self, SEL _cmd) {
  (void)_cmd;
  return SEND(id(*)(id, SEL, void *), self, "copyWithZone:", NULL);
}

static id object_mutable_copy(id self, SEL _cmd) {
  (void)_cmd;
  return SEND(id(*)(id, SEL, void *), self, "mutableCopyWithZone:", NULL);
}

static id object_perform(id self, SEL _cmd, SEL selector) {
  (void)_cmd;
  return ((id(*)(id, SEL))objc_msgSend)(self, selector);
}

static id object_perform_with(id self, SEL _cmd, SEL selector, id one) {
  (void)_cmd;
  return ((id(*)(id, SEL, id))objc_msgSend)(self, selector, one);
}

static id object_perform_with_two(id self, SEL _cmd, SEL selector, id one,
                                  id other) {
  (void)_cmd;
  return ((id(*)(id, SEL, id, id))objc_msgSend)(self, selector, one, other);
}

static void object_not_recognized(id self, SEL _cmd, SEL selector) {
  (void)_cmd;
  exception_raise_unrecognized(self, selector);
}

static id object_forwarding_target(id self, SEL _cmd, SEL selector) {
  (void)self;
  (void)_cmd;
  (void)selector;
  return NULL;
}

static int object_is_proxy(id self, SEL _cmd) {
  (void)self;
  (void)_cmd;
  return 0;
}

static void *object_zone(id self, SEL _cmd) {
  (void)self;
  (void)_cmd;
  return NULL;
}

// For objc_enumerationMutation.
static void object_mutated(id self, SEL _cmd) {
  (void)_cmd;
  exception_raise("NSGenericException",
                  "%s %p was mutated while being enumerated",
                  class_name(self->isa), (void *)self);
}

METHODS(
    object_methods,
    METHOD("init", "@16@0:8", object_init),
    METHOD("dealloc", "v16@0:8", object_dealloc),
    METHOD("finalize", "v16@0:8", object_init),
    METHOD("retain", "@16@0:8", object_retain),
    METHOD("release", "v16@0:8", object_release),
    METHOD("autorelease", "@16@0:8", object_autorelease),
    METHOD("retainCount", "Q16@0:8", object_retain_count),
    METHOD("self", "@16@0:8", object_self),
    METHOD("class", "#16@0:8", object_class),
    METHOD("superclass", "#16@0:8", object_superclass),
    METHOD("zone", "^v16@0:8", object_zone),
    METHOD("isProxy", "B16@0:8", object_is_proxy),
    METHOD("isKindOfClass:", "B24@0:8#16", object_is_kind),
    METHOD("isMemberOfClass:", "B24@0:8#16", object_is_member),
    METHOD("respondsToSelector:", "B24@0:8:16", object_responds),
    METHOD("conformsToProtocol:", "B24@0:8@16", object_conforms),
    METHOD("methodForSelector:", "^?24@0:8:16", object_method),
    METHOD("isEqual:", "B24@0:8@16", object_is_equal),
    METHOD("hash", "Q16@0:8", object_hash),
    METHOD("description", "@16@0:8", object_description),
    METHOD("debugDescription", "@16@0:8", object_debug_description),
    METHOD("className", "@16@0:8", object_class_name),
    METHOD("copy", "@16@0:8", object_copy),
    METHOD("mutableCopy", "@16@0:8", object_mutable_copy),
    METHOD("performSelector:", "@24@0:8:16", object_perform),
    METHOD("performSelector:withObject:", "@32@0:8:16@24",
           object_perform_with),
    METHOD("performSelector:withObject:withObject:", "@40@0:8:16@24@32",
           object_perform_with_two),
    METHOD("doesNotRecognizeSelector:", "v24@0:8:16", object_not_recognized),
    METHOD("forwardingTargetForSelector:", "@24@0:8:16",
           object_forwarding_target),
    METHOD("mettleMutatedWhileEnumerated", "v16@0:8", object_mutated));

METHODS(
    object_class_methods,
    METHOD("alloc", "@16@0:8", object_alloc),
    METHOD("allocWithZone:", "@24@0:8^v16", object_alloc_with_zone),
    METHOD("new", "@16@0:8", object_new),
    METHOD("class", "#16@0:8", class_class),
    METHOD("superclass", "#16@0:8", class_superclass),
    METHOD("self", "@16@0:8", class_self),
    METHOD("isSubclassOfClass:", "B24@0:8#16", class_is_subclass),
    METHOD("instancesRespondToSelector:", "B24@0:8:16",
           class_instances_respond),
    METHOD("instanceMethodForSelector:", "^?24@0:8:16", class_instance_method),
    METHOD("conformsToProtocol:", "B24@0:8@16", class_conforms),
    METHOD("initialize", "v16@0:8", class_initialize),
    METHOD("resolveInstanceMethod:", "B24@0:8:16", class_resolve),
    METHOD("resolveClassMethod:", "B24@0:8:16", class_resolve),
    METHOD("copyWithZone:", "@24@0:8^v16", class_self),
    METHOD("description", "@16@0:8", class_description));

static class_constants root_meta_constants = {
    .flags = CLASS_META | CLASS_ROOT,
    .instance_start = sizeof(struct objc_class),
    .instance_bytes = sizeof(struct objc_class),
    .name = "NSObject",
    .methods = (method_list *)&object_class_methods};
static class_constants root_constants = {
    .flags = CLASS_ROOT,
    // Compilers take it for granted that NSObject is one pointer.
    .instance_start = 0,
    .instance_bytes = sizeof(struct objc_object),
    .name = "NSObject",
    .methods = (method_list *)&object_methods};
OBJC_EXPORT struct objc_class OBJC_METACLASS_$_NSObject = {
    &OBJC_METACLASS_$_NSObject, &OBJC_CLASS_$_NSObject, &_objc_empty_cache,
    NULL, {&root_meta_constants}};
OBJC_EXPORT struct objc_class OBJC_CLASS_$_NSObject = {
    &OBJC_METACLASS_$_NSObject, NULL, &_objc_empty_cache, NULL,
    {&root_constants}};
static Class const root_listed
    __attribute__((section("objc_classlist"), used)) = &OBJC_CLASS_$_NSObject;

// NSObject's protocol, so that conformsToProtocol:@protocol(NSObject) holds.
static protocol object_protocol = {.name = "NSObject", .size = sizeof(protocol)};
static protocol *object_protocol_listed
    __attribute__((section("objc_protolist"), used)) = &object_protocol;
static struct {
  uintptr_t count;
  protocol *only;
} object_protocols = {1, &object_protocol};

static void __attribute__((constructor(110))) adopt_protocol(void) {
  runtime_lock();
  class_attach(&OBJC_CLASS_$_NSObject, NULL, (protocol_list *)&object_protocols,
               NULL);
  runtime_unlock();
}
