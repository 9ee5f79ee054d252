// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// product_functions.h: functions for products of tiles.
#ifndef MTLC_PRODUCT_FUNCTIONS_H
#define MTLC_PRODUCT_FUNCTIONS_H

#include <stdbool.h>

#include "compiler/vectorize/emit/tiles/tiles.h"
#include "compiler/vectorize/emit/values/emitter.h"

// Calls a function for products whose accumulators are in memory. False if they
// are better emitted inline.
bool lanes_call_products(lanes_emitter *e, const lanes_products *products);

#endif
