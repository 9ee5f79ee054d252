// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// value_slots.h: which values of the thread function go through memory.
#ifndef MTLC_VALUE_SLOTS_H
#define MTLC_VALUE_SLOTS_H

#include <llvm-c/Core.h>
#include <stdbool.h>

#include "compiler/vectorize/emit/values/emitter.h"

// True if an instruction is computed again where it is used: as a
// vector (lanes_vector) or as an address by its index (load_store.c). Only then
// are its operands kept for that.
bool lanes_is_rematerialised(const lanes_emitter *e, LLVMValueRef instruction);
// Makes the slots of all values.
void lanes_make_slots(lanes_emitter *e);

#endif
