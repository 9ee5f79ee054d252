// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// protocol.c: registers protocols and tests for conformance.
#include "objc/runtime/protocol.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "objc/runtime/class.h"
#include "objc/runtime/define.h"
#include "objc/runtime/name_table.h"

METHODS(protocol_methods, METHOD_LIST_END);
DEFINE_CLASS(Protocol, NSObject, sizeof(protocol), protocol_methods,
             NO_METHODS);

static name_table protocols;

void protocol_register(protocol *registered) {
  registered->isa = &OBJC_CLASS_$_Protocol;
  method_list_intern(registered->instance_methods);
  method_list_intern(registered->class_methods);
  method_list_intern(registered->optional_instance_methods);
  method_list_intern(registered->optional_class_methods);
  if (!name_table_find(&protocols, registered->name)) {
    name_table_add(&protocols, registered->name, registered);
  }
}

protocol *protocol_canonical(protocol *any) {
  protocol *found = name_table_find(&protocols, any->name);
  return found ? found : any;
}

bool protocol_adopts(const protocol *one, const protocol *other) {
  if (one == other || !strcmp(one->name, other->name)) {
    return true;
  }
  for (size_t i = 0; one->protocols && i < one->protocols->count; ++i) {
    if (protocol_adopts(one->protocols->protocols[i], other)) {
      return true;
    }
  }
  return false;
}

bool class_adopts(Class class, const protocol *wanted) {
  const list_of_lists *lists = &class->data->protocols;
  for (size_t i = 0; i < lists->count; ++i) {
    const protocol_list *list = lists->lists[i];
    for (size_t k = 0; k < list->count; ++k) {
      if (protocol_adopts(list->protocols[k], wanted)) {
        return true;
      }
    }
  }
  return false;
}

OBJC_EXPORT protocol *objc_getProtocol(const char *name) {
  runtime_lock();
  protocol *found = name ? name_table_find(&protocols, name) : NULL;
  runtime_unlock();
  return found;
}

OBJC_EXPORT const char *protocol_getName(const protocol *any) {
  return any ? any->name : "nil";
}

OBJC_EXPORT int protocol_isEqual(const protocol *one, const protocol *other) {
  return one == other || (one && other && !strcmp(one->name, other->name));
}

OBJC_EXPORT int protocol_conformsToProtocol(const protocol *one,
                                            const protocol *other) {
  return one && other && protocol_adopts(one, other);
}

// Conformance of this class alone, as Apple's function of this name.
OBJC_EXPORT int class_conformsToProtocol(Class class, const protocol *wanted) {
  if (!class || !wanted) {
    return 0;
  }
  runtime_lock();
  class_realize(class);
  const bool adopts = class_adopts(class, wanted);
  runtime_unlock();
  return adopts;
}

OBJC_EXPORT int class_addProtocol(Class class, protocol *added) {
  if (!class || !added || class_conformsToProtocol(class, added)) {
    return 0;
  }
  protocol_list *list = malloc(sizeof *list + sizeof list->protocols[0]);
  if (!list) {
    return 0;
  }
  list->count = 1;
  list->protocols[0] = added;
  runtime_lock();
  class_attach(class, NULL, list, NULL);
  runtime_unlock();
  return 1;
}

// What protocol_getMethodDescription gives, by value.
typedef struct method_description {
  SEL name;
  const char *types;
} method_description;

OBJC_EXPORT method_description protocol_getMethodDescription(
    const protocol *any, SEL selector, _Bool is_required, _Bool is_instance) {
  method_list *list =
      !any ? NULL
      : is_required
          ? (is_instance ? any->instance_methods : any->class_methods)
          : (is_instance ? any->optional_instance_methods
                         : any->optional_class_methods);
  for (size_t i = 0; list && i < list->count; ++i) {
    const method *each = method_list_at(list, i);
    if (each->name == selector) {
      return (method_description){each->name, each->types};
    }
  }
  for (size_t i = 0; any && any->protocols && i < any->protocols->count; ++i) {
    const method_description found = protocol_getMethodDescription(
        any->protocols->protocols[i], selector, is_required, is_instance);
    if (found.name) {
      return found;
    }
  }
  return (method_description){NULL, NULL};
}
