// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// assert.h: C's name for <metal_assert>.
#include <metal_assert>
