// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// vm_page_size.h: see mach.h.
#include <mach/mach.h>
