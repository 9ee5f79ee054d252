// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// protocol.h: protocols by name. Each file that uses one has a copy; the first
// copy registered stands for all.
#ifndef METTLE_OBJC_PROTOCOL_H
#define METTLE_OBJC_PROTOCOL_H

#include <stdbool.h>

#include "objc/runtime/abi.h"

// The lock is held for the first two.
void protocol_register(protocol *registered);
protocol *protocol_canonical(protocol *any);

// True if one is the same as other by name, or adopts it.
bool protocol_adopts(const protocol *one, const protocol *other);

// True if class itself, not one above, adopts the protocol.
bool class_adopts(Class class, const protocol *wanted);

#endif
