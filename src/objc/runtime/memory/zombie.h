// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// zombie.h: METTLE_OBJC_DEBUG=zombies, which keeps destroyed objects and
// reports messages sent to them.
#ifndef METTLE_OBJC_ZOMBIE_H
#define METTLE_OBJC_ZOMBIE_H

#include <stdbool.h>

#include "objc/runtime/abi.h"

// Keeps an ended object's memory as a zombie. False if that is not asked for:
// free it then.
bool zombie_make(id object);

// Ends the program with a message if object is a zombie.
void zombie_check(id object, SEL selector);

#endif
