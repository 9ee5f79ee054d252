// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// exception.h: exceptions, over the C++ ABI of libstdc++.
#ifndef METTLE_OBJC_EXCEPTION_H
#define METTLE_OBJC_EXCEPTION_H

#include "objc/runtime/abi.h"

// Throws object, which is retained until it is caught.
OBJC_EXPORT __attribute__((noreturn)) void objc_exception_throw(id object);

// Returns the object of the exception that this thread handles, or for which it
// terminates; NULL if there is none, or it is one of C++.
id exception_current(void);

// Throws an NSException of this name with a reason in printf's form.
__attribute__((noreturn, format(printf, 2, 3))) void exception_raise(
    const char *name, const char *format, ...);

// Throws NSInvalidArgumentException: receiver has no method for selector.
__attribute__((noreturn)) void exception_raise_unrecognized(id receiver,
                                                            SEL selector);
// Returns where the last unknown selector of this thread was sent from; NULL if
// that is not known.
const void *exception_unrecognized_sender(void);

#endif
