// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// why.h: why lanes' addresses have to be taken one by one.
#ifndef MTLC_WHY_H
#define MTLC_WHY_H

#include "compiler/vectorize/plan/access/access.h"
#include "compiler/vectorize/plan/access/planning.h"

// Returns what the address is made of that no form follows.
const char *lanes_why_apart(const lanes_planning *p, const lanes_access *a);

#endif
