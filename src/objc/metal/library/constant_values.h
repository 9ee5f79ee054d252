// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// constant_values.h: the values of function constants.
#ifndef METTLE_OBJC_CONSTANT_VALUES_H
#define METTLE_OBJC_CONSTANT_VALUES_H

#include <mettle/library.h>

#include "objc/runtime/abi.h"

// Returns the values of an MTLFunctionConstantValues; NULL of nil.
const mtl_constant_values *constant_values_of(id values);

#endif
