// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// residency_set.h: residency sets, for command buffers.
#ifndef MTLI_RESIDENCY_SET_H
#define MTLI_RESIDENCY_SET_H

#include "runtime/driver.h"

// What the set has committed, with one reference more; NULL if nothing yet.
mtli_residents *mtli_residency_set_hold(mtl_residency_set *set);
mtli_object *mtli_residency_set_object(mtl_residency_set *set);

#endif
