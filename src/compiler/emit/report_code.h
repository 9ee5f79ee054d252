// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// report_code.h: reports the register use of finished machine code.
#ifndef MTLC_REPORT_CODE_H
#define MTLC_REPORT_CODE_H

#include <stddef.h>

#include "compiler/ir/kernel/kernel.h"

// Reports the registers and spills of emit_object's object; x86-64 only.
void mtlc_report_code(mtlc_kernel *kernel, const void *object,
                      size_t size_bytes);

#endif
