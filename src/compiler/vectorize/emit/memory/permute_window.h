// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// permute_window.h: loads and stores whose lanes are in no order that the
// compiler knows but turn out to be near each other.
#ifndef MTLC_PERMUTE_WINDOW_H
#define MTLC_PERMUTE_WINDOW_H

#include <llvm-c/Core.h>
#include <stdbool.h>

#include "compiler/vectorize/emit/address/access.h"
#include "compiler/vectorize/emit/memory/load_store.h"
#include "compiler/vectorize/emit/values/emitter.h"

// Loads, or stores of AVX2 to a worker's own memory, of one
// component a lane, of which nothing is known but that they may well turn out
// to be near each other. Those that are not go apart. What no lane stores to
// stays. Returns false if it is no such access.
bool lanes_access_window(lanes_emitter *e, const lanes_access *a,
                       lanes_access_way *apart, bool store,
                       LLVMValueRef *component);
// True if a load's indices are so small that all lanes are in one place,
// as of the sixteen values that four bits stand for; then returns i1: it may be
// read whole. Sets the access's places and first addresses.
bool lanes_may_be_table(const lanes_emitter *e, const lanes_access *a);
LLVMValueRef lanes_check_table(lanes_emitter *e, lanes_access *a,
                            LLVMValueRef *out_firsts);
LLVMValueRef lanes_load_table(lanes_emitter *e, const lanes_access *a);

#endif
