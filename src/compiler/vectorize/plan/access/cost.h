// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cost.h: what a form of an access costs.
#ifndef MTLC_ACCESS_COST_H
#define MTLC_ACCESS_COST_H

#include <stdint.h>

#include "compiler/vectorize/plan/access/access.h"
#include "compiler/vectorize/plan/access/access_plan.h"
#include "compiler/vectorize/plan/access/planning.h"

// Returns about how many cycles an access of all lanes takes, in data of the
// first cache; of a check, with the way that holds. Printed, and good for
// comparing forms of one access; the order in access_plan.c decides.
uint32_t lanes_access_cost(const lanes_planning *p, const lanes_access *a,
                           const lanes_choice *choice);

#endif
