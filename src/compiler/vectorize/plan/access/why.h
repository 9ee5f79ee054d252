// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// why.h: tells why an access is a gather.
#ifndef MTLC_WHY_H
#define MTLC_WHY_H

#include "compiler/vectorize/plan/access/access.h"
#include "compiler/vectorize/plan/access/planning.h"

// Returns the part of the address that no form accepts, as a text.
const char *lanes_why_apart(const lanes_planning *p, const lanes_access *a);

#endif
