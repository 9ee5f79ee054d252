// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// value_slots.h: chooses which values of the thread function go through memory.
#ifndef MTLC_VALUE_SLOTS_H
#define MTLC_VALUE_SLOTS_H

#include <llvm-c/Core.h>
#include <stdbool.h>

#include "compiler/vectorize/emit/values/emitter.h"

// Makes the slots of all values.
void lanes_make_slots(lanes_emitter *e);

#endif
