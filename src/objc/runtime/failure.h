// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// failure.h: ends a program after an error from which the runtime cannot go on.
#ifndef METTLE_OBJC_FAILURE_H
#define METTLE_OBJC_FAILURE_H

// Prints "mettle objc: TEXT", with METTLE_OBJC_DEBUG=1 also the stack, and
// aborts. For errors that Objective-C cannot report: no memory for a class, a
// class registered twice, an object released too often.
__attribute__((noreturn, format(printf, 1, 2))) void runtime_fail(
    const char *format, ...);

// Prints "mettle objc: TEXT" and continues.
__attribute__((format(printf, 1, 2))) void runtime_warn(const char *format,
                                                        ...);

// True if METTLE_OBJC_DEBUG, a list of words separated by commas, has this
// word, or "all". Ends the program if it has a word that does not exist.
_Bool runtime_debugs(const char *word);

// True if METTLE_OBJC_EXCEPTIONS is 1: a mistake that Metal's validation aborts
// on raises an exception instead.
_Bool runtime_raises_assertions(void);

#endif
