// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cpu_identity.h: identifies the processor, as far as generated code depends on
// it.
#ifndef MTLI_CPU_IDENTITY_H
#define MTLI_CPU_IDENTITY_H

#include "base/memory/bytes.h"

// Appends what identifies this machine's processor model and the features that
// the system lets programs use. Equal bytes mean that code generated for one is
// right for the other.
void mtli_cpu_identity_append(mtli_bytes *bytes);

#endif
