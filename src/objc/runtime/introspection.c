// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// introspection.c: the functions of objc/runtime.h that look up classes,
// methods and ivars, and that build classes at run time.
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "objc/runtime/class.h"
#include "objc/runtime/memory/instance.h"
#include "objc/runtime/memory/live_counts.h"
#include "objc/runtime/message/message.h"
#include "objc/runtime/protocol.h"

static void realize(Class class) {
  runtime_lock();
  class_realize(class);
  runtime_unlock();
}

// --- Objects -----------------------------------------------------------------

OBJC_EXPORT Class object_getClass(id object) {
  return object ? object->isa : NULL;
}

OBJC_EXPORT Class object_setClass(id object, Class class) {
  if (!object) {
    return NULL;
  }
  realize(class);
  const Class old =
      __atomic_exchange_n(&object->isa, class, __ATOMIC_ACQ_REL);
  live_count(old, -1);
  live_count(class, 1);
  return old;
}

OBJC_EXPORT const char *object_getClassName(id object) {
  return object ? class_name(object->isa) : "nil";
}

OBJC_EXPORT int object_isClass(id object) {
  return object && class_is_meta(object->isa);
}

OBJC_EXPORT void *object_getIndexedIvars(id object) {
  return object ? (char *)object + object->isa->data->instance_bytes : NULL;
}

// --- Classes -----------------------------------------------------------------

OBJC_EXPORT const char *class_getName(Class class) {
  return class_name(class);
}

OBJC_EXPORT Class class_getSuperclass(Class class) {
  return class ? class->superclass : NULL;
}

OBJC_EXPORT int class_isMetaClass(Class class) {
  return class && class_is_meta(class);
}

OBJC_EXPORT size_t class_getInstanceSize(Class class) {
  if (!class) {
    return 0;
  }
  realize(class);
  return (class->data->instance_bytes + sizeof(void *) - 1) &
         ~(sizeof(void *) - 1);
}

OBJC_EXPORT int class_respondsToSelector(Class class, SEL selector) {
  return class_getMethodImplementation(class, selector) != NULL;
}

OBJC_EXPORT Class objc_allocateClassPair(Class superclass, const char *name,
                                         size_t extra_bytes) {
  if (!name || objc_getClass(name)) {
    return NULL;
  }
  runtime_lock();
  class_realize(superclass);
  struct objc_class *pair = calloc(1, 2 * sizeof *pair + extra_bytes);
  class_constants *constants = calloc(2, sizeof *constants);
  char *copy = strdup(name);
  if (!pair || !constants || !copy) {
    free(pair);
    free(constants);
    free(copy);
    runtime_unlock();
    return NULL;
  }
  const uint32_t bytes =
      superclass ? superclass->data->instance_bytes : sizeof(struct objc_object);
  constants[0] = (class_constants){.name = copy,
                                   .flags = superclass ? 0 : CLASS_ROOT,
                                   .instance_start = bytes,
                                   .instance_bytes = bytes};
  constants[1] = (class_constants){.name = copy,
                                   .flags = CLASS_META,
                                   .instance_start = sizeof *pair,
                                   .instance_bytes = sizeof *pair};
  extern struct message_cache _objc_empty_cache;
  Class root = superclass;
  while (root && root->superclass) {
    root = root->superclass;
  }
  pair[0] = (struct objc_class){&pair[1], superclass, &_objc_empty_cache, NULL,
                                {&constants[0]}};
  pair[1] = (struct objc_class){root ? root->isa : &pair[1],
                                superclass ? superclass->isa : &pair[0],
                                &_objc_empty_cache, NULL, {&constants[1]}};
  class_realize(pair);
  pair->data->flags |= CLASS_UNDER_CONSTRUCTION;
  runtime_unlock();
  return pair;
}

OBJC_EXPORT void objc_registerClassPair(Class class) {
  runtime_lock();
  class->data->flags &= ~(uint32_t)CLASS_UNDER_CONSTRUCTION;
  class_publish(class);
  runtime_unlock();
}

OBJC_EXPORT int class_addIvar(Class class, const char *name, size_t bytes,
                              uint8_t alignment_log2, const char *types) {
  if (!class || !(class_flags(class) & CLASS_UNDER_CONSTRUCTION)) {
    return 0;
  }
  struct {
    ivar_list list;
    ivar only;
    int32_t offset[2];
  } *made = calloc(1, sizeof *made);
  if (!made) {
    return 0;
  }
  class_data *data = class->data;
  const uint32_t alignment = 1u << alignment_log2;
  const uint32_t offset = (data->instance_bytes + alignment - 1) & -alignment;
  made->offset[0] = (int32_t)offset;
  made->list.entry_bytes = sizeof(ivar);
  made->list.count = 1;
  made->only = (ivar){made->offset, strdup(name ? name : ""),
                      strdup(types ? types : ""), alignment_log2,
                      (uint32_t)bytes};
  data->instance_bytes = offset + (uint32_t)bytes;
  list_add(&data->ivars, &made->list);
  return 1;
}

// --- Methods -----------------------------------------------------------------

