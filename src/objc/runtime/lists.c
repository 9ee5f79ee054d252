// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// lists.c: lists a class's instance variables, properties and protocols.
#include <stdlib.h>
#include <string.h>

#include "objc/runtime/class.h"

OBJC_EXPORT const char *property_getName(const property *any) {
  return any ? any->name : NULL;
}

OBJC_EXPORT const char *property_getAttributes(const property *any) {
  return any ? any->attributes : NULL;
}

// Returns the total count of a class's lists of one kind.
static size_t count_all(const list_of_lists *lists, bool are_counted_first) {
  size_t count = 0;
  for (size_t i = 0; i < lists->count; ++i) {
    count += are_counted_first ? ((protocol_list *)lists->lists[i])->count
                               : ((property_list *)lists->lists[i])->count;
  }
  return count;
}

static void **room_for(size_t count) {
  return count ? calloc(count + 1, sizeof(void *)) : NULL;
}

static void tell(unsigned *out_count, void **copy, size_t count) {
  if (out_count) {
    *out_count = copy ? (unsigned)count : 0;
  }
}

OBJC_EXPORT void **class_copyPropertyList(Class class, unsigned *out_count) {
  void **copy = NULL;
  size_t at = 0;
  runtime_lock();
  if (class) {
    class_realize(class);
    const list_of_lists *lists = &class->data->properties;
    copy = room_for(count_all(lists, false));
    for (size_t i = lists->count; copy && i-- > 0;) {
      property_list *list = lists->lists[i];
      for (size_t k = 0; k < list->count; ++k) {
        copy[at++] = &list->properties[k];
      }
    }
  }
  runtime_unlock();
  tell(out_count, copy, at);
  return copy;
}

OBJC_EXPORT property *class_getProperty(Class class, const char *name) {
  property *found = NULL;
  runtime_lock();
  for (; class && name && !found; class = class->superclass) {
    class_realize(class);
    const list_of_lists *lists = &class->data->properties;
    for (size_t i = 0; i < lists->count && !found; ++i) {
      property_list *list = lists->lists[i];
      for (size_t k = 0; k < list->count && !found; ++k) {
        found = strcmp(list->properties[k].name, name) ? NULL
                                                       : &list->properties[k];
      }
    }
  }
  runtime_unlock();
  return found;
}

OBJC_EXPORT void **class_copyIvarList(Class class, unsigned *out_count) {
  void **copy = NULL;
  size_t at = 0;
  runtime_lock();
  if (class) {
    class_realize(class);
    const list_of_lists *lists = &class->data->ivars;
    copy = room_for(count_all(lists, false));
    for (size_t i = lists->count; copy && i-- > 0;) {
      ivar_list *list = lists->lists[i];
      for (size_t k = 0; k < list->count; ++k) {
        if (list->ivars[k].name) {  // except the storage of a bit field
          copy[at++] = &list->ivars[k];
        }
      }
    }
  }
  runtime_unlock();
  tell(out_count, copy, at);
  return copy;
}

OBJC_EXPORT void **class_copyProtocolList(Class class, unsigned *out_count) {
  void **copy = NULL;
  size_t at = 0;
  runtime_lock();
  if (class) {
    class_realize(class);
    const list_of_lists *lists = &class->data->protocols;
    copy = room_for(count_all(lists, true));
    for (size_t i = lists->count; copy && i-- > 0;) {
      protocol_list *list = lists->lists[i];
      for (size_t k = 0; k < list->count; ++k) {
        copy[at++] = list->protocols[k];
      }
    }
  }
  runtime_unlock();
  tell(out_count, copy, at);
  return copy;
}
