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

OBJC_EXPORT void objc_msgSend(void);
OBJC_EXPORT void objc_msgSendSuper2(void);
#if defined(__x86_64__)
OBJC_EXPORT void objc_msgSend_stret(void);
OBJC_EXPORT void objc_msgSend_fpret(void);
OBJC_EXPORT void objc_msgSend_fp2ret(void);
OBJC_EXPORT void objc_msgSendSuper2_stret(void);
#endif

#endif
