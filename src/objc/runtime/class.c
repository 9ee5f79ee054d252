// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// class.c: realizes classes, registers them by name, and looks up their
// methods.
#include "objc/runtime/class.h"

#include <stdlib.h>
#include <string.h>

#include "objc/runtime/failure.h"
#include "objc/runtime/message/message.h"
#include "objc/runtime/name_table.h"

static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static name_table classes;

void runtime_lock(void) {
  pthread_mutex_lock(&lock);
}

void runtime_unlock(void) {
  pthread_mutex_unlock(&lock);
}

void runtime_wait(void) {
  pthread_cond_wait(&changed, &lock);
}

void runtime_wake(void) {
  pthread_cond_broadcast(&changed);
}

static const class_constants *constants_of(Class class) {
  return class_is_realized(class) ? class->data->constants : class->constants;
}

const char *class_name(Class class) {
  return class ? constants_of(class)->name : "nil";
}

void list_add(list_of_lists *lists, void *list) {
  if (!list) {
    return;
  }
  void **grown = realloc(lists->lists, (lists->count + 1) * sizeof *grown);
  if (!grown) {
    runtime_fail("no memory for a class");
  }
  grown[lists->count++] = list;
  lists->lists = grown;
}

void method_list_intern(method_list *methods) {
  for (size_t i = 0; methods && i < methods->count; ++i) {
    method *each = method_list_at(methods, i);
    if (!selector_is_interned(each->name)) {
      each->name = selector_intern(each->name);
    }
  }
}

// --- Realizing ---------------------------------------------------------------

// True if methods override how objects are counted.
static bool counts_itself(method_list *methods) {
  for (size_t i = 0; methods && i < methods->count; ++i) {
    const char *name = method_list_at(methods, i)->name;
    if (!strcmp(name, "retain") || !strcmp(name, "release") ||
        !strcmp(name, "autorelease") || !strcmp(name, "retainCount")) {
      return true;
    }
  }
  return false;
}

// Moves the ivars of a class behind those of its superclass, which may have
// more of them than when the class was compiled. Offsets that are right are
// left alone: where only NSObject is above, they are in read-only memory.
static void place_ivars(class_data *data, uint32_t superclass_bytes) {
  const class_constants *constants = data->constants;
  if (superclass_bytes <= constants->instance_start || !constants->ivars) {
    if (superclass_bytes > data->instance_bytes) {
      data->instance_bytes = superclass_bytes;
    }
    return;
  }
  uint32_t alignment = 1;
  for (size_t i = 0; i < constants->ivars->count; ++i) {
    const uint32_t log2 = constants->ivars->ivars[i].alignment_log2;
    const uint32_t bytes = log2 > 16 ? sizeof(void *) : 1u << log2;
    alignment = bytes > alignment ? bytes : alignment;
  }
  uint32_t slide = superclass_bytes - constants->instance_start;
  slide = (slide + alignment - 1) & ~(alignment - 1);
  for (size_t i = 0; i < constants->ivars->count; ++i) {
    int32_t *offset = constants->ivars->ivars[i].offset;
    if (offset) {
      *offset += (int32_t)slide;
    }
  }
  data->instance_bytes += slide;
}

void class_realize(Class class) {
  if (!class || class_is_realized(class)) {
    return;
  }
  class_realize(class->superclass);
  const class_constants *constants = class->constants;
  class_data *data = calloc(1, sizeof *data);
  if (!data) {
    runtime_fail("no memory for class %s", constants->name);
  }
  data->constants = constants;
  data->flags = constants->flags | CLASS_REALIZED;
  data->instance_bytes = constants->instance_bytes;
  method_list_intern(constants->methods);
  list_add(&data->methods, constants->methods);
  list_add(&data->protocols, constants->protocols);
  list_add(&data->properties, constants->properties);
  list_add(&data->ivars, constants->ivars);
  const Class superclass = class->superclass;
  if (superclass) {
    const class_data *above = superclass->data;
    data->flags |= above->flags & (CLASS_IMMORTAL | CLASS_COUNTS_ITSELF |
                                   CLASS_HAS_CXX_STRUCTORS |
                                   CLASS_HAS_CXX_DESTRUCTOR_ONLY);
    place_ivars(data, above->instance_bytes);
    data->next_sibling = above->first_subclass;
    superclass->data->first_subclass = class;
  }
  if (class_is_meta(class)) {
    data->flags |= CLASS_IMMORTAL;
  } else if (class != &OBJC_CLASS_$_NSObject &&
             (!superclass || counts_itself(constants->methods))) {
    data->flags |= CLASS_COUNTS_ITSELF;
  }
  // Written last: readers without the lock test the flag behind this pointer.
  __atomic_store_n(&class->data, data, __ATOMIC_RELEASE);
  if (class->isa != class) {
    class_realize(class->isa);
  }
}

void class_attach(Class class, method_list *methods, protocol_list *protocols,
                  property_list *properties) {
  class_realize(class);
  method_list_intern(methods);
  list_add(&class->data->methods, methods);
  list_add(&class->data->protocols, protocols);
  list_add(&class->data->properties, properties);
  if (!class_is_meta(class) && class != &OBJC_CLASS_$_NSObject &&
      counts_itself(methods)) {
    class->data->flags |= CLASS_COUNTS_ITSELF;
  }
  if (methods) {
    message_forget(class);
  }
}

// --- By name -----------------------------------------------------------------

void class_publish(Class class) {
  const char *name = class_name(class);
  const Class other = name_table_find(&classes, name);
  if (other && other != class) {
    runtime_fail("class %s registered twice: is libMetal loaded twice, or is "
                 "the class in two libraries?",
                 name);
  }
  name_table_add(&classes, name, class);
}

static Class class_by_name(const char *name) {
  runtime_lock();
  const Class class = name ? name_table_find(&classes, name) : NULL;
  runtime_unlock();
  return class;
}

OBJC_EXPORT Class objc_getClass(const char *name) {
  return class_by_name(name);
}

OBJC_EXPORT Class objc_lookUpClass(const char *name) {
  return class_by_name(name);
}

OBJC_EXPORT Class objc_getRequiredClass(const char *name) {
  const Class class = class_by_name(name);
  if (!class) {
    runtime_fail("class %s does not exist", name);
  }
  return class;
}

OBJC_EXPORT Class objc_getMetaClass(const char *name) {
  const Class class = class_by_name(name);
  return class ? class->isa : NULL;
}

// Writes up to capacity classes, and returns how many there are.
OBJC_EXPORT int objc_getClassList(Class *list, int capacity) {
  runtime_lock();
  const int count = (int)name_table_list(&classes, (void **)list,
                                         capacity > 0 ? (size_t)capacity : 0);
  runtime_unlock();
  return count;
}

// --- Methods -----------------------------------------------------------------

method *class_own_method(Class class, SEL selector) {
  const list_of_lists *lists = &class->data->methods;
  for (size_t i = lists->count; i-- > 0;) {
    method_list *list = lists->lists[i];
    for (size_t k = 0; k < list->count; ++k) {
      method *each = method_list_at(list, k);
      if (each->name == selector) {
        return each;
      }
    }
  }
  return NULL;
}

method *class_find_method(Class class, SEL selector) {
  for (; class; class = class->superclass) {
    method *found = class_own_method(class, selector);
    if (found) {
      return found;
    }
  }
  return NULL;
}
