// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// limits.h: the limits of integers, which metal_limits has.
#include <metal_limits>
