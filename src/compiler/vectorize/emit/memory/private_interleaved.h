// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// private_interleaved.h: loads and stores of interleaved private memory.
#ifndef MTLC_PRIVATE_INTERLEAVED_H
#define MTLC_PRIVATE_INTERLEAVED_H

#include <llvm-c/Core.h>
#include <stdint.h>

#include "compiler/vectorize/emit/address/access.h"
#include "compiler/vectorize/emit/values/emitter.h"

// Returns the unit of the private memory that an access
// goes to, or 0 if it is not interleaved private memory.
uint32_t lanes_private_unit_of(const lanes_emitter *e, const lanes_access *a);
void lanes_load_private(lanes_emitter *e, const lanes_access *a, uint32_t unit,
                      LLVMValueRef *out_components);
void lanes_store_private(lanes_emitter *e, const lanes_access *a, uint32_t unit,
                       LLVMValueRef *components);

#endif
