// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// zombie.c: the class without methods that destroyed objects get.
#include "objc/runtime/memory/zombie.h"

#include <pthread.h>
#include <stddef.h>

#include "objc/runtime/class.h"
#include "objc/runtime/define.h"
#include "objc/runtime/failure.h"
#include "objc/runtime/memory/instance.h"

METHODS(zombie_methods, METHOD_LIST_END);
DEFINE_ROOT_CLASS(MettleZombie, zombie_methods, NO_METHODS);

static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool is_on;

static void start(void) {
  is_on = runtime_debugs("zombies");
}

bool zombie_make(id object) {
  pthread_once(&once, start);
  if (is_on) {
    object_header_of(object)->ended = object->isa;
    __atomic_store_n(&object->isa, &OBJC_CLASS_$_MettleZombie,
                     __ATOMIC_RELEASE);
  }
  return is_on;
}

void zombie_check(id object, SEL selector) {
  if (object->isa == &OBJC_CLASS_$_MettleZombie) {
    runtime_fail("-[%s %s] sent to %p, which has been deallocated",
                 class_name(object_header_of(object)->ended), selector,
                 (void *)object);
  }
}
