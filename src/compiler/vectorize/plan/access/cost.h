// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cost.h: the cost of an access form.
#ifndef MTLC_ACCESS_COST_H
#define MTLC_ACCESS_COST_H

#include <stdint.h>

#include "compiler/vectorize/plan/access/access.h"
#include "compiler/vectorize/plan/access/access_plan.h"
#include "compiler/vectorize/plan/access/planning.h"

// Returns about how many cycles an access of all lanes takes, with data in the
// first-level cache; for a check, by the arm where it holds. It compares forms
// of one access, and --dump-plan prints it; the order in access_plan.c decides.
uint32_t lanes_access_cost(const lanes_planning *p, const lanes_access *a,
                           const lanes_choice *choice);

#endif
