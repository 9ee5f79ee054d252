// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// arc.c: the calls that compilers emit for automatic reference counting,
// besides those of instance.c and weak.c.
#include "objc/runtime/class.h"
#include "objc/runtime/memory/instance.h"
#include "objc/runtime/memory/pool.h"
#include "objc/runtime/message/message.h"

OBJC_EXPORT id objc_autorelease(id object) {
  if (!object) {
    return NULL;
  }
  const uint32_t flags = class_flags(object->isa);
  if (flags & CLASS_IMMORTAL) {
    return object;
  }
  if (flags & CLASS_COUNTS_ITSELF) {
    return SEND(id(*)(id, SEL), object, "autorelease");
  }
  pool_add(object);
  return object;
}

OBJC_EXPORT id objc_retainAutorelease(id object) {
  return objc_autorelease(objc_retain(object));
}

OBJC_EXPORT id objc_autoreleaseReturnValue(id object) {
  return objc_autorelease(object);
}

OBJC_EXPORT id objc_retainAutoreleaseReturnValue(id object) {
  return objc_retainAutorelease(object);
}

OBJC_EXPORT id objc_retainAutoreleasedReturnValue(id object) {
  return objc_retain(object);
}

OBJC_EXPORT id objc_claimAutoreleasedReturnValue(id object) {
  return objc_retain(object);
}

OBJC_EXPORT id objc_unsafeClaimAutoreleasedReturnValue(id object) {
  return object;
}

OBJC_EXPORT void objc_storeStrong(id *location, id object) {
  const id old = *location;
  if (old != object) {
    objc_retain(object);
    *location = object;
    objc_release(old);
  }
}

OBJC_EXPORT void *_Block_copy(const void *block);

OBJC_EXPORT id objc_retainBlock(id block) {
  return _Block_copy(block);
}
