// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// windows.h: finds accesses whose lanes are in an unknown order but near each
// other.
#ifndef MTLC_WINDOWS_H
#define MTLC_WINDOWS_H

#include <stdbool.h>

#include "compiler/vectorize/plan/access/access.h"
#include "compiler/vectorize/plan/access/planning.h"

// True if a register's lanes are probably within two registers of memory; for a
// store, if the machine can also merge lanes into memory's values.
bool lanes_may_be_near(const lanes_planning *p, const lanes_access *a);
bool lanes_may_store_near(const lanes_planning *p, const lanes_access *a);
// True if a load's indices have so few bits that all entries fit registers,
// such as the sixteen values of 4 bits.
bool lanes_may_be_table(const lanes_planning *p, const lanes_access *a);

#endif
