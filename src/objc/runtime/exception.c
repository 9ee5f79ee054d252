// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// exception.c: throws and catches objects. A thrown object is a C++ exception
// with a type_info of ours: C++ frames unwind as they should, catch (...)
// catches it, and @catch catches by class.
//
// Source  Itanium C++ ABI: Exception Handling; type_info's virtual functions
//         are libstdc++'s (cxxabi.h)
#include "objc/runtime/exception.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "objc/runtime/class.h"
#include "objc/runtime/failure.h"
#include "objc/runtime/memory/instance.h"
#include "objc/runtime/memory/zombie.h"
#include "objc/runtime/message/message.h"

// std::type_info, and the class that it stands for. @catch (NSFoo *) in a
// compiled file has one of these, called OBJC_EHTYPE_$_NSFoo.
typedef struct exception_type {
  const void *const *vtable;  // objc_ehtype_vtable + 2
  const char *name;
  Class class;  // NULL: any object
} exception_type;

typedef struct thrown {
  id object;
  exception_type type;
} thrown;

extern void *__cxa_allocate_exception(size_t bytes);
extern void __cxa_throw(void *exception, void *type, void (*destroy)(void *))
    __attribute__((noreturn));
extern void *__cxa_begin_catch(void *exception);
extern void __cxa_end_catch(void);
extern void __cxa_rethrow(void) __attribute__((noreturn));
extern void *__cxa_current_exception_type(void);

OBJC_EXPORT extern const void *const objc_ehtype_vtable[];

static void type_destroy(exception_type *type) {
  (void)type;
}

static bool type_is_pointer(const exception_type *type) {
  (void)type;
  return true;  // so that a handler gets the object, not its address
}

static bool type_is_function(const exception_type *type) {
  (void)type;
  return false;
}

// True if a handler of this type catches the thrown object.
static bool type_catches(const exception_type *type,
                         const exception_type *thrown_type, void **object,
                         unsigned outer) {
  (void)object;
  (void)outer;
  if (thrown_type->vtable != objc_ehtype_vtable + 2) {
    return false;
  }
  if (!type->class) {
    return true;
  }
  for (Class each = thrown_type->class; each; each = each->superclass) {
    if (each == type->class) {
      return true;
    }
  }
  return false;
}

static bool type_upcasts(const exception_type *type, const void *to,
                         void **object) {
  (void)type;
  (void)to;
  (void)object;
  return false;
}

const void *const objc_ehtype_vtable[] = {
    NULL,  // offset to the top
    NULL,  // no type of its own
    (const void *)type_destroy,
    (const void *)type_destroy,
    (const void *)type_is_pointer,
    (const void *)type_is_function,
    (const void *)type_catches,
    (const void *)type_upcasts,
};

// @catch (id) names this one.
OBJC_EXPORT exception_type OBJC_EHTYPE_id = {objc_ehtype_vtable + 2, "id",
                                             NULL};
extern struct objc_class OBJC_CLASS_$_NSException;
OBJC_EXPORT exception_type OBJC_EHTYPE_$_NSException = {
    objc_ehtype_vtable + 2, "NSException", &OBJC_CLASS_$_NSException};

static void thrown_destroy(void *exception) {
  objc_release(((thrown *)exception)->object);
}

void objc_exception_throw(id object) {
  thrown *made = __cxa_allocate_exception(sizeof *made);
  made->object = objc_retain(object);
  made->type = (exception_type){objc_ehtype_vtable + 2,
                                object ? class_name(object->isa) : "id",
                                object ? object->isa : NULL};
  if (runtime_debugs("exceptions")) {
    runtime_warn("throws %s %p", made->type.name, (void *)object);
    void *frames[64];
    backtrace_symbols_fd(frames, backtrace(frames, 64), 2);
  }
  __cxa_throw(made, &made->type, thrown_destroy);
}

id exception_current(void) {
  exception_type *type = __cxa_current_exception_type();
  if (!type || type->vtable != objc_ehtype_vtable + 2) {
    return NULL;
  }
  return ((thrown *)((char *)type - offsetof(thrown, type)))->object;
}

OBJC_EXPORT __attribute__((noreturn)) void objc_exception_rethrow(void) {
  __cxa_rethrow();
}

OBJC_EXPORT id objc_begin_catch(void *exception) {
  return __cxa_begin_catch(exception);
}

OBJC_EXPORT void objc_end_catch(void) {
  __cxa_end_catch();
}

OBJC_EXPORT __attribute__((noreturn)) void objc_terminate(void) {
  runtime_fail("an exception left a function that lets none out");
}

void exception_raise(const char *name, const char *format, ...) {
  char reason[1024];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(reason, sizeof reason, format, arguments);
  va_end(arguments);
  const id class = (id)&OBJC_CLASS_$_NSException;
  const id exception = SEND(id(*)(id, SEL, const char *, const char *), class,
                            "mettleExceptionWithName:reason:", name, reason);
  objc_exception_throw(exception);
}

// Returns the first address on the stack that is not in this library: whose
// message it was. NULL if there is none.
static const void *find_sender(void) {
  void *frames[16];
  const int count = backtrace(frames, 16);
  Dl_info own, other;
  if (!dladdr(__extension__(const void *) find_sender, &own)) {
    return NULL;
  }
  for (int i = 0; i < count; ++i) {
    if (dladdr(frames[i], &other) && other.dli_fbase != own.dli_fbase) {
      return frames[i];
    }
  }
  return NULL;
}

static __thread const void *unrecognized_sender;

const void *exception_unrecognized_sender(void) {
  return unrecognized_sender;
}

void exception_raise_unrecognized(id receiver, SEL selector) {
  zombie_check(receiver, selector);
  unrecognized_sender = find_sender();
  const bool is_class = class_is_meta(receiver->isa);
  const char *name = class_name(is_class ? (Class)receiver : receiver->isa);
  if (runtime_debugs("unrecognized")) {
    void *frames[16];
    backtrace_symbols_fd(frames, backtrace(frames, 16), 2);
  }
  exception_raise("NSInvalidArgumentException",
                  "%c[%s %s]: unrecognized selector sent to %s %p",
                  is_class ? '+' : '-', name, selector,
                  is_class ? "class" : "instance", (void *)receiver);
}
