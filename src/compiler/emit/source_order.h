// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// source_order.h: decides whether machine code keeps the order of the source.
#ifndef MTLC_SOURCE_ORDER_H
#define MTLC_SOURCE_ORDER_H

#include <stdbool.h>

#include "compiler/ir/kernel/kernel.h"

// True if a kernel's instructions are best left in their order
// (source_order.c).
bool mtlc_keeps_source_order(const mtlc_kernel *kernel);

#endif
