// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// float.h: the limits of float, which metal_limits has.
#include <metal_limits>
