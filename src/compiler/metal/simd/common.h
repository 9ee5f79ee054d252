// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// simd/common.h: a part of <simd/simd.h>, which is one here.
#include <simd/simd.h>