static method *find(Class class, SEL selector) {
  if (!class || !selector) {
    return NULL;
  }
  runtime_lock();
  class_realize(class);
  method *found = class_find_method(class, selector);
  runtime_unlock();
  return found;
}

OBJC_EXPORT method *class_getInstanceMethod(Class class, SEL selector) {
  return find(class, selector);
}

OBJC_EXPORT method *class_getClassMethod(Class class, SEL selector) {
  return class ? find(class->isa, selector) : NULL;
}

static void add(Class class, SEL selector, IMP imp, const char *types) {
  method_list *list = calloc(1, sizeof *list + sizeof(method));
  if (list) {
    list->entry_bytes = sizeof(method);
    list->count = 1;
    list->methods[0] =
        (method){selector, strdup(types ? types : ""), imp};
    class_attach(class, list, NULL, NULL);
  }
}

OBJC_EXPORT int class_addMethod(Class class, SEL selector, IMP imp,
                                const char *types) {
  if (!class || !selector || !imp) {
    return 0;
  }
  runtime_lock();
  class_realize(class);
  const bool is_new = !class_own_method(class, selector);
  if (is_new) {
    add(class, selector, imp, types);
  }
  runtime_unlock();
  return is_new;
}

OBJC_EXPORT IMP class_replaceMethod(Class class, SEL selector, IMP imp,
                                    const char *types) {
  if (!class || !selector || !imp) {
    return NULL;
  }
  runtime_lock();
  class_realize(class);
  method *found = class_own_method(class, selector);
  const IMP old = found ? found->imp : NULL;
  if (found) {
    found->imp = imp;
    message_forget(class);
  } else {
    add(class, selector, imp, types);
  }
  runtime_unlock();
  return old;
}

OBJC_EXPORT SEL method_getName(const method *any) {
  return any ? any->name : NULL;
}

OBJC_EXPORT IMP method_getImplementation(const method *any) {
  return any ? any->imp : NULL;
}

OBJC_EXPORT const char *method_getTypeEncoding(const method *any) {
  return any ? any->types : NULL;
}

// A method does not know its class, so all caches forget.
static void forget_all(void) {
  message_forget(&OBJC_CLASS_$_NSObject);
  message_forget(&OBJC_METACLASS_$_NSObject);
}

OBJC_EXPORT IMP method_setImplementation(method *any, IMP imp) {
  if (!any || !imp) {
    return NULL;
  }
  runtime_lock();
  const IMP old = any->imp;
  any->imp = imp;
  forget_all();
  runtime_unlock();
  return old;
}

OBJC_EXPORT void method_exchangeImplementations(method *one, method *other) {
  if (!one || !other) {
    return;
  }
  runtime_lock();
  const IMP swapped = one->imp;
  one->imp = other->imp;
  other->imp = swapped;
  forget_all();
  runtime_unlock();
}

OBJC_EXPORT method **class_copyMethodList(Class class, unsigned *out_count) {
  size_t count = 0;
  method **copy = NULL;
  runtime_lock();
  if (class) {
    class_realize(class);
    const list_of_lists *lists = &class->data->methods;
    for (size_t i = 0; i < lists->count; ++i) {
      count += ((method_list *)lists->lists[i])->count;
    }
    copy = count ? calloc(count + 1, sizeof *copy) : NULL;
    size_t at = 0;
    for (size_t i = lists->count; copy && i-- > 0;) {
      method_list *list = lists->lists[i];
      for (size_t k = 0; k < list->count; ++k) {
        copy[at++] = method_list_at(list, k);
      }
    }
  }
  runtime_unlock();
  if (out_count) {
    *out_count = copy ? (unsigned)count : 0;
  }
  return copy;
}

// --- Ivars -------------------------------------------------------------------

OBJC_EXPORT ivar *class_getInstanceVariable(Class class, const char *name) {
  ivar *found = NULL;
  runtime_lock();
  for (; class && name && !found; class = class->superclass) {
    class_realize(class);
    const list_of_lists *lists = &class->data->ivars;
    for (size_t i = 0; i < lists->count; ++i) {
      ivar_list *list = lists->lists[i];
      for (size_t k = 0; k < list->count; ++k) {
        if (list->ivars[k].name && !strcmp(list->ivars[k].name, name)) {
          found = &list->ivars[k];
        }
      }
    }
  }
  runtime_unlock();
  return found;
}

OBJC_EXPORT ptrdiff_t ivar_getOffset(const ivar *any) {
  return any && any->offset ? *any->offset : 0;
}

OBJC_EXPORT const char *ivar_getName(const ivar *any) {
  return any ? any->name : NULL;
}

OBJC_EXPORT const char *ivar_getTypeEncoding(const ivar *any) {
  return any ? any->type : NULL;
}

OBJC_EXPORT id object_getIvar(id object, const ivar *any) {
  return object && any ? *(id *)((char *)object + ivar_getOffset(any)) : NULL;
}

OBJC_EXPORT void object_setIvar(id object, const ivar *any, id value) {
  if (object && any) {
    *(id *)((char *)object + ivar_getOffset(any)) = value;
  }
}
