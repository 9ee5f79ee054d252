// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// trace.h: METTLE_OBJC_DEBUG=messages, which counts messages by class and
// selector and prints the counts at exit.
#ifndef METTLE_OBJC_TRACE_H
#define METTLE_OBJC_TRACE_H

#include <stdbool.h>

#include "objc/runtime/abi.h"

// True if messages are counted: then no cache is filled, and every message
// takes the slow path.
bool trace_messages(void);

// Counts a message, if messages are counted.
void trace_message(Class class, SEL selector);

#endif
