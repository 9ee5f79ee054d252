// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// windows.h: accesses whose lanes are in no order but near each other.
#ifndef MTLC_WINDOWS_H
#define MTLC_WINDOWS_H

#include <stdbool.h>

#include "compiler/vectorize/plan/access/access.h"
#include "compiler/vectorize/plan/access/planning.h"

// True if all lanes of a register may well lie within two registers; of a
// store, also if the machine can put lanes among what is there.
bool lanes_may_be_near(const lanes_planning *p, const lanes_access *a);
bool lanes_may_store_near(const lanes_planning *p, const lanes_access *a);
// True if a load's indices are so small that all lanes are in one place,
// as of the sixteen values that four bits stand for.
bool lanes_may_be_table(const lanes_planning *p, const lanes_access *a);

#endif
