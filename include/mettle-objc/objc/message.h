// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// message.h: messages by function calls. Cast objc_msgSend to the method's type
// first.
#ifndef METTLE_OBJC_MESSAGE_H
#define METTLE_OBJC_MESSAGE_H

#include <objc/runtime.h>

struct objc_super {
  id receiver;
  Class super_class;
};

OBJC_EXPORT id objc_msgSend(id receiver, SEL selector, ...);
OBJC_EXPORT id objc_msgSendSuper2(struct objc_super *super, SEL selector, ...);
#if defined(__x86_64__)
OBJC_EXPORT void objc_msgSend_stret(id receiver, SEL selector, ...);
OBJC_EXPORT long double objc_msgSend_fpret(id receiver, SEL selector, ...);
OBJC_EXPORT _Complex long double objc_msgSend_fp2ret(id receiver, SEL selector,
                                                     ...);
OBJC_EXPORT void objc_msgSendSuper2_stret(struct objc_super *super,
                                          SEL selector, ...);
#endif

#endif
