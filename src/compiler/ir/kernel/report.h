// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// report.h: the lines that `mettle compile --report` prints of a kernel.
#ifndef MTLC_REPORT_H
#define MTLC_REPORT_H

#include "compiler/ir/kernel/kernel.h"

// Appends a line of text (printf form) to kernel->report.
void mtlc_report(mtlc_kernel *kernel, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
